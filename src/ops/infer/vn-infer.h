/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-model.h"

G_BEGIN_DECLS

/**
 * VnInferOptions:
 * @input_shapes: (nullable): as vn_model_infer_types()
 * @auto_merge: where two open sizes must be the same or one of them 1, they are the same
 * @guess_rank: outputs of operators that are not known have the rank of the first input
 * @int_max: ends of Slice from here on mean “to the end” of an open size; 0: what exporters write
 */
typedef struct
{
  GHashTable *input_shapes;
  gboolean    auto_merge;
  gboolean    guess_rank;
  gint64      int_max;
} VnInferOptions;

gboolean vn_model_infer_types_with (VnModel              *model,
                                    const VnInferOptions *options,
                                    VnNotes              *notes,
                                    GError              **error);

G_END_DECLS
