/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Puts what was measured in a runtime in the place of what was forecast, and says what is worth knowing of it. */
#include "vn-verify-job.h"

#include "vn-forecast-export.h"
#include "vn-i18n.h"

#define NOTE_DIFFERS "runtime-differs"
#define NOTE_OTHER "other-runtime"

/* Beside the float network, as measured: less is chance. */
#define SLOWER 1.15
#define SECONDS 1e-4   /* what nobody notices: networks that take no longer are all overhead */

static void
verify_result_copy_note (const VnNote *note,
                         const char   *but,
                         VnNotes      *notes)
{
  if (!g_str_equal (note->code, but))
    vn_notes_add_remedy (notes, note->level, note->code, note->subject, note->remedy, "%s", note->text);
}

/* Without what was said of expected times, or after an earlier try. @is_own: the runtime is that of the target, and has told what
 * the user could look up there. */
static VnNotes *
verify_result_copy_notes (VnNotes  *notes,
                          gboolean  is_own)
{
  VnNotes *copy = vn_notes_new ();

  for (guint i = 0; i < vn_notes_get_n (notes); i++)
    {
      const VnNote *note = vn_notes_get (notes, i);

      if (!g_str_equal (note->code, VN_NOTE_CODE_SLOWER) && !g_str_equal (note->code, NOTE_DIFFERS) &&
          !g_str_equal (note->code, NOTE_OTHER) && !(is_own && g_str_equal (note->code, VN_NOTE_CODE_TARGET_CHECK)))
        verify_result_copy_note (note, VN_NOTE_CODE_NOT_VERIFIED, copy);
    }
  return copy;
}

/* What is made for another target may be slower there: that is no fault. */
static void
verify_result_note_measured (const VnVerification *found,
                             gboolean              is_target,
                             VnNotes              *notes)
{
  const double more = found->seconds - found->float_seconds;
  g_autofree char *fault = vn_verification_dup_fault (found), *remedy = vn_verification_dup_remedy (found);

  if (is_target && found->float_seconds > 0 && found->seconds > SLOWER * found->float_seconds && more > SECONDS)
    vn_notes_add (notes, VN_NOTE_WARNING, VN_NOTE_CODE_SLOWER, NULL,
                  _("In %s %s, this model has %.1f times the latency of the float model, measured on one "
                    "thread. The report lists the nodes that run in float, and why"), found->runtime->title, found->version,
                    found->seconds / found->float_seconds);
  if (fault != NULL)
    vn_notes_add_remedy (notes, VN_NOTE_WARNING, NOTE_DIFFERS, NULL, remedy, "%s", fault);
}

/* @own: (nullable): what runs the target */
static void
verify_result_note_other (const VnVerification  *found,
                          const VnTargetRuntime *own,
                          VnNotes               *notes)
{
  if (own != NULL && own != found->runtime)
    vn_notes_add (notes, VN_NOTE_WARNING, NOTE_OTHER, NULL,
                  _("%s was not found here, so the export was run in %s, which may compute other outputs. “vernier-cli verify "
                    "--install --runtime %s” creates an environment with it"),
                  own->title, found->runtime->title, own->id);
}

/* What is NULL stays as it is in @base. */
static VnRun *
verify_result_join (VnRun                   *base,
                    VnVerification          *verification,
                    const VnRuntimeForecast *forecast,
                    VnNotes                 *notes)
{
  g_autoptr(VnRun) noted = vn_run_with (base, VN_FACET_NOTES, notes);
  g_autoptr(VnRun) verified = verification != NULL
                              ? vn_run_with (noted, VN_FACET_VERIFICATION, verification) : vn_run_ref (noted);

  return forecast != NULL ? vn_run_with (verified, VN_FACET_FORECAST, forecast) : g_steal_pointer (&verified);
}

/**
 * vn_job_take_verification:
 * @base: a result
 * @verification: what was measured of its export
 * @forecast: (nullable): with the kernels found there
 *
 * Returns: (transfer full): @base with measured figures instead of forecast ones, and without what was said of the latter
 */
VnRun *
vn_job_take_verification (VnRun                   *base,
                          VnVerification          *verification,
                          const VnRuntimeForecast *forecast)
{
  g_autoptr(VnNotes) notes = NULL;
  const VnTargetRuntime *own;

  g_return_val_if_fail (base != NULL && verification != NULL, NULL);

  own = base->recipe != NULL ? vn_target_runtime_of (vn_recipe_get_target (base->recipe)) : NULL;
  notes = verify_result_copy_notes (base->notes, own == verification->runtime);
  verify_result_note_measured (verification, own != NULL ? own == verification->runtime : base->forecast != NULL, notes);
  verify_result_note_other (verification, own, notes);
  vn_notes_sort (notes);
  return verify_result_join (base, verification, forecast, notes);
}

/**
 * vn_job_note_unverified:
 * @reason: why nothing was measured in a runtime
 * @is_asked: the user asked for it
 *
 * Returns: (transfer full): @base as one that the runtime refuses, if it does; or else with a note that it could not be asked
 */
VnRun *
vn_job_note_unverified (VnRun        *base,
                        const GError *reason,
                        gboolean      is_asked)
{
  g_autoptr(VnNotes) notes = vn_notes_new ();
  g_autoptr(VnVerification) refused = NULL;

  g_return_val_if_fail (base != NULL && reason != NULL, NULL);

  for (guint i = 0; i < vn_notes_get_n (base->notes); i++)
    verify_result_copy_note (vn_notes_get (base->notes, i), VN_NOTE_CODE_NOT_VERIFIED, notes);
  if (g_error_matches (reason, VN_VERIFY_ERROR, VN_VERIFY_ERROR_REFUSED))
    refused = vn_verification_new_refused (vn_verify_runtime_for (base), reason->message);
  else
    vn_notes_add (notes, is_asked ? VN_NOTE_WARNING : VN_NOTE_INFO, VN_NOTE_CODE_NOT_VERIFIED, NULL,
                  base->verification != NULL ? _("The export was not verified again: %s")
                  : base->forecast != NULL ? _("The export was not verified; its ONNX Runtime figures are estimates: %s")
                  : _("The export was not verified: %s"),
                  reason->message);
  vn_notes_sort (notes);
  return verify_result_join (base, refused, NULL, notes);
}
