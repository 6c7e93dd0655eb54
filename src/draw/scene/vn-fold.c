/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The scene that is shown while some groups are closed, and the overlay that belongs to it. */
#include "vn-fold.h"

#include "fold-private.h"
#include "vn-i18n.h"

#include <string.h>

typedef struct
{
  VnFold     *fold;
  guint      *value_of;    /* by edge of the whole scene */
  GHashTable *known;       /* value and box -> edge of the shown scene + 1 */
} Build;

static void
fold_clear_level (gpointer data)
{
  FoldLevel *level = data;

  g_array_unref (level->nodes);
  g_array_unref (level->edges);
  g_array_unref (level->boxes);
  g_array_unref (level->groups);
  g_hash_table_unref (level->known);
  g_hash_table_unref (level->entries);
  g_hash_table_unref (level->exits);
}

/* The outermost closed group a node is in; VN_SCENE_NONE: none. */
static guint
fold_find_closed (const VnFold *self,
                  guint         node)
{
  guint closed = VN_SCENE_NONE;

  for (guint group = vn_groups_of_node (self->groups, node); group != VN_SCENE_NONE;
       group = vn_groups_get (self->groups, group)->parent)
    if (!self->open[group])
      closed = group;
  return closed;
}

/* ---- boxes ---- */

typedef struct
{
  guint             n, n_excluded;
  VnScenePrecision  precision;
  const char       *badge;
  gboolean          differs, is_mixed;
} Summary;

/* What the nodes of each closed group have in common. */
static Summary *
fold_summarize (const VnFold *self)
{
  Summary *summaries = g_new0 (Summary, vn_groups_get_n (self->groups));

  for (guint i = 0; i < vn_scene_get_n_nodes (self->whole); i++)
    {
      const VnSceneNode *node = vn_scene_get_node (self->whole, i);
      guint closed = fold_find_closed (self, i);
      Summary *summary;

      if (closed == VN_SCENE_NONE || node->precision == VN_PRECISION_NONE)
        continue;
      summary = &summaries[closed];
      if (summary->n++ == 0)
        {
          summary->precision = node->precision;
          summary->badge = node->badge;
        }
      summary->is_mixed |= summary->precision != node->precision;
      summary->n_excluded += node->excluded;
      summary->differs |= node->differs;
    }
  return summaries;
}

static guint
fold_add_group_box (VnFold        *self,
                    guint          group,
                    const Summary *summary)
{
  const VnGroup *data = vn_groups_get (self->groups, group);
  g_autofree char *id = g_strdup_printf ("group %s", data->id);
  g_autofree char *count = g_strdup_printf (ngettext ("%u node", "%u nodes", data->n_nodes), data->n_nodes);
  VnSceneNode box = { .id = id, .source = group, .kind = VN_SCENE_GROUP, .op = data->title, .detail = data->detail,
                      .name = count, .shape = data->shape, .differs = summary->differs,
                      .excluded = summary->n > 0 && summary->n_excluded == summary->n };

  if (!summary->is_mixed)
    {
      box.precision = summary->precision;
      box.badge = (char *) summary->badge;
    }
  return vn_scene_add_node (self->scene, &box);
}

static void
fold_add_boxes (VnFold *self)
{
  guint n = vn_scene_get_n_nodes (self->whole);
  g_autofree guint *box_of_group = g_new (guint, vn_groups_get_n (self->groups));
  g_autofree Summary *summaries = fold_summarize (self);

  memset (box_of_group, 0xff, sizeof (guint) * vn_groups_get_n (self->groups));
  self->box_of = g_new (guint, n + 1);
  for (guint i = 0; i < n; i++)
    {
      guint closed = fold_find_closed (self, i);

      if (closed == VN_SCENE_NONE)
        {
          self->box_of[i] = vn_scene_add_node (self->scene, vn_scene_get_node (self->whole, i));
          continue;
        }
      if (box_of_group[closed] == VN_SCENE_NONE)
        box_of_group[closed] = fold_add_group_box (self, closed, &summaries[closed]);
      self->box_of[i] = box_of_group[closed];
    }
}

