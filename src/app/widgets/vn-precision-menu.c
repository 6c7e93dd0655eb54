/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of a menu that set the precision of the selected nodes, with what each would gain and cost. */
#include "vn-precision-menu.h"

#include "vn-precision-gain.h"

#define ATTRIBUTE_TITLE "vn-title"     /* the label without gain and cost */

typedef struct
{
  VnDocument *document;
  GArray     *nodes;      /* of guint */
} Telling;

static GArray *
precision_menu_list_nodes (VnDocument *document)
{
  GtkBitset *selection = vn_document_get_selection (document);
  GArray *nodes = g_array_new (FALSE, FALSE, sizeof (guint));
  GtkBitsetIter iter;
  guint node;

  for (gboolean ok = gtk_bitset_iter_init_first (&iter, selection, &node); ok; ok = gtk_bitset_iter_next (&iter, &node))
    g_array_append_val (nodes, node);
  return nodes;
}

/* What the choice would gain and cost; NULL: it sets nothing, or that is not known. */
static char *
precision_menu_dup_gain (const Telling *self,
                         GMenuModel    *menu,
                         int            i)
{
  g_autofree char *action = NULL, *target = NULL;
  VnNodePrecision precision;
  VnPrecisionGain gain;

  if (!g_menu_model_get_item_attribute (menu, i, G_MENU_ATTRIBUTE_ACTION, "s", &action) ||
      !g_menu_model_get_item_attribute (menu, i, G_MENU_ATTRIBUTE_TARGET, "s", &target) ||
      (!g_str_equal (action, "win.set-precision") && !g_str_equal (action, "win.set-region")))
    return NULL;
  if (!g_str_equal (target, "16") && !g_str_equal (target, "float"))
    return NULL;
  precision = g_str_equal (target, "16") ? VN_NODE_16_BIT : VN_NODE_FLOAT;
  if (!vn_precision_gain_estimate (VN_BENCH (self->document), (const guint *) (gpointer) self->nodes->data, self->nodes->len,
                                   precision, &gain))
    return g_strdup ("");
  return vn_precision_gain_dup_text (&gain);
}

static void
precision_menu_tell_item (const Telling *self,
                          GMenuModel    *menu,
                          int            i)
{
  g_autofree char *gain = precision_menu_dup_gain (self, menu, i), *title = NULL, *label = NULL;
  g_autoptr(GMenuItem) item = NULL;

  if (gain == NULL || !G_IS_MENU (menu))
    return;
  if (!g_menu_model_get_item_attribute (menu, i, ATTRIBUTE_TITLE, "s", &title) &&
      !g_menu_model_get_item_attribute (menu, i, G_MENU_ATTRIBUTE_LABEL, "s", &title))
    return;
  label = *gain != '\0' ? g_strdup_printf ("%s   %s", title, gain) : g_strdup (title);
  item = g_menu_item_new_from_model (menu, i);
  g_menu_item_set_attribute (item, ATTRIBUTE_TITLE, "s", title);
  g_menu_item_set_label (item, label);
  g_menu_remove (G_MENU (menu), i);
  g_menu_insert_item (G_MENU (menu), i, item);
}

static void
precision_menu_tell (const Telling *self,
                     GMenuModel    *menu)
{
  static const char * const links[] = { G_MENU_LINK_SECTION, G_MENU_LINK_SUBMENU };

  for (int i = 0; i < g_menu_model_get_n_items (menu); i++)
    {
      for (guint k = 0; k < G_N_ELEMENTS (links); k++)
        {
          g_autoptr(GMenuModel) inner = g_menu_model_get_item_link (menu, i, links[k]);

          if (inner != NULL)
            precision_menu_tell (self, inner);
        }
      precision_menu_tell_item (self, menu, i);
    }
}

/**
 * vn_precision_menu_tell:
 * @menu: with lines of "win.set-precision" or "win.set-region", at any depth
 *
 * Says behind each what it would gain and cost for the nodes that are selected now.
 */
void
vn_precision_menu_tell (GMenuModel *menu,
                        VnDocument *document)
{
  g_autoptr(GArray) nodes = NULL;

  g_return_if_fail (G_IS_MENU_MODEL (menu) && VN_IS_DOCUMENT (document));

  nodes = precision_menu_list_nodes (document);
  precision_menu_tell (&(Telling) { document, nodes }, menu);
}

/* Called before it opens. */
static void
precision_menu_opens (GtkMenuButton *button,
                      gpointer       document)
{
  vn_precision_menu_tell (gtk_menu_button_get_menu_model (button), document);
}

/**
 * vn_precision_menu_connect:
 * @button: of such a menu: it is told anew each time that it opens
 */
void
vn_precision_menu_connect (GtkMenuButton *button,
                           VnDocument    *document)
{
  g_return_if_fail (GTK_IS_MENU_BUTTON (button) && VN_IS_DOCUMENT (document));

  gtk_menu_button_set_create_popup_func (button, precision_menu_opens, g_object_ref (document), g_object_unref);
}
