/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What one sees of twelve networks when they are opened: folded and laid out, and as a whole on a page. --generate writes
 * golden/network-* anew: look at it before committing. */
#include "golden-picture.h"
#include "group-networks.h"
#include "large-model.h"
#include "mixed-models.h"
#include "open-models.h"

#include "vn-graph-content.h"
#include "vn-graph-painter.h"
#include "vn-heat.h"
#include "vn-onnx.h"

#include <glib/gstdio.h>
#include <math.h>

#define PAGE_WIDTH  (30 * GOLDEN_COARSE * GOLDEN_REDUCED)
#define PAGE_HEIGHT (18 * GOLDEN_COARSE * GOLDEN_REDUCED)
#define MARGIN      24.
#define N_LARGE     120
#define PAGE        1.25       /* as the graph page folds long networks */

static const GoldenStyle styles[] = { { "light", FALSE, FALSE }, { "dark", TRUE, FALSE } };

static VnModel *
read_demo (void)
{
  g_autoptr(GError) error = NULL;
  VnModel *model = vn_onnx_read_file (DEMO_DIR "/demo.onnx", &error);

  g_assert_no_error (error);
  return model;
}

/* Layers with QuantizeLinear and DequantizeLinear behind each. */
static VnModel *
read_pairs (void)
{
  g_autofree char *folder = g_dir_make_tmp ("vn-golden-XXXXXX", NULL), *path = g_build_filename (folder, "pairs.onnx", NULL);
  g_autoptr(GError) error = NULL;
  VnModel *model;

  large_model_write (path, N_LARGE, TRUE);
  model = vn_onnx_read_file (path, &error);
  g_assert_no_error (error);
  g_unlink (path);
  g_rmdir (folder);
  return model;
}

/* One of @scene and @model.
 * @measured: nodes have errors of every size */
typedef struct
{
  const char *name;
  VnScene  *(*scene) (void);
  VnModel  *(*model) (void);
  gboolean    measured;
} Network;

static const Network networks[] = {
  { "bert",     make_bert,   NULL,                 TRUE },
  { "branches", NULL,        open_model_branches,  FALSE },
  { "biased",   NULL,        mixed_model_biased,   TRUE },
  { "chain",    make_chain,  NULL,                 FALSE },
  { "deep",     make_deep,   NULL,                 FALSE },
  { "demo",     NULL,        read_demo,            TRUE },
  { "pairs",    NULL,        read_pairs,           FALSE },
  { "pictures", NULL,        mixed_model_pictures, TRUE },
  { "resnet",   make_resnet, NULL,                 TRUE },
  { "scopes",   make_scopes, NULL,                 FALSE },
  { "tangle",   make_tangle, NULL,                 TRUE },
  { "words",    NULL,        mixed_model_words,    FALSE },
};

static VnScene *
make_scene (const Network *network)
{
  g_autoptr(VnModel) model = NULL;

  if (network->scene != NULL)
    return network->scene ();
  model = network->model ();
  g_assert_true (vn_model_infer_types (model, NULL, NULL, NULL));
  return vn_scene_build (model, NULL, VN_PAIRS_FOLDED);
}

static VnOverlay *
make_overlay (const VnScene *scene)
{
  VnHeatHandles handles = vn_heat_default_handles (VN_METRIC_SQNR);
  VnOverlay *overlay = vn_overlay_new (VN_OVERLAY_ERROR, vn_scene_get_n_nodes (scene), "dB");

  for (guint i = 0; i < vn_scene_get_n_nodes (scene); i++)
    {
      double db = 6 + 7 * i % 40;
      g_autofree char *text = vn_metric_format_short (VN_METRIC_SQNR, db);
      VnOverlayItem item = { .measured = TRUE, .t = (float) vn_heat_t (db, handles), .ticks = vn_heat_ticks (db, handles) };

      g_strlcpy (item.value, text, sizeof item.value);
      vn_overlay_set (overlay, i, &item);
    }
  return overlay;
}

static void
mark_failed (VnGraphContent *content,
             const char     *message)
{
  g_error ("%s", message);
}

/* As the graph page shows it first. */
static VnGraphContent *
open_network (const Network *network)
{
  VnGraphContent *content = vn_graph_content_new ();
  g_autoptr(VnScene) scene = make_scene (network);
  g_autoptr(VnGroups) groups = vn_groups_new (scene);

  g_signal_connect (content, "failed", G_CALLBACK (mark_failed), NULL);
  vn_graph_content_set_page (content, PAGE);
  vn_graph_content_set_network (content, scene, groups);
  while (content->layout == NULL)
    g_main_context_iteration (NULL, TRUE);
  if (network->measured)
    {
      g_autoptr(VnOverlay) overlay = make_overlay (scene);

      vn_graph_content_set_overlay (content, overlay);
    }
  return content;
}

static VnGraphCamera
fit (VnGraphContent *content)
{
  VnRect bounds = vn_graph_layout_get_bounds (content->layout);
  double zoom = MIN (1, MIN ((PAGE_WIDTH - 2 * MARGIN) / bounds.width, (PAGE_HEIGHT - 2 * MARGIN) / bounds.height));

  return (VnGraphCamera) { .zoom = zoom, .origin = { bounds.x + bounds.width / 2 - PAGE_WIDTH / zoom / 2,
                                                     bounds.y + bounds.height / 2 - PAGE_HEIGHT / zoom / 2 } };
}

static cairo_surface_t *
paint (gconstpointer  data,
       gboolean       dark,
       gboolean       high_contrast,
       const char    *font,
       int            scale)
{
  g_autoptr(VnGraphContent) content = open_network (data);
  g_autoptr(VnGraphPainter) painter = vn_graph_painter_new ();
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, PAGE_WIDTH * scale, PAGE_HEIGHT * scale);
  VnGraphTheme theme;
  cairo_t *cr;

  vn_graph_theme_init (&theme, dark, high_contrast);
  theme.font = font;
  vn_graph_painter_set_theme (painter, &theme);
  vn_graph_painter_set_content (painter, content->scene, content->layout, content->index);
  vn_graph_painter_set_groups (painter, content->groups);
  vn_graph_painter_set_overlay (painter, content->overlay);
  cairo_surface_set_device_scale (surface, scale, scale);
  cr = cairo_create (surface);
  vn_graph_painter_draw (painter, cr, fit (content), PAGE_WIDTH, PAGE_HEIGHT);
  g_assert_cmpint (cairo_status (cr), ==, CAIRO_STATUS_SUCCESS);
  cairo_destroy (cr);
  cairo_surface_flush (surface);
  return surface;
}

static void
test_network (gconstpointer data)
{
  const Network *network = data;
  g_autofree char *name = g_strconcat ("network-", network->name, NULL);

  golden_picture_check_all (name, styles, G_N_ELEMENTS (styles), paint, network);
}

int
main (int    argc,
      char **argv)
{
  golden_picture_init (&argc, &argv);
  for (guint i = 0; i < G_N_ELEMENTS (networks); i++)
    {
      g_autofree char *path = g_strconcat ("/network-golden/", networks[i].name, NULL);

      g_test_add_data_func (path, &networks[i], test_network);
    }
  return g_test_run ();
}
