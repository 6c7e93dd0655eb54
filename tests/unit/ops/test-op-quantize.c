/* SPDX-License-Identifier: GPL-3.0-or-later */
/* QuantizeLinear and DequantizeLinear must be exact: they are the simulation of a quantized network. */
#include "op-text.h"

#include <math.h>
#include <string.h>

static const OpTextCase cases[] = {
  /* Ties to even, saturation, and what is no number. */
  { "QuantizeLinear", 10, "", "f32[6]=0.5,1.5,2.5,-0.5,-1.5,3.5 f32[]=1 s8[]=0", "s8[6]=0,2,2,0,-2,4" },
  { "QuantizeLinear", 10, "", "f32[5]=-1,300,nan,inf,-inf f32[]=1 u8[]=128", "u8[5]=127,255,0,255,0" },
  { "QuantizeLinear", 10, "", "f32[3]=0,2,1000 f32[]=2", "u8[3]=0,1,255" },
  { "QuantizeLinear", 10, "", "f32[3]=1,-1,0 f32[]=0 s8[]=3", "s8[3]=127,-128,-128" },
  { "QuantizeLinear", 21, "", "f32[3]=1e9,-1e9,2.5 f32[]=1 s16[]=-5", "s16[3]=32767,-32768,-3" },
  { "QuantizeLinear", 21, "", "f32[3]=1e9,-1e9,2.5 f32[]=1 u16[]=32768", "u16[3]=65535,0,32770" },
  { "QuantizeLinear", 21, "", "f32[5]=9,-9,2.5,nan,-1 f32[]=1 s4[]=1", "s4[5]=7,-8,3,-8,0" },
  { "QuantizeLinear", 21, "output_dtype=21", "f32[3]=9,99,-1 f32[]=1", "u4[3]=9,15,0" },
  { "QuantizeLinear", 19, "", "f16[2]=1.5,2.5 f16[]=1 s8[]=0", "s8[2]=2,2" },
  { "QuantizeLinear", 13, "", "s32[2]=5,-5 f32[]=2 s8[]=0", "s8[2]=2,-2" },
  /* Per axis: the default is 1; the last axis and one before it. */
  { "QuantizeLinear", 13, "", "f32[1,2,2]=1,2,3,4 f32[2]=1,2 u8[2]=0,10", "u8[1,2,2]=1,2,12,12" },
  { "QuantizeLinear", 13, "axis=-1", "f32[2,2]=1,2,3,4 f32[2]=1,2 u8[2]=0,10", "u8[2,2]=1,11,3,12" },
  { "QuantizeLinear", 13, "axis=0", "f32[2,2]=1,2,3,4 f32[2]=1,2", "u8[2,2]=1,2,2,2" },
  /* Blocks along the last axis, the last one shorter, and along the first. */
  { "QuantizeLinear", 21, "axis=1 block_size=2", "f32[1,5]=1,2,3,4,5 f32[1,3]=1,2,5", "u8[1,5]=1,2,2,2,1" },
  { "QuantizeLinear", 21, "axis=0 block_size=2", "f32[3,2]=1,2,3,4,5,6 f32[2,2]=1,2,5,3", "u8[3,2]=1,1,3,2,1,2" },
  { "QuantizeLinear", 21, "axis=1 block_size=2", "f32[1,5]=1,2,3,4,5 f32[1,2]=1,2", "!need 3" },
  { "QuantizeLinear", 13, "", "f32[1,2,2]=1,2,3,4 f32[3]=1,2,3 u8[3]=0,1,2", "!3 scales" },
  { "QuantizeLinear", 13, "", "f32[2]=1,2 f32[]=1 u8[2]=0,1", "!2 zero points" },
  { "QuantizeLinear", 13, "axis=3", "f32[1,2]=1,2 f32[2]=1,2", "!outside" },
  { "QuantizeLinear", 21, "output_dtype=3", "f32[1]=1 f32[]=1 u8[]=0", "!output_dtype" },
  { "QuantizeLinear", 13, "", "f32[1]=1 f64[]=1 u8[]=0", "!float64" },
  { "QuantizeLinear", 13, "", "f32[0]= f32[]=1 u8[]=0", "u8[0]=" },
  /* And back. */
  { "DequantizeLinear", 10, "", "u8[3]=0,128,255 f32[]=0.5 u8[]=128", "f32[3]=-64,0,63.5" },
  { "DequantizeLinear", 10, "", "s32[3]=1000000,-3,0 f32[]=0.25", "f32[3]=250000,-0.75,0" },
  { "DequantizeLinear", 21, "", "u16[2]=0,65535 f32[]=1 u16[]=32768", "f32[2]=-32768,32767" },
  { "DequantizeLinear", 21, "", "s4[3]=-8,7,1 f32[]=2 s4[]=-1", "f32[3]=-14,16,4" },
  { "DequantizeLinear", 19, "", "s8[2]=1,-1 f16[]=0.5", "f16[2]=0.5,-0.5" },
  { "DequantizeLinear", 13, "axis=0", "s8[2,2]=1,2,3,4 f32[2]=1,10 s8[2]=0,1", "f32[2,2]=1,2,20,30" },
  { "DequantizeLinear", 13, "", "s8[2,2]=1,2,3,4 f32[2]=1,10 s8[2]=0,1", "f32[2,2]=1,10,3,30" },
  { "DequantizeLinear", 21, "axis=1 block_size=2", "u4[1,3]=1,2,3 f32[1,2]=1,10", "f32[1,3]=1,2,30" },
  { "DequantizeLinear", 13, "", "s8[1]=1 f32[]=1 u8[]=0", "!same element type" },
  /* Block floating point: the step is 2^(E - 6), results stay below 2^(E + 1). */
  { "com.amd.quark:BFPQuantizeDequantize", 1, "axis=0 rounding_mode=2", "f32[8]=1,0.01,0.0234375,-0.0390625,1.995,nan,inf,0",
    "f32[8]=1,0.015625,0.03125,-0.03125,1.984375,nan,inf,0" },
  { "com.amd.quark:BFPQuantizeDequantize", 1, "axis=0", "f32[3]=1,0.0234375,-0.0390625", "f32[3]=1,0.03125,-0.046875" },
  { "com.amd.quark:BFPQuantizeDequantize", 1, "axis=0 rounding_mode=1", "f32[3]=1,0.0234375,-0.0390625",
    "f32[3]=1,0.03125,-0.03125" },
  /* Blocks along axis 1; the last one is shorter. */
  { "com.amd.quark:BFPQuantizeDequantize", 1, "axis=1 block_size=2 rounding_mode=2", "f32[1,3,2]=1,64,0.01,0.01,0.01,0.01",
    "f32[1,3,2]=1,64,0.015625,0,0.0100097656,0.0100097656" },
  /* A sub-block of two may halve the step once. */
  { "com.amd.quark:BFPQuantizeDequantize", 1, "axis=0 bfp_method=to_bfp_prime bit_width=13 block_size=4 rounding_mode=2",
    "f32[4]=1,0.3,0.1,0.2", "f32[4]=1,0.25,0.125,0.1875" },
  { "com.amd.quark:BFPQuantizeDequantize", 1, "bit_width=9", "f32[1,2]=1,2", "!bit_width 9" },
  { "com.amd.quark:BFPQuantizeDequantize", 1, "axis=2", "f32[1,2]=1,2", "!outside" },
  { "com.amd.quark:BFPQuantizeDequantize", 1, "axis=1 rounding_mode=2", "f32[2]=1,0.01", "f32[2]=1,0.015625" },
  /* Microscaling. The largest has exponent 0: the scale is 2^-2, so elements are 4, 5.2, -0.4, 0.16: steps of 2 from 4
   * on, of 0.5 below 2. */
  { "com.amd.quark:MXQuantizeDequantize", 1, "axis=0 element_dtype=fp4_e2m1 rounding_mode=2",
    "f32[6]=1,1.3,-0.1,0.04,nan,-inf", "f32[6]=1,1.5,-0.125,0,nan,-inf" },
  /* 1.9 is 7.6, above the largest element, 6. */
  { "com.amd.quark:MXQuantizeDequantize", 1, "axis=0 element_dtype=fp4_e2m1", "f32[2]=1.9,-1.9", "f32[2]=1.5,-1.5" },
  /* Scale 2^-2: 4.3 and 7.9 in steps of 0.5, 0.3 in steps of 0.125. */
  { "com.amd.quark:MXQuantizeDequantize", 1, "axis=0 element_dtype=fp6_e2m3", "f32[3]=1.075,1.975,0.075",
    "f32[3]=1.125,1.875,0.0625" },
  /* Scale 2^-4: 18 has steps of 4: a tie, to the even 16; 2.1 steps of 0.5. */
  { "com.amd.quark:MXQuantizeDequantize", 1, "axis=0 element_dtype=fp6_e3m2", "f32[3]=1.125,1.96875,0.13125",
    "f32[3]=1,1.75,0.125" },
  /* Scale 2^-8: 272 has steps of 32: a tie, to 256; 0.0078125 of a step of 2^-9 is 1/512: 2. */
  { "com.amd.quark:MXQuantizeDequantize", 1, "axis=0 element_dtype=fp8_e4m3", "f32[3]=1.0625,1.9375,0.0000075",
    "f32[3]=1,1.75,0.00000762939453125" },
  { "com.amd.quark:MXQuantizeDequantize", 1, "axis=0 element_dtype=fp8_e5m2", "f32[2]=1.2,0.007", "f32[2]=1.25,0.0068359375" },
  /* Steps of 2^-6 below the scale 1: 1.0078125 is a tie; a block of two of its own has a smaller scale. */
  { "com.amd.quark:MXQuantizeDequantize", 1, "axis=0 block_size=2", "f32[4]=1.0078125,-1.999,0.1,0.05",
    "f32[4]=1.015625,-2,0.099609375,0.0498046875" },
  { "com.vai.quantize:MXFixNeuron", 1, "axis=0 block_size=2 rounding_mode=2", "f32[2]=1.0078125,1.999", "f32[2]=1,1.984375" },
  { "com.amd.quark:MXQuantizeDequantize", 1, "axis=1", "f32[2,2]=1,0.01,64,0.01", "f32[2,2]=1,0.015625,64,0" },
  { "com.amd.quark:MXQuantizeDequantize", 1, "", "f32[1]=0.123", "f32[1]=0.123" },
  { "com.amd.quark:MXQuantizeDequantize", 1, "", "f32[3]=0,0,0", "f32[3]=0,0,0" },
  { "com.amd.quark:MXQuantizeDequantize", 1, "element_dtype=fp9", "f32[2]=1,2", "!fp9" },
  { "com.amd.quark:MXQuantizeDequantize", 1, "block_size=0", "f32[2]=1,2", "!block_size 0" },
  { "ai.onnx.contrib:FixNeuron", 1, "", "f32[5]=0.25,-100,100,nan,0.75 f32[]=0.5 s8[]=0", "f32[5]=0,-64,63.5,-64,1" },
  { "ai.onnx.contrib:FixNeuron", 1, "bit_width=4", "f32[3]=9,-9,2 f32[]=1 s8[]=2", "f32[3]=5,-9,2" },
  { "com.vai.quantize:VitisQuantizeLinear", 1, "", "f32[2]=1.5,-3 f32[]=1 s8[]=0", "s8[2]=2,-3" },
  { "com.amd.quark:ExtendedQuantizeLinear", 1, "", "f32[2]=1.00390625,3 f32[]=1 bf16[]=0", "bf16[2]=1,3" },
  { "com.amd.quark:ExtendedDequantizeLinear", 1, "", "bf16[2]=1,3 f32[]=2 bf16[]=1", "f32[2]=0,4" },
  { "com.microsoft:QuantizeLinear", 1, "", "f32[1,2]=1.5,-3 f32[]=1 u16[]=10", "u16[1,2]=12,7" },
  { "DynamicQuantizeLinear", 11, "", "f32[3]=0,2,-3", "u8[3]=153,255,0 f32[]=0.019607844 u8[]=153" },
  { "DynamicQuantizeLinear", 11, "", "f32[2]=0,0", "u8[2]=0,0 f32[]=1 u8[]=0" },
  { "DynamicQuantizeLinear", 11, "", "f32[2]=1,2", "u8[2]=127,255 f32[]=0.007843138 u8[]=0" },
};

