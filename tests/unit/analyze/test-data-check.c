/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Notes on samples: none for those prepared as the networks want them, the right one for those that are not. The
 * preprocessing of the real networks is that of their documentation; large ones take part with -m slow only. */

#include "vn-data-check.h"

#include "vn-data-suspicion.h"
#include "vn-graph-edit.h"
#include "vn-onnx.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

/* The codes of all notes, joined by blanks; those of level INFO left out.
 * @remedy: (nullable): what the first of them has to name as the remedy */
static char *
check (VnModel          *model,
       const VnDataSpec *spec,
       guint             size,
       const char       *remedy)
{
  g_autoptr(VnNotes) notes = vn_notes_new ();
  g_autoptr(GError) error = NULL;
  g_autoptr(GHashTable) shapes = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);
  g_autoptr(VnDataset) dataset = NULL;
  GString *codes = g_string_new (NULL);
  const VnValue *value = NULL;
  VnInputSpec input;

  for (guint i = 0; value == NULL && i < model->graph->inputs->len; i++)
    if (((VnValue *) model->graph->inputs->pdata[i])->initializer == NULL)
      value = model->graph->inputs->pdata[i];
  input = (VnInputSpec) { value->name, value->type.dtype, value->type.shape };
  for (int d = 0; d < input.shape.rank; d++)
    if (input.shape.dims[d] == VN_DIM_UNKNOWN)
      input.shape.dims[d] = d == 0 ? 1 : d == 1 ? 3 : size;
  g_hash_table_insert (shapes, value->name, g_memdup2 (&input.shape, sizeof input.shape));
  dataset = vn_dataset_open (spec, &input, 1, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (vn_data_check (model, model, shapes, dataset, TRUE, notes, NULL, &error));
  for (guint i = 0; i < vn_notes_get_n (notes); i++)
    {
      const VnNote *note = vn_notes_get (notes, i);

      g_test_message ("%s: %s %s", note->code, note->text, vn_data_suspicion_is (note)
                      ? vn_data_suspicion_get_remedy (note) : "");
      if (note->level != VN_NOTE_INFO)
        g_assert_true (vn_data_suspicion_is (note));
      if (note->level != VN_NOTE_INFO && remedy != NULL)
        g_assert_nonnull (strstr (vn_data_suspicion_get_remedy (note), remedy));
      if (note->level != VN_NOTE_INFO)
        g_string_append_printf (codes, "%s%s", codes->len > 0 ? " " : "", note->code);
    }
  return g_string_free (codes, FALSE);
}

/* ---- real networks ---- */

typedef struct
{
  const char *name;
  float       mean[3], std[3];
  gboolean    bgr;
  float       wrong_std;          /* with mean 0; 0: none is detectable */
  gboolean    tells_colors;       /* a wrong channel order is seen */
  const char *remedy;             /* nullable: the preprocessing that is proposed instead of the wrong one */
  guint       n_samples;          /* of each folder; 0: 8 */
  gboolean    tells_half;         /* that the mean is subtracted, but nothing divided by the deviation */
  float       other_mean, other_std;    /* nearly right, but seen further back; 0: none is looked at */
  gboolean    quick;              /* takes part without -m slow */
} Network;

