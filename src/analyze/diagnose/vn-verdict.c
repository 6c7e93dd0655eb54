/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run comes to: the one verdict of window, command line and reports. First whether there can be one, then whether the
 * samples can be trusted, then by the hits or the answers that are lost, as far as that is more than chance, or else by the worst
 * part of the outputs and the bad nodes; what is good by that has to be so in ONNX Runtime. */
#include "vn-verdict.h"

#include "vn-data-suspicion.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-thresholds.h"

#include <math.h>

#define MAX_NAMES 4u      /* of tensors in a sentence */
#define SLOWER 1.05       /* times the time of float, at least: what is told of */

static const struct
{
  const char *id, *title;
} levels[VN_N_VERDICTS] = {
  [VN_VERDICT_GOOD] = { "good", N_("As good as the float model") },
  [VN_VERDICT_WEAK_SPOT] = { "weak-spot", N_("Good except for a weak spot") },
  [VN_VERDICT_CARE] = { "care", N_("Usable with care") },
  [VN_VERDICT_DIFFERS] = { "differs", N_("Different outputs in the runtime") },
  [VN_VERDICT_UNUSABLE] = { "unusable", N_("Not usable yet") },
  [VN_VERDICT_REFUSED] = { "refused", N_("Refused by the runtime") },
  [VN_VERDICT_SUSPICIOUS] = { "suspicious-samples", N_("Check the samples first") },
  [VN_VERDICT_NOT_FINITE] = { "not-finite", N_("No verdict: values are not finite") },
  [VN_VERDICT_NOT_MEASURED] = { "not-measured", N_("No verdict: the error was not measured") },
};

/* What the numbers alone say. */
typedef struct
{
  VnVerdict          *verdict;
  const VnRun        *run;
  const VnRunFigures *figures;       /* of the verdict */
  gboolean            by_hits;       /* there were enough samples to judge by them */
  gboolean            differs;       /* what the runtime computes, or it computes nothing */
  gboolean            unasked;       /* it could not be asked */
  double              shift_db;      /* of the worst output, in the runtime */
  gboolean            by_kept;       /* the same of what is kept of the answers */
  gboolean            in_doubt;      /* hits or answers are lost, but it may be chance */
  gboolean            too_few;       /* samples: it would be better otherwise */
  guint               n_weights;     /* of the names in not_finite */
  VnVerdictLevel      level;
} Judgement;

/* ---- what there is ---- */

static void
verdict_add_name (VnVerdict  *self,
                  const char *name)
{
  if (!g_ptr_array_find_with_equal_func (self->not_finite, name, g_str_equal, NULL))
    g_ptr_array_add (self->not_finite, g_strdup (name));
}

static void
verdict_read_notes (VnVerdict *self,
                    VnNotes   *notes)
{
  for (guint i = 0; notes != NULL && i < vn_notes_get_n (notes); i++)
    {
      const VnNote *note = vn_notes_get (notes, i);

      if (vn_data_suspicion_is (note))
        g_ptr_array_add (self->suspicions, (gpointer) note);
      else if (g_str_equal (note->code, VN_NOTE_WEIGHTS_NOT_FINITE) && note->subject != NULL)
        verdict_add_name (self, note->subject);
    }
}

static gboolean
verdict_was_not_asked (VnNotes *notes)
{
  for (guint i = 0; notes != NULL && i < vn_notes_get_n (notes); i++)
    if (g_str_equal (vn_notes_get (notes, i)->code, VN_NOTE_CODE_NOT_VERIFIED))
      return TRUE;
  return FALSE;
}

static gboolean
verdict_row_is_finite (const VnErrorRow *row)
{
  return row->n_bad == 0 && row->n_bad_float == 0;
}

/* Values that are not finite may be meant inside a network, such as the infinities of a mask; in an output they are not. */
static void
verdict_find_not_finite (VnVerdict    *self,
                         VnErrorTable *errors)
{
  const VnErrorRow *first = NULL;
  guint n = vn_error_table_get_n (errors);

  for (guint i = 0; i < n; i++)
    {
      const VnErrorRow *row = vn_error_table_get (errors, i);

      if (verdict_row_is_finite (row))
        continue;
      if (first == NULL)
        first = row;
      if (row->is_output || row->is_last)
        {
          verdict_add_name (self, first->value);
          verdict_add_name (self, row->value);
        }
    }
}

