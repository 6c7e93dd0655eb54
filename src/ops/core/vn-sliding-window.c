/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a kernel slides over spatial axes: strides, dilations and padding from the attributes, and the size of the
 * output. */
#include "vn-sliding-window.h"

/* Far above any real network, far below what could overflow a product of two. */
#define MAX_SIZE ((gint64) 1 << 30)

/* Taps of a kernel: each is visited for each output, so a wild number would run forever. */
#define MAX_TAPS ((gint64) 1 << 24)

/**
 * vn_sliding_window_get_ints:
 * @name: an attribute with one number per spatial axis
 * @n: how many numbers it must have
 * @min: the smallest that makes sense
 * @fallback: for all, if the attribute is absent
 * @values: (out): @n numbers
 *
 * Returns: %FALSE if the attribute has another length or a number out of range
 */
gboolean
vn_sliding_window_get_ints (VnOpContext  *ctx,
                            const char   *name,
                            int           n,
                            gint64        min,
                            gint64        fallback,
                            gint64       *values,
                            GError      **error)
{
  gsize given;
  const gint64 *numbers = vn_node_get_ints (ctx->node, name, &given);

  for (int i = 0; i < n; i++)
    values[i] = fallback;
  if (numbers == NULL || given == 0)
    return TRUE;
  if (given != (gsize) n)
    return vn_op_fail (ctx, error, _("%s has %zu values, expected %d"), name, given, n);
  for (int i = 0; i < n; i++)
    {
      values[i] = numbers[i];
      if (values[i] < min || values[i] > MAX_SIZE)
        return vn_op_fail (ctx, error, _("%s contains %lld, expected at least %lld"),
                           name, (long long) values[i], (long long) min);
    }
  return TRUE;
}

/**
 * vn_sliding_window_get_kernel:
 * @w: (nullable): shape of a convolution's weight, the kernel from axis 2 on; must agree with the attribute
 * @n_spatial: number of spatial axes
 * @kernel: (out): @n_spatial sizes, %VN_DIM_UNKNOWN where neither attribute nor weight tells
 *
 * Returns: %FALSE if attribute and weight contradict, or a needed attribute is missing
 */
gboolean
vn_sliding_window_get_kernel (VnOpContext   *ctx,
                              const VnShape *w,
                              int            n_spatial,
                              gint64        *kernel,
                              GError       **error)
{
  if (!vn_sliding_window_get_ints (ctx, "kernel_shape", n_spatial, 1, VN_DIM_UNKNOWN, kernel, error))
    return FALSE;
  if (w == NULL && n_spatial > 0 && kernel[0] < 0)
    return vn_op_fail (ctx, error, _("kernel_shape is missing"));
  for (int i = 0; w != NULL && w->rank == n_spatial + 2 && i < n_spatial; i++)
    {
      gint64 size = w->dims[i + 2];

      if (size >= 0 && kernel[i] >= 0 && size != kernel[i])
        return vn_op_fail (ctx, error, _("kernel_shape is %lld, but the weight has %lld"),
                           (long long) kernel[i], (long long) size);
      if (size == 0)
        return vn_op_fail (ctx, error, _("the kernel is empty"));
      if (kernel[i] < 0)
        kernel[i] = size;
    }
  return TRUE;
}

/* The output size of an axis whose own size is open. */
static gint64
window_open_output (const VnSlidingWindow *self,
                    VnDims         *dims,
                    int             a,
                    const char     *auto_pad,
                    gboolean        ceil_mode)
{
  gint64 extent = self->dilation[a] * (self->kernel[a] - 1) + 1, room;

  if (self->kernel[a] < 0 || self->kernel[a] > MAX_SIZE)
    return VN_DIM_UNKNOWN;
  if (g_str_has_prefix (auto_pad, "SAME_"))
    return vn_dims_as_size (dims, vn_dims_ceil_div (dims, self->in[a], self->stride[a]));
  room = vn_dims_add (dims, self->in[a], self->begin[a] + self->end[a] - extent);
  room = ceil_mode ? vn_dims_ceil_div (dims, room, self->stride[a]) : vn_dims_floor_div (dims, room, self->stride[a]);
  room = vn_dims_add (dims, room, 1);
  if (ceil_mode)
    room = vn_dims_min (dims, room, vn_dims_ceil_div (dims, vn_dims_add (dims, self->in[a], self->begin[a]),
                                                      self->stride[a]));
  return vn_dims_as_size (dims, room);
}

