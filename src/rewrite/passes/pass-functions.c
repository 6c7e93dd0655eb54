/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions of the model: each call gives way to the nodes of the function. Those there is a kernel for stay: they say
 * more than their nodes do. */
#include "vn-rewrite-private.h"

#include <string.h>

#define MAX_DEPTH 64

typedef struct
{
  VnPassContext *ctx;
  VnInliner     *inliner;
  GHashTable    *index;     /* of functions, by functions_make_key() */
} Expand;

/* The calls that led here, the innermost first. */
typedef struct Chain Chain;
struct Chain
{
  const VnFunction *function;
  const Chain      *outer;
  guint             depth;
};

static gboolean functions_expand_nodes (Expand       *self,
                                        GPtrArray    *nodes,
                                        const Chain  *chain,
                                        GError      **error);

static const char *
functions_plain_domain (const char *domain)
{
  return domain == NULL || g_str_equal (domain, "ai.onnx") ? "" : domain;
}

/* What a function is called by; a node of its domain, operator and overload is a call. */
static char *
functions_make_key (const char *domain,
                    const char *name,
                    const char *overload)
{
  domain = functions_plain_domain (domain);
  return g_strdup_printf ("%zu %s %zu %s %s", strlen (domain), domain, strlen (name), name, overload != NULL ? overload : "");
}

/* The first of those with one name counts. */
static GHashTable *
functions_index (const VnModel *model)
{
  GHashTable *index = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = model->functions->len; i-- > 0;)
    {
      VnFunction *function = g_ptr_array_index (model->functions, i);

      g_hash_table_replace (index, functions_make_key (function->domain, function->name, function->overload), function);
    }
  return index;
}

static const VnFunction *
functions_find_function (GHashTable   *index,
                         const VnNode *node)
{
  g_autofree char *key = functions_make_key (node->domain, node->op_type, node->overload);

  return g_hash_table_lookup (index, key);
}

static char *
functions_dup_function_name (const VnFunction *function)
{
  const char *domain = functions_plain_domain (function->domain);

  return g_strdup_printf ("%s%s%s%s%s", domain, *domain != '\0' ? "." : "", function->name,
                          function->overload != NULL && *function->overload != '\0' ? ":" : "",
                          function->overload != NULL ? function->overload : "");
}

/* ---- nodes at any depth ---- */

typedef gboolean (*NodeFunc) (const VnNode *node,
                              gpointer      data);

/* Until @func returns TRUE. */
static gboolean
functions_any_node (const VnGraph *graph,
                    NodeFunc       func,
                    gpointer       data)
{
  vn_graph_settle (graph);
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);

      if (func (node, data))
        return TRUE;
      for (guint a = 0; a < node->attrs->len; a++)
        {
          const VnAttr *attr = g_ptr_array_index (node->attrs, a);

          if (attr->graph != NULL && functions_any_node (attr->graph, func, data))
            return TRUE;
          for (guint g = 0; attr->graphs != NULL && g < attr->graphs->len; g++)
            if (functions_any_node (g_ptr_array_index (attr->graphs, g), func, data))
              return TRUE;
        }
    }
  return FALSE;
}

/* ---- opsets ---- */

typedef struct
{
  GHashTable    *index;
  const char    *domain;
  gint64         above, up_to;
  const VnNode  *found;
} Change;

/* A node that means something else in the two versions, as far as that is known. */
static gboolean
functions_has_changed (const VnNode *node,
                       gpointer      data)
{
  Change *self = data;
  guint n;
  const VnOpsetRule *rules = vn_opset_rules (&n);

  if (!g_str_equal (node->domain, self->domain) || functions_find_function (self->index, node) != NULL)
    return FALSE;
  self->found = node;
  for (guint i = 0; *self->domain == '\0' && i < n; i++)
    if (rules[i].version > self->above && rules[i].version <= self->up_to && g_str_equal (rules[i].op_type, node->op_type))
      return TRUE;
  if (*self->domain != '\0')
    return TRUE;
  self->found = NULL;
  return FALSE;
}

