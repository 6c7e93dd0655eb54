/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a bench takes of long work that has ended well: a model, a run, or what was learned of the present one. */
#include "bench-private.h"

#include "vn-cure-job.h"
#include "vn-curve-job.h"
#include "vn-export-job.h"
#include "vn-i18n.h"
#include "vn-origins-job.h"
#include "vn-verify-job.h"

/* ---- a whole run ---- */

static void
bench_take_keep_run (VnBench *self,
                     VnRun   *result)
{
  g_autoptr(VnRun) named = vn_bench_dup_named (self, result);

  vn_run_list_add (self->runs, named);
  vn_keeper_touch (self->keeper);
  vn_bench_changed (self, VN_CHANGED_RUNS);
}

static void
bench_take_run_subject (VnBench   *self,
                        VnSubject *subject)
{
  g_clear_pointer (&self->shown.run_subject, vn_subject_unref);
  self->shown.run_subject = vn_subject_ref (subject);
}

static void
bench_take_result (VnBench    *self,
                   VnRun      *result,
                   VnSubject  *subject,
                   GHashTable *sizes)
{
  if (subject == self->subject && self->subject->input_shapes != NULL && sizes != NULL)
    {
      g_clear_pointer (&self->found.sizes, g_hash_table_unref);
      self->found.sizes = g_hash_table_ref (sizes);
    }
  bench_take_keep_run (self, result);
  vn_effects_judge (self->found.effects, self->shown.run, result);
  bench_take_run_subject (self, subject);
  vn_bench_set_run (self, result);
  if (self->batch == NULL && vn_bench_fits (self))
    vn_outlook_set_base (self->outlook, self->shown.run);
}

/* Of a job that tells nothing of where its error starts. */
static void
bench_take_whole (VnBench   *self,
                  VnRun     *result,
                  VnSubject *subject)
{
  g_autoptr(VnJob) run = NULL;

  bench_take_result (self, result, subject, NULL);
  if (!vn_bench_fits (self))
    return;
  run = vn_bench_make_run (self);
  vn_bench_find_origins (self, run);
}

/*< private >
 * vn_bench_take_known:
 * @known: of a whole run with the present recipe and subject
 *
 * Shows it once more.
 */
void
vn_bench_take_known (VnBench *self,
                     VnRun   *known)
{
  vn_bench_hold (self);
  vn_effects_judge (self->found.effects, self->shown.run, known);
  bench_take_run_subject (self, self->subject);
  vn_bench_set_run (self, known);
  vn_bench_search_origins (self);
  vn_bench_release (self);
}

static void
bench_take_quantized (VnBench  *self,
                      VnJob    *run,
                      gpointer  subject)
{
  VnRun *found = vn_quantize_job_get_result (run);
  gboolean is_point = found->curve == NULL && vn_bench_find_curve (self->found.curve, found->recipe) >= 0;
  g_autoptr(VnCurve) curve = is_point ? vn_curve_new_chosen (self->found.curve, found->recipe) : NULL;
  g_autoptr(VnRun) result = curve != NULL ? vn_run_with (found, VN_FACET_CURVE, curve) : vn_run_ref (found);

  bench_take_result (self, result, subject, vn_quantize_job_get_shapes (run));
  vn_bench_find_origins (self, run);
}

/* What was found becomes one step of the recipe. */
static void
bench_take_improved (VnBench  *self,
                     VnJob    *job,
                     gpointer  subject)
{
  VnRun *result = vn_improve_job_get_result (job);

  vn_bench_take_recipe (self, vn_recipe_copy (result->recipe), _("Improved automatically"));
  g_set_object (&self->found.improved, job);
  bench_take_whole (self, result, subject);
}

