/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a block: what vn-train-block.c makes, block-settle.c orders, block-run.c runs and block-step.c drives. */
#pragma once

#include "vn-train-block.h"
#include "vn-op-call.h"

G_BEGIN_DECLS

/* Items are shared out to so many runs, whatever the number of threads: what each has summed up is added in their order. */
#define VN_BLOCK_LANES 8

/**
 * VnBlockSlot: a value, as it is computed or as a hook has made it.
 * @hook: the hook that makes it, or -1
 * @from: the slot that this hook reads
 * @common: of a value as it is computed: what all readers see that have no hook of their own
 * @constant: (nullable): the block's own copy
 * @is_fixed: only depends on constants
 * @is_wanted: somebody asked for its gradient
 * @needs: the gradient is computed, as it is wanted or leads to one that is
 */
typedef struct
{
  const VnValue *value;
  int            hook;
  guint          from, common;
  VnTensor      *constant;
  gboolean       is_source, is_fixed, is_wanted, needs;
} VnBlockSlot;

/**
 * VnBlockNode:
 * @in, @out: slots, -1: omitted
 */
typedef struct
{
  const VnNode     *node;
  const VnGradient *gradient;
  int              *in, *out;
  gboolean          is_fixed;
} VnBlockNode;

typedef struct
{
  VnBlockHook  hook;
  guint        slot;
  float       *gradients;
} VnBlockHooked;

/* What is done one after the other: a node is run, or a hook. */
typedef struct
{
  gboolean is_hook;
  gboolean is_fixed;
  guint    index;
} VnBlockAction;

/**
 * VnBlockRun:
 * @is_fixed: runs what only depends on constants
 * @calls, @kept: by node; those that are not run here are empty
 * @values, @gradients, @reached: by slot; @reached: something was added to the gradient
 * @params: by hook: gradients of what it learns
 * @is_ready: run forward, not yet back
 * @went_back: at least once in this step
 */
struct _VnBlockRun
{
  VnBlock   *block;
  gboolean   is_fixed;
  guint      item;
  VnOpCall  *calls;
  VnGradientKept *kept;
  VnTensor **values, **gradients;
  gboolean  *reached;
  guint      n_slots, n_hooks;
  float    **params;
  VnScratch  scratch;
  gboolean   is_ready, went_back;
};

/**
 * VnBlock:
 * @slot_of: VnValue -> slot + 1, as it is computed
 * @settled: @order and what follows from it is up to date
 */
struct _VnBlock
{
  VnModel     *model;
  GPtrArray   *inputs, *outputs;   /* of VnValue */
  GArray      *slots;              /* of VnBlockSlot */
  GHashTable  *slot_of;
  VnBlockNode *nodes;
  guint        n_nodes;
  GArray      *hooks;              /* of VnBlockHooked */
  GArray      *order;              /* of VnBlockAction */
  gboolean     settled;
  VnBlockRun  *fixed;
  VnBlockRun  *lanes[VN_BLOCK_LANES];
};

static inline VnBlockSlot *
vn_block_slot (const VnBlock *self,
               guint          i)
{
  return &g_array_index (self->slots, VnBlockSlot, i);
}

static inline VnBlockHooked *
vn_block_hooked (const VnBlock *self,
                 guint          i)
{
  return &g_array_index (self->hooks, VnBlockHooked, i);
}

/* Of a value as it is computed; G_MAXUINT: not there. */
static inline guint
vn_block_find_slot (const VnBlock *self,
                    const VnValue *value)
{
  gpointer place = g_hash_table_lookup (self->slot_of, value);

  return place != NULL ? GPOINTER_TO_UINT (place) - 1 : G_MAXUINT;
}

gboolean    vn_block_settle      (VnBlock        *self,
                                  GError        **error);

VnBlockRun *vn_block_run_new     (VnBlock        *block,
                                  gboolean        is_fixed,
                                  GError        **error);
void        vn_block_run_free    (VnBlockRun     *self);
gboolean    vn_block_run_begin   (VnBlockRun     *self,
                                  GError        **error);
gboolean    vn_block_run_forward_all (VnBlockRun *self,
                                      GError    **error);
gboolean    vn_block_run_back_all (VnBlockRun    *self,
                                   GError       **error);
VnTensor   *vn_block_run_reach   (VnBlockRun     *self,
                                  guint           slot,
                                  GError        **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnBlockRun, vn_block_run_free)

G_END_DECLS
