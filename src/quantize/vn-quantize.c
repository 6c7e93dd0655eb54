/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The quantizer's front: the opset of the result, the values to observe, and the plan made from their statistics. */
#include "vn-resolver.h"

#include "vn-error.h"
#include "vn-format-writer.h"
#include "vn-i18n.h"

/**
 * vn_quantize_get_opset:
 * @model: the model to quantize
 * @recipe: how
 *
 * Returns: the version of ai.onnx to raise @model to before quantizing: never less than it has
 */
gint64
vn_quantize_get_opset (const VnModel  *model,
                       const VnRecipe *recipe)
{
  g_return_val_if_fail (model != NULL && recipe != NULL, 0);

  return MAX (vn_recipe_get_needed_opset (recipe), vn_model_get_opset (model, ""));
}

static gboolean
quantize_may_need_range (VnResolver   *self,
                         const VnNode *node)
{
  const VnQuantNode *info = &self->quant_nodes[node->index];

  if (vn_quant_is_conversion (node))
    return FALSE;
  return info->selected || (info->op != NULL && (info->op->quant.in_ort_default ||
                                                 info->op->quant.role != VN_QUANT_OPAQUE));
}

static void
quantize_add_value (VnResolver *self,
                    VnValue    *value,
                    GPtrArray  *list,
                    GHashTable *seen)
{
  VnValue *original;

  if (value == NULL || value->initializer != NULL || !vn_resolver_can_quantize (self, value))
    return;
  original = vn_quant_scope_find_original (self->scope, value);
  if (g_hash_table_add (seen, original))
    g_ptr_array_add (list, original);
}

static void
quantize_list_graph (const VnModel       *model,
                     const VnRecipe      *recipe,
                     const VnQuantScope  *scope,
                     GPtrArray           *list,
                     GHashTable          *seen);

/* Those of the graphs inside @node. */
static void
quantize_list_bodies (const VnNode        *node,
                      const VnRecipe      *recipe,
                      const VnQuantScope  *scope,
                      GPtrArray           *list,
                      GHashTable          *seen)
{
  for (guint i = 0; i < node->attrs->len; i++)
    {
      const VnAttr *attr = g_ptr_array_index (node->attrs, i);
      g_autoptr(VnQuantScope) inner = attr->graph != NULL ? vn_quant_scope_new (scope, NULL, recipe, node, attr) : NULL;

      if (inner != NULL)
        quantize_list_graph (inner->model, inner->recipe, inner, list, seen);
    }
}

static void
quantize_list_graph (const VnModel       *model,
                     const VnRecipe      *recipe,
                     const VnQuantScope  *scope,
                     GPtrArray           *list,
                     GHashTable          *seen)
{
  g_autoptr(VnResolver) self = vn_resolver_new (model, recipe, scope, NULL, NULL);

  for (guint i = 0; self != NULL && i < self->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (self->nodes, i);

      if (self->scheme.placement.subgraphs)
        quantize_list_bodies (node, recipe, scope, list, seen);
      if (!quantize_may_need_range (self, node))
        continue;
      for (guint k = 0; k < node->inputs->len; k++)
        quantize_add_value (self, vn_node_get_input (node, k), list, seen);
      for (guint k = 0; k < node->outputs->len; k++)
        quantize_add_value (self, vn_node_get_output (node, k), list, seen);
    }
}

/**
 * vn_quantize_list_values:
 *
 * Nodes that @recipe excludes are included, as are operators that are quantized on demand only: the user may change
 * her mind without calibrating again.
 */
GPtrArray *
vn_quantize_list_values (const VnModel  *prepared,
                         const VnRecipe *recipe)
{
  g_autoptr(GHashTable) seen = g_hash_table_new (NULL, NULL);
  GPtrArray *list = g_ptr_array_new ();

  g_return_val_if_fail (prepared != NULL && recipe != NULL, list);

  if (vn_recipe_uses_samples (recipe))
    quantize_list_graph (prepared, recipe, NULL, list, seen);
  return list;
}

