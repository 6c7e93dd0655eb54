/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples that networks are evaluated on: which, and what processes that share them tell each other of each. */
#include "evaluate-share.h"

#include "vn-memory.h"
#include "vn-sample-ranks.h"
#include "vn-task-reader.h"

#include <string.h>

/* Answers, sums of their outputs, but those of the first, and what is kept. */
#define SHARE_TYPE "(ayaya" VN_KEPT_SUM_TYPE ")"

/* All samples, those of folds last. */
guint *
evaluate_share_list_samples (const VnCompareOptions *options,
                             guint                   n)
{
  guint *samples = g_new (guint, MAX (n, 1)), place = options->n_samples;

  for (guint s = 0; s < options->n_samples; s++)
    samples[s] = options->samples[s];
  for (guint i = 0; i < options->n_folds; i++)
    for (guint s = 0; s < options->folds[i].n_samples; s++)
      samples[place++] = options->folds[i].samples[s];
  return samples;
}

static GVariant *
evaluate_share_pack_bytes (gconstpointer bytes,
                           gsize         size)
{
  return g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, bytes, size, 1);
}

/*< private >
 * evaluate_share_pack:
 * @first: the first of the @n answers of a sample among those of @outputs
 * @answers: (array): @n, of @answer_size bytes
 * @kept: of vn_kept_meter_add_packed()
 *
 * Returns: (transfer full): what came of the sample
 */
GBytes *
evaluate_share_pack (const EvaluateOutputs *outputs,
                     gsize                  first,
                     guint                  n,
                     gconstpointer          answers,
                     gsize                  answer_size,
                     GVariant              *kept)
{
  g_autoptr(GByteArray) sums = g_byte_array_new ();
  g_autoptr(GVariant) all = NULL;
  gsize n_sums;

  g_return_val_if_fail (outputs != NULL && answers != NULL && kept != NULL, NULL);

  for (guint k = 1; k < n; k++)
    {
      const VnErrorSum *own = evaluate_outputs_get (outputs, first + k, &n_sums);

      g_byte_array_append (sums, (const guint8 *) own, (guint) (n_sums * sizeof *own));
    }
  all = g_variant_ref_sink (g_variant_new ("(@ay@ay@*)", evaluate_share_pack_bytes (answers, n * answer_size),
                                           evaluate_share_pack_bytes (sums->data, sums->len), kept));
  return g_variant_get_data_as_bytes (all);
}

static gboolean
evaluate_share_take_sums (EvaluateOutputs  *outputs,
                          gsize             first,
                          guint             n,
                          GVariant         *packed,
                          GError          **error)
{
  gsize size, n_sums;
  const guint8 *bytes = g_variant_get_fixed_array (packed, &size, 1);

  evaluate_outputs_get (outputs, first, &n_sums);
  if (size != (n - 1) * n_sums * sizeof (VnErrorSum))
    return vn_sample_ranks_refuse (error);
  for (guint k = 1; k < n; k++)
    {
      VnErrorSum *sums = vn_memory_dup (bytes + (k - 1) * n_sums * sizeof *sums, n_sums, sizeof *sums, error);

      if (sums == NULL)
        return FALSE;
      evaluate_outputs_take (outputs, first + k, sums);
    }
  return TRUE;
}

/*< private >
 * evaluate_share_take:
 * @first: as of evaluate_share_pack()
 * @answers: (out caller-allocates) (array): @n, of @answer_size bytes
 * @bytes: (array length=size): what evaluate_share_pack() of another process gave
 *
 * Returns: %FALSE with an error if it is of other networks, or memory is refused
 */
gboolean
evaluate_share_take (EvaluateOutputs  *outputs,
                     gsize             first,
                     guint             n,
                     gpointer          answers,
                     gsize             answer_size,
                     VnKeptMeter      *meter,
                     gconstpointer     bytes,
                     gsize             size,
                     GError          **error)
{
  g_autoptr(GBytes) whole = NULL;
  g_autoptr(GVariant) all = NULL, own = NULL, sums = NULL, kept = NULL;

  g_return_val_if_fail (outputs != NULL && answers != NULL && n > 0, FALSE);

  whole = g_bytes_new (bytes, size);
  all = g_variant_ref_sink (g_variant_new_from_bytes (G_VARIANT_TYPE (SHARE_TYPE), whole, FALSE));
  own = g_variant_get_child_value (all, 0);
  sums = g_variant_get_child_value (all, 1);
  kept = g_variant_get_child_value (all, 2);
  if (g_variant_get_size (own) != n * answer_size)
    return vn_sample_ranks_refuse (error);
  memcpy (answers, g_variant_get_data (own), n * answer_size);
  return evaluate_share_take_sums (outputs, first, n, sums, error) &&
         (vn_kept_meter_take (meter, (guint) (first / n), kept) || vn_sample_ranks_refuse (error));
}
