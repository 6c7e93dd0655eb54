/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Means of the numbers that the user's metric gave for each sample, and what its function for all samples makes of them. */
#include "evaluate-metric.h"

static VnMetricNumber *
evaluate_metric_find (GArray     *numbers,
                      const char *name)
{
  for (guint i = 0; i < numbers->len; i++)
    if (g_str_equal (g_array_index (numbers, VnMetricNumber, i).name, name))
      return &g_array_index (numbers, VnMetricNumber, i);
  return NULL;
}

static VnMetricNumber *
evaluate_metric_add (GArray     *numbers,
                     const char *name)
{
  VnMetricNumber number = { g_strdup (name), 0 };

  g_array_append_val (numbers, number);
  return &g_array_index (numbers, VnMetricNumber, numbers->len - 1);
}

/* Means in the order of the samples. */
static GArray *
evaluate_metric_average (const GPtrArray *results)
{
  GArray *means = vn_metric_numbers_new ();
  g_autoptr(GArray) counts = g_array_new (FALSE, TRUE, sizeof (guint));

  for (guint s = 0; s < results->len; s++)
    {
      const GArray *numbers = ((const VnMetricResult *) results->pdata[s])->numbers;

      for (guint i = 0; i < numbers->len; i++)
        {
          const VnMetricNumber *number = &g_array_index (numbers, VnMetricNumber, i);
          VnMetricNumber *sum = evaluate_metric_find (means, number->name);

          if (sum == NULL)
            sum = evaluate_metric_add (means, number->name);
          sum->value += number->value;
          g_array_set_size (counts, means->len);
          g_array_index (counts, guint, sum - (VnMetricNumber *) (gpointer) means->data)++;
        }
    }
  for (guint i = 0; i < means->len; i++)
    g_array_index (means, VnMetricNumber, i).value /= g_array_index (counts, guint, i);
  return means;
}

/**
 * evaluate_metric_sum_up:
 * @results: (element-type VnMetricResult): in the order of the samples
 * @model: what the network is called, for messages
 *
 * Returns: (transfer full) (nullable) (element-type VnMetricNumber): means over the samples that have the number, then what
 *   “finish” returned, which takes the place of a mean of the same name; errors of vn_user_metric_finish()
 */
GArray *
evaluate_metric_sum_up (VnUserMetric  *metric,
                        GPtrArray     *results,
                        const char    *model,
                        GError       **error)
{
  g_autoptr(GArray) numbers = evaluate_metric_average (results);
  g_autoptr(VnMetricResult) all = NULL;

  if (results->len == 0 || !vn_user_metric_has_finish (metric))
    return g_steal_pointer (&numbers);
  all = vn_user_metric_finish (metric, (VnMetricResult * const *) results->pdata, results->len, error);
  if (all == NULL)
    {
      g_prefix_error (error, "“%s”: ", model);
      return NULL;
    }
  for (guint i = 0; i < all->numbers->len; i++)
    {
      const VnMetricNumber *number = &g_array_index (all->numbers, VnMetricNumber, i);
      VnMetricNumber *known = evaluate_metric_find (numbers, number->name);

      (known != NULL ? known : evaluate_metric_add (numbers, number->name))->value = number->value;
    }
  return g_steal_pointer (&numbers);
}

/*< private >
 * evaluate_metric_add_figures:
 * @meter: what each network but the first keeps of it
 * @scores: (array length=n): to each of which it is appended, behind what the user's metric says
 */
void
evaluate_metric_add_figures (const VnKeptMeter *meter,
                             VnScore           *scores,
                             guint              n)
{
  g_return_if_fail (meter != NULL && scores != NULL);

  for (guint k = 0; k < n; k++)
    {
      g_autoptr(GArray) numbers = scores[k].metrics != NULL ? g_array_ref (scores[k].metrics) : vn_metric_numbers_new ();

      vn_kept_meter_measure (meter, k > 0 ? k - 1 : 0, k == 0, numbers);
      if (numbers->len > 0 && scores[k].metrics == NULL)
        scores[k].metrics = g_steal_pointer (&numbers);
    }
}
