/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the rules of a diagnosis measure on a tensor. */
#include "diagnose-culprit.h"

#include "vn-memory.h"
#include "vn-thresholds.h"

#include <math.h>
#include <stdlib.h>

static int
culprit_compare_floats (gconstpointer a,
                        gconstpointer b)
{
  float x = *(const float *) a, y = *(const float *) b;

  return (x > y) - (x < y);
}

void
_vn_channel_widths_clear (VnChannelWidths *self)
{
  g_clear_pointer (&self->widths, g_free);
}

static void
culprit_find_small (VnChannelWidths *self)
{
  g_autofree float *sorted = vn_try_new (float, self->n, NULL);
  guint n = 0;

  if (sorted == NULL)
    return;
  for (guint c = 0; c < self->n; c++)
    if (self->widths[c] > 0)
      sorted[n++] = self->widths[c];
  qsort (sorted, n, sizeof *sorted, culprit_compare_floats);
  self->small = n > 0 ? (double) sorted[n / 4] : 0;
}

/* Operators that hand on each channel as large as it was. */
static gboolean
culprit_keeps_channels (const VnNode *node)
{
  static const char * const types[] = { "MaxPool", "AveragePool", "Relu", "LeakyRelu", "Clip", "Identity", "Resize", "Pad" };

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (vn_node_is (node, types[i]))
      return TRUE;
  return FALSE;
}

/*< private >
 * _vn_culprit_follow:
 * @self: an activation
 *
 * Channels are told apart where convolutions read and write: behind a pool, say.
 *
 * Returns: the tensor, or one behind it whose channels are as large and were told apart
 */
const VnValue *
_vn_culprit_follow (const VnCulprit *self)
{
  const VnValue *value;

  g_return_val_if_fail (self != NULL, NULL);

  value = self->value;
  for (guint depth = 0; depth < 4 && value->uses->len == 1 && !value->is_output; depth++)
    {
      const VnUse *use = &g_array_index (value->uses, VnUse, 0);

      if (use->index != 0 || !culprit_keeps_channels (use->node) || vn_node_get_output (use->node, 0) == NULL)
        break;
      value = vn_node_get_output (use->node, 0);
    }
  return value;
}

/*< private >
 * _vn_culprit_measure_channels:
 * @histogram: (nullable)
 *
 * Returns: whether the channels were told apart, and are several
 */
gboolean
_vn_culprit_measure_channels (const VnHistogram *histogram,
                              VnChannelWidths   *widths)
{
  const VnChannelRanges *channels = histogram != NULL ? &histogram->channels : NULL;

  g_return_val_if_fail (widths != NULL, FALSE);

  *widths = (VnChannelWidths) { 0 };
  if (channels == NULL || !vn_channel_ranges_are_known (channels) || channels->n < 2)
    return FALSE;
  widths->widths = vn_try_new (float, channels->n, NULL);
  if (widths->widths == NULL)
    return FALSE;
  widths->n = channels->n;
  for (guint c = 0; c < channels->n; c++)
    {
      widths->widths[c] = channels->low[c] <= channels->high[c] ? MAX (fabsf (channels->low[c]), fabsf (channels->high[c])) : 0;
      if (widths->widths[c] > widths->widths[widths->largest])
        widths->largest = c;
    }
  widths->width = (double) widths->widths[widths->largest];
  culprit_find_small (widths);
  return widths->width > 0;
}

/*< private >
 * _vn_culprit_get_step:
 *
 * Returns: its scale if it has one for all, else 0
 */
double
_vn_culprit_get_step (const VnCulprit *self)
{
  const VnTensorPlan *plan;

  g_return_val_if_fail (self != NULL, 0);

  plan = self->plan;
  return plan != NULL && plan->scale != NULL && plan->scale->n_elements == 1 && plan->factors == NULL
         ? (double) *(const float *) plan->scale->data : 0;
}

const VnHistogram *
_vn_culprit_get_histogram (const VnCulprit *self,
                           const VnValue   *value)
{
  g_return_val_if_fail (self != NULL, NULL);

  return value != NULL && self->result->stats != NULL ? vn_stats_get (self->result->stats, value->name) : NULL;
}

/*< private >
 * _vn_histogram_get_width:
 *
 * Returns: the largest absolute value; 0 if there was none
 */
double
_vn_histogram_get_width (const VnHistogram *self)
{
  return self != NULL && self->min <= self->max ? MAX (fabs ((double) self->min), fabs ((double) self->max)) : 0;
}

typedef struct { double sum, n; } Power;

static void
culprit_add_power (const VnBin *bin,
                   gpointer     data)
{
  Power *power = data;
  double middle = ((double) bin->lo + (double) bin->hi) / 2;

  power->sum += middle * middle * (double) bin->count;
  power->n += (double) bin->count;
}

/*< private >
 * _vn_histogram_get_power:
 *
 * Returns: the mean square
 */
double
_vn_histogram_get_power (const VnHistogram *self)
{
  Power power = { 0 };

  if (self != NULL)
    vn_histogram_foreach (self, culprit_add_power, &power);
  return power.n > 0 ? power.sum / power.n : 0;
}

/* The same of a product, whose weights are [channels, results], or turned. */
static double
culprit_get_product_width (const VnTensor *weight,
                           gboolean        turned,
                           guint           channel,
                           guint           n_channels)
{
  gsize n = (gsize) n_channels, rows = n > 0 ? weight->n_elements / n : 0;
  double width = 0;

  if (weight->shape.dims[turned ? 1 : 0] != (gint64) n_channels)
    return -1;
  for (gsize r = 0; r < rows; r++)
    width = MAX (width, fabs ((double) ((const float *) weight->data)[turned ? r * n + channel : channel * rows + r]));
  return width;
}

