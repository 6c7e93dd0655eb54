/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A cure as the review and the inspector show it. */
#include "vn-cure-row.h"

#include "vn-format.h"
#include "vn-gain.h"
#include "vn-i18n.h"

#include <math.h>

typedef struct
{
  VnDocument *document;
  VnRecipe   *recipe;
  char       *step, *key;
} Application;

static void
cure_row_free_application (gpointer  data,
                           GClosure *closure)
{
  Application *self = data;

  g_object_unref (self->document);
  vn_recipe_free (self->recipe);
  g_free (self->step);
  g_free (self->key);
  g_free (self);
}

static void
cure_row_apply (Application *self)
{
  vn_bench_try (VN_BENCH (self->document), vn_recipe_copy (self->recipe), self->step, self->key);
}

static GtkWidget *
cure_row_make_button (VnDocument        *document,
                      const VnCureOffer *offer)
{
  GtkWidget *button = gtk_button_new_with_label (_("Apply"));
  g_autofree char *name = g_strdup_printf (_("Apply %s"), offer->step);
  Application *application = g_new0 (Application, 1);

  *application = (Application) { g_object_ref (document), vn_recipe_copy (offer->recipe), g_strdup (offer->step),
                                 g_strdup (offer->key) };
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
  g_signal_connect_data (button, "clicked", G_CALLBACK (cure_row_apply), application, cure_row_free_application,
                         G_CONNECT_SWAPPED);
  return button;
}

/* "+2.1 dB" if the gain was measured, else about what its tensor costs, or "": on the scale of the verdict. */
static char *
cure_row_dup_gain (VnDocument        *document,
                   const VnCureOffer *offer)
{
  g_autofree char *db = isnan (offer->most_db) ? NULL : vn_format_db (offer->most_db);

  if (offer->gain_text != NULL)
    return g_strdup (offer->gain_text);
  if (offer->recipe != NULL && vn_cure_offers_get_scale (document) != VN_HEADLINE_OUTPUTS)
    return g_strdup (_("gain not measured"));
  return db == NULL ? g_strdup ("") : g_strdup_printf (_("costs about %s"), db);
}

static char *
cure_row_dup_name (VnDocument        *document,
                   const VnCureOffer *offer)
{
  g_autoptr(VnNodeItem) item = offer->node != G_MAXUINT
                               ? g_list_model_get_item (vn_document_get_nodes (document), offer->node) : NULL;

  return item != NULL ? vn_node_dup_title (item->node) : NULL;
}

/* What it is for, and what was tried before it in vain. */
static char *
cure_row_describe (VnDocument        *document,
                   const VnCureOffer *offer,
                   VnCureRowForm      form)
{
  g_autofree char *name = cure_row_dup_name (document, offer), *about = NULL;

  if (name == NULL)
    about = g_strdup (offer->reason);
  else if (form == VN_CURE_ROW_NODE)
    about = g_strdup (name);
  else if (offer->why == VN_REASON_ROUNDING)
    about = g_strdup_printf (_("%s: rounding error only"), name);
  else
    about = g_strdup_printf ("%s: %s", name, offer->reason);
  return offer->in_vain != NULL ? g_strdup_printf (_("%s · this did not help: %s"), about, offer->in_vain)
         : g_steal_pointer (&about);
}

/* All in one line: for rows that have no room at the right. */
static char *
cure_row_describe_narrow (VnDocument        *document,
                          const VnCureOffer *offer)
{
  g_autofree char *gain = cure_row_dup_gain (document, offer), *cost = NULL;

  if (offer->in_vain != NULL)
    return *gain != '\0' ? g_strdup_printf (_("%s · this did not help: %s"), gain, offer->in_vain)
                         : g_strdup_printf (_("This did not help: %s"), offer->in_vain);
  if (isnan (offer->gain_db))
    return g_steal_pointer (&gain);
  cost = vn_gain_dup_cost (offer->bytes, offer->time_ratio);
  return offer->gain_count != NULL ? g_strjoin (" · ", gain, offer->gain_count, cost, NULL) : g_strjoin (" · ", gain, cost, NULL);
}

static GtkWidget *
cure_row_make_gain (VnDocument        *document,
                    const VnCureOffer *offer)
{
  g_autofree char *text = NULL;
  GtkWidget *label;

  if (offer->gain_text != NULL)
    return vn_gain_new (offer->gain_text, offer->gain_count, offer->gain > 0, offer->bytes, offer->time_ratio);
  text = cure_row_dup_gain (document, offer);
  label = gtk_label_new (text);
  gtk_widget_add_css_class (label, "numeric");
  gtk_widget_add_css_class (label, "caption");
  gtk_widget_add_css_class (label, "dim-label");
  return label;
}

/**
 * vn_cure_row_new:
 *
 * Returns: (transfer floating): the row
 */
GtkWidget *
vn_cure_row_new (VnDocument        *document,
                 const VnCureOffer *offer,
                 VnCureRowForm      form)
{
  g_autofree char *about = NULL;
  GtkWidget *row;

  g_return_val_if_fail (VN_IS_DOCUMENT (document) && offer != NULL, NULL);

  row = adw_action_row_new ();
  about = form == VN_CURE_ROW_NARROW ? cure_row_describe_narrow (document, offer) : cure_row_describe (document, offer, form);
  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), offer->title);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), about);
  if (form != VN_CURE_ROW_NARROW)
    adw_action_row_add_suffix (ADW_ACTION_ROW (row), cure_row_make_gain (document, offer));
  if (offer->recipe != NULL)
    adw_action_row_add_suffix (ADW_ACTION_ROW (row), cure_row_make_button (document, offer));
  return row;
}

/**
 * vn_cure_button_new:
 * @offer: with a recipe
 *
 * Returns: (transfer floating): a button that applies it
 */
GtkWidget *
vn_cure_button_new (VnDocument        *document,
                    const VnCureOffer *offer)
{
  g_autofree char *gain = NULL, *label = NULL;
  GtkWidget *button;

  g_return_val_if_fail (VN_IS_DOCUMENT (document) && offer != NULL && offer->recipe != NULL, NULL);

  gain = cure_row_dup_gain (document, offer);
  label = !isnan (offer->gain_db) ? g_strdup_printf ("%s  %s", offer->title, gain) : g_strdup (offer->title);
  button = cure_row_make_button (document, offer);
  gtk_button_set_label (GTK_BUTTON (button), label);
  gtk_widget_set_tooltip_text (button, *gain != '\0' ? gain : NULL);
  return button;
}
