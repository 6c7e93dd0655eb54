/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What to do next: at most three rows, each with a cure and what it gains of the figure that the verdict rests on; then what was
 * tried already. */
#include "vn-cures-list.h"

#include "vn-button-names.h"
#include "vn-cure-job.h"
#include "vn-cure-offers.h"
#include "vn-cure-row.h"
#include "vn-effect-row.h"
#include "vn-format.h"
#include "vn-gain.h"
#include "vn-i18n.h"
#include "vn-later.h"
#include "vn-rows.h"
#include "vn-run-figures.h"
#include "vn-thresholds.h"

#include <math.h>

/* What measuring all cures may take; it can be cancelled. */
#define MEASURE_SECONDS 120

struct _VnCuresList
{
  AdwBin       parent_instance;

  VnDocument  *document;
  VnJob       *job;          /* that measures the cures, or NULL */
  GtkWidget   *measure, *apply_all, *running;
  GtkProgressBar *progress;
  GtkLabel    *left;
  GtkLabel    *note;         /* what is true of all rows, and of all cures together */
  GtkListBox  *list, *tried;
  GtkWidget   *tried_section;
};

G_DEFINE_FINAL_TYPE (VnCuresList, vn_cures_list, ADW_TYPE_BIN)

/* ---- all together ---- */

/* What all win, on the scale of the verdict: measured when they were applied before, expected from a few
 * samples, or at most the sum of them. */
static char *
cures_list_label_all (VnCuresList        *self,
                      const VnCureBundle *bundle)
{
  VnRun *offered = vn_bench_get_offered (VN_BENCH (self->document)), *now = vn_bench_get_shown (VN_BENCH (self->document));
  const VnEffect *effect = vn_bench_find_effect (VN_BENCH (self->document), bundle->key);
  const VnHeadlineKind scale = vn_cure_offers_get_scale (self->document);
  g_autofree char *most = vn_format_signed_db (bundle->most_db), *gain = NULL;
  VnHeadline before, after;

  if (effect != NULL && effect->measured)
    {
      gain = vn_headline_dup_gain (&effect->before, &effect->after, scale);
      return gain != NULL ? g_strdup_printf (_("_Apply All: %s Measured"), gain) : g_strdup (_("_Apply All"));
    }
  if (scale != VN_HEADLINE_OUTPUTS)
    return g_strdup (_("_Apply All"));
  if (offered == NULL || offered->errors == NULL || now->errors == NULL)
    return g_strdup_printf (_("_Apply All: up to %s"), most);
  vn_run_get_headline (now, &before);
  vn_run_get_headline (offered, &after);
  gain = vn_headline_dup_gain (&before, &after, scale);
  return gain != NULL ? g_strdup_printf (_("_Apply All: %s Estimated"), gain) : g_strdup (_("_Apply All"));
}

static void
cures_list_show_all (VnCuresList        *self,
                     const VnCureBundle *bundle)
{
  g_autofree char *label = bundle != NULL ? cures_list_label_all (self, bundle) : g_strdup (_("_Apply All"));

  gtk_button_set_label (GTK_BUTTON (self->apply_all), label);
  vn_button_names_set (self->apply_all);
  gtk_widget_set_visible (self->apply_all, bundle != NULL);
}

static void
cures_list_show_offered (VnCuresList *self)
{
  g_autoptr(GPtrArray) offers = vn_cure_offers_list (self->document, NULL);
  g_autoptr(VnCureBundle) bundle = vn_cure_bundle_new (self->document, offers);

  cures_list_show_all (self, bundle);
}

static void
cures_list_apply_all (VnCuresList *self)
{
  g_autoptr(GPtrArray) offers = vn_cure_offers_list (self->document, NULL);
  g_autoptr(VnCureBundle) bundle = vn_cure_bundle_new (self->document, offers);

  if (bundle != NULL)
    vn_bench_try (VN_BENCH (self->document), g_steal_pointer (&bundle->recipe), bundle->step, bundle->key);
}

/* ---- one by one ---- */

/* Where it is rounding alone everywhere that is said once. */
static gboolean
cures_list_is_rounding (GPtrArray *offers)
{
  for (guint i = 0; i < offers->len; i++)
    if (((const VnCureOffer *) g_ptr_array_index (offers, i))->why != VN_REASON_ROUNDING)
      return FALSE;
  return offers->len > 0;
}

