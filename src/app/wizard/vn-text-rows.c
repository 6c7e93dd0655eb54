/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of the step Data for the text of language models: the tokenizer of plain text, the tokens of a sample, and how far samples
 * lie apart. */
#include "vn-text-rows.h"

#include "vn-button-names.h"
#include "vn-compat.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-model-data.h"
#include "vn-rows.h"
#include "vn-tokenizer.h"

#define MOST_TOKENS 131072

struct _VnTextRows
{
  AdwBin         parent_instance;

  VnDocument    *document;
  gboolean       busy;

  AdwActionRow  *tokenizer;
  GtkWidget     *none;
  GtkSpinButton *window, *stride;
};

G_DEFINE_FINAL_TYPE (VnTextRows, vn_text_rows, ADW_TYPE_BIN)

/* ---- the tokenizer ---- */

/**
 * vn_text_rows_set_tokenizer:
 * @path: (nullable): a tokenizer.json; %NULL: the one beside the model or the text
 */
void
vn_text_rows_set_tokenizer (VnTextRows *self,
                            const char *path)
{
  g_autoptr(VnDataSpec) data = NULL;

  g_return_if_fail (VN_IS_TEXT_ROWS (self));

  if (vn_bench_get_data (VN_BENCH (self->document)) == NULL)
    return;
  data = vn_data_spec_copy (vn_bench_get_data (VN_BENCH (self->document)));
  g_free (data->tokenizer);
  data->tokenizer = g_strdup (path);
  vn_bench_set_data (VN_BENCH (self->document), data);
}

static void
text_rows_chosen (GFile    *file,
                  gpointer  self)
{
  if (g_file_peek_path (file) != NULL)
    vn_text_rows_set_tokenizer (self, g_file_peek_path (file));
}

static void
text_rows_choose (VnTextRows *self)
{
  vn_choose_file (GTK_WIDGET (self), VN_CHOOSE_TOKENIZER, NULL, text_rows_chosen, g_object_ref (self), g_object_unref);
}

static void
text_rows_drop (VnTextRows *self)
{
  vn_text_rows_set_tokenizer (self, NULL);
}

static void
text_rows_show_tokenizer (VnTextRows       *self,
                          const VnDataSpec *data)
{
  VnModel *model = vn_bench_get_model (VN_BENCH (self->document));
  g_autoptr(VnDataSpec) found = vn_data_spec_copy (data);
  g_autofree char *path = NULL, *text = NULL;

  if (model != NULL)
    vn_data_spec_take_tokenizer (found, model);
  path = vn_tokenizer_find (found->tokenizer, data->path);
  text = path != NULL ? vn_format_path (path)
       : g_strdup (_("None next to the model: plain text needs the tokenizer.json of the model"));
  adw_action_row_set_subtitle (self->tokenizer, text);
  gtk_widget_set_visible (self->none, data->tokenizer != NULL);
}

/* ---- samples ---- */

static void
text_rows_take_numbers (GtkWidget *widget)
{
  VnTextRows *self = VN_TEXT_ROWS (widget);
  g_autoptr(VnDataSpec) data = NULL;

  if (self->document == NULL || vn_bench_get_data (VN_BENCH (self->document)) == NULL)
    return;
  data = vn_data_spec_copy (vn_bench_get_data (VN_BENCH (self->document)));
  data->window = (guint) gtk_spin_button_get_value_as_int (self->window);
  data->stride = (guint) gtk_spin_button_get_value_as_int (self->stride);
  vn_bench_set_data (VN_BENCH (self->document), data);
}

static void
text_rows_changed (VnTextRows *self)
{
  if (!self->busy)
    vn_widget_call_soon (GTK_WIDGET (self), text_rows_take_numbers);
}

/**
 * vn_text_rows_show:
 * @is_text: whether the samples are the text of a language model
 */
