/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reasons that the nodes around a tensor tell: sums, joins, outputs that hold several things, noise that grows. */
#include "diagnose-culprit.h"

#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-thresholds.h"

#include <math.h>

/* ---- sums ---- */

static gboolean
diagnose_adds (const VnNode *node)
{
  return vn_node_is (node, "Add") || vn_node_is (node, "Sub") || vn_node_is (node, "Sum");
}

/* Of a tensor that is added to another one: what comes out. */
static double
diagnose_get_sum_width (const VnCulprit *culprit,
                        const VnNode    *node)
{
  const VnValue *result = node != NULL && diagnose_adds (node) ? vn_node_get_output (node, 0) : NULL;
  double width = result != NULL ? _vn_histogram_get_width (_vn_culprit_get_histogram (culprit, result)) : 0;

  /* a Relu behind it makes one node of both */
  if (width == 0 && result != NULL && result->uses->len == 1)
    {
      const VnNode *reader = g_array_index (result->uses, VnUse, 0).node;

      if (vn_node_is (reader, "Relu") || vn_node_is (reader, "Clip"))
        width = _vn_histogram_get_width (_vn_culprit_get_histogram (culprit, vn_node_get_output (reader, 0)));
    }
  return width;
}

char *
_vn_diagnose_cancellation (const VnCulprit *culprit)
{
  double own = _vn_histogram_get_width (culprit->histogram);

  for (guint i = 0; own > 0 && i < culprit->value->uses->len; i++)
    {
      const VnNode *node = g_array_index (culprit->value->uses, VnUse, i).node;
      double sum = diagnose_get_sum_width (culprit, node);
      g_autofree char *label = vn_node_dup_label (node);

      if (sum > 0 && own > VN_CANCEL_FACTOR * sum)
        return g_strdup_printf (_("It reaches %.3g, but %s cancels most of it against another input and outputs only "
                                  "%.3g: one step is %.2g of that."), own, label,
                                sum, _vn_culprit_get_step (culprit) / sum);
    }
  return NULL;
}

/* ---- inputs of unequal size ---- */

static char *
diagnose_join (const VnCulprit *culprit)
{
  const VnNode *node = culprit->value->producer;
  double own = _vn_histogram_get_width (culprit->histogram), least = INFINITY;

  if (node == NULL || !vn_node_is (node, "Concat"))
    return NULL;
  for (guint i = 0; i < node->inputs->len; i++)
    {
      double width = _vn_histogram_get_width (_vn_culprit_get_histogram (culprit, vn_node_get_input (node, i)));

      least = width > 0 ? MIN (least, width) : least;
    }
  if (!isfinite (least) || !(own > VN_UNEQUAL_FACTOR * least))
    return NULL;
  return g_strdup_printf (_("It concatenates tensors of which one reaches %.3g and another only %.3g: the smaller "
                            "spans only %.1f quantization steps."), own, least,
                          least / _vn_culprit_get_step (culprit));
}

/* What is added to a much larger tensor is lost between two of its steps. */
static char *
diagnose_addend (const VnCulprit *culprit)
{
  double own = _vn_histogram_get_width (culprit->histogram);

  for (guint i = 0; own > 0 && i < culprit->value->uses->len; i++)
    {
      const VnUse *use = &g_array_index (culprit->value->uses, VnUse, i);
      const VnValue *other = diagnose_adds (use->node) && use->node->inputs->len == 2
                             ? vn_node_get_input (use->node, 1 - use->index) : NULL;
      double width = other != NULL && !vn_value_is_constant (other)
                     ? _vn_histogram_get_width (_vn_culprit_get_histogram (culprit, other)) : 0;
      g_autofree char *label = vn_node_dup_label (use->node);

      if (width > 0 && own > VN_UNEQUAL_FACTOR * width)
        return g_strdup_printf (_("%s adds a small tensor to it: it reaches %.3g, the other only %.3g, which is %.1f "
                                  "of its steps."), label, own,
                                width, width / _vn_culprit_get_step (culprit));
    }
  return NULL;
}

char *
_vn_diagnose_unequal_inputs (const VnCulprit *culprit)
{
  char *text;

  if (culprit->histogram == NULL || _vn_culprit_get_step (culprit) <= 0)
    return NULL;
  text = diagnose_join (culprit);
  return text != NULL ? text : diagnose_addend (culprit);
}

/* ---- outputs ---- */

/*< private >
 * _vn_culprit_find_join:
 *
 * Returns: (transfer none) (nullable): what computes the numbers of @value, across nodes that only move them
 */
const VnNode *
_vn_culprit_find_join (const VnValue *value)
{
  static const char * const views[] = { "Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze", "Identity" };
  const VnNode *node;

  g_return_val_if_fail (value != NULL, NULL);

  node = value->producer;
  for (guint depth = 0; node != NULL && depth < 8; depth++)
    {
      gboolean view = FALSE;

      for (guint i = 0; i < G_N_ELEMENTS (views); i++)
        view |= vn_node_is (node, views[i]);
      if (!view)
        break;
      node = vn_node_get_input (node, 0) != NULL ? vn_node_get_input (node, 0)->producer : NULL;
    }
  return node;
}

char *
_vn_diagnose_mixed_output (const VnCulprit *culprit)
{
  const VnNode *node = culprit->constant == NULL && culprit->value->is_output ? _vn_culprit_find_join (culprit->value) : NULL;
  double step = _vn_culprit_get_step (culprit), least = INFINITY, largest = 0, db;
  g_autofree char *left = NULL;

  if (node == NULL || !vn_node_is (node, "Concat") || step <= 0)
    return NULL;
  for (guint i = 0; i < node->inputs->len; i++)
    {
      double power = _vn_histogram_get_power (_vn_culprit_get_histogram (culprit, vn_node_get_input (node, i)));

      least = power > 0 ? MIN (least, power) : least;
      largest = MAX (largest, power);
    }
  if (!isfinite (least) || !(largest > VN_MIXED_FACTOR * VN_MIXED_FACTOR * least))
    return NULL;
  db = 10 * log10 (12 * least / (step * step));
  if (db > VN_MIXED_DB)
    return NULL;
  left = vn_format_decimals (db, 1);
  return g_strdup_printf (_("This output mixes values of about %.3g and about %.3g with a single step of %.3g: the "
                            "small ones keep only %s dB."),
                          sqrt (largest), sqrt (least), step, left);
}

/* ---- what is left ---- */

char *
_vn_diagnose_noise_gain (const VnCulprit *culprit)
{
  const VnContribution *item = culprit->contribution;
  double gain = item != NULL ? item->local_db - item->alone_db : 0;
  g_autofree char *here = NULL, *there = NULL, *less = NULL;

  if (!(gain > VN_GAIN_DB))
    return NULL;
  here = vn_format_decimals (item->local_db, 1);
  there = vn_format_decimals (item->alone_db, 1);
  less = vn_format_decimals (gain, 1);
  return g_strdup_printf (_("The downstream network amplifies noise: %s dB here become %s dB at the outputs, %s dB less."), here,
                          there, less);
}

char *
_vn_diagnose_rounding (const VnCulprit *culprit)
{
  g_autofree char *db = NULL;

  if (culprit->contribution == NULL)
    return NULL;
  db = vn_format_decimals (culprit->contribution->local_db, 1);
  return g_strdup_printf (_("No specific cause: rounding error alone leaves %s dB."), db);
}
