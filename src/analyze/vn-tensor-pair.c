/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs two networks up to one tensor and gives it as floats from both; nothing else of the run is kept. */
#include "vn-tensor-pair.h"

#include "vn-compare.h"
#include "vn-error.h"
#include "vn-i18n.h"

typedef struct
{
  VnValue        *value;
  VnPlan         *plan;         /* NULL: an input: nothing has to be run */
  VnRunner       *runner;
  guint           input;        /* number of the input, if it is one */
  VnValueGrid     grid;
  gboolean        has_grid;
  const VnTensor *factors;      /* nullable: the network holds the tensor divided by these, along axis 1 */
} Side;

struct _VnTensorPair
{
  Side         sides[2];
  guint        n_inputs;
  VnQuantPlan *kept[2];         /* nullable: own the factors */
};

static VnPlan *
tensor_pair_make_plan (VnModel     *network,
                       VnValue     *value,
                       GHashTable  *input_shapes,
                       GError     **error)
{
  g_autoptr(GPtrArray) outputs = g_ptr_array_new ();
  VnPlanOptions options = vn_plan_options_for_samples (input_shapes);
  g_autoptr(VnPlan) plan = NULL;

  options.outputs = outputs;
  if (value->producer != NULL)
    g_ptr_array_add (outputs, value);
  plan = vn_plan_new (network, &options, NULL, error);
  if (plan == NULL)
    return NULL;
  if (value->producer == NULL || vn_plan_is_computed (plan, value))
    return g_steal_pointer (&plan);
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("“%s” depends on unsupported nodes"), value->name);
  return NULL;
}

static gboolean
tensor_pair_find_input (Side    *side,
                        GError **error)
{
  for (guint i = 0; i < vn_plan_get_n_inputs (side->plan); i++)
    if (vn_plan_get_input (side->plan, i) == side->value)
      {
        side->input = i;
        return TRUE;
      }
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("“%s” is a constant: choose the output of a node"), side->value->name);
  return FALSE;
}

static gboolean
tensor_pair_open_side (VnTensorPair          *self,
                       guint                  index,
                       const VnTensorSource  *source,
                       GHashTable            *input_shapes,
                       GError               **error)
{
  Side *side = &self->sides[index];
  const VnTensorPlan *row = source->plan != NULL && source->plan_value != NULL
                            ? vn_quant_plan_find (source->plan, source->plan_value) : NULL;

  side->value = g_hash_table_lookup (source->network->graph->by_name, source->value);
  if (side->value == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA, _("The model has no tensor “%s”"), source->value);
      return FALSE;
    }
  side->plan = tensor_pair_make_plan (source->network, side->value, input_shapes, error);
  if (side->plan == NULL || (side->value->producer == NULL && !tensor_pair_find_input (side, error)))
    return FALSE;
  side->has_grid = vn_value_find_grid (side->value, &side->grid);
  if (row != NULL && row->factors != NULL)
    {
      self->kept[index] = vn_quant_plan_ref (source->plan);
      side->factors = row->factors;
    }
  if (side->value->producer == NULL)
    return TRUE;
  side->runner = vn_runner_new (side->plan, error);
  return side->runner != NULL;
}

/**
 * vn_tensor_pair_new:
 * @sources: two activations
 * @input_shapes: (nullable): VnShape by name of an input
 *
 * Returns: (transfer full) (nullable): %NULL if one of the networks lacks the tensor or cannot compute it
 */
VnTensorPair *
vn_tensor_pair_new (const VnTensorSource  sources[2],
                    GHashTable           *input_shapes,
                    GError              **error)
{
  g_autoptr(VnTensorPair) self = g_new0 (VnTensorPair, 1);

  g_return_val_if_fail (sources != NULL && sources[0].network != NULL && sources[1].network != NULL, NULL);

  for (guint i = 0; i < 2; i++)
    if (!tensor_pair_open_side (self, i, &sources[i], input_shapes, error))
      return NULL;
  self->n_inputs = vn_plan_get_n_inputs (self->sides[0].plan);
  if (self->n_inputs == vn_plan_get_n_inputs (self->sides[1].plan))
    return g_steal_pointer (&self);
  g_set_error (error, VN_ERROR, VN_ERROR_SHAPE,
               ngettext ("The models have %u and %u input",
                         "The models have %u and %u inputs", vn_plan_get_n_inputs (self->sides[1].plan)), self->n_inputs,
               vn_plan_get_n_inputs (self->sides[1].plan));
  return NULL;
}

void
vn_tensor_pair_free (VnTensorPair *self)
{
  if (self == NULL)
    return;
  for (guint i = 0; i < 2; i++)
    {
      g_clear_pointer (&self->sides[i].runner, vn_runner_free);
      g_clear_pointer (&self->sides[i].plan, vn_plan_unref);
      g_clear_pointer (&self->kept[i], vn_quant_plan_unref);
    }
  g_free (self);
}

