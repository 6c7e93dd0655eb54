/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gradients of normalizations. A line is what is normalized together; mean and variance follow from it, but for
 * BatchNormalization. */
#include "vn-gradient-private.h"

#include "vn-elem.h"

enum { X, SCALE, BIAS, MEAN, VARIANCE };
enum { SKIP = 1, GAMMA, BETA, SKIP_BIAS };

/**
 * Line: what is normalized together.
 * @scale: (nullable): of the first @run elements, then of the next
 * @d_scale, @d_bias, @dx: (nullable)
 */
typedef struct
{
  gsize        n, run;
  gboolean     centred;
  double       epsilon;
  const float *x, *dy, *scale;
  float       *dx, *d_scale, *d_bias;
} Line;

/* Mean, and what the distance from it is multiplied by. */
static void
gradient_norm_measure (const Line *self,
                       double     *mean,
                       double     *factor)
{
  double squares = 0;

  *mean = 0;
  for (gsize i = 0; i < self->n && self->centred; i++)
    *mean += (double) self->x[i];
  *mean /= (double) self->n;
  for (gsize i = 0; i < self->n; i++)
    squares += ((double) self->x[i] - *mean) * ((double) self->x[i] - *mean);
  *factor = 1 / sqrt (squares / (double) self->n + self->epsilon);
}

static void
gradient_norm_line (const Line *self)
{
  double mean, factor, sum = 0, products = 0;

  gradient_norm_measure (self, &mean, &factor);
  for (gsize i = 0; i < self->n; i++)
    {
      gsize k = i / self->run;
      double d = (double) self->dy[i], distance = ((double) self->x[i] - mean) * factor;

      if (self->d_scale != NULL)
        self->d_scale[k] += (float) (d * distance);
      if (self->d_bias != NULL)
        self->d_bias[k] += (float) d;
      d *= (double) self->scale[k];
      sum += d;
      products += d * distance;
    }
  sum = self->centred ? sum / (double) self->n : 0;
  products /= (double) self->n;
  for (gsize i = 0; i < self->n && self->dx != NULL; i++)
    {
      double d = (double) self->dy[i] * (double) self->scale[i / self->run], distance = ((double) self->x[i] - mean) * factor;

      self->dx[i] += (float) (factor * (d - sum - distance * products));
    }
}

static float *
gradient_norm_get_grad (const VnGradientContext *ctx,
                        guint                    input)
{
  return input < ctx->op.n_inputs ? vn_gradient_data (ctx->in_grads[input]) : NULL;
}

/* Mean and deviation come out, too: nobody computes with them but training by other means. */
static gboolean
gradient_norm_check_statistics (const VnGradientContext  *ctx,
                                GError                  **error)
{
  for (guint i = 1; i < MIN (ctx->op.n_outputs, 3); i++)
    if (ctx->out_grads[i] != NULL)
      {
        g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("there is no gradient for the mean and the standard "
                                                              "deviation (output %u)"), i);
        return FALSE;
      }
  return TRUE;
}

/* ---- LayerNormalization, and the same without a mean ---- */

static gboolean
gradient_norm_layers (VnGradientContext  *ctx,
                      gboolean            centred,
                      GError            **error)
{
  const VnShape *x = &ctx->op.in[X]->shape;
  Line line = { .centred = centred, .epsilon = vn_node_get_float (ctx->op.node, "epsilon", 1e-5f) };
  gsize n_lines;
  int axis;

  if (!gradient_norm_check_statistics (ctx, error))
    return FALSE;
  if (ctx->out_grads[0] == NULL)
    return TRUE;
  if (!vn_op_axis (&ctx->op, x, vn_node_get_int (ctx->op.node, "axis", -1), &axis, error))
    return FALSE;
  n_lines = (gsize) vn_shape_count (x, 0, axis);
  line.n = (gsize) vn_shape_count (x, axis, x->rank);
  line.run = ctx->op.in[SCALE]->n_elements > 1 ? 1 : MAX (line.n, 1);
  line.scale = ctx->op.in[SCALE]->data;
  line.d_scale = gradient_norm_get_grad (ctx, SCALE);
  for (gsize i = 0; i < n_lines && line.n > 0; i++)
    {
      float *dx = gradient_norm_get_grad (ctx, X), *d_bias = gradient_norm_get_grad (ctx, BIAS);

      line.x = (const float *) ctx->op.in[X]->data + i * line.n;
      line.dy = (const float *) ctx->out_grads[0]->data + i * line.n;
      line.dx = dx != NULL ? dx + i * line.n : NULL;
      gradient_norm_line (&line);
      for (gsize k = 0; k < line.n && d_bias != NULL; k++)
        d_bias[ctx->op.in[BIAS]->n_elements > 1 ? k : 0] += line.dy[k];
    }
  return TRUE;
}

