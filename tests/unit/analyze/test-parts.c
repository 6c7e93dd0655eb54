/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of outputs: which are found in made tensors and in what real networks compute, who inherits them, and what their errors
 * make of the figure of a tensor. */
#include "slice-sizes.h"
#include "vn-find-parts.h"
#include "vn-part-sums.h"

#include "vn-graph-edit.h"
#include "vn-jobs.h"
#include "vn-onnx.h"

#include <math.h>
#include <string.h>

/* "1: 4-21 | 0-3": the axis, and the slices of each part, the smallest numbers first; "" where there are none. */
static char *
describe (const VnPartition *partition)
{
  GString *text = g_string_new (NULL);

  for (guint p = 0; partition != NULL && p < partition->n_parts; p++)
    {
      g_autofree char *slices = vn_partition_dup_slices (partition, p);

      if (p == 0)
        g_string_append_printf (text, "%u: ", partition->axis);
      g_string_append_printf (text, "%s%s", p > 0 ? " | " : "", slices);
    }
  return g_string_free (text, FALSE);
}

/* ---- made tensors ---- */

typedef float (*MakeFunc) (gint64 slice, gint64 position, guint sample);

static float
make_detector (gint64 slice, gint64 position, guint sample)
{
  return slice < 4 ? 100.f + (float) ((position * 7 + slice + sample) % 50) : 0.01f + 0.001f * (float) ((position + slice) % 9);
}

/* Boxes, an objectness that is nearly never there, landmarks, a class. */
static float
make_face (gint64 slice, gint64 position, guint sample)
{
  return slice < 4 ? 60 : slice == 4 ? 0.001f : slice < 15 ? 70 - (float) slice : 0.3f;
}

/* Boxes and scores between 0 and 1, by turns in blocks of two. */
static float
make_blocks (gint64 slice, gint64 position, guint sample)
{
  return slice / 2 % 2 == 0 ? 20.f : 0.5f;
}

static float
make_even (gint64 slice, gint64 position, guint sample)
{
  return 1.f + (float) ((slice * 5 + position * 3 + sample) % 7);
}

/* Cells at the border of a grid of 10 x 10 never fire. */
static float
make_border (gint64 slice, gint64 position, guint sample)
{
  gint64 x = slice % 10, y = slice / 10;

  return x == 0 || y == 0 || x == 9 || y == 9 ? 0.0001f : 1.f;
}

/* The small ones are large in one sample of three. */
static float
make_changing (gint64 slice, gint64 position, guint sample)
{
  return slice < 4 ? 1.f : sample % 3 == 0 ? 1.5f : 0.001f;
}

/* What a Softmax of two classes gives: few of the second. */
static float
make_classes (gint64 slice, gint64 position, guint sample)
{
  return slice == 0 ? 0.99f : 0.01f;
}

/* A pose: an angle, and offsets in pixels. */
static float
make_pose (gint64 slice, gint64 position, guint sample)
{
  return slice < 3 ? -0.1f - 0.01f * (float) sample : 80.f + (float) (slice + sample);
}

static float
make_dead (gint64 slice, gint64 position, guint sample)
{
  return slice == 2 ? 0.f : slice < 4 ? 100.f : 0.1f;
}

static const struct
{
  const char *name;
  MakeFunc    make;
  VnShape     shape;
  int         axis;      /* of the slices that @make is asked for */
  const char *parts;
} made[] = {
  { "detector", make_detector, { 3, { 1, 22, 50 } }, 1, "1: 4-21 | 0-3" },
  { "detector-last", make_detector, { 3, { 1, 50, 22 } }, 2, "2: 4-21 | 0-3" },
  { "face", make_face, { 3, { 1, 40, 16 } }, 2, "2: 4 | 15 | 0-3, 5-14" },
  { "blocks", make_blocks, { 3, { 1, 4, 30 } }, 1, "1: 2-3 | 0-1" },
  { "scattered", make_blocks, { 3, { 1, 40, 30 } }, 1, "" },
  { "even", make_even, { 4, { 1, 12, 6, 6 } }, 1, "" },
  { "border", make_border, { 3, { 1, 100, 4 } }, 1, "" },
  { "changing", make_changing, { 3, { 1, 8, 20 } }, 1, "" },
  { "classes", make_classes, { 2, { 1, 2 } }, 1, "" },
  { "class-map", make_classes, { 3, { 1, 40, 2 } }, 2, "2: 1 | 0" },
  { "pose", make_pose, { 2, { 1, 7 } }, 1, "1: 0-2 | 3-6" },
  { "batch", make_detector, { 3, { 22, 5, 5 } }, 0, "" },
  { "silent", make_dead, { 3, { 1, 8, 20 } }, 1, "1: 2, 4-7 | 0-1, 3" },
};

