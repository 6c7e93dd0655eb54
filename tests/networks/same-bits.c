/* SPDX-License-Identifier: GPL-3.0-or-later */
/* same-bits NETWORK [NAME...]: that network and those of $VN_SHARED/models (of these names) give the same bits with one to
 * four threads, and the statistics of three shards, each of another number of threads, saved, read and merged, are the
 * file of one run. */
#include "vn-calibrate.h"
#include "vn-error.h"
#include "vn-jobs.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

#define MOST_THREADS 4
#define N_SHARDS 3
#define N_SAMPLES 5

/* Sizes that networks leave open, by symbol and else by position: pictures need room, pieces of sound and texts a length, what
 * is remembered of earlier ones is one such. */
static const struct
{
  const char *symbol;
  gint64      size;
} symbols[] = { { "seq_len", 6 }, { "past_seq_len", 3 }, { "total_seq_len", 9 } };

static gint64
choose_size (const VnType *type,
             int           axis)
{
  for (guint i = 0; i < G_N_ELEMENTS (symbols); i++)
    if (g_strcmp0 (type->symbols[axis], symbols[i].symbol) == 0)
      return symbols[i].size;
  if (axis == 0 || (type->symbols[axis] != NULL && g_str_has_prefix (type->symbols[axis], "batch")))
    return 1;
  if (type->shape.rank == 2 && type->dtype == VN_DTYPE_F32)
    return 288;
  if (type->shape.rank == 3)
    return 1;
  return type->shape.rank == 4 && axis >= 2 ? 160 : 8;
}

static GHashTable *
choose_shapes (const VnModel *model)
{
  GHashTable *shapes = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);

  for (guint i = 0; i < model->graph->inputs->len; i++)
    {
      const VnValue *value = g_ptr_array_index (model->graph->inputs, i);
      VnShape shape = value->type.shape;

      if (value->initializer != NULL || value->type.kind != VN_TYPE_TENSOR || shape.rank < 0)
        continue;
      for (int a = 0; a < shape.rank; a++)
        if (shape.dims[a] < 0)
          shape.dims[a] = choose_size (&value->type, a);
      g_hash_table_insert (shapes, value->name, g_memdup2 (&shape, sizeof shape));
    }
  return shapes;
}

static gboolean
same_tensor (const VnTensor *a,
             const VnTensor *b)
{
  return a->dtype == b->dtype && vn_shape_equal (&a->shape, &b->shape) && a->dtype != VN_DTYPE_STRING &&
         memcmp (a->data, b->data, a->n_bytes) == 0;
}

static void
clear_tensors (VnTensor **tensors,
               guint      n)
{
  for (guint i = 0; i < n; i++)
    g_clear_pointer (&tensors[i], vn_tensor_unref);
}

static gboolean
compare_runs (VnPlan    *plan,
              VnTensor **inputs,
              GError   **error)
{
  guint n = vn_plan_get_n_outputs (plan);
  g_autoptr(VnRunner) runner = vn_runner_new (plan, error);
  g_autofree VnTensor **first = g_new0 (VnTensor *, n + 1);
  g_autofree VnTensor **again = g_new0 (VnTensor *, n + 1);
  gboolean good = runner != NULL && vn_runner_run (runner, inputs, first, NULL, error);

  for (guint threads = 2; good && threads <= MOST_THREADS; threads++)
    {
      vn_runner_set_threads (runner, threads);
      good = vn_runner_run (runner, inputs, again, NULL, error);
      for (guint i = 0; good && i < n; i++)
        if (!same_tensor (first[i], again[i]))
          {
            g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "output “%s” differs with %u threads",
                         vn_plan_get_output (plan, i)->name, threads);
            good = FALSE;
          }
      clear_tensors (again, n);
    }
  clear_tensors (first, n);
  return good;
}

/* ---- statistics ---- */

