/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report as data: the sections of a small run, and that every printer tells all of them: each value of the model is looked
 * for in JSON, as what it is, and in Markdown, as people are told, in the order of the model. */
#include "curve-fixture.h"

#include "vn-graph-edit.h"
#include "vn-jobs.h"
#include "vn-report.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#define N_SAMPLES 8u

static guint n_compared;

/* ---- a small run ---- */

static VnValue *
add_weights (VnGraph       *graph,
             const char    *name,
             const VnShape *shape)
{
  g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_F32, shape, NULL);

  for (gsize i = 0; i < tensor->n_elements; i++)
    ((float *) tensor->data)[i] = 0.1f * (float) (i % 13) - 0.6f;
  return vn_graph_add_initializer (graph, name, tensor);
}

/* image -> Conv -> Relu -> Conv, added to the Relu's output -> out; names are such that break tables if nobody takes care. */
static VnModel *
make_model (void)
{
  VnModel *model = vn_model_new (8, 17);
  VnGraph *graph = model->graph;
  const VnShape *shape = &VN_SHAPE (1, 3, 8, 8);
  VnValue *in = vn_graph_add_input (graph, "image", VN_DTYPE_F32, shape);
  VnValue *first = vn_graph_add_value (graph, "a|b_c*", VN_DTYPE_F32, shape),
  *relu = vn_graph_add_value (graph, "relu", VN_DTYPE_F32, shape);
  VnValue *second = vn_graph_add_value (graph, "second\nline", VN_DTYPE_F32, shape),
  *out = vn_graph_add_value (graph, "out", VN_DTYPE_F32, shape);
  VnValue *w0 = add_weights (graph, "w0", &VN_SHAPE (3, 3, 1, 1)), *w1 = add_weights (graph, "w1", &VN_SHAPE (3, 3, 1, 1));

  vn_graph_add_node (graph, "conv`0`", "", "Conv", (VnValue *[]) { in, w0 }, 2, &first, 1);
  vn_graph_add_node (graph, "relu", "", "Relu", &first, 1, &relu, 1);
  vn_graph_add_node (graph, "conv1", "", "Conv", (VnValue *[]) { relu, w1 }, 2, &second, 1);
  vn_graph_add_node (graph, "sum", "", "Add", (VnValue *[]) { second, relu }, 2, &out, 1);
  vn_graph_set_output (graph, 0, out);
  g_assert_true (vn_model_infer_types (model, NULL, NULL, NULL));
  return model;
}

static VnRun *
run (const char *preset)
{
  g_autoptr(VnModel) model = make_model ();
  g_autoptr(VnRecipe) recipe = vn_recipe_new (preset);
  g_autoptr(VnDataSpec) data = vn_data_spec_new ("random");
  VnQuantizeSettings settings = { .model = model, .data = data, .recipe = recipe, .n_threads = 1 };
  g_autoptr(VnJob) job = NULL;
  g_autoptr(GError) error = NULL;

  data->max_samples = N_SAMPLES;
  data->held_out = 2;
  job = vn_quantize_job_new (&settings);
  vn_job_run (job, NULL, &error);
  g_assert_no_error (error);
  return vn_run_ref (vn_quantize_job_get_result (job));
}

