/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scenes of real networks. Pictures are kept in the folder named by VN_KEEP_PICTURES, if it is set. */
#include "vn-graph-edit.h"
#include "vn-graph-painter.h"
#include "vn-jobs.h"
#include "vn-onnx.h"
#include "vn-overlay-choice.h"
#include "vn-scene-builder.h"

#include <math.h>

static VnNode *
add_node (VnGraph    *graph,
          const char *name,
          const char *op,
          VnValue    *a,
          VnValue    *b,
          VnShape     shape)
{
  VnValue *inputs[] = { a, b };
  VnValue *output = vn_graph_add_value (graph, NULL, VN_DTYPE_F32, &shape);

  return vn_graph_add_node (graph, name, "", op, inputs, b != NULL ? 2 : 1, &output, 1);
}

static void
test_small (void)
{
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  VnGraph *graph = model->graph;
  VnShape image = VN_SHAPE (1, 8, 10, 10), filter = VN_SHAPE (8, 1, 3, 3);
  VnValue *input = vn_graph_add_input (graph, "image", VN_DTYPE_F32, &image);
  g_autofree float *zeros = g_new0 (float, 72);
  g_autoptr(VnTensor) weights = vn_tensor_new_f32 (&filter, zeros);
  VnValue *weight = vn_graph_add_initializer (graph, "w", weights);
  VnNode *conv = add_node (graph, "conv", "Conv", input, weight, image);
  VnNode *add, *concat;
  g_autoptr(VnScene) scene = NULL;
  g_autoptr(VnOverlay) overlay = NULL;
  const VnSceneNode *box;
  const gint64 twos[] = { 2, 2 };

  vn_node_set_int (conv, "group", 8);
  vn_node_set_ints (conv, "strides", twos, 2);
  add = add_node (graph, NULL, "Add", vn_node_get_output (conv, 0), vn_node_get_output (conv, 0), image);
  concat = add_node (graph, "cat", "Concat", vn_node_get_output (add, 0), input, image);
  vn_node_set_int (concat, "axis", -1);
  vn_graph_set_output (graph, 0, vn_node_get_output (concat, 0));

  scene = vn_scene_build (model, NULL, VN_PAIRS_UNFOLDED);
  g_assert_cmpuint (vn_scene_get_n_nodes (scene), ==, 5);
  g_assert_cmpuint (vn_scene_get_n_edges (scene), ==, 6);
  box = vn_scene_get_node (scene, 1);
  g_test_message ("%s “%s” %s, %s", box->op, box->detail, box->name, box->shape);
  g_assert_cmpstr (box->detail, ==, "3×3/2 depthwise");
  g_assert_cmpstr (box->shape, ==, "1×8×10×10");
  g_assert_false (box->slim);
  g_assert_cmpint (box->family, ==, VN_FAMILY_COMPUTE);
  g_assert_cmpint (box->precision, ==, VN_PRECISION_NONE);
  g_assert_true (vn_scene_get_node (scene, 2)->slim);
  g_assert_cmpstr (vn_scene_get_node (scene, 3)->detail, ==, "axis -1");
  g_assert_cmpint (vn_scene_get_node (scene, 4)->kind, ==, VN_SCENE_OUTPUT);
  g_assert_cmpuint (vn_scene_find_source (scene, conv->index), ==, 1);

  overlay = vn_scene_build_overlay (scene, model, NULL, VN_METRIC_SQNR,
                                    vn_heat_default_handles (VN_METRIC_SQNR));
  g_assert_cmpuint (vn_overlay_get_n (overlay), ==, 5);
  g_assert_false (vn_overlay_get (overlay, 1)->measured);
}

