/* SPDX-License-Identifier: GPL-3.0-or-later */

/* One file: a picture, a tensor that is one sample or several stacked along its first dim, or a text as numbers of its tokens,
 * which is cut into pieces. */

#include "vn-dataset-private.h"

#include "vn-error.h"
#include "vn-i18n.h"

#include <string.h>

#define LONGEST_PIECE 4096    /* that a file may have there as one sample, and without a header anywhere */

static gboolean
file_claims (const VnDataset *dataset)
{
  return vn_file_kind (dataset->spec->path) != VN_FILE_OTHER &&
         g_file_test (dataset->spec->path, G_FILE_TEST_EXISTS) &&
         !g_file_test (dataset->spec->path, G_FILE_TEST_IS_DIR);
}

/*< private >
 * vn_dataset_dup_path:
 * @path: of a file that a sample is alone
 *
 * Returns: (transfer full): what the sample has for @input: the same file, or if that can only be for another one, nothing
 */
char *
vn_dataset_dup_path (const VnDataset *self,
                     guint            input,
                     const char      *path)
{
  g_return_val_if_fail (self != NULL && path != NULL, NULL);

  return g_strdup (input == self->main_input || !self->has_main || vn_file_kind (path) == VN_FILE_NPZ ? path : "");
}

static void
source_file_add_single (VnDataset  *dataset,
                        const char *path)
{
  g_autofree char *name = g_path_get_basename (path);
  g_auto(GStrv) paths = g_new0 (char *, dataset->n_inputs + 1);

  for (guint k = 0; k < dataset->n_inputs; k++)
    paths[k] = vn_dataset_dup_path (dataset, k, path);
  vn_dataset_add (dataset, name, -1, paths);
}

/* The dims other than 1 from @first on. */
static int
source_file_squeeze (const VnShape *shape,
                     int            first,
                     gint64        *dims)
{
  int n = 0;

  for (int i = first; i < shape->rank; i++)
    if (shape->dims[i] != 1)
      dims[n++] = shape->dims[i];
  return n;
}

/* A stack of samples that lack dims of 1: pictures of one channel as N×H×W. */
static gsize
source_file_count_squeezed (const VnTensor    *tensor,
                            const VnInputSpec *input,
                            VnShape           *one)
{
  gint64 have[VN_MAX_RANK], want[VN_MAX_RANK];
  int n = source_file_squeeze (&tensor->shape, 1, have);

  if (tensor->shape.rank < 2 || !vn_shape_is_static (&input->shape) || n != source_file_squeeze (&input->shape, 0, want) ||
      memcmp (have, want, (gsize) n * sizeof have[0]) != 0)
    return 0;
  one->rank = tensor->shape.rank - 1;
  memcpy (one->dims, tensor->shape.dims + 1, (gsize) one->rank * sizeof one->dims[0]);
  return (gsize) tensor->shape.dims[0];
}

/* As the samples stand in the shape of @input. */
static gsize
source_file_count_alike (const VnTensor    *tensor,
                         const VnInputSpec *input,
                         VnShape           *one)
{
  const VnShape *want = &input->shape;
  const int drop = tensor->shape.rank == want->rank + 1;
  gint64 per_sample = 1;

  if (want->rank < 1 || tensor->shape.rank != want->rank + drop)
    return source_file_count_squeezed (tensor, input, one);
  one->rank = want->rank;
  for (int i = 0; i < want->rank; i++)
    {
      one->dims[i] = tensor->shape.dims[i + drop];
      if (i == 0 && !drop)
        one->dims[0] = per_sample = want->dims[0] == VN_DIM_UNKNOWN ? 1 : want->dims[0];
      else if (want->dims[i] != VN_DIM_UNKNOWN && want->dims[i] != one->dims[i])
        return 0;
    }
  if (per_sample < 1 || tensor->shape.dims[0] % per_sample != 0)
    return 0;
  return (gsize) (tensor->shape.dims[0] / per_sample);
}

/* Numbers of tokens one behind another. What is left at the end is no sample. */
static gsize
source_file_count_pieces (const VnDataset   *dataset,
                          const VnTensor    *tensor,
                          const VnInputSpec *input,
                          VnShape           *one,
                          gint64            *step)
{
  const VnShape *want = &input->shape;
  const gboolean open = want->rank == 2 && want->dims[1] == VN_DIM_UNKNOWN;

  if (tensor->shape.rank != 1 || want->rank != 2 || (want->dims[0] != 1 && want->dims[0] != VN_DIM_UNKNOWN) ||
      !vn_dtype_is_integer (tensor->dtype) || !vn_dtype_is_integer (input->dtype) || vn_dtype_get_bits (tensor->dtype) < 8 ||
      want->dims[1] == 0 || (open && dataset->spec->window == 0 && tensor->shape.dims[0] <= LONGEST_PIECE))
    return 0;
  *one = VN_SHAPE (1, vn_dataset_get_window (dataset));
  *step = vn_dataset_get_stride (dataset);
  return tensor->shape.dims[0] < one->dims[1] ? 0 : (gsize) ((tensor->shape.dims[0] - one->dims[1]) / *step + 1);
}

/* How many samples @tensor holds, the shape of one, and by how many numbers one begins behind the other if it is a text; 0: not a
 * stack. */
static gsize
source_file_count_stacked (const VnDataset *dataset,
                           const VnTensor  *tensor,
                           VnShape         *one,
                           gint64          *step)
{
  const VnInputSpec *input = &dataset->inputs[dataset->main_input];
  VnInputSpec turned;
  gboolean may_turn = vn_input_spec_turn (input, &turned);
  gsize n = may_turn && input->turned == VN_TURNED_FIRST ? source_file_count_alike (tensor, &turned, one) : 0;

  *step = 0;
  if (n == 0)
    n = source_file_count_alike (tensor, input, one);
  if (n == 0 && may_turn)
    n = source_file_count_alike (tensor, &turned, one);
  return n > 0 ? n : source_file_count_pieces (dataset, tensor, input, one, step);
}

