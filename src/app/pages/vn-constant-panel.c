/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A constant in the inspector: what its file says of it at once, and what its elements hold when they are read. */
#include "vn-constant-panel.h"

#include "inspector-sections.h"
#include "vn-compat.h"
#include "vn-compare.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-numbers-view.h"
#include "vn-rows.h"
#include "vn-tensor-job.h"
#include "vn-tensor-picture.h"
#include "vn-thread.h"

#include <math.h>

#define PICTURE_SIZE 120
#define MOST_COPIED  1000000    /* elements */

struct _VnConstantPanel
{
  AdwBin           parent_instance;

  VnDocument      *document;
  VnModel         *model;
  const VnValue   *value;
  gboolean         is_stored;
  VnStoredWeight   stored;
  VnNodeItem      *item;            /* nullable: whose weight it is */
  GCancellable    *cancellable;     /* nullable: of reading */
  VnConstantLook  *look;            /* nullable */
  VnTensorLayout   layout;

  GtkWidget       *list, *histogram, *below, *picture_box, *values;
  GtkWidget       *copy, *save;
  GtkToggleButton *integers;        /* nullable */
  GtkSpinButton   *spin;
  GtkLabel        *status;
  VnTensorPicture *picture;
  VnNumbersView   *numbers;
};

G_DEFINE_FINAL_TYPE (VnConstantPanel, vn_constant_panel, ADW_TYPE_BIN)

/* ---- rows ---- */

static void
constant_panel_add_row (VnConstantPanel *self,
                        const char      *title,
                        const char      *text)
{
  gtk_list_box_append (GTK_LIST_BOX (self->list), vn_row_new (title, text));
}

static void
constant_panel_add_facts (VnConstantPanel *self)
{
  g_autoptr(GPtrArray) facts = g_ptr_array_new_with_free_func (g_free);

  if (self->look == NULL)
    vn_constant_list_facts (self->value, self->is_stored ? &self->stored : NULL, facts);
  else
    vn_constant_look_list_figures (self->look, facts);
  for (guint i = 0; i + 1 < facts->len; i += 2)
    constant_panel_add_row (self, facts->pdata[i], facts->pdata[i + 1]);
}

/* Beside the float weight that it was made of, where a run knows that. */
static void
constant_panel_add_error (VnConstantPanel *self)
{
  VnRun *run = vn_bench_get_confirmed (VN_BENCH (self->document));
  g_autofree char *db = NULL;

  if (self->item == NULL || run == NULL || run->errors == NULL)
    return;
  for (guint i = 0; i < vn_error_table_get_n_weights (run->errors); i++)
    {
      const VnErrorRow *row = vn_error_table_get_weight (run->errors, i);

      if (g_strcmp0 (row->value, self->value->name) != 0)
        continue;
      db = vn_format_db (row->sqnr_db);
      constant_panel_add_row (self, _("SQNR of the weight"), db);
      return;
    }
}

/* ---- elements ---- */

static const VnTensor *
constant_panel_get_shown (VnConstantPanel *self)
{
  gboolean as_numbers = self->integers != NULL && !gtk_toggle_button_get_active (self->integers);

  return as_numbers ? self->look->numbers : self->look->tensor;
}

static void
constant_panel_show_picture (VnConstantPanel *self)
{
  gsize channel = (gsize) gtk_spin_button_get_value_as_int (self->spin);
  double reach = MAX (fabs (self->look->stats.min), fabs (self->look->stats.max));

  vn_tensor_picture_set (self->picture, &self->layout, channel, self->look->numbers->data, NULL, -reach, reach);
}

static void
constant_panel_start_picture (VnConstantPanel *self)
{
  const VnTensor *numbers = self->look->numbers;
  int axis = self->item != NULL ? vn_tensor_query_get_axis (self->item->node) : 0;

  if (numbers == NULL || numbers->shape.rank < 2)
    return;
  vn_tensor_layout_init (&self->layout, &numbers->shape, TRUE, MIN (axis, numbers->shape.rank - 1));
  if (self->layout.n_rows < 2 || self->layout.n_columns < 2)
    return;
  gtk_spin_button_set_range (self->spin, 0, (double) (self->layout.n_channels - 1));
  gtk_widget_set_visible (gtk_widget_get_parent (GTK_WIDGET (self->spin)), self->layout.n_channels > 1 && !self->layout.is_whole);
  gtk_widget_set_visible (self->picture_box, TRUE);
  constant_panel_show_picture (self);
}

