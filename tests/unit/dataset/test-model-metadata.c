/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is read of the metadata of a network's file: as Ultralytics and Windows ML write them, and what is not as it should be. */
#include "vn-model-metadata.h"

#include "vn-graph-edit.h"

#include <string.h>

static VnModel *
make_model (int rank)
{
  VnModel *model = vn_model_new (8, 13);
  VnValue *in = vn_graph_add_input (model->graph, "images", VN_DTYPE_F32, &VN_SHAPE (1, 3, 64, 64));
  VnValue *out = vn_graph_add_value (model->graph, "out", VN_DTYPE_F32, rank == 2 ? &VN_SHAPE (1, 10) : &VN_SHAPE (1, 10, 20));

  vn_graph_add_node (model->graph, NULL, "", "Relu", &in, 1, &out, 1);
  vn_graph_set_output (model->graph, 0, out);
  return model;
}

static void
add (VnModel    *model,
     const char *key,
     const char *value)
{
  if (value == NULL)
    return;
  g_ptr_array_add (model->metadata, g_strdup (key));
  g_ptr_array_add (model->metadata, g_strdup (value));
}

static const struct
{
  const char *task, *imgsz, *stride, *names;
  int         rank;                          /* of the output */
  guint       width, height, n_names;
  const char *last;                          /* name */
  const char *says;                          /* of preprocessing */
} ultralytics[] = {
  { "detect", "[480, 640]", "32", "{0: 'person', 1: 'bicycle'}", 3, 640, 480, 2, "bicycle", "letterbox, 0 … 1, RGB" },
  { "segment", "640", "32", "['a', 'b', 'c']", 3, 640, 640, 3, "c", "letterbox, 0 … 1, RGB" },
  { "classify", "(224, 224)", "1", "{0: 'tench'}", 2, 224, 224, 1, "tench", "center crop, 0 … 1, RGB" },
  { NULL, NULL, "32", "{0: 'person'}", 3, 0, 0, 1, "person", "letterbox, 0 … 1, RGB" },     /* YOLOv5 */
  { NULL, NULL, "32", "{0: 'person'}", 2, 0, 0, 1, "person", "" },
  { "detect", "[64, 64]", "32", "{0: \"cat's eye\", 1: 'a\\'b', 2: 'x\\u00e9\\x41'}", 3, 64, 64, 3, "xéA",
    "letterbox, 0 … 1, RGB" },
  { "detect", "[64, 64]", "32", "{\"0\": \"a\", \"1\": \"b\"}", 3, 64, 64, 2, "b", "letterbox, 0 … 1, RGB" },
  { "detect", "[64, 64]", "32", "{7: 'seven'}", 3, 64, 64, 8, "seven", "letterbox, 0 … 1, RGB" },
  { "detect", "[64, 64]", "32", "{0: 'a',}", 3, 64, 64, 1, "a", "letterbox, 0 … 1, RGB" },
  /* not as it should be: the names are not there, the rest is */
  { "detect", "[64, 64]", "32", "", 3, 64, 64, 0, NULL, "letterbox, 0 … 1, RGB" },
  { "detect", "[64, 64]", "32", "{", 3, 64, 64, 0, NULL, "letterbox, 0 … 1, RGB" },
  { "detect", "[64, 64]", "32", "{}", 3, 64, 64, 0, NULL, "letterbox, 0 … 1, RGB" },
  { "detect", "[64, 64]", "32", "{0: 'a'", 3, 64, 64, 0, NULL, "letterbox, 0 … 1, RGB" },
  { "detect", "[64, 64]", "32", "{0: 'a}", 3, 64, 64, 0, NULL, "letterbox, 0 … 1, RGB" },
  { "detect", "[64, 64]", "32", "{0: 'a\\", 3, 64, 64, 0, NULL, "letterbox, 0 … 1, RGB" },
  { "detect", "[64, 64]", "32", "{0: '\\u00", 3, 64, 64, 0, NULL, "letterbox, 0 … 1, RGB" },
  { "detect", "[64, 64]", "32", "{0: '\\ud800'}", 3, 64, 64, 0, NULL, "letterbox, 0 … 1, RGB" },
  { "detect", "[64, 64]", "32", "{0: 'a' 1: 'b'}", 3, 64, 64, 0, NULL, "letterbox, 0 … 1, RGB" },
  { "detect", "[64, 64]", "32", "{65536: 'a'}", 3, 64, 64, 0, NULL, "letterbox, 0 … 1, RGB" },
  { "detect", "[64, 64]", "32", "{-1: 'a'}", 3, 64, 64, 0, NULL, "letterbox, 0 … 1, RGB" },
  { "detect", "[64, 64]", "32", "{99999999999999999999999: 'a'}", 3, 64, 64, 0, NULL, "letterbox, 0 … 1, RGB" },
  { "detect", "[64, 64]", "32", "{0: 'a': 1}", 3, 64, 64, 0, NULL, "letterbox, 0 … 1, RGB" },
  { "detect", "[0, 64]", "32", "['a']", 3, 0, 0, 1, "a", "letterbox, 0 … 1, RGB" },
  { "detect", "[64, ]", "32", "['a']", 3, 0, 0, 1, "a", "letterbox, 0 … 1, RGB" },
  { "detect", "[70000, 64]", "32", "['a']", 3, 0, 0, 1, "a", "letterbox, 0 … 1, RGB" },
  { "detect", "wide", "32", "['a']", 3, 0, 0, 1, "a", "letterbox, 0 … 1, RGB" },
  { "detect", "[64, 64]", NULL, "['a']", 3, 0, 0, 0, NULL, "" },           /* of somebody else */
  { "translation", NULL, NULL, NULL, 3, 0, 0, 0, NULL, "" },
};

