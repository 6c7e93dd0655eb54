/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs folders of ONNX backend cases: model.onnx with test_data_set_N/input_K.pb and output_K.pb, or light_NAME.onnx with
 * light_NAME_output_K.pb, whose inputs rise evenly from 0 to 1.
 *
 * A case without kernel fails like any other. What may fail stands in a list, case by case with its reason; a listed case
 * that passes or does not exist is a failure, and so is one that the reference passes, listed or not. Releases of the cases
 * differ: an entry may be for some of them only, and of a release that the list does not name, listed cases may pass.
 *
 * One line per failing case, then "N passed, N failed". Exit 0 if all passed, 1 if not or if nothing was compared,
 * 2 for bad usage, 77 if none of the folders exists. */
#include "onnx-backend-lists.h"

#include "vn-error.h"
#include "vn-onnx.h"
#include "vn-plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* What the ONNX backend tests allow, and what they allow the one network that needs more. */
#define RTOL 1e-3
#define ATOL 1e-7
#define RTOL_DENSENET 2e-3

/* With --by-type: what the digits of each type let one expect. */
static const struct { double relative, absolute; } type_tolerance[VN_N_DTYPES] = {
  [VN_DTYPE_F16] = { 4e-3, 1e-3 }, [VN_DTYPE_BF16] = { 3e-2, 1e-2 }, [VN_DTYPE_F32] = { 1e-4, 1e-6 },
  [VN_DTYPE_F64] = { 1e-10, 1e-12 }, [VN_DTYPE_C64] = { 1e-4, 1e-6 }, [VN_DTYPE_C128] = { 1e-10, 1e-12 },
};
static gboolean by_type;

typedef struct
{
  Lists    lists;
  gboolean verbose;
  guint    n_passed, n_failed, n_expected, n_compared;
} Suite;

static double rtol = RTOL;     /* of the case that is run; by type: of the output that is compared */
static double atol_now = ATOL;

/* ---- one data set ---- */

typedef struct
{
  VnModel    *model;
  GHashTable *tensors;         /* input name -> VnTensor */
  GHashTable *shapes;          /* input name -> VnShape, inside the tensors */
  GPtrArray  *expected;        /* of VnTensor */
} DataSet;

static void
data_set_clear (DataSet *self)
{
  g_clear_pointer (&self->tensors, g_hash_table_unref);
  g_clear_pointer (&self->shapes, g_hash_table_unref);
  g_clear_pointer (&self->expected, g_ptr_array_unref);
}

static void
data_set_init (DataSet *self,
               VnModel *model)
{
  self->model = model;
  self->tensors = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, (GDestroyNotify) vn_tensor_unref);
  self->shapes = g_hash_table_new (g_str_hash, g_str_equal);
  self->expected = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_tensor_unref);
}

/* Test data of old releases hold bfloat16 as the uint16 of the same bits. */
static void
read_as_bfloat (VnTensor *tensor,
                VnDType   dtype)
{
  if (dtype == VN_DTYPE_BF16 && tensor->dtype == VN_DTYPE_U16)
    tensor->dtype = VN_DTYPE_BF16;
}

static gboolean
add_input (DataSet   *self,
           VnTensor  *tensor,
           char      *name,
           guint      k,
           GError   **error)
{
  VnGraph *graph = self->model->graph;
  const VnValue *value = name != NULL ? vn_graph_find_value (graph, name) : NULL;

  if ((value == NULL || !value->is_input) && k < graph->inputs->len)
    value = g_ptr_array_index (graph->inputs, k);
  if (value == NULL || !value->is_input)
    {
      vn_tensor_unref (tensor);
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, "input_%u.pb is for no input of the model", k);
      return FALSE;
    }
  read_as_bfloat (tensor, value->type.dtype);
  g_hash_table_insert (self->tensors, value->name, tensor);
  if (!vn_tensor_is_container (tensor))
    g_hash_table_insert (self->shapes, value->name, &tensor->shape);
  return TRUE;
}

static const VnType *
declared_type (GPtrArray *values,
               guint      k)
{
  static const VnType tensor = { .kind = VN_TYPE_TENSOR };

  return k < values->len ? &((const VnValue *) g_ptr_array_index (values, k))->type : &tensor;
}

