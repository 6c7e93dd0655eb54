/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A row for each input of the network: what it expects, where its samples are, or what it is filled with. One that takes pictures
 * shows the first, and has preprocessing of its own. */
#include "vn-input-rows.h"

#include "vn-button-names.h"
#include "vn-compat.h"
#include "vn-fold-rows.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-input-role.h"
#include "vn-model-data.h"
#include "vn-rows.h"
#include "vn-thread.h"

#define PREVIEW_SIZE 48

struct _VnInputRows
{
  AdwBin        parent_instance;

  VnDocument   *document;
  GtkListBox   *list;
  GtkWidget    *section;
  GCancellable *loading;
  GPtrArray    *names;       /* of the inputs, with NULL at the end */
  char         *main;        /* nullable: the input that samples are for */
  char         *choosing;    /* nullable: the input that a folder is being chosen for */
  gboolean      busy;
};

G_DEFINE_FINAL_TYPE (VnInputRows, vn_input_rows, ADW_TYPE_BIN)

/* ---- changing ---- */

/* @source: (nullable): as of vn_data_spec_set_source() */
static void
input_rows_set_source (VnInputRows *self,
                       const char  *input,
                       const char  *source)
{
  const VnDataSpec *present = vn_bench_get_data (VN_BENCH (self->document));
  g_autoptr(VnDataSpec) data = present != NULL ? vn_data_spec_copy (present) : vn_data_spec_new ("");
  const char * const *names = (const char * const *) self->names->pdata;

  if (present == NULL && self->names->len == 2 && source != NULL)
    {
      vn_document_use_folder (self->document, source);
      return;
    }
  if (self->names->len == 2 && source != NULL)
    {
      g_free (data->path);
      data->path = g_strdup (source);
    }
  else
    vn_data_spec_set_source (data, names, self->main, input, source);
  vn_bench_set_data (VN_BENCH (self->document), *data->path != '\0' ? data : NULL);
}

static void
input_rows_chosen (GFile    *file,
                   gpointer  data)
{
  VnInputRows *self = data;
  const char *path = g_file_peek_path (file);

  if (path != NULL && self->choosing != NULL)
    input_rows_set_source (self, self->choosing, path);
}

static void
input_rows_choose (VnInputRows *self,
                   const char  *input,
                   gboolean     a_file)
{
  g_free (self->choosing);
  self->choosing = g_strdup (input);
  vn_choose_file (GTK_WIDGET (self), a_file ? VN_CHOOSE_SAMPLE : VN_CHOOSE_FOLDER, NULL, input_rows_chosen, g_object_ref (self),
                  g_object_unref);
}

static void
input_rows_choose_clicked (VnInputRows *self,
                           GtkWidget   *button)
{
  input_rows_choose (self, g_object_get_data (G_OBJECT (button), "vn-input"), FALSE);
}

static void
input_rows_use_for_all (VnInputRows *self,
                        const char  *input)
{
  const VnDataSpec *present = vn_bench_get_data (VN_BENCH (self->document));
  g_autoptr(VnDataSpec) data = present != NULL ? vn_data_spec_copy (present) : NULL;
  g_autofree char *source = data != NULL ? vn_data_spec_dup_source (data, input) : NULL;

  if (data == NULL)
    return;
  if (source == NULL)
    source = g_strdup (data->path);
  for (guint i = 0; i + 1 < self->names->len; i++)
    vn_data_spec_set_source (data, (const char * const *) self->names->pdata, self->main, self->names->pdata[i], source);
  vn_bench_set_data (VN_BENCH (self->document), data);
}

/* The entries of the menu of a row. */
static const struct { const char *action, *label; VnFill fill; } entries[] = {
  { "file", N_("Choose a _File…"), VN_FILL_NONE },
  { "all", N_("Use These for _Every Input"), VN_FILL_NONE },
  { "ones", N_("Fill With _Ones"), VN_FILL_ONES },
  { "zeros", N_("Fill With _Zeros"), VN_FILL_ZEROS },
  { "random", N_("Fill With _Random Values"), VN_FILL_RANDOM },
  { "usual", N_("As _Usual"), VN_FILL_NONE },
};

static void
input_rows_activated (GSimpleAction *action,
                      GVariant      *parameter,
                      gpointer       data)
{
  VnInputRows *self = data;
  g_autofree char *input = g_strdup (g_object_get_data (G_OBJECT (action), "vn-input"));
  const char *name = g_action_get_name (G_ACTION (action));

  if (g_str_equal (name, "file"))
    input_rows_choose (self, input, TRUE);
  else if (g_str_equal (name, "all"))
    input_rows_use_for_all (self, input);
  else
    for (guint i = 0; i < G_N_ELEMENTS (entries); i++)
      if (g_str_equal (name, entries[i].action))
        input_rows_set_source (self, input, vn_fill_get_word (entries[i].fill));
}

