/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What another recipe would do: the numbers of a whole run with it, without running what it does not change. */
#include "vn-error.h"
#include "vn-jobs.h"
#include "vn-memory.h"
#include "vn-onnx.h"
#include "vn-what-if.h"

#include <math.h>
#include <string.h>

typedef struct
{
  VnModel    *model;
  VnDataSpec *data;
  VnRun      *result;
  VnWhatIf   *what_if;
} Fixture;

static VnRun *
quantize (Fixture        *self,
          const VnRecipe *recipe)
{
  VnQuantizeSettings settings = { .model = self->model, .data = self->data, .recipe = recipe, .n_threads = 2 };
  g_autoptr(VnJob) job = vn_quantize_job_new (&settings);
  g_autoptr(GError) error = NULL;

  vn_job_run (job, NULL, &error);
  g_assert_no_error (error);
  return vn_run_ref (vn_quantize_job_get_result (job));
}

static void
set_up (Fixture       *self,
        gconstpointer  data)
{
  g_autofree char *path = g_build_filename (g_getenv ("VN_DEMO"), "demo.onnx", NULL);
  g_autofree char *folder = g_build_filename (g_getenv ("VN_DEMO"), "samples", NULL);
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
  g_autoptr(GError) error = NULL;

  self->model = vn_onnx_read_file (path, &error);
  g_assert_no_error (error);
  self->data = vn_data_spec_new (folder);
  self->data->max_samples = 12;
  self->result = quantize (self, recipe);
  self->what_if = vn_what_if_new (self->result, G_MAXUINT, 2, NULL, &error);
  g_assert_no_error (error);
}

static void
tear_down (Fixture       *self,
           gconstpointer  data)
{
  vn_what_if_unref (self->what_if);
  vn_run_unref (self->result);
  vn_data_spec_free (self->data);
  vn_model_unref (self->model);
}

/* With a sanitizer some kernels are not compiled for the instruction set of the machine (VN_MULTIVERSION), others choose it
 * themselves: where they stand in for each other, as when values between them are looked at, sums differ in their last bits. */
static void
check_number (double found,
              double expected)
{
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
  if (isfinite (expected))
    g_assert_cmpfloat_with_epsilon (found, expected, 1e-4 * MAX (1, fabs (expected)));
  else
    g_assert_cmpmem (&found, sizeof found, &expected, sizeof expected);
#else
  g_assert_cmpmem (&found, sizeof found, &expected, sizeof expected);
#endif
}

/* @expected: where it was measured on all samples, those held out have figures of their own */
static guint
check_same (VnErrorTable *found,
            VnErrorTable *expected)
{
  gboolean same = vn_error_table_get_n_samples (found) == vn_error_table_get_n_samples (expected);

  g_assert_cmpuint (vn_error_table_get_n_samples (found), <=, vn_error_table_get_n_samples (expected));
  g_assert_cmpuint (vn_error_table_get_n (found), ==, vn_error_table_get_n (expected));
  for (guint i = 0; i < vn_error_table_get_n (found); i++)
    {
      const VnErrorRow *a = vn_error_table_get (found, i), *b = vn_error_table_get (expected, i);

      g_assert_cmpstr (a->value, ==, b->value);
      g_assert_true (a->is_output == b->is_output);
      if (!same)
        {
          check_number (vn_sqnr_bound (a->sqnr_db, a->n_bad), b->held_out_db);
          continue;
        }
      g_assert_cmpuint (a->n, ==, b->n);
      check_number (a->sqnr_db, b->sqnr_db);
      check_number (a->cosine, b->cosine);
      check_number (a->max_error, b->max_error);
    }
  return vn_error_table_get_n (found);
}

