/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks of several nodes: gradients of constants against differences, hooks, threads, what cannot be trained. */
#include "../engine/engine-fixture.h"
#include "vn-train-block.h"
#include "vn-error.h"

#include <math.h>

/* Conv, Relu, depthwise Conv, a sum of two branches, and a product with a weight that is transposed before. */
static VnModel *
make_model (void)
{
  VnModel *model = vn_model_new (8, 13);

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 2, 6, 6));
  add_floats (model, "w0", VN_SHAPE (4, 2, 3, 3), -0.35f, 0.01f);
  add_floats (model, "b0", VN_SHAPE (4), 0.1f, 0.05f);
  add_floats (model, "w1", VN_SHAPE (4, 1, 3, 3), -0.2f, 0.013f);
  add_floats (model, "w2", VN_SHAPE (3, 6), -0.4f, 0.05f);
  add_floats (model, "k", VN_SHAPE_SCALAR, 0.5f, 0);
  vn_node_set_ints (add_node (model, "Conv", "first", "x w0 b0", "a"), "pads", (gint64[]) { 1, 1, 1, 1 }, 4);
  add_node (model, "Relu", "relu", "a", "b");
  {
    VnNode *node = add_node (model, "Conv", "depthwise", "b w1", "c");

    vn_node_set_ints (node, "pads", (gint64[]) { 1, 1, 1, 1 }, 4);
    vn_node_set_int (node, "group", 4);
  }
  add_node (model, "Mul", "scale", "c k", "d");
  add_node (model, "Add", "sum", "b d", "e");
  add_node (model, "Transpose", "turn", "w2", "t");
  add_node (model, "MatMul", "last", "e t", "y");
  set_outputs (model, "y");
  return model;
}

static GPtrArray *
list_nodes (VnModel *model)
{
  GPtrArray *nodes = g_ptr_array_new ();

  g_ptr_array_extend (nodes, model->graph->nodes, NULL, NULL);
  return nodes;
}

/* Half the sum of squares of the output, and its gradient. */
typedef struct
{
  double   losses[32];
  gboolean back;
} Loss;

static gboolean
run_item (VnBlockRun  *run,
          guint        item,
          gpointer     data,
          GError     **error)
{
  Loss *loss = data;
  g_autoptr(VnTensor) input = make_input (VN_SHAPE (1 + item % 3, 2, 6, 6), item + 1);   /* of several sizes */
  const VnTensor *y;
  VnTensor *dy;

  if (!vn_block_run_forward (run, &input, error))
    return FALSE;
  y = vn_block_run_get_output (run, 0);
  loss->losses[item] = 0;
  for (gsize i = 0; i < y->n_elements; i++)
    loss->losses[item] += 0.5 * (double) ((const float *) y->data)[i] * (double) ((const float *) y->data)[i];
  if (!loss->back)
    return TRUE;
  dy = vn_block_run_get_output_gradient (run, 0, error);
  if (dy == NULL)
    return FALSE;
  memcpy (dy->data, y->data, y->n_bytes);
  return vn_block_run_backward (run, error);
}

static double
find_loss (VnBlock *block,
           guint    n_items)
{
  g_autoptr(GError) error = NULL;
  Loss loss = { .back = FALSE };
  double sum = 0;

  vn_block_step (block, n_items, 1, run_item, &loss, NULL, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < n_items; i++)
    sum += loss.losses[i];
  return sum;
}

static void
go_back (VnBlock *block,
         guint    n_items,
         guint    n_threads)
{
  g_autoptr(GError) error = NULL;
  Loss loss = { .back = TRUE };

  vn_block_step (block, n_items, n_threads, run_item, &loss, NULL, &error);
  g_assert_no_error (error);
}

/* ---- gradients of constants ---- */

static const char * const constants[] = { "w0", "b0", "w1", "w2", "k" };

static VnBlock *
make_block (VnModel *model)
{
  g_autoptr(GPtrArray) nodes = list_nodes (model);
  g_autoptr(GError) error = NULL;
  VnBlock *block = vn_block_new (model->graph, nodes, NULL, &error);

  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (constants); i++)
    {
      vn_block_want_gradient (block, vn_graph_find_value (model->graph, constants[i]), &error);
      g_assert_no_error (error);
    }
  return block;
}

