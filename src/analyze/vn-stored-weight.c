/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The weights of quantized networks: where their integers, scales and zero points are, and the numbers that they stand for. */
#include "vn-stored-weight.h"

#include "vn-checked.h"
#include "vn-error.h"
#include "vn-i18n.h"

#include <math.h>

/* Operators that read integers: the inputs that are the weight, its scale and its zero point (−1: none), and which input of the
 * float operator the weight is. The axis counts where there are several scales: 0, or the last one. */
static const struct
{
  const char   *op_type;
  VnStoredForm  form;
  int           weight, scale, zero_point;
  gboolean      by_last_axis;
} operators[] = {
  { "QLinearConv", VN_STORED_INTEGER, 3, 4, 5, FALSE },
  { "QLinearMatMul", VN_STORED_INTEGER, 3, 4, 5, TRUE },
  { "QGemm", VN_STORED_INTEGER, 3, 4, 5, TRUE },
  { "ConvInteger", VN_STORED_DYNAMIC, 1, -1, 3, FALSE },
  { "MatMulInteger", VN_STORED_DYNAMIC, 1, -1, 3, TRUE },
  { "DynamicQuantizeMatMul", VN_STORED_DYNAMIC, 1, 2, 3, TRUE },
  { "MatMulIntegerToFloat", VN_STORED_DYNAMIC, 1, 3, 5, TRUE },
  { "MatMulNBits", VN_STORED_PACKED, 1, 2, 3, TRUE },
  { "QMoE", VN_STORED_PACKED, 2, 3, 11, TRUE },
  { "QMoE", VN_STORED_PACKED, 5, 6, 12, TRUE },
  { "QMoE", VN_STORED_PACKED, 8, 9, 13, TRUE },
};

#define GROUPS 4    /* input of MatMulNBits */
#define EXPERTS "QMoE"

/* @input: −1: none */
static VnTensor *
stored_weight_get_constant (const VnNode *node,
                            int           input)
{
  return input >= 0 ? vn_node_find_constant (node, (guint) input) : NULL;
}

/* NULL: it quantizes no constant. */
static const VnNode *
stored_weight_find_quantizer (const VnValue *integers)
{
  const VnNode *node = integers != NULL ? integers->producer : NULL;

  if (node == NULL || !vn_node_quantizes (node) || vn_node_find_constant (node, 0) == NULL ||
      vn_node_find_constant (node, 1) == NULL || !vn_dtype_is_float (vn_node_find_constant (node, 0)->dtype) ||
      integers->type.kind != VN_TYPE_TENSOR || !vn_dtype_is_integer (integers->type.dtype) ||
      vn_dtype_get_bits (integers->type.dtype) > 16)
    return NULL;
  return node;
}

/* Scales that are integers themselves, with a scale: @node is the DequantizeLinear of such. %NULL: they are none, or do not
 * fit. */
static const VnTensor *
stored_weight_find_inner_scale (const VnNode    *node,
                                VnStoredWeight  *self)
{
  const VnTensor *integers = vn_node_find_constant (node, 0);

  self->outer = vn_node_find_constant (node, 1);
  self->outer_zero = vn_node_find_constant (node, 2);
  if (integers == NULL || self->outer == NULL || !vn_dtype_is_integer (integers->dtype) ||
      vn_node_get_int (node, "block_size", 0) != 0)
    return NULL;
  self->outer_axis = vn_node_get_int (node, "axis", 1);
  if (self->outer_axis < 0)
    self->outer_axis += integers->shape.rank;
  if (self->outer->n_elements != 1 &&
      (self->outer_axis < 0 || self->outer_axis >= integers->shape.rank ||
       self->outer->n_elements != (gsize) integers->shape.dims[self->outer_axis]))
    return NULL;
  return self->outer_zero == NULL || self->outer_zero->n_elements == 1 || self->outer_zero->n_elements == self->outer->n_elements
         ? integers : NULL;
}

