/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A recipe as a script for onnxruntime.quantization. It calibrates on all samples; run on a network that needs no
 * preparation, or on what “vernier-cli prepare” writes, it finds the scales that Vernier finds with --held-out 0. */

#include "vn-export-settings.h"

#include "export-counts.h"

#include "vn-i18n.h"
#include "vn-recipe-rules.h"
#include "vn-resolver.h"

#include <string.h>

static const struct { VnDType dtype; const char *name; } types[] = {
  { VN_DTYPE_U8, "QUInt8" }, { VN_DTYPE_S8, "QInt8" }, { VN_DTYPE_U16, "QUInt16" }, { VN_DTYPE_S16, "QInt16" },
  { VN_DTYPE_U4, "QUInt4" }, { VN_DTYPE_S4, "QInt4" },
};

static const struct { const char *id, *name; } methods[] = {
  { "minmax", "MinMax" }, { "average", "MinMax" }, { "percentile", "Percentile" }, { "entropy", "Entropy" },
};

/* Switches, where they are not as both have them unless told otherwise. */
static const struct { const char *id, *option; } switches[] = {
  { "keep-clamps", "'QDQKeepRemovableActivations': True" }, { "quantize-bias", "'QuantizeBias': False" },
  { "raise-weight-scales", "'QDQDisableWeightAdjustForInt32Bias': True" }, { "dedicated-pairs", "'DedicatedQDQPair': True" },
  { "pairs-on-weights", "'AddQDQPairToWeight': True" }, { "force-passthrough", "'ForceQuantizeNoInputCheck': True" },
  { "constant-matmul-only", "'MatMulConstBOnly': True" }, { "two-sided", "'CalibTensorRangeSymmetric': False" },
  { "subgraphs", "'EnableSubgraph': True" },
};

static const struct { const char *id, *argument; } lists[] = {
  { "op-types", "op_types_to_quantize" }, { "only-nodes", "nodes_to_quantize" },
};

/* Settings that are written elsewhere. */
static const char * const elsewhere[] = { "format", "activation", "weight", "per-channel", "reduce-range", "method", "percentile",
                                     "symmetric-activations", "symmetric-weights", "minimum-real-range", "power-of-two",
                                     "float-output-types", NULL };

static const char reader[] =
  "\n"
  "\n"
  "def files():\n"
  "    names = all_files()\n"
  "    if not 0 < COUNT < len(names):\n"
  "        return names\n"
  "    return [names[i * len(names) // COUNT] for i in range(COUNT)]\n"
  "\n"
  "\n"
  "def natural(name):\n"
  "    return [(int(part), '') if part.isdigit() else (-1, part) for part in re.split(r'([0-9]+)', name)]\n"
  "\n"
  "\n"
  "def all_files():\n"
  "    if os.path.isdir(SAMPLES):\n"
  "        names = sorted(glob.glob(os.path.join(glob.escape(SAMPLES), '**', '*'), recursive=True), key=natural)\n"
  "        return [n for n in names if os.path.isfile(n)]\n"
  "    folder = os.path.dirname(SAMPLES)\n"
  "    with open(SAMPLES) as f:\n"
  "        lines = [line.strip() for line in f]\n"
  "    return [os.path.join(folder, line) for line in lines if line and not line.startswith('#')]\n"
  "\n"
  "\n"
  "def picture(path, shape):\n"
  "    from PIL import Image\n"
  "\n"
  "    channels_last = shape[-1] in (1, 3)\n"
  "    height, width = shape[1:3] if channels_last else shape[2:4]\n"
  "    image = Image.open(path).convert('RGB').resize((width, height), Image.BILINEAR)\n"
  "    pixels = np.asarray(image, dtype=np.float32)\n"
  "    if BGR:\n"
  "        pixels = pixels[:, :, ::-1]\n"
  "    pixels = (pixels - np.float32(MEAN)) / np.float32(STD)\n"
  "    return (pixels if channels_last else pixels.transpose(2, 0, 1))[None].astype(np.float32)\n"
  "\n"
  "\n"
  "class Samples(CalibrationDataReader):\n"
  "    def __init__(self, model):\n"
  "        session = onnxruntime.InferenceSession(model, providers=['CPUExecutionProvider'])\n"
  "        self.inputs = session.get_inputs()\n"
  "        self.paths = iter(files())\n"
  "\n"
  "    def get_next(self):\n"
  "        path = next(self.paths, None)\n"
  "        if path is None:\n"
  "            return None\n"
  "        if path.endswith('.npz'):\n"
  "            return dict(np.load(path))\n"
  "        if len(self.inputs) > 1:\n"
  "            raise SystemExit('%s: a network of several inputs needs .npz files, one a sample' % path)\n"
  "        if path.endswith('.npy'):\n"
  "            return {self.inputs[0].name: np.load(path)}\n"
  "        return {self.inputs[0].name: picture(path, [d if isinstance(d, int) else 1 for d in self.inputs[0].shape])}\n"
  "\n"
  "\n";

