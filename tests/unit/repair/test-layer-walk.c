/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A walk through a network with stops sees at each the bits that a whole run sees there, wherever values between stops are kept,
 * and runs each node once: networks with values that are alive across stops, sizes that are computed, results that nobody reads,
 * graphs inside nodes. */
#include "../engine/engine-fixture.h"
#include "layer-walk.h"

#define SAMPLES 2
#define STOPS 3

/**
 * Network:
 * @nodes: operator, inputs, outputs; "w", "v": 4 x 4 weights
 * @stops: what is wanted at each
 * @n_steps: how many nodes run up to each stop; 0 in all: whatever
 */
typedef struct
{
  const char *name, *nodes[8][3], *stops[STOPS];
  guint       n_steps[STOPS];
} Network;

static const Network networks[] = {
  { "chain", { { "MatMul", "x w", "a" }, { "Relu", "a", "b" }, { "MatMul", "b v", "c" }, { "Neg", "c", "d" } },
    { "x", "b", "d" }, { 0, 2, 2 } },
  { "residual", { { "MatMul", "x w", "a" }, { "Abs", "a", "r" }, { "MatMul", "r v", "b" }, { "Add", "b x", "c" },
                  { "Add", "c a", "d" }, { "MatMul", "d w", "e" }, { "Add", "e c", "f" } },
    { "r", "d", "f" }, { 2, 3, 2 } },
  { "same value at two stops", { { "Neg", "x", "a" }, { "MatMul", "a w", "b" }, { "Relu", "b", "c" } },
    { "a", "a", "c" }, { 1, 0, 2 } },
  { "two values at a stop", { { "Neg", "x", "a" }, { "Abs", "x", "b" }, { "MatMul", "a w", "c" }, { "MatMul", "b v", "d" },
                              { "Mul", "c d", "e" } },
    { "a b", "c d", "e" }, { 2, 2, 1 } },
  { "nothing at a stop", { { "MatMul", "x w", "a" }, { "Neg", "a", "b" }, { "MatMul", "b v", "c" } },
    { "a", "", "c" }, { 1, 0, 2 } },
  { "sizes that are computed", { { "MatMul", "x w", "a" }, { "Shape", "a", "s" }, { "Transpose", "a", "t" },
                                 { "Reshape", "t s", "b" }, { "MatMul", "b v", "c" }, { "Shape", "c", "u" },
                                 { "Reshape", "x u", "d" } },
    { "t", "b", "d" } },
  { "results nobody reads", { { "Split", "x", "a b" }, { "Neg", "a", "c" }, { "Abs", "b", "unread" }, { "Split", "c", "d e" },
                              { "Add", "b e", "f" } },
    { "a", "d", "f" }, { 1, 2, 1 } },
  { "graphs inside a node", { { "MatMul", "x w", "a" }, { "Neg", "a", "b" }, { "MatMul", "b v", "c" }, { "If", "yes", "d" },
                              { "Add", "d c", "e" } },
    { "b", "c", "e" }, { 2, 1, 2 } },
};

/* A branch of an If: Neg or Abs of what lies around it. */
static void
add_branch (VnNode     *node,
            const char *name,
            const char *op_type,
            VnValue    *around)
{
  g_autoptr(VnModel) own = vn_model_new (8, 18);
  g_autoptr(GHashTable) outer = g_hash_table_new (NULL, NULL);

  vn_graph_add_input (own->graph, "around", VN_DTYPE_F32, NULL);
  add_node (own, op_type, "", "around", "of_branch");
  set_outputs (own, "of_branch");
  g_hash_table_insert (outer, vn_graph_find_value (own->graph, "around"), around);
  vn_node_set_body (node, name, own->graph, outer);
}

static VnModel *
make_model (const Network *network)
{
  VnModel *model = vn_model_new (8, 18);
  const char *last = "x";

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (VN_DIM_UNKNOWN, 4));
  add_floats (model, "w", VN_SHAPE (4, 4), -1, 0.17f);
  vn_graph_add_input (model->graph, "yes", VN_DTYPE_BOOL, &VN_SHAPE_SCALAR);
  add_floats (model, "v", VN_SHAPE (4, 4), 0.9f, -0.11f);
  for (guint i = 0; i < G_N_ELEMENTS (network->nodes) && network->nodes[i][0] != NULL; i++)
    {
      const char * const *node = network->nodes[i];
      VnNode *added = add_node (model, node[0], node[0], node[1], node[2]);

      if (g_str_equal (node[0], "Split"))
        vn_node_set_int (added, "num_outputs", 2);
      if (g_str_equal (node[0], "If"))
        {
          add_branch (added, "then_branch", "Neg", vn_graph_find_value (model->graph, "a"));
          add_branch (added, "else_branch", "Abs", vn_graph_find_value (model->graph, "b"));
        }
      last = node[2];
    }
  set_outputs (model, last);
  return model;
}

