/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Sizes of inputs that the model leaves open, to be edited. */

#include "vn-document.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define VN_TYPE_INPUT_SIZES (vn_input_sizes_get_type ())
G_DECLARE_FINAL_TYPE (VnInputSizes, vn_input_sizes, VN, INPUT_SIZES, AdwBin)

void vn_input_sizes_set_document (VnInputSizes *self,
                                  VnDocument   *document);
void vn_input_sizes_update       (VnInputSizes *self);
gboolean vn_input_sizes_edit     (VnInputSizes *self,
                                  const char   *input);

G_END_DECLS
