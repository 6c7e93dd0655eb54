/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers of nodes in files of other programs: each form, what is wrong in it, and which nodes they are about; and that our own
 * node data are read as they were written. */
#include "vn-node-data-write.h"

#include "vn-error.h"
#include "vn-graph-edit.h"
#include "vn-jobs.h"
#include "vn-node-data.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#define N 6

/* Nodes "conv", "relu", "split" with two outputs, one without a name, "a,b" and "Zweig/größe". */
static VnModel *
make_model (void)
{
  VnModel *model = vn_model_new (8, 13);
  VnGraph *graph = model->graph;
  VnValue *x = vn_graph_add_input (graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 4));
  VnValue *values[7];
  static const char * const names[] = { "conv_out", "relu_out", "split_a", "split_b", "plain_out", "ab_out", "last" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    values[i] = vn_graph_add_value (graph, names[i], VN_DTYPE_F32, NULL);
  g_free (graph->name);
  graph->name = g_strdup ("net");
  vn_graph_add_node (graph, "conv", "", "Sigmoid", &x, 1, &values[0], 1);
  vn_graph_add_node (graph, "relu", "", "Relu", &values[0], 1, &values[1], 1);
  vn_graph_add_node (graph, "split", "", "Split", &values[1], 1, &values[2], 2);
  vn_graph_add_node (graph, "", "", "Tanh", &values[2], 1, &values[4], 1);
  vn_graph_add_node (graph, "a,b", "", "Abs", &values[4], 1, &values[5], 1);
  vn_graph_add_node (graph, "Zweig/größe", "", "Add", (VnValue *[]) { values[5], values[3] }, 2, &values[6], 1);
  vn_graph_set_output (graph, 0, values[6]);
  return model;
}

#define EVENT(name, op, time) "{\"cat\": \"Node\", \"ph\": \"X\", \"name\": \"" name "_kernel_time\", \"dur\": " time \
  ", \"args\": {\"op_name\": \"" op "\", \"node_index\": \"3\"}}"
#define RUN "{\"cat\": \"Session\", \"ph\": \"X\", \"name\": \"model_run\", \"dur\": 99}"

