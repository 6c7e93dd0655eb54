/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What “inspect” says on request of the numbers that a file gives for the nodes: what the window colors the graph by. */
#include "vn-cmd.h"

#include "vn-i18n.h"
#include "vn-node-data.h"
#include "vn-scene.h"
#include "vn-shown.h"

#include <math.h>

#define MOST_UNMATCHED 20u   /* names that are listed */

static char *
cmd_inspect_numbers_dup_value (const VnNodeNumbers *numbers,
                               double               value)
{
  return numbers->is_time ? g_strdup_printf ("%.1f us", value * 1e6) : g_strdup_printf ("%.6g", value);
}

static void
cmd_inspect_numbers_add_node (JsonBuilder         *json,
                              const VnNodeNumbers *numbers,
                              const VnNode        *node,
                              double               value)
{
  g_autofree char *label = vn_node_dup_label (node), *text = cmd_inspect_numbers_dup_value (numbers, value);

  vn_cmd_print ("  %14s  %-20s %s\n", text, node->op_type, label);
  json_builder_begin_object (json);
  vn_json_add_text (json, "node", label);
  vn_json_add_text (json, "type", node->op_type);
  vn_json_add_number (json, "value", value);
  json_builder_end_object (json);
}

static void
cmd_inspect_numbers_add_unmatched (JsonBuilder         *json,
                                   const VnNodeNumbers *numbers)
{
  if (numbers->unmatched->len > 0)
    vn_cmd_print ("%s\n", _("Names that match no node"));
  vn_json_begin_array (json, "unmatched");
  for (guint i = 0; i < numbers->unmatched->len; i++)
    {
      const VnNodeDatum *datum = g_ptr_array_index (numbers->unmatched, i);
      g_autofree char *name = vn_shown_dup (datum->name), *text = cmd_inspect_numbers_dup_value (numbers, datum->value);

      if (i < MOST_UNMATCHED)
        vn_cmd_print ("  %14s  %s\n", text, name);
      json_builder_begin_object (json);
      vn_json_add_text (json, "name", name);
      vn_json_add_number (json, "value", datum->value);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
  if (numbers->unmatched->len > MOST_UNMATCHED)
    vn_cmd_print (ngettext ("  … and %u more\n", "  … and %u more\n", numbers->unmatched->len - MOST_UNMATCHED),
                  numbers->unmatched->len - MOST_UNMATCHED);
}

/*< private >
 * vn_cmd_print_numbers:
 * @path: of Model Explorer's node data, a profile of ONNX Runtime, or a table of names and values
 *
 * The numbers of a file beside the nodes, as text and as the member "node_data".
 */
gboolean
vn_cmd_print_numbers (JsonBuilder    *json,
                      const VnGraph  *graph,
                      const char     *path,
                      GError        **error)
{
  g_autoptr(VnNodeData) data = NULL;
  g_autoptr(VnNodeNumbers) numbers = NULL;
  g_autofree char *total = NULL, *note = NULL;
  g_auto(GStrv) lines = NULL;

  g_return_val_if_fail (json != NULL && graph != NULL && path != NULL, FALSE);

  data = vn_node_data_load (path, error);
  if (data == NULL)
    return FALSE;
  numbers = vn_node_numbers_new (data, graph);
  total = vn_amount_format (VN_AMOUNT_SECONDS, vn_node_numbers_sum (numbers));
  note = vn_node_numbers_dup_note (numbers, total);
  vn_cmd_print (_("Values of nodes from %s\n"), path);
  json_builder_set_member_name (json, "node_data");
  json_builder_begin_object (json);
  vn_json_add_text (json, "unit", numbers->is_time ? "s" : "");
  vn_json_add_int (json, "runs", numbers->n_runs);
  vn_json_add_int (json, "skipped", numbers->n_skipped);
  vn_json_begin_array (json, "nodes");
  for (guint i = 0; i < numbers->n; i++)
    if (!isnan (numbers->values[i]))
      cmd_inspect_numbers_add_node (json, numbers, g_ptr_array_index (graph->nodes, i), numbers->values[i]);
  json_builder_end_array (json);
  cmd_inspect_numbers_add_unmatched (json, numbers);
  json_builder_end_object (json);
  lines = g_strsplit (note, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    vn_cmd_print ("%s\n", lines[i]);
  return TRUE;
}
