/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vn-format-traits.h"
#include "vn-graph-edit.h"
#include "vn-quantize.h"
#include "vn-recipe-rules.h"
#include "vn-setting.h"

#include "vn-error.h"

#include <string.h>

static void
test_presets (void)
{
  guint n;
  const VnPreset * const *presets = vn_preset_list (&n);
  g_autoptr(GError) error = NULL;

  g_assert_cmpuint (n, >=, 1);
  g_assert_cmpstr (presets[0]->id, ==, "cpu");
  for (guint i = 0; i < n; i++)
    {
      g_autoptr(VnRecipe) recipe = vn_recipe_new (presets[i]->id);

      g_test_message ("%s: %s / %s", presets[i]->id, vn_dtype_get_name (recipe->activation),
                      vn_dtype_get_name (recipe->weight));
      vn_recipe_validate (recipe, &error);
      g_assert_no_error (error);
      g_assert_cmpstr (recipe->preset, ==, presets[i]->id);
      g_assert_true (vn_preset_find (presets[i]->id, NULL) == presets[i]);
      for (guint k = 0; k < i; k++)
        g_assert_cmpstr (presets[i]->id, !=, presets[k]->id);
    }

  g_assert_null (vn_preset_find ("gpu", &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
}

/* "OP:TYPE=MIN,MAX" */
static void
test_fixed_ranges (void)
{
  static const struct { const char *text; gboolean good; } cases[] = {
    { "Sigmoid:uint16=0,0.99", TRUE }, { "Tanh:s8=-1,1", TRUE }, { "Tanh:float32=-1,1", FALSE }, { "Tanh:uint8=1,-1", FALSE },
    { "Tanh:uint8=0", FALSE }, { "Tanh:uint8=0,1,2", FALSE }, { ":uint8=0,1", FALSE }, { "NoSuchOp:uint8=0,1", FALSE },
    { "Tanh:uint8=nan,1", FALSE }, { "Tanh:uint8=,1", FALSE },
  };
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
  double min = 5, max = 6;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_true (vn_recipe_set (recipe, "fixed-ranges", cases[i].text, NULL) == cases[i].good);
  g_assert_true (vn_recipe_get_fixed_range (recipe, "Sigmoid", VN_DTYPE_U16, &min, &max));
  g_assert_cmpfloat (min, ==, 0);
  g_assert_cmpfloat (max, ==, 0.99);
  g_assert_false (vn_recipe_get_fixed_range (recipe, "Sigmoid", VN_DTYPE_U8, &min, &max));
  g_assert_false (vn_recipe_get_fixed_range (recipe, "Sig", VN_DTYPE_U16, &min, &max));
}

/* The default of AMD's quantizer for scales that are powers of two, as its tutorial says. */
static void
test_power_presets (void)
{
  static const char * const ids[] = { "fixneuron", "npu-cnn" };

  for (guint i = 0; i < G_N_ELEMENTS (ids); i++)
    {
      g_autoptr(VnRecipe) recipe = vn_recipe_new (ids[i]);

      g_assert_cmpstr (recipe->method, ==, "minmse");
      g_assert_cmpstr (recipe->weight_method, ==, "minmse");
    }
}

/* The processor that runs them has scales per channel unasked; presets that follow another program have its default. */
static void
test_channel_presets (void)
{
  static const char * const channels[] = { "cpu", "cpu-s8", "xquant", "a16w8", "w8", NULL };
  guint n;
  const VnPreset * const *presets = vn_preset_list (&n);

  for (guint i = 0; i < n; i++)
    {
      g_autoptr(VnRecipe) recipe = vn_recipe_new (presets[i]->id);

      g_assert_cmpint (vn_recipe_has_channels (recipe), ==, g_strv_contains (channels, presets[i]->id));
    }
}

static void
test_patterns (void)
{
  static const struct
  {
    const char *pattern;
    gboolean    named, unnamed, brackets;
  } cases[] = {
    { "/head/conv",    TRUE,  FALSE, FALSE },
    { "/head/*",       TRUE,  FALSE, TRUE },
    { "/head/con?",    TRUE,  FALSE, FALSE },
    { "/head",         FALSE, FALSE, FALSE },
    { "*",             TRUE,  TRUE,  TRUE },
    { "type:Conv",     TRUE,  FALSE, FALSE },
    { "type:conv",     FALSE, FALSE, FALSE },
    { "type:*l*",      FALSE, TRUE,  TRUE },
    { "type:",         FALSE, FALSE, FALSE },
    { "Relu #1",       FALSE, TRUE,  FALSE },
    { "Relu #*",       FALSE, TRUE,  FALSE },
    { "Relu",          FALSE, FALSE, FALSE },
    { "/head/a[0]*b",  FALSE, FALSE, TRUE },
  };
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  VnValue *x = vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, NULL);
  VnValue *values[3];
  VnNode *nodes[3];

  for (guint i = 0; i < 3; i++)
    values[i] = vn_graph_add_value (model->graph, NULL, VN_DTYPE_F32, NULL);
  nodes[0] = vn_graph_add_node (model->graph, "/head/conv", "", "Conv", &x, 1, &values[0], 1);
  nodes[1] = vn_graph_add_node (model->graph, NULL, "", "Relu", &x, 1, &values[1], 1);
  nodes[2] = vn_graph_add_node (model->graph, "/head/a[0]*b", "", "Relu", &x, 1, &values[2], 1);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *pattern = g_strdup (cases[i].pattern);
      VnOverride rule = { .pattern = pattern, .enabled = TRUE };

      g_test_message ("%s: %d %d %d", pattern, vn_override_matches (&rule, nodes[0]),
                      vn_override_matches (&rule, nodes[1]), vn_override_matches (&rule, nodes[2]));
      g_assert_cmpint (vn_override_matches (&rule, nodes[0]), ==, cases[i].named);
      g_assert_cmpint (vn_override_matches (&rule, nodes[1]), ==, cases[i].unnamed);
      g_assert_cmpint (vn_override_matches (&rule, nodes[2]), ==, cases[i].brackets);
    }
}