/* NAN: no value. @n_runs: 0: no profile */
static const struct
{
  const char *what, *text;
  double      values[N];
  guint       n_unmatched, n_skipped, n_runs;
} good[] = {
  { "explorer, one graph", "{\"results\": {\"conv\": {\"value\": 3}, \"relu\": {\"value\": -0.5, \"bgColor\": \"red\"}},"
    " \"thresholds\": [{\"value\": 1, \"bgColor\": \"blue\"}], \"gradient\": []}", { 3, -0.5, NAN, NAN, NAN, NAN }, 0, 0, 0 },
  { "explorer, the graph of the same name", "{\"other\": {\"results\": {\"conv\": {\"value\": 1}, \"relu\": {\"value\": 1}}},"
    " \"net\": {\"results\": {\"conv\": {\"value\": 7}}}}", { 7, NAN, NAN, NAN, NAN, NAN }, 0, 0, 0 },
  { "explorer, the graph with most nodes", "{\"a\": {\"results\": {\"nobody\": {\"value\": 1}, \"conv\": {\"value\": 1}}},"
    " \"b\": {\"results\": {\"conv\": {\"value\": 2}, \"relu\": {\"value\": 4}, \"none\": {\"value\": 0}}}}",
    { 2, 4, NAN, NAN, NAN, NAN }, 1, 0, 0 },
  { "explorer, a graph called results", "{\"results\": {\"results\": {\"conv\": {\"value\": 5}}}}",
    { 5, NAN, NAN, NAN, NAN, NAN }, 0, 0, 0 },
  { "explorer, a list", "[{\"m\": {\"results\": {\"conv\": {\"value\": 1e3}}}}]", { 1000, NAN, NAN, NAN, NAN, NAN }, 0, 0, 0 },
  { "explorer, names of outputs", "{\"results\": {\"conv_out\": {\"value\": 1}, \"conv\": {\"value\": 2},"
    " \"split_b\": {\"value\": 3}, \"x\": {\"value\": 4}, \"plain_out\": {\"value\": 5}}}", { 2, NAN, 3, 5, NAN, NAN }, 1, 0, 0 },
  { "explorer, words", "{\"results\": {\"conv\": {\"value\": \"CPU\"}, \"relu\": {\"value\": true}, \"split\": {\"value\": 1}}}",
    { NAN, NAN, 1, NAN, NAN, NAN }, 0, 2, 0 },
  { "profile", "[" RUN "," EVENT ("conv", "Sigmoid", "10") "," EVENT ("relu", "Relu", "4") "," RUN ","
    EVENT ("conv", "Sigmoid", "30") "," EVENT ("ReorderOutput", "ReorderOutput", "8") "]",
    { 20e-6, 2e-6, NAN, NAN, NAN, NAN }, 1, 0, 2 },
  { "profile, in an object", "{\"traceEvents\": [" EVENT ("conv", "Sigmoid", "10") "," EVENT ("conv", "Sigmoid", "20") "]}",
    { 15e-6, NAN, NAN, NAN, NAN, NAN }, 0, 0, 2 },
  { "profile, names of ONNX Runtime", "[" EVENT ("conv_out_nchwc", "Conv", "1") "," EVENT ("relu_token_12", "Relu", "2") ","
    EVENT ("fused split_quant", "QLinearConv", "3") "," EVENT ("Tanh_3", "Tanh", "4") ","
    EVENT ("a,b/GeluFusion/_token_7", "Gelu", "5") ","
    EVENT ("InsertedPrecisionFreeCast_last", "Add", "9") "," EVENT ("Abs_4", "Tanh", "6") "]",
    { 1e-6, 2e-6, 3e-6, 4e-6, 5e-6, 9e-6 }, 1, 0, 1 },
  { "profile, two kernels of a node", "[" EVENT ("conv", "Sigmoid", "10") "," EVENT ("conv_out_nchwc", "Conv", "5") "]",
    { 15e-6, NAN, NAN, NAN, NAN, NAN }, 0, 0, 1 },
  { "table", "conv,1.5\nrelu,2\n", { 1.5, 2, NAN, NAN, NAN, NAN }, 0, 0, 0 },
  { "table with titles, a mark of order, ends of Windows, empty lines", "\xef\xbb\xbfname,value\r\n\r\nconv,1.5\r\nrelu,-2e-3",
    { 1.5, -2e-3, NAN, NAN, NAN, NAN }, 0, 0, 0 },
  { "table of a spreadsheet", "Knoten;Wert\nconv;1,5\n\"Zweig/größe\";2.25\nrelu;3", { 1.5, 3, NAN, NAN, NAN, 2.25 }, 0, 0, 0 },
  { "table with tabs", "conv\t1,25\na,b\t7\n", { 1.25, NAN, NAN, NAN, 7, NAN }, 0, 0, 0 },
  { "table with quotes", "\"a,b\",4\n\"conv\" , \"5\"\n\"say \"\"no\"\"\",6\nTanh #3,8", { 5, NAN, NAN, 8, 4, NAN }, 1, 0, 0 },
  { "table of what is not finite", "conv,nan\nrelu,inf\nsplit,1", { NAN, NAN, 1, NAN, NAN, NAN }, 0, 2, 0 },
};

