/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report as JSON, for programs: an object for each section, or an array where the section is one table. */

/* Schema, version 1:
 * { "version": 1,
 *   "model":    { "file", "nodes", "opset" },
 *   "sizes":    { "float_bytes", "quantized_bytes", "ratio" },                       null: not known
 *   "samples":  { "calibration", "measured" },
 *   "settings": { "preset", "activation", "weight", "per_channel", "symmetric_activations", "method", "percentile",
 *                 "exclude": [ pattern ], "rules": [ pattern ], "samples",                   absent in a comparison
 *                 "differences": [ { "id", "title", "value", "preset" } ],  from the preset; rules last, as JSON
 *                 "rule-sets": [ { "title", "effect", "off", "nodes" } ],   rules that were made together are one; absent
 *                                                                           without rules
 *                 "command" },                                              that repeats the run; null: none can
 *   "network":  { "precision": [ { "type", "about", "nodes" } ] },                         absent in a comparison
 *   "weakest":  [ { "band", "error", "node", "type", "cause", "cure" } ],              worst first; absent where nothing is weak
 *   "accuracy": { "samples", "float_top1", "quantized_top1", "agree" },                       only with labels
 *                 or { "task", "kept", "kept_samples", "detections", "detections_added" }      of all but classes: see
 *                                                                                            vn-tasks.def
 *   "summary":  { "suspicions": [ { "level", "code", "subject", "text", "remedy" } ],                about the samples
 *                 "verdict", "level", "text", "not_finite": [ tensor ], "worst_output", "sqnr_db", "cosine", "marked" },
 *   "origins":  [ { "tensor", "node", "role", "share", "alone_sqnr_db", "local_sqnr_db", "share_error", "samples" } ],
 *                                                                                    with --origins, largest share first
 *   "reasons":  [ { "rank", "tensor", "node", "share", "reason", "text", "cures" } ],
 *                                                                                    with --origins, those of the samples first
 *   "cures":    [ { "tensor", "reason", "cure", "outcome", "before_sqnr_db", "after_sqnr_db", "before_bytes", "after_bytes" } ],
 *                                                                                    with --cures
 *   "answers":  [ { "sample", "of", "kept", "lost", "added", "share" } ],   most lost first; of a mask the share alone; absent
 *                                                                           where nothing is told of a sample alone
 *   "curve":    [ { "state", "predicted_sqnr_db", "measured_sqnr_db", "bytes", "integer_share", "wide_share",
 *                   "time_ratio", "float_tensors", "wide_tensors", "small_weights", "rules" } ],    with --curve, cheapest first;
 *                                                                                    rules: as in a recipe
 *   "tensors":  [ { "tensor", "node", "type", "output", "marked", the fields of vn-metrics.def,
 *                   "local_sqnr_db", "not_finite", "not_finite_before", "last_computed", "float_min", "float_max",
 *                   "quantized_min", "quantized_max", "quantized", "dtype", "scale", "zero_point", "range_min", "range_max",
 *                   "rule" } ],  worst first: see vn_error_table_get_weakest_metric()
 *   "weights":  [ { "tensor", "node", "type", "marked", the fields of vn-metrics.def } ],
 *   "bodies":   { "runs": [ { "body", "float_runs", "quantized_runs", "both_runs", "compared_runs" } ],
 *                 "tensors": [ { "body", "tensor", "node", "type", "marked", the fields of vn-metrics.def, "float_min",
 *                   "float_max", "quantized_min", "quantized_max" } ] },      body: vn_graph_dup_scope(), worst first in each
 *   "npu":      [ { "node", "type", "positions": { "input", "input2", "weight", "bias", "output" },
 *                   "shifts": { "cut", "bias", "read", "write" },
 *                   "moves": [ { "tensor", "from", "to", "rule", "reason" } ] } ],            with the setting "npu"
 *   "notes":    [ { "level", "code", "subject", "text", "remedy" } ] }
 * Numbers that JSON cannot write (infinite, NaN) are the strings "inf", "-inf", "nan". */
#include "vn-report.h"

#include "vn-json.h"

#include <json-glib/json-glib.h>
#include <string.h>

static void json_add_value (JsonBuilder *json, const VnReportValue *value);

/* ---- values ---- */

static void
json_add_facts (JsonBuilder *json,
                GPtrArray   *facts)
{
  for (guint i = 0; i < facts->len; i++)
    {
      const VnReportFact *fact = g_ptr_array_index (facts, i);

      if (fact->value->type == VN_REPORT_ABSENT)
        continue;
      json_builder_set_member_name (json, fact->key);
      json_add_value (json, fact->value);
      if (fact->old_key == NULL)
        continue;
      json_builder_set_member_name (json, fact->old_key);
      json_add_value (json, fact->value);
    }
}

static void
json_add_parts (JsonBuilder         *json,
                const VnReportValue *value)
{
  if (value->type == VN_REPORT_RECORD)
    {
      json_builder_begin_object (json);
      json_add_facts (json, value->parts);
      json_builder_end_object (json);
      return;
    }
  json_builder_begin_array (json);
  for (guint i = 0; i < value->parts->len; i++)
    json_add_value (json, g_ptr_array_index (value->parts, i));
  json_builder_end_array (json);
}

