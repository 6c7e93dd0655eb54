/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tree of groups as a whole: runs the stages (scopes, cycles, blocks), names what came out, and hands it out. */
#include "vn-groups.h"

#include "groups-private.h"
#include "vn-i18n.h"

#include <string.h>

#define MOST_WORDS    4    /* in what a group says of its content */
#define MOST_SHAPES   2
#define JOIN_PARTS   12    /* in larger groups, neighbours are not tried together */
#define JOIN_LENGTH   4

typedef struct { const char *word; guint n, first; } Count;

typedef struct { Part *part; guint index; } Place;    /* of a part in the array of groups */

static void
groups_clear_group (gpointer data)
{
  VnGroup *group = data;

  g_free (group->id);
  g_free (group->title);
  g_free (group->detail);
  g_free (group->shape);
}

/* No groups yet. */
VnGroups *
vn_groups_alloc (guint n_nodes)
{
  VnGroups *self = g_new0 (VnGroups, 1);

  g_atomic_ref_count_init (&self->ref);
  self->n_nodes = n_nodes;
  self->groups = g_array_new (FALSE, FALSE, sizeof (VnGroup));
  self->children = g_array_new (FALSE, FALSE, sizeof (VnGroupChild));
  self->of_node = g_new0 (guint, n_nodes + 1);
  self->by_id = g_hash_table_new (g_str_hash, g_str_equal);
  g_array_set_clear_func (self->groups, groups_clear_group);
  return self;
}

/* ---- what belongs together ---- */

static gboolean
groups_is_whole (VnGroupKind kind)
{
  return kind == VN_GROUP_FEED_FORWARD || kind == VN_GROUP_ATTENTION || kind == VN_GROUP_FUSED_ATTENTION
         || kind == VN_GROUP_LAYER || kind == VN_GROUP_FUSED_LAYER;
}

/* Neighbours that make a feed-forward together, from @start on; 0: none do. */
static guint
groups_measure_feed_forward (const Net *net,
                             Part     **parts,
                             guint      n)
{
  guint n_groups = 0;

  for (guint i = 0; i < MIN (n, JOIN_LENGTH); i++)
    {
      if (groups_is_whole (vn_group_kind_of_parts (net->scene, parts + i, 1)))
        return 0;
      n_groups += parts[i]->parts != NULL;
      if (n_groups > 1 && parts[i]->parts != NULL
          && vn_group_kind_of_parts (net->scene, parts, i + 1) == VN_GROUP_FEED_FORWARD)
        return i + 1;
    }
  return 0;
}

/* Names often tell the two products of a feed-forward apart, as "intermediate" and "output". */
static void
groups_join_feed_forward (Net  *net,
                          Part *group)
{
  Level level;
  g_autoptr(GPtrArray) sorted = NULL;

  if (group->parts->len < 2 || group->parts->len > JOIN_PARTS)
    return;
  vn_level_init (&level, net, group);
  sorted = g_ptr_array_sized_new (level.n);
  for (guint i = 0; i < level.n; i++)
    g_ptr_array_add (sorted, g_ptr_array_index (group->parts, level.order[i]));
  for (guint i = 0; i < sorted->len; i++)
    {
      guint length = groups_measure_feed_forward (net, (Part **) sorted->pdata + i, sorted->len - i);

      if (length == 0 || length == sorted->len)
        continue;
      for (guint k = 0; k < length; k++)
        g_ptr_array_find (group->parts, g_ptr_array_index (sorted, i + k), &level.label[k]);
      vn_part_wrap (group, level.label, length, N_("part"))->number = 1;
      g_ptr_array_remove (group->parts, NULL);
      while (g_ptr_array_find (group->parts, NULL, NULL))
        g_ptr_array_remove (group->parts, NULL);
      break;
    }
  vn_level_clear (&level);
}

