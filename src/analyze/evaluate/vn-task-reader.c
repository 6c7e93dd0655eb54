/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which task outputs speak of: the one that the user or the file says, or the first of vn-tasks.def that recognizes them. */
#include "vn-task-reader.h"

#include "vn-i18n.h"
#include "vn-language-model.h"
#include "vn-model-metadata.h"
#include "vn-user-metric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const VnTaskReader * const readers[] = {
  NULL,
#define VN_TASK(SYMBOL, name, ...) &vn_task_##name,
#include "vn-tasks.def"
#undef VN_TASK
};

/* What Ultralytics calls its tasks. */
static const struct { const char *word; VnTask task; } words[] = {
  { "detect", VN_TASK_DETECTION }, { "segment", VN_TASK_DETECTION }, { "pose", VN_TASK_DETECTION }, { "obb", VN_TASK_DETECTION },
  { "classify", VN_TASK_CLASSIFICATION },
};

/**
 * vn_task_get_reader:
 *
 * Returns: (nullable): what reads answers of @task; %NULL for %VN_TASK_OTHER
 */
const VnTaskReader *
vn_task_get_reader (VnTask task)
{
  g_return_val_if_fail (task < VN_N_TASKS, NULL);

  return readers[task];
}

/* ---- what is known before ---- */

/**
 * vn_task_hint_read:
 * @self: (out): not given by the user
 *
 * What the file says in its metadata: Ultralytics writes “task” and “names” beside “stride”, converters of PaddleOCR write the
 * letters as “character”. A language model has its vocabulary as classes.
 */
void
vn_task_hint_read (VnTaskHint    *self,
                   const VnModel *model)
{
  g_autoptr(VnModelMetadata) metadata = NULL;
  gint64 vocabulary;

  g_return_if_fail (self != NULL && model != NULL);

  *self = (VnTaskHint) { 0 };
  metadata = vn_model_metadata_read (model);
  self->n_classes = metadata->n_names;
  for (guint i = 0; i < G_N_ELEMENTS (words) && metadata->task != NULL; i++)
    if (g_str_equal (words[i].word, metadata->task))
      self->task = words[i].task;
  if (metadata->n_names == 0 && vn_model_get_metadata (model, "character") != NULL)
    self->task = VN_TASK_TEXT;
  if (self->task == VN_TASK_OTHER && (vocabulary = vn_model_find_vocabulary (model)) > 0 && vocabulary <= G_MAXINT32)
    {
      self->task = VN_TASK_TOKENS;
      self->n_classes = (guint) vocabulary;
    }
}

/**
 * vn_task_is_given:
 *
 * Returns: whether the user or the file says that it is @task: what is only likely need not be shown by the values
 */
gboolean
vn_task_is_given (const VnTaskOutputs *outputs,
                  VnTask               task)
{
  g_return_val_if_fail (outputs != NULL, FALSE);

  return outputs->hint != NULL && outputs->hint->task == task;
}

/**
 * vn_task_recognize:
 * @layout: (out) (nullable): how they are laid out, for g_free()
 *
 * Returns: what the outputs look like
 */
VnTask
vn_task_recognize (const VnTaskOutputs  *outputs,
                   gpointer             *layout)
{
  VnTask known;

  g_return_val_if_fail (outputs != NULL && layout != NULL, VN_TASK_OTHER);

  *layout = NULL;
  known = outputs->hint != NULL ? outputs->hint->task : VN_TASK_OTHER;
  if (known != VN_TASK_OTHER && (*layout = readers[known]->recognize (outputs)) != NULL)
    return known;
  for (guint task = VN_TASK_OTHER + 1; task < VN_N_TASKS && (outputs->hint == NULL || !outputs->hint->is_given); task++)
    if ((*layout = readers[task]->recognize (outputs)) != NULL)
      return (VnTask) task;
  return VN_TASK_OTHER;
}

/* ---- what goes in ---- */

static gboolean
task_name_has (const char         *name,
               const char * const *parts)
{
  g_autofree char *lower = name != NULL ? g_ascii_strdown (name, -1) : NULL;

  for (guint i = 0; lower != NULL && parts[i] != NULL; i++)
    if (strstr (lower, parts[i]) != NULL)
      return TRUE;
  return FALSE;
}

/**
 * vn_task_name_has:
 * @parts: %NULL-terminated, in small letters
 *
 * Returns: whether the name of the output is known and has one of @parts in it
 */
