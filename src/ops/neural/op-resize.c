/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Resize and its forerunner Upsample: attributes and inputs of each opset, lengths of the output. */
#include "vn-resize-private.h"

/* What the inputs say, spread over all axes. */
typedef struct
{
  gboolean has_scales, has_sizes, known;
  float    scales[VN_MAX_RANK];
  gint64   sizes[VN_MAX_RANK];
  float    roi[2 * VN_MAX_RANK];
  gint64   axes[VN_MAX_RANK];
  guint    n;
} Wanted;

/* A small list of floats: an input that may not be known yet. */
static gboolean
resize_get_floats (VnOpContext *ctx,
                   guint        input,
                   float       *values,
                   guint        max,
                   guint       *n,
                   gboolean    *known,
                   GError     **error)
{
  const VnTensor *tensor = ctx->in != NULL && input < ctx->n_inputs ? ctx->in[input] : NULL;

  *n = 0;
  *known = tensor != NULL;
  if (tensor == NULL)
    return TRUE;
  if (tensor->n_elements > max || !vn_dtype_is_float (tensor->dtype))
    return vn_op_fail (ctx, error, _("%s: input %u has %zu elements of type %s, expected at most %u floats"), ctx->op->type,
                       input, tensor->n_elements,
                       vn_dtype_get_name (tensor->dtype), max);
  *n = (guint) tensor->n_elements;
  for (guint i = 0; i < *n; i++)
    values[i] = (float) vn_tensor_get_double (tensor, i);
  return TRUE;
}

/* Exporters leave unused inputs as empty tensors instead of omitting them. */
static gboolean
resize_is_given (VnOpContext *ctx,
                 guint        input)
{
  const VnShape *shape = input < ctx->n_inputs ? &ctx->in_types[input].shape : NULL;

  return vn_op_has_input (ctx, input) && !(shape->rank == 1 && shape->dims[0] == 0);
}

static gboolean
resize_get_axes (VnOpContext *ctx,
                 int          rank,
                 Wanted      *self,
                 GError     **error)
{
  gboolean known;
  guint mask;

  if (!vn_op_attr_or_input (ctx, ctx->opset >= 18 ? "axes" : NULL, G_MAXUINT, self->axes, VN_MAX_RANK, &self->n, &known,
                            error))
    return FALSE;
  if (self->n == 0)
    for (; self->n < (guint) rank; self->n++)
      self->axes[self->n] = self->n;
  if (!vn_op_axis_mask (ctx, rank, self->axes, self->n, &mask, error))
    return FALSE;
  for (guint i = 0; i < self->n; i++)
    if (self->axes[i] < 0)
      self->axes[i] += rank;
  return TRUE;
}

/* The very first form had an attribute for each of the last two of four axes. */
static const float *
resize_first_scales (VnOpContext *ctx,
                     int          rank,
                     float        scales[4],
                     gsize       *n)
{
  scales[0] = scales[1] = 1.f;
  scales[2] = vn_node_get_float (ctx->node, "height_scale", 0.f);
  scales[3] = vn_node_get_float (ctx->node, "width_scale", 0.f);
  *n = 4;
  return rank == 4 && scales[2] > 0.f && scales[3] > 0.f ? scales : NULL;
}

static gboolean
resize_get_wanted (VnOpContext *ctx,
                   int          rank,
                   gboolean     needs_roi,
                   Wanted      *self,
                   GError     **error)
{
  guint scales_input = ctx->opset < 11 ? 1 : 2, n = 0;
  gboolean known_roi = TRUE;
  gsize n_attr = 0;
  float first[4];
  const float *attr = ctx->opset < 9 ? vn_node_get_floats (ctx->node, "scales", &n_attr) : NULL;

  *self = (Wanted) { .known = TRUE };
  if (!resize_get_axes (ctx, rank, self, error))
    return FALSE;
  self->has_sizes = ctx->opset >= 11 && resize_is_given (ctx, 3);
  if (ctx->opset < 7)
    attr = resize_first_scales (ctx, rank, first, &n_attr);
  self->has_scales = attr != NULL || (!self->has_sizes && resize_is_given (ctx, scales_input));
  if (!self->has_sizes && !self->has_scales)
    return vn_op_fail (ctx, error, _("%s: neither scales nor sizes are set"), ctx->op->type);
  if (attr != NULL)
    {
      n = (guint) MIN (n_attr, VN_MAX_RANK);
      memcpy (self->scales, attr, n * sizeof *attr);
    }
  else if (self->has_sizes ? !vn_op_attr_or_input (ctx, NULL, 3, self->sizes, VN_MAX_RANK, &n, &self->known, error)
                           : !resize_get_floats (ctx, scales_input, self->scales, VN_MAX_RANK, &n, &self->known, error))
    return FALSE;
  if (self->known && n != self->n)
    return vn_op_fail (ctx, error, _("%s: %u scales or sizes for %u axes"), ctx->op->type, n, self->n);
  if (!needs_roi)
    return TRUE;
  if (!resize_get_floats (ctx, 1, self->roi, 2 * VN_MAX_RANK, &n, &known_roi, error))
    return FALSE;
  /* The region moves where values are taken from, not how many there are. */
  if (known_roi && n != 2 * self->n)
    return vn_op_fail (ctx, error,
                       ngettext ("%s: the region has %u value, expected %u",
                                 "%s: the region has %u values, expected %u", n), ctx->op->type, n, 2 * self->n);
  return TRUE;
}