static GPtrArray *
float_values (const VnModel *model)
{
  GPtrArray *taps = g_ptr_array_new ();

  for (guint i = 0; i < model->graph->values->len; i++)
    {
      VnValue *value = g_ptr_array_index (model->graph->values, i);

      if (value->producer != NULL && value->type.kind == VN_TYPE_TENSOR && value->type.dtype == VN_DTYPE_F32)
        g_ptr_array_add (taps, value);
    }
  return taps;
}

/* Calibrates on every N_SHARDS-th sample from @first on, or on all if @first is N_SHARDS, into the file @path. */
static gboolean
write_shard (VnPlan      *plan,
             GPtrArray   *taps,
             VnDataset   *dataset,
             guint        first,
             const char  *path,
             GError     **error)
{
  guint samples[N_SAMPLES], n = 0;
  VnCalibrateOptions options = { samples, 0, 1 + first };
  g_autoptr(VnStats) stats = NULL;

  for (guint i = 0; i < N_SAMPLES; i++)
    if (first == N_SHARDS || i % N_SHARDS == first)
      samples[n++] = i;
  options.n_samples = n;
  stats = vn_calibrate (plan, taps, dataset, &options, NULL, NULL, NULL, error);
  return stats != NULL && vn_stats_save (stats, path, error);
}

static gboolean
merge_shards (char  **paths,
              GError **error)
{
  VnStats *shards[N_SHARDS] = { NULL };
  g_autoptr(VnStats) merged = NULL;
  gboolean good = TRUE;

  /* Backwards: the order must not count. */
  for (guint i = 0; good && i < N_SHARDS; i++)
    good = (shards[N_SHARDS - 1 - i] = vn_stats_load (paths[i], error)) != NULL;
  if (good)
    merged = vn_stats_merge (shards, N_SHARDS, error);
  for (guint i = 0; i < N_SHARDS; i++)
    g_clear_pointer (&shards[i], vn_stats_unref);
  return merged != NULL && vn_stats_save (merged, paths[N_SHARDS + 1], error);
}

static gboolean
same_file (const char  *a,
           const char  *b,
           GError     **error)
{
  g_autofree char *x = NULL;
  g_autofree char *y = NULL;
  gsize n, m;

  if (!g_file_get_contents (a, &x, &n, error) || !g_file_get_contents (b, &y, &m, error))
    return FALSE;
  if (n == m && n > 0 && memcmp (x, y, n) == 0)
    return TRUE;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "merged statistics are not those of one run (%" G_GSIZE_FORMAT
               " and %" G_GSIZE_FORMAT " bytes)", m, n);
  return FALSE;
}

static gboolean
compare_statistics (VnModel     *model,
                    GHashTable  *shapes,
                    GError     **error)
{
  g_autoptr(GPtrArray) taps = float_values (model);
  const VnPlanOptions options = { .input_shapes = shapes, .taps = taps };
  g_autoptr(VnPlan) plan = vn_plan_new (model, &options, NULL, error);
  g_autoptr(VnDataSpec) spec = vn_data_spec_new ("random");
  g_autoptr(VnDataset) dataset = NULL;
  g_autofree char *folder = g_dir_make_tmp ("vn-same-bits-XXXXXX", NULL);
  g_auto(GStrv) paths = g_new0 (char *, N_SHARDS + 3);
  VnInputSpec *specs;
  gboolean good;
  guint n;

  for (guint i = 0; i < N_SHARDS + 2; i++)
    paths[i] = g_strdup_printf ("%s/%u", folder, i);
  specs = vn_model_dup_input_specs (model, shapes, &n);
  spec->max_samples = N_SAMPLES;
  dataset = plan != NULL ? vn_dataset_open (spec, specs, n, NULL, error) : NULL;
  vn_input_specs_free (specs, n);
  good = dataset != NULL;
  for (guint i = 0; good && i <= N_SHARDS; i++)
    good = write_shard (plan, taps, dataset, i, paths[i], error);
  good = good && merge_shards (paths, error) && same_file (paths[N_SHARDS], paths[N_SHARDS + 1], error);
  for (guint i = 0; paths[i] != NULL; i++)
    g_remove (paths[i]);
  g_rmdir (folder);
  return good;
}

