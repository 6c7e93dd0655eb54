/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The edges of what is selected, as a recipe names them. */
#include "inspector-sections.h"

#include "vn-button-names.h"
#include "vn-i18n.h"
#include "vn-later.h"
#include "vn-leak-row.h"
#include "vn-rows.h"
#include "vn-node-set.h"
#include "vn-rules.h"

#define MAX_EDGE_ROWS 12
#define OUT_EDGES "vn-out-edges"    /* of a list: those it has no rows for yet */

static void
inspector_region_add_edges (GtkWidget  *list,
                            char      **edges,
                            gboolean    enter)
{
  guint n = edges != NULL ? g_strv_length (edges) : 0;

  for (guint i = 0; i < MIN (n, MAX_EDGE_ROWS); i++)
    {
      /* TRANSLATORS: number of a tensor that enters or leaves the selected nodes, as on the graph */
      g_autofree char *place = enter ? g_strdup_printf (_("in %u"), i + 1) : g_strdup_printf (_("out %u"), i + 1);
      GtkWidget *row = vn_row_new_wide (place, edges[i]);

      gtk_widget_set_tooltip_text (row, edges[i]);
      gtk_list_box_append (GTK_LIST_BOX (list), row);
    }
  vn_row_list_add_rest (list, n - MIN (n, MAX_EDGE_ROWS));
}

/* Long names take their time to be laid out: those that leave have another frame than those that enter. */
static void
inspector_region_add_out_edges (GtkWidget *list)
{
  inspector_region_add_edges (list, g_object_get_data (G_OBJECT (list), OUT_EDGES), FALSE);
}

static GtkWidget *
inspector_region_make_button (const char *title,
                              const char *target)
{
  GtkWidget *button = vn_button_new_with_mnemonic (title);

  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "win.set-region");
  gtk_actionable_set_action_target (GTK_ACTIONABLE (button), "s", target);
  gtk_widget_set_tooltip_text (button, _("Create Region Rule From These Edges"));
  gtk_widget_set_hexpand (button, TRUE);
  return button;
}

/* Nodes between the edges that are not selected would be changed as well. */
static void
inspector_region_add_surplus (GtkWidget        *box,
                              const VnOverride *rule,
                              const VnGraph    *graph,
                              GtkBitset        *selection)
{
  g_autoptr(GtkBitset) between = vn_node_set_of_rule (rule, graph);
  g_autofree char *text = NULL;
  guint n;

  gtk_bitset_subtract (between, selection);
  n = (guint) gtk_bitset_get_size (between);
  if (n == 0)
    return;
  text = g_strdup_printf (ngettext ("%u more node lies between these edges", "%u more nodes lie between these edges", n), n);
  gtk_box_append (GTK_BOX (box), vn_label_new (text, "caption"));
}

/* Names the tensors that cross the edge of a rule's region, with a button that makes edges of them. */
static void
inspector_region_add_leaks (GtkWidget      *box,
                            const VnGraph  *graph,
                            const VnRecipe *recipe,
                            GtkBitset      *selection)
{
  int at = vn_node_set_find_region (selection, recipe, graph);
  g_autoptr(GPtrArray) leaks = at >= 0 ? vn_rule_list_leaks (g_ptr_array_index (recipe->overrides, at), graph, NULL) : NULL;
  GtkWidget *list;

  if (leaks == NULL || leaks->len == 0)
    return;
  list = vn_row_list_new ();
  for (guint i = 0; i < MIN (leaks->len, MAX_EDGE_ROWS); i++)
    gtk_list_box_append (GTK_LIST_BOX (list), vn_leak_row_new ((guint) at, g_ptr_array_index (leaks, i)));
  gtk_box_append (GTK_BOX (box), list);
}

/**
 * vn_inspector_region:
 * @document: whose recipe may have a rule about just these nodes that leaves tensors unnamed
 *
 * Returns: (nullable): the tensors that enter and leave the selected nodes, and buttons that make a rule of them
 */
GtkWidget *
vn_inspector_region (VnDocument *document,
                     GtkBitset  *selection)
{
  const VnGraph *graph;
  VnOverride *rule;
  GtkWidget *box, *list, *buttons;

  g_return_val_if_fail (VN_IS_DOCUMENT (document), NULL);
  g_return_val_if_fail (selection != NULL, NULL);

  graph = vn_bench_get_model (VN_BENCH (document))->graph;
  rule = vn_node_set_make_region (selection, graph);
  if (rule->in_edges == NULL && rule->out_edges == NULL)
    {
      vn_override_free (rule);
      return NULL;
    }
  box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  list = vn_row_list_new ();
  buttons = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  inspector_region_add_edges (list, rule->in_edges, TRUE);
  g_object_set_data_full (G_OBJECT (list), OUT_EDGES, g_strdupv (rule->out_edges), (GDestroyNotify) g_strfreev);
  vn_later_frame (list, document, (VnLaterFunc) inspector_region_add_out_edges);
  gtk_box_append (GTK_BOX (box), list);
  inspector_region_add_leaks (box, graph, vn_bench_get_recipe (VN_BENCH (document)), selection);
  inspector_region_add_surplus (box, rule, graph, selection);
  gtk_box_append (GTK_BOX (buttons), inspector_region_make_button (_("Set Region to 1_6-Bit"), "16"));
  gtk_box_append (GTK_BOX (buttons), inspector_region_make_button (_("Leave Region in _Float"), "float"));
  gtk_box_append (GTK_BOX (box), buttons);
  vn_override_free (rule);
  return vn_section_new (_("Region"), _("as named in recipes"), box);
}
