/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sample whose values reach much further than those of the others, as one that was not normalized does: all ranges would be
 * made for it, and the error of all others would be laid to the network. */
#include "vn-data-check-private.h"

#include "vn-i18n.h"
#include "vn-thresholds.h"

#include <math.h>

#define MOST_NAMED 3u

/* One sample, one input. */
typedef struct
{
  guint  index;
  double largest;   /* absolute value */
} Reach;

struct _VnDataReach
{
  guint    n_inputs;
  GArray **inputs;    /* of Reach */
};

VnDataReach *
_vn_data_reach_new (guint n_inputs)
{
  VnDataReach *self = g_new0 (VnDataReach, 1);

  self->n_inputs = n_inputs;
  self->inputs = g_new0 (GArray *, n_inputs + 1);
  for (guint k = 0; k < n_inputs; k++)
    self->inputs[k] = g_array_new (FALSE, FALSE, sizeof (Reach));
  return self;
}

void
_vn_data_reach_free (VnDataReach *self)
{
  if (self == NULL)
    return;
  for (guint k = 0; k < self->n_inputs; k++)
    g_array_unref (self->inputs[k]);
  g_free (self->inputs);
  g_free (self);
}

/*< private >
 * _vn_data_reach_add:
 * @index: in the data set
 * @tensors: (array): by input
 * @masks: (array): inputs that only tell what is to be seen, and may hold any number
 */
void
_vn_data_reach_add (VnDataReach      *self,
                    guint             index,
                    VnTensor * const *tensors,
                    const gboolean   *masks)
{
  g_return_if_fail (self != NULL && tensors != NULL && masks != NULL);

  for (guint k = 0; k < self->n_inputs; k++)
    {
      Reach reach = { index, 0 };

      if (masks[k] || !vn_dtype_is_float (tensors[k]->dtype))
        continue;
      for (gsize i = 0; i < tensors[k]->n_elements; i++)
        {
          double value = fabs (vn_tensor_get_double (tensors[k], i));

          if (isfinite (value))
            reach.largest = fmax (reach.largest, value);
        }
      g_array_append_val (self->inputs[k], reach);
    }
}

static double
data_reach_get_median (GArray *samples)
{
  g_autoptr(GArray) values = g_array_new (FALSE, FALSE, sizeof (double));

  for (guint i = 0; i < samples->len; i++)
    g_array_append_val (values, g_array_index (samples, Reach, i).largest);
  return _vn_data_median (values);
}

static gboolean
data_reach_note_input (GArray     *samples,
                       VnDataset  *dataset,
                       const char *input,
                       VnNotes    *notes)
{
  const double median = data_reach_get_median (samples);
  guint n = 0;

  for (guint i = 0; i < samples->len; i++)
    n += g_array_index (samples, Reach, i).largest > VN_DATA_REACH * median;
  if (!(median > 0) || n == 0 || n > VN_DATA_REACH_SHARE * samples->len)
    return FALSE;
  for (guint i = 0, named = 0; i < samples->len && named < MOST_NAMED; i++)
    {
      const Reach *reach = &g_array_index (samples, Reach, i);

      if (!(reach->largest > VN_DATA_REACH * median))
        continue;
      named++;
      vn_notes_add (notes, VN_NOTE_WARNING, "data-outlier", vn_dataset_get_name (dataset, reach->index),
                    _("Its values at “%s” reach %.3g, those of most other samples %.3g"), input, reach->largest, median);
    }
  return TRUE;
}

/*< private >
 * _vn_data_reach_note:
 * @names: (array): of the inputs
 *
 * Names the samples that reach too far, if they are a few of many.
 *
 * Returns: whether there are such: what first layers make of all samples together says nothing then
 */
gboolean
_vn_data_reach_note (VnDataReach        *self,
                     VnDataset          *dataset,
                     const char * const *names,
                     VnNotes            *notes)
{
  gboolean found = FALSE;

  g_return_val_if_fail (self != NULL && dataset != NULL && names != NULL, FALSE);

  for (guint k = 0; k < self->n_inputs; k++)
    if (self->inputs[k]->len >= VN_DATA_REACH_FEWEST && data_reach_note_input (self->inputs[k], dataset, names[k], notes))
      found = TRUE;
  return found;
}
