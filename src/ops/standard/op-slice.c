/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slice: start, end and step per axis, as NumPy's. Bounds beyond the dim are clamped to it. */
#include "vn-dims-private.h"
#include "vn-elem.h"

typedef struct
{
  gboolean known;             /* all of starts, ends, axes and steps */
  guint    named;             /* bit per axis that is sliced; meaningful if the axes are known */
  gint64   start[VN_MAX_RANK], step[VN_MAX_RANK];
  VnShape  out;
} Slices;

typedef struct
{
  gint64   starts[VN_MAX_RANK], ends[VN_MAX_RANK], axes[VN_MAX_RANK], steps[VN_MAX_RANK];
  guint    n_starts, n_ends, n_axes, n_steps;
  gboolean bounds_known, axes_known, steps_known;
} Arguments;

static gboolean
slice_get_arguments (VnOpContext *ctx,
                     Arguments   *args,
                     GError     **error)
{
  gboolean as_attr = ctx->opset < 10, known_ends;

  if (!vn_op_attr_or_input (ctx, as_attr ? "starts" : NULL, 1, args->starts, VN_MAX_RANK, &args->n_starts,
                            &args->bounds_known, error) ||
      !vn_op_attr_or_input (ctx, as_attr ? "ends" : NULL, 2, args->ends, VN_MAX_RANK, &args->n_ends, &known_ends, error) ||
      !vn_op_attr_or_input (ctx, as_attr ? "axes" : NULL, 3, args->axes, VN_MAX_RANK, &args->n_axes,
                            &args->axes_known, error) ||
      !vn_op_attr_or_input (ctx, NULL, 4, args->steps, VN_MAX_RANK, &args->n_steps, &args->steps_known, error))
    return FALSE;
  args->bounds_known = args->bounds_known && known_ends;
  if (args->bounds_known && args->n_starts != args->n_ends)
    return vn_op_fail (ctx, error, _("Slice: %u starts and %u ends"), args->n_starts, args->n_ends);
  if (args->bounds_known && args->axes_known && args->n_axes != 0 && args->n_axes != args->n_starts)
    return vn_op_fail (ctx, error, _("Slice: %u starts and %u axes"), args->n_starts, args->n_axes);
  if (args->bounds_known && args->steps_known && args->n_steps != 0 && args->n_steps != args->n_starts)
    return vn_op_fail (ctx, error, _("Slice: %u starts and %u steps"), args->n_starts, args->n_steps);
  for (guint i = 0; i < args->n_steps; i++)
    if (args->steps[i] == 0)
      return vn_op_fail (ctx, error, _("Slice: step %u is 0"), i);
  return TRUE;
}

/* Bounds that are known by name. */
static gboolean
slice_get_open_bounds (VnOpContext *ctx,
                       Arguments   *args)
{
  return ctx->numbers != NULL && ctx->opset >= 10 &&
         vn_op_get_numbers_input (ctx, 1, args->starts, VN_MAX_RANK, &args->n_starts) &&
         vn_op_get_numbers_input (ctx, 2, args->ends, VN_MAX_RANK, &args->n_ends) && args->n_starts == args->n_ends &&
         (args->n_axes == 0 || args->n_axes == args->n_starts) && (args->n_steps == 0 || args->n_steps == args->n_starts);
}

/* One axis of known length; returns how many elements are taken. */
static gint64
slice_axis (gint64  dim,
            gint64  start,
            gint64  end,
            gint64  step,
            gint64 *first)
{
  gint64 low = step > 0 ? 0 : -1, high = step > 0 ? dim : dim - 1, distance, stride;

  /* “To the end” backwards is what exporters mean by the largest integers, and ONNX Runtime does by them. */
  if (step < 0 && (end == G_MAXINT32 || end == G_MAXINT64))
    end = G_MININT64;
  if (start < 0)
    start += dim;
  if (end < 0)
    end += dim;
  start = CLAMP (start, 0, MAX (high, 0));
  end = CLAMP (end, low, high);
  *first = start;
  if (dim == 0)
    return 0;
  distance = step > 0 ? end - start : start - end;
  if (distance <= 0)
    return 0;
  stride = step > 0 ? step : step == G_MININT64 ? G_MAXINT64 : -step;
  return (distance - 1) / stride + 1;
}

/* How many elements are taken where numbers are known by name; a size below 0 is none. */
static gint64
slice_open (VnDims *dims,
            gint64  dim,
            gint64  start,
            gint64  end,
            gint64  step)
{
  gboolean far;

  if (dims == NULL || vn_dims_is_symbolic (step))
    return VN_DIM_UNKNOWN;
  far = !vn_dims_is_symbolic (end) && end >= dims->far;
  if (step < 0)
    return step == -1 && start == -1 && !vn_dims_is_symbolic (end) && (far || end <= -dims->far) ? dim : VN_DIM_UNKNOWN;
  if (vn_dims_get_lower (dims, start) < 0)
    start = vn_dims_is_symbolic (start) ? VN_DIM_UNKNOWN : vn_dims_max (dims, vn_dims_add (dims, dim, start), 0);
  if (start == VN_DIM_UNKNOWN)
    return VN_DIM_UNKNOWN;
  if (far)
    end = dim;
  else if (vn_dims_get_lower (dims, end) >= 0)
    end = vn_dims_min (dims, end, dim);
  else if (!vn_dims_is_symbolic (end))
    end = vn_dims_add (dims, dim, end);
  else
    return VN_DIM_UNKNOWN;
  end = vn_dims_max (dims, vn_dims_sub (dims, end, start), 0);
  return vn_dims_as_size (dims, vn_dims_ceil_div (dims, end, step));
}

