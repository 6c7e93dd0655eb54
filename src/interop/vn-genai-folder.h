/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folders that onnxruntime-genai opens: a language model with its genai_config.json, its tokenizer and what else it wants. */
#pragma once

#include "vn-file-set.h"
#include "vn-model.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/* Name of the configuration in such a folder. */
#define VN_GENAI_CONFIG "genai_config.json"

/**
 * VnGenaiFolder:
 * @path: of the folder, absolute
 * @name: file name of the network that makes tokens, the decoder
 * @model: path of that
 */
typedef struct
{
  char *path, *name, *model;
} VnGenaiFolder;

gboolean       vn_genai_folder_is          (const char           *path);
VnGenaiFolder *vn_genai_folder_open        (const char           *path,
                                            GError              **error);
VnGenaiFolder *vn_genai_folder_find        (const char           *model);
void           vn_genai_folder_free        (VnGenaiFolder        *self);
GPtrArray     *vn_genai_folder_list_others (const VnGenaiFolder  *self,
                                            const VnModel        *model,
                                            const char           *to,
                                            GError              **error);
gboolean       vn_genai_folder_add_outputs (const VnGenaiFolder  *self,
                                            const VnModel        *model,
                                            const char           *to,
                                            VnFileSet            *files,
                                            GError              **error);
gboolean       vn_genai_folder_copy_file   (const char           *from,
                                            const char           *to,
                                            GCancellable         *cancellable,
                                            GError              **error);
gboolean       vn_genai_folder_copy        (const VnGenaiFolder  *self,
                                            const VnModel        *model,
                                            const char           *to,
                                            GCancellable         *cancellable,
                                            GError              **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnGenaiFolder, vn_genai_folder_free)

G_END_DECLS
