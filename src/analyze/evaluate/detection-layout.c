/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Detectors: boxes with scores, in the forms that are common. What is a score lies between 0 and 1; what is said of boxes
 * below holds for 99 of 100 of them.
 *
 *   boxes, scores   [1, N, 4] beside [1, N, C], or beside N scores and N whole numbers that are the classes. Corners if the third
 *                   number is not below the first and the fourth not below the second; else centre and size if no size is
 *                   negative. If the scores of a box add up to 1 the first or the last class is the background: the one that is
 *                   the best of more boxes. Where boxes lie in parts of the picture, scores may be logits: of a softmax if the
 *                   first or the last class is the best of most, else of sigmoids if they are negative for most (DETR).
 *   rows            one output, [1, N, 5 + C]: centre, size, score of there being anything, scores of the classes. Negative
 *                   sizes are logarithms, and centres offsets from cells, if there are as many rows as cells of 8, 16 and 32
 *                   pixels (YOLOX). Landmarks may stand before or behind the scores of the classes (YOLOv5-face, YOLOv7-pose).
 *   columns         one output, [1, 4 + C, N], more boxes than rows: centre, size, scores of the classes (YOLOv8), perhaps
 *                   keypoints, an angle or numbers of a mask behind.
 *   final           one output, [1, N, 6 or more] of corners, score, class; [N, 6] of class, score, corners; [N, 7] of a picture's
 *                   number in front of corners, class, score, or of class, score, corners; or [1, N, 5] of corners and score
 *                   beside N whole numbers that are the classes.
 *   grids           outputs for at least two of the cells of 4, 8, ... 128 pixels, a row for each cell: C scores, perhaps one
 *                   more score that they are multiplied with, and boxes: 4 distances to the sides if none is negative, else
 *                   offset and logarithm of the size (YuNet); or 4 times so many numbers whose softmax tells of the
 *                   distances 0, 1, 2, ... (NanoDet, PicoDet).
 *   maps            [1, C, H, W] of scores, or logits, beside [1, 2, H, W] of sizes and perhaps another of where in the cell
 *                   (CenterNet): a box where a score is the highest of its neighbors.
 *
 * Overlaps do not depend on the unit, nor on where the centres of cells lie, so neither is asked for. */
#include "detection-layout.h"

#include <math.h>

#define ALMOST_ALL 0.99
#define FINAL_COLUMNS 7     /* of boxes that have been chosen, as [1, 1, N, 7] */

/* ---- outputs as rows ---- */

/* @tensor, the first of a batch, as rows. */
gboolean
detection_layout_get_matrix (const VnTensor *tensor,
                             DetectionMatrix *matrix)
{
  const VnShape *shape = &tensor->shape;
  int rank = shape->rank;

  if (vn_tensor_is_container (tensor) || !vn_dtype_is_float (tensor->dtype) || rank < 1 || rank > 4 ||
      (rank == 4 && shape->dims[2] != 1 && !(shape->dims[1] == 1 && shape->dims[3] == FINAL_COLUMNS)))
    return FALSE;
  matrix->tensor = tensor;
  matrix->turned = FALSE;
  matrix->n_columns = rank == 1 ? 1 : (gsize) shape->dims[rank - 1];
  matrix->n_rows = (gsize) shape->dims[rank <= 2 ? 0 : rank == 4 && shape->dims[2] != 1 ? 2 : 1];
  return tensor->n_elements >= matrix->n_rows * matrix->n_columns;
}

/* What holds @n scores may stand: also as [1, N]. */
gboolean
detection_layout_get_scores (const VnTensor *tensor,
                             gsize           n,
                             DetectionMatrix *scores)
{
  if (!detection_layout_get_matrix (tensor, scores))
    return FALSE;
  if (scores->n_rows == 1 && scores->n_columns == n)
    {
      scores->n_rows = n;
      scores->n_columns = 1;
    }
  return scores->n_rows == n && scores->n_columns >= 1;
}

/* A row for each cell of @stride pixels, also of [1, C, H, W]. */
gboolean
detection_layout_get_cells (const VnTaskOutputs *outputs,
                            const VnTensor      *tensor,
                            guint                stride,
                            DetectionMatrix     *matrix)
{
  const VnShape *shape = &tensor->shape;
  const gsize height = detection_layout_count_cells (outputs->height, stride), width = detection_layout_count_cells (outputs->width, stride);

  if (!vn_tensor_is_container (tensor) && vn_dtype_is_float (tensor->dtype) && shape->rank == 4 && tensor->n_elements > 0 &&
      shape->dims[2] == (gint64) height && shape->dims[3] == (gint64) width && height * width > 1)
    {
      *matrix = (DetectionMatrix) { tensor, height * width, (gsize) shape->dims[1], TRUE };
      return TRUE;
    }
  return detection_layout_get_matrix (tensor, matrix) && matrix->n_rows == height * width;
}

