/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which networks are language models, by what goes in and comes out. */
#include "vn-graph-edit.h"
#include "vn-language-model.h"

#include <string.h>

#define WORDS 50

/* @head: the last node, whose weight is @rows x @columns; @last, @rank: of the declared output; @steps: operators behind it */
static const struct
{
  const char *input, *second, *head;
  gint64      rows, columns;
  int         rank;
  gint64      last;
  const char *steps[3];
  gint64      vocabulary;
  gboolean    speaks;
} cases[] = {
  { "input_ids", NULL, "MatMul", 8, WORDS, 3, WORDS, { NULL }, WORDS, TRUE },
  { "input_ids", "attention_mask", "MatMul", 8, WORDS, 3, WORDS, { NULL }, WORDS, TRUE },
  { "x", "position_ids", "MatMul", 8, WORDS, 3, WORDS, { NULL }, WORDS, TRUE },
  /* the size of the output is not declared */
  { "input_ids", NULL, "MatMul", 8, WORDS, 3, -1, { NULL }, WORDS, TRUE },
  { "input_ids", NULL, "MatMul", 8, WORDS, VN_RANK_UNKNOWN, -1, { "Cast", "Tanh" }, WORDS, TRUE },
  { "input_ids", NULL, "Gemm", WORDS, 8, 3, -1, { "Identity" }, WORDS, TRUE },
  { "input_ids", NULL, "Turned", WORDS, 8, 3, -1, { NULL }, WORDS, TRUE },
  /* none */
  { "input_ids", NULL, "MatMul", 8, 2, 3, 2, { NULL }, 0, FALSE },
  { "input_ids", NULL, "MatMul", 8, WORDS, 2, WORDS, { NULL }, 0, FALSE },
  { "input_ids", NULL, "MatMul", 8, WORDS, 3, -1, { "Softplus" }, 0, FALSE },
  { "input_ids", "token_type_ids", "MatMul", 8, WORDS, 3, WORDS, { NULL }, 0, FALSE },
  { "attention_mask", NULL, "MatMul", 8, WORDS, 3, WORDS, { NULL }, 0, FALSE },
  { "input_ids", NULL, "MatMul", 8, WORDS + 1, 3, WORDS + 1, { NULL }, 0, FALSE },
  /* keys and values that are kept are enough */
  { "input_ids", "past_key_values.0.key", "MatMul", 8, 2, 3, 2, { NULL }, 0, TRUE },
};

static VnValue *
add_weight (VnGraph *graph,
            gint64   rows,
            gint64   columns)
{
  g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (rows, columns), NULL);

  memset (tensor->data, 0, tensor->n_elements * sizeof (float));
  return vn_graph_add_initializer (graph, NULL, tensor);
}

static VnValue *
add_node (VnGraph    *graph,
          const char *op,
          VnValue    *a,
          VnValue    *b)
{
  VnValue *inputs[] = { a, b }, *y = vn_graph_add_value (graph, NULL, VN_DTYPE_F32, NULL);
  VnNode *node = vn_graph_add_node (graph, NULL, "", op, inputs, b != NULL ? 2 : 1, &y, 1);

  if (g_str_equal (op, "Gemm"))
    vn_node_set_int (node, "transB", 1);
  return y;
}

static VnModel *
make_model (guint i)
{
  VnModel *model = vn_model_new (8, 17);
  VnGraph *graph = model->graph;
  VnValue *input = vn_graph_add_input (graph, cases[i].input, VN_DTYPE_S64, &VN_SHAPE (-1, -1));
  VnValue *x = add_node (graph, "Gather", add_weight (graph, WORDS, 8), input), *w = NULL;
  gboolean turned = g_str_equal (cases[i].head, "Turned");

  if (cases[i].second != NULL)
    vn_graph_add_input (graph, cases[i].second, g_str_has_prefix (cases[i].second, "past") ? VN_DTYPE_F32 : VN_DTYPE_S64,
                        &VN_SHAPE (-1, -1));
  w = add_weight (graph, cases[i].rows, cases[i].columns);
  x = add_node (graph, turned ? "MatMul" : cases[i].head, x, turned ? add_node (graph, "Transpose", w, NULL) : w);
  for (guint k = 0; k < G_N_ELEMENTS (cases[i].steps) && cases[i].steps[k] != NULL; k++)
    x = add_node (graph, cases[i].steps[k], x, NULL);
  x->type.shape = (VnShape) { .rank = cases[i].rank };
  for (int k = 0; k < cases[i].rank; k++)
    x->type.shape.dims[k] = k + 1 < cases[i].rank ? -1 : cases[i].last;
  vn_graph_set_output (graph, 0, x);
  return model;
}

