/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a step of “--auto” came to, in words. */
#include "vn-improve-job.h"

#include "vn-format.h"
#include "vn-i18n.h"

#include <math.h>

/* "+5.6 dB, time 0.95 → 1.13 of float, 98 → 71 % on integers" */
static char *
improve_try_dup_figures (const VnImproveTry *self)
{
  g_autoptr(GString) text = g_string_new (NULL);

  if (!isnan (self->after_db))
    {
      g_autofree char *more = vn_format_signed_db (self->after_db - self->before_db);

      g_string_append (text, more);
    }
  if (!isnan (self->before_ratio) && !isnan (self->after_ratio))
    {
      g_string_append (text, text->len > 0 ? ", " : "");
      g_string_append_printf (text, _("latency %.2f → %.2f of float"), self->before_ratio, self->after_ratio);
    }
  if (!isnan (self->before_share) && !isnan (self->after_share))
    {
      g_string_append (text, text->len > 0 ? ", " : "");
      g_string_append_printf (text, _("%.0f → %.0f %% integer MACs"), 100 * self->before_share, 100 * self->after_share);
    }
  if (!isnan (self->before_wide) && !isnan (self->after_wide))
    {
      g_string_append (text, text->len > 0 ? ", " : "");
      g_string_append_printf (text, _("%.0f → %.0f %% in 16-bit"), 100 * self->before_wide, 100 * self->after_wide);
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/**
 * vn_improve_try_is_kept:
 *
 * Returns: whether the result is made with it
 */
gboolean
vn_improve_try_is_kept (const VnImproveTry *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->outcome == VN_IMPROVE_KEPT || self->outcome == VN_IMPROVE_REMADE;
}

/**
 * vn_improve_try_dup_outcome:
 *
 * Returns: (transfer full): what the step came to, translated
 */
char *
vn_improve_try_dup_outcome (const VnImproveTry *self)
{
  g_autofree char *figures = NULL;

  g_return_val_if_fail (self != NULL, NULL);

  figures = improve_try_dup_figures (self);
  switch (self->outcome)
    {
    case VN_IMPROVE_KEPT:
      return g_strdup_printf (_("%s, kept"), figures);
    case VN_IMPROVE_NO_GAIN:
      return g_strdup_printf (_("%s, not kept"), figures);
    case VN_IMPROVE_TOO_SLOW:
      return g_strdup_printf (_("%s, too slow in ONNX Runtime"), figures);
    case VN_IMPROVE_TOO_FLOAT:
      return g_strdup_printf (_("%s, too few integer MACs"), figures);
    case VN_IMPROVE_TOO_WIDE:
      return g_strdup_printf (_("%s, too much in 16-bit"), figures);
    case VN_IMPROVE_TOO_LITTLE:
      return g_strdup_printf (_("%s, but too little is won: %.0f %% of the size are left"), figures, 100 * self->size);
    case VN_IMPROVE_IMPOSSIBLE:
      return g_strdup_printf (_("not applicable here: %s"), self->reason != NULL ? self->reason : "");
    case VN_IMPROVE_NO_TIME:
      return g_strdup (_("not tried: out of time"));
    case VN_IMPROVE_CUT:
      return g_strdup (_("not finished within the time limit"));
    case VN_IMPROVE_REMADE:
      return g_steal_pointer (&figures);
    case VN_IMPROVE_GIVEN_UP:
      return g_strdup_printf (_("%s, but the result is not better with it"), figures);
    }
  g_return_val_if_reached (NULL);
}

/**
 * vn_improve_try_dup_text:
 *
 * Returns: (transfer full): what the step was, and what it came to
 */
char *
vn_improve_try_dup_text (const VnImproveTry *self)
{
  g_autofree char *outcome = NULL;

  g_return_val_if_fail (self != NULL, NULL);

  outcome = vn_improve_try_dup_outcome (self);
  return g_strdup_printf ("%s: %s", _(self->title), outcome);
}
