/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Raises the version of the standard operators, one version after the other. The rules (opset-table.c) cover every
 * operator whose inputs, attributes or meaning changed up to MAX_OPSET; the others took in more element types only. */
#include "vn-rewrite-private.h"

#define MAX_OPSET 25

/* The IR version that came with an opset: runtimes expect at least that. */
static const struct {
  gint64 opset;
  gint64 ir_version;
} ir_versions[] = {
  { 8, 3 }, { 9, 4 }, { 10, 5 }, { 11, 6 }, { 12, 7 }, { 15, 8 }, { 19, 9 }, { 21, 10 }, { 23, 11 }, { 24, 12 },
  { 25, 13 },
};

static gboolean
opset_apply_rule (VnOpsetStep        *step,
                  const VnOpsetRule  *rule,
                  VnNode             *node,
                  GError            **error)
{
  g_autofree char *label = vn_node_dup_label (node);
  GError *local = NULL;

  if (rule->func (step, node, &local))
    vn_edit_log_add (step->ctx->log, "set", label, NULL, "%s", _(rule->what));
  else if (local != NULL)
    {
      g_propagate_prefixed_error (error, local, _("node “%s” (%s): "), label, rule->op_type);
      return FALSE;
    }
  return TRUE;
}

/* In the body of a function an attribute may stand for one that each call sets: not known here. */
static gboolean
opset_has_parameters (const VnNode *node)
{
  for (guint i = 0; i < node->attrs->len; i++)
    if (((const VnAttr *) g_ptr_array_index (node->attrs, i))->ref_name != NULL)
      return TRUE;
  return FALSE;
}

static gboolean
opset_refuse_parameters (VnOpsetStep  *step,
                         VnNode       *node,
                         GError      **error)
{
  g_autofree char *label = vn_node_dup_label (node);

  vn_opset_refuse (step, _("its attributes are parameters of a function"), error);
  g_prefix_error (error, _("node “%s” (%s): "), label, node->op_type);
  return FALSE;
}

static gboolean
opset_convert_node (VnOpsetStep  *step,
                    VnNode       *node,
                    GError      **error)
{
  guint n;
  const VnOpsetRule *rules = vn_opset_rules (&n);

  for (guint i = 0; i < n; i++)
    if (rules[i].version == step->version && *node->domain == '\0' &&
        (g_str_equal (rules[i].op_type, "*") || g_str_equal (rules[i].op_type, node->op_type)) &&
        (opset_has_parameters (node) ? !opset_refuse_parameters (step, node, error)
         : !opset_apply_rule (step, &rules[i], node, error)))
      return FALSE;
  return TRUE;
}

static gboolean opset_convert_graph (VnOpsetStep  *step,
                                     VnGraph      *graph,
                                     GError      **error);

