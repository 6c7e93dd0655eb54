/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What goes on for a side of a comparison, or why it failed, with what can be done about that. */

#include "vn-compare-source.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define VN_TYPE_COMPARE_STATE (vn_compare_state_get_type ())
G_DECLARE_FINAL_TYPE (VnCompareState, vn_compare_state, VN, COMPARE_STATE, AdwBin)

void vn_compare_state_update (VnCompareState  *self,
                              VnCompareSource *source);   /* nullable */

G_END_DECLS
