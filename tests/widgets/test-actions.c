/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every action is offered somewhere, and every key is told of and does one thing. */
#include "vn-page.h"
#include "widget-fixture.h"
#include "window-fixture.h"

#include <string.h>

#define VN_PAGE(id, ...) GType vn_##id##_page_get_type (void);
#include "vn-pages.def"
#undef VN_PAGE

/* Where they are offered, when they are not in a menu or on a button of the window. */
typedef struct
{
  const char *action, *reason;
  gboolean    is_there_at_times;
} Elsewhere;

static const Elsewhere elsewhere[] = {
  { "win.add-edge", "beside each edge that a region leaves out" },
  { "win.show-in-folder", "the button of the toast that tells of an export" },
  { "win.open-uri", "each recent model and each draft is a row, and an item of the menu beside Open", TRUE },
  { "win.discard-draft", "a button on the row of each draft", TRUE },
  { "win.restore-run", "in the menu of each run" },
  { "win.compare-run", "in the menu of each run" },
  { "win.rename-run", "in the menu of each run" },
  { "win.remove-run", "in the menu of each run" },
  { "win.return-run", "the button of the toast that tells of a removed run" },
  { "win.select-node", "each row about a node" },
};

static void
collect_menu (GMenuModel *menu,
              GHashTable *found)
{
  for (int i = 0; menu != NULL && i < g_menu_model_get_n_items (menu); i++)
    {
      static const char * const links[] = { G_MENU_LINK_SECTION, G_MENU_LINK_SUBMENU };
      char *action = NULL;

      if (g_menu_model_get_item_attribute (menu, i, G_MENU_ATTRIBUTE_ACTION, "s", &action))
        g_hash_table_add (found, action);
      for (guint l = 0; l < G_N_ELEMENTS (links); l++)
        {
          g_autoptr(GMenuModel) below = g_menu_model_get_item_link (menu, i, links[l]);

          collect_menu (below, found);
        }
    }
}

static void
collect_actions (GtkWidget  *widget,
                 GHashTable *found)
{
  if (GTK_IS_MENU_BUTTON (widget))
    collect_menu (gtk_menu_button_get_menu_model (GTK_MENU_BUTTON (widget)), found);
  if (GTK_IS_POPOVER_MENU (widget))
    collect_menu (gtk_popover_menu_get_menu_model (GTK_POPOVER_MENU (widget)), found);
  if (GTK_IS_ACTIONABLE (widget) && gtk_actionable_get_action_name (GTK_ACTIONABLE (widget)) != NULL)
    g_hash_table_add (found, g_strdup (gtk_actionable_get_action_name (GTK_ACTIONABLE (widget))));
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL; child = gtk_widget_get_next_sibling (child))
    collect_actions (child, found);
}

static void
list_group (GPtrArray    *all,
            const char   *prefix,
            GActionGroup *group)
{
  g_auto(GStrv) names = g_action_group_list_actions (group);

  for (guint i = 0; names[i] != NULL; i++)
    g_ptr_array_add (all, g_strdup_printf ("%s.%s", prefix, names[i]));
}

/* Of the window, the program, and each page. */
static GPtrArray *
list_actions (GtkWidget *window)
{
  static const struct { const char *id; GType (*type) (void); } pages[] = {
#define VN_PAGE(id, ...) { #id, vn_##id##_page_get_type },
#include "vn-pages.def"
#undef VN_PAGE
  };
  GPtrArray *all = g_ptr_array_new_with_free_func (g_free);
  const char *name, *property;
  const GVariantType *parameter;
  GType owner;

  for (guint i = 0; gtk_widget_class_query_action (GTK_WIDGET_GET_CLASS (window), i, &owner, &name, &parameter, &property); i++)
    if (g_str_has_prefix (name, "win."))
      g_ptr_array_add (all, g_strdup (name));
  list_group (all, "app", G_ACTION_GROUP (gtk_window_get_application (GTK_WINDOW (window))));
  for (guint i = 0; i < G_N_ELEMENTS (pages); i++)
    {
      GtkWidget *page = vn_test_find (window, pages[i].type (), NULL);
      GActionGroup *group = vn_page_get_actions (VN_PAGE (page));

      if (group != NULL)
        list_group (all, pages[i].id, group);
    }
  return all;
}

static const Elsewhere *
get_elsewhere (const char *action)
{
  for (guint i = 0; i < G_N_ELEMENTS (elsewhere); i++)
    if (g_str_equal (elsewhere[i].action, action))
      return &elsewhere[i];
  return NULL;
}

