/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Element-wise operators: broadcasting against a naive reference for every type, and single values that matter. */
#include "op-text.h"

#include "vn-error.h"

#include <math.h>
#include <string.h>

/* ---- broadcasting ---- */

static const struct
{
  VnShape a, b;
} shapes[] = {
  { VN_SHAPE (37), VN_SHAPE (37) },
  { VN_SHAPE_SCALAR, VN_SHAPE_SCALAR },
  { VN_SHAPE (5000), VN_SHAPE_SCALAR },
  { VN_SHAPE_SCALAR, VN_SHAPE (3, 7) },
  { VN_SHAPE (2, 3, 4, 5), VN_SHAPE (1, 3, 1, 1) },
  { VN_SHAPE (3, 1, 1), VN_SHAPE (2, 3, 4, 5) },
  { VN_SHAPE (2, 3, 4, 5), VN_SHAPE (5) },
  { VN_SHAPE (2, 1, 4, 1), VN_SHAPE (1, 3, 1, 5) },
  { VN_SHAPE (4, 1), VN_SHAPE (1, 9000) },
  { VN_SHAPE (1, 1, 1), VN_SHAPE (2, 2) },
  { VN_SHAPE (2, 0, 3), VN_SHAPE (1, 3) },
  { VN_SHAPE (2, 3, 1, 2, 1, 2, 1, 2), VN_SHAPE (1, 3, 2, 1, 2, 2, 2, 1) },
};

static const VnDType dtypes[] = {
  VN_DTYPE_F32, VN_DTYPE_F64, VN_DTYPE_F16, VN_DTYPE_BF16, VN_DTYPE_U8, VN_DTYPE_S8, VN_DTYPE_U16, VN_DTYPE_S16,
  VN_DTYPE_U32, VN_DTYPE_S32, VN_DTYPE_U64, VN_DTYPE_S64,
};

static double
reference (const char *type,
           double      a,
           double      b)
{
  switch (type[0] == 'M' ? type[1] : type[0])
    {
    case 'A': return a + b;
    case 'S': return a - b;
    case 'u': return a * b;
    case 'D': return a / b;
    case 'i': return MIN (a, b);
    case 'a': return MAX (a, b);
    case 'P': return pow (a, b);
    case 'L': return a < b;
    case 'E': return a == b;
    default: g_assert_not_reached ();
    }
}

/* Small integers, so that every type computes them exactly. */
static VnTensor *
small_numbers (VnDType        dtype,
               const VnShape *shape,
               guint          seed)
{
  g_autoptr(VnTensor) wide = vn_tensor_new (VN_DTYPE_F64, shape, NULL);

  for (gsize i = 0; i < wide->n_elements; i++)
    ((double *) wide->data)[i] = (double) ((i * 7 + seed * 3) % 5 + 1);
  return vn_tensor_convert (wide, dtype, NULL);
}

static double
broadcast_value (const VnTensor *tensor,
                 const VnShape  *out,
                 gsize           i)
{
  gsize at = 0, stride = 1;

  for (int d = out->rank - 1; d >= 0; d--)
    {
      int e = d - (out->rank - tensor->shape.rank);
      gsize index = i % (gsize) out->dims[d];

      i /= (gsize) out->dims[d];
      if (e < 0)
        continue;
      if (tensor->shape.dims[e] != 1)
        at += index * stride;
      stride *= (gsize) tensor->shape.dims[e];
    }
  return vn_tensor_get_double (tensor, at);
}

static double
expected_value (const char *type,
                VnDType     dtype,
                double      a,
                double      b)
{
  double value = reference (type, a, b);
  gint64 bits;

  if (type[0] == 'L' || type[0] == 'E')
    return value;
  if (vn_dtype_is_float (dtype))
    {
      VnTensor *one = vn_tensor_new (VN_DTYPE_F64, &VN_SHAPE_SCALAR, NULL), *rounded;

      *(double *) one->data = (double) (dtype == VN_DTYPE_F64 ? value : (float) value);
      rounded = vn_tensor_convert (one, dtype, NULL);
      value = vn_tensor_get_double (rounded, 0);
      vn_tensor_unref (one);
      vn_tensor_unref (rounded);
      return value;
    }
  bits = (gint64) value;
  /* Differences below 0 wrap around in unsigned types. */
  switch (dtype)
    {
    case VN_DTYPE_U8: return (guint8) bits;
    case VN_DTYPE_U16: return (guint16) bits;
    case VN_DTYPE_U32: return (guint32) bits;
    case VN_DTYPE_U64: return (double) (guint64) bits;
    case VN_DTYPE_S8: return (gint8) bits;
    default: return (double) bits;
    }
}