static void
test_networks (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnModel) model = make_model (i);

      g_test_message ("%u: %s, %s", i, cases[i].input, cases[i].head);
      g_assert_cmpint (vn_model_find_vocabulary (model), ==, cases[i].vocabulary);
      g_assert_true (vn_model_is_language_model (model) == cases[i].speaks);
      g_assert_true (vn_value_counts_vocabulary (g_ptr_array_index (model->graph->outputs, 0)) == (cases[i].vocabulary > 0));
    }
}

/* How attention hides what is behind a token, if it does; an encoder that fills in words is no language model. */
typedef enum { HIDES_NOTHING, HIDES_TRILU, HIDES_COMPARISON, HIDES_TRIANGLE, HIDES_RECTANGLE, HIDES_BY_OPERATOR } Hiding;

static const struct
{
  const char *op, *attribute;      /* instead of products; NULL: those */
  Hiding      hiding;
  gboolean    speaks;
} attentions[] = {
  { NULL, NULL, HIDES_NOTHING, FALSE },
  { NULL, NULL, HIDES_TRILU, TRUE },
  { NULL, NULL, HIDES_COMPARISON, TRUE },
  { NULL, NULL, HIDES_TRIANGLE, TRUE },
  { NULL, NULL, HIDES_RECTANGLE, FALSE },
  { "MultiHeadAttention", NULL, HIDES_NOTHING, FALSE },
  { "MultiHeadAttention", "unidirectional", HIDES_BY_OPERATOR, TRUE },
  { "Attention", "is_causal", HIDES_BY_OPERATOR, TRUE },
  { "Attention", NULL, HIDES_NOTHING, FALSE },
  { "GroupQueryAttention", NULL, HIDES_BY_OPERATOR, TRUE },
};

static VnValue *
add_mask (VnGraph *graph,
          Hiding   hiding)
{
  g_autoptr(VnTensor) mask = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (1, 1, 6, 6), NULL);
  VnValue *range;

  for (guint i = 0; i < 36; i++)
    ((float *) mask->data)[i] = hiding == HIDES_TRIANGLE ? i % 6 > i / 6 ? -10000 : 0 : i % 6 > 3 ? -10000 : 0;
  if (hiding == HIDES_TRIANGLE || hiding == HIDES_RECTANGLE)
    return vn_graph_add_initializer (graph, NULL, mask);
  if (hiding == HIDES_TRILU)
    return add_node (graph, "Trilu", add_weight (graph, 6, 6), NULL);
  range = add_node (graph, "Range", add_weight (graph, 1, 1), add_weight (graph, 1, 1));
  return add_node (graph, "Cast", add_node (graph, "LessOrEqual", add_node (graph, "Unsqueeze", range, NULL),
                                            add_node (graph, "Reshape", add_node (graph, "Add", add_weight (graph, 1, 1), range),
                                                      NULL)), NULL);
}

static VnModel *
make_attention (guint i)
{
  VnModel *model = vn_model_new (8, 17);
  VnGraph *graph = model->graph;
  VnValue *input = vn_graph_add_input (graph, "input_ids", VN_DTYPE_S64, &VN_SHAPE (-1, -1));
  VnValue *x = add_node (graph, "Gather", add_weight (graph, WORDS, 8), input), *scores;

  if (attentions[i].op == NULL)
    {
      scores = add_node (graph, "MatMul", x, add_node (graph, "Transpose", x, NULL));
      if (attentions[i].hiding != HIDES_NOTHING)
        scores = add_node (graph, "Add", scores, add_mask (graph, attentions[i].hiding));
      x = add_node (graph, "MatMul", add_node (graph, "Cast", add_node (graph, "Softmax", scores, NULL), NULL), x);
    }
  else
    {
      x = add_node (graph, attentions[i].op, x, x);
      if (attentions[i].attribute != NULL)
        vn_node_set_int (x->producer, attentions[i].attribute, 1);
    }
  x = add_node (graph, "MatMul", x, add_weight (graph, 8, WORDS));
  x->type.shape = VN_SHAPE (-1, -1, WORDS);
  vn_graph_set_output (graph, 0, x);
  return model;
}

static void
test_attention (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (attentions); i++)
    {
      g_autoptr(VnModel) model = make_attention (i);

      g_test_message ("%u: %s, %d", i, attentions[i].op != NULL ? attentions[i].op : "products", (int) attentions[i].hiding);
      g_assert_cmpint (vn_model_find_vocabulary (model), ==, attentions[i].speaks ? WORDS : 0);
      g_assert_true (vn_model_is_language_model (model) == attentions[i].speaks);
      g_assert_true (vn_value_counts_vocabulary (g_ptr_array_index (model->graph->outputs, 0)) == attentions[i].speaks);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/language-model/networks", test_networks);
  g_test_add_func ("/language-model/attention", test_attention);
  return g_test_run ();
}
