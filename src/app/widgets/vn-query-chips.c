/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Drop-downs that change a query: for each word of the query one, with the values that the nodes have and how many have each. */
#include "vn-query-chips.h"

#include "vn-heat.h"
#include "vn-i18n.h"
#include "vn-node-item.h"
#include "vn-node-query.h"
#include "vn-rows.h"

#define MOST_HEIGHT 360
#define MOST_CHARS    9

typedef enum { CHIP_TYPE, CHIP_PRECISION, CHIP_BAND, N_CHIPS } ChipKind;

static const struct { const char *word, *title; } kinds[N_CHIPS] = {
  [CHIP_TYPE] = { "type", N_("Type") },
  [CHIP_PRECISION] = { "precision", N_("Precision") },
  [CHIP_BAND] = { "band", N_("Error") },
};

#define NO_BAND "none"

struct _VnQueryChips
{
  AdwBin       parent_instance;

  VnDocument  *document;
  GtkEditable *search;
  GtkWidget   *buttons[N_CHIPS];
};

G_DEFINE_FINAL_TYPE (VnQueryChips, vn_query_chips, ADW_TYPE_BIN)

/* A drop-down that is open. */
typedef struct
{
  VnQueryChips *chips;
  ChipKind      kind;
  GtkWidget    *list;      /* of check buttons */
} Choice;

/* ---- values ---- */

static const char *
query_chips_get_value (ChipKind    kind,
                       VnNodeItem *item)
{
  const char *band;

  switch (kind)
    {
    case CHIP_TYPE:
      return item->node->op_type;
    case CHIP_PRECISION:
      return vn_node_item_get_badge (item);
    case CHIP_BAND:
      band = vn_node_item_get_band_id (item);
      return band != NULL ? band : NO_BAND;
    case N_CHIPS:
    default:
      return NULL;
    }
}

static const char *
query_chips_get_title (ChipKind    kind,
                       const char *value)
{
  for (guint band = 0; kind == CHIP_BAND && band < VN_N_BANDS; band++)
    if (g_str_equal (value, vn_band_get_id ((VnBand) band)))
      return _(vn_band_get_title ((VnBand) band));
  return kind == CHIP_BAND && g_str_equal (value, NO_BAND) ? _("Not quantized") : value;
}

typedef struct { const char *value; guint n; } Value;

static int
query_chips_compare (gconstpointer a,
                     gconstpointer b)
{
  const Value *p = a, *q = b;

  return p->n != q->n ? (p->n < q->n) - (p->n > q->n) : g_strcmp0 (p->value, q->value);
}

/* Returns: (element-type Value): the most frequent first. Values belong to the model, or are static. */
static GArray *
query_chips_count (VnQueryChips *self,
                   ChipKind      kind)
{
  GListModel *nodes = vn_document_get_nodes (self->document);
  g_autoptr(GHashTable) counts = g_hash_table_new (g_str_hash, g_str_equal);
  GArray *values = g_array_new (FALSE, FALSE, sizeof (Value));
  GHashTableIter iter;
  gpointer value, n;

  for (guint i = 0; i < g_list_model_get_n_items (nodes); i++)
    {
      g_autoptr(VnNodeItem) item = g_list_model_get_item (nodes, i);
      const char *own = query_chips_get_value (kind, item);

      if (own != NULL)
        g_hash_table_insert (counts, (gpointer) own, GUINT_TO_POINTER (GPOINTER_TO_UINT (g_hash_table_lookup (counts, own)) + 1));
    }
  g_hash_table_iter_init (&iter, counts);
  while (g_hash_table_iter_next (&iter, &value, &n))
    g_array_append_val (values, ((Value) { value, GPOINTER_TO_UINT (n) }));
  g_array_sort (values, query_chips_compare);
  return values;
}

/* ---- the drop-down ---- */

static void
query_chips_toggled (Choice *choice)
{
  g_autoptr(GString) value = g_string_new (NULL);
  g_autofree char *text = NULL;

  for (GtkWidget *check = gtk_widget_get_first_child (choice->list); check != NULL; check = gtk_widget_get_next_sibling (check))
    if (gtk_check_button_get_active (GTK_CHECK_BUTTON (check)))
      g_string_append_printf (value, "%s%s", value->len > 0 ? "|" : "",
                              (const char *) g_object_get_data (G_OBJECT (check), "vn-value"));
  text = vn_node_query_dup_with (gtk_editable_get_text (choice->chips->search), kinds[choice->kind].word, value->len > 0
                                 ? value->str : NULL);
  gtk_editable_set_text (choice->chips->search, text);
}

static GtkWidget *
query_chips_make_check (Choice             *choice,
                        const Value        *value,
                        const char * const *chosen)
{
  GtkWidget *check = gtk_check_button_new (), *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 18);
  const char *title = query_chips_get_title (choice->kind, value->value);
  GtkWidget *label = gtk_label_new (title), *count = gtk_label_new (NULL);
  g_autofree char *number = g_strdup_printf ("%u", value->n),
  *spoken = g_strdup_printf (ngettext ("%s, %u node", "%s, %u nodes", value->n), title, value->n);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_widget_set_hexpand (label, TRUE);
  gtk_label_set_label (GTK_LABEL (count), number);
  gtk_widget_add_css_class (count, "dim-label");
  gtk_widget_add_css_class (count, "numeric");
  gtk_box_append (GTK_BOX (box), label);
  gtk_box_append (GTK_BOX (box), count);
  gtk_check_button_set_child (GTK_CHECK_BUTTON (check), box);
  gtk_accessible_update_property (GTK_ACCESSIBLE (check), GTK_ACCESSIBLE_PROPERTY_LABEL, spoken, -1);
  gtk_check_button_set_active (GTK_CHECK_BUTTON (check), chosen != NULL && g_strv_contains (chosen, value->value));
  g_object_set_data_full (G_OBJECT (check), "vn-value", g_strdup (value->value), g_free);
  g_signal_connect_swapped (check, "toggled", G_CALLBACK (query_chips_toggled), choice);
  return check;
}

