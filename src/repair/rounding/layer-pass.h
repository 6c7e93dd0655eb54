/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Networks that go to a stop on all samples, in one process or several. */
#pragma once

#include "layer-walk.h"

G_BEGIN_DECLS

/**
 * VnLayerPassLook: called for each sample, in their order, in each of several processes alike.
 * @reads: what the stop of the first network wants, then that of the next; %NULL for what the sample does not reach
 */
typedef gboolean (*VnLayerPassLook) (guint              sample,
                                     VnTensor * const  *reads,
                                     gpointer           data,
                                     GCancellable      *cancellable,
                                     GError           **error);

/* How many networks go side by side at most. */
#define VN_LAYER_PASS_WALKS 2

gboolean vn_layer_pass_run (VnLayerWalk * const    *walks,
                            guint                   n_walks,
                            const VnRepairSamples  *samples,
                            VnLayerPassLook         look,
                            gpointer                data,
                            GCancellable           *cancellable,
                            GError                **error);

G_END_DECLS
