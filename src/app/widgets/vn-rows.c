/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows, lists, sections and figures that several pages are made of. */
#include "vn-rows.h"

#include "vn-i18n.h"
#include "vn-tooltip.h"

/**
 * vn_label_new:
 * @css_class: (nullable): one style class
 *
 * Returns: (transfer floating): a label at the left that wraps
 */
GtkWidget *
vn_label_new (const char *text,
              const char *css_class)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
  if (css_class != NULL)
    gtk_widget_add_css_class (label, css_class);
  return label;
}

/**
 * vn_foot_set_content:
 * @self: a bar at the foot of the window
 * @content: what it shows in a line
 *
 * Returns: (transfer none): what slides it in and out
 */
GtkRevealer *
vn_foot_set_content (AdwBin    *self,
                     GtkWidget *content)
{
  GtkRevealer *revealer;

  g_return_val_if_fail (ADW_IS_BIN (self), NULL);
  g_return_val_if_fail (GTK_IS_WIDGET (content), NULL);

  revealer = GTK_REVEALER (gtk_revealer_new ());
  gtk_widget_add_css_class (content, "job-bar");
  gtk_revealer_set_transition_type (revealer, GTK_REVEALER_TRANSITION_TYPE_SLIDE_UP);
  gtk_revealer_set_transition_duration (revealer, 200);
  gtk_revealer_set_child (revealer, content);
  adw_bin_set_child (self, GTK_WIDGET (revealer));
  return revealer;
}

/**
 * vn_button_let_shrink:
 * @button: with a label
 * @shrinks: whether it may get too narrow for its label, which is cut off then
 */
void
vn_button_let_shrink (GtkButton *button,
                      gboolean   shrinks)
{
  GtkWidget *label = gtk_button_get_child (button);

  g_return_if_fail (GTK_IS_LABEL (label));

  gtk_label_set_ellipsize (GTK_LABEL (label), shrinks ? PANGO_ELLIPSIZE_END : PANGO_ELLIPSIZE_NONE);
}

/* GTK 4.8 measures titles wrongly that may wrap and are shorter than the dots they would be cut off with: these need not wrap. */
static void
rows_keep_title_short (GtkWidget *widget)
{
  if (GTK_IS_LABEL (widget) && gtk_widget_has_css_class (widget, "title"))
    {
      gtk_label_set_wrap (GTK_LABEL (widget), FALSE);
      gtk_label_set_ellipsize (GTK_LABEL (widget), PANGO_ELLIPSIZE_END);
    }
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL; child = gtk_widget_get_next_sibling (child))
    rows_keep_title_short (child);
}

/**
 * vn_row_new:
 * @value: (nullable)
 *
 * Returns: (transfer floating): a row with a title at the left and a value at the right
 */
GtkWidget *
vn_row_new (const char *title,
            const char *value)
{
  GtkWidget *row = adw_action_row_new ();
  GtkWidget *label = gtk_label_new (value);

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  rows_keep_title_short (row);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_label_set_xalign (GTK_LABEL (label), 1);
  gtk_widget_set_hexpand (label, TRUE);
  vn_tooltip_set (label, value);
  gtk_label_set_selectable (GTK_LABEL (label), value != NULL);
  gtk_widget_add_css_class (label, "numeric");
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), label);
  return row;
}

/**
 * vn_row_list_add_rest:
 * @list: a list of rows
 * @n: how many things have no row there; 0: nothing is said
 */
void
vn_row_list_add_rest (GtkWidget *list,
                      guint      n)
{
  g_autofree char *rest = g_strdup_printf (ngettext ("and %u more", "and %u more", n), n);

  g_return_if_fail (GTK_IS_LIST_BOX (list));

  if (n > 0)
    gtk_list_box_append (GTK_LIST_BOX (list), vn_row_new (rest, NULL));
}

/**
 * vn_row_new_wide:
 *
 * Returns: (transfer floating): a row with the value in small letters under the title, for long names
 */
