/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which of the named preprocessings would have made of pictures what the network's first layer expects; see vn-data-check.c.
 * Where several might be, they are ranked by what else is known: how well the first layer's biases suit them, the size of the
 * pictures, and whether the network reads lines of text. What the metadata of the network's file say counts more than all
 * that. */
#include "vn-data-check-private.h"

#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-model-metadata.h"
#include "vn-thresholds.h"

#include <math.h>
#include <string.h>

#define MAX_SAMPLES 4u

/* What is added to the rank of a preprocessing, which is the distance from what the first layer suits, in natural logarithms. */
#define RANK_TEXT   (-4.0)    /* from -1 to 1, of a network that reads lines of text */
#define RANK_SMALL  0.5       /* of large photographs in color, for small pictures, */
#define RANK_GRAY   2.0       /* or for gray ones */
#define RANK_RARE   1.0       /* the mean alone */
#define SMALL_SIDE  64

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

/* ---- ranking ---- */

/* @rank: smaller is likelier; @number: that of the fault would be this */
typedef struct
{
  const VnPreprocessPreset *preset;
  double                    rank, number;
} Candidate;

static int
remedy_compare (gconstpointer a,
                gconstpointer b)
{
  const Candidate *x = a, *y = b;

  return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank) : (x->preset > y->preset) - (x->preset < y->preset);
}

/* What the kind of pictures says for or against a scale. */
static double
remedy_get_prior (const VnFirstLayers *self,
                  const char          *name,
                  const VnPreprocess  *scale)
{
  const VnValue *value = vn_graph_find_value (self->model->graph, name);
  const VnShape *sized = self->shapes != NULL ? g_hash_table_lookup (self->shapes, name) : NULL;
  const VnShape *shape = sized != NULL ? sized : &value->type.shape;
  const gboolean is_last = shape->rank == 4 && shape->dims[3] <= 4 && shape->dims[1] > 4;
  const gboolean is_of_colors = scale->mean[0] != scale->mean[1];
  double prior = is_of_colors && scale->std[0] == 1 ? RANK_RARE : 0;
  gint64 channels, height, width;

  if (shape->rank != 4)
    return prior;
  channels = shape->dims[is_last ? 3 : 1];
  height = shape->dims[is_last ? 1 : 2];
  width = shape->dims[is_last ? 2 : 3];
  if ((height == 48 || height == 32) && width >= 3 * height && scale->mean[0] == 127.5f)
    prior += RANK_TEXT;
  if (is_of_colors && channels == 1)
    prior += RANK_GRAY;
  else if (is_of_colors && height <= SMALL_SIDE && width <= SMALL_SIDE)
    prior += RANK_SMALL;
  return prior;
}

/* Mean and deviation of the preset; all else stays as it is. */
static void
remedy_add_cure (GPtrArray          *cures,
                 const VnPreprocess *own,
                 const char         *name,
                 const Candidate    *candidate,
                 VnDataFault         fault)
{
  VnDataCure *cure = g_new0 (VnDataCure, 1);

  cure->input = g_strdup (name);
  cure->settings = *own;
  memcpy (cure->settings.mean, candidate->preset->settings.mean, sizeof cure->settings.mean);
  memcpy (cure->settings.std, candidate->preset->settings.std, sizeof cure->settings.std);
  cure->title = g_strdup (_(candidate->preset->brief));
  cure->effect = remedy_write_effect (cure->title, fault, candidate->number);
  g_ptr_array_add (cures, cure);
}

/* Offers who looks the candidates, which are sorted. */
static void
remedy_offer (const VnFirstLayers *self,
              guint                input,
              const char          *name,
              GArray              *candidates,
              VnDataFault          fault,
              gboolean             is_certain)
{
  const VnPreprocess *own = self->sight != NULL ? vn_dataset_get_preprocess (self->dataset, input) : NULL;
  g_autoptr(GPtrArray) cures = g_ptr_array_new_with_free_func (_vn_data_cure_free);

  for (guint i = 0; own != NULL && i < candidates->len; i++)
    remedy_add_cure (cures, own, name, &g_array_index (candidates, Candidate, i), fault);
  if (cures->len == 0)
    return;
  if (is_certain)
    _vn_data_sight_set_suits (self->sight, name, &((VnDataCure *) cures->pdata[0])->settings);
  _vn_data_sight_add_cures (self->sight, "data-range", is_certain, g_ptr_array_ref (cures));
}