static void
groups_tidy (Net  *net,
             Part *group,
             guint most)
{
  VnGroupKind kind = vn_group_kind_of_parts (net->scene, &group, 1);

  vn_groups_break_cycles (net, group);
  groups_join_feed_forward (net, group);
  if (group->parent != NULL && (kind == VN_GROUP_LAYER || kind == VN_GROUP_FUSED_LAYER))
    vn_groups_split_layer (net, group);
  vn_groups_find_blocks (net, group, most);
  for (guint i = 0; i < group->parts->len; i++)
    {
      Part *part = g_ptr_array_index (group->parts, i);

      if (part->parts != NULL)
        groups_tidy (net, part, GROUP_MOST);
    }
}

/* ---- words ---- */

static int
groups_compare_counts (gconstpointer a,
                       gconstpointer b)
{
  const Count *ca = a, *cb = b;

  if (ca->n != cb->n)
    return ca->n > cb->n ? -1 : 1;
  return ca->first < cb->first ? -1 : ca->first > cb->first;
}

static void
groups_count_word (GArray     *counts,
                   const char *word)
{
  Count count = { word, 1, counts->len };

  for (guint i = 0; i < counts->len; i++)
    if (strcmp (g_array_index (counts, Count, i).word, word) == 0)
      {
        g_array_index (counts, Count, i).n++;
        return;
      }
  g_array_append_val (counts, count);
}

static char *
groups_join_counts (GArray   *counts,
                    gboolean  with_one)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < MIN (counts->len, MOST_WORDS); i++)
    {
      const Count *count = &g_array_index (counts, Count, i);

      g_string_append (text, i > 0 ? " · " : "");
      g_string_append (text, count->word);
      if (count->n > 1 || with_one)
        g_string_append_printf (text, "\u00a0%u", count->n);
    }
  if (counts->len > MOST_WORDS)
    g_string_append (text, " · …");
  return g_string_free (text, FALSE);
}

/* "Conv 15 · Clip 10 · …" */
char *
vn_groups_describe_nodes (const VnScene *scene,
                          const GArray  *nodes)
{
  g_autoptr(GArray) counts = g_array_new (FALSE, FALSE, sizeof (Count));

  for (guint i = 0; i < nodes->len; i++)
    if (vn_scene_get_node (scene, g_array_index (nodes, guint, i))->kind != VN_SCENE_PAIR)
      groups_count_word (counts, vn_scene_get_node (scene, g_array_index (nodes, guint, i))->op);
  g_array_sort (counts, groups_compare_counts);
  return groups_join_counts (counts, TRUE);
}

/* Shapes of what is used outside of the group; sizes that are only computed with say little where there are tensors. */
static char *
groups_describe_shape (const VnScene *scene,
                       const GArray  *nodes,
                       const guint   *mark,
                       guint          group)
{
  g_autoptr(GPtrArray) shapes = g_ptr_array_new ();
  guint n_more = 0;
  g_autofree char *text = NULL;

  for (guint pass = 0; pass < 2 && shapes->len == 0; pass++)
    for (guint i = 0; i < nodes->len; i++)
      {
        guint node = g_array_index (nodes, guint, i), n;
        const guint *edges = vn_scene_get_out_edges (scene, node, &n);
        char *shape = vn_scene_get_node (scene, node)->shape;
        gboolean leaves = FALSE;

        for (guint k = 0; k < n; k++)
          leaves |= mark[vn_scene_get_edge (scene, edges[k])->to] != group;
        if (!leaves || shape == NULL || (pass == 0 && strstr (shape, "×") == NULL)
            || g_ptr_array_find_with_equal_func (shapes, shape, g_str_equal, NULL))
          continue;
        if (shapes->len < MOST_SHAPES)
          g_ptr_array_add (shapes, shape);
        else
          n_more++;
      }
  if (shapes->len == 0)
    return NULL;
  g_ptr_array_add (shapes, NULL);
  text = g_strjoinv (", ", (char **) shapes->pdata);
  return n_more > 0 ? g_strdup_printf ("%s +%u", text, n_more) : g_steal_pointer (&text);
}

