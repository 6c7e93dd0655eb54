/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Where a recipe quantizes, which neighbours share a scale, and which rules about tensors are refused. What
 * onnxruntime.quantization can do, too, is compared with it in the oracle tests. */

#include "quantize-fixture.h"

#include "vn-error.h"
#include "vn-infer.h"
#include "vn-pass.h"

#include <string.h>

static const VnShape image = { 4, { 1, 2, 4, 4 } };

static void
add_conv (Fixture    *f,
          const char *name,
          const char *x,
          const char *y)
{
  g_autofree char *weight = g_strconcat (name, ".w", NULL), *inputs = g_strjoin (" ", x, weight, NULL);

  fixture_weight (f, weight, VN_SHAPE (2, 2, 1, 1), -0.5f, 1);
  fixture_node (f, "Conv", name, inputs, y);
}

/* Three convolutions in a row. */
static Fixture *
make_chain (void)
{
  Fixture *f = fixture_new (13);

  fixture_input (f, "x", image);
  add_conv (f, "a", "x", "u");
  add_conv (f, "b", "u", "v");
  add_conv (f, "c", "v", "y");
  fixture_output (f, "y");
  fixture_complete (f);
  return f;
}

static const struct
{
  const char *settings;       /* "id=value id=value" */
  const char *quantized;      /* names, in the order of the graph; NULL: refused, naming the setting */
  guint       n_warnings;
} places[] = {
  { "opset=13",                        "x a.w u b.w v c.w y", 0 },
  { "input-nodes=b",                   "u b.w v c.w y",       0 },
  { "output-nodes=b",                  "x a.w u b.w v",       0 },
  { "input-nodes=b output-nodes=b",    "u b.w v",             0 },
  /* named nodes take part though they stand in front of another one */
  { "input-nodes=a input-nodes=c",     "x a.w u v c.w y",     0 },
  { "only-nodes=c",                    "v c.w y",             0 },
  { "only-nodes=nosuch",               NULL,                  0 },
  { "only-nodes=nosuch only-nodes=c",  "v c.w y",             1 },
  { "op-types=Gemm",                   NULL,                  0 },
  { "op-types=Co*",                    "x a.w u b.w v c.w y", 0 },
  { "float-inputs=x",                  "a.w u b.w v c.w y",   0 },
  { "float-outputs=*",                 "x a.w u b.w v c.w",   0 },
  { "float-inputs=z",                  "x a.w u b.w v c.w y", 1 },
  { "float-output-types=Conv",         "x a.w u b.w v c.w",   0 },   /* what is read is quantized */
};

/* ---- unlike numbers ---- */

/* Boxes and scores, from two layers, that meet at the end: "boxes" reach to @size, "scores" to 1. @behind: a layer reads what
 * they make. */
static Fixture *
make_detector (float    size,
               gboolean behind)
{
  Fixture *f = fixture_new (13);

  fixture_input (f, "x", image);
  add_conv (f, "a", "x", "boxes");
  add_conv (f, "b", "x", "logits");
  fixture_node (f, "Sigmoid", "s", "logits", "scores");
  vn_node_set_int (fixture_node (f, "Concat", "join", "boxes scores", "both"), "axis", 3);
  vn_node_set_ints (fixture_node (f, "Transpose", "end", "both", behind ? "more" : "y"), "perm", (const gint64[]) { 0, 1, 2, 3 },
                    4);
  if (behind)
    add_conv (f, "c", "more", "y");
  fixture_output (f, "y");
  fixture_complete (f);
  fixture_range (f, "boxes", 0, size);
  fixture_range (f, "scores", 0, 1);
  return f;
}

static const struct
{
  float       size;
  gboolean    behind;
  const char *settings;
  const char *in_float;      /* of boxes, scores, both and what follows */
  const char *note;          /* nullable: code */
} unlike[] = {
  { 300,  FALSE, "opset=13",          "both y", "mixed-stays-float" },
  { 12,   FALSE, "opset=13",          "both y", "mixed-stays-float" },
  { 8,    FALSE, "opset=13",          "",       NULL },
  { 0.05f, FALSE, "opset=13",         "both y", "mixed-stays-float" },
  { 300,  TRUE,  "opset=13",          "",       NULL },                 /* the product behind would be lost */
  { 300,  FALSE, "float-mixed=false", "",       "mixed-quantized" },
  { 300,  FALSE, "only-nodes=a only-nodes=b only-nodes=s", "both y", NULL },
};

