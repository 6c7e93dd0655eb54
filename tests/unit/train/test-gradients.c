/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every line of the table of gradients against differences of what the operators' own kernels compute, in float64 where there is
 * such a kernel. */
#include "gradient-bench.h"
#include "vn-gradient.h"

#include <math.h>
#include <string.h>

/* A difference over 2 STEP is off by STEP² / 6 of the third derivative: nothing in float64. In float32 sums of a few numbers of
 * about 1 are off by 1e-6, so that the quotient is by 2e-5; a wider step makes the third derivative count. Gradients themselves
 * are float32. */
#define STEP_F64 1e-4
#define STEP_F32 0x1p-6
#define NEAR_F64 1e-5
#define NEAR_F32 2e-3

/* ---- differences ---- */

/* The loss of what the kernel computes. Kernels that compute in float32 all the same are told. */
static double
compute_loss (const GradientBench  *self,
              VnTensor    **inputs,
              gboolean     *is_f32,
              GError      **error)
{
  VnTensor *outputs[GRADIENT_MAX_OUTPUTS] = { NULL };
  OpCall call = self->call;
  double loss = 0;

  call.inputs = inputs;
  if (!op_call (&call, outputs, error))
    return NAN;
  for (guint o = 0; o < call.n_outputs; o++)
    for (gsize i = 0; self->factors[o] != NULL && i < outputs[o]->n_elements; i++)
      loss += vn_tensor_get_double (self->factors[o], i) * vn_tensor_get_double (outputs[o], i);
  for (guint o = 0; is_f32 != NULL && o < call.n_outputs; o++)
    *is_f32 = *is_f32 || outputs[o]->dtype == VN_DTYPE_F32;
  vn_tensor_clear_all (outputs, GRADIENT_MAX_OUTPUTS);
  return loss;
}

static void
convert_inputs (const GradientBench  *self,
                VnTensor    **inputs)
{
  for (guint i = 0; i < self->call.n_inputs; i++)
    if (self->inputs[i] == NULL)
      inputs[i] = NULL;
    else if (self->inputs[i]->dtype != VN_DTYPE_F32)
      inputs[i] = vn_tensor_ref (self->inputs[i]);
    else
      {
        inputs[i] = vn_tensor_new (self->uses_f64 ? VN_DTYPE_F64 : VN_DTYPE_F32, &self->inputs[i]->shape, NULL);
        for (gsize k = 0; k < inputs[i]->n_elements; k++)
          if (self->uses_f64)
            ((double *) inputs[i]->data)[k] = (double) ((const float *) self->inputs[i]->data)[k];
          else
            ((float *) inputs[i]->data)[k] = ((const float *) self->inputs[i]->data)[k];
      }
}

static void
move (VnTensor *tensor,
      gsize     k,
      double    by)
{
  if (tensor->dtype == VN_DTYPE_F64)
    ((double *) tensor->data)[k] += by;
  else
    ((float *) tensor->data)[k] += (float) by;
}

static double
find_difference (const GradientBench  *self,
                 VnTensor    **inputs,
                 guint         input,
                 gsize         k)
{
  double step = self->uses_f64 ? STEP_F64 : STEP_F32, kept = vn_tensor_get_double (inputs[input], k), above, below;
  g_autoptr(GError) error = NULL;

  move (inputs[input], k, step);
  above = compute_loss (self, inputs, NULL, &error);
  g_assert_no_error (error);
  move (inputs[input], k, kept - step - vn_tensor_get_double (inputs[input], k));
  below = compute_loss (self, inputs, NULL, &error);
  g_assert_no_error (error);
  move (inputs[input], k, kept - vn_tensor_get_double (inputs[input], k));
  return (above - below) / (2 * step);
}

/* ---- comparing ---- */