/* What a run finds only sometimes. */
static void
add_rare_things (VnRun *result)
{
  VnErrorRow weight = { .value = g_strdup ("w_0"), .node = g_strdup ("conv"), .op_type = g_strdup ("Conv"), .n = 9,
                        .noise_to_signal = 0.25, .sqnr_db = 6.02, .cosine = 0.9, .mse = 1e-9, .max_error = 0.125 };
  VnErrorRow lost = { .value = g_strdup ("lost"), .node = g_strdup (""), .op_type = g_strdup (""), .n = 9, .is_last = TRUE,
                      .noise_to_signal = INFINITY, .sqnr_db = -INFINITY, .cosine = NAN, .mse = NAN, .max_error = NAN,
                      .float_min = -1.5, .float_max = 17.25, .quant_min = NAN, .quant_max = NAN, .n_bad = 421, .n_bad_float = 53,
                      .has_local = TRUE, .local_db = 43.21 };
  VnOverride *exclude = vn_override_new (), *rule = vn_override_new ();

  vn_error_table_add_weight (result->errors, g_memdup2 (&weight, sizeof weight));
  vn_error_table_add (result->errors, g_memdup2 (&lost, sizeof lost));
  exclude->pattern = g_strdup ("type:Soft*");
  exclude->exclude = TRUE;
  rule->pattern = g_strdup ("conv_[12]");
  g_ptr_array_add (result->recipe->overrides, exclude);
  g_ptr_array_add (result->recipe->overrides, rule);
  result->float_bytes = 1234567;
  result->quantized_bytes = 345678;
  result->accuracy = (VnAccuracy) { .n = 941, .float_top1 = 873, .quant_top1 = 862, .agree = 899, .valid = TRUE };
  result->steps = vn_run_steps_new ();
  vn_run_steps_add (result->steps, &(VnRunStep) { "a <step> | more", "10.0 → 12.5 dB, kept", TRUE, 10, 12.5 });
  vn_run_steps_add (result->steps, &(VnRunStep) { "another", "cannot be done here", FALSE, 12.5, NAN });
  result->curve = vn_curve_new (VN_CURVE_COST_SIZE);
  curve_fixture_add (result->curve, 21.5, 21.25, 1000000, 0, FALSE);
  curve_fixture_add (result->curve, 25.5, NAN, 1500000, 2, TRUE);
  vn_notes_add (result->notes, VN_NOTE_PROBLEM, "weights-not-finite", "w_1", "It has <b>values</b> that are not finite");
  vn_notes_add_remedy (result->notes, VN_NOTE_WARNING, "data-range", "image", "Divide by 255 | or so", "They vary too much");
  vn_notes_add_remedy (result->notes, VN_NOTE_INFO, "other", NULL, "Do *this*", "Something else");
}

/* ---- sections ---- */

static char *
list_ids (const VnReportModel *model)
{
  GString *ids = g_string_new (NULL);

  for (guint i = 0; i < model->sections->len; i++)
    {
      const VnReportSection *section = model->sections->pdata[i];

      g_assert_cmpuint (section->contents->len, >, 0);
      g_assert_true (vn_report_model_find (model, section->id) == section);
      g_string_append_printf (ids, "%s%s", i > 0 ? " " : "", section->id);
    }
  return g_string_free (ids, FALSE);
}

static VnRun *
make_comparison (VnRun *result)
{
  VnRun *self = vn_run_new ();

  self->source = vn_model_ref (result->source);
  self->prepared = vn_model_ref (result->source);
  self->errors = vn_error_table_ref (result->errors);
  return self;
}

static void
test_sections (void)
{
  g_autoptr(VnRun) result = run ("npu-cnn");
  g_autoptr(VnRun) comparison = make_comparison (result);
  g_autoptr(VnReportModel) plain = vn_report_model_new (result, VN_REPORT_LAYOUT_REPORT);
  g_autoptr(VnReportModel) compared = vn_report_model_new (comparison, VN_REPORT_LAYOUT_REPORT);
  g_autofree char *plain_ids = list_ids (plain), *compared_ids = list_ids (compared);
  g_autofree char *all_ids = NULL, *xslim_ids = NULL;
  g_autoptr(VnReportModel) all = NULL, xslim = NULL;

  add_rare_things (result);
  all = vn_report_model_new (result, VN_REPORT_LAYOUT_REPORT);
  xslim = vn_report_model_new (result, VN_REPORT_LAYOUT_XSLIM);
  all_ids = list_ids (all);
  xslim_ids = list_ids (xslim);
  g_assert_cmpstr (plain_ids, ==, "model sizes samples summary network settings figures spreads tensors npu notes");
  g_assert_cmpstr (compared_ids, ==, "model sizes samples summary network figures tensors");
  g_assert_cmpstr (all_ids, ==,
                   "model sizes samples summary accuracy network settings figures steps spreads curve tensors weights npu notes");
  g_assert_cmpstr (xslim_ids, ==, "summary accuracy xslim notes");
  g_assert_null (vn_report_model_find (plain, "weights"));
}

