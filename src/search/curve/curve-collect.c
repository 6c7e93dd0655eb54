/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes that are computed in one, such as a Conv and the Relu behind it, are a unit. A tensor in float, or of 16 bit, gains its
 * noise and requires all units that compute on integers around it to do without, as a single layer between others gains nothing;
 * what a unit costs is paid once. A unit in float between others pays for conversions, which a tensor that is in float on both
 * sides saves again: so choices grow to regions where that is cheaper. Noise of several tensors adds up at the outputs. */
#include "curve-choices-private.h"

#include "vn-quant-plan.h"

/* ---- units ---- */

static guint
collect_find_unit (const VnCurveBuild *self,
                   guint               node)
{
  while (self->unit_of[node] != node)
    node = self->unit_of[node];
  return node;
}

static void
collect_join (VnCurveBuild *self,
              guint         a,
              guint         b)
{
  guint x = collect_find_unit (self, a), y = collect_find_unit (self, b);

  self->unit_of[MAX (x, y)] = MIN (x, y);
}

static gboolean
collect_is_quantized (const VnCurveBuild *self,
                      const VnValue      *value)
{
  const VnQuantRow *row = vn_quant_plan_find_row (self->choices->network->plan, value->name);

  return row != NULL && row->tensor.quantized && row->tensor.role == VN_TENSOR_ACTIVATION;
}

/* What stands in float between nodes that are quantized is no tensor: they are computed in one. */
static gboolean
collect_is_inner (const VnCurveBuild *self,
                  const VnValue      *value)
{
  g_autofree char *label = value->producer != NULL ? vn_node_dup_label (value->producer) : NULL;

  return label != NULL && value->producer->graph == self->graph && value->uses->len == 1 && !value->is_output &&
         g_array_index (value->uses, VnUse, 0).node->graph == self->graph && !collect_is_quantized (self, value) &&
         vn_quant_plan_is_node_quantized (self->choices->network->plan, label);
}

static const VnRuntimeNode *
collect_find_row (const VnRuntimeForecast *forecast,
                  const VnNode            *node)
{
  g_autofree char *label = vn_node_dup_label (node);
  const VnValue *output = vn_node_get_output (node, 0);

  return forecast == NULL || output == NULL ? NULL : vn_runtime_forecast_find_value (forecast, output->name, label);
}

/* Whether a node computes, or moves, integers with the recipe. */
static gboolean
collect_is_integer (const VnCurveBuild *self,
                    const VnNode       *node)
{
  const VnRuntimeNode *row = collect_find_row (self->choices->network->quantized, node);
  g_autofree char *label = vn_node_dup_label (node);

  if (row != NULL)
    return row->kind == VN_RUNTIME_INTEGER || row->kind == VN_RUNTIME_MOVES || row->reason == VN_RUNTIME_REASON_SIXTEEN;
  return vn_quant_plan_is_node_quantized (self->choices->network->plan, label);
}

