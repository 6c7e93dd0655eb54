/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forests of decision trees of ai.onnx.ml: read from attributes, checked for circles, and walked. */
#include "vn-ml-tree.h"
#include "vn-number.h"

void
vn_forest_free (VnForest *self)
{
  if (self == NULL)
    return;
  g_free (self->nodes);
  g_free (self->roots);
  g_free (self->votes);
  g_free (self->members);
  g_free (self);
}

/* ---- attributes ---- */

/* A list of integers of a given length. */
static const gint64 *
ml_tree_read_ints (VnOpContext  *ctx,
                   const char   *name,
                   gsize         n,
                   GError      **error)
{
  gsize found;
  const gint64 *values = vn_node_get_ints (ctx->node, name, &found);

  if (values != NULL && found == n)
    return values;
  vn_op_fail (ctx, error, _("%s: %s has %zu values, expected %zu"), ctx->op->type, name, found, n);
  return NULL;
}

/* Likewise, or a tensor of floats; the name with @prefix. */
static VnTensor *
ml_tree_dup_values (VnOpContext  *ctx,
                    const char   *prefix,
                    const char   *name,
                    const char   *tensor,
                    gsize         n,
                    GError      **error)
{
  g_autofree char *list = name != NULL ? g_strconcat (prefix, name, NULL) : NULL;
  g_autofree char *tensor_name = g_strconcat (prefix, tensor, NULL);
  g_autoptr(VnTensor) values = vn_ml_dup_list (ctx, NULL, list, NULL, tensor_name, error);

  if (values == NULL)
    return NULL;
  if ((VN_FLOAT_BITS >> values->dtype & 1) != 0 && values->n_elements == n)
    return g_steal_pointer (&values);
  vn_op_fail (ctx, error, _("%s: %s holds %zu elements of type %s, expected %zu floats"),
              ctx->op->type, tensor_name, values->n_elements, vn_dtype_get_name (values->dtype), n);
  return NULL;
}

static gboolean
ml_tree_set_feature (VnOpContext  *ctx,
                     VnForest     *self,
                     VnTreeNode   *node,
                     gint64        feature,
                     GError      **error)
{
  if (feature < 0 || feature >= G_MAXINT32)
    return vn_op_fail (ctx, error, _("%s: a node uses the invalid feature %lld"), ctx->op->type, (long long) feature);
  node->feature = (gsize) feature;
  self->n_features = MAX (self->n_features, (gsize) feature + 1);
  return TRUE;
}

static gboolean
ml_tree_set_vote (VnOpContext  *ctx,
                  VnForest     *self,
                  gsize         i,
                  gint64        target,
                  double        weight,
                  GError      **error)
{
  if (target < 0 || target >= (gint64) self->n_targets)
    return vn_op_fail (ctx, error, _("%s: a leaf votes for %lld, but there are only %zu targets"),
                       ctx->op->type, (long long) target, self->n_targets);
  self->votes[i] = (VnTreeVote) { (gsize) target, weight };
  return TRUE;
}

static gboolean
ml_tree_alloc_forest (VnForest  *self,
                      gsize      n_nodes,
                      gsize      n_roots,
                      gsize      n_votes,
                      GError   **error)
{
  self->n_nodes = n_nodes;
  self->n_votes = n_votes;
  return (self->nodes = vn_op_try_alloc (n_nodes, sizeof (VnTreeNode), error)) != NULL &&
         (self->roots = vn_op_try_alloc (n_roots, sizeof (gsize), error)) != NULL &&
         (self->votes = vn_op_try_alloc (n_votes, sizeof (VnTreeVote), error)) != NULL;
}

/* ---- no way leads in a circle ---- */

enum { NEW, ON_THE_WAY, DONE };

/* Goes down from @root; @path has room for all nodes. A node may be reached on several ways. */
static gboolean
ml_tree_walk (const VnForest *self,
              gsize           root,
              guint8         *state,
              gsize          *path)
{
  gsize depth = 0;

  path[depth++] = root;
  while (depth > 0)
    {
      const VnTreeNode *node = &self->nodes[path[depth - 1]];
      guint8 *at = &state[path[depth - 1]];
      gsize next = node->mode == VN_TREE_LEAF ? 0 : state[node->yes] != DONE ? node->yes : node->no;

      *at = ON_THE_WAY;
      if (node->mode == VN_TREE_LEAF || state[next] == DONE)
        {
          *at = DONE;
          depth--;
        }
      else if (state[next] == ON_THE_WAY)
        return FALSE;
      else
        path[depth++] = next;
    }
  return TRUE;
}

