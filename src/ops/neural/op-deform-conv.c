/* SPDX-License-Identifier: GPL-3.0-or-later */
/* DeformConv: a convolution over 1 to 3 spatial axes whose taps are moved by offsets, one set per output position, and
 * weighted by a mask. The moved taps become columns, which a matrix product combines. */
#include "vn-gemm-general.h"
#include "vn-number.h"
#include "vn-sliding-window.h"

enum { X, W, OFFSET, BIAS, MASK };

typedef struct
{
  VnOpContext *ctx;
  VnSlidingWindow     win;
  gsize        group, offset_group, taps, in_size, out_size, channels, out_channels;
} Deform;

static gboolean
deform_conv_get_group (VnOpContext  *ctx,
                       const char   *name,
                       gint64        channels,
                       gsize        *group,
                       GError      **error)
{
  gint64 n = vn_node_get_int (ctx->node, name, 1);

  if (n < 1 || (channels >= 0 && (channels % n != 0 || n > MAX (channels, 1))))
    return vn_op_fail (ctx, error, _("%s is %lld, but there are %lld channels"), name, (long long) n, (long long) channels);
  *group = (gsize) n;
  return TRUE;
}

/* Everything that must be known to compute; the sizes of @self are right only if all shapes are static. */
static gboolean
deform_init (Deform       *self,
             VnOpContext  *ctx,
             GError      **error)
{
  const VnShape *x = &ctx->in_types[X].shape, *w = &ctx->in_types[W].shape;
  gint64 kernel[VN_MAX_RANK];

  *self = (Deform) { .ctx = ctx };
  if (x->rank < 3 || x->rank > 5 || w->rank != x->rank)
    return vn_op_fail (ctx, error, _("input rank %d and weight rank %d: expected equal ranks from 3 to 5"), x->rank, w->rank);
  if (!vn_sliding_window_get_kernel (ctx, w, x->rank - 2, kernel, error) ||
      !vn_sliding_window_init (&self->win, ctx, x, kernel, FALSE, error) ||
      !deform_conv_get_group (ctx, "offset_group", x->dims[1], &self->offset_group, error) ||
      !deform_conv_get_group (ctx, "group", x->dims[1], &self->group, error) ||
      !deform_conv_get_group (ctx, "group", w->dims[0], &self->group, error))
    return FALSE;
  if (x->dims[1] >= 0 && w->dims[1] >= 0 && x->dims[1] / (gint64) self->group != w->dims[1])
    return vn_op_fail (ctx, error, _("%lld channels in %zu groups, but the weight is for %lld"),
                       (long long) x->dims[1], self->group, (long long) w->dims[1]);
  self->taps = (gsize) MAX (vn_sliding_window_get_volume (self->win.kernel), 0);
  self->in_size = (gsize) MAX (vn_sliding_window_get_volume (self->win.in), 0);
  self->out_size = (gsize) MAX (vn_sliding_window_get_volume (self->win.out), 0);
  self->channels = (gsize) MAX (x->dims[1], 0);
  self->out_channels = (gsize) MAX (w->dims[0], 0);
  return TRUE;
}

static gboolean
deform_conv_check_input (VnOpContext    *ctx,
                         guint           input,
                         const VnShape  *expected,
                         GError        **error)
{
  const VnShape *shape = input < ctx->n_inputs ? &ctx->in_types[input].shape : NULL;

  if (!vn_op_has_input (ctx, input) || !vn_shape_is_static (shape) || !vn_shape_is_static (expected) ||
      vn_shape_equal (shape, expected))
    return TRUE;
  {
    g_autofree char *found = vn_shape_to_string (shape, "×");
    g_autofree char *wanted = vn_shape_to_string (expected, "×");

    return vn_op_fail (ctx, error, _("input %u is %s, expected %s"), input, found, wanted);
  }
}

