/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of where error starts: a row for each node with its share, the reason and the next thing to try. */
#include "vn-origins-list.h"

#include "vn-button-names.h"
#include "vn-cause.h"
#include "vn-cure-offers.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-later.h"
#include "vn-node-cell.h"
#include "vn-rows.h"
#include "vn-swatch.h"
#include "vn-weakest.h"

#define MAX_ROWS 8

struct _VnOriginsList
{
  AdwBin       parent_instance;

  VnDocument  *document;
  VnJob       *job;          /* the search that is shown */
  GtkBitset   *shown;        /* nodes of the rows */
  GtkBitset   *weak;         /* those of them that are not in float yet */

  GtkLabel    *title, *note;   /* @note: what is true of all rows */
  GtkWidget   *exclude_all, *show_all, *find, *search;
  GtkProgressBar *progress;
  GtkLabel    *detail;
  GtkListBox  *list;
  GtkSizeGroup *fixes;       /* of the rows' buttons, so that what stands in front of them is one column */
};

G_DEFINE_FINAL_TYPE (VnOriginsList, vn_origins_list, ADW_TYPE_BIN)

/* ---- what can be done ---- */

static void
origins_list_fix_clicked (VnOriginsList *self,
                          GtkButton     *button)
{
  guint node = GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (button), "vn-node"));

  vn_bench_try_precision (VN_BENCH (self->document), node,
                             (VnNodePrecision) GPOINTER_TO_INT (g_object_get_data (G_OBJECT (button), "vn-precision")));
}

static void
origins_list_exclude_all (VnOriginsList *self)
{
  vn_document_set_precision (self->document, self->weak, VN_NODE_FLOAT);
}

static void
origins_list_show_all (VnOriginsList *self)
{
  vn_document_select (self->document, self->shown);
  gtk_widget_activate_action (GTK_WIDGET (self), "win.show-in-graph", NULL);
}

/* More bits for the output do nothing for its weights. */
static gboolean
origins_list_is_activation (VnRun      *result,
                            VnNodeItem *item)
{
  g_autoptr(GArray) parts = vn_weakest_list_parts (result, item);

  return parts->len == 0 ||
         vn_contributions_get (result->contributions, g_array_index (parts, guint, 0))->role == VN_TENSOR_ACTIVATION;
}

/* What was tried in vain is not offered again. */
static gboolean
origins_list_is_worth_trying (VnOriginsList   *self,
                              VnNodeItem      *item,
                              VnNodePrecision  precision)
{
  g_autofree char *key = vn_bench_dup_precision_key (VN_BENCH (self->document), item->index, precision);
  const VnEffect *effect = vn_bench_find_effect (VN_BENCH (self->document), key);

  return effect == NULL || !effect->measured || vn_effect_has_helped (effect);
}

static gboolean
origins_list_add_fix (VnOriginsList   *self,
                      GtkBox          *box,
                      VnNodeItem      *item,
                      const char      *label,
                      const char      *tooltip,
                      VnNodePrecision  precision)
{
  GtkWidget *button;

  if (!origins_list_is_worth_trying (self, item, precision))
    return FALSE;
  button = gtk_button_new_with_label (label);
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_widget_set_hexpand (button, TRUE);
  gtk_widget_set_tooltip_text (button, tooltip);
  g_object_set_data (G_OBJECT (button), "vn-node", GUINT_TO_POINTER (item->index));
  g_object_set_data (G_OBJECT (button), "vn-precision", GINT_TO_POINTER (precision));
  g_signal_connect_swapped (button, "clicked", G_CALLBACK (origins_list_fix_clicked), self);
  gtk_box_append (box, button);
  return TRUE;
}

/* The next thing to try: twice the bits, where that helps at all, then float. */
static void
origins_list_add_next_fix (VnOriginsList *self,
                           AdwActionRow  *row,
                           VnNodeItem    *item)
{
  GtkBox *box = GTK_BOX (gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6));

  gtk_widget_set_hexpand (GTK_WIDGET (box), FALSE);
  gtk_size_group_add_widget (self->fixes, GTK_WIDGET (box));
  adw_action_row_add_suffix (row, GTK_WIDGET (box));
  gtk_bitset_add (self->shown, item->index);
  if (item->excluded)
    {
      gtk_box_append (box, gtk_label_new (_("in float")));
      return;
    }
  if (vn_dtype_get_bits (item->precision) >= 16 ||
      !origins_list_is_activation (vn_bench_get_shown (VN_BENCH (self->document)), item) ||
      !origins_list_add_fix (self, box, item, _("16-Bit"), _("Double the Bit Width of This Node's Output"), VN_NODE_16_BIT))
    origins_list_add_fix (self, box, item, _("Exclude"), _("Leave This Node in Float"), VN_NODE_FLOAT);
  gtk_bitset_add (self->weak, item->index);
}

