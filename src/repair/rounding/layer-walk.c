/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A network that runs once on some samples, with stops on the way. A stop is a few values that somebody wants to see; what they
 * are computed from runs before it, everything else behind. Values that are computed before a stop and read behind it are kept
 * (kept-values.h), and what runs next is the network with these as inputs: nodes whose results nobody reads any more do not run.
 * What cannot be kept, as it is constant, a sequence or of strings, is computed anew: that changes time, and no result. */
#include "layer-walk.h"

#include "kept-values.h"

#include "vn-error.h"
#include "vn-graph-edit.h"
#include "vn-i18n.h"
#include "vn-moe.h"
#include "vn-plan-info.h"
#include "vn-sample-loop.h"

#define NEVER G_MAXUINT

struct _VnLayerWalk
{
  const VnRepairSamples *samples;
  VnModel      *model;
  GPtrArray    *stops;        /* of arrays of names */
  VnKeptValues *kept;
  guint        *first;        /* by node: the stop that it runs before; NEVER */
  guint        *until;        /* by value: the last stop that something behind reads it; 0: none */
  gboolean     *varies;       /* by value: whether it depends on an input */
  /* before one stop: */
  guint         stop;
  gboolean      was_run;      /* on all samples */
  VnPlan       *plan;
  GPtrArray    *taps;         /* of VnValue of the plan's model */
  GArray       *tap_reads;    /* of int: which of the stop's values it is; -1: one to be kept */
  GPtrArray    *fed;          /* of names: kept values, in the order of the inputs that stand for them */
  guint         n_given;      /* inputs of the network itself */
  /* on one sample: */
  guint         sample;
  VnTensor    **reads;
  GError       *error;
};

/**
 * vn_layer_walk_new:
 * @samples: what the network runs on; must outlive the walk
 * @most_memory: bytes of values that are kept in memory
 */
VnLayerWalk *
vn_layer_walk_new (const VnRepairSamples *samples,
                   gsize                  most_memory)
{
  VnLayerWalk *self;

  g_return_val_if_fail (samples != NULL, NULL);

  self = g_new0 (VnLayerWalk, 1);
  self->samples = samples;
  self->kept = vn_kept_values_new (samples->n, most_memory);
  return self;
}

static void
layer_walk_clear_model (VnLayerWalk *self)
{
  g_clear_pointer (&self->model, vn_model_unref);
  g_clear_pointer (&self->stops, g_ptr_array_unref);
  g_clear_pointer (&self->first, g_free);
  g_clear_pointer (&self->until, g_free);
  g_clear_pointer (&self->varies, g_free);
}

static void
layer_walk_clear_stop (VnLayerWalk *self)
{
  g_clear_pointer (&self->plan, vn_plan_unref);
  g_clear_pointer (&self->taps, g_ptr_array_unref);
  g_clear_pointer (&self->tap_reads, g_array_unref);
  g_clear_pointer (&self->fed, g_ptr_array_unref);
}

void
vn_layer_walk_free (VnLayerWalk *self)
{
  if (self == NULL)
    return;
  layer_walk_clear_stop (self);
  layer_walk_clear_model (self);
  vn_kept_values_free (self->kept);
  g_clear_error (&self->error);
  g_free (self);
}

/* ---- what runs when ---- */

/**
 * vn_layer_walk_list_reads:
 *
 * Returns: (transfer container) (element-type VnValue): what a node reads, in graphs inside it, too
 */
GPtrArray *
vn_layer_walk_list_reads (const VnNode *node)
{
  GPtrArray *reads;

  g_return_val_if_fail (node != NULL, NULL);

  reads = vn_node_list_captured (node);
  for (guint i = 0; i < node->inputs->len; i++)
    if (vn_node_get_input (node, i) != NULL)
      g_ptr_array_add (reads, vn_node_get_input (node, i));
  return reads;
}

/* A value of experts that is told beside their result: the node that tells it runs again behind the stop. */
static gboolean
layer_walk_is_told (const VnValue *value)
{
  return value->producer != NULL && value->output_index > 0 && vn_moe_find_inputs (value->producer) != NULL;
}

static void
layer_walk_reach (VnLayerWalk *self,
                  GPtrArray   *stack,
                  VnValue     *value,
                  guint        stop)
{
  VnNode *node = value->producer;

  if (node == NULL || node->graph != self->model->graph || self->first[node->index] != NEVER)
    return;
  self->first[node->index] = stop;
  g_ptr_array_add (stack, node);
}

