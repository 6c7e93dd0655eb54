/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The panel with the rules of the recipe: what each is about, what it says, and switches, buttons and places to
 * change that. */
#include "vn-recipe-panel.h"

#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-leak-row.h"
#include "vn-rows.h"
#include "vn-rule-groups.h"
#include "vn-rules.h"
#include "vn-runs-list.h"

#include <math.h>

#define MAX_LEAKS 6
#define MAX_ROWS 200

struct _VnRecipePanel
{
  AdwBin        parent_instance;

  VnDocument   *document;
  GPtrArray    *groups;      /* of VnRuleGroup: what the rows show */

  AdwActionRow *preset;
  GtkListBox   *rules;
  GtkWidget    *hint;
  VnRunsList   *runs;
};

G_DEFINE_FINAL_TYPE (VnRecipePanel, vn_recipe_panel, ADW_TYPE_BIN)

static const VnRuleGroup *
recipe_panel_get_group (VnRecipePanel *self,
                        gpointer       widget)
{
  GtkWidget *row = GTK_IS_LIST_BOX_ROW (widget) ? widget : gtk_widget_get_ancestor (widget, GTK_TYPE_LIST_BOX_ROW);
  guint at = GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (row), "vn-group"));

  return self->groups != NULL && at < self->groups->len ? g_ptr_array_index (self->groups, at) : NULL;
}

/* ---- what a row can do ---- */

static void
recipe_panel_switched (VnRecipePanel *self,
                       GParamSpec    *pspec,
                       GtkSwitch     *button)
{
  const VnRuleGroup *group = recipe_panel_get_group (self, button);

  if (group != NULL)
    vn_document_enable_rules (self->document, group->first, group->n, gtk_switch_get_active (button));
}

static void
recipe_panel_removed (VnRecipePanel *self,
                      GtkButton     *button)
{
  const VnRuleGroup *group = recipe_panel_get_group (self, button);

  if (group != NULL)
    vn_document_remove_rules (self->document, group->first, group->n);
}

/* A click shows what a rule is about. */
static void
recipe_panel_row_activated (VnRecipePanel *self,
                            GtkListBoxRow *row)
{
  const VnRuleGroup *group = recipe_panel_get_group (self, row);

  if (group == NULL || vn_document_get_model (self->document) == NULL)
    return;
  vn_document_select (self->document, group->nodes);
  gtk_widget_activate_action (GTK_WIDGET (self), "win.show-in-graph", NULL);
}

/* Up or down by one row. */
static void
recipe_panel_move (VnRecipePanel *self,
                   gpointer       row,
                   gboolean       up)
{
  guint at = GPOINTER_TO_UINT (g_object_get_data (row, "vn-group"));
  const VnRuleGroup *group = recipe_panel_get_group (self, row), *other;

  if (group == NULL || (up && at == 0) || (!up && at + 1 >= self->groups->len))
    return;
  other = g_ptr_array_index (self->groups, up ? at - 1 : at + 1);
  vn_document_move_rules (self->document, group->first, group->n, up ? other->first : other->first + other->n);
}

static gboolean
recipe_panel_pressed (VnRecipePanel   *self,
                      guint            keyval,
                      guint            keycode,
                      GdkModifierType  state)
{
  GtkWidget *row = gtk_widget_get_focus_child (GTK_WIDGET (self->rules));
  const VnRuleGroup *group = row != NULL ? recipe_panel_get_group (self, row) : NULL;
  gboolean moves = (state & GDK_ALT_MASK) != 0 && (keyval == GDK_KEY_Up || keyval == GDK_KEY_Down);

  if (group == NULL || (!moves && keyval != GDK_KEY_Delete))
    return GDK_EVENT_PROPAGATE;
  if (moves)
    recipe_panel_move (self, row, keyval == GDK_KEY_Up);
  else
    vn_document_remove_rules (self->document, group->first, group->n);
  return GDK_EVENT_STOP;
}

/* ---- dragging ---- */

