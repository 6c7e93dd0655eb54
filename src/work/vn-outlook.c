/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a recipe is expected to do: of the present one, which is measured anew with every change, and of one that is only
 * offered. */
#include "vn-outlook.h"

#include "vn-drop.h"
#include "vn-thread.h"
#include "vn-what-if.h"

struct _VnOutlook
{
  GObject              *owner;       /* borrowed; NULL: it is gone */
  const VnOutlookFuncs *funcs;

  VnWhatIf     *what_if;             /* nullable */
  VnRecipe     *base_recipe;         /* nullable: of the run that @what_if knows, or that it could not be made of */
  GError       *error;               /* nullable: why there is none */
  GCancellable *making;              /* nullable: the next one is being made */

  GCancellable *asking;              /* nullable: of the measurement that is under way */
  gboolean      waits;               /* for @making */

  VnRecipe     *offered_recipe;      /* nullable */
  VnRecipe     *offered_base;        /* nullable: of the run that it is compared with */
  VnRun        *offered;             /* nullable: what that comes to */
  GCancellable *offering;            /* nullable: of the measurement that is under way */
};

typedef struct
{
  VnOutlook       *outlook;
  VnWhatIf        *what_if;
  VnRun           *base;
  VnContributions *contributions;
  VnRecipe        *recipe;
} Question;

static void
outlook_clear (gpointer data)
{
  VnOutlook *self = data;

  vn_drop_large (g_steal_pointer (&self->what_if), (GDestroyNotify) vn_what_if_unref);
  g_clear_pointer (&self->base_recipe, vn_recipe_free);
  g_clear_error (&self->error);
  g_clear_pointer (&self->offered_recipe, vn_recipe_free);
  g_clear_pointer (&self->offered_base, vn_recipe_free);
  g_clear_pointer (&self->offered, vn_run_unref);
}

static void
outlook_free_question (gpointer data)
{
  Question *self = data;

  vn_drop_large (g_steal_pointer (&self->what_if), (GDestroyNotify) vn_what_if_unref);
  g_clear_pointer (&self->base, vn_run_unref);
  g_clear_pointer (&self->contributions, vn_contributions_unref);
  g_clear_pointer (&self->recipe, vn_recipe_free);
  g_atomic_rc_box_release_full (self->outlook, outlook_clear);
  g_free (self);
}

static Question *
outlook_new_question (VnOutlook *self)
{
  Question *question = g_new0 (Question, 1);

  question->outlook = g_atomic_rc_box_acquire (self);
  return question;
}

/* Stops what @cancellable is of; its end is not heard any more. */
static void
outlook_drop (GCancellable **cancellable)
{
  if (*cancellable != NULL)
    g_cancellable_cancel (*cancellable);
  g_clear_object (cancellable);
}

static void
outlook_run (VnOutlook            *self,
             GCancellable        **cancellable,
             Question             *question,
             GAsyncReadyCallback   ended,
             GTaskThreadFunc       func)
{
  g_autoptr(GTask) task = NULL;

  *cancellable = g_cancellable_new ();
  task = g_task_new (self->owner, *cancellable, ended, NULL);
  g_task_set_task_data (task, question, outlook_free_question);
  vn_thread_run_task (task, func);
}

/**
 * vn_outlook_new:
 * @owner: what the functions are called with; it is kept alive while something is measured
 *
 * Returns: (transfer full): that knows of no run yet
 */
VnOutlook *
vn_outlook_new (GObject              *owner,
                const VnOutlookFuncs *funcs)
{
  VnOutlook *self;

  g_return_val_if_fail (G_IS_OBJECT (owner) && funcs != NULL, NULL);

  self = g_atomic_rc_box_new0 (VnOutlook);
  self->owner = owner;
  self->funcs = funcs;
  return self;
}

/**
 * vn_outlook_free:
 * @self: (nullable):
 *
 * Stops what is being measured without waiting for it.
 */
void
vn_outlook_free (VnOutlook *self)
{
  if (self == NULL)
    return;
  outlook_drop (&self->making);
  outlook_drop (&self->asking);
  outlook_drop (&self->offering);
  self->owner = NULL;
  g_atomic_rc_box_release_full (self, outlook_clear);
}

/* ---- the run that it knows ---- */

