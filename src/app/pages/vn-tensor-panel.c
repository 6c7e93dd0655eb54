/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The values of one tensor in the inspector: read in the background from both networks, as pictures of a channel and as
 * values. */
#include "vn-tensor-panel.h"

#include "vn-beside-chart.h"
#include "vn-compared-model.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-rows.h"
#include "vn-tensor-picture.h"

#include <math.h>

#define PICTURE_SIZE 92
#define CHART_HEIGHT 84

struct _VnTensorPanel
{
  AdwBin           parent_instance;

  VnTensorReader  *reader;
  VnTensorSource   sources[2];
  char            *values[2];       /* of @sources */
  VnRun           *result;          /* keeps their networks */
  gsize            channel;
  GCancellable    *cancellable;     /* nullable: of what is being read */
  VnTensorView    *view;            /* nullable */

  GtkWidget       *pictures_box, *channel_box;
  GtkSpinButton   *spin;
  GtkLabel        *status, *channels, *ends[3];
  VnTensorPicture *pictures[3];
  VnBesideChart   *chart;
};

G_DEFINE_FINAL_TYPE (VnTensorPanel, vn_tensor_panel, ADW_TYPE_BIN)

/* ---- showing ---- */

/* More than a row of numbers. */
static gboolean
tensor_panel_is_picture (const VnTensorView *view)
{
  return view->layout.n_rows > 3 && view->layout.n_columns > 3;
}

static void
tensor_panel_set_end (VnTensorPanel *self,
                      guint          side,
                      double         low,
                      double         high)
{
  g_autofree char *interval = vn_format_interval (low, high);

  gtk_label_set_label (self->ends[side], interval);
}

static void
tensor_panel_show_pictures (VnTensorPanel *self)
{
  const VnTensorView *view = self->view;
  const float *first = view->tensors[0]->data, *second = view->tensors[1]->data;
  VnTensorExtent extent;

  vn_tensor_view_get_extent (view, self->channel, &extent);
  vn_tensor_picture_set (self->pictures[0], &view->layout, self->channel, first, NULL, extent.low[0], extent.high[0]);
  vn_tensor_picture_set (self->pictures[1], &view->layout, self->channel, second, NULL, extent.low[0], extent.high[0]);
  vn_tensor_picture_set (self->pictures[2], &view->layout, self->channel, second, first, -extent.largest, extent.largest);
  tensor_panel_set_end (self, 0, extent.low[0], extent.high[0]);
  tensor_panel_set_end (self, 1, extent.low[1], extent.high[1]);
  tensor_panel_set_end (self, 2, -extent.largest, extent.largest);
}

static void
tensor_panel_show_status (VnTensorPanel *self)
{
  g_autofree char *db = vn_format_db (vn_error_sum_sqnr (&self->view->errors.all)), *text = NULL;

  text = g_strdup_printf (_("On one sample: %s between float and quantized"), db);
  gtk_label_set_label (self->status, text);
}

static void
tensor_panel_show_channel (VnTensorPanel *self)
{
  g_autofree VnTensorValues *values = g_new (VnTensorValues, 1);
  const VnTensorView *view = self->view;
  gboolean ok = vn_tensor_values_init (values, &view->layout, self->channel, view->tensors[0]->data, view->tensors[1]->data,
                                       NULL);

  gtk_widget_set_visible (self->pictures_box, tensor_panel_is_picture (view));
  if (tensor_panel_is_picture (view))
    tensor_panel_show_pictures (self);
  vn_beside_chart_set (self->chart, ok ? values : NULL);
}

static void
tensor_panel_show_view (VnTensorPanel *self)
{
  gsize n = self->view->layout.n_channels;
  g_autofree char *count = g_strdup_printf (_("of %zu"), n);

  self->channel = MIN (self->channel, n > 0 ? n - 1 : 0);
  gtk_widget_set_visible (self->channel_box, n > 1 && n < self->view->layout.n_elements);
  gtk_label_set_label (self->channels, count);
  gtk_spin_button_set_range (self->spin, 0, (double) (n > 0 ? n - 1 : 0));
  gtk_widget_set_visible (GTK_WIDGET (self->chart), TRUE);
  tensor_panel_show_status (self);
  tensor_panel_show_channel (self);
}

static void
tensor_panel_channel_changed (VnTensorPanel *self)
{
  self->channel = (gsize) gtk_spin_button_get_value_as_int (self->spin);
  if (self->view != NULL && self->channel < self->view->layout.n_channels)
    tensor_panel_show_channel (self);
}

static void
tensor_panel_hovered (VnTensorPicture *picture,
                      VnTensorPanel   *self)
{
  g_autofree char *first = NULL, *second = NULL, *text = NULL;
  guint row, column;
  gboolean has = vn_tensor_picture_get_hover (picture, &row, &column);
  gsize index;

  for (guint i = 0; i < G_N_ELEMENTS (self->pictures); i++)
    if (self->pictures[i] != picture)
      vn_tensor_picture_set_hover (self->pictures[i], has, row, column);
  if (self->view == NULL)
    return;
  if (!has || !vn_tensor_layout_get_index (&self->view->layout, self->channel, row, column, &index))
    {
      tensor_panel_show_status (self);
      return;
    }
  first = vn_format_number ((double) ((const float *) self->view->tensors[0]->data)[index], 4);
  second = vn_format_number ((double) ((const float *) self->view->tensors[1]->data)[index], 4);
  text = g_strdup_printf (_("at %u, %u: float %s, quantized %s"), row, column, first, second);
  gtk_label_set_label (self->status, text);
}

