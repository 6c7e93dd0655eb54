/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One layer on its way through second-order rounding. */
#pragma once

#include "vn-quant-plan.h"
#include "vn-second-order.h"
#include "vn-spill.h"
#include "vn-weight-layer.h"

G_BEGIN_DECLS

/* An expert that has read fewer vectors is rounded to nearest. */
#define VN_ROUNDED_LEAST_READ 16u

/**
 * VnRoundedLayer:
 * @place: its number, as whoever made it counts
 * @row: what is decided for its weight
 * @first, @n: the groups that are looked at, as many as memory allows
 * @moments: sums of x xᵀ over what it reads: for each of these the upper triangle of a square matrix; %NULL before it is looked
 *   at
 * @cross: (nullable): sums of (y - x) xᵀ, with y what it reads in the float network: for each of these a square matrix; in
 *   @cross_spill, (nullable), if it is large
 * @columns: vectors of the present sample, @n_columns for each group of the layer
 * @floats: (nullable): the same of the float network
 * @order: for each of these the order that columns are rounded in, once vn_rounded_layer_factor() has made the moments what
 *   vn_rounding_solve() takes; @can_solve: whether it could
 * @shares: (nullable): another layer that reads the same, which has all of that
 * @n_read: int64: vectors that each group of the layer has read
 * @before: the weights as they were
 * @after: (nullable): the weights rounded; %NULL: could not be done
 */
typedef struct _VnRoundedLayer
{
  VnWeightLayer    *layer;
  const VnQuantRow *row;
  guint             place;
  gsize             first, n;
  double           *moments;
  float            *cross, *columns, *floats;
  VnSpill          *cross_spill;
  guint32          *order;
  gboolean         *can_solve;
  struct _VnRoundedLayer *shares;
  gsize             n_columns;
  VnTensor         *n_read, *before, *after;
} VnRoundedLayer;

VnRoundedLayer *vn_rounded_layer_new         (VnWeightLayer    *layer,
                                              const VnQuantRow *row,
                                              guint             place);
void            vn_rounded_layer_free        (VnRoundedLayer   *self);
gsize           vn_rounded_layer_get_bytes   (const VnRoundedLayer *self);
void            vn_rounded_layer_choose_part (VnRoundedLayer   *self);
gboolean        vn_rounded_layer_can_share   (const VnRoundedLayer *self,
                                              const VnRoundedLayer *other);
gboolean        vn_rounded_layer_has_target  (const VnRoundedLayer *self);
gboolean        vn_rounded_layer_begin       (VnRoundedLayer   *self,
                                              GError          **error);
void            vn_rounded_layer_look_at     (VnRoundedLayer   *self,
                                              const VnTensor   *read,
                                              const VnTensor   *wanted,   /* nullable */
                                              guint             seed);
gboolean        vn_rounded_layer_add_sample  (VnRoundedLayer   *self,
                                              guint             n_threads,
                                              GCancellable     *cancellable,  /* nullable */
                                              GError          **error);
gboolean        vn_rounded_layer_factor      (VnRoundedLayer   *self,
                                              GError          **error);
gboolean        vn_rounded_layer_solve       (VnRoundedLayer   *self,
                                              guint             n_threads,
                                              GError          **error);
void            vn_rounded_layer_end         (VnRoundedLayer   *self);
gboolean        vn_rounded_layer_is_done     (const VnRoundedLayer *self);
gboolean        vn_rounded_layer_is_reached  (const VnRoundedLayer *self,
                                              gsize             group);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnRoundedLayer, vn_rounded_layer_free)

G_END_DECLS
