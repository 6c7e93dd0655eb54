/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Goes through the tensors that cost most, and asks the rules of vn-reasons.def about each. */
#include "vn-diagnose.h"

#include "diagnose-culprit.h"

#include "vn-noise-gain.h"
#include "vn-thresholds.h"

#include <math.h>
#include <string.h>

/* As many tensors are looked at, and as many reasons of one are told. */
#define MAX_CULPRITS 20u
#define MAX_REASONS  3u

typedef char *(*Rule) (const VnCulprit *culprit);

static const Rule rules[VN_N_REASONS] = {
#define VN_REASON(SYMBOL, function, id, scope, cures, title) _vn_diagnose_##function,
#include "vn-reasons.def"
#undef VN_REASON
};

/* ---- what is looked at ---- */

static const VnNode *
diagnose_find_node (const VnGraph *graph,
                    const char    *label)
{
  const VnNode *named = vn_graph_find_node (graph, label);
  const char *number = named == NULL ? strrchr (label, '#') : NULL;
  guint64 index = number != NULL ? g_ascii_strtoull (number + 1, NULL, 10) : G_MAXUINT64;

  if (named != NULL)
    return named;
  for (guint64 i = index > 0 ? index - 1 : 0; index != G_MAXUINT64 && i <= index + 1 && i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, (guint) i);
      g_autofree char *other = vn_node_dup_label (node);

      if (g_str_equal (label, other))
        return node;
    }
  return NULL;
}

/* A bias stands under a name of its own where several layers share one. */
static const VnValue *
diagnose_find_bias (const VnNode *node)
{
  return node != NULL ? vn_node_get_input (node, 2) : NULL;
}

static gboolean
diagnose_look_at (VnRun                *result,
                  const char           *name,
                  const VnContribution *contribution,
                  VnCulprit            *culprit)
{
  const VnGraph *graph = result->prepared->graph;
  const VnValue *value = vn_graph_find_value (graph, name);
  const VnTensor *constant;

  *culprit = (VnCulprit) { .result = result, .contribution = contribution, .value = value,
                           .plan = vn_quant_plan_find (result->plan, name) };
  if (culprit->plan == NULL || !culprit->plan->quantized || culprit->plan->scale == NULL)
    return FALSE;
  if (value != NULL)
    culprit->node = value->producer != NULL ? value->producer : value->uses->len > 0
                    ? g_array_index (value->uses, VnUse, 0).node : NULL;
  if (culprit->plan->role == VN_TENSOR_BIAS && contribution != NULL)
    {
      culprit->node = diagnose_find_node (graph, contribution->node);
      culprit->value = value != NULL ? value : diagnose_find_bias (culprit->node);
    }
  if (culprit->value == NULL)
    return FALSE;
  constant = vn_value_get_constant (culprit->value);
  if (constant != NULL && constant->dtype == VN_DTYPE_F32)
    culprit->constant = vn_tensor_get_aligned ((VnTensor *) constant, NULL);
  else if (culprit->plan->role == VN_TENSOR_ACTIVATION)
    culprit->histogram = vn_stats_get (result->stats, culprit->value->name);
  return TRUE;
}

