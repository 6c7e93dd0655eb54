/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pictures are kept in the folder named by VN_KEEP_PICTURES, if it is set. */
#include "demo-scene.h"
#include "vn-fold.h"

#include <math.h>
#include <time.h>

typedef struct
{
  VnScene        *scene;
  VnGraphLayout       *layout;
  VnGraphIndex   *index;
  VnOverlay      *overlay;
  VnGraphPainter *painter;
} Fixture;

static void
fixture_init (Fixture *fixture,
              VnScene *scene)
{
  fixture->scene = scene;
  fixture->layout = vn_graph_layout_new_for_scene (scene, NULL, NULL);
  fixture->index = vn_graph_index_new (fixture->layout);
  fixture->painter = vn_graph_painter_new ();
  vn_graph_painter_set_content (fixture->painter, scene, fixture->layout, fixture->index);
  vn_graph_painter_set_overlay (fixture->painter, fixture->overlay);
}

static void
fixture_clear (Fixture *fixture)
{
  vn_graph_painter_free (fixture->painter);
  vn_graph_index_free (fixture->index);
  vn_graph_layout_unref (fixture->layout);
  vn_overlay_unref (fixture->overlay);
  vn_scene_unref (fixture->scene);
}

static cairo_surface_t *
draw (Fixture            *fixture,
      VnGraphCamera       camera,
      int                 width,
      int                 height,
      const VnGraphState *state)
{
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, width, height);
  cairo_t *cr = cairo_create (surface);

  vn_graph_painter_draw (fixture->painter, cr, camera, width, height);
  if (state != NULL)
    vn_graph_painter_draw_state (fixture->painter, cr, camera, width, height, state);
  g_assert_cmpint (cairo_status (cr), ==, CAIRO_STATUS_SUCCESS);
  cairo_destroy (cr);
  cairo_surface_flush (surface);
  return surface;
}

static void
keep (cairo_surface_t *surface,
      const char      *name)
{
  const char *folder = g_getenv ("VN_KEEP_PICTURES");
  g_autofree char *path = NULL;

  if (folder == NULL)
    return;
  path = g_strdup_printf ("%s/%s.png", folder, name);
  cairo_surface_write_to_png (surface, path);
}

static VnColor
pixel (cairo_surface_t *surface,
       double           x,
       double           y)
{
  const guint8 *data = cairo_image_surface_get_data (surface);
  int stride = cairo_image_surface_get_stride (surface);
  guint32 argb = *(const guint32 *) (data + (int) y * stride + 4 * (int) x);

  return vn_color_from_hex (argb & 0xffffff);
}

static void
assert_color (const char *what,
              VnColor     got,
              VnColor     want,
              double      tolerance)
{
  g_test_message ("%s: %.3f %.3f %.3f, wanted %.3f %.3f %.3f", what, got.r, got.g, got.b, want.r, want.g,
                  want.b);
  g_assert_cmpfloat (fabs (got.r - want.r), <=, tolerance);
  g_assert_cmpfloat (fabs (got.g - want.g), <=, tolerance);
  g_assert_cmpfloat (fabs (got.b - want.b), <=, tolerance);
}

/* Each box shows its heat at its lower middle, at every level. */
static void
test_levels (void)
{
  static const struct { double zoom; const char *name; } zooms[] = {
    { 1, "near" }, { 0.9, "near-least" }, { 0.6, "middle" }, { 0.45, "middle-least" },
    { 0.3, "far" }, { 0.1, "farthest" }, { 2, "large" },
  };

  for (guint dark = 0; dark < 2; dark++)
    for (guint i = 0; i < G_N_ELEMENTS (zooms); i++)
      {
        g_autofree char *name = g_strdup_printf ("%s-%s", zooms[i].name, dark ? "dark" : "light");
        VnGraphTheme theme;
        VnGraphCamera camera = { .zoom = zooms[i].zoom };
        cairo_surface_t *surface;
        Fixture fixture = { 0 };
        const VnRect *box;
        VnRect bounds;

        fixture_init (&fixture, demo_scene_detector (&fixture.overlay));
        vn_graph_painter_set_overlay (fixture.painter, fixture.overlay);
        vn_graph_theme_init (&theme, dark, FALSE);
        vn_graph_painter_set_theme (fixture.painter, &theme);
        bounds = vn_graph_layout_get_bounds (fixture.layout);
        camera.origin = (VnPoint) { bounds.x - 20, bounds.y - 20 };
        surface = draw (&fixture, camera, (int) ((bounds.width + 40) * camera.zoom),
                        (int) ((bounds.height + 40) * camera.zoom), NULL);
        keep (surface, name);

        assert_color ("canvas", pixel (surface, 1, 1), theme.canvas, 0.005);
        box = vn_graph_layout_get_box (fixture.layout, 7);
        g_test_message ("%s", name);
        assert_color ("bad Conv", pixel (surface,
                                         (box->x + box->width * 0.45 - camera.origin.x) * camera.zoom,
                                         (box->y + box->height * 0.9 - camera.origin.y) * camera.zoom),
                      vn_heat_color (VN_HEAT_ERROR, dark, vn_overlay_get (fixture.overlay, 7)->t), 0.02);
        cairo_surface_destroy (surface);
        fixture_clear (&fixture);
      }
}

