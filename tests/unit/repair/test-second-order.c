/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Second-order rounding gives the same weights for any number of threads, and wherever values between layers are kept. */
#include "../engine/engine-fixture.h"
#include "vn-calibrate.h"
#include "vn-dataset.h"
#include "vn-second-order.h"

#define WIDTH 64
#define SAMPLES 5

/* The first is what the others are compared with. */
static const struct { const char *name; guint n_threads; gsize most; } cases[] = {
  { "again", 1, 0 }, { "three threads", 3, 0 }, { "all in a file", 2, 1 }, { "some in a file", 2, 3000 },
  { "all in memory", 2, G_MAXSIZE },
};

/* Layers that read the same, and values that are alive across layers. */
static VnModel *
make_model (void)
{
  static const char * const nodes[][3] = {
    { "MatMul", "x w0", "a" }, { "MatMul", "x w1", "b" }, { "Tanh", "a", "c" }, { "Mul", "c b", "d" }, { "MatMul", "d w2", "e" },
    { "Add", "e x", "f" }, { "MatMul", "f w3", "g" }, { "Add", "g a", "y" },
  };
  VnModel *model = vn_model_new (8, 18);

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (8, WIDTH));
  for (guint i = 0; i < 4; i++)
    {
      g_autofree char *name = g_strdup_printf ("w%u", i);
      g_autoptr(VnTensor) weight = make_input (VN_SHAPE (WIDTH, WIDTH), i);

      for (gsize k = 0; k < weight->n_elements; k++)
        ((float *) weight->data)[k] *= 0.1f + 0.003f * (float) (k % 17);
      vn_graph_add_initializer (model->graph, name, weight);
    }
  for (guint i = 0; i < G_N_ELEMENTS (nodes); i++)
    add_node (model, nodes[i][0], nodes[i][2], nodes[i][1], nodes[i][2]);
  set_outputs (model, "y");
  return model;
}

static VnDataset *
open_samples (void)
{
  g_autoptr(VnDataSpec) spec = vn_data_spec_new (VN_DATA_RANDOM);
  VnInputSpec input = { .name = (char *) "x", .dtype = VN_DTYPE_F32, .shape = VN_SHAPE (8, WIDTH) };
  g_autoptr(GError) error = NULL;
  VnDataset *dataset;

  spec->max_samples = SAMPLES;
  dataset = vn_dataset_open (spec, &input, 1, NULL, &error);
  g_assert_no_error (error);
  return dataset;
}

/* Returns: (transfer full): of the rounded weights; @n_changed: those that are not what they were */
static char *
round_weights (guint  at,
               guint *n_changed)
{
  const guint indices[SAMPLES] = { 0, 1, 2, 3, 4 };
  g_autoptr(VnModel) model = make_model (), rounded = NULL;
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("w4-matmul");
  g_autoptr(VnStats) stats = vn_stats_new_empty ();
  g_autoptr(VnDataset) dataset = open_samples ();
  g_autoptr(VnQuantPlan) plan = NULL;
  g_autoptr(GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  g_autoptr(GError) error = NULL;
  const VnRepairSamples samples = { .dataset = dataset, .indices = indices, .n = SAMPLES, .n_threads = cases[at].n_threads };
  VnRepairGain gain;

  vn_recipe_set (recipe, "rounding", "second-order", &error);
  g_assert_true (vn_model_infer_types (model, NULL, NULL, &error));
  plan = vn_quantize_resolve (model, recipe, stats, NULL, &error);
  g_assert_no_error (error);
  rounded = vn_second_order_round (&(VnRepairInput) { .prepared = model, .recipe = recipe, .plan = plan, .samples = &samples,
                                                      .most_kept = cases[at].most }, &gain, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (gain.n_tried, ==, 4);
  *n_changed = 0;
  for (guint i = 0; i < 4; i++)
    {
      g_autofree char *name = g_strdup_printf ("w%u", i);
      const VnTensor *after = vn_graph_find_value (rounded->graph, name)->initializer;

      *n_changed += !vn_tensor_equal (after, vn_graph_find_value (model->graph, name)->initializer);
      g_checksum_update (sum, after->data, (gssize) after->n_bytes);
    }
  return g_strdup (g_checksum_get_string (sum));
}

static void
test_same (gconstpointer data)
{
  guint n[2];
  g_autofree char *first = round_weights (0, &n[0]), *other = round_weights (GPOINTER_TO_UINT (data), &n[1]);

  g_assert_cmpuint (n[0], ==, 4);
  g_assert_cmpuint (n[1], ==, 4);
  g_assert_cmpstr (first, ==, other);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/second-order/%s", cases[i].name);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_same);
    }
  return g_test_run ();
}