/* One axis: padding and output size. */
static gboolean
window_resolve_axis (VnSlidingWindow    *self,
                     VnOpContext *ctx,
                     int          a,
                     const char  *auto_pad,
                     gboolean     ceil_mode,
                     GError     **error)
{
  gint64 extent = self->dilation[a] * (self->kernel[a] - 1) + 1;
  gint64 in = self->in[a], stride = self->stride[a], room;

  self->out[a] = in < 0 ? window_open_output (self, vn_op_get_dims (ctx, in), a, auto_pad, ceil_mode) : VN_DIM_UNKNOWN;
  if (in < 0 || self->kernel[a] < 0)
    return TRUE;
  if (in > MAX_SIZE || self->kernel[a] > MAX_SIZE)
    return vn_op_fail (ctx, error, _("an axis of %lld is too large"), (long long) MAX (in, self->kernel[a]));
  if (g_str_has_prefix (auto_pad, "SAME_"))
    {
      gint64 total;

      self->out[a] = (in + stride - 1) / stride;
      total = MAX (0, (self->out[a] - 1) * stride + extent - in);
      self->begin[a] = g_str_equal (auto_pad, "SAME_UPPER") ? total / 2 : total - total / 2;
      self->end[a] = total - self->begin[a];
      return TRUE;
    }

  room = in + self->begin[a] + self->end[a] - extent;
  if (in == 0 || room < 0)
    return vn_op_fail (ctx, error,
                       _("a kernel that spans %lld does not fit into %lld"
                         " with padding %lld"), (long long) extent, (long long) in,
                         (long long) (self->begin[a] + self->end[a]));
  self->out[a] = (room + (ceil_mode ? stride - 1 : 0)) / stride + 1;
  /* A window may not start beyond the data and the padding before it. */
  if (ceil_mode && (self->out[a] - 1) * stride >= in + self->begin[a])
    self->out[a]--;
  return TRUE;
}

static gboolean
window_read_padding (VnSlidingWindow    *self,
                     VnOpContext *ctx,
                     const char  *auto_pad,
                     GError     **error)
{
  int first = 3 - self->n_spatial;
  gint64 pads[6];

  if (!vn_sliding_window_get_ints (ctx, "pads", 2 * self->n_spatial, 0, 0, pads, error))
    return FALSE;
  if (g_str_equal (auto_pad, "VALID"))
    memset (pads, 0, sizeof pads);
  else if (!g_str_equal (auto_pad, "NOTSET") && !g_str_equal (auto_pad, "SAME_UPPER") &&
           !g_str_equal (auto_pad, "SAME_LOWER") && auto_pad[0] != '\0')
    return vn_op_fail (ctx, error, _("unknown auto_pad value “%s”"), auto_pad);
  for (int i = 0; i < 2 * self->n_spatial && ctx->pads != NULL; i++)
    pads[i] += ctx->pads[i];
  for (int i = 0; i < self->n_spatial; i++)
    {
      self->begin[first + i] = pads[i];
      self->end[first + i] = pads[self->n_spatial + i];
    }
  return TRUE;
}

/**
 * vn_sliding_window_init:
 * @x: shape of the data: batch, channels, then 1 to 3 spatial axes; of known rank
 * @kernel: one size per spatial axis; %VN_DIM_UNKNOWN if not known
 * @ceil_mode: round the output size up, as poolings may
 *
 * Reads strides, dilations, pads and auto_pad of the node and computes the size of the output.
 *
 * Returns: %FALSE if they make no sense for @x
 */