static gboolean
slice_resolve (VnOpContext *ctx,
               Slices      *self,
               GError     **error)
{
  const VnShape *input = &ctx->in_types[0].shape;
  Arguments args = { 0 };
  gboolean known;
  guint n;

  *self = (Slices) { .out = *input };
  if (!slice_get_arguments (ctx, &args, error))
    return FALSE;
  self->known = args.bounds_known && args.axes_known && args.steps_known;
  if (input->rank < 0)
    return TRUE;
  for (int d = 0; d < input->rank; d++)
    self->step[d] = 1;
  known = args.axes_known && args.steps_known && (args.bounds_known || slice_get_open_bounds (ctx, &args));
  n = known || args.bounds_known ? args.n_starts : args.n_axes;
  if (!args.axes_known || (!known && !args.bounds_known && args.n_axes == 0))
    {
      for (int d = 0; d < input->rank; d++)
        self->out.dims[d] = VN_DIM_UNKNOWN;
      return TRUE;
    }
  for (guint i = 0; i < n; i++)
    {
      int axis;

      if (!vn_op_axis (ctx, input, args.n_axes > 0 ? args.axes[i] : (gint64) i, &axis, error))
        return FALSE;
      if ((self->named >> axis & 1) != 0)
        return vn_op_fail (ctx, error, _("Slice: axis %d is named twice"), axis);
      self->named |= 1u << axis;
      self->out.dims[axis] = VN_DIM_UNKNOWN;
      if (known && (!self->known || input->dims[axis] < 0))
        self->out.dims[axis] = slice_open (vn_op_get_dims (ctx, input->dims[axis]), input->dims[axis], args.starts[i],
                                           args.ends[i], args.n_steps > 0 ? args.steps[i] : 1);
      if (!self->known || input->dims[axis] < 0)
        continue;
      self->step[axis] = args.n_steps > 0 ? args.steps[i] : 1;
      self->out.dims[axis] = slice_axis (input->dims[axis], args.starts[i], args.ends[i], self->step[axis],
                                         &self->start[axis]);
    }
  return TRUE;
}

static gboolean
slice_infer (VnOpContext *ctx,
             GError     **error)
{
  Slices slices;

  if (!slice_resolve (ctx, &slices, error))
    return FALSE;
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &slices.out);
  return TRUE;
}

static gboolean
slice_run (VnOpContext *ctx,
           GError     **error)
{
  const VnTensor *in = ctx->in[0];
  VnTensor *out = ctx->out[0];
  gsize size = vn_elem_size (in->dtype);
  gint64 to[VN_MAX_RANK], from[VN_MAX_RANK], offset = 0;
  VnCopy copy = { 0 };
  Slices slices;

  if (!vn_op_check_movable (ctx, error) || !slice_resolve (ctx, &slices, error))
    return FALSE;
  if (out->n_elements == 0)
    return TRUE;
  vn_shape_strides (&in->shape, from);
  vn_shape_strides (&out->shape, to);
  for (int d = 0; d < in->shape.rank; d++)
    {
      offset += slices.start[d] * from[d];
      /* A step beyond the dim is taken once at most, and might overflow. */
      vn_copy_add_dim (&copy, out->shape.dims[d], to[d], out->shape.dims[d] > 1 ? slices.step[d] * from[d] : 0);
    }
  vn_copy_run (&copy, size, out->data, (const char *) in->data + offset * (gint64) size);
  return TRUE;
}

#define SLICE(variable, first, last, least, most)                                                     \
  const VnOp variable = {                                                                             \
    .domain = "", .type = "Slice", .since = first, .until = last,                                     \
    .min_inputs = least, .max_inputs = most, .min_outputs = 1, .max_outputs = 1,                      \
    .others = { [1] = VN_INDEX_BITS, [2] = VN_INDEX_BITS, [3] = VN_INDEX_BITS, [4] = VN_INDEX_BITS }, \
    .dtypes = VN_MOVABLE_BITS,                                                                        \
    .stand_ins = VN_STAND_IN_STRINGS | VN_STAND_IN_PACKED,                                            \
    .family = VN_FAMILY_SHAPE,                                                                        \
    .quant = VN_QUANT_TRAITS (VN_QUANT_PASSTHROUGH, TRUE),                                            \
    .infer = slice_infer,                                                                             \
    .run = slice_run,                                                                                 \
  };

SLICE (vn_op_slice_1, 1, 9, 1, 1)
SLICE (vn_op_slice_10, 10, 0, 3, 5)
