/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What outputs are taken for, and how much of them another network keeps. The numbers are NumPy's, in double precision. */
#include "vn-detections.h"
#include "vn-task-reader.h"

#include <math.h>
#include <string.h>

/* ---- boxes ---- */

static void
test_iou (void)
{
  static const struct { VnDetection a, b; double iou; } cases[] = {
    { { 0, 0, 10, 10, 1, 0 }, { 5, 5, 15, 15, 1, 0 }, 0.14285714285714285 },
    { { 0.1, 0.2, 0.7, 0.9, 1, 0 }, { 0.15, 0.1, 0.8, 0.85, 1, 0 }, 0.6499999999999998 },
    { { 0, 0, 1, 1, 1, 0 }, { 1, 0, 2, 1, 1, 0 }, 0 },
    { { 0, 0, 2, 2, 1, 0 }, { 0, 0, 2, 2, 1, 0 }, 1 },
    { { 1, 1, 1, 1, 1, 0 }, { 1, 1, 1, 1, 1, 0 }, 0 },
    { { 2, 2, 0, 0, 1, 0 }, { 0, 0, 2, 2, 1, 0 }, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_test_message ("%u: %.17g", i, vn_detection_get_iou (&cases[i].a, &cases[i].b));
      g_assert_cmpfloat_with_epsilon (vn_detection_get_iou (&cases[i].a, &cases[i].b), cases[i].iou, 1e-15);
      g_assert_cmpfloat (vn_detection_get_iou (&cases[i].a, &cases[i].b), ==, vn_detection_get_iou (&cases[i].b, &cases[i].a));
    }
}

static GArray *
make_boxes (const VnDetection *boxes,
            guint              n)
{
  GArray *array = g_array_new (FALSE, FALSE, sizeof (VnDetection));

  g_array_append_vals (array, boxes, n);
  return array;
}

/* 1 goes for 0 (0.68), 3 for 5 (0.91); 4 stays (0.32 and 0.47), 2 is of another class. In whatever order they come. */
static void
test_suppress (void)
{
  static const VnDetection boxes[] = {
    { 0, 0, 10, 10, 0.9, 0 }, { 1, 1, 11, 11, 0.8, 0 }, { 1, 1, 11, 11, 0.85, 1 },
    { 20, 20, 30, 30, 0.7, 0 }, { 3, 3, 13, 13, 0.6, 0 }, { 20, 20, 30, 31, 0.75, 0 },
  };
  static const double scores[] = { 0.9, 0.85, 0.75, 0.6 };
  const guint n = G_N_ELEMENTS (boxes);

  for (guint turn = 0; turn < n; turn++)
    {
      g_autoptr(GArray) found = make_boxes (boxes + turn, n - turn);

      g_array_append_vals (found, boxes, turn);
      vn_detections_suppress (found);
      g_assert_cmpuint (found->len, ==, G_N_ELEMENTS (scores));
      for (guint i = 0; i < found->len; i++)
        g_assert_cmpfloat (g_array_index (found, VnDetection, i).score, ==, scores[i]);
    }
}

static void
test_match (void)
{
  static const VnDetection first[] = { { 0, 0, 10, 10, 0.9, 0 }, { 20, 20, 30, 30, 0.8, 1 }, { 40, 40, 50, 50, 0.7, 0 },
                                       { 60, 60, 70, 70, 0.5, 0 } };
  /* The same, moved a little; another class; too far (0.14); and one more. */
  static const VnDetection other[] = { { 1, 0, 11, 10, 0.9, 0 }, { 20, 20, 30, 30, 0.8, 2 }, { 45, 45, 55, 55, 0.7, 0 },
                                       { 60, 60, 70, 70, 0.5, 0 },
                                       { 80, 80, 90, 90, 0.9, 0 } };
  g_autoptr(GArray) a = make_boxes (first, 4), b = make_boxes (other, 5), none = make_boxes (first, 0);
  g_autoptr(GArray) twice = make_boxes (first, 1);
  static const guint kept_by[] = { 0, VN_NO_PARTNER, VN_NO_PARTNER, 3 };
  VnSampleAnswer *answer = g_new0 (VnSampleAnswer, 1);
  guint n_kept, n_added;

  *answer = (VnSampleAnswer) { .first = g_array_ref (a), .other = g_array_ref (b), .partners = vn_detections_pair (a, b) };
  g_assert_cmpmem (answer->partners->data, answer->partners->len * sizeof (guint), kept_by, sizeof kept_by);
  g_assert_cmpuint (vn_sample_answer_count_kept (answer), ==, 2);
  g_assert_cmpuint (vn_sample_answer_find_owner (answer, 3), ==, 3);
  g_assert_cmpuint (vn_sample_answer_find_owner (answer, 4), ==, VN_NO_PARTNER);
  vn_sample_answer_free (answer);
  vn_detections_match (a, b, &n_kept, &n_added);
  g_assert_cmpuint (n_kept, ==, 2);
  g_assert_cmpuint (n_added, ==, 3);
  vn_detections_match (a, none, &n_kept, &n_added);
  g_assert_cmpuint (n_kept, ==, 0);
  g_assert_cmpuint (n_added, ==, 0);
  /* One box of the other stands for one of the first only. */
  g_array_append_val (twice, first[0]);
  vn_detections_match (twice, b, &n_kept, &n_added);
  g_assert_cmpuint (n_kept, ==, 1);
  g_assert_cmpuint (n_added, ==, 4);
}

/* ---- what outputs are ---- */

typedef float (*ValueFunc) (guint row, guint column);

static float
make_score (guint row, guint column)
{
  return (float) ((row * 7 + column * 13) % 100) / 100.f;
}

static float
make_softmax (guint row, guint column)
{
  float thing = (float) (row % 100) / 100.f;

  return column == 0 ? 1 - thing : thing;
}

static float
make_corner (guint row, guint column)
{
  return (float) row * 3.f + (column < 2 ? 0 : 20.f) - 10.f;
}

static float
make_delta (guint row, guint column)
{
  return (float) ((row * 7 + column * 11) % 13) / 6.f - 1;
}

static float
make_yolo (guint row, guint column)
{
  return column < 4 ? 10.f + (float) row : make_score (row, column);
}

static float
make_yolox (guint row, guint column)
{
  return column < 4 ? (column == 2 ? -1.f : 0.5f) : make_score (row, column);
}

static float
make_turned (guint row, guint column)
{
  return make_yolo (column, row);
}

static float
make_distance (guint row, guint column)
{
  return 1.f + (float) column;
}

static float
make_logit (guint row, guint column)
{
  return (float) ((row * 5 + column * 3) % 17) - 8.f;
}

static float
make_decided (guint row, guint column)
{
  return column % 9 == 0 ? 0.5f : column % 2 == 0 ? 0.02f : 0.97f;
}

static float
make_grey (guint row, guint column)
{
  return (float) (column % 32) / 31.f;
}

typedef struct
{
  VnShape   shape;
  ValueFunc value;      /* by row and column of the last axis; NULL: none */
} Output;

static VnTensor *
make_output (const Output *output)
{
  VnTensor *tensor = vn_tensor_new (VN_DTYPE_F32, &output->shape, NULL);
  gsize columns = (gsize) output->shape.dims[output->shape.rank - 1];
  float *values = tensor->data;

  for (gsize i = 0; i < tensor->n_elements; i++)
    values[i] = output->value ((guint) (i / columns), (guint) (i % columns));
  return tensor;
}

static void
test_recognize (void)
{
  static const struct
  {
    const char *name;
    VnTask      task;
    Output      outputs[6];
  } cases[] = {
    { "softmax and corners", VN_TASK_DETECTION, { { VN_SHAPE (1, 200, 2), make_softmax },
                                                  { VN_SHAPE (1, 200, 4), make_corner } } },
    { "deltas of priors", VN_TASK_OTHER, { { VN_SHAPE (1, 200, 2), make_softmax }, { VN_SHAPE (1, 200, 4), make_delta } } },
    { "logits and corners", VN_TASK_OTHER, { { VN_SHAPE (1, 200, 9), make_logit }, { VN_SHAPE (1, 200, 4), make_corner } } },
    { "rows with an objectness", VN_TASK_DETECTION, { { VN_SHAPE (1, 200, 25), make_yolo } } },
    { "rows of cells", VN_TASK_DETECTION, { { VN_SHAPE (1, 84, 25), make_yolox } } },
    { "rows of no cells", VN_TASK_OTHER, { { VN_SHAPE (1, 85, 25), make_yolox } } },
    { "columns", VN_TASK_DETECTION, { { VN_SHAPE (1, 12, 84), make_turned } } },
    { "text", VN_TASK_OTHER, { { VN_SHAPE (1, 40, 25), make_score } } },
    { "grids of distances", VN_TASK_DETECTION,
      { { VN_SHAPE (1, 64, 3), make_score }, { VN_SHAPE (1, 16, 3), make_score }, { VN_SHAPE (1, 64, 4), make_distance },
        { VN_SHAPE (1, 16, 4), make_distance } } },
    { "grids of bins", VN_TASK_DETECTION,
      { { VN_SHAPE (1, 64, 80), make_score }, { VN_SHAPE (1, 64, 32), make_logit }, { VN_SHAPE (1, 16, 80), make_score },
        { VN_SHAPE (1, 16, 32), make_logit } } },
    { "one grid", VN_TASK_OTHER, { { VN_SHAPE (1, 64, 3), make_score }, { VN_SHAPE (1, 64, 32), make_logit } } },
    { "two channels", VN_TASK_SEGMENTATION, { { VN_SHAPE (1, 2, 64, 64), make_logit } } },
    { "21 channels, last", VN_TASK_SEGMENTATION, { { VN_SHAPE (1, 64, 64, 21), make_logit } } },
    { "a picture", VN_TASK_OTHER, { { VN_SHAPE (1, 3, 64, 64), make_score } } },
    { "a larger picture", VN_TASK_OTHER, { { VN_SHAPE (1, 1, 128, 128), make_decided } } },
    { "a heat map", VN_TASK_OTHER, { { VN_SHAPE (1, 2, 16, 16), make_score } } },
    { "a mask", VN_TASK_SEGMENTATION, { { VN_SHAPE (1, 1, 64, 64), make_decided } } },
    { "a mask without channels", VN_TASK_SEGMENTATION, { { VN_SHAPE (64, 64), make_decided } } },
    { "a grey picture", VN_TASK_OTHER, { { VN_SHAPE (1, 1, 64, 64), make_grey } } },
    { "classes", VN_TASK_CLASSIFICATION, { { VN_SHAPE (1, 1000), make_logit } } },
    { "classes with axes of one", VN_TASK_CLASSIFICATION, { { VN_SHAPE (1, 10, 1, 1), make_logit } } },
    { "one number", VN_TASK_OTHER, { { VN_SHAPE (1, 1), make_logit } } },
    { "a row for each letter", VN_TASK_OTHER, { { VN_SHAPE (1, 20, 50), make_logit } } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      VnTensor *tensors[6] = { NULL };
      VnTaskOutputs outputs = { .tensors = tensors, .height = 64, .width = 64 };
      g_autofree gpointer layout = NULL;
      VnTask task;

      for (; outputs.n < 6 && cases[i].outputs[outputs.n].value != NULL; outputs.n++)
        tensors[outputs.n] = make_output (&cases[i].outputs[outputs.n]);
      task = vn_task_recognize (&outputs, &layout);
      g_test_message ("%s: %s", cases[i].name, vn_task_get_id (task));
      g_assert_cmpstr (vn_task_get_id (task), ==, vn_task_get_id (cases[i].task));
      g_assert_true ((layout != NULL) == (task != VN_TASK_OTHER));
      if (layout != NULL)
        {
          const VnTaskReader *reader = vn_task_get_reader (task);
          gpointer answer = reader->read (layout, &outputs);
          VnKeptSum sum = { .n_samples = 1 };
          VnKept kept;

          /* Every network keeps what it says itself. */
          g_assert_nonnull (answer);
          reader->compare (answer, answer, 0, &sum);
          vn_kept_sum_finish (&sum, task, &kept);
          g_assert_true (vn_kept_is_known (&kept));
          g_assert_cmpfloat (kept.share, ==, 1);
          g_assert_cmpuint (kept.n_added, ==, 0);
          vn_kept_sum_clear (&sum);
          reader->free (answer);
        }
      vn_tensor_clear_all (tensors, 6);
    }
}

/* ---- what is read from them ---- */

static GArray *
read_boxes (VnTensor * const *tensors,
            guint             n,
            gint64            size)
{
  VnTaskOutputs outputs = { .tensors = tensors, .n = n, .height = size, .width = size };
  g_autofree gpointer layout = NULL;

  g_assert_cmpint (vn_task_recognize (&outputs, &layout), ==, VN_TASK_DETECTION);
  return vn_task_detection.read (layout, &outputs);
}

static void
assert_box (GArray             *boxes,
            const VnDetection  *expected)
{
  const VnDetection *box = &g_array_index (boxes, VnDetection, 0);

  g_assert_cmpuint (boxes->len, ==, 1);
  g_test_message ("%g %g %g %g, score %g, class %u", box->x1, box->y1, box->x2, box->y2, box->score, box->label);
  g_assert_cmpfloat_with_epsilon (box->x1, expected->x1, 1e-5);
  g_assert_cmpfloat_with_epsilon (box->y1, expected->y1, 1e-5);
  g_assert_cmpfloat_with_epsilon (box->x2, expected->x2, 1e-5);
  g_assert_cmpfloat_with_epsilon (box->y2, expected->y2, 1e-5);
  g_assert_cmpfloat_with_epsilon (box->score, expected->score, 1e-6);
  g_assert_cmpuint (box->label, ==, expected->label);
}

/* Of 64 x 64 pixels: cell 64 + 5 of the rows is in column 1, row 1 of the cells of 16 pixels. */
static void
test_read_cells (void)
{
  g_autoptr(VnTensor) rows = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (1, 84, 7), NULL);
  g_autoptr(GArray) boxes = NULL;
  float *values = rows->data;
  const VnDetection expected = { 24 - 8 * exp (0.5), 20 - 8 * exp (-0.25), 24 + 8 * exp (0.5), 20 + 8 * exp (-0.25), 0.72, 1 };

  for (gsize i = 0; i < rows->n_elements; i++)
    values[i] = i % 7 == 2 ? -1.f : 0.1f;
  {
    const float row[7] = { 0.5f, 0.25f, 0.5f, -0.25f, 0.9f, 0.3f, 0.8f };

    memcpy (values + 69 * 7, row, sizeof row);
  }
  boxes = read_boxes (&rows, 1, 64);
  assert_box (boxes, &expected);
}

/* The third of the cells of 32 pixels lies in column 0, row 1; all weight on the distances 1, 0, 2 and 3. */
static void
test_read_bins (void)
{
  static const guint distances[4] = { 1, 0, 2, 3 };
  VnTensor *tensors[4] = { vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (1, 16, 3), NULL),
                           vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (1, 16, 32), NULL),
                           vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (1, 4, 3), NULL),
                           vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (1, 4, 32), NULL) };
  g_autoptr(GArray) boxes = NULL;
  const VnDetection expected = { -32, 32, 64, 128, 0.75, 2 };

  for (guint i = 0; i < 4; i++)
    for (gsize k = 0; k < tensors[i]->n_elements; k++)
      ((float *) tensors[i]->data)[k] = i % 2 == 0 ? 0.125f : -20.f;
  ((float *) tensors[2]->data)[2 * 3 + 2] = 0.75f;
  for (guint side = 0; side < 4; side++)
    ((float *) tensors[3]->data)[2 * 32 + side * 8 + distances[side]] = 20.f;
  boxes = read_boxes (tensors, 4, 64);
  assert_box (boxes, &expected);
  vn_tensor_clear_all (tensors, 4);
}

