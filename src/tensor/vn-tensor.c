/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tensors: made anew, over a view of a file, or over memory of the caller; comparing and aligning them. */
#include "vn-tensor.h"

#include "vn-checked.h"
#include "vn-error.h"
#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-memory.h"
#include "vn-spill.h"

#include <string.h>

#define ALIGNMENT 64

/* Constants up to so many bytes in total are in memory; what comes on top of that is, too, if it is small. */
#define CONSTANTS_IN_MEMORY ((gsize) 32 << 20)
#define SMALL_CONSTANT ((gsize) 64 << 10)

static gsize n_constant_bytes;        /* atomic: of large constants in memory */

/**
 * vn_tensor_size_in_bytes:
 * @n_elements: (out)
 * @n_bytes: (out): sub-byte elements are packed, the last byte may be partly filled
 *
 * Returns: %FALSE if the shape is not static or the size does not fit into memory
 */
gboolean
vn_tensor_size_in_bytes (VnDType        dtype,
                         const VnShape *shape,
                         gsize         *n_elements,
                         gsize         *n_bytes)
{
  gsize n, bits;

  if (!vn_shape_n_elements (shape, &n))
    return FALSE;
  if (dtype == VN_DTYPE_STRING)
    {
      if (!vn_checked_mul (n, sizeof (char *), n_bytes))
        return FALSE;
    }
  else
    {
      if (!vn_checked_mul (n, vn_dtype_get_bits (dtype), &bits) || !vn_checked_add (bits, 7, &bits))
        return FALSE;
      *n_bytes = bits / 8;
    }
  if (*n_bytes > G_MAXSSIZE)
    return FALSE;
  *n_elements = n;
  return TRUE;
}

static VnTensor *
tensor_alloc (VnDType         dtype,
              const VnShape  *shape,
              GError        **error)
{
  VnTensor *self;
  gsize n_elements, n_bytes;

  if (!vn_dtype_is_valid (dtype) || !vn_tensor_size_in_bytes (dtype, shape, &n_elements, &n_bytes))
    {
      g_autofree char *text = vn_shape_to_string (shape, "×");

      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("A tensor of type %s and shape %s does not fit in memory"),
                   vn_dtype_get_name (dtype), text);
      return NULL;
    }
  self = g_new0 (VnTensor, 1);
  g_atomic_ref_count_init (&self->ref);
  self->dtype = dtype;
  self->shape = *shape;
  self->n_elements = n_elements;
  self->n_bytes = n_bytes;
  return self;
}

typedef struct
{
  gsize n;
  char *strings[];
} Strings;

static void
tensor_strings_free (gpointer data)
{
  Strings *self = data;

  for (gsize i = 0; i < self->n; i++)
    g_free (self->strings[i]);
  g_free (self);
}

/* Empty strings, each for the user to replace. FALSE if memory is short. */
static gboolean
tensor_attach_strings (VnTensor *self)
{
  Strings *strings;
  gsize bytes;

  if (!vn_checked_add (self->n_bytes, sizeof (Strings), &bytes) || (strings = vn_memory_try (bytes, 1)) == NULL)
    return FALSE;
  for (strings->n = 0; strings->n < self->n_elements; strings->n++)
    {
      strings->strings[strings->n] = g_try_malloc0 (1);
      if (strings->strings[strings->n] == NULL)
        break;
    }
  self->data = strings->strings;
  self->owner = strings;
  self->owner_free = tensor_strings_free;
  return strings->n == self->n_elements;
}

/**
 * vn_tensor_new:
 * @shape: static
 *
 * Makes a tensor with storage of its own, aligned to 64 bytes and not cleared.
 * Strings are empty; replace an element with g_free() and a new string.
 *
 * Returns: (transfer full) (nullable): the tensor, or %NULL with %VN_ERROR_LIMIT if no machine holds it, or
 *   %VN_ERROR_MEMORY
 */
