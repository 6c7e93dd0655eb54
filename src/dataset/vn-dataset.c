/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The data set: finds the samples, plans how they become inputs, and loads them one at a time. */
#include "vn-dataset-private.h"

#include "vn-input-role.h"
#include "vn-memory.h"

/* ---- making ---- */

/* A #GDestroyNotify. */
void
vn_sample_free (gpointer data)
{
  VnSample *sample = data;

  g_free (sample->name);
  g_strfreev (sample->paths);
  g_free (sample);
}

/* Appends a sample; @paths (nullable) is copied. @name is a file's: it may be no text. */
void
vn_dataset_add (VnDataset   *self,
                const char  *name,
                int          label,
                char       **paths)
{
  VnSample *sample = g_new (VnSample, 1);

  *sample = (VnSample) { g_utf8_make_valid (name, -1), self->samples->len, label, g_strdupv (paths), 0, 0, 0 };
  g_ptr_array_add (self->samples, sample);
}

/* A data set without samples. */
/* An axis order that is asked for is that of the samples. */
static VnTurned
dataset_choose_turned (const VnDataSpec  *spec,
                       const VnInputSpec *input)
{
  const VnLayout layout = vn_data_spec_get_preprocess (spec, input->name)->layout;

  if (input->turned == VN_TURNED_NEVER || layout == VN_LAYOUT_AUTO)
    return input->turned;
  return layout == VN_LAYOUT_NCHW ? VN_TURNED_FIRST : VN_TURNED_NEVER;
}

/* Of several inputs, the only one that needs samples gets them; without such a one it is the first that counts. */
static void
dataset_find_main (VnDataset *self)
{
  guint n = 0;

  for (guint k = 0; k < self->n_inputs; k++)
    {
      self->fills[k] = vn_input_role_get_fill (vn_input_role_find (&self->inputs[k]));
      if (self->fills[k] == VN_FILL_NONE && n++ == 0)
        self->main_input = k;
    }
  self->has_main = self->n_inputs == 1 || n == 1;
  for (guint k = 0; k < self->n_inputs; k++)
    self->inputs[k].by_name = self->fills[k] != VN_FILL_NONE && k != self->main_input;
}

VnDataset *
vn_dataset_new (const VnDataSpec  *spec,
                const VnInputSpec *inputs,
                guint              n_inputs)
{
  VnDataset *self = g_new0 (VnDataset, 1);

  g_atomic_ref_count_init (&self->ref);
  self->spec = vn_data_spec_copy (spec);
  self->n_inputs = n_inputs;
  self->inputs = g_new (VnInputSpec, MAX (n_inputs, 1));
  self->pictures = g_new0 (VnPicturePlan, MAX (n_inputs, 1));
  self->fills = g_new0 (VnFill, MAX (n_inputs, 1));
  self->lacks = g_new0 (gboolean, MAX (n_inputs, 1));
  for (guint k = 0; k < n_inputs; k++)
    {
      self->inputs[k] = inputs[k];
      self->inputs[k].name = g_strdup (inputs[k].name);
      self->inputs[k].turned = dataset_choose_turned (self->spec, &inputs[k]);
    }
  dataset_find_main (self);
  self->samples = g_ptr_array_new_with_free_func (vn_sample_free);
  self->classes = g_ptr_array_new_with_free_func (g_free);
  return self;
}

