/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a job adds to the message when it has failed: a cause that lies further to the front than where the failure was found. */
#include "vn-job-input.h"

#include "vn-i18n.h"
#include "vn-weights-check.h"

#include <string.h>

/* The first input that leaves sizes open which samples would have. */
static const VnValue *
job_explain_find_open (const VnGraph *graph)
{
  for (guint i = 0; i < graph->inputs->len; i++)
    {
      const VnValue *input = g_ptr_array_index (graph->inputs, i);
      const VnShape *shape = &input->type.shape;

      for (int d = 1; d < shape->rank && input->initializer == NULL; d++)
        if (shape->dims[d] < 0)
          return input;
    }
  return NULL;
}

/*< private >
 * vn_job_explain_open_sizes:
 * @data: (nullable)
 * @given: (nullable): sizes that the user gave
 * @error: (inout): of a job that was not cancelled
 *
 * Random values have no size of their own: what @model leaves open was taken as 1, with which many networks cannot run.
 */
void
vn_job_explain_open_sizes (const VnModel     *model,
                           const VnDataSpec  *data,
                           GHashTable        *given,
                           GError           **error)
{
  const VnValue *open;

  g_return_if_fail (model != NULL);

  if (data == NULL || !vn_data_spec_is_random (data) || (given != NULL && g_hash_table_size (given) > 0))
    return;
  open = job_explain_find_open (model->graph);
  if (open != NULL)
    g_prefix_error (error, _("Input “%s” has dynamic dimensions, which are 1 for random values; set them with --shape "
                             "or --dim. "), open->name);
}

/* What comes of infinite weights is found far behind them. */
static void
job_explain_weights (VnNotes  *notes,
                     GError  **error)
{
  for (guint i = 0; i < vn_notes_get_n (notes); i++)
    {
      const VnNote *note = vn_notes_get (notes, i);

      if (!g_str_equal (note->code, VN_NOTE_WEIGHTS_NOT_FINITE) ||
          (error != NULL && *error != NULL && strstr ((*error)->message, note->subject) != NULL))
        continue;
      g_prefix_error (error, "“%s”: %s. ", note->subject, note->text);
      return;
    }
}

/*< private >
 * vn_job_explain_failure:
 * @error: (inout): of a job that was not cancelled
 *
 * Puts in front of @error what has led to it.
 */
void
vn_job_explain_failure (const VnJobInput  *self,
                        GError           **error)
{
  g_return_if_fail (self != NULL);

  vn_job_explain_open_sizes (self->model, self->data, self->given_shapes, error);
  job_explain_weights (self->notes, error);
}