static void
test_good (void)
{
  g_autoptr(VnModel) model = make_model ();

  for (guint i = 0; i < G_N_ELEMENTS (good); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnNodeData) data = vn_node_data_parse (good[i].text, -1, "file", &error);
      g_autoptr(VnNodeNumbers) numbers = NULL;
      guint n_known = 0;

      g_test_message ("%s", good[i].what);
      g_assert_no_error (error);
      g_assert_nonnull (data);
      g_assert_cmpint (data->is_time, ==, good[i].n_runs > 0);
      g_assert_cmpuint (data->n_runs, ==, good[i].n_runs);
      numbers = vn_node_numbers_new (data, model->graph);
      g_assert_cmpuint (numbers->n, ==, N);
      for (guint k = 0; k < N; k++)
        {
          g_assert_cmpint (isnan (numbers->values[k]), ==, isnan (good[i].values[k]));
          n_known += !isnan (numbers->values[k]);
          if (!isnan (numbers->values[k]))
            g_assert_cmpfloat_with_epsilon (numbers->values[k], good[i].values[k], 1e-12);
        }
      g_assert_cmpuint (numbers->n_known, ==, n_known);
      g_assert_cmpuint (numbers->unmatched->len, ==, good[i].n_unmatched);
      g_assert_cmpuint (numbers->n_skipped, ==, good[i].n_skipped);
    }
}

#define NOTHING "file: no numbers of nodes; expected Model Explorer node data, an " \
  "ONNX Runtime profile or lines of name,value"

static const struct { const char *text; int code; const char *message; } broken[] = {
  { "", VN_ERROR_MISSING_DATA, NOTHING },
  { "{}", VN_ERROR_MISSING_DATA, NOTHING },
  { "[]", VN_ERROR_MISSING_DATA, NOTHING },
  { "{\"results\": {}}", VN_ERROR_MISSING_DATA, NOTHING },
  { "{\"results\": {\"conv\": {\"value\": \"high\"}}}", VN_ERROR_MISSING_DATA, NOTHING },
  { "name,value\n", VN_ERROR_MISSING_DATA, NOTHING },
  { "[" RUN "]", VN_ERROR_MISSING_DATA, NOTHING },
  { "{\"results\": {\"conv\": {\"value\": 1}", VN_ERROR_MALFORMED,
    "file:1:33: Parse error: unexpected character `}', expected string constant" },
  { "{\"g\": {\"result\": {}}}", VN_ERROR_MALFORMED, "file: “g.results” is missing" },
  { "{\"g\": 1}", VN_ERROR_SETTING, "file: g: expected an object, found a number" },
  { "{\"g\": {\"results\": []}}", VN_ERROR_SETTING, "file: g.results: expected an object, found an array" },
  { "{\"results\": {\"conv\": 3}}", VN_ERROR_SETTING, "file: results.conv: expected an object, found a number" },
  { "{\"results\": {\"conv\": {\"values\": 3}}}", VN_ERROR_MALFORMED, "file: “results.conv.value” is missing" },
  { "{\"results\": {\"conv\": {\"value\": 1e999}}}", VN_ERROR_SETTING,
    "file: results.conv.value: expected a finite number, found a number" },
  { "[1]", VN_ERROR_SETTING, "file: [0]: expected an object, found a number" },
  { "[" RUN ", 7]", VN_ERROR_SETTING, "file: [1]: expected an object, found a number" },
  { "{\"traceEvents\": {}}", VN_ERROR_SETTING, "file: traceEvents: expected an array, found an object" },
  { "[" RUN "," EVENT ("conv", "Conv", "\"x\"") "]", VN_ERROR_SETTING, "file: [1].dur: expected a number, found a string" },
  { "[" EVENT ("conv", "Conv", "-3") "]", VN_ERROR_MALFORMED, "file: [0].dur is -3; expected a time in microseconds" },
  { "[{\"cat\": \"Node\", \"name\": \"a_kernel_time\"}]", VN_ERROR_MALFORMED, "file: “[0].dur” is missing" },
  { "conv\n", VN_ERROR_MALFORMED, "file: line 1: expected a name and a value, found one field" },
  { "conv,1\n\nrelu,2,3\n", VN_ERROR_MALFORMED, "file: line 3: expected a name and a value, found more fields" },
  { "conv,1\nrelu,high\n", VN_ERROR_MALFORMED, "file: line 2: “high” is not a number" },
  { "conv,1\nrelu,0x10\n", VN_ERROR_MALFORMED, "file: line 2: “0x10” is not a number" },
  { "conv,1\nrelu,\n", VN_ERROR_MALFORMED, "file: line 2: “” is not a number" },
  { "conv,1\n,2\n", VN_ERROR_MALFORMED, "file: line 2: the name is empty" },
  { "conv,1\nrelu,2\nconv,3\n", VN_ERROR_MALFORMED, "file: line 3: “conv” was already given in line 1" },
  { "conv,1\n\"relu,2\n", VN_ERROR_MALFORMED, "file: line 2: a quotation mark is not closed, or text follows it" },
  { "conv,1\n\"relu\"x,2\n", VN_ERROR_MALFORMED, "file: line 2: a quotation mark is not closed, or text follows it" },
  { "conv,1\n\xff,2\n", VN_ERROR_MALFORMED, "“file” is not a text file" },
};

