/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the values are spread that the network gets, by channel: what a chart of the samples shows. */
#include "vn-data-check-private.h"

#include <math.h>

#define MOST_VALUES 65536u     /* of a channel of a sample: evenly spread, a chart shows no more */

struct _VnDataSight
{
  VnDataLook         *look;
  VnHistogram        *channels[VN_DATA_LOOK_CHANNELS];
  VnHistogramScratch *scratch;
  float              *buffer;
  guint               input;
  gboolean            is_found;
  GPtrArray          *cures;          /* of Found */
};

/* Cures of the note of this code about this input. */
typedef struct
{
  const char *code;
  gboolean    is_certain;
  GPtrArray  *cures;
} Found;

static void
data_values_free_found (gpointer data)
{
  Found *found = data;

  g_ptr_array_unref (found->cures);
  g_free (found);
}

/*< private >
 * _vn_data_cure_free:
 */
void
_vn_data_cure_free (gpointer data)
{
  VnDataCure *self = data;

  g_free (self->input);
  g_free (self->title);
  g_free (self->effect);
  g_free (self);
}

/*< private >
 * _vn_data_sight_new:
 * @look: is filled; outlives it
 */
VnDataSight *
_vn_data_sight_new (VnDataLook *look)
{
  VnDataSight *self = g_new0 (VnDataSight, 1);

  self->look = look;
  self->scratch = vn_scratch_new ();
  self->buffer = g_new (float, MOST_VALUES);
  self->cures = g_ptr_array_new_with_free_func (data_values_free_found);
  return self;
}

void
_vn_data_sight_free (VnDataSight *self)
{
  for (guint c = 0; c < VN_DATA_LOOK_CHANNELS; c++)
    g_clear_pointer (&self->channels[c], vn_histogram_free);
  vn_scratch_free (self->scratch);
  g_ptr_array_unref (self->cures);
  g_free (self->buffer);
  g_free (self);
}

/*< private >
 * _vn_data_sight_add_cures:
 * @code: of the note that they are for; static
 * @cures: (transfer full) (element-type VnDataCure): best first
 */
void
_vn_data_sight_add_cures (VnDataSight *self,
                          const char  *code,
                          gboolean     is_certain,
                          GPtrArray   *cures)
{
  Found *found = g_new (Found, 1);

  *found = (Found) { code, is_certain, cures };
  g_ptr_array_add (self->cures, found);
}

/*< private >
 * _vn_data_sight_find_cures:
 * @input: (nullable): whose they must be
 *
 * Returns: (transfer full) (element-type VnDataCure): those of the note; may be empty
 */
GPtrArray *
_vn_data_sight_find_cures (const VnDataSight *self,
                           const char        *code,
                           const char        *input,
                           gboolean          *is_certain)
{
  for (guint i = 0; i < self->cures->len; i++)
    {
      const Found *found = self->cures->pdata[i];
      const VnDataCure *first = found->cures->len > 0 ? found->cures->pdata[0] : NULL;

      if (first == NULL || !g_str_equal (found->code, code) || (input != NULL && g_strcmp0 (first->input, input) != 0))
        continue;
      *is_certain = found->is_certain;
      return g_ptr_array_ref (found->cures);
    }
  *is_certain = FALSE;
  return g_ptr_array_new_with_free_func (_vn_data_cure_free);
}

/* The axis of the colours of what may be a picture; -1: it is none. */
static int
data_values_find_channels (const VnTensor *tensor)
{
  const VnShape *shape = &tensor->shape;

  if (shape->rank != 4)
    return -1;
  return shape->dims[1] <= (gint64) VN_DATA_LOOK_CHANNELS ? 1 : shape->dims[3] <= (gint64) VN_DATA_LOOK_CHANNELS ? 3 : -1;
}