/* What the rows of constants keep of the recipe, for writing and for repairs. */
static void
quantize_record_constants (const VnQuantScheme *scheme,
                           VnQuantPlan         *plan)
{
  plan->write = scheme->write;
  for (guint i = 0; i < plan->rows->len; i++)
    {
      VnTensorPlan *row = &((VnQuantRow *) g_ptr_array_index (plan->rows, i))->tensor;
      gboolean weight = row->role == VN_TENSOR_WEIGHT;

      row->narrow = scheme->weights.narrow && row->role != VN_TENSOR_ACTIVATION;
      row->even_levels = weight && scheme->weights.symmetric && !scheme->scales.full_range;
      row->reduce_range = weight && scheme->weights.reduce_range;
    }
}

static void
quantize_record_nodes (VnResolver  *self,
                       VnQuantPlan *plan)
{
  for (guint i = 0; i < self->graph->nodes->len; i++)
    {
      plan->excluded[i] = self->quant_nodes[i].exclude_rule >= 0 || self->quant_nodes[i].tail ||
                          self->quant_nodes[i].placed_outside;
      plan->selected[i] = self->quant_nodes[i].selected;
      if (self->quant_nodes[i].annotated)
        g_hash_table_add (plan->nodes, vn_node_dup_label (g_ptr_array_index (self->graph->nodes, i)));
    }
  if (self->scheme.format->packed_matrices)
    plan->accuracy_levels = vn_recipe_list_for_nodes (self->recipe, VN_LAYER_ACCURACY_LEVEL, self->graph);
  for (guint i = 0; i < self->clamps->len; i++)
    {
      const VnNode *clamp = g_ptr_array_index (self->clamps, i);

      g_array_append_val (plan->clamps, clamp->index);
    }
}

static gboolean
quantize_check_model (const VnModel   *prepared,
                      const VnRecipe  *recipe,
                      GError         **error)
{
  gint64 opset = vn_model_get_opset (prepared, ""), needed = vn_recipe_get_least_opset (recipe);

  if (opset >= needed)
    return TRUE;

  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
               _("The model has opset %lld, this recipe needs %lld or more: prepare the model first"),
               (long long) opset, (long long) needed);
  return FALSE;
}

static gboolean
quantize_fill_integers (VnResolver   *self,
                        VnQuantPlan  *plan,
                        GError      **error)
{
  if (self->scope == NULL)
    vn_recipe_note_one_scale (self->recipe, self->notes);
  if (!vn_resolver_find_masks (self, error))
    return FALSE;
  vn_resolver_set_ranges (self);
  vn_resolver_annotate (self);
  vn_resolver_set_rules (self);
  vn_resolver_choose_wide (self);
  return vn_resolver_fill_rows (self, plan, error);
}

/* Nodes inside @node that multiply by weights. */
static guint
quantize_count_products_inside (const VnNode *node)
{
  static const char * const products[] = { "Conv", "ConvTranspose", "Gemm", "MatMul", "LSTM", "GRU", "RNN", NULL };
  guint n = 0;

  for (guint i = 0; i < node->attrs->len; i++)
    {
      const VnAttr *attr = g_ptr_array_index (node->attrs, i);

      for (guint k = 0; attr->graph != NULL && k < attr->graph->nodes->len; k++)
        {
          const VnNode *inner = g_ptr_array_index (attr->graph->nodes, k);

          n += g_strv_contains (products, inner->op_type) + quantize_count_products_inside (inner);
        }
    }
  return n;
}

/* Whether the format can do something with a node, whatever the recipe leaves out. */
static gboolean
quantize_has_operators (VnResolver *self)
{
  const VnFormatWriter *writer = vn_format_get_writer (self->scheme.format->format);

  for (guint i = 0; i < self->graph->nodes->len; i++)
    if (writer->has_operator == NULL || writer->has_operator (&self->scheme.write, g_ptr_array_index (self->graph->nodes, i)))
      return TRUE;
  return FALSE;
}

