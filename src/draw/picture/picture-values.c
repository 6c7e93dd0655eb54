/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The picture of the values that a network gets: a line for each channel, over what its first layer seems to be made for. */
#include "vn-picture-private.h"

#include "vn-chart.h"

#include <math.h>
#include <string.h>

#define HEIGHT 124.0
#define KEY     16.0      /* of the row of names */
#define TOP     38.0      /* of the lines */
#define BOTTOM  20.0      /* as the axis takes */
#define TEXT    11.0
#define SAMPLE  20.0      /* of a line, in the row of names */
#define GAP     14.0

typedef struct
{
  VnPicture       picture;
  VnPictureValues values;     /* what it points to is of its own */
  double          low, high;  /* at the edges */
  double          most;       /* root of the largest count */
} Values;

static const struct { double dashes[4]; guint n; } styles[VN_PICTURE_CHANNELS] = {
  { { 0 }, 0 },
  { { 7, 4 }, 2 },
  { { 2, 3 }, 2 },
  { { 7, 3, 2, 3 }, 4 },
};

static double
values_get_height (VnPicture *picture,
                   double     width)
{
  return HEIGHT;
}

static double
values_x_of (const Values *self,
             double        width,
             double        value)
{
  return (value - self->low) / (self->high - self->low) * width;
}

static VnStroke
values_get_line (guint channel)
{
  return (VnStroke) { .line = VN_INK (0.75), .width = 1.4, .dashes = styles[channel].dashes, .n_dashes = styles[channel].n };
}

/* From the right end, so that the last name ends there. */
static void
values_draw_key (const Values *self,
                 VnPen        *pen,
                 double        width)
{
  double x = width;

  for (guint c = self->values.n_channels; c-- > 0;)
    {
      const VnStroke line = values_get_line (c);

      if (self->values.names[c] == NULL)
        continue;
      vn_pen_text (pen, x, KEY - 4, (VnFont) { TEXT, FALSE, VN_ANCHOR_END }, VN_INK (0.75), self->values.names[c]);
      x -= vn_pen_measure (self->values.names[c], TEXT, FALSE) + 6;
      vn_pen_move (pen, x - SAMPLE, KEY - 8);
      vn_pen_line (pen, x, KEY - 8);
      vn_pen_paint (pen, &line);
      x -= SAMPLE + GAP;
    }
}

static void
values_draw_suits (const Values *self,
                   VnPen        *pen,
                   double        width)
{
  const VnStroke fill = { .fill = VN_INK (0.07) };
  const double left = values_x_of (self, width, self->values.suits_low),
  right = values_x_of (self, width, self->values.suits_high);
  double half;

  if (!(self->values.suits_low < self->values.suits_high))
    return;
  vn_pen_rect (pen, left, KEY + 4, right - left, HEIGHT - BOTTOM - KEY - 4, 0, &fill);
  if (self->values.suits == NULL)
    return;
  half = vn_pen_measure (self->values.suits, TEXT, FALSE) / 2;
  vn_pen_text (pen, CLAMP ((left + right) / 2, half, MAX (width - half, half)), KEY + 17,
               (VnFont) { TEXT, FALSE, VN_ANCHOR_MIDDLE },
               VN_INK (0.6), self->values.suits);
}

/* Roots of the counts: black and white, which many pictures are full of, would leave nothing to see of the rest. */
static void
values_draw_channel (const Values *self,
                     VnPen        *pen,
                     double        width,
                     guint         channel)
{
  const VnPictureValues *values = &self->values;
  const VnStroke line = values_get_line (channel);
  const double floor = HEIGHT - BOTTOM, part = (values->high - values->low) / values->n_bins;

  for (guint i = 0; i < values->n_bins; i++)
    {
      const double x = values_x_of (self, width, values->low + (i + 0.5) * part);
      const double y = floor - sqrt (MAX (values->counts[channel][i], 0)) / self->most * (floor - TOP);

      if (i == 0)
        vn_pen_move (pen, x, y);
      else
        vn_pen_line (pen, x, y);
    }
  vn_pen_paint (pen, &line);
}

static void
values_draw (VnPicture *picture,
             VnPen     *pen,
             double     width)
{
  const Values *self = (const Values *) picture;

  if (width < 40)
    return;
  values_draw_suits (self, pen, width);
  values_draw_key (self, pen, width);
  for (guint c = 0; c < self->values.n_channels && self->most > 0; c++)
    values_draw_channel (self, pen, width, c);
  vn_chart_draw_axis (pen, width, HEIGHT, self->low, self->high);
}

static void
values_free (VnPicture *picture)
{
  Values *self = (Values *) picture;

  for (guint c = 0; c < self->values.n_channels; c++)
    {
      g_free ((char *) self->values.names[c]);
      g_free ((double *) self->values.counts[c]);
    }
  g_free ((char *) self->values.suits);
}

static const VnPictureKind kind = { FALSE, values_get_height, values_draw, values_free };

/* Room for all values and what is marked, and a margin. */
static void
values_find_span (Values *self)
{
  const VnPictureValues *values = &self->values;
  const gboolean marked = values->suits_low < values->suits_high;
  double margin;

  self->low = marked ? MIN (values->low, values->suits_low) : values->low;
  self->high = marked ? MAX (values->high, values->suits_high) : values->high;
  margin = 0.03 * (self->high - self->low);
  self->low -= margin;
  self->high += margin;
  for (guint c = 0; c < values->n_channels; c++)
    for (guint i = 0; i < values->n_bins; i++)
      self->most = MAX (self->most, sqrt (MAX (values->counts[c][i], 0)));
}

/**
 * vn_picture_new_values:
 * @values: copied; @low is less than @high, both are finite
 *
 * Returns: (transfer full): how the values of an input are spread
 */
VnPicture *
vn_picture_new_values (const VnPictureValues *values)
{
  Values *self;

  g_return_val_if_fail (values != NULL && values->n_channels <= VN_PICTURE_CHANNELS && values->n_bins > 0, NULL);
  g_return_val_if_fail (isfinite (values->low) && isfinite (values->high) && values->low < values->high, NULL);

  self = _vn_picture_alloc (&kind, sizeof *self);
  self->values = *values;
  for (guint c = 0; c < values->n_channels; c++)
    {
      self->values.names[c] = g_strdup (values->names[c]);
      self->values.counts[c] = g_memdup2 (values->counts[c], values->n_bins * sizeof (double));
    }
  self->values.suits = g_strdup (values->suits);
  values_find_span (self);
  return &self->picture;
}
