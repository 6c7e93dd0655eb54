/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What inference finds out about one value. */
#include "vn-infer-private.h"

VnTensor *
vn_infer_get_known (VnInfer *self,
                    VnValue *value)
{
  VnTensor *tensor = g_hash_table_lookup (self->known, value);

  return tensor != NULL ? tensor : vn_value_get_constant (value);
}

/* Gives open sizes a name: the one in the file, or a new one. Sizes of inputs are taken to be above 0, so that
 * “all but the first” of something open is one less. */
void
vn_infer_name_dims (VnInfer *self,
                    VnValue *value)
{
  VnType *type = &value->type;
  gint64 lower = value->is_input && value->graph == self->model->graph ? 1 : 0;

  for (int i = 0; type->kind == VN_TYPE_TENSOR && i < type->shape.rank; i++)
    if (type->shape.dims[i] == VN_DIM_UNKNOWN)
      type->shape.dims[i] = type->symbols[i] != NULL && type->symbols[i][0] != '\0'
                            ? vn_dims_symbol (self->dims, type->symbols[i], lower) : vn_dims_fresh (self->dims, lower);
}

VnTensorType
vn_infer_get_type (VnInfer *self,
                   VnValue *value)
{
  VnTensor *tensor;

  vn_infer_name_dims (self, value);
  if (value->type.kind != VN_TYPE_UNKNOWN)
    return vn_type_get_declared (&value->type);
  tensor = vn_infer_get_known (self, value);
  if (tensor != NULL)
    return (VnTensorType) { tensor->dtype, tensor->shape };
  return vn_type_get_declared (&value->type);
}

/* A container has no shape to be inferred, only elements. */
static void
infer_value_set_container_type (VnValue            *value,
                                const VnTensorType *found)
{
  if (value->type.kind != VN_TYPE_UNKNOWN)
    return;
  value->type.kind = found->kind == VN_KIND_SEQUENCE ? VN_TYPE_SEQUENCE : VN_TYPE_OPTIONAL;
  value->type.dtype = found->dtype;
  value->type.shape = VN_SHAPE_UNKNOWN;
}

static void
infer_value_note_disagreement (VnInfer            *self,
                               const VnValue      *value,
                               const VnTensorType *found)
{
  g_autofree char *declared = vn_type_to_string (&value->type);
  g_autofree char *shape = vn_shape_to_string (&found->shape, "×");

  if (self->notes != NULL)
    vn_notes_add (self->notes, VN_NOTE_WARNING, "declared-type", value->name,
                  _("the file declares %s, but it is %s of shape %s"), declared, vn_dtype_get_name (found->dtype), shape);
}

/* Takes for each dim the file's declaration where inference knows less. Returns whether the two contradict. */
static gboolean
infer_value_merge_declared (const VnType *declared,
                            VnTensorType *found)
{
  gboolean differ;

  if (declared->kind != VN_TYPE_TENSOR)
    return FALSE;

  if (found->dtype == VN_DTYPE_UNDEFINED)
    found->dtype = declared->dtype;
  differ = declared->dtype != VN_DTYPE_UNDEFINED && declared->dtype != found->dtype;

  if (declared->shape.rank < 0)
    return differ;
  if (found->shape.rank < 0)
    found->shape = declared->shape;
  if (found->shape.rank != declared->shape.rank)
    return TRUE;

  for (int i = 0; i < found->shape.rank; i++)
    if (found->shape.dims[i] == VN_DIM_UNKNOWN || (found->shape.dims[i] < 0 && declared->shape.dims[i] >= 0))
      found->shape.dims[i] = declared->shape.dims[i];
    else if (declared->shape.dims[i] >= 0 && declared->shape.dims[i] != found->shape.dims[i])
      differ = TRUE;
  return differ;
}

void
vn_infer_set_type (VnInfer      *self,
                   VnValue      *value,
                   VnTensorType  found)
{
  VnType type;

  if (found.kind == VN_KIND_SEQUENCE || found.kind == VN_KIND_OPTIONAL)
    {
      infer_value_set_container_type (value, &found);
      return;
    }
  if (found.kind == VN_KIND_UNKNOWN || (found.dtype == VN_DTYPE_UNDEFINED && found.shape.rank < 0))
    return;
  if (value->type.kind != VN_TYPE_UNKNOWN && value->type.kind != VN_TYPE_TENSOR)
    return;
  for (int i = 0; i < found.shape.rank; i++)
    found.shape.dims[i] = vn_dims_check (self->dims, found.shape.dims[i]);
  if (infer_value_merge_declared (&value->type, &found))
    infer_value_note_disagreement (self, value, &found);

  vn_type_init_tensor (&type, found.dtype, &found.shape);
  if (value->type.kind == VN_TYPE_TENSOR && value->type.shape.rank == found.shape.rank)
    for (int i = 0; i < found.shape.rank; i++)
      if (found.shape.dims[i] < 0)
        type.symbols[i] = g_steal_pointer (&value->type.symbols[i]);
  vn_type_clear (&value->type);
  value->type = type;
  vn_infer_name_dims (self, value);
}

void
vn_infer_set_known (VnInfer  *self,
                    VnValue  *value,
                    VnTensor *tensor)
{
  g_hash_table_insert (self->known, value, vn_tensor_ref (tensor));
  vn_infer_set_type (self, value, (VnTensorType) { tensor->dtype, tensor->shape });
}

/* Takes numbers, which may turn out to be plain ones. */
void
vn_infer_set_numbers (VnInfer            *self,
                      VnValue            *value,
                      const VnTensorType *type,
                      VnTensor           *numbers)
{
  g_autoptr(VnTensor) tensor = vn_infer_from_numbers (self->dims, numbers, type->dtype);

  if (tensor != NULL)
    {
      vn_infer_set_known (self, value, tensor);
      return;
    }
  g_hash_table_insert (self->numbers, value, vn_tensor_ref (numbers));
  vn_infer_set_type (self, value, *type);
}
