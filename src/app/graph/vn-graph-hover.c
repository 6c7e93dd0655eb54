/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the pointer is over, here, or in another view beside this one. */
#include "vn-graph-hover.h"

#define HIT_DISTANCE 8.

G_DEFINE_FINAL_TYPE (VnGraphHover, vn_graph_hover, G_TYPE_OBJECT)

/**
 * vn_graph_hover_get_chip:
 * @chip: number of a chip of the selection
 * @box: (out): where it is, in the widget
 *
 * Returns: %FALSE if it is not drawn now
 */
gboolean
vn_graph_hover_get_chip (VnGraphHover *self,
                         guint         chip,
                         VnRect       *box)
{
  VnGraphState state;

  g_return_val_if_fail (VN_IS_GRAPH_HOVER (self) && box != NULL, FALSE);

  vn_graph_state_init (&state);
  vn_graph_selection_fill_state (self->selection, &state);
  return vn_graph_painter_get_chip (self->painter, vn_viewport_get_camera (self->viewport), &state, chip, box);
}

static guint
hover_find_chip (VnGraphHover *self)
{
  const VnPoint at = self->pointer;

  for (guint i = self->selection->chips->len; i > 0; i--)
    {
      VnRect box;

      if (vn_graph_hover_get_chip (self, i - 1, &box) && at.x >= box.x && at.x < box.x + box.width &&
          at.y >= box.y && at.y < box.y + box.height)
        return i - 1;
    }
  return VN_SCENE_NONE;
}

/**
 * vn_graph_hover_update:
 *
 * Finds what is under the pointer now; emits changed if that is something else.
 */
void
vn_graph_hover_update (VnGraphHover *self)
{
  guint node = VN_SCENE_NONE, edge = VN_SCENE_NONE, stub = VN_SCENE_NONE, frame = VN_SCENE_NONE, chip = VN_SCENE_NONE, before;
  VnGraphIndex *index;

  g_return_if_fail (VN_IS_GRAPH_HOVER (self));

  index = self->content->index;
  before = self->node;
  if (self->is_mirrored && !self->has_pointer)
    return;
  self->is_mirrored = FALSE;
  if (index != NULL && self->has_pointer && !self->is_frozen)
    {
      VnPoint world = vn_viewport_to_world (self->viewport, self->pointer.x, self->pointer.y);

      chip = hover_find_chip (self);
      node = chip == VN_SCENE_NONE ? vn_graph_index_node_at (index, world) : VN_SCENE_NONE;
      if (chip == VN_SCENE_NONE && node == VN_SCENE_NONE)
        stub = vn_graph_index_stub_at (index, world);
      if (chip == VN_SCENE_NONE && node == VN_SCENE_NONE && stub == VN_SCENE_NONE)
        edge = vn_graph_index_edge_at (index, world, HIT_DISTANCE / vn_viewport_get_camera (self->viewport).zoom);
      if (chip == VN_SCENE_NONE && node == VN_SCENE_NONE && stub == VN_SCENE_NONE && edge == VN_SCENE_NONE)
        frame = vn_graph_content_find_frame (self->content, world);
    }
  if (node == self->node && edge == self->edge && stub == self->stub && frame == self->frame && chip == self->chip)
    return;
  self->chip = chip;
  self->node = node;
  self->edge = edge;
  self->stub = stub;
  self->frame = frame;
  g_signal_emit_by_name (self, "changed", node != before);
}

/**
 * vn_graph_hover_set_pointer:
 * @x, @y: in the widget
 *
 * The pointer is there.
 */
void
vn_graph_hover_set_pointer (VnGraphHover *self,
                            double        x,
                            double        y)
{
  g_return_if_fail (VN_IS_GRAPH_HOVER (self));

  self->pointer = (VnPoint) { x, y };
  self->has_pointer = TRUE;
  vn_graph_hover_update (self);
}

/**
 * vn_graph_hover_leave:
 *
 * The pointer is somewhere else.
 */
void
vn_graph_hover_leave (VnGraphHover *self)
{
  g_return_if_fail (VN_IS_GRAPH_HOVER (self));

  self->has_pointer = FALSE;
  vn_graph_hover_update (self);
}

/**
 * vn_graph_hover_set_frozen:
 *
 * While something is dragged the pointer is over nothing, from its next movement on.
 */
void
vn_graph_hover_set_frozen (VnGraphHover *self,
                           gboolean      is_frozen)
{
  g_return_if_fail (VN_IS_GRAPH_HOVER (self));

  self->is_frozen = is_frozen;
}

/**
 * vn_graph_hover_mirror:
 * @box: or %VN_SCENE_NONE
 *
 * Takes a box for that under the pointer, until that really is over this view. Emits nothing.
 *
 * Returns: whether that changes something
 */
gboolean
vn_graph_hover_mirror (VnGraphHover *self,
                       guint         box)
{
  g_return_val_if_fail (VN_IS_GRAPH_HOVER (self), FALSE);

  if (self->has_pointer || box == self->node)
    return FALSE;
  self->is_mirrored = box != VN_SCENE_NONE;
  self->node = box;
  self->edge = self->stub = VN_SCENE_NONE;
  return TRUE;
}

/**
 * vn_graph_hover_reset:
 *
 * Other boxes are shown: the pointer is over nothing until it moves. Emits nothing.
 */
void
vn_graph_hover_reset (VnGraphHover *self)
{
  g_return_if_fail (VN_IS_GRAPH_HOVER (self));

  self->node = self->edge = self->stub = self->frame = VN_SCENE_NONE;
}

/**
 * vn_graph_hover_fill_state:
 * @state: (inout): as vn_graph_state_init() left it
 *
 * Adds what is seen of it.
 */
void
vn_graph_hover_fill_state (VnGraphHover *self,
                           VnGraphState *state)
{
  g_return_if_fail (VN_IS_GRAPH_HOVER (self) && state != NULL);

  state->hover_node = self->node;
  state->hover_edge = self->edge;
  state->hover_stub = self->stub;
  state->hover_frame = self->frame;
}

static void
vn_graph_hover_finalize (GObject *object)
{
  VnGraphHover *self = VN_GRAPH_HOVER (object);

  g_clear_object (&self->viewport);
  g_clear_object (&self->content);
  g_clear_object (&self->selection);
  G_OBJECT_CLASS (vn_graph_hover_parent_class)->finalize (object);
}

static void
vn_graph_hover_class_init (VnGraphHoverClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = vn_graph_hover_finalize;
  g_signal_new ("changed", VN_TYPE_GRAPH_HOVER, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_BOOLEAN);
}

static void
vn_graph_hover_init (VnGraphHover *self)
{
  self->chip = VN_SCENE_NONE;
  vn_graph_hover_reset (self);
}

/**
 * vn_graph_hover_new:
 * @painter: outlives this
 *
 * Returns: (transfer full): of a pointer that is elsewhere
 */
VnGraphHover *
vn_graph_hover_new (VnGraphPainter   *painter,
                    VnViewport       *viewport,
                    VnGraphContent   *content,
                    VnGraphSelection *selection)
{
  VnGraphHover *self;

  g_return_val_if_fail (painter != NULL && VN_IS_VIEWPORT (viewport) && VN_IS_GRAPH_CONTENT (content) &&
                        VN_IS_GRAPH_SELECTION (selection), NULL);

  self = g_object_new (VN_TYPE_GRAPH_HOVER, NULL);
  self->painter = painter;
  self->viewport = g_object_ref (viewport);
  self->content = g_object_ref (content);
  self->selection = g_object_ref (selection);
  return self;
}
