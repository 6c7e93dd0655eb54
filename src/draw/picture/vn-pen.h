/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What charts and pictures draw with: on cairo, for the window and for PDF, or as SVG, for HTML. Colours are named by what they
 * stand for, so that the same drawing serves light and dark. */

#include "vn-color.h"

G_BEGIN_DECLS

/* What a colour stands for. Of some, @t of the shade says where on their scale. */
typedef enum
{
  VN_TONE_NONE,
  VN_TONE_INK,          /* text and lines */
  VN_TONE_CANVAS,       /* what is drawn on */
  VN_TONE_ACCENT,
  VN_TONE_EXCLUDED,     /* left in float */
  VN_TONE_ERROR,        /* the scale of errors */
  VN_TONE_ON_ERROR,     /* text on that */
  VN_TONE_ICON,         /* a colour of the program's icon, by its number: the same on any page */
  VN_N_TONES
} VnTone;

typedef struct { VnTone tone; double alpha, t; } VnShade;

#define VN_SHADE_NONE ((VnShade) { VN_TONE_NONE, 0, 0 })
#define VN_INK(alpha) ((VnShade) { VN_TONE_INK, (alpha), 0 })
#define VN_SHADE(TONE, alpha) ((VnShade) { VN_TONE_##TONE, (alpha), 0 })
#define VN_SHADE_AT(TONE, t) ((VnShade) { VN_TONE_##TONE, 1, (t) })

/**
 * VnStroke: how a shape is drawn.
 * @width: of the line
 * @dashes: (nullable): lengths, @n_dashes of them
 */
typedef struct
{
  VnShade       fill, line;
  double        width;
  const double *dashes;
  guint         n_dashes;
} VnStroke;

typedef enum { VN_ANCHOR_START, VN_ANCHOR_MIDDLE, VN_ANCHOR_END } VnAnchor;

/**
 * VnFont: a line of text.
 * @size: in units of the drawing
 */
typedef struct
{
  double   size;
  gboolean bold;
  VnAnchor anchor;
} VnFont;

/**
 * VnPenTheme: the colours of a drawing.
 * @font: family; %NULL: "Cantarell"
 */
typedef struct
{
  gboolean    dark;
  VnColor     ink, canvas, accent;
  const char *font;
} VnPenTheme;

extern const VnPenTheme vn_pen_theme_light;
extern const VnPenTheme vn_pen_theme_dark;

typedef struct _VnPen VnPen;

/**
 * VnPenLink: what is drawn of a node, for those who click on it.
 * @x, @y, @width, @height: in units of what the pen draws on
 * @node: index in the graph
 * @title: what is said of it
 * @t: how bad it is, 0 … 1
 */
typedef struct
{
  double      x, y, width, height;
  guint       node;
  const char *title;
  double      t;
} VnPenLink;

typedef void (*VnPenLinkFunc) (const VnPenLink *link,
                               gpointer         data);

struct _PangoLayout;
struct _cairo;

/* Only builds that write PDF have this one. */
VnPen   *vn_pen_new_cairo    (struct _cairo    *cr,
                              const VnPenTheme *theme);
VnPen   *vn_pen_new_svg      (GString          *text);
void     vn_pen_set_up_text  (struct _PangoLayout *layout);
void     vn_pen_free         (VnPen            *self);
void     vn_pen_append_css   (GString          *text,
                              gboolean          dark);

void     vn_pen_set_link_func (VnPen           *self,
                              VnPenLinkFunc     func,
                              gpointer          data);
void     vn_pen_link         (VnPen            *self,
                              const VnPenLink  *link);
void     vn_pen_begin        (VnPen            *self,
                              const char       *id,          /* nullable */
                              const char       *title);      /* nullable */
void     vn_pen_begin_window (VnPen            *self,
                              double            x,
                              double            y,
                              double            width,
                              double            height);
void     vn_pen_end          (VnPen            *self);
void     vn_pen_move         (VnPen            *self,
                              double            x,
                              double            y);
void     vn_pen_line         (VnPen            *self,
                              double            x,
                              double            y);
void     vn_pen_curve        (VnPen            *self,
                              const double      controls[4],
                              double            x,
                              double            y);
void     vn_pen_close        (VnPen            *self);
void     vn_pen_paint        (VnPen            *self,
                              const VnStroke   *stroke);
void     vn_pen_rect         (VnPen            *self,
                              double            x,
                              double            y,
                              double            width,
                              double            height,
                              double            radius,
                              const VnStroke   *stroke);
void     vn_pen_circle       (VnPen            *self,
                              double            x,
                              double            y,
                              double            radius,
                              const VnStroke   *stroke);
void     vn_pen_text         (VnPen            *self,
                              double            x,
                              double            baseline,
                              VnFont            font,
                              VnShade           shade,
                              const char       *text);

double   vn_pen_measure      (const char       *text,
                              double            size,
                              gboolean          bold);
char    *vn_pen_shorten      (const char       *text,
                              double            size,
                              gboolean          bold,
                              double            width);

/* Text for people out of names that files give: no bytes that are no text, no characters that act on others. */
char    *vn_pen_dup_clean    (const char       *text);
void     vn_pen_append_markup (GString         *text,
                              const char       *plain);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnPen, vn_pen_free)

G_END_DECLS
