/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reasons that the values of a tensor tell, all of them together: clipping, outliers, levels that are few or unused. */
#include "diagnose-culprit.h"

#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-thresholds.h"

#include <math.h>

/* ---- few levels ---- */

char *
_vn_diagnose_few_levels (const VnCulprit *culprit)
{
  guint bits = vn_dtype_is_integer (culprit->plan->dtype) ? (guint) vn_dtype_get_bits (culprit->plan->dtype) : 8;

  if (bits >= 8)
    return NULL;
  return g_strdup_printf (_("It has only %u levels instead of the 256 of 8 bits."), 1u << bits);
}

/* ---- clipping ---- */

typedef struct
{
  double  min, max;         /* of the range, with a step of room */
  guint64 n, outside;
  double  power, lost;
} Clip;

static void
diagnose_count_outside (const VnBin *bin,
                        gpointer     data)
{
  Clip *clip = data;
  double middle = ((double) bin->lo + (double) bin->hi) / 2, over = 0;

  clip->n += bin->count;
  clip->power += middle * middle * (double) bin->count;
  if ((double) bin->lo > clip->max)
    over = middle - clip->max;
  else if ((double) bin->hi < clip->min)
    over = clip->min - middle;
  clip->outside += over > 0 ? bin->count : 0;
  clip->lost += over * over * (double) bin->count;
}

/* The range that the integers cover, which is that of the plan but for rounding. */
static gboolean
diagnose_get_levels (const VnCulprit *culprit,
                     VnRange         *range)
{
  const VnTensorPlan *plan = culprit->plan;
  double step = _vn_culprit_get_step (culprit), zero;
  gint64 qmin, qmax;

  if (step <= 0 || !vn_dtype_is_integer (plan->dtype) || plan->zero_point == NULL)
    return FALSE;
  vn_dtype_integer_range (plan->dtype, &qmin, &qmax);
  zero = (double) vn_tensor_get_s64 (plan->zero_point, 0);
  *range = (VnRange) { ((double) qmin - zero) * step, ((double) qmax - zero) * step };
  return TRUE;
}

/* The values that count: a Relu or Clip behind a tensor throws away those outside its own range, whatever the integers hold. */
static const VnHistogram *
diagnose_find_wanted (const VnCulprit *culprit)
{
  const VnValue *value = culprit->value;
  const VnUse *use = value != NULL && value->uses->len == 1 && !value->is_output ? &g_array_index (value->uses, VnUse, 0) : NULL;

  if (use == NULL || use->index != 0 || (!vn_node_is (use->node, "Relu") && !vn_node_is (use->node, "Clip")))
    return culprit->histogram;
  return _vn_culprit_get_histogram (culprit, vn_node_get_output (use->node, 0));
}

char *
_vn_diagnose_clipping (const VnCulprit *culprit)
{
  const VnHistogram *wanted = diagnose_find_wanted (culprit);
  VnRange levels;
  Clip clip = { 0 };
  double step = _vn_culprit_get_step (culprit);
  g_autofree char *range = NULL;
  g_autofree char *seen = NULL;

  if (wanted == NULL || !diagnose_get_levels (culprit, &levels))
    return NULL;
  clip.min = levels.min - step;
  clip.max = levels.max + step;
  vn_histogram_foreach (wanted, diagnose_count_outside, &clip);
  if (clip.n == 0 || (!((double) clip.outside > VN_CLIPPED_SHARE * (double) clip.n) &&
                      !(clip.lost > VN_CLIPPED_POWER * clip.power)))
    return NULL;
  range = vn_format_interval (levels.min, levels.max);
  seen = vn_format_interval ((double) wanted->min, (double) wanted->max);
  return g_strdup_printf (_("The range %s clips %.2g %% of the values, which span %s."), range,
                          100 * (double) clip.outside / (double) clip.n, seen);
}

/* ---- outliers ---- */

typedef struct
{
  guint64 n, seen;
  double  low, high;
} Tails;

static void
diagnose_find_tails (const VnBin *bin,
                     gpointer     data)
{
  Tails *tails = data;
  double before = (double) tails->seen / (double) tails->n;

  tails->seen += bin->count;
  if (before <= VN_TAIL_SHARE)
    tails->low = (double) bin->lo;
  if (before <= 1 - VN_TAIL_SHARE)
    tails->high = (double) bin->hi;
}

static void
diagnose_count (const VnBin *bin,
                gpointer     data)
{
  *(guint64 *) data += bin->count;
}

