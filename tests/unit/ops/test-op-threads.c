/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every operator that splits its work: the same bits with one thread and with several, on sizes that leave odd ends,
 * with guard bytes around results and scratch. */
#include "op-text.h"
#include "vn-op-kernel.h"

#include <math.h>
#include <string.h>

#define MOST_THREADS 4

/**
 * @inputs: as in op-text.h; without "=...", random numbers between -2 and 2, of integer types between -120 and 120
 * @clamp: the engine has fused a Clip behind it
 */
typedef struct
{
  const char *type;
  gint64      opset;
  const char *attributes, *inputs;
  guint       n_outputs;
  gboolean    clamp;
} Case;

static const Case cases[] = {
  /* convolutions: packed tiles, few channels, one channel per group, grouped, one axis, three axes, transposed */
  { "Conv", 11, "", "f32[1,24,67,61] f32[37,24,1,1] f32[37]", 1, TRUE },
  { "Conv", 11, "pads=[1,1,1,1]", "f32[2,19,33,47] f32[21,19,3,3] f32[21]", 1 },
  { "Conv", 11, "pads=[3,3,3,3] strides=[2,2]", "f32[1,3,131,127] f32[17,3,7,7] f32[17]", 1, TRUE },
  { "Conv", 11, "pads=[1,1,1,1] group=67", "f32[1,67,45,43] f32[67,1,3,3] f32[67]", 1, TRUE },
  { "Conv", 11, "pads=[2,2,2,2] strides=[2,2] group=35", "f32[2,35,61,59] f32[35,1,5,5]", 1 },
  { "Conv", 11, "pads=[2,2,2,2] dilations=[2,2] group=33", "f32[1,33,51,53] f32[33,1,3,3]", 1 },
  { "Conv", 11, "pads=[1,1,1,1] group=3", "f32[1,33,41,43] f32[27,11,3,3] f32[27]", 1 },
  { "Conv", 11, "pads=[4,4]", "f32[1,31,513] f32[29,31,9] f32[29]", 1 },
  { "Conv", 11, "pads=[1,1,1,1,1,1]", "f32[1,7,13,17,19] f32[9,7,3,3,3]", 1 },
  { "ConvTranspose", 11, "strides=[2,2] pads=[1,1,1,1]", "f32[1,23,31,29] f32[23,19,4,4] f32[19]", 1 },
  { "ConvTranspose", 11, "strides=[3,3]", "f32[1,5,41,37] f32[5,9,3,3]", 1 },
  { "com.microsoft:FusedConv", 1, "activation=Relu pads=[1,1,1,1]", "f32[1,21,45,43] f32[23,21,3,3] f32[23]", 1 },
  /* products */
  { "MatMul", 13, "", "f32[131,257] f32[257,129]", 1 },
  { "MatMul", 13, "", "f32[6,67,33] f32[6,33,71]", 1 },
  { "MatMul", 13, "", "f32[2,3,67,65] f32[65,77]", 1 },
  { "MatMul", 13, "", "f32[1,1031] f32[1031,517]", 1 },
  { "Gemm", 13, "transB=1", "f32[65,515] f32[131,515] f32[131]", 1 },
  { "Gemm", 13, "transA=1 alpha=0.5 beta=2.0", "f32[515,65] f32[515,131] f32[65,1]", 1 },
  { "com.microsoft:FusedMatMul", 1, "transA=1 alpha=0.25", "f32[5,67,61] f32[5,67,63]", 1 },
  { "Einsum", 12, "equation=bij,bkj->bik", "f32[5,63,67] f32[5,61,67]", 1 },
  /* whole numbers */
  { "QuantizeLinear", 13, "", "f32[3,257,301] f32[]=0.031 u8[]=117", 1 },
  { "DequantizeLinear", 13, "", "s8[3,257,301] f32[]=0.031 s8[]=3", 1 },
  { "DynamicQuantizeLinear", 11, "", "f32[3,257,301]", 3 },
  { "QLinearConv", 10, "pads=[1,1,1,1]",
    "u8[1,19,43,41] f32[]=0.02 u8[]=120 s8[23,19,3,3] f32[]=0.01 s8[]=0 f32[]=0.3 u8[]=130 s32[23]", 1 },
  { "ConvInteger", 10, "pads=[1,1,1,1]", "u8[1,19,43,41] s8[23,19,3,3] u8[]=120", 1 },
  { "QLinearMatMul", 10, "",
    "u8[67,129] f32[]=0.02 u8[]=120 s8[129,65] f32[]=0.01 s8[]=0 f32[]=0.3 u8[]=130", 1 },
  { "MatMulInteger", 10, "", "u8[67,129] s8[129,65] u8[]=120", 1 },
  { "com.microsoft:QLinearAdd", 1, "",
    "u8[5,129,257] f32[]=0.02 u8[]=120 u8[5,129,257] f32[]=0.01 u8[]=4 f32[]=0.03 u8[]=130", 1 },
  { "com.microsoft:QLinearGlobalAveragePool", 1, "", "u8[1,67,45,43] f32[]=0.02 u8[]=120 f32[]=0.01 u8[]=4", 1 },
  { "com.microsoft:QLinearSoftmax", 1, "axis=-1 opset=13", "u8[67,1031] f32[]=0.02 u8[]=120 f32[]=0.00390625 u8[]=0", 1 },
  /* pools */
  { "MaxPool", 12, "kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]", "f32[1,33,91,89]", 1 },
  { "MaxPool", 12, "kernel_shape=[5,5] pads=[2,2,2,2]", "f32[2,17,57,55]", 2 },
  { "AveragePool", 11, "kernel_shape=[3,3] pads=[1,1,1,1]", "f32[1,33,91,89]", 1 },
  { "AveragePool", 11, "kernel_shape=[7,5] strides=[3,2] count_include_pad=1 pads=[2,2,2,2]", "f32[1,33,91,89]", 1 },
  { "LpPool", 11, "kernel_shape=[3,3] p=2", "f32[1,33,91,89]", 1 },
  { "GlobalAveragePool", 1, "", "f32[2,129,45,43]", 1 },
  { "GlobalMaxPool", 1, "", "f32[2,129,45,43]", 1 },
  /* norms */
  { "BatchNormalization", 15, "", "f32[1,33,91,89] f32[33] f32[33] f32[33] f32[33]=ones", 1 },
  { "InstanceNormalization", 6, "", "f32[2,33,61,59] f32[33] f32[33]", 1 },
  { "LayerNormalization", 17, "axis=-1", "f32[3,129,517] f32[517] f32[517]", 1 },
  { "GroupNormalization", 21, "num_groups=3", "f32[2,33,61,59] f32[33] f32[33]", 1 },
  { "LRN", 13, "size=5", "f32[1,33,61,59]", 1 },
  { "LpNormalization", 1, "axis=1", "f32[3,129,517]", 1 },
  { "MeanVarianceNormalization", 13, "", "f32[3,33,61,59]", 1 },
  { "com.microsoft:SkipLayerNormalization", 1, "", "f32[3,129,517] f32[3,129,517] f32[517] f32[517]", 1 },
  { "Softmax", 13, "axis=-1", "f32[129,1031]", 1 },
  { "Softmax", 13, "axis=1", "f32[2,131,511]", 1 },
  { "LogSoftmax", 13, "axis=-1", "f32[129,1031]", 1 },
  { "Softmax", 13, "axis=-1", "f32[30011,2]", 1 },
  { "LogSoftmax", 13, "axis=-1", "f32[5003,13]", 1 },
  { "Hardmax", 13, "axis=-1", "f32[129,1031]", 1 },
  /* sums */
  { "ReduceSum", 13, "", "f32[67,33,129] s64[1]=1", 1 },
  { "ReduceMean", 13, "axes=[0,2]", "f32[67,33,129]", 1 },
  { "ReduceMean", 13, "", "f32[67,33,129]", 1 },
  { "ReduceMax", 13, "axes=[-1]", "f32[67,33,129]", 1 },
  { "ReduceL2", 13, "axes=[1,2]", "f32[67,33,129]", 1 },
  { "ReduceLogSumExp", 13, "axes=[1]", "f32[67,33,129]", 1 },
  { "CumSum", 14, "", "f32[67,33,129] s64[]=1", 1 },
  { "ArgMax", 13, "axis=1", "f32[67,133,129]", 1 },
  { "TopK", 11, "", "f32[129,1031] s64[1]=7", 2 },
  /* element by element */
  { "Relu", 14, "", "f32[3,257,301]", 1 },
  { "Sigmoid", 13, "", "f32[3,257,301]", 1 },
  { "Tanh", 13, "", "f32[3,257,301]", 1 },
  { "Erf", 13, "", "f32[3,257,301]", 1 },
  { "Gelu", 20, "", "f32[3,257,301]", 1 },
  { "HardSwish", 14, "", "f32[3,257,301]", 1 },
  { "PRelu", 16, "", "f32[3,257,301] f32[257,1]", 1 },
  { "Clip", 13, "", "f32[3,257,301] f32[]=-0.5 f32[]=0.7", 1 },
  { "Exp", 13, "", "f32[3,257,301]", 1 },
  { "Add", 14, "", "f32[3,257,301] f32[3,257,301]", 1 },
  { "Mul", 14, "", "f32[3,257,301] f32[257,1]", 1 },
  { "Div", 14, "", "f32[3,257,301] f32[301]", 1 },
  { "Pow", 13, "", "f32[3,257,301] f32[]=2.0", 1 },
  { "Where", 16, "", "bool[3,1,301] f32[3,257,301] f32[257,1]", 1 },
  { "Sum", 13, "", "f32[3,257,301] f32[257,1] f32[301]", 1 },
  { "Cast", 13, "to=10", "f32[3,257,301]", 1 },
  /* moving */
  { "Transpose", 13, "perm=[0,2,3,1]", "f32[2,33,61,59]", 1 },
  { "Concat", 13, "axis=1", "f32[2,33,61,59] f32[2,7,61,59] f32[2,1,61,59]", 1 },
  { "Concat", 13, "axis=0", "f32[3,61,59] f32[17,61,59]", 1 },
  { "Concat", 13, "axis=-1", "f32[2,33,61,59] f32[2,33,61,7]", 1 },
  { "Resize", 13, "mode=linear coordinate_transformation_mode=half_pixel",
    "f32[1,17,45,43] - - s64[4]=1,17,91,87", 1 },
  { "Resize", 13, "mode=nearest coordinate_transformation_mode=asymmetric nearest_mode=floor",
    "f32[1,17,45,43] - f32[4]=1,1,2,2", 1 },
  { "Resize", 13, "mode=cubic", "f32[1,17,45,43] - - s64[4]=1,17,91,87", 1 },
  { "DepthToSpace", 13, "blocksize=3", "f32[1,63,45,43]", 1 },
  { "Pad", 13, "mode=reflect", "f32[1,17,91,89] s64[8]=0,0,2,3,0,0,4,5", 1 },
  { "Expand", 13, "", "f32[67,1,129] s64[3]=67,33,129", 1 },
  { "Slice", 13, "", "f32[67,33,129] s64[2]=1,2 s64[2]=60,100 s64[2]=0,2 s64[2]=2,3", 1 },
  { "Gather", 13, "axis=1", "f32[67,33,129] s64[5]=0,32,7,7,-1", 1 },
  /* drawn */
  { "RandomNormal", 1, "shape=[401,997]", "", 1 },
  { "RandomUniform", 1, "shape=[401,997] dtype=11", "", 1 },
  { "Bernoulli", 15, "dtype=7", "f32[401,997]", 1 },
  /* recurrent */
  { "LSTM", 14, "hidden_size=67", "f32[7,5,33] f32[1,268,33] f32[1,268,67] f32[1,536]", 3 },
  { "GRU", 14, "hidden_size=67 linear_before_reset=1", "f32[7,5,33] f32[1,201,33] f32[1,201,67] f32[1,402]", 2 },
};

