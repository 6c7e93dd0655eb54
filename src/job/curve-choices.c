/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes that are computed in one, such as a Conv and the Relu behind it, are a unit. A tensor in float, or of 16 bit, gains its noise
 * and requires all units that compute on integers around it to do without, as a single layer between others gains nothing; what a unit
 * costs is paid once. A unit in float between others pays for conversions, which a tensor that is in float on both sides saves again:
 * so choices grow to regions where that is cheaper. Noise of several tensors adds up at the outputs. */
#include "curve-choices.h"

#include "vn-cure.h"
#include "vn-error-sum.h"
#include "vn-format-traits.h"
#include "vn-quant-plan.h"

#include <math.h>
#include <string.h>

typedef enum { ITEM_UNIT, ITEM_TENSOR, ITEM_WEIGHT, ITEM_BITS, ITEM_BIAS } ItemKind;

/**
 * Item: one choice.
 * @names: (element-type utf8): borrowed: tensors that a rule names if it is taken; of ITEM_BITS: if it is not taken, or taken, as
 *   @small says
 * @noise: by output: that is gone then; @differences: at numbers of the outputs; @squares: by output: of the tensors' differences
 * @small: ITEM_BITS: it is the recipe's type that has fewer bits
 */
typedef struct
{
  ItemKind   kind;
  GPtrArray *names;
  double    *noise, *squares;
  float     *differences;
  gboolean   small;
} Item;

/* While choices are made. */
typedef struct
{
  VnCurveChoices *choices;
  const VnGraph  *graph;
  guint          *unit_of;     /* by node index: the node that stands for its unit */
  int            *item_of;     /* by node index: number of the choice of its unit; -1: is not on integers */
  GHashTable     *noise;       /* name -> VnContribution of the recipe */
  GHashTable     *other_noise;
  VnDType         wide;
} Build;

static void
choices_clear_item (gpointer data)
{
  Item *self = data;

  g_ptr_array_unref (self->names);
  g_free (self->noise);
  g_free (self->squares);
  g_free (self->differences);
}

/**
 * vn_curve_choices_free:
 */
void
vn_curve_choices_free (VnCurveChoices *self)
{
  if (self == NULL)
    return;
  vn_choices_free (self->choices);
  g_array_unref (self->items);
  g_free (self->rest);
  g_free (self->rest_squares);
  g_free (self->rest_differences);
  g_free (self);
}

/* ---- types ---- */

/**
 * vn_curve_get_wide_type:
 *
 * Returns: what activations get where 16 bit are computed on integers; %VN_DTYPE_UNDEFINED: they are left in float
 */
VnDType
vn_curve_get_wide_type (const VnRecipe *recipe)
{
  g_return_val_if_fail (recipe != NULL, VN_DTYPE_UNDEFINED);

  return (vn_recipe_get_target (recipe)->traits & VN_TARGET_HAS_SIXTEEN) != 0 && vn_cure_can_widen (recipe) ? vn_cure_widen (recipe->activation)
                                                                                                           : VN_DTYPE_UNDEFINED;
}

/**
 * vn_curve_get_other_weight:
 *
 * Returns: the type of 4 bit that weights can have instead of one of 8, or the other way; %VN_DTYPE_UNDEFINED: none
 */
VnDType
vn_curve_get_other_weight (const VnRecipe *recipe)
{
  static const VnDType pairs[][2] = { { VN_DTYPE_S8, VN_DTYPE_S4 }, { VN_DTYPE_U8, VN_DTYPE_U4 } };

  g_return_val_if_fail (recipe != NULL, VN_DTYPE_UNDEFINED);

  for (guint i = 0; i < 2 * G_N_ELEMENTS (pairs); i++)
    if (recipe->weight == pairs[i / 2][i % 2] && (vn_format_get_traits (recipe->format)->weights & (G_GUINT64_CONSTANT (1) << pairs[i / 2][1 - i % 2])) != 0)
      return pairs[i / 2][1 - i % 2];
  return VN_DTYPE_UNDEFINED;
}

