/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A network of many small nodes in layers, named by scopes as exporters of transformers do it. */
void large_model_write (const char *path,
                        guint       n_nodes,
                        gboolean    with_pairs);   /* QuantizeLinear and DequantizeLinear behind each layer, beyond n_nodes */

G_END_DECLS
