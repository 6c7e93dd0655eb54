/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What happens where ONNX Runtime cannot be asked, or is not waited for. */
#include "vn-graph-edit.h"
#include "vn-verify-job.h"

static VnModel *
make_model (void)
{
  const VnShape shape = { .rank = 2, .dims = { 1, 4 } };
  VnModel *model = vn_model_new (8, 17);
  VnValue *x = vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &shape), *y = vn_graph_add_value (model->graph, "y", VN_DTYPE_F32, &shape);

  vn_graph_add_node (model->graph, "relu", "", "Relu", &x, 1, &y, 1);
  vn_graph_set_output (model->graph, 0, y);
  return model;
}

/* An interpreter that is a program of another kind: no answer comes. */
static void
test_no_answer (void)
{
  g_autoptr(VnModel) model = make_model ();
  const VnVerifySettings settings = { .model = model, .python = "/bin/true", .n_samples = 1, .n_runs = 1, .timeout = 20 };
  g_autoptr(VnJob) job = vn_verify_job_new (&settings);
  g_autoptr(GError) error = NULL;

  g_assert_false (vn_job_run (job, NULL, &error));
  g_assert_nonnull (error);
  g_assert_null (vn_verify_job_get_result (VN_VERIFY_JOB (job)));
}

static void
test_cancelled (void)
{
  g_autoptr(VnModel) model = make_model ();
  const VnVerifySettings settings = { .model = model, .python = "/bin/true" };
  g_autoptr(VnJob) job = vn_verify_job_new (&settings);
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GError) error = NULL;

  g_cancellable_cancel (cancellable);
  g_assert_false (vn_job_run (job, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/verify/no-answer", test_no_answer);
  g_test_add_func ("/verify/cancelled", test_cancelled);
  return g_test_run ();
}
