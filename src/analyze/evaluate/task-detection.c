/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Detectors: the boxes with a score that counts, once each; detection-layout.c says how outputs hold them. */
#include "detection-layout.h"

#include "vn-detections.h"
#include "vn-thresholds.h"

#include <math.h>

/* The distance that numbers stand for whose softmax weighs 0, 1, 2, ... */
static double
detection_expect_distance (const DetectionMatrix *matrix,
                           gsize                 row,
                           gsize                 from,
                           gsize                 n)
{
  double most = -INFINITY, sum = 0, weighted = 0;

  for (gsize i = 0; i < n; i++)
    most = MAX (most, detection_layout_get (matrix, row, from + i));
  for (gsize i = 0; i < n; i++)
    {
      double weight = exp (detection_layout_get (matrix, row, from + i) - most);

      sum += weight;
      weighted += weight * (double) i;
    }
  return weighted / sum;
}

/* @cell: as of detection_add() */
static void
detection_read_box (const DetectionMatrix *matrix,
                    gsize                 row,
                    DetectionShape         shape,
                    const double         *cell,
                    VnDetection          *box)
{
  const double x = cell[0], y = cell[1], stride = cell[2];
  double v[4];

  for (guint i = 0; i < 4; i++)
    v[i] = shape == DETECTION_BINS ? detection_expect_distance (matrix, row, i * (matrix->n_columns / 4), matrix->n_columns / 4)
                                  : detection_layout_get (matrix, row, i);
  if (shape == DETECTION_CELLS)
    {
      v[0] = (v[0] + x) * stride;
      v[1] = (v[1] + y) * stride;
      v[2] = exp (v[2]) * stride;
      v[3] = exp (v[3]) * stride;
    }
  if (shape == DETECTION_CORNERS)
    *box = (VnDetection) { .x1 = v[0], .y1 = v[1], .x2 = v[2], .y2 = v[3] };
  else if (shape == DETECTION_DISTANCES || shape == DETECTION_BINS)
    *box = (VnDetection) { .x1 = (x - v[0]) * stride, .y1 = (y - v[1]) * stride,
                           .x2 = (x + v[2]) * stride, .y2 = (y + v[3]) * stride };
  else
    *box = (VnDetection) { .x1 = v[0] - v[2] / 2, .y1 = v[1] - v[3] / 2, .x2 = v[0] + v[2] / 2, .y2 = v[1] + v[3] / 2 };
}

/* The best of the classes in columns @from and further. */
static void
detection_find_best (const DetectionMatrix *scores,
                     gsize                 row,
                     gsize                 from,
                     VnDetection          *box)
{
  gsize best = from;

  for (gsize k = from + 1; k < scores->n_columns; k++)
    if (detection_layout_get (scores, row, k) > detection_layout_get (scores, row, best))
      best = k;
  box->score = detection_layout_get (scores, row, best);
  box->label = (guint) (best - from);
}

/* @cell: its column, its row, pixels; nothing that depends on it if there are no cells */
static void
detection_add (GArray               *boxes,
               const DetectionMatrix *matrix,
               gsize                 row,
               DetectionShape         shape,
               const double         *cell,
               const VnDetection    *best)
{
  VnDetection box;

  if (!(best->score >= VN_CONFIDENT_SCORE) || !isfinite (best->score))
    return;
  detection_read_box (matrix, row, shape, cell, &box);
  box.score = best->score;
  box.label = best->label;
  if (isfinite (box.x1 + box.y1 + box.x2 + box.y2))
    g_array_append_val (boxes, box);
}

/* The cell of @row, if the rows of the cells of 8, 16 and 32 pixels follow each other. */
static void
detection_find_cell (const VnTaskOutputs *outputs,
                     gsize                  row,
                     double                *cell)
{
  guint stride = 8;

  for (gsize n; stride < 32 && row >= (n = detection_layout_count_grid (outputs, stride)); stride *= 2)
    row -= n;
  cell[0] = (double) (row % detection_layout_count_cells (outputs->width, stride));
  cell[1] = (double) (row / detection_layout_count_cells (outputs->width, stride));
  cell[2] = stride;
}

static gboolean
detection_read_boxes (const DetectionLayout  *layout,
                      const VnTaskOutputs *outputs,
                      GArray                *found)
{
  static const double no_cell[3] = { 0, 0, 1 };
  DetectionMatrix boxes, scores;

  if ((guint) layout->boxes >= outputs->n || (guint) layout->scores >= outputs->n ||
      (layout->classes != DETECTION_NONE && (guint) layout->classes >= outputs->n) ||
      !detection_layout_get_matrix (outputs->tensors[layout->boxes], &boxes) || boxes.n_columns != 4 ||
      !detection_layout_get_scores (outputs->tensors[layout->scores], boxes.n_rows, &scores) ||
      scores.n_columns <= (gsize) layout->background ||
      (layout->classes != DETECTION_NONE && outputs->tensors[layout->classes]->n_elements != boxes.n_rows))
    return FALSE;
  for (gsize i = 0; i < boxes.n_rows; i++)
    {
      VnDetection best = { 0 };

      detection_find_best (&scores, i, (gsize) layout->background, &best);
      if (layout->classes != DETECTION_NONE)
        best.label = (guint) vn_tensor_get_s64 (outputs->tensors[layout->classes], i);
      detection_add (found, &boxes, i, layout->shape, no_cell, &best);
    }
  return TRUE;
}

