/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command "evaluate": hits and agreement of one or more networks on labelled samples. */
#include "vn-cmd.h"

#include "vn-file.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-ranks.h"

#include <math.h>
#include <string.h>

/* Columns of what the task or the user's own metric tells beside; the report and --json have them all. */
#define MOST_COLUMNS 7u

static char *labels_file, *report_file, *metric, *task_id;
static int metric_timeout;

static const GOptionEntry entries[] = {
  VN_CMD_GROUP_MARK (DATA),
  { "labels", 'l', 0, G_OPTION_ARG_FILENAME, &labels_file,
    N_("File with the class names, one per line, or with samples and their class numbers (default: sorted folders)"),
    N_("FILE") },
  { "task", 0, 0, G_OPTION_ARG_STRING, &task_id,
    N_("Task of the first model, if it is not recognized correctly: tokens, text-detection, segmentation, detection, "
       "keypoints, text, embedding, classification, other"), N_("ID") },
  { "metric", 'm', 0, G_OPTION_ARG_STRING, &metric,
    N_("Custom metric: Python function(sample, outputs) that returns a number or a dict of numbers"), N_("FILE.py:FUNCTION") },
  { "metric-timeout", 0, 0, G_OPTION_ARG_INT, &metric_timeout, N_("Timeout of one call (default: 120)"), N_("N") },
  VN_CMD_GROUP_MARK (OUTPUT),
  { "report", 0, 0, G_OPTION_ARG_FILENAME, &report_file, N_("Write the table as Markdown, a column for each model"), N_("FILE") },
  { NULL }
};

typedef struct
{
  char        **paths;
  GPtrArray    *models;
  const VnScore *scores;
  GPtrArray    *metrics;      /* names of the numbers of the user's metric */
  guint         n;
} Table;

/* All that any model has, in the order of the first that has it. */
static GPtrArray *
cmd_evaluate_list_metrics (const VnScore *scores,
                           guint          n)
{
  GPtrArray *names = g_ptr_array_new ();

  for (guint k = 0; k < n; k++)
    for (guint i = 0; scores[k].metrics != NULL && i < scores[k].metrics->len; i++)
      {
        char *name = g_array_index (scores[k].metrics, VnMetricNumber, i).name;

        if (!g_ptr_array_find_with_equal_func (names, name, g_str_equal, NULL))
          g_ptr_array_add (names, name);
      }
  return names;
}

static char *
cmd_evaluate_format_metric (const VnScore *score,
                            const char    *name)
{
  for (guint i = 0; score->metrics != NULL && i < score->metrics->len; i++)
    {
      const VnMetricNumber *number = &g_array_index (score->metrics, VnMetricNumber, i);

      if (g_str_equal (number->name, name))
        return vn_format_number (number->value, 5);
    }
  return g_strdup ("");
}

/* A cell of as many columns of the terminal as characters. */
static void
cmd_evaluate_print_cell (const char *text,
                         int         width)
{
  vn_cmd_print (" %*s%s", MAX (0, width - (int) g_utf8_strlen (text, -1)), "", text);
}

static int
cmd_evaluate_get_width (const char *name)
{
  return MAX (9, (int) g_utf8_strlen (name, -1));
}

static char *
cmd_evaluate_format_part (guint n,
                          guint of)
{
  return of > 0 ? g_strdup_printf (_("%.2f %%"), 100.0 * n / of) : g_strdup ("");
}

/* Of a classifier among five and fewer all are right. */
static char *
cmd_evaluate_format_top5 (const VnScore *score)
{
  return score->n_outputs > 5 ? cmd_evaluate_format_part (score->top5, score->n_labelled) : g_strdup ("");
}

/* The figure of merit of the outputs; infinite if they are all the same. */
static double
cmd_evaluate_get_sqnr (VnErrorTable *errors)
{
  gboolean same = TRUE;

  for (guint i = 0; i < vn_error_table_get_n (errors) && same; i++)
    same = vn_error_table_get (errors, i)->sqnr_db == INFINITY && vn_error_table_get (errors, i)->n_bad == 0;
  return same ? INFINITY : vn_error_table_get_outputs_sqnr (errors);
}