/* ---- the level ---- */

/* Between networks that answer d samples differently, chance alone moves sqrt (d) hits, and a sample more might have been
 * another one. What the hits of few samples leave open is not told by them. */
static gboolean
verdict_judgement_by_hits (Judgement *self,
                           gboolean   spot)
{
  const VnAccuracy *hits = &self->run->accuracy;
  double n, lost, chance;

  if (!hits->valid || hits->n == 0)
    return FALSE;
  n = hits->n;
  lost = (double) hits->float_top1 - hits->quant_top1;
  chance = sqrt (n - MIN (hits->agree, n));
  if (lost - chance > VN_LOSS_CARE * n)
    self->level = VN_VERDICT_UNUSABLE;
  else if (lost - chance > VN_LOSS_GOOD * n)
    self->level = spot ? VN_VERDICT_WEAK_SPOT : VN_VERDICT_CARE;
  else if (lost + chance + 1 <= VN_LOSS_GOOD * n)
    self->level = VN_VERDICT_GOOD;
  else
    return FALSE;
  return TRUE;
}

/* As hits are judged: what is left open by few answers is not told by them. */
static gboolean
verdict_judgement_by_answers (Judgement *self,
                              gboolean   spot)
{
  double chance, loss = vn_kept_get_loss (&self->run->accuracy.kept, &chance);

  if (isnan (loss))
    return FALSE;
  if (loss - chance > 1 - VN_KEPT_CARE)
    self->level = VN_VERDICT_UNUSABLE;
  else if (loss - chance > 1 - VN_KEPT_GOOD)
    self->level = spot ? VN_VERDICT_WEAK_SPOT : VN_VERDICT_CARE;
  else if (loss + chance <= 1 - VN_KEPT_GOOD)
    self->level = VN_VERDICT_GOOD;
  else
    return FALSE;
  return TRUE;
}

/* Whether what answers leave open is at most with care: with one more of them lost than chance explains most would still be
 * kept. */
static gboolean
verdict_judgement_keeps_most (const Judgement *self)
{
  double chance, loss = vn_kept_get_loss (&self->run->accuracy.kept, &chance);

  return !isnan (loss) && loss + chance + 1 / (double) MAX (self->run->accuracy.kept.n, 1) <= 1 - VN_KEPT_CARE;
}

/* More than the limit, by more than a single hit or answer: that may be chance, but it is not called good. */
static gboolean
verdict_judgement_hits_lack (const Judgement *self)
{
  const VnAccuracy *hits = &self->run->accuracy;

  return hits->valid && (double) hits->float_top1 - hits->quant_top1 - 1 > VN_LOSS_GOOD * hits->n;
}

static gboolean
verdict_judgement_answers_lack (const Judgement *self)
{
  double chance, loss = vn_kept_get_loss (&self->run->accuracy.kept, &chance);
  const guint64 n = self->run->accuracy.kept.n;

  return n > 0 && loss - 1 / (double) n > 1 - VN_KEPT_GOOD;
}

/* What outputs alone call good, though hits or answers lack something. */
static void
verdict_judgement_doubt (Judgement *self,
                         gboolean   spot)
{
  if (self->by_hits || self->by_kept || self->level != VN_VERDICT_GOOD)
    return;
  self->by_hits = verdict_judgement_hits_lack (self);
  self->by_kept = !self->by_hits && verdict_judgement_answers_lack (self);
  self->in_doubt = self->by_hits || self->by_kept;
  if (self->in_doubt)
    self->level = spot ? VN_VERDICT_WEAK_SPOT : VN_VERDICT_CARE;
}

/* Whether the figure of the outputs is fine, but not for certain. */
static gboolean
verdict_judgement_is_open (const Judgement *self)
{
  const double fine = vn_metric_get_info (VN_METRIC_SQNR)->fine, db = self->figures->worst_db;

  return self->verdict->worst != NULL && db >= fine && db - self->figures->margin_db < fine;
}