static void
check_broadcast (const char *type,
                 VnDType     dtype,
                 guint       s)
{
  g_autoptr(VnTensor) a = small_numbers (dtype, &shapes[s].a, 0);
  g_autoptr(VnTensor) b = small_numbers (dtype, &shapes[s].b, 1);
  g_autoptr(VnTensor) y = op_call_one (&(OpCall) { .domain = "", .type = type, .opset = 14,
                                                   .inputs = (VnTensor *[]) { a, b }, .n_inputs = 2, .n_outputs = 1 });

  for (gsize i = 0; i < y->n_elements; i++)
    {
      double x = broadcast_value (a, &y->shape, i), z = broadcast_value (b, &y->shape, i);
      double wanted = expected_value (type, dtype, x, z), found = vn_tensor_get_double (y, i);

      if (fabs (found - wanted) > 1e-6 * fabs (wanted))
        {
          g_test_message ("%s of %s, shapes %u, element %" G_GSIZE_FORMAT ": %g and %g give %g, expected %g", type,
                          vn_dtype_get_name (dtype), s, i, x, z, found, wanted);
          g_assert_not_reached ();
        }
    }
}

static void
test_broadcast (void)
{
  static const char * const types[] = { "Add", "Sub", "Mul", "Div", "Min", "Max", "Pow", "Less", "Equal" };

  for (guint t = 0; t < G_N_ELEMENTS (types); t++)
    for (guint d = 0; d < G_N_ELEMENTS (dtypes); d++)
      for (guint s = 0; s < G_N_ELEMENTS (shapes); s++)
        check_broadcast (types[t], dtypes[d], s);
}

/* ---- single values ---- */

#define LOW "-9223372036854775808"

