/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of runs: what each is called, came to and cost, which of them is shown, and a menu for each. */
#include "vn-runs-list.h"

#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-rows.h"
#include "vn-swatch.h"

#include <math.h>

#define MAX_ROWS 50

struct _VnRunsList
{
  AdwBin      parent_instance;

  VnDocument *document;
  GtkListBox *list;
  guint       rebuild;    /* idle source */
};

G_DEFINE_FINAL_TYPE (VnRunsList, vn_runs_list, ADW_TYPE_BIN)

/* ---- a row ---- */

/* What is known of it besides the two figures of its line. */
static char *
runs_list_describe_all (const VnProjectRun *run)
{
  g_autoptr(GPtrArray) parts = g_ptr_array_new_with_free_func (g_free);

  if (!isnan (run->figures.accuracy))
    {
      g_autofree char *accuracy = vn_format_decimals (100 * run->figures.accuracy, 1);

      g_ptr_array_add (parts, g_strdup_printf (_("%s %% correct"), accuracy));
    }
  if (!isnan (run->figures.runtime.integer_share))
    {
      g_autofree char *share = vn_format_decimals (100 * run->figures.runtime.integer_share, 0);

      g_ptr_array_add (parts, g_strdup_printf (_("%s %% integer MACs"), share));
    }
  if (!isnan (run->figures.runtime.ratio))
    {
      g_autofree char *ratio = vn_format_decimals (run->figures.runtime.ratio, 2);

      g_ptr_array_add (parts, g_strdup_printf (_("%s of the float latency"), ratio));
    }
  g_ptr_array_add (parts, g_strdup (run->preset));
  for (guint i = 0; run->changes[i] != NULL; i++)
    g_ptr_array_add (parts, g_strdup (run->changes[i]));
  g_ptr_array_add (parts, NULL);
  return g_strjoinv ("\n", (char **) parts->pdata);
}

static char *
runs_list_describe (const VnProjectRun *run)
{
  g_autofree char *db = isnan (run->figures.worst_db) ? g_strdup ("–") : vn_format_db (run->figures.worst_db);
  g_autofree char *size = vn_format_bytes (run->figures.quantized_bytes), *time = vn_project_run_dup_time (run);

  return g_strdup_printf ("%s · %s · %s", db, size, time);
}

static GtkWidget *
runs_list_make_menu (const VnProjectRun *run)
{
  static const struct { const char *title, *action, *accel; } items[] = {
    { N_("Go _Back to This Run"), "win.restore-run", NULL }, { N_("_Compare With This Run"), "win.compare-run", NULL },
    { N_("Re_name…"), "win.rename-run", "F2" }, { N_("_Remove"), "win.remove-run", "Delete" },
  };
  g_autoptr(GMenu) menu = g_menu_new ();
  GtkWidget *button = gtk_menu_button_new ();

  for (guint i = 0; i < G_N_ELEMENTS (items); i++)
    {
      g_autoptr(GMenuItem) item = g_menu_item_new (_(items[i].title), NULL);

      g_menu_item_set_action_and_target (item, items[i].action, "s", run->id);
      if (items[i].accel != NULL)
        g_menu_item_set_attribute (item, "accel", "s", items[i].accel);
      g_menu_append_item (menu, item);
    }
  gtk_menu_button_set_menu_model (GTK_MENU_BUTTON (button), G_MENU_MODEL (menu));
  gtk_menu_button_set_icon_name (GTK_MENU_BUTTON (button), "view-more-symbolic");
  gtk_widget_set_tooltip_text (button, _("More About This Run"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, _("More About This Run"), -1);
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class (button, "flat");
  return button;
}

static GtkWidget *
runs_list_make_row (VnRunsList         *self,
                    const VnProjectRun *run)
{
  GtkWidget *row = adw_action_row_new (), *swatch = vn_swatch_new (FALSE), *shown;
  g_autofree char *title = vn_project_run_dup_title (run);
  g_autofree char *subtitle = runs_list_describe (run);
  g_autofree char *changes = runs_list_describe_all (run);
  gboolean is_shown = vn_bench_is_shown (VN_BENCH (self->document), run);

  vn_swatch_set (VN_SWATCH (swatch), isnan (run->figures.worst_db) ? VN_SWATCH_EMPTY : VN_SWATCH_VALUE, VN_METRIC_SQNR,
                 run->figures.worst_db);
  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), subtitle);
  adw_action_row_set_title_lines (ADW_ACTION_ROW (row), 1);
  adw_action_row_set_subtitle_lines (ADW_ACTION_ROW (row), 1);
  gtk_widget_set_tooltip_text (row, changes);
  gtk_widget_set_valign (swatch, GTK_ALIGN_CENTER);
  adw_action_row_add_prefix (ADW_ACTION_ROW (row), swatch);
  shown = gtk_image_new_from_icon_name ("object-select-symbolic");
  gtk_widget_set_tooltip_text (shown, _("Currently Shown"));
  gtk_widget_set_opacity (shown, is_shown ? 1 : 0);
  gtk_accessible_update_property (GTK_ACCESSIBLE (shown), GTK_ACCESSIBLE_PROPERTY_LABEL, is_shown ? _("Currently Shown") : "",
                                  -1);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), shown);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), runs_list_make_menu (run));
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), TRUE);
  gtk_accessible_update_property (GTK_ACCESSIBLE (row), GTK_ACCESSIBLE_PROPERTY_LABEL, title, -1);
  g_object_set_data_full (G_OBJECT (row), "vn-run", g_strdup (run->id), g_free);
  return row;
}

