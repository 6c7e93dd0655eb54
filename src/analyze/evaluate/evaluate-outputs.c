/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums of each answer are kept, and added in their order: threads write beside each other, and the numbers do not depend on
 * them. */
#include "evaluate-outputs.h"

#include "vn-cache.h"
#include "vn-op.h"
#include "vn-part-sums.h"

#include <math.h>

struct _EvaluateOutputs
{
  guint         n;             /* outputs of the first network */
  char        **names;
  gboolean     *beside;        /* by output: it does not decide what a network is worth */
  VnParts      *parts;         /* nullable */
  gsize        *places;        /* by output, in the sums of an answer; the last one: how many there are */
  gsize         n_answers;
  VnErrorSum  **sums;          /* by answer; NULL: not compared */
};

/*< private >
 * evaluate_outputs_new:
 * @names: (array length=n): of the outputs of the first network
 * @parts: (nullable): of these
 * @n_answers: how many will be compared with it, at most
 *
 * Returns: (transfer full): with nothing compared
 */
EvaluateOutputs *
evaluate_outputs_new (const char * const *names,
                      guint               n,
                      VnParts            *parts,
                      gsize               n_answers)
{
  EvaluateOutputs *self;

  g_return_val_if_fail (names != NULL, NULL);

  self = g_new0 (EvaluateOutputs, 1);
  self->n = n;
  self->names = g_new0 (char *, n + 1);
  self->beside = g_new0 (gboolean, n + 1);
  self->parts = parts != NULL ? vn_parts_ref (parts) : NULL;
  self->places = g_new0 (gsize, n + 1);
  self->n_answers = n_answers;
  self->sums = g_new0 (VnErrorSum *, n_answers + 1);
  for (guint i = 0; i < n; i++)
    {
      self->names[i] = g_strdup (names[i]);
      self->places[i + 1] = self->places[i] + vn_part_sums_count (vn_parts_get (parts, names[i]));
    }
  return self;
}

/*< private >
 * evaluate_outputs_free:
 * @self: (nullable)
 */
void
evaluate_outputs_free (EvaluateOutputs *self)
{
  if (self == NULL)
    return;
  for (gsize i = 0; i < self->n_answers; i++)
    g_free (self->sums[i]);
  g_free (self->sums);
  g_free (self->places);
  g_clear_pointer (&self->parts, vn_parts_unref);
  g_strfreev (self->names);
  g_free (self->beside);
  g_free (self);
}

/*< private >
 * evaluate_outputs_leave_out_caches:
 * @plan: of the first network
 *
 * They are compared, but the figure of merit leaves them out.
 */
void
evaluate_outputs_leave_out_caches (EvaluateOutputs *self,
                                   VnPlan          *plan)
{
  g_return_if_fail (self != NULL && plan != NULL);

  for (guint i = 0; i < MIN (self->n, vn_plan_get_n_outputs (plan)); i++)
    self->beside[i] = vn_value_is_cache (vn_plan_get_output (plan, i));
}

/* By name; networks with as many outputs are compared one by one. */
static int
evaluate_outputs_find (const EvaluateOutputs *self,
                       const char            *name,
                       guint                  place,
                       guint                  n)
{
  for (guint i = 0; i < self->n; i++)
    if (g_str_equal (self->names[i], name))
      return (int) i;
  return self->n == n ? (int) place : -1;
}

static void
evaluate_outputs_init_sums (const EvaluateOutputs *self,
                            VnErrorSum            *sums)
{
  for (guint i = 0; i < self->n; i++)
    vn_part_sums_init (&sums[self->places[i]], vn_parts_get (self->parts, self->names[i]));
}

/*< private >
 * evaluate_outputs_add:
 * @answer: its number, which no other thread adds to
 * @first: outputs of the first network
 * @names, @outputs: (array length=n): of another one
 */
void
evaluate_outputs_add (EvaluateOutputs    *self,
                      gsize               answer,
                      VnTensor * const   *first,
                      const char * const *names,
                      guint               n,
                      VnTensor * const   *outputs)
{
  VnErrorSum *sums;

  g_return_if_fail (self != NULL && answer < self->n_answers && first != NULL && outputs != NULL);

  if (self->sums[answer] == NULL)
    self->sums[answer] = g_new0 (VnErrorSum, MAX (self->places[self->n], 1));
  sums = self->sums[answer];
  evaluate_outputs_init_sums (self, sums);
  for (guint i = 0; i < n; i++)
    {
      int at = evaluate_outputs_find (self, names[i], i, n);

      if (at >= 0 && !vn_tensor_is_container (outputs[i]) && !vn_tensor_is_container (first[at]) &&
          outputs[i]->dtype == VN_DTYPE_F32 &&
          first[at]->dtype == VN_DTYPE_F32 && first[at]->n_elements == outputs[i]->n_elements)
        vn_part_sums_add (&sums[self->places[at]], vn_parts_get (self->parts, self->names[at]), &first[at]->shape,
                          first[at]->data,
                          outputs[i]->data);
    }
}

/*< private >
 * evaluate_outputs_get:
 * @n_sums: (out): how many each answer has
 *
 * Returns: (transfer none) (nullable): the sums of @answer; %NULL: it was not compared
 */
const VnErrorSum *
evaluate_outputs_get (const EvaluateOutputs *self,
                      gsize                  answer,
                      gsize                 *n_sums)
{
  g_return_val_if_fail (self != NULL && answer < self->n_answers && n_sums != NULL, NULL);

  *n_sums = self->places[self->n];
  return self->sums[answer];
}

