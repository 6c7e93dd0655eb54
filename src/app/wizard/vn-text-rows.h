/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* How the text of a language model becomes samples: by which tokenizer, and how it is cut. */

#include "vn-document.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define VN_TYPE_TEXT_ROWS (vn_text_rows_get_type ())
G_DECLARE_FINAL_TYPE (VnTextRows, vn_text_rows, VN, TEXT_ROWS, AdwBin)

void vn_text_rows_set_document  (VnTextRows *self,
                                 VnDocument *document);
void vn_text_rows_set_tokenizer (VnTextRows *self,
                                 const char *path);      /* nullable */
void vn_text_rows_show          (VnTextRows *self,
                                 gboolean    is_text);

G_END_DECLS