/* What a node costs when it is in float, but for conversions. */
static double
collect_get_node_cost (const VnCurveBuild *self,
                       const VnNode       *node)
{
  const VnCurveNetwork *network = self->choices->network;
  const VnRuntimeNode *before = collect_find_row (network->quantized, node), *after = collect_find_row (network->floats, node);

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
collect_add (VnCurveBuild    *self,
             VnCurveItemKind  kind,
             double           cost)
{
  VnCurveChoices *choices = self->choices;
  VnCurveItem item = { .kind = kind, .names = g_ptr_array_new (), .noise = g_new0 (double, choices->n_outputs + 1),
                       .group = kind == VN_CURVE_ITEM_UNIT || kind == VN_CURVE_ITEM_TENSOR };

  _vn_curve_errors_init (&item.errors, choices);
  g_array_append_val (self->choices->items, item);
  return vn_choices_add (self->choices->choices, 0, cost);
}

static void
collect_add_units (VnCurveBuild *self)
{
  guint n = self->graph->nodes->len;
  g_autofree double *cost = g_new0 (double, n + 1);
  g_autofree gboolean *is_integer = g_new0 (gboolean, n + 1);

  for (guint i = 0; i < n; i++)
    self->unit_of[i] = i;
  for (guint i = 0; i < self->graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->graph->values, i);

      if (collect_is_inner (self, value))
        collect_join (self, value->producer->index, g_array_index (value->uses, VnUse, 0).node->index);
    }
  for (guint i = 0; i < n; i++)
    {
      const VnNode *node = g_ptr_array_index (self->graph->nodes, i);

      cost[collect_find_unit (self, i)] += collect_get_node_cost (self, node);
      is_integer[collect_find_unit (self, i)] |= collect_is_integer (self, node);
    }
  for (guint i = 0; i < n; i++)
    {
      guint unit = collect_find_unit (self, i);

      self->item_of[i] = !is_integer[unit] ? -1 : unit == i
                         ? (int) collect_add (self, VN_CURVE_ITEM_UNIT, cost[i]) : self->item_of[unit];
    }
  for (guint i = 0; i < self->graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->graph->values, i);

      if (collect_is_inner (self, value) && self->item_of[value->producer->index] >= 0)
        g_ptr_array_add (_vn_curve_get_item (self->choices, (guint) self->item_of[value->producer->index])->names, value->name);
    }
}

/* ---- tensors ---- */

void
_vn_curve_errors_init (VnCurveErrors        *self,
                       const VnCurveChoices *choices)
{
  self->squares = g_new0 (double, choices->n_outputs + 1);
  self->differences = g_new0 (float, choices->n_differences + 1);
}

/*< private >
 * _vn_curve_sum_up:
 *
 * Adds what a tensor brings to the outputs, @times as much.
 */
void
_vn_curve_sum_up (const VnCurveChoices *self,
                  const VnContribution *from,
                  double                times,
                  double               *noise,
                  VnCurveErrors        *errors)
{
  for (guint o = 0; from->noise->len == self->n_outputs && o < self->n_outputs; o++)
    noise[o] += times * g_array_index (from->noise, double, o);
  if (from->differences == NULL || from->differences->len != self->n_differences)
    return;
  for (gsize i = 0; i < self->n_differences; i++)
    {
      float d = g_array_index (from->differences, float, i);

      errors->squares[i / self->n_numbers % self->n_outputs] += times * (double) d * (double) d;
      errors->differences[i] += times < 0 ? -d : d;
    }
}

static void
collect_add_noise (VnCurveBuild *self,
                   GHashTable   *noise,
                   const char   *name,
                   double        times,
                   guint         which)
{
  const VnContribution *found = g_hash_table_lookup (noise, name);
  VnCurveItem *item = _vn_curve_get_item (self->choices, which);

  if (found != NULL)
    _vn_curve_sum_up (self->choices, found, times, item->noise, &item->errors);
}

static double
collect_count (const VnValue *value)
{
  gsize n = 0;

  if (value->initializer != NULL)
    return (double) value->initializer->n_elements;
  return value->type.kind == VN_TYPE_TENSOR && vn_shape_n_elements (&value->type.shape, &n) ? (double) n : 0;
}

/* A unit that changes sides pays for converting @value; a tensor in float on both sides does not need it.
 * @node: (nullable): outside of the network */
static void
collect_touch (VnCurveBuild  *self,
               guint          item,
               const VnValue *value,
               const VnNode  *node,
               gboolean       to_integers,
               double        *more)
{
  int unit = node != NULL && node->graph == self->graph ? self->item_of[node->index] : -1;
  double seconds = 0;

  if (self->choices->cost == VN_CURVE_COST_TIME)
    seconds = vn_runtime_get_conversion_seconds (VN_DTYPE_U8, to_integers, collect_count (value));
  more[item] -= seconds;
  if (unit < 0)
    return;
  more[unit] += seconds;
  vn_choices_require (self->choices->choices, item, (guint) unit);
}

