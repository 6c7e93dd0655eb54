/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statistics of calibration: a histogram for each value by name; sealing, merging and continuing them. */
#include "vn-histogram-private.h"
#include "vn-stats-private.h"

#include "vn-error.h"
#include "vn-i18n.h"

/**
 * vn_stats_new_empty:
 *
 * Returns: (transfer full): what is known when nothing was observed
 */
VnStats *
vn_stats_new_empty (void)
{
  VnStats *self = vn_stats_new (0);

  vn_stats_seal (self);
  return self;
}

/* An empty set to be filled with vn_stats_take() and closed with vn_stats_seal(). */
VnStats *
vn_stats_new (guint n_samples)
{
  VnStats *self = g_new0 (VnStats, 1);

  g_atomic_ref_count_init (&self->ref);
  self->n_samples = self->n_counted = n_samples;
  self->samples = vn_stats_samples_new ();
  self->names = g_ptr_array_new_with_free_func (g_free);
  self->histograms = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_histogram_free);
  return self;
}

void
vn_stats_take (VnStats     *self,
               const char  *name,
               VnHistogram *histogram)
{
  if (histogram->ranges == NULL)
    histogram->ranges = vn_range_memo_new ();
  g_ptr_array_add (self->names, g_strdup (name));
  g_ptr_array_add (self->histograms, histogram);
}

typedef struct
{
  char        *name;
  VnHistogram *histogram;
} Entry;

static gint
stats_compare_entries (gconstpointer a,
                       gconstpointer b)
{
  return strcmp (((const Entry *) a)->name, ((const Entry *) b)->name);
}

/* Sorts by name; of equal names the histograms are merged. */
void
vn_stats_seal (VnStats *self)
{
  guint n = self->names->len;
  g_autofree Entry *entries = g_new (Entry, MAX (n, 1));

  for (guint i = 0; i < n; i++)
    entries[i] = (Entry) { self->names->pdata[i], self->histograms->pdata[i] };
  qsort (entries, n, sizeof *entries, stats_compare_entries);

  g_ptr_array_set_free_func (self->names, NULL);
  g_ptr_array_set_free_func (self->histograms, NULL);
  g_ptr_array_set_size (self->names, 0);
  g_ptr_array_set_size (self->histograms, 0);
  g_ptr_array_set_free_func (self->names, g_free);
  g_ptr_array_set_free_func (self->histograms, (GDestroyNotify) vn_histogram_free);

  for (guint i = 0; i < n; i++)
    if (i > 0 && g_str_equal (entries[i].name, self->names->pdata[self->names->len - 1]))
      {
        vn_histogram_merge (self->histograms->pdata[self->histograms->len - 1], entries[i].histogram);
        g_free (entries[i].name);
        vn_histogram_free (entries[i].histogram);
      }
    else
      {
        g_ptr_array_add (self->names, entries[i].name);
        g_ptr_array_add (self->histograms, entries[i].histogram);
      }
}

