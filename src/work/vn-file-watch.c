/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether the files of a model are still what was opened: reported by the system, and looked at when somebody asks. */
#include "vn-file-watch.h"

/* Who writes a file does so in pieces. */
#define SETTLE_MS 300

/* Each takes a resource of the system; files that belong together change together. */
#define MAX_WATCHED 8

struct _VnFileWatch
{
  VnFileWatchFunc changed;
  gpointer        data;
  VnModel        *model;       /* nullable */
  GPtrArray      *monitors;    /* of GFileMonitor */
  guint           look_source;
  gboolean        has_changed;
};

static void
file_watch_free_monitor (gpointer monitor)
{
  g_file_monitor_cancel (monitor);     /* which it is silent after */
  g_object_unref (monitor);
}

/**
 * vn_file_watch_new:
 * @changed: called when vn_file_watch_has_changed() has another answer
 *
 * Returns: (transfer full): of no files yet
 */
VnFileWatch *
vn_file_watch_new (VnFileWatchFunc changed,
                   gpointer        data)
{
  VnFileWatch *self = g_new0 (VnFileWatch, 1);

  self->changed = changed;
  self->data = data;
  self->monitors = g_ptr_array_new_with_free_func (file_watch_free_monitor);
  return self;
}

static gboolean
file_watch_look_later (gpointer data)
{
  VnFileWatch *self = data;

  self->look_source = 0;
  vn_file_watch_look (self);
  return G_SOURCE_REMOVE;
}

static void
file_watch_event (VnFileWatch *self)
{
  g_clear_handle_id (&self->look_source, g_source_remove);
  self->look_source = g_timeout_add (SETTLE_MS, file_watch_look_later, self);
}

static void
file_watch_clear (VnFileWatch *self)
{
  g_ptr_array_set_size (self->monitors, 0);
  g_clear_handle_id (&self->look_source, g_source_remove);
  g_clear_pointer (&self->model, vn_model_unref);
}

/**
 * vn_file_watch_free:
 * @self: (nullable):
 */
void
vn_file_watch_free (VnFileWatch *self)
{
  if (self == NULL)
    return;
  file_watch_clear (self);
  g_ptr_array_unref (self->monitors);
  g_free (self);
}

static void
file_watch_add (VnFileWatch *self,
                const char  *path)
{
  g_autoptr(GFile) file = g_file_new_for_path (path);
  GFileMonitor *monitor = g_file_monitor_file (file, G_FILE_MONITOR_NONE, NULL, NULL);

  if (monitor == NULL)
    return;
  g_signal_connect_swapped (monitor, "changed", G_CALLBACK (file_watch_event), self);
  g_ptr_array_add (self->monitors, monitor);
}

static void
file_watch_set_changed (VnFileWatch *self,
                        gboolean     has_changed)
{
  if (has_changed == self->has_changed)
    return;
  self->has_changed = has_changed;
  self->changed (self->data);
}

/**
 * vn_file_watch_set_model:
 * @model: (nullable): as it has just been opened: its files have not changed
 */
void
vn_file_watch_set_model (VnFileWatch *self,
                         VnModel     *model)
{
  g_return_if_fail (self != NULL);

  file_watch_clear (self);
  self->model = model != NULL ? vn_model_ref (model) : NULL;
  if (model != NULL && model->path != NULL)
    file_watch_add (self, model->path);
  for (guint i = 0; model != NULL && i < MIN (model->files->len, MAX_WATCHED); i++)
    file_watch_add (self, g_ptr_array_index (model->files, i));
  file_watch_set_changed (self, FALSE);
}

/**
 * vn_file_watch_look:
 *
 * Finds out whether the files have changed.
 */
void
vn_file_watch_look (VnFileWatch *self)
{
  g_return_if_fail (self != NULL);

  file_watch_set_changed (self, self->model != NULL && !vn_model_is_current (self->model));
}

/**
 * vn_file_watch_has_changed:
 *
 * Returns: whether there are other bytes now where the model was read from, as far as is known
 */
gboolean
vn_file_watch_has_changed (VnFileWatch *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->has_changed;
}
