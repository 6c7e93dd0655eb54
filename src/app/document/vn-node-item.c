/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A node in the lists of the window: its label, what was measured and decided about it, and whether a search finds
 * it. */
#include "vn-node-item.h"

#include "vn-format-model.h"
#include "vn-heat.h"

#include <math.h>

enum { PROP_0, PROP_LABEL, PROP_REVISION, N_PROPS };

static GParamSpec *props[N_PROPS];

G_DEFINE_FINAL_TYPE (VnNodeItem, vn_node_item, G_TYPE_OBJECT)

static void
vn_node_item_finalize (GObject *object)
{
  VnNodeItem *self = VN_NODE_ITEM (object);

  g_free (self->label);
  g_free (self->shape);
  G_OBJECT_CLASS (vn_node_item_parent_class)->finalize (object);
}

static void
vn_node_item_get_property (GObject    *object,
                           guint       id,
                           GValue     *value,
                           GParamSpec *pspec)
{
  VnNodeItem *self = VN_NODE_ITEM (object);

  if (id == PROP_LABEL)
    g_value_set_string (value, self->label);
  else if (id == PROP_REVISION)
    g_value_set_uint (value, self->revision);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
vn_node_item_class_init (VnNodeItemClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->finalize = vn_node_item_finalize;
  object_class->get_property = vn_node_item_get_property;
  props[PROP_LABEL] = g_param_spec_string ("label", NULL, NULL, NULL,
                                           G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  props[PROP_REVISION] = g_param_spec_uint ("revision", NULL, NULL, 0, G_MAXUINT, 0,
                                            G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, props);
}

static void
vn_node_item_init (VnNodeItem *self)
{
  for (guint i = 0; i < VN_N_METRICS; i++)
    self->metrics[i] = NAN;
}

/**
 * vn_node_item_new:
 * @node: a node of an opened model, which has to outlive the item
 *
 * Returns: (transfer full): an item that nothing was measured for yet
 */
VnNodeItem *
vn_node_item_new (const VnNode *node)
{
  VnNodeItem *self = g_object_new (VN_TYPE_NODE_ITEM, NULL);
  VnValue *output = node->outputs->len > 0 ? vn_node_get_output (node, 0) : NULL;

  self->node = node;
  self->index = node->index;
  self->label = vn_node_dup_label (node);
  self->name = self->label;
  self->shape = output != NULL ? vn_format_shape (&output->type) : g_strdup ("");
  for (guint i = 0; i < node->inputs->len; i++)
    {
      VnValue *input = vn_node_get_input (node, i);

      if (input != NULL && input->initializer != NULL)
        self->weight_bytes += input->initializer->n_bytes;
    }
  return self;
}

/**
 * vn_recipe_has_rule:
 *
 * Returns: whether @recipe has a rule for just the node with this label
 */
gboolean
vn_recipe_has_rule (const VnRecipe *recipe,
                    const char     *label)
{
  for (guint i = 0; i < recipe->overrides->len; i++)
    {
      const VnOverride *rule = g_ptr_array_index (recipe->overrides, i);

      if (g_strcmp0 (rule->pattern, label) == 0)
        return TRUE;
    }
  return FALSE;
}

/**
 * vn_recipe_excludes:
 *
 * Returns: whether the patterns of @recipe alone leave @node in float; the last rule that matches decides, and a region
 *   may say something else
 */
gboolean
vn_recipe_excludes (const VnRecipe *recipe,
                    const VnNode   *node)
{
  gboolean excluded = FALSE;

  for (guint i = 0; i < recipe->overrides->len; i++)
    {
      const VnOverride *rule = g_ptr_array_index (recipe->overrides, i);

      if (rule->enabled && (rule->in_edges != NULL || rule->out_edges != NULL))
        excluded = FALSE;
      else if (rule->enabled && rule->pattern != NULL && vn_override_matches (rule, node))
        excluded = rule->exclude;
    }
  return excluded;
}

/**
 * vn_node_item_update:
 * @result: (nullable): the last run
 * @recipe: what holds now
 * @rule: number of the rule of @recipe that decides about the node, or -1
 * @metric: that lists colour by
 * @share_handles: of the contribution in this run
 *
 * Takes over what was measured and decided, and tells whoever shows the item.
 */
void
vn_node_item_update (VnNodeItem     *self,
                     VnRun          *result,
                     const VnRecipe *recipe,
                     int             rule,
                     VnMetric        metric,
                     VnHeatHandles   share_handles)
{
  const VnErrorRow *row;

  g_return_if_fail (VN_IS_NODE_ITEM (self));

  row = result != NULL ? vn_run_get_node_error (result, self->node) : NULL;
  self->excluded = rule >= 0 && ((const VnOverride *) g_ptr_array_index (recipe->overrides, rule))->exclude;
  self->has_rule = vn_recipe_has_rule (recipe, self->label);
  self->metric = metric;
  self->share_handles = share_handles;
  self->handles = metric == VN_METRIC_CONTRIBUTION ? share_handles : vn_heat_default_handles (metric);
  self->measured = row != NULL;
  self->n_bad = row != NULL ? row->n_bad : 0;
  for (guint i = 0; i < VN_N_METRICS; i++)
    self->metrics[i] = row != NULL ? vn_metric_get (row, (VnMetric) i) : NAN;
  self->precision = result != NULL ? vn_run_get_node_dtype (result, self->node) : VN_DTYPE_UNDEFINED;
  self->rated = result != NULL ? vn_run_get_rated_error (result, self->node) : NULL;
  self->revision++;
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_REVISION]);
}

