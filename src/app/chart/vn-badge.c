/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The precision badge: a label that shows an element type in the colour of its width. */
#include "vn-badge.h"

GtkWidget *
vn_badge_new (void)
{
  return g_object_new (GTK_TYPE_LABEL, "valign", GTK_ALIGN_CENTER, "halign", GTK_ALIGN_START, NULL);
}

static const char *
badge_get_class (VnDType dtype)
{
  guint bits = vn_dtype_get_bits (dtype);

  if (dtype == VN_DTYPE_F32 || dtype == VN_DTYPE_F64)
    return "float";
  if (vn_dtype_is_float (dtype))
    return "half";
  return bits > 8 ? "wide" : bits < 8 ? "narrow" : "byte";
}

/**
 * vn_badge_set:
 * @badge: made by vn_badge_new()
 * @dtype: %VN_DTYPE_UNDEFINED hides it
 */
void
vn_badge_set (GtkWidget *badge,
              VnDType    dtype)
{
  const char *classes[] = { "badge", "byte", NULL };

  g_return_if_fail (GTK_IS_LABEL (badge));

  gtk_widget_set_visible (badge, dtype != VN_DTYPE_UNDEFINED);
  if (dtype == VN_DTYPE_UNDEFINED)
    return;
  classes[1] = badge_get_class (dtype);
  gtk_widget_set_css_classes (badge, classes);
  gtk_label_set_label (GTK_LABEL (badge), vn_dtype_get_badge (dtype));
}
