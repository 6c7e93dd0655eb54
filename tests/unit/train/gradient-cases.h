/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One node for each thing that a gradient has to get right. */
#pragma once

#include <glib.h>

/**
 * GradientCase:
 * @type: of ai.onnx, or “domain:type”
 * @inputs: as of op_tensor_from_text(); without numbers: random ones from @low to @high, all different
 * @low, @high: both 0: -2 to 2
 * @n_outputs: 0: 1
 * @silent: bit i: the loss does not depend on output i
 * @narrow: the kernel computes in float32 for all types
 */
typedef struct
{
  const char *type;
  gint64      opset;
  const char *attributes;
  const char *inputs;
  double      low, high;
  guint       n_outputs;
  guint       silent;
  gboolean    narrow;
} GradientCase;

const GradientCase *gradient_cases (guint *n);