gboolean
vn_task_name_has (const VnTaskOutputs *outputs,
                  guint                output,
                  const char * const  *parts)
{
  g_return_val_if_fail (outputs != NULL && parts != NULL, FALSE);

  return outputs->names != NULL && output < outputs->n && task_name_has (outputs->names[output], parts);
}

/* The second or the last axis counts at most four channels. */
static gboolean
task_take_picture (VnTaskOutputs  *outputs,
                   const VnTensor *input)
{
  const VnShape *shape = &input->shape;
  gboolean last = shape->dims[1] > 4;

  if (outputs->height > 0 || (last && shape->dims[3] > 4))
    return FALSE;
  outputs->height = shape->dims[last ? 1 : 2];
  outputs->width = shape->dims[last ? 2 : 3];
  return TRUE;
}

static void
task_take_text (VnTaskOutputs  *outputs,
                const VnTensor *input,
                const char     *name)
{
  static const char * const others[] = { "mask", "type", "position", NULL };

  if (outputs->n_tokens == 0 && input->shape.dims[1] > 0 && !vn_dtype_is_float (input->dtype) && input->dtype != VN_DTYPE_BOOL &&
      input->dtype != VN_DTYPE_STRING && !task_name_has (name, others))
    {
      outputs->n_tokens = input->shape.dims[1];
      outputs->tokens = input;
    }
}

/**
 * vn_task_find_inputs:
 * @outputs: its inputs are set, with height, width, n_tokens and mask
 *
 * A network of one picture has one input of four axes, and none of more; others may tell of its size.
 */
void
vn_task_find_inputs (VnTaskOutputs      *outputs,
                     VnTensor * const   *inputs,
                     const char * const *names,
                     guint               n_inputs)
{
  static const char * const masks[] = { "mask", NULL }, * const types[] = { "type", NULL };
  gboolean is_picture = TRUE;

  g_return_if_fail (outputs != NULL);

  outputs->height = outputs->width = outputs->n_tokens = 0;
  outputs->tokens = outputs->mask = NULL;
  outputs->inputs = inputs;
  outputs->n_inputs = n_inputs;
  for (guint i = 0; i < n_inputs; i++)
    {
      const VnTensor *input = inputs[i];
      gboolean is_tensor = !vn_tensor_is_container (input);

      if (is_tensor && input->shape.rank == 4)
        is_picture = is_picture && task_take_picture (outputs, input);
      else
        is_picture = is_picture && is_tensor && input->shape.rank <= 2;
      if (is_tensor && input->shape.rank == 2)
        task_take_text (outputs, input, names != NULL ? names[i] : NULL);
    }
  for (guint i = 0; i < n_inputs && names != NULL && outputs->n_tokens > 0; i++)
    if (!vn_tensor_is_container (inputs[i]) && inputs[i]->shape.rank == 2 && inputs[i]->shape.dims[1] >= outputs->n_tokens &&
        inputs[i]->dtype != VN_DTYPE_STRING && task_name_has (names[i], masks))
      outputs->mask = inputs[i];
  for (guint i = 0; i < n_inputs && names != NULL; i++)
    if (task_name_has (names[i], types))
      outputs->tokens = NULL;
  if (!is_picture)
    outputs->height = outputs->width = 0;
}

/**
 * vn_task_hands_on:
 *
 * Returns: whether the output has the shape of an input of floats of three axes or more: it is a state, or a signal that was
 *   treated. Of two axes it may be chance: three features, three classes
 */
gboolean
vn_task_hands_on (const VnTaskOutputs *outputs,
                  guint                output)
{
  g_return_val_if_fail (outputs != NULL && output < outputs->n, FALSE);

  for (guint i = 0; i < outputs->n_inputs; i++)
    if (!vn_tensor_is_container (outputs->inputs[i]) && vn_dtype_is_float (outputs->inputs[i]->dtype) &&
        outputs->inputs[i]->shape.rank >= 3 && vn_shape_equal (&outputs->inputs[i]->shape, &outputs->tensors[output]->shape))
      return TRUE;
  return FALSE;
}

/* ---- what is kept ---- */

void
vn_kept_sum_add_item (VnKeptSum        *self,
                      const VnKeptItem *item)
{
  g_return_if_fail (self != NULL && item != NULL);

  if (self->items == NULL)
    self->items = g_array_new (FALSE, FALSE, sizeof (VnKeptItem));
  g_array_append_vals (self->items, item, 1);
}

