/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the most likely cause of a node's error: errors from before, a clipped or widened range, or weights of uneven
 * channels. */
#include "vn-cause.h"

#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-thresholds.h"

#include <math.h>

typedef struct
{
  double  min, max;         /* of the range */
  guint64 n, outside;
} Clip;

static void
cause_count_outside (const VnBin *bin,
                     gpointer     data)
{
  Clip *clip = data;

  clip->n += bin->count;
  if (bin->lo > clip->max || bin->hi < clip->min)
    clip->outside += bin->count;
}

typedef struct
{
  guint64 n, seen;
  double  low, high;
} Tails;

static void
cause_find_tails (const VnBin *bin,
                  gpointer     data)
{
  Tails *tails = data;
  double before = (double) tails->seen / (double) tails->n;

  tails->seen += bin->count;
  if (before <= VN_TAIL_SHARE)
    tails->low = bin->lo;
  if (before <= 1 - VN_TAIL_SHARE)
    tails->high = bin->hi;
}

static char *
cause_describe_range (const VnHistogram  *histogram,
                      const VnTensorPlan *plan)
{
  double step = (plan->max - plan->min) / 255;
  Clip clip = { plan->min - step, plan->max + step, 0, 0 };
  Tails tails = { 0 };
  double width;

  vn_histogram_foreach (histogram, cause_count_outside, &clip);
  if (clip.n == 0)
    return NULL;
  if ((double) clip.outside > VN_CLIPPED_SHARE * (double) clip.n)
    {
      g_autofree char *range = vn_format_interval (plan->min, plan->max);

      return g_strdup_printf (_("The range %s cuts off %.1f %% of the values."), range,
                              100 * (double) clip.outside / (double) clip.n);
    }

  tails.n = clip.n;
  vn_histogram_foreach (histogram, cause_find_tails, &tails);
  width = MAX (tails.high, 0) - MIN (tails.low, 0);
  if (width > 0 && plan->max - plan->min > VN_WIDE_FACTOR * width)
    return g_strdup_printf (_("A few outliers make the range %.0f times wider than 99.9 %% of the "
                              "values need."),
                            (plan->max - plan->min) / width);
  return NULL;
}

/**
 * vn_cause_find_origin:
 *
 * Returns: (transfer none) (nullable): the producer of the worst input, if that is nearly as bad as the
 *   output of @node; %NULL if the error arises in @node, or was not measured
 */
const VnNode *
vn_cause_find_origin (VnResult     *result,
                      const VnNode *node)
{
  const VnErrorRow *own;
  const VnNode *worst = NULL;
  double worst_db = INFINITY;

  g_return_val_if_fail (result != NULL && node != NULL, NULL);

  own = vn_result_get_node_error (result, node);
  for (guint i = 0; own != NULL && i < node->inputs->len; i++)
    {
      VnValue *input = vn_node_get_input (node, i);
      const VnErrorRow *row = input != NULL && input->producer != NULL && input->graph == node->graph
                              ? vn_result_get_node_error (result, input->producer) : NULL;

      if (row != NULL && row->sqnr_db < worst_db)
        {
          worst_db = row->sqnr_db;
          worst = input->producer;
        }
    }
  return worst != NULL && worst_db <= own->sqnr_db + VN_PASSED_ON_DB ? worst : NULL;
}

static char *
cause_describe_origin (VnResult     *result,
                       const VnNode *node)
{
  const VnNode *origin = vn_cause_find_origin (result, node);
  g_autofree char *label = origin != NULL ? vn_node_dup_label (origin) : NULL;

  return label != NULL ? g_strdup_printf (_("Passes on the error of %s."), label) : NULL;
}

static int
cause_compare_doubles (gconstpointer a,
                       gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return x < y ? -1 : x > y;
}

/* Whether the widest output channel of a weight is many times the middle one, while they share a scale. */
static gboolean
cause_is_weight_rough (VnResult     *result,
                       const VnNode *node)
{
  VnValue *weight = node->inputs->len > 1 ? vn_node_get_input (node, 1) : NULL;
  VnTensor *tensor = weight != NULL ? vn_value_get_constant (weight) : NULL;
  gsize n_channels, per_channel;
  g_autoptr(GArray) widths = NULL;

  if (result->recipe->per_channel || tensor == NULL || tensor->shape.rank < 2 ||
      tensor->dtype != VN_DTYPE_F32 || tensor->shape.dims[0] < 2 || tensor->n_elements == 0)
    return FALSE;
  n_channels = (gsize) tensor->shape.dims[0];
  per_channel = tensor->n_elements / n_channels;
  widths = g_array_sized_new (FALSE, FALSE, sizeof (double), (guint) n_channels);
  for (gsize c = 0; c < n_channels; c++)
    {
      double width = 0;

      for (gsize i = 0; i < per_channel; i++)
        width = MAX (width, fabs (vn_tensor_get_double (tensor, c * per_channel + i)));
      g_array_append_val (widths, width);
    }
  g_array_sort (widths, cause_compare_doubles);
  return g_array_index (widths, double, n_channels - 1) >
         VN_WIDE_FACTOR * g_array_index (widths, double, n_channels / 2);
}

/**
 * vn_cause_describe:
 * @result: a run
 * @node: of the model as opened
 *
 * Looks, in this order, for values that are no numbers, for a node left in float, for error that only comes
 * in from before, for a range that cuts off values, for one that outliers have widened, and for a weight
 * whose channels differ too much for one scale.
 *
 * Returns: (transfer full) (nullable): one sentence
 */
char *
vn_cause_describe (VnResult     *result,
                   const VnNode *node)
{
  const VnErrorRow *row;
  const VnTensorPlan *plan;
  const VnHistogram *histogram;
  char *text = NULL;

  g_return_val_if_fail (result != NULL, NULL);

  row = vn_result_get_node_error (result, node);
  plan = vn_result_get_node_plan (result, node);
  histogram = vn_result_get_node_histogram (result, node);
  if (row != NULL && row->n_bad > 0)
    return g_strdup_printf (ngettext ("%.0f value became NaN or infinite.", "%.0f values became NaN or infinite.",
                                      row->n_bad), (double) row->n_bad);
  if (row == NULL || !(row->sqnr_db < vn_metric_get_info (VN_METRIC_SQNR)->fine))
    return plan != NULL && !plan->quantized ? g_strdup (_("Not quantized.")) : NULL;

  text = cause_describe_origin (result, node);
  if (text == NULL && plan != NULL && plan->quantized && histogram != NULL)
    text = cause_describe_range (histogram, plan);
  if (text == NULL && plan != NULL && plan->quantized && cause_is_weight_rough (result, node))
    text = g_strdup (_("One scale for all channels of the weight is too coarse for some: try scales per "
                       "channel."));
  if (text == NULL && plan != NULL && !plan->quantized)
    text = g_strdup (_("Not quantized itself: the error comes from its inputs or weights."));
  return text;
}
