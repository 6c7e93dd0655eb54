/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is told of a constant, in words: by its file, and by the elements that were read. */
#include "vn-constant-look.h"

#include "vn-format.h"
#include "vn-i18n.h"

static void
constant_facts_add (GPtrArray  *facts,
                    const char *title,
                    char       *text)
{
  g_ptr_array_add (facts, g_strdup (title));
  g_ptr_array_add (facts, text);
}

/**
 * vn_constant_list_facts:
 * @value: a constant
 * @stored: (nullable): how its elements become other numbers
 * @facts: gets (transfer full) titles and texts by turns
 *
 * What the file says, without reading the elements.
 */
void
vn_constant_list_facts (const VnValue        *value,
                        const VnStoredWeight *stored,
                        GPtrArray            *facts)
{
  const VnTensor *tensor;
  char *shape;

  g_return_if_fail (value != NULL && vn_value_get_constant (value) != NULL && facts != NULL);

  tensor = vn_value_get_constant (value);
  shape = vn_shape_to_string (&tensor->shape, "×");
  constant_facts_add (facts, _("Type"), g_strdup (vn_dtype_get_name (stored != NULL ? vn_stored_weight_get_dtype (stored)
                                                                     : tensor->dtype)));
  if (*shape == '\0')
    {
      g_free (shape);
      shape = g_strdup (_("scalar"));
    }
  constant_facts_add (facts, _("Shape"), shape);
  constant_facts_add (facts, _("Size"), vn_format_bytes (tensor->n_bytes));
  if (stored == NULL)
    return;
  if (stored->scale != NULL)
    constant_facts_add (facts, _("Scale"), vn_constant_dup_scales (stored->outer != NULL ? stored->outer : stored->scale));
  if (stored->outer != NULL)
    constant_facts_add (facts, _("Block scales"), vn_constant_dup_scales (stored->scale));
  if (stored->block_size > 0)
    constant_facts_add (facts, _("Block size"), g_strdup_printf ("%lld", (long long) stored->block_size));
  if (stored->zero_point != NULL && stored->form != VN_STORED_PACKED)
    constant_facts_add (facts, _("Zero point"), vn_constant_dup_scales (stored->zero_point));
}

/**
 * vn_constant_look_list_figures:
 * @facts: gets (transfer full) titles and texts by turns
 *
 * What the elements hold: levels that are used, range, moments, zeros.
 */
void
vn_constant_look_list_figures (const VnConstantLook *self,
                               GPtrArray            *facts)
{
  const VnWeightStats *stats;

  g_return_if_fail (self != NULL && facts != NULL);

  stats = &self->stats;
  if (self->levels.n > 0 && self->is_stored)
    {
      g_autofree char *low = vn_format_number ((double) self->levels.least, 9),
                      *high = vn_format_number ((double) self->levels.most, 9);

      constant_facts_add (facts, _("Levels used"), g_strdup_printf (_("%s … %s, %zu of %zu"), low, high, self->levels.n_used,
                                                                    self->levels.n));
    }
  if (stats->n < 2 || self->tensor->dtype == VN_DTYPE_BOOL)
    return;
  {
    g_autofree char *low = vn_format_number (stats->min, 4), *high = vn_format_number (stats->max, 4),
                    *mean = vn_format_number (stats->mean, 4), *deviation = vn_format_number (stats->deviation, 4);

    constant_facts_add (facts, _("Range"), g_strdup_printf ("%s … %s", low, high));
    constant_facts_add (facts, _("Mean ± deviation"), g_strdup_printf ("%s ± %s", mean, deviation));
  }
  constant_facts_add (facts, _("Zeros"), g_strdup_printf ("%.1f\u00a0%%", 100.0 * (double) stats->n_zero / (double) stats->n));
  if (stats->n_bad > 0)
    constant_facts_add (facts, _("Infinite or NaN"), g_strdup_printf ("%zu", stats->n_bad));
}
