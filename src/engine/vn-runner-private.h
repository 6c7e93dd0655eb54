/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-plan-blocks.h"
#include "vn-plan-private.h"

G_BEGIN_DECLS

/**
 * VnStart: where a run starts from, if not from the inputs of the network.
 * @tensors: by value id: what is taken instead of computing it; %NULL: nothing
 * @changed: by value id: whether it is, or depends on, a value that is given anew
 * @runs: by step: whether it is run
 * @next: what is computed is told, and then what is known takes its place
 */
typedef struct
{
  VnTensor **tensors;
  gboolean  *changed, *runs;
  gboolean   next;
} VnStart;

typedef struct
{
  guint     id;
  VnTensor *tensor;
} VnDisplaced;

/**
 * VnRunner:
 * @bodies: by step, then by graph of the step: runners of the graphs inside it; NULL where there is none
 * @cancellable: during a run
 * @tensors: by value id: constants and arena tensors for good, inputs and heap tensors during a run
 * @outputs: (nullable): during a run: who wants its outputs
 * @next_step: during a run: the one that comes next
 * @start: (nullable): during a run: where it starts from
 * @displaced: of VnDisplaced: what stood in @tensors for good, to be put back when the run ends
 * @growth: during a run: bytes that values may have whose sizes show only then
 * @grown: by value id: how many of them each has during a run
 * @n_grown: their sum
 * @round, @own_round: during a run: which of the runs of graphs inside nodes is under way, kept in one place for all of them
 * @driven: from vn_runner_begin() to vn_runner_end(): this runner or its variant
 * @ends_tap: (nullable): of values that are told by their ends
 * @ends, @n_ends: room for those of one value; @finds_ends: the step that runs tells them
 * @told: 1 + the value id that was just told by its ends; 0: none
 * @skips: by step: during a run: another one has done its work
 * @in, @out, @in_types, @out_types: work space for the context of one step
 */
struct _VnRunner
{
  VnPlan        *plan;
  char          *arena;
  gpointer       scratch;
  gsize          scratch_size;
  VnTensor     **tensors;
  VnTensor     **in, **out;
  VnTensorType  *in_types, *out_types;
  guint          n_threads;
  VnTapFunc      tap;
  VnBlocksTapFunc blocks_tap;
  gpointer       tap_data;
  VnEndsTapFunc  ends_tap;
  VnOpEnds       ends;
  gsize          n_ends;
  gboolean       finds_ends;
  guint          told;
  gboolean      *skips;
  gint64        *step_usec;
  VnRunner    ***bodies;
  GCancellable  *cancellable;
  VnTensor     **outputs;
  guint          next_step;
  const VnStart *start;
  GArray        *displaced;
  gsize          growth, n_grown;
  gsize         *grown;
  guint64       *round, own_round;
  VnRunner      *driven;
  VnRunner      *variant;      /* for a sample of other sizes; NULL before the first */
};

gboolean vn_runner_run_step         (VnRunner          *self,
                                     const VnStep      *step,
                                     const VnOpBodies  *bodies,
                                     GError           **error);
gboolean vn_runner_wants_ends       (const VnRunner    *self,
                                     const VnStep      *step);
gboolean vn_runner_run_for_ends     (VnRunner          *self,
                                     const VnStep      *step,
                                     const VnOpBodies  *bodies,
                                     GError           **error);
gboolean vn_runner_reserve_scratch  (VnRunner          *self,
                                     gsize              size,
                                     GError           **error);
void     vn_runner_displace         (VnRunner          *self,
                                     guint              id,
                                     VnTensor          *tensor);
void     vn_runner_clear_run        (VnRunner          *self);
VnRunner *vn_runner_for_inputs      (VnRunner          *self,
                                     VnTensor * const  *inputs,
                                     GError           **error);
gboolean vn_runner_check_given      (const VnValue     *value,
                                     const VnTensorType *type,
                                     const VnTensor    *tensor,
                                     GError           **error);
gboolean vn_runner_run_planned      (VnRunner          *self,
                                     VnTensor * const  *inputs,
                                     const VnStart     *start,
                                     VnTensor         **outputs,
                                     GCancellable      *cancellable,
                                     GError           **error);

G_END_DECLS