static void
test_actions (Fixture       *fixture,
              gconstpointer  data)
{
  GtkWidget *window = GTK_WIDGET (fixture->window);
  g_autoptr(GHashTable) found = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr(GPtrArray) all = list_actions (window);

  collect_actions (window, found);
  g_assert_cmpuint (all->len, >, 40);
  for (guint i = 0; i < all->len; i++)
    {
      const char *action = g_ptr_array_index (all, i);
      const Elsewhere *place = get_elsewhere (action);

      if (place != NULL)
        g_test_message ("%s: %s", action, place->reason);
      else if (!g_hash_table_contains (found, action))
        g_test_fail_printf ("%s is in no menu and on no button", action);
      if (place != NULL && !place->is_there_at_times && g_hash_table_contains (found, action))
        g_test_fail_printf ("%s needs no reason any more", action);
    }
}

/* "<ctrl>1", or all of "<ctrl>1...9". */
static void
add_shortcut (const char *accelerator,
              GHashTable *shown)
{
  const char *range = strstr (accelerator, "...");
  char last = range != NULL && range > accelerator ? range[3] : 0;
  g_autofree char *each = g_strndup (accelerator, range != NULL ? (gsize) (range - accelerator) : strlen (accelerator));
  char *place = each + strlen (each) - 1;
  guint key = 0;
  GdkModifierType modifiers = 0;

  do
    {
      if (!gtk_accelerator_parse (each, &key, &modifiers))
        g_test_fail_printf ("the shortcuts window has “%s”", accelerator);
      g_hash_table_add (shown, gtk_accelerator_name (key, modifiers));
    }
  while (last != 0 && (*place)++ < last);
}

static void
add_shortcuts (const char *accelerators,
               GHashTable *shown)
{
  g_auto(GStrv) each = g_strsplit_set (accelerators, " +&", -1);

  for (guint i = 0; each[i] != NULL; i++)
    if (*each[i] != 0)
      add_shortcut (each[i], shown);
}

static void
collect_shortcuts (GtkWidget  *widget,
                   GHashTable *shown)
{
  if (GTK_IS_SHORTCUTS_SHORTCUT (widget))
    {
      g_autofree char *accelerators = NULL;

      g_object_get (widget, "accelerator", &accelerators, NULL);
      add_shortcuts (accelerators != NULL ? accelerators : "", shown);
    }
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL; child = gtk_widget_get_next_sibling (child))
    collect_shortcuts (child, shown);
}

/* Whatever has a key is told of, and no key does two things. */
static void
test_shortcuts (Fixture       *fixture,
                gconstpointer  data)
{
  GtkApplication *app = gtk_window_get_application (GTK_WINDOW (fixture->window));
  GtkShortcutsWindow *help = gtk_application_window_get_help_overlay (GTK_APPLICATION_WINDOW (fixture->window));
  g_autoptr(GHashTable) shown = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr(GHashTable) used = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_auto(GStrv) actions = gtk_application_list_action_descriptions (app);

  g_assert_nonnull (help);
  collect_shortcuts (GTK_WIDGET (help), shown);
  g_assert_cmpuint (g_strv_length (actions), >, 25);
  for (guint i = 0; actions[i] != NULL; i++)
    {
      g_auto(GStrv) keys = gtk_application_get_accels_for_action (app, actions[i]);

      for (guint k = 0; keys[k] != NULL; k++)
        {
          guint key;
          GdkModifierType modifiers;
          g_autofree char *name = NULL;

          gtk_accelerator_parse (keys[k], &key, &modifiers);
          name = gtk_accelerator_name (key, modifiers);
          if (!g_hash_table_contains (shown, name))
            g_test_fail_printf ("%s of %s is not in the shortcuts window", name, actions[i]);
          if (!g_hash_table_add (used, g_strdup (name)))
            g_test_fail_printf ("%s does something else beside %s", name, actions[i]);
        }
    }
}

int
main (int    argc,
      char **argv)
{
  vn_window_fixture_init (&argc, &argv);
  g_test_add ("/actions/offered", Fixture, NULL, vn_window_fixture_set_up, test_actions, vn_window_fixture_tear_down);
  g_test_add ("/actions/shortcuts", Fixture, NULL, vn_window_fixture_set_up, test_shortcuts, vn_window_fixture_tear_down);
  return g_test_run ();
}
