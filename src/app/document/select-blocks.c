/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds all blocks that are built like the selected ones: the same operators, joined in the same way. */
#include "vn-select.h"

#include "vn-scene-builder.h"

/* How the next node of a block is reached from one before it. */
typedef struct
{
  guint    from;        /* place in the block */
  gboolean down;        /* what reads output @output as its input @input; else what makes input @input, as its output @output */
  guint    output, input;
} Step;

/**
 * Block: a connected part of the selection.
 * @nodes: of guint: indices, in the order they are reached
 * @steps: of Step; the first node has none
 */
typedef struct
{
  const VnGraph *graph;
  GPtrArray     *kinds;    /* by index: operator and what else is shown of it; interned */
  GArray        *nodes, *steps;
} Block;

static const VnNode *
select_blocks_get (const Block *self,
                   guint        index)
{
  return g_ptr_array_index (self->graph->nodes, index);
}

static gboolean
select_blocks_contains (const GArray *nodes,
                        guint         node)
{
  for (guint i = 0; i < nodes->len; i++)
    if (g_array_index (nodes, guint, i) == node)
      return TRUE;
  return FALSE;
}

static void
select_blocks_reach (Block        *self,
                     GtkBitset    *rest,
                     const VnNode *node,
                     Step          step)
{
  if (node == NULL || node->graph != self->graph || !gtk_bitset_remove (rest, node->index))
    return;
  g_array_append_val (self->nodes, node->index);
  g_array_append_val (self->steps, step);
}

/* Takes what hangs together with the first node of @rest out of it. */
static void
select_blocks_collect (Block     *self,
                       GtkBitset *rest)
{
  select_blocks_reach (self, rest, select_blocks_get (self, gtk_bitset_get_minimum (rest)), (Step) { 0 });
  for (guint at = 0; at < self->nodes->len; at++)
    {
      const VnNode *node = select_blocks_get (self, g_array_index (self->nodes, guint, at));

      for (guint i = 0; i < node->inputs->len; i++)
        {
          const VnValue *value = vn_node_get_input (node, i);

          if (value != NULL && value->producer != NULL)
            select_blocks_reach (self, rest, value->producer, (Step) { at, FALSE, value->output_index, i });
        }
      for (guint i = 0; i < node->outputs->len; i++)
        {
          const VnValue *value = vn_node_get_output (node, i);

          for (guint k = 0; value != NULL && k < value->uses->len; k++)
            {
              const VnUse *use = &g_array_index (value->uses, VnUse, k);

              select_blocks_reach (self, rest, use->node, (Step) { at, TRUE, i, use->index });
            }
        }
    }
}

static gboolean
select_blocks_fits (const Block  *self,
                    const GArray *found,
                    const VnNode *node)
{
  guint like = g_array_index (self->nodes, guint, found->len);

  return node != NULL && node->graph == self->graph
         && g_ptr_array_index (self->kinds, node->index) == g_ptr_array_index (self->kinds, like)
         && !select_blocks_contains (found, node->index);
}

static const VnNode *
select_blocks_take_step (const Block  *self,
                         const GArray *found,
                         const Step   *step)
{
  const VnNode *from = select_blocks_get (self, g_array_index (found, guint, step->from));
  const VnValue *value;

  if (!step->down)
    {
      value = step->input < from->inputs->len ? vn_node_get_input (from, step->input) : NULL;
      return value != NULL && value->producer != NULL && value->output_index == step->output
             && select_blocks_fits (self, found, value->producer) ? value->producer : NULL;
    }
  value = step->output < from->outputs->len ? vn_node_get_output (from, step->output) : NULL;
  for (guint k = 0; value != NULL && k < value->uses->len; k++)
    {
      const VnUse *use = &g_array_index (value->uses, VnUse, k);

      if (use->index == step->input && select_blocks_fits (self, found, use->node))
        return use->node;
    }
  return NULL;
}

/* The block that begins at @node as the given one begins at its first node; NULL: there is none. */
static GArray *
select_blocks_follow (const Block  *self,
                      const VnNode *node)
{
  g_autoptr(GArray) found = g_array_new (FALSE, FALSE, sizeof (guint));

  if (!select_blocks_fits (self, found, node))
    return NULL;
  g_array_append_val (found, node->index);
  while (found->len < self->nodes->len)
    {
      const VnNode *next = select_blocks_take_step (self, found, &g_array_index (self->steps, Step, found->len));

      if (next == NULL)
        return NULL;
      g_array_append_val (found, next->index);
    }
  return g_steal_pointer (&found);
}

static GPtrArray *
select_blocks_list_kinds (const VnGraph *graph)
{
  GPtrArray *kinds = g_ptr_array_new ();

  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);
      g_autofree char *detail = vn_node_dup_detail (node);
      g_autofree char *kind = g_strdup_printf ("%s %s %s", node->domain, node->op_type, detail != NULL ? detail : "");

      g_ptr_array_add (kinds, (gpointer) g_intern_string (kind));
    }
  return kinds;
}

/**
 * vn_select_blocks:
 *
 * Returns: (transfer full): @nodes, and all nodes of blocks that are built like a connected part of them: of the same operators
 *   with the same details, joined in the same way
 */
GtkBitset *
vn_select_blocks (const VnGraph *graph,
                  GtkBitset     *nodes)
{
  g_autoptr(GtkBitset) rest = NULL;
  g_autoptr(GPtrArray) kinds = NULL;
  GtkBitset *all;

  g_return_val_if_fail (graph != NULL, NULL);
  g_return_val_if_fail (nodes != NULL, NULL);

  all = gtk_bitset_copy (nodes);
  rest = gtk_bitset_copy (nodes);
  kinds = select_blocks_list_kinds (graph);
  while (!gtk_bitset_is_empty (rest))
    {
      g_autoptr(GArray) members = g_array_new (FALSE, FALSE, sizeof (guint)), steps = g_array_new (FALSE, FALSE, sizeof (Step));
      Block block = { graph, kinds, members, steps };

      select_blocks_collect (&block, rest);
      for (guint i = 0; i < graph->nodes->len; i++)
        {
          g_autoptr(GArray) found = select_blocks_follow (&block, g_ptr_array_index (graph->nodes, i));

          for (guint k = 0; found != NULL && k < found->len; k++)
            gtk_bitset_add (all, g_array_index (found, guint, k));
        }
    }
  return all;
}
