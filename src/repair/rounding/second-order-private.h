/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "layer-pass.h"
#include "rounded-layer.h"

G_BEGIN_DECLS

/* What a layer reads is not in the quantized network; and in place of a stop: all that is written is quantized. */
#define VN_SECOND_ORDER_NOWHERE G_MAXUINT
#define VN_SECOND_ORDER_WHOLE G_MAXUINT

/**
 * VnSecondOrderStop: layers that read the same.
 * @first, @last: without the last
 * @names: what they read in the quantized network
 * @wanted: what they read in the float one; empty: it does not count
 */
typedef struct
{
  guint      first, last;
  GPtrArray *names, *wanted;
} VnSecondOrderStop;

/**
 * VnSecondOrder: rounding that is under way.
 * @model: the prepared network with the weights rounded so far
 * @layers: (element-type VnRoundedLayer): from front to end
 * @reads: by layer: the place of what it reads among the names of its stop; %VN_SECOND_ORDER_NOWHERE
 * @stops: (element-type VnSecondOrderStop): from front to end
 * @walks: of the quantized network and, nullable, of the float one
 * @at: the stop
 * @batch: (element-type VnRoundedLayer): those of the stop that are not done
 * @n_done: layers
 * @n_reviewed: layers that are judged
 * @n_verdicts: that were found in the journal
 * @best: of @model, if @has_best
 */
typedef struct
{
  const VnRepairInput *input;
  VnModel             *model;
  GPtrArray           *layers;
  guint               *reads;
  GPtrArray           *stops;
  VnLayerWalk         *walks[VN_LAYER_PASS_WALKS];
  guint                at;
  GPtrArray           *batch;
  VnRepairGain        *gain;
  guint                n_done;
  guint                n_reviewed;
  guint                n_verdicts;
  gboolean             has_best;
  VnJudgement          best;
  double               best_db;
  GCancellable        *cancellable;
} VnSecondOrder;

/* second-order-stops.c */
void     vn_second_order_set_weights   (VnSecondOrder        *self,
                                        guint                 first,
                                        guint                 last,
                                        gboolean              rounded);
gboolean vn_second_order_start         (VnSecondOrder        *self,
                                        GError              **error);
gboolean vn_second_order_set_quantized (VnSecondOrder        *self,
                                        guint                 stop,
                                        GError              **error);
gboolean vn_second_order_pass          (VnSecondOrder        *self,
                                        GError              **error);
gboolean vn_second_order_round_stop    (VnSecondOrder        *self,
                                        GError              **error);
void     vn_second_order_report        (const VnSecondOrder  *self);
void     vn_second_order_note_unreached (const VnSecondOrder  *self,
                                         const VnRoundedLayer *rounded);

/* second-order-segment.c */
VnModel *vn_second_order_write         (VnSecondOrder        *self,
                                        guint                 stop,
                                        GError              **error);

/* second-order-judge.c */
gboolean vn_second_order_measure_all   (VnSecondOrder        *self,
                                        VnRoundingOutcome     which,
                                        double               *sqnr_db,
                                        GError              **error);
gboolean vn_second_order_review_all    (VnSecondOrder        *self,
                                        GArray               *ends,
                                        double                plain_db,
                                        GError              **error);

G_END_DECLS