static void
fold_list_nodes (VnFold *self)
{
  guint n = vn_scene_get_n_nodes (self->whole), n_boxes = vn_scene_get_n_nodes (self->scene);
  g_autofree guint *fill = g_new0 (guint, n_boxes + 1);

  self->first_node = g_new0 (guint, n_boxes + 1);
  self->nodes = g_new (guint, n + 1);
  for (guint i = 0; i < n; i++)
    self->first_node[self->box_of[i] + 1]++;
  for (guint i = 0; i < n_boxes; i++)
    self->first_node[i + 1] += self->first_node[i];
  for (guint i = 0; i < n; i++)
    {
      guint box = self->box_of[i];

      self->nodes[self->first_node[box] + fill[box]++] = i;
    }
}

/* ---- edges ---- */

/* Numbers the tensors: the edges that leave one output of a node have one number. */
static guint *
fold_number_values (const VnFold *self)
{
  guint n_values = 0;
  guint *value_of = g_new (guint, vn_scene_get_n_edges (self->whole) + 1);

  for (guint node = 0; node < vn_scene_get_n_nodes (self->whole); node++)
    {
      guint n;
      const guint *edges = vn_scene_get_out_edges (self->whole, node, &n);

      for (guint i = 0; i < n; i++)
        {
          guint output = vn_scene_get_edge (self->whole, edges[i])->output, k = 0;

          while (k < i && vn_scene_get_edge (self->whole, edges[k])->output != output)
            k++;
          value_of[edges[i]] = k < i ? value_of[edges[k]] : n_values++;
        }
    }
  return value_of;
}

/* A tensor enters a closed group once, however many nodes in it use it. Returns: the number of the edge that does so plus one,
 * where to keep it; NULL: each edge is there by itself. */
static gpointer *
fold_find_known (Build *self,
                 guint  value,
                 guint  from,
                 guint  to)
{
  const VnScene *scene = self->fold->scene;
  gint64 key = ((gint64) value << 32) + to;
  gpointer *known;

  if (vn_scene_get_node (scene, from)->kind != VN_SCENE_GROUP && vn_scene_get_node (scene, to)->kind != VN_SCENE_GROUP)
    return NULL;
  known = g_hash_table_lookup (self->known, &key);
  if (known == NULL)
    {
      known = g_new0 (gpointer, 1);
      g_hash_table_insert (self->known, g_memdup2 (&key, sizeof key), known);
    }
  return known;
}

/* Returns: the edge of the shown scene; VN_SCENE_NONE: it is inside of a closed group. */
static guint
fold_add_edge (Build             *self,
               const VnSceneEdge *whole,
               guint              value)
{
  VnFold *fold = self->fold;
  VnSceneEdge edge = *whole;
  guint first = fold->pieces->len, added;
  gpointer *known;

  edge.from = fold->box_of[whole->from];
  edge.to = fold->box_of[whole->to];
  if (edge.from == edge.to)
    return VN_SCENE_NONE;
  known = fold_find_known (self, value, edge.from, edge.to);
  if (known != NULL && *known != NULL)
    return GPOINTER_TO_UINT (*known) - 1;
  if (vn_scene_get_node (fold->scene, edge.from)->kind == VN_SCENE_GROUP)
    edge.output = value;
  if (vn_scene_get_node (fold->scene, edge.from)->kind == VN_SCENE_GROUP
      || vn_scene_get_node (fold->scene, edge.to)->kind == VN_SCENE_GROUP)
    edge.changes = FALSE;
  added = vn_scene_add_edge (fold->scene, &edge);
  if (known != NULL)
    *known = GUINT_TO_POINTER (added + 1);
  vn_fold_add_chain (fold, whole->from, whole->to, value);
  g_array_append_val (fold->first_piece, first);
  return added;
}

static void
fold_add_edges (VnFold *self)
{
  g_autofree guint *value_of = fold_number_values (self);
  g_autoptr(GHashTable) known = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, g_free);
  Build build = { self, value_of, known };

  self->edge_of = g_new (guint, vn_scene_get_n_edges (self->whole) + 1);
  for (guint i = 0; i < vn_scene_get_n_edges (self->whole); i++)
    self->edge_of[i] = fold_add_edge (&build, vn_scene_get_edge (self->whole, i), value_of[i]);
  g_array_append_val (self->first_piece, self->pieces->len);
}

