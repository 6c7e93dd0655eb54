/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies of samples, moved and mirrored: outputs of few numbers on few samples say little about an error. */
#pragma once

#include "vn-plan.h"

G_BEGIN_DECLS

guint     vn_judge_get_most_copies (VnPlan       *plan);
guint     vn_judge_count_copies (VnPlan          *plan,
                                 guint            n_samples);
VnTensor *vn_judge_make_copy    (const VnTensor  *tensor,
                                 guint            copy,
                                 GError         **error);
guint     vn_judge_count_near_copies (VnPlan     *plan);
VnTensor *vn_judge_make_near_copy (const VnTensor *tensor,
                                 guint            copy,
                                 GError         **error);

G_END_DECLS