gboolean
vn_gradient_layer_norm (VnGradientContext  *ctx,
                        GError            **error)
{
  return gradient_norm_layers (ctx, TRUE, error);
}

gboolean
vn_gradient_rms_norm (VnGradientContext  *ctx,
                      GError            **error)
{
  return gradient_norm_layers (ctx, FALSE, error);
}

/* ---- the same of a sum ---- */

typedef struct
{
  Line         line;
  gsize        n_skip;
  const float *skip, *bias, *d_sum;
  float       *sum, *back;            /* of a line */
  float       *d_skip, *d_sum_bias;
} Skip;

/* What comes back to the sum goes to all that was added. */
static void
gradient_norm_skip_line (Skip        *self,
                         gsize        i,
                         const float *x,
                         float       *dx)
{
  gsize n = self->line.n, at = i * n, at_skip = at % self->n_skip;

  for (gsize k = 0; k < n; k++)
    self->sum[k] = x[at + k] + self->skip[at_skip + k] + (self->bias != NULL ? self->bias[k] : 0);
  memset (self->back, 0, sizeof (float) * n);
  self->line.x = self->sum;
  self->line.dx = self->back;
  if (self->line.dy != NULL)
    {
      gradient_norm_line (&self->line);
      self->line.dy += n;
    }
  if (self->d_sum != NULL)
    vn_gradient_add_scaled (self->back, self->d_sum + at, 1, n);
  if (dx != NULL)
    vn_gradient_add_scaled (dx + at, self->back, 1, n);
  if (self->d_skip != NULL)
    vn_gradient_add_scaled (self->d_skip + at_skip, self->back, 1, n);
  if (self->d_sum_bias != NULL)
    vn_gradient_add_scaled (self->d_sum_bias, self->back, 1, n);
}

static gboolean
gradient_norm_skip (VnGradientContext  *ctx,
                    gboolean            centred,
                    GError            **error)
{
  const VnShape *x = &ctx->op.in[X]->shape;
  guint bias = centred ? SKIP_BIAS : BETA;
  gsize n = (gsize) x->dims[x->rank - 1], n_lines = (gsize) vn_shape_count (x, 0, x->rank - 1);
  float *scratch = vn_scratch_reserve (ctx->scratch, n, 2 * sizeof *scratch, error);
  Skip skip;

  if (scratch == NULL || !gradient_norm_check_statistics (ctx, error))
    return FALSE;
  skip = (Skip) {
    .line = { .n = n, .run = 1, .centred = centred, .epsilon = vn_node_get_float (ctx->op.node, "epsilon", 1e-12f),
              .dy = ctx->out_grads[0] != NULL ? ctx->out_grads[0]->data : NULL, .scale = ctx->op.in[GAMMA]->data,
              .d_scale = gradient_norm_get_grad (ctx, GAMMA), .d_bias = centred ? gradient_norm_get_grad (ctx, BETA) : NULL },
    .n_skip = ctx->op.in[SKIP]->n_elements, .skip = ctx->op.in[SKIP]->data,
    .bias = ctx->op.n_inputs > bias && ctx->op.in[bias] != NULL ? ctx->op.in[bias]->data : NULL,
    .d_sum = ctx->op.n_outputs > 3 && ctx->out_grads[3] != NULL ? ctx->out_grads[3]->data : NULL,
    .sum = scratch, .back = scratch + n, .d_skip = gradient_norm_get_grad (ctx, SKIP),
    .d_sum_bias = gradient_norm_get_grad (ctx, bias),
  };
  for (gsize i = 0; i < n_lines && n > 0; i++)
    gradient_norm_skip_line (&skip, i, ctx->op.in[X]->data, gradient_norm_get_grad (ctx, X));
  return TRUE;
}

gboolean
vn_gradient_skip_layer_norm (VnGradientContext  *ctx,
                             GError            **error)
{
  return gradient_norm_skip (ctx, TRUE, error);
}

gboolean
vn_gradient_skip_rms_norm (VnGradientContext  *ctx,
                           GError            **error)
{
  return gradient_norm_skip (ctx, FALSE, error);
}

/* ---- InstanceNormalization and GroupNormalization ---- */

