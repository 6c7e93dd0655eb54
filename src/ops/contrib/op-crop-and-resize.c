/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CropAndResize of ONNX Runtime: boxes of images, each resized to the same size with the corners of the box on the
 * corners of the result. What lies outside of the image has the value “extrapolation_value”. */
#include "vn-elem.h"

enum { X, BOXES, IMAGES, SIZE };

static gboolean
crop_infer (VnOpContext *ctx,
            GError     **error)
{
  static const char * const modes[] = { "bilinear", "nearest", NULL };
  const VnShape *x = &ctx->in_types[X].shape, *boxes = &ctx->in_types[BOXES].shape;
  VnShape y = VN_SHAPE (-1, -1, -1, -1);
  gint64 size[2];
  guint n;

  if (vn_op_attr_choice (ctx, "mode", "bilinear", modes, error) == G_MAXUINT)
    return FALSE;
  if ((x->rank >= 0 && x->rank != 4) ||
      (boxes->rank >= 0 && (boxes->rank != 2 || (boxes->dims[1] >= 0 && boxes->dims[1] != 4))))
    return vn_op_fail (ctx, error, _("expected images of 4 dims and boxes of 4 values"));
  if (x->rank == 4)
    y.dims[1] = x->dims[1];
  if (boxes->rank == 2)
    y.dims[0] = boxes->dims[0];
  if (vn_op_get_ints_input (ctx, SIZE, size, 2, &n))
    {
      if (n != 2 || size[0] < 1 || size[1] < 1 || size[0] > G_MAXINT32 || size[1] > G_MAXINT32)
        return vn_op_fail (ctx, error, _("the size of the crops must be 2 positive numbers"));
      y.dims[2] = size[0];
      y.dims[3] = size[1];
    }
  vn_op_set_output (ctx, 0, ctx->in_types[X].dtype, &y);
  return TRUE;
}

typedef struct
{
  const VnOpContext *ctx;
  gsize              channels, height, width, rows, columns;
  gboolean           nearest;
  float              outside;
} Crop;

/* Where number @i of @n lies on an axis of @size pixels. */
static float
crop_and_resize_place (float from,
                       float to,
                       gsize size,
                       gsize i,
                       gsize n)
{
  float last = (float) size - 1;

  return n > 1 ? from * last + (float) i * ((to - from) * last / ((float) n - 1)) : 0.5f * (from + to) * last;
}

static float
crop_and_resize_sample (const Crop  *self,
                        const float *image,
                        float        y,
                        float        x)
{
  gsize top = (gsize) floorf (y), bottom = (gsize) ceilf (y), left = (gsize) floorf (x), right = (gsize) ceilf (x);
  float down = y - (float) top, across = x - (float) left, upper, lower;

  if (self->nearest)
    return image[(gsize) roundf (y) * self->width + (gsize) roundf (x)];
  upper = image[top * self->width + left] + (image[top * self->width + right] - image[top * self->width + left]) * across;
  lower = image[bottom * self->width + left] +
          (image[bottom * self->width + right] - image[bottom * self->width + left]) * across;
  return upper + (lower - upper) * down;
}

static void
crop_plane (gpointer data,
            gsize    item,
            guint    worker)
{
  const Crop *self = data;
  gsize box = item / self->channels, plane = self->height * self->width;
  const float *corners = (const float *) self->ctx->in[BOXES]->data + box * 4;
  gsize image = (gsize) vn_tensor_get_s64 (self->ctx->in[IMAGES], box);
  const float *from = (const float *) self->ctx->in[X]->data + (image * self->channels + item % self->channels) * plane;
  float *to = (float *) self->ctx->out[0]->data + item * self->rows * self->columns;

  for (gsize i = 0; i < self->rows; i++)
    {
      float y = crop_and_resize_place (corners[0], corners[2], self->height, i, self->rows);

      for (gsize j = 0; j < self->columns; j++)
        {
          float x = crop_and_resize_place (corners[1], corners[3], self->width, j, self->columns);
          gboolean inside = y >= 0 && y <= (float) (self->height - 1) && x >= 0 && x <= (float) (self->width - 1);

          to[i * self->columns + j] = inside ? crop_and_resize_sample (self, from, y, x) : self->outside;
        }
    }
}

static gboolean
crop_run (VnOpContext *ctx,
          GError     **error)
{
  const VnShape *x = &ctx->in[X]->shape, *y = &ctx->out[0]->shape;
  const VnTensor *images = ctx->in[IMAGES];
  Crop self = { ctx, (gsize) x->dims[1], (gsize) x->dims[2], (gsize) x->dims[3], (gsize) y->dims[2], (gsize) y->dims[3],
                vn_op_attr_is (ctx, "mode", "nearest", "bilinear"),
                vn_node_get_float (ctx->node, "extrapolation_value", 0.f) };

  if (images->dtype != VN_DTYPE_S32 || images->n_elements != (gsize) y->dims[0])
    return vn_op_fail (ctx, error, _("the image indices must be %lld int32 values"), (long long) y->dims[0]);
  for (gsize i = 0; i < images->n_elements; i++)
    if (vn_tensor_get_s64 (images, i) < 0 || vn_tensor_get_s64 (images, i) >= x->dims[0])
      return vn_op_fail (ctx, error, _("image index %lld is out of range, there are %lld images"),
                         (long long) vn_tensor_get_s64 (images, i),
                         (long long) x->dims[0]);
  /* The largest places must still be whole numbers. */
  if (self.height < 1 || self.width < 1 || self.height > 1 << 24 || self.width > 1 << 24)
    return vn_op_fail (ctx, error, _("images of %zu × %zu pixels cannot be resized"),
                       self.height, self.width);
  if (ctx->out[0]->n_elements > 0)
    vn_op_for_items (ctx, (gsize) y->dims[0] * self.channels, 20. * (double) (self.rows * self.columns), crop_plane, &self);
  return TRUE;
}

const VnOp vn_op_ms_crop_and_resize = {
  .domain = "com.microsoft", .type = "CropAndResize", .since = 1,
  .min_inputs = 4, .max_inputs = 4, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_DTYPE_BIT (F32),
  .same_dtype = 1u << BOXES,
  .stand_ins = VN_STAND_IN_HALVES,
  .family = VN_FAMILY_POOL_NORM,
  .infer = crop_infer,
  .run = crop_run,
};
