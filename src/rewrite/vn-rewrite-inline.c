/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A node that stands for a graph (a call of a function, an If that always goes one way) gives way to its nodes. */
#include "vn-rewrite-private.h"

/* How many nodes may be made: functions that call each other twice make any number of a few. */
#define FREE_NODES 100000u
#define NODES_TIMES 16u    /* beyond that, of the nodes in the file */

struct _VnInliner
{
  VnPassContext *ctx;
  GHashTable    *names;    /* of values, in all graphs of the model -> how often */
  GHashTable    *next;     /* name -> number to try next behind it */
  gsize          n_nodes;  /* made so far */
  gsize          most;     /* that may be made */
};

typedef struct
{
  VnInliner        *inliner;
  VnNode           *call;
  const VnFunction *function;   /* NULL: none */
  const char       *prefix;     /* of new names; NULL: none */
  GHashTable       *values;     /* VnValue inside -> VnValue that it becomes, or NULL */
  const VnValue    *missing;    /* a graph inside returns it, but it is an input that the call leaves out */
} Inline;

static VnGraph *rewrite_inline_copy_graph (Inline        *self,
                                           const VnGraph *from,
                                           VnNode        *parent_node);

/* ---- names ---- */

static void
rewrite_inline_count_name (VnInliner  *self,
                           const char *name,
                           int         step)
{
  int n = GPOINTER_TO_INT (g_hash_table_lookup (self->names, name)) + step;

  if (n > 0)
    g_hash_table_insert (self->names, g_strdup (name), GINT_TO_POINTER (n));
  else
    g_hash_table_remove (self->names, name);
}

static void
rewrite_inline_count_names (VnInliner     *self,
                            const VnGraph *graph,
                            int            step)
{
  vn_graph_settle (graph);
  for (guint i = 0; i < graph->values->len; i++)
    rewrite_inline_count_name (self, ((const VnValue *) g_ptr_array_index (graph->values, i))->name, step);
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);

      for (guint a = 0; a < node->attrs->len; a++)
        {
          const VnAttr *attr = g_ptr_array_index (node->attrs, a);

          if (attr->graph != NULL)
            rewrite_inline_count_names (self, attr->graph, step);
          for (guint g = 0; attr->graphs != NULL && g < attr->graphs->len; g++)
            rewrite_inline_count_names (self, g_ptr_array_index (attr->graphs, g), step);
        }
    }
}

/* The graphs of a node that is about to be removed lay no claim to their names. */
static void
rewrite_inline_forget_names (VnInliner    *self,
                             const VnNode *node)
{
  for (guint a = 0; a < node->attrs->len; a++)
    {
      const VnAttr *attr = g_ptr_array_index (node->attrs, a);

      if (attr->graph != NULL)
        rewrite_inline_count_names (self, attr->graph, -1);
      for (guint g = 0; attr->graphs != NULL && g < attr->graphs->len; g++)
        rewrite_inline_count_names (self, g_ptr_array_index (attr->graphs, g), -1);
    }
}

static char *
rewrite_inline_join (const char *prefix,
                     const char *name)
{
  return prefix != NULL && *prefix != '\0' ? g_strconcat (prefix, "/", name, NULL) : g_strdup (name);
}

/* Taken nowhere in the model: a name in an inner graph may not hide one outside. */
static char *
rewrite_inline_new_name (Inline     *self,
                         const char *name)
{
  g_autofree char *base = rewrite_inline_join (self->prefix, name);
  GHashTable *names = self->inliner->names, *next = self->inliner->next;
  char *found = g_strdup (base);
  guint n = MAX (GPOINTER_TO_UINT (g_hash_table_lookup (next, base)), 2);

  for (; g_hash_table_contains (names, found); n++)
    {
      g_free (found);
      found = g_strdup_printf ("%s_%u", base, n);
    }
  g_hash_table_insert (next, g_strdup (base), GUINT_TO_POINTER (n));
  rewrite_inline_count_name (self->inliner, found, 1);
  return found;
}

/* ---- copies ---- */

static VnValue *
rewrite_inline_mapped (Inline  *self,
                       VnValue *from)
{
  gpointer to;

  return from != NULL && g_hash_table_lookup_extended (self->values, from, NULL, &to) ? to : from;
}

static void
rewrite_inline_copy_value (Inline        *self,
                           const VnValue *from,
                           VnGraph       *graph,
                           gboolean       input)
{
  g_autofree char *name = rewrite_inline_new_name (self, from->name);
  VnValue *value = vn_graph_add_named (graph, name, input);

  if (from->initializer != NULL)
    vn_graph_set_initializer (graph, value, from->initializer);
  vn_type_clear (&value->type);
  vn_type_copy (&value->type, &from->type);
  value->has_info = from->has_info;
  g_hash_table_insert (self->values, (gpointer) from, value);
}

