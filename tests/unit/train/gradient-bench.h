/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs the node of a case forward and back, by itself. */
#pragma once

#include "gradient-cases.h"
#include "op-call.h"

#define GRADIENT_MAX_INPUTS  16
#define GRADIENT_MAX_OUTPUTS 8

/**
 * GradientBench:
 * @factors: the loss is the sum of the results times these; made by the first run
 * @uses_f64: differences are those of float64
 */
typedef struct
{
  const GradientCase *c;
  OpCall              call;
  VnTensor           *inputs[GRADIENT_MAX_INPUTS];
  VnTensor           *factors[GRADIENT_MAX_OUTPUTS];
  gboolean            uses_f64;
} GradientBench;

void     gradient_bench_init     (GradientBench      *self,
                                  const GradientCase *c);
void     gradient_bench_clear    (GradientBench      *self);
gboolean gradient_bench_run_back (GradientBench      *self,
                                  guint               only,
                                  VnTensor          **gradients,
                                  GError            **error);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (GradientBench, gradient_bench_clear)
