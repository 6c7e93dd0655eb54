/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a recipe that is only offered would come to: measured on a thread beside all else, nothing of the document follows it. */
#include "vn-document-private.h"

#include "vn-thread.h"

typedef struct
{
  VnWhatIf *what_if;
  VnRecipe *recipe;
} Question;

static void
document_foresee_free_question (gpointer data)
{
  Question *self = data;

  vn_what_if_unref (self->what_if);
  vn_recipe_free (self->recipe);
  g_free (self);
}

static void
document_foresee_measure (GTask        *task,
                          gpointer      source,
                          gpointer      data,
                          GCancellable *cancellable)
{
  Question *question = data;
  GError *error = NULL;
  VnResult *foreseen = vn_what_if_expect (question->what_if, NULL, question->recipe, cancellable, &error);

  if (foreseen != NULL)
    g_task_return_pointer (task, foreseen, (GDestroyNotify) vn_result_unref);
  else
    g_task_return_error (task, error);
}

/* What takes a whole run to tell is not told: that is no failure, as nobody has asked for it. */
static void
document_foresee_measured (GObject      *source,
                           GAsyncResult *async,
                           gpointer      data)
{
  VnDocument *self = VN_DOCUMENT (source);
  g_autoptr(VnResult) foreseen = g_task_propagate_pointer (G_TASK (async), NULL);

  if (self->foreseeing != g_task_get_cancellable (G_TASK (async)))
    return;
  g_clear_object (&self->foreseeing);
  if (foreseen == NULL)
    return;
  self->foreseen = g_steal_pointer (&foreseen);
  g_signal_emit (self, vn_document_signals[VN_SIGNAL_FORESEEN], 0);
}

/**
 * vn_document_foresee_begin:
 *
 * Begins to measure what is to be foreseen, if the networks of the present result are kept by now; to be called when they are.
 */
void
vn_document_foresee_begin (VnDocument *self)
{
  g_autoptr(GTask) task = NULL;
  Question *question;

  g_return_if_fail (VN_IS_DOCUMENT (self));

  if (self->foreseen_recipe == NULL || self->foreseen != NULL || self->foreseeing != NULL || self->what_if == NULL ||
      self->result == NULL || !vn_recipe_equal (self->what_if_recipe, self->result->recipe))
    return;
  question = g_new0 (Question, 1);
  question->what_if = vn_what_if_ref (self->what_if);
  question->recipe = vn_recipe_copy (self->foreseen_recipe);
  self->foreseeing = g_cancellable_new ();
  task = g_task_new (self, self->foreseeing, document_foresee_measured, NULL);
  g_task_set_task_data (task, question, document_foresee_free_question);
  vn_thread_run_task (task, document_foresee_measure);
}

/**
 * vn_document_foresee:
 * @recipe: (nullable): with changes that are offered; %NULL: nothing is
 *
 * Has measured on a few samples what the result would become. Where that takes a whole run it is not measured. The signal
 * foreseen-changed tells of it.
 */
void
vn_document_foresee (VnDocument     *self,
                     const VnRecipe *recipe)
{
  g_return_if_fail (VN_IS_DOCUMENT (self));

  if (recipe != NULL ? self->foreseen_recipe != NULL && vn_recipe_equal (recipe, self->foreseen_recipe) : self->foreseen_recipe == NULL)
    return;
  if (self->foreseeing != NULL)
    g_cancellable_cancel (self->foreseeing);
  g_clear_object (&self->foreseeing);
  g_clear_pointer (&self->foreseen_recipe, vn_recipe_free);
  g_clear_pointer (&self->foreseen, vn_result_unref);
  self->foreseen_recipe = recipe != NULL ? vn_recipe_copy (recipe) : NULL;
  g_signal_emit (self, vn_document_signals[VN_SIGNAL_FORESEEN], 0);
  vn_document_foresee_begin (self);
}

/**
 * vn_document_get_foreseen:
 *
 * Returns: (transfer none) (nullable): what vn_document_foresee() asked for; %NULL: it is not known, or nothing was asked for
 */
VnResult *
vn_document_get_foreseen (VnDocument *self)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), NULL);

  return self->foreseen;
}
