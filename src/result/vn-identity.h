/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Which value stands for what a node of the opened model gives, in each network that is made of it. */

#include "vn-graph-edit.h"
#include "vn-quantize.h"

G_BEGIN_DECLS

/**
 * VnIdentity: the result of one node of the opened model. NULL: it has none there.
 * @source: its first output in the opened model
 * @prepared: what computes the same in the prepared model: the value of that name, or what the node was folded into
 * @rounded: the value of the prepared model whose error, range and plan speak for it: @prepared, or the output of the clamp
 *   behind it where nothing is rounded between the two
 * @quantized: the float tensor of the quantized model that stands for @rounded
 */
typedef struct
{
  const char *source, *prepared, *rounded, *quantized;
} VnIdentity;

typedef struct _VnIdentityMap VnIdentityMap;

VnIdentityMap    *vn_identity_map_new       (const VnModel  *source,
                                             const VnModel  *prepared,
                                             VnEditLog      *edits,          /* nullable */
                                             VnQuantPlan    *plan,           /* nullable */
                                             GHashTable     *value_names);   /* nullable */
VnIdentityMap    *vn_identity_map_new_from_names (const VnModel    *source,
                                                  const VnIdentity *identities,
                                                  GHashTable       *value_names);
VnIdentityMap    *vn_identity_map_ref       (VnIdentityMap  *self);
void              vn_identity_map_unref     (VnIdentityMap  *self);
const VnIdentity *vn_identity_map_get       (VnIdentityMap  *self,
                                             const VnNode   *source_node);
const VnNode     *vn_identity_map_find_node (VnIdentityMap  *self,
                                             const char     *value);
const VnValue    *vn_identity_find_rounded  (VnQuantPlan    *plan,
                                             const VnValue  *value);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnIdentityMap, vn_identity_map_unref)

G_END_DECLS
