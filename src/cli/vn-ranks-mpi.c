/* SPDX-License-Identifier: GPL-3.0-or-later */
/* With MPI: the processes that mpirun started. MPI's own errors end all of them, with its message. */
#include "vn-ranks.h"

#include "vn-memory.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TAG 1
#define CHUNK ((gsize) 1 << 30)   /* MPI counts in int */

#define END_USEC 20000            /* between two looks whether the others have come to their end */

static int rank, n_ranks = 1;
static gboolean has_parted;
static MPI_Request round_request = MPI_REQUEST_NULL;
#define N_NUMBERS 5

static guint64 round_mine[N_NUMBERS], round_sum[N_NUMBERS];
static gboolean round_runs;

/* Whoever was started alone needs no MPI, which takes its time to start. */
static gboolean
ranks_mpi_is_launched (void)
{
  static const char * const names[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_getenv (names[i]) != NULL)
      return TRUE;
  return FALSE;
}

gboolean
vn_ranks_start (GError **error)
{
  int provided;

  if (!ranks_mpi_is_launched ())
    return TRUE;
  MPI_Init_thread (NULL, NULL, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank (MPI_COMM_WORLD, &rank);
  MPI_Comm_size (MPI_COMM_WORLD, &n_ranks);
  return TRUE;
}

/* The first process may go on for minutes after the others: MPI_Finalize() would keep their processors busy until then. */
void
vn_ranks_end (void)
{
  MPI_Request request;
  int started, ended = 0;

  MPI_Initialized (&started);
  if (!started)
    return;
  MPI_Ibarrier (MPI_COMM_WORLD, &request);
  for (MPI_Test (&request, &ended, MPI_STATUS_IGNORE); !ended; MPI_Test (&request, &ended, MPI_STATUS_IGNORE))
    g_usleep (END_USEC);
  MPI_Finalize ();
}

guint
vn_ranks_get_rank (void)
{
  return (guint) rank;
}

guint
vn_ranks_get_n (void)
{
  return has_parted ? 1 : (guint) n_ranks;
}

void
vn_ranks_part (void)
{
  has_parted = TRUE;
}

/**
 * vn_ranks_exchange:
 * @mine: where this process stands
 * @sum: (out): of all, if it returns %TRUE
 *
 * To be called again and again by all. Every process takes part in every round and sees the same sums, so that a decision
 * that rests on them is everybody's.
 *
 * Returns: whether a round has ended
 */
gboolean
vn_ranks_exchange (const VnRanksState *mine,
                   VnRanksState       *sum)
{
  int ended = 0;

  g_return_val_if_fail (mine != NULL, FALSE);

  if (!round_runs)
    {
      round_mine[0] = mine->done;
      round_mine[1] = mine->total;
      round_mine[2] = mine->n_finished;
      round_mine[3] = mine->n_failed;
      round_mine[4] = mine->n_waiting;
      MPI_Iallreduce (round_mine, round_sum, N_NUMBERS, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD, &round_request);
      round_runs = TRUE;
    }
  MPI_Test (&round_request, &ended, MPI_STATUS_IGNORE);
  if (!ended)
    return FALSE;
  round_runs = FALSE;
  *sum = (VnRanksState) { round_sum[0], round_sum[1], round_sum[2], round_sum[3], round_sum[4] };
  return TRUE;
}

void
vn_ranks_give_up (const char *reason)
{
  fprintf (stderr, "vernier-cli: %s\n", reason);
  MPI_Abort (MPI_COMM_WORLD, 1);
  _exit (1);
}

static guint8 *
ranks_mpi_make_room (guint64 size)
{
  g_autoptr(GError) error = NULL;
  guint8 *data = vn_memory_alloc (size, 1, &error);

  if (data == NULL)
    vn_ranks_give_up (error->message);
  return data;
}

void
vn_ranks_send (guint   to,
               GBytes *bytes)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  guint64 n = size;

  MPI_Send (&n, 1, MPI_UINT64_T, (int) to, TAG, MPI_COMM_WORLD);
  for (gsize at = 0; at < size; at += CHUNK)
    MPI_Send (data + at, (int) MIN (CHUNK, size - at), MPI_BYTE, (int) to, TAG, MPI_COMM_WORLD);
}

GBytes *
vn_ranks_receive (guint from)
{
  guint64 size = 0;
  guint8 *data;

  MPI_Recv (&size, 1, MPI_UINT64_T, (int) from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  data = ranks_mpi_make_room (size);
  for (gsize at = 0; at < size; at += CHUNK)
    MPI_Recv (data + at, (int) MIN (CHUNK, size - at), MPI_BYTE, (int) from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return g_bytes_new_take (data, size);
}

/* @bytes: of the process @root, NULL elsewhere */
static GBytes *
ranks_mpi_broadcast (int     root,
                     GBytes *bytes)
{
  gsize own = 0;
  gconstpointer source = bytes != NULL ? g_bytes_get_data (bytes, &own) : NULL;
  guint64 size = own;
  guint8 *data;

  MPI_Bcast (&size, 1, MPI_UINT64_T, root, MPI_COMM_WORLD);
  data = ranks_mpi_make_room (size);
  if (rank == root && size > 0)
    memcpy (data, source, size);
  for (gsize at = 0; at < size; at += CHUNK)
    MPI_Bcast (data + at, (int) MIN (CHUNK, size - at), MPI_BYTE, root, MPI_COMM_WORLD);
  return g_bytes_new_take (data, size);
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
  return n_ranks == 1 ? g_bytes_ref (bytes) : ranks_mpi_broadcast (0, bytes);
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
  for (int i = 0; i < n_ranks; i++)
    g_ptr_array_add (all, i == rank && n_ranks == 1 ? g_bytes_ref (own) : ranks_mpi_broadcast (i, i == rank ? own : NULL));
  return all;
}
