/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What “inspect” says on request of weights and of the types that nodes compute in. */
#include "vn-cmd.h"

#include "vn-i18n.h"
#include "vn-weights.h"

static void
cmd_inspect_weights_add_weight (JsonBuilder         *json,
                                const VnWeightStats *stats)
{
  g_autofree char *shape = vn_shape_to_string (&stats->shape, "×");

  vn_cmd_print ("  %-44s %-9s %-14s %-14s %11.5g %11.5g %11.5g %11.5g %6.1f %8.2f\n", stats->name, stats->op_type,
                vn_dtype_get_name (stats->dtype), shape, stats->min, stats->max, stats->mean, stats->deviation,
                100.0 * (double) stats->n_zero / (double) stats->n, stats->spread);
  if (stats->n_bad > 0)
    vn_cmd_print (_("    %llu of them are infinite or NaN\n"), (unsigned long long) stats->n_bad);
  json_builder_begin_object (json);
  vn_json_add_text (json, "name", stats->name);
  vn_json_add_text (json, "type", stats->op_type);
  vn_json_add_text (json, "dtype", vn_dtype_get_name (stats->dtype));
  vn_json_add_text (json, "shape", shape);
  vn_json_add_number (json, "min", stats->min);
  vn_json_add_number (json, "max", stats->max);
  vn_json_add_number (json, "mean", stats->mean);
  vn_json_add_number (json, "deviation", stats->deviation);
  vn_json_add_number (json, "elements", (double) stats->n);
  vn_json_add_number (json, "zeros", (double) stats->n_zero);
  vn_json_add_number (json, "not_finite", (double) stats->n_bad);
  vn_json_add_number (json, "spread", stats->spread);
  json_builder_end_object (json);
}

/*< private >
 * vn_cmd_print_weights:
 *
 * Statistics of each constant, as text and as the member "weights".
 */
gboolean
vn_cmd_print_weights (JsonBuilder    *json,
                      const VnGraph  *graph,
                      GError        **error)
{
  g_autoptr(GPtrArray) list = vn_graph_list_weight_stats (graph, error);

  g_return_val_if_fail (json != NULL, FALSE);

  if (list == NULL)
    return FALSE;
  vn_cmd_print ("%s\n  %-44s %-9s %-14s %-14s %11s %11s %11s %11s %6s %8s\n", _("Weights"), _("name"), _("read by"), _("type"),
                _("shape"), _("min"), _("max"), _("mean"), _("std"), _("0 in %"), _("spread"));
  vn_json_begin_array (json, "weights");
  for (guint i = 0; i < list->len; i++)
    cmd_inspect_weights_add_weight (json, g_ptr_array_index (list, i));
  json_builder_end_array (json);
  return TRUE;
}

/* ---- precision ---- */

static gboolean
cmd_inspect_weights_converts (const VnNode *node)
{
  return g_str_has_suffix (node->op_type, "QuantizeLinear") || g_str_has_suffix (node->op_type, "DequantizeLinear") ||
         g_str_has_suffix (node->op_type, "FixNeuron") || vn_node_is (node, "Constant");
}

static void
cmd_inspect_weights_add_node (JsonBuilder       *json,
                              const VnNode      *node,
                              const VnPrecision *precision,
                              const char        *name)
{
  g_autofree char *label = vn_node_dup_label (node);

  json_builder_begin_object (json);
  vn_json_add_text (json, "node", label);
  vn_json_add_text (json, "type", node->op_type);
  vn_json_add_text (json, "precision", name);
  if (precision->activation != VN_DTYPE_UNDEFINED)
    vn_json_add_text (json, "activation", vn_dtype_get_name (precision->activation));
  if (precision->weight != VN_DTYPE_UNDEFINED)
    vn_json_add_text (json, "weight", vn_dtype_get_name (precision->weight));
  if (precision->bias != VN_DTYPE_UNDEFINED)
    vn_json_add_text (json, "bias", vn_dtype_get_name (precision->bias));
  json_builder_end_object (json);
}

static void
cmd_inspect_weights_print_lists (GHashTable *lists)
{
  g_autoptr(GList) names = g_list_sort (g_hash_table_get_keys (lists), (GCompareFunc) g_strcmp0);

  vn_cmd_print ("%s\n", _("Nodes by bit width of activations and weights"));
  for (GList *l = names; l != NULL; l = l->next)
    {
      GPtrArray *list = g_hash_table_lookup (lists, l->data);

      vn_cmd_print ("  %s: %u\n", (const char *) l->data, list->len);
      for (guint i = 0; i < list->len; i++)
        vn_cmd_print ("    %s\n", (const char *) g_ptr_array_index (list, i));
    }
}

/*< private >
 * vn_cmd_print_precision:
 *
 * The nodes of each precision, as text and as the member "precision".
 */
void
vn_cmd_print_precision (JsonBuilder   *json,
                        const VnGraph *graph)
{
  g_autoptr(GHashTable) lists = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_ptr_array_unref);

  g_return_if_fail (json != NULL && graph != NULL);

  vn_json_begin_array (json, "precision");
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);
      g_autofree char *name = NULL;
      VnPrecision precision;
      GPtrArray *list;

      if (cmd_inspect_weights_converts (node))
        continue;
      vn_node_get_precision (node, &precision);
      name = vn_precision_dup_name (&precision);
      cmd_inspect_weights_add_node (json, node, &precision, name);
      list = g_hash_table_lookup (lists, name);
      if (list == NULL)
        {
          list = g_ptr_array_new_with_free_func (g_free);
          g_hash_table_insert (lists, g_strdup (name), list);
        }
      g_ptr_array_add (list, vn_node_dup_label (node));
    }
  json_builder_end_array (json);
  cmd_inspect_weights_print_lists (lists);
}
