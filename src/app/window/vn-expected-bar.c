/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The line that says that figures are only expected, or that a change takes a whole run. */
#include "vn-expected-bar.h"

#include "vn-button-names.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-rows.h"

struct _VnExpectedBar
{
  AdwBin       parent_instance;

  VnDocument  *document;
  GtkRevealer *revealer;
  GtkImage    *icon;
  GtkSpinner  *spinner;
  GtkLabel    *title, *text;
  GtkWidget   *run;
};

G_DEFINE_FINAL_TYPE (VnExpectedBar, vn_expected_bar, ADW_TYPE_BIN)

static gboolean
expected_bar_is_running (VnExpectedBar *self)
{
  VnJob *job = vn_bench_get_job (VN_BENCH (self->document));

  return vn_job_is (job, VN_JOB_QUANTIZE);
}

/* What becomes of the outputs, and on how many samples that was seen. */
static char *
expected_bar_describe (VnExpectedBar *self)
{
  VnRun *before = vn_bench_get_confirmed (VN_BENCH (self->document)), *after = vn_bench_get_shown (VN_BENCH (self->document));
  guint n = vn_bench_count_expected_on (VN_BENCH (self->document));
  g_autofree char *samples = g_strdup_printf (ngettext ("measured on %u sample", "measured on %u samples", n), n);
  g_autofree char *from = NULL, *to = NULL;

  if (before->errors == NULL || after->errors == NULL)
    return g_steal_pointer (&samples);
  from = vn_format_db (vn_error_table_get_worst_sqnr (before->errors, NULL));
  to = vn_format_db (vn_error_table_get_worst_sqnr (after->errors, NULL));
  return g_strdup_printf (_("outputs %s → %s, %s"), from, to, samples);
}

/* On how many samples, and what is left out. */
static char *
expected_bar_describe_around (VnExpectedBar *self)
{
  VnBench *bench = VN_BENCH (self->document);
  const VnRun *run = vn_bench_get_shown (bench);
  const guint n = vn_error_table_get_n_samples (run->errors);
  g_autoptr(GString) text = g_string_new (NULL);

  g_string_append_printf (text, ngettext ("measured on %u sample", "measured on %u samples", n), n);
  for (guint i = 0; i < vn_notes_get_n (run->notes); i++)
    g_string_append_printf (text, " · %s", vn_notes_get (run->notes, i)->text);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static char *
expected_bar_make_text (VnExpectedBar *self,
                        VnExpecting    expecting)
{
  g_autofree char *what = NULL;

  if (expecting == VN_EXPECTING_SOON)
    return g_strdup ("");
  if (expecting == VN_EXPECTING_AROUND)
    what = expected_bar_describe_around (self);
  else if (expecting == VN_EXPECTING_PAST)
    what = g_strdup (_("results are stored, the model is not: exporting needs a full run"));
  else
    what = expecting == VN_EXPECTING_SHOWN ? expected_bar_describe (self)
           : g_strdup (vn_bench_get_refusal (VN_BENCH (self->document)));
  if (expected_bar_is_running (self))
    return g_strdup_printf (_("%s · full run in progress"), what);
  return g_steal_pointer (&what);
}

static void
expected_bar_update (VnExpectedBar *self)
{
  static const char * const titles[] = {
    [VN_EXPECTING_NOTHING] = "",
    [VN_EXPECTING_SOON] = N_("Measuring the Effect of the Change"),
    [VN_EXPECTING_SHOWN] = N_("Estimated"),
    [VN_EXPECTING_REFUSED] = N_("Needs a Full Run"),
    [VN_EXPECTING_PAST] = N_("From an Earlier Run"),
    [VN_EXPECTING_AROUND] = N_("From the Run of the Whole Model"),
  };
  VnExpecting expecting = vn_bench_get_expecting (VN_BENCH (self->document));
  gboolean soon = expecting == VN_EXPECTING_SOON;
  g_autofree char *text = NULL;

  gtk_revealer_set_reveal_child (self->revealer, expecting != VN_EXPECTING_NOTHING);
  if (expecting == VN_EXPECTING_NOTHING)   /* it slides away as it was */
    {
      gtk_spinner_stop (self->spinner);
      return;
    }
  text = expected_bar_make_text (self, expecting);
  gtk_label_set_label (self->title, _(titles[expecting]));
  gtk_label_set_label (self->text, text);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->text), text);
  gtk_spinner_set_spinning (self->spinner, soon);
  gtk_widget_set_visible (GTK_WIDGET (self->spinner), soon);
  gtk_widget_set_visible (GTK_WIDGET (self->icon), !soon);
  gtk_image_set_from_icon_name (self->icon, expecting == VN_EXPECTING_REFUSED
                                ? "dialog-warning-symbolic" : "dialog-information-symbolic");
  gtk_widget_set_visible (self->run, !soon && expecting != VN_EXPECTING_AROUND &&
                          vn_bench_get_job (VN_BENCH (self->document)) == NULL);
}

static void
expected_bar_run (VnExpectedBar *self)
{
  g_autoptr(GError) error = NULL;

  if (!vn_bench_quantize (VN_BENCH (self->document), &error))
    vn_bench_report_error (VN_BENCH (self->document), vn_job_id_get_failure (VN_JOB_QUANTIZE), error);
}

/**
 * vn_expected_bar_set_document:
 */
void
vn_expected_bar_set_document (VnExpectedBar *self,
                              VnDocument    *document)
{
  static const char * const signals[] = { "changed::expected", "work-changed", "changed::run" };

  g_return_if_fail (VN_IS_EXPECTED_BAR (self));
  g_return_if_fail (VN_IS_DOCUMENT (document));

  g_set_object (&self->document, document);
  for (guint i = 0; i < G_N_ELEMENTS (signals); i++)
    g_signal_connect_object (document, signals[i], G_CALLBACK (expected_bar_update), self, G_CONNECT_SWAPPED);
  expected_bar_update (self);
}

static void
vn_expected_bar_dispose (GObject *object)
{
  g_clear_object (&VN_EXPECTED_BAR (object)->document);
  G_OBJECT_CLASS (vn_expected_bar_parent_class)->dispose (object);
}

static void
vn_expected_bar_class_init (VnExpectedBarClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = vn_expected_bar_dispose;
  gtk_widget_class_set_accessible_role (GTK_WIDGET_CLASS (klass), GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
vn_expected_bar_init (VnExpectedBar *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);

  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Estimated"), -1);
  self->icon = GTK_IMAGE (gtk_image_new ());
  self->spinner = GTK_SPINNER (gtk_spinner_new ());
  self->title = GTK_LABEL (vn_label_new (NULL, "heading"));
  self->text = GTK_LABEL (vn_label_new (NULL, "numeric"));
  gtk_label_set_wrap (self->title, FALSE);
  gtk_label_set_wrap (self->text, FALSE);
  gtk_label_set_ellipsize (self->text, PANGO_ELLIPSIZE_END);
  gtk_widget_set_hexpand (GTK_WIDGET (self->text), TRUE);
  self->run = vn_button_new_with_mnemonic (_("_Run Now"));
  gtk_widget_set_valign (self->run, GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text (self->run, _("Quantize and Measure on All Samples with This Recipe"));
  g_signal_connect_swapped (self->run, "clicked", G_CALLBACK (expected_bar_run), self);
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->spinner));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->icon));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->title));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->text));
  gtk_box_append (GTK_BOX (box), self->run);
  self->revealer = vn_foot_set_content (ADW_BIN (self), box);
}