static const char *
collect_get_root (const VnCurveBuild *self,
                  const VnQuantRow   *row)
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
collect_add_tensors (VnCurveBuild *self,
                     double       *more)
{
  g_autoptr(GHashTable) groups = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < self->graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->graph->values, i);
      const VnQuantRow *row;
      const char *root;
      guint item;

      if (vn_value_is_constant (value) || !collect_is_quantized (self, value))
        continue;
      row = vn_quant_plan_find_row (self->choices->network->plan, value->name);
      root = collect_get_root (self, row);
      item = GPOINTER_TO_UINT (g_hash_table_lookup (groups, root));
      if (item == 0)
        {
          item = collect_add (self, VN_CURVE_ITEM_TENSOR, 0) + 1;
          g_hash_table_insert (groups, (gpointer) root, GUINT_TO_POINTER (item));
        }
      g_ptr_array_add (_vn_curve_get_item (self->choices, item - 1)->names, value->name);
      collect_add_noise (self, self->noise, value->name, self->wide != VN_DTYPE_UNDEFINED ? 1 - 1 / (257.0 * 257.0) : 1,
                         item - 1);
      collect_touch (self, item - 1, value, value->producer, TRUE, more);
      for (guint u = 0; u < value->uses->len; u++)
        collect_touch (self, item - 1, value, g_array_index (value->uses, VnUse, u).node, FALSE, more);
      if (value->is_output)
        collect_touch (self, item - 1, value, NULL, FALSE, more);
    }
}

/* ---- weights and biases ---- */

/* ONNX Runtime makes integers of float weights between quantized tensors by itself: so what a layer reads, or what it writes,
 * must be in float, too. @sides: choices of the tensors it reads and writes; -1: none that is quantized */
static void
collect_free_one_side (VnCurveBuild *self,
                       guint         item,
                       const guint  *n_units,
                       const int    *sides)
{
  if (sides[0] < 0 || sides[1] < 0)
    return;
  vn_choices_require (self->choices->choices, item, (guint) (n_units[0] <= n_units[1] ? sides[0] : sides[1]));
}

static int
collect_find_tensor (const VnCurveBuild *self,
                     const VnValue      *value)
{
  for (guint i = 0; value != NULL && i < self->choices->items->len; i++)
    if (_vn_curve_get_item (self->choices, i)->kind == VN_CURVE_ITEM_TENSOR &&
        g_ptr_array_find (_vn_curve_get_item (self->choices, i)->names, value->name, NULL))
      return (int) i;
  return -1;
}

/* The tensor that comes out of a unit. */
static const VnValue *
collect_find_result (const VnCurveBuild *self,
                     const VnNode       *node)
{
  const VnValue *value = vn_node_get_output (node, 0);

  while (value != NULL && collect_is_inner (self, value))
    value = vn_node_get_output (g_array_index (value->uses, VnUse, 0).node, 0);
  return value;
}

static void
collect_add_float_weight (VnCurveBuild  *self,
                          const VnValue *value,
                          double         price)
{
  guint item = collect_add (self, VN_CURVE_ITEM_WEIGHT, price);

  g_ptr_array_add (_vn_curve_get_item (self->choices, item)->names, value->name);
  collect_add_noise (self, self->noise, value->name, 1, item);
  for (guint u = 0; u < value->uses->len; u++)
    {
      const VnNode *node = g_array_index (value->uses, VnUse, u).node;
      const VnValue *input = vn_node_get_input (node, 0), *result = collect_find_result (self, node);
      int sides[] = { collect_find_tensor (self, input), collect_find_tensor (self, result) };
      guint n_units[] = { input != NULL ? input->uses->len : 0, result != NULL ? result->uses->len : 0 };

      if (node->graph != self->graph)
        continue;
      if (self->item_of[node->index] >= 0)
        vn_choices_require (self->choices->choices, item, (guint) self->item_of[node->index]);
      collect_free_one_side (self, item, n_units, sides);
    }
}

