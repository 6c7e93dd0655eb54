/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Floats of 16 bits: what becomes of the numbers of a weight. As onnxconverter-common does it, numbers too large for float16
 * become its largest, and those too small its smallest, not infinite and 0: no mask turns into NaN, no epsilon lets something be
 * divided by 0. So do the few that bfloat16 does not hold. */

#include "vn-resolver.h"

#include "vn-error.h"
#include "vn-half.h"
#include "vn-i18n.h"

#include <math.h>

#define HALF_BLOCK 1024

/* ---- numbers ---- */

typedef struct
{
  VnDType dtype;
  float   largest, smallest;
} HalfLimits;

static const HalfLimits half_limits[] = {
  { VN_DTYPE_F16,  65504.f,       0x1p-24f  },
  { VN_DTYPE_BF16, 0x1.fep+127f,  0x1p-133f },
};

static float
resolve_half_clip (const HalfLimits *limits,
                   float             x,
                   gsize            *n_clipped,
                   gsize            *n_raised)
{
  float size = fabsf (x);

  if (isfinite (x) && size > limits->largest)
    {
      size = limits->largest;
      ++*n_clipped;
    }
  else if (size > 0 && size < limits->smallest)
    {
      size = limits->smallest;
      ++*n_raised;
    }
  return copysignf (size, x);
}

static void
resolve_half_round (const HalfLimits *limits,
                    const float      *x,
                    gsize             n,
                    guint16          *halves,
                    gsize            *n_clipped,
                    gsize            *n_raised)
{
  float near[HALF_BLOCK];

  for (gsize i = 0; i < n; i++)
    near[i] = resolve_half_clip (limits, x[i], n_clipped, n_raised);
  if (limits->dtype == VN_DTYPE_F16)
    vn_half_from_float_array (near, halves, n);
  else
    for (gsize i = 0; i < n; i++)
      halves[i] = vn_bfloat_from_float (near[i]);
}

/*< private >
 * vn_quant_to_half:
 * @data: float32
 * @dtype: float16 or bfloat16
 * @n_clipped: (out): numbers that were too large
 * @n_raised: (out): numbers that were too small
 *
 * Returns: (transfer full): the nearest of @dtype, none infinite or 0 that was not
 */
VnTensor *
vn_quant_to_half (VnTensor  *data,
                  VnDType    dtype,
                  gsize     *n_clipped,
                  gsize     *n_raised,
                  GError   **error)
{
  const HalfLimits *limits = &half_limits[dtype == VN_DTYPE_BF16];
  g_autoptr(VnTensor) aligned = NULL;
  VnTensor *result;

  g_return_val_if_fail (data != NULL, NULL);

  aligned = vn_tensor_get_aligned (data, error);
  *n_clipped = *n_raised = 0;
  if (aligned == NULL || (result = vn_tensor_new_constant (limits->dtype, &data->shape, error)) == NULL)
    return NULL;

  for (gsize first = 0, n; first < aligned->n_elements; first += n)
    {
      n = MIN (HALF_BLOCK, aligned->n_elements - first);
      resolve_half_round (limits, (const float *) aligned->data + first, n, (guint16 *) result->data + first, n_clipped,
                          n_raised);
    }
  return result;
}

static void
resolve_half_note_numbers (VnResolver    *self,
                           const VnValue *value,
                           gsize          n_clipped,
                           gsize          n_raised)
{
  if (self->notes == NULL)
    return;
  if (n_clipped > 0)
    vn_notes_add (self->notes, VN_NOTE_WARNING, "float16-clipped", value->name,
                  ngettext ("“%s” has %zu value beyond 65504, the largest float16; it saturates",
                            "“%s” has %zu values beyond 65504, the largest float16; they saturate", n_clipped), value->name,
                            n_clipped);
  if (n_raised > 0)
    vn_notes_add (self->notes, VN_NOTE_INFO, "float16-tiny", value->name,
                  ngettext ("“%s” has %zu value too small for float16; it becomes the smallest one, 6e-8",
                            "“%s” has %zu values too small for float16; they become its smallest value, 6e-8", n_raised),
                            value->name, n_raised);
}

/* ---- rows ---- */

static gboolean
resolve_half_is_read_as (VnResolver    *self,
                         const VnValue *value)
{
  for (guint i = 0; i < value->uses->len; i++)
    {
      VnUse use = g_array_index (value->uses, VnUse, i);

      if (use.node->graph == self->graph && self->quant_nodes[use.node->index].annotated &&
          vn_quant_is_half_input (use.node, use.index))
        return TRUE;
    }
  return FALSE;
}

