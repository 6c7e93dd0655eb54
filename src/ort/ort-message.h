/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What we and the process that runs libonnxruntime tell each other: a message over a socket, tensors in memory that both see. */
#pragma once

#include "vn-tensor.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/**
 * VnOrtRequest:
 * @VN_ORT_SETUP: opens the library. Text: VnOrtWords. Reply: text: its version
 * @VN_ORT_OPEN: makes a part ready. Text: file of its model. Reply: a tensor without data for each output, with the type that it
 *   will have as far as that is known: dims may be negative, a rank %VN_RANK_UNKNOWN
 * @VN_ORT_RUN: tensors: the inputs of a part. Reply: its outputs
 * @VN_ORT_CLOSE: frees a part
 */
typedef enum { VN_ORT_SETUP, VN_ORT_OPEN, VN_ORT_RUN, VN_ORT_CLOSE, VN_ORT_N_REQUESTS } VnOrtRequest;

/* Lines of the text of %VN_ORT_SETUP; those that are not wanted are empty. */
enum { VN_ORT_WORD_PROVIDER, VN_ORT_WORD_CUSTOM_OPS, VN_ORT_WORD_EP_LIBRARY, VN_ORT_WORD_EP_OPTIONS, VN_ORT_N_WORDS };

/* Parts the options of a provider on their line. */
#define VN_ORT_BETWEEN_OPTIONS "\t"

/* Of a tensor: where in the shared memory its data are. */
typedef struct
{
  gint32  dtype, rank;
  gint64  dims[VN_MAX_RANK];
  guint64 offset, n_bytes;
} VnOrtPlace;

/**
 * VnOrtMessage:
 * @kind: a VnOrtRequest; of a reply: 0: done, 1: not done, and @text says why
 * @part: number of the part that it is about
 * @shared_size: bytes of the shared memory
 * @places: (array length=n_places): of the tensors
 */
typedef struct
{
  guint32     kind;
  guint64     part;
  guint64     shared_size;
  guint32     n_places;
  VnOrtPlace *places;
  char       *text;
} VnOrtMessage;

/* Memory that two processes see; each has a map of its own. */
typedef struct
{
  int     fd;
  guint8 *data;
  gsize   size;
} VnOrtShared;

void      vn_ort_message_clear   (VnOrtMessage        *self);
void      vn_ort_message_look_often (int               fd);
gboolean  vn_ort_message_send    (const VnOrtMessage  *self,
                                  int                  fd,
                                  GError             **error);
gboolean  vn_ort_message_receive (VnOrtMessage        *self,
                                  int                  fd,
                                  gint64               until,
                                  GCancellable        *cancellable,
                                  GError             **error);

gboolean  vn_ort_place_set       (VnOrtPlace          *self,
                                  VnDType              dtype,
                                  const VnShape       *shape,
                                  gsize               *end,
                                  GError             **error);
gboolean  vn_ort_place_check     (const VnOrtPlace    *self,
                                  gsize                size,
                                  VnShape             *shape,
                                  GError             **error);

gboolean  vn_ort_shared_map      (VnOrtShared         *self,
                                  gsize                size,
                                  GError             **error);
gboolean  vn_ort_shared_grow     (VnOrtShared         *self,
                                  gsize                size,
                                  GError             **error);
void      vn_ort_shared_clear    (VnOrtShared         *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (VnOrtMessage, vn_ort_message_clear)

G_END_DECLS
