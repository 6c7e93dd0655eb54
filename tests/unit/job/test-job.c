/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vn-error.h"
#include "vn-job.h"

typedef struct
{
  gboolean fail, wait_for_cancel, extra;
  double   before, at_count, at_end;      /* progress when the stages began */
} TestJob;

static const VnJobKind test_job_kind;

#define N_UPDATES 1001

static gboolean
test_job_start (VnJob         *job,
                GCancellable  *cancellable,
                GError       **error)
{
  TestJob *self = vn_job_get_state (job, &test_job_kind);

  self->before = vn_job_get_progress (job);
  return TRUE;
}

static gboolean
test_job_wants_extra (VnJob *job)
{
  TestJob *self = vn_job_get_state (job, &test_job_kind);

  return self->extra;
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
  TestJob *self = vn_job_get_state (job, &test_job_kind);
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
  TestJob *self = vn_job_get_state (job, &test_job_kind);

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

static guint n_cleared;

static void
test_job_clear (gpointer data)
{
  n_cleared++;
}

/* A line of the table says what the job is called. */
static const VnJobKind test_job_kind = {
  .id = VN_JOB_QUANTIZE,
  .state_size = sizeof (TestJob),
  .stages = stages,
  .clear = test_job_clear,
};

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
  g_autoptr(VnJob) job = vn_job_new (&test_job_kind);
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
      g_autoptr(VnJob) job = vn_job_new (&test_job_kind);
      TestJob *test = vn_job_get_state (job, &test_job_kind);
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
  g_autoptr(VnJob) job = vn_job_new (&test_job_kind);

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
  g_autoptr(VnJob) job = vn_job_new (&test_job_kind);
  TestJob *test = vn_job_get_state (job, &test_job_kind);

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
  g_autoptr(VnJob) job = vn_job_new (&test_job_kind);
  TestJob *test = vn_job_get_state (job, &test_job_kind);
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

/* Whoever takes a job for one of another kind gets nothing of it. */
static void
test_kind (void)
{
  static const VnJobKind other = {
    .id = VN_JOB_QUANTIZE,
    .state_size = sizeof (TestJob),
    .stages = stages,
    .clear = test_job_clear,
  };
  VnJob *job = vn_job_new (&test_job_kind);
  const guint before = n_cleared;

  g_assert_cmpint (vn_job_get_id (job), ==, VN_JOB_QUANTIZE);
  g_assert_true (vn_job_is (job, VN_JOB_QUANTIZE));
  g_assert_false (vn_job_is (job, VN_JOB_OPEN));
  g_assert_false (vn_job_is (NULL, VN_JOB_QUANTIZE));
  g_assert_nonnull (vn_job_get_state (job, &test_job_kind));
  g_test_expect_message ("vn-job", G_LOG_LEVEL_CRITICAL, "*kind*");
  g_assert_null (vn_job_get_state (job, &other));
  g_test_assert_expected_messages ();
  g_assert_cmpstr (vn_job_get_title (job), ==, "Quantizing");
  vn_job_set_title (job, "Testing");
  g_assert_cmpstr (vn_job_get_title (job), ==, "Testing");
  g_object_unref (job);
  g_assert_cmpuint (n_cleared, ==, before + 1);
  for (guint i = 0; i < VN_N_JOB_KINDS; i++)
    g_assert_nonnull (vn_job_id_get_failure ((VnJobId) i));
  g_assert_cmpstr (vn_job_id_get_failure (VN_JOB_EXPORT), !=, "");
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/job/kind", test_kind);
  g_test_add_func ("/job/in-place", test_in_place);
  g_test_add_func ("/job/stages", test_stages);
  g_test_add_func ("/job/worker", test_worker);
  g_test_add_func ("/job/cancel", test_cancel);
  g_test_add_func ("/job/failure", test_failure);
  return g_test_run ();
}
