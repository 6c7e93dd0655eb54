/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Errors of nodes for Model Explorer: node data of one metric in a file. */

#include "vn-file-set.h"
#include "vn-run.h"

G_BEGIN_DECLS

#define VN_NODE_DATA_FORM "node-data"

char    *vn_node_data_make        (VnRun       *run,
                                   VnMetric     metric);
void     vn_node_data_add_outputs (VnFileSet   *files,
                                   const char  *folder);
gboolean vn_node_data_write       (VnRun       *run,
                                   const char  *folder,
                                   GError     **error);

G_END_DECLS
