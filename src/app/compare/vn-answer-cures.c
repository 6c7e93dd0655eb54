/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Beside answers that are lost: how many are kept, and what would win the others back. */
#include "vn-answer-cures.h"

#include "vn-cure-job.h"
#include "vn-cure-row.h"
#include "vn-i18n.h"
#include "vn-later.h"
#include "vn-rows.h"

#include <math.h>

#define WIDTH 276
#define MEASURE_SECONDS 120

struct _VnAnswerCures
{
  GtkWidget    parent_instance;

  VnDocument  *document;
  gboolean     are_lost;
  GtkWidget   *scroller, *figures, *section, *measure, *none;
  GtkListBox  *list;
};

G_DEFINE_FINAL_TYPE (VnAnswerCures, vn_answer_cures, GTK_TYPE_WIDGET)

/* What costs answers is not offered to win them back. */
static guint
answer_cures_fill_list (VnAnswerCures *self,
                        gboolean      *unmeasured)
{
  g_autoptr(GPtrArray) offers = vn_cure_offers_list (self->document, NULL), chosen = vn_cure_offers_choose (offers);
  guint n = 0;

  for (guint i = 0; i < chosen->len; i++)
    {
      const VnCureOffer *offer = g_ptr_array_index (chosen, i);

      if (offer->recipe == NULL || offer->gain <= 0)
        continue;
      *unmeasured |= isnan (offer->gain_db);
      gtk_list_box_append (self->list, vn_cure_row_new (self->document, offer, VN_CURE_ROW_NARROW));
      n++;
    }
  return n;
}

static void
answer_cures_fill (VnAnswerCures *self)
{
  VnBench *bench = VN_BENCH (self->document);
  gboolean unmeasured = FALSE;
  guint n;

  vn_list_box_clear (self->list);
  n = self->are_lost ? answer_cures_fill_list (self, &unmeasured) : 0;
  gtk_widget_set_visible (GTK_WIDGET (self->list), n > 0);
  gtk_widget_set_visible (self->measure, unmeasured && vn_bench_get_job (bench) == NULL);
  gtk_widget_set_visible (self->none, n == 0 && vn_bench_get_origins_job (bench) == NULL);
  gtk_widget_set_sensitive (GTK_WIDGET (self->list), !vn_bench_is_trying (bench));
  gtk_widget_set_visible (self->section, self->are_lost);
}

static void
answer_cures_changed (VnAnswerCures *self)
{
  vn_later (self, self->document, (VnLaterFunc) answer_cures_fill);
}

static void
answer_cures_measure (VnAnswerCures *self)
{
  g_autoptr(GError) error = NULL;

  if (!vn_bench_measure_cures (VN_BENCH (self->document), MEASURE_SECONDS, &error))
    vn_bench_report_error (VN_BENCH (self->document), vn_job_id_get_failure (VN_JOB_CURE), error);
}

/* ---- widget ---- */

static void
vn_answer_cures_dispose (GObject *object)
{
  VnAnswerCures *self = VN_ANSWER_CURES (object);

  g_clear_pointer (&self->scroller, gtk_widget_unparent);
  g_clear_object (&self->document);
  G_OBJECT_CLASS (vn_answer_cures_parent_class)->dispose (object);
}

static void
vn_answer_cures_class_init (VnAnswerCuresClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = vn_answer_cures_dispose;
  gtk_widget_class_set_layout_manager_type (GTK_WIDGET_CLASS (klass), GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_accessible_role (GTK_WIDGET_CLASS (klass), GTK_ACCESSIBLE_ROLE_GROUP);
}

static GtkWidget *
answer_cures_make_section (VnAnswerCures *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 8);

  self->list = GTK_LIST_BOX (gtk_list_box_new ());
  gtk_list_box_set_selection_mode (self->list, GTK_SELECTION_NONE);
  gtk_widget_add_css_class (GTK_WIDGET (self->list), "boxed-list");
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->list), GTK_ACCESSIBLE_PROPERTY_LABEL, _("What Wins Them Back"), -1);
  self->none = vn_label_new (_("No fix is known: measure where the error starts, in the step Review."), "dim-label");
  gtk_widget_add_css_class (self->none, "caption");
  self->measure = gtk_button_new_with_label (_("Measure the Gains"));
  gtk_widget_set_tooltip_text (self->measure, _("Measure Each Fix on Held-Out Samples Without Keeping It"));
  g_signal_connect_swapped (self->measure, "clicked", G_CALLBACK (answer_cures_measure), self);
  gtk_box_append (GTK_BOX (box), vn_label_new (_("What Wins Them Back"), "heading"));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->list));
  gtk_box_append (GTK_BOX (box), self->measure);
  gtk_box_append (GTK_BOX (box), self->none);
  return box;
}

static void
vn_answer_cures_init (VnAnswerCures *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 14);

  self->figures = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  self->section = answer_cures_make_section (self);
  gtk_box_append (GTK_BOX (box), self->figures);
  gtk_box_append (GTK_BOX (box), self->section);
  self->scroller = gtk_scrolled_window_new ();
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (self->scroller), box);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (self->scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_widget_set_size_request (self->scroller, WIDTH, -1);
  gtk_widget_set_parent (self->scroller, GTK_WIDGET (self));
}

/**
 * vn_answer_cures_new:
 *
 * Returns: (transfer floating): of no document yet
 */
GtkWidget *
vn_answer_cures_new (void)
{
  return g_object_new (VN_TYPE_ANSWER_CURES, NULL);
}

/**
 * vn_answer_cures_set_document:
 */
void
vn_answer_cures_set_document (VnAnswerCures *self,
                              VnDocument    *document)
{
  static const char * const signals[] = { "changed::run", "changed::recipe", "work-changed" };

  g_return_if_fail (VN_IS_ANSWER_CURES (self) && VN_IS_DOCUMENT (document) && self->document == NULL);

  self->document = g_object_ref (document);
  for (guint i = 0; i < G_N_ELEMENTS (signals); i++)
    g_signal_connect_object (document, signals[i], G_CALLBACK (answer_cures_changed), self, G_CONNECT_SWAPPED);
  answer_cures_fill (self);
}

/**
 * vn_answer_cures_set_answers:
 * @figures: (nullable): how many are kept
 * @caption: what is counted
 * @are_lost: whether there is something to win back
 */
void
vn_answer_cures_set_answers (VnAnswerCures *self,
                             const char    *figures,
                             const char    *caption,
                             gboolean       are_lost)
{
  g_return_if_fail (VN_IS_ANSWER_CURES (self) && caption != NULL);

  vn_box_clear (self->figures);
  if (figures != NULL)
    gtk_box_append (GTK_BOX (self->figures), vn_figure_new (figures, caption));
  self->are_lost = are_lost;
  if (self->document != NULL)
    answer_cures_fill (self);
}

/**
 * vn_answer_cures_add_figure:
 * @figures: what is told beside how many are kept
 * @caption: what it is
 */
void
vn_answer_cures_add_figure (VnAnswerCures *self,
                            const char    *figures,
                            const char    *caption)
{
  g_return_if_fail (VN_IS_ANSWER_CURES (self) && figures != NULL && caption != NULL);

  gtk_box_append (GTK_BOX (self->figures), vn_figure_new (figures, caption));
}
