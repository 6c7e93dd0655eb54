/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every line of the table of gradients against differences of what the operators' own kernels compute, in float64 where there is
 * such a kernel. */
#include "gradient-cases.h"
#include "op-text.h"
#include "vn-train-block.h"

#include <math.h>
#include <string.h>

/* A difference over 2 STEP is off by STEP² / 6 of the third derivative: nothing in float64. In float32 sums of a few numbers of
 * about 1 are off by 1e-6, so that the quotient is by 2e-5; a wider step makes the third derivative count. Gradients themselves
 * are float32. */
#define STEP_F64 1e-4
#define STEP_F32 0x1p-6
#define NEAR_F64 1e-5
#define NEAR_F32 2e-3

#define MAX_INPUTS  16
#define MAX_OUTPUTS 8

typedef struct
{
  const GradientCase *c;
  OpCall              call;
  VnTensor           *inputs[MAX_INPUTS];
  VnTensor           *factors[MAX_OUTPUTS];   /* the loss is the sum of the results times these */
  gboolean            uses_f64;
} Bench;

/* All different, and in no order, so that the largest of some is no matter of chance. */
static VnTensor *
make_random (const VnShape *shape,
             double         low,
             double         high,
             guint          seed)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (seed);
  VnTensor *tensor = vn_tensor_new (VN_DTYPE_F32, shape, NULL);
  gsize n = tensor->n_elements;
  float *x = tensor->data;

  for (gsize i = 0; i < n; i++)
    x[i] = (float) (low + ((double) i + 0.37) / (double) n * (high - low));
  for (gsize i = n; i-- > 1;)
    {
      gsize k = (gsize) g_rand_int_range (rand, 0, (gint32) i + 1);
      float kept = x[i];

      x[i] = x[k];
      x[k] = kept;
    }
  return tensor;
}

static void
bench_init (Bench              *self,
            const GradientCase *c)
{
  g_auto(GStrv) words = g_strsplit (c->inputs, " ", -1);
  const char *colon = strchr (c->type, ':');
  double low = c->low == 0 && c->high == 0 ? -2 : c->low, high = c->low == 0 && c->high == 0 ? 2 : c->high;

  *self = (Bench) { .c = c, .uses_f64 = TRUE };
  for (guint i = 0; words[i] != NULL; i++)
    {
      VnTensorType type = g_str_equal (words[i], "-") ? (VnTensorType) { 0 } : op_type_from_text (words[i]);

      g_assert_cmpuint (i, <, MAX_INPUTS);
      self->inputs[self->call.n_inputs++] = g_str_equal (words[i], "-") || strchr (words[i], '=') != NULL
                                            ? op_tensor_from_text (words[i]) : make_random (&type.shape, low, high, i + 1);
    }
  self->call.domain = colon != NULL ? g_strndup (c->type, (gsize) (colon - c->type)) : g_strdup ("");
  self->call.type = colon != NULL ? colon + 1 : c->type;
  self->call.opset = c->opset;
  self->call.attributes = c->attributes;
  self->call.inputs = self->inputs;
  self->call.n_outputs = MAX (c->n_outputs, 1);
  self->call.first_known = TRUE;
  self->call.limit = 1 << 20;   /* types that the engine would not call it with are refused */
}

static void
bench_clear (Bench *self)
{
  vn_tensor_clear_all (self->inputs, MAX_INPUTS);
  vn_tensor_clear_all (self->factors, MAX_OUTPUTS);
  g_free ((char *) self->call.domain);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Bench, bench_clear)

/* ---- differences ---- */

/* The loss of what the kernel computes. Kernels that compute in float32 all the same are told. */
static double
compute_loss (const Bench  *self,
              VnTensor    **inputs,
              gboolean     *is_f32,
              GError      **error)
{
  VnTensor *outputs[MAX_OUTPUTS] = { NULL };
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
  vn_tensor_clear_all (outputs, MAX_OUTPUTS);
  return loss;
}

