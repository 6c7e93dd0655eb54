/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Detectors that give boxes beside scores: SSD, DETR, and what has chosen the boxes already. */
#include "detection-layout.h"

#include <math.h>

#define LEAST_LOGIT_ROWS 10u

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

static gboolean
detection_row_adds_up (const DetectionMatrix *matrix,
                       gsize                  row)
{
  double sum = 0;

  for (gsize k = 0; k < matrix->n_columns; k++)
    sum += detection_layout_get (matrix, row, k);
  return fabs (sum - 1) < 0.01;
}

static gsize
detection_find_best_column (const DetectionMatrix *matrix,
                            gsize                  row)
{
  gsize best = 0;

  for (gsize k = 1; k < matrix->n_columns; k++)
    if (detection_layout_get (matrix, row, k) > detection_layout_get (matrix, row, best))
      best = k;
  return best;
}

/* Of the first and the last class the one that is the best of more rows, and of how many. */
static int
detection_find_background (const DetectionMatrix *scores,
                           gsize                 *n_best)
{
  gsize n_first = 0, n_last = 0;

  for (gsize i = 0; i < scores->n_rows; i++)
    {
      const gsize best = detection_find_best_column (scores, i);

      n_first += best == 0;
      n_last += best == scores->n_columns - 1;
    }
  *n_best = MAX (n_first, n_last);
  return n_last > n_first ? (int) scores->n_columns - 1 : 0;
}

/* In parts of the picture: what tells boxes beside logits from differences to priors. */
static gboolean
detection_are_parts (const DetectionMatrix *boxes)
{
  for (gsize i = 0; i < boxes->n_rows; i++)
    for (gsize k = 0; k < 4; k++)
      {
        const double value = detection_layout_get (boxes, i, k);

        if (!(value >= (k < 2 ? -0.05 : 0) && value <= 1.05))
          return FALSE;
      }
  return TRUE;
}

static gboolean
detection_row_is_negative (const DetectionMatrix *matrix,
                           gsize                  row)
{
  return detection_layout_get (matrix, row, detection_find_best_column (matrix, row)) < 0;
}

static gboolean
detection_take_logits (const DetectionMatrix *boxes,
                       const DetectionMatrix *scores,
                       DetectionLayout       *layout)
{
  gsize n_best = 0, n_negative = 0;
  const int background = scores->n_columns >= 2 ? detection_find_background (scores, &n_best) : DETECTION_NONE;

  if (scores->n_rows < LEAST_LOGIT_ROWS || !detection_are_parts (boxes))
    return FALSE;
  for (gsize i = 0; i < scores->n_rows; i++)
    n_negative += detection_row_is_negative (scores, i);
  if (background != DETECTION_NONE && 2 * n_best > scores->n_rows && 2 * n_negative <= scores->n_rows)
    {
      layout->scale = DETECTION_SOFTMAX;
      layout->background = background;
      return TRUE;
    }
  layout->scale = DETECTION_SIGMOID;
  return 2 * n_negative > scores->n_rows;
}

/* The one output of scores for @boxes; of several the one with one score for each box. */
static int
detection_find_scores (const VnTaskOutputs   *outputs,
                       const DetectionMatrix *boxes,
                       gboolean               logits)
{
  DetectionMatrix scores;
  int found = DETECTION_NONE, single = DETECTION_NONE;
  guint n_found = 0, n_single = 0;

  for (guint i = 0; i < outputs->n; i++)
    {
      if (outputs->tensors[i] == boxes->tensor || !detection_layout_get_scores (outputs->tensors[i], boxes->n_rows, &scores) ||
          (logits ? scores.n_columns == 4 && detection_are_parts (&scores)
           : !detection_are_scores (&scores, 0, scores.n_columns)))
        continue;
      found = (int) i;
      n_found++;
      if (scores.n_columns > 1)
        continue;
      single = (int) i;
      n_single++;
    }
  return n_found == 1 ? found : n_single == 1 ? single : DETECTION_NONE;
}

static gboolean
detection_take_scores (const VnTaskOutputs   *outputs,
                       const DetectionMatrix *boxes,
                       DetectionLayout       *layout)
{
  DetectionMatrix scores;
  gsize n_best;

  layout->scores = detection_find_scores (outputs, boxes, FALSE);
  if (layout->scores != DETECTION_NONE)
    {
      detection_layout_get_scores (outputs->tensors[layout->scores], boxes->n_rows, &scores);
      if (scores.n_columns >= 2 && detection_holds (&scores, detection_row_adds_up))
        layout->background = detection_find_background (&scores, &n_best);
      if (scores.n_columns == 1)
        layout->classes = detection_find_classes (outputs, boxes->n_rows, layout->scores);
      return TRUE;
    }
  layout->scores = detection_find_scores (outputs, boxes, TRUE);
  return layout->scores != DETECTION_NONE &&
         detection_layout_get_scores (outputs->tensors[layout->scores], boxes->n_rows, &scores) &&
         detection_take_logits (boxes, &scores, layout);
}

/* Four numbers that add up to 1 are scores. Several such outputs are those of grids, unless one has been chosen from the others:
 * that with classes of its own. */
gboolean
detection_find_boxes (const VnTaskOutputs *outputs,
                      DetectionLayout     *layout)
{
  const DetectionLayout none = *layout;
  DetectionMatrix boxes;
  guint n_found = 0, n_chosen = 0;

  for (guint i = 0; i < outputs->n; i++)
    {
      DetectionLayout found = none;

      found.form = DETECTION_BOXES;
      found.boxes = (int) i;
      if (!detection_layout_get_matrix (outputs->tensors[i], &boxes) || boxes.n_columns != 4 || boxes.n_rows <= 1 ||
          detection_holds (&boxes, detection_row_adds_up) || !detection_find_box_shape (&boxes, &found.shape) ||
          !detection_take_scores (outputs, &boxes, &found))
        continue;
      if (n_found++ == 0 || (n_chosen == 0 && found.classes != DETECTION_NONE))
        *layout = found;
      n_chosen += found.classes != DETECTION_NONE;
    }
  return n_found == 1 || n_chosen == 1;
}
