/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running only what lies downstream of some values, from tensors that are given for them. */
#include "vn-runner-private.h"

#include "vn-error.h"
#include "vn-i18n.h"

/* Takes @tensor for the value of a tap, if it is like what the plan has there. */
static gboolean
runner_from_set (VnRunner  *self,
                 guint      tap,
                 VnTensor  *tensor,
                 VnTensor **tensors,
                 GError   **error)
{
  const VnValue *value = g_ptr_array_index (self->plan->taps, tap);
  guint id = (guint) vn_plan_find (self->plan, value);

  if (!vn_runner_check_given (value, &self->plan->values[id].type, tensor, error))
    return FALSE;
  tensors[id] = tensor;
  return TRUE;
}

static gboolean
runner_from_set_changes (VnRunner          *self,
                         const VnTapValue  *given,
                         guint              n_given,
                         VnStart           *start,
                         GError           **error)
{
  for (guint i = 0; i < n_given; i++)
    {
      const VnValue *value = g_ptr_array_index (self->plan->taps, given[i].tap);
      guint id = (guint) vn_plan_find (self->plan, value);

      if (self->plan->values[id].store == VN_STORE_CONSTANT)
        {
          g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("“%s” is a constant: nothing is computed from it in a run"),
                       value->name);
          return FALSE;
        }
      if (!runner_from_set (self, given[i].tap, given[i].tensor, start->tensors, error))
        return FALSE;
      start->changed[id] = TRUE;
    }
  return TRUE;
}

/* Whether what reads a value changes with it. As far as the next taps: those are the last that change. */
static gboolean
runner_from_is_live (const VnRunner *self,
                     const VnStart  *start,
                     int             id)
{
  return id >= 0 && start->changed[id] && (!start->next || self->plan->values[id].tap < 0 || start->tensors[id] != NULL);
}

/* What depends on a change has changed. */
static void
runner_from_spread (VnRunner *self,
                    VnStart  *start)
{
  for (guint k = 0; k < self->plan->steps->len; k++)
    {
      const VnStep *step = g_ptr_array_index (self->plan->steps, k);
      gboolean changed = FALSE;

      for (guint i = 0; i < step->n_inputs && !changed; i++)
        changed = runner_from_is_live (self, start, step->inputs[i]);
      for (guint i = 0; i < step->n_outputs && changed; i++)
        if (step->outputs[i] >= 0)
          start->changed[step->outputs[i]] = TRUE;
    }
}

/* Values of an earlier run serve where nothing has changed; as far as the next taps, to whatever reads them. */
static gboolean
runner_from_set_known (VnRunner           *self,
                       VnTensor * const   *known,
                       VnStart            *start,
                       GError            **error)
{
  for (guint tap = 0; known != NULL && tap < self->plan->taps->len; tap++)
    {
      int id = vn_plan_find (self->plan, g_ptr_array_index (self->plan->taps, tap));

      if (id >= 0 && known[tap] != NULL && (start->next ? start->tensors[id] == NULL : !start->changed[id]) &&
          self->plan->values[id].store != VN_STORE_CONSTANT &&
          !runner_from_set (self, tap, known[tap], start->tensors, error))
        return FALSE;
    }
  return TRUE;
}

/* News is what is wanted: it is computed, as nobody has given it. */
static void
runner_from_set_wanted (VnRunner    *self,
                        const guint *taps,
                        guint        n_taps,
                        VnStart     *start)
{
  for (guint i = 0; i < n_taps; i++)
    start->changed[vn_plan_find (self->plan, g_ptr_array_index (self->plan->taps, taps[i]))] = TRUE;
}

/* Steps are run if somebody wants what they compute and nobody has given it. */
static void
runner_from_choose (VnRunner *self,
                    gboolean  wants_outputs,
                    VnStart  *start)
{
  const VnPlan *plan = self->plan;
  g_autofree gboolean *wanted = g_new0 (gboolean, plan->n_values + 1);

  for (guint id = 0; id < plan->n_values; id++)
    wanted[id] = start->changed[id] && ((wants_outputs && plan->values[id].output >= 0) ||
                                        (self->tap != NULL && plan->values[id].tap >= 0));
  for (guint k = plan->steps->len; k-- > 0;)
    {
      const VnStep *step = g_ptr_array_index (plan->steps, k);

      for (guint i = 0; i < step->n_outputs; i++)
        if (step->outputs[i] >= 0 && wanted[step->outputs[i]] &&
            (start->tensors[step->outputs[i]] == NULL || (start->next && start->changed[step->outputs[i]])))
          start->runs[k] = TRUE;
      for (guint i = 0; i < step->n_inputs && start->runs[k]; i++)
        if (step->inputs[i] >= 0)
          wanted[step->inputs[i]] = TRUE;
    }
}

/* What a run starts from, and what is wanted of it. */
typedef struct
{
  VnTensor * const *known;
  const VnTapValue *given;
  guint             n_given;
  const guint      *wanted;
  guint             n_wanted;
  gboolean          next;
} From;

