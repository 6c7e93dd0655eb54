/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One verdict on whole runs: what the window judges by is what both reports say and what is kept in files comes to, with what is
 * suspected of the samples before it; what weights that are not finite and samples of the wrong size come to. */
#include "vn-data-suspicion.h"
#include "vn-graph-edit.h"
#include "vn-jobs.h"
#include "vn-onnx.h"
#include "vn-report.h"
#include "vn-run-file.h"
#include "vn-verdict.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

#define N_SAMPLES 12u

static VnValue *
add_constant (VnGraph       *graph,
              const char    *name,
              const VnShape *shape,
              float          value)
{
  g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_F32, shape, NULL);

  for (gsize i = 0; i < tensor->n_elements; i++)
    ((float *) tensor->data)[i] = value;
  return vn_graph_add_initializer (graph, name, tensor);
}

/* image [1,3,20,20] -> BatchNormalization that expects mean 0 and deviation 1 -> Conv 1x1 -> out. @odd: the first
 * weight; the second is the opposite, so that infinite ones give NaN. */
static VnModel *
make_model (float odd)
{
  VnModel *model = vn_model_new (8, 17);
  VnGraph *graph = model->graph;
  VnValue *in = vn_graph_add_input (graph, "image", VN_DTYPE_F32, &VN_SHAPE (1, 3, 20, 20));
  VnValue *middle = vn_graph_add_value (graph, "middle", VN_DTYPE_F32, &VN_SHAPE (1, 3, 20, 20));
  VnValue *out = vn_graph_add_value (graph, "out", VN_DTYPE_F32, &VN_SHAPE (1, 3, 20, 20));
  VnValue *one = add_constant (graph, "one", &VN_SHAPE (3), 1), *zero = add_constant (graph, "zero", &VN_SHAPE (3), 0);
  g_autoptr(VnTensor) weights = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (3, 3, 1, 1), NULL);
  VnValue *w;

  for (guint i = 0; i < 9; i++)
    ((float *) weights->data)[i] = i == 0 ? odd : i == 1 ? -odd : 0.1f * (float) i - 0.6f;
  w = vn_graph_add_initializer (graph, "w", weights);
  vn_graph_add_node (graph, "norm", "", "BatchNormalization", (VnValue *[]) { in, one, zero, zero, one }, 5, &middle, 1);
  vn_graph_add_node (graph, "conv", "", "Conv", (VnValue *[]) { middle, w }, 2, &out, 1);
  vn_graph_set_output (graph, 0, out);
  return model;
}

static char *
make_samples (float scale)
{
  char *folder = g_dir_make_tmp ("vn-verdict-XXXXXX", NULL);

  /* waves, as pictures are: neighbors are alike */
  for (guint k = 0; k < N_SAMPLES; k++)
    {
      g_autofree char *path = g_strdup_printf ("%s/%02u.npy", folder, k);
      g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (1, 3, 20, 20), NULL);

      for (gsize i = 0; i < tensor->n_elements; i++)
        {
          const gsize x = i % 20, y = i / 20 % 20, channel = i / 400;

          ((float *) tensor->data)[i] = scale * (float) (1.4 * sin ((double) (x * (1 + k % 3) + 2 * y + 7 * channel
                                                                              + 5 * k) / 5));
        }
      g_assert_true (vn_npy_write (path, tensor, NULL));
    }
  return folder;
}

static void
remove_samples (const char *folder)
{
  for (guint k = 0; k < N_SAMPLES; k++)
    {
      g_autofree char *path = g_strdup_printf ("%s/%02u.npy", folder, k);

      g_unlink (path);
    }
  g_rmdir (folder);
}

static VnRun *
run (VnModel           *model,
     const VnDataSpec  *data,
     const char        *preset,
     gboolean           skip_compare,
     GError           **error)
{
  g_autoptr(VnRecipe) recipe = vn_recipe_new (preset);
  g_autoptr(VnDataSpec) samples = vn_data_spec_copy (data);
  VnQuantizeSettings settings = { .model = model, .data = samples, .recipe = recipe, .skip_compare = skip_compare,
                                  .n_threads = 1 };
  g_autoptr(VnJob) job = NULL;

  samples->held_out = 4;
  g_assert_true (vn_model_infer_types (model, NULL, NULL, NULL));
  job = vn_quantize_job_new (&settings);
  return vn_job_run (job, NULL, error) ? vn_run_ref (vn_quantize_job_get_result (job)) : NULL;
}

