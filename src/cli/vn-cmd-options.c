/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options that several commands share. */
#include "vn-cmd.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-model-metadata.h"
#include "vn-setting.h"

#include <math.h>
#include <string.h>

#define MOST_NAMES 8   /* of inputs, in a message */

VnCmdOptions vn_cmd_options = { .held_out = VN_HELD_OUT_USUAL };

/* Of every command. */
static const GOptionEntry common_entries[] = {
  VN_CMD_GROUP_MARK (GENERAL),
  { "json", 0, 0, G_OPTION_ARG_NONE, &vn_cmd_options.json, N_("Print only the result, as JSON"), NULL },
  { "progress", 0, 0, G_OPTION_ARG_NONE, &vn_cmd_options.progress,
    N_("Print progress to standard error, a JSON object a line, ten times a second"), NULL },
  { NULL }
};

/* Of commands that run a model. */
static const GOptionEntry model_entries[] = {
  VN_CMD_GROUP_MARK (DATA),
  { "shape", 0, 0, G_OPTION_ARG_STRING_ARRAY, &vn_cmd_options.shapes,
    N_("Shape of an input with dynamic dimensions"), N_("NAME=1x3x224x224") },
  { "dim", 0, 0, G_OPTION_ARG_STRING_ARRAY, &vn_cmd_options.dims,
    N_("Size of a symbolic dimension, such as “batch”; “inspect” shows the names"), N_("NAME=N") },
  VN_CMD_GROUP_MARK (GENERAL),
  { "threads", 't', 0, G_OPTION_ARG_INT, &vn_cmd_options.threads, N_("Number of threads (default: all CPUs)"), N_("N") },
  { "engine", 0, 0, G_OPTION_ARG_STRING, &vn_cmd_options.engine,
    N_("Inference engine: vernier, or onnxruntime with an execution provider such as cuda (default: vernier, and ONNX Runtime "
       "for operators that vernier does not support)"), "vernier|onnxruntime[:PROVIDER]" },
  { "custom-ops", 0, 0, G_OPTION_ARG_FILENAME, &vn_cmd_options.custom_ops,
    N_("Library with custom operators, loaded into ONNX Runtime"), N_("LIBRARY") },
  { "ep-library", 0, 0, G_OPTION_ARG_FILENAME, &vn_cmd_options.ep_library,
    N_("Library of an execution provider for ONNX Runtime, and its name: exports are verified on it, and --engine onnxruntime "
       "runs on it"), N_("NAME=LIBRARY") },
  { "ep-option", 0, 0, G_OPTION_ARG_STRING_ARRAY, &vn_cmd_options.ep_options,
    N_("Option of that execution provider, or of the one that the target’s exports are verified on, such as htp_arch=73 "
       "(repeatable)"), N_("KEY=VALUE") },
  { "simulate-target", 0, 0, G_OPTION_ARG_STRING, &vn_cmd_options.simulated_target,
    N_("Computes Q/DQ models as this target does where its arithmetic is known to differ: sums that saturate, ties that are "
       "rounded up"), N_("TARGET") },
  { NULL }
};