/* What lies inside graphs of nodes stays float. */
static gboolean
quantize_check_bodies (VnResolver  *self,
                       GError     **error)
{
  const VnNode *holder = NULL;
  g_autofree char *label = NULL;
  guint most = 0, all = 0;

  for (guint i = 0; i < self->graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (self->graph->nodes, i);
      guint n = quantize_count_products_inside (node);

      if (self->quant_nodes[i].exclude_rule >= 0 || self->quant_nodes[i].placed_outside)
        return TRUE;
      holder = n > most ? node : holder;
      most = MAX (most, n);
      all += n;
    }
  if (holder == NULL)
    return TRUE;
  label = vn_node_dup_label (holder);
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
               ngettext ("Nothing in this model can be quantized: %u layer with weights is in a subgraph, “%s” (%s), "
                         "which stays in float unless the setting “subgraphs” is on. Turn it on, and use samples that "
                         "take every branch. An If with a constant condition is replaced by its branch",
                         "Nothing in this model can be quantized: %u layers with weights are in subgraphs, most of "
                         "them in “%s” (%s), which stay in float unless the setting “subgraphs” is on. Turn it on, "
                         "and use samples that take every branch. An If with a constant condition is replaced by its "
                         "branch", all), all, label, holder->op_type);
  return FALSE;
}

/* A file that is called quantized, and holds the float network, helps nobody. */
static gboolean
quantize_check_result (VnResolver   *self,
                       VnQuantPlan  *plan,
                       GError      **error)
{
  if (vn_quant_plan_has_quantized (plan) || self->scheme.format->stays_float)
    return TRUE;
  if (!self->scheme.placement.subgraphs && !quantize_check_bodies (self, error))
    return FALSE;
  if (self->scheme.format->weights_only && !quantize_has_operators (self))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
                   ngettext ("Nothing in this model can be quantized: its %u node has no weights that the format “%s” "
                             "can store; choose another format",
                             "Nothing in this model can be quantized: none of its %u nodes has weights that the "
                             "format “%s” can store; choose another format", self->graph->nodes->len), self->graph->nodes->len,
                             self->scheme.format->id);
      return FALSE;
    }
  if (self->notes != NULL)
    vn_notes_add (self->notes, VN_NOTE_WARNING, "nothing-quantized", NULL,
                  _("Nothing in this model is quantized: the exported model computes in float"));
  return TRUE;
}

/* ---- resolving ---- */

/* Where ranges come from. */
typedef struct
{
  VnHistogramFunc       lookup;
  gpointer              data;
  const VnRangeFactors *factors;   /* nullable */
  const VnImportance   *importance;   /* nullable */
  const VnQuantScope   *scope;     /* whose tensors are asked for; NULL: those of the main graph */
} Ranges;

static VnQuantPlan *quantize_resolve_graph (const VnModel   *model,
                                            const VnRecipe  *recipe,
                                            const Ranges    *ranges,
                                            VnNotes         *notes,
                                            GError         **error);

/* A #VnHistogramFunc for graphs inside nodes: of what no sample has reached there is nothing. */
static const VnHistogram *
quantize_lookup_inside (const char *name,
                        gpointer    data)
{
  const Ranges *ranges = data;
  g_autofree char *key = vn_quant_scope_dup_key (ranges->scope, name);
  const VnHistogram *found = ranges->lookup != NULL ? ranges->lookup (key, ranges->data) : NULL;

  return found != NULL && found->n > 0 ? found : NULL;
}

