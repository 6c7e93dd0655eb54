/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cross-layer equalization on networks of one pixel, with factors worked out by hand from the formulas; what it must leave
 * alone; and that networks of all kinds of layers compute the same afterwards. */
#include "pass-models.h"

#include "vn-equalize-private.h"
#include "vn-error.h"
#include "vn-plan.h"

#include <math.h>

#define NEAR(a, b) g_assert_cmpfloat_with_epsilon (a, b, 1e-5)

static VnValue *
numbers (VnGraph       *graph,
         const char    *name,
         const VnShape *shape,
         const float   *data)
{
  g_autoptr(VnTensor) tensor = vn_tensor_new_f32 (shape, data);

  return vn_graph_add_initializer (graph, name, tensor);
}

#define WEIGHT(graph, name, n_out, n_in, ...) \
  numbers (graph, name, &VN_SHAPE (n_out, n_in, 1, 1), (const float[]) { __VA_ARGS__ })

static double
number_of (const VnModel *model,
           const char    *node,
           guint          input,
           gsize          i)
{
  const VnNode *found = vn_graph_find_node (model->graph, node);

  g_assert_nonnull (found);
  return vn_tensor_get_double (vn_value_get_constant (vn_node_get_input (found, input)), i);
}

static guint
equalize (VnModel                 *model,
          const VnEqualizeOptions *options)
{
  g_autoptr(VnEditLog) log = vn_edit_log_new ();
  g_autofree char *text = NULL;
  g_autoptr(GError) error = NULL;

  g_assert_true (vn_model_infer_types (model, NULL, NULL, &error));
  g_assert_true (vn_equalize_model (model, options, log, NULL, &error));
  g_assert_no_error (error);
  text = vn_edit_log_to_text (log);
  g_test_message ("%s", text);
  return vn_edit_log_get_n (log);
}

/* x[1, 2, 1, 1], first (2 x 2), @between, second (2 x 2) */
static VnModel *
make_pair (const char *between,
           const float first[4],
           const float bias[2],
           const float second[4])
{
  VnValue *x;
  VnModel *model = new_model (&x, &VN_SHAPE (1, 2, 1, 1));
  VnGraph *graph = model->graph;
  VnValue *w = numbers (graph, "w", &VN_SHAPE (2, 2, 1, 1), first);
  VnValue *b = bias != NULL ? numbers (graph, "b", &VN_SHAPE (2), bias) : NULL;
  VnValue *v = numbers (graph, "v", &VN_SHAPE (2, 2, 1, 1), second);
  VnNode *node = add (graph, "first", "Conv", "c", x, w, b, END);

  if (between != NULL)
    node = add (graph, "between", between, "r", out (node), END);
  return finish (model, add (graph, "second", "Conv", "y", out (node), v, END));
}

/* s = sqrt (1 / 4), sqrt (1 / 0.25) */
static void
test_pair (void)
{
  static const char * const between[] = { NULL, "Relu", "LeakyRelu" };
  VnEqualizeOptions options = VN_EQUALIZE_OPTIONS_DEFAULT;

  for (guint i = 0; i < G_N_ELEMENTS (between); i++)
    {
      g_autoptr(VnModel) model = make_pair (between[i], (const float[]) { 4, 0, 0, 0.25f }, NULL,
                                            (const float[]) { 1, 1, 1, 0.5f });
      static const double first[] = { 2, 0, 0, 0.5 }, second[] = { 2, 0.5, 2, 0.25 };

      g_assert_cmpuint (equalize (model, &options), ==, 1);
      for (gsize k = 0; k < 4; k++)
        {
          NEAR (number_of (model, "first", 1, k), first[k]);
          NEAR (number_of (model, "second", 1, k), second[k]);
        }
    }
}

static void
test_threshold (void)
{
  VnEqualizeOptions options = VN_EQUALIZE_OPTIONS_DEFAULT;
  const float first[] = { 0.32f, 0, 0, 0.2f }, second[] = { 0.02f, 0.8f, 0, 0.1f };
  g_autoptr(VnModel) model = make_pair ("Relu", first, NULL, second);
  g_autoptr(VnModel) lower = make_pair ("Relu", first, NULL, second);

  g_assert_cmpuint (equalize (model, &options), ==, 1);
  NEAR (number_of (model, "first", 1, 0), 0.32);   /* 0.32 + 0.02 < 0.5 */
  NEAR (number_of (model, "first", 1, 3), 0.4);    /* 0.2 + 0.8 */
  options.threshold = 0;
  g_assert_cmpuint (equalize (lower, &options), ==, 1);
  NEAR (number_of (lower, "first", 1, 0), 0.08);
  NEAR (number_of (lower, "second", 1, 0), 0.08);
}

