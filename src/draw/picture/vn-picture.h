/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Pictures of reports: data that knows how to draw itself with any pen, at any width.
 *
 * To add a chart in reports: a `VnPictureKind` in `src/draw/picture/picture-*.c`, drawn with a pen
 * (`src/draw/picture/vn-pen.h`: cairo and SVG follow); its function here; a line in `src/draw/meson.build`; the section
 * that adds it, as a table shows the same. */

#include "vn-curve.h"
#include "vn-graph-layout.h"
#include "vn-pen.h"
#include "vn-spread.h"

G_BEGIN_DECLS

/**
 * VnPicture: immutable.
 */
typedef struct _VnPicture VnPicture;

/**
 * VnPicturePoint: a tensor or a choice in a chart.
 * @x, @y: in the units of the axes; +infinity for @y is at the upper edge; one with NaN or another infinity is left out
 * @t: place on the scale of errors, 0 … 1; negative: none, it is drawn in the accent colour
 * @is_marked: drawn stronger: an output, or what was chosen
 * @is_hollow: expected, not measured; along a network: of a tensor in float
 * @is_square: of a tensor of 16 bit
 * @title: (nullable): what it is
 */
typedef struct
{
  double      x, y, t;
  gboolean    is_marked, is_hollow, is_square;
  const char *title;
} VnPicturePoint;

/**
 * VnPictureAxes: what a chart of points is drawn on.
 * @x_title, @y_title: translated
 * @lines: heights at which a dashed line stands, @n_lines of them; there is room for all
 * @top: (nullable): what +infinity means
 * @height: 0: as usual
 * @is_joined: points are joined in their order
 * @x_hidden: the x axis has no numbers: it says where in the network
 * @x_first, @x_last: (nullable): what stands at its ends then, translated
 * @y_falls: the numbers of the y axis are 10 to the power of less @y: the smaller, the higher
 * @shades_last: what is below the last of @lines has a grey ground
 */
typedef struct
{
  const char   *x_title, *y_title;
  const double *lines;
  guint         n_lines;
  gboolean      is_joined, x_hidden;
  const char   *top;
  double        height;
  const char   *x_first, *x_last;
  gboolean      shades_last, y_falls;
} VnPictureAxes;

/**
 * VnPictureBar: an amount beside others.
 * @title, @text: what it is, and how much, translated
 * @is_accent: the one that is asked about
 */
typedef struct
{
  const char *title, *text;
  double      amount;
  gboolean    is_accent;
} VnPictureBar;

#define VN_PICTURE_CHANNELS 4u

/**
 * VnPictureValues: how the values of an input are spread, by channel.
 * @n_channels: at most %VN_PICTURE_CHANNELS
 * @names: (array length=n_channels): of the channels, translated; %NULL: not named
 * @counts: (array length=n_channels): of @n_bins equal parts between @low and @high
 * @suits_low, @suits_high: what is marked; not marked unless the one is less than the other
 * @suits: (nullable): what that is, translated
 */
typedef struct
{
  guint         n_channels, n_bins;
  const char   *names[VN_PICTURE_CHANNELS];
  const double *counts[VN_PICTURE_CHANNELS];
  double        low, high, suits_low, suits_high;
  const char   *suits;
} VnPictureValues;

VnPicture  *vn_picture_new_network   (VnScene              *scene,
                                      VnOverlay            *overlay,
                                      const char * const   *limits);
VnPicture  *vn_picture_new_histogram (const VnSpread       *spread);
VnPicture  *vn_picture_new_points    (const VnPictureAxes  *axes,
                                      const VnPicturePoint *points,
                                      guint                 n_points);
VnPicture  *vn_picture_new_curve     (const VnCurve        *curve,
                                      VnCurveCost           cost);
gboolean    vn_picture_locate_point  (VnPicture            *self,
                                      guint                 i,
                                      double                width,
                                      double               *x,
                                      double               *y);
VnPicture  *vn_picture_new_bars      (const VnPictureBar   *bars,
                                      guint                 n_bars);
VnPicture  *vn_picture_new_values    (const VnPictureValues *values);
VnPicture  *vn_picture_ref           (VnPicture            *self);
void        vn_picture_unref         (VnPicture            *self);
double      vn_picture_get_height    (VnPicture            *self,
                                      double                width);
void        vn_picture_draw          (VnPicture            *self,
                                      VnPen                *pen,
                                      double                width);
gboolean    vn_picture_is_small      (VnPicture            *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnPicture, vn_picture_unref)

G_END_DECLS
