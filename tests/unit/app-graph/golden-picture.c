/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pictures at 1x and 2x beside those kept in golden/, which are half as large as at 1x. Where letters come to lie differs between
 * versions of cairo and FreeType: where there is text, only larger squares are compared. */
#include "golden-picture.h"

#include <math.h>
#include <pango/pangocairo.h>

#define REDUCED      GOLDEN_REDUCED
#define SQUARE       GOLDEN_SQUARE
#define COARSE       GOLDEN_COARSE
#define LIMIT_COARSE 6.     /* of 255, difference of the means of one square */
#define STEP         4      /* between values of a channel: smaller files */

/* Without text, at 1x and 2x, where translucent edges that cross a pixel come out otherwise. */
static const double limits[] = { 4, 30 };

/* What the second one shows otherwise is text. */
static const char * const fonts[] = { "DejaVu Sans", "DejaVu Sans Mono" };

static gboolean generating;

/**
 * golden_picture_init:
 *
 * As g_test_init(). With --generate as the last argument pictures are kept anew.
 */
void
golden_picture_init (int    *argc,
                     char ***argv)
{
  generating = *argc > 1 && g_str_equal ((*argv)[*argc - 1], "--generate");
  *argc -= generating;
  g_test_init (argc, argv, NULL);
}

/* Mean of one channel in a square of @size pixels. */
static double
mean (cairo_surface_t *surface,
      int              x,
      int              y,
      int              size,
      int              shift)
{
  const guint8 *data = cairo_image_surface_get_data (surface);
  int stride = cairo_image_surface_get_stride (surface);
  guint sum = 0;

  for (int row = y; row < y + size; row++)
    for (int column = x; column < x + size; column++)
      sum += (((const guint32 *) (gconstpointer) (data + row * stride))[column] >> shift) & 0xff;
  return sum / (double) (size * size);
}

/* One pixel for each square of @size, as it is kept. */
static cairo_surface_t *
reduce (cairo_surface_t *surface,
        int              size)
{
  int width = cairo_image_surface_get_width (surface) / size, height = cairo_image_surface_get_height (surface) / size;
  cairo_surface_t *small = cairo_image_surface_create (CAIRO_FORMAT_RGB24, width, height);
  guint8 *data = cairo_image_surface_get_data (small);
  int stride = cairo_image_surface_get_stride (small);

  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++)
      {
        guint32 *pixel = (guint32 *) (gpointer) (data + y * stride) + x;

        *pixel = 0;
        for (int shift = 0; shift < 24; shift += 8)
          *pixel |= ((guint32) mean (surface, x * size, y * size, size, shift) / STEP * STEP) << shift;
      }
  cairo_surface_mark_dirty (small);
  return small;
}

/* Largest difference of a channel of one square. */
static double
square_difference (cairo_surface_t *a,
                   cairo_surface_t *b,
                   int              x,
                   int              y,
                   int              size)
{
  double worst = 0;

  for (int shift = 0; shift < 24; shift += 8)
    worst = MAX (worst, fabs (mean (a, x, y, size, shift) - mean (b, x, y, size, shift)));
  return worst;
}

/* Whether a square, or one beside it, differs between fonts. */
static gboolean
is_near_text (cairo_surface_t *a,
              cairo_surface_t *b,
              int              x,
              int              y)
{
  for (int dy = -SQUARE; dy <= SQUARE; dy += SQUARE)
    for (int dx = -SQUARE; dx <= SQUARE; dx += SQUARE)
      if (x + dx >= 0 && x + dx < cairo_image_surface_get_width (a) && y + dy >= 0 && y + dy < cairo_image_surface_get_height (a)
          && square_difference (a, b, x + dx, y + dy, SQUARE) > 0)
        return TRUE;
  return FALSE;
}

