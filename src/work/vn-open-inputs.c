/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inputs whose size a model leaves open, and the size to try where nobody says one. */
#include "vn-open-inputs.h"

/* Random values have no size of their own; pictures get this. */
#define USUAL_SIZE 224

/**
 * vn_open_inputs_new:
 *
 * Returns: (transfer full) (element-type utf8 VnShape): an empty table that owns names and shapes
 */
GHashTable *
vn_open_inputs_new (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
}

/**
 * vn_open_inputs_list:
 * @model: (nullable):
 *
 * Returns: (transfer full) (nullable) (element-type utf8 VnShape): the shapes of inputs with open dims, as declared
 */
GHashTable *
vn_open_inputs_list (VnModel *model)
{
  g_autoptr(GHashTable) shapes = vn_open_inputs_new ();

  for (guint i = 0; model != NULL && i < model->graph->inputs->len; i++)
    {
      const VnValue *input = g_ptr_array_index (model->graph->inputs, i);
      const VnShape *shape = &input->type.shape;

      if (input->initializer == NULL && input->type.kind == VN_TYPE_TENSOR && shape->rank > 0 &&
          !vn_shape_is_static (shape))
        g_hash_table_insert (shapes, g_strdup (input->name), g_memdup2 (shape, sizeof *shape));
    }
  return g_hash_table_size (shapes) > 0 ? g_steal_pointer (&shapes) : NULL;
}

/**
 * vn_open_inputs_guess:
 * @shape: of an input, with open dims
 *
 * One sample at a time, and for pictures a square as large as the side that is known, or of a usual size: the user sees
 * it and can change it.
 *
 * Returns: the shape without open dims
 */
VnShape
vn_open_inputs_guess (const VnShape *shape)
{
  VnShape guess;
  gint64 side;

  g_return_val_if_fail (shape != NULL, ((VnShape) { 0 }));

  guess = *shape;
  side = guess.rank == 4 ? MAX (guess.dims[2], guess.dims[3]) : 1;
  for (int i = 0; i < guess.rank; i++)
    if (guess.dims[i] < 0)
      guess.dims[i] = guess.rank != 4 || i == 0 ? 1 : side > 0 && i > 1 ? side : USUAL_SIZE;
  if (guess.rank == 4 && shape->dims[1] < 0 && shape->dims[2] < 0 && shape->dims[3] < 0)
    guess.dims[1] = 3;
  return guess;
}