static void
check_unlike (gconstpointer data)
{
  const guint index = GPOINTER_TO_UINT (data);
  static const char * const names[] = { "boxes", "scores", "both", "more", "y" };
  g_autoptr(Fixture) f = make_detector (unlike[index].size, unlike[index].behind);
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
  g_autoptr(VnNotes) notes = vn_notes_new ();
  g_autoptr(GString) in_float = g_string_new (NULL);
  g_auto(GStrv) settings = g_strsplit (unlike[index].settings, " ", -1);
  g_autoptr(VnQuantPlan) plan = NULL;
  g_autoptr(GError) error = NULL;
  guint n_notes = 0;

  for (guint i = 0; settings[i] != NULL; i++)
    {
      g_auto(GStrv) pair = g_strsplit (settings[i], "=", 2);

      g_assert_true (vn_recipe_set (recipe, pair[0], pair[1], NULL));
    }
  plan = fixture_resolve (f, recipe, notes, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      const VnTensorPlan *row = vn_quant_plan_find (plan, names[i]);

      if (row != NULL && !row->quantized)
        g_string_append_printf (in_float, "%s%s", in_float->len > 0 ? " " : "", names[i]);
    }
  g_assert_cmpstr (in_float->str, ==, unlike[index].in_float);
  for (guint i = 0; i < vn_notes_get_n (notes); i++)
    n_notes += g_str_has_prefix (vn_notes_get (notes, i)->code, "mixed-") &&
               g_strcmp0 (vn_notes_get (notes, i)->code, unlike[index].note) == 0;
  g_assert_cmpuint (n_notes, ==, unlike[index].note != NULL);
}

static void
check_place (gconstpointer data)
{
  const guint index = GPOINTER_TO_UINT (data);
  static const char * const names[] = { "x", "a.w", "u", "b.w", "v", "c.w", "y" };
  g_autoptr(Fixture) f = make_chain ();
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
  g_autoptr(VnNotes) notes = vn_notes_new ();
  g_autoptr(GString) quantized = g_string_new (NULL);
  g_auto(GStrv) settings = g_strsplit (places[index].settings, " ", -1);
  g_autoptr(VnQuantPlan) plan = NULL;
  g_autoptr(GError) error = NULL;

  for (guint i = 0; settings[i] != NULL; i++)
    {
      g_auto(GStrv) pair = g_strsplit (settings[i], "=", 2);

      vn_recipe_set (recipe, pair[0], pair[1], &error);
      g_assert_no_error (error);
    }
  plan = fixture_resolve (f, recipe, notes, &error);
  if (places[index].quantized == NULL)
    {
      g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
      g_assert_true (strncmp (error->message, settings[0], strcspn (settings[0], "=")) == 0);
      return;
    }
  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (vn_quant_plan_find (plan, names[i])->quantized)
      g_string_append_printf (quantized, "%s%s", quantized->len > 0 ? " " : "", names[i]);
  g_assert_cmpstr (quantized->str, ==, places[index].quantized);
  g_assert_cmpuint (vn_notes_get_n (notes), ==, places[index].n_warnings);
}

/* ---- what preparation takes away ---- */