/* ---- units ---- */

static guint
choices_find_unit (const Build *self,
                   guint        node)
{
  while (self->unit_of[node] != node)
    node = self->unit_of[node];
  return node;
}

static void
choices_join (Build *self,
              guint  a,
              guint  b)
{
  guint x = choices_find_unit (self, a), y = choices_find_unit (self, b);

  self->unit_of[MAX (x, y)] = MIN (x, y);
}

static gboolean
choices_is_quantized (const Build   *self,
                      const VnValue *value)
{
  const VnQuantRow *row = vn_quant_plan_find_row (self->choices->network->plan, value->name);

  return row != NULL && row->tensor.quantized && row->tensor.role == VN_TENSOR_ACTIVATION;
}

/* What stands in float between nodes that are quantized is no tensor: they are computed in one. */
static gboolean
choices_is_inner (const Build   *self,
                  const VnValue *value)
{
  g_autofree char *label = value->producer != NULL ? vn_node_dup_label (value->producer) : NULL;

  return label != NULL && value->producer->graph == self->graph && value->uses->len == 1 && !value->is_output &&
         g_array_index (value->uses, VnUse, 0).node->graph == self->graph && !choices_is_quantized (self, value) &&
         vn_quant_plan_is_node_quantized (self->choices->network->plan, label);
}

static const VnRuntimeNode *
choices_find_row (const VnRuntimeForecast *forecast,
                  const VnNode            *node)
{
  g_autofree char *label = vn_node_dup_label (node);
  const VnValue *output = vn_node_get_output (node, 0);

  return forecast == NULL || output == NULL ? NULL : vn_runtime_forecast_find_value (forecast, output->name, label);
}

/* Whether a node computes, or moves, integers with the recipe. */
static gboolean
choices_is_integer (const Build  *self,
                    const VnNode *node)
{
  const VnRuntimeNode *row = choices_find_row (self->choices->network->quantized, node);
  g_autofree char *label = vn_node_dup_label (node);

  if (row != NULL)
    return row->kind == VN_RUNTIME_INTEGER || row->kind == VN_RUNTIME_MOVES || row->reason == VN_RUNTIME_REASON_SIXTEEN;
  return vn_quant_plan_is_node_quantized (self->choices->network->plan, label);
}

/* What a node costs when it is in float, but for conversions. */
static double
choices_get_node_cost (const Build  *self,
                       const VnNode *node)
{
  const VnCurveNetwork *network = self->choices->network;
  const VnRuntimeNode *before = choices_find_row (network->quantized, node), *after = choices_find_row (network->floats, node);

  switch (self->choices->cost)
    {
    case VN_CURVE_COST_FLOAT:
      return after != NULL && network->floats->macs > 0 ? after->macs / network->floats->macs : 0;
    case VN_CURVE_COST_TIME:
      return before != NULL && after != NULL ? after->seconds - before->seconds : 0;
    default:
      return 0;
    }
}

static guint
choices_add (Build     *self,
             ItemKind   kind,
             double     cost)
{
  VnCurveChoices *choices = self->choices;
  Item item = { kind, g_ptr_array_new (), g_new0 (double, choices->n_outputs + 1), g_new0 (double, choices->n_outputs + 1),
                g_new0 (float, choices->n_differences + 1), FALSE };

  g_array_append_val (self->choices->items, item);
  return vn_choices_add (self->choices->choices, 0, cost);
}

static Item *
choices_get (const VnCurveChoices *self,
             guint                 i)
{
  return &g_array_index (self->items, Item, i);
}