/* The groups in a group; for bundles, what is in them. */
static void
groups_list_blocks (const VnGroups *self,
                    const GArray   *places,
                    guint           parent,
                    GArray         *blocks)
{
  guint n;
  const VnGroupChild *children = vn_groups_get_children (self, parent, &n);

  for (guint i = 0; i < n; i++)
    {
      guint inner = children[i].index;

      if (children[i].is_group && g_array_index (places, Place, inner).part->is_bundle)
        groups_list_blocks (self, places, inner, blocks);
      else if (children[i].is_group)
        g_array_append_val (blocks, inner);
    }
}

/* Blocks of one kind are numbered in the order in which they are computed. */
static void
groups_number_titles (VnGroups     *self,
                      const GArray *places,
                      guint         parent)
{
  g_autoptr(GHashTable) total = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr(GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr(GArray) blocks = g_array_new (FALSE, FALSE, sizeof (guint));

  groups_list_blocks (self, places, parent, blocks);
  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; i < blocks->len; i++)
      {
        VnGroup *inner = &g_array_index (self->groups, VnGroup, g_array_index (blocks, guint, i));
        GHashTable *table = pass == 0 ? total : seen;
        guint number = GPOINTER_TO_UINT (g_hash_table_lookup (table, inner->title)) + 1;

        g_hash_table_insert (table, g_strdup (inner->title), GUINT_TO_POINTER (number));
        if (pass == 1 && GPOINTER_TO_UINT (g_hash_table_lookup (total, inner->title)) > 1)
          {
            g_autofree char *plain = g_steal_pointer (&inner->title);

            inner->title = g_strdup_printf ("%s\u00a0%u", plain, number);
          }
      }
}

/* "layer 0 – 15", if that is what is in it. */
static void
groups_name_bundle (VnGroups *self,
                    guint     bundle)
{
  guint n;
  const VnGroupChild *children = vn_groups_get_children (self, bundle, &n);
  const char *first = vn_groups_get (self, children[0].index)->title, *last = vn_groups_get (self, children[n - 1].index)->title;
  const char *number = g_strrstr (last, "\u00a0");
  VnGroup *group = &g_array_index (self->groups, VnGroup, bundle);

  if (number == NULL || strncmp (first, last, (gsize) (number - last) + strlen ("\u00a0")) != 0)
    return;
  g_free (group->title);
  group->title = g_strdup_printf ("%s\u00a0–\u00a0%s", first, number + strlen ("\u00a0"));
}

static char *
groups_describe_children (const VnGroups *self,
                          const Part     *part,
                          const VnScene  *scene,
                          const GArray   *nodes,
                          const VnGroup  *group)
{
  g_autoptr(GArray) counts = g_array_new (FALSE, FALSE, sizeof (Count));

  for (guint i = 0; i < group->n_children; i++)
    {
      const VnGroupChild *child = &g_array_index (self->children, VnGroupChild, group->first_child + i);

      if (child->is_group)
        groups_count_word (counts, g_array_index (self->groups, VnGroup, child->index).title);
    }
  return counts->len > 1 ? groups_join_counts (counts, FALSE) : vn_groups_describe_nodes (scene, nodes);
}

/* ---- the tree as arrays ---- */

static char *
groups_make_id (VnGroups   *self,
                guint       parent,
                const Part *part)
{
  const char *above = parent != VN_SCENE_NONE ? g_array_index (self->groups, VnGroup, parent).id : "";
  g_autofree char *id = NULL;

  if (part->name == NULL)
    return g_strdup ("");
  id = part->number > 0 ? g_strdup_printf ("%s/#%s %u", above, part->name, part->number)
                        : g_strdup_printf ("%s/%s", above, part->name);
  for (guint i = 2; g_hash_table_contains (self->by_id, id); i++)
    {
      g_free (id);
      id = g_strdup_printf ("%s/%s~%u", above, part->name, i);
    }
  return g_steal_pointer (&id);
}

