/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What AMD's operators compute, as functions of standard operators that go into the model: with them it runs in any
 * runtime. They compute what our kernels do, bit for bit, for the attributes that write-pair.c writes (ties to even).
 *
 * A body is a list of lines "outputs = operator (inputs) attribute". */

#include "vn-quant-write.h"

#include "vn-graph-edit.h"

#include <string.h>

typedef struct
{
  const char *output, *op, *inputs;   /* inputs separated by spaces */
  const char *attribute;              /* NULL, "axis=0", or "value_int=@block_size": an attribute of the function */
} Line;

/* Exponents e with 2^e <= x < 2^(e + 1); -127 for 0 and subnormal numbers. The logarithm may be off by one next to powers
 * of two, which are compared with then. */
#define EXPONENT(x, e)                                                          \
  { e "_log", "Log", x },                                                       \
  { e "_ratio", "Div", e "_log ln2" },                                          \
  { e "_floor", "Floor", e "_ratio" },                                          \
  { e "_below", "Sub", e "_floor one" },                                        \
  { e "_power", "Pow", "two " e "_floor" },                                     \
  { e "_high", "Less", x " " e "_power" },                                      \
  { e "_down", "Where", e "_high " e "_below " e "_floor" },                    \
  { e "_above", "Add", e "_down one" },                                         \
  { e "_next", "Pow", "two " e "_above" },                                      \
  { e "_low", "GreaterOrEqual", x " " e "_next" },                              \
  { e "_up", "Where", e "_low " e "_above " e "_down" },                        \
  { e, "Max", e "_up subnormal" }

/* x, cut into [before, blocks, pieces of a block, elements of a piece, after], with 0 for what is infinite or NaN or lies
 * behind the end. @piece: name of the attribute with the elements of a piece */
#define BLOCKS(piece)                                                           \
  { "none", "Constant", "", "value_ints=0" },                                   \
  { "single", "Constant", "", "value_ints=1" },                                 \
  { "far", "Constant", "", "value_ints=1000" },                                 \
  { "zero", "Constant", "", "value_float=0" },                                  \
  { "one", "Constant", "", "value_float=1" },                                   \
  { "two", "Constant", "", "value_float=2" },                                   \
  { "ln2", "Constant", "", "value_float=0.69314718" },                          \
  { "subnormal", "Constant", "", "value_float=-127" },                          \
  { "axis_number", "Constant", "", "value_int=@axis" },                         \
  { "axis", "Reshape", "axis_number single" },                                  \
  { "block_number", "Constant", "", "value_int=@block_size" },                  \
  { "block", "Reshape", "block_number single" },                                \
  { "piece_number", "Constant", "", "value_int=@" piece },                      \
  { "piece", "Reshape", "piece_number single" },                                \
  { "pieces", "Div", "block piece" },                                           \
  { "shape", "Shape", "x" },                                                    \
  { "axis_end", "Add", "axis single" },                                         \
  { "dims_before", "Slice", "shape none axis" },                                \
  { "dims_after", "Slice", "shape axis_end far" },                              \
  { "before", "ReduceProd", "dims_before none" },                               \
  { "after", "ReduceProd", "dims_after none" },                                 \
  { "dim", "Gather", "shape axis" },                                            \
  { "rows_shape", "Concat", "before dim after", "axis=0" },                     \
  { "rows", "Reshape", "x rows_shape", "allowzero=1" },                         \
  { "negative_dim", "Neg", "dim" },                                             \
  { "missing", "Mod", "negative_dim block" },                                   \
  { "pad_front", "Constant", "", "value_ints=0,0,0,0" },                        \
  { "pads", "Concat", "pad_front missing none", "axis=0" },                     \
  { "padded", "Pad", "rows pads" },                                             \
  { "padded_dim", "Add", "dim missing" },                                       \
  { "n_blocks", "Div", "padded_dim block" },                                    \
  { "cut_shape", "Concat", "before n_blocks pieces piece after", "axis=0" },    \
  { "cut", "Reshape", "padded cut_shape", "allowzero=1" },                      \
  { "infinite", "IsInf", "cut" },                                               \
  { "nan", "IsNaN", "cut" },                                                    \
  { "odd", "Or", "infinite nan" },                                              \
  { "finite", "Where", "odd zero cut" },                                        \
  { "amount", "Abs", "finite" },                                                \
  { "axis_of_blocks", "Constant", "", "value_ints=2" },                         \
  { "axis_of_pieces", "Constant", "", "value_ints=3" },                         \
  { "largest", "ReduceMax", "amount axis_of_pieces" },                          \
  EXPONENT ("largest", "exponent")

