/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The taps of a sample one after the other, when not all of them can be kept. */
#pragma once

#include "contribution-sample.h"

G_BEGIN_DECLS

typedef struct _VnProbeWindow VnProbeWindow;

VnProbeWindow *vn_probe_window_new  (VnProbeSample  *sample,
                                     GError        **error);
void           vn_probe_window_free (VnProbeWindow  *self);
gboolean       vn_probe_window_move (VnProbeWindow  *self,
                                     guint           place,
                                     VnRunner       *runner,
                                     GCancellable   *cancellable,
                                     GError        **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnProbeWindow, vn_probe_window_free)

G_END_DECLS
