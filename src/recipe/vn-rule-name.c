/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a rule is called that nobody has named yet: by the scope its nodes share, by what they all are, or by where they begin and
 * end. */
#include "vn-rule-name.h"

#include "vn-i18n.h"

#include <string.h>

typedef struct
{
  const VnGraph *graph;
  const guint   *nodes;     /* in order */
  GPtrArray     *labels;    /* of @nodes */
} Naming;

static const VnNode *
rule_name_get_node (const Naming *self,
                    guint         at)
{
  return g_ptr_array_index (self->graph->nodes, self->nodes[at]);
}

static char *
rule_name_dup_title (const Naming *self,
                     guint         at)
{
  return vn_node_dup_title (rule_name_get_node (self, at));
}

/* ---- by scope ---- */

/* How much of @a and @b is the same, up to the end of a scope. */
static gsize
rule_name_count_common (const char *a,
                        const char *b,
                        gsize       most)
{
  gsize same = 0;

  while (same < most && a[same] != '\0' && a[same] == b[same])
    same++;
  while (same > 0 && strchr ("/.", a[same - 1]) == NULL)
    same--;
  return same;
}

static guint
rule_name_count_in_scope (const Naming *self,
                          const char   *scope,
                          gsize         length)
{
  guint n = 0;

  for (guint i = 0; i < self->graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (self->graph->nodes, i);

      n += node->name != NULL && strncmp (node->name, scope, length) == 0;
    }
  return n;
}

/* The one operator of all of them; NULL: there are several. */
static const char *
rule_name_get_type (const Naming *self)
{
  const char *type = rule_name_get_node (self, 0)->op_type;

  for (guint i = 1; i < self->labels->len; i++)
    if (!g_str_equal (rule_name_get_node (self, i)->op_type, type))
      return NULL;
  return type;
}

/* A scope that holds far more than these nodes says nothing of them. */
static char *
rule_name_by_scope (const Naming *self)
{
  const char *first = g_ptr_array_index (self->labels, 0);
  gsize common = strlen (first), start;
  g_autofree char *scope = NULL;
  guint n_inside;

  for (guint i = 1; i < self->labels->len && common > 0; i++)
    common = rule_name_count_common (first, g_ptr_array_index (self->labels, i), common);
  start = *first == '/' ? 1 : 0;
  if (common < start + 2)
    return NULL;
  n_inside = rule_name_count_in_scope (self, first, common);
  scope = g_strndup (first + start, common - start - 1);
  if (n_inside == self->labels->len)
    return g_steal_pointer (&scope);
  if (rule_name_get_type (self) != NULL)
    return g_strdup_printf (_("%s in %s"), rule_name_get_type (self), scope);
  return n_inside <= 3 * self->labels->len ? g_strdup_printf (_("Part of %s"), scope) : NULL;
}

/* ---- by operator ---- */

static char *
rule_name_by_type (const Naming *self)
{
  const char *type = rule_name_get_type (self);
  guint n = 0;

  for (guint i = 0; type != NULL && i < self->graph->nodes->len; i++)
    n += g_str_equal (((const VnNode *) g_ptr_array_index (self->graph->nodes, i))->op_type, type);
  return type != NULL && n == self->labels->len ? g_strdup_printf (_("All %s"), type) : NULL;
}

/* ---- by place ---- */

/* Nodes that wait to be visited, and how those of the rule stand: 0: not of it, 1: not seen yet, 2: seen. */
typedef struct
{
  const Naming *naming;
  guint8       *states;
  GArray       *waiting;
  guint         n_seen;
} Visit;

static void
rule_name_visit (Visit        *self,
                 const VnNode *node)
{
  if (node == NULL || node->graph != self->naming->graph || self->states[node->index] != 1)
    return;
  self->states[node->index] = 2;
  self->n_seen++;
  g_array_append_val (self->waiting, node->index);
}

static void
rule_name_visit_around (Visit        *self,
                        const VnNode *node)
{
  for (guint i = 0; i < node->inputs->len; i++)
    {
      const VnValue *value = g_ptr_array_index (node->inputs, i);

      if (value != NULL)
        rule_name_visit (self, value->producer);
    }
  for (guint i = 0; i < node->outputs->len; i++)
    {
      const VnValue *value = g_ptr_array_index (node->outputs, i);

      for (guint k = 0; value != NULL && k < value->uses->len; k++)
        rule_name_visit (self, g_array_index (value->uses, VnUse, k).node);
    }
}

/* Whether each can be reached from each without leaving them. */
static gboolean
rule_name_are_connected (const Naming *self)
{
  g_autofree guint8 *states = g_new0 (guint8, self->graph->nodes->len);
  g_autoptr(GArray) waiting = g_array_new (FALSE, FALSE, sizeof (guint));
  Visit visit = { self, states, waiting, 0 };

  for (guint i = 0; i < self->labels->len; i++)
    states[self->nodes[i]] = 1;
  rule_name_visit (&visit, rule_name_get_node (self, 0));
  while (waiting->len > 0)
    {
      guint index = g_array_index (waiting, guint, waiting->len - 1);

      g_array_set_size (waiting, waiting->len - 1);
      rule_name_visit_around (&visit, g_ptr_array_index (self->graph->nodes, index));
    }
  return visit.n_seen == self->labels->len;
}

static char *
rule_name_by_place (const Naming *self)
{
  g_autofree char *first = rule_name_dup_title (self, 0), *last = rule_name_dup_title (self, self->labels->len - 1);

  if (self->labels->len == 2)
    return g_strdup_printf (_("%s and %s"), first, last);
  if (rule_name_are_connected (self))
    return g_strdup_printf (_("%s to %s"), first, last);
  if (rule_name_get_type (self) != NULL)
    return g_strdup_printf (_("%s from %s onward"), rule_name_get_type (self), first);
  return g_strdup_printf (_("%s and others"), first);
}

