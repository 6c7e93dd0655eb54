/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a plan, for the passes that make it (vn-plan-passes.h) and the runner that runs it. */
#pragma once

/* What the stages of planning share: the plan's values, steps, bodies and memory. */

#include "vn-plan.h"

G_BEGIN_DECLS

/* Where the memory of a value comes from. */
typedef enum
{
  VN_STORE_NONE,       /* not computed, or not needed */
  VN_STORE_CONSTANT,
  VN_STORE_INPUT,      /* what the caller gave */
  VN_STORE_ARENA,      /* at a fixed place of the runner's arena */
  VN_STORE_HEAP,       /* made in each run: its size is known only then */
} VnStore;

/**
 * VnPlanValue: what the plan knows about one value of the graph; the array is indexed by VnValue.id.
 * @root: id of the value whose memory it shares; its own id if none
 * @first_step, @last_step: the steps that write it and use it last, of all values that share the memory for a root
 * @tap, @output: first index into the plan's taps and outputs, or -1
 * @maker: (nullable): computes @constant, which is hollow: it has no data
 * @makes: @maker of another value reads it
 * @fused: its node was fused into another
 * @n_channels: if they lie in blocks, as taps of a plan with @taps_in_blocks may; else 0
 */
typedef struct
{
  VnValue      *value;
  VnTensorType  type;
  VnTensor     *constant;
  VnStore       store;
  gsize         offset;
  gsize         n_bytes;
  guint         root;
  guint         first_step, last_step;
  guint         n_uses;
  int           tap, output;
  gboolean      needed;
  gboolean      fused;
  gsize         n_channels;
  struct _VnStep *maker;
  gboolean      makes;
} VnPlanValue;

/**
 * VnBody: a graph in an attribute of a node.
 * @plan: its inputs are those of @graph and then the step's captured ones; %NULL if it is not needed or cannot work
 * @error: why it cannot; told when it should be run, for a branch may never be
 */
typedef struct
{
  const VnGraph *graph;
  VnPlan        *plan;
  GError        *error;
} VnBody;

/**
 * VnStep: one node that is run.
 * @index: its place in the plan
 * @n_inputs: with the values of this graph that the graphs inside the node use, behind the @n_own of the node
 * @inputs, @outputs: value ids, -1: omitted or not wanted
 * @dynamic: shapes are inferred again right before running
 * @alias: the output is input 0 with another shape, nothing is run
 * @dying: ids of heap values that nobody needs after this step
 * @has_sum: the last input is not the node's, but the sum of the context
 * @factors, @shifts: those of the context; @shifts is part of the same memory
 * @line, @pads: those of the context
 * @is_order: only the order of the elements changes, for the sake of another step
 * @lazy: its hollow constants are made, and packed, whenever it runs
 * @subnormals: of the context
 * @tells_ends: its output has one tap, lies in blocks, and nothing is fused
 * @clamp: (nullable): with @tells_ends: the step that writes over its output, which nobody else reads, with @clamp_range
 * @n_nodes: of a step that a backend runs, for which it is prepared when it is made: how many it stands for; else 0
 * @own_node: (nullable): @node, where it is none of the graph
 */
typedef struct _VnStep
{
  const VnNode *node;
  const VnOp   *op;
  gint64        opset;
  guint         index;
  guint         n_inputs, n_own, n_outputs;
  int          *inputs, *outputs;
  VnTensorType *in_types, *out_types;
  gsize         scratch_bytes;
  gpointer      prepared;
  VnActivation  activation;
  float        *factors, *shifts, *line;
  gint64       *pads;
  gboolean      dynamic, alias, dead, has_sum, is_order, lazy, tells_ends;
  VnOpSubnormals subnormals;
  const struct _VnStep *clamp;
  VnActivation  clamp_range;
  GArray       *dying;
  GPtrArray    *bodies;        /* of VnBody, or NULL */
  guint         n_nodes;
  VnNode       *own_node;
} VnStep;

/* Graphs may be nested so deep; the reader allows less. */
#define VN_PLAN_MAX_DEPTH 40

