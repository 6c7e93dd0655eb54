/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a change of the recipe is expected to do, before a whole run tells: measured on a thread, and begun anew by every change. */
#include "vn-document-private.h"

#include "vn-drop.h"
#include "vn-error.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-thread.h"

/* Whole runs that are kept, so that what was measured need not be measured again when a change is taken back. */
#define MAX_KNOWN 4

static void
document_expected_emit (VnDocument *self)
{
  g_signal_emit (self, vn_document_signals[VN_SIGNAL_EXPECTED], 0);
}

/* ---- whole runs ---- */

/**
 * vn_document_remember:
 * @result: of a whole run on the present samples
 *
 * Keeps it for when its recipe comes again.
 */
void
vn_document_remember (VnDocument *self,
                      VnResult   *result)
{
  g_return_if_fail (VN_IS_DOCUMENT (self) && result != NULL && !result->is_expected);

  for (guint i = self->known->len; i > 0; i--)
    if (vn_recipe_equal (((VnResult *) g_ptr_array_index (self->known, i - 1))->recipe, result->recipe))
      g_ptr_array_remove_index (self->known, i - 1);
  g_ptr_array_add (self->known, vn_result_ref (result));
  if (self->known->len > MAX_KNOWN)
    g_ptr_array_remove_index (self->known, 0);
}

/**
 * vn_document_find_known:
 * @recipe: (nullable): a recipe
 *
 * Returns: (transfer none) (nullable): of a whole run with that recipe on the present samples
 */
VnResult *
vn_document_find_known (VnDocument     *self,
                        const VnRecipe *recipe)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), NULL);

  for (guint i = 0; recipe != NULL && i < self->known->len; i++)
    if (vn_recipe_equal (((VnResult *) g_ptr_array_index (self->known, i))->recipe, recipe))
      return g_ptr_array_index (self->known, i);
  return NULL;
}

/**
 * vn_document_find_run_result:
 * @run: one of vn_document_get_runs()
 *
 * Returns: (transfer none) (nullable): what the run gave, with its networks, while it is remembered
 */
VnResult *
vn_document_find_run_result (VnDocument         *self,
                             const VnProjectRun *run)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self) && run != NULL, NULL);

  for (guint i = 0; i < self->known->len + 1; i++)
    {
      VnResult *result = i < self->known->len ? g_ptr_array_index (self->known, i) : self->result;
      gboolean is_whole = result != NULL && result->quantized != NULL && result->prepared != NULL;
      g_autofree char *digest = is_whole && result->time == run->time ? vn_recipe_dup_digest (result->recipe) : NULL;

      if (digest != NULL && g_str_equal (digest, run->recipe_digest))
        return result;
    }
  return NULL;
}

/* ---- what it is measured with ---- */

typedef struct
{
  VnWhatIf        *what_if;
  VnResult        *result;
  VnContributions *contributions;
  VnRecipe        *recipe;
} Question;

static void
document_expected_free_question (gpointer data)
{
  Question *self = data;

  vn_drop_large (g_steal_pointer (&self->what_if), (GDestroyNotify) vn_what_if_unref);
  g_clear_pointer (&self->result, vn_result_unref);
  g_clear_pointer (&self->contributions, vn_contributions_unref);
  g_clear_pointer (&self->recipe, vn_recipe_free);
  g_free (self);
}

static void
document_expected_make (GTask        *task,
                        gpointer      source,
                        gpointer      data,
                        GCancellable *cancellable)
{
  Question *question = data;
  GError *error = NULL;
  VnWhatIf *what_if = vn_what_if_new (question->result, 0, 0, cancellable, &error);

  if (what_if != NULL)
    g_task_return_pointer (task, what_if, (GDestroyNotify) vn_what_if_unref);
  else
    g_task_return_error (task, error);
}

static void document_expected_ask (VnDocument *self);

