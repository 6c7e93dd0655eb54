/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layout of a fold: each open group is laid out by itself, as if all in it were closed; what is open takes its room
 * afterwards. So nothing above an opened group moves, nor what is left of it. */
#include "fold-private.h"
#include "vn-thread.h"

#include <math.h>
#include <string.h>

#define FRAME_TITLE   30.
#define FRAME_MARGIN  16.
#define FRAME_LEAST  150.   /* room for a title */
#define CUT_SPAN      40    /* edges over more ranks are stubs */

struct _VnFoldPlaces
{
  gatomicrefcount ref;
  GMutex      lock;
  GHashTable *plans;    /* group + 1 -> VnGraphPlan */
};

/* One level, laid out: within itself, and where that lies in the world. */
typedef struct
{
  VnGraphPlan   *plan;
  VnGraphLayout *layout;
  VnPoint        origin;
  double         anchor;       /* where the middle of the closed group is, in the level's own x */
  guint         *rank_base;    /* by rank */
  guint          n_ranks, base;
} Placed;

typedef struct
{
  const VnFold  *fold;
  Placed        *placed;       /* by level */
  VnGraphLayout *layout;
  guint        **edge_of;      /* by level, then by its edge: an edge of the shown scene */
} Compose;

/**
 * vn_fold_places_new:
 *
 * Returns: (transfer full): no places yet
 */
VnFoldPlaces *
vn_fold_places_new (void)
{
  VnFoldPlaces *self = g_new0 (VnFoldPlaces, 1);

  g_atomic_ref_count_init (&self->ref);
  g_mutex_init (&self->lock);
  self->plans = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) vn_graph_plan_free);
  return self;
}

/**
 * vn_fold_places_ref:
 *
 * Returns: (transfer full): @self
 */
