/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Networks that leave sizes of their input open, for tests. */

#include "vn-graph-edit.h"

G_BEGIN_DECLS

/* “image” float32[1,3,H,W]: halved and made twice as large again, then added to what it was: sizes must be even. */
VnModel *open_model_pictures (void);
/* “words” float32[batch,length,4] times a matrix: takes every size. */
VnModel *open_model_words    (void);
/* The same in both branches of an If, with other matrices: “then_branch” where the mean is positive. */
VnModel *open_model_branches (void);

G_END_DECLS
