/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A popover about the operator of a node. */
#include "vn-operator-popover.h"

#include "vn-i18n.h"
#include "vn-op-doc.h"
#include "vn-rows.h"

#define WIDTH       420
#define MOST_HEIGHT 520

static GtkWidget *
operator_popover_make_text (const char *text,
                            const char *css_class)
{
  GtkWidget *label = vn_label_new (text, css_class);

  gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_selectable (GTK_LABEL (label), TRUE);
  gtk_widget_set_focusable (label, FALSE);      /* else all of it would be selected when the popover opens */
  return label;
}

static void
operator_popover_add_heading (GtkBox     *box,
                              const char *title)
{
  GtkWidget *label = vn_label_new (title, "heading");

  gtk_widget_set_margin_top (label, 9);
  gtk_box_append (box, label);
}

/* "name: type", and what it is beneath. */
static void
operator_popover_add_item (GtkBox            *box,
                           const VnOpDocItem *item)
{
  GtkWidget *label = operator_popover_make_text ("", NULL), *text;
  g_autofree char *fallback = item->fallback[0] != '\0' ? g_strdup_printf (_("default %s"), item->fallback) : NULL;
  g_autofree char *markup = g_markup_printf_escaped ("<b>%s</b>  %s%s%s%s%s", item->name, item->type,
                                                     item->kind[0] != '\0' ? " · " : "", vn_op_doc_get_kind (item),
                                                     fallback != NULL ? " · " : "", fallback != NULL ? fallback : "");

  gtk_label_set_markup (GTK_LABEL (label), markup);
  gtk_box_append (box, label);
  if (item->text[0] == '\0')
    return;
  text = operator_popover_make_text (item->text, "dim-label");
  gtk_widget_add_css_class (text, "caption");
  gtk_widget_set_margin_start (text, 12);
  gtk_box_append (box, text);
}

static void
operator_popover_add_items (GtkBox     *box,
                            const char *title,
                            GPtrArray  *items)
{
  if (items->len > 0)
    operator_popover_add_heading (box, title);
  for (guint i = 0; i < items->len; i++)
    operator_popover_add_item (box, g_ptr_array_index (items, i));
}

static void
operator_popover_add_facts (GtkBox       *box,
                            const VnNode *node,
                            gint64        opset)
{
  g_autoptr(GPtrArray) facts = g_ptr_array_new_with_free_func (g_free);

  vn_op_list_facts (node->domain, node->op_type, opset, facts);
  operator_popover_add_heading (box, _("In Vernier"));
  for (guint i = 0; i + 1 < facts->len; i += 2)
    {
      g_autofree char *markup = g_markup_printf_escaped ("<b>%s</b>  %s", (const char *) facts->pdata[i],
                                                         (const char *) facts->pdata[i + 1]);
      GtkWidget *label = operator_popover_make_text ("", NULL);

      gtk_label_set_markup (GTK_LABEL (label), markup);
      gtk_box_append (box, label);
    }
}

static void
operator_popover_add_doc (GtkBox        *box,
                          const VnOpDoc *doc)
{
  g_autofree char *source = g_strdup_printf (_("Described by ONNX %s"), vn_op_doc_get_source ());

  if (doc->text[0] != '\0')
    gtk_box_append (box, operator_popover_make_text (doc->text, NULL));
  operator_popover_add_items (box, _("Inputs"), doc->inputs);
  operator_popover_add_items (box, _("Outputs"), doc->outputs);
  operator_popover_add_items (box, _("Attributes"), doc->attributes);
  operator_popover_add_items (box, _("Types"), doc->types);
  gtk_box_append (box, vn_label_new (source, "caption"));
}

static char *
operator_popover_dup_subtitle (const VnNode  *node,
                               const VnOpDoc *doc)
{
  const char *domain = node->domain[0] != '\0' ? node->domain : "ai.onnx";

  if (doc == NULL)
    return g_strdup (domain);
  return g_strdup_printf (doc->is_deprecated ? _("%s · since version %u · deprecated") : _("%s · since version %u"), domain,
                          doc->since);
}

/**
 * vn_operator_popover_new:
 * @node: kept by its model; not looked at afterwards
 *
 * Returns: a popover about the operator of @node, in the version that its model uses
 */
GtkWidget *
vn_operator_popover_new (const VnNode *node)
{
  GtkWidget *popover, *scrolled, *box;
  g_autoptr(VnOpDoc) doc = NULL;
  g_autofree char *subtitle = NULL;
  gint64 opset;

  g_return_val_if_fail (node != NULL, NULL);

  opset = vn_model_get_opset (node->graph->model, node->domain);
  doc = vn_op_doc_find (node->domain, node->op_type, opset);
  subtitle = operator_popover_dup_subtitle (node, doc);
  popover = gtk_popover_new ();
  scrolled = gtk_scrolled_window_new ();
  box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  gtk_box_append (GTK_BOX (box), vn_label_new (node->op_type, "title-4"));
  gtk_box_append (GTK_BOX (box), vn_label_new (subtitle, "dim-label"));
  operator_popover_add_facts (GTK_BOX (box), node, opset);
  if (doc != NULL)
    {
      operator_popover_add_heading (GTK_BOX (box), _("Description"));
      operator_popover_add_doc (GTK_BOX (box), doc);
    }
  else
    gtk_box_append (GTK_BOX (box), vn_label_new (vn_op_doc_explain_missing (node->domain), "dim-label"));
  gtk_widget_set_margin_start (box, 6);
  gtk_widget_set_margin_end (box, 12);
  gtk_widget_set_margin_top (box, 6);
  gtk_widget_set_margin_bottom (box, 6);
  gtk_widget_set_size_request (box, WIDTH, -1);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scrolled), box);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scrolled), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_propagate_natural_height (GTK_SCROLLED_WINDOW (scrolled), TRUE);
  gtk_scrolled_window_set_max_content_height (GTK_SCROLLED_WINDOW (scrolled), MOST_HEIGHT);
  gtk_popover_set_child (GTK_POPOVER (popover), scrolled);
  gtk_accessible_update_property (GTK_ACCESSIBLE (popover), GTK_ACCESSIBLE_PROPERTY_LABEL, _("About This Operator"), -1);
  return popover;
}
