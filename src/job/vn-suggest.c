/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which presets suit a network: of what reads images there are samples, and integer kernels make it fast; of tokens, sounds and
 * tables there often are none, and much of what computes with them has no integer kernel. Of a language model, the time goes into
 * reading its weights. */
#include "vn-suggest.h"

#include "vn-format-traits.h"
#include "vn-i18n.h"
#include "vn-language-model.h"
#include "vn-model-data.h"

static gboolean
suggest_suits (const VnPreset *preset,
               gboolean        speaks)
{
  g_autoptr(VnRecipe) recipe = speaks ? vn_recipe_new (preset->id) : NULL;

  return recipe != NULL ? vn_recipe_get_format (recipe)->weights_only : (preset->traits & VN_TARGET_SUITS_ALL) != 0;
}

/**
 * vn_suggest_presets:
 * @model: (nullable): %NULL: nothing is known of it
 * @n_first: (out): so many at the start are what suits @model; 0: all do alike
 *
 * Returns: (transfer container) (element-type VnPreset): all presets, in the order in which they are offered
 */
GPtrArray *
vn_suggest_presets (const VnModel *model,
                    guint         *n_first)
{
  guint n;
  const VnPreset * const *presets = vn_preset_list (&n);
  GPtrArray *list = g_ptr_array_new ();
  g_autofree char *name = NULL;
  VnInputRole role;
  gboolean speaks;

  g_return_val_if_fail (n_first != NULL, list);

  *n_first = 0;
  name = model != NULL ? vn_model_dup_main_input (model, &role) : NULL;
  if (name == NULL)
    {
      for (guint i = 0; i < n; i++)
        g_ptr_array_add (list, (gpointer) presets[i]);
      return list;
    }
  speaks = vn_model_is_language_model (model);
  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; i < n; i++)
      if (suggest_suits (presets[i], speaks) == (pass == 0))
        {
          g_ptr_array_add (list, (gpointer) presets[i]);
          *n_first += pass == 0;
        }
  return list;
}

/**
 * vn_suggest_dup_reason:
 * @model: (nullable):
 *
 * Returns: (transfer full) (nullable): why those presets stand first, in a sentence; %NULL: none do
 */
char *
vn_suggest_dup_reason (const VnModel *model)
{
  g_autofree char *name = NULL;
  VnInputRole role;

  name = model != NULL ? vn_model_dup_main_input (model, &role) : NULL;
  if (name == NULL)
    return NULL;
  switch (role)
    {
    case VN_INPUT_TOKENS:
      return g_strdup_printf (_("Input “%s” takes tokens: these targets need no samples, and keep activations in float between "
                                "operators"), name);
    case VN_INPUT_AUDIO:
      return g_strdup_printf (_("Input “%s” takes audio: these targets need no samples"), name);
    default:
      return g_strdup_printf (_("Input “%s” takes numbers, not images: these targets need no samples"), name);
    }
}
