/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples that are tensors: .npy, .npz, .raw and TensorProto files. */
#include "vn-dataset-private.h"

#include "vn-error.h"
#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-onnx.h"

/* Gives the unknown dims of @shape values that make @n elements: the first one 1 if there are several, the last one
 * what is left. */
static gboolean
tensor_file_solve_shape (VnShape *shape,
                         gsize    n)
{
  gsize known = 1;
  int open = -1;

  for (int i = 0; i < shape->rank; i++)
    {
      if (shape->dims[i] == VN_DIM_UNKNOWN)
        {
          if (open >= 0)
            shape->dims[open] = 1;
          open = i;
        }
      else if (shape->dims[i] <= 0 || known > G_MAXSIZE / (gsize) shape->dims[i])
        return FALSE;
      else
        known *= (gsize) shape->dims[i];
    }
  if (open < 0)
    return known == n;
  if (n == 0 || n % known != 0)
    return FALSE;
  shape->dims[open] = (gint64) (n / known);
  return TRUE;
}

/* How many of the numbers tell what type they are of. */
#define TOLD_BY ((gsize) 1 << 20)

static gboolean
tensor_file_are_indices (const VnTensor *tensor,
                         gint64          limit)
{
  for (gsize i = 0; i < MIN (tensor->n_elements, TOLD_BY); i++)
    {
      gint64 number = vn_tensor_get_s64 (tensor, i);

      if (number < 0 || number >= limit)
        return FALSE;
    }
  return tensor->n_elements > 0;
}

/* A headerless file of token numbers, of the widest type whose numbers all lie in the embedding: read as a wider one two of them
 * would make a number far beyond it. NULL: of none. */
static VnTensor *
tensor_file_read_indices (GBytes            *bytes,
                          const VnInputSpec *input)
{
  static const VnDType types[] = { VN_DTYPE_S64, VN_DTYPE_S32, VN_DTYPE_U16 };

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    {
      const gsize width = vn_dtype_get_bits (types[i]) / 8, size = g_bytes_get_size (bytes);
      VnShape shape = input->shape;
      g_autoptr(VnTensor) tensor = NULL;

      if (size % width == 0 && tensor_file_solve_shape (&shape, size / width))
        tensor = vn_tensor_new_view (types[i], &shape, bytes, NULL);
      if (tensor != NULL && tensor_file_are_indices (tensor, input->limit))
        return g_steal_pointer (&tensor);
    }
  return NULL;
}

/* A headerless file: elements of @type; if that is not given, of the input's or, if the size fits that instead,
 * float32. */
static VnTensor *
tensor_file_raw_read (const char         *path,
                      const VnInputSpec  *input,
                      VnDType             type,
                      GError            **error)
{
  const VnDType types[] = { type != VN_DTYPE_UNDEFINED ? type : input->dtype, VN_DTYPE_F32 };
  g_autoptr(GBytes) bytes = vn_file_map (path, error);
  g_autofree char *text = NULL;
  gsize size;

  if (bytes == NULL)
    return NULL;
  size = g_bytes_get_size (bytes);
  if (type == VN_DTYPE_UNDEFINED && input->limit > 0 && vn_dtype_is_integer (input->dtype) &&
      input->shape.rank != VN_RANK_UNKNOWN)
    {
      VnTensor *indices = tensor_file_read_indices (bytes, input);

      if (indices != NULL)
        return indices;
    }
  for (guint i = 0; i < (type != VN_DTYPE_UNDEFINED ? 1 : 2) && input->shape.rank != VN_RANK_UNKNOWN; i++)
    {
      guint width = vn_dtype_get_bits (types[i]) / 8;
      VnShape shape = input->shape;

      if (width > 0 && size % width == 0 && tensor_file_solve_shape (&shape, size / width))
        return vn_tensor_new_view (types[i], &shape, bytes, error);
    }

  text = vn_shape_to_string (&input->shape, "×");
  if (type != VN_DTYPE_UNDEFINED)
    g_set_error (error, VN_ERROR, VN_ERROR_SHAPE,
                 ngettext ("“%s” has %zu byte, which as %s does not match input “%s” of shape %s",
                           "“%s” has %zu bytes, which as %s do not match input “%s” of shape %s", size),
                 path, size, vn_dtype_get_name (type), input->name, text);
  else
    g_set_error (error, VN_ERROR, VN_ERROR_SHAPE,
                 ngettext ("“%s” has %zu byte, which does not match input “%s”: %s of shape %s (nor float32)",
                           "“%s” has %zu bytes, which do not match input “%s”: %s of shape %s (nor float32)", size),
                 path, size, input->name, vn_dtype_get_name (input->dtype), text);
  return NULL;
}

/**
 * vn_tensor_file_read:
 * @path: .npy, .npz, .raw, .bin, .pb or .wav
 * @input: which input it is for: chooses the array of an .npz, the shape and type of a .raw
 * @raw_type: element type of a .raw or .bin instead; %VN_DTYPE_UNDEFINED: not known
 *
 * Returns: (transfer full) (nullable): what the file holds, as it is; errors name the file
 */
VnTensor *
vn_tensor_file_read (const char         *path,
                     const VnInputSpec  *input,
                     VnDType             raw_type,
                     GError            **error)
{
  switch (vn_file_kind (path))
    {
    case VN_FILE_NPY: return vn_npy_read (path, error);
    case VN_FILE_NPZ: return vn_npz_read (path, input, error);
    case VN_FILE_WAV: return vn_wav_read (path, input, 0, 1, error);
    case VN_FILE_PB: return vn_onnx_tensor_read_file (path, NULL, error);
    default: return tensor_file_raw_read (path, input, raw_type, error);
    }
}