static void
cures_list_show_note (VnCuresList *self,
                      gboolean     is_rounding,
                      gboolean     unmeasured)
{
  g_autoptr(GString) text = g_string_new (NULL);

  if (is_rounding)
    g_string_append (text, _("No specific cause: rounding error only, at each of these."));
  if (unmeasured)
    g_string_append_printf (text, "%s%s", text->len > 0 ? " " : "", _("The figures show what each tensor costs; the "
                                                                      "gain of a fix is known once it is measured."));
  gtk_label_set_label (self->note, text->str);
  gtk_widget_set_visible (GTK_WIDGET (self->note), text->len > 0);
}

static guint
cures_list_add_effects (VnCuresList *self)
{
  GPtrArray *effects = vn_bench_get_effects (VN_BENCH (self->document));

  for (guint i = effects->len; i > 0; i--)
    gtk_list_box_append (self->tried, vn_effect_row_new (self->document, g_ptr_array_index (effects, i - 1)));
  gtk_widget_set_visible (self->tried_section, effects->len > 0);
  return effects->len;
}

static void
cures_list_fill (VnCuresList *self)
{
  g_autoptr(GPtrArray) offers = vn_cure_offers_list (self->document, NULL), chosen = vn_cure_offers_choose (offers);
  g_autoptr(VnCureBundle) bundle = vn_cure_bundle_new (self->document, offers);
  gboolean unmeasured = FALSE, is_rounding = cures_list_is_rounding (chosen);
  guint n = chosen->len;

  vn_list_box_clear (self->list);
  vn_list_box_clear (self->tried);
  for (guint i = 0; i < n; i++)
    {
      const VnCureOffer *offer = g_ptr_array_index (chosen, i);

      unmeasured |= offer->recipe != NULL && isnan (offer->gain_db);
      gtk_list_box_append (self->list, vn_cure_row_new (self->document, offer, is_rounding
                                                        ? VN_CURE_ROW_NODE : VN_CURE_ROW_REASON));
    }
  gtk_widget_set_visible (GTK_WIDGET (self->list), n > 0);
  n += cures_list_add_effects (self);
  vn_bench_offer (VN_BENCH (self->document), bundle != NULL ? bundle->recipe : NULL);
  gtk_widget_set_visible (self->measure, unmeasured && vn_bench_get_job (VN_BENCH (self->document)) == NULL);
  cures_list_show_note (self, is_rounding, unmeasured);
  cures_list_show_all (self, bundle);
  gtk_widget_set_visible (GTK_WIDGET (self), n > 0);
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

  if (!vn_bench_measure_cures (VN_BENCH (self->document), MEASURE_SECONDS, &error))
    vn_bench_report_error (VN_BENCH (self->document), vn_job_id_get_failure (VN_JOB_CURE), error);
}

static void
cures_list_update_progress (VnCuresList *self)
{
  g_autofree char *stage = vn_job_dup_stage (self->job), *detail = vn_job_dup_detail (self->job);
  double seconds = vn_job_get_seconds_left (self->job);
  g_autofree char *duration = seconds >= 1 ? vn_format_duration (seconds) : NULL;
  g_autofree char *left = duration != NULL ? g_strdup_printf (_("%s left"), duration) : NULL;
  g_autoptr(GStrvBuilder) parts = g_strv_builder_new ();
  const char *texts[] = { stage, detail, left };
  g_auto(GStrv) strv = NULL;
  g_autofree char *text = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    if (texts[i] != NULL && *texts[i] != '\0')
      g_strv_builder_add (parts, texts[i]);
  strv = g_strv_builder_end (parts);
  text = g_strjoinv (" · ", strv);
  gtk_progress_bar_set_fraction (self->progress, vn_job_get_progress (self->job));
  gtk_label_set_label (self->left, text);
}

/* What is applied while cures are measured, or other changes tried, would throw that away. */
static void
cures_list_job_changed (VnCuresList *self)
{
  VnJob *job = vn_bench_get_job (VN_BENCH (self->document));
  const gboolean measures = vn_job_is (job, VN_JOB_CURE), is_trying = vn_bench_is_trying (VN_BENCH (self->document));

  if (self->job != NULL)
    g_signal_handlers_disconnect_by_data (self->job, self);
  g_clear_object (&self->job);
  if (measures)
    {
      self->job = g_object_ref (job);
      g_signal_connect_swapped (job, "notify::progress", G_CALLBACK (cures_list_update_progress), self);
      cures_list_update_progress (self);
    }
  gtk_widget_set_visible (self->running, measures);
  gtk_widget_set_sensitive (GTK_WIDGET (self->list), !is_trying);
  gtk_widget_set_sensitive (self->apply_all, !is_trying);
  cures_list_changed (self);
}

/**
 * vn_cures_list_set_document:
 */
