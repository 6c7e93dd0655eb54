/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shares of the noise at the outputs: sums of samples are added in the order of the samples. */
#include "contribution-shares.h"

#include <math.h>

/*< private >
 * vn_shares_init:
 * @probe: lives longer
 * @n_samples: at most
 * @n_common: that all suspects are measured on which matter
 * @n_kept: differences that are kept of each end
 */
void
vn_shares_init (VnShares      *self,
                const VnProbe *probe,
                guint          n_samples,
                guint          n_common,
                guint          n_kept)
{
  g_return_if_fail (self != NULL && probe != NULL);

  *self = (VnShares) { .probe = probe, .n_suspects = probe->suspects->len, .n_outputs = probe->outputs->len,
                       .n_ends = probe->ends->len,
                       .n_samples = n_samples, .n_common = n_common, .n_kept = n_kept };
  self->per_sample = g_new0 (VnShareSums, n_samples + 1);
  self->estimates = g_new0 (VnShareSums, n_samples + 1);
  self->standing = g_new0 (VnStanding, self->n_suspects + 1);
  self->ruling = g_new0 (guint, self->n_outputs + 1);
}

static void
contribution_clear_sums (VnShareSums *sums,
                         guint        n)
{
  for (guint s = 0; sums != NULL && s < n; s++)
    {
      g_free (sums[s].local);
      g_free (sums[s].outputs);
      g_free (sums[s].kept);
    }
  g_free (sums);
}

/*< private >
 * vn_shares_clear:
 * @self: of vn_shares_init(), or zeros
 */
void
vn_shares_clear (VnShares *self)
{
  g_return_if_fail (self != NULL);

  contribution_clear_sums (self->per_sample, self->n_samples);
  contribution_clear_sums (self->estimates, self->n_samples);
  g_free (self->standing);
  g_free (self->ruling);
}

/* ---- shares ---- */

/* Noise to signal at an end, over the samples that a suspect was measured on: between 0 and what bounds signal to noise. */
static double
contribution_ratio (const VnNoise *sum)
{
  if (sum->n_bad > 0 || !isfinite (sum->dd))
    return 1e20;
  return sum->dd > 0 ? MIN (sum->dd / sum->ff, 1e20) : 0;
}

static void
contribution_join (const VnNoise *from,
                   VnNoise       *sum)
{
  sum->n += from->n;
  sum->n_bad += from->n_bad;
  sum->ff += from->ff;
  sum->dd += from->dd;
}

/* Of suspect @i at end @o, or of what is changed: over the samples it was measured on, or was estimated on. */
static VnNoise
contribution_sum (const VnShares *self,
                  guint               i,
                  int                 o)
{
  const VnShareSums *sums = self->standing[i].n_samples > 0 ? self->per_sample : self->estimates;
  guint n = self->standing[i].n_samples > 0 ? self->standing[i].n_samples : self->n_samples;
  VnNoise sum = { 0 };

  for (guint s = 0; s < n; s++)
    if (sums[s].outputs != NULL)
      contribution_join (o < 0 ? &sums[s].local[i] : &sums[s].outputs[(gsize) i * self->n_ends + (guint) o], &sum);
  return sum;
}

/* Standard error of the ratio of two sums over samples. */
static double
contribution_ratio_error (const VnShares *self,
                          guint               i,
                          guint               o,
                          const VnNoise      *sum,
                          double              ratio)
{
  double squares = 0;
  guint n = 0;

  for (guint s = 0; s < self->standing[i].n_samples; s++)
    if (self->per_sample[s].outputs != NULL)
      {
        const VnNoise *noise = &self->per_sample[s].outputs[(gsize) i * self->n_ends + o];

        squares += (noise->dd - ratio * noise->ff) * (noise->dd - ratio * noise->ff);
        n++;
      }
  return n > 1 && sum->ff > 0 ? sqrt (squares * n / (n - 1)) / sum->ff : NAN;
}

/* Of each end, the noise of all suspects together; %NAN where none was computed. */
static double *
contribution_total_noise (const VnShares *self)
{
  double *total = g_new0 (double, self->n_ends + 1);

  for (guint e = 0; e < self->n_ends; e++)
    {
      gboolean any = FALSE;

      for (guint i = 0; i < self->n_suspects; i++)
        {
          VnNoise sum = contribution_sum (self, i, (int) e);

          total[e] += contribution_ratio (&sum);
          any = any || sum.n > 0 || sum.n_bad > 0;
        }
      if (!any)
        total[e] = NAN;
    }
  return total;
}

/* An output goes by the part that most noise comes to. */
static void
contribution_choose_ends (VnShares     *self,
                          const double *total)
{
  for (guint o = 0; o < self->n_outputs; o++)
    self->ruling[o] = G_MAXUINT;
  for (guint e = 0; e < self->n_ends; e++)
    {
      guint o = g_array_index (self->probe->ends, VnProbeEnd, e).output;

      if (self->ruling[o] == G_MAXUINT || total[e] > total[self->ruling[o]] || isnan (total[self->ruling[o]]))
        self->ruling[o] = e;
    }
}