static void
choices_add_units (Build *self)
{
  guint n = self->graph->nodes->len;
  g_autofree double *cost = g_new0 (double, n + 1);
  g_autofree gboolean *is_integer = g_new0 (gboolean, n + 1);

  for (guint i = 0; i < n; i++)
    self->unit_of[i] = i;
  for (guint i = 0; i < self->graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->graph->values, i);

      if (choices_is_inner (self, value))
        choices_join (self, value->producer->index, g_array_index (value->uses, VnUse, 0).node->index);
    }
  for (guint i = 0; i < n; i++)
    {
      const VnNode *node = g_ptr_array_index (self->graph->nodes, i);

      cost[choices_find_unit (self, i)] += choices_get_node_cost (self, node);
      is_integer[choices_find_unit (self, i)] |= choices_is_integer (self, node);
    }
  for (guint i = 0; i < n; i++)
    {
      guint unit = choices_find_unit (self, i);

      self->item_of[i] = !is_integer[unit] ? -1 : unit == i ? (int) choices_add (self, ITEM_UNIT, cost[i]) : self->item_of[unit];
    }
  for (guint i = 0; i < self->graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->graph->values, i);

      if (choices_is_inner (self, value) && self->item_of[value->producer->index] >= 0)
        g_ptr_array_add (choices_get (self->choices, (guint) self->item_of[value->producer->index])->names, value->name);
    }
}

/* ---- tensors ---- */

static void
choices_sum_up (const VnCurveChoices *self,
                const VnContribution *from,
                double                times,
                double               *noise,
                double               *squares,
                float                *differences)
{
  for (guint o = 0; from->noise->len == self->n_outputs && o < self->n_outputs; o++)
    noise[o] += times * g_array_index (from->noise, double, o);
  if (from->differences == NULL || from->differences->len != self->n_differences)
    return;
  for (gsize i = 0; i < self->n_differences; i++)
    {
      float d = g_array_index (from->differences, float, i);

      squares[i / self->n_numbers % self->n_outputs] += times * (double) d * (double) d;
      differences[i] += times < 0 ? -d : d;
    }
}

static void
choices_add_noise (Build      *self,
                   GHashTable *noise,
                   const char *name,
                   double      times,
                   guint       which)
{
  const VnContribution *found = g_hash_table_lookup (noise, name);
  Item *item = choices_get (self->choices, which);

  if (found != NULL)
    choices_sum_up (self->choices, found, times, item->noise, item->squares, item->differences);
}

static double
choices_count (const VnValue *value)
{
  gsize n = 0;

  if (value->initializer != NULL)
    return (double) value->initializer->n_elements;
  return value->type.kind == VN_TYPE_TENSOR && vn_shape_n_elements (&value->type.shape, &n) ? (double) n : 0;
}

/* A unit that changes sides pays for converting @value; a tensor in float on both sides does not need it.
 * @node: (nullable): outside of the network */
static void
choices_touch (Build         *self,
               guint          item,
               const VnValue *value,
               const VnNode  *node,
               gboolean       to_integers,
               double        *more)
{
  int unit = node != NULL && node->graph == self->graph ? self->item_of[node->index] : -1;
  double seconds = 0;

  if (self->choices->cost == VN_CURVE_COST_TIME)
    seconds = vn_runtime_get_conversion_seconds (VN_DTYPE_U8, to_integers, choices_count (value));
  more[item] -= seconds;
  if (unit < 0)
    return;
  more[unit] += seconds;
  vn_choices_require (self->choices->choices, item, (guint) unit);
}

/* Adds what @item takes away, or takes it off. */
static void
choices_change (const VnCurveChoices *self,
                const Item           *item,
                int                   sign,
                double               *noise,
                double               *squares,
                float                *differences)
{
  for (guint o = 0; o < self->n_outputs; o++)
    {
      noise[o] += sign * item->noise[o];
      squares[o] += sign * item->squares[o];
    }
  for (gsize i = 0; i < self->n_differences; i++)
    differences[i] += (float) sign * item->differences[i];
}

static const char *
choices_get_root (const Build    *self,
                  const VnQuantRow *row)
{
  VnQuantPlan *plan = self->choices->network->plan;
  const VnQuantRow *from = row;

  for (guint depth = 0; depth < 1000 && from->tensor.shares != NULL; depth++)
    {
      const VnQuantRow *next = vn_quant_plan_find_row (plan, from->tensor.shares);

      if (next == NULL || !next->tensor.quantized || next == from)
        break;
      from = next;
    }
  return from->tensor.name;
}