/* What a random number becomes in an input of that type. */
static float
fit (float       x,
     VnDType     dtype,
     const char *rule)
{
  if (g_str_equal (rule, "=ones"))
    return fabsf (x) + 1;
  switch ((int) dtype)
    {
    case VN_DTYPE_BOOL:
      return x > 0;
    case VN_DTYPE_U8:
      return (x + 2) * 60;
    case VN_DTYPE_F32:
      return x;
    default:
      return x * 60;
    }
}

static VnTensor *
make_tensor (const char *text,
             guint       seed)
{
  const char *rule = text + strcspn (text, "=");
  g_autoptr(VnTensor) floats = NULL;
  VnTensorType type;
  VnTensor *tensor;

  if ((*rule != '\0' && !g_str_equal (rule, "=ones")) || g_str_equal (text, "-"))
    return op_tensor_from_text (text);
  type = op_type_from_text (text);
  floats = op_random (&type.shape, seed);
  for (gsize i = 0; i < floats->n_elements; i++)
    ((float *) floats->data)[i] = fit (((float *) floats->data)[i], type.dtype, rule);
  tensor = vn_tensor_convert (floats, type.dtype, NULL);
  g_assert_nonnull (tensor);
  return tensor;
}

static void
run_case (const Case  *self,
          VnTensor   **inputs,
          guint        n_inputs,
          gboolean     constant,
          guint        n_threads,
          VnTensor   **outputs)
{
  g_auto(GStrv) name = g_strsplit (self->type, ":", 2);
  OpCall call = { name[1] != NULL ? name[0] : "", name[1] != NULL ? name[1] : name[0], self->opset, self->attributes,
                  inputs, n_inputs, self->n_outputs, n_threads, constant };
  g_autoptr(GError) error = NULL;

  if (self->clamp)
    call.activation = (VnActivation) { TRUE, -0.25f, 1.5f };
  op_call (&call, outputs, &error);
  g_assert_no_error (error);
}

