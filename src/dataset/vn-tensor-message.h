/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Tensors, one behind another, in a stream of bytes: what the user's Python answers, and samples on standard input.
 *
 * A message: "VNS1", kind, element type (as in TensorProto), rank, 0, bytes of payload (uint64), rank dims (int64), payload. All
 * numbers are little-endian; of a tensor the payload is its elements in C order. */

#include "vn-tensor.h"

G_BEGIN_DECLS

#define VN_TENSOR_MESSAGE_MAGIC "VNS1"
#define VN_TENSOR_MESSAGE_HEAD  16u     /* bytes in front of the dims */
#define VN_TENSOR_MESSAGE_TENSOR 'T'

/* What stands in front of the payload. */
typedef struct
{
  char    kind;
  guint8  dtype;
  guint8  rank;                  /* may be more than VN_MAX_RANK: of such a message nothing more can be read */
  guint64 n_bytes;
  gint64  dims[VN_MAX_RANK];
} VnTensorMessage;

gboolean vn_tensor_message_read_head  (VnTensorMessage    *self,
                                const guint8  head[VN_TENSOR_MESSAGE_HEAD]);
void     vn_tensor_message_read_dims  (VnTensorMessage    *self,
                                const guint8 *bytes);
gboolean vn_tensor_message_get_tensor (const VnTensorMessage *self,
                                VnDType      *dtype,
                                VnShape      *shape);

G_END_DECLS
