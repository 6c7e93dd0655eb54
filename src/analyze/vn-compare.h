/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Comparing a quantized network with its float original, tensor by tensor. */

#include "vn-dataset.h"
#include "vn-error-table.h"
#include "vn-plan.h"
#include "vn-progress.h"
#include "vn-quantize.h"
#include "vn-value-grid.h"

G_BEGIN_DECLS

/**
 * VnCompareFold: a network quantized as another one is, but with other samples to calibrate on.
 * @value_names, @plan: as of VnCompareOptions
 * @samples: (array length=n_samples): those it was not calibrated with
 */
typedef struct
{
  VnModel     *model;
  GHashTable  *value_names;
  VnQuantPlan *plan;
  const guint *samples;
  guint        n_samples;
} VnCompareFold;

/**
 * VnCompareOptions:
 * @folds: (array length=n_folds) (nullable): others that are quantized in the same way: each is measured on its own samples, and
 *   what is told is that of all samples together
 * @answers: (nullable) (element-type VnSampleAnswer): gets both answers to each sample: vn_evaluate_accuracy() alone
 */
typedef struct
{
  GHashTable  *value_names;  /* nullable: name in the float model -> name in the quantized one; others match by name */
  VnQuantPlan *plan;         /* nullable: tells the grids of tensors that are integers in the quantized network */
  const guint *samples;
  guint        n_samples;
  guint        n_threads;    /* 0: all processors */
  gboolean     outputs_only;
  gboolean     bodies;       /* also the tensors of graphs inside nodes */
  gboolean     local;        /* also what each pair of quantization and dequantization does */
  const char  *task;         /* nullable: what the user says of the task, as of vn_task_get_id() */
  VnParts     *parts;        /* nullable: of the float network: vn_find_parts() */
  const VnCompareFold *folds;
  guint        n_folds;
  GPtrArray   *answers;
} VnCompareOptions;

/* Cumulative error: both networks run on the same samples, the same tensors are compared. Never stores activations
 * of more than the samples in flight. */
VnErrorTable     *vn_compare              (VnModel                 *float_model,
                                           VnModel                 *quant_model,
                                           GHashTable              *input_shapes,
                                           VnDataset               *dataset,
                                           const VnCompareOptions  *options,
                                           const VnProgress        *progress,
                                           VnNotes                 *notes,
                                           GCancellable            *cancellable,
                                           GError                 **error);

/* The weights of both, without running them. */
guint             vn_compare_weights      (const VnModel           *float_model,
                                           const VnModel           *prepared,      /* nullable */
                                           const VnModel           *quant_model,
                                           VnErrorTable            *table);

/* One of them, as floats. */
VnTensor         *vn_compare_read_weight  (const VnModel           *reference,
                                           const VnModel           *network,
                                           const char              *name,
                                           VnValueGrid             *grid);         /* nullable */

guint             vn_compare_count_samples (const VnCompareOptions *options);

/* Maps names for a quantized model that came from a file: t -> t's DequantizeLinear output where the quantized model has one. */
GHashTable       *vn_compare_match_names  (const VnModel           *float_model,
                                           const VnModel           *quant_model);

gboolean          vn_evaluate_accuracy    (VnModel                 *float_model,
                                           VnModel                 *quant_model,
                                           GHashTable              *input_shapes,
                                           VnDataset               *dataset,
                                           const VnCompareOptions  *options,
                                           VnAccuracy              *accuracy,
                                           GCancellable            *cancellable,
                                           GError                 **error);

G_END_DECLS
