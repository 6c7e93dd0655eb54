/* SPDX-License-Identifier: GPL-3.0-or-later */
/* If, Loop, Scan and sequences in networks that nobody sane would write: clear errors, no crash, an end. */
#include "engine-fixture.h"

#include "vn-error.h"
#include "vn-memory.h"

#include <string.h>

static VnValue *
find_or_add (VnGraph    *graph,
             const char *name)
{
  VnValue *value = vn_graph_find_value (graph, name);

  return value != NULL ? value : vn_graph_add_value (graph, name, VN_DTYPE_UNDEFINED, NULL);
}

/* As add_node(), in any graph; names of outer graphs are found. */
static VnNode *
add_inner (VnGraph    *graph,
           const char *op_type,
           const char *inputs,
           const char *outputs)
{
  g_auto(GStrv) in = g_strsplit (inputs, " ", -1);
  g_auto(GStrv) out = g_strsplit (outputs, " ", -1);
  VnValue *in_values[8] = { NULL }, *out_values[8] = { NULL };
  guint n_in = *inputs != '\0' ? g_strv_length (in) : 0, n_out = g_strv_length (out);

  for (guint i = 0; i < n_in; i++)
    in_values[i] = g_str_equal (in[i], "-") ? NULL : find_or_add (graph, in[i]);
  for (guint i = 0; i < n_out; i++)
    out_values[i] = find_or_add (graph, out[i]);
  return vn_graph_add_node (graph, NULL, "", op_type, in_values, n_in, out_values, n_out);
}

/* Inputs of a body have no types, as in many files. */
static VnGraph *
add_body (VnNode     *node,
          const char *attribute,
          const char *inputs)
{
  VnAttr *attr = vn_attr_new (attribute, VN_ATTR_GRAPH);
  g_auto(GStrv) names = g_strsplit (inputs, " ", -1);

  attr->graph = vn_graph_new (node->graph->model, node->graph, node);
  for (guint i = 0; *inputs != '\0' && names[i] != NULL; i++)
    vn_graph_add_input (attr->graph, names[i], VN_DTYPE_UNDEFINED, NULL);
  vn_node_set_attr (node, attr);
  return attr->graph;
}

static void
set_results (VnGraph    *graph,
             const char *names)
{
  g_auto(GStrv) list = g_strsplit (names, " ", -1);

  for (guint i = 0; list[i] != NULL; i++)
    vn_graph_set_output (graph, i, vn_graph_find_value (graph, list[i]));
}

static VnModel *
new_model (void)
{
  VnModel *model = vn_model_new (8, 17);
  g_autoptr(VnTensor) rounds = vn_tensor_new_s64 (&VN_SHAPE_SCALAR, (const gint64[]) { G_MAXINT64 });
  g_autoptr(VnTensor) flag = vn_tensor_new (VN_DTYPE_BOOL, &VN_SHAPE_SCALAR, NULL);

  *(guint8 *) flag->data = TRUE;
  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (2));
  vn_graph_add_input (model->graph, "flag", VN_DTYPE_BOOL, &VN_SHAPE_SCALAR);
  vn_graph_add_initializer (model->graph, "rounds", rounds);
  vn_graph_add_initializer (model->graph, "true", flag);
  return model;
}

/* A Loop that carries x and never ends by itself. */
static VnGraph *
add_loop (VnModel    *model,
          const char *outputs,
          const char *body_inputs)
{
  VnNode *loop = add_inner (model->graph, "Loop", "rounds true x", outputs);
  VnGraph *body = add_body (loop, "body", body_inputs);

  add_inner (body, "Identity", "go", "on");
  add_inner (body, "Neg", "state", "next");
  set_outputs (model, outputs);
  return body;
}

