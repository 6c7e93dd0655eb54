/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What choices are predicted to come to, corrected by those that were measured. */
#pragma once

#include "curve-choices.h"

G_BEGIN_DECLS

/**
 * VnCurveFit: choices that were measured.
 */
typedef struct _VnCurveFit VnCurveFit;

VnCurveFit *vn_curve_fit_new       (void);
void        vn_curve_fit_free      (VnCurveFit        *self);
void        vn_curve_fit_add       (VnCurveFit        *self,
                                    const VnCurveSums *sums,
                                    double             measured_db);
guint       vn_curve_fit_choose    (VnCurveFit        *self);
double      vn_curve_fit_predict   (const VnCurveFit  *self,
                                    const VnCurveSums *sums);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnCurveFit, vn_curve_fit_free)

G_END_DECLS
