/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What channels hold on samples, and what the weights that read them do: what their factors follow from. */
#include "balance-figures.h"

#include "vn-calibrate.h"
#include "vn-quantize.h"

#include <math.h>
#include <string.h>

void
vn_balance_figures_clear (VnBalanceFigures *self)
{
  g_return_if_fail (self != NULL);

  g_free (self->largest);
  g_free (self->square);
}

static void
figures_find_widest (VnBalanceFigures *self,
                     GPtrArray        *values)
{
  for (guint i = 0; i < values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (values, i);

      for (guint c = 0; c < self->graph->n[value->id]; c++)
        {
          VnBalanceChannel *channel = vn_balance_graph_get_channel (self->graph, value, c);

          if (channel->widest == G_MAXUINT || self->graph->n[value->id] > self->graph->n[channel->widest])
            channel->widest = value->id;
        }
    }
}

/* What is only a part of another tensor has the size it needs there: one factor for all of it changes nothing of its own. */
static gboolean
figures_is_part (VnBalanceFigures *self,
                 const VnValue    *value)
{
  guint n = self->graph->n[value->id], whole = vn_balance_graph_get_channel (self->graph, value, 0)->widest;

  for (guint c = 0; c < n; c++)
    if (vn_balance_graph_get_channel (self->graph, value, c)->widest != whole)
      return FALSE;
  return self->graph->n[whole] > n;
}

static gboolean
figures_plans (VnQuantPlan   *plan,
               const VnValue *value)
{
  const VnTensorPlan *found = vn_quant_plan_find (plan, value->name);

  return found != NULL && found->quantized;
}

/* In transformers most of what lies between products stays float: its numbers do not matter. Where ranges are found while the
 * network runs, plans have none of activations: what is multiplied by integers is made of integers, too. Where only weights are
 * integers, it tells how much their errors matter. */
static gboolean
figures_is_planned (const VnBalanceFigures *self,
                    VnQuantPlan            *plan,
                    const VnValue          *value)
{
  if (plan == NULL || figures_plans (plan, value))
    return TRUE;
  for (guint i = 0; (self->input->recipe->dynamic || self->of_weights) && i < value->uses->len; i++)
    {
      const VnUse *use = &g_array_index (value->uses, VnUse, i);

      if (vn_balance_graph_get_role (self->graph, use->node, use->index) == VN_BALANCE_WEIGHT &&
          figures_plans (plan, vn_node_get_input (use->node, 1)))
        return TRUE;
    }
  return FALSE;
}

static void
figures_look_at_activations (VnBalanceFigures *self,
                             VnQuantPlan      *plan,
                             const VnValue    *value,
                             const GArray     *largest)
{
  double most = 0;

  if (largest == NULL || largest->len != self->graph->n[value->id] || !vn_balance_graph_is_quantized (self->graph, value) ||
      figures_is_part (self, value) || (self->graph->axis[value->id] != 1 && !figures_is_planned (self, plan, value)))
    return;
  for (guint c = 0; c < largest->len; c++)
    most = fmax (most, g_array_index (largest, double, c));
  for (guint c = 0; c < largest->len && most > 0 && isfinite (most); c++)
    {
      VnBalanceChannel *channel = vn_balance_graph_get_channel (self->graph, value, c);

      channel->largest = fmax (channel->largest, g_array_index (largest, double, c) / most);
    }
}

/* What holds the channels of another tensor in heads has its numbers; it may be quantized where that one is not. */
static void
figures_look_at_heads (VnBalanceFigures *self,
                       VnQuantPlan      *plan,
                       const GPtrArray  *values,
                       const GPtrArray  *largest)
{
  guint at;

  for (guint i = 0; i < self->graph->graph->values->len; i++)
    if (self->graph->whole[i] != NULL && g_ptr_array_find ((GPtrArray *) values, self->graph->whole[i], &at))
      figures_look_at_activations (self, plan, g_ptr_array_index (self->graph->graph->values, i),
                                   g_ptr_array_index (largest, at));
}

