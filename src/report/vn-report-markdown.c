/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report as Markdown. */
#include "vn-report-private.h"

#include "vn-data-suspicion.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-npu.h"
#include "vn-setting.h"
#include "vn-verdict.h"

#include <math.h>

/*< private >
 * _vn_report_cell:
 *
 * Names come from files: keep them from breaking the table.
 */
char *
_vn_report_cell (const char *text)
{
  GString *out = g_string_new (NULL);

  for (const char *at = text; *at != '\0'; at++)
    {
      if (*at == '|' || *at == '`' || *at == '<' || *at == '*' || *at == '_' || *at == '\\')
        g_string_append_c (out, '\\');
      g_string_append_c (out, *at == '\n' || *at == '\r' ? ' ' : *at);
    }
  return g_string_free (out, FALSE);
}

static void
report_markdown_row (GString    *text,
                     const char *name,
                     const char *format,
                     ...) G_GNUC_PRINTF (3, 4);

static void
report_markdown_row (GString    *text,
                     const char *name,
                     const char *format,
                     ...)
{
  va_list args;
  g_autofree char *value = NULL;
  g_autofree char *escaped = NULL;

  va_start (args, format);
  value = g_strdup_vprintf (format, args);
  va_end (args);
  escaped = _vn_report_cell (value);
  g_string_append_printf (text, "| %s | %s |\n", name, escaped);
}

static void
report_markdown_append_sizes (GString             *text,
                              const VnReportInput *input)
{
  g_string_append_printf (text, "| | |\n|---|---|\n");
  if (input->source->path != NULL)
    {
      g_autofree char *base = g_path_get_basename (input->source->path);

      report_markdown_row (text, _("Model"), "%s", base);
    }
  report_markdown_row (text, _("Nodes"), "%u", input->source->graph->nodes->len);
  report_markdown_row (text, _("Opset"), "%" G_GINT64_FORMAT, vn_model_get_opset (input->source, ""));
  if (input->float_bytes > 0 && input->quantized_bytes > 0)
    {
      g_autofree char *ratio = vn_format_fixed ((double) input->float_bytes / (double) input->quantized_bytes, 2);

      report_markdown_row (text, _("Float size"), "%" G_GSIZE_FORMAT " %s", input->float_bytes, _("bytes"));
      report_markdown_row (text, _("Quantized size"), "%" G_GSIZE_FORMAT " %s (%s %s)", input->quantized_bytes, _("bytes"), ratio, _("times smaller"));
    }
  if (input->n_calibration > 0)
    report_markdown_row (text, _("Calibration samples"), "%u", input->n_calibration);
  if (input->n_held_out > 0)
    report_markdown_row (text, _("Samples measured"), "%u", input->n_held_out);
}

/* What differs from the preset, and the command that does it all again. */
static void
report_markdown_append_differences (GString             *text,
                                    const VnReportInput *input)
{
  g_autoptr(GPtrArray) differences = vn_recipe_list_differences (input->recipe);
  g_autofree char *command = vn_report_dup_command (input);

  if (differences->len > 0)
    g_string_append_printf (text, "\n%s\n\n| %s | %s | %s |\n|---|---|---|\n", _("Other than the preset:"), _("Setting"), _("Value"),
                            _("Preset"));
  for (guint i = 0; i < differences->len; i++)
    {
      const VnSettingDifference *row = g_ptr_array_index (differences, i);
      g_autofree char *id = _vn_report_cell (row->id);
      g_autofree char *value = _vn_report_cell (row->value);
      g_autofree char *preset = _vn_report_cell (row->preset_value != NULL ? row->preset_value : "");

      g_string_append_printf (text, "| %s (%s) | %s | %s |\n", row->title, id, value, preset);
    }
  if (command != NULL)
    g_string_append_printf (text, "\n%s\n\n```sh\n%s\n```\n", _("To make the same network again:"), command);
}

