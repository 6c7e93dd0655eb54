/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MultiHeadAttention: the same numbers give the same result whether queries, keys and values come apart, with heads
 * apart, or packed together: what onnxruntime computes on other devices only. */
#include "op-call.h"

#include <string.h>

#define BATCH 2
#define LENGTH 5
#define HEADS 3
#define DEPTH 4

typedef enum { ROWS_FIRST, HEADS_FIRST } Order;

/* Copies sample, row, head and number of @from, which lie in the usual order, to where a packed tensor has them. */
static void
pack (const VnTensor *from,
      VnTensor       *to,
      gsize           n_packed,
      gsize           place,
      Order           order)
{
  const float *x = from->data;
  float *y = to->data;

  for (gsize b = 0; b < BATCH; b++)
    for (gsize row = 0; row < LENGTH; row++)
      for (gsize h = 0; h < HEADS; h++)
        for (gsize i = 0; i < DEPTH; i++)
          {
            gsize at = order == HEADS_FIRST ? (b * HEADS + h) * LENGTH + row
                                            : ((b * LENGTH + row) * HEADS + h) * n_packed + place;

            y[at * DEPTH + i] = x[((b * LENGTH + row) * HEADS + h) * DEPTH + i];
          }
}

static VnTensor *
attend (VnTensor   **inputs,
        guint        n,
        const char  *attributes)
{
  OpCall call = { "com.microsoft", "MultiHeadAttention", 1, attributes, inputs, n, 1, 1 };

  return op_call_one (&call);
}

static VnTensor *
new_tensor (const VnShape *shape)
{
  VnTensor *tensor = vn_tensor_new (VN_DTYPE_F32, shape, NULL);

  g_assert_nonnull (tensor);
  return tensor;
}

static void
test_packing (gconstpointer data)
{
  const char *attributes = data;
  const VnShape flat = VN_SHAPE (BATCH, LENGTH, HEADS * DEPTH), apart = VN_SHAPE (BATCH, HEADS, LENGTH, DEPTH);
  const VnShape two = VN_SHAPE (BATCH, LENGTH, HEADS, 2, DEPTH), three = VN_SHAPE (BATCH, LENGTH, HEADS, 3, DEPTH);
  g_autoptr(VnTensor) q = op_random (&flat, 1);
  g_autoptr(VnTensor) k = op_random (&flat, 2);
  g_autoptr(VnTensor) v = op_random (&flat, 3);
  g_autoptr(VnTensor) qkv = new_tensor (&three);
  g_autoptr(VnTensor) kv = new_tensor (&two);
  g_autoptr(VnTensor) k_apart = new_tensor (&apart);
  g_autoptr(VnTensor) v_apart = new_tensor (&apart);
  g_autoptr(VnTensor) expected = attend ((VnTensor *[]) { q, k, v }, 3, attributes);
  g_autoptr(VnTensor) from_three = NULL;
  g_autoptr(VnTensor) from_two = NULL;
  g_autoptr(VnTensor) from_heads = NULL;

  pack (q, qkv, 3, 0, ROWS_FIRST);
  pack (k, qkv, 3, 1, ROWS_FIRST);
  pack (v, qkv, 3, 2, ROWS_FIRST);
  pack (k, kv, 2, 0, ROWS_FIRST);
  pack (v, kv, 2, 1, ROWS_FIRST);
  pack (k, k_apart, 1, 0, HEADS_FIRST);
  pack (v, v_apart, 1, 0, HEADS_FIRST);
  from_three = attend (&qkv, 1, attributes);
  from_two = attend ((VnTensor *[]) { q, kv }, 2, attributes);
  from_heads = attend ((VnTensor *[]) { q, k_apart, v_apart }, 3, attributes);
  g_assert_cmpfloat (((float *) expected->data)[0], !=, ((float *) expected->data)[DEPTH]);
  op_assert_same (expected, from_three);
  op_assert_same (expected, from_two);
  op_assert_same (expected, from_heads);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/ops/attention/packing", "num_heads=3", test_packing);
  g_test_add_data_func ("/ops/attention/packing-causal", "num_heads=3 unidirectional=1 scale=0.7", test_packing);
  return g_test_run ();
}
