/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which tensors will stay float for infinities and numbers that stand for them, as far as the network alone tells it. */
#include "vn-quantize.h"

#include "vn-resolver.h"

/**
 * vn_quantize_find_masks:
 * @prepared: from vn_prepare_model(), with types inferred
 * @recipe: how to quantize
 * @notes: receives "mask-stays-float", if there are any
 *
 * Says what vn_quantize_resolve() will say of masks, without statistics: from constants and what is computed of them. What only
 * samples hold, and what a maximum reads, is not seen.
 *
 * Returns: %FALSE with an error if the recipe cannot be applied
 */
gboolean
vn_quantize_find_masks (const VnModel   *prepared,
                        const VnRecipe  *recipe,
                        VnNotes         *notes,
                        GError         **error)
{
  g_autoptr(VnNotes) all = vn_notes_new ();
  g_autoptr(VnResolver) resolver = NULL;

  g_return_val_if_fail (prepared != NULL && recipe != NULL && notes != NULL, FALSE);

  if (!vn_recipe_get_format (recipe)->has_scales)
    return TRUE;
  resolver = vn_resolver_new (prepared, recipe, NULL, all, error);
  if (resolver == NULL || !vn_resolver_load_encodings (resolver, error) || !vn_resolver_find_masks (resolver, error))
    return FALSE;
  for (guint i = 0; i < vn_notes_get_n (all); i++)
    {
      const VnNote *note = vn_notes_get (all, i);

      if (g_str_equal (note->code, "mask-stays-float"))
        vn_notes_add (notes, note->level, note->code, note->subject, "%s", note->text);
    }
  return TRUE;
}