/**
 * vn_rule_name_of_nodes:
 * @nodes: (array length=n): indices of nodes of @graph, in order, each once
 *
 * A count is not part of the name: it stands beside it, and nodes may be taken out of the rule later.
 *
 * Returns: (transfer full) (nullable): what can be said of all of them; %NULL: there are none
 */
char *
vn_rule_name_of_nodes (const VnGraph *graph,
                       const guint   *nodes,
                       guint          n)
{
  g_autoptr(GPtrArray) labels = g_ptr_array_new_with_free_func (g_free);
  const Naming self = { graph, nodes, labels };
  char *name;

  g_return_val_if_fail (graph != NULL && (nodes != NULL || n == 0), NULL);

  for (guint i = 0; i < n; i++)
    {
      g_return_val_if_fail (nodes[i] < graph->nodes->len, NULL);
      g_ptr_array_add (labels, vn_node_dup_label (g_ptr_array_index (graph->nodes, nodes[i])));
    }
  if (n == 0)
    return NULL;
  if (n == 1)
    return rule_name_dup_title (&self, 0);
  if (n == graph->nodes->len)
    return g_strdup (_("All nodes"));
  name = rule_name_by_type (&self);
  if (name == NULL)
    name = rule_name_by_scope (&self);
  return name != NULL ? name : rule_name_by_place (&self);
}

/* ---- tensors ---- */

static gboolean
rule_name_is_pattern (const char *name)
{
  return strpbrk (name, "*?") != NULL;
}

/* Where a tensor is: what makes it, or reads it if it is a weight. */
static void
rule_name_add_place (GPtrArray     *places,
                     const VnValue *value)
{
  const VnNode *node = value->producer != NULL ? value->producer
                     : value->uses->len > 0 ? g_array_index (value->uses, VnUse, 0).node : NULL;

  g_ptr_array_add (places, node != NULL ? vn_node_dup_label (node) : g_strdup (value->name));
}

/* Those that a rule names, each once; of a network that has none of a name, by the name itself. */
static GPtrArray *
rule_name_list_places (const VnOverride *rule,
                       const VnGraph    *graph)
{
  GPtrArray *places = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; rule->tensors[i] != NULL; i++)
    {
      const VnValue *value = graph != NULL ? vn_graph_find_value (graph, rule->tensors[i]) : NULL;

      if (value != NULL)
        rule_name_add_place (places, value);
      else if (!rule_name_is_pattern (rule->tensors[i]))
        g_ptr_array_add (places, g_strdup (rule->tensors[i]));
      else
        for (guint k = 0; graph != NULL && k < graph->values->len; k++)
          {
            const VnValue *other = g_ptr_array_index (graph->values, k);

            if (other != NULL && vn_pattern_matches_text (rule->tensors[i], other->name))
              rule_name_add_place (places, other);
          }
    }
  return places;
}

/* The scope of all of them, without what separates it; NULL: they share none. */
static char *
rule_name_dup_scope (const GPtrArray *places)
{
  const char *first = g_ptr_array_index (places, 0);
  gsize common = strlen (first), start = *first == '/' ? 1 : 0;

  for (guint i = 1; i < places->len && common > 0; i++)
    common = rule_name_count_common (first, g_ptr_array_index (places, i), common);
  return common >= start + 2 && common < strlen (first) ? g_strndup (first + start, common - start - 1) : NULL;
}

/**
 * vn_rule_name_of_tensors:
 * @rule: about tensors
 *
 * Returns: (transfer full): what makes the tensor, where it is one and a node does; of several how many, and of which scope: “12
 *   tensors of head”; else how the rule names them
 */
char *
vn_rule_name_of_tensors (const VnOverride *rule,
                         const VnGraph    *graph)
{
  const VnValue *value;
  g_autoptr(GPtrArray) places = NULL;
  g_autofree char *title = NULL, *scope = NULL;

  g_return_val_if_fail (rule != NULL && rule->tensors != NULL, NULL);

  places = rule_name_list_places (rule, graph);
  if (places->len > 1)
    {
      scope = rule_name_dup_scope (places);
      if (scope != NULL)
        return g_strdup_printf (_("%u tensors of %s"), places->len, scope);
      return g_strdup_printf (_("%u tensors, from %s to %s"), places->len, (const char *) g_ptr_array_index (places, 0),
                              (const char *) g_ptr_array_index (places, places->len - 1));
    }
  value = graph != NULL && g_strv_length (rule->tensors) == 1 ? vn_graph_find_value (graph, rule->tensors[0]) : NULL;
  if (value == NULL || value->producer == NULL)
    return vn_override_dup_subject (rule);
  title = vn_node_dup_title (value->producer);
  return g_strdup_printf (_("Output of %s"), title);
}

static gboolean
rule_name_is_taken (const VnRecipe *recipe,
                    const char     *name)
{
  for (guint i = 0; i < recipe->overrides->len; i++)
    if (g_strcmp0 (((const VnOverride *) g_ptr_array_index (recipe->overrides, i))->name, name) == 0)
      return TRUE;
  return FALSE;
}

/**
 * vn_rule_name_make_unique:
 *
 * Returns: (transfer full): @name, with a number behind it if rules of @recipe are called so already
 */
char *
vn_rule_name_make_unique (const VnRecipe *recipe,
                          const char     *name)
{
  char *unique;

  g_return_val_if_fail (recipe != NULL && name != NULL, NULL);

  unique = g_strdup (name);
  for (guint i = 2; rule_name_is_taken (recipe, unique); i++)
    {
      g_free (unique);
      unique = g_strdup_printf ("%s (%u)", name, i);
    }
  return unique;
}
