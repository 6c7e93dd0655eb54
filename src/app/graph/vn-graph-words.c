/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes and tensors in words: tooltips, and what a screen reader says. */
#include "vn-graph-words.h"

#include "vn-i18n.h"

static const char *
graph_words_band_word (const VnOverlayItem *item)
{
  if (item->is_bad)
    return _("bad");
  return item->ticks >= 2 ? _("borderline") : _("fine");
}

/* What has no bytes or takes no time has nothing to tell of them. */
static gboolean
graph_words_has_value (const VnGraphParts *self,
                       guint               box)
{
  const VnOverlayItem *item = self->content->overlay != NULL ? vn_overlay_get (self->content->overlay, box) : NULL;

  return item != NULL && item->measured &&
         (item->amount > 0 || vn_overlay_get_kind (self->content->overlay) != VN_OVERLAY_AMOUNT);
}

/* "layer 3, closed group, 158 nodes" */
static void
graph_words_add_group (GString           *text,
                       const VnSceneNode *data)
{
  g_string_append_printf (text, "%s, %s, ", data->op, _("collapsed group"));
}

/**
 * vn_graph_words_dup_box:
 *
 * Returns: (transfer full): a box in words, as a screen reader says it: "Conv, /cls/Conv, U8, 8.5 dB, bad, selected"
 */
char *
vn_graph_words_dup_box (const VnGraphParts *self,
                        guint               node)
{
  const VnSceneNode *data;
  GString *text;

  g_return_val_if_fail (self != NULL && self->content->scene != NULL, NULL);

  text = g_string_new (NULL);
  data = vn_scene_get_node (self->content->scene, node);
  if (data->kind == VN_SCENE_GROUP)
    graph_words_add_group (text, data);
  else if (data->kind == VN_SCENE_NODE)
    g_string_append_printf (text, "%s, ", data->op);
  else if (data->kind == VN_SCENE_PAIR)
    g_string_append_printf (text, "%s, %s, ", _("Q/DQ pair"), data->detail);
  else
    g_string_append_printf (text, "%s, ", data->kind == VN_SCENE_INPUT ? _("Input") : _("Output"));
  g_string_append (text, data->name);
  if (g_strcmp0 (data->badge, VN_BADGE_UNKNOWN) == 0)
    g_string_append_printf (text, ", %s", _("is not supported"));
  else if (data->excluded)
    g_string_append_printf (text, ", %s", _("not quantized"));
  else if (data->badge != NULL)
    g_string_append_printf (text, ", %s", data->badge);
  if (graph_words_has_value (self, node))
    {
      g_autofree char *value = vn_overlay_dup_value (self->content->overlay, node);

      g_string_append_printf (text, ", %s", value);
      if (vn_overlay_get_kind (self->content->overlay) == VN_OVERLAY_ERROR)
        g_string_append_printf (text, ", %s", graph_words_band_word (vn_overlay_get (self->content->overlay, node)));
    }
  if (self->selection->selected[node])
    g_string_append_printf (text, ", %s", _("selected"));
  return g_string_free (text, FALSE);
}

/* What a closed group is, what is in it, and which of it is worst. */
static char *
graph_words_group_tooltip (const VnGraphParts *self,
                           guint               box)
{
  const VnSceneNode *data = vn_scene_get_node (self->content->scene, box);
  const VnOverlayNote *note = self->content->overlay != NULL ? vn_overlay_get_note (self->content->overlay, box) : NULL;
  GString *text = g_string_new (data->op);

  g_string_append_printf (text, " · %s", data->name);
  if (data->detail != NULL)
    g_string_append_printf (text, "\n%s", data->detail);
  if (data->shape != NULL)
    g_string_append_printf (text, "\n%s", data->shape);
  if (note != NULL && vn_overlay_get_kind (self->content->overlay) == VN_OVERLAY_AMOUNT)
    {
      g_string_append_printf (text, "\n%s\n", vn_overlay_get (self->content->overlay, box)->value);
      g_string_append_printf (text, _("Largest: %s, %s"), note->name,
                              vn_overlay_get (self->content->whole_overlay, note->worst)->value);
    }
  else if (note != NULL)
    {
      g_autofree char *value = vn_overlay_dup_value (self->content->overlay, box);
      const VnOverlayKind kind = vn_overlay_get_kind (self->content->overlay);

      g_string_append_c (text, '\n');
      g_string_append_printf (text, kind == VN_OVERLAY_NUMBER || kind == VN_OVERLAY_BITS
                              ? _("Largest: %s, %s") : _("Worst: %s, %s"), note->name, value);
    }
  return g_string_free (text, FALSE);
}

