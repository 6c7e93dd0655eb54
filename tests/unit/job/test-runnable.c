/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which networks in float16 are converted before they run. */
#include "vn-graph-edit.h"
#include "vn-jobs.h"

#define SIZE 4

/* x, the operators one after the other, y; Cast is to float16 the first time and back the next. */
static VnModel *
make_chain (const char *operators)
{
  const VnShape shape = { .rank = 1, .dims = { SIZE } };
  VnModel *model = vn_model_new (8, 17);
  VnValue *value = vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &shape);
  g_auto(GStrv) list = g_strsplit (operators, " ", -1);
  VnDType dtype = VN_DTYPE_F32;

  for (guint i = 0; list[i] != NULL; i++)
    {
      gboolean casts = g_str_equal (list[i], "Cast");
      VnValue *made;

      if (casts)
        dtype = dtype == VN_DTYPE_F32 ? VN_DTYPE_F16 : VN_DTYPE_F32;
      made = vn_graph_add_value (model->graph, list[i], dtype, &shape);
      vn_graph_add_node (model->graph, NULL, "", list[i], &value, 1, &made, 1);
      if (casts)
        vn_node_set_int (made->producer, "to", dtype == VN_DTYPE_F16 ? 10 : 1);
      value = made;
    }
  vn_graph_set_output (model->graph, 0, value);
  g_assert_true (vn_model_infer_types (model, NULL, NULL, NULL));
  return model;
}

static const struct { const char *name, *operators; gboolean converted; } networks[] = {
  { "float",     "Relu Abs",            FALSE },
  { "rounded",   "Relu Cast Cast Abs",  FALSE },
  { "computed",  "Cast Relu Cast",      TRUE },
  { "both",      "Cast Cast Cast Relu Cast", TRUE },
  { "given-out", "Relu Cast",           TRUE },
};

static void
test_converted (gconstpointer data)
{
  const guint i = GPOINTER_TO_UINT (data);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnModel) model = make_chain (networks[i].operators);
  g_autoptr(VnModel) runnable = vn_model_to_runnable (model, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpint (runnable != model, ==, networks[i].converted);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (networks); i++)
    {
      g_autofree char *path = g_strdup_printf ("/runnable/%s", networks[i].name);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_converted);
    }
  return g_test_run ();
}
