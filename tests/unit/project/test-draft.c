/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Drafts: nobody else opens one that is in use; whatever ends its user leaves it; runs of others are merged, and move with a
 * project. */
#include "draw-run.h"
#include "vn-draft.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct
{
  char *folder, *drafts;
} Fixture;

static void
setup (Fixture       *self,
       gconstpointer  data)
{
  self->folder = g_dir_make_tmp ("vn-draft-XXXXXX", NULL);
  g_assert_nonnull (self->folder);
  self->drafts = g_build_filename (self->folder, "state", "drafts", NULL);
}

static void
remove_below (const char *folder)
{
  g_autoptr(GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      if (g_file_test (path, G_FILE_TEST_IS_DIR))
        remove_below (path);
      g_remove (path);
    }
}

static void
teardown (Fixture       *self,
          gconstpointer  data)
{
  remove_below (self->folder);
  g_assert_cmpint (g_rmdir (self->folder), ==, 0);
  g_free (self->drafts);
  g_free (self->folder);
}

static VnProject *
make_project (void)
{
  g_autoptr(VnRecipe) recipe = vn_recipe_new (NULL);

  return vn_project_new ("/models/net.onnx", "d", NULL, recipe);
}

static VnProjectRun *
add_run (VnProject  *project,
         const char *id,
         guint       seed)
{
  g_autoptr(GRand) random = g_rand_new_with_seed (seed);
  g_autoptr(VnRun) record = draw_run (random);
  g_autoptr(VnProjectRun) run = vn_project_run_new (id, record);

  run->time = 1000 + seed;
  vn_project_add_run (project, run);
  return g_ptr_array_index (project->runs, project->runs->len - 1);
}

static void
test_lock (Fixture       *self,
           gconstpointer  data)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnDraft) draft = vn_draft_new (self->drafts, &error);
  g_autoptr(VnProject) project = make_project ();
  g_autofree char *path = NULL;
  g_autoptr(GPtrArray) in_use = NULL, free_ones = NULL, none = NULL;

  g_assert_no_error (error);
  path = g_strdup (vn_draft_get_path (draft));
  g_assert_true (vn_drafts_have (self->drafts, path));
  g_assert_false (vn_drafts_have (self->drafts, "/elsewhere/a.vernier"));
  g_assert_true (vn_project_save (project, path, &error));
  in_use = vn_drafts_list (self->drafts);
  g_assert_cmpuint (in_use->len, ==, 0);
  g_assert_null (vn_draft_open (path, &error));
  g_assert_nonnull (error);
  g_clear_error (&error);

  g_clear_pointer (&draft, vn_draft_unref);
  free_ones = vn_drafts_list (self->drafts);
  g_assert_cmpuint (free_ones->len, ==, 1);
  g_assert_cmpstr (g_ptr_array_index (free_ones, 0), ==, path);

  draft = vn_draft_open (path, &error);
  g_assert_no_error (error);
  add_run (project, "one", 1);
  g_assert_true (vn_project_save (project, path, &error));
  g_assert_true (vn_draft_discard (draft, &error));
  g_clear_pointer (&draft, vn_draft_unref);
  none = vn_drafts_list (self->drafts);
  g_assert_cmpuint (none->len, ==, 0);
  g_assert_cmpint (g_rmdir (self->drafts), ==, 0);   /* nothing is left, not even a lock */
}

/* Killed without a chance to clean up. */
static void
test_killed (Fixture       *self,
             gconstpointer  data)
{
  g_autoptr(GPtrArray) before = NULL, after = NULL;
  int ready[2], status;
  char byte;
  pid_t child;

  g_assert_cmpint (pipe (ready), ==, 0);
  child = fork ();
  if (child == 0)
    {
      VnDraft *draft = vn_draft_new (self->drafts, NULL);
      VnProject *project = make_project ();

      if (draft == NULL || !vn_project_save (project, vn_draft_get_path (draft), NULL) || write (ready[1], "x", 1) != 1)
        _exit (1);
      for (;;)
        pause ();
    }
  g_assert_cmpint (read (ready[0], &byte, 1), ==, 1);
  before = vn_drafts_list (self->drafts);
  g_assert_cmpuint (before->len, ==, 0);
  kill (child, SIGKILL);
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  after = vn_drafts_list (self->drafts);
  g_assert_cmpuint (after->len, ==, 1);
  close (ready[0]);
  close (ready[1]);
}