static void
compare_input (const GradientBench     *bench,
               guint            input,
               const VnTensor  *gradient)
{
  VnTensor *inputs[GRADIENT_MAX_INPUTS] = { NULL };
  double worst = 0, largest = 1, near = bench->uses_f64 ? NEAR_F64 : NEAR_F32;

  convert_inputs (bench, inputs);
  g_assert_true (vn_shape_equal (&gradient->shape, &bench->inputs[input]->shape));
  for (gsize k = 0; k < gradient->n_elements; k++)
    {
      double wanted = find_difference (bench, inputs, input, k), found = vn_tensor_get_double (gradient, k);

      if (isnan (wanted) && isnan (found))   /* a power of a negative number */
        continue;
      worst = MAX (worst, isnan (wanted) || isnan (found) ? INFINITY : fabs (wanted - found));
      largest = MAX (largest, fabs (wanted));
      if (!(fabs (wanted - found) <= near * largest))
        g_test_message ("%s (%s) %s: input %u, element %zu: the difference is %.8g, the gradient %.8g", bench->c->type,
                        bench->c->attributes, bench->c->inputs, input, k, wanted, found);
    }
  vn_tensor_clear_all (inputs, GRADIENT_MAX_INPUTS);
  if (!(worst <= near * largest))
    g_test_fail ();
}

/* Each gradient alone has the bits that it has beside the others. */
static void
compare_alone (GradientBench     *bench,
               VnTensor **gradients)
{
  for (guint i = 0; i < bench->call.n_inputs; i++)
    {
      VnTensor *alone[GRADIENT_MAX_INPUTS] = { NULL };
      g_autoptr(GError) error = NULL;

      if (gradients[i] == NULL)
        continue;
      gradient_bench_run_back (bench, i, alone, &error);
      g_assert_no_error (error);
      for (guint k = 0; k < bench->call.n_inputs; k++)
        g_assert_true (k == i ? alone[k] != NULL && vn_tensor_equal (alone[k], gradients[k]) : alone[k] == NULL);
      vn_tensor_clear_all (alone, GRADIENT_MAX_INPUTS);
    }
}

/* Returns: how many gradients were compared */
static guint
compare_case (const GradientCase *c,
              const VnGradient   *gradient,
              guint              *n_f32)
{
  VnTensor *gradients[GRADIENT_MAX_INPUTS] = { NULL }, *inputs[GRADIENT_MAX_INPUTS] = { NULL };
  g_autoptr(GError) error = NULL, unsupported = NULL;
  gboolean is_f32 = FALSE;
  guint n = 0;
  g_auto(GradientBench) bench = { 0 };

  gradient_bench_init (&bench, c);
  gradient_bench_run_back (&bench, G_MAXUINT, gradients, &error);
  g_assert_no_error (error);
  convert_inputs (&bench, inputs);
  compute_loss (&bench, inputs, &is_f32, &unsupported);
  vn_tensor_clear_all (inputs, GRADIENT_MAX_INPUTS);
  bench.uses_f64 = unsupported == NULL && !is_f32 && !c->narrow;
  *n_f32 += !bench.uses_f64;
  for (guint i = 0; i < bench.call.n_inputs; i++)
    {
      gboolean has = bench.inputs[i] != NULL && bench.inputs[i]->dtype == VN_DTYPE_F32 && vn_gradient_has_input (gradient, i);

      g_assert_true (has == (gradients[i] != NULL));
      if (has)
        compare_input (&bench, i, gradients[i]);
      n += has;
    }
  compare_alone (&bench, gradients);
  vn_tensor_clear_all (gradients, GRADIENT_MAX_INPUTS);
  return n;
}

static const VnGradient *
find_line (const char *type)
{
  const char *colon = strchr (type, ':');
  g_autofree char *domain = g_strndup (type, colon != NULL ? (gsize) (colon - type) : 0);
  guint n;
  const VnGradient *table = vn_gradient_list (&n);

  for (guint i = 0; i < n; i++)
    if (g_str_equal (table[i].op_type, colon != NULL ? colon + 1 : type) && g_str_equal (table[i].domain, domain))
      return &table[i];
  return NULL;
}