static VnTensor *
make_sample (MakeFunc       make,
             const VnShape *shape,
             int            axis,
             guint          sample)
{
  VnTensor *tensor = vn_tensor_new (VN_DTYPE_F32, shape, NULL);
  gint64 inner = vn_shape_count (shape, axis + 1, shape->rank);

  for (gsize i = 0; i < tensor->n_elements; i++)
    ((float *) tensor->data)[i] = make ((gint64) i / inner % shape->dims[axis],
                                        (gint64) i % inner + (gint64) i / inner / shape->dims[axis], sample);
  return tensor;
}

static void
test_made (gconstpointer data)
{
  guint k = GPOINTER_TO_UINT (data);
  VnSliceSizes sizes = { 0 };
  VnPartition *found;
  g_autofree char *text = NULL;

  for (guint s = 0; s < 6; s++)
    {
      g_autoptr(VnTensor) tensor = make_sample (made[k].make, &made[k].shape, made[k].axis, s);

      vn_slice_sizes_add (&sizes, tensor);
    }
  found = vn_slice_sizes_split (&sizes);
  text = describe (found);
  g_assert_cmpstr (text, ==, made[k].parts);
  g_clear_pointer (&found, vn_partition_free);
  vn_slice_sizes_clear (&sizes);
}

/* No gap is as wide as ten times, but what the graph joins differs by more: scores from 0.05 on beside boxes to 1. */
static float
make_ramp (gint64 slice, gint64 position, guint sample)
{
  return slice < 2 ? 1.f : 0.12f * powf (0.3f, (float) (slice - 2));
}

static void
test_joined (void)
{
  const guint lengths[] = { 2, 6 }, others[] = { 3, 2 };
  VnSliceSizes sizes = { 0 };
  g_autoptr(VnTensor) tensor = make_sample (make_ramp, &VN_SHAPE (1, 8, 30), 1, 0);
  g_autoptr(VnPartition) found = NULL;
  g_autofree char *text = NULL;

  vn_slice_sizes_add (&sizes, tensor);
  g_assert_null (vn_slice_sizes_split (&sizes));
  g_assert_null (vn_slice_sizes_split_at (&sizes, 1, others, 2));
  g_assert_null (vn_slice_sizes_split_at (&sizes, 2, lengths, 2));
  found = vn_slice_sizes_split_at (&sizes, 1, (const guint[]) { 2, 3, 3 }, 3);
  text = describe (found);
  g_assert_cmpstr (text, ==, "1: 5-7 | 2-4 | 0-1");
  vn_slice_sizes_clear (&sizes);
}

/* An axis that has another length in the next sample is none that parts lie along; another one still is. */
static void
test_varying (void)
{
  VnSliceSizes sizes = { 0 };
  g_autoptr(VnPartition) found = NULL;
  g_autofree char *text = NULL;

  for (guint s = 0; s < 4; s++)
    {
      g_autoptr(VnTensor) tensor = make_sample (make_detector, &VN_SHAPE (1, 22, 30 + (gint64) s), 1, s);

      vn_slice_sizes_add (&sizes, tensor);
    }
  found = vn_slice_sizes_split (&sizes);
  text = describe (found);
  g_assert_cmpstr (text, ==, "1: 4-21 | 0-3");
  vn_slice_sizes_clear (&sizes);
}

/* ---- lists of slices, from anywhere ---- */

