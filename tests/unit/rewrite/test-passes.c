/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For each small network: the edit log of its preparation (those of pass-models-more.c: with everything that optimizes)
 * is the text of golden/passes/NAME.edits (--generate writes them). For each network and each pass: the result is sound, a second
 * run changes nothing, the log is empty exactly if nothing changed, and the outputs stay. */
#include "pass-models.h"

#include "vn-error.h"
#include "vn-onnx.h"
#include "vn-pass.h"
#include "vn-plan.h"
#include "vn-validate.h"

#include <math.h>

#define TARGET 13

/* What sums of a few numbers rounded to half precision may be off, and to bfloat16. */
#define HALF_STEP 2e-3
#define BFLOAT_STEP 2e-2

static gboolean generate;
static guint n_compared;

static void
test_golden (gconstpointer data)
{
  const TestModel *test = data;
  g_autoptr(VnModel) model = test->build ();
  g_autoptr(VnEditLog) log = vn_edit_log_new ();
  g_autoptr(GError) error = NULL;
  VnPrepareOptions options = { .target_opset = TARGET, .optimize = test >= test_models_more &&
                                                                   test < test_models_more + n_test_models_more };
  g_autoptr(VnModel) prepared = vn_prepare_model_with (model, &options, log, NULL, NULL, &error);
  g_autofree char *file = g_strdup_printf ("%s/%s.edits", GOLDEN_DIR, test->name);
  g_autofree char *text = vn_edit_log_to_text (log);
  g_autofree char *expected = NULL;

  g_assert_no_error (error);
  g_assert_nonnull (prepared);
  if (generate)
    g_assert_true (g_file_set_contents (file, text, -1, NULL));
  g_test_message ("%s", text);
  g_assert_true (g_file_get_contents (file, &expected, NULL, NULL));
  g_assert_cmpstr (text, ==, expected);
  for (guint i = 0; i < vn_edit_log_get_n (log); i++)
    g_assert_nonnull (vn_pass_find (vn_edit_log_get (log, i)->pass));
}

/* ---- properties ---- */

static VnTensor *
make_input (const VnTensorType *type,
            guint               seed)
{
  VnShape shape = type->shape;
  VnTensor *tensor = vn_tensor_new (VN_DTYPE_F32, &shape, NULL);
  g_autoptr(VnTensor) wide = tensor;

  for (gsize i = 0; i < tensor->n_elements; i++)
    ((float *) tensor->data)[i] = sinf ((float) (i + 1) * 1.7f + (float) seed);
  if (type->dtype == VN_DTYPE_BOOL)
    {
      VnTensor *flag = vn_tensor_new (VN_DTYPE_BOOL, &shape, NULL);

      for (gsize i = 0; i < flag->n_elements; i++)
        ((guint8 *) flag->data)[i] = 1;
      return flag;
    }
  return type->dtype == VN_DTYPE_F32 ? g_steal_pointer (&wide) : vn_tensor_convert (wide, type->dtype, NULL);
}

/* NULL: the engine cannot run it (half precision, for one). */
static GPtrArray *
run_model (VnModel *model)
{
  g_autoptr(VnPlan) plan = vn_plan_new (model, NULL, NULL, NULL);
  g_autoptr(VnRunner) runner = plan != NULL ? vn_runner_new (plan, NULL) : NULL;
  g_autoptr(GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_tensor_unref);
  g_autoptr(GPtrArray) outputs = NULL;
  guint n;

  if (runner == NULL)
    return NULL;
  n = vn_plan_get_n_outputs (plan);
  for (guint i = 0; i < vn_plan_get_n_inputs (plan); i++)
    g_ptr_array_add (inputs, make_input (vn_plan_get_input_type (plan, i), i));
  outputs = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_tensor_unref);
  g_ptr_array_set_size (outputs, (int) n);
  if (!vn_runner_run (runner, (VnTensor **) inputs->pdata, (VnTensor **) outputs->pdata, NULL, NULL))
    return NULL;
  return g_steal_pointer (&outputs);
}

