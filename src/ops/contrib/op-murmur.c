/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MurmurHash3 of ONNX Runtime: the 32-bit variant of Austin Appleby's function, of the bytes of each element, or of
 * each string. */
#include "vn-string-private.h"

#include "vn-elem.h"

static guint32
murmur_rotate (guint32 x,
               guint   bits)
{
  return x << bits | x >> (32 - bits);
}

static guint32
murmur_scramble (guint32 k)
{
  return murmur_rotate (k * 0xcc9e2d51u, 15) * 0x1b873593u;
}

static guint32
murmur_hash_bytes (const guint8 *data,
                   gsize         n,
                   guint32       seed)
{
  guint32 h = seed, tail = 0;

  for (gsize i = 0; i + 4 <= n; i += 4)
    {
      guint32 k = data[i] | (guint32) data[i + 1] << 8 | (guint32) data[i + 2] << 16 | (guint32) data[i + 3] << 24;

      h = murmur_rotate (h ^ murmur_scramble (k), 13) * 5 + 0xe6546b64u;
    }
  for (gsize i = n % 4; i > 0; i--)
    tail = tail << 8 | data[n - n % 4 + i - 1];
  h ^= murmur_scramble (tail);
  h ^= (guint32) n;
  h = (h ^ h >> 16) * 0x85ebca6bu;
  h = (h ^ h >> 13) * 0xc2b2ae35u;
  return h ^ h >> 16;
}

static gboolean
murmur_infer (VnOpContext *ctx,
              GError     **error)
{
  gboolean positive = vn_node_get_int (ctx->node, "positive", 1) != 0;

  vn_op_set_output (ctx, 0, positive ? VN_DTYPE_U32 : VN_DTYPE_S32, &ctx->in_types[0].shape);
  return TRUE;
}

static gboolean
murmur_run (VnOpContext *ctx,
            GError     **error)
{
  const VnTensor *x = ctx->in[0];
  guint32 *y = ctx->out[0]->data, seed = (guint32) vn_node_get_int (ctx->node, "seed", 0);
  gsize size = vn_elem_size (x->dtype);

  for (gsize i = 0; i < x->n_elements; i++)
    if (x->dtype == VN_DTYPE_STRING)
      y[i] = murmur_hash_bytes ((const guint8 *) vn_string_get (x, i), strlen (vn_string_get (x, i)), seed);
    else
      y[i] = murmur_hash_bytes ((const guint8 *) x->data + i * size, size, seed);
  return TRUE;
}

const VnOp vn_op_ms_murmur_hash3 = {
  .domain = "com.microsoft", .type = "MurmurHash3", .since = 1,
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_DTYPE_BIT (U32) | VN_DTYPE_BIT (S32) | VN_DTYPE_BIT (U64) | VN_DTYPE_BIT (S64) | VN_DTYPE_BIT (F32) |
            VN_DTYPE_BIT (F64) | VN_DTYPE_BIT (STRING),
  .infer = murmur_infer,
  .run = murmur_run,
};
