/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The row of a rule: what it is called, says and gained, and all that can be done with it by mouse and keyboard. */
#include "vn-rule-row.h"

#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-leak-row.h"
#include "vn-rows.h"
#include "vn-rules.h"

#include <math.h>

#define MAX_LEAKS 6
#define LEAST_DB 0.05     /* is shown as more than nothing */

struct _VnRuleRow
{
  AdwActionRow        parent_instance;

  guint               at;
  GSimpleActionGroup *actions;
};

G_DEFINE_FINAL_TYPE (VnRuleRow, vn_rule_row, ADW_TYPE_ACTION_ROW)

static guint rule_row_command;

/* What can be done with a rule: a line of its menu, and its keys. */
static const struct
{
  const char      *id, *title, *accel;
  guint            section, keyval;
  GdkModifierType  modifiers;
} commands[] = {
  { "rename", N_("Re_name"),        "F2",        0, GDK_KEY_F2,     0 },
  { "up",     N_("Move _Up"),       "<alt>Up",   1, GDK_KEY_Up,     GDK_ALT_MASK },
  { "down",   N_("Move _Down"),     "<alt>Down", 1, GDK_KEY_Down,   GDK_ALT_MASK },
  { "show",   N_("_Show in Graph"), NULL,        2, 0,              0 },
  { "toggle", N_("_Turn Off"),      NULL,        2, 0,              0 },
  { "delete", N_("_Delete"),        "Delete",    3, GDK_KEY_Delete, 0 },
};

/* ---- commands ---- */

static void
rule_row_ask (VnRuleRow  *self,
              const char *command)
{
  g_signal_emit (self, rule_row_command, 0, command);
}

static void
rule_row_activated (GSimpleAction *action,
                    GVariant      *parameter,
                    gpointer       self)
{
  rule_row_ask (self, g_action_get_name (G_ACTION (action)));
}

static void
rule_row_add_actions (VnRuleRow *self,
                      guint      n_rows)
{
  self->actions = g_simple_action_group_new ();
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    {
      g_autoptr(GSimpleAction) action = g_simple_action_new (commands[i].id, NULL);

      if (g_str_equal (commands[i].id, "up"))
        g_simple_action_set_enabled (action, self->at > 0);
      else if (g_str_equal (commands[i].id, "down"))
        g_simple_action_set_enabled (action, self->at + 1 < n_rows);
      g_signal_connect (action, "activate", G_CALLBACK (rule_row_activated), self);
      g_action_map_add_action (G_ACTION_MAP (self->actions), G_ACTION (action));
    }
  gtk_widget_insert_action_group (GTK_WIDGET (self), "rule", G_ACTION_GROUP (self->actions));
}

static gboolean
rule_row_pressed (VnRuleRow       *self,
                  guint            keyval,
                  guint            keycode,
                  GdkModifierType  state)
{
  state &= GDK_SHIFT_MASK | GDK_CONTROL_MASK | GDK_ALT_MASK;
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    if (commands[i].keyval != 0 && commands[i].keyval == keyval && commands[i].modifiers == state)
      {
        g_action_group_activate_action (G_ACTION_GROUP (self->actions), commands[i].id, NULL);
        return GDK_EVENT_STOP;
      }
  return GDK_EVENT_PROPAGATE;
}

/* A switch or button in it may have the keyboard without that. */
static void
rule_row_focused (GtkEventControllerFocus *focus,
                  GParamSpec              *pspec,
                  VnRuleRow               *self)
{
  if (gtk_event_controller_focus_is_focus (focus))
    rule_row_ask (self, "light");
}

static void
rule_row_switched (VnRuleRow *self)
{
  rule_row_ask (self, "toggle");
}

/* ---- dragging ---- */

static GdkContentProvider *
rule_row_drag_prepare (VnRuleRow *self)
{
  return gdk_content_provider_new_typed (VN_TYPE_RULE_ROW, self);
}

static void
rule_row_drag_begin (VnRuleRow     *self,
                     GdkDrag       *drag,
                     GtkDragSource *source)
{
  g_autoptr(GdkPaintable) picture = gtk_widget_paintable_new (GTK_WIDGET (self));

  gtk_drag_source_set_icon (source, picture, 0, 0);
  gtk_widget_add_css_class (GTK_WIDGET (self), "dragged");
}

static void
rule_row_drag_end (VnRuleRow *self)
{
  gtk_widget_remove_css_class (GTK_WIDGET (self), "dragged");
}