/* ---- rows ---- */

/* The reason, or if there is none but rounding which of its tensors it is; and what was tried in vain. */
static char *
origins_list_describe (VnOriginsList *self,
                       VnRun         *result,
                       VnNodeItem    *item)
{
  static const struct { VnNodePrecision precision; const char *text; } fixes[] = {
    { VN_NODE_16_BIT, N_("16-bit did not help") },
    { VN_NODE_FLOAT, N_("float did not help") },
  };
  g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);
  const VnFinding *finding = vn_cure_offers_find_reason (self->document, item);
  const gboolean is_rounding = finding != NULL && finding->reason == VN_REASON_ROUNDING;
  char *about = is_rounding ? NULL : finding != NULL ? g_strdup (finding->text) : vn_cause_describe (result, item->node);

  if (about == NULL)
    about = vn_weakest_dup_parts (result, item);
  if (about != NULL)
    g_ptr_array_add (lines, about);
  for (guint i = 0; i < G_N_ELEMENTS (fixes); i++)
    if (!origins_list_is_worth_trying (self, item, fixes[i].precision))
      g_ptr_array_add (lines, g_strdup (_(fixes[i].text)));
  g_ptr_array_add (lines, NULL);
  return g_strjoinv (" · ", (char **) lines->pdata);
}

static void
origins_list_add_value (AdwActionRow *row,
                        VnNodeItem   *item,
                        VnMetric      metric)
{
  g_autofree char *text = vn_metric_format (metric, item->metrics[metric]);
  GtkWidget *value = gtk_label_new (text);

  gtk_label_set_xalign (GTK_LABEL (value), 1);
  gtk_widget_add_css_class (value, "heading");
  gtk_widget_add_css_class (value, "numeric");
  adw_action_row_add_suffix (row, value);
}

static GtkWidget *
origins_list_make_row (VnOriginsList *self,
                       VnRun         *result,
                       VnNodeItem    *item,
                       VnMetric       metric)
{
  g_autofree char *title = vn_node_dup_title (item->node);
  g_autofree char *subtitle = origins_list_describe (self, result, item);
  GtkWidget *row = adw_action_row_new (), *swatch = vn_swatch_new (FALSE);

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  adw_action_row_set_title_lines (ADW_ACTION_ROW (row), 1);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), subtitle);
  if (metric == VN_METRIC_CONTRIBUTION)
    vn_node_cell_set_share (swatch, item, item->metrics[metric]);
  else
    vn_swatch_set (VN_SWATCH (swatch), VN_SWATCH_VALUE, metric, item->metrics[metric]);
  adw_action_row_add_prefix (ADW_ACTION_ROW (row), swatch);
  origins_list_add_value (ADW_ACTION_ROW (row), item, metric);
  origins_list_add_next_fix (self, ADW_ACTION_ROW (row), item);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), gtk_image_new_from_icon_name ("go-next-symbolic"));
  gtk_widget_set_tooltip_text (row, _("Show in Graph"));
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), TRUE);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (row), "win.select-node");
  gtk_actionable_set_action_target (GTK_ACTIONABLE (row), "u", item->index);
  return row;
}

/* Where it is rounding alone everywhere that is said once. */
static gboolean
origins_list_is_rounding (VnOriginsList *self,
                          GPtrArray     *weak)
{
  for (guint i = 0; i < MIN (weak->len, MAX_ROWS); i++)
    {
      const VnFinding *finding = vn_cure_offers_find_reason (self->document, g_ptr_array_index (weak, i));

      if (finding == NULL || finding->reason != VN_REASON_ROUNDING)
        return FALSE;
    }
  return weak->len > 0;
}

