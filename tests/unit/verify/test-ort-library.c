/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a libonnxruntime may do that is missing, of another version, crashes or hangs: all of it is an error and harms nothing. */
#include "vn-graph-edit.h"
#include "vn-ort-child.h"
#include "vn-verify-job.h"

#include <string.h>

static VnModel *
make_model (void)
{
  const VnShape shape = { .rank = 2, .dims = { 1, 4 } };
  VnModel *model = vn_model_new (8, 17);
  VnValue *x = vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &shape),
  *y = vn_graph_add_value (model->graph, "y", VN_DTYPE_F32, &shape);

  vn_graph_add_node (model->graph, "relu", "", "Relu", &x, 1, &y, 1);
  vn_graph_set_output (model->graph, 0, y);
  return model;
}

/* The error of verifying with @library, which behaves as @way. */
static GError *
verify (const char   *library,
        const char   *way,
        guint         timeout,
        GCancellable *cancellable)
{
  g_autoptr(VnModel) model = make_model ();
  const VnVerifySettings settings = { .model = model, .n_samples = 1, .n_runs = 1, .timeout = timeout };
  g_autoptr(VnJob) job = vn_verify_job_new (&settings);
  GError *error = NULL;

  g_setenv ("VN_ORT_LIBRARY", library, TRUE);
  g_setenv ("VN_TEST_ORT", way, TRUE);
  g_assert_false (vn_job_run (job, cancellable, &error));
  g_assert_nonnull (error);
  g_assert_null (vn_verify_job_get_result (job));
  g_test_message ("%s", error->message);
  return error;
}

static void
check (const char *way,
       guint       timeout,
       const char *said)
{
  g_autoptr(GError) error = verify (VN_ORT_FAKE, way, timeout, NULL);

  g_assert_nonnull (strstr (error->message, said));
}

static void
test_missing (void)
{
  g_autoptr(GError) error = verify ("/nowhere/libonnxruntime.so", "", 20, NULL);

  g_assert_nonnull (strstr (error->message, "/nowhere/libonnxruntime.so"));
  g_assert_nonnull (strstr (error->message, "VN_ORT_LIBRARY"));
}

static void
test_bad (void)
{
  check ("newer", 20, "2.0.1");
  check ("empty", 20, "1.99.0");    /* it has no interface */
  check ("crash", 20, "without a result");
  check ("hang", 1, "1 second");
}

static gpointer
cancel_later (gpointer data)
{
  g_usleep (G_USEC_PER_SEC / 2);
  g_cancellable_cancel (data);
  return NULL;
}

static void
test_cancelled (void)
{
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  GThread *thread = g_thread_new ("cancel", cancel_later, cancellable);
  g_autoptr(GError) error = verify (VN_ORT_FAKE, "hang", 60, cancellable);

  g_thread_join (thread);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

int
main (int    argc,
      char **argv)
{
  int status;

  if (vn_ort_child_take_over (argc, argv, &status))
    return status;
  g_test_init (&argc, &argv, NULL);
  g_assert_true (vn_ort_child_is_there ());
  g_test_add_func ("/ort-library/missing", test_missing);
  g_test_add_func ("/ort-library/bad", test_bad);
  g_test_add_func ("/ort-library/cancelled", test_cancelled);
  return g_test_run ();
}
