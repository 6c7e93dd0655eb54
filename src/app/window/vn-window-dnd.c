/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dropping files on the window: models, folders of language models and projects are opened, other folders become samples. */
#include "vn-window-private.h"

#include "vn-i18n.h"
#include "vn-language-model.h"
#include "vn-model-data.h"
#include "vn-node-data.h"

static gboolean
window_dnd_is_folder (GFile *file)
{
  return g_file_query_file_type (file, G_FILE_QUERY_INFO_NONE, NULL) == G_FILE_TYPE_DIRECTORY;
}

static gboolean
window_dnd_is_model_folder (GFile *file)
{
  return g_file_peek_path (file) != NULL && vn_genai_folder_is (g_file_peek_path (file));
}

/* Of a language model. */
static gboolean
window_dnd_is_text (VnWindow *self,
                    GFile    *file)
{
  VnModel *model = vn_bench_get_model (VN_BENCH (self->document));
  const char *path = g_file_peek_path (file);

  return model != NULL && path != NULL && g_str_has_suffix (path, ".txt") && vn_model_is_language_model (model);
}

/* A folder, or a file that can be nothing else. */
static gboolean
window_dnd_is_samples (VnWindow *self,
                       GFile    *file)
{
  if (window_dnd_is_folder (file))
    return !window_dnd_is_model_folder (file);
  return window_dnd_is_text (self, file) ||
         (g_file_peek_path (file) != NULL && vn_data_is_sample_file (g_file_peek_path (file)));
}

static gboolean
window_dnd_has_numbers (GFile *file)
{
  return g_file_peek_path (file) != NULL && vn_node_data_is_file (g_file_peek_path (file));
}

/**
 * vn_window_drop_file:
 * @file: what was dropped: a model is opened, as is the folder of a language model; any other folder holds samples, as does a
 *   picture, an array, a sound, or a text where the model is one of language; values of nodes color the graph
 *
 * Returns: whether it could be used
 */
gboolean
vn_window_drop_file (VnWindow *self,
                     GFile    *file)
{
  const char *path;

  g_return_val_if_fail (VN_IS_WINDOW (self), FALSE);
  g_return_val_if_fail (G_IS_FILE (file), FALSE);

  path = g_file_peek_path (file);
  if (path == NULL)
    return FALSE;
  if (!window_dnd_is_samples (self, file))
    {
      vn_window_open_file (self, file);
      return TRUE;
    }
  if (vn_bench_get_model (VN_BENCH (self->document)) == NULL)
    {
      vn_toasts_show (self->toast, _("Open a model first: samples need one."), NULL, NULL);
      return FALSE;
    }
  vn_document_use_folder (self->document, path);
  vn_wizard_begin (self->wizard, "data");
  gtk_stack_set_visible_child_name (self->pages, "wizard");
  return TRUE;
}

static gboolean
window_dnd_dropped (GtkDropTarget *target,
                    const GValue  *value,
                    double         x,
                    double         y,
                    gpointer       data)
{
  GSList *files = g_value_get_boxed (value);

  gtk_revealer_set_reveal_child (VN_WINDOW (data)->drop_revealer, FALSE);
  return files != NULL && vn_window_drop_file (data, files->data);
}

static GdkDragAction
window_dnd_entered (GtkDropTarget *target,
                    double         x,
                    double         y,
                    gpointer       data)
{
  gtk_revealer_set_reveal_child (VN_WINDOW (data)->drop_revealer, TRUE);
  return GDK_ACTION_COPY;
}

static void
window_dnd_left (GtkDropTarget *target,
                 gpointer       data)
{
  gtk_revealer_set_reveal_child (VN_WINDOW (data)->drop_revealer, FALSE);
}

/* The value is there before the drop where the source is fast enough; until then a model is the best
 * guess. */
static void
window_dnd_value_known (GtkDropTarget *target,
                        GParamSpec    *pspec,
                        gpointer       data)
{
  VnWindow *self = data;
  const GValue *value = gtk_drop_target_get_value (target);
  GSList *files = value != NULL ? g_value_get_boxed (value) : NULL;

  gtk_label_set_label (self->drop_label, files == NULL ? _("Open Model")
                                         : window_dnd_is_samples (self, files->data) ? _("Use as Samples")
                                         : window_dnd_has_numbers (files->data) ? _("Color the Graph by a File")
                                         : _("Open Model"));
}

/* The whole window is a place to drop files on. */
static void
window_dnd_init (VnWindow *self)
{
  GtkDropTarget *target = gtk_drop_target_new (GDK_TYPE_FILE_LIST, GDK_ACTION_COPY);

  gtk_drop_target_set_preload (target, TRUE);
  g_signal_connect (target, "drop", G_CALLBACK (window_dnd_dropped), self);
  g_signal_connect (target, "enter", G_CALLBACK (window_dnd_entered), self);
  g_signal_connect (target, "leave", G_CALLBACK (window_dnd_left), self);
  g_signal_connect (target, "notify::value", G_CALLBACK (window_dnd_value_known), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (target));
}

const VnWindowPart vn_window_part_dnd = { .init = window_dnd_init };
