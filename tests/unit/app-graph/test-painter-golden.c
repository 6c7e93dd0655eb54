/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pictures of the painter at 1x and 2x beside those kept in golden/, which are half as large as at 1x. Where letters come to lie
 * differs between versions of cairo and FreeType: where there is text, only larger squares are compared. --generate writes
 * golden/ anew: look at it before committing. Pictures are kept in whole in the folder named by VN_KEEP_PICTURES, if it is set.
 * */
#include "golden-scene.h"

#include <math.h>
#include <pango/pangocairo.h>

#define REDUCED       2      /* a kept picture has one pixel for so many at 1x, in each direction */
#define SQUARE        2      /* kept pixels, where there is no text */
#define COARSE       12      /* kept pixels, everywhere */
#define LIMIT_COARSE  6.     /* of 255, difference of the means of one square */
#define STEP          4      /* between values of a channel: smaller files */

/* Without text, at 1x and 2x, where translucent edges that cross a pixel come out otherwise. */
static const double limits[] = { 4, 30 };

/* What the second one shows otherwise is text. */
static const char * const fonts[] = { "DejaVu Sans", "DejaVu Sans Mono" };

typedef struct
{
  const char *name;
  gboolean    dark, high_contrast;
} Style;

static const Style styles[] = { { "light", FALSE, FALSE }, { "dark", TRUE, FALSE }, { "contrast", FALSE, TRUE } };

typedef struct
{
  const char *name;
  void      (*init) (GoldenScene *scene);
  double      zoom;
  gboolean    has_state;
} Part;

static const Part parts[] = {
  { "states", golden_scene_init_states, 1, FALSE },
  { "selection", golden_scene_init_states, 0.6, TRUE },
  { "far", golden_scene_init_states, 0.4, FALSE },
  { "groups", golden_scene_init_groups, 1, FALSE },
};

static gboolean generating;

static guint
edge_of (const VnScene *scene,
         guint          node,
         gboolean       enters)
{
  guint n;
  const guint *edges = enters ? vn_scene_get_in_edges (scene, node, &n) : vn_scene_get_out_edges (scene, node, &n);

  g_assert_cmpuint (n, >, 0);
  return edges[0];
}

/* All that can lie over a network, at once. */
static void
draw_state (VnGraphPainter    *painter,
            cairo_t           *cr,
            const GoldenScene *scene,
            VnGraphCamera      camera,
            double             width,
            double             height)
{
  guint n = vn_scene_get_n_nodes (scene->scene);
  g_autofree guint8 *selected = g_new0 (guint8, n), *partly = g_new0 (guint8, n), *measuring = g_new0 (guint8, n);
  VnRect first = *vn_graph_layout_get_box (scene->layout, 2), last = *vn_graph_layout_get_box (scene->layout, 4);
  VnRect region = { first.x - 12, first.y - 12, first.width + 24, last.y + last.height - first.y + 24 };
  VnGraphChip chips[] = { { .edge = edge_of (scene->scene, 2, TRUE), .enters = TRUE, .label = "in 1" },
                          { .edge = edge_of (scene->scene, 4, FALSE), .is_leak = TRUE, .label = "out 1" } };
  VnGraphState state;

  vn_graph_state_init (&state);
  selected[2] = selected[3] = selected[4] = 1;
  partly[11] = 1;
  measuring[8] = 1;
  state.selected = selected;
  state.partly = partly;
  state.measuring = measuring;
  state.phase = 0.1;
  state.focus_node = 3;
  state.hover_node = 13;
  state.hover_edge = edge_of (scene->scene, 13, TRUE);
  state.hover_stub = 0;
  state.selected_edge = edge_of (scene->scene, 7, TRUE);
  state.regions = &region;
  state.n_regions = 1;
  state.chips = chips;
  state.n_chips = G_N_ELEMENTS (chips);
  state.has_band = TRUE;
  state.band = (VnRect) { scene->bounds.x + scene->bounds.width - 90, scene->bounds.y + 8, 80, 40 };
  vn_graph_painter_draw_state (painter, cr, camera, width, height, &state);
}

static cairo_surface_t *
paint (const Part  *part,
       const Style *style,
       const char  *font,
       int          scale)
{
  g_autoptr(VnGraphPainter) painter = vn_graph_painter_new ();
  GoldenScene scene;
  VnGraphTheme theme;
  VnGraphCamera camera = { .zoom = part->zoom };
  cairo_surface_t *surface;
  cairo_t *cr;
  int width, height;

  part->init (&scene);
  camera.origin = (VnPoint) { scene.bounds.x, scene.bounds.y };
  width = (int) ceil (scene.bounds.width * camera.zoom / (COARSE * REDUCED)) * COARSE * REDUCED;
  height = (int) ceil (scene.bounds.height * camera.zoom / (COARSE * REDUCED)) * COARSE * REDUCED;
  vn_graph_theme_init (&theme, style->dark, style->high_contrast);
  theme.font = font;
  vn_graph_painter_set_theme (painter, &theme);
  vn_graph_painter_set_content (painter, scene.scene, scene.layout, scene.index);
  vn_graph_painter_set_groups (painter, scene.groups);
  vn_graph_painter_set_overlay (painter, scene.overlay);

  surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, width * scale, height * scale);
  cairo_surface_set_device_scale (surface, scale, scale);
  cr = cairo_create (surface);
  vn_graph_painter_draw (painter, cr, camera, width, height);
  if (part->has_state)
    draw_state (painter, cr, &scene, camera, width, height);
  g_assert_cmpint (cairo_status (cr), ==, CAIRO_STATUS_SUCCESS);
  cairo_destroy (cr);
  cairo_surface_flush (surface);
  golden_scene_clear (&scene);
  return surface;
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
check (const Part  *part,
       const Style *style,
       int          scale)
{
  g_autofree char *name = g_strdup_printf ("%s-%s", part->name, style->name);
  g_autofree char *path = g_strdup_printf ("%s/%s.png", GOLDEN_DIR, name);
  cairo_surface_t *whole = paint (part, style, fonts[0], scale), *got = reduce (whole, REDUCED * scale);
  cairo_surface_t *other = paint (part, style, fonts[1], scale), *other_font = reduce (other, REDUCED * scale), *want;
  double fine, coarse;

  keep (whole, name, scale);
  if (generating && scale == 1)
    g_assert_cmpint (cairo_surface_write_to_png (got, path), ==, CAIRO_STATUS_SUCCESS);
  want = cairo_image_surface_create_from_png (path);
  g_assert_cmpint (cairo_surface_status (want), ==, CAIRO_STATUS_SUCCESS);
  fine = compare (got, other_font, want, SQUARE, limits[scale - 1]);
  coarse = compare (got, NULL, want, COARSE, LIMIT_COARSE);
  g_test_message ("%s at %dx: differs by at most %.2f, in large squares by %.2f", name, scale, fine, coarse);
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

static void
test_pictures (gconstpointer data)
{
  const Part *part = data;

  if (!has_fonts ())
    {
      g_test_skip ("the fonts DejaVu Sans and DejaVu Sans Mono are not installed");
      return;
    }
  for (guint i = 0; i < G_N_ELEMENTS (styles); i++)
    for (int scale = 1; scale <= 2; scale++)
      check (part, &styles[i], scale);
}

int
main (int    argc,
      char **argv)
{
  generating = argc > 1 && g_str_equal (argv[argc - 1], "--generate");
  argc -= generating;
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      g_autofree char *path = g_strconcat ("/painter-golden/", parts[i].name, NULL);

      g_test_add_data_func (path, &parts[i], test_pictures);
    }
  return g_test_run ();
}