/* Whatever @value is computed from runs before @stop, if not before. */
static void
layer_walk_mark (VnLayerWalk *self,
                 VnValue     *value,
                 guint        stop)
{
  g_autoptr(GPtrArray) stack = g_ptr_array_new ();

  if (layer_walk_is_told (value))
    g_ptr_array_add (stack, value->producer);
  else
    layer_walk_reach (self, stack, value, stop);
  while (stack->len > 0)
    {
      g_autoptr(GPtrArray) reads = vn_layer_walk_list_reads (g_ptr_array_steal_index_fast (stack, stack->len - 1));

      for (guint i = 0; i < reads->len; i++)
        {
          VnValue *read = g_ptr_array_index (reads, i);

          if (read->graph == self->model->graph)
            self->until[read->id] = MAX (self->until[read->id], stop);
          layer_walk_reach (self, stack, read, stop);
        }
    }
}

static gboolean
layer_walk_find_varying (VnLayerWalk  *self,
                         GError      **error)
{
  const VnGraph *graph = self->model->graph;
  g_autoptr(GPtrArray) order = vn_graph_sort (graph, error);

  if (order == NULL)
    return FALSE;
  for (guint i = 0; i < graph->inputs->len; i++)
    {
      const VnValue *input = g_ptr_array_index (graph->inputs, i);

      self->varies[input->id] = input->initializer == NULL;
    }
  for (guint i = 0; i < order->len; i++)
    {
      const VnNode *node = g_ptr_array_index (order, i);
      g_autoptr(GPtrArray) reads = vn_layer_walk_list_reads (node);
      gboolean varies = FALSE;

      for (guint k = 0; k < reads->len && !varies; k++)
        {
          const VnValue *read = g_ptr_array_index (reads, k);

          varies = read->graph == graph && self->varies[read->id];
        }
      for (guint k = 0; k < node->outputs->len; k++)
        if (vn_node_get_output (node, k) != NULL)
          self->varies[vn_node_get_output (node, k)->id] = varies;
    }
  return TRUE;
}

/**
 * vn_layer_walk_set_model:
 * @model: its values have types
 * @stops: (element-type GStrv): names of the values that are wanted at each stop
 *
 * Sets the network, or another one that differs in weights only that no stop before has run.
 *
 * Returns: %FALSE with an error if the graph has a circle
 */
gboolean
vn_layer_walk_set_model (VnLayerWalk  *self,
                         VnModel      *model,
                         GPtrArray    *stops,
                         GError      **error)
{
  const VnGraph *graph;

  g_return_val_if_fail (self != NULL && model != NULL && stops != NULL, FALSE);

  graph = model->graph;
  layer_walk_clear_model (self);
  self->model = vn_model_ref (model);
  self->stops = g_ptr_array_ref (stops);
  self->first = g_new (guint, graph->nodes->len + 1);
  self->until = g_new0 (guint, graph->values->len + 1);
  self->varies = g_new0 (gboolean, graph->values->len + 1);
  for (guint i = 0; i < graph->nodes->len; i++)
    self->first[i] = NEVER;
  for (guint i = 0; i < stops->len; i++)
    {
      const GStrv names = g_ptr_array_index (stops, i);

      for (guint k = 0; names[k] != NULL; k++)
        {
          VnValue *value = vn_graph_find_value (graph, names[k]);

          g_return_val_if_fail (value != NULL, FALSE);
          self->until[value->id] = layer_walk_is_told (value) ? 0 : MAX (self->until[value->id], i);
          layer_walk_mark (self, value, i);
        }
    }
  return layer_walk_find_varying (self, error);
}

/**
 * vn_layer_walk_keeps:
 *
 * Returns: whether @name was computed before and is kept, so that what it is computed from does not run again for it
 */
gboolean
vn_layer_walk_keeps (const VnLayerWalk *self,
                     const char        *name)
{
  g_return_val_if_fail (self != NULL && name != NULL, FALSE);

  return vn_kept_values_has (self->kept, name);
}

/* ---- up to one stop ---- */

/* Whether a value is computed up to the stop and read behind it. */
static gboolean
layer_walk_is_alive (const VnLayerWalk *self,
                     const VnValue     *value)
{
  return value->producer != NULL && value->producer->graph == self->model->graph && self->varies[value->id] &&
         self->first[value->producer->index] <= self->stop && self->until[value->id] > self->stop &&
         !layer_walk_is_told (value) && value->type.kind == VN_TYPE_TENSOR && value->type.dtype != VN_DTYPE_STRING;
}