/* ---- one network ---- */

static gboolean
check_network (const char  *path,
               gboolean     statistics,
               GError     **error)
{
  g_autoptr(VnJob) job = vn_open_job_new (path);
  g_autoptr(VnModel) model = NULL;
  g_autoptr(GHashTable) shapes = NULL;
  g_autoptr(VnPlan) plan = NULL;
  g_autofree VnTensor **inputs = NULL;
  VnPlanOptions options = { 0 };
  gboolean good;

  if (!vn_job_run (job, NULL, error) ||
      (model = vn_model_to_runnable (vn_open_job_get_model (job), NULL, error)) == NULL)
    return FALSE;
  options.input_shapes = shapes = choose_shapes (model);
  plan = vn_plan_new (model, &options, NULL, error);
  if (plan == NULL)
    return FALSE;
  inputs = g_new0 (VnTensor *, vn_plan_get_n_inputs (plan) + 1);
  good = vn_plan_load_sample (plan, NULL, NULL, inputs, error) && compare_runs (plan, inputs, error);
  clear_tensors (inputs, vn_plan_get_n_inputs (plan));
  return good && (!statistics || compare_statistics (model, shapes, error));
}

/* Networks whose statistics are compared: one of each kind is enough. */
static gboolean
wants_statistics (const char *name)
{
  static const char * const names[] = { "demo.onnx", "det_ultraface_rfb320.onnx", "det_yunet_n_dynamic.onnx",
                                        "txt_bert_toy_op12_unsorted.onnx", "sr_espcn_x3_op10.onnx",
                                        "aud_gtcrn_stream_gru.onnx", NULL };

  return g_strv_contains (names, name);
}

static gint
compare_names (gconstpointer a,
               gconstpointer b)
{
  return strcmp (*(char * const *) a, *(char * const *) b);
}

/* The paths of the networks of that folder, after @always. */
static GPtrArray *
list_networks (const char *always,
               const char *folder)
{
  g_autoptr(GDir) dir = *folder != '\0' ? g_dir_open (folder, 0, NULL) : NULL;
  GPtrArray *paths = g_ptr_array_new_with_free_func (g_free);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_suffix (name, ".onnx"))
      g_ptr_array_add (paths, g_build_filename (folder, name, NULL));
  g_ptr_array_sort (paths, compare_names);
  g_ptr_array_insert (paths, 0, g_strdup (always));
  return paths;
}

static gboolean
is_chosen (char      **chosen,
           const char *name)
{
  for (char **at = chosen; *at != NULL; at++)
    if (g_pattern_match_simple (*at, name))
      return TRUE;
  return *chosen == NULL;
}

int
main (int    argc,
      char **argv)
{
  const char *shared = g_getenv ("VN_SHARED");
  g_autofree char *folder = shared != NULL && *shared != '\0' ? g_build_filename (shared, "models", NULL) : g_strdup ("");
  g_autoptr(GPtrArray) paths = NULL;
  guint n_same = 0, n_failed = 0, n_unsupported = 0;

  if (argc < 2)
    {
      fprintf (stderr, "name a network\n");
      return 2;
    }
  paths = list_networks (argv[1], folder);
  for (guint i = 0; i < paths->len; i++)
    {
      const char *path = g_ptr_array_index (paths, i);
      g_autofree char *name = g_path_get_basename (path);
      g_autoptr(GError) error = NULL;

      if (!is_chosen (argv + 2, name))
        continue;
      if (check_network (path, wants_statistics (name), &error))
        n_same++;
      else if (i > 0 && g_error_matches (error, VN_ERROR, VN_ERROR_UNSUPPORTED))
        n_unsupported++;
      else
        n_failed++;
      printf ("%s: %s\n", name, error != NULL ? error->message : "same");
      fflush (stdout);
    }
  printf ("%u networks give the same bits, %u do not, %u cannot be run\n", n_same, n_failed, n_unsupported);
  return n_failed > 0 || n_same == 0;
}