static void
test_no_folder (Fixture       *self,
                gconstpointer  data)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *file = g_build_filename (self->folder, "file", NULL), *below = g_build_filename (file, "drafts", NULL);
  g_autoptr(GPtrArray) none = vn_drafts_list (below);

  g_assert_cmpuint (none->len, ==, 0);
  g_assert_true (g_file_set_contents (file, "x", 1, NULL));
  g_assert_null (vn_draft_new (below, &error));
  g_assert_nonnull (error);
}

/* What another program added comes in, in its place; what is not to be kept goes; what both have is as it is here. */
static void
test_merge (Fixture       *self,
            gconstpointer  data)
{
  g_autofree char *path = g_build_filename (self->folder, "a.vernier", NULL);
  g_autoptr(VnProject) own = make_project (), other = NULL;
  g_autoptr(GPtrArray) removed = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_project_run_unref);
  g_autoptr(GError) error = NULL;
  static const char * const expected[] = { "one", "two", "four" };

  add_run (own, "one", 1);
  add_run (own, "three", 3);
  add_run (own, "four", 4);
  g_assert_true (vn_project_save (own, path, &error));
  other = vn_project_load (path, &error);
  g_assert_no_error (error);
  add_run (other, "two", 2);
  g_assert_true (vn_project_save (other, path, &error));

  vn_project_run_set_name (vn_project_find_run (own, "one"), "  the first ");
  g_ptr_array_add (removed, vn_project_run_ref (vn_project_find_run (own, "three")));
  g_ptr_array_remove (own->runs, vn_project_find_run (own, "three"));
  g_assert_true (vn_project_merge_runs (own, path, removed, &error));
  g_assert_true (vn_project_save (own, path, &error));
  g_clear_pointer (&other, vn_project_free);
  other = vn_project_load (path, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (other->runs->len, ==, G_N_ELEMENTS (expected));
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    g_assert_cmpstr (((VnProjectRun *) g_ptr_array_index (other->runs, i))->id, ==, expected[i]);
  g_assert_cmpstr (vn_project_find_run (other, "one")->name, ==, "the first");
  g_assert_null (vn_project_find_run (other, "four")->name);
}

/* The files of runs come along when a draft becomes a project; then the draft can go. */
static void
test_move (Fixture       *self,
           gconstpointer  data)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnDraft) draft = vn_draft_new (self->drafts, &error);
  g_autofree char *path = g_build_filename (self->folder, "a.vernier", NULL);
  g_autoptr(VnProject) project = make_project (), again = NULL;
  g_autoptr(VnRun) record = NULL;
  VnProjectRun *run = add_run (project, "one", 1);

  g_assert_no_error (error);
  g_assert_true (vn_project_save (project, vn_draft_get_path (draft), &error));
  g_assert_null (run->record);
  g_assert_true (vn_project_run_fetch (run, vn_draft_get_path (draft), &error));
  g_assert_nonnull (run->record);
  g_assert_true (vn_project_save (project, path, &error));
  g_assert_true (vn_draft_discard (draft, &error));
  again = vn_project_load (path, &error);
  g_assert_no_error (error);
  record = vn_project_run_load (vn_project_find_run (again, "one"), path, &error);
  g_assert_no_error (error);
  g_assert_nonnull (record);
  g_assert_true (vn_project_run_is_own (vn_project_find_run (again, "one"), path));
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/draft/lock", Fixture, NULL, setup, test_lock, teardown);
  g_test_add ("/draft/killed", Fixture, NULL, setup, test_killed, teardown);
  g_test_add ("/draft/no-folder", Fixture, NULL, setup, test_no_folder, teardown);
  g_test_add ("/draft/merge", Fixture, NULL, setup, test_merge, teardown);
  g_test_add ("/draft/move", Fixture, NULL, setup, test_move, teardown);
  return g_test_run ();
}
