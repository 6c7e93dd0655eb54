/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The outline in the side panel: nodes as a tree of scopes made from their names, or as a flat list while searching.
 * */
#include "vn-outline.h"

#include "vn-badge.h"
#include "vn-format.h"
#include "vn-gradual-rows.h"
#include "vn-i18n.h"
#include "vn-later.h"
#include "vn-node-cell.h"
#include "vn-query-chips.h"
#include "vn-scope.h"
#include "vn-selection-link.h"
#include "vn-swatch.h"
#include "vn-tooltip.h"

#include <string.h>

struct _VnOutline
{
  AdwBin              parent_instance;

  VnDocument         *document;
  GtkFilter          *filter;
  VnScope            *root;         /* the nodes by scope */
  GtkFilterListModel *filtered;     /* the nodes that are looked for */
  GtkSliceListModel  *rows;         /* of one or the other */
  GtkMultiSelection  *selection;    /* over the rows */
  VnSelectionLink    *link;
  VnNodeQuery        *query;        /* NULL: nothing was looked for */
  guint               hit;          /* which of those found was travelled to last; G_MAXUINT: none */

  GtkSearchEntry     *search;
  VnQueryChips       *chips;
  GtkStack           *stack;
  GtkListView        *list;
  GtkButton          *clear;
  AdwStatusPage      *nothing;
  GtkRevealer        *hits;
  GtkLabel           *hits_label;
  GtkButton          *hits_previous, *hits_next, *hits_all;
  GtkMenuButton      *help;
};

G_DEFINE_FINAL_TYPE (VnOutline, vn_outline, ADW_TYPE_BIN)

static GtkWidget *
outline_make_row (void)
{
  GtkWidget *expander = gtk_tree_expander_new ();
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8);
  GtkWidget *name = gtk_label_new (NULL);
  GtkWidget *path = gtk_label_new (NULL);
  GtkWidget *value = gtk_label_new (NULL);

  gtk_label_set_ellipsize (GTK_LABEL (name), PANGO_ELLIPSIZE_MIDDLE);
  gtk_label_set_ellipsize (GTK_LABEL (path), PANGO_ELLIPSIZE_START);
  gtk_label_set_xalign (GTK_LABEL (path), 0);
  gtk_widget_set_hexpand (path, TRUE);
  gtk_widget_add_css_class (path, "dim-label");
  gtk_widget_add_css_class (path, "caption");
  gtk_widget_add_css_class (value, "numeric");
  gtk_box_append (GTK_BOX (box), vn_swatch_new (FALSE));
  gtk_box_append (GTK_BOX (box), name);
  gtk_box_append (GTK_BOX (box), path);
  gtk_box_append (GTK_BOX (box), vn_badge_new ());
  gtk_box_append (GTK_BOX (box), value);
  gtk_tree_expander_set_child (GTK_TREE_EXPANDER (expander), box);
  return expander;
}

typedef struct { GtkWidget *swatch, *name, *path, *badge, *value; } Parts;

static Parts
outline_get_parts (GtkWidget *cell)
{
  Parts parts;

  parts.swatch = gtk_widget_get_first_child (gtk_tree_expander_get_child (GTK_TREE_EXPANDER (cell)));
  parts.name = gtk_widget_get_next_sibling (parts.swatch);
  parts.path = gtk_widget_get_next_sibling (parts.name);
  parts.badge = gtk_widget_get_next_sibling (parts.path);
  parts.value = gtk_widget_get_next_sibling (parts.badge);
  return parts;
}

/* What a name adds to what is seen already: the operator, and inside of a scope the scope. */
static const char *
outline_get_short_name (VnNodeItem *item,
                        gboolean    in_scope)
{
  const char *last = in_scope ? strrchr (item->label, '/') : NULL;
  const char *shown = last != NULL ? last + 1 : item->label;

  if (shown == item->label)
    shown = vn_node_label_skip_type (shown, item->node->op_type);
  return g_str_equal (shown, item->node->op_type) ? "" : shown;
}