static void
test_copy (void)
{
  const char *edges[] = { "a", "b", NULL };
  g_autoptr(VnRecipe) a = vn_recipe_new (NULL);
  g_autoptr(VnRecipe) b = NULL;
  VnOverride *rule;

  rule = vn_recipe_add_exclude (a, "type:Softmax");
  g_assert_true (rule->enabled && rule->exclude);
  rule = vn_recipe_add_exclude (a, "x");
  g_clear_pointer (&rule->pattern, g_free);
  rule->in_edges = g_strdupv ((char **) edges);
  rule->exclude = FALSE;
  rule->method = g_strdup ("minmax");

  b = vn_recipe_copy (a);
  g_assert_true (vn_recipe_equal (a, b));
  g_assert_true (rule->in_edges != ((VnOverride *) g_ptr_array_index (b->overrides, 1))->in_edges);
  g_clear_pointer (&a, vn_recipe_free);

  a = vn_recipe_copy (b);
  a->percentile = 99;
  g_assert_false (vn_recipe_equal (a, b));
  a->percentile = b->percentile;
  g_assert_true (vn_recipe_equal (a, b));
  ((VnOverride *) g_ptr_array_index (a->overrides, 1))->enabled = FALSE;
  g_assert_false (vn_recipe_equal (a, b));

  g_assert_true (vn_recipe_remove_exclude (b, "type:Softmax"));
  g_assert_false (vn_recipe_remove_exclude (b, "type:Softmax"));
  g_assert_cmpuint (b->overrides->len, ==, 1);
}