GtkWidget *
vn_row_new_wide (const char *title,
                 const char *value)
{
  GtkWidget *row = adw_action_row_new ();

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  rows_keep_title_short (row);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), value);
  adw_action_row_set_subtitle_lines (ADW_ACTION_ROW (row), 2);
  return row;
}

GtkWidget *
vn_row_list_new (void)
{
  GtkWidget *list = gtk_list_box_new ();

  gtk_list_box_set_selection_mode (GTK_LIST_BOX (list), GTK_SELECTION_NONE);
  gtk_widget_add_css_class (list, "boxed-list");
  gtk_widget_add_css_class (list, "compact-rows");
  return list;
}

/* A list that stands in a box with more has the title, too. */
static void
rows_label (GtkWidget *content,
            GtkWidget *label)
{
  gtk_accessible_update_relation (GTK_ACCESSIBLE (content), GTK_ACCESSIBLE_RELATION_LABELLED_BY, label, NULL, -1);
  for (GtkWidget *child = gtk_widget_get_first_child (content); GTK_IS_BOX (content) &&
       child != NULL; child = gtk_widget_get_next_sibling (child))
    if (GTK_IS_LIST_BOX (child))
      rows_label (child, label);
}

/**
 * vn_section_new:
 * @note: (nullable): dim text at the right of the title
 *
 * Returns: (transfer floating): @content under a title
 */
GtkWidget *
vn_section_new (const char *title,
                const char *note,
                GtkWidget  *content)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 8);
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  GtkWidget *label = vn_label_new (title, "heading");

  g_return_val_if_fail (GTK_IS_WIDGET (content), NULL);

  gtk_widget_set_hexpand (label, TRUE);
  gtk_box_append (GTK_BOX (head), label);
  if (note != NULL)
    {
      GtkWidget *dim = vn_label_new (note, "dim-label");

      gtk_widget_add_css_class (dim, "caption");
      gtk_box_append (GTK_BOX (head), dim);
    }
  gtk_box_append (GTK_BOX (box), head);
  gtk_box_append (GTK_BOX (box), content);
  rows_label (content, label);
  return box;
}

void
vn_box_clear (GtkWidget *box)
{
  GtkWidget *child;

  g_return_if_fail (GTK_IS_WIDGET (box));

  while ((child = gtk_widget_get_first_child (box)) != NULL)
    gtk_box_remove (GTK_BOX (box), child);
}

void
vn_list_box_clear (GtkListBox *list)
{
  GtkWidget *child;

  g_return_if_fail (GTK_IS_LIST_BOX (list));

  while ((child = gtk_widget_get_first_child (GTK_WIDGET (list))) != NULL)
    gtk_list_box_remove (list, child);
}

/**
 * vn_figure_new:
 *
 * Returns: (transfer floating): a big number with what it means below
 */
GtkWidget *
vn_figure_new (const char *value,
               const char *caption)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 3);
  GtkWidget *number = gtk_label_new (value);
  GtkWidget *text = gtk_label_new (caption);

  gtk_widget_add_css_class (number, "title-2");
  gtk_widget_add_css_class (number, "numeric");
  gtk_widget_add_css_class (text, "caption");
  gtk_widget_add_css_class (text, "dim-label");
  gtk_label_set_ellipsize (GTK_LABEL (text), PANGO_ELLIPSIZE_END);
  vn_tooltip_set (text, caption);
  gtk_widget_set_hexpand (box, TRUE);
  gtk_widget_add_css_class (box, "figure");
  gtk_box_append (GTK_BOX (box), number);
  gtk_box_append (GTK_BOX (box), text);
  return box;
}

static void
rows_set_up_item (GtkSignalListItemFactory *factory,
                  GtkListItem              *item)
{
  gtk_list_item_set_child (item, vn_label_new ("", NULL));
  gtk_label_set_wrap (GTK_LABEL (gtk_list_item_get_child (item)), FALSE);
}

