/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recipes, single rules, how samples are prepared, configurations and numbers of other programs. */
#include "file-kinds.h"

#include "vn-config.h"
#include "vn-export-settings.h"
#include "vn-json.h"
#include "vn-load-preprocess.h"
#include "vn-node-data.h"

#include <math.h>
#include <string.h>

/* ---- recipes ---- */

void
check_recipe (const VnRecipe *recipe)
{
  g_autofree char *text = vn_recipe_to_json (recipe), *second = NULL;
  g_autoptr(GError) error = NULL;
  g_autoptr(VnRecipe) again = vn_recipe_from_json (text, "again", &error);
  g_autoptr(VnRecipe) copy = vn_recipe_copy (recipe);

  if (again == NULL)
    g_error ("what was written cannot be read: %s\n%s", error->message, text);
  second = vn_recipe_to_json (again);
  if (!vn_recipe_equal (recipe, again) || !g_str_equal (text, second))
    g_error ("what was written says something else:\n%s\n%s", text, second);
  require (vn_recipe_equal (recipe, copy), "a copy is not equal");
}

static void
check_exports (const VnRecipe *recipe)
{
  g_autoptr(VnModel) model = make_model ();
  g_autoptr(VnNotes) notes = vn_notes_new ();
  g_autoptr(VnDataSpec) data = vn_data_spec_new ("list \"of\\ 'pictures'.txt");
  g_autofree char *script = vn_recipe_to_ort_script (recipe, model, "m \"'\\.onnx", data, NULL, notes);
  g_autofree char *xquant = vn_recipe_to_xquant (recipe, model, "m.onnx", data, notes, notes);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnConfig) config = vn_config_parse (xquant, -1, "xquant", &error);

  require (g_utf8_validate (script, -1, NULL), "the script is not valid UTF-8");
  if (config == NULL)
    g_error ("the configuration cannot be read: %s\n%s", error->message, xquant);
}

gboolean
try_recipe (const guint8 *data,
            gsize         size)
{
  g_autofree char *text = g_strndup ((const char *) data, size);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnRecipe) recipe = vn_recipe_from_json (text, "recipe.json", &error);

  if (!check (recipe != NULL, &error))
    return FALSE;
  check_recipe (recipe);
  check_exports (recipe);
  return TRUE;
}

gboolean
try_rule (const guint8 *data,
          gsize         size)
{
  g_autofree char *text = g_strndup ((const char *) data, size), *written = NULL, *second = NULL;
  g_autoptr(GError) error = NULL;
  VnOverride *rule = vn_override_from_json (text, &error), *again;
  g_autoptr(VnRecipe) recipe = NULL;

  if (!check (rule != NULL, &error))
    return FALSE;
  written = vn_override_to_json (rule);
  again = vn_override_from_json (written, &error);
  if (again == NULL)
    g_error ("what was written cannot be read: %s\n%s", error->message, written);
  second = vn_override_to_json (again);
  if (!g_str_equal (written, second))
    g_error ("what was written says something else:\n%s\n%s", written, second);
  vn_override_free (again);
  recipe = vn_recipe_new (NULL);
  g_ptr_array_add (recipe->overrides, rule);
  if (check (vn_recipe_validate (recipe, &error), &error))
    check_recipe (recipe);
  return TRUE;
}

/* ---- samples, as they are prepared ---- */

gboolean
try_preprocess (const guint8 *data,
                gsize         size)
{
  g_autoptr(VnModel) model = make_model ();
  g_autoptr(VnDataSpec) present = vn_data_spec_new ("random");
  g_autoptr(GError) error = NULL;
  g_autoptr(VnDataSpec) spec = vn_load_preprocess (put_file (data, size), present, model, &error), again = NULL;
  g_autoptr(JsonNode) node = NULL, second = NULL;

  if (!check (spec != NULL, &error))
    return FALSE;
  require (!vn_data_spec_has_script (spec), "a script came along");
  node = vn_data_spec_to_json (spec, "/run");
  again = vn_data_spec_from_json (node, "again", "/run", &error);
  if (again == NULL)
    g_error ("what was written cannot be read: %s", error->message);
  second = vn_data_spec_to_json (again, "/run");
  require (json_node_equal (node, second), "what was written says something else");
  return TRUE;
}

/* ---- configurations ---- */

static gboolean
try_config (const char   *format,
            const guint8 *data,
            gsize         size)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnConfig) config = vn_config_parse ((const char *) data, (gssize) size, "config.json", &error);
  g_autoptr(VnModel) model = NULL;
  g_autoptr(VnDataSpec) spec = NULL;
  g_autoptr(GHashTable) shapes = NULL;

  if (!check (config != NULL, &error))
    return FALSE;
  check_recipe (config->recipe);
  model = make_model ();
  if (!check (vn_config_bind (config, model, size % 2 == 0, &error), &error))
    return g_str_equal (config->format, format);
  check_recipe (config->recipe);
  shapes = vn_config_make_shapes (config, model, &error);
  require (shapes == NULL || error == NULL, "sizes and an error");
  g_clear_error (&error);
  spec = vn_config_make_data (config, model, "random", &error);
  check (spec != NULL, &error);
  return g_str_equal (config->format, format);
}

#define TRY_CONFIG(name) \
  gboolean \
  try_config_##name (const guint8 *data, \
                     gsize         size) \
  { \
    return try_config (#name, data, size); \
  }

TRY_CONFIG (xquant)
TRY_CONFIG (amd)
TRY_CONFIG (subgraphs)
TRY_CONFIG (ort)

/* ---- numbers of nodes ---- */

/* Each name is one of a node or is told of, and what is known is finite but for sums. */
static gboolean
try_numbers (const guint8 *data,
             gsize         size)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnNodeData) given = vn_node_data_parse ((const char *) data, (gssize) size, "numbers", &error);
  g_autoptr(VnNodeNumbers) numbers = NULL;
  g_autoptr(VnModel) model = NULL;
  g_autofree char *note = NULL;
  guint n_known = 0;

  if (!check (given != NULL, &error))
    return FALSE;
  model = make_model ();
  numbers = vn_node_numbers_new (given, model->graph);
  for (guint i = 0; i < numbers->n; i++)
    {
      n_known += !isnan (numbers->values[i]);
      require (!isinf (numbers->values[i]) && (!given->is_time || !(numbers->values[i] < 0)), "a value that no file may give");
    }
  require (n_known == numbers->n_known, "values are counted wrong");
  note = vn_node_numbers_dup_note (numbers, "1 s");
  require (g_utf8_validate (note, -1, NULL) && *note != '\0', "a note that cannot be shown");
  return TRUE;
}

gboolean
try_node_data (const guint8 *data,
               gsize         size)
{
  return try_numbers (data, size);
}

gboolean
try_node_table (const guint8 *data,
                gsize         size)
{
  return try_numbers (data, size);
}
