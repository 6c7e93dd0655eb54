/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Planes of channels into blocks and back, of float32 four channels of four pixels at a time. */
#include "vn-blocked-private.h"

#include "vn-elem.h"
#include "vn-lanes.h"

#define PIXELS 1024   /* that one thread moves in a row */

typedef struct
{
  gconstpointer from;
  gpointer      to;
  gsize        lanes, channels, n_blocks, size, element;
  VnBlockedBands bands;   /* of pixels */
} Move;

/**
 * vn_blocked_make_block:
 * @from: the first pixel of the first channel; channels are @size floats apart
 * @to: @n x @lanes
 *
 * Brings @n pixels of a block into the order of blocks; lanes from @channels on become 0.
 */
void
vn_blocked_make_block (const float *from,
                       gsize        size,
                       gsize        channels,
                       gsize        lanes,
                       gsize        n,
                       float       *to)
{
  gsize c = 0, p;

  for (; c + 4 <= channels; c += 4, from += 4 * size)
    {
      for (p = 0; p + 4 <= n; p += 4)
        vn_lanes_turn (from + p, size, to + p * lanes + c, lanes);
      for (; p < n; p++)
        for (gsize i = 0; i < 4; i++)
          to[p * lanes + c + i] = from[i * size + p];
    }
  for (; c < lanes; c++, from += size)
    for (p = 0; p < n; p++)
      to[p * lanes + c] = c < channels ? from[p] : 0.f;
}

static void
blocked_order_undo_block (const float *from,
                          gsize        size,
                          gsize        channels,
                          gsize        lanes,
                          gsize        n,
                          float       *to)
{
  gsize c = 0, p;

  for (; c + 4 <= channels; c += 4, to += 4 * size)
    {
      for (p = 0; p + 4 <= n; p += 4)
        vn_lanes_turn (from + p * lanes + c, lanes, to + p, size);
      for (; p < n; p++)
        for (gsize i = 0; i < 4; i++)
          to[i * size + p] = from[p * lanes + c + i];
    }
  for (; c < channels; c++, to += size)
    for (p = 0; p < n; p++)
      to[p] = from[p * lanes + c];
}

#define UNDO_CODES(name, type)                                    \
  static void                                                     \
  blocked_order_undo_##name (const type *from,                    \
                             gsize       size,                    \
                             gsize       channels,                \
                             gsize       lanes,                   \
                             gsize       n,                       \
                             type       *to)                      \
  {                                                               \
    for (gsize c = 0; c < channels; c++)                          \
      for (gsize p = 0; p < n; p++)                               \
        to[c * size + p] = from[p * lanes + c];                   \
  }

UNDO_CODES (bytes, guint8)
UNDO_CODES (words, guint16)

static void
blocked_order_find_piece (const Move *self,
                          gsize       item,
                          gsize      *blocked,
                          gsize      *plain,
                          gsize      *n_channels,
                          gsize      *n_pixels)
{
  gsize plane, channel;
  gint64 first, end;

  vn_blocked_bands_find (&self->bands, item, &plane, &first, &end);
  channel = plane % self->n_blocks * self->lanes;
  *blocked = (plane * self->size + (gsize) first) * self->lanes;
  *plain = (plane / self->n_blocks * self->channels + channel) * self->size + (gsize) first;
  *n_channels = MIN (self->lanes, self->channels - channel);
  *n_pixels = (gsize) (end - first);
}

static void
blocked_order_make_item (gpointer data,
                         gsize    item,
                         guint    worker)
{
  const Move *self = data;
  gsize blocked, plain, n_channels, n_pixels;

  blocked_order_find_piece (self, item, &blocked, &plain, &n_channels, &n_pixels);
  vn_blocked_make_block ((const float *) self->from + plain, self->size, n_channels, self->lanes, n_pixels,
                         (float *) self->to + blocked);
}

static void
blocked_order_undo_item (gpointer data,
                         gsize    item,
                         guint    worker)
{
  const Move *self = data;
  gsize blocked, plain, n_channels, n_pixels;

  blocked_order_find_piece (self, item, &blocked, &plain, &n_channels, &n_pixels);
  switch (self->element)
    {
    case 1:
      blocked_order_undo_bytes ((const guint8 *) self->from + blocked, self->size, n_channels, self->lanes, n_pixels,
                                (guint8 *) self->to + plain);
      break;
    case 2:
      blocked_order_undo_words ((const guint16 *) self->from + blocked, self->size, n_channels, self->lanes, n_pixels,
                                (guint16 *) self->to + plain);
      break;
    default:
      blocked_order_undo_block ((const float *) self->from + blocked, self->size, n_channels, self->lanes, n_pixels,
                                (float *) self->to + plain);
    }
}

static gboolean
order_infer (VnOpContext *ctx,
             GError     **error)
{
  return vn_op_infer_same (ctx, error);
}

static gboolean
blocked_order_run (VnOpContext   *ctx,
                   const VnShape *plain,
                   VnOpItemFunc   func)
{
  Move move = { ctx->in[0]->data, ctx->out[0]->data, vn_blocked_get_lanes (), (gsize) plain->dims[1] };

  move.n_blocks = vn_blocked_count (move.channels, move.lanes);
  move.size = (gsize) vn_shape_count (plain, 2, plain->rank);
  move.element = vn_elem_size (ctx->in[0]->dtype);
  vn_blocked_bands_init (&move.bands, ctx, (gsize) plain->dims[0] * move.n_blocks, move.size, PIXELS);
  vn_op_for_items (ctx, move.bands.n_items, (double) (move.bands.lines * move.lanes) / 4, func, &move);
  return TRUE;
}

static gboolean
blocked_order_make_run (VnOpContext *ctx,
                        GError     **error)
{
  return blocked_order_run (ctx, &ctx->in[0]->shape, blocked_order_make_item);
}

static gboolean
blocked_order_undo_run (VnOpContext *ctx,
                        GError     **error)
{
  return blocked_order_run (ctx, &ctx->out[0]->shape, blocked_order_undo_item);
}

#define OPERATOR(id, run_, types)                                              \
const VnOp vn_op_blocked_##id = {                                            \
  .domain = "", .type = "", .since = 1,                                      \
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,      \
  .dtypes = VN_DTYPE_BIT (F32) | (types),                                     \
  .infer = order_infer,                                                      \
  .run = run_,                                                               \
};

OPERATOR (make, blocked_order_make_run, 0)
OPERATOR (undo, blocked_order_undo_run, VN_CODE_BITS)   /* of a quantizer that others read, too */