static void
constant_panel_show_numbers (VnConstantPanel *self)
{
  if (self->look != NULL)
    vn_numbers_view_set (self->numbers, constant_panel_get_shown (self));
}

/* ---- copy and save ---- */

/* @path: (nullable): where to save; %NULL: to the clipboard */
typedef struct
{
  VnDocument *document;
  VnTensor   *tensor;
  char       *path;
} Output;

static void
constant_panel_free_output (gpointer data)
{
  Output *self = data;

  g_object_unref (self->document);
  vn_tensor_unref (self->tensor);
  g_free (self->path);
  g_free (self);
}

static Output *
constant_panel_new_output (VnConstantPanel *self)
{
  Output *output = g_new0 (Output, 1);

  output->document = g_object_ref (self->document);
  output->tensor = vn_tensor_ref ((VnTensor *) constant_panel_get_shown (self));
  return output;
}

static void
constant_panel_run_copying (GTask        *task,
                            gpointer      source,
                            gpointer      data,
                            GCancellable *cancellable)
{
  gboolean is_whole;

  g_task_return_pointer (task, vn_numbers_dup_text (((const Output *) data)->tensor, MOST_COPIED, &is_whole), g_free);
}

static void
constant_panel_copied (GObject      *source,
                       GAsyncResult *async,
                       gpointer      data)
{
  const Output *output = g_task_get_task_data (G_TASK (async));
  g_autofree char *text = g_task_propagate_pointer (G_TASK (async), NULL);

  gdk_clipboard_set_text (gtk_widget_get_clipboard (GTK_WIDGET (source)), text);
  vn_bench_report (VN_BENCH (output->document), output->tensor->n_elements <= MOST_COPIED ? _("Values copied")
                   : _("The first million values copied"));
}

static void
constant_panel_copy (VnConstantPanel *self)
{
  g_autoptr(GTask) task = g_task_new (self, NULL, constant_panel_copied, NULL);

  g_task_set_task_data (task, constant_panel_new_output (self), constant_panel_free_output);
  vn_thread_run_task (task, constant_panel_run_copying);
}

