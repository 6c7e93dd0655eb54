/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Whether tokens see those behind them. */

#include "vn-model.h"

G_BEGIN_DECLS

gboolean vn_graph_attends_both_ways (const VnGraph *graph);

G_END_DECLS