static void
origins_list_fill (VnOriginsList *self)
{
  VnRun *result = vn_bench_get_shown (VN_BENCH (self->document));
  g_autoptr(GPtrArray) weak = vn_weakest_list (self->document);
  gboolean by_share = result != NULL && result->contributions != NULL;
  const char *title = by_share ? _("Error Sources") : _("Weakest Nodes");

  vn_list_box_clear (self->list);
  gtk_bitset_remove_all (self->shown);
  gtk_bitset_remove_all (self->weak);
  gtk_label_set_label (self->title, title);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->list), GTK_ACCESSIBLE_PROPERTY_LABEL, title, -1);
  for (guint i = 0; i < MIN (weak->len, MAX_ROWS); i++)
    gtk_list_box_append (self->list, origins_list_make_row (self, result, g_ptr_array_index (weak, i),
                                                            by_share ? VN_METRIC_CONTRIBUTION : VN_METRIC_SQNR));
  if (weak->len == 0)
    gtk_list_box_append (self->list, vn_row_new (_("No node stands out"), NULL));
  gtk_widget_set_visible (GTK_WIDGET (self->note), origins_list_is_rounding (self, weak));
  gtk_widget_set_sensitive (self->exclude_all, !gtk_bitset_is_empty (self->weak));
  gtk_widget_set_visible (self->exclude_all, weak->len > 0);
  gtk_widget_set_visible (self->show_all, weak->len > 0);
}

/* ---- the search ---- */

static void
origins_list_update_progress (VnOriginsList *self)
{
  g_autofree char *detail = vn_job_dup_detail (self->job);
  double seconds = vn_job_get_seconds_left (self->job);
  g_autofree char *duration = seconds >= 1 ? vn_format_duration (seconds) : NULL;
  g_autofree char *left = duration != NULL ? g_strdup_printf (_("%s left"), duration) : NULL;
  g_autofree char *text = g_strjoin (detail != NULL && left != NULL ? " · " : "", detail != NULL ? detail : "",
                                     left != NULL ? left : "", NULL);

  gtk_progress_bar_set_fraction (self->progress, vn_job_get_progress (self->job));
  gtk_label_set_label (self->detail, text);
}

static void
origins_list_search_changed (VnOriginsList *self)
{
  VnJob *job = vn_bench_get_origins_job (VN_BENCH (self->document));
  VnRun *result = vn_bench_get_shown (VN_BENCH (self->document));
  gboolean lacking = result != NULL && result->errors != NULL && result->contributions == NULL;

  if (self->job != NULL)
    g_signal_handlers_disconnect_by_data (self->job, self);
  g_set_object (&self->job, job);
  if (job != NULL)
    {
      g_signal_connect_swapped (job, "notify::progress", G_CALLBACK (origins_list_update_progress), self);
      origins_list_update_progress (self);
    }
  gtk_widget_set_visible (self->search, job != NULL);
  gtk_widget_set_visible (self->find, job == NULL && lacking && vn_bench_get_job (VN_BENCH (self->document)) == NULL &&
                                      !vn_bench_is_stale (VN_BENCH (self->document)));
}

static void
origins_list_result_changed (VnOriginsList *self)
{
  vn_later (self, self->document, (VnLaterFunc) origins_list_fill);
  origins_list_search_changed (self);
}

static void
origins_list_find_clicked (VnOriginsList *self)
{
  vn_bench_search_origins (VN_BENCH (self->document));
}

static void
origins_list_cancel_clicked (VnOriginsList *self)
{
  vn_bench_cancel_origins (VN_BENCH (self->document));
}

/* ---- object ---- */

static GtkWidget *
origins_list_make_head (VnOriginsList *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);

  self->title = GTK_LABEL (vn_label_new (NULL, "heading"));
  gtk_widget_set_hexpand (GTK_WIDGET (self->title), TRUE);
  self->find = vn_button_new_with_mnemonic (_("_Find Error Sources"));
  self->show_all = vn_button_new_with_mnemonic (_("Sho_w in Graph"));
  gtk_widget_add_css_class (self->show_all, "flat");
  gtk_widget_set_tooltip_text (self->show_all, _("Select These Nodes in the Graph"));
  g_signal_connect_swapped (self->find, "clicked", G_CALLBACK (origins_list_find_clicked), self);
  g_signal_connect_swapped (self->show_all, "clicked", G_CALLBACK (origins_list_show_all), self);
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->title));
  gtk_box_append (GTK_BOX (box), self->find);
  gtk_box_append (GTK_BOX (box), self->show_all);
  return box;
}