VnStats *
vn_stats_ref (VnStats *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

void
vn_stats_unref (VnStats *self)
{
  if (!g_atomic_ref_count_dec (&self->ref))
    return;
  g_clear_pointer (&self->origin, vn_stats_origin_free);
  g_array_unref (self->samples);
  g_ptr_array_unref (self->names);
  g_ptr_array_unref (self->histograms);
  g_clear_pointer (&self->factors, vn_range_factors_unref);
  g_clear_pointer (&self->importance, vn_importance_unref);
  g_clear_pointer (&self->parts, g_ptr_array_unref);
  g_free (self);
}

/**
 * vn_stats_with_factors:
 * @factors: (nullable): what recipes that search for ranges multiply them by; %NULL: nothing
 *
 * Returns: (transfer full): the same statistics, with other factors
 */
VnStats *
vn_stats_with_factors (VnStats        *self,
                       VnRangeFactors *factors)
{
  VnStats *with;

  g_return_val_if_fail (self != NULL, NULL);

  with = g_new0 (VnStats, 1);
  g_atomic_ref_count_init (&with->ref);
  with->n_samples = self->n_samples;
  with->n_counted = self->n_counted;
  with->n_left = self->n_left;
  with->n_all = self->n_all;
  with->origin = vn_stats_origin_copy (self->origin);
  with->samples = g_array_ref (self->samples);
  with->names = g_ptr_array_ref (self->names);
  with->histograms = g_ptr_array_ref (self->histograms);
  with->factors = factors != NULL ? vn_range_factors_ref (factors) : NULL;
  with->importance = self->importance != NULL ? vn_importance_ref (self->importance) : NULL;
  return with;
}

/**
 * vn_stats_with_importance:
 *
 * Returns: (transfer full): the same statistics, and what the inputs of weights are like
 */
VnStats *
vn_stats_with_importance (VnStats      *self,
                          VnImportance *importance)
{
  VnStats *with;

  g_return_val_if_fail (self != NULL && importance != NULL, NULL);

  with = vn_stats_with_factors (self, self->factors);
  g_clear_pointer (&with->importance, vn_importance_unref);
  with->importance = vn_importance_ref (importance);
  return with;
}

/**
 * vn_stats_get_importance:
 *
 * Returns: (transfer none) (nullable)
 */
VnImportance *
vn_stats_get_importance (VnStats *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->importance;
}

/**
 * vn_stats_has_votes:
 *
 * Returns: whether range methods can be asked that count what each sample chose; %TRUE if there were no samples
 */
gboolean
vn_stats_has_votes (VnStats *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  for (guint i = 0; i < self->histograms->len; i++)
    {
      const VnHistogram *histogram = self->histograms->pdata[i];

      if (vn_position_votes_count (&histogram->votes, 0) != histogram->samples.n)
        return FALSE;
    }
  return TRUE;
}

/**
 * vn_stats_get_n_counted:
 *
 * Returns: how many samples the histograms are of; the others have widened the ranges alone
 */
guint
vn_stats_get_n_counted (VnStats *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->n_counted;
}

/**
 * vn_stats_has_counts:
 *
 * Returns: whether all samples are in the histograms; else only ranges that are found by the least and the greatest element are
 *   those of all samples
 */
gboolean
vn_stats_has_counts (VnStats *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->n_counted == self->n_samples;
}

/**
 * vn_stats_get_factors:
 *
 * Returns: (transfer none) (nullable): factors of ranges that were found
 */
VnRangeFactors *
vn_stats_get_factors (VnStats *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->factors;
}

/**
 * vn_stats_get:
 * @value_name: name of a value of the network
 *
 * Returns: (transfer none) (nullable): what was seen of it; %NULL if it was not observed
 */
const VnHistogram *
vn_stats_get (VnStats    *self,
              const char *value_name)
{
  guint lo = 0;
  guint hi;

  g_return_val_if_fail (self != NULL, NULL);

  hi = self->names->len;
  while (lo < hi)
    {
      guint mid = lo + (hi - lo) / 2;
      int order = strcmp (value_name, self->names->pdata[mid]);

      if (order == 0)
        return self->histograms->pdata[mid];
      if (order < 0)
        hi = mid;
      else
        lo = mid + 1;
    }
  return NULL;
}

/**
 * vn_stats_get_n_samples:
 *
 * Returns: how many samples went in, unreadable ones not counted
 */
guint
vn_stats_get_n_samples (VnStats *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->n_samples;
}

guint
vn_stats_get_n_values (VnStats *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->names->len;
}

/**
 * vn_stats_get_name:
 * @i: 0 .. vn_stats_get_n_values() - 1
 *
 * Returns: (transfer none): the name of value @i, in ascending order of bytes
 */
const char *
vn_stats_get_name (VnStats *self,
                   guint    i)
{
  g_return_val_if_fail (self != NULL && i < self->names->len, NULL);

  return self->names->pdata[i];
}

/**
 * vn_stats_get_bytes:
 *
 * Returns: bytes of memory the histograms take
 */
gsize
vn_stats_get_bytes (VnStats *self)
{
  gsize bytes = 0;

  g_return_val_if_fail (self != NULL, 0);

  for (guint i = 0; i < self->histograms->len; i++)
    bytes += vn_histogram_get_bytes (self->histograms->pdata[i]);
  return bytes;
}

/**
 * vn_stats_equal:
 *
 * Returns: whether both saw as many samples and hold the same values with the same counts; where these came from does
 *   not matter
 */
gboolean
vn_stats_equal (VnStats *a,
                VnStats *b)
{
  g_return_val_if_fail (a != NULL && b != NULL, FALSE);

  if (a->n_samples != b->n_samples || a->n_counted != b->n_counted || a->names->len != b->names->len)
    return FALSE;
  for (guint i = 0; i < a->names->len; i++)
    if (!g_str_equal (a->names->pdata[i], b->names->pdata[i]) ||
        !vn_histogram_equal (a->histograms->pdata[i], b->histograms->pdata[i]))
      return FALSE;
  return TRUE;
}

static gboolean
stats_is_empty (VnStats *self)
{
  return self->n_samples == 0 && self->names->len == 0;
}

static VnStats *
stats_first_with_samples (VnStats * const *parts,
                          guint            n)
{
  for (guint k = 0; k < n; k++)
    if (!stats_is_empty (parts[k]))
      return parts[k];
  return parts[0];
}

/* Of one value of all parts; with @take they have none of it afterwards. */
static VnHistogram *
stats_merge_histograms (VnStats * const *parts,
                        guint            n,
                        guint            value,
                        gboolean         take)
{
  VnHistogram *sum = vn_histogram_new ();

  for (guint k = 0; k < n; k++)
    {
      if (stats_is_empty (parts[k]))
        continue;
      if (take)
        vn_histogram_take (sum, g_steal_pointer (&parts[k]->histograms->pdata[value]));
      else
        vn_histogram_merge (sum, parts[k]->histograms->pdata[value]);
    }
  return sum;
}

static VnStats *
stats_merge (VnStats * const  *parts,
             guint             n,
             gboolean          take,
             GError          **error)
{
  g_autoptr(VnStats) self = NULL;
  guint64 n_samples = 0;
  VnStats *model;

  self = vn_stats_new (0);
  if (!vn_stats_merge_origins (self, parts, n, error))
    return NULL;
  model = stats_first_with_samples (parts, n);
  for (guint k = 0; k < n; k++)
    {
      n_samples += parts[k]->n_samples;
      self->n_counted += parts[k]->n_counted;
      for (guint i = 0; !stats_is_empty (parts[k]) && (i < parts[k]->names->len || i < model->names->len); i++)
        {
          const char *here = i < parts[k]->names->len ? parts[k]->names->pdata[i] : NULL;
          const char *first = i < model->names->len ? model->names->pdata[i] : NULL;

          if (g_strcmp0 (here, first) == 0)
            continue;
          g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                       _("Statistics file %u of %u belongs to a different model or has other settings: “%s” is in "
                         "only one of them; calibrate all shards with the same model and command"),
                       k + 1, n, here != NULL && (first == NULL || strcmp (here, first) < 0) ? here : first);
          return NULL;
        }
    }
  if (n_samples > G_MAXUINT)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("%llu samples are too many to count"),
                   (unsigned long long) n_samples);
      return NULL;
    }

  self->n_samples = (guint) n_samples;
  for (guint i = 0; i < model->names->len; i++)
    vn_stats_take (self, model->names->pdata[i], stats_merge_histograms (parts, n, i, take));
  return g_steal_pointer (&self);
}

