/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page of a window in which nothing is open: recent models, the demo, and how to begin. */
#include "vn-empty-page.h"

#include "vn-draft.h"
#include "vn-genai-folder.h"
#include "vn-i18n.h"
#include "vn-recent-row.h"
#include "vn-rows.h"

#define MAX_ROWS 5
#define APP_NAME "Vernier"

struct _VnEmptyPage
{
  AdwBin      parent_instance;

  GMenu      *menu;         /* the same models, for the button "Open" */
  GtkLabel   *title, *text;
  GtkWidget  *recent_box;
  GtkListBox *recent_list;
  GtkButton  *clear_button;
};

G_DEFINE_FINAL_TYPE (VnEmptyPage, vn_empty_page, ADW_TYPE_BIN)

static gboolean
empty_page_is_ours (GtkRecentInfo *info)
{
  g_autofree char *path = g_filename_from_uri (gtk_recent_info_get_uri (info), NULL, NULL);

  return gtk_recent_info_has_application (info, APP_NAME) && path != NULL &&
         (g_file_test (path, G_FILE_TEST_IS_REGULAR) || vn_genai_folder_is (path));
}

static int
empty_page_compare_newest (gconstpointer a,
                           gconstpointer b)
{
  return g_date_time_compare (gtk_recent_info_get_modified ((GtkRecentInfo *) b),
                              gtk_recent_info_get_modified ((GtkRecentInfo *) a));
}

static GtkWidget *
empty_page_make_row (GtkRecentInfo *info)
{
  g_autofree char *path = g_filename_from_uri (gtk_recent_info_get_uri (info), NULL, NULL);

  return vn_recent_row_new (path, gtk_recent_info_get_modified (info), FALSE);
}

/* Work that was not saved comes first. */
static guint
empty_page_add_drafts (VnEmptyPage *self)
{
  g_autofree char *folder = vn_drafts_dup_folder ();
  g_autoptr(GPtrArray) drafts = vn_drafts_list (folder);
  guint n = MIN (drafts->len, MAX_ROWS);

  for (guint i = 0; i < n; i++)
    {
      g_autoptr(GDateTime) when = vn_recent_row_get_time (g_ptr_array_index (drafts, i));

      gtk_list_box_append (self->recent_list, vn_recent_row_new (g_ptr_array_index (drafts, i), when, TRUE));
    }
  return n;
}

static void
empty_page_add_menu_item (VnEmptyPage   *self,
                          GtkRecentInfo *info)
{
  g_auto(GStrv) parts = g_strsplit (gtk_recent_info_get_display_name (info), "_", -1);
  g_autofree char *label = g_strjoinv ("__", parts);   /* a single one would mark a key */
  g_autoptr(GMenuItem) item = g_menu_item_new (label, NULL);

  g_menu_item_set_action_and_target (item, "win.open-uri", "s", gtk_recent_info_get_uri (info));
  g_menu_append_item (self->menu, item);
}

/**
 * vn_empty_page_update:
 *
 * Lists work that was not saved, and the models and projects that were open before, the newest first.
 */
void
vn_empty_page_update (VnEmptyPage *self)
{
  GList *unsorted = gtk_recent_manager_get_items (gtk_recent_manager_get_default ());
  GList *infos = g_list_sort (unsorted, empty_page_compare_newest);
  guint n = 0, n_drafts;

  g_return_if_fail (VN_IS_EMPTY_PAGE (self));

  vn_list_box_clear (self->recent_list);
  g_menu_remove_all (self->menu);
  n_drafts = empty_page_add_drafts (self);
  for (GList *l = infos; l != NULL && n < MAX_ROWS; l = l->next)
    if (empty_page_is_ours (l->data))
      {
        gtk_list_box_append (self->recent_list, empty_page_make_row (l->data));
        empty_page_add_menu_item (self, l->data);
        n++;
      }
  gtk_widget_set_visible (self->recent_box, n + n_drafts > 0);
  gtk_widget_set_visible (GTK_WIDGET (self->clear_button), n > 0);
  g_list_free_full (infos, (GDestroyNotify) gtk_recent_info_unref);
}

/**
 * vn_empty_page_dup_newest:
 *
 * Returns: (transfer full) (nullable): URI of the model or project that was opened last
 */
char *
vn_empty_page_dup_newest (void)
{
  GList *unsorted = gtk_recent_manager_get_items (gtk_recent_manager_get_default ());
  GList *infos = g_list_sort (unsorted, empty_page_compare_newest);
  char *uri = NULL;

  for (GList *l = infos; l != NULL && uri == NULL; l = l->next)
    if (empty_page_is_ours (l->data))
      uri = g_strdup (gtk_recent_info_get_uri (l->data));
  g_list_free_full (infos, (GDestroyNotify) gtk_recent_info_unref);
  return uri;
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

/**
 * vn_empty_page_show_failure:
 * @title: what failed
 * @reason: why
 *
 * Nothing could be opened: that is what the page says from now on.
 */
void
vn_empty_page_show_failure (VnEmptyPage *self,
                            const char  *title,
                            const char  *reason)
{
  g_return_if_fail (VN_IS_EMPTY_PAGE (self) && title != NULL && reason != NULL);

  gtk_label_set_label (self->title, title);
  gtk_label_set_label (self->text, reason);
  gtk_label_set_selectable (self->text, TRUE);
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
  gtk_widget_class_bind_template_child (widget_class, VnEmptyPage, title);
  gtk_widget_class_bind_template_child (widget_class, VnEmptyPage, text);
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
