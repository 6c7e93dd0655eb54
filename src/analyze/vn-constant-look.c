/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a constant holds: its elements, the numbers that integers stand for, figures and a histogram of them. */
#include "vn-constant-look.h"

#include "vn-error.h"
#include "vn-format.h"
#include "vn-i18n.h"

#include <math.h>

/**
 * vn_node_find_weight:
 * @stored: (out caller-allocates): how it is stored, if it is integers
 * @is_stored: (out):
 *
 * Returns: (nullable): the largest constant of floats, or of integers with a scale, that goes into @node; %NULL: there is none of
 *   more than one element
 */
const VnValue *
vn_node_find_weight (const VnNode   *node,
                     VnStoredWeight *stored,
                     gboolean       *is_stored)
{
  const VnValue *best = NULL;
  gsize most = 1;

  g_return_val_if_fail (node != NULL && stored != NULL && is_stored != NULL, NULL);

  for (guint i = 0; i < node->inputs->len; i++)
    {
      const VnValue *input = vn_node_get_input (node, i);
      VnStoredWeight found;
      gboolean has = vn_stored_weight_find_input (&found, node, i);
      const VnValue *value = has ? found.value : input;
      const VnTensor *tensor = value != NULL ? vn_value_get_constant (value) : NULL;

      if (tensor == NULL || (!has && !vn_dtype_is_float (tensor->dtype)) || tensor->n_elements <= most)
        continue;
      best = value;
      most = tensor->n_elements;
      *is_stored = has;
      *stored = found;
    }
  return best;
}

/**
 * vn_constant_find_stored:
 * @stored: (out caller-allocates):
 *
 * Returns: whether a node makes other numbers of the elements of @value, a constant
 */
gboolean
vn_constant_find_stored (const VnValue  *value,
                         VnStoredWeight *stored)
{
  g_return_val_if_fail (value != NULL && stored != NULL, FALSE);

  for (guint i = 0; i < value->uses->len; i++)
    {
      const VnUse use = g_array_index (value->uses, VnUse, i);
      const VnNode *node = use.node;
      const VnValue *output = vn_node_get_output (node, 0);

      if ((vn_stored_weight_find (stored, node) && stored->value == value) ||
          vn_stored_weight_find_input (stored, node, use.index))
        return TRUE;
      /* what passes it on, or makes integers of it first */
      for (guint k = 0; output != NULL && k < output->uses->len; k++)
        if (vn_stored_weight_find (stored, g_array_index (output->uses, VnUse, k).node) && stored->value == value)
          return TRUE;
    }
  return FALSE;
}

static gboolean
constant_look_can_show (const VnTensor  *tensor,
                        GError         **error)
{
  if (tensor->n_elements > VN_CONSTANT_MOST)
    g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("It has %zu elements: too many to show"), tensor->n_elements);
  else if (vn_tensor_is_container (tensor) || vn_dtype_is_block (tensor->dtype) ||
           !(vn_dtype_is_float (tensor->dtype) || vn_dtype_is_integer (tensor->dtype) || tensor->dtype == VN_DTYPE_BOOL))
    g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("Elements of the type %s are not shown"),
                 vn_dtype_get_name (tensor->dtype));
  else
    return TRUE;
  return FALSE;
}

/* FALSE: no memory. */
static gboolean
constant_look_read_numbers (VnConstantLook  *self,
                            GError         **error)
{
  if (self->is_stored && (self->stored.scale != NULL))
    self->numbers = vn_stored_weight_restore (&self->stored, NULL);
  if (self->numbers == NULL && vn_tensor_has_numbers (self->tensor) && !self->is_stored)
    {
      g_autoptr(VnTensor) converted = vn_tensor_convert (self->tensor, VN_DTYPE_F32, error);

      self->numbers = converted != NULL ? vn_tensor_get_aligned (converted, error) : NULL;
      return self->numbers != NULL;
    }
  return TRUE;
}

static void
constant_look_measure (VnConstantLook *self)
{
  const VnTensor *of = self->numbers != NULL ? self->numbers : self->tensor;

  self->stats = (VnWeightStats) { .name = self->value->name, .dtype = self->tensor->dtype, .shape = self->tensor->shape,
                                  .n = self->tensor->n_elements };
  if (of->dtype != VN_DTYPE_BOOL && of->n_elements > 0)
    vn_weight_stats_measure (&self->stats, of);
  if (vn_dtype_is_integer (self->tensor->dtype))
    vn_levels_count (&self->levels, self->tensor);
  if (self->is_stored && self->levels.n > 0)
    self->levels.n = (gsize) 1 << vn_dtype_get_bits (vn_stored_weight_get_dtype (&self->stored));
  if (self->numbers != NULL && self->numbers->n_elements > 1)
    {
      g_autoptr(VnHistogramScratch) scratch = vn_scratch_new ();

      self->histogram = vn_histogram_new ();
      vn_histogram_scan (self->histogram, scratch, self->numbers->data, self->numbers->n_elements);
    }
}