/* Convolution a, a normalization n that is folded into it, convolution b: rules name tensors and nodes as the file does. */
static const struct
{
  const char *rules;          /* of a recipe */
  const char *quantized;      /* of x, v and y */
  const char *notes;          /* codes */
} formers[] = {
  { "",                                                                  "x v y", "" },
  { "{\"from\": [\"u\"], \"to\": [\"y\"], \"exclude\": true}",            "x v",   "" },   /* from behind a on */
  { "{\"from\": [\"x\"], \"to\": [\"u\"], \"exclude\": true}",            "v y",   "" },   /* a, as far as the fold */
  { "{\"from\": [\"x\"], \"to\": [\"v\"], \"exclude\": true}",            "v y",   "" },
  { "{\"from\": [\"w\"], \"to\": [\"y\"], \"exclude\": true}",            "x v y", "rule-matches-nothing" },
  { "{\"nodes\": \"n\", \"exclude\": true}",                             "v y",   "rule-of-heir" },
  { "{\"nodes\": \"a\", \"exclude\": true}, {\"nodes\": \"n\", \"exclude\": true}", "v y", "" },
  { "{\"nodes\": \"m\", \"exclude\": true}",                             "x v y", "rule-matches-nothing" },
};

static Fixture *
make_foldable (void)
{
  static const char * const parameters[] = { "scale", "shift", "mean", "variance" };
  Fixture *f = fixture_new (13);
  VnModel *prepared;
  g_autoptr(GError) error = NULL;

  fixture_input (f, "x", image);
  add_conv (f, "a", "x", "u");
  for (guint i = 0; i < G_N_ELEMENTS (parameters); i++)
    fixture_weight (f, parameters[i], VN_SHAPE (2), 0.5f, 1);
  fixture_node (f, "BatchNormalization", "n", "u scale shift mean variance", "v");
  add_conv (f, "b", "v", "y");
  fixture_output (f, "y");
  g_assert_true (vn_model_infer_types (f->model, NULL, NULL, &error));
  prepared = vn_prepare_model (f->model, 13, NULL, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (prepared->graph->nodes->len, ==, 2);
  vn_model_unref (f->model);
  f->model = prepared;
  fixture_complete (f);
  return f;
}

static void
check_former (gconstpointer data)
{
  const guint index = GPOINTER_TO_UINT (data);
  static const char * const names[] = { "x", "v", "y" };
  g_autofree char *text = g_strdup_printf ("{\"vernier-recipe\": 1, \"preset\": \"cpu\", \"rules\": [%s]}", formers[index].rules);
  g_autoptr(Fixture) f = make_foldable ();
  g_autoptr(GError) error = NULL;
  g_autoptr(VnRecipe) recipe = vn_recipe_from_json (text, "r.json", &error);
  g_autoptr(VnNotes) notes = vn_notes_new ();
  g_autoptr(VnQuantPlan) plan = NULL;
  g_autoptr(GString) quantized = g_string_new (NULL), said = g_string_new (NULL);

  g_assert_no_error (error);
  plan = fixture_resolve (f, recipe, notes, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (vn_quant_plan_find (plan, names[i])->quantized)
      g_string_append_printf (quantized, "%s%s", quantized->len > 0 ? " " : "", names[i]);
  for (guint i = 0; i < vn_notes_get_n (notes); i++)
    g_string_append_printf (said, "%s%s", i > 0 ? " " : "", vn_notes_get (notes, i)->code);
  g_assert_cmpstr (quantized->str, ==, formers[index].quantized);
  g_assert_cmpstr (said->str, ==, formers[index].notes);
}

/* ---- alignment ---- */

/* Ranges of two inputs and the result, as half widths; whose scale all three (0, 1), or inputs (0), or both (0) have */
static const struct
{
  const char *setting, *op;
  float       x0, x1, y;
  float       after[3];
} alignments[] = {
  { "align-concat",  "Concat",            1, 4, 5,  { 5, 5, 5 } },
  { "align-pad",     "Pad",               1, 0, 3,  { 3, 0, 3 } },
  { "align-pool",    "GlobalAveragePool", 4, 0, 1,  { 4, 0, 4 } },
  { "align-eltwise", "Add",               1, 4, 5,  { 4, 4, 5 } },
  { "align-eltwise", "Sub",               4, 1, 2,  { 4, 4, 2 } },
  { "align-pool",    "Concat",            1, 4, 5,  { 1, 4, 5 } },
};

static void
check_alignment (gconstpointer data)
{
  const guint index = GPOINTER_TO_UINT (data);
  static const char * const names[] = { "x0", "x1", "y" };
  const float before[] = { alignments[index].x0, alignments[index].x1, alignments[index].y };
  gboolean pad = g_str_equal (alignments[index].op, "Pad");
  g_autoptr(Fixture) f = fixture_new (13);
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
  g_autoptr(VnQuantPlan) plan = NULL;
  g_autoptr(GError) error = NULL;
  VnNode *node;

  for (guint i = 0; i < 2; i++)
    if (before[i] > 0)
      fixture_input (f, names[i], image);
  if (pad)
    {
      fixture_ints (f, "pads", (gint64[]) { 0, 0, 0, 0, 0, 0, 1, 1 }, 8);
      fixture_weight (f, "fill", VN_SHAPE_SCALAR, 3, 3);
    }
  node = fixture_node (f, alignments[index].op, "node", pad ? "x0 pads fill" : before[1] > 0 ? "x0 x1" : "x0", "y");
  if (g_str_equal (alignments[index].op, "Concat"))
    vn_node_set_int (node, "axis", 1);
  fixture_output (f, "y");
  for (guint i = 0; i < 3; i++)
    if (before[i] > 0)
      fixture_range (f, names[i], -before[i], before[i]);
  fixture_complete (f);
  vn_recipe_set (recipe, alignments[index].setting, "true", &error);
  vn_recipe_add_exclude (recipe, "type:Sub")->exclude = FALSE;

  plan = fixture_resolve (f, recipe, NULL, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < 3; i++)
    if (before[i] > 0)
      g_assert_cmpfloat (vn_tensor_get_double (vn_quant_plan_find (plan, names[i])->scale, 0), ==,
                         (double) (float) (2.0 * (double) alignments[index].after[i] / 255));
}

/* ---- what is refused ---- */

static const struct { const char *json, *message; } refused[] = {
  { "{\"tensors\": [\"x\"], \"nodes\": \"a\"}",                         "rule 1: set a pattern" },
  { "{\"tensors\": [\"x\"], \"scale\": [\"1\"]}",                       "rule 1: set scale and zero point together" },
  { "{\"tensors\": [\"x\"], \"scale\": [\"1\"], \"zero-point\": [\"0\"], \"min\": [\"0\"]}",
    "rule 1: a scale cannot be combined" },
  { "{\"tensors\": [\"x\"], \"min\": [\"small\"]}",                     "rule 1: min: “small” is not a number" },
  { "{\"tensors\": [\"x\"], \"receivers\": [\"a\"]}",                   "rule 1: set “convert”" },
  { "{\"tensors\": [\"x\"], \"convert\": \"bfp16\"}",                   "convert: “bfp16” is not allowed" },
  { "{\"tensors\": [\"x\"], \"axis\": 1, \"per-channel\": \"false\"}",  "rule 1: an axis requires" },
  { "{\"nodes\": \"a\", \"max\": [\"1\"]}",                             "rule 1: ranges, scales" },
};

static void
test_refused (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_autofree char *text = g_strdup_printf ("{\"vernier-recipe\": 1, \"rules\": [%s]}", refused[i].json);
      g_autoptr(GError) error = NULL;

      g_assert_null (vn_recipe_from_json (text, "r.json", &error));
      g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
      g_assert_nonnull (strstr (error->message, refused[i].message));
    }
}

/* What only the tensor shows. */
static void
test_refused_later (void)
{
  static const struct { const char *preset, *rule, *message; } rules[] = {
    { "cpu", "\"scale\": [\"0\"], \"zero-point\": [\"0\"]",                 "scale 0" },
    { "cpu", "\"scale\": [\"1\"], \"zero-point\": [\"300\"]",               "zero point 300" },
    { "cpu", "\"scale\": [\"1\", \"2\", \"3\"], \"zero-point\": [\"0\"]",   "3 " },
    { "bfp16", "\"scale\": [\"1\"], \"zero-point\": [\"0\"]",                 "scale 1, but bfp16" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rules); i++)
    {
      g_autofree char *text =
        g_strdup_printf ("{\"vernier-recipe\": 1, \"preset\": \"%s\", \"rules\": [{\"tensors\": [\"u\"], %s}]}",
                                               rules[i].preset, rules[i].rule);
      g_autoptr(Fixture) f = make_chain ();
      g_autoptr(GError) error = NULL;
      g_autoptr(VnRecipe) recipe = vn_recipe_from_json (text, "r.json", &error);

      g_assert_no_error (error);
      vn_model_set_opset (f->model, "", 21);
      g_assert_null (fixture_resolve (f, recipe, NULL, &error));
      g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
      g_assert_nonnull (strstr (error->message, rules[i].message));
    }
}

static const struct
{
  const char *settings, *op_type, *exclude;
  gboolean    fails;
  const char *code;      /* of the note; NULL: none */
} nothings[] = {
  { "format=matmulnbits weight=uint4 block-size=16", "Relu",   NULL, TRUE,  NULL },
  { "format=weights",                                "Relu",   NULL, TRUE,  NULL },
  { "format=matmulnbits weight=uint4 block-size=16", "MatMul", NULL, FALSE, NULL },
  { "format=weights",                                "MatMul", "n",  FALSE, "nothing-quantized" },
  { "format=integer dynamic=true",                   "Relu",   NULL, FALSE, "nothing-quantized" },
};

/* A network without weights that the format can store is refused; that the recipe leaves all out is said. */
static void
test_nothing (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (nothings); i++)
    {
      g_autoptr(Fixture) f = fixture_new (13);
      g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
      g_autoptr(VnNotes) notes = vn_notes_new ();
      g_autoptr(GError) error = NULL;
      g_autoptr(VnQuantPlan) plan = NULL;
      gboolean product = g_str_equal (nothings[i].op_type, "MatMul");
      g_auto(GStrv) settings = g_strsplit (nothings[i].settings, " ", -1);

      for (char **at = settings; *at != NULL; at++)
        {
          g_auto(GStrv) pair = g_strsplit (*at, "=", 2);

          vn_recipe_set (recipe, pair[0], pair[1], &error);
          g_assert_no_error (error);
        }
      if (nothings[i].exclude != NULL)
        vn_recipe_add_exclude (recipe, nothings[i].exclude);
      fixture_input (f, "x", VN_SHAPE (1, 2));
      if (product)
        fixture_weight (f, "w", VN_SHAPE (2, 2), -1, 1);
      fixture_node (f, nothings[i].op_type, "n", product ? "x w" : "x", "y");
      fixture_output (f, "y");
      fixture_complete (f);
      plan = fixture_resolve (f, recipe, notes, &error);
      g_test_message ("%s, %s: %s", nothings[i].settings, nothings[i].op_type, error != NULL ? error->message : "-");
      g_assert_cmpint (plan == NULL, ==, nothings[i].fails);
      if (nothings[i].fails)
        g_assert_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED);
      g_assert_cmpuint (vn_notes_get_n (notes), ==, nothings[i].code != NULL);
      if (nothings[i].code != NULL)
        g_assert_cmpstr (vn_notes_get (notes, 0)->code, ==, nothings[i].code);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (places); i++)
    {
      g_autofree char *path = g_strdup_printf ("/quantize/place/%s", places[i].settings);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), check_place);
    }
  for (guint i = 0; i < G_N_ELEMENTS (formers); i++)
    {
      g_autofree char *path = g_strdup_printf ("/quantize/former/%u", i);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), check_former);
    }
  for (guint i = 0; i < G_N_ELEMENTS (alignments); i++)
    {
      g_autofree char *path = g_strdup_printf ("/quantize/align/%u-%s", i, alignments[i].op);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), check_alignment);
    }
  for (guint i = 0; i < G_N_ELEMENTS (unlike); i++)
    {
      g_autofree char *path = g_strdup_printf ("/quantize/unlike/%u", i);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), check_unlike);
    }
  g_test_add_func ("/quantize/rules/refused", test_refused);
  g_test_add_func ("/quantize/rules/refused-later", test_refused_later);
  g_test_add_func ("/quantize/nothing", test_nothing);
  return g_test_run ();
}
