/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Types and shapes of whole graphs. */
#include "vn-error.h"
#include "vn-graph-edit.h"
#include "vn-op.h"

#include <string.h>

static VnModel *model;
static VnGraph *graph;

static void
begin (gint64 opset)
{
  model = vn_model_new (8, opset);
  graph = model->graph;
}

static void
end (void)
{
  g_clear_pointer (&model, vn_model_unref);
}

static VnValue *
weight (const VnShape *shape)
{
  g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_F32, shape, NULL);

  for (gsize i = 0; i < tensor->n_elements; i++)
    ((float *) tensor->data)[i] = 0.f;
  return vn_graph_add_initializer (graph, "w", tensor);
}

static VnValue *
numbers (gint64 n,
         gint64 a,
         gint64 b,
         gint64 c)
{
  g_autoptr(VnTensor) tensor = vn_tensor_new_s64 (&VN_SHAPE (n), (gint64[]) { a, b, c });

  return vn_graph_add_initializer (graph, "n", tensor);
}

static VnValue *
scalar (gint64 value)
{
  g_autoptr(VnTensor) tensor = vn_tensor_new_s64 (&VN_SHAPE_SCALAR, &value);

  return vn_graph_add_initializer (graph, "s", tensor);
}

static VnValue *
node (const char *type,
      VnValue    *a,
      VnValue    *b,
      VnValue    *c)
{
  VnValue *inputs[] = { a, b, c };
  VnValue *y = vn_graph_add_value (graph, type, VN_DTYPE_UNDEFINED, NULL);

  vn_graph_add_node (graph, type, "", type, inputs, c != NULL ? 3 : b != NULL ? 2 : 1, &y, 1);
  return y;
}

static void
assert_type (const VnValue *value,
             const char    *expected)
{
  g_autofree char *text = vn_type_to_string (&value->type);

  g_test_message ("%s: %s", value->name, text);
  g_assert_cmpstr (text, ==, expected);
}

static void
infer (GHashTable *shapes,
       VnNotes    *notes)
{
  g_autoptr(GError) error = NULL;

  vn_model_infer_types (model, shapes, notes, &error);
  g_assert_no_error (error);
}

static VnValue *
picture (gint64 batch)
{
  VnValue *x = vn_graph_add_input (graph, "x", VN_DTYPE_F32, &VN_SHAPE (batch, 3, 32, 32));

  if (batch < 0)
    x->type.symbols[0] = g_strdup ("N");
  return x;
}

static void
test_chain (void)
{
  VnValue *conv, *pool;

  begin (13);
  conv = node ("Conv", picture (2), weight (&VN_SHAPE (8, 3, 3, 3)), NULL);
  pool = node ("GlobalAveragePool", node ("Relu", conv, NULL, NULL), NULL, NULL);
  infer (NULL, NULL);
  assert_type (conv, "float32[2,8,30,30]");
  assert_type (pool, "float32[2,8,1,1]");
  end ();
}

/* Reshape to what Shape, Slice and Concat say, as exporters write it. */
static void
test_shape_arithmetic (void)
{
  VnValue *x, *batch, *flat, *doubled;

  begin (13);
  x = picture (2);
  batch = node ("Slice", node ("Shape", x, NULL, NULL), numbers (1, 0, 0, 0), numbers (1, 1, 0, 0));
  flat = node ("Reshape", x, node ("Concat", batch, numbers (1, -1, 0, 0), NULL), NULL);
  vn_node_set_int (vn_graph_find_node (graph, "Concat"), "axis", 0);
  doubled = node ("ConstantOfShape", node ("Mul", batch, scalar (3), NULL), NULL, NULL);
  infer (NULL, NULL);
  assert_type (flat, "float32[2,3072]");
  assert_type (doubled, "float32[6]");
  end ();
}

