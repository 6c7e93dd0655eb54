/* SPDX-License-Identifier: GPL-3.0-or-later */

/* recipe-random SEED MODEL FILE: writes a random recipe that validates: any settings of vn-settings.def, with values out of
 * what the table allows, and rules about nodes, regions and tensors of the network; maybe with FILE.ranges, a table of ranges.
 *
 * recipe-random --models FOLDER: writes the networks of mixed-models.h there.
 *
 * recipe-random --preset PRESET FILE: writes a recipe that says no more than its preset.
 *
 * recipe-random --wrong: lists values that settings must refuse: "recipe" or "rule", the id, the value as JSON, and what is
 * allowed, with tabulators between. */

#include "draw-recipe.h"
#include "mixed-models.h"

#include "vn-jobs.h"
#include "vn-quantize.h"
#include "vn-setting.h"

#include <math.h>
#include <stdlib.h>

static void
draw_subject (GRand      *rand,
              VnModel    *model,
              VnOverride *rule)
{
  GPtrArray *nodes = model->graph->nodes;
  const VnNode *node = g_ptr_array_index (nodes, (guint) g_rand_int_range (rand, 0, (gint32) nodes->len));
  const VnNode *last = g_ptr_array_index (nodes, (guint) g_rand_int_range (rand, (gint32) node->index, (gint32) nodes->len));
  const VnValue *in = vn_node_get_input (node, 0), *out = vn_node_get_output (last, 0);

  switch (g_rand_int_range (rand, 0, 4))
    {
    case 0:
      draw_tensor_rule (rand, model, rule);
      return;
    case 1:
      rule->pattern = g_strconcat (g_rand_boolean (rand) ? "type:" : "computed:", node->op_type, NULL);
      return;
    case 2:
      rule->pattern = vn_node_dup_label (node);
      return;
    default:
      if (in == NULL || out == NULL)
        rule->pattern = g_strdup ("*");
      else
        {
          rule->in_edges = g_strsplit (in->name, "\n", 1);
          rule->out_edges = g_strsplit (out->name, "\n", 1);
        }
    }
}

/* What cannot be said of such a subject. */
static void
clear_others (VnOverride *rule)
{
  if (rule->tensors != NULL)
    {
      rule->rounding = rule->bias_correction = VN_AS_RECIPE;
      rule->float_results = FALSE;
      return;
    }
  rule->symmetric = rule->reduce_range = rule->per_channel = rule->convert_symmetric = VN_AS_RECIPE;
  rule->axis = VN_AXIS_AS_RECIPE;
  rule->convert = VN_DTYPE_UNDEFINED;
}

static VnRecipe *
draw_recipe (GRand   *rand,
             VnModel *model)
{
  guint n, n_presets, n_rules = (guint) g_rand_int_range (rand, 0, 4);
  const VnPreset * const *presets = vn_preset_list (&n_presets);
  VnRecipe *recipe = vn_recipe_new (presets[g_rand_int_range (rand, 0, (gint32) n_presets)]->id);
  const VnSetting *settings = vn_setting_list_of_recipe (&n);

  draw_settings (rand, model, settings, n, recipe, 0.25);
  settings = vn_setting_list_of_rule (&n);
  for (guint i = 0; i < n_rules; i++)
    {
      VnOverride *rule = vn_override_new ();

      draw_settings (rand, model, settings, n, rule, 0.15);
      draw_subject (rand, model, rule);
      clear_others (rule);
      g_ptr_array_add (recipe->overrides, rule);
    }
  return recipe;
}

