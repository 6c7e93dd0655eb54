/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What a run of the main job gave, and which of its rows speaks for a node of the opened model. */

#include "vn-result.h"

/**
 * vn_result_new:
 *
 * Returns: (transfer full): an empty result; whoever makes it fills it before anybody else sees it
 */
VnResult *
vn_result_new (void)
{
  VnResult *self = g_new0 (VnResult, 1);

  g_atomic_ref_count_init (&self->ref);
  return self;
}

VnResult *
vn_result_ref (VnResult *self)
{
  g_atomic_ref_count_inc (&self->ref);
  return self;
}

void
vn_result_unref (VnResult *self)
{
  if (!g_atomic_ref_count_dec (&self->ref))
    return;
  g_clear_pointer (&self->source, vn_model_unref);
  g_clear_pointer (&self->prepared, vn_model_unref);
  g_clear_pointer (&self->quantized, vn_model_unref);
  g_clear_pointer (&self->edits, vn_edit_log_free);
  g_clear_pointer (&self->data, vn_data_spec_free);
  g_clear_pointer (&self->recipe, vn_recipe_free);
  g_clear_pointer (&self->stats, vn_stats_unref);
  g_clear_pointer (&self->plan, vn_quant_plan_unref);
  g_clear_pointer (&self->errors, vn_error_table_unref);
  g_clear_pointer (&self->value_names, g_hash_table_unref);
  g_clear_pointer (&self->notes, vn_notes_unref);
  g_clear_pointer (&self->timings, g_array_unref);
  g_free (self);
}

/**
 * vn_result_get_seconds:
 * @stage: (nullable): id of a stage of the run; %NULL: all of them
 *
 * Returns: how long that took; 0 if it was no part of the run
 */
double
vn_result_get_seconds (VnResult   *self,
                       const char *stage)
{
  double seconds = 0;

  g_return_val_if_fail (self != NULL, 0);

  for (guint i = 0; self->timings != NULL && i < self->timings->len; i++)
    {
      const VnTiming *timing = &g_array_index (self->timings, VnTiming, i);

      if (stage == NULL || g_str_equal (timing->id, stage))
        seconds += timing->seconds;
    }
  return seconds;
}

/* What a node that preparation removed went into, following the log as long as there is a next. */
static const char *
follow_edits (const VnResult *self,
              const char     *label)
{
  const char *at = label;

  for (guint i = 0; self->edits != NULL && i < vn_edit_log_get_n (self->edits); i++)
    {
      const VnEdit *edit = vn_edit_log_get (self->edits, i);

      if (edit->target != NULL && g_str_equal (edit->subject, at) && !g_str_equal (edit->target, at))
        at = edit->target;
    }
  return at;
}

/* Between an operator that is quantized and the clamp behind it nothing is rounded: there the clamp's output speaks. */
static const VnValue *
skip_to_rounded (const VnResult *self,
                 const VnValue  *value)
{
  const VnTensorPlan *row = self->plan != NULL ? vn_quant_plan_find (self->plan, value->name) : NULL;
  g_autofree char *label = value->producer != NULL ? vn_node_dup_label (value->producer) : NULL;
  const VnValue *next;

  if (row == NULL || row->quantized || label == NULL || value->is_output || value->uses->len != 1 ||
      !vn_quant_plan_is_node_quantized (self->plan, label))
    return value;
  next = vn_node_get_output (g_array_index (value->uses, VnUse, 0).node, 0);
  row = next != NULL ? vn_quant_plan_find (self->plan, next->name) : NULL;
  return row != NULL && row->quantized ? next : value;
}

/* The value of the prepared model that speaks for @node. */
static const char *
node_value_name (const VnResult *self,
                 const VnNode   *node)
{
  g_autofree char *label = NULL;
  VnNode *heir;

  for (guint i = 0; i < node->outputs->len; i++)
    {
      const VnValue *value = vn_node_get_output (node, i);
      const VnValue *prepared = value != NULL ? vn_graph_find_value (self->prepared->graph, value->name) : NULL;

      if (prepared != NULL)
        return skip_to_rounded (self, prepared)->name;
    }
  label = vn_node_dup_label (node);
  heir = vn_graph_find_node (self->prepared->graph, follow_edits (self, label));
  if (heir == NULL || vn_node_get_output (heir, 0) == NULL)
    return NULL;
  return skip_to_rounded (self, vn_node_get_output (heir, 0))->name;
}

/**
 * vn_result_get_node_error:
 * @source_node: of the model as opened
 *
 * Returns: (transfer none) (nullable): the row for the node's output, or for that of the node it was folded into
 */
const VnErrorRow *
vn_result_get_node_error (VnResult     *self,
                          const VnNode *source_node)
{
  const char *name = self->errors != NULL ? node_value_name (self, source_node) : NULL;

  return name != NULL ? vn_error_table_find (self->errors, name) : NULL;
}

const VnHistogram *
vn_result_get_node_histogram (VnResult     *self,
                              const VnNode *source_node)
{
  const char *name = self->stats != NULL ? node_value_name (self, source_node) : NULL;

  return name != NULL ? vn_stats_get (self->stats, name) : NULL;
}

const VnTensorPlan *
vn_result_get_node_plan (VnResult     *self,
                         const VnNode *source_node)
{
  const char *name = self->plan != NULL ? node_value_name (self, source_node) : NULL;

  return name != NULL ? vn_quant_plan_find (self->plan, name) : NULL;
}