/* Quark's divisors, by how large the bias of the first of two channels is beside weights of 1: the mean and the median of
 * all ratios are half of it. */
static void
test_bias (void)
{
  static const struct { float bias; double shrink; } cases[] = { { 8, 2 }, { 15, 5 }, { 25, 5 }, { 36, 10 }, { 80, 20 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const float bias[] = { cases[i].bias, 0 };
      g_autoptr(VnModel) model = make_pair ("Relu", (const float[]) { 1, 1, 1, 1 }, bias, (const float[]) { 1, 1, 1, 1 });
      VnEqualLayer *layer = NULL;
      double ranges[2];

      g_assert_true (vn_equal_layer_new (vn_graph_find_node (model->graph, "first"), &layer, NULL));
      vn_equal_layer_ranges_out (layer, ranges);
      vn_equal_layer_append_bias (layer, ranges);
      g_assert_cmpfloat (ranges[0], ==, (double) cases[i].bias / cases[i].shrink);
      g_assert_cmpfloat (ranges[1], ==, 1);
      vn_equal_layer_free (layer);
    }
}

/* Weights of 0 count as the smallest of their channel, a channel of them not at all. */
static void
test_bias_beside_nothing (void)
{
  const float bias[] = { 100, 1 };
  g_autoptr(VnModel) model = make_pair ("Relu", (const float[]) { 0, 0, 0, 0.5f }, bias, (const float[]) { 1, 1, 1, 1 });
  VnEqualLayer *layer = NULL;
  double ranges[2];

  g_assert_true (vn_equal_layer_new (vn_graph_find_node (model->graph, "first"), &layer, NULL));
  vn_equal_layer_ranges_out (layer, ranges);
  vn_equal_layer_append_bias (layer, ranges);
  g_assert_cmpfloat (ranges[0], ==, 0);
  g_assert_cmpfloat (ranges[1], ==, 0.5);   /* ratios 0, 0, 2, 2: 1 / 5 is less */
  vn_equal_layer_free (layer);
}

/* h = 8 / 2, then s = sqrt (1 / 4) for bias and weights alike. */
static void
test_bias_in_pair (void)
{
  VnEqualizeOptions options = VN_EQUALIZE_OPTIONS_DEFAULT;
  const float bias[] = { 8, 0 };
  g_autoptr(VnModel) model = make_pair ("Relu", (const float[]) { 1, 1, 1, 1 }, bias, (const float[]) { 1, 1, 1, 1 });
  g_autoptr(VnModel) without = make_pair ("Relu", (const float[]) { 1, 1, 1, 1 }, bias, (const float[]) { 1, 1, 1, 1 });

  g_assert_cmpuint (equalize (model, &options), ==, 1);
  NEAR (number_of (model, "first", 1, 0), 0.5);
  NEAR (number_of (model, "first", 2, 0), 4);
  NEAR (number_of (model, "second", 1, 0), 2);
  options.append_bias = FALSE;
  g_assert_cmpuint (equalize (without, &options), ==, 0);
}

/* 8, 1, 1: the cube root is 2 */
static void
test_triple (void)
{
  VnEqualizeOptions options = VN_EQUALIZE_OPTIONS_DEFAULT;
  VnValue *x;
  g_autoptr(VnModel) model = new_model (&x, &VN_SHAPE (1, 2, 1, 1));
  VnGraph *graph = model->graph;
  VnNode *node = add (graph, "conv", "Conv", "c", x, WEIGHT (graph, "w", 2, 2, 8, 1, 1, 8),
                      numbers (graph, "b", &VN_SHAPE (2), (const float[]) { 1, 2 }), END);
  VnNode *depthwise = add (graph, "depthwise", "Conv", "d", out (add (graph, "relu", "Relu", "r", out (node), END)),
                           WEIGHT (graph, "dw", 2, 1, 1, 1), END);

  vn_node_set_int (depthwise, "group", 2);
  finish (model, add (graph, "last", "Conv", "y", out (depthwise), WEIGHT (graph, "v", 2, 2, 1, 0.5f, 1, 1), END));
  options.append_bias = FALSE;
  g_assert_cmpuint (equalize (model, &options), >=, 1);
  NEAR (number_of (model, "conv", 1, 0), 2);
  NEAR (number_of (model, "conv", 1, 1), 0.25);
  NEAR (number_of (model, "conv", 2, 1), 0.5);
  NEAR (number_of (model, "depthwise", 1, 0), 2);
  NEAR (number_of (model, "last", 1, 0), 2);
  NEAR (number_of (model, "last", 1, 1), 1);
}

/* What does not hand factors on: bends, makes bounds, or is seen elsewhere. */
static void
test_left_alone (void)
{
  static const char * const between[] = { "Sigmoid", "Exp", "HardSwish", "Softmax" };
  VnEqualizeOptions options = VN_EQUALIZE_OPTIONS_DEFAULT;

  for (guint i = 0; i < G_N_ELEMENTS (between); i++)
    for (VnEqualizeKind kind = VN_EQUALIZE_AMD; kind <= VN_EQUALIZE_PPQ; kind++)
      {
        g_autoptr(VnModel) model = make_pair (between[i], (const float[]) { 4, 0, 0, 0.25f }, NULL,
                                              (const float[]) { 1, 1, 1, 1 });

        options.kind = kind;
        options.level = 2;
        g_assert_cmpuint (equalize (model, &options), ==, 0);
        g_assert_cmpfloat (number_of (model, "first", 1, 0), ==, 4);
      }
  for (VnEqualizeKind kind = VN_EQUALIZE_AMD; kind <= VN_EQUALIZE_PPQ; kind++)
    {
      g_autoptr(VnModel) model = make_pair ("Relu", (const float[]) { 4, 0, 0, 0.25f }, NULL, (const float[]) { 1, 1, 1, 1 });

      vn_graph_set_output (model->graph, 1, vn_graph_find_value (model->graph, "r"));
      options.kind = kind;
      g_assert_cmpuint (equalize (model, &options), ==, 0);
    }
}

/* Each channel lies in one number: 4 and 1 flow together, 1 and 0.25 read the sum. */
static VnModel *
make_branches (void)
{
  VnValue *x;
  VnModel *model = new_model (&x, &VN_SHAPE (1, 1, 1, 1));
  VnGraph *graph = model->graph;
  VnNode *a = add (graph, "a", "Conv", "ya", x, WEIGHT (graph, "wa", 1, 1, 4),
                   numbers (graph, "ba", &VN_SHAPE (1), (const float[]) { 2 }), END);
  VnNode *b = add (graph, "b", "Conv", "yb", x, WEIGHT (graph, "wb", 1, 1, 1), END);
  VnNode *relu = add (graph, "relu", "Relu", "r", out (add (graph, "sum", "Add", "s", out (a), out (b), END)), END);
  VnNode *c = add (graph, "c", "Conv", "yc", out (relu), WEIGHT (graph, "wc", 1, 1, 1), END);
  VnNode *d = add (graph, "d", "Conv", "yd", out (relu), WEIGHT (graph, "wd", 1, 1, 0.25f), END);

  return finish (model, add (graph, "end", "Add", "y", out (c), out (d), END));
}

static void
test_groups (void)
{
  VnEqualizeOptions options = { .kind = VN_EQUALIZE_PPQ, .threshold = 0.5, .level = 1 };
  g_autoptr(VnModel) model = make_branches ();
  static const struct { const char *node; double weight; } cases[] = { { "a", 2 }, { "b", 0.5 }, { "c", 2 }, { "d", 0.5 } };

  g_assert_cmpuint (equalize (model, &options), ==, 0);
  options.level = 2;
  g_assert_cmpuint (equalize (model, &options), ==, 1);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    NEAR (number_of (model, cases[i].node, 1, 0), cases[i].weight);
  NEAR (number_of (model, "a", 2, 0), 1);
}

/* h = max (4, bias / 2, seen / 2), t = 1, one step; at most ten times. */
static void
test_keys (void)
{
  static const struct { gboolean bias; double seen, factor; } cases[] = {
    { FALSE, 0, 0.5 }, { TRUE, 0, 0.5 }, { FALSE, 32, 0.25 }, { FALSE, 5000, 0.1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, (GDestroyNotify) g_array_unref);
      VnEqualizeOptions options = { .kind = VN_EQUALIZE_PPQ, .steps = 1, .threshold = 0.5, .level = 2,
                                    .append_bias = cases[i].bias, .activations = seen };
      g_autoptr(VnModel) model = make_branches ();
      GArray *channels = g_array_new (FALSE, FALSE, sizeof (double));

      g_array_append_val (channels, cases[i].seen);
      g_hash_table_insert (seen, (gpointer) "ya", channels);
      g_assert_cmpuint (equalize (model, &options), ==, 1);
      NEAR (number_of (model, "a", 1, 0), 4 * cases[i].factor);
      NEAR (number_of (model, "d", 1, 0), 0.25 / cases[i].factor);
      NEAR (g_array_index (channels, double, 0), cases[i].seen * cases[i].factor);
    }
}

static void
test_list (void)
{
  VnEqualizeOptions options = { .kind = VN_EQUALIZE_PPQ, .threshold = 0.5, .level = 2 };
  g_autoptr(VnModel) model = make_branches ();
  g_autoptr(GPtrArray) values = NULL;

  g_assert_true (vn_model_infer_types (model, NULL, NULL, NULL));
  values = vn_equalize_list_results (model, &options, NULL);
  g_assert_cmpuint (values->len, ==, 2);
  g_assert_cmpstr (((VnValue *) values->pdata[0])->name, ==, "ya");
  g_assert_cmpstr (((VnValue *) values->pdata[1])->name, ==, "yb");
}

/* ---- all kinds of layers ---- */

static VnTensor *
run (VnModel *model)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnPlan) plan = vn_plan_new (model, NULL, NULL, &error);
  g_autoptr(VnRunner) runner = plan != NULL ? vn_runner_new (plan, &error) : NULL;
  g_autoptr(VnTensor) x = NULL;
  VnTensor *y = NULL;
  VnShape shape;

  g_assert_no_error (error);
  shape = vn_plan_get_input_type (plan, 0)->shape;
  x = vn_tensor_new (VN_DTYPE_F32, &shape, NULL);
  for (gsize i = 0; i < x->n_elements; i++)
    ((float *) x->data)[i] = sinf ((float) i * 1.7f);
  g_assert_true (vn_runner_run (runner, &x, &y, NULL, &error));
  return y;
}

