/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Passes on request: that each does its work, on networks made for it, and that outputs stay where they must. */
#include "pass-models.h"

#include "vn-error.h"
#include "vn-kernel-form.h"
#include "vn-pass.h"
#include "vn-plan.h"

#include <math.h>

static VnModel *
apply (VnModel       *model,
       const char    *id,
       GHashTable    *shapes,
       VnNotes       *notes)
{
  const char * const ids[] = { id, NULL };
  const VnPrepareOptions options = { .skip_optimization = TRUE, .passes = ids, .input_shapes = shapes };
  g_autoptr(GError) error = NULL;
  VnModel *prepared = vn_prepare_model_with (model, &options, NULL, notes, NULL, &error);

  g_assert_no_error (error);
  return prepared;
}

static guint
count (const VnModel *model,
       const char    *op_type)
{
  guint n = 0;

  for (guint i = 0; i < model->graph->nodes->len; i++)
    n += vn_node_is (g_ptr_array_index (model->graph->nodes, i), op_type);
  return n;
}

/* The outputs one after the other; @x: what goes in. */
static GArray *
run (VnModel        *model,
     const VnTensor *x)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnPlan) plan = vn_plan_new (model, NULL, NULL, &error);
  g_autoptr(VnRunner) runner = plan != NULL ? vn_runner_new (plan, &error) : NULL;
  guint n = plan != NULL ? vn_plan_get_n_outputs (plan) : 0;
  g_autoptr(GPtrArray) outputs = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_tensor_unref);
  GArray *numbers = g_array_new (FALSE, FALSE, sizeof (double));
  VnTensor *input = (VnTensor *) x;

  g_assert_no_error (error);
  g_ptr_array_set_size (outputs, (int) n);
  g_assert_true (vn_runner_run (runner, &input, (VnTensor **) outputs->pdata, NULL, &error));
  for (guint i = 0; i < n; i++)
    for (gsize k = 0; k < ((const VnTensor *) g_ptr_array_index (outputs, i))->n_elements; k++)
      {
        double number = vn_tensor_get_double (g_ptr_array_index (outputs, i), k);

        g_array_append_val (numbers, number);
      }
  return numbers;
}

static VnTensor *
make_input (const VnShape *shape)
{
  VnTensor *x = vn_tensor_new (VN_DTYPE_F32, shape, NULL);

  for (gsize i = 0; i < x->n_elements; i++)
    ((float *) x->data)[i] = roundf (sinf ((float) i * 1.7f) * 60) / 64;
  return x;
}

static void
assert_close (GArray *a,
              GArray *b,
              double  tolerance)
{
  g_assert_cmpuint (a->len, ==, b->len);
  g_assert_cmpuint (a->len, >, 0);
  for (guint i = 0; i < a->len; i++)
    g_assert_cmpfloat (fabs (g_array_index (a, double, i) - g_array_index (b, double, i)), <=, tolerance);
}

/* How many nodes of a type there are before and after; outputs, which inputs below 1 leave alone, stay. */
static void
test_effects (void)
{
  static const struct {
    const char *pass;
    VnModel  *(*build) (void);
    const char *op_type;
    guint       before, after;
    double      tolerance;
  } cases[] = {
    { "mean-to-pool",     test_forms,       "GlobalAveragePool",  1, 2, 1e-6 },
    { "split-large-pool", test_forms,       "AveragePool",        0, 1, 1e-6 },
    { "split-to-slice",   test_forms,       "Slice",              0, 2, 0    },
    { "split-to-slice",   test_forms,       "Split",              1, 0, 0    },
    { "clip-to-relu",     test_forms,       "Relu",               0, 2, 0    },
    { "clip6-to-relu",    test_forms,       "Relu",               0, 1, 0    },
    { "bn-to-conv",       test_forms,       "BatchNormalization", 1, 0, 1e-6 },
    { "copy-shared-init", test_shared,      "Conv",               2, 2, 0    },
    { "copy-bias-init",   test_shared,      "Conv",               2, 2, 0    },
    { "copy-axes",        test_peculiar,    "ConvTranspose",      1, 1, 0    },
    { "kernel-forms",     test_peculiar,    "Resize",             1, 1, 1e-6 },
    { "subsample-first",  test_strided,     "MaxPool",            0, 2, 1e-6 },
    { "subsample-first",  test_strided,     "Conv",               5, 5, 1e-6 },
    { "split-fused",      test_fused,        "Conv",               0, 3, 1e-6 },
    { "split-fused",      test_fused,        "Clip",               0, 1, 1e-6 },
    { "split-fused",      test_fused,        "Add",                0, 1, 1e-6 },
    { "transpose-gemm",   test_layers,       "Gemm",               2, 2, 0    },
    { "finite-weights",   test_masked,      "Add",                1, 1, 0    },
    { "remove-qdq",       test_qdq,         "QuantizeLinear",     2, 0, 1 / 128. },
    { "remove-qdq",       test_qdq,         "DequantizeLinear",   3, 0, 1 / 128. },
    { "fuse-layer-norm",  test_written_out, "LayerNormalization", 0, 1, 1e-5 },
    { "fuse-gelu",        test_written_out, "Gelu",               0, 1, 1e-5 },
    { "fuse-gelu",        test_written_out, "Erf",                1, 0, 1e-5 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnModel) model = cases[i].build ();
      g_autoptr(VnModel) changed = apply (model, cases[i].pass, NULL, NULL);
      const VnValue *input = g_ptr_array_index (model->graph->inputs, 0);
      g_autoptr(VnTensor) x = make_input (&input->type.shape);
      g_autoptr(GArray) expected = run (model, x);
      g_autoptr(GArray) got = run (changed, x);

      g_test_message ("%s: %s", cases[i].pass, cases[i].op_type);
      g_assert_cmpuint (count (model, cases[i].op_type), ==, cases[i].before);
      g_assert_cmpuint (count (changed, cases[i].op_type), ==, cases[i].after);
      assert_close (expected, got, cases[i].tolerance);
    }
}

