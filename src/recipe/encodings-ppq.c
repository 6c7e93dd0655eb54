/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Tables that PPQ and its descendants write:
 *
 *   { "configs": { "OPERATION": { "TENSOR": { "bit_width": 8, "quant_min": -128, "quant_max": 127, "state": "ACTIVATED",
 *                                             "hash": 1, "dominator": 1 } } },
 *     "values": { "1": { "scale": 0.03125, "zero_point": 0.0 } } }
 *
 * where scale and zero point of a tensor are those of its dominator, and lists where each channel has its own. For PPL:
 *
 *   { "quant_info": { "TENSOR": { "bit_width": 8, "q_min": 0, "q_max": 255, "quant_flag": true, "scale": 0.02,
 *                                 "zero_point": 128.0 } } }
 *
 * For TensorRT: { "act_quant_info": { "TENSOR": 2.64 } }, the greatest magnitude.
 *
 * Passed over: tensors of more than 16 bit, which are biases; what stays float; operations that use a tensor again, as
 * the first one decides. */

#include "vn-encodings-private.h"

#include "vn-error.h"
#include "vn-i18n.h"

#define MAX_BITS 16

static gboolean
encodings_ppq_is_number (JsonNode *node)
{
  GType type = node != NULL && JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : G_TYPE_INVALID;

  return type == G_TYPE_INT64 || type == G_TYPE_DOUBLE;
}

static const char *
encodings_ppq_get_text (JsonObject *object,
                        const char *name)
{
  JsonNode *node = json_object_get_member (object, name);
  gboolean text = node != NULL && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING;

  return text ? json_node_get_string (node) : NULL;
}

static double
encodings_ppq_get_number (JsonObject *object,
                          const char *name,
                          double      otherwise)
{
  JsonNode *node = json_object_get_member (object, name);

  return encodings_ppq_is_number (node) ? json_node_get_double (node) : otherwise;
}

/* The smallest type that holds the integers a tensor may have. */
static VnDType
encodings_ppq_find_type (JsonObject *object,
                         const char *min_name,
                         const char *max_name)
{
  static const VnDType types[] = { VN_DTYPE_S4, VN_DTYPE_U4, VN_DTYPE_S8, VN_DTYPE_U8, VN_DTYPE_S16, VN_DTYPE_U16 };
  const double bits = encodings_ppq_get_number (object, "bit_width", 8);
  const double qmin = encodings_ppq_get_number (object, min_name, 0), qmax = encodings_ppq_get_number (object, max_name, -1);

  if (!(qmax > qmin))
    return VN_DTYPE_UNDEFINED;
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    {
      gint64 low, high;

      vn_dtype_integer_range (types[i], &low, &high);
      if (bits <= vn_dtype_get_bits (types[i]) && qmin >= (double) low && qmax <= (double) high)
        return types[i];
    }
  return VN_DTYPE_UNDEFINED;
}

static gboolean
encodings_ppq_add_params (VnEncodingTable  *self,
                          const char    *tensor,
                          JsonObject    *object,
                          VnDType        dtype,
                          GError       **error)
{
  JsonNode *scale = json_object_get_member (object, "scale"), *zero_point = json_object_get_member (object, "zero_point");
  g_autofree char *where = g_strdup_printf ("“%s”", tensor);
  g_auto(VnEncoding) imported = { .dtype = dtype };

  if (vn_encoding_table_get (self, tensor) != NULL)
    return TRUE;
  if (scale != NULL && zero_point != NULL)
    return vn_encoding_read_params (&imported, scale, zero_point, where, error) &&
           vn_encoding_table_add (self, tensor, &imported, error);
  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("%s: expected “scale” and “zero_point”"), where);
  return FALSE;
}

/* ---- quant_info, act_quant_info ---- */

static gboolean
encodings_ppq_is_off (JsonObject *object)
{
  JsonNode *node = json_object_get_member (object, "quant_flag");

  return node != NULL && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_BOOLEAN &&
         !json_node_get_boolean (node);
}

static gboolean
encodings_ppq_add_info (VnEncodingTable  *self,
                        const char    *tensor,
                        JsonNode      *node,
                        GError       **error)
{
  JsonObject *object = vn_json_get_object (node, tensor, error);

  if (object == NULL || encodings_ppq_is_off (object) || encodings_ppq_get_number (object, "bit_width", 8) > MAX_BITS)
    return object != NULL;
  return encodings_ppq_add_params (self, tensor, object, encodings_ppq_find_type (object, "q_min", "q_max"), error);
}

static gboolean
encodings_ppq_add_amplitude (VnEncodingTable  *self,
                             const char    *tensor,
                             JsonNode      *node,
                             GError       **error)
{
  double amplitude;

  return vn_json_get_number (node, tensor, &amplitude, error) &&
         vn_encoding_table_add (self, tensor, &(VnEncoding) { .range = { -ABS (amplitude), ABS (amplitude) } }, error);
}

