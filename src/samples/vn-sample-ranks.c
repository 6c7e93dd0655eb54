/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes that share the samples of loops, and other items; who started them, and how they talk, the layers below need not
 * know. */
#include "vn-sample-ranks.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-memory.h"

#include <string.h>

/* What came of items: number and bytes of each. */
#define ITEMS_TYPE "a(tay)"

static guint own_rank, n_ranks = 1;
static VnGatherFunc gather_func;
static guint64 n_gathered;

/**
 * vn_sample_ranks_set:
 * @rank: of this process, 0 to @n - 1
 * @n: how many there are; 1: loops are not shared, as before the first call
 * @gather: (nullable): needed if @n is above 1
 *
 * To be called before there are other threads.
 */
void
vn_sample_ranks_set (guint        rank,
                     guint        n,
                     VnGatherFunc gather)
{
  g_return_if_fail (rank < n && (n == 1 || gather != NULL));

  own_rank = rank;
  n_ranks = n;
  gather_func = gather;
  n_gathered = 0;
}

guint
vn_sample_ranks_get_rank (void)
{
  return own_rank;
}

guint
vn_sample_ranks_get_n (void)
{
  return n_ranks;
}

/* An error: domain, code, message. */
#define FAILURE_TYPE "(sis)"

/**
 * Head: what stands in front of what a process has.
 * @number: which exchange it is: who has left one out is found out
 * @n_failure: bytes of an error, behind the head; 0: all went well
 */
typedef struct
{
  guint64 number, n_failure;
} Head;

static GBytes *
sample_ranks_pack_failure (const GError *failure)
{
  g_autoptr(GVariant) variant = NULL;

  if (failure == NULL)
    return g_bytes_new_static ("", 0);
  variant = g_variant_ref_sink (g_variant_new (FAILURE_TYPE, g_quark_to_string (failure->domain), failure->code,
                                               failure->message));
  return g_variant_get_data_as_bytes (variant);
}

static GBytes *
sample_ranks_pack (GBytes        *own,
                   const GError  *failure,
                   GError       **error)
{
  g_autoptr(GBytes) packed = sample_ranks_pack_failure (failure);
  gsize size, n_failure;
  gconstpointer data = own != NULL ? g_bytes_get_data (own, &size) : (size = 0, NULL);
  gconstpointer what = g_bytes_get_data (packed, &n_failure);
  const Head head = { n_gathered, n_failure };
  guint8 *bytes = vn_memory_alloc (sizeof head + n_failure + size, 1, error);

  if (bytes == NULL)
    return NULL;
  memcpy (bytes, &head, sizeof head);
  if (n_failure > 0)
    memcpy (bytes + sizeof head, what, n_failure);
  if (size > 0)
    memcpy (bytes + sizeof head + n_failure, data, size);
  return g_bytes_new_take (bytes, sizeof head + n_failure + size);
}

static gboolean
sample_ranks_unpack_failure (GBytes      *bytes,
                             const Head  *head,
                             GError     **error)
{
  g_autoptr(GBytes) packed = g_bytes_new_from_bytes (bytes, sizeof *head, head->n_failure);
  g_autoptr(GVariant) variant = g_variant_ref_sink (g_variant_new_from_bytes (G_VARIANT_TYPE (FAILURE_TYPE), packed, FALSE));
  const char *domain, *message;
  gint32 code;

  g_variant_get (variant, "(&si&s)", &domain, &code, &message);
  g_propagate_error (error, g_error_new_literal (g_quark_from_string (domain), code, message));
  return FALSE;
}

