/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The row of a setting: made from its line in vn-settings.def, kept as the recipe says, and every change a step that can be
 * undone. All Settings and the wizard are made of these. */
#include "vn-setting-row.h"

#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-rows.h"

#define ROW_KEY "vn-setting-row"

/* A row and what it shows. */
typedef struct
{
  const VnSetting *setting;
  VnDocument      *document;
  GtkWidget       *row, *reset;   /* borrowed: the row owns this structure */
  GtkWidget       *editor;        /* switch or entry; NULL: the row itself */
  char           **texts;         /* of a row with choices: what each means; NULL: none */
  char            *shown;         /* what stands in an entry unless somebody writes */
  gboolean         titled;        /* choices have titles, which need room: they stand in the place of what the setting does */
  gboolean         busy;          /* the row is being filled */
} Row;

static void
setting_row_free (gpointer data)
{
  Row *self = data;

  g_object_unref (self->document);
  g_strfreev (self->texts);
  g_free (self->shown);
  g_free (self);
}

static guint
setting_row_find_choice (Row        *self,
                         const char *text)
{
  for (guint i = 0; self->texts[i] != NULL; i++)
    if (g_str_equal (self->texts[i], text))
      return i;
  return GTK_INVALID_LIST_POSITION;
}

static void
setting_row_show_value (Row        *self,
                        const char *text)
{
  self->busy = TRUE;
  g_free (self->shown);
  self->shown = g_strdup (text);
  if (self->texts != NULL)
    adw_combo_row_set_selected (ADW_COMBO_ROW (self->row), setting_row_find_choice (self, text));
  else if (GTK_IS_SWITCH (self->editor))
    gtk_switch_set_active (GTK_SWITCH (self->editor), g_str_equal (text, "true"));
  else
    gtk_editable_set_text (GTK_EDITABLE (self->editor != NULL ? self->editor : self->row), text);
  gtk_widget_remove_css_class (self->row, "error");
  self->busy = FALSE;
}

/* A dialog lies over the window and tells itself what is wrong. What somebody wrote stays, to be mended. */
static void
setting_row_refuse (Row          *self,
                    const GError *error)
{
  GtkWidget *dialog = gtk_widget_get_ancestor (self->row, ADW_TYPE_PREFERENCES_WINDOW);
  g_autofree char *shown = g_strdup (self->shown);

  if (self->texts != NULL || GTK_IS_SWITCH (self->editor))
    setting_row_show_value (self, shown);
  else
    gtk_widget_add_css_class (self->row, "error");
  if (dialog != NULL)
    {
      g_autofree char *escaped = g_markup_escape_text (error->message, -1);

      adw_preferences_window_add_toast (ADW_PREFERENCES_WINDOW (dialog), adw_toast_new (escaped));
    }
  else
    vn_bench_report (VN_BENCH (self->document), error->message);
}

static gboolean
setting_row_is_number (Row *self)
{
  return self->setting->type == VN_SETTING_INT || self->setting->type == VN_SETTING_DOUBLE;
}

/* A list is written as its elements with commas between; nothing takes all away. */
static gboolean
setting_row_parse (Row        *self,
                   VnRecipe   *recipe,
                   const char *text,
                   GError    **error)
{
  g_autofree char *number = setting_row_is_number (self) ? vn_format_from_locale (text) : NULL;
  g_auto(GStrv) parts = NULL;

  if (self->setting->type != VN_SETTING_LIST && *text != '\0')
    return vn_setting_parse (self->setting, recipe, number != NULL ? number : text, error);
  vn_setting_clear (self->setting, recipe);
  vn_setting_reset (self->setting, recipe);
  parts = g_strsplit (text, ",", -1);
  for (guint i = 0; self->setting->type == VN_SETTING_LIST && parts[i] != NULL; i++)
    if (*g_strstrip (parts[i]) != '\0' && !vn_setting_parse (self->setting, recipe, parts[i], error))
      return FALSE;
  return TRUE;
}

static void
setting_row_apply (Row        *self,
                   const char *text)
{
  g_autoptr(VnRecipe) recipe = vn_recipe_copy (vn_bench_get_recipe (VN_BENCH (self->document)));
  g_autoptr(GError) error = NULL;

  if (!setting_row_parse (self, recipe, text, &error) || !vn_recipe_validate (recipe, &error))
    {
      setting_row_refuse (self, error);
      return;
    }
  gtk_widget_remove_css_class (self->row, "error");
  vn_bench_edit_recipe (VN_BENCH (self->document), g_steal_pointer (&recipe), _(self->setting->title));
}

static char *
setting_row_dup_text (Row            *self,
                      const VnRecipe *recipe)
{
  g_autofree char *text = vn_setting_dup_short_text (self->setting, recipe);

  if (text != NULL && setting_row_is_number (self))
    return vn_format_to_locale (text);
  return text != NULL ? g_steal_pointer (&text) : g_strdup ("");
}

