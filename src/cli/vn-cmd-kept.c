/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a cancelled run leaves, and how to go on with it. */
#include "vn-cmd.h"

#include "vn-i18n.h"
#include "vn-ranks.h"
#include "vn-rounding-journal.h"

static char *cancel_note;

/* Calibrating has come to its end then. */
static void
cmd_kept_note_rounding (const char *save_stats)
{
  g_autofree char *kept = vn_rounding_dup_kept_path (save_stats);

  if (!g_file_test (kept, G_FILE_TEST_IS_REGULAR))
    return;
  g_free (cancel_note);
  cancel_note = g_strdup_printf (_("Cancelled; the layers whose weights were rounded so far are saved in “%s”. To continue, "
                                   "run the same command with --resume"), kept);
}

/**
 * vn_cmd_clear_kept_rounding:
 * @save_stats: (nullable): of the option; %NULL: nothing was kept
 *
 * Removes the layers that are kept beside @save_stats.
 *
 * Returns: %FALSE with an error if another file stands in their place
 */
gboolean
vn_cmd_clear_kept_rounding (const char  *save_stats,
                            GError     **error)
{
  g_autofree char *kept = save_stats != NULL ? vn_rounding_dup_kept_path (save_stats) : NULL;

  return kept == NULL || vn_rounding_journal_remove (kept, error);
}

/**
 * vn_cmd_set_cancel_note:
 * @path: the file of statistics that was to be written
 *
 * Remembers what to say if the command was cancelled: how many samples are kept and how to go on.
 */
void
vn_cmd_set_cancel_note (const char *path)
{
  gboolean shared = vn_ranks_get_n () > 1;
  g_autofree char *part = NULL;
  g_autoptr(VnStats) stats = NULL;

  g_return_if_fail (path != NULL);

  part = vn_calibrate_part_path (path, shared ? (int) vn_ranks_get_rank () : -1);
  stats = vn_stats_load (part, NULL);
  if (stats == NULL)
    {
      cmd_kept_note_rounding (path);
      return;
    }
  g_free (cancel_note);
  cancel_note = shared
                ? g_strdup_printf (_("Cancelled; the statistics of each process are saved next to “%s”. To continue, "
                                     "run the same command with --resume, with any number of processes"), path)
                : g_strdup_printf (ngettext ("Cancelled; statistics of %u sample are saved in “%s”, %u samples are left. To "
                                             "continue, run the same command with --resume",
                                             "Cancelled; statistics of %u samples are saved in “%s”, %u samples are left. To "
                                             "continue, run the same command with --resume", vn_stats_get_n_samples (stats)),
                                   vn_stats_get_n_samples (stats), part, vn_stats_get_n_left (stats));
}

const char *
vn_cmd_get_cancel_note (void)
{
  return cancel_note;
}