/* keep_aspect_ratio_policy: one scale for all axes, so that the result fits into (not_larger) or covers (not_smaller)
 * the sizes. */
static gboolean
resize_keep_aspect (VnOpContext *ctx,
                    VnResize    *self,
                    Wanted      *wanted,
                    GError     **error)
{
  static const char * const policies[] = { "stretch", "not_larger", "not_smaller", NULL };
  guint policy = vn_op_attr_choice (ctx, "keep_aspect_ratio_policy", "stretch", policies, error);
  float common = 0.f;

  if (policy == G_MAXUINT)
    return FALSE;
  if (policy == 0 || !wanted->has_sizes)
    return TRUE;
  for (guint i = 0; i < wanted->n; i++)
    {
      float scale = (float) wanted->sizes[i] / (float) self->axes[wanted->axes[i]].in;

      if (i == 0 || (policy == 1 ? scale < common : scale > common))
        common = scale;
    }
  for (guint i = 0; i < wanted->n; i++)
    {
      VnResizeAxis *axis = &self->axes[wanted->axes[i]];

      wanted->sizes[i] = (gint64) floorf (common * (float) axis->in + 0.5f);
      axis->scale = common;
      axis->out = wanted->sizes[i];
    }
  return TRUE;
}

static gboolean
resize_set_lengths (VnOpContext *ctx,
                    VnResize    *self,
                    Wanted      *wanted,
                    GError     **error)
{
  for (guint i = 0; i < wanted->n; i++)
    {
      VnResizeAxis *axis = &self->axes[wanted->axes[i]];
      float length;

      axis->roi_start = wanted->roi[i];
      axis->roi_end = wanted->roi[wanted->n + i];
      if (wanted->has_sizes)
        {
          if (wanted->sizes[i] < 0 || wanted->sizes[i] > G_MAXINT32)
            return vn_op_fail (ctx, error, _("%s: size %u is %lld"), ctx->op->type, i, (long long) wanted->sizes[i]);
          axis->out = wanted->sizes[i];
          axis->scale = (float) axis->out / (float) axis->in;
          continue;
        }
      length = floorf (wanted->scales[i] * (float) axis->in);
      if (!(wanted->scales[i] > 0.f) || length > (float) (1 << 30))
        return vn_op_fail (ctx, error, _("%s: scale %u of an axis of %lld is %g"),
                           ctx->op->type, i, (long long) axis->in, (double) wanted->scales[i]);
      axis->scale = wanted->scales[i];
      axis->out = (gint64) length;
    }
  return resize_keep_aspect (ctx, self, wanted, error);
}

