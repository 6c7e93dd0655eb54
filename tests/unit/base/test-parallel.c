/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vn-error.h"
#include "vn-float-mode.h"
#include "vn-parallel.h"

#include <float.h>

#define N_ITEMS 1000

typedef struct
{
  gint  done[N_ITEMS];      /* atomic: how often each item was run */
  gint  in_use[8];          /* atomic: by worker */
  gsize fails_from;         /* items from here on fail */
} Work;

static gboolean
run_item (gsize      item,
          guint      worker,
          gpointer   data,
          GError   **error)
{
  Work *work = data;

  /* No two items at once with the same worker index. */
  g_assert_cmpint (g_atomic_int_add (&work->in_use[worker], 1), ==, 0);
  g_atomic_int_inc (&work->done[item]);
  g_atomic_int_add (&work->in_use[worker], -1);
  if (item < work->fails_from)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_NUMERIC, "item %d", (int) item);
  return FALSE;
}

static void
test_each_once (void)
{
  for (guint round = 0; round < 300; round++)
    {
      g_autofree Work *work = g_new0 (Work, 1);
      g_autoptr(GError) error = NULL;
      guint n_threads = round % 8 + 1;
      gsize n_items = round % 3 == 0 ? n_threads - 1 : round % 3 == 1 ? 7 : N_ITEMS;

      work->fails_from = N_ITEMS;
      g_assert_true (vn_parallel_for (n_threads, n_items, run_item, work, NULL, &error));
      g_assert_no_error (error);
      for (gsize i = 0; i < N_ITEMS; i++)
        g_assert_cmpint (work->done[i], ==, i < n_items ? 1 : 0);
    }
}

/* Whatever the threads did, the error is that of the first item that fails. */
static void
test_first_error (void)
{
  for (guint round = 0; round < 100; round++)
    {
      g_autofree Work *work = g_new0 (Work, 1);
      g_autoptr(GError) error = NULL;

      work->fails_from = 400;
      g_assert_false (vn_parallel_for (4, N_ITEMS, run_item, work, NULL, &error));
      g_assert_error (error, VN_ERROR, VN_ERROR_NUMERIC);
      g_assert_cmpstr (error->message, ==, "item 400");
    }
}

static gboolean
run_nested (gsize      item,
            guint      worker,
            gpointer   data,
            GError   **error)
{
  g_autofree Work *work = g_new0 (Work, 1);

  work->fails_from = N_ITEMS;
  if (!vn_parallel_for (3, 50, run_item, work, NULL, error))
    return FALSE;
  for (gsize i = 0; i < 50; i++)
    g_assert_cmpint (work->done[i], ==, 1);
  g_atomic_int_inc ((gint *) data);
  return TRUE;
}

static void
test_nested (void)
{
  gint n = 0;

  g_assert_true (vn_parallel_for (4, 40, run_nested, &n, NULL, NULL));
  g_assert_cmpint (n, ==, 40);
}

static void
test_cancelled (void)
{
  g_autofree Work *work = g_new0 (Work, 1);
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GError) error = NULL;

  g_cancellable_cancel (cancellable);
  g_assert_false (vn_parallel_for (4, N_ITEMS, run_item, work, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  for (gsize i = 0; i < N_ITEMS; i++)
    g_assert_cmpint (work->done[i], ==, 0);
}

#define N_MEETING 4

typedef struct
{
  GMutex lock;
  GCond  arrived;
  guint  n;
} Meeting;

/* Ends only when all threads are there; then the helpers stay longer than anybody looks for them before sleeping. */
static gboolean
meet (gsize      item,
      guint      worker,
      gpointer   data,
      GError   **error)
{
  Meeting *self = data;
  gint64 end = g_get_monotonic_time () + 60 * G_USEC_PER_SEC;
  gboolean all;

  g_mutex_lock (&self->lock);
  self->n++;
  g_cond_broadcast (&self->arrived);
  while (self->n < N_MEETING && g_cond_wait_until (&self->arrived, &self->lock, end))
    ;
  all = self->n == N_MEETING;
  g_mutex_unlock (&self->lock);
  if (worker > 0)
    g_usleep (1500);
  if (!all)
    g_set_error (error, VN_ERROR, VN_ERROR_NUMERIC, "only %u threads came", self->n);
  return all;
}

/* Threads that sleep are woken, however work was handed over before. */
static void
test_all_wake (void)
{
  for (guint round = 0; round < 60; round++)
    {
      Meeting meeting = { 0 };
      g_autoptr(GError) error = NULL;

      g_mutex_init (&meeting.lock);
      g_cond_init (&meeting.arrived);
      vn_parallel_for (N_MEETING, N_MEETING, meet, &meeting, NULL, &error);
      g_assert_no_error (error);
      g_cond_clear (&meeting.arrived);
      g_mutex_clear (&meeting.lock);
      if (round % 2 == 0)
        g_usleep (2000);
    }
}

/* ---- subnormal numbers ---- */

static gboolean
halve (gsize      item,
       guint      worker,
       gpointer   data,
       GError   **error)
{
  volatile float *y = data, small = FLT_MIN;

  y[item] = small * 0.5f;
  g_usleep (20);
  return TRUE;
}

/* Whatever thread an item comes to, it is computed as its caller computes; the caller gets its own way back. */
static void
test_flushes (void)
{
  for (guint flushes = 0; flushes <= 1; flushes++)
    for (guint n_threads = 1; n_threads <= 4; n_threads++)
      {
        volatile float y[N_ITEMS], small = FLT_MIN;
        const guint mode = vn_float_mode_begin (flushes);

        g_assert_true (vn_parallel_for (n_threads, N_ITEMS, halve, (gpointer) y, NULL, NULL));
        vn_float_mode_end (mode);
        g_assert_false (vn_float_mode_flushes ());
        for (guint i = 0; i < N_ITEMS; i++)
          g_assert_cmpfloat (y[i], ==, flushes && VN_FLOAT_FLUSHES != 0 ? 0 : FLT_MIN / 2);
        g_assert_cmpfloat (small * 0.5f, >, 0);
      }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/parallel/each-once", test_each_once);
  g_test_add_func ("/parallel/first-error", test_first_error);
  g_test_add_func ("/parallel/nested", test_nested);
  g_test_add_func ("/parallel/cancelled", test_cancelled);
  g_test_add_func ("/parallel/all-wake", test_all_wake);
  g_test_add_func ("/parallel/flushes", test_flushes);
  return g_test_run ();
}
