/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-attend.h"
#include "vn-rotary.h"

G_BEGIN_DECLS

/* Inputs of com.microsoft:GroupQueryAttention */
enum { Q, K, V, PAST_K, PAST_V, LENGTHS, TOTAL, COS, SIN, POSITIONS, BIAS, SINK, K_SCALE, V_SCALE, Q_NORM, K_NORM, VALID };

/**
 * VnGroupQuery: sizes of a node of com.microsoft:GroupQueryAttention.
 * @packed: keys and values stand beside the queries
 * @turned: queries and keys are turned by their position first
 * @prompt: the queries start with the first key
 * @staged: a sample has its own number of earlier keys, new keys, or keys that are kept: see vn_group_query_run_staged()
 * @depth: numbers of a head, of which 2 @half are turned
 * @past: rows of earlier keys
 * @total: keys of the longest sample
 * @kept: rows of the keys that are given on
 * @window: the caches only hold the last tokens, at least this many; 0: all
 */
typedef struct
{
  gboolean packed, turned, prompt, staged;
  gint64   batch, length, heads, kv_heads, depth, half;
  gint64   past, total, kept, window;
} VnGroupQuery;

gint64   vn_group_query_count_new     (const VnGroupQuery  *self,
                                       VnOpContext         *ctx,
                                       gsize                b);
gint64   vn_group_query_count_past    (const VnGroupQuery  *self,
                                       VnOpContext         *ctx,
                                       gsize                b);
gint64   vn_group_query_count_kept    (const VnGroupQuery  *self,
                                       gint64               tokens);
gint64   vn_group_query_position      (const VnGroupQuery  *self,
                                       VnOpContext         *ctx,
                                       gsize                b,
                                       gsize                row);
VnHeads  vn_group_query_locate        (const VnGroupQuery  *self,
                                       VnOpContext         *ctx,
                                       guint                which);
gboolean vn_group_query_read_stages   (VnGroupQuery        *self,
                                       VnOpContext         *ctx,
                                       GError             **error);
gboolean vn_group_query_check_stages  (const VnGroupQuery  *self,
                                       VnOpContext         *ctx,
                                       GError             **error);
void     vn_group_query_run_staged    (const VnGroupQuery  *self,
                                       VnOpContext         *ctx,
                                       const VnAttend      *attend,
                                       const VnRotary      *rotary,
                                       float               *work);

G_END_DECLS
