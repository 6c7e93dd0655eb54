/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of a list that seldom matter, behind one that says how many there are: a language model has two inputs for each layer, and
 * a page that lays out all of them makes everybody wait. */
#include "vn-fold-rows.h"

#include "vn-i18n.h"

#define MOST_CACHES 4u             /* that are shown */

#define SHOWN "vn-rows-shown"      /* of a list: somebody has wanted to see them */
#define FOLDED "vn-row-folded"     /* of a row */
#define FOLD "vn-row-fold"         /* of the row in front of them */

/**
 * vn_fold_rows_show:
 *
 * Shows what vn_fold_caches() has hidden in @list, from now on.
 */
void
vn_fold_rows_show (GtkListBox *list)
{
  GtkWidget *row, *fold = NULL;

  g_return_if_fail (GTK_IS_LIST_BOX (list));

  g_object_set_data (G_OBJECT (list), SHOWN, GINT_TO_POINTER (TRUE));
  for (row = gtk_widget_get_first_child (GTK_WIDGET (list)); row != NULL; row = gtk_widget_get_next_sibling (row))
    if (g_object_get_data (G_OBJECT (row), FOLDED) != NULL)
      gtk_widget_set_visible (row, TRUE);
    else if (g_object_get_data (G_OBJECT (row), FOLD) != NULL)
      fold = row;
  if (fold != NULL)
    gtk_widget_set_visible (fold, FALSE);
}

/**
 * vn_fold_caches:
 * @rows: (element-type GtkWidget): of @list, one behind another: those of inputs for earlier keys and values
 * @subtitle: of the row that stands for them
 *
 * Hides @rows, if there are more than a few, until somebody activates the row that stands in front of them, unless that has been
 * done before.
 */
void
vn_fold_caches (GtkListBox *list,
                GPtrArray  *rows,
                const char *subtitle)
{
  g_autofree char *title = NULL;
  GtkWidget *fold, *arrow;

  g_return_if_fail (GTK_IS_LIST_BOX (list) && rows != NULL);

  if (rows->len <= MOST_CACHES || g_object_get_data (G_OBJECT (list), SHOWN) != NULL)
    return;
  title = g_strdup_printf (ngettext ("%u input for earlier keys and values", "%u inputs for earlier keys and values", rows->len),
                           rows->len);
  for (guint i = 0; i < rows->len; i++)
    {
      gtk_widget_set_visible (rows->pdata[i], FALSE);
      g_object_set_data (rows->pdata[i], FOLDED, GINT_TO_POINTER (TRUE));
    }
  fold = adw_action_row_new ();
  arrow = gtk_image_new_from_icon_name ("pan-down-symbolic");
  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (fold), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (fold), title);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (fold), subtitle);
  adw_action_row_add_suffix (ADW_ACTION_ROW (fold), arrow);
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (fold), TRUE);
  g_object_set_data (G_OBJECT (fold), FOLD, GINT_TO_POINTER (TRUE));
  g_signal_connect_object (fold, "activated", G_CALLBACK (vn_fold_rows_show), list, G_CONNECT_SWAPPED);
  gtk_list_box_insert (list, fold, gtk_list_box_row_get_index (rows->pdata[0]));
}
