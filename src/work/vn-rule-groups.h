/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-model.h"
#include "vn-recipe.h"

G_BEGIN_DECLS

/**
 * VnRuleGroup: a VnRuleSet, as lists show it.
 * @first, @n: rules of the recipe
 * @nodes: (element-type guint): indices of the nodes that they are about
 * @n_matched: how many nodes that is; of a rule about tensors how many of these there are
 * @key: of the change that made them, see VnEffect
 * @enabled: all of them are
 */
typedef struct
{
  guint      first, n, n_matched;
  GArray    *nodes;
  char      *title, *key;
  gboolean   enabled;
} VnRuleGroup;

GPtrArray *vn_rule_groups_list (const VnRecipe *recipe,
                                VnModel        *model);   /* nullable */

G_END_DECLS
