/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Several processes that a launcher such as mpirun started to share one command. Built with MPI (vn-ranks-mpi.c) or
 * without (vn-ranks-alone.c); nothing else knows which. All functions are for the main thread; whatever several processes
 * do together each of them must do, in the same order. */

/* Where the processes stand, each and in sum. */
typedef struct
{
  guint64 done, total;            /* of the present work */
  guint64 n_finished, n_failed;   /* processes; one that failed is finished, too */
  guint64 n_waiting;              /* for all others, to tell each other what they have */
} VnRanksState;

gboolean  vn_ranks_start     (GError             **error);     /* joins the others; alone if nobody launched any */
void      vn_ranks_end       (void);
guint     vn_ranks_get_rank  (void);                           /* 0 speaks to the user */
guint     vn_ranks_get_n     (void);                           /* 1: alone */
void      vn_ranks_part      (void);                           /* from here on each goes on alone */

gboolean  vn_ranks_exchange  (const VnRanksState  *mine,
                              VnRanksState        *sum);       /* does not wait; TRUE: @sum is that of a round */
void      vn_ranks_send      (guint                to,
                              GBytes              *bytes);
void      vn_ranks_give_up   (const char          *reason) G_GNUC_NORETURN;   /* ends all processes */
GBytes   *vn_ranks_receive   (guint                from);
GBytes   *vn_ranks_broadcast (GBytes              *bytes);     /* gives everybody what rank 0 has; NULL elsewhere */
GPtrArray *vn_ranks_gather   (GBytes              *own);       /* gives everybody what each has, by rank */

G_END_DECLS