/* ---- reading ---- */

static void
tensor_panel_stop (VnTensorPanel *self)
{
  if (self->cancellable != NULL)
    g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
}

static void
tensor_panel_read (GObject      *source,
                   GAsyncResult *async,
                   gpointer      data)
{
  g_autoptr(VnTensorPanel) self = data;
  g_autoptr(GError) error = NULL;
  gboolean ok = vn_job_finish (VN_JOB (source), async, &error);

  if (self->cancellable == NULL)      /* nobody waits for it */
    return;
  g_clear_object (&self->cancellable);
  if (!ok)
    {
      gtk_label_set_label (self->status, error->message);
      return;
    }
  self->view = vn_tensor_view_ref (vn_tensor_job_get_view (VN_JOB (source)));
  tensor_panel_show_view (self);
}

static void
tensor_panel_start (VnTensorPanel *self)
{
  VnTensorQuery query = { .sources = { self->sources[0], self->sources[1] } };
  g_autoptr(VnJob) job = NULL;

  if (self->view != NULL || self->cancellable != NULL || self->sources[0].value == NULL || self->sources[1].value == NULL)
    return;
  gtk_label_set_label (self->status, _("Running one sample …"));
  self->cancellable = g_cancellable_new ();
  job = vn_tensor_job_new (self->reader, &query);
  vn_job_start (job, self->cancellable, tensor_panel_read, g_object_ref (self));
}

/* ---- widget ---- */

static void
vn_tensor_panel_dispose (GObject *object)
{
  VnTensorPanel *self = VN_TENSOR_PANEL (object);

  tensor_panel_stop (self);
  G_OBJECT_CLASS (vn_tensor_panel_parent_class)->dispose (object);
}

static void
vn_tensor_panel_finalize (GObject *object)
{
  VnTensorPanel *self = VN_TENSOR_PANEL (object);

  g_clear_pointer (&self->view, vn_tensor_view_unref);
  g_clear_pointer (&self->reader, vn_tensor_reader_unref);
  g_clear_pointer (&self->result, vn_run_unref);
  g_free (self->values[0]);
  g_free (self->values[1]);
  G_OBJECT_CLASS (vn_tensor_panel_parent_class)->finalize (object);
}

static void
vn_tensor_panel_class_init (VnTensorPanelClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = vn_tensor_panel_dispose;
  G_OBJECT_CLASS (klass)->finalize = vn_tensor_panel_finalize;
}

static GtkWidget *
tensor_panel_make_pictures (VnTensorPanel *self)
{
  const char *titles[] = { _("Float"), _("Quantized"), _("Difference") };
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);

  gtk_box_set_homogeneous (GTK_BOX (box), TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (titles); i++)
    {
      GtkWidget *column = gtk_box_new (GTK_ORIENTATION_VERTICAL, 3), *picture = vn_tensor_picture_new (),
      *title = gtk_label_new (titles[i]);

      self->pictures[i] = VN_TENSOR_PICTURE (picture);
      self->ends[i] = GTK_LABEL (gtk_label_new (NULL));
      gtk_widget_add_css_class (title, "caption-heading");
      gtk_label_set_ellipsize (GTK_LABEL (title), PANGO_ELLIPSIZE_END);
      gtk_label_set_ellipsize (self->ends[i], PANGO_ELLIPSIZE_END);
      gtk_widget_add_css_class (GTK_WIDGET (self->ends[i]), "caption");
      gtk_widget_add_css_class (GTK_WIDGET (self->ends[i]), "dim-label");
      gtk_widget_add_css_class (GTK_WIDGET (self->ends[i]), "numeric");
      vn_tensor_picture_set_least (self->pictures[i], PICTURE_SIZE);
      gtk_widget_set_hexpand (picture, TRUE);
      gtk_accessible_update_property (GTK_ACCESSIBLE (picture), GTK_ACCESSIBLE_PROPERTY_LABEL, titles[i], -1);
      gtk_box_append (GTK_BOX (column), title);
      gtk_box_append (GTK_BOX (column), picture);
      gtk_box_append (GTK_BOX (column), GTK_WIDGET (self->ends[i]));
      gtk_box_append (GTK_BOX (box), column);
      g_signal_connect (picture, "hover-changed", G_CALLBACK (tensor_panel_hovered), self);
    }
  return box;
}

