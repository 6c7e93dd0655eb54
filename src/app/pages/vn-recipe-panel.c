/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The panel with the rules of the recipe: what each is about, what it says, and switches, buttons and places to
 * change that. */
#include "vn-recipe-panel.h"

#include "vn-i18n.h"
#include "vn-node-item.h"
#include "vn-rows.h"
#include "vn-rules.h"
#include "vn-runs-list.h"

#define MAX_ROWS 200

struct _VnRecipePanel
{
  AdwBin        parent_instance;

  VnDocument   *document;

  AdwActionRow *preset;
  GtkListBox   *rules;
  GtkWidget    *hint;
  VnRunsList   *runs;
};

G_DEFINE_FINAL_TYPE (VnRecipePanel, vn_recipe_panel, ADW_TYPE_BIN)

static guint
recipe_panel_get_rule (gpointer row)
{
  return GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (row), "vn-rule"));
}

static void
recipe_panel_switched (VnRecipePanel *self,
                       GParamSpec    *pspec,
                       GtkSwitch     *button)
{
  VnRecipe *recipe = vn_recipe_copy (vn_document_get_recipe (self->document));
  VnOverride *rule = g_ptr_array_index (recipe->overrides, recipe_panel_get_rule (button));

  rule->enabled = gtk_switch_get_active (button);
  vn_document_edit_recipe (self->document, recipe, rule->enabled ? _("Rule switched on") : _("Rule switched off"));
}

static void
recipe_panel_removed (VnRecipePanel *self,
                      GtkButton     *button)
{
  VnRecipe *recipe = vn_recipe_copy (vn_document_get_recipe (self->document));

  g_ptr_array_remove_index (recipe->overrides, recipe_panel_get_rule (button));
  vn_document_edit_recipe (self->document, recipe, _("Rule removed"));
}

/* A click shows what a rule is about. */
static void
recipe_panel_row_activated (VnRecipePanel *self,
                            GtkListBoxRow *row)
{
  const VnRecipe *recipe = vn_document_get_recipe (self->document);
  guint at = recipe_panel_get_rule (row);
  g_autoptr(GtkBitset) nodes = NULL;

  if (at >= recipe->overrides->len || vn_document_get_model (self->document) == NULL)
    return;
  nodes = vn_rule_dup_nodes (g_ptr_array_index (recipe->overrides, at), vn_document_get_model (self->document)->graph);
  vn_document_select (self->document, nodes);
  gtk_widget_activate_action (GTK_WIDGET (self), "win.show-in-graph", NULL);
}

static void
recipe_panel_moved (VnRecipePanel *self,
                    GtkButton     *button)
{
  vn_document_move_rule (self->document, recipe_panel_get_rule (button));
}

/* A rule for a single node shows the name that the node has elsewhere. */
static char *
recipe_panel_describe_subject (VnRecipePanel    *self,
                               const VnOverride *rule,
                               GtkBitset        *nodes)
{
  g_autoptr(VnNodeItem) item = NULL;

  if (rule->pattern == NULL || rule->in_edges != NULL || rule->out_edges != NULL || gtk_bitset_get_size (nodes) != 1)
    return vn_rule_describe_subject (rule);
  item = g_list_model_get_item (vn_document_get_nodes (self->document), gtk_bitset_get_minimum (nodes));
  return g_strdup (item->name);
}

static char *
recipe_panel_describe_reach (const VnOverride *rule,
                             guint             n)
{
  g_autofree char *effect = vn_rule_describe_effect (rule);

  if (rule->tensors != NULL)
    return g_strdup_printf (_("→ %s · tensors"), effect);
  if (n == 0)
    return g_strdup_printf (_("→ %s · matches no node"), effect);
  return g_strdup_printf (ngettext ("→ %s · %u node", "→ %s · %u nodes", n), effect, n);
}

static GtkWidget *
recipe_panel_add_button (VnRecipePanel *self,
                         GtkWidget     *row,
                         const char    *icon,
                         const char    *title,
                         GCallback      clicked)
{
  GtkWidget *button = gtk_button_new_from_icon_name (icon);

  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text (button, title);
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, title, -1);
  gtk_widget_add_css_class (button, "flat");
  g_object_set_data (G_OBJECT (button), "vn-rule", g_object_get_data (G_OBJECT (row), "vn-rule"));
  g_signal_connect_swapped (button, "clicked", clicked, self);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), button);
  return button;
}

