/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command that repeats a run: network, samples and their preprocessing, and every setting that differs from its preset. */
#include "vn-file.h"
#include "vn-report.h"

#include "vn-setting.h"
#include "vn-shown.h"

#include <string.h>

static const char * const colors[] = { "rgb", "bgr" };
static const char * const layouts[] = { "auto", "nchw", "nhwc" };
static const char * const resamples[] = { "linear", "area" };
static const char * const fits[] = { "stretch", "crop", "letterbox" };

/* ---- words ---- */

static void
command_add (GPtrArray  *words,
             const char *option,
             const char *value)
{
  g_ptr_array_add (words, g_strdup (option));
  if (value != NULL)
    g_ptr_array_add (words, g_strdup (value));
}

static void
command_add_number (GPtrArray  *words,
                    const char *option,
                    guint64     value)
{
  command_add (words, option, NULL);
  g_ptr_array_add (words, g_strdup_printf ("%" G_GUINT64_FORMAT, value));
}

static void
command_add_floats (GPtrArray   *words,
                    const char  *option,
                    const float *values)
{
  g_autoptr(GString) text = g_string_new (option);
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  for (guint i = 0; i < 4; i++)
    g_string_append_printf (text, "%c%s", i > 0 ? ',' : '=', g_ascii_formatd (number, sizeof number, "%.9g", (double) values[i]));
  command_add (words, text->str, NULL);
}

/* ---- samples ---- */

static gboolean
report_command_floats_equal (const float *a,
                             const float *b)
{
  return memcmp (a, b, 4 * sizeof *a) == 0;
}

/* What of @self no option can say must be that of @preset. */
static gboolean
report_command_preprocess_can_start_from (const VnPreprocess *self,
                                          const VnPreprocess *preset)
{
  gboolean cropped = self->resize != preset->resize || self->width != preset->width || self->height != preset->height;

  return self->crop_part == preset->crop_part && !self->crop_down == !preset->crop_down && self->fill == preset->fill &&
         (!cropped || (self->fit == VN_FIT_CROP && self->width == self->height &&
                       (self->resize > 0 || self->resize == preset->resize) &&
                       (self->width > 0 || self->width == preset->width)));
}

static guint
report_command_preprocess_count_differences (const VnPreprocess *self,
                                             const VnPreprocess *preset)
{
  return (guint) !report_command_floats_equal (self->mean, preset->mean)
         + (guint) !report_command_floats_equal (self->std, preset->std) +
         (self->color != preset->color) + (self->layout != preset->layout) + (self->fit != preset->fit)
         + (self->resample != preset->resample) +
         (self->resize != preset->resize) + (self->width != preset->width);
}

static const VnPreprocessPreset *
report_command_preprocess_find_preset (const VnPreprocess *self)
{
  guint n;
  const VnPreprocessPreset *presets = vn_preprocess_presets (&n), *best = NULL;

  for (guint i = 0; i < n; i++)
    if (report_command_preprocess_can_start_from (self, &presets[i].settings) &&
        (best == NULL || report_command_preprocess_count_differences (self, &presets[i].settings) <
                         report_command_preprocess_count_differences (self, &best->settings)))
      best = &presets[i];
  return best;
}

static gboolean
command_add_preprocess (GPtrArray          *words,
                        const VnPreprocess *self)
{
  const VnPreprocessPreset *preset = report_command_preprocess_find_preset (self);

  if (preset == NULL)
    return FALSE;
  command_add (words, "--preprocess", preset->id);
  if (!report_command_floats_equal (self->mean, preset->settings.mean))
    command_add_floats (words, "--mean", self->mean);
  if (!report_command_floats_equal (self->std, preset->settings.std))
    command_add_floats (words, "--std", self->std);
  if (self->color != preset->settings.color)
    command_add (words, "--color", colors[self->color]);
  if (self->layout != preset->settings.layout)
    command_add (words, "--layout", layouts[self->layout]);
  if (self->fit != preset->settings.fit)
    command_add (words, "--fit", fits[self->fit]);
  if (self->resample != preset->settings.resample)
    command_add (words, "--resample", resamples[self->resample]);
  if (self->resize != preset->settings.resize)
    command_add_number (words, "--resize", self->resize);
  if (self->width != preset->settings.width)
    command_add_number (words, "--crop", self->width);
  return TRUE;
}

