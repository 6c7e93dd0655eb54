/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small pictures of the samples: read on a thread, with a flag where the network sees them stretched. */
#include "vn-preview-grid.h"

#include "vn-i18n.h"
#include "vn-thread.h"

#include <gdk-pixbuf/gdk-pixbuf.h>
#include <math.h>

#define N_PREVIEWS 12
#define PREVIEW_SIZE 140
#define DECODE_SIZE 280        /* sharp on displays of double density */
#define STRETCH_FLAG 1.5

struct _VnPreviews
{
  GtkFlowBox   *box;           /* borrowed */
  GCancellable *cancellable;
};

typedef struct
{
  GtkWidget *tile;             /* a GtkOverlay, owned */
  VnDataset *dataset;
  guint      index;
  gboolean   as_network, flag_stretch;
  GdkPixbuf *pixbuf;
  double     stretch;          /* how many times wider or higher than it was; 1: not */
} Load;

static void
preview_grid_load_free (gpointer data)
{
  Load *self = data;

  g_object_unref (self->tile);
  vn_dataset_unref (self->dataset);
  g_clear_object (&self->pixbuf);
  g_free (self);
}

static double
preview_grid_get_aspect (GdkPixbuf *pixbuf)
{
  return (double) gdk_pixbuf_get_width (pixbuf) / gdk_pixbuf_get_height (pixbuf);
}

static void
preview_grid_run_load (GTask        *task,
                       gpointer      source,
                       gpointer      data,
                       GCancellable *cancellable)
{
  Load *load = data;
  g_autoptr(GdkPixbuf) original = NULL;
  GError *error = NULL;

  if (g_task_return_error_if_cancelled (task))
    return;
  load->pixbuf = vn_dataset_load_preview (load->dataset, load->index, load->as_network, DECODE_SIZE, &error);
  if (load->pixbuf == NULL)
    {
      g_task_return_error (task, error);
      return;
    }
  if (load->as_network && load->flag_stretch)
    original = vn_dataset_load_preview (load->dataset, load->index, FALSE, 64, NULL);
  if (original != NULL)
    {
      double ratio = preview_grid_get_aspect (original) / preview_grid_get_aspect (load->pixbuf);

      load->stretch = MAX (ratio, 1 / ratio);
    }
  g_task_return_boolean (task, TRUE);
}

static void
preview_grid_show_failure (GtkWidget  *tile,
                           const char *name)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  GtkWidget *icon = gtk_image_new_from_icon_name ("image-missing-symbolic");
  GtkWidget *file = gtk_label_new (name);
  GtkWidget *text = gtk_label_new (_("unreadable, skipped"));

  gtk_image_set_pixel_size (GTK_IMAGE (icon), 32);
  gtk_label_set_ellipsize (GTK_LABEL (file), PANGO_ELLIPSIZE_MIDDLE);
  gtk_label_set_ellipsize (GTK_LABEL (text), PANGO_ELLIPSIZE_END);
  gtk_widget_add_css_class (file, "caption");
  gtk_widget_add_css_class (text, "caption");
  gtk_widget_add_css_class (box, "dim-label");
  gtk_box_append (GTK_BOX (box), icon);
  gtk_box_append (GTK_BOX (box), file);
  gtk_box_append (GTK_BOX (box), text);
  gtk_widget_set_valign (box, GTK_ALIGN_CENTER);
  gtk_overlay_add_overlay (GTK_OVERLAY (tile), box);
}

static void
preview_grid_add_flag (GtkWidget *tile,
                       double     stretch)
{
  g_autofree char *text = g_strdup_printf (_("stretched %.1f×"), stretch);
  GtkWidget *flag = gtk_label_new (text);

  gtk_widget_add_css_class (flag, "preview-flag");
  gtk_widget_set_halign (flag, GTK_ALIGN_START);
  gtk_widget_set_valign (flag, GTK_ALIGN_START);
  gtk_widget_set_margin_start (flag, 6);
  gtk_widget_set_margin_top (flag, 6);
  gtk_overlay_add_overlay (GTK_OVERLAY (tile), flag);
}

