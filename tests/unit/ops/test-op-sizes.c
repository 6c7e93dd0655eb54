/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fast loops of float32 against the plain ones of float64, on sizes around the widths of vectors. What only moves
 * elements is compared between elements of 1, 2, 4 and 8 bytes. Results and scratch have guards, and inputs lie first at
 * the end, then at the beginning of what can be read. */
#include "op-text.h"

#include <math.h>
#include <string.h>

static const gint64 sizes[] = { 1, 3, 5, 7, 8, 9, 13, 15, 16, 17, 31, 33, 67 };
static const gint64 others[] = { 1, 2, 7, 17 };

typedef enum { NEAR, EXACT } Kind;

/**
 * @attributes, @inputs: N is each of sizes, M each of others. Inputs of type f32 without "=..." are random numbers from
 *   -2 to 2, from 0.5 to 2 with "=positive"; the others are as in op-text.h
 * @kind: %EXACT: whole numbers at random, in all the types
 * @tolerance: of |found - expected| / (1 + |expected|), if not what sums of single precision allow
 */
typedef struct
{
  const char *type;
  gint64      opset;
  const char *attributes, *inputs;
  Kind        kind;
  double      tolerance;
} Case;

#define TOLERANCE 5e-5   /* sums of some hundred products below 4 */

