/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vn-recipe.h"

#include "vn-error.h"

#include <string.h>

static void
test_json (void)
{
  const char *from[] = { "n2", "n7", NULL }, *to[] = { "y", NULL };
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("a16w8");
  g_autoptr(VnRecipe) again = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *text = NULL;
  VnOverride *rule;

  recipe->percentile = 99.97;
  recipe->opset = 21;
  recipe->per_channel = TRUE;
  vn_recipe_add_exclude (recipe, "type:Soft\"max");
  rule = vn_override_new ();
  rule->in_edges = g_strdupv ((char **) from);
  rule->out_edges = g_strdupv ((char **) to);
  rule->activation = VN_DTYPE_U8;
  rule->enabled = FALSE;
  g_ptr_array_add (recipe->overrides, rule);

  text = vn_recipe_to_json (recipe);
  again = vn_recipe_from_json (text, "it", &error);
  g_assert_no_error (error);
  g_assert_true (vn_recipe_equal (recipe, again));
}

/* Ends of ranges stand as texts or as numbers. */
static void
test_json_numbers (void)
{
  static const char texts[] =
    "{\"vernier-recipe\": 1, \"rules\": [{\"tensors\": [\"a\"], \"min\": [\"0\"], \"max\": [\"2.5\"]}]}";
  static const char numbers[] =
    "{\"vernier-recipe\": 1, \"rules\": [{\"tensors\": [\"a\"], \"min\": [0], \"max\": [2.5]}]}";
  g_autoptr(GError) error = NULL;
  g_autoptr(VnRecipe) a = vn_recipe_from_json (texts, "a", &error);
  g_autoptr(VnRecipe) b = vn_recipe_from_json (numbers, "b", &error);

  g_assert_no_error (error);
  g_assert_true (vn_recipe_equal (a, b));
}

