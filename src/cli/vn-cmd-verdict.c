/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verdict on a run, as the commands print it: the summary of the report, and what ONNX Runtime makes of the export. */
#include "vn-cmd.h"

#include "vn-error.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-report.h"
#include "vn-verdict.h"

#include <math.h>

#define LISTED 10u   /* nodes; --json has all */

static void
cmd_verdict_print_content (const VnReportContent *content)
{
  if (content->kind == VN_REPORT_VERDICT)
    vn_cmd_print ("  %s\n    %s\n", content->title, content->text);
  for (guint i = 0; content->kind == VN_REPORT_NOTES && i < content->lines->len; i++)
    {
      const VnReportLine *line = g_ptr_array_index (content->lines, i);

      vn_cmd_print ("  %s %s%s%s\n", line->title, line->subject != NULL ? line->subject : "", line->subject != NULL ? ": " : "",
                    line->text);
      vn_cmd_print ("    %s\n", line->remedy);
    }
}

/* Of many tensors a report takes a while, and text tells the verdict alone. */
VnReportModel *
vn_cmd_new_report (VnRun    *run,
                   gboolean  whole)
{
  g_return_val_if_fail (run != NULL, NULL);

  return vn_report_model_new (run, whole || vn_cmd_options.json ? VN_REPORT_LAYOUT_REPORT : VN_REPORT_LAYOUT_VERDICT);
}

/* The report's JSON is the command's JSON. */
void
vn_cmd_json_report (JsonBuilder         *json,
                    const VnReportModel *report)
{
  g_return_if_fail (json != NULL);

  if (vn_cmd_options.json)
    vn_json_add_node (json, "report", vn_report_to_json (report));
}

/* First what is suspected of the samples, with its remedy. */
void
vn_cmd_print_verdict (const VnReportModel *report)
{
  const VnReportSection *summary;

  g_return_if_fail (report != NULL);

  summary = vn_report_model_find (report, "summary");
  for (guint i = 0; i < summary->contents->len; i++)
    cmd_verdict_print_content (g_ptr_array_index (summary->contents, i));
}

/* "verdict" for people, "level" for machines. */
void
vn_cmd_json_verdict (JsonBuilder         *json,
                     const VnReportModel *report)
{
  const VnReportSection *summary = vn_report_model_find (report, "summary");

  g_return_if_fail (json != NULL);

  for (guint i = 0; i < summary->contents->len; i++)
    {
      const VnReportContent *content = g_ptr_array_index (summary->contents, i);

      if (content->kind != VN_REPORT_VERDICT)
        continue;
      vn_json_add_text (json, "verdict", content->title);
      vn_json_add_text (json, "level", content->level);
    }
}

/* ---- --fail-unless ---- */

/**
 * vn_cmd_check_least_verdict:
 * @least: (nullable): what --fail-unless names
 *
 * Returns: %FALSE with %G_OPTION_ERROR_BAD_VALUE if that is no level of models that can be used
 */
gboolean
vn_cmd_check_least_verdict (const char  *least,
                            GError     **error)
{
  VnVerdictLevel level;

  if (least == NULL || (vn_verdict_level_find (least, &level) && level <= VN_VERDICT_CARE))
    return TRUE;
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("%s: “%s” is not allowed; use %s"), "--fail-unless", least,
               "good, weak-spot, care");
  return FALSE;
}

/**
 * vn_cmd_judge_verdict:
 * @least: (nullable): the worst level that is no failure; what cannot be told is one, too
 *
 * Makes the command fail if the verdict on @run is worse. All is written and printed then.
 */
void
vn_cmd_judge_verdict (const VnRun *run,
                      const char  *least)
{
  g_autoptr(VnVerdict) verdict = NULL;
  g_autoptr(GError) reason = NULL;
  VnVerdictLevel level;

  g_return_if_fail (run != NULL);

  if (least == NULL || !vn_verdict_level_find (least, &level))
    return;
  verdict = vn_verdict_new (run);
  if (verdict->level <= level)
    return;
  reason = g_error_new (VN_ERROR, VN_ERROR_VERDICT, _("The verdict is “%s” (%s), and --fail-unless=%s was asked for. The written "
                                                      "files were kept"), verdict->title, verdict->id, least);
  vn_cmd_fail (reason);
}

/* ---- runtimes ---- */