static void
convert_inputs (const Bench  *self,
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
find_difference (const Bench  *self,
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

/* ---- gradients ---- */

typedef struct
{
  Bench     *bench;
  VnBlock   *block;
  VnTensor **gradients;   /* by input */
} Train;

static gboolean
train_item (VnBlockRun  *run,
            guint        item,
            gpointer     data,
            GError     **error)
{
  Train *train = data;
  VnTensor *inputs[MAX_INPUTS] = { NULL };
  guint n = 0;

  for (guint i = 0; i < train->bench->call.n_inputs; i++)
    if (train->bench->inputs[i] != NULL)
      inputs[n++] = train->bench->inputs[i];
  g_assert_cmpuint (vn_block_get_n_inputs (train->block), ==, n);
  if (!vn_block_run_forward (run, inputs, error))
    return FALSE;
  for (guint o = 0; o < train->bench->call.n_outputs; o++)
    {
      const VnTensor *y = vn_block_run_get_output (run, o);
      VnTensor *dy, **factors = &train->bench->factors[o];

      if (y->dtype != VN_DTYPE_F32 || (train->bench->c->silent >> o & 1) != 0)
        continue;
      if (*factors == NULL)
        *factors = make_random (&y->shape, -1, 1, 100 + o);
      dy = vn_block_run_get_output_gradient (run, o, error);
      if (dy == NULL)
        return FALSE;
      memcpy (dy->data, (*factors)->data, dy->n_bytes);
    }
  if (!vn_block_run_backward (run, error))
    return FALSE;
  n = 0;
  for (guint i = 0; i < train->bench->call.n_inputs; i++)
    {
      const VnTensor *gradient = train->bench->inputs[i] != NULL ? vn_block_run_get_gradient (run, vn_block_get_input (train->block, n++)) : NULL;

      if (gradient != NULL)
        train->gradients[i] = vn_tensor_new_copy (VN_DTYPE_F32, &gradient->shape, gradient->data, NULL);
    }
  return TRUE;
}

/* @only: the input whose gradient is wanted, G_MAXUINT: of all */
static gboolean
run_back (Bench      *bench,
          guint       only,
          VnTensor  **gradients,
          GError    **error)
{
  g_autoptr(VnModel) model = vn_model_new (8, bench->call.opset);
  g_autoptr(GPtrArray) nodes = g_ptr_array_new (), outputs = g_ptr_array_new ();
  g_autoptr(VnBlock) block = NULL;
  Train train = { bench, NULL, gradients };
  VnNode *node;
  guint n = 0;

  if (*bench->call.domain != '\0')
    vn_model_set_opset (model, bench->call.domain, bench->call.opset);
  node = op_call_make_node (model, &bench->call);
  g_ptr_array_add (nodes, node);
  for (guint o = 0; o < bench->call.n_outputs; o++)
    g_ptr_array_add (outputs, vn_node_get_output (node, o));
  block = train.block = vn_block_new (model->graph, nodes, outputs, error);
  if (block == NULL)
    return FALSE;
  for (guint i = 0; i < bench->call.n_inputs; i++)
    {
      if (bench->inputs[i] != NULL && bench->inputs[i]->dtype == VN_DTYPE_F32 && (only == G_MAXUINT || only == i))
        g_assert_true (vn_block_want_gradient (block, vn_block_get_input (block, n), NULL));
      n += bench->inputs[i] != NULL;
    }
  return vn_block_step (block, 1, 1, train_item, &train, NULL, error);
}

/* ---- comparing ---- */

static void
compare_input (const Bench     *bench,
               guint            input,
               const VnTensor  *gradient)
{
  VnTensor *inputs[MAX_INPUTS] = { NULL };
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
  vn_tensor_clear_all (inputs, MAX_INPUTS);
  if (!(worst <= near * largest))
    g_test_fail ();
}

/* Each gradient alone has the bits that it has beside the others. */
static void
compare_alone (Bench     *bench,
               VnTensor **gradients)
{
  for (guint i = 0; i < bench->call.n_inputs; i++)
    {
      VnTensor *alone[MAX_INPUTS] = { NULL };
      g_autoptr(GError) error = NULL;

      if (gradients[i] == NULL)
        continue;
      run_back (bench, i, alone, &error);
      g_assert_no_error (error);
      for (guint k = 0; k < bench->call.n_inputs; k++)
        g_assert_true (k == i ? alone[k] != NULL && vn_tensor_equal (alone[k], gradients[k]) : alone[k] == NULL);
      vn_tensor_clear_all (alone, MAX_INPUTS);
    }
}

/* Returns: how many gradients were compared */
static guint
compare_case (const GradientCase *c,
              const VnGradient   *gradient,
              guint              *n_f32)
{
  VnTensor *gradients[MAX_INPUTS] = { NULL }, *inputs[MAX_INPUTS] = { NULL };
  g_autoptr(GError) error = NULL, unsupported = NULL;
  gboolean is_f32 = FALSE;
  guint n = 0;
  g_auto(Bench) bench = { 0 };

  bench_init (&bench, c);
  run_back (&bench, G_MAXUINT, gradients, &error);
  g_assert_no_error (error);
  convert_inputs (&bench, inputs);
  compute_loss (&bench, inputs, &is_f32, &unsupported);
  vn_tensor_clear_all (inputs, MAX_INPUTS);
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
  vn_tensor_clear_all (gradients, MAX_INPUTS);
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
  return g_test_run ();
}
