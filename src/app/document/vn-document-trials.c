/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was tried to lower the error of a document, and what it gained: so that nobody is offered in vain what did not help. */
#include "vn-document-private.h"

#include <math.h>

static void
document_trials_free_trial (gpointer data)
{
  VnTrial *self = data;

  g_free (self->key);
  g_free (self->title);
  vn_recipe_free (self->recipe);
  g_free (self);
}

/**
 * vn_document_trials_new:
 *
 * Returns: (transfer full) (element-type VnTrial): an empty list
 */
GPtrArray *
vn_document_trials_new (void)
{
  return g_ptr_array_new_with_free_func (document_trials_free_trial);
}

static VnTrial *
document_trials_find (VnDocument *self,
                      const char *key)
{
  for (guint i = self->trials->len; i > 0; i--)
    {
      VnTrial *trial = g_ptr_array_index (self->trials, i - 1);

      if (g_str_equal (trial->key, key))
        return trial;
    }
  return NULL;
}

/**
 * vn_document_try:
 * @recipe: (transfer full): the present one with a change that may lower the error
 * @title: what was done, in a few words
 * @key: names the change: see VnTrial
 *
 * As vn_document_edit_recipe(), and what the change gains is kept.
 */
void
vn_document_try (VnDocument *self,
                 VnRecipe   *recipe,
                 const char *title,
                 const char *key)
{
  VnTrial *trial, *earlier;

  g_return_if_fail (VN_IS_DOCUMENT (self));
  g_return_if_fail (recipe != NULL && title != NULL && key != NULL);

  earlier = document_trials_find (self, key);
  if (earlier != NULL)
    g_ptr_array_remove (self->trials, earlier);
  trial = g_new0 (VnTrial, 1);
  trial->key = g_strdup (key);
  trial->title = g_strdup (title);
  trial->recipe = vn_recipe_copy (recipe);
  trial->before_db = self->result != NULL && self->result->errors != NULL ? vn_error_table_get_outputs_sqnr (self->result->errors) : NAN;
  trial->after_db = NAN;
  trial->bytes_before = self->result != NULL ? (gint64) self->result->quantized_bytes : 0;
  g_ptr_array_add (self->trials, trial);
  vn_document_edit_recipe (self, recipe, title);
}

/**
 * vn_document_judge_trials:
 * @result: of a run that has just ended
 *
 * Notes what the change that @result was made with has gained.
 */
void
vn_document_judge_trials (VnDocument *self,
                          VnResult   *result)
{
  g_return_if_fail (VN_IS_DOCUMENT (self) && result != NULL);

  for (guint i = 0; result->errors != NULL && i < self->trials->len; i++)
    {
      VnTrial *trial = g_ptr_array_index (self->trials, i);

      if (trial->measured || !vn_recipe_equal (trial->recipe, result->recipe))
        continue;
      trial->after_db = vn_error_table_get_outputs_sqnr (result->errors);
      trial->bytes = (gint64) result->quantized_bytes - trial->bytes_before;
      trial->measured = TRUE;
    }
}

/**
 * vn_document_find_trial:
 *
 * Returns: (transfer none) (nullable): what came of a change; %NULL if it was not tried on this model
 */
const VnTrial *
vn_document_find_trial (VnDocument *self,
                        const char *key)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self) && key != NULL, NULL);

  return document_trials_find (self, key);
}

/**
 * vn_document_get_trials:
 *
 * Returns: (transfer none) (element-type VnTrial): all that was tried on this model, the oldest first
 */
GPtrArray *
vn_document_get_trials (VnDocument *self)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), NULL);

  return self->trials;
}