static gboolean
resize_read_modes (VnOpContext *ctx,
                   VnResize    *self,
                   GError     **error)
{
  static const char * const modes[] = { "nearest", "linear", "cubic", "bilinear", NULL };
  static const char * const coords[] = { "half_pixel", "pytorch_half_pixel", "half_pixel_symmetric", "align_corners",
                                         "asymmetric", "tf_crop_and_resize", "tf_half_pixel_for_nn", NULL };
  static const char * const nearest[] = { "round_prefer_floor", "round_prefer_ceil", "floor", "ceil", NULL };
  guint mode = vn_op_attr_choice (ctx, "mode", "nearest", modes, error), coord, rounding;

  if (mode == G_MAXUINT)
    return FALSE;
  self->mode = mode == 3 ? VN_RESIZE_LINEAR : (VnResizeMode) mode;
  if (ctx->opset < 11)
    {
      self->coord = VN_COORD_ASYMMETRIC;
      self->nearest = g_str_equal (ctx->op->type, "Upsample") ? VN_NEAREST_FLOOR : VN_NEAREST_SIMPLE;
      return TRUE;
    }
  coord = vn_op_attr_choice (ctx, "coordinate_transformation_mode", "half_pixel", coords, error);
  if (coord == G_MAXUINT)
    return FALSE;
  rounding = vn_op_attr_choice (ctx, "nearest_mode", "round_prefer_floor", nearest, error);
  if (rounding == G_MAXUINT)
    return FALSE;
  self->coord = (VnCoordMode) coord;
  self->nearest = (VnNearestMode) rounding;
  self->cubic_a = vn_node_get_float (ctx->node, "cubic_coeff_a", -0.75f);
  self->exclude_outside = vn_node_get_int (ctx->node, "exclude_outside", 0) != 0 && self->mode == VN_RESIZE_CUBIC;
  self->extrapolation = vn_node_get_float (ctx->node, "extrapolation_value", 0.f);
  self->antialias = ctx->opset >= 18 && vn_node_get_int (ctx->node, "antialias", 0) != 0 &&
                    self->mode != VN_RESIZE_NEAREST;
  return TRUE;
}

/* @known: (out): whether all lengths are */
static gboolean
resize_resolve (VnOpContext *ctx,
                VnResize    *self,
                gboolean    *known,
                GError     **error)
{
  const VnShape *input = &ctx->in_types[0].shape;
  Wanted wanted;

  *self = (VnResize) { .rank = input->rank };
  if (!resize_read_modes (ctx, self, error) ||
      !resize_get_wanted (ctx, input->rank, self->coord == VN_COORD_TF_CROP_AND_RESIZE, &wanted, error))
    return FALSE;
  *known = wanted.known && vn_shape_is_static (input);
  for (int d = 0; d < input->rank; d++)
    {
      if (input->dims[d] > G_MAXINT32 / 2)
        return vn_op_fail (ctx, error, _("%s: dim %d of %lld is too long"), ctx->op->type, d,
                           (long long) input->dims[d]);
      self->axes[d] = (VnResizeAxis) { input->dims[d], input->dims[d], 1.f, 0.f, 1.f };
    }
  if (!*known)
    return TRUE;
  return resize_set_lengths (ctx, self, &wanted, error);
}

/**
 * vn_resize_init:
 * @ctx: of Resize or Upsample as it is run
 *
 * Returns: %FALSE if attributes and sizes do not fit, or are not known
 */
gboolean
vn_resize_init (VnResize     *self,
                VnOpContext  *ctx,
                GError      **error)
{
  gboolean known;

  if (!resize_resolve (ctx, self, &known, error))
    return FALSE;
  return known || vn_op_fail (ctx, error, _("%s: the scales or sizes are unknown"), ctx->op->type);
}

/* Sizes or scales that are known by name. */
static gboolean
resize_get_open (VnOpContext  *ctx,
                 const Wanted *wanted,
                 gint64       *open)
{
  const VnTensor *tensor = ctx->numbers != NULL && ctx->opset >= 10
                           ? ctx->numbers->in[wanted->has_sizes ? 3 : ctx->opset < 11 ? 1 : 2] : NULL;

  if (tensor == NULL || tensor->n_elements != wanted->n)
    return FALSE;
  memcpy (open, tensor->data, tensor->n_bytes);
  return TRUE;
}

/* @number: size, or scale */
static gint64
resize_open_length (VnOpContext  *ctx,
                    const Wanted *wanted,
                    gint64        dim,
                    gint64        number)
{
  VnDims *dims = vn_op_get_dims (ctx, dim);

  if (wanted->has_sizes)
    return vn_op_attr_is (ctx, "keep_aspect_ratio_policy", "stretch", "stretch") ? vn_dims_as_size (dims, number)
                                                                                 : VN_DIM_UNKNOWN;
  return vn_dims_as_size (dims, vn_dims_floor_div (dims, vn_dims_mul (dims, dim, number), 1));
}