/* A closed group has the colour of its worst node, and below it a strip with the colours of all; an open one has a title. */
static void
test_groups (void)
{
  for (guint dark = 0; dark < 2; dark++)
    {
      Fixture fixture = { 0 };
      VnOverlay *whole_overlay = NULL;
      g_autoptr(VnScene) whole = demo_scene_transformer (14, &whole_overlay);
      g_autoptr(VnGroups) groups = vn_groups_new (whole);
      g_autoptr(VnFoldPlaces) places = vn_fold_places_new ();
      g_autoptr(VnFold) fold = NULL;
      g_autofree guint8 *open = g_new0 (guint8, vn_groups_get_n (groups));
      g_autofree char *name = g_strdup_printf ("groups-%s", dark ? "dark" : "light");
      VnGraphTheme theme;
      VnGraphCamera camera = { .zoom = 1 };
      VnRect bounds;
      cairo_surface_t *surface;
      guint n_groups = 0;

      open[VN_GROUPS_ROOT] = 1;
      for (guint i = 0; i < vn_groups_get_n (groups); i++)
        open[i] |= g_str_equal (vn_groups_get (groups, i)->title, "layer\u00a01");
      fold = vn_fold_new (whole, groups, open);
      fixture.scene = vn_scene_ref (vn_fold_get_scene (fold));
      fixture.layout = vn_fold_lay_out (fold, places, NULL, NULL);
      fixture.index = vn_graph_index_new (fixture.layout);
      fixture.overlay = vn_fold_make_overlay (fold, whole_overlay);
      fixture.painter = vn_graph_painter_new ();
      vn_graph_theme_init (&theme, dark, FALSE);
      vn_graph_painter_set_theme (fixture.painter, &theme);
      vn_graph_painter_set_content (fixture.painter, fixture.scene, fixture.layout, fixture.index);
      vn_graph_painter_set_groups (fixture.painter, groups);
      vn_graph_painter_set_overlay (fixture.painter, fixture.overlay);
      bounds = vn_graph_layout_get_bounds (fixture.layout);
      camera.origin = (VnPoint) { bounds.x - 20, bounds.y - 20 };
      surface = draw (&fixture, camera, (int) bounds.width + 40, (int) bounds.height + 40, NULL);
      keep (surface, name);
      for (guint i = 0; i < vn_scene_get_n_nodes (fixture.scene); i++)
        {
          const VnRect *box = vn_graph_layout_get_box (fixture.layout, i);
          const VnOverlayNote *note = vn_overlay_get_note (fixture.overlay, i);
          double y = box->y - camera.origin.y + box->height - 8 - 3;

          if (note == NULL)
            continue;
          assert_color ("worst of the group", pixel (surface, box->x - camera.origin.x + 6, box->y - camera.origin.y + 28),
                        vn_heat_color (VN_HEAT_ERROR, dark, vn_overlay_get (fixture.overlay, i)->t), 0.02);
          for (guint k = 2; k + 2 < note->n_items; k++)
            assert_color ("cell", pixel (surface, box->x - camera.origin.x + (k + 0.5) * box->width / note->n_items, y),
                          vn_heat_color (VN_HEAT_ERROR, dark, note->items[k].t), 0.02);
          n_groups++;
        }
      g_assert_cmpuint (n_groups, ==, 15);   /* 13 layers, and attention and feed-forward of the open one */
      g_assert_cmpuint (vn_graph_layout_get_n_frames (fixture.layout), ==, 1);
      cairo_surface_destroy (surface);
      vn_overlay_unref (whole_overlay);
      fixture_clear (&fixture);
    }
}