/**
 * vn_fold_new:
 * @whole: sealed
 * @groups: of @whole
 * @open: one byte a group: whether it is open; one in a closed group is not seen. The whole network has to be open.
 *
 * Returns: (transfer full): what is seen of @whole
 */
VnFold *
vn_fold_new (VnScene      *whole,
             VnGroups     *groups,
             const guint8 *open)
{
  VnFold *self;

  g_return_val_if_fail (whole != NULL && groups != NULL && open != NULL, NULL);
  g_return_val_if_fail (vn_groups_get_n_nodes (groups) == vn_scene_get_n_nodes (whole) && open[VN_GROUPS_ROOT], NULL);

  self = g_new0 (VnFold, 1);
  g_atomic_ref_count_init (&self->ref);
  self->whole = vn_scene_ref (whole);
  self->groups = vn_groups_ref (groups);
  self->open = g_memdup2 (open, vn_groups_get_n (groups));
  self->scene = vn_scene_new ();
  self->levels = g_array_new (FALSE, FALSE, sizeof (FoldLevel));
  g_array_set_clear_func (self->levels, fold_clear_level);
  self->pieces = g_array_new (FALSE, FALSE, sizeof (FoldPiece));
  self->first_piece = g_array_new (FALSE, FALSE, sizeof (guint));
  fold_add_boxes (self);
  fold_list_nodes (self);
  vn_fold_add_levels (self);
  fold_add_edges (self);
  vn_scene_seal (self->scene);
  return self;
}

/**
 * vn_fold_renew:
 * @whole: of the same geometry
 *
 * Returns: (transfer full): what is seen of @whole with the same groups open
 */
VnFold *
vn_fold_renew (const VnFold *self,
               VnScene      *whole)
{
  g_return_val_if_fail (self != NULL, NULL);

  return vn_fold_new (whole, self->groups, self->open);
}

/**
 * vn_fold_ref:
 *
 * Returns: (transfer full): @self
 */
