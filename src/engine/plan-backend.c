/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which steps the backend of the model runs: those that we have no kernel for, or all that it can. Steps that follow each other
 * are run together, so that what nobody looks at stays with it. */
#include "vn-plan-passes.h"

#include "vn-backend.h"
#include "vn-checked.h"
#include "vn-error.h"
#include "vn-i18n.h"

/* Of what a group hands out at a time: it is there twice, once on either side. */
#define GROUP_BYTES ((gsize) 64 << 20)

/* Of the weights of a group: they are there twice while it is made. */
#define GROUP_WEIGHTS ((gsize) 256 << 20)

/**
 * Taking:
 * @steps: of VnStep: what the plan will have
 * @group: of VnStep: those that are to be run together
 * @made: by value id: 1 + number of the group that makes it
 * @n_inside: by value id: how often the steps that are being opened read it; 0 between two of them
 * @n_group: number of the group
 * @n_bytes: that the group hands out
 * @n_weights: bytes of constants that the group reads
 * @n_run: nodes that the backend runs
 * @own_engine: of VnPlanOptions
 */
typedef struct
{
  VnPlan    *plan;
  VnBackend *backend;
  GPtrArray *steps, *group;
  guint     *made, *n_inside;
  guint      n_group;
  gsize      n_bytes, n_weights;
  guint      n_run;
  gboolean   own_engine;
} Taking;

static gboolean
plan_backend_moves (const VnTensorType *type)
{
  const VnDTypeSet halves = VN_DTYPE_BIT (F16) | VN_DTYPE_BIT (BF16);
  const VnDTypeSet plain = halves | VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64) | VN_DTYPE_BIT (U8) | VN_DTYPE_BIT (S8) |
                           VN_DTYPE_BIT (U16) | VN_DTYPE_BIT (S16) | VN_DTYPE_BIT (S32) | VN_DTYPE_BIT (S64) |
                           VN_DTYPE_BIT (U32) | VN_DTYPE_BIT (U64) | VN_DTYPE_BIT (BOOL);

  return type->kind == VN_KIND_TENSOR && type->dtype < VN_N_DTYPES && (plain >> type->dtype & 1) != 0;
}

/* Whether the backend is to run @step, if it can. */
static gboolean
plan_backend_takes (const Taking *self,
                    const VnStep *step)
{
  if (vn_op_is_backend (step->op))
    return TRUE;
  if (self->own_engine || !vn_backend_wants (step->node) || step->op->containers || step->op->makes_outputs)
    return FALSE;
  for (guint i = 0; i < step->n_inputs; i++)
    if (step->inputs[i] >= 0 && !plan_backend_moves (&self->plan->values[step->inputs[i]].type))
      return FALSE;
  for (guint i = 0; i < step->n_outputs; i++)
    if (step->outputs[i] >= 0 && !plan_backend_moves (&step->out_types[i]))
      return FALSE;
  return TRUE;
}

/* ---- a part ---- */

typedef struct
{
  GArray        *inputs, *outputs;   /* of guint: ids; constants among the inputs come last */
  guint          n_varying;          /* of the inputs: not constant */
} Ends;

