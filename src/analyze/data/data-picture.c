/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a picture shows, however it was normalized: one plain colour, or noise. In noise neighbours are no more alike than any two
 * pixels, and all parts vary as much; of pictures of things, and of pages of text, some part is nearly plain. */
#include "vn-data-check-private.h"

#include <math.h>

#define COLORS 3
#define BLOCK  8u             /* pixels along each side of a part */
#define LEAST_UNLIKE 0.5      /* of neighbours, to any two pixels: up to 0.35 in 1000 photographs of 32 × 32, 0.16 in most */
#define LEAST_PLAIN  0.3      /* variance of the plainest tenth of parts, to the mean */

/* A picture of three colours, as planes or pixel by pixel. */
typedef struct
{
  const VnTensor *tensor;
  gsize           height, width;
  gboolean        packed;
} Picture;

static Picture
picture_open (const VnTensor *tensor,
              gboolean        packed)
{
  const gint64 *dims = tensor->shape.dims;

  return (Picture) { tensor, (gsize) dims[packed ? 1 : 2], (gsize) dims[packed ? 2 : 3], packed };
}

static double
picture_get (const Picture *self,
             gsize          color,
             gsize          y,
             gsize          x)
{
  const gsize pixel = y * self->width + x;

  return vn_tensor_get_double (self->tensor, self->packed ? pixel * COLORS + color : color * self->height * self->width + pixel);
}

/* Mean over the pixels of a part. */
static double
picture_get_variance (const Picture *self,
                      gsize          color,
                      gsize          top,
                      gsize          left,
                      gsize          height,
                      gsize          width)
{
  const double n = (double) height * (double) width, first = picture_get (self, color, top, left);
  double sum = 0, squares = 0;

  for (gsize y = top; y < top + height; y++)
    for (gsize x = left; x < left + width; x++)
      {
        double value = picture_get (self, color, y, x) - first;

        sum += value;
        squares += value * value;
      }
  return MAX (0, squares / n - (sum / n) * (sum / n));
}

/* Mean square of what pixels differ by from those @down and @right of them. */
static double
picture_get_change (const Picture *self,
                    gsize          color,
                    gsize          down,
                    gsize          right)
{
  double squares = 0;

  for (gsize y = 0; y + down < self->height; y++)
    for (gsize x = 0; x + right < self->width; x++)
      {
        double step = picture_get (self, color, y + down, x + right) - picture_get (self, color, y, x);

        squares += step * step;
      }
  return squares / ((double) (self->height - down) * (double) (self->width - right));
}

static int
picture_compare (gconstpointer a,
                 gconstpointer b)
{
  const double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

/* Variance of the plainest tenth of the parts, to that of all. */
static double
picture_find_plainest (const Picture *self,
                       gsize          color)
{
  g_autoptr(GArray) parts = g_array_new (FALSE, FALSE, sizeof (double));
  double sum = 0;

  for (gsize y = 0; y + BLOCK <= self->height; y += BLOCK)
    for (gsize x = 0; x + BLOCK <= self->width; x += BLOCK)
      {
        double variance = picture_get_variance (self, color, y, x, BLOCK, BLOCK);

        sum += variance;
        g_array_append_val (parts, variance);
      }
  g_array_sort (parts, picture_compare);
  return sum > 0 ? g_array_index (parts, double, parts->len / 10) * parts->len / sum : 0;
}

/*< private >
 * _vn_data_picture_is_plain:
 * @tensor: the first of a batch is [3, H, W], or [H, W, 3] if it is @packed
 *
 * Returns: whether each colour is the same number everywhere
 */
gboolean
_vn_data_picture_is_plain (const VnTensor *tensor,
                           gboolean        packed)
{
  const Picture self = picture_open (tensor, packed);

  for (gsize color = 0; color < COLORS; color++)
    for (gsize y = 0; y < self.height; y++)
      for (gsize x = 0; x < self.width; x++)
        if (!(picture_get (&self, color, y, x) == picture_get (&self, color, 0, 0)))
          return FALSE;
  return TRUE;
}

/*< private >
 * _vn_data_picture_is_noise:
 * @tensor, @packed: as for _vn_data_picture_is_plain(), at least 16 pixels high and wide
 *
 * Returns: whether nothing is to be seen in it but noise
 */
gboolean
_vn_data_picture_is_noise (const VnTensor *tensor,
                           gboolean        packed)
{
  const Picture self = picture_open (tensor, packed);

  for (gsize color = 0; color < COLORS; color++)
    {
      double any = 2 * picture_get_variance (&self, color, 0, 0, self.height, self.width);

      if (!(any > 0) || !(MIN (picture_get_change (&self, color, 1, 0),
                               picture_get_change (&self, color, 0, 1)) > LEAST_UNLIKE * any) ||
          !(picture_find_plainest (&self, color) > LEAST_PLAIN))
        return FALSE;
    }
  return TRUE;
}
