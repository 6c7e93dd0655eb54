/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The job that quantizes, and tries what lowers the error. */
#pragma once

#include "vn-jobs.h"

G_BEGIN_DECLS

/**
 * VnImproveSettings:
 * @quantize: where it starts; samples must be there, and be compared
 * @seconds: when all is to end: steps are begun and ended by that
 * @accuracy_first: however slow the export gets in ONNX Runtime by it: otherwise at most
 *   1.25 times as slow as without any step, and half of what is computed on integers then must still be. In any case a quarter of
 *   the size, or a fifth of the time, of the float network must be won, or half of what is won without any step where that is
 *   less
 * @plain: (nullable): what a run with @quantize has given before: it is not run again
 */
typedef struct
{
  VnQuantizeSettings quantize;
  double             seconds;
  gboolean           accuracy_first;
  VnRun             *plain;
} VnImproveSettings;

#define VN_IMPROVE_SECONDS 60
#define VN_NOTE_CODE_AUTO "auto"    /* of the notes that tell what was tried */

/**
 * VnImproveOutcome:
 * @VN_IMPROVE_KEPT: it lowers the error by more than chance may
 * @VN_IMPROVE_NO_GAIN: it does not
 * @VN_IMPROVE_TOO_SLOW: it may, but the export would take too long in ONNX Runtime
 * @VN_IMPROVE_TOO_FLOAT: it may, but too little would be computed on integers there
 * @VN_IMPROVE_TOO_WIDE: it may, but too much would be multiplied with 16 bit
 * @VN_IMPROVE_TOO_LITTLE: it may, but the export would win next to nothing of the float network's size or time
 * @VN_IMPROVE_IMPOSSIBLE: the network does not allow it
 * @VN_IMPROVE_NO_TIME: not tried
 * @VN_IMPROVE_CUT: not tried to its end
 * @VN_IMPROVE_REMADE: no choice: what all that was kept comes to when it is made from all samples
 * @VN_IMPROVE_GIVEN_UP: it did lower the error when it was tried, but the result has not got it, or is the same without it
 */
typedef enum
{
  VN_IMPROVE_KEPT, VN_IMPROVE_NO_GAIN, VN_IMPROVE_TOO_SLOW, VN_IMPROVE_TOO_FLOAT, VN_IMPROVE_TOO_WIDE, VN_IMPROVE_TOO_LITTLE,
  VN_IMPROVE_IMPOSSIBLE,
  VN_IMPROVE_NO_TIME, VN_IMPROVE_CUT, VN_IMPROVE_REMADE, VN_IMPROVE_GIVEN_UP
} VnImproveOutcome;

/**
 * VnImproveTry: what a step came to.
 * @title: N_(), of vn-improve-steps.def
 * @before_db, @after_db: signal to noise of the outputs of the samples that steps are judged by; NaN: not measured
 * @before_ratio, @after_ratio: time of the export in ONNX Runtime beside the float network's; NaN: not known
 * @before_share, @after_share: of multiplications that are done on integers there, 0 to 1; NaN: not known
 * @before_wide, @after_wide: of multiplications whose activations have 16 bit, on targets with such kernels; else NaN
 * @bytes: how much weights and constants grow by it
 * @size: of weights and constants with it, beside those of the float network; NaN: not known
 * @reason: (nullable): why it cannot be done
 */
typedef struct
{
  const char       *title;
  VnImproveOutcome  outcome;
  double            before_db, after_db, before_ratio, after_ratio, before_share, after_share, before_wide, after_wide;
  gint64            bytes;
  double            size;
  char             *reason;
} VnImproveTry;

gboolean  vn_improve_try_is_kept     (const VnImproveTry     *self);       /* the result has it */
char     *vn_improve_try_dup_outcome (const VnImproveTry     *self);
char     *vn_improve_try_dup_text    (const VnImproveTry     *self);       /* with what was tried */

VnJob    *vn_improve_job_new        (const VnImproveSettings *settings);
GPtrArray *vn_improve_job_get_tries (VnJob                   *job);        /* of VnImproveTry, borrowed; after success */
VnRun    *vn_improve_job_get_result (VnJob                   *job);        /* borrowed; after success */

G_END_DECLS
