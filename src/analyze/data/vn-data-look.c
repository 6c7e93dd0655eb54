/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a person sees of samples before they are calibrated on; what is looked at, and how, is in vn-data-check.c. */
#include "vn-data-look.h"

#include "vn-data-check-private.h"
#include "vn-data-suspicion.h"
#include "vn-i18n.h"

#include <math.h>

static void
data_look_free_finding (gpointer data)
{
  VnDataFinding *self = data;

  g_free (self->code);
  g_free (self->title);
  g_free (self->text);
  g_free (self->remedy);
  g_ptr_array_unref (self->cures);
  g_free (self);
}

/**
 * vn_data_look_free:
 */
void
vn_data_look_free (VnDataLook *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->findings);
  g_free (self->values.input);
  g_free (self);
}

/**
 * vn_data_look_is_suspicious:
 *
 * Returns: whether samples may be wrong for the network; few are not
 */
gboolean
vn_data_look_is_suspicious (const VnDataLook *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  for (guint i = 0; i < self->findings->len; i++)
    if (((const VnDataFinding *) self->findings->pdata[i])->level >= VN_NOTE_WARNING)
      return TRUE;
  return FALSE;
}

static VnDataFinding *
data_look_make_finding (const VnNote      *note,
                        const VnDataSight *sight)
{
  const gboolean is_suspicion = vn_data_suspicion_is (note);
  VnDataFinding *self = g_new0 (VnDataFinding, 1);

  self->level = note->level;
  self->code = g_strdup (note->code);
  self->title = g_strdup (is_suspicion ? vn_data_suspicion_get_title (note->code) : _("Few samples"));
  self->text = g_strdup (note->text);
  self->remedy = g_strdup (is_suspicion ? vn_data_suspicion_get_remedy (note) : note->remedy);
  self->cures = _vn_data_sight_find_cures (sight, note->code, note->subject, &self->is_certain);
  return self;
}

/* Suspicions in the order in which they were found, before facts. */
static void
data_look_list_findings (VnDataLook        *self,
                         VnNotes           *notes,
                         const VnDataSight *sight)
{
  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; i < vn_notes_get_n (notes); i++)
      {
        const VnNote *note = vn_notes_get (notes, i);
        const gboolean is_fact = g_str_equal (note->code, "data-few");

        if (pass == 0 ? vn_data_suspicion_is (note) : is_fact)
          g_ptr_array_add (self->findings, data_look_make_finding (note, sight));
      }
}

/**
 * vn_data_look:
 * @model: as it was opened
 * @fed: the model whose inputs @dataset was opened for; may be @model
 * @shapes: (nullable): sizes of inputs, as of vn_model_open_data()
 * @dataset: samples for all its inputs
 *
 * As vn_data_check() for samples that are to be calibrated on. Reads up to 16 of them, and runs the first layer. Any thread.
 *
 * Returns: (transfer full): what was found; %NULL only if it was cancelled
 */
VnDataLook *
vn_data_look (VnModel        *model,
              const VnModel  *fed,
              GHashTable     *shapes,
              VnDataset      *dataset,
              GCancellable   *cancellable,
              GError        **error)
{
  g_autoptr(VnNotes) notes = vn_notes_new ();
  g_autoptr(VnDataLook) self = NULL;
  VnDataSight *sight;
  gboolean done;

  g_return_val_if_fail (model != NULL && fed != NULL && dataset != NULL, NULL);

  self = g_new0 (VnDataLook, 1);
  self->findings = g_ptr_array_new_with_free_func (data_look_free_finding);
  self->values.suits_low = self->values.suits_high = NAN;
  sight = _vn_data_sight_new (self);
  done = _vn_data_check (model, fed, shapes, dataset, TRUE, sight, notes, cancellable, error);
  if (done)
    {
      data_look_list_findings (self, notes, sight);
      _vn_data_sight_finish (sight);
    }
  _vn_data_sight_free (sight);
  return done ? g_steal_pointer (&self) : NULL;
}