#define ALL(x) { x, x, x }
static const Network networks[] = {
  { "cls_ppocr_v2_angle", ALL (127.5f), ALL (127.5f), FALSE, 1, FALSE, "minus-one-one", .quick = TRUE },
  { "seg_deeplab_dm05_513_op8", ALL (127.5f), ALL (127.5f), FALSE, 1, TRUE, "minus-one-one", .n_samples = 6, .quick = TRUE },
  { "det_picodet_s_320_constnodes", { 123.675f, 116.28f, 103.53f }, { 58.395f, 57.12f, 57.375f }, FALSE, 1, FALSE, "imagenet" },
  { "det_ultraface_rfb320_raw_bn", ALL (127), ALL (128), FALSE, 1, FALSE, "minus-one-one", .quick = TRUE },
  { "seg_sinet_portrait_320", { 102.89f, 111.25f, 126.91f }, { 16048, 15820, 16921 }, TRUE, 1 },
  { "cls_mobilenetv2_035_128_flowers", ALL (127.5f), ALL (127.5f), FALSE, 1, .tells_half = TRUE, .other_std = 255,
    .quick = TRUE },
  { "det_yunet_n_dynamic", ALL (0), ALL (1), TRUE, 255, FALSE, "none", .quick = TRUE },
  { "det_yolox_nano_416", ALL (0), ALL (1), TRUE, 255, FALSE, "none", .n_samples = 6 },
  /* No BatchNormalization is left, but biases as large as what was normalized. */
  { "det_ultraface_rfb320", ALL (127), ALL (128), FALSE, 1, FALSE, "minus-one-one", .tells_half = TRUE },
  { "det_nanodet_m_320", { 103.53f, 116.28f, 123.675f }, { 57.375f, 57.12f, 58.395f }, TRUE, 1, FALSE, "imagenet",
    .tells_half = TRUE, .other_std = 255 },
  { "det_picodet_xs_416_op10", { 123.675f, 116.28f, 103.53f }, { 58.395f, 57.12f, 57.375f }, FALSE, 1, FALSE, "imagenet",
    .n_samples = 6 },
  { "det_openseeface_mnv3", { 123.675f, 116.28f, 103.53f }, { 58.395f, 57.12f, 57.375f }, FALSE, 1, FALSE, "imagenet",
    .tells_half = TRUE, .other_mean = 57.6f, .other_std = 114.5f, .quick = TRUE },
  { "cls_cifar10_winml_cnn", ALL (127.5f), ALL (127.5f), FALSE, 1, FALSE, "minus-one-one", .quick = TRUE },
  { "sr_espcn_bsd300_rgb", ALL (0), ALL (255), FALSE, 1, FALSE, "zero-one", .other_mean = 114.5f, .other_std = 57.6f },
  { "sr_espcn_x3_op10", ALL (0), ALL (255), FALSE, 1, FALSE, "zero-one" },
  /* Nothing tells what they expect: never a suspicion. */
  { "cls_squeezenet10_fp32_from_fp16", { 103.94f, 116.78f, 123.68f }, ALL (1), TRUE, 0 },
  { "cls_squeezenet10_fp16_op7", { 103.94f, 116.78f, 123.68f }, ALL (1), TRUE, 0 },
  { "cls_shufflenet_v2_12_int8_qop", { 123.675f, 116.28f, 103.53f }, { 58.395f, 57.12f, 57.375f }, FALSE, 0 },
  { "cls_mobilenetv2_qdq_ort_op11", { 123.675f, 116.28f, 103.53f }, { 58.395f, 57.12f, 57.375f }, FALSE, 0 },
  { "qdq_retinaface_amd_vai_640", { 104, 117, 123 }, ALL (1), TRUE, 0, .n_samples = 3 },
  { "enh_tbefn_lowlight_180x320", ALL (0), ALL (255), FALSE, 0, .n_samples = 3 },
  { "style_candy_op7", ALL (0), ALL (1), FALSE, 0, .n_samples = 2 },   /* each takes a second */
  { "mnist_cntk_op8", ALL (0), ALL (1), FALSE, 0, .quick = TRUE },
  { "mnist_burn", ALL (33.3285f), ALL (78.5655f), FALSE, 0, .quick = TRUE },
  { "vit_cct2_32_op20", { 123.675f, 116.28f, 103.53f }, { 58.395f, 57.12f, 57.375f }, FALSE, 0, .quick = TRUE },
};

static void
test_half_done (const Network *network,
                VnModel       *model,
                VnDataSpec    *spec)
{
  g_autofree char *codes = NULL;

  memcpy (spec->preprocess.mean, network->mean, sizeof network->mean);
  for (guint c = 0; c < 3; c++)
    spec->preprocess.std[c] = 1;
  codes = check (model, spec, 320, network->remedy);
  g_assert_cmpstr (codes, ==, "data-range");
}

