/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What happens where ONNX Runtime cannot be asked, or is not waited for; and what is told of its outputs. */
#include "verify-folder.h"
#include "verify-sums.h"
#include "vn-graph-edit.h"
#include "vn-onnx.h"
#include "vn-verify-job.h"

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
  g_assert_null (vn_verify_job_get_result (job));
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

#define SLICES 8u     /* boxes, then scores */
#define N_ROWS 64u

/* Row by row: boxes of about 100 with an error of @boxes, scores of about 1 with one of @scores. */
static VnTensor *
make_output (double boxes,
             double scores)
{
  VnTensor *tensor = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (N_ROWS, SLICES), NULL);

  for (guint i = 0; i < N_ROWS * SLICES; i++)
    {
      const gboolean is_box = i % SLICES < 4;
      const double value = (is_box ? 100. : 1.) * (1 + i % 13) / 13, sign = i % 3 == 0 ? 1 : -1;

      ((float *) tensor->data)[i] = (float) (value + sign * (is_box ? boxes : scores));
    }
  return tensor;
}

static void
write_output (const char *folder,
              const char *prefix,
              double      boxes,
              double      scores)
{
  g_autofree char *path = vn_verify_folder_dup_tensor (folder, prefix, 0, 0);
  g_autoptr(VnTensor) tensor = make_output (boxes, scores);

  g_assert_true (vn_npy_write (path, tensor, NULL));
}

/* Told is the part that is worst in ONNX Runtime; and another, if its values agree less with ours than there. */
static void
test_parts (void)
{
  static const struct
  {
    const char *what;
    double      our_boxes, our_scores, their_boxes, their_scores;   /* errors */
    const char *slices[2];
    VnAgreement agreement;
  } cases[] = {
    { "both agree",                          0.1,  0.1, 0.1,   0.1, { "4-7" },        VN_AGREEMENT_SAME },
    { "the worst part differs",              0.1,  0.1, 0.1,   0.4, { "4-7" },        VN_AGREEMENT_OTHER },
    { "another differs, a little",           0.01, 0.1, 0.8,   0.1, { "4-7", "0-3" }, VN_AGREEMENT_ALIKE },
    { "another differs",                     0.01, 0.2, 8,     0.2, { "4-7", "0-3" }, VN_AGREEMENT_OTHER },
    { "another differs so that it is worst", 0.01, 0.1, 30,    0.1, { "0-3" },        VN_AGREEMENT_OTHER },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnParts) parts = vn_parts_new ();
      g_autofree char *folder = g_dir_make_tmp ("vn-verify-XXXXXX", NULL);
      g_autofree VnVerifySums *sums = g_new0 (VnVerifySums, 1);
      g_autoptr(VnTensor) ours = make_output (cases[i].our_boxes, cases[i].our_scores);
      g_autoptr(VnVerification) found = vn_verification_new ();
      VnPartition *partition = vn_partition_new (1, SLICES, 2);
      guint which[2], n;

      for (guint k = 0; k < SLICES; k++)
        partition->part_of[k] = k >= 4;
      vn_parts_take (parts, "y", partition);
      write_output (folder, "float-", 0, 0);
      write_output (folder, "out-", cases[i].their_boxes, cases[i].their_scores);
      vn_verify_sums_init (sums, "y", parts, TRUE, FALSE);
      g_assert_true (vn_verify_sums_add (sums, folder, 0, 0, ours, NULL));
      n = vn_verify_sums_find (sums, which);
      g_assert_cmpuint (n, ==, cases[i].slices[1] != NULL ? 2 : 1);
      for (guint k = 0; k < n; k++)
        {
          g_autoptr(VnErrorPart) part = NULL;
          VnVerifiedOutput output;

          vn_verify_sums_report (sums, which[k], &output, &part);
          vn_verification_add (found, &output);
          g_test_message ("%s: %s, %g dB apart", cases[i].what, part->slices, output.sqnr_db);
          g_assert_cmpstr (part->slices, ==, cases[i].slices[k]);
        }
      g_assert_cmpint (vn_verification_judge (found), ==, cases[i].agreement);
      if (n > 1)   /* what is told of the worst part holds */
        g_assert_cmpfloat (vn_verification_get_shift_db (found, "y"), ==, 0);
      vn_verify_folder_remove (folder);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/verify/no-answer", test_no_answer);
  g_test_add_func ("/verify/cancelled", test_cancelled);
  g_test_add_func ("/verify/parts", test_parts);
  return g_test_run ();
}