static void
test_lists (void)
{
  static const char * const bad[] = { "", "x", "3-1", "-2", "4096", "0-99999", "1-2-3", "1,2" };
  g_autoptr(VnPartition) partition = vn_partition_new (1, 0, 0);
  g_autofree char *text = NULL;

  g_assert_true (vn_partition_add (partition, "0-3, 9"));
  g_assert_true (vn_partition_add (partition, "4-8"));
  text = describe (partition);
  g_assert_cmpstr (text, ==, "1: 0-3, 9 | 4-8");
  g_assert_cmpuint (partition->n_slices, ==, 10);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr(VnPartition) broken = vn_partition_new (1, 0, 0);

      g_test_message ("%s", bad[i]);
      g_assert_false (vn_partition_add (broken, bad[i]) && broken->n_slices > 0);
    }
}

/* ---- who inherits ---- */

static void
test_inherit (void)
{
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  VnGraph *graph = model->graph;
  VnValue *levels[2], *joined, *moved, *scores, *boxes, *output, *pair[2];
  VnPartition *own;
  const gint64 perm[] = { 0, 2, 1 };
  VnNode *node;
  g_autoptr(VnParts) parts = vn_parts_new ();
  static const struct { const char *value, *parts; } wanted[] = {
    { "output", "2: 4-21 | 0-3" }, { "joined", "1: 4-21 | 0-3" }, { "a", "1: 4-21 | 0-3" }, { "b", "1: 4-21 | 0-3" },
    { "boxes", "" }, { "scores", "" },
  };

  boxes = vn_graph_add_value (graph, "boxes", VN_DTYPE_F32, &VN_SHAPE (1, 4, 30));
  scores = vn_graph_add_value (graph, "scores", VN_DTYPE_F32, &VN_SHAPE (1, 18, 30));
  levels[0] = vn_graph_add_value (graph, "a", VN_DTYPE_F32, &VN_SHAPE (1, 22, 30));
  levels[1] = vn_graph_add_value (graph, "b", VN_DTYPE_F32, &VN_SHAPE (1, 22, 10));
  joined = vn_graph_add_value (graph, "joined", VN_DTYPE_F32, &VN_SHAPE (1, 22, 40));
  moved = vn_graph_add_value (graph, "moved", VN_DTYPE_F32, &VN_SHAPE (1, 40, 22));
  output = vn_graph_add_value (graph, "output", VN_DTYPE_F32, &VN_SHAPE (1, 40, 22));
  pair[0] = boxes;
  pair[1] = scores;
  g_ptr_array_add (graph->inputs, boxes);
  g_ptr_array_add (graph->inputs, scores);
  g_ptr_array_add (graph->inputs, levels[1]);
  boxes->is_input = scores->is_input = levels[1]->is_input = TRUE;
  vn_node_set_int (vn_graph_add_node (graph, NULL, "", "Concat", pair, 2, &levels[0], 1), "axis", 1);
  vn_node_set_int (vn_graph_add_node (graph, NULL, "", "Concat", levels, 2, &joined, 1), "axis", -1);
  node = vn_graph_add_node (graph, NULL, "", "Transpose", &joined, 1, &moved, 1);
  vn_node_set_ints (node, "perm", perm, 3);
  vn_graph_add_node (graph, NULL, "", "Identity", &moved, 1, &output, 1);
  g_ptr_array_add (graph->outputs, output);
  output->is_output = TRUE;
  own = vn_partition_new (2, 0, 0);
  g_assert_true (vn_partition_add (own, "4-21") && vn_partition_add (own, "0-3"));
  vn_parts_take (parts, "output", own);
  vn_parts_inherit (parts, model);
  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++)
    {
      g_autofree char *text = describe (vn_parts_get (parts, wanted[i].value));

      g_assert_cmpstr (text, ==, wanted[i].parts);
    }
  g_assert_cmpuint (vn_parts_get_n (parts), ==, 5);
}

/* ---- errors ---- */

/* Two slices of boxes near 100 with an error of 1, two of scores near 0.5 that become 0: 40 dB as a whole, nothing left of a
 * part. */
