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

/* What softmax makes of the best of the numbers in columns @from to before @to. */
static double
detection_get_share (const DetectionMatrix *scores,
                     gsize                  row,
                     gsize                  from,
                     gsize                  to,
                     double                 best)
{
  double most = -INFINITY, sum = 0;

  for (gsize k = from; k < to; k++)
    most = MAX (most, detection_layout_get (scores, row, k));
  for (gsize k = from; k < to; k++)
    sum += exp (detection_layout_get (scores, row, k) - most);
  return exp (best - most) / sum;
}

/* The best of the classes in columns @from to before @to, the background aside. */
static void
detection_find_best (const DetectionLayout *layout,
                     const DetectionMatrix *scores,
                     gsize                  row,
                     gsize                  from,
                     gsize                  to,
                     VnDetection           *box)
{
  gsize best = layout->background == 0 ? from + 1 : from;

  for (gsize k = best + 1; k < to; k++)
    if (k != from + (gsize) layout->background &&
        detection_layout_get (scores, row, k) > detection_layout_get (scores, row, best))
      best = k;
  box->score = detection_layout_get (scores, row, best);
  if (layout->scale == DETECTION_SIGMOID)
    box->score = 1 / (1 + exp (-box->score));
  else if (layout->scale == DETECTION_SOFTMAX)
    box->score = detection_get_share (scores, row, from, to, box->score);
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

/* Classes also come as floats. */
static guint
detection_get_class (const VnTensor *tensor,
                     gsize           i)
{
  return (guint) CLAMP (vn_tensor_get_double (tensor, i), 0, (double) G_MAXINT);
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
      scores.n_columns <= (gsize) (layout->background != DETECTION_NONE) ||
      (layout->classes != DETECTION_NONE && outputs->tensors[layout->classes]->n_elements != boxes.n_rows))
    return FALSE;
  for (gsize i = 0; i < boxes.n_rows; i++)
    {
      VnDetection best = { 0 };

      detection_find_best (layout, &scores, i, 0, scores.n_columns, &best);
      if (layout->classes != DETECTION_NONE)
        best.label = detection_get_class (outputs->tensors[layout->classes], i);
      detection_add (found, &boxes, i, layout->shape, no_cell, &best);
    }
  return TRUE;
}

/* Of a final box. */
static void
detection_read_final (const DetectionLayout *layout,
                      const VnTaskOutputs   *outputs,
                      const DetectionMatrix *matrix,
                      gsize                  row,
                      GArray                *found)
{
  const gsize at = layout->box_at;
  VnDetection box = { .x1 = detection_layout_get (matrix, row, at), .y1 = detection_layout_get (matrix, row, at + 1),
                      .x2 = detection_layout_get (matrix, row, at + 2), .y2 = detection_layout_get (matrix, row, at + 3),
                      .score = detection_layout_get (matrix, row, layout->score_at) };

  box.label = layout->classes != DETECTION_NONE ? detection_get_class (outputs->tensors[layout->classes], row)
                                                : (guint) CLAMP (detection_layout_get (matrix, row, layout->class_at), 0,
                                                                 G_MAXINT);
  if (box.score >= VN_CONFIDENT_SCORE && isfinite (box.score + box.x1 + box.y1 + box.x2 + box.y2))
    g_array_append_val (found, box);
}

