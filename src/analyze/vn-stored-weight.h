/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-weights.h"

G_BEGIN_DECLS

/**
 * VnStoredForm: how the weights of a quantized network lie in its file.
 * @VN_STORED_PAIR: integers that a DequantizeLinear makes floats of
 * @VN_STORED_INTEGER: read as they are by an operator on integers that has their scale as well
 * @VN_STORED_DYNAMIC: the same, where the input is quantized when the network runs
 * @VN_STORED_FLOAT: as floats that a QuantizeLinear rounds to integers, and a DequantizeLinear restores
 * @VN_STORED_PACKED: in blocks, several in a byte: MatMulNBits, QMoE
 */
typedef enum { VN_STORED_PAIR, VN_STORED_INTEGER, VN_STORED_DYNAMIC, VN_STORED_FLOAT, VN_STORED_PACKED } VnStoredForm;

/**
 * VnStoredWeight: a constant of integers, and what makes numbers of them. Everything is borrowed from the model.
 * @value: the integers; of %VN_STORED_FLOAT the floats
 * @scale: (nullable): %NULL: the file does not say, as of ConvInteger
 * @zero_point: (nullable): %NULL: 0
 * @outer: (nullable): what @scale is integers of, which stand for numbers, too (LPBQ): a scale, or one for each channel along
 *   @outer_axis of @scale; @outer_zero (nullable) is its zero point
 * @axis: of the channels that have a scale each; it may be negative, and counts only where there are several scales
 * @block_size: numbers along @axis that share a scale; 0: those of a whole channel
 * @by: the node that has the scale; of %VN_STORED_FLOAT the QuantizeLinear
 * @user: (nullable): what computes with the weight, as its input @index
 */
typedef struct
{
  VnStoredForm    form;
  const VnValue  *value;
  const VnTensor *scale, *zero_point, *outer, *outer_zero;
  gint64          axis, block_size, outer_axis;
  const VnNode   *by, *user;
  guint           index;
} VnStoredWeight;

gboolean   vn_stored_weight_find       (VnStoredWeight       *self,
                                        const VnNode         *by);
gboolean   vn_stored_weight_find_input (VnStoredWeight       *self,
                                        const VnNode         *user,
                                        guint                 input);
VnTensor  *vn_stored_weight_unpack     (const VnStoredWeight *self,
                                        GError              **error);
VnTensor  *vn_stored_weight_restore    (const VnStoredWeight *self,
                                        GError              **error);
VnDType    vn_stored_weight_get_dtype  (const VnStoredWeight *self);

/**
 * VnLevels: which of the integers that a type has are used.
 * @least, @most: smallest and largest that occur
 * @n_used, @n: how many different ones occur, of how many; @n is 0 for types of more than 16 bits, which nobody counts
 */
typedef struct { gint64 least, most; gsize n_used, n; } VnLevels;

gboolean   vn_levels_count             (VnLevels             *self,
                                        const VnTensor       *integers);

G_END_DECLS