static void
recipe_panel_add_leak (VnRecipePanel    *self,
                       GtkWidget        *row,
                       const VnOverride *rule)
{
  VnModel *model = vn_document_get_model (self->document);
  g_autofree char *leak = model != NULL ? vn_rule_describe_leak (rule, model->graph) : NULL;
  GtkWidget *icon;

  if (leak == NULL)
    return;
  icon = gtk_image_new_from_icon_name ("dialog-warning-symbolic");
  gtk_widget_set_tooltip_text (icon, leak);
  gtk_accessible_update_property (GTK_ACCESSIBLE (icon), GTK_ACCESSIBLE_PROPERTY_LABEL, leak, -1);
  gtk_widget_add_css_class (icon, "warning");
  adw_action_row_add_prefix (ADW_ACTION_ROW (row), icon);
  gtk_widget_set_tooltip_text (row, leak);
}

static void
recipe_panel_add_switch (VnRecipePanel    *self,
                         GtkWidget        *row,
                         const VnOverride *rule)
{
  GtkWidget *on = gtk_switch_new ();

  gtk_switch_set_active (GTK_SWITCH (on), rule->enabled);
  gtk_widget_set_valign (on, GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text (on, _("Whether This Rule Counts"));
  g_object_set_data (G_OBJECT (on), "vn-rule", g_object_get_data (G_OBJECT (row), "vn-rule"));
  g_signal_connect_swapped (on, "notify::active", G_CALLBACK (recipe_panel_switched), self);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), on);
}

static GtkWidget *
recipe_panel_make_row (VnRecipePanel    *self,
                       const VnOverride *rule,
                       guint             at)
{
  GtkWidget *row = adw_action_row_new ();
  VnModel *model = vn_document_get_model (self->document);
  g_autoptr(GtkBitset) nodes = model != NULL ? vn_rule_dup_nodes (rule, model->graph) : gtk_bitset_new_empty ();
  g_autofree char *subject = recipe_panel_describe_subject (self, rule, nodes);
  g_autofree char *reach = recipe_panel_describe_reach (rule, (guint) gtk_bitset_get_size (nodes));
  g_autofree char *whole = vn_rule_describe_subject (rule);

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), subject);
  adw_action_row_set_title_lines (ADW_ACTION_ROW (row), 1);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), reach);
  gtk_widget_set_tooltip_text (row, whole);
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), TRUE);
  g_object_set_data (G_OBJECT (row), "vn-rule", GUINT_TO_POINTER (at));
  recipe_panel_add_leak (self, row, rule);
  recipe_panel_add_switch (self, row, rule);
  if (at > 0)
    recipe_panel_add_button (self, row, "go-up-symbolic", _("Move Up"), G_CALLBACK (recipe_panel_moved));
  recipe_panel_add_button (self, row, "list-remove-symbolic", _("Remove This Rule"), G_CALLBACK (recipe_panel_removed));
  return row;
}

static gboolean
recipe_panel_rebuild (gpointer data)
{
  VnRecipePanel *self = data;
  const VnRecipe *recipe = vn_document_get_recipe (self->document);
  const VnPreset *preset = vn_preset_find (recipe->preset, NULL);
  g_autofree char *summary = g_markup_escape_text (preset != NULL ? _(preset->summary) : "", -1);
  GtkWidget *child;

  if (self->preset == NULL)   /* disposed of in the meantime */
    return G_SOURCE_REMOVE;
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->preset), preset != NULL ? _(preset->title) : "");
  adw_action_row_set_subtitle (self->preset, summary);
  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self->rules))) != NULL)
    gtk_list_box_remove (self->rules, child);
  for (guint i = 0; i < MIN (recipe->overrides->len, MAX_ROWS); i++)
    gtk_list_box_append (self->rules, recipe_panel_make_row (self, g_ptr_array_index (recipe->overrides, i), i));
  if (recipe->overrides->len == 0)
    gtk_list_box_append (self->rules, vn_row_new_wide (_("No rules"),
                                                       _("Set nodes to 16 bit or leave them in float to add some")));
  gtk_widget_set_visible (self->hint, recipe->overrides->len > 1);
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
  vn_runs_list_set_document (self->runs, document);
  recipe_panel_rebuild (self);
}

static void
vn_recipe_panel_finalize (GObject *object)
{
  g_clear_object (&VN_RECIPE_PANEL (object)->document);
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
  gtk_widget_init_template (GTK_WIDGET (self));
  g_signal_connect_swapped (self->rules, "row-activated", G_CALLBACK (recipe_panel_row_activated), self);
}
