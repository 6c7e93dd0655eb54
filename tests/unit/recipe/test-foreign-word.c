/* SPDX-License-Identifier: GPL-3.0-or-later */
/* “Did you mean”: words of other quantizers, spellings and near misses, and words that resemble nothing. */
#include "vn-foreign-word.h"
#include "vn-recipe.h"

static const char * const known[] = { "minmax", "percentile", "kl", "mse", NULL };

static void
check_hint (VnForeignKind  kind,
            const char    *word,
            const char    *expected)
{
  g_autofree char *hint = vn_word_dup_hint (kind, word, known);
  g_autofree char *question = expected != NULL ? g_strdup_printf ("did you mean “%s”?", expected) : NULL;

  g_assert_cmpstr (hint, ==, question);
}

static void
test_near (void)
{
  check_hint (VN_FOREIGN_METHOD, "MinMax", "minmax");          /* case */
  check_hint (VN_FOREIGN_METHOD, "min_max", "minmax");
  check_hint (VN_FOREIGN_METHOD, "mimnax", "minmax");          /* two letters swapped */
  check_hint (VN_FOREIGN_METHOD, "minmx", "minmax");           /* one missing */
  check_hint (VN_FOREIGN_METHOD, "percentiles", "percentile"); /* one too many */
  check_hint (VN_FOREIGN_METHOD, "frobnicate", NULL);
  check_hint (VN_FOREIGN_METHOD, "", NULL);
  check_hint (VN_FOREIGN_METHOD, "xy", NULL);                  /* as long as “kl”, and has nothing of it */
  check_hint (VN_FOREIGN_METHOD, "an-option-that-is-longer-than-any-there-is-and-any-there-will-be", NULL);
}

static void
test_foreign (void)
{
  g_autofree char *nothing = vn_word_dup_hint (VN_FOREIGN_OPTION, "--remove-input-init", NULL);

  check_hint (VN_FOREIGN_OPTION, "--include-cle", "--equalize=amd");
  check_hint (VN_FOREIGN_OPTION, "include_cle", "--equalize=amd");
  check_hint (VN_FOREIGN_OPTION, "--include_cle=True", "--equalize=amd");
  check_hint (VN_FOREIGN_PRESET, "IPU_CNN", "npu-cnn");
  check_hint (VN_FOREIGN_METHOD, "CalibrationMethod.MinMSE", "minmse");
  check_hint (VN_FOREIGN_METHOD, "PowerOfTwoMethod.MinMSE",
              "minmse --weight-method=minmse --power-of-two=nearest --narrow-range");
  check_hint (VN_FOREIGN_OPTION, "CLEScaleUseThreshold", "--equalize-threshold=0");
  check_hint (VN_FOREIGN_TYPE, "QuantType.QUInt8", "u8");
  check_hint (VN_FOREIGN_FORMAT, "QuantFormat.QDQ", "qdq");    /* AMD's VitisQuantFormat.QDQ is another */
  g_assert_cmpstr (vn_foreign_word_find (VN_FOREIGN_FORMAT, "VitisQuantFormat.QDQ")->here, ==, "extended");
  g_assert_cmpstr (nothing, ==, "“RemoveInputInit” of AMD: always done");
  g_assert_null (vn_foreign_word_find (VN_FOREIGN_PRESET, "include_cle"));   /* an option, no preset */
}

/* No word is there twice, so that none hides another, and each can be answered. */
static void
test_table (void)
{
  guint n;
  const VnForeignWord *words = vn_foreign_word_list (&n);

  g_assert_cmpuint (n, >, 100);
  for (guint i = 0; i < n; i++)
    {
      g_assert_true (vn_foreign_word_find (words[i].kind, words[i].word) == &words[i]);
      g_assert_true (vn_foreign_word_get_here (&words[i])[0] != '\0' || words[i].remark != NULL);
    }
}

/* What the parts of the core say of such words. */
static void
test_messages (void)
{
  g_autoptr(VnRecipe) recipe = vn_recipe_new (NULL);
  g_autoptr(GError) preset = NULL, method = NULL, format = NULL, setting = NULL;

  g_assert_null (vn_preset_find ("IPU_CNN", &preset));
  g_assert_cmpstr (preset->message, ==, "There is no preset “IPU_CNN”; did you mean “npu-cnn”?");
  g_assert_false (vn_recipe_set (recipe, "method", "MinMSE", &method));
  g_assert_cmpstr (method->message, ==, "method: There is no range method “MinMSE”; did you mean “minmse”?");
  g_assert_false (vn_recipe_set (recipe, "format", "QDQ", &format));
  g_assert_cmpstr (format->message, ==, "format: “QDQ” is not allowed; did you mean “qdq”?");
  g_assert_false (vn_recipe_set (recipe, "per_channel", "true", &setting));
  g_assert_cmpstr (setting->message, ==, "There is no setting “per_channel”; did you mean “per-channel”?");
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/foreign-word/near", test_near);
  g_test_add_func ("/foreign-word/foreign", test_foreign);
  g_test_add_func ("/foreign-word/table", test_table);
  g_test_add_func ("/foreign-word/messages", test_messages);
  return g_test_run ();
}
