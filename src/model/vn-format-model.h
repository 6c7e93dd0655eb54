/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-model.h"

G_BEGIN_DECLS

/* What a model holds, as the window writes it. Each returns an owned string. */

char     *vn_format_shape       (const VnType *type);
char     *vn_format_attr        (const VnAttr *attr);
gboolean  vn_format_parse_shape (const char   *text,
                                 VnShape      *shape);

G_END_DECLS