static void
test_experts (void)
{
  g_autoptr(VnModel) model = vn_model_new (9, 17);
  const VnShape tokens = VN_SHAPE (3, 8), router = VN_SHAPE (3, 4), packed = VN_SHAPE (4, 8, 4);
  VnValue *inputs[3] = { vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &tokens),
                         vn_graph_add_input (model->graph, "router", VN_DTYPE_F32, &router),
                         vn_graph_add_input (model->graph, "weights", VN_DTYPE_U8, &packed) };
  VnValue *y = vn_graph_add_value (model->graph, "y", VN_DTYPE_F32, &tokens);
  VnNode *node = vn_graph_add_node (model->graph, "experts", "com.microsoft", "QMoE", inputs, 3, &y, 1);
  g_autofree char *detail = NULL;

  vn_node_set_int (node, "k", 2);
  vn_node_set_int (node, "expert_weight_bits", 8);
  detail = vn_node_dup_detail (node);
  g_assert_cmpstr (detail, ==, "2 of 4 experts, 8 bits");
}

/* What a file gives for nodes that share a box: times add up, of other numbers the own node's counts, else the largest. */
static void
check_given (const VnModel *model,
             const VnScene *scene)
{
  static const struct { const char *box; double sum, number; } cases[] = {
    { "q0", 3 + 4, 3 }, { "conv", 1 + 2 + 5, 5 }, { "relu", NAN, NAN }, { "q1", 8 + 9 + 12, 12 }, { "pool", 10, 10 },
  };
  double given[] = { 1, 2, 3, 4, 5, NAN, NAN, 8, 9, 10, 12, -3 };    /* dw db q0 dq0 conv relu q1 cast dq1 pool dq2 sigmoid */
  VnOverlayInput input = { .scene = scene, .model = model, .given = given, .n_given = G_N_ELEMENTS (given) };
  double least, largest;

  g_assert_cmpuint (model->graph->nodes->len, ==, G_N_ELEMENTS (given));
  for (guint is_time = 0; is_time < 2; is_time++)
    {
      g_autoptr(VnOverlay) overlay = NULL;

      given[11] = is_time ? 3 : -3;
      input.given_is_time = is_time;
      overlay = vn_overlay_choice_build (VN_CHOICE_FILE, &input);
      g_assert_cmpint (vn_overlay_get_kind (overlay), ==, is_time ? VN_OVERLAY_AMOUNT : VN_OVERLAY_NUMBER);
      for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
        {
          const VnOverlayItem *item = vn_overlay_get (overlay, vn_scene_find_node (scene, cases[i].box));

          g_test_message ("%s: %g", cases[i].box, item->amount);
          g_assert_cmpint (item->measured, ==, !isnan (cases[i].sum));
          if (item->measured)
            g_assert_cmpfloat (item->amount, ==, is_time ? cases[i].sum : cases[i].number);
        }
      vn_overlay_get_span (overlay, &least, &largest);
      g_assert_cmpfloat (vn_overlay_get_total (overlay), ==, is_time ? 57 : 0);
      g_assert_cmpfloat (least, ==, is_time ? 0 : -3);
      g_assert_cmpfloat (largest, ==, is_time ? 0 : 12);
    }
  input.given = NULL;
  g_assert_null (vn_overlay_choice_build (VN_CHOICE_FILE, &input));
}

/* x → pair → Conv (weight and bias restored from integers) → Relu → pair → two readers with a DequantizeLinear each, one behind a
 * Cast. Folded, it is drawn as the float network with two small boxes; unfolded, every node has a box. */
