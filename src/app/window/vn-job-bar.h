/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-document.h"

#include <adwaita.h>

G_BEGIN_DECLS

/**
 * VnJobBar: what goes on in the background, along the foot of the window, and the findings of the last run.
 */
#define VN_TYPE_JOB_BAR (vn_job_bar_get_type ())
G_DECLARE_FINAL_TYPE (VnJobBar, vn_job_bar, VN, JOB_BAR, AdwBin)

void vn_job_bar_set_document (VnJobBar   *self,
                              VnDocument *document);
void vn_job_bar_announce     (VnJobBar   *self,
                              const char *text);

G_END_DECLS
