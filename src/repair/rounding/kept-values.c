/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of a network on several samples. Those beyond some bytes lie in a file without a name: what is dropped leaves a place
 * there, which the next value of as many bytes takes, as values that are alive one after the other mostly have the same sizes. */
#include "kept-values.h"

#include "vn-checked.h"
#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-spill.h"

#include <gio/gio.h>

#include <errno.h>
#include <unistd.h>

/* Where one value on one sample is. */
typedef struct
{
  gboolean  is_there;
  VnTensor *tensor;     /* nullable: in the file */
  VnDType   dtype;
  VnShape   shape;
  gsize     n_bytes, offset;
} KeptValue;

typedef struct
{
  gsize offset, n_bytes;
} KeptPlace;

struct _VnKeptValues
{
  guint       n_samples;
  gsize       most_memory, n_memory;    /* bytes */
  GHashTable *by_name;                  /* name -> n_samples KeptValue */
  int         fd;                       /* -1: nothing is in a file yet */
  gsize       end;                      /* of the file */
  GArray     *places;                   /* of KeptPlace: free ones in the file */
};

/**
 * vn_kept_values_new:
 * @n_samples: of each value
 * @most_memory: bytes that are kept in memory; what goes beyond is in a file
 */
VnKeptValues *
vn_kept_values_new (guint n_samples,
                    gsize most_memory)
{
  VnKeptValues *self = g_new0 (VnKeptValues, 1);

  self->n_samples = n_samples;
  self->most_memory = most_memory;
  self->by_name = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self->fd = -1;
  self->places = g_array_new (FALSE, FALSE, sizeof (KeptPlace));
  return self;
}

static void
kept_values_forget (VnKeptValues *self,
                    KeptValue    *values)
{
  for (guint i = 0; i < self->n_samples; i++)
    {
      const KeptPlace place = { values[i].offset, values[i].n_bytes };

      if (values[i].tensor != NULL)
        self->n_memory -= values[i].n_bytes;
      else if (values[i].is_there && place.n_bytes > 0)
        g_array_append_val (self->places, place);
      g_clear_pointer (&values[i].tensor, vn_tensor_unref);
    }
}

void
vn_kept_values_free (VnKeptValues *self)
{
  GHashTableIter iter;
  gpointer values;

  if (self == NULL)
    return;
  g_hash_table_iter_init (&iter, self->by_name);
  while (g_hash_table_iter_next (&iter, NULL, &values))
    kept_values_forget (self, values);
  g_hash_table_unref (self->by_name);
  g_array_unref (self->places);
  if (self->fd >= 0)
    close (self->fd);
  g_free (self);
}

static gsize
kept_values_find_place (VnKeptValues *self,
                        gsize         n_bytes)
{
  gsize offset;

  for (guint i = self->places->len; i-- > 0;)
    if (g_array_index (self->places, KeptPlace, i).n_bytes == n_bytes)
      {
        offset = g_array_index (self->places, KeptPlace, i).offset;
        g_array_remove_index_fast (self->places, i);
        return offset;
      }
  offset = self->end;
  self->end += n_bytes;
  return offset;
}

static gboolean
kept_values_fail (gsize     n_bytes,
                  int       reason,
                  GError  **error)
{
  g_autofree char *folder = vn_spill_dup_folder (), *size = g_format_size (n_bytes);

  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (reason),
               _("No room in “%s” for %s of values between layers: %s. Free space there, or set XDG_CACHE_HOME to a folder on "
                 "another disk"), folder, size, g_strerror (reason));
  return FALSE;
}

static gboolean
kept_values_write (VnKeptValues    *self,
                   KeptValue       *value,
                   const VnTensor  *tensor,
                   GError         **error)
{
  if (self->fd < 0 && (self->fd = vn_spill_open ()) < 0)
    return kept_values_fail (value->n_bytes, errno, error);
  value->offset = kept_values_find_place (self, value->n_bytes);
  for (gsize done = 0; done < value->n_bytes;)
    {
      const char *from = (const char *) tensor->data + done;
      const gssize n = pwrite (self->fd, from, value->n_bytes - done, (off_t) (value->offset + done));

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return kept_values_fail (self->end, n < 0 ? errno : ENOSPC, error);
      done += (gsize) n;
    }
  return TRUE;
}

