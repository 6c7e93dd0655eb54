/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What lies in a graph inside a node that no sample has run: it has no ranges and stays in float. */
#include "vn-resolver.h"

#include "vn-error.h"
#include "vn-i18n.h"

static gboolean
resolve_unseen_is_value (VnResolver    *self,
                         const VnValue *value)
{
  return value != NULL && value->initializer == NULL && vn_resolver_can_quantize (self, value) &&
         self->lookup (value->name, self->lookup_data) == NULL && vn_resolver_get_encoding (self, value) == NULL;
}

static gboolean
resolve_unseen_is_touched (VnResolver   *self,
                           const VnNode *node)
{
  for (guint i = 0; i < node->inputs->len; i++)
    if (resolve_unseen_is_value (self, vn_node_get_input (node, i)))
      return TRUE;
  for (guint i = 0; i < node->outputs->len; i++)
    if (resolve_unseen_is_value (self, vn_node_get_output (node, i)))
      return TRUE;
  return FALSE;
}

static gboolean
resolve_unseen_is_named (VnResolver   *self,
                         const VnNode *node,
                         const char   *label)
{
  const VnOverride *rule = vn_resolver_get_rule (self, self->quant_nodes[node->index].rule);

  return (self->scheme.placement.only_nodes != NULL &&
          g_strv_contains ((const char * const *) self->scheme.placement.only_nodes, label)) ||
         (rule != NULL && g_strcmp0 (rule->pattern, label) == 0);
}

/* Of what lies in a graph that is told of already nothing is said. */
static void
resolve_unseen_report (VnResolver *self,
                       guint       n,
                       guint       n_products)
{
  const VnQuantScope *scope = self->scope;

  if (n == 0 || self->notes == NULL || (scope->outer_plan != NULL && scope->outer_plan->unreached))
    return;
  vn_notes_add (self->notes, n_products > 0 ? VN_NOTE_WARNING : VN_NOTE_INFO, "not-reached", scope->holder,
                ngettext ("No sample reached %u node of the graph “%s” inside “%s”, so its range is unknown: it stays "
                          "in float. Also calibrate with samples that reach it",
                          "No sample reached %u nodes of the graph “%s” inside “%s”, so their ranges are unknown: "
                          "they stay in float. Also calibrate with samples that reach them", n), n, scope->attr, scope->holder);
}

static gboolean
resolve_unseen_refuse (const char  *label,
                       GError     **error)
{
  g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
               _("“%s” cannot be quantized because no sample reached it: calibrate with samples that do, or exclude it"), label);
  return FALSE;
}

static gboolean
resolve_unseen_has_weights (const VnNode *node)
{
  for (guint i = 0; i < node->inputs->len; i++)
    {
      const VnValue *value = vn_node_get_input (node, i);

      if (value != NULL && value->initializer != NULL && value->initializer->dtype == VN_DTYPE_F32 &&
          value->initializer->shape.rank > 1)
        return TRUE;
    }
  return FALSE;
}

/*< private >
 * vn_resolver_skip_unseen:
 * @plan: of the graph
 *
 * What lies in a branch that no sample has taken has no ranges: it stays float, and a note says so.
 *
 * Returns: %FALSE with %VN_ERROR_MISSING_DATA if the recipe names such a node
 */
gboolean
vn_resolver_skip_unseen (VnResolver   *self,
                         VnQuantPlan  *plan,
                         GError      **error)
{
  guint n = 0, n_products = 0, n_seen = 0;

  g_return_val_if_fail (self != NULL && self->scope != NULL && self->lookup != NULL && plan != NULL, FALSE);

  for (guint i = 0; i < self->graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (self->graph->nodes, i);
      g_autofree char *label = NULL;

      if (!self->quant_nodes[i].selected || !resolve_unseen_is_touched (self, node))
        {
          n_seen += self->quant_nodes[i].selected;
          continue;
        }
      label = vn_node_dup_label (node);
      if (resolve_unseen_is_named (self, node, label))
        return resolve_unseen_refuse (label, error);
      self->quant_nodes[i].blind = TRUE;
      self->quant_nodes[i].selected = FALSE;
      n++;
      n_products += resolve_unseen_has_weights (node);
    }
  plan->unreached = (n > 0 && n_seen == 0) || (self->scope->outer_plan != NULL && self->scope->outer_plan->unreached);
  resolve_unseen_report (self, n, n_products);
  return TRUE;
}