/* @result, with the shape of x. */
#define JOIN(result)                                                            \
  { "kept", "Where", "odd cut " result },                                       \
  { "padded_shape", "Concat", "before padded_dim after", "axis=0" },            \
  { "joined", "Reshape", "kept padded_shape", "allowzero=1" },                  \
  { "trimmed", "Slice", "joined none dim single" },                             \
  { "y", "Reshape", "trimmed shape", "allowzero=1" }

static const Line block_float[] = {
  BLOCKS ("sub_block_size"),
  { "shared", "ReduceMax", "exponent axis_of_blocks" },
  { "shift_number", "Constant", "", "value_int=@sub_block_shift_bits" },
  { "shift_bits", "Cast", "shift_number", "to=1" },
  { "shifts", "Pow", "two shift_bits" },
  { "most_shift", "Sub", "shifts one" },
  { "lowest", "Sub", "shared most_shift" },
  { "used", "Max", "exponent lowest" },
  { "width_number", "Constant", "", "value_int=@bit_width" },
  { "width", "Cast", "width_number", "to=1" },
  { "sign_and_exponent", "Constant", "", "value_float=9" },
  { "mantissa", "Sub", "width sign_and_exponent" },
  { "fraction", "Sub", "mantissa one" },
  { "step_exponent", "Sub", "used fraction" },
  { "step", "Pow", "two step_exponent" },
  { "steps", "Div", "finite step" },
  { "rounded", "Round", "steps" },
  { "n_steps", "Pow", "two mantissa" },
  { "most", "Sub", "n_steps one" },
  { "least", "Neg", "most" },
  { "clamped", "Clip", "rounded least most" },
  { "result", "Mul", "clamped step" },
  JOIN ("result"),
};

/* The element is looked up by name: bits of the mantissa, least and largest exponent, range. */
#define LOOK_UP(name, values)                                                   \
  { name "_table", "Constant", "", "value_floats=" values },                    \
  { name "_chosen", "Mul", name "_table chosen" },                              \
  { name, "ReduceSum", name "_chosen none", "keepdims=0" }

static const Line scaled[] = {
  BLOCKS ("block_size"),
  { "element", "Constant", "", "value_string=@element_dtype" },
  { "elements", "Constant", "", "value_strings=fp8_e5m2,fp8_e4m3,fp6_e3m2,fp6_e2m3,fp4_e2m1,int8" },
  { "equal", "Equal", "elements element" },
  { "chosen", "Cast", "equal", "to=1" },
  LOOK_UP ("emax", "15,8,4,2,2,0"),
  LOOK_UP ("mantissa", "2,3,2,3,1,6"),
  LOOK_UP ("lowest", "-14,-6,-2,0,0,0"),
  LOOK_UP ("highest", "128,128,128,128,128,0"),
  LOOK_UP ("least", "-57344,-448,-28,-7.5,-6,-2"),
  LOOK_UP ("most", "57344,448,28,7.5,6,1.984375"),
  { "scale_exponent", "Sub", "exponent emax" },
  { "scale", "Pow", "two scale_exponent" },
  { "left", "Div", "finite scale" },
  { "left_amount", "Abs", "left" },
  EXPONENT ("left_amount", "own"),
  { "used", "Clip", "own lowest highest" },
  { "step_exponent", "Sub", "used mantissa" },
  { "step", "Pow", "two step_exponent" },
  { "steps", "Div", "left step" },
  { "rounded_steps", "Round", "steps" },
  { "rounded", "Mul", "rounded_steps step" },
  { "clamped", "Clip", "rounded least most" },
  { "result", "Mul", "clamped scale" },
  JOIN ("result"),
};