static void
test_pairs (void)
{
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  VnGraph *graph = model->graph;
  VnShape image = VN_SHAPE (1, 4, 10, 10), filter = VN_SHAPE (4, 4, 3, 3), channels = VN_SHAPE (4), scalar = { 0 };
  VnValue *x = vn_graph_add_input (graph, "x", VN_DTYPE_F32, &image), *params[3], *inputs[3], *value;
  float scale = 0.0625f;
  g_autoptr(VnTensor) step = vn_tensor_new_f32 (&scalar, &scale), zero = vn_tensor_new (VN_DTYPE_U8, &scalar, NULL),
                      weight = vn_tensor_new (VN_DTYPE_S8, &filter, NULL), bias = vn_tensor_new (VN_DTYPE_S32, &channels, NULL);
  static const struct { const char *name; VnSceneKind kind; } folded[] = {
    { "x", VN_SCENE_INPUT }, { "q0", VN_SCENE_PAIR }, { "conv", VN_SCENE_NODE }, { "relu", VN_SCENE_NODE },
    { "q1", VN_SCENE_PAIR }, { "pool", VN_SCENE_NODE }, { "sigmoid", VN_SCENE_NODE },
  };
  static const struct { const char *node, *box; } stand_ins[] = {
    { "dq0", "q0" }, { "dw", "conv" }, { "db", "conv" }, { "cast", "q1" }, { "dq1", "q1" }, { "dq2", "q1" }, { "relu", "relu" },
  };
  g_autoptr(VnScene) scene = NULL, whole = NULL;
  const VnSceneNode *box;

  *(guint8 *) zero->data = 5;
  params[1] = vn_graph_add_initializer (graph, "step", step);
  params[2] = vn_graph_add_initializer (graph, "zero", zero);
  for (guint i = 0; i < 2; i++)
    {
      const char *names[] = { "dw", "db" };
      VnTensor *tensors[] = { weight, bias };

      params[0] = vn_graph_add_initializer (graph, i == 0 ? "w" : "b", tensors[i]);
      inputs[i + 1] = vn_graph_add_value (graph, NULL, VN_DTYPE_F32, &tensors[i]->shape);
      vn_graph_add_node (graph, names[i], "", "DequantizeLinear", params, 2, &inputs[i + 1], 1);
    }
  params[0] = x;
  value = vn_graph_add_value (graph, NULL, VN_DTYPE_U8, &image);
  vn_graph_add_node (graph, "q0", "", "QuantizeLinear", params, 3, &value, 1);
  params[0] = value;
  inputs[0] = vn_graph_add_value (graph, NULL, VN_DTYPE_F32, &image);
  vn_graph_add_node (graph, "dq0", "", "DequantizeLinear", params, 3, &inputs[0], 1);
  value = vn_graph_add_value (graph, NULL, VN_DTYPE_F32, &image);
  vn_graph_add_node (graph, "conv", "", "Conv", inputs, 3, &value, 1);
  params[0] = vn_node_get_output (add_node (graph, "relu", "Relu", value, NULL, image), 0);
  value = vn_graph_add_value (graph, NULL, VN_DTYPE_U8, &image);
  vn_graph_add_node (graph, "q1", "", "QuantizeLinear", params, 3, &value, 1);
  params[0] = vn_graph_add_value (graph, NULL, VN_DTYPE_U8, &image);
  vn_graph_add_node (graph, "cast", "", "Cast", &value, 1, &params[0], 1);
  for (guint i = 0; i < 2; i++)
    {
      value = vn_graph_add_value (graph, NULL, VN_DTYPE_F32, &image);
      vn_graph_add_node (graph, i == 0 ? "dq1" : "dq2", "", "DequantizeLinear", params, 3, &value, 1);
      add_node (graph, i == 0 ? "pool" : "sigmoid", i == 0 ? "GlobalAveragePool" : "Sigmoid", value, NULL, image);
    }

  scene = vn_scene_build (model, NULL, VN_PAIRS_FOLDED);
  g_assert_cmpuint (vn_scene_get_n_nodes (scene), ==, G_N_ELEMENTS (folded));
  for (guint i = 0; i < G_N_ELEMENTS (folded); i++)
    {
      g_assert_cmpstr (vn_scene_get_node (scene, i)->name, ==, folded[i].name);
      g_assert_cmpint (vn_scene_get_node (scene, i)->kind, ==, folded[i].kind);
    }
  g_assert_cmpuint (vn_scene_get_n_edges (scene), ==, 6);
  for (guint i = 0; i < G_N_ELEMENTS (stand_ins); i++)
    {
      const VnNode *node = vn_graph_find_node (graph, stand_ins[i].node);

      box = vn_scene_get_node (scene, vn_scene_find_source (scene, node->index));
      g_assert_cmpstr (box->name, ==, stand_ins[i].box);
    }
  g_assert_cmpstr (vn_scene_get_node (scene, 1)->detail, ==, "u8 · 0.0625 · 5");
  g_assert_cmpstr (vn_scene_get_node (scene, 2)->detail, ==, "s8 · 3×3");
  g_assert_true (vn_scene_get_node (scene, 2)->weighted);
  g_assert_cmpstr (vn_scene_get_node (scene, 3)->badge, ==, "U8");

  whole = vn_scene_build (model, NULL, VN_PAIRS_UNFOLDED);
  g_assert_cmpuint (vn_scene_get_n_nodes (whole), ==, 1 + graph->nodes->len);
  check_given (model, scene);
}

