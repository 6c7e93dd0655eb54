/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs folders of ONNX backend cases: model.onnx with test_data_set_N/input_K.pb and output_K.pb.
 *
 * One line per failing case, then "N passed, N failed". Exit 0 if all passed, 1 if not or if nothing was compared,
 * 2 for bad usage, 77 if none of the folders exists. */
#include "vn-error.h"
#include "vn-onnx.h"
#include "vn-plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* What the ONNX backend tests allow. */
#define RTOL 1e-3
#define ATOL 1e-7

typedef enum { PASSED, FAILED, UNSUPPORTED } Outcome;

typedef struct
{
  GHashTable *operators;       /* of --list: operator names */
  GPtrArray  *globs;           /* of --list: GPatternSpec for case names */
  GHashTable *expected;        /* case -> reason why it fails */
  gboolean    skip_unsupported, verbose;
  int         min_passed;
  guint       n_passed, n_failed, n_unsupported, n_expected, n_compared;
} Suite;

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
  self->model = model;
  self->tensors = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, (GDestroyNotify) vn_tensor_unref);
  self->shapes = g_hash_table_new (g_str_hash, g_str_equal);
  self->expected = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_tensor_unref);

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
  return fabs (found - wanted) <= ATOL + RTOL * fabs (wanted);
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
  if (vn_dtype_is_float (wanted->dtype))
    return number_matches (vn_tensor_get_double (found, i), vn_tensor_get_double (wanted, i));
  return vn_tensor_get_double (found, i) == vn_tensor_get_double (wanted, i);
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
run_data_set (Suite       *suite,
              VnModel     *model,
              const char  *folder)
{
  g_autoptr(GError) error = NULL;
  DataSet data = { 0 };
  char *problem = NULL;

  if (!data_set_read (&data, model, folder, &error))
    problem = g_strdup (error->message);
  else if (data.expected->len == 0)
    problem = g_strdup ("no output_0.pb");
  for (int fusion = 0; fusion < 2 && problem == NULL; fusion++)
    problem = run_planned (suite, &data, fusion == 0);
  data_set_clear (&data);
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

      if (!g_file_test (path, G_FILE_TEST_IS_DIR))
        break;
      problem = run_data_set (suite, model, path);
    }
  return n == 0 ? g_strdup ("no test_data_set_0") : problem;
}

/* ---- what can be run at all ---- */

static char *
node_lacks (const VnNode *node)
{
  const VnOp *op = vn_op_lookup_node (node, NULL);
  const VnValue *data = vn_node_get_input (node, 0);
  VnDType dtype;

  if (op == NULL)
    return g_strdup_printf ("no kernel for %s of opset %" G_GINT64_FORMAT, node->op_type,
                            vn_model_get_opset (node->graph->model, node->domain));
  if (data == NULL)
    return NULL;
  dtype = data->initializer != NULL ? data->initializer->dtype : data->type.dtype;
  if (!vn_op_takes (op, dtype))
    return g_strdup_printf ("%s does not take %s", node->op_type, vn_dtype_get_name (dtype));
  return NULL;
}

static char *
graph_lacks (const VnGraph *graph)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);
      char *text = node_lacks (node);

      for (guint a = 0; a < node->attrs->len && text == NULL; a++)
        {
          const VnAttr *attr = g_ptr_array_index (node->attrs, a);

          text = attr->graph != NULL ? graph_lacks (attr->graph) : NULL;
        }
      if (text != NULL)
        return text;
    }
  return NULL;
}

static char *
model_lacks (const VnModel *model)
{
  for (guint i = 0; i < model->graph->inputs->len; i++)
    {
      const VnValue *value = g_ptr_array_index (model->graph->inputs, i);

      if (value->type.kind != VN_TYPE_TENSOR && value->type.kind != VN_TYPE_SEQUENCE && value->type.kind != VN_TYPE_OPTIONAL)
        return g_strdup_printf ("input “%s” is no tensor", value->name);
    }
  return graph_lacks (model->graph);
}