static void
test_differences (void)
{
  guint n_cases, n_lines, n_compared = 0, n_f32 = 0;
  const GradientCase *cases = gradient_cases (&n_cases);
  const VnGradient *table = vn_gradient_list (&n_lines);
  g_autofree gboolean *seen = g_new0 (gboolean, n_lines + 1);

  for (guint i = 0; i < n_cases; i++)
    {
      const VnGradient *line = find_line (cases[i].type);

      g_test_message ("%s (%s) %s", cases[i].type, cases[i].attributes, cases[i].inputs);
      g_assert_nonnull (line);
      n_compared += compare_case (&cases[i], line, &n_f32);
      seen[line - table] = TRUE;
    }
  for (guint i = 0; i < n_lines; i++)
    if (!seen[i])
      g_error ("no case of %s%s%s", table[i].domain, *table[i].domain != '\0' ? ":" : "", table[i].op_type);
  g_test_message ("%u gradients compared, %u cases of %u in float32", n_compared, n_f32, n_cases);
  g_assert_cmpuint (n_compared, >, n_lines / 2);
}

/* ---- what cannot be done ---- */

typedef struct
{
  GradientCase c;
  const char  *message;
} Refusal;

/* Sizes that do not fit, attributes without a gradient, results that have none. */
static const Refusal refusals[] = {
  { { "Conv", 11, "", "f32[1,2,5,5] f32[3,4,3,3]" }, "channels" },
  { { "Conv", 11, "", "f32[1,2,2,2] f32[3,2,3,3]" }, "does not fit" },
  { { "Conv", 11, "group=0", "f32[1,2,5,5] f32[3,2,3,3]" }, "group" },
  { { "Conv", 11, "kernel_shape=[2,2]", "f32[1,2,5,5] f32[3,2,3,3]" }, "kernel_shape" },
  { { "Conv", 11, "", "f32[1,2,5,5] f32[3,2,3,3] f32[4]" }, "bias" },
  { { "ConvTranspose", 11, "group=3", "f32[1,2,5,5] f32[2,2,3,3]" }, "channels" },
  { { "ConvTranspose", 11, "pads=[9,9,9,9]", "f32[1,2,5,5] f32[2,2,3,3]" }, "leaves an output of size" },
  { { "MatMul", 13, "", "f32[3,4] f32[5,2]" }, "columns" },
  { { "Gemm", 13, "", "f32[3,4] f32[4,2] f32[3]" }, "input C" },
  { { "Add", 13, "", "f32[3,4] f32[3]" }, "Add" },
  { { "Gather", 13, "", "f32[3,4] s64[1]=3" }, "outside" },
  { { "Slice", 13, "", "f32[3,4] s64[1]=0 s64[1]=1 s64[1]=7" }, "axis" },
  { { "MaxPool", 12, "kernel_shape=[9,9]", "f32[1,1,4,4]" }, "does not fit" },
  { { "LayerNormalization", 17, "", "f32[2,4] f32[4]", 0, 0, 3 }, "mean and the standard deviation" },
  { { "BatchNormalization", 15, "training_mode=1", "f32[2,3,4] f32[3] f32[3] f32[3] f32[3]=1,1,1" }, "training_mode" },
  { { "BatchNormalization", 7, "spatial=0", "f32[2,3,4] f32[3,4] f32[3,4] f32[3,4] f32[3,4]" }, "spatial" },
  { { "Dropout", 13, "", "f32[3,5] f32[]=0.5 bool[]=1" }, "randomly" },
  { { "ScatterND", 18, "reduction=add", "f32[4,3] s64[2,1]=1,3 f32[2,3]" }, "reduction" },
  { { "Pad", 2, "pads=[1,0,2,1] value=2.0", "f32[2,3]" }, "opset" },
  { { "Add", 6, "broadcast=1 axis=0", "f32[2,3] f32[2]" }, "opset" },
  { { "PRelu", 6, "", "f32[2,3,4,2] f32[3]" }, "opset" },
  { { "Cast", 13, "to=10", "f32[3]" }, "float16" },
  { { "Det", 11, "", "f32[3,3]" }, "Det" },
};

