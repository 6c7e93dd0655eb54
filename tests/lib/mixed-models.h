/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small networks that hold an operator of nearly every kind that settings of a recipe speak of. */
#pragma once

#include "vn-graph-edit.h"

G_BEGIN_DECLS

/* Convolutions in pairs, pools, clamps, gates, Concat, Pad, Slice, Split, Add, normalizations, Gemm. */
VnModel *mixed_model_pictures (void);
/* Products with and without constants, Gather, LayerNormalization written out and not, Softmax, Where. */
VnModel *mixed_model_words    (void);
/* A chain of convolutions of which one has a bias far too large for its weights. */
VnModel *mixed_model_biased   (void);

G_END_DECLS
