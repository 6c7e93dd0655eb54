/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The histogram of an activation with its range, which can be moved, and the ranges that the methods would choose. */

#include "inspector-tensor.h"

#include <adwaita.h>

G_BEGIN_DECLS

/* Signals: settled (): nothing is being moved any more; ready (): the ranges are there. */
#define VN_TYPE_RANGE_EDITOR (vn_range_editor_get_type ())
G_DECLARE_FINAL_TYPE (VnRangeEditor, vn_range_editor, VN, RANGE_EDITOR, AdwBin)

GtkWidget *vn_range_editor_new       (VnDocument        *document,
                                      VnInspectedTensor *tensor);      /* (transfer full) */
gboolean   vn_range_editor_is_moving (VnRangeEditor     *self);

G_END_DECLS
