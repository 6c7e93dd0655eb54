/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a float network shows inside its nodes, kept until a quantized one shows the same round. */
#include "compare-rounds.h"

/* Of one sample: what rounds beyond that show is not kept, and not compared. */
#define MOST_BYTES ((gsize) 64 << 20)

struct _CompareRounds
{
  GHashTable *kept;       /* of guint64 -> VnTensor; NULL: it is too much */
  gsize       n_bytes;
};

static void
compare_rounds_release (gpointer tensor)
{
  if (tensor != NULL)
    vn_tensor_unref (tensor);
}

/*< private >
 * vn_compare_rounds_new:
 *
 * Returns: (transfer full): with nothing in it
 */
CompareRounds *
vn_compare_rounds_new (void)
{
  CompareRounds *self = g_new0 (CompareRounds, 1);

  self->kept = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, compare_rounds_release);
  return self;
}

/*< private >
 * vn_compare_rounds_free:
 */
void
vn_compare_rounds_free (CompareRounds *self)
{
  g_hash_table_unref (self->kept);
  g_free (self);
}

/*< private >
 * vn_compare_rounds_clear:
 *
 * Forgets what nobody has taken.
 */
void
vn_compare_rounds_clear (CompareRounds *self)
{
  g_return_if_fail (self != NULL);

  g_hash_table_remove_all (self->kept);
  self->n_bytes = 0;
}

static guint64
compare_rounds_key (guint   tap,
                    guint64 round)
{
  return round ^ (tap + 1) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
}

/*< private >
 * vn_compare_rounds_keep:
 * @round: as vn_runner_get_round() says
 * @tensor: copied
 *
 * Returns: %FALSE with %VN_ERROR_MEMORY
 */
gboolean
vn_compare_rounds_keep (CompareRounds   *self,
                        guint            tap,
                        guint64          round,
                        const VnTensor  *tensor,
                        GError         **error)
{
  const guint64 key = compare_rounds_key (tap, round);
  VnTensor *copy = NULL;

  g_return_val_if_fail (self != NULL && tensor != NULL, FALSE);

  if (tensor->n_bytes <= MOST_BYTES - self->n_bytes)
    {
      copy = vn_tensor_new_copy (tensor->dtype, &tensor->shape, tensor->data, error);
      if (copy == NULL)
        return FALSE;
      self->n_bytes += copy->n_bytes;
    }
  g_hash_table_replace (self->kept, g_memdup2 (&key, sizeof key), copy);
  return TRUE;
}

/*< private >
 * vn_compare_rounds_take:
 * @tensor: (out) (transfer full) (nullable): what was kept
 *
 * Returns: whether the round was shown
 */
gboolean
vn_compare_rounds_take (CompareRounds  *self,
                        guint           tap,
                        guint64         round,
                        VnTensor      **tensor)
{
  const guint64 key = compare_rounds_key (tap, round);
  gpointer taken_key, taken;

  g_return_val_if_fail (self != NULL && tensor != NULL, FALSE);

  *tensor = NULL;
  if (!g_hash_table_steal_extended (self->kept, &key, &taken_key, &taken))
    return FALSE;
  g_free (taken_key);
  *tensor = taken;
  self->n_bytes -= *tensor != NULL ? (*tensor)->n_bytes : 0;
  return TRUE;
}
