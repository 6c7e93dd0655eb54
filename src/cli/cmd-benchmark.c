/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command "benchmark": how long a network takes, as a whole and node by node. */
#include "vn-cmd.h"

#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-machine.h"

static int n_runs, top = 10;
static double seconds;

static const GOptionEntry entries[] = {
  VN_CMD_GROUP_MARK (DATA),
  { "input", 'i', 0, G_OPTION_ARG_FILENAME_ARRAY, &vn_cmd_options.inputs, N_("Value of an input (.npy or TensorProto .pb)"),
    N_("NAME=FILE") },
  VN_CMD_GROUP_MARK (GENERAL),
  { "repeat", 'r', 0, G_OPTION_ARG_INT, &n_runs, N_("Number of runs in each mode (default: limited by --seconds)"), N_("N") },
  { "seconds", 0, 0, G_OPTION_ARG_DOUBLE, &seconds, N_("Duration of each of the three modes (default: 2)"), N_("S") },
  VN_CMD_GROUP_MARK (OUTPUT),
  { "top", 0, 0, G_OPTION_ARG_INT, &top, N_("Number of nodes to print, slowest first (default: 10)"), N_("N") },
  { NULL }
};

#define BAR_WIDTH 20

static double
cmd_benchmark_gflops_per_second (double flops,
                                 double ms)
{
  return ms > 0 ? flops / ms / 1e6 : 0;
}

/* ---- text ---- */

static void
cmd_benchmark_print_time (const VnBenchmark *result,
                          guint              mode,
                          guint              n_threads)
{
  const VnBenchmarkTime *time = &result->time[mode];
  g_autofree char *threads = g_strdup_printf (ngettext ("%u thread", "%u threads", n_threads), n_threads);

  vn_cmd_print (ngettext ("  one sample, %s: %.3f ms (median %.3f, %u run)",
                          "  one sample, %s: %.3f ms (median %.3f, %u runs)", time->n_runs), threads, time->min_ms,
                          time->median_ms, time->n_runs);
  if (result->flops > 0)
    vn_cmd_print (_(", %.1f GFLOP/s"), cmd_benchmark_gflops_per_second (result->flops, time->min_ms));
  vn_cmd_print ("\n");
}

static void
cmd_benchmark_print_summary (const VnBenchmark *result,
                             const char        *path)
{
  const VnPlanSummary *summary = &result->summary;
  g_autofree char *arena = vn_format_bytes_column (summary->arena_bytes);
  g_autofree char *scratch = vn_format_bytes_column (summary->scratch_bytes);
  g_autofree char *weights = vn_format_bytes_column (summary->weight_bytes);
  g_autofree char *peak = vn_format_bytes_column (result->peak_bytes);

  vn_cmd_print (ngettext ("%s: %u node: %u run, %u folded into constants, %u fused into others, %u not needed\n",
                          "%s: %u nodes: %u run, %u folded into constants, %u fused into others, %u not needed\n",
                          summary->n_nodes), path,
                summary->n_nodes, summary->n_run, summary->n_folded, summary->n_fused, summary->n_unneeded);
  vn_cmd_print (_("  instructions %s\n"), vn_machine_get_instruction_set ());
  cmd_benchmark_print_time (result, VN_BENCHMARK_ONE, 1);
  if (result->n_threads > 1)
    cmd_benchmark_print_time (result, VN_BENCHMARK_MANY, result->n_threads);
  vn_cmd_print (ngettext ("  %u sample at a time: %.2f samples per second", "  %u samples at a time: %.2f samples per second",
                          result->n_threads), result->n_threads, result->per_second);
  if (result->flops > 0)
    vn_cmd_print (_("; %.3f GFLOP each"), result->flops / 1e9);
  vn_cmd_print (_("\n  memory: %s activations and %s workspace per sample, %s weights; process peak %s\n"),
                arena, scratch, weights, peak);
}

static void
cmd_benchmark_print_head (const VnBenchmark *result,
                          const char        *title,
                          const char        *first)
{
  g_autofree char *one = g_strdup_printf (_("1 thread"));
  g_autofree char *many = g_strdup_printf (ngettext ("%u thread",
                                                     "%u threads", result->n_threads), result->n_threads);

  vn_cmd_print ("%s\n  %6s %10s", title, first, one);
  if (result->n_threads > 1)
    vn_cmd_print (" %10s", many);
  vn_cmd_print (" %9s %7s\n", _("GFLOP/s"), _("share"));
}