static void
test_validate (void)
{
  enum { ACTIVATION, WEIGHT, METHOD, PERCENTILE, OPSET, FORMAT, PATTERN, BOTH, NEITHER, RULE_TYPE, INTEGERS, NONE };
  static const struct
  {
    int         change;
    int         value;
    VnError     code;
    gboolean    ok;
    const char *text;
  } cases[] = {
    { NONE,       0,                   0,                    TRUE,  NULL },
    { ACTIVATION, VN_DTYPE_F16,        VN_ERROR_SETTING,     FALSE, "float16" },
    { ACTIVATION, VN_DTYPE_U4,         VN_ERROR_SETTING,     FALSE, "uint4" },
    { ACTIVATION, VN_DTYPE_UNDEFINED,  VN_ERROR_SETTING,     FALSE, "undefined" },
    { WEIGHT,     VN_DTYPE_S4,         0,                    TRUE,  NULL },
    { WEIGHT,     VN_DTYPE_S32,        VN_ERROR_SETTING,     FALSE, "int32" },
    { METHOD,     0,                   VN_ERROR_SETTING,     FALSE, "nonsense" },
    { PERCENTILE, 20,                  VN_ERROR_SETTING,     FALSE, "20" },
    { PERCENTILE, 99,                  0,                    TRUE,  NULL },
    { OPSET,      9,                   VN_ERROR_SETTING,     FALSE, "9" },
    { OPSET,      15,                  0,                    TRUE,  NULL },
    { FORMAT,     VN_FORMAT_FIXNEURON, VN_ERROR_SETTING, FALSE, "int8, int16" },
    { INTEGERS,   VN_DTYPE_S16,        VN_ERROR_SETTING,     FALSE, "qoperator" },
    { INTEGERS,   VN_DTYPE_U8,         0,                    TRUE,  NULL },
    { PATTERN,    0,                   VN_ERROR_SETTING,     FALSE, "rule 1" },
    { BOTH,       0,                   0,                    TRUE,  NULL },
    { NEITHER,    0,                   VN_ERROR_SETTING,     FALSE, "rule 1" },
    { RULE_TYPE,  VN_DTYPE_F64,        VN_ERROR_SETTING,     FALSE, "rule 1" },
    { RULE_TYPE,  VN_DTYPE_U16,        0,                    TRUE,  NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
      g_autoptr(GError) error = NULL;
      const char *edges[] = { "a", NULL };
      gboolean ok;

      if (cases[i].change == ACTIVATION)
        recipe->activation = cases[i].value;
      else if (cases[i].change == WEIGHT)
        recipe->weight = cases[i].value;
      else if (cases[i].change == METHOD)
        recipe->method = (g_free (recipe->method), g_strdup ("nonsense"));
      else if (cases[i].change == PERCENTILE)
        recipe->percentile = cases[i].value;
      else if (cases[i].change == OPSET)
        recipe->opset = cases[i].value;
      else if (cases[i].change == FORMAT)
        recipe->format = cases[i].value;
      else if (cases[i].change == INTEGERS)
        {
          recipe->format = VN_FORMAT_QOPERATOR;
          recipe->weight = cases[i].value == VN_DTYPE_U8 ? VN_DTYPE_U8 : VN_DTYPE_S8;
          recipe->activation = cases[i].value;
        }
      else if (cases[i].change == PATTERN)
        vn_recipe_add_exclude (recipe, "");
      else if (cases[i].change == BOTH)
        vn_recipe_add_exclude (recipe, "x")->in_edges = g_strdupv ((char **) edges);
      else if (cases[i].change == NEITHER)
        g_clear_pointer (&vn_recipe_add_exclude (recipe, "x")->pattern, g_free);
      else if (cases[i].change == RULE_TYPE)
        vn_recipe_add_exclude (recipe, "x")->activation = cases[i].value;

      ok = vn_recipe_validate (recipe, &error);
      g_test_message ("case %u: %s", i, error != NULL ? error->message : "ok");
      g_assert_cmpint (ok, ==, cases[i].ok);
      g_assert_cmpint (ok, ==, error == NULL);
      if (!ok && cases[i].text != NULL)
        g_assert_nonnull (strstr (error->message, cases[i].text));
      if (!ok && cases[i].change != METHOD)
        g_assert_error (error, VN_ERROR, (int) cases[i].code);
    }
}

/* A text that @setting accepts and that is not its default. */
static char *
make_other (const VnSetting *setting)
{
  static const char * const elements[] = { "none", "2.5", "MatMul=1", "Tanh:int8=-1,1" };

  switch (setting->type)
    {
    case VN_SETTING_BOOL:
      return g_strdup (setting->def != 0 ? "false" : "true");
    case VN_SETTING_ENUM:
      return g_strdup (setting->choices[1]);
    case VN_SETTING_DTYPE:
      for (guint i = 1; i < VN_N_DTYPES; i++)
        if ((setting->dtypes >> i & 1) && i != setting->def)
          return g_strdup (vn_dtype_get_name ((VnDType) i));
      return NULL;
    case VN_SETTING_STRING:
      return g_strdup (setting->check != NULL ? "percentile" : "some text");
    case VN_SETTING_LIST:
      if (setting->choices != NULL)
        return g_strdup (setting->choices[1]);
      for (guint i = 0; setting->check != NULL && i < G_N_ELEMENTS (elements); i++)
        if (setting->check (elements[i], NULL))
          return g_strdup (elements[i]);
      return g_strdup ("one, two");
    default:
      return g_strdup_printf ("%.0f", setting->max);
    }
}

static void
try_setting (const VnSetting *setting,
             gpointer         a,
             gpointer         b)
{
  g_autofree char *other = make_other (setting), *text = NULL, *allowed = vn_setting_dup_allowed (setting);
  g_autoptr(GError) error = NULL;

  g_test_message ("%s: %s (%s)", setting->id, other, allowed);
  vn_setting_reset (setting, a);
  vn_setting_reset (setting, b);
  g_assert_true (vn_setting_equal (setting, a, b) && vn_setting_is_default (setting, a));
  g_assert_true (vn_setting_parse (setting, a, other, &error));
  g_assert_no_error (error);
  g_assert_false (vn_setting_equal (setting, a, b) || vn_setting_is_default (setting, a));
  text = vn_setting_dup_text (setting, a);
  g_assert_cmpstr (text, ==, other);
  if (setting->type != VN_SETTING_STRING && setting->type != VN_SETTING_LIST)
    {
      g_assert_false (vn_setting_parse (setting, b, "nonsense", &error));
      g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
      g_assert_nonnull (strstr (error->message, setting->id));
      g_assert_nonnull (strstr (error->message, "nonsense"));
    }
  vn_setting_clear (setting, a);
  vn_setting_clear (setting, b);
}

static void
test_settings (void)
{
  VnRecipe recipes[2] = { 0 };
  VnOverride rules[2] = { 0 };
  guint n;
  const VnSetting *settings = vn_setting_list_of_recipe (&n);

  for (guint i = 0; i < n; i++)
    try_setting (&settings[i], &recipes[0], &recipes[1]);
  settings = vn_setting_list_of_rule (&n);
  for (guint i = 0; i < n; i++)
    try_setting (&settings[i], &rules[0], &rules[1]);
}

/* Help and window show every setting: each is in a group, and no group is empty. */
static void
test_groups (void)
{
  guint n, counts[VN_N_SETTING_GROUPS] = { 0 };
  const VnSetting *settings = vn_setting_list_of_recipe (&n);

  for (guint i = 0; i < n; i++)
    counts[vn_setting_get_group (&settings[i])]++;
  for (guint i = 0; i < VN_N_SETTING_GROUPS; i++)
    {
      g_assert_cmpuint (counts[i], >, 0);
      g_assert_cmpuint (strlen (vn_setting_group_get_id ((VnSettingGroup) i)), >, 0);
      g_assert_cmpuint (strlen (vn_setting_group_get_title ((VnSettingGroup) i)), >, 0);
    }
}

static void
test_set (void)
{
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
  g_autoptr(VnRecipe) before = vn_recipe_copy (recipe);
  g_autoptr(GError) error = NULL;

  g_assert_false (vn_recipe_set (recipe, "percentile", "20", &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
  g_assert_nonnull (strstr (error->message, "50 to 100"));
  g_clear_error (&error);
  g_assert_false (vn_recipe_set (recipe, "percentil", "99", &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
  g_clear_error (&error);
  g_assert_true (vn_recipe_equal (recipe, before));

  g_assert_true (vn_recipe_set (recipe, "percentile", "99", &error));
  g_assert_cmpfloat (recipe->percentile, ==, 99);
  g_assert_false (vn_recipe_equal (recipe, before));
}

/* What AMD's quantizers do together comes together. */
static void
test_powers (void)
{
  static const struct
  {
    const char  *method, *weight_method, *power;
    const char  *weights;
    VnPowerOfTwo expected;
    const char  *note;       /* subject of the first; NULL: none */
    guint        n_notes;
  } cases[] = {
    { "minmax", "", "off", "minmax", VN_POWER_OF_TWO_OFF, NULL, 0 },
    { "minmse", "", "off", "minmse", VN_POWER_OF_TWO_NEAREST, "method", 1 },
    { "nonoverflow", "", "off", "nonoverflow", VN_POWER_OF_TWO_NEAREST, "method", 2 },
    { "minmse", "mse", "off", "mse", VN_POWER_OF_TWO_NEAREST, "method", 1 },
    { "minmse", "", "nearest", "minmse", VN_POWER_OF_TWO_NEAREST, "method", 1 },
    { "minmse", "minmse", "nearest", "minmse", VN_POWER_OF_TWO_NEAREST, NULL, 0 },
    { "minmax", "", "nearest", "minmax", VN_POWER_OF_TWO_NEAREST, "power-of-two", 1 },
    { "minmax", "", "ppq", "minmax", VN_POWER_OF_TWO_PPQ, NULL, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
      g_autoptr(VnNotes) notes = vn_notes_new ();

      g_assert_true (vn_recipe_set (recipe, "method", cases[i].method, NULL));
      g_assert_true (vn_recipe_set (recipe, "weight-method", cases[i].weight_method, NULL));
      g_assert_true (vn_recipe_set (recipe, "power-of-two", cases[i].power, NULL));
      g_assert_cmpstr (vn_recipe_get_weight_method (recipe), ==, cases[i].weights);
      g_assert_cmpint (vn_recipe_get_power_of_two (recipe), ==, cases[i].expected);
      vn_recipe_note_implied_settings (recipe, notes);
      g_assert_cmpuint (vn_notes_get_n (notes), ==, cases[i].n_notes);
      if (cases[i].note != NULL)
        g_assert_cmpstr (vn_notes_get (notes, 0)->subject, ==, cases[i].note);
    }
}

static void
find_difference (const VnRecipe *recipe,
                 guint           i,
                 const char     *id,
                 const char     *value,
                 const char     *preset_value)
{
  g_autoptr(GPtrArray) list = vn_recipe_list_differences (recipe);
  const VnSettingDifference *row;

  g_assert_cmpuint (list->len, >, i);
  row = g_ptr_array_index (list, i);
  g_assert_cmpstr (row->id, ==, id);
  g_assert_cmpstr (row->value, ==, value);
  g_assert_cmpstr (row->preset_value, ==, preset_value);
  g_assert_true (row->title != NULL && (row->setting != NULL) == (preset_value != NULL));
}

static void
test_differences (void)
{
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("xquant");
  g_autoptr(GPtrArray) none = vn_recipe_list_differences (recipe);
  VnOverride *rule;
  g_autoptr(GError) error = NULL;

  g_assert_cmpuint (none->len, ==, 0);
  g_assert_true (vn_recipe_set (recipe, "percentile", "99.9", NULL) && vn_recipe_set (recipe, "channel-types", "", NULL));
  rule = vn_override_from_json ("{\"nodes\": \"type:Conv\", \"activation\": \"int16\"}", &error);
  g_assert_no_error (error);
  g_ptr_array_add (recipe->overrides, rule);
  find_difference (recipe, 0, "channel-types", "", "Conv");
  find_difference (recipe, 1, "percentile", "99.9", "99.99");
  find_difference (recipe, 2, "rules[0]", "{\"nodes\":\"type:Conv\",\"activation\":\"int16\"}", NULL);
  g_assert_null (vn_override_from_json ("{\"node\": \"type:Conv\"}", &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
}

static void
test_opset (void)
{
  static const struct
  {
    gint64      model;
    const char *preset;
    gboolean    per_channel;
    gint64      asked;
    VnDType     rule;         /* of a rule that gives some nodes another type; undefined: one that excludes them */
    gint64      opset;
  } cases[] = {
    { 7,  "cpu",   FALSE, 0,  VN_DTYPE_U8,        10 },
    { 7,  "cpu",   FALSE, 0,  VN_DTYPE_UNDEFINED, 11 },
    { 7,  "cpu",   TRUE,  0,  VN_DTYPE_UNDEFINED, 13 },
    { 12, "cpu",   FALSE, 0,  VN_DTYPE_UNDEFINED, 12 },
    { 17, "cpu",   TRUE,  0,  VN_DTYPE_UNDEFINED, 17 },
    { 12, "cpu",   FALSE, 15, VN_DTYPE_UNDEFINED, 15 },
    { 17, "cpu",   FALSE, 15, VN_DTYPE_UNDEFINED, 17 },
    { 12, "a16w8", FALSE, 0,  VN_DTYPE_UNDEFINED, 21 },
    { 12, "cpu",   FALSE, 0,  VN_DTYPE_U16,       21 },
    { 12, "cpu",   FALSE, 0,  VN_DTYPE_S8,        12 },
    { 22, "a16w8", FALSE, 0,  VN_DTYPE_UNDEFINED, 22 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnModel) model = vn_model_new (8, cases[i].model);
      g_autoptr(VnRecipe) recipe = vn_recipe_new (cases[i].preset);
      VnOverride *rule = vn_recipe_add_exclude (recipe, "x");

      rule->exclude = cases[i].rule == VN_DTYPE_UNDEFINED;
      rule->activation = cases[i].rule;
      recipe->per_channel = cases[i].per_channel;
      recipe->opset = cases[i].asked;
      g_test_message ("case %u: %" G_GINT64_FORMAT, i, vn_quantize_get_opset (model, recipe));
      g_assert_cmpint (vn_quantize_get_opset (model, recipe), ==, cases[i].opset);
    }
}

/* What can be listed is allowed, and the range methods have titles. */
static void
test_choices (void)
{
  guint n, n_listed = 0, n_titled = 0;
  const VnSetting *settings = vn_setting_list_of_recipe (&n);

  for (guint i = 0; i < n; i++)
    {
      g_autoptr(VnRecipe) recipe = vn_recipe_new (NULL);
      g_auto(GStrv) titles = NULL;
      g_auto(GStrv) choices = vn_setting_list_choices (&settings[i], &titles);

      for (guint k = 0; choices != NULL && choices[k] != NULL; k++)
        {
          g_autoptr(GError) error = NULL;
          g_autofree char *text = NULL;

          g_assert_true (vn_setting_parse (&settings[i], recipe, choices[k], &error));
          g_assert_no_error (error);
          text = vn_setting_dup_text (&settings[i], recipe);
          g_assert_cmpstr (text, ==, choices[k]);
          g_assert_nonnull (titles[k]);
          n_titled += !g_str_equal (titles[k], choices[k]);
        }
      n_listed += choices != NULL;
    }
  g_assert_cmpuint (n_listed, >=, 8);
  g_assert_cmpuint (n_titled, >, 20);
}

static void
test_formats (void)
{
  g_autofree char *blocks = vn_format_dup_names (VN_FORMAT_TRAIT (block_scales));
  g_autofree char *pairs = vn_format_dup_names (VN_FORMAT_TRAIT (has_pairs));
  guint n = 0;

  for (VnFormat format = 0; vn_format_check_number (format, NULL); format++, n++)
    {
      g_autofree char *quoted = g_strdup_printf ("“%s”", vn_format_get_traits (format)->id);

      g_assert_cmpint (vn_format_get_traits (format)->format, ==, format);
      g_assert_true ((strstr (blocks, quoted) != NULL) == vn_format_get_traits (format)->block_scales);
    }
  g_assert_cmpuint (n, >, 5);
  g_assert_cmpstr (blocks, ==, "“qdq”, “weights” and “matmulnbits”");
  g_assert_cmpstr (pairs, ==, "“qdq”");
  g_assert_cmpint (vn_format_find (VN_FORMAT_TRAIT (power_of_two_scales)), ==, VN_FORMAT_FIXNEURON);
  g_assert_cmpint (vn_format_find (VN_FORMAT_TRAIT (half_arithmetic)), ==, VN_FORMAT_FP16);
}

/* FixNeuron computes in float32. */
static void
test_fixed_point_bias (void)
{
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("fixneuron");
  g_autoptr(GError) error = NULL;

  g_assert_true (vn_recipe_validate (recipe, &error));
  g_assert_true (vn_recipe_set (recipe, "bias", "int32", &error));
  g_assert_false (vn_recipe_validate (recipe, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
  g_assert_nonnull (strstr (error->message, "bias"));
  g_clear_error (&error);
  g_assert_true (vn_recipe_set (recipe, "bias", "int16", &error));
  g_assert_true (vn_recipe_validate (recipe, &error));
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/quantize/recipe/presets", test_presets);
  g_test_add_func ("/quantize/recipe/fixed-ranges", test_fixed_ranges);
  g_test_add_func ("/quantize/recipe/power-presets", test_power_presets);
  g_test_add_func ("/quantize/recipe/channel-presets", test_channel_presets);
  g_test_add_func ("/quantize/recipe/patterns", test_patterns);
  g_test_add_func ("/quantize/recipe/copy", test_copy);
  g_test_add_func ("/quantize/recipe/validate", test_validate);
  g_test_add_func ("/quantize/recipe/settings", test_settings);
  g_test_add_func ("/quantize/recipe/groups", test_groups);
  g_test_add_func ("/quantize/recipe/set", test_set);
  g_test_add_func ("/quantize/recipe/powers", test_powers);
  g_test_add_func ("/quantize/recipe/differences", test_differences);
  g_test_add_func ("/quantize/recipe/opset", test_opset);
  g_test_add_func ("/quantize/recipe/choices", test_choices);
  g_test_add_func ("/quantize/recipe/formats", test_formats);
  g_test_add_func ("/recipe/fixed-point-bias", test_fixed_point_bias);
  return g_test_run ();
}