/* One factor or mean for another that is nearly as large. */
static void
test_other (const Network *network,
            VnModel       *model,
            VnDataSpec    *spec)
{
  g_autofree char *codes = NULL;

  for (guint c = 0; c < 3; c++)
    {
      spec->preprocess.mean[c] = network->other_mean;
      spec->preprocess.std[c] = network->other_std;
    }
  codes = check (model, spec, 320, network->other_mean > network->other_std ? NULL : network->remedy);
  g_assert_cmpstr (codes, ==, "data-range");
}

/* Portraits with red and blue swapped are seen by some networks, and never taken for something else; those in the right order,
 * and airplanes before blue sky, are good. */
static void
test_colors (const Network *network,
             VnModel       *model,
             VnDataSpec    *spec)
{
  static const char * const folders[][2] = { { "images", "people" }, { "cifar10", "airplane" } };

  memcpy (spec->preprocess.mean, network->mean, sizeof network->mean);
  memcpy (spec->preprocess.std, network->std, sizeof network->std);
  for (guint i = 0; i < 2 * G_N_ELEMENTS (folders); i++)
    {
      gboolean swapped = i % 2 == 1;
      g_autofree char *codes = NULL;

      g_free (spec->path);
      spec->path = g_build_filename (g_getenv ("VN_SHARED"), folders[i / 2][0], folders[i / 2][1], NULL);
      spec->preprocess.color = network->bgr != swapped ? VN_COLOR_BGR : VN_COLOR_RGB;
      codes = check (model, spec, 320, NULL);
      if (!swapped || i < 2)
        g_assert_cmpstr (codes, ==, swapped && network->tells_colors ? "data-colors" : "");
    }
}

static void
test_network (gconstpointer data)
{
  const Network *network = data;
  const char *shared = g_getenv ("VN_SHARED");
  g_autofree char *file = g_strconcat (network->name, ".onnx", NULL);
  g_autofree char *path = g_build_filename (shared != NULL ? shared : "", "models", file, NULL);
  g_autofree char *pictures = g_build_filename (shared != NULL ? shared : "", "images", "coco", NULL);
  g_autoptr(VnDataSpec) spec = vn_data_spec_new (pictures);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnModel) model = NULL;

  if (!g_file_test (path, G_FILE_TEST_EXISTS) || !g_file_test (pictures, G_FILE_TEST_IS_DIR))
    {
      g_test_skip ("VN_SHARED has no such network or no pictures");
      return;
    }
  model = vn_onnx_read_file (path, &error);
  g_assert_no_error (error);
  spec->max_samples = network->n_samples > 0 ? network->n_samples : 8;
  spec->preprocess.color = network->bgr ? VN_COLOR_BGR : VN_COLOR_RGB;
  memcpy (spec->preprocess.mean, network->mean, sizeof network->mean);
  memcpy (spec->preprocess.std, network->std, sizeof network->std);
  for (guint wrong = 0; wrong < (network->wrong_std > 0 ? 2 : 1); wrong++)
    {
      g_autofree char *codes = NULL;

      for (guint c = 0; wrong && c < 3; c++)
        {
          spec->preprocess.mean[c] = 0;
          spec->preprocess.std[c] = network->wrong_std;
        }
      codes = check (model, spec, 320, wrong ? network->remedy : NULL);
      g_assert_cmpstr (codes, ==, wrong ? "data-range" : "");
    }
  if (network->tells_half)
    test_half_done (network, model, spec);
  if (network->other_std > 0)
    test_other (network, model, spec);
  test_colors (network, model, spec);
}

/* ---- made samples ---- */

/* image [1,3,20,20] -> Conv 1x1 with weights of 1 and biases of 0.5, or -> BatchNormalization. */
static VnModel *
make_model (gboolean norm)
{
  VnModel *model = vn_model_new (8, 13);
  VnGraph *graph = model->graph;
  VnValue *in = vn_graph_add_input (graph, "image", VN_DTYPE_F32, &VN_SHAPE (1, 3, 20, 20));
  VnValue *out = vn_graph_add_value (graph, "out", VN_DTYPE_F32, &VN_SHAPE (1, 3, 20, 20));
  g_autoptr(VnTensor) weights = vn_tensor_new_f32 (&VN_SHAPE (3, 3, 1, 1), (const float[9]) { 1, 0, 0, 0, 1, 0, 0, 0, 1 });
  g_autoptr(VnTensor) ones = vn_tensor_new_f32 (&VN_SHAPE (3), (const float[3]) { 1, 1, 1 });
  VnValue *w = vn_graph_add_initializer (graph, "w", weights);
  VnValue *b = vn_graph_add_initializer (graph, "b", ones);

  if (norm)
    vn_graph_add_node (graph, NULL, "", "BatchNormalization", (VnValue *[]) { in, b, b, b, b }, 5, &out, 1);
  else
    vn_graph_add_node (graph, NULL, "", "Conv", (VnValue *[]) { in, w, b }, 3, &out, 1);
  vn_graph_set_output (graph, 0, out);
  return model;
}

