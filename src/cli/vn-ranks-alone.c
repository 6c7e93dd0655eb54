/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Without MPI: there is one process. */
#include "vn-ranks.h"

#include "vn-error.h"
#include "vn-i18n.h"

#include <stdio.h>
#include <stdlib.h>

/**
 * vn_ranks_start:
 *
 * Returns: %FALSE if a launcher started several processes: each would do all of the work
 */
gboolean
vn_ranks_start (GError **error)
{
  static const char * const names[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      const char *text = g_getenv (names[i]);

      if (text == NULL || g_ascii_strtoull (text, NULL, 10) < 2)
        continue;
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
                   _("This program was built without MPI: each of %s processes would do all of the work. Assign each "
                     "a shard with --shard K/%s, and merge the statistics with “quantize --stats”"), text, text);
      return FALSE;
    }
  return TRUE;
}

void
vn_ranks_end (void)
{
}

guint
vn_ranks_get_rank (void)
{
  return 0;
}

guint
vn_ranks_get_n (void)
{
  return 1;
}

void
vn_ranks_part (void)
{
}

gboolean
vn_ranks_exchange (const VnRanksState *mine,
                   VnRanksState       *sum)
{
  g_return_val_if_fail (mine != NULL, FALSE);

  *sum = *mine;
  return TRUE;
}

void
vn_ranks_send (guint   to,
               GBytes *bytes)
{
}

void
vn_ranks_give_up (const char *reason)
{
  fprintf (stderr, "vernier-cli: %s\n", reason);
  exit (1);
}

GBytes *
vn_ranks_receive (guint from)
{
  return g_bytes_new_static ("", 0);
}

/**
 * vn_ranks_broadcast:
 * @bytes: (nullable): of rank 0, %NULL elsewhere
 *
 * Returns: (transfer full): what rank 0 has
 */
GBytes *
vn_ranks_broadcast (GBytes *bytes)
{
  return g_bytes_ref (bytes);
}

/**
 * vn_ranks_gather:
 *
 * Returns: (transfer full) (element-type GBytes): what each process has, by rank
 */
GPtrArray *
vn_ranks_gather (GBytes *own)
{
  GPtrArray *all;

  g_return_val_if_fail (own != NULL, NULL);

  all = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  g_ptr_array_add (all, g_bytes_ref (own));
  return all;
}
