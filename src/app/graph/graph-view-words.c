/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes and tensors in words: tooltips, and what a screen reader says. */
#include "vn-graph-view-private.h"

#include "vn-i18n.h"

static const char *
graph_view_words_band_word (const VnOverlayItem *item)
{
  if (item->is_bad)
    return _("bad");
  return item->ticks >= 2 ? _("borderline") : _("fine");
}

/* What has no bytes or takes no time has nothing to tell of them. */
static gboolean
graph_view_words_has_value (VnGraphView *self,
                            guint        box)
{
  const VnOverlayItem *item = self->overlay != NULL ? vn_overlay_get (self->overlay, box) : NULL;

  return item != NULL && item->measured && (item->amount > 0 || vn_overlay_get_kind (self->overlay) != VN_OVERLAY_AMOUNT);
}

/* "layer 3, closed group, 158 nodes" */
static void
graph_view_words_add_group (GString           *text,
                            const VnSceneNode *data)
{
  g_string_append_printf (text, "%s, %s, ", data->op, _("collapsed group"));
}

/* Returns: (transfer full): a box in words, as a screen reader says it: "Conv, /cls/Conv, U8, 8.5 dB, bad, selected" */
char *
vn_graph_view_dup_box_label (VnGraphView *self,
                             guint        node)
{
  const VnSceneNode *data;
  GString *text = g_string_new (NULL);

  data = vn_scene_get_node (self->scene, node);
  if (data->kind == VN_SCENE_GROUP)
    graph_view_words_add_group (text, data);
  else if (data->kind == VN_SCENE_NODE)
    g_string_append_printf (text, "%s, ", data->op);
  else
    g_string_append_printf (text, "%s, ", data->kind == VN_SCENE_INPUT ? _("Input") : _("Output"));
  g_string_append (text, data->name);
  if (g_strcmp0 (data->badge, VN_BADGE_UNKNOWN) == 0)
    g_string_append_printf (text, ", %s", _("is not supported"));
  else if (data->excluded)
    g_string_append_printf (text, ", %s", _("not quantized"));
  else if (data->badge != NULL)
    g_string_append_printf (text, ", %s", data->badge);
  if (graph_view_words_has_value (self, node))
    {
      g_autofree char *value = vn_overlay_dup_value (self->overlay, node);

      g_string_append_printf (text, ", %s", value);
      if (vn_overlay_get_kind (self->overlay) == VN_OVERLAY_ERROR)
        g_string_append_printf (text, ", %s", graph_view_words_band_word (vn_overlay_get (self->overlay, node)));
    }
  if (self->selected[node])
    g_string_append_printf (text, ", %s", _("selected"));
  return g_string_free (text, FALSE);
}

/**
 * vn_graph_view_dup_node_label:
 *
 * Returns: (transfer full): a node in words, as a screen reader says it; the closed group that it is in, if it is in one
 */
char *
vn_graph_view_dup_node_label (VnGraphView *self,
                              guint        node)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), NULL);

  return vn_graph_view_dup_box_label (self, vn_graph_view_get_box (self, node));
}

/* What a closed group is, what is in it, and which of it is worst. */
static char *
graph_view_words_group_tooltip (VnGraphView *self,
                                guint        box)
{
  const VnSceneNode *data = vn_scene_get_node (self->scene, box);
  const VnOverlayNote *note = self->overlay != NULL ? vn_overlay_get_note (self->overlay, box) : NULL;
  GString *text = g_string_new (data->op);

  g_string_append_printf (text, " · %s", data->name);
  if (data->detail != NULL)
    g_string_append_printf (text, "\n%s", data->detail);
  if (data->shape != NULL)
    g_string_append_printf (text, "\n%s", data->shape);
  if (note != NULL && vn_overlay_get_kind (self->overlay) == VN_OVERLAY_AMOUNT)
    {
      g_string_append_printf (text, "\n%s\n", vn_overlay_get (self->overlay, box)->value);
      g_string_append_printf (text, _("Largest: %s, %s"), note->name, vn_overlay_get (self->whole_overlay, note->worst)->value);
    }
  else if (note != NULL)
    {
      g_autofree char *value = vn_overlay_dup_value (self->overlay, box);

      g_string_append_c (text, '\n');
      g_string_append_printf (text, _("Worst: %s, %s"), note->name, value);
    }
  return g_string_free (text, FALSE);
}

static char *
graph_view_words_node_tooltip (VnGraphView *self,
                               guint        node)
{
  const VnSceneNode *data = vn_scene_get_node (self->scene, node);
  GString *text;

  if (data->kind == VN_SCENE_GROUP)
    return graph_view_words_group_tooltip (self, node);
  text = g_string_new (data->name);
  if (data->kind == VN_SCENE_NODE)
    g_string_append_printf (text, "\n%s%s%s", data->op, data->detail != NULL ? " " : "",
                            data->detail != NULL ? data->detail : "");
  if (data->shape != NULL)
    g_string_append_printf (text, "\n%s", data->shape);
  if (data->excluded)
    g_string_append_printf (text, "\n%s", _("not quantized"));
  if (graph_view_words_has_value (self, node)
      && (!data->excluded || vn_overlay_kind_rates_float (vn_overlay_get_kind (self->overlay))))
    {
      g_autofree char *value = vn_overlay_dup_value (self->overlay, node);

      g_string_append_printf (text, "\n%s", value);
    }
  return g_string_free (text, FALSE);
}

/* What is under the pointer, in words. */
gboolean
vn_graph_view_query_tooltip (GtkWidget  *widget,
                             int         x,
                             int         y,
                             gboolean    keyboard,
                             GtkTooltip *tooltip)
{
  VnGraphView *self = VN_GRAPH_VIEW (widget);
  g_autofree char *text = NULL;

  if (self->scene == NULL || keyboard)
    return FALSE;
  if (self->hover_chip < self->state.n_chips)
    {
      text = vn_graph_view_dup_chip_words (self);
    }
  else if (self->state.hover_node != VN_SCENE_NONE)
    {
      text = graph_view_words_node_tooltip (self, self->state.hover_node);
    }
  else if (self->state.hover_frame != VN_SCENE_NONE)
    {
      text = g_strdup_printf (_("Collapse “%s”"), vn_groups_get (self->groups, self->state.hover_frame)->title);
    }
  else if (self->state.hover_edge != VN_SCENE_NONE)
    {
      const VnSceneEdge *edge = vn_scene_get_edge (self->scene, self->state.hover_edge);

      text = g_strconcat (edge->value, edge->tooltip != NULL ? "\n" : NULL, edge->tooltip, NULL);
    }
  if (text == NULL)
    return FALSE;
  gtk_tooltip_set_text (tooltip, text);
  return TRUE;
}
