/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The error measured on samples that were calibrated with: by networks that were calibrated without them. */
#pragma once

#include "vn-job-input.h"

G_BEGIN_DECLS

/**
 * VnFolds: networks that are quantized as the result is, each calibrated without a part of the samples.
 * @folds: (element-type VnCompareFold): to be measured, each on its part
 */
typedef struct
{
  GArray *folds;
} VnFolds;

guint    vn_folds_count_parts (const VnJobInput *input);
GArray  *vn_job_list_compared (const VnJobInput *self,
                               guint             n_parts);
gboolean vn_folds_make        (VnFolds          *self,
                               const VnJobInput *input,
                               VnStats          *stats,
                               GCancellable     *cancellable,
                               GError          **error);
void     vn_folds_clear       (VnFolds          *self);
VnModel *vn_job_write_measurable (const VnJobInput *input,
                                  VnModel          *written,
                                  VnQuantPlan      *plan,
                                  VnModel          *quantized,     /* nullable */
                                  GHashTable       *value_names,   /* nullable: of it */
                                  GHashTable      **names,
                                  GError          **error);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (VnFolds, vn_folds_clear)

G_END_DECLS
