/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which of the named preprocessings would have made of pictures what the network's first layer expects; see vn-data-check.c. */
#include "vn-data-check-private.h"

#include "vn-i18n.h"

#include <math.h>
#include <string.h>

#define MAX_SAMPLES 4u

/* Lets @layers see a sample as @preset would have made it; FALSE if it is no picture that was loaded without a script. */
static gboolean
remedy_try_sample (const VnFirstLayers      *self,
                   GPtrArray                *layers,
                   guint                     input,
                   VnTensor                **tensors,
                   const VnPreprocessPreset *preset,
                   GCancellable             *cancellable)
{
  g_autofree VnTensor **others = g_memdup2 (tensors, self->n_inputs * sizeof (VnTensor *));

  others[input] = vn_dataset_renormalize (self->dataset, input, tensors[input], &preset->settings);
  if (others[input] == NULL)
    return FALSE;
  _vn_first_layers_run (self, layers, others, cancellable);
  vn_tensor_unref (others[input]);
  return TRUE;
}

static void
remedy_clear (VnTensor **tensors,
              guint      n)
{
  for (guint k = 0; k < n; k++)
    g_clear_pointer (&tensors[k], vn_tensor_unref);
}

/* How far samples prepared as @preset are from what layer @index expects; infinity if too far, NaN if that cannot be told. */
static double
remedy_try (const VnFirstLayers      *self,
            guint                     index,
            const VnPreprocessPreset *preset,
            GCancellable             *cancellable)
{
  const guint n = vn_dataset_get_n (self->dataset), n_tried = MIN (n, MAX_SAMPLES);
  const guint input = ((const VnFirstLayer *) self->layers->pdata[index])->input;
  g_autoptr(GPtrArray) layers = _vn_first_layers_copy (self->layers);
  g_autofree VnTensor **tensors = g_new0 (VnTensor *, self->n_inputs + 1);

  for (guint i = 0; i < n_tried && !g_cancellable_is_cancelled (cancellable); i++)
    {
      gboolean good = vn_dataset_load (self->dataset, (guint) ((guint64) i * n / n_tried), tensors, NULL) &&
                      remedy_try_sample (self, layers, input, tensors, preset, cancellable);

      remedy_clear (tensors, self->n_inputs);
      if (!good)
        return NAN;
    }
  return _vn_first_layer_get_distance (layers->pdata[index]);
}

/* Whether an earlier preset has the same mean and deviation: it differs in the size alone. */
static gboolean
remedy_is_repeated (const VnPreprocessPreset *presets,
                    guint                     index)
{
  const VnPreprocess *own = &presets[index].settings;

  for (guint i = 0; i < index; i++)
    if (memcmp (own->mean, presets[i].settings.mean, sizeof own->mean) == 0 &&
        memcmp (own->std, presets[i].settings.std, sizeof own->std) == 0)
      return TRUE;
  return FALSE;
}

/*< private >
 * _vn_data_find_preset:
 * @layer: index of the first layer that the samples do not suit
 *
 * A BatchNormalization tells which preprocessing suits best; biases and clamps only tell which ones may be right.
 *
 * Returns: (transfer full) (nullable): the sentence that names them, if there are any
 */
char *
_vn_data_find_preset (const VnFirstLayers *self,
                      guint                layer,
                      GCancellable        *cancellable)
{
  const gboolean exact = ((const VnFirstLayer *) self->layers->pdata[layer])->norm != NULL;
  const VnPreprocessPreset *presets, *best = NULL;
  g_autoptr(GString) names = g_string_new (NULL);
  double least = INFINITY;
  guint n;

  presets = vn_preprocess_presets (&n);
  for (guint i = 0; i < n; i++)
    {
      double distance = remedy_is_repeated (presets, i) ? INFINITY : remedy_try (self, layer, &presets[i], cancellable);

      if (!isfinite (distance))
        continue;
      g_string_append_printf (names, names->len > 0 ? ", “%s”" : "“%s”", presets[i].id);
      if (distance < least)
        {
          least = distance;
          best = &presets[i];
        }
    }
  if (best == NULL)
    return NULL;
  if (exact)
    return g_strdup_printf (_("Choose another preprocessing: “%s” (%s) suits the network."), best->id, _(best->title));
  return g_strdup_printf (_("Choose another preprocessing; by its size each of these may be right: %s."), names->str);
}
