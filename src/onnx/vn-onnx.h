/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-model.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/* Reading maps the file: raw tensor data of 64 bytes and more become views into the map and are never copied; the
 * small rest goes through protobuf-c. External data files are mapped the same way. */

VnModel  *vn_onnx_read_file         (const char       *path,
                                     GError          **error);
VnModel  *vn_onnx_read_bytes        (GBytes           *bytes,
                                     const char       *path,      /* for messages and external data; NULL: neither */
                                     GError          **error);

gboolean  vn_onnx_file_is_text      (const char       *path);     /* of a model that vn_onnx_read_file() reads */

/**
 * VnOnnxWriteOptions:
 * @external_threshold: tensors of at least so many bytes go to one external file; 0: of a model that had external data those
 *   of 1 KB or more, and of others none, unless it would not stay under 2 GB
 * @external_name: file name (no folder) of that file; NULL: "<model file name>.data"
 * @external_each: each such tensor gets a file of its own, "<external_name>.<tensor>"; external_name is then the model's
 *   file name unless given
 * @files: (nullable): what else is read and written: no weights go there
 */
typedef struct
{
  gsize       external_threshold;
  const char *external_name;
  gboolean    external_each;
  VnFileSet  *files;
} VnOnnxWriteOptions;

gboolean  vn_onnx_add_outputs       (VnFileSet                 *set,
                                     const VnModel             *model,
                                     const char                *path,
                                     const VnOnnxWriteOptions  *options,    /* NULL: defaults */
                                     const char                *what,
                                     GError                   **error);

gboolean  vn_onnx_write_file        (const VnModel             *model,
                                     const char                *path,
                                     const VnOnnxWriteOptions  *options,    /* NULL: defaults */
                                     GCancellable              *cancellable,
                                     GError                   **error);
GBytes   *vn_onnx_write_bytes       (const VnModel             *model,
                                     GError                   **error);
gsize     vn_onnx_count_bytes       (const VnModel             *model,
                                     GError                   **error);

VnTensor *vn_onnx_tensor_read_file  (const char       *path,      /* one TensorProto: a .pb sample */
                                     char            **name,      /* out, nullable */
                                     GError          **error);
VnTensor *vn_onnx_value_read_file   (const char       *path,      /* TensorProto, SequenceProto or OptionalProto */
                                     const VnType     *type,      /* says which */
                                     char            **name,      /* out, nullable */
                                     GError          **error);

G_END_DECLS
