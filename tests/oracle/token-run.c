/* SPDX-License-Identifier: GPL-3.0-or-later */
/* token-run: makes numbers of texts, for tokenizers.py. Reads lines "TOKENIZER TEXT" (paths, a tab between them) and prints for
 * each a line of numbers, or of "error: " and what is wrong. */
#include "vn-tokenizer.h"

#include "vn-file.h"

#include <stdio.h>
#include <string.h>

static void
token_run_one (const VnTokenizer *tokenizer,
               const char        *path)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GBytes) bytes = vn_file_map (path, &error);
  g_autoptr(GArray) tokens = g_array_new (FALSE, FALSE, sizeof (guint32));
  gsize size = 0;
  const char *text = bytes != NULL ? g_bytes_get_data (bytes, &size) : NULL;

  if (bytes == NULL || !vn_tokenizer_encode (tokenizer, text, size, tokens, &error))
    {
      g_print ("error: %s\n", error->message);
      return;
    }
  for (guint i = 0; i < tokens->len; i++)
    g_print ("%s%u", i > 0 ? " " : "", g_array_index (tokens, guint32, i));
  g_print ("\n");
}

int
main (void)
{
  g_autoptr(VnTokenizer) tokenizer = NULL;
  g_autofree char *loaded = NULL;
  char line[8192];

  while (fgets (line, sizeof line, stdin) != NULL)
    {
      g_auto(GStrv) parts = g_strsplit (g_strchomp (line), "\t", 2);
      g_autoptr(GError) error = NULL;

      if (g_strcmp0 (loaded, parts[0]) != 0)
        {
          g_free (loaded);
          loaded = g_strdup (parts[0]);
          vn_tokenizer_free (tokenizer);
          tokenizer = vn_tokenizer_load (loaded, &error);
        }
      if (tokenizer == NULL)
        g_print ("error: %s\n", error != NULL ? error->message : "not loaded");
      else
        token_run_one (tokenizer, parts[1]);
    }
  return 0;
}
