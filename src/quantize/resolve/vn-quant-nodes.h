/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What single nodes and their weights allow, for resolving and writing. */

#include "vn-quant-scheme.h"

G_BEGIN_DECLS

gboolean   vn_quant_is_conversion   (const VnNode *node);
gboolean   vn_quant_is_half_input   (const VnNode *node,
                                     guint i);
gboolean   vn_quant_is_single       (const VnValue *value);
GHashTable *vn_quant_find_positions (const VnGraph *graph);
gboolean   vn_quant_can_be_half     (const VnNode *node,
                                     VnDType dtype,
                                     GHashTable *positions);
VnTensor   *vn_quant_to_half        (VnTensor *data,
                                     VnDType dtype,
                                     gsize *n_clipped,
                                     gsize *n_raised,
                                     GError **error);
gboolean   vn_quant_has_nbits       (const VnNode *node);       /* resolve-tables.c */
gboolean   vn_quant_has_table       (const VnNode *node);
gboolean   vn_quant_is_head         (const VnNode *node);
gboolean   vn_quant_is_router       (const VnNode *node);
int        vn_quant_get_sum_axis    (const VnNode *node);
int        vn_quant_get_channel_axis (const VnNode *node);
gboolean   vn_quant_has_weight      (const VnWriteScheme *scheme,
                                     const VnNode        *node);
gboolean   vn_quant_is_sorted       (const VnGraph *graph);
guint      vn_quant_count_uses      (const VnValue *value);
gboolean   vn_quant_has_uses        (const VnValue *value);
gboolean   vn_quant_has_unit_range  (const VnNode *node);
gint64     vn_quant_get_since       (const VnNode *node);

G_END_DECLS
