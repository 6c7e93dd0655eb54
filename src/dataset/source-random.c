/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Random samples. Sample i is the same for the same seed whatever was loaded before: the generator (SplitMix64, after
 * Steele, Lea and Flood, 2014) starts anew from seed, sample and input.
 *
 * Floats: where the input takes pictures and the preprocessing says how pixels are scaled, (pixel - mean) / std of
 * even pixels 0 .. 255; otherwise even in 0 .. 1. uint8: 0 .. 255. Other integers and bool by what they mean: numbers
 * below the size of the embedding they are looked up in; where the name of the input says what it is, that
 * (vn-input-role.c); otherwise 0 or 1, which are valid token numbers, masks and indices alike. Sequences of open length have
 * SEQUENCE of them, and nothing has gone before them: caches of keys and values are empty. Beside caches, sequences have as
 * many as the tokens, if the number of those is given, and masks that and the length of the past. */

#include "vn-dataset-private.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-input-role.h"

#include <string.h>

#define DEFAULT_SAMPLES 32
#define SEQUENCE 16

static guint64
source_random_next_word (guint64 *state)
{
  guint64 z = *state += 0x9e3779b97f4a7c15u;

  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static guint64
source_random_start (guint64 seed,
                     guint   sample,
                     guint   input)
{
  guint64 state = seed;

  state = source_random_next_word (&state) ^ sample;
  state = source_random_next_word (&state) ^ input;
  return source_random_next_word (&state);
}

static gboolean
random_claims (const VnDataset *dataset)
{
  return vn_data_spec_is_random (dataset->spec);
}

static gboolean
random_open (VnDataset  *dataset,
             VnNotes    *notes,
             GError    **error)
{
  guint n = dataset->spec->max_samples > 0 ? dataset->spec->max_samples : DEFAULT_SAMPLES;

  for (guint k = 0; k < dataset->n_inputs; k++)
    if (vn_dtype_get_bits (dataset->inputs[k].dtype) < 8 || dataset->inputs[k].shape.rank == VN_RANK_UNKNOWN)
      {
        g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
                     _("Input “%s” is %s of unknown rank or of an unsupported type: it cannot be filled with random values"),
                     dataset->inputs[k].name, vn_dtype_get_name (dataset->inputs[k].dtype));
        return FALSE;
      }
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("random %u", i);

      vn_dataset_add (dataset, name, -1, NULL);
    }
  return TRUE;
}

/* Mean and deviation of element @at, if the input takes pictures. */
static void
source_random_scale_as_pixel (const VnPreprocess  *p,
                              const VnPicturePlan *plan,
                              gsize                area,
                              float               *values,
                              gsize                n)
{
  for (gsize i = 0; i < n; i++)
    {
      gsize c = plan->layout == VN_LAYOUT_NCHW ? i / area % plan->channels : i % plan->channels;

      values[i] = c < 3 ? (255 * values[i] - p->mean[c]) / p->std[c] : 0;
    }
}

static void
source_random_fill_floats (const VnDataset *dataset,
                           guint            input,
                           guint64          state,
                           VnTensor        *tensor)
{
  const VnPreprocess *p = vn_data_spec_get_preprocess (dataset->spec, dataset->inputs[input].name);
  const gboolean scaled = p->mean[0] != 0 || p->std[0] != 1;
  VnPicturePlan plan;
  float *values = tensor->data;

  for (gsize i = 0; i < tensor->n_elements; i++)
    values[i] = (float) (source_random_next_word (&state) >> 40) * 0x1p-24f;
  if (scaled && tensor->n_elements > 0 && vn_picture_plan_init (&plan, &dataset->inputs[input], p, NULL))
    source_random_scale_as_pixel (p, &plan, tensor->n_elements / (gsize) plan.batch / plan.channels, values, tensor->n_elements);
}

static gboolean
source_random_is_sequence (const VnInputSpec *spec)
{
  return spec->shape.rank == 2 && vn_dtype_is_integer (spec->dtype) && spec->dtype != VN_DTYPE_U8;
}

/* Of [..., heads, tokens, numbers of each] */
static gboolean
source_random_is_cache (const VnInputSpec *spec)
{
  return spec->shape.rank >= 4 && vn_input_role_find (spec) == VN_INPUT_PAST;
}

/* Of sequences whose length is open. In networks with caches: as of the tokens, and of what has gone before them for a mask; a
 * cache that only holds a window does not tell that. */
static gint64
source_random_choose_length (const VnDataset   *dataset,
                             const VnInputSpec *spec)
{
  const gboolean is_mask = vn_input_role_find (spec) == VN_INPUT_MASK;
  gint64 length = SEQUENCE, past = VN_DIM_UNKNOWN;

  for (guint k = 0; k < dataset->n_inputs; k++)
    {
      const VnInputSpec *other = &dataset->inputs[k];

      if (source_random_is_cache (other))
        past = MAX (past, vn_input_spec_slides (other) ? 0 : MAX (other->shape.dims[other->shape.rank - 2], 0));
      else if (source_random_is_sequence (other) && other->shape.dims[1] > 0 && vn_input_role_find (other) == VN_INPUT_TOKENS)
        length = other->shape.dims[1];
    }
  if (past == VN_DIM_UNKNOWN)
    return SEQUENCE;
  return length + (is_mask ? MIN (past, G_MAXINT32) : 0);
}

