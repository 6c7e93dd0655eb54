/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Section: what a runtime makes of the export, measured where it was run there, otherwise expected: share on integers, time
 * beside float, whether outputs agree, and what it computes in float. */
#include "vn-report-build.h"

#include "vn-format.h"
#include "vn-i18n.h"

#include <math.h>
#include <string.h>

static const VnReportColumn columns[] = {
  { "node", N_("Node"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "type", N_("Type"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "kernel", N_("Kernel"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "reason", N_("Reason for float"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "share", N_("Share of the time"), NULL, TRUE, VN_REPORT_APART, 0 },
};

/* Once there was no runtime but one, and its figures had its name. */
#define OUTPUT_COLUMNS(old_id)                                                               \
  { "output", N_("Output"), NULL, FALSE, VN_REPORT_APART, 0 },                               \
  { "agrees", N_("Agrees"), NULL, FALSE, VN_REPORT_APART, 0 },                               \
  { "sqnr_db", N_("Runtime versus simulation"), NULL, TRUE, VN_REPORT_APART, 0 },            \
  { "runtime_sqnr_db", N_("Runtime versus float"), NULL, TRUE, VN_REPORT_APART, 0, old_id }, \
  { "own_sqnr_db", N_("Simulation versus float"), NULL, TRUE, VN_REPORT_APART, 0 },

static const VnReportColumn first_columns[] = { OUTPUT_COLUMNS ("onnxruntime_sqnr_db") };
static const VnReportColumn output_columns[] = { OUTPUT_COLUMNS (NULL) };

static const VnReportPart output_parts[] = {
  { NULL, N_("SQNR of the outputs of the exported model, measured in the runtime.") },
};

static const VnReportPart parts[] = {
  { NULL, N_("Nodes between quantizers that ONNX Runtime computes in float on a CPU, longest estimated time first.") },
};

static const VnReportPart target_parts[] = {
  { NULL, N_("Nodes next to quantizers that the target computes in float, by the rules known for it.") },
};

static const VnReportColumn told_columns[] = {
  { "node", N_("Node"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "operator", N_("Operator"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "type", N_("Type"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "kernel", N_("Kernel"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "macs", N_("MACs"), NULL, TRUE, VN_REPORT_APART, 0 },
  { "reason", N_("Reason reported by the runtime"), NULL, FALSE, VN_REPORT_APART, 0 },
};

static const VnReportPart float_parts[] = {
  { NULL, N_("Products that the runtime does not compute in integers, most MACs first.") },
};

static const VnReportPart fallen_parts[] = {
  { NULL, N_("Nodes that the runtime left to the CPU.") },
};

static VnReportValue *
section_runtime_percent (double share)
{
  return isnan (share) ? _vn_report_nothing () : _vn_report_number (share, g_strdup_printf ("%.1f %%", 100 * share));
}

static VnReportValue *
section_runtime_time (double seconds)
{
  return seconds > 0 ? _vn_report_number (seconds, g_strdup_printf ("%.2f ms", 1e3 * seconds)) : _vn_report_nothing ();
}

/* Where a figure comes from stands behind it. */
static void
section_runtime_add_source (GPtrArray  *facts,
                            const char *key,
                            double      figure,
                            gboolean    measured)
{
  VnReportValue *value = isnan (figure) ? _vn_report_nothing ()
                                        : _vn_report_text_as (measured ? "measured" : "forecast", measured
                                                              ? _("measured") : _("estimated"));

  _vn_report_fact_joined (facts, key, VN_REPORT_JOIN_PARENTHESES, value);
}

static char *
section_runtime_dup_ratio (const VnRuntimeFigures *figures)
{
  return figures->time_measured ? g_strdup_printf (_("%.2f times the float latency"), figures->ratio)
                                : g_strdup_printf (_("about %.1f times that, %.1f to %.1f"), figures->ratio, figures->least_ratio,
                                                   figures->most_ratio);
}

/* Which one it is, and its version or what it said. */
static void
section_runtime_add_runtime (GPtrArray            *facts,
                             const VnVerification *found)
{
  const VnTargetRuntime *runtime = found != NULL ? found->runtime : vn_target_runtime_get_default ();

  _vn_report_fact (facts, "runtime", _("Measured in"),
                   found != NULL ? _vn_report_text_as (runtime->id, runtime->title) : _vn_report_nothing ());
  _vn_report_fact_joined (facts, "version", VN_REPORT_JOIN_PARENTHESES,
                          _vn_report_text (found != NULL ? found->version : NULL));
  if (runtime == vn_target_runtime_get_default ())
    ((VnReportFact *) facts->pdata[facts->len - 1])->old_key = runtime->id;
  if (found != NULL && found->refusal != NULL)
    _vn_report_fact (facts, "refusal", _("Message of the runtime about the export"), _vn_report_text (found->refusal));
}

/* What it tells of nodes; nothing where it does not. */
static void
section_runtime_add_counts (GPtrArray            *facts,
                            const VnVerification *found)
{
  if (found->n_products > 0)
    {
      _vn_report_fact (facts, "integer_products", _("Products in integers"), _vn_report_int (found->n_integer_products, NULL));
      _vn_report_fact_joined (facts, "products", VN_REPORT_JOIN_PARENTHESES,
                              _vn_report_int (found->n_products, g_strdup_printf (_("of %u"), found->n_products)));
    }
  if (found->n_partitions > 0)
    _vn_report_fact (facts, "partitions", _("Partitions"), _vn_report_int (found->n_partitions, NULL));
}

static void
section_runtime_add_facts (VnReportSection *section,
                           VnRun           *run)
{
  GPtrArray *facts = _vn_report_add_facts (section, NULL);
  VnRuntimeFigures figures;

  vn_runtime_figures_init (&figures, run->forecast, run->verification);
  section_runtime_add_runtime (facts, run->verification);
  _vn_report_fact (facts, "integer_share", _("Integer MACs"), section_runtime_percent (figures.integer_share));
  section_runtime_add_source (facts, "integer_share_from", figures.integer_share, figures.share_measured);
  _vn_report_fact (facts, "seconds", figures.time_measured ? _("Latency, one thread") : _("Estimated latency, one thread"),
                   section_runtime_time (figures.seconds));
  section_runtime_add_source (facts, "seconds_from", figures.seconds, figures.time_measured);
  _vn_report_fact (facts, "float_seconds", _("Latency of the float model"), section_runtime_time (figures.float_seconds));
  _vn_report_fact_joined (facts, "time_ratio", VN_REPORT_JOIN_PARENTHESES,
                          isnan (figures.ratio) ? _vn_report_nothing ()
                                                : _vn_report_number (figures.ratio, section_runtime_dup_ratio (&figures)));
  _vn_report_fact (facts, "conversion_share", _("Type and layout conversions"),
                   section_runtime_percent (figures.conversion_share));
  section_runtime_add_source (facts, "conversion_share_from", figures.conversion_share, FALSE);
  if (run->verification != NULL)
    section_runtime_add_counts (facts, run->verification);
}

/* ---- agreement ---- */

static VnReportValue *
section_runtime_db (double db)
{
  return isnan (db) ? _vn_report_absent () : _vn_report_number (db, vn_format_db (db));
}

static void
section_runtime_add_outputs (VnReportSection      *section,
                             const VnVerification *found)
{
  const VnReportColumn *shown = found->runtime == vn_target_runtime_get_default () ? first_columns : output_columns;
  VnReportContent *table = _vn_report_add_table (section, "outputs", shown, G_N_ELEMENTS (output_columns), output_parts,
                                                 G_N_ELEMENTS (output_parts));

  for (guint i = 0; i < found->outputs->len; i++)
    {
      const VnVerifiedOutput *output = g_ptr_array_index (found->outputs, i);
      const VnAgreement agreement = vn_verified_output_judge (output);
      GPtrArray *row = _vn_report_add_row (table);
      VnReportValue *verdict = _vn_report_bool (agreement == VN_AGREEMENT_SAME, vn_agreement_get_title (agreement));
      g_autofree char *title = vn_verified_output_dup_title (output);

      verdict->is_bad = agreement == VN_AGREEMENT_OTHER;
      g_ptr_array_add (row, _vn_report_text_as (output->name, title));
      g_ptr_array_add (row, verdict);
      g_ptr_array_add (row, section_runtime_db (output->sqnr_db));
      g_ptr_array_add (row, section_runtime_db (output->their_db));
      g_ptr_array_add (row, section_runtime_db (output->our_db));
    }
}

/* ---- nodes, as the runtime tells ---- */

/* @key: of the table; those without nodes are left out */
static void
section_runtime_add_told (VnReportSection      *section,
                          const char           *key,
                          const VnReportPart   *part,
                          const GPtrArray      *nodes)
{
  VnReportContent *table = NULL;

  if (nodes->len > 0)
    table = _vn_report_add_table (section, key, told_columns, G_N_ELEMENTS (told_columns), part, 1);
  for (guint i = 0; i < nodes->len; i++)
    {
      const VnVerifiedNode *node = g_ptr_array_index (nodes, i);
      GPtrArray *row = _vn_report_add_row (table);

      g_ptr_array_add (row, _vn_report_text (node->name));
      g_ptr_array_add (row, _vn_report_text (node->op_type));
      g_ptr_array_add (row, _vn_report_text (node->type));
      g_ptr_array_add (row, _vn_report_text (node->kernel));
      g_ptr_array_add (row, node->macs > 0 ? _vn_report_number (node->macs, vn_format_number (node->macs, 3))
                                           : _vn_report_absent ());
      g_ptr_array_add (row, _vn_report_text (node->reason));
    }
}

/* ---- nodes in float ---- */

static int
section_runtime_compare (gconstpointer a,
                         gconstpointer b)
{
  const VnRuntimeNode *first = *(const VnRuntimeNode * const *) a, *second = *(const VnRuntimeNode * const *) b;

  return first->seconds > second->seconds ? -1 : first->seconds < second->seconds ? 1 : strcmp (first->label, second->label);
}

static void
section_runtime_add_nodes (VnReportSection         *section,
                           const VnRuntimeForecast *forecast)
{
  g_autoptr(GPtrArray) found = g_ptr_array_new ();
  VnReportContent *table;

  for (guint i = 0; i < forecast->nodes->len; i++)
    {
      VnRuntimeNode *node = g_ptr_array_index (forecast->nodes, i);

      if (node->kind == VN_RUNTIME_FLOAT && node->reason != VN_RUNTIME_REASON_NONE && !node->converts)
        g_ptr_array_add (found, node);
    }
  if (found->len == 0)
    return;
  g_ptr_array_sort (found, section_runtime_compare);
  table = _vn_report_add_table (section, "float_nodes", columns, G_N_ELEMENTS (columns),
                                forecast->seconds > 0 ? parts : target_parts, G_N_ELEMENTS (parts));
  for (guint i = 0; i < found->len; i++)
    {
      const VnRuntimeNode *node = g_ptr_array_index (found, i);
      GPtrArray *row = _vn_report_add_row (table);

      g_ptr_array_add (row, _vn_report_text (node->label));
      g_ptr_array_add (row, _vn_report_text (node->op_type));
      g_ptr_array_add (row, _vn_report_text (node->kernel));
      g_ptr_array_add (row, _vn_report_text_as (vn_runtime_reason_get_id (node->reason),
                                                vn_runtime_reason_get_text (node->reason)));
      g_ptr_array_add (row, section_runtime_percent (node->seconds / forecast->seconds));
    }
}

static void
section_runtime_add_briefs (VnReportSection *section,
                            VnRun           *run)
{
  VnRuntimeFigures figures;

  vn_runtime_figures_init (&figures, run->forecast, run->verification);
  if (figures.seconds > 0 && figures.float_seconds > 0)
    _vn_report_add_brief (section, g_strdup_printf ("%.3g → %.3g ms", 1e3 * figures.float_seconds, 1e3 * figures.seconds),
                          figures.time_measured
                          ? g_strdup_printf (_("latency in %s, measured"), run->verification->runtime->title)
                          : g_strdup (_("latency in ONNX Runtime, estimated")), NULL);
  if (!isnan (figures.integer_share))
    _vn_report_add_brief (section, g_strdup_printf ("%.0f %%", 100 * figures.integer_share), g_strdup (_("of MACs on integers")),
                          NULL);
}

void
_vn_report_build_runtime (VnReportSection *section,
                          VnRun           *run)
{
  if (run->forecast == NULL && run->verification == NULL)
    return;
  section_runtime_add_facts (section, run);
  section_runtime_add_briefs (section, run);
  if (run->verification != NULL && run->verification->outputs->len > 0)
    section_runtime_add_outputs (section, run->verification);
  if (run->verification != NULL)
    {
      section_runtime_add_told (section, "float_products", float_parts, run->verification->floats);
      section_runtime_add_told (section, "refused_nodes", fallen_parts, run->verification->fallen);
    }
  if (run->forecast != NULL)
    section_runtime_add_nodes (section, run->forecast);
}