static gboolean
has_several_values (const VnTensor *tensor)
{
  for (gsize i = 1; i < tensor->n_elements; i++)
    if (vn_tensor_get_double (tensor, i) != vn_tensor_get_double (tensor, 0))
      return TRUE;
  return tensor->n_elements == 1;
}

static void
test_case (gconstpointer data)
{
  const Case *self = data;
  g_auto(GStrv) words = g_strsplit (self->inputs, " ", -1);
  guint n_inputs = g_strv_length (words);
  VnTensor *inputs[16] = { NULL }, *first[4] = { NULL }, *again[4] = { NULL };

  for (guint i = 0; i < n_inputs; i++)
    inputs[i] = make_tensor (words[i], i + 1);
  for (guint constant = 0; constant < 2; constant++)
    {
      run_case (self, inputs, n_inputs, constant != 0, 1, first);
      for (guint i = 0; i < self->n_outputs; i++)
        g_assert_true (has_several_values (first[i]));
      for (guint n = 2; n <= MOST_THREADS; n++)
        {
          run_case (self, inputs, n_inputs, constant != 0, n, again);
          for (guint i = 0; i < self->n_outputs; i++)
            {
              op_assert_same (first[i], again[i]);
              g_clear_pointer (&again[i], vn_tensor_unref);
            }
        }
      for (guint i = 0; i < self->n_outputs; i++)
        g_clear_pointer (&first[i], vn_tensor_unref);
    }
  for (guint i = 0; i < n_inputs; i++)
    g_clear_pointer (&inputs[i], vn_tensor_unref);
}