static void
preview_grid_load_done (GObject      *source,
                        GAsyncResult *async,
                        gpointer      data)
{
  Load *load = g_task_get_task_data (G_TASK (async));
  g_autoptr(GError) error = NULL;
  g_autoptr(GdkTexture) texture = NULL;

  if (!g_task_propagate_boolean (G_TASK (async), &error))
    {
      if (!g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        {
          gtk_widget_set_tooltip_text (load->tile, error->message);
          preview_grid_show_failure (load->tile, vn_dataset_get_name (load->dataset, load->index));
        }
      return;
    }
  texture = gdk_texture_new_for_pixbuf (load->pixbuf);
  gtk_picture_set_paintable (GTK_PICTURE (gtk_widget_get_last_child (load->tile)), GDK_PAINTABLE (texture));
  if (load->stretch > STRETCH_FLAG)
    preview_grid_add_flag (load->tile, load->stretch);
}

static GtkWidget *
preview_grid_make_tile (const char *name)
{
  GtkWidget *tile = gtk_overlay_new ();
  GtkWidget *picture = gtk_picture_new ();

  gtk_widget_set_size_request (tile, PREVIEW_SIZE, PREVIEW_SIZE);
  gtk_widget_set_overflow (tile, GTK_OVERFLOW_HIDDEN);
  gtk_widget_add_css_class (tile, "preview");
  gtk_widget_set_tooltip_text (tile, name);
  gtk_picture_set_can_shrink (GTK_PICTURE (picture), TRUE);
  gtk_picture_set_content_fit (GTK_PICTURE (picture), GTK_CONTENT_FIT_COVER);
  gtk_picture_set_alternative_text (GTK_PICTURE (picture), name);
  /* Not the child: the size of the picture shall not decide that of the tile. */
  gtk_overlay_add_overlay (GTK_OVERLAY (tile), picture);
  return tile;
}

VnPreviews *
vn_previews_new (GtkFlowBox *box)
{
  VnPreviews *self = g_new0 (VnPreviews, 1);

  g_return_val_if_fail (GTK_IS_FLOW_BOX (box), NULL);

  self->box = box;
  return self;
}

static void
preview_grid_cancel (VnPreviews *self)
{
  if (self->cancellable != NULL)
    g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
}

void
vn_previews_free (VnPreviews *self)
{
  preview_grid_cancel (self);
  g_free (self);
}

static void
preview_grid_add_preview (VnPreviews *self,
                          VnDataset  *dataset,
                          guint       index,
                          gboolean    as_network,
                          gboolean    flag_stretch)
{
  GtkWidget *tile = preview_grid_make_tile (vn_dataset_get_name (dataset, index));
  g_autoptr(GTask) task = g_task_new (NULL, self->cancellable, preview_grid_load_done, NULL);
  Load *load = g_new0 (Load, 1);

  gtk_flow_box_append (self->box, tile);
  *load = (Load) { g_object_ref (tile), vn_dataset_ref (dataset), index, as_network, flag_stretch, NULL, 1 };
  g_task_set_task_data (task, load, preview_grid_load_free);
  /* a pool of threads, which bounds how many pictures are decoded at a time */
  vn_thread_run_pooled (task, preview_grid_run_load);
}

/**
 * vn_previews_show:
 * @dataset: (nullable): samples; %NULL or anything but pictures: the box is emptied
 * @as_network: resized and mapped back from what the network gets; else as they are
 * @flag_stretch: whether width and height may have been changed by different factors
 *
 * Shows a few of the samples, evenly spread.
 */
void
vn_previews_show (VnPreviews *self,
                  VnDataset  *dataset,
                  gboolean    as_network,
                  gboolean    flag_stretch)
{
  GtkWidget *child;
  guint n = dataset != NULL && vn_dataset_is_image (dataset) ? vn_dataset_get_n (dataset) : 0;
  guint n_shown = MIN (n, N_PREVIEWS);

  g_return_if_fail (self != NULL);

  preview_grid_cancel (self);
  self->cancellable = g_cancellable_new ();
  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self->box))) != NULL)
    gtk_flow_box_remove (self->box, child);
  for (guint i = 0; i < n_shown; i++)
    preview_grid_add_preview (self, dataset, (guint) ((guint64) i * n / n_shown), as_network, flag_stretch);
}
