/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A network, samples and settings made to have a reason for what quantizing costs, and what becomes of them. */
#include "diagnosis-network.h"

#include "vn-cure-job.h"
#include "vn-dataset.h"
#include "vn-graph-edit.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

VnReason diagnosis_made = VN_N_REASONS;

/* ---- networks: x -> Conv "first" -> Relu "middle" -> ... -> Conv "second" ---- */

void
draw_numbers (Numbers *numbers)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (7);

  for (guint i = 0; i < N_WEIGHTS; i++)
    {
      numbers->first[i] = (float) g_rand_double_range (rand, -0.3, 0.3);
      numbers->second[i] = (float) g_rand_double_range (rand, -0.3, 0.3);
      numbers->first[i] += i % (CHANNELS + 1) == 0 ? 0.7f : 0;
      numbers->second[i] += i % (CHANNELS + 1) == 0 ? 0.7f : 0;
    }
  for (guint i = 0; i < CHANNELS; i++)
    numbers->bias[i] = (float) g_rand_double_range (rand, 0, 0.2);
}

static void
scale_channel (Numbers *numbers,
               guint    c,
               float    front,
               float    behind)
{
  for (guint i = 0; i < CHANNELS; i++)
    {
      numbers->first[c * CHANNELS + i] *= front;
      numbers->second[i * CHANNELS + c] *= behind;
    }
  numbers->bias[c] *= front;
}

static void
spoil_numbers (Numbers *numbers)
{
  if (diagnosis_made == VN_REASON_CHANNEL_SPREAD)
    scale_channel (numbers, 3, 300, 1.f / 300);
  if (diagnosis_made == VN_REASON_DEAD_CHANNEL)
    scale_channel (numbers, 3, 300, 0);
  if (diagnosis_made == VN_REASON_WEIGHT_SPREAD)
    for (guint c = 0; c < CHANNELS / 2; c++)
      scale_channel (numbers, c, 0.01f, 100);
  if (diagnosis_made == VN_REASON_BIAS_OVERFLOW)
    {
      scale_channel (numbers, 3, 1e-8f, 1);
      numbers->bias[3] = 1;
    }
  if (diagnosis_made == VN_REASON_WEIGHT_OUTLIER)   /* the first two channels of the samples are equal */
    {
      numbers->first[0] += 200;
      numbers->first[1] -= 200;
    }
  if (diagnosis_made == VN_REASON_SATURATION)
    for (guint i = 0; i < N_WEIGHTS; i++)
      numbers->second[i] = (i % 5 == 0 ? -1.f : 1.f) * (0.9f + 0.013f * (float) (i % 7));
  if (diagnosis_made == VN_REASON_NOISE_GAIN)       /* what is left of two channels that are nearly equal */
    for (guint i = 0; i < CHANNELS; i++)
      {
        numbers->first[CHANNELS + i] = numbers->first[i] * 1.002f;
        numbers->bias[1] = numbers->bias[0];
        for (guint k = 0; k < CHANNELS; k++)
          numbers->second[i * CHANNELS + k] = k == 0 ? 1 : k == 1 ? -1 : 0;
      }
}

VnValue *
add_constant (VnGraph       *graph,
              const char    *name,
              const VnShape *shape,
              const float   *numbers)
{
  g_autoptr(VnTensor) tensor = vn_tensor_new_f32 (shape, numbers);

  return vn_graph_add_initializer (graph, name, tensor);
}

VnValue *
add_node (VnGraph    *graph,
          const char *name,
          const char *op_type,
          VnValue    *a,
          VnValue    *b,
          VnValue    *c)
{
  VnValue *out = vn_graph_add_value (graph, name, VN_DTYPE_UNDEFINED, NULL);
  VnNode *node = vn_graph_add_node (graph, name, "", op_type, (VnValue *[]) { a, b, c }, c != NULL ? 3 : b != NULL ? 2 : 1, &out,
                                    1);

  if (g_str_equal (op_type, "Concat"))
    {
      VnAttr *axis = vn_attr_new ("axis", VN_ATTR_INT);

      axis->i = 1;
      vn_node_set_attr (node, axis);
    }
  return out;
}

