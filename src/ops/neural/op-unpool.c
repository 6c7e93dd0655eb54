/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MaxUnpool: puts the maxima of a MaxPool back where they came from, zeros elsewhere. The indices count in the tensor
 * that kernel, strides and pads lead back to; where output_shape asks for more, that is its first corner. Col2Im: adds
 * up the overlapping blocks that an image was cut into. */
#include "vn-number.h"
#include "vn-sliding-window.h"

/* The shape that the pooling must have had as input. */
static gboolean
unpool_unpooled_shape (VnOpContext   *ctx,
                       const VnShape *x,
                       VnShape       *shape,
                       GError       **error)
{
  gint64 kernel[VN_MAX_RANK], stride[VN_MAX_RANK], pads[2 * VN_MAX_RANK];
  int n = x->rank - 2;

  if (n < 1)
    return vn_op_fail (ctx, error, _("MaxUnpool: input rank is %d, expected at least 3"), x->rank);
  if (!vn_sliding_window_get_kernel (ctx, NULL, n, kernel, error) ||
      !vn_sliding_window_get_ints (ctx, "strides", n, 1, 1, stride, error) ||
      !vn_sliding_window_get_ints (ctx, "pads", 2 * n, 0, 0, pads, error))
    return FALSE;
  *shape = *x;
  for (int d = 0; d < n; d++)
    {
      gint64 *dim = &shape->dims[2 + d];

      if (*dim < 0)
        continue;
      if (!vn_checked_mul_s64 (*dim - 1, stride[d], dim))
        return vn_op_fail (ctx, error, _("MaxUnpool: dim %d is too large"), 2 + d);
      *dim += kernel[d] - pads[d] - pads[n + d];
      if (*dim < 0 || *dim > G_MAXINT64 / 4)
        return vn_op_fail (ctx, error, _("MaxUnpool: dim %d of the output would be %lld"), 2 + d, (long long) *dim);
    }
  return TRUE;
}

static gboolean
unpool_max_unpool_infer (VnOpContext *ctx,
                         GError     **error)
{
  const VnShape *x = &ctx->in_types[0].shape, *index = &ctx->in_types[1].shape;
  gint64 sizes[VN_MAX_RANK];
  VnShape y = VN_SHAPE_UNKNOWN;
  gboolean known;
  guint n;

  if (!vn_op_check_index_dtype (ctx, 1, error) || !vn_op_attr_or_input (ctx, NULL, 2, sizes, VN_MAX_RANK, &n, &known, error))
    return FALSE;
  if (vn_shape_is_static (x) && vn_shape_is_static (index) && !vn_shape_equal (x, index))
    return vn_op_fail (ctx, error, _("MaxUnpool: there must be one index for each element"));
  if (x->rank >= 0 && !unpool_unpooled_shape (ctx, x, &y, error))
    return FALSE;
  if (x->rank >= 0 && vn_op_has_input (ctx, 2) && !known)
    for (int d = 0; d < y.rank; d++)
      y.dims[d] = VN_DIM_UNKNOWN;
  if (known && n > 0)
    {
      if (x->rank >= 0 && (int) n != x->rank)
        return vn_op_fail (ctx, error, _("MaxUnpool: output_shape has %u sizes for %d dims"), n, x->rank);
      for (guint d = 0; d < n; d++)
        if (sizes[d] < 0 || (x->rank >= 0 && y.dims[d] >= 0 && sizes[d] < y.dims[d]))
          return vn_op_fail (ctx, error, _("MaxUnpool: size %u of output_shape is %lld, at least %lld is needed"), d,
                             (long long) sizes[d], (long long) (x->rank >= 0 ? y.dims[d] : 0));
      y.rank = (int) n;
      memcpy (y.dims, sizes, n * sizeof *sizes);
    }
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &y);
  return TRUE;
}

static gboolean
unpool_max_unpool_run (VnOpContext *ctx,
                       GError     **error)
{
  const VnTensor *x = ctx->in[0], *indices = ctx->in[1];
  VnTensor *y = ctx->out[0];
  gsize size = vn_elem_size (x->dtype), n;
  gint64 strides[VN_MAX_RANK];
  VnShape from;

  if (!unpool_unpooled_shape (ctx, &x->shape, &from, error))
    return FALSE;
  if (indices->n_elements != x->n_elements || y->shape.rank != from.rank || !vn_shape_n_elements (&from, &n))
    return vn_op_fail (ctx, error, _("MaxUnpool: there must be one index for each element"));
  vn_shape_strides (&y->shape, strides);
  memset (y->data, 0, y->n_bytes);
  for (gsize i = 0; i < x->n_elements; i++)
    {
      gint64 rest = vn_tensor_get_s64 (indices, i), to = 0;

      if (rest < 0 || rest >= (gint64) n)
        return vn_op_fail (ctx, error, _("MaxUnpool: index %lld (element %zu) is outside of "
                                         "the %zu elements of the output"), (long long) rest, i, n);
      for (int d = from.rank - 1; d >= 0; d--)
        {
          to += rest % from.dims[d] * strides[d];
          rest /= from.dims[d];
        }
      memcpy ((char *) y->data + (gsize) to * size, (const char *) x->data + i * size, size);
    }
  return TRUE;
}