static void
test_given_sizes (void)
{
  static const struct { VnShape shape; gboolean fits; } cases[] = {
    { VN_SHAPE (4, 3, 32, 32), TRUE }, { VN_SHAPE (4, 3, 32), FALSE }, { VN_SHAPE (4, 1, 32, 32), FALSE },
    { VN_SHAPE (-1, 3, 32, 32), TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GHashTable) shapes = g_hash_table_new (g_str_hash, g_str_equal);
      g_autoptr(GError) error = NULL;
      VnValue *conv, *other, *sum;

      begin (13);
      conv = node ("Conv", picture (-1), weight (&VN_SHAPE (8, 3, 3, 3)), NULL);
      other = vn_graph_add_input (graph, "other", VN_DTYPE_F32, &VN_SHAPE (VN_DIM_UNKNOWN, 5));
      other->type.symbols[0] = g_strdup ("N");
      sum = node ("Relu", other, NULL, NULL);
      g_hash_table_insert (shapes, (gpointer) "x", (gpointer) &cases[i].shape);

      g_test_message ("case %u", i);
      g_assert_cmpint (vn_model_infer_types (model, shapes, NULL, &error), ==, cases[i].fits);
      if (!cases[i].fits)
        g_assert_error (error, VN_ERROR, VN_ERROR_SHAPE);
      else if (i == 0)
        {
          assert_type (conv, "float32[4,8,30,30]");
          assert_type (sum, "float32[4,5]");
        }
      else
        assert_type (conv, "float32[N,8,30,30]");
      end ();
    }
}

/* Open dims are followed through shape arithmetic; what does not depend on them becomes known. */
static void
test_symbols (void)
{
  VnValue *x, *batch, *rows, *flat, *doubled, *conv;

  begin (13);
  x = vn_graph_add_input (graph, "x", VN_DTYPE_F32, &VN_SHAPE (VN_DIM_UNKNOWN, 3, 32, VN_DIM_UNKNOWN));
  x->type.symbols[0] = g_strdup ("N");
  x->type.symbols[3] = g_strdup ("W");
  conv = node ("Conv", x, weight (&VN_SHAPE (8, 3, 1, 1)), NULL);
  batch = node ("Slice", node ("Shape", x, NULL, NULL), numbers (1, 0, 0, 0), numbers (1, 1, 0, 0));
  rows = node ("Concat", batch, numbers (2, 96, -1, 0), NULL);
  vn_node_set_int (vn_graph_find_node (graph, "Concat"), "axis", 0);
  flat = node ("Reshape", x, rows, NULL);
  doubled = node ("ConstantOfShape", node ("Mul", batch, scalar (2), NULL), NULL, NULL);
  infer (NULL, NULL);
  assert_type (conv, "float32[N,8,32,W]");
  assert_type (rows, "int64[3]");
  assert_type (flat, "float32[N,96,W]");
  assert_type (doubled, "float32[2*N]");
  end ();
}

/* What the file says stays where nothing better is known, and is noted where it is wrong. */
static void
test_declared (void)
{
  g_autoptr(VnNotes) notes = vn_notes_new ();
  VnValue *unknown, *y, *inputs[1];

  begin (13);
  inputs[0] = picture (2);
  unknown = vn_graph_add_value (graph, "u", VN_DTYPE_F32, &VN_SHAPE (2, 7));
  vn_graph_add_node (graph, "custom", "my.domain", "Custom", inputs, 1, &unknown, 1);
  y = node ("Relu", unknown, NULL, NULL);
  infer (NULL, notes);
  assert_type (unknown, "float32[2,7]");
  assert_type (y, "float32[2,7]");
  g_assert_cmpuint (vn_notes_get_n (notes), ==, 0);

  vn_value_set_type (y, VN_DTYPE_F32, &VN_SHAPE (2, 8));
  infer (NULL, notes);
  assert_type (y, "float32[2,7]");
  g_assert_cmpuint (vn_notes_get_n (notes), ==, 1);
  g_assert_cmpstr (vn_notes_get (notes, 0)->code, ==, "declared-type");
  end ();
}