static void
origins_list_make_foot (VnOriginsList *self)
{
  self->exclude_all = vn_button_new_with_mnemonic (_("_Leave All in Float"));
  gtk_widget_set_halign (self->exclude_all, GTK_ALIGN_END);
  gtk_widget_set_margin_top (self->exclude_all, 4);
  g_signal_connect_swapped (self->exclude_all, "clicked", G_CALLBACK (origins_list_exclude_all), self);
}

static GtkWidget *
origins_list_make_search (VnOriginsList *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12), *cancel = gtk_button_new_with_label (_("Cancel"));

  self->progress = GTK_PROGRESS_BAR (gtk_progress_bar_new ());
  self->detail = GTK_LABEL (vn_label_new (NULL, "dim-label"));
  gtk_widget_set_valign (GTK_WIDGET (self->progress), GTK_ALIGN_CENTER);
  gtk_widget_set_size_request (GTK_WIDGET (self->progress), 160, -1);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->progress), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Finding error sources"), -1);
  gtk_widget_add_css_class (GTK_WIDGET (self->detail), "numeric");
  gtk_widget_set_hexpand (GTK_WIDGET (self->detail), TRUE);
  gtk_widget_set_tooltip_text (cancel, _("Stop Finding Error Sources"));
  g_signal_connect_swapped (cancel, "clicked", G_CALLBACK (origins_list_cancel_clicked), self);
  gtk_box_append (GTK_BOX (box), vn_label_new (_("Finding error sources"), NULL));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->progress));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->detail));
  gtk_box_append (GTK_BOX (box), cancel);
  return box;
}

/**
 * vn_origins_list_set_document:
 */
void
vn_origins_list_set_document (VnOriginsList *self,
                              VnDocument    *document)
{
  g_return_if_fail (VN_IS_ORIGINS_LIST (self));
  g_return_if_fail (VN_IS_DOCUMENT (document));

  g_set_object (&self->document, document);
  g_signal_connect_object (document, "changed::run", G_CALLBACK (origins_list_result_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "work-changed", G_CALLBACK (origins_list_search_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "work-changed", G_CALLBACK (origins_list_search_changed), self, G_CONNECT_SWAPPED);
  origins_list_result_changed (self);
}

static void
vn_origins_list_dispose (GObject *object)
{
  VnOriginsList *self = VN_ORIGINS_LIST (object);

  if (self->job != NULL)
    g_signal_handlers_disconnect_by_data (self->job, self);
  g_clear_object (&self->job);
  g_clear_object (&self->document);
  g_clear_object (&self->fixes);
  g_clear_pointer (&self->shown, gtk_bitset_unref);
  g_clear_pointer (&self->weak, gtk_bitset_unref);
  G_OBJECT_CLASS (vn_origins_list_parent_class)->dispose (object);
}

static void
vn_origins_list_class_init (VnOriginsListClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = vn_origins_list_dispose;
}

static void
vn_origins_list_init (VnOriginsList *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 8);

  self->shown = gtk_bitset_new_empty ();
  self->weak = gtk_bitset_new_empty ();
  self->fixes = gtk_size_group_new (GTK_SIZE_GROUP_HORIZONTAL);
  self->search = origins_list_make_search (self);
  self->note = GTK_LABEL (vn_label_new (_("No specific cause at any of these: rounding error only."), "dim-label"));
  gtk_widget_add_css_class (GTK_WIDGET (self->note), "caption");
  origins_list_make_foot (self);
  self->list = GTK_LIST_BOX (gtk_list_box_new ());
  gtk_list_box_set_selection_mode (self->list, GTK_SELECTION_NONE);
  gtk_widget_add_css_class (GTK_WIDGET (self->list), "boxed-list");
  gtk_box_append (GTK_BOX (box), origins_list_make_head (self));
  gtk_box_append (GTK_BOX (box), self->search);
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->note));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->list));
  gtk_box_append (GTK_BOX (box), self->exclude_all);
  adw_bin_set_child (ADW_BIN (self), box);
}
