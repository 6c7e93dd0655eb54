/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-op-kernel.h"

G_BEGIN_DECLS

/**
 * VnHeads: where the rows of a batch of heads lie; distances in elements.
 */
typedef struct
{
  gpointer data;
  gsize    batch, head, row;
} VnHeads;

/**
 * VnScoreTerm: a mask or bias that is added to the scores, broadcast over samples, heads and queries.
 * @tensor: (nullable): of numbers, or of truth values if it holds booleans, or integers unless @additive
 * @start: where the first key of the first sample is
 * @columns: how many keys it speaks of; none of the later ones is looked at
 * @hidden: added where a truth value says no
 */
typedef struct
{
  const VnTensor *tensor;
  gsize           start, batch, head, row, columns;
  double          hidden;
  gboolean        additive;
} VnScoreTerm;

/* What becomes of the scores on their way, for who wants to see them. */
typedef enum
{
  VN_SCORES_RAW,
  VN_SCORES_CAPPED,
  VN_SCORES_BIASED,
  VN_SCORES_PROBABILITIES,
} VnScoreStage;

#define VN_ATTEND_TERMS 2

/**
 * VnAttend: y = softmax (cap (scale q k') + terms) v for every sample and head.
 * @dtype: F32 or F64, of all matrices
 * @length, @total: queries and keys of a sample
 * @depth, @v_depth: numbers of a query or key, and of a value
 * @softcap: scores s become softcap * tanh (s / softcap); 0: they stay
 * @left, @right: how many keys before and after its own position a query sees; -1: all. 0 to the right: causal
 * @offset: position of the first query among the keys
 * @lengths: (nullable): the valid keys of each sample, less @more
 * @follow: the last query of a sample is at its last valid key: then @offset says nothing
 * @sink: (nullable): for each head a score that takes part in the softmax but has no value; float32
 * @smooth: the softmax counts one more key with score 0 and no value
 * @precision: element type the softmax is computed in
 * @scores: (nullable): batch x heads x length x total elements for the scores at @stage
 */
typedef struct
{
  VnDType         dtype, precision;
  gsize           batch, heads, kv_heads, length, total, depth, v_depth;
  VnHeads         q, k, v, y;
  double          scale, softcap;
  gint64          left, right, offset;
  const VnTensor *lengths;
  gint64          more;
  gboolean        follow;
  const float    *sink;
  gboolean        smooth;
  VnScoreTerm     terms[VN_ATTEND_TERMS];
  gpointer        scores;
  VnScoreStage    stage;
  gpointer        scratch;
} VnAttend;

gboolean vn_attention_23_count_scratch (VnOpContext       *ctx,
                                        gsize             *bytes,
                                        GError           **error);
gboolean vn_attention_23_init          (VnAttend          *self,
                                        VnOpContext       *ctx,
                                        gpointer           scratch,
                                        GError           **error);
gboolean vn_attend_add_term (VnAttend           *self,
                             guint               i,
                             VnOpContext        *ctx,
                             const VnTensor     *tensor,
                             double              hidden,
                             GError            **error);
gboolean vn_attend_scratch  (VnDType             dtype,
                             gsize               total,
                             gsize              *bytes);
void     vn_attend_run      (const VnAttend     *self,
                             const VnOpContext  *ctx);
void     vn_attend_visible  (const VnAttend     *self,
                             gsize               b,
                             gsize               q,
                             gsize              *low,
                             gsize              *high);
double   vn_attend_round    (VnDType             precision,
                             double              value);

G_END_DECLS
