/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers of networks, compared sample by sample, in any order and from any thread. The task is told by the outputs of the first
 * network for the first samples: one may show nothing. */
#include "vn-kept-meter.h"

#define MOST_LOOKS_UNKNOWN 3u     /* samples without any known answer, after which the others are not waited for */
#define MOST_LOOKS 8u             /* samples in whose answer nothing is shown */

struct _VnKeptMeter
{
  VnTaskHint hint;
  VnTask     task;
  gpointer   layout;              /* nullable */
  guint      n_looks, n_others;
  GMutex     lock;                /* of what follows */
  VnKeptSum *sums;                /* by other network */
  GPtrArray **answers;            /* (nullable): by other network, of VnSampleAnswer */
  const guint *samples;           /* that @answers are of */
  guint      most_pixels;         /* of a mask; 0: figures alone are collected */
};

/**
 * vn_kept_meter_new:
 * @first: the network whose answers are to be kept: what its file says of its task
 * @hint: (nullable): what the user says instead
 * @n_others: networks that are compared with it
 */
VnKeptMeter *
vn_kept_meter_new (const VnModel    *first,
                   const VnTaskHint *hint,
                   guint             n_others)
{
  VnKeptMeter *self;

  g_return_val_if_fail (first != NULL, NULL);

  self = g_new0 (VnKeptMeter, 1);
  vn_task_hint_read (&self->hint, first);
  if (hint != NULL && hint->is_given)
    {
      self->hint.task = hint->task;
      self->hint.is_given = TRUE;
    }
  self->n_others = n_others;
  self->sums = g_new0 (VnKeptSum, MAX (n_others, 1));
  g_mutex_init (&self->lock);
  return self;
}

/**
 * vn_kept_meter_collect:
 * @samples: (array length=n): by item: index of the sample; borrowed
 * @with_details: also both answers as they are shown, of the first of the other networks
 *
 * Has what is kept of each sample collected: vn_kept_meter_steal_answers().
 */
void
vn_kept_meter_collect (VnKeptMeter *self,
                       const guint *samples,
                       guint        n,
                       gboolean     with_details)
{
  const guint share = VN_ANSWERS_MOST_BYTES / (2 * sizeof (guint16)) / MAX (n, 1);

  g_return_if_fail (self != NULL && samples != NULL && self->answers == NULL);

  self->answers = g_new0 (GPtrArray *, MAX (self->n_others, 1));
  for (guint k = 0; k < self->n_others; k++)
    self->answers[k] = vn_sample_answers_new ();
  self->samples = samples;
  self->most_pixels = with_details ? CLAMP (share, 1, VN_ANSWER_MOST_PIXELS) : 0;
}

static int
kept_meter_compare_places (gconstpointer a,
                           gconstpointer b)
{
  const VnSampleAnswer *x = *(VnSampleAnswer * const *) a, *y = *(VnSampleAnswer * const *) b;

  return (x->sample > y->sample) - (x->sample < y->sample);
}

/**
 * vn_kept_meter_steal_answers:
 * @k: which of the other networks
 * @dataset: (nullable): of the samples: has their names
 *
 * Returns: (transfer full) (nullable) (element-type VnSampleAnswer): what it keeps of each sample that could be read, in the
 *   order of the data set; empty where nothing is told of a sample alone. %NULL if nobody had it collected
 */
GPtrArray *
vn_kept_meter_steal_answers (VnKeptMeter *self,
                             guint        k,
                             VnDataset   *dataset)
{
  g_return_val_if_fail (self != NULL && k < self->n_others, NULL);

  if (self->answers == NULL)
    return NULL;
  g_ptr_array_sort (self->answers[k], kept_meter_compare_places);
  for (guint i = 0; i < self->answers[k]->len && dataset != NULL; i++)
    {
      VnSampleAnswer *answer = g_ptr_array_index (self->answers[k], i);

      answer->name = g_strdup (vn_dataset_get_name (dataset, answer->sample));
    }
  return g_steal_pointer (&self->answers[k]);
}

void
vn_kept_meter_free (VnKeptMeter *self)
{
  if (self == NULL)
    return;
  for (guint k = 0; k < self->n_others; k++)
    {
      vn_kept_sum_clear (&self->sums[k]);
      if (self->answers != NULL)
        g_clear_pointer (&self->answers[k], g_ptr_array_unref);
    }
  g_free (self->answers);
  g_free (self->sums);
  g_free (self->layout);
  g_mutex_clear (&self->lock);
  g_free (self);
}

VnTask
vn_kept_meter_get_task (const VnKeptMeter *self)
{
  g_return_val_if_fail (self != NULL, VN_TASK_OTHER);

  return self->task;
}

/**
 * vn_kept_meter_tells_alone:
 *
 * Returns: whether there are figures of the first network alone, which it is compared with itself for
 */