static const Case cases[] = {
  /* convolutions: pointwise, packed, few channels, strides, dilations, groups, one channel per group, 1 and 3 axes */
  { "Conv", 11, "", "f32[2,M,3,N] f32[5,M,1,1] f32[5]" },
  { "Conv", 11, "", "f32[1,M,3,7] f32[N,M,1,1] f32[N]" },
  { "Conv", 11, "", "f32[1,N,3,7] f32[M,N,1,1]" },
  { "Conv", 11, "strides=[2,2]", "f32[1,M,5,N] f32[7,M,1,1]" },
  { "Conv", 11, "pads=[1,1,1,1]", "f32[2,M,5,N] f32[7,M,3,3] f32[7]" },
  { "Conv", 11, "pads=[1,1,1,1]", "f32[1,3,N,5] f32[M,3,3,3] f32[M]" },
  { "Conv", 11, "pads=[1,1,1,1]", "f32[1,N,5,7] f32[M,N,3,3]" },
  { "Conv", 11, "pads=[1,1,1,1]", "f32[1,M,5,7] f32[N,M,3,3] f32[N]" },
  { "Conv", 11, "pads=[1,1,1,1] strides=[2,2]", "f32[2,M,7,N] f32[9,M,3,3] f32[9]" },
  { "Conv", 11, "pads=[2,2,2,2] dilations=[2,2]", "f32[1,M,7,N] f32[9,M,3,3]" },
  { "Conv", 11, "pads=[3,3,3,3] strides=[2,2]", "f32[1,3,9,N] f32[M,3,7,7] f32[M]" },
  { "Conv", 11, "pads=[1,1,1,1] group=2", "f32[1,6,5,N] f32[10,3,3,3] f32[10]" },
  { "Conv", 11, "pads=[1,1,1,1] group=M", "f32[2,M,5,N] f32[M,1,3,3] f32[M]" },
  { "Conv", 11, "pads=[1,1,1,1] strides=[2,2] group=M", "f32[1,M,5,N] f32[M,1,3,3] f32[M]" },
  { "Conv", 11, "pads=[2,2,2,2] group=M", "f32[1,M,N,9] f32[M,1,5,5]" },
  { "Conv", 11, "pads=[2,2,2,2] dilations=[2,2] group=M", "f32[1,M,5,N] f32[M,1,3,3]" },
  { "Conv", 11, "pads=[4,4]", "f32[2,M,N] f32[5,M,9] f32[5]" },
  { "Conv", 11, "pads=[1,1,1,1,1,1]", "f32[1,M,2,3,N] f32[5,M,3,3,3]" },
  { "ConvTranspose", 11, "strides=[2,2] pads=[1,1,1,1]", "f32[1,M,3,N] f32[M,5,4,4] f32[5]" },
  { "ConvTranspose", 11, "", "f32[2,N,3,5] f32[N,M,3,3] f32[M]" },
  { "ConvTranspose", 11, "strides=[2,2]", "f32[1,M,3,5] f32[M,N,2,2]" },
  { "ConvTranspose", 11, "strides=[2,2] pads=[1,1,1,1] group=M", "f32[1,M,3,N] f32[M,1,3,3]" },
  /* pools */
  { "MaxPool", 12, "kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]", "f32[2,M,5,N]", EXACT },
  { "MaxPool", 12, "kernel_shape=[2,2] strides=[2,2] pads=[0,0,1,1] ceil_mode=1", "f32[1,M,3,N]", EXACT },
  { "MaxPool", 12, "kernel_shape=[5,5] pads=[2,2,2,2]", "f32[1,M,3,N]", EXACT },
  { "MaxPool", 12, "kernel_shape=[3] pads=[1,1]", "f32[1,M,N]", EXACT },
  { "AveragePool", 11, "kernel_shape=[3,3] pads=[1,1,1,1]", "f32[2,M,5,N]" },
  { "AveragePool", 11, "kernel_shape=[2,2] strides=[2,2] pads=[0,0,1,1] ceil_mode=1", "f32[1,M,3,N]" },
  { "AveragePool", 11, "kernel_shape=[5,3] pads=[2,1,2,1] strides=[3,2] count_include_pad=1", "f32[1,M,5,N]" },
  { "LpPool", 11, "kernel_shape=[3,3] pads=[1,1,1,1] p=2", "f32[1,M,5,N]" },
  { "GlobalAveragePool", 1, "", "f32[2,M,3,N]" },
  { "GlobalMaxPool", 1, "", "f32[2,M,3,N]" },
  /* products */
  { "MatMul", 13, "", "f32[M,7] f32[7,N]" },
  { "MatMul", 13, "", "f32[M,N] f32[N,5]" },
  { "MatMul", 13, "", "f32[N,M] f32[M,9]" },
  { "MatMul", 13, "", "f32[N] f32[N,M]" },
  { "MatMul", 13, "", "f32[M,N] f32[N]" },
  { "MatMul", 13, "", "f32[3,M,5] f32[3,5,N]" },
  { "MatMul", 13, "", "f32[3,M,N] f32[N,17]" },
  { "Gemm", 13, "", "f32[M,N] f32[N,11] f32[11]" },
  { "Gemm", 13, "transB=1", "f32[M,19] f32[N,19] f32[M,1]" },
  { "Gemm", 13, "transA=1", "f32[5,M] f32[5,N] f32[]" },
  { "Gemm", 13, "transA=1 transB=1 alpha=0.5 beta=2.0", "f32[N,M] f32[7,N] f32[M,7]" },
  { "Einsum", 12, "equation=bij,bkj->bik", "f32[2,M,N] f32[2,5,N]" },
  /* norms */
  { "Softmax", 13, "axis=-1", "f32[M,N]" },
  { "Softmax", 13, "axis=0", "f32[M,N]" },
  { "Softmax", 13, "axis=1", "f32[2,N,M]" },
  { "LogSoftmax", 13, "axis=-1", "f32[M,N]" },
  { "LogSoftmax", 13, "axis=1", "f32[2,M,N]" },
  { "LayerNormalization", 17, "axis=-1", "f32[3,M,N] f32[N] f32[N]", .tolerance = 1e-4 },
  { "RMSNormalization", 23, "axis=-1", "f32[3,M,N] f32[N]" },
  { "InstanceNormalization", 6, "", "f32[2,M,3,N] f32[M] f32[M]", .tolerance = 1e-4 },
  { "GroupNormalization", 21, "num_groups=1", "f32[2,M,3,N] f32[M] f32[M]", .tolerance = 1e-4 },
  { "BatchNormalization", 15, "", "f32[2,M,3,N] f32[M] f32[M] f32[M] f32[M]=positive" },
  { "LRN", 13, "size=3", "f32[2,M,3,N]" },
  { "LpNormalization", 1, "axis=1", "f32[M,N,2]" },
  { "LpNormalization", 1, "axis=-1", "f32[M,N]" },
  { "MeanVarianceNormalization", 13, "", "f32[2,M,3,N]", .tolerance = 1e-4 },
  /* element by element, and what is repeated along which axes */
  { "Add", 14, "", "f32[M,N] f32[M,N]" },
  { "Sub", 14, "", "f32[M,N] f32[N]" },
  { "Mul", 14, "", "f32[M,N] f32[M,1]" },
  { "Div", 14, "", "f32[M,N] f32[]=1.75" },
  { "Sub", 14, "", "f32[]=0.3 f32[M,N]" },
  { "Mul", 14, "", "f32[M,1] f32[N]" },
  { "Add", 14, "", "f32[3,M,1,N] f32[M,5,1]" },
  { "Div", 14, "", "f32[2,1,N] f32[M,1]=positive" },
  { "Max", 13, "", "f32[M,N] f32[N] f32[M,1]" },
  { "Min", 13, "", "f32[M,N] f32[M,N]" },
  { "Sum", 13, "", "f32[2,M,N] f32[M,1] f32[N]" },
  { "Pow", 13, "", "f32[M,N]=positive f32[N]" },
  { "Pow", 13, "", "f32[M,N] f32[]=3" },
  { "PRelu", 16, "", "f32[3,M,N] f32[M,1]" },
  { "Where", 16, "", "bool[3]=1,0,1 f32[M,N,1] f32[N,3]" },
  { "Clip", 13, "", "f32[M,N] f32[]=-0.5 f32[]=0.7" },
  { "Sigmoid", 13, "", "f32[M,N]" },
  { "Tanh", 13, "", "f32[M,N]" },
  { "Erf", 13, "", "f32[M,N]" },
  { "Exp", 13, "", "f32[M,N]" },
  { "Log", 13, "", "f32[M,N]=positive" },
  { "Sqrt", 13, "", "f32[M,N]=positive" },
  { "Gelu", 20, "", "f32[M,N]" },
  { "Gelu", 20, "approximate=tanh", "f32[M,N]" },
  { "HardSwish", 14, "", "f32[M,N]" },
  { "HardSigmoid", 6, "", "f32[M,N]" },
  { "LeakyRelu", 6, "alpha=0.1", "f32[M,N]" },
  { "Elu", 6, "", "f32[M,N]" },
  { "Selu", 6, "", "f32[M,N]" },
  { "Softplus", 1, "", "f32[M,N]" },
  { "Softsign", 1, "", "f32[M,N]" },
  { "Mish", 18, "", "f32[M,N]" },
  { "Relu", 14, "", "f32[M,N]" },
  /* sums */
  { "ReduceSum", 13, "", "f32[M,N] s64[1]=1" },
  { "ReduceSum", 13, "", "f32[N,M] s64[1]=0" },
  { "ReduceSum", 13, "", "f32[M,N,3] s64[1]=1" },
  { "ReduceMean", 13, "axes=[0,2]", "f32[3,M,N]" },
  { "ReduceMean", 13, "", "f32[M,N]" },
  { "ReduceMax", 13, "axes=[-1]", "f32[M,N]" },
  { "ReduceMin", 13, "axes=[0]", "f32[M,N]" },
  { "ReduceL1", 13, "axes=[1]", "f32[M,N,2]" },
  { "ReduceL2", 13, "axes=[1,2]", "f32[M,3,N]" },
  { "ReduceSumSquare", 13, "axes=[1]", "f32[M,N]" },
  { "ReduceLogSumExp", 13, "axes=[1]", "f32[M,N]" },
  { "ReduceLogSumExp", 13, "axes=[0]", "f32[M,N]" },
  { "ArgMax", 13, "axis=1", "f32[M,N,2]" },
  { "ArgMin", 13, "axis=-1", "f32[M,N]" },
  { "CumSum", 14, "", "f32[M,N] s64[]=1" },
  /* moving */
  { "Transpose", 13, "perm=[1,0]", "f32[M,N]", EXACT },
  { "Transpose", 13, "perm=[0,2,3,1]", "f32[2,M,3,N]", EXACT },
  { "Transpose", 13, "perm=[0,3,1,2]", "f32[2,3,M,N]", EXACT },
  { "Transpose", 13, "perm=[0,2,1,3]", "f32[2,M,3,N]", EXACT },
  { "Transpose", 13, "perm=[3,2,1,0]", "f32[2,M,3,N]", EXACT },
  { "Transpose", 13, "perm=[2,0,1]", "f32[N,M,5]", EXACT },
  { "Concat", 13, "axis=1", "f32[M,N] f32[M,3] f32[M,1]", EXACT },
  { "Concat", 13, "axis=0", "f32[M,N] f32[1,N]", EXACT },
  { "Slice", 13, "", "f32[M,N] s64[1]=0 s64[1]=N s64[1]=1 s64[1]=2", EXACT },
  { "Slice", 13, "", "f32[N,M] s64[1]=-1 s64[1]=-100 s64[1]=0 s64[1]=-1", EXACT },
  { "Gather", 13, "axis=1", "f32[M,N,3] s64[3]=0,-1,0", EXACT },
  { "Gather", 13, "axis=-1", "f32[M,N] s64[2]=-1,0", EXACT },
  { "Pad", 13, "", "f32[M,N] s64[4]=0,3,1,2", EXACT },
  { "Pad", 13, "mode=edge", "f32[M,N] s64[4]=1,2,0,3", EXACT },
  { "Expand", 13, "", "f32[M,1] s64[2]=M,N", EXACT },
  { "Expand", 13, "", "f32[1,N] s64[3]=2,M,N", EXACT },
  { "Tile", 13, "", "f32[M,N] s64[2]=2,3", EXACT },
  { "DepthToSpace", 13, "blocksize=2", "f32[1,4,M,N]", EXACT },
  { "DepthToSpace", 13, "blocksize=3 mode=CRD", "f32[1,9,M,N]", EXACT },
  /* resizing: up and down, both axes and one */
  { "Resize", 13, "mode=linear coordinate_transformation_mode=half_pixel", "f32[1,M,3,N] - f32[4]=1,1,2,2" },
  { "Resize", 13, "mode=linear coordinate_transformation_mode=half_pixel", "f32[1,2,M,N] - - s64[4]=1,2,5,7" },
  { "Resize", 13, "mode=linear coordinate_transformation_mode=align_corners", "f32[2,3,5,7] - - s64[4]=2,3,M,N" },
  { "Resize", 13, "mode=linear", "f32[1,M,3,N] - f32[4]=1,1,1,3" },
  { "Resize", 13, "mode=cubic", "f32[1,M,3,N] - f32[4]=1,1,2,2" },
  { "Resize", 13, "mode=nearest coordinate_transformation_mode=asymmetric nearest_mode=floor",
    "f32[1,M,3,N] - f32[4]=1,1,2,2" },
  { "Resize", 13, "mode=nearest", "f32[1,2,5,7] - - s64[4]=1,2,M,N" },
};