static void
test_json_errors (void)
{
  static const struct { const char *text; VnError code; const char *what[3]; } cases[] = {
    { "", VN_ERROR_MALFORMED, { "my.json" } },
    { "[", VN_ERROR_MALFORMED, { "my.json" } },
    { "[]", VN_ERROR_SETTING, { "an object", "an array" } },
    { "{}", VN_ERROR_MALFORMED, { "vernier-recipe" } },
    { "{\"vernier-recipe\": 9}", VN_ERROR_UNSUPPORTED, { "9", "1" } },
    { "{\"vernier-recipe\": 1, \"preset\": \"gpu\"}", VN_ERROR_SETTING, { "gpu", "cpu" } },
    { "{\"vernier-recipe\": 1, \"percentil\": 99}", VN_ERROR_SETTING, { "percentil", "percentile" } },
    { "{\"vernier-recipe\": 1, \"percentile\": \"99\"}", VN_ERROR_SETTING, { "percentile", "a number", "a string" } },
    { "{\"vernier-recipe\": 1, \"percentile\": 9}", VN_ERROR_SETTING, { "percentile", "9", "50 to 100" } },
    { "{\"vernier-recipe\": 1, \"opset\": 11.5}", VN_ERROR_SETTING, { "opset", "11.5" } },
    { "{\"vernier-recipe\": 1, \"per-channel\": 1}", VN_ERROR_SETTING, { "per-channel", "true or false" } },
    { "{\"vernier-recipe\": 1, \"activation\": \"u7\"}", VN_ERROR_SETTING, { "activation", "u7", "uint8" } },
    { "{\"vernier-recipe\": 1, \"rules\": {}}", VN_ERROR_SETTING, { "rules", "an array" } },
    { "{\"vernier-recipe\": 1, \"rules\": [1]}", VN_ERROR_SETTING, { "rules[0]", "an object" } },
    { "{\"vernier-recipe\": 1, \"rules\": [{\"nodes\": \"a\"}, {\"exclud\": true}]}", VN_ERROR_SETTING,
      { "rules[1]", "exclud" } },
    { "{\"vernier-recipe\": 1, \"rules\": [{\"from\": [\"a\", 1]}]}", VN_ERROR_SETTING, { "rules[0].from[1]", "a string" } },
    { "{\"vernier-recipe\": 1, \"rules\": [{\"nodes\": \"a\", \"percentile\": 1}]}", VN_ERROR_SETTING,
      { "rules[0].percentile", "50 to 100" } },
    { "{\"vernier-recipe\": 1, \"rules\": [{\"nodes\": \"a\", \"rounding\": \"secnd\"}]}", VN_ERROR_SETTING,
      { "rules[0].rounding", "recipe, nearest, second-order" } },
    { "{\"vernier-recipe\": 1, \"rounding\": \"recipe\"}", VN_ERROR_SETTING, { "rounding", "nearest, second-order" } },
    { "{\"vernier-recipe\": 1, \"rules\": [{\"tensors\": [\"a\"], \"rounding\": \"nearest\"}]}", VN_ERROR_SETTING,
      { "rule 1", "rounding", "nodes only" } },
    { "{\"vernier-recipe\": 1, \"rules\": [{\"tensors\": [\"a\"], \"float-results\": true}]}", VN_ERROR_SETTING,
      { "rule 1", "float-results", "nodes only" } },
    { "{\"vernier-recipe\": 1, \"format\": \"fp16\", \"rules\": [{\"nodes\": \"a\", \"rounding\": \"second-order\"}]}",
      VN_ERROR_UNSUPPORTED, { "rule 1: rounding" } },
    { "{\"vernier-recipe\": 1, \"format\": \"fp16\", \"rules\": [{\"nodes\": \"a\", \"balance-channels\": \"folded\"}]}",
      VN_ERROR_UNSUPPORTED, { "rule 1: balance-channels" } },
    { "{\"vernier-recipe\": 1, \"format\": \"weights\", "
      "\"rules\": [{\"nodes\": \"a\"}, {\"nodes\": \"a\", \"bias-correction\": \"amd\"}]}",
      VN_ERROR_UNSUPPORTED, { "rule 2: bias-correction" } },
    { "{\"vernier-recipe\": 1, \"bias-correction\": \"guarded\", \"rules\": [{\"nodes\": \"a\", \"bias-correction\": \"amd\"}]}",
      VN_ERROR_SETTING, { "rule 1: bias-correction", "“amd”", "“guarded”" } },
    { "{\"vernier-recipe\": 1, \"channel-axes\": [\"Konv=0\"]}", VN_ERROR_SETTING,
      { "channel-axes", "“Konv”", "did you mean “Conv”?" } },
    { "{\"vernier-recipe\": 1, \"channel-axes\": [\"conv=0\"]}", VN_ERROR_SETTING, { "“conv”", "did you mean “Conv”?" } },
    { "{\"vernier-recipe\": 1, \"fuse\": [\"Konv+Relu\"]}", VN_ERROR_SETTING, { "fuse", "“Konv+Relu”", "did you mean “Conv”?" } },
    { "{\"vernier-recipe\": 1, \"fuse\": [\"Conv+Quux\"]}", VN_ERROR_SETTING, { "“Quux”", "list operators" } },
    { "{\"vernier-recipe\": 1,\n\"method\": \"minmax\",\n \"method\": \"entropy\"}", VN_ERROR_MALFORMED,
      { "line 3", "“method”", "line 2" } },
    { "{\"vernier-recipe\": 1, \"opset\": -18446744073709551603}", VN_ERROR_MALFORMED, { "-18446744073709551603", "64 bits" } },
    { "{\"vernier-recipe\": 1, \"rules\": [{\"tensors\": [\"a\"], \"min\": [\"0\"], \"max\": [\"1o\"]}]}", VN_ERROR_SETTING,
      { "max", "“1o”", "not a number" } },
    { "{\"vernier-recipe\": 1, \"rules\": [{\"exclude\": true}]}", VN_ERROR_SETTING, { "rule 1", "pattern" } },
  };
  g_autofree char *deep = g_strnfill (100000, '[');
  g_autoptr(GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_assert_null (vn_recipe_from_json (cases[i].text, "my.json", &error));
      g_test_message ("%s", error->message);
      g_assert_error (error, VN_ERROR, (int) cases[i].code);
      for (guint k = 0; k < 3 && cases[i].what[k] != NULL; k++)
        g_assert_nonnull (strstr (error->message, cases[i].what[k]));
      g_assert_nonnull (strstr (error->message, "my.json"));
      g_clear_error (&error);
    }
  g_assert_null (vn_recipe_from_json (deep, "deep.json", &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_LIMIT);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/recipe/json", test_json);
  g_test_add_func ("/recipe/json-errors", test_json_errors);
  g_test_add_func ("/recipe/json-numbers", test_json_numbers);
  return g_test_run ();
}