/* (nullable): of a pair: a constant, or what a DequantizeLinear makes of one. */
static const VnTensor *
stored_weight_find_scale (const VnNode   *by,
                          VnStoredWeight *self)
{
  const VnTensor *constant = vn_node_find_constant (by, 1);
  const VnValue *scale = vn_node_get_input (by, 1);

  self->outer = self->outer_zero = NULL;
  if (constant != NULL || scale == NULL || scale->producer == NULL || !vn_node_dequantizes (scale->producer))
    return constant;
  return stored_weight_find_inner_scale (scale->producer, self);
}

static gboolean
stored_weight_find_pair (VnStoredWeight *self,
                         const VnNode   *node)
{
  const VnValue *out = vn_node_get_output (node, 0), *integers;
  const VnUse *use = out != NULL && out->uses->len > 0 ? &g_array_index (out->uses, VnUse, 0) : NULL;
  const VnNode *by = node;
  VnStoredWeight inner = { 0 };
  const VnTensor *scale = vn_node_dequantizes (node) ? stored_weight_find_scale (node, &inner) : NULL;

  if (scale == NULL)
    return FALSE;
  integers = vn_node_get_input (node, 0);
  if (vn_node_find_constant (node, 0) == NULL)
    by = stored_weight_find_quantizer (integers);
  if (by == NULL || (scale = stored_weight_find_scale (by, &inner)) == NULL)
    return FALSE;
  *self = (VnStoredWeight) { .form = by == node ? VN_STORED_PAIR : VN_STORED_FLOAT,
                             .value = vn_value_find_constant (vn_node_get_input (by, 0)), .scale = scale,
                             .zero_point = vn_node_find_constant (by, 2), .outer = inner.outer, .outer_zero = inner.outer_zero,
                             .axis = vn_node_get_int (by, "axis", 1), .block_size = vn_node_get_int (by, "block_size", 0),
                             .outer_axis = inner.outer_axis, .by = by, .user = use != NULL ? use->node : NULL,
                             .index = use != NULL ? use->index : 0 };
  return TRUE;
}

/* @value: (nullable): the integers; %NULL: the first that the operator reads */
static gboolean
stored_weight_find_operator (VnStoredWeight *self,
                             const VnNode   *node,
                             const VnValue  *value)
{
  for (guint i = 0; i < G_N_ELEMENTS (operators); i++)
    {
      VnTensor *integers = stored_weight_get_constant (node, operators[i].weight);

      if (!g_str_equal (node->op_type, operators[i].op_type) ||
          (value != NULL && vn_node_get_input (node, (guint) operators[i].weight) != value))
        continue;
      if (integers == NULL ||
          (operators[i].form == VN_STORED_INTEGER && stored_weight_get_constant (node, operators[i].scale) == NULL))
        return FALSE;
      *self = (VnStoredWeight) { .form = operators[i].form,
                                 .value = vn_node_get_input (node, (guint) operators[i].weight),
                                 .scale = stored_weight_get_constant (node, operators[i].scale),
                                 .zero_point = stored_weight_get_constant (node, operators[i].zero_point),
                                 .by = node, .user = node, .index = 1 };
      if (operators[i].by_last_axis && !vn_node_get_int (node, "transB", 0))
        self->axis = integers->shape.rank - 1;
      if (operators[i].form == VN_STORED_PACKED)
        self->block_size = vn_node_get_int (node, "block_size", 0);
      return TRUE;
    }
  return FALSE;
}

/**
 * vn_stored_weight_find:
 * @self: (out caller-allocates):
 *
 * Returns: whether @by has weights of integers: as a DequantizeLinear of a constant, or as an operator that reads them itself
 */
gboolean
vn_stored_weight_find (VnStoredWeight *self,
                       const VnNode   *by)
{
  g_return_val_if_fail (self != NULL && by != NULL, FALSE);

  return stored_weight_find_pair (self, by) || stored_weight_find_operator (self, by, NULL);
}

/**
 * vn_stored_weight_find_input:
 * @self: (out caller-allocates):
 *
 * Returns: whether what @user reads as @input is made of a constant of integers, or is one
 */