#define N_MADE 8u

typedef enum { MADE_WELL, MADE_EQUAL, MADE_CONSTANT, MADE_PLAIN, MADE_NOISE, MADE_NAN, MADE_LAST, MADE_SMALL, MADE_LARGE,
               MADE_OUTLIER } Made;

/* A slope in each plane, in another direction for each of the samples; or what is wrong instead. */
static void
write_sample (const char *folder,
              guint       sample,
              Made        made)
{
  g_autofree char *path = g_strdup_printf ("%s/%u.npy", folder, sample);
  g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (1, 3, 20, 20), NULL);
  float *values = tensor->data;
  g_autoptr(GRand) rand = g_rand_new_with_seed (sample);

  for (guint c = 0; c < 3; c++)
    for (guint y = 0; y < 20; y++)
      for (guint x = 0; x < 20; x++)
        {
          guint at = made == MADE_LAST ? (y * 20 + x) * 3 + c : (c * 20 + y) * 20 + x;
          float value = 1 + (c == 1 ? -1.0f : 1.0f) * (made == MADE_EQUAL
                                                       ? 1 : 1 + 0.01f * (float) sample) * ((float) x - 9.5f) / 5;

          values[at] = made == MADE_CONSTANT ? (float) sample : made == MADE_PLAIN ? (float) (sample + c) :
                       made == MADE_NOISE ? (float) g_rand_double_range (rand, -1, 3) :
                       made == MADE_SMALL ? value / 255 : made == MADE_LARGE || (made == MADE_OUTLIER && sample == 5)
                       ? value * 255 : value;
        }
  if (made == MADE_NAN && sample == 1)
    values[7] = NAN;
  g_assert_true (vn_npy_write (path, tensor, NULL));
}

/* A picture in planes where the network takes pixels: the file says nothing of axes. */
static void
test_packed (void)
{
  for (guint wrong = 0; wrong < 2; wrong++)
    {
      g_autofree char *folder = g_dir_make_tmp ("vn-check-XXXXXX", NULL);
      g_autoptr(VnDataSpec) spec = vn_data_spec_new (folder);
      g_autoptr(VnModel) model = vn_model_new (8, 13);
      VnValue *in = vn_graph_add_input (model->graph, "image", VN_DTYPE_F32, &VN_SHAPE (1, 20, 20, 3));
      VnValue *out = vn_graph_add_value (model->graph, "out", VN_DTYPE_F32, &VN_SHAPE (1, 20, 20, 3));
      g_autofree char *codes = NULL;

      vn_graph_add_node (model->graph, NULL, "", "Relu", &in, 1, &out, 1);
      vn_graph_set_output (model->graph, 0, out);
      for (guint k = 0; k < 4; k++)
        {
          g_autofree char *path = g_strdup_printf ("%s/%u.raw", folder, k);
          g_autofree float *values = g_new (float, 1200);

          for (guint i = 0; i < 1200; i++)
            {
              guint c = wrong ? i / 400 : i % 3, y = wrong ? i / 20 % 20 : i / 60, x = wrong ? i % 20 : i / 3 % 20;

              values[i] = (float) (c * 90 + x * (c + k + 1) + y * y / 4);
            }
          g_assert_true (g_file_set_contents (path, (const char *) values, 1200 * sizeof (float), NULL));
        }
      codes = check (model, spec, 20, NULL);
      for (guint k = 0; k < 4; k++)
        {
          g_autofree char *path = g_strdup_printf ("%s/%u.raw", folder, k);

          g_unlink (path);
        }
      g_rmdir (folder);
      g_assert_cmpstr (codes, ==, wrong ? "data-layout" : "");
    }
}