static void
rule_row_add_grip (VnRuleRow *self)
{
  GtkWidget *grip = gtk_image_new_from_icon_name ("list-drag-handle-symbolic");
  GtkDragSource *source = gtk_drag_source_new ();

  gtk_drag_source_set_actions (source, GDK_ACTION_MOVE);
  g_signal_connect_swapped (source, "prepare", G_CALLBACK (rule_row_drag_prepare), self);
  g_signal_connect_swapped (source, "drag-begin", G_CALLBACK (rule_row_drag_begin), self);
  g_signal_connect_swapped (source, "drag-end", G_CALLBACK (rule_row_drag_end), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (source));
  gtk_widget_set_tooltip_text (grip, _("Drag to change the order, or press Alt+Up and Alt+Down"));
  gtk_widget_add_css_class (grip, "dim-label");
  adw_action_row_add_prefix (ADW_ACTION_ROW (self), grip);
}

/* ---- what it tells ---- */

static char *
rule_row_describe_reach (const VnRuleGroup *group,
                         const VnOverride  *rule)
{
  guint n = group->n_matched;

  if (rule->tensors != NULL)
    return n == 0 ? g_strdup (_("matches no tensor")) : g_strdup_printf (ngettext ("%u tensor", "%u tensors", n), n);
  return n == 0 ? g_strdup (_("matches no node")) : g_strdup_printf (ngettext ("%u node", "%u nodes", n), n);
}

static char *
rule_row_describe_db (double db)
{
  return fabs (db) < LEAST_DB ? g_strdup (_("no gain")) : vn_format_signed_db (db);
}

/* What came of it, or is expected to; NULL: nobody knows. */
static char *
rule_row_describe_gain (const VnRuleGain *gain)
{
  g_autofree char *db = NULL, *size = NULL, *text = NULL;

  if (gain == NULL)
    return NULL;
  db = rule_row_describe_db (gain->db);
  size = vn_format_bytes ((guint64) ABS (gain->bytes));
  text = gain->bytes == 0 ? g_strdup (db) : g_strdup_printf (gain->bytes > 0 ? "%s · +%s" : "%s · −%s", db, size);
  return gain->is_expected ? g_strdup_printf (_("%s (estimated)"), text) : g_steal_pointer (&text);
}

static char *
rule_row_describe (const VnRuleGroup *group,
                   const VnOverride  *rule,
                   const VnRuleGain  *gain)
{
  g_autofree char *effect = vn_override_dup_effect (rule), *reach = rule_row_describe_reach (group, rule);
  g_autofree char *gained = rule_row_describe_gain (gain);

  if (gained == NULL)
    return g_strdup_printf ("%s · %s", effect, reach);
  return g_strdup_printf ("%s · %s\n%s", effect, reach, gained);
}

/* ---- leaks ---- */

/* The leaks of a rule, each with its button; or why there is no region. */
static GtkWidget *
rule_row_make_leaks (const VnOverride *rule,
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
rule_row_add_leak (VnRuleRow        *self,
                   const VnOverride *rule,
                   guint             number,
                   const VnGraph    *graph)
{
  g_autofree char *leak = vn_rule_describe_leak (rule, graph);
  GtkWidget *icon;

  if (leak == NULL)
    return;
  icon = gtk_menu_button_new ();
  gtk_menu_button_set_icon_name (GTK_MENU_BUTTON (icon), "dialog-warning-symbolic");
  gtk_menu_button_set_popover (GTK_MENU_BUTTON (icon), rule_row_make_leaks (rule, number, graph, leak));
  gtk_widget_set_valign (icon, GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text (icon, leak);
  gtk_accessible_update_property (GTK_ACCESSIBLE (icon), GTK_ACCESSIBLE_PROPERTY_LABEL, leak, -1);
  gtk_widget_add_css_class (icon, "warning");
  gtk_widget_add_css_class (icon, "flat");
  adw_action_row_add_prefix (ADW_ACTION_ROW (self), icon);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self), leak);
}

/* ---- switch and menu ---- */

