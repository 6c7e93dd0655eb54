/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Builds the scene of what its source stands for, off the main loop where that takes long, and colours it by error and by what
 * differs from the other side. */
#include "compare-pane-private.h"

#include "vn-i18n.h"
#include "vn-scene-builder.h"
#include "vn-swatch.h"
#include "vn-thread.h"

#define THREAD_NODES 1500
#define ABOVE_TOOLS 60    /* those of the page lie over both sides */

G_DEFINE_FINAL_TYPE (VnComparePane, vn_compare_pane, ADW_TYPE_BIN)

/* ---- scene ---- */

typedef struct
{
  VnComparedModel *model;
  VnScene         *scene;
  VnGroups        *groups;
} Building;

static void
compare_pane_free_building (gpointer data)
{
  Building *self = data;

  vn_compared_model_unref (self->model);
  g_clear_pointer (&self->scene, vn_scene_unref);
  g_clear_pointer (&self->groups, vn_groups_unref);
  g_free (self);
}

static void
compare_pane_take_scene (VnComparePane   *self,
                         VnComparedModel *model,
                         VnScene         *scene,
                         VnGroups        *groups)
{
  vn_compared_model_ref (model);
  vn_scene_ref (scene);
  g_clear_pointer (&self->model, vn_compared_model_unref);
  g_clear_pointer (&self->scene, vn_scene_unref);
  self->model = model;
  self->scene = scene;
  vn_groups_ref (groups);
  g_clear_pointer (&self->groups, vn_groups_unref);
  self->groups = groups;
  g_signal_emit_by_name (self, "model-changed");
}

static void
compare_pane_run_building (GTask        *task,
                           gpointer      source,
                           gpointer      data,
                           GCancellable *cancellable)
{
  Building *building = data;

  building->scene = vn_scene_build (vn_compared_model_get_model (building->model),
                                    vn_compared_model_get_result (building->model), VN_PAIRS_FOLDED);
  building->groups = vn_groups_new (building->scene);
  g_task_return_boolean (task, TRUE);
}

static void
compare_pane_built (GObject      *source,
                    GAsyncResult *async,
                    gpointer      data)
{
  VnComparePane *self = VN_COMPARE_PANE (source);
  Building *building = g_task_get_task_data (G_TASK (async));

  if (self->building == NULL || self->building != g_task_get_cancellable (G_TASK (async)) ||
      !g_task_propagate_boolean (G_TASK (async), NULL))
    return;
  g_clear_object (&self->building);
  compare_pane_take_scene (self, building->model, building->scene, building->groups);
}

static void
compare_pane_stop_building (VnComparePane *self)
{
  if (self->building != NULL)
    g_cancellable_cancel (self->building);
  g_clear_object (&self->building);
}

static void
compare_pane_build (VnComparePane   *self,
                    VnComparedModel *model)
{
  g_autoptr(GTask) task = NULL;
  Building *building;

  compare_pane_stop_building (self);
  if (vn_compared_model_get_model (model)->graph->nodes->len < THREAD_NODES)
    {
      g_autoptr(VnScene) scene = vn_scene_build (vn_compared_model_get_model (model), vn_compared_model_get_result (model),
                                                   VN_PAIRS_FOLDED);
      g_autoptr(VnGroups) groups = vn_groups_new (scene);

      compare_pane_take_scene (self, model, scene, groups);
      return;
    }
  building = g_new0 (Building, 1);
  building->model = vn_compared_model_ref (model);
  self->building = g_cancellable_new ();
  task = g_task_new (self, self->building, compare_pane_built, NULL);
  g_task_set_task_data (task, building, compare_pane_free_building);
  vn_thread_run_task (task, compare_pane_run_building);
}

static void
compare_pane_clear_scene (VnComparePane *self)
{
  compare_pane_stop_building (self);
  g_clear_pointer (&self->model, vn_compared_model_unref);
  g_clear_pointer (&self->groups, vn_groups_unref);
  g_clear_pointer (&self->scene, vn_scene_unref);   /* before the view: what it then says is not the user's */
  vn_graph_view_set_scene (self->view, NULL);
  gtk_widget_set_visible (self->key, FALSE);
}

