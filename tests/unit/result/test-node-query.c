/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is typed to find nodes: each kind of term, several of them, and what cannot be understood. */
#include "vn-graph-edit.h"
#include "vn-node-query.h"

#include <math.h>
#include <string.h>

/* name, operator, signal to noise, share; a NAN signal: not measured; precision */
static const struct { const char *name, *op_type; double sqnr, share, local; guint64 n_bad; VnDType dtype; } rows[] = {
  { "/layer.0/attention/self/MatMul", "MatMul", 30, 0.001, 45, 0, VN_DTYPE_U8 },
  { "/layer.1/attention/self/MatMul", "MatMul", 12, 0.2, 35, 0, VN_DTYPE_U16 },
  { "/layer.1/output/Conv", "Conv", 8, NAN, 33, 0, VN_DTYPE_S8 },
  { "/head/ConvTranspose", "ConvTranspose", 25, 0.06, 50, 0, VN_DTYPE_U8 },
  { "/head/Slice", "Slice", 50, 0, 60, 1, VN_DTYPE_U8 },
  { "", "Relu", NAN, NAN, NAN, 0, VN_DTYPE_F32 },
};

static VnModel *
make_model (void)
{
  VnModel *model = vn_model_new (8, 13);
  VnShape shape = VN_SHAPE (4);
  VnValue *value = vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &shape);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *name = g_strdup_printf ("Tensor%u", i);
      VnValue *output = vn_graph_add_value (model->graph, name, VN_DTYPE_F32, &shape);

      vn_graph_add_node (model->graph, *rows[i].name != '\0' ? rows[i].name : NULL, "", rows[i].op_type, &value, 1, &output, 1);
      value = output;
    }
  return model;
}

static VnErrorRow *
make_row (guint i)
{
  VnErrorRow *row;

  if (isnan (rows[i].sqnr))
    return NULL;
  row = vn_error_row_new ();
  row->sqnr_db = rows[i].sqnr;
  row->noise_to_signal = pow (10, -rows[i].sqnr / 10);
  row->cosine = 1 - row->noise_to_signal;
  row->mse = row->noise_to_signal / 4;
  row->max_error = 10 * row->noise_to_signal;
  row->contribution = rows[i].share;
  row->n_bad = rows[i].n_bad;
  return row;
}

/* The numbers of the nodes that are found: "0 3". */
static char *
find (const VnModel *model,
      const char    *text)
{
  g_autoptr(VnNodeQuery) query = vn_node_query_new (text);
  GString *found = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const VnNode *node = g_ptr_array_index (model->graph->nodes, i);
      g_autofree char *label = vn_node_dup_label (node);
      VnErrorRow *row = make_row (i);
      VnNodeFacts facts = { node, label, row, rows[i].dtype, rows[i].local, row == NULL ? NULL : rows[i].sqnr < 10
                            ? "bad" : rows[i].sqnr < 20 ? "watch" : "fine" };

      if (vn_node_query_matches (query, &facts))
        g_string_append_printf (found, "%s%u", found->len > 0 ? " " : "", i);
      g_clear_pointer (&row, vn_error_row_free);
    }
  return g_string_free (found, FALSE);
}

