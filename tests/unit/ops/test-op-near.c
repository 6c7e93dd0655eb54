/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operators with calls that nearly make sense: a good call, in which an input has another size, rank or element type or
 * is missing, or an attribute another value. What random calls never get past is reached by these. The operator may
 * refuse, but must not leave its memory: results and scratch have guards, inputs end where memory ends. */
#include "op-text.h"

#include <string.h>

#define ROUNDS (g_test_thorough () ? 20000 : 400)

/**
 * @inputs: as in op-text.h; without "=...", numbers at random: integers from 0 to 3, floats from -2 to 2
 */
typedef struct
{
  const char *type;
  gint64      opset;
  const char *attributes, *inputs;
  guint       n_outputs;
} Good;

#define MS "com.microsoft:"
#define U8 " f32[]=0.02 u8[]=120"
#define S8 " f32[]=0.01 s8[]=0"

#define GROUPS "0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1"
#define FIVE " f32[] f32[] f32[] f32[] f32[]"

static const Good calls[] = {
  { MS "Attention", 1, "num_heads=2", "f32[2,3,4] f32[4,12] f32[12] s32[2,3]", 1 },
  { MS "Attention", 1, "num_heads=2 unidirectional=1", "f32[2,3,4] f32[4,12] f32[12] s32[2,5] f32[2,2,2,2,2] f32[1,2,3,5]", 2 },
  { MS "BiasGelu", 1, "", "f32[2,3,4] f32[4]", 1 },
  { MS "CDist", 1, "metric=euclidean", "f32[2,3] f32[4,3]", 1 },
  { MS "CropAndResize", 1, "mode=bilinear", "f32[2,3,4,5] f32[3,4] s32[3]=0,1,0 s32[2]=2,3", 1 },
  { MS "DequantizeLinear", 1, "", "u8[2,3]" U8, 1 },
  { MS "DynamicQuantizeLSTM", 1, "hidden_size=2 direction=bidirectional",
    "f32[3,2,4] s8[2,4,8] s8[2,2,8] f32[2,16] s32[2]=2,3 f32[2,2,2] f32[2,2,2] f32[2,6] f32[2] s8[2] f32[2,8] s8[2,8]", 3 },
  { MS "DynamicQuantizeMatMul", 1, "", "f32[2,3,4] s8[4,5] f32[5] s8[5] f32[5]", 1 },
  { MS "EmbedLayerNormalization", 1, "",
    "s32[2,3] s32[2,3]=0,1,0,1,0,1 f32[4,6] f32[4,6] f32[2,6] f32[6] f32[6] s32[2,3] s32[2,3]", 3 },
  { MS "ExpandDims", 1, "", "f32[2,3] s32[]", 1 },
  { MS "FastGelu", 1, "", "f32[2,3,4] f32[4]", 1 },
  { MS "FusedConv", 1, "activation=Relu pads=[1,1,1,1]", "f32[1,2,5,5] f32[3,2,3,3] f32[3]", 1 },
  { MS "FusedGemm", 1, "activation=Relu transB=1", "f32[2,3] f32[4,3] f32[4]", 1 },
  { MS "FusedMatMul", 1, "transA=1", "f32[2,4,3] f32[2,4,5]", 1 },
  { MS "GatherBlockQuantized", 1, "bits=4 block_size=16", "u8[3,16] s64[2,1] f32[3,2] u8[3,1]", 1 },
  { MS "GatherBlockQuantized", 1, "block_size=16 gather_axis=1 quantize_axis=0", "u4[20,16] s64[2] f32[2,16]", 1 },
  { MS "GatherND", 1, "", "f32[4,4] s64[2,1]", 1 },
  { MS "GridSample", 1, "mode=bilinear", "f32[1,2,4,5] f32[1,2,3,2]", 1 },
  { MS "GroupQueryAttention", 1, "num_heads=4 kv_num_heads=2", "f32[2,3,32] f32[2,3,16] f32[2,3,16] - - s32[2]=2,2 s32[1]=3", 3 },
  { MS "GroupQueryAttention", 1, "num_heads=2 kv_num_heads=1 do_rotary=1 local_window_size=2",
    "f32[2,1,32] - - f32[2,1,5,8] f32[2,1,5,8] s32[2]=3,4 s32[1]=5 f32[6,4] f32[6,4] s64[2,1]=3,4 f32[1,1,1,5] f32[2]", 3 },
  { MS "Inverse", 1, "", "f32[2,2]=1,2,3,4", 1 },
  { MS "MatMulIntegerToFloat", 1, "", "u8[2,3] s8[3,4] f32[] f32[4] u8[] s8[4] f32[4]", 1 },
  { MS "MatMulNBits", 1, "K=32 N=3 bits=4 block_size=16", "f32[2,32] u8[3,2,8] f32[6] u8[3]", 1 },
  { MS "MatMulNBits", 1, "K=32 N=3 bits=2 block_size=16", "f32[2,32] u8[3,2,4] f32[6] f32[6] s32[32]=" GROUPS " f32[3]", 1 },
  { MS "MoE", 1, "k=2 activation_type=swiglu swiglu_fusion=1 swiglu_limit=7.",
    "f32[2,2,4] f32[4,3] f32[3,12,4] f32[3,12] f32[3,4,6] f32[3,4]", 1 },
  { MS "MoE", 1, "k=1 activation_type=silu normalize_routing_weights=1",
    "f32[3,4] f32[3,3] f32[3,6,4] - f32[3,4,6] - f32[3,6,4]", 1 },
  { MS "MultiHeadAttention", 1, "num_heads=2",
    "f32[2,3,8] f32[2,4,8] f32[2,4,6] f32[22] s32[2,4] f32[1,2,3,4]", 1 },
  { MS "MultiHeadAttention", 1, "num_heads=2 unidirectional=1",
    "f32[2,3,8] f32[2,3,8] f32[2,3,8] f32[24] s32[2]=4,5 - f32[2,2,2,4] f32[2,2,2,4]", 4 },
  { MS "MultiHeadAttention", 1, "num_heads=2", "f32[2,3,2,3,4] - - f32[24] s32[2,3,3]", 3 },
  { MS "MultiHeadAttention", 1, "num_heads=2", "f32[2,3,8] f32[2,5,2,2,4]", 3 },
  { MS "MultiHeadAttention", 1, "num_heads=2", "f32[2,3,8] f32[2,2,5,4] f32[2,2,5,3]", 1 },
  { MS "MurmurHash3", 1, "positive=0", "s64[2,3]", 1 },
  { MS "NhwcMaxPool", 1, "kernel_shape=[2,2]", "u8[1,4,5,3]", 1 },
  { MS "Pad", 1, "mode=constant", "f32[2,3] s64[4] f32[1]", 1 },
  { MS "QAttention", 1, "num_heads=2", "u8[2,3,5] s8[5,12] f32[12] f32[] f32[12] s32[2] u8[] s8[]", 1 },
  { MS "QAttention", 1, "num_heads=2", "u8[2,3,5] s8[5,12] f32[12] f32[] f32[] - - - f32[2,2,2,4,2]", 2 },
  { MS "QEmbedLayerNormalization", 1, "",
    "s32[2,3] s32[2,3]=0,1,0,1,0,1 u8[4,6] u8[4,6] u8[2,6] u8[6] u8[6] s32[2,3]" FIVE " u8[] u8[] u8[] u8[] u8[]", 2 },
  { MS "QGemm", 1, "transB=1", "u8[2,3]" U8 " s8[4,3] f32[4] s8[4] s32[4] f32[]=0.1 u8[]=3", 1 },
  { MS "QLinearAdd", 1, "", "u8[2,3]" U8 " u8[3]" U8 U8, 1 },
  { MS "QLinearAveragePool", 1, "kernel_shape=[2,2]", "u8[1,2,4,4]" U8 U8, 1 },
  { MS "QLinearConcat", 1, "axis=1", "f32[]=0.1 u8[]=3 u8[2,3]" U8 " u8[2,1]" U8, 1 },
  { MS "QLinearConv", 1, "channels_last=1", "u8[1,5,5,2]" U8 " s8[3,2,3,3] f32[3] s8[3]=0,0,0" U8 " s32[3]", 1 },
  { MS "QLinearGlobalAveragePool", 1, "", "u8[1,2,4,4]" U8 U8, 1 },
  { MS "QLinearLeakyRelu", 1, "alpha=0.1", "u8[2,3]" U8 U8, 1 },
  { MS "QLinearMul", 1, "", "u8[2,3]" U8 " u8[3]" U8 U8, 1 },
  { MS "QLinearReduceMean", 1, "axes=[1] keepdims=1", "u8[2,3]" U8 U8, 1 },
  { MS "QLinearSigmoid", 1, "", "u8[2,3]" U8 U8, 1 },
  { MS "QLinearSoftmax", 1, "axis=-1 opset=13", "u8[2,3]" U8 " f32[]=0.00390625 u8[]=0", 1 },
  { MS "QLinearWhere", 1, "", "bool[2,3] u8[2,3]" U8 " u8[3]" U8 U8, 1 },
  { MS "QMoE", 1, "k=2 activation_type=gelu expert_weight_bits=4",
    "f32[4,4] f32[4,3] u8[3,6,2] f32[3,6] f32[3,6] u8[3,4,3] f32[3,4] f32[3,4]", 1 },
  { MS "QMoE", 1, "k=2 activation_type=relu expert_weight_bits=8 block_size=16",
    "f32[2,32] f32[2,3] u8[3,16,32] f32[3,16,2] - u8[3,32,16] f32[3,32,1] - - - - u8[3,16,2] u8[3,32,1] - f32[2,3]", 1 },
  { MS "QuantizeLinear", 1, "", "f32[2,3]" U8, 1 },
  { MS "RotaryEmbedding", 1, "num_heads=2", "f32[2,3,8] s64[2,3] f32[4,2] f32[4,2]", 1 },
  { MS "SkipLayerNormalization", 1, "", "f32[2,3,4] f32[2,3,4] f32[4] f32[4] f32[4]", 4 },
  { MS "SkipSimplifiedLayerNormalization", 1, "", "f32[2,3,4] f32[2,3,4] f32[4] f32[4]", 4 },
  { MS "TransposeMatMul", 1, "transB=1", "f32[2,3] f32[4,3]", 1 },
  { MS "Trilu", 1, "upper=1", "f32[2,3] s64[]", 1 },
  { "ai.onnx.preview:FlexAttention", 1, "scale=0.5", "f32[2,4,3,2] f32[2,2,5,2] f32[2,2,5,3]", 1 },
  { "com.amd.quark:BFPQuantizeDequantize", 1, "axis=1 bit_width=13 block_size=2 bfp_method=to_bfp_prime", "f32[2,5,2]", 1 },
  { "com.amd.quark:MXQuantizeDequantize", 1, "axis=1 element_dtype=fp4_e2m1 block_size=4", "f32[2,5,2]", 1 },
  { "Attention", 23, "", "f32[2,4,3,2] f32[2,2,3,2] f32[2,2,3,5] f32[3,5] f32[2,2,2,2] f32[2,2,2,5]", 4 },
  { "Bernoulli", 15, "", "f32[2,3]", 1 },
  { "Bernoulli", 15, "dtype=2", "f64[2,3]", 1 },
  { "ConvInteger", 10, "", "u8[1,2,5,5] s8[3,2,3,3] u8[] s8[]", 1 },
  { "LinearAttention", 27, "q_num_heads=2 kv_num_heads=2 update_rule=linear", "f32[1,3,8] f32[1,3,8] f32[1,3,8]", 2 },
  { "MatMulInteger", 10, "", "u8[2,3] s8[3,4] u8[] s8[4]", 1 },
  { "Multinomial", 7, "sample_size=3", "f32[2,3]", 1 },
  { "QLinearConv", 10, "", "u8[1,2,5,5]" U8 " s8[3,2,3,3] f32[3] s8[3]=0,0,0" U8 " s32[3]", 1 },
  { "QLinearMatMul", 10, "", "u8[2,3]" U8 " s8[3,4]" S8 U8, 1 },
  { "RandomNormalLike", 1, "", "f32[2,3]", 1 },
  { "RotaryEmbedding", 23, "", "f32[2,4,3,8] f32[50,4] f32[50,4] s64[2,3]", 1 },
};

