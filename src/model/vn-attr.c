/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Attributes of nodes: making, copying and freeing them. */
#include "vn-copy-private.h"
#include "vn-graph-edit.h"

/**
 * vn_attr_new:
 *
 * Returns: (transfer full): an attribute of that type with value 0, an empty list or nothing
 */
VnAttr *
vn_attr_new (const char *name,
             VnAttrType  type)
{
  VnAttr *self;

  g_return_val_if_fail (name != NULL, NULL);

  self = g_new0 (VnAttr, 1);
  self->name = g_strdup (name);
  self->type = type;
  if (type == VN_ATTR_FLOATS)
    self->floats = g_array_new (FALSE, FALSE, sizeof (float));
  if (type == VN_ATTR_INTS)
    self->ints = g_array_new (FALSE, FALSE, sizeof (gint64));
  if (type == VN_ATTR_STRINGS)
    self->strings = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  if (type == VN_ATTR_TENSORS)
    self->tensors = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_tensor_unref);
  if (type == VN_ATTR_GRAPHS)
    self->graphs = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_graph_free);
  return self;
}

static GPtrArray *
attr_copy_refs (GPtrArray *from,
                gpointer (*ref) (gpointer),
                GDestroyNotify unref)
{
  GPtrArray *copy;

  if (from == NULL)
    return NULL;
  copy = g_ptr_array_new_full (from->len, unref);
  for (guint i = 0; i < from->len; i++)
    g_ptr_array_add (copy, ref (g_ptr_array_index (from, i)));
  return copy;
}

static GBytes *
attr_ref_bytes (GBytes *bytes)
{
  return bytes != NULL ? g_bytes_ref (bytes) : NULL;
}

/* Everything but subgraphs, which need to know where they are copied to. */
VnAttr *
_vn_attr_copy_plain (const VnAttr *self)
{
  VnAttr *copy = g_new0 (VnAttr, 1);

  copy->name = g_strdup (self->name);
  copy->type = self->type;
  copy->f = self->f;
  copy->i = self->i;
  copy->s = attr_ref_bytes (self->s);
  copy->tensor = self->tensor != NULL ? vn_tensor_ref (self->tensor) : NULL;
  copy->floats = self->floats != NULL ? g_array_copy (self->floats) : NULL;
  copy->ints = self->ints != NULL ? g_array_copy (self->ints) : NULL;
  copy->strings = attr_copy_refs (self->strings, (gpointer (*) (gpointer)) g_bytes_ref, (GDestroyNotify) g_bytes_unref);
  copy->tensors = attr_copy_refs (self->tensors, (gpointer (*) (gpointer)) vn_tensor_ref, (GDestroyNotify) vn_tensor_unref);
  copy->ref_name = g_strdup (self->ref_name);
  copy->doc = g_strdup (self->doc);
  copy->tensor_name = g_strdup (self->tensor_name);
  copy->extra = attr_ref_bytes (self->extra);
  return copy;
}

/**
 * vn_attr_copy:
 *
 * Returns: (transfer full): a copy that shares tensors, without graphs: those are copied with their node
 */
VnAttr *
vn_attr_copy (const VnAttr *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return _vn_attr_copy_plain (self);
}
