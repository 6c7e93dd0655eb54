/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which of the named preprocessings would have made of pictures what the network's first layer expects; see vn-data-check.c. */
#include "vn-data-check-private.h"

#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-thresholds.h"

#include <math.h>
#include <string.h>

#define MAX_SAMPLES 4u

typedef struct
{
  const VnFirstLayers      *first;
  GPtrArray                *layers;
  guint                     input;
  const VnPreprocessPreset *preset;
} Look;

/* Lets the layers see a sample as the preset would have made it; FALSE if it is no picture that was loaded without a script. */
static gboolean
remedy_scan (guint          sample,
             VnTensor     **inputs,
             gpointer       data,
             GCancellable  *cancellable)
{
  const Look *self = data;
  VnTensor *other = vn_dataset_renormalize (self->first->dataset, self->input, inputs[self->input], &self->preset->settings);

  if (other == NULL)
    return FALSE;
  vn_tensor_unref (inputs[self->input]);
  inputs[self->input] = other;
  _vn_first_layers_run (self->first, self->layers, inputs, cancellable);
  return TRUE;
}

/* What the first layers make of samples prepared as @preset; NULL if that cannot be told. */
static GPtrArray *
remedy_try (const VnFirstLayers      *self,
            guint                     index,
            const VnPreprocessPreset *preset,
            GCancellable             *cancellable)
{
  g_autoptr(GArray) samples = _vn_data_spread (self->dataset, MAX_SAMPLES);
  g_autoptr(GPtrArray) layers = _vn_first_layers_copy (self->layers);
  Look look = { self, layers, ((const VnFirstLayer *) self->layers->pdata[index])->input, preset };

  return _vn_data_each (self->dataset, samples, remedy_scan, &look, cancellable) ? g_steal_pointer (&layers) : NULL;
}

/*< private >
 * _vn_data_is_preset_repeated:
 *
 * Returns: whether an earlier preset has the same mean and deviation: it differs in the size alone
 */
gboolean
_vn_data_is_preset_repeated (const VnPreprocessPreset *presets,
                             guint                     index)
{
  const VnPreprocess *own = &presets[index].settings;

  for (guint i = 0; i < index; i++)
    if (memcmp (own->mean, presets[i].settings.mean, sizeof own->mean) == 0 &&
        memcmp (own->std, presets[i].settings.std, sizeof own->std) == 0)
      return TRUE;
  return FALSE;
}

/* What the number of @fault would be. */
static char *
remedy_write_effect (const char  *title,
                     VnDataFault  fault,
                     double       number)
{
  g_autofree char *text = NULL;

  if (!isfinite (number))
    return NULL;
  text = vn_format_number (number, 2);
  switch (fault)
    {
    case VN_FAULT_RATIO:
      return g_strdup_printf (_("With %s they would vary %s times as much."), title, text);
    case VN_FAULT_SHIFT:
      return g_strdup_printf (_("With %s it would be %s standard deviations."), title, text);
    case VN_FAULT_BIAS:
      return g_strdup_printf (_("With %s they would be %s times as large."), title, text);
    case VN_FAULT_CLAMP:
      return g_strdup_printf (_("With %s it would vary by %s."), title, text);
    case VN_FAULT_RAW:
      return g_strdup_printf (_("With %s they would contribute %s times as much."), title, text);
    case VN_FAULT_NONE:
      break;
    }
  return NULL;
}

/* Mean and deviation of @preset; all else stays as it is. */
static void
remedy_add_cure (GPtrArray                *cures,
                 const VnPreprocess       *own,
                 const char               *name,
                 const VnPreprocessPreset *preset,
                 VnDataFault               fault,
                 double                    number,
                 gboolean                  first)
{
  VnDataCure *cure;

  if (own == NULL)
    return;
  cure = g_new0 (VnDataCure, 1);
  cure->input = g_strdup (name);
  cure->settings = *own;
  memcpy (cure->settings.mean, preset->settings.mean, sizeof cure->settings.mean);
  memcpy (cure->settings.std, preset->settings.std, sizeof cure->settings.std);
  cure->title = g_strdup (_(preset->brief));
  cure->effect = remedy_write_effect (cure->title, fault, number);
  g_ptr_array_insert (cures, first ? 0 : -1, cure);
}

static void
remedy_offer (const VnFirstLayers *self,
              const char          *name,
              gboolean             is_certain,
              GPtrArray           *cures)
{
  if (cures->len > 0 && is_certain)
    _vn_data_sight_set_suits (self->sight, name, &((VnDataCure *) cures->pdata[0])->settings);
  if (cures->len > 0)
    _vn_data_sight_add_cures (self->sight, "data-range", is_certain, g_ptr_array_ref (cures));
}