void
vn_cures_list_set_document (VnCuresList *self,
                            VnDocument  *document)
{
  static const char * const signals[] = { "changed::run", "changed::recipe" };

  g_return_if_fail (VN_IS_CURES_LIST (self));
  g_return_if_fail (VN_IS_DOCUMENT (document));

  g_set_object (&self->document, document);
  for (guint i = 0; i < G_N_ELEMENTS (signals); i++)
    g_signal_connect_object (document, signals[i], G_CALLBACK (cures_list_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "work-changed", G_CALLBACK (cures_list_job_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "changed::offered", G_CALLBACK (cures_list_show_offered), self, G_CONNECT_SWAPPED);
  cures_list_fill (self);
}

static void
vn_cures_list_dispose (GObject *object)
{
  VnCuresList *self = VN_CURES_LIST (object);

  if (self->job != NULL)
    g_signal_handlers_disconnect_by_data (self->job, self);
  g_clear_object (&self->job);
  g_clear_object (&self->document);
  G_OBJECT_CLASS (vn_cures_list_parent_class)->dispose (object);
}

static void
vn_cures_list_class_init (VnCuresListClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = vn_cures_list_dispose;
}

static void
cures_list_cancel (VnCuresList *self)
{
  vn_bench_cancel (VN_BENCH (self->document));
}

/* What is shown while the gains are measured. */
static GtkWidget *
cures_list_make_running (VnCuresList *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12), *texts = gtk_box_new (GTK_ORIENTATION_VERTICAL, 4);
  GtkWidget *cancel = vn_button_new_with_mnemonic (_("_Cancel"));

  self->progress = GTK_PROGRESS_BAR (gtk_progress_bar_new ());
  self->left = GTK_LABEL (vn_label_new (NULL, "dim-label"));
  gtk_widget_add_css_class (GTK_WIDGET (self->left), "caption");
  gtk_widget_set_hexpand (texts, TRUE);
  gtk_widget_set_valign (cancel, GTK_ALIGN_CENTER);
  g_signal_connect_swapped (cancel, "clicked", G_CALLBACK (cures_list_cancel), self);
  gtk_box_append (GTK_BOX (texts), GTK_WIDGET (self->left));
  gtk_box_append (GTK_BOX (texts), GTK_WIDGET (self->progress));
  gtk_box_append (GTK_BOX (box), texts);
  gtk_box_append (GTK_BOX (box), cancel);
  gtk_widget_set_visible (box, FALSE);
  return box;
}

static void
vn_cures_list_init (VnCuresList *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 8), *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *title = vn_label_new (_("What to Do Next"), "heading");

  gtk_widget_set_hexpand (title, TRUE);
  self->measure = vn_button_new_with_mnemonic (_("_Measure the Gains"));
  gtk_widget_set_tooltip_text (self->measure, _("Measure Each Fix on Held-Out Samples Without Keeping It"));
  g_signal_connect_swapped (self->measure, "clicked", G_CALLBACK (cures_list_measure), self);
  self->apply_all = vn_button_new_with_mnemonic (_("_Apply All"));
  gtk_widget_set_tooltip_text (self->apply_all, _("Apply All Fixes With a Measured Gain in One Step"));
  g_signal_connect_swapped (self->apply_all, "clicked", G_CALLBACK (cures_list_apply_all), self);
  gtk_widget_add_css_class (self->apply_all, "suggested-action");
  self->note = GTK_LABEL (vn_label_new (NULL, "dim-label"));
  gtk_widget_add_css_class (GTK_WIDGET (self->note), "caption");
  self->list = GTK_LIST_BOX (gtk_list_box_new ());
  gtk_list_box_set_selection_mode (self->list, GTK_SELECTION_NONE);
  gtk_widget_add_css_class (GTK_WIDGET (self->list), "boxed-list");
  self->tried = GTK_LIST_BOX (gtk_list_box_new ());
  gtk_list_box_set_selection_mode (self->tried, GTK_SELECTION_NONE);
  gtk_widget_add_css_class (GTK_WIDGET (self->tried), "boxed-list");
  self->tried_section = vn_section_new (_("Tried So Far"), NULL, GTK_WIDGET (self->tried));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->list), GTK_ACCESSIBLE_PROPERTY_LABEL, _("What to Do Next"), -1);
  gtk_box_append (GTK_BOX (head), title);
  gtk_box_append (GTK_BOX (head), self->measure);
  gtk_box_append (GTK_BOX (head), self->apply_all);
  self->running = cures_list_make_running (self);
  gtk_box_append (GTK_BOX (box), head);
  gtk_box_append (GTK_BOX (box), self->running);
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->note));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->list));
  gtk_box_append (GTK_BOX (box), self->tried_section);
  adw_bin_set_child (ADW_BIN (self), box);
}