static const struct { const char *text, *found; } terms[] = {
  { "", "0 1 2 3 4 5" },
  { "  ", "0 1 2 3 4 5" },
  { "CONV", "2 3" },
  { "attention", "0 1" },
  { "tensor4", "4" },
  { "shape:4", "0 1 2 3 4 5" },
  { "shape:4x*", "" },
  { "shape:*|2x2 conv", "2 3" },
  { "MatMul>MatMul", "0 1" },
  { "MatMul>Conv*", "1 2" },
  { "matmul>conv>*>slice", "1 2 3 4" },
  { "Conv>MatMul", "" },
  { "-*>relu conv", "2 3" },
  { "relu #5", "5" },                  /* two parts of the one name */
  { "\"Relu #5\"", "5" },
  { "*attention*/MatMul", "0 1" },
  { "*.1/attention*/matmul", "1" },
  { "*attention*", "0 1" },
  { "attention*", "" },                /* a glob is about the whole name */
  { "/head/?lice", "4" },
  { "type:Slice", "4" },
  { "type:conv*", "2 3" },
  { "type:Conv", "2" },
  { "type:Conv|Slice", "2 4" },
  { "sqnr<20", "1 2 4" },              /* what is no number is worse than any */
  { "sqnr<12", "2 4" },
  { "sqnr<=12", "1 2 4" },
  { "sqnr>20", "0 3" },
  { "error>0.1", "2 4" },
  { "error>5%", "1 2 4" },
  { "contribution>5%", "1 3" },
  { "share>0.05", "1 3" },
  { "local<40", "1 2" },
  { "precision:16", "1" },
  { "precision:u*", "0 1 3 4" },
  { "precision:float", "5" },
  { "precision:s8|16", "1 2" },
  { "band:bad", "2" },
  { "band:bad|watch", "1 2" },
  { "band:none", "5" },
  { "-band:fine type:matmul", "1" },
  { "type:Conv* sqnr<20", "2" },
  { "attention sqnr<20 contribution>1%", "1" },
  { "-attention", "2 3 4 5" },
  { "-type:MatMul -conv", "4 5" },
  { "sqnr<20 -sqnr<10", "1" },
  { "noise>0.1", "2 4" },
  { "cosine<0.9", "2 4" },
  { "mse>0.01", "1 2 4" },
  { "max-error>1", "2 4" },
};

static void
test_terms (void)
{
  g_autoptr(VnModel) model = make_model ();

  for (guint i = 0; i < G_N_ELEMENTS (terms); i++)
    {
      g_autofree char *found = find (model, terms[i].text);

      g_test_message ("“%s”: “%s”", terms[i].text, found);
      g_assert_cmpstr (found, ==, terms[i].found);
    }
}

/* Each figure that a threshold can name is tried above. */
static void
test_figures (void)
{
  g_autoptr(VnNodeQuery) query = vn_node_query_new ("speed>3");
  const char *list = strstr (vn_node_query_get_problem (query), ": ");
  g_auto(GStrv) figures = NULL;

  g_assert_nonnull (list);
  figures = g_strsplit (list + 2, ", ", -1);
  g_assert_cmpuint (g_strv_length (figures), >, VN_N_METRICS);
  for (guint k = 0; figures[k] != NULL; k++)
    {
      gboolean is_tried = FALSE;

      for (guint i = 0; i < G_N_ELEMENTS (terms); i++)
        is_tried = is_tried || (g_str_has_prefix (terms[i].text, figures[k]) &&
                                strchr ("<>", terms[i].text[strlen (figures[k])]) != NULL);
      g_test_message ("%s", figures[k]);
      g_assert_true (is_tried);
    }
}

/* A term takes the place of the one with its word; what else was typed stays as it was. */
static void
test_changes (void)
{
  static const struct { const char *text, *word, *value, *before, *after; } cases[] = {
    { "", "type", "Conv", NULL, "type:Conv" },
    { "type:Conv", "type", "Conv|Gemm", "Conv", "type:Conv|Gemm" },
    { "sqnr<20  type:Conv \"Relu #5\"", "type", NULL, "Conv", "sqnr<20 \"Relu #5\"" },
    { "-type:Relu type:Conv", "band", "bad", NULL, "band:bad -type:Relu type:Conv" },
    { "band:bad", "band", NULL, "bad", "" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *before = vn_node_query_dup_value (cases[i].text, cases[i].word);
      g_autofree char *after = vn_node_query_dup_with (cases[i].text, cases[i].word, cases[i].value);

      g_assert_cmpstr (before, ==, cases[i].before);
      g_assert_cmpstr (after, ==, cases[i].after);
    }
}

/* Half a threshold finds nothing and says why. */
static void
test_problems (void)
{
  static const struct { const char *text, *word; } cases[] = {
    { "sqnr<", "sqnr<20" }, { "conv sqnr<abc", "number" }, { "speed>3", "speed" },
  };
  g_autoptr(VnModel) model = make_model ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnNodeQuery) query = vn_node_query_new (cases[i].text);
      g_autofree char *found = find (model, cases[i].text);

      g_test_message ("%s", vn_node_query_get_problem (query));
      g_assert_cmpstr (found, ==, "");
      g_assert_nonnull (strstr (vn_node_query_get_problem (query), cases[i].word));
    }
}

