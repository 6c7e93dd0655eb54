/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the painter makes of nodes in each state. --generate writes golden/ anew: look at it before committing. */
#include "golden-picture.h"
#include "golden-scene.h"

#include <math.h>

static const GoldenStyle styles[] = { { "light", FALSE, FALSE }, { "dark", TRUE, FALSE }, { "contrast", FALSE, TRUE } };

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
paint (gconstpointer  data,
       gboolean       dark,
       gboolean       high_contrast,
       const char    *font,
       int            scale)
{
  const Part *part = data;
  g_autoptr(VnGraphPainter) painter = vn_graph_painter_new ();
  GoldenScene scene;
  VnGraphTheme theme;
  VnGraphCamera camera = { .zoom = part->zoom };
  cairo_surface_t *surface;
  cairo_t *cr;
  int width, height;

  part->init (&scene);
  camera.origin = (VnPoint) { scene.bounds.x, scene.bounds.y };
  width = (int) ceil (scene.bounds.width * camera.zoom / (GOLDEN_COARSE * GOLDEN_REDUCED)) * GOLDEN_COARSE * GOLDEN_REDUCED;
  height = (int) ceil (scene.bounds.height * camera.zoom / (GOLDEN_COARSE * GOLDEN_REDUCED)) * GOLDEN_COARSE * GOLDEN_REDUCED;
  vn_graph_theme_init (&theme, dark, high_contrast);
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

static void
test_pictures (gconstpointer data)
{
  const Part *part = data;

  golden_picture_check_all (part->name, styles, G_N_ELEMENTS (styles), paint, part);
}

int
main (int    argc,
      char **argv)
{
  golden_picture_init (&argc, &argv);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      g_autofree char *path = g_strconcat ("/painter-golden/", parts[i].name, NULL);

      g_test_add_data_func (path, &parts[i], test_pictures);
    }
  return g_test_run ();
}
