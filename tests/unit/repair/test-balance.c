/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Factors and steps of least noise, against all steps that there are, one after the other; what is even stays as it is, and what
 * is clamped is clamped where it was. Which axis holds channels, and what can take their factors. */
#include "balance-graph.h"
#include "balance-steps.h"

#include "op-call.h"
#include "vn-graph-edit.h"
#include "vn-infer.h"

#include <math.h>
#include <string.h>

#define CHANNELS 6
#define TERMS 4

/* From 0 to 1. */
static double
number (guint *state)
{
  *state = *state * 1664525u + 1013904223u;
  return (double) (*state >> 8) / (1 << 24);
}

static VnBalanceUnit *
make_unit (guint n)
{
  GArray *roots = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint r = 0; r < n; r++)
    g_array_append_val (roots, r);
  return vn_balance_unit_new (roots, TRUE);
}

static void
add_entry (GArray *entries,
           guint   root,
           double  top,
           double  cost)
{
  VnBalanceEntry entry = { root, top, cost };

  g_array_append_val (entries, entry);
}

/* An activation, weights and biases in front, weights behind: channels from 1 to @spread. */
static VnBalanceUnit *
make_random_unit (guint  seed,
                  double spread)
{
  VnBalanceUnit *unit = make_unit (CHANNELS);

  for (guint k = 0; k < TERMS; k++)
    {
      GArray *entries = vn_balance_unit_add_term (unit, k == TERMS - 1);

      for (guint r = 0; r < CHANNELS; r++)
        add_entry (entries, r, pow (spread, number (&seed)) / 127, number (&seed) * (k == 1 ? 5 : 1));
    }
  return unit;
}

static const VnBalanceEntry *
get_entry (const VnBalanceUnit *unit,
           guint                k,
           guint                root)
{
  return &g_array_index (g_array_index (unit->terms, VnBalanceTerm, k).entries, VnBalanceEntry, root);
}

/* The noise of channel @r with these steps, by the rule: the best factor in float64, moved to where all numbers are held. */
static double
solve_channel (const VnBalanceUnit *unit,
               const double        *steps,
               guint                r)
{
  double low = VN_BALANCE_LEAST_FACTOR, high = VN_BALANCE_MOST_FACTOR, front = 0, behind, s;

  for (guint k = 0; k + 1 < TERMS; k++)
    {
      low = fmax (low, get_entry (unit, k, r)->top / steps[k]);
      front += get_entry (unit, k, r)->cost * steps[k] * steps[k];
    }
  high = fmin (high, steps[TERMS - 1] / get_entry (unit, TERMS - 1, r)->top);
  behind = get_entry (unit, TERMS - 1, r)->cost * steps[TERMS - 1] * steps[TERMS - 1];
  s = fmin (fmax (pow (behind / front, 0.25), low), high);
  return low > high ? INFINITY : front * s * s + behind / (s * s);
}

static double
find_least (const VnBalanceUnit *unit)
{
  double least = INFINITY, steps[TERMS];

  for (guint i = 0; i < 14 * 14 * 14 * 14; i++)
    {
      double noise = 0;

      for (guint k = 0, rest = i; k < TERMS; k++, rest /= 14)
        steps[k] = ldexp (1, (int) (rest % 14) - 11);
      for (guint r = 0; r < CHANNELS && noise < least; r++)
        noise += solve_channel (unit, steps, r);
      least = fmin (least, noise);
    }
  return least;
}

/* The noise of factors that were found, with the least steps that hold all numbers; powers of two. */
static double
measure (const VnBalanceUnit *unit)
{
  double noise = 0;

  for (guint k = 0; k < TERMS; k++)
    {
      double top = 0, step;

      for (guint r = 0; r < CHANNELS; r++)
        top = fmax (top, get_entry (unit, k, r)->top * pow (unit->factors[r], k == TERMS - 1 ? 1 : -1));
      step = exp2 (ceil (log2 (top) - 1e-6));
      for (guint r = 0; r < CHANNELS; r++)
        noise += get_entry (unit, k, r)->cost * step * step * pow (unit->factors[r], k == TERMS - 1 ? -2 : 2);
    }
  return noise;
}