static void
test_errors (void)
{
  const float f[] = { 100, 101, 100, 99, 0.5f, 0.4f, 0.5f, 0.6f }, q[] = { 101, 102, 101, 100, 0, 0, 0, 0 };
  g_autoptr(VnPartition) partition = vn_partition_new (1, 0, 0);
  VnErrorSum sums[3], halves[3], first[3];
  VnErrorRow *row = vn_error_row_new ();
  const VnErrorPart *worst;
  g_autofree char *title = NULL, *slices = NULL;
  const double ff = 40002 + 0.25 + 0.16 + 0.25 + 0.36, dd = 4 + 0.25 + 0.16 + 0.25 + 0.36;

  g_assert_true (vn_partition_add (partition, "2-3") && vn_partition_add (partition, "0-1"));
  vn_part_sums_init (sums, partition);
  vn_part_sums_add (sums, partition, &VN_SHAPE (1, 4, 2), f, q);
  row->value = g_strdup ("output0");
  vn_part_sums_fill_row (sums, partition, row);
  worst = vn_error_row_get_worst_part (row);
  g_assert_cmpfloat_with_epsilon (row->sqnr_db, 0, 1e-6);
  g_assert_cmpfloat_with_epsilon (row->noise_to_signal, 1, 1e-6);
  g_assert_cmpfloat (row->cosine, ==, 0);
  g_assert_cmpfloat_with_epsilon (row->whole_db, 10 * log10 (ff / dd), 1e-4);
  g_assert_cmpfloat_with_epsilon (vn_part_sums_get_sqnr (sums, partition), 0, 1e-6);
  g_assert_cmpuint (row->parts->len, ==, 2);
  g_assert_true (worst->is_dead && vn_error_row_is_dead (row));
  g_assert_cmpstr (worst->slices, ==, "2-3");
  title = vn_error_row_dup_title (row);
  g_assert_cmpstr (title, ==, "output0, channels 2–3 (up to 0.6)");
  vn_error_row_free (row);

  /* in two runs, one after the other, it is the same */
  vn_part_sums_init (first, partition);
  vn_part_sums_init (halves, partition);
  vn_part_sums_add (first, partition, &VN_SHAPE (1, 4, 2), f, q);
  vn_part_sums_merge (halves, partition, first);
  g_assert_cmpfloat (vn_part_sums_get_sqnr (halves, partition), ==, vn_part_sums_get_sqnr (sums, partition));

  /* along another number of slices nothing is added to parts */
  vn_part_sums_init (sums, partition);
  vn_part_sums_add (sums, partition, &VN_SHAPE (1, 2, 4), f, q);
  g_assert_cmpuint (sums[0].n, ==, 8);
  g_assert_cmpuint (sums[1].n + sums[2].n, ==, 0);
}

/* ---- real networks ---- */

#define ALL(x) { x, x, x }

static const struct
{
  const char *name;
  float       mean[3], std[3];
  gboolean    bgr;
  const char *parts;     /* of its outputs that have some, joined by ";" */
} networks[] = {
  { "det_plate_yolov5face_320", ALL (0), ALL (255), FALSE, "2: 4 | 13-14 | 0-3, 5-12" },
  { "det_ultraface_rfb320", ALL (127), ALL (128), FALSE, "2: 1 | 0" },
  { "det_openseeface_mnv3", { 123.675f, 116.28f, 103.53f }, { 58.395f, 57.12f, 57.375f }, FALSE, "1: 1 | 0; 1: 1 | 0" },
  { "det_yunet_n_dynamic", ALL (0), ALL (1), TRUE, "" },
  { "det_nanodet_m_320", { 103.53f, 116.28f, 123.675f }, { 57.375f, 57.12f, 58.395f }, TRUE, "" },
  { "det_yolox_nano_416", ALL (0), ALL (1), TRUE, "" },
  { "det_picodet_s_320_constnodes", { 123.675f, 116.28f, 103.53f }, { 58.395f, 57.12f, 57.375f }, FALSE, "" },
  { "seg_sinet_portrait_320", { 102.89f, 111.25f, 126.91f }, { 16048, 15820, 16921 }, TRUE, "" },
  { "cls_mobilenetv2_035_128_flowers", ALL (127.5f), ALL (127.5f), FALSE, "" },
  { "cls_ppocr_v2_angle", ALL (127.5f), ALL (127.5f), FALSE, "" },
  { "det_ppocr_v3_ch", { 123.675f, 116.28f, 103.53f }, { 58.395f, 57.12f, 57.375f }, FALSE, "" },
  { "cls_squeezenet10_fp32_from_fp16", { 103.94f, 116.78f, 123.68f }, ALL (1), TRUE, "" },
  { "sr_espcn_bsd300_rgb", ALL (0), ALL (255), FALSE, "" },
  { "seg_deeplab_dm05_513_op8", ALL (127.5f), ALL (127.5f), FALSE, "" },
  { "cls_cifar10_winml_cnn", ALL (127.5f), ALL (127.5f), FALSE, "" },
};