/* Samples may have other sizes than the first: the model leaves all open. */
static VnValue *
layer_walk_add_input (VnGraph       *graph,
                      const char    *base,
                      VnDType        dtype,
                      const VnShape *first,
                      GHashTable    *shapes)
{
  g_autofree char *name = vn_graph_unique_name (graph, base);
  VnShape open = *first;
  VnValue *input;

  for (int i = 0; i < open.rank; i++)
    open.dims[i] = VN_DIM_UNKNOWN;
  input = vn_graph_add_input (graph, name, dtype, &open);
  g_hash_table_insert (shapes, g_strdup (input->name), g_memdup2 (first, sizeof *first));
  return input;
}

/* Values of @model that are kept become inputs. @shapes: gets their sizes */
static void
layer_walk_feed (VnLayerWalk *self,
                 VnModel     *model,
                 GHashTable  *shapes)
{
  VnGraph *graph = model->graph;
  const guint n = graph->values->len;

  self->n_given = 0;
  for (guint i = 0; i < graph->inputs->len; i++)
    self->n_given += ((const VnValue *) g_ptr_array_index (graph->inputs, i))->initializer == NULL;
  self->fed = g_ptr_array_new ();
  for (guint i = 0; i < n; i++)
    {
      VnValue *value = g_ptr_array_index (graph->values, i);
      VnDType dtype;
      VnShape shape;

      if (!vn_kept_values_find_type (self->kept, value->name, &dtype, &shape))
        continue;
      vn_value_replace_uses (value, layer_walk_add_input (graph, value->name, dtype, &shape, shapes), NULL);
      g_ptr_array_add (self->fed, value->name);
    }
}

static void
layer_walk_add_tap (VnLayerWalk *self,
                    VnModel     *model,
                    const char  *name,
                    int          read)
{
  g_ptr_array_add (self->taps, vn_graph_find_value (model->graph, name));
  g_array_append_val (self->tap_reads, read);
}

static void
layer_walk_list_taps (VnLayerWalk *self,
                      VnModel     *model)
{
  const GStrv names = g_ptr_array_index (self->stops, self->stop);
  const GPtrArray *values = self->model->graph->values;

  self->taps = g_ptr_array_new ();
  self->tap_reads = g_array_new (FALSE, FALSE, sizeof (int));
  for (guint k = 0; names[k] != NULL; k++)
    if (!vn_kept_values_has (self->kept, names[k]))
      layer_walk_add_tap (self, model, names[k], (int) k);
  for (guint i = 0; i < values->len && !self->was_run; i++)
    {
      const VnValue *value = g_ptr_array_index (values, i);

      if (layer_walk_is_alive (self, value) && !vn_kept_values_has (self->kept, value->name))
        layer_walk_add_tap (self, model, value->name, -1);
    }
}

static GHashTable *
layer_walk_copy_shapes (GHashTable *shapes)
{
  GHashTable *copy = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  GHashTableIter iter;
  gpointer name, shape;

  if (shapes == NULL)
    return copy;
  g_hash_table_iter_init (&iter, shapes);
  while (g_hash_table_iter_next (&iter, &name, &shape))
    g_hash_table_insert (copy, g_strdup (name), g_memdup2 (shape, sizeof (VnShape)));
  return copy;
}

/**
 * vn_layer_walk_begin:
 * @stop: the first, or the one behind that of the last time
 *
 * Makes ready for what runs up to a stop.
 */
gboolean
vn_layer_walk_begin (VnLayerWalk  *self,
                     guint         stop,
                     GError      **error)
{
  g_autoptr(GHashTable) shapes = NULL;
  g_autoptr(VnModel) model = NULL;
  VnPlanOptions options;

  g_return_val_if_fail (self != NULL && self->model != NULL && stop < self->stops->len, FALSE);

  shapes = layer_walk_copy_shapes (self->samples->shapes);
  model = vn_model_copy (self->model);
  self->was_run = self->was_run && stop == self->stop;
  self->stop = stop;
  layer_walk_clear_stop (self);
  layer_walk_feed (self, model, shapes);
  layer_walk_list_taps (self, model);
  options = vn_plan_options_for_samples (shapes);
  options.taps = options.outputs = self->taps;
  self->plan = vn_plan_new (model, &options, NULL, error);
  return self->plan != NULL;
}

VnPlan *
vn_layer_walk_get_plan (VnLayerWalk *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->plan;
}

/**
 * vn_layer_walk_count_reads:
 *
 * Returns: how many values the stop wants
 */
