/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a backend runs, and what stays ours: parts of networks that a small interpreter computes give what our kernels give. */
#include "engine-fixture.h"

#include "vn-backend.h"
#include "vn-error.h"

#define MOST 8

/**
 * Interpreter: a backend for elements of float32 alone. Twice, of a domain of its own, doubles.
 * @refuses: (nullable): an operator that it does not run
 * @tells_types: whether it says of which size what a node makes is before it runs
 * @fails: whether runs fail
 * @n_open: parts that are open
 * @n_opened: that were opened, in all
 * @most_nodes: of a part
 */
#define TYPE_INTERPRETER (interpreter_get_type ())
G_DECLARE_FINAL_TYPE (Interpreter, interpreter, TEST, INTERPRETER, VnBackend)

struct _Interpreter
{
  VnBackend   parent_instance;
  const char *refuses;
  gboolean    tells_types, fails;
  int         n_open, n_opened;
  guint       most_nodes;
};

G_DEFINE_FINAL_TYPE (Interpreter, interpreter, VN_TYPE_BACKEND)

typedef struct
{
  GPtrArray     *nodes;
  guint          n_inputs, n_outputs;
  const VnValue *inputs[MOST], *outputs[MOST];
  VnTensor      *constants[MOST];
  VnTensorType   first;
} Part;

static gboolean
interpreter_runs (Interpreter  *self,
                  const VnNode *node)
{
  static const char * const known[] = { "Twice", "Relu", "Neg", "Add", "Mul", NULL };

  return g_strv_contains (known, node->op_type) && g_strcmp0 (node->op_type, self->refuses) != 0;
}

static gboolean
interpreter_has_kernel (VnBackend    *backend,
                        const VnNode *node)
{
  return interpreter_runs (TEST_INTERPRETER (backend), node);
}

static gpointer
interpreter_open (VnBackend            *backend,
                  const VnBackendPart  *from,
                  GError              **error)
{
  Interpreter *self = TEST_INTERPRETER (backend);
  Part *part;

  for (guint i = 0; i < from->nodes->len; i++)
    if (!interpreter_runs (self, g_ptr_array_index (from->nodes, i)))
      {
        g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, "no kernel");
        return NULL;
      }
  g_assert_cmpuint (MAX (from->n_inputs, from->n_outputs), <=, MOST);
  part = g_new0 (Part, 1);
  part->nodes = g_ptr_array_ref (from->nodes);
  part->n_inputs = from->n_inputs;
  part->n_outputs = from->n_outputs;
  part->first = from->in_types[0];
  for (guint i = 0; i < from->n_inputs; i++)
    {
      part->inputs[i] = from->inputs[i];
      part->constants[i] = from->constants[i] != NULL ? vn_tensor_ref (from->constants[i]) : NULL;
    }
  for (guint i = 0; i < from->n_outputs; i++)
    part->outputs[i] = from->outputs[i];
  self->n_open++;
  self->n_opened++;
  self->most_nodes = MAX (self->most_nodes, from->nodes->len);
  vn_backend_set_title (backend, "Interpreter 1");
  return part;
}

static VnTensorType
interpreter_get_type_of (VnBackend *backend,
                         gpointer   opened,
                         guint      i)
{
  if (TEST_INTERPRETER (backend)->tells_types)
    return ((Part *) opened)->first;
  return (VnTensorType) { VN_DTYPE_F32, VN_SHAPE_UNKNOWN };
}

static float
interpreter_compute (const char *type,
                     float       a,
                     float       b)
{
  if (g_str_equal (type, "Twice"))
    return 2 * a;
  if (g_str_equal (type, "Relu"))
    return MAX (a, 0);
  if (g_str_equal (type, "Neg"))
    return -a;
  return g_str_equal (type, "Add") ? a + b : a * b;
}