/* That both reports say what @verdict says, suspicions first; returns the level in JSON. */
static char *
check_reports (VnRun           *result,
               const VnVerdict *verdict)
{
  g_autoptr(VnReportModel) model = vn_report_model_new (result, VN_REPORT_LAYOUT_REPORT);
  g_autoptr(GBytes) markdown_bytes = vn_report_print_markdown (model, NULL), json_bytes = vn_report_print_json (model, NULL);
  const gsize markdown_size = g_bytes_get_size (markdown_bytes);
  g_autofree char *markdown = g_strndup (g_bytes_get_data (markdown_bytes, NULL), markdown_size);
  g_autofree char *title = g_strdup_printf ("**%s.** ", verdict->title);
  g_autoptr(JsonParser) parser = json_parser_new ();
  const char *at = strstr (markdown, title);
  JsonObject *summary;
  JsonArray *suspicions;

  g_assert_nonnull (at);
  g_assert_true (json_parser_load_from_data (parser, g_bytes_get_data (json_bytes, NULL), (gssize) g_bytes_get_size (json_bytes),
                                             NULL));
  summary = json_object_get_object_member (json_node_get_object (json_parser_get_root (parser)), "summary");
  suspicions = json_object_get_array_member (summary, "suspicions");
  g_assert_cmpstr (json_object_get_string_member (summary, "verdict"), ==, verdict->title);
  g_assert_cmpstr (json_object_get_string_member (summary, "text"), ==, verdict->text);
  g_assert_cmpuint (json_array_get_length (suspicions), ==, verdict->suspicions->len);
  g_assert_cmpuint (json_array_get_length (json_object_get_array_member (summary, "not_finite")), ==, verdict->not_finite->len);
  for (guint i = 0; i < verdict->suspicions->len; i++)
    {
      const VnNote *note = verdict->suspicions->pdata[i];
      const char *said = strstr (markdown, note->text), *remedy = strstr (markdown, vn_data_suspicion_get_remedy (note));

      g_assert_true (said != NULL && said < at && remedy != NULL && remedy < at);
      g_assert_cmpstr (json_object_get_string_member (json_array_get_object_element (suspicions, i), "text"), ==, note->text);
    }
  return g_strdup (json_object_get_string_member (summary, "level"));
}

/* What is kept of a run is written, read and written again with the same bytes, and judged as the run was. */
static void
check_record (VnRun           *result,
              const VnVerdict *verdict)
{
  g_autoptr(VnRun) record = vn_run_without_networks (result), again = NULL;
  g_autofree char *text = vn_run_to_json (record, "/"), *second = NULL;
  g_autoptr(GError) error = NULL;
  g_autoptr(VnVerdict) judged = NULL;

  again = vn_run_from_json (text, -1, "result", "/", &error);
  g_assert_no_error (error);
  second = vn_run_to_json (again, "/");
  g_assert_cmpstr (text, ==, second);
  g_test_message ("%zu bytes for %u nodes", strlen (text), again->n_nodes);
  judged = vn_verdict_new (again);
  g_assert_cmpstr (judged->id, ==, verdict->id);
  g_assert_cmpstr (judged->text, ==, verdict->text);
  g_assert_cmpmem (&judged->figures, sizeof judged->figures, &verdict->figures, sizeof verdict->figures);
  g_assert_cmpuint (judged->suspicions->len, ==, verdict->suspicions->len);
  g_assert_cmpuint (again->nodes->len, ==, result->source->graph->nodes->len);
  g_assert_cmpstr (again->source_digest, ==, result->source_digest);
  for (guint i = 0; i < again->nodes->len; i++)
    {
      const VnRunNode *node = g_ptr_array_index (again->nodes, i);
      const VnErrorRow *row = vn_run_get_node_error (result, g_ptr_array_index (result->source->graph->nodes, i));
      const VnErrorRow *kept = again->errors != NULL && node->rounded != NULL
                               ? vn_error_table_find (again->errors, node->rounded) : NULL;

      g_assert_true ((row == NULL) == (kept == NULL));
      g_assert_true (row == NULL || row->sqnr_db == kept->sqnr_db || isnan (row->sqnr_db));
    }
}

/* ---- made networks ---- */

typedef struct
{
  const char *name;
  const char *preset;
  float       scale;         /* of the samples */
  float       odd;           /* weight */
  gboolean    skip_compare;
  const char *level;         /* NULL: the run fails, naming the weight */
  const char *suspicion;
} Case;

static const Case cases[] = {
  { "right", "cpu", 1, 0.5f, FALSE, "good", NULL },
  { "large samples", "cpu", 106, 0.5f, FALSE, "suspicious-samples", "data-range" },
  { "small samples", "cpu", 0.01f, 0.5f, FALSE, "suspicious-samples", "data-range" },
  { "large samples, weights alone", "w8", 106, 0.5f, FALSE, "suspicious-samples", "data-range" },
  { "not measured", "cpu", 1, 0.5f, TRUE, "not-measured", NULL },
  { "large samples, not measured", "cpu", 106, 0.5f, TRUE, "not-measured", "data-range" },
  { "infinite weight", "fp16", 1, INFINITY, FALSE, "not-finite", NULL },
  { "infinite weight, not measured", "fp16", 1, INFINITY, TRUE, "not-finite", NULL },
  { "infinite weight, ranges", "cpu", 1, INFINITY, FALSE, NULL, NULL },
};