static void
compare_outputs (GPtrArray  *before,
                 GPtrArray  *after,
                 double      tolerance,
                 const char *what)
{
  g_assert_cmpuint (before->len, ==, after->len);
  for (guint i = 0; i < before->len; i++)
    {
      const VnTensor *a = g_ptr_array_index (before, i), *b = g_ptr_array_index (after, i);
      double worst = 0, span = 1e-6;

      g_assert_true (vn_shape_equal (&a->shape, &b->shape));
      g_assert_cmpuint (a->n_elements, >, 0);
      for (gsize k = 0; k < a->n_elements; k++)
        {
          worst = MAX (worst, fabs (vn_tensor_get_double (a, k) - vn_tensor_get_double (b, k)));
          span = MAX (span, fabs (vn_tensor_get_double (a, k)));
        }
      g_test_message ("%s: output %u differs by %g of %g", what, i, worst, span);
      g_assert_true (worst <= tolerance * span);
      n_compared++;
    }
}

static GBytes *
run_pass (const char *id,
          VnModel    *model,
          VnEditLog  *log)
{
  VnPassContext ctx = { .model = model, .log = log, .target_opset = TARGET };
  g_autoptr(GError) error = NULL;

  g_assert_true (vn_pass_run (id, &ctx, &error) || (g_test_message ("%s", error->message), FALSE));
  g_assert_no_error (error);
  g_assert_true (vn_model_validate (model, VN_VALIDATE_SIZES, NULL, &error));
  return vn_onnx_write_bytes (model, NULL);
}

/* Types that are inferred are not written to the file unless it had declared some. */
static gboolean
has_edits_of (VnEditLog    *log,
              const VnPass *pass)
{
  for (guint i = 0; i < vn_edit_log_get_n (log); i++)
    if (g_str_equal (vn_edit_log_get (log, i)->pass, pass->id) && !g_str_equal (pass->id, "infer"))
      return TRUE;
  return FALSE;
}

static void
check_pass (const TestModel *test,
            const VnPass    *pass)
{
  g_autofree char *what = g_strdup_printf ("%s on %s", pass->id, test->name);
  g_autoptr(VnModel) model = test->build ();
  g_autoptr(VnModel) original = vn_model_copy (model);
  g_autoptr(VnEditLog) log = vn_edit_log_new ();
  g_autoptr(VnEditLog) again = vn_edit_log_new ();
  g_autoptr(GBytes) before = vn_onnx_write_bytes (model, NULL);
  g_autoptr(GBytes) once = run_pass (pass->id, model, log);
  g_autoptr(GBytes) twice = NULL;
  g_autoptr(GPtrArray) expected = run_model (original);
  g_autoptr(GPtrArray) got = run_model (model);

  g_test_message ("%s: %u edits", what, vn_edit_log_get_n (log));
  if (vn_edit_log_get_n (log) == 0)
    g_assert_true (g_bytes_equal (before, once));
  else if (has_edits_of (log, pass))
    g_assert_false (g_bytes_equal (before, once));
  twice = run_pass (pass->id, model, again);
  if (!g_str_equal (pass->id, "equalize"))   /* what one pair moves, the next sees: AMD goes through them once */
    {
      g_assert_true (g_bytes_equal (once, twice));
      g_assert_cmpuint (vn_edit_log_get_n (again), ==, 0);
    }
  if (expected != NULL && got != NULL && !pass->alters)
    compare_outputs (expected, got, g_str_equal (pass->id, "fp16-to-fp32") ? HALF_STEP
                                    : g_str_equal (pass->id, "bf16-to-fp32") ? BFLOAT_STEP : 1e-5, what);
}

static void
test_properties (void)
{
  guint n;
  const VnPass * const *passes = vn_pass_list (&n);

  for (guint i = 0; i < n; i++)
    {
      for (guint m = 0; m < n_test_models; m++)
        check_pass (&test_models[m], passes[i]);
      for (guint m = 0; m < n_test_models_more; m++)
        check_pass (&test_models_more[m], passes[i]);
    }
  g_test_message ("%u outputs compared", n_compared);
  g_assert_cmpuint (n_compared, >, 50);
}

static guint
count_nodes (const VnModel *model)
{
  return model->graph->nodes->len;
}

