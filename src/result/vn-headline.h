/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The figure that a run is judged by, so that what a change gains is told on the same scale. */

#include "vn-task.h"

G_BEGIN_DECLS

/* What a verdict rests on. */
typedef enum
{
  VN_HEADLINE_OUTPUTS,    /* signal to noise of the worst output */
  VN_HEADLINE_ANSWERS,    /* what is kept of the answers */
  VN_HEADLINE_HITS,       /* labeled samples that are right */
} VnHeadlineKind;

/**
 * VnHeadline: figures of a run, of each kind. A value: it borrows nothing.
 * @worst_db: signal to noise of the worst output, in dB; NaN: not measured
 * @kept: of the answers; of %VN_TASK_OTHER where nothing is known
 * @n_labeled, @n_right: samples with a label, and those of them that the quantized network gets right; 0: none has one
 */
typedef struct
{
  double worst_db;
  VnKept kept;
  guint  n_labeled, n_right;
} VnHeadline;

void     vn_headline_clear       (VnHeadline       *self);
double   vn_headline_get         (const VnHeadline *self,
                                  VnHeadlineKind    kind);
double   vn_headline_get_gain    (const VnHeadline *before,
                                  const VnHeadline *after,
                                  VnHeadlineKind    kind);
char    *vn_headline_dup_gain    (const VnHeadline *before,
                                  const VnHeadline *after,
                                  VnHeadlineKind    kind);
char    *vn_headline_dup_count   (const VnHeadline *before,
                                  const VnHeadline *after,
                                  VnHeadlineKind    kind);

G_END_DECLS