static void
test_least_noise (void)
{
  double worst = 0, before = 0, after = 0;

  for (guint seed = 1; seed <= 12; seed++)
    {
      g_autoptr(VnBalanceUnit) unit = make_random_unit (seed, 100);
      double least = find_least (unit), plain = measure (unit);

      g_assert_true (vn_balance_unit_minimize_noise (unit));
      worst = fmax (worst, measure (unit) / least);
      before += log10 (plain / least);
      after += log10 (measure (unit) / least);
    }
  g_test_message ("from %.2f to %.2f dB above the least noise, at most %.2f", 10 * before / 12, 10 * after / 12,
                  10 * log10 (worst));
  g_assert_cmpfloat (10 * before / 12, >, 3);
  g_assert_cmpfloat (10 * after / 12, <, 0.5);
  g_assert_cmpfloat (10 * log10 (worst), <, 2);
}

/* One channel, steps that are full: 1 in front and behind, and nothing to win. */
static void
test_even (void)
{
  g_autoptr(VnBalanceUnit) unit = make_unit (CHANNELS);

  for (guint k = 0; k < 2; k++)
    {
      GArray *entries = vn_balance_unit_add_term (unit, k == 1);

      for (guint r = 0; r < CHANNELS; r++)
        add_entry (entries, r, 0.25, 1);
    }
  g_assert_false (vn_balance_unit_minimize_noise (unit));
  for (guint r = 0; r < CHANNELS; r++)
    g_assert_cmpfloat (unit->factors[r], ==, 1);
}

/* A worked example: channels of 1 and 1/16 in front with cost 1, behind of 1/16 and 1 with cost 1. Plainly both steps are 1,
 * which is 4. Factors of 1 and 1/16 make all channels even: steps of 1 in front and 1/16 behind: 1 + 1/256 in front; behind
 * (1 + 256) / 256: 2.0078. Factors of 4 and 1/4: steps of 1/4 both: (16 + 1/16) / 16 in each: 2.0078, too; none are better. */
static void
test_example (void)
{
  g_autoptr(VnBalanceUnit) unit = make_unit (2);
  GArray *front = vn_balance_unit_add_term (unit, FALSE), *behind;
  double noise = 0, steps[2] = { 0, 0 };

  add_entry (front, 0, 1, 1);
  add_entry (front, 1, 1.0 / 16, 1);
  behind = vn_balance_unit_add_term (unit, TRUE);
  add_entry (behind, 0, 1.0 / 16, 1);
  add_entry (behind, 1, 1, 1);
  g_assert_true (vn_balance_unit_minimize_noise (unit));
  g_assert_cmpfloat_with_epsilon (unit->factors[0] / unit->factors[1], 16, 1e-9);
  for (guint r = 0; r < 2; r++)
    {
      steps[0] = fmax (steps[0], (r == 0 ? 1 : 1.0 / 16) / unit->factors[r]);
      steps[1] = fmax (steps[1], (r == 1 ? 1 : 1.0 / 16) * unit->factors[r]);
    }
  for (guint r = 0; r < 2; r++)
    noise += pow (steps[0] * unit->factors[r], 2) + pow (steps[1] / unit->factors[r], 2);
  g_assert_cmpfloat_with_epsilon (noise, 2 * (1 + 1.0 / 256), 1e-9);
}

/* A clamp moves to where the largest factor takes it: what reaches it must have that factor, what comes near it nearly that. */
static void
test_clamp (void)
{
  static const double parts[CHANNELS] = { 1, 0.5, 0.25, 1, 0.1, 0.02 };
  g_autoptr(VnBalanceUnit) unit = make_random_unit (5, 300);
  double largest = 0;

  unit->has_clamp = TRUE;
  for (guint r = 0; r < CHANNELS; r++)
    unit->clipped[r] = parts[r];
  g_assert_true (vn_balance_unit_minimize_noise (unit));
  for (guint r = 0; r < CHANNELS; r++)
    largest = fmax (largest, unit->factors[r]);
  for (guint r = 0; r < CHANNELS; r++)
    g_assert_cmpfloat (unit->factors[r], >=, parts[r] * largest * (1 - 1e-9));
  g_assert_cmpfloat_with_epsilon (unit->factors[0], unit->factors[3], 1e-12);
}

static void
test_pinned (void)
{
  g_autoptr(VnBalanceUnit) unit = make_random_unit (7, 100);

  unit->pinned[2] = TRUE;
  vn_balance_unit_minimize_noise (unit);
  g_assert_cmpfloat (unit->factors[2], ==, 1);
}

