/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-op.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/**
 * VnPlan: how a network is run: sorted, constants folded, clamps fused where nobody looks at the value between,
 * lifetimes known, weights prepared. Immutable; used by any number of VnRunner at once.
 */
typedef struct _VnPlan VnPlan;

/**
 * VnPlanOptions:
 * @input_shapes: (nullable): by input name, VnShape*: sizes for dims the model leaves open (a missing one becomes 1)
 * @taps: (nullable): of VnValue, also of graphs inside nodes: values the caller wants to see; they are never fused away.
 *   Values inside a Loop or Scan are told in each of its rounds, those of a branch of If when it is taken
 * @outputs: (nullable): of VnValue: compute only what these need; NULL: all graph outputs
 * @no_fusion: keep every value as the graph has it
 * @skip_unsupported: leave out outputs and taps that depend on nodes without kernel, which the notes list
 * @ends: with @skip_unsupported: where no output of floats can be computed, what the nodes that cannot be run read stands for
 *   them: vn_graph_list_compared()
 * @can_restart: runs may start from taps, with vn_runner_run_from(); a little slower
 * @own_engine: the backend of the model runs only what there is no kernel for here, whatever else it takes
 * @most_weights: bytes that may be kept of constants in other forms than the model has them: computed from others, or packed for
 *   operators. What goes beyond is made in each run, with the same bits. 0: no limit
 */
typedef struct
{
  GHashTable *input_shapes;
  GPtrArray  *taps;
  GPtrArray  *outputs;
  gboolean    no_fusion;
  gboolean    skip_unsupported;
  gboolean    ends;
  gboolean    can_restart;
  gboolean    own_engine;
  gsize       most_weights;
} VnPlanOptions;

VnPlanOptions vn_plan_options_for_samples (GHashTable    *first);      /* nullable */
VnPlan   *vn_plan_new            (VnModel              *model,
                                  const VnPlanOptions  *options,     /* NULL: defaults */
                                  VnNotes              *notes,       /* nullable */
                                  GError              **error);
VnPlan   *vn_plan_ref            (VnPlan               *self);
void      vn_plan_unref          (VnPlan               *self);
VnModel  *vn_plan_get_model      (VnPlan               *self);       /* borrowed */
guint     vn_plan_get_n_inputs   (VnPlan               *self);       /* graph inputs that are not initializers */
VnValue  *vn_plan_get_input      (VnPlan               *self,
                                  guint                 i);
const VnTensorType *vn_plan_get_input_type (VnPlan     *self,
                                            guint       i);          /* dtype and static shape expected */
guint     vn_plan_get_n_outputs  (VnPlan               *self);
VnValue  *vn_plan_get_output     (VnPlan               *self,
                                  guint                 i);
gboolean  vn_plan_is_computed    (VnPlan               *self,
                                  const VnValue        *value);      /* of an output or tap: not left out */
gsize     vn_plan_get_arena_size (VnPlan               *self);       /* bytes a runner needs for activations */
guint     vn_plan_get_n_steps    (VnPlan               *self);
const VnNode *vn_plan_get_step_node (VnPlan            *self,
                                     guint              i);

/**
 * VnDerived: a tapped float32 value whose elements are those of another one, in another order or clamped.
 * @source: tap it follows from, or -1
 * @min, @max: each element is min (max (x, @min), @max); NaN stays. -INFINITY, INFINITY: only the order may differ
 * @moved: the order, or the shape, does differ
 */
typedef struct
{
  int      source;
  float    min, max;
  gboolean moved;
} VnDerived;

VnDerived *vn_plan_derive_taps   (VnPlan               *self);       /* one per tap */
GPtrArray *vn_plan_list_sources  (VnPlan               *self,        /* of GArray of guint: by tap: those it is computed from */
                                  VnTensor * const     *inputs,
                                  GError              **error);

/* For VnPlanOptions.most_weights, of plans that are there at the same time. */
gsize     vn_plan_share_weights  (const VnModel        *model,
                                  guint                 n_plans);

/* How many samples at a time, and threads in each. */
guint     vn_plan_share_threads  (VnPlan * const       *plans,
                                  guint                 n_plans,
                                  gsize                 more,
                                  guint                 n_threads,
                                  guint                 n_items,
                                  guint                *n_inside);

/**
 * VnTapFunc: called from inside a run for every tapped value, right after it was computed, while it is in the cache.
 * Constant values are not reported. @tensor is valid during the call only.
 */
typedef void (*VnTapFunc) (const VnValue  *value,
                           guint           tap,       /* index into VnPlanOptions.taps */
                           const VnTensor *tensor,
                           gpointer        data);

/**
 * VnRunner: memory to run a plan once at a time: one per thread.
 */
typedef struct _VnRunner VnRunner;

VnRunner *vn_runner_new          (VnPlan               *plan,
                                  GError              **error);
void      vn_runner_free         (VnRunner             *self);
void      vn_runner_set_threads  (VnRunner             *self,
                                  guint                 n_threads);  /* inside one run; default 1 */
void      vn_runner_set_tap      (VnRunner             *self,
                                  VnTapFunc             func,
                                  gpointer              data);
void      vn_runner_set_timing   (VnRunner             *self,
                                  gint64               *step_usec);  /* n_steps counters to add to, or NULL */

/* @inputs in the order of vn_plan_get_input(). @outputs: n_outputs pointers that become owned tensors
 * (never arena memory); NULL: not wanted. */
gboolean  vn_runner_run          (VnRunner             *self,
                                  VnTensor * const     *inputs,
                                  VnTensor            **outputs,
                                  GCancellable         *cancellable,
                                  GError              **error);

/**
 * VnTapValue: what a value is in a run, instead of what the network computes.
 * @tap: the value: index into VnPlanOptions.taps
 */
typedef struct
{
  guint     tap;
  VnTensor *tensor;
} VnTapValue;

/* Only what lies downstream of given values; @known: one tensor per tap, of an earlier run, or NULL. */
gboolean  vn_runner_run_from     (VnRunner             *self,
                                  VnTensor * const     *inputs,
                                  VnTensor * const     *known,
                                  const VnTapValue     *given,
                                  guint                 n_given,
                                  VnTensor            **outputs,
                                  GCancellable         *cancellable,
                                  GError              **error);

/* Only as far as the taps that come next. */
gboolean  vn_runner_run_next     (VnRunner             *self,
                                  VnTensor * const     *inputs,
                                  VnTensor * const     *known,
                                  const VnTapValue     *given,
                                  GCancellable         *cancellable,
                                  GError              **error);

/* Only what some taps need. */
gboolean  vn_runner_run_taps     (VnRunner             *self,
                                  VnTensor * const     *inputs,
                                  VnTensor * const     *known,
                                  const guint          *wanted,
                                  guint                 n_wanted,
                                  VnTensor            **outputs,
                                  GCancellable         *cancellable,
                                  GError              **error);

/* A whole run a step at a time, without outputs: what is wanted of it are its taps. */
gboolean  vn_runner_begin        (VnRunner             *self,
                                  VnTensor * const     *inputs,
                                  GCancellable         *cancellable,
                                  GError              **error);
gboolean  vn_runner_is_done      (VnRunner             *self);
const VnNode *vn_runner_get_next (VnRunner             *self);
gboolean  vn_runner_advance      (VnRunner             *self,
                                  GError              **error);
void      vn_runner_end          (VnRunner             *self);
guint64   vn_runner_get_round    (VnRunner             *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnPlan, vn_plan_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnRunner, vn_runner_free)

G_END_DECLS