VnFoldPlaces *
vn_fold_places_ref (VnFoldPlaces *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

/**
 * vn_fold_places_unref:
 *
 * Drops a reference; the last one frees the places.
 */
void
vn_fold_places_unref (VnFoldPlaces *self)
{
  g_return_if_fail (self != NULL);

  if (!g_atomic_ref_count_dec (&self->ref))
    return;

  g_hash_table_unref (self->plans);
  g_mutex_clear (&self->lock);
  g_free (self);
}

/* ---- levels ---- */

static VnGraphPlan *
fold_layout_find_plan (VnFoldPlaces  *places,
                       FoldLevel     *level,
                       GCancellable  *cancellable,
                       GError       **error)
{
  gpointer key = GUINT_TO_POINTER (level->group + 1);
  VnGraphLayoutInput input = { level->nodes->len, (VnGraphLayoutNode *) (gpointer) level->nodes->data, level->edges->len,
                               (VnGraphLayoutEdge *) (gpointer) level->edges->data, CUT_SPAN };
  VnGraphPlan *plan, *other;

  g_mutex_lock (&places->lock);
  plan = g_hash_table_lookup (places->plans, key);
  g_mutex_unlock (&places->lock);
  if (plan != NULL)
    return plan;

  plan = vn_graph_plan_new (&input, cancellable, error);
  if (plan == NULL)
    return NULL;
  g_mutex_lock (&places->lock);
  other = g_hash_table_lookup (places->plans, key);
  if (other == NULL)
    g_hash_table_insert (places->plans, key, plan);
  g_mutex_unlock (&places->lock);
  if (other != NULL)
    vn_graph_plan_free (plan);
  return other != NULL ? other : plan;
}

static double
fold_layout_port_x (const Placed *inner,
                    GHashTable   *ports,
                    guint         value)
{
  guint local = GPOINTER_TO_UINT (g_hash_table_lookup (ports, GUINT_TO_POINTER (value + 1)));
  const VnRect *box;

  if (local == 0)
    return 0;
  box = vn_graph_layout_get_box (inner->layout, local - 1);
  return box->x + box->width / 2 - inner->anchor;
}

/* Where edges meet the frames of the groups that are open in a level, and how large these are. */
static void
fold_layout_measure (const Compose *self,
                     FoldLevel     *level,
                     Growth        *growth,
                     double        *enter,
                     double        *leave)
{
  for (guint i = 0; i < level->nodes->len; i++)
    {
      guint group = g_array_index (level->groups, guint, i);
      const Placed *inner;
      VnRect bounds;

      if (group == VN_SCENE_NONE)
        continue;
      inner = &self->placed[self->fold->level_of[group]];
      bounds = vn_graph_layout_get_bounds (inner->layout);
      growth[i].left = MAX (inner->anchor - bounds.x + FRAME_MARGIN, FRAME_LEAST / 2);
      growth[i].right = MAX (bounds.x + bounds.width - inner->anchor + FRAME_MARGIN, FRAME_LEAST / 2);
      growth[i].height = bounds.height + FRAME_TITLE + FRAME_MARGIN;
    }
  for (guint i = 0; i < level->edges->len; i++)
    {
      const VnGraphLayoutEdge *edge = &g_array_index (level->edges, VnGraphLayoutEdge, i);
      guint from = g_array_index (level->groups, guint, edge->from), to = g_array_index (level->groups, guint, edge->to);

      if (from != VN_SCENE_NONE)
        {
          guint at = self->fold->level_of[from];

          leave[i] = fold_layout_port_x (&self->placed[at], g_array_index (self->fold->levels, FoldLevel, at).exits,
                                         edge->output);
        }
      if (to != VN_SCENE_NONE)
        {
          guint at = self->fold->level_of[to];

          enter[i] = fold_layout_port_x (&self->placed[at], g_array_index (self->fold->levels, FoldLevel, at).entries,
                                         edge->output);
        }
    }
}

static void
fold_layout_count_ranks (const Compose *self,
                         FoldLevel     *level,
                         Placed        *placed)
{
  guint n = vn_graph_layout_get_n_ranks (placed->layout);
  guint *span = g_new (guint, n + 1), sum = 0;

  for (guint i = 0; i < n; i++)
    span[i] = 1;
  for (guint i = 0; i < level->nodes->len; i++)
    {
      guint group = g_array_index (level->groups, guint, i), rank = vn_graph_layout_get_rank (placed->layout, i);

      if (group != VN_SCENE_NONE)
        span[rank] = MAX (span[rank], self->placed[self->fold->level_of[group]].n_ranks);
    }
  for (guint i = 0; i < n; i++)
    {
      guint here = span[i];

      span[i] = sum;
      sum += here;
    }
  placed->rank_base = span;
  placed->n_ranks = sum;
}

/* The middle of a level before anything in it grew. */
static double
fold_layout_find_anchor (const VnGraphPlan *plan)
{
  g_autoptr(VnGraphLayout) plain = vn_graph_plan_lay_out (plan, NULL, NULL, NULL);
  VnRect bounds = vn_graph_layout_get_bounds (plain);

  return round (bounds.x + bounds.width / 2);
}

static gboolean
fold_layout_place_level (Compose       *self,
                         guint          at,
                         VnFoldPlaces  *places,
                         GCancellable  *cancellable,
                         GError       **error)
{
  FoldLevel *level = &g_array_index (self->fold->levels, FoldLevel, at);
  Placed *placed = &self->placed[at];
  g_autofree Growth *growth = g_new0 (Growth, level->nodes->len + 1);
  g_autofree double *enter = g_new0 (double, level->edges->len + 1), *leave = g_new0 (double, level->edges->len + 1);

  placed->plan = fold_layout_find_plan (places, level, cancellable, error);
  if (placed->plan == NULL)
    return FALSE;
  fold_layout_measure (self, level, growth, enter, leave);
  placed->layout = vn_graph_plan_lay_out (placed->plan, growth, enter, leave);
  placed->anchor = fold_layout_find_anchor (placed->plan);
  fold_layout_count_ranks (self, level, placed);
  return TRUE;
}

/* ---- the world ---- */

static VnRect
fold_layout_move (VnRect  box,
                  VnPoint by)
{
  return (VnRect) { box.x + by.x, box.y + by.y, box.width, box.height };
}

/* Puts the boxes of a level into the world, and says where the levels in it lie. */
static void
fold_layout_compose_boxes (Compose *self,
                           guint    at)
{
  FoldLevel *level = &g_array_index (self->fold->levels, FoldLevel, at);
  Placed *placed = &self->placed[at];

  for (guint i = 0; i < level->nodes->len; i++)
    {
      guint box = g_array_index (level->boxes, guint, i), group = g_array_index (level->groups, guint, i);
      VnRect rect = fold_layout_move (*vn_graph_layout_get_box (placed->layout, i), placed->origin);
      guint rank = placed->base + placed->rank_base[vn_graph_layout_get_rank (placed->layout, i)];

      if (box != VN_SCENE_NONE)
        {
          self->layout->boxes[box] = rect;
          self->layout->ranks[box] = rank;
        }
      if (group != VN_SCENE_NONE)
        {
          Placed *inner = &self->placed[self->fold->level_of[group]];
          VnRect bounds = vn_graph_layout_get_bounds (inner->layout);
          double left = MAX (inner->anchor - bounds.x + FRAME_MARGIN, FRAME_LEAST / 2);
          VnGraphLayoutFrame frame = { .group = group, .box = rect,
                                       .depth = vn_groups_get (self->fold->groups, group)->depth };

          frame.anchor = (VnPoint) { rect.x + left, rect.y };
          inner->origin = (VnPoint) { frame.anchor.x - inner->anchor, rect.y + FRAME_TITLE - bounds.y };
          inner->base = rank;
          g_array_append_val (self->layout->frames, frame);
        }
    }
}

/* Appends a piece of an edge; where the last one ended at a frame, the line runs on. */
static void
fold_layout_append_piece (Compose         *self,
                          const FoldPiece *piece,
                          guint            first)
{
  const Placed *placed = &self->placed[piece->level];
  GArray *route = self->layout->points;
  guint n, start = route->len;
  const VnPoint *points = vn_graph_layout_get_route (placed->layout, piece->edge, &n, NULL);

  for (guint i = 0; i < n; i++)
    {
      VnPoint point = { points[i].x + placed->origin.x, points[i].y + placed->origin.y };
      VnPoint *last = &g_array_index (route, VnPoint, MAX (route->len, 1) - 1);

      if (i == 0 && start > first && fabs (last->x - point.x) < 0.5)
        {
          *last = (VnPoint) { last->x, points[1].y + placed->origin.y };
          i++;
          continue;
        }
      g_array_append_val (route, point);
    }
}

typedef struct { guint first, n; } Chain;

/* The pieces of an edge that are drawn: all, or what is left behind the last cut, or before the first. */
static Chain
fold_layout_find_drawn (const Compose *self,
                        guint          edge)
{
  const VnFold *fold = self->fold;
  guint first = g_array_index (fold->first_piece, guint, edge), end = g_array_index (fold->first_piece, guint, edge + 1);
  guint last_cut = VN_SCENE_NONE, first_cut = VN_SCENE_NONE;

  for (guint i = first; i < end; i++)
    {
      const FoldPiece *piece = &g_array_index (fold->pieces, FoldPiece, i);
      guint n;

      vn_graph_layout_get_route (self->placed[piece->level].layout, piece->edge, &n, NULL);
      if (n > 0)
        continue;
      last_cut = i;
      first_cut = MIN (first_cut, i);
    }
  if (last_cut == VN_SCENE_NONE)
    return (Chain) { first, end - first };
  if (last_cut + 1 < end)
    return (Chain) { last_cut + 1, end - last_cut - 1 };
  return (Chain) { first, first_cut - first };
}

/* Pieces that an earlier edge has drawn are not drawn again. */
static guint
fold_layout_count_shared (Compose *self,
                          guint    edge,
                          Chain    chain)
{
  guint n = 0;

  for (guint i = 0; i < chain.n; i++)
    {
      const FoldPiece *piece = &g_array_index (self->fold->pieces, FoldPiece, chain.first + i);
      guint *owner = &self->edge_of[piece->level][piece->edge];

      if (*owner == VN_SCENE_NONE)
        *owner = edge;
      else if (*owner != edge && n == i)
        n++;
    }
  return MIN (n, chain.n > 0 ? chain.n - 1 : 0);
}

static void
fold_layout_compose_edge (Compose *self,
                          guint    edge)
{
  VnGraphLayout *layout = self->layout;
  Chain chain = fold_layout_find_drawn (self, edge);
  guint first = layout->points->len, n_shared = fold_layout_count_shared (self, edge, chain);

  layout->route_first[edge] = first;
  for (guint i = 0; i < chain.n; i++)
    {
      const FoldPiece *piece = &g_array_index (self->fold->pieces, FoldPiece, chain.first + i);
      guint n, own;

      vn_graph_layout_get_route (self->placed[piece->level].layout, piece->edge, &n, &own);
      fold_layout_append_piece (self, piece, first);
      if (i > 0 && own == 0 && n > 2)
        own = 1;    /* down to there an earlier edge has drawn it */
      if (i == n_shared)
        layout->own_start[edge] = layout->points->len - first - n + own;
    }
}

static void
fold_layout_compose_stubs (Compose *self,
                           guint    at)
{
  const Placed *placed = &self->placed[at];

  for (guint i = 0; i < vn_graph_layout_get_n_stubs (placed->layout); i++)
    {
      VnGraphLayoutStub stub = *vn_graph_layout_get_stub (placed->layout, i);

      stub.box = fold_layout_move (stub.box, placed->origin);
      for (guint k = 0; k < G_N_ELEMENTS (stub.route); k++)
        {
          stub.route[k].x += placed->origin.x;
          stub.route[k].y += placed->origin.y;
        }
      stub.edge = self->edge_of[at][stub.edge];
      if (stub.edge != VN_SCENE_NONE)
        g_array_append_val (self->layout->stubs, stub);
    }
}

/* Which edge of the scene an edge of a level belongs to that is not drawn. */
static void
fold_layout_claim_cut (Compose *self)
{
  const VnFold *fold = self->fold;

  for (guint edge = 0; edge < self->layout->n_edges; edge++)
    for (guint i = g_array_index (fold->first_piece, guint, edge); i < g_array_index (fold->first_piece, guint, edge + 1); i++)
      {
        const FoldPiece *piece = &g_array_index (fold->pieces, FoldPiece, i);
        guint *owner = &self->edge_of[piece->level][piece->edge];

        if (*owner == VN_SCENE_NONE)
          *owner = edge;
      }
}

static void
fold_layout_compose (Compose *self)
{
  VnGraphLayout *layout = self->layout;
  guint n_levels = self->fold->levels->len;

  for (guint at = 0; at < n_levels; at++)
    fold_layout_compose_boxes (self, at);
  for (guint edge = 0; edge < layout->n_edges; edge++)
    fold_layout_compose_edge (self, edge);
  layout->route_first[layout->n_edges] = layout->points->len;
  fold_layout_claim_cut (self);
  for (guint at = 0; at < n_levels; at++)
    {
      fold_layout_compose_stubs (self, at);
      layout->crossings += vn_graph_layout_get_crossings (self->placed[at].layout);
    }
  layout->n_ranks = self->placed[0].n_ranks;
  layout->bounds = vn_graph_layout_get_bounds (self->placed[0].layout);
}

static void
fold_layout_clear (Compose *self)
{
  for (guint at = 0; at < self->fold->levels->len; at++)
    {
      g_clear_pointer (&self->placed[at].layout, vn_graph_layout_unref);
      g_free (self->placed[at].rank_base);
      g_free (self->edge_of[at]);
    }
  g_free (self->placed);
  g_free (self->edge_of);
}

/**
 * vn_fold_lay_out:
 * @places: of the same tree of groups; grows
 * @cancellable: (nullable):
 *
 * Lays out what is shown. The children of a group keep their places among one another whatever is open. What opens takes the room
 * to both sides that is free, else the room to its right; what is above it and what is left of it stays where it was.
 *
 * Returns: (transfer full): the layout of vn_fold_get_scene(), with a frame for each open group
 */
VnGraphLayout *
vn_fold_lay_out (const VnFold  *self,
                 VnFoldPlaces  *places,
                 GCancellable  *cancellable,
                 GError       **error)
{
  Compose compose = { .fold = self };
  gboolean ok = TRUE;

  g_return_val_if_fail (self != NULL && places != NULL, NULL);

  compose.placed = g_new0 (Placed, self->levels->len);
  compose.edge_of = g_new0 (guint *, self->levels->len);
  for (guint at = self->levels->len; ok && at-- > 0;)
    {
      gsize size = sizeof (guint) * (g_array_index (self->levels, FoldLevel, at).edges->len + 1);

      compose.edge_of[at] = g_malloc (size);
      memset (compose.edge_of[at], 0xff, size);
      ok = fold_layout_place_level (&compose, at, places, cancellable, error);
    }
  if (ok)
    {
      compose.layout = vn_graph_layout_alloc (vn_scene_get_n_nodes (self->scene), vn_scene_get_n_edges (self->scene));
      fold_layout_compose (&compose);
    }
  fold_layout_clear (&compose);
  return compose.layout;
}

typedef struct { VnFold *fold; VnFoldPlaces *places; double page; } Task;

static void
fold_layout_free_task (gpointer data)
{
  Task *task = data;

  vn_fold_unref (task->fold);
  vn_fold_places_unref (task->places);
  g_free (task);
}

static void
fold_layout_thread (GTask        *task,
                    gpointer      source_object,
                    gpointer      task_data,
                    GCancellable *cancellable)
{
  const Task *data = task_data;
  GError *error = NULL;
  g_autoptr(VnGraphLayout) layout = vn_fold_lay_out (data->fold, data->places, cancellable, &error);

  if (layout == NULL)
    g_task_return_error (task, error);
  else
    g_task_return_pointer (task, vn_graph_layout_wrap (layout, data->page), (GDestroyNotify) vn_graph_layout_unref);
}

/**
 * vn_fold_lay_out_async:
 * @page: as vn_graph_layout_wrap() takes it
 * @callback: called on the calling thread's main context; vn_graph_layout_new_finish() gives it the layout
 *
 * As vn_fold_lay_out() and vn_graph_layout_wrap(), on a worker thread.
 */
void
vn_fold_lay_out_async (VnFold              *self,
                       VnFoldPlaces        *places,
                       double               page,
                       GCancellable        *cancellable,
                       GAsyncReadyCallback  callback,
                       gpointer             user_data)
{
  g_autoptr(GTask) task = g_task_new (NULL, cancellable, callback, user_data);
  Task *data;

  g_return_if_fail (self != NULL && places != NULL && page >= 0);

  data = g_new0 (Task, 1);
  *data = (Task) { vn_fold_ref (self), vn_fold_places_ref (places), page };
  g_task_set_source_tag (task, vn_fold_lay_out_async);
  g_task_set_task_data (task, data, fold_layout_free_task);
  vn_thread_run_task (task, fold_layout_thread);
}