gboolean
vn_stored_weight_find_input (VnStoredWeight *self,
                             const VnNode   *user,
                             guint           input)
{
  const VnValue *value;

  g_return_val_if_fail (self != NULL && user != NULL, FALSE);

  value = vn_node_get_input (user, input);
  if (value == NULL)
    return FALSE;
  if (value->producer != NULL && stored_weight_find_pair (self, value->producer))
    {
      self->user = user;
      self->index = input;
      return TRUE;
    }
  return stored_weight_find_operator (self, user, value) && self->value == value;
}

/* ---- packed in blocks ---- */

/* K x N numbers lie as N rows of blocks, in each byte the lowest bits first. @zero_rows: rows whose zero points are packed one
 * after the other, where a row is one block; 0: each row has bytes of its own. */
typedef struct { gsize n, k, block, n_blocks, row_bytes, zero_bytes, zero_rows; guint bits; } Packed;

static gboolean
stored_weight_is_of_experts (const VnStoredWeight *weight)
{
  return g_str_equal (weight->by->op_type, EXPERTS);
}

static gint64
stored_weight_get_packed_bits (const VnStoredWeight *weight)
{
  return vn_node_get_int (weight->by, stored_weight_is_of_experts (weight) ? "expert_weight_bits" : "bits", 4);
}

/* Bytes of the zero points. */
static gsize
stored_weight_count_zeros (const Packed *self)
{
  return self->zero_rows > 0 ? self->n / self->zero_rows * self->zero_bytes : self->n * self->zero_bytes;
}

/* experts x rows x bytes, in blocks or with one scale for each row. */
static gboolean
stored_weight_measure_experts (const VnStoredWeight *weight,
                               Packed               *self)
{
  const VnShape *shape = &vn_value_get_constant (weight->value)->shape;
  const gint64 bits = stored_weight_get_packed_bits (weight);
  gint64 block = vn_node_get_int (weight->by, "block_size", 0), n;

  if (shape->rank != 3 || (bits != 2 && bits != 4 && bits != 8) || !vn_checked_mul_s64 (shape->dims[0], shape->dims[1], &n) ||
      n < 1 || n > G_MAXINT32 || shape->dims[2] < 1 || shape->dims[2] > G_MAXINT32 / 8 || (block > 0 && block < 16))
    return FALSE;
  *self = (Packed) { .n = (gsize) n, .k = (gsize) (shape->dims[2] * 8 / bits), .bits = (guint) bits,
                     .row_bytes = (gsize) shape->dims[2] };
  self->block = block > 0 ? (gsize) block : self->k;
  self->n_blocks = (self->k + self->block - 1) / self->block;
  self->zero_rows = block > 0 ? 0 : (gsize) shape->dims[1];
  self->zero_bytes = (MAX (self->zero_rows, self->n_blocks) * self->bits + 7) / 8;
  return TRUE;
}

static gboolean
stored_weight_measure_matrix (const VnStoredWeight *weight,
                              Packed               *self)
{
  gint64 n = vn_node_get_int (weight->by, "N", 0), k = vn_node_get_int (weight->by, "K", 0);
  gint64 bits = stored_weight_get_packed_bits (weight), block = vn_node_get_int (weight->by, "block_size", 0);
  gsize n_blocks;

  if (n < 1 || k < 1 || n > G_MAXINT32 || k > G_MAXINT32 || (bits != 2 && bits != 4 && bits != 8) || block < 16 ||
      block > G_MAXINT32)
    return FALSE;
  n_blocks = ((gsize) k + (gsize) block - 1) / (gsize) block;
  *self = (Packed) { (gsize) n, (gsize) k, (gsize) block, n_blocks, n_blocks * (gsize) block * (gsize) bits / 8,
                     (n_blocks * (gsize) bits + 7) / 8, 0, (guint) bits };
  return TRUE;
}

static gboolean
stored_weight_measure_packed (const VnStoredWeight  *weight,
                              Packed                *self,
                              GError               **error)
{
  const VnTensor *packed = vn_value_get_constant (weight->value), *zero = weight->zero_point;

  if ((stored_weight_is_of_experts (weight) ? stored_weight_measure_experts (weight, self)
                                            : stored_weight_measure_matrix (weight, self)) &&
      self->row_bytes <= packed->n_bytes / self->n && weight->scale != NULL &&
      weight->scale->n_elements >= self->n * self->n_blocks &&
      (zero == NULL || (vn_dtype_is_float (zero->dtype) ? zero->n_elements >= self->n * self->n_blocks
                                                         : zero->n_bytes >= stored_weight_count_zeros (self))))
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("“%s” is shorter than its node requires"), weight->value->name);
  return FALSE;
}