/* Tensors that share their scale go together. @groups: name of the first -> number of the choice and one more */
static void
choices_add_tensors (Build  *self,
                     double *more)
{
  g_autoptr(GHashTable) groups = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < self->graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->graph->values, i);
      const VnQuantRow *row;
      const char *root;
      guint item;

      if (vn_value_is_constant (value) || !choices_is_quantized (self, value))
        continue;
      row = vn_quant_plan_find_row (self->choices->network->plan, value->name);
      root = choices_get_root (self, row);
      item = GPOINTER_TO_UINT (g_hash_table_lookup (groups, root));
      if (item == 0)
        {
          item = choices_add (self, ITEM_TENSOR, 0) + 1;
          g_hash_table_insert (groups, (gpointer) root, GUINT_TO_POINTER (item));
        }
      g_ptr_array_add (choices_get (self->choices, item - 1)->names, value->name);
      choices_add_noise (self, self->noise, value->name, self->wide != VN_DTYPE_UNDEFINED ? 1 - 1 / (257.0 * 257.0) : 1, item - 1);
      choices_touch (self, item - 1, value, value->producer, TRUE, more);
      for (guint u = 0; u < value->uses->len; u++)
        choices_touch (self, item - 1, value, g_array_index (value->uses, VnUse, u).node, FALSE, more);
      if (value->is_output)
        choices_touch (self, item - 1, value, NULL, FALSE, more);
    }
}

/* ---- weights and biases ---- */

/* ONNX Runtime makes integers of float weights between quantized tensors by itself: so what a layer reads, or what it writes, must be in
 * float, too. @sides: choices of the tensors it reads and writes; -1: none that is quantized */
static void
choices_free_one_side (Build      *self,
                       guint       item,
                       const guint *n_units,
                       const int  *sides)
{
  if (sides[0] < 0 || sides[1] < 0)
    return;
  vn_choices_require (self->choices->choices, item, (guint) (n_units[0] <= n_units[1] ? sides[0] : sides[1]));
}

static int
choices_find_tensor (const Build   *self,
                     const VnValue *value)
{
  for (guint i = 0; value != NULL && i < self->choices->items->len; i++)
    if (choices_get (self->choices, i)->kind == ITEM_TENSOR && g_ptr_array_find (choices_get (self->choices, i)->names, value->name, NULL))
      return (int) i;
  return -1;
}

/* The tensor that comes out of a unit. */
static const VnValue *
choices_find_result (const Build  *self,
                     const VnNode *node)
{
  const VnValue *value = vn_node_get_output (node, 0);

  while (value != NULL && choices_is_inner (self, value))
    value = vn_node_get_output (g_array_index (value->uses, VnUse, 0).node, 0);
  return value;
}

static void
choices_add_float_weight (Build         *self,
                          const VnValue *value,
                          double         price)
{
  guint item = choices_add (self, ITEM_WEIGHT, price);

  g_ptr_array_add (choices_get (self->choices, item)->names, value->name);
  choices_add_noise (self, self->noise, value->name, 1, item);
  for (guint u = 0; u < value->uses->len; u++)
    {
      const VnNode *node = g_array_index (value->uses, VnUse, u).node;
      const VnValue *input = vn_node_get_input (node, 0), *result = choices_find_result (self, node);
      int sides[] = { choices_find_tensor (self, input), choices_find_tensor (self, result) };
      guint n_units[] = { input != NULL ? input->uses->len : 0, result != NULL ? result->uses->len : 0 };

      if (node->graph != self->graph)
        continue;
      if (self->item_of[node->index] >= 0)
        vn_choices_require (self->choices->choices, item, (guint) self->item_of[node->index]);
      choices_free_one_side (self, item, n_units, sides);
    }
}

