/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The dialog with all settings of the recipe: a row with an editor for each line of vn-settings.def. */
#include "vn-settings-dialog.h"

#include "vn-i18n.h"
#include "vn-setting.h"

#include <string.h>

/* A row and what it shows. */
typedef struct
{
  const VnSetting *setting;
  VnDocument      *document;      /* borrowed: the dialog keeps it */
  GtkWidget       *row, *reset;
  GtkWidget       *editor;        /* switch; NULL: the row itself */
  char           **texts;         /* of a row with choices: what each means; NULL: none */
  gboolean         busy;          /* the row is being filled */
} Row;

static void
settings_dialog_row_free (gpointer data)
{
  Row *self = data;

  g_strfreev (self->texts);
  g_free (self);
}

static void
settings_dialog_tell (Row          *self,
                      const GError *error)
{
  GtkWidget *window = gtk_widget_get_ancestor (self->row, ADW_TYPE_PREFERENCES_WINDOW);

  gtk_widget_add_css_class (self->row, "error");
  if (window != NULL)
    adw_preferences_window_add_toast (ADW_PREFERENCES_WINDOW (window), adw_toast_new (error->message));
}

/* A list is written as its elements with commas between; nothing takes all away. */
static gboolean
settings_dialog_parse (Row        *self,
                       VnRecipe   *recipe,
                       const char *text,
                       GError    **error)
{
  g_auto(GStrv) parts = NULL;

  if (self->setting->type != VN_SETTING_LIST && *text != '\0')
    return vn_setting_parse (self->setting, recipe, text, error);
  vn_setting_clear (self->setting, recipe);
  vn_setting_reset (self->setting, recipe);
  parts = g_strsplit (text, ",", -1);
  for (guint i = 0; self->setting->type == VN_SETTING_LIST && parts[i] != NULL; i++)
    if (*g_strstrip (parts[i]) != '\0' && !vn_setting_parse (self->setting, recipe, parts[i], error))
      return FALSE;
  return TRUE;
}

static void
settings_dialog_apply (Row        *self,
                       const char *text)
{
  VnRecipe *recipe = vn_recipe_copy (vn_document_get_recipe (self->document));
  g_autoptr(GError) error = NULL;

  if (!settings_dialog_parse (self, recipe, text, &error) || !vn_recipe_validate (recipe, &error))
    {
      vn_recipe_free (recipe);
      settings_dialog_tell (self, error);
      return;
    }
  gtk_widget_remove_css_class (self->row, "error");
  vn_document_edit_recipe (self->document, recipe, _(self->setting->title));
}

static void
settings_dialog_toggled (Row        *self,
                         GParamSpec *pspec,
                         GtkSwitch  *editor)
{
  if (!self->busy)
    settings_dialog_apply (self, gtk_switch_get_active (editor) ? "true" : "false");
}

static void
settings_dialog_chosen (Row         *self,
                        GParamSpec  *pspec,
                        AdwComboRow *row)
{
  guint i = adw_combo_row_get_selected (row);

  if (!self->busy && i < g_strv_length (self->texts))
    settings_dialog_apply (self, self->texts[i]);
}

static void
settings_dialog_entered (Row         *self,
                         AdwEntryRow *row)
{
  if (!self->busy)
    settings_dialog_apply (self, gtk_editable_get_text (GTK_EDITABLE (row)));
}

/* Back to what the target says. */
static void
settings_dialog_reset_clicked (Row       *self,
                               GtkButton *button)
{
  const VnRecipe *recipe = vn_document_get_recipe (self->document);
  g_autoptr(VnRecipe) target = vn_recipe_new (recipe->preset);
  g_autofree char *text = vn_setting_dup_text (self->setting, target);

  settings_dialog_apply (self, text);
}

