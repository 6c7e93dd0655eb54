/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inputs that samples have nothing for, filled by rule: a mask with ones, a state with zeros, a past state with nothing. */
#include "vn-dataset-private.h"

#include "vn-i18n.h"
#include "vn-input-role.h"

#include <string.h>

#define MOST_NAMES 4u        /* of inputs, in a note */

/* NAME=WORD instead of NAME=PATH. */
static const struct { const char *word; VnFill fill; } words[] = {
  { "ones", VN_FILL_ONES }, { "zeros", VN_FILL_ZEROS }, { VN_DATA_RANDOM, VN_FILL_RANDOM },
};

/**
 * vn_fill_find:
 * @word: instead of a path
 *
 * Returns: what it asks for; %VN_FILL_NONE: it is a path
 */
VnFill
vn_fill_find (const char *word)
{
  g_return_val_if_fail (word != NULL, VN_FILL_NONE);

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (g_str_equal (words[i].word, word))
      return words[i].fill;
  return VN_FILL_NONE;
}

/**
 * vn_fill_get_word:
 *
 * Returns: (nullable): what to write instead of a path; %NULL: it is only filled so where nothing is written
 */
const char *
vn_fill_get_word (VnFill fill)
{
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (words[i].fill == fill)
      return words[i].word;
  return NULL;
}

/*< private >
 * vn_dataset_may_fill:
 *
 * Returns: whether the input can do without samples, as long as another one has some
 */
gboolean
vn_dataset_may_fill (const VnDataset *self,
                     guint            input)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->n_inputs > 1 && self->fills[input] != VN_FILL_NONE;
}

/*< private >
 * vn_dataset_is_filled:
 * @i: a sample
 *
 * Returns: whether it has nothing of its own for @input
 */
gboolean
vn_dataset_is_filled (const VnDataset *self,
                      guint            i,
                      guint            input)
{
  const VnSample *sample;

  g_return_val_if_fail (self != NULL && i < self->samples->len, FALSE);

  sample = self->samples->pdata[i];
  if (self->columns != NULL)
    return self->columns[input] < 0;
  if (sample->paths == NULL)
    return (self->stack != NULL || self->windows != NULL) && input != self->main_input;
  return sample->paths[input][0] == '\0';
}

/*< private >
 * vn_dataset_find_lacking:
 *
 * Looks into the first sample, if that is an archive, for inputs that it has no array for and that can do without: they are told
 * as filled.
 */
void
vn_dataset_find_lacking (VnDataset *self)
{
  const VnSample *first;

  g_return_if_fail (self != NULL && self->samples->len > 0);

  first = self->samples->pdata[0];
  for (guint k = 0; k < self->n_inputs && first->paths != NULL; k++)
    self->lacks[k] = k != self->main_input && vn_dataset_may_fill (self, k) && vn_file_kind (first->paths[k]) == VN_FILE_NPZ &&
                     vn_npz_lacks (first->paths[k], &self->inputs[k]);
}

/* ---- sizes ---- */

/* The size of another input's open dim of the same name; -1: there is none. */
static gint64
dataset_fill_find_symbol (const VnDataset *self,
                          VnTensor       **tensors,
                          guint            symbol)
{
  for (guint k = 0; symbol != 0 && k < self->n_inputs; k++)
    for (int d = 0; tensors[k] != NULL && d < self->inputs[k].shape.rank && d < tensors[k]->shape.rank; d++)
      if (self->inputs[k].symbols[d] == symbol)
        return tensors[k]->shape.dims[d];
  return -1;
}

/* How long the sample is: the second dim of the main input, or the only one. */
static gint64
dataset_fill_get_length (const VnDataset *self,
                         VnTensor       **tensors)
{
  const VnTensor *tensor = tensors[self->main_input];
  const gboolean is_sound = vn_input_role_find (&self->inputs[self->main_input]) == VN_INPUT_AUDIO;

  if (tensor == NULL || tensor->shape.rank < 1)
    return 1;
  return tensor->shape.dims[is_sound ? tensor->shape.rank - 1 : MIN (1, tensor->shape.rank - 1)];
}

