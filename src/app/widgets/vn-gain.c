/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A gain over what it costs in bytes and time, as rows of changes show it at their right. */
#include "vn-gain.h"

#include "vn-format.h"
#include "vn-i18n.h"

#include <math.h>

#define LEAST_TIME 0.005     /* less is not worth a word: forecasts are not that good */

/**
 * vn_gain_dup_cost:
 * @bytes: that the file grows by
 * @time_ratio: of the times after and before; NaN or 0: not known
 *
 * Returns: (transfer full): "+18 kB · time +3 %"
 */
char *
vn_gain_dup_cost (gint64 bytes,
                  double time_ratio)
{
  g_autofree char *amount = vn_format_bytes ((guint64) ABS (bytes));
  g_autofree char *size = bytes == 0 ? g_strdup (_("same size")) : g_strconcat (bytes > 0 ? "+" : "\u2212", amount, NULL);
  g_autofree char *number = NULL, *share = NULL, *time = NULL;

  if (!(time_ratio > 0) || !(fabs (time_ratio - 1) >= LEAST_TIME))
    return g_steal_pointer (&size);
  number = vn_format_decimals (100 * fabs (time_ratio - 1), time_ratio < 1.1 && time_ratio > 0.9 ? 1 : 0);
  share = g_strconcat (time_ratio > 1 ? "+" : "\u2212", number, "\u00a0%", NULL);
  time = g_strdup_printf (_("time %s"), share);
  return g_strjoin (" · ", size, time, NULL);
}

/**
 * vn_gain_new:
 * @gain: what it gains, with its unit
 * @count: (nullable): the same in answers
 * @helps: that is more than nothing
 *
 * Returns: (transfer floating): the gain in bold letters, if it is one, and below it what it costs
 */
GtkWidget *
vn_gain_new (const char *gain,
             const char *count,
             gboolean    helps,
             gint64      bytes,
             double      time_ratio)
{
  g_autofree char *price = NULL, *cost = NULL;
  GtkWidget *box, *above, *below;

  g_return_val_if_fail (gain != NULL, NULL);

  price = vn_gain_dup_cost (bytes, time_ratio);
  cost = count != NULL ? g_strjoin (" · ", count, price, NULL) : g_strdup (price);
  box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  above = gtk_label_new (gain);
  below = gtk_label_new (cost);
  gtk_widget_add_css_class (above, "numeric");
  gtk_widget_add_css_class (above, helps ? "heading" : "dim-label");
  gtk_widget_add_css_class (below, "numeric");
  gtk_widget_add_css_class (below, "caption");
  gtk_widget_add_css_class (below, "dim-label");
  gtk_label_set_xalign (GTK_LABEL (above), 1);
  gtk_label_set_xalign (GTK_LABEL (below), 1);
  gtk_widget_set_valign (box, GTK_ALIGN_CENTER);
  gtk_box_append (GTK_BOX (box), above);
  gtk_box_append (GTK_BOX (box), below);
  return box;
}
