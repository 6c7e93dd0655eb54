/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What runs inside a node: bodies of If, Loop and Scan, and of the functions of a model. */

#include "vn-model.h"

G_BEGIN_DECLS

/**
 * VnBody:
 * @attr: the attribute that holds it: "then_branch"; "" is the function that the node calls
 * @n_nodes: that it has, with those inside them
 */
typedef struct
{
  char  *attr;
  guint  n_nodes;
} VnBody;

gboolean   vn_node_has_bodies          (const VnNode   *node);
GPtrArray *vn_node_list_bodies         (const VnNode   *node);
guint      vn_graph_count_inner_nodes  (const VnGraph  *graph);
VnModel   *vn_model_new_for_body       (const VnNode   *node,
                                        const char     *attr,
                                        GError        **error);

G_END_DECLS
