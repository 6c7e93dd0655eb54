/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which outputs say what a language model is worth. */
#include "vn-cache.h"

#include "vn-graph-edit.h"
#include "vn-op.h"

#include <string.h>

/* Names of inputs and of outputs; those in capitals hold whole numbers. */
static const struct { const char *inputs, *outputs, *compared; } cases[] = {
  { "ids past_key_values.0.key past_key_values.0.value", "logits present.0.key present.0.value", "logits" },
  { "past_0 ids", "present_0 logits present_1", "logits" },
  { "ids", "logits present.0.key", "logits present.0.key" },             /* they do not come back */
  { "past_0", "present_0 present_1", "present_0 present_1" },            /* there is nothing else */
  { "past_0", "TOKEN present_0", "TOKEN present_0" },                    /* which says little */
  { "past_0", "logits other", "logits other" },
};

static void
test_compared (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnModel) model = vn_model_new (8, 17);
      g_auto(GStrv) inputs = g_strsplit (cases[i].inputs, " ", -1), outputs = g_strsplit (cases[i].outputs, " ", -1);
      g_autoptr(GPtrArray) compared = NULL;
      g_autoptr(GString) names = g_string_new (NULL);
      g_autofree gboolean *lost = NULL;

      for (guint k = 0; inputs[k] != NULL; k++)
        vn_graph_add_input (model->graph, inputs[k], VN_DTYPE_F32, &VN_SHAPE (1, 2));
      for (guint k = 0; outputs[k] != NULL; k++)
        {
          VnValue *x = g_ptr_array_index (model->graph->inputs, 0);
          VnValue *y = vn_graph_add_value (model->graph, outputs[k], g_ascii_isupper (*outputs[k]) ? VN_DTYPE_S64 : VN_DTYPE_F32,
                                           &VN_SHAPE (1, 2));

          vn_graph_add_node (model->graph, NULL, "", "Relu", &x, 1, &y, 1);
          vn_graph_set_output (model->graph, k, y);
        }
      lost = vn_graph_find_lost (model->graph);
      compared = vn_graph_list_compared (model->graph, lost);
      for (guint k = 0; k < compared->len; k++)
        g_string_append_printf (names, "%s%s", k > 0 ? " " : "", ((const VnValue *) g_ptr_array_index (compared, k))->name);
      g_assert_cmpstr (names->str, ==, cases[i].compared);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cache/compared", test_compared);
  return g_test_run ();
}
