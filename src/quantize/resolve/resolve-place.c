/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Where a recipe quantizes at all: which operators, which nodes, which part of the network. */

#include "vn-format-writer.h"
#include "vn-resolver.h"

#include "vn-error.h"
#include "vn-i18n.h"

static gboolean
resolve_place_node_in_list (char         **list,
                            const VnNode  *node,
                            const char    *label)
{
  for (guint i = 0; list[i] != NULL; i++)
    if (vn_pattern_matches_node (list[i], node, label))
      return TRUE;
  return FALSE;
}

static gboolean
resolve_place_list_means (const VnGraph *graph,
                          gpointer       list)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      g_autofree char *label = vn_node_dup_label (g_ptr_array_index (graph->nodes, i));

      if (resolve_place_node_in_list (list, g_ptr_array_index (graph->nodes, i), label))
        return TRUE;
    }
  return FALSE;
}

static void
resolve_place_warn_about_misses (VnResolver  *self,
                                 char       **list,
                                 const char  *setting,
                                 char       **labels)
{
  for (guint k = 0; list != NULL && list[k] != NULL && self->notes != NULL && self->scope == NULL; k++)
    {
      char *single[] = { list[k], NULL };
      gboolean found = FALSE;

      for (guint i = 0; i < self->graph->nodes->len && !found; i++)
        found = vn_pattern_matches_node (list[k], g_ptr_array_index (self->graph->nodes, i), labels[i]);
      if (!found && !vn_resolver_is_meant_inside (self, resolve_place_list_means, single))
        vn_notes_add (self->notes, VN_NOTE_WARNING, "setting-matches-nothing", list[k],
                      _("%s: “%s” matches no node of the prepared model"), setting, list[k]);
    }
}

/* ---- in front of the first nodes, behind the last ---- */

static void
resolve_place_follow_back (const VnNode *node,
                           gboolean     *outside,
                           GQueue       *todo)
{
  for (guint i = 0; i < node->inputs->len; i++)
    {
      const VnValue *value = vn_node_get_input (node, i);

      if (value == NULL || value->graph != node->graph || value->producer == NULL || outside[value->producer->index])
        continue;
      outside[value->producer->index] = TRUE;
      g_queue_push_tail (todo, value->producer);
    }
}

static void
resolve_place_follow_on (const VnNode *node,
                         gboolean     *outside,
                         GQueue       *todo)
{
  for (guint i = 0; i < node->outputs->len; i++)
    {
      const VnValue *value = vn_node_get_output (node, i);

      for (guint k = 0; value != NULL && k < value->uses->len; k++)
        {
          VnNode *user = g_array_index (value->uses, VnUse, k).node;

          if (user->graph != node->graph || outside[user->index])
            continue;
          outside[user->index] = TRUE;
          g_queue_push_tail (todo, user);
        }
    }
}

/* Deselects all nodes from which one of @list can be reached, or which can be reached from one; not those of @list. */
static void
resolve_place_cut_off (VnResolver  *self,
                       char       **list,
                       gboolean     in_front,
                       char       **labels)
{
  g_autofree gboolean *outside = g_new0 (gboolean, self->graph->nodes->len + 1);
  g_autoptr(GQueue) todo = g_queue_new ();

  for (guint i = 0; i < self->graph->nodes->len; i++)
    if (resolve_place_node_in_list (list, g_ptr_array_index (self->graph->nodes, i), labels[i]))
      g_queue_push_tail (todo, g_ptr_array_index (self->graph->nodes, i));
  while (!g_queue_is_empty (todo))
    {
      const VnNode *node = g_queue_pop_head (todo);

      if (in_front)
        resolve_place_follow_back (node, outside, todo);
      else
        resolve_place_follow_on (node, outside, todo);
    }
  for (guint i = 0; i < self->graph->nodes->len; i++)
    if (outside[i] && !resolve_place_node_in_list (list, g_ptr_array_index (self->graph->nodes, i), labels[i]))
      self->quant_nodes[i].placed_outside = TRUE;
}

