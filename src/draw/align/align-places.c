/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which nodes of two scenes have one place: counterparts, and those that stand in for each other between counterparts. Where
 * these follow each other in one order here and in another there they would feed each other in a circle: each has a place of its
 * own then. */
#include "align-private.h"

#include <string.h>

#define MOST_STEPS 100    /* to what follows nodes without counterpart */

/* ---- substitutes ---- */

/* Counterparts that name each other. */
static void
align_list_counterparts (AlignPlaces *self,
                         const guint *counterparts)
{
  guint n_first = vn_scene_get_n_nodes (self->sides[0]), n_second = vn_scene_get_n_nodes (self->sides[1]);

  for (guint i = 0; i < n_second; i++)
    self->other[1][i] = VN_SCENE_NONE;
  for (guint i = 0; i < n_first; i++)
    {
      guint other = counterparts[i] < n_second && self->other[1][counterparts[i]] == VN_SCENE_NONE ? counterparts[i]
                                                                                                  : VN_SCENE_NONE;

      self->other[0][i] = other;
      if (other != VN_SCENE_NONE)
        self->other[1][other] = i;
    }
}

/* The first node with a counterpart that comes after a node without one, going on from its first output each time. */
static guint
align_find_next (const AlignPlaces *self,
                 guint              side,
                 guint              node)
{
  for (guint i = 0; i < MOST_STEPS; i++)
    {
      guint n;
      const guint *edges = vn_scene_get_out_edges (self->sides[side], node, &n);

      if (n == 0)
        return VN_SCENE_NONE;
      node = vn_scene_get_edge (self->sides[side], edges[0])->to;
      if (self->other[side][node] != VN_SCENE_NONE)
        return node;
    }
  return VN_SCENE_NONE;
}

/* What the first scene has after the same node as a node of the second one, and before the same one. */
static guint
align_find_substitute (const AlignPlaces *self,
                       guint              node)
{
  guint n, n_in, before, after = align_find_next (self, 1, node);
  const guint *edges = vn_scene_get_in_edges (self->sides[1], node, &n_in), *out;
  const VnSceneEdge *first = n_in > 0 ? vn_scene_get_edge (self->sides[1], edges[0]) : NULL;

  before = first != NULL ? self->other[1][first->from] : VN_SCENE_NONE;
  if (before == VN_SCENE_NONE || after == VN_SCENE_NONE)
    return VN_SCENE_NONE;
  out = vn_scene_get_out_edges (self->sides[0], before, &n);
  for (guint i = 0; i < n; i++)
    {
      const VnSceneEdge *edge = vn_scene_get_edge (self->sides[0], out[i]);

      if (edge->output == first->output && self->other[0][edge->to] == VN_SCENE_NONE &&
          align_find_next (self, 0, edge->to) == self->other[1][after])
        return edge->to;
    }
  return VN_SCENE_NONE;
}

/* In the order of the second scene, so that chains stand in for chains. */
static void
align_find_substitutes (AlignPlaces *self)
{
  for (guint i = 0; i < vn_scene_get_n_nodes (self->sides[1]); i++)
    {
      guint found = self->other[1][i] == VN_SCENE_NONE && !vn_scene_node_is_pill (vn_scene_get_node (self->sides[1], i))
                    ? align_find_substitute (self, i) : VN_SCENE_NONE;

      if (found == VN_SCENE_NONE)
        continue;
      self->other[1][i] = found;
      self->other[0][found] = i;
      self->is_substitute[found] = TRUE;
    }
}

/* ---- circles ---- */

/* Counterparts have one number. */
static void
align_number (AlignPlaces *self)
{
  guint n_first = vn_scene_get_n_nodes (self->sides[0]), n_second = vn_scene_get_n_nodes (self->sides[1]);

  for (guint i = 0; i < n_first; i++)
    self->nodes[0][i] = i;
  self->n = n_first;
  for (guint i = 0; i < n_second; i++)
    self->nodes[1][i] = self->other[1][i] != VN_SCENE_NONE ? self->other[1][i] : self->n++;
}

static void
align_get_ends (const AlignPlaces *self,
                guint        side,
                guint        edge,
                gboolean     backwards,
                guint       *from,
                guint       *to)
{
  const VnSceneEdge *data = vn_scene_get_edge (self->sides[side], edge);

  *from = self->nodes[side][backwards ? data->to : data->from];
  *to = self->nodes[side][backwards ? data->from : data->to];
}