static VnShape
dataset_fill_choose_shape (const VnDataset *self,
                           guint            input,
                           VnTensor       **tensors)
{
  const VnInputSpec *spec = &self->inputs[input];
  const VnInputRole role = vn_input_role_find (spec);
  VnShape shape = spec->shape.rank >= 0 ? spec->shape : VN_SHAPE_SCALAR;

  for (int d = 0; d < shape.rank; d++)
    {
      gint64 size = shape.dims[d] >= 0 ? shape.dims[d] : dataset_fill_find_symbol (self, tensors, spec->symbols[d]);

      if (size < 0 && spec->is_past[d])
        size = 0;
      if (size < 0)
        size = d > 0 && vn_dtype_is_integer (spec->dtype) && role != VN_INPUT_LENGTH ? dataset_fill_get_length (self, tensors)
               : 1;
      shape.dims[d] = size;
    }
  return shape;
}

/* ---- values ---- */

/*< private >
 * vn_dataset_fill:
 * @input: the samples have nothing for it
 * @tensors: (array length=n_inputs): what is loaded of sample @i; %NULL where nothing is
 *
 * Returns: (transfer full) (nullable): what it is filled with, in sizes that go with @tensors
 */
VnTensor *
vn_dataset_fill (const VnDataset  *self,
                 guint             i,
                 guint             input,
                 VnTensor        **tensors,
                 GError          **error)
{
  const VnInputSpec *spec;
  VnFill fill;
  g_autoptr(VnTensor) tensor = NULL;
  VnShape shape;
  gint64 length;
  gsize row;

  g_return_val_if_fail (self != NULL && tensors != NULL, NULL);

  spec = &self->inputs[input];
  fill = self->fills[input];
  shape = dataset_fill_choose_shape (self, input, tensors);
  if (fill == VN_FILL_RANDOM)
    return vn_source_random_make (self, i, input, &shape, error);
  tensor = vn_tensor_new (VN_DTYPE_F32, &shape, error);
  if (tensor == NULL)
    return NULL;
  row = shape.rank > 0 ? (gsize) shape.dims[shape.rank - 1] : 1;
  length = dataset_fill_get_length (self, tensors);
  for (gsize k = 0; k < tensor->n_elements; k++)
    ((float *) tensor->data)[k] = (float) vn_fill_get_value (fill, k, row, length, self->sample_rate);
  return vn_tensor_convert (tensor, spec->dtype, error);
}

/* ---- telling ---- */

/**
 * vn_dataset_get_fill:
 *
 * Returns: what @input is filled with in every sample; %VN_FILL_NONE: the samples have it
 */
VnFill
vn_dataset_get_fill (VnDataset *self,
                     guint      input)
{
  g_return_val_if_fail (self != NULL && input < self->n_inputs, VN_FILL_NONE);

  return self->lacks[input] || vn_dataset_is_filled (self, 0, input) ? self->fills[input] : VN_FILL_NONE;
}

/*< private >
 * vn_dataset_note_filled:
 *
 * Says which inputs are filled, and with what.
 */
void
vn_dataset_note_filled (VnDataset *self,
                        VnNotes   *notes)
{
  g_return_if_fail (self != NULL && notes != NULL);

  for (guint fill = VN_FILL_NONE + 1; fill < VN_N_FILLS; fill++)
    {
      g_autoptr(GString) names = g_string_new (NULL);
      guint n = 0;

      for (guint k = 0; k < self->n_inputs; k++)
        if (vn_dataset_get_fill (self, k) == (VnFill) fill && n++ < MOST_NAMES)
          g_string_append_printf (names, "%s“%s”", n > 1 ? ", " : "", self->inputs[k].name);
      if (n > MOST_NAMES)
        g_string_append (names, " …");
      if (n > 0)
        vn_notes_add (notes, VN_NOTE_INFO, "data-filled", NULL,
                      ngettext ("The samples have no values for input %s: it is filled with %s",
                                "The samples have no values for inputs %s: they are filled with %s", n), names->str,
                      vn_fill_get_title ((VnFill) fill));
    }
}