VnTensor *
vn_tensor_new (VnDType         dtype,
               const VnShape  *shape,
               GError        **error)
{
  g_autoptr(VnTensor) self = tensor_alloc (dtype, shape, error);
  gsize padded;

  if (self == NULL)
    return NULL;
  if (dtype == VN_DTYPE_STRING && tensor_attach_strings (self))
    return g_steal_pointer (&self);
  if (dtype != VN_DTYPE_STRING && vn_checked_add (self->n_bytes, 2 * ALIGNMENT, &padded))
    self->owner = vn_memory_try (padded, 1);
  if (self->owner == NULL || dtype == VN_DTYPE_STRING)
    {
      vn_memory_set_error (self->n_bytes, error);
      return NULL;
    }
  self->owner_free = g_free;
  self->data = (gpointer) (((guintptr) self->owner + ALIGNMENT - 1) & ~(guintptr) (ALIGNMENT - 1));
  if (vn_dtype_get_bits (dtype) < 8 && self->n_bytes > 0)
    ((guint8 *) self->data)[self->n_bytes - 1] = 0;   /* a part of it may be nobody's, and go into files */
  return g_steal_pointer (&self);
}

/* Takes back what a constant in memory was counted for: its size precedes the elements. */
static void
tensor_constant_free (gpointer data)
{
  gsize *n_bytes = data;

  __atomic_sub_fetch (&n_constant_bytes, *n_bytes, __ATOMIC_RELAXED);
  g_free (n_bytes);
}

/* FALSE if there would be too many of them in memory, or memory is short. */
static gboolean
tensor_attach_counted (VnTensor *self)
{
  gsize padded, *owner;

  if (__atomic_add_fetch (&n_constant_bytes, self->n_bytes, __ATOMIC_RELAXED) <= CONSTANTS_IN_MEMORY &&
      vn_checked_add (self->n_bytes, sizeof (gsize) + 2 * ALIGNMENT, &padded) && (owner = vn_memory_try (padded, 1)) != NULL)
    {
      *owner = self->n_bytes;
      self->owner = owner;
      self->owner_free = tensor_constant_free;
      self->data = (gpointer) (((guintptr) (owner + 1) + ALIGNMENT - 1) & ~(guintptr) (ALIGNMENT - 1));
      return TRUE;
    }
  __atomic_sub_fetch (&n_constant_bytes, self->n_bytes, __ATOMIC_RELAXED);
  return FALSE;
}

static gboolean
tensor_attach_spill (VnTensor *self)
{
  VnSpill *spill = vn_spill_try (self->n_bytes);

  if (spill == NULL)
    return FALSE;
  self->owner = spill;
  self->owner_free = (GDestroyNotify) vn_spill_free;
  self->data = spill->data;
  return TRUE;
}

/**
 * vn_tensor_new_constant:
 * @dtype: not of strings
 * @shape: static
 *
 * Makes a tensor as vn_tensor_new() does, for weights and what is made of them: those of large networks, beyond some megabytes in
 * total, are in files without names on the disk, so that networks of any size are quantized within little memory.
 *
 * Returns: (transfer full) (nullable): as of vn_tensor_new()
 */
VnTensor *
vn_tensor_new_constant (VnDType         dtype,
                        const VnShape  *shape,
                        GError        **error)
{
  g_autoptr(VnTensor) self = NULL;

  g_return_val_if_fail (dtype != VN_DTYPE_STRING, NULL);

  self = tensor_alloc (dtype, shape, error);
  if (self == NULL)
    return NULL;
  if (self->n_bytes < SMALL_CONSTANT || (!tensor_attach_counted (self) && !tensor_attach_spill (self)))
    return vn_tensor_new (dtype, shape, error);
  if (vn_dtype_get_bits (dtype) < 8)
    ((guint8 *) self->data)[self->n_bytes - 1] = 0;
  return g_steal_pointer (&self);
}

/**
 * vn_tensor_new_view:
 * @bytes: holds exactly as many bytes as the tensor needs; kept alive by the tensor
 *
 * Returns: (transfer full) (nullable): a read-only tensor over @bytes, or %NULL with %VN_ERROR_MALFORMED if the
 *   number of bytes is not right. Not for strings.
 */
