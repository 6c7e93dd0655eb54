/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model-folder.h"

#include <glib/gstdio.h>

void
model_folder_set_up (ModelFolder   *self,
                     gconstpointer  data)
{
  self->folder = g_dir_make_tmp ("vn-onnx-XXXXXX", NULL);
  self->path = g_build_filename (self->folder, "m.onnx", NULL);
  self->data = g_build_filename (self->folder, "m.onnx.data", NULL);
}

void
model_folder_tear_down (ModelFolder   *self,
                        gconstpointer  data)
{
  g_autoptr(GDir) dir = g_dir_open (self->folder, 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (self->folder, name, NULL);

      g_remove (path);
    }
  g_rmdir (self->folder);
  g_free (self->folder);
  g_free (self->path);
  g_free (self->data);
}