static void
test_ultralytics (gconstpointer data)
{
  const guint i = GPOINTER_TO_UINT (data);
  g_autoptr(VnModel) model = make_model (ultralytics[i].rank);
  g_autoptr(VnModelMetadata) metadata = NULL;
  g_autofree char *says = NULL;

  add (model, "task", ultralytics[i].task);
  add (model, "imgsz", ultralytics[i].imgsz);
  add (model, "stride", ultralytics[i].stride);
  add (model, "names", ultralytics[i].names);
  metadata = vn_model_metadata_read (model);
  g_assert_cmpuint (metadata->width, ==, ultralytics[i].width);
  g_assert_cmpuint (metadata->height, ==, ultralytics[i].height);
  g_assert_cmpuint (metadata->n_names, ==, ultralytics[i].n_names);
  if (ultralytics[i].last != NULL)
    {
      g_assert_cmpuint (g_strv_length (metadata->names), ==, metadata->n_names);
      g_assert_cmpstr (metadata->names[metadata->n_names - 1], ==, ultralytics[i].last);
    }
  says = vn_preprocess_describe (&metadata->preprocess, metadata->parts);
  g_assert_cmpstr (says, ==, ultralytics[i].says);
}

static const struct
{
  const char *format, *range, *says;
} images[] = {
  { "Bgr8", "Normalized_0_1", "0 … 1, BGR" },
  { "Rgb8", "Normalized_1_1", "−1 … 1, RGB" },
  { "Rgba8", "NominalRange_0_255", "0 … 255, RGB" },
  { "Gray8", NULL, "" },
  { "Nv12", "NominalRange_16_235", "" },
  { "", "", "" },
};

static void
test_images (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (images); i++)
    {
      g_autoptr(VnModel) model = make_model (2);
      g_autoptr(VnModelMetadata) metadata = NULL;
      g_autofree char *says = NULL;

      add (model, "Image.BitmapPixelFormat", images[i].format);
      add (model, "Image.NominalPixelRange", images[i].range);
      metadata = vn_model_metadata_read (model);
      says = vn_preprocess_describe (&metadata->preprocess, metadata->parts);
      g_assert_cmpstr (says, ==, images[i].says);
    }
}