static void
report_markdown_append_settings (GString             *text,
                                 const VnReportInput *input)
{
  const VnRecipe *recipe = input->recipe;

  g_string_append_printf (text, "\n## %s\n\n| | |\n|---|---|\n", _("Settings"));
  report_markdown_row (text, _("Preset"), "%s", recipe->preset);
  report_markdown_row (text, _("Activations"), "%s%s", vn_dtype_get_name (recipe->activation), recipe->symmetric_activations ? _(", symmetric") : "");
  report_markdown_row (text, _("Weights"), "%s, %s", vn_dtype_get_name (recipe->weight), vn_recipe_has_channels (recipe) ? _("per channel") : _("per tensor"));
  report_markdown_row (text, _("Ranges"), "%s", recipe->method);
  if (g_strcmp0 (recipe->method, "percentile") == 0)
    {
      g_autofree char *percentile = vn_format_plain (recipe->percentile);

      report_markdown_row (text, _("Percentile"), "%s", percentile);
    }
  for (guint i = 0; i < recipe->overrides->len; i++)
    {
      const VnOverride *rule = g_ptr_array_index (recipe->overrides, i);

      if (rule->enabled && rule->pattern != NULL)
        report_markdown_row (text, rule->exclude ? _("Left in float") : _("Rule"), "%s", rule->pattern);
    }
  if (input->data != NULL)
    {
      g_autofree char *base = g_path_get_basename (input->data->path);

      report_markdown_row (text, _("Samples"), "%s", base);
    }
  report_markdown_append_differences (text, input);
}

/* What is suspected of the samples comes before all that was measured on them. */
static void
report_markdown_append_suspicions (GString         *text,
                                   const VnVerdict *verdict)
{
  for (guint i = 0; i < verdict->suspicions->len; i++)
    {
      const VnNote *note = g_ptr_array_index (verdict->suspicions, i);
      g_autofree char *subject = note->subject != NULL ? _vn_report_cell (note->subject) : NULL;
      g_autofree char *what = _vn_report_cell (note->text);
      g_autofree char *remedy = _vn_report_cell (vn_data_suspicion_get_remedy (note));

      g_string_append_printf (text, "\n> **%s** %s%s%s. %s\n", _("Suspicious samples."), subject != NULL ? subject : "",
                              subject != NULL ? ": " : "", what, remedy);
    }
}

static void
report_markdown_append_worst (GString             *text,
                              const VnReportInput *input,
                              const VnErrorRow    *worst)
{
  g_autofree char *name = _vn_report_cell (worst->value);
  g_autofree char *sqnr = vn_format_fixed (worst->sqnr_db, 2);
  g_autofree char *cosine = vn_format_fixed (worst->cosine, 5);
  g_autofree char *noise = vn_format_plain (vn_metric_get_info (VN_METRIC_NOISE)->bad);
  g_autofree char *least = vn_format_plain (vn_metric_get_info (VN_METRIC_COSINE)->bad);

  /* Translators: name of an output, decibels, cosine */
  g_string_append_printf (text, _("\nWorst output %s: %s dB, cosine %s. "), name, sqnr, cosine);
  g_string_append_printf (text, _("%u of %u tensors are marked (noise:signal above %s or cosine below %s).\n"),
                          _vn_report_count_marked (input->errors), vn_error_table_get_n (input->errors), noise, least);
}

/*< private >
 * _vn_report_append_verdict:
 */
void
_vn_report_append_verdict (GString             *text,
                           const VnReportInput *input)
{
  g_autoptr(VnVerdict) verdict = vn_verdict_new (input->errors, input->accuracy, input->notes);
  g_autofree char *words = _vn_report_cell (verdict->text);

  report_markdown_append_suspicions (text, verdict);
  g_string_append_printf (text, "\n**%s.** %s\n", verdict->title, words);
  if (verdict->worst != NULL)
    report_markdown_append_worst (text, input, verdict->worst);
  if (input->accuracy != NULL && input->accuracy->valid)
    g_string_append_printf (text, _("\nTop-1 on %u labelled samples: float %u, quantized %u, same answer %u.\n"),
                            input->accuracy->n, input->accuracy->float_top1, input->accuracy->quant_top1,
                            input->accuracy->agree);
}