static void
input_rows_preset_changed (VnInputRows *self,
                           GParamSpec  *pspec,
                           GtkDropDown *drop)
{
  const VnDataSpec *present = vn_bench_get_data (VN_BENCH (self->document));
  const char *input = g_object_get_data (G_OBJECT (drop), "vn-input");
  const guint selected = gtk_drop_down_get_selected (drop);
  g_autoptr(VnDataSpec) data = NULL;
  VnPreprocess settings;
  guint n;
  const VnPreprocessPreset *presets = vn_preprocess_presets (&n);

  if (self->busy || present == NULL || selected > n)
    return;
  data = vn_data_spec_copy (present);
  settings = data->preprocess;
  if (selected > 0 && vn_preprocess_set_preset (&settings, presets[selected - 1].id, NULL))
    vn_data_spec_set_input (data, input, &settings, NULL);
  else if (data->inputs != NULL)
    g_hash_table_remove (data->inputs, input);
  vn_bench_set_data (VN_BENCH (self->document), data);
}

/* ---- previews ---- */

typedef struct
{
  GtkPicture *picture;
  VnDataset  *dataset;
  guint       input;
} Load;

static void
input_rows_free_load (gpointer data)
{
  Load *load = data;

  g_object_unref (load->picture);
  vn_dataset_unref (load->dataset);
  g_free (load);
}

static void
input_rows_run_load (GTask        *task,
                     gpointer      source,
                     gpointer      data,
                     GCancellable *cancellable)
{
  Load *load = data;
  GdkPixbuf *pixbuf = NULL;

  if (!g_task_return_error_if_cancelled (task))
    {
      pixbuf = vn_dataset_load_input_preview (load->dataset, 0, load->input, 2 * PREVIEW_SIZE, NULL);
      g_task_return_pointer (task, pixbuf, g_object_unref);
    }
}

static void
input_rows_load_done (GObject      *source,
                      GAsyncResult *result,
                      gpointer      data)
{
  Load *load = g_task_get_task_data (G_TASK (result));
  g_autoptr(GdkPixbuf) pixbuf = g_task_propagate_pointer (G_TASK (result), NULL);
  g_autoptr(GdkTexture) texture = pixbuf != NULL ? gdk_texture_new_for_pixbuf (pixbuf) : NULL;

  if (texture != NULL)
    gtk_picture_set_paintable (load->picture, GDK_PAINTABLE (texture));
}

static void
input_rows_add_preview (VnInputRows  *self,
                        AdwActionRow *row,
                        VnDataset    *dataset,
                        guint         input)
{
  g_autoptr(GTask) task = g_task_new (self, self->loading, input_rows_load_done, NULL);
  GtkWidget *picture = gtk_picture_new ();
  Load *load = g_new (Load, 1);

  gtk_widget_set_size_request (picture, PREVIEW_SIZE, PREVIEW_SIZE);
  gtk_widget_set_valign (picture, GTK_ALIGN_CENTER);
  gtk_widget_set_overflow (picture, GTK_OVERFLOW_HIDDEN);
  gtk_widget_add_css_class (picture, "card");
  gtk_picture_set_alternative_text (GTK_PICTURE (picture), vn_dataset_get_name (dataset, 0));
  adw_action_row_add_prefix (row, picture);
  *load = (Load) { GTK_PICTURE (g_object_ref (picture)), vn_dataset_ref (dataset), input };
  g_task_set_task_data (task, load, input_rows_free_load);
  vn_thread_run_task (task, input_rows_run_load);
}

/* ---- rows ---- */

static char *
input_rows_write_source (VnInputRows       *self,
                         VnDataset         *dataset,
                         const VnInputSpec *spec,
                         guint              input)
{
  const VnDataSpec *data = vn_bench_get_data (VN_BENCH (self->document));
  g_autofree char *own = data != NULL ? vn_data_spec_dup_source (data, spec->name) : NULL, *path = NULL;
  VnFill fill = dataset != NULL ? vn_dataset_get_fill (dataset, input)
              : own != NULL ? vn_fill_find (own) : vn_input_role_get_fill (vn_input_role_find (spec));

  if (fill != VN_FILL_NONE && self->names->len > 2)
    return g_strdup_printf (_("Filled with %s"), vn_fill_get_title (fill));
  if (vn_data_spec_is_random (data))
    return g_strdup (_("Random values"));
  path = own != NULL ? vn_format_path (own) : dataset != NULL ? vn_format_path (data->path) : NULL;
  if (path != NULL && dataset != NULL && vn_dataset_get_sound_part (dataset) > 0 && input == vn_dataset_get_main_input (dataset))
    return g_strdup_printf (ngettext ("%s, in parts of %zu value", "%s, in parts of %zu values",
                                      (gulong) vn_dataset_get_sound_part (dataset)), path, vn_dataset_get_sound_part (dataset));
  return path != NULL ? g_steal_pointer (&path) : g_strdup (_("Needs samples"));
}

