/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Outputs of a detector: how they are laid out, and as rows of one box each. */

#include "vn-task-reader.h"

G_BEGIN_DECLS

#define DETECTION_MOST_STRIDES 6
#define DETECTION_NONE (-1)

/* See detection-layout.c. */
typedef enum { DETECTION_BOXES, DETECTION_ROWS, DETECTION_COLUMNS, DETECTION_FINAL, DETECTION_GRIDS,
               DETECTION_MAPS } DetectionForm;
typedef enum { DETECTION_CORNERS, DETECTION_CENTRES, DETECTION_CELLS, DETECTION_DISTANCES, DETECTION_BINS } DetectionShape;

/* What makes a score of the numbers. */
typedef enum { DETECTION_AS_IS, DETECTION_SIGMOID, DETECTION_SOFTMAX } DetectionScale;

/* Outputs with a row for each cell of @stride pixels; DETECTION_NONE: there is none. */
typedef struct
{
  guint stride;
  int   boxes, scores, anything;
} DetectionGroup;

/**
 * DetectionLayout:
 * @background: the class that is no thing; DETECTION_NONE
 * @boxes, @scores, @classes: outputs, of maps the sizes, the classes, and where in a cell; DETECTION_NONE: there is none
 * @n_columns: of the boxes
 * @first_class, @n_classes: of one output the columns with scores of classes; of final boxes all stand in column @class_at
 * @box_at, @score_at, @class_at: of final boxes, columns
 * @in_parts: of maps: sizes are parts of the picture, not cells
 */
typedef struct
{
  DetectionForm  form;
  DetectionShape shape;
  DetectionScale scale;
  int            background, boxes, scores, classes;
  gsize          n_columns, first_class, n_classes, box_at, score_at, class_at;
  gboolean       in_parts;
  guint          n_groups;
  DetectionGroup groups[DETECTION_MOST_STRIDES];
} DetectionLayout;

/* @turned: a box is a column of the tensor */
typedef struct
{
  const VnTensor *tensor;
  gsize           n_rows, n_columns;
  gboolean        turned;
} DetectionMatrix;

typedef gboolean (*DetectionRowFunc) (const DetectionMatrix *matrix, gsize row);

gpointer detection_layout_recognize   (const VnTaskOutputs   *outputs);
gboolean detection_layout_get_matrix  (const VnTensor        *tensor,
                                       DetectionMatrix       *matrix);
gboolean detection_layout_get_scores  (const VnTensor        *tensor,
                                       gsize                  n,
                                       DetectionMatrix       *scores);
gboolean detection_layout_get_cells   (const VnTaskOutputs   *outputs,
                                       const VnTensor        *tensor,
                                       guint                  stride,
                                       DetectionMatrix       *matrix);
void     detection_layout_turn        (DetectionMatrix       *matrix);
double   detection_layout_get         (const DetectionMatrix *matrix,
                                       gsize                  row,
                                       gsize                  column);
gsize    detection_layout_count_cells (gint64                 size,
                                       guint                  stride);
gsize    detection_layout_count_grid  (const VnTaskOutputs   *outputs,
                                       guint                  stride);

/* What rows may be: of the numbers from column @from to before @to; of at least 99 of 100 rows. */
gboolean detection_are_scores         (const DetectionMatrix *matrix,
                                       gsize                  from,
                                       gsize                  to);
gboolean detection_holds              (const DetectionMatrix *matrix,
                                       DetectionRowFunc       func);
gboolean detection_row_has_corners    (const DetectionMatrix *matrix,
                                       gsize                  row);
gboolean detection_row_has_size       (const DetectionMatrix *matrix,
                                       gsize                  row);
gboolean detection_row_is_positive    (const DetectionMatrix *matrix,
                                       gsize                  row);
int      detection_find_classes       (const VnTaskOutputs   *outputs,
                                       gsize                  n,
                                       int                    scores);

/* The forms, in the order in which they are looked for. */
gboolean detection_find_maps          (const VnTaskOutputs   *outputs,
                                       DetectionLayout       *layout);
gboolean detection_find_boxes         (const VnTaskOutputs   *outputs,
                                       DetectionLayout       *layout);
gboolean detection_find_one           (const VnTaskOutputs   *outputs,
                                       DetectionLayout       *layout);
gboolean detection_find_grids         (const VnTaskOutputs   *outputs,
                                       DetectionLayout       *layout);

G_END_DECLS