/* As Python writes it between single quotes; bytes of names of files that are no UTF-8 as its os.fsdecode() does, so that it
 * finds
   the files. */
static void
export_script_add_text (GString    *script,
                        const char *text)
{
  g_string_append_c (script, '\'');
  while (*text != '\0')
    {
      gunichar c = g_utf8_get_char_validated (text, -1);
      gboolean is_valid = (gint32) c >= 0;
      const char *next = is_valid ? g_utf8_next_char (text) : text + 1;

      if (!is_valid)
        g_string_append_printf (script, "\\udc%02x", (guint) (guchar) *text);
      else if (c == '\'' || c == '\\')
        g_string_append_printf (script, "\\%c", *text);
      else if (c < 32)
        g_string_append_printf (script, "\\x%02x", (guint) c);
      else
        g_string_append_len (script, text, next - text);
      text = next;
    }
  g_string_append_c (script, '\'');
}

static void
export_script_add_number (GString *script,
                          double   value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append (script, g_ascii_dtostr (text, sizeof text, value));
}

static const char *
export_script_find_type (VnDType     dtype,
                         const char *role,
                         const char *other,
                         VnNotes    *notes)
{
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (types[i].dtype == dtype)
      return types[i].name;
  vn_notes_add (notes, VN_NOTE_WARNING, "cannot-export", role, _("onnxruntime.quantization has no type %s; %s is written"),
                vn_dtype_get_name (dtype), other);
  return other;
}

static const char *
export_script_find_method (const VnRecipe *self,
                           VnNotes        *notes)
{
  for (guint i = 0; i < G_N_ELEMENTS (methods); i++)
    if (g_str_equal (methods[i].id, self->method))
      return methods[i].name;
  vn_notes_add (notes, VN_NOTE_WARNING, "cannot-export", "method",
                _("onnxruntime.quantization has no method %s; MinMax is written"), self->method);
  return "MinMax";
}

/* Nodes that rules leave in float. The last rule that speaks of a node decides. */
static void
export_script_add_excluded (GString        *script,
                            const VnRecipe *self,
                            const VnModel  *model,
                            VnNotes        *notes)
{
  g_autoptr(VnResolver) resolver = vn_resolver_new (model, self, NULL, NULL, NULL);
  gboolean first = TRUE, told = FALSE;

  for (guint i = 0; resolver != NULL && i < model->graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (model->graph->nodes, i);

      if (resolver->quant_nodes[i].exclude_rule < 0)
        continue;
      if (node->name != NULL && *node->name != '\0')
        {
          g_string_append (script, first ? "\n    " : ",\n    ");
          export_script_add_text (script, node->name);
          first = FALSE;
        }
      else if (!told)
        {
          told = TRUE;
          vn_notes_add (notes, VN_NOTE_WARNING, "cannot-export", node->op_type,
                        _("Nodes without a name cannot be excluded in onnxruntime.quantization"));
        }
    }
}

