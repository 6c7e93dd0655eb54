/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether the files of the model are still what was opened: told by the system, and looked at when somebody asks. */
#include "vn-document-private.h"

/* Who writes a file does so in pieces. */
#define SETTLE_MS 300

/* Each takes a resource of the system; files that belong together change together. */
#define MAX_WATCHED 8

static gboolean
document_changed_look (gpointer data)
{
  VnDocument *self = data;

  self->look_source = 0;
  vn_document_look_at_files (self);
  return G_SOURCE_REMOVE;
}

static void
document_changed_event (VnDocument *self)
{
  g_clear_handle_id (&self->look_source, g_source_remove);
  self->look_source = g_timeout_add (SETTLE_MS, document_changed_look, self);
}

static void
document_changed_free_monitor (gpointer monitor)
{
  g_file_monitor_cancel (monitor);
  g_object_unref (monitor);
}

static void
document_changed_add_monitor (VnDocument *self,
                              const char *path)
{
  g_autoptr(GFile) file = g_file_new_for_path (path);
  GFileMonitor *monitor = g_file_monitor_file (file, G_FILE_MONITOR_NONE, NULL, NULL);

  if (monitor == NULL)
    return;
  g_signal_connect_object (monitor, "changed", G_CALLBACK (document_changed_event), self, G_CONNECT_SWAPPED);
  g_ptr_array_add (self->monitors, monitor);
}

/**
 * vn_document_watch_files:
 *
 * To be called when there is another model, or none: its files have not changed.
 */
void
vn_document_watch_files (VnDocument *self)
{
  gboolean changed;

  g_return_if_fail (VN_IS_DOCUMENT (self));

  changed = self->files_changed;
  vn_document_unwatch_files (self);
  self->files_changed = FALSE;
  self->monitors = g_ptr_array_new_with_free_func (document_changed_free_monitor);
  if (self->model != NULL && self->model->path != NULL)
    document_changed_add_monitor (self, self->model->path);
  for (guint i = 0; self->model != NULL && i < MIN (self->model->files->len, MAX_WATCHED); i++)
    document_changed_add_monitor (self, g_ptr_array_index (self->model->files, i));
  if (changed)
    g_signal_emit (self, vn_document_signals[VN_SIGNAL_FILES], 0);
}

void
vn_document_unwatch_files (VnDocument *self)
{
  g_return_if_fail (VN_IS_DOCUMENT (self));

  g_clear_handle_id (&self->look_source, g_source_remove);
  g_clear_pointer (&self->monitors, g_ptr_array_unref);
}

/**
 * vn_document_look_at_files:
 *
 * Finds out whether the files of the model have changed; “files-changed” tells when that is another answer than before.
 */
void
vn_document_look_at_files (VnDocument *self)
{
  gboolean changed;

  g_return_if_fail (VN_IS_DOCUMENT (self));

  changed = self->model != NULL && !vn_model_is_current (self->model);
  if (changed == self->files_changed)
    return;
  self->files_changed = changed;
  g_signal_emit (self, vn_document_signals[VN_SIGNAL_FILES], 0);
}

/**
 * vn_document_has_changed_files:
 *
 * Returns: whether there are other bytes now where the model was read from, as far as is known
 */
gboolean
vn_document_has_changed_files (VnDocument *self)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), FALSE);

  return self->files_changed;
}
