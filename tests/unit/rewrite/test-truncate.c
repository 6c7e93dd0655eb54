/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cutting a network at values: what lies behind them, and what is wrong with values that do not split it. */
#include "pass-models.h"

#include "vn-error.h"
#include "vn-truncate.h"

/* Two branches, as a detector's boxes and scores, that meet behind them; the size of the input goes there, too. */
static VnModel *
detector (void)
{
  VnValue *x;
  VnModel *model = new_model (&x, &VN_SHAPE (1, 2, 4, 4));
  VnGraph *g = model->graph;
  VnNode *body = add (g, "body", "Conv", "features", x, weights (g, "w", &VN_SHAPE (2, 2, 1, 1)), END);
  VnNode *boxes = add (g, "box", "Conv", "boxes", out (body), weights (g, "wb", &VN_SHAPE (2, 2, 1, 1)), END);
  VnNode *scores = add (g, "score", "Sigmoid", "scores", out (body), END);
  VnNode *size = add (g, "size", "Shape", "size", out (body), END);
  VnNode *shaped = add (g, "shaped", "Reshape", "shaped", out (boxes), out (size), END);
  VnNode *times = add (g, "times", "Mul", "weighted", out (shaped), out (scores), END);

  return finish (model, add (g, "last", "Add", "y", out (times), weights (g, "offset", &VN_SHAPE (4)), END));
}

static void
check_tail (const char * const *names,
            const char         *expected)
{
  g_autoptr(VnModel) model = detector ();
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) nodes = vn_model_truncate (model, names, &error);
  g_autoptr(GString) text = g_string_new (NULL);

  g_assert_no_error (error);
  for (guint i = 0; i < nodes->len; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? " " : "", ((const VnNode *) g_ptr_array_index (nodes, i))->name);
  g_assert_cmpstr (text->str, ==, expected);
}

static void
test_tail (void)
{
  check_tail ((const char * const []) { "boxes", "scores", NULL }, "shaped times last");
  check_tail ((const char * const []) { "scores", "shaped", NULL }, "times last");
  check_tail ((const char * const []) { "weighted", NULL }, "last");
  check_tail ((const char * const []) { "features", NULL }, "box score size shaped times last");
  check_tail ((const char * const []) { "y", NULL }, "");
  check_tail ((const char * const []) { NULL }, "");
}

static void
test_refused (void)
{
  static const struct {
    const char *names[3];
    const char *words[3];
  } cases[] = {
    /* Past the cut, by the value that leads there and the node it reaches. */
    { { "boxes" }, { "do not split", "“scores”", "“times”" } },
    { { "scores" }, { "do not split", "“shaped”", "“times”" } },
    { { "boxez", "scores" }, { "“boxez”", "no tensor has that name", "boxes" } },
    { { "/model/Concat_17" }, { "no tensor has that name", "inspect", "" } },
    { { "x" }, { "“x”", "input or a weight", "" } },
    { { "wb" }, { "“wb”", "input or a weight", "" } },
    { { "features", "boxes" }, { "“boxes”", "downstream of another", "" } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnModel) model = detector ();
      g_autoptr(GError) error = NULL;

      g_assert_null (vn_model_truncate (model, cases[i].names, &error));
      g_test_message ("%s", error->message);
      g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
      for (guint k = 0; k < G_N_ELEMENTS (cases[i].words); k++)
        g_assert_nonnull (g_strstr_len (error->message, -1, cases[i].words[k]));
    }
}

/* For any single value that divides the network: head and tail are all nodes, and nothing of the tail leads back. */
static void
test_any_cut (void)
{
  g_autoptr(VnModel) model = detector ();
  guint n_divided = 0;

  for (guint v = 0; v < model->graph->values->len; v++)
    {
      const VnValue *value = g_ptr_array_index (model->graph->values, v);
      g_autoptr(GPtrArray) nodes = vn_model_truncate (model, (const char * const []) { value->name, NULL }, NULL);

      n_divided += nodes != NULL;
      for (guint i = 0; nodes != NULL && i < nodes->len; i++)
        {
          const VnNode *node = g_ptr_array_index (nodes, i);

          for (guint k = 0; k < node->outputs->len; k++)
            {
              const VnValue *result = vn_node_get_output (node, k);

              for (guint u = 0; u < result->uses->len; u++)
                g_assert_true (g_ptr_array_find (nodes, g_array_index (result->uses, VnUse, u).node, NULL));
            }
        }
    }
  g_assert_cmpuint (n_divided, >=, 3);
}

/* A long chain takes no stack. */
static void
test_long (void)
{
  VnValue *x;
  g_autoptr(VnModel) model = new_model (&x, &VN_SHAPE (1));
  VnGraph *g = model->graph;
  g_autoptr(GPtrArray) nodes = NULL;
  VnNode *node = add (g, "first", "Relu", "start", x, END);

  for (guint i = 0; i < 50000; i++)
    {
      g_autofree char *name = g_strdup_printf ("value%u", i);
      VnValue *from = out (node), *to = vn_graph_add_value (g, name, VN_DTYPE_F32, NULL);

      node = vn_graph_add_node (g, NULL, "", "Relu", &from, 1, &to, 1);
    }
  finish (model, node);
  nodes = vn_model_truncate (model, (const char * const []) { "start", NULL }, NULL);
  g_assert_nonnull (nodes);
  g_assert_cmpuint (nodes->len, ==, 50000);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/rewrite/truncate/tail", test_tail);
  g_test_add_func ("/rewrite/truncate/refused", test_refused);
  g_test_add_func ("/rewrite/truncate/any-cut", test_any_cut);
  g_test_add_func ("/rewrite/truncate/long", test_long);
  return g_test_run ();
}