/* Of a convolution, the numbers of row m belong to group m / (rows / groups), and one row holds the channels of its group. */
static void
figures_look_at_rows (VnBalanceFigures *self,
                      const VnValue    *value,
                      const float      *x,
                      const VnShape    *shape,
                      gsize             group)
{
  gsize rows = (gsize) shape->dims[0], columns = (gsize) shape->dims[1], taps = (gsize) vn_shape_count (shape, 2, shape->rank);

  for (gsize m = 0; m < rows; m++)
    {
      const float *row = x + m * columns * taps;
      double most = 0;

      for (gsize i = 0; i < columns * taps; i++)
        most = fmax (most, fabs ((double) row[i]));
      for (gsize i = 0; i < columns * taps && most > 0; i++)
        {
          VnBalanceChannel *channel = vn_balance_graph_get_channel (self->graph, value,
                                                                    (guint) (m / (rows / group) * columns + i / taps));

          channel->weight = fmax (channel->weight, fabs ((double) row[i]) / most);
        }
    }
}

/* Of a product, or a transposed convolution, rows are channels: a column is what is added up. */
static void
figures_look_at_columns (VnBalanceFigures *self,
                         const VnValue    *value,
                         const float      *x,
                         const VnShape    *shape)
{
  gsize rows = (gsize) shape->dims[0], columns = (gsize) shape->dims[1], taps = (gsize) vn_shape_count (shape, 2, shape->rank);

  for (gsize m = 0; m < columns; m++)
    {
      double most = 0;

      for (gsize c = 0; c < rows; c++)
        for (gsize t = 0; t < taps; t++)
          most = fmax (most, fabs ((double) x[(c * columns + m) * taps + t]));
      for (gsize c = 0; c < rows && most > 0; c++)
        for (gsize t = 0; t < taps; t++)
          {
            VnBalanceChannel *channel = vn_balance_graph_get_channel (self->graph, value, (guint) c);

            channel->weight = fmax (channel->weight, fabs ((double) x[(c * columns + m) * taps + t]) / most);
          }
    }
}

static gboolean
figures_look_at_weights (VnBalanceFigures  *self,
                         const VnValue     *value,
                         GError           **error)
{
  for (guint i = 0; i < value->uses->len; i++)
    {
      const VnUse *use = &g_array_index (value->uses, VnUse, i);
      g_autoptr(VnTensor) data = NULL;

      if (vn_balance_graph_get_role (self->graph, use->node, use->index) != VN_BALANCE_WEIGHT)
        continue;
      data = vn_tensor_get_aligned (vn_node_get_input (use->node, 1)->initializer, error);
      if (data == NULL)
        return FALSE;
      if (vn_node_is (use->node, "Conv") && data->shape.dims[1] > 1)
        figures_look_at_rows (self, value, data->data, &data->shape, (gsize) vn_node_get_int (use->node, "group", 1));
      else if (vn_node_is (use->node, "Gemm") && vn_node_get_int (use->node, "transB", 0) != 0)
        figures_look_at_rows (self, value, data->data, &data->shape, 1);
      else if (!vn_node_is (use->node, "Conv"))
        figures_look_at_columns (self, value, data->data, &data->shape);
    }
  return TRUE;
}

static double *
figures_keep (const VnBalanceFigures *self,
              const GPtrArray        *values,
              const GPtrArray        *figures)
{
  double *kept = g_new0 (double, self->graph->channels->len + 1);

  for (guint i = 0; i < values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (values, i);
      const GArray *figure = g_ptr_array_index (figures, i);

      if (figure != NULL && figure->len == self->graph->n[value->id])
        memcpy (kept + self->graph->first[value->id], figure->data, figure->len * sizeof (double));
    }
  for (guint i = 0; i < self->graph->graph->values->len; i++)
    if (self->graph->whole[i] != NULL)
      memcpy (kept + self->graph->first[i], kept + self->graph->first[self->graph->whole[i]->id],
              self->graph->n[i] * sizeof (double));
  return kept;
}

