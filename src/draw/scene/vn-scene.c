/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the canvas shows: nodes and edges with their neighbourhood, immutable once sealed. */
#include "vn-scene.h"

#include <string.h>

#define NODE_WIDTH   176.
#define NODE_MAX     320.
#define NODE_ROOM     56.    /* beside the operator: margins and a badge */
#define GROUP_ROOM    84.    /* beside the title of a group: chevron, margins and the number of its nodes */
#define FULL_HEIGHT   64.
#define SLIM_HEIGHT   30.
#define GROUP_HEIGHT  90.    /* two lips of 4 below the box included */
#define PILL_HEIGHT   26.
#define PAIR_HEIGHT   20.
#define PAIR_MIN      60.
#define PILL_MIN      72.
#define PILL_MAX     280.

struct _VnScene
{
  gatomicrefcount ref;
  gboolean        sealed;
  GArray         *nodes;        /* of VnSceneNode */
  GArray         *edges;        /* of VnSceneEdge */
  GPtrArray      *symbols;      /* of char: letters in shapes, each before what it stands for */
  GHashTable     *by_id;        /* id (borrowed) -> index + 1 */
  GHashTable     *by_source;    /* source -> index + 1, operators only */
  guint          *in_first, *in_edges;     /* edges of node i: [first[i], first[i + 1]) */
  guint          *out_first, *out_edges;
};

static void
scene_node_clear (gpointer data)
{
  VnSceneNode *node = data;

  g_free (node->id);
  g_free (node->op);
  g_free (node->detail);
  g_free (node->name);
  g_free (node->scope);
  g_free (node->shape);
  g_free (node->badge);
}

static void
scene_edge_clear (gpointer data)
{
  VnSceneEdge *edge = data;

  g_free (edge->value);
  g_free (edge->tooltip);
}

/**
 * vn_scene_new:
 *
 * Returns: (transfer full): an empty scene to be filled and then sealed
 */
VnScene *
vn_scene_new (void)
{
  VnScene *self = g_new0 (VnScene, 1);

  g_atomic_ref_count_init (&self->ref);
  self->nodes = g_array_new (FALSE, FALSE, sizeof (VnSceneNode));
  self->edges = g_array_new (FALSE, FALSE, sizeof (VnSceneEdge));
  g_array_set_clear_func (self->nodes, scene_node_clear);
  g_array_set_clear_func (self->edges, scene_edge_clear);
  self->symbols = g_ptr_array_new_with_free_func (g_free);
  self->by_id = g_hash_table_new (g_str_hash, g_str_equal);
  self->by_source = g_hash_table_new (NULL, NULL);
  return self;
}

/**
 * vn_scene_ref:
 *
 * Returns: (transfer full): @self
 */