static void
report_markdown_append_error_row (GString             *text,
                                  const VnReportInput *input,
                                  const VnErrorRow    *error)
{
  const VnTensorPlan *plan = input->plan != NULL ? vn_quant_plan_find (input->plan, error->value) : NULL;
  g_autofree char *node = _vn_report_cell (error->node[0] != '\0' ? error->node : _("(input)"));
  g_autofree char *value = _vn_report_cell (error->value);
  g_autofree char *op = _vn_report_cell (error->op_type);
  g_autofree char *sqnr = vn_format_fixed (error->sqnr_db, 2);
  g_autofree char *noise = vn_format_plain (error->noise_to_signal);
  g_autofree char *cosine = vn_format_fixed (error->cosine, 5);
  g_autofree char *mse = vn_format_plain (error->mse);
  g_autofree char *max = vn_format_plain (error->max_error);
  g_autofree char *f_min = vn_format_plain (error->float_min);
  g_autofree char *f_max = vn_format_plain (error->float_max);
  g_autofree char *q_min = vn_format_plain (error->quant_min);
  g_autofree char *q_max = vn_format_plain (error->quant_max);

  g_string_append_printf (text, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s … %s | %s … %s | %s |\n",
                          vn_error_row_is_marked (error) ? "**!**" : "", node, op, value,
                          plan != NULL && plan->quantized ? vn_dtype_get_badge (plan->dtype) : "F32",
                          sqnr, noise, cosine, mse, f_min, f_max, q_min, q_max, max);
}

static void
report_markdown_append_errors (GString             *text,
                               const VnReportInput *input)
{
  g_autoptr(GArray) order = vn_error_table_sort_worst (input->errors);

  g_string_append_printf (text, "\n## %s\n\n%s\n\n", _("Error by tensor, worst first"),
                          _("Each tensor of the float network against the same tensor of the quantized one, over all "
                            "samples. SQNR in dB, higher is better; noise:signal, lower is better."));
  g_string_append_printf (text, "| | %s | %s | %s | %s | SQNR dB | %s | %s | MSE | %s | %s | %s |\n",
                          _("Node"), _("Type"), _("Tensor"), _("Precision"), _("Noise:signal"), _("Cosine"),
                          _("Float range"), _("Quantized range"), _("Largest error"));
  g_string_append (text, "|---|---|---|---|---|---:|---:|---:|---:|---|---|---:|\n");
  for (guint i = 0; i < order->len; i++)
    report_markdown_append_error_row (text, input, vn_error_table_get (input->errors, g_array_index (order, guint, i)));
}

static void
report_markdown_append_weights (GString      *text,
                                VnErrorTable *errors)
{
  guint n = vn_error_table_get_n_weights (errors);

  if (n == 0)
    return;
  g_string_append_printf (text, "\n## %s\n\n", _("Weights, worst first"));
  g_string_append_printf (text, "| | %s | %s | %s | SQNR dB | %s | %s | %s |\n", _("Node"), _("Type"), _("Tensor"), _("Noise:signal"),
                          _("Cosine"), _("Largest error"));
  g_string_append (text, "|---|---|---|---|---:|---:|---:|---:|\n");
  for (guint i = 0; i < n; i++)
    {
      const VnErrorRow *row = vn_error_table_get_weight (errors, i);
      g_autofree char *node = _vn_report_cell (row->node);
      g_autofree char *value = _vn_report_cell (row->value);
      g_autofree char *sqnr = vn_format_fixed (row->sqnr_db, 2);
      g_autofree char *noise = vn_format_plain (row->noise_to_signal);
      g_autofree char *cosine = vn_format_fixed (row->cosine, 5);
      g_autofree char *max = vn_format_plain (row->max_error);

      g_string_append_printf (text, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", vn_error_row_is_marked (row) ? "**!**" : "", node,
                              row->op_type, value, sqnr, noise, cosine, max);
    }
}

