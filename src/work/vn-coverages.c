/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What recipes do to the network that is open: each is calculated when somebody asks for it first, one after the other. */
#include "vn-coverages.h"

#include "vn-drop.h"
#include "vn-thread.h"

struct _VnCoverages
{
  GObject         *owner;      /* borrowed */
  VnCoveragesFunc  ready;

  VnModel         *model;      /* nullable */
  GHashTable      *shapes;     /* nullable */
  GHashTable      *answers;    /* digest of a recipe -> VnCoverageAnswer */
  GQueue           waiting;    /* of VnRecipe */
  GCancellable    *running;    /* nullable: of the one that is being calculated */
};

typedef struct
{
  VnCoverages *coverages;
  VnModel     *model;
  VnRecipe    *recipe;
  GHashTable  *shapes;
} Question;

static void
coverages_free_answer (gpointer data)
{
  VnCoverageAnswer *self = data;

  g_clear_pointer (&self->coverage, vn_coverage_unref);
  g_free (self->reason);
  g_free (self);
}

static void
coverages_free_question (gpointer data)
{
  Question *self = data;

  vn_drop_large (g_steal_pointer (&self->model), (GDestroyNotify) vn_model_unref);
  vn_recipe_free (self->recipe);
  g_clear_pointer (&self->shapes, g_hash_table_unref);
  g_free (self);
}

/**
 * vn_coverages_new:
 * @owner: kept alive while something is calculated
 * @ready: called with it in the main context: vn_coverages_find() gives something else
 *
 * Returns: (transfer full): that knows of no network yet
 */
VnCoverages *
vn_coverages_new (GObject         *owner,
                  VnCoveragesFunc  ready)
{
  VnCoverages *self;

  g_return_val_if_fail (G_IS_OBJECT (owner) && ready != NULL, NULL);

  self = g_new0 (VnCoverages, 1);
  self->owner = owner;
  self->ready = ready;
  self->answers = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, coverages_free_answer);
  g_queue_init (&self->waiting);
  return self;
}

static void
coverages_forget (VnCoverages *self)
{
  if (self->running != NULL)
    g_cancellable_cancel (self->running);
  g_clear_object (&self->running);
  g_queue_clear_full (&self->waiting, (GDestroyNotify) vn_recipe_free);
  g_hash_table_remove_all (self->answers);
  g_clear_pointer (&self->model, vn_model_unref);
  g_clear_pointer (&self->shapes, g_hash_table_unref);
}

/**
 * vn_coverages_free:
 *
 * What is being calculated ends unheard.
 */
void
vn_coverages_free (VnCoverages *self)
{
  g_return_if_fail (self != NULL);

  coverages_forget (self);
  g_hash_table_unref (self->answers);
  g_free (self);
}

/**
 * vn_coverages_set_model:
 * @model: (nullable): that is asked about from now on
 * @shapes: (nullable): sizes of its inputs that the user gave; not changed any more
 *
 * What was found about another one is forgotten.
 */
void
vn_coverages_set_model (VnCoverages *self,
                        VnModel     *model,
                        GHashTable  *shapes)
{
  g_return_if_fail (self != NULL);

  if (self->model == model && self->shapes == shapes)
    return;
  coverages_forget (self);
  self->model = model != NULL ? vn_model_ref (model) : NULL;
  self->shapes = shapes != NULL ? g_hash_table_ref (shapes) : NULL;
}

static void
coverages_run (GTask        *task,
               gpointer      source,
               gpointer      data,
               GCancellable *cancellable)
{
  Question *question = data;
  GError *error = NULL;
  VnCoverage *coverage = vn_coverage_new (question->model, question->recipe, question->shapes, cancellable, &error);

  if (coverage != NULL)
    g_task_return_pointer (task, coverage, (GDestroyNotify) vn_coverage_unref);
  else
    g_task_return_error (task, error);
}

static void coverages_run_next (VnCoverages *self);

static void
coverages_done (GObject      *source,
                GAsyncResult *async,
                gpointer      data)
{
  GTask *task = G_TASK (async);
  Question *question = g_task_get_task_data (task);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnCoverage) coverage = g_task_propagate_pointer (task, &error);
  g_autofree char *digest = NULL;
  VnCoverageAnswer *answer;
  VnCoverages *self;

  if (g_cancellable_is_cancelled (g_task_get_cancellable (task)))   /* by whoever may have freed the coverages since */
    return;
  self = question->coverages;
  digest = vn_recipe_dup_digest (question->recipe);
  answer = g_hash_table_lookup (self->answers, digest);
  answer->coverage = g_steal_pointer (&coverage);
  answer->reason = error != NULL ? g_strdup (error->message) : NULL;
  g_clear_object (&self->running);
  coverages_run_next (self);
  self->ready (self->owner);
}

static void
coverages_run_next (VnCoverages *self)
{
  VnRecipe *recipe = g_queue_pop_head (&self->waiting);
  g_autoptr(GTask) task = NULL;
  Question *question;

  if (recipe == NULL)
    return;
  question = g_new (Question, 1);
  *question = (Question) { self, vn_model_ref (self->model), recipe, self->shapes != NULL ? g_hash_table_ref (self->shapes)
                                                                                          : NULL };
  self->running = g_cancellable_new ();
  task = g_task_new (self->owner, self->running, coverages_done, NULL);
  g_task_set_check_cancellable (task, FALSE);
  g_task_set_task_data (task, question, coverages_free_question);
  vn_thread_run_task (task, coverages_run);
}

/**
 * vn_coverages_find:
 * @recipe: how the network would be quantized
 *
 * Begins to calculate it where it is not known; there is a network.
 *
 * Returns: (transfer none): what is known, until the network changes
 */
const VnCoverageAnswer *
vn_coverages_find (VnCoverages    *self,
                   const VnRecipe *recipe)
{
  g_autofree char *digest = NULL;
  VnCoverageAnswer *answer;

  g_return_val_if_fail (self != NULL && self->model != NULL && recipe != NULL, NULL);

  digest = vn_recipe_dup_digest (recipe);
  answer = g_hash_table_lookup (self->answers, digest);
  if (answer != NULL)
    return answer;
  answer = g_new0 (VnCoverageAnswer, 1);
  g_hash_table_insert (self->answers, g_steal_pointer (&digest), answer);
  g_queue_push_tail (&self->waiting, vn_recipe_copy (recipe));
  if (self->running == NULL)
    coverages_run_next (self);
  return answer;
}