static const GOptionEntry data_entries[] = {
  VN_CMD_GROUP_MARK (DATA),
  { "data", 'd', 0, G_OPTION_ARG_FILENAME, &vn_cmd_options.data,
    N_("Samples: image folder, list file, folder of .npy, .npz, .raw, .pb, .wav or .txt, “random”, or “-” for standard input"),
    N_("PATH") },
  { "samples", 'n', 0, G_OPTION_ARG_INT, &vn_cmd_options.samples,
    N_("Number of samples to use, evenly spaced (default: all)"), N_("N") },
  { "preprocess", 0, 0, G_OPTION_ARG_STRING, &vn_cmd_options.preprocess,
    N_("Preset: none, zero-one, minus-one-one, imagenet, pt-imagenet, mlperf-mobilenet, mlperf-resnet, letterbox; or your own "
       "Python"),
    N_("NAME|FILE.py:FUNCTION") },
  { "python", 0, 0, G_OPTION_ARG_STRING, &vn_cmd_options.python,
    N_("Interpreter for custom preprocessing (default: python3)"), N_("COMMAND") },
  { "preprocess-timeout", 0, 0, G_OPTION_ARG_INT, &vn_cmd_options.timeout,
    N_("Timeout of one call (default: 120)"), N_("SECONDS") },
  { "mean", 0, 0, G_OPTION_ARG_STRING, &vn_cmd_options.mean, N_("Subtracted from each pixel (0 to 255)"), N_("A,B,C") },
  { "std", 0, 0, G_OPTION_ARG_STRING, &vn_cmd_options.std, N_("Divisor of each pixel after the subtraction"), N_("A,B,C") },
  { "color", 0, 0, G_OPTION_ARG_STRING, &vn_cmd_options.color, N_("Channel order"), "rgb|bgr" },
  { "layout", 0, 0, G_OPTION_ARG_STRING, &vn_cmd_options.layout, N_("Axis order (default: from the model)"), "nchw|nhwc" },
  { "fit", 0, 0, G_OPTION_ARG_STRING, &vn_cmd_options.fit, N_("How images are fitted to the size of the input"),
    "stretch|crop|letterbox" },
  { "resample", 0, 0, G_OPTION_ARG_STRING, &vn_cmd_options.resample, N_("Resizing method: as Pillow’s BILINEAR or "
                                                                        "OpenCV’s INTER_AREA"), "linear|area" },
  { "resize", 0, 0, G_OPTION_ARG_INT, &vn_cmd_options.resize, N_("Length of the short side before cropping"), N_("PIXELS") },
  { "crop", 0, 0, G_OPTION_ARG_INT, &vn_cmd_options.crop, N_("Side length of the center crop"), N_("PIXELS") },
  { "raw-type", 0, 0, G_OPTION_ARG_STRING, &vn_cmd_options.raw_type,
    N_("Element type of .raw and .bin files (default: the input's)"), "float32|int64|..." },
  { "tokenizer", 0, 0, G_OPTION_ARG_FILENAME, &vn_cmd_options.tokenizer,
    N_("Tokenizer of plain text (default: tokenizer.json next to the model or the text)"), N_("FILE") },
  { "window", 0, 0, G_OPTION_ARG_INT, &vn_cmd_options.window,
    N_("Tokens of a sample, where a text is cut (default: what the input takes, or 128)"), N_("N") },
  { "stride", 0, 0, G_OPTION_ARG_INT, &vn_cmd_options.stride,
    N_("Tokens from one sample of a text to the next (default: the window)"), N_("N") },
  { "seed", 0, 0, G_OPTION_ARG_INT64, &vn_cmd_options.seed, N_("Seed of random samples"), N_("N") },
  { NULL }
};

static const GOptionEntry held_out_entries[] = {
  VN_CMD_GROUP_MARK (DATA),
  { "held-out", 0, 0, G_OPTION_ARG_INT, &vn_cmd_options.held_out,
    N_("Number of held-out samples for measuring the error (default: a fifth, at most 16)"), N_("N") },
  { NULL }
};

const GOptionEntry *
vn_cmd_common_entries (void)
{
  return common_entries;
}

const GOptionEntry *
vn_cmd_model_entries (void)
{
  return model_entries;
}

const GOptionEntry *
vn_cmd_data_entries (void)
{
  return data_entries;
}

const GOptionEntry *
vn_cmd_held_out_entries (void)
{
  return held_out_entries;
}

/**
 * vn_cmd_hold_out:
 * @default_held_out: VnDataSpec.held_out without --held-out
 */
void
vn_cmd_hold_out (VnDataSpec *spec,
                 gint        default_held_out)
{
  g_return_if_fail (spec != NULL);

  spec->held_out = vn_cmd_options.held_out >= 0 ? vn_cmd_options.held_out : default_held_out;
}