static gboolean
ml_tree_check_circles (VnOpContext    *ctx,
                       const VnForest *self,
                       GError        **error)
{
  g_autofree guint8 *state = vn_op_try_alloc (self->n_nodes, 1, error);
  g_autofree gsize *path = state != NULL ? vn_op_try_alloc (self->n_nodes, sizeof (gsize), error) : NULL;

  if (path == NULL)
    return FALSE;
  memset (state, NEW, self->n_nodes);
  for (gsize i = 0; i < self->n_roots; i++)
    if (state[self->roots[i]] == NEW && !ml_tree_walk (self, self->roots[i], state, path))
      return vn_op_fail (ctx, error, _("%s: tree %zu has a cycle"), ctx->op->type, i);
  return TRUE;
}

/* ---- TreeEnsembleClassifier and -Regressor: nodes are named by tree and number ---- */

typedef struct
{
  const gint64 *trees, *ids;
  gsize        *order;    /* nodes by tree and number */
  gsize         n;
} Names;

static int
ml_tree_compare_name (const Names *self,
                      gsize        node,
                      gint64       tree,
                      gint64       id)
{
  if (self->trees[node] != tree)
    return self->trees[node] < tree ? -1 : 1;
  return (self->ids[node] > id) - (self->ids[node] < id);
}

static int
ml_tree_compare_nodes (gconstpointer data,
                       gsize         a,
                       gsize         b)
{
  const Names *self = data;

  return ml_tree_compare_name (self, a, self->trees[b], self->ids[b]);
}

static gboolean
ml_tree_find_node (VnOpContext  *ctx,
                   const Names  *self,
                   gint64        tree,
                   gint64        id,
                   gsize        *node,
                   GError      **error)
{
  gsize low = 0, high = self->n;

  while (low < high)
    {
      gsize middle = low + (high - low) / 2;
      int order = ml_tree_compare_name (self, self->order[middle], tree, id);

      *node = self->order[middle];
      if (order == 0)
        return TRUE;
      if (order < 0)
        low = middle + 1;
      else
        high = middle;
    }
  return vn_op_fail (ctx, error, _("%s: there is no node %lld in tree %lld"), ctx->op->type, (long long) id,
                     (long long) tree);
}

static gboolean
ml_tree_read_mode (VnOpContext  *ctx,
                   GBytes       *bytes,
                   VnTreeMode   *mode,
                   GError      **error)
{
  static const char * const modes[] = { "BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ",
                                        "BRANCH_MEMBER", "LEAF" };
  g_autofree char *text = vn_ml_dup_bytes (bytes);

  for (guint i = 0; i < G_N_ELEMENTS (modes); i++)
    if (i != VN_TREE_MEMBER && g_str_equal (text, modes[i]))
      {
        *mode = (VnTreeMode) i;
        return TRUE;
      }
  return vn_op_fail (ctx, error, _("%s: a node has the unknown mode “%s”"), ctx->op->type, text);
}

static gboolean
ml_tree_fill_nodes (VnOpContext  *ctx,
                    VnForest     *self,
                    const Names  *names,
                    GError      **error)
{
  gsize n = self->n_nodes, n_missing;
  const gint64 *features = ml_tree_read_ints (ctx, "nodes_featureids", n, error);
  const gint64 *yes = features != NULL ? ml_tree_read_ints (ctx, "nodes_truenodeids", n, error) : NULL;
  const gint64 *no = yes != NULL ? ml_tree_read_ints (ctx, "nodes_falsenodeids", n, error) : NULL;
  const gint64 *missing = vn_node_get_ints (ctx->node, "nodes_missing_value_tracks_true", &n_missing);
  const VnAttr *modes = vn_node_get_attr (ctx->node, "nodes_modes");
  g_autoptr(VnTensor) values = no != NULL ? ml_tree_dup_values (ctx, "nodes_", "values", "values_as_tensor", n, error) : NULL;

  if (values == NULL)
    return FALSE;
  if (modes == NULL || modes->type != VN_ATTR_STRINGS || modes->strings == NULL || modes->strings->len != n)
    return vn_op_fail (ctx, error, _("%s: expected one mode for each of %zu nodes"), ctx->op->type, n);
  for (gsize i = 0; i < n; i++)
    {
      VnTreeNode *node = &self->nodes[i];

      *node = (VnTreeNode) { .value = vn_tensor_get_double (values, i),
                             .missing_is_yes = i < n_missing && missing[i] == 1 };
      if (!ml_tree_read_mode (ctx, g_ptr_array_index (modes->strings, i), &node->mode, error))
        return FALSE;
      if (node->mode != VN_TREE_LEAF &&
          (!ml_tree_set_feature (ctx, self, node, features[i], error) ||
           !ml_tree_find_node (ctx, names, names->trees[i], yes[i], &node->yes, error) ||
           !ml_tree_find_node (ctx, names, names->trees[i], no[i], &node->no, error)))
        return FALSE;
    }
  return TRUE;
}

