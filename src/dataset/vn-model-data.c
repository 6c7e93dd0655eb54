/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Samples opened for a model: what its inputs need, and sizes that it leaves open. */

#include "vn-model-data.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-op.h"

#include <string.h>

/* So many samples are tried before sizes are given up on. */
#define MAX_TRIES 16

/* Conversions that stand in front of a Transpose of an input, at most. */
#define MAX_BEFORE 4

/* Networks that halve pictures several times take multiples of this. */
#define USUAL_MULTIPLE 32

static void
model_data_fill_unknown_dims (VnShape       *shape,
                              const VnShape *given)
{
  if (given != NULL && given->rank == shape->rank)
    for (int i = 0; i < shape->rank; i++)
      if (shape->dims[i] < 0)
        shape->dims[i] = given->dims[i];
}

/**
 * vn_value_find_turned:
 * @input: of a network
 *
 * Looks whether it has the channels last, and is transposed before anything is computed from it.
 *
 * Returns: whether its samples may be as what is computed with
 */
VnTurned
vn_value_find_turned (const VnValue *input)
{
  static const gint64 to_first[] = { 0, 3, 1, 2 };
  const VnValue *value = input;

  g_return_val_if_fail (input != NULL, VN_TURNED_NEVER);

  for (guint i = 0; i < MAX_BEFORE && input->type.shape.rank == 4 && value != NULL && value->uses->len == 1; i++)
    {
      const VnNode *node = g_array_index (value->uses, VnUse, 0).node;
      gsize n = 0;
      const gint64 *perm = vn_node_is (node, "Transpose") ? vn_node_get_ints (node, "perm", &n) : NULL;

      if (perm != NULL)
        return n == G_N_ELEMENTS (to_first) && memcmp (perm, to_first, sizeof to_first) == 0
               ? VN_TURNED_IF_NEEDED : VN_TURNED_NEVER;
      if (!vn_node_is (node, "QuantizeLinear") && !vn_node_is (node, "DequantizeLinear") && !vn_node_is (node, "Cast"))
        return VN_TURNED_NEVER;
      value = vn_node_get_output (node, 0);
    }
  return VN_TURNED_NEVER;
}

/**
 * vn_model_dup_input_specs:
 * @input_shapes: (nullable): by name, VnShape*: sizes for dims the model leaves open
 * @n: (out)
 *
 * Returns: (transfer full) (array length=n): the inputs a sample has to fill: graph inputs without an initializer
 */
VnInputSpec *
vn_model_dup_input_specs (const VnModel *model,
                          GHashTable    *input_shapes,
                          guint         *n)
{
  VnInputSpec *specs;

  g_return_val_if_fail (model != NULL, NULL);

  specs = g_new0 (VnInputSpec, model->graph->inputs->len + 1);
  *n = 0;
  for (guint i = 0; i < model->graph->inputs->len; i++)
    {
      const VnValue *value = g_ptr_array_index (model->graph->inputs, i);
      VnInputSpec *spec = &specs[*n];

      if (value->initializer != NULL)
        continue;
      spec->name = g_strdup (value->name);
      spec->dtype = value->type.dtype;
      spec->shape = value->type.shape;
      spec->limit = vn_value_find_index_limit (value);
      spec->turned = vn_value_find_turned (value);
      model_data_fill_unknown_dims (&spec->shape, input_shapes != NULL ? g_hash_table_lookup (input_shapes, value->name) : NULL);
      (*n)++;
    }
  return specs;
}

void
vn_input_specs_free (VnInputSpec *specs,
                     guint        n)
{
  for (guint i = 0; i < n; i++)
    g_free (specs[i].name);
  g_free (specs);
}

static gboolean
model_data_has_open_size (const VnInputSpec *specs,
                          guint              n)
{
  for (guint i = 0; i < n; i++)
    if (!vn_shape_is_static (&specs[i].shape))
      return TRUE;
  return FALSE;
}

/* The first sample that can be read; %FALSE: none. */
static gboolean
model_data_load_first (VnDataset  *dataset,
                       VnTensor  **tensors)
{
  for (guint i = 0; i < MIN (vn_dataset_get_n (dataset), MAX_TRIES); i++)
    if (vn_dataset_load (dataset, i, tensors, NULL))
      return TRUE;
  return FALSE;
}

/* Gives open inputs the sizes of @tensors, in @specs and in the table that is returned. */
static GHashTable *
model_data_take_sizes (VnInputSpec  *specs,
                       guint         n,
                       VnTensor    **tensors,
                       VnNotes      *notes)
{
  GHashTable *shapes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);

  for (guint i = 0; i < n; i++)
    {
      if (!vn_shape_is_static (&specs[i].shape))
        {
          g_autofree char *text = vn_shape_to_string (&tensors[i]->shape, "×");

          if (notes != NULL)
            vn_notes_add (notes, VN_NOTE_INFO, "size-from-sample", specs[i].name,
                          _("The input size is dynamic: %s is used, from the first sample"), text);
          specs[i].shape = tensors[i]->shape;
        }
      g_hash_table_insert (shapes, g_strdup (specs[i].name), g_memdup2 (&specs[i].shape, sizeof (VnShape)));
    }
  return shapes;
}