gboolean
vn_sliding_window_init (VnSlidingWindow      *self,
                        VnOpContext   *ctx,
                        const VnShape *x,
                        const gint64  *kernel,
                        gboolean       ceil_mode,
                        GError       **error)
{
  g_autofree char *auto_pad = vn_node_dup_string (ctx->node, "auto_pad", "NOTSET");
  int n = x->rank - 2, first = 3 - n;

  if (n < 1 || n > 3)
    return vn_op_fail (ctx, error, _("input rank is %d, expected batch, channels and 1 to 3 spatial axes"), x->rank);

  *self = (VnSlidingWindow) { .n_spatial = n, .kernel = { 1, 1, 1 }, .in = { 1, 1, 1 }, .out = { 1, 1, 1 },
                       .stride = { 1, 1, 1 }, .dilation = { 1, 1, 1 } };
  memcpy (self->kernel + first, kernel, sizeof (gint64) * n);
  memcpy (self->in + first, x->dims + 2, sizeof (gint64) * n);
  if (!vn_sliding_window_get_ints (ctx, "strides", n, 1, 1, self->stride + first, error) ||
      !vn_sliding_window_get_ints (ctx, "dilations", n, 1, 1, self->dilation + first, error) ||
      !window_read_padding (self, ctx, auto_pad, error))
    return FALSE;
  for (int a = first; a < 3; a++)
    if (!window_resolve_axis (self, ctx, a, auto_pad, ceil_mode, error))
      return FALSE;
  if (vn_sliding_window_get_volume (self->kernel) > MAX_TAPS)
    return vn_op_fail (ctx, error, _("a kernel of %lld × %lld × %lld"
                                     " is too large"), (long long) self->kernel[0], (long long) self->kernel[1],
                                     (long long) self->kernel[2]);
  return TRUE;
}

/**
 * vn_sliding_window_init_pool:
 * @x: shape of the data, of known rank
 *
 * Reads the kernel and ceil_mode of a pooling, too.
 *
 * Returns: %FALSE if the attributes do not fit
 */
gboolean
vn_sliding_window_init_pool (VnSlidingWindow  *self,
                             VnOpContext      *ctx,
                             const VnShape    *x,
                             GError          **error)
{
  gint64 kernel[VN_MAX_RANK];

  if (x->rank < 3 || x->rank > 5)
    return vn_op_fail (ctx, error, _("input rank is %d, expected 3 to 5"), x->rank);
  return vn_sliding_window_get_kernel (ctx, NULL, x->rank - 2, kernel, error) &&
         vn_sliding_window_init (self, ctx, x, kernel, vn_node_get_int (ctx->node, "ceil_mode", 0) != 0, error);
}

/**
 * vn_sliding_window_get_output:
 * @shape: (out): its spatial dims, from axis 2 on, and its rank are set
 */
void
vn_sliding_window_get_output (const VnSlidingWindow *self,
                              VnShape        *shape)
{
  shape->rank = self->n_spatial + 2;
  memcpy (shape->dims + 2, self->out + 3 - self->n_spatial, sizeof (gint64) * self->n_spatial);
}

/**
 * vn_sliding_window_get_volume:
 *
 * Returns: the product of three sizes; %G_MAXINT64 if it does not fit, negative if one is unknown
 */
gint64
vn_sliding_window_get_volume (const gint64 sizes[3])
{
  gint64 volume;

  if (sizes[0] < 0 || sizes[1] < 0 || sizes[2] < 0)
    return -1;
  if (!vn_checked_mul_s64 (sizes[0], sizes[1], &volume) || !vn_checked_mul_s64 (volume, sizes[2], &volume))
    return G_MAXINT64;
  return volume;
}