/* Where only the batch is unknown the other lengths can be told. */
static void
resize_partly_known (VnOpContext *ctx,
                     VnShape     *out)
{
  Wanted wanted;
  gint64 open[VN_MAX_RANK];

  for (int d = 0; d < out->rank; d++)
    out->dims[d] = VN_DIM_UNKNOWN;
  if (!resize_get_wanted (ctx, out->rank, FALSE, &wanted, NULL))
    return;
  for (int d = 0; d < out->rank; d++)
    out->dims[d] = ctx->in_types[0].shape.dims[d];
  if (!wanted.known)
    {
      gboolean open_known = resize_get_open (ctx, &wanted, open);

      for (guint i = 0; i < wanted.n; i++)
        out->dims[wanted.axes[i]] = !open_known ? VN_DIM_UNKNOWN
                                    : resize_open_length (ctx, &wanted, out->dims[wanted.axes[i]], open[i]);
      return;
    }
  for (guint i = 0; i < wanted.n; i++)
    {
      gint64 *dim = &out->dims[wanted.axes[i]];

      if (wanted.has_sizes)
        *dim = wanted.sizes[i] >= 0 && !vn_op_attr_is (ctx, "keep_aspect_ratio_policy", "not_larger", "") &&
               !vn_op_attr_is (ctx, "keep_aspect_ratio_policy", "not_smaller", "") ? wanted.sizes[i] : VN_DIM_UNKNOWN;
      else if (*dim >= 0)
        *dim = wanted.scales[i] > 0.f && wanted.scales[i] * (float) *dim < 0x1p30f
               ? (gint64) floorf (wanted.scales[i] * (float) *dim) : VN_DIM_UNKNOWN;
      else
        *dim = resize_open_length (ctx, &wanted, *dim,
                                   vn_dims_from_double (vn_op_get_dims (ctx, *dim), (double) wanted.scales[i]));
    }
}

static gboolean
resize_infer (VnOpContext *ctx,
              GError     **error)
{
  VnShape out = ctx->in_types[0].shape;
  gboolean known, empty = FALSE;
  VnResize self;

  if (out.rank < 0)
    {
      vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &out);
      return TRUE;
    }
  if (!resize_resolve (ctx, &self, &known, error))
    return FALSE;
  if (!known)
    resize_partly_known (ctx, &out);
  for (int d = 0; known && d < out.rank; d++)
    {
      out.dims[d] = self.axes[d].out;
      empty = empty || self.axes[d].in == 0 || self.axes[d].out == 0;
    }
  if (known && !empty && !vn_resize_scratch (&self, ctx->in_types[0].dtype, &ctx->scratch_bytes))
    return vn_op_fail (ctx, error, _("%s: the output is too large"), ctx->op->type);
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &out);
  return TRUE;
}

static gboolean
resize_run (VnOpContext *ctx,
            GError     **error)
{
  VnResize self;

  if (!vn_op_check_movable (ctx, error) || !vn_resize_init (&self, ctx, error))
    return FALSE;
  if (self.mode != VN_RESIZE_NEAREST && (VN_NUMBER_BITS >> ctx->in[0]->dtype & 1) == 0)
    return vn_op_unsupported (ctx, 0, error);
  if (ctx->in[0]->n_elements == 0 && ctx->out[0]->n_elements != 0)
    return vn_op_fail (ctx, error, _("%s: cannot upsample an empty input"), ctx->op->type);
  if (ctx->out[0]->n_elements > 0)
    vn_resize_compute (&self, ctx->in[0], ctx->out[0], ctx->scratch);
  return TRUE;
}

#define RESIZE(variable, name, first, last, least, most, ort, ...)               \
  const VnOp variable = {                                                        \
    .domain = "", .type = name, .since = first, .until = last,                   \
    .min_inputs = least, .max_inputs = most, .min_outputs = 1, .max_outputs = 1, \
    .dtypes = VN_MOVABLE_BITS,                                                   \
    .others = { __VA_ARGS__ },                                                   \
    .stand_ins = VN_STAND_IN_STRINGS,                                            \
    .family = VN_FAMILY_SHAPE,                                                   \
    .quant = VN_QUANT_TRAITS (VN_QUANT_PASSTHROUGH, ort),                        \
    .infer = resize_infer,                                                       \
    .run = resize_run,                                                           \
  };

RESIZE (vn_op_resize_10, "Resize", 10, 10, 2, 2, FALSE, [1] = VN_DTYPE_BIT (F32))
RESIZE (vn_op_resize_11, "Resize", 11, 0, 1, 4, TRUE, [1] = VN_FLOAT_BITS, [2] = VN_DTYPE_BIT (F32), [3] = VN_LENGTH_BITS)
RESIZE (vn_op_upsample_1, "Upsample", 1, 6, 1, 1, FALSE, 0)
RESIZE (vn_op_upsample_7, "Upsample", 7, 8, 1, 1, FALSE, 0)
RESIZE (vn_op_upsample_9, "Upsample", 9, 0, 2, 2, FALSE, [1] = VN_DTYPE_BIT (F32))