static void
document_expected_made (GObject      *source,
                        GAsyncResult *async,
                        gpointer      data)
{
  VnDocument *self = VN_DOCUMENT (source);
  GTask *task = G_TASK (async);
  g_autoptr(GError) error = NULL;
  VnWhatIf *what_if = g_task_propagate_pointer (task, &error);

  if (self->what_if_making != g_task_get_cancellable (task))   /* there is another result */
    {
      g_clear_pointer (&what_if, vn_what_if_unref);
      return;
    }
  g_clear_object (&self->what_if_making);
  g_clear_error (&self->what_if_error);
  vn_drop_memory ();
  self->what_if = what_if;
  self->what_if_error = g_steal_pointer (&error);
  self->what_if_recipe = vn_recipe_copy (((Question *) g_task_get_task_data (task))->result->recipe);
  if (self->expect_waits)
    document_expected_ask (self);
  vn_document_foresee_begin (self);
}

/**
 * vn_document_make_what_if:
 *
 * Begins to keep what the networks of the present result compute, so that the next change can be told about at once.
 */
void
vn_document_make_what_if (VnDocument *self)
{
  g_autoptr(GTask) task = NULL;
  Question *question;

  g_return_if_fail (VN_IS_DOCUMENT (self) && self->result != NULL);

  if (self->what_if_making != NULL)
    g_cancellable_cancel (self->what_if_making);
  g_clear_object (&self->what_if_making);
  vn_drop_large (g_steal_pointer (&self->what_if), (GDestroyNotify) vn_what_if_unref);   /* both have no room beside each other */
  g_clear_pointer (&self->what_if_recipe, vn_recipe_free);
  self->what_if_making = g_cancellable_new ();
  question = g_new0 (Question, 1);
  question->result = vn_result_ref (self->result);
  task = g_task_new (self, self->what_if_making, document_expected_made, NULL);
  g_task_set_task_data (task, question, document_expected_free_question);
  vn_thread_run_task (task, document_expected_make);
}

/* ---- what is expected ---- */

static void
document_expected_measure (GTask        *task,
                           gpointer      source,
                           gpointer      data,
                           GCancellable *cancellable)
{
  Question *question = data;
  GError *error = NULL;
  VnResult *expected = vn_what_if_expect (question->what_if, question->contributions, question->recipe, cancellable, &error);

  if (expected != NULL)
    g_task_return_pointer (task, expected, (GDestroyNotify) vn_result_unref);
  else
    g_task_return_error (task, error);
}

/* A whole run follows, which confirms it. */
static void
document_expected_show (VnDocument *self,
                        VnResult   *expected)
{
  vn_document_show_expected (self, expected);
  document_expected_emit (self);
  vn_document_quantize (self, NULL);
}

/* What is shown is not what holds: a whole run is offered, or begun if whoever made the change wants to know what it gains. */
static void
document_expected_refuse (VnDocument *self,
                          const char *reason)
{
  g_free (self->refusal);
  self->refusal = g_strdup (reason);
  vn_document_show_expected (self, NULL);
  document_expected_emit (self);
  if (self->run_wanted)
    vn_document_quantize (self, NULL);
}

static void
document_expected_measured (GObject      *source,
                            GAsyncResult *async,
                            gpointer      data)
{
  VnDocument *self = VN_DOCUMENT (source);
  GTask *task = G_TASK (async);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnResult) expected = g_task_propagate_pointer (task, &error);

  if (self->expecting != g_task_get_cancellable (task))   /* something else has been asked since */
    return;
  g_clear_object (&self->expecting);
  if (expected != NULL)
    document_expected_show (self, expected);
  else if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    document_expected_refuse (self, _("The effect of the change was not measured"));
  else
    document_expected_refuse (self, error->message);
}

static void
document_expected_ask (VnDocument *self)
{
  g_autoptr(GTask) task = NULL;
  Question *question;
  VnResult *base = vn_document_find_known (self, self->what_if_recipe);

  self->expect_waits = FALSE;
  if (self->what_if == NULL)
    {
      document_expected_refuse (self, self->data == NULL ? _("There are no samples to measure the change with")
                                      : self->what_if_error != NULL ? self->what_if_error->message
                                                                    : _("The effect of the change was not measured"));
      return;
    }
  question = g_new0 (Question, 1);
  question->what_if = vn_what_if_ref (self->what_if);
  question->recipe = vn_recipe_copy (self->recipe);
  question->contributions = base != NULL && base->contributions != NULL ? vn_contributions_ref (base->contributions) : NULL;
  self->expecting = g_cancellable_new ();
  task = g_task_new (self, self->expecting, document_expected_measured, NULL);
  g_task_set_task_data (task, question, document_expected_free_question);
  vn_thread_run_task (task, document_expected_measure);
}