static gboolean
model_data_can_take (const VnModel  *model,
                     GHashTable     *shapes,
                     GError        **error)
{
  g_autoptr(VnModel) copy = vn_model_copy (model);

  return vn_model_infer_types (copy, shapes, NULL, error);
}

static void
model_data_round_sizes (const VnModel *model,
                        GHashTable    *shapes)
{
  for (guint i = 0; i < model->graph->inputs->len; i++)
    {
      const VnValue *value = g_ptr_array_index (model->graph->inputs, i);
      VnShape *shape = g_hash_table_lookup (shapes, value->name);

      for (int d = 0; shape != NULL && value->type.shape.rank == shape->rank && d < shape->rank; d++)
        if (value->type.shape.dims[d] < 0 && shape->dims[d] > USUAL_MULTIPLE)
          shape->dims[d] -= shape->dims[d] % USUAL_MULTIPLE;
    }
}

/* All pictures as large as the first one, or a little smaller if the network cannot take that. */
static VnDataset *
model_data_open_pictures (const VnModel     *model,
                          const VnDataSpec  *data,
                          GHashTable        *shapes,
                          VnNotes           *notes,
                          GError           **error)
{
  g_autoptr(GError) reason = NULL;
  VnInputSpec *specs;
  VnDataset *dataset;
  guint n;

  if (!model_data_can_take (model, shapes, &reason))
    {
      model_data_round_sizes (model, shapes);
      if (!model_data_can_take (model, shapes, NULL))
        {
          g_set_error (error, VN_ERROR, VN_ERROR_SHAPE,
                       _("The image size is dynamic, but the model does not support that of the first image: %s; "
                         "specify a supported size"), reason->message);
          return NULL;
        }
      if (notes != NULL)
        vn_notes_add (notes, VN_NOTE_INFO, "size-rounded", NULL,
                      _("The model does not support images of that size: they are scaled down to multiples of %d"),
                      USUAL_MULTIPLE);
    }
  specs = vn_model_dup_input_specs (model, shapes, &n);
  dataset = vn_dataset_open (data, specs, n, NULL, error);
  vn_input_specs_free (specs, n);
  return dataset;
}

static VnDataset *
model_data_open_sized (const VnModel     *model,
                       const VnDataSpec  *data,
                       VnInputSpec       *specs,
                       guint              n,
                       GHashTable       **shapes,
                       VnNotes           *notes,
                       GError           **error)
{
  g_autoptr(VnDataset) dataset = vn_dataset_open (data, specs, n, notes, error);
  g_autofree VnTensor **tensors = g_new0 (VnTensor *, n + 1);

  if (dataset == NULL || !model_data_has_open_size (specs, n) || !model_data_load_first (dataset, tensors))
    return g_steal_pointer (&dataset);
  g_clear_pointer (shapes, g_hash_table_unref);
  *shapes = model_data_take_sizes (specs, n, tensors, notes);
  for (guint i = 0; i < n; i++)
    g_clear_pointer (&tensors[i], vn_tensor_unref);
  return vn_dataset_is_image (dataset) ? model_data_open_pictures (model, data, *shapes, notes, error)
         : g_steal_pointer (&dataset);
}

/* What is said of pictures, of samples that are none. */
static void
model_data_note_idle (VnDataset         *dataset,
                      const VnDataSpec  *data,
                      VnNotes           *notes)
{
  VnPreprocess plain;

  vn_preprocess_init (&plain);
  if (notes != NULL && !vn_dataset_is_image (dataset) && !vn_data_spec_is_random (data) && !vn_data_spec_has_script (data) &&
      !vn_preprocess_equal (&data->preprocess, &plain))
    vn_notes_add (notes, VN_NOTE_WARNING, "preprocess-without-effect", "preprocess",
                  _("has no effect here: the samples are not images and are read unchanged"));
}

/**
 * vn_model_open_data:
 * @given: (nullable): by input name, VnShape*: sizes the user gave; dims may be %VN_DIM_UNKNOWN
 * @shapes: (out) (transfer full) (nullable): what to plan with: @given, or if it leaves something open the sizes of the
 *   first sample
 * @notes: (nullable): told which sizes came from the sample
 *
 * Opens the samples of a model. Where it leaves the size of a picture open, all pictures get the size of the first one,
 * rounded down to multiples of 32 if the network cannot take that; tensors keep the sizes they have, and a plan for the first one
 * adapts to the others (vn_runner_run()).
 *
 * Returns: (transfer full) (nullable): the samples
 */
VnDataset *
vn_model_open_data (const VnModel     *model,
                    const VnDataSpec  *data,
                    GHashTable        *given,
                    GHashTable       **shapes,
                    VnNotes           *notes,
                    GError           **error)
{
  guint n;
  VnInputSpec *specs;
  VnDataset *dataset;

  g_return_val_if_fail (model != NULL, NULL);

  specs = vn_model_dup_input_specs (model, given, &n);
  *shapes = given != NULL ? g_hash_table_ref (given) : NULL;
  dataset = model_data_open_sized (model, data, specs, n, shapes, notes, error);
  vn_input_specs_free (specs, n);
  if (dataset == NULL)
    g_clear_pointer (shapes, g_hash_table_unref);
  else if (model->graph->inputs->len == 1)
    model_data_note_idle (dataset, data, notes);
  return dataset;
}
