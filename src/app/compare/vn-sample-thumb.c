/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small pictures of samples, for strips of them. */
#include "vn-sample-thumb.h"

#include "vn-thread.h"

#define THUMB_WIDTH 52
#define THUMB_HEIGHT 40
#define DECODE_SIZE 104

typedef struct
{
  VnDataset *dataset;
  guint      sample;
} Load;

static void
sample_thumb_free_load (gpointer data)
{
  Load *self = data;

  vn_dataset_unref (self->dataset);
  g_free (self);
}

static void
sample_thumb_run (GTask        *task,
                  gpointer      source,
                  gpointer      data,
                  GCancellable *cancellable)
{
  Load *load = data;
  GError *error = NULL;
  GdkPixbuf *pixbuf;

  if (g_task_return_error_if_cancelled (task))
    return;
  pixbuf = vn_dataset_load_preview (load->dataset, load->sample, FALSE, DECODE_SIZE, &error);
  if (pixbuf != NULL)
    g_task_return_pointer (task, pixbuf, g_object_unref);
  else
    g_task_return_error (task, error);
}

static void
sample_thumb_done (GObject      *source,
                   GAsyncResult *async,
                   gpointer      data)
{
  g_autoptr(GdkPixbuf) pixbuf = g_task_propagate_pointer (G_TASK (async), NULL);
  g_autoptr(GdkTexture) texture = NULL;

  if (pixbuf == NULL)
    return;
  texture = gdk_texture_new_for_pixbuf (pixbuf);
  gtk_picture_set_paintable (GTK_PICTURE (source), GDK_PAINTABLE (texture));
}

static void
sample_thumb_gone (GtkWidget    *picture,
                   GCancellable *cancellable)
{
  g_cancellable_cancel (cancellable);
}

/**
 * vn_sample_thumb_new:
 * @sample: index in @dataset
 * @number: what is shown of a sample that is no picture
 *
 * Returns: (transfer floating): the picture
 */
GtkWidget *
vn_sample_thumb_new (VnDataset *dataset,
                     guint      sample,
                     guint      number)
{
  g_autofree char *text = g_strdup_printf ("%u", number);
  g_autoptr(GCancellable) cancellable = NULL;
  g_autoptr(GTask) task = NULL;
  GtkWidget *tile, *picture;
  Load *load;

  g_return_val_if_fail (dataset != NULL && sample < vn_dataset_get_n (dataset), NULL);

  if (!vn_dataset_is_image (dataset))
    return gtk_label_new (text);
  tile = gtk_overlay_new ();
  picture = gtk_picture_new ();
  gtk_widget_set_size_request (tile, THUMB_WIDTH, THUMB_HEIGHT);
  gtk_widget_set_overflow (tile, GTK_OVERFLOW_HIDDEN);
  gtk_widget_add_css_class (tile, "preview");
  gtk_picture_set_can_shrink (GTK_PICTURE (picture), TRUE);
  gtk_picture_set_content_fit (GTK_PICTURE (picture), GTK_CONTENT_FIT_COVER);
  gtk_picture_set_alternative_text (GTK_PICTURE (picture), vn_dataset_get_name (dataset, sample));
  gtk_overlay_add_overlay (GTK_OVERLAY (tile), picture);
  cancellable = g_cancellable_new ();
  g_signal_connect_data (picture, "destroy", G_CALLBACK (sample_thumb_gone), g_object_ref (cancellable),
                         (GClosureNotify) (void (*) (void)) g_object_unref, 0);
  task = g_task_new (picture, cancellable, sample_thumb_done, NULL);
  load = g_new0 (Load, 1);
  *load = (Load) { vn_dataset_ref (dataset), sample };
  g_task_set_task_data (task, load, sample_thumb_free_load);
  /* a pool of threads, which bounds how many pictures are decoded at a time */
  vn_thread_run_pooled (task, sample_thumb_run);
  return tile;
}
