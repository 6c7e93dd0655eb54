/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What was done to lower the error, and which other choices there are: steps that were tried, and points of a curve. */

#include <glib.h>

G_BEGIN_DECLS

/**
 * VnRunStep: one thing that was tried.
 * @title, @outcome: translated, what it was and what it came to
 * @kept: the network has it
 * @before_db, @after_db: signal to noise of the outputs; NaN: not measured
 */
typedef struct
{
  char     *title, *outcome;
  gboolean  kept;
  double    before_db, after_db;
} VnRunStep;

/**
 * VnCurvePoint: one choice of which tensors get how many bits. What is not known is NaN.
 * @title: translated: what distinguishes it
 * @predicted_db: signal to noise of the outputs, as it was predicted
 * @measured_db: the same, measured
 * @bytes: of the network as written
 * @integer_macs: multiplications that are computed on integers
 * @seconds: predicted for ONNX Runtime, one thread
 * @is_chosen: what the network is
 */
typedef struct
{
  char     *title;
  double    predicted_db, measured_db, bytes, integer_macs, seconds;
  gboolean  is_chosen;
} VnCurvePoint;

GPtrArray    *vn_run_steps_new   (void);    /* of VnRunStep */
void          vn_run_steps_add   (GPtrArray          *steps,
                                  const VnRunStep    *step);
GPtrArray    *vn_curve_new       (void);    /* of VnCurvePoint */
void          vn_curve_add       (GPtrArray          *curve,
                                  const VnCurvePoint *point);

G_END_DECLS