guint
vn_tensor_pair_get_n_inputs (VnTensorPair *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->n_inputs;
}

/**
 * vn_tensor_pair_get_grid:
 * @side: 0 or 1
 *
 * Returns: (transfer none) (nullable): what the tensor can be on that side; %NULL: any float, or not the same for all channels
 */
const VnValueGrid *
vn_tensor_pair_get_grid (VnTensorPair *self,
                         guint         side)
{
  g_return_val_if_fail (self != NULL && side < 2, NULL);

  return self->sides[side].has_grid ? &self->sides[side].grid : NULL;
}

static void
tensor_pair_multiply (VnTensor       *tensor,
                      const VnTensor *factors)
{
  gsize n = factors->n_elements, inner;

  if (tensor->shape.rank < 2 || tensor->shape.dims[1] != (gint64) n || tensor->n_elements == 0)
    return;
  inner = (gsize) vn_shape_count (&tensor->shape, 2, tensor->shape.rank);
  for (gsize i = 0; i < tensor->n_elements; i++)
    ((float *) tensor->data)[i] *= ((const float *) factors->data)[i / inner % n];
}

/* A copy as floats that nobody else has. */
static VnTensor *
tensor_pair_to_float (const Side  *side,
                      VnTensor    *tensor,
                      GError     **error)
{
  VnTensor *result;

  if (vn_tensor_is_container (tensor) || !(vn_dtype_is_float (tensor->dtype) || vn_dtype_is_integer (tensor->dtype) ||
                                           tensor->dtype == VN_DTYPE_BOOL))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("“%s” is not a numeric tensor"), side->value->name);
      return NULL;
    }
  result = vn_tensor_new (VN_DTYPE_F32, &tensor->shape, error);
  if (result == NULL)
    return NULL;
  for (gsize i = 0; i < result->n_elements; i++)
    {
      double value = vn_tensor_get_double (tensor, i);

      if (side->has_grid && side->grid.holds_integers && vn_dtype_is_integer (tensor->dtype))
        value = (value - (double) side->grid.zero_point) * side->grid.scale;
      ((float *) result->data)[i] = (float) value;
    }
  if (side->factors != NULL)
    tensor_pair_multiply (result, side->factors);
  return result;
}

static VnTensor *
tensor_pair_read_side (Side              *side,
                       VnTensor * const  *inputs,
                       GCancellable      *cancellable,
                       GError           **error)
{
  VnTensor *output = NULL;
  g_autoptr(VnTensor) owned = NULL;

  if (side->runner == NULL)
    return tensor_pair_to_float (side, inputs[side->input], error);
  if (!vn_runner_run (side->runner, inputs, &output, cancellable, error))
    return NULL;
  owned = output;
  return tensor_pair_to_float (side, owned, error);
}

/**
 * vn_tensor_pair_read:
 * @inputs: a sample, vn_tensor_pair_get_n_inputs() tensors
 * @tensors: (out caller-allocates): the tensor of both networks, float32, with as many elements
 *
 * Runs both networks as far as the tensor.
 *
 * Returns: %FALSE if a run failed, or the tensors have not as many elements; then @tensors are %NULL
 */
gboolean
vn_tensor_pair_read (VnTensorPair      *self,
                     VnTensor * const  *inputs,
                     VnTensor          *tensors[2],
                     GCancellable      *cancellable,
                     GError           **error)
{
  g_return_val_if_fail (self != NULL && tensors != NULL, FALSE);

  tensors[0] = tensor_pair_read_side (&self->sides[0], inputs, cancellable, error);
  tensors[1] = tensors[0] != NULL ? tensor_pair_read_side (&self->sides[1], inputs, cancellable, error) : NULL;
  if (tensors[1] != NULL && tensors[0]->n_elements == tensors[1]->n_elements)
    return TRUE;
  if (tensors[1] != NULL)
    g_set_error (error, VN_ERROR, VN_ERROR_SHAPE, _("“%s” has %zu elements in one model and %zu in the other"),
                 self->sides[0].value->name,
                 tensors[0]->n_elements, tensors[1]->n_elements);
  vn_tensor_clear_all (tensors, 2);
  return FALSE;
}

/**
 * vn_tensor_source_read_weight:
 * @grid: (out caller-allocates) (nullable): @grid->scale is 0 if the weight is float or has several scales
 *
 * Returns: (transfer full) (nullable): what @self->network holds for the constant, as floats
 */
VnTensor *
vn_tensor_source_read_weight (const VnTensorSource  *self,
                              VnValueGrid           *grid,
                              GError               **error)
{
  const VnModel *reference;
  VnTensor *tensor;

  g_return_val_if_fail (self != NULL && self->network != NULL && self->value != NULL, NULL);

  reference = self->reference != NULL ? self->reference : self->network;
  tensor = vn_compare_read_weight (reference, self->network, self->value, grid);
  if (tensor == NULL)
    g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA, _("The model has no weight “%s”"), self->value);
  return tensor;
}