static char **
settings_dialog_list_dtypes (const VnSetting *setting)
{
  g_autoptr(GStrvBuilder) names = g_strv_builder_new ();

  for (guint i = 1; i < VN_N_DTYPES; i++)
    if (setting->dtypes >> i & 1)
      g_strv_builder_add (names, vn_dtype_get_name ((VnDType) i));
  return g_strv_builder_end (names);
}

static GtkWidget *
settings_dialog_make_editor (Row *self)
{
  g_autoptr(GtkStringList) names = NULL;
  GtkWidget *row;

  switch (self->setting->type)
    {
    case VN_SETTING_BOOL:
      row = adw_action_row_new ();
      self->editor = gtk_switch_new ();
      gtk_widget_set_valign (self->editor, GTK_ALIGN_CENTER);
      adw_action_row_add_suffix (ADW_ACTION_ROW (row), self->editor);
      adw_action_row_set_activatable_widget (ADW_ACTION_ROW (row), self->editor);
      g_signal_connect_swapped (self->editor, "notify::active", G_CALLBACK (settings_dialog_toggled), self);
      return row;
    case VN_SETTING_ENUM:
    case VN_SETTING_DTYPE:
      row = adw_combo_row_new ();
      self->texts = self->setting->type == VN_SETTING_ENUM ? g_strdupv ((char **) self->setting->choices)
                                                           : settings_dialog_list_dtypes (self->setting);
      names = gtk_string_list_new ((const char * const *) self->texts);
      adw_combo_row_set_model (ADW_COMBO_ROW (row), G_LIST_MODEL (names));
      g_signal_connect_swapped (row, "notify::selected", G_CALLBACK (settings_dialog_chosen), self);
      return row;
    default:
      row = adw_entry_row_new ();
      adw_entry_row_set_show_apply_button (ADW_ENTRY_ROW (row), TRUE);
      g_signal_connect_swapped (row, "apply", G_CALLBACK (settings_dialog_entered), self);
      return row;
    }
}

static void
settings_dialog_show_value (Row        *self,
                            const char *text)
{
  self->busy = TRUE;
  if (self->editor != NULL)
    gtk_switch_set_active (GTK_SWITCH (self->editor), g_str_equal (text, "true"));
  else if (self->texts == NULL)
    gtk_editable_set_text (GTK_EDITABLE (self->row), text);
  else
    for (guint i = 0; self->texts[i] != NULL; i++)
      if (g_str_equal (self->texts[i], text))
        adw_combo_row_set_selected (ADW_COMBO_ROW (self->row), i);
  self->busy = FALSE;
}

/* What the setting does; of one that changes nothing beside the others why. It can be taken back all the same. */
static void
settings_dialog_show_effect (Row            *self,
                             const VnRecipe *recipe,
                             gboolean        differs)
{
  const char *reason = vn_setting_get_idle_reason (self->setting, recipe);
  g_autofree char *text = reason != NULL ? g_strdup_printf (_("Changes nothing here: %s"), reason) : g_strdup (_(self->setting->blurb));
  g_autofree char *subtitle = g_markup_escape_text (text, -1);

  gtk_widget_set_sensitive (self->row, reason == NULL || differs);
  gtk_widget_set_tooltip_text (self->row, text);
  if (ADW_IS_ACTION_ROW (self->row))
    adw_action_row_set_subtitle (ADW_ACTION_ROW (self->row), subtitle);
}

static void
settings_dialog_recipe_changed (GtkWidget *dialog)
{
  GPtrArray *rows = g_object_get_data (G_OBJECT (dialog), "vn-rows");
  VnDocument *document = g_object_get_data (G_OBJECT (dialog), "vn-document");
  const VnRecipe *recipe = vn_document_get_recipe (document);
  g_autoptr(VnRecipe) target = vn_recipe_new (recipe->preset);

  for (guint i = 0; i < rows->len; i++)
    {
      Row *row = g_ptr_array_index (rows, i);
      g_autofree char *text = vn_setting_dup_text (row->setting, recipe);
      gboolean differs = !vn_setting_equal (row->setting, recipe, target);

      settings_dialog_show_value (row, text != NULL ? text : "");
      settings_dialog_show_effect (row, recipe, differs);
      gtk_widget_set_visible (row->reset, differs);
    }
}