/* Those that suit the layer, best first. @fault: whose number is wanted. */
static GArray *
remedy_list_suitable (const VnFirstLayers *self,
                      guint                layer,
                      const char          *name,
                      VnDataFault          fault,
                      GCancellable        *cancellable)
{
  const gboolean exact = ((const VnFirstLayer *) self->layers->pdata[layer])->norm != NULL;
  GArray *candidates = g_array_new (FALSE, FALSE, sizeof (Candidate));
  guint n;
  const VnPreprocessPreset *presets = vn_preprocess_presets (&n);

  for (guint i = 0; i < n; i++)
    {
      g_autoptr(GPtrArray) layers = _vn_data_is_preset_repeated (presets, i) ? NULL
                                  : remedy_try (self, layer, &presets[i], cancellable);
      double distance = layers != NULL ? _vn_first_layer_get_distance (layers->pdata[layer]) : INFINITY;
      Candidate candidate = { &presets[i], distance, NAN };

      if (!isfinite (distance))
        continue;
      if (!exact)
        candidate.rank += remedy_get_prior (self, name, &presets[i].settings);
      candidate.number = _vn_first_layer_get_fault (layers->pdata[layer], fault);
      g_array_append_val (candidates, candidate);
    }
  g_array_sort (candidates, remedy_compare);
  return candidates;
}

/*< private >
 * _vn_data_find_preset:
 * @layer: index of the first layer that the samples do not suit
 * @name: of its input
 *
 * A BatchNormalization tells which preprocessing suits best; biases and clamps only tell which ones may be right. Who looks is
 * offered them, the likeliest first.
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
  const VnDataFault fault = _vn_first_layer_find_fault (own);
  g_autoptr(GArray) candidates = remedy_list_suitable (self, layer, name, fault, cancellable);
  g_autoptr(GString) names = g_string_new (NULL);
  const VnPreprocessPreset *best;

  if (candidates->len == 0)
    return NULL;
  best = g_array_index (candidates, Candidate, 0).preset;
  if (own->norm != NULL)
    g_array_set_size (candidates, 1);
  remedy_offer (self, own->input, name, candidates, fault, candidates->len == 1);
  if (own->norm != NULL)
    return g_strdup_printf (_("Choose a different preprocessing: “%s” (%s) matches the model."), best->id, _(best->title));
  for (guint i = 0; i < candidates->len; i++)
    g_string_append_printf (names, names->len > 0 ? ", “%s”" : "“%s”", g_array_index (candidates, Candidate, i).preset->id);
  return g_strdup_printf (_("Choose a different preprocessing. Judging by the value range, any of these may be right, the most "
                            "likely first: %s."), names->str);
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
  g_autoptr(GArray) candidates = g_array_new (FALSE, FALSE, sizeof (Candidate));
  guint n;
  const VnPreprocessPreset *presets = vn_preprocess_presets (&n);

  for (guint i = 0; vn_dataset_get_preprocess (self->dataset, own->input) != NULL && i < n; i++)
    {
      g_autoptr(GPtrArray) layers = _vn_data_is_preset_repeated (presets, i) ? NULL
                                  : remedy_try (self, layer, &presets[i], cancellable);
      double raw = layers != NULL ? _vn_first_layer_get_fault (layers->pdata[layer], VN_FAULT_RAW) : NAN;
      Candidate candidate = { &presets[i], fabs (log (MAX (raw, 1e-30))), raw };

      if (!(raw < VN_DATA_SMALL_FIRST))
        continue;
      candidate.rank += remedy_get_prior (self, name, &presets[i].settings);
      g_array_append_val (candidates, candidate);
    }
  g_array_sort (candidates, remedy_compare);
  remedy_offer (self, own->input, name, candidates, VN_FAULT_RAW, candidates->len == 1);
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
  g_autoptr(GArray) candidates = g_array_new (FALSE, FALSE, sizeof (Candidate));

  for (guint i = 0; i < presets->len; i++)
    {
      const VnPreprocessPreset *preset = presets->pdata[i];
      Candidate candidate = { preset, remedy_get_prior (self, name, &preset->settings), NAN };

      g_array_append_val (candidates, candidate);
    }
  g_array_sort (candidates, remedy_compare);
  remedy_offer (self, input, name, candidates, VN_FAULT_NONE, candidates->len == 1);
}

/* ---- what the file says ---- */