/* What an attribute in the body of a function stands for: what the call gives, or the default; NULL: nothing. */
static const VnAttr *
rewrite_inline_find_argument (const Inline *self,
                              const VnAttr *attr)
{
  const VnAttr *given = vn_node_get_attr (self->call, attr->ref_name);
  const VnFunction *function = self->function;

  if (given != NULL)
    return given;
  for (guint i = 0; function->attr_defaults != NULL && i < function->attr_defaults->len; i++)
    {
      const VnAttr *by_default = g_ptr_array_index (function->attr_defaults, i);

      if (g_str_equal (by_default->name, attr->ref_name))
        return by_default;
    }
  return NULL;
}

static void
rewrite_inline_copy_attr (Inline       *self,
                          const VnAttr *from,
                          VnNode       *node)
{
  const VnAttr *source = from->ref_name != NULL && self->function != NULL ? rewrite_inline_find_argument (self, from) : from;
  VnAttr *attr;

  if (source == NULL)
    return;
  attr = vn_attr_copy (source);
  g_free (attr->name);
  attr->name = g_strdup (from->name);
  if (source != from)
    g_clear_pointer (&attr->ref_name, g_free);
  g_ptr_array_add (node->attrs, attr);
  if (self->inliner->n_nodes > self->inliner->most)
    return;   /* the caller tells it */
  if (source->graph != NULL)
    attr->graph = rewrite_inline_copy_graph (self, source->graph, node);
  if (source->graphs != NULL)
    attr->graphs = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_graph_free);
  for (guint i = 0; source->graphs != NULL && i < source->graphs->len; i++)
    g_ptr_array_add (attr->graphs, rewrite_inline_copy_graph (self, g_ptr_array_index (source->graphs, i), node));
}

static VnNode *
rewrite_inline_copy_node (Inline       *self,
                          const VnNode *from,
                          VnGraph      *graph,
                          VnNode       *before)
{
  g_autofree char *name = *from->name != '\0' ? rewrite_inline_join (self->prefix, from->name) : NULL;
  VnNode *node = vn_graph_insert_node (graph, before, name, from->domain, from->op_type, NULL, 0, NULL, 0);

  self->inliner->n_nodes++;
  node->overload = g_strdup (from->overload);
  node->doc = g_strdup (from->doc);
  node->extra = from->extra != NULL ? g_bytes_ref (from->extra) : NULL;
  node->written_domain_alias = from->written_domain_alias;
  for (guint i = 0; i < from->inputs->len; i++)
    vn_node_set_input (node, i, rewrite_inline_mapped (self, vn_node_get_input (from, i)));
  for (guint i = 0; i < from->outputs->len; i++)
    vn_node_set_output (node, i, rewrite_inline_mapped (self, vn_node_get_output (from, i)));
  for (guint i = 0; i < from->attrs->len; i++)
    rewrite_inline_copy_attr (self, g_ptr_array_index (from->attrs, i), node);
  return node;
}

static void
rewrite_inline_copy_outputs (Inline        *self,
                             const VnGraph *from,
                             VnGraph       *graph)
{
  for (guint i = 0; i < from->outputs->len; i++)
    {
      VnValue *value = rewrite_inline_mapped (self, g_ptr_array_index (from->outputs, i));

      if (value == NULL)
        self->missing = g_ptr_array_index (from->outputs, i);
      else
        vn_graph_set_output (graph, graph->outputs->len, value);
    }
}

static VnGraph *
rewrite_inline_copy_graph (Inline        *self,
                           const VnGraph *from,
                           VnNode        *parent_node)
{
  VnGraph *graph = vn_graph_new (self->inliner->ctx->model, parent_node->graph, parent_node);

  g_free (graph->name);
  graph->name = g_strdup (from->name);
  graph->doc = g_strdup (from->doc);
  graph->extra = from->extra != NULL ? g_bytes_ref (from->extra) : NULL;
  vn_graph_settle (from);
  for (guint i = 0; i < from->inputs->len; i++)
    rewrite_inline_copy_value (self, g_ptr_array_index (from->inputs, i), graph, TRUE);
  for (guint i = 0; i < from->values->len; i++)
    if (!((const VnValue *) g_ptr_array_index (from->values, i))->is_input)
      rewrite_inline_copy_value (self, g_ptr_array_index (from->values, i), graph, FALSE);
  for (guint i = 0; i < from->nodes->len; i++)
    rewrite_inline_copy_node (self, g_ptr_array_index (from->nodes, i), graph, NULL);
  rewrite_inline_copy_outputs (self, from, graph);
  return graph;
}

/* ---- the call ---- */

