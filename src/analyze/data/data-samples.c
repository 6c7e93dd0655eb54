/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The samples that the parts of the check look at, one after the other. */
#include "vn-data-check-private.h"

#include "vn-sample-loop.h"

typedef struct
{
  const GArray *samples;
  VnDataScan    scan;
  gpointer      data;
} Look;

/* The error ends the loop, and is seen by nobody. */
static gboolean
data_samples_scan (gpointer       worker,
                   guint          item,
                   VnTensor     **inputs,
                   gpointer       data,
                   GCancellable  *cancellable,
                   GError       **error)
{
  const Look *look = data;

  if (look->scan (g_array_index (look->samples, guint, item), inputs, look->data, cancellable))
    return TRUE;
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "enough");
  return FALSE;
}

/*< private >
 * _vn_data_spread:
 * @most: how many at most
 *
 * Returns: (transfer full) (element-type guint): samples of @dataset, evenly spread
 */
GArray *
_vn_data_spread (VnDataset *dataset,
                 guint      most)
{
  const guint n = vn_dataset_get_n (dataset), n_taken = MIN (n, most);
  GArray *samples = g_array_sized_new (FALSE, FALSE, sizeof (guint), n_taken);

  for (guint i = 0; i < n_taken; i++)
    {
      const guint index = (guint) ((guint64) i * n / n_taken);

      g_array_append_val (samples, index);
    }
  return samples;
}

/*< private >
 * _vn_data_each:
 * @samples: (element-type guint): of @dataset
 * @scan: gets each of them that can be read, in their order, until it returns %FALSE; what it keeps of the tensors it sets
 *   to %NULL
 *
 * Returns: whether all could be read, and @scan returned %TRUE for each
 */
gboolean
_vn_data_each (VnDataset    *dataset,
               const GArray *samples,
               VnDataScan    scan,
               gpointer      data,
               GCancellable *cancellable)
{
  static const VnSampleFuncs funcs = { NULL, data_samples_scan, NULL };
  const VnSamples all = { .dataset = dataset, .indices = (const guint *) (gpointer) samples->data, .n = samples->len };
  Look look = { samples, scan, data };
  g_autoptr(VnSampleLoop) loop = vn_sample_loop_new (&all, &(VnSampleOptions) { .in_turn = TRUE }, &funcs, &look, NULL);

  return loop != NULL && vn_sample_loop_run (loop, 0, all.n, cancellable, NULL) &&
         vn_sample_loop_get_n_read (loop) == all.n;
}
