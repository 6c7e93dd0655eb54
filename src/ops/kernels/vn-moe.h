/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Mixtures of experts, MoE and QMoE of ONNX Runtime: which experts each token goes to, and what an expert computes between its
 * products. */

#include "vn-model.h"

G_BEGIN_DECLS

/* The products of an expert: FC3 only where gate and value are not in one. */
typedef enum { VN_MOE_FC1, VN_MOE_FC2, VN_MOE_FC3, VN_MOE_N_PRODUCTS } VnMoeProduct;

/* What a product reads, as the engine gives it beside the result: for each token and each of its experts a row of the expert's
 * number, −1 for none, the share, and the numbers that are read. */
#define VN_MOE_READ_COLUMNS 2

/* What an input that an operator does not have is given as. */
#define VN_MOE_NO_INPUT G_MAXUINT16

/**
 * VnMoeInputs: which inputs an operator has its numbers in.
 * @weight: experts x rows x columns
 * @bias: experts x rows
 * @scale: of QMoE: experts x rows, or experts x rows x blocks
 * @zero_point: of QMoE: packed
 * @shares: of QMoE: what results are weighted by, where that is not what experts are chosen by
 */
typedef struct
{
  const char *op_type;
  guint16     weight[VN_MOE_N_PRODUCTS], bias[VN_MOE_N_PRODUCTS], scale[VN_MOE_N_PRODUCTS], zero_point[VN_MOE_N_PRODUCTS], shares;
} VnMoeInputs;

typedef enum
{
  VN_MOE_RELU,
  VN_MOE_GELU,
  VN_MOE_SILU,
  VN_MOE_SWIGLU,
  VN_MOE_IDENTITY,
} VnMoeActivation;

/**
 * VnMoe: attributes and sizes.
 * @third: the value that it is gated by has a product of its own, FC3
 * @interleaved: gate and value lie beside each other, not in two halves
 * @chosen_only: shares are a softmax of the experts that are chosen, not of all: QMoE
 * @normalize: the shares of a token have the sum 1
 * @columns: of what the activation reads: inter, or twice as many where it is gated
 */
typedef struct
{
  const VnMoeInputs *inputs;
  VnMoeActivation    activation;
  float              alpha, beta, limit;
  gboolean           gated, third, interleaved, chosen_only, normalize;
  gsize              n_tokens, n_experts, k, hidden, inter, columns;
} VnMoe;

const VnMoeInputs *vn_moe_find_inputs (const VnNode  *node);
const VnMoeInputs *vn_moe_get_packed_inputs (void);
gboolean           vn_moe_init        (VnMoe         *self,
                                       const VnNode  *node,
                                       const VnShape *tokens,
                                       const VnShape *router,
                                       GError       **error);
gboolean           vn_moe_set_inter   (VnMoe         *self,
                                       gint64         inter,
                                       GError       **error);
gsize              vn_moe_get_rows    (const VnMoe   *self,
                                       VnMoeProduct   product);
gsize              vn_moe_get_columns (const VnMoe   *self,
                                       VnMoeProduct   product);
void               vn_moe_route       (const VnMoe   *self,
                                       const float   *router,
                                       const float   *shares,
                                       float         *line,
                                       gint32        *experts,
                                       float         *weights);
void               vn_moe_activate    (const VnMoe   *self,
                                       const float   *from,
                                       float         *to,
                                       gsize          n_rows);

G_END_DECLS