/* By the share of the whole: three decades; ticks are quarters of these. */
static void
test_amounts (void)
{
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  VnShape shape = VN_SHAPE (4);
  VnValue *value = vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &shape);
  static const double amounts[] = { NAN, 0, 500, 9500, 90000, 900000 };
  static const guint ticks[] = { 0, 0, 0, 2, 3, 4 }, bands[] = { 0, 0, 0, 0, 1, 2 };
  g_autoptr(VnScene) scene = NULL;
  g_autoptr(VnOverlay) overlay = NULL;

  for (guint i = 0; i < 5; i++)
    value = vn_node_get_output (add_node (model->graph, NULL, "Relu", value, NULL, shape), 0);
  scene = vn_scene_build (model, NULL, VN_PAIRS_UNFOLDED);
  overlay = vn_scene_build_amounts (scene, amounts, VN_AMOUNT_BYTES);
  g_assert_cmpfloat (vn_overlay_get_total (overlay), ==, 1000000);
  for (guint i = 0; i < 6; i++)
    {
      const VnOverlayItem *item = vn_overlay_get (overlay, i);

      g_test_message ("%g: “%s”, t %g, %u ticks", amounts[i], item->value, item->t, item->ticks);
      g_assert_true (item->measured == (i > 0));
      g_assert_cmpuint (item->ticks, ==, ticks[i]);
      g_assert_cmpuint (item->band, ==, bands[i]);
    }
  g_assert_cmpuint (vn_overlay_count_band (overlay, 0), ==, 3);
  g_assert_cmpfloat_with_epsilon (vn_amount_share_at (vn_amount_t (0.05)), 0.05, 1e-9);
}

/* Any numbers, from the least to the largest; where there is no span they are in the middle. */
static void
test_numbers (void)
{
  static const struct
  {
    double      numbers[4];
    float       t[4];
    guint       ticks[4], bands[4];
    const char *words[4];
  } cases[] = {
    { { -2, 0, 1.5, 6 }, { 0, 0.25f, 0.4375f, 1 }, { 0, 1, 2, 4 }, { 0, 0, 1, 2 }, { "\u22122", "0", "1.5", "6" } },
    { { 7, 7, NAN, 7 }, { 0.5f, 0.5f, 0, 0.5f }, { 2, 2, 0, 2 }, { 1, 1, 0, 1 }, { "7", "7", "", "7" } },
    { { -1e308, 1e308, 0, NAN }, { 0, 1, 0.5f, 0 }, { 0, 4, 2, 0 }, { 0, 2, 1, 0 },
      { "\u22121e+308", "1e+308", "0", "" } },
  };

  for (guint c = 0; c < G_N_ELEMENTS (cases); c++)
    {
      g_autoptr(VnModel) model = vn_model_new (8, 13);
      VnShape shape = VN_SHAPE (4);
      VnValue *value = vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &shape);
      g_autoptr(VnScene) scene = NULL;
      g_autoptr(VnOverlay) overlay = NULL;

      for (guint i = 0; i < 3; i++)
        value = vn_node_get_output (add_node (model->graph, NULL, "Relu", value, NULL, shape), 0);
      scene = vn_scene_build (model, NULL, VN_PAIRS_UNFOLDED);
      overlay = vn_scene_build_numbers (scene, cases[c].numbers);
      for (guint i = 0; i < 4; i++)
        {
          const VnOverlayItem *item = vn_overlay_get (overlay, i);

          g_assert_cmpint (item->measured, ==, !isnan (cases[c].numbers[i]));
          g_assert_cmpfloat_with_epsilon (item->t, cases[c].t[i], 1e-6);
          g_assert_cmpuint (item->ticks, ==, cases[c].ticks[i]);
          g_assert_cmpuint (item->band, ==, cases[c].bands[i]);
          g_assert_cmpstr (item->value, ==, cases[c].words[i]);
        }
    }
}