static void
report_markdown_append_numbers (GString    *text,
                                const char *names,
                                const int  *numbers)
{
  gboolean any = FALSE;

  for (guint i = 0; names[i] != '\0'; i++)
    if (numbers[i] != VN_NPU_NONE)
      {
        g_string_append_printf (text, "%s%c %d", any ? ", " : "", names[i], numbers[i]);
        any = TRUE;
      }
  g_string_append (text, " | ");
}

static void
report_markdown_append_npu_node (GString         *text,
                                 const VnNpuNode *node)
{
  const int positions[] = { node->inputs[0], node->inputs[1], node->weight, node->bias, node->output };
  const int shifts[] = { node->cut, node->bias_shift, node->read, node->write };
  g_autofree char *name = _vn_report_cell (node->node);
  g_autofree char *op = _vn_report_cell (node->op_type);

  g_string_append_printf (text, "| %s | %s | ", name, op);
  report_markdown_append_numbers (text, "xywbo", positions);
  report_markdown_append_numbers (text, "cbrw", shifts);
  for (guint i = 0; i < node->moves->len; i++)
    {
      const VnNpuMove *move = g_ptr_array_index (node->moves, i);
      g_autofree char *tensor = _vn_report_cell (move->tensor);

      g_string_append_printf (text, "%s%s: %d → %d (%s: %s)", i > 0 ? "; " : "", tensor, move->from, move->to, move->rule,
                              move->reason);
    }
  g_string_append (text, " |\n");
}

static void
report_markdown_append_npu (GString     *text,
                            VnQuantPlan *plan)
{
  g_string_append_printf (text, "\n## %s\n\n%s\n\n", _("Shifts in the processor"),
                          _("A scale is 2 to the power of minus its position. Positions: x and y of what is read, w weight, b "
                            "bias, o result. Shifts: c of sums of products, b of the bias, r between what is added, w of what is written."));
  g_string_append_printf (text, "| %s | %s | %s | %s | %s |\n|---|---|---|---|---|\n", _("Node"), _("Type"), _("Positions"),
                          _("Shifts"), _("Moved, and why"));
  for (guint i = 0; i < vn_quant_plan_get_n_npu_nodes (plan); i++)
    report_markdown_append_npu_node (text, vn_quant_plan_get_npu_node (plan, i));
}

/*< private >
 * _vn_report_append_notes:
 * @notes: (nullable)
 */
void
_vn_report_append_notes (GString *text,
                         VnNotes *notes)
{
  if (notes == NULL || vn_notes_get_n (notes) == 0)
    return;
  g_string_append_printf (text, "\n## %s\n\n", _("Notes"));
  for (guint i = 0; i < vn_notes_get_n (notes); i++)
    {
      const VnNote *note = vn_notes_get (notes, i);
      g_autofree char *line = _vn_report_cell (note->text);
      g_autofree char *subject = note->subject != NULL ? _vn_report_cell (note->subject) : NULL;

      if (subject != NULL)
        g_string_append_printf (text, "- %s: %s\n", subject, line);
      else
        g_string_append_printf (text, "- %s\n", line);
    }
}

/**
 * vn_report_markdown:
 *
 * Returns: (transfer full): the report as Markdown. It holds no times and no folders: the same run gives the same text.
 */
char *
vn_report_markdown (const VnReportInput *input)
{
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "# %s\n\n", input->recipe != NULL ? _("Quantization report") : _("Comparison"));
  report_markdown_append_sizes (text, input);
  _vn_report_append_verdict (text, input);
  if (input->recipe != NULL)
    report_markdown_append_settings (text, input);
  if (input->errors != NULL)
    {
      report_markdown_append_errors (text, input);
      report_markdown_append_weights (text, input->errors);
    }
  if (input->plan != NULL && vn_quant_plan_get_n_npu_nodes (input->plan) > 0)
    report_markdown_append_npu (text, input->plan);
  _vn_report_append_notes (text, input->notes);
  return g_string_free (text, FALSE);
}
