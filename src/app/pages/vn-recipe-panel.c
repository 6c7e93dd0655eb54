/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The panel with the rules of the recipe: their order, names and switches, by mouse and keyboard; and the runs. */
#include "vn-recipe-panel.h"

#include "vn-i18n.h"
#include "vn-node-set.h"
#include "vn-rows.h"
#include "vn-rule-gains.h"
#include "vn-rule-groups.h"
#include "vn-rule-row.h"
#include "vn-rules.h"
#include "vn-runs-list.h"

#define MAX_ROWS 200
#define NO_ROW G_MAXUINT

struct _VnRecipePanel
{
  AdwBin        parent_instance;

  VnDocument   *document;
  GPtrArray    *groups;      /* of VnRuleGroup: what the rows show */
  guint         rebuild;     /* idle source */
  gboolean      busy;        /* rows come and go: the keyboard is on none of them on purpose */
  guint         focus_at;    /* the row that is to have the keyboard when the rows are there again, or NO_ROW */
  GtkWidget    *entry;       /* (nullable): stands in place of the row that is being renamed */
  guint         entry_at;

  AdwActionRow *preset;
  GtkListBox   *rules;
  GtkWidget    *hint;
  VnRunsList   *runs;
};

G_DEFINE_FINAL_TYPE (VnRecipePanel, vn_recipe_panel, ADW_TYPE_BIN)

static GParamSpec *recipe_panel_n_rules;

static const VnRuleGroup *
recipe_panel_get_group (VnRecipePanel *self,
                        guint          at)
{
  return self->groups != NULL && at < self->groups->len ? g_ptr_array_index (self->groups, at) : NULL;
}

static void
recipe_panel_focus_row (VnRecipePanel *self,
                        guint          at)
{
  GtkListBoxRow *row = gtk_list_box_get_row_at_index (self->rules, (int) at);

  if (row != NULL)
    gtk_widget_grab_focus (GTK_WIDGET (row));
}

/* ---- order ---- */

/* Before the row @before, or behind all; the keyboard goes with it. */
static void
recipe_panel_move_to (VnRecipePanel *self,
                      guint          at,
                      guint          before)
{
  const VnRuleGroup *group = recipe_panel_get_group (self, at), *other = recipe_panel_get_group (self, before);

  if (group == NULL || before == at || before == at + 1)
    return;
  self->focus_at = before > at ? before - 1 : before;
  vn_bench_move_rules (VN_BENCH (self->document), group->first, group->n,
                          other != NULL ? other->first : vn_bench_get_recipe (VN_BENCH (self->document))->overrides->len);
}

/* Which row a dragged one would come before. */
static guint
recipe_panel_find_place (VnRecipePanel *self,
                         double         y)
{
  GtkListBoxRow *row = gtk_list_box_get_row_at_y (self->rules, (int) y);
  graphene_rect_t bounds;

  if (row == NULL || !VN_IS_RULE_ROW (row) || !gtk_widget_compute_bounds (GTK_WIDGET (row), GTK_WIDGET (self->rules), &bounds))
    return self->groups->len;
  return vn_rule_row_get_at (VN_RULE_ROW (row)) + (y > (double) (bounds.origin.y + bounds.size.height / 2));
}

/* A line between the rows shows it; NO_ROW: none. */
static void
recipe_panel_show_place (VnRecipePanel *self,
                         guint          before)
{
  GtkListBoxRow *row;

  for (guint i = 0; (row = gtk_list_box_get_row_at_index (self->rules, (int) i)) != NULL; i++)
    {
      gtk_widget_remove_css_class (GTK_WIDGET (row), "drop-above");
      gtk_widget_remove_css_class (GTK_WIDGET (row), "drop-below");
      if (i == before)
        gtk_widget_add_css_class (GTK_WIDGET (row), "drop-above");
      else if (i + 1 == before && before == self->groups->len)
        gtk_widget_add_css_class (GTK_WIDGET (row), "drop-below");
    }
}