static gboolean
functions_refuse_opset (const VnFunction *function,
                        const VnOpset    *opset,
                        gint64            version,
                        const VnNode     *node,
                        GError          **error)
{
  g_autofree char *name = functions_dup_function_name (function);

  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
               _("The function “%s” uses %s from opset %lld of “%s”, but the model imports opset %lld, where it may "
                 "behave differently: convert the model to the opset of the function"),
               name, node->op_type, (long long) opset->version,
               *functions_plain_domain (opset->domain) != '\0' ? opset->domain : "ai.onnx", (long long) version);
  return FALSE;
}

/* What a function imports and the model does not is imported from now on. @from: version of the standard operators that
 * the function is written for, if the model has a newer one. */
static gboolean
functions_meet_opsets (Expand            *self,
                       const VnFunction  *function,
                       gint64            *from,
                       GError           **error)
{
  VnModel *model = self->ctx->model;

  *from = vn_model_get_opset (model, "");
  for (guint i = 0; function->opsets != NULL && i < function->opsets->len; i++)
    {
      const VnOpset *opset = &g_array_index (function->opsets, VnOpset, i);
      const char *domain = functions_plain_domain (opset->domain);
      gint64 version = vn_model_get_opset (model, domain);
      Change change = { self->index, domain, version, opset->version };

      if (version == 0)
        vn_model_set_opset (model, domain, opset->version);
      if (*domain == '\0' && (version == 0 || opset->version < version))
        *from = opset->version;
      else if (version != 0 && version != opset->version && functions_any_node (function->body, functions_has_changed, &change))
        return functions_refuse_opset (function, opset, version, change.found, error);
    }
  return TRUE;
}

/* ---- calls ---- */

static gboolean
functions_refuse_recursion (const VnFunction *function,
                            const Chain      *chain,
                            GError          **error)
{
  g_autofree char *name = functions_dup_function_name (function);
  g_autofree char *text = g_strdup (name);

  for (; chain != NULL; chain = chain->outer)
    {
      g_autofree char *outer = functions_dup_function_name (chain->function);
      char *longer = g_strconcat (outer, " → ", text, NULL);

      g_free (text);
      text = longer;
      if (chain->function == function)
        break;
    }
  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("The function “%s” calls itself: %s"), name, text);
  return FALSE;
}

static gboolean
functions_check_chain (const VnFunction *function,
                       const Chain      *chain,
                       GError          **error)
{
  for (const Chain *c = chain; c != NULL; c = c->outer)
    if (c->function == function)
      return functions_refuse_recursion (function, chain, error);
  if (chain == NULL || chain->depth < MAX_DEPTH)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("Function calls are nested more than %d levels deep, last “%s”"), MAX_DEPTH,
               function->name);
  return FALSE;
}

static gboolean
functions_check_call (const VnNode      *node,
                      const VnFunction  *function,
                      GError           **error)
{
  g_autofree char *name = functions_dup_function_name (function);

  if (node->inputs->len <= function->body->inputs->len && node->outputs->len <= function->body->outputs->len)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED,
               _("The function “%s” has %u inputs and %u outputs, the node uses %u and %u"), name,
               function->body->inputs->len, function->body->outputs->len, node->inputs->len, node->outputs->len);
  return FALSE;
}

static gboolean
functions_expand_call (Expand            *self,
                       VnNode            *node,
                       const VnFunction  *function,
                       const Chain       *chain,
                       GError           **error)
{
  const Chain inner = { function, chain, chain != NULL ? chain->depth + 1 : 1 };
  g_autoptr(GPtrArray) added = g_ptr_array_new ();
  g_autofree char *label = vn_node_dup_label (node);
  g_autofree char *prefix = g_strdup (*node->name != '\0' ? node->name : node->op_type);
  g_autofree char *name = functions_dup_function_name (function);
  gint64 from;

  if (!functions_check_chain (function, chain, error) || !functions_check_call (node, function, error) ||
      !functions_meet_opsets (self, function, &from, error) ||
      !vn_rewrite_inline (self->inliner, node, function->body, function, prefix, added, error) ||
      !vn_opset_convert_nodes (self->ctx, added, from, vn_model_get_opset (self->ctx->model, ""), error))
    {
      g_prefix_error (error, _("node “%s” (%s): "), label, function->name);
      return FALSE;
    }
  vn_edit_log_add (self->ctx->log, "replace", label, NULL, ngettext ("with the %u node of the function %s",
                                                                     "with the %u nodes of the function %s", added->len),
                                                                     added->len, name);
  return functions_expand_nodes (self, added, &inner, error);
}

