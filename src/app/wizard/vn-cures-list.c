/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of what to try: a row for each reason of error with the next cure of it. */
#include "vn-cures-list.h"

#include "vn-cure-offers.h"
#include "vn-cure-row.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-later.h"
#include "vn-rows.h"
#include "vn-thresholds.h"

#include <math.h>

#define MAX_ROWS 6
#define LEAST_ROWS 2     /* also of what is hardly worth it */

/* What measuring all cures may take; it can be cancelled. */
#define MEASURE_SECONDS 120

struct _VnCuresList
{
  AdwBin       parent_instance;

  VnDocument  *document;
  GtkWidget   *measure, *apply_all;
  GtkLabel    *together;     /* what all are expected to win, and what they have won */
  GtkListBox  *list;
};

G_DEFINE_FINAL_TYPE (VnCuresList, vn_cures_list, ADW_TYPE_BIN)

/* ---- all together ---- */

static char *
cures_list_describe_expected (const VnCureBundle *bundle)
{
  g_autofree char *least = vn_format_signed_db (bundle->least_db), *most = vn_format_signed_db (bundle->most_db);

  return g_strdup_printf (ngettext ("%u cure together: expected %s to %s", "%u cures together: expected %s to %s", bundle->n), bundle->n,
                          least, most);
}

/* What was won, also where that is nothing; a change that was taken back has won nothing that lasts. */
static char *
cures_list_describe_effect (VnCuresList    *self,
                            const VnEffect *effect)
{
  g_autofree char *before = vn_format_db (effect->before_db), *after = vn_format_db (effect->after_db);

  if (!vn_document_is_in_force (self->document, effect))
    return NULL;
  if (!effect->measured)
    return g_strdup_printf (vn_document_is_measuring (self->document, effect) ? _("%s: being measured") : _("%s: not measured"), effect->title);
  return g_strdup_printf (vn_effect_has_helped (effect) ? _("%s: outputs %s → %s") : _("%s did not help: outputs %s → %s"), effect->title, before,
                          after);
}

static void
cures_list_show_together (VnCuresList *self,
                          GPtrArray   *offers)
{
  g_autoptr(VnCureBundle) bundle = vn_cure_bundle_new (self->document, offers);
  const VnEffect *effect = vn_cure_bundle_find_effect (self->document);
  g_autofree char *gained = effect != NULL ? cures_list_describe_effect (self, effect) : NULL;
  g_autofree char *expected = bundle != NULL ? cures_list_describe_expected (bundle) : NULL;
  g_autofree char *text = g_strjoin (gained != NULL && expected != NULL ? " · " : "", gained != NULL ? gained : "",
                                     expected != NULL ? expected : "", NULL);

  gtk_widget_set_visible (self->apply_all, bundle != NULL);
  gtk_label_set_label (self->together, text);
  gtk_widget_set_visible (GTK_WIDGET (self->together), *text != '\0');
}

static void
cures_list_apply_all (VnCuresList *self)
{
  g_autoptr(GPtrArray) offers = vn_cure_offers_list (self->document, NULL);
  g_autoptr(VnCureBundle) bundle = vn_cure_bundle_new (self->document, offers);

  if (bundle != NULL)
    vn_document_try (self->document, g_steal_pointer (&bundle->recipe), bundle->step, bundle->key);
}

/* ---- one by one ---- */

static void
cures_list_fill (VnCuresList *self)
{
  g_autoptr(GPtrArray) offers = vn_cure_offers_list (self->document, NULL);
  GtkWidget *child;
  gboolean unmeasured = FALSE;
  guint n = 0;

  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self->list))) != NULL)
    gtk_list_box_remove (self->list, child);
  for (guint i = 0; i < offers->len && n < MAX_ROWS; i++)
    {
      const VnCureOffer *offer = g_ptr_array_index (offers, i);

      if (isnan (offer->gain_db) && offer->most_db < VN_LEAST_GAIN_DB && n >= LEAST_ROWS)
        continue;
      n++;
      unmeasured |= offer->recipe != NULL && isnan (offer->gain_db);
      gtk_list_box_append (self->list, vn_cure_row_new (self->document, offer, TRUE));
    }
  gtk_widget_set_visible (self->measure, unmeasured && vn_document_get_job (self->document) == NULL);
  gtk_widget_set_visible (GTK_WIDGET (self->list), n > 0);
  cures_list_show_together (self, offers);
  gtk_widget_set_visible (GTK_WIDGET (self), n > 0 || gtk_widget_get_visible (GTK_WIDGET (self->together)));
}

static void
cures_list_changed (VnCuresList *self)
{
  vn_later (self, self->document, (VnLaterFunc) cures_list_fill);
}

static void
cures_list_measure (VnCuresList *self)
{
  g_autoptr(GError) error = NULL;

  if (!vn_document_measure_cures (self->document, MEASURE_SECONDS, &error))
    g_signal_emit_by_name (self->document, "failed", _("The cures could not be measured"), error);
}

/**
 * vn_cures_list_set_document:
 */
void
vn_cures_list_set_document (VnCuresList *self,
                            VnDocument  *document)
{
  static const char * const signals[] = { "result-changed", "recipe-changed", "job-changed" };

  g_return_if_fail (VN_IS_CURES_LIST (self));
  g_return_if_fail (VN_IS_DOCUMENT (document));

  g_set_object (&self->document, document);
  for (guint i = 0; i < G_N_ELEMENTS (signals); i++)
    g_signal_connect_object (document, signals[i], G_CALLBACK (cures_list_changed), self, G_CONNECT_SWAPPED);
  cures_list_fill (self);
}

static void
vn_cures_list_dispose (GObject *object)
{
  g_clear_object (&VN_CURES_LIST (object)->document);
  G_OBJECT_CLASS (vn_cures_list_parent_class)->dispose (object);
}

static void
vn_cures_list_class_init (VnCuresListClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = vn_cures_list_dispose;
}

static void
vn_cures_list_init (VnCuresList *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 8), *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *title = vn_label_new (_("What to Try"), "heading");

  gtk_widget_set_hexpand (title, TRUE);
  self->measure = gtk_button_new_with_mnemonic (_("_Measure the Gains"));
  gtk_widget_set_tooltip_text (self->measure, _("Try Each Cure on Held-Out Samples, Keep None"));
  g_signal_connect_swapped (self->measure, "clicked", G_CALLBACK (cures_list_measure), self);
  self->apply_all = gtk_button_new_with_mnemonic (_("_Apply All"));
  gtk_widget_set_tooltip_text (self->apply_all, _("Apply All Cures That Measured a Gain, in One Step"));
  g_signal_connect_swapped (self->apply_all, "clicked", G_CALLBACK (cures_list_apply_all), self);
  self->together = GTK_LABEL (vn_label_new (NULL, "numeric"));
  self->list = GTK_LIST_BOX (gtk_list_box_new ());
  gtk_list_box_set_selection_mode (self->list, GTK_SELECTION_NONE);
  gtk_widget_add_css_class (GTK_WIDGET (self->list), "boxed-list");
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->list), GTK_ACCESSIBLE_PROPERTY_LABEL, _("What to Try"), -1);
  gtk_box_append (GTK_BOX (head), title);
  gtk_box_append (GTK_BOX (head), self->measure);
  gtk_box_append (GTK_BOX (head), self->apply_all);
  gtk_box_append (GTK_BOX (box), head);
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->together));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->list));
  adw_bin_set_child (ADW_BIN (self), box);
}