/*< private >
 * _vn_data_find_preset:
 * @layer: index of the first layer that the samples do not suit
 * @name: of its input
 *
 * A BatchNormalization tells which preprocessing suits best; biases and clamps only tell which ones may be right. Who looks is
 * offered them.
 *
 * Returns: (transfer full) (nullable): the sentence that names them, if there are any
 */
char *
_vn_data_find_preset (const VnFirstLayers *self,
                      guint                layer,
                      const char          *name,
                      GCancellable        *cancellable)
{
  const VnFirstLayer *own = self->layers->pdata[layer];
  const gboolean exact = own->norm != NULL;
  const VnDataFault fault = _vn_first_layer_find_fault (own);
  const VnPreprocess *settings = self->sight != NULL ? vn_dataset_get_preprocess (self->dataset, own->input) : NULL;
  g_autoptr(GPtrArray) cures = g_ptr_array_new_with_free_func (_vn_data_cure_free);
  const VnPreprocessPreset *presets, *best = NULL;
  g_autoptr(GString) names = g_string_new (NULL);
  double least = INFINITY;
  guint n;

  presets = vn_preprocess_presets (&n);
  for (guint i = 0; i < n; i++)
    {
      g_autoptr(GPtrArray) layers = _vn_data_is_preset_repeated (presets, i) ? NULL
                                  : remedy_try (self, layer, &presets[i], cancellable);
      double distance = layers != NULL ? _vn_first_layer_get_distance (layers->pdata[layer]) : INFINITY;

      if (!isfinite (distance))
        continue;
      remedy_add_cure (cures, settings, name, &presets[i], fault, _vn_first_layer_get_fault (layers->pdata[layer], fault),
                       exact && distance < least);
      g_string_append_printf (names, names->len > 0 ? ", “%s”" : "“%s”", presets[i].id);
      if (distance < least)
        {
          least = distance;
          best = &presets[i];
        }
    }
  if (best == NULL)
    return NULL;
  if (exact && cures->len > 1)
    g_ptr_array_set_size (cures, 1);
  if (self->sight != NULL)
    remedy_offer (self, name, exact || cures->len == 1, cures);
  if (exact)
    return g_strdup_printf (_("Choose a different preprocessing: “%s” (%s) matches the model."), best->id, _(best->title));
  return g_strdup_printf (_("Choose a different preprocessing. Judging by the value range, any of these may be right: %s."),
                          names->str);
}

/*< private >
 * _vn_data_find_scales:
 * @layer: index of a first layer that pixels of 0 to 255 are too large for
 * @name: of its input
 *
 * Offers who looks the preprocessings that are small enough.
 */
void
_vn_data_find_scales (const VnFirstLayers *self,
                      guint                layer,
                      const char          *name,
                      GCancellable        *cancellable)
{
  const VnFirstLayer *own = self->layers->pdata[layer];
  const VnPreprocess *settings = vn_dataset_get_preprocess (self->dataset, own->input);
  g_autoptr(GPtrArray) cures = g_ptr_array_new_with_free_func (_vn_data_cure_free);
  guint n;
  const VnPreprocessPreset *presets = vn_preprocess_presets (&n);

  for (guint i = 0; settings != NULL && i < n; i++)
    {
      g_autoptr(GPtrArray) layers = _vn_data_is_preset_repeated (presets, i) ? NULL
                                  : remedy_try (self, layer, &presets[i], cancellable);
      double raw = layers != NULL ? _vn_first_layer_get_fault (layers->pdata[layer], VN_FAULT_RAW) : NAN;

      if (raw < VN_DATA_SMALL_FIRST)
        remedy_add_cure (cures, settings, name, &presets[i], VN_FAULT_RAW, raw, FALSE);
    }
  remedy_offer (self, name, cures->len == 1, cures);
}

/*< private >
 * _vn_data_offer_presets:
 * @name: of the input
 * @presets: (element-type VnPreprocessPreset): each of them may be right; the only one is
 *
 * Offers them to who looks.
 */
void
_vn_data_offer_presets (const VnFirstLayers *self,
                        guint                input,
                        const char          *name,
                        const GPtrArray     *presets)
{
  const VnPreprocess *settings = vn_dataset_get_preprocess (self->dataset, input);
  g_autoptr(GPtrArray) cures = g_ptr_array_new_with_free_func (_vn_data_cure_free);

  if (self->sight == NULL)
    return;
  for (guint i = 0; i < presets->len; i++)
    remedy_add_cure (cures, settings, name, presets->pdata[i], VN_FAULT_NONE, NAN, FALSE);
  remedy_offer (self, name, cures->len == 1, cures);
}