/* Milliseconds, speed and share: the columns both tables have. */
static void
cmd_benchmark_print_columns (const VnBenchmark *result,
                             const double      *ms,
                             double             flops,
                             double             share)
{
  vn_cmd_print (" %10.3f", ms[VN_BENCHMARK_ONE]);
  if (result->n_threads > 1)
    vn_cmd_print (" %10.3f", ms[VN_BENCHMARK_MANY]);
  if (flops > 0 && ms[VN_BENCHMARK_MANY] > 0)
    vn_cmd_print (" %9.1f", cmd_benchmark_gflops_per_second (flops, ms[VN_BENCHMARK_MANY]));
  else
    vn_cmd_print (" %9s", "");
  vn_cmd_print (" %5.1f %%", share * 100);
}

static void
cmd_benchmark_print_types (const VnBenchmark *result)
{
  cmd_benchmark_print_head (result, _("Operators (ms)"), _("calls"));
  for (guint i = 0; i < result->types->len; i++)
    {
      const VnBenchmarkType *type = &g_array_index (result->types, VnBenchmarkType, i);
      char bar[BAR_WIDTH + 1] = "....................";

      for (guint k = 0; k < BAR_WIDTH && k + 0.5 < type->share * BAR_WIDTH; k++)
        bar[k] = '#';
      vn_cmd_print ("  %6u", type->n_calls);
      cmd_benchmark_print_columns (result, type->ms, type->flops, type->share);
      vn_cmd_print ("  %s  %s%s%s\n", bar, type->domain, type->domain[0] != '\0' ? ":" : "", type->op_type);
    }
}

/* What the operators behind the node were that it does itself, in the order in which it does them. */
static char *
cmd_benchmark_dup_fused (const VnBenchmarkNode *node)
{
  gboolean clamps = g_strcmp0 (node->activation, "Clip") == 0;
  const char *parts[5] = { NULL };
  guint n = 0;
  g_autofree char *list = NULL;

  if (node->has_factors)
    parts[n++] = _("per-channel factors");
  if (node->has_line)
    parts[n++] = _("bias");
  if (node->has_sum)
    parts[n++] = _("addition");
  if (node->activation != NULL)
    parts[n++] = clamps ? _("clip") : node->activation;
  list = g_strjoinv (", ", (char **) parts);
  return n > 0 ? g_strdup_printf (_(", fused with %s"), list) : g_strdup ("");
}

static void
cmd_benchmark_print_nodes (VnBenchmark *result)
{
  g_autoptr(GArray) order = vn_benchmark_sort_nodes (result);
  guint n = MIN (order->len, (guint) MAX (top, 0));

  if (n == 0)
    return;
  cmd_benchmark_print_head (result, _("Slowest nodes (ms)"), "#");
  for (guint i = 0; i < n; i++)
    {
      const VnBenchmarkNode *node = &g_array_index (result->nodes, VnBenchmarkNode, g_array_index (order, guint, i));
      g_autofree char *label = vn_node_dup_label (node->node);
      g_autofree char *fused = cmd_benchmark_dup_fused (node);

      vn_cmd_print ("  %6u", i + 1);
      cmd_benchmark_print_columns (result, node->ms, node->flops, node->share);
      vn_cmd_print ("  %s  %s%s%s\n          %s → %s\n", label, node->node->op_type,
                    fused, node->is_view ? _(", reshape only") : node->is_order ? _(", layout change only") : "",
                    node->inputs, node->outputs);
    }
}

/* ---- JSON ---- */

static void
cmd_benchmark_json_time (JsonBuilder           *json,
                         const char            *name,
                         const VnBenchmarkTime *time)
{
  vn_json_begin_object (json, name);
  vn_json_add_int (json, "runs", time->n_runs);
  vn_json_add_number (json, "min_ms", time->min_ms);
  vn_json_add_number (json, "median_ms", time->median_ms);
  json_builder_end_object (json);
}

static void
cmd_benchmark_json_summary (JsonBuilder       *json,
                            const VnBenchmark *result)
{
  vn_json_add_text (json, "instruction_set", vn_machine_get_instruction_set ());
  vn_json_add_int (json, "threads", result->n_threads);
  cmd_benchmark_json_time (json, "one_thread", &result->time[VN_BENCHMARK_ONE]);
  cmd_benchmark_json_time (json, "all_threads", &result->time[VN_BENCHMARK_MANY]);
  vn_json_add_number (json, "samples_per_second", result->per_second);
  vn_json_add_number (json, "flops", result->flops);
  vn_json_add_int (json, "arena_bytes", (gint64) result->summary.arena_bytes);
  vn_json_add_int (json, "scratch_bytes", (gint64) result->summary.scratch_bytes);
  vn_json_add_int (json, "weight_bytes", (gint64) result->summary.weight_bytes);
  vn_json_add_int (json, "peak_bytes", (gint64) result->peak_bytes);
  vn_json_add_int (json, "nodes_in_model", result->summary.n_nodes);
  vn_json_add_int (json, "nodes_run", result->summary.n_run);
  vn_json_add_int (json, "nodes_folded", result->summary.n_folded);
  vn_json_add_int (json, "nodes_fused", result->summary.n_fused);
  vn_json_add_int (json, "nodes_not_needed", result->summary.n_unneeded);
}

