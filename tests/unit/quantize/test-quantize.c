/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Small networks -> plan and written graph, as text, against golden/<case>.txt.
 * test-quantize --generate [CASE...] writes those files: read the difference before committing it. */

#include "quantize-cases.h"

#include "vn-error.h"
#include "vn-validate.h"

#include <string.h>

/* ---- text ---- */

static void
append_tensor (GString        *text,
               const VnTensor *tensor)
{
  for (gsize i = 0; i < MIN (tensor->n_elements, 4); i++)
    g_string_append_printf (text, "%s%.7g", i > 0 ? "," : "", vn_tensor_get_double (tensor, i));
  if (tensor->n_elements > 4)
    g_string_append (text, ",...");
}

static void
append_row (GString            *text,
            const VnTensorPlan *row)
{
  static const char * const roles[] = { "activation", "weight", "bias" };

  g_string_append_printf (text, "%s: %s", row->name, roles[row->role]);
  if (row->quantized)
    {
      g_string_append_printf (text, " %s", vn_dtype_get_name (row->dtype));
      if (row->axis >= 0)
        g_string_append_printf (text, " axis %d", row->axis);
      g_string_append (text, " scale ");
      append_tensor (text, row->scale);
      g_string_append (text, " zero ");
      append_tensor (text, row->zero_point);
      g_string_append_printf (text, " from %.7g..%.7g", row->min, row->max);
    }
  else
    {
      g_string_append (text, " float");
    }
  g_string_append_printf (text, " (%s)\n", row->rule);
}

static void
append_values (GString         *text,
               const GPtrArray *values)
{
  for (guint i = 0; i < values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (values, i);

      g_string_append_printf (text, "%s%s", i > 0 ? " " : "", value != NULL ? value->name : "-");
    }
}

static void
append_model (GString       *text,
              const VnModel *model)
{
  const VnGraph *graph = model->graph;

  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);

      g_string_append_printf (text, "%s%s%s %s: ", node->domain, *node->domain != '\0' ? "." : "", node->op_type, node->name);
      append_values (text, node->inputs);
      g_string_append (text, " -> ");
      append_values (text, node->outputs);
      if (vn_node_get_attr (node, "axis") != NULL)
        g_string_append_printf (text, " axis=%d", (int) vn_node_get_int (node, "axis", 0));
      if (vn_node_get_attr (node, "beta") != NULL)
        g_string_append_printf (text, " beta=%g", vn_node_get_float (node, "beta", 0));
      g_string_append_c (text, '\n');
    }
  for (guint i = 0; i < graph->initializers->len; i++)
    {
      const VnValue *value = g_ptr_array_index (graph->initializers, i);
      g_autofree char *type = vn_type_to_string (&value->type);

      g_string_append_printf (text, "initializer %s %s = ", value->name, type);
      append_tensor (text, value->initializer);
      g_string_append_c (text, '\n');
    }
  g_string_append (text, "outputs ");
  append_values (text, graph->outputs);
  g_string_append_printf (text, "\nopset %d, com.microsoft %d, IR %d\n", (int) vn_model_get_opset (model, ""),
                          (int) vn_model_get_opset (model, "com.microsoft"), (int) model->ir_version);
}

static void
append_names (GString    *text,
              GHashTable *names)
{
  g_autoptr(GList) keys = g_list_sort (g_hash_table_get_keys (names), (GCompareFunc) strcmp);

  for (GList *l = keys; l != NULL; l = l->next)
    {
      const char *to = g_hash_table_lookup (names, l->data);

      if (!g_str_equal (l->data, to))
        g_string_append_printf (text, "name %s -> %s\n", (const char *) l->data, to);
    }
}

static char *
run_case (const QuantizeCase *what)
{
  g_autoptr(Fixture) f = fixture_new (what->opset);
  g_autoptr(VnRecipe) recipe = vn_recipe_new (what->preset);
  g_autoptr(VnNotes) notes = vn_notes_new ();
  g_autoptr(GString) text = g_string_new (NULL);
  g_autoptr(GHashTable) names = NULL;
  g_autoptr(VnQuantPlan) plan = NULL;
  g_autoptr(VnModel) model = NULL;
  g_autoptr(GError) error = NULL;

  recipe->per_channel = FALSE;   /* unless the case says so */
  what->build (f);
  if (what->adjust != NULL)
    what->adjust (recipe);
  fixture_complete (f);

  plan = fixture_resolve (f, recipe, notes, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < vn_quant_plan_get_n (plan); i++)
    append_row (text, vn_quant_plan_get (plan, i));
  for (guint i = 0; i < vn_notes_get_n (notes); i++)
    g_string_append_printf (text, "note %s: %s\n", vn_notes_get (notes, i)->code, vn_notes_get (notes, i)->text);

  g_string_append_c (text, '\n');
  model = vn_quantize_write (f->model, recipe, plan, &names, &error);
  g_assert_no_error (error);
  vn_model_validate (model, VN_VALIDATE_SIZES, NULL, &error);
  g_assert_no_error (error);
  append_model (text, model);
  append_names (text, names);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* ---- tests ---- */

static void
test_golden (gconstpointer data)
{
  const QuantizeCase *what = data;
  g_autofree char *file = g_strconcat (what->id, ".txt", NULL);
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "golden", file, NULL);
  g_autofree char *text = run_case (what), *expected = NULL;
  g_autoptr(GError) error = NULL;

  g_file_get_contents (path, &expected, NULL, &error);
  g_assert_no_error (error);
  if (!g_str_equal (text, expected))
    g_test_message ("got:\n%s\nexpected:\n%s", text, expected);
  g_assert_cmpstr (text, ==, expected);
}

