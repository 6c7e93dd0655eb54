/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each option of preparation changes, beside the same preparation without it. */
#include "vn-error.h"
#include "vn-graph-edit.h"
#include "vn-pass.h"

/* "a" + "b" of open sizes A and B; "a" up to 999; "a" through an operator nobody knows; and an Identity. */
static VnModel *
make_model (void)
{
  VnModel *model = vn_model_new (8, 13);
  VnGraph *g = model->graph;
  VnValue *a = vn_graph_add_input (g, "a", VN_DTYPE_F32, &VN_SHAPE (VN_DIM_UNKNOWN, 4));
  VnValue *b = vn_graph_add_input (g, "b", VN_DTYPE_F32, &VN_SHAPE (VN_DIM_UNKNOWN, 4));
  g_autoptr(VnTensor) zero = vn_tensor_new_s64 (&VN_SHAPE (1), (gint64[]) { 0 });
  g_autoptr(VnTensor) end = vn_tensor_new_s64 (&VN_SHAPE (1), (gint64[]) { 999 });
  VnValue *bounds[4] = { a, vn_graph_add_initializer (g, "zero", zero), vn_graph_add_initializer (g, "end", end), NULL };
  VnValue *sum = vn_graph_add_value (g, "sum", VN_DTYPE_UNDEFINED, NULL);
  VnValue *cut = vn_graph_add_value (g, "cut", VN_DTYPE_UNDEFINED, NULL);
  VnValue *odd = vn_graph_add_value (g, "odd", VN_DTYPE_UNDEFINED, NULL);
  VnValue *same = vn_graph_add_value (g, "same", VN_DTYPE_F32, NULL);

  bounds[3] = bounds[1];
  a->type.symbols[0] = g_strdup ("A");
  b->type.symbols[0] = g_strdup ("B");
  vn_graph_add_node (g, "add", "", "Add", (VnValue *[]) { a, b }, 2, &sum, 1);
  vn_graph_add_node (g, "slice", "", "Slice", bounds, 4, &cut, 1);
  vn_graph_add_node (g, "strange", "example.org", "Strange", &a, 1, &odd, 1);
  vn_graph_add_node (g, "id", "", "Identity", &sum, 1, &same, 1);
  vn_graph_set_output (g, 0, same);
  vn_graph_set_output (g, 1, cut);
  vn_graph_set_output (g, 2, odd);
  return model;
}

static char *
type_of (VnModel    *model,
         const char *name)
{
  const VnValue *value = vn_graph_find_value (model->graph, name);

  return value != NULL ? vn_type_to_string (&value->type) : g_strdup ("gone");
}

static void
check (const VnPrepareOptions *options,
       const char             *name,
       const char             *expected)
{
  g_autoptr(VnModel) source = make_model ();
  g_autoptr(GError) error = NULL;
  g_autoptr(VnModel) prepared = vn_prepare_model_with (source, options, NULL, NULL, NULL, &error);
  g_autofree char *type = NULL;

  g_assert_no_error (error);
  type = type_of (prepared, name);
  g_assert_cmpstr (type, ==, expected);
}

static void
test_sizes (void)
{
  const VnPrepareOptions plain = { 0 }, merge = { .auto_merge = TRUE }, near = { .int_max = 999 }, guess = { .guess_rank = TRUE };

  check (&plain, "same", "float32[unk__0,4]");
  check (&merge, "same", "float32[A,4]");
  check (&plain, "cut", "float32[min(A, 999),4]");
  check (&near, "cut", "float32[A,4]");
  check (&plain, "odd", "unknown");
  check (&guess, "odd", "float32[unk__1,unk__2]");
}

/* Whoever opens a file infers its sizes before anybody says what “to the end” is. */
static void
test_opened (void)
{
  const VnPrepareOptions near = { .int_max = 999 };
  g_autoptr(VnModel) source = make_model (), prepared = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *before = NULL, *after = NULL;

  vn_model_infer_types (source, NULL, NULL, &error);
  g_assert_no_error (error);
  before = type_of (source, "cut");
  g_assert_cmpstr (before, ==, "float32[min(A, 999),4]");
  prepared = vn_prepare_model_with (source, &near, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  after = type_of (prepared, "cut");
  g_assert_cmpstr (after, ==, "float32[A,4]");
}

static void
test_skip (void)
{
  const VnPrepareOptions skip = { .skip_optimization = TRUE, .optimize = TRUE };
  const char * const ids[] = { "identity", NULL }, * const wrong[] = { "idenity", NULL };
  const VnPrepareOptions asked = { .skip_optimization = TRUE, .passes = ids };
  const VnPrepareOptions misspelt = { .passes = wrong };
  g_autoptr(VnModel) source = make_model ();
  g_autoptr(GError) error = NULL;

  check (&skip, "sum", "float32[unk__0,4]");
  check (&asked, "sum", "gone");
  g_assert_null (vn_prepare_model_with (source, &misspelt, NULL, NULL, NULL, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
}

/* Types are in the file only if somebody asks for that, and open sizes without names on request. */
static void
test_declare (void)
{
  const char * const ids[] = { "declare", NULL };
  const VnPrepareOptions options[] = {
    { .skip_optimization = TRUE },
    { .skip_optimization = TRUE, .passes = ids, .auto_merge = TRUE },
    { .skip_optimization = TRUE, .passes = ids, .auto_merge = TRUE, .unnamed_sizes = TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (options); i++)
    {
      g_autoptr(VnModel) source = make_model ();
      g_autoptr(VnModel) prepared = vn_prepare_model_with (source, &options[i], NULL, NULL, NULL, NULL);
      const VnValue *sum = vn_graph_find_value (prepared->graph, "sum");

      g_assert_cmpint (sum->has_info, ==, i > 0);
      if (i > 0)
        g_assert_cmpstr (sum->type.symbols[0], ==, i == 1 ? "A" : NULL);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/rewrite/options/sizes", test_sizes);
  g_test_add_func ("/rewrite/options/opened", test_opened);
  g_test_add_func ("/rewrite/options/skip", test_skip);
  g_test_add_func ("/rewrite/options/declare", test_declare);
  return g_test_run ();
}