/**
 * vn_stats_merge:
 * @parts: (array length=n): statistics of one network over different samples
 * @n: how many, at least 1
 *
 * Joins what several machines or runs have seen. All parts must have observed the same values: otherwise some ranges
 * would rest on fewer samples than the count says. They must be of the same network, samples made in the same way, and
 * no sample may be in two of them. Parts without samples are no hindrance.
 *
 * Returns: (transfer full) (nullable): the same bits as one run over all samples, for any order of @parts
 */
VnStats *
vn_stats_merge (VnStats * const  *parts,
                guint             n,
                GError          **error)
{
  g_return_val_if_fail (n > 0, NULL);

  return stats_merge (parts, n, FALSE, error);
}

/**
 * vn_stats_merge_taking:
 * @parts: (element-type VnStats): as of vn_stats_merge(), which nobody else has; empty afterwards
 *
 * Needs hardly more memory than the parts have, as counters change owner.
 *
 * Returns: (transfer full) (nullable): as vn_stats_merge()
 */
VnStats *
vn_stats_merge_taking (GPtrArray  *parts,
                       GError    **error)
{
  VnStats *self;

  g_return_val_if_fail (parts != NULL && parts->len > 0, NULL);

  self = stats_merge ((VnStats **) parts->pdata, parts->len, TRUE, error);
  g_ptr_array_set_size (parts, 0);
  return self;
}

