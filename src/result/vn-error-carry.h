/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What an error on all samples would come to with a change that was measured on a few. */

#include "vn-error-table.h"

G_BEGIN_DECLS

VnErrorRow *vn_error_row_new_carried (const VnErrorRow *measured,    /* nullable */
                                      const VnErrorRow *before,      /* nullable */
                                      const VnErrorRow *after);

G_END_DECLS
