/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pad: begins and ends per axis, negative ones crop. Modes: constant, reflect (without repeating the border), edge,
 * wrap. */
#include "vn-elem.h"

typedef enum { PAD_CONSTANT, PAD_REFLECT, PAD_EDGE, PAD_WRAP } PadMode;

static const char * const mode_names[] = { "constant", "reflect", "edge", "wrap", NULL };

typedef struct
{
  gboolean known;
  gint64   begin[VN_MAX_RANK], end[VN_MAX_RANK];
} Pads;

/* Spreads the pads, which may be given for some axes only, over all of them. */
static gboolean
pad_get_pads (VnOpContext *ctx,
              Pads        *self,
              GError     **error)
{
  const VnShape *input = &ctx->in_types[0].shape;
  gint64 values[2 * VN_MAX_RANK], axes[VN_MAX_RANK];
  guint n, n_axes, mask;
  gboolean known_axes;

  *self = (Pads) { 0 };
  if (!vn_op_attr_or_input (ctx, ctx->opset < 2 ? "paddings" : ctx->opset < 11 ? "pads" : NULL, 1, values,
                            2 * VN_MAX_RANK, &n, &self->known, error) ||
      !vn_op_attr_or_input (ctx, NULL, 3, axes, VN_MAX_RANK, &n_axes, &known_axes, error))
    return FALSE;
  /* Pads known by name are none that `run` could use. */
  if (!self->known && ctx->numbers != NULL)
    self->known = vn_op_get_numbers_input (ctx, 1, values, 2 * VN_MAX_RANK, &n);
  self->known = self->known && known_axes && input->rank >= 0;
  if (!self->known)
    return TRUE;
  if (!vn_op_has_input (ctx, 3))
    for (n_axes = 0; n_axes < (guint) input->rank; n_axes++)
      axes[n_axes] = n_axes;
  if (n != 2 * n_axes)
    return vn_op_fail (ctx, error, _("Pad: %u pads for %u axes, %u are needed"), n, n_axes, 2 * n_axes);
  if (!vn_op_axis_mask (ctx, input->rank, axes, n_axes, &mask, error))
    return FALSE;
  for (guint i = 0; i < n_axes; i++)
    {
      int axis = (int) (axes[i] < 0 ? axes[i] + input->rank : axes[i]);

      self->begin[axis] = values[i];
      self->end[axis] = values[n_axes + i];
    }
  return TRUE;
}

static gboolean
pad_infer (VnOpContext *ctx,
           GError     **error)
{
  VnShape out = ctx->in_types[0].shape;
  guint mode = vn_op_attr_choice (ctx, "mode", "constant", mode_names, error);
  gsize tables = 0;
  Pads pads;

  if (mode == G_MAXUINT || !pad_get_pads (ctx, &pads, error))
    return FALSE;
  if (vn_op_has_input (ctx, 2) && ctx->opset >= 11 && !vn_op_check_same_dtype (ctx, 0, 2, error))
    return FALSE;
  for (int d = 0; d < out.rank; d++)
    {
      gint64 dim = out.dims[d];

      out.dims[d] = VN_DIM_UNKNOWN;
      if (!pads.known)
        continue;
      if (dim < 0 || vn_dims_is_symbolic (pads.begin[d]) || vn_dims_is_symbolic (pads.end[d]))
        {
          VnDims *dims = vn_op_get_dims (ctx, dim);

          dim = vn_dims_add (dims, dim, pads.begin[d]);
          out.dims[d] = vn_dims_as_size (dims, vn_dims_add (dims, dim, pads.end[d]));
          continue;
        }
      if (!vn_checked_add_s64 (dim, pads.begin[d], &out.dims[d]) ||
          !vn_checked_add_s64 (out.dims[d], pads.end[d], &out.dims[d]) || out.dims[d] < 0 ||
          (mode != PAD_CONSTANT && dim == 0 && out.dims[d] > 0))
        return vn_op_fail (ctx, error, _("Pad: dim %d of %lld cannot be padded by %lld and %lld in mode %s"),
                           d, (long long) dim, (long long) pads.begin[d], (long long) pads.end[d], mode_names[mode]);
      tables += (gsize) out.dims[d];
    }
  if (mode != PAD_CONSTANT && vn_shape_is_static (&out))
    ctx->scratch_bytes = tables * sizeof (gint64);
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &out);
  return TRUE;
}

/* The constant as bytes: input 2, or before opset 11 an attribute of float. */
static gboolean
pad_get_constant (VnOpContext *ctx,
                  guint8       value[16],
                  GError     **error)
{
  VnDType dtype = ctx->in[0]->dtype;
  float number = vn_node_get_float (ctx->node, "value", 0.f);
  double wide = number;

  memset (value, 0, 16);
  if (ctx->opset >= 11)
    {
      const VnTensor *constant = ctx->n_inputs > 2 ? ctx->in[2] : NULL;

      if (constant != NULL && constant->n_elements != 1)
        return vn_op_fail (ctx, error, _("Pad: the constant must have 1 element, found %zu"),
                           constant->n_elements);
      if (constant != NULL)
        memcpy (value, constant->data, vn_elem_size (dtype));
      return TRUE;
    }
  if (dtype == VN_DTYPE_F64)
    memcpy (value, &wide, sizeof wide);
  else if (dtype == VN_DTYPE_F32 || (VN_HALF_BITS >> dtype & 1) != 0)
    vn_elem_from_float (dtype, &number, value, 1);
  else if (number != 0)
    return vn_op_unsupported (ctx, 0, error);
  return TRUE;
}

