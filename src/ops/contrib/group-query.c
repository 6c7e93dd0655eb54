/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which tokens GroupQueryAttention has of a sample, where they are, and where in the inputs they stand. */
#include "group-query.h"

#include "vn-elem.h"

/**
 * vn_group_query_count_new:
 *
 * Returns: queries of sample @b that are some
 */
gint64
vn_group_query_count_new (const VnGroupQuery *self,
                          VnOpContext        *ctx,
                          gsize               b)
{
  return vn_op_has_input (ctx, VALID) ? vn_tensor_get_s64 (ctx->in[VALID], b) : self->length;
}

/**
 * vn_group_query_count_past:
 *
 * Returns: tokens of sample @b before its queries, whether or not their keys are still there
 */
gint64
vn_group_query_count_past (const VnGroupQuery *self,
                           VnOpContext        *ctx,
                           gsize               b)
{
  return self->prompt ? 0 : vn_tensor_get_s64 (ctx->in[LENGTHS], b) + 1 - vn_group_query_count_new (self, ctx, b);
}

/**
 * vn_group_query_count_kept:
 *
 * A cache of C rows for a window of W keys holds the last L of T tokens from its first row on, as ONNX Runtime's schema says:
 * with G = C - W + 1, L = T up to C, and T - G ceil ((T - C) / G) beyond.
 *
 * Returns: how many keys caches hold after @tokens of them
 */
gint64
vn_group_query_count_kept (const VnGroupQuery *self,
                           gint64              tokens)
{
  gint64 gap = self->past - self->window + 1;

  return self->window == 0 || tokens <= self->past ? tokens : tokens - gap * ((tokens - self->past + gap - 1) / gap);
}

/**
 * vn_group_query_position:
 *
 * Returns: what query @row of sample @b, and the key beside it, are turned by; of a row that is no query, another's
 */
gint64
vn_group_query_position (const VnGroupQuery *self,
                         VnOpContext        *ctx,
                         gsize               b,
                         gsize               row)
{
  const VnTensor *given = vn_op_has_input (ctx, POSITIONS) ? ctx->in[POSITIONS] : NULL;
  gint64 queries = vn_group_query_count_new (self, ctx, b);

  if (queries == 0)
    return 0;
  row = MIN (row, (gsize) queries - 1);
  if (given != NULL && !self->prompt)
    return vn_tensor_get_s64 (given, b * (gsize) self->length + row);
  return (gint64) row + (given != NULL ? CLAMP (vn_tensor_get_s64 (given, 0), G_MININT32, G_MAXINT32)
                                       : vn_group_query_count_past (self, ctx, b));
}

/**
 * vn_group_query_locate:
 * @which: 0 queries, 1 keys, 2 values
 *
 * Returns: where they stand in the inputs
 */
VnHeads
vn_group_query_locate (const VnGroupQuery *self,
                       VnOpContext        *ctx,
                       guint               which)
{
  gsize depth = (gsize) self->depth, row = (gsize) ctx->in[Q]->shape.dims[2], place = 0;

  if (self->packed && which > 0)
    place = (gsize) (self->heads + (which == 2 ? self->kv_heads : 0)) * depth;
  else if (which > 0)
    row = (gsize) self->kv_heads * depth;
  return (VnHeads) { (float *) ctx->in[self->packed ? Q : which]->data + place, (gsize) self->length * row, depth, row };
}