static gboolean
cmd_options_usage_error (GError     **error,
                         const char  *option,
                         const char  *value,
                         const char  *allowed)
{
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("%s: “%s” is not allowed; use %s"), option, value, allowed);
  return FALSE;
}

static gboolean
cmd_options_check_number (const char  *option,
                          int          number,
                          int          least,
                          const char  *allowed,
                          GError     **error)
{
  g_autofree char *text = g_strdup_printf ("%d", number);

  return number >= least || cmd_options_usage_error (error, option, text, allowed);
}

static gboolean
cmd_options_check_samples (GError **error)
{
  return cmd_options_check_number ("--samples", vn_cmd_options.samples, 0, _("a positive number"), error) &&
         cmd_options_check_number ("--held-out", vn_cmd_options.held_out, -1, _("0 or a positive number"), error);
}

static gboolean
cmd_options_parse_floats (const char  *option,
                          const char  *text,
                          float        values[4],
                          GError     **error)
{
  g_auto(GStrv) parts = NULL;
  guint n;

  if (text == NULL)
    return TRUE;
  parts = g_strsplit (text, ",", -1);
  n = g_strv_length (parts);
  if (n != 1 && n != 3 && n != 4)
    return cmd_options_usage_error (error, option, text, _("one number for all channels, or three or four separated "
                                                           "by commas"));
  for (guint i = 0; i < 4; i++)
    {
      char *end;
      const char *part = parts[MIN (i, n - 1)];

      values[i] = (float) g_ascii_strtod (part, &end);
      if (end == part || *end != '\0' || !isfinite (values[i]))
        return cmd_options_usage_error (error, option, text, _("one number for all channels, or three or four "
                                                               "separated by commas"));
    }
  return TRUE;
}

static gboolean
cmd_options_parse_choice (const char          *option,
                          const char          *text,
                          const char * const  *choices,
                          int                 *index,
                          GError             **error)
{
  g_autofree char *allowed = NULL;

  if (text == NULL)
    return TRUE;
  for (int i = 0; choices[i] != NULL; i++)
    if (g_ascii_strcasecmp (choices[i], text) == 0)
      {
        *index = i;
        return TRUE;
      }
  allowed = g_strjoinv (", ", (char **) choices);
  return cmd_options_usage_error (error, option, text, allowed);
}

static gboolean
cmd_options_parse_preprocess (VnPreprocess  *pre,
                              GError       **error)
{
  static const char * const colors[] = { "rgb", "bgr", NULL };
  static const char * const layouts[] = { "auto", "nchw", "nhwc", NULL };
  static const char * const resamples[] = { "linear", "area", NULL };
  static const char * const fits[] = { "stretch", "crop", "letterbox", NULL };
  const VnCmdOptions *o = &vn_cmd_options;
  int color, layout, fit, resample;

  if (o->preprocess != NULL && !vn_data_spec_is_script (o->preprocess) && !vn_preprocess_set_preset (pre, o->preprocess, error))
    return FALSE;
  color = (int) pre->color;
  layout = (int) pre->layout;
  fit = (int) pre->fit;
  resample = (int) pre->resample;
  if (!cmd_options_parse_floats ("--mean", o->mean, pre->mean, error) ||
      !cmd_options_parse_floats ("--std", o->std, pre->std, error) ||
      !cmd_options_parse_choice ("--color", o->color, colors, &color, error) ||
      !cmd_options_parse_choice ("--layout", o->layout, layouts, &layout, error) ||
      !cmd_options_parse_choice ("--resample", o->resample, resamples, &resample, error) ||
      !cmd_options_parse_choice ("--fit", o->fit, fits, &fit, error))
    return FALSE;
  pre->color = (VnColorOrder) color;
  pre->layout = (VnLayout) layout;
  pre->fit = (VnFit) fit;
  pre->resample = (VnResample) resample;
  for (guint i = 0; i < 4; i++)
    if (pre->std[i] == 0)
      return cmd_options_usage_error (error, "--std", o->std, _("nonzero numbers"));
  if (!cmd_options_check_number ("--resize", o->resize, 0, _("a positive number"), error) ||
      !cmd_options_check_number ("--crop", o->crop, 0, _("a positive number"), error))
    return FALSE;
  if (o->resize > 0 || o->crop > 0)
    {
      pre->fit = VN_FIT_CROP;
      pre->resize = o->resize > 0 ? (guint) o->resize : pre->resize;
      pre->width = pre->height = o->crop > 0 ? (guint) o->crop : pre->width;
    }
  return TRUE;
}

