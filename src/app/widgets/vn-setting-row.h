/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A row that shows one setting of a document's recipe and edits it. */

#include "vn-document.h"
#include "vn-setting.h"

#include <adwaita.h>

G_BEGIN_DECLS

GtkWidget       *vn_setting_row_new         (const VnSetting *setting,
                                             VnDocument      *document);
const VnSetting *vn_setting_row_get_setting (GtkWidget       *row);      /* NULL: no such row */

G_END_DECLS
