/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-graph-edit.h"
#include "vn-infer.h"
#include "vn-op.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/**
 * VnPrepareOptions: what preparation does beyond its default. All zero: what vn_prepare_model() does.
 * @target_opset: raised to this; 0: left
 * @input_shapes: (nullable): as vn_model_infer_types()
 * @passes: (nullable): ids of passes that run on request only, or that @skip_optimization would leave out
 * @optimize: passes that optimize run as well, until nothing changes any more
 * @keep: (nullable): names of values that passes must not take away
 * @skip_optimization: only the opset is raised, nodes are sorted and types inferred, beside @passes
 * @auto_merge: two open sizes that must be the same are taken for one, instead of a new open size
 * @guess_rank: the outputs of operators that are not known get the rank of their first input
 * @unnamed_sizes: open sizes that are found are written without what they depend on
 * @int_max: an end of Slice from here on means “to the end”; 0: 2^31 - 1
 */
typedef struct
{
  gint64              target_opset;
  GHashTable         *input_shapes;
  const char * const *passes;
  gboolean            optimize;
  const char * const *keep;
  gboolean            skip_optimization;
  gboolean            auto_merge;
  gboolean            guess_rank;
  gboolean            unnamed_sizes;
  gint64              int_max;
} VnPrepareOptions;

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
  const VnPrepareOptions *options;   /* nullable */
  /*< private >*/
  gsize         n_folded;       /* bytes that constants have which were computed from others */
} VnPassContext;

/**
 * VnPassStage: when a pass runs.
 * @VN_PASS_ALWAYS: in every preparation
 * @VN_PASS_OPTIMIZE: with VnPrepareOptions.optimize
 * @VN_PASS_REQUEST: when its id is in VnPrepareOptions.passes
 */
typedef enum
{
  VN_PASS_ALWAYS,
  VN_PASS_OPTIMIZE,
  VN_PASS_REQUEST,
} VnPassStage;

/**
 * VnPass: one float-to-float rewrite, in an pass-*.c file, named in vn-passes.def in the order they run.
 * @id: "fold-bn"
 * @exact: outputs keep their bits (otherwise within 1e-5 of their range)
 * @alters: the network computes something else, or takes its inputs otherwise; on request only
 * @repeats: optimizing runs it until nothing changes any more
 */
typedef struct
{
  const char *id;
  const char *title;      /* N_() */
  const char *summary;    /* N_(), one sentence */
  VnPassStage stage;
  gboolean    exact;
  gboolean    alters;
  gboolean    repeats;
  gboolean  (*run) (VnPassContext *ctx, GError **error);
} VnPass;

const VnPass * const *vn_pass_list   (guint            *n);
const VnPass         *vn_pass_find   (const char       *id);
gboolean              vn_graph_computes_in (const VnGraph *graph,
                                            VnDType     dtype);    /* pass-fp16.c */
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
VnModel              *vn_prepare_model_with (const VnModel          *model,
                                             const VnPrepareOptions *options,
                                             VnEditLog              *log,          /* nullable */
                                             VnNotes                *notes,        /* nullable */
                                             GCancellable           *cancellable,
                                             GError                **error);

/* vn-share-transposed.c */
VnModel              *vn_model_share_transposed (VnModel            *model);
gboolean              vn_matrices_are_transposed (const VnTensor    *a,
                                                  const VnTensor    *b);

G_END_DECLS