/* 4 bit cost nothing, 8 bit half a byte more for each number. */
static void
choices_add_bits (Build            *self,
                  const VnValue    *value,
                  const VnQuantRow *row)
{
  gboolean small = vn_dtype_get_bits (row->tensor.dtype) < vn_dtype_get_bits (self->choices->network->other_weight);
  guint item = choices_add (self, ITEM_BITS, 0.5 * choices_count (value));

  choices_get (self->choices, item)->small = small;
  g_ptr_array_add (choices_get (self->choices, item)->names, value->name);
  choices_add_noise (self, small ? self->noise : self->other_noise, value->name, 1, item);
  choices_add_noise (self, small ? self->other_noise : self->noise, value->name, -1, item);
}

/* Float weights are four times as large: of two choices that gain alike the smaller is taken. */
#define PRICE_OF_BYTES 0.01

static void
choices_add_weights (Build *self)
{
  double total = 0, bytes = 0;

  for (guint i = 0; i < self->choices->items->len; i++)
    total += choices_get (self->choices, i)->kind == ITEM_UNIT ? 1 : 0;
  for (guint i = 0; i < self->graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->graph->values, i);

      bytes += value->initializer != NULL ? choices_count (value) : 0;
    }
  for (guint i = 0; i < self->graph->values->len && total + bytes > 0; i++)
    {
      const VnValue *value = g_ptr_array_index (self->graph->values, i);
      const VnQuantRow *row = value->initializer != NULL ? vn_quant_plan_find_row (self->choices->network->plan, value->name) : NULL;

      if (row == NULL || !row->tensor.quantized || row->tensor.role != VN_TENSOR_WEIGHT)
        continue;
      if (self->choices->cost == VN_CURVE_COST_SIZE && self->other_noise != NULL && g_hash_table_contains (self->other_noise, value->name))
        choices_add_bits (self, value, row);
      else if (self->choices->cost != VN_CURVE_COST_SIZE && self->wide == VN_DTYPE_UNDEFINED)
        choices_add_float_weight (self, value, PRICE_OF_BYTES * choices_count (value) / bytes *
                                               (self->choices->cost == VN_CURVE_COST_TIME ? self->choices->network->floats->seconds : 1));
    }
}

/* A layer in float has no integers as bias. */
static void
choices_add_biases (Build *self)
{
  VnQuantPlan *plan = self->choices->network->plan;

  for (guint i = 0; i < plan->rows->len && self->wide == VN_DTYPE_UNDEFINED; i++)
    {
      const VnQuantRow *row = g_ptr_array_index (plan->rows, i);
      guint item;

      if (row->tensor.role != VN_TENSOR_BIAS || !row->tensor.quantized || row->node >= self->graph->nodes->len || self->item_of[row->node] < 0)
        continue;
      item = choices_add (self, ITEM_BIAS, 0);
      choices_add_noise (self, self->noise, row->tensor.name, 1, item);
      vn_choices_require (self->choices->choices, item, (guint) self->item_of[row->node]);
    }
}

/* ---- all ---- */

static GHashTable *
choices_index_noise (VnContributions *contributions)
{
  GHashTable *index = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < vn_contributions_get_n (contributions); i++)
    {
      const VnContribution *item = vn_contributions_get (contributions, i);

      if (item->noise != NULL)
        g_hash_table_insert (index, item->name, (gpointer) item);
    }
  return index;
}