static void
compare_pane_source_changed (VnComparePane *self)
{
  VnComparedModel *model = self->source != NULL ? self->source->model : NULL;

  vn_compare_state_update (self->state, self->source);
  if (!self->is_shown || model == self->model)
    return;
  if (model != NULL)
    compare_pane_build (self, model);
  else if (self->model != NULL)
    {
      compare_pane_clear_scene (self);
      g_signal_emit_by_name (self, "model-changed");
    }
}

/* ---- the list ---- */

static void
compare_pane_setup_item (GtkSignalListItemFactory *factory,
                         GtkListItem              *item)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8), *title = gtk_label_new (NULL), *detail = gtk_label_new (NULL);

  gtk_label_set_ellipsize (GTK_LABEL (title), PANGO_ELLIPSIZE_MIDDLE);
  gtk_label_set_max_width_chars (GTK_LABEL (title), 28);
  gtk_widget_add_css_class (title, "heading");
  gtk_widget_add_css_class (detail, "caption");
  gtk_widget_add_css_class (detail, "dim-label");
  gtk_widget_add_css_class (detail, "numeric");
  gtk_box_append (GTK_BOX (box), title);
  gtk_box_append (GTK_BOX (box), detail);
  gtk_list_item_set_child (item, box);
}

static void
compare_pane_bind_item (GtkSignalListItemFactory *factory,
                        GtkListItem              *item)
{
  VnCompareSource *source = gtk_list_item_get_item (item);
  GtkWidget *title = gtk_widget_get_first_child (gtk_list_item_get_child (item));

  gtk_label_set_label (GTK_LABEL (title), source->title);
  gtk_label_set_label (GTK_LABEL (gtk_widget_get_next_sibling (title)), source->detail);
}

static void
compare_pane_select (VnComparePane *self)
{
  guint n = self->sources != NULL ? g_list_model_get_n_items (self->sources) : 0;

  self->busy = TRUE;
  for (guint i = 0; i < n; i++)
    {
      g_autoptr(VnCompareSource) source = g_list_model_get_item (self->sources, i);

      if (source == self->source)
        gtk_drop_down_set_selected (self->choice, i);
    }
  if (self->source == NULL)
    gtk_drop_down_set_selected (self->choice, GTK_INVALID_LIST_POSITION);
  self->busy = FALSE;
}

static void
compare_pane_chosen (VnComparePane *self)
{
  VnCompareSource *chosen = gtk_drop_down_get_selected_item (self->choice);

  if (self->busy || chosen == NULL || chosen == self->source)
    return;
  if (chosen->kind == VN_COMPARE_OPEN)
    {
      compare_pane_select (self);
      g_signal_emit_by_name (self, "open-file");
      return;
    }
  vn_compare_source_forget_error (chosen);
  vn_compare_pane_set_source (self, chosen);
  g_signal_emit_by_name (self, "source-chosen");
}

/* ---- parts ---- */

static GtkWidget *
compare_pane_make_choice (VnComparePane *self)
{
  GtkWidget *card = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();

  g_signal_connect (factory, "setup", G_CALLBACK (compare_pane_setup_item), NULL);
  g_signal_connect (factory, "bind", G_CALLBACK (compare_pane_bind_item), NULL);
  self->choice = GTK_DROP_DOWN (gtk_drop_down_new (NULL, NULL));
  gtk_drop_down_set_factory (self->choice, factory);
  g_object_unref (factory);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->choice), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Content of This Side"), -1);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->choice), _("Content of This Side"));
  g_signal_connect_swapped (self->choice, "notify::selected", G_CALLBACK (compare_pane_chosen), self);
  gtk_box_append (GTK_BOX (card), GTK_WIDGET (self->choice));
  gtk_widget_add_css_class (card, "floating");
  gtk_widget_add_css_class (card, "compare-pane-card");
  gtk_widget_set_halign (card, GTK_ALIGN_START);
  gtk_widget_set_valign (card, GTK_ALIGN_START);
  return card;
}

