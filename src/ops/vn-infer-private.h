/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-op-private.h"

G_BEGIN_DECLS

gboolean vn_infer_plain   (VnModel     *model,
                           GHashTable  *input_shapes,
                           VnNotes     *notes,
                           GError     **error);
void     vn_infer_symbols (VnModel     *model);

G_END_DECLS
