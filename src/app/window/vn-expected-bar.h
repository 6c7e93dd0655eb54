/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-document.h"

#include <adwaita.h>

G_BEGIN_DECLS

/**
 * VnExpectedBar: a line above the job bar that says what is known of a change without a whole run, and offers one.
 */
#define VN_TYPE_EXPECTED_BAR (vn_expected_bar_get_type ())
G_DECLARE_FINAL_TYPE (VnExpectedBar, vn_expected_bar, VN, EXPECTED_BAR, AdwBin)

void vn_expected_bar_set_document (VnExpectedBar *self,
                                   VnDocument    *document);

G_END_DECLS