static void
test_precisions (void)
{
  static const struct { VnDType dtype; VnScenePrecision precision; } cases[] = {
    { VN_DTYPE_U8, VN_PRECISION_8 },     { VN_DTYPE_S8, VN_PRECISION_8 },     { VN_DTYPE_U16,
                                                                                VN_PRECISION_WIDE },
    { VN_DTYPE_S32, VN_PRECISION_WIDE }, { VN_DTYPE_F16, VN_PRECISION_HALF }, { VN_DTYPE_BF16,
                                                                                VN_PRECISION_HALF },
    { VN_DTYPE_F32, VN_PRECISION_FLOAT }, { VN_DTYPE_U4, VN_PRECISION_4 },    { VN_DTYPE_S4, VN_PRECISION_4 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmpint (vn_precision_of_dtype (cases[i].dtype), ==, cases[i].precision);
}

static void
keep_picture (VnScene       *scene,
              VnGraphLayout *layout,
              VnOverlay     *overlay,
              const char    *name,
              double         zoom)
{
  const char *folder = g_getenv ("VN_KEEP_PICTURES");
  g_autoptr(VnGraphIndex) index = vn_graph_index_new (layout);
  g_autoptr(VnGraphPainter) painter = vn_graph_painter_new ();
  g_autofree char *path = NULL;
  VnGraphCamera camera;
  cairo_surface_t *surface;
  cairo_t *cr;

  if (folder == NULL)
    return;
  path = g_strdup_printf ("%s/%s-%g.png", folder, name, zoom);
  camera = vn_graph_camera_fit (vn_graph_layout_get_bounds (layout), 1600, 1000, 20, 1);
  if (zoom > 0)
    {
      VnRect bounds = vn_graph_layout_get_bounds (layout);

      camera.zoom = zoom;
      camera.origin = (VnPoint) { bounds.x + bounds.width / 2 - 800 / zoom, bounds.y + bounds.height * 0.6 };
    }
  surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, 1600, 1000);
  cr = cairo_create (surface);
  vn_graph_painter_set_content (painter, scene, layout, index);
  vn_graph_painter_set_overlay (painter, overlay);
  vn_graph_painter_draw (painter, cr, camera, 1600, 1000);
  cairo_destroy (cr);
  cairo_surface_write_to_png (surface, path);
  cairo_surface_destroy (surface);
}

/* Pieces that miss being straight by less than a box's margin. */
static guint
count_kinks (const VnGraphLayout *layout)
{
  guint kinks = 0;

  for (guint i = 0; i < vn_graph_layout_get_n_edges (layout); i++)
    {
      guint n, own;
      const VnPoint *points = vn_graph_layout_get_route (layout, i, &n, &own);

      for (guint k = own | 1; k + 1 < n; k += 2)
        kinks += fabs (points[k].x - points[k + 1].x) > 0 && fabs (points[k].x - points[k + 1].x) < 11;
    }
  return kinks;
}

static void
test_networks (void)
{
  static const char * const names[] = { "det_ultraface_rfb320", "det_yolox_nano_416",
                                        "cls_mobilenetv2_imagenet",
                                        "graph_tfbert_qa_3836nodes" };
  const char *shared = g_getenv ("VN_SHARED");
  guint n_done = 0;

  if (shared == NULL || *shared == '\0')
    {
      g_test_skip ("no folder with networks");
      return;
    }
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_strdup_printf ("%s/models/%s.onnx", shared, names[i]);
      g_autoptr(GError) error = NULL;
      g_autoptr(VnModel) model = NULL;
      g_autoptr(VnScene) scene = NULL;
      g_autoptr(VnGraphLayout) layout = NULL;
      gint64 start, built, laid;
      VnRect bounds;

      if (!g_file_test (path, G_FILE_TEST_EXISTS))
        continue;
      model = vn_onnx_read_file (path, &error);
      g_assert_no_error (error);
      if (!vn_model_infer_types (model, NULL, NULL, &error))
        g_test_message ("%s: types not inferred: %s", names[i], error->message);
      g_clear_error (&error);
      start = g_get_monotonic_time ();
      scene = vn_scene_build (model, NULL, VN_PAIRS_UNFOLDED);
      built = g_get_monotonic_time ();
      layout = vn_graph_layout_new_for_scene (scene, NULL, &error);
      laid = g_get_monotonic_time ();
      g_assert_no_error (error);
      bounds = vn_graph_layout_get_bounds (layout);
      g_test_message ("%s: %u boxes, %u edges, %u ranks, %" G_GUINT64_FORMAT " crossings, %.0f × %.0f px; "
                      "built in %.1f ms, laid out in %.1f ms", names[i], vn_scene_get_n_nodes (scene),
                      vn_scene_get_n_edges (scene), vn_graph_layout_get_n_ranks (layout),
                      vn_graph_layout_get_crossings (layout), bounds.width, bounds.height, (built - start) / 1e3,
                      (laid - built) / 1e3);
      g_test_message ("%u small kinks", count_kinks (layout));
      g_assert_cmpuint (vn_scene_get_n_nodes (scene), >, 10);
      g_assert_cmpuint (vn_scene_get_n_edges (scene), >=, vn_scene_get_n_nodes (scene) - 5);
      keep_picture (scene, layout, NULL, names[i], 0);
      keep_picture (scene, layout, NULL, names[i], 1);
      keep_picture (scene, layout, NULL, names[i], 0.5);
      n_done++;
    }
  g_assert_cmpuint (n_done, >, 0);
}

