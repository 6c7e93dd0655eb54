/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The runs of a bench: lines that its project keeps, those that were removed from it, and the last results with their
 * networks. */
#include "vn-run-list.h"

#include "vn-drop.h"

#include <math.h>

/* Whole runs that are kept, so that what was measured need not be measured again when a change is undone. */
#define MAX_KNOWN 4

struct _VnRunList
{
  GPtrArray *runs, *removed;   /* of VnProjectRun */
  GPtrArray *known;            /* of VnRun: on the present subject */
};

static void
run_list_forget (gpointer result)
{
  vn_drop_large (result, (GDestroyNotify) vn_run_unref);
}

/**
 * vn_run_list_new:
 *
 * Returns: (transfer full): an empty list
 */
VnRunList *
vn_run_list_new (void)
{
  VnRunList *self = g_new0 (VnRunList, 1);

  self->runs = vn_project_runs_new ();
  self->removed = vn_project_runs_new ();
  self->known = g_ptr_array_new_with_free_func (run_list_forget);
  return self;
}

/**
 * vn_run_list_free:
 * @self: (nullable):
 */
void
vn_run_list_free (VnRunList *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->runs);
  g_ptr_array_unref (self->removed);
  g_ptr_array_unref (self->known);
  g_free (self);
}

/* ---- lines ---- */

GPtrArray *
vn_run_list_get (VnRunList *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->runs;
}

GPtrArray *
vn_run_list_get_removed (VnRunList *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->removed;
}

/**
 * vn_run_list_set:
 * @runs: (nullable) (element-type VnProjectRun): those of a project; later ones come behind them
 */
void
vn_run_list_set (VnRunList *self,
                 GPtrArray *runs)
{
  GPtrArray *own;

  g_return_if_fail (self != NULL);

  own = vn_project_runs_new ();
  for (guint i = 0; runs != NULL && i < runs->len; i++)
    g_ptr_array_add (own, vn_project_run_ref (g_ptr_array_index (runs, i)));
  g_ptr_array_unref (self->runs);
  self->runs = own;
}

/**
 * vn_run_list_find:
 *
 * Returns: (transfer none) (nullable): the run of that id
 */
VnProjectRun *
vn_run_list_find (VnRunList  *self,
                  const char *id)
{
  g_return_val_if_fail (self != NULL && id != NULL, NULL);

  return vn_project_runs_find (self->runs, id);
}

/**
 * vn_run_list_find_recipe:
 *
 * Returns: (transfer none) (nullable): the last run with @recipe
 */
VnProjectRun *
vn_run_list_find_recipe (VnRunList      *self,
                         const VnRecipe *recipe)
{
  g_autofree char *digest = NULL;

  g_return_val_if_fail (self != NULL && recipe != NULL, NULL);

  digest = vn_recipe_dup_digest (recipe);
  for (guint i = self->runs->len; i > 0; i--)
    {
      VnProjectRun *run = g_ptr_array_index (self->runs, i - 1);

      if (g_strcmp0 (run->recipe_digest, digest) == 0)
        return run;
    }
  return NULL;
}

/* The same once more is not another run. */
static VnProjectRun *
run_list_find_same (VnRunList   *self,
                    const VnRun *record)
{
  VnRunFigures figures;

  vn_run_figures_init (&figures, record);
  for (guint i = 0; i < self->runs->len; i++)
    {
      VnProjectRun *old = g_ptr_array_index (self->runs, i);

      if (g_strcmp0 (old->recipe_digest, record->recipe_digest) == 0 && old->figures.quantized_bytes == figures.quantized_bytes &&
          (old->figures.mean_db == figures.mean_db || (isnan (old->figures.mean_db) && isnan (figures.mean_db))))
        return old;
    }
  return NULL;
}

/* @old: (nullable): its line, which goes */
static void
run_list_add_record (VnRunList    *self,
                     VnRun        *record,
                     VnProjectRun *old)
{
  g_autofree char *id = old != NULL ? g_strdup (old->id) : vn_project_run_make_id ();
  VnProjectRun *run = vn_project_run_new (id, record);

  if (old != NULL)
    {
      vn_project_run_set_name (run, old->name);
      g_ptr_array_remove (self->runs, old);
    }
  g_ptr_array_add (self->runs, run);
}

/**
 * vn_run_list_add:
 * @result: of a whole run
 *
 * Adds a line with what is left of it when there is another; it takes the place of the same run made before.
 */
void
vn_run_list_add (VnRunList *self,
                 VnRun     *result)
{
  g_autoptr(VnRun) record = NULL;

  g_return_if_fail (self != NULL && result != NULL);

  record = vn_run_without_networks (result);
  run_list_add_record (self, record, run_list_find_same (self, record));
}

/**
 * vn_run_list_renew:
 * @result: of the last run, with what was found out since
 *
 * The last line learns of it.
 *
 * Returns: %FALSE if the last line is of another run
 */
gboolean
vn_run_list_renew (VnRunList *self,
                   VnRun     *result)
{
  VnProjectRun *last;
  g_autoptr(VnRun) record = NULL;

  g_return_val_if_fail (self != NULL && result != NULL, FALSE);

  last = self->runs->len > 0 ? g_ptr_array_index (self->runs, self->runs->len - 1) : NULL;
  if (last == NULL || last->time != result->time)
    return FALSE;
  record = vn_run_without_networks (result);
  run_list_add_record (self, record, last);
  return TRUE;
}

