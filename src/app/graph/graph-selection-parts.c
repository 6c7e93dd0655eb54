/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The regions that selected nodes make, and the tensors on their boundary. */
#include "graph-selection-private.h"

#include "vn-i18n.h"

#include <string.h>

#define REGION_MARGIN 12.

/* Whether a box is selected and no input or output of the network. */
gboolean
_vn_graph_selection_is_inside (VnGraphSelection *self,
                               guint             node)
{
  return self->selected[node] && !vn_scene_node_is_pill (vn_scene_get_node (self->content->scene, node));
}

/* The nodes of the part @root belongs to; marks them in @seen. */
static GArray *
selection_collect_part (VnGraphSelection *self,
                        guint             root,
                        guint8           *seen)
{
  GArray *part = g_array_new (FALSE, FALSE, sizeof (guint));

  seen[root] = 1;
  g_array_append_val (part, root);
  for (guint i = 0; i < part->len; i++)
    {
      guint node = g_array_index (part, guint, i);

      for (guint side = 0; side < 2; side++)
        {
          guint n;
          const guint *edges = side == 0 ? vn_scene_get_in_edges (self->content->scene, node, &n)
                                         : vn_scene_get_out_edges (self->content->scene, node, &n);

          for (guint k = 0; k < n; k++)
            {
              const VnSceneEdge *edge = vn_scene_get_edge (self->content->scene, edges[k]);
              guint other = side == 0 ? edge->from : edge->to;

              if (seen[other] || !_vn_graph_selection_is_inside (self, other))
                continue;
              seen[other] = 1;
              g_array_append_val (part, other);
            }
        }
    }
  return part;
}

/* A region round a part, unless it would cover a box that is not selected. */
static void
selection_add_region (VnGraphSelection *self,
                      const GArray     *part)
{
  VnRect box = *vn_graph_layout_get_box (self->content->layout, g_array_index (part, guint, 0));
  double x1 = box.x + box.width, y1 = box.y + box.height;
  g_autoptr(GArray) covered = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint i = 1; i < part->len; i++)
    {
      const VnRect *other = vn_graph_layout_get_box (self->content->layout, g_array_index (part, guint, i));

      box.x = MIN (box.x, other->x);
      box.y = MIN (box.y, other->y);
      x1 = MAX (x1, other->x + other->width);
      y1 = MAX (y1, other->y + other->height);
    }
  box.width = x1 - box.x;
  box.height = y1 - box.y;
  vn_graph_index_find_nodes (self->content->index, box, covered);
  for (guint i = 0; i < covered->len; i++)
    if (!self->selected[g_array_index (covered, guint, i)])
      return;
  box = (VnRect) { box.x - REGION_MARGIN, box.y - REGION_MARGIN,
                   box.width + 2 * REGION_MARGIN, box.height + 2 * REGION_MARGIN };
  g_array_append_val (self->regions, box);
}

static void
selection_find_regions (VnGraphSelection *self)
{
  guint n = vn_scene_get_n_nodes (self->content->scene);
  g_autofree guint8 *seen = g_new0 (guint8, n + 1);

  g_array_set_size (self->regions, 0);
  if (self->n_inside < 2)
    return;
  for (guint i = 0; i < n; i++)
    {
      g_autoptr(GArray) part = NULL;

      if (seen[i] || !_vn_graph_selection_is_inside (self, i))
        continue;
      part = selection_collect_part (self, i, seen);
      selection_add_region (self, part);
    }
}

/* Number of a boundary value: as the application gave them, else in the order met. */
static guint
selection_number_of (GStrv       given,
                     GHashTable *met,
                     const char *value)
{
  gpointer known;

  for (guint i = 0; given != NULL && given[i] != NULL; i++)
    if (strcmp (given[i], value) == 0)
      return i + 1;
  if (given != NULL)
    return 0;
  if (!g_hash_table_lookup_extended (met, value, NULL, &known))
    {
      known = GUINT_TO_POINTER (g_hash_table_size (met) + 1);
      g_hash_table_insert (met, (gpointer) value, known);
    }
  return GPOINTER_TO_UINT (known);
}

static void
selection_add_chips (VnGraphSelection *self,
                     guint             node,
                     gboolean          enters,
                     GHashTable       *met)
{
  guint n;
  const guint *edges = enters ? vn_scene_get_in_edges (self->content->scene, node, &n)
                              : vn_scene_get_out_edges (self->content->scene, node, &n);
  const char *labelled = NULL;

  for (guint k = 0; k < n; k++)
    {
      const VnSceneEdge *edge = vn_scene_get_edge (self->content->scene, edges[k]);
      VnGraphChip chip = { .edge = edges[k], .enters = enters };
      guint number;

      if (_vn_graph_selection_is_inside (self, enters ? edge->from : edge->to))
        continue;
      number = selection_number_of (enters ? self->in_values : self->out_values, met, edge->value);
      /* a tensor that leaves to several nodes leaves once */
      if (number > 0 && self->n_inside > 1 && (enters || g_strcmp0 (labelled, edge->value) != 0))
        g_snprintf (chip.label, sizeof chip.label, enters ? _("in %u") : _("out %u"), number);
      if (self->leaks != NULL && g_strv_contains ((const char * const *) self->leaks, edge->value))
        {
          chip.is_leak = TRUE;
          /* TRANSLATORS: a tensor that crosses the edge of a region without being named as one of its edges; at most 12
           * letters */
          g_strlcpy (chip.label, _("missing edge"), sizeof chip.label);
        }
      labelled = edge->value;
      g_array_append_val (self->chips, chip);
    }
}

static void
selection_find_boundary (VnGraphSelection *self)
{
  g_autoptr(GHashTable) in = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr(GHashTable) out = g_hash_table_new (g_str_hash, g_str_equal);
  guint n = vn_scene_get_n_nodes (self->content->scene);

  g_array_set_size (self->chips, 0);
  for (guint i = 0; i < n; i++)
    {
      if (!_vn_graph_selection_is_inside (self, i))
        continue;
      selection_add_chips (self, i, TRUE, in);
      selection_add_chips (self, i, FALSE, out);
    }
}

/* Regions and boundary of what is selected now. */
void
_vn_graph_selection_find_parts (VnGraphSelection *self)
{
  if (self->content->layout == NULL)
    return;
  selection_find_regions (self);
  selection_find_boundary (self);
  g_signal_emit_by_name (self, "marks-changed");
}