static void
constant_panel_run_saving (GTask        *task,
                           gpointer      source,
                           gpointer      data,
                           GCancellable *cancellable)
{
  const Output *output = data;
  GError *error = NULL;

  if (vn_npy_write (output->path, output->tensor, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

static void
constant_panel_saved (GObject      *source,
                      GAsyncResult *async,
                      gpointer      data)
{
  const Output *output = g_task_get_task_data (G_TASK (async));
  g_autoptr(GError) error = NULL;
  g_autofree char *text = NULL;

  if (!g_task_propagate_boolean (G_TASK (async), &error))
    {
      vn_bench_report_error (VN_BENCH (output->document), _("The values could not be saved"), error);
      return;
    }
  text = g_strdup_printf (_("Values saved as “%s”"), output->path);
  vn_bench_report (VN_BENCH (output->document), text);
}

static void
constant_panel_save_to (GFile    *file,
                        gpointer  data)
{
  const Output *chosen = data;
  Output *output = g_new0 (Output, 1);
  g_autoptr(GTask) task = g_task_new (NULL, NULL, constant_panel_saved, NULL);

  *output = (Output) { g_object_ref (chosen->document), vn_tensor_ref (chosen->tensor), g_file_get_path (file) };
  g_task_set_task_data (task, output, constant_panel_free_output);
  vn_thread_run_task (task, constant_panel_run_saving);
}

/* A name of a tensor may have what no name of a file can. */
static void
constant_panel_save (VnConstantPanel *self)
{
  g_autofree char *stem = g_strdelimit (g_strdup (self->value->name), "/\\:*?\"<>|", '_');
  g_autofree char *name = g_strconcat (stem, ".npy", NULL);

  vn_choose_file (GTK_WIDGET (self), VN_CHOOSE_SAVE_OTHER, name, constant_panel_save_to, constant_panel_new_output (self),
                  constant_panel_free_output);
}

/* ---- reading ---- */

/* What is read, and what comes of it beside the look. */
typedef struct
{
  VnModel        *model;
  const VnValue  *value;
  gboolean        is_stored;
  VnStoredWeight  stored;
  const VnNode   *user;        /* nullable: whose weight it is */
  VnChannelRanges channels;
} Reading;

static void
constant_panel_free_reading (gpointer data)
{
  Reading *self = data;

  vn_channel_ranges_clear (&self->channels);
  vn_model_unref (self->model);
  g_free (self);
}

/* By the channels of the output, where the operator has such. */
static void
constant_panel_scan_channels (Reading        *self,
                              const VnTensor *numbers)
{
  static const char * const types[] = { "Conv", "ConvTranspose", "Gemm", "MatMul" };
  const VnShape *shape = &numbers->shape;
  gboolean has_channels = FALSE;
  int axis;

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    has_channels |= vn_node_is (self->user, types[i]);
  if (!has_channels || shape->rank < 2)
    return;
  axis = vn_tensor_query_get_axis (self->user);
  vn_channel_ranges_scan (&self->channels, numbers->data, (gsize) vn_shape_count (shape, 0, axis), (gsize) shape->dims[axis],
                          (gsize) vn_shape_count (shape, axis + 1, (int) shape->rank));
}

static void
constant_panel_run (GTask        *task,
                    gpointer      source,
                    gpointer      data,
                    GCancellable *cancellable)
{
  Reading *reading = data;
  GError *error = NULL;
  VnConstantLook *look;

  if (g_task_return_error_if_cancelled (task))
    return;
  look = vn_constant_look_new (reading->model, reading->value, reading->is_stored ? &reading->stored : NULL, &error);
  if (look == NULL)
    {
      g_task_return_error (task, error);
      return;
    }
  if (reading->user != NULL && look->numbers != NULL)
    constant_panel_scan_channels (reading, look->numbers);
  g_task_return_pointer (task, look, (GDestroyNotify) vn_constant_look_unref);
}

static void
constant_panel_show_look (VnConstantPanel *self,
                          VnChannelRanges *channels)
{
  VnConstantLook *look = self->look;
  GtkWidget *section = self->item != NULL ? vn_inspector_weight_channels (self->document, self->item, channels) : NULL;

  gtk_widget_set_visible (GTK_WIDGET (self->status), FALSE);
  constant_panel_add_error (self);
  constant_panel_add_facts (self);
  if (look->histogram != NULL)
    vn_histogram_view_set (VN_HISTOGRAM_VIEW (self->histogram), look->histogram, vn_constant_look_ref (look),
                           (GDestroyNotify) vn_constant_look_unref, NULL, 0);
  gtk_widget_set_visible (gtk_widget_get_parent (self->histogram), look->histogram != NULL);
  if (section != NULL)
    gtk_box_append (GTK_BOX (self->below), section);
  constant_panel_start_picture (self);
  if (self->integers != NULL)
    gtk_widget_set_visible (gtk_widget_get_parent (GTK_WIDGET (self->integers)), look->numbers != NULL);
  constant_panel_show_numbers (self);
  gtk_widget_set_sensitive (self->copy, TRUE);
  gtk_widget_set_sensitive (self->save, TRUE);
}

static void
constant_panel_read (GObject      *source,
                     GAsyncResult *async,
                     gpointer      data)
{
  VnConstantPanel *self = VN_CONSTANT_PANEL (source);
  Reading *reading = g_task_get_task_data (G_TASK (async));
  g_autoptr(GError) error = NULL;
  g_autoptr(VnConstantLook) look = g_task_propagate_pointer (G_TASK (async), &error);

  if (self->cancellable == NULL)    /* nobody waits for it, and its widgets are gone */
    return;
  if (look == NULL)
    {
      gtk_label_set_label (self->status, error->message);
      gtk_widget_set_visible (self->values, FALSE);
      return;
    }
  self->look = g_steal_pointer (&look);
  constant_panel_show_look (self, &reading->channels);
}

static void
constant_panel_start (VnConstantPanel *self)
{
  g_autoptr(GTask) task = NULL;
  Reading *reading;

  if (self->look != NULL || self->cancellable != NULL)
    return;
  self->cancellable = g_cancellable_new ();
  reading = g_new0 (Reading, 1);
  *reading = (Reading) { .model = vn_model_ref (self->model), .value = self->value, .is_stored = self->is_stored,
                         .stored = self->stored, .user = self->item != NULL ? self->item->node : NULL };
  task = g_task_new (self, self->cancellable, constant_panel_read, NULL);
  g_task_set_task_data (task, reading, constant_panel_free_reading);
  vn_thread_run_task (task, constant_panel_run);
}

/* ---- widget ---- */

static void
vn_constant_panel_dispose (GObject *object)
{
  VnConstantPanel *self = VN_CONSTANT_PANEL (object);

  if (self->cancellable != NULL)
    g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
  G_OBJECT_CLASS (vn_constant_panel_parent_class)->dispose (object);
}

static void
vn_constant_panel_finalize (GObject *object)
{
  VnConstantPanel *self = VN_CONSTANT_PANEL (object);

  g_clear_pointer (&self->look, vn_constant_look_unref);
  g_clear_pointer (&self->model, vn_model_unref);
  g_clear_object (&self->document);
  g_clear_object (&self->item);
  G_OBJECT_CLASS (vn_constant_panel_parent_class)->finalize (object);
}

static void
vn_constant_panel_class_init (VnConstantPanelClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = vn_constant_panel_dispose;
  G_OBJECT_CLASS (klass)->finalize = vn_constant_panel_finalize;
}

static GtkWidget *
constant_panel_make_card (GtkWidget *content)
{
  GtkWidget *card = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);

  gtk_box_append (GTK_BOX (card), content);
  gtk_widget_add_css_class (card, "card");
  gtk_widget_add_css_class (card, "chart-card");
  return card;
}

static GtkWidget *
constant_panel_make_picture (VnConstantPanel *self)
{
  GtkWidget *card, *row = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8), *title = gtk_label_new (_("Channel")),
            *picture = vn_tensor_picture_new ();

  self->picture = VN_TENSOR_PICTURE (picture);
  vn_tensor_picture_set_least (self->picture, PICTURE_SIZE);
  gtk_accessible_update_property (GTK_ACCESSIBLE (picture), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Image of the weights"), -1);
  self->spin = GTK_SPIN_BUTTON (gtk_spin_button_new_with_range (0, 1, 1));
  gtk_widget_add_css_class (title, "caption");
  gtk_accessible_update_relation (GTK_ACCESSIBLE (self->spin), GTK_ACCESSIBLE_RELATION_LABELLED_BY, title, NULL, -1);
  gtk_box_append (GTK_BOX (row), title);
  gtk_box_append (GTK_BOX (row), GTK_WIDGET (self->spin));
  card = constant_panel_make_card (picture);
  gtk_box_append (GTK_BOX (card), row);
  gtk_widget_set_visible (card, FALSE);
  g_signal_connect_swapped (self->spin, "value-changed", G_CALLBACK (constant_panel_show_picture), self);
  return card;
}

/* What is stored, or what that stands for. */
static GtkWidget *
constant_panel_make_switch (VnConstantPanel *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0), *integers = gtk_toggle_button_new_with_label (_("Integers")),
            *numbers = gtk_toggle_button_new_with_label (_("Real Values"));

  self->integers = GTK_TOGGLE_BUTTON (integers);
  gtk_toggle_button_set_group (GTK_TOGGLE_BUTTON (numbers), self->integers);
  gtk_toggle_button_set_active (self->integers, TRUE);
  gtk_widget_add_css_class (box, "linked");
  gtk_widget_set_hexpand (integers, TRUE);
  gtk_widget_set_hexpand (numbers, TRUE);
  gtk_box_append (GTK_BOX (box), integers);
  gtk_box_append (GTK_BOX (box), numbers);
  gtk_widget_set_visible (box, FALSE);
  g_signal_connect_swapped (integers, "toggled", G_CALLBACK (constant_panel_show_numbers), self);
  return box;
}

static GtkWidget *
constant_panel_make_values (VnConstantPanel *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6), *buttons = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6),
            *numbers = vn_numbers_view_new ();

  self->numbers = VN_NUMBERS_VIEW (numbers);
  self->copy = gtk_button_new_with_label (_("Copy Values"));
  self->save = gtk_button_new_with_label (_("Save as .npy…"));
  if (self->is_stored)
    gtk_box_append (GTK_BOX (box), constant_panel_make_switch (self));
  gtk_box_append (GTK_BOX (box), constant_panel_make_card (numbers));
  gtk_widget_set_hexpand (self->copy, TRUE);
  gtk_widget_set_hexpand (self->save, TRUE);
  gtk_widget_set_sensitive (self->copy, FALSE);
  gtk_widget_set_sensitive (self->save, FALSE);
  gtk_box_append (GTK_BOX (buttons), self->copy);
  gtk_box_append (GTK_BOX (buttons), self->save);
  gtk_box_append (GTK_BOX (box), buttons);
  g_signal_connect_swapped (self->copy, "clicked", G_CALLBACK (constant_panel_copy), self);
  g_signal_connect_swapped (self->save, "clicked", G_CALLBACK (constant_panel_save), self);
  return box;
}