static void
json_add_value (JsonBuilder         *json,
                const VnReportValue *value)
{
  switch (value->type)
    {
    case VN_REPORT_BOOL:
      json_builder_add_boolean_value (json, value->flag);
      break;
    case VN_REPORT_INT:
      json_builder_add_int_value (json, value->integer);
      break;
    case VN_REPORT_NUMBER:
      vn_json_add_double (json, value->number);
      break;
    case VN_REPORT_TEXT:
      json_builder_add_string_value (json, value->text);
      break;
    case VN_REPORT_LIST:
    case VN_REPORT_RECORD:
      json_add_parts (json, value);
      break;
    case VN_REPORT_NOTHING:
    case VN_REPORT_ABSENT:
    default:
      json_builder_add_null_value (json);
    }
}

/* ---- contents ---- */

static void
json_add_table (JsonBuilder           *json,
                const VnReportContent *content)
{
  json_builder_begin_array (json);
  for (guint r = 0; r < content->rows->len; r++)
    {
      const GPtrArray *row = g_ptr_array_index (content->rows, r);

      json_builder_begin_object (json);
      for (guint c = 0; c < content->n_columns; c++)
        {
          const VnReportValue *cell = g_ptr_array_index (row, c);

          if (cell->type == VN_REPORT_ABSENT)
            continue;
          json_builder_set_member_name (json, content->columns[c].id);
          json_add_value (json, cell);
          if (content->columns[c].old_id == NULL)
            continue;
          json_builder_set_member_name (json, content->columns[c].old_id);
          json_add_value (json, cell);
        }
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static void
json_add_notes (JsonBuilder           *json,
                const VnReportContent *content)
{
  json_builder_begin_array (json);
  for (guint i = 0; i < content->lines->len; i++)
    {
      const VnReportLine *line = g_ptr_array_index (content->lines, i);

      json_builder_begin_object (json);
      vn_json_add_text (json, "level", line->level);
      vn_json_add_text (json, "code", line->code);
      vn_json_add_text (json, "subject", line->subject);
      vn_json_add_text (json, "text", line->text);
      vn_json_add_text_if (json, "remedy", line->remedy);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static void
json_add_verdict (JsonBuilder           *json,
                  const VnReportContent *content)
{
  vn_json_add_text (json, "verdict", content->title);
  vn_json_add_text (json, "level", content->level);
  vn_json_add_text (json, "text", content->text);
}

static void
json_add_command (JsonBuilder           *json,
                  const VnReportContent *content)
{
  vn_json_add_text (json, content->id, content->text);
}

static void
json_add_content_facts (JsonBuilder           *json,
                        const VnReportContent *content)
{
  json_add_facts (json, content->facts);
}

/* ---- the report ---- */

/* How a kind is added; pictures are not: as members of the object of its section, or as one value, of its own name or in place of
 * the section. */
static const struct
{
  gboolean   is_value;
  void     (*add) (JsonBuilder *json, const VnReportContent *content);
} kinds[VN_REPORT_N_KINDS] = {
  [VN_REPORT_FACTS] = { FALSE, json_add_content_facts },
  [VN_REPORT_TABLE] = { TRUE, json_add_table },
  [VN_REPORT_VERDICT] = { FALSE, json_add_verdict },
  [VN_REPORT_NOTES] = { TRUE, json_add_notes },
  [VN_REPORT_COMMAND] = { FALSE, json_add_command },
};

/* What programs are told first; NULL: nothing. */
static const VnReportContent *
json_find_first (const VnReportSection *section)
{
  for (guint i = 0; i < section->contents->len; i++)
    {
      const VnReportContent *content = g_ptr_array_index (section->contents, i);

      if (kinds[content->kind].add != NULL)
        return content;
    }
  return NULL;
}

static void
json_add_section (JsonBuilder           *json,
                  const VnReportSection *section)
{
  const VnReportContent *first = json_find_first (section);

  if (first == NULL)
    return;
  json_builder_set_member_name (json, section->id);
  if (kinds[first->kind].is_value && first->id == NULL)
    {
      kinds[first->kind].add (json, first);
      return;
    }
  json_builder_begin_object (json);
  for (guint i = 0; i < section->contents->len; i++)
    {
      const VnReportContent *content = g_ptr_array_index (section->contents, i);

      if (kinds[content->kind].add == NULL)
        continue;
      if (kinds[content->kind].is_value)
        json_builder_set_member_name (json, content->id);
      kinds[content->kind].add (json, content);
    }
  json_builder_end_object (json);
}

/**
 * vn_report_to_json:
 *
 * Returns: (transfer full): the report as a tree, for commands that print it within theirs
 */
JsonNode *
vn_report_to_json (const VnReportModel *model)
{
  g_autoptr(JsonBuilder) json = json_builder_new ();

  g_return_val_if_fail (model != NULL, NULL);

  json_builder_begin_object (json);
  vn_json_add_int (json, "version", 1);
  for (guint i = 0; i < model->sections->len; i++)
    json_add_section (json, g_ptr_array_index (model->sections, i));
  json_builder_end_object (json);
  return json_builder_get_root (json);
}

/**
 * vn_report_print_json:
 *
 * Returns: (transfer full): the report as JSON, two spaces of indentation, ending with a newline
 */
GBytes *
vn_report_print_json (const VnReportModel  *model,
                      GError              **error G_GNUC_UNUSED)
{
  g_autoptr(JsonNode) root = NULL;
  char *text;

  g_return_val_if_fail (model != NULL, NULL);

  root = vn_report_to_json (model);
  text = vn_json_to_text (root);
  return g_bytes_new_take (text, strlen (text));
}
