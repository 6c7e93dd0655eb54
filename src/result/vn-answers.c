/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Both answers to one sample: what of the first is kept, and which samples have lost the most. */
#include "vn-answers.h"

#include <math.h>

static void
answers_free_one (gpointer data)
{
  vn_sample_answer_free (data);
}

/**
 * vn_sample_answers_new:
 *
 * Returns: (transfer full) (element-type VnSampleAnswer): none yet
 */
GPtrArray *
vn_sample_answers_new (void)
{
  return g_ptr_array_new_with_free_func (answers_free_one);
}

/**
 * vn_sample_answer_new:
 * @kept: of this sample alone
 *
 * Returns: (transfer full): figures alone
 */
VnSampleAnswer *
vn_sample_answer_new (guint         sample,
                      const VnKept *kept)
{
  VnSampleAnswer *self;

  g_return_val_if_fail (kept != NULL, NULL);

  self = g_new0 (VnSampleAnswer, 1);
  self->sample = sample;
  self->kept = *kept;
  return self;
}

void
vn_sample_answer_free (VnSampleAnswer *self)
{
  if (self == NULL)
    return;

  g_clear_pointer (&self->first, g_array_unref);
  g_clear_pointer (&self->other, g_array_unref);
  g_clear_pointer (&self->partners, g_array_unref);
  g_free (self->name);
  g_free (self);
}

/**
 * vn_sample_answer_count_kept:
 * @self: of boxes or symbols
 *
 * Returns: how many of the float network the quantized one has as well
 */
guint
vn_sample_answer_count_kept (const VnSampleAnswer *self)
{
  guint n = 0;

  g_return_val_if_fail (self != NULL && self->partners != NULL, 0);

  for (guint i = 0; i < self->partners->len; i++)
    n += g_array_index (self->partners, guint, i) != VN_NO_PARTNER;
  return n;
}

/**
 * vn_sample_answer_find_owner:
 * @self: of boxes or symbols
 * @other: one of the quantized network
 *
 * Returns: the one of the float network that it keeps, or %VN_NO_PARTNER
 */
guint
vn_sample_answer_find_owner (const VnSampleAnswer *self,
                             guint                 other)
{
  g_return_val_if_fail (self != NULL && self->partners != NULL && other < self->other->len, VN_NO_PARTNER);

  for (guint i = 0; i < self->partners->len; i++)
    if (g_array_index (self->partners, guint, i) == other)
      return i;
  return VN_NO_PARTNER;
}

/* ---- which letters are the same ---- */

/* By where both texts go on: length of what they have in common from there to their ends. */
static guint *
answers_count_common (const GArray *a,
                      const GArray *b)
{
  const guint width = b->len + 1;
  guint *common = g_new0 (guint, (gsize) (a->len + 1) * width);

  for (guint i = a->len; i-- > 0;)
    for (guint k = b->len; k-- > 0;)
      common[i * width + k] = g_array_index (a, guint, i) == g_array_index (b, guint, k)
                              ? common[(i + 1) * width + k + 1] + 1
                              : MAX (common[(i + 1) * width + k], common[i * width + k + 1]);
  return common;
}

/**
 * vn_sample_answer_align:
 * @self: of symbols, without partners
 *
 * Finds partners: the longest common subsequence of both texts.
 */
void
vn_sample_answer_align (VnSampleAnswer *self)
{
  g_autofree guint *common = NULL;
  guint width, k = 0;

  g_return_if_fail (self != NULL && self->form == VN_ANSWER_SYMBOLS && self->partners == NULL);

  common = answers_count_common (self->first, self->other);
  width = self->other->len + 1;
  self->partners = g_array_sized_new (FALSE, FALSE, sizeof (guint), self->first->len);
  for (guint i = 0; i < self->first->len; i++)
    {
      const guint symbol = g_array_index (self->first, guint, i);
      guint partner = VN_NO_PARTNER;

      while (k < self->other->len && g_array_index (self->other, guint, k) != symbol &&
             common[i * width + k] == common[i * width + k + 1])
        k++;
      if (k < self->other->len && g_array_index (self->other, guint, k) == symbol)
        partner = k++;
      g_array_append_val (self->partners, partner);
    }
}

/* ---- lists ---- */