const VnOp vn_op_max_unpool_9 = {
  .domain = "", .type = "MaxUnpool", .since = 9,
  .min_inputs = 2, .max_inputs = 3, .min_outputs = 1, .max_outputs = 1,
  .others = { [1] = VN_LENGTH_BITS, [2] = VN_LENGTH_BITS },
  .dtypes = VN_FLOAT_BITS,
  .family = VN_FAMILY_POOL_NORM,
  .infer = unpool_max_unpool_infer,
  .run = unpool_max_unpool_run,
};

/* ---- Col2Im ---- */

#define MAX_AXES (VN_MAX_RANK - 2)

typedef struct
{
  guint  n;
  gint64 image[MAX_AXES], block[MAX_AXES], blocks[MAX_AXES];
  gint64 stride[MAX_AXES], dilation[MAX_AXES], pads[2 * MAX_AXES];
  gsize  taps, steps, image_size;
  const VnTensor *x;
  VnTensor       *y;
} Fold;

/* @known: (out): whether image and block are */
static gboolean
unpool_read_fold (VnOpContext *ctx,
                  Fold        *self,
                  gboolean    *known,
                  GError     **error)
{
  gboolean known_block;
  guint n_block;

  *self = (Fold) { .taps = 1, .steps = 1, .image_size = 1 };
  if (!vn_op_attr_or_input (ctx, NULL, 1, self->image, MAX_AXES, &self->n, known, error) ||
      !vn_op_attr_or_input (ctx, NULL, 2, self->block, MAX_AXES, &n_block, &known_block, error))
    return FALSE;
  *known = *known && known_block;
  if (!*known)
    return TRUE;
  if (n_block != self->n || self->n == 0)
    return vn_op_fail (ctx, error, _("Col2Im: an image of %u and a block of %u dims"), self->n, n_block);
  if (!vn_sliding_window_get_ints (ctx, "strides", (int) self->n, 1, 1, self->stride, error) ||
      !vn_sliding_window_get_ints (ctx, "dilations", (int) self->n, 1, 1, self->dilation, error) ||
      !vn_sliding_window_get_ints (ctx, "pads", 2 * (int) self->n, 0, 0, self->pads, error))
    return FALSE;
  for (guint d = 0; d < self->n; d++)
    {
      gint64 room;

      if (self->image[d] < 1 || self->block[d] < 1 || self->image[d] > G_MAXINT32 || self->block[d] > G_MAXINT32 / 2)
        return vn_op_fail (ctx, error, _("Col2Im: size %u of the image is %lld, of the block %lld"), d,
                           (long long) self->image[d], (long long) self->block[d]);
      room = self->image[d] + self->pads[d] + self->pads[self->n + d] - self->dilation[d] * (self->block[d] - 1) - 1;
      self->blocks[d] = room < 0 ? 0 : room / self->stride[d] + 1;
      if (!vn_checked_mul (self->taps, (gsize) self->block[d], &self->taps) ||
          !vn_checked_mul (self->steps, (gsize) self->blocks[d], &self->steps) ||
          !vn_checked_mul (self->image_size, (gsize) self->image[d], &self->image_size))
        return vn_op_fail (ctx, error, _("Col2Im: the image is too large"));
    }
  return TRUE;
}

