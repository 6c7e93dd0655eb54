/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vn-recipe-panel.h"

#include "vn-i18n.h"
#include "vn-node-item.h"
#include "vn-rows.h"

#define MAX_ROWS 200

struct _VnRecipePanel
{
  AdwBin        parent_instance;

  VnDocument   *document;

  AdwActionRow *preset;
  GtkListBox   *rules;
  GtkWidget    *hint;
};

G_DEFINE_FINAL_TYPE (VnRecipePanel, vn_recipe_panel, ADW_TYPE_BIN)

static guint
get_rule (gpointer row)
{
  return GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (row), "vn-rule"));
}

static GtkBitset *
find_nodes (VnRecipePanel    *self,
            const VnOverride *rule)
{
  GListModel *nodes = vn_document_get_nodes (self->document);
  GtkBitset *found = gtk_bitset_new_empty ();

  for (guint i = 0; rule->pattern != NULL && i < g_list_model_get_n_items (nodes); i++)
    {
      g_autoptr(VnNodeItem) item = g_list_model_get_item (nodes, i);

      if (vn_override_matches (rule, item->node))
        gtk_bitset_add (found, i);
    }
  return found;
}

static void
switched (VnRecipePanel *self,
          GParamSpec    *pspec,
          GtkSwitch     *button)
{
  VnRecipe *recipe = vn_recipe_copy (vn_document_get_recipe (self->document));
  VnOverride *rule = g_ptr_array_index (recipe->overrides, get_rule (button));

  rule->enabled = gtk_switch_get_active (button);
  vn_document_edit_recipe (self->document, recipe, rule->enabled ? _("Rule switched on") : _("Rule switched off"));
}

static void
removed (VnRecipePanel *self,
         GtkButton     *button)
{
  VnRecipe *recipe = vn_recipe_copy (vn_document_get_recipe (self->document));

  g_ptr_array_remove_index (recipe->overrides, get_rule (button));
  vn_document_edit_recipe (self->document, recipe, _("Rule removed"));
}

/* A click shows what a rule is about. */
static void
row_activated (VnRecipePanel *self,
               GtkListBoxRow *row)
{
  const VnRecipe *recipe = vn_document_get_recipe (self->document);
  guint at = get_rule (row);
  g_autoptr(GtkBitset) nodes = NULL;

  if (at >= recipe->overrides->len)
    return;
  nodes = find_nodes (self, g_ptr_array_index (recipe->overrides, at));
  vn_document_select (self->document, nodes);
  gtk_widget_activate_action (GTK_WIDGET (self), "win.show-in-graph", NULL);
}

static char *
describe_effect (const VnOverride *rule)
{
  g_autoptr(GString) text = g_string_new (NULL);

  if (rule->exclude)
    return g_strdup (_("float"));
  if (rule->activation != VN_DTYPE_UNDEFINED)
    g_string_append (text, vn_dtype_get_name (rule->activation));
  if (rule->weight != VN_DTYPE_UNDEFINED)
    g_string_append_printf (text, _(" weights %s"), vn_dtype_get_name (rule->weight));
  if (rule->method != NULL)
    g_string_append_printf (text, " %s", rule->method);
  return g_strdup (g_strstrip (text->str));
}

static char *
describe_subject (VnRecipePanel    *self,
                  const VnOverride *rule,
                  GtkBitset        *nodes)
{
  g_autoptr(VnNodeItem) item = NULL;

  if (rule->pattern == NULL)
    return g_strdup (_("Part of the network"));
  if (gtk_bitset_get_size (nodes) != 1)
    return g_strdup (rule->pattern);
  item = g_list_model_get_item (vn_document_get_nodes (self->document), gtk_bitset_get_minimum (nodes));
  return g_strdup (item->name);
}

static GtkWidget *
make_row (VnRecipePanel    *self,
          const VnOverride *rule,
          guint             at)
{
  GtkWidget *row = adw_action_row_new ();
  GtkWidget *on = gtk_switch_new ();
  GtkWidget *remove = gtk_button_new_from_icon_name ("list-remove-symbolic");
  g_autoptr(GtkBitset) nodes = find_nodes (self, rule);
  guint n = (guint) gtk_bitset_get_size (nodes);
  g_autofree char *subject = describe_subject (self, rule, nodes);
  g_autofree char *effect = describe_effect (rule);
  g_autofree char *count = n > 0 || rule->pattern == NULL
                           ? g_strdup_printf (ngettext ("→ %s · %u node", "→ %s · %u nodes", n), effect, n)
                           : g_strdup_printf (_("→ %s · matches no node"), effect);

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), subject);
  adw_action_row_set_title_lines (ADW_ACTION_ROW (row), 1);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), count);
  gtk_widget_set_tooltip_text (row, rule->pattern);
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), TRUE);
  gtk_switch_set_active (GTK_SWITCH (on), rule->enabled);
  gtk_widget_set_valign (on, GTK_ALIGN_CENTER);
  gtk_widget_set_valign (remove, GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text (remove, _("Remove This Rule"));
  gtk_widget_set_tooltip_text (on, _("Whether This Rule Counts"));
  gtk_widget_add_css_class (remove, "flat");
  g_object_set_data (G_OBJECT (row), "vn-rule", GUINT_TO_POINTER (at));
  g_object_set_data (G_OBJECT (on), "vn-rule", GUINT_TO_POINTER (at));
  g_object_set_data (G_OBJECT (remove), "vn-rule", GUINT_TO_POINTER (at));
  g_signal_connect_swapped (on, "notify::active", G_CALLBACK (switched), self);
  g_signal_connect_swapped (remove, "clicked", G_CALLBACK (removed), self);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), on);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), remove);
  return row;
}

static gboolean
rebuild (gpointer data)
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
    gtk_list_box_append (self->rules, make_row (self, g_ptr_array_index (recipe->overrides, i), i));
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
  g_idle_add_full (G_PRIORITY_DEFAULT, rebuild, g_object_ref (self), g_object_unref);
}

/**
 * vn_recipe_panel_set_document:
 */
void
vn_recipe_panel_set_document (VnRecipePanel *self,
                              VnDocument    *document)
{
  self->document = g_object_ref (document);
  g_signal_connect_object (document, "recipe-changed", G_CALLBACK (recipe_changed), self, G_CONNECT_SWAPPED);
  rebuild (self);
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
  gtk_widget_class_set_template_from_resource (widget_class, "/io/github/vernier/Vernier/vn-recipe-panel.ui");
  gtk_widget_class_bind_template_child (widget_class, VnRecipePanel, preset);
  gtk_widget_class_bind_template_child (widget_class, VnRecipePanel, rules);
  gtk_widget_class_bind_template_child (widget_class, VnRecipePanel, hint);
}

static void
vn_recipe_panel_init (VnRecipePanel *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  g_signal_connect_swapped (self->rules, "row-activated", G_CALLBACK (row_activated), self);
}