/* How texts are read. */
static gboolean
cmd_options_parse_texts (VnDataSpec  *spec,
                         GError     **error)
{
  const VnCmdOptions *o = &vn_cmd_options;

  if (!cmd_options_check_number ("--window", o->window, 0, _("a positive number"), error) ||
      !cmd_options_check_number ("--stride", o->stride, 0, _("a positive number"), error))
    return FALSE;
  if (o->tokenizer != NULL)
    {
      g_free (spec->tokenizer);
      spec->tokenizer = g_strdup (o->tokenizer);
    }
  spec->window = o->window > 0 ? (guint) o->window : spec->window;
  spec->stride = o->stride > 0 ? (guint) o->stride : spec->stride;
  return TRUE;
}

/* The user's own Python, and the type of raw files. */
static gboolean
cmd_options_parse_files (VnDataSpec  *spec,
                         GError     **error)
{
  const VnCmdOptions *o = &vn_cmd_options;

  if (!cmd_options_check_number ("--preprocess-timeout", o->timeout, 0, _("a positive number"), error))
    return FALSE;
  if (!vn_data_spec_has_script (spec) && !o->trust && (o->python != NULL || o->timeout > 0))
    return cmd_options_usage_error (error, o->python != NULL ? "--python" : "--preprocess-timeout", o->python != NULL
                                    ? o->python : "",
                                    _("it together with --preprocess FILE.py:FUNCTION"));
  g_free (spec->python);
  spec->python = g_strdup (o->python);
  spec->timeout = (guint) o->timeout;
  if (o->raw_type == NULL)
    return TRUE;
  spec->raw_type = vn_dtype_from_name (o->raw_type);
  if (spec->raw_type == VN_DTYPE_UNDEFINED || vn_dtype_get_bits (spec->raw_type) < 8)
    return cmd_options_usage_error (error, "--raw-type", o->raw_type,
                                    "float32, float16, float64, int8, uint8, int16, uint16, int32, uint32, int64, uint64, bool");
  return TRUE;
}

/**
 * vn_cmd_take_python:
 * @is_used: whether the command itself runs Python
 *
 * Where it does, --python is for the preprocessing as well only if that is somebody's own.
 *
 * Returns: (transfer full) (nullable): what --python names
 */
char *
vn_cmd_take_python (gboolean is_used)
{
  VnCmdOptions *o = &vn_cmd_options;

  if (is_used && !o->trust && (o->preprocess == NULL || !vn_data_spec_is_script (o->preprocess)))
    return g_steal_pointer (&o->python);
  return g_strdup (o->python);
}

/**
 * vn_cmd_make_data_spec:
 *
 * Returns: (transfer full) (nullable): what --data and its companions say
 */