static void
rows_bind_item (GtkSignalListItemFactory *factory,
                GtkListItem              *item)
{
  GtkLabel *label = GTK_LABEL (gtk_list_item_get_child (item));

  gtk_label_set_label (label, gtk_string_object_get_string (GTK_STRING_OBJECT (gtk_list_item_get_item (item))));
  if (gtk_list_item_get_selected (item))
    gtk_widget_add_css_class (GTK_WIDGET (label), "heading");
  else
    gtk_widget_remove_css_class (GTK_WIDGET (label), "heading");
}

/**
 * vn_combo_row_show_whole:
 * @row: with a list of strings
 *
 * The list that it opens shows each of them whole, which is cut after 20 letters otherwise.
 */
void
vn_combo_row_show_whole (AdwComboRow *row)
{
  g_autoptr(GtkListItemFactory) factory = gtk_signal_list_item_factory_new ();

  g_return_if_fail (ADW_IS_COMBO_ROW (row));

  g_signal_connect (factory, "setup", G_CALLBACK (rows_set_up_item), NULL);
  g_signal_connect (factory, "bind", G_CALLBACK (rows_bind_item), NULL);
  adw_combo_row_set_list_factory (row, factory);
}

/* ---- what waits until the focus has moved ---- */

typedef struct
{
  GtkWidget    *widget;
  VnWidgetFunc  func;
} SoonCall;

static gboolean
rows_call (gpointer data)
{
  const SoonCall *call = data;

  if (gtk_widget_get_root (call->widget) != NULL)
    call->func (call->widget);
  return G_SOURCE_REMOVE;
}

static void
rows_free_call (gpointer data)
{
  SoonCall *call = data;

  g_object_unref (call->widget);
  g_free (call);
}

/**
 * vn_widget_call_soon:
 *
 * Calls @func before the next event, unless @self is in no window any more. For what a number that was typed changes: the button
 * says it while the focus leaves it, and where a list is replaced that holds the widget which gets the focus, GTK 4.8 looks for
 * the parents of that one without end.
 */
void
vn_widget_call_soon (GtkWidget    *self,
                     VnWidgetFunc  func)
{
  SoonCall *call;

  g_return_if_fail (GTK_IS_WIDGET (self) && func != NULL);

  if (gtk_widget_get_root (self) == NULL)      /* buttons tell of their numbers while a page is taken apart, too */
    return;
  call = g_new (SoonCall, 1);
  *call = (SoonCall) { g_object_ref (self), func };
  g_idle_add_full (G_PRIORITY_HIGH, rows_call, call, rows_free_call);
}

/* ---- the lowest number may be a word ---- */

#define LOWEST "vn-lowest"

static gboolean
rows_output (GtkSpinButton *button)
{
  if (gtk_spin_button_get_value (button) > gtk_adjustment_get_lower (gtk_spin_button_get_adjustment (button)))
    return FALSE;
  gtk_editable_set_text (GTK_EDITABLE (button), g_object_get_data (G_OBJECT (button), LOWEST));
  return TRUE;
}

static int
rows_input (GtkSpinButton *button,
            double        *value)
{
  if (!g_str_equal (gtk_editable_get_text (GTK_EDITABLE (button)), g_object_get_data (G_OBJECT (button), LOWEST)))
    return FALSE;
  *value = gtk_adjustment_get_lower (gtk_spin_button_get_adjustment (button));
  return TRUE;
}

/**
 * vn_spin_button_name_lowest:
 * @self: must take other text than numbers
 * @word: stands for the lowest number, translated
 */
void
vn_spin_button_name_lowest (GtkSpinButton *self,
                            const char    *word)
{
  g_return_if_fail (GTK_IS_SPIN_BUTTON (self) && word != NULL);

  g_object_set_data_full (G_OBJECT (self), LOWEST, g_strdup (word), g_free);
  g_signal_connect (self, "output", G_CALLBACK (rows_output), NULL);
  g_signal_connect (self, "input", G_CALLBACK (rows_input), NULL);
}
