/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statistics that a run need not make: given in files, left by an earlier run, or not needed. */
#include "vn-known-stats-private.h"

#include "vn-error.h"
#include "vn-i18n.h"

/* So many are named in a message. */
#define MAX_NAMED 3

/* The values that @stats lack, of those that can be known. */
static GPtrArray *
known_stats_list_missing (const VnModel *prepared,
                          VnStats       *stats,
                          GPtrArray     *taps)
{
  g_autofree gboolean *lost = vn_graph_find_lost (prepared->graph);
  GPtrArray *missing = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < taps->len; i++)
    {
      const VnValue *value = g_ptr_array_index (taps, i);
      g_autofree char *key = vn_value_dup_key (value);

      if ((value->graph != prepared->graph || !lost[value->id]) && vn_stats_get (stats, key) == NULL)
        g_ptr_array_add (missing, g_steal_pointer (&key));
    }
  return missing;
}

/* “a”, “b”, “c” … */
static char *
known_stats_dup_names (const GPtrArray *missing)
{
  GString *names = g_string_new (NULL);

  for (guint i = 0; i < missing->len && i < MAX_NAMED; i++)
    g_string_append_printf (names, "%s“%s”", i > 0 ? ", " : "", (const char *) g_ptr_array_index (missing, i));
  if (missing->len > MAX_NAMED)
    g_string_append (names, " …");
  return g_string_free (names, FALSE);
}

/* Factors for ranges that an earlier run found are found anew, if the recipe asks for such. */
static void
known_stats_put (VnRun   *result,
                 VnStats *stats)
{
  vn_graph_note_unsupported (result->prepared->graph, result->notes);
  result->stats = vn_stats_get_factors (stats) != NULL ? vn_stats_with_factors (stats, NULL) : vn_stats_ref (stats);
  result->n_calibration = vn_stats_get_n_samples (stats);
}

/* Statistics from files must hold every value: there may be no samples to make them anew. */
static gboolean
known_stats_use_loaded (VnStats    *loaded,
                        VnRun      *result,
                        GPtrArray  *taps,
                        GError    **error)
{
  g_autoptr(GPtrArray) missing = known_stats_list_missing (result->prepared, loaded, taps);

  if (missing->len > 0)
    {
      g_autofree char *names = known_stats_dup_names (missing);

      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                   ngettext ("The statistics do not cover %u of %u tensor (%s): the model was prepared differently, "
                             "perhaps for another opset; calibrate with the same options as here",
                             "The statistics do not cover %u of %u tensors (%s): the model was prepared differently, "
                             "perhaps for another opset; calibrate with the same options as here", taps->len), missing->len,
                             taps->len, names);
      return FALSE;
    }
  known_stats_put (result, loaded);
  return TRUE;
}

/* Statistics of an earlier run serve again if this run would find them once more, and they hold every value it needs. */
static gboolean
known_stats_can_use (VnJobInput    *input,
                     VnStats       *earlier,
                     GPtrArray     *taps,
                     GCancellable  *cancellable)
{
  g_autoptr(GPtrArray) missing = NULL;

  if (earlier == NULL || !vn_job_input_owns_stats (input, earlier, cancellable) ||
      (vn_recipe_needs_votes (input->recipe) && !vn_stats_has_votes (earlier)) ||
      ((input->whole_counts || vn_recipe_needs_counts (input->recipe)) && !vn_stats_has_counts (earlier)))
    return FALSE;
  missing = known_stats_list_missing (input->prepared, earlier, taps);
  return missing->len == 0;
}

/*< private >
 * vn_job_take_known_stats:
 * @input: checked
 * @loaded: (nullable): from files: they must serve
 * @earlier: (nullable): of an earlier run: they serve if this run would find them once more
 * @result: its statistics stay %NULL if they must be made
 *
 * Returns: %FALSE with an error if @loaded lack a value
 */
gboolean
vn_job_take_known_stats (VnJobInput    *input,
                         VnStats       *loaded,
                         VnStats       *earlier,
                         VnRun         *result,
                         GCancellable  *cancellable,
                         GError       **error)
{
  g_autoptr(GPtrArray) taps = NULL;
  g_autoptr(VnStats) nothing = vn_stats_new_empty ();

  g_return_val_if_fail (input != NULL && result != NULL, FALSE);

  if (!vn_recipe_uses_samples (input->recipe))
    {
      result->stats = g_steal_pointer (&nothing);
      result->n_calibration = 0;
      return TRUE;
    }
  taps = vn_quantize_list_values (result->prepared, input->recipe);
  if (loaded != NULL)
    return known_stats_use_loaded (loaded, result, taps, error);
  if (input->dataset == NULL)
    known_stats_put (result, nothing);
  else if (known_stats_can_use (input, earlier, taps, cancellable))
    known_stats_put (result, earlier);
  return TRUE;
}