VnDataSpec *
vn_cmd_make_data_spec (GError **error)
{
  g_autoptr(VnDataSpec) spec = NULL;

  if (vn_cmd_options.data == NULL)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, _("--data is missing: specify the samples, or “random”"));
      return NULL;
    }
  if (!cmd_options_check_samples (error))
    return NULL;
  spec = vn_data_spec_new (vn_cmd_options.data);
  spec->max_samples = (guint) vn_cmd_options.samples;
  spec->seed = (guint64) vn_cmd_options.seed;
  if (vn_cmd_options.preprocess != NULL && vn_data_spec_is_script (vn_cmd_options.preprocess))
    spec->script = g_strdup (vn_cmd_options.preprocess);
  if (!cmd_options_parse_preprocess (&spec->preprocess, error) || !cmd_options_parse_files (spec, error) ||
      !cmd_options_parse_texts (spec, error))
    return NULL;
  return g_steal_pointer (&spec);
}

/**
 * vn_cmd_complete_data_spec:
 * @spec: what a configuration says of its samples
 *
 * Sets what only options say: the interpreter for the Python that it names, how long that may take, the type of raw files,
 * and how many samples to use.
 */
gboolean
vn_cmd_complete_data_spec (VnDataSpec  *spec,
                           GError     **error)
{
  g_return_val_if_fail (spec != NULL, FALSE);

  if (!cmd_options_check_samples (error))
    return FALSE;
  spec->max_samples = (guint) vn_cmd_options.samples;
  spec->seed = (guint64) vn_cmd_options.seed;
  return cmd_options_parse_files (spec, error) && cmd_options_parse_texts (spec, error);
}

/**
 * vn_cmd_take_data_spec:
 * @kept: (nullable): what a project says of its samples
 * @project: its path, if there is one
 *
 * Returns: (transfer full) (nullable): what --data and its companions say; without --data what is kept, of which --samples
 *   takes another number, and whose Python runs as vn_cmd_check_trust() has it, by the interpreter of --python
 */
VnDataSpec *
vn_cmd_take_data_spec (const VnDataSpec  *kept,
                       const char        *project,
                       GError           **error)
{
  g_autoptr(VnDataSpec) spec = NULL;

  if (vn_cmd_options.data != NULL || kept == NULL)
    return vn_cmd_make_data_spec (error);
  if (!cmd_options_check_samples (error))
    return NULL;
  spec = vn_data_spec_copy (kept);
  if (vn_cmd_options.samples > 0)
    spec->max_samples = (guint) vn_cmd_options.samples;
  spec->python = g_strdup (vn_cmd_options.python);
  if (vn_cmd_options.timeout > 0)
    spec->timeout = (guint) vn_cmd_options.timeout;
  return vn_cmd_check_trust (spec, project, error) ? g_steal_pointer (&spec) : NULL;
}

/**
 * vn_cmd_take_metadata:
 * @spec: (nullable): of vn_cmd_make_data_spec()
 * @model: whose samples these are
 *
 * What no option says of the preprocessing is as the metadata of @model have it.
 */
void
vn_cmd_take_metadata (VnDataSpec    *spec,
                      const VnModel *model)
{
  const VnCmdOptions *o = &vn_cmd_options;
  VnPreprocessParts open = o->preprocess != NULL ? 0 : VN_PREPROCESS_ALL;

  if (spec == NULL || o->data == NULL)
    return;
  if (o->mean != NULL || o->std != NULL)
    open &= ~VN_PREPROCESS_SCALE;
  if (o->fit != NULL || o->resize > 0 || o->crop > 0)
    open &= ~VN_PREPROCESS_FIT;
  if (o->color != NULL)
    open &= ~VN_PREPROCESS_COLOR;
  vn_data_spec_take_metadata (spec, model, open);
}

static gboolean
cmd_options_is_given (const GOptionEntry *entry)
{
  if (entry->arg_data == NULL)
    return FALSE;
  if (entry->arg == G_OPTION_ARG_INT)
    return *(const int *) entry->arg_data != 0;
  if (entry->arg == G_OPTION_ARG_INT64)
    return *(const gint64 *) entry->arg_data != 0;
  return *(char * const *) entry->arg_data != NULL;
}

