/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plan as a whole: makes it in its stages, lets operators pack their weights, and answers questions about it. */
#include "vn-plan-private.h"

#include "vn-error.h"
#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-parallel.h"

static void
number_captured (VnPlan    *self,
                 GPtrArray *captured)
{
  self->captured = g_ptr_array_new ();
  self->captured_ids = g_hash_table_new (NULL, NULL);
  for (guint i = 0; captured != NULL && i < captured->len; i++)
    {
      VnValue *value = g_ptr_array_index (captured, i);

      g_ptr_array_add (self->captured, value);
      g_hash_table_insert (self->captured_ids, value, GUINT_TO_POINTER (self->graph->values->len + i));
    }
}

static VnPlan *
plan_alloc (VnModel       *model,
            const VnGraph *graph,
            GPtrArray     *captured)
{
  VnPlan *self = g_new0 (VnPlan, 1);

  g_atomic_ref_count_init (&self->ref);
  self->model = vn_model_ref (model);
  self->graph = graph;
  number_captured (self, captured);
  self->n_values = graph->values->len + self->captured->len;
  self->values = g_new0 (VnPlanValue, MAX (self->n_values, 1));
  self->steps = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_step_free);
  self->variants = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_plan_unref);
  g_mutex_init (&self->lock);
  for (guint i = 0; i < self->n_values; i++)
    {
      VnPlanValue *value = &self->values[i];

      value->value = i < graph->values->len ? g_ptr_array_index (graph->values, i)
                                            : g_ptr_array_index (self->captured, i - graph->values->len);
      value->type.shape = VN_SHAPE_UNKNOWN;
      value->root = i;
      value->tap = value->output = -1;
    }
  return self;
}

/* Constants that only folding needed, and nobody looks at. */
static void
drop_unused_constants (VnPlan *self)
{
  for (guint i = 0; i < self->n_values; i++)
    if (self->values[i].n_uses == 0 && self->values[i].output < 0 && self->values[i].tap < 0)
      g_clear_pointer (&self->values[i].constant, vn_tensor_unref);
}

static gboolean
prepare_step (VnPlan    *self,
              VnStep    *step,
              GError   **error)
{
  g_autofree VnTensor **in = g_new0 (VnTensor *, step->n_inputs + 1);
  g_autofree VnTensor **out = g_new0 (VnTensor *, step->n_outputs + 1);
  VnOpContext ctx;

  for (guint i = 0; i < step->n_inputs; i++)
    in[i] = step->inputs[i] >= 0 ? self->values[step->inputs[i]].constant : NULL;
  vn_step_init_context (step, &ctx);
  ctx.in = in;
  ctx.out = out;
  if (vn_op_prepare (&ctx, &step->prepared, error))
    return TRUE;
  vn_step_prefix_error (step, error);
  return FALSE;
}

/* Operators that prepare pack input 1, the weight: an aligned copy of it gives way to the view into the file, and the
 * pages of the file to the packed form. */
static void
drop_read_weight (VnPlan       *self,
                  const VnStep *step)
{
  VnPlanValue *weight = step->n_inputs > 1 && step->inputs[1] >= 0 ? &self->values[step->inputs[1]] : NULL;
  VnTensor *original = weight != NULL && weight->constant != NULL ? vn_value_get_constant (weight->value) : NULL;

  if (step->prepared == NULL || original == NULL || weight->n_uses != 1 || weight->output >= 0)
    return;
  vn_file_release_pages (original->data, original->n_bytes);
  if (original == weight->constant)
    return;
  vn_tensor_unref (weight->constant);
  weight->constant = vn_tensor_ref (original);
}

static gboolean
prepare_item (gsize      item,
              guint      worker,
              gpointer   data,
              GError   **error)
{
  VnPlan *self = data;
  VnStep *step = g_ptr_array_index (self->steps, item);

  if (!prepare_step (self, step, error))
    return FALSE;
  drop_read_weight (self, step);
  return TRUE;
}

/**
 * vn_plan_prepare:
 *
 * Lets operators pack their constant inputs. Sizes of the others may be unknown where they depend on data. Steps do not
 * touch each other's weights, and large networks have much to pack: bodies are too small to wake other threads for.
 */
gboolean
vn_plan_prepare (VnPlan  *self,
                 GError **error)
{
  return vn_parallel_for (self->depth > 0 ? 1 : vn_parallel_default_threads (), self->steps->len, prepare_item, self,
                          NULL, error);
}