/* What nodes that cannot be run make of what they read is not known: no verdict is better than one with care then. */
static VnVerdictLevel
verdict_judgement_by_outputs (const Judgement *self,
                              gboolean         spot)
{
  const VnMetricInfo *sqnr = vn_metric_get_info (VN_METRIC_SQNR);
  double db = self->figures->worst_db;

  if (db < sqnr->bad)
    return VN_VERDICT_UNUSABLE;
  if (self->figures->incomplete)
    return VN_VERDICT_CARE;
  if (db >= VN_EXCELLENT_SQNR_DB && !verdict_judgement_is_open (self))
    return VN_VERDICT_GOOD;
  if (self->figures->n_bad > 0)
    return spot ? VN_VERDICT_WEAK_SPOT : VN_VERDICT_CARE;
  return db < sqnr->fine || verdict_judgement_is_open (self) ? VN_VERDICT_CARE : VN_VERDICT_GOOD;
}

/* What a handful of samples says may be chance. */
static gboolean
verdict_judgement_has_few_samples (const Judgement *self)
{
  return self->verdict->worst != NULL && self->figures->n_samples < VN_LEAST_SAMPLES;
}

static void
verdict_judgement_by_numbers (Judgement *self)
{
  guint n = self->figures->n_tensors, n_bad = self->figures->n_bad;
  gboolean spot;

  self->verdict->is_spot = n_bad > 0 && n_bad <= MAX (1, VN_SPOT_SHARE * n);
  /* where it ruins an output there is nothing that is good but for it */
  spot = self->verdict->is_spot && self->figures->worst_db >= vn_metric_get_info (VN_METRIC_SQNR)->bad;
  self->by_hits = verdict_judgement_by_hits (self, spot);
  self->by_kept = !self->by_hits && verdict_judgement_by_answers (self, spot);
  if (!self->by_hits && !self->by_kept)
    self->level = verdict_judgement_by_outputs (self, spot);
  if (self->level == VN_VERDICT_UNUSABLE && !self->by_hits && !self->by_kept && verdict_judgement_keeps_most (self))
    {
      self->level = VN_VERDICT_CARE;
      self->by_kept = TRUE;
    }
  verdict_judgement_doubt (self, spot);
  if (self->level == VN_VERDICT_GOOD && self->verdict->worst != NULL && vn_error_row_is_dead (self->verdict->worst))
    self->level = VN_VERDICT_CARE;
  self->too_few = self->level <= VN_VERDICT_WEAK_SPOT && verdict_judgement_has_few_samples (self);
  if (self->too_few)
    self->level = VN_VERDICT_CARE;
}

/* The runtime has the last word. */
static VnVerdictLevel
verdict_judgement_there (const Judgement *self,
                         VnVerdictLevel   here)
{
  if (self->run->verification != NULL && self->run->verification->refusal != NULL)
    return VN_VERDICT_REFUSED;
  return self->differs && (here < VN_VERDICT_DIFFERS || here == VN_VERDICT_NOT_MEASURED) ? VN_VERDICT_DIFFERS : here;
}

static VnVerdictLevel
verdict_judgement_get_level (const Judgement *self)
{
  const VnVerdictLevel there = verdict_judgement_there (self, self->verdict->worst != NULL
                                                        ? self->level : VN_VERDICT_NOT_MEASURED);

  if (there == VN_VERDICT_REFUSED)
    return there;
  if (self->verdict->not_finite->len > 0)
    return VN_VERDICT_NOT_FINITE;
  return self->verdict->worst != NULL && self->verdict->suspicions->len > 0 ? VN_VERDICT_SUSPICIOUS : there;
}

static const VnTargetRuntime *
verdict_judgement_get_runtime (const Judgement *self)
{
  return self->run->verification != NULL ? self->run->verification->runtime : vn_target_runtime_get_default ();
}

/* Some name the runtime. */
static char *
verdict_judgement_dup_level (const Judgement *self,
                             VnVerdictLevel   level)
{
  const char *runtime = verdict_judgement_get_runtime (self)->title;

  if (level == VN_VERDICT_REFUSED)
    return g_strdup_printf (_("Refused by %s"), runtime);
  if (level == VN_VERDICT_DIFFERS)
    return g_strdup_printf (_("Different Outputs in %s"), runtime);
  return g_strdup (_(levels[level].title));
}