static void
test_contradiction (void)
{
  g_autoptr(GError) error = NULL;

  begin (13);
  node ("Conv", picture (1), weight (&VN_SHAPE (8, 4, 3, 3)), NULL);
  g_assert_false (vn_model_infer_types (model, NULL, NULL, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_SHAPE);
  g_assert_nonnull (strstr (error->message, "Conv"));
  end ();
}

/* Numbers that could be taken for sizes known by name, or are far from any size. */
static void
test_wild_numbers (void)
{
  static const gint64 wild[] = { -((gint64) 1 << 62), -((gint64) 1 << 62) - 2, -((gint64) 1 << 62) - 4001, G_MININT64,
                                 G_MAXINT64, -2, 0, (gint64) 1 << 40 };
  static const char * const types[] = { "Reshape", "Expand", "Tile", "ConstantOfShape", "Slice", "Pad", "Gather", "Mul" };

  for (guint i = 0; i < G_N_ELEMENTS (wild) * G_N_ELEMENTS (types); i++)
    {
      const char *type = types[i / G_N_ELEMENTS (wild)];
      gint64 number = wild[i % G_N_ELEMENTS (wild)];
      g_autoptr(GError) error = NULL;
      VnValue *x, *a, *sizes;

      begin (13);
      x = vn_graph_add_input (graph, "x", VN_DTYPE_F32, &VN_SHAPE (VN_DIM_UNKNOWN, 3));
      sizes = node ("Shape", x, NULL, NULL);
      a = numbers (2, number, 1, 0);
      if (g_str_equal (type, "ConstantOfShape"))
        node (type, a, NULL, NULL);
      else if (g_str_equal (type, "Slice"))
        node (type, x, numbers (1, number, 0, 0), numbers (1, number / 2, 0, 0));
      else if (g_str_equal (type, "Pad"))
        node (type, x, node ("Concat", a, sizes, NULL), NULL);
      else if (g_str_equal (type, "Gather") || g_str_equal (type, "Mul"))
        node (type, sizes, a, NULL);
      else
        node (type, x, a, NULL);
      if (vn_graph_find_node (graph, "Concat") != NULL)
        vn_node_set_int (vn_graph_find_node (graph, "Concat"), "axis", 0);
      g_test_message ("%s %" G_GINT64_FORMAT, type, number);
      if (!vn_model_infer_types (model, NULL, NULL, &error))
        g_assert_nonnull (strstr (error->message, type));
      for (guint v = 0; v < graph->values->len; v++)
        for (int d = 0; d < ((VnValue *) g_ptr_array_index (graph->values, v))->type.shape.rank; d++)
          g_assert_cmpint (((VnValue *) g_ptr_array_index (graph->values, v))->type.shape.dims[d], >=, VN_DIM_UNKNOWN);
      end ();
    }
}

/* An If whose branches agree in rank only; then one whose condition is known. */
static void
test_branches (void)
{
  for (int known = 0; known < 2; known++)
    {
      VnValue *x, *y, *condition;
      VnNode *choice;

      begin (13);
      x = picture (2);
      if (known)
        {
          g_autoptr(VnTensor) no = vn_tensor_new (VN_DTYPE_BOOL, &VN_SHAPE_SCALAR, NULL);

          *(guint8 *) no->data = 0;
          condition = vn_graph_add_initializer (graph, "c", no);
        }
      else
        condition = vn_graph_add_input (graph, "c", VN_DTYPE_BOOL, &VN_SHAPE_SCALAR);
      y = vn_graph_add_value (graph, "y", VN_DTYPE_UNDEFINED, NULL);
      choice = vn_graph_add_node (graph, "choice", "", "If", &condition, 1, &y, 1);
      for (int branch = 0; branch < 2; branch++)
        {
          VnGraph *inner = vn_graph_new (model, graph, choice);
          VnAttr *attr = vn_attr_new (branch == 0 ? "then_branch" : "else_branch", VN_ATTR_GRAPH);
          VnValue *out = vn_graph_add_value (inner, "out", VN_DTYPE_UNDEFINED, NULL);

          vn_graph_add_node (inner, "inner", "", branch == 0 ? "Relu" : "GlobalAveragePool", &x, 1, &out, 1);
          vn_graph_set_output (inner, 0, out);
          attr->graph = inner;
          vn_node_set_attr (choice, attr);
        }
      infer (NULL, NULL);
      assert_type (y, known ? "float32[2,3,1,1]" : "float32[2,3,unk__0,unk__1]");
      end ();
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ops/infer/chain", test_chain);
  g_test_add_func ("/ops/infer/shape-arithmetic", test_shape_arithmetic);
  g_test_add_func ("/ops/infer/given-sizes", test_given_sizes);
  g_test_add_func ("/ops/infer/symbols", test_symbols);
  g_test_add_func ("/ops/infer/declared", test_declared);
  g_test_add_func ("/ops/infer/contradiction", test_contradiction);
  g_test_add_func ("/ops/infer/wild-numbers", test_wild_numbers);
  g_test_add_func ("/ops/infer/branches", test_branches);
  return g_test_run ();
}