/**
 * vn_cmd_note_idle_data:
 * @effective: (nullable): companions of --data that do have an effect
 * @why: why the others have none, a translated half sentence
 *
 * Notes the companions of --data that are given and change nothing.
 */
void
vn_cmd_note_idle_data (VnNotes            *notes,
                       const char * const *effective,
                       const char         *why)
{
  g_return_if_fail (notes != NULL);

  for (const GOptionEntry *entry = data_entries; entry->long_name != NULL; entry++)
    if (cmd_options_is_given (entry) && (effective == NULL || !g_strv_contains (effective, entry->long_name)))
      vn_notes_add (notes, VN_NOTE_WARNING, VN_NOTE_CODE_IDLE_SETTING, entry->long_name, _("has no effect here: %s"), why);
}

/**
 * vn_cmd_note_idle_kept:
 * @spec: of vn_cmd_take_data_spec(), as a project has it
 *
 * As vn_cmd_note_idle_data(): what can be said beside a project.
 */
void
vn_cmd_note_idle_kept (VnNotes          *notes,
                       const VnDataSpec *spec)
{
  static const char * const always[] = { "samples", NULL };
  static const char * const with_script[] = { "samples", "preprocess", "python", "preprocess-timeout", NULL };

  g_return_if_fail (notes != NULL && spec != NULL);

  vn_cmd_note_idle_data (notes, vn_data_spec_has_script (spec) ? with_script : always,
                         _("the project defines how its samples are read"));
}

static gboolean
cmd_options_parse_shape (const char *text,
                         VnShape    *shape)
{
  *shape = VN_SHAPE_SCALAR;
  while (*text != '\0')
    {
      gboolean open = *text == '?';
      char *end = (char *) text + 1;
      guint64 dim = open ? 0 : g_ascii_strtoull (text, &end, 10);

      if (end == text || dim > G_MAXINT32 || shape->rank == VN_MAX_RANK)
        return FALSE;
      shape->dims[shape->rank++] = open ? VN_DIM_UNKNOWN : (gint64) dim;
      text = *end == 'x' || *end == ',' ? end + 1 : end;
      if ((text == end) != (*text == '\0'))   /* no separator where more follows, or one where nothing does */
        return FALSE;
    }
  return shape->rank > 0;
}

static gboolean
cmd_options_add_shapes (const VnModel  *model,
                        GHashTable     *shapes,
                        GError        **error)
{
  for (char **at = vn_cmd_options.shapes; at != NULL && *at != NULL; at++)
    {
      const char *equals = strrchr (*at, '=');
      g_autofree char *name = equals != NULL ? g_strndup (*at, equals - *at) : NULL;
      VnShape shape;

      if (name == NULL || !cmd_options_parse_shape (equals + 1, &shape))
        return cmd_options_usage_error (error, "--shape", *at, "NAME=1x3x224x224");
      if (!vn_cmd_check_input (model, "--shape", name, error))
        return FALSE;
      if (g_hash_table_contains (shapes, name))
        return cmd_options_usage_error (error, "--shape", *at, _("one size for each input"));
      g_hash_table_insert (shapes, g_steal_pointer (&name), g_memdup2 (&shape, sizeof shape));
    }
  return TRUE;
}

/* Sets the size called @name wherever an input has it; returns whether one has.
 * @other: set to the size that it has been given already, if that is another one */
static gboolean
cmd_options_bind_dim (const VnModel *model,
                      GHashTable    *shapes,
                      const char    *name,
                      gint64         size,
                      gint64        *other)
{
  gboolean found = FALSE;

  for (guint i = 0; i < model->graph->inputs->len; i++)
    {
      const VnValue *value = g_ptr_array_index (model->graph->inputs, i);
      VnShape *shape = g_hash_table_lookup (shapes, value->name);

      for (int d = 0; value->type.kind == VN_TYPE_TENSOR && d < value->type.shape.rank; d++)
        {
          if (value->initializer != NULL || g_strcmp0 (value->type.symbols[d], name) != 0)
            continue;
          found = TRUE;
          if (shape == NULL)
            {
              shape = g_memdup2 (&value->type.shape, sizeof *shape);
              g_hash_table_insert (shapes, g_strdup (value->name), shape);
            }
          if (shape->rank != value->type.shape.rank)
            continue;
          if (shape->dims[d] >= 0 && shape->dims[d] != size)
            *other = shape->dims[d];
          shape->dims[d] = size;
        }
    }
  return found;
}