/* ---- channels ---- */

static VnValue *
add_node (VnModel    *model,
          const char *type,
          const char *name,
          VnValue    *a,
          VnValue    *b,
          VnValue    *c)
{
  VnValue *inputs[] = { a, b, c }, *y = vn_graph_add_value (model->graph, name, VN_DTYPE_UNDEFINED, NULL);

  vn_graph_add_node (model->graph, NULL, "", type, inputs, c != NULL ? 3 : b != NULL ? 2 : 1, &y, 1);
  return y;
}

static VnValue *
add_constant (VnModel    *model,
              const char *name,
              VnShape     shape)
{
  g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_F32, &shape, NULL);

  for (gsize i = 0; i < tensor->n_elements; i++)
    ((float *) tensor->data)[i] = 1;
  return vn_graph_add_initializer (model->graph, name, tensor);
}

static int
find_axis (const VnModel *model,
           const int     *axes,
           const char    *name)
{
  return axes[vn_graph_find_value (model->graph, name)->id];
}

/* A convolution, whose channels lie along the second axis; behind a Transpose a normalization spelled out by its last steps, and
 * a product: there they lie along the last one. */
static void
test_axes (void)
{
  static const struct { const char *name; int axis, weight, bias; } wanted[] = {
    { "c", 1, 1, -1 }, { "r", 1, -1, -1 }, { "t", 2, -1, -1 }, { "n", 2, 1, 2 }, { "p", 2, 1, -1 }, { "b", 2, -1, -1 },
    { "d", 2, -1, -1 }, { "s", 2, 1, -1 },
  };
  g_autoptr(VnModel) model = vn_model_new (8, 17);
  VnGraph *graph = model->graph;
  VnValue *x = vn_graph_add_input (graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 3, 10)), *last;
  VnValue *deviation = vn_graph_add_input (graph, "deviation", VN_DTYPE_F32, &VN_SHAPE (1, 8, 1));
  g_autoptr(GError) error = NULL;
  g_autofree int *axes = NULL;

  last = add_node (model, "Conv", "c", x, add_constant (model, "w", VN_SHAPE (6, 3, 3)), NULL);
  last = add_node (model, "Relu", "r", last, NULL, NULL);
  last = add_node (model, "Transpose", "t", last, NULL, NULL);
  vn_node_set_ints (last->producer, "perm", (const gint64[]) { 0, 2, 1 }, 3);
  last = add_node (model, "LayerNormalization", "n", last, add_constant (model, "scale", VN_SHAPE (6)),
                   add_constant (model, "bias", VN_SHAPE (6)));
  last = add_node (model, "MatMul", "p", last, add_constant (model, "v", VN_SHAPE (6, 5)), NULL);
  last = add_node (model, "Add", "b", last, add_constant (model, "add", VN_SHAPE (5)), NULL);
  last = add_node (model, "Div", "d", last, deviation, NULL);
  last = add_node (model, "Mul", "s", last, add_constant (model, "gamma", VN_SHAPE (5)), NULL);
  vn_graph_set_output (graph, 0, last);
  vn_model_infer_types (model, NULL, NULL, &error);
  g_assert_no_error (error);

  axes = vn_balance_find_axes (graph);
  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++)
    {
      VnBalanceWriter writer;
      int axis = find_axis (model, axes, wanted[i].name);

      g_assert_cmpint (axis, ==, wanted[i].axis);
      g_assert_true (vn_balance_find_writer (vn_graph_find_value (graph, wanted[i].name), axis, &writer)
                     == (wanted[i].weight >= 0));
      g_assert_cmpint (writer.weight, ==, wanted[i].weight);
      g_assert_cmpint (writer.bias, ==, wanted[i].bias);
    }
}

static VnValue *
add_indices (VnModel      *model,
             const char   *name,
             const gint64 *numbers,
             gint64        n)
{
  g_autoptr(VnTensor) tensor = vn_tensor_new_s64 (&VN_SHAPE (n), numbers);

  return vn_graph_add_initializer (model->graph, name, tensor);
}

/* Values "v" of 2 heads with 3 channels each, mixed as "mixed", and put together as "joined". @branch: something else reads a
 * part. */