static void
outline_update_node (GtkWidget  *cell,
                     VnNodeItem *item,
                     gboolean    in_scope)
{
  Parts parts = outline_get_parts (cell);
  gboolean usual = item->precision == VN_DTYPE_U8 || item->precision == VN_DTYPE_S8;
  g_autofree char *number = vn_node_item_format (item);

  vn_node_cell_set_swatch (parts.swatch, item);
  gtk_label_set_label (GTK_LABEL (parts.name), item->node->op_type);
  gtk_label_set_label (GTK_LABEL (parts.path), outline_get_short_name (item, in_scope));
  vn_badge_set (parts.badge, usual ? VN_DTYPE_UNDEFINED : item->precision);
  gtk_label_set_label (GTK_LABEL (parts.value), number);
  vn_tooltip_set (cell, item->label);
}

static void
outline_update_scope (GtkWidget *cell,
                      VnScope   *scope)
{
  Parts parts = outline_get_parts (cell);
  VnNodeItem *worst = vn_scope_get_worst (scope);
  g_autofree char *number = worst != NULL ? vn_node_item_format (worst) : NULL;
  g_autofree char *count = g_strdup_printf ("%u", (guint) gtk_bitset_get_size (vn_scope_get_nodes (scope)));

  if (worst != NULL)
    vn_node_cell_set_swatch (parts.swatch, worst);
  else
    vn_swatch_set (VN_SWATCH (parts.swatch), VN_SWATCH_EMPTY, VN_METRIC_SQNR, 0);
  gtk_label_set_label (GTK_LABEL (parts.name), vn_scope_get_name (scope));
  gtk_label_set_label (GTK_LABEL (parts.path), count);
  vn_badge_set (parts.badge, VN_DTYPE_UNDEFINED);
  gtk_label_set_label (GTK_LABEL (parts.value), number != NULL ? number : "");
  vn_tooltip_set (cell, vn_scope_get_name (scope));
}

