/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two scenes as one: nodes that have one place are one node. A line that runs past nodes only the other scene has runs through
 * their places, as straight as it is there. */
#include "align-private.h"

#define MOST_STEPS 100    /* nodes that a line runs through */

/* ---- scene ---- */

static guint
align_add_node (AlignWhole        *self,
                const VnSceneNode *node)
{
  VnSceneNode copy = *node;
  g_autofree char *id = g_strdup_printf ("%u\n%s", vn_scene_get_n_nodes (self->scene), node->id);

  if (vn_scene_find_node (self->scene, node->id) != VN_SCENE_NONE)
    copy.id = id;
  return vn_scene_add_node (self->scene, &copy);
}

static guint
align_add_both (AlignWhole        *self,
                const VnSceneNode *first,
                const VnSceneNode *second)
{
  double width, height, width_there, height_there;
  VnSceneNode node;

  vn_scene_node_get_size (first, &width, &height);
  vn_scene_node_get_size (second, &width_there, &height_there);
  node = width_there > width ? *second : *first;
  node.id = first->id;
  node.name = first->name;
  node.scope = first->scope;
  node.shape = first->shape;
  node.slim = height > height_there ? first->slim : second->slim;
  return align_add_node (self, &node);
}

/* What only the second scene has comes after the node that is before it there. */
static void
align_add_alone (AlignWhole *self,
                 VnScene    *second,
                 const guint *other,
                 guint       from)
{
  for (guint i = from; i < vn_scene_get_n_nodes (second) && other[i] == VN_SCENE_NONE; i++)
    self->nodes[1][i] = align_add_node (self, vn_scene_get_node (second, i));
}

static void
align_add_nodes (AlignWhole  *self,
                 const AlignPlaces *all)
{
  VnScene *first = all->sides[0], *second = all->sides[1];

  align_add_alone (self, second, all->other[1], 0);
  for (guint i = 0; i < vn_scene_get_n_nodes (first); i++)
    {
      guint other = all->other[0][i];

      if (other == VN_SCENE_NONE)
        {
          self->nodes[0][i] = align_add_node (self, vn_scene_get_node (first, i));
          continue;
        }
      self->nodes[0][i] = self->nodes[1][other] =
        align_add_both (self, vn_scene_get_node (first, i), vn_scene_get_node (second, other));
      align_add_alone (self, second, all->other[1], other + 1);
    }
}

/* ---- edges ---- */

typedef struct
{
  AlignWhole        *whole;
  const AlignPlaces *places;
  GHashTable        *known;     /* target, input and side -> edge + 1 */
} Lines;

static gint64
align_make_key (guint to,
                guint input,
                guint side)
{
  return ((gint64) to << 32) + ((gint64) input << 1) + side;
}

static guint
align_find_edge (Lines *self,
                 guint  to,
                 guint  input,
                 guint  side)
{
  gint64 key = align_make_key (to, input, side);

  return GPOINTER_TO_UINT (g_hash_table_lookup (self->known, &key)) - 1;
}

/* The edge of one side as one of the whole. */
static VnSceneEdge
align_get_edge (const Lines *self,
                guint        side,
                guint        edge)
{
  VnSceneEdge data = *vn_scene_get_edge (self->places->sides[side], edge);

  data.from = self->whole->nodes[side][data.from];
  data.to = self->whole->nodes[side][data.to];
  return data;
}

/* The other side's way from and to the same nodes, through nodes that this side lacks: from its end, always by the first input.
 * Returns: its length; 0: there is none. */
