/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the pane of one tensor shows: names, pictures of a channel, values, error by channel, and figures. */
#include "compare-tensor-private.h"

#include "vn-format.h"
#include "vn-heat.h"
#include "vn-i18n.h"
#include "vn-node-item.h"

#include <math.h>

/* ---- head ---- */

static char *
compare_tensor_dup_shape (const VnShape *shape)
{
  g_autofree char *text = vn_shape_to_string (shape, "×");

  return g_steal_pointer (&text);
}

static void
compare_tensor_show_choices (VnCompareTensor *self)
{
  gboolean has_channels = self->view != NULL && self->view->layout.n_channels > 1 &&
                          self->view->layout.n_channels < self->view->layout.n_elements;
  gboolean has_samples = self->reader != NULL && vn_tensor_reader_get_n_samples (self->reader) > 0 &&
                         !gtk_toggle_button_get_active (self->weight);
  g_autofree char *count = NULL;

  self->busy = TRUE;
  gtk_widget_set_visible (self->channel_box, has_channels);
  gtk_widget_set_visible (self->photo_box, has_samples && self->node != VN_MATCH_NONE);
  if (has_channels)
    {
      count = g_strdup_printf (_("of %zu"), self->view->layout.n_channels);
      gtk_label_set_label (self->channel_count, count);
      gtk_adjustment_set_upper (gtk_spin_button_get_adjustment (self->channel_spin),
                                (double) (self->view->layout.n_channels - 1));
      gtk_spin_button_set_value (self->channel_spin, (double) self->channel);
    }
  self->busy = FALSE;
}

/**
 * _vn_compare_tensor_show_head:
 *
 * Names the node and the tensor, and what can be chosen of it.
 */
void
_vn_compare_tensor_show_head (VnCompareTensor *self)
{
  g_autoptr(VnNodeItem) item = NULL;
  g_autofree char *shape = NULL, *text = NULL;

  if (self->node != VN_MATCH_NONE && self->document != NULL)
    item = g_list_model_get_item (vn_document_get_nodes (self->document), self->node);
  gtk_label_set_label (self->name, item != NULL ? item->name : "");
  if (self->view != NULL)
    {
      shape = compare_tensor_dup_shape (&self->view->shape);
      text = g_strdup_printf (self->view->is_weight ? _("weight · %s") : _("output · %s"), shape);
    }
  gtk_label_set_label (self->shape, text != NULL ? text : "");
  gtk_label_set_label (self->status, "");
  compare_tensor_show_choices (self);
}

/* ---- a channel ---- */

static void
compare_tensor_set_number (GtkLabel *label,
                           double    value)
{
  g_autofree char *text = vn_format_number (value, 3);

  gtk_label_set_label (label, text);
}

/* The levels that the channel uses of those that there are. */
static char *
compare_tensor_dup_levels (const VnTensorView   *view,
                           const VnTensorValues *values)
{
  gint64 least = 0, most = 0;

  if (!(view->grid.scale > 0) || !vn_dtype_integer_range (view->grid.dtype, &least, &most) || most - least > 0xffff)
    return g_strdup ("");
  return g_strdup_printf (_("%zu of %u levels"), values->n_distinct, (guint) (most - least + 1));
}

static void
compare_tensor_show_pictures (VnCompareTensor      *self,
                              const VnTensorValues *values)
{
  const VnTensorView *view = self->view;
  const float *first = view->tensors[0]->data, *second = view->tensors[1]->data;
  g_autofree char *range = NULL, *levels = compare_tensor_dup_levels (view, values), *difference = NULL;
  VnTensorExtent extent;
  const double *low = extent.low, *high = extent.high;
  double largest;

  vn_tensor_view_get_extent (view, self->channel, &extent);
  largest = extent.largest;
  vn_tensor_picture_set (self->pictures[0].picture, &view->layout, self->channel, first, NULL, low[0], high[0]);
  vn_tensor_picture_set (self->pictures[1].picture, &view->layout, self->channel, second, NULL, low[0], high[0]);
  vn_tensor_picture_set (self->pictures[2].picture, &view->layout, self->channel, second, first, -largest, largest);
  for (guint i = 0; i < 2; i++)
    {
      compare_tensor_set_number (self->pictures[i].low, low[0]);
      compare_tensor_set_number (self->pictures[i].high, high[0]);
    }
  compare_tensor_set_number (self->pictures[2].low, -largest);
  compare_tensor_set_number (self->pictures[2].high, largest);
  range = vn_format_interval (low[0], high[0]);
  gtk_label_set_label (self->pictures[0].note, range);
  gtk_label_set_label (self->pictures[1].note, levels);
  difference = g_strdup_printf ("%s − %s", self->titles[1], self->titles[0]);
  gtk_label_set_label (self->pictures[2].note, difference);
}

/**
 * _vn_compare_tensor_show_channel:
 *
 * Pictures and values of the chosen channel.
 */
void
_vn_compare_tensor_show_channel (VnCompareTensor *self)
{
  g_autofree VnTensorValues *values = g_new (VnTensorValues, 1);
  const VnTensorView *view = self->view;

  if (view == NULL || self->channel >= view->layout.n_channels ||
      !vn_tensor_values_init (values, &view->layout, self->channel, view->tensors[0]->data, view->tensors[1]->data, NULL))
    return;
  compare_tensor_show_pictures (self, values);
  vn_beside_chart_set (self->values, values);
  vn_channels_chart_set_chosen (self->channels, (guint) self->channel);
}

/* ---- pointer ---- */

/**
 * _vn_compare_tensor_show_hover:
 * @picture: that the pointer is over
 *
 * Tells the value there in all three, and marks the pixel in all.
 */