static VnModel *
make_attention (gboolean branch)
{
  const gint64 cut[] = { 1, 4, 2, 3 }, whole[] = { 1, 4, 6 }, order[] = { 0, 2, 1, 3 };
  VnModel *model = vn_model_new (8, 17);
  VnValue *x = vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 4, 5)), *last;
  VnValue *weights = vn_graph_add_input (model->graph, "weights", VN_DTYPE_F32, &VN_SHAPE (1, 2, 4, 4));
  VnValue *other = NULL;
  g_autoptr(GError) error = NULL;

  last = add_node (model, "MatMul", "v", x, add_constant (model, "wv", VN_SHAPE (5, 6)), NULL);
  last = add_node (model, "Reshape", "cut", last, add_indices (model, "cut_shape", cut, 4), NULL);
  last = add_node (model, "Transpose", "heads", last, NULL, NULL);
  vn_node_set_ints (last->producer, "perm", order, 4);
  if (branch)
    other = add_node (model, "Exp", "branch", last, NULL, NULL);
  last = add_node (model, "MatMul", "mixed", weights, last, NULL);
  last = add_node (model, "Transpose", "back", last, NULL, NULL);
  vn_node_set_ints (last->producer, "perm", order, 4);
  last = add_node (model, "Reshape", "joined", last, add_indices (model, "whole_shape", whole, 3), NULL);
  vn_graph_set_output (model->graph, 0, add_node (model, "MatMul", "y", last, add_constant (model, "wo", VN_SHAPE (6, 5)), NULL));
  if (branch)
    vn_graph_set_output (model->graph, 1, other);
  vn_model_infer_types (model, NULL, NULL, &error);
  g_assert_no_error (error);
  return model;
}

static VnRecipe *
make_folded (void)
{
  VnRecipe *recipe = vn_recipe_new (NULL);

  recipe->balance_channels = VN_BALANCE_CHANNELS_FOLDED;
  return recipe;
}

/* Each channel of the values has one factor from the projection in front to the one behind; heads keep them apart. */
static void
test_heads (void)
{
  static const char * const names[] = { "cut", "heads", "mixed", "back", "joined" };
  g_autoptr(VnModel) model = make_attention (FALSE);
  g_autoptr(VnRecipe) recipe = make_folded ();
  g_autoptr(VnBalanceGraph) graph = vn_balance_graph_new (model->graph, recipe);
  const VnValue *v = vn_graph_find_value (model->graph, "v"), *weights = vn_graph_find_value (model->graph, "weights");

  g_assert_cmpint (graph->heads[vn_graph_find_value (model->graph, "cut")->id], ==, 2);
  g_assert_cmpint (graph->heads[vn_graph_find_value (model->graph, "mixed")->id], ==, 1);
  g_assert_cmpuint (graph->n[v->id], ==, 6);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    for (guint c = 0; c < 6; c++)
      {
        const VnValue *value = vn_graph_find_value (model->graph, names[i]);

        g_assert_cmpuint (graph->n[value->id], ==, 6);
        g_assert_true (vn_balance_graph_get_channel (graph, value, c) == vn_balance_graph_get_channel (graph, v, c));
        g_assert_true (c == 0 ||
                     vn_balance_graph_get_channel (graph, value, c) != vn_balance_graph_get_channel (graph, value, c - 1));
        g_assert_false (vn_balance_graph_get_channel (graph, value, c)->pinned);
      }
  g_assert_true (vn_balance_graph_get_channel (graph, weights, 0)->pinned);
}

/* What does not get to the projection behind cannot be divided. */
static void
test_heads_of_branch (void)
{
  g_autoptr(VnModel) model = make_attention (TRUE);
  g_autoptr(VnRecipe) recipe = make_folded ();
  g_autoptr(VnBalanceGraph) graph = vn_balance_graph_new (model->graph, recipe);
  const VnValue *v = vn_graph_find_value (model->graph, "v");

  for (guint c = 0; c < 6; c++)
    g_assert_true (vn_balance_graph_get_channel (graph, v, c)->pinned);
  g_assert_cmpint (graph->heads[vn_graph_find_value (model->graph, "mixed")->id], ==, -1);
}

/* Nothing in front of "normal" takes factors: where products may divide it behind, it has its own; not if something else reads
 * it, too. */
