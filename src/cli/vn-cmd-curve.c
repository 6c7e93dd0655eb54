/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options about mixed precision, and its curve as people read it. */
#include "vn-cmd.h"

#include "vn-format.h"
#include "vn-i18n.h"

#include <math.h>
#include <string.h>

static const struct { const char *unit; double bytes; } units[] = {
  { "", 1 }, { "B", 1 }, { "kB", 1e3 }, { "MB", 1e6 }, { "GB", 1e9 }, { "KiB", 1024 }, { "MiB", 1048576 }, { "GiB", 1073741824 },
};

/**
 * vn_cmd_parse_size:
 * @text: "1.2MB", "800 KiB", bytes without a unit
 * @option: for the message
 */
gboolean
vn_cmd_parse_size (const char  *text,
                   const char  *option,
                   guint64     *bytes,
                   GError     **error)
{
  char *end = NULL;
  double number;

  g_return_val_if_fail (text != NULL && option != NULL && bytes != NULL, FALSE);

  number = g_ascii_strtod (text, &end);
  while (*end == ' ')
    end++;
  for (guint i = 0; i < G_N_ELEMENTS (units) && end != text; i++)
    if (g_ascii_strcasecmp (end, units[i].unit) == 0 && number * units[i].bytes >= 1 && number * units[i].bytes < 1e18)
      {
        *bytes = (guint64) (number * units[i].bytes);
        return TRUE;
      }
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("%s: “%s” is not a size: use a number with B, kB, "
                                                                  "MB, GB, KiB, MiB or GiB"),
               option, text);
  return FALSE;
}

/**
 * vn_cmd_parse_percent:
 * @text: "10%" or "10"
 * @share: (out): 0 to 1
 */
gboolean
vn_cmd_parse_percent (const char  *text,
                      const char  *option,
                      double      *share,
                      GError     **error)
{
  char *end = NULL;
  double number;

  g_return_val_if_fail (text != NULL && option != NULL && share != NULL, FALSE);

  number = g_ascii_strtod (text, &end);
  while (*end == ' ')
    end++;
  if (end == text || (*end != '\0' && strcmp (end, "%") != 0) || !(number >= 0 && number <= 100))
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("%s: “%s” is not a share: use 0%% to 100%%"), option, text);
      return FALSE;
    }
  *share = number / 100;
  return TRUE;
}

static char *
cmd_curve_format_share (double share)
{
  return isnan (share) ? g_strdup ("-") : g_strdup_printf ("%.1f %%", 100 * share);
}

static char *
cmd_curve_format_db (double db)
{
  return isnan (db) ? g_strdup ("") : vn_format_db_column (db);
}

/**
 * vn_cmd_print_curve:
 *
 * Prints a curve for people, a line for each point.
 */
void
vn_cmd_print_curve (const VnCurve *curve)
{
  guint n = 0;
  double worst;

  g_return_if_fail (curve != NULL);

  worst = vn_curve_get_worst_miss (curve, &n);
  vn_cmd_print (ngettext ("Mixed precision by “%s” (predicted output SQNR; measured on %u sample; size; MACs outside "
                          "8-bit; latency relative to float; tensors in float, in 16 bits, weights in 4 bits)\n",
                          "Mixed precision by “%s” (predicted output SQNR; measured on %u samples; size; MACs outside "
                          "8-bit; latency relative to float; tensors in float, in 16 bits, weights in 4 bits)\n",
                          curve->n_samples),
                vn_curve_cost_get_title (curve->cost), curve->n_samples);
  for (guint i = 0; i < vn_curve_get_n (curve); i++)
    {
      const VnCurvePoint *point = vn_curve_get (curve, i);
      g_autofree char *predicted = cmd_curve_format_db (point->predicted_db),
      *measured = cmd_curve_format_db (point->measured_db);
      g_autofree char *bytes = vn_format_bytes_column (point->bytes),
      *share = cmd_curve_format_share (vn_curve_point_get_float_share (point));
      g_autofree char *ratio = isnan (point->time_ratio) ? g_strdup ("-") : g_strdup_printf ("%.2f", point->time_ratio);

      g_autofree char *kept = vn_kept_is_known (&point->kept) ? vn_kept_dup_text (&point->kept) : NULL;

      vn_cmd_print ("  %10s %10s %9s %8s %6s %5u %5u %5u  %s%s%s\n", predicted, measured, bytes, share, ratio, point->n_float,
                    point->n_wide, point->n_small, vn_curve_point_get_state_title (point), kept != NULL ? ", " : "",
                    kept != NULL ? kept : "");
    }
  if (n > 0)
    vn_cmd_print (ngettext ("  checked at %u point: the prediction was off by at most %.2f dB\n",
                            "  checked at %u points: the prediction was off by at most %.2f dB\n", n), n, worst);
}
