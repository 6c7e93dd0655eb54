/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shapes in a scene: with letters and names where sizes are open, with numbers where those of inputs are known. */
#include "vn-scene-builder.h"

#include "open-models.h"
#include "vn-infer.h"

static const char *
get_shape (VnScene    *scene,
           const char *name)
{
  for (guint i = 0; i < vn_scene_get_n_nodes (scene); i++)
    if (g_str_equal (vn_scene_get_node (scene, i)->name, name))
      return vn_scene_get_node (scene, i)->shape;
  g_assert_not_reached ();
}

static GHashTable *
make_sizes (gint64 height,
            gint64 width)
{
  GHashTable *sizes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  VnShape shape = VN_SHAPE (1, 3, height, width);

  g_hash_table_insert (sizes, g_strdup ("image"), g_memdup2 (&shape, sizeof shape));
  return sizes;
}

static void
test_sizes (void)
{
  static const struct { gint64 height, width; const char *conv, *pool; } cases[] = {
    { 8, 10, "1×4×8×10", "1×4×4×5" },
    { 8, -1, "1×4×8×W", NULL },
    { 9, 8, "1×4×H×W", NULL },      /* the network cannot work with it */
    { 0, 0, "1×4×H×W", NULL },      /* none are known */
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnModel) model = open_model_pictures ();
      g_autoptr(GHashTable) sizes = cases[i].height != 0 ? make_sizes (cases[i].height, cases[i].width) : NULL;
      g_autoptr(VnScene) scene = NULL, open = NULL;

      g_assert_true (vn_model_infer_types (model, NULL, NULL, NULL));
      open = vn_scene_build (model, NULL, VN_PAIRS_FOLDED);
      scene = vn_scene_build_sized (model, NULL, VN_PAIRS_FOLDED, sizes);
      g_test_message ("%s %s %s", get_shape (scene, "conv"), get_shape (scene, "pool"), get_shape (scene, "image"));
      g_assert_cmpstr (get_shape (open, "conv"), ==, "1×4×H×W");
      g_assert_cmpstr (get_shape (scene, "conv"), ==, cases[i].conv);
      if (cases[i].pool != NULL)
        {
          g_assert_cmpstr (get_shape (scene, "pool"), ==, cases[i].pool);
          g_assert_cmpuint (vn_scene_get_n_symbols (scene), ==, 0);
          g_assert_cmpuint (vn_scene_get_n_symbols (open), >, 0);
        }
      g_assert_cmpint (vn_graph_find_value (model->graph, "image")->type.shape.dims[2], ==, -1);
    }
}

/* Names that a converter has numbered are letters, explained as other unknown sizes are. */
static void
test_numbered (void)
{
  static const struct { const char *name, *shape; guint n_symbols; } cases[] = {
    { "unk__68", "1×3×A×W", 1 }, { "height", "1×3×height×W", 0 }, { "my__height", "1×3×my__height×W", 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnModel) model = open_model_pictures ();
      VnType *type = &vn_graph_find_value (model->graph, "image")->type;
      g_autoptr(VnScene) scene = NULL;
      const char *text = NULL;

      g_free (type->symbols[2]);
      type->symbols[2] = g_strdup (cases[i].name);
      scene = vn_scene_build (model, NULL, VN_PAIRS_FOLDED);
      g_assert_cmpstr (get_shape (scene, "image"), ==, cases[i].shape);
      g_assert_cmpuint (vn_scene_get_n_symbols (scene), ==, cases[i].n_symbols);
      if (cases[i].n_symbols > 0)
        g_assert_cmpstr (vn_scene_get_symbol (scene, 0, &text), ==, "A");
      g_assert_cmpstr (text, ==, cases[i].n_symbols > 0 ? cases[i].name : NULL);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/scene-sizes/shapes", test_sizes);
  g_test_add_func ("/scene-sizes/numbered", test_numbered);
  return g_test_run ();
}
