/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-compare.h"
#include "vn-error-sum.h"

G_BEGIN_DECLS

VnErrorTable *_vn_error_table_new (guint         n_samples);
void          _vn_error_table_add (VnErrorTable *self,
                                   VnErrorRow   *row);
void          _vn_error_table_add_weight (VnErrorTable     *self,
                                          const char       *name,
                                          const VnNode     *user,
                                          const VnErrorSum *sum);
void          _vn_error_table_sort_weights (VnErrorTable  *self);
void          _vn_error_row_set   (VnErrorRow       *row,
                                   const VnErrorSum *sum);

G_END_DECLS
