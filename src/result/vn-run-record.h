/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What stays of a run when its networks are gone: what files keep, and what runs are compared by. */

#include "vn-result.h"

G_BEGIN_DECLS

/**
 * VnRunNode: a node of the model as opened, and the values that stand for its result; see VnIdentity.
 */
typedef struct
{
  char *label, *op_type;
  char *source, *prepared, *rounded;    /* nullable; the row of @rounded in the errors speaks for the node */
} VnRunNode;

/**
 * VnRunRecord: all that a run found but networks and statistics. Immutable.
 * @program: version of the program that ran
 * @time: when the run ended, in seconds since 1970
 * @model: (nullable): path of the model, as opened
 * @n_nodes, @opset: of that
 * @source_digest, @prepared_digest, @samples_digest: as VnResult has them; nullable
 * @recipe_digest: vn_recipe_dup_digest()
 * @nodes: (element-type VnRunNode): in the order of the model
 * @value_names: names of values, prepared → quantized
 * @n_quantized: tensors that are quantized
 * @seconds: that the run took
 * @plan: (nullable): its activations, each with its first scale and zero point, and what a processor shifts
 * @diagnosis: (nullable): without recipes of trials
 * @forecast: (nullable): its nodes
 * @steps, @curve, @spreads: (nullable): as VnResult has them
 */
typedef struct _VnRunRecord
{
  char          *program;
  gint64         time;
  char          *model;
  guint          n_nodes;
  gint64         opset;
  char          *source_digest, *prepared_digest, *samples_digest, *recipe_digest;
  VnDataSpec    *data;         /* nullable */
  VnRecipe      *recipe;
  VnRunSettings  run;
  VnErrorTable  *errors;       /* nullable: not measured */
  VnContributions *contributions;   /* nullable: not measured */
  VnVerification *verification;     /* nullable: not run in ONNX Runtime */
  VnQuantPlan    *plan;
  VnDiagnosis    *diagnosis;
  VnRuntimeForecast *forecast;
  GPtrArray      *steps, *spreads;
  VnCurve        *curve;
  VnAccuracy     accuracy;
  VnNotes       *notes;
  guint64        float_bytes, quantized_bytes;
  guint          n_calibration, n_held_out, n_quantized;
  gboolean       left_out;     /* as of VnResult */
  double         seconds;
  GPtrArray     *nodes;
  GHashTable    *value_names;
  /*< private >*/
  gatomicrefcount ref;
} VnRunRecord;

VnRunRecord *vn_run_record_new       (VnResult    *result);
VnRunRecord *vn_run_record_new_empty (void);
VnRunRecord *vn_run_record_ref       (VnRunRecord *self);
void         vn_run_record_unref     (VnRunRecord *self);
void         vn_run_node_free        (VnRunNode   *self);
VnResult    *vn_run_record_restore   (VnRunRecord *self,
                                      VnModel     *model,
                                      GError     **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnRunRecord, vn_run_record_unref)

G_END_DECLS
