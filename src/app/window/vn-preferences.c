/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The preferences: what holds for the whole program and for documents that are new, and what follows from it at once. Animations
 * are no choice here: they follow the desktop. */
#include "vn-preferences.h"

#include "vn-i18n.h"
#include "vn-improve-job.h"
#include "vn-parallel.h"
#include "vn-recipe.h"
#include "vn-rows.h"
#include "vn-settings.h"

static const struct { const char *id, *title; AdwColorScheme scheme; } schemes[] = {
  { "default", N_("Follow system"), ADW_COLOR_SCHEME_DEFAULT },
  { "light", N_("Light"), ADW_COLOR_SCHEME_FORCE_LIGHT },
  { "dark", N_("Dark"), ADW_COLOR_SCHEME_FORCE_DARK },
};

static void
preferences_apply_scheme (void)
{
  g_autofree char *id = vn_settings_dup_string ("color-scheme", "default");

  for (guint i = 0; i < G_N_ELEMENTS (schemes); i++)
    if (g_str_equal (schemes[i].id, id))
      adw_style_manager_set_color_scheme (adw_style_manager_get_default (), schemes[i].scheme);
}

/**
 * vn_preferences_apply:
 *
 * To be called when the program starts: what has been chosen for all of it takes effect.
 */
void
vn_preferences_apply (void)
{
  GSettings *settings = vn_settings_get ();

  vn_parallel_limit_default_threads ((guint) vn_settings_get_int ("threads", 0));
  if (settings == NULL)
    return;
  preferences_apply_scheme ();
  g_signal_connect (settings, "changed::color-scheme", G_CALLBACK (preferences_apply_scheme), NULL);
}

/* ---- rows ---- */

static void
preferences_combo_changed (AdwComboRow *row)
{
  const char *key = g_object_get_data (G_OBJECT (row), "vn-key");
  const char * const *ids = g_object_get_data (G_OBJECT (row), "vn-ids");

  g_settings_set_string (vn_settings_get (), key, ids[adw_combo_row_get_selected (row)]);
}

/* @ids: of the choices, as they are kept; is freed with the row */
static void
preferences_add_combo (GtkWidget          *group,
                       const char         *key,
                       const char         *title,
                       const char         *subtitle,
                       const char        **ids,
                       const char * const *titles)
{
  GtkWidget *row = adw_combo_row_new ();
  g_autoptr(GtkStringList) list = gtk_string_list_new (titles);
  g_autofree char *chosen = vn_settings_dup_string (key, "");

  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), subtitle);
  adw_combo_row_set_model (ADW_COMBO_ROW (row), G_LIST_MODEL (list));
  vn_combo_row_show_whole (ADW_COMBO_ROW (row));
  for (guint i = 0; ids[i] != NULL; i++)
    if (g_str_equal (ids[i], chosen))
      adw_combo_row_set_selected (ADW_COMBO_ROW (row), i);
  g_object_set_data (G_OBJECT (row), "vn-key", (gpointer) key);
  g_object_set_data_full (G_OBJECT (row), "vn-ids", ids, g_free);
  g_signal_connect (row, "notify::selected", G_CALLBACK (preferences_combo_changed), NULL);
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (group), row);
}

static void
preferences_add_switch (GtkWidget  *group,
                        const char *key,
                        const char *title,
                        const char *subtitle)
{
  GtkWidget *row = adw_action_row_new (), *button = gtk_switch_new ();

  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), subtitle);
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), button);
  adw_action_row_set_activatable_widget (ADW_ACTION_ROW (row), button);
  g_settings_bind (vn_settings_get (), key, button, "active", G_SETTINGS_BIND_DEFAULT);
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (group), row);
}

/* @lowest: (nullable): the word for @least */
static void
preferences_add_number (GtkWidget  *group,
                        const char *key,
                        const char *title,
                        const char *subtitle,
                        int         least,
                        int         most,
                        int         step,
                        const char *lowest)
{
  GtkWidget *row = adw_action_row_new (), *spin = gtk_spin_button_new_with_range (least, most, step);

  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), subtitle);
  gtk_widget_set_valign (spin, GTK_ALIGN_CENTER);
  gtk_spin_button_set_numeric (GTK_SPIN_BUTTON (spin), lowest == NULL);
  gtk_editable_set_width_chars (GTK_EDITABLE (spin), 7);
  gtk_accessible_update_property (GTK_ACCESSIBLE (spin), GTK_ACCESSIBLE_PROPERTY_LABEL, title, -1);
  if (lowest != NULL)
    vn_spin_button_name_lowest (GTK_SPIN_BUTTON (spin), lowest);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), spin);
  adw_action_row_set_activatable_widget (ADW_ACTION_ROW (row), spin);
  g_settings_bind (vn_settings_get (), key, spin, "value", G_SETTINGS_BIND_DEFAULT);
  gtk_spin_button_update (GTK_SPIN_BUTTON (spin));
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (group), row);
}

