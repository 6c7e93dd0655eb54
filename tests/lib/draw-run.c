/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "draw-run.h"

#include "draw-recipe.h"
#include "mixed-models.h"

#include <math.h>
#include <string.h>

/* Whatever a double can be, not-a-number of one kind alone. */
static double
draw_number (GRand *rand)
{
  static const double odd[] = { 0, -0.0, INFINITY, -INFINITY, NAN, 1e40, -1e-40, 5e-324, 0x1.fffffffffffffp1023, 0.1, 1, 1e21 };
  guint64 bits = (guint64) g_rand_int (rand) << 32 | g_rand_int (rand);
  double number;

  if (g_rand_boolean (rand))
    return odd[g_rand_int_range (rand, 0, G_N_ELEMENTS (odd))];
  memcpy (&number, &bits, sizeof number);
  return isnan (number) ? NAN : number;
}

static char *
draw_text (GRand *rand)
{
  static const char * const parts[] = { "conv1", "/block.3/add_output_0", "\"", "\\", "\n", "\t", "Ü→日本", "\x01", "\x7f", "",
                                        " 1e+4.0",
                                        "\U0001f600", "</script>" };
  g_autoptr(GString) text = g_string_new (NULL);
  int n = g_rand_int_range (rand, 0, 5);

  for (int i = 0; i < n; i++)
    g_string_append (text, parts[g_rand_int_range (rand, 0, G_N_ELEMENTS (parts))]);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static char *
draw_text_or_null (GRand *rand)
{
  return g_rand_boolean (rand) ? draw_text (rand) : NULL;
}

static VnErrorRow *
draw_row (GRand *rand,
          guint  i)
{
  VnErrorRow *row = vn_error_row_new ();
  g_autofree char *text = draw_text (rand);

  row->value = g_strdup_printf ("%s%u", text, i);
  row->node = draw_text (rand);
  row->op_type = draw_text (rand);
  row->is_output = g_rand_boolean (rand);
  row->is_last = g_rand_boolean (rand);
  row->n = (guint64) g_rand_int (rand) << g_rand_int_range (rand, 0, 31);
  for (guint k = 0; k < VN_N_METRICS; k++)
    G_STRUCT_MEMBER (double, row, vn_metric_get_info (k)->offset) = draw_number (rand);
  row->has_local = g_rand_boolean (rand);
  row->local_db = row->has_local ? draw_number (rand) : 0;
  row->float_min = draw_number (rand);
  row->float_max = draw_number (rand);
  row->quant_min = draw_number (rand);
  row->quant_max = draw_number (rand);
  row->n_bad = g_rand_boolean (rand) ? g_rand_int (rand) : 0;
  row->n_bad_float = g_rand_boolean (rand) ? g_rand_int (rand) : 0;
  return row;
}

static void
draw_body (GRand        *rand,
           VnErrorTable *errors)
{
  VnBodyErrors *body = vn_body_errors_new ("Loop \"1\":body/", vn_error_table_get_n_samples (errors));
  int n = g_rand_int_range (rand, 0, 4);

  body->n_float = g_rand_int (rand);
  body->n_quant = g_rand_int (rand);
  body->n_both = g_rand_int_range (rand, 0, 3);
  body->n_compared = g_rand_int_range (rand, 0, 2);
  for (int i = 0; i < n; i++)
    vn_error_table_add (body->errors, draw_row (rand, (guint) i));
  vn_error_table_take_body (errors, body);
}

static void
draw_errors (GRand *rand,
             VnRun *self)
{
  int n = g_rand_int_range (rand, 0, 9), n_weights = g_rand_int_range (rand, 0, 4);

  self->errors = vn_error_table_new (g_rand_int (rand));
  for (int i = 0; i < n; i++)
    vn_error_table_add (self->errors, draw_row (rand, (guint) i));
  for (int i = 0; i < n_weights; i++)
    vn_error_table_add_weight (self->errors, draw_row (rand, (guint) i));
  if (n_weights > 1)
    draw_body (rand, self->errors);
}

static void
draw_contributions (GRand *rand,
                    VnRun *self)
{
  int n = g_rand_int_range (rand, 0, 7);

  self->contributions = vn_contributions_new_empty ();
  for (int i = 0; i < n; i++)
    {
      VnContribution item = { .name = draw_text (rand), .node = draw_text (rand), .value = draw_text_or_null (rand),
                              .role = (VnTensorRole) g_rand_int_range (rand, 0, 3), .local_db = draw_number (rand),
                              .alone_db = draw_number (rand), .share = draw_number (rand), .share_error = draw_number (rand),
                              .n_samples = g_rand_int (rand) };

      vn_contributions_add (self->contributions, &item);
    }
}

static void
draw_verification (GRand *rand,
                   VnRun *self)
{
  int n = g_rand_int_range (rand, 0, 4);

  self->verification = vn_verification_new ();
  self->verification->version = draw_text_or_null (rand);
  self->verification->refusal = draw_text_or_null (rand);
  self->verification->n_samples = g_rand_int (rand);
  self->verification->load_seconds = draw_number (rand);
  self->verification->seconds = draw_number (rand);
  self->verification->float_seconds = draw_number (rand);
  self->verification->integer_share = draw_number (rand);
  self->verification->saturates = g_rand_boolean (rand);
  if (self->verification->saturates)
    {
      self->verification->exact_agrees = g_rand_boolean (rand);
      self->verification->exact_db = draw_number (rand);
    }
  for (int i = 0; i < n; i++)
    {
      g_autofree char *name = draw_text (rand);
      g_autofree char *slices = draw_text (rand);
      VnErrorPart part = { .axis = (guint) g_rand_int_range (rand, 0, VN_MAX_RANK), .slices = slices, .n = g_rand_int (rand),
                           .size = draw_number (rand),
                           .sqnr_db = draw_number (rand), .noise_to_signal = draw_number (rand), .cosine = draw_number (rand),
                           .is_dead = g_rand_boolean (rand) };
      const VnVerifiedOutput output = { name, g_rand_boolean (rand) ? &part : NULL, draw_number (rand), draw_number (rand),
                                        draw_number (rand),
                                        draw_number (rand) };

      vn_verification_add (self->verification, &output);
    }
}

static void
draw_answers (GRand *rand,
              VnRun *self)
{
  self->answers = vn_sample_answers_new ();
  for (guint n = (guint) g_rand_int_range (rand, 0, 6); n > 0; n--)
    {
      const guint task = (guint) g_rand_int_range (rand, 1, VN_N_TASKS);
      const guint64 all = (guint64) g_rand_int_range (rand, 0, 50);
      const VnKept kept = { (VnTask) task, 1, all, (guint64) g_rand_int_range (rand, 0, (gint32) all + 1),
                            (guint64) g_rand_int (rand), draw_number (rand), draw_number (rand) };
      VnSampleAnswer *answer = vn_sample_answer_new (g_rand_int (rand), &kept);

      answer->name = draw_text_or_null (rand);
      g_ptr_array_add (self->answers, answer);
    }
}

static void
draw_nodes (GRand *rand,
            VnRun *self)
{
  int n = g_rand_int_range (rand, 0, 6);

  for (int i = 0; i < n; i++)
    {
      VnRunNode *node = g_new0 (VnRunNode, 1);

      node->label = draw_text (rand);
      node->op_type = draw_text (rand);
      node->source = draw_text_or_null (rand);
      node->prepared = draw_text_or_null (rand);
      node->rounded = draw_text_or_null (rand);
      g_ptr_array_add (self->nodes, node);
      g_hash_table_replace (self->value_names, draw_text (rand), draw_text (rand));
    }
}

static void
draw_notes (GRand *rand,
            VnRun *self)
{
  int n = g_rand_int_range (rand, 0, 5);

  self->notes = vn_notes_new ();
  for (int i = 0; i < n; i++)
    {
      g_autofree char *code = draw_text (rand), *subject = draw_text_or_null (rand), *remedy = draw_text_or_null (rand);
      g_autofree char *text = draw_text (rand);

      vn_notes_add_remedy (self->notes, (VnNoteLevel) g_rand_int_range (rand, 0, VN_N_NOTE_LEVELS), code, subject, remedy, "%s",
                           text);
    }
}

static void
draw_run_settings (GRand         *rand,
                   VnRunSettings *self)
{
  self->n_calibration = g_rand_int (rand);
  self->skip_compare = g_rand_boolean (rand);
  self->stats = g_rand_boolean (rand) ? g_strsplit ("/nowhere/a.stats,/run/b.stats", ",", -1) : NULL;
  if (g_rand_boolean (rand))
    return;
  self->shapes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_hash_table_replace (self->shapes, draw_text (rand), g_memdup2 (&VN_SHAPE (1, VN_DIM_UNKNOWN, 224), sizeof (VnShape)));
  g_hash_table_replace (self->shapes, draw_text (rand), g_memdup2 (&VN_SHAPE (G_MAXINT64), sizeof (VnShape)));
}

static VnDataSpec *
draw_data (GRand *rand)
{
  VnDataSpec *data = vn_data_spec_new ("/run/pictures");

  data->max_samples = (guint) g_rand_int_range (rand, 0, 1000);
  data->seed = (guint64) g_rand_int (rand) << 21;
  data->preprocess.mean[0] = (float) g_rand_double (rand);
  data->script = g_rand_boolean (rand) ? g_strdup ("/run/prepare.py:load") : NULL;
  return data;
}

static VnRecipe *
draw_recipe (GRand *rand)
{
  g_autoptr(VnModel) model = mixed_model_pictures ();
  guint n, n_presets;
  const VnSetting *settings = vn_setting_list_of_recipe (&n);
  const VnPreset * const *presets = vn_preset_list (&n_presets);

  for (guint i = 0; i < 20; i++)
    {
      g_autoptr(VnRecipe) recipe = vn_recipe_new (presets[g_rand_int_range (rand, 0, (gint32) n_presets)]->id);

      draw_settings (rand, model, settings, n, recipe, 0.2);
      vn_recipe_add_exclude (recipe, "type:Softmax");
      if (vn_recipe_validate (recipe, NULL))
        return g_steal_pointer (&recipe);
    }
  return vn_recipe_new (NULL);
}

/**
 * draw_run:
 *
 * Returns: (transfer full): a record that no run ever gave
 */
VnRun *
draw_run (GRand *rand)
{
  VnRun *self = vn_run_new ();

  self->nodes = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_run_node_free);
  self->value_names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self->program = draw_text (rand);
  self->time = g_rand_int_range (rand, -2000000000, 2000000000);
  self->path = g_rand_boolean (rand) ? g_strdup ("/run/net.onnx") : NULL;
  self->n_nodes = g_rand_int (rand);
  self->opset = g_rand_int_range (rand, 0, 30);
  self->source_digest = draw_text_or_null (rand);
  self->prepared_digest = draw_text_or_null (rand);
  self->samples_digest = draw_text_or_null (rand);
  self->recipe = draw_recipe (rand);
  self->recipe_digest = vn_recipe_dup_digest (self->recipe);
  self->data = g_rand_boolean (rand) ? draw_data (rand) : NULL;
  draw_run_settings (rand, &self->settings);
  if (g_rand_boolean (rand))
    draw_errors (rand, self);
  if (g_rand_boolean (rand))
    draw_contributions (rand, self);
  draw_notes (rand, self);
  draw_nodes (rand, self);
  if (g_rand_boolean (rand))
    self->accuracy = (VnAccuracy) { .n = 100, .float_top1 = 90, .quant_top1 = 88, .agree = 95, .valid = TRUE };
  if (g_rand_boolean (rand))
    draw_verification (rand, self);
  self->float_bytes = G_MAXINT64 - g_rand_int (rand);
  self->quantized_bytes = g_rand_int (rand);
  self->n_calibration = g_rand_int (rand);
  self->n_held_out = g_rand_int (rand);
  self->n_quantized = g_rand_int (rand);
  vn_run_set_seconds (self, draw_number (rand));
  if (g_rand_boolean (rand))
    draw_answers (rand, self);
  return self;
}
