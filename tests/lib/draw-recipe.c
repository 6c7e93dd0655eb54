/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "draw-recipe.h"

#include "vn-calibrate.h"
#include "vn-pass.h"

#include <math.h>

static char *
pick (GRand *rand,
      char **words)
{
  return words[g_rand_int_range (rand, 0, (gint32) g_strv_length (words))];
}

static const VnNode *
pick_node (GRand         *rand,
           const VnModel *model)
{
  GPtrArray *nodes = model->graph->nodes;

  return g_ptr_array_index (nodes, (guint) g_rand_int_range (rand, 0, (gint32) nodes->len));
}

/* The name of a value that some node reads or gives. */
static char *
draw_value_name (GRand         *rand,
                 const VnModel *model)
{
  const VnNode *node = pick_node (rand, model);
  GPtrArray *values = g_rand_boolean (rand) && node->inputs->len > 0 ? node->inputs : node->outputs;
  const VnValue *value = g_ptr_array_index (values, (guint) g_rand_int_range (rand, 0, (gint32) values->len));

  return value != NULL ? g_strdup (value->name) : draw_value_name (rand, model);
}

/* Names that a list may hold: of a node, its operator, what it computes, or an input of the network. Nine in ten are of the
 * kind that the setting speaks of. */
static char *
draw_name (GRand           *rand,
           const VnModel   *model,
           const VnSetting *setting)
{
  const VnNode *node = pick_node (rand, model);
  const VnValue *out = vn_node_get_output (node, 0);
  gboolean fits = g_rand_double (rand) < 0.9;

  if (fits && g_str_has_suffix (setting->id, "-nodes"))
    return vn_node_dup_label (node);
  if (fits && g_str_has_suffix (setting->id, "-types"))
    return g_strdup (node->op_type);
  if (fits && g_str_has_suffix (setting->id, "-outputs"))
    return g_strdup (((const VnValue *) g_ptr_array_index (model->graph->outputs, 0))->name);
  switch (g_rand_int_range (rand, 0, 4))
    {
    case 0:
      return vn_node_dup_label (node);
    case 1:
      return g_strdup (node->op_type);
    case 2:
      return g_strdup (((const VnValue *) g_ptr_array_index (model->graph->inputs, 0))->name);
    default:
      return g_strdup (out != NULL ? out->name : node->op_type);
    }
}

static char *
draw_pass (GRand *rand)
{
  guint n;
  const VnPass * const *passes = vn_pass_list (&n);
  const VnPass *pass;

  do
    pass = passes[g_rand_int_range (rand, 0, (gint32) n)];
  while (pass->stage == VN_PASS_ALWAYS);
  return g_strdup (g_rand_double (rand) < 0.1 ? "none" : pass->id);
}

/* An operator and one that reads what it gives. */
static char *
draw_fusion (GRand         *rand,
             const VnModel *model)
{
  const VnNode *node = pick_node (rand, model);
  const VnValue *out = vn_node_get_output (node, 0);

  if (out == NULL || out->uses->len == 0)
    return g_strdup ("none");
  return g_strconcat (node->op_type, "+", g_array_index (out->uses, VnUse, 0).node->op_type, NULL);
}

/* What a rule is about, and numbers that only go together. */
static const char * const lists_of_rules[] = {
  "from", "to", "tensors", "min", "max", "scale", "zero-point", "receivers", "convert-min", "convert-max", "convert-scale",
  "convert-zero-point", NULL
};

static char *
draw_element (GRand           *rand,
              const VnModel   *model,
              const VnSetting *setting)
{
  if (setting->choices != NULL)
    return g_strdup (pick (rand, (char **) setting->choices));
  if (g_str_equal (setting->id, "truncate") && g_rand_double (rand) < 0.8)
    return draw_value_name (rand, model);
  if (g_str_equal (setting->id, "passes"))
    return draw_pass (rand);
  if (g_str_equal (setting->id, "fuse"))
    return draw_fusion (rand, model);
  if (g_str_equal (setting->id, "channel-axes"))
    return g_strdup_printf ("%s=%d", pick_node (rand, model)->op_type, g_rand_int_range (rand, 0, 2));
  return draw_name (rand, model, setting);
}

static char **
draw_number (GRand  *rand,
             double  lowest,
             double  highest)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  return g_strsplit (g_ascii_formatd (text, sizeof text, "%.6g", g_rand_double_range (rand, lowest, highest)), "\n", 1);
}

/* Either a range, or a scale with its zero point, or part of these, or nothing. */
static void
draw_range (GRand   *rand,
            char  ***min,
            char  ***max,
            char  ***scale,
            char  ***zero_point)
{
  gint32 kind = g_rand_int_range (rand, 0, 5);
  char zero[16];

  if (kind == 0 || kind == 1)
    *min = draw_number (rand, -4, 0.5);
  if (kind == 0 || kind == 2)
    *max = draw_number (rand, -0.5, 4);
  if (kind != 3)
    return;
  *scale = draw_number (rand, 1e-4, 0.1);
  g_snprintf (zero, sizeof zero, "%d", g_rand_boolean (rand) ? 0 : g_rand_int_range (rand, -128, 256));
  *zero_point = g_strsplit (zero, "\n", 1);
}

