/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Of what network and which samples statistics are: what keeps them from being used for another network, and one sample
 * from being counted twice. */

#include "vn-stats-private.h"

#include "vn-error.h"
#include "vn-i18n.h"

/* ---- origin ---- */

VnStatsOrigin *
vn_stats_origin_copy (const VnStatsOrigin *self)
{
  VnStatsOrigin *copy;

  if (self == NULL)
    return NULL;
  copy = g_new0 (VnStatsOrigin, 1);
  copy->network = g_strdup (self->network);
  copy->source = g_strdup (self->source);
  copy->prepared = g_strdup (self->prepared);
  copy->opset = self->opset;
  copy->data = g_strdup (self->data);
  copy->samples = g_strdup (self->samples);
  return copy;
}

void
vn_stats_origin_free (VnStatsOrigin *self)
{
  g_free (self->network);
  g_free (self->source);
  g_free (self->prepared);
  g_free (self->data);
  g_free (self->samples);
  g_free (self);
}

/* The name of the file may be another. */
gboolean
vn_stats_origin_equal (const VnStatsOrigin *a,
                       const VnStatsOrigin *b)
{
  if (a == NULL || b == NULL)
    return a == b;
  return g_strcmp0 (a->source, b->source) == 0 && g_strcmp0 (a->prepared, b->prepared) == 0 &&
         a->opset == b->opset && g_strcmp0 (a->data, b->data) == 0;
}

/**
 * vn_stats_get_origin:
 *
 * Returns: (transfer none) (nullable): what the statistics were made with
 */
const VnStatsOrigin *
vn_stats_get_origin (VnStats *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->origin;
}

/**
 * vn_stats_check_origin:
 * @origin: of what the statistics are to be used for; its @data and @samples are not looked at
 * @path: (nullable): where the statistics come from
 *
 * The prepared networks must agree, or values of the same name may have been something else. Conversion to another opset
 * only writes the same computation in other words: whoever wants to use statistics of another opset asks with the origin
 * that the network has when it is prepared for that opset.
 *
 * Returns: %FALSE if the statistics are of another network, or of one that was prepared otherwise
 */
gboolean
vn_stats_check_origin (VnStats              *self,
                       const VnStatsOrigin  *origin,
                       const char           *path,
                       GError              **error)
{
  const VnStatsOrigin *own;
  const char *shown = path != NULL ? path : _("the statistics");

  g_return_val_if_fail (self != NULL && origin != NULL, FALSE);

  own = self->origin;
  if (own == NULL || g_strcmp0 (own->prepared, origin->prepared) == 0)
    return TRUE;
  if (g_strcmp0 (own->source, origin->source) != 0)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                   _("“%s” has the statistics of a different model: they were collected with “%s” (%.8s), this is "
                     "“%s” (%.8s); calibrate this one"), shown, own->network, own->source, origin->network, origin->source);
      return FALSE;
    }
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
               _("“%s” was collected with “%s” prepared differently; use the same preparation and input shape options "
                 "for “calibrate” and “quantize”"), shown, own->network);
  return FALSE;
}

/* ---- samples ---- */

static void
stats_origin_clear_sample (gpointer data)
{
  g_free (((VnStatsSample *) data)->name);
}

GArray *
vn_stats_samples_new (void)
{
  GArray *self = g_array_new (FALSE, FALSE, sizeof (VnStatsSample));

  g_array_set_clear_func (self, stats_origin_clear_sample);
  return self;
}

void
vn_stats_samples_add (GArray     *self,
                      guint       index,
                      const char *name,
                      guint64     digest)
{
  VnStatsSample sample = { index, g_utf8_make_valid (name, -1), digest };   /* file names may be anything */

  g_array_append_val (self, sample);
}

gint
vn_stats_sample_compare (gconstpointer a,
                         gconstpointer b)
{
  const VnStatsSample *one = a, *two = b;
  int order;

  if (one->index != two->index)
    return one->index < two->index ? -1 : 1;
  order = strcmp (one->name, two->name);
  if (order != 0)
    return order;
  return one->digest < two->digest ? -1 : one->digest > two->digest;
}

void
vn_stats_samples_sort (GArray *self)
{
  g_array_sort (self, vn_stats_sample_compare);
}

/**
 * vn_stats_get_n_left:
 *
 * Returns: how many samples of the run had not been looked at when it was interrupted; 0: it came to its end
 */
guint
vn_stats_get_n_left (VnStats *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->n_left;
}

/**
 * vn_stats_get_n_missing:
 *
 * Returns: how many samples went into other parts than those that @self was joined of; 0: none, as far as is known
 */
guint
vn_stats_get_n_missing (VnStats *self)
{
  guint64 known;

  g_return_val_if_fail (self != NULL, 0);

  known = (guint64) self->n_samples + self->n_left;
  return known < self->n_all ? self->n_all - (guint) known : 0;
}

/**
 * vn_stats_has_sample:
 * @index: its number in the data set, or %G_MAXUINT for any
 * @name: vn_dataset_get_name()
 *
 * Returns: whether it went in
 */