/* Every second channel of @value a hundredth. */
static VnValue *
uneven (VnValue *value,
        gsize    every)
{
  g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_F32, &value->initializer->shape, NULL);

  for (gsize i = 0; i < tensor->n_elements; i++)
    ((float *) tensor->data)[i] = (i % 3 == 1 ? -1.f : 1.f) * ((const float *) value->initializer->data)[i] *
                                  (i / every % 2 == 1 ? 0.01f : 1.f);
  vn_graph_set_initializer (value->graph, value, tensor);
  return value;
}

static VnNode *
grouped (VnNode *node,
         gint64  group)
{
  vn_node_set_int (node, "group", group);
  return node;
}

/* ConvTranspose in groups, PRelu, Conv in groups, Pad, Conv, ReduceMean, Gemm either way round */
static VnModel *
make_layers (void)
{
  static const gint64 pads[] = { 0, 0, 1, 1, 0, 0, 1, 1 }, axes[] = { 2, 3 };
  VnValue *x;
  VnModel *model = new_model (&x, &VN_SHAPE (1, 4, 5, 5));
  VnGraph *graph = model->graph;
  VnNode *up = grouped (add (graph, "up", "ConvTranspose", "u", x, uneven (weights (graph, "wu", &VN_SHAPE (4, 3, 2, 2)), 4),
                             weights (graph, "bu", &VN_SHAPE (6)), END), 2);
  VnNode *bent = add (graph, "prelu", "PRelu", "p", out (up), weights (graph, "slope", &VN_SHAPE (6, 1, 1)), END);
  VnNode *conv = grouped (add (graph, "conv", "Conv", "c", out (bent), uneven (weights (graph, "wc", &VN_SHAPE (8, 3, 3, 3)), 27),
                               weights (graph, "bc", &VN_SHAPE (8)), END), 2);
  VnNode *flat = add (graph, "flat", "Conv", "f", out (add (graph, "relu", "Relu", "r", out (conv), END)),
                      uneven (weights (graph, "wf", &VN_SHAPE (6, 8, 1, 1)), 8), weights (graph, "bf", &VN_SHAPE (6)), END);
  VnNode *padded = add (graph, "pad", "Pad", "q", out (flat), ints (graph, "pads", pads, 8), END);
  VnNode *mean = add (graph, "mean", "ReduceMean", "m", out (padded), END);
  VnNode *gemm;

  vn_node_set_ints (mean, "axes", axes, 2);
  vn_node_set_int (mean, "keepdims", 0);
  gemm = add (graph, "gemm", "Gemm", "g", out (mean), uneven (weights (graph, "wg", &VN_SHAPE (5, 6)), 6),
              weights (graph, "bg", &VN_SHAPE (5)), END);
  vn_node_set_int (gemm, "transB", 1);
  return finish (model, add (graph, "gemm2", "Gemm", "y", out (gemm), uneven (weights (graph, "w2", &VN_SHAPE (5, 3)), 3), END));
}