static void
plan_backend_clear_ends (Ends *self)
{
  g_clear_pointer (&self->inputs, g_array_unref);
  g_clear_pointer (&self->outputs, g_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Ends, plan_backend_clear_ends)

static void
plan_backend_find_inputs (const Taking *self,
                          VnStep      **steps,
                          guint         n,
                          gboolean      constant,
                          Ends         *ends)
{
  g_autoptr(GHashTable) seen = g_hash_table_new (NULL, NULL);

  for (guint k = 0; k < n; k++)
    for (guint i = 0; i < steps[k]->n_outputs; i++)
      if (steps[k]->outputs[i] >= 0)
        g_hash_table_add (seen, GINT_TO_POINTER (steps[k]->outputs[i] + 1));
  for (guint k = 0; k < n; k++)
    for (guint i = 0; i < steps[k]->n_inputs; i++)
      {
        int id = steps[k]->inputs[i];

        if (id < 0 || (self->plan->values[id].constant != NULL) != constant ||
            !g_hash_table_add (seen, GINT_TO_POINTER (id + 1)))
          continue;
        g_array_append_val (ends->inputs, id);
      }
}

/* What others read, or the caller wants. */
static void
plan_backend_find_outputs (const Taking *self,
                           VnStep      **steps,
                           guint         n,
                           Ends         *ends)
{
  for (guint k = 0; k < n; k++)
    for (guint i = 0; i < steps[k]->n_inputs; i++)
      if (steps[k]->inputs[i] >= 0)
        self->n_inside[steps[k]->inputs[i]]++;
  for (guint k = 0; k < n; k++)
    for (guint i = 0; i < steps[k]->n_outputs; i++)
      {
        int id = steps[k]->outputs[i];
        const VnPlanValue *value = id >= 0 ? &self->plan->values[id] : NULL;

        if (value != NULL && (value->n_uses > self->n_inside[id] || value->tap >= 0 || value->output >= 0))
          g_array_append_val (ends->outputs, id);
      }
  for (guint k = 0; k < n; k++)
    for (guint i = 0; i < steps[k]->n_inputs; i++)
      if (steps[k]->inputs[i] >= 0)
        self->n_inside[steps[k]->inputs[i]] = 0;
}

static gboolean
plan_backend_fill_constants (const Taking  *self,
                             const Ends    *ends,
                             VnTensor     **constants,
                             GError       **error)
{
  for (guint i = ends->n_varying; i < ends->inputs->len; i++)
    if ((constants[i] = vn_plan_make_constant (self->plan, g_array_index (ends->inputs, guint, i), error)) == NULL)
      return FALSE;
  return TRUE;
}

/* (nullable): `prepared` of a step for these. */
static gpointer
plan_backend_open (const Taking  *self,
                   VnStep       **steps,
                   guint          n,
                   const Ends    *ends,
                   GError       **error)
{
  const guint n_in = ends->inputs->len, n_out = ends->outputs->len;
  g_autoptr(GPtrArray) nodes = g_ptr_array_new ();
  g_autofree const VnValue **inputs = g_new0 (const VnValue *, n_in + 1), **outputs = g_new0 (const VnValue *, n_out + 1);
  g_autofree VnTensorType *types = g_new0 (VnTensorType, n_in + 1);
  g_autofree VnTensor **constants = g_new0 (VnTensor *, n_in + 1);
  const VnBackendPart part = { self->plan->model, nodes, n_in, n_out, inputs, outputs, types, constants };
  gpointer prepared = NULL;

  for (guint k = 0; k < n; k++)
    g_ptr_array_add (nodes, (gpointer) steps[k]->node);
  for (guint i = 0; i < n_in; i++)
    {
      const VnPlanValue *value = &self->plan->values[g_array_index (ends->inputs, guint, i)];

      inputs[i] = value->value;
      types[i] = value->type;
    }
  for (guint i = 0; i < n_out; i++)
    outputs[i] = self->plan->values[g_array_index (ends->outputs, guint, i)].value;
  if (plan_backend_fill_constants (self, ends, constants, error))
    prepared = vn_backend_open (self->backend, &part, error);
  vn_tensor_clear_all (constants, n_in);
  return prepared;
}

static gboolean
plan_backend_is_static (const Taking *self,
                        const GArray *ids)
{
  for (guint i = 0; i < ids->len; i++)
    {
      const VnTensorType *type = &self->plan->values[g_array_index (ids, guint, i)].type;

      if (type->dtype == VN_DTYPE_UNDEFINED || !vn_shape_is_static (&type->shape))
        return FALSE;
    }
  return TRUE;
}

static void
plan_backend_add_step (Taking    *self,
                       VnStep   **steps,
                       guint      n,
                       const Ends *ends,
                       gpointer   prepared)
{
  const gboolean is_static = plan_backend_is_static (self, ends->inputs) && plan_backend_is_static (self, ends->outputs);
  VnStep *step = vn_step_new_backend (vn_backend_get_op (is_static), steps[0]->node, n, ends->n_varying, ends->outputs->len);

  step->prepared = prepared;
  step->dynamic = !is_static;
  step->opset = steps[0]->opset;
  for (guint i = 0; i < ends->n_varying; i++)
    {
      step->inputs[i] = g_array_index (ends->inputs, int, i);
      step->in_types[i] = self->plan->values[step->inputs[i]].type;
    }
  for (guint i = 0; i < ends->outputs->len; i++)
    {
      step->outputs[i] = g_array_index (ends->outputs, int, i);
      step->out_types[i] = self->plan->values[step->outputs[i]].type;
    }
  g_ptr_array_add (self->steps, step);
  for (guint k = 0; k < n; k++)
    vn_step_free (steps[k]);
  self->n_run += n;
}

static gboolean plan_backend_take_steps (Taking   *self,
                                         VnStep  **steps,
                                         guint     n,
                                         GError  **error);

/* They are ours, if we can. */
static gboolean
plan_backend_keep_steps (Taking   *self,
                         VnStep  **steps,
                         guint     n,
                         GError   *reason,
                         GError  **error)
{
  for (guint k = 0; k < n; k++)
    g_ptr_array_add (self->steps, steps[k]);
  if (!vn_op_is_backend (steps[0]->op) && g_error_matches (reason, VN_ERROR, VN_ERROR_UNSUPPORTED))
    {
      g_error_free (reason);
      return TRUE;
    }
  vn_step_prefix_error (steps[0], &reason);
  g_propagate_error (error, reason);
  return FALSE;
}

/* From @from on: how many the backend runs, each on its own; or, if it does not run the first, how many it does not run. */
static guint
plan_backend_count_alike (VnStep **steps,
                          guint    from,
                          guint    n)
{
  const gboolean runs = vn_backend_has_kernel (steps[from]->node);
  guint k = from + 1;

  while (k < n && vn_backend_has_kernel (steps[k]->node) == runs)
    k++;
  return k - from;
}

/* What the backend refuses to run together it may run in parts: between nodes that it does not run, or else in halves. */
static gboolean
plan_backend_take_parts (Taking   *self,
                         VnStep  **steps,
                         guint     n,
                         GError  **error)
{
  const gboolean halves = plan_backend_count_alike (steps, 0, n) == n;
  gboolean good = TRUE;

  for (guint from = 0, part; from < n; from += part)
    {
      part = !halves ? plan_backend_count_alike (steps, from, n) : from == 0 ? n / 2 : n - n / 2;
      if (!good)
        for (guint k = 0; k < part; k++)
          g_ptr_array_add (self->steps, steps[from + k]);
      else
        good = plan_backend_take_steps (self, steps + from, part, error);
    }
  return good;
}

static gboolean
plan_backend_take_steps (Taking   *self,
                         VnStep  **steps,
                         guint     n,
                         GError  **error)
{
  g_auto(Ends) ends = { g_array_new (FALSE, FALSE, sizeof (guint)), g_array_new (FALSE, FALSE, sizeof (guint)), 0 };
  GError *reason = NULL;
  gpointer prepared;

  plan_backend_find_inputs (self, steps, n, FALSE, &ends);
  ends.n_varying = ends.inputs->len;
  plan_backend_find_inputs (self, steps, n, TRUE, &ends);
  plan_backend_find_outputs (self, steps, n, &ends);
  prepared = plan_backend_open (self, steps, n, &ends, &reason);
  if (prepared != NULL)
    {
      plan_backend_add_step (self, steps, n, &ends, prepared);
      return TRUE;
    }
  if (n == 1 || !g_error_matches (reason, VN_ERROR, VN_ERROR_UNSUPPORTED))
    return plan_backend_keep_steps (self, steps, n, reason, error);
  g_error_free (reason);
  return plan_backend_take_parts (self, steps, n, error);
}

/* ---- groups ---- */

static gboolean
plan_backend_end_group (Taking  *self,
                        GError **error)
{
  gboolean good = self->group->len == 0 ||
                  plan_backend_take_steps (self, (VnStep **) self->group->pdata, self->group->len, error);

  g_ptr_array_set_size (self->group, 0);
  self->n_group++;
  self->n_bytes = self->n_weights = 0;
  return good;
}

/* Another value may be given for a tap where runs may start from it: what reads it is then another group. */
static gboolean
plan_backend_starts_group (const Taking *self,
                           const VnStep *step)
{
  if (self->group->len == 0)
    return FALSE;
  if (self->n_bytes >= GROUP_BYTES || self->n_weights >= GROUP_WEIGHTS)
    return TRUE;
  for (guint i = 0; i < step->n_inputs && self->plan->can_restart; i++)
    if (step->inputs[i] >= 0 && self->plan->values[step->inputs[i]].tap >= 0 &&
        self->made[step->inputs[i]] == self->n_group + 1)
      return TRUE;
  return FALSE;
}

static void
plan_backend_add_to_group (Taking *self,
                           VnStep *step)
{
  g_ptr_array_add (self->group, step);
  for (guint i = 0; i < step->n_inputs; i++)
    if (step->inputs[i] >= 0 && self->plan->values[step->inputs[i]].constant != NULL)
      self->n_weights += MIN (self->plan->values[step->inputs[i]].constant->n_bytes, GROUP_WEIGHTS);
  for (guint i = 0; i < step->n_outputs; i++)
    {
      const VnPlanValue *value = step->outputs[i] >= 0 ? &self->plan->values[step->outputs[i]] : NULL;
      gsize n_elements, n_bytes;

      if (value == NULL)
        continue;
      self->made[step->outputs[i]] = self->n_group + 1;
      if ((value->tap >= 0 || value->output >= 0) && vn_shape_is_static (&value->type.shape) &&
          vn_tensor_size_in_bytes (value->type.dtype, &value->type.shape, &n_elements, &n_bytes))
        self->n_bytes += MIN (n_bytes, GROUP_BYTES);
    }
}

static gboolean
plan_backend_group (Taking     *self,
                    GPtrArray  *steps,
                    GError    **error)
{
  gboolean good = TRUE;

  for (guint k = 0; k < steps->len; k++)
    {
      VnStep *step = g_ptr_array_index (steps, k);
      const gboolean takes = good && plan_backend_takes (self, step);

      if (good && (!takes || plan_backend_starts_group (self, step)))
        good = plan_backend_end_group (self, error);
      if (takes && good)
        plan_backend_add_to_group (self, step);
      else
        g_ptr_array_add (self->steps, step);
    }
  return good && plan_backend_end_group (self, error);
}

static void
plan_backend_note (const Taking *self,
                   VnNotes      *notes)
{
  const char *title = vn_backend_get_title (self->backend);

  if (notes == NULL || self->n_run == 0)
    return;
  vn_notes_add (notes, VN_NOTE_INFO, VN_NOTE_ENGINE, NULL,
                vn_backend_takes_all (self->backend)
                ? ngettext ("%u node runs in %s", "%u nodes run in %s", self->n_run)
                : ngettext ("%u node runs in %s, as Vernier does not support the operator",
                            "%u nodes run in %s, as Vernier does not support the operators", self->n_run), self->n_run, title);
}

/* The steps of @plan are those of @self; what failed still has all of them. */
static void
plan_backend_replace_steps (Taking *self)
{
  g_ptr_array_set_free_func (self->plan->steps, NULL);
  g_ptr_array_set_size (self->plan->steps, 0);
  g_ptr_array_set_free_func (self->plan->steps, (GDestroyNotify) vn_step_free);
  for (guint k = 0; k < self->steps->len; k++)
    g_ptr_array_add (self->plan->steps, g_ptr_array_index (self->steps, k));
}

/**
 * vn_plan_take_backend:
 * @own_engine: of VnPlanOptions
 * @notes: (nullable): told how many nodes the backend runs
 *
 * Gives the backend of the model what it is to run: a step for each group of nodes that follow each other.
 *
 * Returns: %FALSE if a node without kernel of ours cannot be run there, either
 */
gboolean
vn_plan_take_backend (VnPlan    *self,
                      gboolean   own_engine,
                      VnNotes   *notes,
                      GError   **error)
{
  g_autoptr(GPtrArray) steps = NULL, group = NULL;
  g_autofree guint *made = NULL, *n_inside = NULL;
  Taking taking;
  gboolean good;

  g_return_val_if_fail (self != NULL, FALSE);

  if (vn_model_get_backend (self->model) == NULL)
    return TRUE;
  steps = g_ptr_array_new ();
  group = g_ptr_array_new ();
  made = g_new0 (guint, self->n_values + 1);
  n_inside = g_new0 (guint, self->n_values + 1);
  taking = (Taking) { .plan = self, .backend = vn_model_get_backend (self->model), .steps = steps, .group = group,
                      .made = made, .n_inside = n_inside, .own_engine = own_engine };
  good = plan_backend_group (&taking, self->steps, error);
  for (guint k = 0; k < group->len; k++)
    g_ptr_array_add (steps, g_ptr_array_index (group, k));
  plan_backend_replace_steps (&taking);
  if (good)
    {
      plan_backend_note (&taking, notes);
      vn_plan_drop_unused (self);
    }
  return good;
}
