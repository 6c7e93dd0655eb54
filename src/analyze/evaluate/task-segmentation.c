/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Segmentation: an output with the rows and columns of the picture.
 *
 * It is taken for a mask if it has the numbers of classes as integers; or several channels, whose largest is the class of a
 * pixel (three channels may be a picture: they must be probabilities, whose sum is 1); or one channel between 0 and 1, of
 * which VN_DECIDED_SHARE of the values are near 0 or near 1: what lies between may be a picture, or a depth. */
#include "vn-task-reader.h"

#include "vn-thresholds.h"

#include <math.h>

#define MOST_CLASSES 1024

typedef enum { NUMBERS, CLASSES, FOREGROUND } Form;

typedef struct
{
  guint    output;
  Form     form;
  gboolean channels_last;
  gsize    n_channels, n_pixels;
} Layout;

typedef struct
{
  guint    n_classes, first;      /* the first class that counts: of one channel only the foreground */
  gsize    n_pixels;
  guint16 *pixels;
} Mask;

static void
segmentation_free (gpointer data)
{
  Mask *self = data;

  g_free (self->pixels);
  g_free (self);
}

/* ---- how it is laid out ---- */

/* The channels and where they are; %FALSE if its rows and columns are not those of the picture. */
static gboolean
segmentation_find_axes (const VnTaskOutputs *outputs,
                        const VnTensor        *tensor,
                        Layout                *layout)
{
  const VnShape *shape = &tensor->shape;
  gint64 dims[3] = { 1, 1, 1 };
  int n = MIN (shape->rank, 3);

  if (vn_tensor_is_container (tensor) || shape->rank < 2 || shape->rank > 4 || outputs->height < 8 || outputs->width < 8)
    return FALSE;
  for (int i = 0; i < n; i++)
    dims[3 - n + i] = shape->dims[shape->rank - n + i];
  layout->n_pixels = (gsize) (outputs->height * outputs->width);
  layout->channels_last = dims[1] != outputs->height || dims[2] != outputs->width;
  if (layout->channels_last && (dims[0] != outputs->height || dims[1] != outputs->width))
    return FALSE;
  layout->n_channels = (gsize) dims[layout->channels_last ? 2 : 0];
  return layout->n_channels >= 1 && layout->n_channels <= MOST_CLASSES &&
         tensor->n_elements >= layout->n_channels * layout->n_pixels;
}

static double
segmentation_get (const Layout   *layout,
                  const VnTensor *tensor,
                  gsize           channel,
                  gsize           pixel)
{
  return vn_tensor_get_double (tensor, layout->channels_last ? pixel * layout->n_channels + channel
                                                             : channel * layout->n_pixels + pixel);
}

static gboolean
segmentation_is_decided (const Layout   *layout,
                         const VnTensor *tensor)
{
  gsize n_decided = 0;

  for (gsize i = 0; i < layout->n_pixels; i++)
    {
      double value = segmentation_get (layout, tensor, 0, i);

      if (!(value >= 0 && value <= 1))
        return FALSE;
      n_decided += value <= VN_DECIDED_WITHIN || value >= 1 - VN_DECIDED_WITHIN;
    }
  return (double) n_decided >= VN_DECIDED_SHARE * (double) layout->n_pixels;
}

static gboolean
segmentation_is_probabilities (const Layout   *layout,
                               const VnTensor *tensor)
{
  for (gsize i = 0; i < layout->n_pixels; i++)
    {
      double sum = 0;

      for (gsize c = 0; c < layout->n_channels; c++)
        sum += segmentation_get (layout, tensor, c, i);
      if (!(fabs (sum - 1) < 0.01))
        return FALSE;
    }
  return TRUE;
}

static gboolean
segmentation_is_numbers (const Layout   *layout,
                         const VnTensor *tensor)
{
  for (gsize i = 0; i < layout->n_pixels; i++)
    {
      gint64 value = vn_tensor_get_s64 (tensor, i);

      if (value < 0 || value >= MOST_CLASSES)
        return FALSE;
    }
  return TRUE;
}

