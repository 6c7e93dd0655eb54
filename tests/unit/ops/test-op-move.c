/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operators that move or select elements: small cases from their definitions, and what they must refuse. */
#include "op-text.h"

#include <string.h>

#define X "f32[2,4]=1,2,3,4,5,6,7,8"
#define V5 "f32[5]=0,1,2,3,4"
#define BIG "9223372036854775807"
#define SMALL "-9223372036854775808"

static const OpTextCase cases[] = {
  /* Reshape */
  { "Reshape", 13, "", X " s64[2]=4,-1", "f32[4,2]=1,2,3,4,5,6,7,8" },
  { "Reshape", 13, "", X " s64[3]=0,2,-1", "f32[2,2,2]=1,2,3,4,5,6,7,8" },
  { "Reshape", 14, "allowzero=1", "f32[0,3]= s64[2]=3,0", "f32[3,0]=" },
  { "Reshape", 13, "", "f32[0,3]= s64[2]=0,-1", "!" },
  { "Reshape", 13, "", X " s64[2]=3,-1", "!8 elements" },
  { "Reshape", 13, "", X " s64[2]=-1,-1", "!both -1" },
  { "Reshape", 13, "", X " s64[2]=-2,4", "!-2" },
  { "Reshape", 13, "", X " s64[2]=4,4", "!cannot be reshaped" },
  { "Reshape", 13, "", X " s64[2]=4294967296,4294967296", "!" },
  { "Reshape", 13, "", X " s64[9]=1,1,1,1,1,1,1,2,4", "!9 values" },
  { "Reshape", 13, "", X " f32[2]=4,2", "!int64" },
  { "Reshape", 4, "shape=[8]", X, "f32[8]=1,2,3,4,5,6,7,8" },
  /* Flatten, Squeeze, Unsqueeze */
  { "Flatten", 13, "axis=0", X, "f32[1,8]=1,2,3,4,5,6,7,8" },
  { "Flatten", 13, "axis=-1", "f32[1,2,2]=1,2,3,4", "f32[2,2]=1,2,3,4" },
  { "Flatten", 13, "axis=3", X, "!outside" },
  { "Squeeze", 11, "axes=[0]", "f32[1,1,2]=1,2", "f32[1,2]=1,2" },
  { "Squeeze", 13, "", "f32[1,1,2]=1,2", "f32[2]=1,2" },
  { "Squeeze", 13, "", "f32[1,1,2]=1,2 s64[1]=-2", "f32[1,2]=1,2" },
  { "Squeeze", 13, "", "f32[1,1,2]=1,2 s64[1]=2", "!not 1" },
  { "Unsqueeze", 11, "axes=[0,3]", "f32[1,2]=1,2", "f32[1,1,2,1]=1,2" },
  { "Unsqueeze", 13, "", "f32[2]=1,2 s64[2]=-1,0", "f32[1,2,1]=1,2" },
  { "Unsqueeze", 13, "", "f32[2]=1,2 s64[2]=1,1", "!twice" },
  { "Unsqueeze", 13, "", "f32[2]=1,2 s64[1]=5", "!outside" },
  /* Transpose */
  { "Transpose", 13, "", X, "f32[4,2]=1,5,2,6,3,7,4,8" },
  { "Transpose", 13, "perm=[1,0]", "u8[2,3]=1,2,3,4,5,6", "u8[3,2]=1,4,2,5,3,6" },
  { "Transpose", 13, "perm=[1,1]", X, "!not a permutation" },
  { "Transpose", 13, "perm=[0]", X, "!1 entries" },
  { "Transpose", 13, "perm=[0,2]", X, "!entry 1 is 2" },
  /* Concat, Split */
  { "Concat", 13, "axis=1", "s8[2,1]=1,2 s8[2,2]=3,4,5,6", "s8[2,3]=1,3,4,2,5,6" },
  { "Concat", 13, "axis=-2", "f32[1,2]=1,2 f32[0,2]= f32[1,2]=3,4", "f32[2,2]=1,2,3,4" },
  { "Concat", 13, "axis=0", "f32[1,2]=1,2 f32[1,3]=3,4,5", "!dim 1" },
  { "Concat", 13, "axis=2", "f32[1,2]=1,2 f32[1,2]=3,4", "!outside" },
  { "Concat", 13, "axis=0", "f32[1]=1 s32[1]=3", "!same element type" },
  { "Split", 11, "axis=1 split=[1,3]", X, "f32[2,1]=1,5 f32[2,3]=2,3,4,6,7,8" },
  { "Split", 13, "axis=-1", X " s64[2]=3,1", "f32[2,3]=1,2,3,5,6,7 f32[2,1]=4,8" },
  { "Split", 13, "axis=0", V5 " s64[2]=5,0", "f32[5]=0,1,2,3,4 f32[0]=" },
  { "Split", 18, "num_outputs=3", V5, "f32[2]=0,1 f32[2]=2,3 f32[1]=4" },
  { "Split", 13, "axis=1", X " s64[1]=3", "!3" },
  { "Split", 11, "axis=1 split=[1,3]", X, "!" },
  /* Slice */
  { "Slice", 1, "starts=[0,1] ends=[2,3]", X, "f32[2,2]=2,3,6,7" },
  { "Slice", 9, "starts=[-1] ends=[1000] axes=[1]", X, "f32[2,1]=4,8" },
  { "Slice", 13, "", X " s64[2]=1,0 s64[2]=2,3 s64[2]=0,1 s64[2]=1,2", "f32[1,2]=5,7" },
  { "Slice", 13, "", X " s64[1]=0 s64[1]=-1", "f32[1,4]=1,2,3,4" },
  { "Slice", 13, "", V5 " s64[1]=-1 s64[1]=" SMALL " s64[1]=0 s64[1]=-1", "f32[5]=4,3,2,1,0" },
  { "Slice", 13, "", V5 " s64[1]=100 s64[1]=0 s64[1]=0 s64[1]=-2", "f32[2]=4,2" },
  { "Slice", 13, "", V5 " s64[1]=" SMALL " s64[1]=" BIG " s64[1]=-1 s64[1]=" BIG, "f32[1]=0" },
  { "Slice", 13, "", V5 " s64[1]=" BIG " s64[1]=" SMALL " s64[1]=-1 s64[1]=" SMALL, "f32[1]=4" },
  { "Slice", 13, "", V5 " s64[1]=3 s64[1]=" BIG " s64[1]=0 s64[1]=-2", "f32[2]=3,1" },
  { "Slice", 13, "", V5 " s64[1]=3 s64[1]=2147483647 s64[1]=0 s64[1]=-1", "f32[4]=3,2,1,0" },
  { "Slice", 13, "", V5 " s64[1]=3 s64[1]=2147483646 s64[1]=0 s64[1]=-1", "f32[0]=" },
  { "Slice", 13, "", V5 " s64[1]=3 s64[1]=2", "f32[0]=" },
  { "Slice", 13, "", "f32[0]= s64[1]=0 s64[1]=5", "f32[0]=" },
  { "Slice", 13, "", "f32[0]= s64[1]=0 s64[1]=-5 s64[1]=0 s64[1]=-1", "f32[0]=" },
  { "Slice", 13, "", V5 " s32[1]=1 s32[1]=4 - s32[1]=2", "f32[2]=1,3" },
  { "Slice", 13, "", V5 " s64[1]=0 s64[1]=5 s64[1]=0 s64[1]=0", "!step 0 is 0" },
  { "Slice", 13, "", V5 " s64[1]=0 s64[1]=5 s64[1]=1", "!outside" },
  { "Slice", 13, "", X " s64[2]=0,0 s64[2]=1,1 s64[2]=0,-2", "!twice" },
  { "Slice", 13, "", X " s64[2]=0,0 s64[1]=1", "!2 starts and 1 ends" },
  /* Gather and kin */
  { "Gather", 13, "axis=1", X " s64[2]=-1,0", "f32[2,2]=4,1,8,5" },
  { "Gather", 13, "axis=0", X " s32[]=1", "f32[4]=5,6,7,8" },
  { "Gather", 13, "axis=1", X " s64[1]=4", "!index 4" },
  { "Gather", 13, "axis=1", X " s64[1]=-5", "!index -5" },
  { "Gather", 13, "axis=2", X " s64[1]=0", "!outside" },
  { "Gather", 13, "", X " f32[1]=0", "!int64" },
  { "GatherElements", 13, "axis=1", "f32[2,2]=1,2,3,4 s64[2,2]=0,0,-1,0", "f32[2,2]=1,1,4,3" },
  { "GatherElements", 13, "axis=0", "f32[3,3]=1,2,3,4,5,6,7,8,9 s64[2,3]=1,2,0,2,0,0", "f32[2,3]=4,8,3,7,2,3" },
  { "GatherElements", 13, "axis=0", "f32[2,2]=1,2,3,4 s64[1,3]=0,0,0", "!dim 1" },
  { "GatherND", 12, "", "f32[2,2]=0,1,2,3 s64[2,2]=0,0,1,1", "f32[2]=0,3" },
  { "GatherND", 12, "batch_dims=1", "f32[2,2,2]=0,1,2,3,4,5,6,7 s64[2,1]=1,0", "f32[2,2]=2,3,4,5" },
  { "GatherND", 12, "", "f32[2,2]=0,1,2,3 s64[1,3]=0,0,0", "!depth 3" },
  { "GatherND", 12, "", "f32[2,2]=0,1,2,3 s64[]=0", "!at least 1 dim" },
  { "GatherND", 12, "", "f32[2,2]=0,1,2,3 s64[1,2]=0,2", "!index 2" },
  { "ScatterElements", 18, "axis=1", "f32[1,5]=1,2,3,4,5 s64[1,2]=1,3 f32[1,2]=1.5,2.5", "f32[1,5]=1,1.5,3,2.5,5" },
  { "ScatterElements", 18, "axis=1 reduction=add", "f32[1,5]=1,2,3,4,5 s64[1,2]=1,1 f32[1,2]=1,2", "f32[1,5]=1,5,3,4,5" },
  { "ScatterElements", 18, "axis=0 reduction=max", "s32[3]=1,9,3 s64[2]=0,1 s32[2]=4,4", "s32[3]=4,9,3" },
  { "ScatterElements", 18, "reduction=sum", "s32[1]=1 s64[1]=0 s32[1]=4", "!unknown value" },
  { "ScatterElements", 18, "", "s32[3]=1,9,3 s64[2]=0,3 s32[2]=4,4", "!index 3" },
  { "ScatterND", 18, "", "f32[4]=1,2,3,4 s64[2,1]=1,3 f32[2]=9,8", "f32[4]=1,9,3,8" },
  { "ScatterND", 18, "reduction=mul", "f32[2,2]=1,2,3,4 s64[1,1]=1 f32[1,2]=2,3", "f32[2,2]=1,2,6,12" },
  { "ScatterND", 18, "", "f32[4]=1,2,3,4 s64[2,1]=1,3 f32[3]=9,8,7", "!must have the shape 2" },
  /* Expand, Tile */
  { "Expand", 13, "", "f32[2,1]=1,2 s64[3]=2,1,2", "f32[2,2,2]=1,1,2,2,1,1,2,2" },
  { "Expand", 13, "", "f32[2,1]=1,2 s64[1]=1", "f32[2,1]=1,2" },
  { "Expand", 13, "", "f32[2]=1,2 s64[1]=3", "!cannot be broadcast" },
  { "Expand", 13, "", "f32[2]=1,2 s64[2]=-1,2", "!-1" },
  { "Tile", 13, "", "f32[2,2]=1,2,3,4 s64[2]=1,2", "f32[2,4]=1,2,1,2,3,4,3,4" },
  { "Tile", 13, "", "s16[2]=1,2 s64[1]=3", "s16[6]=1,2,1,2,1,2" },
  { "Tile", 13, "", "f32[2]=1,2 s64[1]=0", "f32[0]=" },
  { "Tile", 13, "", "f32[2]=1,2 s64[1]=" BIG, "!cannot be repeated" },
  { "Tile", 13, "", "f32[2]=1,2 s64[2]=1,1", "!2 repeats" },
  /* Pad */
  { "Pad", 2, "pads=[1,0] value=1.5", "f32[2]=1,2", "f32[3]=1.5,1,2" },
  { "Pad", 13, "", "f32[2,1]=1,2 s64[4]=0,1,1,0", "f32[3,2]=0,1,0,2,0,0" },
  { "Pad", 13, "", "u8[2]=1,2 s64[2]=1,1 u8[]=7", "u8[4]=7,1,2,7" },
  { "Pad", 13, "", V5 " s64[2]=-1,-2", "f32[2]=1,2" },
  { "Pad", 13, "", V5 " s64[2]=-2,1 f32[]=9", "f32[4]=2,3,4,9" },
  { "Pad", 13, "mode=reflect", V5 " s64[2]=2,3", "f32[10]=2,1,0,1,2,3,4,3,2,1" },
  { "Pad", 13, "mode=reflect", "f32[2]=0,1 s64[2]=3,2", "f32[7]=1,0,1,0,1,0,1" },
  { "Pad", 13, "mode=edge", V5 " s64[2]=2,1", "f32[8]=0,0,0,1,2,3,4,4" },
  { "Pad", 19, "mode=wrap", V5 " s64[2]=2,6", "f32[13]=3,4,0,1,2,3,4,0,1,2,3,4,0" },
  { "Pad", 18, "", "f32[1,2]=1,2 s64[2]=1,0 - s64[1]=-1", "f32[1,3]=0,1,2" },
  { "Pad", 18, "", "f32[1,2]=1,2 s64[2]=1,0 - s64[1]=2", "!outside" },
  { "Pad", 13, "", V5 " s64[2]=-3,-3", "!cannot be padded" },
  { "Pad", 13, "", V5 " s64[2]=" BIG ",1", "!cannot be padded" },
  { "Pad", 13, "", V5 " s64[3]=1,1,1", "!3 pads" },
  { "Pad", 13, "mode=reflect", "f32[0]= s64[2]=1,0", "!cannot be padded" },
  { "Pad", 13, "mode=mirror", V5 " s64[2]=1,1", "!mirror" },
  /* DepthToSpace, SpaceToDepth */
  { "DepthToSpace", 13, "blocksize=2", "f32[1,8,1,1]=0,1,2,3,4,5,6,7", "f32[1,2,2,2]=0,2,4,6,1,3,5,7" },
  { "DepthToSpace", 13, "blocksize=2 mode=CRD", "f32[1,8,1,1]=0,1,2,3,4,5,6,7", "f32[1,2,2,2]=0,1,2,3,4,5,6,7" },
  { "SpaceToDepth", 13, "blocksize=2", "f32[1,2,2,2]=0,2,4,6,1,3,5,7", "f32[1,8,1,1]=0,1,2,3,4,5,6,7" },
  { "DepthToSpace", 13, "blocksize=3", "f32[1,8,1,1]=0,1,2,3,4,5,6,7", "!not a multiple" },
  { "DepthToSpace", 13, "blocksize=0", "f32[1,8,1,1]=0,1,2,3,4,5,6,7", "!blocksize" },
  /* Made from attributes and shapes */
  { "Shape", 15, "start=-1", X, "s64[1]=4" },
  { "Shape", 15, "start=-9 end=1", X, "s64[1]=2" },
  { "Size", 13, "", X, "s64[]=8" },
  { "Constant", 13, "value_ints=[1,2]", "", "s64[2]=1,2" },
  { "Constant", 13, "value_float=1.5", "", "f32[]=1.5" },
  { "Constant", 13, "", "", "!one of the attributes" },
  { "ConstantOfShape", 9, "", "s64[2]=1,2", "f32[1,2]=0,0" },
  { "ConstantOfShape", 9, "", "s64[1]=-1", "!dim 0 is -1" },
  { "ConstantOfShape", 9, "", "s64[9]=1,1,1,1,1,1,1,1,1", "!9 dims" },
  { "EyeLike", 9, "k=1", "s32[2,3]=0,0,0,0,0,0", "s32[2,3]=0,1,0,0,0,1" },
  { "EyeLike", 9, "k=-9223372036854775808", "s32[1,1]=5", "s32[1,1]=0" },
  { "Range", 11, "", "s64[]=10 s64[]=4 s64[]=-2", "s64[3]=10,8,6" },
  { "Range", 11, "", "f32[]=1 f32[]=5 f32[]=2", "f32[2]=1,3" },
  { "Range", 11, "", "f32[]=1 f32[]=1 f32[]=2", "f32[0]=" },
  { "Range", 11, "", "s64[]=1 s64[]=5 s64[]=0", "!delta is 0" },
  { "Range", 11, "", "f32[]=1 f32[]=inf f32[]=1", "!no valid length" },
  { "NonZero", 13, "", "f32[2,2]=1,0,nan,2", "s64[2,3]=0,1,1,0,0,1" },
  { "NonZero", 13, "", "bool[2]=0,0", "s64[1,0]=" },
  { "OneHot", 11, "", "s64[3]=0,-1,7 s64[]=3 f32[2]=0,5", "f32[3,3]=5,0,0,0,0,5,0,0,0" },
  { "OneHot", 11, "axis=0", "s64[2]=0,1 s64[1]=2 s8[2]=1,2", "s8[2,2]=2,1,1,2" },
  { "OneHot", 11, "", "s64[1]=0 s64[]=-3 f32[2]=0,5", "!depth is -3" },
  { "Trilu", 14, "", "f32[2,3]=1,2,3,4,5,6", "f32[2,3]=1,2,3,0,5,6" },
  { "Trilu", 14, "upper=0", "f32[2,3]=1,2,3,4,5,6 s64[]=-1", "f32[2,3]=0,0,0,4,0,0" },
  { "Trilu", 14, "", "f32[2,2]=1,2,3,4 s64[]=" BIG, "f32[2,2]=0,0,0,0" },
  { "Compress", 11, "axis=1", X " bool[3]=0,1,1", "f32[2,2]=2,3,6,7" },
  { "Compress", 11, "", X " bool[9]=0,1,0,0,0,0,0,1,1", "f32[2]=2,8" },
  { "ReverseSequence", 10, "", "f32[3,2]=1,2,3,4,5,6 s64[2]=3,2", "f32[3,2]=5,4,3,2,1,6" },
  { "ReverseSequence", 10, "time_axis=1 batch_axis=0", "f32[2,2]=1,2,3,4 s64[2]=2,0", "f32[2,2]=2,1,3,4" },
  { "ReverseSequence", 10, "", "f32[3,2]=1,2,3,4,5,6 s64[2]=4,2", "!length 0 is 4" },
  { "BitCast", 26, "to=6", "f32[2]=1,-0.0", "s32[2]=1065353216,-2147483648" },
  { "BitCast", 26, "to=7", "f32[2]=1,2", "!32 bits" },
  /* Order */
  { "TopK", 11, "axis=0", "f32[4]=1,3,3,2 s64[1]=3", "f32[3]=3,3,2 s64[3]=1,2,3" },
  { "TopK", 11, "largest=0", "s32[2,3]=3,1,2,6,6,5 s64[1]=2", "s32[2,2]=1,2,5,6 s64[2,2]=1,2,2,0" },
  { "TopK", 11, "", "f32[3]=1,nan,2 s64[1]=1", "f32[1]=nan s64[1]=1" },
  { "TopK", 9, "k=1", "f32[2]=1,2", "f32[1]=2 s64[1]=1" },
  { "TopK", 11, "", "f32[3]=1,3,2 s64[1]=4", "!k is 4" },
  { "TopK", 11, "", "f32[3]=1,3,2 s64[1]=-1", "!k is -1" },
  { "ArgMax", 13, "axis=1", "f32[2,3]=1,3,3,6,5,4", "s64[2,1]=1,0" },
  { "ArgMax", 13, "axis=1 keepdims=0 select_last_index=1", "u8[2,3]=1,3,3,6,5,4", "s64[2]=2,0" },
  { "ArgMin", 13, "axis=0", "s8[2,2]=1,-3,0,4", "s64[1,2]=1,0" },
  { "ArgMax", 13, "axis=2", "f32[2,1]=1,3", "!outside" },
  { "CumSum", 14, "", "f32[4]=1,2,3,4 s64[]=0", "f32[4]=1,3,6,10" },
  { "CumSum", 14, "exclusive=1 reverse=1", "s32[4]=1,2,3,4 s64[]=-1", "s32[4]=9,7,4,0" },
  { "CumSum", 14, "", "f32[4]=1,2,3,4 s64[]=1", "!outside" },
  { "Dropout", 13, "", "f32[2]=1,2 f32[]=0.5 bool[]=0", "f32[2]=1,2 bool[2]=1,1" },
  /* numpy.random.RandomState (0).rand (): .549 .715 .603 .545 .424 .646 */
  { "Dropout", 13, "seed=0", "f32[6]=1,2,3,4,5,6 f32[]=0.5 bool[]=1", "f32[6]=2,4,6,8,0,12 bool[6]=1,1,1,1,0,1" },
  { "Dropout", 13, "", "f64[3]=1,2,3 f32[]=0.6 bool[]=1", "f64[3]=0,5,7.5 bool[3]=0,1,1" },
  { "Dropout", 13, "", "f32[2]=1,2 f32[]=1.5 bool[]=1", "!ratio" },
  { "Dropout", 13, "", "f32[2]=1,2 f32[2]=0.5,0.5 bool[]=1", "!input 1" },
  { "Identity", 13, "", "u4[3]=1,15,7", "u4[3]=1,15,7" },
  { "Crop", 1, "border=[1,0,0,1]", "f32[1,1,2,3]=1,2,3,4,5,6", "f32[1,1,1,2]=2,3" },
  { "Crop", 1, "border=[4,0,0,1]", "f32[1,1,2,3]=1,2,3,4,5,6", "!border 0 is 4" },
  { "ImageScaler", 1, "scale=2.0 bias=[1.0,2.0]", "f32[1,2,1,1]=1,1", "f32[1,2,1,1]=3,4" },
};