static GdkDragAction
recipe_panel_drag_moved (VnRecipePanel *self,
                         double         x,
                         double         y)
{
  recipe_panel_show_place (self, recipe_panel_find_place (self, y));
  return GDK_ACTION_MOVE;
}

static void
recipe_panel_drag_left (VnRecipePanel *self)
{
  recipe_panel_show_place (self, NO_ROW);
}

static gboolean
recipe_panel_dropped (VnRecipePanel *self,
                      const GValue  *value,
                      double         x,
                      double         y)
{
  GtkWidget *row = g_value_get_object (value);

  recipe_panel_show_place (self, NO_ROW);
  if (row == NULL || gtk_widget_get_parent (row) != GTK_WIDGET (self->rules))   /* of another window */
    return FALSE;
  recipe_panel_move_to (self, vn_rule_row_get_at (VN_RULE_ROW (row)), recipe_panel_find_place (self, y));
  return TRUE;
}

/* ---- names ---- */

static void recipe_panel_schedule (VnRecipePanel *self);

/* Without a change the rule keeps the name that it has, or none. */
static void
recipe_panel_end_rename (VnRecipePanel *self,
                         gboolean       takes)
{
  GtkWidget *entry = self->entry;
  const VnRuleGroup *group = recipe_panel_get_group (self, self->entry_at);
  g_autofree char *name = NULL;

  if (entry == NULL)
    return;
  self->entry = NULL;
  self->focus_at = self->entry_at;
  name = g_strdup (gtk_editable_get_text (GTK_EDITABLE (entry)));
  if (takes && group != NULL && !g_str_equal (name, group->title))
    vn_bench_rename_rules (VN_BENCH (self->document), group->first, group->n, name);
  recipe_panel_schedule (self);
}

static void
recipe_panel_entered (VnRecipePanel *self)
{
  recipe_panel_end_rename (self, TRUE);
}

static gboolean
recipe_panel_entry_pressed (VnRecipePanel *self,
                            guint          keyval)
{
  if (keyval != GDK_KEY_Escape)
    return GDK_EVENT_PROPAGATE;
  recipe_panel_end_rename (self, FALSE);
  return GDK_EVENT_STOP;
}

static GtkWidget *
recipe_panel_make_entry (VnRecipePanel *self,
                         const char    *title)
{
  GtkWidget *entry = adw_entry_row_new ();
  GtkEventController *keys = gtk_event_controller_key_new ();

  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (entry), _("Name of the Rule"));
  gtk_editable_set_text (GTK_EDITABLE (entry), title);
  adw_entry_row_set_show_apply_button (ADW_ENTRY_ROW (entry), TRUE);
  gtk_event_controller_set_propagation_phase (keys, GTK_PHASE_CAPTURE);
  g_signal_connect_swapped (keys, "key-pressed", G_CALLBACK (recipe_panel_entry_pressed), self);
  gtk_widget_add_controller (entry, keys);
  g_signal_connect_swapped (entry, "apply", G_CALLBACK (recipe_panel_entered), self);
  g_signal_connect_swapped (entry, "entry-activated", G_CALLBACK (recipe_panel_entered), self);
  return entry;
}

/* In place: the row becomes an entry. */
static void
recipe_panel_rename (VnRecipePanel *self,
                     guint          at)
{
  const VnRuleGroup *group = recipe_panel_get_group (self, at);
  GtkListBoxRow *row = gtk_list_box_get_row_at_index (self->rules, (int) at);

  if (group == NULL || row == NULL || self->entry != NULL)
    return;
  self->entry = recipe_panel_make_entry (self, group->title);
  self->entry_at = at;
  self->busy = TRUE;
  gtk_list_box_remove (self->rules, GTK_WIDGET (row));
  gtk_list_box_insert (self->rules, self->entry, (int) at);
  gtk_widget_grab_focus (self->entry);
  gtk_editable_select_region (GTK_EDITABLE (self->entry), 0, -1);
  self->busy = FALSE;
}

/* ---- what else can be done with a rule ---- */

