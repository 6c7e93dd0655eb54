/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Samples that networks are evaluated on: which, and what processes that share them tell each other of each. */

#include "evaluate-outputs.h"
#include "vn-compare.h"
#include "vn-kept-meter.h"

G_BEGIN_DECLS

guint    *evaluate_share_list_samples (const VnCompareOptions *options,
                                       guint                   n);
GBytes   *evaluate_share_pack         (const EvaluateOutputs  *outputs,
                                       gsize                   first,
                                       guint                   n,
                                       gconstpointer           answers,
                                       gsize                   answer_size,
                                       GVariant               *kept);
gboolean  evaluate_share_take         (EvaluateOutputs        *outputs,
                                       gsize                   first,
                                       guint                   n,
                                       gpointer                answers,
                                       gsize                   answer_size,
                                       VnKeptMeter            *meter,
                                       gconstpointer           bytes,
                                       gsize                   size,
                                       GError                **error);

G_END_DECLS
