/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Our side of the process that runs parts of networks in libonnxruntime. */
#pragma once

#include "ort-message.h"

G_BEGIN_DECLS

typedef struct _VnOrtProcess VnOrtProcess;

/* What folders for it are called; digits follow. */
#define VN_ORT_FOLDER "vernier-"

VnOrtProcess *vn_ort_process_new     (const char           *folder,
                                      guint                 n_channels,
                                      GError              **error);
VnOrtProcess *vn_ort_process_ref     (VnOrtProcess         *self);
void          vn_ort_process_unref   (VnOrtProcess         *self);
void          vn_ort_process_remove_folder (const char     *folder);
gboolean      vn_ort_process_has_ended (VnOrtProcess       *self);

/* What is told of an answer while its tensors are still there. */
typedef gboolean (*VnOrtAnswerFunc)  (const VnOrtMessage   *reply,
                                      const guint8         *shared,
                                      gpointer              data,
                                      GError              **error);

gboolean      vn_ort_process_ask     (VnOrtProcess         *self,
                                      VnOrtMessage         *request,
                                      VnTensor * const     *tensors,
                                      guint                 n_tensors,
                                      VnOrtAnswerFunc       func,
                                      gpointer              data,
                                      GCancellable         *cancellable,
                                      GError              **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnOrtProcess, vn_ort_process_unref)

G_END_DECLS
