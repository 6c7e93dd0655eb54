/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What a format or a processor asks of several settings of a recipe together. */

#include "vn-quantize-private.h"

#include "vn-error.h"
#include "vn-i18n.h"

/* What is about pairs of QuantizeLinear and DequantizeLinear means nothing without them. */
static gboolean
check_pairs (const VnRecipe  *self,
             GError         **error)
{
  const char *wrong = self->dedicated_pairs ? "dedicated-pairs" : self->pairs_on_weights ? "pairs-on-weights"
                    : !self->quantize_bias ? "quantize-bias" : NULL;

  for (guint i = 0; i < self->overrides->len && wrong == NULL; i++)
    if (((const VnOverride *) g_ptr_array_index (self->overrides, i))->convert != VN_DTYPE_UNDEFINED)
      wrong = "convert";
  if (wrong == NULL || self->format == VN_FORMAT_QDQ)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("%s: only the format “qdq” can do that"), wrong);
  return FALSE;
}

static gboolean
is_method_of_powers (const char *method)
{
  const VnRangeMethod *found = method != NULL ? vn_range_method_find (method, NULL) : NULL;

  return found != NULL && found->power_of_two;
}

static gboolean
check_npu (const VnRecipe  *self,
           GError         **error)
{
  gboolean powers = self->power_of_two == VN_POWER_OF_TWO_NEAREST ||
                    (is_method_of_powers (self->method) && is_method_of_powers (self->weight_method));
  const char *wrong = NULL;

  if (!self->npu)
    return TRUE;
  if (!powers)
    wrong = _("power-of-two must be “nearest”");
  else if (!self->symmetric_activations || !self->symmetric_weights)
    wrong = _("activations and weights must be symmetric");
  else if (self->per_channel)
    wrong = _("scales per channel are not possible");
  else if (self->format != VN_FORMAT_QDQ)
    wrong = _("the format must be “qdq”");
  if (wrong == NULL)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("npu: the processor only shifts: %s"), wrong);
  return FALSE;
}

/*< private >
 * vn_recipe_check_target:
 *
 * Returns: %FALSE with %VN_ERROR_SETTING or %VN_ERROR_UNSUPPORTED if the format or the processor cannot do what is asked
 */
gboolean
vn_recipe_check_target (const VnRecipe  *self,
                        GError         **error)
{
  return check_pairs (self, error) && check_npu (self, error);
}
