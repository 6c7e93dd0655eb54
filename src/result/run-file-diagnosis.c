/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records of runs as JSON: why error arises and what was tried against it, and how values are spread. */
#include "run-file-private.h"

#include "vn-spread.h"

#include <math.h>

/* ---- why ---- */

/* Their ids, as the lines of the table move. */
static char *
run_file_dup_unfit (guint64 unfit)
{
  g_autoptr(GString) ids = g_string_new (NULL);

  for (guint i = 0; i < VN_N_CURES; i++)
    if (unfit >> i & 1)
      g_string_append_printf (ids, "%s%s", ids->len > 0 ? " " : "", vn_cure_get_id ((VnCure) i));
  return ids->len > 0 ? g_strdup (ids->str) : NULL;
}

static guint64
run_file_read_unfit (const char *text)
{
  g_auto(GStrv) ids = g_strsplit (text != NULL ? text : "", " ", -1);
  guint64 unfit = 0;
  VnCure cure;

  for (guint i = 0; ids[i] != NULL; i++)
    if (vn_cure_find (ids[i], &cure))
      unfit |= G_GUINT64_CONSTANT (1) << cure;
  return unfit;
}

static void
run_file_add_finding (JsonBuilder     *json,
                      const VnFinding *finding)
{
  g_autofree char *unfit = run_file_dup_unfit (finding->unfit);

  json_builder_begin_object (json);
  vn_json_add_int (json, "rank", finding->rank);
  vn_json_add_text (json, "tensor", finding->tensor);
  vn_json_add_text (json, "node", finding->node);
  vn_json_add_text (json, "role", vn_contribution_role_get_id (finding->role));
  vn_json_add_number (json, "share", finding->share);
  vn_json_add_text (json, "reason", vn_reason_get_id (finding->reason));
  vn_json_add_text (json, "text", finding->text);
  vn_json_add_text_if (json, "unfit-cures", unfit);
  json_builder_end_object (json);
}

/* Those that are known. */
static void
run_file_add_kept_figures (JsonBuilder  *json,
                           const VnKept *kept)
{
  if (!kept->has_figures)
    return;
  vn_json_begin_object (json, "figures");
  for (guint f = 0; f < VN_N_KEPT_FIGURES; f++)
    if (isfinite (vn_kept_get_figure (kept, (VnKeptFigure) f)))
      vn_json_add_number (json, vn_kept_figure_get_id ((VnKeptFigure) f), vn_kept_get_figure (kept, (VnKeptFigure) f));
  json_builder_end_object (json);
}

void
_vn_run_file_add_kept (JsonBuilder  *json,
                       const VnKept *kept)
{
  if (!vn_kept_is_known (kept))
    return;
  vn_json_begin_object (json, "kept");
  vn_json_add_text (json, "task", vn_task_get_id (kept->task));
  vn_json_add_int (json, "samples", kept->n_samples);
  vn_json_add_number (json, "share", kept->share);
  vn_json_add_int (json, "of", (gint64) kept->n);
  vn_json_add_int (json, "kept", (gint64) kept->n_kept);
  vn_json_add_int (json, "added", (gint64) kept->n_added);
  if (vn_task_get_second (kept->task) == VN_TASK_SECOND_MEAN && isfinite (kept->mean))
    vn_json_add_number (json, "mean", kept->mean);
  run_file_add_kept_figures (json, kept);
  json_builder_end_object (json);
}

static void
run_file_read_kept_figures (VnJsonFields *fields,
                            VnKept       *kept)
{
  VnJsonFields figures;

  if (!vn_json_fields_has (fields, "figures"))
    return;
  vn_json_fields_enter (&figures, fields, "figures");
  for (guint f = 0; f < VN_N_KEPT_FIGURES; f++)
    if (vn_json_fields_has (&figures, vn_kept_figure_get_id ((VnKeptFigure) f)))
      vn_kept_set_figure (kept, (VnKeptFigure) f, vn_json_fields_get_double (&figures, vn_kept_figure_get_id ((VnKeptFigure) f)));
  vn_json_fields_leave (&figures, fields);
}