gboolean
vn_kept_meter_tells_alone (const VnKeptMeter *self)
{
  const VnTaskReader *reader;

  g_return_val_if_fail (self != NULL, FALSE);

  reader = vn_task_get_reader (self->task);
  return reader != NULL && reader->measure != NULL;
}

/* ---- what the task is ---- */

/* Whether there is anything to be kept in what is laid out so. */
static gboolean
kept_meter_shows_something (VnTask               task,
                            gconstpointer        layout,
                            const VnTaskOutputs *outputs)
{
  const VnTaskReader *reader = vn_task_get_reader (task);
  gpointer answer = reader->read (layout, outputs);
  VnKeptSum sum = { 0 };
  VnKept kept;

  if (answer == NULL)
    return FALSE;
  reader->compare (answer, answer, 0, &sum);
  vn_kept_sum_finish (&sum, task, &kept);
  vn_kept_sum_clear (&sum);
  reader->free (answer);
  return kept.n > 0;
}

/**
 * vn_kept_meter_look:
 * @first: outputs of the first network, of the next of the samples in their order
 *
 * Learns the task. Not thread-safe; before vn_kept_meter_add().
 *
 * Returns: whether it is known now, or not worth looking at more samples
 */
gboolean
vn_kept_meter_look (VnKeptMeter         *self,
                    const VnTaskOutputs *first)
{
  VnTaskOutputs outputs;
  gpointer layout = NULL;
  VnTask task;
  gboolean shows;

  g_return_val_if_fail (self != NULL && first != NULL, TRUE);

  outputs = *first;
  outputs.hint = &self->hint;
  task = vn_task_recognize (&outputs, &layout);
  shows = task != VN_TASK_OTHER && kept_meter_shows_something (task, layout, &outputs);
  self->n_looks++;
  if (shows || self->task == VN_TASK_OTHER)
    {
      g_free (self->layout);
      self->layout = g_steal_pointer (&layout);
      self->task = task;
    }
  g_free (layout);
  return shows || self->n_looks >= (self->task == VN_TASK_OTHER ? MOST_LOOKS_UNKNOWN : MOST_LOOKS);
}

/* ---- what is kept ---- */

static int
kept_meter_find_counterpart (const VnTaskOutputs *first,
                             const VnTaskOutputs *other,
                             guint                output)
{
  for (guint i = 0; i < first->n && first->names != NULL && other->names != NULL; i++)
    if (g_str_equal (first->names[i], other->names[output]))
      return (int) i;
  return first->n == other->n ? (int) output : -1;
}

/* Outputs in the order of the first network's; %FALSE if one has no counterpart. */
static gboolean
kept_meter_sort_outputs (const VnTaskOutputs  *first,
                         const VnTaskOutputs  *other,
                         VnTensor            **sorted)
{
  guint n_found = 0;

  for (guint i = 0; i < other->n; i++)
    {
      int at = kept_meter_find_counterpart (first, other, i);

      if (at < 0 || sorted[at] != NULL)
        continue;
      sorted[at] = other->tensors[i];
      n_found++;
    }
  return n_found == first->n;
}

/* What a network says that has the same outputs as the first, or answers of the same task in outputs of its own. */
static gpointer
kept_meter_read (const VnKeptMeter   *self,
                 const VnTaskOutputs *first,
                 const VnTaskOutputs *outputs)
{
  const VnTaskReader *reader = vn_task_get_reader (self->task);
  g_autofree VnTensor **sorted = g_new0 (VnTensor *, first->n + 1);
  VnTaskOutputs like_first = *outputs, hinted = *outputs;
  g_autofree gpointer own = NULL;
  gpointer answer = NULL;

  hinted.hint = &self->hint;
  like_first.tensors = sorted;
  like_first.n = first->n;
  like_first.names = first->names;
  if (kept_meter_sort_outputs (first, outputs, sorted))
    answer = reader->read (self->layout, &like_first);
  if (answer == NULL && (own = reader->recognize (&hinted)) != NULL)
    answer = reader->read (own, &hinted);
  return answer;
}

/* What there is to say of one sample; @first, @other: (nullable): both answers, read. */
static void
kept_meter_keep (VnKeptMeter         *self,
                 guint                item,
                 guint                k,
                 const VnKeptSum     *sum,
                 const VnTaskOutputs *outputs,
                 gconstpointer        first,
                 gconstpointer        other)
{
  const VnTaskReader *reader = vn_task_get_reader (self->task);
  VnSampleAnswer *answer;
  VnKept kept;

  if (self->answers == NULL || reader->keep == NULL)
    return;
  vn_kept_sum_finish (sum, self->task, &kept);
  answer = vn_sample_answer_new (self->samples[item], &kept);
  if (k == 0 && self->most_pixels > 0 && first != NULL)
    {
      answer->height = outputs->height;
      answer->width = outputs->width;
      reader->keep (self->layout, first, other, self->most_pixels, answer);
    }
  g_mutex_lock (&self->lock);
  g_ptr_array_add (self->answers[k], answer);
  g_mutex_unlock (&self->lock);
}