static GdkContentProvider *
recipe_panel_drag_prepare (GtkDragSource *source,
                           double         x,
                           double         y,
                           GtkWidget     *row)
{
  return gdk_content_provider_new_typed (GTK_TYPE_LIST_BOX_ROW, row);
}

static void
recipe_panel_drag_begin (GtkDragSource *source,
                         GdkDrag       *drag,
                         GtkWidget     *row)
{
  g_autoptr(GdkPaintable) picture = gtk_widget_paintable_new (row);

  gtk_drag_source_set_icon (source, picture, 0, 0);
}

static gboolean
recipe_panel_dropped (GtkDropTarget *target,
                      const GValue  *value,
                      double         x,
                      double         y,
                      VnRecipePanel *self)
{
  const VnRuleGroup *group = recipe_panel_get_group (self, g_value_get_object (value)), *there;
  GtkListBoxRow *row = gtk_list_box_get_row_at_y (self->rules, (int) y);

  if (group == NULL)
    return FALSE;
  there = row != NULL ? recipe_panel_get_group (self, row) : NULL;
  if (there == NULL)
    vn_document_move_rules (self->document, group->first, group->n, vn_document_get_recipe (self->document)->overrides->len);
  else
    vn_document_move_rules (self->document, group->first, group->n, there->first > group->first ? there->first + there->n : there->first);
  return TRUE;
}

static void
recipe_panel_add_grip (GtkWidget *row)
{
  GtkWidget *grip = gtk_image_new_from_icon_name ("list-drag-handle-symbolic");
  GtkDragSource *source = gtk_drag_source_new ();

  gtk_drag_source_set_actions (source, GDK_ACTION_MOVE);
  g_signal_connect (source, "prepare", G_CALLBACK (recipe_panel_drag_prepare), row);
  g_signal_connect (source, "drag-begin", G_CALLBACK (recipe_panel_drag_begin), row);
  gtk_widget_add_controller (row, GTK_EVENT_CONTROLLER (source));
  gtk_widget_set_tooltip_text (grip, _("Drag to change the order, or press Alt+Up and Alt+Down"));
  gtk_widget_add_css_class (grip, "dim-label");
  adw_action_row_add_prefix (ADW_ACTION_ROW (row), grip);
}

/* ---- a row ---- */

/* What came of it, as soon as a run has told. */
static char *
recipe_panel_describe_gain (VnRecipePanel     *self,
                            const VnRuleGroup *group)
{
  const VnEffect *effect = vn_document_find_effect (self->document, group->key);

  if (effect == NULL || !effect->measured || isnan (effect->after_db - effect->before_db))
    return NULL;
  return vn_format_signed_db (effect->after_db - effect->before_db);
}

static char *
recipe_panel_describe_reach (VnRecipePanel     *self,
                             const VnRuleGroup *group,
                             const VnOverride  *rule)
{
  guint n = (guint) gtk_bitset_get_size (group->nodes);
  g_autofree char *effect = vn_override_dup_effect (rule), *gain = recipe_panel_describe_gain (self, group), *reach = NULL;

  if (rule->tensors != NULL)
    reach = g_strdup_printf (_("→ %s · tensors"), effect);
  else if (n == 0)
    reach = g_strdup_printf (_("→ %s · matches no node"), effect);
  else
    reach = g_strdup_printf (ngettext ("→ %s · %u node", "→ %s · %u nodes", n), effect, n);
  return gain != NULL ? g_strdup_printf ("%s · %s", reach, gain) : g_steal_pointer (&reach);
}

static void
recipe_panel_add_remove (VnRecipePanel *self,
                         GtkWidget     *row)
{
  GtkWidget *button = gtk_button_new_from_icon_name ("list-remove-symbolic");

  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text (button, _("Remove This Rule"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Remove This Rule"), -1);
  gtk_widget_add_css_class (button, "flat");
  g_signal_connect_swapped (button, "clicked", G_CALLBACK (recipe_panel_removed), self);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), button);
}

