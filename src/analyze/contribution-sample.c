/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a sample computes in float is kept, or part of it; what lies downstream of one changed tensor runs again from there. */
#include "contribution-sample.h"

#include "vn-error-sum.h"
#include "vn-logit-space.h"

#include <math.h>
#include <string.h>

/* ---- noise ---- */

#define LANES 8

/* %FALSE if anything is not finite. */
static gboolean
contribution_add_finite (VnNoise     *self,
                         const float *f,
                         const float *q,
                         gsize        n)
{
  double ff[LANES] = { 0 }, dd[LANES] = { 0 }, sum_ff = 0, sum_dd = 0;

  for (gsize i = 0; i + LANES <= n; i += LANES)
    for (guint k = 0; k < LANES; k++)
      {
        double a = f[i + k], d = (double) q[i + k] - a;

        ff[k] += a * a;
        dd[k] += d * d;
      }
  for (gsize i = n - n % LANES; i < n; i++)
    {
      double a = f[i], d = (double) q[i] - a;

      ff[i % LANES] += a * a;
      dd[i % LANES] += d * d;
    }
  for (guint k = 0; k < LANES; k++)
    {
      sum_ff += ff[k];
      sum_dd += dd[k];
    }
  if (!isfinite (sum_ff) || !isfinite (sum_dd))
    return FALSE;
  self->n += n;
  self->ff += sum_ff;
  self->dd += sum_dd;
  return TRUE;
}

static void
contribution_add_noise (VnNoise     *self,
                        const float *f,
                        const float *q,
                        gsize        n)
{
  VnErrorSum sum;

  if (contribution_add_finite (self, f, q, n))
    return;
  vn_error_sum_init (&sum);
  vn_error_sum_add (&sum, f, q, n);
  self->n += sum.n;
  self->ff += sum.ff;
  self->dd += sum.dd;
  self->n_bad += sum.n_bad;
}

/**
 * vn_noise_add:
 * @wanted: (nullable): what the float network computes; nothing is added unless it is float32
 * @found: (nullable): the same with something quantized; %NULL: no different
 */
void
vn_noise_add (VnNoise        *self,
              const VnTensor *wanted,
              const VnTensor *found)
{
  g_return_if_fail (self != NULL);

  if (wanted == NULL || wanted->dtype != VN_DTYPE_F32 || (found != NULL && found->n_elements != wanted->n_elements))
    return;
  contribution_add_noise (self, wanted->data, found != NULL ? found->data : wanted->data, wanted->n_elements);
}

/* The slices of a part, in the order of their elements. */
typedef struct
{
  gsize outer, inner;
  guint n_slices, n;
  guint slices[];
} Slices;

/* NULL: @tensor is not divided so. */
static Slices *
contribution_list_slices (const VnProbeEnd *end,
                          const VnShape    *shape)
{
  const VnPartition *partition = end->partition;
  Slices *self;

  if (partition == NULL || (int) partition->axis >= shape->rank || shape->dims[partition->axis] != (gint64) partition->n_slices)
    return NULL;
  self = g_malloc0 (sizeof *self + partition->n_slices * sizeof *self->slices);
  self->outer = (gsize) vn_shape_count (shape, 0, (int) partition->axis);
  self->inner = (gsize) vn_shape_count (shape, (int) partition->axis + 1, shape->rank);
  self->n_slices = partition->n_slices;
  for (guint i = 0; i < partition->n_slices; i++)
    if (partition->part_of[i] == end->part)
      self->slices[self->n++] = i;
  return self;
}

/* Logits become what their noise is measured in, which @f and @q then own. */
static gboolean
contribution_weigh (const VnProbeEnd  *end,
                    const VnTensor   **wanted,
                    const VnTensor   **found,
                    VnTensor         **f,
                    VnTensor         **q)
{
  if (!end->logits || *wanted == NULL || (*wanted)->dtype != VN_DTYPE_F32 ||
      (*found != NULL && (*found)->n_elements != (*wanted)->n_elements))
    return TRUE;
  if (!vn_logits_weigh (*wanted, *found, f, q, NULL))
    return FALSE;
  *wanted = *f;
  *found = *found != NULL ? *q : NULL;
  return TRUE;
}

/**
 * vn_noise_add_end:
 * @end: the part of the tensor that counts
 * @wanted, @found: as of vn_noise_add()
 */
void
vn_noise_add_end (VnNoise          *self,
                  const VnProbeEnd *end,
                  const VnTensor   *wanted,
                  const VnTensor   *found)
{
  g_autoptr(VnTensor) f = NULL, q = NULL;
  g_autofree Slices *slices = NULL;

  g_return_if_fail (self != NULL && end != NULL);

  if (!contribution_weigh (end, &wanted, &found, &f, &q))
    return;
  if (wanted == NULL || wanted->dtype != VN_DTYPE_F32 || (found != NULL && found->n_elements != wanted->n_elements))
    return;
  slices = contribution_list_slices (end, &wanted->shape);
  if (slices == NULL)
    {
      vn_noise_add (self, wanted, found);
      return;
    }
  for (gsize o = 0; o < slices->outer; o++)
    for (guint i = 0, n; i < slices->n; i += n)
      {
        gsize at = (o * slices->n_slices + slices->slices[i]) * slices->inner;

        for (n = 1; i + n < slices->n && slices->slices[i + n] == slices->slices[i] + n; n++)
          ;
        contribution_add_noise (self, (const float *) wanted->data + at,
                                (const float *) (found != NULL ? found : wanted)->data + at,
                                n * slices->inner);
      }
}

