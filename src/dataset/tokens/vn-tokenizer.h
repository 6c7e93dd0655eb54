/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* From plain text to the numbers of its tokens, as a tokenizer.json of Hugging Face says. */

#include <gio/gio.h>

G_BEGIN_DECLS

/**
 * VnTokenizer: immutable; any thread may use it.
 */
typedef struct _VnTokenizer VnTokenizer;

#define VN_TOKENIZER_NAME "tokenizer.json"

char        *vn_tokenizer_find   (const char         *named,      /* nullable */
                                  const char         *text);
VnTokenizer *vn_tokenizer_load   (const char         *path,
                                  GError            **error);
VnTokenizer *vn_tokenizer_parse  (const char         *text,
                                  gssize              length,
                                  const char         *name,
                                  GError            **error);
void         vn_tokenizer_free   (VnTokenizer        *self);
guint32      vn_tokenizer_get_n  (const VnTokenizer  *self);
gboolean     vn_tokenizer_encode (const VnTokenizer  *self,
                                  const char         *text,
                                  gsize               length,
                                  GArray             *tokens,     /* of guint32 */
                                  GError            **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnTokenizer, vn_tokenizer_free)

G_END_DECLS