static void
test_cases (void)
{
  op_run_text_cases (cases, G_N_ELEMENTS (cases), 1e-6);
}

static guint64
load_element (const VnTensor *tensor,
              gsize           i)
{
  gsize size = vn_dtype_get_bits (tensor->dtype) / 8;
  guint64 value = 0;

  memcpy (&value, (const char *) tensor->data + i * size, size);
  return value;
}

static gsize
permuted_index (const VnShape *out,
                const gint64  *in_strides,
                const int     *perm,
                gsize          i)
{
  gsize from = 0;

  for (int d = out->rank - 1; d >= 0; d--)
    {
      from += i % (gsize) out->dims[d] * (gsize) in_strides[perm[d]];
      i /= (gsize) out->dims[d];
    }
  return from;
}

static void
check_permutation (const VnShape *shape,
                   VnDType        dtype,
                   const int     *perm)
{
  g_autofree char *attribute = g_strdup_printf ("perm=[%d,%d,%d,%d]", perm[0], perm[1], perm[2], perm[3]);
  g_autoptr(VnTensor) x = vn_tensor_new (dtype, shape, NULL);
  g_autoptr(VnTensor) y = NULL;
  gint64 strides[VN_MAX_RANK];

  for (gsize i = 0; i < x->n_bytes; i++)
    ((guint8 *) x->data)[i] = (guint8) (i * 167 + i / 256 * 13);
  y = op_call_one (&(OpCall) { .domain = "", .type = "Transpose", .opset = 13, .attributes = attribute,
                               .inputs = &x, .n_inputs = 1, .n_outputs = 1 });
  vn_shape_strides (&x->shape, strides);
  for (gsize i = 0; i < y->n_elements; i++)
    if (load_element (y, i) != load_element (x, permuted_index (&y->shape, strides, perm, i)))
      {
        g_test_message ("%s: element %" G_GSIZE_FORMAT " is wrong", attribute, i);
        g_assert_not_reached ();
      }
}

