/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sizes of inputs that the model leaves open: a row for each, where a size can be given that agrees with what the model fixes. */
#include "vn-input-sizes.h"

#include "vn-fold-rows.h"
#include "vn-format-model.h"
#include "vn-i18n.h"
#include "vn-input-role.h"
#include "vn-rows.h"

struct _VnInputSizes
{
  AdwBin      parent_instance;

  VnDocument *document;
  GtkListBox *shapes;
};

G_DEFINE_FINAL_TYPE (VnInputSizes, vn_input_sizes, ADW_TYPE_BIN)

/**
 * vn_input_sizes_update:
 *
 * The samples have been opened: the first one fills in what is open.
 */
void
vn_input_sizes_update (VnInputSizes *self)
{
  GtkWidget *row;

  g_return_if_fail (VN_IS_INPUT_SIZES (self));

  row = gtk_widget_get_first_child (GTK_WIDGET (self->shapes));
  for (; row != NULL; row = gtk_widget_get_next_sibling (row))
    {
      const char *name = g_object_get_data (G_OBJECT (row), "vn-input");
      const VnShape *size = name != NULL ? vn_bench_get_size (VN_BENCH (self->document), name) : NULL;
      g_autofree char *text = size != NULL ? vn_shape_to_string (size, "×") : NULL;
      VnShape shown;

      if (name == NULL)
        continue;

      /* A row whose text changes under the hand believes that there is something to apply. */
      if (!gtk_widget_has_css_class (row, "error") &&
          !(vn_format_parse_shape (gtk_editable_get_text (GTK_EDITABLE (row)), &shown) && vn_shape_equal (&shown, size)))
        gtk_editable_set_text (GTK_EDITABLE (row), text);
    }
}

/**
 * vn_input_sizes_edit:
 * @input: whose size is to be changed
 *
 * Has its size typed over.
 *
 * Returns: %FALSE if the model fixes it
 */
gboolean
vn_input_sizes_edit (VnInputSizes *self,
                     const char   *input)
{
  GtkWidget *row;

  g_return_val_if_fail (VN_IS_INPUT_SIZES (self) && input != NULL, FALSE);

  row = gtk_widget_get_first_child (GTK_WIDGET (self->shapes));
  for (; row != NULL; row = gtk_widget_get_next_sibling (row))
    if (g_strcmp0 (g_object_get_data (G_OBJECT (row), "vn-input"), input) == 0)
      {
        if (!gtk_widget_get_visible (row))
          vn_fold_rows_show (self->shapes);
        return gtk_widget_grab_focus (row);
      }
  return FALSE;
}

static gboolean
input_sizes_fits_input (VnModel       *model,
                        const char    *name,
                        const VnShape *shape)
{
  const VnValue *input = vn_graph_find_value (model->graph, name);
  const VnShape *declared = &input->type.shape;

  for (int i = 0; i < shape->rank && shape->rank == declared->rank; i++)
    if (declared->dims[i] >= 0 && shape->dims[i] >= 0 && declared->dims[i] != shape->dims[i])
      return FALSE;
  return shape->rank == declared->rank;
}

static void
input_sizes_shape_applied (VnInputSizes *self,
                           GtkEditable  *entry)
{
  const char *name = g_object_get_data (G_OBJECT (entry), "vn-input");
  VnShape shape;

  if (vn_format_parse_shape (gtk_editable_get_text (entry), &shape) &&
      input_sizes_fits_input (vn_bench_get_model (VN_BENCH (self->document)), name, &shape))
    {
      gtk_widget_remove_css_class (GTK_WIDGET (entry), "error");
      vn_bench_set_input_shape (VN_BENCH (self->document), name, &shape);
    }
  else
    gtk_widget_add_css_class (GTK_WIDGET (entry), "error");
}

static GtkWidget *
input_sizes_make_shape_row (VnInputSizes  *self,
                            const VnValue *input)
{
  g_autofree char *text = vn_shape_to_string (vn_bench_get_size (VN_BENCH (self->document), input->name), "×");
  g_autofree char *type = vn_type_to_string (&input->type);
  GtkWidget *row = adw_entry_row_new ();

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), input->name);
  adw_entry_row_set_show_apply_button (ADW_ENTRY_ROW (row), TRUE);
  gtk_editable_set_text (GTK_EDITABLE (row), text);
  gtk_widget_set_tooltip_text (row, type);
  g_object_set_data_full (G_OBJECT (row), "vn-input", g_strdup (input->name), g_free);
  g_signal_connect_swapped (row, "apply", G_CALLBACK (input_sizes_shape_applied), self);
  return row;
}

static gboolean
input_sizes_is_cache (const VnValue *input)
{
  VnInputSpec spec;

  vn_input_spec_init (&spec, input);
  return vn_input_role_find (&spec) == VN_INPUT_PAST;
}

/* Inputs whose size the model leaves open; those of earlier keys and values, which are as many as the model has layers, last. */
static void
input_sizes_model_changed (VnInputSizes *self)
{
  VnModel *model = vn_bench_get_model (VN_BENCH (self->document));
  GHashTable *open = vn_bench_get_input_shapes (VN_BENCH (self->document));
  g_autoptr(GPtrArray) caches = g_ptr_array_new ();

  vn_list_box_clear (self->shapes);
  gtk_widget_set_visible (GTK_WIDGET (self), open != NULL);
  for (guint pass = 0; pass < 2 && open != NULL; pass++)
    for (guint i = 0; i < model->graph->inputs->len; i++)
      {
        const VnValue *input = g_ptr_array_index (model->graph->inputs, i);

        if (!g_hash_table_contains (open, input->name) || input_sizes_is_cache (input) != (pass == 1))
          continue;
        gtk_list_box_append (self->shapes, input_sizes_make_shape_row (self, input));
        if (pass == 1)
          g_ptr_array_add (caches, gtk_widget_get_last_child (GTK_WIDGET (self->shapes)));
      }
  vn_fold_caches (self->shapes, caches, _("Their sizes follow from the samples"));
}

/**
 * vn_input_sizes_set_document:
 *
 * To be called once.
 */
void
vn_input_sizes_set_document (VnInputSizes *self,
                             VnDocument   *document)
{
  g_return_if_fail (VN_IS_INPUT_SIZES (self) && VN_IS_DOCUMENT (document) && self->document == NULL);

  self->document = g_object_ref (document);
  g_signal_connect_object (document, "changed::model", G_CALLBACK (input_sizes_model_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "changed::data", G_CALLBACK (vn_input_sizes_update), self, G_CONNECT_SWAPPED);
  if (vn_bench_get_model (VN_BENCH (document)) != NULL)
    input_sizes_model_changed (self);
}

static void
vn_input_sizes_dispose (GObject *object)
{
  g_clear_object (&VN_INPUT_SIZES (object)->document);
  G_OBJECT_CLASS (vn_input_sizes_parent_class)->dispose (object);
}

static void
vn_input_sizes_class_init (VnInputSizesClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = vn_input_sizes_dispose;
}

static void
vn_input_sizes_init (VnInputSizes *self)
{
  self->shapes = GTK_LIST_BOX (gtk_list_box_new ());
  gtk_list_box_set_selection_mode (self->shapes, GTK_SELECTION_NONE);
  gtk_widget_add_css_class (GTK_WIDGET (self->shapes), "boxed-list");
  adw_bin_set_child (ADW_BIN (self), vn_section_new (_("Input Sizes"), NULL, GTK_WIDGET (self->shapes)));
  gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
}