static void
test_states (void)
{
  guint8 selected[64] = { 0 };
  VnRect region = { 0 };
  VnGraphChip chips[] = { { .enters = TRUE, .label = "in 1" }, { .label = "out 1" } };
  VnGraphState state;
  VnGraphCamera camera = { .zoom = 1 };
  cairo_surface_t *surface;
  Fixture fixture = { 0 };
  VnGraphTheme theme;
  VnRect bounds, last;
  guint n;

  fixture_init (&fixture, demo_scene_detector (&fixture.overlay));
  vn_graph_theme_init (&theme, FALSE, FALSE);
  bounds = vn_graph_layout_get_bounds (fixture.layout);
  camera.origin = (VnPoint) { bounds.x - 20, bounds.y - 20 };
  for (guint i = 5; i <= 8; i++)
    selected[i] = 1;
  region = *vn_graph_layout_get_box (fixture.layout, 5);
  last = *vn_graph_layout_get_box (fixture.layout, 8);
  region = (VnRect) { region.x - 12, region.y - 12, region.width + 24, last.y + last.height - region.y + 24 };
  chips[0].edge = vn_scene_get_in_edges (fixture.scene, 5, &n)[0];
  chips[1].edge = vn_scene_get_out_edges (fixture.scene, 8, &n)[0];
  vn_graph_state_init (&state);
  state.selected = selected;
  state.focus_node = 7;
  state.regions = &region;
  state.n_regions = 1;
  state.chips = chips;
  state.n_chips = 2;
  state.hover_node = 10;
  state.selected_edge = vn_scene_get_in_edges (fixture.scene, 20, &n)[0];
  state.has_band = TRUE;
  state.band = (VnRect) { bounds.x, bounds.y, 100, 60 };
  surface = draw (&fixture, camera, (int) bounds.width + 40, (int) bounds.height + 40, &state);
  keep (surface, "states");

  last = *vn_graph_layout_get_box (fixture.layout, 6);
  assert_color ("ring", pixel (surface, last.x - camera.origin.x - 2,
                               last.y + last.height / 2 - camera.origin.y),
                theme.accent, 0.35);
  assert_color ("tint", pixel (surface, last.x - camera.origin.x - 8,
                               last.y + last.height / 2 - camera.origin.y),
                vn_color_mix (theme.canvas, theme.accent, 0.09), 0.01);
  assert_color ("no tint on a box",
                pixel (surface, last.x - camera.origin.x + 100, last.y - camera.origin.y + 27),
                vn_heat_color (VN_HEAT_ERROR, FALSE, vn_overlay_get (fixture.overlay, 6)->t), 0.01);
  cairo_surface_destroy (surface);
  fixture_clear (&fixture);
}

/* One bad node among 10,000 is seen when everything fits the window. */
static void
test_worst_is_seen (void)
{
  VnColor bad = vn_heat_color (VN_HEAT_ERROR, FALSE, 0.85);
  cairo_surface_t *surface;
  Fixture fixture = { 0 };
  VnGraphCamera camera;
  gint64 start;
  guint seen = 0;

  fixture_init (&fixture, demo_scene_large (10000, 1, &fixture.overlay));
  camera = vn_graph_camera_fit (vn_graph_layout_get_bounds (fixture.layout), 1600, 900, 20, 1);
  start = g_get_monotonic_time ();
  surface = draw (&fixture, camera, 1600, 900, NULL);
  g_test_message ("zoom %.4f, drawn in %.1f ms", camera.zoom, (g_get_monotonic_time () - start) / 1e3);
  keep (surface, "large-fit");
  for (int y = 0; y < 900; y++)
    for (int x = 0; x < 1600; x++)
      {
        VnColor c = pixel (surface, x, y);

        seen += fabs (c.r - bad.r) + fabs (c.g - bad.g) + fabs (c.b - bad.b) < 0.05;
      }
  g_test_message ("%u pixels of the bad colour", seen);
  g_assert_cmpuint (seen, >=, 10);
  cairo_surface_destroy (surface);
  fixture_clear (&fixture);
}

static void
test_speed (void)
{
  static const double zooms[] = { 0.012, 0.03, 0.1, 0.2, 0.44, 0.5, 0.9, 1, 2 };
  Fixture fixture = { 0 };
  VnRect bounds;

  fixture_init (&fixture, demo_scene_large (10000, 12, &fixture.overlay));
  bounds = vn_graph_layout_get_bounds (fixture.layout);
  for (guint i = 0; i < G_N_ELEMENTS (zooms); i++)
    {
      VnGraphCamera camera = { .zoom = zooms[i] };
      g_autoptr(GArray) found = g_array_new (FALSE, FALSE, sizeof (guint));
      clock_t start, took = 0;

      for (guint k = 0; k < 6; k++)
        {
          cairo_surface_t *surface;

          camera.origin.x = bounds.x + bounds.width / 2 - 800 / camera.zoom;
          camera.origin.y = bounds.y + bounds.height * 0.4 + 20 * k / camera.zoom;
          start = clock ();
          surface = draw (&fixture, camera, 1600, 900, NULL);
          if (k > 0)
            took += clock () - start;
          cairo_surface_destroy (surface);
        }
      vn_graph_index_find_nodes (fixture.index,
                                 (VnRect) { camera.origin.x, camera.origin.y, 1600 / camera.zoom,
                                                           900 / camera.zoom }, found);
      g_test_message ("zoom %.2f: %u nodes, %.1f ms", camera.zoom, found->len,
                      1e3 * took / CLOCKS_PER_SEC / 5);
    }
  fixture_clear (&fixture);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/painter/levels", test_levels);
  g_test_add_func ("/painter/groups", test_groups);
  g_test_add_func ("/painter/states", test_states);
  g_test_add_func ("/painter/worst-is-seen", test_worst_is_seen);
  g_test_add_func ("/painter/speed", test_speed);
  return g_test_run ();
}