static gboolean
data_set_read (DataSet     *self,
               VnModel     *model,
               const char  *folder,
               GError     **error)
{
  data_set_init (self, model);
  for (guint k = 0;; k++)
    {
      g_autofree char *path = g_strdup_printf ("%s/input_%u.pb", folder, k);
      g_autofree char *name = NULL;
      VnTensor *tensor;

      if (!g_file_test (path, G_FILE_TEST_EXISTS))
        break;
      tensor = vn_onnx_value_read_file (path, declared_type (model->graph->inputs, k), &name, error);
      if (tensor == NULL || !add_input (self, tensor, name, k, error))
        return FALSE;
    }
  for (guint k = 0;; k++)
    {
      g_autofree char *path = g_strdup_printf ("%s/output_%u.pb", folder, k);
      VnTensor *tensor;

      if (!g_file_test (path, G_FILE_TEST_EXISTS))
        return TRUE;
      tensor = vn_onnx_value_read_file (path, declared_type (model->graph->outputs, k), NULL, error);
      if (tensor == NULL)
        return FALSE;
      if (k < model->graph->outputs->len)
        read_as_bfloat (tensor, ((const VnValue *) g_ptr_array_index (model->graph->outputs, k))->type.dtype);
      g_ptr_array_add (self->expected, tensor);
    }
}

/* ---- comparing ---- */

static gboolean
number_matches (double found,
                double wanted)
{
  if (isnan (wanted) || isnan (found))
    return isnan (wanted) && isnan (found);
  if (isinf (wanted) || isinf (found))
    return found == wanted;
  return fabs (found - wanted) <= atol_now + rtol * fabs (wanted);
}

static gboolean
parts_match (const VnTensor *found,
             const VnTensor *wanted,
             gsize           i)
{
  gboolean wide = wanted->dtype == VN_DTYPE_C128;

  for (gsize part = 2 * i; part < 2 * i + 2; part++)
    if (!number_matches (wide ? ((double *) found->data)[part] : ((float *) found->data)[part],
                         wide ? ((double *) wanted->data)[part] : ((float *) wanted->data)[part]))
      return FALSE;
  return TRUE;
}

/* Floats that are too small to be near each other without being the same. */
static gboolean
bits_match (const VnTensor *found,
            const VnTensor *wanted,
            gsize           i)
{
  guint bits = vn_dtype_get_bits (wanted->dtype), shift = (guint) (i * bits % 8), mask = (1u << bits) - 1;
  gsize at = i * bits / 8;
  guint a = ((guint8 *) found->data)[at] >> shift & mask, b = ((guint8 *) wanted->data)[at] >> shift & mask;

  /* Of NaN there are several in this one. */
  return a == b || (wanted->dtype == VN_DTYPE_F8E5M2 && (a & 0x7f) > 0x7c && (b & 0x7f) > 0x7c);
}

static gboolean
element_matches (const VnTensor *found,
                 const VnTensor *wanted,
                 gsize           i)
{
  if (wanted->dtype == VN_DTYPE_STRING)
    return g_str_equal (((char **) found->data)[i], ((char **) wanted->data)[i]);
  if (wanted->dtype == VN_DTYPE_S64 || wanted->dtype == VN_DTYPE_U64)
    return vn_tensor_get_s64 (found, i) == vn_tensor_get_s64 (wanted, i);
  if (wanted->dtype == VN_DTYPE_C64 || wanted->dtype == VN_DTYPE_C128)
    return parts_match (found, wanted, i);
  if (vn_dtype_is_float (wanted->dtype) && vn_dtype_get_bits (wanted->dtype) <= 8)
    return bits_match (found, wanted, i);
  if (vn_dtype_is_float (wanted->dtype))
    return number_matches (vn_tensor_get_double (found, i), vn_tensor_get_double (wanted, i));
  return vn_tensor_get_double (found, i) == vn_tensor_get_double (wanted, i);
}

/* Sums of large and small numbers are as exact as the large ones. */
static void
set_tolerance (const VnTensor *wanted)
{
  double largest = 1;

  for (gsize i = 0; i < wanted->n_elements; i++)
    if (isfinite (vn_tensor_get_double (wanted, i)))
      largest = MAX (largest, fabs (vn_tensor_get_double (wanted, i)));
  rtol = type_tolerance[wanted->dtype].relative;
  atol_now = type_tolerance[wanted->dtype].absolute * largest;
}

static char *compare (const VnTensor *found,
                      const VnTensor *wanted);

static char *
compare_items (const VnTensor *found,
               const VnTensor *wanted)
{
  if (found->items->len != wanted->items->len)
    return g_strdup_printf ("holds %u values, not %u", found->items->len, wanted->items->len);
  for (guint i = 0; i < wanted->items->len; i++)
    {
      g_autofree char *difference = compare (g_ptr_array_index (found->items, i), g_ptr_array_index (wanted->items, i));

      if (difference != NULL)
        return g_strdup_printf ("element %u %s", i, difference);
    }
  return NULL;
}

