/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The figure that a run is judged by, and what a change gains of it. */
#include "vn-headline.h"

#include "vn-format.h"
#include "vn-i18n.h"

#include <math.h>

/**
 * vn_headline_clear:
 * @self: (out caller-allocates): nothing is known
 */
void
vn_headline_clear (VnHeadline *self)
{
  g_return_if_fail (self != NULL);

  *self = (VnHeadline) { .worst_db = NAN, .kept = { .share = NAN, .mean = NAN } };
}

/**
 * vn_headline_get:
 *
 * Returns: dB of outputs, share from 0 to 1 of answers and hits; NaN: not known
 */
double
vn_headline_get (const VnHeadline *self,
                 VnHeadlineKind    kind)
{
  g_return_val_if_fail (self != NULL, NAN);

  if (kind == VN_HEADLINE_HITS)
    return self->n_labeled > 0 ? (double) self->n_right / self->n_labeled : NAN;
  if (kind == VN_HEADLINE_ANSWERS)
    return vn_kept_is_known (&self->kept) ? self->kept.share : NAN;
  return self->worst_db;
}

/**
 * vn_headline_get_gain:
 *
 * Returns: what is gained from @before to @after, in the unit of vn_headline_get(); NaN: not known, or of different tasks
 */
double
vn_headline_get_gain (const VnHeadline *before,
                      const VnHeadline *after,
                      VnHeadlineKind    kind)
{
  double from, to;

  g_return_val_if_fail (before != NULL && after != NULL, NAN);

  if (kind == VN_HEADLINE_ANSWERS && before->kept.task != after->kept.task)
    return NAN;
  from = vn_headline_get (before, kind);
  to = vn_headline_get (after, kind);
  return isinf (from) && from == to ? 0 : to - from;
}

/**
 * vn_headline_dup_gain:
 *
 * Returns: (transfer full) (nullable): “+2.1 dB”, or of a share where it comes from and goes to: “60.1 → 72.9 %”; %NULL: not
 *   known
 */
char *
vn_headline_dup_gain (const VnHeadline *before,
                      const VnHeadline *after,
                      VnHeadlineKind    kind)
{
  g_autofree char *from = NULL, *to = NULL;
  double gain;

  g_return_val_if_fail (before != NULL && after != NULL, NULL);

  gain = vn_headline_get_gain (before, after, kind);
  if (isnan (gain))
    return NULL;
  if (kind == VN_HEADLINE_OUTPUTS)
    return vn_format_signed_db (gain);
  from = vn_format_decimals (100 * vn_headline_get (before, kind), 1);
  to = vn_format_decimals (100 * vn_headline_get (after, kind), 1);
  return g_strdup_printf ("%s → %s\u00a0%%", from, to);
}

/**
 * vn_headline_dup_count:
 *
 * Returns: (transfer full) (nullable): how many answers or hits more that is: “+31 of 243”; %NULL: not known, or
 *   nothing is counted
 */
char *
vn_headline_dup_count (const VnHeadline *before,
                       const VnHeadline *after,
                       VnHeadlineKind    kind)
{
  gint64 more, n;

  g_return_val_if_fail (before != NULL && after != NULL, NULL);

  if (kind == VN_HEADLINE_OUTPUTS || isnan (vn_headline_get_gain (before, after, kind)) ||
      (kind == VN_HEADLINE_ANSWERS && vn_task_get_counted (before->kept.task) == NULL))
    return NULL;
  n = kind == VN_HEADLINE_HITS ? (gint64) before->n_labeled : (gint64) before->kept.n;
  more = kind == VN_HEADLINE_HITS ? (gint64) after->n_right - (gint64) before->n_right
                                  : (gint64) after->kept.n_kept - (gint64) before->kept.n_kept;
  return g_strdup_printf (_("%s%lld of %lld"), more > 0 ? "+" : more < 0 ? "\u2212" : "±", (long long) ABS (more), (long long) n);
}
