/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of what tensors cost; vn_contribution_measure() fills it. */
#include "vn-contributions.h"

#include "vn-i18n.h"

#include <math.h>

struct _VnContributions
{
  gatomicrefcount ref;
  GArray         *items;   /* of VnContribution */
  double          noise_gain_db;
};

static void
contributions_clear_item (gpointer data)
{
  VnContribution *self = data;

  g_free (self->name);
  g_free (self->node);
  g_free (self->value);
  g_clear_pointer (&self->noise, g_array_unref);
  g_clear_pointer (&self->differences, g_array_unref);
}

/**
 * vn_contributions_new_empty:
 *
 * Returns: (transfer full): a list to be filled
 */
VnContributions *
vn_contributions_new_empty (void)
{
  VnContributions *self = g_new0 (VnContributions, 1);

  g_atomic_ref_count_init (&self->ref);
  self->noise_gain_db = NAN;
  self->items = g_array_new (FALSE, FALSE, sizeof (VnContribution));
  g_array_set_clear_func (self->items, contributions_clear_item);
  return self;
}

/**
 * vn_contributions_set_noise_gain:
 * @gain_db: vn_noise_gain_measure() of the prepared network; before others see @self
 */
void
vn_contributions_set_noise_gain (VnContributions *self,
                                 double           gain_db)
{
  g_return_if_fail (self != NULL);

  self->noise_gain_db = gain_db;
}

double
vn_contributions_get_noise_gain (VnContributions *self)
{
  g_return_val_if_fail (self != NULL, NAN);

  return self->noise_gain_db;
}

/**
 * vn_contributions_add:
 * @item: (transfer full): what it points to changes owner
 */
void
vn_contributions_add (VnContributions *self,
                      VnContribution  *item)
{
  g_return_if_fail (self != NULL && item != NULL);

  g_array_append_vals (self->items, item, 1);
}

VnContributions *
vn_contributions_ref (VnContributions *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

void
vn_contributions_unref (VnContributions *self)
{
  if (!g_atomic_ref_count_dec (&self->ref))
    return;
  g_array_unref (self->items);
  g_free (self);
}

guint
vn_contributions_get_n (VnContributions *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->items->len;
}

/**
 * vn_contributions_get:
 *
 * Returns: (transfer none): tensor @i
 */
const VnContribution *
vn_contributions_get (VnContributions *self,
                      guint            i)
{
  g_return_val_if_fail (self != NULL && i < self->items->len, NULL);

  return &g_array_index (self->items, VnContribution, i);
}

static gint
contributions_compare_shares (gconstpointer a,
                              gconstpointer b,
                              gpointer      data)
{
  const VnContribution *items = data;
  guint i = *(const guint *) a, k = *(const guint *) b;

  if (items[i].share != items[k].share)
    return items[i].share > items[k].share ? -1 : 1;
  return i < k ? -1 : 1;
}

/**
 * vn_contributions_sort:
 *
 * Returns: (transfer full) (element-type guint): numbers of the tensors, those with the largest share first
 */
GArray *
vn_contributions_sort (VnContributions *self)
{
  GArray *order;

  g_return_val_if_fail (self != NULL, NULL);

  order = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = 0; i < self->items->len; i++)
    g_array_append_val (order, i);
  g_array_sort_with_data (order, contributions_compare_shares, self->items->data);
  return order;
}

/**
 * vn_contributions_find:
 * @value: of the prepared network
 *
 * Returns: (transfer full) (element-type guint): numbers of the tensors that this value's row speaks for, largest share first
 */
GArray *
vn_contributions_find (VnContributions *self,
                       const char      *value)
{
  g_autoptr(GArray) order = NULL;
  GArray *found;

  g_return_val_if_fail (self != NULL && value != NULL, NULL);

  order = vn_contributions_sort (self);
  found = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = 0; i < order->len; i++)
    if (g_strcmp0 (vn_contributions_get (self, g_array_index (order, guint, i))->value, value) == 0)
      g_array_append_val (found, g_array_index (order, guint, i));
  return found;
}

/**
 * vn_contributions_mark:
 * @errors: of the same run
 *
 * Returns: (transfer full): @errors with the metric “contribution”: of a row the shares of all tensors that it speaks for, 0
 *   where nothing is quantized; of a weight its own
 */