static void
pad_constant (VnOpContext  *ctx,
              const Pads   *pads,
              const guint8 *value)
{
  const VnTensor *in = ctx->in[0];
  VnTensor *out = ctx->out[0];
  gsize size = vn_elem_size (in->dtype);
  gint64 to[VN_MAX_RANK], from[VN_MAX_RANK], to_offset = 0, from_offset = 0;
  VnCopy fill = { 0 }, copy = { 0 };

  vn_copy_add_dim (&fill, (gint64) out->n_elements, 1, 0);
  vn_copy_run (&fill, size, out->data, value);
  vn_shape_strides (&in->shape, from);
  vn_shape_strides (&out->shape, to);
  for (int d = 0; d < in->shape.rank; d++)
    {
      gint64 crop_begin = MAX (-pads->begin[d], 0), crop_end = MAX (-pads->end[d], 0);

      vn_copy_add_dim (&copy, in->shape.dims[d] - crop_begin - crop_end, to[d], from[d]);
      from_offset += crop_begin * from[d];
      to_offset += MAX (pads->begin[d], 0) * to[d];
      if (copy.dims[d] <= 0)
        return;
    }
  vn_copy_run (&copy, size, (char *) out->data + to_offset * (gint64) size,
               (const char *) in->data + from_offset * (gint64) size);
}

static gint64
pad_source_index (PadMode mode,
                  gint64  i,
                  gint64  n)
{
  gint64 period = mode == PAD_WRAP ? n : 2 * (n - 1), k;

  if (mode == PAD_EDGE || n == 1)
    return CLAMP (i, 0, n - 1);
  k = i % period;
  if (k < 0)
    k += period;
  return k < n ? k : period - k;
}

/* From @first on, @inside elements are the row itself. */
static void
pad_row (char         *to,
         const char   *from,
         const gint64 *table,
         gsize         size,
         gint64        n,
         gint64        first,
         gint64        inside)
{
  gint64 end = MIN (first + MAX (inside, 0), n);

  for (gint64 i = 0; i < MIN (first, n); i++)
    memcpy (to + i * (gint64) size, from + table[i] * (gint64) size, size);
  if (end > first)
    memcpy (to + first * (gint64) size, from + table[first] * (gint64) size, (gsize) (end - first) * size);
  for (gint64 i = MAX (end, first); i < n; i++)
    memcpy (to + i * (gint64) size, from + table[i] * (gint64) size, size);
}

/* A table of source offsets per axis, then row by row. */
static void
pad_from_tables (VnOpContext *ctx,
                 const Pads  *pads,
                 PadMode      mode)
{
  const VnTensor *in = ctx->in[0];
  VnTensor *out = ctx->out[0];
  gsize size = vn_elem_size (in->dtype), n_rows;
  gint64 strides[VN_MAX_RANK], index[VN_MAX_RANK] = { 0 }, *tables[VN_MAX_RANK], *next = ctx->scratch;
  int last = in->shape.rank - 1;
  char *to = out->data;

  vn_shape_strides (&in->shape, strides);
  for (int d = 0; d <= last; d++)
    {
      tables[d] = next;
      for (gint64 i = 0; i < out->shape.dims[d]; i++)
        *next++ = pad_source_index (mode, i - pads->begin[d], in->shape.dims[d]) * strides[d];
    }
  n_rows = out->n_elements / (gsize) out->shape.dims[last];
  for (gsize row = 0; row < n_rows; row++)
    {
      const char *from = in->data;

      for (int d = 0; d < last; d++)
        from += tables[d][index[d]] * (gint64) size;
      pad_row (to, from, tables[last], size, out->shape.dims[last], MAX (pads->begin[last], 0),
               in->shape.dims[last] + MIN (pads->begin[last], 0));
      to += (gsize) out->shape.dims[last] * size;
      for (int d = last - 1; d >= 0 && ++index[d] == out->shape.dims[d]; d--)
        index[d] = 0;
    }
}

static gboolean
pad_run (VnOpContext *ctx,
         GError     **error)
{
  guint mode = vn_op_attr_choice (ctx, "mode", "constant", mode_names, error);
  guint8 value[16];
  Pads pads;

  if (mode == G_MAXUINT || !vn_op_check_movable (ctx, error) || !pad_get_pads (ctx, &pads, error) ||
      !pad_get_constant (ctx, value, error))
    return FALSE;
  if (ctx->out[0]->n_elements == 0)
    return TRUE;
  if (mode == PAD_CONSTANT || ctx->in[0]->shape.rank == 0)
    pad_constant (ctx, &pads, ctx->in[0]->shape.rank == 0 ? (const guint8 *) ctx->in[0]->data : value);
  else
    pad_from_tables (ctx, &pads, (PadMode) mode);
  return TRUE;
}

const VnOp vn_op_pad_1 = {
  .domain = "", .type = "Pad", .since = 1,
  .min_inputs = 1, .max_inputs = 4, .min_outputs = 1, .max_outputs = 1,
  .same_dtype = 1u << 2, .others = { [1] = VN_LENGTH_BITS, [3] = VN_INDEX_BITS },
  .dtypes = VN_MOVABLE_BITS,
  .stand_ins = VN_STAND_IN_STRINGS | VN_STAND_IN_PACKED,
  .family = VN_FAMILY_SHAPE,
  .quant = VN_QUANT_TRAITS (VN_QUANT_PASSTHROUGH, TRUE),
  .infer = pad_infer,
  .run = pad_run,
};