static void
check_source (VnBalanceChannels how,
              gboolean          branch,
              gboolean          divided)
{
  g_autoptr(VnModel) model = vn_model_new (8, 17);
  g_autoptr(VnRecipe) recipe = make_folded ();
  g_autoptr(VnBalanceGraph) graph = NULL;
  g_autoptr(GError) error = NULL;
  VnValue *x = vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 4, 6));
  VnValue *deviation = vn_graph_add_input (model->graph, "deviation", VN_DTYPE_F32, &VN_SHAPE (1, 4, 1)), *normal;

  normal = add_node (model, "Div", "normal", x, deviation, NULL);
  vn_graph_set_output (model->graph, 0, add_node (model, "MatMul", "y", normal, add_constant (model, "w", VN_SHAPE (6, 5)),
                                                  NULL));
  if (branch)
    vn_graph_set_output (model->graph, 1, add_node (model, "Exp", "branch", normal, NULL, NULL));
  vn_model_infer_types (model, NULL, NULL, &error);
  g_assert_no_error (error);

  recipe->balance_channels = how;
  graph = vn_balance_graph_new (model->graph, recipe);
  g_assert_true ((vn_balance_graph_find_gate (graph, normal) != NULL) == divided);
  g_assert_true (vn_balance_graph_get_channel (graph, normal, 0)->pinned != divided);
}

static void
test_sources (void)
{
  check_source (VN_BALANCE_CHANNELS_RESTORED, FALSE, TRUE);
  check_source (VN_BALANCE_CHANNELS_RESTORED, TRUE, FALSE);
  check_source (VN_BALANCE_CHANNELS_FOLDED, FALSE, FALSE);
}

/* x (scale / deviation) + (bias - mean (scale / deviation)), as keras2onnx writes a normalization: all parts have the factors but
 * x. */
static void
test_norm_of_tensorflow (void)
{
  static const char * const names[] = { "factor", "scaled", "shift", "rest", "norm" };
  g_autoptr(VnModel) model = vn_model_new (8, 17);
  g_autoptr(VnRecipe) recipe = make_folded ();
  g_autoptr(VnBalanceGraph) graph = NULL;
  g_autoptr(GError) error = NULL;
  VnValue *x = vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 4, 6));
  VnValue *mean = vn_graph_add_input (model->graph, "mean", VN_DTYPE_F32, &VN_SHAPE (1, 4, 1));
  VnValue *inverse = vn_graph_add_input (model->graph, "deviation", VN_DTYPE_F32, &VN_SHAPE (1, 4, 1)), *factor, *last;
  VnBalanceWriter writer;

  factor = add_node (model, "Mul", "factor", add_node (model, "Reciprocal", "inverse", inverse, NULL, NULL),
                     add_constant (model, "scale", VN_SHAPE (6)), NULL);
  last = add_node (model, "Sub", "rest", add_constant (model, "bias", VN_SHAPE (6)),
                   add_node (model, "Mul", "shift", mean, factor, NULL), NULL);
  last = add_node (model, "Add", "norm", add_node (model, "Mul", "scaled", x, factor, NULL), last, NULL);
  vn_graph_set_output (model->graph, 0, add_node (model, "MatMul", "y", last, add_constant (model, "w", VN_SHAPE (6, 5)), NULL));
  vn_model_infer_types (model, NULL, NULL, &error);
  g_assert_no_error (error);

  graph = vn_balance_graph_new (model->graph, recipe);
  g_assert_true (vn_balance_find_writer (factor, 2, &writer));
  g_assert_cmpint (writer.weight, ==, 1);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    for (guint c = 0; c < 6; c++)
      {
        const VnValue *value = vn_graph_find_value (model->graph, names[i]);

        g_assert_true (vn_balance_graph_get_channel (graph, value, c) == vn_balance_graph_get_channel (graph, factor, c));
        g_assert_false (vn_balance_graph_get_channel (graph, value, c)->pinned);
      }
  g_assert_true (vn_balance_graph_get_channel (graph, x, 0)->pinned);
}

/* ---- normalizations ---- */

static const struct { const char *domain, *op_type; int scale, bias; } norms[] = {
#define VN_BALANCE_NORM(...) { __VA_ARGS__ },
#include "balance-norms.def"
#undef VN_BALANCE_NORM
};