static void
run (VnModel       *model,
     GCancellable  *cancellable,
     VnTensor     **outputs,
     GError       **error)
{
  g_autoptr(VnPlan) plan = vn_plan_new (model, NULL, NULL, error);
  g_autoptr(VnRunner) runner = plan != NULL ? vn_runner_new (plan, error) : NULL;
  g_autoptr(VnTensor) x = make_input (VN_SHAPE (2), 3);
  g_autoptr(VnTensor) flag = vn_tensor_new (VN_DTYPE_BOOL, &VN_SHAPE_SCALAR, NULL);
  VnTensor *inputs[] = { x, flag };

  *(guint8 *) flag->data = TRUE;
  if (runner != NULL)
    vn_runner_run (runner, inputs, outputs, cancellable, error);
}

/* ---- what ends ---- */

static gpointer
cancel_soon (gpointer cancellable)
{
  g_usleep (20000);
  g_cancellable_cancel (cancellable);
  return NULL;
}

static void
test_cancel (void)
{
  g_autoptr(VnModel) model = new_model ();
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GError) error = NULL;
  VnTensor *outputs[1] = { NULL };
  GThread *thread;

  set_results (add_loop (model, "y", "round go state"), "on next");
  thread = g_thread_new ("cancel", cancel_soon, cancellable);
  run (model, cancellable, outputs, &error);
  g_thread_join (thread);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_null (outputs[0]);
}

/* The stacked value is one that the outer graph has: memory is needed only in the end, which never comes. */
static void
test_gathers_too_much (void)
{
  g_autoptr(VnModel) model = new_model ();
  g_autoptr(GError) error = NULL;
  VnTensor *outputs[2] = { NULL };
  VnGraph *body;

  vn_memory_set_growth ((gsize) 2 << 30);
  add_floats (model, "big", VN_SHAPE (1 << 22), 0, 1);
  body = add_loop (model, "y all", "round go state");
  set_results (body, "on next big");
  run (model, NULL, outputs, &error);
  vn_memory_set_growth (0);
  g_assert_error (error, VN_ERROR, VN_ERROR_LIMIT);
  g_assert_nonnull (strstr (error->message, "after 127 iterations"));
}

/* What each round doubles is stopped before it is made. */
static void
test_doubles (void)
{
  g_autoptr(VnModel) model = new_model ();
  g_autoptr(GError) error = NULL;
  VnTensor *outputs[1] = { NULL };
  VnGraph *body = add_loop (model, "y", "round go state");

  vn_node_set_int (add_inner (body, "Concat", "next next", "twice"), "axis", 0);
  set_results (body, "on twice");
  vn_memory_set_growth (1 << 20);
  run (model, NULL, outputs, &error);
  vn_memory_set_growth (0);
  g_assert_error (error, VN_ERROR, VN_ERROR_LIMIT);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, "more than 1 MB"));
  g_assert_null (outputs[0]);
}

/* Many values, each of which alone would be right. */
static void
test_adds_up (void)
{
  g_autoptr(VnModel) model = new_model ();
  g_autoptr(GError) error = NULL;
  g_autoptr(VnTensor) times = vn_tensor_new_s64 (&VN_SHAPE (1), (const gint64[]) { 1 << 15 });
  VnTensor *outputs[8] = { NULL };

  vn_graph_add_initializer (model->graph, "times", times);
  add_inner (model->graph, "NonZero", "x", "places");       /* nobody knows how many */
  add_inner (model->graph, "Squeeze", "places", "line");
  for (guint i = 0; i < G_N_ELEMENTS (outputs); i++)
    {
      g_autofree char *name = g_strdup_printf ("y%u", i);

      add_inner (model->graph, "Tile", "line times", name);
    }
  set_outputs (model, "y0 y1 y2 y3 y4 y5 y6 y7");
  vn_memory_set_growth (3 << 20);
  run (model, NULL, outputs, &error);
  vn_memory_set_growth (0);
  g_assert_error (error, VN_ERROR, VN_ERROR_LIMIT);
  g_test_message ("%s", error->message);
}

