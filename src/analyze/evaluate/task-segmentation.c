/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Segmentation, and where there is text: an output with the rows and columns of the picture.
 *
 * It is taken for a mask if it has the numbers of classes as integers; or several channels, whose largest is the class of a
 * pixel (three channels may be a picture: they must be probabilities, whose sum is 1); or one channel between 0 and 1, of
 * which VN_DECIDED_SHARE of the values are near 0 or near 1: what lies between may be a picture, or a depth.
 *
 * Such a channel tells of text if it shows lines: at least two regions, most of them much longer than high, or higher than
 * long, on a small part of the picture. Text counts from a lower probability on than a mask. */
#include "vn-task-reader.h"

#include "vn-thresholds.h"

#include <math.h>

#define MOST_CLASSES 1024
#define MASK_PROBABILITY 0.5
#define LEAST_LINES 2u
#define LEAST_LINE_PIXELS 16u
#define LINE_ASPECT 2u
#define MOST_TEXT_SHARE 0.3

typedef enum { NUMBERS, CLASSES, FOREGROUND } Form;

typedef struct
{
  guint    output;
  Form     form;
  gboolean channels_last;
  gsize    n_channels, n_pixels, width;
  double   threshold;             /* of FOREGROUND */
} Layout;

typedef struct
{
  guint    n_classes, first;      /* the first class that counts: of one channel only the foreground */
  gsize    n_pixels, width;
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
  layout->width = (gsize) outputs->width;
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
      Layout layout = { .output = i, .threshold = MASK_PROBABILITY };

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
    return segmentation_get (layout, tensor, 0, pixel) >= layout->threshold;
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
  self->width = layout.width;
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
                      guint          item,
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

static void
segmentation_finish (const VnKeptSum *sum,
                     VnKept          *kept)
{
  double overlap = 0;

  kept->n = 0;
  for (guint i = 0; sum->classes != NULL && i < sum->classes->len; i++)
    {
      const VnClassOverlap *class = &g_array_index (sum->classes, VnClassOverlap, i);

      if (class->either == 0)
        continue;
      overlap += (double) class->both / (double) class->either;
      kept->n++;
    }
  kept->share = kept->n > 0 ? overlap / (double) kept->n : NAN;
}

/* Every so many rows and columns one pixel, the one in the middle. */
static GArray *
segmentation_scale_down (const Mask *self,
                         guint       height,
                         guint       width)
{
  GArray *pixels = g_array_sized_new (FALSE, FALSE, sizeof (guint16), height * width);
  const gsize full_height = self->n_pixels / self->width;

  for (gsize y = 0; y < height; y++)
    for (gsize x = 0; x < width; x++)
      {
        const gsize row = (2 * y + 1) * full_height / (2 * height), column = (2 * x + 1) * self->width / (2 * width);

        g_array_append_val (pixels, self->pixels[row * self->width + column]);
      }
  return pixels;
}

static void
segmentation_keep (gconstpointer   layout,
                   gconstpointer   first,
                   gconstpointer   other,
                   guint           most_pixels,
                   VnSampleAnswer *kept)
{
  const Mask *a = first, *b = other;
  const double scale = fmin (1, sqrt ((double) most_pixels / (double) a->n_pixels));
  const gsize height = a->n_pixels / a->width;

  if (a->n_pixels != b->n_pixels || a->width != b->width)
    return;
  kept->form = VN_ANSWER_MASK;
  kept->n_classes = ((const Layout *) layout)->form == NUMBERS ? 0 : a->n_classes;
  kept->first_counts = a->first;
  kept->mask_height = (guint) fmax (1, floor ((double) height * scale));
  kept->mask_width = (guint) fmax (1, floor ((double) a->width * scale));
  kept->first = segmentation_scale_down (a, kept->mask_height, kept->mask_width);
  kept->other = segmentation_scale_down (b, kept->mask_height, kept->mask_width);
}

/* ---- text ---- */

typedef struct { gsize n, left, right, top, bottom; } Region;

/* The pixels that hang together with @start, which are taken out of @pixels; @stack has room for all. */
static Region
segmentation_take_region (guint8 *pixels,
                          gsize   n_pixels,
                          gsize   width,
                          gsize   start,
                          gsize  *stack)
{
  Region region = { 0, width, 0, n_pixels, 0 };
  gsize n = 0;

  stack[n++] = start;
  pixels[start] = FALSE;
  while (n > 0)
    {
      const gsize at = stack[--n], x = at % width, y = at / width;
      const gsize next[4] = { x > 0 ? at - 1 : at, x + 1 < width ? at + 1 : at, y > 0 ? at - width : at,
                              at + width < n_pixels ? at + width : at };

      region = (Region) { region.n + 1, MIN (region.left, x), MAX (region.right, x), MIN (region.top, y),
                          MAX (region.bottom, y) };
      for (guint i = 0; i < 4; i++)
        if (pixels[next[i]])
          {
            pixels[next[i]] = FALSE;
            stack[n++] = next[i];
          }
    }
  return region;
}

static gboolean
segmentation_shows_lines (const Layout   *layout,
                          const VnTensor *tensor)
{
  g_autofree guint8 *pixels = g_try_new (guint8, layout->n_pixels);
  g_autofree gsize *stack = g_try_new (gsize, layout->n_pixels);
  gsize n_text = 0;
  guint n_regions = 0, n_lines = 0;

  if (pixels == NULL || stack == NULL)
    return FALSE;
  for (gsize i = 0; i < layout->n_pixels; i++)
    n_text += pixels[i] = segmentation_get (layout, tensor, 0, i) >= layout->threshold;
  for (gsize i = 0; i < layout->n_pixels; i++)
    if (pixels[i])
      {
        const Region region = segmentation_take_region (pixels, layout->n_pixels, layout->width, i, stack);
        const gsize width = region.right - region.left + 1, height = region.bottom - region.top + 1;

        if (region.n < LEAST_LINE_PIXELS)
          continue;
        n_regions++;
        n_lines += width >= LINE_ASPECT * height || height >= LINE_ASPECT * width;
      }
  return n_lines >= LEAST_LINES && 2 * n_lines > n_regions && (double) n_text <= MOST_TEXT_SHARE * (double) layout->n_pixels;
}

static gpointer
segmentation_recognize_text (const VnTaskOutputs *outputs)
{
  for (guint i = 0; i < outputs->n; i++)
    {
      Layout layout = { .output = i, .threshold = VN_TEXT_PROBABILITY };

      if (segmentation_find_axes (outputs, outputs->tensors[i], &layout) && layout.n_channels == 1 &&
          segmentation_find_form (outputs->tensors[i], &layout) && layout.form == FOREGROUND &&
          (vn_task_is_given (outputs, VN_TASK_TEXT_REGIONS) || segmentation_shows_lines (&layout, outputs->tensors[i])))
        return g_memdup2 (&layout, sizeof layout);
    }
  return NULL;
}

const VnTaskReader vn_task_text_regions = {
  .recognize = segmentation_recognize_text,
  .read = segmentation_read,
  .free = segmentation_free,
  .compare = segmentation_compare,
  .finish = segmentation_finish,
  .keep = segmentation_keep,
};

const VnTaskReader vn_task_segmentation = {
  .recognize = segmentation_recognize,
  .read = segmentation_read,
  .free = segmentation_free,
  .compare = segmentation_compare,
  .finish = segmentation_finish,
  .keep = segmentation_keep,
};
