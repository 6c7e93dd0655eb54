/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Tables of operator cases in text: "f32[2,2]=1,2,3,nan" is a tensor, "-" an omitted input, a list is separated by
 * spaces. */

#include "op-call.h"

typedef struct
{
  const char *type;       /* of ai.onnx, or “domain:type” */
  gint64      opset;
  const char *attributes;
  const char *inputs;
  const char *outputs;    /* tensors; or, after "!", a part of the error that must come */
} OpTextCase;

VnTensorType op_type_from_text (const char *text);
VnTensor  *op_tensor_from_text (const char *text);
GPtrArray *op_tensors_from_text (const char *text);
char      *op_tensor_to_text   (const VnTensor *tensor);
void       op_run_text_cases   (const OpTextCase *cases,
                                gsize             n,
                                double            tolerance);
