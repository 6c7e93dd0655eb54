/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sections of the report's head: the network, its sizes, the samples, the verdict and hits of a classifier. */
#include "vn-report-build.h"

#include "vn-data-suspicion.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-kept-details.h"
#include "vn-verdict.h"

#include <math.h>

void
_vn_report_build_model (VnReportSection *section,
                        VnRun           *run)
{
  g_autofree char *base = run->source->path != NULL ? g_path_get_basename (run->source->path) : NULL;
  GPtrArray *facts = _vn_report_add_facts (section, NULL);

  _vn_report_fact (facts, "file", _("Model"), _vn_report_text (base));
  _vn_report_fact (facts, "nodes", _("Nodes"), _vn_report_int (run->source->graph->nodes->len, NULL));
  _vn_report_fact (facts, "opset", _("Opset"), _vn_report_int (vn_model_get_opset (run->source, ""), NULL));
}

/* A size of 0 is one that nobody knows. */
static VnReportValue *
section_head_size_value (gsize bytes)
{
  if (bytes == 0)
    return _vn_report_nothing ();
  return _vn_report_int ((gint64) bytes, g_strdup_printf ("%llu %s", (unsigned long long) bytes, _("bytes")));
}

static VnReportValue *
section_head_ratio_value (VnRun *run)
{
  g_autofree char *number = NULL, *larger = NULL;
  double ratio;

  if (run->float_bytes == 0 || run->quantized_bytes == 0)
    return _vn_report_nothing ();
  ratio = (double) run->float_bytes / (double) run->quantized_bytes;
  number = vn_format_fixed (ratio, 2);
  larger = vn_format_fixed (1 / ratio, 2);
  return _vn_report_number (ratio, ratio < 1 ? g_strdup_printf (_("%s times larger"), larger)
                            : g_strdup_printf (_("%s times smaller"), number));
}

void
_vn_report_build_sizes (VnReportSection *section,
                        VnRun           *run)
{
  GPtrArray *facts = _vn_report_add_facts (section, NULL);

  _vn_report_fact (facts, "float_bytes", _("Float size"), section_head_size_value (run->float_bytes));
  _vn_report_fact (facts, "quantized_bytes", _("Quantized size"), section_head_size_value (run->quantized_bytes));
  _vn_report_fact_joined (facts, "ratio", VN_REPORT_JOIN_PARENTHESES, section_head_ratio_value (run));
  if (run->float_bytes > 0 && run->quantized_bytes > 0)
    {
      g_autofree char *before = vn_format_bytes (run->float_bytes), *after = vn_format_bytes (run->quantized_bytes);

      _vn_report_add_brief (section, g_strdup_printf ("%s → %s", before, after), g_strdup (_("size")), NULL);
    }
}

/* Of a comparison nobody knows what was calibrated on. */
void
_vn_report_build_samples (VnReportSection *section,
                          VnRun           *run)
{
  GPtrArray *facts = _vn_report_add_facts (section, NULL);

  _vn_report_fact (facts, "calibration", _("Calibration samples"),
                   run->recipe != NULL ? _vn_report_int (run->n_calibration, NULL) : _vn_report_nothing ());
  _vn_report_fact (facts, "measured", _("Evaluation samples"), _vn_report_int (run->n_held_out, NULL));
}

/* ---- the verdict ---- */

static guint
section_head_count_marked (VnErrorTable *errors)
{
  guint n = 0;

  for (guint i = 0; i < vn_error_table_get_n (errors); i++)
    n += vn_error_row_is_marked (vn_error_table_get (errors, i));
  return n;
}

static void
section_head_add_suspicions (VnReportSection *section,
                             const VnVerdict *verdict)
{
  GPtrArray *lines = _vn_report_add_notes (section, "suspicions");

  for (guint i = 0; i < verdict->suspicions->len; i++)
    {
      const VnNote *note = g_ptr_array_index (verdict->suspicions, i);

      _vn_report_add_note (lines, note, _("Suspicious samples."), vn_data_suspicion_get_remedy (note));
    }
}

static void
section_head_add_not_finite (GPtrArray       *facts,
                             const VnVerdict *verdict)
{
  VnReportValue *list = _vn_report_list ();

  for (guint i = 0; i < verdict->not_finite->len; i++)
    _vn_report_list_add (list, _vn_report_text (g_ptr_array_index (verdict->not_finite, i)), ", ");
  _vn_report_fact (facts, "not_finite", _("Non-finite"), list);
}

static void
section_head_add_worst (GPtrArray        *facts,
                        const VnErrorRow *worst)
{
  _vn_report_fact (facts, "worst_output", _("Worst output"), _vn_report_text (worst != NULL ? worst->value : NULL));
  if (worst == NULL)
    return;
  _vn_report_fact (facts, "sqnr_db", _("SQNR"), _vn_report_number (worst->sqnr_db, vn_format_decimals (worst->sqnr_db, 2)));
  _vn_report_fact (facts, "cosine", _("Cosine"), _vn_report_number (worst->cosine, vn_format_decimals (worst->cosine, 5)));
}

