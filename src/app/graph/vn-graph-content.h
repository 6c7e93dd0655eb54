/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a graph view shows: a network, or what is left of it while groups are closed, with its layout and its colors. Knows
 * nothing of widgets, nor of what is selected. Boxes are those of the shown scene; nodes are those of the whole one. */

#include "vn-alignment.h"
#include "vn-graph-index.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/* Signals:
 *   shown ()                       other boxes are there, or the same ones of another network
 *   opened ()                      after that: they are a network that was not shown before
 *   cleared ()                     after that: they are none
 *   refolded (const VnGraphBefore *)   after that: they are the same network with other groups open
 *   failed (const char *message)   a network could not be laid out; the old one stays
 *   overlay-changed (VnOverlay *before)   other colors of the same boxes */
#define VN_TYPE_GRAPH_CONTENT (vn_graph_content_get_type ())
G_DECLARE_FINAL_TYPE (VnGraphContent, vn_graph_content, VN, GRAPH_CONTENT, GObject)


/**
 * VnGraphContent: others read its first fields.
 */
struct _VnGraphContent
{
  GObject          parent_instance;

  VnScene         *whole;             /* (nullable): all nodes, none in a closed group */
  VnOverlay       *whole_overlay;
  VnGroups        *groups;            /* or NULL */
  guint8          *open;              /* by group: wanted; NULL: groups are not shown */
  VnFold          *fold;              /* NULL: what is shown is the whole scene */
  VnScene         *scene;             /* (nullable): what is shown */
  VnGraphLayout   *layout;
  VnGraphIndex    *index;
  VnOverlay       *overlay;

  /*< private >*/
  VnAlignment     *alignment;         /* nullable: with the network beside it that it is laid out with */
  guint            side;              /* of @alignment */
  double           page;              /* width by height of the page that long networks are folded for; 0: they are not */
  VnFoldPlaces    *places;
  VnScene         *pending;           /* whole scene that is being laid out; maybe the present one */
  gboolean         opens;             /* what is pending is shown as a network that was not shown before */
  VnFold          *pending_fold;
  VnOverlay       *pending_overlay;
  guint            pending_anchor;    /* group that is not to jump */
  guint            pending_travel;    /* node that somebody wants to see, once it is shown */
  GCancellable    *cancellable;
};

/**
 * VnGraphBefore: what was shown until groups were opened or closed.
 * @fold, @layout: (nullable)
 * @anchor: group that is not to jump, or %VN_SCENE_NONE
 * @travel: node that somebody wants to see, or %VN_SCENE_NONE
 */
typedef struct
{
  VnFold        *fold;
  VnGraphLayout *layout;
  guint          anchor, travel;
} VnGraphBefore;

VnGraphContent *vn_graph_content_new          (void);
void         vn_graph_content_set_network     (VnGraphContent  *self,
                                               VnScene         *scene,     /* nullable */
                                               VnGroups        *groups);   /* nullable */
void         vn_graph_content_set_alignment   (VnGraphContent  *self,
                                               VnAlignment     *alignment,
                                               guint            side,
                                               const guint8    *open);     /* nullable */
void         vn_graph_content_set_page        (VnGraphContent  *self,
                                               double           page);
void         vn_graph_content_set_overlay     (VnGraphContent  *self,
                                               VnOverlay       *overlay);  /* nullable */
void         vn_graph_content_cancel          (VnGraphContent  *self);

/* ---- which box, which nodes ---- */

const guint *vn_graph_content_get_nodes       (VnGraphContent  *self,
                                               const guint     *box,
                                               guint           *n);
guint        vn_graph_content_get_node        (VnGraphContent  *self,
                                               guint            box);
guint        vn_graph_content_get_box         (VnGraphContent  *self,
                                               guint            node);
guint        vn_graph_content_get_n_nodes     (VnGraphContent  *self);
guint        vn_graph_content_get_n_boxes     (VnGraphContent  *self);
guint        vn_graph_content_find_frame      (VnGraphContent  *self,
                                               VnPoint          world);
guint        vn_graph_content_get_group       (VnGraphContent  *self,
                                               guint            box);
guint        vn_graph_content_get_parent      (VnGraphContent  *self,
                                               guint            box);
gboolean     vn_graph_content_is_group        (VnGraphContent  *self,
                                               guint            box);

/* ---- open groups (graph-content-open.c) ---- */

void         vn_graph_content_take_open       (VnGraphContent  *self,      /* vn-graph-content.c */
                                               guint8          *open,      /* transfer full, nullable */
                                               guint            anchor);
void         vn_graph_content_set_open        (VnGraphContent  *self,
                                               guint            group,
                                               gboolean         is_open);
gboolean     vn_graph_content_is_open         (VnGraphContent  *self,
                                               guint            group);
gboolean     vn_graph_content_set_grouped     (VnGraphContent  *self,
                                               gboolean         is_grouped);
gboolean     vn_graph_content_set_all_open    (VnGraphContent  *self,
                                               gboolean         is_open);
void         vn_graph_content_set_open_groups (VnGraphContent  *self,
                                               const guint8    *open);
void         vn_graph_content_open_for        (VnGraphContent  *self,
                                               guint            node);

G_END_DECLS