/* By other network; those whose answer cannot be read have none. */
static VnKeptSum *
kept_meter_compare (VnKeptMeter         *self,
                    guint                item,
                    const VnTaskOutputs *outputs)
{
  const VnTaskReader *reader = vn_task_get_reader (self->task);
  VnKeptSum *sums = g_new0 (VnKeptSum, MAX (self->n_others, 1));
  gpointer first;

  first = reader != NULL ? kept_meter_read (self, &outputs[0], &outputs[0]) : NULL;
  for (guint k = 0; k < self->n_others && first != NULL; k++)
    {
      gpointer other = kept_meter_read (self, &outputs[0], &outputs[k + 1]);

      if (other == NULL)
        continue;
      sums[k].n_samples++;
      reader->compare (first, other, item, &sums[k]);
      kept_meter_keep (self, item, k, &sums[k], outputs, first, other);
      reader->free (other);
    }
  if (first != NULL)
    reader->free (first);
  return sums;
}

/* @sums: (transfer full) */
static void
kept_meter_merge (VnKeptMeter *self,
                  VnKeptSum   *sums)
{
  g_mutex_lock (&self->lock);
  for (guint k = 0; k < self->n_others; k++)
    vn_kept_sum_merge (&self->sums[k], &sums[k]);
  g_mutex_unlock (&self->lock);
  for (guint k = 0; k < self->n_others; k++)
    vn_kept_sum_clear (&sums[k]);
  g_free (sums);
}

/**
 * vn_kept_meter_add:
 * @item: place of the sample among the samples
 * @outputs: (array): for one sample, of the first network and of each of the others
 *
 * Thread-safe. A network whose answer cannot be read is left out.
 */
void
vn_kept_meter_add (VnKeptMeter         *self,
                   guint                item,
                   const VnTaskOutputs *outputs)
{
  g_return_if_fail (self != NULL && outputs != NULL);

  kept_meter_merge (self, kept_meter_compare (self, item, outputs));
}

/**
 * vn_kept_meter_add_packed:
 *
 * As vn_kept_meter_add().
 *
 * Returns: (transfer floating): what was added, for vn_kept_meter_take() of another process
 */
GVariant *
vn_kept_meter_add_packed (VnKeptMeter         *self,
                          guint                item,
                          const VnTaskOutputs *outputs)
{
  VnKeptSum *sums;
  GVariantBuilder packed;

  g_return_val_if_fail (self != NULL && outputs != NULL, NULL);

  sums = kept_meter_compare (self, item, outputs);
  g_variant_builder_init (&packed, G_VARIANT_TYPE ("a" VN_KEPT_SUM_TYPE));
  for (guint k = 0; k < self->n_others; k++)
    g_variant_builder_add_value (&packed, vn_kept_sum_pack (&sums[k]));
  kept_meter_merge (self, sums);
  return g_variant_builder_end (&packed);
}

/**
 * vn_kept_meter_take:
 * @item: place of the sample among the samples
 * @packed: of vn_kept_meter_add_packed() in a process that compares the same networks
 *
 * Returns: %FALSE if it compares others
 */
gboolean
vn_kept_meter_take (VnKeptMeter *self,
                    guint        item,
                    GVariant    *packed)
{
  VnKeptSum *sums;

  g_return_val_if_fail (self != NULL && packed != NULL, FALSE);

  if (g_variant_n_children (packed) != self->n_others)
    return FALSE;
  sums = g_new0 (VnKeptSum, MAX (self->n_others, 1));
  for (guint k = 0; k < self->n_others; k++)
    {
      g_autoptr(GVariant) one = g_variant_get_child_value (packed, k);

      vn_kept_sum_unpack (&sums[k], one);
      if (sums[k].n_samples > 0)
        kept_meter_keep (self, item, k, &sums[k], NULL, NULL, NULL);
    }
  kept_meter_merge (self, sums);
  return TRUE;
}

/**
 * vn_kept_meter_measure:
 * @k: which of the other networks
 * @of_first: what is told of the first network alone, as it was compared with @k
 * @numbers: (element-type VnMetricNumber): to which it is appended
 */
void
vn_kept_meter_measure (const VnKeptMeter *self,
                       guint              k,
                       gboolean           of_first,
                       GArray            *numbers)
{
  g_return_if_fail (self != NULL && numbers != NULL && k < self->n_others);

  vn_kept_sum_measure (&self->sums[k], self->task, of_first, numbers);
}

/**
 * vn_kept_meter_finish:
 * @k: which of the other networks
 * @kept: (out)
 */
void
vn_kept_meter_finish (const VnKeptMeter *self,
                      guint              k,
                      VnKept            *kept)
{
  g_return_if_fail (self != NULL && kept != NULL && k < self->n_others);

  vn_kept_sum_finish (&self->sums[k], self->task, kept);
}