/* ---- the float network ---- */

/**
 * vn_probe_sample_init:
 * @budget: bytes that may be kept of what the float network computes
 *
 * Its @inputs are to be filled before it is run.
 */
void
vn_probe_sample_init (VnProbeSample *self,
                      VnProbe       *probe,
                      VnPlan        *plan,
                      gsize          budget)
{
  g_return_if_fail (self != NULL && probe != NULL && plan != NULL);

  *self = (VnProbeSample) { .probe = probe, .plan = plan, .budget = budget };
  self->inputs = g_new0 (VnTensor *, vn_plan_get_n_inputs (plan) + 1);
  self->outputs = g_new0 (VnTensor *, vn_plan_get_n_outputs (plan) + 1);
  self->known = g_new0 (VnTensor *, probe->taps->len + 1);
  self->is_seen = g_new0 (gboolean, probe->taps->len + 1);
  self->order = g_array_new (FALSE, FALSE, sizeof (guint));
  self->places = vn_probe_places_new ();
}

/* As before it was run. */
static void
contribution_reset (VnProbeSample *self)
{
  guint n = self->probe->taps->len;

  vn_tensor_clear_all (self->outputs, vn_plan_get_n_outputs (self->plan));
  vn_tensor_clear_all (self->known, n);
  memset (self->is_seen, 0, n * sizeof *self->is_seen);
  g_array_set_size (self->order, 0);
  g_array_set_size (self->places, 0);
  self->n_held = self->stretch = self->n_computed = 0;
}

void
vn_probe_sample_clear (VnProbeSample *self)
{
  g_return_if_fail (self != NULL);

  if (self->probe == NULL)
    return;
  contribution_reset (self);
  vn_tensor_clear_all (self->inputs, vn_plan_get_n_inputs (self->plan));
  g_clear_pointer (&self->inputs, g_free);
  g_clear_pointer (&self->outputs, g_free);
  g_clear_pointer (&self->known, g_free);
  g_clear_pointer (&self->is_seen, g_free);
  g_clear_pointer (&self->order, g_array_unref);
  g_clear_pointer (&self->places, g_array_unref);
  self->probe = NULL;
}

typedef struct
{
  VnProbeSample *sample;
  GError        *error;
} Keep;

static void
contribution_keep (const VnValue  *value,
                   guint           tap,
                   const VnTensor *tensor,
                   gpointer        data)
{
  Keep *keep = data;
  VnProbeSample *self = keep->sample;

  if (keep->error != NULL || tensor->dtype != VN_DTYPE_F32 || self->is_seen[tap])
    return;
  self->is_seen[tap] = TRUE;
  g_array_append_val (self->order, tap);
  vn_probe_sample_keep (self, tap, tensor, &keep->error);
}

/**
 * vn_probe_sample_run:
 *
 * Runs the float network on @inputs and keeps what it computes, as far as it fits into the budget.
 */
gboolean
vn_probe_sample_run (VnProbeSample  *self,
                     VnRunner       *runner,
                     GCancellable   *cancellable,
                     GError        **error)
{
  Keep keep = { self, NULL };
  gboolean good;

  g_return_val_if_fail (self != NULL && runner != NULL, FALSE);

  contribution_reset (self);
  vn_runner_set_tap (runner, contribution_keep, &keep);
  good = vn_runner_run_taps (runner, self->inputs, NULL, (const guint *) (gpointer) self->probe->floats->data,
                             self->probe->floats->len,
                             self->outputs, cancellable, error);
  vn_runner_set_tap (runner, NULL, NULL);   /* nobody looks at the layers with quantized weights from now on */
  if (good && keep.error == NULL)
    return TRUE;
  if (good)
    g_propagate_error (error, g_steal_pointer (&keep.error));
  g_clear_error (&keep.error);
  return FALSE;
}

/* ---- one tensor quantized ---- */

static VnTensor *
contribution_shift (const VnTensor  *tensor,
                    const VnTensor  *shift,
                    int              axis,
                    GError         **error)
{
  VnTensor *result = vn_tensor_new_copy (VN_DTYPE_F32, &tensor->shape, tensor->data, error);
  int at = axis < 0 ? tensor->shape.rank - 1 : axis;
  gsize inner, n_channels;

  if (result == NULL || at < 0 || at >= tensor->shape.rank || tensor->n_elements == 0)
    return result;
  inner = (gsize) vn_shape_count (&tensor->shape, at + 1, tensor->shape.rank);
  n_channels = (gsize) tensor->shape.dims[at];
  for (gsize row = 0; row < result->n_elements / inner; row++)
    {
      float step = ((const float *) shift->data)[row % n_channels % shift->n_elements];

      for (gsize i = 0; i < inner; i++)
        ((float *) result->data)[row * inner + i] += step;
    }
  return result;
}

