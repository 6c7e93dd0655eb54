/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of errors, of what the sums of all samples came to. */
#include "compare-private.h"

#include "compare-rows.h"

#include <math.h>

/* What the first @n samples come to. */
static void
compare_table_merge_samples (const VnComparing *self,
                             guint              tap,
                             guint              n,
                             VnErrorSum        *sums,
                             VnErrorSum        *local)
{
  vn_part_sums_init (sums, self->partitions[tap]);
  vn_error_sum_init (local);
  for (guint s = 0; s < n; s++)
    if (self->per_sample[s] != NULL)
      {
        vn_part_sums_merge (sums, self->partitions[tap], &self->per_sample[s][self->places[tap]]);
        vn_error_sum_merge (local, &self->per_sample[s][self->places[self->pairs.float_taps->len] + tap]);
      }
}

/* %NULL: no sample has shown it. */
static VnErrorRow *
compare_table_make_row (const VnComparing *self,
                        guint              tap)
{
  const VnPartition *partition = self->partitions[tap];
  g_autofree const VnErrorSum **each = g_new0 (const VnErrorSum *, self->n_all);
  VnErrorSum sums[1 + VN_MOST_PARTS], local;
  VnErrorRow *row;

  compare_table_merge_samples (self, tap, self->n_all, sums, &local);
  if (sums[0].n == 0)
    return NULL;
  row = vn_compare_make_row (self->float_plan, g_ptr_array_index (self->pairs.float_taps, tap), sums, partition, &local);
  for (guint s = 0; s < self->n_all; s++)
    each[s] = self->per_sample[s] != NULL ? &self->per_sample[s][self->places[tap]] : NULL;
  row->margin_db = vn_part_sums_get_margin (each, self->n_all, partition);
  compare_table_merge_samples (self, tap, self->options->n_samples, sums, &local);
  row->held_out_db = sums[0].n > 0 ? vn_part_sums_get_sqnr (sums, partition) : NAN;
  return row;
}

static void
compare_table_add_rows (const VnComparing *self,
                        guint              first,
                        guint              n,
                        VnErrorTable      *table)
{
  for (guint i = first; i < first + n; i++)
    {
      VnErrorRow *row = compare_table_make_row (self, i);

      if (row != NULL)
        vn_error_table_add (table, row);
    }
}

/* What nobody ran is in no table. */
static void
compare_table_add_body (const VnComparing *self,
                        guint              i,
                        VnErrorTable      *table,
                        guint              n_samples)
{
  const CompareBody *body = &g_array_index (self->pairs.bodies, CompareBody, i);
  g_autofree char *scope = vn_graph_dup_scope (body->graph);
  g_autoptr(VnBodyErrors) errors = vn_body_errors_new (scope, n_samples);

  for (guint s = 0; s < self->n_all; s++)
    if (self->per_sample[s] != NULL)
      {
        const VnBodyRuns *runs = &vn_comparing_get_runs (self, self->per_sample[s])[i];

        errors->n_float += runs->n_float;
        errors->n_quant += runs->n_quant;
        errors->n_both += runs->n_both;
        errors->n_compared += runs->n_compared;
      }
  if (errors->n_float + errors->n_quant == 0)
    return;
  compare_table_add_rows (self, body->first, body->n, errors->errors);
  vn_error_table_take_body (table, g_steal_pointer (&errors));
}

/*< private >
 * vn_comparing_make_table:
 *
 * Returns: (transfer full): a row for each pair that was compared; %NULL with an error if no sample could be read
 */
VnErrorTable *
vn_comparing_make_table (VnComparing  *self,
                         GError      **error)
{
  g_autoptr(VnErrorTable) table = NULL;
  guint n_used = 0;

  for (guint s = 0; s < self->n_all; s++)
    n_used += self->per_sample[s] != NULL;
  if (n_used == 0 && self->none != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&self->none));
      return NULL;
    }
  table = vn_error_table_new (n_used);
  compare_table_add_rows (self, 0, self->pairs.bodies->len > 0 ? g_array_index (self->pairs.bodies, CompareBody, 0).first
                                                          : self->pairs.float_taps->len, table);
  for (guint i = 0; i < self->pairs.bodies->len; i++)
    compare_table_add_body (self, i, table, n_used);
  return g_steal_pointer (&table);
}
