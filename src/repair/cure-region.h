/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The nodes around a tensor that a cure speaks of. */
#pragma once

#include "vn-model.h"

G_BEGIN_DECLS

GPtrArray *_vn_cure_list_nodes   (const VnValue *value);
GPtrArray *_vn_cure_list_tensors (GPtrArray     *nodes);

G_END_DECLS