static void
test_constants (void)
{
  g_autoptr(VnModel) model = make_model ();
  g_autoptr(VnBlock) block = make_block (model);

  for (guint i = 0; i < G_N_ELEMENTS (constants); i++)
    {
      const VnValue *value = vn_graph_find_value (model->graph, constants[i]);
      VnTensor *constant = vn_block_get_constant (block, value);
      const VnTensor *gradient;
      g_autofree float *kept = NULL;

      go_back (block, 3, 1);
      gradient = vn_block_get_gradient (block, value);
      g_assert_nonnull (gradient);
      kept = g_memdup2 (gradient->data, gradient->n_bytes);
      for (gsize k = 0; k < constant->n_elements; k++)
        {
          float *x = (float *) constant->data + k, was = *x, step = 0x1p-10f;
          double above, below;

          *x = was + step;
          above = find_loss (block, 3);
          *x = was - step;
          below = find_loss (block, 3);
          *x = was;
          g_assert_cmpfloat (fabs ((above - below) / (2 * (double) step) - (double) kept[k]), <=,
                             0.02 + 2e-3 * fabs ((double) kept[k]));
        }
    }
  g_assert_cmpfloat ((double) ((const float *) vn_value_get_constant (vn_graph_find_value (model->graph, "k"))->data)[0], ==,
                     0.5);
}

static void
test_threads (void)
{
  g_autoptr(VnModel) model = make_model ();
  g_autoptr(VnBlock) one = make_block (model);

  go_back (one, 21, 1);
  for (guint n_threads = 2; n_threads <= 4; n_threads++)
    {
      g_autoptr(VnBlock) other = make_block (model);

      go_back (other, 21, n_threads);
      for (guint i = 0; i < G_N_ELEMENTS (constants); i++)
        {
          const VnValue *value = vn_graph_find_value (model->graph, constants[i]);

          g_assert_true (vn_tensor_equal (vn_block_get_gradient (one, value), vn_block_get_gradient (other, value)));
        }
    }
}

/* ---- hooks ---- */

/* y = s x, with s to be learnt. */
static gboolean
scale_forward (const VnTensor  *before,
               VnTensor        *after,
               guint            item,
               gpointer         data,
               GError         **error)
{
  for (gsize i = 0; i < before->n_elements; i++)
    ((float *) after->data)[i] = *(const float *) data * ((const float *) before->data)[i];
  return TRUE;
}

static gboolean
scale_backward (const VnTensor  *before,
                const VnTensor  *after,
                VnTensor        *gradient,
                float           *params,
                guint            item,
                gpointer         data,
                GError         **error)
{
  float *dy = gradient->data;

  for (gsize i = 0; i < before->n_elements; i++)
    {
      *params += dy[i] * ((const float *) before->data)[i];
      dy[i] *= *(const float *) data;
    }
  return TRUE;
}

static void
assert_learnt (VnBlock *block,
               guint    hook,
               float   *scale)
{
  double above, below, found;

  go_back (block, 3, 2);
  found = (double) vn_block_get_hook_gradients (block, hook)[0];
  *scale += 0x1p-9f;
  above = find_loss (block, 3);
  *scale -= 0x1p-8f;
  below = find_loss (block, 3);
  *scale += 0x1p-9f;
  g_assert_cmpfloat (fabs (found), >, 0.1);
  g_assert_cmpfloat (fabs ((above - below) / 0x1p-8 - found), <=, 2e-3 * fabs (found));
}