/**
 * vn_stats_merge_parts:
 * @parts: (element-type VnStats): as of vn_stats_merge(); kept, so that what each of them has added can be left out again
 *
 * Returns: (transfer full) (nullable): as vn_stats_merge()
 */
VnStats *
vn_stats_merge_parts (GPtrArray  *parts,
                      GError    **error)
{
  VnStats *self;

  g_return_val_if_fail (parts != NULL && parts->len > 0, NULL);

  self = vn_stats_merge ((VnStats **) parts->pdata, parts->len, error);
  if (self != NULL)
    self->parts = g_ptr_array_ref (parts);
  return self;
}

/**
 * vn_stats_get_parts:
 *
 * Returns: (transfer none) (nullable) (element-type VnStats): what vn_stats_merge_parts() was given
 */
GPtrArray *
vn_stats_get_parts (VnStats *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->parts;
}

/**
 * vn_stats_merge_others:
 * @self: has parts
 * @part: number of one of them
 *
 * Returns: (transfer full) (nullable): what all other parts have seen
 */
VnStats *
vn_stats_merge_others (VnStats  *self,
                       guint     part,
                       GError  **error)
{
  g_autoptr(GPtrArray) others = NULL;

  g_return_val_if_fail (self != NULL && self->parts != NULL && self->parts->len > 1 && part < self->parts->len, NULL);

  others = g_ptr_array_new ();
  for (guint i = 0; i < self->parts->len; i++)
    if (i != part)
      g_ptr_array_add (others, g_ptr_array_index (self->parts, i));
  return vn_stats_merge ((VnStats **) others->pdata, others->len, error);
}

/**
 * vn_stats_continue:
 * @partial: (nullable): what an interrupted run has left
 * @rest: of a run over the samples that @partial lacks
 *
 * Returns: (transfer full) (nullable): both; what is left is what @rest left
 */
VnStats *
vn_stats_continue (VnStats  *partial,
                   VnStats  *rest,
                   GError  **error)
{
  VnStats *self;

  g_return_val_if_fail (rest != NULL, NULL);

  if (partial == NULL)
    return vn_stats_ref (rest);
  self = vn_stats_merge ((VnStats *[]) { partial, rest }, 2, error);
  if (self != NULL)
    self->n_left = rest->n_left;
  return self;
}

/**
 * vn_stats_note_values:
 *
 * Adds a note for every value that held NaN; infinities are what masks are made of.
 */
void
vn_stats_note_values (VnStats *self,
                      VnNotes *notes)
{
  g_return_if_fail (self != NULL);

  for (guint i = 0; i < self->names->len; i++)
    {
      const VnHistogram *histogram = self->histograms->pdata[i];
      guint64 n_inf = histogram->n_pos_inf + histogram->n_neg_inf;

      if (histogram->n_nan > 0)
        vn_notes_add (notes, VN_NOTE_WARNING, "values-not-finite", self->names->pdata[i],
                      _("%llu NaN and %llu infinite values out of %llu; ranges are computed without them"),
                      (unsigned long long) histogram->n_nan, (unsigned long long) n_inf, (unsigned long long) histogram->n);
    }
}