/* Parents before their groups. */
static void
groups_flatten (VnGroups      *self,
                const VnScene *scene,
                Part          *root,
                GArray        *places)
{
  Place first = { root, VN_GROUPS_ROOT };
  VnGroup whole = { .parent = VN_SCENE_NONE, .id = groups_make_id (self, VN_SCENE_NONE, root) };

  g_array_append_val (self->groups, whole);
  g_hash_table_insert (self->by_id, whole.id, GUINT_TO_POINTER (VN_GROUPS_ROOT + 1));
  g_array_append_val (places, first);
  for (guint i = 0; i < places->len; i++)
    {
      Part *part = g_array_index (places, Place, i).part;
      guint depth = g_array_index (self->groups, VnGroup, i).depth, first_child = self->children->len;

      for (guint k = 0; k < part->parts->len; k++)
        {
          Part *inner = g_ptr_array_index (part->parts, k);
          VnGroupChild child = { inner->parts != NULL, inner->parts != NULL ? self->groups->len : inner->node };

          if (child.is_group)
            {
              Place place = { inner, self->groups->len };
              VnGroup group = { .parent = i, .depth = depth + 1, .id = groups_make_id (self, i, inner) };

              g_array_append_val (self->groups, group);
              g_array_append_val (places, place);
              g_hash_table_insert (self->by_id, group.id, GUINT_TO_POINTER (self->groups->len));
            }
          else
            {
              self->of_node[inner->node] = i;
            }
          g_array_append_val (self->children, child);
        }
      for (guint k = 0; i == VN_GROUPS_ROOT && k < vn_scene_get_n_nodes (scene); k++)
        {
          VnGroupChild pill = { FALSE, k };

          if (vn_scene_node_is_pill (vn_scene_get_node (scene, k)))
            g_array_append_val (self->children, pill);
        }
      g_array_index (self->groups, VnGroup, i).first_child = first_child;
      g_array_index (self->groups, VnGroup, i).n_children = self->children->len - first_child;
    }
}

static void
groups_name (VnGroups      *self,
             const VnScene *scene,
             const GArray  *places)
{
  g_autofree guint *mark = g_new0 (guint, self->n_nodes + 1);

  for (guint i = 0; i < places->len; i++)
    {
      const Part *part = g_array_index (places, Place, i).part;
      VnGroup *group = &g_array_index (self->groups, VnGroup, i);
      g_autoptr(GArray) nodes = g_array_new (FALSE, FALSE, sizeof (guint));

      vn_part_collect (part, nodes);
      for (guint k = 0; k < nodes->len; k++)
        mark[g_array_index (nodes, guint, k)] = i + 1;
      group->n_nodes = nodes->len;
      group->kind = vn_group_kind_of_nodes (scene, (const guint *) (gpointer) nodes->data, nodes->len);
      group->title = vn_group_dup_title (part, group->kind);
      group->shape = groups_describe_shape (scene, nodes, mark, i + 1);
    }
  for (guint i = 0; i < places->len; i++)
    if (!g_array_index (places, Place, i).part->is_bundle)
      groups_number_titles (self, places, i);
  for (guint i = places->len; i-- > 0;)
    if (g_array_index (places, Place, i).part->is_bundle)
      groups_name_bundle (self, i);
  for (guint i = 0; i < places->len; i++)
    {
      const Part *part = g_array_index (places, Place, i).part;
      VnGroup *group = &g_array_index (self->groups, VnGroup, i);
      g_autoptr(GArray) nodes = g_array_new (FALSE, FALSE, sizeof (guint));

      vn_part_collect (part, nodes);
      group->detail = groups_describe_children (self, part, scene, nodes, group);
    }
}

