/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-headline.h"
#include "vn-run.h"

G_BEGIN_DECLS

/**
 * VnRunFigures: the figures of a run, which lists, comparing, the head of a report and the verdict print. A value: it borrows
 * nothing. What is not known is NaN, and 0 of a size or a count.
 * @float_bytes, @quantized_bytes: of the files as written
 * @n_samples: that errors were measured on
 * @n_tensors: whose errors were measured
 * @n_bad: of these, outputs of nodes with a bad signal to noise ratio
 * @incomplete: some nodes cannot be run; the last tensors before them count as outputs
 * @mean_db: vn_error_table_get_mean()
 * @outputs_db: vn_error_table_get_outputs_sqnr()
 * @worst_db: signal to noise of the worst output, or of the worst part of it, in ONNX Runtime where that has another one
 * @margin_db: more samples may move @worst_db by that
 * @float_accuracy, @accuracy: share of labeled samples that the float and the quantized network get right, 0 to 1
 * @agreement: share of labeled samples with the same answer, or else of the answers of the float network that are kept, 0 to 1
 * @runtime: in ONNX Runtime, and which of it was measured
 *
 * To add a figure: a field here, which vn_run_figures_init() calculates; if projects are to keep it, a line of the table in
 * `src/project/vn-project-runs.c`, which may be missing in their files, and one in `data/help/vernier-project.md`.
 */
typedef struct
{
  guint64          float_bytes, quantized_bytes;
  guint            n_samples, n_tensors, n_bad;
  gboolean         incomplete;
  double           mean_db, outputs_db, worst_db, margin_db;
  double           float_accuracy, accuracy, agreement;
  VnRuntimeFigures runtime;
} VnRunFigures;

void              vn_run_figures_init      (VnRunFigures *self,
                                            const VnRun  *run);        /* nullable: nothing is known */
void              vn_run_get_headline      (const VnRun  *self,
                                            VnHeadline   *headline);
const VnErrorRow *vn_run_find_worst_output (const VnRun  *self,
                                            double       *shift_db);   /* NULL: none was compared */

G_END_DECLS
