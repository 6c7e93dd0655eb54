/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A few samples run through the float network tell how large the numbers of its outputs are, slice by slice. Where sizes leave it open, the
 * graph tells which slices were joined. */
#include "vn-find-parts.h"

#include "slice-sizes.h"

#include "vn-output-look.h"
#include "vn-parallel.h"

/* Parts are as different in each sample as in all: more tell nothing new. */
#define MOST_SAMPLES 8u

typedef struct
{
  VnPlan       *plan;
  VnRunner     *runner;
  VnSliceSizes *sizes;      /* by output */
  VnOutputLook *reactions;
} Look;

static gboolean
find_parts_run (Look               *look,
                const VnChannelRun *run,
                guint               sample,
                GCancellable       *cancellable,
                GError            **error)
{
  guint n_inputs = vn_plan_get_n_inputs (look->plan), n_outputs = vn_plan_get_n_outputs (look->plan);
  g_autofree VnTensor **inputs = g_new0 (VnTensor *, n_inputs + 1), **outputs = g_new0 (VnTensor *, n_outputs + 1);
  GError *bad = NULL;
  gboolean good;

  if (!vn_dataset_load (run->dataset, sample, inputs, &bad))
    return vn_dataset_leave_out (run->dataset, sample, bad, run->notes, error);
  good = vn_runner_run (look->runner, inputs, outputs, cancellable, error);
  for (guint i = 0; i < n_outputs && good; i++)
    if (outputs[i] != NULL && !vn_tensor_is_container (outputs[i]))
      {
        vn_slice_sizes_add (&look->sizes[i], outputs[i]);
        vn_output_look_add (look->reactions, i, outputs[i]);
      }
  vn_tensor_clear_all (inputs, n_inputs);
  vn_tensor_clear_all (outputs, n_outputs);
  return good;
}

/* What joins the output: a Concat, behind which nothing but moves happens to it along its axis. */
static VnPartition *
find_parts_by_graph (const VnSliceSizes *sizes,
                     const VnValue      *output)
{
  const VnNode *node = output->producer;
  g_autofree guint *lengths = NULL;
  gint64 axis;

  while (node != NULL && vn_node_is (node, "Identity"))
    node = vn_node_get_input (node, 0)->producer;
  if (node == NULL || !vn_node_is (node, "Concat") || sizes->n_samples == 0)
    return NULL;
  axis = vn_node_get_int (node, "axis", 0);
  axis += axis < 0 ? sizes->shape.rank : 0;
  if (axis <= 0 || axis >= sizes->shape.rank)
    return NULL;
  lengths = g_new0 (guint, node->inputs->len + 1);
  for (guint i = 0; i < node->inputs->len; i++)
    {
      const VnShape *shape = &vn_node_get_input (node, i)->type.shape;

      if (shape->rank != sizes->shape.rank || shape->dims[axis] <= 0 || shape->dims[axis] > G_MAXINT)
        return NULL;
      lengths[i] = (guint) shape->dims[axis];
    }
  return vn_slice_sizes_split_at (sizes, (guint) axis, lengths, node->inputs->len);
}

/**
 * vn_find_parts:
 * @model: a float network
 * @run: samples, of which a few are looked at
 * @suspicions: (nullable): told where the outputs hardly depend on the samples
 *
 * Returns: (transfer full) (nullable): parts of its outputs, and of the tensors in front of them that hold the same slices; %NULL with an
 *   error if @model cannot be run
 */
VnParts *
vn_find_parts (VnModel             *model,
               const VnChannelRun  *run,
               VnNotes             *suspicions,
               GCancellable        *cancellable,
               GError             **error)
{
  VnPlanOptions options = { 0 };
  g_autoptr(VnParts) parts = NULL;
  g_autoptr(VnPlan) plan = NULL;
  g_autoptr(VnRunner) runner = NULL;
  g_autofree VnSliceSizes *sizes = NULL;
  g_autoptr(VnOutputLook) reactions = NULL;
  guint n, n_looked = 0;
  gboolean good = TRUE;

  g_return_val_if_fail (model != NULL && run != NULL, NULL);

  options = vn_plan_options_for_samples (run->shapes);
  options.ends = TRUE;
  options.most_weights = vn_plan_share_weights (model, 1);
  plan = vn_plan_new (model, &options, NULL, error);
  runner = plan != NULL ? vn_runner_new (plan, error) : NULL;
  if (runner == NULL)
    return NULL;
  n = vn_plan_get_n_outputs (plan);
  sizes = g_new0 (VnSliceSizes, n + 1);
  reactions = vn_output_look_new (n);
  vn_runner_set_threads (runner, run->n_threads > 0 ? run->n_threads : vn_parallel_default_threads ());
  for (guint s = 0; s < run->n_samples && n_looked < MOST_SAMPLES && good; s += MAX (run->n_samples / MOST_SAMPLES, 1), n_looked++)
    good = find_parts_run (&(Look) { plan, runner, sizes, reactions }, run, run->samples[s], cancellable, error);
  parts = good ? vn_parts_new () : NULL;
  for (guint i = 0; i < n; i++)
    {
      const VnValue *output = vn_plan_get_output (plan, i);
      VnPartition *found = good ? vn_slice_sizes_split (&sizes[i]) : NULL;

      if (found == NULL && good)
        found = find_parts_by_graph (&sizes[i], output);
      if (found != NULL)
        vn_parts_take (parts, output->name, found);
      vn_slice_sizes_clear (&sizes[i]);
    }
  if (good)
    {
      vn_parts_inherit (parts, model);
      vn_output_look_note (reactions, suspicions);
    }
  return g_steal_pointer (&parts);
}
