/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vn-error.h"
#include "vn-job.h"

typedef struct
{
  VnJob    parent_instance;
  gboolean fail, wait_for_cancel, extra;
  double   before, at_count, at_end;      /* progress when the stages began */
} TestJob;

typedef VnJobClass TestJobClass;

GType test_job_get_type (void);
G_DEFINE_TYPE (TestJob, test_job, VN_TYPE_JOB)

#define N_UPDATES 1001

static gboolean
test_job_start (VnJob         *job,
                GCancellable  *cancellable,
                GError       **error)
{
  TestJob *self = (TestJob *) job;

  self->before = vn_job_get_progress (job);
  return TRUE;
}

static gboolean
test_job_wants_extra (VnJob *job)
{
  return ((TestJob *) job)->extra;
}

static gboolean
test_job_extra (VnJob         *job,
                GCancellable  *cancellable,
                GError       **error)
{
  g_usleep (2000);
  return TRUE;
}

static gboolean
test_job_count (VnJob         *job,
                GCancellable  *cancellable,
                GError       **error)
{
  TestJob *self = (TestJob *) job;
  VnProgress progress = vn_job_get_reporter (job);

  self->at_count = vn_job_get_progress (job);
  for (guint i = 0; i < N_UPDATES; i++)
    vn_progress_report (&progress, "samples", i + 1, N_UPDATES);
  while (self->wait_for_cancel && !g_cancellable_is_cancelled (cancellable))
    g_usleep (100);
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  if (self->fail)
    g_set_error_literal (error, VN_ERROR, VN_ERROR_NUMERIC, "on purpose");
  return !self->fail;
}

static gboolean
test_job_end (VnJob         *job,
              GCancellable  *cancellable,
              GError       **error)
{
  TestJob *self = (TestJob *) job;

  self->at_end = vn_job_get_progress (job);
  return TRUE;
}

static const VnStage stages[] = {
  { "start", "Starting", 2, NULL,                 test_job_start },
  { "extra", "More",     5, test_job_wants_extra, test_job_extra },
  { "count", "Counting", 6, NULL,                 test_job_count },
  { "end",   "Ending",   2, NULL,                 test_job_end },
  { NULL },
};

static void
test_job_class_init (TestJobClass *klass)
{
  klass->stages = stages;
}

static void
test_job_init (TestJob *self)
{
}

static TestJob *
make_job (void)
{
  return g_object_new (test_job_get_type (), NULL);
}

typedef struct
{
  GMainLoop *loop;
  GThread   *thread;
  guint      n_notify;
  gboolean   result;
  GError    *error;
} Watch;

static void
notify_cb (VnJob      *job,
           GParamSpec *pspec,
           gpointer    data)
{
  Watch *watch = data;

  g_assert_true (g_thread_self () == watch->thread);
  watch->n_notify++;
}

static void
finished_cb (GObject      *source,
             GAsyncResult *result,
             gpointer      data)
{
  Watch *watch = data;

  watch->result = vn_job_finish (VN_JOB (source), result, &watch->error);
  g_main_loop_quit (watch->loop);
}

static void
test_in_place (void)
{
  g_autoptr(VnJob) job = VN_JOB (make_job ());
  g_autoptr(GError) error = NULL;

  g_assert_true (vn_job_run (job, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpfloat (vn_job_get_progress (job), ==, 1.0);
}

/* Weights are shares of what this run does; stages that are left out take no part of the bar, and no time. */
static void
test_stages (void)
{
  static const char * const ids[] = { "start", "extra", "count", "end" };

  for (gboolean extra = FALSE; extra <= TRUE; extra++)
    {
      TestJob *test = make_job ();
      g_autoptr(VnJob) job = VN_JOB (test);
      g_autoptr(GArray) timings = NULL;
      double whole = extra ? 15 : 10;

      test->extra = extra;
      g_assert_true (vn_job_run (job, NULL, NULL));
      g_assert_cmpfloat (test->before, ==, 0);
      g_assert_cmpfloat_with_epsilon (test->at_count, (extra ? 7 : 2) / whole, 1e-9);
      g_assert_cmpfloat_with_epsilon (test->at_end, (whole - 2) / whole, 1e-9);
      timings = vn_job_dup_timings (job);
      g_assert_cmpuint (timings->len, ==, G_N_ELEMENTS (ids));
      for (guint i = 0; i < G_N_ELEMENTS (ids); i++)
        g_assert_cmpstr (g_array_index (timings, VnTiming, i).id, ==, ids[i]);
      g_assert_cmpint (g_array_index (timings, VnTiming, 1).seconds >= 0.002, ==, extra);
    }
}

static void
test_worker (void)
{
  g_autoptr(GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  Watch watch = { loop, g_thread_self (), 0, FALSE, NULL };
  g_autoptr(VnJob) job = VN_JOB (make_job ());

  g_signal_connect (job, "notify::progress", G_CALLBACK (notify_cb), &watch);
  vn_job_start (job, NULL, finished_cb, &watch);
  g_main_loop_run (loop);
  g_assert_no_error (watch.error);
  g_assert_true (watch.result);
  g_test_message ("%d updates, %u notifications", N_UPDATES, watch.n_notify);
  g_assert_cmpuint (watch.n_notify, >=, 1);
  g_assert_cmpuint (watch.n_notify, <=, N_UPDATES + 2);
}

static gboolean
cancel_cb (gpointer data)
{
  g_cancellable_cancel (data);
  return G_SOURCE_REMOVE;
}

static void
test_cancel (void)
{
  g_autoptr(GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  Watch watch = { loop, g_thread_self (), 0, FALSE, NULL };
  TestJob *test = make_job ();
  g_autoptr(VnJob) job = VN_JOB (test);

  test->wait_for_cancel = TRUE;
  vn_job_start (job, cancellable, finished_cb, &watch);
  g_timeout_add (5, cancel_cb, cancellable);
  g_main_loop_run (loop);
  g_assert_false (watch.result);
  g_assert_error (watch.error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&watch.error);
}

static void
test_failure (void)
{
  TestJob *test = make_job ();
  g_autoptr(VnJob) job = VN_JOB (test);
  g_autoptr(GError) error = NULL;
  g_autofree char *stage = NULL;
  g_autofree char *detail = NULL;

  test->fail = TRUE;
  g_assert_false (vn_job_run (job, NULL, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_NUMERIC);
  stage = vn_job_dup_stage (job);
  detail = vn_job_dup_detail (job);
  g_assert_cmpstr (stage, ==, "Counting");
  g_assert_cmpstr (detail, ==, "1001 of 1001 samples");
  g_assert_cmpfloat_with_epsilon (vn_job_get_progress (job), 0.8, 1e-9);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/job/in-place", test_in_place);
  g_test_add_func ("/job/stages", test_stages);
  g_test_add_func ("/job/worker", test_worker);
  g_test_add_func ("/job/cancel", test_cancel);
  g_test_add_func ("/job/failure", test_failure);
  return g_test_run ();
}
