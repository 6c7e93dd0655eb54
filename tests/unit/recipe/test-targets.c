/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The runtimes that a recipe can be for, and what they do not take. */
#include "vn-error.h"
#include "vn-quantize.h"
#include "vn-recipe-json.h"
#include "vn-recipe-rules.h"
#include "vn-target-arithmetic.h"

/* Each is a preset like others, under a name of its own, and those for wider activations belong to one that is there. */
static void
test_targets (void)
{
  guint n, n_wide = 0;
  const VnPreset * const *targets = vn_target_list (&n);
  g_autoptr(GError) error = NULL;

  g_assert_cmpuint (n, >=, 25);
  for (guint i = 0; i < n; i++)
    {
      g_autoptr(VnRecipe) recipe = vn_recipe_new (targets[i]->id);
      const VnPreset *usual = targets[i]->wide_of != NULL ? vn_target_find (targets[i]->wide_of, FALSE, &error) : NULL;

      g_test_message ("%s", targets[i]->id);
      vn_recipe_validate (recipe, &error);
      g_assert_no_error (error);
      g_assert_true (vn_recipe_get_target (recipe) == targets[i] && vn_preset_is_target (targets[i]));
      g_assert_true (vn_preset_find (targets[i]->id, NULL) == targets[i]);
      g_assert_nonnull (vn_preset_get_group (targets[i]));
      if (targets[i]->wide_of == NULL)
        continue;
      g_assert_true (vn_target_find (usual->id, TRUE, NULL) == targets[i]);
      g_assert_null (usual->wide_of);
      n_wide++;
    }
  g_assert_cmpuint (n_wide, >, 2);
  g_assert_null (vn_target_find ("tract", TRUE, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
  g_assert_false (vn_preset_is_target (vn_preset_find ("cpu", NULL)));
}

/* What is started from suits; of changes those that the target's row names do not. */
static void
test_suits_target (void)
{
  static const struct { const char *target, *changes, *rule; gboolean suits; } cases[] = {
    { "cpu",          "activation=s16 weight=s16 activation-channels=folded", NULL, TRUE },
    { "litert",       "method=mse rounding=second-order train=adaquant", NULL, TRUE },
    { "litert",       "activation=u8", NULL, FALSE },
    { "litert",       "activation-channels=folded", NULL, FALSE },
    { "litert",       "fixed-ranges=Sigmoid:int8=0,1", NULL, TRUE },   /* one more */
    { "litert",       "align-pool=false", NULL, FALSE },
    { "litert",       "", "{\"nodes\": \"a\", \"activation\": \"int16\"}", FALSE },
    { "litert",       "", "{\"nodes\": \"a\", \"activation\": \"int16\", \"enabled\": false}", TRUE },
    { "litert",       "", "{\"nodes\": \"a\", \"activation-channels\": \"folded\"}", FALSE },
    { "litert",       "", "{\"nodes\": \"a\", \"exclude\": true}", TRUE },
    { "qnn-htp",      "", "{\"nodes\": \"a\", \"activation\": \"uint16\"}", TRUE },
    { "qnn-htp",      "", "{\"tensors\": [\"a\"], \"convert\": \"int16\"}", FALSE },
    { "openvino-cpu", "weight=s4 block-size=32", NULL, TRUE },
    { "openvino-cpu", "activation=u16", NULL, FALSE },
    { "openvino-cpu", "constant-matmul-only=false", NULL, FALSE },
    { "qnn-htp",      "symmetric-activations=true", NULL, FALSE },
    { "tensorrt",     "symmetric-activations=false", NULL, FALSE },
    { "esp-dl",       "activation=s16", NULL, TRUE },
    { "esp-dl",       "per-channel=true", NULL, FALSE },
  };
  guint n;
  const VnPreset * const *targets = vn_target_list (&n);
  g_autoptr(GError) error = NULL;

  for (guint i = 0; i < n; i++)
    {
      g_autoptr(VnRecipe) recipe = vn_recipe_new (targets[i]->id);

      vn_recipe_suits_target (recipe, &error);
      g_assert_no_error (error);
    }
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = g_strdup_printf ("{\"vernier-recipe\": 1, \"preset\": \"%s\", \"rules\": [%s]}", cases[i].target,
                                               cases[i].rule != NULL ? cases[i].rule : "");
      g_autoptr(VnRecipe) recipe = vn_recipe_from_json (text, "r.json", &error);

      g_assert_no_error (error);
      vn_recipe_apply_settings (recipe, cases[i].changes);
      g_test_message ("%s %s %s", cases[i].target, cases[i].changes, cases[i].rule != NULL ? cases[i].rule : "");
      g_assert_true (vn_recipe_suits_target (recipe, &error) == cases[i].suits);
      if (!cases[i].suits)
        g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
      g_clear_error (&error);
    }
}

/* What is known of arithmetic is known of targets that there are. */
static void
test_arithmetic (void)
{
  g_autofree char *text = vn_target_dup_with_arithmetic ();
  g_auto(GStrv) ids = g_strsplit (text, ", ", -1);
  g_autoptr(GError) error = NULL;

  g_assert_cmpuint (g_strv_length (ids), >=, 3);
  for (guint i = 0; ids[i] != NULL; i++)
    {
      const VnPreset *target = vn_preset_find (ids[i], &error);

      g_assert_no_error (error);
      g_assert_true (vn_preset_is_target (target));
      g_assert_cmpint (vn_target_get_arithmetic (target), !=, VN_ARITHMETIC_EXACT);
    }
  g_assert_cmpint (vn_target_get_arithmetic (vn_target_find ("ort-cpu", FALSE, NULL)), ==, VN_ARITHMETIC_EXACT);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/quantize/targets/table", test_targets);
  g_test_add_func ("/quantize/targets/suits", test_suits_target);
  g_test_add_func ("/quantize/targets/arithmetic", test_arithmetic);
  return g_test_run ();
}