/* By node the edges that leave it, or backwards those that enter it: the nodes they lead to. */
static void
align_list_neighbours (const AlignPlaces *self,
                       gboolean     backwards,
                       guint      **first,
                       guint      **list)
{
  guint n_edges = vn_scene_get_n_edges (self->sides[0]) + vn_scene_get_n_edges (self->sides[1]), from, to;
  g_autofree guint *fill = g_new0 (guint, self->n + 1);

  *first = g_new0 (guint, self->n + 1);
  *list = g_new (guint, n_edges + 1);
  for (guint pass = 0; pass < 2; pass++)
    {
      for (guint side = 0; side < 2; side++)
        for (guint i = 0; i < vn_scene_get_n_edges (self->sides[side]); i++)
          {
            align_get_ends (self, side, i, backwards, &from, &to);
            if (pass == 0)
              (*first)[from + 1]++;
            else
              (*list)[(*first)[from] + fill[from]++] = to;
          }
      for (guint i = 0; pass == 0 && i < self->n; i++)
        (*first)[i + 1] += (*first)[i];
    }
}

/* Takes away what no circle leads to, or backwards what leads to none. Returns: how many nodes are left. */
static guint
align_peel (const AlignPlaces *self,
            gboolean     backwards,
            guint8      *is_left)
{
  g_autofree guint *first = NULL, *list = NULL, *wait = g_new0 (guint, self->n + 1), *queue = g_new (guint, self->n + 1);
  guint n_queue = 0, n_left = 0;

  align_list_neighbours (self, backwards, &first, &list);
  for (guint i = 0; i < self->n; i++)
    for (guint k = first[i]; is_left[i] && k < first[i + 1]; k++)
      wait[list[k]]++;
  for (guint i = 0; i < self->n; i++)
    {
      n_left += is_left[i];
      if (is_left[i] && wait[i] == 0)
        queue[n_queue++] = i;
    }
  for (guint i = 0; i < n_queue; i++)
    {
      is_left[queue[i]] = FALSE;
      n_left--;
      for (guint k = first[queue[i]]; k < first[queue[i] + 1]; k++)
        if (is_left[list[k]] && --wait[list[k]] == 0)
          queue[n_queue++] = list[k];
    }
  return n_left;
}

static gboolean
align_part (AlignPlaces  *self,
            const guint8 *is_left,
            gboolean      substitutes)
{
  gboolean parted = FALSE;

  for (guint i = 0; i < vn_scene_get_n_nodes (self->sides[0]); i++)
    if (is_left[i] && self->other[0][i] != VN_SCENE_NONE && self->is_substitute[i] == substitutes)
      {
        self->other[1][self->other[0][i]] = VN_SCENE_NONE;
        self->other[0][i] = VN_SCENE_NONE;
        parted = TRUE;
      }
  return parted;
}

/* Returns: whether some that had one place are parted. */
static gboolean
align_part_circles (AlignPlaces *self)
{
  g_autofree guint8 *is_left = g_malloc (self->n + 1);

  memset (is_left, TRUE, self->n + 1);
  if (align_peel (self, FALSE, is_left) == 0 || align_peel (self, TRUE, is_left) == 0)
    return FALSE;
  return align_part (self, is_left, TRUE) || align_part (self, is_left, FALSE);
}

/* @counterparts: by node of the first scene: its counterpart in the second; VN_SCENE_NONE: it has none */
void
vn_align_places_init (AlignPlaces         *self,
                      VnScene     * const  sides[2],
                      const guint         *counterparts)
{
  g_return_if_fail (self != NULL && counterparts != NULL);

  *self = (AlignPlaces) { .sides = sides };
  for (guint side = 0; side < 2; side++)
    {
      self->other[side] = g_new (guint, vn_scene_get_n_nodes (sides[side]) + 1);
      self->nodes[side] = g_new (guint, vn_scene_get_n_nodes (sides[side]) + 1);
    }
  self->is_substitute = g_new0 (guint8, vn_scene_get_n_nodes (sides[0]) + 1);
  align_list_counterparts (self, counterparts);
  align_find_substitutes (self);
  do
    align_number (self);
  while (align_part_circles (self));
}

void
vn_align_places_clear (AlignPlaces *self)
{
  for (guint side = 0; side < 2; side++)
    {
      g_clear_pointer (&self->other[side], g_free);
      g_clear_pointer (&self->nodes[side], g_free);
    }
  g_clear_pointer (&self->is_substitute, g_free);
}