/* What has channels of its own. @axes: (out) (array): of each the axis that holds them. Returns: (element-type VnValue) */
static GPtrArray *
figures_list_values (const VnBalanceFigures *self,
                     int                    *axes)
{
  GPtrArray *values = g_ptr_array_new ();

  for (guint i = 0; i < self->graph->graph->values->len; i++)
    if (self->graph->n[i] > 0 && self->graph->whole[i] == NULL)
      {
        axes[values->len] = self->graph->axis[i];
        g_ptr_array_add (values, g_ptr_array_index (self->graph->graph->values, i));
      }
  return values;
}

static gboolean
figures_needs_plan (const VnBalanceFigures *self)
{
  for (guint i = 0; i < self->graph->graph->values->len; i++)
    if (self->graph->n[i] > 0 && self->graph->axis[i] != 1)
      return TRUE;
  return FALSE;
}

static gboolean
figures_look (VnBalanceFigures  *self,
              const GPtrArray   *values,
              const GPtrArray   *largest,
              GError           **error)
{
  gboolean needs_plan = figures_needs_plan (self);
  g_autoptr(VnQuantPlan) plan = needs_plan ? vn_quantize_resolve (self->input->prepared, self->input->recipe, self->plain, NULL,
                                                                  error) : NULL;

  if (needs_plan && plan == NULL)
    return FALSE;
  for (guint i = 0; i < values->len; i++)
    {
      figures_look_at_activations (self, plan, g_ptr_array_index (values, i), g_ptr_array_index (largest, i));
      if (!self->of_weights && !figures_look_at_weights (self, g_ptr_array_index (values, i), error))
        return FALSE;
    }
  figures_look_at_heads (self, plan, values, largest);
  return TRUE;
}

/* The size of a channel: its largest number, or the root of the mean square. */
static GPtrArray *
figures_measure (const VnBalanceFigures *self,
                 const GPtrArray        *values,
                 const int              *axes,
                 const VnSamples        *run,
                 GError                **error)
{
  GPtrArray *sizes = vn_channel_stats (self->input->prepared, (GPtrArray *) values, axes,
                                       self->of_weights ? VN_CHANNEL_MEAN_SQUARE : VN_CHANNEL_LARGEST, run, self->cancellable,
                                       error);

  for (guint i = 0; sizes != NULL && self->of_weights && i < sizes->len; i++)
    {
      GArray *size = g_ptr_array_index (sizes, i);

      for (guint c = 0; size != NULL && c < size->len; c++)
        g_array_index (size, double, c) = sqrt (g_array_index (size, double, c));
    }
  return sizes;
}

/*< private >
 * vn_balance_figures_find:
 *
 * Finds the size of each channel, as a share of the largest of its tensor, and what weights that read it hold at most; keeps, by
 * channel, the size, and the mean square.
 */
gboolean
vn_balance_figures_find (VnBalanceFigures  *self,
                         GError           **error)
{
  const VnRepairSamples *samples;
  g_autoptr(GPtrArray) values = NULL, largest = NULL, square = NULL;
  g_autofree int *axes = NULL;
  VnSamples run;

  g_return_val_if_fail (self != NULL && self->input != NULL && self->graph != NULL, FALSE);

  axes = g_new (int, self->graph->graph->values->len + 1);
  values = figures_list_values (self, axes);
  if (values->len == 0)
    return TRUE;
  samples = self->input->samples;
  run = vn_repair_samples_get (samples, self->input->progress);
  largest = figures_measure (self, values, axes, &run, error);
  if (largest == NULL)
    return FALSE;
  figures_find_widest (self, values);
  self->largest = figures_keep (self, values, largest);
  if (self->squares)
    {
      square = vn_channel_stats (self->input->prepared, values, axes, VN_CHANNEL_MEAN_SQUARE, &run, self->cancellable, error);
      if (square == NULL)
        return FALSE;
      self->square = figures_keep (self, values, square);
    }
  return figures_look (self, values, largest, error);
}