static void
cmd_verdict_print_agreement (const VnVerification *found)
{
  g_autofree char *db = vn_format_db (vn_verification_get_worst_db (found));

  switch (vn_verification_judge (found))
    {
    case VN_AGREEMENT_SAME:
      vn_cmd_print (_("  the outputs match our simulation: worst SQNR %s\n"), db);
      break;
    case VN_AGREEMENT_ALIKE:
      vn_cmd_print (_("  its outputs differ from our simulation by no more than quantizing costs: %s, the worst of them\n"), db);
      break;
    case VN_AGREEMENT_OTHER:
      vn_cmd_print (_("  the outputs differ from our simulation: worst SQNR %s\n"), db);
      break;
    }
}

/* @heading: stands above them; the first of @nodes are printed */
static void
cmd_verdict_print_nodes (const char      *heading,
                         const GPtrArray *nodes)
{
  g_autofree char *line = g_strchomp (g_strdup (heading));   /* an end of line in what is told would be shown as such */

  if (nodes->len > 0)
    vn_cmd_print ("%s\n", line);
  for (guint i = 0; i < MIN (nodes->len, LISTED); i++)
    {
      const VnVerifiedNode *node = g_ptr_array_index (nodes, i);
      g_autofree char *text = vn_verified_node_dup_text (node);

      vn_cmd_print ("    %s%s%s\n", text, node->reason != NULL ? ": " : "", node->reason != NULL ? node->reason : "");
    }
  if (nodes->len > LISTED)
    vn_cmd_print (_("    and %u more\n"), nodes->len - LISTED);
}

/**
 * vn_cmd_print_verified_nodes:
 * @found: of an export
 *
 * Prints what its runtime tells of nodes: products, partitions, what fell back.
 */
void
vn_cmd_print_verified_nodes (const VnVerification *found)
{
  g_return_if_fail (found != NULL);

  if (found->n_products > 0)
    vn_cmd_print (_("  %u of %u products in integers\n"), found->n_integer_products, found->n_products);
  cmd_verdict_print_nodes (_("  products not in integers, most MACs first:\n"), found->floats);
  if (found->n_partitions > 0)
    vn_cmd_print (ngettext ("  %u partition\n", "  %u partitions\n", found->n_partitions), found->n_partitions);
  cmd_verdict_print_nodes (_("  nodes that fell back to the CPU:\n"), found->fallen);
}

static void
cmd_verdict_print_measured (const VnVerification   *found,
                            const VnRuntimeFigures *figures)
{
  if (figures->time_measured)
    vn_cmd_print (_("Measured in %s %s: latency %.3f ms, %.2f times that of the float model (one thread)\n"),
                  found->runtime->title, found->version, 1e3 * figures->seconds, figures->ratio);
  else
    vn_cmd_print (_("Measured in %s %s\n"), found->runtime->title, found->version);
  if (!isnan (figures->integer_share))
    vn_cmd_print (figures->share_measured ? _("  %.1f %% integer MACs, measured\n")
                                          : _("  %.1f %% integer MACs, estimated\n"), 100 * figures->integer_share);
  vn_cmd_print_verified_nodes (found);
  cmd_verdict_print_agreement (found);
}

/* Why nothing was measured, if that was tried. */
static const char *
cmd_verdict_get_obstacle (VnNotes *notes)
{
  for (guint i = 0; i < vn_notes_get_n (notes); i++)
    {
      const VnNote *note = vn_notes_get (notes, i);

      if (g_str_equal (note->code, VN_NOTE_CODE_NOT_VERIFIED) && note->level == VN_NOTE_INFO)
        return note->text;
    }
  return NULL;
}

/**
 * vn_cmd_print_runtime:
 *
 * Prints what the runtime makes of the export: measured, or else as forecast for ONNX Runtime.
 */
void
vn_cmd_print_runtime (const VnRun *result)
{
  const char *obstacle;
  g_autofree char *ratio = NULL;
  VnRuntimeFigures figures;

  g_return_if_fail (result != NULL);

  vn_runtime_figures_init (&figures, result->forecast, result->verification);
  ratio = vn_runtime_figures_dup_ratio (&figures);
  obstacle = result->verification == NULL ? cmd_verdict_get_obstacle (result->notes) : NULL;
  if (result->verification != NULL && result->verification->refusal == NULL)
    cmd_verdict_print_measured (result->verification, &figures);
  else if (!isnan (figures.integer_share) && ratio != NULL)
    vn_cmd_print (_("In ONNX Runtime, estimated: %.1f %% integer MACs, %s\n"), 100 * figures.integer_share, ratio);
  else if (!isnan (figures.integer_share) && vn_preset_is_target (vn_recipe_get_target (result->recipe)))
    vn_cmd_print (_("%s, estimated: %.1f %% integer MACs\n"), _(vn_recipe_get_target (result->recipe)->title),
                  100 * figures.integer_share);
  if (obstacle != NULL)
    vn_cmd_print ("  %s\n", obstacle);
}
