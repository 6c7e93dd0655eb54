/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the files of the painter share: the frame of one drawing, text, and the looks of nodes. */

#include "vn-graph-painter.h"

#include <pango/pangocairo.h>

G_BEGIN_DECLS

#define FAMILY_EDGE   6.    /* at the left of a box, in the color of its family */
#define BOX_RADIUS    8.
#define ARROW_SIZE    7.
#define TICK_WIDTH    2.
#define TICK_HEIGHT   9.
#define TICKS_WIDTH  14.    /* four ticks, 2 px wide and apart */

/* Font sizes in px at 100 %. */
typedef enum
{
  TEXT_OP,        /* bold 13 */
  TEXT_SMALL,     /* 11 */
  TEXT_NAME,      /* 11, shortened in the middle, last part whole */
  TEXT_VALUE,     /* bold 11 */
  TEXT_BADGE,     /* bold 10 */
  TEXT_PILL,      /* bold 12 */
  TEXT_OP_MIDDLE, /* bold 12.5, in screen pixels */
  TEXT_FAR,       /* bold 10, in screen pixels; smaller where it does not fit */
  N_TEXT_STYLES
} TextStyle;

struct _VnGraphPainter
{
  VnScene            *scene;
  VnGraphLayout           *layout;
  const VnGraphIndex *index;
  VnOverlay          *overlay, *fade_from;
  double              fade;
  VnGroups           *groups;
  VnGraphTheme        theme;
  char               *font;
  PangoContext       *context;
  PangoFontDescription *fonts[N_TEXT_STYLES];
  GHashTable         *texts;      /* TextKey -> PangoLayout */
  GArray             *found;      /* of guint, scratch */
  GArray             *rects;      /* of FarRect, scratch */
};

/**
 * Paint: one drawing. The context is scaled to world units; @px is one screen pixel in them.
 */
typedef struct
{
  VnGraphPainter *self;
  cairo_t        *cr;
  cairo_matrix_t  pixels;    /* of the context before it was scaled */
  VnGraphCamera   camera;
  VnGraphLevel    level;
  double          px;
  VnRect          area;
} Paint;

/* How a node is filled and written on. */
typedef struct
{
  const VnSceneNode   *node;
  const VnOverlayItem *item;      /* NULL: none */
  const VnOverlayNote *note;      /* of a closed group; NULL: none */
  VnRect               box;
  VnColor              fill, text;
  double               dim;       /* alpha of second-line text */
  gboolean             is_bad, is_excluded;
  VnSceneMark          mark;
} Look;

Paint        vn_paint_begin          (VnGraphPainter   *self,
                                      cairo_t          *cr,
                                      VnGraphCamera     camera,
                                      double            width,
                                      double            height);
void         vn_paint_end            (Paint            *paint);
void         vn_paint_set_color      (Paint            *paint,
                                      VnColor           color,
                                      double            alpha);
void         vn_paint_set_ink        (Paint            *paint,
                                      double            alpha);
void         vn_paint_rounded        (Paint            *paint,
                                      VnRect            box,
                                      double            radius,
                                      double            outset);
Look         vn_paint_look           (Paint            *paint,
                                      guint             node);

void         vn_paint_texts_init     (VnGraphPainter   *self);
void         vn_paint_texts_clear    (VnGraphPainter   *self);
void         vn_paint_texts_trim     (VnGraphPainter   *self);
PangoLayout *vn_paint_text           (Paint            *paint,
                                      TextStyle         style,
                                      const char       *text,
                                      double            max_width,
                                      double           *width);
void         vn_paint_show           (Paint            *paint,
                                      PangoLayout      *layout,
                                      double            x,
                                      double            baseline);
void         vn_paint_show_middle    (Paint            *paint,
                                      PangoLayout      *layout,
                                      double            x,
                                      double            middle);

void         vn_paint_node           (Paint            *paint,
                                      const Look       *look);
double       vn_paint_value          (Paint            *paint,
                                      const Look       *look,
                                      double            right,
                                      double            baseline,
                                      gboolean          with_unit);
void         vn_paint_ticks          (Paint            *paint,
                                      const Look       *look,
                                      double            right,
                                      double            middle,
                                      double            scale);
void         vn_paint_outline        (Paint            *paint,
                                      const Look       *look);
void         vn_paint_middle_text    (Paint            *paint,
                                      const Look       *look);
void         vn_paint_group          (Paint            *paint,
                                      const Look       *look);
void         vn_paint_frames         (Paint            *paint);
void         vn_paint_frame_titles   (Paint            *paint);
void         vn_paint_frame_hover    (Paint            *paint,
                                      guint             group);
void         vn_paint_mark           (Paint            *paint,
                                      const Look       *look);
void         vn_paint_far_mark       (Paint            *paint,
                                      VnSceneMark       mark,
                                      double            x,
                                      double            y,
                                      double            width,
                                      double            height);
void         vn_paint_far_nodes      (Paint            *paint,
                                      const GArray     *nodes);
void         vn_paint_edges          (Paint            *paint);
void         vn_paint_edge           (Paint            *paint,
                                      guint             edge,
                                      double            width,
                                      VnColor           color,
                                      double            alpha);
void         vn_paint_stub           (Paint            *paint,
                                      const VnGraphLayoutStub *stub,
                                      gboolean          hovered);
VnPoint      vn_paint_point_on_route (const VnPoint    *points,
                                      guint             n_points,
                                      double            y,
                                      gboolean          last);

G_END_DECLS
