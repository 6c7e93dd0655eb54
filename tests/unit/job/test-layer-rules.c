/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Repairs switched on and off by rules: only what is stored for the layers that a rule is about becomes something else. */
#include "vn-jobs.h"

#include <math.h>
#include <string.h>

#define N_CHANNELS 8

/* Rows of very different size if @spread is not 1: the last is 1 / @spread of the first. */
static VnValue *
add_constant (VnGraph       *graph,
              const char    *name,
              const VnShape *shape,
              float          scale,
              float          spread)
{
  g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_F32, shape, NULL);
  gsize rows = (gsize) shape->dims[0], inner = tensor->n_elements / rows;

  for (gsize i = 0; i < tensor->n_elements; i++)
    ((float *) tensor->data)[i] = scale * sinf ((float) i * 2.3f + (float) strlen (name) + 0.4f * (float) name[0]) *
                                  powf (spread, -(float) (i / inner) / (float) (rows - 1));
  return vn_graph_add_initializer (graph, name, tensor);
}

/* Conv @name with weight "@name_w" and bias "@name_b" that writes "@name_y", and a Relu behind it that writes "@name_r". */
static VnValue *
add_conv (VnGraph    *graph,
          const char *name,
          VnValue    *x,
          VnShape     shape,
          float       spread)
{
  g_autofree char *w = g_strconcat (name, "_w", NULL), *b = g_strconcat (name, "_b", NULL), *y = g_strconcat (name, "_y", NULL);
  g_autofree char *r = g_strconcat (name, "_r", NULL), *relu = g_strconcat (name, "_relu", NULL);
  VnValue *inputs[] = { x, add_constant (graph, w, &shape, 0.5f, spread),
                        add_constant (graph, b, &VN_SHAPE (shape.dims[0]), 0.2f, spread) };
  VnValue *output = vn_graph_add_value (graph, y, VN_DTYPE_UNDEFINED, NULL), *end;
  VnNode *node = vn_graph_add_node (graph, name, "", "Conv", inputs, 3, &output, 1);
  const gint64 pads[] = { 1, 1, 1, 1 };

  if (shape.dims[1] == 1)
    vn_node_set_int (node, "group", shape.dims[0]);
  vn_node_set_ints (node, "pads", pads, 4);
  end = vn_graph_add_value (graph, r, VN_DTYPE_UNDEFINED, NULL);
  vn_graph_add_node (graph, relu, "", "Relu", &output, 1, &end, 1);
  return end;
}

/* Conv a, depthwise d, Conv e, depthwise g, Conv f; what the depthwise ones read has channels from 1 to 1/100. */
static VnModel *
make_model (void)
{
  VnModel *model = vn_model_new (8, 17);
  VnGraph *graph = model->graph;
  VnValue *x = vn_graph_add_input (graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 3, 10, 10));

  x = add_conv (graph, "a", x, VN_SHAPE (N_CHANNELS, 3, 3, 3), 100);
  x = add_conv (graph, "d", x, VN_SHAPE (N_CHANNELS, 1, 3, 3), 0.01f);
  x = add_conv (graph, "e", x, VN_SHAPE (N_CHANNELS, N_CHANNELS, 3, 3), 100);
  x = add_conv (graph, "g", x, VN_SHAPE (N_CHANNELS, 1, 3, 3), 0.01f);
  x = add_conv (graph, "f", x, VN_SHAPE (4, N_CHANNELS, 3, 3), 1);
  vn_value_set_type (x, VN_DTYPE_F32, NULL);
  vn_graph_set_output (graph, 0, x);
  g_assert_true (vn_model_infer_types (model, NULL, NULL, NULL));
  return model;
}

static VnModel *
quantize (VnModel    *model,
          const char *settings,     /* "id=value" or "" */
          const char *rules)        /* separated by ";" */
{
  g_autoptr(VnDataSpec) data = vn_data_spec_new ("random");
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
  g_auto(GStrv) texts = g_strsplit (rules, ";", -1), said = g_strsplit (settings, "=", 2);
  VnQuantizeSettings job_settings = { .model = model, .data = data, .recipe = recipe, .n_threads = 2, .skip_compare = TRUE };
  g_autoptr(GError) error = NULL;
  g_autoptr(VnJob) job = NULL;

  data->max_samples = 12;
  recipe->weight = VN_DTYPE_S4;   /* what is gained must show on the outputs */
  if (said[0] != NULL)
    g_assert_true (vn_recipe_set (recipe, said[0], said[1], &error));
  for (guint i = 0; texts[i] != NULL; i++)
    {
      VnOverride *rule = vn_override_from_json (texts[i], &error);

      g_assert_no_error (error);
      g_ptr_array_add (recipe->overrides, rule);
    }
  job = vn_quantize_job_new (&job_settings);
  g_assert_true (vn_job_run (job, NULL, &error) || (g_test_message ("%s", error->message), FALSE));
  return vn_model_ref (vn_quantize_job_get_result (job)->quantized);
}