/* One output: rows, columns, and final boxes. */
static gboolean
detection_read_one (const DetectionLayout *layout,
                    const VnTaskOutputs   *outputs,
                    GArray                *found)
{
  const gboolean is_final = layout->form == DETECTION_FINAL;
  DetectionMatrix matrix;

  if ((guint) layout->boxes >= outputs->n || !detection_layout_get_matrix (outputs->tensors[layout->boxes], &matrix))
    return FALSE;
  if (layout->form == DETECTION_COLUMNS)
    detection_layout_turn (&matrix);
  if (matrix.n_columns != layout->n_columns ||
      (layout->classes != DETECTION_NONE && ((guint) layout->classes >= outputs->n ||
                                             outputs->tensors[layout->classes]->n_elements != matrix.n_rows)))
    return FALSE;
  for (gsize i = 0; i < matrix.n_rows && is_final; i++)
    detection_read_final (layout, outputs, &matrix, i, found);
  for (gsize i = 0; i < matrix.n_rows && !is_final; i++)
    {
      VnDetection best = { 0 };
      double cell[3] = { 0, 0, 1 };

      detection_find_best (layout, &matrix, i, layout->first_class, layout->first_class + layout->n_classes, &best);
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
  const gsize n = detection_layout_count_grid (outputs, group->stride),
  width = detection_layout_count_cells (outputs->width, group->stride);
  DetectionMatrix boxes, scores, anything = { 0 };

  if ((guint) group->boxes >= outputs->n || (guint) group->scores >= outputs->n || group->anything >= (int) outputs->n ||
      !detection_layout_get_cells (outputs, outputs->tensors[group->boxes], group->stride, &boxes) ||
      boxes.n_columns != layout->n_columns ||
      !detection_layout_get_cells (outputs, outputs->tensors[group->scores], group->stride, &scores) || scores.n_columns < 1 ||
      (group->anything != DETECTION_NONE &&
       !detection_layout_get_cells (outputs, outputs->tensors[group->anything], group->stride, &anything)))
    return FALSE;
  for (gsize i = 0; i < n; i++)
    {
      const double cell[3] = { (double) (i % width), (double) (i / width), group->stride };
      VnDetection best = { 0 };

      detection_find_best (layout, &scores, i, 0, scores.n_columns, &best);
      if (group->anything != DETECTION_NONE)
        best.score *= detection_layout_get (&anything, i, 0);
      detection_add (found, &boxes, i, layout->shape, cell, &best);
    }
  return TRUE;
}

/* Whether no neighbor of the cell, of the 8 there are, has a higher number in @column. */
static gboolean
detection_is_peak (const DetectionMatrix *scores,
                   gsize                  width,
                   gsize                  row,
                   gsize                  column)
{
  const gsize height = scores->n_rows / width, x = row % width, y = row / width;
  const double value = detection_layout_get (scores, row, column);

  for (gsize j = y > 0 ? y - 1 : 0; j <= MIN (y + 1, height - 1); j++)
    for (gsize i = x > 0 ? x - 1 : 0; i <= MIN (x + 1, width - 1); i++)
      if (detection_layout_get (scores, j * width + i, column) > value)
        return FALSE;
  return TRUE;
}

/* Positions and sizes in cells. */
static gboolean
detection_read_maps (const DetectionLayout *layout,
                     const VnTaskOutputs   *outputs,
                     GArray                *found)
{
  const guint stride = layout->groups[0].stride;
  const gsize width = detection_layout_count_cells (outputs->width, stride);
  DetectionMatrix scores, sizes, places = { 0 };

  if ((guint) layout->scores >= outputs->n || (guint) layout->boxes >= outputs->n || layout->classes >= (int) outputs->n ||
      !detection_layout_get_cells (outputs, outputs->tensors[layout->scores], stride, &scores) ||
      !detection_layout_get_cells (outputs, outputs->tensors[layout->boxes], stride, &sizes) || sizes.n_columns != 2 ||
      (layout->classes != DETECTION_NONE &&
       (!detection_layout_get_cells (outputs, outputs->tensors[layout->classes], stride, &places) || places.n_columns != 2)))
    return FALSE;
  for (gsize i = 0; i < scores.n_rows; i++)
    for (gsize k = 0; k < scores.n_columns; k++)
      {
        const double value = detection_layout_get (&scores, i, k);
        const double w = detection_layout_get (&sizes, i, 0) * (layout->in_parts ? (double) width : 1);
        const double h = detection_layout_get (&sizes, i, 1) * (layout->in_parts ? (double) (scores.n_rows / width) : 1);
        const double x = (double) (i % width) + (places.tensor != NULL ? detection_layout_get (&places, i, 0) : 0);
        const double y = (double) (i / width) + (places.tensor != NULL ? detection_layout_get (&places, i, 1) : 0);
        const VnDetection box = { x - w / 2, y - h / 2, x + w / 2, y + h / 2,
                                  layout->scale == DETECTION_SIGMOID ? 1 / (1 + exp (-value)) : value, (guint) k };

        if (box.score >= VN_CONFIDENT_SCORE && isfinite (box.score + box.x1 + box.y1 + box.x2 + box.y2) &&
            detection_is_peak (&scores, width, i, k))
          g_array_append_val (found, box);
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
  else if (layout->form == DETECTION_MAPS)
    good = detection_read_maps (layout, outputs, found);
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
                   guint          item,
                   VnKeptSum     *sum)
{
  GArray *a = (GArray *) first, *b = (GArray *) other;
  guint n_kept, n_added;

  vn_detections_match (a, b, &n_kept, &n_added);
  sum->n += a->len;
  sum->n_kept += n_kept;
  sum->n_added += n_added;
}

static void
detection_keep (gconstpointer   data,
                gconstpointer   first,
                gconstpointer   other,
                guint           most_pixels,
                VnSampleAnswer *kept)
{
  const DetectionLayout *layout = data;

  kept->form = VN_ANSWER_BOXES;
  kept->background = layout->background == 0;
  kept->first = g_array_ref ((GArray *) first);
  kept->other = g_array_ref ((GArray *) other);
  kept->partners = vn_detections_pair (kept->first, kept->other);
}

const VnTaskReader vn_task_detection = {
  .recognize = detection_layout_recognize,
  .read = detection_read,
  .free = detection_free,
  .compare = detection_compare,
  .keep = detection_keep,
};