/* It is the row that takes the focus, and GTK 4.8 gives it no name. */
static void
outline_name_row (GtkWidget *cell)
{
  Parts parts = outline_get_parts (cell);
  GtkWidget *row = gtk_widget_get_parent (cell);
  g_autofree char *name = g_strjoin (" ", gtk_label_get_label (GTK_LABEL (parts.name)),
                                     gtk_label_get_label (GTK_LABEL (parts.path)),
                                     gtk_label_get_label (GTK_LABEL (parts.value)), NULL);

  if (row != NULL)
    gtk_accessible_update_property (GTK_ACCESSIBLE (row), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
}

static void
outline_show_row (GtkListItem *list_item,
                  GObject     *item)
{
  GtkWidget *cell = gtk_list_item_get_child (list_item);

  if (VN_IS_SCOPE (item))
    outline_update_scope (cell, VN_SCOPE (item));
  else
    outline_update_node (cell, VN_NODE_ITEM (item), gtk_tree_list_row_get_depth (gtk_list_item_get_item (list_item)) > 0);
  outline_name_row (cell);
}

static void
outline_setup_row (GtkSignalListItemFactory *factory,
                   GtkListItem              *list_item,
                   gpointer                  data)
{
  gtk_list_item_set_child (list_item, outline_make_row ());
}

static void
outline_bind_row (GtkSignalListItemFactory *factory,
                  GtkListItem              *list_item,
                  gpointer                  data)
{
  GtkTreeListRow *row = gtk_list_item_get_item (list_item);
  g_autoptr(GObject) item = gtk_tree_list_row_get_item (row);

  gtk_tree_expander_set_list_row (GTK_TREE_EXPANDER (gtk_list_item_get_child (list_item)), row);
  vn_node_row_watch (list_item, item, outline_show_row);
}

static void
outline_unbind_row (GtkSignalListItemFactory *factory,
                    GtkListItem              *list_item,
                    gpointer                  data)
{
  vn_node_row_unwatch (list_item);
  gtk_tree_expander_set_list_row (GTK_TREE_EXPANDER (gtk_list_item_get_child (list_item)), NULL);
}

static gboolean
outline_matches (gpointer item,
                 gpointer data)
{
  VnNodeQuery *query = VN_OUTLINE (data)->query;

  return query == NULL || vn_node_item_matches (item, query);
}

static gboolean
outline_is_searching (VnOutline *self)
{
  return self->query != NULL && !vn_node_query_is_empty (self->query);
}

/* ---- what was found ---- */

static guint
outline_count_hits (VnOutline *self)
{
  return outline_is_searching (self) ? g_list_model_get_n_items (G_LIST_MODEL (self->filtered)) : 0;
}

static void
outline_update_hits (VnOutline *self)
{
  guint n = outline_count_hits (self);
  g_autofree char *text = NULL;

  if (self->hit < n)
    text = g_strdup_printf (_("%u of %u"), self->hit + 1, n);
  else
    text = g_strdup_printf (ngettext ("%u found", "%u found", n), n);
  gtk_label_set_label (self->hits_label, text);
  gtk_revealer_set_reveal_child (self->hits, n > 0);
}

/* To the next of what was found, or the one before, around the end: it is selected, and every page goes there. */
static void
outline_walk (VnOutline *self,
              int        step)
{
  guint n = outline_count_hits (self);
  g_autoptr(VnNodeItem) item = NULL;

  if (n == 0)
    return;
  self->hit = self->hit < n ? (self->hit + n + (guint) step) % n : step > 0 ? 0 : n - 1;
  item = g_list_model_get_item (G_LIST_MODEL (self->filtered), self->hit);
  gtk_widget_activate_action (GTK_WIDGET (self), "win.select-node", "u", item->index);
  outline_update_hits (self);
}

static void
outline_walk_on (VnOutline *self)
{
  outline_walk (self, 1);
}

static void
outline_walk_back (VnOutline *self)
{
  outline_walk (self, -1);
}

static void
outline_select_hits (VnOutline *self)
{
  g_autoptr(GtkBitset) nodes = gtk_bitset_new_empty ();

  for (guint i = 0; i < outline_count_hits (self); i++)
    {
      g_autoptr(VnNodeItem) item = g_list_model_get_item (G_LIST_MODEL (self->filtered), i);

      gtk_bitset_add (nodes, item->index);
    }
  vn_document_select (self->document, nodes);
  gtk_widget_activate_action (GTK_WIDGET (self), "win.show-in-graph", NULL);
}

/* Return by itself is a signal of the entry. */
static gboolean
outline_key_pressed (VnOutline       *self,
                     guint            keyval,
                     guint            keycode,
                     GdkModifierType  modifiers)
{
  if (keyval != GDK_KEY_Return && keyval != GDK_KEY_KP_Enter)
    return FALSE;
  if (modifiers & GDK_SHIFT_MASK)
    outline_walk_back (self);
  else if (modifiers & GDK_CONTROL_MASK)
    outline_select_hits (self);
  else
    return FALSE;
  return TRUE;
}

/* ---- what can be typed ---- */

static void
outline_example_activated (VnOutline     *self,
                           GtkListBoxRow *row)
{
  guint n;
  const VnNodeExample *examples = vn_node_query_get_examples (&n);

  gtk_popover_popdown (gtk_menu_button_get_popover (self->help));
  gtk_editable_set_text (GTK_EDITABLE (self->search), examples[gtk_list_box_row_get_index (row)].text);
  gtk_widget_grab_focus (GTK_WIDGET (self->search));
  gtk_editable_set_position (GTK_EDITABLE (self->search), -1);
}

static void
outline_add_examples (VnOutline *self)
{
  GtkWidget *popover = gtk_popover_new (), *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6), *list = gtk_list_box_new ();
  GtkWidget *title = gtk_label_new (_("Search Syntax")), *keys = gtk_label_new (NULL);
  guint n;
  const VnNodeExample *examples = vn_node_query_get_examples (&n);

  gtk_widget_add_css_class (title, "heading");
  gtk_label_set_label (GTK_LABEL (keys), _("Enter goes to the next match, Shift+Enter to the previous one, Ctrl+Enter "
                                           "selects all."));
  gtk_label_set_wrap (GTK_LABEL (keys), TRUE);
  gtk_label_set_max_width_chars (GTK_LABEL (keys), 36);
  gtk_label_set_xalign (GTK_LABEL (keys), 0);
  gtk_widget_add_css_class (keys, "caption");
  gtk_widget_add_css_class (keys, "dim-label");
  gtk_list_box_set_selection_mode (GTK_LIST_BOX (list), GTK_SELECTION_NONE);
  gtk_widget_add_css_class (list, "boxed-list");
  gtk_accessible_update_relation (GTK_ACCESSIBLE (list), GTK_ACCESSIBLE_RELATION_LABELLED_BY, title, NULL, -1);
  for (guint i = 0; i < n; i++)
    {
      GtkWidget *row = adw_action_row_new ();

      adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
      adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), examples[i].text);
      adw_action_row_set_subtitle (ADW_ACTION_ROW (row), _(examples[i].words));
      gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), TRUE);
      gtk_list_box_append (GTK_LIST_BOX (list), row);
    }
  g_signal_connect_swapped (list, "row-activated", G_CALLBACK (outline_example_activated), self);
  gtk_box_append (GTK_BOX (box), title);
  gtk_box_append (GTK_BOX (box), list);
  gtk_box_append (GTK_BOX (box), keys);
  gtk_widget_add_css_class (box, "search-help");
  gtk_popover_set_child (GTK_POPOVER (popover), box);
  gtk_menu_button_set_popover (self->help, popover);
}

