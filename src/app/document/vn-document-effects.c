/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was tried to lower the error of a document, and what it gained: so that nobody is offered in vain what did not help. */
#include "vn-document-private.h"

#include "vn-i18n.h"
#include "vn-node-item.h"
#include "vn-thresholds.h"

#include <math.h>

static void
document_effects_free (gpointer data)
{
  VnEffect *self = data;

  g_free (self->key);
  g_free (self->title);
  vn_recipe_free (self->recipe);
  g_free (self);
}

/**
 * vn_document_effects_new:
 *
 * Returns: (transfer full) (element-type VnEffect): an empty list
 */
GPtrArray *
vn_document_effects_new (void)
{
  return g_ptr_array_new_with_free_func (document_effects_free);
}

static VnEffect *
document_effects_find (VnDocument *self,
                       const char *key)
{
  for (guint i = self->effects->len; i > 0; i--)
    {
      VnEffect *effect = g_ptr_array_index (self->effects, i - 1);

      if (g_str_equal (effect->key, key))
        return effect;
    }
  return NULL;
}

/**
 * vn_document_note_effect:
 * @recipe: the present one with a change
 * @title: what is done, in a few words
 * @key: names the change: see VnEffect
 *
 * Keeps what the change comes to, which the next run with @recipe will tell. There is nothing to compare with before the first run.
 */
void
vn_document_note_effect (VnDocument     *self,
                         const VnRecipe *recipe,
                         const char     *title,
                         const char     *key)
{
  VnEffect *effect, *earlier;

  g_return_if_fail (VN_IS_DOCUMENT (self) && recipe != NULL && title != NULL && key != NULL);

  if (self->result == NULL)
    return;
  earlier = document_effects_find (self, key);
  if (earlier != NULL)
    g_ptr_array_remove (self->effects, earlier);
  effect = g_new0 (VnEffect, 1);
  effect->key = g_strdup (key);
  effect->title = g_strdup (title);
  effect->recipe = vn_recipe_copy (recipe);
  effect->before_db = self->result->errors != NULL ? vn_error_table_get_outputs_sqnr (self->result->errors) : NAN;
  effect->after_db = NAN;
  effect->bytes_before = (gint64) self->result->quantized_bytes;
  effect->time_ratio = NAN;
  effect->seconds_before = self->result->forecast != NULL ? self->result->forecast->seconds : NAN;
  g_ptr_array_add (self->effects, effect);
}

/**
 * vn_document_try:
 * @recipe: (transfer full): the present one with a change that may lower the error
 * @title: what was done, in a few words
 * @key: names the change: see VnEffect
 *
 * As vn_document_edit_and_run(), and what the change gains is kept.
 */
void
vn_document_try (VnDocument *self,
                 VnRecipe   *recipe,
                 const char *title,
                 const char *key)
{
  g_return_if_fail (VN_IS_DOCUMENT (self));
  g_return_if_fail (recipe != NULL && title != NULL && key != NULL);

  vn_document_note_effect (self, recipe, title, key);
  vn_document_edit_and_run (self, recipe, title);
}

/**
 * vn_document_judge_effects:
 * @result: of a run that has just ended
 *
 * Notes what the change that @result was made with has gained.
 */
void
vn_document_judge_effects (VnDocument *self,
                           VnResult   *result)
{
  g_return_if_fail (VN_IS_DOCUMENT (self) && result != NULL);

  for (guint i = 0; result->errors != NULL && i < self->effects->len; i++)
    {
      VnEffect *effect = g_ptr_array_index (self->effects, i);

      if (effect->measured || !vn_recipe_equal (effect->recipe, result->recipe))
        continue;
      if (self->result != NULL && self->result->errors != NULL && self->result != result)
        effect->before_db = vn_error_table_get_comparable_sqnr (self->result->errors, result->errors);
      effect->after_db = self->result != NULL && self->result->errors != NULL
                           ? vn_error_table_get_comparable_sqnr (result->errors, self->result->errors)
                           : vn_error_table_get_outputs_sqnr (result->errors);
      effect->bytes = (gint64) result->quantized_bytes - effect->bytes_before;
      effect->time_ratio = result->forecast != NULL && effect->seconds_before > 0 ? result->forecast->seconds / effect->seconds_before : NAN;
      effect->measured = TRUE;
    }
}

/**
 * vn_document_find_effect:
 *
 * Returns: (transfer none) (nullable): what came of a change; %NULL if it was not tried on this model
 */
const VnEffect *
vn_document_find_effect (VnDocument *self,
                         const char *key)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self) && key != NULL, NULL);

  return document_effects_find (self, key);
}

/**
 * vn_document_get_effects:
 *
 * Returns: (transfer none) (element-type VnEffect): all that was tried on this model, the oldest first
 */
GPtrArray *
vn_document_get_effects (VnDocument *self)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), NULL);

  return self->effects;
}

/**
 * vn_effect_has_helped:
 *
 * Returns: whether the outputs are better by more than chance
 */
