/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a kind of pen is made of. */

#include "vn-pen.h"

G_BEGIN_DECLS

#define VN_PEN_LEVELS 32     /* of the scale of errors, besides 0, where a drawing can only name colours */

typedef struct
{
  void (*free)         (VnPen *self);
  void (*begin)        (VnPen *self, const char *id, const char *title);
  void (*begin_window) (VnPen *self, double x, double y, double width, double height);
  void (*end)          (VnPen *self);
  void (*move)         (VnPen *self, double x, double y);
  void (*line)         (VnPen *self, double x, double y);
  void (*curve)        (VnPen *self, const double controls[4], double x, double y);
  void (*close)        (VnPen *self);
  void (*paint)        (VnPen *self, const VnStroke *stroke);
  void (*rect)         (VnPen *self, double x, double y, double width, double height, double radius, const VnStroke *stroke);
  void (*circle)       (VnPen *self, double x, double y, double radius, const VnStroke *stroke);
  void (*text)         (VnPen *self, double x, double baseline, VnFont font, VnShade shade, const char *text);
  void (*locate)       (VnPen *self, double *x, double *y, double *width, double *height);   /* nullable */
} VnPenKind;

struct _VnPen
{
  const VnPenKind *kind;
  VnPenLinkFunc    link_func;    /* nullable */
  gpointer         link_data;
};

#define VN_PEN_ICON_COLORS 11u

extern const guint _vn_pen_icon_colors[VN_PEN_ICON_COLORS];

VnColor _vn_pen_find_color (VnShade           shade,
                            const VnPenTheme *theme);

G_END_DECLS