static gboolean
unpool_col2im_infer (VnOpContext *ctx,
                     GError     **error)
{
  const VnShape *x = &ctx->in_types[0].shape;
  VnShape y = VN_SHAPE_UNKNOWN;
  gboolean known;
  Fold self;

  if (!unpool_read_fold (ctx, &self, &known, error))
    return FALSE;
  if (x->rank >= 0 && x->rank != 3)
    return vn_op_fail (ctx, error, _("Col2Im: input rank is %d, expected batch, channels × block and blocks"), x->rank);
  if (known && x->rank == 3)
    {
      if ((x->dims[1] >= 0 && (gsize) x->dims[1] % self.taps != 0) || (x->dims[2] >= 0 && (gsize) x->dims[2] != self.steps))
        return vn_op_fail (ctx, error, _("Col2Im: %lld × %lld elements do not match blocks of %zu elements at %zu positions"),
                           (long long) x->dims[1], (long long) x->dims[2], self.taps, self.steps);
      y = VN_SHAPE (x->dims[0], x->dims[1] >= 0 ? x->dims[1] / (gint64) self.taps : VN_DIM_UNKNOWN);
      y.rank = 2 + (int) self.n;
      memcpy (y.dims + 2, self.image, self.n * sizeof (gint64));
    }
  else if (ctx->in_types[1].shape.rank == 1 && ctx->in_types[1].shape.dims[0] >= 0 &&
           ctx->in_types[1].shape.dims[0] <= VN_MAX_RANK - 2)
    {
      y.rank = 2 + (int) ctx->in_types[1].shape.dims[0];
      for (int d = 0; d < y.rank; d++)
        y.dims[d] = d == 0 && x->rank == 3 ? x->dims[0] : VN_DIM_UNKNOWN;
    }
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &y);
  return TRUE;
}

/* Where tap @tap of block @step lies in the image; FALSE: in the padding. */
static gboolean
unpool_place (const Fold *self,
              gsize       tap,
              gsize       step,
              gsize      *at)
{
  gsize scale = 1;

  *at = 0;
  for (guint d = self->n; d-- > 0;)
    {
      gint64 k = (gint64) (tap % (gsize) self->block[d]), b = (gint64) (step % (gsize) self->blocks[d]);
      gint64 i = b * self->stride[d] + k * self->dilation[d] - self->pads[d];

      if (i < 0 || i >= self->image[d])
        return FALSE;
      *at += (gsize) i * scale;
      scale *= (gsize) self->image[d];
      tap /= (gsize) self->block[d];
      step /= (gsize) self->blocks[d];
    }
  return TRUE;
}

#define ADD(name, type, wide)                                                                                       \
  case VN_DTYPE_##name:                                                                                             \
    ((type *) to)[at] = (type) ((wide) ((type *) to)[at] + (wide) ((const type *) from)[tap * self->steps + step]); \
    break;

static void
unpool_fold_plane (gpointer data,
                   gsize    item,
                   guint    worker)
{
  const Fold *self = data;
  gsize size = vn_elem_size (self->x->dtype), at;
  const char *from = (const char *) self->x->data + item * self->taps * self->steps * size;
  char *to = (char *) self->y->data + item * self->image_size * size;

  memset (to, 0, self->image_size * size);
  for (gsize tap = 0; tap < self->taps; tap++)
    for (gsize step = 0; step < self->steps; step++)
      if (unpool_place (self, tap, step, &at))
        switch (self->x->dtype)
          {
            VN_INTEGER_TYPES (ADD, guint64)
            ADD (F32, float, float)
            ADD (F64, double, double)
            ADD (BOOL, _Bool, guint)
            ADD (C64, float _Complex, float _Complex)
            ADD (C128, double _Complex, double _Complex)
          default: break;
          }
}

static gboolean
unpool_col2im_run (VnOpContext *ctx,
                   GError     **error)
{
  const VnShape *x = &ctx->in[0]->shape;
  gboolean known;
  Fold self;

  if ((ctx->op->dtypes >> ctx->in[0]->dtype & 1) == 0)
    return vn_op_unsupported (ctx, 0, error);
  if (!unpool_read_fold (ctx, &self, &known, error))
    return FALSE;
  self.x = ctx->in[0];
  self.y = ctx->out[0];
  if (self.y->n_elements > 0)
    vn_op_for_items (ctx, (gsize) x->dims[0] * (gsize) x->dims[1] / self.taps, 20. * (double) self.taps * (double) self.steps,
                     unpool_fold_plane, &self);
  return TRUE;
}

const VnOp vn_op_col2im_18 = {
  .domain = "", .type = "Col2Im", .since = 18,
  .min_inputs = 3, .max_inputs = 3, .min_outputs = 1, .max_outputs = 1,
  .others = { [1] = VN_LENGTH_BITS, [2] = VN_LENGTH_BITS },
  .dtypes = VN_FULL_FLOAT_BITS | VN_INTEGER_BITS | VN_DTYPE_BIT (BOOL) | VN_DTYPE_BIT (C64) | VN_DTYPE_BIT (C128),
  .stand_ins = VN_STAND_IN_HALVES,
  .family = VN_FAMILY_SHAPE,
  .infer = unpool_col2im_infer,
  .run = unpool_col2im_run,
};
