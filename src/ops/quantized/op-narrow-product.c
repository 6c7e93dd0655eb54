/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conv, Gemm and MatMul of unsigned by signed bytes as x86 without VNNI computes them: products are added in pairs, and each
 * such sum saturates at 16 bits (PMADDUBSW) before it is added in 32 bits. Pairs are neighbors in the order that the products are
 * summed in: channels last, as ONNX Runtime's and OpenVINO's kernels have it. With codes a and b, zero point z, scales s and t:
 *
 *   y = (sum over pairs (sat16 (a b + a' b')) - z sum (b)) s t + bias
 *
 * Inputs: codes of x, codes of the weight, scale and zero point of x, scale of the weight, bias. Not registered: the engine puts
 * it in the place of the node's operator where a model asks for such sums. */
#include "vn-conv.h"
#include "vn-narrow-product.h"

#include "vn-memory.h"
#include "vn-multiversion.h"

#define PIXELS 16    /* of an item */

/**
 * NarrowWeight: packed.
 * @pairs: by pair of products, by output channel of a group: two factors side by side; groups follow each other
 * @sums: by output channel: of all factors
 */
typedef struct
{
  gsize   n_pairs, n_groups, n_channels;
  gint16 *pairs;
  gint32 *sums;
} NarrowWeight;

typedef struct
{
  const VnTensor     *x, *bias;
  const NarrowWeight *weight;
  VnConv              conv;       /* of a Conv */
  gboolean            is_conv;
  gsize               depth;      /* products in a sum */
  gsize               rows;       /* results of a channel: in all, or of one image */
  gint32              zero;
  float               x_scale;
  const VnTensor     *scale;
  VnTensor           *y;
  guint8             *codes;      /* scratch per worker */
  gint32             *totals;
} NarrowProduct;

VN_MULTIVERSION
static void
narrow_product_add_pair (gint32        a,
                         gint32        b,
                         const gint16 *pairs,
                         gsize         n,
                         gint32       *totals)
{
  for (gsize i = 0; i < n; i++)
    {
      gint32 sum = a * pairs[2 * i] + b * pairs[2 * i + 1];

      sum = sum < G_MININT16 ? G_MININT16 : sum;
      totals[i] += sum > G_MAXINT16 ? G_MAXINT16 : sum;
    }
}

/* ---- the weight ---- */

static void
narrow_product_free (gpointer data)
{
  NarrowWeight *self = data;

  if (self == NULL)
    return;
  g_free (self->pairs);
  g_free (self->sums);
  g_free (self);
}

/* Number of the element of @w that is factor @k of @channel: of a kernel, positions before input channels. */
static gsize
narrow_product_find_factor (const VnNode   *node,
                            const VnTensor *w,
                            gsize           channel,
                            gsize           k)
{
  const gsize n_out = (gsize) w->shape.dims[w->shape.rank - 1], n_in = (gsize) w->shape.dims[1];

  if (w->shape.rank > 2)
    return channel * (w->n_elements / (gsize) w->shape.dims[0]) + k % n_in * (w->n_elements / (gsize) w->shape.dims[0] / n_in) +
           k / n_in;
  return vn_node_get_int (node, "transB", 0) != 0 ? channel * n_in + k : k * n_out + channel;
}

static void
narrow_product_pack (NarrowWeight   *self,
                     const VnNode   *node,
                     const VnTensor *w,
                     gsize           depth)
{
  for (gsize group = 0; group < self->n_groups; group++)
    for (gsize channel = 0; channel < self->n_channels; channel++)
      for (gsize k = 0; k < depth; k++)
        {
          const gsize c = group * self->n_channels + channel;
          const gint8 factor = ((const gint8 *) w->data)[narrow_product_find_factor (node, w, c, k)];

          self->pairs[((group * self->n_pairs + k / 2) * self->n_channels + channel) * 2 + k % 2] = factor;
          self->sums[c] += factor;
        }
}

static gboolean
narrow_product_prepare (VnOpContext  *ctx,
                        gpointer     *prepared,
                        GError      **error)
{
  const VnTensor *w = ctx->in[1];
  const gboolean is_conv = w->shape.rank > 2, by_rows = is_conv || vn_node_get_int (ctx->node, "transB", 0) != 0;
  const gsize n_all = (gsize) w->shape.dims[by_rows ? 0 : 1], depth = n_all > 0 ? w->n_elements / n_all : 0;
  NarrowWeight *self = g_new0 (NarrowWeight, 1);

  self->n_groups = is_conv ? (gsize) MAX (vn_node_get_int (ctx->node, "group", 1), 1) : 1;
  self->n_channels = n_all / self->n_groups;
  self->n_pairs = (depth + 1) / 2;
  self->pairs = vn_try_new0 (gint16, n_all * self->n_pairs * 2 + 1, error);
  self->sums = self->pairs != NULL ? vn_try_new0 (gint32, n_all + 1, error) : NULL;
  if (self->sums == NULL)
    {
      narrow_product_free (self);
      return FALSE;
    }
  narrow_product_pack (self, ctx->node, w, depth);
  *prepared = self;
  return TRUE;
}