static char *
compare (const VnTensor *found,
         const VnTensor *wanted)
{
  gsize n_wrong = 0, first = 0;

  if (found->kind != wanted->kind)
    return g_strdup_printf ("is of kind %d, not %d", found->kind, wanted->kind);
  if (vn_tensor_is_container (found))
    return compare_items (found, wanted);

  if (found->dtype != wanted->dtype || !vn_shape_equal (&found->shape, &wanted->shape))
    {
      g_autofree char *a = vn_shape_to_string (&found->shape, ",");
      g_autofree char *b = vn_shape_to_string (&wanted->shape, ",");

      return g_strdup_printf ("is %s[%s], not %s[%s]", vn_dtype_get_name (found->dtype), a,
                              vn_dtype_get_name (wanted->dtype), b);
    }
  if (by_type)
    set_tolerance (wanted);
  for (gsize i = 0; i < wanted->n_elements; i++)
    if (!element_matches (found, wanted, i) && n_wrong++ == 0)
      first = i;
  if (n_wrong == 0)
    return NULL;
  if (wanted->dtype == VN_DTYPE_STRING)
    return g_strdup_printf ("%" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT " strings differ", n_wrong, wanted->n_elements);
  return g_strdup_printf ("%" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT " differ, first [%" G_GSIZE_FORMAT "]: %.9g, not %.9g",
                          n_wrong, wanted->n_elements, first, vn_tensor_get_double (found, first),
                          vn_tensor_get_double (wanted, first));
}

/* ---- one case ---- */

static char *
run_once (Suite          *suite,
          const DataSet  *data,
          VnPlan         *plan,
          VnRunner       *runner)
{
  g_autoptr(GError) error = NULL;
  g_autofree VnTensor **inputs = g_new0 (VnTensor *, vn_plan_get_n_inputs (plan) + 1);
  g_autofree VnTensor **outputs = g_new0 (VnTensor *, vn_plan_get_n_outputs (plan) + 1);
  char *problem = NULL;

  for (guint i = 0; i < vn_plan_get_n_inputs (plan); i++)
    inputs[i] = g_hash_table_lookup (data->tensors, vn_plan_get_input (plan, i)->name);
  if (!vn_runner_run (runner, inputs, outputs, NULL, &error))
    return g_strdup (error->message);

  for (guint i = 0; i < data->expected->len; i++)
    {
      g_autofree char *difference = NULL;

      difference = problem == NULL ? compare (outputs[i], g_ptr_array_index (data->expected, i)) : NULL;
      if (difference != NULL)
        problem = g_strdup_printf ("output %u %s", i, difference);
      suite->n_compared++;
    }
  for (guint i = 0; i < vn_plan_get_n_outputs (plan); i++)
    vn_tensor_unref (outputs[i]);
  return problem;
}

/* Fused and not, and a second time with the same runner: all of it must come out right. */
static char *
run_planned (Suite          *suite,
             const DataSet  *data,
             gboolean        no_fusion)
{
  g_autoptr(GError) error = NULL;
  VnPlanOptions options = { .input_shapes = data->shapes, .no_fusion = no_fusion };
  g_autoptr(VnPlan) plan = vn_plan_new (data->model, &options, NULL, &error);
  g_autoptr(VnRunner) runner = plan != NULL ? vn_runner_new (plan, &error) : NULL;
  char *problem;

  if (runner == NULL)
    return g_strdup (error->message);
  if (vn_plan_get_n_outputs (plan) < data->expected->len)
    return g_strdup_printf ("the model has %u outputs, the case %u", vn_plan_get_n_outputs (plan), data->expected->len);
  problem = run_once (suite, data, plan, runner);
  return problem != NULL ? problem : run_once (suite, data, plan, runner);
}

static char *
run_data (Suite         *suite,
          const DataSet *data)
{
  char *problem = NULL;

  if (data->expected->len == 0)
    return g_strdup ("no output_0.pb");
  for (int fusion = 0; fusion < 2 && problem == NULL; fusion++)
    problem = run_planned (suite, data, fusion == 0);
  return problem;
}