static void
export_script_note_rules (const VnRecipe *self,
                          VnNotes        *notes)
{
  if (self->dynamic && vn_recipe_get_format (self)->integer_operators)
    vn_notes_add (notes, VN_NOTE_WARNING, "cannot-export", "dynamic",
                  _("dynamic is not written: onnxruntime.quantization supports integer operators only with static ranges"));
  if (self->block_size > 0)
    vn_notes_add (notes, VN_NOTE_WARNING, "cannot-export", "block-size",
                  _("block-size is not written: quantize_static() of onnxruntime.quantization does not support blocks"));
  if (self->narrow_range)
    vn_notes_add (notes, VN_NOTE_WARNING, "cannot-export", "narrow-range",
                  _("narrow-range is not written: onnxruntime.quantization stores weights down to the lowest level"));
  if (self->subgraphs)
    vn_notes_add (notes, VN_NOTE_WARNING, "cannot-export", "subgraphs",
                  _("subgraphs is written as EnableSubgraph, which quantize_static() of onnxruntime.quantization "
                    "ignores in QDQ: subgraphs stay in float there"));
  for (guint i = 0; i < self->overrides->len; i++)
    {
      const VnOverride *rule = g_ptr_array_index (self->overrides, i);

      if (rule->enabled && !rule->exclude)
        vn_notes_add (notes, VN_NOTE_WARNING, "cannot-export", NULL,
                      _("Rule %u is not written: onnxruntime.quantization supports types and methods only for the "
                        "whole model"), i + 1);
    }
}

/* What a sample goes through here and not in the script. */
static void
export_script_note_samples (const VnDataSpec *data,
                            VnNotes          *notes)
{
  const VnPreprocess *pre = &data->preprocess;
  const struct { gboolean is; const char *subject, *text; } left_out[] = {
    { pre->fit == VN_FIT_CROP, "fit", N_("crop is not written: the script stretches the whole image to the size of the input") },
    { pre->fit == VN_FIT_LETTERBOX, "fit", N_("letterbox is not written: the script stretches the whole image to the "
                                              "size of the input") },
    { pre->resample != VN_RESAMPLE_LINEAR, "resample", N_("area is not written: the script resizes images with "
                                                          "Image.BILINEAR") },
    { pre->layout != VN_LAYOUT_AUTO, "layout", N_("The axis order is not written: the script derives it from the "
                                                  "shape of the input") },
    { data->script != NULL, "preprocess", N_("Custom preprocessing is not written: the script preprocesses images "
                                             "only by size, mean and standard deviation") },
    { data->inputs != NULL && g_hash_table_size (data->inputs) > 0, "preprocess",
      N_("Settings of individual inputs are not written: the script preprocesses all inputs alike") },
    { vn_data_spec_is_random (data), "data",
      N_("Random samples are not written: name a folder or a list of files in the script") },
    { data->held_out != 0, "held-out", N_("The script also calibrates on the samples that were held out here: with "
                                          "--held-out 0 both use the same") },
  };

  for (guint i = 0; i < G_N_ELEMENTS (left_out); i++)
    if (left_out[i].is)
      vn_notes_add (notes, VN_NOTE_WARNING, "cannot-export", left_out[i].subject, "%s", _(left_out[i].text));
}

static void
export_script_add_samples (GString          *script,
                           const VnDataSpec *data,
                           VnNotes          *notes)
{
  const VnPreprocess *pre = data != NULL ? &data->preprocess : NULL;

  if (data != NULL)
    export_script_note_samples (data, notes);
  g_string_append (script, "SAMPLES = ");
  export_script_add_text (script, data != NULL ? data->path : "samples");
  g_string_append_printf (script, "\nCOUNT = %u  # so many of them, evenly spread; 0: all", data != NULL ? data->max_samples : 0);
  g_string_append_printf (script, "\nBGR = %s\nMEAN = [", pre != NULL && pre->color == VN_COLOR_BGR ? "True" : "False");
  for (guint i = 0; i < 3; i++)
    {
      g_string_append (script, i > 0 ? ", " : "");
      export_script_add_number (script, pre != NULL ? (double) pre->mean[i] : 0);
    }
  g_string_append (script, "]\nSTD = [");
  for (guint i = 0; i < 3; i++)
    {
      g_string_append (script, i > 0 ? ", " : "");
      export_script_add_number (script, pre != NULL ? (double) pre->std[i] : 1);
    }
  g_string_append (script, "]\n");
}

static void
export_script_add_list (GString *script,
                        char   **list)
{
  g_string_append_c (script, '[');
  for (guint i = 0; list[i] != NULL; i++)
    {
      g_string_append (script, i > 0 ? ", " : "");
      export_script_add_text (script, list[i]);
    }
  g_string_append_c (script, ']');
}

/* Names only: no globs, no types. */
static gboolean
export_script_is_plain (char **list)
{
  for (; *list != NULL; list++)
    if (strpbrk (*list, "*?[:|") != NULL)
      return FALSE;
  return TRUE;
}

