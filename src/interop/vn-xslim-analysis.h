/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the analysis of XQuant and XSlim tells, and in which order. */

#include "vn-error-table.h"
#include "vn-quantize.h"

G_BEGIN_DECLS

#define VN_XSLIM_N_COUNTS 32

/**
 * VnXslimRow: a constant, or a result of an operator.
 * @op: "label[type]"; @var: name of the tensor, of a constant with "[Constant]" behind it
 * @noise_to_signal: over all elements of all samples: XSlim calls it SNR, less is better
 * @is_marked: noise:signal above 0.1 or cosine below 0.99: red there
 * @counts: over the float range, of the calibration; only if @has_counts
 */
typedef struct
{
  char     *op, *var;
  double    noise_to_signal, mse, cosine;
  double    float_min, float_max, quantized_min, quantized_max;
  gboolean  is_marked, has_counts;
  gint64    counts[VN_XSLIM_N_COUNTS];
} VnXslimRow;

GPtrArray *vn_xslim_list_rows (const VnModel *prepared,
                               VnErrorTable  *errors,
                               VnQuantPlan   *plan,
                               VnStats       *stats);

G_END_DECLS
