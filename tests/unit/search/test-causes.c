/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why a node has the error it has: runs that are made to go wrong in one way each, and what is said of the node. */
#include "vn-cause.h"
#include "vn-dataset.h"
#include "vn-graph-edit.h"
#include "vn-jobs.h"
#include "vn-onnx.h"

#include <glib/gstdio.h>
#include <string.h>

#define N_SAMPLES 12u
#define N_HELD_OUT 4u      /* sample 0 is not among them */

typedef enum { CAUSE_NONE, CAUSE_OUTLIER, CAUSE_CLIPPED, CAUSE_WEIGHT, CAUSE_EXCLUDED, CAUSE_BEFORE } Made;

/* x [1,3,16,16] -> Conv 1x1 "conv" -> Transpose "turn" -> out. For CAUSE_WEIGHT the first channel has two large weights that
 * cancel out on samples whose first two channels are equal. */
static VnModel *
make_model (Made made)
{
  static const float large[9] = { 1000, -1000, 0, 0.7f, 0.2f, 0.5f, -0.3f, 0.4f, 0.6f };
  static const float usual[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
  VnModel *model = vn_model_new (8, 17);
  VnGraph *graph = model->graph;
  VnValue *in = vn_graph_add_input (graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 3, 16, 16));
  VnValue *middle = vn_graph_add_value (graph, "middle", VN_DTYPE_UNDEFINED, NULL);
  VnValue *out = vn_graph_add_value (graph, "out", VN_DTYPE_UNDEFINED, NULL);
  g_autoptr(VnTensor) weights = vn_tensor_new_f32 (&VN_SHAPE (3, 3, 1, 1), made == CAUSE_WEIGHT ? large : usual);
  VnValue *w = vn_graph_add_initializer (graph, "w", weights);

  vn_graph_add_node (graph, "conv", "", "Conv", (VnValue *[]) { in, w }, 2, &middle, 1);
  vn_graph_add_node (graph, "turn", "", "Transpose", &middle, 1, &out, 1);
  vn_graph_set_output (graph, 0, out);
  g_assert_true (vn_model_infer_types (model, NULL, NULL, NULL));
  return model;
}

static char *
make_samples (Made made)
{
  char *folder = g_dir_make_tmp ("vn-cause-XXXXXX", NULL);
  g_autoptr(GRand) rand = g_rand_new_with_seed (5);

  for (guint k = 0; k < N_SAMPLES; k++)
    {
      g_autofree char *path = g_strdup_printf ("%s/%02u.npy", folder, k);
      g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (1, 3, 16, 16), NULL);
      float *values = tensor->data;

      for (guint i = 0; i < 768; i++)
        values[i] = i >= 256 && i < 512 ? values[i - 256] : (float) g_rand_double_range (rand, -1, 1);
      if (k == 0 && (made == CAUSE_OUTLIER || made == CAUSE_BEFORE))
        values[600] = 200;
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
run (Made     made,
     VnModel *model)
{
  g_autofree char *folder = make_samples (made);
  g_autoptr(VnDataSpec) data = vn_data_spec_new (folder);
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
  VnQuantizeSettings settings = { .model = model, .data = data, .recipe = recipe, .n_threads = 1 };
  g_autoptr(VnJob) job = NULL;
  g_autoptr(GError) error = NULL;

  data->held_out = N_HELD_OUT;
  recipe->per_channel = FALSE;
  if (made == CAUSE_CLIPPED)
    {
      g_free (recipe->method);
      recipe->method = g_strdup ("percentile");
      recipe->percentile = 50;
    }
  if (made == CAUSE_EXCLUDED)
    vn_recipe_add_exclude (recipe, "conv");
  job = vn_quantize_job_new (&settings);
  vn_job_run (job, NULL, &error);
  g_assert_no_error (error);
  remove_samples (folder);
  return vn_run_ref (vn_quantize_job_get_result (job));
}

typedef struct
{
  const char *name;
  Made        made;
  const char *node;
  const char *words;       /* NULL: nothing stands out */
  const char *origin;      /* nullable */
} Case;

static const Case cases[] = {
  { "nothing", CAUSE_NONE, "conv", NULL, NULL },
  { "outlier", CAUSE_OUTLIER, "conv", "outliers make the range", NULL },
  { "passed-on", CAUSE_BEFORE, "turn", "Propagates the error of conv", "conv" },
  { "clipped", CAUSE_CLIPPED, "conv", "clips", NULL },
  { "weight", CAUSE_WEIGHT, "conv", "per-channel scales", NULL },
  { "excluded", CAUSE_EXCLUDED, "conv", "Not quantized", NULL },
};

static void
test_cause (gconstpointer data)
{
  const Case *test = data;
  g_autoptr(VnModel) model = make_model (test->made);
  g_autoptr(VnRun) result = run (test->made, model);
  const VnNode *node = vn_graph_find_node (result->source->graph, test->node);
  const VnErrorRow *row = vn_run_get_node_error (result, node);
  const VnNode *origin = vn_cause_find_origin (result, node);
  g_autofree char *words = vn_cause_describe (result, node);

  g_assert_nonnull (row);
  g_test_message ("%.2f dB: %s", row->sqnr_db, words != NULL ? words : "-");
  g_assert_cmpint (words != NULL, ==, test->words != NULL);
  if (words != NULL)
    g_assert_nonnull (strstr (words, test->words));
  g_assert_cmpstr (origin != NULL ? origin->name : NULL, ==, test->origin);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strconcat ("/causes/", cases[i].name, NULL);

      g_test_add_data_func (path, &cases[i], test_cause);
    }
  return g_test_run ();
}