/* All 24 permutations of four dims, every element size, lengths around the tile of the copy. */
static void
test_transpositions (void)
{
  const VnShape shapes[] = { VN_SHAPE (2, 3, 17, 33), VN_SHAPE (1, 16, 5, 1), VN_SHAPE (3, 1, 1, 40) };
  const VnDType dtypes[] = { VN_DTYPE_U8, VN_DTYPE_F16, VN_DTYPE_F32, VN_DTYPE_S64 };

  for (guint s = 0; s < G_N_ELEMENTS (shapes); s++)
    for (guint t = 0; t < G_N_ELEMENTS (dtypes); t++)
      for (int code = 0; code < 256; code++)
        {
          const int perm[4] = { code & 3, code >> 2 & 3, code >> 4 & 3, code >> 6 & 3 };

          if ((1 << perm[0] | 1 << perm[1] | 1 << perm[2] | 1 << perm[3]) == 15)
            check_permutation (&shapes[s], dtypes[t], perm);
        }
}

/* Every second column, of lines of all lengths around a vector; nothing behind the data may be read. */
static void
test_every_second (void)
{
  for (gint64 n = 1; n <= 70; n++)
    for (gint64 start = 0; start < 2; start++)
      {
        g_autoptr(VnTensor) x = op_fence (op_random (&VN_SHAPE (3, n), (guint32) n), TRUE);
        g_autoptr(VnTensor) starts = vn_tensor_new_s64 (&VN_SHAPE (1), &start);
        g_autoptr(VnTensor) ends = vn_tensor_new_s64 (&VN_SHAPE (1), &n);
        g_autoptr(VnTensor) axes = vn_tensor_new_s64 (&VN_SHAPE (1), (const gint64[]) { 1 });
        g_autoptr(VnTensor) steps = vn_tensor_new_s64 (&VN_SHAPE (1), (const gint64[]) { 2 });
        VnTensor *inputs[] = { x, starts, ends, axes, steps };
        g_autoptr(VnTensor) y = op_call_one (&(OpCall) { .domain = "", .type = "Slice", .opset = 13, .attributes = "",
                                                         .inputs = inputs,
                                                         .n_inputs = 5, .n_outputs = 1, .constant = TRUE });
        gint64 columns = (n - start + 1) / 2;

        g_assert_cmpint (y->shape.dims[1], ==, columns);
        for (gint64 i = 0; i < 3 * columns; i++)
          g_assert_true (load_element (y, (gsize) i) == load_element (x, (gsize) (i / columns * n + start + i % columns * 2)));
      }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ops/move/cases", test_cases);
  g_test_add_func ("/ops/move/transpositions", test_transpositions);
  g_test_add_func ("/ops/move/every-second", test_every_second);
  return g_test_run ();
}