/* bfloat16: tables and matrices that no rule excludes, and that a node reads which none excludes. */
static gboolean
resolve_half_is_stored_as_bfloat (VnResolver    *self,
                                  const VnValue *value)
{
  if (value->initializer->shape.rank < 2 || vn_resolver_get_annotation (self, value)->keep_float)
    return FALSE;
  for (guint i = 0; i < value->uses->len; i++)
    {
      const VnNode *node = g_array_index (value->uses, VnUse, i).node;

      if (node->graph == self->graph && self->quant_nodes[node->index].exclude_rule < 0 && !vn_quant_is_conversion (node))
        return TRUE;
    }
  return FALSE;
}

static gboolean
resolve_half_fill_weight (VnResolver     *self,
                          const VnValue  *value,
                          VnQuantRow     *row,
                          GError        **error)
{
  gboolean half = self->scheme.format->half_arithmetic;
  guint64 n_infinite;
  float min, max;

  if (!vn_quant_data_range (value->initializer, -1, &min, &max, &n_infinite, error))
    {
      g_prefix_error (error, "“%s”: ", value->name);
      return FALSE;
    }
  if (half)
    {
      gsize n_clipped, n_raised;
      g_autoptr(VnTensor) data = vn_quant_to_half (value->initializer, VN_DTYPE_F16, &n_clipped, &n_raised, error);

      if (data == NULL)
        return FALSE;
      resolve_half_note_numbers (self, value, n_clipped, n_raised);
    }
  row->tensor.quantized = TRUE;
  row->tensor.dtype = half ? VN_DTYPE_F16 : VN_DTYPE_BF16;
  row->tensor.min = min;
  row->tensor.max = max;
  return TRUE;
}

static gboolean
resolve_half_fill_value (VnResolver     *self,
                         VnQuantPlan    *plan,
                         const VnValue  *value,
                         GError        **error)
{
  gboolean half = self->scheme.format->half_arithmetic, weight = value->initializer != NULL;
  VnQuantRow *row = vn_quant_plan_add (plan, value->name, weight ? VN_TENSOR_WEIGHT : VN_TENSOR_ACTIVATION);
  gboolean taken = !self->scheme.format->stays_float &&
                   (half ? resolve_half_is_read_as (self, value) : weight && resolve_half_is_stored_as_bfloat (self, value));

  if (taken && half)
    row->tensor.rule = g_strdup (weight ? _("stored as float16") : _("computed in float16"));
  else if (taken)
    row->tensor.rule = g_strdup (_("stored as bfloat16, computed in float32"));
  else if (half && value->producer != NULL && value->producer->graph == self->graph &&
           self->quant_nodes[value->producer->index].annotated)
    row->tensor.rule = g_strdup (_("computed in float16, output in float32"));
  else
    row->tensor.rule = g_strdup (_("stays float32"));
  return !taken || !weight || resolve_half_fill_weight (self, value, row, error);
}

/* What a rule leaves in float32 is no operand in float16: nodes that read such a constant, or write such a result, stay as they
 * are. */
static void
resolve_half_exclude_nodes (VnResolver *self)
{
  for (guint i = 0; i < self->graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->graph->values, i);
      const VnAnnotation *annotation = &self->annotations[i];

      if (!annotation->keep_float || annotation->tensor_rule < 0)
        continue;
      if (value->producer != NULL && value->producer->graph == self->graph)
        self->quant_nodes[value->producer->index].exclude_rule = annotation->tensor_rule;
      for (guint k = 0; value->initializer != NULL && k < value->uses->len; k++)
        {
          const VnNode *node = g_array_index (value->uses, VnUse, k).node;

          if (node->graph == self->graph)
            self->quant_nodes[node->index].exclude_rule = annotation->tensor_rule;
        }
    }
}

/*< private >
 * vn_resolver_fill_half:
 *
 * Makes a row of every float tensor, for the formats without scales; annotates the nodes that compute with float16.
 */
gboolean
vn_resolver_fill_half (VnResolver   *self,
                       VnQuantPlan  *plan,
                       GError      **error)
{
  g_autoptr(GHashTable) positions = NULL;

  g_return_val_if_fail (self != NULL, FALSE);

  if (self->scheme.format->half_arithmetic)
    resolve_half_exclude_nodes (self);
  positions = vn_quant_find_positions (self->graph);
  for (guint i = 0; self->scheme.format->half_arithmetic && i < self->graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (self->graph->nodes, i);

      self->quant_nodes[i].annotated = self->quant_nodes[i].exclude_rule < 0 &&
                                       vn_quant_can_be_half (node, VN_DTYPE_F16, positions);
    }
  for (guint i = 0; i < self->graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->graph->values, i);

      if (vn_quant_is_single (value) && !resolve_half_fill_value (self, plan, value, error))
        return FALSE;
    }
  return TRUE;
}
