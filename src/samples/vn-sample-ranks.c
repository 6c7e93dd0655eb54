/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes that share the samples of loops; who started them, and how they talk, the layers below need not know. */
#include "vn-sample-ranks.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-memory.h"

static guint own_rank, n_ranks = 1;
static VnGatherFunc gather_func;

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

/**
 * vn_sample_ranks_gather:
 *
 * Returns: (transfer full) (element-type GBytes) (nullable): as VnGatherFunc
 */
GPtrArray *
vn_sample_ranks_gather (GBytes  *own,
                        GError **error)
{
  g_return_val_if_fail (own != NULL && gather_func != NULL, NULL);

  return gather_func (own, error);
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