static void
quantize_report_body (const VnQuantScope *scope,
                      const VnQuantPlan  *body,
                      VnNotes            *notes)
{
  if (notes != NULL && g_hash_table_size (body->nodes) > 0)
    vn_notes_add (notes, VN_NOTE_INFO, "quantized-inside", scope->holder,
                  ngettext ("In the graph “%s” inside “%s”, %u of %u node is quantized",
                            "In the graph “%s” inside “%s”, %u of %u nodes are quantized", body->n_nodes), scope->attr,
                            scope->holder,
                  g_hash_table_size (body->nodes), body->n_nodes);
}

static void
quantize_report_hidden (const VnNode *node,
                        const VnAttr *attr,
                        VnNotes      *notes)
{
  g_autofree char *label = vn_node_dup_label (node);

  if (notes != NULL)
    vn_notes_add (notes, VN_NOTE_WARNING, "hidden-name", label,
                  _("The graph “%s” inside “%s” stays in float: its name is not unique, or one of its tensors has the "
                    "name of a tensor it reads from outside; rename one of the two"), attr->name, label);
}

static gboolean
quantize_resolve_body (const VnNode    *node,
                       const VnAttr    *attr,
                       const VnRecipe  *recipe,
                       const Ranges    *ranges,
                       VnQuantPlan     *plan,
                       VnNotes         *notes,
                       GError         **error)
{
  g_autoptr(VnQuantScope) scope = vn_quant_scope_new (ranges->scope, plan, recipe, node, attr);
  Ranges inner = { .lookup = ranges->lookup, .data = ranges->data, .scope = scope };
  g_autoptr(VnQuantPlan) body = NULL;

  if (scope == NULL)
    {
      quantize_report_hidden (node, attr, notes);
      return TRUE;
    }
  body = quantize_resolve_graph (scope->model, scope->recipe, &inner, notes, error);
  if (body == NULL)
    {
      g_prefix_error (error, _("in the graph “%s” inside “%s”: "), attr->name, scope->holder);
      return FALSE;
    }
  if (!vn_quant_plan_has_quantized (body))
    return TRUE;
  quantize_report_body (scope, body, notes);
  vn_quant_plan_take_body (plan, node->index, attr->name, g_steal_pointer (&body));
  return TRUE;
}

/* Lists of nodes may leave a node out; one of those to quantize may name others inside it. */
static gboolean
quantize_goes_inside (VnResolver   *self,
                      const VnNode *node)
{
  const VnQuantNode *info = &self->quant_nodes[node->index];

  return info->exclude_rule < 0 && !info->tail && !info->blind &&
         (!info->placed_outside || self->scheme.placement.only_nodes != NULL);
}

static gboolean
quantize_resolve_bodies (VnResolver    *self,
                         const Ranges  *ranges,
                         VnQuantPlan   *plan,
                         GError       **error)
{
  for (guint i = 0; self->scheme.placement.subgraphs && i < self->graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (self->graph->nodes, i);

      for (guint a = 0; a < node->attrs->len && quantize_goes_inside (self, node); a++)
        {
          const VnAttr *attr = g_ptr_array_index (node->attrs, a);

          if (attr->graph != NULL && !quantize_resolve_body (node, attr, self->recipe, ranges, plan, self->notes, error))
            return FALSE;
        }
    }
  return TRUE;
}

static gboolean
quantize_fill (VnResolver    *self,
               const Ranges  *ranges,
               VnQuantPlan   *plan,
               GError       **error)
{
  if (!self->scheme.format->has_scales)
    return vn_resolver_fill_half (self, plan, error);
  return quantize_fill_integers (self, plan, error) && quantize_resolve_bodies (self, ranges, plan, error);
}

