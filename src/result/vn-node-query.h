/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What is typed to find nodes: words, globs, types, precisions and thresholds of error. */

#include "vn-error-table.h"
#include "vn-model.h"

G_BEGIN_DECLS

/**
 * VnNodeFacts: what a query is asked about.
 * @label: vn_node_dup_label()
 * @row: (nullable): vn_run_get_rated_error()
 * @dtype: vn_run_get_node_dtype()
 * @local_db: from vn_local_errors_new(); NaN: not measured
 * @band: (nullable): "fine", "watch" or "bad", as it is shown; %NULL: it has no error
 */
typedef struct
{
  const VnNode     *node;
  const char       *label;
  const VnErrorRow *row;
  VnDType           dtype;
  double            local_db;
  const char       *band;
} VnNodeFacts;

/**
 * VnNodeExample: something to type, and what it finds.
 * @words: N_()
 */
typedef struct { const char *text, *words; } VnNodeExample;

typedef struct _VnNodeQuery VnNodeQuery;

VnNodeQuery         *vn_node_query_new          (const char        *text);
void                 vn_node_query_free         (VnNodeQuery       *self);
gboolean             vn_node_query_is_empty     (const VnNodeQuery *self);
const char          *vn_node_query_get_problem  (const VnNodeQuery *self);   /* NULL: there is none */
gboolean             vn_node_query_matches      (const VnNodeQuery *self,
                                                 const VnNodeFacts *facts);
const VnNodeExample *vn_node_query_get_examples (guint             *n);
char                *vn_node_query_dup_value    (const char        *text,
                                                 const char        *word);
char                *vn_node_query_dup_with     (const char        *text,
                                                 const char        *word,
                                                 const char        *value);  /* nullable */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnNodeQuery, vn_node_query_free)

G_END_DECLS