/* Above 6 the result is another one: the pass says so by what it is. */
static void
test_altering (void)
{
  static const char * const ids[] = { "activations-s8", "activations-u8", "bias-int16", "clip-to-relu", "clip6-to-relu",
                                      "finite-weights", "nhwc-inputs", "random-weights", "remove-qdq" };
  guint n, n_altering = 0;
  const VnPass * const *passes = vn_pass_list (&n);

  for (guint i = 0; i < G_N_ELEMENTS (ids); i++)
    g_assert_true (vn_pass_find (ids[i])->alters);
  for (guint i = 0; i < n; i++)
    {
      n_altering += passes[i]->alters;
      g_assert_true (!passes[i]->alters || passes[i]->stage == VN_PASS_REQUEST);
    }
  g_assert_cmpuint (n_altering, ==, G_N_ELEMENTS (ids));
}

static void
test_copies (void)
{
  g_autoptr(VnModel) model = test_shared ();
  g_autoptr(VnModel) all = apply (model, "copy-shared-init", NULL, NULL);
  g_autoptr(VnModel) biases = apply (model, "copy-bias-init", NULL, NULL);

  g_assert_cmpuint (model->graph->initializers->len, ==, 2);
  g_assert_cmpuint (all->graph->initializers->len, ==, 5);
  g_assert_cmpuint (biases->graph->initializers->len, ==, 3);
}

/* Nothing is left that a kernel on integers does not compute, and the weight has a copy for the other axis. */
static void
test_kernels (void)
{
  g_autoptr(VnModel) model = test_peculiar ();
  g_autoptr(VnModel) plain = apply (model, "kernel-forms", NULL, NULL);
  g_autoptr(VnModel) copied = apply (model, "copy-axes", NULL, NULL);
  g_autoptr(VnModel) none = test_shared ();
  g_autoptr(VnModel) same = apply (none, "copy-axes", NULL, NULL);
  guint n = 0, n_left = 0;

  for (guint i = 0; i < model->graph->nodes->len; i++)
    {
      n += vn_kernel_find_form (g_ptr_array_index (model->graph->nodes, i)) != NULL;
      n_left += vn_kernel_find_form (g_ptr_array_index (plain->graph->nodes, i)) != NULL;
    }
  g_assert_cmpuint (n, ==, 3);
  g_assert_cmpuint (n_left, ==, 0);
  g_assert_cmpuint (copied->graph->initializers->len, ==, model->graph->initializers->len + 1);
  g_assert_cmpuint (same->graph->initializers->len, ==, none->graph->initializers->len);
}