static void
recipe_panel_select (VnRecipePanel     *self,
                     const VnRuleGroup *group)
{
  g_autoptr(GtkBitset) nodes = vn_node_set_new (group->nodes);

  if (vn_bench_get_model (VN_BENCH (self->document)) != NULL)
    vn_document_select (self->document, nodes);
}

static void
recipe_panel_show (VnRecipePanel     *self,
                   const VnRuleGroup *group)
{
  if (vn_bench_get_model (VN_BENCH (self->document)) == NULL)
    return;
  recipe_panel_select (self, group);
  gtk_widget_activate_action (GTK_WIDGET (self), "win.show-in-graph", NULL);
}

/* The row vanishes: not while it handles what it was asked by. */
static gboolean
recipe_panel_rename_later (gpointer data)
{
  VnRecipePanel *self = data;

  if (self->rules != NULL)
    recipe_panel_rename (self, self->focus_at);
  self->focus_at = NO_ROW;
  return G_SOURCE_REMOVE;
}

static void
recipe_panel_commanded (VnRecipePanel *self,
                        const char    *command,
                        VnRuleRow     *row)
{
  guint at = vn_rule_row_get_at (row);
  const VnRuleGroup *group = recipe_panel_get_group (self, at);

  if (group == NULL || self->busy)
    return;
  if (g_str_equal (command, "light"))
    {
      recipe_panel_select (self, group);
      return;
    }
  self->focus_at = at;
  if (g_str_equal (command, "rename"))
    g_idle_add_full (G_PRIORITY_DEFAULT, recipe_panel_rename_later, g_object_ref (self), g_object_unref);
  else if (g_str_equal (command, "up"))
    recipe_panel_move_to (self, at, at - 1);
  else if (g_str_equal (command, "down"))
    recipe_panel_move_to (self, at, at + 2);
  else if (g_str_equal (command, "toggle"))
    vn_bench_enable_rules (VN_BENCH (self->document), group->first, group->n, !group->enabled);
  else if (g_str_equal (command, "delete"))
    vn_bench_remove_rules (VN_BENCH (self->document), group->first, group->n);
  else
    {
      self->focus_at = NO_ROW;
      recipe_panel_show (self, group);
    }
}

/* A click shows what a rule is about. */
static void
recipe_panel_row_activated (VnRecipePanel *self,
                            GtkListBoxRow *row)
{
  const VnRuleGroup *group = VN_IS_RULE_ROW (row) ? recipe_panel_get_group (self, vn_rule_row_get_at (VN_RULE_ROW (row))) : NULL;

  if (group != NULL)
    recipe_panel_show (self, group);
}

/* ---- rows ---- */

/* A tensor may be one that only preparing the network makes. */
static void
recipe_panel_look_for_tensors (VnRecipePanel  *self,
                               const VnRecipe *recipe)
{
  VnRun *result = vn_bench_get_shown (VN_BENCH (self->document));

  for (guint i = 0; result != NULL && result->prepared != NULL && i < self->groups->len; i++)
    {
      VnRuleGroup *group = g_ptr_array_index (self->groups, i);
      const VnOverride *rule = g_ptr_array_index (recipe->overrides, group->first);

      if (group->n_matched == 0 && rule->tensors != NULL)
        group->n_matched = vn_rule_count_tensors (rule, result->prepared->graph);
    }
}

static void
recipe_panel_list (VnRecipePanel  *self,
                   const VnRecipe *recipe)
{
  g_clear_pointer (&self->groups, g_ptr_array_unref);
  self->groups = vn_rule_groups_list (recipe, vn_bench_get_model (VN_BENCH (self->document)));
  recipe_panel_look_for_tensors (self, recipe);
}