/* One output: rows, columns, and final boxes. */
static gboolean
detection_read_one (const DetectionLayout  *layout,
                    const VnTaskOutputs *outputs,
                    GArray                *found)
{
  DetectionMatrix matrix;

  if ((guint) layout->boxes >= outputs->n || !detection_layout_get_matrix (outputs->tensors[layout->boxes], &matrix))
    return FALSE;
  if (layout->form == DETECTION_COLUMNS)
    matrix = (DetectionMatrix) { matrix.tensor, matrix.n_columns, matrix.n_rows, TRUE };
  if (matrix.n_columns != layout->n_columns ||
      (layout->classes != DETECTION_NONE && ((guint) layout->classes >= outputs->n ||
                                   outputs->tensors[layout->classes]->n_elements != matrix.n_rows)))
    return FALSE;
  for (gsize i = 0; i < matrix.n_rows; i++)
    {
      VnDetection best = { 0 };
      double cell[3] = { 0, 0, 1 };

      if (layout->form == DETECTION_FINAL)
        best = (VnDetection) { .score = detection_layout_get (&matrix, i, 4),
                               .label = layout->classes != DETECTION_NONE ? (guint) vn_tensor_get_s64 (outputs->tensors[layout->classes], i)
                                                                : (guint) CLAMP (detection_layout_get (&matrix, i, 5), 0, G_MAXINT) };
      else
        detection_find_best (&matrix, i, layout->form == DETECTION_ROWS ? 5 : 4, &best);
      if (layout->form == DETECTION_ROWS)
        best.score *= detection_layout_get (&matrix, i, 4);
      if (layout->shape == DETECTION_CELLS)
        detection_find_cell (outputs, i, cell);
      detection_add (found, &matrix, i, layout->shape, cell, &best);
    }
  return TRUE;
}

static gboolean
detection_read_group (const DetectionLayout  *layout,
                      const DetectionGroup   *group,
                      const VnTaskOutputs *outputs,
                      GArray                *found)
{
  const gsize n = detection_layout_count_grid (outputs, group->stride), width = detection_layout_count_cells (outputs->width, group->stride);
  DetectionMatrix boxes, scores, anything = { 0 };

  if ((guint) group->boxes >= outputs->n || (guint) group->scores >= outputs->n || group->anything >= (int) outputs->n ||
      !detection_layout_get_matrix (outputs->tensors[group->boxes], &boxes) || boxes.n_rows != n || boxes.n_columns != layout->n_columns ||
      !detection_layout_get_matrix (outputs->tensors[group->scores], &scores) || scores.n_rows != n || scores.n_columns < 1 ||
      (group->anything != DETECTION_NONE && (!detection_layout_get_matrix (outputs->tensors[group->anything], &anything) || anything.n_rows != n)))
    return FALSE;
  for (gsize i = 0; i < n; i++)
    {
      const double cell[3] = { (double) (i % width), (double) (i / width), group->stride };
      VnDetection best = { 0 };

      detection_find_best (&scores, i, 0, &best);
      if (group->anything != DETECTION_NONE)
        best.score *= detection_layout_get (&anything, i, 0);
      detection_add (found, &boxes, i, layout->shape, cell, &best);
    }
  return TRUE;
}

static void
detection_free (gpointer data)
{
  g_array_unref (data);
}

static gpointer
detection_read (gconstpointer          data,
                const VnTaskOutputs *outputs)
{
  const DetectionLayout *layout = data;
  g_autoptr(GArray) found = g_array_new (FALSE, FALSE, sizeof (VnDetection));
  gboolean good = TRUE;

  if (layout->form == DETECTION_GRIDS)
    for (guint i = 0; i < layout->n_groups && good; i++)
      good = detection_read_group (layout, &layout->groups[i], outputs, found);
  else if (layout->form == DETECTION_BOXES)
    good = detection_read_boxes (layout, outputs, found);
  else
    good = detection_read_one (layout, outputs, found);
  if (!good)
    return NULL;
  vn_detections_suppress (found);
  return g_steal_pointer (&found);
}

static void
detection_compare (gconstpointer  first,
                   gconstpointer  other,
                   VnKeptSum     *sum)
{
  GArray *a = (GArray *) first, *b = (GArray *) other;
  guint n_kept, n_added;

  vn_detections_match (a, b, &n_kept, &n_added);
  sum->n += a->len;
  sum->n_kept += n_kept;
  sum->n_added += n_added;
}

const VnTaskReader vn_task_detection = {
  .recognize = detection_layout_recognize,
  .read = detection_read,
  .free = detection_free,
  .compare = detection_compare,
};
