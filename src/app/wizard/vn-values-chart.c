/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A chart of the values that the network gets, over those that its first layer seems to be made for. */
#include "vn-values-chart.h"

#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-picture-view.h"
#include "vn-rows.h"

struct _VnValuesChart
{
  AdwBin         parent_instance;

  VnPictureView *view;
};

G_DEFINE_FINAL_TYPE (VnValuesChart, vn_values_chart, ADW_TYPE_BIN)

static void
vn_values_chart_class_init (VnValuesChartClass *klass)
{
}

static void
vn_values_chart_init (VnValuesChart *self)
{
  GtkWidget *card;

  self->view = VN_PICTURE_VIEW (vn_picture_view_new ());
  card = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  gtk_widget_set_hexpand (GTK_WIDGET (self->view), TRUE);
  gtk_widget_add_css_class (card, "card");
  gtk_widget_add_css_class (card, "chart-card");
  gtk_box_append (GTK_BOX (card), GTK_WIDGET (self->view));
  adw_bin_set_child (ADW_BIN (self), vn_section_new (_("Input Values"), NULL, card));
  gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
}

/* Colours of the channels in their order; of others than pictures of colours none is said. */
static void
values_chart_name_channels (VnPictureValues *picture,
                            VnColorOrder     color)
{
  if (picture->n_channels < 3)
    return;
  picture->names[color == VN_COLOR_BGR ? 2 : 0] = _("Red");
  picture->names[1] = _("Green");
  picture->names[color == VN_COLOR_BGR ? 0 : 2] = _("Blue");
}

/**
 * vn_values_chart_set:
 * @values: (nullable): what is shown; %NULL: nothing
 * @is_picture: three channels are colours, in the order of @color
 */
void
vn_values_chart_set (VnValuesChart      *self,
                     const VnDataValues *values,
                     gboolean            is_picture,
                     VnColorOrder        color)
{
  VnPictureValues shown = { 0 };
  g_autoptr(VnPicture) picture = NULL;
  g_autofree char *suits = NULL, *span = NULL, *all = NULL, *words = NULL;

  g_return_if_fail (VN_IS_VALUES_CHART (self));

  gtk_widget_set_visible (GTK_WIDGET (self), values != NULL && values->n_channels > 0);
  if (values == NULL || values->n_channels == 0)
    {
      vn_picture_view_set (self->view, NULL, NULL);
      return;
    }
  shown = (VnPictureValues) { .n_channels = MIN (values->n_channels, VN_PICTURE_CHANNELS), .n_bins = VN_DATA_LOOK_BINS,
                              .low = values->low,
                              .high = values->high, .suits_low = values->suits_low, .suits_high = values->suits_high };
  for (guint c = 0; c < shown.n_channels; c++)
    shown.counts[c] = values->counts[c];
  if (is_picture)
    values_chart_name_channels (&shown, color);
  span = vn_format_interval (values->suits_low, values->suits_high);
  suits = g_strdup_printf (_("%s, which the first layer seems to expect"), span);
  shown.suits = suits;
  picture = vn_picture_new_values (&shown);
  all = vn_format_interval (values->low, values->high);
  words = values->suits_low < values->suits_high
          ? g_strdup_printf (_("Values from %s; %s"), all, suits) : g_strdup_printf (_("Values from %s"), all);
  vn_picture_view_set (self->view, picture, words);
}