/* The present run learns of the curve; where there is none of this recipe, that of the job is one. */
static void
bench_take_curve (VnBench  *self,
                  VnJob    *job,
                  gpointer  subject)
{
  VnRun *found = vn_curve_job_get_result (job);
  g_autoptr(VnRun) result = NULL;

  g_clear_pointer (&self->found.curve, vn_curve_unref);
  self->found.curve = vn_curve_ref (found->curve);
  if (self->batch != NULL || !vn_bench_fits (self) || !vn_recipe_equal (self->shown.run->recipe, found->recipe))
    {
      bench_take_whole (self, found, subject);
      return;
    }
  result = vn_run_with (self->shown.run, VN_FACET_CURVE, found->curve);
  vn_bench_renew_run (self, result);
  vn_bench_set_run (self, result);
}

/* ---- more about the present run ---- */

/* The run stays what it is, but now it is known what its fixes gain. */
static void
bench_take_cures (VnBench  *self,
                  VnJob    *job,
                  gpointer  subject)
{
  VnRun *found = vn_cure_job_get_result (job);
  g_autoptr(VnRun) marked = NULL, result = NULL;

  if (self->shown.run == NULL)
    bench_take_result (self, found, subject, NULL);
  if (!vn_recipe_equal (self->shown.run->recipe, found->recipe))
    return;
  marked = vn_run_with (self->shown.run, VN_FACET_CONTRIBUTIONS, found->contributions);
  result = vn_run_with (marked, VN_FACET_DIAGNOSIS, found->diagnosis);
  vn_bench_set_run (self, result);
}

/* What was measured in ONNX Runtime while the search was under way stays known. */
static VnRun *
bench_take_join (VnRun *shown,
                 VnRun *found)
{
  g_autoptr(VnRun) noted = NULL, verified = NULL;

  if (shown == NULL || shown->quantized != found->quantized || shown->notes == found->notes)
    return vn_run_ref (found);
  noted = vn_run_with (found, VN_FACET_NOTES, shown->notes);
  verified = shown->verification != NULL ? vn_run_with (noted, VN_FACET_VERIFICATION, shown->verification) : vn_run_ref (noted);
  return shown->forecast != NULL ? vn_run_with (verified, VN_FACET_FORECAST, shown->forecast) : g_steal_pointer (&verified);
}

static void
bench_take_origins (VnBench  *self,
                    VnJob    *job,
                    gpointer  subject)
{
  VnRun *found = vn_origins_job_get_result (job);
  g_autoptr(VnRun) joined = NULL;

  if (found == NULL)
    return;
  joined = bench_take_join (self->shown.run, found);
  vn_bench_renew_run (self, joined);
  vn_bench_set_run (self, joined);
}

static void
bench_take_verified (VnBench  *self,
                     VnJob    *job,
                     gpointer  subject)
{
  vn_bench_take_measured (self, vn_verify_job_get_verified (job));
}

/* The run may have learned other things of the same network since. */
static void
bench_take_check (VnBench  *self,
                  VnJob    *job,
                  gpointer  network)
{
  VnRun *found = vn_verify_job_get_verified (job);
  g_autoptr(VnRun) result = NULL;

  if (self->shown.run == NULL || self->shown.run->quantized != network || self->shown.run->verification != NULL || found == NULL)
    return;
  result = vn_job_take_verification (self->shown.run, found->verification, vn_verify_job_get_kernels (job));
  vn_bench_take_measured (self, result);
}

static void
bench_take_exported (VnBench  *self,
                     VnJob    *job,
                     gpointer  subject)
{
  vn_bench_take_measured (self, vn_export_job_get_result (job));
  vn_bench_notify (self, &(VnNotice) { .kind = VN_NOTICE_WRITTEN, .paths = vn_export_job_get_written (job) });
}

/* What was waited for; other work goes on, and may verify its own. */
static void
bench_take_install (VnBench  *self,
                    VnJob    *job,
                    gpointer  subject)
{
  vn_bench_verify (self, NULL);
}

/* ---- the table ---- */

static gboolean
bench_take_start_origins (VnBench  *self,
                          GError  **error)
{
  return vn_bench_search_origins (self);
}

const VnBenchWork vn_bench_works[VN_N_WORKS] = {
#define VN_WORK(name, place, flags, done, start, take) [VN_WORK_##name] = { start, take },
#include "vn-works.def"
#undef VN_WORK
};
