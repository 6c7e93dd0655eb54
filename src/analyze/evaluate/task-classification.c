/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Classifiers: an output with a number for each class, the largest of which is the answer. */
#include "vn-task-reader.h"

typedef struct { gsize n, best; } Choice;

/* Numbers for the first of the pictures of a batch; @several: the only axis besides the batch that has more than one. */
static gsize
classification_count_scores (const VnTensor *tensor,
                             gboolean       *one_axis)
{
  guint n_axes = 0;
  gsize n = tensor->n_elements;

  if (vn_tensor_is_container (tensor) || !vn_dtype_is_float (tensor->dtype))
    return 0;
  for (int i = tensor->shape.rank >= 2 ? 1 : 0; i < tensor->shape.rank; i++)
    n_axes += tensor->shape.dims[i] > 1;
  *one_axis = n_axes == 1;
  if (tensor->shape.rank >= 2 && tensor->shape.dims[0] > 1)
    n /= (gsize) tensor->shape.dims[0];
  return n;
}

/**
 * vn_task_find_scores:
 * @n_scores: (out): numbers for a picture; only set if there is such an output
 *
 * Returns: the output that has a number for each class of the samples, with or without the background, or else the first
 *   that has several numbers for a picture, all along one axis; -1: none
 */
int
vn_task_find_scores (const VnTaskOutputs *outputs,
                     gsize                 *n_scores)
{
  int first = -1;

  g_return_val_if_fail (outputs != NULL && n_scores != NULL, -1);

  for (guint i = 0; i < outputs->n; i++)
    {
      gboolean one_axis = FALSE;
      gsize n = classification_count_scores (outputs->tensors[i], &one_axis);
      gboolean fits = n >= 2 && outputs->n_classes >= 2 && (n == outputs->n_classes || n == outputs->n_classes + 1);

      if (!fits && (n < 2 || !one_axis || first >= 0 || vn_task_hands_on (outputs, i)))
        continue;
      first = (int) i;
      *n_scores = n;
      if (fits)
        break;
    }
  return first;
}

static gpointer
classification_read (gconstpointer          layout,
                     const VnTaskOutputs *outputs)
{
  gsize n = 0;
  int at = vn_task_find_scores (outputs, &n);
  Choice *self;

  if (at < 0)
    return NULL;
  self = g_new0 (Choice, 1);
  self->n = n;
  for (gsize i = 1; i < n; i++)
    if (vn_tensor_get_double (outputs->tensors[at], i) > vn_tensor_get_double (outputs->tensors[at], self->best))
      self->best = i;
  return self;
}

static gpointer
classification_recognize (const VnTaskOutputs *outputs)
{
  return classification_read (NULL, outputs);
}

static void
classification_compare (gconstpointer  first,
                        gconstpointer  other,
                        guint          item,
                        VnKeptSum     *sum)
{
  const Choice *a = first, *b = other;

  sum->n++;
  sum->n_kept += a->n == b->n && a->best == b->best;
}

const VnTaskReader vn_task_classification = {
  .recognize = classification_recognize,
  .read = classification_read,
  .free = g_free,
  .compare = classification_compare,
};
