/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Models as text, for ONNX Runtime, which reads encoded ones alone. */
#include "verify-encode.h"

#include "vn-onnx.h"

/*< private >
 * vn_verify_encode:
 * @folder: where a copy may be written, as @name
 * @path: (inout) (nullable): of a model; that of the copy, if the model is text
 * @copy: (out): owns that
 *
 * Returns: %FALSE if it cannot be read or written
 */
gboolean
vn_verify_encode (const char    *folder,
                  const char    *name,
                  const char   **path,
                  char         **copy,
                  GCancellable  *cancellable,
                  GError       **error)
{
  g_autoptr(VnModel) model = NULL;

  g_return_val_if_fail (folder != NULL && name != NULL && path != NULL && copy != NULL, FALSE);

  if (*path == NULL || !vn_onnx_file_is_text (*path))
    return TRUE;
  model = vn_onnx_read_file (*path, error);
  *path = *copy = g_build_filename (folder, name, NULL);
  return model != NULL && vn_onnx_write_file (model, *path, NULL, cancellable, error);
}