/* ---- making calls ---- */

static char *
put_sizes (const char *text,
           gint64      n,
           gint64      m)
{
  GString *out = g_string_new (NULL);

  for (const char *p = text; *p != '\0'; p++)
    if ((*p == 'N' || *p == 'M') && p > text && strchr ("[,=", p[-1]) != NULL && strchr ("], ", p[1]) != NULL)
      g_string_append_printf (out, "%" G_GINT64_FORMAT, *p == 'N' ? n : m);
    else
      g_string_append_c (out, *p);
  return g_string_free (out, FALSE);
}

static VnTensor *
make_tensor (const char *text,
             Kind        kind,
             guint       seed)
{
  const char *rule = text + strcspn (text, "=");
  gboolean positive = g_str_equal (rule, "=positive");
  VnTensorType type;
  VnTensor *tensor;

  if ((*rule != '\0' && !positive) || g_str_equal (text, "-"))
    return op_tensor_from_text (text);
  type = op_type_from_text (text);
  g_assert_cmpint (type.dtype, ==, VN_DTYPE_F32);
  tensor = op_random (&type.shape, seed);
  for (gsize i = 0; i < tensor->n_elements; i++)
    {
      float *x = (float *) tensor->data + i;

      *x = kind == EXACT ? rintf ((*x + 2) * 31) : positive ? 0.5f + fabsf (*x) * 0.75f : *x;
    }
  return tensor;
}