static gboolean
is_listed (const Suite   *suite,
           const VnModel *model,
           const char    *name)
{
  if (suite->operators == NULL)
    return TRUE;
  for (guint i = 0; i < suite->globs->len; i++)
    if (g_pattern_spec_match_string (g_ptr_array_index (suite->globs, i), name))
      return TRUE;
  for (guint i = 0; model != NULL && i < model->graph->nodes->len; i++)
    if (g_hash_table_contains (suite->operators, ((const VnNode *) g_ptr_array_index (model->graph->nodes, i))->op_type))
      return TRUE;
  return FALSE;
}

static Outcome
run_case (Suite        *suite,
          VnModel      *model,
          const GError *read_error,
          const char   *folder,
          char        **text)
{
  if (model == NULL)
    {
      *text = g_strdup (read_error->message);
      return FAILED;
    }
  *text = model_lacks (model);
  if (*text != NULL)
    return UNSUPPORTED;
  *text = run_data_sets (suite, model, folder);
  return *text != NULL ? FAILED : PASSED;
}

static void
count (Suite       *suite,
       const char  *name,
       Outcome      outcome,
       const char  *text)
{
  const char *reason = g_hash_table_lookup (suite->expected, name);

  if (outcome == UNSUPPORTED && suite->skip_unsupported)
    {
      suite->n_unsupported++;
      if (suite->verbose)
        printf ("skip %s: %s\n", name, text);
    }
  else if (outcome == PASSED && reason == NULL)
    {
      suite->n_passed++;
      if (suite->verbose)
        printf ("ok %s\n", name);
    }
  else if (outcome != PASSED && reason != NULL)
    {
      suite->n_expected++;
      if (suite->verbose)
        printf ("xfail %s (%s): %s\n", name, reason, text);
    }
  else
    {
      suite->n_failed++;
      printf ("FAIL %s: %s\n", name, outcome == PASSED ? "passes, but is listed as an expected failure" : text);
    }
  fflush (stdout);
}

static void
visit (Suite      *suite,
       const char *folder)
{
  g_autofree char *name = g_path_get_basename (folder);
  g_autofree char *path = g_build_filename (folder, "model.onnx", NULL);
  g_autofree char *text = NULL;
  g_autoptr(GError) error = NULL;
  g_autoptr(VnModel) model = vn_onnx_read_file (path, &error);
  Outcome outcome;

  if (!is_listed (suite, model, name))
    return;
  outcome = run_case (suite, model, error, folder, &text);
  count (suite, name, outcome, text);
}

/* ---- folders and options ---- */

static gint
compare_names (gconstpointer a,
               gconstpointer b)
{
  return strcmp (*(char * const *) a, *(char * const *) b);
}

static gboolean
has_model (const char *folder)
{
  g_autofree char *path = g_build_filename (folder, "model.onnx", NULL);

  return g_file_test (path, G_FILE_TEST_EXISTS);
}

static gboolean
visit_all (Suite      *suite,
           const char *folder)
{
  g_autoptr(GPtrArray) cases = g_ptr_array_new_with_free_func (g_free);
  g_autoptr(GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  if (dir == NULL)
    return FALSE;
  if (has_model (folder))
    g_ptr_array_add (cases, g_strdup (folder));
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      if (has_model (path))
        g_ptr_array_add (cases, g_steal_pointer (&path));
    }
  g_ptr_array_sort (cases, compare_names);
  for (guint i = 0; i < cases->len; i++)
    visit (suite, g_ptr_array_index (cases, i));
  return TRUE;
}

static char **
read_lines (const char  *path,
            GError     **error)
{
  g_autofree char *text = NULL;
  char **lines;

  if (!g_file_get_contents (path, &text, NULL, error))
    return NULL;
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      char *comment = strchr (lines[i], '#');

      if (comment != NULL)
        *comment = '\0';
      g_strstrip (lines[i]);
    }
  return lines;
}