/* A network quantized on random samples: precisions, exclusions and errors come from the result. */
/* What the legend counts is what the rule says. */
static void
check_counts (const VnModel   *model,
              VnRun           *result,
              const VnOverlay *overlay)
{
  guint n = 0, n_bands = 0;

  for (guint i = 0; i < model->graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (model->graph->nodes, i);
      const VnErrorRow *row = vn_run_get_rated_error (result, node);

      n += row != NULL && vn_metric_is_measured (row, VN_METRIC_SQNR);
      g_assert_true (row == NULL || !vn_dtype_is_float (vn_run_get_node_dtype (result, node)));
    }
  for (guint band = 0; band < VN_N_BANDS; band++)
    n_bands += vn_overlay_count_band (overlay, band);
  g_assert_cmpuint (n, >, 0);
  g_assert_cmpuint (n_bands, ==, n);
}

/* Each line of the table gives an overlay in which nodes are, and each node that has a value is in a line of the key. */
static void
check_choices (const VnScene *scene,
               const VnModel *model,
               VnRun         *result)
{
  const guint n_nodes = model->graph->nodes->len;
  g_autofree double *given = g_new (double, n_nodes);
  VnOverlayInput input = { .scene = scene, .model = model, .result = result, .other = result, .given = given,
                           .n_given = n_nodes };

  for (guint i = 0; i < n_nodes; i++)
    given[i] = i % 7;

  for (guint choice = 0; choice < VN_N_CHOICES; choice++)
    {
      const VnOverlayChoiceInfo *info = vn_overlay_choice_get_info ((VnOverlayChoice) choice);
      g_autoptr(VnOverlay) overlay = NULL;
      g_autofree char *note = NULL;
      guint n_bands, n = 0, n_in_bands = 0;
      VnOverlayChoice found;

      g_assert_true (vn_overlay_choice_find (info->id, &found));
      g_assert_cmpint (found, ==, choice);
      input.handles = vn_heat_default_handles (info->metric);
      overlay = vn_overlay_choice_build ((VnOverlayChoice) choice, &input);
      note = vn_overlay_choice_dup_note ((VnOverlayChoice) choice, &input, overlay);
      vn_overlay_kind_get_bands (info->kind, &n_bands);
      for (guint i = 0; overlay != NULL && i < vn_overlay_get_n (overlay); i++)
        n += vn_overlay_get (overlay, i)->measured;
      for (guint band = 0; overlay != NULL && band < n_bands; band++)
        n_in_bands += vn_overlay_count_band (overlay, band);
      g_test_message ("%s: %u nodes; %s", info->id, n, note);
      g_assert_cmpuint (n_in_bands, ==, n);
      g_assert_true (choice == VN_CHOICE_NONE || choice == VN_CHOICE_CONTRIBUTION || choice == VN_CHOICE_LOCAL ||
                     n > (choice == VN_CHOICE_BITS ? 10 : 60));   /* not every node has weights */
    }
}

