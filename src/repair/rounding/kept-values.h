/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of a network on several samples, kept until they are read again: in memory while they are few, then in a file. */
#pragma once

#include "vn-tensor.h"

G_BEGIN_DECLS

typedef struct _VnKeptValues VnKeptValues;

VnKeptValues *vn_kept_values_new    (guint                 n_samples,
                                     gsize                 most_memory);
void          vn_kept_values_free   (VnKeptValues         *self);
gboolean      vn_kept_values_put    (VnKeptValues         *self,
                                     const char           *name,
                                     guint                 sample,
                                     const VnTensor       *tensor,
                                     GError              **error);
gboolean      vn_kept_values_has    (const VnKeptValues   *self,
                                     const char           *name);
gboolean      vn_kept_values_find_type (const VnKeptValues *self,
                                     const char           *name,
                                     VnDType              *dtype,
                                     VnShape              *shape);
VnTensor     *vn_kept_values_get    (const VnKeptValues   *self,
                                     const char           *name,
                                     guint                 sample,
                                     GError              **error);
void          vn_kept_values_drop   (VnKeptValues         *self,
                                     const char           *name);
gsize         vn_kept_values_get_file_size (const VnKeptValues *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnKeptValues, vn_kept_values_free)

G_END_DECLS
