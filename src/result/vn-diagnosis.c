/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of reasons and of what was tried against them; vn_diagnose() finds the reasons. */
#include "vn-diagnosis.h"

#include "vn-format.h"
#include "vn-i18n.h"

#include <math.h>

struct _VnDiagnosis
{
  gatomicrefcount ref;
  GArray         *findings;   /* of VnFinding */
  GArray         *trials;     /* of VnCureTrial */
};

static const struct
{
  const char    *id;
  VnReasonScope  scope;
  const char    *cures, *title;
} reasons[VN_N_REASONS] = {
#define VN_REASON(SYMBOL, function, id, scope, cures, title) { id, VN_SCOPE_##scope, cures, title },
#include "vn-reasons.def"
#undef VN_REASON
};

static const struct
{
  const char  *id;
  VnCureKind   kind;
  VnCurePlace  place;
  const char  *title;
} cures[VN_N_CURES] = {
#define VN_CURE(SYMBOL, function, id, kind, place, title) { id, VN_CURES_##kind, VN_PLACE_##place, title },
#include "vn-cures.def"
#undef VN_CURE
};

static const char * const trial_ids[VN_N_TRIALS] = {
  [VN_TRIAL_HELPED] = "helped",
  [VN_TRIAL_NO_HELP] = "no-help",
  [VN_TRIAL_IMPOSSIBLE] = "impossible",
  [VN_TRIAL_TOLD] = "told",
  [VN_TRIAL_NO_TIME] = "no-time",
};

static void
diagnosis_clear_finding (gpointer data)
{
  VnFinding *self = data;

  g_free (self->tensor);
  g_free (self->node);
  g_free (self->text);
}

static void
diagnosis_clear_trial (gpointer data)
{
  VnCureTrial *self = data;

  g_free (self->tensor);
  g_clear_pointer (&self->recipe, vn_recipe_free);
  g_free (self->problem);
}

/**
 * vn_diagnosis_new_empty:
 *
 * Returns: (transfer full): a diagnosis to be filled
 */
VnDiagnosis *
vn_diagnosis_new_empty (void)
{
  VnDiagnosis *self = g_new0 (VnDiagnosis, 1);

  g_atomic_ref_count_init (&self->ref);
  self->findings = g_array_new (FALSE, FALSE, sizeof (VnFinding));
  self->trials = g_array_new (FALSE, FALSE, sizeof (VnCureTrial));
  g_array_set_clear_func (self->findings, diagnosis_clear_finding);
  g_array_set_clear_func (self->trials, diagnosis_clear_trial);
  return self;
}

VnDiagnosis *
vn_diagnosis_ref (VnDiagnosis *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

void
vn_diagnosis_unref (VnDiagnosis *self)
{
  if (self == NULL || !g_atomic_ref_count_dec (&self->ref))
    return;
  g_array_unref (self->findings);
  g_array_unref (self->trials);
  g_free (self);
}

/**
 * vn_diagnosis_add:
 * @finding: (transfer full): its strings change owner
 */
void
vn_diagnosis_add (VnDiagnosis *self,
                  VnFinding   *finding)
{
  g_return_if_fail (self != NULL && finding != NULL && finding->reason < VN_N_REASONS);

  g_array_append_vals (self->findings, finding, 1);
}

guint
vn_diagnosis_get_n (VnDiagnosis *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->findings->len;
}

const VnFinding *
vn_diagnosis_get (VnDiagnosis *self,
                  guint        i)
{
  g_return_val_if_fail (self != NULL && i < self->findings->len, NULL);

  return &g_array_index (self->findings, VnFinding, i);
}

/**
 * vn_diagnosis_add_trial:
 * @trial: (transfer full): what it points to changes owner
 *
 * Only who made the diagnosis adds to it, before others see it.
 */
void
vn_diagnosis_add_trial (VnDiagnosis *self,
                        VnCureTrial *trial)
{
  g_return_if_fail (self != NULL && trial != NULL && trial->cure < VN_N_CURES);

  g_array_append_vals (self->trials, trial, 1);
}

guint
vn_diagnosis_get_n_trials (VnDiagnosis *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->trials->len;
}

const VnCureTrial *
vn_diagnosis_get_trial (VnDiagnosis *self,
                        guint        i)
{
  g_return_val_if_fail (self != NULL && i < self->trials->len, NULL);

  return &g_array_index (self->trials, VnCureTrial, i);
}

/**
 * vn_diagnosis_find_best:
 *
 * Returns: (transfer none) (nullable): the trial whose outputs were best; %NULL if none helped
 */
const VnCureTrial *
vn_diagnosis_find_best (VnDiagnosis *self)
{
  const VnCureTrial *best = NULL;

  g_return_val_if_fail (self != NULL, NULL);

  for (guint i = 0; i < self->trials->len; i++)
    {
      const VnCureTrial *trial = &g_array_index (self->trials, VnCureTrial, i);

      if (trial->state == VN_TRIAL_HELPED && (best == NULL || trial->after_db > best->after_db))
        best = trial;
    }
  return best;
}

/**
 * vn_reason_get_id:
 *
 * Returns: (transfer none): the word for machines, as in the JSON of a report
 */
const char *
vn_reason_get_id (VnReason self)
{
  g_return_val_if_fail (self < VN_N_REASONS, NULL);

  return reasons[self].id;
}

const char *
vn_reason_get_title (VnReason self)
{
  g_return_val_if_fail (self < VN_N_REASONS, NULL);

  return _(reasons[self].title);
}

VnReasonScope
vn_reason_get_scope (VnReason self)
{
  g_return_val_if_fail (self < VN_N_REASONS, VN_SCOPE_RUN);

  return reasons[self].scope;
}

/**
 * vn_reason_list_cures:
 *
 * Returns: (transfer full) (element-type VnCure): in the order they are offered
 */
GArray *
vn_reason_list_cures (VnReason self)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (VnCure));
  g_auto(GStrv) ids = NULL;

  g_return_val_if_fail (self < VN_N_REASONS, list);

  ids = g_strsplit (reasons[self].cures, " ", -1);
  for (guint i = 0; ids[i] != NULL; i++)
    {
      VnCure cure;

      if (vn_cure_find (ids[i], &cure))
        g_array_append_val (list, cure);
    }
  return list;
}

