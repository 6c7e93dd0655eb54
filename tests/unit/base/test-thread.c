/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "memory-limit.h"
#include "vn-error.h"
#include "vn-thread.h"

#include <stdio.h>
#include <sys/resource.h>

typedef struct
{
  GMainLoop *loop;
  GThread *caller;
  GError *error;
  gboolean was_called;
} Wait;

static void
answer (GTask        *task,
        gpointer      source,
        gpointer      data,
        GCancellable *cancellable)
{
  Wait *wait = data;

  g_task_return_boolean (task, g_thread_self () != wait->caller);
}

static void
done (GObject      *source,
      GAsyncResult *result,
      gpointer      data)
{
  Wait *wait = data;

  wait->was_called = TRUE;
  g_assert_true (g_thread_self () == wait->caller);
  g_assert_true (g_task_propagate_boolean (G_TASK (result), &wait->error) == (wait->error == NULL));
  g_main_loop_quit (wait->loop);
}

static void
wait_for_answer (Wait *wait)
{
  g_autoptr(GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  g_autoptr(GTask) task = NULL;

  *wait = (Wait) { .loop = loop, .caller = g_thread_self () };
  task = g_task_new (NULL, NULL, done, wait);
  g_task_set_task_data (task, wait, NULL);
  vn_thread_run_task (task, answer);
  g_assert_false (wait->was_called);
  g_main_loop_run (loop);
}

static void
test_runs (void)
{
  Wait wait;

  wait_for_answer (&wait);
  g_assert_no_error (wait.error);
}

/* More at once than the pool of GTask has threads: each waits for all the others. */
#define N_TOGETHER 24

static void
meet (GTask        *task,
      gpointer      source,
      gpointer      data,
      GCancellable *cancellable)
{
  gint *n_here = data;

  g_atomic_int_inc (n_here);
  while (g_atomic_int_get (n_here) < N_TOGETHER)
    g_usleep (1000);
  g_task_return_boolean (task, TRUE);
}

static void
count (GObject      *source,
       GAsyncResult *result,
       gpointer      data)
{
  guint *n = data;

  g_assert_true (g_task_propagate_boolean (G_TASK (result), NULL));
  ++*n;
}

static void
test_all_at_once (void)
{
  gint n_here = 0;
  guint n_done = 0;

  for (guint i = 0; i < N_TOGETHER; i++)
    {
      g_autoptr(GTask) task = g_task_new (NULL, NULL, count, &n_done);

      g_task_set_task_data (task, &n_here, NULL);
      vn_thread_run_task (task, meet);
    }
  while (n_done < N_TOGETHER)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpint (n_here, ==, N_TOGETHER);
}

/* ---- where what a task speaks of ends ---- */

typedef struct { GObject parent; } Subject;
typedef struct { GObjectClass parent; } SubjectClass;

static GType subject_get_type (void);

G_DEFINE_TYPE (Subject, subject, G_TYPE_OBJECT)

static GThread *ended_on;

static void
subject_finalize (GObject *object)
{
  ended_on = g_thread_self ();
  G_OBJECT_CLASS (subject_parent_class)->finalize (object);
}

static void
subject_class_init (SubjectClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = subject_finalize;
}

static void
subject_init (Subject *self)
{
}

typedef struct
{
  gint is_called;
  gint is_left;      /* the work has waited until the caller was done with the task */
} Ending;

static void
answer_and_stay (GTask        *task,
                 gpointer      source,
                 gpointer      data,
                 GCancellable *cancellable)
{
  Ending *ending = data;

  g_task_return_boolean (task, TRUE);
  while (!g_atomic_int_get (&ending->is_called))
    g_usleep (1000);
  g_atomic_int_set (&ending->is_left, TRUE);
}

static void
note_call (GObject      *source,
           GAsyncResult *result,
           gpointer      data)
{
  g_assert_true (g_task_propagate_boolean (G_TASK (result), NULL));
}

/* The work goes on when its answer has been taken: it may hold the task last, but what that is about ends here. */
static void
test_ends_here (gconstpointer data)
{
  void (*run) (GTask *, GTaskThreadFunc) = data == NULL ? vn_thread_run_task : vn_thread_run_pooled;
  Ending ending = { FALSE };
  GObject *subject = g_object_new (subject_get_type (), NULL);
  GTask *task = g_task_new (subject, NULL, note_call, NULL);

  ended_on = NULL;
  g_task_set_task_data (task, &ending, NULL);
  run (task, answer_and_stay);
  while (!g_task_get_completed (task))
    g_main_context_iteration (NULL, TRUE);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_object_unref (subject);
  g_object_unref (task);
  g_atomic_int_set (&ending.is_called, TRUE);
  while (!g_atomic_int_get (&ending.is_left))
    g_usleep (1000);
  for (guint i = 0; i < 5000 && ended_on == NULL; i++)
    {
      g_main_context_iteration (NULL, FALSE);
      g_usleep (1000);
    }
  g_assert_true (ended_on == g_thread_self ());
}

static gpointer
wait_for_lock (gpointer data)
{
  g_mutex_lock (data);
  g_mutex_unlock (data);
  return NULL;
}

#define PAUSE_US 5000
#define N_PAUSES 40u

/* Lets the process have no more memory than it has, and takes what room there is for stacks of threads. One that has told its
 * answer may be there for a moment yet, and leaves its room then: there has to be none for a while. */
static void
leave_no_room (GMutex *lock)
{
  struct rlimit limit;
  unsigned long pages = 0;
  FILE *statm = fopen ("/proc/self/statm", "r");

  g_assert_nonnull (statm);
  g_assert_cmpint (fscanf (statm, "%lu", &pages), ==, 1);
  fclose (statm);
  g_assert_cmpint (getrlimit (RLIMIT_AS, &limit), ==, 0);
  limit.rlim_cur = (rlim_t) pages * 4096 + (2 << 20);
  g_assert_cmpint (setrlimit (RLIMIT_AS, &limit), ==, 0);
  g_mutex_lock (lock);
  for (guint n_refused = 0; n_refused < N_PAUSES;)
    {
      GThread *thread = g_thread_try_new ("wait", wait_for_lock, lock, NULL);

      n_refused = thread == NULL ? n_refused + 1 : 0;
      if (thread != NULL)
        g_thread_unref (thread);
      else
        g_usleep (PAUSE_US);
    }
}

/* Without room for the stack of a thread it says so, and does not wait for ever. */
G_GNUC_UNUSED static void
test_no_thread (void)
{
  static GMutex lock;
  Wait wait;

  if (!memory_limit_holds ())
    {
      g_test_skip ("an emulator limits nothing");
      return;
    }
  if (!g_test_subprocess ())
    {
      g_test_trap_subprocess (NULL, 20 * G_USEC_PER_SEC, G_TEST_SUBPROCESS_INHERIT_STDERR);
      g_test_trap_assert_passed ();
      return;
    }
  wait_for_answer (&wait);     /* GLib has its own thread by then */
  g_assert_no_error (wait.error);
  leave_no_room (&lock);
  wait_for_answer (&wait);
  g_assert_error (wait.error, VN_ERROR, VN_ERROR_MEMORY);
  g_clear_error (&wait.error);
  g_mutex_unlock (&lock);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/thread/runs", test_runs);
  g_test_add_func ("/thread/all-at-once", test_all_at_once);
  g_test_add_data_func ("/thread/ends-here", NULL, test_ends_here);
  g_test_add_data_func ("/thread/ends-here-pooled", "pooled", test_ends_here);
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__   /* these take all addresses for themselves */
  g_test_add_func ("/thread/no-thread", test_no_thread);
#endif
  return g_test_run ();
}
