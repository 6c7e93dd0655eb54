/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tensors as bytes, for other processes on the same kind of machine. */
#pragma once

#include "vn-tensor.h"

G_BEGIN_DECLS

GBytes   *vn_sample_pack_tensors (VnTensor * const *tensors,
                                  guint             n,
                                  GError          **error);
gboolean  vn_sample_take_tensors (gconstpointer     bytes,
                                  gsize             size,
                                  VnTensor        **tensors,
                                  guint             n,
                                  GError          **error);

G_END_DECLS