static void
test_hooks (void)
{
  const struct { const char *value, *reader; guint input; } places[] = {
    { "x", NULL, 0 }, { "w0", NULL, 0 }, { "b", NULL, 0 }, { "b", "sum", 0 }, { "w2", NULL, 0 }, { "t", NULL, 0 },
    { "t", "last", 1 }, { "y", NULL, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (places); i++)
    {
      g_autoptr(VnModel) model = make_model ();
      g_autoptr(VnBlock) block = make_block (model);
      float scale = 0.75f, other = 1.25f;
      VnBlockHook hook = {
        .value = vn_graph_find_value (model->graph, places[i].value), .n_params = 1, .forward = scale_forward,
        .backward = scale_backward,
        .data = &other,
      };
      guint first = vn_block_add_hook (block, &hook), second;

      hook.data = &scale;
      hook.reader = places[i].reader != NULL ? vn_graph_find_node (model->graph, places[i].reader) : NULL;
      hook.input = places[i].input;
      second = vn_block_add_hook (block, &hook);
      assert_learnt (block, first, &other);
      assert_learnt (block, second, &scale);
    }
}

/* A hook that does nothing changes nothing, and lets gradients through. */
static void
test_straight_through (void)
{
  g_autoptr(VnModel) model = make_model ();
  g_autoptr(VnBlock) plain = make_block (model), hooked = make_block (model);
  VnBlockHook hook = { .value = vn_graph_find_value (model->graph, "w0") };

  vn_block_add_hook (hooked, &hook);
  hook.value = vn_graph_find_value (model->graph, "b");
  vn_block_add_hook (hooked, &hook);
  go_back (plain, 3, 1);
  go_back (hooked, 3, 1);
  for (guint i = 0; i < G_N_ELEMENTS (constants); i++)
    {
      const VnValue *value = vn_graph_find_value (model->graph, constants[i]);

      g_assert_true (vn_tensor_equal (vn_block_get_gradient (plain, value), vn_block_get_gradient (hooked, value)));
    }
}

/* ---- parts, and what cannot be done ---- */

static void
test_part (void)
{
  g_autoptr(VnModel) model = make_model ();
  g_autoptr(GPtrArray) nodes = g_ptr_array_new ();
  g_autoptr(VnBlock) block = NULL;
  g_autoptr(GError) error = NULL;

  g_ptr_array_add (nodes, vn_graph_find_node (model->graph, "sum"));
  g_ptr_array_add (nodes, vn_graph_find_node (model->graph, "depthwise"));
  g_ptr_array_add (nodes, vn_graph_find_node (model->graph, "scale"));
  block = vn_block_new (model->graph, nodes, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (vn_block_get_n_inputs (block), ==, 1);
  g_assert_cmpstr (vn_block_get_input (block, 0)->name, ==, "b");
  g_assert_cmpuint (vn_block_get_n_outputs (block), ==, 1);
  g_assert_cmpstr (vn_block_get_output (block, 0)->name, ==, "e");
  g_assert_null (vn_block_get_constant (block, vn_graph_find_value (model->graph, "w0")));
  g_assert_false (vn_block_want_gradient (block, vn_graph_find_value (model->graph, "w0"), &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
}

static void
test_unknown_gradient (void)
{
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  g_autoptr(GPtrArray) nodes = NULL;
  g_autoptr(VnBlock) block = NULL;
  g_autoptr(GError) error = NULL;
  Loss loss = { .back = TRUE };

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 2, 6, 6));
  add_floats (model, "w", VN_SHAPE (2, 1, 1), 1, 0.5f);
  add_node (model, "Det", "odd one", "x", "a");
  add_node (model, "Mul", "product", "x w", "y");
  add_node (model, "Det", "another", "y", "z");
  set_outputs (model, "z");
  nodes = list_nodes (model);
  g_assert_false (vn_block_check (nodes, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "odd one"));
  g_assert_nonnull (strstr (error->message, "Det"));
  g_clear_error (&error);

  block = vn_block_new (model->graph, nodes, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (vn_block_want_gradient (block, vn_graph_find_value (model->graph, "w"), NULL));
  g_assert_false (vn_block_step (block, 1, 1, run_item, &loss, NULL, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "another"));
}

static gboolean
run_wrong_size (VnBlockRun  *run,
                guint        item,
                gpointer     data,
                GError     **error)
{
  g_autoptr(VnTensor) input = make_input (VN_SHAPE (1, 3, 6, 6), 1);

  return vn_block_run_forward (run, &input, error);
}

static gboolean
run_without_input (VnBlockRun  *run,
                   guint        item,
                   gpointer     data,
                   GError     **error)
{
  VnTensor *input = NULL;

  return vn_block_run_forward (run, &input, error);
}

static void
test_wrong_inputs (void)
{
  g_autoptr(VnModel) model = make_model ();
  g_autoptr(VnBlock) block = make_block (model);
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GError) error = NULL;
  Loss loss = { .back = TRUE };

  g_assert_false (vn_block_step (block, 1, 1, run_wrong_size, NULL, NULL, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_SHAPE);
  g_assert_nonnull (strstr (error->message, "first"));
  g_clear_error (&error);
  g_assert_false (vn_block_step (block, 1, 1, run_without_input, NULL, NULL, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_MISSING_DATA);
  g_clear_error (&error);
  g_cancellable_cancel (cancellable);
  g_assert_false (vn_block_step (block, 4, 1, run_item, &loss, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  go_back (block, 4, 1);   /* still works */
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/train/block/constants", test_constants);
  g_test_add_func ("/train/block/threads", test_threads);
  g_test_add_func ("/train/block/hooks", test_hooks);
  g_test_add_func ("/train/block/straight-through", test_straight_through);
  g_test_add_func ("/train/block/part", test_part);
  g_test_add_func ("/train/block/unknown-gradient", test_unknown_gradient);
  g_test_add_func ("/train/block/wrong-inputs", test_wrong_inputs);
  return g_test_run ();
}