/* ---- JSON ---- */

static void check_json_facts (JsonObject *object, GPtrArray *facts);

static void
check_json_number (JsonNode *node,
                   double    number)
{
  if (isfinite (number))
    g_assert_cmpfloat (json_node_get_double (node), ==, number);
  else
    g_assert_cmpstr (json_node_get_string (node), ==, isnan (number) ? "nan" : number > 0 ? "inf" : "-inf");
}

static void
check_json_list (JsonNode  *node,
                 GPtrArray *parts);

static void
check_json_value (JsonObject          *object,
                  const char          *key,
                  JsonNode            *node,
                  const VnReportValue *value)
{
  n_compared++;
  if (value->type == VN_REPORT_ABSENT)
    {
      g_assert_false (json_object_has_member (object, key));
      return;
    }
  if (object != NULL)
    node = json_object_get_member (object, key);
  g_assert_nonnull (node);
  if (value->type == VN_REPORT_NOTHING)
    g_assert_true (json_node_is_null (node));
  else if (value->type == VN_REPORT_BOOL)
    g_assert_cmpint (json_node_get_boolean (node), ==, value->flag);
  else if (value->type == VN_REPORT_INT)
    g_assert_cmpint (json_node_get_int (node), ==, value->integer);
  else if (value->type == VN_REPORT_NUMBER)
    check_json_number (node, value->number);
  else if (value->type == VN_REPORT_TEXT)
    g_assert_cmpstr (json_node_get_string (node), ==, value->text);
  else if (value->type == VN_REPORT_RECORD)
    check_json_facts (json_node_get_object (node), value->parts);
  else
    check_json_list (node, value->parts);
}

static void
check_json_list (JsonNode  *node,
                 GPtrArray *parts)
{
  JsonArray *array = json_node_get_array (node);

  g_assert_cmpuint (json_array_get_length (array), ==, parts->len);
  for (guint i = 0; i < parts->len; i++)
    check_json_value (NULL, NULL, json_array_get_element (array, i), parts->pdata[i]);
}

static void
check_json_facts (JsonObject *object,
                  GPtrArray  *facts)
{
  for (guint i = 0; i < facts->len; i++)
    {
      const VnReportFact *fact = facts->pdata[i];

      check_json_value (object, fact->key, NULL, fact->value);
    }
}

static void
check_json_table (JsonArray             *array,
                  const VnReportContent *content)
{
  g_assert_cmpuint (json_array_get_length (array), ==, content->rows->len);
  for (guint r = 0; r < content->rows->len; r++)
    {
      GPtrArray *row = content->rows->pdata[r];

      g_assert_cmpuint (row->len, ==, content->n_columns);
      for (guint c = 0; c < row->len; c++)
        check_json_value (json_array_get_object_element (array, r), content->columns[c].id, NULL, row->pdata[c]);
    }
}

static void
check_json_notes (JsonArray             *array,
                  const VnReportContent *content)
{
  g_assert_cmpuint (json_array_get_length (array), ==, content->lines->len);
  for (guint i = 0; i < content->lines->len; i++)
    {
      const VnReportLine *line = content->lines->pdata[i];
      JsonObject *object = json_array_get_object_element (array, i);

      g_assert_cmpstr (json_object_get_string_member (object, "level"), ==, line->level);
      g_assert_cmpstr (json_object_get_string_member (object, "code"), ==, line->code);
      g_assert_cmpstr (json_object_get_string_member_with_default (object, "subject", NULL), ==, line->subject);
      g_assert_cmpstr (json_object_get_string_member (object, "text"), ==, line->text);
      g_assert_cmpstr (json_object_get_string_member_with_default (object, "remedy", NULL), ==, line->remedy);
      n_compared += 5;
    }
}

