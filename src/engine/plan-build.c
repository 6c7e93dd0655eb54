/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How plans are made: one pass after the other over the same plan. */
#include "vn-plan-blocks.h"
#include "vn-plan-passes.h"

#include "vn-arithmetic.h"
#include "vn-error.h"
#include "vn-i18n.h"

/* Constants that only folding needed, and nobody looks at. */
static void
plan_build_drop_unused_constants (VnPlan *self)
{
  for (guint i = 0; i < self->n_values; i++)
    if (self->values[i].n_uses == 0 && self->values[i].output < 0 && self->values[i].tap < 0 && !self->values[i].makes)
      g_clear_pointer (&self->values[i].constant, vn_tensor_unref);
}

/* A network that cannot work on images of one pixel fails somewhere inside: say why. */
static void
plan_build_explain_open_sizes (VnPlan  *self,
                               GError **error)
{
  g_autofree char *text = NULL;

  if (error == NULL || self->open_input == NULL || !g_error_matches (*error, VN_ERROR, VN_ERROR_SHAPE))
    return;
  text = g_strdup_printf (_("%s. Dynamic dimensions of input “%s” were set to 1: specify its real shape"),
                          (*error)->message, self->open_input->name);
  g_free ((*error)->message);
  (*error)->message = g_steal_pointer (&text);
}

static VnPlan *plan_build_inner (VnPlan         *outer,
                                 const VnGraph  *graph,
                                 GPtrArray      *captured,
                                 GError        **error);

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
  if (!vn_plan_infer (self, nodes, ops, plan_build_inner, error))
    {
      plan_build_explain_open_sizes (self, error);
      return FALSE;
    }
  vn_plan_imitate (self);
  vn_plan_drop_unused (self);
  if (!vn_plan_take_backend (self, options->own_engine, notes, error))
    return FALSE;
  if (!options->no_fusion && vn_model_get_arithmetic (self->model) == VN_ARITHMETIC_EXACT)
    vn_plan_fuse (self);
  plan_build_drop_unused_constants (self);
  if (!options->no_fusion && vn_model_get_arithmetic (self->model) == VN_ARITHMETIC_EXACT)
    vn_plan_lay_out (self);
  return vn_plan_place (self, error) && vn_plan_prepare (self, error);
}

/* What the outer plan knows of a value it shares with a graph inside. */
static void
plan_build_take_captured (VnPlan       *self,
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

/* A #VnPlanInnerFunc: what is constant in @outer is constant here, the other captured values become inputs behind those of
 * the graph. */
static VnPlan *
plan_build_inner (VnPlan         *outer,
                  const VnGraph  *graph,
                  GPtrArray      *captured,
                  GError        **error)
{
  VnPlanOptions options = { .taps = outer->taps, .no_fusion = outer->no_fusion };
  g_autoptr(VnPlan) self = NULL;

  if (outer->depth + 1 > VN_PLAN_MAX_DEPTH)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("graphs are nested more than %d deep"), VN_PLAN_MAX_DEPTH);
      return NULL;
    }
  self = vn_plan_alloc (outer->model, graph, captured);
  self->depth = outer->depth + 1;
  self->no_fusion = outer->no_fusion;
  for (guint i = 0; i < captured->len; i++)
    plan_build_take_captured (self, outer, graph->values->len + i);
  if (!plan_build (self, &options, NULL, error))
    return NULL;
  return g_steal_pointer (&self);
}

/*< private >
 * vn_plan_make:
 *
 * vn_plan_new() or vn_plan_new_in_blocks().
 */
VnPlan *
vn_plan_make (VnModel              *model,
              const VnPlanOptions  *options,
              gboolean              taps_in_blocks,
              VnNotes              *notes,
              GError              **error)
{
  const VnPlanOptions defaults = { 0 };
  g_autoptr(VnPlan) self = vn_plan_alloc (model, model->graph, NULL);

  self->no_fusion = options != NULL && options->no_fusion;
  self->all_outputs = options == NULL || options->outputs == NULL;
  self->skip_unsupported = options != NULL && options->skip_unsupported;
  self->ends = options != NULL && options->ends;
  self->can_restart = options != NULL && options->can_restart;
  self->most_weights = options != NULL ? options->most_weights : 0;
  self->taps_in_blocks = taps_in_blocks;
  if (!plan_build (self, options != NULL ? options : &defaults, notes, error))
    return NULL;
  return g_steal_pointer (&self);
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
  g_return_val_if_fail (model != NULL && model->graph != NULL, NULL);

  return vn_plan_make (model, options, FALSE, notes, error);
}

/**
 * vn_plan_new_in_blocks:
 *
 * As vn_plan_new(), but taps need not be told as the graph has them: values whose channels lie in blocks are not put in order
 * for a tap alone. Runners of such a plan need vn_runner_set_blocks_tap(), and cannot start from taps.
 */
VnPlan *
vn_plan_new_in_blocks (VnModel              *model,
                       const VnPlanOptions  *options,
                       VnNotes              *notes,
                       GError              **error)
{
  g_return_val_if_fail (model != NULL && model->graph != NULL, NULL);
  g_return_val_if_fail (options == NULL || !options->can_restart, NULL);

  return vn_plan_make (model, options, TRUE, notes, error);
}
