/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Which samples share tokens, as windows of one text do that lie less apart than they are long. */

#include "vn-dataset.h"

G_BEGIN_DECLS

gboolean vn_dataset_do_overlap    (VnDataset *self,
                                   guint      i,
                                   guint      j);
guint    vn_dataset_count_overlap (VnDataset *self);

G_END_DECLS