static gboolean
segmentation_find_form (const VnTensor *tensor,
                        Layout         *layout)
{
  if (!vn_dtype_is_float (tensor->dtype))
    {
      layout->form = NUMBERS;
      return layout->n_channels == 1 && tensor->dtype != VN_DTYPE_BOOL && tensor->dtype != VN_DTYPE_STRING &&
             segmentation_is_numbers (layout, tensor);
    }
  layout->form = layout->n_channels == 1 ? FOREGROUND : CLASSES;
  if (layout->n_channels == 1)
    return segmentation_is_decided (layout, tensor);
  return layout->n_channels != 3 || segmentation_is_probabilities (layout, tensor);
}

static gpointer
segmentation_recognize (const VnTaskOutputs *outputs)
{
  for (guint i = 0; i < outputs->n; i++)
    {
      Layout layout = { .output = i };

      if (segmentation_find_axes (outputs, outputs->tensors[i], &layout) && segmentation_find_form (outputs->tensors[i], &layout))
        return g_memdup2 (&layout, sizeof layout);
    }
  return NULL;
}

/* ---- what it shows ---- */

static guint16
segmentation_find_class (const Layout   *layout,
                 const VnTensor *tensor,
                 gsize           pixel)
{
  gsize best = 0;

  if (layout->form == NUMBERS)
    return (guint16) CLAMP (vn_tensor_get_s64 (tensor, pixel), 0, MOST_CLASSES - 1);
  if (layout->form == FOREGROUND)
    return segmentation_get (layout, tensor, 0, pixel) >= 0.5;
  for (gsize c = 1; c < layout->n_channels; c++)
    if (segmentation_get (layout, tensor, c, pixel) > segmentation_get (layout, tensor, best, pixel))
      best = c;
  return (guint16) best;
}

static gpointer
segmentation_read (gconstpointer          data,
                   const VnTaskOutputs *outputs)
{
  const Layout *known = data;
  Layout layout = *known;
  const VnTensor *tensor = known->output < outputs->n ? outputs->tensors[known->output] : NULL;
  Mask *self;

  if (tensor == NULL || !segmentation_find_axes (outputs, tensor, &layout) || layout.n_channels != known->n_channels ||
      vn_dtype_is_float (tensor->dtype) != (known->form != NUMBERS))
    return NULL;
  self = g_new0 (Mask, 1);
  self->n_classes = layout.form == NUMBERS ? MOST_CLASSES : layout.form == FOREGROUND ? 2 : (guint) layout.n_channels;
  self->first = layout.form == FOREGROUND;
  self->n_pixels = layout.n_pixels;
  self->pixels = g_try_new (guint16, layout.n_pixels);
  if (self->pixels == NULL)
    {
      segmentation_free (self);
      return NULL;
    }
  for (gsize i = 0; i < layout.n_pixels; i++)
    self->pixels[i] = segmentation_find_class (&layout, tensor, i);
  return self;
}

static void
segmentation_compare (gconstpointer  first,
                      gconstpointer  other,
                      VnKeptSum     *sum)
{
  const Mask *a = first, *b = other;
  VnClassOverlap *classes;

  if (a->n_pixels != b->n_pixels || a->n_classes != b->n_classes)
    return;
  if (sum->classes == NULL)
    {
      sum->classes = g_array_new (FALSE, TRUE, sizeof (VnClassOverlap));
      g_array_set_size (sum->classes, a->n_classes);
    }
  classes = (VnClassOverlap *) (gpointer) sum->classes->data;
  for (gsize i = 0; i < a->n_pixels; i++)
    {
      guint x = a->pixels[i], y = b->pixels[i];

      if (x >= a->first)
        classes[x].either++;
      if (y >= a->first && y != x)
        classes[y].either++;
      if (x == y && x >= a->first)
        classes[x].both++;
    }
}

const VnTaskReader vn_task_segmentation = {
  .recognize = segmentation_recognize,
  .read = segmentation_read,
  .free = segmentation_free,
  .compare = segmentation_compare,
};
