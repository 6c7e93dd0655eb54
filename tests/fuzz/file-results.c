/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records of runs, reports of them, projects, ranges, statistics. */
#include "file-kinds.h"

#include "vn-encodings-private.h"
#include "vn-graph-edit.h"
#include "vn-project-file.h"
#include "vn-report.h"
#include "vn-run-file.h"
#include "vn-verdict.h"

#include <math.h>
#include <string.h>

#define MAX_NODES 200

/* ---- results and projects ---- */

gboolean
try_result (const guint8 *data,
            gsize         size)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnRun) record = vn_run_from_json ((const char *) data, (gssize) size, "result.json", "/run", &error), again = NULL;
  g_autoptr(VnVerdict) verdict = NULL, second_verdict = NULL;
  g_autofree char *text = NULL, *second = NULL;

  if (!check (record != NULL, &error))
    return FALSE;
  text = vn_run_to_json (record, "/run");
  again = vn_run_from_json (text, -1, "again", "/run", &error);
  if (again == NULL)
    g_error ("what was written cannot be read: %s\n%s", error->message, text);
  second = vn_run_to_json (again, "/run");
  verdict = vn_verdict_new (record);
  second_verdict = vn_verdict_new (again);
  if (!g_str_equal (text, second) || !g_str_equal (verdict->text, second_verdict->text))
    g_error ("what was written says something else:\n%s\n%s", text, second);
  return TRUE;
}

/* A chain of as many nodes as the record tells of, with their names. */
static VnModel *
make_chain (const VnRun *record)
{
  VnModel *model = vn_model_new (8, 13);
  VnValue *at = vn_graph_add_input (model->graph, "data", VN_DTYPE_F32, &VN_SHAPE (1, 4));

  for (guint i = 0; i < record->nodes->len; i++)
    {
      const VnRunNode *node = g_ptr_array_index (record->nodes, i);
      g_autofree char *name = g_strdup_printf ("v%u", i);
      VnValue *output = vn_graph_add_value (model->graph, name, VN_DTYPE_F32, NULL);

      vn_graph_add_node (model->graph, node->label, "", "Relu", &at, 1, &output, 1);
      at = output;
    }
  vn_graph_set_output (model->graph, 0, at);
  return model;
}

/* The digest of the network is that of another one, and is left out: what is looked at is what lies behind it. */
gboolean
try_report (const guint8 *data,
            gsize         size)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnRun) record = vn_run_from_json ((const char *) data, (gssize) size, "result.json", "/run", &error);
  g_autoptr(VnModel) model = NULL;
  g_autoptr(VnRun) result = NULL;
  g_autoptr(VnReportModel) report = NULL;
  guint n_printers;
  const VnReportPrinter *printers = vn_report_printer_list (&n_printers);

  if (!check (record != NULL, &error) || record->nodes->len > MAX_NODES)
    return FALSE;
  g_clear_pointer (&record->source_digest, g_free);
  model = make_chain (record);
  result = vn_run_with_model (record, model, &error);
  if (!check (result != NULL, &error))
    return FALSE;
  report = vn_report_model_new (result, VN_REPORT_LAYOUT_REPORT);
  for (guint i = 0; i < n_printers; i++)
    {
      g_autoptr(GBytes) bytes = printers[i].is_text ? printers[i].print (report, &error) : NULL;

      if (printers[i].is_text && check (bytes != NULL, &error))
        require (g_utf8_validate_len (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), NULL),
                 "a report is not valid UTF-8");
    }
  return TRUE;
}

gboolean
try_project (const guint8 *data,
             gsize         size)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnProject) project = vn_project_from_json ((const char *) data, (gssize) size, "p.vernier", "/run", &error),
  again = NULL;
  g_autofree char *text = NULL, *second = NULL;

  if (!check (project != NULL, &error))
    return FALSE;
  check_recipe (project->recipe);
  text = vn_project_to_json (project, "/run");
  again = vn_project_from_json (text, -1, "again", "/run", &error);
  if (again == NULL)
    g_error ("what was written cannot be read: %s\n%s", error->message, text);
  second = vn_project_to_json (again, "/run");
  if (!g_str_equal (text, second))
    g_error ("what was written says something else:\n%s\n%s", text, second);
  for (guint i = 0; i < project->runs->len; i++)
    {
      const VnProjectRun *run = g_ptr_array_index (project->runs, i);
      g_autofree char *own = vn_project_run_dup_own_path (run->id, "/run/p.vernier");

      require (g_str_has_prefix (own, "/run/p.vernier-runs/") && strchr (own + 20, '/') == NULL, "an id leads out of its folder");
    }
  return TRUE;
}

