/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-channel-stats.h"
#include "vn-graph-edit.h"
#include "vn-quantize.h"

G_BEGIN_DECLS

/* Correction of biases: quantizing shifts the mean of what a layer computes, in each channel by an amount of its own; the
 * bias can take that back. Looked at are Conv, ConvTranspose and Gemm that are quantized and whose bias is constant or
 * missing. */

/**
 * VnBiasQuantized: the quantized network that errors are measured in.
 * @model: with pairs of QuantizeLinear and DequantizeLinear, or operators that round in float
 * @value_names, @plan: of vn_quantize_write() and vn_quantize_resolve()
 */
typedef struct
{
  VnModel     *model;
  GHashTable  *value_names;
  VnQuantPlan *plan;
} VnBiasQuantized;

/**
 * VnBiasError: what quantizing does to the mean of a layer.
 * @node: (owned): vn_node_dup_label()
 * @means: (owned): of double, by channel: mean of the float layer less that of the quantized one
 */
typedef struct
{
  char   *node;
  GArray *means;
} VnBiasError;

GPtrArray *vn_bias_measure (const VnModel          *prepared,
                            const VnBiasQuantized  *quantized,
                            const VnRecipe         *recipe,
                            const VnSamples        *run,
                            GCancellable           *cancellable,
                            GError                **error);
VnModel   *vn_bias_correct (const VnModel          *prepared,
                            GPtrArray              *errors,
                            VnBiasCorrection        rule,
                            VnEditLog              *log,         /* nullable */
                            GError                **error);
gboolean   vn_bias_is_layer (const VnNode            *node);

G_END_DECLS