static GtkWidget *
compare_pane_make_key (VnComparePane *self)
{
  static const struct { const char *title; double db; } bands[] =
    { { N_("Fine"), 25 }, { N_("Borderline"), 15 }, { N_("Bad"), 5 } };
  GtkWidget *card = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);

  for (guint i = 0; i < G_N_ELEMENTS (bands); i++)
    {
      GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6), *swatch = vn_swatch_new (FALSE);

      vn_swatch_set (VN_SWATCH (swatch), VN_SWATCH_VALUE, VN_METRIC_SQNR, bands[i].db);
      self->counts[i] = GTK_LABEL (gtk_label_new (_(bands[i].title)));
      gtk_widget_add_css_class (GTK_WIDGET (self->counts[i]), "numeric");
      gtk_box_append (GTK_BOX (box), swatch);
      gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->counts[i]));
      gtk_box_append (GTK_BOX (card), box);
    }
  self->marks = GTK_LABEL (gtk_label_new (NULL));
  gtk_widget_add_css_class (GTK_WIDGET (self->marks), "numeric");
  gtk_box_append (GTK_BOX (card), GTK_WIDGET (self->marks));
  gtk_widget_add_css_class (card, "floating");
  gtk_widget_add_css_class (card, "compare-key");
  gtk_widget_set_halign (card, GTK_ALIGN_END);
  gtk_widget_set_valign (card, GTK_ALIGN_START);
  gtk_widget_set_visible (card, FALSE);
  return card;
}

static void
compare_pane_add_card (GtkOverlay *overlay,
                       GtkWidget  *card)
{
  gtk_widget_set_margin_start (card, 12);
  gtk_widget_set_margin_end (card, 12);
  gtk_widget_set_margin_top (card, 12);
  gtk_widget_set_margin_bottom (card, 12);
  gtk_overlay_add_overlay (overlay, card);
}

/* ---- widget ---- */

static void
compare_pane_disconnect (VnComparePane *self)
{
  if (self->source != NULL)
    g_signal_handlers_disconnect_by_func (self->source, compare_pane_source_changed, self);
  g_clear_object (&self->source);
}

static void
vn_compare_pane_dispose (GObject *object)
{
  VnComparePane *self = VN_COMPARE_PANE (object);

  self->busy = TRUE;
  vn_graph_view_set_panels_func (self->view, NULL, NULL);
  compare_pane_stop_building (self);
  compare_pane_disconnect (self);
  g_clear_weak_pointer (&self->beside);
  g_clear_pointer (&self->model, vn_compared_model_unref);
  g_clear_pointer (&self->scene, vn_scene_unref);
  g_clear_pointer (&self->groups, vn_groups_unref);
  g_clear_object (&self->sources);
  G_OBJECT_CLASS (vn_compare_pane_parent_class)->dispose (object);
}