static gboolean
runner_from_fill (VnRunner    *self,
                  const From  *from,
                  gboolean     wants_outputs,
                  VnStart     *start,
                  GError     **error)
{
  if (!runner_from_set_changes (self, from->given, from->n_given, start, error))
    return FALSE;
  if (from->wanted != NULL)
    runner_from_set_wanted (self, from->wanted, from->n_wanted, start);
  else
    runner_from_spread (self, start);
  for (guint id = 0; from->wanted != NULL && wants_outputs && id < self->plan->n_values; id++)
    start->changed[id] = start->changed[id] || self->plan->values[id].output >= 0;
  if (!runner_from_set_known (self, from->known, start, error))
    return FALSE;
  for (guint i = 0; i < from->n_given && start->next; i++)   /* is no news, and need not be computed */
    start->changed[vn_plan_find (self->plan, g_ptr_array_index (self->plan->taps, from->given[i].tap))] = FALSE;
  runner_from_choose (self, wants_outputs, start);
  return TRUE;
}

static gboolean
runner_from_run (VnRunner          *self,
                 VnTensor * const  *inputs,
                 const From        *from,
                 VnTensor         **outputs,
                 GCancellable      *cancellable,
                 GError           **error)
{
  g_autofree VnTensor **tensors = NULL;
  g_autofree gboolean *changed = NULL;
  g_autofree gboolean *runs = NULL;
  VnRunner *runner;
  VnStart start;

  for (guint i = 0; outputs != NULL && i < self->plan->outputs->len; i++)
    outputs[i] = NULL;
  runner = vn_runner_for_inputs (self, inputs, error);
  if (runner == NULL)
    return FALSE;
  tensors = g_new0 (VnTensor *, runner->plan->n_values + 1);
  changed = g_new0 (gboolean, runner->plan->n_values + 1);
  runs = g_new0 (gboolean, runner->plan->steps->len + 1);
  start = (VnStart) { tensors, changed, runs, from->next };
  return runner_from_fill (runner, from, outputs != NULL, &start, error) &&
         vn_runner_run_planned (runner, inputs, &start, outputs, cancellable, error);
}

/**
 * vn_runner_run_from:
 * @inputs: as of vn_runner_run()
 * @known: (nullable): one tensor for each tap of the plan, of an earlier run on the same inputs; %NULL for what is not
 *   known, which is computed where it is needed
 * @given: what taps are to be instead
 * @outputs: (nullable) (out caller-allocates): as of vn_runner_run(); those that do not depend on what is given stay %NULL
 *
 * Runs the part of the network that lies downstream of given values. The plan must have been made with
 * VnPlanOptions.can_restart, so that nobody reads a tapped value in another form. Taps are told of what is given and of what
 * depends on it. The results are the bits of a whole run in which the given values had come about.
 *
 * Returns: %FALSE as vn_runner_run(); %VN_ERROR_SETTING for a given constant
 */
gboolean
vn_runner_run_from (VnRunner           *self,
                    VnTensor * const   *inputs,
                    VnTensor * const   *known,
                    const VnTapValue      *given,
                    guint               n_given,
                    VnTensor          **outputs,
                    GCancellable       *cancellable,
                    GError            **error)
{
  const From from = { .known = known, .given = given, .n_given = n_given };

  g_return_val_if_fail (self != NULL && self->plan->can_restart, FALSE);
  g_return_val_if_fail (inputs != NULL || self->plan->inputs->len == 0, FALSE);
  g_return_val_if_fail (given != NULL || n_given == 0, FALSE);
  for (guint i = 0; i < n_given; i++)
    g_return_val_if_fail (given[i].tap < self->plan->taps->len && given[i].tensor != NULL, FALSE);

  return runner_from_run (self, inputs, &from, outputs, cancellable, error);
}

/**
 * vn_runner_run_next:
 * @known: as of vn_runner_run_from(), of all taps
 * @given: what one tap is to be instead
 *
 * As vn_runner_run_from(), but only as far as the taps that come next, which are told; on the way to them all other taps keep
 * what is known of them.
 */
gboolean
vn_runner_run_next (VnRunner           *self,
                    VnTensor * const   *inputs,
                    VnTensor * const   *known,
                    const VnTapValue   *given,
                    GCancellable       *cancellable,
                    GError            **error)
{
  const From from = { .known = known, .given = given, .n_given = 1, .next = TRUE };

  g_return_val_if_fail (self != NULL && self->plan->can_restart && known != NULL && given != NULL, FALSE);
  g_return_val_if_fail (given->tap < self->plan->taps->len && given->tensor != NULL, FALSE);

  return runner_from_run (self, inputs, &from, NULL, cancellable, error);
}

/**
 * vn_runner_run_taps:
 * @known: (nullable): as of vn_runner_run_from()
 * @wanted: (array length=n_wanted): the taps to be computed, and told
 * @outputs: (nullable) (out caller-allocates): as of vn_runner_run(): all of them
 *
 * Computes some values, and of the network only what they need and what is not known.
 */
gboolean
vn_runner_run_taps (VnRunner           *self,
                    VnTensor * const   *inputs,
                    VnTensor * const   *known,
                    const guint        *wanted,
                    guint               n_wanted,
                    VnTensor          **outputs,
                    GCancellable       *cancellable,
                    GError            **error)
{
  const From from = { .known = known, .wanted = wanted, .n_wanted = n_wanted };

  g_return_val_if_fail (self != NULL && self->plan->can_restart && wanted != NULL, FALSE);
  for (guint i = 0; i < n_wanted; i++)
    g_return_val_if_fail (wanted[i] < self->plan->taps->len, FALSE);

  return runner_from_run (self, inputs, &from, outputs, cancellable, error);
}