/**
 * vn_constant_look_new:
 * @model: kept
 * @value: a constant of @model
 * @stored: (nullable): of @value: how its elements become other numbers
 *
 * Reads all elements of @value: for a worker thread.
 *
 * Returns: (transfer full) (nullable): what it holds; %NULL with an error if it is too large, has elements that are no numbers,
 *   or there is no memory
 */
VnConstantLook *
vn_constant_look_new (VnModel               *model,
                      const VnValue         *value,
                      const VnStoredWeight  *stored,
                      GError               **error)
{
  g_autoptr(VnConstantLook) self = NULL;
  g_autoptr(VnTensor) tensor = NULL;

  g_return_val_if_fail (model != NULL && value != NULL && vn_value_get_constant (value) != NULL, NULL);

  if (!constant_look_can_show (vn_value_get_constant (value), error))
    return NULL;
  self = g_new0 (VnConstantLook, 1);
  g_atomic_ref_count_init (&self->ref);
  self->model = vn_model_ref (model);
  self->value = value;
  self->is_stored = stored != NULL;
  if (stored != NULL)
    self->stored = *stored;
  tensor = stored != NULL ? vn_stored_weight_unpack (stored, error) : vn_tensor_ref (vn_value_get_constant (value));
  self->tensor = tensor != NULL ? vn_tensor_get_aligned (tensor, error) : NULL;
  if (self->tensor == NULL || !constant_look_can_show (self->tensor, error) || !constant_look_read_numbers (self, error))
    return NULL;
  constant_look_measure (self);
  return g_steal_pointer (&self);
}

/**
 * vn_constant_look_ref:
 *
 * Returns: (transfer full): @self
 */
VnConstantLook *
vn_constant_look_ref (VnConstantLook *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

/**
 * vn_constant_look_unref:
 *
 * Drops a reference; the last one frees the elements.
 */
void
vn_constant_look_unref (VnConstantLook *self)
{
  g_return_if_fail (self != NULL);

  if (!g_atomic_ref_count_dec (&self->ref))
    return;

  g_clear_pointer (&self->tensor, vn_tensor_unref);
  g_clear_pointer (&self->numbers, vn_tensor_unref);
  g_clear_pointer (&self->histogram, vn_histogram_free);
  vn_model_unref (self->model);
  g_free (self);
}

/* ---- words ---- */

/**
 * vn_constant_dup_element:
 * @tensor: of floats, integers or truth values
 *
 * Returns: (transfer full): element @i: integers with all digits, floats with six
 */
char *
vn_constant_dup_element (const VnTensor *tensor,
                         gsize           i)
{
  g_return_val_if_fail (tensor != NULL && i < tensor->n_elements, NULL);

  if (vn_dtype_is_float (tensor->dtype))
    return vn_format_number (vn_tensor_get_double (tensor, i), 6);
  return g_strdup_printf ("%s%" G_GUINT64_FORMAT, vn_tensor_get_s64 (tensor, i) < 0 ? "\u2212" : "",
                          (guint64) ABS (vn_tensor_get_s64 (tensor, i)));
}

/**
 * vn_constant_dup_scales:
 * @tensor: scales or zero points
 *
 * Returns: (transfer full): the one, or how many and from where to where: "32 values, 0.0012 … 0.0284"
 */
char *
vn_constant_dup_scales (const VnTensor *tensor)
{
  double least = INFINITY, most = -INFINITY;
  g_autofree char *low = NULL, *high = NULL;

  g_return_val_if_fail (tensor != NULL, NULL);

  for (gsize i = 0; i < tensor->n_elements; i++)
    {
      least = MIN (least, vn_tensor_get_double (tensor, i));
      most = MAX (most, vn_tensor_get_double (tensor, i));
    }
  if (tensor->n_elements == 0)
    return g_strdup ("–");
  low = vn_format_number (least, 4);
  high = vn_format_number (most, 4);
  if (tensor->n_elements == 1)
    return g_steal_pointer (&low);
  if (least == most)
    return g_strdup_printf (ngettext ("%zu value, all %s", "%zu values, all %s", tensor->n_elements), tensor->n_elements, low);
  return g_strdup_printf (ngettext ("%zu value, %s … %s", "%zu values, %s … %s", tensor->n_elements), tensor->n_elements, low,
                          high);
}