static gboolean
interpreter_run (VnBackend         *backend,
                 gpointer           opened,
                 VnTensor * const  *in,
                 VnTensor         **out,
                 GCancellable      *cancellable,
                 GError           **error)
{
  const Part *part = opened;
  g_autoptr(GHashTable) values = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) vn_tensor_unref);
  guint k = 0;

  if (TEST_INTERPRETER (backend)->fails)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, "it fails");
      return FALSE;
    }
  for (guint i = 0; i < part->n_inputs; i++)
    g_hash_table_insert (values, (gpointer) part->inputs[i],
                         vn_tensor_ref (part->constants[i] != NULL ? part->constants[i] : in[k++]));
  for (guint i = 0; i < part->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (part->nodes, i);
      VnTensor *a = g_hash_table_lookup (values, vn_node_get_input (node, 0));
      VnTensor *b = node->inputs->len > 1 ? g_hash_table_lookup (values, vn_node_get_input (node, 1)) : a;
      VnTensor *made = vn_tensor_new (VN_DTYPE_F32, &a->shape, NULL);

      for (gsize e = 0; e < a->n_elements; e++)
        ((float *) made->data)[e] = interpreter_compute (node->op_type, ((float *) a->data)[e],
                                                         ((float *) b->data)[e % b->n_elements]);
      g_hash_table_insert (values, vn_node_get_output (node, 0), made);
    }
  for (guint i = 0; i < part->n_outputs; i++)
    {
      VnTensor *made = g_hash_table_lookup (values, part->outputs[i]);

      if (out[i] == NULL)
        out[i] = vn_tensor_ref (made);
      else
        memcpy (out[i]->data, made->data, made->n_bytes);
    }
  return TRUE;
}

static void
interpreter_close (VnBackend *backend,
                   gpointer   opened)
{
  Part *part = opened;

  g_ptr_array_unref (part->nodes);
  for (guint i = 0; i < part->n_inputs; i++)
    g_clear_pointer (&part->constants[i], vn_tensor_unref);
  g_free (part);
  TEST_INTERPRETER (backend)->n_open--;
}

static void
interpreter_class_init (InterpreterClass *class)
{
  VnBackendClass *backend = VN_BACKEND_CLASS (class);

  backend->has_kernel = interpreter_has_kernel;
  backend->open = interpreter_open;
  backend->get_type = interpreter_get_type_of;
  backend->run = interpreter_run;
  backend->close = interpreter_close;
}

static void
interpreter_init (Interpreter *self)
{
}

/* ---- networks ---- */

/* x -> Relu a -> Mul by a weight b -> @odd c -> Neg d -> Add to a e -> Relu y; and Exp of c */
static VnModel *
make_network (const char *odd)
{
  VnModel *model = vn_model_new (8, 13);

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 4, 6, 5));
  add_floats (model, "w", VN_SHAPE (1, 4, 6, 5), -0.5f, 0.01f);
  add_node (model, "Relu", "first", "x", "a");
  add_node (model, "Mul", "product", "a w", "b");
  add_node (model, odd, "odd", "b", "c");
  add_node (model, "Neg", "neg", "c", "d");
  add_node (model, "Add", "sum", "d a", "e");
  add_node (model, "Relu", "last", "e", "y");
  add_node (model, "Exp", "exp", "c", "z");
  set_outputs (model, "y z");
  return model;
}

static void
keep_tap (const VnValue  *value,
          guint           tap,
          const VnTensor *tensor,
          gpointer        data)
{
  VnTensor **kept = data;

  g_assert_null (kept[tap]);
  kept[tap] = vn_tensor_new_copy (tensor->dtype, &tensor->shape, tensor->data, NULL);
}

static void
check_same (const VnTensor *a,
            const VnTensor *b)
{
  g_assert_true (a != NULL && b != NULL && vn_shape_equal (&a->shape, &b->shape));
  g_assert_cmpmem (a->data, a->n_bytes, b->data, b->n_bytes);
}

typedef struct
{
  VnTensor *outputs[2], *taps[MOST];
  guint     n_steps;
} Result;

static void
clear_result (Result *self)
{
  vn_tensor_clear_all (self->outputs, G_N_ELEMENTS (self->outputs));
  vn_tensor_clear_all (self->taps, G_N_ELEMENTS (self->taps));
}

static GPtrArray *
list_taps (VnModel    *model,
           const char *names)
{
  GPtrArray *taps = g_ptr_array_new ();
  g_auto(GStrv) words = g_strsplit (names, " ", -1);

  for (guint i = 0; *names != '\0' && words[i] != NULL; i++)
    g_ptr_array_add (taps, vn_graph_find_value (model->graph, words[i]));
  return taps;
}