void
vn_text_rows_show (VnTextRows *self,
                   gboolean    is_text)
{
  const VnDataSpec *data;

  g_return_if_fail (VN_IS_TEXT_ROWS (self));

  data = vn_bench_get_data (VN_BENCH (self->document));
  gtk_widget_set_visible (GTK_WIDGET (self), is_text && data != NULL && !vn_data_spec_is_random (data));
  if (data == NULL)
    return;
  self->busy = TRUE;
  text_rows_show_tokenizer (self, data);
  gtk_spin_button_set_value (self->window, data->window);
  gtk_spin_button_set_value (self->stride, data->stride);
  self->busy = FALSE;
}

/**
 * vn_text_rows_set_document:
 *
 * To be called once.
 */
void
vn_text_rows_set_document (VnTextRows *self,
                           VnDocument *document)
{
  g_return_if_fail (VN_IS_TEXT_ROWS (self) && VN_IS_DOCUMENT (document) && self->document == NULL);

  self->document = g_object_ref (document);
}

static void
vn_text_rows_dispose (GObject *object)
{
  g_clear_object (&VN_TEXT_ROWS (object)->document);
  G_OBJECT_CLASS (vn_text_rows_parent_class)->dispose (object);
}

static void
vn_text_rows_class_init (VnTextRowsClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = vn_text_rows_dispose;
}

static GtkWidget *
text_rows_make_button (VnTextRows *self,
                       const char *label,
                       GCallback   clicked)
{
  GtkWidget *button = vn_button_new_with_mnemonic (label);

  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  g_signal_connect_swapped (button, "clicked", clicked, self);
  return button;
}

static GtkSpinButton *
text_rows_add_number (VnTextRows *self,
                      GtkWidget  *list,
                      const char *title,
                      const char *subtitle)
{
  GtkWidget *row = adw_action_row_new (), *spin = gtk_spin_button_new_with_range (0, MOST_TOKENS, 32);

  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), subtitle);
  adw_action_row_set_subtitle_lines (ADW_ACTION_ROW (row), 2);
  gtk_widget_set_valign (spin, GTK_ALIGN_CENTER);
  gtk_spin_button_set_numeric (GTK_SPIN_BUTTON (spin), FALSE);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), spin);
  adw_action_row_set_activatable_widget (ADW_ACTION_ROW (row), spin);
  vn_spin_button_name_lowest (GTK_SPIN_BUTTON (spin), _("Usual"));
  g_signal_connect_swapped (spin, "value-changed", G_CALLBACK (text_rows_changed), self);
  gtk_list_box_append (GTK_LIST_BOX (list), row);
  return GTK_SPIN_BUTTON (spin);
}

static void
vn_text_rows_init (VnTextRows *self)
{
  GtkWidget *list = gtk_list_box_new ();

  self->busy = TRUE;
  gtk_list_box_set_selection_mode (GTK_LIST_BOX (list), GTK_SELECTION_NONE);
  gtk_widget_add_css_class (list, "boxed-list");
  gtk_accessible_update_property (GTK_ACCESSIBLE (list), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Text"), -1);
  self->tokenizer = ADW_ACTION_ROW (adw_action_row_new ());
  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (self->tokenizer), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->tokenizer), _("Tokenizer"));
  adw_action_row_set_subtitle_lines (self->tokenizer, 2);
  self->none = text_rows_make_button (self, _("_Remove"), G_CALLBACK (text_rows_drop));
  adw_action_row_add_suffix (self->tokenizer, self->none);
  adw_action_row_add_suffix (self->tokenizer, text_rows_make_button (self, _("Choose…"), G_CALLBACK (text_rows_choose)));
  gtk_list_box_append (GTK_LIST_BOX (list), GTK_WIDGET (self->tokenizer));
  self->window = text_rows_add_number (self, list, _("Tokens per sample"), _("usual: what the model takes, or 128"));
  self->stride = text_rows_add_number (self, list, _("Stride"), _("tokens from one sample to the next; usual: no overlap"));
  adw_bin_set_child (ADW_BIN (self), list);
  self->busy = FALSE;
}
