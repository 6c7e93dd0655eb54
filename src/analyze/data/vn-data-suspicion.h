/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Which notes are a suspicion about the samples, and what to do about it. */

#include "vn-note.h"

G_BEGIN_DECLS

gboolean    vn_data_suspicion_is                  (const VnNote *note);
gboolean    vn_data_suspicion_is_of_preprocessing (const char   *code);
const char *vn_data_suspicion_get_title           (const char   *code);
const char *vn_data_suspicion_get_remedy          (const VnNote *note);

G_END_DECLS
