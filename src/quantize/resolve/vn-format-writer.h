/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Who writes which format: one object for each line of vn-formats.def, in the file of `write` that writes it. */

#include "vn-quant-plan.h"
#include "vn-quantize.h"

G_BEGIN_DECLS

/**
 * VnFormatWriter:
 * @has_operator: (nullable): whether the format can do something with a node; NULL: with all
 * @write: writes @plan into @model, a copy of the prepared network, which it changes in place
 */
typedef struct
{
  gboolean (*has_operator) (const VnWriteScheme *scheme,
                            const VnNode        *node);
  gboolean (*write)        (VnModel             *model,
                            const VnWriteScheme *scheme,
                            VnQuantPlan         *plan,
                            GHashTable          *value_names,
                            GError             **error);
} VnFormatWriter;

#define VN_FORMAT(SYMBOL, id, ...) extern const VnFormatWriter vn_format_writer_##id;
#include "vn-formats.def"
#undef VN_FORMAT

const VnFormatWriter *vn_format_get_writer (VnFormat format);

G_END_DECLS
