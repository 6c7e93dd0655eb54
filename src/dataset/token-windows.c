/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts, as numbers of their tokens, cut into samples: how long each is, and how far they lie apart. */
#include "vn-dataset-private.h"
#include "vn-sample-overlap.h"

#include "vn-error.h"
#include "vn-i18n.h"

#define USUAL_WINDOW 128       /* where the input leaves it open */

/* What the main input takes; VN_DIM_UNKNOWN: any number. */
static gint64
token_windows_get_fixed (const VnDataset *self)
{
  const VnShape *shape = &self->inputs[self->main_input].shape;

  return shape->rank == 2 ? shape->dims[1] : VN_DIM_UNKNOWN;
}

/*< private >
 * vn_dataset_get_window:
 *
 * Returns: the tokens of a sample
 */
gint64
vn_dataset_get_window (const VnDataset *self)
{
  gint64 fixed;

  g_return_val_if_fail (self != NULL, 0);

  fixed = token_windows_get_fixed (self);
  return fixed > 0 ? fixed : self->spec->window > 0 ? (gint64) self->spec->window : USUAL_WINDOW;
}

/*< private >
 * vn_dataset_get_stride:
 *
 * Returns: by how many tokens a sample begins behind the one before
 */
gint64
vn_dataset_get_stride (const VnDataset *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->spec->stride > 0 ? (gint64) self->spec->stride : vn_dataset_get_window (self);
}

/*< private >
 * vn_dataset_check_window:
 *
 * Returns: whether the input takes samples as long as the specification wants them
 */
gboolean
vn_dataset_check_window (const VnDataset  *self,
                         GError          **error)
{
  gint64 fixed;

  g_return_val_if_fail (self != NULL, FALSE);

  fixed = token_windows_get_fixed (self);
  if (self->spec->window == 0 || fixed < 0 || fixed == (gint64) self->spec->window)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("Samples of %u tokens are asked for, but input “%s” takes %lld"),
               self->spec->window, self->inputs[self->main_input].name, (long long) fixed);
  return FALSE;
}

/**
 * vn_dataset_get_n_seen:
 *
 * Windows that overlap give tokens as context that the one before has been asked about.
 *
 * Returns: how many tokens at the beginning of sample @i the sample before it has, too
 */
guint
vn_dataset_get_n_seen (VnDataset *self,
                       guint      i)
{
  g_return_val_if_fail (self != NULL && i < self->samples->len, 0);

  return ((const VnSample *) self->samples->pdata[i])->n_seen;
}

/**
 * vn_dataset_do_overlap:
 * @i, @j: samples, not the same
 *
 * Returns: whether there are tokens that both have
 */
gboolean
vn_dataset_do_overlap (VnDataset *self,
                       guint      i,
                       guint      j)
{
  const VnSample *first, *second;

  g_return_val_if_fail (self != NULL && MAX (i, j) < self->samples->len && i != j, FALSE);

  first = self->samples->pdata[MIN (i, j)];
  second = self->samples->pdata[MAX (i, j)];
  if (self->windows != NULL)
    {
      const VnTokenWindow *a = &g_array_index (self->windows, VnTokenWindow, first->index);
      const VnTokenWindow *b = &g_array_index (self->windows, VnTokenWindow, second->index);

      return b->start < a->start + a->length;
    }
  return second->n_seen > 0 && second->index > first->index &&
         (gint64) (second->index - first->index) * vn_dataset_get_stride (self) < vn_dataset_get_window (self);
}

/**
 * vn_dataset_count_overlap:
 *
 * Returns: how many samples behind one share tokens with it, at most; 0: none do
 */
guint
vn_dataset_count_overlap (VnDataset *self)
{
  guint reach = 0;

  g_return_val_if_fail (self != NULL, 0);

  for (guint i = 0; i < self->samples->len; i++)
    while (i + reach + 1 < self->samples->len && vn_dataset_do_overlap (self, i, i + reach + 1))
      reach++;
  return reach;
}
