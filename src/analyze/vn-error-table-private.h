/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-compare.h"

G_BEGIN_DECLS

VnErrorTable *_vn_error_table_new (guint         n_samples);
void          _vn_error_table_add (VnErrorTable *self,
                                   VnErrorRow   *row);

G_END_DECLS