/* And the graphs inside them. */
static gboolean
opset_convert_list (VnOpsetStep  *step,
                    GPtrArray    *nodes,
                    GError      **error)
{
  for (guint i = 0; i < nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (nodes, i);

      for (guint a = 0; a < node->attrs->len; a++)
        {
          VnAttr *attr = g_ptr_array_index (node->attrs, a);

          if (attr->graph != NULL && !opset_convert_graph (step, attr->graph, error))
            return FALSE;
          for (guint g = 0; attr->graphs != NULL && g < attr->graphs->len; g++)
            if (!opset_convert_graph (step, g_ptr_array_index (attr->graphs, g), error))
              return FALSE;
        }
      if (!opset_convert_node (step, node, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
opset_convert_graph (VnOpsetStep  *step,
                     VnGraph      *graph,
                     GError      **error)
{
  g_autoptr(GPtrArray) nodes = vn_rewrite_list_nodes (graph);

  return !g_cancellable_set_error_if_cancelled (step->ctx->cancellable, error) && opset_convert_list (step, nodes, error);
}

/**
 * vn_opset_convert_nodes:
 * @nodes: (element-type VnNode): written for opset @from of the standard operators
 *
 * Converts nodes, and the graphs inside them, to the newer opset @to, as far as its versions are known.
 */
gboolean
vn_opset_convert_nodes (VnPassContext *ctx,
                        GPtrArray     *nodes,
                        gint64         from,
                        gint64         to,
                        GError       **error)
{
  for (gint64 version = from + 1; version <= MIN (to, MAX_OPSET) && from > 0; version++)
    {
      VnOpsetStep step = { ctx, version };

      if (!opset_convert_list (&step, nodes, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
opset_convert_steps (VnPassContext  *ctx,
                     VnGraph        *graph,
                     gint64          from,
                     GError        **error)
{
  for (gint64 version = MAX (from, 0) + 1; version <= ctx->target_opset; version++)
    {
      VnOpsetStep step = { ctx, version };

      if (!opset_convert_graph (&step, graph, error))
        return FALSE;
    }
  return TRUE;
}

/* Runtimes read the bodies of functions with the opset of the model, whatever the functions say. */
static gboolean
opset_convert_functions (VnPassContext  *ctx,
                         GError        **error)
{
  for (guint i = 0; i < ctx->model->functions->len; i++)
    {
      VnFunction *function = g_ptr_array_index (ctx->model->functions, i);

      for (guint k = 0; function->opsets != NULL && k < function->opsets->len; k++)
        {
          VnOpset *opset = &g_array_index (function->opsets, VnOpset, k);

          if (*opset->domain != '\0' || opset->version >= ctx->target_opset)
            continue;
          if (!opset_convert_steps (ctx, function->body, opset->version, error))
            {
              g_prefix_error (error, _("function “%s”: "), function->name);
              return FALSE;
            }
          opset->version = ctx->target_opset;
        }
    }
  return TRUE;
}

static gboolean
opset_note_legacy (VnPassContext  *ctx,
                   VnGraph        *graph,
                   GError        **error)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);
      g_autofree char *label = vn_node_dup_label (node);

      if (*node->domain == '\0' && vn_opset_is_legacy (node->op_type))
        vn_notes_add (ctx->notes, VN_NOTE_WARNING, "legacy-operator", label,
                      _("%s is an experimental operator of early ONNX versions; it is left unchanged and may not run"),
                      node->op_type);
    }
  return TRUE;
}

static gboolean
opset_check_versions (VnPassContext  *ctx,
                      gint64          from,
                      GError        **error)
{
  if (from > 0 && ctx->target_opset <= MAX_OPSET)
    return TRUE;
  if (from > 0)
    g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                 _("Opset %lld is not known; choose one up to %d"), (long long) ctx->target_opset, MAX_OPSET);
  else
    g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
                 _("The model does not declare an opset of the standard operators; it cannot be converted"));
  return FALSE;
}

static gboolean
opset_run (VnPassContext  *ctx,
           GError        **error)
{
  gint64 from = vn_model_get_opset (ctx->model, "");
  gint64 to = ctx->target_opset;

  if (to == 0 || (from > 0 && from >= to))
    return TRUE;
  if (!opset_check_versions (ctx, from, error) || !vn_rewrite_infer (ctx, "opset", error))
    return FALSE;
  if (!opset_convert_steps (ctx, ctx->model->graph, from, error) || !opset_convert_functions (ctx, error))
    return FALSE;
  vn_model_set_opset (ctx->model, "", to);
  vn_edit_log_add (ctx->log, "set", "ai.onnx", NULL, _("opset %lld to %lld"), (long long) from, (long long) to);
  for (guint i = 0; i < G_N_ELEMENTS (ir_versions); i++)
    if (ir_versions[i].opset <= to && (i + 1 == G_N_ELEMENTS (ir_versions) || ir_versions[i + 1].opset > to))
      vn_rewrite_need_ir (ctx, MAX (ir_versions[i].ir_version, 4));
  return vn_rewrite_each_graph (ctx, opset_note_legacy, error);
}

const VnPass vn_pass_opset = {
  .id = "opset",
  .title = N_("Raise the opset"),
  .summary = N_("Converts operators to a newer version of the standard."),
  .exact = TRUE,
  .run = opset_run,
};
