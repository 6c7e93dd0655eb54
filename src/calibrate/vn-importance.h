/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much the error of a weight matters, and of each of its input channels. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * VnImportance: by name of a weight, the mean squares of what its rows are multiplied by: the diagonal of the Hessian of the
 * squared error of its products ("importance matrix" of llama.cpp). And what rounding all of a weight does to the outputs.
 */
typedef struct _VnImportance VnImportance;

VnImportance *vn_importance_new   (void);
VnImportance *vn_importance_copy  (const VnImportance *self);   /* nullable */
VnImportance *vn_importance_ref   (VnImportance       *self);
void          vn_importance_unref (VnImportance       *self);
gboolean      vn_importance_add   (VnImportance       *self,
                                   const char         *weight,
                                   const double       *sums,
                                   gsize               n_channels,
                                   GError            **error);
float        *vn_importance_dup   (const VnImportance *self,
                                   const char         *weight,
                                   gsize               n_channels,
                                   GError            **error);
gboolean      vn_importance_has_channels (const VnImportance *self);
void          vn_importance_set_noise    (VnImportance       *self,
                                          const char         *weight,
                                          double              noise);
double        vn_importance_get_noise    (const VnImportance *self,
                                          const char         *weight);
gboolean      vn_importance_has_noise    (const VnImportance *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnImportance, vn_importance_unref)

G_END_DECLS
