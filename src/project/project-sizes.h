/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The field “sizes” of a project. */
#pragma once

#include "vn-json.h"
#include "vn-project-file.h"

G_BEGIN_DECLS

void     _vn_project_add_sizes  (JsonBuilder     *json,
                                 const VnProject *self);
gboolean _vn_project_read_sizes (VnProject       *self,
                                 JsonNode        *node,
                                 GError         **error);

G_END_DECLS