/* %FALSE: single inputs have settings of their own, for which there are no options. */
/* As the command line calls it. */
static const char *
command_get_file (const char *path)
{
  return vn_file_is_standard_input (path) ? "-" : path;
}

static gboolean
command_add_data (GPtrArray        *words,
                  const VnDataSpec *self)
{
  if (self->inputs != NULL && g_hash_table_size (self->inputs) > 0)
    return FALSE;
  command_add (words, "--data", command_get_file (self->path));
  if (self->max_samples > 0)
    command_add_number (words, "--samples", self->max_samples);
  if (self->seed > 0)
    command_add_number (words, "--seed", self->seed);
  if (self->raw_type != VN_DTYPE_UNDEFINED)
    command_add (words, "--raw-type", vn_dtype_get_name (self->raw_type));
  if (self->tokenizer != NULL)
    command_add (words, "--tokenizer", self->tokenizer);
  if (self->window > 0)
    command_add_number (words, "--window", self->window);
  if (self->stride > 0)
    command_add_number (words, "--stride", self->stride);
  if (self->script == NULL)
    return vn_data_spec_is_random (self) || command_add_preprocess (words, &self->preprocess);
  command_add (words, "--preprocess", self->script);
  if (self->python != NULL)
    command_add (words, "--python", self->python);
  if (self->timeout > 0)
    command_add_number (words, "--preprocess-timeout", self->timeout);
  return TRUE;
}

static void
command_add_shapes (GPtrArray  *words,
                    GHashTable *shapes)
{
  g_autoptr(GList) names = shapes != NULL ? g_list_sort (g_hash_table_get_keys (shapes), (GCompareFunc) strcmp) : NULL;

  for (GList *at = names; at != NULL; at = at->next)
    {
      const VnShape *shape = g_hash_table_lookup (shapes, at->data);
      g_autoptr(GString) text = g_string_new (at->data);

      for (int d = 0; d < shape->rank; d++)
        if (shape->dims[d] < 0)
          g_string_append_printf (text, "%c?", d > 0 ? 'x' : '=');
        else
          g_string_append_printf (text, "%c%" G_GINT64_FORMAT, d > 0 ? 'x' : '=', shape->dims[d]);
      if (shape->rank > 0)
        command_add (words, "--shape", text->str);
    }
}

/* ---- settings ---- */

/* "--id=value"; of a list one for each element, behind an empty one if the preset has others. */
static void
command_add_setting (GPtrArray                 *words,
                     const VnRecipe            *recipe,
                     const VnSettingDifference *difference)
{
  const VnSetting *setting = difference->setting;
  char **list;

  if (setting->type != VN_SETTING_LIST)
    {
      g_ptr_array_add (words, g_strdup_printf ("--%s=%s", setting->id, difference->value));
      return;
    }
  if (*difference->preset_value != '\0')
    g_ptr_array_add (words, g_strdup_printf ("--%s=", setting->id));
  list = G_STRUCT_MEMBER (char **, recipe, setting->offset);
  for (guint i = 0; list != NULL && list[i] != NULL; i++)
    g_ptr_array_add (words, g_strdup_printf ("--%s=%s", setting->id, list[i]));
}

static void
command_add_recipe (GPtrArray      *words,
                    const VnRecipe *recipe)
{
  g_autoptr(GPtrArray) differences = vn_recipe_list_differences (recipe);

  command_add (words, "--preset", recipe->preset);
  for (guint i = 0; i < differences->len; i++)
    {
      const VnSettingDifference *difference = g_ptr_array_index (differences, i);

      if (difference->setting != NULL)
        command_add_setting (words, recipe, difference);
      else
        command_add (words, "--rule", difference->value);
    }
}

