/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Samples opened for a model: what its inputs need, and sizes that it leaves open. */

#include "vn-model-data.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-input-role.h"
#include "vn-model-metadata.h"
#include "vn-op.h"
#include "vn-tokenizer.h"

#include <string.h>

/* So many samples are tried before sizes are given up on. */
#define MAX_TRIES 16

/* Conversions that stand in front of a Transpose of an input, at most. */
#define MAX_BEFORE 4

/* Networks that halve pictures several times take multiples of this. */
#define USUAL_MULTIPLE 32

/* Networks that read a line of text take pictures of one of these heights, the newer ones of the first. */
static const gint64 text_heights[] = { 48, 32 };
#define TEXT_WIDTH 320
#define OTHER_HEIGHT 96      /* is not taken by these */

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

/* What stands beside a sample rate is a sound, whatever it is called. */
static void
model_data_mark_sounds (VnInputSpec *specs,
                        guint        n)
{
  gboolean has_rate = FALSE;

  for (guint i = 0; i < n; i++)
    has_rate |= vn_input_role_find (&specs[i]) == VN_INPUT_RATE;
  for (guint i = 0; i < n; i++)
    specs[i].beside_rate = has_rate;
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
      vn_input_spec_init (spec, value);
      spec->name = g_strdup (value->name);
      spec->turned = vn_value_find_turned (value);
      model_data_fill_unknown_dims (&spec->shape, input_shapes != NULL ? g_hash_table_lookup (input_shapes, value->name) : NULL);
      vn_input_spec_fill_cache (spec, value);
      (*n)++;
    }
  model_data_mark_sounds (specs, *n);
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

/**
 * vn_model_may_take_pictures:
 *
 * Returns: whether samples of @model may be pictures, as far as its inputs tell
 */
gboolean
vn_model_may_take_pictures (const VnModel *model)
{
  VnInputSpec *specs;
  gboolean may_take;
  guint n;

  g_return_val_if_fail (model != NULL, FALSE);

  specs = vn_model_dup_input_specs (model, NULL, &n);
  may_take = vn_input_specs_may_take_pictures (specs, n);
  vn_input_specs_free (specs, n);
  return may_take;
}

/**
 * vn_model_has_past:
 *
 * Returns: whether the network goes on from keys and values that it kept: it is a language model
 */
gboolean
vn_model_has_past (const VnModel *model)
{
  VnInputSpec *specs;
  gboolean has_past = FALSE;
  guint n;

  g_return_val_if_fail (model != NULL, FALSE);

  specs = vn_model_dup_input_specs (model, NULL, &n);
  for (guint i = 0; i < n; i++)
    has_past |= vn_input_role_find (&specs[i]) == VN_INPUT_PAST;
  vn_input_specs_free (specs, n);
  return has_past;
}

/**
 * vn_model_dup_main_input:
 * @role: (out): what that input is for; %VN_INPUT_IMAGE where the samples may be pictures; %VN_INPUT_NUMBERS where there is none
 *
 * Returns: (transfer full) (nullable): the first input that samples are for, unless they may be pictures
 */
char *
vn_model_dup_main_input (const VnModel *model,
                         VnInputRole   *role)
{
  VnInputSpec *specs;
  char *name = NULL;
  guint n;

  g_return_val_if_fail (model != NULL && role != NULL, NULL);

  *role = vn_model_may_take_pictures (model) ? VN_INPUT_IMAGE : VN_INPUT_NUMBERS;
  specs = vn_model_dup_input_specs (model, NULL, &n);
  for (guint i = 0; i < n && name == NULL && *role != VN_INPUT_IMAGE; i++)
    {
      const VnInputRole its_role = vn_input_role_find (&specs[i]);

      if (vn_input_role_get_fill (its_role) != VN_FILL_NONE)
        continue;
      *role = its_role;
      name = g_strdup (specs[i].name);
    }
  vn_input_specs_free (specs, n);
  return name;
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

/* The sizes of inputs, of open ones those of @tensors. */
static GHashTable *
model_data_take_sizes (const VnInputSpec *specs,
                       guint              n,
                       VnTensor         **tensors)
{
  GHashTable *shapes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);

  for (guint i = 0; i < n; i++)
    g_hash_table_insert (shapes, g_strdup (specs[i].name),
                         g_memdup2 (vn_shape_is_static (&specs[i].shape) ? &specs[i].shape : &tensors[i]->shape,
                                    sizeof (VnShape)));
  return shapes;
}