/* With @backend; without, the odd node is one of ours that does the same. */
static void
run (Interpreter *backend,
     const char  *names,
     gboolean     can_restart,
     VnTensor    *given,
     Result      *result)
{
  g_autoptr(VnModel) model = make_network (backend != NULL ? "acme:Twice" : "Identity");
  g_autoptr(GPtrArray) taps = list_taps (model, names);
  const VnPlanOptions options = { .taps = taps, .can_restart = can_restart };
  g_autoptr(VnTensor) x = make_input (VN_SHAPE (1, 4, 6, 5), 3);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnPlan) plan = NULL;
  g_autoptr(VnRunner) runner = NULL;

  if (backend == NULL)   /* twice is the sum of both */
    {
      VnNode *odd = vn_graph_find_node (model->graph, "odd");
      VnValue *b = vn_graph_find_value (model->graph, "b"), *both[] = { b, b },
      *c = vn_graph_find_value (model->graph, "c");

      vn_graph_remove_node (model->graph, odd);
      vn_graph_add_node (model->graph, "odd", "", "Add", both, 2, &c, 1);
    }
  vn_model_set_backend (model, backend != NULL ? VN_BACKEND (backend) : NULL);
  plan = vn_plan_new (model, &options, NULL, &error);
  g_assert_no_error (error);
  result->n_steps = vn_plan_get_n_steps (plan);
  runner = vn_runner_new (plan, &error);
  vn_runner_set_tap (runner, keep_tap, result->taps);
  if (given == NULL)
    vn_runner_run (runner, &x, result->outputs, NULL, &error);
  else
    {
      const VnTapValue value = { 0, given };

      vn_runner_run_from (runner, &x, NULL, &value, 1, result->outputs, NULL, &error);
    }
  g_assert_no_error (error);
}

/* What @backend computes is what our kernels compute. */
static void
check (Interpreter *backend,
       const char  *taps,
       gboolean     can_restart,
       VnTensor    *given,
       guint        n_steps)
{
  Result ours = { 0 }, theirs = { 0 };
  g_auto(GStrv) words = g_strsplit (taps, " ", -1);

  run (NULL, taps, can_restart, given, &ours);
  run (backend, taps, can_restart, given, &theirs);
  for (guint i = 0; i < G_N_ELEMENTS (ours.outputs); i++)
    if (given == NULL || i == 0 || ours.outputs[i] != NULL)   /* what does not depend on it is no news */
      check_same (ours.outputs[i], theirs.outputs[i]);
    else
      g_assert_null (theirs.outputs[i]);
  for (guint i = 0; *taps != '\0' && words[i] != NULL; i++)
    if (given == NULL || i > 0)
      check_same (ours.taps[i], theirs.taps[i]);
  g_test_message ("%s: %u steps", taps, theirs.n_steps);
  if (n_steps > 0)
    g_assert_cmpuint (theirs.n_steps, ==, n_steps);
  g_assert_cmpint (backend->n_open, ==, 0);
  clear_result (&ours);
  clear_result (&theirs);
}

static Interpreter *
new_interpreter (gboolean tells_types,
                 gboolean takes_all)
{
  Interpreter *self = g_object_new (TYPE_INTERPRETER, NULL);

  self->tells_types = tells_types;
  vn_backend_set_takes_all (VN_BACKEND (self), takes_all);
  return self;
}

/* ---- tests ---- */

static void
test_one_node (void)
{
  for (gboolean tells = FALSE; tells <= TRUE; tells++)
    {
      g_autoptr(Interpreter) backend = new_interpreter (tells, FALSE);

      check (backend, "", FALSE, NULL, 0);
      check (backend, "a b c d e", FALSE, NULL, 7);
      check (backend, "c", TRUE, NULL, 0);
      g_assert_cmpuint (backend->most_nodes, ==, 1);
    }
}