static void
cmd_benchmark_json_times (JsonBuilder  *json,
                          const double *ms,
                          double        flops,
                          double        share)
{
  vn_json_add_number (json, "one_thread_ms", ms[VN_BENCHMARK_ONE]);
  vn_json_add_number (json, "all_threads_ms", ms[VN_BENCHMARK_MANY]);
  vn_json_add_number (json, "share", share);
  if (flops > 0)
    vn_json_add_number (json, "flops", flops);
}

static void
cmd_benchmark_json_tables (JsonBuilder       *json,
                           const VnBenchmark *result)
{
  vn_json_begin_array (json, "operators");
  for (guint i = 0; i < result->types->len; i++)
    {
      const VnBenchmarkType *type = &g_array_index (result->types, VnBenchmarkType, i);

      json_builder_begin_object (json);
      vn_json_add_text (json, "domain", type->domain);
      vn_json_add_text (json, "type", type->op_type);
      vn_json_add_int (json, "calls", type->n_calls);
      cmd_benchmark_json_times (json, type->ms, type->flops, type->share);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
  vn_json_begin_array (json, "nodes");
  for (guint i = 0; i < result->nodes->len; i++)
    {
      const VnBenchmarkNode *node = &g_array_index (result->nodes, VnBenchmarkNode, i);
      g_autofree char *label = vn_node_dup_label (node->node);

      json_builder_begin_object (json);
      vn_json_add_text (json, "name", label);
      vn_json_add_text (json, "domain", node->node->domain);
      vn_json_add_text (json, "type", node->node->op_type);
      vn_json_add_text (json, "inputs", node->inputs);
      vn_json_add_text (json, "outputs", node->outputs);
      cmd_benchmark_json_times (json, node->ms, node->flops, node->share);
      vn_json_add_bool (json, "fused_clamp", g_strcmp0 (node->activation, "Clip") == 0);
      vn_json_add_text (json, "fused_activation", node->activation != NULL ? node->activation : "");
      vn_json_add_bool (json, "fused_factors", node->has_factors);
      vn_json_add_bool (json, "fused_bias", node->has_line);
      vn_json_add_bool (json, "fused_sum", node->has_sum);
      vn_json_add_bool (json, "only_reshapes", node->is_view);
      vn_json_add_bool (json, "only_reorders", node->is_order);
      vn_json_add_bool (json, "shape_depends_on_data", node->is_dynamic);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

/* ---- the command ---- */

static gboolean
cmd_benchmark_check_options (GError **error)
{
  if (n_runs >= 0 && n_runs <= 1000000 && seconds >= 0 && seconds <= 86400 && top >= 0)
    return TRUE;
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
               _("--repeat takes 1 to 1000000, --seconds more than 0 and at most 86400, --top 0 or more"));
  return FALSE;
}

static gboolean
benchmark_run (char        **args,
               JsonBuilder  *json,
               GError      **error)
{
  g_autoptr(GHashTable) shapes = NULL;
  g_autoptr(GHashTable) given = NULL;
  g_autoptr(VnDataSpec) data = NULL;
  g_autoptr(VnModel) model = NULL;
  g_autoptr(VnJob) job = NULL;
  VnBenchmarkSettings settings = { .n_threads = (guint) vn_cmd_options.threads };
  VnBenchmark *result;

  if (!cmd_benchmark_check_options (error) ||
      (vn_cmd_options.data != NULL && (data = vn_cmd_make_data_spec (error)) == NULL) ||
      (model = vn_cmd_open_to_run (args[0], &shapes, &given, error)) == NULL)
    return FALSE;
  vn_cmd_take_metadata (data, model);
  settings.model = model;
  settings.data = data;
  settings.inputs = given;
  settings.input_shapes = shapes;
  settings.n_runs = (guint) n_runs;
  settings.seconds = seconds;
  job = vn_benchmark_job_new (&settings);
  if (!vn_cmd_run_job (job, error))
    return FALSE;
  result = vn_benchmark_job_get_result (job);
  cmd_benchmark_print_summary (result, args[0]);
  cmd_benchmark_print_types (result);
  cmd_benchmark_print_nodes (result);
  cmd_benchmark_json_summary (json, result);
  cmd_benchmark_json_tables (json, result);
  return TRUE;
}

static const char * const common[] = { "input", "repeat", "seconds", "top", "data", "preprocess", "shape", "engine", "threads",
                                       "json", NULL };

const VnCmd vn_cmd_benchmark = {
  .name = "benchmark",
  .usage = "MODEL",
  .summary = N_("Measure the latency of a model and of its nodes"),
  .options = entries,
  .common = common,
  .needs_data = TRUE,
  .n_args = 1,
  .run = benchmark_run,
};
