/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Section: positions of scales and shifts in a processor that has no others, and what was moved for its limits. */
#include "vn-report-build.h"

#include "vn-i18n.h"
#include "vn-npu.h"

static const VnReportColumn columns[] = {
  { "node", N_("Node"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "type", N_("Type"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "positions", N_("Positions"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "shifts", N_("Shifts"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "moves", N_("Adjustments"), NULL, FALSE, VN_REPORT_APART, 0 },
};

static const VnReportPart parts[] = {
  { NULL, N_("Scale = 2 to the power of −position. Positions: x and y inputs, w weight, b bias, o output. Shifts: c "
             "accumulated products, b bias, r between summands, w output.") },
};

/* A number of a node, if it has it, behind its letter. */
static void
section_npu_add_number (VnReportValue *record,
                        const char    *key,
                        const char    *letter,
                        int            number)
{
  g_autofree char *before = NULL;

  if (number == VN_NPU_NONE)
    return;
  before = record->display;
  record->display = g_strdup_printf ("%s%s%s %d", before, *before != '\0' ? ", " : "", letter, number);
  _vn_report_fact (record->parts, key, letter, _vn_report_int (number, NULL));
}

static VnReportValue *
section_npu_positions (const VnNpuNode *node)
{
  VnReportValue *record = _vn_report_record (g_strdup (""));

  section_npu_add_number (record, "input", "x", node->inputs[0]);
  section_npu_add_number (record, "input2", "y", node->inputs[1]);
  section_npu_add_number (record, "weight", "w", node->weight);
  section_npu_add_number (record, "bias", "b", node->bias);
  section_npu_add_number (record, "output", "o", node->output);
  return record;
}

static VnReportValue *
section_npu_shifts (const VnNpuNode *node)
{
  VnReportValue *record = _vn_report_record (g_strdup (""));

  section_npu_add_number (record, "cut", "c", node->cut);
  section_npu_add_number (record, "bias", "b", node->bias_shift);
  section_npu_add_number (record, "read", "r", node->read);
  section_npu_add_number (record, "write", "w", node->write);
  return record;
}

static VnReportValue *
section_npu_move (const VnNpuMove *move)
{
  VnReportValue *record = _vn_report_record (g_strdup_printf ("%s: %d → %d (%s: %s)", move->tensor, move->from, move->to,
                                                              move->rule, move->reason));

  _vn_report_fact (record->parts, "tensor", _("Tensor"), _vn_report_text (move->tensor));
  _vn_report_fact (record->parts, "from", _("From"), _vn_report_int (move->from, NULL));
  _vn_report_fact (record->parts, "to", _("To"), _vn_report_int (move->to, NULL));
  _vn_report_fact (record->parts, "rule", _("Limit"), _vn_report_text (move->rule));
  _vn_report_fact (record->parts, "reason", _("Reason"), _vn_report_text (move->reason));
  return record;
}

void
_vn_report_build_npu (VnReportSection *section,
                      VnRun           *run)
{
  const guint n = run->plan != NULL ? vn_quant_plan_get_n_npu_nodes (run->plan) : 0;
  VnReportContent *table;

  if (n == 0)
    return;
  table = _vn_report_add_table (section, NULL, columns, G_N_ELEMENTS (columns), parts, G_N_ELEMENTS (parts));
  for (guint i = 0; i < n; i++)
    {
      const VnNpuNode *node = vn_quant_plan_get_npu_node (run->plan, i);
      GPtrArray *row = _vn_report_add_row (table);
      VnReportValue *moves = _vn_report_list ();

      for (guint k = 0; k < node->moves->len; k++)
        _vn_report_list_add (moves, section_npu_move (g_ptr_array_index (node->moves, k)), "; ");
      g_ptr_array_add (row, _vn_report_text (node->node));
      g_ptr_array_add (row, _vn_report_text (node->op_type));
      g_ptr_array_add (row, section_npu_positions (node));
      g_ptr_array_add (row, section_npu_shifts (node));
      g_ptr_array_add (row, moves);
    }
}
