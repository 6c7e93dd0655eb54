/* SPDX-License-Identifier: GPL-3.0-or-later */

/* quantize-run [OPTIONS] MODEL OUT.onnx OUT.json: quantizes a prepared model and writes the plan down, for tests that
 * compare with other programs. quantize-run --prepare OPSET MODEL OUT.onnx prepares one. Ranges come from a text file (name,
 * minimum, maximum, as hexadecimal floats), or from running the samples of a folder of .npy files, one per sample, through the
 * network. */

#include "vn-error.h"
#include "vn-onnx.h"
#include "vn-plan.h"
#include "vn-pass.h"
#include "vn-quant-write.h"
#include "vn-resolver.h"

#include <json-glib/json-glib.h>
#include <string.h>

static char *preset = NULL, *weight = NULL, *data_folder = NULL, *ranges_file = NULL, *recipe_file = NULL;
static char **settings = NULL, **excludes = NULL, **wide = NULL;
static int prepare_opset = 0;
static gboolean per_channel, symmetric, asymmetric_weights, reduce_range, operators, unit_ranges;

static const GOptionEntry entries[] = {
  { "prepare", 0, 0, G_OPTION_ARG_INT, &prepare_opset, "Only prepare for quantization, at this opset or the model's", "OPSET" },
  { "preset", 0, 0, G_OPTION_ARG_STRING, &preset, "Preset", "ID" },
  { "weight", 0, 0, G_OPTION_ARG_STRING, &weight, "Weight type", "TYPE" },
  { "asymmetric-weights", 0, 0, G_OPTION_ARG_NONE, &asymmetric_weights, "Zero points for weights", NULL },
  { "data", 0, 0, G_OPTION_ARG_FILENAME, &data_folder, "Folder of .npy samples of the only input", "DIR" },
  { "ranges", 0, 0, G_OPTION_ARG_FILENAME, &ranges_file, "Ranges of all tensors", "FILE" },
  { "unit-ranges", 0, 0, G_OPTION_ARG_NONE, &unit_ranges, "Take -1 .. 1 for every tensor", NULL },
  { "exclude", 0, 0, G_OPTION_ARG_STRING_ARRAY, &excludes, "Leave these nodes in float", "PATTERN" },
  { "recipe", 0, 0, G_OPTION_ARG_FILENAME, &recipe_file, "Follow this recipe, not the options", "FILE" },
  { "wide", 0, 0, G_OPTION_ARG_STRING_ARRAY, &wide, "Give these nodes uint16 activations", "PATTERN" },
  { "per-channel", 0, 0, G_OPTION_ARG_NONE, &per_channel, "Scales per channel", NULL },
  { "symmetric", 0, 0, G_OPTION_ARG_NONE, &symmetric, "Symmetric activations", NULL },
  { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &settings, "A setting of the recipe", "ID=VALUE" },
  { "reduce-range", 0, 0, G_OPTION_ARG_NONE, &reduce_range, "Reduce weight range", NULL },
  { "operators", 0, 0, G_OPTION_ARG_NONE, &operators, "List operators and whether they are quantized by default", NULL },
  { NULL }
};

static VnHistogram *
get_histogram (GHashTable *histograms,
               const char *name)
{
  VnHistogram *histogram = g_hash_table_lookup (histograms, name);

  if (histogram == NULL)
    {
      histogram = vn_histogram_new ();
      g_hash_table_insert (histograms, g_strdup (name), histogram);
    }
  return histogram;
}

/* ---- ranges from a file ---- */

static gboolean
read_ranges (GHashTable  *histograms,
             GError     **error)
{
  g_autoptr(VnHistogramScratch) scratch = vn_scratch_new ();
  g_autofree char *text = NULL;
  g_auto(GStrv) lines = NULL;

  if (!g_file_get_contents (ranges_file, &text, NULL, error))
    return FALSE;

  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL && *lines[i] != '\0'; i++)
    {
      g_auto(GStrv) fields = g_strsplit (lines[i], "\t", -1);
      float range[2];

      if (g_strv_length (fields) != 3)
        {
          g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, "%s: line %u has not three fields", ranges_file, i + 1);
          return FALSE;
        }
      range[0] = (float) g_ascii_strtod (fields[1], NULL);
      range[1] = (float) g_ascii_strtod (fields[2], NULL);
      vn_histogram_scan (get_histogram (histograms, fields[0]), scratch, range, 2);
    }
  return TRUE;
}

static gboolean
make_ranges (VnModel        *model,
             const VnRecipe *recipe,
             GHashTable     *histograms)
{
  g_autoptr(GPtrArray) values = vn_quantize_list_values (model, recipe);
  g_autoptr(VnHistogramScratch) scratch = vn_scratch_new ();

  for (guint i = 0; i < values->len; i++)
    vn_histogram_scan (get_histogram (histograms, ((const VnValue *) g_ptr_array_index (values, i))->name), scratch,
                       (float[]) { -1, 1 }, 2);
  return TRUE;
}

/* ---- ranges from samples ---- */