static gboolean
deform_conv_infer (VnOpContext *ctx,
                   GError     **error)
{
  const VnShape *x = &ctx->in_types[X].shape, *w = &ctx->in_types[W].shape;
  VnShape y = VN_SHAPE_UNKNOWN, offset;
  gsize columns;
  Deform self;

  if (x->rank >= 0 && w->rank >= 0)
    {
      if (!deform_init (&self, ctx, error))
        return FALSE;
      y = VN_SHAPE (x->dims[0], w->dims[0]);
      vn_sliding_window_get_output (&self.win, &y);
      offset = y;
      if (!vn_checked_mul_s64 ((gint64) self.offset_group, (gint64) self.taps * (x->rank - 2), &offset.dims[1]))
        return vn_op_fail (ctx, error, _("offset_group is %zu"), self.offset_group);
      if (self.taps == 0)
        offset.dims[1] = VN_DIM_UNKNOWN;
      if (!deform_conv_check_input (ctx, OFFSET, &offset, error) ||
          !deform_conv_check_input (ctx, BIAS, &VN_SHAPE (w->dims[0]), error))
        return FALSE;
      if (offset.dims[1] > 0)
        offset.dims[1] /= x->rank - 2;
      if (!deform_conv_check_input (ctx, MASK, &offset, error))
        return FALSE;
      if (!vn_checked_mul (self.channels, self.taps, &columns) || !vn_checked_mul (columns, self.out_size, &columns) ||
          !vn_checked_mul (columns, sizeof (double), &ctx->scratch_bytes))
        return vn_op_fail (ctx, error, _("the im2col buffer does not fit in memory"));
    }
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &y);
  return TRUE;
}

/* Up to 8 neighbours of a position between elements; those outside are left out. */
typedef struct
{
  guint  n;
  gsize  offset[8];
  double weight[8];
} Corners;

static void
deform_conv_find_corners (const VnSlidingWindow *win,
                          const double    at[3],
                          double          scale,
                          Corners        *corners)
{
  Corners before;

  *corners = (Corners) { 1, { 0 }, { scale } };
  for (int a = 0; a < 3; a++)
    {
      double low = floor (at[a]);

      before = *corners;
      corners->n = 0;
      if (!(at[a] > -1. && at[a] < (double) win->in[a]))
        return;
      for (guint i = 0; i < before.n; i++)
        for (int k = 0; k < 2; k++)
          {
            gint64 index = (gint64) low + k;
            double weight = k == 0 ? 1. - (at[a] - low) : at[a] - low;

            if (index < 0 || index >= win->in[a] || (k == 1 && weight == 0.))
              continue;
            corners->offset[corners->n] = before.offset[i] * (gsize) win->in[a] + (gsize) index;
            corners->weight[corners->n++] = before.weight[i] * weight;
          }
    }
}

typedef struct
{
  const Deform *deform;
  gsize         sample;
} Fill;

/* Corners of tap @tap at output position @p. */
static void
deform_conv_corners_at (const Fill *fill,
                        gsize       group,
                        gsize       tap,
                        gsize       p,
                        Corners    *corners)
{
  const Deform *self = fill->deform;
  const VnSlidingWindow *win = &self->win;
  VnOpContext *ctx = self->ctx;
  gsize n = (gsize) win->n_spatial, row = (fill->sample * self->offset_group + group) * self->taps + tap;
  gint64 k[3] = { (gint64) tap / win->kernel[2] / win->kernel[1], (gint64) tap / win->kernel[2] % win->kernel[1],
                  (gint64) tap % win->kernel[2] };
  gint64 o[3] = { (gint64) p / win->out[2] / win->out[1], (gint64) p / win->out[2] % win->out[1], (gint64) p % win->out[2] };
  double at[3] = { 0 }, scale = 1.;

  for (gsize d = 0; d < n; d++)
    {
      gsize a = 3 - n + d;

      at[a] = (double) (o[a] * win->stride[a] + k[a] * win->dilation[a] - win->begin[a]) +
              vn_tensor_get_double (ctx->in[OFFSET], (row * n + d) * self->out_size + p);
    }
  if (vn_op_has_input (ctx, MASK))
    scale = vn_tensor_get_double (ctx->in[MASK], row * self->out_size + p);
  deform_conv_find_corners (win, at, scale, corners);
}