/* What stands between the layers. */
static VnValue *
add_between (VnGraph *graph,
             VnValue *middle,
             Numbers *numbers)
{
  static const float offset = 200, gate = 300;
  VnValue *value = middle;

  if (diagnosis_made == VN_REASON_WASTED_RANGE)
    value = add_node (graph, "moved", "Add", middle, add_constant (graph, "offset", &VN_SHAPE (1, 1, 1, 1), &offset), NULL);
  if (diagnosis_made == VN_REASON_GATE_RANGE)
    value = add_node (graph, "gate", "Sigmoid",
                      add_node (graph, "opened", "Mul", middle, add_constant (graph, "by", &VN_SHAPE (1, 1, 1, 1), &gate), NULL),
                      NULL, NULL);
  if (diagnosis_made == VN_REASON_SOFTMAX_RANGE)
    {
      float mask[SIZE];

      for (guint i = 0; i < SIZE; i++)
        /* what lies behind a gap stays in float */
        mask[i] = i < SIZE / 2 ? 0 : -ldexpf (1, MIN (3 * (int) (i - SIZE / 2), 12));
      value = add_node (graph, "weights", "Softmax",
                        add_node (graph, "masked", "Add", middle, add_constant (graph, "mask", &VN_SHAPE (1, 1, 1, SIZE), mask),
                                  NULL), NULL, NULL);
    }
  if (diagnosis_made == VN_REASON_CANCELLATION)
    {
      VnValue *large = add_node (graph, "large", "Mul", middle, add_constant (graph, "by", &VN_SHAPE (1, 1, 1, 1), &gate), NULL);
      VnValue *sum = add_node (graph, "sum", "Add", middle, large, NULL);

      value = add_node (graph, "difference", "Sub", sum, large, NULL);
    }
  if (diagnosis_made == VN_REASON_UNEQUAL_INPUTS)
    {
      VnValue *large = add_node (graph, "large", "Mul", middle, add_constant (graph, "by", &VN_SHAPE (1, 1, 1, 1), &gate), NULL);

      value = add_node (graph, "joined", "Concat", large, middle, NULL);
    }
  return value;
}

VnModel *
diagnosis_make_model (void)
{
  VnModel *model = vn_model_new (10, 21);
  VnGraph *graph = model->graph;
  VnShape input = VN_SHAPE (1, CHANNELS, SIZE, SIZE), shape = VN_SHAPE (CHANNELS, CHANNELS, 1, 1);
  VnValue *in = vn_graph_add_input (graph, "x", VN_DTYPE_F32, &input);
  VnValue *middle, *out;
  Numbers numbers;

  draw_numbers (&numbers);
  spoil_numbers (&numbers);
  middle = add_node (graph, "first", "Conv", in, add_constant (graph, "w1", &shape, numbers.first),
                     add_constant (graph, "b1", &VN_SHAPE (CHANNELS), numbers.bias));
  middle = add_between (graph, add_node (graph, "middle", "Relu", middle, NULL, NULL), &numbers);
  if (diagnosis_made == VN_REASON_UNEQUAL_INPUTS)
    {
      float wide[2 * N_WEIGHTS];

      for (guint i = 0; i < 2 * N_WEIGHTS; i++)
        wide[i] = numbers.second[i / (2 * CHANNELS) * CHANNELS + i % CHANNELS] * (i % (2 * CHANNELS) < CHANNELS ? 0.003f : 1);
      out = add_node (graph, "second", "Conv", middle, add_constant (graph, "w2", &VN_SHAPE (CHANNELS, 2 * CHANNELS, 1, 1), wide),
                      NULL);
    }
  else
    out = add_node (graph, "second", "Conv", middle, add_constant (graph, "w2", &shape, numbers.second), NULL);
  if (diagnosis_made == VN_REASON_MIXED_OUTPUT)
    {
      static const float by = 1000;

      out = add_node (graph, "both", "Concat",
                      add_node (graph, "boxes", "Mul", out, add_constant (graph, "by", &VN_SHAPE (1, 1, 1, 1), &by), NULL), out,
                      NULL);
    }
  vn_graph_set_output (graph, 0, out);
  g_assert_true (vn_model_infer_types (model, NULL, NULL, NULL));
  return model;
}