/* Takes the heads away. */
static gboolean
sample_ranks_unpack (GPtrArray  *all,
                     GError    **error)
{
  for (guint i = 0; i < all->len; i++)
    {
      GBytes *bytes = g_ptr_array_index (all, i);
      gsize size;
      gconstpointer data = g_bytes_get_data (bytes, &size);
      Head head = { 0 };

      if (size >= sizeof head)
        memcpy (&head, data, sizeof head);
      if (head.number != n_gathered || head.n_failure > size - sizeof head)
        return vn_sample_ranks_refuse (error);
      if (head.n_failure > 0)
        return sample_ranks_unpack_failure (bytes, &head, error);
      g_ptr_array_index (all, i) = g_bytes_new_from_bytes (bytes, sizeof head, size - sizeof head);
      g_bytes_unref (bytes);
    }
  return TRUE;
}

/**
 * vn_sample_ranks_gather:
 * @own: (nullable): what this process has, unless it failed
 * @failure: (transfer full) (nullable): that it failed: so all do, and go on alike, even where that does not matter. Who is
 *   cancelled need not call this
 *
 * Returns: (transfer full) (element-type GBytes) (nullable): as VnGatherFunc
 */
GPtrArray *
vn_sample_ranks_gather (GBytes  *own,
                        GError  *failure,
                        GError **error)
{
  g_autoptr(GBytes) packed = NULL;
  g_autoptr(GPtrArray) all = NULL;
  g_autoptr(GError) reason = failure;

  g_return_val_if_fail ((own != NULL || failure != NULL) && gather_func != NULL, NULL);

  n_gathered++;
  packed = sample_ranks_pack (own, failure, error);
  all = packed != NULL ? gather_func (packed, error) : NULL;
  return all != NULL && sample_ranks_unpack (all, error) ? g_steal_pointer (&all) : NULL;
}

/**
 * vn_sample_ranks_get_least:
 * @own: what this process has
 * @least: (out): the least of all; on it the same decision can rest in each
 *
 * Returns: %FALSE with an error as vn_sample_ranks_gather()
 */
gboolean
vn_sample_ranks_get_least (guint64   own,
                           guint64  *least,
                           GError  **error)
{
  g_autoptr(GBytes) bytes = NULL;
  g_autoptr(GPtrArray) all = NULL;

  g_return_val_if_fail (least != NULL, FALSE);

  *least = own;
  if (n_ranks == 1)
    return TRUE;
  bytes = g_bytes_new (&own, sizeof own);
  all = vn_sample_ranks_gather (bytes, NULL, error);
  for (guint i = 0; all != NULL && i < all->len; i++)
    {
      guint64 other;
      gsize size;
      gconstpointer data = g_bytes_get_data (g_ptr_array_index (all, i), &size);

      if (size != sizeof other)
        return vn_sample_ranks_refuse (error);
      memcpy (&other, data, size);
      *least = MIN (*least, other);
    }
  return all != NULL;
}

/* ---- items ---- */

typedef struct
{
  const VnSharedFuncs *funcs;
  gpointer             data;
} SharedItems;

/**
 * vn_sample_ranks_is_own:
 *
 * Returns: whether this process does @item of vn_sample_ranks_for()
 */
gboolean
vn_sample_ranks_is_own (gsize item)
{
  return item % n_ranks == own_rank;
}

static gboolean
sample_ranks_run_item (gsize      item,
                       guint      worker,
                       gpointer   data,
                       GError   **error)
{
  const SharedItems *self = data;

  return self->funcs->run (item * n_ranks + own_rank, worker, self->data, error);
}

static GBytes *
sample_ranks_pack_items (const SharedItems  *self,
                         gsize               n_items,
                         GError            **error)
{
  g_auto(GVariantBuilder) builder = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE (ITEMS_TYPE));
  g_autoptr(GVariant) all = NULL;

  for (gsize item = own_rank; item < n_items; item += n_ranks)
    {
      GError *reason = NULL;
      g_autoptr(GBytes) bytes = self->funcs->pack (item, self->data, &reason);

      if (reason != NULL)
        {
          g_propagate_error (error, reason);
          return NULL;
        }
      if (bytes != NULL)
        g_variant_builder_add (&builder, "(t@ay)", (guint64) item,
                               g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING, bytes, TRUE));
    }
  all = g_variant_ref_sink (g_variant_builder_end (&builder));
  return g_variant_get_data_as_bytes (all);
}