/* ---- sizes ---- */

static gboolean
narrow_product_ask_scratch (VnOpContext *ctx,
                            gsize        depth,
                            gsize        n_channels,
                            GError     **error)
{
  gsize codes, totals, one;

  if (vn_checked_add (depth, 64, &codes) && vn_checked_mul (n_channels, sizeof (gint32), &totals) &&
      vn_checked_add (codes / 64 * 64, totals, &one) && vn_checked_add (one, 64, &one) &&
      vn_checked_mul (one / 64 * 64, vn_op_max_workers (), &ctx->scratch_bytes))
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("the product is too large for this machine"));
  return FALSE;
}

static gboolean
narrow_product_infer_conv (VnOpContext *ctx,
                           GError     **error)
{
  const VnShape *x = &ctx->in_types[0].shape, *w = &ctx->in_types[1].shape;
  VnShape y = VN_SHAPE_UNKNOWN;
  VnConv conv;

  if (x->rank >= 0)
    {
      if (!vn_conv_init_sizes (&conv, ctx, x, w, error))
        return FALSE;
      y.dims[0] = x->dims[0];
      y.dims[1] = w->dims[0];
      vn_sliding_window_get_output (&conv.window, &y);
      if (vn_shape_is_static (x) && !narrow_product_ask_scratch (ctx, conv.depth, conv.out_channels, error))
        return FALSE;
    }
  vn_op_set_output (ctx, 0, VN_DTYPE_F32, &y);
  return TRUE;
}

static gboolean
narrow_product_infer (VnOpContext *ctx,
                      GError     **error)
{
  const VnShape *w = &ctx->in_types[1].shape;
  const int out = vn_node_get_int (ctx->node, "transB", 0) != 0 ? 0 : 1;
  VnShape y = ctx->in_types[0].shape;

  if (w->rank > 2)
    return narrow_product_infer_conv (ctx, error);
  if (y.rank > 0)
    {
      if (y.dims[y.rank - 1] >= 0 && y.dims[y.rank - 1] != w->dims[1 - out])
        return vn_op_fail (ctx, error, _("the axes that are summed over differ"));
      y.dims[y.rank - 1] = w->dims[out];
    }
  vn_op_set_output (ctx, 0, VN_DTYPE_F32, &y);
  return narrow_product_ask_scratch (ctx, (gsize) w->dims[1 - out], (gsize) w->dims[out], error);
}

/* ---- running ---- */

/* What the window of output pixel @pixel sees; padding has the code of 0. */
static void
narrow_product_load_window (const NarrowProduct *self,
                            gsize                plane,
                            gsize                pixel,
                            guint8              *to)
{
  const VnSlidingWindow *win = &self->conv.window;
  const gint64 i = (gint64) pixel;
  const gint64 start[3] = { i / win->out[2] / win->out[1] * win->stride[0] - win->begin[0],
                            i / win->out[2] % win->out[1] * win->stride[1] - win->begin[1],
                            i % win->out[2] * win->stride[2] - win->begin[2] };
  gint64 k[3];

  for (k[0] = 0; k[0] < win->kernel[0]; k[0]++)
    for (k[1] = 0; k[1] < win->kernel[1]; k[1]++)
      for (k[2] = 0; k[2] < win->kernel[2]; k[2]++, to += self->conv.in_channels)
        {
          const gint64 z = start[0] + k[0] * win->dilation[0], y = start[1] + k[1] * win->dilation[1];
          const gint64 x = start[2] + k[2] * win->dilation[2];
          const gboolean inside = z >= 0 && z < win->in[0] && y >= 0 && y < win->in[1] && x >= 0 && x < win->in[2];
          const guint8 *from = (const guint8 *) self->x->data + plane +
                               (inside ? (gsize) ((z * win->in[1] + y) * win->in[2] + x) : 0);

          for (gsize c = 0; c < self->conv.in_channels; c++)
            to[c] = inside ? from[c * self->conv.in_size] : (guint8) self->zero;
        }
}