static GPtrArray *
list_stops (const Network *network)
{
  GPtrArray *stops = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);

  for (guint i = 0; i < STOPS; i++)
    g_ptr_array_add (stops, *network->stops[i] != '\0' ? g_strsplit (network->stops[i], " ", -1) : g_new0 (char *, 1));
  return stops;
}

static void
keep_copy (const VnValue  *value,
           guint           tap,
           const VnTensor *tensor,
           gpointer        data)
{
  VnTensor **copies = data;

  g_assert_null (copies[tap]);
  copies[tap] = vn_tensor_new_copy (tensor->dtype, &tensor->shape, tensor->data, NULL);
}

/* What a whole run sees at a stop. */
static void
run_whole (VnModel      *model,
           GHashTable   *shapes,
           const GStrv   names,
           VnTensor    **inputs,
           VnTensor    **copies)
{
  g_autoptr(GPtrArray) taps = g_ptr_array_new ();
  g_autoptr(GError) error = NULL;
  g_autoptr(VnPlan) plan = NULL;
  g_autoptr(VnRunner) runner = NULL;

  for (guint i = 0; names[i] != NULL; i++)
    g_ptr_array_add (taps, vn_graph_find_value (model->graph, names[i]));
  plan = vn_plan_new (model, &(VnPlanOptions) { .input_shapes = shapes, .taps = taps, .outputs = taps }, NULL, &error);
  g_assert_no_error (error);
  runner = vn_runner_new (plan, &error);
  g_assert_no_error (error);
  vn_runner_set_tap (runner, keep_copy, copies);
  vn_runner_run (runner, inputs, NULL, NULL, &error);
  g_assert_no_error (error);
}

/* Returns: how many values were compared */
static guint
check_stop (VnLayerWalk *walk,
            VnModel     *model,
            GHashTable  *shapes,
            const GStrv  names,
            VnRunner    *runner,
            guint        sample)
{
  g_autoptr(VnTensor) x = make_input (VN_SHAPE (2 + sample, 4), sample);
  g_autoptr(VnTensor) yes = vn_tensor_new (VN_DTYPE_BOOL, &VN_SHAPE_SCALAR, NULL);
  VnTensor *inputs[] = { x, yes };
  g_autoptr(GError) error = NULL;
  VnTensor *reads[4] = { NULL }, *wanted[4] = { NULL };
  guint n = 0;

  *(guint8 *) yes->data = (guint8) (sample & 1);
  run_whole (model, shapes, names, inputs, wanted);
  g_assert_true (vn_layer_walk_run (walk, runner, sample, inputs, reads, NULL, &error));
  g_assert_no_error (error);
  for (; names[n] != NULL; n++)
    g_assert_true (vn_tensor_equal (reads[n], wanted[n]));
  vn_tensor_clear_all (reads, 4);
  vn_tensor_clear_all (wanted, 4);
  return n;
}

static VnShape first = { .rank = 2, .dims = { 2, 4 } };

/* Each stop is gone to twice, as for what does not fit into memory at once; the network is another copy each time. */
static void
check_walk (const Network *network,
            gsize          most)
{
  g_autoptr(GHashTable) shapes = g_hash_table_new (g_str_hash, g_str_equal);
  const VnRepairSamples samples = { .n = SAMPLES, .shapes = shapes };
  g_autoptr(VnLayerWalk) walk = vn_layer_walk_new (&samples, most);
  g_autoptr(GPtrArray) stops = list_stops (network);
  guint n = 0;

  g_hash_table_insert (shapes, (gpointer) "x", &first);
  for (guint stop = 0; stop < STOPS; stop++)
    {
      g_autoptr(VnModel) model = make_model (network);
      g_autoptr(GError) error = NULL;

      g_assert_true (vn_model_infer_for_samples (model, shapes, &error));
      g_assert_true (vn_layer_walk_set_model (walk, model, stops, &error));
      for (guint again = 0; again < 2; again++)
        {
          g_autoptr(VnRunner) runner = NULL;

          g_assert_true (vn_layer_walk_begin (walk, stop, &error));
          g_assert_no_error (error);
          runner = vn_layer_walk_new_runner (walk, 1, &error);
          if (network->n_steps[0] + network->n_steps[1] + network->n_steps[2] > 0)
            g_assert_cmpuint (vn_plan_get_n_steps (vn_layer_walk_get_plan (walk)), <=, network->n_steps[stop]);
          for (guint s = 0; s < SAMPLES; s++)
            n += check_stop (walk, model, shapes, g_ptr_array_index (stops, stop), runner, s);
          vn_layer_walk_end (walk);
        }
      vn_layer_walk_leave (walk);
    }
  g_assert_cmpuint (n, >=, 2 * SAMPLES * 2);
}

static void
test_network (gconstpointer data)
{
  for (gsize most = 0; most <= 1 << 20; most = most * 4096 + 64)
    check_walk (data, most);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (networks); i++)
    {
      g_autofree char *path = g_strdup_printf ("/layer-walk/%s", networks[i].name);

      g_test_add_data_func (path, &networks[i], test_network);
    }
  return g_test_run ();
}