/**
 * vn_document_stop_expecting:
 *
 * Gives up what is being measured, and forgets why something could not be.
 */
void
vn_document_stop_expecting (VnDocument *self)
{
  g_return_if_fail (VN_IS_DOCUMENT (self));

  self->expect_waits = FALSE;
  if (self->expecting != NULL)
    g_cancellable_cancel (self->expecting);
  g_clear_object (&self->expecting);
  g_clear_pointer (&self->refusal, g_free);
}

/**
 * vn_document_cancel_expecting:
 *
 * As the user does it: that the change was not measured is told.
 *
 * Returns: %FALSE if nothing was being measured
 */
gboolean
vn_document_cancel_expecting (VnDocument *self)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), FALSE);

  if (self->expecting == NULL && !self->expect_waits)
    return FALSE;
  vn_document_stop_expecting (self);
  self->run_wanted = FALSE;
  document_expected_refuse (self, _("The effect of the change was not measured"));
  return TRUE;
}

/**
 * vn_document_forget_expected:
 *
 * Nothing of what was kept is about the present model and samples any more.
 */
void
vn_document_forget_expected (VnDocument *self)
{
  g_return_if_fail (VN_IS_DOCUMENT (self));

  vn_document_stop_expecting (self);
  vn_document_foresee (self, NULL);
  if (self->what_if_making != NULL)
    g_cancellable_cancel (self->what_if_making);
  g_clear_object (&self->what_if_making);
  vn_drop_large (g_steal_pointer (&self->what_if), (GDestroyNotify) vn_what_if_unref);
  g_clear_pointer (&self->what_if_recipe, vn_recipe_free);
  g_clear_error (&self->what_if_error);
  g_clear_pointer (&self->expected, vn_result_unref);
  g_ptr_array_set_size (self->known, 0);
}

/**
 * vn_document_expect:
 *
 * Has the window follow the recipe, which has changed: if it was measured already that is shown, else what is expected of it in
 * about a second, and then a whole run confirms that. Where it cannot be told without a whole run that is not begun unasked.
 */
void
vn_document_expect (VnDocument *self)
{
  VnResult *known;

  g_return_if_fail (VN_IS_DOCUMENT (self) && self->result != NULL);

  vn_document_stop_expecting (self);
  known = vn_document_find_known (self, self->recipe);
  if (known != NULL)
    {
      vn_document_take_known (self, known);
      document_expected_emit (self);
      return;
    }
  self->expect_waits = self->what_if_making != NULL;
  if (!self->expect_waits)
    document_expected_ask (self);
  document_expected_emit (self);
}

/**
 * vn_document_get_expecting:
 *
 * Returns: how far it is known what the present recipe does
 */
VnExpecting
vn_document_get_expecting (VnDocument *self)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), VN_EXPECTING_NOTHING);

  if (self->expecting != NULL || self->expect_waits)
    return VN_EXPECTING_SOON;
  if (self->refusal != NULL)
    return VN_EXPECTING_REFUSED;
  if (self->expected != NULL)
    return VN_EXPECTING_SHOWN;
  return self->past != NULL ? VN_EXPECTING_PAST : VN_EXPECTING_NOTHING;
}

/**
 * vn_document_get_refusal:
 *
 * Returns: (transfer none) (nullable): why it takes a whole run to know what the present recipe does
 */
const char *
vn_document_get_refusal (VnDocument *self)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), NULL);

  return self->refusal;
}

/**
 * vn_document_get_confirmed:
 *
 * Returns: (transfer none) (nullable): of the last whole run, also while something else is expected
 */
VnResult *
vn_document_get_confirmed (VnDocument *self)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), NULL);

  return self->result;
}

/**
 * vn_document_count_expected_on:
 *
 * Returns: samples that what is expected was measured on
 */
guint
vn_document_count_expected_on (VnDocument *self)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), 0);

  return self->what_if != NULL ? vn_what_if_get_n_samples (self->what_if) : 0;
}