/* A task that this program does not know is told of by another. */
void
_vn_run_file_read_kept (VnJsonFields *fields,
                        VnKept       *kept)
{
  g_autofree char *task = vn_json_fields_dup_text (fields, "task");
  VnKept read = { 0 };

  read.n_samples = (guint) vn_json_fields_get_count (fields, "samples", G_MAXUINT);
  read.share = vn_json_fields_get_double (fields, "share");
  read.n = vn_json_fields_get_count (fields, "of", G_MAXINT64);
  read.n_kept = vn_json_fields_get_count (fields, "kept", read.n);
  read.n_added = vn_json_fields_get_count (fields, "added", G_MAXINT64);
  read.mean = _vn_run_file_get_number (fields, "mean");
  run_file_read_kept_figures (fields, &read);
  if (task != NULL && vn_task_find (task, &read.task))
    *kept = read;
}

/* What is not known is not there. */
static void
run_file_add_headline (JsonBuilder      *json,
                       const char       *id,
                       const VnHeadline *headline)
{
  if (isnan (headline->worst_db) && headline->n_labeled == 0 && !vn_kept_is_known (&headline->kept))
    return;
  vn_json_begin_object (json, id);
  _vn_run_file_add_number (json, "worst-output-sqnr", headline->worst_db);
  _vn_run_file_add_kept (json, &headline->kept);
  if (headline->n_labeled > 0)
    {
      vn_json_add_int (json, "labeled", headline->n_labeled);
      vn_json_add_int (json, "right", headline->n_right);
    }
  json_builder_end_object (json);
}

static void
run_file_read_headline (VnJsonFields *parent,
                        const char   *id,
                        VnHeadline   *headline)
{
  VnJsonFields fields, kept;

  vn_headline_clear (headline);
  if (!vn_json_fields_has (parent, id))
    return;
  vn_json_fields_enter (&fields, parent, id);
  headline->worst_db = _vn_run_file_get_number (&fields, "worst-output-sqnr");
  if (vn_json_fields_has (&fields, "kept"))
    {
      vn_json_fields_enter (&kept, &fields, "kept");
      _vn_run_file_read_kept (&kept, &headline->kept);
      vn_json_fields_leave (&kept, &fields);
    }
  if (vn_json_fields_has (&fields, "labeled"))
    {
      headline->n_labeled = (guint) vn_json_fields_get_count (&fields, "labeled", G_MAXUINT);
      headline->n_right = (guint) vn_json_fields_get_count (&fields, "right", headline->n_labeled);
    }
  vn_json_fields_leave (&fields, parent);
}

static void
run_file_add_trial (JsonBuilder       *json,
                    const VnCureTrial *trial)
{
  json_builder_begin_object (json);
  vn_json_add_text (json, "tensor", trial->tensor);
  vn_json_add_text (json, "reason", vn_reason_get_id (trial->reason));
  vn_json_add_text (json, "cure", vn_cure_get_id (trial->cure));
  vn_json_add_text (json, "state", vn_trial_state_get_id (trial->state));
  _vn_run_file_add_number (json, "before-sqnr", trial->before_db);
  _vn_run_file_add_number (json, "after-sqnr", trial->after_db);
  run_file_add_headline (json, "before", &trial->before);
  run_file_add_headline (json, "after", &trial->after);
  vn_json_add_int (json, "before-bytes", (gint64) trial->before_bytes);
  vn_json_add_int (json, "after-bytes", (gint64) trial->after_bytes);
  _vn_run_file_add_number (json, "time-ratio", trial->time_ratio);
  vn_json_add_text_if (json, "problem", trial->problem);
  json_builder_end_object (json);
}