gboolean
vn_effect_has_helped (const VnEffect *effect)
{
  g_return_val_if_fail (effect != NULL, FALSE);

  return effect->measured && effect->after_db > effect->before_db + VN_LEAST_GAIN_DB;
}

/**
 * vn_document_is_measuring:
 *
 * Returns: whether the run is under way, or about to begin, that tells what the change gains
 */
gboolean
vn_document_is_measuring (VnDocument     *self,
                          const VnEffect *effect)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self) && effect != NULL, FALSE);

  return !effect->measured && vn_recipe_equal (self->recipe, effect->recipe) &&
         (self->work == VN_WORK_QUANTIZE || self->expecting != NULL || self->expect_waits);
}

/**
 * vn_document_is_in_force:
 *
 * Returns: whether the change has not been taken back
 */
gboolean
vn_document_is_in_force (VnDocument     *self,
                         const VnEffect *effect)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self) && effect != NULL, FALSE);

  return vn_recipe_equal (self->recipe, effect->recipe) || vn_history_contains (self->history, effect->recipe);
}

/**
 * vn_document_is_last_change:
 *
 * Returns: whether undoing takes back just this change
 */
gboolean
vn_document_is_last_change (VnDocument     *self,
                            const VnEffect *effect)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self) && effect != NULL, FALSE);

  return vn_recipe_equal (self->recipe, effect->recipe);
}

/**
 * vn_document_dup_precision_key:
 * @node: index of a node
 *
 * Returns: (transfer full): the key of the change that gives the node that precision
 */
char *
vn_document_dup_precision_key (VnDocument      *self,
                               guint            node,
                               VnNodePrecision  precision)
{
  g_autoptr(VnNodeItem) item = NULL;

  g_return_val_if_fail (VN_IS_DOCUMENT (self), NULL);

  item = g_list_model_get_item (G_LIST_MODEL (self->nodes), node);
  return item != NULL ? g_strdup_printf ("%s %s", precision == VN_NODE_FLOAT ? "float" : "16", item->label) : NULL;
}

/**
 * vn_document_try_precision:
 * @node: index of a node
 * @precision: %VN_NODE_16_BIT or %VN_NODE_FLOAT
 *
 * As vn_document_set_precision() of one node, and what that gains is kept.
 *
 * Returns: whether that is a change
 */
gboolean
vn_document_try_precision (VnDocument      *self,
                           guint            node,
                           VnNodePrecision  precision)
{
  g_autofree char *key = NULL, *title = NULL, *name = NULL;
  g_autoptr(VnNodeItem) item = NULL;
  g_autoptr(GtkBitset) nodes = NULL;
  VnRecipe *recipe;

  g_return_val_if_fail (VN_IS_DOCUMENT (self), FALSE);
  g_return_val_if_fail (precision == VN_NODE_16_BIT || precision == VN_NODE_FLOAT, FALSE);

  item = g_list_model_get_item (G_LIST_MODEL (self->nodes), node);
  nodes = gtk_bitset_new_empty ();
  gtk_bitset_add (nodes, node);
  recipe = item != NULL ? vn_document_make_precision (self, nodes, precision, NULL) : NULL;
  if (recipe == NULL)
    return FALSE;
  key = vn_document_dup_precision_key (self, node, precision);
  name = vn_node_dup_title (item->node);
  title = g_strdup_printf (precision == VN_NODE_FLOAT ? _("%s left in float") : _("%s set to 16-bit"), name);
  vn_document_try (self, recipe, title, key);
  return TRUE;
}

/**
 * vn_document_get_improve_seconds:
 *
 * Returns: how much of the time for improving is left; negative if that is not what is going on
 */
double
vn_document_get_improve_seconds (VnDocument *self)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), -1);

  if (self->work != VN_WORK_IMPROVE)
    return -1;
  return MAX (0, (double) (self->improve_ends - g_get_monotonic_time ()) / G_USEC_PER_SEC);
}

/**
 * vn_document_get_tries:
 *
 * Returns: (transfer none) (nullable) (element-type VnImproveTry): what was tried when the model was improved last; %NULL if it
 *   was not, or that was taken back
 */
GPtrArray *
vn_document_get_tries (VnDocument *self)
{
  const VnRecipe *found;

  g_return_val_if_fail (VN_IS_DOCUMENT (self), NULL);

  if (self->improved == NULL)
    return NULL;
  found = vn_improve_job_get_result (self->improved)->recipe;
  if (!vn_recipe_equal (found, self->recipe) && !vn_history_contains (self->history, found))
    return NULL;
  return vn_improve_job_get_tries (self->improved);
}

/**
 * vn_document_is_trying:
 *
 * Returns: whether cures or improvements are being tried: a change of the recipe would throw that away
 */
gboolean
vn_document_is_trying (VnDocument *self)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), FALSE);

  return self->job != NULL && (self->work == VN_WORK_IMPROVE || self->work == VN_WORK_CURES || self->work == VN_WORK_CURVE);
}