static char *
cmd_evaluate_format_error (const VnScore *score)
{
  return score->errors != NULL ? vn_format_db_column (cmd_evaluate_get_sqnr (score->errors)) : g_strdup ("");
}

static char *
cmd_evaluate_format_kept (const VnScore *score)
{
  return vn_kept_is_known (&score->kept) ? g_strdup_printf (_("%.2f %%"), 100 * score->kept.share) : g_strdup ("");
}

/* What is told beside the share: what only another model has, or a mean. */
static char *
cmd_evaluate_format_second (const VnScore *score)
{
  const VnTaskSecond second = vn_task_get_second (score->kept.task);

  if (score->kept.n_samples == 0 || second == VN_TASK_SECOND_NONE || (second == VN_TASK_SECOND_MEAN && isnan (score->kept.mean)))
    return g_strdup ("");
  return second == VN_TASK_SECOND_ADDED ? g_strdup_printf ("%" G_GUINT64_FORMAT, score->kept.n_added)
                                        : g_strdup_printf ("%.4f", score->kept.mean);
}

/* Its column on the terminal; empty where there is none. */
static const char *
cmd_evaluate_name_second (VnTask task)
{
  switch (vn_task_get_second (task))
    {
    case VN_TASK_SECOND_ADDED:
      return _("extra");
    case VN_TASK_SECOND_MEAN:
      return vn_task_get_second_title (task);
    default:
      return "";
    }
}

/* Whether the sentence that says what counts is needed: of classes everybody knows. */
static gboolean
cmd_evaluate_has_rule (VnTask task)
{
  return task != VN_TASK_OTHER && task != VN_TASK_CLASSIFICATION;
}

static gboolean
cmd_evaluate_any_labelled (const Table *table)
{
  for (guint k = 0; k < table->n; k++)
    if (table->scores[k].n_labelled > 0)
      return TRUE;
  return FALSE;
}

/* Which output, or part of one, is furthest from the first network, where there is a choice. */
static void
cmd_evaluate_print_weakest (const VnScore *score)
{
  const VnErrorRow *worst = NULL;
  guint n = score->errors != NULL ? vn_error_table_get_n (score->errors) : 0;

  for (guint i = 0; i < n; i++)
    {
      const VnErrorRow *row = vn_error_table_get (score->errors, i);

      if (row->is_output &&
          (worst == NULL || vn_sqnr_bound (row->sqnr_db, row->n_bad) < vn_sqnr_bound (worst->sqnr_db, worst->n_bad)))
        worst = row;
    }
  if (worst != NULL && (n > 1 || worst->parts != NULL) && worst->sqnr_db < INFINITY)
    {
      g_autofree char *title = vn_error_row_dup_title (worst), *db = vn_format_db (worst->sqnr_db);

      vn_cmd_print (_("  %10s  weakest: %s, %s\n"), "", title, db);
    }
}

