/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values that hold tensors: sequences and optionals. They are never changed after they were made. */
#include "vn-tensor.h"

#include "vn-checked.h"
#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-memory.h"

#include <string.h>

static VnTensor *
container_new (VnKind     kind,
               VnDType    dtype,
               GPtrArray *items)
{
  static const guint64 nothing[8];
  VnTensor *self = g_new0 (VnTensor, 1);

  g_atomic_ref_count_init (&self->ref);
  self->kind = kind;
  self->dtype = dtype;
  self->shape = VN_SHAPE (0);
  self->data = (gpointer) nothing;
  self->items = items;
  return self;
}

/* A network may make them longer in every round of a loop. */
#define MAX_ITEMS (1u << 24)

static gboolean
container_check_size (GPtrArray  *items,
                      GError    **error)
{
  gsize n_bytes = 0, most = vn_memory_get_growth ();
  gboolean fits = items->len <= MAX_ITEMS;

  for (guint i = 0; i < items->len && fits; i++)
    fits = vn_checked_add (n_bytes, ((const VnTensor *) g_ptr_array_index (items, i))->n_bytes, &n_bytes) &&
           n_bytes <= most;
  if (!fits)
    g_set_error (error, VN_ERROR, VN_ERROR_LIMIT,
                 _("A sequence of %u tensors is too large: at most %u tensors and %zu MB can be held"),
                 items->len, MAX_ITEMS, most >> 20);
  return fits;
}

static gboolean
container_add_owned (GPtrArray  *items,
                     VnTensor   *item,
                     GError    **error)
{
  VnTensor *owned = vn_tensor_own (item, error);

  if (owned != NULL)
    g_ptr_array_add (items, owned);
  return owned != NULL;
}

/**
 * vn_tensor_new_sequence:
 * @dtype: of the elements of all items; %VN_DTYPE_UNDEFINED: that of the first
 * @items: (element-type VnTensor): tensors; copied where their memory is borrowed
 *
 * Returns: (transfer full) (nullable): a sequence of the items, or %NULL with %VN_ERROR_SHAPE if one is no tensor or
 *   has other elements, or %VN_ERROR_LIMIT
 */
VnTensor *
vn_tensor_new_sequence (VnDType      dtype,
                        GPtrArray   *items,
                        GError     **error)
{
  g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_tensor_unref);

  if (!container_check_size (items, error))
    return NULL;
  for (guint i = 0; i < items->len; i++)
    {
      VnTensor *item = g_ptr_array_index (items, i);

      if (dtype == VN_DTYPE_UNDEFINED)
        dtype = item->dtype;
      if (item->kind != VN_KIND_TENSOR || item->dtype != dtype)
        {
          g_set_error (error, VN_ERROR, VN_ERROR_SHAPE,
                       _("Element %u of a sequence of %s tensors has a different type"), i, vn_dtype_get_name (dtype));
          return NULL;
        }
      if (!container_add_owned (owned, item, error))
        return NULL;
    }
  return container_new (VN_KIND_SEQUENCE, dtype, g_steal_pointer (&owned));
}

/**
 * vn_tensor_new_optional:
 * @dtype: element type of what it would hold, if it is empty
 * @item: (nullable) (transfer none): a tensor or sequence; copied where its memory is borrowed
 *
 * Returns: (transfer full) (nullable): an optional with @item, or an empty one; %NULL with %VN_ERROR_SHAPE if @item
 *   is an optional itself, or %VN_ERROR_LIMIT
 */
VnTensor *
vn_tensor_new_optional (VnDType    dtype,
                        VnTensor  *item,
                        GError   **error)
{
  g_autoptr(GPtrArray) items = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_tensor_unref);

  if (item != NULL && item->kind == VN_KIND_OPTIONAL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SHAPE, _("An optional cannot hold an optional"));
      return NULL;
    }
  if (item != NULL && !container_add_owned (items, item, error))
    return NULL;
  return container_new (VN_KIND_OPTIONAL, item != NULL ? item->dtype : dtype, g_steal_pointer (&items));
}

/* Memory somebody else may write into: a view of it is no better. */
static gboolean
container_is_borrowed (const VnTensor *self)
{
  while (self->owner_free == (GDestroyNotify) vn_tensor_unref)
    self = self->owner;
  return self->owner == NULL;
}

/**
 * vn_tensor_own:
 *
 * Returns: (transfer full) (nullable): @self if it keeps its memory alive (containers always do), otherwise a copy that
 *   does; %NULL with %VN_ERROR_MEMORY if there is no memory for it
 */
VnTensor *
vn_tensor_own (VnTensor  *self,
               GError   **error)
{
  VnTensor *copy;

  if (vn_tensor_is_container (self) || !container_is_borrowed (self))
    return vn_tensor_ref (self);
  copy = vn_tensor_new (self->dtype, &self->shape, error);
  if (copy != NULL && self->dtype == VN_DTYPE_STRING)
    for (gsize i = 0; i < self->n_elements; i++)
      {
        g_free (((char **) copy->data)[i]);
        ((char **) copy->data)[i] = g_strdup (((char **) self->data)[i]);
      }
  else if (copy != NULL && self->n_bytes > 0)
    memcpy (copy->data, self->data, self->n_bytes);
  return copy;
}