gboolean
vn_gradient_group_norm (VnGradientContext  *ctx,
                        GError            **error)
{
  const VnShape *x = &ctx->op.in[X]->shape;
  gsize channels = (gsize) x->dims[1], size = (gsize) vn_shape_count (x, 2, x->rank), n_lines;
  gsize groups = (gsize) vn_node_get_int (ctx->op.node, "num_groups", x->dims[1]), n_factors = ctx->op.in[SCALE]->n_elements;
  Line line = { .centred = TRUE, .epsilon = vn_node_get_float (ctx->op.node, "epsilon", 1e-5f) };

  if (ctx->op.in[X]->n_elements == 0 || groups == 0)
    return TRUE;
  n_lines = (gsize) x->dims[0] * groups;
  line.n = channels / groups * size;
  line.run = n_factors == groups ? line.n : size;   /* one factor for each group, or for each channel */
  for (gsize i = 0; i < n_lines; i++)
    {
      gsize factor = i % groups * (n_factors / groups);
      float *dx = gradient_norm_get_grad (ctx, X), *d_scale = gradient_norm_get_grad (ctx, SCALE),
      *d_bias = gradient_norm_get_grad (ctx, BIAS);

      line.x = (const float *) ctx->op.in[X]->data + i * line.n;
      line.dy = (const float *) ctx->out_grads[0]->data + i * line.n;
      line.scale = (const float *) ctx->op.in[SCALE]->data + factor;
      line.dx = dx != NULL ? dx + i * line.n : NULL;
      line.d_scale = d_scale != NULL ? d_scale + factor : NULL;
      line.d_bias = d_bias != NULL ? d_bias + factor : NULL;
      gradient_norm_line (&line);
    }
  return TRUE;
}

/* ---- BatchNormalization ---- */

/* With mean and variance that are given. */
gboolean
vn_gradient_check_batch_norm (const VnNode  *node,
                              GError       **error)
{
  gboolean trains = vn_node_get_int (node, "training_mode", 0) != 0;

  for (guint i = 1; i < node->outputs->len; i++)
    trains = trains || vn_node_get_output (node, i) != NULL;
  if (!trains && vn_node_get_int (node, "spatial", 1) != 0)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, trains ? _("it computes mean and variance itself (training_mode)")
                                                             : _("it has a factor for each position (spatial is 0)"));
  return FALSE;
}

static void
gradient_norm_add_factor (const VnGradientContext *ctx,
                          guint                    input,
                          gsize                    channel,
                          double                   value)
{
  float *to = gradient_norm_get_grad (ctx, input);

  if (to != NULL)
    to[channel] += (float) value;
}

static void
gradient_norm_batch_plane (VnGradientContext *ctx,
                           gsize              plane,
                           gsize              channel,
                           gsize              size)
{
  double scale = vn_tensor_get_double (ctx->op.in[SCALE], channel), mean = vn_tensor_get_double (ctx->op.in[MEAN], channel);
  double variance = vn_tensor_get_double (ctx->op.in[VARIANCE], channel)
                    + (double) vn_node_get_float (ctx->op.node, "epsilon", 1e-5f);
  double factor = 1 / sqrt (variance);
  const float *x = (const float *) ctx->op.in[X]->data + plane * size,
  *dy = (const float *) ctx->out_grads[0]->data + plane * size;
  float *dx = gradient_norm_get_grad (ctx, X);
  double sum = (double) vn_gradient_sum (dy, size), distances = (double) vn_gradient_dot (x, dy, size) - mean * sum;

  if (dx != NULL)
    vn_gradient_add_scaled (dx + plane * size, dy, (float) (scale * factor), size);
  gradient_norm_add_factor (ctx, SCALE, channel, distances * factor);
  gradient_norm_add_factor (ctx, BIAS, channel, sum);
  gradient_norm_add_factor (ctx, MEAN, channel, -sum * scale * factor);
  gradient_norm_add_factor (ctx, VARIANCE, channel, -0.5 * distances * scale * factor / variance);
}

gboolean
vn_gradient_batch_norm (VnGradientContext  *ctx,
                        GError            **error)
{
  const VnShape *x = &ctx->op.in[X]->shape;
  gsize channels = x->rank >= 2 ? (gsize) x->dims[1] : 1, n = ctx->op.in[X]->n_elements;
  gsize size = x->rank > 2 ? (gsize) vn_shape_count (x, 2, x->rank) : 1;

  for (gsize plane = 0; plane * size < n; plane++)
    gradient_norm_batch_plane (ctx, plane, plane % channels, size);
  return TRUE;
}