/* ---- making good calls worse ---- */

static VnTensor *
random_tensor (GRand              *rand,
               const VnTensorType *type)
{
  VnTensor *wide = vn_tensor_new (VN_DTYPE_F32, &type->shape, NULL), *tensor;

  g_assert_nonnull (wide);
  if (vn_dtype_get_bits (type->dtype) < 8)
    {
      vn_tensor_unref (wide);
      wide = vn_tensor_new (type->dtype, &type->shape, NULL);
      g_assert_nonnull (wide);
      for (gsize i = 0; i < wide->n_bytes; i++)
        ((guint8 *) wide->data)[i] = (guint8) g_rand_int (rand);
      return wide;
    }
  for (gsize i = 0; i < wide->n_elements; i++)
    ((float *) wide->data)[i] = vn_dtype_is_float (type->dtype) ? (float) g_rand_double_range (rand, -2, 2)
                              : (float) g_rand_int_range (rand, 0, type->dtype == VN_DTYPE_BOOL ? 2 : 4);
  tensor = vn_tensor_convert (wide, type->dtype, NULL);
  vn_tensor_unref (wide);
  g_assert_nonnull (tensor);
  return tensor;
}

static VnTensor *
good_tensor (GRand      *rand,
             const char *text)
{
  VnTensorType type;

  if (g_str_equal (text, "-") || strchr (text, '=') != NULL)
    return op_tensor_from_text (text);
  type = op_type_from_text (text);
  return random_tensor (rand, &type);
}