static char *
run_data_sets (Suite       *suite,
               VnModel     *model,
               const char  *folder)
{
  char *problem = NULL;
  guint n;

  for (n = 0; problem == NULL; n++)
    {
      g_autofree char *path = g_strdup_printf ("%s/test_data_set_%u", folder, n);
      g_autoptr(GError) error = NULL;
      DataSet data = { 0 };

      if (!g_file_test (path, G_FILE_TEST_IS_DIR))
        break;
      problem = data_set_read (&data, model, path, &error) ? run_data (suite, &data) : g_strdup (error->message);
      data_set_clear (&data);
    }
  return n == 0 ? g_strdup ("no test_data_set_0") : problem;
}

/* ---- light networks: all weights are constants, and the inputs are made here ---- */

static VnTensor *
make_ramp (const VnShape  *declared,
           GError        **error)
{
  VnShape shape = *declared;
  VnTensor *tensor;

  for (int a = 0; a < shape.rank; a++)
    shape.dims[a] = MAX (shape.dims[a], 1);
  tensor = vn_tensor_new (VN_DTYPE_F32, &shape, error);
  for (gsize i = 0; tensor != NULL && i < tensor->n_elements; i++)
    ((float *) tensor->data)[i] = (float) ((double) i / (double) tensor->n_elements);
  return tensor;
}

/* @stem: path of the network without its suffix */
static gboolean
data_set_make (DataSet     *self,
               VnModel     *model,
               const char  *stem,
               GError     **error)
{
  data_set_init (self, model);
  for (guint k = 0; k < model->graph->inputs->len; k++)
    {
      const VnValue *value = g_ptr_array_index (model->graph->inputs, k);
      VnTensor *tensor;

      if (value->initializer != NULL)
        continue;
      tensor = make_ramp (&value->type.shape, error);
      if (tensor == NULL || !add_input (self, tensor, value->name, k, error))
        return FALSE;
    }
  for (guint k = 0; k < model->graph->outputs->len; k++)
    {
      g_autofree char *path = g_strdup_printf ("%s_output_%u.pb", stem, k);
      VnTensor *tensor = vn_onnx_tensor_read_file (path, NULL, error);

      if (tensor == NULL)
        return FALSE;
      g_ptr_array_add (self->expected, tensor);
    }
  return TRUE;
}

static char *
run_light (Suite       *suite,
           VnModel     *model,
           const char  *path)
{
  g_autofree char *stem = g_strndup (path, strlen (path) - strlen (".onnx"));
  g_autoptr(GError) error = NULL;
  DataSet data = { 0 };
  char *problem;

  rtol = g_str_has_suffix (stem, "densenet121") ? RTOL_DENSENET : RTOL;
  problem = data_set_make (&data, model, stem, &error) ? run_data (suite, &data) : g_strdup (error->message);
  data_set_clear (&data);
  rtol = RTOL;
  return problem;
}

/* ---- one case ---- */

/* What is wrong with the case, or NULL. */
static char *
run_case (Suite        *suite,
          VnModel      *model,
          const GError *read_error,
          const char   *path)
{
  char *text;

  if (model == NULL)
    return g_strdup (read_error->message);
  text = lists_model_lacks (model);
  if (text != NULL)
    return text;
  if (g_str_has_suffix (path, ".onnx"))
    return run_light (suite, model, path);
  return run_data_sets (suite, model, path);
}

static void
count (Suite       *suite,
       const char  *name,
       const char  *problem)
{
  Verdict verdict = lists_judge (&suite->lists, name, problem != NULL);
  const char *reason = lists_get_reason (&suite->lists, name);

  suite->n_passed += verdict == PASSES;
  suite->n_expected += verdict == FAILS_AS_LISTED;
  suite->n_failed += verdict > FAILS_AS_LISTED;
  if (verdict == FAILS)
    printf ("FAIL %s: %s\n", name, problem);
  else if (verdict == FAILS_UNLIKE_REFERENCE)
    printf ("FAIL %s: %s (listed, but the reference passes)\n", name, problem);
  else if (verdict == PASSES_THOUGH_LISTED)
    printf ("FAIL %s: passes, but is listed as an expected failure\n", name);
  else if (suite->verbose && verdict == PASSES)
    printf ("ok %s\n", name);
  else if (suite->verbose)
    printf ("xfail %s (%s): %s\n", name, reason, problem);
  fflush (stdout);
}