static void
test_broken (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (broken); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnNodeData) data = vn_node_data_parse (broken[i].text, -1, "file", &error);

      g_test_message ("%u: %s", i, error != NULL ? error->message : "");
      g_assert_null (data);
      g_assert_error (error, VN_ERROR, broken[i].code);
      g_assert_cmpstr (error->message, ==, broken[i].message);
    }
}

/* What a file is taken for before it is read as a whole. */
static void
test_is_file (void)
{
  static const struct { const char *name, *text; gboolean is; } cases[] = {
    { "a.csv", "anything", TRUE },
    { "a.json", "{\"graph\": {\"results\": {}}}", TRUE },
    { "a.json", " \n[{\"cat\": \"Session\"}]", TRUE },
    { "a.json", "{\"vernier-recipe\": 1, \"preset\": \"cpu\"}", FALSE },
    { "a.json", "", FALSE },
    { "a.onnx", "{\"results\": {}}", FALSE },
  };
  g_autofree char *folder = g_dir_make_tmp ("vn-node-data-XXXXXX", NULL);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_build_filename (folder, cases[i].name, NULL);

      g_assert_true (g_file_set_contents (path, cases[i].text, -1, NULL));
      g_assert_cmpint (vn_node_data_is_file (path), ==, cases[i].is);
      g_unlink (path);
    }
  g_rmdir (folder);
}

/* What is said below the scale. */
static void
test_note (void)
{
  g_autoptr(VnModel) model = make_model ();
  static const struct { const char *text, *note; } cases[] = {
    { "conv,1\nrelu,2\nno,3\nnone,4\nsplit,nan", "2 of 6 nodes have a value\n2 names match no node\n"
      "1 value is not a finite number" },
    { "[" RUN "," RUN "," EVENT ("conv", "Conv", "4") "]", "Mean of 2 runs: 2 µs in total\n1 of 6 nodes have a value" },
    { "[" RUN "," EVENT ("conv", "Conv", "3") "," EVENT ("ReorderInput", "ReorderInput", "1") "]",
      "Measured in 1 run: 2 µs in total\n1 of 6 nodes have a value\n1 kernel belongs to no node: 25.0\u00a0% of the time" },
    { "[" RUN "," EVENT ("QuickGelu", "QuickGelu", "3") "]", "Measured in 1 run: 2 µs in total\n1 of 6 nodes have a value\n"
      "1 fused kernel: its time is that of one of its nodes" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnNodeData) data = vn_node_data_parse (cases[i].text, -1, "file", NULL);
      g_autoptr(VnNodeNumbers) numbers = vn_node_numbers_new (data, model->graph);
      g_autofree char *note = vn_node_numbers_dup_note (numbers, "2 µs");

      g_assert_cmpstr (note, ==, cases[i].note);
    }
}

/* ---- kernels without the names of nodes ---- */