static void
check_json_content (JsonNode              *section,
                    const VnReportContent *content)
{
  const gboolean is_array = content->kind == VN_REPORT_TABLE || content->kind == VN_REPORT_NOTES;
  JsonObject *object = (content->id != NULL || !is_array) && content->kind != VN_REPORT_PICTURE
                       ? json_node_get_object (section) : NULL;
  JsonArray *array = !is_array ? NULL : object != NULL
                     ? json_object_get_array_member (object, content->id) : json_node_get_array (section);

  if (content->kind == VN_REPORT_FACTS)
    check_json_facts (object, content->facts);
  else if (content->kind == VN_REPORT_TABLE)
    check_json_table (array, content);
  else if (content->kind == VN_REPORT_NOTES)
    check_json_notes (array, content);
  else if (content->kind == VN_REPORT_PICTURE)
    return;
  else if (content->kind == VN_REPORT_COMMAND)
    g_assert_cmpstr (json_object_get_string_member_with_default (object, content->id, NULL), ==, content->text);
  else
    {
      g_assert_cmpstr (json_object_get_string_member (object, "verdict"), ==, content->title);
      g_assert_cmpstr (json_object_get_string_member (object, "level"), ==, content->level);
      g_assert_cmpstr (json_object_get_string_member (object, "text"), ==, content->text);
    }
}

/* ---- Markdown ---- */

static char *
escape (const char *text)
{
  GString *out = g_string_new (NULL);

  for (; *text != '\0'; text++)
    {
      if (strchr ("|`<*_\\", *text) != NULL)
        g_string_append_c (out, '\\');
      g_string_append_c (out, *text == '\n' ? ' ' : *text);
    }
  return g_string_free (out, FALSE);
}

/* @text behind @at, before @end; returns where it ends there. */
static const char *
find_after (const char *at,
            const char *end,
            const char *text)
{
  g_autofree char *escaped = escape (text);
  const char *found = strstr (at, escaped);

  if (found == NULL || (end != NULL && found >= end))
    g_error ("Markdown does not tell “%s”, or not here: %.300s", text, at);
  n_compared++;
  return found + strlen (escaped);
}

/* Each fact; a sentence may tell them in another order. */
static void
check_markdown_facts (const char            *at,
                      const VnReportContent *content)
{
  const char *end = NULL;

  if (content->intro != NULL)
    {
      at = find_after (at, NULL, content->intro);
      end = at;
      at -= strlen (content->intro);
    }
  for (guint i = 0; i < content->facts->len; i++)
    {
      const VnReportFact *fact = content->facts->pdata[i];

      if (*fact->value->display != '\0')
        find_after (at, end, fact->value->display);
    }
}

/* The line of a table that tells all of @row in @part, in the order of its columns, each in a cell of its own or joined. */
static gboolean
line_tells (const char            *line,
            const VnReportContent *table,
            GPtrArray             *row,
            guint                  part)
{
  for (guint c = 0; c < row->len; c++)
    {
      const VnReportColumn *column = &table->columns[c];
      g_autofree char *escaped = escape (((const VnReportValue *) row->pdata[c])->display);
      const char *found;

      if (*escaped == '\0' || (column->part != (int) part && column->part != VN_REPORT_ALL_PARTS))
        continue;
      found = strstr (line, escaped);
      if (found == NULL)
        return FALSE;
      line = found + strlen (escaped);
    }
  return TRUE;
}

static gboolean
row_has_part (const VnReportContent *table,
              GPtrArray             *row,
              guint                  part)
{
  for (guint c = 0; c < row->len; c++)
    if (table->columns[c].part == (int) part && *((const VnReportValue *) row->pdata[c])->display != '\0')
      return TRUE;
  return FALSE;
}