/* @path: a folder with model.onnx, or light_NAME.onnx */
static void
visit (Suite      *suite,
       const char *path)
{
  gboolean light = g_str_has_suffix (path, ".onnx");
  g_autofree char *file = light ? g_strdup (path) : g_build_filename (path, "model.onnx", NULL);
  g_autofree char *name = g_path_get_basename (path);
  g_autofree char *problem = NULL;
  g_autoptr(GError) error = NULL;
  g_autoptr(VnModel) model = vn_onnx_read_file (file, &error);

  if (light)
    name[strlen (name) - strlen (".onnx")] = '\0';
  if (!lists_select (&suite->lists, model, name))
    return;
  problem = run_case (suite, model, error, path);
  count (suite, name, problem);
}

/* ---- folders and options ---- */

static gint
compare_names (gconstpointer a,
               gconstpointer b)
{
  return strcmp (*(char * const *) a, *(char * const *) b);
}

static gboolean
is_case (const char *path)
{
  g_autofree char *name = g_path_get_basename (path);
  g_autofree char *model = g_build_filename (path, "model.onnx", NULL);

  return (g_str_has_prefix (name, "light_") && g_str_has_suffix (name, ".onnx")) || g_file_test (model, G_FILE_TEST_EXISTS);
}

/* Adds the cases in @folder, by name; FALSE: there is no such folder. */
static gboolean
find_cases (const char *folder,
            GPtrArray  *all)
{
  g_autoptr(GPtrArray) cases = g_ptr_array_new ();
  g_autoptr(GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  if (dir == NULL)
    return FALSE;
  if (is_case (folder))
    g_ptr_array_add (cases, g_strdup (folder));
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      if (is_case (path))
        g_ptr_array_add (cases, g_steal_pointer (&path));
    }
  g_ptr_array_sort (cases, compare_names);
  g_ptr_array_extend_and_steal (all, g_steal_pointer (&cases));
  return TRUE;
}

static gint64
find_newest_opset (GPtrArray *cases)
{
  gint64 newest = 0;

  for (guint i = 0; i < cases->len; i++)
    {
      const char *path = g_ptr_array_index (cases, i);
      g_autofree char *file = g_build_filename (path, "model.onnx", NULL);
      g_autoptr(VnModel) model = vn_onnx_read_file (g_str_has_suffix (path, ".onnx") ? path : file, NULL);

      if (model != NULL)
        newest = MAX (newest, vn_model_get_opset (model, ""));
    }
  return newest;
}

static int
finish (Suite *suite)
{
  suite->n_failed += lists_finish (&suite->lists);
  if (suite->n_compared == 0)
    printf ("nothing was compared\n");
  printf ("%u passed, %u expected to fail, %u failed\n", suite->n_passed, suite->n_expected, suite->n_failed);
  return suite->n_failed > 0 || suite->n_compared == 0;
}

int
main (int    argc,
      char **argv)
{
  Suite suite = { 0 };
  g_autofree char *list = NULL;
  g_autofree char *expected = NULL;
  g_autofree char *reference = NULL;
  g_autoptr(GError) error = NULL;
  const GOptionEntry entries[] = {
    { "list", 0, 0, G_OPTION_ARG_FILENAME, &list, "Only cases of these operators or names (globs)", "FILE" },
    { "xfail", 0, 0, G_OPTION_ARG_FILENAME, &expected, "Cases that fail for now, each with a reason", "FILE" },
    { "reference", 0, 0, G_OPTION_ARG_FILENAME, &reference, "Table of cases and PASS where a reference passes", "FILE" },
    { "by-type", 0, 0, G_OPTION_ARG_NONE, &by_type, "Tolerances of each element type", NULL },
    { "verbose", 'v', 0, G_OPTION_ARG_NONE, &suite.verbose, "One line for every case", NULL },
    { NULL }
  };
  g_autoptr(GOptionContext) context = g_option_context_new ("DIR...");
  g_autoptr(GPtrArray) cases = g_ptr_array_new_with_free_func (g_free);
  gboolean found = FALSE, good;
  int code;

  g_option_context_add_main_entries (context, entries, NULL);
  good = g_option_context_parse (context, &argc, &argv, &error) && argc > 1;
  for (int i = 1; good && i < argc; i++)
    found |= find_cases (argv[i], cases);
  if (!good || !lists_read (&suite.lists, list, expected, find_newest_opset (cases), reference, &error))
    {
      fprintf (stderr, "%s\n", error != NULL ? error->message : "name a folder of cases");
      lists_clear (&suite.lists);
      return 2;
    }
  for (guint i = 0; i < cases->len; i++)
    visit (&suite, g_ptr_array_index (cases, i));
  code = found ? finish (&suite) : 77;
  if (!found)
    printf ("none of the folders exists\n");
  lists_clear (&suite.lists);
  return code;
}
