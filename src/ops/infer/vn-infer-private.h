/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What shape inference keeps during one run over a model. */

#include "vn-infer.h"
#include "vn-op-kernel.h"

G_BEGIN_DECLS

/* Larger values are weights, not sizes. */
#define VN_INFER_MAX_ELEMENTS 1024

VnTensor *vn_infer_to_numbers   (VnDims            *dims,
                                 const VnTensor    *tensor);
VnTensor *vn_infer_from_numbers (VnDims            *dims,
                                 const VnTensor    *numbers,
                                 VnDType            dtype);
void      vn_infer_numbers      (const VnOpContext *ctx,
                                 VnTensor         **out);

/* One run over a model. */
typedef struct
{
  VnModel    *model;
  VnNotes    *notes;     /* nullable */
  GHashTable *known;     /* VnValue -> VnTensor: computed here; constants of the model are not in it */
  GHashTable *numbers;   /* VnValue -> VnTensor: of what is known in part, see VnOpNumbers */
  VnDims     *dims;
  GHashTable *symbols;   /* name of a dim -> gint64, where the caller gave its size */
  const VnInferOptions *options;
} VnInfer;

/* ---- vn-infer-assume.c ---- */

void vn_infer_merge_dims  (const VnOpContext *ctx);
void vn_infer_guess_types (VnInfer           *self,
                           VnNode            *node);

/* The elements of @value if they are known; (transfer none). */
VnTensor *vn_infer_get_known (VnInfer *self,
                              VnValue *value);

/* Gives open sizes of @value a name. */
void vn_infer_name_dims (VnInfer *self,
                         VnValue *value);

/* What is known of the type of @value; open sizes have names. */
VnTensorType vn_infer_get_type (VnInfer *self,
                                VnValue *value);

/* Takes what was found, and for each dim the declaration where that says more. */
void vn_infer_set_type (VnInfer      *self,
                        VnValue      *value,
                        VnTensorType  found);

/* Takes elements; the type follows. */
void vn_infer_set_known (VnInfer  *self,
                         VnValue  *value,
                         VnTensor *tensor);

/* Takes numbers, which may turn out to be plain ones. */
void vn_infer_set_numbers (VnInfer            *self,
                           VnValue            *value,
                           const VnTensorType *type,
                           VnTensor           *numbers);

/* Types the outputs of @node, and computes them if they are small and known. */
gboolean vn_infer_node (VnInfer     *self,
                        const VnOp  *op,
                        VnNode      *node,
                        GError     **error);

G_END_DECLS