static void
test_nesting (void)
{
  g_autoptr(VnModel) model = new_model ();
  g_autoptr(GError) error = NULL;
  VnGraph *graph = model->graph;

  for (int depth = 0; depth < 60; depth++)
    {
      g_autofree char *name = g_strdup_printf ("y%d", depth);
      VnNode *node = add_inner (graph, "If", "flag", name);
      VnGraph *other = add_body (node, "else_branch", "");

      set_results (graph, name);
      add_inner (other, "Neg", "x", "negative");
      set_results (other, "negative");
      graph = add_body (node, "then_branch", "");
    }
  add_inner (graph, "Neg", "x", "last");
  set_results (graph, "last");
  run (model, NULL, NULL, &error);
  g_assert_error (error, VN_ERROR, VN_ERROR_LIMIT);
  g_assert_nonnull (strstr (error->message, "nested"));
}

/* A branch returns what a later node of the file computes: that node runs first. */
static void
test_returns_outer_value (void)
{
  g_autoptr(VnModel) model = new_model ();
  g_autoptr(GError) error = NULL;
  VnTensor *outputs[1] = { NULL };
  VnNode *node = add_inner (model->graph, "If", "flag", "y");
  VnGraph *then_graph = add_body (node, "then_branch", ""), *else_graph = add_body (node, "else_branch", "");

  set_outputs (model, "y");
  find_or_add (model->graph, "late");
  set_results (then_graph, "late");
  add_inner (else_graph, "Neg", "x", "n");
  set_results (else_graph, "n");
  add_inner (model->graph, "Abs", "x", "late");
  run (model, NULL, outputs, &error);
  g_assert_no_error (error);
  for (gsize i = 0; i < outputs[0]->n_elements; i++)
    g_assert_cmpfloat (((const float *) outputs[0]->data)[i], >=, 0);
  vn_tensor_unref (outputs[0]);
}

/* ---- taps ---- */

static void
count_tap (const VnValue  *value,
           guint           tap,
           const VnTensor *tensor,
           gpointer        data)
{
  ((guint *) data)[tap]++;
}

/* A Loop of three rounds, in each an If: values inside are told in each round, those of the branch not taken never. */
static void
test_taps_inside (void)
{
  g_autoptr(VnModel) model = new_model ();
  g_autoptr(VnTensor) three = vn_tensor_new_s64 (&VN_SHAPE_SCALAR, (const gint64[]) { 3 });
  g_autoptr(VnTensor) x = make_input (VN_SHAPE (2), 3), flag = vn_tensor_new (VN_DTYPE_BOOL, &VN_SHAPE_SCALAR, NULL);
  g_autoptr(GPtrArray) taps = g_ptr_array_new ();
  g_autoptr(VnPlan) plan = NULL;
  g_autoptr(VnRunner) runner = NULL;
  g_autoptr(GError) error = NULL;
  VnTensor *inputs[] = { x, flag };
  guint counts[6] = { 0 };
  VnGraph *body, *then_graph, *else_graph;
  VnNode *choice;

  vn_graph_add_initializer (model->graph, "three", three);
  body = add_body (add_inner (model->graph, "Loop", "three true x", "y"), "body", "round go state");
  add_inner (body, "Identity", "go", "on");
  choice = add_inner (body, "If", "flag", "next");
  then_graph = add_body (choice, "then_branch", "");
  add_inner (then_graph, "Neg", "state", "n");
  set_results (then_graph, "n");
  else_graph = add_body (choice, "else_branch", "");
  add_inner (else_graph, "Abs", "state", "a");
  set_results (else_graph, "a");
  set_results (body, "on next");
  set_outputs (model, "y");

  g_ptr_array_add (taps, vn_graph_find_value (model->graph, "x"));
  g_ptr_array_add (taps, vn_graph_find_value (body, "state"));
  g_ptr_array_add (taps, vn_graph_find_value (body, "next"));
  g_ptr_array_add (taps, vn_graph_find_value (then_graph, "n"));
  g_ptr_array_add (taps, vn_graph_find_value (else_graph, "a"));
  g_ptr_array_add (taps, vn_graph_find_value (model->graph, "y"));
  plan = vn_plan_new (model, &(VnPlanOptions) { .taps = taps }, NULL, &error);
  g_assert_no_error (error);
  runner = vn_runner_new (plan, &error);
  g_assert_no_error (error);
  vn_runner_set_tap (runner, count_tap, counts);
  *(guint8 *) flag->data = TRUE;
  for (guint i = 1; i <= 2; i++)
    {
      g_assert_true (vn_runner_run (runner, inputs, NULL, NULL, &error));
      g_assert_cmpuint (counts[0], ==, i);
      g_assert_cmpuint (counts[1], ==, 3 * i);
      g_assert_cmpuint (counts[2], ==, 3 * i);
      g_assert_cmpuint (counts[3], ==, 3 * i);
      g_assert_cmpuint (counts[4], ==, 0);
      g_assert_cmpuint (counts[5], ==, i);
    }
}