static void
cmd_evaluate_print_table (const Table *table)
{
  gboolean labelled = cmd_evaluate_any_labelled (table);
  VnTask task = table->scores[0].kept.task;
  const char *second = cmd_evaluate_name_second (task);
  const int second_width = MAX (6, (int) g_utf8_strlen (second, -1));

  vn_cmd_print (labelled ? ngettext ("%u sample, %u with a class\n", "%u samples, %u with a class\n", table->scores[0].n)
                         : ngettext ("%u sample\n", "%u samples\n", table->scores[0].n),
                table->scores[0].n, table->scores[0].n_labelled);
  vn_cmd_print ("  %10s", _("size"));
  if (labelled)
    vn_cmd_print (" %9s %9s", _("top-1"), _("top-5"));
  if (task != VN_TASK_OTHER)
    vn_cmd_print (" %15s", vn_task_get_title (task));
  if (*second != '\0')
    cmd_evaluate_print_cell (second, second_width);
  for (guint i = 0; i < MIN (table->metrics->len, MOST_COLUMNS); i++)
    cmd_evaluate_print_cell (table->metrics->pdata[i], cmd_evaluate_get_width (table->metrics->pdata[i]));
  vn_cmd_print (" %10s  %s\n", _("SQNR"), _("model"));
  for (guint k = 0; k < table->n; k++)
    {
      const VnScore *score = &table->scores[k];
      g_autofree char *size = vn_format_bytes_column (((VnModel *) table->models->pdata[k])->file_size);
      g_autofree char *top1 = cmd_evaluate_format_part (score->top1, score->n_labelled);
      g_autofree char *top5 = cmd_evaluate_format_top5 (score);
      g_autofree char *kept = cmd_evaluate_format_kept (score);
      g_autofree char *added = cmd_evaluate_format_second (score);
      g_autofree char *error = cmd_evaluate_format_error (score);

      vn_cmd_print ("  %10s", size);
      if (labelled)
        vn_cmd_print (" %9s %9s", top1, top5);
      if (task != VN_TASK_OTHER)
        vn_cmd_print (" %15s", kept);
      if (*second != '\0')
        cmd_evaluate_print_cell (added, second_width);
      for (guint i = 0; i < MIN (table->metrics->len, MOST_COLUMNS); i++)
        {
          g_autofree char *number = cmd_evaluate_format_metric (score, table->metrics->pdata[i]);

          cmd_evaluate_print_cell (number, cmd_evaluate_get_width (table->metrics->pdata[i]));
        }
      vn_cmd_print (" %10s  %s\n", error, table->paths[k]);
      cmd_evaluate_print_weakest (score);
    }
  if (table->n > 1 && cmd_evaluate_has_rule (task))
    vn_cmd_print ("%s\n", vn_task_get_rule (task));
}

/* ---- Markdown: the tutorial's table ---- */

typedef char *(*CellFunc) (const Table *table, guint k);

static char *
cmd_evaluate_cell_size (const Table *table,
                        guint        k)
{
  return vn_format_bytes_column (((VnModel *) table->models->pdata[k])->file_size);
}

static char *
cmd_evaluate_cell_top1 (const Table *table,
                        guint        k)
{
  return cmd_evaluate_format_part (table->scores[k].top1, table->scores[k].n_labelled);
}

static char *
cmd_evaluate_cell_top5 (const Table *table,
                        guint        k)
{
  return cmd_evaluate_format_top5 (&table->scores[k]);
}

static char *
cmd_evaluate_cell_kept (const Table *table,
                        guint        k)
{
  return cmd_evaluate_format_kept (&table->scores[k]);
}

static char *
cmd_evaluate_cell_second (const Table *table,
                          guint        k)
{
  return cmd_evaluate_format_second (&table->scores[k]);
}

static char *
cmd_evaluate_cell_error (const Table *table,
                         guint        k)
{
  return cmd_evaluate_format_error (&table->scores[k]);
}

static void
cmd_evaluate_append_metrics (GString     *text,
                             const Table *table)
{
  for (guint i = 0; i < table->metrics->len; i++)
    {
      g_string_append_printf (text, "\n| %s |", (const char *) table->metrics->pdata[i]);
      for (guint k = 0; k < table->n; k++)
        {
          g_autofree char *cell = cmd_evaluate_format_metric (&table->scores[k], table->metrics->pdata[i]);

          g_string_append_printf (text, " %s |", cell);
        }
    }
}

static void
cmd_evaluate_append_row (GString     *text,
                         const Table *table,
                         const char  *title,
                         CellFunc     func)
{
  g_string_append_printf (text, "\n| %s |", title);
  for (guint k = 0; k < table->n; k++)
    {
      g_autofree char *cell = func (table, k);

      g_string_append_printf (text, " %s |", cell);
    }
}