/* Scales to five digits: ranges are found in a float network that may round otherwise. */
static gboolean
is_same (const VnTensor *a,
         const VnTensor *b)
{
  if (a->dtype != b->dtype || a->n_elements != b->n_elements)
    return FALSE;
  for (gsize i = 0; i < a->n_elements; i++)
    {
      double x = vn_tensor_get_double (a, i), y = vn_tensor_get_double (b, i);

      if (fabs (x - y) > (a->dtype == VN_DTYPE_F32 ? 1e-5 * fabs (x) : 0))
        return FALSE;
    }
  return TRUE;
}

/* First letters of the constants that differ: the names of their layers. @about: ends that names must have to count; NULL: any */
static char *
list_changed (const VnModel *before,
              const VnModel *after,
              const char    *about)
{
  g_autoptr(GString) letters = g_string_new (NULL);

  for (const char *letter = "adefg"; *letter != '\0'; letter++)
    for (guint i = 0; i < before->graph->values->len; i++)
      {
        const VnValue *value = g_ptr_array_index (before->graph->values, i);
        const VnValue *other = vn_graph_find_value (after->graph, value->name);

        if (value->initializer == NULL || value->name[0] != *letter || value->name[1] != '_' ||
            (about != NULL && strstr (value->name, about) == NULL))
          continue;
        g_assert_true (other != NULL && other->initializer != NULL);
        if (is_same (value->initializer, other->initializer))
          continue;
        g_test_message ("%s", value->name);
        if (letters->len == 0 || letters->str[letters->len - 1] != *letter)
          g_string_append_c (letters, *letter);
      }
  return g_string_free (g_steal_pointer (&letters), FALSE);
}

static void
test_rules (void)
{
  static const struct { const char *settings, *rules, *about, *changed; } cases[] = {
    { "", "{\"nodes\": \"e\", \"rounding\": \"second-order\"}", NULL, "e" },
    { "rounding=second-order", "{\"nodes\": \"*\", \"rounding\": \"nearest\"};{\"nodes\": \"e\"}", NULL, "e" },
    { "", "{\"nodes\": \"a\", \"bias-correction\": \"amd\"}", NULL, "a" },
    { "bias-correction=amd", "{\"nodes\": \"[ade]\"};{\"nodes\": \"g\", \"bias-correction\": \"off\"};"
                             "{\"nodes\": \"f\", \"bias-correction\": \"off\"}", NULL, "ade" },
    { "", "{\"nodes\": \"d\", \"activation-channels\": \"folded\"}", "_w", "ad" },
    { "", "{\"tensors\": [\"e_r\"], \"activation-channels\": \"folded\"}", "_w", "eg" },
    { "activation-channels=folded", "{\"nodes\": \"d\", \"activation-channels\": \"off\"}", "_w", "eg" },
    { "", "{\"nodes\": \"g\", \"balance-channels\": \"folded\"}", "_w", "efg" },
    { "", "{\"tensors\": [\"e_r\"], \"balance-channels\": \"folded\"}", "_w", "eg" },
    { "balance-channels=folded", "{\"tensors\": [\"e_r\", \"d_r\", \"g_r\"], \"balance-channels\": \"off\"}", "_w", "ad" },
    { "balance-channels=folded", "{\"nodes\": \"*\", \"balance-channels\": \"off\"}", NULL, "" },
  };
  g_autoptr(VnModel) model = make_model ();
  g_autoptr(VnModel) plain = quantize (model, "", "{\"nodes\": \"a\"}");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnModel) repaired = quantize (model, cases[i].settings, cases[i].rules);
      g_autofree char *changed = NULL;

      g_test_message ("%s %s", cases[i].settings, cases[i].rules);
      changed = list_changed (plain, repaired, cases[i].about);
      g_assert_cmpstr (changed, ==, cases[i].changed);
    }
}

static guint
count_nodes (const VnModel *model,
             const char    *type)
{
  guint n = 0;

  for (guint i = 0; i < model->graph->nodes->len; i++)
    n += vn_node_is (g_ptr_array_index (model->graph->nodes, i), type);
  return n;
}

/* No quantizer behind the Conv that it is about; its weight and what it reads are quantized as before. */
static void
test_float_results (void)
{
  g_autoptr(VnModel) model = make_model ();
  g_autoptr(VnModel) plain = quantize (model, "", "{\"nodes\": \"f\"}");
  g_autoptr(VnModel) one = quantize (model, "", "{\"nodes\": \"f*\", \"float-results\": true}");

  g_assert_cmpuint (count_nodes (one, "QuantizeLinear"), ==, count_nodes (plain, "QuantizeLinear") - 1);
  g_assert_nonnull (vn_graph_find_value (one->graph, "f_w_quantized"));
  g_assert_cmpstr (vn_graph_find_node (one->graph, "f")->op_type, ==, "Conv");
  g_assert_true (vn_node_is (vn_node_get_input (vn_graph_find_node (one->graph, "f"), 0)->producer, "DequantizeLinear"));
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/layer-rules/rules", test_rules);
  g_test_add_func ("/layer-rules/float-results", test_float_results);
  return g_test_run ();
}
