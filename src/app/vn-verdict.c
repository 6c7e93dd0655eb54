/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Judges a run: how good the quantized model is, in one of four levels, and the sentence that says why. */
#include "vn-verdict.h"

#include "vn-format.h"
#include "vn-i18n.h"

#include <math.h>

#define FINE_DB 20.0
#define BAD_DB 10.0
/* Outputs this good hide whatever happens inside. */
#define VERY_FINE_DB 30.0
/* Up to this share of bad nodes it is a spot, not the network. */
#define SPOT_SHARE 0.05
/* Hits lost, as a share of the samples. */
#define LOSS_GOOD 0.01
#define LOSS_CARE 0.03

static void
scan_errors (VnVerdict    *self,
             VnErrorTable *errors)
{
  guint n = vn_error_table_get_n (errors);

  for (guint i = 0; i < n; i++)
    {
      const VnErrorRow *row = vn_error_table_get (errors, i);
      double db = row->n_bad > 0 || isnan (row->sqnr_db) ? -INFINITY : row->sqnr_db;

      if (row->is_output || row->is_last)
        self->worst_output_db = MIN (self->worst_output_db, db);
      if (*row->node != 0)
        self->n_bad += db < BAD_DB;
      self->incomplete |= row->is_last;
    }
}

static VnVerdictLevel
judge (const VnVerdict *self,
       const VnResult  *result)
{
  guint n = result->errors != NULL ? vn_error_table_get_n (result->errors) : 0;
  gboolean spot = self->n_bad > 0 && self->n_bad <= MAX (1, SPOT_SHARE * n);

  if (result->accuracy.valid && result->accuracy.n > 0)
    {
      double lost = ((double) result->accuracy.float_top1 - result->accuracy.quant_top1) / result->accuracy.n;

      if (lost > LOSS_CARE)
        return VN_VERDICT_UNUSABLE;
      if (lost > LOSS_GOOD)
        return spot ? VN_VERDICT_WEAK_SPOT : VN_VERDICT_CARE;
      return VN_VERDICT_GOOD;
    }
  if (self->worst_output_db < BAD_DB)
    return VN_VERDICT_UNUSABLE;
  if (self->worst_output_db >= VERY_FINE_DB)
    return VN_VERDICT_GOOD;
  if (self->n_bad > 0)
    return spot ? VN_VERDICT_WEAK_SPOT : VN_VERDICT_CARE;
  return self->worst_output_db < FINE_DB ? VN_VERDICT_CARE : VN_VERDICT_GOOD;
}

static char *
describe (const VnVerdict *self,
          const VnResult  *result)
{
  g_autoptr(GString) text = g_string_new (NULL);

  if (result->errors == NULL)
    return g_strdup (_("The error was not measured."));
  if (isfinite (self->worst_output_db))
    {
      g_autofree char *db = vn_format_db (self->worst_output_db);

      g_string_append_printf (text, _("The weakest output keeps %s of signal to noise."), db);
    }
  else if (self->worst_output_db < 0)
    g_string_append (text, _("An output has values that are no numbers."));
  else
    g_string_append (text, _("The outputs are the same as before."));

  g_string_append_c (text, ' ');
  if (self->n_bad == 0)
    g_string_append (text, _("No node is below 10 dB."));
  else if (self->level == VN_VERDICT_GOOD)
    g_string_append_printf (text, ngettext ("%u node inside is below 10 dB, but the outputs do not suffer from it.",
                                            "%u nodes inside are below 10 dB, but the outputs do not suffer from it.",
                                            self->n_bad), self->n_bad);
  else
    g_string_append_printf (text, ngettext ("%u node is below 10 dB; leaving it in float may win most of that back.",
                                            "%u nodes are below 10 dB; leaving them in float may win most of that "
                                            "back.", self->n_bad), self->n_bad);
  return g_strdup (text->str);
}

/**
 * vn_verdict_new:
 * @result: a run
 *
 * Judges by the hits lost where the samples have labels the network can hit, else by the worst output and the
 * nodes below 10 dB.
 *
 * Returns: (transfer full): the verdict
 */
VnVerdict *
vn_verdict_new (VnResult *result)
{
  static const char * const titles[] = {
    [VN_VERDICT_GOOD] = N_("As good as the float model"),
    [VN_VERDICT_WEAK_SPOT] = N_("Good but for a weak spot"),
    [VN_VERDICT_CARE] = N_("Usable with care"),
    [VN_VERDICT_UNUSABLE] = N_("Not usable yet"),
  };
  VnVerdict *self = g_new0 (VnVerdict, 1);

  self->worst_output_db = INFINITY;
  if (result->errors != NULL)
    scan_errors (self, result->errors);
  self->level = judge (self, result);
  self->title = _(titles[self->level]);
  self->text = describe (self, result);
  return self;
}

void
vn_verdict_free (VnVerdict *self)
{
  g_free (self->text);
  g_free (self);
}
