/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The chips on the border of a region, which number the tensors that enter and leave it: what is said of them, and clicks. */
#include "vn-graph-view-private.h"

#include "vn-i18n.h"

/* Which chip is there; VN_SCENE_NONE: none. */
guint
vn_graph_view_find_chip (VnGraphView *self,
                         VnPoint      at)
{
  for (guint i = self->state.n_chips; i > 0; i--)
    {
      VnRect box;

      if (vn_graph_painter_get_chip (self->painter, self->camera, &self->state, i - 1, &box) && at.x >= box.x && at.x < box.x + box.width &&
          at.y >= box.y && at.y < box.y + box.height)
        return i - 1;
    }
  return VN_SCENE_NONE;
}

/* Returns: (transfer full): what the chip under the pointer stands for. */
char *
vn_graph_view_dup_chip_words (VnGraphView *self)
{
  const VnGraphChip *chip = &self->state.chips[self->hover_chip];
  const VnSceneEdge *edge = vn_scene_get_edge (self->scene, chip->edge);
  GString *text = g_string_new (NULL);

  if (chip->is_leak)
    g_string_append_printf (text, _("Missing edge: %s"), edge->value);
  else
    g_string_append_printf (text, chip->enters ? _("Enters the selected nodes: %s") : _("Leaves the selected nodes: %s"), edge->value);
  if (edge->tooltip != NULL)
    g_string_append_printf (text, "\n%s", edge->tooltip);
  if (chip->is_leak)
    g_string_append_printf (text, "\n%s", _("Click for fixes"));
  return g_string_free (text, FALSE);
}

/* A leak is told about; any other chip is the tensor that it stands for. */
void
vn_graph_view_press_chip (VnGraphView *self)
{
  const VnGraphChip chip = self->state.chips[self->hover_chip];
  VnRect box;

  if (!chip.is_leak)
    vn_graph_view_select_edge (self, chip.edge);
  else if (vn_graph_painter_get_chip (self->painter, self->camera, &self->state, self->hover_chip, &box))
    g_signal_emit_by_name (self, "leak-activated", vn_scene_get_edge (self->scene, chip.edge)->value, chip.enters,
                           box.x + box.width / 2, box.y + box.height);
}

/**
 * vn_graph_view_get_chip:
 * @tensor: name of a value
 * @enters: where it enters the region; else where it leaves it
 * @box: (out): in the widget
 *
 * Returns: whether a chip is drawn there
 */
gboolean
vn_graph_view_get_chip (VnGraphView *self,
                        const char  *tensor,
                        gboolean     enters,
                        VnRect      *box)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self) && tensor != NULL && box != NULL, FALSE);

  for (guint i = 0; i < self->state.n_chips; i++)
    if (self->state.chips[i].enters == enters && g_strcmp0 (vn_scene_get_edge (self->scene, self->state.chips[i].edge)->value, tensor) == 0 &&
        vn_graph_painter_get_chip (self->painter, self->camera, &self->state, i, box))
      return TRUE;
  return FALSE;
}
