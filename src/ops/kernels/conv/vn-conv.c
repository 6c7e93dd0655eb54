/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sizes of a convolution: what its attributes say of data and weight, and whether they fit. */
#include "vn-conv.h"

/**
 * vn_conv_check_channels:
 * @x: shape of the data, as far as it is known
 * @w: shape of the weight; its rank is known
 *
 * Returns: %FALSE with an error if their channels do not fit each other and @groups
 */
gboolean
vn_conv_check_channels (VnOpContext    *ctx,
                        const VnShape  *x,
                        const VnShape  *w,
                        gint64          groups,
                        GError        **error)
{
  if (groups < 1)
    return vn_op_fail (ctx, error, _("group is %lld"), (long long) groups);
  if (x->rank >= 0 && x->rank != w->rank)
    return vn_op_fail (ctx, error, _("input rank %d and weight rank %d must be equal"), x->rank, w->rank);
  if (w->dims[0] >= 0 && w->dims[0] % groups != 0)
    return vn_op_fail (ctx, error, _("%lld output channels cannot be split into %lld"
                                     " groups"), (long long) w->dims[0], (long long) groups);
  if (x->rank >= 2 && x->dims[1] >= 0 && w->dims[1] >= 0 &&
      (w->dims[1] > G_MAXINT64 / groups || x->dims[1] != w->dims[1] * groups))
    return vn_op_fail (ctx, error, _("%lld input channels, but the weight expects %lld"
                                     " in %lld groups"), (long long) x->dims[1], (long long) w->dims[1],
                                     (long long) groups);
  return TRUE;
}

/**
 * vn_conv_init_sizes:
 * @x: shape of the data
 * @w: shape of the weight
 *
 * Returns: %FALSE if they cannot be known yet (without error), or do not fit
 */
gboolean
vn_conv_init_sizes (VnConv         *self,
                    VnOpContext    *ctx,
                    const VnShape  *x,
                    const VnShape  *w,
                    GError        **error)
{
  gint64 kernel[VN_MAX_RANK];
  gint64 groups = vn_node_get_int (ctx->node, "group", 1);

  if (!vn_conv_check_channels (ctx, x, w, groups, error) || !vn_sliding_window_get_kernel (ctx, w, w->rank - 2, kernel, error) ||
      !vn_sliding_window_init (&self->window, ctx, x, kernel, FALSE, error))
    return FALSE;
  self->batch = (gsize) x->dims[0];
  self->groups = (gsize) groups;
  self->in_channels = (gsize) w->dims[1];
  self->out_channels = (gsize) (w->dims[0] / groups);
  self->in_size = (gsize) vn_sliding_window_get_volume (self->window.in);
  self->out_size = (gsize) vn_sliding_window_get_volume (self->window.out);
  self->depth = self->in_channels * (gsize) vn_sliding_window_get_volume (self->window.kernel);
  return TRUE;
}
