/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds what ONNX says of an operator in the text that was built in: src/ops/make-op-docs.py tells its form. */
#include "vn-op-doc.h"

#include "vn-op-docs.h"

#include <string.h>

#define PATH "/io/github/vernier/ops/op-docs.txt"
#define MOST_PARTS 6

/* For as long as the program runs: NUL-terminated, as resources are. */
static const char *
op_doc_get_text (void)
{
  static gsize done = 0;
  static GBytes *bytes = NULL;

  if (g_once_init_enter (&done))
    {
      bytes = g_resource_lookup_data (vn_op_docs_get_resource (), PATH, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
      g_once_init_leave (&done, 1);
    }
  return bytes != NULL && g_bytes_get_size (bytes) > 0 ? g_bytes_get_data (bytes, NULL) : "";
}

/* Parts of the line that @text begins with. Returns: (transfer full): the line after it follows in @next */
static char **
op_doc_split (const char  *text,
              const char **next)
{
  const char *end = strchr (text, '\n');
  g_autofree char *line = end != NULL ? g_strndup (text, (gsize) (end - text)) : g_strdup (text);
  char **parts = g_strsplit (line, "\t", MOST_PARTS);

  for (guint i = 0; parts[i] != NULL; i++)
    {
      char *plain = g_strcompress (parts[i]);

      g_free (parts[i]);
      parts[i] = plain;
    }
  *next = end != NULL ? end + 1 : text + strlen (text);
  return parts;
}

/**
 * vn_op_doc_get_source:
 *
 * Returns: (nullable): the version of ONNX whose texts were built in
 */
const char *
vn_op_doc_get_source (void)
{
  static gsize done = 0;
  static char *source = NULL;

  if (g_once_init_enter (&done))
    {
      const char *next;
      g_auto(GStrv) parts = op_doc_split (op_doc_get_text (), &next);

      if (g_strv_length (parts) == 2 && g_str_equal (parts[0], "source"))
        source = g_strdup (parts[1]);
      g_once_init_leave (&done, 1);
    }
  return source;
}

static void
op_doc_free_item (gpointer data)
{
  VnOpDocItem *self = data;

  g_free (self->name);
  g_free (self->type);
  g_free (self->kind);
  g_free (self->fallback);
  g_free (self->text);
  g_free (self);
}

void
vn_op_doc_free (VnOpDoc *self)
{
  g_return_if_fail (self != NULL);

  g_free (self->domain);
  g_free (self->name);
  g_free (self->text);
  g_ptr_array_unref (self->inputs);
  g_ptr_array_unref (self->outputs);
  g_ptr_array_unref (self->attributes);
  g_ptr_array_unref (self->types);
  g_free (self);
}

static void
op_doc_add_item (VnOpDoc *self,
                 char   **parts,
                 guint    n)
{
  gboolean is_attribute = g_str_equal (parts[0], "attribute"), is_type = g_str_equal (parts[0], "type");
  GPtrArray *list = is_attribute ? self->attributes : is_type ? self->types
                    : g_str_equal (parts[0], "input") ? self->inputs : self->outputs;
  VnOpDocItem *item;

  if (n != (is_attribute ? 6 : is_type ? 4 : 5))
    return;
  item = g_new0 (VnOpDocItem, 1);
  item->name = g_strdup (parts[1]);
  item->type = g_strdup (parts[2]);
  item->kind = g_strdup (is_type ? "" : parts[3]);
  item->fallback = g_strdup (is_attribute ? parts[4] : "");
  item->text = g_strdup (parts[n - 1]);
  g_ptr_array_add (list, item);
}

/* @text: behind the line "operator" */
static void
op_doc_read (VnOpDoc    *self,
             const char *text)
{
  while (*text != '\0' && !g_str_has_prefix (text, "operator\t"))
    {
      g_auto(GStrv) parts = op_doc_split (text, &text);
      guint n = g_strv_length (parts);

      if (n == 2 && g_str_equal (parts[0], "text"))
        self->text = g_strdup (parts[1]);
      else if (n > 2)
        op_doc_add_item (self, parts, n);
    }
  if (self->text == NULL)
    self->text = g_strdup ("");
}

static VnOpDoc *
op_doc_new (char **head)
{
  VnOpDoc *self = g_new0 (VnOpDoc, 1);

  self->domain = g_strdup (head[1]);
  self->name = g_strdup (head[2]);
  self->since = (guint) g_ascii_strtoull (head[3], NULL, 10);
  self->is_deprecated = g_str_equal (head[4], "deprecated");
  self->inputs = g_ptr_array_new_with_free_func (op_doc_free_item);
  self->outputs = g_ptr_array_new_with_free_func (op_doc_free_item);
  self->attributes = g_ptr_array_new_with_free_func (op_doc_free_item);
  self->types = g_ptr_array_new_with_free_func (op_doc_free_item);
  return self;
}

/**
 * vn_op_doc_find:
 * @domain: "" is ai.onnx
 * @opset: version of @domain; 0: the newest that is known
 *
 * Returns: (transfer full) (nullable): what ONNX says of the operator as it is in @opset; %NULL: nothing was built in, or it is
 *   no operator of ONNX
 */
VnOpDoc *
vn_op_doc_find (const char *domain,
                const char *name,
                gint64      opset)
{
  g_autofree char *head = NULL, *begin = NULL;
  g_autoptr(VnOpDoc) found = NULL;
  const char *at;

  g_return_val_if_fail (domain != NULL && name != NULL, NULL);

  head = g_strdup_printf ("\noperator\t%s\t%s\t", domain, name);
  /* versions stand in rising order */
  for (at = strstr (op_doc_get_text (), head); at != NULL; at = strstr (at, head))
    {
      g_auto(GStrv) parts = op_doc_split (at + 1, &at);
      VnOpDoc *doc;

      if (g_strv_length (parts) != 5)
        continue;
      doc = op_doc_new (parts);
      if (opset > 0 && doc->since > opset)
        {
          vn_op_doc_free (doc);
          break;
        }
      g_clear_pointer (&found, vn_op_doc_free);
      found = doc;
      op_doc_read (doc, at);
      at--;     /* the newline before the next line is part of what is looked for */
    }
  return g_steal_pointer (&found);
}
