/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Files that say more of the samples: labels, settings from elsewhere, a script. */

#include "vn-document.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define VN_TYPE_DATA_FILES (vn_data_files_get_type ())
G_DECLARE_FINAL_TYPE (VnDataFiles, vn_data_files, VN, DATA_FILES, AdwBin)

void vn_data_files_set_document   (VnDataFiles *self,
                                   VnDocument  *document);
void vn_data_files_show           (VnDataFiles *self,
                                   VnDataset   *dataset);     /* nullable */
void vn_data_files_load           (VnDataFiles *self,
                                   const char  *path);
void vn_data_files_set_script     (VnDataFiles *self,
                                   const char  *path);
void vn_data_files_set_labels     (VnDataFiles *self,
                                   const char  *path);        /* nullable */

G_END_DECLS