static void
setting_row_toggled (Row        *self,
                     GParamSpec *pspec,
                     GtkSwitch  *editor)
{
  if (!self->busy)
    setting_row_apply (self, gtk_switch_get_active (editor) ? "true" : "false");
}

static void
setting_row_chosen (Row         *self,
                    GParamSpec  *pspec,
                    AdwComboRow *row)
{
  guint i = adw_combo_row_get_selected (row);

  if (!self->busy && i < g_strv_length (self->texts))
    setting_row_apply (self, self->texts[i]);
}

static void
setting_row_entered (Row         *self,
                     GtkEditable *editor)
{
  if (!self->busy && g_strcmp0 (gtk_editable_get_text (editor), self->shown) != 0)
    setting_row_apply (self, gtk_editable_get_text (editor));
}

static void
setting_row_take_number (GtkWidget *row)
{
  Row *self = g_object_get_data (G_OBJECT (row), ROW_KEY);

  setting_row_entered (self, GTK_EDITABLE (self->editor));
}

static void
setting_row_number_left (Row                *self,
                         GtkEventController *controller)
{
  vn_widget_call_soon (self->row, setting_row_take_number);
}

/* Back to what the target says. */
static void
setting_row_reset_clicked (Row       *self,
                           GtkButton *button)
{
  const VnRecipe *recipe = vn_bench_get_recipe (VN_BENCH (self->document));
  g_autoptr(VnRecipe) target = vn_recipe_new (recipe->preset);
  g_autofree char *text = setting_row_dup_text (self, target);

  setting_row_apply (self, text);
}

static GtkWidget *
setting_row_make_switch (Row *self)
{
  GtkWidget *row = adw_action_row_new ();

  self->editor = gtk_switch_new ();
  gtk_widget_set_valign (self->editor, GTK_ALIGN_CENTER);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), self->editor);
  adw_action_row_set_activatable_widget (ADW_ACTION_ROW (row), self->editor);
  g_signal_connect_swapped (self->editor, "notify::active", G_CALLBACK (setting_row_toggled), self);
  return row;
}

/* A text that may be left out has a choice for that. */
static GtkWidget *
setting_row_make_combo (Row *self)
{
  GtkWidget *row = adw_combo_row_new ();
  g_auto(GStrv) titles = NULL;
  g_autoptr(GtkStringList) names = NULL;
  g_autoptr(GStrvBuilder) texts = g_strv_builder_new ();
  g_autoptr(VnRecipe) plain = vn_recipe_new (NULL);
  g_autofree char *unset = vn_setting_dup_text (self->setting, plain);
  g_auto(GStrv) choices = vn_setting_list_choices (self->setting, &titles);

  names = gtk_string_list_new (NULL);
  if (unset == NULL || *unset == '\0')
    {
      g_strv_builder_add (texts, "");
      gtk_string_list_append (names, _("Automatic"));
    }
  g_strv_builder_addv (texts, (const char **) choices);
  gtk_string_list_splice (names, g_list_model_get_n_items (G_LIST_MODEL (names)), 0, (const char * const *) titles);
  self->texts = g_strv_builder_end (texts);
  self->titled = self->setting->type == VN_SETTING_STRING;
  adw_combo_row_set_model (ADW_COMBO_ROW (row), G_LIST_MODEL (names));
  g_signal_connect_swapped (row, "notify::selected", G_CALLBACK (setting_row_chosen), self);
  return row;
}

static GtkWidget *
setting_row_make_number (Row *self)
{
  GtkWidget *row = adw_action_row_new ();
  GtkEventController *focus = gtk_event_controller_focus_new ();

  self->editor = gtk_entry_new ();
  gtk_widget_set_valign (self->editor, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class (self->editor, "numeric");
  gtk_editable_set_width_chars (GTK_EDITABLE (self->editor), 10);
  gtk_editable_set_max_width_chars (GTK_EDITABLE (self->editor), 10);
  gtk_editable_set_alignment (GTK_EDITABLE (self->editor), 1);
  gtk_entry_set_input_purpose (GTK_ENTRY (self->editor), GTK_INPUT_PURPOSE_NUMBER);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), self->editor);
  adw_action_row_set_activatable_widget (ADW_ACTION_ROW (row), self->editor);
  g_signal_connect_swapped (self->editor, "activate", G_CALLBACK (setting_row_entered), self);
  g_signal_connect_swapped (focus, "leave", G_CALLBACK (setting_row_number_left), self);
  gtk_widget_add_controller (self->editor, focus);
  return row;
}

static GtkWidget *
setting_row_make_text (Row *self)
{
  GtkWidget *row = adw_entry_row_new ();

  adw_entry_row_set_show_apply_button (ADW_ENTRY_ROW (row), TRUE);
  g_signal_connect_swapped (row, "apply", G_CALLBACK (setting_row_entered), self);
  return row;
}