static GtkWidget *
tensor_panel_make_channel_box (VnTensorPanel *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8), *title = gtk_label_new (_("Channel"));

  self->spin = GTK_SPIN_BUTTON (gtk_spin_button_new_with_range (0, 1, 1));
  self->channels = GTK_LABEL (gtk_label_new (NULL));
  gtk_widget_add_css_class (title, "caption");
  gtk_widget_add_css_class (GTK_WIDGET (self->channels), "caption");
  gtk_widget_add_css_class (GTK_WIDGET (self->channels), "dim-label");
  gtk_accessible_update_relation (GTK_ACCESSIBLE (self->spin), GTK_ACCESSIBLE_RELATION_LABELLED_BY, title, NULL, -1);
  gtk_box_append (GTK_BOX (box), title);
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->spin));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->channels));
  g_signal_connect_swapped (self->spin, "value-changed", G_CALLBACK (tensor_panel_channel_changed), self);
  return box;
}

static void
vn_tensor_panel_init (VnTensorPanel *self)
{
  GtkWidget *card = gtk_box_new (GTK_ORIENTATION_VERTICAL, 8), *chart = vn_beside_chart_new ();

  self->pictures_box = tensor_panel_make_pictures (self);
  self->channel_box = tensor_panel_make_channel_box (self);
  self->status = GTK_LABEL (vn_label_new (NULL, "caption"));
  self->chart = VN_BESIDE_CHART (chart);
  gtk_drawing_area_set_content_height (GTK_DRAWING_AREA (chart), CHART_HEIGHT);
  gtk_widget_set_tooltip_text (chart, _("Bars: float, stems: quantized"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (chart), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _("Values: float as bars, quantized as stems"), -1);
  gtk_widget_set_visible (self->pictures_box, FALSE);
  gtk_widget_set_visible (self->channel_box, FALSE);
  gtk_widget_set_visible (chart, FALSE);
  gtk_box_append (GTK_BOX (card), self->pictures_box);
  gtk_box_append (GTK_BOX (card), chart);
  gtk_box_append (GTK_BOX (card), GTK_WIDGET (self->status));
  gtk_box_append (GTK_BOX (card), self->channel_box);
  gtk_widget_add_css_class (card, "card");
  gtk_widget_add_css_class (card, "chart-card");
  adw_bin_set_child (ADW_BIN (self), card);
  g_signal_connect_after (self, "map", G_CALLBACK (tensor_panel_start), NULL);
  g_signal_connect (self, "unmap", G_CALLBACK (tensor_panel_stop), NULL);
}

/* Where it is read: in the network that was quantized, and in that which came of it. */
static gboolean
tensor_panel_find_sources (VnTensorPanel     *self,
                           VnDocument        *document,
                           VnInspectedTensor *tensor)
{
  VnRun *result = self->result;
  const char *quantized;

  if (result->prepared == NULL || result->quantized == NULL)
    return FALSE;
  if (tensor->item != NULL)
    {
      g_autoptr(VnComparedModel) first = vn_compared_model_new_float (vn_bench_get_model (VN_BENCH (document)));
      g_autoptr(VnComparedModel) second = vn_compared_model_new_result (result);

      if (!vn_compared_model_find_tensor (first, second, tensor->item->index, &self->sources[0]) ||
          !vn_compared_model_find_tensor (second, first, tensor->item->index, &self->sources[1]))
        return FALSE;
    }
  else
    {
      quantized = result->value_names != NULL ? g_hash_table_lookup (result->value_names, tensor->name) : NULL;
      self->sources[0] = (VnTensorSource) { .network = result->prepared, .value = tensor->name };
      self->sources[1] = (VnTensorSource) { .network = result->quantized, .value = quantized != NULL ? quantized : tensor->name,
                                            .plan = result->plan, .plan_value = tensor->name };
    }
  for (guint i = 0; i < 2; i++)
    self->sources[i].value = self->values[i] = g_strdup (self->sources[i].value);
  if (self->sources[1].plan_value != NULL)
    self->sources[1].plan_value = tensor->item != NULL ? self->sources[1].plan_value : self->values[0];
  return TRUE;
}

/**
 * vn_tensor_panel_new:
 * @reader: the samples
 *
 * Returns: (transfer floating) (nullable): the values of @tensor, read once it is seen; %NULL if one of the networks does not
 * have it
 */
GtkWidget *
vn_tensor_panel_new (VnDocument        *document,
                     VnTensorReader    *reader,
                     VnInspectedTensor *tensor)
{
  VnTensorPanel *self;
  VnRun *result;

  g_return_val_if_fail (VN_IS_DOCUMENT (document) && reader != NULL && tensor != NULL, NULL);

  result = vn_bench_get_confirmed (VN_BENCH (document));
  if (result == NULL)
    return NULL;
  self = g_object_new (VN_TYPE_TENSOR_PANEL, NULL);
  self->reader = vn_tensor_reader_ref (reader);
  self->result = vn_run_ref (result);
  if (!tensor_panel_find_sources (self, document, tensor))
    {
      g_object_ref_sink (self);
      g_object_unref (self);
      return NULL;
    }
  return GTK_WIDGET (self);
}

/**
 * vn_tensor_panel_is_shown:
 *
 * Returns: whether the values are there
 */
gboolean
vn_tensor_panel_is_shown (VnTensorPanel *self)
{
  g_return_val_if_fail (VN_IS_TENSOR_PANEL (self), FALSE);

  return self->view != NULL;
}
