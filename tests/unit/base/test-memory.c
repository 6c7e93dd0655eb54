/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that may be refused: what is counted, what grows, and what is left when the process has a limit. */
#include "memory-limit.h"
#include "vn-memory.h"

#include <gio/gio.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#define MB ((gsize) 1 << 20)

static void
test_refused (void)
{
  g_autoptr(GError) error = NULL, later = NULL;
  guint mark = vn_memory_mark ();

  g_assert_null (vn_try_new (double, G_MAXSSIZE / 4, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_MEMORY);
  g_assert_true (vn_error_is_memory (error));
  g_assert_nonnull (strstr (error->message, "ut of memory"));
  g_assert_false (vn_memory_check (mark, &later));
  g_assert_error (later, VN_ERROR, VN_ERROR_MEMORY);
  g_assert_true (vn_memory_check (vn_memory_mark (), NULL));
}

/* What is not counted as refused: whoever asked can do without. */
static void
test_tried (void)
{
  g_autofree char *some = vn_memory_try (3, 5);
  g_autofree char *none = vn_memory_try (0, 8);
  guint mark = vn_memory_mark ();

  g_assert_nonnull (some);
  g_assert_nonnull (none);
  g_assert_null (vn_memory_try (G_MAXSIZE / 2, 3));
  g_assert_null (vn_memory_try (G_MAXSSIZE, 1));
  g_assert_null (vn_memory_try_aligned (G_MAXSSIZE, 64));
  g_assert_true (vn_memory_check (mark, NULL));
}

static void
test_kinds (void)
{
  const struct { GQuark domain; int code; gboolean is_memory; } cases[] = {
    { VN_ERROR, VN_ERROR_MEMORY, TRUE }, { VN_ERROR, VN_ERROR_LIMIT, FALSE }, { G_FILE_ERROR, G_FILE_ERROR_NOMEM, TRUE },
    { G_FILE_ERROR, G_FILE_ERROR_NOENT, FALSE }, { G_THREAD_ERROR, G_THREAD_ERROR_AGAIN, TRUE },
  };

  g_assert_false (vn_error_is_memory (NULL));
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GError) error = g_error_new_literal (cases[i].domain, cases[i].code, "");

      g_assert_cmpint (vn_error_is_memory (error), ==, cases[i].is_memory);
    }
}

static void
test_buffer (void)
{
  g_auto(VnBuffer) buffer = { 0 };
  g_autoptr(GBytes) bytes = NULL;
  g_autoptr(GBytes) nothing = NULL;
  g_autoptr(GError) error = NULL;
  guint mark = vn_memory_mark ();
  gsize size;

  for (guint i = 0; i < 100000; i++)
    g_assert_true (vn_buffer_add (&buffer, &i, sizeof i));
  g_assert_cmpuint (buffer.size, ==, 100000 * sizeof (guint));
  g_assert_cmpint (buffer.data[buffer.size], ==, '\0');
  bytes = vn_buffer_steal_bytes (&buffer, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < 100000; i++)
    g_assert_cmpuint (((const guint *) g_bytes_get_data (bytes, &size))[i], ==, i);
  g_assert_cmpuint (buffer.size, ==, 0);

  nothing = vn_buffer_steal_bytes (&buffer, &error);
  g_assert_cmpuint (g_bytes_get_size (nothing), ==, 0);
  g_assert_true (vn_memory_check (mark, NULL));

  g_assert_true (vn_buffer_add (&buffer, "a", 1));
  g_assert_false (vn_buffer_reserve (&buffer, G_MAXSSIZE));
  g_assert_true (buffer.failed);
  g_assert_false (vn_buffer_add (&buffer, "b", 1));
  g_assert_null (vn_buffer_steal_bytes (&buffer, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_MEMORY);
}

static void
test_text (void)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *text = vn_memory_dup_text ("abc", 2, &error);
  g_autofree char *empty = vn_memory_dup_text (NULL, 0, &error);

  g_assert_cmpstr (text, ==, "ab");
  g_assert_cmpstr (empty, ==, "");
}

static gsize
used_space (void)
{
  FILE *file = fopen ("/proc/self/statm", "r");
  unsigned long long pages = 0;
  gboolean known = file != NULL && fscanf (file, "%llu", &pages) == 1;

  if (file != NULL)
    fclose (file);
  return known ? (gsize) pages * 4096 : 0;
}

/* Large memory is refused before small memory runs out: GLib would end the process then. */
G_GNUC_UNUSED static void
test_limited (void)
{
  struct rlimit limit;
  guint n = 0;

  if (!g_test_subprocess ())
    {
      if (used_space () == 0 || !memory_limit_holds ())
        {
          g_test_skip ("there is no /proc, or an emulator that limits nothing");
          return;
        }
      g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
      g_test_trap_assert_passed ();
      return;
    }
  g_assert_true (vn_memory_has_room (1024 * MB));
  limit = (struct rlimit) { used_space () + 100 * MB, RLIM_INFINITY };
  g_assert_cmpint (setrlimit (RLIMIT_AS, &limit), ==, 0);
  g_assert_true (vn_memory_has_room (50 * MB));
  g_assert_false (vn_memory_has_room (110 * MB));
  g_assert_true (vn_memory_expect (50 * MB, NULL));
  g_assert_false (vn_memory_expect (95 * MB, NULL));
  while (vn_memory_try (2 * MB, 1) != NULL)
    n++;
  g_test_message ("%u blocks of 2 MB", n);
  g_assert_cmpuint (n, >, 20);
  g_assert_cmpuint (n, <, 46);
  for (guint i = 0; i < 10000; i++)
    g_assert_nonnull (g_malloc (800));
}

/* By the machine, within bounds; by what the process may take; by whoever sets it. */
G_GNUC_UNUSED static void
test_budget (void)
{
  gsize usual = vn_memory_get_budget ();
  struct rlimit limit = { used_space () + 100 * MB, RLIM_INFINITY };

  g_assert_cmpuint (usual, >=, 64 * MB);
  g_assert_cmpuint (usual, <=, 512 * MB);
  vn_memory_set_budget (5);
  g_assert_cmpuint (vn_memory_get_budget (), ==, 5);
  vn_memory_set_budget (0);
  g_assert_cmpuint (vn_memory_get_budget (), ==, usual);
  if (!memory_limit_holds ())
    {
      g_test_skip ("an emulator limits nothing");
      return;
    }
  g_assert_cmpint (setrlimit (RLIMIT_AS, &limit), ==, 0);
  g_assert_cmpuint (vn_memory_get_budget (), <=, 25 * MB);
  limit.rlim_cur = RLIM_INFINITY;
  g_assert_cmpint (setrlimit (RLIMIT_AS, &limit), ==, 0);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/memory/refused", test_refused);
  g_test_add_func ("/memory/tried", test_tried);
  g_test_add_func ("/memory/kinds", test_kinds);
  g_test_add_func ("/memory/buffer", test_buffer);
  g_test_add_func ("/memory/text", test_text);
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__   /* these take all addresses for themselves */
  g_test_add_func ("/memory/budget", test_budget);
  g_test_add_func ("/memory/limited", test_limited);
#endif

  return g_test_run ();
}
