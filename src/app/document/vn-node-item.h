/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-heat.h"
#include "vn-node-query.h"
#include "vn-run.h"

G_BEGIN_DECLS

/**
 * VnNodeItem: a node as lists and tables show it. Its "revision" changes whenever what was measured changes.
 */
#define VN_TYPE_NODE_ITEM (vn_node_item_get_type ())
G_DECLARE_FINAL_TYPE (VnNodeItem, vn_node_item, VN, NODE_ITEM, GObject)

struct _VnNodeItem
{
  GObject     parent_instance;

  /*< public, read-only >*/
  const VnNode *node;          /* borrowed: the document keeps the model */
  guint         index;         /* in the graph */
  char         *label;         /* its name everywhere: vn_node_dup_label() */
  const char   *name;          /* the same */
  char         *shape;         /* of the first output; "" if not known */
  guint64       weight_bytes;
  VnDType       precision;     /* of the output; UNDEFINED: nothing decided */
  gboolean      excluded;      /* by a rule of the recipe */
  gboolean      has_rule;      /* one of its own */
  gboolean      measured;
  const VnErrorRow *rated;     /* what it is counted by, of the result that the document shows; NULL: it does not count */
  double        metrics[VN_N_METRICS];
  VnMetric      metric;        /* that lists colour by and go by */
  VnHeatHandles handles;       /* of @metric, in this run */
  VnHeatHandles share_handles; /* of the contribution, in this run */
  guint64       n_bad;
  double        local_db;      /* of rounding the node alone; NaN: not measured */

  /*< private >*/
  guint         revision;
};

VnNodeItem *vn_node_item_new         (const VnNode   *node);
void        vn_node_item_update      (VnNodeItem     *self,
                                      VnRun          *result,
                                      const VnRecipe *recipe,
                                      int             rule,
                                      VnMetric        metric,
                                      VnHeatHandles   share_handles);
gboolean    vn_node_item_is_rated    (VnNodeItem     *self);
double      vn_node_item_get_axis    (VnNodeItem     *self);   /* vn_heat_axis() */
guint       vn_node_item_get_ticks   (VnNodeItem     *self);   /* vn_heat_ticks() */
const char *vn_node_item_get_band_id (VnNodeItem     *self);
char       *vn_node_item_format      (VnNodeItem     *self);
gboolean    vn_node_item_is_float    (VnNodeItem     *self);
void        vn_node_item_set_local   (VnNodeItem     *self,
                                      GHashTable     *local);
void        vn_node_item_set_handles (VnNodeItem     *self,
                                      VnHeatHandles   handles);
gboolean    vn_node_item_matches     (VnNodeItem     *self,
                                      const VnNodeQuery *query);
gboolean    vn_recipe_has_rule       (const VnRecipe *recipe,
                                      const char     *label);
gboolean    vn_recipe_excludes       (const VnRecipe *recipe,
                                      const VnNode   *node);
const char *vn_node_item_get_badge   (VnNodeItem     *self);

G_END_DECLS