static void
test_result (void)
{
  const char *shared = g_getenv ("VN_SHARED");
  g_autofree char *path = g_build_filename (shared != NULL ? shared : "", "models",
                                            "det_ultraface_rfb320.onnx", NULL);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnJob) opened = NULL, job = NULL;
  g_autoptr(VnRecipe) recipe = NULL;
  g_autoptr(VnScene) plain = NULL, scene = NULL;
  g_autoptr(VnOverlay) overlay = NULL;
  g_autoptr(VnGraphLayout) layout = NULL;
  VnQuantizeSettings settings = { .n_calibration = 2, .n_threads = 1 };
  VnDataSpec *data;
  VnRun *result;
  VnModel *model;
  guint counts[3], n_eight = 0, n_excluded = 0, n_changes = 0;

  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    {
      g_test_skip ("no folder with networks");
      return;
    }
  opened = vn_open_job_new (path);
  g_assert_true (vn_job_run (opened, NULL, &error));
  model = vn_open_job_get_model (opened);
  recipe = vn_recipe_new ("cpu");
  vn_recipe_add_exclude (recipe, "type:Transpose");
  data = vn_data_spec_new ("random");
  data->max_samples = 3;
  data->held_out = 1;
  settings.model = model;
  settings.data = data;
  settings.recipe = recipe;
  job = vn_quantize_job_new (&settings);
  vn_data_spec_free (data);
  vn_job_run (job, NULL, &error);
  g_assert_no_error (error);
  result = vn_quantize_job_get_result (job);

  plain = vn_scene_build (model, NULL, VN_PAIRS_UNFOLDED);
  scene = vn_scene_build (model, result, VN_PAIRS_UNFOLDED);
  g_assert_true (vn_scene_same_geometry (plain, scene));
  overlay = vn_scene_build_overlay (scene, model, result, VN_METRIC_SQNR,
                                    vn_scene_default_handles (scene, model, result, VN_METRIC_SQNR));
  vn_overlay_count (overlay, &counts[0], &counts[1], &counts[2]);
  for (guint i = 0; i < vn_scene_get_n_nodes (scene); i++)
    {
      n_eight += vn_scene_get_node (scene, i)->precision == VN_PRECISION_8;
      n_excluded += vn_scene_get_node (scene, i)->excluded;
    }
  for (guint i = 0; i < vn_scene_get_n_edges (scene); i++)
    n_changes += vn_scene_get_edge (scene, i)->changes;
  g_test_message ("%u of 8 bit, %u excluded, %u changes; fine %u, watch %u, bad %u", n_eight, n_excluded,
                  n_changes,
                  counts[0], counts[1], counts[2]);
  g_assert_cmpuint (n_eight, >, 60);
  g_assert_cmpuint (n_excluded, >, 0);
  g_assert_cmpuint (n_changes, >, 0);
  g_assert_cmpuint (counts[0] + counts[1] + counts[2], >, 60);
  check_counts (model, result, overlay);
  check_choices (scene, model, result);
  layout = vn_graph_layout_new_for_scene (scene, NULL, NULL);
  keep_picture (scene, layout, overlay, "result", 1);
  keep_picture (scene, layout, overlay, "result", 0);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/scene-builder/small", test_small);
  g_test_add_func ("/scene-builder/experts", test_experts);
  g_test_add_func ("/scene-builder/pairs", test_pairs);
  g_test_add_func ("/scene-builder/numbers", test_numbers);
  g_test_add_func ("/scene-builder/amounts", test_amounts);
  g_test_add_func ("/scene-builder/precisions", test_precisions);
  g_test_add_func ("/scene-builder/networks", test_networks);
  g_test_add_func ("/scene-builder/result", test_result);
  return g_test_run ();
}
