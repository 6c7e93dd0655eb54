/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The section of the inspector that shows the ranges of channels, names the one that stands out, and offers what helps. */
#include "inspector-sections.h"

#include "vn-chart-ranges.h"
#include "vn-cure-offers.h"
#include "vn-cure-row.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-rows.h"

#define CHART_HEIGHT 72

typedef struct
{
  VnRun            *result;      /* nullable: keeps the ranges */
  VnChannelRanges   ranges;
  gboolean          owned;
  VnChannelOutlier  outlier;
  gboolean          has_outlier;
} Channels;

static void
inspector_channels_free (gpointer data)
{
  Channels *self = data;

  if (self->owned)
    vn_channel_ranges_clear (&self->ranges);
  g_clear_pointer (&self->result, vn_run_unref);
  g_free (self);
}

static void
inspector_channels_draw (GtkDrawingArea *area,
                         cairo_t        *cr,
                         int             width,
                         int             height,
                         gpointer        data)
{
  const Channels *self = data;
  gboolean dark = adw_style_manager_get_dark (adw_style_manager_get_default ());
  g_autoptr(VnPen) pen = vn_pen_new_cairo (cr, dark ? &vn_pen_theme_dark : &vn_pen_theme_light);

  vn_chart_draw_channel_ranges (pen, width, height, &self->ranges, self->has_outlier ? &self->outlier : NULL);
}

static char *
inspector_channels_describe (const Channels *self)
{
  g_autofree char *reach = vn_format_number (self->outlier.reach, 3), *others = vn_format_number (self->outlier.others, 3);

  if (!self->has_outlier)
    return g_strdup (_("No channel stands out."));
  if (self->outlier.n == 1)
    return g_strdup_printf (_("Channel %u reaches %s, the others %s."), self->outlier.channel, reach, others);
  return g_strdup_printf (ngettext ("%u channel stands out: channel %u reaches %s, the others %s.",
                                    "%u channels stand out: channel %u reaches %s, the others %s.", self->outlier.n),
                                    self->outlier.n, self->outlier.channel, reach, others);
}

static gboolean
inspector_channels_is_cure (VnCure cure)
{
  return cure == VN_CURE_PER_CHANNEL || cure == VN_CURE_FOLDED || cure == VN_CURE_DEPTHWISE || cure == VN_CURE_EQUALIZE ||
         cure == VN_CURE_BALANCE;
}

/* Of what is offered for the node, what is about channels. */
static void
inspector_channels_add_cures (GtkWidget  *box,
                              VnDocument *document,
                              VnNodeItem *item)
{
  g_autoptr(GPtrArray) offers = vn_cure_offers_list (document, item);

  for (guint i = 0; i < offers->len; i++)
    {
      const VnCureOffer *offer = g_ptr_array_index (offers, i);

      if (inspector_channels_is_cure (offer->cure) && offer->recipe != NULL)
        gtk_box_append (GTK_BOX (box), vn_cure_button_new (document, offer));
    }
}

static GtkWidget *
inspector_channels_make (VnDocument *document,
                         VnNodeItem *item,
                         Channels   *channels,
                         const char *title)
{
  GtkWidget *card = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6), *chart = gtk_drawing_area_new ();
  g_autofree char *text = NULL;
  g_autofree char *note = g_strdup_printf (ngettext ("%u channel", "%u channels", channels->ranges.n), channels->ranges.n);

  channels->has_outlier = vn_channel_ranges_find_outlier (&channels->ranges, &channels->outlier);
  text = inspector_channels_describe (channels);
  gtk_drawing_area_set_content_height (GTK_DRAWING_AREA (chart), CHART_HEIGHT);
  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (chart), inspector_channels_draw, channels, inspector_channels_free);
  g_signal_connect_object (adw_style_manager_get_default (), "notify::dark", G_CALLBACK (gtk_widget_queue_draw), chart,
                           G_CONNECT_SWAPPED);
  gtk_accessible_update_property (GTK_ACCESSIBLE (chart), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
  gtk_box_append (GTK_BOX (card), chart);
  gtk_box_append (GTK_BOX (card), vn_label_new (text, channels->has_outlier ? "caption-heading" : "caption"));
  if (channels->has_outlier && item != NULL)
    inspector_channels_add_cures (card, document, item);
  gtk_widget_add_css_class (card, "card");
  gtk_widget_add_css_class (card, "chart-card");
  return vn_section_new (title, note, card);
}

/**
 * vn_inspector_channels:
 *
 * Returns: (nullable): the ranges of the channels of an activation, over the samples; %NULL if they are not known
 */
GtkWidget *
vn_inspector_channels (VnDocument        *document,
                       VnInspectedTensor *tensor)
{
  Channels *channels;

  g_return_val_if_fail (VN_IS_DOCUMENT (document) && tensor != NULL, NULL);

  if (tensor->histogram == NULL || !vn_channel_ranges_are_known (&tensor->histogram->channels) ||
      tensor->histogram->channels.n < 2)
    return NULL;
  channels = g_new0 (Channels, 1);
  channels->result = vn_run_ref (tensor->result);
  channels->ranges = tensor->histogram->channels;
  return inspector_channels_make (document, tensor->item, channels, _("Channel Ranges"));
}

/**
 * vn_inspector_weight_channels:
 * @ranges: (transfer full): of the channels of a weight
 *
 * Returns: (nullable): them; %NULL if there are fewer than two
 */
GtkWidget *
vn_inspector_weight_channels (VnDocument      *document,
                              VnNodeItem      *item,
                              VnChannelRanges *ranges)
{
  Channels *channels;

  g_return_val_if_fail (VN_IS_DOCUMENT (document) && ranges != NULL, NULL);

  if (!vn_channel_ranges_are_known (ranges) || ranges->n < 2)
    {
      vn_channel_ranges_clear (ranges);
      return NULL;
    }
  channels = g_new0 (Channels, 1);
  channels->ranges = *ranges;
  channels->owned = TRUE;
  *ranges = (VnChannelRanges) { 0 };
  return inspector_channels_make (document, item, channels, _("Weight Channels"));
}
