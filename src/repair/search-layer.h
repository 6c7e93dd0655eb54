/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One layer while ranges are searched for: what it reads, and the error of its result for each candidate. */
#pragma once

#include "vn-quant-plan.h"
#include "vn-weight-layer.h"

G_BEGIN_DECLS

/**
 * VnSearchLayer:
 * @read: (nullable): name of the tensor whose range holds for what it reads; %NULL: that is float
 * @columns: vectors that it reads: for each group @n of them in rows; %NULL before it is looked at
 * @shares: how many vectors each of those stands for
 * @low, @high: range of what it reads
 * @n, @kept, @room: vectors of each group, how many of each sample are kept, and for how many there is room
 * @n_scales: of the weight; 0: it is float, or in blocks
 * @weight_errors: by candidate and scale: energy of what rounding the weight to the nearest brings into the result
 * @read_errors: by candidate: the same of rounding what it reads, as a share of the energy of the result
 */
typedef struct
{
  VnWeightLayer *layer;
  char          *read;
  float         *columns, *shares;
  gsize          n, kept, room;
  double         low, high;
  gsize          n_scales;
  double        *weight_errors, *read_errors;
} VnSearchLayer;

VnSearchLayer *vn_search_layer_new       (VnWeightLayer       *layer,
                                          VnQuantPlan         *plan,
                                          gsize                room);
void           vn_search_layer_free      (VnSearchLayer       *self);
gsize          vn_search_layer_get_bytes (const VnSearchLayer *self);
gboolean       vn_search_layer_begin     (VnSearchLayer       *self,
                                          GError             **error);
gboolean       vn_search_layer_look_at   (VnSearchLayer       *self,
                                          const VnTensor      *read,
                                          guint                seed,
                                          GError             **error);
gboolean       vn_search_layer_measure   (VnSearchLayer       *self,
                                          VnQuantPlan * const *plans,
                                          guint                n_plans,
                                          GError             **error);
GBytes        *vn_search_layer_pack      (const VnSearchLayer *self,
                                          guint                n_plans);
gboolean       vn_search_layer_take      (VnSearchLayer       *self,
                                          gconstpointer        bytes,
                                          gsize                size,
                                          guint                n_plans,
                                          GError             **error);
void           vn_search_layer_end       (VnSearchLayer       *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnSearchLayer, vn_search_layer_free)

G_END_DECLS