static gboolean
remedy_is_scale (const VnPreprocess *a,
                 const VnPreprocess *b)
{
  return memcmp (a->mean, b->mean, 3 * sizeof *a->mean) == 0 && memcmp (a->std, b->std, 3 * sizeof *a->std) == 0;
}

/*< private >
 * _vn_data_metadata_judge:
 * @layer: index of a first layer
 * @name: of its input
 *
 * Returns: whether it said that the samples have another scale than the metadata of the network's file want
 */
gboolean
_vn_data_metadata_judge (const VnFirstLayers *self,
                         guint                layer,
                         const char          *name,
                         VnNotes             *notes)
{
  const VnFirstLayer *first = self->layers->pdata[layer];
  const VnPreprocess *own = vn_dataset_get_preprocess (self->dataset, first->input);
  g_autoptr(VnModelMetadata) metadata = vn_model_metadata_read (self->model);
  g_autofree char *wanted = NULL, *had = NULL, *remedy = NULL;
  g_autoptr(GPtrArray) cures = NULL;
  VnDataCure *cure;

  if (own == NULL || !(metadata->parts & VN_PREPROCESS_SCALE) || remedy_is_scale (own, &metadata->preprocess))
    return FALSE;
  wanted = vn_preprocess_describe (&metadata->preprocess, metadata->parts);
  had = vn_preprocess_describe (own, metadata->parts);
  remedy = g_strdup_printf (_("Prepare the images as the metadata specify: %s."), wanted);
  vn_notes_add_remedy (notes, VN_NOTE_WARNING, "data-range", name, remedy,
                       _("The metadata of the model specify %s, but the preprocessing is %s"), wanted, had);
  if (self->sight == NULL)
    return TRUE;
  cure = g_new0 (VnDataCure, 1);
  cure->input = g_strdup (name);
  cure->settings = *own;
  vn_model_metadata_apply (metadata, &cure->settings, VN_PREPROCESS_ALL);
  cure->title = vn_preprocess_describe (&metadata->preprocess, VN_PREPROCESS_SCALE);
  cures = g_ptr_array_new_with_free_func (_vn_data_cure_free);
  g_ptr_array_add (cures, cure);
  _vn_data_sight_set_suits (self->sight, name, &cure->settings);
  _vn_data_sight_add_cures (self->sight, "data-range", TRUE, g_ptr_array_ref (cures));
  return TRUE;
}

/*< private >
 * _vn_data_is_best_scale:
 * @layer: index of a first layer that the samples suit
 * @name: of its input
 *
 * Returns: whether nothing says that another of the named preprocessings suits better
 */
gboolean
_vn_data_is_best_scale (const VnFirstLayers *self,
                        guint                layer,
                        const char          *name,
                        GCancellable        *cancellable)
{
  const VnFirstLayer *first = self->layers->pdata[layer];
  const VnPreprocess *own = vn_dataset_get_preprocess (self->dataset, first->input);
  g_autoptr(VnModelMetadata) metadata = vn_model_metadata_read (self->model);
  g_autoptr(GArray) candidates = NULL;
  double rank;

  if (own == NULL || metadata->parts & VN_PREPROCESS_SCALE)
    return own != NULL && remedy_is_scale (own, &metadata->preprocess);
  if (first->norm != NULL)
    return TRUE;
  candidates = remedy_list_suitable (self, layer, name, VN_FAULT_NONE, cancellable);
  rank = _vn_first_layer_get_distance (first) + remedy_get_prior (self, name, own);
  return candidates->len == 0 || remedy_is_scale (own, &g_array_index (candidates, Candidate, 0).preset->settings) ||
         rank < g_array_index (candidates, Candidate, 0).rank;
}
