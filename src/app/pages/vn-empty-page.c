/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page of a window in which nothing is open: recent models, the demo, and how to begin. */
#include "vn-empty-page.h"

#include "vn-format.h"
#include "vn-i18n.h"

#define MAX_ROWS 5
#define APP_NAME "Vernier"

struct _VnEmptyPage
{
  AdwBin      parent_instance;

  GMenu      *menu;         /* the same models, for the button "Open" */
  GtkWidget  *recent_box;
  GtkListBox *recent_list;
  GtkButton  *clear_button;
};

G_DEFINE_FINAL_TYPE (VnEmptyPage, vn_empty_page, ADW_TYPE_BIN)

static gboolean
empty_page_is_ours (GtkRecentInfo *info)
{
  return gtk_recent_info_has_application (info, APP_NAME) && gtk_recent_info_is_local (info) &&
         gtk_recent_info_exists (info);
}

static int
empty_page_compare_newest (gconstpointer a,
                           gconstpointer b)
{
  return g_date_time_compare (gtk_recent_info_get_modified ((GtkRecentInfo *) b),
                              gtk_recent_info_get_modified ((GtkRecentInfo *) a));
}

static char *
empty_page_describe_age (GDateTime *when)
{
  g_autoptr(GDateTime) now = g_date_time_new_now_local ();
  g_autoptr(GDateTime) local = g_date_time_to_local (when);
  GTimeSpan span = g_date_time_difference (now, local);
  guint n;

  if (span < G_TIME_SPAN_MINUTE)
    return g_strdup (_("just now"));
  if (span < G_TIME_SPAN_HOUR)
    {
      n = (guint) (span / G_TIME_SPAN_MINUTE);
      return g_strdup_printf (ngettext ("%u minute ago", "%u minutes ago", n), n);
    }
  if (span < G_TIME_SPAN_DAY)
    {
      n = (guint) (span / G_TIME_SPAN_HOUR);
      return g_strdup_printf (ngettext ("%u hour ago", "%u hours ago", n), n);
    }
  return g_date_time_format (local, "%e %B");
}

static char *
empty_page_describe_file (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *where = vn_format_path (folder);
  g_autoptr(GFile) file = g_file_new_for_path (path);
  g_autoptr(GFileInfo) info = g_file_query_info (file, G_FILE_ATTRIBUTE_STANDARD_SIZE, 0, NULL, NULL);
  g_autofree char *size = info != NULL ? g_format_size ((guint64) g_file_info_get_size (info)) : NULL;

  return size != NULL ? g_strdup_printf ("%s · %s", where, size) : g_steal_pointer (&where);
}

static GtkWidget *
empty_page_make_row (GtkRecentInfo *info)
{
  g_autofree char *path = g_filename_from_uri (gtk_recent_info_get_uri (info), NULL, NULL);
  g_autofree char *subtitle = path != NULL ? empty_page_describe_file (path) : g_strdup ("");
  g_autofree char *age = empty_page_describe_age (gtk_recent_info_get_modified (info));
  GtkWidget *row = adw_action_row_new ();
  GtkWidget *when = gtk_label_new (age);

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), gtk_recent_info_get_display_name (info));
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), subtitle);
  adw_action_row_set_subtitle_lines (ADW_ACTION_ROW (row), 1);
  adw_action_row_add_prefix (ADW_ACTION_ROW (row), gtk_image_new_from_icon_name ("vn-graph-symbolic"));
  gtk_widget_add_css_class (when, "dim-label");
  gtk_widget_add_css_class (when, "caption");
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), when);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), gtk_image_new_from_icon_name ("go-next-symbolic"));
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), TRUE);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (row), "win.open-uri");
  gtk_actionable_set_action_target (GTK_ACTIONABLE (row), "s", gtk_recent_info_get_uri (info));
  return row;
}

static void
empty_page_add_menu_item (VnEmptyPage   *self,
                          GtkRecentInfo *info)
{
  g_autoptr(GMenuItem) item = g_menu_item_new (gtk_recent_info_get_display_name (info), NULL);

  g_menu_item_set_action_and_target (item, "win.open-uri", "s", gtk_recent_info_get_uri (info));
  g_menu_append_item (self->menu, item);
}

/**
 * vn_empty_page_update:
 *
 * Lists the models that were open before, the newest first.
 */
void
vn_empty_page_update (VnEmptyPage *self)
{
  GList *unsorted = gtk_recent_manager_get_items (gtk_recent_manager_get_default ());
  GList *infos = g_list_sort (unsorted, empty_page_compare_newest);
  GtkWidget *child;
  guint n = 0;

  g_return_if_fail (VN_IS_EMPTY_PAGE (self));

  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self->recent_list))) != NULL)
    gtk_list_box_remove (self->recent_list, child);
  g_menu_remove_all (self->menu);
  for (GList *l = infos; l != NULL && n < MAX_ROWS; l = l->next)
    if (empty_page_is_ours (l->data))
      {
        gtk_list_box_append (self->recent_list, empty_page_make_row (l->data));
        empty_page_add_menu_item (self, l->data);
        n++;
      }
  gtk_widget_set_visible (self->recent_box, n > 0);
  g_list_free_full (infos, (GDestroyNotify) gtk_recent_info_unref);
}

static void
empty_page_clear_recent (VnEmptyPage *self)
{
  GtkRecentManager *manager = gtk_recent_manager_get_default ();
  GList *infos = gtk_recent_manager_get_items (manager);

  for (GList *l = infos; l != NULL; l = l->next)
    if (gtk_recent_info_has_application (l->data, APP_NAME))
      gtk_recent_manager_remove_item (manager, gtk_recent_info_get_uri (l->data), NULL);
  g_list_free_full (infos, (GDestroyNotify) gtk_recent_info_unref);
  vn_empty_page_update (self);
}

/**
 * vn_empty_page_get_menu:
 *
 * Returns: (transfer none): the recent models as a menu
 */
GMenuModel *
vn_empty_page_get_menu (VnEmptyPage *self)
{
  g_return_val_if_fail (VN_IS_EMPTY_PAGE (self), NULL);

  return G_MENU_MODEL (self->menu);
}

static void
vn_empty_page_dispose (GObject *object)
{
  VnEmptyPage *self = VN_EMPTY_PAGE (object);

  g_clear_object (&self->menu);
  gtk_widget_dispose_template (GTK_WIDGET (self), VN_TYPE_EMPTY_PAGE);
  G_OBJECT_CLASS (vn_empty_page_parent_class)->dispose (object);
}

static void
vn_empty_page_class_init (VnEmptyPageClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = vn_empty_page_dispose;
  gtk_widget_class_set_template_from_resource (widget_class, "/io/github/vernier/Vernier/vn-empty-page.ui");
  gtk_widget_class_bind_template_child (widget_class, VnEmptyPage, recent_box);
  gtk_widget_class_bind_template_child (widget_class, VnEmptyPage, recent_list);
  gtk_widget_class_bind_template_child (widget_class, VnEmptyPage, clear_button);
}

static void
vn_empty_page_init (VnEmptyPage *self)
{
  self->menu = g_menu_new ();
  gtk_widget_init_template (GTK_WIDGET (self));
  g_signal_connect_swapped (self->clear_button, "clicked", G_CALLBACK (empty_page_clear_recent), self);
  g_signal_connect_object (gtk_recent_manager_get_default (), "changed",
                           G_CALLBACK (vn_empty_page_update), self, G_CONNECT_SWAPPED);
}