void
_vn_run_file_add_diagnosis (JsonBuilder *json,
                            VnDiagnosis *diagnosis)
{
  json_builder_begin_object (json);
  vn_json_begin_array (json, "reasons");
  for (guint i = 0; i < vn_diagnosis_get_n (diagnosis); i++)
    run_file_add_finding (json, vn_diagnosis_get (diagnosis, i));
  json_builder_end_array (json);
  vn_json_begin_array (json, "cures");
  for (guint i = 0; i < vn_diagnosis_get_n_trials (diagnosis); i++)
    run_file_add_trial (json, vn_diagnosis_get_trial (diagnosis, i));
  json_builder_end_array (json);
  json_builder_end_object (json);
}

static gboolean
run_file_find_reason (const char *id,
                      VnReason   *reason)
{
  for (VnReason i = 0; id != NULL && i < VN_N_REASONS; i++)
    if (g_str_equal (id, vn_reason_get_id (i)))
      {
        *reason = i;
        return TRUE;
      }
  return FALSE;
}

/* One that this program does not know is left out. */
static void
run_file_read_finding (gpointer      to,
                       VnJsonFields *fields)
{
  g_autofree char *tensor = vn_json_fields_dup_text (fields, "tensor"), *node = vn_json_fields_dup_text (fields, "node");
  g_autofree char *role = vn_json_fields_dup_text (fields, "role"), *reason = vn_json_fields_dup_text (fields, "reason");
  g_autofree char *text = vn_json_fields_dup_text (fields, "text"), *unfit = vn_json_fields_dup_text_if (fields, "unfit-cures");
  VnFinding finding = { .rank = (guint) vn_json_fields_get_count (fields, "rank", G_MAXUINT), .tensor = tensor, .node = node,
                        .share = vn_json_fields_get_double (fields, "share"), .text = text,
                        .unfit = run_file_read_unfit (unfit) };

  if (fields->error != NULL || !vn_contribution_role_find (role, &finding.role) ||
      !run_file_find_reason (reason, &finding.reason))
    return;
  tensor = node = text = NULL;
  vn_diagnosis_add (to, &finding);
}

static void
run_file_read_trial (gpointer      to,
                     VnJsonFields *fields)
{
  g_autofree char *tensor = vn_json_fields_dup_text (fields, "tensor"), *reason = vn_json_fields_dup_text (fields, "reason");
  g_autofree char *cure = vn_json_fields_dup_text (fields, "cure"), *state = vn_json_fields_dup_text (fields, "state");
  g_autofree char *problem = vn_json_fields_dup_text_if (fields, "problem");
  VnCureTrial trial = { .tensor = tensor, .state = VN_N_TRIALS, .before_db = _vn_run_file_get_number (fields, "before-sqnr"),
                        .after_db = _vn_run_file_get_number (fields, "after-sqnr"),
                        .before_bytes = vn_json_fields_get_count (fields, "before-bytes", G_MAXINT64),
                        .after_bytes = vn_json_fields_get_count (fields, "after-bytes", G_MAXINT64),
                        .time_ratio = _vn_run_file_get_number (fields, "time-ratio"), .problem = problem };

  run_file_read_headline (fields, "before", &trial.before);
  run_file_read_headline (fields, "after", &trial.after);
  for (VnTrialState i = 0; state != NULL && i < VN_N_TRIALS; i++)
    if (g_str_equal (state, vn_trial_state_get_id (i)))
      trial.state = i;
  if (fields->error != NULL || trial.state == VN_N_TRIALS || !run_file_find_reason (reason, &trial.reason) ||
      !vn_cure_find (cure, &trial.cure))
    return;
  tensor = problem = NULL;
  vn_diagnosis_add_trial (to, &trial);
}

VnDiagnosis *
_vn_run_file_read_diagnosis (VnJsonFields *fields)
{
  VnDiagnosis *diagnosis = vn_diagnosis_new_empty ();

  _vn_run_file_read_each (fields, "reasons", run_file_read_finding, diagnosis);
  _vn_run_file_read_each (fields, "cures", run_file_read_trial, diagnosis);
  return diagnosis;
}

/* ---- what was tried ---- */