/* The result itself: nothing differs, nothing is run. */
static void
test_same (Fixture       *self,
           gconstpointer  data)
{
  VnRecompareCost cost;
  g_autoptr(GError) error = NULL;
  g_autoptr(VnErrorTable) again = vn_what_if_measure (self->what_if, self->result->recipe, &cost, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (check_same (again, self->result->errors), >, 20);
  check_same (vn_what_if_get_base (self->what_if), self->result->errors);
  g_assert_cmpuint (cost.n_changed, ==, 0);
}

/* @setting: (nullable): of the whole recipe; else of the node */
static const struct { const char *node, *setting, *text; gboolean exclude; double least, most; } changes[] = {
  { "/head/Conv", NULL, NULL, FALSE, 0.001, 0.3 },
  { "/head/Conv", NULL, NULL, TRUE, 0.001, 0.3 },
  { "/blocks/3/depthwise/Conv", NULL, NULL, FALSE, 0.3, 0.8 },
  { "/stem/Conv", NULL, NULL, TRUE, 0.8, 1 },
  { NULL, "per-channel", "false", FALSE, 0.8, 1 },
  { NULL, "method", "mse", FALSE, 0.5, 1 },
  { NULL, "opset", "17", FALSE, 0, 0 },
  { NULL, "format", "qoperator", FALSE, 1, 1 },
};

static void
test_change (Fixture       *self,
             gconstpointer  data)
{
  guint i = GPOINTER_TO_UINT (data);
  g_autoptr(VnRecipe) recipe = vn_recipe_copy (self->result->recipe);
  g_autoptr(VnRun) whole = NULL;
  g_autoptr(VnErrorTable) found = NULL;
  g_autoptr(GError) error = NULL;
  VnRecompareCost cost;
  double part;

  if (changes[i].setting != NULL)
    g_assert_true (vn_recipe_set (recipe, changes[i].setting, changes[i].text, NULL));
  else
    {
      VnOverride *rule = vn_recipe_add_exclude (recipe, changes[i].node);

      rule->exclude = changes[i].exclude;
      rule->activation = changes[i].exclude ? VN_DTYPE_UNDEFINED : VN_DTYPE_U16;
    }
  found = vn_what_if_measure (self->what_if, recipe, &cost, NULL, &error);
  g_assert_no_error (error);
  whole = quantize (self, recipe);
  check_same (found, whole->errors);
  part = (double) cost.n_changed / cost.n_rows;
  g_test_message ("%s: %u of %u tensors computed again", changes[i].setting != NULL ? changes[i].setting : changes[i].node,
                  cost.n_changed,
                  cost.n_rows);
  g_assert_true (part >= changes[i].least && part <= changes[i].most);
}

/* Of what samples changed: settings of the run; a change that keeps all of it, and one that asks for more of it. */
static const struct { const char *settings[5]; const char *refused[2]; } repairs[] = {
  { { "rounding=second-order" }, { "rounding-samples", "3" } },
  { { "bias-correction=guarded" }, { "bias-correction", "amd" } },
  { { "balance-channels=folded" }, { "balance-channels", "off" } },
  { { "rounding=second-order", "bias-correction=amd", "balance-channels=restored" }, { "per-channel", "false" } },
};

/* The network of the result has the error it was found to have; with all layers in float nothing of what was
 * rounded and corrected is left. */
static void
test_repaired (Fixture       *self,
               gconstpointer  data)
{
  guint number = GPOINTER_TO_UINT (data);
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
  g_autoptr(VnRecipe) changed = NULL, other = NULL;
  g_autoptr(VnRun) result = NULL;
  g_autoptr(VnWhatIf) what_if = NULL;
  g_autoptr(VnErrorTable) found = NULL;
  g_autoptr(GError) error = NULL;

  for (guint i = 0; repairs[number].settings[i] != NULL; i++)
    {
      g_auto(GStrv) words = g_strsplit (repairs[number].settings[i], "=", 2);

      g_assert_true (vn_recipe_set (recipe, words[0], words[1], NULL));
    }
  result = quantize (self, recipe);
  what_if = vn_what_if_new (result, G_MAXUINT, 2, NULL, &error);
  g_assert_no_error (error);
  check_same (vn_what_if_get_base (what_if), result->errors);

  changed = vn_recipe_copy (recipe);
  vn_recipe_add_exclude (changed, "*");
  found = vn_what_if_measure (what_if, changed, NULL, NULL, &error);
  g_assert_no_error (error);
  g_test_message ("%s: %g -> %g dB", repairs[number].settings[0], vn_error_table_get_outputs_sqnr (result->errors),
                  vn_error_table_get_outputs_sqnr (found));
  g_assert_cmpfloat (vn_error_table_get_outputs_sqnr (found), >, 90);

  other = vn_recipe_copy (recipe);
  g_assert_true (vn_recipe_set (other, repairs[number].refused[0], repairs[number].refused[1], NULL));
  g_assert_null (vn_what_if_expect (what_if, NULL, other, NULL, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
  g_test_message ("%s", error->message);
}

/* Without the repair everything is as if it had never been. */
static void
test_unrounded (Fixture       *self,
                gconstpointer  data)
{
  g_autoptr(VnRecipe) recipe = vn_recipe_copy (self->result->recipe);
  g_autoptr(VnRun) result = NULL;
  g_autoptr(VnWhatIf) what_if = NULL;
  g_autoptr(VnErrorTable) found = NULL;
  g_autoptr(GError) error = NULL;

  g_assert_true (vn_recipe_set (recipe, "rounding", "second-order", NULL));
  g_assert_true (vn_recipe_set (recipe, "bias-correction", "amd", NULL));
  result = quantize (self, recipe);
  g_assert_nonnull (result->rounded);
  g_assert_nonnull (result->corrected);
  g_assert_cmpfloat (vn_error_table_get_outputs_sqnr (result->errors), !=,
                     vn_error_table_get_outputs_sqnr (self->result->errors));
  what_if = vn_what_if_new (result, G_MAXUINT, 2, NULL, &error);
  g_assert_no_error (error);
  found = vn_what_if_measure (what_if, self->result->recipe, NULL, NULL, &error);
  g_assert_no_error (error);
  check_same (found, self->result->errors);
}

/* What is expected from a few samples: figures of what does not change are those of the run, the others are near to a whole
 * run's; the origin that is taken away is one no more. */
static void
test_expected (Fixture       *self,
               gconstpointer  data)
{
  g_autoptr(VnRecipe) recipe = vn_recipe_copy (self->result->recipe);
  g_autoptr(VnWhatIf) what_if = NULL;
  g_autoptr(VnContributions) shares = vn_contributions_new_empty ();
  const VnNode *head = vn_graph_find_node (self->model->graph, "/head/Conv");
  const char *value = vn_run_get_node_plan (self->result, head)->name;
  VnContribution items[] = {
    { .name = g_strdup (value), .node = g_strdup ("/head/Conv"), .value = g_strdup (value),
      .role = VN_TENSOR_ACTIVATION, .share = 0.5, .n_samples = 2 },
    { .name = g_strdup (vn_error_table_get (self->result->errors, 0)->value), .node = g_strdup (""),
      .value = g_strdup (vn_error_table_get (self->result->errors, 0)->value), .role = VN_TENSOR_ACTIVATION, .share = 0.5,
      .n_samples = 2 },
  };
  g_autoptr(VnRun) expected = NULL, whole = NULL;
  g_autoptr(GError) error = NULL;
  VnOverride *rule;
  guint n_same = 0, n_new = 0;

  for (guint i = 0; i < G_N_ELEMENTS (items); i++)
    {
      g_assert_nonnull (vn_quant_plan_find (self->result->plan, items[i].name));
      vn_contributions_add (shares, &items[i]);
    }
  what_if = vn_what_if_new (self->result, 2, 2, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (vn_what_if_get_n_samples (what_if), ==, 2);
  rule = vn_recipe_add_exclude (recipe, "/head/Conv");
  rule->exclude = FALSE;
  rule->activation = VN_DTYPE_U16;
  expected = vn_what_if_expect (what_if, shares, recipe, NULL, &error);
  g_assert_no_error (error);
  whole = quantize (self, recipe);
  g_assert_cmpint (expected->state, ==, VN_RUN_ESTIMATED);
  g_assert_cmpint (whole->state, >=, VN_RUN_MEASURED);
  g_assert_true (vn_recipe_equal (expected->recipe, recipe));
  g_assert_cmpuint (vn_error_table_get_n_samples (expected->errors), ==, vn_error_table_get_n_samples (self->result->errors));
  for (guint i = 0; i < vn_error_table_get_n (whole->errors); i++)
    {
      const VnErrorRow *b = vn_error_table_get (whole->errors, i), *a = vn_error_table_find (expected->errors, b->value);
      const VnErrorRow *before = vn_error_table_find (self->result->errors, b->value);

      g_assert_nonnull (a);
      if (before != NULL && b->sqnr_db == before->sqnr_db)
        g_assert_cmpfloat (a->sqnr_db, ==, b->sqnr_db);
      else
        g_assert_cmpfloat_with_epsilon (a->sqnr_db, b->sqnr_db, 2);
      n_same += before != NULL && b->sqnr_db == before->sqnr_db;
      n_new += before == NULL;      /* in front of the clamp, which a wide type keeps */
    }
  g_assert_cmpuint (n_same, >, 10);
  g_assert_cmpuint (n_same, <, vn_error_table_get_n (whole->errors));
  g_assert_cmpuint (n_new, <=, 1);
  g_assert_cmpint (vn_run_get_node_plan (expected, head)->dtype, ==, VN_DTYPE_U16);
  g_assert_cmpfloat (vn_contributions_get (expected->contributions, 0)->share, <, 0.001);
  g_assert_cmpfloat (vn_contributions_get (expected->contributions, 1)->share, >, 0.999);
  g_assert_cmpfloat (vn_error_table_find (expected->errors, items[1].value)->contribution, >, 0.999);
  g_assert_cmpint (vn_error_table_get_weakest_metric (expected->errors), ==, VN_METRIC_CONTRIBUTION);
  g_assert_cmpint (vn_error_table_get_weakest_metric (whole->errors), ==, VN_METRIC_SQNR);
  g_test_message ("bytes %zu -> %zu, whole run %zu", self->result->quantized_bytes, expected->quantized_bytes,
                  whole->quantized_bytes);
}

/* Boxes in pixels beside scores in one output. */
static VnModel *
make_mixed_model (void)
{
  VnModel *model = vn_model_new (8, 17);
  VnGraph *graph = model->graph;
  VnValue *input = vn_graph_add_input (graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 3, 16, 16));
  VnValue *output = vn_graph_add_value (graph, "y", VN_DTYPE_F32, NULL),
  *conv = vn_graph_add_value (graph, "c", VN_DTYPE_F32, NULL);
  float weights[12 * 3 * 9], factors[12];
  g_autoptr(GRand) random = g_rand_new_with_seed (5);
  g_autoptr(VnTensor) weight = NULL, factor = NULL;
  static const gint64 pads[] = { 1, 1, 1, 1 };
  VnNode *node;

  for (guint i = 0; i < G_N_ELEMENTS (weights); i++)
    weights[i] = (float) g_rand_double_range (random, -0.5, 0.5);
  for (guint i = 0; i < G_N_ELEMENTS (factors); i++)
    factors[i] = i < 4 ? 60 : 0.6f;
  weight = vn_tensor_new_f32 (&VN_SHAPE (12, 3, 3, 3), weights);
  factor = vn_tensor_new_f32 (&VN_SHAPE (1, 12, 1, 1), factors);
  node = vn_graph_add_node (graph, "conv", "", "Conv", (VnValue *[]) { input, vn_graph_add_initializer (graph, "w", weight) }, 2,
                            &conv, 1);
  vn_node_set_ints (node, "pads", pads, G_N_ELEMENTS (pads));
  vn_graph_add_node (graph, "mul", "", "Mul", (VnValue *[]) { conv, vn_graph_add_initializer (graph, "f", factor) }, 2, &output,
                     1);
  vn_graph_set_output (graph, 0, output);
  return model;
}

/* Each part of an output is expected as its own noise changes, and the row says what the worst of them comes to. */
static void
test_parts (void)
{
  Fixture self = { .model = make_mixed_model (), .data = vn_data_spec_new (VN_DATA_RANDOM) };
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu"), wide = NULL;
  g_autoptr(VnContributions) shares = vn_contributions_new_empty ();
  g_autoptr(VnRun) expected = NULL, whole = NULL;
  g_autoptr(GError) error = NULL;
  const VnErrorRow *a, *b, *few;
  double worst = INFINITY;

  self.data->max_samples = 60;
  g_assert_true (vn_recipe_set (recipe, "float-mixed", "false", NULL));
  self.result = quantize (&self, recipe);
  wide = vn_recipe_copy (recipe);
  vn_recipe_add_exclude (wide, "mul")->exclude = FALSE;
  ((VnOverride *) g_ptr_array_index (wide->overrides, 0))->activation = VN_DTYPE_U16;
  self.what_if = vn_what_if_new (self.result, 2, 2, NULL, &error);
  g_assert_no_error (error);
  expected = vn_what_if_expect (self.what_if, shares, wide, NULL, &error);
  g_assert_no_error (error);
  whole = quantize (&self, wide);
  a = vn_error_table_find (expected->errors, "y");
  b = vn_error_table_find (whole->errors, "y");
  few = vn_error_table_find (vn_what_if_get_base (self.what_if), "y");
  g_assert_true (a->parts != NULL && b->parts != NULL && a->parts->len == 2 && b->parts->len == 2);
  for (guint i = 0; i < a->parts->len; i++)
    {
      const VnErrorPart *part = g_ptr_array_index (a->parts, i), *wanted = g_ptr_array_index (b->parts, i);

      g_test_message ("%s: %.2f dB expected, %.2f on all samples", part->slices, part->sqnr_db, wanted->sqnr_db);
      g_assert_cmpstr (part->slices, ==, wanted->slices);
      g_assert_cmpuint (part->n, ==, wanted->n);   /* of all samples, not of the few */
      g_assert_cmpfloat_with_epsilon (part->sqnr_db, wanted->sqnr_db, 2);
      worst = MIN (worst, part->sqnr_db);
    }
  g_assert_cmpuint (few->n, <, b->n);
  g_assert_cmpfloat (a->sqnr_db, ==, worst);
  g_assert_cmpfloat (a->sqnr_db, >, vn_error_table_find (self.result->errors, "y")->sqnr_db + 10);
  tear_down (&self, NULL);
}

/* Where there is no room for what the networks compute the numbers are the same, and nothing is kept. */
static void
test_budget (Fixture       *self,
             gconstpointer  data)
{
  static const gsize budgets[] = { 1, 1 << 20, 0 };

  for (guint i = 0; i < G_N_ELEMENTS (budgets); i++)
    {
      g_autoptr(VnRecipe) recipe = vn_recipe_copy (self->result->recipe);
      g_autoptr(VnErrorTable) wanted = NULL, found = NULL;
      g_autoptr(VnWhatIf) what_if = NULL;
      g_autoptr(GError) error = NULL;

      vn_recipe_add_exclude (recipe, "/blocks/3/depthwise/Conv");
      wanted = vn_what_if_measure (self->what_if, recipe, NULL, NULL, &error);
      g_assert_no_error (error);
      vn_memory_set_budget (budgets[i]);
      what_if = vn_what_if_new (self->result, G_MAXUINT, 2, NULL, &error);
      vn_memory_set_budget (0);
      g_assert_no_error (error);
      g_assert_cmpuint (vn_what_if_get_bytes (what_if), ==, budgets[i] > 0 ? 0 : vn_what_if_get_bytes (self->what_if));
      g_assert_cmpuint (vn_what_if_get_n_samples (what_if), ==, vn_what_if_get_n_samples (self->what_if));
      check_same (vn_what_if_get_base (what_if), self->result->errors);
      found = vn_what_if_measure (what_if, recipe, NULL, NULL, &error);
      g_assert_no_error (error);
      check_same (found, wanted);
    }
}

/* What makes another float network, or takes samples, is refused. */
static void
test_refused (Fixture       *self,
              gconstpointer  data)
{
  static const char * const settings[][2] = { { "rounding", "second-order" }, { "bias-correction", "amd" },
                                              { "passes", "clip-to-relu" } };

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++)
    {
      g_autoptr(VnRecipe) recipe = vn_recipe_copy (self->result->recipe);
      g_autoptr(GError) error = NULL;

      g_assert_true (vn_recipe_set (recipe, settings[i][0], settings[i][1], &error));
      g_assert_null (vn_what_if_measure (self->what_if, recipe, NULL, NULL, &error));
      g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
      g_test_message ("%s", error->message);
    }
}

static void
test_cancelled (Fixture       *self,
                gconstpointer  data)
{
  g_autoptr(VnRecipe) recipe = vn_recipe_copy (self->result->recipe);
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GError) error = NULL;

  vn_recipe_add_exclude (recipe, "/stem/Conv");
  g_cancellable_cancel (cancellable);
  g_assert_null (vn_what_if_measure (self->what_if, recipe, NULL, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add ("/what-if/same", Fixture, NULL, set_up, test_same, tear_down);
  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    {
      g_autofree char *path = g_strdup_printf ("/what-if/change/%u", i);

      g_test_add (path, Fixture, GUINT_TO_POINTER (i), set_up, test_change, tear_down);
    }
  for (guint i = 0; i < G_N_ELEMENTS (repairs); i++)
    {
      g_autofree char *path = g_strdup_printf ("/what-if/repaired/%u", i);

      g_test_add (path, Fixture, GUINT_TO_POINTER (i), set_up, test_repaired, tear_down);
    }
  g_test_add ("/what-if/unrounded", Fixture, NULL, set_up, test_unrounded, tear_down);
  g_test_add ("/what-if/budget", Fixture, NULL, set_up, test_budget, tear_down);
  g_test_add ("/what-if/expected", Fixture, NULL, set_up, test_expected, tear_down);
  g_test_add_func ("/what-if/parts", test_parts);
  g_test_add ("/what-if/refused", Fixture, NULL, set_up, test_refused, tear_down);
  g_test_add ("/what-if/cancelled", Fixture, NULL, set_up, test_cancelled, tear_down);
  return g_test_run ();
}