/* What has been found here alone is worth less than it seems. */
static char *
verdict_judgement_dup_title (const Judgement *self)
{
  g_autofree char *title = verdict_judgement_dup_level (self, self->verdict->level);

  return self->unasked && self->verdict->level < VN_VERDICT_DIFFERS
         ? g_strdup_printf (_("%s, not run in ONNX Runtime"), title) : g_steal_pointer (&title);
}

/* ---- the words ---- */

static void
verdict_judgement_append_names (const Judgement *self,
                                GString         *text,
                                guint            from,
                                guint            to)
{
  const GPtrArray *names = self->verdict->not_finite;

  for (guint i = from; i < to && i < from + MAX_NAMES; i++)
    g_string_append_printf (text, i > from ? ", “%s”" : " “%s”", (const char *) names->pdata[i]);
  g_string_append (text, to > from + MAX_NAMES ? " …" : ".");
}

static void
verdict_judgement_append_not_finite (const Judgement *self,
                                     GString         *text)
{
  guint n = self->verdict->not_finite->len;

  if (self->n_weights > 0)
    {
      g_string_append (text, _("NaN or infinite weights, to be fixed first, in"));
      verdict_judgement_append_names (self, text, 0, self->n_weights);
    }
  if (n > self->n_weights)
    {
      g_string_append (text, self->n_weights > 0 ? " " : "");
      g_string_append (text, _("Values become NaN or infinite, in this order, in"));
      verdict_judgement_append_names (self, text, self->n_weights, n);
    }
}

static void
verdict_judgement_append_hits (const Judgement *self,
                               GString         *text)
{
  const VnAccuracy *hits = &self->run->accuracy;

  if (!hits->valid || hits->n == 0)
    return;
  g_string_append_printf (text, ngettext (" Of %u labeled sample, it gets %u right and the float model %u",
                                          " Of %u labeled samples, it gets %u right and the float model %u", hits->n),
                          hits->n, hits->quant_top1, hits->float_top1);
  g_string_append (text, self->by_hits ? "." : _("; that is too few for a reliable comparison."));
}

static void
verdict_judgement_append_answers (const Judgement *self,
                                  GString         *text)
{
  g_autofree char *figures = NULL;

  if (!vn_kept_is_known (&self->run->accuracy.kept))
    return;
  figures = vn_kept_dup_figures (&self->run->accuracy.kept);
  g_string_append_printf (text, self->by_kept || self->by_hits ? " %s: %s." : _(" %s: %s; that is too few to judge by."),
                          vn_task_get_title (self->run->accuracy.kept.task), figures);
}

static void
verdict_judgement_append_nodes (const Judgement *self,
                                GString         *text)
{
  guint n = self->figures->n_bad;
  g_autofree char *bad = vn_format_number (vn_metric_get_info (VN_METRIC_SQNR)->bad, 3);

  g_string_append_c (text, ' ');
  if (n == 0)
    g_string_append_printf (text, _("No node is below %s dB."), bad);
  else if (self->level == VN_VERDICT_GOOD)
    g_string_append_printf (text, ngettext ("%u internal node is below %s dB, but the outputs are not affected.",
                                            "%u internal nodes are below %s dB, but the outputs are not affected.", n), n, bad);
  else if (self->verdict->is_spot)
    g_string_append_printf (text, ngettext ("%u node is below %s dB; leaving it in float may recover most of the loss.",
                                            "%u nodes are below %s dB; leaving them in float may recover most of the loss.", n),
                                            n, bad);
  else
    g_string_append_printf (text, ngettext ("%u node is below %s dB.", "%u nodes are below %s dB.", n), n, bad);
}

