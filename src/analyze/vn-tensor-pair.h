/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The same tensor of two networks, read from a run of each on one sample. */
#pragma once

#include "vn-plan.h"
#include "vn-quantize.h"
#include "vn-value-grid.h"

G_BEGIN_DECLS

/**
 * VnTensorSource: where a tensor is to be read.
 * @network: as the engine takes it
 * @value: of its main graph; for a weight the name of the constant in @reference
 * @reference: (nullable): of a weight: the network that @value is a constant of; %NULL: @network
 * @plan: (nullable): tells the factors that neighbours of @value hold, by @plan_value
 */
typedef struct
{
  VnModel     *network;
  const char  *value;
  VnModel     *reference;
  VnQuantPlan *plan;
  const char  *plan_value;
} VnTensorSource;

/**
 * VnTensorPair: two networks, planned as far as they have to be run for one tensor. One thread uses it at a time.
 */
typedef struct _VnTensorPair VnTensorPair;

VnTensorPair      *vn_tensor_pair_new      (const VnTensorSource  sources[2],
                                            GHashTable           *input_shapes,    /* nullable */
                                            GError              **error);
void               vn_tensor_pair_free     (VnTensorPair         *self);
guint              vn_tensor_pair_get_n_inputs (VnTensorPair     *self);
const VnValueGrid *vn_tensor_pair_get_grid (VnTensorPair         *self,
                                            guint                 side);           /* NULL: not by one scale */
gboolean           vn_tensor_pair_read     (VnTensorPair         *self,
                                            VnTensor * const     *inputs,
                                            VnTensor             *tensors[2],
                                            GCancellable         *cancellable,
                                            GError              **error);
VnTensor          *vn_tensor_source_read_weight (const VnTensorSource *self,
                                                 VnValueGrid          *grid,       /* nullable */
                                                 GError              **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnTensorPair, vn_tensor_pair_free)

G_END_DECLS
