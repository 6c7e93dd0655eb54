/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The strip of samples in the pane of one tensor, the worst of them, and what can be done about its error. */
#include "compare-tensor-private.h"

#include "vn-cure-row.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-rows.h"
#include "vn-sample-thumb.h"

#include <math.h>

#define STRIP_LENGTH 4
#define N_WORST 3
#define MOST_FIXES 2

/* ---- samples ---- */

static void
compare_tensor_thumb_clicked (GtkButton       *button,
                              VnCompareTensor *self)
{
  g_signal_emit_by_name (self, "sample-chosen", GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (button), "sample")));
}

static GtkWidget *
compare_tensor_make_thumb (VnCompareTensor *self,
                           VnDataset       *dataset,
                           guint            number)
{
  GtkWidget *button = gtk_button_new ();
  guint index = vn_tensor_reader_get_sample (self->reader, number);
  const char *name = vn_dataset_get_name (dataset, index);
  g_autofree char *label = g_strdup_printf (_("Show %s"), name);

  gtk_button_set_child (GTK_BUTTON (button), vn_sample_thumb_new (dataset, index, number + 1));
  gtk_widget_add_css_class (button, "flat");
  gtk_widget_add_css_class (button, "thumb");
  if (number == self->sample)
    gtk_widget_add_css_class (button, "chosen");
  gtk_widget_set_tooltip_text (button, name);
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
  g_object_set_data (G_OBJECT (button), "sample", GUINT_TO_POINTER (number));
  g_signal_connect (button, "clicked", G_CALLBACK (compare_tensor_thumb_clicked), self);
  return button;
}

/**
 * _vn_compare_tensor_show_strip:
 *
 * Some of the samples, the chosen one marked.
 */
void
_vn_compare_tensor_show_strip (VnCompareTensor *self)
{
  g_autoptr(VnDataset) dataset = self->reader != NULL ? vn_tensor_reader_ref_dataset (self->reader) : NULL;
  guint n = self->reader != NULL ? vn_tensor_reader_get_n_samples (self->reader) : 0;

  vn_box_clear (self->strip);
  if (dataset == NULL || n == 0)
    return;
  if (self->first_photo >= n)
    self->first_photo = 0;
  gtk_label_set_label (self->photo_label, vn_dataset_is_image (dataset) ? _("Image") : _("Sample"));
  for (guint i = self->first_photo; i < MIN (self->first_photo + STRIP_LENGTH, n); i++)
    gtk_box_append (GTK_BOX (self->strip), compare_tensor_make_thumb (self, dataset, i));
  gtk_widget_set_visible (GTK_WIDGET (self->more_photos), n > STRIP_LENGTH);
}

static guint
compare_tensor_find_worst (const GArray *sqnr,
                           const guint  *taken,
                           guint         n_taken)
{
  guint worst = G_MAXUINT;

  for (guint i = 0; i < sqnr->len; i++)
    {
      gboolean is_taken = isnan (g_array_index (sqnr, double, i));

      for (guint k = 0; k < n_taken; k++)
        is_taken |= taken[k] == i;
      if (!is_taken && (worst == G_MAXUINT || g_array_index (sqnr, double, i) < g_array_index (sqnr, double, worst)))
        worst = i;
    }
  return worst;
}

/**
 * _vn_compare_tensor_show_worst:
 *
 * The samples with the largest error, once all were run.
 */