void
draw_tensor_rule (GRand         *rand,
                  const VnModel *model,
                  VnOverride    *rule)
{
  g_autofree char *name = draw_value_name (rand, model);

  rule->tensors = g_strsplit (name, "\n", 1);
  draw_range (rand, &rule->min, &rule->max, &rule->scales, &rule->zero_points);
  if (rule->convert != VN_DTYPE_UNDEFINED)
    {
      draw_range (rand, &rule->convert_min, &rule->convert_max, &rule->convert_scale, &rule->convert_zero_point);
      if (g_rand_boolean (rand))
        {
          g_autofree char *label = vn_node_dup_label (pick_node (rand, model));

          g_strfreev (rule->receivers);
          rule->receivers = g_strsplit (label, "\n", 1);
        }
    }
}

char *
draw_ranges (GRand         *rand,
             const VnModel *model)
{
  g_autoptr(GString) text = g_string_new ("{");

  for (guint n = (guint) g_rand_int_range (rand, 1, 6); n > 0; n--)
    {
      g_autofree char *name = draw_value_name (rand, model);
      char low[G_ASCII_DTOSTR_BUF_SIZE], high[G_ASCII_DTOSTR_BUF_SIZE];

      g_ascii_formatd (low, sizeof low, "%.6g", g_rand_double_range (rand, -4, 0.5));
      g_ascii_formatd (high, sizeof high, "%.6g", g_rand_double_range (rand, 0.5, 4));
      g_string_append_printf (text, "%s\"%s\": [%s, %s]", text->len > 1 ? ", " : "", name, low, high);
    }
  g_string_append (text, "}\n");
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static char *
draw_double (GRand           *rand,
             const VnSetting *setting)
{
  double least = MAX (setting->min, 1e-30);

  if (g_rand_boolean (rand) && setting->max / least > 1e3)
    return g_strdup_printf ("%g", exp (g_rand_double_range (rand, log (least), log (setting->max))));
  return g_strdup_printf ("%g", g_rand_double_range (rand, setting->min, MIN (setting->max, setting->min * 10 + 100)));
}

/* A million steps of training take hours. */
#define MOST_STEPS 23

static char *
draw_int (GRand           *rand,
          const VnSetting *setting)
{
  gint32 power = 1 << g_rand_int_range (rand, 0, 20);

  if (g_str_has_prefix (setting->id, "train-") && power > MOST_STEPS)
    power = MOST_STEPS;

  if (g_rand_boolean (rand) && power >= setting->min && power <= setting->max)
    return g_strdup_printf ("%d", power);
  return g_strdup_printf ("%d", g_rand_int_range (rand, (gint32) setting->min, (gint32) MIN (setting->max, 23)));
}

char *
draw_setting_value (GRand           *rand,
                    const VnModel   *model,
                    const VnSetting *setting)
{
  guint n;
  const VnRangeMethod * const *methods = vn_range_method_list (&n);
  VnDType types[VN_N_DTYPES];
  guint n_types = 0;

  switch (setting->type)
    {
    case VN_SETTING_BOOL:
      return g_strdup (g_rand_boolean (rand) ? "true" : "false");
    case VN_SETTING_ENUM:
      return g_strdup (pick (rand, (char **) setting->choices));
    case VN_SETTING_DTYPE:
      for (guint i = 1; i < VN_N_DTYPES; i++)
        if (setting->dtypes & (G_GUINT64_CONSTANT (1) << i))
          types[n_types++] = (VnDType) i;
      return g_strdup (vn_dtype_get_name (types[g_rand_int_range (rand, 0, (gint32) n_types)]));
    case VN_SETTING_DOUBLE:
      return draw_double (rand, setting);
    case VN_SETTING_INT:
      return draw_int (rand, setting);
    case VN_SETTING_LIST:
      return g_strv_contains (lists_of_rules, setting->id) || g_str_equal (setting->id, "ranges")
             ? NULL : draw_element (rand, model, setting);
    case VN_SETTING_STRING:
      return setting->check == vn_range_method_check ? g_strdup (methods[g_rand_int_range (rand, 0, (gint32) n)]->id) : NULL;
    default:
      return NULL;
    }
}

void
draw_settings (GRand           *rand,
               const VnModel   *model,
               const VnSetting *settings,
               guint            n,
               gpointer         object,
               double           share)
{
  for (guint i = 0; i < n; i++)
    {
      gboolean drawn = settings[i].stage != VN_SETTING_STAGE_MEASURE && g_rand_double (rand) < share;
      g_autofree char *text = drawn ? draw_setting_value (rand, model, &settings[i]) : NULL;

      if (text != NULL && !vn_setting_parse (&settings[i], object, text, NULL))
        {
          vn_setting_clear (&settings[i], object);
          vn_setting_reset (&settings[i], object);
        }
    }
}
