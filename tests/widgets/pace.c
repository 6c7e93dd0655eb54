/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pace.h"

#include <pango/pangocairo.h>
#include <time.h>

#define N_LINES  200
#define N_ROUNDS 3
#define USUAL_MS 1.5   /* what N_LINES take where the limits were set */

double
vn_test_get_own_time (void)
{
  struct timespec time;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &time);
  return (double) time.tv_sec * 1e3 + (double) time.tv_nsec / 1e6;
}

static double
lay_out (PangoContext *context,
         guint         round)
{
  double begun = vn_test_get_own_time ();

  for (guint i = 0; i < N_LINES; i++)
    {
      g_autoptr(PangoLayout) layout = pango_layout_new (context);
      g_autofree char *text = g_strdup_printf ("/encoder/layer.%u/attention/MatMul_%u  %u.%u dB", round, i, i % 60, i % 10);
      int width, height;

      pango_layout_set_text (layout, text, -1);
      pango_layout_get_pixel_size (layout, &width, &height);
      g_assert_cmpint (width, >, height);
    }
  return vn_test_get_own_time () - begun;
}

static double
get_pace (void)
{
  PangoContext *context = pango_font_map_create_context (pango_cairo_font_map_get_default ());
  double least = G_MAXDOUBLE;

  for (guint round = 0; round < N_ROUNDS; round++)
    least = MIN (least, lay_out (context, round));
  g_object_unref (context);
  return MAX (1, least / USUAL_MS);
}

double
vn_test_even_out (double took,
                  double limit)
{
  return took > limit ? took / get_pace () : took;
}
