/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a network and its quantized version answer to each sample. */

#include "vn-task.h"

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

/* A class, and what the network gives it. */
typedef struct
{
  guint  label;
  double score;
} VnClassScore;

#define VN_NO_PARTNER G_MAXUINT

/* What is kept of each sample is bounded: of all masks together VN_ANSWERS_MOST_BYTES, and each is scaled to at most
 * VN_ANSWER_MOST_PIXELS, what a picture beside another shows; VN_MOST_DETECTIONS boxes, VN_ANSWER_MOST_CLASSES classes, and
 * VN_ANSWER_MOST_SYMBOLS letters or tokens of each network. */
#define VN_ANSWERS_MOST_BYTES  (48u << 20)
#define VN_ANSWER_MOST_PIXELS  (320u * 320u)
#define VN_ANSWER_MOST_CLASSES      5u
#define VN_ANSWER_MOST_SYMBOLS 512u

/**
 * VnAnswerForm: what is kept of an answer, which is the type of the elements of both sides.
 * @VN_ANSWER_FIGURES: nothing but figures
 * @VN_ANSWER_BOXES: VnDetection, the best first, in pixels of the input of the network
 * @VN_ANSWER_MASK: guint16: the class of each pixel of the mask, scaled down, row by row
 * @VN_ANSWER_SCORES: VnClassScore, the best first
 * @VN_ANSWER_SYMBOLS: guint: letters or tokens by their numbers
 */
typedef enum
{
  VN_ANSWER_FIGURES, VN_ANSWER_BOXES, VN_ANSWER_MASK, VN_ANSWER_SCORES, VN_ANSWER_SYMBOLS
} VnAnswerForm;

/**
 * VnSampleAnswer: both answers to one sample.
 * @sample: index in the data set
 * @name: (nullable): of the sample
 * @kept: what is kept of this sample alone
 * @height, @width: of the picture that the network takes; 0: not known
 * @mask_height, @mask_width: of both masks
 * @n_classes: that labels and symbols are numbers of; 0: not known
 * @background: the first class is none: of a detector that says so
 * @first_counts: of a mask: the first class that counts for what is kept; those before are background
 * @first, @other: (nullable): of the float network, and of the quantized one: as @form says
 * @partners: (nullable) (element-type guint): by box or symbol of @first: the one of @other that keeps it, or %VN_NO_PARTNER: it
 *   is lost
 */
typedef struct
{
  guint        sample;
  char        *name;
  VnKept       kept;
  VnAnswerForm form;
  gint64       height, width;
  guint        mask_height, mask_width;
  guint        n_classes, first_counts;
  gboolean     background;
  GArray      *first, *other, *partners;
} VnSampleAnswer;

GPtrArray      *vn_sample_answers_new       (void);
GPtrArray      *vn_sample_answers_dup_figures (GPtrArray          *answers);
GPtrArray      *vn_sample_answers_sort      (GPtrArray            *answers);
VnSampleAnswer *vn_sample_answer_new        (guint                 sample,
                                             const VnKept         *kept);
void            vn_sample_answer_free       (VnSampleAnswer       *self);
guint           vn_sample_answer_count_kept (const VnSampleAnswer *self);
guint           vn_sample_answer_find_owner (const VnSampleAnswer *self,
                                             guint                 other);   /* VN_NO_PARTNER: the quantized network added it */
void            vn_sample_answer_align      (VnSampleAnswer       *self);
int             vn_sample_answer_compare    (const VnSampleAnswer *self,
                                             const VnSampleAnswer *other);
gboolean        vn_sample_answer_is_whole   (const VnSampleAnswer *self);
const char     *vn_sample_answer_find_name  (const VnSampleAnswer *self,
                                             char * const         *names,    /* nullable */
                                             guint                 label);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnSampleAnswer, vn_sample_answer_free)

G_END_DECLS
