/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Boxes that detectors give: overlap, non-maximum suppression, and which of them another network has as well. */

#include <glib.h>

G_BEGIN_DECLS

/**
 * VnDetection: an axis-parallel box.
 * @x1, @y1, @x2, @y2: corners, in any unit
 * @label: number of the class
 */
typedef struct
{
  double x1, y1, x2, y2;
  double score;
  guint  label;
} VnDetection;

double vn_detection_get_iou   (const VnDetection *a,
                               const VnDetection *b);
void   vn_detections_suppress (GArray            *self);      /* of VnDetection */
void   vn_detections_match    (GArray            *first,
                               GArray            *other,
                               guint             *n_kept,
                               guint             *n_added);

G_END_DECLS