/* A network that cannot work on images of one pixel fails somewhere inside: say why. */
static void
explain_open_sizes (VnPlan  *self,
                    GError **error)
{
  g_autofree char *text = NULL;

  if (error == NULL || self->open_input == NULL || !g_error_matches (*error, VN_ERROR, VN_ERROR_SHAPE))
    return;
  text = g_strdup_printf (_("%s. Sizes that input “%s” leaves open were set to 1: give its real shape"),
                          (*error)->message, self->open_input->name);
  g_free ((*error)->message);
  (*error)->message = g_steal_pointer (&text);
}

static gboolean
plan_build (VnPlan               *self,
            const VnPlanOptions  *options,
            VnNotes              *notes,
            GError              **error)
{
  g_autoptr(GPtrArray) nodes = NULL;
  g_autofree const VnOp **ops = NULL;

  if (!vn_plan_select (self, options, notes, error))
    return FALSE;
  nodes = vn_plan_sort_needed (self, error);
  if (nodes == NULL)
    return FALSE;
  ops = g_new0 (const VnOp *, nodes->len + 1);
  if (!vn_plan_resolve (self, nodes, ops, error) ||
      !(self->depth > 0 ? vn_plan_set_formals (self, error) : vn_plan_set_inputs (self, options, notes, error)))
    return FALSE;
  if (!vn_plan_infer (self, nodes, ops, error))
    {
      explain_open_sizes (self, error);
      return FALSE;
    }
  vn_plan_drop_unused (self);
  if (!options->no_fusion)
    vn_plan_fuse (self);
  drop_unused_constants (self);
  if (!options->no_fusion)
    vn_plan_lay_out (self);
  return vn_plan_place (self, error) && vn_plan_prepare (self, error);
}

/**
 * vn_plan_new:
 * @model: kept alive by the plan; must not be edited while the plan lives
 * @options: (nullable): see #VnPlanOptions
 * @notes: (nullable): told which open sizes were set to 1 and, with skip_unsupported, which nodes have no kernel
 *
 * Plans how @model is run: which nodes, in which order, on which shapes, in which memory. Sizes of inputs that the
 * model leaves open are taken from the options; an input that shares a symbol with one that is known takes its size;
 * what is then still open becomes 1. Steps whose shapes depend on data are inferred again in each run.
 *
 * Returns: (transfer full) (nullable): the plan, or %NULL with %VN_ERROR_UNSUPPORTED (naming every operator without
 *   kernel), %VN_ERROR_SHAPE, %VN_ERROR_LIMIT, %VN_ERROR_MALFORMED or %VN_ERROR_SETTING (a tap or output of another
 *   graph)
 */
VnPlan *
vn_plan_new (VnModel              *model,
             const VnPlanOptions  *options,
             VnNotes              *notes,
             GError              **error)
{
  const VnPlanOptions defaults = { 0 };
  g_autoptr(VnPlan) self = NULL;

  g_return_val_if_fail (model != NULL && model->graph != NULL, NULL);

  self = plan_alloc (model, model->graph, NULL);
  self->no_fusion = options != NULL && options->no_fusion;
  self->all_outputs = options == NULL || options->outputs == NULL;
  self->skip_unsupported = options != NULL && options->skip_unsupported;
  if (!plan_build (self, options != NULL ? options : &defaults, notes, error))
    return NULL;
  return g_steal_pointer (&self);
}

/* What the outer plan knows of a value it shares with a graph inside. */
static void
take_captured (VnPlan       *self,
               const VnPlan *outer,
               guint         id)
{
  VnPlanValue *value = &self->values[id];
  int from = vn_plan_find (outer, value->value);

  value->type = outer->values[from].type;
  value->store = VN_STORE_INPUT;
  if (outer->values[from].constant == NULL)
    return;
  value->constant = vn_tensor_ref (outer->values[from].constant);
  value->store = VN_STORE_CONSTANT;
}

/**
 * vn_plan_new_inner:
 * @graph: in an attribute of a node of @outer's graph
 * @captured: (element-type VnValue): values that @outer knows: what is constant there is constant here, the others
 *   become inputs behind those of the graph
 *
 * Returns: (transfer full) (nullable): how the graph is run, or %NULL with an error as vn_plan_new()
 */
VnPlan *
vn_plan_new_inner (VnPlan         *outer,
                   const VnGraph  *graph,
                   GPtrArray      *captured,
                   gboolean        no_fusion,
                   GError        **error)
{
  VnPlanOptions options = { .no_fusion = no_fusion };
  g_autoptr(VnPlan) self = NULL;

  if (outer->depth + 1 > VN_PLAN_MAX_DEPTH)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("graphs are nested more than %d deep"), VN_PLAN_MAX_DEPTH);
      return NULL;
    }
  self = plan_alloc (outer->model, graph, captured);
  self->depth = outer->depth + 1;
  self->no_fusion = no_fusion;
  for (guint i = 0; i < captured->len; i++)
    take_captured (self, outer, graph->values->len + i);
  if (!plan_build (self, &options, NULL, error))
    return NULL;
  return g_steal_pointer (&self);
}