/* Which block's scale each number of a row has, where it is not the one it lies in. */
static gboolean
stored_weight_check_groups (const VnStoredWeight  *weight,
                            const VnTensor        *groups,     /* nullable */
                            const Packed          *packed,
                            GError               **error)
{
  gboolean good = groups == NULL || groups->n_elements >= packed->k;

  for (gsize i = 0; groups != NULL && good && i < packed->k; i++)
    good = vn_tensor_get_s64 (groups, i) >= 0 && vn_tensor_get_s64 (groups, i) < (gint64) packed->n_blocks;
  if (!good)
    g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("“%s” is shorter than its node requires"), weight->value->name);
  return good;
}

static guint
stored_weight_packed_at (const void *data,
                         guint       bits,
                         gsize       i)
{
  guint per_byte = 8 / bits;

  return ((const guint8 *) data)[i / per_byte] >> (i % per_byte * bits) & ((1u << bits) - 1);
}

static double
stored_weight_packed_zero (const VnStoredWeight *weight,
                           const Packed         *packed,
                           gsize                 row,
                           gsize                 block)
{
  const VnTensor *zero = weight->zero_point;

  if (zero == NULL)
    return 1u << (packed->bits - 1);
  if (vn_dtype_is_float (zero->dtype))
    return vn_tensor_get_double (zero, row * packed->n_blocks + block);
  if (packed->zero_rows > 0)
    return stored_weight_packed_at ((const guint8 *) zero->data + row / packed->zero_rows * packed->zero_bytes, packed->bits,
                                    row % packed->zero_rows);
  return stored_weight_packed_at ((const guint8 *) zero->data + row * packed->zero_bytes, packed->bits, block);
}

/* As N x K: integers in bytes, or the numbers they stand for. */
static VnTensor *
stored_weight_read_packed (const VnStoredWeight  *self,
                           gboolean               restores,
                           GError               **error)
{
  const VnTensor *from = vn_value_get_constant (self->value);
  const VnTensor *groups = stored_weight_is_of_experts (self) ? NULL : stored_weight_get_constant (self->by, GROUPS);
  VnTensor *to;
  Packed packed;
  VnShape shape;

  if (!stored_weight_measure_packed (self, &packed, error) || !stored_weight_check_groups (self, groups, &packed, error))
    return NULL;
  shape = (VnShape) VN_SHAPE ((gint64) packed.n, (gint64) packed.k);
  to = vn_tensor_new (restores ? VN_DTYPE_F32 : VN_DTYPE_U8, &shape, error);
  for (gsize row = 0; to != NULL && row < packed.n; row++)
    for (gsize i = 0; i < packed.k; i++)
      {
        const guint8 *data = (const guint8 *) from->data + row * packed.row_bytes;
        guint number = stored_weight_packed_at (data, packed.bits, i);
        gsize block = groups != NULL ? (gsize) vn_tensor_get_s64 (groups, i) : i / packed.block;

        if (restores)
          ((float *) to->data)[row * packed.k + i] =
            (float) ((number - stored_weight_packed_zero (self, &packed, row, block)) *
                     vn_tensor_get_double (self->scale, row * packed.n_blocks + block));
        else
          ((guint8 *) to->data)[row * packed.k + i] = (guint8) number;
      }
  vn_tensor_release_pages (from);
  return to;
}

/* ---- one after the other ---- */

/* Where the scale of an element stands. */
typedef struct { gsize inner, dim, n_blocks, block; gboolean is_one; } Places;

