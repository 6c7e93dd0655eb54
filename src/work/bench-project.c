/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The project of a bench: what is written of it, and where. */
#include "bench-private.h"

#include "vn-i18n.h"

/* ---- what is written ---- */

static gboolean
bench_project_is_worth (gpointer owner)
{
  VnBench *self = VN_BENCH (owner);
  const VnModel *model = self->subject->model;

  return self->batch == NULL && model != NULL && model->path != NULL &&
         (vn_keeper_get_path (self->keeper) != NULL ||
          (!self->opening.is_demo &&
           (vn_run_list_get (self->runs)->len > 0 || self->subject->data != NULL || vn_history_can_undo (self->history))));
}

static void
bench_project_snapshot (gpointer  owner,
                        VnSaving   *kept)
{
  VnBench *self = VN_BENCH (owner);
  g_autoptr(VnDataSpec) data = vn_subject_dup_data (self->subject);
  g_autoptr(GHashTable) sizes = vn_subject_dup_chosen_shapes (self->subject);

  kept->model = self->subject->model;
  kept->project = vn_project_new (kept->model->path, vn_keeper_get_digest (self->keeper), data, self->recipe);
  vn_project_set_sizes (kept->project, sizes);
  kept->records = vn_run_list_copy (vn_run_list_get (self->runs));
  kept->removed = vn_run_list_copy (vn_run_list_get_removed (self->runs));
  for (guint i = 0; i < kept->records->len; i++)
    {
      g_autoptr(VnProjectRun) copy = vn_project_run_copy (g_ptr_array_index (kept->records, i));

      vn_project_add_run (kept->project, copy);
    }
}

static void
bench_project_kept (gpointer      owner,
                    const VnSaving *kept)
{
  VnBench *self = VN_BENCH (owner);

  vn_run_list_take_saved (self->runs, kept->project->runs, kept->records);
  vn_bench_changed (self, VN_CHANGED_RUNS);
}

static void
bench_project_failed (gpointer      owner,
                      const GError *error)
{
  vn_bench_report_error (VN_BENCH (owner), _("The work could not be saved"), error);
}

const VnKeeperFuncs vn_bench_keeper_funcs = { bench_project_snapshot, bench_project_is_worth, bench_project_kept,
                                              bench_project_failed };

/* ---- where ---- */

/**
 * vn_bench_get_place:
 *
 * Returns: (transfer none) (nullable): where the work is kept: the project, or a draft
 */
const char *
vn_bench_get_place (VnBench *self)
{
  g_return_val_if_fail (VN_IS_BENCH (self), NULL);

  return vn_keeper_get_place (self->keeper);
}

/**
 * vn_bench_get_project_path:
 *
 * Returns: (transfer none) (nullable): the file that the user chose for the project; %NULL: none yet
 */
const char *
vn_bench_get_project_path (VnBench *self)
{
  g_return_val_if_fail (VN_IS_BENCH (self), NULL);

  return vn_keeper_get_path (self->keeper);
}

/**
 * vn_bench_keep:
 *
 * Begins to write what was done, if anything was since the last time, without waiting for the moment when that is usual.
 */
void
vn_bench_keep (VnBench *self)
{
  g_return_if_fail (VN_IS_BENCH (self));

  vn_keeper_keep (self->keeper);
}

/**
 * vn_bench_flush:
 *
 * Writes what was done and waits for it: before the program ends.
 */
void
vn_bench_flush (VnBench *self)
{
  g_return_if_fail (VN_IS_BENCH (self));

  vn_keeper_flush (self->keeper);
}

/**
 * vn_bench_save_project:
 * @path: of the file, from now on that of the project
 *
 * Writes model, samples, recipe and runs, and keeps the file up to date from now on. There must be a model that comes from a
 * file.
 *
 * Returns: %FALSE if the file could not be written
 */
gboolean
vn_bench_save_project (VnBench     *self,
                       const char  *path,
                       GError     **error)
{
  g_autofree char *left = NULL;
  gboolean ok;

  g_return_val_if_fail (VN_IS_BENCH (self) && path != NULL, FALSE);
  g_return_val_if_fail (self->subject->model != NULL && self->subject->model->path != NULL, FALSE);

  ok = vn_keeper_save (self->keeper, path, &left, error);
  if (left != NULL)
    vn_bench_report (self, left);
  return ok;
}