/* What the body computes becomes what the call computed, under its name. */
static void
rewrite_inline_map_values (Inline        *self,
                           const VnGraph *body,
                           VnValue      **results)
{
  for (guint i = 0; i < body->inputs->len; i++)
    g_hash_table_insert (self->values, g_ptr_array_index (body->inputs, i), vn_node_get_input (self->call, i));
  for (guint i = 0; i < body->outputs->len && i < self->call->outputs->len; i++)
    {
      VnValue *value = g_ptr_array_index (body->outputs, i);

      if (results[i] != NULL && value->graph == body && value->producer != NULL &&
          !g_hash_table_contains (self->values, value))
        g_hash_table_insert (self->values, value, results[i]);
    }
  for (guint i = 0; i < body->values->len; i++)
    if (!g_hash_table_contains (self->values, g_ptr_array_index (body->values, i)))
      rewrite_inline_copy_value (self, g_ptr_array_index (body->values, i), self->call->graph, FALSE);
}

/* Results that are inputs, weights, values of outer graphs or given out twice. */
static gboolean
rewrite_inline_pass_on (Inline         *self,
                        const VnGraph  *body,
                        VnValue       **results,
                        GPtrArray      *added,
                        GError        **error)
{
  for (guint i = 0; i < body->outputs->len && i < self->call->outputs->len; i++)
    {
      VnValue *value = rewrite_inline_mapped (self, g_ptr_array_index (body->outputs, i));

      if (results[i] == NULL || value == results[i])
        continue;
      if (value == NULL)
        {
          g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("its output “%s” is an omitted input"),
                       results[i]->name);
          return FALSE;
        }
      g_ptr_array_add (added, vn_graph_insert_node (self->call->graph, self->call, NULL, "", "Identity", &value, 1,
                                                    &results[i], 1));
    }
  return TRUE;
}

static gboolean
rewrite_inline_check_copies (const Inline  *self,
                             GError       **error)
{
  if (self->inliner->n_nodes > self->inliner->most)
    g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("its functions and branches expand to more than %zu nodes, too "
                                                    "many for a file of this size"),
                 self->inliner->most);
  else if (self->missing != NULL)
    g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("a subgraph returns “%s”, an omitted input"),
                 self->missing->name);
  else
    return TRUE;
  return FALSE;
}

/**
 * vn_rewrite_inline:
 * @call: is removed
 * @body: what it stands for; its inputs, if it has some, are those of @call
 * @function: (nullable): whose body it is: attributes that refer to its parameters get what @call gives
 * @prefix: (nullable): of new names
 * @added: (element-type VnNode): the new nodes are appended to it
 *
 * Puts copies of the nodes of @body, and of what they need, in the place of @call. After a failure the model is broken.
 */
gboolean
vn_rewrite_inline (VnInliner         *inliner,
                   VnNode            *call,
                   const VnGraph     *body,
                   const VnFunction  *function,
                   const char        *prefix,
                   GPtrArray         *added,
                   GError           **error)
{
  g_autoptr(GHashTable) values = g_hash_table_new (NULL, NULL);
  g_autofree VnValue **results = g_new0 (VnValue *, call->outputs->len + 1);
  Inline self = { inliner, call, function, prefix, values };

  for (guint i = 0; i < call->outputs->len; i++)
    {
      results[i] = vn_node_get_output (call, i);
      vn_node_set_output (call, i, NULL);
    }
  vn_graph_settle (body);
  rewrite_inline_forget_names (inliner, call);
  rewrite_inline_map_values (&self, body, results);
  for (guint i = 0; i < body->nodes->len; i++)
    g_ptr_array_add (added, rewrite_inline_copy_node (&self, g_ptr_array_index (body->nodes, i), call->graph, call));
  if (!rewrite_inline_check_copies (&self, error) || !rewrite_inline_pass_on (&self, body, results, added, error))
    return FALSE;
  vn_graph_remove_node (call->graph, call);
  return TRUE;
}

static gsize
rewrite_inline_count_nodes (const VnGraph *graph)
{
  gsize n;

  vn_graph_settle (graph);
  n = graph->nodes->len;
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);

      for (guint a = 0; a < node->attrs->len; a++)
        {
          const VnAttr *attr = g_ptr_array_index (node->attrs, a);

          n += attr->graph != NULL ? rewrite_inline_count_nodes (attr->graph) : 0;
          for (guint g = 0; attr->graphs != NULL && g < attr->graphs->len; g++)
            n += rewrite_inline_count_nodes (g_ptr_array_index (attr->graphs, g));
        }
    }
  return n;
}

VnInliner *
vn_inliner_new (VnPassContext *ctx)
{
  VnInliner *self = g_new0 (VnInliner, 1);

  self->ctx = ctx;
  self->names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->next = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  rewrite_inline_count_names (self, ctx->model->graph, 1);
  self->most = rewrite_inline_count_nodes (ctx->model->graph);
  for (guint i = 0; i < ctx->model->functions->len; i++)
    self->most += rewrite_inline_count_nodes (((const VnFunction *) g_ptr_array_index (ctx->model->functions, i))->body);
  self->most = FREE_NODES + NODES_TIMES * self->most;
  return self;
}

void
vn_inliner_free (VnInliner *self)
{
  g_hash_table_unref (self->names);
  g_hash_table_unref (self->next);
  g_free (self);
}