/* Three classes, of which each has 3 pixels of both and 5 of either; and a mask of which 2 pixels of 3 are the same. */
static void
test_masks (void)
{
  static const struct { guint n_channels; const char *first, *other; double share; guint n; } cases[] = {
    { 3, "001122001122", "011120001222", 0.6, 3 },
    { 1, "010010001000", "010010000000", 2.0 / 3, 1 },
    { 1, "000000000000", "000000000000", NAN, 0 },
    { 4, "000000000000", "000000000001", 11.0 / 24, 2 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const guint n = cases[i].n_channels;
      VnTensor *tensors[2];
      gpointer answers[2];
      g_autofree gpointer layout = NULL;
      VnKeptSum sum = { .n_samples = 1 };
      VnKept kept;

      for (guint k = 0; k < 2; k++)
        {
          const char *classes = k == 0 ? cases[i].first : cases[i].other;
          VnTaskOutputs outputs = { .tensors = &tensors[k], .n = 1, .height = 12, .width = 10 };

          tensors[k] = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (1, n, 12, 10), NULL);
          for (guint c = 0; c < n; c++)
            for (guint p = 0; p < 120; p++)
              ((float *) tensors[k]->data)[c * 120 + p] = n == 1 ? (classes[p / 10] == '1' ? 0.95f : 0.02f)
                                                                 : ((guint) (classes[p / 10] - '0') == c ? 1.f : 0.f);
          if (k == 0)
            g_assert_cmpint (vn_task_recognize (&outputs, &layout), ==, VN_TASK_SEGMENTATION);
          answers[k] = vn_task_segmentation.read (layout, &outputs);
          g_assert_nonnull (answers[k]);
        }
      vn_task_segmentation.compare (answers[0], answers[1], 0, &sum);
      vn_kept_sum_finish (&sum, VN_TASK_SEGMENTATION, &kept);
      g_test_message ("case %u: %.17g of %u classes", i, kept.share, (guint) kept.n);
      g_assert_cmpuint (kept.n, ==, cases[i].n);
      g_assert_true (isnan (cases[i].share) == isnan (kept.share) && vn_kept_is_known (&kept) == !isnan (kept.share));
      if (!isnan (cases[i].share))
        g_assert_cmpfloat_with_epsilon (kept.share, cases[i].share, 1e-15);
      vn_kept_sum_clear (&sum);
      for (guint k = 0; k < 2; k++)
        {
          vn_task_segmentation.free (answers[k]);
          vn_tensor_unref (tensors[k]);
        }
    }
}

/* Only where the user has said a task, and outputs are not of it, that is told. */
static void
test_unread (void)
{
  static const struct { VnTask task; const char *asked; guint n; } cases[] = {
    { VN_TASK_OTHER, NULL, 0 }, { VN_TASK_OTHER, "other", 0 }, { VN_TASK_OTHER, "detection", 1 },
    { VN_TASK_DETECTION, "detection", 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnNotes) notes = vn_notes_new ();

      vn_task_note_unread (cases[i].task, cases[i].asked, "task", notes);
      g_assert_cmpuint (vn_notes_get_n (notes), ==, cases[i].n);
      if (cases[i].n > 0)
        g_assert_nonnull (strstr (vn_notes_get (notes, 0)->text, "“detection”"));
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tasks/iou", test_iou);
  g_test_add_func ("/tasks/suppress", test_suppress);
  g_test_add_func ("/tasks/match", test_match);
  g_test_add_func ("/tasks/recognize", test_recognize);
  g_test_add_func ("/tasks/read-cells", test_read_cells);
  g_test_add_func ("/tasks/read-bins", test_read_bins);
  g_test_add_func ("/tasks/masks", test_masks);
  g_test_add_func ("/tasks/unread", test_unread);
  return g_test_run ();
}