/**
 * vn_node_item_is_rated:
 *
 * Returns: whether the node counts by the metric that lists go by: see vn_run_get_rated_error()
 */
gboolean
vn_node_item_is_rated (VnNodeItem *self)
{
  g_return_val_if_fail (VN_IS_NODE_ITEM (self), FALSE);

  return self->rated != NULL && vn_metric_is_measured (self->rated, self->metric);
}

/**
 * vn_node_item_get_axis:
 *
 * Returns: where the node lies on the axis of the metric that lists go by, higher is better; NaN, the worst, if it gives values
 *   that are no numbers
 */
double
vn_node_item_get_axis (VnNodeItem *self)
{
  g_return_val_if_fail (VN_IS_NODE_ITEM (self), NAN);

  return self->n_bad > 0 ? NAN : vn_heat_axis (self->metric, self->metrics[self->metric]);
}

/**
 * vn_node_item_get_ticks:
 *
 * Returns: 0 to 4, see vn_heat_ticks(); of a node that is rated
 */
guint
vn_node_item_get_ticks (VnNodeItem *self)
{
  g_return_val_if_fail (VN_IS_NODE_ITEM (self), 0);

  return vn_heat_ticks (vn_node_item_get_axis (self), self->handles);
}

/**
 * vn_node_item_format:
 *
 * Returns: (transfer full): the metric that lists go by, with its unit; "" if the node is not rated
 */
char *
vn_node_item_format (VnNodeItem *self)
{
  g_return_val_if_fail (VN_IS_NODE_ITEM (self), NULL);

  return vn_node_item_is_rated (self) ? vn_metric_format (self->metric, self->metrics[self->metric]) : g_strdup ("");
}

/**
 * vn_node_item_is_float:
 *
 * Returns: whether the node is left in float: in the run that is shown, or before there is one by a rule
 */
gboolean
vn_node_item_is_float (VnNodeItem *self)
{
  g_return_val_if_fail (VN_IS_NODE_ITEM (self), FALSE);

  return self->precision != VN_DTYPE_UNDEFINED ? vn_dtype_is_float (self->precision) : self->excluded;
}

/**
 * vn_node_item_set_local:
 * @local: from vn_local_errors_new()
 */
void
vn_node_item_set_local (VnNodeItem *self,
                        GHashTable *local)
{
  const double *value;

  g_return_if_fail (VN_IS_NODE_ITEM (self));
  g_return_if_fail (local != NULL);

  value = self->rated != NULL ? g_hash_table_lookup (local, self->rated->value) : NULL;
  self->local_db = value != NULL ? *value : NAN;
}

/**
 * vn_node_item_set_handles:
 * @handles: of the metric that lists go by, where the user has put them
 */
void
vn_node_item_set_handles (VnNodeItem    *self,
                          VnHeatHandles  handles)
{
  g_return_if_fail (VN_IS_NODE_ITEM (self));

  self->handles = handles;
  if (self->metric == VN_METRIC_CONTRIBUTION)
    self->share_handles = handles;
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_REVISION]);
}

/**
 * vn_node_item_get_band_id:
 *
 * Returns: (nullable): "fine", "watch" or "bad", as it is shown; %NULL: it has no error
 */
const char *
vn_node_item_get_band_id (VnNodeItem *self)
{
  g_return_val_if_fail (VN_IS_NODE_ITEM (self), NULL);

  return vn_node_item_is_rated (self) ? vn_band_get_id (vn_heat_get_band (vn_node_item_get_ticks (self))) : NULL;
}

/**
 * vn_node_item_matches:
 *
 * Returns: whether a search finds the node
 */
gboolean
vn_node_item_matches (VnNodeItem        *self,
                      const VnNodeQuery *query)
{
  VnNodeFacts facts;

  g_return_val_if_fail (VN_IS_NODE_ITEM (self), FALSE);
  g_return_val_if_fail (query != NULL, FALSE);

  facts = (VnNodeFacts) { .node = self->node, .label = self->label, .row = self->rated, .dtype = self->precision,
                           .local_db = self->local_db,
                           .band = vn_node_item_get_band_id (self) };
  return vn_node_query_matches (query, &facts);
}

/**
 * vn_node_item_get_badge:
 *
 * Returns: the letters of the output's precision, or %NULL while nothing is decided
 */
const char *
vn_node_item_get_badge (VnNodeItem *self)
{
  g_return_val_if_fail (VN_IS_NODE_ITEM (self), NULL);

  return self->precision != VN_DTYPE_UNDEFINED ? vn_dtype_get_badge (self->precision) : NULL;
}
