/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What ONNX Runtime made of an export: when its outputs count as ours, and which figures are measured, which forecast. */
#include "vn-verification.h"

#include "vn-format.h"
#include "vn-i18n.h"

#include <math.h>

/* Kernels sum in another order, and what lies between two steps may fall to either: in a deep network that adds up to about what
 * quantizing costs. Alike are therefore errors of the same size, or values that hardly differ. */
#define ALIKE_DB 3.0
#define NEARLY_SAME_DB 30.0
#define LEAST_DB 12.0

static void
verification_output_free (VnVerifiedOutput *self)
{
  g_free (self->name);
  g_free (self);
}

/**
 * vn_verification_new:
 *
 * Returns: (transfer full): with nothing measured; whoever makes it fills it before anybody else sees it
 */
VnVerification *
vn_verification_new (void)
{
  VnVerification *self = g_new0 (VnVerification, 1);

  g_atomic_ref_count_init (&self->ref);
  self->outputs = g_ptr_array_new_with_free_func ((GDestroyNotify) verification_output_free);
  self->integer_share = self->exact_db = NAN;
  return self;
}

VnVerification *
vn_verification_ref (VnVerification *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

void
vn_verification_unref (VnVerification *self)
{
  if (!g_atomic_ref_count_dec (&self->ref))
    return;
  g_free (self->version);
  g_ptr_array_unref (self->outputs);
  g_free (self);
}

/**
 * vn_verification_add:
 * @output: copied
 */
void
vn_verification_add (VnVerification         *self,
                     const VnVerifiedOutput *output)
{
  VnVerifiedOutput *copy;

  g_return_if_fail (self != NULL && output != NULL);

  copy = g_memdup2 (output, sizeof *output);
  copy->name = g_strdup (output->name);
  g_ptr_array_add (self->outputs, copy);
}

/**
 * vn_verified_output_agrees:
 *
 * Returns: whether ONNX Runtime and we make the same of an output, as far as quantized networks allow
 */
gboolean
vn_verified_output_agrees (const VnVerifiedOutput *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  if (self->sqnr_db >= NEARLY_SAME_DB)
    return TRUE;
  if (isnan (self->our_db) || isnan (self->their_db))
    return self->sqnr_db >= LEAST_DB;
  return self->their_db >= self->our_db - ALIKE_DB;
}

/* Without the float network nothing tells how far outputs may be apart, but kernels that do not saturate do. */
static gboolean
verification_is_closer_exact (const VnVerification   *self,
                              const VnVerifiedOutput *output)
{
  return self->saturates && self->exact_agrees && isnan (output->our_db) && output->sqnr_db < NEARLY_SAME_DB &&
         self->exact_db > output->sqnr_db + ALIKE_DB;
}

/**
 * vn_verification_agrees:
 *
 * Returns: whether that is so of every output, and saturating sums do not show in one
 */
gboolean
vn_verification_agrees (const VnVerification *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  for (guint i = 0; i < self->outputs->len; i++)
    {
      const VnVerifiedOutput *output = g_ptr_array_index (self->outputs, i);

      if (!vn_verified_output_agrees (output) || verification_is_closer_exact (self, output))
        return FALSE;
    }
  return TRUE;
}

/**
 * vn_verification_is_saturated:
 *
 * Returns: whether outputs differ for no other reason than that sums saturate on this processor
 */
gboolean
vn_verification_is_saturated (const VnVerification *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->saturates && self->exact_agrees && !vn_verification_agrees (self);
}

/**
 * vn_verification_get_worst_db:
 *
 * Returns: the least signal to noise between ONNX Runtime's outputs and ours; NAN if there is none, or one is not a number
 */
double
vn_verification_get_worst_db (const VnVerification *self)
{
  double worst = INFINITY;

  g_return_val_if_fail (self != NULL, NAN);

  for (guint i = 0; i < self->outputs->len; i++)
    {
      const VnVerifiedOutput *output = g_ptr_array_index (self->outputs, i);

      if (isnan (output->sqnr_db))
        return NAN;
      worst = MIN (worst, output->sqnr_db);
    }
  return self->outputs->len > 0 ? worst : NAN;
}

/**
 * vn_verification_dup_text:
 *
 * Returns: (transfer full): time and agreement in half a sentence
 */
char *
vn_verification_dup_text (const VnVerification *self)
{
  g_autofree char *db = NULL;

  g_return_val_if_fail (self != NULL, NULL);

  db = vn_format_db (vn_verification_get_worst_db (self));
  if (vn_verification_is_saturated (self))
    return self->float_seconds > 0 ? g_strdup_printf (_("%.2f times the time of float, differs as sums saturate on this processor: %s"),
                                                      self->seconds / self->float_seconds, db)
                                   : g_strdup_printf (_("%.2f\u00a0ms for one sample, differs as sums saturate on this processor: %s"),
                                                      1e3 * self->seconds, db);
  if (!(self->float_seconds > 0))
    return g_strdup_printf (vn_verification_agrees (self) ? _("%.2f\u00a0ms for one sample, agrees to %s") : _("%.2f\u00a0ms for one sample, differs: %s"),
                            1e3 * self->seconds, db);
  return g_strdup_printf (vn_verification_agrees (self) ? _("%.2f times the time of float, agrees to %s") : _("%.2f times the time of float, differs: %s"),
                          self->seconds / self->float_seconds, db);
}

/**
 * vn_verification_dup_fault:
 *
 * Returns: (transfer full) (nullable): what is wrong with the outputs, and whose fault that is; %NULL: they agree
 */
char *
vn_verification_dup_fault (const VnVerification *self)
{
  g_autofree char *exact = NULL;

  g_return_val_if_fail (self != NULL, NULL);

  if (vn_verification_agrees (self))
    return NULL;
  if (!self->saturates)
    return g_strdup_printf (_("What ONNX Runtime %s computes differs from our simulation by more than rounding explains: errors measured here do not "
                              "hold there"), self->version);
  if (isnan (self->exact_db))
    return g_strdup_printf (_("What ONNX Runtime %s computes differs from our simulation by more than rounding explains. Its kernels add products of "
                              "8 bit up in 16 bit on this processor, which has no VNNI: such sums may saturate. Whether they do here is not known, as it "
                              "does not run the export with kernels that do not"), self->version);
  if (!vn_verification_is_saturated (self))
    return g_strdup_printf (_("What ONNX Runtime %s computes differs from our simulation by more than rounding explains. Its kernels add products of "
                              "8 bit up in 16 bit on this processor, which has no VNNI: such sums saturate, which is at least a part of it"), self->version);
  exact = vn_format_db (self->exact_db);
  return g_strdup_printf (_("What ONNX Runtime %s computes differs from our simulation on this processor, which has no VNNI: its kernels add products of "
                            "8 bit up in 16 bit there, and such sums saturate. With kernels that do not it agrees to %s, as on processors with VNNI"),
                          self->version, exact);
}

/**
 * vn_verification_dup_remedy:
 *
 * Returns: (transfer full) (nullable): what helps against what vn_verification_dup_fault() says
 */
char *
vn_verification_dup_remedy (const VnVerification *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  if (!self->saturates || vn_verification_agrees (self))
    return NULL;
  /* An export that does not load with these kernels, or has the same faults with them, is not helped by them. */
  if (!self->exact_agrees)
    return g_strdup (_("For processors without VNNI turn “reduce-range” on, or give weights the type uint8"));
  return g_strdup (_("For processors without VNNI turn “reduce-range” on, or give weights the type uint8; or set session.x64quantprecision to 1 in the "
                     "session options of ONNX Runtime"));
}

static double
verification_divide (double a,
                     double b)
{
  return b > 0 ? a / b : NAN;
}

/**
 * vn_runtime_figures_init:
 * @forecast: (nullable): of the export
 * @verification: (nullable): of the same
 *
 * A time that was measured is never put beside one that was not: they are of different machines.
 */
void
vn_runtime_figures_init (VnRuntimeFigures        *self,
                         const VnRuntimeForecast *forecast,
                         const VnVerification    *verification)
{
  g_return_if_fail (self != NULL);

  *self = (VnRuntimeFigures) { NAN, NAN, NAN, NAN, NAN, FALSE, FALSE };
  if (forecast != NULL)
    {
      self->integer_share = vn_runtime_forecast_integer_share (forecast);
      self->seconds = forecast->seconds > 0 ? forecast->seconds : NAN;
      self->float_seconds = forecast->float_seconds > 0 ? forecast->float_seconds : NAN;
      self->ratio = vn_runtime_forecast_ratio (forecast);
      self->conversion_share = verification_divide (forecast->conversion_seconds, forecast->seconds);
    }
  if (verification == NULL)
    return;
  self->time_measured = TRUE;
  self->seconds = verification->seconds;
  self->float_seconds = verification->float_seconds > 0 ? verification->float_seconds : NAN;
  self->ratio = verification_divide (verification->seconds, verification->float_seconds);
  if (isnan (verification->integer_share))
    return;
  self->share_measured = TRUE;
  self->integer_share = verification->integer_share;
}