typedef struct
{
  GHashTable *histograms;
  VnHistogramScratch  *scratch;
} Observer;

static void
observe (const VnValue  *value,
         guint           tap,
         const VnTensor *tensor,
         gpointer        data)
{
  Observer *self = data;

  VnHistogram *sample = vn_histogram_new ();

  vn_histogram_scan (sample, self->scratch, tensor->data, tensor->n_elements);
  vn_histogram_take_sample (get_histogram (self->histograms, value->name), sample);
}

static gint
compare_names (gconstpointer a,
               gconstpointer b)
{
  return strcmp (*(const char * const *) a, *(const char * const *) b);
}

static GPtrArray *
list_samples (GError **error)
{
  g_autoptr(GDir) dir = g_dir_open (data_folder, 0, error);
  GPtrArray *paths;
  const char *name;

  if (dir == NULL)
    return NULL;

  paths = g_ptr_array_new_with_free_func (g_free);
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      if (g_str_has_suffix (name, ".npy"))
        g_ptr_array_add (paths, g_build_filename (data_folder, name, NULL));
    }
  g_ptr_array_sort (paths, compare_names);
  return paths;
}

static gboolean
run_samples (VnModel         *model,
             const VnRecipe  *recipe,
             GHashTable      *histograms,
             GError         **error)
{
  g_autoptr(GPtrArray) taps = vn_quantize_list_values (model, recipe);
  g_autoptr(GPtrArray) paths = list_samples (error);
  g_autoptr(GHashTable) shapes = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr(VnTensor) first = NULL;
  VnPlanOptions options = { .taps = taps, .input_shapes = shapes };
  g_autoptr(VnPlan) plan = NULL;
  g_autoptr(VnRunner) runner = NULL;
  g_autoptr(VnHistogramScratch) scratch = vn_scratch_new ();
  Observer observer = { histograms, scratch };
  gboolean ok = TRUE;

  if (paths == NULL || paths->len == 0 || (first = vn_npy_read (g_ptr_array_index (paths, 0), error)) == NULL)
    return FALSE;
  g_hash_table_insert (shapes, ((VnValue *) g_ptr_array_index (model->graph->inputs, 0))->name, &first->shape);
  plan = vn_plan_new (model, &options, NULL, error);
  if (plan == NULL || (runner = vn_runner_new (plan, error)) == NULL)
    return FALSE;

  vn_runner_set_tap (runner, observe, &observer);
  for (guint i = 0; i < paths->len && ok; i++)
    {
      g_autoptr(VnTensor) sample = vn_npy_read (g_ptr_array_index (paths, i), error);
      g_autofree VnTensor **outputs = g_new0 (VnTensor *, vn_plan_get_n_outputs (plan) + 1);

      ok = sample != NULL && vn_runner_run (runner, (VnTensor *[]) { sample }, outputs, NULL, error);
      for (guint k = 0; k < vn_plan_get_n_outputs (plan); k++)
        g_clear_pointer (&outputs[k], vn_tensor_unref);
    }
  return ok;
}

/* ---- plan as JSON ---- */

static void
add_tensor (JsonBuilder    *builder,
            const char     *name,
            const VnTensor *tensor)
{
  json_builder_set_member_name (builder, name);
  json_builder_begin_array (builder);
  for (gsize i = 0; i < tensor->n_elements; i++)
    json_builder_add_double_value (builder, vn_tensor_get_double (tensor, i));
  json_builder_end_array (builder);
}

static void
add_string (JsonBuilder *builder,
            const char  *name,
            const char  *value)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_string_value (builder, value);
}

static void
add_row (JsonBuilder        *builder,
         const VnTensorPlan *row,
         GHashTable         *names)
{
  static const char * const roles[] = { "activation", "weight", "bias" };

  json_builder_begin_object (builder);
  add_string (builder, "name", row->name);
  add_string (builder, "role", roles[row->role]);
  add_string (builder, "rule", row->rule);
  add_string (builder, "result", g_hash_table_lookup (names, row->name));
  json_builder_set_member_name (builder, "quantized");
  json_builder_add_boolean_value (builder, row->quantized);
  if (row->quantized)
    {
      add_string (builder, "dtype", vn_dtype_get_name (row->dtype));
      add_string (builder, "shares", row->shares);
      add_tensor (builder, "scale", row->scale);
      add_tensor (builder, "zero_point", row->zero_point);
      json_builder_set_member_name (builder, "axis");
      json_builder_add_int_value (builder, row->axis);
    }
  json_builder_end_object (builder);
}

static gboolean
write_plan (VnQuantPlan  *plan,
            GHashTable   *names,
            VnNotes      *notes,
            const char   *path,
            GError      **error)
{
  g_autoptr(JsonBuilder) builder = json_builder_new ();
  g_autoptr(JsonGenerator) generator = json_generator_new ();
  g_autoptr(JsonNode) root = NULL;

  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "rows");
  json_builder_begin_array (builder);
  for (guint i = 0; i < vn_quant_plan_get_n (plan); i++)
    add_row (builder, vn_quant_plan_get (plan, i), names);
  json_builder_end_array (builder);
  json_builder_set_member_name (builder, "notes");
  json_builder_begin_array (builder);
  for (guint i = 0; i < vn_notes_get_n (notes); i++)
    json_builder_add_string_value (builder, vn_notes_get (notes, i)->text);
  json_builder_end_array (builder);
  json_builder_end_object (builder);

  root = json_builder_get_root (builder);
  json_generator_set_root (generator, root);
  return json_generator_to_file (generator, path, error);
}

