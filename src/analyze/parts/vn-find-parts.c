/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A few samples run through the float network tell how large the numbers of its outputs are, slice by slice. Where sizes leave it
 * open, the graph tells which slices were joined. */
#include "vn-find-parts.h"

#include "slice-sizes.h"

#include "vn-output-look.h"
#include "vn-plan.h"
#include "vn-sample-loop.h"

/* Parts are as different in each sample as in all: more tell nothing new. */
#define MOST_SAMPLES 8u

typedef struct
{
  VnPlan       *plan;
  VnSliceSizes *sizes;      /* by output */
  VnOutputLook *reactions;
} Look;

static gpointer
find_parts_start (guint      n_inside,
                  gpointer   data,
                  GError   **error)
{
  return vn_sample_runner_new (((Look *) data)->plan, n_inside, NULL, NULL, error);
}

static gboolean
find_parts_scan (gpointer       runner,
                 guint          item,
                 VnTensor     **inputs,
                 gpointer       data,
                 GCancellable  *cancellable,
                 GError       **error)
{
  Look *look = data;
  guint n = vn_plan_get_n_outputs (look->plan);
  g_autofree VnTensor **outputs = g_new0 (VnTensor *, n + 1);
  gboolean good = vn_runner_run (runner, inputs, outputs, cancellable, error);

  for (guint i = 0; i < n && good; i++)
    if (outputs[i] != NULL && !vn_tensor_is_container (outputs[i]))
      {
        vn_slice_sizes_add (&look->sizes[i], outputs[i]);
        vn_output_look_add (look->reactions, i, outputs[i]);
      }
  vn_tensor_clear_all (outputs, n);
  return good;
}

/* Sums of sizes are the same bits only in the order of the samples. */
static gboolean
find_parts_look (Look             *look,
                 const VnSamples  *samples,
                 GCancellable     *cancellable,
                 GError          **error)
{
  static const VnSampleFuncs funcs = { find_parts_start, find_parts_scan, vn_sample_runner_stop };
  g_autoptr(GArray) few = g_array_new (FALSE, FALSE, sizeof (guint));
  VnSamples looked_at = *samples;

  for (guint s = 0; s < samples->n && few->len < MOST_SAMPLES; s += MAX (samples->n / MOST_SAMPLES, 1))
    g_array_append_val (few, samples->indices[s]);
  looked_at.indices = (const guint *) (gpointer) few->data;
  looked_at.n = few->len;
  looked_at.progress = NULL;
  return vn_samples_each (&looked_at, &(VnSampleOptions) { .plans = &look->plan, .n_plans = 1, .in_turn = TRUE }, &funcs, look,
                          cancellable, error);
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
 * @samples: of which a few are looked at
 * @suspicions: (nullable): told where the outputs hardly depend on the samples
 *
 * Returns: (transfer full) (nullable): parts of its outputs, and of the tensors in front of them that hold the same slices; %NULL
 *   with an error if @model cannot be run
 */
VnParts *
vn_find_parts (VnModel          *model,
               const VnSamples  *samples,
               VnNotes          *suspicions,
               GCancellable     *cancellable,
               GError          **error)
{
  VnPlanOptions options = { 0 };
  g_autoptr(VnParts) parts = NULL;
  g_autoptr(VnPlan) plan = NULL;
  g_autofree VnSliceSizes *sizes = NULL;
  g_autoptr(VnOutputLook) reactions = NULL;
  guint n;
  gboolean good;

  g_return_val_if_fail (model != NULL && samples != NULL, NULL);

  options = vn_plan_options_for_samples (samples->shapes);
  options.ends = TRUE;
  options.most_weights = vn_plan_share_weights (model, 1);
  plan = vn_plan_new (model, &options, NULL, error);
  if (plan == NULL)
    return NULL;
  n = vn_plan_get_n_outputs (plan);
  sizes = g_new0 (VnSliceSizes, n + 1);
  reactions = vn_output_look_new (n);
  good = find_parts_look (&(Look) { plan, sizes, reactions }, samples, cancellable, error);
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