static guint
align_find_way (const Lines *self,
                guint        side,
                guint        edge,
                guint        way[MOST_STEPS])
{
  VnScene *there = self->places->sides[1 - side];
  const VnSceneEdge *data = vn_scene_get_edge (self->places->sides[side], edge);
  guint from = self->places->other[side][data->from], at = self->places->other[side][data->to], n, length = 0;
  const guint *edges;

  if (from == VN_SCENE_NONE || at == VN_SCENE_NONE)
    return 0;
  edges = vn_scene_get_in_edges (there, at, &n);
  for (guint i = 0; i < n; i++)
    if (vn_scene_get_edge (there, edges[i])->input == data->input)
      way[length++] = edges[i];
  if (length != 1)
    return 0;
  while (length < MOST_STEPS)
    {
      const VnSceneEdge *last = vn_scene_get_edge (there, way[length - 1]);

      if (last->from == from)
        return last->output == data->output ? length : 0;
      if (self->places->other[1 - side][last->from] != VN_SCENE_NONE)
        return 0;
      edges = vn_scene_get_in_edges (there, last->from, &n);
      if (n == 0)
        return 0;
      way[length++] = edges[0];
    }
  return 0;
}

static guint
align_add_edge (Lines *self,
                guint  side,
                guint  edge)
{
  VnSceneEdge data = align_get_edge (self, side, edge);
  guint known = align_find_edge (self, data.to, data.input, 1 - side), added;
  gint64 key = align_make_key (data.to, data.input, side);

  if (known != VN_SCENE_NONE && vn_scene_get_edge (self->whole->scene, known)->from == data.from &&
      vn_scene_get_edge (self->whole->scene, known)->output == data.output)
    return known;
  added = vn_scene_add_edge (self->whole->scene, &data);
  g_hash_table_insert (self->known, g_memdup2 (&key, sizeof key), GUINT_TO_POINTER (added + 1));
  return added;
}

/* Edges that go the other side's way come last: that has to be there. */
static void
align_add_edges (AlignWhole        *whole,
                 const AlignPlaces *places)
{
  g_autoptr(GHashTable) known = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  Lines self = { whole, places, known };
  guint *single[2], way[MOST_STEPS];

  for (guint side = 0; side < 2; side++)
    {
      guint n = vn_scene_get_n_edges (places->sides[side]);

      single[side] = g_new (guint, n + 1);
      for (guint i = 0; i < n; i++)
        single[side][i] = align_find_way (&self, side, i, way) > 1 ? VN_SCENE_NONE : align_add_edge (&self, side, i);
    }
  for (guint side = 0; side < 2; side++)
    {
      guint n = vn_scene_get_n_edges (places->sides[side]);

      for (guint i = 0; i < n; i++)
        {
          guint length = single[side][i] == VN_SCENE_NONE ? align_find_way (&self, side, i, way) : 0;

          whole->way_first[side][i] = whole->ways[side]->len;
          if (length == 0)
            g_array_append_val (whole->ways[side], single[side][i]);
          while (length-- > 0)
            g_array_append_val (whole->ways[side], single[1 - side][way[length]]);
        }
      whole->way_first[side][n] = whole->ways[side]->len;
    }
  g_free (single[0]);
  g_free (single[1]);
}

/* @counterparts: by node of the first scene: its counterpart in the second; VN_SCENE_NONE: it has none */
void
vn_align_whole_init (AlignWhole          *self,
                     VnScene     * const  sides[2],
                     const guint         *counterparts)
{
  AlignPlaces places;

  g_return_if_fail (self != NULL && counterparts != NULL);

  self->scene = vn_scene_new ();
  for (guint side = 0; side < 2; side++)
    {
      self->nodes[side] = g_new (guint, vn_scene_get_n_nodes (sides[side]) + 1);
      self->way_first[side] = g_new (guint, vn_scene_get_n_edges (sides[side]) + 1);
      self->ways[side] = g_array_new (FALSE, FALSE, sizeof (guint));
    }
  vn_align_places_init (&places, sides, counterparts);
  align_add_nodes (self, &places);
  align_add_edges (self, &places);
  vn_scene_seal (self->scene);
  vn_align_places_clear (&places);
}

void
vn_align_whole_clear (AlignWhole *self)
{
  g_clear_pointer (&self->scene, vn_scene_unref);
  for (guint side = 0; side < 2; side++)
    {
      g_clear_pointer (&self->nodes[side], g_free);
      g_clear_pointer (&self->way_first[side], g_free);
      g_clear_pointer (&self->ways[side], g_array_unref);
    }
}