/* ---- all ---- */

static VnRecipe *
make_recipe (GError **error)
{
  g_autoptr(VnRecipe) recipe = NULL;

  if (recipe_file != NULL)
    return vn_recipe_load (recipe_file, error);
  if (preset != NULL && vn_preset_find (preset, error) == NULL)
    return NULL;

  recipe = vn_recipe_new (preset);
  recipe->per_channel = per_channel;
  recipe->symmetric_activations = symmetric;
  recipe->reduce_range = reduce_range;
  if (asymmetric_weights)
    recipe->symmetric_weights = FALSE;
  if (weight != NULL)
    recipe->weight = vn_dtype_from_name (weight);
  for (guint i = 0; excludes != NULL && excludes[i] != NULL; i++)
    vn_recipe_add_exclude (recipe, excludes[i]);
  for (guint i = 0; wide != NULL && wide[i] != NULL; i++)
    {
      VnOverride *rule = vn_recipe_add_exclude (recipe, wide[i]);

      rule->exclude = FALSE;
      rule->activation = VN_DTYPE_U16;
    }
  for (guint i = 0; settings != NULL && settings[i] != NULL; i++)
    {
      g_auto(GStrv) words = g_strsplit (settings[i], "=", 2);

      if (!vn_recipe_set (recipe, words[0], words[1] != NULL ? words[1] : "", error))
        return NULL;
    }
  return g_steal_pointer (&recipe);
}

static const VnHistogram *
lookup (const char *name,
        gpointer    data)
{
  return g_hash_table_lookup (data, name);
}

static gboolean
run (char   **argv,
     GError **error)
{
  g_autoptr(GHashTable) histograms = NULL;
  g_autoptr(VnRecipe) recipe = make_recipe (error);
  g_autoptr(VnNotes) notes = vn_notes_new ();
  g_autoptr(GHashTable) names = NULL;
  g_autoptr(VnModel) source = NULL, model = NULL, result = NULL;
  g_autoptr(VnQuantPlan) plan = NULL;

  if (recipe == NULL || (source = vn_onnx_read_file (argv[1], error)) == NULL)
    return FALSE;

  model = vn_model_copy (source);
  if (!vn_model_infer_types (model, NULL, notes, error))
    return FALSE;

  histograms = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) vn_histogram_free);
  if (!(unit_ranges ? make_ranges (model, recipe, histograms)
        : ranges_file != NULL ? read_ranges (histograms, error)
        : run_samples (model, recipe, histograms, error)))
    return FALSE;

  plan = vn_quantize_resolve_with (model, recipe, lookup, histograms, notes, error);
  if (plan == NULL || (result = vn_quantize_write (model, recipe, plan, &names, error)) == NULL)
    return FALSE;
  return vn_onnx_write_file (result, argv[2], NULL, NULL, error) && write_plan (plan, names, notes, argv[3], error);
}

static gboolean
prepare (char   **argv,
         GError **error)
{
  g_autoptr(VnModel) source = vn_onnx_read_file (argv[1], error);
  g_autoptr(VnModel) model = NULL;

  if (source == NULL)
    return FALSE;
  model = vn_prepare_model (source, MAX (prepare_opset, vn_model_get_opset (source, "")), NULL, NULL, NULL, NULL, error);
  return model != NULL && vn_onnx_write_file (model, argv[2], NULL, NULL, error);
}

static int
list_operators (void)
{
  guint n;
  const VnOp * const *ops = vn_op_list (&n);

  for (guint i = 0; i < n; i++)
    {
      if (*ops[i]->domain == '\0')
        g_print ("%s %d\n", ops[i]->type, ops[i]->quant.in_ort_default);
    }
  return 0;
}

int
main (int   argc,
      char *argv[])
{
  g_autoptr(GOptionContext) context = g_option_context_new ("MODEL OUT.onnx OUT.json");
  g_autoptr(GError) error = NULL;

  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error))
    {
      g_printerr ("%s\n", error->message);
      return 2;
    }
  if (operators)
    return list_operators ();
  if (prepare_opset > 0 && argc == 3)
    {
      if (prepare (argv, &error))
        return 0;
      g_printerr ("%s\n", error->message);
      return 1;
    }
  if (argc != 4 ||
      (data_folder != NULL) + (ranges_file != NULL) + unit_ranges != 1)
    {
      g_printerr ("give a model, two results, and --data or --ranges\n");
      return 2;
    }
  if (run (argv, &error))
    return 0;
  g_printerr ("%s\n", error != NULL ? error->message : "no samples");
  return 1;
}
