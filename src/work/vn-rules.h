/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-recipe.h"

G_BEGIN_DECLS

/* What the rules of a recipe mean on the opened network. */

/**
 * VnRuleLeak: a tensor that crosses the edge of a rule's region without being named: part of it is left out of what the rule
 * says, or a conversion is paid for.
 * @node: label of the node where it enters, or where it goes; %NULL: to an output of the network
 */
typedef struct
{
  char     *value, *node;
  gboolean  enters;
} VnRuleLeak;

GPtrArray  *vn_rule_list_leaks     (const VnOverride  *rule,
                                    const VnGraph     *graph,
                                    GError           **error);
char       *vn_rule_leak_dup_text  (const VnRuleLeak *self);
int         vn_rules_find_region   (const VnRecipe *recipe,
                                    const VnGraph  *graph,
                                    const guint    *nodes,
                                    guint           n);
void        vn_rule_add_edge       (VnOverride *rule,
                                    const char *value,
                                    gboolean    enters);
GArray     *vn_rule_list_nodes     (const VnOverride *rule,
                                    const VnGraph    *graph);
guint       vn_rule_count_tensors  (const VnOverride *rule,
                                    const VnGraph    *graph);
char       *vn_rule_describe_leak  (const VnOverride *rule,
                                    const VnGraph    *graph);   /* NULL: it encloses its region */
VnOverride *vn_rule_new_for_region (const VnGraph *graph,
                                    const guint   *nodes,
                                    guint          n);

G_END_DECLS