/* The leaks of a rule, each with its button; or why there is no region. */
static GtkWidget *
recipe_panel_make_leaks (const VnOverride *rule,
                         guint             number,
                         const VnGraph    *graph,
                         const char       *problem)
{
  g_autoptr(GPtrArray) leaks = vn_rule_list_leaks (rule, graph, NULL);
  GtkWidget *popover = gtk_popover_new (), *list = vn_row_list_new ();

  gtk_widget_set_size_request (list, 280, -1);
  for (guint i = 0; leaks != NULL && i < MIN (leaks->len, MAX_LEAKS); i++)
    gtk_list_box_append (GTK_LIST_BOX (list), vn_leak_row_new (number, g_ptr_array_index (leaks, i)));
  if (leaks == NULL)
    gtk_list_box_append (GTK_LIST_BOX (list), vn_row_new_wide (_("No region"), problem));
  gtk_popover_set_child (GTK_POPOVER (popover), list);
  return popover;
}

static void
recipe_panel_add_leak (VnRecipePanel    *self,
                       GtkWidget        *row,
                       const VnOverride *rule,
                       guint             number)
{
  VnModel *model = vn_document_get_model (self->document);
  g_autofree char *leak = model != NULL ? vn_rule_describe_leak (rule, model->graph) : NULL;
  GtkWidget *icon;

  if (leak == NULL)
    return;
  icon = gtk_menu_button_new ();
  gtk_menu_button_set_icon_name (GTK_MENU_BUTTON (icon), "dialog-warning-symbolic");
  gtk_menu_button_set_popover (GTK_MENU_BUTTON (icon), recipe_panel_make_leaks (rule, number, model->graph, leak));
  gtk_widget_set_valign (icon, GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text (icon, leak);
  gtk_accessible_update_property (GTK_ACCESSIBLE (icon), GTK_ACCESSIBLE_PROPERTY_LABEL, leak, -1);
  gtk_widget_add_css_class (icon, "warning");
  gtk_widget_add_css_class (icon, "flat");
  adw_action_row_add_prefix (ADW_ACTION_ROW (row), icon);
  gtk_widget_set_tooltip_text (row, leak);
}

static void
recipe_panel_add_switch (VnRecipePanel     *self,
                         GtkWidget         *row,
                         const VnRuleGroup *group)
{
  GtkWidget *on = gtk_switch_new ();

  gtk_switch_set_active (GTK_SWITCH (on), group->enabled);
  gtk_widget_set_valign (on, GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text (on, _("Whether This Rule Counts"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (on), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Whether This Rule Counts"), -1);
  g_signal_connect_swapped (on, "notify::active", G_CALLBACK (recipe_panel_switched), self);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), on);
}

static GtkWidget *
recipe_panel_make_row (VnRecipePanel     *self,
                       const VnRuleGroup *group,
                       guint              at)
{
  const VnOverride *rule = g_ptr_array_index (vn_document_get_recipe (self->document)->overrides, group->first);
  g_autofree char *reach = recipe_panel_describe_reach (self, group, rule);
  GtkWidget *row = adw_action_row_new ();

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), group->title);
  adw_action_row_set_title_lines (ADW_ACTION_ROW (row), 1);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), reach);
  gtk_widget_set_tooltip_text (row, group->title);
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), TRUE);
  g_object_set_data (G_OBJECT (row), "vn-group", GUINT_TO_POINTER (at));
  recipe_panel_add_leak (self, row, rule, group->first);
  if (self->groups->len > 1)
    recipe_panel_add_grip (row);
  recipe_panel_add_switch (self, row, group);
  recipe_panel_add_remove (self, row);
  return row;
}