static void
constant_panel_fill (VnConstantPanel *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 8), *card;

  self->list = vn_row_list_new ();
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->list), GTK_ACCESSIBLE_PROPERTY_LABEL, self->value->name, -1);
  constant_panel_add_facts (self);
  self->status = GTK_LABEL (vn_label_new (_("Reading the values …"), "caption"));
  self->histogram = vn_histogram_view_new ();
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->histogram), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _("Histogram of the weights"), -1);
  card = constant_panel_make_card (self->histogram);
  gtk_widget_set_visible (card, vn_value_get_constant (self->value)->n_elements > 1);
  self->below = gtk_box_new (GTK_ORIENTATION_VERTICAL, 8);
  self->picture_box = constant_panel_make_picture (self);
  self->values = constant_panel_make_values (self);
  gtk_box_append (GTK_BOX (box), self->list);
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->status));
  gtk_box_append (GTK_BOX (box), card);
  gtk_box_append (GTK_BOX (box), self->below);
  gtk_box_append (GTK_BOX (box), self->picture_box);
  gtk_box_append (GTK_BOX (box), self->values);
  adw_bin_set_child (ADW_BIN (self), box);
  g_signal_connect_after (self, "map", G_CALLBACK (constant_panel_start), NULL);
}

static void
vn_constant_panel_init (VnConstantPanel *self)
{
}