static const OpTextCase cases[] = {
  { "Add", 14, "", "s8[2]=127,-128 s8[2]=1,-1", "s8[2]=-128,127" },
  { "Add", 14, "", "f32[3]=inf,nan,-inf f32[3]=-inf,1,1", "f32[3]=nan,nan,-inf" },
  { "Add", 6, "broadcast=1 axis=0", "f32[2,3]=1,2,3,4,5,6 f32[2]=10,20", "f32[2,3]=11,12,13,24,25,26" },
  { "Add", 6, "broadcast=1 axis=1", "f32[1,2,2]=1,2,3,4 f32[2]=10,20", "f32[1,2,2]=11,12,23,24" },
  { "Add", 14, "", "f32[2]=1,2 f32[3]=1,2,3", "!2 and 3" },
  { "Add", 14, "", "f32[2]=1,2 f64[2]=1,2", "!same element type" },
  { "Div", 14, "", "s64[3]=" LOW ",-7,7 s64[3]=-1,2,-2", "s64[3]=" LOW ",-3,-3" },
  { "Div", 14, "", "s32[2]=1,2 s32[2]=1,0", "!element 1" },
  { "Div", 14, "", "f32[3]=1,-1,0 f32[]=0", "f32[3]=inf,-inf,nan" },
  { "Mod", 13, "", "s32[4]=-7,7,-7,7 s32[4]=3,-3,-3,3", "s32[4]=2,-2,-1,1" },
  { "Mod", 13, "fmod=1", "s32[4]=-7,7,-7,7 s32[4]=3,-3,-3,3", "s32[4]=-1,1,-1,1" },
  { "Mod", 13, "", "s64[1]=" LOW " s64[1]=-1", "s64[1]=0" },
  { "Mod", 13, "fmod=1", "f32[2]=-7.5,7.5 f32[2]=2,-2", "f32[2]=-1.5,1.5" },
  { "Mod", 13, "", "f32[1]=1 f32[1]=1", "!fmod" },
  { "Mod", 13, "", "u8[1]=1 u8[1]=0", "!element 0" },
  { "Pow", 15, "", "f32[3]=-2,0.5,nan f32[]=2", "f32[3]=4,0.25,nan" },
  { "Pow", 15, "", "f32[2]=-2,-0.5 f32[]=3", "f32[2]=-8,-0.125" },
  { "Pow", 15, "", "s32[3]=-3,2,5 s64[3]=3,10,0", "s32[3]=-27,1024,1" },
  { "Pow", 15, "", "s64[3]=2,-1,1 s64[]=-3", "s64[3]=0,-1,1" },
  { "Pow", 15, "", "f32[2]=4,9 s32[]=2", "f32[2]=16,81" },
  { "Pow", 15, "", "s32[2]=4,9 f32[]=0.5", "s32[2]=2,3" },
  { "Max", 13, "", "f32[4]=nan,1,-inf,2 f32[4]=1,nan,-5,3", "f32[4]=nan,nan,-5,3" },
  { "Min", 13, "", "f32[4]=nan,1,-inf,2 f32[4]=1,nan,-5,3", "f32[4]=nan,nan,-inf,2" },
  { "Max", 13, "", "f32[2]=1,2", "f32[2]=1,2" },
  { "Max", 13, "", "s32[1,2]=1,5 s32[2,1]=3,0 s32[]=2", "s32[2,2]=3,5,2,5" },
  { "Sum", 13, "", "f32[2]=1,2 f32[2,1]=10,20 f32[]=100", "f32[2,2]=111,112,121,122" },
  { "Mean", 13, "", "f32[2]=1,2 f32[2]=3,6 f32[2]=5,1", "f32[2]=3,3" },
  { "Mean", 13, "", "f64[1]=1 f64[1]=2", "f64[1]=1.5" },
  { "Sum", 13, "", "f32[2]=1,2 f32[3]=1,2,3", "!input 1" },
  { "Round", 11, "", "f32[7]=0.5,1.5,2.5,-0.5,-1.5,nan,inf", "f32[7]=0,2,2,-0,-2,nan,inf" },
  { "Sign", 13, "", "f32[4]=-2,0,3,nan", "f32[4]=-1,0,1,nan" },
  { "Sign", 13, "", "u8[2]=0,200", "u8[2]=0,1" },
  { "Abs", 13, "", "s8[2]=-128,-3", "s8[2]=-128,3" },
  { "Neg", 13, "", "s64[2]=" LOW ",3", "s64[2]=" LOW ",-3" },
  { "Exp", 13, "", "f32[6]=0,1,-inf,inf,nan,-200", "f32[6]=1,2.7182818,0,inf,nan,0" },
  { "Sqrt", 13, "", "f16[3]=4,2,-1", "f16[3]=2,1.4140625,nan" },
  { "Floor", 13, "", "bf16[2]=1.5,-1.5", "bf16[2]=1,-2" },
  { "Neg", 13, "", "u8[1]=1", "!uint8" },
  { "Equal", 13, "", "f32[2]=nan,1 f32[2]=nan,1", "bool[2]=0,1" },
  { "LessOrEqual", 16, "", "f16[3]=1,2,nan f16[]=1", "bool[3]=1,0,0" },
  { "GreaterOrEqual", 16, "", "u64[2]=18446744073709551615,1 u64[]=2", "bool[2]=1,0" },
  { "Xor", 7, "", "bool[2]=2,0 bool[2]=1,0", "bool[2]=0,0" },
  { "And", 7, "", "bool[2,1]=1,0 bool[2]=1,0", "bool[2,2]=1,0,0,0" },
  { "Not", 1, "", "bool[2]=0,3", "bool[2]=1,0" },
  { "And", 7, "", "f32[1]=1 f32[1]=1", "!float32" },
  { "IsNaN", 13, "", "f16[3]=nan,inf,1", "bool[3]=1,0,0" },
  { "IsInf", 10, "detect_negative=0", "f32[3]=-inf,inf,nan", "bool[3]=0,1,0" },
  { "BitShift", 11, "direction=LEFT", "u8[3]=1,200,1 u8[3]=3,1,8", "u8[3]=8,144,0" },
  { "BitShift", 11, "direction=UP", "u8[1]=1 u8[1]=3", "!direction" },
  { "BitwiseNot", 18, "", "s8[2]=0,5", "s8[2]=-1,-6" },
  { "Where", 16, "", "bool[2,1]=1,0 f32[2]=1,nan f32[]=5", "f32[2,2]=1,nan,5,5" },
  { "Where", 16, "", "bool[1]=1 f32[1]=1 s32[1]=2", "!same element type" },
  { "Shrink", 9, "lambd=1.5 bias=1.5", "f32[5]=-2,-1,0,1,2", "f32[5]=-0.5,0,0,0,0.5" },
  /* Einsum: products, sums, diagonals, stretched and hidden dims. */
  { "Einsum", 12, "equation=ij,jk->ik", "f32[2,2]=1,2,3,4 f32[2,1]=5,6", "f32[2,1]=17,39" },
  { "Einsum", 12, "equation=bij,bkj->kbi", "f32[1,2,2]=1,2,3,4 f32[1,1,2]=5,6", "f32[1,1,2]=17,39" },
  { "Einsum", 12, "equation=i,i", "f64[3]=1,2,3 f64[3]=4,5,6", "f64[]=32" },
  { "Einsum", 12, "equation=ij->ji", "f32[2,2]=1,2,3,4", "f32[2,2]=1,3,2,4" },
  { "Einsum", 12, "equation=ii->i", "f32[2,2]=1,2,3,4", "f32[2]=1,4" },
  { "Einsum", 12, "equation=ij->", "f32[2,2]=1,2,3,4", "f32[]=10" },
  { "Einsum", 12, "equation=...j,j->...", "f32[2,2]=1,2,3,4 f32[2]=1,10", "f32[2]=21,43" },
  { "Einsum", 12, "equation=...ij,...jk", "f32[1,1,2]=1,2 f32[2,2,1]=1,2,3,4", "f32[2,1,1]=5,11" },
  { "Einsum", 12, "equation=ij,jk->ik", "f32[2,0]= f32[0,1]=", "f32[2,1]=0,0" },
  { "Einsum", 12, "equation=ij,jk->ik", "f32[2,2]=1,2,3,4 f32[3,1]=5,6,7", "!" },
  { "Einsum", 12, "equation=ij->ik", "f32[2,2]=1,2,3,4", "!" },
  { "Einsum", 12, "equation=ij", "f32[2]=1,2", "!" },
  { "Einsum", 12, "equation=i,j", "f32[2]=1,2", "!" },
  /* Cast */
  { "Cast", 13, "to=2", "f32[4]=3.9,-1,300,nan", "u8[4]=3,255,44,0" },
  { "Cast", 13, "to=6", "f32[3]=-1.9,1e20,2.5", "s32[3]=-1,-1,2" },
  { "Cast", 13, "to=7", "f64[3]=-1e30,1e30,nan", "s64[3]=" LOW ",9223372036854775807,0" },
  { "Cast", 13, "to=9", "f32[4]=0,-0.0,nan,0.1", "bool[4]=0,0,1,1" },
  { "Cast", 13, "to=1", "bool[2]=0,7", "f32[2]=0,1" },
  { "Cast", 13, "to=10", "f32[3]=65520,1,nan", "f16[3]=inf,1,nan" },
  { "Cast", 13, "to=16", "f32[2]=1.00390625,nan", "bf16[2]=1,nan" },
  { "Cast", 13, "to=3", "s64[2]=300,-129", "s8[2]=44,127" },
  { "Cast", 21, "to=22", "f32[3]=-8,7,3", "s4[3]=-8,7,3" },
  { "Cast", 21, "to=1", "u4[3]=1,15,0", "f32[3]=1,15,0" },
  { "Cast", 13, "to=99", "f32[1]=1", "!99" },
  { "CastLike", 15, "", "f32[1]=2.7 s32[1]=0", "s32[1]=2" },
};