/* ---- groups ---- */

static GtkWidget *
preferences_add_group (GtkWidget  *page,
                       const char *title,
                       const char *description)
{
  GtkWidget *group = adw_preferences_group_new ();

  adw_preferences_group_set_title (ADW_PREFERENCES_GROUP (group), title);
  adw_preferences_group_set_description (ADW_PREFERENCES_GROUP (group), description);
  adw_preferences_page_add (ADW_PREFERENCES_PAGE (page), ADW_PREFERENCES_GROUP (group));
  return group;
}

static void
preferences_fill_window (GtkWidget *group)
{
  const char **ids = g_new0 (const char *, G_N_ELEMENTS (schemes) + 1);
  const char *titles[G_N_ELEMENTS (schemes) + 1] = { NULL };

  for (guint i = 0; i < G_N_ELEMENTS (schemes); i++)
    {
      ids[i] = schemes[i].id;
      titles[i] = _(schemes[i].title);
    }
  preferences_add_combo (group, "color-scheme", _("Colors"), NULL, ids, titles);
  preferences_add_switch (group, "open-last", _("Resume Last Session"), _("Opens the last model or project when "
                                                                           "Vernier starts"));
  preferences_add_switch (group, "columns", _("Long Networks in Columns"),
                          _("Instead of one that has to be scrolled; Shift+F7 switches, too"));
}

static void
preferences_fill_new (GtkWidget *group)
{
  guint n;
  const VnPreset * const *presets = vn_preset_list (&n);
  const char **ids = g_new0 (const char *, n + 1);
  g_autofree const char **titles = g_new0 (const char *, n + 1);

  for (guint i = 0; i < n; i++)
    {
      ids[i] = presets[i]->id;
      titles[i] = _(presets[i]->title);
    }
  preferences_add_combo (group, "preset", _("Target"), NULL, ids, titles);
  preferences_add_number (group, "samples", _("Samples for Calibration"), _("Maximum number, evenly spaced over the folder"), 1,
                          100000, 10, NULL);
  preferences_add_number (group, "held-out", _("Held-Out Samples"), _("Used to measure the error, not for calibration"),
                          -1, 100000, 1, _("Usual"));
}

static void
preferences_fill_work (GtkWidget *group)
{
  preferences_add_number (group, "improve-seconds", _("Time Limit of Improve Automatically"), _("In seconds"), 10, 3600, 10,
                          NULL);
  preferences_add_number (group, "threads", _("CPU Threads to Use"), _("Takes effect at the next start; fewer leave "
                                                                      "more to other programs"),
                          0, (int) g_get_num_processors (), 1, _("All"));
}

/**
 * vn_preferences_new:
 * @parent: (nullable): the window that it lies over
 *
 * Returns: (transfer none): a window in which everything takes effect at once
 */
GtkWidget *
vn_preferences_new (GtkWindow *parent)
{
  GtkWidget *dialog = adw_preferences_window_new (), *page = adw_preferences_page_new ();

  g_return_val_if_fail (parent == NULL || GTK_IS_WINDOW (parent), NULL);

  adw_preferences_window_set_search_enabled (ADW_PREFERENCES_WINDOW (dialog), FALSE);
  gtk_window_set_transient_for (GTK_WINDOW (dialog), parent);
  gtk_window_set_modal (GTK_WINDOW (dialog), TRUE);
  gtk_window_set_default_size (GTK_WINDOW (dialog), 600, 640);
  if (vn_settings_get () == NULL)
    preferences_add_group (page, _("Preferences Cannot Be Saved"),
                           _("Vernier is not installed, so its settings schema is missing."));
  else
    {
      preferences_fill_window (preferences_add_group (page, _("Window"), NULL));
      preferences_fill_new (preferences_add_group (page, _("New Models"), _("Initial quantization settings; each "
                                                                            "model can override them.")));
      preferences_fill_work (preferences_add_group (page, _("Work"), NULL));
    }
  adw_preferences_window_add (ADW_PREFERENCES_WINDOW (dialog), ADW_PREFERENCES_PAGE (page));
  return dialog;
}