static const VnSetting *
export_script_find_setting (const char *id)
{
  guint n;
  const VnSetting *settings = vn_setting_list_of_recipe (&n);

  return vn_setting_find (settings, n, id, NULL);
}

/* Which nodes, as arguments of the call. */
static void
export_script_add_lists (GString        *script,
                         const VnRecipe *self)
{
  for (guint i = 0; i < G_N_ELEMENTS (lists); i++)
    {
      char **list = G_STRUCT_MEMBER (char **, self, export_script_find_setting (lists[i].id)->offset);

      if (list == NULL || !export_script_is_plain (list))
        continue;
      g_string_append_printf (script, "    %s=", lists[i].argument);
      export_script_add_list (script, list);
      g_string_append (script, ",\n");
    }
}

static void
export_script_add_switches (GString        *script,
                            const VnRecipe *self)
{
  for (guint i = 0; i < G_N_ELEMENTS (switches); i++)
    if (!vn_setting_is_default (export_script_find_setting (switches[i].id), self))
      g_string_append_printf (script, "        %s,\n", switches[i].option);
  if (g_str_equal (self->method, "average"))
    g_string_append (script, "        'CalibMovingAverage': True,\n");
  if (self->float_output_types == NULL)
    return;
  g_string_append (script, "        'OpTypesToExcludeOutputQuantization': ");
  export_script_add_list (script, self->float_output_types);
  g_string_append (script, ",\n");
}

/* What is set and not in the script, as far as it may change something. */
static void
export_script_note_settings (const VnRecipe *self,
                             VnNotes        *run,
                             VnNotes        *notes)
{
  guint n;
  const VnSetting *settings = vn_setting_list_of_recipe (&n);

  for (guint i = 0; i < n; i++)
    {
      gboolean written = g_strv_contains (elsewhere, settings[i].id) ||
                         !_vn_export_setting_counts (&settings[i], self, NULL, run);

      for (guint k = 0; k < G_N_ELEMENTS (switches); k++)
        written = written || g_str_equal (switches[k].id, settings[i].id);
      for (guint k = 0; k < G_N_ELEMENTS (lists) && !written; k++)
        written = g_str_equal (lists[k].id, settings[i].id) &&
                  export_script_is_plain (G_STRUCT_MEMBER (char **, self, settings[i].offset));
      if (!written)
        vn_notes_add (notes, VN_NOTE_WARNING, "cannot-export", settings[i].id,
                      _("onnxruntime.quantization does not support this; it is omitted from the script"));
    }
}

static void
export_script_add_call (GString        *script,
                        const VnRecipe *self,
                        VnNotes        *notes)
{
  const char *format = vn_recipe_get_format (self)->integer_operators ? "QOperator" : "QDQ";

  if (!vn_recipe_get_format (self)->standard_integers)
    vn_notes_add (notes, VN_NOTE_WARNING, "cannot-export", "format", _("The script writes QDQ"));
  g_string_append (script, "model = sys.argv[1] if len(sys.argv) > 1 else MODEL\n"
                           "quantize_static(\n"
                           "    model, sys.argv[2] if len(sys.argv) > 2 else 'quantized.onnx', Samples(model),\n");
  g_string_append_printf (script, "    quant_format=QuantFormat.%s,\n", format);
  g_string_append_printf (script, "    activation_type=QuantType.%s,\n",
                          export_script_find_type (self->activation, "activation", "QUInt8", notes));
  g_string_append_printf (script, "    weight_type=QuantType.%s,\n",
                          export_script_find_type (self->weight, "weight", "QInt8", notes));
  g_string_append_printf (script, "    per_channel=%s,\n    reduce_range=%s,\n", vn_recipe_has_channels (self) ? "True" : "False",
                          self->reduce_range ? "True" : "False");
  g_string_append_printf (script, "    calibrate_method=CalibrationMethod.%s,\n", export_script_find_method (self, notes));
  export_script_add_lists (script, self);
  g_string_append (script, "    nodes_to_exclude=EXCLUDED,\n    extra_options={\n");
  g_string_append_printf (script, "        'ActivationSymmetric': %s,\n        'WeightSymmetric': %s,\n",
                          self->symmetric_activations ? "True" : "False", self->symmetric_weights ? "True" : "False");
  if (g_str_equal (self->method, "percentile"))
    {
      g_string_append (script, "        'CalibPercentile': ");
      export_script_add_number (script, self->percentile);
      g_string_append (script, ",\n");
    }
  if (self->minimum_real_range > 0)
    {
      g_string_append (script, "        'MinimumRealRange': ");
      export_script_add_number (script, self->minimum_real_range);
      g_string_append (script, ",\n");
    }
  export_script_add_switches (script, self);
  g_string_append (script, "    })\n");
}