void
detection_layout_turn (DetectionMatrix *matrix)
{
  *matrix = (DetectionMatrix) { matrix->tensor, matrix->n_columns, matrix->n_rows, !matrix->turned };
}

double
detection_layout_get (const DetectionMatrix *matrix,
                      gsize                  row,
                      gsize                  column)
{
  return vn_tensor_get_double (matrix->tensor, matrix->turned ? column * matrix->n_rows + row : row * matrix->n_columns + column);
}

static gboolean
detection_is_probability (double value)
{
  return value >= -0.001 && value <= 1.001;
}

gboolean
detection_are_scores (const DetectionMatrix *matrix,
                      gsize                  from,
                      gsize                  to)
{
  for (gsize i = 0; i < matrix->n_rows; i++)
    for (gsize k = from; k < to; k++)
      if (!detection_is_probability (detection_layout_get (matrix, i, k)))
        return FALSE;
  return to > from;
}

gboolean
detection_holds (const DetectionMatrix *matrix,
                 DetectionRowFunc       func)
{
  gsize n = 0;

  for (gsize i = 0; i < matrix->n_rows; i++)
    n += func (matrix, i);
  return n > 0 && (double) n >= ALMOST_ALL * (double) matrix->n_rows;
}

gboolean
detection_row_has_corners (const DetectionMatrix *matrix,
                           gsize                  row)
{
  return detection_layout_get (matrix, row, 2) >= detection_layout_get (matrix, row, 0) &&
         detection_layout_get (matrix, row, 3) >= detection_layout_get (matrix, row, 1);
}

gboolean
detection_row_has_size (const DetectionMatrix *matrix,
                        gsize                  row)
{
  return detection_layout_get (matrix, row, 2) >= 0 && detection_layout_get (matrix, row, 3) >= 0;
}

gboolean
detection_row_is_positive (const DetectionMatrix *matrix,
                           gsize                  row)
{
  return detection_row_has_size (matrix, row) && detection_layout_get (matrix, row, 0) >= 0 && detection_layout_get (matrix, row, 1) >= 0;
}

/* ---- cells ---- */

gsize
detection_layout_count_cells (gint64 size,
                              guint  stride)
{
  return (gsize) ((size + stride - 1) / stride);
}

gsize
detection_layout_count_grid (const VnTaskOutputs *outputs,
                             guint                stride)
{
  return detection_layout_count_cells (outputs->height, stride) * detection_layout_count_cells (outputs->width, stride);
}

/* ---- how it is laid out ---- */

static gboolean
detection_are_whole (const VnTensor *tensor)
{
  for (gsize i = 0; i < tensor->n_elements; i++)
    {
      double value = vn_tensor_get_double (tensor, i);

      if (!(value >= 0 && value == floor (value)))
        return FALSE;
    }
  return TRUE;
}

/* The one output of @n whole numbers besides @scores, also as floats; of several the one that is called so; DETECTION_NONE. */
int
detection_find_classes (const VnTaskOutputs *outputs,
                        gsize                n,
                        int                  scores)
{
  static const char * const names[] = { "class", "label", NULL };
  int found = DETECTION_NONE, named = DETECTION_NONE;
  guint n_found = 0, n_named = 0;

  for (guint i = 0; i < outputs->n; i++)
    {
      const VnTensor *tensor = outputs->tensors[i];

      if ((int) i == scores || vn_tensor_is_container (tensor) || tensor->dtype == VN_DTYPE_STRING || tensor->n_elements != n ||
          (vn_dtype_is_float (tensor->dtype) && !detection_are_whole (tensor)))
        continue;
      found = (int) i;
      n_found++;
      if (!vn_task_name_has (outputs, i, names))
        continue;
      named = (int) i;
      n_named++;
    }
  return n_found == 1 ? found : n_named == 1 ? named : DETECTION_NONE;
}

/* How the boxes are laid out, for g_free(); %NULL: there are none. */
gpointer
detection_layout_recognize (const VnTaskOutputs *outputs)
{
  static gboolean (* const forms[]) (const VnTaskOutputs *, DetectionLayout *) = { detection_find_maps, detection_find_boxes,
                                                                                   detection_find_one, detection_find_grids };

  for (guint i = 0; i < G_N_ELEMENTS (forms); i++)
    {
      DetectionLayout layout = { .background = DETECTION_NONE, .boxes = DETECTION_NONE, .scores = DETECTION_NONE,
                                 .classes = DETECTION_NONE };

      if (forms[i] (outputs, &layout))
        return g_memdup2 (&layout, sizeof layout);
    }
  return NULL;
}
