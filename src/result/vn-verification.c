/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a runtime made of an export: when its outputs count as ours, and which figures are measured, which forecast. */
#include "vn-verification.h"

#include "vn-format.h"
#include "vn-i18n.h"

#include <math.h>
#include <string.h>

/* What lies so far below the error of quantizing moves that by less than half a decibel. */
#define BELOW_DB 10.0

/* Kernels sum in another order, and what lies between two steps may fall to either: in a deep network that adds up to about what
 * quantizing costs. Alike are therefore errors of the same size, or values that hardly differ. */
#define ALIKE_DB 3.0
#define NEARLY_SAME_DB 30.0
#define LEAST_DB 12.0

static const struct
{
  const char *id, *title;
} agreements[] = {
  [VN_AGREEMENT_SAME] = { "same", N_("yes") },
  [VN_AGREEMENT_ALIKE] = { "alike", N_("alike") },
  [VN_AGREEMENT_OTHER] = { "other", N_("no") },
};

static void
verification_node_free (VnVerifiedNode *self)
{
  g_free (self->name);
  g_free (self->op_type);
  g_free (self->type);
  g_free (self->kernel);
  g_free (self->reason);
  g_free (self);
}

static void
verification_output_free (VnVerifiedOutput *self)
{
  g_free (self->name);
  g_clear_pointer (&self->part, vn_error_part_free);
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
  self->runtime = vn_target_runtime_get_default ();
  self->outputs = g_ptr_array_new_with_free_func ((GDestroyNotify) verification_output_free);
  self->floats = g_ptr_array_new_with_free_func ((GDestroyNotify) verification_node_free);
  self->fallen = g_ptr_array_new_with_free_func ((GDestroyNotify) verification_node_free);
  self->integer_share = self->exact_db = NAN;
  return self;
}

/**
 * vn_verification_new_refused:
 * @refusal: what @runtime says
 *
 * Returns: (transfer full): of an export that it does not load or run
 */
VnVerification *
vn_verification_new_refused (const VnTargetRuntime *runtime,
                             const char            *refusal)
{
  VnVerification *self;

  g_return_val_if_fail (runtime != NULL && refusal != NULL, NULL);

  self = vn_verification_new ();
  self->runtime = runtime;
  self->refusal = g_strdup (refusal);
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
  g_free (self->refusal);
  g_ptr_array_unref (self->outputs);
  g_ptr_array_unref (self->floats);
  g_ptr_array_unref (self->fallen);
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
  copy->part = output->part != NULL ? vn_error_part_copy (output->part) : NULL;
  g_ptr_array_add (self->outputs, copy);
}

/**
 * vn_verification_add_node:
 * @nodes: a list of a verification that nobody else has yet
 * @node: copied
 */
void
vn_verification_add_node (GPtrArray            *nodes,
                          const VnVerifiedNode *node)
{
  VnVerifiedNode *copy;

  g_return_if_fail (nodes != NULL && node != NULL);

  copy = g_new (VnVerifiedNode, 1);
  *copy = (VnVerifiedNode) { g_strdup (node->name), g_strdup (node->op_type), g_strdup (node->type), g_strdup (node->kernel),
                             g_strdup (node->reason), node->macs };
  g_ptr_array_add (nodes, copy);
}

/**
 * vn_verified_node_dup_text:
 *
 * Returns: (transfer full): its name, and in parentheses what is known of it: “conv1 (Convolution, f32, jit_avx512)”
 */