/* ---- ranges and statistics ---- */

static gboolean
given_equal (const VnEncoding *a,
             const VnEncoding *b)
{
  return a->has_params == b->has_params && a->range.min == b->range.min && a->range.max == b->range.max &&
         a->scale == b->scale && a->zero_point == b->zero_point;
}

gboolean
try_ranges (const guint8 *data,
            gsize         size)
{
  g_autoptr(GBytes) bytes = g_bytes_new (data, size), written = NULL;
  g_autoptr(GError) error = NULL;
  g_autoptr(VnEncodingTable) table = vn_encoding_table_parse (bytes, "ranges", &error), again = NULL;
  char *text;

  if (!check (table != NULL, &error))
    return FALSE;
  text = vn_encoding_to_json (table);
  written = g_bytes_new_take (text, strlen (text));
  again = vn_encoding_table_parse (written, "again", &error);
  if (again == NULL)
    g_error ("what was written cannot be read: %s\n%s", error->message, text);
  require (vn_encoding_table_get_n (table) == vn_encoding_table_get_n (again), "there are more or fewer tensors");
  for (guint i = 0; i < vn_encoding_table_get_n (table); i++)
    {
      const char *name = vn_encoding_table_get_name (table, i);
      const VnEncoding *given = vn_encoding_table_get (again, name);

      if (given == NULL || !given_equal (given, vn_encoding_table_get (table, name)))
        g_error ("“%s” has become something else", name);
    }
  return TRUE;
}

/* One of the methods, as all of them take long: which, @pick says. */
static void
try_method (const VnHistogram *histogram,
            guint              pick)
{
  guint n;
  const VnRangeMethod * const *methods = vn_range_method_list (&n);
  const gboolean other = pick / n % 2 == 1;
  const VnRangeSettings settings = { .percentile = 99.9, .symmetric = other, .two_sided = other };
  const VnRangeMethod *method = methods[pick % n];
  g_autoptr(GError) error = NULL;
  VnRange range = { NAN, NAN };

  if (check (method->range (histogram, &settings, &range, &error), &error) &&
      !(isfinite (range.min) && isfinite (range.max) && range.min <= range.max))
    g_error ("%s finds a range from %g to %g", method->id, range.min, range.max);
}

/* The checksum is put right: what is looked at is what lies behind it. */
gboolean
try_stats (const guint8 *data,
           gsize         size)
{
  g_autoptr(GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  guint8 digest[32];
  gsize digest_size = sizeof digest;
  GByteArray *all = g_byte_array_new ();
  g_autoptr(GBytes) bytes = NULL, written = NULL;
  g_autoptr(GError) error = NULL;
  g_autoptr(VnStats) stats = NULL, again = NULL, merged = NULL;

  g_checksum_update (checksum, data, (gssize) size);
  g_checksum_get_digest (checksum, digest, &digest_size);
  g_byte_array_append (all, data, (guint) size);
  g_byte_array_append (all, digest, sizeof digest);
  bytes = g_byte_array_free_to_bytes (all);
  stats = vn_stats_from_bytes (bytes, &error);
  if (!check (stats != NULL, &error))
    return FALSE;
  written = vn_stats_to_bytes (stats, NULL);
  again = vn_stats_from_bytes (written, NULL);
  require (again != NULL && vn_stats_equal (stats, again), "what was written says something else");
  for (guint i = 0; i < MIN (vn_stats_get_n_values (stats), 2); i++)
    try_method (vn_stats_get (stats, vn_stats_get_name (stats, i)), digest[i]);
  merged = vn_stats_merge ((VnStats *[]) { stats, again }, 2, &error);
  check (merged != NULL, &error);
  return TRUE;
}