/* All passes together, until nothing changes: fewer nodes, the same outputs, and a second time changes nothing. */
static void
check_optimized (const TestModel *test,
                 gboolean         must_shrink)
{
  const VnPrepareOptions options = { .optimize = TRUE, .target_opset = TARGET };
  g_autoptr(VnModel) model = test->build ();
  g_autoptr(VnEditLog) again = vn_edit_log_new ();
  g_autoptr(GError) error = NULL;
  g_autoptr(VnModel) prepared = vn_prepare_model_with (model, &options, NULL, NULL, NULL, &error);
  g_autoptr(VnModel) twice = NULL;
  g_autoptr(GPtrArray) expected = run_model (model);
  g_autoptr(GPtrArray) got = NULL;

  g_assert_no_error (error);
  g_assert_true (vn_model_validate (prepared, VN_VALIDATE_SIZES, NULL, &error));
  twice = vn_prepare_model_with (prepared, &options, again, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (vn_edit_log_get_n (again), ==, 0);
  g_test_message ("%s: %u nodes, optimized %u", test->name, count_nodes (model), count_nodes (prepared));
  if (must_shrink)
    g_assert_cmpuint (count_nodes (prepared), <, count_nodes (model));
  got = run_model (prepared);
  if (expected != NULL)
    {
      g_assert_nonnull (got);
      compare_outputs (expected, got, g_str_equal (test->name, "half") ? HALF_STEP
                       : g_str_equal (test->name, "bfloat") ? BFLOAT_STEP : 1e-5, test->name);
    }
}

static void
test_optimized (void)
{
  for (guint m = 0; m < n_test_models; m++)
    check_optimized (&test_models[m], FALSE);
  for (guint m = 0; m < n_test_models_more; m++)
    check_optimized (&test_models_more[m], TRUE);
}

static void
add_golden (const TestModel *models,
            guint            n)
{
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("/rewrite/golden/%s", models[i].name);

      g_test_add_data_func (name, &models[i], test_golden);
    }
}

static void
test_original_untouched (void)
{
  for (guint m = 0; m < n_test_models; m++)
    {
      g_autoptr(VnModel) model = test_models[m].build ();
      g_autoptr(GBytes) before = vn_onnx_write_bytes (model, NULL);
      g_autoptr(VnModel) prepared = vn_prepare_model (model, TARGET, NULL, NULL, NULL, NULL, NULL);
      g_autoptr(GBytes) after = vn_onnx_write_bytes (model, NULL);

      g_assert_nonnull (prepared);
      g_assert_true (g_bytes_equal (before, after));
    }
}

static void
test_refusals (void)
{
  static const struct {
    const char *op_type;
    gint64      from, to;
    VnError     code;
    const char *words;
  } cases[] = {
    { "GlobalLpPool", 1, 13, VN_ERROR_UNSUPPORTED, "integer" },
    { "Relu", 13, 99, VN_ERROR_SETTING,     "99"  },
    { "Relu",  0, 13, VN_ERROR_UNSUPPORTED, "opset" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnModel) model = vn_model_new (8, cases[i].from);
      VnValue *x = vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, NULL);
      VnValue *y = vn_graph_add_value (model->graph, "y", VN_DTYPE_F32, NULL);
      g_autoptr(GError) error = NULL;

      vn_node_set_float (vn_graph_add_node (model->graph, "odd", "", cases[i].op_type, &x, 1, &y, 1), "p", 2.5f);
      vn_graph_set_output (model->graph, 0, y);
      g_assert_null (vn_prepare_model (model, cases[i].to, NULL, NULL, NULL, NULL, &error));
      g_test_message ("%s %d: %s", cases[i].op_type, (int) cases[i].from, error->message);
      g_assert_error (error, VN_ERROR, (gint) cases[i].code);
      g_assert_nonnull (g_strstr_len (error->message, -1, cases[i].words));
      g_assert_true (g_str_has_prefix (error->message, "opset: "));
    }
}

static void
test_cancel (void)
{
  g_autoptr(VnModel) model = test_models[0].build ();
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GError) error = NULL;

  g_cancellable_cancel (cancellable);
  g_assert_null (vn_prepare_model (model, TARGET, NULL, NULL, NULL, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  generate = argc > 1 && g_str_equal (argv[1], "--generate");
  add_golden (test_models, n_test_models);
  add_golden (test_models_more, n_test_models_more);
  g_test_add_func ("/rewrite/properties", test_properties);
  g_test_add_func ("/rewrite/optimized", test_optimized);
  g_test_add_func ("/rewrite/original-untouched", test_original_untouched);
  g_test_add_func ("/rewrite/refusals", test_refusals);
  g_test_add_func ("/rewrite/cancel", test_cancel);
  return g_test_run ();
}