/* All facts of the summary in a few sentences. */
static char *
section_head_dup_sentence (VnRun           *run,
                           const VnVerdict *verdict)
{
  g_autoptr(GString) text = g_string_new (NULL);
  g_autofree char *noise = vn_format_number (vn_metric_get_info (VN_METRIC_NOISE)->bad, 3);
  g_autofree char *least = vn_format_number (vn_metric_get_info (VN_METRIC_COSINE)->bad, 3);

  if (run->errors == NULL)
    return NULL;
  if (verdict->worst != NULL)
    {
      g_autofree char *sqnr = vn_format_decimals (verdict->worst->sqnr_db, 2);
      g_autofree char *cosine = vn_format_decimals (verdict->worst->cosine, 5);

      /* Translators: name of an output, decibels, cosine */
      g_string_append_printf (text, _("Worst output %s: %s dB, cosine %s. "), verdict->worst->value, sqnr, cosine);
    }
  g_string_append_printf (text,
                          ngettext ("%u of %u tensor is marked (noise-to-signal ratio above %s or cosine below %s).",
                                    "%u of %u tensors are marked (noise-to-signal ratio above %s or cosine below %s).",
                                    vn_error_table_get_n (run->errors)),
                          section_head_count_marked (run->errors), vn_error_table_get_n (run->errors), noise, least);
  for (guint i = 0; i < verdict->not_finite->len; i++)
    g_string_append_printf (text, "%s%s", i == 0 ? _(" Non-finite: ") : ", ",
                            (char *) g_ptr_array_index (verdict->not_finite, i));
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* What is suspected of the samples comes before all that was measured on them. */
void
_vn_report_build_summary (VnReportSection *section,
                          VnRun           *run)
{
  g_autoptr(VnVerdict) verdict = vn_verdict_new (run);
  GPtrArray *facts;

  section_head_add_suspicions (section, verdict);
  _vn_report_add_verdict (section, verdict->id, verdict->title, verdict->text);
  facts = _vn_report_add_facts (section, section_head_dup_sentence (run, verdict));
  section_head_add_not_finite (facts, verdict);
  section_head_add_worst (facts, verdict->worst);
  if (verdict->worst != NULL)
    _vn_report_add_brief (section, vn_format_db_margin (verdict->figures.worst_db, verdict->figures.margin_db),
                          g_strdup_printf (_("SQNR of the worst output, %s"), verdict->worst->value), NULL);
  _vn_report_fact (facts, "marked", _("Marked tensors"),
                   run->errors != NULL ? _vn_report_int (section_head_count_marked (run->errors), NULL)
                   : _vn_report_nothing ());
}

/* What becomes of detections, of a mask, of text, ... */
static void
section_head_add_kept (VnReportSection *section,
                       const VnKept    *kept)
{
  const VnTask task = kept->task;
  g_autofree char *text = vn_kept_dup_figures (kept), *details = vn_kept_dup_details (kept);
  GPtrArray *facts = _vn_report_add_facts (section, g_strdup_printf (_("%s: %s."), vn_task_get_title (task), text));

  _vn_report_fact (facts, "task", _("Task"), _vn_report_text (vn_task_get_id (task)));
  _vn_report_fact (facts, "kept", vn_task_get_title (task), _vn_report_number (kept->share, NULL));
  _vn_report_fact (facts, "kept_samples", _("Samples compared"), _vn_report_int (kept->n_samples, NULL));
  if (vn_task_get_counted (task) != NULL)
    _vn_report_fact (facts, vn_task_get_counted (task), _("Answers of the float model"), _vn_report_int ((gint64) kept->n, NULL));
  if (vn_task_get_second (task) == VN_TASK_SECOND_ADDED)
    {
      g_autofree char *key = g_strdup_printf ("%s_added", vn_task_get_counted (task));

      _vn_report_fact (facts, g_intern_string (key), vn_task_get_second_title (task),
                       _vn_report_int ((gint64) kept->n_added, NULL));
    }
  else if (vn_task_get_second (task) == VN_TASK_SECOND_MEAN)
    _vn_report_fact (facts, vn_task_get_second_id (task), vn_task_get_second_title (task), _vn_report_number (kept->mean, NULL));
  if (!kept->has_figures)
    return;
  facts = _vn_report_add_facts (section, details != NULL ? g_strconcat (details, ".", NULL) : NULL);
  for (guint f = 0; f < VN_N_KEPT_FIGURES; f++)
    if (isfinite (vn_kept_get_figure (kept, (VnKeptFigure) f)))
      _vn_report_fact (facts, vn_kept_figure_get_id ((VnKeptFigure) f), vn_kept_figure_get_title ((VnKeptFigure) f),
                       _vn_report_number (vn_kept_get_figure (kept, (VnKeptFigure) f), NULL));
}

void
_vn_report_build_accuracy (VnReportSection *section,
                           VnRun           *run)
{
  const VnAccuracy *accuracy = &run->accuracy;
  GPtrArray *facts;

  if (vn_kept_is_known (&accuracy->kept))
    section_head_add_kept (section, &accuracy->kept);
  if (!accuracy->valid)
    return;
  facts = _vn_report_add_facts (section, g_strdup_printf (ngettext ("Top-1 on %u labeled sample: float %u, quantized "
                                                                    "%u, same prediction %u.",
                                                                    "Top-1 on %u labeled samples: float %u, quantized "
                                                                    "%u, same prediction %u.", accuracy->n),
                                                          accuracy->n, accuracy->float_top1, accuracy->quant_top1,
                                                          accuracy->agree));
  _vn_report_fact (facts, "samples", _("Labeled samples"), _vn_report_int (accuracy->n, NULL));
  _vn_report_fact (facts, "float_top1", _("Float model correct"), _vn_report_int (accuracy->float_top1, NULL));
  _vn_report_fact (facts, "quantized_top1", _("Quantized model correct"), _vn_report_int (accuracy->quant_top1, NULL));
  _vn_report_fact (facts, "agree", _("Top-1 agreement"), _vn_report_int (accuracy->agree, NULL));
  if (accuracy->n > 0)
    _vn_report_add_brief (section, g_strdup_printf ("%.1f → %.1f %%", 100.0 * accuracy->float_top1 / accuracy->n,
                                                    100.0 * accuracy->quant_top1 / accuracy->n),
                          g_strdup_printf (ngettext ("correct of %u labeled sample",
                                                     "correct of %u labeled samples", accuracy->n), accuracy->n), NULL);
}