/* What the operator gives when its float32 inputs, except the scales of Resize, have that type. Round 0 to 3: one thread
 * with fences behind the inputs or three with fences before them; inputs from 1 on not known or known beforehand. */
static VnTensor *
run_as (const Case *self,
        char      **words,
        const char *attributes,
        VnDType     dtype,
        guint       round)
{
  g_autoptr(GError) error = NULL;
  VnTensor *inputs[8] = { NULL }, *outputs[1] = { NULL };
  guint n = g_strv_length (words);
  OpCall call = { "", self->type, self->opset, attributes, inputs, n, 1, round % 2 == 0 ? 1 : 3, round >= 2 };

  for (guint i = 0; i < n; i++)
    {
      VnTensor *tensor = make_tensor (words[i], self->kind, i + 1);

      if (tensor != NULL && tensor->dtype == VN_DTYPE_F32 && !(i > 0 && g_str_equal (self->type, "Resize")))
        {
          inputs[i] = vn_tensor_convert (tensor, dtype, NULL);
          vn_tensor_unref (tensor);
        }
      else
        inputs[i] = tensor;
      inputs[i] = op_fence (inputs[i], round % 2 == 0);
    }
  op_call (&call, outputs, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < n; i++)
    g_clear_pointer (&inputs[i], vn_tensor_unref);
  return outputs[0];
}