static void
data_values_scan_channel (VnDataSight    *self,
                          const VnTensor *tensor,
                          int             axis,
                          guint           channel,
                          guint           n_channels)
{
  const gsize n = tensor->n_elements / n_channels;
  const gsize area = axis == 1 ? n / (gsize) tensor->shape.dims[0] : 1;
  const gsize step = n / MOST_VALUES + 1;
  gsize filled = 0;

  for (gsize i = 0; i < n && filled < MOST_VALUES; i += step)
    {
      gsize at = axis == 1 ? (i / area * n_channels + channel) * area + i % area : i * n_channels + channel;
      double value = vn_tensor_get_double (tensor, at);

      if (isfinite (value))
        self->buffer[filled++] = (float) value;
    }
  if (self->channels[channel] == NULL)
    self->channels[channel] = vn_histogram_new ();
  vn_histogram_scan (self->channels[channel], self->scratch, self->buffer, filled);
}

/*< private >
 * _vn_data_sight_add_sample:
 * @tensors: (array length=n_inputs): a sample
 * @names: (array length=n_inputs): of the inputs
 *
 * The first input of floats is counted, the same of every sample.
 */
void
_vn_data_sight_add_sample (VnDataSight        *self,
                           VnTensor          **tensors,
                           const char * const *names,
                           guint               n_inputs)
{
  VnDataValues *values = &self->look->values;
  int axis;

  while (!self->is_found && self->input < n_inputs && !vn_dtype_is_float (tensors[self->input]->dtype))
    self->input++;
  if (self->input >= n_inputs || tensors[self->input]->n_elements == 0)
    return;
  axis = data_values_find_channels (tensors[self->input]);
  if (!self->is_found)
    {
      self->is_found = TRUE;
      values->input = g_strdup (names[self->input]);
      values->n_channels = axis < 0 ? 1 : (guint) tensors[self->input]->shape.dims[axis];
    }
  if (axis >= 0 && tensors[self->input]->shape.dims[axis] != (gint64) values->n_channels)
    return;
  for (guint c = 0; c < values->n_channels; c++)
    data_values_scan_channel (self, tensors[self->input], axis < 0 ? 3 : axis, c, values->n_channels);
}

/*< private >
 * _vn_data_sight_finish:
 *
 * Makes the chart of what was counted.
 */
void
_vn_data_sight_finish (VnDataSight *self)
{
  VnDataValues *values = &self->look->values;

  values->low = INFINITY;
  values->high = -INFINITY;
  for (guint c = 0; c < values->n_channels && self->channels[c] != NULL; c++)
    {
      values->low = MIN (values->low, (double) self->channels[c]->min);
      values->high = MAX (values->high, (double) self->channels[c]->max);
    }
  if (!(values->low <= values->high))
    {
      values->n_channels = 0;
      return;
    }
  if (!(values->low < values->high))
    {
      values->low -= 0.5;
      values->high += 0.5;
    }
  for (guint c = 0; c < values->n_channels && self->channels[c] != NULL; c++)
    vn_histogram_linear (self->channels[c], values->low, values->high, values->counts[c], VN_DATA_LOOK_BINS);
}

/*< private >
 * _vn_data_sight_set_suits:
 * @input: the values of another one are shown: nothing is said
 * @settings: what they make of pixels from 0 to 255 suits the first layer
 */
void
_vn_data_sight_set_suits (VnDataSight        *self,
                          const char         *input,
                          const VnPreprocess *settings)
{
  VnDataValues *values = &self->look->values;

  if (g_strcmp0 (values->input, input) != 0)
    return;
  values->suits_low = INFINITY;
  values->suits_high = -INFINITY;
  for (guint c = 0; c < MIN (values->n_channels, 3); c++)
    {
      values->suits_low = MIN (values->suits_low, (0 - (double) settings->mean[c]) / (double) settings->std[c]);
      values->suits_high = MAX (values->suits_high, (255 - (double) settings->mean[c]) / (double) settings->std[c]);
    }
}