/* Noise that is there whatever is chosen. */
static void
choices_find_rest (Build *self)
{
  VnCurveChoices *choices = self->choices;
  g_autofree gboolean *plain = vn_curve_choices_make_plain (choices);
  g_autofree double *all = g_new0 (double, choices->n_outputs + 1);

  choices->rest = g_new0 (double, choices->n_outputs + 1);
  choices->rest_squares = g_new0 (double, choices->n_outputs + 1);
  choices->rest_differences = g_new0 (float, choices->n_differences + 1);
  for (guint i = 0; i < vn_contributions_get_n (choices->network->contributions); i++)
    if (vn_contributions_get (choices->network->contributions, i)->noise != NULL)
      choices_sum_up (choices, vn_contributions_get (choices->network->contributions, i), 1, choices->rest, choices->rest_squares,
                      choices->rest_differences);
  memcpy (all, choices->rest, choices->n_outputs * sizeof *all);
  for (guint i = 0; i < choices->items->len; i++)
    if (!plain[i])
      choices_change (choices, choices_get (choices, i), -1, choices->rest, choices->rest_squares, choices->rest_differences);
  for (guint o = 0; o < choices->n_outputs; o++)
    if (choices->rest[o] < 1e-9 * all[o])   /* what rounding leaves */
      choices->rest[o] = choices->rest_squares[o] = 0;
}

static void
choices_set_costs (Build  *self,
                   double *more,
                   guint   n)
{
  for (guint i = 0; i < n; i++)
    vn_choices_add_cost (self->choices->choices, i, more[i]);
}

/* A tensor that is not computed has no noise at any output. */
static void
choices_count_outputs (VnCurveChoices  *self,
                       VnContributions *contributions)
{
  for (guint i = 0; i < vn_contributions_get_n (contributions); i++)
    {
      const VnContribution *item = vn_contributions_get (contributions, i);

      self->n_outputs = MAX (self->n_outputs, item->noise != NULL ? item->noise->len : 0);
      self->n_differences = MAX (self->n_differences, item->differences != NULL ? item->differences->len : 0);
      self->n_numbers = MAX (self->n_numbers, item->n_numbers);
    }
  if (self->n_numbers == 0)
    self->n_differences = 0;
}

/**
 * vn_curve_choices_new:
 * @network: borrowed: must outlive what is returned
 */
VnCurveChoices *
vn_curve_choices_new (const VnCurveNetwork *network,
                      VnCurveCost           cost)
{
  VnCurveChoices *self;
  Build build = { NULL };
  g_autofree double *more = NULL;

  g_return_val_if_fail (network != NULL && network->plan != NULL && network->contributions != NULL && network->floats != NULL, NULL);

  self = g_new0 (VnCurveChoices, 1);
  self->network = network;
  self->cost = cost;
  self->choices = vn_choices_new ();
  self->items = g_array_new (FALSE, FALSE, sizeof (Item));
  g_array_set_clear_func (self->items, choices_clear_item);
  choices_count_outputs (self, network->contributions);
  build = (Build) { .choices = self, .graph = network->prepared->graph, .wide = vn_curve_get_wide_type (network->recipe) };
  build.unit_of = g_new0 (guint, build.graph->nodes->len + 1);
  build.item_of = g_new0 (int, build.graph->nodes->len + 1);
  build.noise = choices_index_noise (network->contributions);
  build.other_noise = network->other != NULL ? choices_index_noise (network->other) : NULL;
  if (cost != VN_CURVE_COST_SIZE)
    {
      choices_add_units (&build);
      more = g_new0 (double, self->items->len + build.graph->values->len + 1);
      choices_add_tensors (&build, more);
      choices_set_costs (&build, more, self->items->len);
      choices_add_biases (&build);
    }
  choices_add_weights (&build);
  choices_find_rest (&build);
  g_hash_table_unref (build.noise);
  g_clear_pointer (&build.other_noise, g_hash_table_unref);
  g_free (build.unit_of);
  g_free (build.item_of);
  return self;
}

/**
 * vn_curve_choices_make_plain:
 *
 * Returns: (transfer full) (array): what the recipe itself takes
 */
gboolean *
vn_curve_choices_make_plain (VnCurveChoices *self)
{
  gboolean *taken;

  g_return_val_if_fail (self != NULL, NULL);

  taken = g_new0 (gboolean, self->items->len + 1);
  for (guint i = 0; i < self->items->len; i++)
    taken[i] = choices_get (self, i)->kind == ITEM_BITS && !choices_get (self, i)->small;
  return taken;
}

/* ---- prediction ---- */