VnTensor *
vn_tensor_new_view (VnDType         dtype,
                    const VnShape  *shape,
                    GBytes         *bytes,
                    GError        **error)
{
  VnTensor *self = tensor_alloc (dtype, shape, error);
  gsize size;

  if (self == NULL)
    return NULL;
  self->data = (gpointer) g_bytes_get_data (bytes, &size);
  if (dtype == VN_DTYPE_STRING || size != self->n_bytes)
    {
      g_autofree char *text = vn_shape_to_string (shape, "×");

      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED,
                   _("A tensor of type %s and shape %s needs %zu bytes, but the file has %zu"),
                   vn_dtype_get_name (dtype), text, self->n_bytes, size);
      vn_tensor_unref (self);
      return NULL;
    }
  self->owner = g_bytes_ref (bytes);
  self->owner_free = (GDestroyNotify) g_bytes_unref;
  return self;
}

/**
 * vn_tensor_new_wrap:
 * @data: memory of at least the size the tensor needs
 * @owner: (nullable): passed to @owner_free when the tensor goes
 * @owner_free: (nullable)
 *
 * Returns: (transfer full) (nullable): a tensor over memory of the caller. @owner is not released on failure.
 */
VnTensor *
vn_tensor_new_wrap (VnDType          dtype,
                    const VnShape   *shape,
                    gpointer         data,
                    gpointer         owner,
                    GDestroyNotify   owner_free,
                    GError         **error)
{
  VnTensor *self = tensor_alloc (dtype, shape, error);

  if (self == NULL)
    return NULL;
  self->data = data;
  self->owner = owner;
  self->owner_free = owner_free;
  return self;
}

/**
 * vn_tensor_new_copy:
 * @dtype: not of strings
 * @values: as many as @shape has elements
 *
 * Returns: (transfer full) (nullable): a tensor with a copy of @values; errors as of vn_tensor_new()
 */
VnTensor *
vn_tensor_new_copy (VnDType         dtype,
                    const VnShape  *shape,
                    gconstpointer   values,
                    GError        **error)
{
  VnTensor *self;

  g_return_val_if_fail (dtype != VN_DTYPE_STRING, NULL);

  self = vn_tensor_new (dtype, shape, error);
  if (self != NULL && self->n_bytes > 0)
    memcpy (self->data, values, self->n_bytes);
  return self;
}

/* For small tensors made by the program itself: cannot fail. */
static VnTensor *
tensor_new_from (VnDType        dtype,
                 const VnShape *shape,
                 gconstpointer  values)
{
  g_autoptr(GError) error = NULL;
  VnTensor *self = vn_tensor_new_copy (dtype, shape, values, &error);

  if (self == NULL)
    g_error ("%s", error->message);
  return self;
}

/**
 * vn_tensor_new_f32:
 * @values: as many as @shape has elements; copied
 *
 * Returns: (transfer full): a small float32 tensor: what grows with a network is for vn_tensor_new_copy()
 */
VnTensor *
vn_tensor_new_f32 (const VnShape *shape,
                   const float   *values)
{
  return tensor_new_from (VN_DTYPE_F32, shape, values);
}

/**
 * vn_tensor_new_s64:
 * @values: as many as @shape has elements; copied
 *
 * Returns: (transfer full): a small int64 tensor: what grows with a network is for vn_tensor_new_copy()
 */
VnTensor *
vn_tensor_new_s64 (const VnShape *shape,
                   const gint64  *values)
{
  return tensor_new_from (VN_DTYPE_S64, shape, values);
}

/**
 * vn_tensor_new_reshaped:
 *
 * Returns: (transfer full) (nullable): a tensor of another shape over the same memory, or %NULL with
 *   %VN_ERROR_SHAPE if the number of elements differs
 */
VnTensor *
vn_tensor_new_reshaped (VnTensor       *self,
                        const VnShape  *shape,
                        GError        **error)
{
  VnTensor *reshaped;
  gsize n;

  if (!vn_shape_n_elements (shape, &n) || n != self->n_elements)
    {
      g_autofree char *from = vn_shape_to_string (&self->shape, "×");
      g_autofree char *to = vn_shape_to_string (shape, "×");

      g_set_error (error, VN_ERROR, VN_ERROR_SHAPE, _("A tensor of shape %s cannot be read as %s"), from, to);
      return NULL;
    }
  reshaped = vn_tensor_new_wrap (self->dtype, shape, self->data, self, (GDestroyNotify) vn_tensor_unref, error);
  if (reshaped != NULL)
    vn_tensor_ref (self);
  return reshaped;
}