static void
recipe_panel_fill (VnRecipePanel  *self,
                   const VnRecipe *recipe)
{
  g_autoptr(VnRuleGains) gains = self->groups->len > 0 ? vn_rule_gains_new (VN_BENCH (self->document)) : NULL;

  for (guint i = 0; i < MIN (self->groups->len, MAX_ROWS); i++)
    {
      const VnRuleGroup *group = g_ptr_array_index (self->groups, i);
      GtkWidget *row = vn_rule_row_new (self->document, group, i, self->groups->len,
                                        vn_rule_gains_find (gains, recipe, group->first, group->n));

      g_signal_connect_swapped (row, "command", G_CALLBACK (recipe_panel_commanded), self);
      gtk_list_box_append (self->rules, row);
    }
  if (self->groups->len == 0)
    gtk_list_box_append (self->rules, vn_row_new_wide (_("No rules"),
                                                       _("To add rules, set nodes to 16-bit or leave them in float")));
  gtk_widget_set_visible (self->hint, self->groups->len > 1);
}

/* The row that has the keyboard, or NO_ROW. */
static guint
recipe_panel_find_focused (VnRecipePanel *self)
{
  GtkRoot *root = gtk_widget_get_root (GTK_WIDGET (self));
  GtkWidget *focus = root != NULL ? gtk_root_get_focus (root) : NULL;
  GtkWidget *row = focus != NULL && gtk_widget_is_ancestor (focus, GTK_WIDGET (self->rules))
                 ? gtk_widget_get_focus_child (GTK_WIDGET (self->rules)) : NULL;

  return row != NULL ? (guint) gtk_list_box_row_get_index (GTK_LIST_BOX_ROW (row)) : NO_ROW;
}

/* A row that had the keyboard, or the one that moved, has it again. */
static void
recipe_panel_build_rows (VnRecipePanel *self)
{
  const VnRecipe *recipe = vn_bench_get_recipe (VN_BENCH (self->document));
  guint at = self->focus_at != NO_ROW ? self->focus_at : recipe_panel_find_focused (self);

  self->busy = TRUE;
  self->focus_at = NO_ROW;
  vn_list_box_clear (self->rules);
  recipe_panel_list (self, recipe);
  recipe_panel_fill (self, recipe);
  if (at != NO_ROW && self->groups->len > 0)
    recipe_panel_focus_row (self, MIN (at, self->groups->len - 1));
  self->busy = FALSE;
  g_object_notify_by_pspec (G_OBJECT (self), recipe_panel_n_rules);
}

static gboolean
recipe_panel_build (gpointer data)
{
  VnRecipePanel *self = data;
  const VnPreset *preset = vn_preset_find (vn_bench_get_recipe (VN_BENCH (self->document))->preset, NULL);

  self->rebuild = 0;
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->preset), preset != NULL ? _(preset->title) : "");
  adw_action_row_set_subtitle (self->preset, preset != NULL ? _(preset->summary) : "");
  if (self->entry == NULL)
    recipe_panel_build_rows (self);
  return G_SOURCE_REMOVE;
}

/* Not at once: the row whose switch or button this comes from must not vanish below it. */
static void
recipe_panel_schedule (VnRecipePanel *self)
{
  if (self->rebuild == 0)
    self->rebuild = g_idle_add_full (G_PRIORITY_DEFAULT, recipe_panel_build, self, NULL);
}

/* Whoever is typing a name goes on, unless the rule may be another one by now. */
static void
recipe_panel_recipe_changed (VnRecipePanel *self)
{
  self->entry = NULL;
  recipe_panel_schedule (self);
}

/**
 * vn_recipe_panel_rename_selected:
 *
 * Begins to rename the last rule that is about all selected nodes; the panel can be seen.
 *
 * Returns: %FALSE if there is none
 */
gboolean
vn_recipe_panel_rename_selected (VnRecipePanel *self)
{
  GtkBitset *selection;

  g_return_val_if_fail (VN_IS_RECIPE_PANEL (self), FALSE);

  selection = vn_document_get_selection (self->document);
  if (gtk_bitset_is_empty (selection))
    return FALSE;
  if (self->rebuild != 0)
    {
      g_clear_handle_id (&self->rebuild, g_source_remove);
      recipe_panel_build (self);
    }
  for (guint i = MIN (self->groups->len, MAX_ROWS); i > 0; i--)
    {
      g_autoptr(GtkBitset) outside = gtk_bitset_copy (selection),
      nodes = vn_node_set_new (recipe_panel_get_group (self, i - 1)->nodes);

      gtk_bitset_subtract (outside, nodes);
      if (!gtk_bitset_is_empty (outside))
        continue;
      recipe_panel_rename (self, i - 1);
      return TRUE;
    }
  return FALSE;
}

