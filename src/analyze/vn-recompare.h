/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Comparing a network with others that differ from one that was compared already, running only what differs. */
#pragma once

#include "vn-compare.h"

G_BEGIN_DECLS

/**
 * VnRecompare: what a float network and a quantized one compute for a few samples.
 */
typedef struct _VnRecompare VnRecompare;

/**
 * VnRecompareCost:
 * @n_rows: tensors of the table
 * @n_changed: those of them that were computed again
 */
typedef struct
{
  guint n_rows, n_changed;
} VnRecompareCost;

VnRecompare  *vn_recompare_new        (VnModel                 *float_model,
                                       VnModel                 *base,
                                       GHashTable              *input_shapes,   /* nullable */
                                       VnDataset               *dataset,
                                       const VnCompareOptions  *options,
                                       gsize                    max_bytes,
                                       GCancellable            *cancellable,
                                       GError                 **error);
void          vn_recompare_free       (VnRecompare             *self);
guint         vn_recompare_get_n      (VnRecompare             *self);          /* samples */
gsize         vn_recompare_get_bytes  (VnRecompare             *self);
VnErrorTable *vn_recompare_get_base   (VnRecompare             *self);          /* borrowed */
VnErrorTable *vn_recompare_measure    (VnRecompare             *self,
                                       VnModel                 *changed,
                                       const VnCompareOptions  *options,
                                       VnRecompareCost         *cost,           /* nullable */
                                       GCancellable            *cancellable,
                                       GError                 **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnRecompare, vn_recompare_free)

G_END_DECLS
