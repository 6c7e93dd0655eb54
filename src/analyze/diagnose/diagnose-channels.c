/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reasons that the channels of an activation tell, beside each other. */
#include "diagnose-culprit.h"

#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-thresholds.h"

#include <math.h>

char *
_vn_diagnose_dead_channel (const VnCulprit *culprit)
{
  VnRange live;
  double width = _vn_histogram_get_width (culprit->histogram), step = _vn_culprit_get_step (culprit);

  if (step <= 0 || !_vn_culprit_get_live_range (culprit, &live) || !(width < 300 * step))   /* else the range leaves it out */
    return NULL;
  return g_strdup_printf (_("Channels that hardly affect the consumers reach %.3g, the others %.3g: %.0f times less."), width,
                          MAX (live.max, -live.min), width / MAX (live.max, -live.min));
}

/* ---- channels of different size ---- */

static char *
diagnose_spread_of_activation (const VnCulprit *culprit)
{
  g_auto(VnChannelWidths) channels = { 0 };
  double step = _vn_culprit_get_step (culprit);
  const VnHistogram *histogram = culprit->histogram;

  if (histogram != NULL && !vn_channel_ranges_are_known (&histogram->channels))
    histogram = _vn_culprit_get_histogram (culprit, _vn_culprit_follow (culprit));
  if (step <= 0 || !_vn_culprit_measure_channels (histogram, &channels) || !(channels.width > VN_CHANNEL_FACTOR * channels.small))
    return NULL;
  return g_strdup_printf (_("Channel %u reaches %.3g, but a quarter of the %u channels stay within %.3g: %.3g times "
                            "less, only %.1f quantization steps."),
                          channels.largest, channels.width, channels.n, channels.small, channels.width / channels.small,
                          channels.small / step);
}

/* The scale of what a large channel is multiplied with. */
static double
diagnose_get_coarsest_step (const VnTensorPlan *plan)
{
  double step = 0;

  for (gsize i = 0; i < plan->scale->n_elements; i++)
    step = MAX (step, (double) ((const float *) plan->scale->data)[i]);
  return step;
}

/* A large channel has small weights, which are rounded as if it were a small one. */
static char *
diagnose_spread_of_weight (const VnCulprit *culprit)
{
  const VnNode *node = culprit->node;
  const VnValue *input = node != NULL ? vn_node_get_input (node, 0) : NULL;
  g_auto(VnChannelWidths) channels = { 0 };
  double step = diagnose_get_coarsest_step (culprit->plan);
  guint n_small = 0;

  if (input == NULL || vn_node_get_int (node, "group", 1) != 1 ||
      !_vn_culprit_measure_channels (_vn_culprit_get_histogram (culprit, input), &channels) ||
      !(channels.width > VN_CHANNEL_FACTOR * channels.small))
    return NULL;
  for (guint c = 0; c < channels.n; c++)
    if ((double) channels.widths[c] > VN_CHANNEL_FACTOR * channels.small)
      {
        double width = _vn_culprit_get_column_width (culprit->constant, node, c, channels.n);

        n_small += width >= 0 && width < VN_CHANNEL_FACTOR * step;
      }
  if (n_small == 0)
    return NULL;
  return g_strdup_printf (ngettext ("%u input channel is up to %.3g times larger than the others, and its weights "
                                    "span only a few steps.",
                                    "%u input channels are up to %.3g times larger than the others, and their weights "
                                    "span only a few steps.",
                                    n_small), n_small, channels.width / channels.small);
}

char *
_vn_diagnose_channel_spread (const VnCulprit *culprit)
{
  if (culprit->constant != NULL)
    return culprit->plan->role == VN_TENSOR_WEIGHT ? diagnose_spread_of_weight (culprit) : NULL;
  return diagnose_spread_of_activation (culprit);
}