/**
 * vn_groups_new:
 * @scene: sealed
 *
 * Finds groups: first the scopes that names speak of; in groups with too many children, blocks that come several times; and where
 * there are none of these either, stretches between narrow places. A layer of a transformer is split into attention and
 * feed-forward. Groups never feed one another in a circle, however they are opened. The same scene always gives the same tree.
 * May be called on any thread.
 *
 * Returns: (transfer full): the tree; only the whole network, if nothing belongs together
 */
VnGroups *
vn_groups_new (const VnScene *scene)
{
  VnGroups *self;
  Net net = { .scene = scene };
  Part *root;
  g_autoptr(GArray) places = g_array_new (FALSE, FALSE, sizeof (Place));

  g_return_val_if_fail (scene != NULL, NULL);

  self = vn_groups_alloc (vn_scene_get_n_nodes (scene));
  net.place = g_new (guint, self->n_nodes + 1);
  memset (net.place, 0xff, (self->n_nodes + 1) * sizeof (guint));

  root = vn_groups_read_scopes (scene);
  groups_tidy (&net, root, GROUP_MOST_TOP);
  groups_flatten (self, scene, root, places);
  groups_name (self, scene, places);
  vn_part_free (root);
  g_free (net.place);
  return self;
}

/**
 * vn_groups_ref:
 *
 * Returns: (transfer full): @self
 */
VnGroups *
vn_groups_ref (VnGroups *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

/**
 * vn_groups_unref:
 *
 * Drops a reference; the last one frees the tree.
 */
void
vn_groups_unref (VnGroups *self)
{
  g_return_if_fail (self != NULL);

  if (!g_atomic_ref_count_dec (&self->ref))
    return;

  g_hash_table_unref (self->by_id);
  g_array_unref (self->groups);
  g_array_unref (self->children);
  g_free (self->of_node);
  g_free (self);
}

/**
 * vn_groups_get_n:
 *
 * Returns: number of groups, the whole network included
 */
guint
vn_groups_get_n (const VnGroups *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->groups->len;
}

/**
 * vn_groups_get:
 *
 * Returns: (transfer none): group @group, which must exist; parents come before their groups
 */
const VnGroup *
vn_groups_get (const VnGroups *self,
               guint           group)
{
  g_return_val_if_fail (self != NULL && group < self->groups->len, NULL);

  return &g_array_index (self->groups, VnGroup, group);
}

/**
 * vn_groups_get_children:
 * @n: (out): how many
 *
 * Returns: (transfer none): groups and nodes right below @group
 */
const VnGroupChild *
vn_groups_get_children (const VnGroups *self,
                        guint           group,
                        guint          *n)
{
  const VnGroup *data;

  g_return_val_if_fail (self != NULL && group < self->groups->len, NULL);

  data = &g_array_index (self->groups, VnGroup, group);
  *n = data->n_children;
  return (const VnGroupChild *) (gpointer) self->children->data + data->first_child;
}

/**
 * vn_groups_of_node:
 * @node: of the scene
 *
 * Returns: the innermost group it is in; %VN_GROUPS_ROOT if it is in none
 */
guint
vn_groups_of_node (const VnGroups *self,
                   guint           node)
{
  g_return_val_if_fail (self != NULL && node < self->n_nodes, VN_GROUPS_ROOT);

  return self->of_node[node];
}

/**
 * vn_groups_get_n_nodes:
 *
 * Returns: number of nodes of the scene it was made for, pills included
 */
guint
vn_groups_get_n_nodes (const VnGroups *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->n_nodes;
}

/**
 * vn_groups_find:
 *
 * Returns: the group with this id, or %VN_SCENE_NONE
 */
guint
vn_groups_find (const VnGroups *self,
                const char     *id)
{
  g_return_val_if_fail (self != NULL && id != NULL, VN_SCENE_NONE);

  return GPOINTER_TO_UINT (g_hash_table_lookup (self->by_id, id)) - 1;
}