static void
test_cases (void)
{
  op_run_text_cases (cases, G_N_ELEMENTS (cases), 2e-7);
}

/* A clamp behind the sum: NaN stays, integers saturate its bounds. */
static void
test_clamp (void)
{
  static const struct { const char *a, *b, *y; } clamped[] = {
    { "f32[5]=-3,0,3,9,nan", "f32[]=1", "f32[5]=0,1,4,6,nan" },
    { "f16[3]=-3,0,9", "f16[]=1", "f16[3]=0,1,6" },
    { "s32[3]=-3,0,9", "s32[]=1", "s32[3]=0,1,6" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (clamped); i++)
    {
      g_autoptr(VnTensor) a = op_tensor_from_text (clamped[i].a);
      g_autoptr(VnTensor) b = op_tensor_from_text (clamped[i].b);
      g_autoptr(VnTensor) wanted = op_tensor_from_text (clamped[i].y);
      g_autoptr(VnTensor) y = op_call_one (&(OpCall) { .domain = "", .type = "Add", .opset = 14,
                                                       .inputs = (VnTensor *[]) { a, b }, .n_inputs = 2,
                                                       .n_outputs = 1, .activation = { TRUE, 0.f, 6.f } });
      g_autofree char *text = op_tensor_to_text (y);

      g_test_message ("%s", text);
      g_assert_cmpint (y->dtype, ==, wanted->dtype);
      for (gsize k = 0; k < y->n_elements; k++)
        g_assert_true (vn_tensor_get_double (y, k) == vn_tensor_get_double (wanted, k) ||
                       (isnan (vn_tensor_get_double (y, k)) && isnan (vn_tensor_get_double (wanted, k))));
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ops/arithmetic/broadcast", test_broadcast);
  g_test_add_func ("/ops/arithmetic/cases", test_cases);
  g_test_add_func ("/ops/arithmetic/clamp", test_clamp);
  return g_test_run ();
}