static void
check_near (const Case *self,
            VnTensor   *found,
            VnTensor   *expected)
{
  double tolerance = self->kind == EXACT ? 0 : self->tolerance > 0 ? self->tolerance : TOLERANCE;
  g_autofree double *wanted = g_new (double, expected->n_elements);

  g_assert_true (vn_shape_equal (&found->shape, &expected->shape));
  for (gsize i = 0; i < expected->n_elements; i++)
    wanted[i] = vn_tensor_get_double (expected, i);
  op_assert_near (found, wanted, expected->n_elements, tolerance, tolerance);
}

static void
check_sizes (const Case *self,
             gint64      n,
             gint64      m)
{
  static const VnDType small[] = { VN_DTYPE_U8, VN_DTYPE_S16 };
  g_autofree char *attributes = put_sizes (self->attributes, n, m), *inputs = put_sizes (self->inputs, n, m);
  g_auto(GStrv) words = g_strsplit (inputs, " ", -1);
  gboolean moves = self->kind == EXACT && !g_str_equal (self->type, "MaxPool");
  g_autoptr(VnTensor) expected = run_as (self, words, attributes, VN_DTYPE_F64, 0);

  for (guint round = 0; round < 4; round++)
    {
      g_autoptr(VnTensor) found = run_as (self, words, attributes, VN_DTYPE_F32, round);

      check_near (self, found, expected);
    }
  for (guint i = 0; moves && i < G_N_ELEMENTS (small); i++)
    {
      g_autoptr(VnTensor) found = run_as (self, words, attributes, small[i], i);

      check_near (self, found, expected);
    }
}

static void
test_case (gconstpointer data)
{
  const Case *self = data;

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (guint k = 0; k < G_N_ELEMENTS (others); k++)
      {
        g_test_message ("N %" G_GINT64_FORMAT ", M %" G_GINT64_FORMAT, sizes[i], others[k]);
        check_sizes (self, sizes[i], others[k]);
      }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/ops/sizes/%s/%u", cases[i].type, i);

      g_test_add_data_func (path, &cases[i], test_case);
    }
  return g_test_run ();
}
