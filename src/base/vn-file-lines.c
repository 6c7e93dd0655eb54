/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text files, read line by line. */
#include "vn-file.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-memory.h"

#include <string.h>

#define FREE_LINE_BYTES ((gsize) 256 << 20)   /* that lines may take, */
#define LINE_TIMES 4                          /* and so many times the size of the file */
#define LINE_BYTES 72                         /* for each, beside its text */

/* A byte of a file may be a line. */
static gboolean
file_lines_check (const char  *path,
                  const char  *data,
                  gsize        size,
                  GError     **error)
{
  gsize n = 1;

  for (const char *at = data; (at = memchr (at, '\n', size - (gsize) (at - data))) != NULL; at++)
    n++;
  if (n * LINE_BYTES + 2 * size <= FREE_LINE_BYTES + LINE_TIMES * size)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("“%s” has too many short lines: %zu lines in %zu bytes"), path, n, size);
  return FALSE;
}

/**
 * vn_file_read_lines:
 *
 * Returns: (transfer full) (nullable): the lines of a text file, stripped; empty ones and those that begin with “#” are "",
 *   so that indices stay line numbers. %VN_ERROR_MALFORMED if it is no text.
 */
char **
vn_file_read_lines (const char  *path,
                    GError     **error)
{
  g_autoptr(GBytes) bytes = NULL;
  g_autofree char *text = NULL;
  const char *data;
  char **lines;
  gsize size;

  g_return_val_if_fail (path != NULL, NULL);

  bytes = vn_file_map (path, error);
  if (bytes == NULL)
    return NULL;
  data = g_bytes_get_data (bytes, &size);
  if (memchr (data, '\0', size) != NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("“%s” is not a text file"), path);
      return NULL;
    }
  if (!file_lines_check (path, data, size, error))
    return NULL;
  text = vn_memory_dup_text (data, size, error);
  if (text == NULL)
    return NULL;
  lines = g_strsplit (g_str_has_prefix (text, "\xef\xbb\xbf") ? text + 3 : text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    if (*g_strstrip (lines[i]) == '#')
      lines[i][0] = '\0';
  return lines;
}
