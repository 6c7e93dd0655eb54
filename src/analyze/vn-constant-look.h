/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-histogram.h"
#include "vn-stored-weight.h"

G_BEGIN_DECLS

/* Constants of more elements are too large to look at as a whole: 256 MiB of float32. */
#define VN_CONSTANT_MOST ((gsize) 1 << 26)

/**
 * VnConstantLook: what a constant holds. Immutable; may be read from any thread.
 * @value: borrowed from the model, which is kept
 * @is_stored: it is integers that stand for other numbers, as @stored says
 * @tensor: its elements, one after the other
 * @numbers: (nullable): float32: what they stand for; %NULL: elements of 64 bits, or truth values, or integers whose scale the
 *   file does not have
 * @stats: of @numbers, or of @tensor where they are %NULL
 * @levels: of integers; @levels.n 0: not counted
 * @histogram: (nullable): of @numbers
 */
typedef struct
{
  const VnValue  *value;
  gboolean        is_stored;
  VnStoredWeight  stored;
  VnTensor       *tensor, *numbers;
  VnWeightStats   stats;
  VnLevels        levels;
  VnHistogram    *histogram;
  /*< private >*/
  VnModel        *model;
  gatomicrefcount ref;
} VnConstantLook;

const VnValue  *vn_node_find_weight      (const VnNode          *node,
                                          VnStoredWeight        *stored,
                                          gboolean              *is_stored);   /* NULL: it has none */
VnConstantLook *vn_constant_look_new     (VnModel               *model,
                                          const VnValue         *value,
                                          const VnStoredWeight  *stored,       /* nullable */
                                          GError               **error);
VnConstantLook *vn_constant_look_ref     (VnConstantLook        *self);
void            vn_constant_look_unref   (VnConstantLook        *self);
void            vn_constant_look_list_figures (const VnConstantLook *self,
                                          GPtrArray             *facts);
void            vn_constant_list_facts   (const VnValue         *value,
                                          const VnStoredWeight  *stored,       /* nullable */
                                          GPtrArray             *facts);
gboolean        vn_constant_find_stored  (const VnValue         *value,
                                          VnStoredWeight        *stored);
char           *vn_constant_dup_element  (const VnTensor        *tensor,
                                          gsize                  i);
char           *vn_constant_dup_scales   (const VnTensor        *tensor);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnConstantLook, vn_constant_look_unref)

G_END_DECLS