/* What is counted by how many are lost; a mask by the part of it, and where there is nothing to lose nothing is. */
static double
answers_get_loss (const VnSampleAnswer *self)
{
  if (vn_task_get_counted (self->kept.task) != NULL)
    return (double) (self->kept.n - self->kept.n_kept);
  return isnan (self->kept.share) ? -1 : 1 - self->kept.share;
}

static int
answers_compare (gconstpointer a,
                 gconstpointer b)
{
  return vn_sample_answer_compare (*(VnSampleAnswer * const *) a, *(VnSampleAnswer * const *) b);
}

/**
 * vn_sample_answers_sort:
 * @answers: (element-type VnSampleAnswer): of one task
 *
 * Returns: (transfer container) (element-type VnSampleAnswer): @answers, which own them, in the order of
 *   vn_sample_answer_compare()
 */
GPtrArray *
vn_sample_answers_sort (GPtrArray *answers)
{
  GPtrArray *sorted = g_ptr_array_new ();

  g_return_val_if_fail (answers != NULL, sorted);

  for (guint i = 0; i < answers->len; i++)
    g_ptr_array_add (sorted, g_ptr_array_index (answers, i));
  g_ptr_array_sort (sorted, answers_compare);
  return sorted;
}

/**
 * vn_sample_answers_dup_figures:
 * @answers: (element-type VnSampleAnswer)
 *
 * Returns: (transfer full) (element-type VnSampleAnswer): the same without boxes, masks and whatever else takes memory
 */
GPtrArray *
vn_sample_answers_dup_figures (GPtrArray *answers)
{
  GPtrArray *figures = vn_sample_answers_new ();

  g_return_val_if_fail (answers != NULL, figures);

  for (guint i = 0; i < answers->len; i++)
    {
      const VnSampleAnswer *answer = g_ptr_array_index (answers, i);
      VnSampleAnswer *figure = vn_sample_answer_new (answer->sample, &answer->kept);

      figure->name = g_strdup (answer->name);
      g_ptr_array_add (figures, figure);
    }
  return figures;
}

/**
 * vn_sample_answer_compare:
 * @other: of the same task
 *
 * Returns: negative if @self has lost more than @other, or as much and has more that was added, or comes first in the data set
 */
int
vn_sample_answer_compare (const VnSampleAnswer *self,
                          const VnSampleAnswer *other)
{
  double loss, other_loss;

  g_return_val_if_fail (self != NULL && other != NULL, 0);

  loss = answers_get_loss (self);
  other_loss = answers_get_loss (other);
  if (loss < other_loss || loss > other_loss)
    return loss > other_loss ? -1 : 1;
  if (self->kept.n_added != other->kept.n_added)
    return self->kept.n_added > other->kept.n_added ? -1 : 1;
  return (self->sample > other->sample) - (self->sample < other->sample);
}

/**
 * vn_sample_answer_is_whole:
 *
 * Returns: whether all is kept that there was, and nothing is added
 */
gboolean
vn_sample_answer_is_whole (const VnSampleAnswer *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return answers_get_loss (self) <= 0 && self->kept.n_added == 0;
}

static gboolean
answers_is_background (const char *name)
{
  g_autofree char *lower = g_ascii_strdown (name, -1);

  return g_str_equal (g_strstrip (g_strdelimit (lower, "_", ' ')), "background");
}

/**
 * vn_sample_answer_find_name:
 * @names: (nullable) (array zero-terminated): of classes, by number; empty where none is known
 *
 * A network with one class more than there are names has the background in front, as one has whose output says so; unless the
 * names have it, too. Of letters the one that is more than names is the blank between words.
 *
 * Returns: (nullable): what class or letter @label is called; %NULL: nobody knows
 */
const char *
vn_sample_answer_find_name (const VnSampleAnswer *self,
                            char * const         *names,
                            guint                 label)
{
  const guint n = names != NULL ? g_strv_length ((char **) names) : 0;
  guint shift;

  g_return_val_if_fail (self != NULL, NULL);

  if (n == 0)
    return NULL;
  if (self->kept.task == VN_TASK_TEXT)
    return label < n ? names[label] : label == n && self->n_classes == n + 1 ? " " : NULL;
  shift = self->n_classes == n + 1 || (self->background && !answers_is_background (names[0]));
  return label < shift || label - shift >= n || *names[label - shift] == '\0' ? NULL : names[label - shift];
}