static void
outlook_make (GTask        *task,
              gpointer      source,
              gpointer      data,
              GCancellable *cancellable)
{
  Question *question = data;
  GError *error = NULL;
  VnWhatIf *what_if = vn_what_if_new (question->base, 0, 0, cancellable, &error);

  if (what_if != NULL)
    g_task_return_pointer (task, what_if, (GDestroyNotify) vn_what_if_unref);
  else
    g_task_return_error (task, error);
}

static void outlook_begin_offer (VnOutlook *self);

static void
outlook_made (GObject      *source,
              GAsyncResult *async,
              gpointer      data)
{
  GTask *task = G_TASK (async);
  Question *question = g_task_get_task_data (task);
  VnOutlook *self = question->outlook;
  g_autoptr(GError) error = NULL;
  VnWhatIf *what_if = g_task_propagate_pointer (task, &error);

  if (self->making != g_task_get_cancellable (task))   /* there is another run */
    {
      g_clear_pointer (&what_if, vn_what_if_unref);
      return;
    }
  g_clear_object (&self->making);
  g_clear_error (&self->error);
  vn_drop_memory ();
  self->what_if = what_if;
  self->error = g_steal_pointer (&error);
  self->base_recipe = vn_recipe_copy (question->base->recipe);
  if (self->waits)
    self->funcs->ready (self->owner);
  outlook_begin_offer (self);
}

/**
 * vn_outlook_set_base:
 * @base: (nullable): of a whole run; %NULL: nothing is known, and what is asked or offered is forgotten
 *
 * Begins to keep what the networks of @base compute, so that the next change can be measured at once.
 */
void
vn_outlook_set_base (VnOutlook *self,
                     VnRun     *base)
{
  Question *question;

  g_return_if_fail (self != NULL);

  if (base == NULL)
    {
      vn_outlook_stop (self);
      vn_outlook_offer (self, NULL, NULL);
      g_clear_error (&self->error);
    }
  outlook_drop (&self->making);
  vn_drop_large (g_steal_pointer (&self->what_if), (GDestroyNotify) vn_what_if_unref);   /* both have no room beside each other */
  g_clear_pointer (&self->base_recipe, vn_recipe_free);
  if (base == NULL)
    return;
  question = outlook_new_question (self);
  question->base = vn_run_ref (base);
  outlook_run (self, &self->making, question, outlook_made, outlook_make);
}

/**
 * vn_outlook_get_base_recipe:
 *
 * Returns: (transfer none) (nullable): of the run that it knows; %NULL: none, or not yet
 */
const VnRecipe *
vn_outlook_get_base_recipe (VnOutlook *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->base_recipe;
}

/**
 * vn_outlook_count_samples:
 *
 * Returns: samples that what is expected is measured on
 */
guint
vn_outlook_count_samples (VnOutlook *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->what_if != NULL ? vn_what_if_get_n_samples (self->what_if) : 0;
}

/**
 * vn_outlook_get_reason:
 *
 * Returns: (transfer none) (nullable): why nothing can be measured
 */
const char *
vn_outlook_get_reason (VnOutlook *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->error != NULL ? self->error->message : NULL;
}

/* ---- the present recipe ---- */

static void
outlook_measure (GTask        *task,
                 gpointer      source,
                 gpointer      data,
                 GCancellable *cancellable)
{
  Question *question = data;
  GError *error = NULL;
  VnRun *expected = vn_what_if_expect (question->what_if, question->contributions, question->recipe, cancellable, &error);

  if (expected != NULL)
    g_task_return_pointer (task, expected, (GDestroyNotify) vn_run_unref);
  else
    g_task_return_error (task, error);
}

static void
outlook_measured (GObject      *source,
                  GAsyncResult *async,
                  gpointer      data)
{
  GTask *task = G_TASK (async);
  VnOutlook *self = ((Question *) g_task_get_task_data (task))->outlook;
  g_autoptr(GError) error = NULL;
  g_autoptr(VnRun) expected = g_task_propagate_pointer (task, &error);
  gboolean is_cancelled = g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);

  if (self->asking != g_task_get_cancellable (task))   /* something else has been asked since */
    return;
  g_clear_object (&self->asking);
  self->funcs->measured (self->owner, expected, error == NULL || is_cancelled ? NULL : error->message);
}