static void
input_rows_add_menu (VnInputRows  *self,
                     AdwActionRow *row,
                     const char   *input)
{
  GtkWidget *button = gtk_menu_button_new ();
  g_autoptr(GMenu) menu = g_menu_new ();
  g_autoptr(GSimpleActionGroup) group = g_simple_action_group_new ();

  for (guint i = 0; i < G_N_ELEMENTS (entries); i++)
    {
      g_autoptr(GSimpleAction) action = NULL;
      g_autofree char *name = g_strconcat ("input.", entries[i].action, NULL);

      if (self->names->len == 2 && i > 0)   /* of one input */
        break;
      action = g_simple_action_new (entries[i].action, NULL);
      g_object_set_data_full (G_OBJECT (action), "vn-input", g_strdup (input), g_free);
      g_signal_connect_object (action, "activate", G_CALLBACK (input_rows_activated), self, 0);
      g_action_map_add_action (G_ACTION_MAP (group), G_ACTION (action));
      g_menu_append (menu, _(entries[i].label), name);
    }
  gtk_widget_insert_action_group (GTK_WIDGET (row), "input", G_ACTION_GROUP (group));
  gtk_menu_button_set_menu_model (GTK_MENU_BUTTON (button), G_MENU_MODEL (menu));
  gtk_menu_button_set_icon_name (GTK_MENU_BUTTON (button), "view-more-symbolic");
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text (button, _("More for this input"));
  gtk_widget_add_css_class (button, "flat");
  adw_action_row_add_suffix (row, button);
}

static void
input_rows_add_presets (VnInputRows  *self,
                        AdwActionRow *row,
                        const char   *input)
{
  const VnDataSpec *data = vn_bench_get_data (VN_BENCH (self->document));
  const VnInputData *own = data != NULL && data->inputs != NULL ? g_hash_table_lookup (data->inputs, input) : NULL;
  const VnPreprocessPreset *preset = own != NULL ? vn_preprocess_find_preset (&own->preprocess) : NULL;
  g_autoptr(GtkStringList) names = gtk_string_list_new (NULL);
  GtkWidget *drop;
  guint n;
  const VnPreprocessPreset *presets = vn_preprocess_presets (&n);

  gtk_string_list_append (names, _("As below"));
  for (guint i = 0; i < n; i++)
    gtk_string_list_append (names, _(presets[i].title));
  drop = gtk_drop_down_new (G_LIST_MODEL (g_steal_pointer (&names)), NULL);
  gtk_drop_down_set_selected (GTK_DROP_DOWN (drop), preset != NULL ? (guint) (preset - presets) + 1 : 0);
  gtk_widget_set_valign (drop, GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text (drop, _("Preprocessing of this input"));
  g_object_set_data_full (G_OBJECT (drop), "vn-input", g_strdup (input), g_free);
  g_signal_connect_swapped (drop, "notify::selected", G_CALLBACK (input_rows_preset_changed), self);
  adw_action_row_add_suffix (row, drop);
}

static GtkWidget *
input_rows_add_row (VnInputRows       *self,
                    VnDataset         *dataset,
                    const VnInputSpec *spec,
                    guint              input)
{
  GtkWidget *row = adw_action_row_new (), *choose = vn_button_new_with_mnemonic (_("Choose…"));
  g_autofree char *expects = vn_input_spec_describe (spec), *source = input_rows_write_source (self, dataset, spec, input);
  g_autofree char *text = g_strdup_printf ("%s\n%s", expects, source);
  const gboolean has_picture = dataset != NULL && vn_dataset_get_preprocess (dataset, input) != NULL;

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), spec->name);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), text);
  adw_action_row_set_subtitle_lines (ADW_ACTION_ROW (row), 3);
  gtk_widget_set_tooltip_text (row, spec->name);
  if (has_picture)
    input_rows_add_preview (self, ADW_ACTION_ROW (row), dataset, input);
  if (has_picture && self->names->len > 2)
    input_rows_add_presets (self, ADW_ACTION_ROW (row), spec->name);
  gtk_widget_set_valign (choose, GTK_ALIGN_CENTER);
  g_object_set_data_full (G_OBJECT (choose), "vn-input", g_strdup (spec->name), g_free);
  g_signal_connect_swapped (choose, "clicked", G_CALLBACK (input_rows_choose_clicked), self);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), choose);
  input_rows_add_menu (self, ADW_ACTION_ROW (row), spec->name);
  vn_button_names_set (row);
  gtk_list_box_append (self->list, row);
  return row;
}

