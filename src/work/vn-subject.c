/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A network and its samples, and the sizes of inputs that the network leaves open: those the user gave, else those of the first
 * sample. */
#include "vn-subject.h"

#include "vn-model-metadata.h"
#include "vn-open-inputs.h"

/**
 * vn_subject_new:
 * @model: (nullable): an opened model
 * @data: (nullable): where samples are and how they are read; copied
 * @n_samples: how many are used; 0: all
 *
 * Returns: (transfer full): with the sizes of inputs as the model declares them
 */
VnSubject *
vn_subject_new (VnModel          *model,
                const VnDataSpec *data,
                guint             n_samples)
{
  VnSubject *self = g_new0 (VnSubject, 1);

  self->model = model != NULL ? vn_model_ref (model) : NULL;
  self->data = data != NULL ? vn_data_spec_copy (data) : NULL;
  self->n_samples = n_samples;
  self->input_shapes = vn_open_inputs_list (model);
  g_atomic_ref_count_init (&self->ref);
  return self;
}

VnSubject *
vn_subject_ref (VnSubject *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

/**
 * vn_subject_unref:
 * @self: (nullable):
 */
void
vn_subject_unref (VnSubject *self)
{
  if (self == NULL || !g_atomic_ref_count_dec (&self->ref))
    return;
  g_clear_pointer (&self->model, vn_model_unref);
  g_clear_pointer (&self->data, vn_data_spec_free);
  g_clear_pointer (&self->input_shapes, g_hash_table_unref);
  g_free (self);
}

static void
subject_set_shapes (VnSubject  *self,
                    GHashTable *shapes)
{
  g_clear_pointer (&self->input_shapes, g_hash_table_unref);
  self->input_shapes = shapes;
}

/**
 * vn_subject_new_sized:
 * @data: (nullable): copied, with the number of samples in it
 * @shapes: (nullable) (element-type utf8 VnShape): all that is said of sizes of inputs
 *
 * Returns: (transfer full): where nothing else is open
 */
VnSubject *
vn_subject_new_sized (VnModel          *model,
                      const VnDataSpec *data,
                      GHashTable       *shapes)
{
  VnSubject *self;

  g_return_val_if_fail (model != NULL, NULL);

  self = vn_subject_new (model, data, data != NULL ? data->max_samples : 0);
  subject_set_shapes (self, shapes != NULL ? g_hash_table_ref (shapes) : NULL);
  return self;
}

/**
 * vn_subject_with_data:
 * @data: (nullable): copied
 *
 * Returns: (transfer full): the same network and sizes, with other samples
 */
VnSubject *
vn_subject_with_data (const VnSubject  *self,
                      const VnDataSpec *data,
                      guint             n_samples)
{
  VnSubject *other;

  g_return_val_if_fail (self != NULL, NULL);

  other = vn_subject_new (self->model, data, n_samples);
  subject_set_shapes (other, self->input_shapes != NULL ? g_hash_table_ref (self->input_shapes) : NULL);
  return other;
}

static void
subject_copy_shapes (GHashTable *from,
                     GHashTable *to)
{
  GHashTableIter iter;
  gpointer name, shape;

  g_hash_table_iter_init (&iter, from);
  while (g_hash_table_iter_next (&iter, &name, &shape))
    g_hash_table_insert (to, g_strdup (name), g_memdup2 (shape, sizeof (VnShape)));
}

/**
 * vn_subject_with_input_shape:
 * @name: an input with open dims
 * @shape: agrees with what the model fixes; %VN_DIM_UNKNOWN: to be taken from the first sample
 *
 * Returns: (transfer full): the same network and samples, with that size
 */
VnSubject *
vn_subject_with_input_shape (const VnSubject *self,
                             const char      *name,
                             const VnShape   *shape)
{
  GHashTable *shapes;
  VnSubject *other;

  g_return_val_if_fail (self != NULL && self->input_shapes != NULL && name != NULL && shape != NULL, NULL);

  shapes = vn_open_inputs_new ();
  subject_copy_shapes (self->input_shapes, shapes);
  g_hash_table_insert (shapes, g_strdup (name), g_memdup2 (shape, sizeof *shape));
  other = vn_subject_new (self->model, self->data, self->n_samples);
  subject_set_shapes (other, shapes);
  return other;
}

/**
 * vn_subject_dup_data:
 *
 * Returns: (transfer full) (nullable): the samples for a run, with their number in it; %NULL: none are chosen
 */
VnDataSpec *
vn_subject_dup_data (const VnSubject *self)
{
  VnDataSpec *data;

  g_return_val_if_fail (self != NULL, NULL);

  if (self->data == NULL)
    return NULL;
  data = vn_data_spec_copy (self->data);
  data->max_samples = self->n_samples;
  return data;
}

/**
 * vn_subject_dup_given_shapes:
 * @data: (nullable): %NULL: nothing is run
 *
 * Returns: (transfer full) (nullable): sizes that a run on @data is given; for random values nothing is open
 */
GHashTable *
vn_subject_dup_given_shapes (const VnSubject  *self,
                             const VnDataSpec *data)
{
  g_autoptr(GHashTable) shapes = NULL;
  g_autoptr(VnModelMetadata) metadata = NULL;
  GHashTableIter iter;
  gpointer name, shape;

  g_return_val_if_fail (self != NULL, NULL);

  if (self->input_shapes == NULL)
    return NULL;
  if (data == NULL || !vn_data_spec_is_random (data))
    return g_hash_table_ref (self->input_shapes);
  shapes = vn_open_inputs_new ();
  metadata = vn_model_metadata_read (self->model);
  g_hash_table_iter_init (&iter, self->input_shapes);
  while (g_hash_table_iter_next (&iter, &name, &shape))
    {
      VnShape guess = *(const VnShape *) shape;

      vn_model_metadata_fill_size (metadata, &guess);
      guess = vn_open_inputs_guess (&guess);
      g_hash_table_insert (shapes, g_strdup (name), g_memdup2 (&guess, sizeof guess));
    }
  return g_steal_pointer (&shapes);
}

/**
 * vn_subject_dup_chosen_shapes:
 *
 * Returns: (transfer full) (element-type utf8 VnShape): of the inputs that have open dims those that the user gave a size
 */
GHashTable *
vn_subject_dup_chosen_shapes (const VnSubject *self)
{
  g_autoptr(GHashTable) declared = NULL, chosen = vn_open_inputs_new ();
  GHashTableIter iter;
  gpointer name, shape;

  g_return_val_if_fail (self != NULL, NULL);

  declared = vn_open_inputs_list (self->model);
  if (self->input_shapes == NULL || declared == NULL)
    return g_steal_pointer (&chosen);
  g_hash_table_iter_init (&iter, self->input_shapes);
  while (g_hash_table_iter_next (&iter, &name, &shape))
    if (!vn_shape_equal (shape, g_hash_table_lookup (declared, name)))
      g_hash_table_insert (chosen, g_strdup (name), g_memdup2 (shape, sizeof (VnShape)));
  return g_steal_pointer (&chosen);
}