static GtkWidget *
setting_row_make_editor (Row *self)
{
  g_auto(GStrv) choices = vn_setting_list_choices (self->setting, NULL);

  if (choices != NULL)
    return setting_row_make_combo (self);
  switch (self->setting->type)
    {
    case VN_SETTING_BOOL:
      return setting_row_make_switch (self);
    case VN_SETTING_INT:
    case VN_SETTING_DOUBLE:
      return setting_row_make_number (self);
    default:
      return setting_row_make_text (self);
    }
}

/* The choice as the second line. libadwaita 1.7 writes it only when another one is chosen. */
static void
setting_row_show_choice (AdwComboRow *row)
{
  GtkStringObject *item = adw_combo_row_get_selected_item (row);

  adw_combo_row_set_use_subtitle (row, TRUE);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), item != NULL ? gtk_string_object_get_string (item) : NULL);
}

/* What the setting does; of one that changes nothing beside the others why. It can be taken back all the same. */
static void
setting_row_show_effect (Row            *self,
                         const VnRecipe *recipe,
                         gboolean        differs)
{
  const char *reason = vn_setting_get_idle_reason (self->setting, recipe);
  g_autofree char *text = reason != NULL ? g_strdup_printf (_("No effect here: %s"), reason) : g_strdup (_(self->setting->blurb));
  g_autofree char *allowed = GTK_IS_ENTRY (self->editor) ? vn_setting_dup_allowed (self->setting) : NULL;
  g_autofree char *tooltip = allowed != NULL ? g_strdup_printf ("%s\n%s", text, allowed) : g_strdup (text);

  gtk_widget_set_sensitive (self->row, reason == NULL || differs);
  gtk_widget_set_tooltip_text (self->row, tooltip);
  if (self->titled && reason == NULL)
    setting_row_show_choice (ADW_COMBO_ROW (self->row));
  else if (self->titled)
    adw_combo_row_set_use_subtitle (ADW_COMBO_ROW (self->row), FALSE);
  if (ADW_IS_ACTION_ROW (self->row) && !(self->titled && reason == NULL))
    adw_action_row_set_subtitle (ADW_ACTION_ROW (self->row), text);
}

static void
setting_row_recipe_changed (GtkWidget *row)
{
  Row *self = g_object_get_data (G_OBJECT (row), ROW_KEY);
  const VnRecipe *recipe = vn_bench_get_recipe (VN_BENCH (self->document));
  g_autoptr(VnRecipe) target = vn_recipe_new (recipe->preset);
  g_autofree char *text = setting_row_dup_text (self, recipe);
  gboolean differs = !vn_setting_equal (self->setting, recipe, target);

  setting_row_show_value (self, text);
  setting_row_show_effect (self, recipe, differs);
  gtk_widget_set_visible (self->reset, differs);
}

static void
setting_row_add_reset (Row *self)
{
  self->reset = gtk_button_new_from_icon_name ("edit-undo-symbolic");
  gtk_widget_set_valign (self->reset, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class (self->reset, "flat");
  gtk_widget_set_tooltip_text (self->reset, _("Target Default"));
  g_signal_connect_swapped (self->reset, "clicked", G_CALLBACK (setting_row_reset_clicked), self);
  if (ADW_IS_ENTRY_ROW (self->row))
    adw_entry_row_add_suffix (ADW_ENTRY_ROW (self->row), self->reset);
  else
    adw_action_row_add_suffix (ADW_ACTION_ROW (self->row), self->reset);
}

/**
 * vn_setting_row_new:
 * @setting: of a recipe
 * @document: whose recipe is shown and edited
 *
 * Returns: (transfer floating): a row for lists of preferences
 */
GtkWidget *
vn_setting_row_new (const VnSetting *setting,
                    VnDocument      *document)
{
  Row *self;

  g_return_val_if_fail (setting != NULL, NULL);
  g_return_val_if_fail (VN_IS_DOCUMENT (document), NULL);

  self = g_new0 (Row, 1);
  self->setting = setting;
  self->document = g_object_ref (document);
  self->row = setting_row_make_editor (self);
  setting_row_add_reset (self);
  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (self->row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->row), _(setting->title));
  if (self->editor != NULL)
    gtk_accessible_update_property (GTK_ACCESSIBLE (self->editor), GTK_ACCESSIBLE_PROPERTY_LABEL, _(setting->title), -1);
  g_object_set_data_full (G_OBJECT (self->row), ROW_KEY, self, setting_row_free);
  g_signal_connect_object (document, "changed::recipe", G_CALLBACK (setting_row_recipe_changed), self->row, G_CONNECT_SWAPPED);
  setting_row_recipe_changed (self->row);
  return self->row;
}

/**
 * vn_setting_row_get_setting:
 * @row: any widget
 *
 * Returns: (nullable): the setting that @row shows; %NULL: it shows none
 */
const VnSetting *
vn_setting_row_get_setting (GtkWidget *row)
{
  const Row *self;

  g_return_val_if_fail (GTK_IS_WIDGET (row), NULL);

  self = g_object_get_data (G_OBJECT (row), ROW_KEY);
  return self != NULL ? self->setting : NULL;
}
