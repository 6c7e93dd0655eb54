/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a detector and its quantized version find in each sample. */

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

#define VN_NO_PARTNER G_MAXUINT

/**
 * VnSampleAnswer: boxes of one sample, in pixels of the network's input.
 * @sample: index in the data set
 * @height, @width: of the input; 0: not known
 * @first, @other: (element-type VnDetection): of the float network, the best first, and of the quantized one
 * @partners: (element-type guint): by box of @first: the one of @other that keeps it, or %VN_NO_PARTNER: it is lost
 */
typedef struct
{
  guint   sample;
  gint64  height, width;
  GArray *first, *other, *partners;
} VnSampleAnswer;

void  vn_sample_answer_free       (VnSampleAnswer       *self);
guint vn_sample_answer_count_kept (const VnSampleAnswer *self);
guint vn_sample_answer_find_owner (const VnSampleAnswer *self,
                                   guint                 other);   /* VN_NO_PARTNER: the quantized network added it */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnSampleAnswer, vn_sample_answer_free)

G_END_DECLS
