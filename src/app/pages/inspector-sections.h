/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-document.h"
#include "vn-histogram-view.h"
#include "vn-node-item.h"

G_BEGIN_DECLS

/* The sections of the inspector: each function returns a floating widget, or NULL where there is nothing
 * to say. */

GtkWidget *vn_inspector_error_card    (VnDocument   *document,
                                       VnNodeItem   *item);
GtkWidget *vn_inspector_origins       (VnDocument   *document,
                                       VnNodeItem   *item);
GtkWidget *vn_inspector_cures         (VnDocument   *document,
                                       VnNodeItem   *item);
GtkWidget *vn_inspector_unsupported   (const VnNode *node);
GtkWidget *vn_inspector_actions       (gboolean      can_widen,
                                       gboolean      can_exclude,
                                       gboolean      can_restore);
GtkWidget *vn_inspector_output        (VnResult     *result,
                                       VnNodeItem   *item);
GtkWidget *vn_inspector_attributes    (const VnNode *node);
GtkWidget *vn_inspector_inputs        (const VnNode *node);
GtkWidget *vn_inspector_outputs       (const VnNode *node);
GtkWidget *vn_inspector_weights       (const VnNode *node,
                                       GtkWidget   **chart);
GtkWidget *vn_inspector_activations   (VnResult     *result,
                                       VnNodeItem   *item,
                                       GtkWidget   **chart,
                                       GtkWidget   **table);
GtkWidget *vn_inspector_shared        (VnDocument   *document,
                                       GtkBitset    *selection);
GtkWidget *vn_inspector_region       (const VnGraph    *graph,
                                       const VnRecipe   *recipe,
                                       GtkBitset        *selection);
VnValue   *vn_inspector_find_weight   (const VnNode *node);

G_END_DECLS
