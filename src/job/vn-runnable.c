/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes a model ready for the engine (functions expanded, floats of 16 bits kept or converted, sizes known) and loads its
 * inputs. */
#include "vn-jobs.h"

#include "vn-graph-edit.h"
#include "vn-input-role.h"
#include "vn-language-model.h"
#include "vn-model-data.h"
#include "vn-model-metadata.h"
#include "vn-op.h"
#include "vn-pass.h"
#include "vn-sample-loop.h"

static gboolean
runnable_is_half (const VnValue *value)
{
  return value->type.kind == VN_TYPE_TENSOR && (value->type.dtype == VN_DTYPE_F16 || value->type.dtype == VN_DTYPE_BF16);
}

/* Whether something is computed in floats of 16 bits, or given in them. */
static gboolean
runnable_has_half (const VnModel *model)
{
  return vn_graph_computes_in (model->graph, VN_DTYPE_F16) || vn_graph_computes_in (model->graph, VN_DTYPE_BF16);
}

/**
 * vn_model_expand_functions:
 *
 * Returns: (transfer full) (nullable): @model itself if it has no functions, otherwise a copy whose nodes call none that
 *   the engine does not know, with inferred types
 */
VnModel *
vn_model_expand_functions (VnModel       *model,
                           GCancellable  *cancellable,
                           GError       **error)
{
  g_autoptr(VnModel) copy = NULL;
  VnPassContext ctx = { .cancellable = cancellable };

  g_return_val_if_fail (model != NULL, NULL);

  if (model->functions->len == 0)
    return vn_model_ref (model);
  copy = vn_model_copy (model);
  ctx.model = copy;
  if (!vn_pass_run ("functions", &ctx, error) || !vn_model_infer_types (copy, NULL, NULL, error))
    return NULL;
  return g_steal_pointer (&copy);
}

/**
 * vn_model_to_float:
 *
 * What errors are measured against: functions expanded, and what a network does in float16 or bfloat16 done in float32. Values
 * that are only cast to them and back stay rounded.
 *
 * Returns: (transfer full) (nullable): @model itself, or a converted copy
 */
VnModel *
vn_model_to_float (VnModel       *model,
                   GCancellable  *cancellable,
                   GError       **error)
{
  g_autoptr(VnModel) expanded = NULL;
  g_autoptr(VnModel) copy = NULL;
  VnPassContext ctx = { .cancellable = cancellable };

  g_return_val_if_fail (model != NULL, NULL);

  expanded = vn_model_expand_functions (model, cancellable, error);
  if (expanded == NULL || !runnable_has_half (expanded))
    return g_steal_pointer (&expanded);
  copy = vn_model_copy (expanded);
  ctx.model = copy;
  if ((vn_graph_computes_in (copy->graph, VN_DTYPE_F16) && !vn_pass_run ("fp16-to-fp32", &ctx, error)) ||
      !vn_pass_run ("bf16-to-fp32", &ctx, error) || !vn_model_infer_types (copy, NULL, NULL, error))
    return NULL;
  return g_steal_pointer (&copy);
}

static gboolean
runnable_is_half_input (const VnValue *value)
{
  return runnable_is_half (value) && value->initializer == NULL;
}

static gboolean
runnable_has_half_inputs (const VnModel *model)
{
  for (guint i = 0; i < model->graph->inputs->len; i++)
    if (runnable_is_half_input (g_ptr_array_index (model->graph->inputs, i)))
      return TRUE;
  return FALSE;
}

/* Samples are read as float32, by networks that are compared at once; what is made of them is rounded first. */
static void
runnable_round_inputs (VnGraph *graph)
{
  VnNode *first = vn_graph_get_n_nodes (graph) > 0 ? vn_graph_get_node (graph, 0) : NULL;

  for (guint i = 0; i < graph->inputs->len; i++)
    {
      VnValue *input = g_ptr_array_index (graph->inputs, i), *rounded;
      g_autofree char *name = NULL;
      VnDType dtype;

      if (!runnable_is_half_input (input))
        continue;
      dtype = input->type.dtype;
      name = g_strconcat (input->name, dtype == VN_DTYPE_F16 ? "_fp16" : "_bf16", NULL);
      rounded = vn_graph_add_value (graph, name, dtype, &input->type.shape);
      vn_value_replace_uses (input, rounded, NULL);
      input->type.dtype = VN_DTYPE_F32;
      g_clear_pointer (&input->type.encoded, g_bytes_unref);
      vn_node_set_int (vn_graph_insert_node (graph, first, NULL, "", "Cast", &input, 1, &rounded, 1), "to", dtype);
    }
}

/**
 * vn_model_to_runnable:
 *
 * As the engine can run it: functions expanded, inputs in float16 or bfloat16 given as float32 and rounded. What a network does
 * in them stays rounded, and infinite where they are; only a network with an operator that the engine has in float32 alone is
 * converted as by vn_model_to_float().
 *
 * Returns: (transfer full) (nullable): @model itself, or a converted copy
 */
VnModel *
vn_model_to_runnable (VnModel       *model,
                      GCancellable  *cancellable,
                      GError       **error)
{
  g_autoptr(VnModel) expanded = NULL;
  g_autoptr(VnModel) copy = NULL;

  g_return_val_if_fail (model != NULL, NULL);

  expanded = vn_model_expand_functions (model, cancellable, error);
  if (expanded == NULL || !runnable_has_half (expanded))
    return g_steal_pointer (&expanded);
  if (!vn_graph_takes_halves (expanded->graph))
    return vn_model_to_float (expanded, cancellable, error);
  if (!runnable_has_half_inputs (expanded))
    return g_steal_pointer (&expanded);
  copy = vn_model_copy (expanded);
  runnable_round_inputs (copy->graph);
  return vn_model_infer_types (copy, NULL, NULL, error) ? g_steal_pointer (&copy) : NULL;
}