/* ---- the list ---- */

static gboolean
runs_list_rebuild (gpointer data)
{
  VnRunsList *self = data;
  GPtrArray *runs = vn_bench_get_runs (VN_BENCH (self->document));

  self->rebuild = 0;
  vn_list_box_clear (self->list);
  for (guint i = 0; i < MIN (runs->len, MAX_ROWS); i++)
    gtk_list_box_append (self->list, runs_list_make_row (self, g_ptr_array_index (runs, runs->len - 1 - i)));
  if (runs->len == 0)
    gtk_list_box_append (self->list, vn_row_new_wide (_("No runs"), _("The result of each quantization is stored here")));
  return G_SOURCE_REMOVE;
}

/* Not at once: the row whose menu this comes from must not vanish below it. */
static void
runs_list_changed (VnRunsList *self)
{
  if (self->rebuild == 0)
    self->rebuild = g_idle_add (runs_list_rebuild, self);
}

static const char *
runs_list_get_focused (VnRunsList *self)
{
  GtkWidget *row = gtk_widget_get_focus_child (GTK_WIDGET (self->list));

  return row != NULL ? g_object_get_data (G_OBJECT (row), "vn-run") : NULL;
}

static void
runs_list_activated (VnRunsList    *self,
                     GtkListBoxRow *row)
{
  const char *id = g_object_get_data (G_OBJECT (row), "vn-run");

  if (id != NULL)
    gtk_widget_activate_action (GTK_WIDGET (self), "win.restore-run", "s", id);
}

static gboolean
runs_list_pressed (VnRunsList *self,
                   guint       keyval)
{
  const char *id = runs_list_get_focused (self);

  if (id == NULL || (keyval != GDK_KEY_F2 && keyval != GDK_KEY_Delete))
    return GDK_EVENT_PROPAGATE;
  gtk_widget_activate_action (GTK_WIDGET (self), keyval == GDK_KEY_F2 ? "win.rename-run" : "win.remove-run", "s", id);
  return GDK_EVENT_STOP;
}

/**
 * vn_runs_list_set_document:
 */
void
vn_runs_list_set_document (VnRunsList *self,
                           VnDocument *document)
{
  static const char * const signals[] = { "changed::runs", "changed::run", "changed::model" };

  g_return_if_fail (VN_IS_RUNS_LIST (self));
  g_return_if_fail (VN_IS_DOCUMENT (document));

  self->document = g_object_ref (document);
  for (guint i = 0; i < G_N_ELEMENTS (signals); i++)
    g_signal_connect_object (document, signals[i], G_CALLBACK (runs_list_changed), self, G_CONNECT_SWAPPED);
  runs_list_rebuild (self);
}

static void
vn_runs_list_dispose (GObject *object)
{
  VnRunsList *self = VN_RUNS_LIST (object);

  g_clear_handle_id (&self->rebuild, g_source_remove);
  g_clear_object (&self->document);
  G_OBJECT_CLASS (vn_runs_list_parent_class)->dispose (object);
}

static void
vn_runs_list_class_init (VnRunsListClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = vn_runs_list_dispose;
}

static void
vn_runs_list_init (VnRunsList *self)
{
  GtkWidget *list = vn_row_list_new ();
  GtkEventController *keys = gtk_event_controller_key_new ();

  self->list = GTK_LIST_BOX (list);
  gtk_accessible_update_property (GTK_ACCESSIBLE (list), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Runs"), -1);
  g_signal_connect_swapped (list, "row-activated", G_CALLBACK (runs_list_activated), self);
  g_signal_connect_swapped (keys, "key-pressed", G_CALLBACK (runs_list_pressed), self);
  gtk_widget_add_controller (list, keys);
  adw_bin_set_child (ADW_BIN (self), list);
}