/**
 * vn_finding_list_cures:
 *
 * Returns: (transfer full) (element-type VnCure): those of the reason that can do something here, in the order they are offered
 */
GArray *
vn_finding_list_cures (const VnFinding *self)
{
  GArray *list;

  g_return_val_if_fail (self != NULL, g_array_new (FALSE, FALSE, sizeof (VnCure)));

  list = vn_reason_list_cures (self->reason);
  for (guint i = list->len; i > 0; i--)
    if (self->unfit >> g_array_index (list, VnCure, i - 1) & 1)
      g_array_remove_index (list, i - 1);
  return list;
}

const char *
vn_cure_get_id (VnCure self)
{
  g_return_val_if_fail (self < VN_N_CURES, NULL);

  return cures[self].id;
}

const char *
vn_cure_get_title (VnCure self)
{
  g_return_val_if_fail (self < VN_N_CURES, NULL);

  return _(cures[self].title);
}

VnCureKind
vn_cure_get_kind (VnCure self)
{
  g_return_val_if_fail (self < VN_N_CURES, VN_CURES_NOTHING);

  return cures[self].kind;
}

VnCurePlace
vn_cure_get_place (VnCure self)
{
  g_return_val_if_fail (self < VN_N_CURES, VN_PLACE_ANYWHERE);

  return cures[self].place;
}

gboolean
vn_cure_find (const char *id,
              VnCure     *cure)
{
  g_return_val_if_fail (id != NULL && cure != NULL, FALSE);

  for (guint i = 0; i < VN_N_CURES; i++)
    if (g_str_equal (cures[i].id, id))
      {
        *cure = (VnCure) i;
        return TRUE;
      }
  return FALSE;
}

const char *
vn_trial_state_get_id (VnTrialState self)
{
  g_return_val_if_fail (self < VN_N_TRIALS, NULL);

  return trial_ids[self];
}

/**
 * vn_cure_trial_dup_text:
 *
 * Returns: (transfer full): what came of it, one translated sentence
 */
char *
vn_cure_trial_dup_text (const VnCureTrial *self)
{
  g_autofree char *gain = NULL, *more = NULL;
  double cost;

  g_return_val_if_fail (self != NULL, NULL);

  switch (self->state)
    {
    case VN_TRIAL_IMPOSSIBLE:
      return g_strdup_printf (_("not applicable here: %s"), self->problem != NULL ? self->problem : "");
    case VN_TRIAL_TOLD:
      return g_strdup (_("must be done manually"));
    case VN_TRIAL_NO_TIME:
      return g_strdup (_("not tried: out of time"));
    case VN_TRIAL_HELPED:
    case VN_TRIAL_NO_HELP:
    case VN_N_TRIALS:
    default:
      cost = 100 * ((double) self->after_bytes / (double) MAX (self->before_bytes, 1) - 1);
      gain = vn_format_signed_db (self->after_db - self->before_db);
      more = vn_format_signed (cost, 1);
      return g_strdup_printf (self->state == VN_TRIAL_HELPED ? _("%s, size %s %%") : _("did not help: %s, size %s %%"), gain,
                              more);
    }
}
