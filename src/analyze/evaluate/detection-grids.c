/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Detectors with an answer for each cell of the picture: in outputs for each size of cell, or in maps. */
#include "detection-layout.h"

#define LEAST_BINS 8
#define LEAST_EMPTY 0.9     /* of the cells of a map of scores */

/* ---- outputs for each size of cell ---- */

static gboolean
detection_is_boxes (const DetectionMatrix *matrix)
{
  return matrix->n_columns == 4 || (matrix->n_columns % 4 == 0 && matrix->n_columns >= 4 * LEAST_BINS &&
                                    !detection_are_scores (matrix, 0, matrix->n_columns));
}

static gboolean
detection_add_to_group (DetectionGroup        *group,
                        const DetectionMatrix *matrix,
                        int                    output,
                        gsize                 *n_columns)
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
                      guint                stride,
                      DetectionLayout     *layout)
{
  DetectionGroup group = { stride, DETECTION_NONE, DETECTION_NONE, DETECTION_NONE };
  DetectionMatrix matrix;

  for (guint i = 0; i < outputs->n; i++)
    if (detection_layout_get_cells (outputs, outputs->tensors[i], stride, &matrix) &&
        !detection_add_to_group (&group, &matrix, (int) i, &layout->n_columns))
      return FALSE;
  if (group.boxes != DETECTION_NONE && group.scores != DETECTION_NONE)
    layout->groups[layout->n_groups++] = group;
  return TRUE;
}

gboolean
detection_find_grids (const VnTaskOutputs *outputs,
                      DetectionLayout     *layout)
{
  DetectionMatrix boxes;

  layout->form = DETECTION_GRIDS;
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
    if (detection_layout_get_cells (outputs, outputs->tensors[layout->groups[i].boxes], layout->groups[i].stride, &boxes) &&
        !detection_holds (&boxes, detection_row_is_positive))
      layout->shape = DETECTION_CELLS;
  return TRUE;
}

/* ---- maps ---- */

/* Scores are near nothing in most cells: as they are, or as logits. */
static gboolean
detection_find_map_scale (const DetectionMatrix *scores,
                          DetectionScale        *scale)
{
  const gsize n = scores->n_rows * scores->n_columns;
  gsize n_empty = 0;

  *scale = detection_are_scores (scores, 0, scores->n_columns) ? DETECTION_AS_IS : DETECTION_SIGMOID;
  for (gsize i = 0; i < n; i++)
    n_empty += vn_tensor_get_double (scores->tensor, i) < (*scale == DETECTION_AS_IS ? 0.1 : 0);
  return (double) n_empty >= LEAST_EMPTY * (double) n;
}

static double
detection_get_mean (const DetectionMatrix *matrix)
{
  const gsize n = matrix->n_rows * matrix->n_columns;
  double sum = 0;

  for (gsize i = 0; i < n; i++)
    sum += vn_tensor_get_double (matrix->tensor, i);
  return sum / (double) n;
}

/* Beside the map of scores there are one or two of two channels: sizes, none negative on the whole, and where in the cell, which
 * is less. */
static gboolean
detection_take_maps (const VnTaskOutputs *outputs,
                     guint                stride,
                     DetectionLayout     *layout)
{
  DetectionMatrix matrix, sizes = { 0 };
  guint n_pairs = 0;

  for (guint i = 0; i < outputs->n; i++)
    {
      if ((int) i == layout->scores || outputs->tensors[i]->shape.rank != 4 ||
          !detection_layout_get_cells (outputs, outputs->tensors[i], stride, &matrix) || matrix.n_columns != 2)
        continue;
      if (n_pairs++ == 0 || detection_get_mean (&matrix) > detection_get_mean (&sizes))
        {
          layout->classes = layout->boxes;
          layout->boxes = (int) i;
          sizes = matrix;
        }
      else
        layout->classes = (int) i;
    }
  if (n_pairs == 0 || n_pairs > 2 || detection_get_mean (&sizes) <= 0)
    return FALSE;
  layout->n_columns = 2;
  layout->in_parts = detection_are_scores (&sizes, 0, 2);
  return TRUE;
}

/* Two channels beside two others may be anything: the scores are known by their name then, or by where in the cell being
 * there. */
gboolean
detection_find_maps (const VnTaskOutputs *outputs,
                     DetectionLayout     *layout)
{
  static const char * const names[] = { "hm", "heat", "score", "cls", "class", NULL };
  const DetectionLayout none = *layout;
  DetectionMatrix scores;

  for (guint pass = 0; pass < 2 && outputs->height > 0 && outputs->n >= 2; pass++)
    for (guint stride = 2; stride <= 16; stride *= 2)
      for (guint i = 0; i < outputs->n; i++)
        {
          *layout = none;
          layout->form = DETECTION_MAPS;
          layout->scores = (int) i;
          if (outputs->tensors[i]->shape.rank != 4 || !detection_layout_get_cells (outputs, outputs->tensors[i], stride,
                                                                                   &scores) ||
              (pass == 0) != vn_task_name_has (outputs, i, names) || !detection_find_map_scale (&scores, &layout->scale))
            continue;
          if (detection_take_maps (outputs, stride, layout) &&
              (pass == 0 || scores.n_columns != 2 || layout->classes != DETECTION_NONE))
            {
              layout->groups[layout->n_groups++].stride = stride;
              return TRUE;
            }
        }
  return FALSE;
}