/*< private >
 * _vn_culprit_get_column_width:
 * @weight: of @reader
 * @channel: of what @reader reads first
 *
 * Returns: the largest absolute weight that @channel is multiplied with; -1 if that is not known
 */
double
_vn_culprit_get_column_width (const VnTensor *weight,
                              const VnNode   *reader,
                              guint           channel,
                              guint           n_channels)
{
  const gboolean is_conv = vn_node_is (reader, "Conv");
  gint64 group = is_conv ? vn_node_get_int (reader, "group", 1) : 1;
  gsize rows, columns, inner;
  double width = 0;

  if (weight->shape.rank == 2 && (vn_node_is (reader, "Gemm") || vn_node_is (reader, "MatMul")))
    return culprit_get_product_width (weight, vn_node_get_int (reader, "transB", 0) != 0, channel, n_channels);
  if (!is_conv || weight->shape.rank < 3 || weight->n_elements == 0 || n_channels % group != 0 ||
      weight->shape.dims[0] % group != 0 ||
      weight->shape.dims[1] != (gint64) n_channels / group)
    return -1;
  columns = (gsize) weight->shape.dims[1];
  rows = (gsize) weight->shape.dims[0] / (gsize) group;
  inner = weight->n_elements / ((gsize) weight->shape.dims[0] * columns);
  for (gsize r = 0; r < rows; r++)
    for (gsize i = 0; i < inner; i++)
      {
        gsize row = channel / columns * rows + r;

        width = MAX (width, fabs ((double) ((const float *) weight->data)[(row * columns + channel % columns) * inner + i]));
      }
  return width;
}

/* What the readers make of a channel at most; -1: not known. */
static double
culprit_get_importance (const VnValue *value,
                        guint          channel,
                        guint          n_channels)
{
  double importance = 0;

  for (guint u = 0; u < value->uses->len; u++)
    {
      const VnUse *use = &g_array_index (value->uses, VnUse, u);
      const VnValue *weight = use->index == 0 ? vn_node_get_input (use->node, 1) : NULL;
      VnTensor *constant = weight != NULL ? vn_value_get_constant (weight) : NULL;
      g_autoptr(VnTensor) aligned = constant != NULL && constant->dtype == VN_DTYPE_F32
                                    ? vn_tensor_get_aligned (constant, NULL) : NULL;
      double width = aligned != NULL ? _vn_culprit_get_column_width (aligned, use->node, channel, n_channels) : -1;

      if (width < 0)
        return -1;
      importance = MAX (importance, width);
    }
  return value->uses->len > 0 && !value->is_output ? importance : -1;
}

/*< private >
 * _vn_culprit_get_live_range:
 * @range: (out): of the channels whose values make a difference to what reads them
 *
 * Returns: whether the range of all is much wider
 */
gboolean
_vn_culprit_get_live_range (const VnCulprit *self,
                            VnRange         *range)
{
  g_auto(VnChannelWidths) channels = { 0 };
  g_autofree double *made = NULL;
  const VnValue *value;
  const VnHistogram *histogram;
  double most = 0;

  g_return_val_if_fail (self != NULL && range != NULL, FALSE);

  value = self->histogram != NULL ? _vn_culprit_follow (self) : NULL;
  histogram = _vn_culprit_get_histogram (self, value);
  if (!_vn_culprit_measure_channels (histogram, &channels))
    return FALSE;
  made = vn_try_new (double, channels.n, NULL);
  for (guint c = 0; made != NULL && c < channels.n; c++)
    {
      double importance = culprit_get_importance (value, c, channels.n);

      if (importance < 0)
        return FALSE;
      made[c] = importance * (double) channels.widths[c];
      most = MAX (most, made[c]);
    }
  *range = (VnRange) { 0, 0 };
  for (guint c = 0; made != NULL && c < channels.n; c++)
    if (made[c] > VN_DEAD_SHARE * most)
      {
        range->min = MIN (range->min, (double) histogram->channels.low[c]);
        range->max = MAX (range->max, (double) histogram->channels.high[c]);
      }
  return range->max > range->min && channels.width > VN_WIDE_FACTOR * MAX (range->max, -range->min);
}

/*< private >
 * _vn_culprit_get_bulk_range:
 * @range: (out): of all but the largest thousandth of the values, two at least
 *
 * Returns: whether the range of all is much wider
 */
gboolean
_vn_culprit_get_bulk_range (const VnCulprit *self,
                            VnRange         *range)
{
  const VnTensor *constant;
  g_autofree float *sorted = NULL;
  gsize n, left;

  g_return_val_if_fail (self != NULL && range != NULL, FALSE);

  constant = self->constant;
  n = constant != NULL ? constant->n_elements : 0;
  left = MAX (2, n / 1000);
  sorted = n > 8 * left ? vn_try_new (float, n, NULL) : NULL;
  if (sorted == NULL)
    return FALSE;
  for (gsize i = 0; i < n; i++)
    sorted[i] = fabsf (((const float *) constant->data)[i]);
  qsort (sorted, n, sizeof *sorted, culprit_compare_floats);
  range->max = (double) sorted[n - 1 - left];
  range->min = -range->max;
  return range->max > 0 && (double) sorted[n - 1] > VN_WIDE_FACTOR * range->max;
}