static void
rule_row_add_switch (VnRuleRow *self,
                     gboolean   enabled)
{
  GtkWidget *on = gtk_switch_new ();

  gtk_switch_set_active (GTK_SWITCH (on), enabled);
  gtk_widget_set_valign (on, GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text (on, _("Enable or Disable This Rule"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (on), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Enable or Disable This Rule"), -1);
  g_signal_connect_swapped (on, "notify::active", G_CALLBACK (rule_row_switched), self);
  adw_action_row_add_suffix (ADW_ACTION_ROW (self), on);
}

static GMenuModel *
rule_row_make_menu (gboolean enabled)
{
  GMenu *menu = g_menu_new ();
  g_autoptr(GMenu) section = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    {
      gboolean turns_on = !enabled && g_str_equal (commands[i].id, "toggle");
      g_autofree char *action = g_strconcat ("rule.", commands[i].id, NULL);
      g_autoptr(GMenuItem) item = g_menu_item_new (turns_on ? _("_Turn On") : _(commands[i].title), action);

      if (i == 0 || commands[i].section != commands[i - 1].section)
        {
          g_clear_object (&section);
          section = g_menu_new ();
          g_menu_append_section (menu, NULL, G_MENU_MODEL (section));
        }
      if (commands[i].accel != NULL)
        g_menu_item_set_attribute (item, "accel", "s", commands[i].accel);
      g_menu_append_item (section, item);
    }
  return G_MENU_MODEL (menu);
}

static void
rule_row_add_menu (VnRuleRow *self,
                   gboolean   enabled)
{
  g_autoptr(GMenuModel) menu = rule_row_make_menu (enabled);
  GtkWidget *button = gtk_menu_button_new ();

  gtk_menu_button_set_menu_model (GTK_MENU_BUTTON (button), menu);
  gtk_menu_button_set_icon_name (GTK_MENU_BUTTON (button), "view-more-symbolic");
  gtk_widget_set_tooltip_text (button, _("More About This Rule"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, _("More About This Rule"), -1);
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class (button, "flat");
  adw_action_row_add_suffix (ADW_ACTION_ROW (self), button);
}

/* ---- the row ---- */

static void
rule_row_fill (VnRuleRow         *self,
               const VnRuleGroup *group,
               const VnOverride  *rule,
               const VnRuleGain  *gain)
{
  g_autofree char *text = rule_row_describe (group, rule, gain);

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (self), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self), group->title);
  adw_action_row_set_title_lines (ADW_ACTION_ROW (self), 3);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (self), text);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self), group->title);
  gtk_widget_add_css_class (GTK_WIDGET (self), "rule");
  if (group->n_matched == 0)
    gtk_widget_add_css_class (GTK_WIDGET (self), "matches-nothing");
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (self), TRUE);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, group->title,
                                  GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text, -1);
}

/**
 * vn_rule_row_new:
 * @at: which of @n_rows it is
 * @gain: what is known of what the rule gained
 *
 * Returns: the row of @group, of the present recipe of @document
 */
GtkWidget *
vn_rule_row_new (VnDocument        *document,
                 const VnRuleGroup *group,
                 guint              at,
                 guint              n_rows,
                 const VnRuleGain  *gain)
{
  VnRuleRow *self;
  VnModel *model;
  const VnOverride *rule;

  g_return_val_if_fail (VN_IS_DOCUMENT (document) && group != NULL && at < n_rows, NULL);

  self = g_object_new (VN_TYPE_RULE_ROW, NULL);
  model = vn_bench_get_model (VN_BENCH (document));
  rule = g_ptr_array_index (vn_bench_get_recipe (VN_BENCH (document))->overrides, group->first);
  self->at = at;
  rule_row_add_actions (self, n_rows);
  rule_row_fill (self, group, rule, gain);
  if (model != NULL)
    rule_row_add_leak (self, rule, group->first, model->graph);
  if (n_rows > 1)
    rule_row_add_grip (self);
  rule_row_add_switch (self, group->enabled);
  rule_row_add_menu (self, group->enabled);
  return GTK_WIDGET (self);
}

/**
 * vn_rule_row_get_at:
 *
 * Returns: which of the rows it is
 */
guint
vn_rule_row_get_at (VnRuleRow *self)
{
  g_return_val_if_fail (VN_IS_RULE_ROW (self), 0);

  return self->at;
}

static void
vn_rule_row_dispose (GObject *object)
{
  g_clear_object (&VN_RULE_ROW (object)->actions);
  G_OBJECT_CLASS (vn_rule_row_parent_class)->dispose (object);
}

static void
vn_rule_row_class_init (VnRuleRowClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = vn_rule_row_dispose;
  rule_row_command = g_signal_new ("command", VN_TYPE_RULE_ROW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1,
                                   G_TYPE_STRING);
}

static void
vn_rule_row_init (VnRuleRow *self)
{
  GtkEventController *keys = gtk_event_controller_key_new (), *focus = gtk_event_controller_focus_new ();

  g_signal_connect_swapped (keys, "key-pressed", G_CALLBACK (rule_row_pressed), self);
  g_signal_connect (focus, "notify::is-focus", G_CALLBACK (rule_row_focused), self);
  gtk_widget_add_controller (GTK_WIDGET (self), keys);
  gtk_widget_add_controller (GTK_WIDGET (self), focus);
}