struct _VnPlan
{
  gatomicrefcount  ref;
  VnModel         *model;
  const VnGraph   *graph;
  guint            depth;        /* 0: the main graph */
  GPtrArray       *captured;     /* of VnValue: of outer graphs; their ids follow those of the graph */
  GHashTable      *captured_ids; /* VnValue -> id, of these */
  VnPlanValue     *values;
  guint            n_values;
  GPtrArray       *inputs;       /* of VnValue */
  GPtrArray       *outputs;      /* of VnValue */
  GPtrArray       *taps;         /* of VnValue */
  int             *next_tap;     /* next tap of the same value, or -1 */
  int             *next_output;  /* the same for outputs */
  GPtrArray       *steps;        /* of VnStep */
  gsize            n_folded;     /* bytes that constants have which were computed from others */
  gsize            arena_size;
  gsize            scratch_size; /* largest of the static steps */
  gsize            most_weights; /* bytes that may be kept of constants in other forms than the model's; 0: all */
  gsize            kept_weights; /* so many are */
  gsize            passing_bytes; /* most that a lazy step has while it runs */
  gsize            freed_bytes;  /* of constants that were packed, since memory was given back */
  GPtrArray       *makers;       /* of VnStep */
  guint            max_inputs, max_outputs;
  gboolean        *lost;         /* by value id: left out, depends on a node without kernel; NULL: none is */
  const VnValue   *open_input;   /* an input with sizes that nobody gave, set to 1; or NULL */
  gboolean         no_fusion;
  gboolean         all_outputs, skip_unsupported, ends, can_restart;   /* as the options were */
  gboolean         taps_in_blocks;
  GMutex           lock;         /* of variants */
  GPtrArray       *variants;     /* of VnPlan: the same for other sizes of open inputs; the latest last */
};

VnPlan   *vn_plan_make          (VnModel              *model,
                                 const VnPlanOptions  *options,
                                 gboolean              taps_in_blocks,
                                 VnNotes              *notes,
                                 GError              **error);
VnPlan   *vn_plan_alloc         (VnModel              *model,
                                 const VnGraph        *graph,
                                 GPtrArray            *captured);
int       vn_plan_find          (const VnPlan         *self,
                                 const VnValue        *value);
gboolean  vn_plan_match_clamp   (VnPlan               *self,
                                 const VnStep         *step,
                                 VnActivation         *clamp);
VnPlan   *vn_plan_for_inputs    (VnPlan               *self,
                                 VnTensor * const     *inputs,
                                 GError              **error);

/* ---- what lives when (plan-live.c) ---- */

typedef struct _VnLive VnLive;

VnLive   *vn_live_new           (guint                 n_steps,
                                 guint                 n_ids);
void      vn_live_free          (VnLive               *self);
void      vn_live_add           (VnLive               *self,
                                 guint                 id,
                                 guint                 first,
                                 guint                 last);
void      vn_live_find          (VnLive               *self,
                                 guint                 first,
                                 guint                 last,
                                 GArray               *found);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnLive, vn_live_free)

/* ---- places for very many (plan-sweep.c) ---- */

/* Part of an arena that is needed from step @first to step @last. */
typedef struct
{
  gsize size, offset;
  guint first, last;
} VnBlock;

guint     vn_blocks_measure     (const VnBlock        *blocks,
                                 guint                 n,
                                 guint                 n_steps,
                                 gsize                *bytes);
gsize     vn_blocks_sweep       (VnBlock              *blocks,
                                 guint                 n);

gboolean  vn_plan_is_hollow     (const VnPlan         *self,
                                 int                   id);
gboolean  vn_plan_load_weight   (VnPlan               *self,
                                 guint                 id,
                                 GError              **error);
gboolean  vn_plan_defer         (VnPlan               *self,
                                 VnStep               *step,
                                 gsize                 n_bytes);
VnTensor *vn_plan_make_constant (const VnPlan         *self,
                                 guint                 id,
                                 GError              **error);
gboolean  vn_plan_fill          (VnPlan               *self,
                                 guint                 id,
                                 GError              **error);
gboolean  vn_plan_pack_step     (VnPlan               *self,
                                 VnStep               *step,
                                 GError              **error);
gboolean  vn_step_fold          (const VnStep         *self,
                                 VnOpContext          *ctx,
                                 GError              **error);
gboolean  vn_step_pack          (const VnStep         *self,
                                 VnTensor            **in,
                                 gpointer             *prepared,
                                 GError              **error);
VnBody   *vn_step_find_body     (const VnStep         *self,
                                 const VnGraph        *graph);
VnTensorType vn_step_body_type  (gpointer              step,
                                 const VnGraph        *graph,
                                 guint                 i);
VnStep   *vn_step_new_order     (const VnStep         *like,
                                 const VnOp           *op,
                                 const VnTensorType   *type,
                                 int                   from,
                                 int                   to);
VnStep   *vn_step_new_backend   (const VnOp           *op,
                                 const VnNode         *first,
                                 guint                 n_nodes,
                                 guint                 n_inputs,
                                 guint                 n_outputs);
void      vn_step_free          (VnStep               *self);
void      vn_step_init_context  (const VnStep         *self,
                                 VnOpContext          *ctx);
void      vn_step_prefix_error  (const VnStep         *self,
                                 GError              **error);
gboolean  vn_step_check_dtype   (const VnStep         *self,
                                 VnDType               dtype,
                                 GError              **error);

/* Memory at a multiple of 64 bytes, to be given back with free(); never NULL unless @error is set. */
gpointer  vn_engine_alloc       (gsize                 size,
                                 const char           *what,
                                 GError              **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnStep, vn_step_free)

G_END_DECLS
