/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which groups are open at first: so many that the network is a page that can be read. */
#include "vn-groups.h"

static guint
groups_open_count_groups (const VnGroups *self,
                          guint           group)
{
  guint n, n_groups = 0;
  const VnGroupChild *children = vn_groups_get_children (self, group, &n);

  for (guint i = 0; i < n; i++)
    n_groups += children[i].is_group;
  return n_groups;
}

/* Groups in one open group that are of a kind are opened together or not at all. */
static gboolean
groups_open_are_alike (const VnGroups *self,
                       guint           a,
                       guint           b)
{
  const VnGroup *ga = vn_groups_get (self, a), *gb = vn_groups_get (self, b);

  return ga->parent == gb->parent && ga->kind == gb->kind && (a == b || ga->kind != VN_GROUP_PLAIN);
}

/* The largest shown groups that consist of groups and still fit; VN_SCENE_NONE: none. */
static guint
groups_open_choose (const VnGroups *self,
                    const guint8   *open,
                    guint           room,
                    guint          *n_more)
{
  guint best = VN_SCENE_NONE;
  guint64 most = 0;

  for (guint i = 1; i < vn_groups_get_n (self); i++)
    {
      guint64 n_nodes = 0;
      guint n_added = 0, n_groups = 0;

      if (open[i] || !open[vn_groups_get (self, i)->parent])
        continue;
      for (guint k = 1; k < vn_groups_get_n (self); k++)
        if (groups_open_are_alike (self, i, k))
          {
            n_nodes += vn_groups_get (self, k)->n_nodes;
            n_added += MAX (vn_groups_get (self, k)->n_children, 1) - 1;
            n_groups += groups_open_count_groups (self, k);
          }
      if (n_added > room || 2 * n_groups < n_added || n_nodes <= most)
        continue;
      most = n_nodes;
      best = i;
      *n_more = n_added;
    }
  return best;
}

/**
 * vn_groups_dup_open:
 * @n_boxes: how many boxes may be seen, as far as that goes
 *
 * Returns: (transfer full): for each group whether it is open at first, so that the network is a page that can be read
 */
guint8 *
vn_groups_dup_open (const VnGroups *self,
                    guint           n_boxes)
{
  guint8 *open;
  guint n_shown, next, n_more = 0;

  g_return_val_if_fail (self != NULL, NULL);

  open = g_new0 (guint8, vn_groups_get_n (self));
  open[VN_GROUPS_ROOT] = 1;
  n_shown = vn_groups_get (self, VN_GROUPS_ROOT)->n_children;
  while (n_shown < n_boxes && (next = groups_open_choose (self, open, n_boxes - n_shown, &n_more)) != VN_SCENE_NONE)
    {
      for (guint k = 1; k < vn_groups_get_n (self); k++)
        open[k] |= groups_open_are_alike (self, next, k);
      n_shown += n_more;
    }
  return open;
}