char *
vn_verified_node_dup_text (const VnVerifiedNode *self)
{
  const char *all[3];
  g_autoptr(GString) text = NULL;

  g_return_val_if_fail (self != NULL, NULL);

  all[0] = self->op_type;
  all[1] = self->type;
  all[2] = self->kernel;
  text = g_string_new (self->name);
  for (guint i = 0, n = 0; i < G_N_ELEMENTS (all); i++)
    if (all[i] != NULL && *all[i] != '\0')
      g_string_append_printf (text, "%s%s", n++ == 0 ? " (" : ", ", all[i]);
  if (text->len > strlen (self->name))
    g_string_append_c (text, ')');
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/**
 * vn_verification_has_time:
 *
 * Returns: whether it was measured how long a run takes
 */
gboolean
vn_verification_has_time (const VnVerification *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->refusal == NULL && self->seconds > 0;
}

/**
 * vn_agreement_get_id:
 *
 * Returns: (transfer none): the word for machines
 */
const char *
vn_agreement_get_id (VnAgreement self)
{
  g_return_val_if_fail (self < G_N_ELEMENTS (agreements), NULL);

  return agreements[self].id;
}

/**
 * vn_agreement_get_title:
 *
 * Returns: (transfer none): whether outputs agree, in a word, translated
 */
const char *
vn_agreement_get_title (VnAgreement self)
{
  g_return_val_if_fail (self < G_N_ELEMENTS (agreements), NULL);

  return _(agreements[self].title);
}

/**
 * vn_verified_output_judge:
 *
 * Returns: how an output of the runtime lies to ours, judged by what quantizing costs where that is known
 */
VnAgreement
vn_verified_output_judge (const VnVerifiedOutput *self)
{
  g_return_val_if_fail (self != NULL, VN_AGREEMENT_OTHER);

  if (isnan (self->sqnr_db))
    return VN_AGREEMENT_OTHER;
  if (isinf (self->sqnr_db) && self->sqnr_db > 0)
    return VN_AGREEMENT_SAME;
  if (isnan (self->our_db) || isnan (self->their_db))
    return self->sqnr_db >= NEARLY_SAME_DB ? VN_AGREEMENT_SAME : self->sqnr_db >= LEAST_DB
           ? VN_AGREEMENT_ALIKE : VN_AGREEMENT_OTHER;
  if (self->sqnr_db >= self->our_db + BELOW_DB)
    return VN_AGREEMENT_SAME;
  return self->sqnr_db >= NEARLY_SAME_DB || self->their_db >= self->our_db - ALIKE_DB ? VN_AGREEMENT_ALIKE : VN_AGREEMENT_OTHER;
}

/**
 * vn_verified_output_dup_title:
 *
 * Returns: (transfer full): the output, and the part that its figures are of: “output0, channels 4–21 (up to 0.9)”
 */
char *
vn_verified_output_dup_title (const VnVerifiedOutput *self)
{
  g_autofree char *part = NULL;

  g_return_val_if_fail (self != NULL, NULL);

  part = self->part != NULL ? vn_error_part_dup_title (self->part) : NULL;
  return part != NULL ? g_strdup_printf ("%s, %s", self->name, part) : g_strdup (self->name);
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
 * vn_verification_judge:
 *
 * Returns: how it is with the output that agrees least; something else where saturating sums show in one, or it is refused
 */
VnAgreement
vn_verification_judge (const VnVerification *self)
{
  VnAgreement found = VN_AGREEMENT_SAME;

  g_return_val_if_fail (self != NULL, VN_AGREEMENT_OTHER);

  if (self->refusal != NULL)
    return VN_AGREEMENT_OTHER;
  for (guint i = 0; i < self->outputs->len; i++)
    {
      const VnVerifiedOutput *output = g_ptr_array_index (self->outputs, i);

      found = MAX (found, verification_is_closer_exact (self, output) ? VN_AGREEMENT_OTHER : vn_verified_output_judge (output));
    }
  return found;
}

/**
 * vn_verification_get_shift_db:
 * @self: (nullable)
 * @output: by name
 *
 * What was measured here and there of the same samples tells how far a figure of others, or of more of them, is off.
 *
 * Returns: what a signal to noise that was measured here is changed by in the runtime; 0 where that is not known, or the outputs
 * agree
 */
double
vn_verification_get_shift_db (const VnVerification *self,
                              const char           *output)
{
  g_return_val_if_fail (output != NULL, 0);

  for (guint i = 0; self != NULL && i < self->outputs->len; i++)
    {
      const VnVerifiedOutput *found = g_ptr_array_index (self->outputs, i);

      if (g_strcmp0 (found->name, output) != 0)
        continue;
      if (vn_verified_output_judge (found) == VN_AGREEMENT_SAME)
        return 0;   /* of its worst part, which comes first: others may be off */
      if (isnan (found->sqnr_db))
        return -INFINITY;
      return isfinite (found->our_db) && isfinite (found->their_db) ? found->their_db - found->our_db : 0;
    }
  return 0;
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

  return self->saturates && self->exact_agrees && vn_verification_judge (self) == VN_AGREEMENT_OTHER;
}

/**
 * vn_verification_get_worst_db:
 *
 * Returns: the least signal to noise between the runtime's outputs and ours; NAN if there is none, or one is not a number
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

/* Of what the runtime computes, against the float network; without that against ours. */
static double
verification_get_least_db (const VnVerification *self)
{
  double least = INFINITY;

  for (guint i = 0; i < self->outputs->len; i++)
    {
      const VnVerifiedOutput *output = g_ptr_array_index (self->outputs, i);

      least = MIN (least, isnan (output->their_db) ? output->sqnr_db : output->their_db);
    }
  return least;
}

/* Where time means nothing. */
static char *
verification_dup_agreement (const VnVerification *self,
                            VnAgreement           agreement,
                            const char           *db)
{
  if (vn_verification_is_saturated (self))
    return g_strdup_printf (_("deviates because sums saturate on this CPU: %s"), db);
  if (agreement == VN_AGREEMENT_OTHER)
    return g_strdup_printf (_("deviates: %s"), db);
  return agreement == VN_AGREEMENT_ALIKE ? g_strdup_printf (_("outputs keep %s there"), db)
                                         : g_strdup_printf (_("agrees to %s"), db);
}

/**
 * vn_verification_dup_text:
 *
 * Returns: (transfer full): time and agreement in half a sentence
 */
char *
vn_verification_dup_text (const VnVerification *self)
{
  gboolean has_float;
  double time;
  VnAgreement agreement;
  g_autofree char *db = NULL;

  g_return_val_if_fail (self != NULL, NULL);

  has_float = self->float_seconds > 0;
  time = has_float ? self->seconds / self->float_seconds : 1e3 * self->seconds;
  agreement = vn_verification_judge (self);
  if (self->refusal != NULL)
    return g_strdup (_("not loaded, or not run"));
  db = vn_format_db (agreement == VN_AGREEMENT_ALIKE ? verification_get_least_db (self) : vn_verification_get_worst_db (self));
  if (!vn_verification_has_time (self))
    return verification_dup_agreement (self, agreement, db);
  if (vn_verification_is_saturated (self))
    return g_strdup_printf (has_float ? _("%.2f times the float latency, deviates because sums saturate on this CPU: %s")
                                      : _("%.2f\u00a0ms per sample, deviates because sums saturate on this CPU: %s"), time, db);
  if (agreement == VN_AGREEMENT_ALIKE && has_float)
    return g_strdup_printf (_("%.2f times the time of float, outputs keep %s there"), time, db);
  if (agreement != VN_AGREEMENT_OTHER)
    return g_strdup_printf (has_float ? _("%.2f times the float latency, agrees to %s")
                            : _("%.2f\u00a0ms per sample, agrees to %s"), time, db);
  return g_strdup_printf (has_float ? _("%.2f times the float latency, deviates: %s")
                          : _("%.2f\u00a0ms per sample, deviates: %s"), time, db);
}

/**
 * vn_verification_dup_fault:
 *
 * Returns: (transfer full) (nullable): what is wrong with the outputs, and whose fault that is; %NULL: they agree, or are alike
 */
char *
vn_verification_dup_fault (const VnVerification *self)
{
  g_autofree char *exact = NULL;

  g_return_val_if_fail (self != NULL, NULL);

  if (self->refusal != NULL)
    return g_strdup (self->refusal);
  if (vn_verification_judge (self) != VN_AGREEMENT_OTHER)
    return NULL;
  if (!self->saturates)
    return g_strdup_printf (_("The results of %s %s differ from our simulation by more than rounding: the "
                              "errors measured here do not apply there"), self->runtime->title, self->version);
  if (isnan (self->exact_db))
    return g_strdup_printf (_("%s %s deviates from the simulation by more than rounding explains. On this "
                              "CPU, which lacks VNNI, its kernels accumulate 8-bit products in 16 bits, and these "
                              "sums may saturate. Whether they do is unknown, because it does not run the export with "
                              "kernels that cannot saturate"), self->runtime->title, self->version);
  if (!vn_verification_is_saturated (self))
    return g_strdup_printf (_("ONNX Runtime %s deviates from the simulation by more than rounding explains. On this "
                              "CPU, which lacks VNNI, its kernels accumulate 8-bit products in 16 bits; these sums "
                              "saturate, which explains at least part of the deviation"), self->version);
  exact = vn_format_db (self->exact_db);
  return g_strdup_printf (_("ONNX Runtime %s deviates from the simulation on this CPU, which lacks VNNI: its kernels "
                            "accumulate 8-bit products in 16 bits, and these sums saturate. With kernels that do not "
                            "saturate it agrees to %s, as on CPUs with VNNI"),
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

  if (!self->saturates || vn_verification_judge (self) != VN_AGREEMENT_OTHER)
    return NULL;
  /* An export that does not load with these kernels, or has the same faults with them, is not helped by them. */
  if (!self->exact_agrees)
    return g_strdup (_("For CPUs without VNNI, turn on “reduce-range” or use uint8 weights"));
  return g_strdup (_("For CPUs without VNNI, turn on “reduce-range” or use uint8 weights; or set "
                     "session.x64quantprecision to 1 in the session options of ONNX Runtime"));
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

  *self = (VnRuntimeFigures) { NAN, NAN, NAN, NAN, NAN, NAN, NAN, FALSE, FALSE };
  if (forecast != NULL)
    {
      self->integer_share = vn_runtime_forecast_integer_share (forecast);
      self->seconds = forecast->seconds > 0 ? forecast->seconds : NAN;
      self->float_seconds = forecast->float_seconds > 0 ? forecast->float_seconds : NAN;
      self->ratio = vn_runtime_forecast_ratio (forecast);
      self->least_ratio = self->ratio / vn_runtime_get_margin ();
      self->most_ratio = self->ratio * vn_runtime_get_margin ();
      self->conversion_share = verification_divide (forecast->conversion_seconds, forecast->seconds);
    }
  if (verification == NULL || verification->refusal != NULL)
    return;
  self->time_measured = vn_verification_has_time (verification);
  self->seconds = self->time_measured ? verification->seconds : NAN;
  self->float_seconds = verification->float_seconds > 0 ? verification->float_seconds : NAN;
  self->ratio = self->least_ratio = self->most_ratio = verification_divide (verification->seconds, verification->float_seconds);
  if (isnan (verification->integer_share))
    return;
  self->share_measured = TRUE;
  self->integer_share = verification->integer_share;
}

/**
 * vn_runtime_figures_dup_ratio:
 *
 * Returns: (transfer full) (nullable): how long a run takes beside one of the float network, translated: what was measured as it
 *   was, a forecast with what it allows for; %NULL: that is not known
 */
char *
vn_runtime_figures_dup_ratio (const VnRuntimeFigures *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  if (isnan (self->ratio))
    return NULL;
  if (self->time_measured)
    return g_strdup_printf (_("%.2f times the latency of the float model"), self->ratio);
  return g_strdup_printf (_("about %.1f times the latency of the float model (%.1f to %.1f)"), self->ratio, self->least_ratio,
                          self->most_ratio);
}