VnErrorTable *
vn_contributions_mark (VnContributions *self,
                       VnErrorTable    *errors)
{
  VnErrorTable *marked;

  g_return_val_if_fail (self != NULL && errors != NULL, NULL);

  marked = vn_error_table_copy (errors);
  vn_error_table_clear_contributions (marked);
  for (guint i = 0; i < self->items->len; i++)
    {
      const VnContribution *item = &g_array_index (self->items, VnContribution, i);

      if (item->value != NULL)
        vn_error_table_add_contribution (marked, item->value, item->role == VN_TENSOR_ACTIVATION ? NULL : item->name,
                                         item->share);
    }
  return marked;
}

/* ---- another plan ---- */

/* Noise of rounding grows with the square of the step. */
static double
contributions_get_noise (const VnTensorPlan *row)
{
  double sum = 0;

  for (gsize i = 0; i < row->scale->n_elements; i++)
    sum += vn_tensor_get_double (row->scale, i) * vn_tensor_get_double (row->scale, i);
  return row->scale->n_elements > 0 ? sum / (double) row->scale->n_elements : 0;
}

/* By how much its noise grows; 0: none is left; NaN: nobody knows. */
static double
contributions_compare_noise (const VnTensorPlan *before,
                             const VnTensorPlan *after)
{
  if (after == NULL || !after->quantized)
    return 0;
  if (before == NULL || !before->quantized)
    return NAN;
  if (before->scale != NULL && after->scale != NULL && contributions_get_noise (before) > 0)
    return contributions_get_noise (after) / contributions_get_noise (before);
  return before->dtype == after->dtype ? 1 : NAN;
}

/**
 * vn_contributions_expect:
 * @before: what they were measured with
 * @after: another plan for the same network
 *
 * Estimates of the first order: tensors whose steps change have as much more or less noise as the square of these, all others as
 * much as before. Tensors that are quantized only by @after are not in it.
 *
 * Returns: (transfer full): what the tensors cost with @after
 */
VnContributions *
vn_contributions_expect (VnContributions *self,
                         VnQuantPlan     *before,
                         VnQuantPlan     *after)
{
  VnContributions *expected;
  double sum = 0;

  g_return_val_if_fail (self != NULL && before != NULL && after != NULL, NULL);

  expected = vn_contributions_new_empty ();
  for (guint i = 0; i < self->items->len; i++)
    {
      VnContribution item = g_array_index (self->items, VnContribution, i);
      double noise = contributions_compare_noise (vn_quant_plan_find (before, item.name), vn_quant_plan_find (after, item.name));

      if (noise == 0 || isnan (noise))
        continue;
      item.name = g_strdup (item.name);
      item.node = g_strdup (item.node);
      item.value = g_strdup (item.value);
      item.noise = item.differences = NULL;
      if (noise != 1)
        {
          item.local_db -= 10 * log10 (noise);
          item.alone_db -= 10 * log10 (noise);
          item.n_samples = 0;
        }
      item.share *= noise;
      sum += item.share;
      vn_contributions_add (expected, &item);
    }
  for (guint i = 0; i < expected->items->len && sum > 0; i++)
    g_array_index (expected->items, VnContribution, i).share /= sum;
  return expected;
}

/* ---- roles ---- */

static const struct { const char *id, *title; } contributions_roles[] = {
  [VN_TENSOR_ACTIVATION] = { "activation", N_("activation") },
  [VN_TENSOR_WEIGHT] = { "weight", N_("weight") },
  [VN_TENSOR_BIAS] = { "bias", N_("bias") },
};

/**
 * vn_contribution_role_get_id:
 *
 * Returns: what reports for programs and files of results call @role
 */
const char *
vn_contribution_role_get_id (VnTensorRole role)
{
  g_return_val_if_fail ((guint) role < G_N_ELEMENTS (contributions_roles), NULL);

  return contributions_roles[role].id;
}

/**
 * vn_contribution_role_get_title:
 *
 * Returns: what people call it, translated
 */
const char *
vn_contribution_role_get_title (VnTensorRole role)
{
  g_return_val_if_fail ((guint) role < G_N_ELEMENTS (contributions_roles), NULL);

  return _(contributions_roles[role].title);
}

/**
 * vn_contribution_role_find:
 * @role: (out): untouched unless found
 *
 * Returns: whether @id is one
 */
gboolean
vn_contribution_role_find (const char   *id,
                           VnTensorRole *role)
{
  g_return_val_if_fail (id != NULL && role != NULL, FALSE);

  for (guint i = 0; i < G_N_ELEMENTS (contributions_roles); i++)
    if (g_str_equal (contributions_roles[i].id, id))
      {
        *role = (VnTensorRole) i;
        return TRUE;
      }
  return FALSE;
}
