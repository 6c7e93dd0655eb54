/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-document.h"

#include <adwaita.h>

G_BEGIN_DECLS

/**
 * VnRunsList: the runs that the project keeps, newest first: any of them is brought back by a click, named, or removed.
 */
#define VN_TYPE_RUNS_LIST (vn_runs_list_get_type ())
G_DECLARE_FINAL_TYPE (VnRunsList, vn_runs_list, VN, RUNS_LIST, AdwBin)

void vn_runs_list_set_document (VnRunsList *self,
                                VnDocument *document);

G_END_DECLS
