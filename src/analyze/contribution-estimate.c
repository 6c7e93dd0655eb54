/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Contributions to first order, without running all that lies downstream: how much of its noise a tensor hands on to the tensors
 * that come next is measured, and these gains are multiplied and added from the outputs backwards. Noise of different
 * ways adds as if it were independent. How much is handed on depends on what the noise is like: fresh noise averages out where
 * noise that has come through other layers does not. So the first step of a suspect is that of its own noise, and all
 * further ones are those of the noise that comes from everything before. */
#include "contribution-window.h"

#include "vn-memory.h"

#include <math.h>
#include <string.h>

/**
 * Hop: noise that one tap hands on to one that comes next.
 * @end: %NO_END, or the part of an output that this much of it is in, at which it ends: how noise lies over the parts of an
 *   output depends on where it comes from
 */
typedef struct
{
  guint  tap;
  int    end;
  double dd;
} Hop;

#define NO_END (-1)

/**
 * Reach: how a change of one tap spreads.
 * @dd: of the change itself
 * @hops: (element-type Hop): (nullable)
 */
typedef struct
{
  double  dd;
  GArray *hops;
} Reach;

/**
 * Estimate:
 * @window: (nullable): where not all is known at a time
 * @arrived: by tap: (nullable): its noise, from everything before it and of its own suspects
 */
typedef struct
{
  VnProbeSample *sample;
  VnProbeWindow *window;
  VnRunner      *runner;
  GCancellable  *cancellable;
  Reach         *suspects, *taps;   /* by suspect; by tap */
  VnTensor     **arrived;
  double        *gains;             /* by tap and end */
  guint          n_ends;
} Estimate;

/* ---- noise that arrives ---- */

/* What is handed on is measured in the range where noise adds up: of more than this of the signal a part is taken. */
#define MOST_RATIO 1e-3

/* Adds the difference of @changed to what the float network computes, @scale times. */
static gboolean
contribution_arrive (Estimate        *self,
                     guint            tap,
                     const VnTensor  *changed,
                     double           scale,
                     GError         **error)
{
  const VnTensor *known = self->sample->known[tap];
  const float *f = known->data, *q = changed->data;
  float *sum;

  if (self->arrived[tap] == NULL)
    {
      self->arrived[tap] = vn_tensor_new (VN_DTYPE_F32, &known->shape, error);
      if (self->arrived[tap] == NULL)
        return FALSE;
      memset (self->arrived[tap]->data, 0, self->arrived[tap]->n_bytes);
    }
  sum = self->arrived[tap]->data;
  for (gsize i = 0; i < known->n_elements; i++)
    {
      float d = (float) scale * (q[i] - f[i]);

      sum[i] += isfinite (d) ? d : 0;
    }
  return TRUE;
}

/* A thousandth of the values' size, up and down. */
static void
contribution_fill_artificially (const VnTensor *known,
                                VnTensor       *noise)
{
  VnNoise size = { 0 };
  guint32 state = 1;
  float step;

  vn_noise_add (&size, known, NULL);
  step = size.ff > 0 ? (float) (1e-3 * sqrt (size.ff / (double) size.n)) : 1e-3f;
  for (gsize i = 0; i < noise->n_elements; i++)
    {
      state = state * 1664525u + 1013904223u;
      ((float *) noise->data)[i] = (state >> 31) != 0 ? step : -step;
    }
}

/* What the float network computes, with a part of the noise that arrived; @scale: how much that is to be taken times. */
static VnTensor *
contribution_make_noisy (Estimate  *self,
                         guint      tap,
                         double    *scale,
                         GError   **error)
{
  const VnTensor *known = self->sample->known[tap];
  g_autoptr(VnTensor) noise = g_steal_pointer (&self->arrived[tap]);
  VnNoise signal = { 0 }, size = { 0 };
  double part;

  if (noise == NULL)
    {
      noise = vn_tensor_new (VN_DTYPE_F32, &known->shape, error);
      if (noise == NULL)
        return NULL;
      memset (noise->data, 0, noise->n_bytes);
    }
  vn_noise_add (&signal, known, NULL);
  vn_noise_add (&size, noise, NULL);
  *scale = size.ff > 0 ? 1 : 0;
  if (size.ff == 0)
    contribution_fill_artificially (known, noise);
  part = size.ff > MOST_RATIO * signal.ff && signal.ff > 0 ? sqrt (MOST_RATIO * signal.ff / size.ff) : 1;
  *scale = part < 1 ? 1 / part : *scale;
  for (gsize i = 0; i < noise->n_elements; i++)
    ((float *) noise->data)[i] = ((const float *) known->data)[i] + (float) part * ((float *) noise->data)[i];
  return g_steal_pointer (&noise);
}

/* ---- one step ---- */

static const VnProbeEnd *
contribution_get_end (const Estimate *self,
                      guint           e)
{
  return &g_array_index (self->sample->probe->ends, VnProbeEnd, e);
}

