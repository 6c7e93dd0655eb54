/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folders of onnxruntime-genai in place of a model, and of the file that is written. */
#include "vn-cmd.h"

#include "vn-file.h"
#include "vn-i18n.h"

#include <errno.h>
#include <glib/gstdio.h>

/**
 * vn_cmd_folder_open:
 * @self: (out caller-allocates): cleared by vn_cmd_folder_clear(); left empty if @path is no such folder
 * @path: (inout): of a model, or of a folder; becomes that of the model in there
 * @output: (inout) (nullable): what is written, allocated; where @path was a folder and it has not the name of a model it is one,
 *   too, which is made, and becomes the path of the model in there
 */
gboolean
vn_cmd_folder_open (VnCmdFolder  *self,
                    const char  **path,
                    char        **output,
                    GError      **error)
{
  g_return_val_if_fail (self != NULL && path != NULL && *path != NULL, FALSE);

  *self = (VnCmdFolder) { 0 };
  if (!vn_genai_folder_is (*path))
    return TRUE;
  self->from = vn_genai_folder_open (*path, error);
  if (self->from == NULL)
    return FALSE;
  *path = self->from->model;
  if (output == NULL || *output == NULL || g_str_has_suffix (*output, ".onnx"))
    return TRUE;
  if (g_mkdir_with_parents (*output, 0777) != 0)
    {
      vn_file_fail (error, _("Cannot write"), *output, errno);
      return FALSE;
    }
  self->to = *output;
  *output = g_build_filename (self->to, self->from->name, NULL);
  return TRUE;
}

/**
 * vn_cmd_folder_clear:
 *
 * A folder that was made and got nothing goes again.
 */
void
vn_cmd_folder_clear (VnCmdFolder *self)
{
  g_return_if_fail (self != NULL);

  if (self->to != NULL)
    g_rmdir (self->to);
  g_clear_pointer (&self->to, g_free);
  g_clear_pointer (&self->from, vn_genai_folder_free);
}

gboolean
vn_cmd_folder_add_outputs (const VnCmdFolder  *self,
                           const VnModel      *model,
                           VnFileSet          *files,
                           GError            **error)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->to == NULL || vn_genai_folder_add_outputs (self->from, model, self->to, files, error);
}

gboolean
vn_cmd_folder_copy (const VnCmdFolder  *self,
                    const VnModel      *model,
                    GError            **error)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->to == NULL || vn_genai_folder_copy (self->from, model, self->to, NULL, error);
}