static void
change_shape (GRand   *rand,
              VnShape *shape)
{
  int axis = shape->rank > 0 ? g_rand_int_range (rand, 0, shape->rank) : 0;

  switch (g_rand_int_range (rand, 0, 5))
    {
    case 0:
      if (shape->rank > 0)
        shape->rank--;
      break;
    case 1:
      if (shape->rank < VN_MAX_RANK)
        shape->dims[shape->rank++] = g_rand_int_range (rand, 1, 3);
      break;
    case 2:
      shape->dims[axis] = g_rand_int_range (rand, 0, 2);
      break;
    default:
      shape->dims[axis] += g_rand_boolean (rand) || shape->dims[axis] == 0 ? 1 : -1;
      break;
    }
}

static VnTensor *
worse_tensor (GRand    *rand,
              VnTensor *good)
{
  static const VnDType dtypes[] = { VN_DTYPE_F32, VN_DTYPE_F16, VN_DTYPE_F64, VN_DTYPE_U8, VN_DTYPE_S8, VN_DTYPE_S32,
                                    VN_DTYPE_S64, VN_DTYPE_BOOL };
  static const gint64 numbers[] = { -1, 7, 1 << 20, G_MAXINT32, G_MININT32, G_MAXINT64, G_MININT64 };
  VnTensorType type = { good->dtype, good->shape };
  VnTensor *bad;

  switch (g_rand_int_range (rand, 0, 5))
    {
    case 0:
      return NULL;
    case 1:
      type.dtype = dtypes[g_rand_int_range (rand, 0, G_N_ELEMENTS (dtypes))];
      return random_tensor (rand, &type);
    case 2:
      bad = random_tensor (rand, &type);
      if (bad->n_elements > 0 && (bad->dtype == VN_DTYPE_S32 || bad->dtype == VN_DTYPE_S64))
        {
          gint64 number = numbers[g_rand_int_range (rand, 0, G_N_ELEMENTS (numbers))];
          gsize i = (gsize) g_rand_int_range (rand, 0, (gint32) bad->n_elements);

          if (bad->dtype == VN_DTYPE_S32)
            ((gint32 *) bad->data)[i] = (gint32) number;
          else
            ((gint64 *) bad->data)[i] = number;
        }
      return bad;
    default:
      change_shape (rand, &type.shape);
      return random_tensor (rand, &type);
    }
}

