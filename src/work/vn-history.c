/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Undo and redo of changes to a recipe: whole recipes, as they are small. */
#include "vn-history.h"

struct _VnHistory
{
  GPtrArray *undo, *redo;   /* of Step, newest last */
};

/* What the recipe was, and what then was done to it. */
typedef struct
{
  VnRecipe *recipe;
  char     *title;
} Step;

static void
history_step_free (gpointer data)
{
  Step *self = data;

  vn_recipe_free (self->recipe);
  g_free (self->title);
  g_free (self);
}

/**
 * vn_history_new:
 *
 * Returns: (transfer full): a history in which nothing happened yet
 */
VnHistory *
vn_history_new (void)
{
  VnHistory *self = g_new0 (VnHistory, 1);

  self->undo = g_ptr_array_new_with_free_func (history_step_free);
  self->redo = g_ptr_array_new_with_free_func (history_step_free);
  return self;
}

/**
 * vn_history_free:
 * @self: (nullable):
 */
void
vn_history_free (VnHistory *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->undo);
  g_ptr_array_unref (self->redo);
  g_free (self);
}

/**
 * vn_history_contains:
 *
 * Returns: whether @recipe is one that the present one came from
 */
gboolean
vn_history_contains (const VnHistory *self,
                     const VnRecipe  *recipe)
{
  g_return_val_if_fail (self != NULL && recipe != NULL, FALSE);

  for (guint i = 0; i < self->undo->len; i++)
    if (vn_recipe_equal (((const Step *) g_ptr_array_index (self->undo, i))->recipe, recipe))
      return TRUE;
  return FALSE;
}

/**
 * vn_history_clear:
 *
 * Forgets all steps.
 */
void
vn_history_clear (VnHistory *self)
{
  g_return_if_fail (self != NULL);

  g_ptr_array_set_size (self->undo, 0);
  g_ptr_array_set_size (self->redo, 0);
}

/**
 * vn_history_push:
 * @before: (transfer full): what the recipe was
 * @title: what was done to it, in a few words
 *
 * Adds a step. What was undone before cannot be done again.
 */
void
vn_history_push (VnHistory  *self,
                 VnRecipe   *before,
                 const char *title)
{
  Step *step;

  g_return_if_fail (self != NULL);
  g_return_if_fail (before != NULL);
  g_return_if_fail (title != NULL);

  step = g_new0 (Step, 1);
  step->recipe = before;
  step->title = g_strdup (title);
  g_ptr_array_add (self->undo, step);
  g_ptr_array_set_size (self->redo, 0);
}

gboolean
vn_history_can_undo (VnHistory *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->undo->len > 0;
}

gboolean
vn_history_can_redo (VnHistory *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->redo->len > 0;
}

static const char *
history_move_step (GPtrArray  *from,
                   GPtrArray  *to,
                   VnRecipe  **recipe)
{
  Step *step;
  VnRecipe *present = *recipe;

  if (from->len == 0)
    return NULL;
  step = g_ptr_array_steal_index (from, from->len - 1);
  *recipe = step->recipe;
  step->recipe = present;   /* what the way back will need */
  g_ptr_array_add (to, step);
  return step->title;
}

/**
 * vn_history_undo:
 * @recipe: (inout) (transfer full): the present recipe; on return what it was before the newest step
 *
 * Returns: (transfer none) (nullable): what was undone; %NULL: there is nothing, and @recipe stays
 */
const char *
vn_history_undo (VnHistory  *self,
                 VnRecipe  **recipe)
{
  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (recipe != NULL && *recipe != NULL, NULL);

  return history_move_step (self->undo, self->redo, recipe);
}

/**
 * vn_history_redo:
 * @recipe: (inout) (transfer full): the present recipe; on return what it was after the step
 *
 * Returns: (transfer none) (nullable): what was done again; %NULL: there is nothing, and @recipe stays
 */
const char *
vn_history_redo (VnHistory  *self,
                 VnRecipe  **recipe)
{
  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (recipe != NULL && *recipe != NULL, NULL);

  return history_move_step (self->redo, self->undo, recipe);
}