/* One tap for all channels of one offset group. */
static void
deform_conv_fill_rows (gpointer data,
                       gsize    item,
                       guint    worker)
{
  const Fill *fill = data;
  const Deform *self = fill->deform;
  const VnTensor *x = self->ctx->in[X];
  gsize group = item / self->taps, tap = item % self->taps, n = self->channels / self->offset_group;

  for (gsize p = 0; p < self->out_size; p++)
    {
      Corners corners;

      deform_conv_corners_at (fill, group, tap, p, &corners);
      for (gsize c = group * n; c < (group + 1) * n; c++)
        {
          gsize from = (fill->sample * self->channels + c) * self->in_size;
          double sum = 0;

          for (guint i = 0; i < corners.n; i++)
            sum += corners.weight[i] * (x->dtype == VN_DTYPE_F32 ? (double) ((const float *) x->data)[from + corners.offset[i]]
                                                                 : ((const double *) x->data)[from + corners.offset[i]]);
          vn_number_store (x->dtype, self->ctx->scratch, (c * self->taps + tap) * self->out_size + p, sum);
        }
    }
}

/* y of one sample = weight × columns + bias, group by group */
static void
deform_conv_multiply (const Deform *self,
                      gsize         sample)
{
  VnOpContext *ctx = self->ctx;
  gboolean is_f32 = ctx->in[X]->dtype == VN_DTYPE_F32, has_bias = vn_op_has_input (ctx, BIAS);
  gsize m = self->out_channels / self->group, k = self->channels / self->group * self->taps, n = self->out_size;

  for (gsize i = 0; i < self->out_channels * n; i++)
    vn_number_store (ctx->out[0]->dtype, ctx->out[0]->data, sample * self->out_channels * n + i,
                     has_bias ? vn_tensor_get_double (ctx->in[BIAS], i / n) : 0.);
  for (gsize g = 0; g < self->group && k > 0; g++)
    {
      gsize to = (sample * self->out_channels + g * m) * n;

      if (is_f32)
        vn_gemm_general (FALSE, FALSE, m, n, k, 1.f, (const float *) ctx->in[W]->data + g * m * k, k,
                         (const float *) ctx->scratch + g * k * n, n, 1.f, (float *) ctx->out[0]->data + to, n);
      else
        vn_gemm_general_f64 (FALSE, FALSE, m, n, k, 1., (const double *) ctx->in[W]->data + g * m * k, k,
                             (const double *) ctx->scratch + g * k * n, n, 1., (double *) ctx->out[0]->data + to, n);
    }
}

static gboolean
deform_conv_run (VnOpContext *ctx,
                 GError     **error)
{
  gsize samples = (gsize) ctx->in[X]->shape.dims[0];
  Deform self;

  if ((ctx->op->dtypes >> ctx->in[X]->dtype & 1) == 0)
    return vn_op_unsupported (ctx, 0, error);
  if (!deform_init (&self, ctx, error))
    return FALSE;
  if (ctx->out[0]->n_elements == 0)
    return TRUE;
  for (gsize s = 0; s < samples; s++)
    {
      Fill fill = { &self, s };

      vn_op_for_items (ctx, self.offset_group * self.taps,
                       (50. + 10. * (double) (self.channels / self.offset_group)) * (double) self.out_size, deform_conv_fill_rows,
                       &fill);
      deform_conv_multiply (&self, s);
    }
  return TRUE;
}

const VnOp vn_op_deform_conv_19 = {
  .domain = "", .type = "DeformConv", .since = 19,
  .min_inputs = 3, .max_inputs = 5, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_FULL_FLOAT_BITS, .same_dtype = 1u << W | 1u << OFFSET | 1u << BIAS | 1u << MASK,
  .stand_ins = VN_STAND_IN_HALVES,
  .family = VN_FAMILY_COMPUTE,
  .infer = deform_conv_infer,
  .run = deform_conv_run,
};
