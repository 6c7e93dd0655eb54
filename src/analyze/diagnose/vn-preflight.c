/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What can be said of a network and a recipe before any sample is run: what weights tell, and what stands beside what. */
#include "vn-preflight.h"

#include "diagnose-culprit.h"
#include "vn-diagnose.h"

#include "vn-format-traits.h"
#include "vn-i18n.h"
#include "vn-noise-gain.h"
#include "vn-op.h"
#include "vn-thresholds.h"

#include <math.h>
#include <string.h>

/* So many types are named in a sentence. */
#define MAX_TYPES 6u

/* What helps, as the table says it. */
static char *
preflight_list_cures (VnReason reason)
{
  g_autoptr(GArray) cures = vn_reason_list_cures (reason);
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < cures->len; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? "; " : "", vn_cure_get_title (g_array_index (cures, VnCure, i)));
  return g_string_free (text, FALSE);
}

static void
preflight_report (VnNotes    *notes,
                  VnReason    reason,
                  const char *subject,
                  const char *text)
{
  g_autofree char *cures = preflight_list_cures (reason);

  vn_notes_add_remedy (notes, VN_NOTE_WARNING, vn_reason_get_id (reason), subject, cures, "%.*s",
                       (int) (strlen (text) - (g_str_has_suffix (text, ".") ? 1 : 0)), text);
}

/* ---- weights ---- */

/* As if weights alone were quantized: their scales do not depend on samples. */
static VnRun *
preflight_resolve (const VnModel   *prepared,
                   const VnRecipe  *recipe,
                   GError         **error)
{
  g_autoptr(VnRun) result = vn_run_new ();

  result->recipe = vn_recipe_copy (recipe);
  result->recipe->format = vn_format_find (VN_FORMAT_TRAIT (weights_only));
  result->prepared = vn_model_ref ((VnModel *) prepared);
  result->stats = vn_stats_new_empty ();
  result->plan = vn_quantize_resolve (prepared, result->recipe, result->stats, NULL, error);
  return result->plan != NULL ? g_steal_pointer (&result) : NULL;
}

static gboolean
preflight_check_weights (const VnModel   *prepared,
                         const VnRecipe  *recipe,
                         VnNotes         *notes,
                         GError         **error)
{
  g_autoptr(VnRun) result = preflight_resolve (prepared, recipe, error);

  for (guint i = 0; result != NULL && i < vn_quant_plan_get_n (result->plan); i++)
    {
      const VnTensorPlan *plan = vn_quant_plan_get (result->plan, i);
      VnReason reason;
      g_autofree char *text = plan->role == VN_TENSOR_WEIGHT ? vn_diagnose_tensor (result, plan->name, &reason) : NULL;

      if (text != NULL)
        preflight_report (notes, reason, plan->name, text);
    }
  return result != NULL;
}

static void
preflight_check_depthwise (const VnGraph  *graph,
                           const VnRecipe *recipe,
                           VnNotes        *notes)
{
  guint n = 0;

  for (guint i = 0; i < graph->nodes->len && !vn_recipe_has_channels (recipe); i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);
      const VnValue *weight = vn_node_is (node, "Conv") ? vn_node_get_input (node, 1) : NULL;
      gint64 group = vn_node_get_int (node, "group", 1);
      VnTensor *constant = weight != NULL ? vn_value_get_constant (weight) : NULL;

      n += constant != NULL && constant->shape.rank >= 3 && group > 1 && constant->shape.dims[1] == 1;
    }
  if (n > 0)
    vn_notes_add_remedy (notes, VN_NOTE_WARNING, "depthwise-one-scale", NULL, vn_cure_get_title (VN_CURE_PER_CHANNEL),
                         ngettext ("%u depthwise convolution has one scale for all channels of its weight, although "
                                   "they are independent",
                                   "%u depthwise convolutions have one scale for all channels of their weights, "
                                   "although these are independent", n), n);
}

/* ---- nodes ---- */

/* x * gate (x): Swish, HardSwish and their like, of which nothing makes one operator. */
static gboolean
preflight_is_gate (const VnNode *product)
{
  for (guint i = 0; i < 2; i++)
    {
      const VnValue *gate = vn_node_get_input (product, i), *other = vn_node_get_input (product, 1 - i);
      const VnNode *node = gate != NULL ? gate->producer : NULL;

      for (guint depth = 0; node != NULL && depth < 4; depth++)
        {
          const VnValue *from = vn_node_get_input (node, 0);

          if (from != NULL && from == other)
            return from->producer != NULL && vn_node_is (from->producer, "Conv");
          if (!vn_node_is (node, "Sigmoid") && !vn_node_is (node, "HardSigmoid") && !vn_node_is (node, "Clip") &&
              !vn_node_is (node, "Div") &&
              !vn_node_is (node, "Mul") && !vn_node_is (node, "Add") && !vn_node_is (node, "Tanh") &&
              !vn_node_is (node, "Softplus"))
            break;
          node = from != NULL ? from->producer : NULL;
        }
    }
  return FALSE;
}