static gboolean
runnable_is_known (const VnModel *model,
                   GHashTable    *shapes)
{
  for (guint i = 0; i < model->graph->inputs->len; i++)
    {
      const VnValue *value = g_ptr_array_index (model->graph->inputs, i);
      const VnShape *shape = shapes != NULL ? g_hash_table_lookup (shapes, value->name) : NULL;

      if (value->initializer == NULL && !vn_shape_is_static (shape != NULL ? shape : &value->type.shape))
        return FALSE;
    }
  return TRUE;
}

/* @given, and the sizes of pictures that the metadata of the file have. */
static GHashTable *
runnable_take_metadata (const VnModel *model,
                        GHashTable    *given)
{
  g_autoptr(VnModelMetadata) metadata = vn_model_metadata_read (model);
  g_autoptr(GHashTable) shapes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);

  for (guint i = 0; i < model->graph->inputs->len; i++)
    {
      const VnValue *value = g_ptr_array_index (model->graph->inputs, i);
      const VnShape *known = given != NULL ? g_hash_table_lookup (given, value->name) : NULL;
      VnShape shape = known != NULL ? *known : value->type.shape;

      if (vn_model_metadata_fill_size (metadata, &shape) || known != NULL)
        g_hash_table_insert (shapes, g_strdup (value->name), g_memdup2 (&shape, sizeof shape));
    }
  if (g_hash_table_size (shapes) == 0)
    return given != NULL ? g_hash_table_ref (given) : NULL;
  return g_steal_pointer (&shapes);
}

/**
 * vn_model_size_for_run:
 * @data: (nullable): the samples of the run; %NULL or random ones have no size, but for language models, whose tokens, masks and
 *   caches go together
 * @given: (nullable) (element-type utf8 VnShape): sizes the user gave
 * @shapes: (out) (transfer full) (nullable): what to plan with: @given, or if that leaves something open the sizes of
 *   the first sample, or those of the metadata
 * @notes: (nullable): told which sizes came from the sample
 */
gboolean
vn_model_size_for_run (VnModel     *model,
                       VnDataSpec  *data,
                       GHashTable  *given,
                       GHashTable **shapes,
                       VnNotes     *notes,
                       GError     **error)
{
  g_autoptr(VnDataSpec) random = NULL;
  g_autoptr(VnDataset) dataset = NULL;
  gboolean is_random;

  g_return_val_if_fail (model != NULL, FALSE);

  if (data != NULL)
    vn_data_spec_take_tokenizer (data, model);
  if (runnable_is_known (model, given))
    {
      *shapes = given != NULL ? g_hash_table_ref (given) : NULL;
      return TRUE;
    }
  is_random = data == NULL || vn_data_spec_is_random (data);
  if (is_random && !vn_model_is_language_model (model))
    {
      *shapes = runnable_take_metadata (model, given);
      return TRUE;
    }
  if (data == NULL)
    data = random = vn_data_spec_new (VN_DATA_RANDOM);
  dataset = vn_model_open_data (model, data, given, shapes, is_random ? NULL : notes, error);
  return dataset != NULL;
}

/* What was given by hand comes before the sample's. */
static gboolean
runnable_take_given (const VnInputSpec  *spec,
                     GHashTable         *given,
                     VnTensor          **tensor,
                     GError            **error)
{
  VnTensor *found = given != NULL ? g_hash_table_lookup (given, spec->name) : NULL;
  VnTensor *converted = found != NULL ? vn_tensor_convert (found, spec->dtype, error) : NULL;

  if (found == NULL)
    return TRUE;
  g_clear_pointer (tensor, vn_tensor_unref);
  *tensor = converted;
  return converted != NULL;
}

/**
 * vn_plan_load_sample:
 * @data: (nullable): its first sample; %NULL: random values
 * @given: (nullable): VnTensor by input name, taken instead; converted to the input's element type
 * @tensors: (out caller-allocates): one place for each input of @plan, %NULL on entry; some may be set on failure
 *
 * Inputs for one run.
 */
gboolean
vn_plan_load_sample (VnPlan      *plan,
                     VnDataSpec  *data,
                     GHashTable  *given,
                     VnTensor   **tensors,
                     GError     **error)
{
  guint n;
  g_autofree VnInputSpec *specs = NULL;
  g_autoptr(VnDataSpec) random = vn_data_spec_new (VN_DATA_RANDOM);
  g_autoptr(VnDataset) dataset = NULL;
  gboolean complete = TRUE;

  g_return_val_if_fail (plan != NULL, FALSE);

  n = vn_plan_get_n_inputs (plan);
  specs = g_new0 (VnInputSpec, MAX (n, 1));
  for (guint i = 0; i < n; i++)
    {
      const VnTensorType *type = vn_plan_get_input_type (plan, i);

      vn_input_spec_init (&specs[i], vn_plan_get_input (plan, i));
      specs[i].dtype = type->dtype;
      specs[i].shape = type->shape;
      specs[i].turned = vn_value_find_turned (vn_plan_get_input (plan, i));
      complete &= given != NULL && g_hash_table_contains (given, specs[i].name);
    }
  if (!complete && ((dataset = vn_dataset_open (data != NULL ? data : random, specs, n, NULL, error)) == NULL ||
                    !vn_sample_load (dataset, 0, tensors, error)))
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (!runnable_take_given (&specs[i], given, &tensors[i], error))
      return FALSE;
  return TRUE;
}
