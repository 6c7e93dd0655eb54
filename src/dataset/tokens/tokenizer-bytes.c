/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What both models share: tokens of single bytes, for what no piece is there for. */
#include "tokenizer-private.h"

#include "vn-error.h"
#include "vn-i18n.h"

/**
 * tokenizer_find_bytes:
 * @bytes: (out): the number of “<0x00>” to “<0xFF>” each; %TOKENIZER_NONE: it has none
 *
 * Returns: whether there is any
 */
gboolean
tokenizer_find_bytes (const TokenizerPieces *pieces,
                      guint32                bytes[256])
{
  gboolean any = FALSE;

  for (guint b = 0; b < 256; b++)
    {
      char name[8];

      g_snprintf (name, sizeof name, "<0x%02X>", b);
      bytes[b] = tokenizer_pieces_find (pieces, name, 6);
      any |= bytes[b] != TOKENIZER_NONE;
    }
  return any;
}

/**
 * tokenizer_add_bytes:
 *
 * Returns: %FALSE, with nothing added, where a byte has no token
 */
gboolean
tokenizer_add_bytes (const guint32  bytes[256],
                     const char    *text,
                     gsize          length,
                     GArray        *tokens)
{
  for (gsize i = 0; i < length; i++)
    if (bytes[(guint8) text[i]] == TOKENIZER_NONE)
      return FALSE;
  for (gsize i = 0; i < length; i++)
    g_array_append_val (tokens, bytes[(guint8) text[i]]);
  return TRUE;
}

gboolean
tokenizer_check_tokens (const GArray  *tokens,
                        GError       **error)
{
  if (tokens->len <= TOKENIZER_MOST_TOKENS)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("the text has more than %u tokens"), TOKENIZER_MOST_TOKENS);
  return FALSE;
}
