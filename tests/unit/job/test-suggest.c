/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which presets are offered first, by what a network reads. */
#include "vn-graph-edit.h"
#include "vn-suggest.h"

static const struct
{
  const char *input;
  VnDType     dtype;
  VnShape     shape;
  gboolean    has_past;
  const char *first[4];
} cases[] = {
  { "input_ids", VN_DTYPE_S64, { 2, { -1, -1 } }, FALSE, { "dynamic", "w8" } },
  { "input_ids", VN_DTYPE_S64, { 2, { -1, -1 } }, TRUE, { "w8", "w4", "w4-matmul" } },
  { "waveform", VN_DTYPE_F32, { 2, { 1, -1 } }, FALSE, { "dynamic", "w8" } },
  { "images", VN_DTYPE_F32, { 4, { 1, 3, 64, 64 } }, FALSE, { NULL } },
};

static VnModel *
make_model (const char    *name,
            VnDType        dtype,
            const VnShape *shape,
            gboolean       has_past)
{
  VnModel *model = vn_model_new (8, 17);
  VnValue *input = vn_graph_add_input (model->graph, name, dtype, shape);
  VnValue *y = vn_graph_add_value (model->graph, "y", dtype, NULL);

  vn_graph_add_node (model->graph, NULL, "", "Identity", &input, 1, &y, 1);
  vn_graph_set_output (model->graph, 0, y);
  if (has_past)
    {
      VnValue *past = vn_graph_add_input (model->graph, "past_key_values.0.key", VN_DTYPE_F32, &VN_SHAPE (1, 2, -1, 8));
      VnValue *present = vn_graph_add_value (model->graph, "present.0.key", VN_DTYPE_F32, NULL);

      vn_graph_add_node (model->graph, NULL, "", "Relu", &past, 1, &present, 1);
      vn_graph_set_output (model->graph, 1, present);
    }
  return model;
}

static void
test_first (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnModel) model = make_model (cases[i].input, cases[i].dtype, &cases[i].shape, cases[i].has_past);
      g_autofree char *reason = vn_suggest_dup_reason (model);
      guint n_first, n_all, n_named = g_strv_length ((char **) cases[i].first), n_found = 0;
      g_autoptr(GPtrArray) list = vn_suggest_presets (model, &n_first);

      vn_preset_list (&n_all);
      g_test_message ("%u: %s, %u first: %s", i, cases[i].input, n_first, reason);
      g_assert_cmpuint (list->len, ==, n_all);
      g_assert_cmpuint (n_first, >=, n_named);
      g_assert_true ((n_first == 0) == (n_named == 0));
      g_assert_true ((reason == NULL) == (n_named == 0));
      for (guint k = 0; k < n_first; k++)
        n_found += g_strv_contains (cases[i].first, ((const VnPreset *) g_ptr_array_index (list, k))->id);
      g_assert_cmpuint (n_found, ==, n_named);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/suggest/first", test_first);
  return g_test_run ();
}