gboolean
vn_stats_has_sample (VnStats    *self,
                     guint       index,
                     const char *name)
{
  g_autofree char *valid = g_utf8_make_valid (name, -1);
  guint lo = 0;
  guint hi;

  g_return_val_if_fail (self != NULL, FALSE);

  hi = self->samples->len;
  while (index != G_MAXUINT && lo < hi)
    {
      guint mid = lo + (hi - lo) / 2;

      if (g_array_index (self->samples, VnStatsSample, mid).index < index)
        lo = mid + 1;
      else
        hi = mid;
    }
  for (guint i = lo; i < self->samples->len; i++)
    {
      const VnStatsSample *sample = &g_array_index (self->samples, VnStatsSample, i);

      if (index != G_MAXUINT && sample->index != index)
        return FALSE;
      if (g_str_equal (sample->name, valid))
        return TRUE;
    }
  return FALSE;
}

/**
 * vn_stats_covers:
 *
 * Returns: whether every sample of @part went into @self
 */
gboolean
vn_stats_covers (VnStats *self,
                 VnStats *part)
{
  guint k = 0;

  g_return_val_if_fail (self != NULL && part != NULL, FALSE);

  for (guint i = 0; i < part->samples->len; i++, k++)
    {
      const VnStatsSample *sample = &g_array_index (part->samples, VnStatsSample, i);

      while (k < self->samples->len &&
             vn_stats_sample_compare (&g_array_index (self->samples, VnStatsSample, k), sample) < 0)
        k++;
      if (k == self->samples->len ||
          vn_stats_sample_compare (&g_array_index (self->samples, VnStatsSample, k), sample) != 0)
        return FALSE;
    }
  return TRUE;
}

/**
 * vn_stats_count_twice:
 * @example: (out) (optional) (transfer none): the name of one of them
 *
 * Returns: how many samples occur again: the same name and the same values under another number, as when parts overlap
 *   that were made from different selections, or when a list names a file twice
 */
guint
vn_stats_count_twice (VnStats     *self,
                      const char **example)
{
  g_autoptr(GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  guint n = 0;

  g_return_val_if_fail (self != NULL, 0);

  for (guint i = 0; i < self->samples->len; i++)
    {
      const VnStatsSample *sample = &g_array_index (self->samples, VnStatsSample, i);

      if (g_hash_table_add (seen, g_strdup_printf ("%" G_GINT64_MODIFIER "x %s", sample->digest, sample->name)))
        continue;
      if (n == 0 && example != NULL)
        *example = sample->name;
      n++;
    }
  return n;
}

/* ---- merging ---- */

static gboolean
stats_origin_check_same (VnStats * const  *parts,
                         guint             n,
                         GError          **error)
{
  const VnStatsOrigin *first = parts[0]->origin;

  for (guint k = 1; k < n; k++)
    {
      const VnStatsOrigin *here = parts[k]->origin;

      if (vn_stats_origin_equal (here, first))
        continue;
      if (here == NULL || first == NULL || g_strcmp0 (here->source, first->source) != 0)
        g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                     _("Statistics file %u of %u belongs to a different model: it was collected with “%s”, the first "
                       "one with “%s”"),
                     k + 1, n, here != NULL ? here->network : "?", first != NULL ? first->network : "?");
      else if (g_strcmp0 (here->data, first->data) != 0)
        g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                     _("Statistics file %u of %u uses different preprocessing: “%s”, the first one uses “%s”"),
                     k + 1, n, here->data, first->data);
      else
        g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                     _("Statistics file %u of %u was collected with a differently prepared model; calibrate all "
                       "shards with the same command"), k + 1, n);
      return FALSE;
    }
  return TRUE;
}

static gboolean
stats_origin_check_no_sample_twice (const GArray  *samples,
                                    GError       **error)
{
  for (guint i = 1; i < samples->len; i++)
    {
      const VnStatsSample *sample = &g_array_index (samples, VnStatsSample, i);

      if (vn_stats_sample_compare (sample - 1, sample) != 0)
        continue;
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                   _("Sample “%s” is in two of the statistics files and would count twice; merge each shard only once"),
                   sample->name);
      return FALSE;
    }
  return TRUE;
}

/*< private >
 * vn_stats_merge_origins:
 *
 * Gives @self the origin and the samples of all parts.
 *
 * Returns: %FALSE if they do not belong together, or share a sample
 */
gboolean
vn_stats_merge_origins (VnStats          *self,
                        VnStats * const  *parts,
                        guint             n,
                        GError          **error)
{
  if (!stats_origin_check_same (parts, n, error))
    return FALSE;
  self->origin = vn_stats_origin_copy (parts[0]->origin);
  for (guint k = 0; k < n; k++)
    {
      self->n_left += parts[k]->n_left;
      self->n_all = MAX (self->n_all, parts[k]->n_all);
      for (guint i = 0; i < parts[k]->samples->len; i++)
        {
          const VnStatsSample *sample = &g_array_index (parts[k]->samples, VnStatsSample, i);

          vn_stats_samples_add (self->samples, sample->index, sample->name, sample->digest);
        }
    }
  vn_stats_samples_sort (self->samples);
  return stats_origin_check_no_sample_twice (self->samples, error);
}