/* @scale and @zero_point of a channel, with the rank of @data: what lies along axis. */
#define ALONG_AXIS(data, scale, zero_point)                                     \
  { "single", "Constant", "", "value_ints=1" },                                 \
  { "none", "Constant", "", "value_ints=0" },                                   \
  { "all", "Constant", "", "value_ints=-1" },                                   \
  { "axis_number", "Constant", "", "value_int=@axis" },                         \
  { "axis", "Reshape", "axis_number single" },                                  \
  { "shape", "Shape", data },                                                   \
  { "rank", "Shape", "shape" },                                                 \
  { "from_axis", "Sub", "rank axis" },                                          \
  { "behind_axis", "Sub", "from_axis single" },                                 \
  { "behind", "Max", "behind_axis none" },                                      \
  { "ones_before", "Expand", "single axis" },                                   \
  { "ones_behind", "Expand", "single behind" },                                 \
  { "along", "Concat", "ones_before all ones_behind", "axis=0" },               \
  { "wide_zero", "Cast", zero_point, "to=11" },                                 \
  { "scales", "Reshape", scale " along" },                                      \
  { "zeros", "Reshape", "wide_zero along" }

/* The least number of the type follows from what -1 is in it, and whether it has 4 bit from what becomes of 16. Floats of
 * 8 bit, which know 0.25, are rounded by Cast. */
static const Line quantize[] = {
  ALONG_AXIS ("x", "y_scale", "y_zero_point"),
  { "ratio", "Div", "x scales" },
  { "quarter", "Constant", "", "value_float=0.25" },
  { "quarter_in_type", "CastLike", "quarter y_zero_point" },
  { "quarter_left", "Cast", "quarter_in_type", "to=9" },
  { "whole", "Round", "ratio" },
  { "rounded", "Where", "quarter_left ratio whole" },
  { "wide", "Cast", "rounded", "to=11" },
  { "shifted", "Add", "wide zeros" },
  { "minus_one", "Constant", "", "value_int=-1" },
  { "wrapped", "CastLike", "minus_one y_zero_point" },
  { "back", "Cast", "wrapped", "to=7" },
  { "nothing", "Constant", "", "value_int=0" },
  { "unsigned", "Greater", "back nothing" },
  { "sixteen", "Constant", "", "value_int=16" },
  { "sixteen_in_type", "CastLike", "sixteen y_zero_point" },
  { "sixteen_back", "Cast", "sixteen_in_type", "to=7" },
  { "is_wide", "Equal", "sixteen_back sixteen" },
  { "wide_negative", "Constant", "", "value_int=-2147483648" },
  { "short_negative", "Constant", "", "value_int=-8" },
  { "negative", "Where", "is_wide wide_negative short_negative" },
  { "least_number", "Where", "unsigned nothing negative" },
  { "wide_levels", "Constant", "", "value_int=4294967295" },
  { "short_levels", "Constant", "", "value_int=15" },
  { "levels", "Where", "is_wide wide_levels short_levels" },
  { "most_number", "Add", "least_number levels" },
  { "least", "Cast", "least_number", "to=11" },
  { "most", "Cast", "most_number", "to=11" },
  { "clamped", "Clip", "shifted least most" },
  { "in_shape", "Reshape", "clamped shape", "allowzero=1" },
  { "y", "CastLike", "in_shape y_zero_point" },
};

static const Line dequantize[] = {
  { "wide", "Cast", "x", "to=11" },   /* ONNX Runtime does not know the shape of integers of 4 bit */
  ALONG_AXIS ("wide", "x_scale", "x_zero_point"),
  { "wide_difference", "Sub", "wide zeros" },
  { "difference", "Cast", "wide_difference", "to=1" },
  { "product", "Mul", "difference scales" },
  { "y", "Reshape", "product shape", "allowzero=1" },
};