static char *
worse_attributes (GRand      *rand,
                  const char *good)
{
  static const char * const values[] = { "0", "-1", "1", "2", "3", "5", "17", "1048577", "4611686018427387904",
                                         "-9223372036854775808", "0.5", "nan", "text", "[1,2]", "[0]", "[-1,9,3]" };
  g_auto(GStrv) words = g_strsplit (good, " ", -1);
  guint n = g_strv_length (words), i = n > 0 ? (guint) g_rand_int_range (rand, 0, (gint32) n) : 0;
  char *equals = n > 0 ? strchr (words[i], '=') : NULL, *worse;

  if (equals == NULL)
    return g_strdup (good);
  *equals = '\0';
  worse = g_rand_int_range (rand, 0, 4) == 0
        ? g_strdup ("no=1")
        : g_strconcat (words[i], "=", values[g_rand_int_range (rand, 0, G_N_ELEMENTS (values))], NULL);
  g_free (words[i]);
  words[i] = worse;
  return g_strjoinv (" ", words);
}

static gboolean
call_once (GRand      *rand,
           const Good *good,
           gboolean    worse,
           GError    **error)
{
  g_auto(GStrv) name = g_strsplit (good->type, ":", 2);
  g_auto(GStrv) words = g_strsplit (good->inputs, " ", -1);
  g_autofree char *attributes = worse && g_rand_int_range (rand, 0, 3) == 0 ? worse_attributes (rand, good->attributes)
                                                                           : g_strdup (good->attributes);
  VnTensor *inputs[32] = { NULL }, *outputs[16] = { NULL };
  guint n = g_strv_length (words), bad = n > 0 ? (guint) g_rand_int_range (rand, 0, (gint32) n) : 0;
  OpCall call = { name[1] != NULL ? name[0] : "", name[1] != NULL ? name[1] : name[0], good->opset, attributes, inputs, n,
                  good->n_outputs, 1, g_rand_boolean (rand), .limit = 1 << 20 };
  gboolean ok;

  for (guint i = 0; i < n; i++)
    {
      inputs[i] = good_tensor (rand, words[i]);
      if (worse && inputs[i] != NULL && (i == bad || g_rand_int_range (rand, 0, 12) == 0))
        {
          VnTensor *other = worse_tensor (rand, inputs[i]);

          vn_tensor_unref (inputs[i]);
          inputs[i] = other;
        }
      inputs[i] = op_fence (inputs[i], TRUE);
    }
  ok = op_call (&call, outputs, error);
  for (guint i = 0; i < n; i++)
    g_clear_pointer (&inputs[i], vn_tensor_unref);
  for (guint i = 0; i < good->n_outputs; i++)
    g_clear_pointer (&outputs[i], vn_tensor_unref);
  return ok;
}

static void
test_call (gconstpointer data)
{
  const Good *good = data;
  g_autoptr(GRand) rand = g_rand_new_with_seed (g_str_hash (good->inputs));
  guint n_ok = 0;

  for (int i = 0; i < ROUNDS; i++)
    {
      g_autoptr(GError) error = NULL;
      gboolean ok = call_once (rand, good, i > 3, &error);

      if (i <= 3)
        g_assert_no_error (error);
      g_assert_true (ok == (error == NULL));
      n_ok += ok;
    }
  g_test_message ("%u of %d computed", n_ok, ROUNDS);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (calls); i++)
    {
      g_autofree char *path = g_strdup_printf ("/ops/near/%s/%" G_GSIZE_FORMAT, calls[i].type, i);

      g_test_add_data_func (path, &calls[i], test_call);
    }
  return g_test_run ();
}
