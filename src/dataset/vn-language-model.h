/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Whether a network is a language model: the one place that decides it, for presets, samples and figures alike. */

#include "vn-model.h"

G_BEGIN_DECLS

gint64   vn_model_find_vocabulary   (const VnModel *model);
gboolean vn_model_is_language_model (const VnModel *model);
gboolean vn_value_counts_vocabulary (const VnValue *output);

G_END_DECLS