static void
choices_add_up (VnCurveChoices *self,
                const gboolean *taken,
                double         *noise)
{
  memcpy (noise, self->rest, self->n_outputs * sizeof *noise);
  for (guint i = 0; i < self->items->len; i++)
    for (guint o = 0; o < self->n_outputs && !taken[i]; o++)
      noise[o] += choices_get (self, i)->noise[o];
}

/* How much more, or less, noise comes together at an output than adds up, as differences of tensors are alike or cancel out. */
static void
choices_mix (VnCurveChoices *self,
             const gboolean *taken,
             double         *noise)
{
  g_autofree float *differences = g_memdup2 (self->rest_differences, (self->n_differences + 1) * sizeof (float));
  g_autofree double *apart = g_memdup2 (self->rest_squares, (self->n_outputs + 1) * sizeof (double));
  g_autofree double *together = g_new0 (double, self->n_outputs + 1);
  g_autofree double *sum = g_new0 (double, self->n_outputs + 1);

  for (guint i = 0; i < self->items->len; i++)
    if (!taken[i])
      choices_change (self, choices_get (self, i), 1, sum, apart, differences);
  for (gsize i = 0; i < self->n_differences; i++)
    together[i / self->n_numbers % self->n_outputs] += (double) differences[i] * (double) differences[i];
  for (guint o = 0; o < self->n_outputs; o++)
    if (apart[o] > 0 && together[o] > 0)
      noise[o] *= together[o] / apart[o];
}

/**
 * vn_curve_choices_predict:
 * @mixed: errors that are alike at an output count more than if they just added up, those that cancel out less: true where layers shift
 *   outputs alike, mere chance where outputs have few numbers
 *
 * Returns: mean signal to noise of the outputs, in dB, to first order
 */
double
vn_curve_choices_predict (VnCurveChoices *self,
                          const gboolean *taken,
                          gboolean        mixed)
{
  g_autofree double *noise = NULL;
  double sum = 0;

  g_return_val_if_fail (self != NULL && taken != NULL, NAN);

  noise = g_new0 (double, self->n_outputs + 1);
  choices_add_up (self, taken, noise);
  if (mixed)
    choices_mix (self, taken, noise);
  for (guint o = 0; o < self->n_outputs; o++)
    sum += vn_sqnr_bound (noise[o] > 0 ? -10 * log10 (noise[o]) : INFINITY, 0);
  return self->n_outputs > 0 ? sum / self->n_outputs : vn_sqnr_bound (INFINITY, 0);
}

/* What an output weighs falls with the noise it has: gains are those at the error that @taken leaves. */
static void
choices_weigh (VnCurveChoices *self,
               const gboolean *taken)
{
  g_autofree double *noise = g_new0 (double, self->n_outputs + 1);

  choices_add_up (self, taken, noise);
  for (guint i = 0; i < self->items->len; i++)
    {
      double gain = 0;

      for (guint o = 0; o < self->n_outputs; o++)
        gain += noise[o] > 0 ? choices_get (self, i)->noise[o] / noise[o] : 0;
      vn_choices_set_gain (self->choices, i, gain);
    }
}

static void
choices_take_path (VnCurveChoices *self,
                   GHashTable     *seen,
                   GPtrArray      *found)
{
  g_autoptr(GPtrArray) path = vn_choices_find_path (self->choices);

  for (guint i = 0; i < path->len; i++)
    {
      const VnChoiceSet *set = g_ptr_array_index (path, i);
      GString *key = g_string_new (NULL);

      for (guint k = 0; k < self->items->len; k++)
        g_string_append_c (key, set->taken[k] ? '1' : '0');
      if (g_hash_table_add (seen, g_string_free (key, FALSE)))
        g_ptr_array_add (found, g_memdup2 (set->taken, self->items->len * sizeof *set->taken));
    }
}

/* Networks with several outputs are looked at again where a part of the way is done. */
static const double choices_parts[] = { 0.25, 0.5, 0.75 };