static void
test_cases (void)
{
  op_run_text_cases (cases, G_N_ELEMENTS (cases), 0);
}

/* The definition, one element at a time. */
static double
reference (float   x,
           float   scale,
           double  zero,
           VnDType dtype)
{
  gint64 min, max;
  double value = (double) nearbyintf (x / scale) + zero;

  vn_dtype_integer_range (dtype, &min, &max);
  return isnan (value) ? (double) min : CLAMP (value, (double) min, (double) max);
}

static VnTensor *
constant_of (VnDType        dtype,
             const VnShape *shape,
             gint64         base)
{
  VnTensor *tensor = vn_tensor_new (dtype, shape, NULL);

  for (gsize i = 0; i < tensor->n_elements; i++)
    {
      gint64 value = base + (gint64) i % 3;

      memcpy ((char *) tensor->data + i * (vn_dtype_get_bits (dtype) / 8), &value, vn_dtype_get_bits (dtype) / 8);
    }
  return tensor;
}

typedef struct
{
  VnShape     x, scale;
  const char *attributes;
  gsize       inner, dim;     /* scale of element i: i / inner % dim */
} Layout;

static void
check_exact (const Layout *layout,
             VnDType       dtype,
             gint64        zero_base,
             guint         n_threads)
{
  g_autoptr(VnTensor) x = op_random (&layout->x, 5);
  g_autoptr(VnTensor) scale = op_random (&layout->scale, 6);
  g_autoptr(VnTensor) zero = constant_of (dtype, &layout->scale, zero_base);
  g_autoptr(VnTensor) q = NULL;
  g_autoptr(VnTensor) y = NULL;
  float *values = x->data, *scales = scale->data;

  for (gsize i = 0; i < scale->n_elements; i++)
    scales[i] = 0.003f + 0.001f * fabsf (scales[i]);
  /* Every third value lies at or beside a tie. */
  for (gsize i = 0; i < x->n_elements; i += 3)
    values[i] = (rintf (values[i] * 100.f) + 0.5f) * scales[i / layout->inner % layout->dim];
  values[0] = NAN;
  q = op_call_one (&(OpCall) { .domain = "", .type = "QuantizeLinear", .opset = 21, .attributes = layout->attributes,
                               .inputs = (VnTensor *[]) { x, scale, zero }, .n_inputs = 3, .n_outputs = 1,
                               .n_threads = n_threads });
  y = op_call_one (&(OpCall) { .domain = "", .type = "DequantizeLinear", .opset = 21, .attributes = layout->attributes,
                               .inputs = (VnTensor *[]) { q, scale, zero }, .n_inputs = 3, .n_outputs = 1,
                               .n_threads = n_threads });
  for (gsize i = 0; i < x->n_elements; i++)
    {
      gsize k = i / layout->inner % layout->dim;
      double zero_point = vn_tensor_get_double (zero, k), wanted = reference (values[i], scales[k], zero_point, dtype);
      float back = ((float) (wanted - zero_point)) * scales[k];

      if (vn_tensor_get_double (q, i) != wanted || ((float *) y->data)[i] != back)
        {
          g_test_message ("%s %s, element %" G_GSIZE_FORMAT ": %.9g / %.9g + %g gave %g, expected %g; back %.9g, expected "
                          "%.9g", vn_dtype_get_name (dtype), layout->attributes, i, (double) values[i],
                          (double) scales[k], zero_point, vn_tensor_get_double (q, i), wanted,
                          (double) ((float *) y->data)[i], (double) back);
          g_assert_not_reached ();
        }
    }
}