void
_vn_compare_tensor_show_hover (VnCompareTensor *self,
                               VnTensorPicture *picture)
{
  g_autofree char *first = NULL, *second = NULL, *difference = NULL, *text = NULL;
  guint row, column;
  gboolean has = vn_tensor_picture_get_hover (picture, &row, &column);
  gsize index;

  for (guint i = 0; i < G_N_ELEMENTS (self->pictures); i++)
    if (self->pictures[i].picture != picture)
      vn_tensor_picture_set_hover (self->pictures[i].picture, has, row, column);
  if (!has || self->view == NULL || !vn_tensor_layout_get_index (&self->view->layout, self->channel, row, column, &index))
    {
      gtk_label_set_label (self->status, "");
      return;
    }
  first = vn_format_number (((const float *) self->view->tensors[0]->data)[index], 4);
  second = vn_format_number (((const float *) self->view->tensors[1]->data)[index], 4);
  difference = vn_format_number (((const float *) self->view->tensors[1]->data)[index]
                                 - ((const float *) self->view->tensors[0]->data)[index], 4);
  text = g_strdup_printf (_("at %u, %u: %s · %s · difference %s"), row, column, first, second, difference);
  gtk_label_set_label (self->status, text);
}

/* ---- figures ---- */

static void
compare_tensor_set_figures (VnCompareTensor  *self,
                            const VnErrorRow *row)
{
  g_autofree char *db = vn_format_db (row->sqnr_db), *ratio = vn_format_number (row->noise_to_signal, 3);
  g_autofree char *cosine = vn_metric_format (VN_METRIC_COSINE, row->cosine), *largest = vn_format_number (row->max_error, 3);

  gtk_label_set_label (self->figures[VN_FIGURE_SQNR], db);
  gtk_label_set_label (self->figures[VN_FIGURE_RATIO], ratio);
  gtk_label_set_label (self->figures[VN_FIGURE_COSINE], cosine);
  gtk_label_set_label (self->figures[VN_FIGURE_LARGEST], largest);
}

static void
compare_tensor_set_grid (VnCompareTensor    *self,
                         const VnTensorView *view)
{
  double n = (double) view->layout.n_elements * MAX (view->n_samples, 1);
  g_autofree char *scale = view->grid.scale > 0 ? vn_format_number (view->grid.scale, 3) : g_strdup ("–");
  g_autofree char *share = vn_format_decimals (n > 0 ? 100 * (double) view->errors.n_clipped / n : 0, 2);
  g_autofree char *clipped = view->grid.scale > 0 ? g_strdup_printf ("%s\u00a0%%", share) : g_strdup ("–");

  gtk_label_set_label (self->figures[VN_FIGURE_SCALE], scale);
  gtk_label_set_label (self->figures[VN_FIGURE_CLIPPED], clipped);
}

static char *
compare_tensor_dup_figures_title (VnCompareTensor *self,
                                  guint            n)
{
  g_autoptr(VnDataset) dataset = vn_tensor_reader_ref_dataset (self->reader);

  if (self->view->is_weight)
    return g_strdup (_("The weight"));
  if (n < 2)
    return g_strdup (_("This sample"));
  if (dataset != NULL && vn_dataset_is_image (dataset))
    return g_strdup_printf (ngettext ("The %u image",
                                      "All %u images", n), n);
  return g_strdup_printf (ngettext ("The %u sample",
                                    "All %u samples", n), n);
}

/* By the samples of @view: those of one, until all have been run. */
static void
compare_tensor_show_channels (VnCompareTensor    *self,
                              const VnTensorView *view)
{
  gsize n = view->errors.n_channels;
  g_autofree double *sqnr = g_new (double, n + 1);

  for (gsize i = 0; i < n; i++)
    sqnr[i] = vn_error_sum_sqnr (&view->errors.channels[i]);
  vn_channels_chart_set (self->channels, sqnr, (guint) n, vn_heat_default_handles (VN_METRIC_SQNR));
}

/**
 * _vn_compare_tensor_show_figures:
 *
 * Over all samples, as soon as they are known.
 */
void
_vn_compare_tensor_show_figures (VnCompareTensor *self)
{
  const VnTensorView *view = self->all != NULL ? self->all : self->view;
  g_autofree char *title = NULL;
  VnErrorRow *row;

  if (view == NULL || self->view == NULL)
    return;
  title = compare_tensor_dup_figures_title (self, view->n_samples);
  gtk_label_set_label (self->figures_title, title);
  row = vn_error_row_new ();
  vn_error_sum_fill_row (&view->errors.all, row);
  compare_tensor_set_figures (self, row);
  vn_error_row_free (row);
  compare_tensor_set_grid (self, view);
  compare_tensor_show_channels (self, view);
}

/**
 * _vn_compare_tensor_show_view:
 *
 * All that is known of the tensor.
 */
void
_vn_compare_tensor_show_view (VnCompareTensor *self)
{
  g_autofree char *legend = NULL;

  self->channel = MIN (self->channel, self->view->layout.n_channels - 1);
  _vn_compare_tensor_show_head (self);
  gtk_label_set_label (self->pictures[0].title, self->titles[0]);
  gtk_label_set_label (self->pictures[1].title, self->titles[1]);
  legend = g_strdup_printf (_("bars: %s, stems: %s"), self->titles[0], self->titles[1]);
  gtk_label_set_label (self->values_note, legend);
  _vn_compare_tensor_show_figures (self);
  _vn_compare_tensor_show_channel (self);
  _vn_compare_tensor_show_strip (self);
  _vn_compare_tensor_show_worst (self);
  _vn_compare_tensor_show_fixes (self);
  gtk_stack_set_visible_child_name (self->stack, "tensor");
}