static gboolean
recipe_panel_rebuild (gpointer data)
{
  VnRecipePanel *self = data;
  const VnRecipe *recipe = vn_document_get_recipe (self->document);
  const VnPreset *preset = vn_preset_find (recipe->preset, NULL);
  GtkWidget *child;

  if (self->preset == NULL)   /* disposed of in the meantime */
    return G_SOURCE_REMOVE;
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->preset), preset != NULL ? _(preset->title) : "");
  adw_action_row_set_subtitle (self->preset, preset != NULL ? _(preset->summary) : "");
  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self->rules))) != NULL)
    gtk_list_box_remove (self->rules, child);
  g_clear_pointer (&self->groups, g_ptr_array_unref);
  self->groups = vn_rule_groups_list (recipe, vn_document_get_model (self->document), vn_document_get_nodes (self->document));
  for (guint i = 0; i < MIN (self->groups->len, MAX_ROWS); i++)
    gtk_list_box_append (self->rules, recipe_panel_make_row (self, g_ptr_array_index (self->groups, i), i));
  if (self->groups->len == 0)
    gtk_list_box_append (self->rules, vn_row_new_wide (_("No rules"),
                                                       _("Set nodes to 16 bit or leave them in float to add some")));
  gtk_widget_set_visible (self->hint, self->groups->len > 1);
  return G_SOURCE_REMOVE;
}

/* Not at once: the row whose switch or button this comes from must not vanish below it. */
static void
recipe_changed (VnRecipePanel *self)
{
  g_idle_add_full (G_PRIORITY_DEFAULT, recipe_panel_rebuild, g_object_ref (self), g_object_unref);
}

/**
 * vn_recipe_panel_set_document:
 */
void
vn_recipe_panel_set_document (VnRecipePanel *self,
                              VnDocument    *document)
{
  g_return_if_fail (VN_IS_RECIPE_PANEL (self));
  g_return_if_fail (VN_IS_DOCUMENT (document));

  self->document = g_object_ref (document);
  g_signal_connect_object (document, "recipe-changed", G_CALLBACK (recipe_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "result-changed", G_CALLBACK (recipe_changed), self, G_CONNECT_SWAPPED);
  vn_runs_list_set_document (self->runs, document);
  recipe_panel_rebuild (self);
}

static void
vn_recipe_panel_finalize (GObject *object)
{
  g_clear_object (&VN_RECIPE_PANEL (object)->document);
  g_clear_pointer (&VN_RECIPE_PANEL (object)->groups, g_ptr_array_unref);
  G_OBJECT_CLASS (vn_recipe_panel_parent_class)->finalize (object);
}

static void
vn_recipe_panel_dispose (GObject *object)
{
  gtk_widget_dispose_template (GTK_WIDGET (object), VN_TYPE_RECIPE_PANEL);
  G_OBJECT_CLASS (vn_recipe_panel_parent_class)->dispose (object);
}

static void
vn_recipe_panel_class_init (VnRecipePanelClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = vn_recipe_panel_dispose;
  G_OBJECT_CLASS (klass)->finalize = vn_recipe_panel_finalize;
  g_type_ensure (VN_TYPE_RUNS_LIST);
  gtk_widget_class_set_template_from_resource (widget_class, "/io/github/vernier/Vernier/vn-recipe-panel.ui");
  gtk_widget_class_bind_template_child (widget_class, VnRecipePanel, preset);
  gtk_widget_class_bind_template_child (widget_class, VnRecipePanel, rules);
  gtk_widget_class_bind_template_child (widget_class, VnRecipePanel, hint);
  gtk_widget_class_bind_template_child (widget_class, VnRecipePanel, runs);
}

static void
vn_recipe_panel_init (VnRecipePanel *self)
{
  GtkEventController *keys = gtk_event_controller_key_new ();
  GtkDropTarget *target = gtk_drop_target_new (GTK_TYPE_LIST_BOX_ROW, GDK_ACTION_MOVE);

  gtk_widget_init_template (GTK_WIDGET (self));
  g_signal_connect_swapped (self->rules, "row-activated", G_CALLBACK (recipe_panel_row_activated), self);
  g_signal_connect_swapped (keys, "key-pressed", G_CALLBACK (recipe_panel_pressed), self);
  gtk_widget_add_controller (GTK_WIDGET (self->rules), keys);
  g_signal_connect (target, "drop", G_CALLBACK (recipe_panel_dropped), self);
  gtk_widget_add_controller (GTK_WIDGET (self->rules), GTK_EVENT_CONTROLLER (target));
}