/* Slopes around 0 in front of an operator that keeps some of their values, and a Conv. */
static void
test_cut (void)
{
  static const struct { const char *type; float low, high; gboolean gray; const char *codes; } cases[] = {
    { "Relu", 0, INFINITY, FALSE, "data-range" }, { "Relu", 0, INFINITY, TRUE, "data-range" },
    { "Clip", -0.5f, 0.5f, FALSE, "data-range" },
    { "Clip", -3, 3, FALSE, "" }, { "Clip", -INFINITY, 0.95f, FALSE, "" }, { "Tanh", -1, 1, FALSE, "" },
  };

  for (guint n = 0; n < G_N_ELEMENTS (cases); n++)
    {
      const gint64 channels = cases[n].gray ? 1 : 3;
      g_autofree char *folder = g_dir_make_tmp ("vn-check-XXXXXX", NULL);
      g_autoptr(VnDataSpec) spec = vn_data_spec_new (folder);
      g_autoptr(VnModel) model = vn_model_new (8, 13);
      VnGraph *graph = model->graph;
      VnValue *in = vn_graph_add_input (graph, "image", VN_DTYPE_F32, &VN_SHAPE (1, channels, 20, 20));
      VnValue *kept = vn_graph_add_value (graph, "kept", VN_DTYPE_F32, &VN_SHAPE (1, channels, 20, 20));
      VnValue *out = vn_graph_add_value (graph, "out", VN_DTYPE_F32, &VN_SHAPE (1, 1, 20, 20));
      g_autoptr(VnTensor) weights = vn_tensor_new_f32 (&VN_SHAPE (1, channels, 1, 1), (const float[3]) { 1, 1, 1 });
      g_autoptr(VnTensor) bias = vn_tensor_new_f32 (&VN_SHAPE (1), (const float[1]) { 0.1f });
      g_autoptr(VnTensor) low = vn_tensor_new_f32 (&(VnShape) { 0 }, &cases[n].low);
      g_autoptr(VnTensor) high = vn_tensor_new_f32 (&(VnShape) { 0 }, &cases[n].high);
      VnValue *limits[] = { in, vn_graph_add_initializer (graph, "low", low), vn_graph_add_initializer (graph, "high", high) };
      VnValue *w = vn_graph_add_initializer (graph, "w", weights), *b = vn_graph_add_initializer (graph, "b", bias);
      g_autofree char *codes = NULL;

      vn_graph_add_node (graph, NULL, "", cases[n].type, limits, g_str_equal (cases[n].type, "Clip") ? 3 : 1, &kept, 1);
      vn_graph_add_node (graph, NULL, "", "Conv", (VnValue *[]) { kept, w, b }, 3, &out, 1);
      vn_graph_set_output (graph, 0, out);
      for (guint k = 0; k < N_MADE; k++)
        {
          g_autofree char *path = g_strdup_printf ("%s/%u.npy", folder, k);
          g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (1, channels, 20, 20), NULL);

          for (gsize i = 0; i < tensor->n_elements; i++)
            ((float *) tensor->data)[i] = ((float) (i % 20) - 9.5f) / 10 * (1 + 0.01f * (float) k);
          g_assert_true (vn_npy_write (path, tensor, NULL));
        }
      codes = check (model, spec, 20, NULL);
      for (guint k = 0; k < N_MADE; k++)
        {
          g_autofree char *path = g_strdup_printf ("%s/%u.npy", folder, k);

          g_unlink (path);
        }
      g_rmdir (folder);
      g_test_message ("%s, case %u", cases[n].type, n);
      g_assert_cmpstr (codes, ==, cases[n].codes);
    }
}