static char *
cmd_evaluate_make_markdown (const Table *table)
{
  static const struct { const char *title; CellFunc func; } rows[] = {
    { N_("Model size"), cmd_evaluate_cell_size }, { N_("Prec@1"), cmd_evaluate_cell_top1 },
    { N_("Prec@5"), cmd_evaluate_cell_top5 },
  };
  GString *text = g_string_new ("| |");
  VnTask task = table->scores[0].kept.task;

  for (guint k = 0; k < table->n; k++)
    g_string_append_printf (text, " %s |", table->paths[k]);
  g_string_append (text, "\n|---|");
  for (guint k = 0; k < table->n; k++)
    g_string_append (text, "---|");
  for (guint r = 0; r < G_N_ELEMENTS (rows); r++)
    cmd_evaluate_append_row (text, table, _(rows[r].title), rows[r].func);
  if (task != VN_TASK_OTHER)
    cmd_evaluate_append_row (text, table, vn_task_get_title (task), cmd_evaluate_cell_kept);
  if (vn_task_get_second (task) != VN_TASK_SECOND_NONE)
    cmd_evaluate_append_row (text, table, vn_task_get_second_title (task), cmd_evaluate_cell_second);
  cmd_evaluate_append_metrics (text, table);
  cmd_evaluate_append_row (text, table, _("SQNR versus the first"), cmd_evaluate_cell_error);
  g_string_append_printf (text, ngettext ("\n\nOver %u sample.\n", "\n\nOver %u samples.\n", table->scores[0].n),
                          table->scores[0].n);
  if (task != VN_TASK_OTHER && table->n > 1)
    g_string_append_printf (text, "%s.\n", vn_task_get_rule (task));
  return g_string_free (text, FALSE);
}

/* ---- JSON ---- */

static void
cmd_evaluate_add_kept (JsonBuilder  *json,
                       const VnKept *kept)
{
  vn_json_begin_object (json, "kept");
  vn_json_add_text (json, "measure", vn_task_get_measure_id (kept->task));
  vn_json_add_number (json, "share", kept->share);
  vn_json_add_int (json, "samples", kept->n_samples);
  if (vn_task_get_counted (kept->task) != NULL)
    {
      vn_json_add_int (json, vn_task_get_counted (kept->task), (gint64) kept->n);
      vn_json_add_int (json, "kept", (gint64) kept->n_kept);
    }
  else if (kept->task == VN_TASK_SEGMENTATION)
    vn_json_add_int (json, "classes", (gint64) kept->n);
  if (vn_task_get_second (kept->task) == VN_TASK_SECOND_ADDED)
    vn_json_add_int (json, vn_task_get_second_id (kept->task), (gint64) kept->n_added);
  else if (vn_task_get_second (kept->task) == VN_TASK_SECOND_MEAN)
    vn_json_add_number (json, vn_task_get_second_id (kept->task), kept->mean);
  json_builder_end_object (json);
}

