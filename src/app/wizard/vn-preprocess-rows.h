/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* How pictures become tensors: rows for the settings of VnPreprocess. */

#include "vn-dataset.h"

#include <adwaita.h>

G_BEGIN_DECLS

/**
 * VnPreprocessRows:
 *
 * Signals:
 * - changed (VnPreprocess): the user wants these settings
 */
#define VN_TYPE_PREPROCESS_ROWS (vn_preprocess_rows_get_type ())
G_DECLARE_FINAL_TYPE (VnPreprocessRows, vn_preprocess_rows, VN, PREPROCESS_ROWS, AdwBin)

void vn_preprocess_rows_show (VnPreprocessRows   *self,
                              const VnPreprocess *settings);

void vn_preprocess_rows_show_origin (VnPreprocessRows *self,
                                     const char       *text);    /* nullable */

G_END_DECLS
