/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-bench.h"

G_BEGIN_DECLS

/* What each rule gained, as far as two runs tell that differ in it alone. */

/**
 * VnRuleGain:
 * @db: by how much the outputs are better with the rule; negative: worse
 * @bytes: by how much the quantized network is larger
 * @is_expected: no whole run was made with it yet
 */
typedef struct
{
  double   db;
  gint64   bytes;
  gboolean is_expected;
} VnRuleGain;

typedef struct _VnRuleGains VnRuleGains;

VnRuleGains      *vn_rule_gains_new  (VnBench *bench);
void              vn_rule_gains_free (VnRuleGains *self);
const VnRuleGain *vn_rule_gains_find (VnRuleGains    *self,
                                      const VnRecipe *recipe,
                                      guint           first,
                                      guint           n);   /* NULL: not known */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnRuleGains, vn_rule_gains_free)

G_END_DECLS