static void
model_data_note_sizes (const VnInputSpec *specs,
                       guint              n,
                       GHashTable        *shapes,
                       VnNotes           *notes)
{
  for (guint i = 0; i < n && notes != NULL; i++)
    {
      g_autofree char *text = vn_shape_to_string (g_hash_table_lookup (shapes, specs[i].name), "×");

      if (!vn_shape_is_static (&specs[i].shape))
        vn_notes_add (notes, VN_NOTE_INFO, "size-from-sample", specs[i].name,
                      _("The input size is dynamic: %s is used, from the first sample"), text);
    }
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

/* The size of the first input of pictures that leaves both height and width open, and the axis of the height. */
static VnShape *
model_data_find_open_picture (const VnInputSpec *specs,
                              guint              n,
                              GHashTable        *shapes,
                              int               *axis)
{
  for (guint i = 0; i < n; i++)
    {
      const gint64 *dims = specs[i].shape.dims;

      *axis = specs[i].turned != VN_TURNED_NEVER || dims[3] == 1 || dims[3] == 3 ? 1 : 2;
      if (specs[i].shape.rank == 4 && dims[*axis] < 0 && dims[*axis + 1] < 0)
        return g_hash_table_lookup (shapes, specs[i].name);
    }
  return NULL;
}

static gboolean
model_data_try_size (const VnModel *model,
                     GHashTable    *shapes,
                     VnShape       *shape,
                     int            axis,
                     gint64         height,
                     gint64         width)
{
  const VnShape before = *shape;

  shape->dims[axis] = height;
  shape->dims[axis + 1] = width;
  if (model_data_can_take (model, shapes, NULL))
    return TRUE;
  *shape = before;
  return FALSE;
}

/* Sizes that the network says itself: by its metadata, or (@is_last: no other is left) as it can only read lines of text. */
static gboolean
model_data_try_own_size (const VnModel     *model,
                         const VnInputSpec *specs,
                         guint              n,
                         GHashTable        *shapes,
                         gboolean           is_last,
                         VnNotes           *notes)
{
  g_autoptr(VnModelMetadata) metadata = vn_model_metadata_read (model);
  int axis = 0;
  VnShape *shape = model_data_find_open_picture (specs, n, shapes, &axis);

  if (shape == NULL)
    return FALSE;
  if (!is_last && (metadata->width == 0 || !model_data_try_size (model, shapes, shape, axis, metadata->height, metadata->width)))
    return FALSE;
  if (!is_last && notes != NULL)
    vn_notes_add (notes, VN_NOTE_INFO, "data-size", NULL, _("The input size is dynamic: %u×%u is used, from the metadata of the "
                                                            "model"), metadata->width, metadata->height);
  if (is_last && model_data_try_size (model, shapes, shape, axis, OTHER_HEIGHT, TEXT_WIDTH))
    return FALSE;
  for (guint i = 0; is_last && i < G_N_ELEMENTS (text_heights); i++)
    if (model_data_try_size (model, shapes, shape, axis, text_heights[i], TEXT_WIDTH))
      {
        if (notes != NULL)
          vn_notes_add (notes, VN_NOTE_INFO, "data-size", NULL,
                        _("The input size is dynamic: %d×%lld is used, as for other models that read lines of text; "
                          "this one does not support the size of the images"), TEXT_WIDTH, (long long) text_heights[i]);
        return TRUE;
      }
  return !is_last;
}

/* All pictures of the size that the metadata have, or as large as the first one, or a little smaller if the network cannot take
 * that. */
static VnDataset *
model_data_open_pictures (const VnModel      *model,
                          const VnDataSpec   *data,
                          const VnInputSpec  *open,
                          guint               n_open,
                          GHashTable         *shapes,
                          VnNotes            *notes,
                          GError            **error)
{
  g_autoptr(GError) reason = NULL;
  VnInputSpec *specs;
  VnDataset *dataset;
  guint n;

  if (!model_data_try_own_size (model, open, n_open, shapes, FALSE, notes))
    {
      gboolean fits = model_data_can_take (model, shapes, &reason);

      if (!fits)
        model_data_round_sizes (model, shapes);
      if (!fits && model_data_can_take (model, shapes, NULL))
        {
          fits = TRUE;
          if (notes != NULL)
            vn_notes_add (notes, VN_NOTE_INFO, "size-rounded", NULL,
                          _("The model does not support images of that size: they are scaled down to multiples of %d"),
                          USUAL_MULTIPLE);
        }
      if (fits)
        model_data_note_sizes (open, n_open, shapes, notes);
      else if (!model_data_try_own_size (model, open, n_open, shapes, TRUE, notes))
        {
          g_set_error (error, VN_ERROR, VN_ERROR_SHAPE,
                       _("The image size is dynamic, but the model does not support that of the first image: %s; "
                         "specify a supported size"), reason->message);
          return NULL;
        }
    }
  specs = vn_model_dup_input_specs (model, shapes, &n);
  dataset = vn_dataset_open (data, specs, n, NULL, error);
  vn_input_specs_free (specs, n);
  return dataset;
}

static VnDataset *
model_data_open_sized (const VnModel      *model,
                       const VnDataSpec   *data,
                       VnInputSpec        *specs,
                       guint               n,
                       GHashTable        **shapes,
                       VnNotes            *notes,
                       GError            **error)
{
  const gboolean is_open = model_data_has_open_size (specs, n);
  g_autoptr(VnModelMetadata) metadata = vn_model_metadata_read (model);
  g_autoptr(VnDataset) dataset = NULL;
  g_autofree VnTensor **tensors = g_new0 (VnTensor *, n + 1);

  for (guint i = 0; vn_data_spec_is_random (data) && i < n; i++)   /* which have no size of their own */
    vn_model_metadata_fill_size (metadata, &specs[i].shape);
  dataset = vn_dataset_open (data, specs, n, notes, error);
  if (dataset == NULL || !is_open || !model_data_load_first (dataset, tensors))
    return g_steal_pointer (&dataset);
  g_clear_pointer (shapes, g_hash_table_unref);
  *shapes = model_data_take_sizes (specs, n, tensors);
  for (guint i = 0; i < n; i++)
    g_clear_pointer (&tensors[i], vn_tensor_unref);
  if (vn_dataset_is_image (dataset))
    return model_data_open_pictures (model, data, specs, n, *shapes, notes, error);
  model_data_note_sizes (specs, n, *shapes, notes);
  return g_steal_pointer (&dataset);
}

/* What the network's file says of pictures has been taken. */
static void
model_data_note_metadata (const VnModel     *model,
                          VnDataset         *dataset,
                          const VnDataSpec  *data,
                          VnNotes           *notes)
{
  g_autoptr(VnModelMetadata) metadata = vn_model_metadata_read (model);
  const VnPreprocessParts parts = data->from_metadata & vn_model_metadata_match (metadata, &data->preprocess);
  g_autofree char *text = vn_preprocess_describe (&data->preprocess, parts);

  if (notes != NULL && vn_dataset_is_image (dataset) && parts != 0)
    vn_notes_add (notes, VN_NOTE_INFO, "data-metadata", NULL, _("Preprocessing from the metadata of the model: %s"), text);
}

/* What is said of pictures, of samples that are none. */
static void
model_data_note_idle (VnDataset         *dataset,
                      const VnDataSpec  *data,
                      VnNotes           *notes)
{
  VnPreprocess plain;

  vn_preprocess_init (&plain);
  if (notes != NULL && !vn_dataset_is_image (dataset) && data->from_metadata == 0 && !vn_data_spec_is_random (data) &&
      !vn_data_spec_has_script (data) &&
      !vn_preprocess_equal (&data->preprocess, &plain))
    vn_notes_add (notes, VN_NOTE_WARNING, "preprocess-without-effect", "preprocess",
                  _("has no effect here: the samples are not images and are read unchanged"));
}

static void
model_data_note_rate (const VnModel *model,
                      VnDataset     *dataset,
                      VnNotes       *notes)
{
  g_autoptr(VnModelMetadata) metadata = vn_model_metadata_read (model);
  const guint rate = vn_dataset_get_sample_rate (dataset);

  if (notes != NULL && rate > 0 && metadata->sample_rate > 0 && rate != metadata->sample_rate)
    vn_notes_add (notes, VN_NOTE_WARNING, "data-rate", NULL,
                  _("The samples have a rate of %u Hz, but the metadata of the model specify %u Hz: resample them"), rate,
                  metadata->sample_rate);
}

/**
 * vn_data_spec_take_tokenizer:
 * @model: whose samples these are
 *
 * Where @self names no tokenizer, it is the one that lies beside the file of @model, if there is one.
 */
void
vn_data_spec_take_tokenizer (VnDataSpec    *self,
                             const VnModel *model)
{
  g_autofree char *folder = NULL, *path = NULL;

  g_return_if_fail (self != NULL && model != NULL);

  if (self->tokenizer != NULL || model->path == NULL)
    return;
  folder = g_path_get_dirname (model->path);
  path = g_build_filename (folder, VN_TOKENIZER_NAME, NULL);
  if (g_file_test (path, G_FILE_TEST_IS_REGULAR))
    self->tokenizer = g_steal_pointer (&path);
}

/**
 * vn_model_open_data:
 * @given: (nullable): by input name, VnShape*: sizes the user gave; dims may be %VN_DIM_UNKNOWN
 * @shapes: (out) (transfer full) (nullable): what to plan with: @given, or if it leaves something open the sizes of the
 *   first sample
 * @notes: (nullable): told which sizes came from the sample
 *
 * Opens the samples of a model. Where it leaves the size of a picture open, all pictures get the size that its metadata have, or
 * that of the first one, rounded down to multiples of 32 if the network cannot take that; if it cannot take that either, that of
 * a line of text. Tensors keep the sizes they have, and a plan for the first one adapts to the others (vn_runner_run()).
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
  g_autoptr(VnDataSpec) own = NULL;
  VnDataset *dataset;

  g_return_val_if_fail (model != NULL, NULL);

  own = vn_data_spec_copy (data);
  vn_data_spec_take_tokenizer (own, model);
  specs = vn_model_dup_input_specs (model, given, &n);
  *shapes = given != NULL ? g_hash_table_ref (given) : NULL;
  dataset = model_data_open_sized (model, own, specs, n, shapes, notes, error);
  vn_input_specs_free (specs, n);
  if (dataset == NULL)
    g_clear_pointer (shapes, g_hash_table_unref);
  else
    {
      model_data_note_metadata (model, dataset, data, notes);
      model_data_note_rate (model, dataset, notes);
    }
  if (dataset != NULL && model->graph->inputs->len == 1)
    model_data_note_idle (dataset, data, notes);
  return dataset;
}