static void
diagnose_look_away (VnCulprit *culprit)
{
  g_clear_pointer (&culprit->constant, vn_tensor_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (VnCulprit, diagnose_look_away)

/* ---- asking ---- */

static void
diagnose_add (VnDiagnosis     *self,
              const VnCulprit *culprit,
              guint            rank,
              VnReason         reason,
              char            *text)
{
  const VnContribution *item = culprit->contribution;
  VnFinding finding = { .rank = rank, .reason = reason, .text = text, .share = item != NULL ? item->share : 0,
                        .role = item != NULL ? item->role : VN_TENSOR_ACTIVATION,
                        .unfit = _vn_culprit_find_unfit (culprit),
                        .tensor = g_strdup (item != NULL ? item->name : ""), .node = g_strdup (item != NULL ? item->node : "") };

  vn_diagnosis_add (self, &finding);
}

static void
diagnose_run (VnDiagnosis *self,
              VnRun       *result)
{
  VnCulprit run = { .result = result };

  for (guint r = 0; r < VN_N_REASONS; r++)
    if (vn_reason_get_scope ((VnReason) r) == VN_SCOPE_RUN)
      {
        char *text = rules[r] (&run);

        if (text != NULL)
          diagnose_add (self, &run, 0, (VnReason) r, text);
      }
}

static void
diagnose_network (VnDiagnosis *self,
                  VnRun       *result)
{
  VnCulprit network = { .result = result };
  char *text = vn_noise_gain_dup_text (vn_contributions_get_noise_gain (result->contributions));

  if (text != NULL)
    diagnose_add (self, &network, 0, VN_REASON_NOISE_GAIN, text);
}

static void
diagnose_culprit (VnDiagnosis     *self,
                  const VnCulprit *culprit,
                  guint            rank)
{
  guint n = 0;

  for (guint r = 0; r < VN_N_REASONS && n < MAX_REASONS; r++)
    {
      VnReasonScope scope = vn_reason_get_scope ((VnReason) r);
      gboolean wanted = scope == VN_SCOPE_TENSOR || scope == VN_SCOPE_ASIDE || (scope == VN_SCOPE_OTHERWISE && n == 0);
      char *text = wanted ? rules[r] (culprit) : NULL;

      if (text == NULL)
        continue;
      diagnose_add (self, culprit, rank, (VnReason) r, text);
      n++;
    }
}

/* An output that holds numbers of different size hides what it costs the small ones: such come first.
 *
 * Returns: how many there are */
static guint
diagnose_rank (VnRun  *result,
               GArray *order)
{
  guint n_mixed = 0;

  for (guint i = 0; i < order->len; i++)
    {
      guint at = g_array_index (order, guint, i);
      const VnContribution *item = vn_contributions_get (result->contributions, at);
      g_auto(VnCulprit) culprit = { 0 };
      g_autofree char *text = NULL;

      if (item->role != VN_TENSOR_ACTIVATION || !diagnose_look_at (result, item->name, item, &culprit) ||
          (text = _vn_diagnose_mixed_output (&culprit)) == NULL)
        continue;
      g_array_remove_index (order, i);
      g_array_insert_val (order, n_mixed, at);
      n_mixed++;
    }
  return n_mixed;
}

/* Whether statistics tell something of a tensor, beyond that it costs something. */
static gboolean
diagnose_stands_out (VnRun                *result,
                     const VnContribution *item)
{
  g_auto(VnCulprit) culprit = { 0 };

  if (!diagnose_look_at (result, item->name, item, &culprit))
    return FALSE;
  for (guint r = 0; r < VN_N_REASONS; r++)
    {
      g_autofree char *text = vn_reason_get_scope ((VnReason) r) == VN_SCOPE_TENSOR ? rules[r] (&culprit) : NULL;

      if (text != NULL)
        return TRUE;
    }
  return FALSE;
}

/* Shares of few samples may be so uncertain that they do not say which of two tensors costs more: then the one with a reason
 * does. */
static void
diagnose_rank_uncertain (VnRun  *result,
                         GArray *order,
                         guint   first)
{
  guint n = MIN (order->len, MAX_CULPRITS);
  gboolean stands_out[MAX_CULPRITS] = { FALSE };

  for (guint i = first; i < n; i++)
    {
      guint at = g_array_index (order, guint, i), to = i;
      const VnContribution *item = vn_contributions_get (result->contributions, at);

      stands_out[i] = item->share >= VN_SHARE_COUNTS && diagnose_stands_out (result, item);
      while (stands_out[i] && to > first && !stands_out[to - 1])
        {
          const VnContribution *before = vn_contributions_get (result->contributions, g_array_index (order, guint, to - 1));

          if (!(before->share - item->share <= hypot (before->share_error, item->share_error)))
            break;
          to--;
        }
      if (to == i)
        continue;
      g_array_remove_index (order, i);
      g_array_insert_val (order, to, at);
      memmove (&stands_out[to + 1], &stands_out[to], (i - to) * sizeof *stands_out);
      stands_out[to] = TRUE;
    }
}

/**
 * vn_diagnose:
 * @result: a run
 *
 * Finds reasons of the run, and of the tensors that cost most if that was measured.
 *
 * Returns: (transfer full): what was found
 */
VnDiagnosis *
vn_diagnose (VnRun *result)
{
  VnDiagnosis *self;
  g_autoptr(GArray) order = NULL;
  guint n_mixed;

  g_return_val_if_fail (result != NULL && result->prepared != NULL && result->plan != NULL, NULL);

  self = vn_diagnosis_new_empty ();
  diagnose_run (self, result);
  if (result->contributions == NULL)
    return self;
  diagnose_network (self, result);
  order = vn_contributions_sort (result->contributions);
  n_mixed = diagnose_rank (result, order);
  diagnose_rank_uncertain (result, order, n_mixed);
  for (guint i = 0; i < MIN (order->len, MAX_CULPRITS); i++)
    {
      const VnContribution *item = vn_contributions_get (result->contributions, g_array_index (order, guint, i));
      g_auto(VnCulprit) culprit = { 0 };

      if ((i < n_mixed || item->share >= VN_SHARE_COUNTS) && diagnose_look_at (result, item->name, item, &culprit))
        diagnose_culprit (self, &culprit, i + 1);
    }
  return self;
}

/**
 * vn_diagnose_tensor:
 * @result: a run
 * @name: of a value of the prepared network
 * @reason: (out) (optional): which it is
 *
 * Returns: (transfer full) (nullable): the first reason that its statistics tell, a sentence; %NULL if nothing stands out
 */
char *
vn_diagnose_tensor (VnRun      *result,
                    const char *name,
                    VnReason   *reason)
{
  g_auto(VnCulprit) culprit = { 0 };

  g_return_val_if_fail (result != NULL && name != NULL, NULL);

  if (result->plan == NULL || result->prepared == NULL || !diagnose_look_at (result, name, NULL, &culprit))
    return NULL;
  for (guint r = 0; r < VN_N_REASONS; r++)
    {
      char *text = vn_reason_get_scope ((VnReason) r) == VN_SCOPE_TENSOR ? rules[r] (&culprit) : NULL;

      if (text == NULL)
        continue;
      if (reason != NULL)
        *reason = (VnReason) r;
      return text;
    }
  return NULL;
}

/**
 * vn_diagnose_live_range:
 * @result: a run
 * @name: of a value of the prepared network
 * @range: (out): of an activation, what those of its channels hold that something depends on; of a weight, all but its few
 *   largest values
 *
 * Returns: whether that is less than the whole
 */
gboolean
vn_diagnose_live_range (VnRun      *result,
                        const char *name,
                        VnRange    *range)
{
  g_auto(VnCulprit) culprit = { 0 };

  g_return_val_if_fail (result != NULL && name != NULL && range != NULL, FALSE);

  if (!diagnose_look_at (result, name, NULL, &culprit))
    return FALSE;
  return culprit.constant != NULL ? _vn_culprit_get_bulk_range (&culprit, range) : _vn_culprit_get_live_range (&culprit, range);
}