/* ---- samples and settings ---- */

char *
diagnosis_make_samples (void)
{
  char *folder = g_dir_make_tmp ("vn-diagnosis-XXXXXX", NULL);
  g_autoptr(GRand) rand = g_rand_new_with_seed (5);
  const guint plane = SIZE * SIZE;

  for (guint k = 0; k < N_SAMPLES; k++)
    {
      g_autofree char *path = g_strdup_printf ("%s/%02u.npy", folder, k);
      VnShape shape = VN_SHAPE (1, CHANNELS, SIZE, SIZE);
      g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_F32, &shape, NULL);
      float *values = tensor->data;

      for (guint i = 0; i < CHANNELS * plane; i++)
        {
          values[i] = (float) g_rand_double_range (rand, -1, 1);
          if (diagnosis_made == VN_REASON_WEIGHT_OUTLIER && i >= plane && i < 2 * plane)
            values[i] = values[i - plane];
          if (diagnosis_made == VN_REASON_SAMPLES_DIFFER && k == 0)
            values[i] *= 0.1f;
        }
      if (diagnosis_made == VN_REASON_OUTLIERS && k == 0)
        values[3 * plane + 5] = 300;
      g_assert_true (vn_npy_write (path, tensor, NULL));
    }
  return folder;
}

void
diagnosis_remove_samples (const char *folder)
{
  for (guint k = 0; k < N_SAMPLES; k++)
    {
      g_autofree char *path = g_strdup_printf ("%s/%02u.npy", folder, k);

      g_unlink (path);
    }
  g_rmdir (folder);
}

static void
add_rule (VnRecipe   *recipe,
          const char *text)
{
  VnOverride *rule = vn_override_from_json (text, NULL);

  g_assert_nonnull (rule);
  g_ptr_array_add (recipe->overrides, rule);
}

VnRecipe *
diagnosis_make_recipe (void)
{
  VnRecipe *recipe = vn_recipe_new ("cpu");

  recipe->opset = 21;
  recipe->per_channel = diagnosis_made != VN_REASON_WEIGHT_SPREAD && diagnosis_made != VN_REASON_WEIGHT_OUTLIER &&
                        diagnosis_made != VN_REASON_SATURATION;
  recipe->float_mixed = FALSE;
  recipe->raise_weight_scales = diagnosis_made != VN_REASON_BIAS_OVERFLOW;
  if (diagnosis_made == VN_REASON_CLIPPING)
    add_rule (recipe, "{ \"tensors\": [ \"middle\" ], \"min\": [ \"0\" ], \"max\": [ \"0.3\" ] }");
  if (diagnosis_made == VN_REASON_FEW_LEVELS)
    add_rule (recipe, "{ \"tensors\": [ \"w2\" ], \"weight\": \"int4\" }");
  return recipe;
}

VnRun *
diagnosis_run (gboolean cures)
{
  g_autoptr(VnModel) model = diagnosis_make_model ();
  g_autofree char *folder = diagnosis_make_samples ();
  g_autoptr(VnDataSpec) data = vn_data_spec_new (diagnosis_made == VN_REASON_SAMPLES_UNLIKE ? "random" : folder);
  g_autoptr(VnRecipe) recipe = diagnosis_make_recipe ();
  VnCureSettings settings = { .quantize = { .model = model, .data = data, .recipe = recipe, .n_threads = 1, .origins = TRUE },
                              .seconds = 1000, .n_tensors = 2 };
  g_autoptr(VnJob) job = NULL;
  g_autoptr(GError) error = NULL;
  gboolean good;

  data->held_out = N_HELD_OUT;
  if (diagnosis_made == VN_REASON_SAMPLES_DIFFER || diagnosis_made == VN_REASON_FEW_SAMPLES)
    settings.quantize.n_calibration = 1;
  job = cures ? vn_cure_job_new (&settings) : vn_quantize_job_new (&settings.quantize);
  good = vn_job_run (job, NULL, &error);
  diagnosis_remove_samples (folder);
  g_assert_no_error (error);
  g_assert_true (good);
  return vn_run_ref (cures ? vn_cure_job_get_result (job) : vn_quantize_job_get_result (job));
}