static void
test_network (gconstpointer data)
{
  guint k = GPOINTER_TO_UINT (data);
  const char *shared = g_getenv ("VN_SHARED");
  g_autofree char *file = g_strconcat (networks[k].name, ".onnx", NULL), *path = NULL, *folder = NULL;
  g_autoptr(GError) error = NULL;
  g_autoptr(VnModel) opened = NULL, model = NULL;
  g_autoptr(VnDataSpec) spec = NULL;
  g_autoptr(VnNotes) notes = vn_notes_new ();
  g_autoptr(GHashTable) shapes = NULL;
  g_autoptr(VnDataset) dataset = NULL;
  g_autoptr(VnParts) parts = NULL;
  g_autoptr(GString) text = g_string_new (NULL);
  const guint samples[] = { 0, 3, 6, 9, 12, 15 };
  VnSamples run;

  if (shared == NULL)
    {
      g_test_skip ("no folder with real networks");
      return;
    }
  path = g_build_filename (shared, "models", file, NULL);
  folder = g_build_filename (shared, "images", "coco", NULL);
  opened = vn_onnx_read_file (path, &error);
  g_assert_no_error (error);
  spec = vn_data_spec_new (folder);
  memcpy (spec->preprocess.mean, networks[k].mean, sizeof networks[k].mean);
  memcpy (spec->preprocess.std, networks[k].std, sizeof networks[k].std);
  spec->preprocess.color = networks[k].bgr ? VN_COLOR_BGR : VN_COLOR_RGB;
  g_assert_true (vn_model_infer_types (opened, NULL, NULL, &error));
  model = vn_model_to_float (opened, NULL, &error);
  g_assert_no_error (error);
  dataset = vn_model_open_data (model, spec, NULL, &shapes, notes, &error);
  g_assert_no_error (error);
  run = (VnSamples) { .shapes = shapes, .dataset = dataset, .indices = samples, .n = G_N_ELEMENTS (samples), .n_threads = 1 };
  parts = vn_find_parts (model, &run, NULL, NULL, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < model->graph->outputs->len; i++)
    {
      g_autofree char *one = describe (vn_parts_get (parts, ((const VnValue *) g_ptr_array_index (model->graph->outputs,
                                                                                                  i))->name));

      if (*one != '\0')
        g_string_append_printf (text, "%s%s", text->len > 0 ? "; " : "", one);
    }
  g_assert_cmpstr (text->str, ==, networks[k].parts);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (made); i++)
    {
      g_autofree char *path = g_strconcat ("/parts/made/", made[i].name, NULL);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_made);
    }
  g_test_add_func ("/parts/joined", test_joined);
  g_test_add_func ("/parts/varying", test_varying);
  g_test_add_func ("/parts/lists", test_lists);
  g_test_add_func ("/parts/inherit", test_inherit);
  g_test_add_func ("/parts/errors", test_errors);
  for (guint i = 0; i < G_N_ELEMENTS (networks); i++)
    {
      g_autofree char *path = g_strconcat ("/parts/networks/", networks[i].name, NULL);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_network);
    }
  return g_test_run ();
}