static Question *
outlook_new_recipe_question (VnOutlook      *self,
                             const VnRecipe *recipe)
{
  Question *question = outlook_new_question (self);

  question->what_if = vn_what_if_ref (self->what_if);
  question->recipe = vn_recipe_copy (recipe);
  return question;
}

/**
 * vn_outlook_ask:
 * @recipe: the present one
 * @contributions: (nullable): of the run that it knows
 *
 * Begins to measure; @measured is called. While a run is still being taken up @ready is called first: ask again then.
 */
void
vn_outlook_ask (VnOutlook       *self,
                const VnRecipe  *recipe,
                VnContributions *contributions)
{
  Question *question;

  g_return_if_fail (self != NULL && recipe != NULL);

  outlook_drop (&self->asking);
  self->waits = self->making != NULL;
  if (self->waits || self->what_if == NULL)
    return;
  question = outlook_new_recipe_question (self, recipe);
  question->contributions = contributions != NULL ? vn_contributions_ref (contributions) : NULL;
  outlook_run (self, &self->asking, question, outlook_measured, outlook_measure);
}

/**
 * vn_outlook_stop:
 *
 * Gives up what was asked.
 */
void
vn_outlook_stop (VnOutlook *self)
{
  g_return_if_fail (self != NULL);

  self->waits = FALSE;
  outlook_drop (&self->asking);
}

/**
 * vn_outlook_is_asked:
 *
 * Returns: whether an answer is on its way
 */
gboolean
vn_outlook_is_asked (VnOutlook *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->asking != NULL || self->waits;
}

/* ---- one that is only offered ---- */

/* What takes a whole run to tell stays unknown: that is no failure, as nobody has asked for it. */
static void
outlook_measured_offer (GObject      *source,
                        GAsyncResult *async,
                        gpointer      data)
{
  GTask *task = G_TASK (async);
  VnOutlook *self = ((Question *) g_task_get_task_data (task))->outlook;
  g_autoptr(VnRun) offered = g_task_propagate_pointer (task, NULL);

  if (self->offering != g_task_get_cancellable (task))
    return;
  g_clear_object (&self->offering);
  if (offered == NULL)
    return;
  self->offered = g_steal_pointer (&offered);
  self->funcs->offered (self->owner);
}

static void
outlook_begin_offer (VnOutlook *self)
{
  if (self->offered_recipe == NULL || self->offered != NULL || self->offering != NULL || self->what_if == NULL ||
      self->offered_base == NULL || !vn_recipe_equal (self->base_recipe, self->offered_base))
    return;
  outlook_run (self, &self->offering, outlook_new_recipe_question (self, self->offered_recipe), outlook_measured_offer,
               outlook_measure);
}

/**
 * vn_outlook_offer:
 * @recipe: (nullable): with changes that are offered; %NULL: nothing is
 * @base: (nullable): of the run that is shown: nothing is measured unless that is the run that it knows
 *
 * Begins to measure what it comes to, beside all else; @offered is called. Where that takes a whole run it is not measured.
 */
void
vn_outlook_offer (VnOutlook      *self,
                  const VnRecipe *recipe,
                  const VnRecipe *base)
{
  g_return_if_fail (self != NULL);

  if (recipe != NULL ? self->offered_recipe != NULL &&
      vn_recipe_equal (recipe, self->offered_recipe) : self->offered_recipe == NULL)
    return;
  outlook_drop (&self->offering);
  g_clear_pointer (&self->offered_recipe, vn_recipe_free);
  g_clear_pointer (&self->offered_base, vn_recipe_free);
  g_clear_pointer (&self->offered, vn_run_unref);
  self->offered_recipe = recipe != NULL ? vn_recipe_copy (recipe) : NULL;
  self->offered_base = base != NULL ? vn_recipe_copy (base) : NULL;
  self->funcs->offered (self->owner);
  outlook_begin_offer (self);
}

/**
 * vn_outlook_get_offered:
 *
 * Returns: (transfer none) (nullable): what vn_outlook_offer() asked for; %NULL: it is not known, or nothing was asked for
 */
VnRun *
vn_outlook_get_offered (VnOutlook *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->offered;
}
