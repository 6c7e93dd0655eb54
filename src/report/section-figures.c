/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Section: size, accuracy and speed of the float and of the quantized network, beside each other. */
#include "vn-report-build.h"

#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-run-figures.h"

#include <math.h>

static const VnReportColumn columns[] = {
  { "figure", N_("Metric"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "float", N_("Float"), NULL, TRUE, VN_REPORT_APART, 0 },
  { "quantized", N_("Quantized"), NULL, TRUE, VN_REPORT_APART, 0 },
  { "change", N_("Change"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "from", N_("Source"), NULL, FALSE, VN_REPORT_APART, 0 },
};

static const VnReportPart parts[] = { { NULL, NULL } };

typedef char *(*FormatFunc) (double figure);

static char *
section_figures_format_bytes (double figure)
{
  return vn_format_bytes ((guint64) figure);
}

static char *
section_figures_format_percent (double figure)
{
  g_autofree char *number = vn_format_fixed (100 * figure, 1);

  return g_strdup_printf ("%s %%", number);
}

static char *
section_figures_format_db (double figure)
{
  return vn_format_db (figure);
}

static char *
section_figures_format_ms (double figure)
{
  g_autofree char *number = vn_format_fixed (1e3 * figure, 2);

  return g_strdup_printf ("%s ms", number);
}

static VnReportValue *
section_figures_value (double     figure,
                       FormatFunc format)
{
  return isnan (figure) ? _vn_report_nothing () : _vn_report_number (figure, format (figure));
}

/* @change: (transfer full) (nullable) */
static void
section_figures_add (VnReportContent *table,
                     const char      *id,
                     const char      *title,
                     double           before,
                     double           after,
                     FormatFunc       format,
                     char            *change,
                     const char      *from)
{
  GPtrArray *row;
  g_autofree char *owned = change;

  if (isnan (before) && isnan (after))
    return;
  row = _vn_report_add_row (table);
  g_ptr_array_add (row, _vn_report_text_as (id, title));
  g_ptr_array_add (row, section_figures_value (before, format));
  g_ptr_array_add (row, section_figures_value (after, format));
  g_ptr_array_add (row, _vn_report_text (change));
  g_ptr_array_add (row, _vn_report_text (from));
}

static double
section_figures_known (double figure)
{
  return figure > 0 ? figure : NAN;
}

static void
section_figures_add_size (VnReportContent    *table,
                          const VnRunFigures *figures)
{
  const double before = section_figures_known ((double) figures->float_bytes),
  after = section_figures_known ((double) figures->quantized_bytes);
  g_autofree char *ratio = vn_format_fixed (after > before ? after / before : before / after, 2);

  section_figures_add (table, "size", _("Size"), before, after, section_figures_format_bytes,
                       isnan (before / after) ? NULL : g_strdup_printf (after > before
                                                                        ? _("%s times larger") : _("%s times smaller"), ratio),
                       _("exported files"));
}

/* In numbers of samples: "−3 of 612" says more than a difference of shares. */
static void
section_figures_add_accuracy (VnReportContent    *table,
                              const VnRunFigures *figures,
                              const VnRun        *run)
{
  const VnAccuracy *accuracy = &run->accuracy;
  g_autofree char *more = NULL;
  double shift_db;
  const VnErrorRow *worst = vn_run_find_worst_output (run, &shift_db);

  if (worst != NULL)
    section_figures_add (table, "worst-output", _("SQNR of the worst output"), NAN, worst->sqnr_db, section_figures_format_db,
                         NULL,
                         run->recipe != NULL ? _("held-out samples") : _("samples used for the comparison"));
  if (isnan (figures->accuracy))
    return;
  more = vn_format_signed ((double) accuracy->quant_top1 - (double) accuracy->float_top1, 0);
  section_figures_add (table, "top1", _("Top-1 accuracy"), figures->float_accuracy, figures->accuracy,
                       section_figures_format_percent,
                       g_strdup_printf (ngettext ("%s of %u sample", "%s of %u samples", accuracy->n), more, accuracy->n),
                       _("labeled samples"));
  section_figures_add (table, "same-answer", _("Top-1 agreement with the float model"), NAN, figures->agreement,
                       section_figures_format_percent, NULL, _("labeled samples"));
}

static void
section_figures_add_speed (VnReportContent        *table,
                           const VnRuntimeFigures *figures)
{
  char *ratio = NULL;

  if (!isnan (figures->ratio))
    ratio = figures->time_measured ? g_strdup_printf (_("%.2f times the time"), figures->ratio)
                                   : g_strdup_printf (_("about %.1f times the time, %.1f to %.1f"), figures->ratio,
                                                      figures->least_ratio, figures->most_ratio);
  section_figures_add (table, "seconds", _("Latency, one thread"), section_figures_known (figures->float_seconds),
                       section_figures_known (figures->seconds), section_figures_format_ms,
                       ratio,
                       figures->time_measured ? _("measured") : _("estimated for ONNX Runtime"));
  section_figures_add (table, "integer-share", _("Integer MACs"), NAN, figures->integer_share, section_figures_format_percent,
                       NULL,
                       figures->share_measured ? _("measured") : _("estimated for ONNX Runtime"));
}

void
_vn_report_build_figures (VnReportSection *section,
                          VnRun           *run)
{
  VnReportContent *table = _vn_report_add_table (section, NULL, columns, G_N_ELEMENTS (columns), parts, G_N_ELEMENTS (parts));
  VnRunFigures figures;

  vn_run_figures_init (&figures, run);
  section_figures_add_size (table, &figures);
  section_figures_add_accuracy (table, &figures, run);
  section_figures_add_speed (table, &figures.runtime);
  if (table->rows->len == 0)
    g_ptr_array_set_size (section->contents, 0);
}
