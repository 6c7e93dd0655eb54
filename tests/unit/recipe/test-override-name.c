/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of rules: what can be one, that they are kept in files, and that nothing depends on them. */
#include "vn-error.h"
#include "vn-recipe.h"

#include <string.h>

#define HEAD "{\"vernier-recipe\": 1, \"rules\": [{\"nodes\": \"type:Softmax\", \"exclude\": true, \"name\": "

static VnRecipe *
make_recipe (const char *name)
{
  VnRecipe *recipe = vn_recipe_new ("cpu");

  vn_override_set_name (vn_recipe_add_exclude (recipe, "type:Softmax"), name);
  return recipe;
}

static const VnOverride *
get_rule (const VnRecipe *recipe)
{
  return g_ptr_array_index (recipe->overrides, 0);
}

/* Whatever somebody types becomes a name of one line, or none. */
static void
test_set (void)
{
  static const struct { const char *typed, *name; } cases[] = {
    { "Class heads", "Class heads" }, { "  Köpfe ", "Köpfe" }, { "a\nb\tc", "a b c" }, { "x\xff", "x\xef\xbf\xbd" },
    { "a\xe2\x80\xae""b", "a b" }, { "", NULL }, { " \n ", NULL }, { "\xe2\x80\x8b", NULL }, { NULL, NULL },
  };
  g_autofree char *longest = g_strnfill (300, 'n');
  g_autoptr(VnRecipe) cut = make_recipe (longest);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnRecipe) recipe = make_recipe (cases[i].typed);

      g_assert_cmpstr (get_rule (recipe)->name, ==, cases[i].name);
    }
  g_assert_cmpuint (strlen (get_rule (cut)->name), ==, 120);
}

/* Into a file and back; what is set so can always be read again. */
static void
test_round_trip (void)
{
  static const char * const names[] = { "Class heads", "„Köpfe“ \"1\" \\ <b>&amp;</b>", "頭", "a\nb", NULL };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr(VnRecipe) recipe = make_recipe (names[i]), again = NULL;
      g_autofree char *text = vn_recipe_to_json (recipe);
      g_autoptr(GError) error = NULL;

      again = vn_recipe_from_json (text, "test", &error);
      g_assert_no_error (error);
      g_assert_cmpstr (get_rule (again)->name, ==, get_rule (recipe)->name);
      g_assert_true (vn_recipe_has_equal_names (again, recipe));
      g_assert_true ((strstr (text, "\"name\"") != NULL) == (names[i] != NULL));
    }
}

/* Of a file somebody wrote, what cannot be shown in a line is told. */
static void
test_refused (void)
{
  g_autofree char *longest = g_strnfill (121, 'n'), *too_long = g_strdup_printf ("\"%s\"", longest);
  const char *cases[] = { "\"a\\nb\"", "\"\\u202eabc\"", "\"  \"", "7", too_long };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = g_strconcat (HEAD, cases[i], "}]}", NULL);
      g_autoptr(GError) error = NULL;

      g_assert_null (vn_recipe_from_json (text, "test", &error));
      g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
    }
}

/* The same network comes of recipes that differ in names alone. */
static void
test_changes_nothing (void)
{
  g_autoptr(VnRecipe) a = make_recipe ("Heads"), b = make_recipe (NULL), copy = vn_recipe_copy (a);
  g_autofree char *digest = vn_recipe_dup_digest (a), *other = vn_recipe_dup_digest (b);

  g_assert_true (vn_recipe_equal (a, b));
  g_assert_true (vn_override_equal (get_rule (a), get_rule (b)));
  g_assert_false (vn_recipe_has_equal_names (a, b));
  g_assert_cmpstr (digest, ==, other);
  g_assert_cmpstr (get_rule (a)->name, ==, "Heads");   /* the digest took it from a copy */
  g_assert_true (vn_recipe_has_equal_names (a, copy));
  vn_recipe_forget_names (a);
  g_assert_true (vn_recipe_has_equal_names (a, b));
  ((VnOverride *) g_ptr_array_index (copy->overrides, 0))->exclude = FALSE;
  g_assert_false (vn_override_equal (get_rule (copy), get_rule (b)));
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/recipe/override-name/set", test_set);
  g_test_add_func ("/recipe/override-name/round-trip", test_round_trip);
  g_test_add_func ("/recipe/override-name/refused", test_refused);
  g_test_add_func ("/recipe/override-name/changes-nothing", test_changes_nothing);
  return g_test_run ();
}