static int
task_compare_items (gconstpointer a,
                    gconstpointer b)
{
  const VnKeptItem *x = a, *y = b;

  return (x->item > y->item) - (x->item < y->item);
}

/* Puts the items in the order of the samples. */
void
vn_kept_sum_sort (const VnKeptSum *self)
{
  g_return_if_fail (self != NULL);

  if (self->items != NULL)
    g_array_sort (self->items, task_compare_items);
}

void
vn_kept_sum_clear (VnKeptSum *self)
{
  g_return_if_fail (self != NULL);

  for (guint i = 0; self->items != NULL && i < self->items->len; i++)
    {
      VnKeptItem *item = &g_array_index (self->items, VnKeptItem, i);

      g_clear_pointer (&item->first, g_array_unref);
      g_clear_pointer (&item->other, g_array_unref);
    }
  g_clear_pointer (&self->items, g_array_unref);
  g_clear_pointer (&self->classes, g_array_unref);
  *self = (VnKeptSum) { 0 };
}

/**
 * vn_task_note_unread:
 * @task: that outputs were read as those of
 * @asked: (nullable): id of the task that the user says they are of
 * @subject: (nullable): what the note is about
 *
 * Notes where outputs cannot be read as the user says.
 */
void
vn_task_note_unread (VnTask       task,
                     const char  *asked,
                     const char  *subject,
                     VnNotes     *notes)
{
  g_return_if_fail (task < VN_N_TASKS && notes != NULL);

  if (task != VN_TASK_OTHER || asked == NULL || g_str_equal (asked, vn_task_get_id (VN_TASK_OTHER)))
    return;
  vn_notes_add (notes, VN_NOTE_WARNING, "task-unreadable", subject,
                _("The outputs cannot be interpreted as “%s”: task accuracy is not reported"), asked);
}

/**
 * vn_kept_sum_measure:
 * @of_first: what is told of the first network alone
 * @numbers: (element-type VnMetricNumber): to which it is appended
 */
void
vn_kept_sum_measure (const VnKeptSum *self,
                     VnTask           task,
                     gboolean         of_first,
                     GArray          *numbers)
{
  g_return_if_fail (self != NULL && numbers != NULL && task < VN_N_TASKS);

  if (readers[task] != NULL && readers[task]->measure != NULL)
    readers[task]->measure (self, of_first, numbers);
}

/* The same numbers as of vn_kept_sum_measure(), by what a run calls them. */
static void
task_add_figures (const VnKeptSum    *self,
                  const VnTaskReader *reader,
                  VnKept             *kept)
{
  g_autoptr(GArray) of_both = vn_metric_numbers_new (), of_one = vn_metric_numbers_new ();

  reader->measure (self, FALSE, of_both);
  reader->measure (self, TRUE, of_one);
  for (guint f = 0; f < VN_N_KEPT_FIGURES; f++)
    {
      gboolean of_first;
      const char *name = vn_kept_figure_get_measure ((VnKeptFigure) f, &of_first);
      const GArray *own = of_first ? of_one : of_both;

      for (guint i = 0; i < own->len; i++)
        if (g_str_equal (g_array_index (own, VnMetricNumber, i).name, name))
          vn_kept_set_figure (kept, (VnKeptFigure) f, g_array_index (own, VnMetricNumber, i).value);
    }
}

/**
 * vn_kept_sum_finish:
 * @kept: (out): the share of what there was to be kept; of masks the mean overlap of the classes that either shows
 */
void
vn_kept_sum_finish (const VnKeptSum *self,
                    VnTask           task,
                    VnKept          *kept)
{
  g_return_if_fail (self != NULL && kept != NULL && task < VN_N_TASKS);

  *kept = (VnKept) { .task = task, .n_samples = self->n_samples, .n = self->n, .n_kept = self->n_kept, .n_added = self->n_added,
                     .share = NAN, .mean = NAN };
  if (kept->n > 0)
    kept->share = (double) self->n_kept / (double) kept->n;
  if (readers[task] != NULL && readers[task]->finish != NULL)
    readers[task]->finish (self, kept);
  if (readers[task] != NULL && readers[task]->measure != NULL)
    task_add_figures (self, readers[task], kept);
}
