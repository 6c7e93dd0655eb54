/* SPDX-License-Identifier: GPL-3.0-or-later */
/* "list operators NAME": what is known of one operator here, and what ONNX says of it. */
#include "vn-cmd-help.h"
#include "vn-listing.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-op-doc.h"

#include <string.h>

#define INDENT 4

/* Each paragraph indented. */
static void
list_operator_print_text (const char *text,
                          guint       indent)
{
  g_auto(GStrv) lines = g_strsplit (text, "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    if (lines[i][0] != '\0')
      {
        g_autoptr(GString) wrapped = g_string_new (NULL);
        g_auto(GStrv) broken = NULL;

        g_string_append_printf (wrapped, "%*s", (int) indent, "");
        vn_cmd_append_wrapped (wrapped, lines[i], indent, indent);
        broken = g_strsplit (wrapped->str, "\n", -1);
        for (guint k = 0; broken[k] != NULL && broken[k][0] != '\0'; k++)
          vn_cmd_print ("%s\n", broken[k]);
      }
    else
      vn_cmd_print ("\n");
}

static void
list_operator_add_items (JsonBuilder *json,
                         const char  *member,
                         const char  *title,
                         GPtrArray   *items)
{
  vn_json_begin_array (json, member);
  if (items->len > 0)
    vn_cmd_print ("\n%s\n", title);
  for (guint i = 0; i < items->len; i++)
    {
      const VnOpDocItem *item = g_ptr_array_index (items, i);
      g_autofree char *fallback = item->fallback[0] != '\0' ? g_strdup_printf (_(", default %s"), item->fallback) : g_strdup ("");

      vn_cmd_print ("  %s: %s%s%s%s\n", item->name, item->type, item->kind[0] != '\0' ? ", " : "",
                    vn_op_doc_get_kind (item), fallback);
      list_operator_print_text (item->text, INDENT);
      json_builder_begin_object (json);
      vn_json_add_text (json, "name", item->name);
      vn_json_add_text (json, "type", item->type);
      if (item->kind[0] != '\0')
        vn_json_add_text (json, "kind", item->kind);
      if (item->fallback[0] != '\0')
        vn_json_add_text (json, "default", item->fallback);
      vn_json_add_text (json, "text", item->text);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static void
list_operator_add_doc (JsonBuilder   *json,
                       const VnOpDoc *doc)
{
  g_autofree char *title = g_strdup_printf (_("ONNX %s, since version %u"), vn_op_doc_get_source (), doc->since);

  vn_json_add_text (json, "onnx", vn_op_doc_get_source ());
  vn_json_add_int (json, "since", doc->since);
  vn_json_add_bool (json, "deprecated", doc->is_deprecated);
  vn_json_add_text (json, "text", doc->text);
  vn_cmd_print ("\n%s%s\n", title, doc->is_deprecated ? _(", deprecated") : "");
  list_operator_print_text (doc->text, 2);
  list_operator_add_items (json, "inputs", _("Inputs"), doc->inputs);
  list_operator_add_items (json, "outputs", _("Outputs"), doc->outputs);
  list_operator_add_items (json, "attributes", _("Attributes"), doc->attributes);
  list_operator_add_items (json, "types", _("Types"), doc->types);
}

static gboolean
list_operator_is_known (const char *domain,
                        const char *name)
{
  guint n;
  const VnOp * const *ops = vn_op_list (&n);
  g_autoptr(VnOpDoc) doc = vn_op_doc_find (domain, name, 0);

  for (guint i = 0; i < n; i++)
    if (g_str_equal (ops[i]->type, name) && g_str_equal (ops[i]->domain, domain))
      return TRUE;
  return doc != NULL;
}

/* The domain of an operator that is named without. */
static const char *
list_operator_find_domain (const char *name)
{
  guint n;
  const VnOp * const *ops = vn_op_list (&n);

  if (list_operator_is_known ("", name))
    return "";
  for (guint i = 0; i < n; i++)
    if (g_str_equal (ops[i]->type, name))
      return ops[i]->domain;
  return list_operator_is_known ("ai.onnx.ml", name) ? "ai.onnx.ml" : NULL;
}

/*< private >
 * vn_list_operator:
 * @word: "Conv", "com.microsoft:MatMulNBits", "Conv@11" as it is in that version of its domain
 *
 * Prints what is known of one operator, as text and as the members of @json.
 */
gboolean
vn_list_operator (const char   *word,
                  JsonBuilder  *json,
                  GError      **error)
{
  g_auto(GStrv) versions = NULL;
  g_auto(GStrv) parts = NULL;
  g_autoptr(VnOpDoc) doc = NULL;
  g_autoptr(GPtrArray) facts = g_ptr_array_new_with_free_func (g_free);
  const char *domain, *name;
  gint64 opset = 0;

  g_return_val_if_fail (word != NULL && json != NULL, FALSE);

  versions = g_strsplit (word, "@", 2);
  parts = g_strsplit (versions[0] != NULL ? versions[0] : "", ":", 2);
  name = parts[0] == NULL ? "" : parts[1] != NULL ? parts[1] : parts[0];
  domain = parts[0] == NULL || parts[1] == NULL ? list_operator_find_domain (name)
           : g_str_equal (parts[0], "ai.onnx") ? "" : parts[0];
  if ((versions[0] != NULL && versions[1] != NULL &&
       (!g_ascii_string_to_signed (versions[1], 10, 1, G_MAXINT, &opset, NULL))) ||
      domain == NULL || !list_operator_is_known (domain, name))
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   _("Unknown operator “%s”; use NAME, DOMAIN:NAME or NAME@VERSION as listed by “list operators”"),
                   word);
      return FALSE;
    }
  vn_op_list_facts (domain, name, opset, facts);
  doc = vn_op_doc_find (domain, name, opset);
  vn_cmd_print ("%s:%s\n", domain[0] != '\0' ? domain : "ai.onnx", name);
  vn_json_add_text (json, "domain", domain[0] != '\0' ? domain : "ai.onnx");
  vn_json_add_text (json, "name", name);
  vn_cmd_print_facts (json, facts);
  if (doc != NULL)
    list_operator_add_doc (json, doc);
  else
    vn_cmd_print ("\n%s\n", vn_op_doc_explain_missing (domain));
  return TRUE;
}
