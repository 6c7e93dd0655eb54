/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Element types that operators compute through another: halves as float32, strings and small elements by moving. */
#include "op-call.h"

#include "vn-error.h"
#include "vn-half.h"

#include <string.h>

#define MAX_INPUTS 5

typedef struct
{
  const char *name, *type;
  gint64      opset;
  const char *attributes;
  guint       n_inputs, n_outputs;
  VnShape     shapes[MAX_INPUTS];
} HalfCase;

static const HalfCase half_cases[] = {
  { "conv", "Conv", 13, "", 3, 1, { { 4, { 1, 3, 5, 5 } }, { 4, { 2, 3, 3, 3 } }, { 1, { 2 } } } },
  { "depthwise", "Conv", 13, "group=3", 2, 1, { { 4, { 1, 3, 5, 5 } }, { 4, { 3, 1, 3, 3 } } } },
  { "conv-transpose", "ConvTranspose", 13, "strides=[2,2]", 2, 1, { { 4, { 1, 3, 4, 4 } }, { 4, { 3, 2, 3, 3 } } } },
  { "matmul", "MatMul", 13, "", 2, 1, { { 3, { 2, 3, 17 } }, { 2, { 17, 9 } } } },
  { "gemm", "Gemm", 13, "transB=1 alpha=0.5", 3, 1, { { 2, { 3, 8 } }, { 2, { 5, 8 } }, { 1, { 5 } } } },
  { "einsum", "Einsum", 12, "equation=ij,kj->ki", 2, 1, { { 2, { 3, 8 } }, { 2, { 5, 8 } } } },
  { "softmax", "Softmax", 13, "axis=1", 1, 1, { { 3, { 2, 7, 3 } } } },
  { "layer-norm", "LayerNormalization", 17, "", 3, 3, { { 2, { 4, 9 } }, { 1, { 9 } }, { 1, { 9 } } } },
  { "lstm", "LSTM", 14, "hidden_size=2", 3, 3, { { 3, { 3, 2, 4 } }, { 3, { 1, 8, 4 } }, { 3, { 1, 8, 2 } } } },
  { "average-pool", "AveragePool", 11, "kernel_shape=[2,2]", 1, 1, { { 4, { 1, 2, 5, 5 } } } },
  { "max-pool", "MaxPool", 12, "kernel_shape=[2,2]", 1, 2, { { 4, { 1, 2, 5, 5 } } } },
  { "sigmoid", "Sigmoid", 13, "", 1, 1, { { 2, { 3, 5 } } } },
};

static void
unref_all (VnTensor **tensors,
           guint      n)
{
  for (guint i = 0; i < n; i++)
    g_clear_pointer (&tensors[i], vn_tensor_unref);
}

/* The same numbers as halves and as float32; the results must be those of float32, rounded once. */
static void
check_half (const HalfCase *test,
            VnDType         dtype,
            gboolean        constant)
{
  VnTensor *half[MAX_INPUTS] = { NULL }, *wide[MAX_INPUTS] = { NULL }, *found[3] = { NULL }, *expected[3] = { NULL };
  OpCall call = { "", test->type, test->opset, test->attributes, half, test->n_inputs, test->n_outputs, 2, constant };
  g_autoptr(GError) error = NULL;

  for (guint i = 0; i < test->n_inputs; i++)
    {
      g_autoptr(VnTensor) exact = op_random (&test->shapes[i], i + 1);

      half[i] = vn_tensor_convert (exact, dtype, NULL);
      wide[i] = vn_tensor_convert (half[i], VN_DTYPE_F32, NULL);
    }
  g_assert_true (op_call (&call, found, &error));
  g_assert_no_error (error);
  call.inputs = wide;
  g_assert_true (op_call (&call, expected, &error));
  for (guint i = 0; i < test->n_outputs; i++)
    {
      gboolean rounded = expected[i]->dtype == VN_DTYPE_F32 && !(i > 0 && g_str_equal (test->type, "LayerNormalization"));
      g_autoptr(VnTensor) narrow = vn_tensor_convert (expected[i], rounded ? dtype : expected[i]->dtype, NULL);

      op_assert_same (found[i], narrow);
    }
  unref_all (half, MAX_INPUTS);
  unref_all (wide, MAX_INPUTS);
  unref_all (found, 3);
  unref_all (expected, 3);
}

static void
test_half (gconstpointer data)
{
  for (int constant = 0; constant < 2; constant++)
    {
      check_half (data, VN_DTYPE_F16, constant != 0);
      check_half (data, VN_DTYPE_BF16, constant != 0);
    }
}

/* ---- strings ---- */