static void
check_markdown_table (const char            *at,
                      const VnReportContent *content)
{
  g_auto(GStrv) lines = g_strsplit (at, "\n", -1);
  guint at_line = 0;

  for (guint part = 0; part < content->n_parts; part++)
    for (guint r = 0; r < content->rows->len; r++)
      {
        GPtrArray *row = content->rows->pdata[r];

        if (!row_has_part (content, row, part))
          continue;
        while (lines[at_line] != NULL && (lines[at_line][0] != '|' || !line_tells (lines[at_line], content, row, part)))
          at_line++;
        if (lines[at_line] == NULL)
          g_error ("no line of the table “%s” tells part %u of row %u", content->columns[0].id, part, r);
        at_line++;
        n_compared += row->len;
      }
}

static void
check_markdown_notes (const char            *at,
                      const VnReportContent *content)
{
  for (guint i = 0; i < content->lines->len; i++)
    {
      const VnReportLine *line = content->lines->pdata[i];

      if (line->title != NULL)
        at = strstr (at, line->title);
      g_assert_nonnull (at);
      if (line->subject != NULL)
        at = find_after (at, NULL, line->subject);
      at = find_after (at, NULL, line->text);
      if (line->remedy != NULL)
        at = find_after (at, NULL, line->remedy);
    }
}

/* Whether programs and readers of text are told anything: of pictures they are not. */
static gboolean
is_told (const VnReportSection *section)
{
  for (guint i = 0; i < section->contents->len; i++)
    if (((const VnReportContent *) section->contents->pdata[i])->kind != VN_REPORT_PICTURE)
      return TRUE;
  return FALSE;
}

/* Returns where the next section may begin. */
static const char *
check_markdown_section (const char            *at,
                        const VnReportSection *section)
{
  if (!section->is_head)
    {
      g_autofree char *title = g_strdup_printf ("\n## %s\n", section->title);

      at = strstr (at, title);
      g_assert_nonnull (at);
    }
  for (guint i = 0; i < section->contents->len; i++)
    {
      const VnReportContent *content = section->contents->pdata[i];

      if (content->kind == VN_REPORT_FACTS)
        check_markdown_facts (at, content);
      else if (content->kind == VN_REPORT_TABLE)
        check_markdown_table (at, content);
      else if (content->kind == VN_REPORT_NOTES)
        check_markdown_notes (at, content);
      else if (content->kind == VN_REPORT_VERDICT)
        at = find_after (strstr (at, content->title), NULL, content->text);
      else if (content->text != NULL && content->kind != VN_REPORT_PICTURE)
        at = strstr (at, content->text);
      g_assert_nonnull (at);
    }
  return at;
}

/* ---- both ---- */

static void
check_printed (const VnReportModel *model)
{
  g_autoptr(GBytes) markdown = vn_report_print_markdown (model, NULL), json = vn_report_print_json (model, NULL);
  g_autofree char *text = g_strndup (g_bytes_get_data (markdown, NULL), g_bytes_get_size (markdown));
  g_autoptr(JsonParser) parser = json_parser_new ();
  JsonObject *root;
  const char *at = text;
  guint n_told = 0;

  g_assert_true (json_parser_load_from_data (parser, g_bytes_get_data (json, NULL), (gssize) g_bytes_get_size (json), NULL));
  root = json_node_get_object (json_parser_get_root (parser));
  g_assert_cmpint (json_object_get_int_member (root, "version"), ==, 1);
  n_compared = 0;
  for (guint i = 0; i < model->sections->len; i++)
    {
      const VnReportSection *section = model->sections->pdata[i];

      g_assert_cmpint (json_object_has_member (root, section->id), ==, is_told (section));
      n_told += is_told (section);
      if (!is_told (section))
        continue;
      at = check_markdown_section (at, section);
      for (guint k = 0; k < section->contents->len; k++)
        check_json_content (json_object_get_member (root, section->id), section->contents->pdata[k]);
    }
  g_assert_cmpuint (json_object_get_size (root), ==, n_told + 1);
  g_test_message ("%u values", n_compared);
  g_assert_cmpuint (n_compared, >, 100);
}

