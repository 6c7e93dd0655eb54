/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Boxes that detectors give: overlap, non-maximum suppression, and which of them another network has as well. */

#include "vn-answers.h"

G_BEGIN_DECLS

double vn_detection_get_iou   (const VnDetection *a,
                               const VnDetection *b);
void   vn_detections_suppress (GArray            *self);      /* of VnDetection */
GArray *vn_detections_pair    (GArray            *first,
                               GArray            *other);     /* of guint */
void   vn_detections_match    (GArray            *first,
                               GArray            *other,
                               guint             *n_kept,
                               guint             *n_added);

G_END_DECLS
