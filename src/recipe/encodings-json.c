/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Given ranges in JSON. Vernier's own:
 *
 *   { "format": "vernier-ranges", "version": 1,
 *     "tensors": { "NAME": { "min": -1.5, "max": 2.25 }, "OTHER": { "scale": 0.05, "zero_point": 113, "type": "uint8" } } }
 *
 * where the type may be left out, and scale and zero point may be lists, for the channels of a weight.
 *
 * onnxruntime.quantization's parameters: { "NAME": [zero_point, scale] }, alone or as "input_quantization_params" and
 * "output_quantization_params". Its calibration.json: { "NAME": { "lowest": -1.5, "highest": 2.25, "CLS": "TensorData" } },
 * alone or as "data" of a "TensorsData", a number possibly as array of numpy, and before version 1.16 { "NAME": [min, max] }.
 * A zero point is written as integer, a minimum never: that tells the two kinds of pairs apart. PPQ's tables: encodings-ppq.c. */

#include "vn-encodings-private.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-json.h"

#define FORMAT "vernier-ranges"
#define VERSION 1

static gboolean
encodings_json_is_integer (JsonNode *node)
{
  return JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_INT64;
}

static gboolean
encodings_json_unexpected (const char  *where,
                           GError     **error)
{
  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED,
               _("%s: expected “min” and “max”, “scale” and “zero_point”, or [zero point, scale]"), where);
  return FALSE;
}

static gboolean
encodings_json_read_type (VnEncoding     *imported,
                          JsonNode    *node,
                          const char  *where,
                          GError     **error)
{
  const char *name = node != NULL ? vn_json_get_string (node, where, error) : NULL;

  if (name == NULL)
    return node == NULL;
  imported->dtype = vn_dtype_from_name (name);
  if (vn_dtype_is_integer (imported->dtype))
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("%s: the type “%s” is not allowed; use int8, uint8, int16 or uint16"),
               where, name);
  return FALSE;
}

/* ---- tensors ---- */

static gboolean
encodings_json_parse_pair (VnEncoding     *imported,
                           JsonNode    *node,
                           const char  *where,
                           GError     **error)
{
  JsonArray *pair = json_node_get_array (node);
  JsonNode *first, *second;

  if (json_array_get_length (pair) != 2)
    return encodings_json_unexpected (where, error);
  first = json_array_get_element (pair, 0);
  second = json_array_get_element (pair, 1);
  if (encodings_json_is_integer (first))
    return vn_encoding_read_params (imported, second, first, where, error);
  return vn_json_get_number (first, where, &imported->range.min, error) &&
         vn_json_get_number (second, where, &imported->range.max, error);
}

/* A number, or an array of numpy: one for each channel, of which the outermost counts. */
static gboolean
encodings_json_parse_bound (JsonNode    *node,
                            gboolean     lowest,
                            double      *bound,
                            const char  *where,
                            GError     **error)
{
  JsonArray *data;

  if (node != NULL && JSON_NODE_HOLDS_OBJECT (node))
    node = json_object_get_member (json_node_get_object (node), "data");
  if (node == NULL)
    return encodings_json_unexpected (where, error);
  if (!JSON_NODE_HOLDS_ARRAY (node))
    return vn_json_get_number (node, where, bound, error);
  data = json_node_get_array (node);
  if (json_array_get_length (data) == 0)
    return encodings_json_unexpected (where, error);
  for (guint i = 0; i < json_array_get_length (data); i++)
    {
      double number;

      if (!vn_json_get_number (json_array_get_element (data, i), where, &number, error))
        return FALSE;
      *bound = i == 0 ? number : lowest ? MIN (*bound, number) : MAX (*bound, number);
    }
  return TRUE;
}

static gboolean
encodings_json_parse_object (VnEncoding     *imported,
                             JsonObject  *object,
                             const char  *where,
                             GError     **error)
{
  JsonNode *scale = json_object_get_member (object, "scale");
  JsonNode *zero_point = json_object_get_member (object, "zero_point");
  gboolean own = json_object_has_member (object, "min");

  if (scale != NULL && zero_point != NULL)
    return encodings_json_read_type (imported, json_object_get_member (object, "type"), where, error) &&
           vn_encoding_read_params (imported, scale, zero_point, where, error);
  return encodings_json_parse_bound (json_object_get_member (object, own ? "min" : "lowest"), TRUE, &imported->range.min, where,
                                     error) &&
         encodings_json_parse_bound (json_object_get_member (object, own ? "max" : "highest"), FALSE, &imported->range.max, where,
                                     error);
}