/**
 * vn_probe_sample_change:
 * @known: (out) (transfer full): what the suspect's value is in the float network; %NULL if it is not computed
 * @changed: (out) (transfer full): what it is when that alone is quantized; %NULL if it is not computed
 */
gboolean
vn_probe_sample_change (VnProbeSample    *self,
                        VnRunner         *runner,
                        const VnSuspect  *suspect,
                        VnTensor        **known,
                        VnTensor        **changed,
                        GCancellable     *cancellable,
                        GError          **error)
{
  VnTensor *fetched[2] = { NULL };
  guint wanted[2], n = 0;

  g_return_val_if_fail (self != NULL && suspect != NULL && known != NULL && changed != NULL, FALSE);

  *known = *changed = NULL;
  if (!self->is_seen[suspect->tap])
    return TRUE;
  if (suspect->twin_tap >= 0)
    wanted[n++] = (guint) suspect->twin_tap;
  if (self->known[suspect->tap] == NULL)
    wanted[n++] = suspect->tap;
  if (n > 0 && !vn_probe_sample_fetch (self, runner, wanted, n, fetched, cancellable, error))
    return FALSE;
  *known = self->known[suspect->tap] != NULL ? vn_tensor_ref (self->known[suspect->tap]) : fetched[n - 1];
  if (suspect->twin_tap >= 0)
    {
      *changed = fetched[0];
      return TRUE;
    }
  *changed = suspect->shift != NULL ? contribution_shift (*known, suspect->shift, suspect->axis, error)
                                    : vn_probe_round (suspect->row, *known, error);
  if (*changed == NULL)
    g_clear_pointer (known, vn_tensor_unref);
  return *changed != NULL;
}

/* Differences of up to @n numbers, evenly over the tensor, or its part. */
static void
contribution_keep_differences (const VnProbeEnd *end,
                               const VnTensor   *wanted,
                               const VnTensor   *found,
                               float            *kept,
                               guint             n)
{
  g_autoptr(VnTensor) f = NULL, q = NULL;
  g_autofree Slices *slices = NULL;
  gsize take, n_elements;

  if (!contribution_weigh (end, &wanted, &found, &f, &q))
    return;
  if (wanted == NULL || found == NULL || wanted->dtype != VN_DTYPE_F32 || found->n_elements != wanted->n_elements)
    return;
  slices = contribution_list_slices (end, &wanted->shape);
  n_elements = slices != NULL ? slices->outer * slices->n * slices->inner : wanted->n_elements;
  take = MIN (n, n_elements);
  for (gsize i = 0; i < take; i++)
    {
      gsize at = i * n_elements / take, row = slices != NULL ? at / slices->inner : 0;
      float d;

      if (slices != NULL)
        at = (row / slices->n * slices->n_slices + slices->slices[row % slices->n]) * slices->inner + at % slices->inner;
      d = ((const float *) found->data)[at] - ((const float *) wanted->data)[at];

      kept[i] = isfinite (d) ? d : 0;
    }
}

/**
 * vn_probe_sample_measure:
 * @local: (inout): gets the noise of what is changed
 * @outputs: (inout) (array): that of each end of the probe
 * @kept: (nullable) (array): by end: gets @n_kept of the differences there
 *
 * Runs what lies downstream of @suspect with that alone quantized.
 */
gboolean
vn_probe_sample_measure (VnProbeSample    *self,
                         VnRunner         *runner,
                         const VnSuspect  *suspect,
                         VnNoise          *local,
                         VnNoise          *outputs,
                         float            *kept,
                         guint             n_kept,
                         GCancellable     *cancellable,
                         GError          **error)
{
  g_autoptr(VnTensor) known = NULL, changed = NULL;
  g_autofree VnTensor **found = NULL;
  VnTapValue given;
  gboolean good;
  guint n;

  g_return_val_if_fail (self != NULL && suspect != NULL && local != NULL && outputs != NULL, FALSE);

  if (!vn_probe_sample_change (self, runner, suspect, &known, &changed, cancellable, error))
    return FALSE;
  if (changed == NULL)
    return TRUE;
  n = vn_plan_get_n_outputs (self->plan);
  found = g_new0 (VnTensor *, n + 1);
  given = (VnTapValue) { suspect->tap, changed };
  vn_noise_add (local, known, changed);
  g_clear_pointer (&known, vn_tensor_unref);
  good = vn_runner_run_from (runner, self->inputs, self->known, &given, 1, found, cancellable, error);
  for (guint i = 0; i < self->probe->ends->len && good; i++)
    {
      const VnProbeEnd *end = &g_array_index (self->probe->ends, VnProbeEnd, i);

      vn_noise_add_end (&outputs[i], end, self->outputs[end->output], found[end->output]);
      if (kept != NULL)
        contribution_keep_differences (end, self->outputs[end->output], found[end->output], kept + (gsize) i * n_kept, n_kept);
    }
  vn_tensor_clear_all (found, n);
  return good;
}
