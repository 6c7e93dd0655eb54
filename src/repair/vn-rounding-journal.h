/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layers that second-order rounding has finished, in a file that outlives the process: a run that was interrupted goes on
 * behind them, to the same bytes. */
#pragma once

#include "vn-tensor.h"

G_BEGIN_DECLS

typedef struct _VnRoundingJournal VnRoundingJournal;

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
gboolean           vn_rounding_journal_remove (const char         *path,
                                               GError            **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnRoundingJournal, vn_rounding_journal_free)

G_END_DECLS
