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
 *   final           one output, [1, N, 6 or more] of corners, score, class; [N, 6] of class, score, corners; [N, 7] of a
 *                   picture's number in front of corners, class, score, or of class, score, corners; or [1, N, 5] of corners and
 *                   score beside N whole numbers that are the classes.
 *   grids           outputs for at least two of the cells of 4, 8, ... 128 pixels, a row for each cell: C scores, perhaps one
 *                   more score that they are multiplied with, and boxes: 4 distances to the sides if none is negative, else
 *                   offset and logarithm of the size (YuNet); or 4 times so many numbers whose softmax tells of the
 *                   distances 0, 1, 2, ... (NanoDet, PicoDet).
 *   maps            [1, C, H, W] of scores, or logits, beside [1, 2, H, W] of sizes and perhaps another of where in the cell
 *                   (CenterNet): a box where a score is the highest of its neighbors.
 *
 * Overlaps do not depend on the unit, nor on where the centres of cells lie, so neither is asked for. */
#include "detection-layout.h"

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