static void
test_exact (void)
{
  static const Layout layouts[] = {
    { VN_SHAPE (9001), VN_SHAPE_SCALAR, "", 1, 1 },
    { VN_SHAPE (300, 1001), VN_SHAPE_SCALAR, "", 1, 1 },
    { VN_SHAPE (2, 7, 5, 13), VN_SHAPE (7), "axis=1", 65, 7 },
    { VN_SHAPE (64, 129), VN_SHAPE (129), "axis=-1", 1, 129 },
    { VN_SHAPE (3, 20000), VN_SHAPE (3), "axis=0", 20000, 3 },
    { VN_SHAPE (40, 6, 1), VN_SHAPE (6), "axis=1", 1, 6 },
  };
  static const struct { VnDType dtype; gint64 zero; } types[] = {
    { VN_DTYPE_U8, 120 }, { VN_DTYPE_S8, -3 }, { VN_DTYPE_U16, 32767 }, { VN_DTYPE_S16, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (layouts); i++)
    for (guint k = 0; k < G_N_ELEMENTS (types); k++)
      for (guint threads = 1; threads <= 3; threads += 2)
        check_exact (&layouts[i], types[k].dtype, types[k].zero, threads);
}

/* Wide integers of the extended operators, beyond what float32 holds. */
static void
test_wide (void)
{
  g_autoptr(VnTensor) x = op_tensor_from_text ("f32[4]=16777216,1e12,-1e12,nan");
  g_autoptr(VnTensor) scale = op_tensor_from_text ("f32[]=0.5");
  g_autoptr(VnTensor) zero = op_tensor_from_text ("s32[]=1");
  g_autoptr(VnTensor) y = op_call_one (&(OpCall) { .domain = "com.amd.quark", .type = "ExtendedQuantizeLinear",
                                                   .opset = 1, .inputs = (VnTensor *[]) { x, scale, zero },
                                                   .n_inputs = 3, .n_outputs = 1 });
  g_autofree char *text = op_tensor_to_text (y);

  g_test_message ("%s", text);
  g_assert_cmpint (vn_tensor_get_s64 (y, 0), ==, 33554433);
  g_assert_cmpint (vn_tensor_get_s64 (y, 1), ==, G_MAXINT32);
  g_assert_cmpint (vn_tensor_get_s64 (y, 2), ==, G_MININT32);
  g_assert_cmpint (vn_tensor_get_s64 (y, 3), ==, G_MININT32);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ops/quantize/cases", test_cases);
  g_test_add_func ("/ops/quantize/exact", test_exact);
  g_test_add_func ("/ops/quantize/wide", test_wide);
  return g_test_run ();
}