static char *
graph_words_node_tooltip (const VnGraphParts *self,
                          guint               node)
{
  const VnSceneNode *data = vn_scene_get_node (self->content->scene, node);
  GString *text;

  if (data->kind == VN_SCENE_GROUP)
    return graph_words_group_tooltip (self, node);
  text = g_string_new (data->name);
  if (data->kind == VN_SCENE_PAIR)
    g_string_append_printf (text, "\n%s\n%s", _("Q/DQ pair"), data->detail);
  if (data->kind == VN_SCENE_NODE)
    g_string_append_printf (text, "\n%s%s%s", data->op, data->detail != NULL ? " " : "",
                            data->detail != NULL ? data->detail : "");
  if (data->shape != NULL)
    g_string_append_printf (text, "\n%s", data->shape);
  if (data->excluded)
    g_string_append_printf (text, "\n%s", _("not quantized"));
  if (graph_words_has_value (self, node)
      && (!data->excluded || vn_overlay_kind_rates_float (vn_overlay_get_kind (self->content->overlay))))
    {
      g_autofree char *value = vn_overlay_dup_value (self->content->overlay, node);

      g_string_append_printf (text, "\n%s", value);
    }
  return g_string_free (text, FALSE);
}

/**
 * vn_graph_words_dup_edge:
 *
 * Returns: (transfer full): an edge in words, as a screen reader says it
 */
char *
vn_graph_words_dup_edge (const VnGraphParts *self,
                         guint               edge)
{
  const VnSceneEdge *data;
  g_autofree char *from = NULL, *to = NULL;

  g_return_val_if_fail (self != NULL && self->content->scene != NULL, NULL);

  data = vn_scene_get_edge (self->content->scene, edge);
  from = vn_graph_words_dup_box (self, data->from);
  to = vn_graph_words_dup_box (self, data->to);
  return g_strdup_printf (_("Tensor %s, from %s to %s"), data->value, from, to);
}

/* What the chip under the pointer stands for. */
static char *
graph_words_dup_chip (const VnGraphParts *self)
{
  const VnGraphChip *chip = &g_array_index (self->selection->chips, VnGraphChip, self->hover->chip);
  const VnSceneEdge *edge = vn_scene_get_edge (self->content->scene, chip->edge);
  GString *text = g_string_new (NULL);

  if (chip->is_leak)
    g_string_append_printf (text, _("Missing edge: %s"), edge->value);
  else
    g_string_append_printf (text, chip->enters ? _("Enters the selected nodes: %s") : _("Leaves the selected nodes: %s"),
                            edge->value);
  if (edge->tooltip != NULL)
    g_string_append_printf (text, "\n%s", edge->tooltip);
  if (chip->is_leak)
    g_string_append_printf (text, "\n%s", _("Click for fixes"));
  return g_string_free (text, FALSE);
}

/**
 * vn_graph_words_dup_tooltip:
 *
 * Returns: (transfer full) (nullable): what is under the pointer, in words
 */
char *
vn_graph_words_dup_tooltip (const VnGraphParts *self)
{
  const VnGraphHover *hover;

  g_return_val_if_fail (self != NULL, NULL);

  hover = self->hover;
  if (self->content->scene == NULL)
    return NULL;
  if (hover->chip < self->selection->chips->len)
    return graph_words_dup_chip (self);
  if (hover->node != VN_SCENE_NONE)
    return graph_words_node_tooltip (self, hover->node);
  if (hover->frame != VN_SCENE_NONE)
    return g_strdup_printf (_("Collapse “%s”"), vn_groups_get (self->content->groups, hover->frame)->title);
  if (hover->edge != VN_SCENE_NONE)
    {
      const VnSceneEdge *edge = vn_scene_get_edge (self->content->scene, hover->edge);

      return g_strconcat (edge->value, edge->tooltip != NULL ? "\n" : NULL, edge->tooltip, NULL);
    }
  return NULL;
}