static gboolean
stored_weight_find_places (const VnStoredWeight  *self,
                           Places                *places,
                           GError               **error)
{
  const VnTensor *q = vn_value_get_constant (self->value), *scale = self->scale, *zero = self->zero_point;
  gint64 axis = self->axis < 0 ? self->axis + q->shape.rank : self->axis;
  gboolean has_axis = axis >= 0 && axis < q->shape.rank;
  gsize n_needed;

  *places = (Places) { 1, has_axis ? (gsize) q->shape.dims[axis] : 1, 1, (gsize) MAX (self->block_size, 0),
                       scale != NULL && scale->n_elements == 1 };
  for (int i = (int) MAX (axis, -1) + 1; i < q->shape.rank; i++)
    places->inner *= (gsize) q->shape.dims[i];
  places->n_blocks = places->block > 0 ? (places->dim + places->block - 1) / places->block : places->dim;
  n_needed = places->is_one ? 1 : places->block > 0
             ? q->n_elements / MAX (places->inner * places->dim, 1) * places->n_blocks * places->inner : places->dim;
  if (scale != NULL && (places->is_one || has_axis) && scale->n_elements >= n_needed &&
      (zero == NULL || zero->n_elements == 1 || zero->n_elements >= n_needed))
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("“%s” has no scale that fits"), self->value->name);
  return FALSE;
}

static double
stored_weight_get_scale (const VnStoredWeight *self,
                         gsize                 at)
{
  const VnTensor *scale = self->scale;
  const double number = vn_tensor_get_double (scale, at);
  gsize inner = 1, channel = 0;

  if (self->outer == NULL)
    return number;
  for (int i = (int) self->outer_axis + 1; self->outer->n_elements > 1 && i < scale->shape.rank; i++)
    inner *= (gsize) scale->shape.dims[i];
  if (self->outer->n_elements > 1)
    channel = at / inner % self->outer->n_elements;
  return (number - (self->outer_zero == NULL ? 0 : vn_tensor_get_double (self->outer_zero, self->outer_zero->n_elements > 1
                                                                        ? channel : 0)))
         * vn_tensor_get_double (self->outer, channel);
}

static void
stored_weight_get_step (const VnStoredWeight *self,
                        const Places         *places,
                        gsize                 i,
                        double               *scale,
                        double               *zero)
{
  gsize k = i / places->inner % places->dim, at = places->is_one ? 0 : k;

  if (!places->is_one && places->block > 0)
    at = (i / places->inner / places->dim * places->n_blocks + k / places->block) * places->inner + i % places->inner;
  *scale = stored_weight_get_scale (self, at);
  *zero = self->zero_point == NULL ? 0 : vn_tensor_get_double (self->zero_point, self->zero_point->n_elements > 1 ? at : 0);
}

/* What QuantizeLinear makes of a float: half to even, saturated. As int16 or uint16, whatever their type: nobody stores them. */
static VnTensor *
stored_weight_round (const VnStoredWeight  *self,
                     GError               **error)
{
  const VnTensor *from = vn_value_get_constant (self->value);
  VnDType dtype = vn_stored_weight_get_dtype (self);
  guint bits = vn_dtype_get_bits (dtype);
  gboolean is_signed = vn_dtype_is_signed (dtype);
  double least = is_signed ? -(double) (1 << (bits - 1)) : 0, most = (double) (1 << (is_signed ? bits - 1 : bits)) - 1;
  Places places;
  VnTensor *to;

  if (!stored_weight_find_places (self, &places, error))
    return NULL;
  to = vn_tensor_new (is_signed ? VN_DTYPE_S16 : VN_DTYPE_U16, &from->shape, error);
  for (gsize i = 0; to != NULL && i < from->n_elements; i++)
    {
      double scale, zero, number;

      stored_weight_get_step (self, &places, i, &scale, &zero);
      number = rint (vn_tensor_get_double (from, i) / scale) + zero;
      number = isnan (number) ? zero : CLAMP (number, least, most);
      if (is_signed)
        ((gint16 *) to->data)[i] = (gint16) number;
      else
        ((guint16 *) to->data)[i] = (guint16) number;
    }
  return to;
}