/* In the order of the data set. */
static void
cmd_evaluate_add_answers (JsonBuilder *json,
                          GPtrArray   *answers)
{
  if (answers == NULL || answers->len == 0)
    return;
  vn_json_begin_array (json, "answers");
  for (guint i = 0; i < answers->len; i++)
    {
      const VnSampleAnswer *answer = g_ptr_array_index (answers, i);
      const VnKept *kept = &answer->kept;

      json_builder_begin_object (json);
      vn_json_add_text (json, "sample", answer->name);
      if (vn_task_get_counted (kept->task) != NULL)
        {
          vn_json_add_int (json, "of", (gint64) kept->n);
          vn_json_add_int (json, "kept", (gint64) kept->n_kept);
          vn_json_add_int (json, "lost", (gint64) (kept->n - kept->n_kept));
          vn_json_add_int (json, "added", (gint64) kept->n_added);
        }
      vn_json_add_number (json, "share", kept->share);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static void
cmd_evaluate_add_metrics (JsonBuilder   *json,
                          const VnScore *score)
{
  if (score->metrics == NULL)
    return;
  vn_json_begin_object (json, "metrics");
  for (guint i = 0; i < score->metrics->len; i++)
    {
      const VnMetricNumber *number = &g_array_index (score->metrics, VnMetricNumber, i);

      vn_json_add_number (json, number->name, number->value);
    }
  json_builder_end_object (json);
}

/* Of all outputs: the figure of merit, and the least that any comes to. */
static void
cmd_evaluate_add_errors (JsonBuilder  *json,
                         VnErrorTable *errors)
{
  double cosine = 1, largest = 0;

  for (guint i = 0; i < vn_error_table_get_n (errors); i++)
    {
      const VnErrorRow *row = vn_error_table_get (errors, i);

      cosine = fmin (cosine, row->cosine);
      largest = fmax (largest, row->max_error);
    }
  vn_json_add_number (json, "sqnr_db", cmd_evaluate_get_sqnr (errors));
  vn_json_add_number (json, "cosine", cosine);
  vn_json_add_number (json, "max_error", largest);
  vn_json_begin_array (json, "outputs");
  for (guint i = 0; i < vn_error_table_get_n (errors); i++)
    {
      const VnErrorRow *row = vn_error_table_get (errors, i);

      json_builder_begin_object (json);
      vn_json_add_text (json, "name", row->value);
      vn_json_add_number (json, "sqnr_db", row->sqnr_db);
      vn_json_add_number (json, "cosine", row->cosine);
      vn_json_add_number (json, "max_error", row->max_error);
      vn_cmd_json_part (json, vn_error_row_get_worst_part (row));
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static void
cmd_evaluate_add_scores (JsonBuilder *json,
                         const Table *table)
{
  vn_json_begin_array (json, "models");
  for (guint k = 0; k < table->n; k++)
    {
      const VnScore *score = &table->scores[k];

      json_builder_begin_object (json);
      vn_json_add_text (json, "model", table->paths[k]);
      vn_json_add_int (json, "bytes", (gint64) ((VnModel *) table->models->pdata[k])->file_size);
      vn_json_add_int (json, "samples", score->n);
      vn_json_add_int (json, "classes", (gint64) score->n_outputs);
      vn_json_add_int (json, "labelled", score->n_labelled);
      if (score->n_labelled > 0)
        {
          vn_json_add_int (json, "top1_hits", score->top1);
          vn_json_add_int (json, "top5_hits", score->top5);
          vn_json_add_number (json, "top1", (double) score->top1 / score->n_labelled);
          vn_json_add_number (json, "top5", (double) score->top5 / score->n_labelled);
        }
      vn_json_add_text (json, "task", vn_task_get_id (score->kept.task));
      if (score->kept.task == VN_TASK_CLASSIFICATION && score->kept.n_samples > 0)
        vn_json_add_int (json, "same_class_as_first", (gint64) score->kept.n_kept);
      else if (score->kept.n_samples > 0)
        cmd_evaluate_add_kept (json, &score->kept);
      cmd_evaluate_add_answers (json, score->answers);
      cmd_evaluate_add_metrics (json, score);
      if (score->errors != NULL)
        cmd_evaluate_add_errors (json, score->errors);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

/* ---- the command ---- */

/* --shape and --dim speak of the first model's inputs. */
static GPtrArray *
cmd_evaluate_open_models (char       **paths,
                          GHashTable **shapes,
                          VnFileSet   *files,
                          GError     **error)
{
  g_autoptr(GPtrArray) models = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_model_unref);

  for (guint k = 0; paths[k] != NULL; k++)
    {
      VnModel *model = k == 0 ? vn_cmd_open_model_sized (paths[k], shapes, error) : vn_cmd_open_model (paths[k], error);

      if (model == NULL)
        return NULL;
      vn_model_add_files (model, files);
      g_ptr_array_add (models, model);
    }
  return g_steal_pointer (&models);
}

static gboolean
cmd_evaluate_take_task (VnEvaluateSettings  *settings,
                        GError             **error)
{
  g_autofree char *ids = vn_task_dup_ids ();
  VnTask task;

  if (task_id != NULL && !vn_task_find (task_id, &task))
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("--task %s: unknown task; choose one of %s"), task_id,
                   ids);
      return FALSE;
    }
  settings->task = task_id;
  return TRUE;
}

static gboolean
cmd_evaluate_take_metric (VnEvaluateSettings  *settings,
                          GError             **error)
{
  if (metric_timeout < 0 || (metric_timeout > 0 && metric == NULL))
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   _("--metric-timeout must be above 0 and requires --metric"));
      return FALSE;
    }
  settings->metric = metric;
  settings->metric_timeout = (guint) metric_timeout;
  return TRUE;
}

static gboolean
evaluate_run (char        **args,
              JsonBuilder  *json,
              GError      **error)
{
  g_autoptr(VnDataSpec) data = NULL;
  g_autoptr(GPtrArray) names = NULL;
  g_autoptr(VnFileSet) files = vn_cmd_new_files (args[0]);
  g_autoptr(GHashTable) shapes = NULL;
  g_autoptr(GPtrArray) models = NULL;
  g_autoptr(VnJob) job = NULL;
  g_autofree char *python = vn_cmd_take_python (metric != NULL);
  VnEvaluateSettings settings = { .labels = labels_file, .python = python, .n_threads = (guint) vn_cmd_options.threads };
  VnNotes *notes;
  Table table;

  if (!cmd_evaluate_take_task (&settings, error) || !cmd_evaluate_take_metric (&settings, error) ||
      (data = vn_cmd_make_data_spec (error)) == NULL)
    return FALSE;
  settings.data = data;
  vn_data_spec_add_files (data, files);
  vn_file_set_reads (files, labels_file, _("the list of classes"));
  vn_file_set_writes (files, report_file, "--report");
  if (!vn_file_set_check (files, error) || (models = cmd_evaluate_open_models (args, &shapes, files, error)) == NULL ||
      !vn_file_set_check (files, error))
    return FALSE;
  vn_cmd_take_metadata (data, models->pdata[0]);
  settings.models = models;
  settings.input_shapes = shapes;
  job = vn_evaluate_job_new (&settings);
  if (!vn_cmd_run_job (job, error))
    return FALSE;
  if (vn_ranks_get_rank () > 0)
    return TRUE;
  names = cmd_evaluate_list_metrics (vn_evaluate_job_get_scores (job), models->len);
  table = (Table) { args, models, vn_evaluate_job_get_scores (job), names, models->len };
  if (report_file != NULL)
    {
      g_autofree char *text = cmd_evaluate_make_markdown (&table);

      vn_cmd_hold_files ();
      if (!vn_file_write_all (report_file, text, strlen (text), error))
        return FALSE;
    }
  notes = vn_evaluate_job_get_notes (job);
  vn_cmd_print_notes (notes);
  cmd_evaluate_print_table (&table);
  cmd_evaluate_add_scores (json, &table);
  vn_cmd_json_notes (json, notes);
  return TRUE;
}

static const char * const common[] = { "data", "samples", "preprocess", "labels", "task", "metric", "shape", "report", "engine",
                                       "threads", "json", NULL };

const VnCmd vn_cmd_evaluate = {
  .name = "evaluate",
  .usage = "MODEL … --data PATH",
  .summary = N_("Compare the accuracy of models, and the error of each against the first"),
  .options = entries,
  .common = common,
  .in_ranks = TRUE,
  .shares_loops = TRUE,
  .needs_data = TRUE,
  .n_args = 1,
  .takes_more = TRUE,
  .run = evaluate_run,
};