/* Inputs of each: x: what is normalized; v: a vector of channels; i: numbers of rows; t: a table of rows. */
static const struct { const char *op_type, *inputs; gint64 opset; guint n_outputs; } forms[] = {
  { "LayerNormalization", "xvv", 17, 1 },
  { "SimplifiedLayerNormalization", "xv", 17, 1 },
  { "RMSNormalization", "xv", 23, 1 },
  { "SkipLayerNormalization", "xxvv", 1, 1 },
  { "SkipSimplifiedLayerNormalization", "xxv", 1, 1 },
  { "EmbedLayerNormalization", "iitttvv", 1, 2 },
};

static VnTensor *
make_input (char    kind,
            guint32 seed)
{
  VnTensor *numbers;

  if (kind == 'x')
    return op_random (&VN_SHAPE (1, 3, CHANNELS), seed);
  if (kind == 'v')
    return op_random (&VN_SHAPE (CHANNELS), seed);
  if (kind == 't')
    return op_random (&VN_SHAPE (3, CHANNELS), seed);
  numbers = vn_tensor_new (VN_DTYPE_S32, &VN_SHAPE (1, 3), NULL);
  for (int i = 0; i < 3; i++)
    ((gint32 *) numbers->data)[i] = (i + 2) % 3;
  return numbers;
}

/* What @norm writes, with channel c of its scale and its bias times 1 + c @step. */
static VnTensor *
run_norm (guint norm,
          guint form,
          float step)
{
  VnTensor *inputs[8] = { NULL }, *outputs[2] = { NULL };
  OpCall call = { .domain = norms[norm].domain, .type = norms[norm].op_type, .opset = forms[form].opset, .attributes = "",
                  .inputs = inputs, .n_inputs = (guint) strlen (forms[form].inputs), .n_outputs = forms[form].n_outputs };
  g_autoptr(GError) error = NULL;

  for (guint i = 0; i < call.n_inputs; i++)
    inputs[i] = make_input (forms[form].inputs[i], i + 1);
  for (guint i = 0; i < 2; i++)
    {
      const int input = i == 0 ? norms[norm].scale : norms[norm].bias;

      g_assert_cmpint (input, <, (int) call.n_inputs);
      for (guint c = 0; input >= 0 && c < CHANNELS; c++)
        ((float *) inputs[input]->data)[c] *= 1 + (float) c * step;
    }
  op_call (&call, outputs, &error);
  g_assert_no_error (error);
  vn_tensor_clear_all (inputs, G_N_ELEMENTS (inputs));
  g_clear_pointer (&outputs[1], vn_tensor_unref);
  return outputs[0];
}

/* Factors of the scale, and of the bias where there is one, are those of the channels of the last axis. */
static void
test_norms (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (norms); i++)
    {
      g_autoptr(VnTensor) plain = NULL, scaled = NULL;
      guint form = 0;

      g_test_message ("%s", norms[i].op_type);
      while (form < G_N_ELEMENTS (forms) && !g_str_equal (forms[form].op_type, norms[i].op_type))
        form++;
      g_assert_cmpuint (form, <, G_N_ELEMENTS (forms));
      g_assert_true (strchr (forms[form].inputs, 'v') == forms[form].inputs + norms[i].scale);
      plain = run_norm (i, form, 0);
      scaled = run_norm (i, form, 0.5f);
      g_assert_cmpuint (plain->n_elements, ==, 3 * CHANNELS);
      for (gsize k = 0; k < plain->n_elements; k++)
        g_assert_cmpfloat_with_epsilon (vn_tensor_get_double (scaled, k),
                                        vn_tensor_get_double (plain, k) * (1 + (double) (k % CHANNELS) / 2), 1e-5);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/balance/least-noise", test_least_noise);
  g_test_add_func ("/balance/even", test_even);
  g_test_add_func ("/balance/example", test_example);
  g_test_add_func ("/balance/clamp", test_clamp);
  g_test_add_func ("/balance/pinned", test_pinned);
  g_test_add_func ("/balance/axes", test_axes);
  g_test_add_func ("/balance/heads", test_heads);
  g_test_add_func ("/balance/heads-of-branch", test_heads_of_branch);
  g_test_add_func ("/balance/sources", test_sources);
  g_test_add_func ("/balance/norm-of-tensorflow", test_norm_of_tensorflow);
  g_test_add_func ("/balance/norms", test_norms);
  return g_test_run ();
}
