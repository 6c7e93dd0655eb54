/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a runtime tells of the nodes of an export. */

#include "vn-verification.h"

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

void vn_verify_facts_read (VnVerification          *found,
                           JsonNode                *facts,       /* nullable */
                           const char              *log,         /* nullable */
                           const VnRuntimeForecast *forecast);   /* nullable */

G_END_DECLS