guint
vn_layer_walk_count_reads (const VnLayerWalk *self)
{
  g_return_val_if_fail (self != NULL && self->stops != NULL, 0);

  return g_strv_length (g_ptr_array_index (self->stops, self->stop));
}

static void
layer_walk_tap (const VnValue  *value,
                guint           tap,
                const VnTensor *tensor,
                gpointer        data)
{
  VnLayerWalk *self = data;
  const int read = g_array_index (self->tap_reads, int, tap);

  if (self->error != NULL)
    return;
  if (read >= 0)
    self->reads[read] = vn_tensor_new_copy (tensor->dtype, &tensor->shape, tensor->data, &self->error);
  else if (!vn_plan_is_folded (self->plan, value))
    vn_kept_values_put (self->kept, value->name, self->sample, tensor, &self->error);
}

/**
 * vn_layer_walk_new_runner:
 *
 * Returns: (transfer full) (nullable): for vn_layer_walk_run(), one after the other
 */
VnRunner *
vn_layer_walk_new_runner (VnLayerWalk  *self,
                          guint         n_inside,
                          GError      **error)
{
  g_return_val_if_fail (self != NULL && self->plan != NULL, NULL);

  return vn_sample_runner_new (self->plan, n_inside, layer_walk_tap, self, error);
}

/* What was kept before the stop is no news: it may be what the stop wants. */
static gboolean
layer_walk_read_kept (VnLayerWalk  *self,
                      GError      **error)
{
  const GStrv names = g_ptr_array_index (self->stops, self->stop);

  for (guint k = 0; names[k] != NULL; k++)
    {
      GError *failure = NULL;

      if (self->reads[k] != NULL)
        continue;
      self->reads[k] = vn_kept_values_get (self->kept, names[k], self->sample, &failure);
      if (failure == NULL)
        continue;
      g_propagate_error (error, failure);
      return FALSE;
    }
  return TRUE;
}

static gboolean
layer_walk_run (VnLayerWalk   *self,
                VnRunner      *runner,
                VnTensor     **inputs,
                GCancellable  *cancellable,
                GError       **error)
{
  VnTensor **all = g_new0 (VnTensor *, self->n_given + self->fed->len + 1);
  gboolean good = TRUE;

  for (guint i = 0; i < self->n_given; i++)
    all[i] = inputs[i];
  for (guint i = 0; i < self->fed->len && good; i++)
    {
      all[self->n_given + i] = vn_kept_values_get (self->kept, g_ptr_array_index (self->fed, i), self->sample, error);
      good = all[self->n_given + i] != NULL;
      if (!good && error != NULL && *error == NULL)
        g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("“%s” is computed on some samples only"),
                     (const char *) g_ptr_array_index (self->fed, i));
    }
  good = good && vn_runner_run (runner, all, NULL, cancellable, error);
  vn_tensor_clear_all (all + self->n_given, self->fed->len);
  g_free (all);
  return good;
}

/**
 * vn_layer_walk_run:
 * @sample: a number, one after the other
 * @inputs: of the network
 * @reads: (out caller-allocates): what the stop wants; %NULL for what is no news
 */
gboolean
vn_layer_walk_run (VnLayerWalk   *self,
                   VnRunner      *runner,
                   guint          sample,
                   VnTensor     **inputs,
                   VnTensor     **reads,
                   GCancellable  *cancellable,
                   GError       **error)
{
  g_return_val_if_fail (self != NULL && self->plan != NULL && runner != NULL && reads != NULL, FALSE);

  self->sample = sample;
  self->reads = reads;
  if (self->taps->len > 0 && !layer_walk_run (self, runner, inputs, cancellable, error))
    return FALSE;
  if (self->error == NULL)
    return layer_walk_read_kept (self, error);
  g_propagate_error (error, g_steal_pointer (&self->error));
  return FALSE;
}

/**
 * vn_layer_walk_end:
 *
 * All samples have run up to the stop. It may be begun again, with the same weights; vn_layer_walk_leave() goes on.
 */
void
vn_layer_walk_end (VnLayerWalk *self)
{
  g_return_if_fail (self != NULL);

  self->was_run = TRUE;
  layer_walk_clear_stop (self);
}

/**
 * vn_layer_walk_leave:
 *
 * Lets go of what nobody reads behind the stop.
 */
void
vn_layer_walk_leave (VnLayerWalk *self)
{
  g_return_if_fail (self != NULL);

  for (guint i = 0; i < self->model->graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->model->graph->values, i);

      if (self->until[value->id] <= self->stop)
        vn_kept_values_drop (self->kept, value->name);
    }
}
