/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work that ends at a certain time, as if it had been cancelled. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _VnImproveDeadline VnImproveDeadline;

VnImproveDeadline *vn_improve_deadline_new             (GCancellable            *outer,     /* nullable */
                                                        double                   seconds);
void               vn_improve_deadline_free            (VnImproveDeadline       *self);
GCancellable      *vn_improve_deadline_get_cancellable (VnImproveDeadline       *self);
gboolean           vn_improve_deadline_is_over         (const VnImproveDeadline *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnImproveDeadline, vn_improve_deadline_free)

G_END_DECLS
