/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Layers that are looked at together: as many as memory allows, over all samples. */
#pragma once

#include "vn-judge.h"

G_BEGIN_DECLS

/**
 * VnLayerBatchLook: takes what a layer reads.
 * @layer: of the batch
 * @sample: its number, from 0
 *
 * Called while the network runs: @read is gone afterwards. Only for the layers of this process: vn_sample_ranks_is_own() of their
 * places in the batch.
 */
typedef gboolean (*VnLayerBatchLook) (gpointer         layer,
                                      const VnTensor  *read,
                                      guint            sample,
                                      GError         **error);

/**
 * VnLayerBatchAdd: called for each layer of this process, in parallel, after a sample has run.
 */
typedef gboolean (*VnLayerBatchAdd) (gpointer   layer,
                                     GError   **error);

GPtrArray *vn_layer_batch_take (GPtrArray              *layers,
                                guint                  *n_taken,
                                guint                   most,
                                gsize                 (*get_bytes) (gconstpointer layer));
gboolean   vn_layer_batch_run  (GPtrArray              *batch,
                                const VnRepairSamples  *samples,
                                VnModel                *model,
                                GPtrArray              *taps,
                                VnLayerBatchLook        look,
                                VnLayerBatchAdd         add,
                                GCancellable           *cancellable,
                                GError                **error);

G_END_DECLS