static void
test_refusals (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (refusals); i++)
    {
      VnTensor *gradients[GRADIENT_MAX_INPUTS] = { NULL };
      g_auto(GradientBench) bench = { 0 };
      g_autoptr(GError) error = NULL;

      gradient_bench_init (&bench, &refusals[i].c);
      g_assert_false (gradient_bench_run_back (&bench, G_MAXUINT, gradients, &error));
      g_assert_nonnull (error);
      g_test_message ("%s", error->message);
      g_assert_nonnull (strstr (error->message, refusals[i].message));
      g_assert_nonnull (strstr (error->message, refusals[i].c.type));
      vn_tensor_clear_all (gradients, GRADIENT_MAX_INPUTS);
    }
}

/* Nothing to compute, and nothing read or written beside it. */
static void
test_empty (void)
{
  static const GradientCase empty[] = {
    { "Conv", 11, "", "f32[0,2,5,5] f32[3,2,3,3]" }, { "MatMul", 13, "", "f32[0,4] f32[4,2]" },
    { "MatMul", 13, "", "f32[2,0] f32[0,3]" },
    { "Gemm", 13, "", "f32[2,0] f32[0,3] f32[3]" }, { "Add", 13, "", "f32[0,3] f32[3]" },
    { "Concat", 13, "axis=0", "f32[0,3] f32[2,3]" },
    { "Softmax", 13, "", "f32[2,0]" }, { "LayerNormalization", 17, "", "f32[0,3] f32[3]" },
    { "GlobalAveragePool", 13, "", "f32[0,3,2,2]" },
    { "Slice", 13, "", "f32[3,4] s64[1]=2 s64[1]=1" }, { "ReduceMean", 13, "axes=[0]", "f32[0,3]" }, { "Relu", 13, "", "f32[0]" },
    { "InstanceNormalization", 6, "", "f32[0,3,4] f32[3] f32[3]" }, { "ConvTranspose", 11, "", "f32[0,2,5,5] f32[2,2,3,3]" },
    { "Max", 13, "", "f32[0,3] f32[3]" }, { "AveragePool", 11, "kernel_shape=[2,2]", "f32[0,2,4,4]" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (empty); i++)
    {
      VnTensor *gradients[GRADIENT_MAX_INPUTS] = { NULL };
      g_auto(GradientBench) bench = { 0 };
      g_autoptr(GError) error = NULL;

      g_test_message ("%s %s", empty[i].type, empty[i].inputs);
      gradient_bench_init (&bench, &empty[i]);
      gradient_bench_run_back (&bench, G_MAXUINT, gradients, &error);
      g_assert_no_error (error);
      for (guint k = 0; k < bench.call.n_inputs; k++)
        for (gsize j = 0; gradients[k] != NULL && j < gradients[k]->n_elements; j++)
          g_assert_true (isfinite (((const float *) gradients[k]->data)[j]));
      vn_tensor_clear_all (gradients, GRADIENT_MAX_INPUTS);
    }
}

static void
test_order (void)
{
  guint n;
  const VnGradient *table = vn_gradient_list (&n);

  for (guint i = 1; i < n; i++)
    {
      int domains = g_strcmp0 (table[i - 1].domain, table[i].domain);

      g_assert_true (domains < 0 || (domains == 0 && g_strcmp0 (table[i - 1].op_type, table[i].op_type) < 0));
      g_assert_true ((table[i].inputs == 0) == (table[i].backward == NULL));
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/train/gradients/order", test_order);
  g_test_add_func ("/train/gradients/differences", test_differences);
  g_test_add_func ("/train/gradients/refusals", test_refusals);
  g_test_add_func ("/train/gradients/empty", test_empty);
  return g_test_run ();
}
