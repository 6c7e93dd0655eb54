/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which tapped values another one is computed from, with no tap between. */
#include "vn-plan-private.h"

/**
 * Sources:
 * @reached: by value: (element-type guint) (nullable): taps that whoever reads the value is computed from
 * @marks: by tap: the last step that was seen to read it, plus 1
 */
typedef struct
{
  GPtrArray *reached;
  guint     *marks;
} Sources;

static void
plan_sources_unref (gpointer data)
{
  if (data != NULL)
    g_array_unref (data);
}

/* What a step reads. */
static GArray *
plan_sources_join (const Sources *self,
                   const VnStep  *step)
{
  GArray *joined = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint i = 0; i < step->n_inputs; i++)
    {
      const GArray *reached = step->inputs[i] >= 0 ? g_ptr_array_index (self->reached, step->inputs[i]) : NULL;

      for (guint k = 0; reached != NULL && k < reached->len; k++)
        {
          guint tap = g_array_index (reached, guint, k);

          if (self->marks[tap] == step->index + 1)
            continue;
          self->marks[tap] = step->index + 1;
          g_array_append_val (joined, tap);
        }
    }
  return joined;
}

static void
plan_sources_reach (const Sources *self,
                    guint          id,
                    GArray        *taps)
{
  g_clear_pointer (&g_ptr_array_index (self->reached, id), g_array_unref);
  g_ptr_array_index (self->reached, id) = g_array_ref (taps);
}

/* Whoever reads a tapped value is computed from that tap and from nothing before it. */
static void
plan_sources_reach_tap (const Sources *self,
                        guint          id,
                        int            tap)
{
  g_autoptr(GArray) own = g_array_new (FALSE, FALSE, sizeof (guint));
  guint number = (guint) tap;

  g_array_append_val (own, number);
  plan_sources_reach (self, id, own);
}

static void
plan_sources_fill (VnPlan    *plan,
                   Sources   *self,
                   GPtrArray *found)
{
  for (guint id = 0; id < plan->n_values; id++)
    if (plan->values[id].store == VN_STORE_INPUT && plan->values[id].tap >= 0)
      plan_sources_reach_tap (self, id, plan->values[id].tap);
  for (guint k = 0; k < plan->steps->len; k++)
    {
      const VnStep *step = g_ptr_array_index (plan->steps, k);
      g_autoptr(GArray) joined = plan_sources_join (self, step);

      for (guint i = 0; i < step->n_outputs; i++)
        {
          const VnPlanValue *value = step->outputs[i] >= 0 ? &plan->values[step->outputs[i]] : NULL;

          if (value == NULL)
            continue;
          for (int tap = value->tap; tap >= 0; tap = plan->next_tap[tap])
            g_array_append_vals (g_ptr_array_index (found, tap), joined->data, joined->len);
          if (value->tap >= 0)
            plan_sources_reach_tap (self, (guint) step->outputs[i], value->tap);
          else
            plan_sources_reach (self, (guint) step->outputs[i], joined);
        }
    }
}

/**
 * vn_plan_list_sources:
 * @inputs: as of vn_runner_run(): sizes that the model leaves open may make the steps others
 *
 * Returns: (transfer full) (nullable) (element-type GArray): for each tap those taps, as guint, that it is computed from with no
 *   tap between
 */
GPtrArray *
vn_plan_list_sources (VnPlan            *self,
                      VnTensor * const  *inputs,
                      GError           **error)
{
  g_autoptr(VnPlan) plan = NULL;
  g_autoptr(GPtrArray) reached = NULL;
  g_autofree guint *marks = NULL;
  GPtrArray *found;
  Sources sources;

  g_return_val_if_fail (self != NULL, NULL);

  plan = vn_plan_for_inputs (self, inputs, error);
  if (plan == NULL)
    return NULL;
  reached = g_ptr_array_new_with_free_func (plan_sources_unref);
  g_ptr_array_set_size (reached, (int) plan->n_values);
  marks = g_new0 (guint, plan->taps->len + 1);
  sources = (Sources) { reached, marks };
  found = g_ptr_array_new_full (plan->taps->len, plan_sources_unref);
  for (guint t = 0; t < plan->taps->len; t++)
    g_ptr_array_add (found, g_array_new (FALSE, FALSE, sizeof (guint)));
  plan_sources_fill (plan, &sources, found);
  return found;
}