static void
test_made (gconstpointer data)
{
  const Case *test = data;
  g_autofree char *folder = make_samples (test->scale);
  g_autoptr(VnDataSpec) spec = vn_data_spec_new (folder);
  g_autoptr(VnModel) model = make_model (test->odd);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnRun) result = run (model, spec, test->preset, test->skip_compare, &error);
  g_autoptr(VnVerdict) verdict = NULL;
  g_autofree char *level = NULL;

  remove_samples (folder);
  if (test->level == NULL)
    {
      g_assert_null (result);
      g_assert_nonnull (strstr (error->message, "“w”"));
      return;
    }
  g_assert_no_error (error);
  verdict = vn_verdict_new (result);
  g_test_message ("%s: %s", verdict->title, verdict->text);
  level = check_reports (result, verdict);
  check_record (result, verdict);
  g_assert_cmpstr (level, ==, test->level);
  g_assert_cmpstr (level, ==, verdict->id);
  g_assert_cmpuint (verdict->suspicions->len, ==, test->suspicion != NULL);
  if (test->suspicion != NULL)
    g_assert_cmpstr (((const VnNote *) verdict->suspicions->pdata[0])->code, ==, test->suspicion);
  if (isinf (test->odd))
    g_assert_cmpstr (verdict->not_finite->pdata[0], ==, "w");
}

/* ---- real networks ---- */

typedef struct
{
  const char *model, *preset;
  const char *data;
  float       mean, std;
  const char *level;
} Real;

static const Real reals[] = {
  { "cls_cifar10_winml_cnn", "w4", "cifar10", 127.5f, 127.5f, "good" },
  { "cls_cifar10_winml_cnn", "w4", "cifar10", 0, 1, "suspicious-samples" },
  { "det_ultraface_rfb320_raw_bn", "cpu", "images/coco", 0, 1, "suspicious-samples" },
  { "det_ultraface_rfb320", "cpu", "images/coco", 0, 1, "suspicious-samples" },
  { "det_ultraface_rfb320", "cpu", "images/coco", 127, 128, "good" },
  { "det_nanodet_m_320", "cpu", "images/coco", 0, 1, "suspicious-samples" },
};

static void
test_real (gconstpointer data)
{
  const Real *test = data;
  const char *shared = g_getenv ("VN_SHARED");
  g_autofree char *file = g_strconcat (test->model, ".onnx", NULL);
  g_autofree char *path = g_build_filename (shared != NULL ? shared : "", "models", file, NULL);
  g_autofree char *folder = g_build_filename (shared != NULL ? shared : "", test->data, NULL);
  g_autoptr(VnDataSpec) spec = vn_data_spec_new (folder);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnModel) model = NULL;
  g_autoptr(VnRun) result = NULL;
  g_autoptr(VnVerdict) verdict = NULL;
  g_autofree char *level = NULL;

  if (!g_file_test (path, G_FILE_TEST_EXISTS) || !g_file_test (folder, G_FILE_TEST_IS_DIR))
    {
      g_test_skip ("VN_SHARED has no such network or no pictures");
      return;
    }
  model = vn_onnx_read_file (path, &error);
  g_assert_no_error (error);
  spec->max_samples = 20;
  for (guint c = 0; c < 3; c++)
    {
      spec->preprocess.mean[c] = test->mean;
      spec->preprocess.std[c] = test->std;
    }
  result = run (model, spec, test->preset, FALSE, &error);
  g_assert_no_error (error);
  verdict = vn_verdict_new (result);
  g_test_message ("%s: %s", verdict->title, verdict->text);
  level = check_reports (result, verdict);
  check_record (result, verdict);
  g_assert_cmpstr (level, ==, test->level);
}

static void
test_demo (void)
{
  g_autofree char *path = g_build_filename (g_getenv ("VN_DEMO"), "demo.onnx", NULL),
  *folder = g_build_filename (g_getenv ("VN_DEMO"), "samples", NULL);
  g_autoptr(VnDataSpec) spec = vn_data_spec_new (folder);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnModel) model = vn_onnx_read_file (path, &error);
  g_autoptr(VnRun) result = NULL;
  g_autoptr(VnVerdict) verdict = NULL;
  g_autofree char *level = NULL;

  g_assert_no_error (error);
  for (guint c = 0; c < 4; c++)
    spec->preprocess.mean[c] = spec->preprocess.std[c] = 127.5f;
  result = run (model, spec, "cpu", FALSE, &error);
  g_assert_no_error (error);
  verdict = vn_verdict_new (result);
  level = check_reports (result, verdict);
  check_record (result, verdict);
  g_assert_cmpstr (level, ==, "good");
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdelimit (g_strconcat ("/run-verdict/", cases[i].name, NULL), " ,", '-');

      g_test_add_data_func (path, &cases[i], test_made);
    }
  g_test_add_func ("/run-verdict/demo", test_demo);
  for (guint i = 0; i < G_N_ELEMENTS (reals); i++)
    {
      g_autofree char *path = g_strdup_printf ("/run-verdict/%s/%u", reals[i].model, i);

      g_test_add_data_func (path, &reals[i], test_real);
    }
  return g_test_run ();
}
