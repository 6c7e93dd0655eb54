/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A network whose first operator is a Relu or Clip keeps what it was trained with: values beyond are lost before the first
 * layer. */
#include "vn-data-check-private.h"

#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-thresholds.h"

#include <math.h>

#define MAX_SAMPLES 8u

typedef struct
{
  const VnNode *node;
  double        low, high;    /* what is kept */
} Limits;

static double
cut_get_limit (const VnNode *clip,
               guint         input,
               const char   *attribute,
               double        otherwise)
{
  const VnValue *value = vn_node_get_input (clip, input);
  const VnTensor *tensor = value != NULL ? vn_value_get_constant (value) : NULL;

  if (value != NULL)
    return tensor != NULL && tensor->n_elements == 1 ? vn_tensor_get_double (tensor, 0) : otherwise;
  return (double) vn_node_get_float (clip, attribute, (float) otherwise);
}

/* Of a picture: gray, or of three colours. */
static gboolean
cut_find (const VnValue *value,
          Limits        *limits)
{
  const VnShape *shape = &value->type.shape;
  const VnUse *use = value->uses->len == 1 ? &g_array_index (value->uses, VnUse, 0) : NULL;
  const gint64 channels[2] = { shape->rank == 4 ? shape->dims[1] : 0, shape->rank == 4 ? shape->dims[3] : 0 };

  if (use == NULL || use->index != 0 || !(channels[0] == 1 || channels[0] == 3 || channels[1] == 1 || channels[1] == 3))
    return FALSE;
  limits->node = use->node;
  limits->low = vn_node_is (use->node, "Relu") ? 0 : cut_get_limit (use->node, 1, "min", -INFINITY);
  limits->high = vn_node_is (use->node, "Relu") ? INFINITY : cut_get_limit (use->node, 2, "max", INFINITY);
  return vn_node_is (use->node, "Relu") || vn_node_is (use->node, "Clip");
}

typedef struct
{
  const VnFirstLayers      *first;
  guint                     input;
  const Limits             *limits;
  const VnPreprocessPreset *preset;      /* nullable: as it would have made the samples */
  double                    low, high, n_cut, n_all;
} Look;

static void
cut_count (Look           *self,
           const VnTensor *tensor)
{
  for (gsize i = 0; i < tensor->n_elements; i++)
    {
      double value = vn_tensor_get_double (tensor, i);

      self->n_cut += value < self->limits->low || value > self->limits->high;
      self->low = fmin (self->low, value);
      self->high = fmax (self->high, value);
    }
  self->n_all += (double) tensor->n_elements;
}

static gboolean
cut_scan (guint          sample,
          VnTensor     **inputs,
          gpointer       data,
          GCancellable  *cancellable)
{
  Look *self = data;
  VnTensor *own = inputs[self->input];
  g_autoptr(VnTensor) other = NULL;

  other = self->preset == NULL ? vn_tensor_ref (own)
                               : vn_dataset_renormalize (self->first->dataset, self->input, own, &self->preset->settings);
  if (other != NULL)
    cut_count (self, other);
  return TRUE;
}

/* Returns the part of their values that is lost; NaN if that cannot be told. */
static double
cut_measure (Look         *self,
             GCancellable *cancellable)
{
  g_autoptr(GArray) samples = _vn_data_spread (self->first->dataset, MAX_SAMPLES);

  self->low = INFINITY;
  self->high = -INFINITY;
  self->n_cut = self->n_all = 0;
  _vn_data_each (self->first->dataset, samples, cut_scan, self, cancellable);
  return self->n_all > 0 ? self->n_cut / self->n_all : NAN;
}

/*< private >
 * _vn_data_cut_judge:
 * @value: the input
 * @input: its index
 *
 * Returns: whether it said that the network cuts much of the samples off
 */
gboolean
_vn_data_cut_judge (const VnFirstLayers *self,
                    guint                input,
                    const VnValue       *value,
                    VnNotes             *notes,
                    GCancellable        *cancellable)
{
  Limits limits;
  Look look = { .first = self, .input = input, .limits = &limits };
  double share;
  g_autofree char *label = NULL, *low_text = NULL, *high_text = NULL;
  g_autoptr(GPtrArray) offered = g_ptr_array_new ();
  const VnPreprocessPreset *presets;
  guint n;

  if (!cut_find (value, &limits) || !((share = cut_measure (&look, cancellable)) > VN_DATA_CUT))
    return FALSE;
  low_text = vn_format_number (look.low, 3);
  high_text = vn_format_number (look.high, 3);
  presets = vn_preprocess_presets (&n);
  for (guint i = 0; i < n && vn_dataset_get_preprocess (self->dataset, input) != NULL; i++)
    {
      look.preset = &presets[i];
      if (!_vn_data_is_preset_repeated (presets, i) && cut_measure (&look, cancellable) < VN_DATA_CUT / 10)
        g_ptr_array_add (offered, (gpointer) &presets[i]);
    }
  _vn_data_offer_presets (self, input, value->name, offered);
  label = vn_node_dup_label (limits.node);
  vn_notes_add (notes, VN_NOTE_WARNING, "data-range", value->name,
                _("The samples span %s to %s, and the first operator of the model, “%s”, clips %.0f %% of their values"),
                low_text, high_text, label, 100 * share);
  return TRUE;
}