static VnTensor *
stored_weight_restore_plain (const VnStoredWeight  *self,
                             GError               **error)
{
  g_autoptr(VnTensor) integers = vn_stored_weight_unpack (self, error);
  VnTensor *result;
  Places places;

  if (integers == NULL || !stored_weight_find_places (self, &places, error))
    return NULL;
  result = vn_tensor_new (VN_DTYPE_F32, &integers->shape, error);
  for (gsize i = 0; result != NULL && i < integers->n_elements; i++)
    {
      double scale, zero;

      stored_weight_get_step (self, &places, i, &scale, &zero);
      ((float *) result->data)[i] = (float) ((vn_tensor_get_double (integers, i) - zero) * scale);
    }
  vn_tensor_release_pages (vn_value_get_constant (self->value));
  return result;
}

/**
 * vn_stored_weight_unpack:
 *
 * Returns: (transfer full) (nullable): the integers, one after the other, of a type that holds them; of blocks as rows of N x K
 *   bytes; %NULL with an error
 *   if they are not as long as the file says, or there is no memory for them
 */
VnTensor *
vn_stored_weight_unpack (const VnStoredWeight  *self,
                         GError               **error)
{
  g_return_val_if_fail (self != NULL, NULL);

  if (self->form == VN_STORED_PACKED)
    return stored_weight_read_packed (self, FALSE, error);
  if (self->form == VN_STORED_FLOAT)
    return stored_weight_round (self, error);
  return vn_tensor_ref (vn_value_get_constant (self->value));
}

/**
 * vn_stored_weight_restore:
 *
 * (q − zero point) · scale, calculated in double precision.
 *
 * Returns: (transfer full) (nullable): float32 of the shape of vn_stored_weight_unpack(); %NULL with an error if the scales do
 *   not fit or the file does not have them, or there is no memory
 */
VnTensor *
vn_stored_weight_restore (const VnStoredWeight  *self,
                          GError               **error)
{
  g_return_val_if_fail (self != NULL, NULL);

  if (self->form == VN_STORED_PACKED)
    return stored_weight_read_packed (self, TRUE, error);
  return stored_weight_restore_plain (self, error);
}

/**
 * vn_stored_weight_get_dtype:
 *
 * Returns: what one of the integers is; of packed ones the unsigned type of so many bits
 */
VnDType
vn_stored_weight_get_dtype (const VnStoredWeight *self)
{
  gint64 bits;

  g_return_val_if_fail (self != NULL, VN_DTYPE_UNDEFINED);

  if (self->form == VN_STORED_FLOAT)
    return vn_node_get_output (self->by, 0)->type.dtype;
  if (self->form != VN_STORED_PACKED)
    return vn_value_get_constant (self->value)->dtype;
  bits = stored_weight_get_packed_bits (self);
  return bits == 2 ? VN_DTYPE_U2 : bits == 4 ? VN_DTYPE_U4 : VN_DTYPE_U8;
}

/**
 * vn_levels_count:
 * @self: (out caller-allocates):
 * @integers: of any type of integers
 *
 * Returns: %FALSE if there is none
 */
gboolean
vn_levels_count (VnLevels       *self,
                 const VnTensor *integers)
{
  guint bits;
  gint64 base;
  g_autofree guint8 *seen = NULL;

  g_return_val_if_fail (self != NULL && integers != NULL, FALSE);

  bits = vn_dtype_get_bits (integers->dtype);
  if (!vn_dtype_is_integer (integers->dtype) || integers->n_elements == 0)
    return FALSE;
  base = vn_dtype_is_signed (integers->dtype) && bits <= 16 ? -((gint64) 1 << (bits - 1)) : 0;
  *self = (VnLevels) { G_MAXINT64, G_MININT64, 0, bits <= 16 ? (gsize) 1 << bits : 0 };
  seen = g_new0 (guint8, MAX (self->n, 1));
  for (gsize i = 0; i < integers->n_elements; i++)
    {
      gint64 number = vn_tensor_get_s64 (integers, i);

      self->least = MIN (self->least, number);
      self->most = MAX (self->most, number);
      if (self->n > 0 && !seen[number - base])
        {
          seen[number - base] = 1;
          self->n_used++;
        }
    }
  return TRUE;
}