static gboolean
encodings_json_parse_members (VnEncodingTable  *self,
                              JsonObject    *object,
                              GError       **error)
{
  JsonObjectIter iter;
  const char *name;
  JsonNode *node;

  json_object_iter_init_ordered (&iter, object);
  while (json_object_iter_next_ordered (&iter, &name, &node))
    {
      g_autofree char *where = g_strdup_printf ("“%s”", name);
      g_auto(VnEncoding) imported = { 0 };
      gboolean ok;

      if (JSON_NODE_HOLDS_ARRAY (node))
        ok = encodings_json_parse_pair (&imported, node, where, error);
      else if (JSON_NODE_HOLDS_OBJECT (node))
        ok = encodings_json_parse_object (&imported, json_node_get_object (node), where, error);
      else
        ok = encodings_json_unexpected (where, error);
      if (!ok || !vn_encoding_table_add (self, name, &imported, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
encodings_json_parse_member (VnEncodingTable  *self,
                             JsonObject    *root,
                             const char    *key,
                             GError       **error)
{
  JsonNode *node = json_object_get_member (root, key);
  JsonObject *object = node != NULL ? vn_json_get_object (node, key, error) : NULL;

  return node == NULL || (object != NULL && encodings_json_parse_members (self, object, error));
}

static gboolean
encodings_json_parse_own (VnEncodingTable  *self,
                          JsonObject    *root,
                          GError       **error)
{
  JsonNode *node = json_object_get_member (root, "version");
  double version = 0;

  if (node == NULL || !vn_json_get_number (node, "version", &version, error))
    return node == NULL ? encodings_json_unexpected ("version", error) : FALSE;
  if (version != VERSION)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("it has version %g; this program reads version %d"), version,
                   VERSION);
      return FALSE;
    }
  return encodings_json_parse_member (self, root, "tensors", error);
}

static gboolean
encodings_json_has_text (JsonObject *object,
                         const char *key,
                         const char *text)
{
  JsonNode *node = json_object_get_member (object, key);

  return node != NULL && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING &&
         g_strcmp0 (json_node_get_string (node), text) == 0;
}

/*< private >
 * vn_encoding_parse_json:
 *
 * Returns: %FALSE if it is no JSON, or none of the kinds above
 */
gboolean
vn_encoding_parse_json (VnEncodingTable  *self,
                        const char    *text,
                        gsize          length,
                        const char    *name,
                        GError       **error)
{
  g_autoptr(JsonNode) node = vn_json_parse (text, (gssize) length, name, error);
  JsonObject *root = node != NULL ? vn_json_get_object (node, name, error) : NULL;

  const char *foreign;

  if (root == NULL)
    return FALSE;
  if (encodings_json_has_text (root, "format", FORMAT))
    return encodings_json_parse_own (self, root, error);
  if (encodings_json_has_text (root, "CLS", "TensorsData"))
    return encodings_json_parse_member (self, root, "data", error);
  if (json_object_has_member (root, "input_quantization_params") ||
      json_object_has_member (root, "output_quantization_params"))
    return encodings_json_parse_member (self, root, "input_quantization_params", error) &&
           encodings_json_parse_member (self, root, "output_quantization_params", error);
  if (vn_encoding_is_ppq (root))
    return vn_encoding_parse_ppq (self, root, error);
  foreign = vn_json_describe_foreign (root);
  if (foreign != NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, "%s", foreign);
      return FALSE;
    }
  return encodings_json_parse_members (self, root, error);
}

/* ---- writing ---- */

static void
encodings_json_add_params (JsonBuilder   *json,
                           const VnEncoding *imported)
{
  if (imported->n == 0)
    vn_json_add_number (json, "scale", (double) imported->scale);
  else
    {
      vn_json_begin_array (json, "scale");
      for (guint i = 0; i < imported->n; i++)
        json_builder_add_double_value (json, (double) imported->scales[i]);
      json_builder_end_array (json);
    }
  json_builder_set_member_name (json, "zero_point");
  if (imported->n > 0)
    json_builder_begin_array (json);
  for (guint i = 0; i < MAX (imported->n, 1); i++)
    json_builder_add_int_value (json, imported->n > 0 ? imported->zero_points[i] : imported->zero_point);
  if (imported->n > 0)
    json_builder_end_array (json);
  if (imported->dtype == VN_DTYPE_UNDEFINED)
    return;
  vn_json_add_text (json, "type", vn_dtype_get_name (imported->dtype));
}

/*< private >
 * vn_encoding_to_json:
 *
 * Returns: (transfer full): Vernier's own form
 */
char *
vn_encoding_to_json (VnEncodingTable *self)
{
  g_autoptr(JsonBuilder) json = json_builder_new ();
  g_autoptr(JsonNode) root = NULL;

  json_builder_begin_object (json);
  vn_json_add_text (json, "format", FORMAT);
  vn_json_add_int (json, "version", VERSION);
  vn_json_begin_object (json, "tensors");
  for (guint i = 0; i < vn_encoding_table_get_n (self); i++)
    {
      const char *name = vn_encoding_table_get_name (self, i);
      const VnEncoding *imported = vn_encoding_table_get (self, name);

      vn_json_begin_object (json, name);
      if (imported->has_params)
        encodings_json_add_params (json, imported);
      else
        {
          vn_json_add_number (json, "min", imported->range.min);
          vn_json_add_number (json, "max", imported->range.max);
        }
      json_builder_end_object (json);
    }
  json_builder_end_object (json);
  json_builder_end_object (json);
  root = json_builder_get_root (json);
  return vn_json_to_text (root);
}