/*< private >
 * evaluate_outputs_take:
 * @sums: (transfer full): as many as evaluate_outputs_get() says
 */
void
evaluate_outputs_take (EvaluateOutputs *self,
                       gsize            answer,
                       VnErrorSum      *sums)
{
  g_return_if_fail (self != NULL && answer < self->n_answers);

  g_free (self->sums[answer]);
  self->sums[answer] = sums;
}

/*< private >
 * evaluate_outputs_sum_up:
 * @start, @step: the answers @start, @start + @step, ... are those of one network
 *
 * Returns: (transfer full) (nullable): a row for each output of the first network that was compared; %NULL: there is none
 */
VnErrorTable *
evaluate_outputs_sum_up (const EvaluateOutputs *self,
                         gsize                  start,
                         gsize                  step)
{
  g_autofree VnErrorSum *all = NULL;
  g_autoptr(VnErrorTable) table = NULL;
  guint n_samples = 0;

  g_return_val_if_fail (self != NULL && step > 0, NULL);

  all = g_new0 (VnErrorSum, MAX (self->places[self->n], 1));
  evaluate_outputs_init_sums (self, all);
  for (gsize a = start; a < self->n_answers; a += step)
    {
      for (guint i = 0; i < self->n && self->sums[a] != NULL; i++)
        vn_part_sums_merge (&all[self->places[i]], vn_parts_get (self->parts, self->names[i]), &self->sums[a][self->places[i]]);
      n_samples += self->sums[a] != NULL;
    }
  table = vn_error_table_new (n_samples);
  for (guint i = 0; i < self->n; i++)
    {
      const VnErrorSum *sums = &all[self->places[i]];
      VnErrorRow *row;

      if (sums->n + sums->n_bad == 0)
        continue;
      row = vn_error_row_new ();
      row->value = g_strdup (self->names[i]);
      row->node = g_strdup ("");
      row->op_type = g_strdup ("");
      row->is_output = !self->beside[i];
      vn_part_sums_fill_row (sums, vn_parts_get (self->parts, self->names[i]), row);
      vn_error_table_add (table, row);
    }
  return vn_error_table_get_n (table) > 0 ? g_steal_pointer (&table) : NULL;
}

/* ---- what is in them ---- */

/* How many classes come before @wanted: those with more, and of equal ones those with lower numbers. */
int
evaluate_outputs_find_rank (const VnTensor *tensor,
                            gsize           n,
                            gsize           wanted)
{
  double value = vn_tensor_get_double (tensor, wanted);
  int rank = 0;

  for (gsize i = 0; i < n; i++)
    {
      double other = vn_tensor_get_double (tensor, i);

      rank += other > value || (other == value && i < wanted) || (isnan (value) && i != wanted);
    }
  return rank;
}

/* Outputs in float16 are looked at as those in float32 are. */
gboolean
evaluate_outputs_widen (VnTensor **outputs,
                        guint      n,
                        GError   **error)
{
  for (guint i = 0; i < n; i++)
    if (outputs[i] != NULL && !vn_tensor_is_container (outputs[i]) && outputs[i]->dtype == VN_DTYPE_F16)
      {
        g_autoptr(VnTensor) half = outputs[i];

        outputs[i] = vn_tensor_convert (half, VN_DTYPE_F32, error);
        if (outputs[i] == NULL)
          return FALSE;
      }
  return TRUE;
}

/* ---- of which kind they are ---- */

/* Whether the first output has one element for each class of @dataset, and can be computed here. */
gboolean
evaluate_outputs_are_classes (const VnModel *model,
                              VnDataset     *dataset)
{
  const VnValue *output = model->graph->outputs->len > 0 ? g_ptr_array_index (model->graph->outputs, 0) : NULL;
  g_autofree gboolean *lost = vn_graph_find_lost (model->graph);
  gint64 n = 1;

  if (output == NULL || output->type.shape.rank < 1 ||
      (vn_dataset_get_n_classes (dataset) < 2 && vn_dataset_get_labels (dataset) == NULL))
    return FALSE;
  if (output->graph != model->graph || lost[output->id])
    return FALSE;
  for (int i = 0; i < output->type.shape.rank; i++)
    n *= output->type.shape.dims[i] < 0 && i == 0 ? 1 : output->type.shape.dims[i];
  return vn_dataset_get_labels (dataset) != NULL ? n >= 2 &&
         output->type.shape.rank <= 2 : n == vn_dataset_get_n_classes (dataset);
}

/* Whether all of them can be computed here. */
gboolean
evaluate_outputs_are_computed (const VnModel *model)
{
  g_autofree gboolean *lost = vn_graph_find_lost (model->graph);

  for (guint i = 0; i < model->graph->outputs->len; i++)
    {
      const VnValue *output = g_ptr_array_index (model->graph->outputs, i);

      if (output->graph != model->graph || lost[output->id])
        return FALSE;
    }
  return TRUE;
}

/* (transfer container): of its outputs, in their order */
const char **
evaluate_outputs_list_names (VnPlan *plan)
{
  guint n = vn_plan_get_n_outputs (plan);
  const char **names = g_new0 (const char *, n + 1);

  for (guint i = 0; i < n; i++)
    names[i] = vn_plan_get_output (plan, i)->name;
  return names;
}
