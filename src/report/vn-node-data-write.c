/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Node data of Model Explorer, which shows one number of each node and calls it by the name of its file: so there is a file for
 * each metric. Without the id of a graph: it is taken for the graph that is open there. */
#include "vn-node-data-write.h"

#include "vn-error.h"
#include "vn-file.h"
#include "vn-file-hold.h"
#include "vn-heat.h"
#include "vn-i18n.h"
#include "vn-json.h"

#include <math.h>
#include <string.h>

/* Of what is fine, borderline and bad. */
static const double node_data_places[] = { 0.2, 0.5, 0.85 };

/* NaN: it has none that JSON can write. */
static double
node_data_get_value (VnRun        *run,
                     const VnNode *node,
                     VnMetric      metric)
{
  const VnErrorRow *row = vn_run_get_rated_error (run, node);
  const double value = row != NULL && vn_metric_is_measured (row, metric) ? vn_metric_get (row, metric) : NAN;

  return isfinite (value) ? value : NAN;
}

/* Model Explorer finds nodes by name, and those that have none by an output. */
static const char *
node_data_get_key (const VnNode *node)
{
  const VnValue *output = vn_node_get_output (node, 0);

  return node->name != NULL && *node->name != '\0' ? node->name : output != NULL ? output->name : NULL;
}

static void
node_data_add_color (JsonBuilder *json,
                     const char  *member,
                     double       at,
                     double       place)
{
  const VnColor color = vn_heat_color (VN_HEAT_ERROR, FALSE, place);
  g_autofree char *text = g_strdup_printf ("#%02x%02x%02x", (guint) lround (255 * color.r), (guint) lround (255 * color.g),
                                           (guint) lround (255 * color.b));

  json_builder_begin_object (json);
  vn_json_add_number (json, member, at);
  vn_json_add_text (json, "bgColor", text);
  json_builder_end_object (json);
}

/* A threshold is the largest value that its color has. */
static void
node_data_add_thresholds (JsonBuilder *json,
                          VnMetric     metric,
                          double       largest)
{
  const VnMetricInfo *info = vn_metric_get_info (metric);
  const gboolean falls = vn_metric_is_higher_better (metric);
  const double first = falls ? info->bad : info->fine, second = falls ? info->fine : info->bad;

  vn_json_begin_array (json, "thresholds");
  node_data_add_color (json, "value", first, node_data_places[falls ? 2 : 0]);
  node_data_add_color (json, "value", second, node_data_places[1]);
  if (largest > second)
    node_data_add_color (json, "value", largest, node_data_places[falls ? 0 : 2]);
  json_builder_end_array (json);
}

/* What is fine depends on the network: from the least to the largest. */
static void
node_data_add_gradient (JsonBuilder *json)
{
  vn_json_begin_array (json, "gradient");
  for (guint i = 0; i < G_N_ELEMENTS (node_data_places); i++)
    node_data_add_color (json, "stop", i / 2., node_data_places[i]);
  json_builder_end_array (json);
}

/**
 * vn_node_data_make:
 * @run: with its model as opened
 *
 * Returns: (transfer full) (nullable): the values of the nodes that are rated by their error, as JSON; %NULL: none has one
 */
char *
vn_node_data_make (VnRun    *run,
                   VnMetric  metric)
{
  g_autoptr(JsonBuilder) json = NULL;
  g_autoptr(JsonNode) root = NULL;
  double largest = -INFINITY;
  GPtrArray *nodes;

  g_return_val_if_fail (run != NULL && run->source != NULL && (guint) metric < VN_N_METRICS, NULL);

  json = json_builder_new ();
  nodes = run->source->graph->nodes;
  json_builder_begin_object (json);
  vn_json_begin_object (json, "results");
  for (guint i = 0; i < nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (nodes, i);
      const double value = node_data_get_value (run, node, metric);
      const char *key = node_data_get_key (node);

      if (isnan (value) || key == NULL)
        continue;
      largest = fmax (largest, value);
      vn_json_begin_object (json, key);
      vn_json_add_number (json, "value", value);
      json_builder_end_object (json);
    }
  json_builder_end_object (json);
  if (isfinite (vn_metric_get_info (metric)->fine))
    node_data_add_thresholds (json, metric, largest);
  else
    node_data_add_gradient (json);
  json_builder_end_object (json);
  root = json_builder_get_root (json);
  return largest > -INFINITY ? vn_json_to_text (root) : NULL;
}

static char *
node_data_dup_file (const char *folder,
                    VnMetric    metric)
{
  g_autofree char *name = g_strconcat (vn_metric_get_info (metric)->id, ".json", NULL);

  return g_build_filename (folder, name, NULL);
}

/**
 * vn_node_data_add_outputs:
 * @files: told what vn_node_data_write() writes to
 */
void
vn_node_data_add_outputs (VnFileSet  *files,
                          const char *folder)
{
  g_return_if_fail (files != NULL && folder != NULL);

  for (VnMetric metric = 0; metric < VN_N_METRICS; metric++)
    {
      g_autofree char *name = g_strconcat (vn_metric_get_info (metric)->id, ".json", NULL);

      vn_file_set_writes_in (files, folder, name, _("the report"));
    }
}

/**
 * vn_node_data_write:
 * @folder: made if missing
 *
 * Writes a file for each metric that was measured: "sqnr.json".
 *
 * Returns: %FALSE with %VN_ERROR_MISSING_DATA if none was, or what could not be written
 */
gboolean
vn_node_data_write (VnRun       *run,
                    const char  *folder,
                    GError     **error)
{
  guint n = 0;

  g_return_val_if_fail (run != NULL && folder != NULL, FALSE);

  for (VnMetric metric = 0; metric < VN_N_METRICS; metric++)
    {
      g_autofree char *path = node_data_dup_file (folder, metric), *text = vn_node_data_make (run, metric);

      if (text == NULL)
        continue;
      if (n++ == 0 && !vn_file_make_folder (folder, error))
        return FALSE;
      if (!vn_file_write_all (path, text, strlen (text), error))
        return FALSE;
    }
  if (n == 0)
    g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA, _("The run has no errors of nodes to write"));
  return n > 0;
}