char *
_vn_diagnose_outliers (const VnCulprit *culprit)
{
  Tails tails = { 0 };
  VnRange levels;
  double width;

  if (culprit->histogram == NULL || !diagnose_get_levels (culprit, &levels))
    return NULL;
  vn_histogram_foreach (culprit->histogram, diagnose_count, &tails.n);
  if (tails.n == 0)
    return NULL;
  vn_histogram_foreach (culprit->histogram, diagnose_find_tails, &tails);
  width = MAX (tails.high, 0) - MIN (tails.low, 0);
  if (!(width > 0) || !(levels.max - levels.min > VN_WIDE_FACTOR * width))
    return NULL;
  return g_strdup_printf (_("A few outliers make the range %.0f times wider than 99.9 %% of the values need."),
                          (levels.max - levels.min) / width);
}

/* ---- levels that no value uses ---- */

/* What all values have in common multiplies what rounding has done to the weights. */
static char *
diagnose_offset_of_input (const VnCulprit *culprit)
{
  const VnValue *input = culprit->node != NULL ? vn_node_get_input (culprit->node, 0) : NULL;
  const VnHistogram *histogram = _vn_culprit_get_histogram (culprit, input);
  double width = _vn_histogram_get_width (histogram);
  g_autofree char *seen = NULL;

  if (culprit->plan->role != VN_TENSOR_WEIGHT || histogram == NULL || histogram->n_zero > 0 ||
      !(histogram->min < histogram->max) ||
      !((double) histogram->max - (double) histogram->min < VN_OFFSET_SHARE * width))
    return NULL;
  seen = vn_format_interval ((double) histogram->min, (double) histogram->max);
  return g_strdup_printf (_("The values it multiplies span %s: their common offset multiplies the rounding error of "
                            "the weights."), seen);
}

char *
_vn_diagnose_wasted_range (const VnCulprit *culprit)
{
  const VnHistogram *histogram = culprit->histogram;
  VnRange levels;
  g_autofree char *range = NULL;
  g_autofree char *seen = NULL;
  double used;

  if (culprit->constant != NULL)
    return diagnose_offset_of_input (culprit);
  if (histogram == NULL || !(histogram->min < histogram->max) || !diagnose_get_levels (culprit, &levels))
    return NULL;
  used = ((double) histogram->max - (double) histogram->min) / (levels.max - levels.min);
  if (histogram->n_zero > 0)   /* which needs a level of its own */
    used = (MAX ((double) histogram->max, 0) - MIN ((double) histogram->min, 0)) / (levels.max - levels.min);
  if (!(used < VN_USED_SHARE))
    return NULL;
  range = vn_format_interval (levels.min, levels.max);
  seen = vn_format_interval ((double) histogram->min, (double) histogram->max);
  return g_strdup_printf (_("The values span %s and use only %.0f %% of the levels, which cover %s."), seen, 100 * used, range);
}

/* ---- gates ---- */

char *
_vn_diagnose_gate_range (const VnCulprit *culprit)
{
  const VnHistogram *histogram = culprit->histogram;
  double width = _vn_histogram_get_width (histogram);
  gboolean gate = FALSE;

  if (culprit->result->recipe->limit_gates || width <= VN_GATE_REACH)
    return NULL;
  for (guint i = 0; i < culprit->value->uses->len; i++)
    {
      const VnNode *reader = g_array_index (culprit->value->uses, VnUse, i).node;

      if (!vn_node_is (reader, "Sigmoid") && !vn_node_is (reader, "HardSigmoid"))
        return NULL;
      gate = TRUE;
    }
  if (!gate)
    return NULL;
  return g_strdup_printf (_("The input of the sigmoid reaches %.3g, but nothing beyond %.0f changes its output: one "
                            "step is %.3g."), width,
                          VN_GATE_REACH / 4, _vn_culprit_get_step (culprit));
}

/* ---- attention ---- */

/* A step multiplies what Softmax makes of a number by e to the step: masks of -10000 leave nothing of the scores beside them. */
char *
_vn_diagnose_softmax_range (const VnCulprit *culprit)
{
  double step = _vn_culprit_get_step (culprit);
  g_autofree char *seen = NULL;
  gboolean softmax = FALSE;

  for (guint i = 0; i < culprit->value->uses->len; i++)
    {
      const VnNode *reader = g_array_index (culprit->value->uses, VnUse, i).node;

      softmax = softmax || vn_node_is (reader, "Softmax") || vn_node_is (reader, "LogSoftmax");
    }
  if (!softmax || culprit->histogram == NULL || !(step > VN_SOFTMAX_STEP))
    return NULL;
  seen = vn_format_interval ((double) culprit->histogram->min, (double) culprit->histogram->max);
  return g_strdup_printf (_("Values lie in %s, as where a mask is added: one step of %.3g changes the Softmax output "
                            "by a factor of %.3g."), seen, step,
                          exp (MIN (step, 100)));
}