/*< private >
 * vn_shares_update:
 *
 * Shares and their errors by what has been measured, or estimated, so far: averaged over the outputs.
 */
void
vn_shares_update (VnShares *self)
{
  g_autofree double *total = NULL;

  g_return_if_fail (self != NULL);

  total = contribution_total_noise (self);
  contribution_choose_ends (self, total);
  for (guint i = 0; i < self->n_suspects; i++)
    {
      VnStanding *standing = &self->standing[i];
      double error = 0;
      guint n = 0;

      standing->share = 0;
      for (guint o = 0; o < self->n_outputs; o++)
        {
          guint e = self->ruling[o];
          VnNoise sum = contribution_sum (self, i, (int) e);
          double ratio = contribution_ratio (&sum);

          if (sum.n == 0 && sum.n_bad == 0)
            continue;
          standing->share += total[e] > 0 ? ratio / total[e] : 0;
          error += total[e] > 0 ? contribution_ratio_error (self, i, e, &sum, ratio) / total[e] : 0;
          n++;
        }
      standing->share = n > 0 ? standing->share / n : 0;
      standing->share_error = n > 0 ? error / n : NAN;
      standing->most = standing->share + (isfinite (standing->share_error) ? 2 * standing->share_error : 0);
    }
}

/*< private >
 * vn_shares_compare:
 * @a, @b: (type guint): suspects
 * @data: (type VnShares)
 *
 * Returns: less than 0 if @a may have the larger share
 */
gint
vn_shares_compare (gconstpointer a,
                   gconstpointer b,
                   gpointer      data)
{
  const VnStanding *standing = ((const VnShares *) data)->standing;
  guint i = *(const guint *) a, k = *(const guint *) b;

  if (standing[i].most != standing[k].most)
    return standing[i].most > standing[k].most ? -1 : 1;
  return i < k ? -1 : 1;
}

/* ---- what was found ---- */

/* NULL: not measured on all samples that count. */
static GArray *
contribution_collect_differences (const VnShares *self,
                                  guint               i)
{
  guint common = self->n_common;
  GArray *all;

  if (self->n_kept == 0 || self->standing[i].n_samples < common)
    return NULL;
  all = g_array_new (FALSE, FALSE, sizeof (float));
  for (guint s = 0; s < common; s++)
    for (guint o = 0; o < self->n_outputs && self->per_sample[s].kept != NULL; o++)
      {
        VnNoise sum = contribution_sum (self, i, (int) self->ruling[o]);

        if (sum.n > 0 || sum.n_bad > 0)
          g_array_append_vals (all, self->per_sample[s].kept + ((gsize) i * self->n_ends + self->ruling[o]) * self->n_kept,
                               self->n_kept);
      }
  return all;
}

static void
contribution_fill (const VnShares *self,
                   guint               i,
                   VnContribution     *item)
{
  const VnSuspect *suspect = &g_array_index (self->probe->suspects, VnSuspect, i);
  const VnStanding *standing = &self->standing[i];
  VnNoise local = contribution_sum (self, i, -1);
  guint n = 0;

  *item = (VnContribution) { .name = g_strdup (suspect->row->tensor.name), .role = suspect->row->tensor.role,
                             .node = suspect->node != NULL ? vn_node_dup_label (suspect->node) : g_strdup (""),
                             .value = g_strdup (suspect->speaker), .share = standing->share, .share_error = standing->share_error,
                             .local_db = vn_sqnr_bound (-10 * log10 (contribution_ratio (&local)), local.n_bad) };
  item->noise = g_array_new (FALSE, FALSE, sizeof (double));
  item->differences = contribution_collect_differences (self, i);
  item->n_numbers = self->n_kept;
  for (guint s = 0; s < standing->n_samples; s++)
    item->n_samples += self->per_sample[s].outputs != NULL;
  for (guint o = 0; o < self->n_outputs; o++)
    {
      VnNoise sum = contribution_sum (self, i, (int) self->ruling[o]);
      double ratio = contribution_ratio (&sum);

      if (sum.n == 0 && sum.n_bad == 0)
        continue;
      g_array_append_val (item->noise, ratio);
      item->alone_db += vn_sqnr_bound (-10 * log10 (contribution_ratio (&sum)), sum.n_bad);
      n++;
    }
  item->alone_db = n > 0 ? item->alone_db / n : vn_sqnr_bound (INFINITY, 0);
}

/*< private >
 * vn_shares_collect:
 *
 * Returns: (transfer full): what vn_shares_update() has found, for everybody
 */
VnContributions *
vn_shares_collect (const VnShares *self)
{
  VnContributions *result;

  g_return_val_if_fail (self != NULL, NULL);

  result = vn_contributions_new_empty ();
  for (guint i = 0; i < self->n_suspects; i++)
    {
      VnContribution item;

      contribution_fill (self, i, &item);
      vn_contributions_add (result, &item);
    }
  return result;
}
