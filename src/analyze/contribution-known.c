/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the float network computes is kept as far as it fits into a budget: all of it, or one tensor of every stretch, from which
 * what lies between is computed again, with the same bits. */
#include "contribution-sample.h"

/* The first stretch is this part of the budget; each further one is twice as long. */
#define STRETCHES 32

/**
 * Place: a tap that is kept.
 * @at: bytes that were computed before it
 */
typedef struct
{
  guint tap;
  gsize at;
} Place;

GArray *
vn_probe_places_new (void)
{
  return g_array_new (FALSE, FALSE, sizeof (Place));
}

/**
 * vn_probe_sample_drop:
 *
 * Forgets what a tap is.
 */
void
vn_probe_sample_drop (VnProbeSample *self,
                      guint          tap)
{
  g_return_if_fail (self != NULL);

  if (self->known[tap] != NULL)
    self->n_held -= self->known[tap]->n_bytes;
  g_clear_pointer (&self->known[tap], vn_tensor_unref);
}

/* Of every stretch the smallest is left. */
static void
contribution_thin (VnProbeSample *self)
{
  guint n = 0;

  self->stretch = self->stretch > 0 ? 2 * self->stretch : MAX (self->budget / STRETCHES, 1);
  for (guint i = 0; i < self->places->len; i++)
    {
      Place place = g_array_index (self->places, Place, i);
      Place *before = n > 0 ? &g_array_index (self->places, Place, n - 1) : NULL;

      if (before == NULL || before->at / self->stretch != place.at / self->stretch)
        g_array_index (self->places, Place, n++) = place;
      else if (self->known[before->tap]->n_bytes <= self->known[place.tap]->n_bytes)
        vn_probe_sample_drop (self, place.tap);
      else
        {
          vn_probe_sample_drop (self, before->tap);
          *before = place;
        }
    }
  if (n == 1 && self->places->len == 1)   /* too large alone */
    vn_probe_sample_drop (self, g_array_index (self->places, Place, --n).tap);
  g_array_set_size (self->places, n);
}

/**
 * vn_probe_sample_keep:
 * @tensor: what @tap is, the next one in the order of the run
 *
 * Keeps it, if it fits into the budget and none of the same stretch is smaller.
 */
gboolean
vn_probe_sample_keep (VnProbeSample   *self,
                      guint            tap,
                      const VnTensor  *tensor,
                      GError         **error)
{
  Place place;
  const Place *last;

  g_return_val_if_fail (self != NULL && tensor != NULL, FALSE);

  place = (Place) { tap, self->n_computed };
  self->n_computed += tensor->n_bytes;
  last = self->places->len > 0 ? &g_array_index (self->places, Place, self->places->len - 1) : NULL;
  if (self->stretch > 0 && last != NULL && last->at / self->stretch == place.at / self->stretch)
    {
      if (self->known[last->tap]->n_bytes <= tensor->n_bytes)
        return TRUE;
      vn_probe_sample_drop (self, last->tap);
      g_array_set_size (self->places, self->places->len - 1);
    }
  self->known[tap] = vn_tensor_new_copy (VN_DTYPE_F32, &tensor->shape, tensor->data, error);
  if (self->known[tap] == NULL)
    return FALSE;
  self->n_held += tensor->n_bytes;
  g_array_append_val (self->places, place);
  while (self->n_held > self->budget && self->places->len > 0)
    contribution_thin (self);
  return TRUE;
}

/* ---- what is not kept ---- */

typedef struct
{
  const guint  *taps;
  guint         n;
  VnTensor    **fetched;
  GError       *error;
} Fetch;

static void
contribution_take (const VnValue  *value,
                   guint           tap,
                   const VnTensor *tensor,
                   gpointer        data)
{
  Fetch *fetch = data;

  for (guint i = 0; i < fetch->n && fetch->error == NULL; i++)
    if (fetch->taps[i] == tap && fetch->fetched[i] == NULL && tensor->dtype == VN_DTYPE_F32)
      fetch->fetched[i] = vn_tensor_new_copy (VN_DTYPE_F32, &tensor->shape, tensor->data, &fetch->error);
}

/**
 * vn_probe_sample_fetch:
 * @taps: not known
 * @fetched: (out caller-allocates) (array length=n): what they are in the float network; %NULL if no float32
 *
 * Computes taps from what is known. May be called from several threads, each with a runner of its own.
 */
gboolean
vn_probe_sample_fetch (const VnProbeSample  *self,
                       VnRunner             *runner,
                       const guint          *taps,
                       guint                 n,
                       VnTensor            **fetched,
                       GCancellable         *cancellable,
                       GError              **error)
{
  Fetch fetch = { taps, n, fetched, NULL };
  gboolean good;

  g_return_val_if_fail (self != NULL && runner != NULL && taps != NULL && fetched != NULL, FALSE);

  for (guint i = 0; i < n; i++)
    fetched[i] = NULL;
  vn_runner_set_tap (runner, contribution_take, &fetch);
  good = vn_runner_run_taps (runner, self->inputs, self->known, taps, n, NULL, cancellable, error);
  vn_runner_set_tap (runner, NULL, NULL);   /* nobody looks at the layers with quantized weights from now on */
  if (good && fetch.error == NULL)
    return TRUE;
  if (good)
    g_propagate_error (error, g_steal_pointer (&fetch.error));
  g_clear_error (&fetch.error);
  vn_tensor_clear_all (fetched, n);
  return FALSE;
}