VnTensor *
vn_tensor_ref (VnTensor *self)
{
  g_atomic_ref_count_inc (&self->ref);
  return self;
}

void
vn_tensor_unref (VnTensor *self)
{
  if (!g_atomic_ref_count_dec (&self->ref))
    return;
  g_clear_pointer (&self->items, g_ptr_array_unref);
  if (self->owner_free != NULL && self->owner != NULL)
    self->owner_free (self->owner);
  g_free (self->facts);
  g_free (self);
}

/**
 * vn_tensor_clear_all:
 * @tensors: (nullable): @n places, each with a tensor or %NULL
 *
 * Lets go of all of them and makes the places %NULL.
 */
void
vn_tensor_clear_all (VnTensor **tensors,
                     gsize      n)
{
  for (gsize i = 0; tensors != NULL && i < n; i++)
    g_clear_pointer (&tensors[i], vn_tensor_unref);
}

static gsize
tensor_element_alignment (VnDType dtype)
{
  guint bits = vn_dtype_get_bits (dtype);

  if (dtype == VN_DTYPE_C64 || dtype == VN_DTYPE_C128)
    bits /= 2;
  return CLAMP (bits / 8, 1, 8);
}

/**
 * vn_tensor_is_aligned:
 *
 * Returns: whether the elements lie at addresses the processor may load them from
 */
gboolean
vn_tensor_is_aligned (const VnTensor *self)
{
  return self->dtype == VN_DTYPE_STRING || (guintptr) self->data % tensor_element_alignment (self->dtype) == 0;
}

/**
 * vn_tensor_get_aligned:
 *
 * Returns: (transfer full) (nullable): @self if its elements lie at addresses the processor may load them from,
 *   otherwise a copy that does; %NULL with %VN_ERROR_MEMORY if there is no memory for it
 */
VnTensor *
vn_tensor_get_aligned (VnTensor  *self,
                       GError   **error)
{
  VnTensor *copy;

  if (vn_tensor_is_aligned (self))
    return vn_tensor_ref (self);
  copy = vn_tensor_new (self->dtype, &self->shape, error);
  if (copy == NULL)
    return NULL;
  memcpy (copy->data, self->data, self->n_bytes);
  vn_tensor_release_pages (self);
  return copy;
}

/* From this size on it is worth the call. */
#define LARGE_VIEW ((gsize) 1 << 20)

/**
 * vn_tensor_release_pages:
 *
 * Says of a large view into a file that it will not be read again soon: it no longer counts as memory of this process.
 */
void
vn_tensor_release_pages (const VnTensor *self)
{
  if (self->n_bytes >= LARGE_VIEW)
    vn_file_release_pages (self->data, self->n_bytes);
}

static gboolean
tensor_items_equal (const VnTensor *a,
                    const VnTensor *b)
{
  if (a->items->len != b->items->len)
    return FALSE;
  for (guint i = 0; i < a->items->len; i++)
    if (!vn_tensor_equal (g_ptr_array_index (a->items, i), g_ptr_array_index (b->items, i)))
      return FALSE;
  return TRUE;
}

gboolean
vn_tensor_is_container (const VnTensor *self)
{
  return self->kind != VN_KIND_TENSOR;
}

/**
 * vn_tensor_equal:
 *
 * Returns: %TRUE if type, shape and every bit are the same: NaN equals the same NaN, 0 does not equal -0. Of
 *   containers: if they hold the same.
 */
gboolean
vn_tensor_equal (const VnTensor *a,
                 const VnTensor *b)
{
  if (a == b)
    return TRUE;
  if (a->kind != b->kind)
    return FALSE;
  if (vn_tensor_is_container (a))
    return tensor_items_equal (a, b);
  if (a->dtype != b->dtype || !vn_shape_equal (&a->shape, &b->shape))
    return FALSE;
  if (a->dtype != VN_DTYPE_STRING)
    return a->n_bytes == 0 || memcmp (a->data, b->data, a->n_bytes) == 0;
  for (gsize i = 0; i < a->n_elements; i++)
    if (!g_str_equal (((char **) a->data)[i], ((char **) b->data)[i]))
      return FALSE;
  return TRUE;
}