/**
 * vn_plan_find:
 *
 * Returns: the id of a value of the plan's graph, or one that it takes from an outer graph; -1 for others
 */
int
vn_plan_find (const VnPlan  *self,
              const VnValue *value)
{
  gpointer id;

  if (value->graph == self->graph)
    return (int) value->id;
  return g_hash_table_lookup_extended (self->captured_ids, value, NULL, &id) ? (int) GPOINTER_TO_UINT (id) : -1;
}

VnPlan *
vn_plan_ref (VnPlan *self)
{
  g_atomic_ref_count_inc (&self->ref);
  return self;
}

void
vn_plan_unref (VnPlan *self)
{
  if (!g_atomic_ref_count_dec (&self->ref))
    return;
  for (guint i = 0; i < self->n_values; i++)
    g_clear_pointer (&self->values[i].constant, vn_tensor_unref);
  g_ptr_array_unref (self->steps);
  g_ptr_array_unref (self->variants);
  g_mutex_clear (&self->lock);
  g_ptr_array_unref (self->captured);
  g_hash_table_unref (self->captured_ids);
  g_clear_pointer (&self->inputs, g_ptr_array_unref);
  g_clear_pointer (&self->outputs, g_ptr_array_unref);
  g_clear_pointer (&self->taps, g_ptr_array_unref);
  g_free (self->next_tap);
  g_free (self->next_output);
  g_free (self->lost);
  g_free (self->values);
  vn_model_unref (self->model);
  g_free (self);
}

VnModel *
vn_plan_get_model (VnPlan *self)
{
  return self->model;
}

/**
 * vn_plan_get_n_inputs:
 *
 * Returns: how many tensors a run takes: the graph inputs that are not initializers, in their order
 */
guint
vn_plan_get_n_inputs (VnPlan *self)
{
  return self->inputs->len;
}

VnValue *
vn_plan_get_input (VnPlan *self,
                   guint   i)
{
  g_return_val_if_fail (i < self->inputs->len, NULL);

  return g_ptr_array_index (self->inputs, i);
}

/**
 * vn_plan_get_input_type:
 *
 * Returns: (transfer none): element type and static shape that input @i must have
 */
const VnTensorType *
vn_plan_get_input_type (VnPlan *self,
                        guint   i)
{
  const VnValue *value = vn_plan_get_input (self, i);

  return value != NULL ? &self->values[vn_plan_find (self, value)].type : NULL;
}

guint
vn_plan_get_n_outputs (VnPlan *self)
{
  return self->outputs->len;
}

VnValue *
vn_plan_get_output (VnPlan *self,
                    guint   i)
{
  g_return_val_if_fail (i < self->outputs->len, NULL);

  return g_ptr_array_index (self->outputs, i);
}

/**
 * vn_plan_is_computed:
 * @value: an output or tap that the plan was asked for
 *
 * Returns: %FALSE if it was left out because it depends on a node without kernel
 */
gboolean
vn_plan_is_computed (VnPlan        *self,
                     const VnValue *value)
{
  g_return_val_if_fail (value != NULL && vn_plan_find (self, value) >= 0, FALSE);

  return self->lost == NULL || value->graph != self->graph || !self->lost[value->id];
}

/**
 * vn_plan_get_arena_size:
 *
 * Returns: bytes each runner keeps for the values between the steps; what is made in a run because its size depends
 *   on data comes on top
 */
gsize
vn_plan_get_arena_size (VnPlan *self)
{
  gsize size = self->arena_size;

  for (guint i = 0; i < self->steps->len; i++)
    {
      const VnStep *step = g_ptr_array_index (self->steps, i);

      for (guint b = 0; step->bodies != NULL && b < step->bodies->len; b++)
        {
          const VnBody *body = g_ptr_array_index (step->bodies, b);

          size += body->plan != NULL ? vn_plan_get_arena_size (body->plan) : 0;
        }
    }
  return size;
}

/**
 * vn_plan_get_n_steps:
 *
 * Returns: how many nodes are really run: neither folded nor fused into another
 */
guint
vn_plan_get_n_steps (VnPlan *self)
{
  return self->steps->len;
}

const VnNode *
vn_plan_get_step_node (VnPlan *self,
                       guint   i)
{
  g_return_val_if_fail (i < self->steps->len, NULL);

  return ((const VnStep *) g_ptr_array_index (self->steps, i))->node;
}