static void
print_wrong (const char      *where,
             const VnSetting *setting)
{
  g_autofree char *allowed = vn_setting_dup_allowed (setting);

  switch (setting->type)
    {
    case VN_SETTING_INT:
    case VN_SETTING_DOUBLE:
      if (floor (setting->min - 1) != setting->def)
        g_print ("%s\t%s\t%.17g\t%s\n", where, setting->id, floor (setting->min - 1), allowed);
      g_print ("%s\t%s\t%.17g\t%s\n", where, setting->id, ceil (setting->max + 1), allowed);
      g_print ("%s\t%s\t\"nonsense\"\ta number\n", where, setting->id);
      break;
    case VN_SETTING_BOOL:
    case VN_SETTING_ENUM:
    case VN_SETTING_DTYPE:
      g_print ("%s\t%s\t\"nonsense\"\t%s\n", where, setting->id, allowed);
      break;
    case VN_SETTING_STRING:
      if (g_str_equal (setting->id, "name"))
        g_print ("%s\t%s\t\"  \"\ta name cannot consist\n", where, setting->id);
      else if (setting->check != NULL)
        g_print ("%s\t%s\t\"nonsense\"\tminmax, average\n", where, setting->id);
      g_print ("%s\t%s\t7\ta string\n", where, setting->id);
      break;
    default:
      g_print ("%s\t%s\t7\tan array\n", where, setting->id);
    }
}

static int
list_wrong (void)
{
  guint n;
  const VnSetting *settings = vn_setting_list_of_recipe (&n);

  for (guint i = 0; i < n; i++)
    print_wrong ("recipe", &settings[i]);
  settings = vn_setting_list_of_rule (&n);
  for (guint i = 0; i < n; i++)
    print_wrong ("rule", &settings[i]);
  return 0;
}

static int
write_models (const char *folder)
{
  const struct { const char *name; VnModel *(*make) (void); } models[] = {
    { "mixed_pictures.onnx", mixed_model_pictures }, { "mixed_words.onnx", mixed_model_words },
    { "mixed_biased.onnx", mixed_model_biased },
  };
  g_autoptr(GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (models) && error == NULL; i++)
    {
      g_autofree char *path = g_build_filename (folder, models[i].name, NULL);
      g_autoptr(VnModel) model = models[i].make ();

      vn_onnx_write_file (model, path, NULL, NULL, &error);
    }
  if (error != NULL)
    g_printerr ("%s\n", error->message);
  return error != NULL;
}

static int
write_preset (const char *preset,
              const char *path)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnRecipe) recipe = vn_preset_find (preset, &error) != NULL ? vn_recipe_new (preset) : NULL;

  if (recipe != NULL && vn_recipe_save (recipe, path, &error))
    return 0;
  g_printerr ("%s\n", error->message);
  return 1;
}

/* Saves @recipe, and one in five times a table of ranges with it. */
static gboolean
save_recipe (GRand       *rand,
             VnModel     *model,
             VnRecipe    *recipe,
             const char  *path,
             GError     **error)
{
  if (g_rand_double (rand) < 0.2)
    {
      g_autofree char *ranges = draw_ranges (rand, model);

      g_clear_pointer (&recipe->ranges, g_strfreev);
      recipe->ranges = g_new0 (char *, 2);
      recipe->ranges[0] = g_strconcat (path, ".ranges", NULL);
      if (!g_file_set_contents (recipe->ranges[0], ranges, -1, error))
        return FALSE;
    }
  return vn_recipe_save (recipe, path, error);
}

int
main (int   argc,
      char *argv[])
{
  g_autoptr(GRand) rand = argc == 4 ? g_rand_new_with_seed ((guint32) strtoul (argv[1], NULL, 10)) : NULL;
  g_autoptr(VnModel) model = NULL;
  g_autoptr(GError) error = NULL;

  if (argc == 2 && g_str_equal (argv[1], "--wrong"))
    return list_wrong ();
  if (argc == 3 && g_str_equal (argv[1], "--models"))
    return write_models (argv[2]);
  if (argc == 4 && g_str_equal (argv[1], "--preset"))
    return write_preset (argv[2], argv[3]);
  if (rand == NULL)
    return 2;
  model = vn_onnx_read_file (argv[2], &error);
  for (guint i = 0; model != NULL && i < 10000; i++)
    {
      g_autoptr(VnRecipe) recipe = draw_recipe (rand, model);

      if (!vn_recipe_validate (recipe, NULL))
        continue;
      if (save_recipe (rand, model, recipe, argv[3], &error))
        return 0;
      break;
    }
  g_printerr ("%s\n", error != NULL ? error->message : "no recipe is valid");
  return 1;
}
