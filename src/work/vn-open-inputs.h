/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Inputs whose size a model leaves open, as tables from names to VnShape. */

#include "vn-model.h"

G_BEGIN_DECLS

GHashTable *vn_open_inputs_new   (void);
GHashTable *vn_open_inputs_list  (VnModel *model);
VnShape     vn_open_inputs_guess (const VnShape *shape);

G_END_DECLS