/* Types that kernels on integers take. */
static void
test_kernel_types (void)
{
  static const struct { const char *op_type; VnDType left, right, result; gboolean takes; } cases[] = {
    { "MatMul", VN_DTYPE_U8, VN_DTYPE_S8, VN_DTYPE_U8, TRUE },
    { "MatMul", VN_DTYPE_S8, VN_DTYPE_U8, VN_DTYPE_U8, FALSE },
    { "Gemm",   VN_DTYPE_S8, VN_DTYPE_S8, VN_DTYPE_S8, TRUE },
    { "Conv",   VN_DTYPE_U8, VN_DTYPE_S8, VN_DTYPE_S8, FALSE },
    { "Add",    VN_DTYPE_U8, VN_DTYPE_U8, VN_DTYPE_U8, TRUE },
    { "Add",    VN_DTYPE_U8, VN_DTYPE_S8, VN_DTYPE_U8, FALSE },
    { "Conv",   VN_DTYPE_U16, VN_DTYPE_S8, VN_DTYPE_U16, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmpint (vn_kernel_takes_types (cases[i].op_type, cases[i].left, cases[i].right, cases[i].result), ==,
                     cases[i].takes);
}

static void
test_finite (void)
{
  g_autoptr(VnModel) model = test_masked ();
  g_autoptr(VnModel) finite = apply (model, "finite-weights", NULL, NULL);
  const VnValue *mask = vn_graph_find_value (finite->graph, "mask");

  g_assert_cmpfloat (vn_tensor_get_double (mask->initializer, 1), ==, -10000);
  g_assert_cmpfloat (vn_tensor_get_double (mask->initializer, 0), ==, 0);
}

/* The same picture with its channels last gives the same. */
static void
test_nhwc (void)
{
  g_autoptr(VnModel) model = test_forms ();
  g_autoptr(VnModel) changed = apply (model, "nhwc-inputs", NULL, NULL);
  const VnValue *input = g_ptr_array_index (changed->graph->inputs, 0);
  g_autoptr(VnTensor) x = make_input (&VN_SHAPE (1, 3, 24, 30));
  g_autoptr(VnTensor) turned = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (1, 24, 30, 3), NULL);
  g_autoptr(GArray) expected = run (model, x);
  g_autoptr(GArray) got = NULL;
  g_autoptr(VnNotes) notes = vn_notes_new ();
  g_autoptr(VnModel) words = test_written_out ();
  g_autoptr(VnModel) same = apply (words, "nhwc-inputs", NULL, notes);

  g_assert_cmpstr (input->name, ==, "x");
  g_assert_true (vn_shape_equal (&input->type.shape, &turned->shape));
  for (gsize i = 0; i < x->n_elements; i++)
    ((float *) turned->data)[i % 720 * 3 + i / 720] = ((float *) x->data)[i];
  got = run (changed, turned);
  assert_close (expected, got, 0);

  /* No picture: it stays, and a note says why. */
  g_assert_cmpuint (count (same, "Transpose"), ==, 0);
  g_assert_cmpuint (vn_notes_get_n (notes), ==, 1);
}

static void
test_fix_shapes (void)
{
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  VnGraph *g = model->graph;
  VnValue *x = vn_graph_add_input (g, "x", VN_DTYPE_F32, &VN_SHAPE (VN_DIM_UNKNOWN, 3, VN_DIM_UNKNOWN));
  VnValue *y = vn_graph_add_input (g, "y", VN_DTYPE_F32, &VN_SHAPE (VN_DIM_UNKNOWN, 3, 1));
  VnNode *sum = add (g, "sum", "Add", "s", x, y, END);
  g_autoptr(GHashTable) shapes = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr(VnNotes) notes = vn_notes_new ();
  g_autoptr(VnModel) fixed = NULL;
  g_autofree char *text = NULL;
  VnShape given = VN_SHAPE (2, 3, VN_DIM_UNKNOWN);

  x->type.symbols[0] = g_strdup ("N");
  y->type.symbols[0] = g_strdup ("N");
  x->type.symbols[2] = g_strdup ("W");
  finish (model, sum);
  g_hash_table_insert (shapes, (gpointer) "x", &given);
  fixed = apply (model, "fix-shapes", shapes, notes);
  text = vn_type_to_string (&((VnValue *) g_ptr_array_index (fixed->graph->inputs, 1))->type);
  g_assert_cmpstr (text, ==, "float32[2,3,1]");
  g_free (text);
  text = vn_type_to_string (&((VnValue *) g_ptr_array_index (fixed->graph->outputs, 0))->type);
  g_assert_cmpstr (text, ==, "float32[2,3,W]");
  g_assert_cmpuint (vn_notes_get_n (notes), ==, 1);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/rewrite/requests/effects", test_effects);
  g_test_add_func ("/rewrite/requests/altering", test_altering);
  g_test_add_func ("/rewrite/requests/copies", test_copies);
  g_test_add_func ("/rewrite/requests/kernels", test_kernels);
  g_test_add_func ("/rewrite/requests/kernel-types", test_kernel_types);
  g_test_add_func ("/rewrite/requests/finite", test_finite);
  g_test_add_func ("/rewrite/requests/nhwc", test_nhwc);
  g_test_add_func ("/rewrite/requests/fix-shapes", test_fix_shapes);
  return g_test_run ();
}