/* Infinities of what ends in a Softmax are those of a mask; elsewhere, and NaN anywhere, they are told. */
static void
test_mask (void)
{
  static const struct { const char *type; float low; const char *codes; } cases[] = {
    { "Softmax", -INFINITY, "" }, { "Softmax", NAN, "data-not-finite" }, { "Relu", -INFINITY, "data-not-finite" },
    { "Softmax", -1, "" },
  };

  for (guint n = 0; n < G_N_ELEMENTS (cases); n++)
    {
      g_autofree char *folder = g_dir_make_tmp ("vn-check-XXXXXX", NULL);
      g_autoptr(VnDataSpec) spec = vn_data_spec_new (folder);
      g_autoptr(VnModel) model = vn_model_new (8, 13);
      VnValue *in = vn_graph_add_input (model->graph, "mask", VN_DTYPE_F32, &VN_SHAPE (1, 8));
      VnValue *sum = vn_graph_add_value (model->graph, "sum", VN_DTYPE_F32, &VN_SHAPE (1, 8));
      VnValue *out = vn_graph_add_value (model->graph, "out", VN_DTYPE_F32, &VN_SHAPE (1, 8));
      g_autofree char *codes = NULL;

      vn_graph_add_node (model->graph, NULL, "", "Add", (VnValue *[]) { in, in }, 2, &sum, 1);
      vn_graph_add_node (model->graph, NULL, "", cases[n].type, &sum, 1, &out, 1);
      vn_graph_set_output (model->graph, 0, out);
      for (guint k = 0; k < 4; k++)
        {
          g_autofree char *path = g_strdup_printf ("%s/%u.raw", folder, k);
          float values[8];

          for (guint i = 0; i < 8; i++)
            values[i] = i > k ? cases[n].low : 0;
          g_assert_true (g_file_set_contents (path, (const char *) values, sizeof values, NULL));
        }
      codes = check (model, spec, 20, NULL);
      for (guint k = 0; k < 4; k++)
        {
          g_autofree char *path = g_strdup_printf ("%s/%u.raw", folder, k);

          g_unlink (path);
        }
      g_rmdir (folder);
      g_test_message ("%s %g", cases[n].type, (double) cases[n].low);
      g_assert_cmpstr (codes, ==, cases[n].codes);
    }
}

static void
test_made (void)
{
  static const struct
  {
    Made        made;
    gboolean    norm;
    const char *codes;
  } cases[] = {
    { MADE_WELL, FALSE, "" }, { MADE_WELL, TRUE, "" },
    { MADE_EQUAL, FALSE, "data-equal" },
    { MADE_CONSTANT, FALSE, "data-constant" },
    { MADE_PLAIN, FALSE, "data-constant" },
    { MADE_NOISE, FALSE, "data-noise" }, { MADE_NOISE, TRUE, "data-noise" },
    { MADE_NAN, TRUE, "data-not-finite" },
    { MADE_LAST, FALSE, "data-layout" },
    { MADE_SMALL, FALSE, "data-range" }, { MADE_SMALL, TRUE, "data-range" },
    { MADE_LARGE, TRUE, "data-range" },
    { MADE_OUTLIER, FALSE, "data-outlier" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *folder = g_dir_make_tmp ("vn-check-XXXXXX", NULL);
      g_autoptr(VnDataSpec) spec = vn_data_spec_new (folder);
      g_autoptr(VnModel) model = make_model (cases[i].norm);
      g_autofree char *codes = NULL;

      for (guint k = 0; k < N_MADE; k++)
        write_sample (folder, k, cases[i].made);
      codes = check (model, spec, 20, NULL);
      g_test_message ("case %u: “%s”, expected “%s”", i, codes, cases[i].codes);
      for (guint k = 0; k < N_MADE; k++)
        {
          g_autofree char *path = g_strdup_printf ("%s/%u.npy", folder, k);

          g_unlink (path);
        }
      g_rmdir (folder);
      g_assert_cmpstr (codes, ==, cases[i].codes);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/data-check/made", test_made);
  g_test_add_func ("/data-check/mask", test_mask);
  g_test_add_func ("/data-check/cut", test_cut);
  g_test_add_func ("/data-check/packed", test_packed);
  for (guint i = 0; i < G_N_ELEMENTS (networks); i++)
    {
      g_autofree char *path = g_strconcat ("/data-check/", networks[i].name, NULL);

      if (networks[i].quick || g_test_slow ())
        g_test_add_data_func (path, &networks[i], test_network);
    }
  return g_test_run ();
}