/* What somebody has said stays; the rest is taken. */
static void
test_open (void)
{
  static const struct { VnPreprocessParts open; float std; VnFit fit; VnColorOrder color; } cases[] = {
    { VN_PREPROCESS_ALL, 255, VN_FIT_LETTERBOX, VN_COLOR_RGB },
    { VN_PREPROCESS_SCALE, 255, VN_FIT_CROP, VN_COLOR_BGR },
    { VN_PREPROCESS_FIT, 1, VN_FIT_LETTERBOX, VN_COLOR_BGR },
    { VN_PREPROCESS_COLOR, 1, VN_FIT_CROP, VN_COLOR_RGB },
    { 0, 1, VN_FIT_CROP, VN_COLOR_BGR },
  };
  g_autoptr(VnModel) model = make_model (3);

  add (model, "task", "detect");
  add (model, "stride", "32");
  add (model, "names", "['a']");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnDataSpec) spec = vn_data_spec_new ("somewhere");
      g_autoptr(VnModelMetadata) metadata = vn_model_metadata_read (model);

      spec->preprocess.fit = VN_FIT_CROP;
      spec->preprocess.color = VN_COLOR_BGR;
      vn_data_spec_take_metadata (spec, model, cases[i].open);
      g_assert_cmpfloat (spec->preprocess.std[0], ==, cases[i].std);
      g_assert_cmpint (spec->preprocess.fit, ==, cases[i].fit);
      g_assert_cmpint (spec->preprocess.color, ==, cases[i].color);
      g_assert_cmpint (spec->from_metadata, ==, cases[i].open);
      g_assert_cmpint (vn_model_metadata_match (metadata, &spec->preprocess), ==, cases[i].open);
      if (cases[i].fit == VN_FIT_LETTERBOX)
        g_assert_cmpfloat (spec->preprocess.fill, ==, 114);
    }
}

/* Settings of a script are its own. */
static void
test_script (void)
{
  g_autoptr(VnModel) model = make_model (3);
  g_autoptr(VnDataSpec) spec = vn_data_spec_new ("somewhere");

  add (model, "Image.NominalPixelRange", "Normalized_0_1");
  spec->script = g_strdup ("own.py:load");
  vn_data_spec_take_metadata (spec, model, VN_PREPROCESS_ALL);
  g_assert_cmpint (spec->from_metadata, ==, 0);
  g_assert_cmpfloat (spec->preprocess.std[0], ==, 1);
}

static void
test_size (void)
{
  static const struct { VnShape shape; const char *filled; } cases[] = {
    { { 4, { -1, 3, -1, -1 } }, "?x3x480x640" },
    { { 4, { 1, 3, 320, -1 } }, "1x3x320x640" },
    { { 4, { 1, -1, -1, 3 } }, "1x480x640x3" },
    { { 4, { 1, 3, 320, 320 } }, NULL },
    { { 2, { -1, -1 } }, NULL },
  };
  const VnModelMetadata metadata = { .width = 640, .height = 480 };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      VnShape shape = cases[i].shape;
      g_autofree char *text = NULL;

      g_assert_true (vn_model_metadata_fill_size (&metadata, &shape) == (cases[i].filled != NULL));
      text = vn_shape_to_string (&shape, "x");
      if (cases[i].filled != NULL)
        g_assert_cmpstr (text, ==, cases[i].filled);
      else
        g_assert_true (vn_shape_equal (&shape, &cases[i].shape));
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (ultralytics); i++)
    {
      g_autofree char *path = g_strdup_printf ("/model-metadata/ultralytics/%u", i);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_ultralytics);
    }
  g_test_add_func ("/model-metadata/images", test_images);
  g_test_add_func ("/model-metadata/open", test_open);
  g_test_add_func ("/model-metadata/script", test_script);
  g_test_add_func ("/model-metadata/size", test_size);
  return g_test_run ();
}