/**
 * vn_recipe_panel_set_document:
 */
void
vn_recipe_panel_set_document (VnRecipePanel *self,
                              VnDocument    *document)
{
  static const char * const signals[] = { "changed::run", "changed::runs", "changed::expected" };

  g_return_if_fail (VN_IS_RECIPE_PANEL (self));
  g_return_if_fail (VN_IS_DOCUMENT (document));

  self->document = g_object_ref (document);
  g_signal_connect_object (document, "changed::recipe", G_CALLBACK (recipe_panel_recipe_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "changed::model", G_CALLBACK (recipe_panel_recipe_changed), self, G_CONNECT_SWAPPED);
  for (guint i = 0; i < G_N_ELEMENTS (signals); i++)
    g_signal_connect_object (document, signals[i], G_CALLBACK (recipe_panel_schedule), self, G_CONNECT_SWAPPED);
  vn_runs_list_set_document (self->runs, document);
  recipe_panel_build (self);
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
  g_clear_handle_id (&VN_RECIPE_PANEL (object)->rebuild, g_source_remove);
  VN_RECIPE_PANEL (object)->busy = TRUE;
  gtk_widget_dispose_template (GTK_WIDGET (object), VN_TYPE_RECIPE_PANEL);
  G_OBJECT_CLASS (vn_recipe_panel_parent_class)->dispose (object);
}

static void
vn_recipe_panel_get_property (GObject    *object,
                              guint       id,
                              GValue     *value,
                              GParamSpec *pspec)
{
  VnRecipePanel *self = VN_RECIPE_PANEL (object);

  g_value_set_uint (value, self->groups != NULL ? self->groups->len : 0);
}

static void
vn_recipe_panel_class_init (VnRecipePanelClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->get_property = vn_recipe_panel_get_property;
  G_OBJECT_CLASS (klass)->dispose = vn_recipe_panel_dispose;
  G_OBJECT_CLASS (klass)->finalize = vn_recipe_panel_finalize;
  g_type_ensure (VN_TYPE_RUNS_LIST);
  gtk_widget_class_set_template_from_resource (widget_class, "/io/github/vernier/Vernier/vn-recipe-panel.ui");
  gtk_widget_class_bind_template_child (widget_class, VnRecipePanel, preset);
  gtk_widget_class_bind_template_child (widget_class, VnRecipePanel, rules);
  gtk_widget_class_bind_template_child (widget_class, VnRecipePanel, hint);
  gtk_widget_class_bind_template_child (widget_class, VnRecipePanel, runs);
  recipe_panel_n_rules = g_param_spec_uint ("n-rules", NULL, NULL, 0, G_MAXUINT, 0, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_property (G_OBJECT_CLASS (klass), 1, recipe_panel_n_rules);
}

static void
vn_recipe_panel_init (VnRecipePanel *self)
{
  GtkDropTarget *target = gtk_drop_target_new (VN_TYPE_RULE_ROW, GDK_ACTION_MOVE);

  self->focus_at = NO_ROW;
  gtk_widget_init_template (GTK_WIDGET (self));
  g_signal_connect_swapped (self->rules, "row-activated", G_CALLBACK (recipe_panel_row_activated), self);
  g_signal_connect_swapped (target, "enter", G_CALLBACK (recipe_panel_drag_moved), self);
  g_signal_connect_swapped (target, "motion", G_CALLBACK (recipe_panel_drag_moved), self);
  g_signal_connect_swapped (target, "leave", G_CALLBACK (recipe_panel_drag_left), self);
  g_signal_connect_swapped (target, "drop", G_CALLBACK (recipe_panel_dropped), self);
  gtk_widget_add_controller (GTK_WIDGET (self->rules), GTK_EVENT_CONTROLLER (target));
}