/**
 * vn_run_list_remove:
 *
 * Removes a line until vn_run_list_return().
 *
 * Returns: %FALSE if there is none of that id
 */
gboolean
vn_run_list_remove (VnRunList  *self,
                    const char *id)
{
  VnProjectRun *run;

  g_return_val_if_fail (self != NULL && id != NULL, FALSE);

  run = vn_run_list_find (self, id);
  if (run == NULL)
    return FALSE;
  g_ptr_array_add (self->removed, vn_project_run_ref (run));
  g_ptr_array_remove (self->runs, run);
  return TRUE;
}

/**
 * vn_run_list_return:
 *
 * Puts the line that was removed last back into its place.
 *
 * Returns: %FALSE if none was removed
 */
gboolean
vn_run_list_return (VnRunList *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  if (self->removed->len == 0)
    return FALSE;
  vn_project_runs_insert (self->runs, g_ptr_array_steal_index (self->removed, self->removed->len - 1));
  return TRUE;
}

void
vn_run_list_forget_removed (VnRunList *self)
{
  g_return_if_fail (self != NULL);

  g_ptr_array_set_size (self->removed, 0);
}

/**
 * vn_run_list_copy:
 * @runs: (element-type VnProjectRun):
 *
 * Returns: (transfer full) (element-type VnProjectRun): lines with the records that they have now: saving lets go of those of the
 * list
 */
GPtrArray *
vn_run_list_copy (GPtrArray *runs)
{
  GPtrArray *copies = vn_project_runs_new ();

  g_return_val_if_fail (runs != NULL, copies);

  for (guint i = 0; i < runs->len; i++)
    g_ptr_array_add (copies, vn_project_run_copy (g_ptr_array_index (runs, i)));
  return copies;
}

/* What is in a file need not be in memory, unless more was found since. */
static void
run_list_take_one (VnRunList          *self,
                   VnProjectRun       *saved,
                   const VnProjectRun *copy,
                   guint               at)
{
  VnProjectRun *own = vn_run_list_find (self, saved->id);

  if (own == NULL)
    {
      if (vn_project_runs_find (self->removed, saved->id) == NULL)
        g_ptr_array_insert (self->runs, (int) MIN (at, self->runs->len), vn_project_run_ref (saved));
      return;
    }
  g_free (own->file);
  own->file = g_strdup (saved->file);
  if (own->record != NULL && copy != NULL && own->record == copy->record)
    g_clear_pointer (&own->record, vn_run_unref);
}

/**
 * vn_run_list_take_saved:
 * @saved: (element-type VnProjectRun): as they are in the file now, which may have lines of others
 * @records: (element-type VnProjectRun): vn_run_list_copy() of the time when they were to be saved
 *
 * The list knows of the files, and lets go of what is in them.
 */
void
vn_run_list_take_saved (VnRunList *self,
                        GPtrArray *saved,
                        GPtrArray *records)
{
  g_return_if_fail (self != NULL && saved != NULL && records != NULL);

  for (guint i = 0; i < saved->len; i++)
    {
      VnProjectRun *run = g_ptr_array_index (saved, i);

      run_list_take_one (self, run, vn_project_runs_find (records, run->id), i);
    }
}

/* ---- whole results ---- */

/**
 * vn_run_list_remember:
 * @result: of a whole run on the present subject
 *
 * Keeps it for when its recipe comes again.
 */
void
vn_run_list_remember (VnRunList *self,
                      VnRun     *result)
{
  g_return_if_fail (self != NULL && result != NULL && result->state != VN_RUN_ESTIMATED);

  for (guint i = self->known->len; i > 0; i--)
    if (vn_recipe_equal (((VnRun *) g_ptr_array_index (self->known, i - 1))->recipe, result->recipe))
      g_ptr_array_remove_index (self->known, i - 1);
  g_ptr_array_add (self->known, vn_run_ref (result));
  if (self->known->len > MAX_KNOWN)
    g_ptr_array_remove_index (self->known, 0);
}

GPtrArray *
vn_run_list_get_known (VnRunList *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->known;
}

/**
 * vn_run_list_find_known:
 * @recipe: (nullable): a recipe
 *
 * Returns: (transfer none) (nullable): of a whole run with that recipe on the present subject
 */
VnRun *
vn_run_list_find_known (VnRunList      *self,
                        const VnRecipe *recipe)
{
  g_return_val_if_fail (self != NULL, NULL);

  for (guint i = 0; recipe != NULL && i < self->known->len; i++)
    if (vn_recipe_equal (((VnRun *) g_ptr_array_index (self->known, i))->recipe, recipe))
      return g_ptr_array_index (self->known, i);
  return NULL;
}

/**
 * vn_run_list_forget_known:
 *
 * None is of the present subject any more.
 */
void
vn_run_list_forget_known (VnRunList *self)
{
  g_return_if_fail (self != NULL);

  g_ptr_array_set_size (self->known, 0);
}
