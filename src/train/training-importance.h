/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much an error inside of a network counts in its outputs. */
#pragma once

#include "training-samples.h"

G_BEGIN_DECLS

/**
 * VnTrainImportance: of a tensor, by channel.
 * @by: (array length=n): what an error of 1 in one number of the channel adds to the error of the outputs, in squares
 * @n, @inner: number i of the tensor belongs to channel i / @inner % @n
 */
typedef struct
{
  double *by;
  gsize   n, inner;
} VnTrainImportance;

GHashTable *vn_train_importance_measure (VnModel            *model,
                                         GPtrArray          *parts,
                                         const VnTrainFeed  *feed,
                                         GHashTable         *shapes,
                                         guint               seed,
                                         GCancellable       *cancellable,
                                         GError            **error);

G_END_DECLS