/* How much of a change of @tap is in each part of it, if it is an output with parts. */
static void
contribution_add_end_hops (const Estimate *self,
                           guint           tap,
                           const VnTensor *changed,
                           GArray         *hops)
{
  for (guint e = 0; e < self->n_ends; e++)
    {
      const VnProbeEnd *end = contribution_get_end (self, e);
      Hop hop = { tap, (int) e, 0 };
      VnNoise noise = { 0 };

      if (end->partition == NULL || end->tap != tap)
        continue;
      vn_noise_add_end (&noise, end, self->sample->known[tap], changed);
      hop.dd = noise.n_bad > 0 ? INFINITY : noise.dd;
      if (hop.dd > 0)
        g_array_append_val (hops, hop);
    }
}

/**
 * Listen: what is told by a run to the taps that come next.
 * @scale: what arrives there is taken so many times; 0: does not count
 */
typedef struct
{
  Estimate *estimate;
  GArray   *hops;
  double    scale;
  GError   *error;
} Listen;

static void
contribution_hear (const VnValue  *value,
                   guint           tap,
                   const VnTensor *tensor,
                   gpointer        data)
{
  Listen *listen = data;
  Estimate *self = listen->estimate;
  VnNoise noise = { 0 };
  Hop hop = { tap, NO_END, 0 };

  g_return_if_fail (self->sample->known[tap] != NULL || !self->sample->is_seen[tap]);

  if (self->sample->known[tap] == NULL || tensor->dtype != VN_DTYPE_F32 || listen->error != NULL)
    return;
  vn_noise_add (&noise, self->sample->known[tap], tensor);
  hop.dd = noise.n_bad > 0 ? INFINITY : noise.dd;
  if (!(hop.dd > 0))
    return;
  g_array_append_val (listen->hops, hop);
  contribution_add_end_hops (self, tap, tensor, listen->hops);
  if (listen->scale > 0)
    contribution_arrive (self, tap, tensor, listen->scale, &listen->error);
}

/* Where sizes depend on data, what comes next may not fit together with what is known of the float network: the noise is taken to
 * arrive at the outputs as it is, so that it is measured. */
static gboolean
contribution_hand_on_as_is (Estimate  *self,
                            guint      tap,
                            Reach     *reach,
                            GError   **error)
{
  if (g_error_matches (*error, G_IO_ERROR, G_IO_ERROR_CANCELLED) || vn_error_is_memory (*error))
    return FALSE;
  g_clear_error (error);
  g_array_set_size (reach->hops, 0);
  for (guint e = 0; e < self->n_ends; e++)
    {
      const Hop hop = { tap, (int) e, reach->dd };

      g_array_append_val (reach->hops, hop);
    }
  return TRUE;
}

static gboolean
contribution_reach (Estimate  *self,
                    guint      tap,
                    VnTensor  *changed,
                    double     scale,
                    gboolean   is_suspect,
                    Reach     *reach,
                    GError   **error)
{
  VnProbeSample *sample = self->sample;
  Listen listen = { self, g_array_new (FALSE, FALSE, sizeof (Hop)), scale, NULL };
  VnTapValue given = { tap, changed };
  VnNoise noise = { 0 };
  g_autoptr(GError) local = NULL;
  gboolean good;

  vn_noise_add (&noise, sample->known[tap], changed);
  *reach = (Reach) { noise.dd, listen.hops };
  if (is_suspect)   /* what a tap's own noise comes to there is told by those who hand it on */
    contribution_add_end_hops (self, tap, changed, listen.hops);
  vn_runner_set_tap (self->runner, contribution_hear, &listen);
  good = vn_runner_run_next (self->runner, sample->inputs, sample->known, &given, self->cancellable, &local);
  vn_runner_set_tap (self->runner, NULL, NULL);
  if ((good || contribution_hand_on_as_is (self, tap, reach, &local)) && listen.error == NULL)
    return TRUE;
  if (listen.error != NULL)
    g_propagate_error (error, g_steal_pointer (&listen.error));
  else
    g_propagate_error (error, g_steal_pointer (&local));
  return FALSE;
}

static gboolean
contribution_reach_suspect (Estimate  *self,
                            guint      i,
                            VnNoise   *local,
                            GError   **error)
{
  const VnSuspect *suspect = &g_array_index (self->sample->probe->suspects, VnSuspect, i);
  g_autoptr(VnTensor) known = NULL, changed = NULL;

  if (!vn_probe_sample_change (self->sample, self->runner, suspect, &known, &changed, self->cancellable, error))
    return FALSE;
  if (changed == NULL)
    return TRUE;
  vn_noise_add (&local[i], known, changed);
  return contribution_arrive (self, suspect->tap, changed, 1, error) &&
         contribution_reach (self, suspect->tap, changed, 0, TRUE, &self->suspects[i], error);
}