static void
verdict_judgement_append_outputs (const Judgement *self,
                                  GString         *text)
{
  const VnVerdict *verdict = self->verdict;
  g_autofree char *db = vn_format_db_margin (verdict->figures.worst_db, verdict->figures.margin_db),
  *title = vn_error_row_dup_title (verdict->worst);

  if (vn_error_row_is_dead (verdict->worst))
    g_string_append_printf (text, _("Nothing is left of “%s”: it is the same number everywhere."), title);
  else if (!isfinite (verdict->figures.worst_db))
    g_string_append (text, verdict->figures.worst_db > 0
                     ? _("The outputs are the same as before.") : _("An output is completely lost."));
  else if (verdict->worst->is_last)
    g_string_append_printf (text, _("“%s”, the last tensor before unsupported nodes, has an SQNR of %s."),
                            verdict->worst->value, db);
  else if (self->shift_db != 0)
    {
      g_autofree char *here = vn_format_db (verdict->worst->sqnr_db);

      if (verdict->worst->parts != NULL)
        g_string_append_printf (text, _("In %s, the worst part of the outputs, “%s”, has an SQNR of %s, here %s."),
                                verdict_judgement_get_runtime (self)->title,
                                title, db, here);
      else
        g_string_append_printf (text, _("In %s, the worst output has an SQNR of %s, here %s."),
                                verdict_judgement_get_runtime (self)->title, db, here);
    }
  else if (verdict->worst->parts != NULL)
    g_string_append_printf (text, _("The worst part of the outputs, “%s”, has an SQNR of %s."), title, db);
  else
    g_string_append_printf (text, _("The worst output has an SQNR of %s."), db);
}

/* What more samples would tell. */
static void
verdict_judgement_append_doubt (const Judgement *self,
                                GString         *text)
{
  const guint n = self->figures->n_samples;

  if (self->too_few)
    g_string_append_printf (text, ngettext (" It was measured on %u sample: too few to call it good.",
                                            " It was measured on %u samples: too few to call it good.", n), n);
  else if (self->in_doubt || (self->level == VN_VERDICT_CARE && !self->by_hits && !self->by_kept
                              && verdict_judgement_is_open (self)))
    g_string_append (text, _(" More samples are needed to decide whether that is good enough."));
}

/* The runtime computes something else; or it does not, in more time than before, which speaks against what is good otherwise. */
static void
verdict_judgement_append_objection (const Judgement *self,
                                    GString         *text)
{
  g_autofree char *fault = self->differs ? vn_verification_dup_fault (self->run->verification) : NULL;
  g_autofree char *remedy = self->differs ? vn_verification_dup_remedy (self->run->verification) : NULL;
  const VnRuntimeFigures *runtime = &self->figures->runtime;

  if (fault != NULL && self->verdict->level != VN_VERDICT_REFUSED)
    g_string_append_printf (text, remedy != NULL ? " %s. %s." : " %s.", fault, remedy);
  else if (self->verdict->is_opposed && self->verdict->level == VN_VERDICT_GOOD)
    {
      g_string_append_c (text, ' ');
      if (runtime->time_measured)
        g_string_append_printf (text, _("However, it takes %.1f times as long as the float model in %s, as "
                                        "measured."), runtime->ratio, verdict_judgement_get_runtime (self)->title);
      else
        g_string_append_printf (text, _("However, it is estimated to take about %.1f times as long as the float model "
                                        "(%.1f to %.1f) in ONNX Runtime."),
                                runtime->ratio, runtime->least_ratio, runtime->most_ratio);
    }
}

static char *
verdict_judgement_describe (const Judgement *self)
{
  const VnVerdict *verdict = self->verdict;
  g_autoptr(GString) text = g_string_new (NULL);

  if (verdict->level == VN_VERDICT_REFUSED)
    g_string_append_printf (text, "%s. ", self->run->verification->refusal);
  if (verdict->level == VN_VERDICT_NOT_FINITE)
    verdict_judgement_append_not_finite (self, text);
  else if (verdict->worst == NULL)
    g_string_append (text, self->run->errors == NULL ? _("No samples were run through the quantized model.")
                     : _("No output could be compared."));
  if (verdict->level > VN_VERDICT_SUSPICIOUS || verdict->worst == NULL)
    {
      verdict_judgement_append_objection (self, text);
      return g_strdup (text->str);
    }
  if (verdict->level == VN_VERDICT_SUSPICIOUS)
    {
      g_autofree char *there = verdict_judgement_dup_level (self, verdict_judgement_there (self, self->level));

      g_string_append_printf (text, _("Measurements on samples that the model does not expect are not meaningful. On "
                                      "these: %s. "), there);
    }
  if (verdict->figures.incomplete)
    {
      g_string_append (text, _("Unsupported nodes are left unchanged; how the error affects the outputs after them is "
                               "unknown."));
      g_string_append_c (text, ' ');
    }
  verdict_judgement_append_outputs (self, text);
  verdict_judgement_append_hits (self, text);
  verdict_judgement_append_answers (self, text);
  verdict_judgement_append_nodes (self, text);
  verdict_judgement_append_doubt (self, text);
  verdict_judgement_append_objection (self, text);
  return g_strdup (text->str);
}

