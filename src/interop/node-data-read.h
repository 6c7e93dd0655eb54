/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The forms of files that give numbers of nodes. Each adds to a VnNodeData, or says what is wrong and where; the name of the file
 * is put before that. */

#include "vn-node-data.h"

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

GPtrArray *_vn_node_data_list_graphs   (void);
void       _vn_node_data_free_datum    (gpointer     datum);
GPtrArray *_vn_node_data_add_graph     (VnNodeData  *self,
                                        const char  *id);       /* nullable */
void       _vn_node_data_add           (GPtrArray   *data,
                                        const char  *name,
                                        const char  *op_type,   /* nullable */
                                        double       value);
void       _vn_node_numbers_take_fused (VnNodeNumbers *self,
                                        const VnGraph *graph);
gboolean   _vn_node_data_is_profile    (JsonNode    *root);
gboolean   _vn_node_data_read_profile  (VnNodeData  *self,
                                        JsonNode    *root,
                                        GError     **error);
gboolean   _vn_node_data_read_explorer (VnNodeData  *self,
                                        JsonNode    *root,
                                        GError     **error);
gboolean   _vn_node_data_read_table    (VnNodeData  *self,
                                        const char  *text,      /* UTF-8, ends with a NUL */
                                        GError     **error);

G_END_DECLS