static void
narrow_product_multiply (const NarrowProduct *self,
                         const guint8        *codes,
                         gsize                group,
                         gint32              *totals)
{
  const NarrowWeight *weight = self->weight;
  const gint16 *pairs = weight->pairs + group * weight->n_pairs * weight->n_channels * 2;

  memset (totals, 0, weight->n_channels * sizeof *totals);
  for (gsize k = 0; k < weight->n_pairs; k++)
    if (codes[2 * k] != 0 || codes[2 * k + 1] != 0)
      narrow_product_add_pair (codes[2 * k], codes[2 * k + 1], pairs + k * weight->n_channels * 2, weight->n_channels, totals);
}

static void
narrow_product_store (const NarrowProduct *self,
                      const gint32        *totals,
                      gsize                group,
                      gsize                step,
                      float               *y)
{
  const gsize n = self->weight->n_channels;

  for (gsize i = 0; i < n; i++)
    {
      const gsize c = group * n + i;
      const float scale = ((const float *) self->scale->data)[self->scale->n_elements > 1 ? c : 0];
      const float bias = self->bias == NULL ? 0 : ((const float *) self->bias->data)[self->bias->n_elements > 1 ? c : 0];

      y[i * step] = (float) (totals[i] - self->zero * self->weight->sums[c]) * (self->x_scale * scale) + bias;
    }
}

static void
narrow_product_run_item (gpointer data,
                         gsize    item,
                         guint    worker)
{
  const NarrowProduct *self = data;
  const gsize n_tiles = (self->rows + PIXELS - 1) / PIXELS, first = item % n_tiles * PIXELS, plane = item / n_tiles;
  const gsize n = self->weight->n_channels, group = plane % self->weight->n_groups;
  guint8 *codes = self->codes + worker * ((self->depth + 64) / 64 * 64);
  gint32 *totals = self->totals + worker * n;

  codes[self->weight->n_pairs * 2 - 1] = 0;
  for (gsize row = first; row < MIN (first + PIXELS, self->rows); row++)
    {
      if (self->is_conv)
        narrow_product_load_window (self, plane * self->conv.in_channels * self->conv.in_size, row, codes);
      else
        memcpy (codes, (const guint8 *) self->x->data + row * self->depth, self->depth);
      narrow_product_multiply (self, codes, group, totals);
      narrow_product_store (self, totals, group, self->is_conv ? self->rows : 1, (float *) self->y->data +
                            (self->is_conv ? plane * n * self->rows + row : row * n));
    }
}

static gboolean
narrow_product_run (VnOpContext *ctx,
                    GError     **error)
{
  NarrowProduct self = { .x = ctx->in[0], .bias = vn_op_has_input (ctx, 5) ? ctx->in[5] : NULL, .weight = ctx->prepared,
                         .scale = ctx->in[4], .y = ctx->out[0], .is_conv = ctx->in_types[1].shape.rank > 2 };
  gsize n_planes = 1;

  self.x_scale = *(const float *) ctx->in[2]->data;
  self.zero = vn_op_has_input (ctx, 3) ? (gint32) vn_tensor_get_s64 (ctx->in[3], 0) : 0;
  if (self.is_conv)
    {
      if (!vn_conv_init_sizes (&self.conv, ctx, &self.x->shape, &ctx->in_types[1].shape, error))
        return FALSE;
      self.depth = self.conv.depth;
      self.rows = self.conv.out_size;
      n_planes = self.conv.batch * self.conv.groups;
    }
  else
    {
      self.depth = (gsize) self.x->shape.dims[self.x->shape.rank - 1];
      self.rows = self.depth > 0 ? self.x->n_elements / self.depth : 0;
    }
  if (self.depth == 0 || self.y->n_elements == 0)
    {
      memset (self.y->data, 0, self.y->n_bytes);
      return TRUE;
    }
  self.codes = ctx->scratch;
  self.totals = (gint32 *) (self.codes + (self.depth + 64) / 64 * 64 * vn_op_max_workers ());
  vn_op_for_items (ctx, n_planes * ((self.rows + PIXELS - 1) / PIXELS), (double) (PIXELS * self.depth) *
                   (double) self.weight->n_channels / 4, narrow_product_run_item, &self);
  return TRUE;
}

const VnOp vn_op_narrow_product = {
  .domain = "io.github.vernier", .type = "NarrowProduct", .since = 1,
  .min_inputs = 5, .max_inputs = 6, .min_outputs = 1, .max_outputs = 1,
  .others = { [1] = VN_DTYPE_BIT (S8), [2] = VN_DTYPE_BIT (F32), [3] = VN_DTYPE_BIT (U8), [4] = VN_DTYPE_BIT (F32),
              [5] = VN_DTYPE_BIT (F32) },
  .dtypes = VN_DTYPE_BIT (U8),
  .optional = 1 << 3,
  .family = VN_FAMILY_COMPUTE,
  .infer = narrow_product_infer,
  .run = narrow_product_run,
  .prepare = narrow_product_prepare,
  .release = narrow_product_free,
};
