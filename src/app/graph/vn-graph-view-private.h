/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The structure of the graph view, for the files of what it offers: they call its parts, and it calls none of them. */

#include "vn-graph-folding.h"
#include "vn-graph-input.h"
#include "vn-graph-view.h"

G_BEGIN_DECLS

/* Boxes are those of the shown scene; outside of the view, nodes are those of the whole one. */
struct _VnGraphView
{
  GtkWidget       parent_instance;

  VnGraphParts    parts;
  VnGraphFolding *folding;
  VnGraphInput   *input;
  guint           prefetch;          /* idle source */
  gboolean        holds_camera;      /* what is being laid out leaves the camera where it is */
  gboolean        wants_home;        /* what is being laid out is to be seen as it is first shown */

  VnOverlay      *fade_from;
  guint           fade_tick;
  gint64          fade_start;
};

G_END_DECLS