static const Line fix_neuron[] = {
  { "one", "Constant", "", "value_float=1" },
  { "two", "Constant", "", "value_float=2" },
  { "width_number", "Constant", "", "value_int=@bit_width" },
  { "width", "Cast", "width_number", "to=1" },
  { "magnitude", "Sub", "width one" },
  { "levels", "Pow", "two magnitude" },
  { "least", "Neg", "levels" },
  { "most", "Sub", "levels one" },
  { "zero", "Cast", "zero_point", "to=1" },
  { "ratio", "Div", "x scale" },
  { "rounded", "Round", "ratio" },
  { "shifted", "Add", "rounded zero" },
  { "clamped", "Clip", "shifted least most" },
  { "difference", "Sub", "clamped zero" },
  { "y", "Mul", "difference scale" },
};

#define BODY(domain, name, inputs, attributes, lines) { domain, name, inputs, attributes, lines, G_N_ELEMENTS (lines) }

static const struct
{
  const char *domain, *name, *inputs, *attributes;   /* separated by spaces */
  const Line *lines;
  guint       n_lines;
} bodies[] = {
  BODY ("com.amd.quark", "BFPQuantizeDequantize", "x",
        "bfp_method axis bit_width block_size rounding_mode sub_block_size sub_block_shift_bits", block_float),
  BODY ("com.amd.quark", "MXQuantizeDequantize", "x", "element_dtype axis block_size rounding_mode", scaled),
  BODY ("com.amd.quark", "ExtendedQuantizeLinear", "x y_scale y_zero_point", "axis", quantize),
  BODY ("com.amd.quark", "ExtendedDequantizeLinear", "x x_scale x_zero_point", "axis", dequantize),
  BODY ("ai.onnx.contrib", "FixNeuron", "x scale zero_point", "bit_width pos", fix_neuron),
};

/* ---- lines to nodes ---- */

static VnValue *
write_bodies_value_called (VnGraph    *graph,
                           const char *name)
{
  VnValue *value = vn_graph_find_value (graph, name);

  return value != NULL ? value : vn_graph_add_named (graph, name, FALSE);
}

static void
write_bodies_parse_numbers (VnAttr     *attr,
                            const char *text)
{
  g_auto(GStrv) items = g_strsplit (text, ",", -1);

  attr->ints = g_array_new (FALSE, FALSE, sizeof (gint64));
  attr->floats = g_array_new (FALSE, FALSE, sizeof (float));
  attr->strings = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  for (guint i = 0; items[i] != NULL; i++)
    {
      gint64 number = g_ascii_strtoll (items[i], NULL, 10);
      float real = (float) g_ascii_strtod (items[i], NULL);

      g_array_append_val (attr->ints, number);
      g_array_append_val (attr->floats, real);
      g_ptr_array_add (attr->strings, g_bytes_new (items[i], strlen (items[i])));
    }
  attr->i = g_array_index (attr->ints, gint64, 0);
  attr->f = g_array_index (attr->floats, float, 0);
}

static VnAttrType
write_bodies_type_of_attribute (const char *name)
{
  static const struct { const char *name; VnAttrType type; } types[] = {
    { "value_float", VN_ATTR_FLOAT }, { "value_floats", VN_ATTR_FLOATS }, { "value_ints", VN_ATTR_INTS },
    { "value_string", VN_ATTR_STRING }, { "value_strings", VN_ATTR_STRINGS },
  };

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (g_str_equal (types[i].name, name))
      return types[i].type;
  return VN_ATTR_INT;
}