/**
 * vn_kept_values_put:
 * @tensor: copied; no string, nothing but a tensor
 *
 * Keeps what @name is on a sample: once.
 *
 * Returns: %FALSE with %G_IO_ERROR if the disk has no room, or %VN_ERROR_MEMORY
 */
gboolean
vn_kept_values_put (VnKeptValues    *self,
                    const char      *name,
                    guint            sample,
                    const VnTensor  *tensor,
                    GError         **error)
{
  KeptValue *values, *value;

  g_return_val_if_fail (self != NULL && name != NULL && sample < self->n_samples && tensor != NULL, FALSE);

  values = g_hash_table_lookup (self->by_name, name);
  if (values == NULL)
    g_hash_table_insert (self->by_name, g_strdup (name), values = g_new0 (KeptValue, self->n_samples));
  value = &values[sample];
  g_return_val_if_fail (!value->is_there, FALSE);
  value->dtype = tensor->dtype;
  value->shape = tensor->shape;
  value->n_bytes = tensor->n_bytes;
  if (tensor->n_bytes > self->most_memory - self->n_memory)
    value->is_there = kept_values_write (self, value, tensor, error);
  else
    {
      value->tensor = vn_tensor_new_copy (tensor->dtype, &tensor->shape, tensor->data, error);
      value->is_there = value->tensor != NULL;
      self->n_memory += value->is_there ? value->n_bytes : 0;
    }
  return value->is_there;
}

gboolean
vn_kept_values_has (const VnKeptValues *self,
                    const char         *name)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return g_hash_table_contains (self->by_name, name);
}

/**
 * vn_kept_values_find_type:
 * @shape: (out): of the first sample that has it: others may have other sizes
 *
 * Returns: whether @name is kept
 */
gboolean
vn_kept_values_find_type (const VnKeptValues *self,
                          const char         *name,
                          VnDType            *dtype,
                          VnShape            *shape)
{
  const KeptValue *values;

  g_return_val_if_fail (self != NULL && dtype != NULL && shape != NULL, FALSE);

  values = g_hash_table_lookup (self->by_name, name);
  for (guint i = 0; values != NULL && i < self->n_samples; i++)
    if (values[i].is_there)
      {
        *dtype = values[i].dtype;
        *shape = values[i].shape;
        return TRUE;
      }
  return FALSE;
}

static VnTensor *
kept_values_read (const VnKeptValues  *self,
                  const KeptValue     *value,
                  GError             **error)
{
  g_autoptr(VnTensor) tensor = vn_tensor_new (value->dtype, &value->shape, error);

  for (gsize done = 0; tensor != NULL && done < value->n_bytes;)
    {
      const gssize n = pread (self->fd, (char *) tensor->data + done, value->n_bytes - done, (off_t) (value->offset + done));

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        {
          const int reason = n < 0 ? errno : EIO;

          g_set_error (error, G_IO_ERROR, g_io_error_from_errno (reason), _("Values between layers cannot be read again: %s"),
                       g_strerror (reason));
          return NULL;
        }
      done += (gsize) n;
    }
  return g_steal_pointer (&tensor);
}

/**
 * vn_kept_values_get:
 *
 * Returns: (transfer full) (nullable): what was put; %NULL without an error: nothing; with %G_IO_ERROR or %VN_ERROR_MEMORY it
 *   cannot be read
 */
VnTensor *
vn_kept_values_get (const VnKeptValues  *self,
                    const char          *name,
                    guint                sample,
                    GError             **error)
{
  const KeptValue *values;

  g_return_val_if_fail (self != NULL && sample < self->n_samples, NULL);

  values = g_hash_table_lookup (self->by_name, name);
  if (values == NULL || !values[sample].is_there)
    return NULL;
  return values[sample].tensor != NULL ? vn_tensor_ref (values[sample].tensor) : kept_values_read (self, &values[sample], error);
}

/**
 * vn_kept_values_drop:
 *
 * Lets go of @name on all samples, if it is there.
 */
void
vn_kept_values_drop (VnKeptValues *self,
                     const char   *name)
{
  KeptValue *values;

  g_return_if_fail (self != NULL);

  values = g_hash_table_lookup (self->by_name, name);
  if (values == NULL)
    return;
  kept_values_forget (self, values);
  g_hash_table_remove (self->by_name, name);
}

/**
 * vn_kept_values_get_file_size:
 *
 * Returns: bytes of the file; 0: all is in memory
 */
gsize
vn_kept_values_get_file_size (const VnKeptValues *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->end;
}