/**
 * vn_curve_choices_list:
 *
 * Returns: (transfer full) (element-type gboolean*): what is worth a point
 */
GPtrArray *
vn_curve_choices_list (VnCurveChoices *self)
{
  g_autoptr(GHashTable) seen = NULL;
  g_autofree gboolean *plain = NULL;
  GPtrArray *found;
  guint first;

  g_return_val_if_fail (self != NULL, NULL);

  seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  found = g_ptr_array_new_with_free_func (g_free);
  plain = vn_curve_choices_make_plain (self);
  choices_weigh (self, plain);
  choices_take_path (self, seen, found);
  first = found->len;
  for (guint i = 0; i < G_N_ELEMENTS (choices_parts) && self->n_outputs > 1 && first > 0; i++)
    {
      choices_weigh (self, g_ptr_array_index (found, (guint) (choices_parts[i] * (first - 1))));
      choices_take_path (self, seen, found);
    }
  return found;
}

/* ---- recipes ---- */

static void
choices_add_rule (VnRecipe  *recipe,
                  GPtrArray *names,
                  gboolean   exclude,
                  VnDType    activation,
                  VnDType    weight)
{
  VnOverride *rule;

  if (names->len == 0)
    return;
  rule = vn_override_new ();
  rule->exclude = exclude;
  rule->activation = activation;
  rule->weight = weight;
  rule->tensors = g_new0 (char *, names->len + 1);
  for (guint i = 0; i < names->len; i++)
    rule->tensors[i] = g_strdup (g_ptr_array_index (names, i));
  g_ptr_array_add (recipe->overrides, rule);
}

static void
choices_append (GPtrArray       *names,
                const GPtrArray *more)
{
  for (guint i = 0; i < more->len; i++)
    g_ptr_array_add (names, g_ptr_array_index (more, i));
}

/**
 * vn_curve_choices_fill:
 * @point: gets its recipe, and how many tensors that speaks of
 */
void
vn_curve_choices_fill (VnCurveChoices *self,
                       const gboolean *taken,
                       VnCurvePoint   *point)
{
  g_autoptr(GPtrArray) activations = g_ptr_array_new ();
  g_autoptr(GPtrArray) floats = g_ptr_array_new ();
  g_autoptr(GPtrArray) bits = g_ptr_array_new ();
  VnDType wide, other;

  g_return_if_fail (self != NULL && taken != NULL && point != NULL);

  wide = vn_curve_get_wide_type (self->network->recipe);
  other = self->network->other_weight;
  for (guint i = 0; i < self->items->len; i++)
    {
      const Item *item = choices_get (self, i);

      if (item->kind == ITEM_BITS && taken[i] == item->small)
        choices_append (bits, item->names);
      else if (item->kind == ITEM_WEIGHT && taken[i])
        choices_append (floats, item->names);
      else if (item->kind == ITEM_TENSOR && taken[i])
        choices_append (activations, item->names);
      else if (item->kind == ITEM_UNIT && taken[i] && wide == VN_DTYPE_UNDEFINED)
        choices_append (floats, item->names);
      point->n_small += item->kind == ITEM_BITS && !taken[i];
      point->n_float += (item->kind == ITEM_WEIGHT || item->kind == ITEM_TENSOR) && taken[i] && wide == VN_DTYPE_UNDEFINED ? item->names->len : 0;
      point->n_wide += item->kind == ITEM_TENSOR && taken[i] && wide != VN_DTYPE_UNDEFINED ? item->names->len : 0;
    }
  point->recipe = vn_recipe_copy (self->network->recipe);
  if (wide == VN_DTYPE_UNDEFINED)
    choices_append (floats, activations);
  else
    choices_add_rule (point->recipe, activations, FALSE, wide, VN_DTYPE_UNDEFINED);
  choices_add_rule (point->recipe, floats, TRUE, VN_DTYPE_UNDEFINED, VN_DTYPE_UNDEFINED);
  choices_add_rule (point->recipe, bits, FALSE, VN_DTYPE_UNDEFINED, other);
}
