/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading nodes: attributes with defaults, inputs and outputs, labels, constants. */
#include "vn-model.h"

#include "vn-shown.h"

#include <string.h>

#define MOST_IDENTITIES 64    /* in a row; what a file says may go round in a circle */

/**
 * vn_node_get_attr:
 *
 * Returns: (transfer none) (nullable): the attribute of that name
 */
const VnAttr *
vn_node_get_attr (const VnNode *self,
                  const char   *name)
{
  g_return_val_if_fail (self != NULL, NULL);

  for (guint i = 0; i < self->attrs->len; i++)
    {
      const VnAttr *attr = g_ptr_array_index (self->attrs, i);

      if (g_str_equal (attr->name, name))
        return attr;
    }
  return NULL;
}

static const VnAttr *
node_get_typed (const VnNode *self,
                const char   *name,
                VnAttrType    type)
{
  const VnAttr *attr = vn_node_get_attr (self, name);

  return attr != NULL && attr->type == type && attr->ref_name == NULL ? attr : NULL;
}

/**
 * vn_node_get_int:
 *
 * Returns: the integer attribute @name, or @fallback if there is none of that type
 */
gint64
vn_node_get_int (const VnNode *self,
                 const char   *name,
                 gint64        fallback)
{
  const VnAttr *attr;

  g_return_val_if_fail (self != NULL, 0);

  attr = node_get_typed (self, name, VN_ATTR_INT);
  return attr != NULL ? attr->i : fallback;
}

float
vn_node_get_float (const VnNode *self,
                   const char   *name,
                   float         fallback)
{
  const VnAttr *attr;

  g_return_val_if_fail (self != NULL, 0);

  attr = node_get_typed (self, name, VN_ATTR_FLOAT);
  return attr != NULL ? attr->f : fallback;
}

/**
 * vn_node_dup_string:
 * @fallback: (nullable)
 *
 * Returns: (transfer full) (nullable): the string attribute @name, or a copy of @fallback. Bytes after a
 *   NUL are lost, and what is not UTF-8 is replaced: the text is good for messages.
 */
char *
vn_node_dup_string (const VnNode *self,
                    const char   *name,
                    const char   *fallback)
{
  const VnAttr *attr;
  gconstpointer data;
  gsize size;

  g_return_val_if_fail (self != NULL, NULL);

  attr = node_get_typed (self, name, VN_ATTR_STRING);
  if (attr == NULL || attr->s == NULL)
    return attr != NULL ? g_strdup ("") : g_strdup (fallback);
  data = g_bytes_get_data (attr->s, &size);
  return size > 0 ? g_utf8_make_valid (data, (gssize) strnlen (data, size)) : g_strdup ("");
}

/**
 * vn_node_get_ints:
 * @n: (out)
 *
 * Returns: (transfer none) (nullable) (array length=n): the values; %NULL and 0 if there is no such list
 */
const gint64 *
vn_node_get_ints (const VnNode *self,
                  const char   *name,
                  gsize        *n)
{
  const VnAttr *attr;

  g_return_val_if_fail (self != NULL, NULL);

  attr = node_get_typed (self, name, VN_ATTR_INTS);
  *n = attr != NULL && attr->ints != NULL ? attr->ints->len : 0;
  return *n > 0 ? (const gint64 *) (gpointer) attr->ints->data : NULL;
}

const float *
vn_node_get_floats (const VnNode *self,
                    const char   *name,
                    gsize        *n)
{
  const VnAttr *attr;

  g_return_val_if_fail (self != NULL, NULL);

  attr = node_get_typed (self, name, VN_ATTR_FLOATS);
  *n = attr != NULL && attr->floats != NULL ? attr->floats->len : 0;
  return *n > 0 ? (const float *) (gpointer) attr->floats->data : NULL;
}

VnTensor *
vn_node_get_tensor (const VnNode *self,
                    const char   *name)
{
  const VnAttr *attr;

  g_return_val_if_fail (self != NULL, NULL);

  attr = node_get_typed (self, name, VN_ATTR_TENSOR);
  return attr != NULL ? attr->tensor : NULL;
}

VnValue *
vn_node_get_input (const VnNode *self,
                   guint         i)
{
  g_return_val_if_fail (self != NULL, NULL);

  return i < self->inputs->len ? g_ptr_array_index (self->inputs, i) : NULL;
}