/* The shape samples of an input have where it leaves sizes open: one of everything, but of tokens some, and no past. */
static VnShape
source_random_choose_shape (const VnDataset *dataset,
                            guint            input)
{
  const VnInputSpec *spec = &dataset->inputs[input];
  VnShape shape = spec->shape;
  const gboolean is_cache = source_random_is_cache (spec);

  for (int k = 0; k < shape.rank; k++)
    if (shape.dims[k] == VN_DIM_UNKNOWN)
      shape.dims[k] = is_cache && k == shape.rank - 2 ? 0
                      : k == 1 && source_random_is_sequence (spec) ? source_random_choose_length (dataset, spec) : 1;
  return shape;
}

/* Tokens in the longest sequence among the inputs. */
static gint64
source_random_find_length (const VnDataset *dataset)
{
  gint64 length = 1;

  for (guint k = 0; k < dataset->n_inputs; k++)
    {
      VnShape shape = source_random_choose_shape (dataset, k);

      if (shape.rank == 2 && vn_dtype_is_integer (dataset->inputs[k].dtype))
        length = MAX (length, shape.dims[1]);
    }
  return length;
}

static gint64
source_random_make_integer (const VnInputSpec *spec,
                            VnFill             fill,
                            gint64             length,
                            gsize              i,
                            gsize              row,
                            guint64           *state)
{
  const guint64 word = source_random_next_word (state);

  if (fill != VN_FILL_NONE)
    return vn_fill_get_value (fill, i, row, length, 0);
  if (spec->limit > 0)
    return (gint64) (word % (guint64) spec->limit);
  return (gint64) (word >> (spec->dtype == VN_DTYPE_U8 ? 56 : 63));
}

static void
source_random_fill_integers (const VnDataset *dataset,
                             guint            input,
                             guint64          state,
                             VnTensor        *tensor)
{
  const VnInputSpec *spec = &dataset->inputs[input];
  const gsize size = vn_dtype_get_bits (tensor->dtype) / 8;
  const gsize row = tensor->shape.rank > 0 ? (gsize) tensor->shape.dims[tensor->shape.rank - 1] : 1;
  const VnFill fill = vn_input_role_get_fill (vn_input_role_find (spec));
  const gint64 length = source_random_find_length (dataset);
  gint64 min = 0, max = 1;
  guint8 *bytes = tensor->data;

  memset (bytes, 0, tensor->n_bytes);
  vn_dtype_integer_range (spec->dtype, &min, &max);
  if (spec->limit > 0)
    max = MIN (max, spec->limit - 1);
  for (gsize i = 0; i < tensor->n_elements; i++)
    {
      gint64 value = source_random_make_integer (spec, fill, length, i, row, &state);

      value = GINT64_TO_LE (CLAMP (value, 0, max));
      memcpy (bytes + i * size, &value, MIN (size, sizeof value));
    }
}

/*< private >
 * vn_source_random_make:
 * @i: number of a sample
 * @shape: static
 *
 * Returns: (transfer full) (nullable): the same for the same seed, sample and input
 */
VnTensor *
vn_source_random_make (const VnDataset  *dataset,
                       guint             i,
                       guint             input,
                       const VnShape    *shape,
                       GError          **error)
{
  const VnInputSpec *spec;
  gboolean is_float;
  const VnSample *sample;
  guint64 state;
  g_autoptr(VnTensor) filled = NULL;

  g_return_val_if_fail (dataset != NULL && shape != NULL, NULL);

  spec = &dataset->inputs[input];
  is_float = vn_dtype_is_float (spec->dtype);
  sample = g_ptr_array_index (dataset->samples, i);
  state = source_random_start (dataset->spec->seed, sample->index, input);
  filled = vn_tensor_new (is_float ? VN_DTYPE_F32 : spec->dtype, shape, error);
  if (filled == NULL)
    return NULL;
  if (is_float)
    source_random_fill_floats (dataset, input, state, filled);
  else
    source_random_fill_integers (dataset, input, state, filled);
  return vn_tensor_convert (filled, spec->dtype, error);
}

static gboolean
random_load (const VnDataset  *dataset,
             guint             i,
             guint             input,
             VnTensor        **tensor,
             GError          **error)
{
  VnShape shape = source_random_choose_shape (dataset, input);

  *tensor = vn_source_random_make (dataset, i, input, &shape, error);
  return *tensor != NULL;
}

const VnSource vn_source_random = {
  .id = "random",
  .title = N_("random values"),
  .claims = random_claims,
  .open = random_open,
  .load = random_load,
};
