/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What another recipe would make of a result, on a few samples and in about a second. */
#pragma once

#include "vn-recompare.h"
#include "vn-run.h"

G_BEGIN_DECLS

/**
 * VnWhatIf: a result, and what its networks compute for a few of the samples that its error was measured on. Immutable: may be
 * asked from any thread.
 */
typedef struct _VnWhatIf VnWhatIf;

VnWhatIf     *vn_what_if_new           (VnRun            *result,
                                        guint             n_samples,
                                        guint             n_threads,
                                        GCancellable     *cancellable,
                                        GError          **error);
VnWhatIf     *vn_what_if_ref           (VnWhatIf         *self);
void          vn_what_if_unref         (VnWhatIf         *self);
guint         vn_what_if_get_n_samples (VnWhatIf         *self);
gsize         vn_what_if_get_bytes     (VnWhatIf         *self);
VnErrorTable *vn_what_if_get_base      (VnWhatIf         *self);      /* borrowed */
VnErrorTable *vn_what_if_measure       (VnWhatIf         *self,
                                        const VnRecipe   *recipe,
                                        VnRecompareCost  *cost,       /* nullable */
                                        GCancellable     *cancellable,
                                        GError          **error);
VnRun        *vn_what_if_expect        (VnWhatIf         *self,
                                        VnContributions  *contributions,   /* nullable */
                                        const VnRecipe   *recipe,
                                        GCancellable     *cancellable,
                                        GError          **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnWhatIf, vn_what_if_unref)

G_END_DECLS