static gboolean
sample_ranks_take_items (const SharedItems  *self,
                         gsize               n_items,
                         GBytes             *bytes,
                         GError            **error)
{
  g_autoptr(GVariant) all = g_variant_ref_sink (g_variant_new_from_bytes (G_VARIANT_TYPE (ITEMS_TYPE), bytes, FALSE));

  for (gsize i = 0; i < g_variant_n_children (all); i++)
    {
      g_autoptr(GVariant) one = g_variant_get_child_value (all, i), packed = g_variant_get_child_value (one, 1);
      gsize size;
      gconstpointer data = g_variant_get_fixed_array (packed, &size, 1);
      guint64 item;

      g_variant_get_child (one, 0, "t", &item);
      if (item >= n_items)
        return vn_sample_ranks_refuse (error);
      if (!self->funcs->take ((gsize) item, data, size, self->data, error))
        return FALSE;
    }
  return TRUE;
}

/**
 * vn_sample_ranks_for:
 * @funcs: copied
 * @data: for @funcs
 *
 * vn_parallel_for(), whose items processes share: each does a part of them, and afterwards has what came of all. Whoever keeps
 * that by item has the same bits for any number of processes and threads.
 *
 * Returns: %FALSE with an error, the same in all, if an item failed in any of them; or if somebody cancelled
 */
gboolean
vn_sample_ranks_for (guint                 n_threads,
                     gsize                 n_items,
                     const VnSharedFuncs  *funcs,
                     gpointer              data,
                     GCancellable         *cancellable,
                     GError              **error)
{
  SharedItems self = { funcs, data };
  g_autoptr(GBytes) own = NULL;
  g_autoptr(GPtrArray) all = NULL;
  GError *failure = NULL;
  gsize n_own;
  gboolean good = TRUE;

  g_return_val_if_fail (funcs != NULL && funcs->run != NULL && funcs->pack != NULL && funcs->take != NULL, FALSE);

  if (n_ranks == 1)
    return vn_parallel_for (n_threads, n_items, funcs->run, data, cancellable, error);
  n_own = own_rank < n_items ? (n_items - own_rank - 1) / n_ranks + 1 : 0;
  if (vn_parallel_for (n_threads, n_own, sample_ranks_run_item, &self, cancellable, &failure))
    own = sample_ranks_pack_items (&self, n_items, &failure);
  if (g_error_matches (failure, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      g_propagate_error (error, failure);
      return FALSE;
    }
  all = vn_sample_ranks_gather (own, failure, error);
  for (guint i = 0; all != NULL && good && i < all->len; i++)
    if (i != own_rank)
      good = sample_ranks_take_items (&self, n_items, g_ptr_array_index (all, i), error);
  return all != NULL && good;
}

/**
 * vn_sample_ranks_refuse:
 *
 * Returns: %FALSE, with an error: another process did something else
 */
gboolean
vn_sample_ranks_refuse (GError **error)
{
  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED,
               _("The processes do not agree: start the same program, with the same options and files, in all of them"));
  return FALSE;
}

/**
 * vn_sample_ranks_dup:
 * @bytes: (array length=size): of another process
 * @n: how many elements of @element_size there must be
 *
 * Returns: (transfer full) (nullable): the elements; %NULL with an error if there are not so many, or no memory
 */
gpointer
vn_sample_ranks_dup (gconstpointer  bytes,
                     gsize          size,
                     gsize          n,
                     gsize          element_size,
                     GError       **error)
{
  g_return_val_if_fail (element_size > 0, NULL);

  if (size % element_size == 0 && size / element_size == n)
    return vn_memory_dup (bytes, n, element_size, error);
  vn_sample_ranks_refuse (error);
  return NULL;
}