static void
vn_compare_pane_class_init (VnComparePaneClass *klass)
{
  GType type = VN_TYPE_COMPARE_PANE;

  G_OBJECT_CLASS (klass)->dispose = vn_compare_pane_dispose;
  g_signal_new ("source-chosen", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  g_signal_new ("open-file", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  g_signal_new ("model-changed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
vn_compare_pane_init (VnComparePane *self)
{
  GtkWidget *overlay = gtk_overlay_new ();

  self->view = VN_GRAPH_VIEW (vn_graph_view_new ());
  gtk_overlay_set_child (GTK_OVERLAY (overlay), GTK_WIDGET (self->view));
  compare_pane_add_card (GTK_OVERLAY (overlay), compare_pane_make_choice (self));
  self->key = compare_pane_make_key (self);
  compare_pane_add_card (GTK_OVERLAY (overlay), self->key);
  self->state = g_object_new (VN_TYPE_COMPARE_STATE, NULL);
  compare_pane_add_card (GTK_OVERLAY (overlay), GTK_WIDGET (self->state));
  gtk_widget_set_margin_bottom (GTK_WIDGET (self->state), ABOVE_TOOLS);
  g_signal_connect_swapped (overlay, "get-child-position", G_CALLBACK (vn_compare_pane_place_key), self);
  vn_graph_view_set_opens_whole (self->view, TRUE);
  vn_graph_view_set_panels_func (self->view, vn_compare_pane_list_panels, self);
  adw_bin_set_child (ADW_BIN (self), overlay);
}

/**
 * vn_compare_pane_set_list:
 * @sources: (element-type VnCompareSource): what can be chosen; the choice stays, if it is among them
 */
void
vn_compare_pane_set_list (VnComparePane *self,
                          GListModel    *sources)
{
  g_return_if_fail (VN_IS_COMPARE_PANE (self));

  self->busy = TRUE;
  g_set_object (&self->sources, sources);
  gtk_drop_down_set_model (self->choice, sources);
  self->busy = FALSE;
  compare_pane_select (self);
}

/**
 * vn_compare_pane_set_source:
 * @source: (nullable): one of the list
 *
 * Shows it as soon as it is loaded.
 */
void
vn_compare_pane_set_source (VnComparePane   *self,
                            VnCompareSource *source)
{
  g_return_if_fail (VN_IS_COMPARE_PANE (self));

  if (source != self->source)
    {
      compare_pane_disconnect (self);
      self->source = source != NULL ? g_object_ref (source) : NULL;
      if (source != NULL)
        g_signal_connect_swapped (source, "changed", G_CALLBACK (compare_pane_source_changed), self);
    }
  compare_pane_select (self);
  if (self->is_shown && source != NULL)
    vn_compare_source_load (source);
  compare_pane_source_changed (self);
}

VnCompareSource *
vn_compare_pane_get_source (VnComparePane *self)
{
  g_return_val_if_fail (VN_IS_COMPARE_PANE (self), NULL);

  return self->source;
}

VnComparedModel *
vn_compare_pane_get_model (VnComparePane *self)
{
  g_return_val_if_fail (VN_IS_COMPARE_PANE (self), NULL);

  return self->model;
}

VnScene *
vn_compare_pane_get_scene (VnComparePane *self)
{
  g_return_val_if_fail (VN_IS_COMPARE_PANE (self), NULL);

  return self->scene;
}

VnGraphView *
vn_compare_pane_get_view (VnComparePane *self)
{
  g_return_val_if_fail (VN_IS_COMPARE_PANE (self), NULL);

  return self->view;
}

/**
 * vn_compare_pane_set_beside:
 * @beside: (nullable): the other side
 */
void
vn_compare_pane_set_beside (VnComparePane *self,
                            VnComparePane *beside)
{
  g_return_if_fail (VN_IS_COMPARE_PANE (self));

  g_set_weak_pointer (&self->beside, beside);
}

/**
 * vn_compare_pane_show_alone:
 *
 * Shows the network that is there, if it is not shown already, laid out for itself: there is none beside it.
 */
void
vn_compare_pane_show_alone (VnComparePane *self)
{
  g_return_if_fail (VN_IS_COMPARE_PANE (self));

  if (self->scene != NULL && vn_graph_view_get_scene (self->view) != self->scene)
    vn_graph_view_set_network (self->view, self->scene, self->groups);
}

static void
compare_pane_set_counts (VnComparePane *self,
                         VnOverlay     *overlay,
                         const guint    marks[4])
{
  static const char * const titles[] = { N_("Fine"), N_("Borderline"), N_("Bad") };
  g_autoptr(GString) text = g_string_new (NULL);
  gboolean has_errors = vn_overlay_get_kind (overlay) == VN_OVERLAY_ERROR;
  guint n[3];

  vn_overlay_count (overlay, &n[0], &n[1], &n[2]);
  for (guint i = 0; i < 3; i++)
    {
      g_autofree char *count = g_strdup_printf ("%s %u", _(titles[i]), n[i]);

      gtk_label_set_label (self->counts[i], count);
      gtk_widget_set_visible (gtk_widget_get_parent (GTK_WIDGET (self->counts[i])), has_errors);
    }
  if (marks[VN_MARK_ADDED] > 0)
    g_string_append_printf (text, ngettext ("+ %u added", "+ %u added", marks[VN_MARK_ADDED]), marks[VN_MARK_ADDED]);
  if (marks[VN_MARK_MISSING] > 0)
    g_string_append_printf (text, ngettext ("\u2212 %u missing there", "\u2212 %u missing there", marks[VN_MARK_MISSING]),
                            marks[VN_MARK_MISSING]);
  if (marks[VN_MARK_CHANGED] > 0)
    {
      g_string_append (text, text->len > 0 ? "  " : "");
      g_string_append_printf (text, ngettext ("≠ %u changed", "≠ %u changed", marks[VN_MARK_CHANGED]), marks[VN_MARK_CHANGED]);
    }
  gtk_label_set_label (self->marks, text->str);
  gtk_widget_set_visible (GTK_WIDGET (self->marks), text->len > 0);
  gtk_widget_set_visible (self->key, has_errors || text->len > 0);
}

/**
 * vn_compare_pane_set_marks:
 * @match: of the models of both sides
 * @side: which of them this is
 *
 * Colours the nodes by their error against the float network, and marks what differs.
 */
void
vn_compare_pane_set_marks (VnComparePane *self,
                           VnNodeMatch   *match,
                           guint          side)
{
  const VnErrorRow * const *rows;
  g_autoptr(VnOverlay) overlay = NULL;
  guint counts[4] = { 0 };

  g_return_if_fail (VN_IS_COMPARE_PANE (self) && match != NULL && side < 2 && self->model != NULL);

  rows = vn_compared_model_get_rows (self->model);
  if (rows != NULL)
    overlay = vn_scene_build_rows (self->scene, rows, VN_METRIC_SQNR, vn_heat_default_handles (VN_METRIC_SQNR));
  else
    overlay = vn_overlay_new (VN_OVERLAY_NONE, vn_scene_get_n_nodes (self->scene), NULL);
  for (guint i = 0; i < vn_scene_get_n_nodes (self->scene); i++)
    {
      const VnSceneNode *node = vn_scene_get_node (self->scene, i);
      VnOverlayItem item = *vn_overlay_get (overlay, i);

      if (node->kind != VN_SCENE_NODE)
        continue;
      switch (vn_node_match_get (match, side, node->source)->state)
        {
        case VN_MATCH_CHANGED:
          item.mark = VN_MARK_CHANGED;
          break;
        case VN_MATCH_ALONE:
          item.mark = side == 0 ? VN_MARK_MISSING : VN_MARK_ADDED;
          break;
        case VN_MATCH_SAME:
        default:
          continue;
        }
      counts[item.mark]++;
      vn_overlay_set (overlay, i, &item);
    }
  vn_graph_view_set_overlay (self->view, overlay);
  compare_pane_set_counts (self, overlay, counts);
}

/**
 * vn_compare_pane_show:
 * @shown: whether anybody sees it: what nobody sees is not loaded
 */
void
vn_compare_pane_show (VnComparePane *self,
                      gboolean       shown)
{
  g_return_if_fail (VN_IS_COMPARE_PANE (self));

  if (shown == self->is_shown)
    return;
  self->is_shown = shown;
  vn_compare_pane_set_source (self, self->source);
}

/**
 * vn_compare_pane_set_foot:
 * @height: of what lies over the lower border of the graph, in pixels
 *
 * The network as a whole is shown above that.
 */
void
vn_compare_pane_set_foot (VnComparePane *self,
                          int            height)
{
  g_return_if_fail (VN_IS_COMPARE_PANE (self));

  if (self->foot == height)
    return;
  self->foot = height;
  vn_graph_view_panels_changed (self->view);
}
