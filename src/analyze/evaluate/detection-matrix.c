/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Outputs of a detector as rows of numbers, and what such rows may be. */
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
  const gsize height = detection_layout_count_cells (outputs->height, stride);
  const gsize width = detection_layout_count_cells (outputs->width, stride);

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
  return detection_row_has_size (matrix, row) && detection_layout_get (matrix, row, 0) >= 0 &&
         detection_layout_get (matrix, row, 1) >= 0;
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