/* Constant, Conv of a weight of @first, Relu, Constant, Conv of a weight of @second: all without names. */
static VnModel *
make_nameless (const VnShape *first,
               const VnShape *second)
{
  VnModel *model = vn_model_new (8, 13);
  VnGraph *graph = model->graph;
  VnValue *value = vn_graph_add_input (graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 4, 8, 8));

  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *weight_name = g_strdup_printf ("w%u", i), *conv_name = g_strdup_printf ("y%u", i);
      g_autoptr(VnTensor) weight = vn_tensor_new (VN_DTYPE_F32, i == 0 ? first : second, NULL);
      VnValue *constant = vn_graph_add_value (graph, weight_name, VN_DTYPE_F32, NULL);
      VnValue *conv = vn_graph_add_value (graph, conv_name, VN_DTYPE_F32, NULL);
      VnAttr *attr;

      vn_graph_add_node (graph, "", "", "Constant", NULL, 0, &constant, 1);
      attr = vn_attr_new ("value", VN_ATTR_TENSOR);
      attr->tensor = vn_tensor_ref (weight);
      vn_node_set_attr (constant->producer, attr);
      vn_graph_add_node (graph, "", "", "Conv", (VnValue *[]) { value, constant }, 2, &conv, 1);
      value = conv;
      if (i == 0)
        {
          value = vn_graph_add_value (graph, "r", VN_DTYPE_F32, NULL);
          vn_graph_add_node (graph, "", "", "Relu", &conv, 1, &value, 1);
        }
    }
  vn_graph_set_output (graph, 0, value);
  return model;
}

#define KERNEL(name, op, time, weight) "{\"cat\": \"Node\", \"ph\": \"X\", \"name\": \"" name "_kernel_time\", \"dur\": " time \
  ", \"args\": {\"op_name\": \"" op "\", \"input_type_shape\": [{\"float\": [1, 4, 8, 8]}, " weight "]}}"
#define SMALL "{\"float\": [4, 4, 1, 1]}"
#define LARGE "{\"float\": [4, 4, 3, 3]}"

/* Constants are no nodes for ONNX Runtime; a fused kernel is one that stands for a node of its type: the first without a time
 * whose weight has its shape. @values: of Constant, Conv, Relu, Constant, Conv */
static void
test_nameless (void)
{
  static const struct { const char *what, *text; double values[5]; guint n_fused, n_unmatched; } cases[] = {
    { "places", KERNEL ("Conv_0", "Conv", "1", SMALL) "," KERNEL ("Relu_1", "Relu", "2", SMALL) ","
      KERNEL ("Conv_2", "Conv", "3", LARGE), { NAN, 1, 2, NAN, 3 }, 0, 0 },
    { "in order", KERNEL ("FusedConv_3", "FusedConv", "1", SMALL) "," KERNEL ("FusedConv_4", "FusedConv", "3", LARGE),
      { NAN, 1, NAN, NAN, 3 }, 2, 0 },
    { "by shape", KERNEL ("FusedConv_3", "FusedConv", "1", LARGE) "," KERNEL ("FusedConv_4", "FusedConv", "3", SMALL),
      { NAN, 3, NAN, NAN, 1 }, 2, 0 },
    { "without shapes", EVENT ("FusedConv_3", "FusedConv", "1") "," EVENT ("FusedConv_4", "FusedConv", "3"),
      { NAN, 1, NAN, NAN, 3 }, 2, 0 },
    { "one has its name", KERNEL ("Conv_2", "Conv", "5", LARGE) "," KERNEL ("FusedConv_3", "FusedConv", "1", SMALL),
      { NAN, 1, NAN, NAN, 5 }, 1, 0 },
    { "fewer than nodes", KERNEL ("FusedConv_3", "FusedConv", "1", SMALL) "," KERNEL ("Relu_1", "Relu", "2", SMALL),
      { NAN, NAN, 2, NAN, NAN }, 0, 1 },
    { "another shape", KERNEL ("FusedConv_3", "FusedConv", "1", SMALL) "," KERNEL ("FusedConv_4", "FusedConv", "3", SMALL) ","
      KERNEL ("Relu_1", "Relu", "2", SMALL), { NAN, NAN, 2, NAN, NAN }, 0, 2 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnModel) model = make_nameless (&VN_SHAPE (4, 4, 1, 1), &VN_SHAPE (4, 4, 3, 3));
      g_autofree char *text = g_strdup_printf ("[" RUN ",%s]", cases[i].text);
      g_autoptr(VnNodeData) data = vn_node_data_parse (text, -1, "file", NULL);
      g_autoptr(VnNodeNumbers) numbers = vn_node_numbers_new (data, model->graph);

      g_test_message ("%s", cases[i].what);
      for (guint k = 0; k < 5; k++)
        {
          g_assert_cmpint (isnan (numbers->values[k]), ==, isnan (cases[i].values[k]));
          if (!isnan (cases[i].values[k]))
            g_assert_cmpfloat_with_epsilon (numbers->values[k], cases[i].values[k] * 1e-6, 1e-12);
        }
      g_assert_cmpuint (numbers->n_fused, ==, cases[i].n_fused);
      g_assert_cmpuint (numbers->unmatched->len, ==, cases[i].n_unmatched);
    }
}