static double
compare (cairo_surface_t *got,
         cairo_surface_t *other_font,
         cairo_surface_t *want,
         int              size,
         double           limit)
{
  int width = cairo_image_surface_get_width (want), height = cairo_image_surface_get_height (want);
  double worst = 0;
  guint n = 0;

  g_assert_cmpint (cairo_image_surface_get_width (got), ==, width);
  g_assert_cmpint (cairo_image_surface_get_height (got), ==, height);
  for (int y = 0; y < height; y += size)
    for (int x = 0; x < width; x += size)
      {
        double difference;

        if (other_font != NULL && is_near_text (got, other_font, x, y))
          continue;
        difference = square_difference (got, want, x, y, size);
        if (difference > limit)
          g_test_message ("at %d, %d: differs by %.1f", x * REDUCED, y * REDUCED, difference);
        worst = MAX (worst, difference);
        n++;
      }
  g_assert_cmpuint (n, >, (guint) (width * height / (size * size)) / 2);
  return worst;
}

static void
keep (cairo_surface_t *surface,
      const char      *name,
      int              scale)
{
  const char *folder = g_getenv ("VN_KEEP_PICTURES");
  g_autofree char *path = NULL;

  if (folder == NULL)
    return;
  path = g_strdup_printf ("%s/%s-%dx.png", folder, name, scale);
  cairo_surface_write_to_png (surface, path);
}

static void
check (const char        *name,
       const GoldenStyle *style,
       GoldenPaint        paint,
       gconstpointer      data,
       int                scale)
{
  g_autofree char *styled = g_strdup_printf ("%s-%s", name, style->name);
  g_autofree char *path = g_strdup_printf ("%s/%s.png", GOLDEN_DIR, styled);
  cairo_surface_t *whole = paint (data, style->dark, style->high_contrast, fonts[0], scale);
  cairo_surface_t *other = paint (data, style->dark, style->high_contrast, fonts[1], scale);
  cairo_surface_t *got = reduce (whole, REDUCED * scale), *other_font = reduce (other, REDUCED * scale), *want;
  double fine, coarse;

  keep (whole, styled, scale);
  if (generating && scale == 1)
    g_assert_cmpint (cairo_surface_write_to_png (got, path), ==, CAIRO_STATUS_SUCCESS);
  want = cairo_image_surface_create_from_png (path);
  g_assert_cmpint (cairo_surface_status (want), ==, CAIRO_STATUS_SUCCESS);
  fine = compare (got, other_font, want, SQUARE, limits[scale - 1]);
  coarse = compare (got, NULL, want, COARSE, LIMIT_COARSE);
  g_test_message ("%s at %dx: differs by at most %.2f, in large squares by %.2f", styled, scale, fine, coarse);
  g_assert_cmpfloat (fine, <=, limits[scale - 1]);
  g_assert_cmpfloat (coarse, <=, LIMIT_COARSE);
  cairo_surface_destroy (want);
  cairo_surface_destroy (other_font);
  cairo_surface_destroy (other);
  cairo_surface_destroy (got);
  cairo_surface_destroy (whole);
}

static gboolean
has_fonts (void)
{
  PangoFontMap *map = pango_cairo_font_map_new ();
  PangoFontFamily **families;
  guint found = 0;
  int n;

  pango_font_map_list_families (map, &families, &n);
  for (int i = 0; i < n; i++)
    for (guint k = 0; k < G_N_ELEMENTS (fonts); k++)
      found += g_str_equal (pango_font_family_get_name (families[i]), fonts[k]);
  g_free (families);
  g_object_unref (map);
  return found == G_N_ELEMENTS (fonts);
}

/**
 * golden_picture_check_all:
 * @name: of the files: NAME-STYLE.png
 *
 * Compares what @paint gives with what is kept, in each style, at 1x and 2x. Skips the test where fonts are missing. Pictures are
 * written in whole into the folder named by VN_KEEP_PICTURES, if it is set.
 */
void
golden_picture_check_all (const char        *name,
                          const GoldenStyle *styles,
                          guint              n_styles,
                          GoldenPaint        paint,
                          gconstpointer      data)
{
  if (!has_fonts ())
    {
      g_test_skip ("the fonts DejaVu Sans and DejaVu Sans Mono are not installed");
      return;
    }
  for (guint i = 0; i < n_styles; i++)
    for (int scale = 1; scale <= 2; scale++)
      check (name, &styles[i], paint, data, scale);
}