static gboolean
functions_expand_graph (Expand       *self,
                        VnGraph      *graph,
                        const Chain  *chain,
                        GError      **error)
{
  g_autoptr(GPtrArray) nodes = vn_rewrite_list_nodes (graph);

  return functions_expand_nodes (self, nodes, chain, error);
}

static gboolean
functions_expand_inner (Expand       *self,
                        VnNode       *node,
                        const Chain  *chain,
                        GError      **error)
{
  for (guint a = 0; a < node->attrs->len; a++)
    {
      VnAttr *attr = g_ptr_array_index (node->attrs, a);

      if (attr->graph != NULL && !functions_expand_graph (self, attr->graph, chain, error))
        return FALSE;
      for (guint g = 0; attr->graphs != NULL && g < attr->graphs->len; g++)
        if (!functions_expand_graph (self, g_ptr_array_index (attr->graphs, g), chain, error))
          return FALSE;
    }
  return TRUE;
}

static gboolean
functions_expand_nodes (Expand       *self,
                        GPtrArray    *nodes,
                        const Chain  *chain,
                        GError      **error)
{
  for (guint i = 0; i < nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (nodes, i);
      const VnFunction *function = vn_op_lookup_node (node, NULL) == NULL ? functions_find_function (self->index, node) : NULL;

      if (g_cancellable_set_error_if_cancelled (self->ctx->cancellable, error) ||
          (function != NULL ? !functions_expand_call (self, node, function, chain, error)
           : !functions_expand_inner (self, node, chain, error)))
        return FALSE;
    }
  return TRUE;
}

/* ---- functions nobody calls ---- */

typedef struct
{
  GHashTable *index;
  GHashTable *called;
  GPtrArray  *waiting;   /* those whose bodies were not looked into yet */
} Calls;

static gboolean
functions_mark_called (const VnNode *node,
                       gpointer      data)
{
  Calls *self = data;
  const VnFunction *function = functions_find_function (self->index, node);

  if (function != NULL && g_hash_table_add (self->called, (gpointer) function))
    g_ptr_array_add (self->waiting, (gpointer) function);
  return FALSE;
}

static void
functions_drop (VnModel    *model,
                GHashTable *index)
{
  g_autoptr(GHashTable) called = g_hash_table_new (NULL, NULL);
  g_autoptr(GPtrArray) waiting = g_ptr_array_new ();
  Calls calls = { index, called, waiting };

  functions_any_node (model->graph, functions_mark_called, &calls);
  for (guint i = 0; i < waiting->len; i++)
    functions_any_node (((const VnFunction *) g_ptr_array_index (waiting, i))->body, functions_mark_called, &calls);
  for (guint i = model->functions->len; i-- > 0;)
    if (!g_hash_table_contains (called, g_ptr_array_index (model->functions, i)))
      g_ptr_array_remove_index (model->functions, i);
}

static gboolean
functions_run (VnPassContext  *ctx,
               GError        **error)
{
  g_autoptr(VnInliner) inliner = NULL;
  g_autoptr(GHashTable) index = NULL;
  Expand self;

  if (ctx->model->functions->len == 0)
    return TRUE;
  inliner = vn_inliner_new (ctx);
  index = functions_index (ctx->model);
  self = (Expand) { ctx, inliner, index };
  if (!functions_expand_graph (&self, ctx->model->graph, NULL, error))
    return FALSE;
  functions_drop (ctx->model, index);
  return TRUE;
}

const VnPass vn_pass_functions = {
  .id = "functions",
  .title = N_("Inline functions"),
  .summary = N_("Replaces calls of the model's functions with the nodes of their bodies."),
  .exact = TRUE,
  .run = functions_run,
};