VnDataset *
vn_dataset_ref (VnDataset *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

void
vn_dataset_unref (VnDataset *self)
{
  if (!g_atomic_ref_count_dec (&self->ref))
    return;
  for (guint k = 0; k < self->n_inputs; k++)
    g_free (self->inputs[k].name);
  g_free (self->inputs);
  g_free (self->pictures);
  g_free (self->fills);
  g_free (self->lacks);
  g_ptr_array_unref (self->samples);
  g_ptr_array_unref (self->classes);
  if (self->stack != NULL)
    vn_tensor_unref (self->stack);
  g_clear_pointer (&self->tokens, g_array_unref);
  g_clear_pointer (&self->windows, g_array_unref);
  g_clear_pointer (&self->stream, g_bytes_unref);
  g_clear_pointer (&self->messages, g_array_unref);
  g_free (self->columns);
  g_clear_pointer (&self->scripts, g_hash_table_unref);
  vn_dataset_clear_kept (self);
  vn_data_spec_free (self->spec);
  g_free (self);
}

/* ---- asking ---- */

static const VnSample *
dataset_get_sample (VnDataset *self,
                    guint      i)
{
  g_return_val_if_fail (i < self->samples->len, NULL);

  return g_ptr_array_index (self->samples, i);
}

/**
 * vn_dataset_get_n:
 *
 * Returns: the number of samples, at least 1
 */
guint
vn_dataset_get_n (VnDataset *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->samples->len;
}

guint
vn_dataset_get_n_inputs (VnDataset *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->n_inputs;
}

/**
 * vn_dataset_get_name:
 *
 * Returns: (transfer none): what to call sample @i: its file relative to the data, or "random 3"
 */
const char *
vn_dataset_get_name (VnDataset *self,
                     guint      i)
{
  const VnSample *sample;

  g_return_val_if_fail (self != NULL, NULL);

  sample = dataset_get_sample (self, i);
  return sample != NULL ? sample->name : NULL;
}

/**
 * vn_dataset_get_path:
 *
 * Returns: (transfer none) (nullable): the file of sample @i's main input; %NULL for random samples and slices of a
 *   stack
 */
const char *
vn_dataset_get_path (VnDataset *self,
                     guint      i)
{
  const VnSample *sample;

  g_return_val_if_fail (self != NULL, NULL);

  sample = dataset_get_sample (self, i);
  return sample != NULL && sample->paths != NULL ? sample->paths[self->main_input] : NULL;
}

/**
 * vn_dataset_get_label:
 *
 * Returns: the class of sample @i, by its folder or as the list says, or -1
 */
int
vn_dataset_get_label (VnDataset *self,
                      guint      i)
{
  const VnSample *sample;

  g_return_val_if_fail (self != NULL, -1);

  sample = dataset_get_sample (self, i);
  return sample != NULL ? sample->label : -1;
}

/**
 * vn_dataset_get_n_classes:
 *
 * Returns: the number of class folders, 0 if there are none (also for a list with classes: it has no names for them)
 */
guint
vn_dataset_get_n_classes (VnDataset *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->classes->len;
}

/**
 * vn_dataset_get_class:
 *
 * Returns: (transfer none): the name of class @k
 */
const char *
vn_dataset_get_class (VnDataset *self,
                      guint      k)
{
  g_return_val_if_fail (self != NULL && k < self->classes->len, NULL);

  return self->classes->pdata[k];
}

/**
 * vn_dataset_get_labels:
 *
 * Returns: (transfer none) (nullable): the file that the specification says names the classes or the samples
 */
const char *
vn_dataset_get_labels (VnDataset *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->spec->labels;
}

/**
 * vn_dataset_is_image:
 *
 * Returns: whether the main input is fed with pictures
 */
gboolean
vn_dataset_is_image (VnDataset *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->is_image;
}

/**
 * vn_dataset_get_main_input:
 *
 * Returns: the number of the input that the samples are for: the only one that is not filled, or the first
 */
guint
vn_dataset_get_main_input (VnDataset *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->main_input;
}

/**
 * vn_dataset_get_sample_rate:
 *
 * Returns: of the first sound, in Hz; 0: the samples are none
 */
guint
vn_dataset_get_sample_rate (VnDataset *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->sample_rate;
}

/**
 * vn_dataset_get_input:
 *
 * Returns: (transfer none): what samples must have for @input
 */
const VnInputSpec *
vn_dataset_get_input (VnDataset *self,
                      guint      input)
{
  g_return_val_if_fail (self != NULL && input < self->n_inputs, NULL);

  return &self->inputs[input];
}

/**
 * vn_dataset_is_random:
 *
 * Returns: whether the samples are random values
 */
gboolean
vn_dataset_is_random (VnDataset *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return vn_data_spec_is_random (self->spec);
}

/* ---- other settings ---- */

/**
 * vn_dataset_swap_colors:
 * @tensor: loaded for @input
 *
 * Returns: (transfer full) (nullable): what would have been loaded with the other channel order: red and blue are swapped
 *   before mean and deviation; %NULL unless the settings turned a picture of three colours into floats
 */
VnTensor *
vn_dataset_swap_colors (VnDataset      *self,
                        guint           input,
                        const VnTensor *tensor)
{
  const VnPicturePlan *plan;
  const VnPreprocess *preprocess;
  const float *mean, *std, *from;
  gsize area;
  VnTensor *swapped;
  float *to;

  g_return_val_if_fail (self != NULL && tensor != NULL, NULL);

  plan = &self->pictures[input];
  preprocess = vn_data_spec_get_preprocess (self->spec, self->inputs[input].name);
  mean = preprocess->mean;
  std = preprocess->std;
  from = tensor->data;
  area = tensor->n_elements / 3 / (gsize) MAX (plan->batch, 1);
  if (plan->channels != 3 || tensor->dtype != VN_DTYPE_F32 ||
      vn_data_spec_get_script (self->spec, self->inputs[input].name) != NULL ||
      area == 0 || tensor->n_elements % (3 * area) != 0 || (swapped = vn_tensor_new (VN_DTYPE_F32, &tensor->shape, NULL)) == NULL)
    return NULL;
  to = swapped->data;
  for (gsize i = 0; i < tensor->n_elements; i++)
    {
      gsize c = plan->layout == VN_LAYOUT_NHWC ? i % 3 : i / area % 3;
      gsize other = plan->layout == VN_LAYOUT_NHWC ? i - c + (2 - c) : i - c * area + (2 - c) * area;

      to[i] = (from[other] * std[2 - c] + mean[2 - c] - mean[c]) / std[c];
    }
  return swapped;
}

/**
 * vn_dataset_get_preprocess:
 *
 * Returns: (transfer none) (nullable): the settings that make tensors of pictures for @input; %NULL if the samples are no
 *   pictures, a script makes the tensors, or the input takes none
 */
const VnPreprocess *
vn_dataset_get_preprocess (VnDataset *self,
                           guint      input)
{
  const char *name;

  g_return_val_if_fail (self != NULL, NULL);

  name = self->inputs[input].name;
  if (!vn_dataset_is_image (self) || self->pictures[input].channels == 0 || vn_data_spec_get_script (self->spec, name) != NULL)
    return NULL;
  return vn_data_spec_get_preprocess (self->spec, name);
}

/**
 * vn_dataset_renormalize:
 * @tensor: loaded for @input
 * @settings: whose mean and deviation are to be tried
 *
 * Returns: (transfer full) (nullable): what would have been loaded with these; %NULL unless the settings turned a picture into
 *   floats
 */
VnTensor *
vn_dataset_renormalize (VnDataset          *self,
                        guint               input,
                        const VnTensor     *tensor,
                        const VnPreprocess *settings)
{
  const VnPicturePlan *plan;
  const VnPreprocess *own;
  gsize channels;     /* the fourth stays 0, whatever the settings */
  gsize area;
  const float *from;
  VnTensor *result;

  g_return_val_if_fail (self != NULL && tensor != NULL, NULL);

  plan = &self->pictures[input];
  own = vn_data_spec_get_preprocess (self->spec, self->inputs[input].name);
  channels = plan->channels == 4 ? 0 : plan->channels;
  area = channels > 0 ? tensor->n_elements / channels / (gsize) MAX (plan->batch, 1) : 0;
  from = tensor->data;
  if (tensor->dtype != VN_DTYPE_F32 || vn_data_spec_get_script (self->spec, self->inputs[input].name) != NULL || area == 0 ||
      tensor->n_elements % (channels * area) != 0 || (result = vn_tensor_new (VN_DTYPE_F32, &tensor->shape, NULL)) == NULL)
    return NULL;
  for (gsize i = 0; i < tensor->n_elements; i++)
    {
      gsize c = plan->layout == VN_LAYOUT_NHWC ? i % channels : i / area % channels;

      ((float *) result->data)[i] = (from[i] * own->std[c] + own->mean[c] - settings->mean[c]) / settings->std[c];
    }
  return result;
}

/**
 * vn_dataset_split:
 * @n: how many samples there are
 * @n_held: how many to hold out; more than @n counts as @n
 * @calibration: (out) (nullable) (transfer full) (element-type guint): the others
 * @held_out: (out) (nullable) (transfer full) (element-type guint): @n_held, evenly spread
 *
 * Splits 0 .. n-1; both parts are in ascending order.
 */
void
vn_dataset_split (guint    n,
                  guint    n_held,
                  GArray **calibration,
                  GArray **held_out)
{
  g_autoptr(GArray) kept = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr(GArray) held = g_array_new (FALSE, FALSE, sizeof (guint));

  n_held = MIN (n_held, n);
  for (guint i = 0; i < n; i++)
    {
      /* The middle of the k-th of n_held equal parts. */
      guint64 middle = held->len < n_held ? (2 * (guint64) held->len + 1) * n / (2 * (guint64) n_held) : G_MAXUINT64;

      g_array_append_val ((i == middle ? held : kept), i);
    }
  if (calibration != NULL)
    *calibration = g_steal_pointer (&kept);
  if (held_out != NULL)
    *held_out = g_steal_pointer (&held);
}
