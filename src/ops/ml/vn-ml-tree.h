/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Ensembles of decision trees, from the attributes of the operators of ai.onnx.ml. */

#include "vn-ml.h"

G_BEGIN_DECLS

/* Numbered as in TreeEnsemble; a leaf is none of its modes. */
typedef enum
{
  VN_TREE_LEQ,
  VN_TREE_LT,
  VN_TREE_GTE,
  VN_TREE_GT,
  VN_TREE_EQ,
  VN_TREE_NEQ,
  VN_TREE_MEMBER,
  VN_TREE_LEAF,
} VnTreeMode;

/**
 * VnTreeNode:
 * @value: what the feature is compared with
 * @yes, @no: the next node
 * @first, @n: votes of a leaf; members of the set that VN_TREE_MEMBER looks into
 * @missing_is_yes: where a NaN goes
 */
typedef struct
{
  double     value;
  gsize      feature;
  gsize      yes, no;
  gsize      first, n;
  VnTreeMode mode;
  gboolean   missing_is_yes;
} VnTreeNode;

typedef struct
{
  gsize  target;
  double weight;
} VnTreeVote;

/**
 * VnForest:
 * @n_features: that a row must have at least
 * @n_targets: every vote is for one below
 * @wide: sums are kept in double, else in float
 */
typedef struct
{
  VnTreeNode *nodes;
  gsize       n_nodes;
  gsize      *roots;
  gsize       n_roots;
  VnTreeVote *votes;
  gsize       n_votes;
  double     *members;
  gsize       n_members;
  gsize       n_features, n_targets;
  gboolean    wide;
} VnForest;

VnForest         *vn_forest_new_classic (VnOpContext       *ctx,
                                         const char        *prefix,
                                         gsize              n_targets,
                                         GError           **error);
VnForest         *vn_forest_new         (VnOpContext       *ctx,
                                         gsize              n_targets,
                                         GError           **error);
void              vn_forest_free        (VnForest          *self);
const VnTreeNode *vn_forest_find_leaf   (const VnForest    *self,
                                         gsize              root,
                                         const double      *row);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnForest, vn_forest_free)

G_END_DECLS
