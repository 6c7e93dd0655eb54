/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What both networks answer to a sample, in words. @names: (nullable): of classes or letters. @side: 0: of the float network,
 * 1: of the quantized one. */

#include "vn-answers.h"

G_BEGIN_DECLS

char *vn_answer_words_dup_row     (const VnSampleAnswer *answer,
                                   char * const         *names);
char *vn_answer_words_dup_title   (const VnSampleAnswer *answer,
                                   char * const         *names,
                                   guint                 side);
char *vn_answer_words_dup_markup  (const VnSampleAnswer *answer,
                                   char * const         *names,
                                   guint                 side);     /* NULL: the picture says it all */
char *vn_answer_words_dup_spoken  (const VnSampleAnswer *answer,
                                   char * const         *names,
                                   guint                 side);
char *vn_answer_words_dup_summary (GPtrArray            *answers,
                                   const VnKept         *kept);

G_END_DECLS
