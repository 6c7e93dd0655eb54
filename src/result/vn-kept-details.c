/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is told of tokens beside how many are kept, in a sentence. */
#include "vn-kept-details.h"

#include "vn-format.h"
#include "vn-i18n.h"

#include <math.h>

/* At least two digits that count: divergences worth telling begin at some millionths. */
static char *
kept_details_format (double value)
{
  return vn_format_decimals (value, value > 0 ? (guint) CLAMP (1 - floor (log10 (value)), 4, 8) : 4);
}

/**
 * vn_kept_dup_details:
 *
 * Returns: (transfer full) (nullable): a sentence with what the figures of tokens are beside the mean; %NULL: they are not known
 */
char *
vn_kept_dup_details (const VnKept *self)
{
  g_autofree char *high = NULL, *most = NULL;
  double top;

  g_return_val_if_fail (self != NULL, NULL);

  top = vn_kept_get_figure (self, VN_KEPT_FIGURE_TOP8);
  if (isnan (top) || isnan (vn_kept_get_figure (self, VN_KEPT_FIGURE_KL_99)) ||
      isnan (vn_kept_get_figure (self, VN_KEPT_FIGURE_KL_MAX)))
    return NULL;
  high = kept_details_format (vn_kept_get_figure (self, VN_KEPT_FIGURE_KL_99));
  most = kept_details_format (vn_kept_get_figure (self, VN_KEPT_FIGURE_KL_MAX));
  return g_strdup_printf (_("KL divergence: 99th percentile %s, maximum %s; matching top-8 tokens: %.1f %%"), high, most,
                          100 * top);
}
