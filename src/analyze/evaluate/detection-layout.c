/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Detectors: boxes with scores, in the forms that are common. What is a score lies between 0 and 1; what is said of boxes
 * below holds for 99 of 100 of them.
 *
 *   boxes, scores   [1, N, 4] beside [1, N, C], or beside N scores and N whole numbers that are the classes. Corners if the third
 *                   number is not below the first and the fourth not below the second; else centre and size if no size is
 *                   negative. If the scores of a box add up to 1 the first class is the background.
 *   rows            one output, [1, N, 5 + C]: centre, size, score of there being anything, scores of the classes. Negative
 *                   sizes are logarithms, and centres offsets from cells, if there are as many rows as cells of 8, 16 and 32
 *                   pixels (YOLOX).
 *   columns         one output, [1, 4 + C, N], more boxes than rows: centre, size, scores of the classes (YOLOv8).
 *   final           [1, N, 6]: corners, score, class; or [1, N, 5] beside N whole numbers that are the classes.
 *   grids           outputs for at least two of the cells of 4, 8, ... 128 pixels, a row for each cell: C scores, perhaps one
 *                   more score that they are multiplied with, and boxes: 4 distances to the sides if none is negative, else
 *                   offset and logarithm of the size (YuNet); or 4 times so many numbers whose softmax tells of the
 *                   distances 0, 1, 2, ... (NanoDet, PicoDet).
 *
 * Overlaps do not depend on the unit, nor on where the centres of cells lie, so neither is asked for. */
#include "detection-layout.h"

#include <math.h>

#define ALMOST_ALL 0.99
#define LEAST_BINS 8

/* ---- outputs as rows ---- */

/* @tensor, the first of a batch, as rows. */
gboolean
detection_layout_get_matrix (const VnTensor *tensor,
                             DetectionMatrix *matrix)
{
  const VnShape *shape = &tensor->shape;
  int rank = shape->rank;

  if (vn_tensor_is_container (tensor) || !vn_dtype_is_float (tensor->dtype) || rank < 2 || rank > 4 ||
      (rank == 4 && shape->dims[2] != 1))
    return FALSE;
  matrix->tensor = tensor;
  matrix->turned = FALSE;
  matrix->n_columns = (gsize) shape->dims[rank - 1];
  matrix->n_rows = (gsize) shape->dims[rank == 2 ? 0 : 1];
  return tensor->n_elements >= matrix->n_rows * matrix->n_columns;
}

double
detection_layout_get (const DetectionMatrix *matrix,
                      gsize                 row,
                      gsize                 column)
{
  return vn_tensor_get_double (matrix->tensor, matrix->turned ? column * matrix->n_rows + row : row * matrix->n_columns + column);
}

static gboolean
detection_is_probability (double value)
{
  return value >= -0.001 && value <= 1.001;
}

static gboolean
detection_are_scores (const DetectionMatrix *matrix,
                      gsize                 from,
                      gsize                 to)
{
  for (gsize i = 0; i < matrix->n_rows; i++)
    for (gsize k = from; k < to; k++)
      if (!detection_is_probability (detection_layout_get (matrix, i, k)))
        return FALSE;
  return to > from;
}

typedef gboolean (*RowFunc) (const DetectionMatrix *matrix, gsize row);

static gboolean
detection_holds (const DetectionMatrix *matrix,
                 RowFunc               func)
{
  gsize n = 0;

  for (gsize i = 0; i < matrix->n_rows; i++)
    n += func (matrix, i);
  return n > 0 && (double) n >= ALMOST_ALL * (double) matrix->n_rows;
}

static gboolean
detection_row_has_corners (const DetectionMatrix *matrix,
                           gsize                 row)
{
  return detection_layout_get (matrix, row, 2) >= detection_layout_get (matrix, row, 0) && detection_layout_get (matrix, row, 3) >= detection_layout_get (matrix, row, 1);
}

static gboolean
detection_row_has_size (const DetectionMatrix *matrix,
                        gsize                 row)
{
  return detection_layout_get (matrix, row, 2) >= 0 && detection_layout_get (matrix, row, 3) >= 0;
}

static gboolean
detection_row_is_positive (const DetectionMatrix *matrix,
                           gsize                 row)
{
  return detection_row_has_size (matrix, row) && detection_layout_get (matrix, row, 0) >= 0 && detection_layout_get (matrix, row, 1) >= 0;
}

static gboolean
detection_row_adds_up (const DetectionMatrix *matrix,
                       gsize                 row)
{
  double sum = 0;

  for (gsize k = 0; k < matrix->n_columns; k++)
    sum += detection_layout_get (matrix, row, k);
  return fabs (sum - 1) < 0.01;
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
                             guint                  stride)
{
  return detection_layout_count_cells (outputs->height, stride) * detection_layout_count_cells (outputs->width, stride);
}