/* One line of a comment: names in it may hold anything. */
static void
export_script_add_comment (GString    *script,
                           const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);

  for (const char *at = valid; *at != '\0'; at = g_utf8_next_char (at))
    {
      gunichar c = g_utf8_get_char (at);

      g_string_append_unichar (script, g_unichar_iscntrl (c) || g_unichar_type (c) == G_UNICODE_LINE_SEPARATOR ||
                                       g_unichar_type (c) == G_UNICODE_PARAGRAPH_SEPARATOR ? ' ' : c);
    }
  g_string_append_c (script, '\n');
}

/* What the script leaves out stands at @at, for those who have nothing but it. */
static void
export_script_insert_left_out (GString *script,
                               gssize   at,
                               VnNotes *notes,
                               guint    first)
{
  g_autoptr(GString) comment = g_string_new (NULL);

  for (guint i = first; i < vn_notes_get_n (notes); i++)
    {
      const VnNote *note = vn_notes_get (notes, i);

      if (!g_str_equal (note->code, "cannot-export"))
        continue;
      if (comment->len == 0)
        {
          g_string_append (comment, "# ");
          export_script_add_comment (comment, _("Settings of Vernier that are not in this script:"));
        }
      g_string_append_printf (comment, "#   %s%s", note->subject != NULL ? note->subject : "", note->subject != NULL ? ": " : "");
      export_script_add_comment (comment, note->text);
    }
  if (comment->len > 0)
    g_string_append_c (comment, '\n');
  g_string_insert_len (script, at, comment->str, (gssize) comment->len);
}

/**
 * vn_recipe_to_ort_script:
 * @self: a valid recipe
 * @run: (nullable): notes of a run with @self: what changed nothing there is not missing in the script
 * @notes: told what the script leaves out, which stands in a comment of it, too; may be @run
 *
 * Returns: (transfer full): the text of a Python script: SCRIPT [MODEL [OUT]]
 */
char *
vn_recipe_to_ort_script (const VnRecipe   *self,
                         const VnModel    *model,
                         const char       *path,
                         const VnDataSpec *data,
                         VnNotes          *run,
                         VnNotes          *notes)
{
  g_autoptr(GString) script = g_string_new ("#!/usr/bin/env python3\n"
                                            "\"\"\"Quantizes a network with onnxruntime.quantization: SCRIPT [MODEL "
                                            "[OUT]]\"\"\"\n"
                                            "import glob\nimport os\nimport re\nimport sys\n\nimport numpy as np\nimport "
                                            "onnxruntime\n"
                                            "from onnxruntime.quantization import (CalibrationDataReader, CalibrationMethod, "
                                            "QuantFormat,\n"
                                            "                                      QuantType, quantize_static)\n\n");

  gsize head = script->len;
  guint n_before;

  g_return_val_if_fail (self != NULL && model != NULL && path != NULL && notes != NULL, NULL);

  n_before = vn_notes_get_n (notes);
  g_string_append (script, "MODEL = ");
  export_script_add_text (script, path);
  g_string_append_c (script, '\n');
  export_script_add_samples (script, data, notes);
  g_string_append (script, "EXCLUDED = [");
  export_script_add_excluded (script, self, model, notes);
  g_string_append (script, "]\n");
  g_string_append (script, reader);
  export_script_add_call (script, self, notes);
  export_script_note_rules (self, notes);
  export_script_note_settings (self, run, notes);
  if (self->power_of_two != VN_POWER_OF_TWO_OFF)
    vn_notes_add (notes, VN_NOTE_WARNING, "cannot-export", "power-of-two",
                  _("onnxruntime.quantization does not round scales to powers of two"));
  export_script_insert_left_out (script, (gssize) head, notes, n_before);
  return g_string_free (g_steal_pointer (&script), FALSE);
}
