/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes and tensors as text that is pasted elsewhere. */
#include "vn-copy-text.h"

#include "vn-format-model.h"
#include "vn-json.h"

/* In the order of VnCopyKind. */
static const char * const ids[VN_N_COPY_KINDS] = { "name", "type", "json", "rule" };

/**
 * vn_copy_kind_find:
 * @id: "name", "type", "json" or "rule"
 * @kind: (out):
 */
gboolean
vn_copy_kind_find (const char *id,
                   VnCopyKind *kind)
{
  g_return_val_if_fail (id != NULL && kind != NULL, FALSE);

  for (guint i = 0; i < VN_N_COPY_KINDS; i++)
    if (g_str_equal (ids[i], id))
      {
        *kind = (VnCopyKind) i;
        return TRUE;
      }
  return FALSE;
}

static char *
copy_text_dup_type (const VnValue *value)
{
  return vn_type_to_string (&value->type);
}

/* ---- JSON ---- */

static void
copy_text_add_value (JsonBuilder   *json,
                     const VnValue *value)
{
  g_autofree char *type = value != NULL ? copy_text_dup_type (value) : NULL;

  json_builder_begin_object (json);
  vn_json_add_text (json, "name", value != NULL ? value->name : "");
  vn_json_add_text_if (json, "type", type);
  if (value != NULL && vn_value_get_constant (value) != NULL)
    vn_json_add_bool (json, "constant", TRUE);
  json_builder_end_object (json);
}

static void
copy_text_add_values (JsonBuilder     *json,
                      const char      *member,
                      const GPtrArray *values)
{
  vn_json_begin_array (json, member);
  for (guint i = 0; i < values->len; i++)
    copy_text_add_value (json, g_ptr_array_index (values, i));
  json_builder_end_array (json);
}

static void
copy_text_add_node (JsonBuilder  *json,
                    const VnNode *node)
{
  g_autofree char *label = vn_node_dup_label (node);

  json_builder_begin_object (json);
  vn_json_add_text (json, "name", label);
  vn_json_add_text (json, "operator", node->op_type);
  vn_json_add_text (json, "domain", node->domain);
  vn_json_begin_object (json, "attributes");
  for (guint i = 0; i < node->attrs->len; i++)
    {
      const VnAttr *attr = g_ptr_array_index (node->attrs, i);
      g_autofree char *text = vn_format_attr (attr);

      if (attr->type == VN_ATTR_INT)
        vn_json_add_int (json, attr->name, attr->i);
      else
        vn_json_add_text (json, attr->name, text);
    }
  json_builder_end_object (json);
  copy_text_add_values (json, "inputs", node->inputs);
  copy_text_add_values (json, "outputs", node->outputs);
  json_builder_end_object (json);
}

static char *
copy_text_end_json (JsonBuilder *json)
{
  g_autoptr(JsonNode) root = NULL;

  json_builder_end_array (json);
  root = json_builder_get_root (json);
  return vn_json_to_text (root);
}

/* ---- rules ---- */

static const VnOverride *
copy_text_find_rule (const VnRecipe *recipe,
                     const VnNode   *node)
{
  for (guint i = recipe->overrides->len; i-- > 0;)
    {
      const VnOverride *rule = g_ptr_array_index (recipe->overrides, i);

      if (rule->enabled && vn_override_matches (rule, node))
        return rule;
    }
  return NULL;
}

/* Rules that hold for several of the nodes come once. */
static char *
copy_text_make_rules (const VnRecipe       *recipe,
                      const VnNode * const *nodes,
                      guint                 n)
{
  g_autoptr(VnRecipe) scratch = vn_recipe_copy (recipe);
  g_autoptr(GString) text = g_string_new (NULL);
  const VnOverride *last = NULL;

  for (guint i = 0; i < n; i++)
    {
      const VnOverride *rule = copy_text_find_rule (recipe, nodes[i]);
      g_autofree char *label = vn_node_dup_label (nodes[i]), *json = NULL;

      if (rule != NULL && rule == last)
        continue;
      last = rule;
      json = vn_override_to_json (rule != NULL ? rule : vn_recipe_add_exclude (scratch, label));
      g_string_append_printf (text, "%s%s", text->len > 0 ? "\n" : "", json);
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/**
 * vn_copy_nodes:
 * @nodes: (array length=n): at least one
 *
 * Returns: (transfer full): what is copied of them
 */
char *
vn_copy_nodes (const VnRecipe       *recipe,
               const VnNode * const *nodes,
               guint                 n,
               VnCopyKind            kind)
{
  g_autoptr(JsonBuilder) json = NULL;
  g_autoptr(GString) text = NULL;

  g_return_val_if_fail (recipe != NULL && nodes != NULL && n > 0 && kind < VN_N_COPY_KINDS, NULL);

  if (kind == VN_COPY_RULE)
    return copy_text_make_rules (recipe, nodes, n);
  json = json_builder_new ();
  text = g_string_new (NULL);
  json_builder_begin_array (json);
  for (guint i = 0; i < n; i++)
    {
      const VnValue *output = vn_node_get_output (nodes[i], 0);
      g_autofree char *label = vn_node_dup_label (nodes[i]), *type = output != NULL ? copy_text_dup_type (output) : g_strdup ("");

      g_string_append (text, i > 0 ? "\n" : "");
      if (kind == VN_COPY_JSON)
        copy_text_add_node (json, nodes[i]);
      else
        g_string_append_printf (text, kind == VN_COPY_NAME ? "%s" : "%s %s",
                                kind == VN_COPY_NAME ? label : nodes[i]->op_type, type);
    }
  return kind == VN_COPY_JSON ? copy_text_end_json (json) : g_string_free (g_steal_pointer (&text), FALSE);
}

/**
 * vn_copy_tensor:
 *
 * Returns: (transfer full): what is copied of a tensor; its name where @kind has no meaning for tensors
 */
char *
vn_copy_tensor (const VnValue *value,
                VnCopyKind     kind)
{
  g_autoptr(JsonBuilder) json = NULL;

  g_return_val_if_fail (value != NULL && kind < VN_N_COPY_KINDS, NULL);

  if (kind == VN_COPY_TYPE)
    return copy_text_dup_type (value);
  if (kind != VN_COPY_JSON)
    return g_strdup (value->name);
  json = json_builder_new ();
  json_builder_begin_array (json);
  copy_text_add_value (json, value);
  return copy_text_end_json (json);
}