/* 4 bit cost nothing, 8 bit half a byte more for each number. */
static void
collect_add_bits (VnCurveBuild     *self,
                  const VnValue    *value,
                  const VnQuantRow *row)
{
  gboolean small = vn_dtype_get_bits (row->tensor.dtype) < vn_dtype_get_bits (self->choices->network->other_weight);
  guint item = collect_add (self, VN_CURVE_ITEM_BITS, 0.5 * collect_count (value));

  _vn_curve_get_item (self->choices, item)->small = small;
  g_ptr_array_add (_vn_curve_get_item (self->choices, item)->names, value->name);
  collect_add_noise (self, small ? self->noise : self->other_noise, value->name, 1, item);
  collect_add_noise (self, small ? self->other_noise : self->noise, value->name, -1, item);
}

/* Float weights are four times as large: of two choices that gain alike the smaller is taken. */
#define PRICE_OF_BYTES 0.01

static void
collect_add_weights (VnCurveBuild *self)
{
  double total = 0, bytes = 0;

  for (guint i = 0; i < self->choices->items->len; i++)
    total += _vn_curve_get_item (self->choices, i)->kind == VN_CURVE_ITEM_UNIT ? 1 : 0;
  for (guint i = 0; i < self->graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->graph->values, i);

      bytes += value->initializer != NULL ? collect_count (value) : 0;
    }
  for (guint i = 0; i < self->graph->values->len && total + bytes > 0; i++)
    {
      const VnValue *value = g_ptr_array_index (self->graph->values, i);
      const VnQuantRow *row = value->initializer != NULL
                              ? vn_quant_plan_find_row (self->choices->network->plan, value->name) : NULL;

      if (row == NULL || !row->tensor.quantized || row->tensor.role != VN_TENSOR_WEIGHT)
        continue;
      if (self->choices->cost == VN_CURVE_COST_SIZE && self->other_noise != NULL &&
          g_hash_table_contains (self->other_noise, value->name))
        collect_add_bits (self, value, row);
      else if (self->choices->cost != VN_CURVE_COST_SIZE && self->wide == VN_DTYPE_UNDEFINED)
        collect_add_float_weight (self, value, PRICE_OF_BYTES * collect_count (value) / bytes *
                                               (self->choices->cost == VN_CURVE_COST_TIME
                                                ? self->choices->network->floats->seconds : 1));
    }
}

/* A layer in float has no integers as bias. */
static void
collect_add_biases (VnCurveBuild *self)
{
  VnQuantPlan *plan = self->choices->network->plan;

  for (guint i = 0; i < plan->rows->len && self->wide == VN_DTYPE_UNDEFINED; i++)
    {
      const VnQuantRow *row = g_ptr_array_index (plan->rows, i);
      guint item;

      if (row->tensor.role != VN_TENSOR_BIAS || !row->tensor.quantized || row->node >= self->graph->nodes->len ||
          self->item_of[row->node] < 0)
        continue;
      item = collect_add (self, VN_CURVE_ITEM_BIAS, 0);
      collect_add_noise (self, self->noise, row->tensor.name, 1, item);
      vn_choices_require (self->choices->choices, item, (guint) self->item_of[row->node]);
    }
}

/* ---- all ---- */

static void
collect_set_costs (VnCurveBuild *self,
                   double       *more,
                   guint         n)
{
  for (guint i = 0; i < n; i++)
    vn_choices_add_cost (self->choices->choices, i, more[i]);
}

/*< private >
 * _vn_curve_collect:
 *
 * Fills the choices, none yet, with all that the network has.
 */
void
_vn_curve_collect (VnCurveBuild *self)
{
  g_autofree double *more = NULL;

  if (self->choices->cost != VN_CURVE_COST_SIZE)
    {
      collect_add_units (self);
      more = g_new0 (double, self->choices->items->len + self->graph->values->len + 1);
      collect_add_tensors (self, more);
      collect_set_costs (self, more, self->choices->items->len);
      collect_add_biases (self);
    }
  collect_add_weights (self);
}