/* Of a run that chose another point of its curve the rules say which: a curve that starts there would be another one. */
static void
command_add_curve (GPtrArray *words,
                   VnRun     *run)
{
  if (run->settings.stats != NULL || (run->diagnosis != NULL && vn_diagnosis_get_n_trials (run->diagnosis) > 0))
    return;   /* excluded by it: what is measured of a curve is not what these are about */
  for (guint i = 0; run->curve != NULL && i < vn_curve_get_n (run->curve); i++)
    {
      const VnCurvePoint *point = vn_curve_get (run->curve, i);

      if (!point->is_plain || !vn_recipe_equal (point->recipe, run->recipe))
        continue;
      command_add (words, "--curve", NULL);
      g_ptr_array_add (words, g_strdup_printf ("--curve-cost=%s", vn_curve_cost_get_id (run->curve->cost)));
      return;
    }
}

static void
command_add_run (GPtrArray *words,
                 VnRun     *run)
{
  const VnRunSettings *settings = &run->settings;

  for (guint i = 0; settings->stats != NULL && settings->stats[i] != NULL; i++)
    command_add (words, "--stats", settings->stats[i]);
  command_add_shapes (words, settings->shapes);
  if (run->data != NULL && run->data->held_out >= 0)
    command_add_number (words, "--held-out", (guint64) run->data->held_out);
  if (run->data != NULL && settings->n_calibration > 0)
    command_add_number (words, "--calibration-samples", settings->n_calibration);
  if (settings->skip_compare)
    command_add (words, "--skip-compare", NULL);
  if (run->diagnosis != NULL && vn_diagnosis_get_n_trials (run->diagnosis) > 0)
    command_add (words, "--cures", NULL);
  else if (run->contributions != NULL)
    command_add (words, "--origins", NULL);
  command_add_curve (words, run);
}

static char *
command_dup_output (const char *model)
{
  g_autofree char *base = g_path_get_basename (model);

  if (g_str_has_suffix (base, ".onnx"))
    base[strlen (base) - strlen (".onnx")] = '\0';
  return g_strconcat (base, ".q.onnx", NULL);
}

/* One that cannot be shown as it is stands in bash's own quotes, byte for byte. */
static char *
command_quote (const char *word)
{
  g_autofree char *shown = vn_shown_dup (word);
  GString *text;

  if (g_str_equal (shown, word))
    return g_shell_quote (word);
  text = g_string_new ("$'");
  for (; *word != '\0'; word++)
    if ((guchar) *word < 0x20 || (guchar) *word >= 0x7f)
      g_string_append_printf (text, "\\x%02x", (guchar) *word);
    else
      g_string_append_printf (text, *word == '\'' || *word == '\\' ? "\\%c" : "%c", *word);
  g_string_append_c (text, '\'');
  return g_string_free (text, FALSE);
}

/* Words that hold nothing special stand as they are. */
static void
command_append_word (GString    *text,
                     const char *word)
{
  static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=./,:+@%";
  g_autofree char *quoted = command_quote (word);

  g_string_append_printf (text, "%s%s", text->len > 0 ? " " : "", *word != '\0' && strspn (word, plain) == strlen (word)
                          ? word : quoted);
}

/**
 * vn_report_dup_command:
 * @run: with its model as opened
 *
 * Paths are as they were given: the command works in the folder where the run was started.
 *
 * Returns: (transfer full) (nullable): one line for a shell, which makes the same bytes; %NULL if no command can say what the
 *   run was, as the model came from no file or single inputs have settings of their own
 */
char *
vn_report_dup_command (VnRun *run)
{
  g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func (g_free);
  g_autoptr(GString) text = g_string_new (NULL);
  g_autofree char *output = NULL;

  g_return_val_if_fail (run != NULL, NULL);

  if (run->recipe == NULL || run->source->path == NULL)
    return NULL;
  output = command_dup_output (run->source->path);
  command_add (words, "vernier-cli", "quantize");
  command_add (words, command_get_file (run->source->path), NULL);
  command_add (words, "-o", output);
  if (run->data != NULL && !command_add_data (words, run->data))
    return NULL;
  command_add_run (words, run);
  command_add_recipe (words, run->recipe);
  for (guint i = 0; i < words->len; i++)
    command_append_word (text, g_ptr_array_index (words, i));
  return g_string_free (g_steal_pointer (&text), FALSE);
}
