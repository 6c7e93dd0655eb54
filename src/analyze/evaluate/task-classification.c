/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Classifiers: an output with a number for each class, the largest of which is the answer. */
#include "vn-task-reader.h"

/* @top: the best classes, the best first; of equal ones the lower number */
typedef struct
{
  gsize        n;
  guint        n_top;
  VnClassScore top[VN_ANSWER_MOST_CLASSES];
} Choice;

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

/* The lower number stays before an equal one: it came first. */
static void
classification_insert (Choice      *self,
                       VnClassScore score)
{
  guint at = self->n_top;

  while (at > 0 && score.score > self->top[at - 1].score)
    at--;
  if (at >= VN_ANSWER_MOST_CLASSES)
    return;
  self->n_top = MIN (self->n_top + 1, VN_ANSWER_MOST_CLASSES);
  for (guint i = self->n_top - 1; i > at; i--)
    self->top[i] = self->top[i - 1];
  self->top[at] = score;
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
  for (gsize i = 0; i < n; i++)
    classification_insert (self, (VnClassScore) { (guint) i, vn_tensor_get_double (outputs->tensors[at], i) });
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
  sum->n_kept += a->n == b->n && a->top[0].label == b->top[0].label;
}

static GArray *
classification_copy_top (const Choice *self)
{
  GArray *top = g_array_sized_new (FALSE, FALSE, sizeof (VnClassScore), self->n_top);

  return g_array_append_vals (top, self->top, self->n_top);
}

static void
classification_keep (gconstpointer   layout,
                     gconstpointer   first,
                     gconstpointer   other,
                     guint           most_pixels,
                     VnSampleAnswer *kept)
{
  const Choice *a = first;

  kept->form = VN_ANSWER_SCORES;
  kept->n_classes = (guint) a->n;
  kept->first = classification_copy_top (a);
  kept->other = classification_copy_top (other);
}

const VnTaskReader vn_task_classification = {
  .recognize = classification_recognize,
  .read = classification_read,
  .free = g_free,
  .compare = classification_compare,
  .keep = classification_keep,
};
