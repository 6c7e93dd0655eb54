/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What each format can hold and do, and whether a recipe asks for more. */

#include "vn-format-traits.h"

#include "vn-error.h"
#include "vn-i18n.h"

static const VnFormatTraits traits[] = {
#define VN_FORMAT(SYMBOL, id, activations, weights, ...) { VN_FORMAT_##SYMBOL, #id, activations, weights, __VA_ARGS__ },
#include "vn-formats.def"
#undef VN_FORMAT
};

/**
 * vn_format_get_traits:
 *
 * Returns: (transfer none): the line of the table
 */
const VnFormatTraits *
vn_format_get_traits (VnFormat format)
{
  g_return_val_if_fail ((guint) format < G_N_ELEMENTS (traits), &traits[0]);

  return &traits[format];
}

/**
 * vn_recipe_get_format:
 *
 * Returns: (transfer none): what the format of @self can hold and do
 */
const VnFormatTraits *
vn_recipe_get_format (const VnRecipe *self)
{
  g_return_val_if_fail (self != NULL, &traits[0]);

  return vn_format_get_traits (self->format);
}

static gboolean
vn_format_traits_have (const VnFormatTraits *self,
                       gsize                 trait)
{
  return G_STRUCT_MEMBER (gboolean, self, trait);
}

/**
 * vn_format_find:
 * @trait: VN_FORMAT_TRAIT() of a field
 *
 * Returns: the first format of the table that has it
 */
VnFormat
vn_format_find (gsize trait)
{
  g_return_val_if_fail (trait + sizeof (gboolean) <= sizeof (VnFormatTraits), traits[0].format);

  for (guint i = 0; i < G_N_ELEMENTS (traits); i++)
    if (vn_format_traits_have (&traits[i], trait))
      return traits[i].format;
  g_return_val_if_reached (traits[0].format);
}

/**
 * vn_format_dup_names:
 * @trait: VN_FORMAT_TRAIT() of a field
 *
 * Returns: (transfer full): the formats that have it, for a message: "“qdq”, “weights” and “matmulnbits”"
 */
char *
vn_format_dup_names (gsize trait)
{
  g_autoptr(GString) names = g_string_new (NULL);
  const char *last = NULL;

  g_return_val_if_fail (trait + sizeof (gboolean) <= sizeof (VnFormatTraits), NULL);

  for (guint i = 0; i < G_N_ELEMENTS (traits); i++)
    {
      if (!vn_format_traits_have (&traits[i], trait))
        continue;
      if (last != NULL)
        g_string_append_printf (names, "%s“%s”", names->len > 0 ? ", " : "", last);
      last = traits[i].id;
    }
  if (last != NULL && names->len > 0)
    return g_strdup_printf (_("%s and “%s”"), names->str, last);
  return g_strdup_printf ("“%s”", last != NULL ? last : "");
}

/**
 * vn_format_check_number:
 *
 * Returns: %FALSE with %VN_ERROR_SETTING if there is no such format
 */
gboolean
vn_format_check_number (VnFormat   format,
                        GError   **error)
{
  if ((guint) format < G_N_ELEMENTS (traits))
    return TRUE;

  g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("There is no format number %d"), (int) format);
  return FALSE;
}

static gboolean
vn_format_traits_check_type (const VnFormatTraits  *self,
                             const char            *setting,
                             VnDType                dtype,
                             VnDTypeSet             allowed,
                             GError               **error)
{
  g_autoptr(GString) names = g_string_new (NULL);

  if (dtype == VN_DTYPE_UNDEFINED || (allowed >> dtype & 1) != 0)
    return TRUE;
  for (guint i = 1; i < VN_N_DTYPES; i++)
    if ((allowed >> i & 1) != 0)
      g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "", vn_dtype_get_name ((VnDType) i));
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s: the format “%s” does not support %s; use %s, or another format"),
               setting, self->id, vn_dtype_get_name (dtype), names->str);
  return FALSE;
}

/**
 * vn_format_check_type:
 * @weight: it is the type of a constant
 * @name: of the setting or tensor, for messages
 *
 * Returns: %FALSE with %VN_ERROR_SETTING if the format cannot hold @dtype
 */
gboolean
vn_format_check_type (VnFormat     format,
                      gboolean     weight,
                      const char  *name,
                      VnDType      dtype,
                      GError     **error)
{
  const VnFormatTraits *line = vn_format_get_traits (format);

  return vn_format_traits_check_type (line, name, dtype, weight ? line->weights : line->activations, error);
}

/**
 * vn_format_check_recipe:
 *
 * Returns: %FALSE with %VN_ERROR_SETTING if the recipe or a rule wants a type that its format cannot hold
 */
gboolean
vn_format_check_recipe (const VnRecipe  *recipe,
                        GError         **error)
{
  const VnFormatTraits *format;

  g_return_val_if_fail (recipe != NULL, FALSE);

  format = vn_format_get_traits (recipe->format);
  if (!vn_format_traits_check_type (format, "activation", recipe->activation, format->activations, error) ||
      !vn_format_traits_check_type (format, "weight", recipe->weight, format->weights, error))
    return FALSE;
  for (guint i = 0; i < recipe->overrides->len; i++)
    {
      const VnOverride *rule = g_ptr_array_index (recipe->overrides, i);

      if (!vn_format_traits_check_type (format, "activation", rule->activation, format->activations, error) ||
          !vn_format_traits_check_type (format, "weight", rule->weight, format->weights, error))
        {
          g_prefix_error (error, _("rule %u: "), i + 1);
          return FALSE;
        }
    }
  return TRUE;
}

/**
 * vn_dtype_is_rounded:
 *
 * Returns: whether values become @dtype without scale and zero point
 */
gboolean
vn_dtype_is_rounded (VnDType dtype)
{
  return dtype == VN_DTYPE_F16 || dtype == VN_DTYPE_BF16 || vn_dtype_is_block (dtype);
}
