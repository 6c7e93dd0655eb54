/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The section of the inspector that tells how much of the outputs' error starts at a node, and what was tried there. */
#include "inspector-sections.h"

#include "vn-button-names.h"
#include "vn-cure-row.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-node-cell.h"
#include "vn-rows.h"
#include "vn-swatch.h"
#include "vn-weakest.h"

#include <math.h>

#define MEASURE_SECONDS 120

static GtkWidget *
inspector_origins_make_part (VnNodeItem           *item,
                             const VnContribution *part)
{
  g_autofree char *share = vn_metric_format (VN_METRIC_CONTRIBUTION, part->share);
  g_autofree char *local = vn_format_db (part->local_db), *alone = vn_format_db (part->alone_db);
  g_autofree char *subtitle = g_strdup_printf (_("%s here, %s at the outputs"), local, alone);
  const char *title = _(vn_contribution_role_get_title (part->role));
  g_autofree char *first = g_utf8_strup (title, (gssize) (g_utf8_next_char (title) - title));
  g_autofree char *capital = g_strconcat (first, g_utf8_next_char (title), NULL);
  GtkWidget *row = vn_row_new_wide (capital, subtitle), *bar = vn_swatch_new_bar (56), *value = gtk_label_new (share);

  vn_node_cell_set_share (bar, item, part->share);
  gtk_widget_add_css_class (value, "numeric");
  gtk_label_set_width_chars (GTK_LABEL (value), 7);
  gtk_label_set_xalign (GTK_LABEL (value), 1);
  gtk_widget_set_tooltip_text (row, _("SQNR with only this quantized"));
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), bar);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), value);
  return row;
}

/* What was tried at this node, so that nobody tries it again in vain. */
static void
inspector_origins_add_effect (GtkWidget       *list,
                              VnDocument      *document,
                              VnNodeItem      *item,
                              VnNodePrecision  precision,
                              const char      *title)
{
  g_autofree char *key = vn_bench_dup_precision_key (VN_BENCH (document), item->index, precision);
  const VnEffect *effect = vn_bench_find_effect (VN_BENCH (document), key);
  g_autofree char *gain = NULL, *text = NULL;

  if (effect == NULL || !effect->measured)
    return;
  gain = vn_format_signed_db (effect->after_db - effect->before_db);
  if (vn_effect_has_helped (effect))
    text = g_strdup_printf (_("gained %s"), gain);
  else
    text = g_strdup_printf (_("did not help: %s"), gain);
  gtk_list_box_append (GTK_LIST_BOX (list), vn_row_new (title, text));
}

/**
 * vn_inspector_origins:
 *
 * Returns: (nullable): of the outputs' error the share that starts at the node, by activation, weights and bias; %NULL if that
 *   was not measured, or nothing is quantized there
 */
GtkWidget *
vn_inspector_origins (VnDocument *document,
                      VnNodeItem *item)
{
  VnRun *result;
  g_autoptr(GArray) parts = NULL;
  g_autofree char *note = NULL;
  GtkWidget *list;

  g_return_val_if_fail (VN_IS_DOCUMENT (document) && VN_IS_NODE_ITEM (item), NULL);

  result = vn_bench_get_shown (VN_BENCH (document));
  parts = vn_weakest_list_parts (result, item);
  if (parts->len == 0)
    return NULL;
  list = vn_row_list_new ();
  for (guint i = 0; i < parts->len; i++)
    gtk_list_box_append (GTK_LIST_BOX (list),
                         inspector_origins_make_part (item, vn_contributions_get (result->contributions,
                                                                                  g_array_index (parts, guint, i))));
  inspector_origins_add_effect (list, document, item, VN_NODE_16_BIT, _("16-bit"));
  inspector_origins_add_effect (list, document, item, VN_NODE_FLOAT, _("Float"));
  note = vn_metric_format (VN_METRIC_CONTRIBUTION, item->metrics[VN_METRIC_CONTRIBUTION]);
  return vn_section_new (_("Error Introduced Here"), note, list);
}

static void
inspector_origins_measure (VnDocument *document)
{
  g_autoptr(GError) error = NULL;

  if (!vn_bench_measure_cures (VN_BENCH (document), MEASURE_SECONDS, &error))
    vn_bench_report_error (VN_BENCH (document), vn_job_id_get_failure (VN_JOB_CURE), error);
}

/* What is told of a cure is a guess until it was tried. */
static GtkWidget *
inspector_origins_make_measure (VnDocument *document)
{
  GtkWidget *button = vn_button_new_with_mnemonic (_("_Measure the Gains"));

  gtk_widget_set_tooltip_text (button, _("Measure Each Fix on Held-Out Samples Without Keeping It"));
  g_signal_connect_object (button, "clicked", G_CALLBACK (inspector_origins_measure), document, G_CONNECT_SWAPPED);
  return button;
}

/**
 * vn_inspector_cures:
 *
 * Returns: (nullable): what can be done about what a node costs, with the gain and a button; %NULL if nothing is known
 */
GtkWidget *
vn_inspector_cures (VnDocument *document,
                    VnNodeItem *item)
{
  g_autoptr(GPtrArray) offers = NULL;
  GtkWidget *list, *box;
  gboolean unmeasured = FALSE;

  g_return_val_if_fail (VN_IS_DOCUMENT (document) && VN_IS_NODE_ITEM (item), NULL);

  offers = vn_cure_offers_list (document, item);
  if (offers->len == 0)
    return NULL;
  list = vn_row_list_new ();
  for (guint i = 0; i < offers->len; i++)
    {
      const VnCureOffer *offer = g_ptr_array_index (offers, i);

      unmeasured |= offer->recipe != NULL && isnan (offer->gain_db);
      gtk_list_box_append (GTK_LIST_BOX (list), vn_cure_row_new (document, offer, VN_CURE_ROW_NARROW));
    }
  if (!unmeasured || vn_bench_get_job (VN_BENCH (document)) != NULL)
    return vn_section_new (_("Suggested Fixes"), NULL, list);
  box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  gtk_box_append (GTK_BOX (box), list);
  gtk_box_append (GTK_BOX (box), inspector_origins_make_measure (document));
  return vn_section_new (_("Suggested Fixes"), NULL, box);
}