/**
 * vn_constant_panel_new:
 * @value: a constant of the opened model
 * @stored: (nullable): of @value: what its integers stand for
 * @item: (nullable): the node whose weight it is
 *
 * Returns: (transfer floating): the constant; its elements are read once it is seen
 */
GtkWidget *
vn_constant_panel_new (VnDocument           *document,
                       const VnValue        *value,
                       const VnStoredWeight *stored,
                       VnNodeItem           *item)
{
  VnConstantPanel *self;

  g_return_val_if_fail (VN_IS_DOCUMENT (document) && value != NULL && vn_value_get_constant (value) != NULL, NULL);

  self = g_object_new (VN_TYPE_CONSTANT_PANEL, NULL);
  self->document = g_object_ref (document);
  self->model = vn_model_ref (vn_bench_get_model (VN_BENCH (document)));
  self->value = value;
  self->is_stored = stored != NULL;
  if (stored != NULL)
    self->stored = *stored;
  self->item = item != NULL ? g_object_ref (item) : NULL;
  constant_panel_fill (self);
  return GTK_WIDGET (self);
}

/**
 * vn_constant_panel_get_look:
 *
 * Returns: (transfer none) (nullable): what it holds; %NULL while that is being read
 */
VnConstantLook *
vn_constant_panel_get_look (VnConstantPanel *self)
{
  g_return_val_if_fail (VN_IS_CONSTANT_PANEL (self), NULL);

  return self->look;
}