/* Conv, a pair, Sigmoid and Mul, as in many detectors. */
static VnModel *
make_swish (void)
{
  static const char * const types[] = { "Conv", "QuantizeLinear", "DequantizeLinear", "Sigmoid", "Mul" };
  VnModel *model = vn_model_new (8, 13);
  VnShape shape = VN_SHAPE (1, 64, 20, 20), filter = VN_SHAPE (64, 64, 1, 1);
  g_autoptr(VnTensor) weight = vn_tensor_new (VN_DTYPE_F32, &filter, NULL);
  VnValue *inputs[] = { vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &shape),
                        vn_graph_add_initializer (model->graph, "backbone.weight", weight) };

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    {
      VnValue *output = vn_graph_add_value (model->graph, NULL, VN_DTYPE_F32, &shape);

      vn_graph_add_node (model->graph, NULL, "", types[i], inputs, i == 0 ? 2 : 1, &output, 1);
      inputs[0] = output;
    }
  return model;
}

static char *
find_plain (const VnModel *model,
            const char    *text)
{
  g_autoptr(VnNodeQuery) query = vn_node_query_new (text);
  GString *found = g_string_new (NULL);

  for (guint i = 0; i < model->graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (model->graph->nodes, i);
      g_autofree char *label = vn_node_dup_label (node);
      VnNodeFacts facts = { node, label, NULL, VN_DTYPE_UNDEFINED, NAN, NULL };

      if (vn_node_query_matches (query, &facts))
        g_string_append_printf (found, "%s%u", found->len > 0 ? " " : "", i);
    }
  return g_string_free (found, FALSE);
}

/* Nodes in a row, over what quantizing has put between them; what they read; their shapes. */
static void
test_structure (void)
{
  static const struct { const char *text, *found; } cases[] = {
    { "Conv>Sigmoid>Mul", "0 3 4" },
    { "Conv>Quant*", "0 1" },
    { "Conv>Mul", "" },
    { "Sigmoid>*", "3 4" },
    { "backbone", "0" },
    { "*.weight", "0" },
    { "shape:1x64x*", "0 1 2 3 4" },
    { "shape:1×64×20×20 type:mul", "4" },
    { "shape:1x64", "" },
  };
  g_autoptr(VnModel) model = make_swish ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *found = find_plain (model, cases[i].text);

      g_test_message ("%s", cases[i].text);
      g_assert_cmpstr (found, ==, cases[i].found);
    }
}

/* Whatever is offered can be typed, and finds something here. */
static void
test_examples (void)
{
  guint n, n_found = 0;
  const VnNodeExample *examples = vn_node_query_get_examples (&n);
  g_autoptr(VnModel) model = make_model (), swish = make_swish ();

  g_assert_cmpuint (n, >, 5);
  for (guint i = 0; i < n; i++)
    {
      g_autoptr(VnNodeQuery) query = vn_node_query_new (examples[i].text);
      g_autofree char *found = find (model, examples[i].text), *more = find_plain (swish, examples[i].text);

      g_assert_null (vn_node_query_get_problem (query));
      g_assert_false (vn_node_query_is_empty (query));
      n_found += *found != '\0' || *more != '\0';
    }
  g_assert_cmpuint (n_found, ==, n);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/node-query/terms", test_terms);
  g_test_add_func ("/node-query/figures", test_figures);
  g_test_add_func ("/node-query/changes", test_changes);
  g_test_add_func ("/node-query/problems", test_problems);
  g_test_add_func ("/node-query/structure", test_structure);
  g_test_add_func ("/node-query/examples", test_examples);
  return g_test_run ();
}