static VnTensor *
make_strings (const VnShape *shape,
              const char    *words)
{
  VnTensor *self = vn_tensor_new (VN_DTYPE_STRING, shape, NULL);
  g_auto(GStrv) split = g_strsplit (words, " ", -1);

  g_assert_cmpuint (g_strv_length (split), ==, self->n_elements);
  for (gsize i = 0; i < self->n_elements; i++)
    {
      g_free (((char **) self->data)[i]);
      ((char **) self->data)[i] = g_strdup (split[i]);
    }
  return self;
}

static void
assert_strings (const VnTensor *found,
                const char     *words)
{
  g_auto(GStrv) split = g_strsplit (words, " ", -1);

  g_assert_cmpint (found->dtype, ==, VN_DTYPE_STRING);
  g_assert_cmpuint (g_strv_length (split), ==, found->n_elements);
  for (gsize i = 0; i < found->n_elements; i++)
    g_assert_cmpstr (((char **) found->data)[i], ==, split[i]);
}

static void
check_strings (const char *type,
               gint64      opset,
               const char *attributes,
               VnTensor  **inputs,
               guint       n_inputs,
               const char *expected)
{
  OpCall call = { "", type, opset, attributes, inputs, n_inputs, 1 };
  g_autoptr(VnTensor) found = NULL;

  call.first_known = TRUE;
  found = op_call_one (&call);
  assert_strings (found, expected);
}

static void
test_strings (void)
{
  g_autoptr(VnTensor) x = make_strings (&VN_SHAPE (2, 3), "one two three four five six");
  g_autoptr(VnTensor) y = make_strings (&VN_SHAPE (2, 1), "seven eight");
  g_autoptr(VnTensor) indices = vn_tensor_new_s64 (&VN_SHAPE (2), (gint64[]) { 2, 0 });
  g_autoptr(VnTensor) pads = vn_tensor_new_s64 (&VN_SHAPE (4), (gint64[]) { 0, 1, 0, 0 });
  g_autoptr(VnTensor) shape = vn_tensor_new_s64 (&VN_SHAPE (1), (gint64[]) { 6 });
  g_autoptr(VnTensor) condition = vn_tensor_new (VN_DTYPE_BOOL, &VN_SHAPE (3), NULL);

  memcpy (condition->data, "\1\0\1", 3);
  check_strings ("Gather", 13, "axis=1", (VnTensor *[]) { x, indices }, 2, "three one six four");
  check_strings ("Transpose", 13, "", (VnTensor *[]) { x }, 1, "one four two five three six");
  check_strings ("Concat", 13, "axis=1", (VnTensor *[]) { x, y }, 2, "one two three seven four five six eight");
  check_strings ("Pad", 13, "", (VnTensor *[]) { x, pads }, 2, " one two three  four five six");
  check_strings ("Where", 16, "", (VnTensor *[]) { condition, x, y }, 3, "one seven three four eight six");
  check_strings ("Reshape", 13, "", (VnTensor *[]) { x, shape }, 2, "one two three four five six");
  check_strings ("Compress", 11, "axis=1", (VnTensor *[]) { x, condition }, 2, "one three four six");
}

/* A constant that is no string must not be taken for one. */
static void
test_no_computing_with_strings (void)
{
  g_autoptr(VnTensor) x = make_strings (&VN_SHAPE (2), "one two");
  g_autoptr(GError) error = NULL;
  VnTensor *inputs[] = { x }, *outputs[1] = { NULL };
  OpCall call = { "", "Pad", 2, "pads=[1,1] value=3.0", inputs, 1, 1 };

  g_assert_false (op_call (&call, outputs, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED);
  g_test_message ("%s", error->message);
}

/* ---- 4 bits ---- */

static void
test_packed (void)
{
  g_autoptr(VnTensor) x = vn_tensor_new (VN_DTYPE_S4, &VN_SHAPE (1, 5), NULL);
  g_autoptr(VnTensor) pads = vn_tensor_new_s64 (&VN_SHAPE (4), (gint64[]) { 0, 1, 0, 2 });
  VnTensor *inputs[] = { x, pads };
  OpCall call = { "", "Pad", 21, "", inputs, 2, 1 };
  static const int expected[] = { 0, 1, -2, 7, -8, -1, 0, 0 };
  g_autoptr(VnTensor) found = NULL;

  memcpy (x->data, "\xe1\x87\x0f", 3);
  found = op_call_one (&call);
  g_assert_cmpint (found->dtype, ==, VN_DTYPE_S4);
  g_assert_cmpuint (found->n_elements, ==, 8);
  for (guint i = 0; i < 8; i++)
    g_assert_cmpint (vn_tensor_get_s64 (found, i), ==, expected[i]);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (half_cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/stand-in/half/%s", half_cases[i].name);

      g_test_add_data_func (path, &half_cases[i], test_half);
    }
  g_test_add_func ("/stand-in/strings", test_strings);
  g_test_add_func ("/stand-in/no-computing-with-strings", test_no_computing_with_strings);
  g_test_add_func ("/stand-in/packed", test_packed);
  return g_test_run ();
}