VnScene *
vn_scene_ref (VnScene *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

/**
 * vn_scene_unref:
 *
 * Drops a reference; the last one frees the scene.
 */
void
vn_scene_unref (VnScene *self)
{
  g_return_if_fail (self != NULL);

  if (!g_atomic_ref_count_dec (&self->ref))
    return;

  g_hash_table_unref (self->by_id);
  g_hash_table_unref (self->by_source);
  g_array_unref (self->nodes);
  g_array_unref (self->edges);
  g_ptr_array_unref (self->symbols);
  g_free (self->in_first);
  g_free (self->in_edges);
  g_free (self->out_first);
  g_free (self->out_edges);
  g_free (self);
}

/**
 * vn_scene_add_node:
 * @node: copied, strings included; @id must not be in the scene yet
 *
 * Returns: the index of the new node
 */
guint
vn_scene_add_node (VnScene           *self,
                   const VnSceneNode *node)
{
  VnSceneNode copy = *node;
  guint index = self->nodes->len;

  g_return_val_if_fail (!self->sealed && node->id != NULL, VN_SCENE_NONE);

  copy.id = g_strdup (node->id);
  copy.op = g_strdup (node->op != NULL ? node->op : "");
  copy.detail = g_strdup (node->detail);
  copy.name = g_strdup (node->name != NULL ? node->name : "");
  copy.scope = g_strdup (node->scope);
  copy.shape = g_strdup (node->shape);
  copy.badge = g_strdup (node->badge);
  g_array_append_val (self->nodes, copy);
  g_hash_table_insert (self->by_id, copy.id, GUINT_TO_POINTER (index + 1));
  if (vn_scene_node_is_of_model (&copy))
    g_hash_table_insert (self->by_source, GUINT_TO_POINTER (copy.source), GUINT_TO_POINTER (index + 1));
  return index;
}

/**
 * vn_scene_add_edge:
 * @edge: copied, strings included; its ends must be nodes of the scene
 *
 * Returns: the index of the new edge
 */
guint
vn_scene_add_edge (VnScene           *self,
                   const VnSceneEdge *edge)
{
  VnSceneEdge copy = *edge;

  g_return_val_if_fail (!self->sealed, VN_SCENE_NONE);
  g_return_val_if_fail (edge->from < self->nodes->len && edge->to < self->nodes->len, VN_SCENE_NONE);

  copy.value = g_strdup (edge->value != NULL ? edge->value : "");
  copy.tooltip = g_strdup (edge->tooltip);
  g_array_append_val (self->edges, copy);
  return self->edges->len - 1;
}

/**
 * vn_scene_add_stand_in:
 * @source: index of a node in the model's graph that has no box
 * @box: of the scene, found for it from now on
 */
void
vn_scene_add_stand_in (VnScene *self,
                       guint    source,
                       guint    box)
{
  g_return_if_fail (!self->sealed && box < self->nodes->len);

  g_hash_table_insert (self->by_source, GUINT_TO_POINTER (source), GUINT_TO_POINTER (box + 1));
}

/**
 * vn_scene_add_symbol:
 * @letter: in shapes of nodes
 * @text: the size that it stands for
 */
void
vn_scene_add_symbol (VnScene    *self,
                     const char *letter,
                     const char *text)
{
  g_return_if_fail (!self->sealed && letter != NULL && text != NULL);

  g_ptr_array_add (self->symbols, g_strdup (letter));
  g_ptr_array_add (self->symbols, g_strdup (text));
}

/**
 * vn_scene_get_n_symbols:
 *
 * Returns: how many sizes are said by letters
 */
guint
vn_scene_get_n_symbols (const VnScene *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->symbols->len / 2;
}

/**
 * vn_scene_get_symbol:
 * @text: (out) (transfer none): what it stands for
 *
 * Returns: (transfer none): a letter
 */
const char *
vn_scene_get_symbol (const VnScene  *self,
                     guint           i,
                     const char    **text)
{
  g_return_val_if_fail (self != NULL && i < self->symbols->len / 2 && text != NULL, NULL);

  *text = g_ptr_array_index (self->symbols, 2 * i + 1);
  return g_ptr_array_index (self->symbols, 2 * i);
}

static void
scene_fill_adjacency (const VnScene  *self,
                      gboolean        incoming,
                      guint         **first,
                      guint         **list)
{
  guint n = self->nodes->len;
  g_autofree guint *fill = g_new0 (guint, n + 1);

  *first = g_new0 (guint, n + 1);
  *list = g_new0 (guint, self->edges->len + 1);
  for (guint i = 0; i < self->edges->len; i++)
    {
      const VnSceneEdge *edge = vn_scene_get_edge (self, i);

      (*first)[(incoming ? edge->to : edge->from) + 1]++;
    }
  for (guint i = 0; i < n; i++)
    (*first)[i + 1] += (*first)[i];
  for (guint i = 0; i < self->edges->len; i++)
    {
      const VnSceneEdge *edge = vn_scene_get_edge (self, i);
      guint node = incoming ? edge->to : edge->from;

      (*list)[(*first)[node] + fill[node]++] = i;
    }
}

/**
 * vn_scene_seal:
 *
 * Ends the filling: from now on the scene is immutable and its neighbourhood tables can be read.
 */
void
vn_scene_seal (VnScene *self)
{
  g_return_if_fail (!self->sealed);

  scene_fill_adjacency (self, TRUE, &self->in_first, &self->in_edges);
  scene_fill_adjacency (self, FALSE, &self->out_first, &self->out_edges);
  self->sealed = TRUE;
}

/**
 * vn_scene_get_n_nodes:
 *
 * Returns: number of boxes and pills
 */
guint
vn_scene_get_n_nodes (const VnScene *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->nodes->len;
}

/**
 * vn_scene_get_n_edges:
 *
 * Returns: number of edges
 */
guint
vn_scene_get_n_edges (const VnScene *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->edges->len;
}

/**
 * vn_scene_get_node:
 *
 * Returns: (transfer none): node @i, which must exist
 */
const VnSceneNode *
vn_scene_get_node (const VnScene *self,
                   guint          i)
{
  g_return_val_if_fail (i < self->nodes->len, NULL);

  return &g_array_index (self->nodes, VnSceneNode, i);
}

/**
 * vn_scene_get_edge:
 *
 * Returns: (transfer none): edge @i, which must exist
 */
const VnSceneEdge *
vn_scene_get_edge (const VnScene *self,
                   guint          i)
{
  g_return_val_if_fail (i < self->edges->len, NULL);

  return &g_array_index (self->edges, VnSceneEdge, i);
}

/**
 * vn_scene_find_node:
 *
 * Returns: index of the node with this id, or %VN_SCENE_NONE
 */
guint
vn_scene_find_node (const VnScene *self,
                    const char    *id)
{
  g_return_val_if_fail (self != NULL, 0);

  return GPOINTER_TO_UINT (g_hash_table_lookup (self->by_id, id)) - 1;
}

/**
 * vn_scene_find_source:
 * @source: index of a node in the model's graph
 *
 * Returns: index of the box that stands for it, or %VN_SCENE_NONE (constants have none)
 */
guint
vn_scene_find_source (const VnScene *self,
                      guint          source)
{
  g_return_val_if_fail (self != NULL, 0);

  return GPOINTER_TO_UINT (g_hash_table_lookup (self->by_source, GUINT_TO_POINTER (source))) - 1;
}

/**
 * vn_scene_get_in_edges:
 * @n: (out): how many
 *
 * Returns: (transfer none): edges that end at @node, in the order they were added. The scene must be sealed.
 */
const guint *
vn_scene_get_in_edges (const VnScene *self,
                       guint          node,
                       guint         *n)
{
  g_return_val_if_fail (self->sealed && node < self->nodes->len, NULL);

  *n = self->in_first[node + 1] - self->in_first[node];
  return self->in_edges + self->in_first[node];
}

/**
 * vn_scene_get_out_edges:
 * @n: (out): how many
 *
 * Returns: (transfer none): edges that start at @node, in the order they were added. The scene must be
 *   sealed.
 */
const guint *
vn_scene_get_out_edges (const VnScene *self,
                        guint          node,
                        guint         *n)
{
  g_return_val_if_fail (self->sealed && node < self->nodes->len, NULL);

  *n = self->out_first[node + 1] - self->out_first[node];
  return self->out_edges + self->out_first[node];
}

/**
 * vn_scene_same_geometry:
 *
 * Returns: %TRUE if a layout of @a serves @b as well: same edges, same sizes
 */
gboolean
vn_scene_same_geometry (const VnScene *a,
                        const VnScene *b)
{
  g_return_val_if_fail (a != NULL, FALSE);
  g_return_val_if_fail (b != NULL, FALSE);

  if (a->nodes->len != b->nodes->len || a->edges->len != b->edges->len)
    return FALSE;

  for (guint i = 0; i < a->nodes->len; i++)
    {
      double wa, ha, wb, hb;

      vn_scene_node_get_size (vn_scene_get_node (a, i), &wa, &ha);
      vn_scene_node_get_size (vn_scene_get_node (b, i), &wb, &hb);
      if (wa != wb || ha != hb)
        return FALSE;
    }
  for (guint i = 0; i < a->edges->len; i++)
    {
      const VnSceneEdge *ea = vn_scene_get_edge (a, i);
      const VnSceneEdge *eb = vn_scene_get_edge (b, i);

      if (ea->from != eb->from || ea->to != eb->to || ea->output != eb->output || ea->input != eb->input)
        return FALSE;
    }
  return TRUE;
}

/**
 * vn_scene_node_is_pill:
 *
 * Returns: whether it is an input or output of the model
 */
gboolean
vn_scene_node_is_pill (const VnSceneNode *node)
{
  g_return_val_if_fail (node != NULL, FALSE);

  return node->kind == VN_SCENE_INPUT || node->kind == VN_SCENE_OUTPUT;
}

/**
 * vn_scene_node_is_of_model:
 *
 * Returns: whether its source is a node of the model
 */
gboolean
vn_scene_node_is_of_model (const VnSceneNode *node)
{
  g_return_val_if_fail (node != NULL, FALSE);

  return node->kind == VN_SCENE_NODE || node->kind == VN_SCENE_PAIR;
}

/* As wide as what must not be cut; nearly all are as wide as the others. */
static double
scene_measure_width (const char *title,   /* nullable */
                     double      room)
{
  glong n = title != NULL ? g_utf8_strlen (title, -1) : 0;

  return 2 * (double) (int) (CLAMP (8.2 * n + room, NODE_WIDTH, NODE_MAX) / 2);
}

/**
 * vn_scene_node_get_size:
 * @width: (out): in world units, which are pixels at 100 %
 * @height: (out): likewise
 *
 * Pills are as wide as their text is likely to be; the painter shortens what does not fit.
 */
void
vn_scene_node_get_size (const VnSceneNode *node,
                        double            *width,
                        double            *height)
{
  double text;

  g_return_if_fail (node != NULL && width != NULL && height != NULL);

  if (node->kind == VN_SCENE_GROUP)
    {
      *width = scene_measure_width (node->op, GROUP_ROOM);
      *height = GROUP_HEIGHT;
      return;
    }
  if (node->kind == VN_SCENE_NODE)
    {
      gboolean shows_detail = node->family == VN_FAMILY_CONVERSION && node->detail != NULL;

      *width = scene_measure_width (node->op, NODE_ROOM + (shows_detail ? 6.4 * g_utf8_strlen (node->detail, -1) : 0));
      *height = node->slim ? SLIM_HEIGHT : FULL_HEIGHT;
      return;
    }

  if (node->kind == VN_SCENE_PAIR)
    {
      *width = 2 * (double) (int) (CLAMP (6.4 * g_utf8_strlen (node->detail, -1) + 20, PAIR_MIN, NODE_WIDTH) / 2);
      *height = PAIR_HEIGHT;
      return;
    }
  text = 8.2 * g_utf8_strlen (node->name, -1);
  if (node->shape != NULL)
    text += 8 + 7.2 * g_utf8_strlen (node->shape, -1);
  *width = 2 * (double) (int) (CLAMP (text + 28, PILL_MIN, PILL_MAX) / 2);
  *height = PILL_HEIGHT;
}
