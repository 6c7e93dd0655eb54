/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layers that second-order rounding has finished, and what was decided about them, in a file that outlives the process: a run
 * that was interrupted goes on behind them, to the same bytes. */
#pragma once

#include "vn-tensor.h"

G_BEGIN_DECLS

typedef struct _VnRoundingJournal VnRoundingJournal;

/* What was measured, and what became of the layers in question. */
typedef enum
{
  VN_ROUNDING_PLAIN,        /* nothing: measured before any was rounded */
  VN_ROUNDING_WHOLE,        /* nothing: measured with all rounded */
  VN_ROUNDING_KEPT,
  VN_ROUNDING_TAKEN_BACK,
  VN_ROUNDING_SPLIT,        /* each half is in question */
  VN_N_ROUNDING_OUTCOMES
} VnRoundingOutcome;

/**
 * VnRoundingVerdict:
 * @first, @last: the layers in question: the first, and the one behind the last
 * @outcome: a #VnRoundingOutcome
 * @reserved: 0
 * @best_db: SQNR of the outputs of the best network so far
 */
typedef struct
{
  guint32 first, last, outcome, reserved;
  double  best_db;
} VnRoundingVerdict;

VnRoundingJournal *vn_rounding_journal_open   (const char         *path,
                                               const char         *digest,
                                               GError            **error);
void               vn_rounding_journal_free   (VnRoundingJournal  *self);
gboolean           vn_rounding_journal_has    (VnRoundingJournal  *self,
                                               guint               layer);
gboolean           vn_rounding_journal_read   (VnRoundingJournal  *self,
                                               guint               layer,
                                               const VnShape      *shape,
                                               VnTensor          **weights,
                                               GError            **error);
gboolean           vn_rounding_journal_add    (VnRoundingJournal  *self,
                                               guint               layer,
                                               const VnTensor     *weights,    /* nullable */
                                               GError            **error);
gboolean           vn_rounding_journal_read_counts (VnRoundingJournal  *self,
                                                    guint               layer,
                                                    VnTensor           *counts,
                                                    gboolean           *found,
                                                    GError            **error);
gboolean           vn_rounding_journal_add_counts  (VnRoundingJournal  *self,
                                                    guint               layer,
                                                    const VnTensor     *counts,
                                                    GError            **error);
const VnRoundingVerdict *
                   vn_rounding_journal_get_verdict (VnRoundingJournal  *self,
                                                    guint               i);
gboolean           vn_rounding_journal_add_verdict (VnRoundingJournal        *self,
                                                    const VnRoundingVerdict  *verdict,
                                                    GError                  **error);
gboolean           vn_rounding_journal_remove (const char         *path,
                                               GError            **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnRoundingJournal, vn_rounding_journal_free)

G_END_DECLS
