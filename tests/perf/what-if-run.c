/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measures what a change of one node costs: what-if-run MODEL FOLDER [THREADS]: seconds to keep what the networks compute, to
 * give one node at the front, in the middle and near the end 16 bits, and for the whole run with that recipe. */
#include "vn-jobs.h"
#include "vn-onnx.h"
#include "vn-what-if.h"

#include <stdio.h>
#include <stdlib.h>

static double
seconds_since (gint64 start)
{
  return (double) (g_get_monotonic_time () - start) * 1e-6;
}

static VnRun *
quantize (VnModel           *model,
          const VnDataSpec  *data,
          const VnRecipe    *recipe,
          guint              n_threads,
          VnStats           *earlier,
          GError           **error)
{
  VnQuantizeSettings settings = { .model = model, .data = data, .recipe = recipe, .n_threads = n_threads, .earlier = earlier };
  g_autoptr(VnJob) job = vn_quantize_job_new (&settings);

  return vn_job_run (job, NULL, error) ? vn_run_ref (vn_quantize_job_get_result (job)) : NULL;
}

static GPtrArray *
list_convolutions (const VnModel *model)
{
  GPtrArray *labels = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < model->graph->nodes->len; i++)
    if (vn_node_is (g_ptr_array_index (model->graph->nodes, i), "Conv"))
      g_ptr_array_add (labels, vn_node_dup_label (g_ptr_array_index (model->graph->nodes, i)));
  return labels;
}

static gboolean
try_node (VnWhatIf    *what_if,
          VnRun       *result,
          const char  *label,
          guint        n_threads,
          GError     **error)
{
  g_autoptr(VnRecipe) recipe = vn_recipe_copy (result->recipe);
  VnOverride *rule = vn_recipe_add_exclude (recipe, label);
  g_autoptr(VnErrorTable) errors = NULL;
  g_autoptr(VnRun) whole = NULL;
  VnRecompareCost cost;
  gint64 start = g_get_monotonic_time ();
  double seconds;

  rule->exclude = FALSE;
  rule->activation = VN_DTYPE_U16;
  errors = vn_what_if_measure (what_if, recipe, &cost, NULL, error);
  seconds = seconds_since (start);
  if (errors == NULL)
    return FALSE;
  start = g_get_monotonic_time ();
  whole = quantize (result->source, result->data, recipe, n_threads, result->stats, error);
  printf ("  %s: %.3f s, %u of %u tensors, %.2f dB before, %.2f dB after; the whole run %.2f s\n", label, seconds, cost.n_changed,
          cost.n_rows,
          vn_error_table_get_outputs_sqnr (vn_what_if_get_base (what_if)), vn_error_table_get_outputs_sqnr (errors),
          seconds_since (start));
  return whole != NULL;
}

int
main (int   argc,
      char *argv[])
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnModel) model = argc > 2 ? vn_onnx_read_file (argv[1], &error) : NULL;
  g_autoptr(VnDataSpec) data = argc > 2 ? vn_data_spec_new (argv[2]) : NULL;
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
  guint n_threads = argc > 3 ? (guint) atoi (argv[3]) : 2;
  g_autoptr(VnRun) result = model != NULL ? quantize (model, data, recipe, n_threads, NULL, &error) : NULL;
  gint64 start = g_get_monotonic_time ();
  g_autoptr(VnWhatIf) what_if = result != NULL ? vn_what_if_new (result, 0, n_threads, NULL, &error) : NULL;
  g_autoptr(GPtrArray) labels = model != NULL ? list_convolutions (model) : NULL;
  static const double places[] = { 0, 0.5, 0.95 };

  if (what_if != NULL)
    printf ("%u samples, kept after %.2f s\n", vn_what_if_get_n_samples (what_if), seconds_since (start));
  for (guint i = 0; what_if != NULL && labels->len > 0 && i < G_N_ELEMENTS (places); i++)
    if (!try_node (what_if, result, g_ptr_array_index (labels, (guint) (places[i] * (labels->len - 1))), n_threads, &error))
      break;
  if (error != NULL)
    fprintf (stderr, "%s\n", error->message);
  return error != NULL || what_if == NULL;
}
