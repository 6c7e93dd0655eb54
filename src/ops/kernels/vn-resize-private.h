/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the files of Resize share: its attributes, tables of taps, and the passes over axes. */

#include "vn-elem.h"

G_BEGIN_DECLS

typedef enum
{
  VN_COORD_HALF_PIXEL,
  VN_COORD_PYTORCH_HALF_PIXEL,
  VN_COORD_HALF_PIXEL_SYMMETRIC,
  VN_COORD_ALIGN_CORNERS,
  VN_COORD_ASYMMETRIC,
  VN_COORD_TF_CROP_AND_RESIZE,
  VN_COORD_TF_HALF_PIXEL_FOR_NN,
} VnCoordMode;

typedef enum { VN_RESIZE_NEAREST, VN_RESIZE_LINEAR, VN_RESIZE_CUBIC } VnResizeMode;

typedef enum
{
  VN_NEAREST_ROUND_PREFER_FLOOR,
  VN_NEAREST_ROUND_PREFER_CEIL,
  VN_NEAREST_FLOOR,
  VN_NEAREST_CEIL,
  VN_NEAREST_SIMPLE,    /* opset 10: down when enlarging, up when shrinking */
} VnNearestMode;

typedef struct
{
  gint64 in, out;          /* lengths; out may be unknown */
  float  scale;
  float  roi_start, roi_end;
} VnResizeAxis;

typedef struct
{
  VnResizeMode  mode;
  VnCoordMode   coord;
  VnNearestMode nearest;
  gboolean      antialias, exclude_outside;
  float         cubic_a, extrapolation;
  int           rank;
  VnResizeAxis  axes[VN_MAX_RANK];
} VnResize;

/**
 * VnResizeTable: for each output index of an axis n_taps input indices and weights; with only_outside set where the
 * crop leaves the picture.
 */
typedef struct
{
  guint    n_taps;
  gint32  *index;     /* [out][n_taps] */
  float   *weight;    /* [out][n_taps]; NULL for nearest */
  guint8  *outside;   /* [out] */
} VnResizeTable;

gboolean vn_resize_init     (VnResize           *self,
                             VnOpContext        *ctx,
                             GError            **error);   /* op-resize.c */
gsize vn_resize_table_bytes (const VnResize     *self,
                             int                 axis);
void  vn_resize_table_init  (VnResizeTable      *table,
                             const VnResize     *self,
                             int                 axis,
                             gpointer            memory);
gboolean vn_resize_needs_pass (const VnResize   *self,
                               int               axis);
gboolean vn_resize_scratch  (const VnResize     *self,
                             VnDType             dtype,
                             gsize              *bytes);
void  vn_resize_compute     (const VnResize     *self,
                             const VnTensor     *in,
                             VnTensor           *out,
                             gpointer            scratch);

gboolean vn_resize_is_bilinear (const VnResize      *self,
                                VnDType              dtype);
void     vn_resize_bilinear    (const VnResize      *self,
                                const VnResizeTable *rows,
                                const VnResizeTable *columns,
                                const float         *x,
                                float               *y,
                                gsize                n_planes);

G_END_DECLS
