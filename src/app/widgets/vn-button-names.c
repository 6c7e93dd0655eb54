/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a screen reader calls buttons. GTK makes up "GtkImage" for those with an icon alone, and reads the label twice, once with
 * the underscore that marks a key. */
#include "vn-button-names.h"

static const char *
button_names_get_text (GtkWidget *widget)
{
  const char *text = NULL;

  if (GTK_IS_LABEL (widget))
    return gtk_label_get_text (GTK_LABEL (widget));
  if (GTK_IS_NATIVE (widget))   /* the menu of a button is not its name */
    return NULL;
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL &&
       text == NULL; child = gtk_widget_get_next_sibling (child))
    {
      text = button_names_get_text (child);
      if (text != NULL && *text == '\0')
        text = NULL;
    }
  return text;
}

static void
button_names_set_one (GtkWidget *button)
{
  const char *text = button_names_get_text (button), *tooltip = gtk_widget_get_tooltip_text (button);
  const char *name = text != NULL ? text : tooltip;

  /* its label says it; not twice */
  if (text != NULL && GTK_IS_BUTTON (button) && gtk_button_get_use_underline (GTK_BUTTON (button)))
    gtk_accessible_reset_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL);
  else if (name != NULL)
    gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
}

/**
 * vn_button_new_with_mnemonic:
 * @label: its text, with an underscore before the letter of its key
 *
 * Returns: (transfer floating): a button that a screen reader calls by its text alone
 */
GtkWidget *
vn_button_new_with_mnemonic (const char *label)
{
  GtkWidget *button = gtk_button_new_with_mnemonic (label);

  button_names_set_one (button);
  return button;
}

/**
 * vn_button_names_set:
 *
 * Gives all buttons below @root, and @root, the name that people see: the label, or the tooltip of those that show an icon alone.
 */
void
vn_button_names_set (GtkWidget *root)
{
  g_return_if_fail (GTK_IS_WIDGET (root));

  if (GTK_IS_BUTTON (root) || GTK_IS_MENU_BUTTON (root))
    button_names_set_one (root);
  for (GtkWidget *child = gtk_widget_get_first_child (root); child != NULL; child = gtk_widget_get_next_sibling (child))
    vn_button_names_set (child);
}