/* Names, roles and weights of the prepared model are not touched. */
static void
test_input_unchanged (void)
{
  g_autoptr(Fixture) f = fixture_new (13);
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
  g_autoptr(GString) before = g_string_new (NULL), after = g_string_new (NULL);
  g_autoptr(VnQuantPlan) plan = NULL;
  g_autoptr(VnModel) model = NULL;
  g_autoptr(GError) error = NULL;

  build_shared_weights (f);
  fixture_complete (f);
  append_model (before, f->model);
  plan = fixture_resolve (f, recipe, NULL, &error);
  g_assert_no_error (error);
  model = vn_quantize_write (f->model, recipe, plan, NULL, &error);
  g_assert_no_error (error);
  append_model (after, f->model);
  g_assert_cmpstr (before->str, ==, after->str);
  g_assert_cmpstr (vn_model_get_metadata (model, "vernier.preset"), ==, "cpu");
  g_assert_cmpstr (vn_model_get_metadata (model, "vernier.format"), ==, "qdq");
  g_assert_cmpstr (model->producer_name, ==, "Vernier");
}

static void
test_errors (void)
{
  g_autoptr(Fixture) f = fixture_new (12);
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
  g_autoptr(GError) error = NULL;
  g_autoptr(VnNotes) notes = vn_notes_new ();
  g_autoptr(VnQuantPlan) plan = NULL;

  build_conv_relu (f);
  fixture_complete (f);

  recipe->per_channel = FALSE;
  fixture_observe (f, "y", (float[]) { 0, NAN }, 2);
  g_assert_null (fixture_resolve (f, recipe, NULL, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_NUMERIC);
  g_assert_nonnull (strstr (error->message, "y"));
  g_clear_error (&error);
  fixture_range (f, "y", 0, 2);

  g_hash_table_remove (f->histograms, "x");
  g_assert_null (fixture_resolve (f, recipe, NULL, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_MISSING_DATA);
  g_clear_error (&error);

  fixture_observe (f, "x", (float[]) { 0, INFINITY, 3 }, 3);
  plan = fixture_resolve (f, recipe, notes, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (vn_notes_get_n (notes), ==, 1);
  g_assert_cmpstr (vn_notes_get (notes, 0)->code, ==, "mask-stays-float");
  g_assert_false (vn_quant_plan_find (plan, "x")->quantized);

  recipe->per_channel = TRUE;
  g_assert_null (fixture_resolve (f, recipe, NULL, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED);
  g_clear_error (&error);

  recipe->per_channel = FALSE;
  recipe->format = VN_N_FORMATS;
  g_assert_null (vn_quantize_write (f->model, recipe, plan, NULL, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
  g_clear_error (&error);

  ((float *) vn_graph_find_value (f->model->graph, "conv.w")->initializer->data)[0] = NAN;
  recipe->format = VN_FORMAT_QDQ;
  g_assert_null (fixture_resolve (f, recipe, NULL, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_NUMERIC);
  g_assert_nonnull (strstr (error->message, "conv.w"));
}

/* Where scales per channel cannot be had, weights have one scale and a note says why; where they can, there is no note. */
static void
test_one_scale (void)
{
  static const struct { const char *preset, *settings[6]; gboolean one; } kinds[] = {
    { "cpu",       { NULL }, FALSE },
    { "cpu",       { "format", "fixneuron", "activation", "int8" }, TRUE },
    { "fixneuron", { "per-channel", "true" }, TRUE },
    { "npu-cnn",   { "per-channel", "true" }, TRUE },
    { "cpu",       { "opset", "12" }, TRUE },
    { "cpu",       { "opset", "13" }, FALSE },
    { "cpu",       { "opset", "12", "per-channel", "false" }, FALSE },
    { "a16w8",     { NULL }, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autoptr(Fixture) f = fixture_new (13);
      g_autoptr(VnRecipe) recipe = vn_recipe_new (kinds[i].preset);
      g_autoptr(VnNotes) notes = vn_notes_new ();
      g_autoptr(VnQuantPlan) plan = NULL;
      g_autoptr(GError) error = NULL;
      guint said = 0;

      for (guint k = 0; k < G_N_ELEMENTS (kinds[i].settings) && kinds[i].settings[k] != NULL; k += 2)
        g_assert_true (vn_recipe_set (recipe, kinds[i].settings[k], kinds[i].settings[k + 1], NULL));
      build_conv_relu (f);
      fixture_complete (f);
      plan = fixture_resolve (f, recipe, notes, &error);
      g_assert_no_error (error);
      for (guint k = 0; k < vn_notes_get_n (notes); k++)
        said += g_str_equal (vn_notes_get (notes, k)->code, "one-scale");
      g_assert_cmpuint (said, ==, kinds[i].one);
      g_assert_cmpint (vn_quant_plan_find (plan, "conv.w")->axis >= 0, ==, recipe->per_channel && !kinds[i].one);
    }
}

/* Floats of 8 bit have a scale, and no zero point but 0. */
static void
test_float8_rule (void)
{
  for (guint i = 0; i < 3; i++)
    {
      static const char * const zero_points[] = { "0", "3", "-1" };
      g_autofree char *text =
        g_strdup_printf ("{\"vernier-recipe\": 1, \"format\": \"extended\", \"activation\": \"float8e4m3fn\","
                         " \"rules\": [{\"tensors\": [\"x\"], \"scale\": [\"0.5\"], \"zero-point\": "
                         "[\"%s\"]}]}",
                                               zero_points[i]);
      g_autoptr(Fixture) f = fixture_new (21);
      g_autoptr(GError) error = NULL;
      g_autoptr(VnRecipe) recipe = vn_recipe_from_json (text, "recipe", &error);
      g_autoptr(VnQuantPlan) plan = NULL;

      g_assert_no_error (error);
      build_conv_relu (f);
      fixture_complete (f);
      plan = fixture_resolve (f, recipe, NULL, &error);
      if (i > 0)
        {
          g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
          continue;
        }
      g_assert_no_error (error);
      g_assert_cmpfloat (((const float *) vn_quant_plan_find (plan, "x")->scale->data)[0], ==, 0.5f);
    }
}

static void
test_nodes (void)
{
  g_autoptr(Fixture) f = fixture_new (13);
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
  g_autoptr(VnQuantPlan) plan = NULL;
  g_autoptr(GError) error = NULL;

  build_two_convs (f);
  fixture_complete (f);
  recipe_exclude_first (recipe);
  plan = fixture_resolve (f, recipe, NULL, &error);
  g_assert_no_error (error);
  g_assert_false (vn_quant_plan_is_node_quantized (plan, "first"));
  g_assert_true (vn_quant_plan_is_node_quantized (plan, "second"));
  g_assert_false (vn_quant_plan_is_node_quantized (plan, "relu"));
  g_assert_false (vn_quant_plan_is_node_quantized (plan, "sub"));
}

static void
test_list (void)
{
  g_autoptr(Fixture) f = fixture_new (13);
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
  g_autoptr(GPtrArray) values = NULL;
  g_autoptr(GString) text = g_string_new (NULL);

  build_two_convs (f);
  fixture_complete (f);
  recipe_exclude_first (recipe);
  values = vn_quantize_list_values (f->model, recipe);
  append_values (text, values);
  g_assert_cmpstr (text->str, ==, "x c r d y");
}

static gboolean
generate (const char *id)
{
  guint n;
  const QuantizeCase *cases = quantize_cases_list (&n);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *file = g_strconcat (cases[i].id, ".txt", NULL);
      g_autofree char *path = g_test_build_filename (G_TEST_DIST, "golden", file, NULL);
      g_autofree char *text = NULL;

      if (id != NULL && !g_str_equal (id, cases[i].id))
        continue;
      text = run_case (&cases[i]);
      if (!g_file_set_contents (path, text, -1, NULL))
        return FALSE;
    }
  return TRUE;
}

int
main (int   argc,
      char *argv[])
{
  gboolean generating = argc > 1 && g_str_equal (argv[1], "--generate");
  const char *only = argc > 2 ? argv[2] : NULL;
  const QuantizeCase *cases;
  guint n;

  g_test_init (&argc, &argv, NULL);
  if (generating)
    return generate (only) ? 0 : 1;

  cases = quantize_cases_list (&n);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *path = g_strconcat ("/quantize/golden/", cases[i].id, NULL);

      g_test_add_data_func (path, &cases[i], test_golden);
    }
  g_test_add_func ("/quantize/input-unchanged", test_input_unchanged);
  g_test_add_func ("/quantize/errors", test_errors);
  g_test_add_func ("/quantize/one-scale", test_one_scale);
  g_test_add_func ("/quantize/float8-rule", test_float8_rule);
  g_test_add_func ("/quantize/nodes", test_nodes);
  g_test_add_func ("/quantize/list-values", test_list);
  return g_test_run ();
}