static const gint64 *
ml_tree_read_prefixed (VnOpContext  *ctx,
                       const char   *prefix,
                       const char   *name,
                       gsize         n,
                       GError      **error)
{
  g_autofree char *full = g_strconcat (prefix, name, NULL);

  return ml_tree_read_ints (ctx, full, n, error);
}

/* Votes come in any order; each node gets its own, in that order, side by side. */
static gboolean
ml_tree_fill_votes (VnOpContext  *ctx,
                    VnForest     *self,
                    const char   *prefix,
                    const Names  *names,
                    GError      **error)
{
  gsize n = self->n_votes, total = 0;
  const gint64 *targets = ml_tree_read_prefixed (ctx, prefix, "ids", n, error);
  const gint64 *trees = targets != NULL ? ml_tree_read_prefixed (ctx, prefix, "treeids", n, error) : NULL;
  const gint64 *ids = trees != NULL ? ml_tree_read_prefixed (ctx, prefix, "nodeids", n, error) : NULL;
  g_autoptr(VnTensor) weights = ids != NULL ? ml_tree_dup_values (ctx, prefix, "weights", "weights_as_tensor", n, error) : NULL;
  g_autofree gsize *nodes = weights != NULL ? vn_op_try_alloc (n, sizeof (gsize), error) : NULL;

  if (nodes == NULL)
    return FALSE;
  for (gsize i = 0; i < n; i++)
    {
      if (!ml_tree_find_node (ctx, names, trees[i], ids[i], &nodes[i], error))
        return FALSE;
      self->nodes[nodes[i]].n++;
    }
  for (gsize i = 0; i < self->n_nodes; i++)
    {
      self->nodes[i].first = total;
      total += self->nodes[i].n;
      self->nodes[i].n = 0;
    }
  for (gsize i = 0; i < n; i++)
    {
      VnTreeNode *node = &self->nodes[nodes[i]];

      if (!ml_tree_set_vote (ctx, self, node->first + node->n++, targets[i], vn_tensor_get_double (weights, i), error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
ml_tree_fill_classic (VnOpContext  *ctx,
                      VnForest     *self,
                      const char   *prefix,
                      Names        *names,
                      GError      **error)
{
  for (gsize i = 0; i < names->n; i++)
    {
      names->order[i] = i;
      if (i == 0 || names->trees[i] != names->trees[i - 1])
        self->roots[self->n_roots++] = i;
    }
  if (!vn_order_sort (names->order, names->n, ml_tree_compare_nodes, names, error))
    return FALSE;
  for (gsize i = 1; i < names->n; i++)
    if (ml_tree_compare_nodes (names, names->order[i - 1], names->order[i]) == 0)
      return vn_op_fail (ctx, error, _("%s: tree %lld has the node %lld twice"), ctx->op->type,
                         (long long) names->trees[names->order[i]], (long long) names->ids[names->order[i]]);
  return ml_tree_fill_nodes (ctx, self, names, error) && ml_tree_fill_votes (ctx, self, prefix, names, error) &&
         ml_tree_check_circles (ctx, self, error);
}

/**
 * vn_forest_new_classic:
 * @prefix: of the attributes with votes: "class_" or "target_"
 *
 * Reads the trees of TreeEnsembleClassifier or TreeEnsembleRegressor. The first node of each tree is its root.
 *
 * Returns: (transfer full) (nullable): a forest that every row leaves at a leaf; %NULL with an error if there is none
 */
VnForest *
vn_forest_new_classic (VnOpContext  *ctx,
                       const char   *prefix,
                       gsize         n_targets,
                       GError      **error)
{
  g_autoptr(VnForest) self = g_new0 (VnForest, 1);
  g_autofree char *votes = g_strconcat (prefix, "ids", NULL);
  g_autofree gsize *order = NULL;
  Names names = { 0 };
  gsize n_votes;

  self->n_targets = n_targets;
  self->wide = ctx->in_types[0].dtype == VN_DTYPE_F64;
  names.trees = vn_node_get_ints (ctx->node, "nodes_treeids", &names.n);
  if (names.trees == NULL)
    {
      vn_op_fail (ctx, error, _("%s: there are no nodes"), ctx->op->type);
      return NULL;
    }
  names.ids = ml_tree_read_ints (ctx, "nodes_nodeids", names.n, error);
  vn_node_get_ints (ctx->node, votes, &n_votes);
  if (names.ids == NULL || !ml_tree_alloc_forest (self, names.n, names.n, n_votes, error))
    return NULL;
  names.order = order = vn_op_try_alloc (names.n, sizeof (gsize), error);
  return order != NULL && ml_tree_fill_classic (ctx, self, prefix, &names, error) ? g_steal_pointer (&self) : NULL;
}

/* ---- TreeEnsemble: inner nodes first, leaves behind them ---- */

static gboolean
ml_tree_find_child (VnOpContext    *ctx,
                    const VnForest *self,
                    gsize           n_inner,
                    gboolean        leaf,
                    gint64          child,
                    gsize          *node,
                    GError        **error)
{
  gsize n = leaf ? self->n_nodes - n_inner : n_inner;

  if (child < 0 || child >= (gint64) n)
    return vn_op_fail (ctx, error, _("TreeEnsemble: a node points to %s %lld of %zu"),
                       leaf ? "leaf" : "node", (long long) child, n);
  *node = leaf ? n_inner + (gsize) child : (gsize) child;
  return TRUE;
}

static gboolean
ml_tree_fill_inner (VnOpContext     *ctx,
                    VnForest        *self,
                    gsize            n,
                    const VnTensor  *modes,
                    GError         **error)
{
  gsize n_missing;
  const gint64 *features = ml_tree_read_ints (ctx, "nodes_featureids", n, error);
  const gint64 *yes = features != NULL ? ml_tree_read_ints (ctx, "nodes_truenodeids", n, error) : NULL;
  const gint64 *no = yes != NULL ? ml_tree_read_ints (ctx, "nodes_falsenodeids", n, error) : NULL;
  const gint64 *yes_leafs = no != NULL ? ml_tree_read_ints (ctx, "nodes_trueleafs", n, error) : NULL;
  const gint64 *no_leafs = yes_leafs != NULL ? ml_tree_read_ints (ctx, "nodes_falseleafs", n, error) : NULL;
  const gint64 *missing = vn_node_get_ints (ctx->node, "nodes_missing_value_tracks_true", &n_missing);
  g_autoptr(VnTensor) splits = no_leafs != NULL ? ml_tree_dup_values (ctx, "nodes_", NULL, "splits", n, error) : NULL;

  if (splits == NULL)
    return FALSE;
  for (gsize i = 0; i < n; i++)
    {
      VnTreeNode *node = &self->nodes[i];

      *node = (VnTreeNode) { .value = vn_tensor_get_double (splits, i), .mode = (VnTreeMode) ((guint8 *) modes->data)[i],
                             .missing_is_yes = i < n_missing && missing[i] == 1 };
      if (node->mode > VN_TREE_MEMBER)
        return vn_op_fail (ctx, error, _("TreeEnsemble: a node has the unknown mode %d"), (int) node->mode);
      if (!ml_tree_set_feature (ctx, self, node, features[i], error) ||
          !ml_tree_find_child (ctx, self, n, yes_leafs[i] != 0, yes[i], &node->yes, error) ||
          !ml_tree_find_child (ctx, self, n, no_leafs[i] != 0, no[i], &node->no, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
ml_tree_fill_leaves (VnOpContext  *ctx,
                     VnForest     *self,
                     gsize         n_inner,
                     GError      **error)
{
  const gint64 *targets = ml_tree_read_ints (ctx, "leaf_targetids", self->n_votes, error);
  g_autoptr(VnTensor) weights = targets != NULL ? ml_tree_dup_values (ctx, "leaf_", NULL, "weights", self->n_votes, error) : NULL;

  if (weights == NULL)
    return FALSE;
  for (gsize i = 0; i < self->n_votes; i++)
    {
      self->nodes[n_inner + i] = (VnTreeNode) { .mode = VN_TREE_LEAF, .first = i, .n = 1 };
      if (!ml_tree_set_vote (ctx, self, i, targets[i], vn_tensor_get_double (weights, i), error))
        return FALSE;
    }
  return TRUE;
}

/* Sets, one for each node that wants one, end with a NaN each. */
static gboolean
ml_tree_fill_members (VnOpContext  *ctx,
                      VnForest     *self,
                      gsize         n_inner,
                      GError      **error)
{
  VnTensor *held = vn_node_get_tensor (ctx->node, "membership_values");
  g_autoptr(VnTensor) values = held != NULL ? ml_tree_dup_values (ctx, "", NULL, "membership_values", held->n_elements, error)
                               : NULL;
  gsize at = 0;

  if (held == NULL)
    return TRUE;
  if (values == NULL || (self->members = vn_op_try_alloc (values->n_elements, sizeof (double), error)) == NULL)
    return FALSE;
  self->n_members = values->n_elements;
  for (gsize i = 0; i < self->n_members; i++)
    self->members[i] = vn_tensor_get_double (values, i);
  for (gsize i = 0; i < n_inner; i++)
    if (self->nodes[i].mode == VN_TREE_MEMBER)
      {
        self->nodes[i].first = MIN (at, self->n_members);
        while (at < self->n_members && !isnan (self->members[at]))
          at++;
        self->nodes[i].n = at - self->nodes[i].first;
        at = MIN (at + 1, self->n_members);
      }
  return TRUE;
}

/**
 * vn_forest_new:
 *
 * Reads the trees of TreeEnsemble.
 *
 * Returns: (transfer full) (nullable): a forest that every row leaves at a leaf; %NULL with an error if there is none
 */
VnForest *
vn_forest_new (VnOpContext  *ctx,
               gsize         n_targets,
               GError      **error)
{
  g_autoptr(VnForest) self = g_new0 (VnForest, 1);
  VnTensor *modes = vn_node_get_tensor (ctx->node, "nodes_modes");
  gsize n_roots, n_leaves, n_inner = modes != NULL ? modes->n_elements : 0;
  const gint64 *roots = vn_node_get_ints (ctx->node, "tree_roots", &n_roots);

  self->n_targets = n_targets;
  self->wide = ctx->in_types[0].dtype == VN_DTYPE_F64;
  vn_node_get_ints (ctx->node, "leaf_targetids", &n_leaves);
  if (roots == NULL || n_inner == 0 || modes->dtype != VN_DTYPE_U8)
    {
      vn_op_fail (ctx, error, _("TreeEnsemble: tree_roots or nodes_modes, of type uint8, is missing"));
      return NULL;
    }
  if (!ml_tree_alloc_forest (self, n_inner + n_leaves, n_roots, n_leaves, error) ||
      !ml_tree_fill_inner (ctx, self, n_inner, modes, error) ||
      !ml_tree_fill_leaves (ctx, self, n_inner, error) || !ml_tree_fill_members (ctx, self, n_inner, error))
    return NULL;
  for (self->n_roots = 0; self->n_roots < n_roots; self->n_roots++)
    if (!ml_tree_find_child (ctx, self, n_inner, FALSE, roots[self->n_roots], &self->roots[self->n_roots], error))
      return NULL;
  return ml_tree_check_circles (ctx, self, error) ? g_steal_pointer (&self) : NULL;
}

/* ---- walking ---- */

static gboolean
ml_tree_is_member (const VnForest   *self,
                   const VnTreeNode *node,
                   double            x)
{
  for (gsize i = node->first; i < node->first + node->n; i++)
    if (self->members[i] == x)
      return TRUE;
  return FALSE;
}

static gboolean
ml_tree_goes_yes (const VnForest   *self,
                  const VnTreeNode *node,
                  double            x)
{
  if (isnan (x) && node->missing_is_yes)
    return TRUE;
  switch (node->mode)
    {
    case VN_TREE_LEQ: return x <= node->value;
    case VN_TREE_LT: return x < node->value;
    case VN_TREE_GTE: return x >= node->value;
    case VN_TREE_GT: return x > node->value;
    case VN_TREE_EQ: return x == node->value;
    case VN_TREE_NEQ: return x != node->value;
    case VN_TREE_MEMBER: return ml_tree_is_member (self, node, x);
    case VN_TREE_LEAF:
    default:
      return FALSE;
    }
}

/**
 * vn_forest_find_leaf:
 * @root: one of the roots
 * @row: @n_features numbers
 *
 * Returns: (transfer none): where the row ends
 */
const VnTreeNode *
vn_forest_find_leaf (const VnForest *self,
                     gsize           root,
                     const double   *row)
{
  const VnTreeNode *node = &self->nodes[root];

  while (node->mode != VN_TREE_LEAF)
    node = &self->nodes[ml_tree_goes_yes (self, node, row[node->feature]) ? node->yes : node->no];
  return node;
}