static gboolean
encodings_ppq_parse_info (VnEncodingTable  *self,
                          JsonObject    *root,
                          const char    *key,
                          gboolean     (*add) (VnEncodingTable *self, const char *tensor, JsonNode *node, GError **error),
                          GError       **error)
{
  JsonObject *tensors = vn_json_get_object (json_object_get_member (root, key), key, error);
  JsonObjectIter iter;
  const char *name;
  JsonNode *node;

  if (tensors == NULL)
    return FALSE;
  json_object_iter_init_ordered (&iter, tensors);
  while (json_object_iter_next_ordered (&iter, &name, &node))
    if (!add (self, name, node, error))
      return FALSE;
  return TRUE;
}

/* ---- configs and values ---- */

static gboolean
encodings_ppq_is_quantized (JsonObject *object)
{
  static const char * const states[] = { "FP32", "DEACTIVATED", "DEQUANTIZED", "SOI", "INITIAL", NULL };
  const char *state = encodings_ppq_get_text (object, "state");

  return (state == NULL || !g_strv_contains (states, state)) &&
         encodings_ppq_get_number (object, "bit_width", MAX_BITS + 1) <= MAX_BITS;
}

static JsonNode *
encodings_ppq_find_value (JsonObject *object,
                          JsonObject *values)
{
  static const char * const names[] = { "dominator", "hash" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      JsonNode *key = json_object_get_member (object, names[i]);
      g_autofree char *text = encodings_ppq_is_number (key)
                              ? g_strdup_printf ("%" G_GINT64_FORMAT, json_node_get_int (key)) : NULL;

      if (text != NULL && json_object_has_member (values, text))
        return json_object_get_member (values, text);
    }
  return NULL;
}

static gboolean
encodings_ppq_parse_operation (VnEncodingTable  *self,
                               const char    *operation,
                               JsonNode      *node,
                               JsonObject    *values,
                               GError       **error)
{
  JsonObject *tensors = vn_json_get_object (node, operation, error);
  JsonObjectIter iter;
  const char *tensor;
  JsonNode *member;

  if (tensors == NULL)
    return FALSE;
  json_object_iter_init_ordered (&iter, tensors);
  while (json_object_iter_next_ordered (&iter, &tensor, &member))
    {
      JsonObject *object = vn_json_get_object (member, tensor, error), *value;
      JsonNode *found = object != NULL && encodings_ppq_is_quantized (object) ? encodings_ppq_find_value (object, values) : NULL;

      if (object == NULL)
        return FALSE;
      if (found == NULL || *tensor == '\0')
        continue;
      value = vn_json_get_object (found, tensor, error);
      if (value == NULL || !encodings_ppq_add_params (self, tensor, value,
                                                      encodings_ppq_find_type (object, "quant_min", "quant_max"), error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
encodings_ppq_parse_configs (VnEncodingTable  *self,
                             JsonObject    *root,
                             GError       **error)
{
  JsonObject *operations = vn_json_get_object (json_object_get_member (root, "configs"), "configs", error);
  JsonObject *values = operations != NULL
                         ? vn_json_get_object (json_object_get_member (root, "values"), "values", error) : NULL;
  JsonObjectIter iter;
  const char *operation;
  JsonNode *node;

  if (values == NULL)
    return FALSE;
  json_object_iter_init_ordered (&iter, operations);
  while (json_object_iter_next_ordered (&iter, &operation, &node))
    if (!encodings_ppq_parse_operation (self, operation, node, values, error))
      return FALSE;
  return TRUE;
}

/* ---- all ---- */

/*< private >
 * vn_encoding_is_ppq:
 *
 * Returns: whether vn_encoding_parse_ppq() should have it
 */
gboolean
vn_encoding_is_ppq (JsonObject *root)
{
  return json_object_has_member (root, "quant_info") || json_object_has_member (root, "act_quant_info") ||
         (json_object_has_member (root, "configs") && json_object_has_member (root, "values"));
}

/*< private >
 * vn_encoding_parse_ppq:
 *
 * Returns: %FALSE if it is damaged
 */
gboolean
vn_encoding_parse_ppq (VnEncodingTable  *self,
                       JsonObject    *root,
                       GError       **error)
{
  if (json_object_has_member (root, "quant_info"))
    return encodings_ppq_parse_info (self, root, "quant_info", encodings_ppq_add_info, error);
  if (json_object_has_member (root, "act_quant_info"))
    return encodings_ppq_parse_info (self, root, "act_quant_info", encodings_ppq_add_amplitude, error);
  return encodings_ppq_parse_configs (self, root, error);
}