static void
outline_update_stack (VnOutline *self)
{
  gboolean nothing = outline_is_searching (self) && outline_count_hits (self) == 0;
  const char *problem = self->query != NULL ? vn_node_query_get_problem (self->query) : NULL;
  g_autofree char *markup = problem != NULL ? g_markup_escape_text (problem, -1) : NULL;

  adw_status_page_set_description (self->nothing, markup);
  gtk_stack_set_visible_child_name (self->stack, nothing ? "nothing" : "list");
}

static GListModel *
outline_create_children (gpointer item,
                         gpointer data)
{
  return VN_IS_SCOPE (item) ? g_object_ref (vn_scope_get_children (item)) : NULL;
}

/* Looking for something shows a flat list, else there is a tree; nothing until that is made. */
static void
outline_set_rows (VnOutline *self)
{
  GListModel *top = outline_is_searching (self) ? G_LIST_MODEL (self->filtered) : self->root != NULL
                    ? vn_scope_get_children (self->root) : NULL;
  g_autoptr(GtkTreeListModel) rows = top != NULL
                                     ? gtk_tree_list_model_new (g_object_ref (top), FALSE, FALSE, outline_create_children,
                                                                            NULL, NULL) : NULL;

  vn_gradual_rows_begin (self->rows);
  gtk_slice_list_model_set_model (self->rows, G_LIST_MODEL (rows));
  vn_gradual_rows_show (self->rows);
}

static void
outline_find (VnOutline *self)
{
  gtk_filter_changed (self->filter, GTK_FILTER_CHANGE_DIFFERENT);
  outline_set_rows (self);
  outline_update_stack (self);
  outline_update_hits (self);
}

static void
outline_search_changed (VnOutline *self)
{
  g_clear_pointer (&self->query, vn_node_query_free);
  self->query = vn_node_query_new (gtk_editable_get_text (GTK_EDITABLE (self->search)));
  self->hit = G_MAXUINT;
  vn_gradual_rows_begin (self->rows);
  vn_later (self, self->document, (VnLaterFunc) outline_find);
}

static void
outline_make_tree (VnOutline *self)
{
  g_clear_object (&self->root);
  self->root = vn_scope_new_for_nodes (vn_document_get_nodes (self->document));
  outline_set_rows (self);
}

static void
outline_model_changed (VnOutline *self)
{
  g_clear_object (&self->root);
  gtk_editable_set_text (GTK_EDITABLE (self->search), "");
  outline_set_rows (self);
  vn_later (self, self->document, (VnLaterFunc) outline_make_tree);
}