static void
count_item (gpointer data,
            gsize    item,
            guint    worker)
{
  g_assert_cmpuint (worker, <, vn_op_max_workers ());
  g_atomic_int_inc (&((gint *) data)[item]);
}

/* Each item is done once, however many are handed out at a time. */
static void
test_items (void)
{
  static const gsize counts[] = { 0, 1, 2, 3, 7, 8, 63, 1000, 4099 };
  static const double costs[] = { 0, 0.5, 19, 999, 7999, 8001, 1e6 };

  for (guint i = 0; i < G_N_ELEMENTS (counts) * G_N_ELEMENTS (costs); i++)
    for (guint n_threads = 1; n_threads <= MOST_THREADS; n_threads++)
      {
        VnOpContext ctx = { .n_threads = n_threads };
        gsize n = counts[i / G_N_ELEMENTS (costs)];
        g_autofree gint *done = g_new0 (gint, n + 1);

        vn_op_for_items (&ctx, n, costs[i % G_N_ELEMENTS (costs)], count_item, done);
        for (gsize k = 0; k < n; k++)
          g_assert_cmpint (done[k], ==, 1);
        g_assert_cmpint (done[n], ==, 0);
      }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/ops/threads/%s/%u", cases[i].type, i);

      g_test_add_data_func (path, &cases[i], test_case);
    }
  g_test_add_func ("/ops/threads/items", test_items);
  return g_test_run ();
}
