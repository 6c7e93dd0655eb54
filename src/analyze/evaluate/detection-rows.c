/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Detectors with one output that has boxes, scores and all else. */
#include "detection-layout.h"

#include <math.h>

#define LEAST_FINAL 2u
#define ALMOST_ALL 0.99

/* Strides of the cells of common heads, each with one or three boxes for a cell. */
static const guint heads[][4] = { { 8, 16, 32 }, { 8, 16, 32, 64 }, { 4, 8, 16, 32 }, { 16, 32 } };

/* Where final boxes have the first corner, the score and the class; of 5 columns there is no class. */
static const struct { gsize least, most, box, score, class; } finals[] = {
  { 5, 5, 0, 4, 0 }, { 6, 512, 0, 4, 5 }, { 6, 6, 2, 1, 0 }, { 7, 7, 1, 6, 5 }, { 7, 7, 3, 2, 1 },
};

/* ---- columns of scores ---- */

/* Whether there is a row, or are three, for each cell of a common head. */
static gboolean
detection_has_cells (const VnTaskOutputs *outputs,
                     gsize                n_rows)
{
  for (guint i = 0; i < G_N_ELEMENTS (heads); i++)
    {
      gsize n = 0;

      for (guint k = 0; k < G_N_ELEMENTS (heads[i]) && heads[i][k] != 0; k++)
        n += detection_layout_count_grid (outputs, heads[i][k]);
      if (n_rows == n || n_rows == 3 * n)
        return TRUE;
    }
  return FALSE;
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

/* Columns of scores from @from on: so many as the file names classes; else all to the first column that has none, or if that is
 * the first one, those behind the last such. */
static void
detection_find_class_columns (const VnTaskOutputs   *outputs,
                              const DetectionMatrix *matrix,
                              gsize                  from,
                              DetectionLayout       *layout)
{
  const gsize n_named = outputs->hint != NULL ? outputs->hint->n_classes : 0, end = matrix->n_columns;
  gsize to = from;

  layout->first_class = from;
  if (n_named > 0 && from + n_named <= end && detection_are_scores (matrix, from, from + n_named))
    {
      layout->n_classes = n_named;
      return;
    }
  while (to < end && detection_are_scores (matrix, to, to + 1))
    to++;
  if (to == from)
    for (layout->first_class = to = end; layout->first_class > from;)
      {
        if (!detection_are_scores (matrix, layout->first_class - 1, layout->first_class))
          break;
        layout->first_class--;
      }
  layout->n_classes = to - layout->first_class;
}

/* Classes are all the columns there are, or there are as many boxes as cells. */
static gboolean
detection_has_class_columns (const VnTaskOutputs   *outputs,
                             const DetectionMatrix *matrix,
                             gsize                  from,
                             DetectionLayout       *layout)
{
  detection_find_class_columns (outputs, matrix, from, layout);
  return layout->n_classes > 0 && (from + layout->n_classes == matrix->n_columns ||
                                   detection_has_cells (outputs, matrix->n_rows));
}

/* ---- forms ---- */

static gboolean
detection_find_rows (const VnTaskOutputs   *outputs,
                     const DetectionMatrix *matrix,
                     DetectionLayout       *layout)
{
  const gboolean has_cells = detection_has_cells (outputs, matrix->n_rows);

  layout->form = DETECTION_ROWS;
  layout->shape = DETECTION_CENTRES;
  if (matrix->n_columns < 6 || matrix->n_rows <= matrix->n_columns || !detection_are_scores (matrix, 4, 5) ||
      !detection_has_class_columns (outputs, matrix, 5, layout))
    return FALSE;
  if (detection_holds (matrix, detection_row_has_size))
    return has_cells || detection_has_pixels (matrix);
  layout->shape = DETECTION_CELLS;
  return matrix->n_rows == detection_layout_count_grid (outputs, 8) + detection_layout_count_grid (outputs, 16) +
                           detection_layout_count_grid (outputs, 32);
}

static gboolean
detection_find_columns (const VnTaskOutputs   *outputs,
                        const DetectionMatrix *matrix,
                        DetectionLayout       *layout)
{
  DetectionMatrix turned = *matrix;

  detection_layout_turn (&turned);
  layout->form = DETECTION_COLUMNS;
  layout->shape = DETECTION_CENTRES;
  layout->n_columns = turned.n_columns;
  return turned.n_columns >= 5 && turned.n_rows > turned.n_columns && detection_has_class_columns (outputs, &turned, 4, layout) &&
         layout->first_class == 4 && detection_holds (&turned, detection_row_has_size) &&
         (detection_has_cells (outputs, turned.n_rows) || detection_has_pixels (&turned));
}

/* Of rows that stand for nothing the class may be -1. */
static gboolean
detection_have_classes (const DetectionMatrix *matrix,
                        gsize                  column)
{
  for (gsize i = 0; i < matrix->n_rows; i++)
    {
      double value = detection_layout_get (matrix, i, column);

      if (!(value >= -1 && value == floor (value)))
        return FALSE;
    }
  return TRUE;
}

/* Whether the four columns from @box on are corners, and any row has a score. */
static gboolean
detection_have_corners (const DetectionMatrix *matrix,
                        gsize                  box,
                        gsize                  score)
{
  gsize n = 0;
  gboolean any = FALSE;

  for (gsize i = 0; i < matrix->n_rows; i++)
    {
      n += detection_layout_get (matrix, i, box + 2) >= detection_layout_get (matrix, i, box) &&
           detection_layout_get (matrix, i, box + 3) >= detection_layout_get (matrix, i, box + 1);
      any = any || detection_layout_get (matrix, i, score) > 0;
    }
  return any && (double) n >= ALMOST_ALL * (double) matrix->n_rows;
}

/* What has more than score and class is told by its order: the best first. */
static gboolean
detection_is_sorted (const DetectionMatrix *matrix,
                     gsize                  column)
{
  for (gsize i = 1; i < matrix->n_rows; i++)
    if (detection_layout_get (matrix, i, column) > detection_layout_get (matrix, i - 1, column))
      return FALSE;
  return TRUE;
}

static gboolean
detection_find_final (const VnTaskOutputs   *outputs,
                      const DetectionMatrix *matrix,
                      DetectionLayout       *layout)
{
  layout->form = DETECTION_FINAL;
  layout->shape = DETECTION_CORNERS;
  for (guint i = 0; i < G_N_ELEMENTS (finals); i++)
    {
      layout->box_at = finals[i].box;
      layout->score_at = finals[i].score;
      layout->class_at = finals[i].class;
      layout->classes = DETECTION_NONE;
      if (matrix->n_columns < finals[i].least || matrix->n_columns > finals[i].most ||
          !detection_are_scores (matrix, layout->score_at, layout->score_at + 1) ||
          !detection_have_corners (matrix, layout->box_at, layout->score_at) ||
          (matrix->n_columns > 7 && !detection_is_sorted (matrix, layout->score_at)))
        continue;
      if (matrix->n_columns == 5)
        layout->classes = detection_find_classes (outputs, matrix->n_rows, DETECTION_NONE);
      if (matrix->n_columns == 5 ? layout->classes != DETECTION_NONE : detection_have_classes (matrix, layout->class_at))
        return TRUE;
    }
  return FALSE;
}

/* The only output of floats in which there may be boxes. */
gboolean
detection_find_one (const VnTaskOutputs *outputs,
                    DetectionLayout     *layout)
{
  DetectionMatrix matrix, found = { 0 };

  for (guint i = 0; i < outputs->n && outputs->height > 0; i++)
    if (detection_layout_get_matrix (outputs->tensors[i], &matrix) && matrix.n_columns >= 5 && matrix.n_rows >= LEAST_FINAL)
      {
        if (layout->boxes != DETECTION_NONE)
          return FALSE;
        layout->boxes = (int) i;
        found = matrix;
      }
  if (layout->boxes == DETECTION_NONE)
    return FALSE;
  layout->n_columns = found.n_columns;
  if (detection_find_final (outputs, &found, layout))
    return TRUE;
  layout->classes = DETECTION_NONE;
  return found.n_rows >= 5 && (detection_find_rows (outputs, &found, layout) || detection_find_columns (outputs, &found, layout));
}