static void
outline_update_tree (VnOutline *self)
{
  if (self->root != NULL)
    vn_scope_update (self->root);
  if (!outline_is_searching (self))
    return;
  gtk_filter_changed (self->filter, GTK_FILTER_CHANGE_DIFFERENT);   /* errors may have changed */
  outline_update_stack (self);
  outline_update_hits (self);
}

static void
outline_result_changed (VnOutline *self)
{
  vn_later (self, self->document, (VnLaterFunc) outline_update_tree);
}

/* Opens the outermost closed scope that hides a node which was selected elsewhere, and then the next one. */
static void
outline_reveal_selected (VnOutline *self)
{
  GtkBitset *nodes = vn_document_get_selection (self->document);
  GListModel *rows = G_LIST_MODEL (self->selection);

  if (gtk_bitset_get_size (nodes) != 1)
    return;
  for (guint i = 0; i < g_list_model_get_n_items (rows); i++)
    {
      g_autoptr(GtkTreeListRow) row = g_list_model_get_item (rows, i);
      g_autoptr(GObject) item = gtk_tree_list_row_get_item (row);

      if (!VN_IS_SCOPE (item) || gtk_tree_list_row_get_expanded (row) ||
          !gtk_bitset_contains (vn_scope_get_nodes (VN_SCOPE (item)), gtk_bitset_get_minimum (nodes)))
        continue;
      gtk_tree_list_row_set_expanded (row, TRUE);
      vn_later (self, self->document, (VnLaterFunc) outline_reveal_selected);
      return;
    }
}

static void
outline_selection_changed (VnOutline *self)
{
  vn_later (self, self->document, (VnLaterFunc) outline_reveal_selected);
}

static void
outline_clear_search (VnOutline *self)
{
  gtk_editable_set_text (GTK_EDITABLE (self->search), "");
}

static void
outline_activated (VnOutline *self)
{
  gtk_widget_activate_action (GTK_WIDGET (self), "win.show-in-graph", NULL);
}

/**
 * vn_outline_set_document:
 */