static gboolean
read_list (Suite       *suite,
           const char  *path,
           GError     **error)
{
  g_auto(GStrv) lines = read_lines (path, error);

  if (lines == NULL)
    return FALSE;
  suite->operators = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  suite->globs = g_ptr_array_new_with_free_func ((GDestroyNotify) g_pattern_spec_free);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      if (*lines[i] == '\0')
        continue;
      g_hash_table_add (suite->operators, g_strdup (lines[i]));
      g_ptr_array_add (suite->globs, g_pattern_spec_new (lines[i]));
    }
  return TRUE;
}

/* Lines "case: reason"; a reason must be there. */
static gboolean
read_expected (Suite       *suite,
               const char  *path,
               GError     **error)
{
  g_auto(GStrv) lines = read_lines (path, error);

  for (guint i = 0; lines != NULL && lines[i] != NULL; i++)
    {
      g_auto(GStrv) parts = g_strsplit (lines[i], ":", 2);

      if (*lines[i] == '\0')
        continue;
      if (parts[1] == NULL || *g_strstrip (parts[1]) == '\0')
        {
          g_set_error (error, VN_ERROR, VN_ERROR_SETTING, "%s:%u: “%s” has no reason", path, i + 1, lines[i]);
          return FALSE;
        }
      g_hash_table_insert (suite->expected, g_strdup (parts[0]), g_strdup (parts[1]));
    }
  return lines != NULL;
}

static int
finish (const Suite *suite)
{
  if (suite->n_unsupported + suite->n_expected > 0)
    printf ("%u not supported, %u expected to fail\n", suite->n_unsupported, suite->n_expected);
  if (suite->n_compared == 0)
    printf ("nothing was compared\n");
  if ((int) suite->n_passed < suite->min_passed)
    printf ("at least %d must pass\n", suite->min_passed);
  printf ("%u passed, %u failed\n", suite->n_passed, suite->n_failed);
  return suite->n_failed > 0 || suite->n_compared == 0 || (int) suite->n_passed < suite->min_passed;
}

int
main (int    argc,
      char **argv)
{
  Suite suite = { 0 };
  g_autofree char *list = NULL;
  g_autofree char *expected = NULL;
  g_autoptr(GError) error = NULL;
  const GOptionEntry entries[] = {
    { "list", 0, 0, G_OPTION_ARG_FILENAME, &list, "Only cases of these operators or names (globs)", "FILE" },
    { "xfail", 0, 0, G_OPTION_ARG_FILENAME, &expected, "Cases that fail for now, each with a reason", "FILE" },
    { "skip-unsupported", 0, 0, G_OPTION_ARG_NONE, &suite.skip_unsupported, "Count missing kernels apart", NULL },
    { "min-passed", 0, 0, G_OPTION_ARG_INT, &suite.min_passed, "Fail if fewer cases pass", "N" },
    { "verbose", 'v', 0, G_OPTION_ARG_NONE, &suite.verbose, "One line for every case", NULL },
    { NULL }
  };
  g_autoptr(GOptionContext) context = g_option_context_new ("DIR...");
  gboolean found = FALSE;
  int code;

  suite.expected = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error) || argc < 2 ||
      (list != NULL && !read_list (&suite, list, &error)) ||
      (expected != NULL && !read_expected (&suite, expected, &error)))
    {
      fprintf (stderr, "%s\n", error != NULL ? error->message : "name a folder of cases");
      return 2;
    }
  for (int i = 1; i < argc; i++)
    found |= visit_all (&suite, argv[i]);
  code = found ? finish (&suite) : 77;
  if (!found)
    printf ("none of the folders exists\n");
  g_hash_table_unref (suite.expected);
  g_clear_pointer (&suite.operators, g_hash_table_unref);
  g_clear_pointer (&suite.globs, g_ptr_array_unref);
  return code;
}
