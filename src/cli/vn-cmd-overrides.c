/* SPDX-License-Identifier: GPL-3.0-or-later */
/* TensorQuantOverrides of onnxruntime.quantization as rules of a recipe. */
#include "vn-cmd-help.h"

#include "vn-error.h"
#include "vn-foreign-word.h"
#include "vn-i18n.h"

/* Fields of a tensor there and in a rule; LISTED: a number for each channel, of which there is an object each. */
typedef enum { TYPE, SWITCH, LISTED, PLAIN } FieldKind;

typedef struct { const char *there, *here; FieldKind kind; } Field;   /* a table ends with one without name */

static const Field fields[] = {
  { "quant_type", "activation", TYPE }, { "quant_type", "weight", TYPE }, { "symmetric", "symmetric", SWITCH },
  { "reduce_range", "reduce-range", SWITCH }, { "rmin", "min", LISTED }, { "rmax", "max", LISTED },
  { "scale", "scale", LISTED }, { "zero_point", "zero-point", LISTED }, { "axis", "axis", PLAIN }, { NULL },
};
static const Field converted[] = {
  { "quant_type", "convert", TYPE }, { "symmetric", "convert-symmetric", SWITCH }, { "rmin", "convert-min", LISTED },
  { "rmax", "convert-max", LISTED }, { "scale", "convert-scale", LISTED }, { "zero_point", "convert-zero-point", LISTED },
  { "recv_nodes", "receivers", PLAIN }, { NULL },
};

static gboolean
overrides_refuse (const char  *tensor,
                  const char  *field,
                  GError     **error)
{
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("TensorQuantOverrides: “%s”: “%s” is not known, or has an "
                                                                  "unexpected value"), tensor, field);
  return FALSE;
}

/* A number of each channel. */
static gboolean
overrides_add_listed (JsonBuilder *json,
                      const Field *field,
                      JsonArray   *channels)
{
  json_builder_set_member_name (json, field->here);
  json_builder_begin_array (json);
  for (guint i = 0; i < json_array_get_length (channels); i++)
    {
      JsonNode *node = json_object_get_member (json_array_get_object_element (channels, i), field->there);

      if (node == NULL || !JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) == G_TYPE_STRING)
        return FALSE;
      json_builder_add_double_value (json, json_node_get_double (node));
    }
  json_builder_end_array (json);
  return TRUE;
}

static gboolean
overrides_add_type (JsonBuilder *json,
                    const Field *field,
                    JsonNode    *node)
{
  const VnForeignWord *word;

  if (json_node_get_value_type (node) != G_TYPE_STRING)
    return FALSE;
  word = vn_foreign_word_find (VN_FOREIGN_TYPE, json_node_get_string (node));
  json_builder_set_member_name (json, field->here);
  json_builder_add_string_value (json, word != NULL ? word->here : json_node_get_string (node));
  return TRUE;
}

/* @node: in the object of the first channel */
static gboolean
overrides_add_field (JsonBuilder *json,
                     const Field *field,
                     JsonArray   *channels,
                     JsonNode    *node)
{
  switch (field->kind)
    {
    case TYPE:
      return overrides_add_type (json, field, node);
    case LISTED:
      return overrides_add_listed (json, field, channels);
    case SWITCH:
      if (json_node_get_value_type (node) != G_TYPE_BOOLEAN)
        return FALSE;
      json_builder_set_member_name (json, field->here);
      json_builder_add_string_value (json, json_node_get_boolean (node) ? "true" : "false");
      return TRUE;
    default:
      json_builder_set_member_name (json, field->here);
      json_builder_add_value (json, json_node_copy (node));
      return TRUE;
    }
}

/* All members of the first channel's object. */
static gboolean
overrides_add_fields (JsonBuilder  *json,
                      const Field  *table,
                      const char   *tensor,
                      JsonArray    *channels,
                      GError      **error)
{
  JsonObjectIter at;
  const char *name;
  JsonNode *node;

  json_object_iter_init (&at, json_array_get_object_element (channels, 0));
  while (json_object_iter_next (&at, &name, &node))
    {
      gboolean known = FALSE;

      if (table == fields && g_str_equal (name, "convert") && JSON_NODE_HOLDS_OBJECT (node))
        {
          g_autoptr(JsonArray) one = json_array_new ();

          json_array_add_element (one, json_node_copy (node));
          if (!overrides_add_fields (json, converted, tensor, one, error))
            return FALSE;
          continue;
        }
      for (const Field *field = table; field->there != NULL; field++)
        if (g_str_equal (field->there, name))
          {
            known = overrides_add_field (json, field, channels, node);
            if (!known)
              break;
          }
      if (!known)
        return overrides_refuse (tensor, name, error);
    }
  return TRUE;
}

static char *
overrides_dup_rule (const char  *tensor,
                    JsonNode    *node,
                    GError     **error)
{
  g_autoptr(JsonBuilder) json = json_builder_new ();
  g_autoptr(JsonNode) root = NULL;
  JsonArray *channels = JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;

  for (guint i = 0; channels != NULL && i < json_array_get_length (channels); i++)
    if (!JSON_NODE_HOLDS_OBJECT (json_array_get_element (channels, i)))
      channels = NULL;
  if (channels == NULL || json_array_get_length (channels) == 0)
    {
      overrides_refuse (tensor, "[…]", error);
      return NULL;
    }
  json_builder_begin_object (json);
  json_builder_set_member_name (json, "tensors");
  json_builder_begin_array (json);
  json_builder_add_string_value (json, tensor);
  json_builder_end_array (json);
  if (!overrides_add_fields (json, fields, tensor, channels, error))
    return NULL;
  json_builder_end_object (json);
  root = json_builder_get_root (json);
  return json_to_string (root, FALSE);
}

/**
 * vn_cmd_add_overrides:
 * @args: arguments of a command, to which a --rule for each tensor is added
 * @overrides: {"tensor": [{"quant_type": "QuantType.QUInt16", …}, …], …}: an object for each channel, or one for all
 *
 * Returns: %FALSE with %G_OPTION_ERROR if a field is not known
 */
gboolean
vn_cmd_add_overrides (GPtrArray   *args,
                      JsonObject  *overrides,
                      GError     **error)
{
  JsonObjectIter at;
  const char *tensor;
  JsonNode *node;

  g_return_val_if_fail (args != NULL && overrides != NULL, FALSE);

  json_object_iter_init (&at, overrides);
  while (json_object_iter_next (&at, &tensor, &node))
    {
      g_autofree char *rule = overrides_dup_rule (tensor, node, error);

      if (rule == NULL)
        return FALSE;
      g_ptr_array_add (args, g_strconcat ("--rule=", rule, NULL));
    }
  return TRUE;
}