/* A value of another network is no tap. */
static void
test_foreign_tap (void)
{
  g_autoptr(VnModel) model = new_model (), other = new_model ();
  g_autoptr(GPtrArray) taps = g_ptr_array_new ();
  g_autoptr(VnPlan) plan = NULL;
  g_autoptr(GError) error = NULL;

  set_results (add_loop (model, "y", "round go state"), "on next");
  g_ptr_array_add (taps, vn_graph_find_value (other->graph, "x"));
  plan = vn_plan_new (model, &(VnPlanOptions) { .taps = taps }, NULL, &error);
  g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
}

/* ---- what is refused ---- */

static VnModel *
loop_body_takes_more (void)
{
  VnModel *model = new_model ();

  set_results (add_loop (model, "y", "round go state more"), "on next");
  return model;
}

static VnModel *
loop_body_returns_less (void)
{
  VnModel *model = new_model ();

  set_results (add_loop (model, "y", "round go state"), "on");
  return model;
}

static VnModel *
loop_changes_type (void)
{
  VnModel *model = new_model ();
  VnGraph *body = add_loop (model, "y", "round go state");

  add_inner (body, "Shape", "state", "shape");
  set_results (body, "on shape");
  return model;
}

static VnModel *
loop_condition_is_float (void)
{
  VnModel *model = new_model ();

  set_results (add_loop (model, "y", "round go state"), "next next");
  return model;
}

static VnModel *
loop_without_body (void)
{
  VnModel *model = new_model ();

  add_inner (model->graph, "Loop", "rounds true x", "y");
  set_outputs (model, "y");
  return model;
}

static VnModel *
loop_count_is_float (void)
{
  VnModel *model = new_model ();
  VnNode *loop = add_inner (model->graph, "Loop", "x true x", "y");
  VnGraph *body = add_body (loop, "body", "round go state");

  add_inner (body, "Identity", "go", "on");
  set_results (body, "on state");
  set_outputs (model, "y");
  return model;
}

static VnModel *
if_returns_too_few (void)
{
  VnModel *model = new_model ();
  VnNode *node = add_inner (model->graph, "If", "flag", "y z");

  for (int i = 0; i < 2; i++)
    {
      VnGraph *branch = add_body (node, i == 0 ? "then_branch" : "else_branch", "");

      add_inner (branch, "Neg", "x", "n");
      set_results (branch, "n");
    }
  set_outputs (model, "y");
  return model;
}

static VnModel *
scan_without_inputs (void)
{
  VnModel *model = new_model ();
  VnNode *scan = add_inner (model->graph, "Scan", "x", "y");
  VnGraph *body = add_body (scan, "body", "element");

  vn_node_set_int (scan, "num_scan_inputs", 2);
  add_inner (body, "Neg", "element", "n");
  set_results (body, "n");
  set_outputs (model, "y");
  return model;
}

