/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A picture of amounts below each other, as bars: what a network takes in float, and what it takes now. */
#include "vn-picture-private.h"

#define SIZE 10.5      /* of text */
#define ROW  30.0
#define BAR  19.0
#define GAP   8.0

typedef struct
{
  char     *title, *text;
  double    amount;
  gboolean  is_accent;
} Bar;

typedef struct
{
  VnPicture picture;
  GArray   *bars;      /* of Bar */
} Bars;

static double
bars_get_height (VnPicture *picture,
                 double     width)
{
  return ROW * ((const Bars *) picture)->bars->len;
}

static void
bars_draw_bar (const Bar *bar,
               VnPen     *pen,
               double     left,
               double     y,
               double     length)
{
  const VnStroke stroke = { .fill = bar->is_accent ? VN_SHADE (ACCENT, 0.6) : VN_INK (0.12), .line = VN_INK (0.45), .width = 1 };
  const double baseline = y + BAR / 2 + 3.5;

  vn_pen_text (pen, left - GAP, baseline, (VnFont) { SIZE, FALSE, VN_ANCHOR_END }, VN_INK (0.85), bar->title);
  vn_pen_rect (pen, left, y, MAX (length, 1.5), BAR, 0, &stroke);
  vn_pen_text (pen, left + MAX (length, 1.5) + GAP, baseline, (VnFont) { SIZE, TRUE, VN_ANCHOR_START }, VN_INK (1), bar->text);
}

static void
bars_draw (VnPicture *picture,
           VnPen     *pen,
           double     width)
{
  const Bars *self = (const Bars *) picture;
  double left = 0, right = 0, most = 0;

  for (guint i = 0; i < self->bars->len; i++)
    {
      const Bar *bar = &g_array_index (self->bars, Bar, i);

      left = MAX (left, vn_pen_measure (bar->title, SIZE, FALSE));
      right = MAX (right, vn_pen_measure (bar->text, SIZE, TRUE));
      most = MAX (most, bar->amount);
    }
  left += GAP;
  for (guint i = 0; i < self->bars->len; i++)
    {
      const Bar *bar = &g_array_index (self->bars, Bar, i);
      const double room = MAX (width - left - right - GAP, 20);

      bars_draw_bar (bar, pen, left, ROW * i + (ROW - BAR) / 2, most > 0 ? room * bar->amount / most : 0);
    }
}

static void
bars_free (VnPicture *picture)
{
  g_array_unref (((Bars *) picture)->bars);
}

static const VnPictureKind kind = { FALSE, bars_get_height, bars_draw, bars_free };

static void
bars_clear_bar (gpointer bar)
{
  g_free (((Bar *) bar)->title);
  g_free (((Bar *) bar)->text);
}

/**
 * vn_picture_new_bars:
 * @bars: (array length=n_bars): copied, drawn below each other in this order
 *
 * Returns: (transfer full): bars from one edge, the longest for the largest amount
 */
VnPicture *
vn_picture_new_bars (const VnPictureBar *bars,
                     guint               n_bars)
{
  Bars *self;

  g_return_val_if_fail (bars != NULL || n_bars == 0, NULL);

  self = _vn_picture_alloc (&kind, sizeof *self);
  self->bars = g_array_new (FALSE, FALSE, sizeof (Bar));
  g_array_set_clear_func (self->bars, bars_clear_bar);
  for (guint i = 0; i < n_bars; i++)
    g_array_append_val (self->bars, ((Bar) { g_strdup (bars[i].title), g_strdup (bars[i].text), bars[i].amount,
                                             bars[i].is_accent }));
  return &self->picture;
}
