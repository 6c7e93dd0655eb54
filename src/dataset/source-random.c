/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Random samples. Sample i is the same for the same seed whatever was loaded before: the generator (SplitMix64, after
 * Steele, Lea and Flood, 2014) starts anew from seed, sample and input.
 *
 * Floats: where the input takes pictures and the preprocessing says how pixels are scaled, (pixel - mean) / std of
 * even pixels 0 .. 255; otherwise even in 0 .. 1. uint8: 0 .. 255. Other integers and bool: 0 or 1, which are valid
 * token numbers, masks and indices alike. */

#include "vn-dataset-private.h"

#include "vn-error.h"
#include "vn-i18n.h"

#include <string.h>

#define DEFAULT_SAMPLES 32

static guint64
next_word (guint64 *state)
{
  guint64 z = *state += 0x9e3779b97f4a7c15u;

  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static guint64
start (guint64 seed,
       guint   sample,
       guint   input)
{
  guint64 state = seed;

  state = next_word (&state) ^ sample;
  state = next_word (&state) ^ input;
  return next_word (&state);
}

static gboolean
random_claims (const VnDataset *dataset)
{
  return g_str_equal (dataset->spec->path, "random");
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
                     _("Input “%s” is %s of unknown rank or of an unusual type: it cannot be filled at random"),
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
scale_as_pixel (const VnDataset     *dataset,
                const VnPicturePlan *plan,
                gsize                area,
                float               *values,
                gsize                n)
{
  const VnPreprocess *p = &dataset->spec->preprocess;

  for (gsize i = 0; i < n; i++)
    {
      gsize c = plan->layout == VN_LAYOUT_NCHW ? i / area % plan->channels : i % plan->channels;

      values[i] = c < 3 ? (255 * values[i] - p->mean[c]) / p->std[c] : 0;
    }
}

static void
fill_floats (const VnDataset *dataset,
             guint            input,
             guint64          state,
             VnTensor        *tensor)
{
  const VnPreprocess *p = &dataset->spec->preprocess;
  const gboolean scaled = p->mean[0] != 0 || p->std[0] != 1;
  VnPicturePlan plan;
  float *values = tensor->data;

  for (gsize i = 0; i < tensor->n_elements; i++)
    values[i] = (float) (next_word (&state) >> 40) * 0x1p-24f;
  if (scaled && tensor->n_elements > 0 && vn_picture_plan_init (&plan, &dataset->inputs[input], p, NULL))
    scale_as_pixel (dataset, &plan, tensor->n_elements / (gsize) plan.batch / plan.channels, values, tensor->n_elements);
}

static void
fill_integers (guint64   state,
               VnTensor *tensor)
{
  const gsize size = vn_dtype_get_bits (tensor->dtype) / 8;
  guint8 *bytes = tensor->data;

  memset (bytes, 0, tensor->n_bytes);
  for (gsize i = 0; i < tensor->n_elements; i++)
    bytes[i * size] = (guint8) (next_word (&state) >> (tensor->dtype == VN_DTYPE_U8 ? 56 : 63));
}

static gboolean
random_load (const VnDataset  *dataset,
             guint             i,
             guint             input,
             VnTensor        **tensor,
             GError          **error)
{
  const VnInputSpec *spec = &dataset->inputs[input];
  const gboolean is_float = vn_dtype_is_float (spec->dtype);
  const VnSample *sample = g_ptr_array_index (dataset->samples, i);
  guint64 state = start (dataset->spec->seed, sample->index, input);
  g_autoptr(VnTensor) filled = NULL;
  VnShape shape = spec->shape;

  for (int k = 0; k < shape.rank; k++)
    if (shape.dims[k] == VN_DIM_UNKNOWN)
      shape.dims[k] = 1;
  filled = vn_tensor_new (is_float ? VN_DTYPE_F32 : spec->dtype, &shape, error);
  if (filled == NULL)
    return FALSE;
  if (is_float)
    fill_floats (dataset, input, state, filled);
  else
    fill_integers (state, filled);
  *tensor = vn_tensor_convert (filled, spec->dtype, error);
  return *tensor != NULL;
}

const VnSource vn_source_random = {
  .id = "random",
  .title = N_("random numbers"),
  .claims = random_claims,
  .open = random_open,
  .load = random_load,
};
