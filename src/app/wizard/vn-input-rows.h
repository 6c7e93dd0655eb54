/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-document.h"

#include <adwaita.h>

G_BEGIN_DECLS

/* A row for each input of the network: what it expects, where its samples are, or what it is filled with. */
#define VN_TYPE_INPUT_ROWS (vn_input_rows_get_type ())
G_DECLARE_FINAL_TYPE (VnInputRows, vn_input_rows, VN, INPUT_ROWS, AdwBin)

void vn_input_rows_set_document (VnInputRows *self,
                                 VnDocument  *document);
void vn_input_rows_show         (VnInputRows *self,
                                 VnDataset   *dataset,      /* nullable */
                                 gboolean     is_pictures);

G_END_DECLS