void
_vn_compare_tensor_show_worst (VnCompareTensor *self)
{
  g_autoptr(VnDataset) dataset = self->reader != NULL ? vn_tensor_reader_ref_dataset (self->reader) : NULL;
  const GArray *sqnr = self->all != NULL ? self->all->sqnr : NULL;
  guint taken[N_WORST], n = 0;

  vn_box_clear (self->worst);
  gtk_widget_set_visible (GTK_WIDGET (self->worst_title), sqnr != NULL && sqnr->len > 1 && dataset != NULL);
  if (sqnr == NULL || sqnr->len < 2 || dataset == NULL)
    return;
  gtk_label_set_label (self->worst_title, vn_dataset_is_image (dataset)
                       ? _("Worst images for this tensor") : _("Worst samples for this tensor"));
  for (; n < N_WORST; n++)
    {
      guint worst = compare_tensor_find_worst (sqnr, taken, n);
      g_autofree char *db = NULL;
      GtkWidget *box, *value;

      if (worst == G_MAXUINT)
        return;
      taken[n] = worst;
      db = vn_format_db (g_array_index (sqnr, double, worst));
      box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
      gtk_box_append (GTK_BOX (box), compare_tensor_make_thumb (self, dataset, worst));
      value = gtk_label_new (db);
      gtk_widget_add_css_class (value, "numeric");
      gtk_box_append (GTK_BOX (box), value);
      gtk_box_append (GTK_BOX (self->worst), box);
    }
}

/* ---- fixes ---- */

static void
compare_tensor_wider_clicked (VnCompareTensor *self)
{
  if (self->node != VN_MATCH_NONE)
    vn_bench_try_precision (VN_BENCH (self->document), self->node, VN_NODE_16_BIT);
}

static void
compare_tensor_add_fix (VnCompareTensor *self,
                        GtkWidget       *button)
{
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_widget_set_halign (button, GTK_ALIGN_START);
  gtk_flow_box_append (GTK_FLOW_BOX (self->fixes), button);
}

static void
compare_tensor_add_wider (VnCompareTensor *self,
                          VnNodeItem      *item)
{
  g_autofree char *key = vn_bench_dup_precision_key (VN_BENCH (self->document), self->node, VN_NODE_16_BIT);
  GtkWidget *button;

  if (vn_bench_find_effect (VN_BENCH (self->document), key) != NULL || vn_dtype_get_bits (item->precision) != 8)
    return;
  button = gtk_button_new_with_label (_("Use 16-Bit Here"));
  g_signal_connect_swapped (button, "clicked", G_CALLBACK (compare_tensor_wider_clicked), self);
  compare_tensor_add_fix (self, button);
}

static void
compare_tensor_add_show (VnCompareTensor *self)
{
  GtkWidget *button = gtk_button_new_with_label (_("Show in Graph"));

  gtk_widget_add_css_class (button, "flat");
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "win.show-in-graph");
  compare_tensor_add_fix (self, button);
}

/**
 * _vn_compare_tensor_show_fixes:
 *
 * Why the tensor has its error, and the cures of the present result that are for it.
 */
void
_vn_compare_tensor_show_fixes (VnCompareTensor *self)
{
  g_autoptr(VnNodeItem) item = NULL;
  g_autoptr(GPtrArray) offers = NULL;
  g_autofree char *reason = NULL;
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (self->fixes)) != NULL)
    gtk_flow_box_remove (GTK_FLOW_BOX (self->fixes), child);
  item = self->node != VN_MATCH_NONE ? g_list_model_get_item (vn_document_get_nodes (self->document), self->node) : NULL;
  if (item == NULL)
    return;
  /* they are made for the quantized network as it is now, whatever else is beside it */
  if (vn_bench_get_shown (VN_BENCH (self->document)) != NULL && self->models[1] != NULL &&
      !vn_compared_model_is_file (self->models[1]))
    {
      reason = vn_cure_offers_dup_reason (self->document, item);
      offers = vn_cure_offers_list (self->document, item);
      for (guint i = 0; i < MIN (offers->len, MOST_FIXES); i++)
        if (((const VnCureOffer *) g_ptr_array_index (offers, i))->recipe != NULL)
          compare_tensor_add_fix (self, vn_cure_button_new (self->document, g_ptr_array_index (offers, i)));
      if (gtk_widget_get_first_child (self->fixes) == NULL)
        compare_tensor_add_wider (self, item);
    }
  compare_tensor_add_show (self);
  gtk_label_set_label (self->cause, reason != NULL ? reason : "");
  gtk_widget_set_visible (GTK_WIDGET (self->cause), reason != NULL);
}