VnValue *
vn_node_get_output (const VnNode *self,
                    guint         i)
{
  g_return_val_if_fail (self != NULL, NULL);

  return i < self->outputs->len ? g_ptr_array_index (self->outputs, i) : NULL;
}

gboolean
vn_node_is (const VnNode *self,
            const char   *op_type)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->domain[0] == '\0' && g_str_equal (self->op_type, op_type);
}

/**
 * vn_node_dup_label:
 *
 * Returns: (transfer full): the node's name, as vn_shown_dup() shows it, or "Conv #12" (its position in the file) when it has
 * none
 */
char *
vn_node_dup_label (const VnNode *self)
{
  g_autofree char *type = NULL;

  g_return_val_if_fail (self != NULL, NULL);

  if (self->name != NULL && self->name[0] != '\0')
    return vn_shown_dup (self->name);
  type = vn_shown_dup (self->op_type);
  return g_strdup_printf ("%s #%u", type, vn_node_get_index (self));
}

/**
 * vn_node_label_skip_type:
 * @label: of vn_node_dup_label()
 * @type: operator of the node, which stands beside it
 *
 * Returns: (transfer none): what @label adds to @type: "#12" of a node that has no name
 */
const char *
vn_node_label_skip_type (const char *label,
                         const char *type)
{
  gsize length;

  g_return_val_if_fail (label != NULL && type != NULL, label);

  length = strlen (type);
  return strncmp (label, type, length) == 0 && label[length] == ' ' && label[length + 1] == '#' ? label + length + 1 : label;
}

/**
 * vn_node_dup_title:
 *
 * Returns: (transfer full): the operator and the label; a label that begins with the operator alone
 */
char *
vn_node_dup_title (const VnNode *self)
{
  g_autofree char *label = NULL;

  g_return_val_if_fail (self != NULL, NULL);

  label = vn_node_dup_label (self);
  if (self->name == NULL || self->name[0] == '\0')
    return g_steal_pointer (&label);
  return g_strdup_printf ("%s %s", self->op_type, label);
}

/**
 * vn_value_get_constant:
 *
 * Returns: (transfer none) (nullable): the initializer, or the tensor of the Constant node that makes the value. An
 *   initializer that is also a graph input counts as constant: a caller could replace it, none does.
 */
VnTensor *
vn_value_get_constant (const VnValue *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  if (self->initializer != NULL)
    return self->initializer;
  if (self->producer != NULL && vn_node_is (self->producer, "Constant"))
    return vn_node_get_tensor (self->producer, "value");
  return NULL;
}

gboolean
vn_value_is_constant (const VnValue *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->initializer != NULL || (self->producer != NULL && vn_node_is (self->producer, "Constant"));
}

/**
 * vn_value_find_constant:
 *
 * Returns: (transfer none) (nullable): the constant that the value is, also behind nodes that only pass it on; %NULL: it is
 *   computed
 */
const VnValue *
vn_value_find_constant (const VnValue *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  for (guint step = 0; step < MOST_IDENTITIES; step++)
    {
      if (self == NULL || self->producer == NULL || !vn_node_is (self->producer, "Identity"))
        break;
      self = vn_node_get_input (self->producer, 0);
    }
  return self != NULL && vn_value_get_constant (self) != NULL ? self : NULL;
}

/**
 * vn_node_find_constant:
 *
 * Returns: (transfer none) (nullable): the tensor of vn_value_find_constant(); %NULL also if there is no such input
 */
VnTensor *
vn_node_find_constant (const VnNode *self,
                       guint         input)
{
  const VnValue *value;

  g_return_val_if_fail (self != NULL, NULL);

  value = vn_node_get_input (self, input);
  value = value != NULL ? vn_value_find_constant (value) : NULL;
  return value != NULL ? vn_value_get_constant (value) : NULL;
}

/**
 * vn_node_quantizes:
 *
 * Returns: %TRUE for QuantizeLinear, of the standard or of a domain that has wider types
 */
gboolean
vn_node_quantizes (const VnNode *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return g_str_has_suffix (self->op_type, "QuantizeLinear") && !g_str_has_prefix (self->op_type, "Dynamic");
}

/**
 * vn_node_dequantizes:
 *
 * Returns: %TRUE for DequantizeLinear, of the standard or of a domain that has wider types
 */
gboolean
vn_node_dequantizes (const VnNode *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return g_str_has_suffix (self->op_type, "DequantizeLinear");
}