/* A file that says its shape, and that no script makes something else of. */
static gboolean
source_file_is_tensor (const VnDataset *dataset,
                       const char      *path)
{
  const VnFileKind kind = vn_file_kind (path);

  return kind != VN_FILE_PICTURE && kind != VN_FILE_RAW &&
         vn_data_spec_get_script (dataset->spec, dataset->inputs[dataset->main_input].name) == NULL;
}

/* One without a header that may hold tokens, and no script makes something else of. */
static gboolean
source_file_may_be_tokens (const VnDataset *dataset,
                           const char      *path)
{
  const VnInputSpec *input = &dataset->inputs[dataset->main_input];

  return dataset->has_main && vn_file_kind (path) == VN_FILE_RAW && input->shape.rank == 2 &&
         (input->dtype == VN_DTYPE_S32 || input->dtype == VN_DTYPE_S64) &&
         vn_data_spec_get_script (dataset->spec, input->name) == NULL;
}

static VnTensor *
source_file_read (const VnDataset  *dataset,
                  const char       *path,
                  GError          **error)
{
  VnInputSpec input = dataset->inputs[dataset->main_input];

  if (source_file_may_be_tokens (dataset, path))
    input.shape = VN_SHAPE (VN_DIM_UNKNOWN);
  return vn_tensor_file_read (path, &input, vn_data_spec_get_raw_type (dataset->spec, input.name), error);
}

/**
 * vn_dataset_add_stacked:
 * @path: a picture or a tensor
 *
 * Adds the samples that are stacked in the file along its first dim, or the one that it is. vn_dataset_load_stacked()
 * loads them.
 */
gboolean
vn_dataset_add_stacked (VnDataset   *dataset,
                        const char  *path,
                        GError     **error)
{
  g_autofree char *name = g_path_get_basename (path);
  g_autoptr(VnTensor) tensor = NULL;
  VnShape one;
  gint64 step;
  gsize n;

  if (!dataset->has_main || (dataset->n_inputs > 1 && vn_file_kind (path) == VN_FILE_NPZ) ||
      !(source_file_is_tensor (dataset, path) || source_file_may_be_tokens (dataset, path)))
    {
      source_file_add_single (dataset, path);
      return TRUE;
    }
  tensor = source_file_read (dataset, path, error);
  if (tensor == NULL)
    return FALSE;
  n = source_file_count_stacked (dataset, tensor, &one, &step);
  if (source_file_may_be_tokens (dataset, path) && dataset->spec->window == 0 && tensor->n_elements <= LONGEST_PIECE)
    n = 0;   /* without a header it may be of another type than is thought */
  if (n <= 1 || n > G_MAXINT)
    {
      source_file_add_single (dataset, path);
      return TRUE;
    }
  dataset->stack = g_steal_pointer (&tensor);
  for (gsize i = 0; i < n; i++)
    {
      g_autofree char *label = g_strdup_printf ("%s #%" G_GSIZE_FORMAT, name, i);

      vn_dataset_add (dataset, label, -1, NULL);
      if (i > 0 && step > 0 && step < one.dims[1])
        ((VnSample *) dataset->samples->pdata[dataset->samples->len - 1])->n_seen = (guint) (one.dims[1] - step);
    }
  return TRUE;
}

static gboolean
file_open (VnDataset  *dataset,
           VnNotes    *notes,
           GError    **error)
{
  const char *path = dataset->spec->path;

  if (!dataset->has_main && vn_file_kind (path) != VN_FILE_NPZ && !source_file_is_tensor (dataset, path))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                   ngettext ("The model has %u input, but “%s” provides only one",
                             "The model has %u inputs, but “%s” provides only one of them", dataset->n_inputs), dataset->n_inputs,
                             path);
      return FALSE;
    }
  return vn_dataset_add_stacked (dataset, path, error);
}

/**
 * vn_dataset_load_stacked:
 *
 * VnSource.load for samples of vn_dataset_add_stacked(), and for those that are a file each.
 */
gboolean
vn_dataset_load_stacked (const VnDataset  *dataset,
                         guint             i,
                         guint             input,
                         VnTensor        **tensor,
                         GError          **error)
{
  const VnSample *sample = g_ptr_array_index (dataset->samples, i);
  VnTensor *stack = dataset->stack;
  g_autoptr(VnTensor) slice = NULL;
  VnShape one;
  gint64 step;
  gsize size;

  if (stack == NULL)
    return vn_dataset_load_file (dataset, i, input, tensor, error);
  source_file_count_stacked (dataset, stack, &one, &step);
  size = (gsize) (step > 0 ? step : vn_shape_count (&one, 0, one.rank)) * vn_dtype_get_bits (stack->dtype) / 8;
  slice = vn_tensor_new_wrap (stack->dtype, &one, (char *) stack->data + sample->index * size,
                              stack, (GDestroyNotify) vn_tensor_unref, error);
  if (slice == NULL)
    return FALSE;
  vn_tensor_ref (stack);
  *tensor = vn_tensor_fit (slice, &dataset->inputs[dataset->main_input], error);
  return *tensor != NULL;
}

const VnSource vn_source_file = {
  .id = "file",
  .title = N_("an image or a tensor"),
  .claims = file_claims,
  .open = file_open,
  .load = vn_dataset_load_stacked,
};
