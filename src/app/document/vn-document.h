/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-bench-export.h"
#include "vn-bench-files.h"
#include "vn-bench-rules.h"
#include "vn-heat.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/**
 * VnDocument: the bench of one window, with what is selected of its network and how lists and graph are colored.
 *
 * Signals, without arguments, beside those of the bench:
 * - selection-changed
 * - metric-changed: what lists and graph color by
 */
#define VN_TYPE_DOCUMENT (vn_document_get_type ())
G_DECLARE_FINAL_TYPE (VnDocument, vn_document, VN, DOCUMENT, VnBench)

VnDocument *vn_document_new             (void);

GListModel *vn_document_get_nodes       (VnDocument *self);   /* of VnNodeItem, by index in the graph */
VnMetric    vn_document_get_metric      (VnDocument *self);
void        vn_document_set_metric      (VnDocument *self,
                                         VnMetric    metric);
void        vn_document_set_handles     (VnDocument    *self,
                                         VnMetric       metric,
                                         VnHeatHandles  handles);

/* ---- selection: indices of nodes in the graph ---- */

GtkBitset  *vn_document_get_selection   (VnDocument *self);
void        vn_document_select          (VnDocument *self,
                                         GtkBitset  *nodes);
void        vn_document_select_one      (VnDocument *self,
                                         guint       node);
void        vn_document_select_all      (VnDocument *self);
const char *vn_document_get_tensor      (VnDocument *self);   /* NULL: none; selected instead of nodes */
void        vn_document_select_tensor   (VnDocument *self,
                                         const char *name);   /* nullable */
gboolean    vn_document_select_next     (VnDocument *self,
                                         gboolean    forward);
gboolean    vn_document_select_next_bad (VnDocument *self,
                                         gboolean    forward);
void        vn_document_grow_selection  (VnDocument *self,
                                         const char *way);

/* ---- what settings and what is installed have a part in ---- */

gboolean    vn_document_open_demo       (VnDocument *self);
void        vn_document_use_folder      (VnDocument *self,
                                         const char *path);

/* ---- rules for nodes ---- */

guint       vn_document_set_precision   (VnDocument      *self,
                                         GtkBitset       *nodes,
                                         VnNodePrecision  precision);
gboolean    vn_document_add_region      (VnDocument      *self,
                                         GtkBitset       *nodes,
                                         VnNodePrecision  precision);

G_END_DECLS
