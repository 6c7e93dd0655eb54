/* SPDX-License-Identifier: GPL-3.0-or-later */
/* autosave-run PROJECT: a window with a project whose recipe changes all the time, as fast as it is saved by itself, until
 * somebody ends the program. The first line tells its process, the others each change when it has been made. */
#include "vn-bench-files.h"
#include "vn-window.h"
#include "widget-fixture.h"
#include "window-fixture.h"

#include <stdio.h>
#include <unistd.h>

static gboolean
has_project (gpointer document)
{
  return vn_bench_get_project_path (VN_BENCH (document)) != NULL;
}

int
main (int    argc,
      char **argv)
{
  const char *path = argc > 1 ? argv[1] : NULL;
  g_autoptr(GFile) file = path != NULL ? g_file_new_for_path (path) : NULL;
  Fixture fixture = { 0 };

  if (file == NULL)
    return 2;
  vn_window_fixture_init (&argc, &argv);
  vn_window_fixture_set_up (&fixture, NULL);
  vn_window_open_file (fixture.window, file);
  if (!vn_test_wait (has_project, fixture.document, SECONDS))
    return 1;
  printf ("process %ld\n", (long) getpid ());
  for (guint i = 0;; i++)
    {
      VnRecipe *recipe = vn_recipe_copy (vn_bench_get_recipe (VN_BENCH (fixture.document)));

      recipe->percentile = 90 + i % 1000 / 200.0;
      vn_bench_edit_recipe (VN_BENCH (fixture.document), recipe, "percentile");
      vn_bench_keep (VN_BENCH (fixture.document));
      printf ("%u\n", i);
      fflush (stdout);
      vn_test_settle (1);
    }
}