static VnQuantPlan *
quantize_resolve_graph (const VnModel   *model,
                        const VnRecipe  *recipe,
                        const Ranges    *ranges,
                        VnNotes         *notes,
                        GError         **error)
{
  g_autoptr(VnResolver) self = vn_resolver_new (model, recipe, ranges->scope, notes, error);
  g_autoptr(VnQuantPlan) plan = NULL;
  gboolean inside = ranges->scope != NULL;

  if (self == NULL || !vn_resolver_load_encodings (self, error))
    return NULL;

  self->lookup = inside ? quantize_lookup_inside : ranges->lookup;
  self->lookup_data = inside ? (gpointer) ranges : ranges->data;
  self->factors = ranges->factors;
  self->importance = ranges->importance;
  if (vn_recipe_needs_samples (recipe))
    vn_resolver_skip_blind (self);
  if (vn_recipe_needs_samples (recipe) && !inside)
    vn_resolver_leave_mixed (self);
  plan = vn_quant_plan_new (self->graph->nodes->len);
  if (inside && vn_recipe_needs_samples (recipe) && !vn_resolver_skip_unseen (self, plan, error))
    return NULL;
  if (!quantize_fill (self, ranges, plan, error) || (!inside && !quantize_check_result (self, plan, error)))
    return NULL;
  quantize_record_constants (&self->scheme, plan);
  quantize_record_nodes (self, plan);
  vn_resolver_tie_tables (self, plan);
  return g_steal_pointer (&plan);
}

/*< private >
 * vn_quantize_resolve_factors:
 * @lookup: histogram of a tensor by vn_value_dup_key(), or %NULL
 * @factors: (nullable): what ranges are multiplied by
 * @importance: (nullable): of weights, for recipes that ask for it
 *
 * vn_quantize_resolve() for statistics from anywhere.
 */
VnQuantPlan *
vn_quantize_resolve_factors (const VnModel         *prepared,
                             const VnRecipe        *recipe,
                             VnHistogramFunc        lookup,
                             gpointer               data,
                             const VnRangeFactors  *factors,
                             const VnImportance    *importance,
                             VnNotes               *notes,
                             GError               **error)
{
  const Ranges ranges = { .lookup = lookup, .data = data, .factors = factors, .importance = importance };

  g_return_val_if_fail (prepared != NULL && recipe != NULL, NULL);

  if (!vn_recipe_validate (recipe, error) || !quantize_check_model (prepared, recipe, error))
    return NULL;
  return quantize_resolve_graph (prepared, recipe, &ranges, notes, error);
}

/*< private >
 * vn_quantize_resolve_with:
 * @lookup: histogram of a tensor by name, or %NULL
 *
 * The same with ranges as they are.
 */
VnQuantPlan *
vn_quantize_resolve_with (const VnModel    *prepared,
                          const VnRecipe   *recipe,
                          VnHistogramFunc   lookup,
                          gpointer          data,
                          VnNotes          *notes,
                          GError          **error)
{
  g_return_val_if_fail (prepared != NULL && recipe != NULL, NULL);

  return vn_quantize_resolve_factors (prepared, recipe, lookup, data, NULL, NULL, notes, error);
}

static const VnHistogram *
quantize_lookup_stats (const char *value_name,
                       gpointer    data)
{
  return vn_stats_get (data, value_name);
}

/**
 * vn_quantize_resolve:
 * @prepared: from vn_prepare_model(), with types inferred
 * @recipe: how to quantize
 * @stats: ranges of at least what vn_quantize_list_values() lists for nodes that are quantized; where they lack what
 *   depends on a node that cannot be run here, the nodes stay float
 * @notes: (nullable): rules without effect, biases left in float, infinite values
 *
 * Returns: (transfer full): the plan, or %NULL: a setting that cannot be followed, a tensor without statistics, NaN
 */
VnQuantPlan *
vn_quantize_resolve (const VnModel   *prepared,
                     const VnRecipe  *recipe,
                     VnStats         *stats,
                     VnNotes         *notes,
                     GError         **error)
{
  g_return_val_if_fail (prepared != NULL && recipe != NULL && stats != NULL, NULL);

  return vn_quantize_resolve_factors (prepared, recipe, quantize_lookup_stats, stats,
                                      vn_recipe_has_factors (recipe) ? vn_stats_get_factors (stats) : NULL,
                                      vn_stats_get_importance (stats), notes, error);
}
