/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "inspector-tensor.h"
#include "vn-document.h"
#include "vn-histogram-view.h"
#include "vn-node-item.h"

G_BEGIN_DECLS

/* The sections of the inspector: each function returns a floating widget, or NULL where there is nothing
 * to say. */

GtkWidget *vn_inspector_model         (VnModel      *model);
GtkWidget *vn_inspector_file          (VnModel      *model);
GtkWidget *vn_inspector_description   (const char   *text);
GtkWidget *vn_inspector_metadata      (VnModel      *model);
GtkWidget *vn_inspector_values        (VnDocument   *document,
                                       const char   *title,
                                       GPtrArray    *values);
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
GtkWidget *vn_inspector_output        (VnDocument   *document,
                                       VnNodeItem   *item);
GtkWidget *vn_inspector_attributes    (const VnNode *node);
GtkWidget *vn_inspector_bodies        (const VnNode *node,
                                       VnRun        *run);
GtkWidget *vn_inspector_weights       (VnDocument   *document,
                                       VnNodeItem   *item);
GtkWidget *vn_inspector_constant      (VnDocument    *document,
                                       const VnValue *value);
GtkWidget *vn_inspector_activations   (VnDocument        *document,
                                       VnInspectedTensor *tensor,
                                       GtkWidget        **editor);
GtkWidget *vn_inspector_channels      (VnDocument        *document,
                                       VnInspectedTensor *tensor);
GtkWidget *vn_inspector_weight_channels (VnDocument      *document,
                                         VnNodeItem      *item,
                                         VnChannelRanges *ranges);
GtkWidget *vn_inspector_tensor        (VnDocument        *document,
                                       VnInspectedTensor *tensor);
GtkWidget *vn_inspector_tensor_ends   (VnDocument        *document,
                                       const VnValue     *value);
char      *vn_inspector_dup_way       (VnDocument        *document,
                                       const VnValue     *value);
GtkWidget *vn_inspector_shared        (VnDocument   *document,
                                       GtkBitset    *selection);
GtkWidget *vn_inspector_region        (VnDocument   *document,
                                       GtkBitset    *selection);

G_END_DECLS
