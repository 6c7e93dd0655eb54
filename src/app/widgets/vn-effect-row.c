/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A change that was tried, with what it gained and cost. */
#include "vn-effect-row.h"

#include "vn-cure-offers.h"
#include "vn-format.h"
#include "vn-gain.h"
#include "vn-i18n.h"

/* On the scale of the verdict, or of the outputs where that is not known. */
static char *
effect_row_dup_gain (VnDocument      *document,
                     const VnEffect  *effect,
                     VnHeadlineKind  *scale)
{
  char *gain;

  *scale = vn_cure_offers_get_scale (document);
  gain = vn_headline_dup_gain (&effect->before, &effect->after, *scale);
  if (gain != NULL)
    return gain;
  *scale = VN_HEADLINE_OUTPUTS;
  return vn_format_signed_db (effect->after_db - effect->before_db);
}

static char *
effect_row_describe (VnDocument     *document,
                     const VnEffect *effect)
{
  VnHeadlineKind scale;
  g_autofree char *gain = effect_row_dup_gain (document, effect, &scale);
  const char *end = vn_bench_is_in_force (VN_BENCH (document), effect) ? "" : _(" · reverted");

  if (!effect->measured)
    return g_strconcat (vn_bench_is_measuring (VN_BENCH (document), effect) ? _("measuring") : _("not measured"), end, NULL);
  if (scale != VN_HEADLINE_OUTPUTS)
    {
      const char *name = scale == VN_HEADLINE_HITS ? _("correct answers") : vn_task_get_name (effect->before.kept.task);

      return g_strdup_printf (vn_effect_has_helped (effect) ? "%s %s%s" : _("did not help: %s %s%s"), name, gain, end);
    }
  return g_strdup_printf (vn_effect_has_helped (effect) ? _("outputs %s%s") : _("did not help: outputs %s%s"), gain, end);
}

/* That it is part of the present recipe. */
static GtkWidget *
effect_row_make_applied (void)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);

  gtk_box_append (GTK_BOX (box), gtk_image_new_from_icon_name ("emblem-ok-symbolic"));
  gtk_box_append (GTK_BOX (box), gtk_label_new (_("Applied")));
  gtk_widget_add_css_class (box, "success");
  gtk_widget_add_css_class (box, "heading");
  return box;
}

static GtkWidget *
effect_row_make_take_back (void)
{
  GtkWidget *button = gtk_button_new_with_label (_("Revert"));

  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "win.undo");
  return button;
}

/**
 * vn_effect_row_new:
 *
 * Returns: (transfer floating): the row
 */
GtkWidget *
vn_effect_row_new (VnDocument     *document,
                   const VnEffect *effect)
{
  g_autofree char *subtitle = NULL, *gain = NULL, *count = NULL;
  VnHeadlineKind scale;
  GtkWidget *row;
  gboolean helped;

  g_return_val_if_fail (VN_IS_DOCUMENT (document) && effect != NULL, NULL);

  row = adw_action_row_new ();
  helped = vn_effect_has_helped (effect);
  subtitle = effect_row_describe (document, effect);
  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), effect->title);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), subtitle);
  gain = effect_row_dup_gain (document, effect, &scale);
  count = vn_headline_dup_count (&effect->before, &effect->after, scale);
  if (effect->measured)
    adw_action_row_add_suffix (ADW_ACTION_ROW (row), vn_gain_new (gain, count, helped, effect->bytes, effect->time_ratio));
  if (helped && vn_bench_is_in_force (VN_BENCH (document), effect))
    adw_action_row_add_suffix (ADW_ACTION_ROW (row), effect_row_make_applied ());
  else if (effect->measured && !helped && vn_bench_is_last_change (VN_BENCH (document), effect))
    adw_action_row_add_suffix (ADW_ACTION_ROW (row), effect_row_make_take_back ());
  return row;
}
