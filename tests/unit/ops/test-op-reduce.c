/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reductions against a naive reference over every set of axes, and single cases. */
#include "op-text.h"

#include <math.h>
#include <string.h>

static const char * const types[] = {
  "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum",
  "ReduceLogSumExp", "ReduceSumSquare",
};

typedef struct
{
  double sum, amount, square, product, max, min, exp;
  gsize  n;
} Totals;

static double
result (const char   *type,
        const Totals *t)
{
  const double values[] = {
    t->sum, t->sum / (double) t->n, t->max, t->min, t->product, t->amount, sqrt (t->square), log (t->sum),
    log (t->exp), t->square,
  };

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (g_str_equal (types[i], type))
      return values[i];
  g_assert_not_reached ();
}

static void
add_value (Totals *t,
           double  x)
{
  if (t->n == 0)
    *t = (Totals) { .product = 1, .max = x, .min = x };
  t->n++;
  t->sum += x;
  t->amount += fabs (x);
  t->square += x * x;
  t->product *= x;
  t->max = MAX (t->max, x);
  t->min = MIN (t->min, x);
  t->exp += exp (x);
}

/* Index of element @i of @shape among the results when the axes of @mask are reduced. */
static gsize
result_index (const VnShape *shape,
              guint          mask,
              gsize          i)
{
  gsize at = 0, stride = 1;

  for (int d = shape->rank - 1; d >= 0; d--)
    {
      gsize index = i % (gsize) shape->dims[d];

      i /= (gsize) shape->dims[d];
      if ((mask >> d & 1) != 0)
        continue;
      at += index * stride;
      stride *= (gsize) shape->dims[d];
    }
  return at;
}

static void
check (const char    *type,
       const VnShape *shape,
       guint          mask,
       VnDType        dtype)
{
  g_autoptr(VnTensor) random = op_random (shape, 7);
  g_autoptr(VnTensor) x = NULL;
  g_autoptr(VnTensor) axes = NULL;
  g_autoptr(VnTensor) y = NULL;
  g_autofree Totals *totals = NULL;
  gint64 list[VN_MAX_RANK];
  VnShape n_axes = { 1 };

  /* Positive numbers near 1: logarithms exist and products do not vanish. */
  for (gsize i = 0; i < random->n_elements; i++)
    ((float *) random->data)[i] = 1.f + 0.1f * ((float *) random->data)[i];
  x = vn_tensor_convert (random, dtype, NULL);
  for (int d = 0; d < shape->rank; d++)
    if ((mask >> d & 1) != 0)
      list[n_axes.dims[0]++] = d % 2 == 0 ? d : d - shape->rank;
  axes = vn_tensor_new_s64 (&n_axes, list);
  y = op_call_one (&(OpCall) { .domain = "", .type = type, .opset = 18, .attributes = "keepdims=0 noop_with_empty_axes=1",
                               .inputs = (VnTensor *[]) { x, axes }, .n_inputs = 2, .n_outputs = 1 });
  totals = g_new0 (Totals, y->n_elements);
  for (gsize i = 0; i < x->n_elements; i++)
    add_value (&totals[result_index (shape, mask, i)], vn_tensor_get_double (x, i));
  for (gsize i = 0; i < y->n_elements; i++)
    {
      double wanted = result (type, &totals[i]), found = vn_tensor_get_double (y, i);
      double tolerance = (dtype == VN_DTYPE_F16 ? 1e-3 : 2e-6) * MAX (1, fabs (wanted));

      if (!(fabs (found - wanted) <= tolerance))
        {
          g_test_message ("%s of %s, axes %x, result %" G_GSIZE_FORMAT ": %.9g, expected %.9g", type,
                          vn_dtype_get_name (dtype), mask, i, found, wanted);
          g_assert_not_reached ();
        }
    }
}

static void
test_axes (void)
{
  const VnShape shapes[] = { VN_SHAPE (3, 2, 5, 4), VN_SHAPE (2, 1, 3, 1), VN_SHAPE (7, 1100), VN_SHAPE (19) };

  for (guint t = 0; t < G_N_ELEMENTS (types); t++)
    for (guint s = 0; s < G_N_ELEMENTS (shapes); s++)
      for (guint mask = 0; mask < 1u << shapes[s].rank; mask++)
        {
          check (types[t], &shapes[s], mask, VN_DTYPE_F32);
          check (types[t], &shapes[s], mask, VN_DTYPE_F64);
          if (!g_str_equal (types[t], "ReduceProd") && s != 2)
            check (types[t], &shapes[s], mask, VN_DTYPE_F16);
        }
}

static const OpTextCase cases[] = {
  { "ReduceSum", 11, "axes=[1]", "f32[2,2]=1,2,3,4", "f32[2,1]=3,7" },
  { "ReduceSum", 13, "", "f32[2,2]=1,2,3,4 s64[1]=-2", "f32[1,2]=4,6" },
  { "ReduceSum", 13, "", "f32[2,2]=1,2,3,4", "f32[1,1]=10" },
  { "ReduceSum", 13, "keepdims=0", "f32[]=3", "f32[]=3" },
  { "ReduceSum", 13, "noop_with_empty_axes=1", "s64[2]=1,2 s64[0]=", "s64[2]=1,2" },
  { "ReduceSum", 13, "", "f32[2,0]= s64[1]=1", "f32[2,1]=0,0" },
  { "ReduceProd", 18, "", "f32[1,0]= s64[1]=1", "f32[1,1]=1" },
  { "ReduceMax", 20, "", "f32[1,0]= s64[1]=1", "f32[1,1]=-inf" },
  { "ReduceMin", 20, "", "s8[1,0]= s64[1]=1", "s8[1,1]=127" },
  { "ReduceLogSumExp", 18, "", "f32[1,0]= s64[1]=1", "f32[1,1]=-inf" },
  { "ReduceMax", 20, "", "f32[2,2]=1,nan,-1,-2 s64[1]=1", "f32[2,1]=nan,-1" },
  { "ReduceMin", 20, "", "bool[3]=1,0,1", "bool[1]=0" },
  { "ReduceMax", 13, "axes=[0]", "u8[2,2]=1,200,3,4", "u8[1,2]=3,200" },
  { "ReduceMean", 13, "axes=[0]", "s32[3]=1,2,4", "s32[1]=2" },
  { "ReduceLogSumExp", 13, "axes=[0]", "f32[2]=1000,1000", "f32[1]=1000.69315" },
  { "ReduceLogSumExp", 13, "axes=[0]", "f32[2]=-inf,-inf", "f32[1]=-inf" },
  { "ReduceL2", 13, "axes=[0]", "f32[2]=3e20,4e20", "f32[1]=5e20" },
  { "ReduceSumSquare", 13, "", "s32[2]=3,-4", "s32[1]=25" },
  { "ReduceSum", 13, "", "f32[2,2]=1,2,3,4 s64[1]=2", "!outside" },
  { "ReduceSum", 13, "", "f32[2,2]=1,2,3,4 s64[2]=0,-2", "!twice" },
};

static void
test_cases (void)
{
  op_run_text_cases (cases, G_N_ELEMENTS (cases), 1e-6);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ops/reduce/axes", test_axes);
  g_test_add_func ("/ops/reduce/cases", test_cases);
  return g_test_run ();
}
