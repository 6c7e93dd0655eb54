/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that give numbers of nodes: which form one has. */
#include "node-data-read.h"

#include "vn-error.h"
#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-json.h"
#include "vn-memory.h"
#include "vn-message.h"

#include <stdio.h>
#include <string.h>

#define MOST_TABLE_BYTES ((gsize) 16 << 20)
#define HEAD_BYTES 4096

static gboolean
node_data_read_json (VnNodeData  *self,
                     const char  *text,
                     gsize        size,
                     const char  *name,
                     GError     **error)
{
  g_autoptr(JsonNode) root = vn_json_parse (text, (gssize) size, name, error);

  if (root == NULL)
    return FALSE;
  if (_vn_node_data_is_profile (root) ? _vn_node_data_read_profile (self, root, error)
                                      : _vn_node_data_read_explorer (self, root, error))
    return TRUE;
  g_prefix_error (error, "%s: ", name);
  return FALSE;
}

static gboolean
node_data_read_text (VnNodeData  *self,
                     const char  *text,
                     gsize        size,
                     const char  *name,
                     GError     **error)
{
  g_autofree char *copy = NULL;

  if (size > MOST_TABLE_BYTES)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("%s: larger than %d MB"), name, (int) (MOST_TABLE_BYTES >> 20));
      return FALSE;
    }
  if (!g_utf8_validate_len (text, size, NULL))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("“%s” is not a text file"), name);
      return FALSE;
    }
  copy = vn_memory_dup_text (text, size, error);
  if (copy == NULL)
    return FALSE;
  if (_vn_node_data_read_table (self, copy, error))
    return TRUE;
  g_prefix_error (error, "%s: ", name);
  return FALSE;
}

static gsize
node_data_skip_blank (const char *text,
                      gsize       size)
{
  gsize at = size >= 3 && memcmp (text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

  while (at < size && g_ascii_isspace (text[at]))
    at++;
  return at;
}

/**
 * vn_node_data_parse:
 * @text: Model Explorer's node data or a profile of ONNX Runtime, both JSON, or a table
 *
 * Returns: (transfer full) (nullable): what it says; at least one number
 */
VnNodeData *
vn_node_data_parse (const char  *text,
                    gssize       length,
                    const char  *name,
                    GError     **error)
{
  g_autoptr(VnNodeData) self = NULL;
  g_autoptr(GError) reason = NULL;
  gsize size, start;
  guint n = 0;
  gboolean is_json;

  g_return_val_if_fail (text != NULL && name != NULL, NULL);

  self = g_new0 (VnNodeData, 1);
  self->graphs = _vn_node_data_list_graphs ();
  size = length < 0 ? strlen (text) : (gsize) length;
  start = node_data_skip_blank (text, size);
  is_json = start < size && (text[start] == '{' || text[start] == '[');
  if (!(is_json ? node_data_read_json (self, text + start, size - start, name, &reason)
                : node_data_read_text (self, text, size, name, &reason)))
    {
      vn_message_make_valid (&reason);
      g_propagate_error (error, g_steal_pointer (&reason));
      return NULL;
    }
  for (guint i = 0; i < self->graphs->len; i++)
    n += ((VnNodeDataGraph *) g_ptr_array_index (self->graphs, i))->data->len;
  if (n > 0)
    return g_steal_pointer (&self);
  g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
               _("%s: no numbers of nodes; expected Model Explorer node data, an ONNX Runtime profile or lines of name,value"),
               name);
  return NULL;
}

static gpointer
node_data_read (const char  *text,
                gssize       length,
                const char  *name,
                GError     **error)
{
  return vn_node_data_parse (text, length, name, error);
}

/**
 * vn_node_data_load:
 *
 * Returns: (transfer full) (nullable): as vn_node_data_parse(), of a file
 */
VnNodeData *
vn_node_data_load (const char  *path,
                   GError     **error)
{
  g_return_val_if_fail (path != NULL, NULL);

  return vn_file_parse (path, node_data_read, (GDestroyNotify) vn_node_data_free, error);
}

/**
 * vn_node_data_is_file:
 *
 * For files that may as well be settings: looks at the beginning alone.
 *
 * Returns: whether a file seems to give numbers of nodes
 */
gboolean
vn_node_data_is_file (const char *path)
{
  char head[HEAD_BYTES + 1];
  gsize size, start;
  FILE *file;

  g_return_val_if_fail (path != NULL, FALSE);

  if (g_str_has_suffix (path, ".csv") || g_str_has_suffix (path, ".tsv"))
    return TRUE;
  file = g_str_has_suffix (path, ".json") ? fopen (path, "rbe") : NULL;
  if (file == NULL)
    return FALSE;
  size = fread (head, 1, HEAD_BYTES, file);
  fclose (file);
  start = node_data_skip_blank (head, size);
  return (start < size && head[start] == '[') || g_strstr_len (head, (gssize) size, "\"results\"") != NULL ||
         g_strstr_len (head, (gssize) size, "\"traceEvents\"") != NULL;
}