static Row *
settings_dialog_row_new (const VnSetting *setting,
                         VnDocument      *document)
{
  Row *self = g_new0 (Row, 1);

  self->setting = setting;
  self->document = document;
  self->row = settings_dialog_make_editor (self);
  self->reset = gtk_button_new_from_icon_name ("edit-undo-symbolic");
  gtk_widget_set_valign (self->reset, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class (self->reset, "flat");
  gtk_widget_set_tooltip_text (self->reset, _("As the Target Says"));
  g_signal_connect_swapped (self->reset, "clicked", G_CALLBACK (settings_dialog_reset_clicked), self);
  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (self->row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->row), _(setting->title));
  if (ADW_IS_ENTRY_ROW (self->row))
    adw_entry_row_add_suffix (ADW_ENTRY_ROW (self->row), self->reset);
  else
    adw_action_row_add_suffix (ADW_ACTION_ROW (self->row), self->reset);
  return self;
}

static void
settings_dialog_add_group (GtkWidget      *page,
                           GPtrArray      *rows,
                           VnSettingGroup  id,
                           VnDocument     *document)
{
  GtkWidget *group = adw_preferences_group_new ();
  guint n;
  const VnSetting *settings = vn_setting_list_of_recipe (&n);

  adw_preferences_group_set_title (ADW_PREFERENCES_GROUP (group), vn_setting_group_get_title (id));
  if (id == 0)
    adw_preferences_group_set_description (ADW_PREFERENCES_GROUP (group),
                                           _("Several names are separated by commas. An arrow takes a setting back to what the target says."));
  for (guint i = 0; i < n; i++)
    if (vn_setting_get_group (&settings[i]) == id)
      {
        Row *row = settings_dialog_row_new (&settings[i], document);

        g_ptr_array_add (rows, row);
        adw_preferences_group_add (ADW_PREFERENCES_GROUP (group), row->row);
      }
  adw_preferences_page_add (ADW_PREFERENCES_PAGE (page), ADW_PREFERENCES_GROUP (group));
}

/**
 * vn_settings_dialog_new:
 * @document: whose recipe is edited; every change is a step that can be undone
 *
 * Returns: (transfer none): a window with a search
 */
GtkWidget *
vn_settings_dialog_new (GtkWindow  *parent,
                        VnDocument *document)
{
  GtkWidget *dialog = adw_preferences_window_new ();
  GtkWidget *page = adw_preferences_page_new ();
  GPtrArray *rows = g_ptr_array_new_with_free_func (settings_dialog_row_free);

  for (guint i = 0; i < VN_N_SETTING_GROUPS; i++)
    settings_dialog_add_group (page, rows, (VnSettingGroup) i, document);
  adw_preferences_window_add (ADW_PREFERENCES_WINDOW (dialog), ADW_PREFERENCES_PAGE (page));
  gtk_window_set_title (GTK_WINDOW (dialog), _("All Settings"));
  gtk_window_set_transient_for (GTK_WINDOW (dialog), parent);
  gtk_window_set_modal (GTK_WINDOW (dialog), TRUE);
  gtk_window_set_default_size (GTK_WINDOW (dialog), 640, 720);
  g_object_set_data_full (G_OBJECT (dialog), "vn-rows", rows, (GDestroyNotify) g_ptr_array_unref);
  g_object_set_data_full (G_OBJECT (dialog), "vn-document", g_object_ref (document), g_object_unref);
  g_signal_connect_object (document, "recipe-changed", G_CALLBACK (settings_dialog_recipe_changed), dialog, G_CONNECT_SWAPPED);
  settings_dialog_recipe_changed (dialog);
  return dialog;
}