void
_vn_run_file_add_steps (JsonBuilder *json,
                        GPtrArray   *steps)
{
  json_builder_begin_array (json);
  for (guint i = 0; i < steps->len; i++)
    {
      const VnRunStep *step = g_ptr_array_index (steps, i);

      json_builder_begin_object (json);
      vn_json_add_text (json, "title", step->title);
      vn_json_add_text (json, "outcome", step->outcome);
      vn_json_add_bool (json, "kept", step->kept);
      _vn_run_file_add_number (json, "before-sqnr", step->before_db);
      _vn_run_file_add_number (json, "after-sqnr", step->after_db);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static void
run_file_read_step (gpointer      to,
                    VnJsonFields *fields)
{
  g_autofree char *title = vn_json_fields_dup_text (fields, "title"), *outcome = vn_json_fields_dup_text (fields, "outcome");
  const VnRunStep step = { title, outcome, vn_json_fields_get_bool (fields, "kept"),
                           _vn_run_file_get_number (fields, "before-sqnr"),
                           _vn_run_file_get_number (fields, "after-sqnr") };

  vn_run_steps_add (to, &step);
}

GPtrArray *
_vn_run_file_read_steps (VnJsonFields *parent,
                         const char   *id)
{
  GPtrArray *steps = vn_run_steps_new ();

  _vn_run_file_read_each (parent, id, run_file_read_step, steps);
  return steps;
}

/* ---- how values are spread ---- */

void
_vn_run_file_add_spreads (JsonBuilder *json,
                          GPtrArray   *spreads)
{
  json_builder_begin_array (json);
  for (guint i = 0; i < spreads->len; i++)
    {
      const VnSpread *spread = g_ptr_array_index (spreads, i);

      json_builder_begin_object (json);
      vn_json_add_text (json, "tensor", spread->tensor);
      vn_json_add_text (json, "node", spread->node);
      vn_json_add_text (json, "role", vn_contribution_role_get_id (spread->role));
      vn_json_add_number (json, "low", spread->low);
      vn_json_add_number (json, "high", spread->high);
      vn_json_add_number (json, "range-min", spread->range_min);
      vn_json_add_number (json, "range-max", spread->range_max);
      vn_json_begin_array (json, "counts");
      for (guint k = 0; k < VN_SPREAD_BINS; k++)
        json_builder_add_int_value (json, (gint64) spread->counts[k]);
      json_builder_end_array (json);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

/* Counts are kept as double: beyond, they are not exact. */
#define MAX_EXACT ((guint64) 1 << 53)

static void
run_file_read_spread (gpointer      to,
                      VnJsonFields *fields)
{
  g_autofree char *role = vn_json_fields_dup_text (fields, "role"), *where = vn_json_fields_dup_where (fields, "counts");
  JsonArray *counts = vn_json_fields_get_array (fields, "counts");
  VnSpread *spread = g_new0 (VnSpread, 1);
  GError *reason = NULL;

  spread->tensor = vn_json_fields_dup_text (fields, "tensor");
  spread->node = vn_json_fields_dup_text (fields, "node");
  spread->low = vn_json_fields_get_double (fields, "low");
  spread->high = vn_json_fields_get_double (fields, "high");
  spread->range_min = vn_json_fields_get_double (fields, "range-min");
  spread->range_max = vn_json_fields_get_double (fields, "range-max");
  for (guint i = 0; counts != NULL && reason == NULL && i < MIN (json_array_get_length (counts), VN_SPREAD_BINS); i++)
    {
      guint64 count = 0;

      vn_json_get_count (json_array_get_element (counts, i), where, MAX_EXACT, &count, &reason);
      spread->counts[i] = (double) count;
    }
  vn_json_fields_take_error (fields, reason);
  if (fields->error == NULL && vn_contribution_role_find (role, &spread->role) && spread->low < spread->high)
    g_ptr_array_add (to, spread);
  else
    vn_spread_free (spread);
}

GPtrArray *
_vn_run_file_read_spreads (VnJsonFields *parent,
                           const char   *id)
{
  GPtrArray *spreads = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_spread_free);

  _vn_run_file_read_each (parent, id, run_file_read_spread, spreads);
  return spreads;
}
