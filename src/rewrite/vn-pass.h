/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-graph-edit.h"
#include "vn-op.h"
#include "vn-param.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/**
 * VnPassContext: what a pass may use besides the model. Passes change @model in place (it is a copy made by the
 * caller), through vn-graph-edit.h, and write to the log.
 */
typedef struct
{
  VnModel      *model;
  VnEditLog    *log;
  VnNotes      *notes;
  GCancellable *cancellable;
  gint64        target_opset;   /* for the pass "opset"; 0: leave */
  GHashTable   *input_shapes;   /* nullable, as vn_model_infer_types(): sizes of inputs that the model leaves open */
} VnPassContext;

/**
 * VnPass: one float-to-float rewrite, in an pass-*.c file, named in vn-passes.def in the order they run.
 * @id: "fold-bn"
 * @exact: outputs keep their bits (otherwise within 1e-5 of their range)
 */
typedef struct
{
  const char *id;
  const char *title;      /* N_() */
  const char *summary;    /* N_(), one sentence */
  gboolean    exact;
  gboolean  (*run) (VnPassContext *ctx, GError **error);
} VnPass;

const VnPass * const *vn_pass_list   (guint            *n);
const VnPass         *vn_pass_find   (const char       *id);
gboolean              vn_pass_run    (const char       *id,
                                      VnPassContext    *ctx,
                                      GError          **error);   /* run, validate, prefix errors with the id */

/**
 * vn_prepare_model:
 *
 * What happens to a model before it is quantized: fp16 to fp32, opset raised to @target_opset if it is older,
 * Constant nodes to initializers, constants folded, Identity and Dropout removed, BatchNormalization folded into
 * Conv/ConvTranspose/Gemm, dead code dropped, types inferred.
 *
 * Returns: (transfer full): a changed copy; names of values and nodes that survive are kept
 */
VnModel              *vn_prepare_model (const VnModel  *model,
                                        gint64          target_opset,
                                        GHashTable     *input_shapes,  /* nullable, as vn_model_infer_types() */
                                        VnEditLog      *log,           /* nullable */
                                        VnNotes        *notes,         /* nullable */
                                        GCancellable   *cancellable,
                                        GError        **error);

G_END_DECLS
