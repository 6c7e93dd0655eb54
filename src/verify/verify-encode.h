/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Encoded copies of models that are text. */

#include <gio/gio.h>

G_BEGIN_DECLS

gboolean vn_verify_encode (const char    *folder,
                           const char    *name,
                           const char   **path,
                           char         **copy,
                           GCancellable  *cancellable,
                           GError       **error);

G_END_DECLS