static void
test_all_nodes (void)
{
  g_autoptr(Interpreter) backend = new_interpreter (TRUE, TRUE);

  check (backend, "", FALSE, NULL, 2);        /* Exp is ours */
  g_assert_cmpuint (backend->most_nodes, ==, 6);
  check (backend, "a b c d e y", FALSE, NULL, 2);
  g_assert_cmpuint (backend->most_nodes, ==, 6);
}

/* Where the backend does not know what it makes, sizes show in the run. */
static void
test_open_sizes (void)
{
  g_autoptr(Interpreter) backend = new_interpreter (FALSE, TRUE);

  check (backend, "a b c d e y", FALSE, NULL, 2);
}

/* Whatever is given for a value, what reads it is computed from that. */
static void
test_restart (void)
{
  static const char * const taps[] = { "a", "b", "c", "d", "e" };
  g_autoptr(VnTensor) given = make_input (VN_SHAPE (1, 4, 6, 5), 8);

  for (guint i = 0; i < G_N_ELEMENTS (taps); i++)
    {
      g_autoptr(Interpreter) backend = new_interpreter (TRUE, TRUE);
      g_autofree char *names = g_strdup_printf ("%s a b c d e", taps[i]);

      check (backend, taps[i], TRUE, given, 3);
      check (backend, names, TRUE, NULL, 7);
    }
}

static void
test_refused (void)
{
  static const char * const refused[] = { "Relu", "Neg", "Add", "Mul" };

  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_autoptr(Interpreter) backend = new_interpreter (TRUE, TRUE);

      backend->refuses = refused[i];
      check (backend, "", FALSE, NULL, 0);
      check (backend, "a d", FALSE, NULL, 0);
      g_assert_cmpint (backend->n_opened, >=, 2);
    }
}

/* A node that nobody runs is named, and so is one whose run fails. */
static void
test_errors (void)
{
  g_autoptr(VnModel) model = make_network ("acme:Twice");
  g_autoptr(Interpreter) backend = new_interpreter (TRUE, FALSE);
  g_autoptr(VnTensor) x = make_input (VN_SHAPE (1, 4, 6, 5), 3);
  g_autoptr(GError) missing = NULL, failed = NULL;
  g_autoptr(VnPlan) plan = NULL;
  g_autoptr(VnRunner) runner = NULL;

  backend->refuses = "Twice";
  vn_model_set_backend (model, VN_BACKEND (backend));
  g_assert_null (vn_plan_new (model, NULL, NULL, &missing));
  g_assert_error (missing, VN_ERROR, VN_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (missing->message, "Twice"));
  backend->refuses = NULL;
  backend->fails = TRUE;
  plan = vn_plan_new (model, NULL, NULL, &failed);
  g_assert_no_error (failed);
  runner = vn_runner_new (plan, &failed);
  g_assert_false (vn_runner_run (runner, &x, NULL, NULL, &failed));
  g_assert_nonnull (strstr (failed->message, "odd"));
  g_assert_nonnull (strstr (failed->message, "it fails"));
}

static void
test_notes (void)
{
  g_autoptr(VnModel) model = make_network ("acme:Twice");
  g_autoptr(Interpreter) backend = new_interpreter (TRUE, FALSE);
  g_autoptr(VnNotes) notes = vn_notes_new ();
  g_autoptr(VnPlan) plan = NULL;

  vn_model_set_backend (model, VN_BACKEND (backend));
  plan = vn_plan_new (model, NULL, notes, NULL);
  g_assert_nonnull (plan);
  g_assert_cmpuint (vn_notes_get_n (notes), ==, 1);
  g_assert_cmpstr (vn_notes_get (notes, 0)->code, ==, VN_NOTE_ENGINE);
  g_assert_nonnull (strstr (vn_notes_get (notes, 0)->text, "Interpreter 1"));
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/backend/one-node", test_one_node);
  g_test_add_func ("/backend/all-nodes", test_all_nodes);
  g_test_add_func ("/backend/open-sizes", test_open_sizes);
  g_test_add_func ("/backend/restart", test_restart);
  g_test_add_func ("/backend/refused", test_refused);
  g_test_add_func ("/backend/errors", test_errors);
  g_test_add_func ("/backend/notes", test_notes);
  return g_test_run ();
}
