/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Elements of string tensors: NUL-terminated, owned by the tensor one by one. */

#include "vn-op-kernel.h"

G_BEGIN_DECLS

static inline const char *
vn_string_get (const VnTensor *tensor,
               gsize           i)
{
  return ((char **) tensor->data)[i];
}

/* Takes over @text; the element before is freed. */
static inline void
vn_string_take (VnTensor *tensor,
                gsize     i,
                char     *text)
{
  char **strings = tensor->data;

  g_free (strings[i]);
  strings[i] = text;
}

G_END_DECLS