static gboolean
cmd_options_add_dims (const VnModel  *model,
                      GHashTable     *shapes,
                      GError        **error)
{
  for (char **at = vn_cmd_options.dims; at != NULL && *at != NULL; at++)
    {
      const char *equals = strrchr (*at, '=');
      g_autofree char *name = equals != NULL ? g_strndup (*at, equals - *at) : NULL;
      gint64 other = VN_DIM_UNKNOWN;
      VnShape size;

      if (name == NULL || !cmd_options_parse_shape (equals + 1, &size) || size.rank != 1 || size.dims[0] < 0)
        return cmd_options_usage_error (error, "--dim", *at, _("NAME=N, where N is at least 0"));
      if (!cmd_options_bind_dim (model, shapes, name, size.dims[0], &other))
        {
          g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                       _("--dim: no input has a symbolic dimension “%s”; “inspect” shows the names"), name);
          return FALSE;
        }
      if (other != VN_DIM_UNKNOWN)
        {
          g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                       _("--dim: “%s” has two sizes, %lld and %lld; keep one"), name, (long long) other,
                       (long long) size.dims[0]);
          return FALSE;
        }
    }
  return TRUE;
}

/* “image”, “mask” and so on */
static char *
cmd_options_dup_input_names (const VnModel *model)
{
  g_autoptr(GString) text = g_string_new (NULL);
  guint n = 0;

  for (guint i = 0; i < model->graph->inputs->len; i++)
    {
      const VnValue *value = g_ptr_array_index (model->graph->inputs, i);

      if (value->initializer != NULL || n++ > MOST_NAMES)
        continue;
      if (n > 1)
        g_string_append (text, ", ");
      g_string_append_printf (text, n > MOST_NAMES ? "…" : "“%s”", value->name);
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/**
 * vn_cmd_check_input:
 * @option: that names an input: “--shape”
 *
 * Returns: whether @model is run with an input of that name; otherwise @error says which there are
 */
gboolean
vn_cmd_check_input (const VnModel  *model,
                    const char     *option,
                    const char     *name,
                    GError        **error)
{
  g_autofree char *names = NULL;

  g_return_val_if_fail (model != NULL, FALSE);

  for (guint i = 0; i < model->graph->inputs->len; i++)
    {
      const VnValue *value = g_ptr_array_index (model->graph->inputs, i);

      if (value->initializer == NULL && g_str_equal (value->name, name))
        return TRUE;
    }
  names = cmd_options_dup_input_names (model);
  if (*names == '\0')
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("%s: the model has no inputs"), option);
  else
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                 _("%s: the model has no input “%s”; it has %s"), option, name, names);
  return FALSE;
}

/**
 * vn_cmd_parse_shapes:
 * @model: whose inputs are meant
 *
 * Returns: (transfer full) (nullable): VnShape by input name, of --shape and --dim; dims that neither gives are
 *   %VN_DIM_UNKNOWN
 */
GHashTable *
vn_cmd_parse_shapes (const VnModel  *model,
                     GError        **error)
{
  g_autoptr(GHashTable) shapes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);

  g_return_val_if_fail (model != NULL, NULL);

  if (!cmd_options_add_shapes (model, shapes, error) || !cmd_options_add_dims (model, shapes, error) ||
      g_hash_table_size (shapes) == 0)
    return NULL;
  return g_steal_pointer (&shapes);
}