static void
test_same_results (void)
{
  static const VnEqualizeOptions options[] = {
    { .kind = VN_EQUALIZE_AMD, .threshold = 0.5, .append_bias = TRUE },
    { .kind = VN_EQUALIZE_AMD, .threshold = 0, .steps = 5 },
    { .kind = VN_EQUALIZE_AMD, .threshold = 0.5, .steps = -1, .difference = 2e-7 },
    { .kind = VN_EQUALIZE_PPQ, .threshold = 0.5, .level = 1 },
    { .kind = VN_EQUALIZE_PPQ, .threshold = 0, .level = 2, .append_bias = TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (options); i++)
    {
      g_autoptr(VnModel) model = make_layers ();
      g_autoptr(VnTensor) before = run (model);
      g_autoptr(VnTensor) after = NULL;
      guint n = equalize (model, &options[i]);

      g_assert_cmpuint (n, ==, options[i].kind == VN_EQUALIZE_AMD ? 2 : 3);   /* flat, gemm; up, conv, gemm */
      after = run (model);
      for (gsize k = 0; k < before->n_elements; k++)
        g_assert_cmpfloat_with_epsilon (vn_tensor_get_double (before, k), vn_tensor_get_double (after, k),
                                        1e-5 * (1 + fabs (vn_tensor_get_double (before, k))));
    }
}

/* Two layers with the same weights: the one that changes gets its own. */
static void
test_shared_weights (void)
{
  VnEqualizeOptions options = VN_EQUALIZE_OPTIONS_DEFAULT;
  VnValue *x;
  g_autoptr(VnModel) model = new_model (&x, &VN_SHAPE (1, 2, 1, 1));
  VnGraph *graph = model->graph;
  VnValue *w = WEIGHT (graph, "w", 2, 2, 4, 0, 0, 0.25f);
  VnNode *alone = add (graph, "alone", "Conv", "z", x, w, END);
  VnNode *first = add (graph, "first", "Conv", "c", x, w, END);

  finish (model, add (graph, "second", "Conv", "y", out (first), WEIGHT (graph, "v", 2, 2, 1, 1, 1, 1), END));
  finish (model, alone);
  g_assert_cmpuint (equalize (model, &options), ==, 1);
  g_assert_cmpfloat (number_of (model, "alone", 1, 0), ==, 4);
  NEAR (number_of (model, "first", 1, 0), 2);
}

/* Weights that are not numbers, or all nothing, do no harm. */
static void
test_odd_weights (void)
{
  static const float odd[] = { NAN, INFINITY, 0 };

  for (guint i = 0; i < G_N_ELEMENTS (odd); i++)
    for (VnEqualizeKind kind = VN_EQUALIZE_AMD; kind <= VN_EQUALIZE_PPQ; kind++)
      {
        VnEqualizeOptions options = { .kind = kind, .append_bias = TRUE };
        const float first[] = { odd[i], odd[i], 0.25f, 0.25f }, bias[] = { 1, odd[i] };
        g_autoptr(VnModel) model = make_pair ("Relu", first, bias, (const float[]) { 1, 1, 1, 1 });

        equalize (model, &options);
        for (gsize k = 0; k < 4; k++)
          g_assert_true (isfinite (number_of (model, "second", 1, k)) && number_of (model, "second", 1, k) > 0);
      }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/equalize/pair", test_pair);
  g_test_add_func ("/equalize/threshold", test_threshold);
  g_test_add_func ("/equalize/bias", test_bias);
  g_test_add_func ("/equalize/bias-beside-nothing", test_bias_beside_nothing);
  g_test_add_func ("/equalize/bias-in-pair", test_bias_in_pair);
  g_test_add_func ("/equalize/triple", test_triple);
  g_test_add_func ("/equalize/left-alone", test_left_alone);
  g_test_add_func ("/equalize/groups", test_groups);
  g_test_add_func ("/equalize/keys", test_keys);
  g_test_add_func ("/equalize/list", test_list);
  g_test_add_func ("/equalize/same-results", test_same_results);
  g_test_add_func ("/equalize/shared", test_shared_weights);
  g_test_add_func ("/equalize/odd-weights", test_odd_weights);
  return g_test_run ();
}
