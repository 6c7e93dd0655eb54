/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Outputs of a detector: how they are laid out, and as rows of one box each. */

#include "vn-task-reader.h"

G_BEGIN_DECLS

#define DETECTION_MOST_STRIDES 6
#define DETECTION_NONE (-1)

/* See detection-layout.c. */
typedef enum { DETECTION_BOXES, DETECTION_ROWS, DETECTION_COLUMNS, DETECTION_FINAL, DETECTION_GRIDS } DetectionForm;
typedef enum { DETECTION_CORNERS, DETECTION_CENTRES, DETECTION_CELLS, DETECTION_DISTANCES, DETECTION_BINS } DetectionShape;

/* Outputs with a row for each cell of @stride pixels; DETECTION_NONE: there is none. */
typedef struct
{
  guint stride;
  int   boxes, scores, anything;
} DetectionGroup;

/**
 * DetectionLayout:
 * @background: the first class is no thing
 * @boxes, @scores, @classes: outputs; DETECTION_NONE: there is none
 * @n_columns: of the boxes
 */
typedef struct
{
  DetectionForm  form;
  DetectionShape shape;
  gboolean      background;
  int           boxes, scores, classes;
  gsize         n_columns;
  guint         n_groups;
  DetectionGroup groups[DETECTION_MOST_STRIDES];
} DetectionLayout;

/* @turned: a box is a column of the tensor */
typedef struct
{
  const VnTensor *tensor;
  gsize           n_rows, n_columns;
  gboolean        turned;
} DetectionMatrix;

gpointer detection_layout_recognize  (const VnTaskOutputs *outputs);
gboolean detection_layout_get_matrix (const VnTensor        *tensor,
                                     DetectionMatrix        *matrix);
gboolean detection_layout_get_scores (const VnTensor        *tensor,
                                     gsize                  n,
                                     DetectionMatrix        *scores);
double   detection_layout_get        (const DetectionMatrix  *matrix,
                                     gsize                  row,
                                     gsize                  column);
gsize    detection_layout_count_cells (gint64                size,
                                     guint                  stride);
gsize    detection_layout_count_grid (const VnTaskOutputs *outputs,
                                     guint                  stride);

G_END_DECLS
