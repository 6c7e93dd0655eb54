/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-model.h"

G_BEGIN_DECLS

/* Cutting a network at values, as XQuant's truncate_var_names: what lies behind them, typically the decoding of boxes, stays
 * float. There is no second model: the nodes behind are listed, and whoever quantizes leaves them alone. That gives the
 * same file as cutting, quantizing the head and joining the tail would, with all names and the values at the cut as they
 * were, and nothing can be lost on the way. The values at the cut are results of the head: they are quantized like any
 * other, and what comes behind takes them dequantized. */

GPtrArray *vn_model_truncate (const VnModel      *model,
                              const char * const *names,
                              GError            **error);

G_END_DECLS