/* Of keys and values of earlier tokens, which there are none of: nobody chooses anything for them. */
static gboolean
input_rows_is_cache (VnInputRows       *self,
                     const VnInputSpec *spec)
{
  const VnDataSpec *data = vn_bench_get_data (VN_BENCH (self->document));
  g_autofree char *own = data != NULL ? vn_data_spec_dup_source (data, spec->name) : NULL;

  return own == NULL && vn_input_role_find (spec) == VN_INPUT_PAST;
}

static void
input_rows_add_rows (VnInputRows       *self,
                     VnDataset         *dataset,
                     const VnInputSpec *specs,
                     guint              n)
{
  g_autoptr(GPtrArray) caches = g_ptr_array_new ();
  g_autofree char *source = NULL;

  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; i < n; i++)
      if (input_rows_is_cache (self, &specs[i]) == (pass == 1))
        {
          GtkWidget *row = input_rows_add_row (self, dataset, &specs[i], i);

          if (pass == 1)
            g_ptr_array_add (caches, row);
        }
  source = g_strdup_printf (_("Filled with %s"), vn_fill_get_title (vn_input_role_get_fill (VN_INPUT_PAST)));
  vn_fold_caches (self->list, caches, source);
}

static void
input_rows_list_names (VnInputRows       *self,
                       const VnInputSpec *specs,
                       guint              n)
{
  g_ptr_array_set_size (self->names, 0);
  g_clear_pointer (&self->main, g_free);
  for (guint i = 0; i < n; i++)
    {
      g_ptr_array_add (self->names, g_strdup (specs[i].name));
      if (self->main == NULL && vn_input_role_get_fill (vn_input_role_find (&specs[i])) == VN_FILL_NONE)
        self->main = g_strdup (specs[i].name);
    }
  g_ptr_array_add (self->names, NULL);
}

/**
 * vn_input_rows_show:
 * @dataset: (nullable): the samples as they were opened; %NULL: there are none yet, or they do not fit
 * @is_pictures: the samples are pictures, or may be: of one input alone, other rows of the page say it all
 */
void
vn_input_rows_show (VnInputRows *self,
                    VnDataset   *dataset,
                    gboolean     is_pictures)
{
  VnModel *model;
  VnInputSpec *specs;
  guint n = 0;

  g_return_if_fail (VN_IS_INPUT_ROWS (self));

  model = vn_bench_get_model (VN_BENCH (self->document));
  g_cancellable_cancel (self->loading);
  g_clear_object (&self->loading);
  self->loading = g_cancellable_new ();
  vn_list_box_clear (self->list);
  specs = model != NULL ? vn_model_dup_input_specs (model, vn_bench_get_input_shapes (VN_BENCH (self->document)), &n) : NULL;
  gtk_widget_set_visible (GTK_WIDGET (self), n > 1 || (n == 1 && !is_pictures));
  input_rows_list_names (self, specs, n);
  self->busy = TRUE;
  if (gtk_widget_get_visible (GTK_WIDGET (self)))
    input_rows_add_rows (self, dataset != NULL && vn_dataset_get_n_inputs (dataset) == n ? dataset : NULL, specs, n);
  self->busy = FALSE;
  if (specs != NULL)
    vn_input_specs_free (specs, n);
}

/**
 * vn_input_rows_set_document:
 *
 * To be called once.
 */
void
vn_input_rows_set_document (VnInputRows *self,
                            VnDocument  *document)
{
  g_return_if_fail (VN_IS_INPUT_ROWS (self) && VN_IS_DOCUMENT (document) && self->document == NULL);

  self->document = g_object_ref (document);
}

static void
vn_input_rows_dispose (GObject *object)
{
  VnInputRows *self = VN_INPUT_ROWS (object);

  g_cancellable_cancel (self->loading);
  g_clear_object (&self->loading);
  g_clear_object (&self->document);
  g_clear_pointer (&self->names, g_ptr_array_unref);
  g_clear_pointer (&self->main, g_free);
  g_clear_pointer (&self->choosing, g_free);
  G_OBJECT_CLASS (vn_input_rows_parent_class)->dispose (object);
}

static void
vn_input_rows_class_init (VnInputRowsClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = vn_input_rows_dispose;
}

static void
vn_input_rows_init (VnInputRows *self)
{
  self->names = g_ptr_array_new_with_free_func (g_free);
  self->list = GTK_LIST_BOX (gtk_list_box_new ());
  gtk_list_box_set_selection_mode (self->list, GTK_SELECTION_NONE);
  gtk_widget_add_css_class (GTK_WIDGET (self->list), "boxed-list");
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->list), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Inputs"), -1);
  adw_bin_set_child (ADW_BIN (self), vn_section_new (_("Inputs"), NULL, GTK_WIDGET (self->list)));
  gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
}
