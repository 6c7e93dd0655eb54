/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tooltips of rows, which change whenever a list scrolls. */
#include "vn-tooltip.h"

#define KEY "vn-tooltip"

static gboolean
tooltip_query (GtkWidget  *widget,
               int         x,
               int         y,
               gboolean    keyboard,
               GtkTooltip *tooltip)
{
  const char *text = g_object_get_data (G_OBJECT (widget), KEY);

  gtk_tooltip_set_text (tooltip, text);
  return text != NULL && *text != 0;
}

/**
 * vn_tooltip_set:
 * @text: (nullable): what it says
 *
 * As gtk_widget_set_tooltip_text(), which asks the display server each time where the pointer is and waits for the answer: too
 * slow for hundreds of rows.
 */
void
vn_tooltip_set (GtkWidget  *widget,
                const char *text)
{
  g_return_if_fail (GTK_IS_WIDGET (widget));

  if (!gtk_widget_get_has_tooltip (widget))
    {
      gtk_widget_set_has_tooltip (widget, TRUE);
      g_signal_connect (widget, "query-tooltip", G_CALLBACK (tooltip_query), NULL);
    }
  g_object_set_data_full (G_OBJECT (widget), KEY, g_strdup (text), g_free);
}