/* ---- how it is laid out ---- */

/* The one output of @n whole numbers; DETECTION_NONE. */
static int
detection_find_classes (const VnTaskOutputs *outputs,
                        gsize                  n)
{
  int found = DETECTION_NONE;

  for (guint i = 0; i < outputs->n; i++)
    {
      const VnTensor *tensor = outputs->tensors[i];

      if (vn_tensor_is_container (tensor) || vn_dtype_is_float (tensor->dtype) || tensor->dtype == VN_DTYPE_STRING ||
          tensor->n_elements != n)
        continue;
      if (found != DETECTION_NONE)
        return DETECTION_NONE;
      found = (int) i;
    }
  return found;
}

static gboolean
detection_find_box_shape (const DetectionMatrix *boxes,
                          DetectionShape        *shape)
{
  *shape = DETECTION_CORNERS;
  if (detection_holds (boxes, detection_row_has_corners))
    return TRUE;
  *shape = DETECTION_CENTRES;
  return detection_holds (boxes, detection_row_has_size);
}

/* Numbers of rows beside which @n scores may stand: also as [1, N]. */
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

static gboolean
detection_find_boxes (const VnTaskOutputs *outputs,
                      DetectionLayout        *layout)
{
  DetectionMatrix boxes = { 0 }, scores;

  layout->form = DETECTION_BOXES;
  layout->boxes = layout->scores = DETECTION_NONE;
  for (guint i = 0; i < outputs->n; i++)
    if (detection_layout_get_matrix (outputs->tensors[i], &boxes) && boxes.n_columns == 4 && boxes.n_rows > 1)
      {
        if (layout->boxes != DETECTION_NONE)
          return FALSE;
        layout->boxes = (int) i;
      }
  if (layout->boxes == DETECTION_NONE)
    return FALSE;
  detection_layout_get_matrix (outputs->tensors[layout->boxes], &boxes);
  for (guint i = 0; i < outputs->n; i++)
    if ((int) i != layout->boxes && detection_layout_get_scores (outputs->tensors[i], boxes.n_rows, &scores) &&
        detection_are_scores (&scores, 0, scores.n_columns))
      {
        if (layout->scores != DETECTION_NONE)
          return FALSE;
        layout->scores = (int) i;
      }
  if (layout->scores == DETECTION_NONE || !detection_find_box_shape (&boxes, &layout->shape))
    return FALSE;
  detection_layout_get_scores (outputs->tensors[layout->scores], boxes.n_rows, &scores);
  layout->background = scores.n_columns >= 2 && detection_holds (&scores, detection_row_adds_up);
  layout->classes = scores.n_columns == 1 ? detection_find_classes (outputs, boxes.n_rows) : DETECTION_NONE;
  return TRUE;
}

static gboolean
detection_row_has_class (const DetectionMatrix *matrix,
                         gsize                 row)
{
  double value = detection_layout_get (matrix, row, 5);

  return value >= 0 && value == floor (value);
}

static gboolean
detection_find_final (const VnTaskOutputs *outputs,
                      const DetectionMatrix  *matrix,
                      DetectionLayout        *layout)
{
  layout->form = DETECTION_FINAL;
  layout->shape = DETECTION_CORNERS;
  layout->classes = matrix->n_columns == 5 ? detection_find_classes (outputs, matrix->n_rows) : DETECTION_NONE;
  return detection_are_scores (matrix, 4, 5) && detection_holds (matrix, detection_row_has_corners) &&
         (matrix->n_columns == 5 ? layout->classes != DETECTION_NONE : detection_holds (matrix, detection_row_has_class));
}

/* Boxes in pixels: between 0 and 1 lies all kinds of things. */
static gboolean
detection_has_pixels (const DetectionMatrix *matrix)
{
  for (gsize i = 0; i < matrix->n_rows; i++)
    for (gsize k = 0; k < 4; k++)
      if (detection_layout_get (matrix, i, k) > 2)
        return TRUE;
  return FALSE;
}

static gboolean
detection_find_rows (const VnTaskOutputs *outputs,
                     const DetectionMatrix  *matrix,
                     DetectionLayout        *layout)
{
  layout->form = DETECTION_ROWS;
  layout->shape = DETECTION_CENTRES;
  if (matrix->n_columns < 6 || matrix->n_rows <= matrix->n_columns || !detection_are_scores (matrix, 4, matrix->n_columns))
    return FALSE;
  if (detection_holds (matrix, detection_row_has_size))
    return detection_has_pixels (matrix);
  layout->shape = DETECTION_CELLS;
  return matrix->n_rows == detection_layout_count_grid (outputs, 8) + detection_layout_count_grid (outputs, 16) +
                           detection_layout_count_grid (outputs, 32);
}