VnFold *
vn_fold_ref (VnFold *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

/**
 * vn_fold_unref:
 *
 * Drops a reference; the last one frees the fold.
 */
void
vn_fold_unref (VnFold *self)
{
  g_return_if_fail (self != NULL);

  if (!g_atomic_ref_count_dec (&self->ref))
    return;

  vn_scene_unref (self->whole);
  vn_scene_unref (self->scene);
  vn_groups_unref (self->groups);
  g_free (self->open);
  g_free (self->box_of);
  g_free (self->edge_of);
  g_free (self->first_node);
  g_free (self->nodes);
  g_array_unref (self->levels);
  g_free (self->level_of);
  g_free (self->local_of);
  g_array_unref (self->pieces);
  g_array_unref (self->first_piece);
  g_free (self);
}

/**
 * vn_fold_get_scene:
 *
 * Returns: (transfer none): what is shown, sealed
 */
VnScene *
vn_fold_get_scene (const VnFold *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->scene;
}

/**
 * vn_fold_get_groups:
 *
 * Returns: (transfer none): the tree of groups
 */
VnGroups *
vn_fold_get_groups (const VnFold *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->groups;
}

/**
 * vn_fold_is_open:
 *
 * Returns: whether a group is open and can be seen, for all that holds it is open as well
 */
gboolean
vn_fold_is_open (const VnFold *self,
                 guint         group)
{
  g_return_val_if_fail (self != NULL && group < vn_groups_get_n (self->groups), FALSE);

  return self->level_of[group] != VN_SCENE_NONE;
}

/**
 * vn_fold_get_box:
 * @node: of the whole scene
 *
 * Returns: the box that stands for it
 */
guint
vn_fold_get_box (const VnFold *self,
                 guint         node)
{
  g_return_val_if_fail (self != NULL && node < vn_scene_get_n_nodes (self->whole), VN_SCENE_NONE);

  return self->box_of[node];
}

/**
 * vn_fold_get_nodes:
 * @n: (out): how many
 *
 * Returns: (transfer none): the nodes of the whole scene that a box stands for
 */
const guint *
vn_fold_get_nodes (const VnFold *self,
                   guint         box,
                   guint        *n)
{
  g_return_val_if_fail (self != NULL && box < vn_scene_get_n_nodes (self->scene), NULL);

  *n = self->first_node[box + 1] - self->first_node[box];
  return self->nodes + self->first_node[box];
}

/* ---- overlay ---- */

/* Of differences a loss tells more than any gain, and of gains the largest. */
static gboolean
fold_is_worse (VnOverlayKind        kind,
               const VnOverlayItem *item,
               const VnOverlayItem *than)
{
  if (kind == VN_OVERLAY_AMOUNT)
    return item->amount > than->amount;
  if (kind == VN_OVERLAY_DIFFERENCE && item->ticks == 0 && than->ticks == 0)
    return FALSE;
  if (kind == VN_OVERLAY_DIFFERENCE && item->t <= 0 && than->t <= 0)
    return item->t < than->t;
  if (item->is_nan != than->is_nan)
    return item->is_nan;
  return item->t > than->t;
}

/* A group shows its worst node, of numbers the largest, of amounts their sum, and beside it how its nodes are. */
static void
fold_add_note (const VnFold    *self,
               const VnOverlay *overlay,
               VnOverlay       *shown,
               guint            box)
{
  guint n, worst = VN_SCENE_NONE;
  const guint *nodes = vn_fold_get_nodes (self, box, &n);
  g_autofree VnOverlayItem *items = g_new (VnOverlayItem, n);
  VnOverlayKind kind = vn_overlay_get_kind (overlay);
  VnOverlayNote note = { .items = items };
  VnOverlayItem shown_item;
  double sum = 0;

  for (guint i = 0; i < n; i++)
    {
      const VnOverlayItem *item = vn_overlay_get (overlay, nodes[i]);

      if (!item->measured || (kind == VN_OVERLAY_ERROR && vn_scene_get_node (self->whole, nodes[i])->excluded))
        continue;
      note.n_origins += item->is_origin;
      items[note.n_items++] = *item;
      sum += item->amount;
      if (worst == VN_SCENE_NONE || fold_is_worse (kind, item, vn_overlay_get (overlay, worst)))
        worst = nodes[i];
    }
  if (worst == VN_SCENE_NONE)
    return;
  note.worst = worst;
  note.name = vn_scene_get_node (self->whole, worst)->name;
  shown_item = *vn_overlay_get (overlay, worst);
  if (kind == VN_OVERLAY_AMOUNT)
    vn_overlay_rate_amount (overlay, sum, &shown_item);
  vn_overlay_set (shown, box, &shown_item);
  vn_overlay_set_note (shown, box, &note);
}

/**
 * vn_fold_make_overlay:
 * @overlay: of the whole scene
 *
 * Returns: (transfer full): the same for what is shown
 */
VnOverlay *
vn_fold_make_overlay (const VnFold    *self,
                      const VnOverlay *overlay)
{
  guint n;
  VnOverlay *shown;
  double least, largest;

  g_return_val_if_fail (self != NULL && overlay != NULL, NULL);
  g_return_val_if_fail (vn_overlay_get_n (overlay) == vn_scene_get_n_nodes (self->whole), NULL);

  n = vn_scene_get_n_nodes (self->scene);
  shown = vn_overlay_new (vn_overlay_get_kind (overlay), n, vn_overlay_get_unit (overlay));
  vn_overlay_set_total (shown, vn_overlay_get_amount_unit (overlay), vn_overlay_get_total (overlay));
  vn_overlay_get_span (overlay, &least, &largest);
  vn_overlay_set_span (shown, least, largest);
  for (guint i = 0; i < n; i++)
    if (vn_scene_get_node (self->scene, i)->kind == VN_SCENE_GROUP)
      fold_add_note (self, overlay, shown, i);
    else
      vn_overlay_set (shown, i, vn_overlay_get (overlay, self->nodes[self->first_node[i]]));
  return shown;
}
