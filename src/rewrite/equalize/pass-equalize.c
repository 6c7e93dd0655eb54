/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cross-layer equalization. With h and t the largest absolute weight of a channel in the head and in the tail:
 *
 *   AMD, pair     head * s, tail / s, s = sqrt (t / h)
 *   AMD, triple   c = cbrt (h * m * t):  head * c / h, middle * (h / c) * (t / c), tail * c / t
 *   PPQ, group    heads * s, tails / s, s = sqrt (t / h), from 0.1 to 10; h and t the largest of all heads and tails
 *
 * Factors are found in double and rounded to float32 once; weights are multiplied in float32. */
#include "vn-equalize-private.h"

#include "vn-memory.h"

#include <math.h>
#include <string.h>

#define PPQ_STEPS 10
#define PPQ_MOST 10.0
#define PPQ_MULTIPLIER 0.5
/* Of steps in which the sum of changes stays as it is, and of steps at all, until no more are taken. */
#define MOST_STALLS 20
#define MOST_STEPS 1000

static void
equalize_group_free (gpointer data)
{
  VnEqualGroup *group = data;

  g_ptr_array_unref (group->heads);
  g_ptr_array_unref (group->tails);
  g_free (group->factors);
  g_free (group->factors2);
  g_free (group);
}

static void
equalize_equalizer_clear (VnEqualizer *self)
{
  g_clear_pointer (&self->returned, g_hash_table_unref);
  g_clear_pointer (&self->layers, g_hash_table_unref);
  g_clear_pointer (&self->groups, g_ptr_array_unref);
  g_clear_pointer (&self->owned, g_ptr_array_unref);
  g_clear_pointer (&self->order, g_ptr_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (VnEqualizer, equalize_equalizer_clear)

static void
equalize_free_layer (gpointer layer)
{
  vn_equal_layer_free (layer);
}

static gboolean
equalize_is_layer (const VnNode            *node,
                   const VnEqualizeOptions *options)
{
  return (vn_node_is (node, "Conv") || vn_node_is (node, "Gemm") ||
          (options->kind == VN_EQUALIZE_PPQ && vn_node_is (node, "ConvTranspose"))) &&
         vn_node_get_input (node, 0) != NULL && vn_node_get_output (node, 0) != NULL;
}

static gboolean
equalize_equalizer_init (VnEqualizer             *self,
                         VnModel                 *model,
                         const VnEqualizeOptions *options,
                         GError                 **error)
{
  *self = (VnEqualizer) { .model = model, .options = options };
  self->returned = vn_rewrite_returned (model);
  self->layers = g_hash_table_new_full (NULL, NULL, NULL, equalize_free_layer);
  self->order = g_ptr_array_new ();
  self->groups = g_ptr_array_new ();
  self->owned = g_ptr_array_new_with_free_func (equalize_group_free);
  for (guint i = 0; i < model->graph->nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (model->graph->nodes, i);
      VnEqualLayer *layer = NULL;

      if (!equalize_is_layer (node, options))
        continue;
      if (!vn_equal_layer_new (node, &layer, error))
        return FALSE;
      if (layer == NULL)
        continue;
      g_hash_table_insert (self->layers, node, layer);
      g_ptr_array_add (self->order, layer);
    }
  if (options->kind == VN_EQUALIZE_AMD)
    vn_equalizer_find_pairs (self);
  else
    vn_equalizer_find_groups (self);
  return TRUE;
}

/* ---- factors ---- */

/* Weights that are not numbers have no range to equalize. */
static float
equalize_clean (double factor)
{
  float rounded = (float) factor;

  return isfinite (rounded) && rounded > 0 ? rounded : 1;
}

static double
equalize_find_pair_factor (const VnEqualizeOptions *options,
                           double                   head,
                           double                   tail)
{
  double root = sqrt (head * tail);

  return root == 0 || head + tail < options->threshold ? 1 : tail / root;
}

static double
equalize_find_group_factor (const VnEqualizeOptions *options,
                            double                   head,
                            double                   tail)
{
  if (head == 0 || tail == 0 || head + tail < options->threshold)
    return 1;
  return CLAMP (1 / sqrt (head / tail), 1 / PPQ_MOST, PPQ_MOST);
}

/* Half the bias, and half of what the channel comes to with samples. */
static void
equalize_append_keys (const VnEqualizer  *self,
                      const VnEqualLayer *layer,
                      double             *ranges)
{
  GArray *seen = self->options->activations != NULL
               ? g_hash_table_lookup (self->options->activations, vn_node_get_output (layer->node, 0)->name) : NULL;

  for (gsize c = 0; c < layer->n_out; c++)
    {
      if (self->options->append_bias && layer->bias != NULL)
        ranges[c] = fmax (ranges[c], PPQ_MULTIPLIER * fabs ((double) ((const float *) layer->bias->data)[c]));
      if (seen != NULL && seen->len == layer->n_out)
        ranges[c] = fmax (ranges[c], PPQ_MULTIPLIER * g_array_index (seen, double, c));
    }
}

/* FALSE: memory was refused. */
static gboolean
equalize_measure (const VnEqualizer  *self,
                  const VnEqualGroup *group,
                  double             *heads,
                  double             *tails)
{
  g_autofree double *ranges = vn_try_new (double, group->n, NULL);

  if (ranges == NULL || heads == NULL || tails == NULL)
    return FALSE;
  memset (heads, 0, group->n * sizeof *heads);
  memset (tails, 0, group->n * sizeof *tails);
  for (guint i = 0; i < group->heads->len; i++)
    {
      const VnEqualLayer *layer = g_ptr_array_index (group->heads, i);

      vn_equal_layer_ranges_out (layer, ranges);
      if (self->options->kind == VN_EQUALIZE_PPQ)
        equalize_append_keys (self, layer, ranges);
      else if (self->options->append_bias && group->middle == NULL)
        vn_equal_layer_append_bias (layer, ranges);
      for (gsize c = 0; c < group->n; c++)
        heads[c] = fmax (heads[c], ranges[c]);
    }
  for (guint i = 0; i < group->tails->len; i++)
    {
      vn_equal_layer_ranges_in (g_ptr_array_index (group->tails, i), ranges);
      for (gsize c = 0; c < group->n; c++)
        tails[c] = fmax (tails[c], ranges[c]);
    }
  return TRUE;
}

/* ---- moving them ---- */

/* What was seen with samples grows with the weights that made it. */
static void
equalize_scale_activations (const VnEqualizer  *self,
                            const VnEqualLayer *layer,
                            const float        *factors)
{
  GArray *seen = self->options->activations != NULL
               ? g_hash_table_lookup (self->options->activations, vn_node_get_output (layer->node, 0)->name) : NULL;

  for (gsize c = 0; seen != NULL && c < MIN (seen->len, layer->n_out); c++)
    g_array_index (seen, double, c) *= (double) factors[c];
}

static void
equalize_do_pair (VnEqualizer  *self,
                  VnEqualGroup *group)
{
  g_autofree double *heads = vn_try_new (double, group->n, NULL), *tails = vn_try_new (double, group->n, NULL);
  g_autofree float *factors = vn_try_new (float, group->n, NULL);

  if (factors == NULL || !equalize_measure (self, group, heads, tails))
    return;
  for (gsize c = 0; c < group->n; c++)
    {
      factors[c] = equalize_clean (self->options->kind == VN_EQUALIZE_AMD
                                     ? equalize_find_pair_factor (self->options, heads[c], tails[c])
                                     : equalize_find_group_factor (self->options, heads[c], tails[c]));
      group->factors[c] *= (double) factors[c];
    }
  for (guint i = 0; i < group->heads->len; i++)
    {
      vn_equal_layer_scale_out (g_ptr_array_index (group->heads, i), factors);
      equalize_scale_activations (self, g_ptr_array_index (group->heads, i), factors);
    }
  for (guint i = 0; i < group->tails->len; i++)
    vn_equal_layer_scale_in (g_ptr_array_index (group->tails, i), factors, TRUE);
}

static void
equalize_do_triple (VnEqualizer  *self,
                    VnEqualGroup *group)
{
  g_autofree double *heads = vn_try_new (double, group->n, NULL), *tails = vn_try_new (double, group->n, NULL);
  g_autofree double *middle = vn_try_new (double, group->n, NULL);
  g_autofree float *first = vn_try_new (float, group->n, NULL), *second = vn_try_new (float, group->n, NULL);

  if (middle == NULL || first == NULL || second == NULL || !equalize_measure (self, group, heads, tails))
    return;
  vn_equal_layer_ranges_out (group->middle, middle);
  for (gsize c = 0; c < group->n; c++)
    {
      double root = cbrt (heads[c] * middle[c] * tails[c]);

      first[c] = equalize_clean (root / heads[c]);
      second[c] = equalize_clean (tails[c] / root);
      group->factors[c] *= (double) first[c];
      group->factors2[c] *= (double) second[c];
    }
  vn_equal_layer_scale_out (g_ptr_array_index (group->heads, 0), first);
  vn_equal_layer_scale_in (group->middle, first, TRUE);
  vn_equal_layer_scale_out (group->middle, second);
  vn_equal_layer_scale_in (g_ptr_array_index (group->tails, 0), second, TRUE);
}

static void
equalize_do_all (VnEqualizer *self)
{
  for (guint i = 0; i < self->groups->len; i++)
    {
      VnEqualGroup *group = g_ptr_array_index (self->groups, i);

      if (group->middle != NULL)
        equalize_do_triple (self, group);
      else
        equalize_do_pair (self, group);
    }
}

/* ---- steps ---- */

static double
equalize_mean_change (const VnTensor *from,
                      const VnTensor *to)
{
  const float *a = from->data, *b = to->data;
  double sum = 0;

  for (gsize i = 0; i < to->n_elements; i++)
    sum += fabs ((double) a[i] - (double) b[i]);
  return sum / (double) to->n_elements;
}

static GPtrArray *
equalize_copy_weights (const VnEqualizer  *self,
                       GError            **error)
{
  g_autoptr(GPtrArray) copies = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_tensor_unref);

  for (guint i = 0; i < self->order->len; i++)
    {
      const VnEqualLayer *layer = g_ptr_array_index (self->order, i);
      VnTensor *copy = vn_tensor_new_constant (VN_DTYPE_F32, &layer->weight->shape, error);

      if (copy == NULL)
        return NULL;
      memcpy (copy->data, layer->weight->data, copy->n_bytes);
      g_ptr_array_add (copies, copy);
    }
  return g_steal_pointer (&copies);
}

static gboolean
equalize_step_and_measure (VnEqualizer  *self,
                           double       *change,
                           GError      **error)
{
  g_autoptr(GPtrArray) before = equalize_copy_weights (self, error);

  if (before == NULL)
    return FALSE;
  equalize_do_all (self);
  *change = 0;
  for (guint i = 0; i < self->order->len; i++)
    *change += equalize_mean_change (g_ptr_array_index (before, i),
                                     ((VnEqualLayer *) g_ptr_array_index (self->order, i))->weight);
  return TRUE;
}

/* Until the changes add up to next to nothing, or to the same again and again. */
static gboolean
equalize_run_adaptive (VnEqualizer   *self,
                       GCancellable  *cancellable,
                       GError       **error)
{
  double last = INFINITY;
  guint stalls = 0;

  for (guint i = 0; i < MOST_STEPS && stalls < MOST_STALLS && last > self->options->difference; i++)
    {
      double change;

      if (g_cancellable_set_error_if_cancelled (cancellable, error) || !equalize_step_and_measure (self, &change, error))
        return FALSE;
      stalls = fabs (last - change) > 1e-9 ? 0 : stalls + 1;
      last = stalls == 0 ? change : last;
    }
  return TRUE;
}

static gboolean
equalize_run_steps (VnEqualizer   *self,
                    GCancellable  *cancellable,
                    GError       **error)
{
  int usual = self->options->kind == VN_EQUALIZE_PPQ ? PPQ_STEPS : 1;
  int n = self->options->steps > 0 ? self->options->steps : usual;

  if (self->options->steps < 0)
    return equalize_run_adaptive (self, cancellable, error);
  for (int i = 0; i < n; i++)
    {
      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return FALSE;
      equalize_do_all (self);
    }
  return TRUE;
}

/* ---- telling ---- */

static gboolean
equalize_find_bounds (const VnEqualGroup *group,
                      double             *least,
                      double             *most)
{
  *least = *most = group->n > 0 ? group->factors[0] : 1;
  for (gsize c = 0; c < group->n; c++)
    {
      *least = fmin (*least, fmin (group->factors[c], group->middle != NULL ? group->factors2[c] : INFINITY));
      *most = fmax (*most, fmax (group->factors[c], group->middle != NULL ? group->factors2[c] : 0));
    }
  return *least != 1 || *most != 1;
}

static void
equalize_append_labels (GString         *text,
                        const GPtrArray *layers,
                        guint            first)
{
  for (guint i = first; i < layers->len; i++)
    {
      const VnEqualLayer *layer = g_ptr_array_index (layers, i);
      g_autofree char *label = vn_node_dup_label (layer->node);

      g_string_append_printf (text, "%s%s", i > first ? ", " : "", label);
    }
}

static void
equalize_log_group (const VnEqualGroup *group,
                    VnEditLog          *log)
{
  g_autofree char *first = vn_node_dup_label (((VnEqualLayer *) g_ptr_array_index (group->heads, 0))->node);
  g_autoptr(GString) with = g_string_new (NULL), to = g_string_new (NULL);
  double least, most;

  if (!equalize_find_bounds (group, &least, &most))
    return;
  if (group->heads->len > 1)
    g_string_append (with, ", ");
  equalize_append_labels (with, group->heads, 1);
  if (group->middle != NULL)
    {
      g_autofree char *label = vn_node_dup_label (group->middle->node);

      g_string_append_printf (to, "%s, ", label);
    }
  equalize_append_labels (to, group->tails, 0);
  vn_edit_log_add (log, "set", first, NULL, ngettext ("%s%s equalized with %s: %u channel, factors from %.4g to %.4g",
                                                      "%s%s equalized with %s: %u channels, factors from %.4g to %.4g", group->n),
                                                      first,
                   with->str, to->str, (guint) group->n, least, most);
}

static void
equalize_finish (VnEqualizer *self,
                 VnEditLog   *log)
{
  for (guint i = 0; i < self->owned->len; i++)
    equalize_log_group (g_ptr_array_index (self->owned, i), log);
  for (guint i = 0; i < self->order->len; i++)
    vn_equal_layer_write (g_ptr_array_index (self->order, i));
}

/**
 * vn_equalize_model:
 * @model: float, with types inferred and BatchNormalization folded; changed in place: constants only, no node or name of
 *   a value. Constants that several layers share become one for each that changes
 * @log: (nullable): a line for each pair, triple or group, with the smallest and the largest factor
 *
 * Equalizes the weights of layers of the outermost graph.
 *
 * Returns: %FALSE if there is no memory or it was cancelled; @model is then as it was
 */
gboolean
vn_equalize_model (VnModel                 *model,
                   const VnEqualizeOptions *options,
                   VnEditLog               *log,
                   GCancellable            *cancellable,
                   GError                 **error)
{
  g_auto(VnEqualizer) self = { 0 };

  g_return_val_if_fail (model != NULL && options != NULL, FALSE);

  if (options->kind == VN_EQUALIZE_OFF)
    return TRUE;
  if (!equalize_equalizer_init (&self, model, options, error) || !equalize_run_steps (&self, cancellable, error))
    return FALSE;
  vn_edit_log_set_pass (log, "equalize");
  equalize_finish (&self, log);
  return TRUE;
}

/**
 * vn_equalize_list_results:
 *
 * Returns: (transfer container) (element-type VnValue) (nullable): what the layers whose results would be scaled make:
 *   what to look at for VnEqualizeOptions.activations. %NULL if there is no memory
 */
GPtrArray *
vn_equalize_list_results (VnModel                 *model,
                          const VnEqualizeOptions *options,
                          GError                 **error)
{
  g_auto(VnEqualizer) self = { 0 };
  g_autoptr(GPtrArray) values = g_ptr_array_new ();

  g_return_val_if_fail (model != NULL && options != NULL, NULL);

  if (!equalize_equalizer_init (&self, model, options, error))
    return NULL;
  for (guint i = 0; i < self.owned->len; i++)
    {
      const VnEqualGroup *group = g_ptr_array_index (self.owned, i);

      for (guint k = 0; k < group->heads->len; k++)
        g_ptr_array_add (values, vn_node_get_output (((VnEqualLayer *) g_ptr_array_index (group->heads, k))->node, 0));
    }
  return g_steal_pointer (&values);
}

static gboolean
equalize_run (VnPassContext  *ctx,
              GError        **error)
{
  VnEqualizeOptions options = VN_EQUALIZE_OPTIONS_DEFAULT;

  return vn_rewrite_infer (ctx, "equalize", error) && vn_equalize_model (ctx->model, &options, ctx->log, ctx->cancellable, error);
}

const VnPass vn_pass_equalize = {
  .id = "equalize",
  .title = N_("Cross-layer equalization"),
  .summary = N_("Rescales channels between consecutive layers so that their ranges are similar, as AMD’s tools do."),
  .stage = VN_PASS_REQUEST,
  .run = equalize_run,
};