/* A small run with what its nodes have by each metric: written, read, bound again. */
static void
test_round_trip (void)
{
  g_autofree char *demo = g_build_filename (g_getenv ("VN_DEMO"), "demo.onnx", NULL),
                  *folder = g_dir_make_tmp ("vn-node-data-XXXXXX", NULL);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnJob) opened = vn_open_job_new (demo), job = NULL;
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
  g_autoptr(VnDataSpec) spec = vn_data_spec_new ("random");
  VnQuantizeSettings settings = { .data = spec, .recipe = recipe, .n_threads = 1 };
  VnRun *run;
  guint n_files = 0, n_values = 0;

  g_assert_true (vn_job_run (opened, NULL, &error));
  g_assert_no_error (error);
  spec->max_samples = 4;
  settings.model = vn_open_job_get_model (opened);
  job = vn_quantize_job_new (&settings);
  g_assert_true (vn_job_run (job, NULL, &error));
  g_assert_no_error (error);
  run = vn_quantize_job_get_result (job);
  g_assert_true (vn_node_data_write (run, folder, &error));
  for (VnMetric metric = 0; metric < VN_N_METRICS; metric++)
    {
      g_autofree char *name = g_strconcat (vn_metric_get_info (metric)->id, ".json", NULL),
                      *path = g_build_filename (folder, name, NULL);
      g_autoptr(VnNodeData) data = NULL;
      g_autoptr(VnNodeNumbers) numbers = NULL;

      g_assert_cmpint (g_file_test (path, G_FILE_TEST_EXISTS), ==, metric != VN_METRIC_CONTRIBUTION);
      if (metric == VN_METRIC_CONTRIBUTION)
        continue;
      n_files++;
      g_assert_true (vn_node_data_is_file (path));
      data = vn_node_data_load (path, &error);
      g_assert_no_error (error);
      numbers = vn_node_numbers_new (data, run->source->graph);
      g_assert_cmpuint (numbers->unmatched->len, ==, 0);
      for (guint i = 0; i < numbers->n; i++)
        {
          const VnErrorRow *row = vn_run_get_rated_error (run, g_ptr_array_index (run->source->graph->nodes, i));
          const double value = row != NULL ? vn_metric_get (row, metric) : NAN;

          g_assert_cmpint (isnan (numbers->values[i]), ==, !isfinite (value));
          if (!isfinite (value))
            continue;
          n_values++;
          g_assert_cmpfloat_with_epsilon (numbers->values[i], value, 1e-12 * fabs (value));
        }
      g_unlink (path);
    }
  g_test_message ("%u files, %u values", n_files, n_values);
  g_assert_cmpuint (n_files, ==, VN_N_METRICS - 1);
  g_assert_cmpuint (n_values, >, 100);
  g_rmdir (folder);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/node-data/good", test_good);
  g_test_add_func ("/node-data/broken", test_broken);
  g_test_add_func ("/node-data/is-file", test_is_file);
  g_test_add_func ("/node-data/note", test_note);
  g_test_add_func ("/node-data/nameless", test_nameless);
  g_test_add_func ("/node-data/round-trip", test_round_trip);
  return g_test_run ();
}