/* ---- one node ---- */

static gboolean
resolve_place_type_in_list (char       **list,
                            const char  *type)
{
  for (guint i = 0; list != NULL && list[i] != NULL; i++)
    if (vn_pattern_matches_text (list[i], type))
      return TRUE;
  return FALSE;
}

/* Whether @node multiplies two activations. */
static gboolean
resolve_place_is_free_product (const VnNode *node)
{
  const VnValue *right = vn_node_get_input (node, 1);

  return g_str_equal (node->op_type, "MatMul") && right != NULL && right->initializer == NULL;
}

/* Whether the format can do something with @node. */
static gboolean
resolve_place_format_has (VnResolver   *self,
                          const VnNode *node)
{
  const VnFormatWriter *writer = vn_format_get_writer (self->scheme.format->format);

  return writer->has_operator == NULL || writer->has_operator (&self->scheme.write, node);
}

static gboolean
resolve_place_is_wanted (VnResolver   *self,
                         const VnNode *node)
{
  const VnQuantNode *info = &self->quant_nodes[node->index];

  if (info->rule >= 0)
    return TRUE;
  if (resolve_place_type_in_list (self->scheme.placement.float_types, node->op_type))
    return FALSE;
  if (self->scheme.placement.op_types != NULL)
    return resolve_place_type_in_list (self->scheme.placement.op_types, node->op_type);
  return self->scheme.placement.any_operator || (self->scheme.format->weights_only && vn_quant_has_experts (node)) ||
         (info->op != NULL && info->op->quant.in_ort_default);
}

/* ---- values ---- */

static void
resolve_place_keep_float (VnResolver  *self,
                          GPtrArray   *values,
                          char       **list,
                          const char  *setting)
{
  for (guint k = 0; list != NULL && list[k] != NULL; k++)
    {
      gboolean found = FALSE;

      for (guint i = 0; i < values->len; i++)
        {
          const VnValue *value = g_ptr_array_index (values, i);

          if (!vn_pattern_matches_text (list[k], value->name) || value->graph != self->graph)
            continue;
          vn_resolver_get_annotation (self, value)->keep_float = TRUE;
          found = TRUE;
        }
      if (!found && self->notes != NULL)
        vn_notes_add (self->notes, VN_NOTE_WARNING, "setting-matches-nothing", list[k],
                      _("%s: the model has no “%s”"), setting, list[k]);
    }
}

static gboolean
resolve_place_types_mean (const VnGraph *graph,
                          gpointer       list)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    if (resolve_place_type_in_list (list, ((const VnNode *) g_ptr_array_index (graph->nodes, i))->op_type))
      return TRUE;
  return FALSE;
}

/* A list that says what to quantize and means nothing here: a slip of the pen, not a wish for a float network. */
static gboolean
resolve_place_check_lists (VnResolver  *self,
                           char       **labels,
                           GError     **error)
{
  const VnPlacementScheme *placement = &self->scheme.placement;
  gboolean any_type = placement->op_types == NULL, any_node = placement->only_nodes == NULL;
  g_autofree char *names = NULL;

  for (guint i = 0; i < self->graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (self->graph->nodes, i);

      any_type = any_type || resolve_place_type_in_list (placement->op_types, node->op_type);
      any_node = any_node || resolve_place_node_in_list (placement->only_nodes, node, labels[i]);
    }
  any_type = any_type || vn_resolver_is_meant_inside (self, resolve_place_types_mean, placement->op_types);
  any_node = any_node || vn_resolver_is_meant_inside (self, resolve_place_list_means, placement->only_nodes);
  if ((any_type && any_node) || self->scope != NULL)
    return TRUE;
  names = g_strjoinv (", ", any_type ? placement->only_nodes : placement->op_types);
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
               _("%s: no node of the model matches “%s”; “inspect” lists operators, names are matched as globs"),
               any_type ? "only-nodes" : "op-types", names);
  return FALSE;
}

