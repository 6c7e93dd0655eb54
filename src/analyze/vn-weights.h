/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-model.h"

G_BEGIN_DECLS

/**
 * VnWeightStats: what a constant of numbers holds.
 * @op_type: of the first node that reads it; "" if none does
 * @min, @max, @mean, @deviation: of the finite elements; 0 if there are none
 * @n_zero, @n_bad: elements that are 0; that are infinite or NaN
 * @spread: how many times larger the largest channel of the first axis is than the middle one; 0 where there are no channels.
 *   Far above 1, one scale for all wastes levels
 */
typedef struct
{
  char    *name, *op_type;
  VnDType  dtype;
  VnShape  shape;
  gsize    n, n_zero, n_bad;
  double   min, max, mean, deviation, spread;
} VnWeightStats;

gboolean   vn_tensor_has_numbers      (const VnTensor *tensor);
void       vn_weight_stats_measure    (VnWeightStats  *self,
                                       const VnTensor *tensor);
GPtrArray *vn_graph_list_weight_stats (const VnGraph  *graph,
                                       GError        **error);   /* of VnWeightStats, owned by the caller */

/**
 * VnPrecision: in which types a node of a quantized network computes; %VN_DTYPE_F32: not quantized;
 * %VN_DTYPE_UNDEFINED: it has none.
 */
typedef struct
{
  VnDType activation, weight, bias;
} VnPrecision;

void  vn_node_get_precision (const VnNode      *node,
                             VnPrecision       *precision);
char *vn_precision_dup_name (const VnPrecision *precision);   /* "A16W8", "A8", "float" */

G_END_DECLS