static void
preflight_check_gates (const VnGraph *graph,
                       VnNotes       *notes)
{
  guint n = 0;

  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);

      n += vn_node_is (node, "Mul") && preflight_is_gate (node);
    }
  if (n > 0)
    vn_notes_add_remedy (notes, VN_NOTE_INFO, "unfused-activations", NULL, _("Try leaving the tensors in between in "
                                                                             "float, with “float-output-types” Conv"),
                         ngettext ("%u convolution is followed by an activation function made of several nodes, each "
                                   "of which adds rounding error",
                                   "%u convolutions are followed by activation functions made of several nodes, each "
                                   "of which adds rounding error", n), n);
}

static void
preflight_check_float (const VnGraph  *graph,
                       const VnRecipe *recipe,
                       VnNotes        *notes)
{
  g_autoptr(GPtrArray) types = g_ptr_array_new ();
  GString *names;
  guint n = 0;

  for (guint i = 0; i < graph->nodes->len && recipe->op_types == NULL; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);
      const VnOp *op = vn_op_lookup_node (node, NULL);
      const VnValue *out = vn_node_get_output (node, 0);

      if (out == NULL || out->type.kind != VN_TYPE_TENSOR || out->type.dtype != VN_DTYPE_F32 || vn_value_is_constant (out) ||
          (op != NULL && op->quant.in_ort_default))
        continue;
      n++;
      if (!g_ptr_array_find_with_equal_func (types, node->op_type, g_str_equal, NULL))
        g_ptr_array_add (types, node->op_type);
    }
  if (n == 0)
    return;
  names = g_string_new (NULL);
  for (guint i = 0; i < MIN (types->len, MAX_TYPES); i++)
    g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", (const char *) types->pdata[i]);
  g_string_append (names, types->len > MAX_TYPES ? " …" : "");
  vn_notes_add_remedy (notes, VN_NOTE_INFO, "stays-float", NULL, _("Add them to “op-types” if the target runs them on "
                                                                   "integers"),
                       ngettext ("%u node stays in float: %s", "%u nodes stay in float: %s", n), n, names->str);
  g_string_free (names, TRUE);
}

/* ---- outputs ---- */

static gboolean
preflight_is_between_0_and_1 (const VnValue *value)
{
  const VnNode *node = value != NULL ? value->producer : NULL;

  return node != NULL && (vn_node_is (node, "Sigmoid") || vn_node_is (node, "HardSigmoid") || vn_node_is (node, "Softmax"));
}

/* Probabilities beside numbers of any size. */
static void
preflight_check_outputs (const VnGraph *graph,
                         VnNotes       *notes)
{
  for (guint i = 0; i < graph->outputs->len; i++)
    {
      const VnValue *output = g_ptr_array_index (graph->outputs, i);
      const VnNode *join = _vn_culprit_find_join (output);
      guint n = 0;

      if (join == NULL || !vn_node_is (join, "Concat"))
        continue;
      for (guint k = 0; k < join->inputs->len; k++)
        n += preflight_is_between_0_and_1 (vn_node_get_input (join, k));
      if (n > 0 && n < join->inputs->len)
        preflight_report (notes, VN_REASON_MIXED_OUTPUT, output->name, _("This output mixes probabilities with other "
                                                                         "values under a single scale"));
    }
}

/* ---- all of it ---- */

static void
preflight_check_noise_gain (const VnModel *prepared,
                            VnNotes       *notes,
                            double        *gain_db)
{
  double gain = NAN;
  g_autofree char *text = NULL;

  if (!vn_noise_gain_measure (prepared, NULL, &gain, NULL, NULL))
    gain = NAN;
  text = vn_noise_gain_dup_text (gain);
  if (text != NULL)
    preflight_report (notes, VN_REASON_NOISE_GAIN, NULL, text);
  if (gain_db != NULL)
    *gain_db = gain;
}

/**
 * vn_preflight:
 * @prepared: the float network that is quantized; its types are known
 * @recipe: how
 * @n_samples: to calibrate on; 0: that is not known yet
 * @notes: receives what may go wrong, with what helps; codes of reasons are those of vn-reasons.def
 * @gain_db: (out) (optional): vn_noise_gain_measure() on random samples; NaN: the network does not run on such
 *
 * Says what can be said before calibration. Suspicions about samples are those of vn_data_check().
 *
 * Returns: %FALSE with an error if the recipe cannot be applied
 */
gboolean
vn_preflight (const VnModel   *prepared,
              const VnRecipe  *recipe,
              guint            n_samples,
              VnNotes         *notes,
              double          *gain_db,
              GError         **error)
{
  g_return_val_if_fail (prepared != NULL && recipe != NULL && notes != NULL, FALSE);

  if (!preflight_check_weights (prepared, recipe, notes, error) || !vn_quantize_find_masks (prepared, recipe, notes, error))
    return FALSE;
  preflight_check_depthwise (prepared->graph, recipe, notes);
  preflight_check_gates (prepared->graph, notes);
  preflight_check_float (prepared->graph, recipe, notes);
  preflight_check_outputs (prepared->graph, notes);
  preflight_check_noise_gain (prepared, notes, gain_db);
  if (n_samples > 0 && n_samples < VN_DATA_FEW && vn_recipe_uses_samples (recipe))
    {
      g_autofree char *text = g_strdup_printf (ngettext ("Ranges will be based on only %u sample",
                                                         "Ranges will be based on only %u samples", n_samples),
                                               n_samples);

      preflight_report (notes, VN_REASON_FEW_SAMPLES, NULL, text);
    }
  return TRUE;
}