/* Operators whose weights are to have scales of a kind, of which the network has none. What a preset says is for all networks. */
static void
resolve_place_warn_about_types (VnResolver  *self,
                                char       **list,
                                char       **of_preset,
                                const char  *setting)
{
  for (guint k = 0; list != NULL && list[k] != NULL; k++)
    {
      char *one[] = { list[k], NULL };

      if ((of_preset == NULL || !g_strv_contains ((const char * const *) of_preset, list[k])) &&
          !resolve_place_types_mean (self->graph, one) && !vn_resolver_is_meant_inside (self, resolve_place_types_mean, one))
        vn_notes_add (self->notes, VN_NOTE_WARNING, "setting-matches-nothing", list[k],
                      _("%s: the model has no operator “%s”; “inspect” lists them. Specify one operator at a time"), setting,
                      list[k]);
    }
}

static void
resolve_place_warn_about_all_types (VnResolver *self)
{
  static const struct { gsize offset; const char *setting; } lists[] = {
    { G_STRUCT_OFFSET (VnRecipe, channel_types), "channel-types" },
    { G_STRUCT_OFFSET (VnRecipe, power_of_two_types), "power-of-two-types" },
    { G_STRUCT_OFFSET (VnRecipe, float_output_types), "float-output-types" },
  };
  g_autoptr(VnRecipe) preset = NULL;

  if (self->notes == NULL || self->scope != NULL)
    return;
  preset = vn_recipe_new (self->scheme.preset);
  for (guint i = 0; i < G_N_ELEMENTS (lists); i++)
    resolve_place_warn_about_types (self, G_STRUCT_MEMBER (char **, self->recipe, lists[i].offset),
                                    G_STRUCT_MEMBER (char **, preset, lists[i].offset), lists[i].setting);
}

/*< private >
 * vn_resolver_place:
 * @labels: what vn_node_dup_label() says of each node
 *
 * Decides which nodes may be quantized and which inputs and outputs must not. The rules have been applied.
 *
 * Returns: %FALSE with %VN_ERROR_SETTING if a list of what to quantize means no node
 */
gboolean
vn_resolver_place (VnResolver  *self,
                   char       **labels,
                   GError     **error)
{
  const VnPlacementScheme *placement;

  g_return_val_if_fail (self != NULL, FALSE);

  placement = &self->scheme.placement;
  if (!resolve_place_check_lists (self, labels, error))
    return FALSE;
  resolve_place_warn_about_all_types (self);
  resolve_place_warn_about_misses (self, placement->only_nodes, "only-nodes", labels);
  resolve_place_warn_about_misses (self, placement->input_nodes, "input-nodes", labels);
  resolve_place_warn_about_misses (self, placement->output_nodes, "output-nodes", labels);
  if (placement->input_nodes != NULL)
    resolve_place_cut_off (self, placement->input_nodes, TRUE, labels);
  if (placement->output_nodes != NULL)
    resolve_place_cut_off (self, placement->output_nodes, FALSE, labels);

  for (guint i = 0; i < self->graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (self->graph->nodes, i);
      VnQuantNode *info = &self->quant_nodes[i];

      if (placement->only_nodes != NULL && !resolve_place_node_in_list (placement->only_nodes, node, labels[i]))
        info->placed_outside = TRUE;
      info->selected = info->exclude_rule < 0 && !info->placed_outside && !info->tail &&
                       !vn_quant_is_conversion (node) && resolve_place_format_has (self, node) &&
                       resolve_place_is_wanted (self, node) &&
                       !(placement->constant_matmul_only && resolve_place_is_free_product (node)) &&
                       !(placement->float_small_products && info->rule < 0 && vn_resolver_is_small_product (node));
    }
  resolve_place_keep_float (self, self->graph->inputs, placement->float_inputs, "float-inputs");
  resolve_place_keep_float (self, self->graph->outputs, placement->float_outputs, "float-outputs");
  return TRUE;
}