void
vn_outline_set_document (VnOutline  *self,
                         VnDocument *document)
{
  g_return_if_fail (VN_IS_OUTLINE (self));
  g_return_if_fail (VN_IS_DOCUMENT (document));

  self->document = g_object_ref (document);
  self->filter = GTK_FILTER (gtk_custom_filter_new (outline_matches, self, NULL));
  self->filtered = gtk_filter_list_model_new (g_object_ref (vn_document_get_nodes (document)),
                                              g_object_ref (self->filter));
  self->rows = vn_gradual_rows_new (NULL);
  self->selection = gtk_multi_selection_new (g_object_ref (G_LIST_MODEL (self->rows)));
  outline_make_tree (self);
  vn_query_chips_set (self->chips, document, GTK_EDITABLE (self->search));
  g_signal_connect_object (document, "changed::model", G_CALLBACK (outline_model_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "changed::run", G_CALLBACK (outline_result_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "changed::recipe", G_CALLBACK (outline_result_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "metric-changed", G_CALLBACK (outline_result_changed), self, G_CONNECT_SWAPPED);
  /* Before the link, which selects only rows that are there. */
  g_signal_connect_object (document, "selection-changed", G_CALLBACK (outline_selection_changed), self,
                           G_CONNECT_SWAPPED);
  self->link = vn_selection_link_new (document, GTK_SELECTION_MODEL (self->selection),
                                      GTK_WIDGET (self->list));
  gtk_list_view_set_model (self->list, GTK_SELECTION_MODEL (self->selection));
}

/**
 * vn_outline_focus_search:
 */
void
vn_outline_focus_search (VnOutline *self)
{
  g_return_if_fail (VN_IS_OUTLINE (self));

  gtk_widget_grab_focus (GTK_WIDGET (self->search));
}

static void
vn_outline_dispose (GObject *object)
{
  VnOutline *self = VN_OUTLINE (object);

  if (self->filter != NULL)
    gtk_custom_filter_set_filter_func (GTK_CUSTOM_FILTER (self->filter), NULL, NULL, NULL);
  g_clear_object (&self->link);
  g_clear_object (&self->selection);
  g_clear_object (&self->rows);
  g_clear_object (&self->filtered);
  g_clear_object (&self->root);
  g_clear_object (&self->filter);
  g_clear_object (&self->document);
  g_clear_pointer (&self->query, vn_node_query_free);
  gtk_widget_dispose_template (GTK_WIDGET (self), VN_TYPE_OUTLINE);
  G_OBJECT_CLASS (vn_outline_parent_class)->dispose (object);
}

static void
vn_outline_class_init (VnOutlineClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = vn_outline_dispose;
  g_type_ensure (VN_TYPE_QUERY_CHIPS);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_c, GDK_CONTROL_MASK, "win.copy", "s", "name");
  gtk_widget_class_set_template_from_resource (widget_class, "/io/github/vernier/Vernier/vn-outline.ui");
  gtk_widget_class_bind_template_child (widget_class, VnOutline, search);
  gtk_widget_class_bind_template_child (widget_class, VnOutline, chips);
  gtk_widget_class_bind_template_child (widget_class, VnOutline, stack);
  gtk_widget_class_bind_template_child (widget_class, VnOutline, list);
  gtk_widget_class_bind_template_child (widget_class, VnOutline, clear);
  gtk_widget_class_bind_template_child (widget_class, VnOutline, nothing);
  gtk_widget_class_bind_template_child (widget_class, VnOutline, hits);
  gtk_widget_class_bind_template_child (widget_class, VnOutline, hits_label);
  gtk_widget_class_bind_template_child (widget_class, VnOutline, hits_previous);
  gtk_widget_class_bind_template_child (widget_class, VnOutline, hits_next);
  gtk_widget_class_bind_template_child (widget_class, VnOutline, hits_all);
  gtk_widget_class_bind_template_child (widget_class, VnOutline, help);
}

static void
vn_outline_init (VnOutline *self)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  GtkEventController *keys = gtk_event_controller_key_new ();

  self->hit = G_MAXUINT;
  g_signal_connect (factory, "setup", G_CALLBACK (outline_setup_row), NULL);
  g_signal_connect (factory, "bind", G_CALLBACK (outline_bind_row), NULL);
  g_signal_connect (factory, "unbind", G_CALLBACK (outline_unbind_row), NULL);
  gtk_widget_init_template (GTK_WIDGET (self));
  gtk_list_view_set_factory (self->list, factory);
  g_object_unref (factory);
  g_signal_connect_swapped (self->search, "search-changed", G_CALLBACK (outline_search_changed), self);
  g_signal_connect_swapped (self->search, "stop-search", G_CALLBACK (outline_clear_search), self);
  g_signal_connect_swapped (self->search, "activate", G_CALLBACK (outline_walk_on), self);
  g_signal_connect_swapped (self->search, "next-match", G_CALLBACK (outline_walk_on), self);
  g_signal_connect_swapped (self->search, "previous-match", G_CALLBACK (outline_walk_back), self);
  g_signal_connect_swapped (self->hits_next, "clicked", G_CALLBACK (outline_walk_on), self);
  g_signal_connect_swapped (self->hits_previous, "clicked", G_CALLBACK (outline_walk_back), self);
  g_signal_connect_swapped (self->hits_all, "clicked", G_CALLBACK (outline_select_hits), self);
  gtk_event_controller_set_propagation_phase (keys, GTK_PHASE_CAPTURE);
  g_signal_connect_swapped (keys, "key-pressed", G_CALLBACK (outline_key_pressed), self);
  gtk_widget_add_controller (GTK_WIDGET (self->search), keys);
  outline_add_examples (self);
  g_signal_connect_swapped (self->clear, "clicked", G_CALLBACK (outline_clear_search), self);
  g_signal_connect_swapped (self->list, "activate", G_CALLBACK (outline_activated), self);
}
