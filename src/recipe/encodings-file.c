/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of imported encodings, and which kind one is: JSON begins with a brace; ONNX Runtime’s calibration.cache is text, a
 * name and a number a line; its calibration.flatbuffers is neither. */
#include "vn-encodings-private.h"

#include "vn-error.h"
#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-memory.h"
#include "vn-message.h"

#include <string.h>

#define MAX_FILE ((gsize) 256 << 20)

/* Names may have blanks, numbers have none. */
static gboolean
encodings_parse_lines (VnEncodingTable  *self,
                       const char    *text,
                       gsize          length,
                       GError       **error)
{
  g_autofree char *copy = vn_memory_dup_text (text, length, error);
  g_auto(GStrv) lines = copy != NULL ? g_strsplit (copy, "\n", -1) : NULL;

  if (lines == NULL)
    return FALSE;
  for (guint i = 0; lines[i] != NULL; i++)
    {
      char *line = g_strchomp (lines[i]);
      char *blank = strrchr (line, ' ');

      if (*line == '\0')
        continue;
      if (blank == NULL)
        {
          g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("line %u: expected a name, a space and a number"), i + 1);
          return FALSE;
        }
      *blank = '\0';
      if (!vn_encoding_add_amplitude (self, line, blank + 1, error))
        {
          g_prefix_error (error, _("line %u: "), i + 1);
          return FALSE;
        }
    }
  return TRUE;
}

static gboolean
encodings_parse_any (VnEncodingTable  *self,
                     GBytes        *bytes,
                     const char    *name,
                     GError       **error)
{
  gsize size, at = 0;
  const char *data = g_bytes_get_data (bytes, &size);

  if (size > MAX_FILE)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("It has %zu bytes; the limit for a table of ranges is %zu"), size,
                   MAX_FILE);
      return FALSE;
    }
  while (at < size && g_ascii_isspace (data[at]))
    at++;
  if (at < size && data[at] == '{')
    return vn_encoding_parse_json (self, data, size, name, error);
  if (size == 0)
    return TRUE;
  if (g_utf8_validate_len (data, size, NULL))   /* no NUL in it */
    return encodings_parse_lines (self, data, size, error);
  return vn_encoding_parse_flatbuffer (self, bytes, error);
}

/**
 * vn_encoding_table_parse:
 * @bytes: Vernier's own JSON, parameters as onnxruntime.quantization took them, one of the three files that its
 *   write_calibration_table() makes, or a table of PPQ
 *
 * Returns: (transfer full) (nullable): the table; never an empty one
 */
VnEncodingTable *
vn_encoding_table_parse (GBytes      *bytes,
                         const char  *name,
                         GError     **error)
{
  g_autoptr(VnEncodingTable) self = vn_encoding_table_new ();

  g_return_val_if_fail (bytes != NULL, NULL);

  if (!encodings_parse_any (self, bytes, name, error))
    {
      g_prefix_error (error, _("“%s” is not a valid table of ranges: "), name);
      vn_message_make_valid (error);
      return NULL;
    }
  if (vn_encoding_table_get_n (self) > 0)
    return g_steal_pointer (&self);
  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("“%s” is not a valid table of ranges: it has no entries"), name);
  return NULL;
}

/**
 * vn_encoding_table_load:
 *
 * Returns: (transfer full) (nullable): the table in a file
 */
VnEncodingTable *
vn_encoding_table_load (const char  *path,
                        GError     **error)
{
  g_autoptr(GBytes) bytes = NULL;

  g_return_val_if_fail (path != NULL, NULL);

  bytes = vn_file_map (path, error);
  return bytes != NULL ? vn_encoding_table_parse (bytes, path, error) : NULL;
}

/**
 * vn_encoding_table_load_all:
 * @paths: files, at least one
 *
 * Returns: (transfer full) (nullable): what they give together: of several that name a tensor the last counts
 */
VnEncodingTable *
vn_encoding_table_load_all (char    **paths,
                            GError  **error)
{
  g_autoptr(VnEncodingTable) self = NULL;

  g_return_val_if_fail (paths != NULL && paths[0] != NULL, NULL);

  self = vn_encoding_table_load (paths[0], error);
  for (guint i = 1; self != NULL && paths[i] != NULL; i++)
    {
      g_autoptr(VnEncodingTable) later = vn_encoding_table_load (paths[i], error);

      if (later == NULL)
        return NULL;
      vn_encoding_table_join (self, later);
    }
  return g_steal_pointer (&self);
}

/**
 * vn_encoding_table_save:
 *
 * Writes Vernier's own JSON, which gives back the same bits.
 */
gboolean
vn_encoding_table_save (VnEncodingTable  *self,
                        const char    *path,
                        GError       **error)
{
  g_autofree char *text = NULL;

  g_return_val_if_fail (self != NULL, FALSE);

  text = vn_encoding_to_json (self);
  return vn_file_write_all (path, text, strlen (text), error);
}