static void
write_bodies_set_attribute (VnNode     *node,
                            const char *text)
{
  g_auto(GStrv) parts = g_strsplit (text, "=", 2);
  VnAttrType type = write_bodies_type_of_attribute (parts[0]);
  VnAttr *attr = vn_attr_new (parts[0], type);

  if (*parts[1] == '@')
    attr->ref_name = g_strdup (parts[1] + 1);
  else
    write_bodies_parse_numbers (attr, parts[1]);
  if (type != VN_ATTR_INTS)
    g_clear_pointer (&attr->ints, g_array_unref);
  if (type != VN_ATTR_FLOATS)
    g_clear_pointer (&attr->floats, g_array_unref);
  if (type != VN_ATTR_STRINGS)
    g_clear_pointer (&attr->strings, g_ptr_array_unref);
  vn_node_set_attr (node, attr);
}

static void
write_bodies_add_line (VnGraph    *graph,
                       const Line *line)
{
  g_auto(GStrv) names = g_strsplit (line->inputs, " ", -1);
  VnValue *inputs[8], *output;
  VnNode *node;
  guint n = 0;

  for (guint i = 0; names[i] != NULL && *names[i] != '\0'; i++)
    inputs[n++] = write_bodies_value_called (graph, names[i]);
  output = write_bodies_value_called (graph, line->output);
  node = vn_graph_add_node (graph, NULL, "", line->op, inputs, n, &output, 1);
  if (line->attribute != NULL)
    write_bodies_set_attribute (node, line->attribute);
}

static void
write_bodies_clear_opset (gpointer data)
{
  g_free (((VnOpset *) data)->domain);
}

static void
write_bodies_add_function (VnModel *model,
                           guint    i)
{
  VnFunction *function = g_new0 (VnFunction, 1);
  g_auto(GStrv) inputs = g_strsplit (bodies[i].inputs, " ", -1);
  g_auto(GStrv) attributes = g_strsplit (bodies[i].attributes, " ", -1);
  VnOpset opset = { g_strdup (""), vn_model_get_opset (model, "") };

  function->domain = g_strdup (bodies[i].domain);
  function->name = g_strdup (bodies[i].name);
  function->body = vn_graph_new (model, NULL, NULL);
  function->attr_names = g_ptr_array_new_with_free_func (g_free);
  function->attr_defaults = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_attr_free);
  function->opsets = g_array_new (FALSE, TRUE, sizeof (VnOpset));
  g_array_set_clear_func (function->opsets, write_bodies_clear_opset);
  g_array_append_val (function->opsets, opset);
  for (guint k = 0; attributes[k] != NULL; k++)
    g_ptr_array_add (function->attr_names, g_strdup (attributes[k]));
  for (guint k = 0; inputs[k] != NULL; k++)
    vn_graph_add_named (function->body, inputs[k], TRUE);
  for (guint k = 0; k < bodies[i].n_lines; k++)
    write_bodies_add_line (function->body, &bodies[i].lines[k]);
  vn_graph_set_output (function->body, 0, vn_graph_find_value (function->body, "y"));
  g_ptr_array_add (model->functions, function);
}

static gboolean
write_bodies_is_used (const VnGraph *graph,
                      guint          body)
{
  vn_graph_settle (graph);
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);

      if (g_str_equal (node->op_type, bodies[body].name) && g_str_equal (node->domain, bodies[body].domain))
        return TRUE;
      for (guint a = 0; a < node->attrs->len; a++)
        {
          const VnAttr *attr = g_ptr_array_index (node->attrs, a);

          if (attr->graph != NULL && write_bodies_is_used (attr->graph, body))
            return TRUE;
        }
    }
  return FALSE;
}

/*< private >
 * vn_quant_add_functions:
 *
 * Adds the functions that say what the operators that were written compute, unless @scheme leaves that to a vendor's
 * tools.
 */
void
vn_quant_add_functions (VnModel             *model,
                        const VnWriteScheme *scheme)
{
  g_return_if_fail (model != NULL && scheme != NULL);

  for (guint i = 0; i < G_N_ELEMENTS (bodies) && scheme->vendor == VN_VENDOR_NONE; i++)
    if (write_bodies_is_used (model->graph, i) && vn_model_find_function (model, bodies[i].domain, bodies[i].name) == NULL)
      write_bodies_add_function (model, i);
}
