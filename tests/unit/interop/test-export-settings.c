/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a script for onnxruntime.quantization, and a configuration for XQuant, say that they leave out. */
#include "vn-export-settings.h"

#include "vn-model.h"
#include "vn-quantize.h"
#include "vn-setting.h"

#include <string.h>

/* @setting is told of as left out, after a run that told @code of @subject; none: there was no run. */
typedef struct
{
  const char *preset, *id, *value;
  const char *code, *subject;
  gboolean    is_left_out;
} Case;

static const Case cases[] = {
  { "cpu", "float-mixed", "true", NULL, NULL, TRUE },
  { "cpu", "float-mixed", "true", "other", "both", FALSE },
  { "cpu", "float-mixed", "true", VN_NOTE_CODE_MIXED_STAYS_FLOAT, "both", TRUE },
  { "cpu", "float-mixed", "false", VN_NOTE_CODE_MIXED_STAYS_FLOAT, "both", FALSE },
  { "cpu", "align-concat", "true", "other", "both", TRUE },
  { "cpu", "align-concat", "true", VN_NOTE_CODE_IDLE_SETTING, "align-concat", FALSE },
  { "cpu", "align-concat", "true", VN_NOTE_CODE_IDLE_SETTING, "align-pool", TRUE },
  /* the same as with the preset, which has it otherwise than onnxruntime.quantization has */
  { "npu-cnn", "weight-method", "mse", VN_NOTE_CODE_IDLE_SETTING, "weight-method", TRUE },
};

static gboolean
names (VnNotes    *notes,
       const char *id)
{
  for (guint i = 0; i < vn_notes_get_n (notes); i++)
    if (g_str_equal (vn_notes_get (notes, i)->code, "cannot-export") && g_strcmp0 (vn_notes_get (notes, i)->subject, id) == 0)
      return TRUE;
  return FALSE;
}

static void
test_left_out (void)
{
  g_autoptr(VnModel) model = vn_model_new (8, 13);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const Case *what = &cases[i];
      g_autoptr(VnRecipe) recipe = vn_recipe_new (what->preset);
      g_autoptr(VnNotes) run = what->code != NULL ? vn_notes_new () : NULL;
      g_autoptr(VnNotes) of_script = vn_notes_new (), of_xquant = vn_notes_new ();
      g_autofree char *script = NULL, *xquant = NULL, *line = g_strdup_printf ("\n#   %s: ", what->id);
      g_autoptr(GError) error = NULL;

      vn_recipe_set (recipe, what->id, what->value, &error);
      g_assert_no_error (error);
      if (run != NULL)
        vn_notes_add (run, VN_NOTE_WARNING, what->code, what->subject, "told");
      script = vn_recipe_to_ort_script (recipe, model, "m.onnx", NULL, run, of_script);
      xquant = vn_recipe_to_xquant (recipe, model, "m.onnx", NULL, run, of_xquant);
      g_test_message ("%u: %s of %s", i, what->id, what->preset);
      g_assert_cmpint (names (of_script, what->id), ==, what->is_left_out);
      g_assert_cmpint (strstr (script, line) != NULL, ==, what->is_left_out);
      g_assert_cmpint (names (of_xquant, what->id), ==, what->is_left_out);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/export-settings/left-out", test_left_out);
  return g_test_run ();
}