/* From the inputs on: what a tap hands on is known when everything before it has. */
static gboolean
contribution_reach_all (Estimate  *self,
                        VnNoise   *local,
                        GError   **error)
{
  const GArray *suspects = self->sample->probe->suspects, *order = self->sample->order;

  for (guint k = 0; k < order->len; k++)
    {
      guint tap = g_array_index (order, guint, k);
      g_autoptr(VnTensor) noisy = NULL;
      double scale;

      if (self->window != NULL && !vn_probe_window_move (self->window, k, self->runner, self->cancellable, error))
        return FALSE;
      for (guint i = 0; i < suspects->len; i++)
        if (g_array_index (suspects, VnSuspect, i).tap == tap && !contribution_reach_suspect (self, i, local, error))
          return FALSE;
      noisy = contribution_make_noisy (self, tap, &scale, error);
      if (noisy == NULL || !contribution_reach (self, tap, noisy, scale, FALSE, &self->taps[tap], error))
        return FALSE;
    }
  return TRUE;
}

/* ---- all steps ---- */

static void
contribution_add_hops (const Estimate *self,
                       const Reach    *reach,
                       guint           tap,
                       double          scale,
                       guint           e,
                       double         *sum)
{
  const VnProbeEnd *end = contribution_get_end (self, e);

  if (end->partition == NULL && end->tap == tap)
    *sum += scale * reach->dd;
  for (guint h = 0; reach->hops != NULL && h < reach->hops->len; h++)
    {
      const Hop *hop = &g_array_index (reach->hops, Hop, h);
      double gain = hop->end == NO_END ? self->gains[hop->tap * self->n_ends + e] : hop->end == (int) e;

      *sum += gain > 0 ? scale * hop->dd * gain : 0;
    }
}

/* From the outputs backwards. */
static void
contribution_multiply (Estimate *self)
{
  const GArray *order = self->sample->order;

  for (guint k = order->len; k-- > 0;)
    {
      guint tap = g_array_index (order, guint, k);
      const Reach *reach = &self->taps[tap];

      for (guint e = 0; e < self->n_ends && reach->dd > 0; e++)
        contribution_add_hops (self, reach, tap, 1 / reach->dd, e, &self->gains[tap * self->n_ends + e]);
    }
}

static void
contribution_clear_estimate (Estimate *self,
                             guint     n,
                             guint     n_taps)
{
  for (guint i = 0; i < n; i++)
    g_clear_pointer (&self->suspects[i].hops, g_array_unref);
  for (guint t = 0; t < n_taps; t++)
    g_clear_pointer (&self->taps[t].hops, g_array_unref);
  vn_tensor_clear_all (self->arrived, n_taps);
  vn_probe_window_free (self->window);
  g_free (self->suspects);
  g_free (self->taps);
  g_free (self->arrived);
  g_free (self->gains);
}

/**
 * vn_probe_sample_estimate:
 * @local: (inout) (array): by suspect: gets the noise of what is changed, which is no estimate
 * @outputs: (inout) (array): by suspect and end of the probe: gets an estimate of the noise there
 *
 * Estimates what all suspects cost in about the time of six runs of the network. Where not all is kept, other taps than before
 * are known afterwards.
 */
gboolean
vn_probe_sample_estimate (VnProbeSample  *sample,
                          VnRunner       *runner,
                          VnNoise        *local,
                          VnNoise        *outputs,
                          GCancellable   *cancellable,
                          GError        **error)
{
  guint n, n_taps, n_ends;
  Estimate self;
  gboolean good;

  g_return_val_if_fail (sample != NULL && runner != NULL && local != NULL && outputs != NULL, FALSE);

  n = sample->probe->suspects->len;
  n_taps = sample->probe->taps->len;
  n_ends = sample->probe->ends->len;
  self = (Estimate) { sample, NULL, runner, cancellable, g_new0 (Reach, n + 1), g_new0 (Reach, n_taps + 1),
                      g_new0 (VnTensor *, n_taps + 1),
                      g_new0 (double, (gsize) n_taps * n_ends + 1), n_ends };
  self.window = sample->stretch > 0 ? vn_probe_window_new (sample, error) : NULL;
  good = (sample->stretch == 0 || self.window != NULL) && contribution_reach_all (&self, local, error);
  if (good)
    contribution_multiply (&self);
  for (guint i = 0; i < n && good; i++)
    for (guint e = 0; e < n_ends; e++)
      {
        const VnProbeEnd *end = contribution_get_end (&self, e);
        VnNoise *noise = &outputs[(gsize) i * n_ends + e];
        VnNoise reference = { 0 };

        vn_noise_add_end (&reference, end, sample->outputs[end->output], NULL);
        noise->n += reference.n;
        noise->ff += reference.ff;
        contribution_add_hops (&self, &self.suspects[i], g_array_index (sample->probe->suspects, VnSuspect, i).tap, 1, e,
                               &noise->dd);
      }
  contribution_clear_estimate (&self, n, n_taps);
  return good;
}