/**
 * vn_verdict_new:
 * @run: whole, or with some of errors, accuracy, forecast, verification and notes; of a forecast the time counts only if it was
 *   not measured, and what notes say of samples and weights comes first
 *
 * Judges a run. Its errors and notes must outlive the verdict.
 *
 * Returns: (transfer full): the verdict
 */
VnVerdict *
vn_verdict_new (const VnRun *run)
{
  VnVerdict *self;
  Judgement judgement;

  g_return_val_if_fail (run != NULL, NULL);

  self = g_new0 (VnVerdict, 1);
  judgement = (Judgement) { .verdict = self, .run = run, .figures = &self->figures };
  self->suspicions = g_ptr_array_new ();
  self->not_finite = g_ptr_array_new_with_free_func (g_free);
  vn_run_figures_init (&self->figures, run);
  self->worst = vn_run_find_worst_output (run, &judgement.shift_db);
  judgement.differs = run->verification != NULL && vn_verification_judge (run->verification) == VN_AGREEMENT_OTHER;
  self->is_opposed = judgement.differs || (run->forecast != NULL && self->figures.runtime.least_ratio > SLOWER);
  verdict_read_notes (self, run->notes);
  judgement.n_weights = self->not_finite->len;
  if (run->errors != NULL)
    {
      verdict_find_not_finite (self, run->errors);
      verdict_judgement_by_numbers (&judgement);
    }
  self->level = verdict_judgement_get_level (&judgement);
  self->id = levels[self->level].id;
  self->basis = judgement.by_hits ? VN_HEADLINE_HITS : judgement.by_kept ? VN_HEADLINE_ANSWERS : VN_HEADLINE_OUTPUTS;
  judgement.unasked = run->verification == NULL && verdict_was_not_asked (run->notes);
  self->title = verdict_judgement_dup_title (&judgement);
  self->text = verdict_judgement_describe (&judgement);
  return self;
}

void
vn_verdict_free (VnVerdict *self)
{
  g_free (self->title);
  g_free (self->text);
  g_ptr_array_unref (self->suspicions);
  g_ptr_array_unref (self->not_finite);
  g_free (self);
}

/**
 * vn_verdict_level_get_id:
 *
 * Returns: the word for machines, as in the JSON of a report
 */
const char *
vn_verdict_level_get_id (VnVerdictLevel level)
{
  g_return_val_if_fail (level < VN_N_VERDICTS, NULL);

  return levels[level].id;
}

/**
 * vn_verdict_level_find:
 * @level: (out)
 *
 * Returns: %FALSE if no level has that @id
 */
gboolean
vn_verdict_level_find (const char     *id,
                       VnVerdictLevel *level)
{
  g_return_val_if_fail (id != NULL && level != NULL, FALSE);

  for (guint i = 0; i < VN_N_VERDICTS; i++)
    if (g_str_equal (levels[i].id, id))
      {
        *level = i;
        return TRUE;
      }
  return FALSE;
}

/**
 * vn_verdict_get_title:
 * @id: of a level, or one that only another version of the program knows
 *
 * Returns: (transfer none): the level's title, translated; @id if there is no such level
 */
const char *
vn_verdict_get_title (const char *id)
{
  g_return_val_if_fail (id != NULL, NULL);

  for (guint i = 0; i < VN_N_VERDICTS; i++)
    if (g_str_equal (levels[i].id, id))
      return _(levels[i].title);
  return id;
}
