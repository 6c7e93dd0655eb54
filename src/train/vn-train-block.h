/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A part of a network that is run forward and backward: its values come from the operators' kernels, gradients from
 * vn-gradients.def. Hooks change values on their way, for fake quantization. */
#pragma once

#include "vn-gradient.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/**
 * VnBlock: nodes of a graph, and a writable copy of the constants that they read.
 *
 * Training goes in steps (vn_block_step()): hooks and nodes that only depend on constants are computed once, then each
 * item (one sample, or a few in one tensor) is run forward and backward, gradients of constants and of what hooks learn
 * are summed up. Between steps their owner may change the numbers of constants and of hooks; during a step nobody may.
 */
typedef struct _VnBlock VnBlock;

/**
 * VnBlockRun: the memory of one item that is run forward and backward; handed to the function of a step.
 */
typedef struct _VnBlockRun VnBlockRun;

/* Item numbers that hooks are told for what only depends on constants. */
#define VN_BLOCK_NO_ITEM G_MAXUINT

/**
 * VnBlockHook: what is done to a float32 value on its way from where it is computed (or stored) to where it is read.
 * @value: a value that a node of the block reads or computes; also a constant
 * @reader, @input: (nullable): only this input of this node reads what the hook makes; %NULL: all nodes of the block, and whoever
 *   reads the outputs of the block
 * @n_params: numbers that it learns; their gradients are in vn_block_get_hook_gradients()
 * @forward: writes all of @after, of the shape of @before; @item: number of the item in the step, or %VN_BLOCK_NO_ITEM. %NULL:
 * copied
 * @backward: turns @gradient (by @after) into that by @before, in place, and adds those by what it learns to @params (@n_params
 *   zeroes at first). %NULL: straight through
 * @data: handed to both, which are called from several threads at once
 *
 * Several hooks of one value work one after the other, in the order they were added; those for all readers must be added
 * before those for one.
 */
typedef struct
{
  const VnValue *value;
  const VnNode  *reader;
  guint          input;
  gsize          n_params;
  gboolean     (*forward)  (const VnTensor  *before,
                            VnTensor        *after,
                            guint            item,
                            gpointer         data,
                            GError         **error);
  gboolean     (*backward) (const VnTensor  *before,
                            const VnTensor  *after,
                            VnTensor        *gradient,
                            float           *params,
                            guint            item,
                            gpointer         data,
                            GError         **error);
  gpointer       data;
} VnBlockHook;

/**
 * VnBlockItemFunc:
 * @run: to be run forward with vn_block_run_forward(), and back with vn_block_run_backward() if gradients are wanted
 * @item: 0 .. n_items - 1
 *
 * One item of a step; called from several threads at once, for different items.
 *
 * Returns: %FALSE with @error set to stop the step
 */
typedef gboolean (*VnBlockItemFunc) (VnBlockRun  *run,
                                     guint        item,
                                     gpointer     data,
                                     GError     **error);

/* ---- making one ---- */

gboolean  vn_block_check             (GPtrArray          *nodes,
                                      GError            **error);
VnBlock  *vn_block_new               (const VnGraph      *graph,
                                      GPtrArray          *nodes,
                                      GPtrArray          *outputs,    /* nullable */
                                      GError            **error);
void      vn_block_free              (VnBlock            *self);
guint     vn_block_get_n_inputs      (const VnBlock      *self);
VnValue  *vn_block_get_input         (const VnBlock      *self,
                                      guint               i);
guint     vn_block_get_n_outputs     (const VnBlock      *self);
VnValue  *vn_block_get_output        (const VnBlock      *self,
                                      guint               i);
gboolean  vn_block_want_gradient     (VnBlock            *self,
                                      const VnValue      *value,
                                      GError            **error);
guint     vn_block_add_hook          (VnBlock            *self,
                                      const VnBlockHook  *hook);

/* ---- constants, between steps ---- */

VnTensor *vn_block_get_constant      (VnBlock            *self,
                                      const VnValue      *value);

/* ---- a step ---- */

gboolean  vn_block_step              (VnBlock            *self,
                                      guint               n_items,
                                      guint               n_threads,
                                      VnBlockItemFunc     func,
                                      gpointer            data,
                                      GCancellable       *cancellable,
                                      GError            **error);
const VnTensor *vn_block_get_gradient (VnBlock           *self,
                                       const VnValue     *value);
const float *vn_block_get_hook_gradients (VnBlock        *self,
                                          guint           hook);

/* ---- one item, inside a step ---- */

gboolean        vn_block_run_forward     (VnBlockRun        *run,
                                          VnTensor * const  *inputs,
                                          GError           **error);
const VnTensor *vn_block_run_get_value   (VnBlockRun        *run,
                                          const VnValue     *value);
const VnTensor *vn_block_run_get_output  (VnBlockRun        *run,
                                          guint              i);
VnTensor       *vn_block_run_get_output_gradient (VnBlockRun  *run,
                                                  guint        i,
                                                  GError     **error);
gboolean        vn_block_run_backward    (VnBlockRun        *run,
                                          GError           **error);
const VnTensor *vn_block_run_get_gradient (VnBlockRun       *run,
                                           const VnValue    *value);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnBlock, vn_block_free)

G_END_DECLS
