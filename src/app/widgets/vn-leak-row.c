/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A row that names a tensor that crosses the edge of a region, with the button that makes it an edge. */
#include "vn-leak-row.h"

#include "vn-i18n.h"

#include <adwaita.h>

/**
 * vn_leak_row_new:
 * @rule: number of the rule in the recipe
 *
 * Returns: (transfer floating): a row of a list
 */
GtkWidget *
vn_leak_row_new (guint             rule,
                 const VnRuleLeak *leak)
{
  GtkWidget *row = adw_action_row_new (), *icon = gtk_image_new_from_icon_name ("dialog-warning-symbolic");
  GtkWidget *button = gtk_button_new_with_label (_("Add the Missing Edge")), *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  GtkWidget *title = gtk_label_new (NULL), *text = gtk_label_new (NULL), *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  g_autofree char *words = NULL, *name = NULL;

  g_return_val_if_fail (leak != NULL, row);

  words = vn_rule_leak_dup_text (leak);
  /* TRANSLATORS: a tensor that crosses the edge of a region without being named as one of its edges */
  name = g_strdup_printf (_("Missing edge: %s"), leak->value);
  gtk_label_set_label (GTK_LABEL (title), name);
  gtk_label_set_xalign (GTK_LABEL (title), 0);
  gtk_label_set_ellipsize (GTK_LABEL (title), PANGO_ELLIPSIZE_MIDDLE);
  gtk_widget_set_hexpand (title, TRUE);
  gtk_label_set_label (GTK_LABEL (text), words);
  gtk_label_set_xalign (GTK_LABEL (text), 0);
  gtk_label_set_wrap (GTK_LABEL (text), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (text), PANGO_WRAP_WORD_CHAR);
  gtk_widget_add_css_class (text, "caption");
  gtk_widget_add_css_class (text, "dim-label");
  gtk_widget_add_css_class (icon, "warning");
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "win.add-edge");
  gtk_actionable_set_action_target (GTK_ACTIONABLE (button), "(usb)", rule, leak->value, leak->enters);
  gtk_widget_set_halign (button, GTK_ALIGN_START);
  gtk_box_append (GTK_BOX (head), icon);
  gtk_box_append (GTK_BOX (head), title);
  gtk_box_append (GTK_BOX (box), head);
  gtk_box_append (GTK_BOX (box), text);
  gtk_box_append (GTK_BOX (box), button);
  gtk_widget_add_css_class (box, "leak-row");
  gtk_list_box_row_set_child (GTK_LIST_BOX_ROW (row), box);
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), FALSE);
  gtk_widget_set_tooltip_text (row, leak->value);
  return row;
}