static void
test_printed (gconstpointer data)
{
  g_autoptr(VnRun) result = run (data);
  g_autoptr(VnReportModel) model = vn_report_model_new (result, VN_REPORT_LAYOUT_REPORT);
  g_autoptr(VnReportModel) rare = NULL, xslim = NULL;

  check_printed (model);
  add_rare_things (result);
  rare = vn_report_model_new (result, VN_REPORT_LAYOUT_REPORT);
  check_printed (rare);
  xslim = vn_report_model_new (result, VN_REPORT_LAYOUT_XSLIM);
  check_printed (xslim);
}

/* People read of rules in a table of their own. */
static gboolean
is_rule_row (const VnReportContent *content,
             const GPtrArray       *row)
{
  return g_strcmp0 (content->id, "differences") == 0 && g_str_has_prefix (((VnReportValue *) row->pdata[1])->text, "rules[");
}

/* What has a value for programs has words for people; those that have none are known by name. */
static void
test_words (void)
{
  static const char * const silent[] = { "rules", "marked", "quantized", "not_finite", "output", "type", "moves", "histogram",
                                         "kept", "chosen", "off", NULL };
  g_autoptr(VnRun) result = run ("npu-cnn");
  g_autoptr(VnReportModel) model = NULL;
  guint n = 0;

  add_rare_things (result);
  model = vn_report_model_new (result, VN_REPORT_LAYOUT_REPORT);
  for (guint i = 0; i < model->sections->len; i++)
    for (guint k = 0; k < ((VnReportSection *) model->sections->pdata[i])->contents->len; k++)
      {
        const VnReportContent *content = ((VnReportSection *) model->sections->pdata[i])->contents->pdata[k];

        for (guint r = 0; content->kind == VN_REPORT_TABLE && r < content->rows->len; r++)
          for (guint c = 0; c < content->n_columns && !is_rule_row (content, content->rows->pdata[r]); c++, n++)
            {
              const VnReportValue *value = ((GPtrArray *) content->rows->pdata[r])->pdata[c];

              if (value->type != VN_REPORT_NOTHING && value->type != VN_REPORT_ABSENT &&
                  !g_strv_contains (silent, content->columns[c].id))
                {
                  if (*value->display == '\0')
                    g_error ("%s, %s: a value without words", content->id != NULL ? content->id : "", content->columns[c].id);
                }
            }
      }
  g_assert_cmpuint (n, >, 100);
}

/* ---- printers ---- */

static void
test_printers (void)
{
  g_autoptr(VnRun) result = run ("cpu");
  g_autoptr(VnReportModel) model = vn_report_model_new (result, VN_REPORT_LAYOUT_REPORT);
  g_autofree char *folder = g_dir_make_tmp ("vn-report-XXXXXX", NULL);
  guint n;
  const VnReportPrinter *printers = vn_report_printer_list (&n);

  g_assert_cmpuint (n, >=, 2);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *path = g_build_filename (folder, printers[i].file, NULL), *text = NULL;
      g_autoptr(GError) error = NULL;
      g_autoptr(GBytes) bytes = printers[i].print (model, &error);
      gsize length;

      g_assert_no_error (error);
      g_assert_true (vn_report_printer_find_for_file (path) == &printers[i]);
      g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
      g_assert_true (vn_report_write (model, NULL, path, &error));
      g_assert_true (g_file_get_contents (path, &text, &length, NULL));
      g_assert_cmpmem (text, length, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
      g_assert_cmpuint (length, >, 1000);
      g_unlink (path);
    }
  g_assert_true (vn_report_printer_find_for_file ("no-ending") == &printers[0]);
  g_rmdir (folder);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/report/sections", test_sections);
  g_test_add_data_func ("/report/printed/cpu", "cpu", test_printed);
  g_test_add_data_func ("/report/printed/npu", "npu-cnn", test_printed);
  g_test_add_data_func ("/report/printed/weights", "w8", test_printed);
  g_test_add_func ("/report/words", test_words);
  g_test_add_func ("/report/printers", test_printers);
  return g_test_run ();
}
