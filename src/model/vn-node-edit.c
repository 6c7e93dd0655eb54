/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Setting and removing attributes of nodes. */
#include "vn-graph-edit.h"

#include <string.h>

/**
 * vn_node_set_attr:
 * @attr: (transfer full): replaces an attribute of the same name
 */
void
vn_node_set_attr (VnNode *self,
                  VnAttr *attr)
{
  g_return_if_fail (self != NULL && attr != NULL);

  for (guint i = 0; i < self->attrs->len; i++)
    {
      VnAttr *old = g_ptr_array_index (self->attrs, i);

      if (g_str_equal (old->name, attr->name))
        {
          self->attrs->pdata[i] = attr;
          vn_attr_free (old);
          return;
        }
    }
  g_ptr_array_add (self->attrs, attr);
}

void
vn_node_set_int (VnNode     *self,
                 const char *name,
                 gint64      value)
{
  VnAttr *attr;

  g_return_if_fail (self != NULL);

  attr = vn_attr_new (name, VN_ATTR_INT);
  attr->i = value;
  vn_node_set_attr (self, attr);
}

void
vn_node_set_float (VnNode     *self,
                   const char *name,
                   float       value)
{
  VnAttr *attr;

  g_return_if_fail (self != NULL);

  attr = vn_attr_new (name, VN_ATTR_FLOAT);
  attr->f = value;
  vn_node_set_attr (self, attr);
}

void
vn_node_set_string (VnNode     *self,
                    const char *name,
                    const char *value)
{
  VnAttr *attr;

  g_return_if_fail (self != NULL);

  attr = vn_attr_new (name, VN_ATTR_STRING);
  attr->s = g_bytes_new (value, strlen (value));
  vn_node_set_attr (self, attr);
}

void
vn_node_set_ints (VnNode       *self,
                  const char   *name,
                  const gint64 *values,
                  gsize         n)
{
  VnAttr *attr;

  g_return_if_fail (self != NULL);

  attr = vn_attr_new (name, VN_ATTR_INTS);
  g_array_append_vals (attr->ints, values, (guint) n);
  vn_node_set_attr (self, attr);
}

void
vn_node_remove_attr (VnNode     *self,
                     const char *name)
{
  g_return_if_fail (self != NULL);

  for (guint i = 0; i < self->attrs->len; i++)
    {
      VnAttr *attr = g_ptr_array_index (self->attrs, i);

      if (g_str_equal (attr->name, name))
        {
          g_ptr_array_remove_index (self->attrs, i);
          return;
        }
    }
}
