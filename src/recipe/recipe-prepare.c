/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What a recipe asks to be made of the float network before that is quantized. */

#include "vn-quant-scheme.h"

/* Whether a rule, or a cut, names a value: what is folded takes values away. */
static gboolean
recipe_prepare_names_values (const VnRecipe *self)
{
  gboolean found = self->truncate != NULL;

  for (guint i = 0; i < self->overrides->len; i++)
    {
      const VnOverride *rule = g_ptr_array_index (self->overrides, i);

      found = found || rule->in_edges != NULL || rule->out_edges != NULL || rule->tensors != NULL;
    }
  return found;
}

/* Pads that a convolution can add are no nodes of their own, which cost time, where nothing is written as another tool does
 * it. */
static gboolean
recipe_prepare_folds_pads (const VnRecipe *self)
{
  return (vn_recipe_get_target (self)->traits & VN_TARGET_IMITATES) == 0 && !self->npu &&
         !(self->passes != NULL && g_strv_contains ((const char * const *) self->passes, "none")) &&
         !recipe_prepare_names_values (self);
}

/* AMD's tools bring a network into forms that their processors have before they quantize it for these. */
static const char * const npu_passes[] = { "bn-to-conv", "mean-to-pool", "split-large-pool", "split-to-slice", NULL };

/* Whoever names one of them, or none, has chosen among them. */
static gboolean
recipe_prepare_chooses_npu_passes (const VnRecipe *self)
{
  for (char **at = self->passes; at != NULL && *at != NULL; at++)
    if (g_str_equal (*at, "none") || g_strv_contains (npu_passes, *at))
      return TRUE;
  return FALSE;
}

static char **
recipe_prepare_list_passes (const VnRecipe *self)
{
  g_autoptr(GStrvBuilder) passes = g_strv_builder_new ();

  if (self->clip6_to_relu)
    g_strv_builder_add (passes, "clip6-to-relu");
  for (char **at = self->passes; at != NULL && *at != NULL; at++)
    if (!g_str_equal (*at, "none"))   /* says that those below are not wanted */
      g_strv_builder_add (passes, *at);
  if (recipe_prepare_folds_pads (self))
    g_strv_builder_add (passes, "pads");
  if (vn_recipe_has_kernels (self))
    g_strv_builder_add (passes, "kernel-forms");
  if (vn_recipe_has_kernels (self) && vn_recipe_has_channels (self))
    g_strv_builder_add (passes, "copy-axes");
  if (self->npu && !recipe_prepare_chooses_npu_passes (self))
    g_strv_builder_addv (passes, (const char **) npu_passes);
  return g_strv_builder_end (passes);
}

/* Values that rules and cuts name: a network that is made simpler keeps them. */
static char **
recipe_prepare_list_named (const VnRecipe *self)
{
  g_autoptr(GStrvBuilder) names = g_strv_builder_new ();

  if (!self->optimize)
    return NULL;
  if (self->truncate != NULL)
    g_strv_builder_addv (names, (const char **) self->truncate);
  for (guint i = 0; i < self->overrides->len; i++)
    {
      const VnOverride *rule = g_ptr_array_index (self->overrides, i);
      char ** const lists[] = { rule->in_edges, rule->out_edges, rule->tensors };

      for (guint k = 0; rule->enabled && k < G_N_ELEMENTS (lists); k++)
        if (lists[k] != NULL)
          g_strv_builder_addv (names, (const char **) lists[k]);
    }
  return g_strv_builder_end (names);
}

/**
 * vn_recipe_get_equalize_options:
 *
 * Returns: how weights are equalized, without what samples say of activations
 */
VnEqualizeOptions
vn_recipe_get_equalize_options (const VnRecipe *self)
{
  g_return_val_if_fail (self != NULL, (VnEqualizeOptions) { 0 });

  return (VnEqualizeOptions) { .kind = self->equalize, .steps = (int) self->equalize_steps,
                               .threshold = self->equalize_threshold, .append_bias = self->equalize_append_bias,
                               .difference = self->equalize_difference, .level = (int) self->equalize_level };
}

/**
 * vn_recipe_equalizes_by_samples:
 *
 * Returns: whether what samples make of activations takes part in equalizing weights
 */
gboolean
vn_recipe_equalizes_by_samples (const VnRecipe *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->equalize == VN_EQUALIZE_PPQ && self->equalize_activations;
}

/**
 * vn_prepare_scheme:
 *
 * Returns: (transfer full): what is made of the float network, which must be cleared
 */
VnPrepareScheme
vn_prepare_scheme (const VnRecipe *self)
{
  g_return_val_if_fail (self != NULL, (VnPrepareScheme) { 0 });

  return (VnPrepareScheme) {
    .optimize = self->optimize, .simulates_npu = self->simulate_npu,
    .equalizes_by_samples = vn_recipe_equalizes_by_samples (self),
    .equalize = vn_recipe_get_equalize_options (self), .passes = recipe_prepare_list_passes (self),
    .named = recipe_prepare_list_named (self), .truncate = g_strdupv (self->truncate),
    .npu_operators = g_strdupv (self->npu_operators),
  };
}

/**
 * vn_prepare_scheme_clear:
 */
void
vn_prepare_scheme_clear (VnPrepareScheme *self)
{
  g_return_if_fail (self != NULL);

  g_strfreev (self->passes);
  g_strfreev (self->named);
  g_strfreev (self->truncate);
  g_strfreev (self->npu_operators);
}