static GtkWidget *
query_chips_make_list (Choice *choice)
{
  g_autoptr(GArray) values = query_chips_count (choice->chips, choice->kind);
  g_autofree char *value = vn_node_query_dup_value (gtk_editable_get_text (choice->chips->search), kinds[choice->kind].word);
  g_auto(GStrv) chosen = value != NULL ? g_strsplit (value, "|", -1) : NULL;
  GtkWidget *list = gtk_box_new (GTK_ORIENTATION_VERTICAL, 2);

  if (values->len == 0)
    gtk_box_append (GTK_BOX (list), vn_label_new (_("Available after quantization"), "dim-label"));
  for (guint i = 0; i < values->len; i++)
    gtk_box_append (GTK_BOX (list), query_chips_make_check (choice, &g_array_index (values, Value, i),
                                                            (const char * const *) chosen));
  return list;
}

static void
query_chips_open (GtkMenuButton *button,
                  gpointer       data)
{
  VnQueryChips *self = data;
  GtkWidget *popover = gtk_popover_new (), *scrolled = gtk_scrolled_window_new ();
  Choice *choice = g_new0 (Choice, 1);

  while (choice->kind + 1 < N_CHIPS && self->buttons[choice->kind] != GTK_WIDGET (button))
    choice->kind++;
  choice->chips = self;
  choice->list = query_chips_make_list (choice);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scrolled), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_propagate_natural_height (GTK_SCROLLED_WINDOW (scrolled), TRUE);
  gtk_scrolled_window_set_max_content_height (GTK_SCROLLED_WINDOW (scrolled), MOST_HEIGHT);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scrolled), choice->list);
  gtk_popover_set_child (GTK_POPOVER (popover), scrolled);
  g_object_set_data_full (G_OBJECT (popover), "vn-choice", choice, g_free);
  gtk_menu_button_set_popover (button, popover);
}

/* ---- the chips ---- */

/* "Bad, Watch" of "bad|watch". */
static char *
query_chips_dup_shown (ChipKind    kind,
                       const char *value)
{
  g_auto(GStrv) values = g_strsplit (value, "|", -1);
  GString *shown = g_string_new (NULL);

  for (guint i = 0; values[i] != NULL; i++)
    g_string_append_printf (shown, "%s%s", i > 0 ? ", " : "", query_chips_get_title (kind, values[i]));
  return g_string_free (shown, FALSE);
}

/* A chip says what is chosen. */
static void
query_chips_update (VnQueryChips *self)
{
  for (guint i = 0; i < N_CHIPS; i++)
    {
      g_autofree char *value = vn_node_query_dup_value (gtk_editable_get_text (self->search), kinds[i].word);
      GtkWidget *label = gtk_menu_button_get_child (GTK_MENU_BUTTON (self->buttons[i]));
      g_autofree char *shown = value != NULL ? query_chips_dup_shown (i, value) : NULL;
      g_autofree char *spoken = shown != NULL ? g_strdup_printf ("%s: %s", _(kinds[i].title), shown)
                                : g_strdup (_(kinds[i].title));

      gtk_label_set_label (GTK_LABEL (label), shown != NULL ? shown : _(kinds[i].title));
      gtk_accessible_update_property (GTK_ACCESSIBLE (self->buttons[i]), GTK_ACCESSIBLE_PROPERTY_LABEL, spoken, -1);
      if (value != NULL)
        gtk_widget_add_css_class (self->buttons[i], "chosen");
      else
        gtk_widget_remove_css_class (self->buttons[i], "chosen");
    }
}

static void
vn_query_chips_dispose (GObject *object)
{
  VnQueryChips *self = VN_QUERY_CHIPS (object);

  g_clear_object (&self->document);
  g_clear_object (&self->search);
  G_OBJECT_CLASS (vn_query_chips_parent_class)->dispose (object);
}

static void
vn_query_chips_class_init (VnQueryChipsClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = vn_query_chips_dispose;
}

static void
vn_query_chips_init (VnQueryChips *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);

  for (guint i = 0; i < N_CHIPS; i++)
    {
      GtkWidget *label = gtk_label_new (NULL);

      self->buttons[i] = gtk_menu_button_new ();
      gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
      gtk_label_set_max_width_chars (GTK_LABEL (label), MOST_CHARS);
      gtk_menu_button_set_child (GTK_MENU_BUTTON (self->buttons[i]), label);
      gtk_menu_button_set_always_show_arrow (GTK_MENU_BUTTON (self->buttons[i]), TRUE);
      gtk_menu_button_set_create_popup_func (GTK_MENU_BUTTON (self->buttons[i]), query_chips_open, self, NULL);
      gtk_widget_add_css_class (self->buttons[i], "query-chip");
      gtk_box_append (GTK_BOX (box), self->buttons[i]);
    }
  adw_bin_set_child (ADW_BIN (self), box);
}

/**
 * vn_query_chips_set:
 * @search: where the query stands
 */
void
vn_query_chips_set (VnQueryChips *self,
                    VnDocument   *document,
                    GtkEditable  *search)
{
  g_return_if_fail (VN_IS_QUERY_CHIPS (self) && self->document == NULL);
  g_return_if_fail (VN_IS_DOCUMENT (document) && GTK_IS_EDITABLE (search));

  self->document = g_object_ref (document);
  self->search = g_object_ref (search);
  g_signal_connect_object (search, "changed", G_CALLBACK (query_chips_update), self, G_CONNECT_SWAPPED);
  query_chips_update (self);
}