static gboolean
detection_find_columns (const DetectionMatrix *matrix,
                        DetectionLayout       *layout)
{
  DetectionMatrix turned = *matrix;

  turned.turned = TRUE;
  turned.n_rows = matrix->n_columns;
  turned.n_columns = matrix->n_rows;
  layout->form = DETECTION_COLUMNS;
  layout->shape = DETECTION_CENTRES;
  layout->n_columns = turned.n_columns;
  return turned.n_columns >= 5 && turned.n_rows > turned.n_columns && detection_are_scores (&turned, 4, turned.n_columns) &&
         detection_holds (&turned, detection_row_has_size) && detection_has_pixels (&turned);
}

/* The only output of floats in which there may be boxes. */
static gboolean
detection_find_one (const VnTaskOutputs *outputs,
                    DetectionLayout        *layout)
{
  DetectionMatrix matrix, found = { 0 };

  layout->boxes = layout->scores = layout->classes = DETECTION_NONE;
  for (guint i = 0; i < outputs->n && outputs->height > 0; i++)
    if (detection_layout_get_matrix (outputs->tensors[i], &matrix) && matrix.n_columns >= 5 && matrix.n_rows >= 5)
      {
        if (layout->boxes != DETECTION_NONE)
          return FALSE;
        layout->boxes = (int) i;
        found = matrix;
      }
  if (layout->boxes == DETECTION_NONE)
    return FALSE;
  layout->n_columns = found.n_columns;
  return ((found.n_columns == 5 || found.n_columns == 6) && detection_find_final (outputs, &found, layout)) ||
         detection_find_rows (outputs, &found, layout) || detection_find_columns (&found, layout);
}

static gboolean
detection_is_boxes (const DetectionMatrix *matrix)
{
  return matrix->n_columns == 4 || (matrix->n_columns % 4 == 0 && matrix->n_columns >= 4 * LEAST_BINS &&
                                    !detection_are_scores (matrix, 0, matrix->n_columns));
}

static gboolean
detection_add_to_group (DetectionGroup        *group,
                        const DetectionMatrix *matrix,
                        int                   output,
                        gsize                *n_columns)
{
  if (detection_is_boxes (matrix))
    {
      if (group->boxes != DETECTION_NONE || (*n_columns != 0 && *n_columns != matrix->n_columns))
        return FALSE;
      group->boxes = output;
      *n_columns = matrix->n_columns;
    }
  else if (detection_are_scores (matrix, 0, matrix->n_columns))
    {
      if (group->scores == DETECTION_NONE)
        group->scores = output;
      else if (group->anything == DETECTION_NONE && matrix->n_columns == 1)
        group->anything = output;
      else
        return FALSE;
    }
  return TRUE;
}

static gboolean
detection_find_group (const VnTaskOutputs *outputs,
                      guint                  stride,
                      DetectionLayout        *layout)
{
  DetectionGroup group = { stride, DETECTION_NONE, DETECTION_NONE, DETECTION_NONE };
  gsize n = detection_layout_count_grid (outputs, stride);
  DetectionMatrix matrix;

  for (guint i = 0; i < outputs->n; i++)
    if (detection_layout_get_matrix (outputs->tensors[i], &matrix) && matrix.n_rows == n &&
        !detection_add_to_group (&group, &matrix, (int) i, &layout->n_columns))
      return FALSE;
  if (group.boxes != DETECTION_NONE && group.scores != DETECTION_NONE)
    layout->groups[layout->n_groups++] = group;
  return TRUE;
}

static gboolean
detection_find_grids (const VnTaskOutputs *outputs,
                      DetectionLayout        *layout)
{
  DetectionMatrix boxes;

  layout->form = DETECTION_GRIDS;
  layout->n_groups = 0;
  layout->n_columns = 0;
  layout->shape = DETECTION_DISTANCES;
  if (outputs->height == 0)
    return FALSE;
  for (guint stride = 4; stride <= 128; stride *= 2)
    if (!detection_find_group (outputs, stride, layout))
      return FALSE;
  if (layout->n_groups < 2)
    return FALSE;
  if (layout->n_columns > 4)
    layout->shape = DETECTION_BINS;
  for (guint i = 0; i < layout->n_groups && layout->n_columns == 4; i++)
    if (detection_layout_get_matrix (outputs->tensors[layout->groups[i].boxes], &boxes) && !detection_holds (&boxes, detection_row_is_positive))
      layout->shape = DETECTION_CELLS;
  return TRUE;
}

/* How the boxes are laid out, for g_free(); %NULL: there are none. */
gpointer
detection_layout_recognize (const VnTaskOutputs *outputs)
{
  DetectionLayout layout = { .classes = DETECTION_NONE };

  if (detection_find_boxes (outputs, &layout) || detection_find_one (outputs, &layout) || detection_find_grids (outputs, &layout))
    return g_memdup2 (&layout, sizeof layout);
  return NULL;
}