static VnModel *
sequence_of_two_types (void)
{
  VnModel *model = new_model ();

  add_inner (model->graph, "SequenceConstruct", "x", "s");
  add_inner (model->graph, "SequenceInsert", "s rounds", "t");
  add_inner (model->graph, "SequenceLength", "t", "y");
  set_outputs (model, "y");
  return model;
}

static VnModel *
sequence_position (void)
{
  VnModel *model = new_model ();

  add_inner (model->graph, "SequenceConstruct", "x x", "s");
  add_inner (model->graph, "SequenceAt", "s rounds", "y");
  set_outputs (model, "y");
  return model;
}

static VnModel *
sequence_into_relu (void)
{
  VnModel *model = new_model ();

  add_inner (model->graph, "SequenceConstruct", "x x", "s");
  add_inner (model->graph, "Relu", "s", "y");
  set_outputs (model, "y");
  return model;
}

static VnModel *
no_sequence (void)
{
  VnModel *model = new_model ();

  add_inner (model->graph, "SequenceLength", "x", "y");
  set_outputs (model, "y");
  return model;
}

static VnModel *
empty_optional (void)
{
  VnModel *model = new_model ();

  add_inner (model->graph, "Optional", "", "o");
  add_inner (model->graph, "OptionalGetElement", "o", "y");
  set_outputs (model, "y");
  return model;
}

typedef struct
{
  const char *path;
  VnModel  *(*make) (void);
  const char *words;
} Refusal;

static const Refusal refusals[] = {
  { "/engine/control/loop-body-takes-more",    loop_body_takes_more,    "takes 4 inputs, but the operator passes 3" },
  { "/engine/control/loop-body-returns-less",  loop_body_returns_less,  "has 1 output," },
  { "/engine/control/loop-changes-type",       loop_changes_type,       "from float32 to int64" },
  { "/engine/control/loop-condition-is-float", loop_condition_is_float, "float32 with 2" },
  { "/engine/control/loop-without-body",       loop_without_body,       "“body” has no graph" },
  { "/engine/control/loop-count-is-float",     loop_count_is_float,     "float32 with 2" },
  { "/engine/control/if-returns-too-few",      if_returns_too_few,      "has 1 output, but the operator needs 2" },
  { "/engine/control/scan-without-inputs",     scan_without_inputs,     "2 scan inputs, but the node has 1" },
  { "/engine/control/sequence-of-two-types",   sequence_of_two_types,   "Element 1 of a sequence of float32 tensors" },
  { "/engine/control/sequence-position",       sequence_position,       "9223372036854775807" },
  { "/engine/control/sequence-into-relu",      sequence_into_relu,      "Relu" },
  { "/engine/control/no-sequence",             no_sequence,             "must be a sequence" },
  { "/engine/control/empty-optional",          empty_optional,          "the optional is empty" },
};

static void
test_refusal (gconstpointer data)
{
  const Refusal *refusal = data;
  g_autoptr(VnModel) model = refusal->make ();
  g_autoptr(GError) error = NULL;
  VnTensor *outputs[2] = { NULL };

  run (model, NULL, outputs, &error);
  g_assert_error (error, VN_ERROR, VN_ERROR_SHAPE);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, refusal->words));
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/control/cancel", test_cancel);
  g_test_add_func ("/engine/control/gathers-too-much", test_gathers_too_much);
  g_test_add_func ("/engine/control/doubles", test_doubles);
  g_test_add_func ("/engine/control/adds-up", test_adds_up);
  g_test_add_func ("/engine/control/nesting", test_nesting);
  g_test_add_func ("/engine/control/returns-outer-value", test_returns_outer_value);
  g_test_add_func ("/engine/control/taps-inside", test_taps_inside);
  g_test_add_func ("/engine/control/foreign-tap", test_foreign_tap);
  for (guint i = 0; i < G_N_ELEMENTS (refusals); i++)
    g_test_add_data_func (refusals[i].path, &refusals[i], test_refusal);
  return g_test_run ();
}
