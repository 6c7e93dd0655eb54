/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gradients of RNN, GRU and LSTM: all steps are run again, kept, and gone through backwards (Werbos, "Backpropagation through
 * time", 1990). */
#include "vn-gradient-private.h"

#include "vn-checked.h"
#include "vn-linalg.h"
#include "vn-rnn.h"

#include <math.h>
#include <string.h>

enum { X, W, R, B, LENGTHS, INITIAL_H, INITIAL_C, PEEPHOLE };
enum { Y, LAST_H, LAST_C };

/* One direction. By step and sample: @before and @after the gates' activations, @slopes: gradients by @before; @products: of
 * GRU's last gate, the product that its reset scales; by step and sample, with one step more: @h and @c in front of the step.
 * @dh, @dc: by sample, gradients of the state behind the present step. */
typedef struct
{
  VnGradientContext *ctx;
  VnRnn              rnn;
  gboolean           batch_first, reverse;
  gsize              directions, direction, width;
  const float       *w, *r, *w_bias, *r_bias, *peephole;
  float             *dw, *dr, *dw_bias, *dr_bias, *dpeephole;
  float             *before, *after, *slopes, *products, *h, *c, *dh, *dc, *spare;
} GradientRnn;

/* ---- places ---- */

static gboolean
gradient_rnn_has (const GradientRnn *self,
                  guint              input)
{
  return input < self->ctx->op.n_inputs && self->ctx->op.in[input] != NULL;
}

static const float *
gradient_rnn_input (const GradientRnn *self,
                    guint              input,
                    gsize              offset)
{
  return gradient_rnn_has (self, input) ? (const float *) self->ctx->op.in[input]->data + offset : NULL;
}

static float *
gradient_rnn_gradient (const GradientRnn *self,
                       guint              input,
                       gsize              offset)
{
  float *data = gradient_rnn_has (self, input) ? vn_gradient_data (self->ctx->in_grads[input]) : NULL;

  return data != NULL ? data + offset : NULL;
}

static const float *
gradient_rnn_output (const GradientRnn *self,
                     guint              output)
{
  return output < self->ctx->op.n_outputs && self->ctx->out_grads[output] != NULL ? self->ctx->out_grads[output]->data : NULL;
}

static gsize
gradient_rnn_find_state (const GradientRnn *self,
                         gsize              sample)
{
  return (self->batch_first ? sample * self->directions + self->direction : self->direction * self->rnn.batch
          + sample) * self->rnn.hidden;
}

static gsize
gradient_rnn_find_result (const GradientRnn *self,
                          gsize              time,
                          gsize              sample)
{
  return (self->batch_first ? (sample * self->rnn.steps + time) * self->directions + self->direction
                            : (time * self->directions + self->direction) * self->rnn.batch + sample) * self->rnn.hidden;
}

static gsize
gradient_rnn_find_row (const GradientRnn *self,
                       gsize              time,
                       gsize              sample)
{
  return self->batch_first ? sample * self->rnn.steps + time : time * self->rnn.batch + sample;
}

static gsize
gradient_rnn_get_length (const GradientRnn *self,
                         gsize              sample)
{
  if (!gradient_rnn_has (self, LENGTHS))
    return self->rnn.steps;
  return (gsize) CLAMP (vn_tensor_get_s64 (self->ctx->op.in[LENGTHS], sample), 0, (gint64) self->rnn.steps);
}

/* ---- making one ---- */

static gboolean
gradient_rnn_reserve (GradientRnn  *self,
                      GError      **error)
{
  const VnRnn *rnn = &self->rnn;
  gsize cells = 0, rows = 0, states = 0, total = 0;
  float *data;

  if (!vn_checked_mul (rnn->steps, rnn->batch, &cells) || !vn_checked_mul (cells, self->width, &rows) ||
      !vn_checked_mul (rnn->steps + 3, rnn->batch, &states) || !vn_checked_mul (states, rnn->hidden, &states) ||
      !vn_checked_mul (rows, 3, &total) || !vn_checked_mul (states, 3, &states) || !vn_checked_add (total, states, &total) ||
      !vn_checked_add (total, 2 * self->width, &total))
    total = G_MAXSIZE;
  data = vn_scratch_reserve (self->ctx->scratch, total, sizeof (float), error);
  if (data == NULL)
    return FALSE;
  states = (rnn->steps + 1) * rnn->batch * rnn->hidden;
  self->before = data;
  self->after = self->before + rows;
  self->slopes = self->after + rows;
  self->products = self->slopes + rows;
  self->h = self->products + cells * rnn->hidden;
  self->c = self->h + states;
  self->dh = self->c + states;
  self->dc = self->dh + rnn->batch * rnn->hidden;
  self->spare = self->dc + rnn->batch * rnn->hidden;
  return TRUE;
}

static gboolean
gradient_rnn_init (GradientRnn        *self,
                   VnGradientContext  *ctx,
                   guint               gates,
                   GError            **error)
{
  const VnShape *x = &ctx->op.in[X]->shape, *r = &ctx->op.in[R]->shape;
  float clip = vn_node_get_float (ctx->op.node, "clip", 0.f);
  VnRnn *rnn = &self->rnn;

  self->ctx = ctx;
  self->batch_first = vn_node_get_int (ctx->op.node, "layout", 0) != 0;
  self->directions = (gsize) r->dims[0];
  *rnn = (VnRnn) { .gates = gates, .steps = (gsize) x->dims[self->batch_first ? 1 : 0],
                   .batch = (gsize) x->dims[self->batch_first ? 0 : 1],
                   .input = (gsize) x->dims[2], .hidden = (gsize) r->dims[2], .clip = clip > 0.f ? (double) clip : INFINITY,
                   .linear_before_reset = vn_node_get_int (ctx->op.node, "linear_before_reset", 0) != 0,
                   .input_forget = vn_node_get_int (ctx->op.node, "input_forget", 0) != 0 };
  self->width = gates * rnn->hidden;
  if (MAX (MAX (rnn->steps * rnn->batch, self->width), rnn->input) <= G_MAXINT)
    return gradient_rnn_reserve (self, error);
  g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("%zu rows of %zu gates are too many"), rnn->steps * rnn->batch, self->width);
  return FALSE;
}

static void
gradient_rnn_take_direction (GradientRnn *self,
                             gsize        direction,
                             gboolean     reverse)
{
  gsize width = self->width, hidden = self->rnn.hidden, input = self->rnn.input;

  self->direction = direction;
  self->reverse = reverse;
  self->w = gradient_rnn_input (self, W, direction * width * input);
  self->r = gradient_rnn_input (self, R, direction * width * hidden);
  self->w_bias = gradient_rnn_input (self, B, direction * 2 * width);
  self->r_bias = self->w_bias != NULL ? self->w_bias + width : NULL;
  self->peephole = self->rnn.gates == 4 ? gradient_rnn_input (self, PEEPHOLE, direction * 3 * hidden) : NULL;
  self->dw = gradient_rnn_gradient (self, W, direction * width * input);
  self->dr = gradient_rnn_gradient (self, R, direction * width * hidden);
  self->dw_bias = gradient_rnn_gradient (self, B, direction * 2 * width);
  self->dr_bias = self->dw_bias != NULL ? self->dw_bias + width : NULL;
  self->dpeephole = self->peephole != NULL ? gradient_rnn_gradient (self, PEEPHOLE, direction * 3 * hidden) : NULL;
}

/* ---- forward ---- */

/* Products of data and weights, with the biases that are added to them. */
static void
gradient_rnn_project (GradientRnn *self)
{
  const VnRnn *rnn = &self->rnn;
  gsize n_rows = rnn->steps * rnn->batch, late = rnn->gates == 3 && rnn->linear_before_reset ? 2 * rnn->hidden : self->width;

  for (gsize i = 0; i < n_rows; i++)
    for (gsize j = 0; j < self->width; j++)
      self->before[i * self->width + j] = self->w_bias != NULL ? self->w_bias[j] + (j < late ? self->r_bias[j] : 0) : 0;
  vn_linalg_add_product (self->before, self->width, gradient_rnn_input (self, X, 0), rnn->input, FALSE, self->w, rnn->input, TRUE,
                         n_rows,
                         self->width, rnn->input, 1);
}

/* Adds the product with rows @first to @last of the recurrent weights. */
static void
gradient_rnn_recur (const GradientRnn *self,
                    float             *to,
                    const float       *h,
                    gsize              first,
                    gsize              last)
{
  for (gsize j = first; j < last; j++)
    to[j - first] += vn_gradient_dot (self->r + j * self->rnn.hidden, h, self->rnn.hidden);
}

static void
gradient_rnn_activate (const GradientRnn *self,
                       guint              activation,
                       const float       *before,
                       float             *after,
                       gsize              n)
{
  memcpy (after, before, n * sizeof (float));
  vn_rnn_activate (self->rnn.activations[activation], self->rnn.clip, after, n);
}

static void
gradient_rnn_run_gru (GradientRnn *self,
                      float       *a,
                      float       *v,
                      float       *product,
                      const float *h,
                      float       *next)
{
  gsize n = self->rnn.hidden;
  const float *z = v, *r = v + n, *candidate = v + 2 * n;

  gradient_rnn_recur (self, a, h, 0, 2 * n);
  gradient_rnn_activate (self, 0, a, v, 2 * n);
  for (gsize k = 0; k < n; k++)
    product[k] = self->rnn.linear_before_reset ? (self->r_bias != NULL ? self->r_bias[2 * n + k] : 0) : r[k] * h[k];
  if (self->rnn.linear_before_reset)
    {
      gradient_rnn_recur (self, product, h, 2 * n, 3 * n);
      for (gsize k = 0; k < n; k++)
        a[2 * n + k] += r[k] * product[k];
    }
  else
    gradient_rnn_recur (self, a + 2 * n, product, 2 * n, 3 * n);
  gradient_rnn_activate (self, 1, a + 2 * n, v + 2 * n, n);
  for (gsize k = 0; k < n; k++)
    next[k] = (1 - z[k]) * candidate[k] + z[k] * h[k];
}

static void
gradient_rnn_run_lstm (GradientRnn *self,
                       float       *a,
                       float       *v,
                       const float *h,
                       const float *c,
                       float       *next_h,
                       float       *next_c)
{
  gsize n = self->rnn.hidden;
  const float *p = self->peephole, *i = v, *o = v + n, *f = v + 2 * n, *candidate = v + 3 * n;

  gradient_rnn_recur (self, a, h, 0, 4 * n);
  for (gsize k = 0; k < n && p != NULL; k++)
    {
      a[k] += p[k] * c[k];
      a[2 * n + k] += p[2 * n + k] * c[k];
    }
  gradient_rnn_activate (self, 0, a, v, n);
  gradient_rnn_activate (self, 0, a + 2 * n, v + 2 * n, n);
  gradient_rnn_activate (self, 1, a + 3 * n, v + 3 * n, n);
  for (gsize k = 0; k < n; k++)
    next_c[k] = (self->rnn.input_forget ? 1 - i[k] : f[k]) * c[k] + i[k] * candidate[k];
  for (gsize k = 0; k < n && p != NULL; k++)
    a[n + k] += p[n + k] * next_c[k];
  gradient_rnn_activate (self, 0, a + n, v + n, n);
  memcpy (next_h, next_c, n * sizeof (float));
  vn_rnn_activate (self->rnn.activations[2], INFINITY, next_h, n);
  for (gsize k = 0; k < n; k++)
    next_h[k] *= o[k];
}

/* Where a sample is at a step; FALSE: its sequence has ended. */
static gboolean
gradient_rnn_find_time (const GradientRnn *self,
                        gsize              step,
                        gsize              sample,
                        gsize             *time)
{
  gsize length = gradient_rnn_get_length (self, sample);

  *time = self->reverse && step < length ? length - 1 - step : step;
  return step < length;
}

static void
gradient_rnn_run_step (GradientRnn *self,
                       gsize        step,
                       gsize        sample)
{
  gsize n = self->rnn.hidden, at = (step * self->rnn.batch + sample) * n, next = at + self->rnn.batch * n, time, row;
  float *a, *v;

  memcpy (self->h + next, self->h + at, n * sizeof (float));
  memcpy (self->c + next, self->c + at, n * sizeof (float));
  if (!gradient_rnn_find_time (self, step, sample, &time))
    return;
  row = gradient_rnn_find_row (self, time, sample) * self->width;
  a = self->before + row;
  v = self->after + row;
  if (self->rnn.gates == 4)
    gradient_rnn_run_lstm (self, a, v, self->h + at, self->c + at, self->h + next, self->c + next);
  else if (self->rnn.gates == 3)
    gradient_rnn_run_gru (self, a, v, self->products + at, self->h + at, self->h + next);
  else
    {
      gradient_rnn_recur (self, a, self->h + at, 0, n);
      gradient_rnn_activate (self, 0, a, v, n);
      memcpy (self->h + next, v, n * sizeof (float));
    }
}

static void
gradient_rnn_load (const GradientRnn *self,
                   const float       *from,     /* nullable */
                   float             *to)
{
  gsize n = self->rnn.hidden;

  for (gsize b = 0; b < self->rnn.batch; b++)
    if (from != NULL)
      memcpy (to + b * n, from + gradient_rnn_find_state (self, b), n * sizeof (float));
    else
      memset (to + b * n, 0, n * sizeof (float));
}

/* ---- back ---- */

/* How the activation changes with what it is taken of. */
static float
gradient_rnn_slope (VnRnnActivation activation,
                    double          clip,
                    float           x,
                    float           y)
{
  float a = activation.a, b = activation.b, t;

  if ((double) fabsf (x) > clip)
    return 0;
  switch (activation.function)
    {
    case VN_RNN_SIGMOID:
      return y * (1 - y);
    case VN_RNN_TANH:
      return 1 - y * y;
    case VN_RNN_RELU:
      return x < 0 ? 0 : 1;
    case VN_RNN_AFFINE:
      return a;
    case VN_RNN_LEAKY_RELU:
      return x < 0 ? a : 1;
    case VN_RNN_THRESHOLDED_RELU:
      return x < a ? 0 : 1;
    case VN_RNN_SCALED_TANH:
      t = tanhf (b * x);
      return a * b * (1 - t * t);
    case VN_RNN_HARD_SIGMOID:
      return a * x + b < 0 || a * x + b > 1 ? 0 : a;
    case VN_RNN_ELU:
      return x < 0 ? a * expf (x) : 1;
    case VN_RNN_SOFTSIGN:
      return 1 / ((1 + fabsf (x)) * (1 + fabsf (x)));
    case VN_RNN_SOFTPLUS:
      return 1 / (1 + expf (-x));
    default:
      return 0;
    }
}

static float
gradient_rnn_gate_slope (const GradientRnn *self,
                         guint              activation,
                         const float       *a,
                         const float       *v,
                         gsize              k)
{
  return gradient_rnn_slope (self->rnn.activations[activation], self->rnn.clip, a[k], v[k]);
}

/* Rows @first to @last of the recurrent weights, whose product with @h has the gradient @slope: adds to theirs, and to @dh, that
 * of @h. */
static void
gradient_rnn_recur_back (GradientRnn *self,
                         const float *slope,
                         const float *h,
                         float       *dh,
                         gsize        first,
                         gsize        last)
{
  gsize n = self->rnn.hidden;

  for (gsize j = first; j < last; j++)
    {
      vn_gradient_add_scaled (dh, self->r + j * n, slope[j - first], n);
      if (self->dr != NULL)
        vn_gradient_add_scaled (self->dr + j * n, h, slope[j - first], n);
    }
}

/* @dh becomes the gradient of the state in front of the step. */
static void
gradient_rnn_back_gru (GradientRnn *self,
                       const float *a,
                       const float *v,
                       const float *product,
                       const float *h,
                       float       *slope,
                       float       *dh)
{
  gsize n = self->rnn.hidden;
  const float *z = v, *r = v + n, *candidate = v + 2 * n;
  float *of_product = self->spare, *inner = self->spare + n;

  memset (inner, 0, n * sizeof (float));
  for (gsize k = 0; k < n; k++)
    {
      slope[2 * n + k] = dh[k] * (1 - z[k]) * gradient_rnn_gate_slope (self, 1, a, v, 2 * n + k);
      slope[k] = dh[k] * (h[k] - candidate[k]) * gradient_rnn_gate_slope (self, 0, a, v, k);
      dh[k] *= z[k];
      of_product[k] = slope[2 * n + k] * r[k];
    }
  if (self->rnn.linear_before_reset)
    gradient_rnn_recur_back (self, of_product, h, dh, 2 * n, 3 * n);
  else
    gradient_rnn_recur_back (self, slope + 2 * n, product, inner, 2 * n, 3 * n);
  for (gsize k = 0; k < n; k++)
    {
      slope[n + k] = (self->rnn.linear_before_reset
                      ? slope[2 * n + k] * product[k] : inner[k] * h[k]) * gradient_rnn_gate_slope (self, 0, a, v, n + k);
      dh[k] += inner[k] * r[k];
    }
  gradient_rnn_recur_back (self, slope, h, dh, 0, 2 * n);
  if (self->dr_bias != NULL)
    {
      vn_gradient_add_scaled (self->dr_bias, slope, 1, 2 * n);
      vn_gradient_add_scaled (self->dr_bias + 2 * n, self->rnn.linear_before_reset ? of_product : slope + 2 * n, 1, n);
    }
}

/* @dh and @dc become the gradients of the state in front of the step. */
static void
gradient_rnn_back_lstm (GradientRnn *self,
                        const float *a,
                        const float *v,
                        const float *h,
                        const float *c,
                        const float *next_c,
                        float       *slope,
                        float       *dh,
                        float       *dc)
{
  gsize n = self->rnn.hidden;
  const float *p = self->peephole, *i = v, *o = v + n, *f = v + 2 * n, *candidate = v + 3 * n;
  float *bent = self->spare;

  memcpy (bent, next_c, n * sizeof (float));
  vn_rnn_activate (self->rnn.activations[2], INFINITY, bent, n);
  for (gsize k = 0; k < n; k++)
    {
      float kept = self->rnn.input_forget ? 1 - i[k] : f[k], d;

      slope[n + k] = dh[k] * bent[k] * gradient_rnn_gate_slope (self, 0, a, v, n + k);
      d = dc[k] + dh[k] * o[k] * gradient_rnn_slope (self->rnn.activations[2], INFINITY, next_c[k], bent[k]) +
          (p != NULL ? slope[n + k] * p[n + k] : 0);
      slope[k] = d * (candidate[k] - (self->rnn.input_forget ? c[k] : 0)) * gradient_rnn_gate_slope (self, 0, a, v, k);
      slope[2 * n + k] = self->rnn.input_forget ? 0 : d * c[k] * gradient_rnn_gate_slope (self, 0, a, v, 2 * n + k);
      slope[3 * n + k] = d * i[k] * gradient_rnn_gate_slope (self, 1, a, v, 3 * n + k);
      dc[k] = d * kept + (p != NULL ? slope[k] * p[k] + slope[2 * n + k] * p[2 * n + k] : 0);
      dh[k] = 0;
    }
  for (gsize k = 0; k < n && self->dpeephole != NULL; k++)
    {
      self->dpeephole[k] += slope[k] * c[k];
      self->dpeephole[n + k] += slope[n + k] * next_c[k];
      self->dpeephole[2 * n + k] += slope[2 * n + k] * c[k];
    }
  gradient_rnn_recur_back (self, slope, h, dh, 0, 4 * n);
  if (self->dr_bias != NULL)
    vn_gradient_add_scaled (self->dr_bias, slope, 1, 4 * n);
}

static void
gradient_rnn_back_step (GradientRnn *self,
                        gsize        step,
                        gsize        sample)
{
  gsize n = self->rnn.hidden, at = (step * self->rnn.batch + sample) * n, next = at + self->rnn.batch * n, time, row;
  const float *dy = gradient_rnn_output (self, Y), *a, *v;
  float *slope, *dh = self->dh + sample * n;

  if (!gradient_rnn_find_time (self, step, sample, &time))
    return;
  row = gradient_rnn_find_row (self, time, sample) * self->width;
  a = self->before + row;
  v = self->after + row;
  slope = self->slopes + row;
  if (dy != NULL)
    vn_gradient_add_scaled (dh, dy + gradient_rnn_find_result (self, time, sample), 1, n);
  if (self->rnn.gates == 4)
    gradient_rnn_back_lstm (self, a, v, self->h + at, self->c + at, self->c + next, slope, dh, self->dc + sample * n);
  else if (self->rnn.gates == 3)
    gradient_rnn_back_gru (self, a, v, self->products + at, self->h + at, slope, dh);
  else
    {
      for (gsize k = 0; k < n; k++)
        slope[k] = dh[k] * gradient_rnn_gate_slope (self, 0, a, v, k);
      memset (dh, 0, n * sizeof (float));
      gradient_rnn_recur_back (self, slope, self->h + at, dh, 0, n);
      if (self->dr_bias != NULL)
        vn_gradient_add_scaled (self->dr_bias, slope, 1, n);
    }
}

/* Of what was there before the first step, and of all that was multiplied by the data at once. */
static void
gradient_rnn_finish (GradientRnn *self)
{
  const VnRnn *rnn = &self->rnn;
  gsize n_rows = rnn->steps * rnn->batch;
  float *dx = gradient_rnn_gradient (self, X, 0), *of_h = gradient_rnn_gradient (self, INITIAL_H, 0);
  float *of_c = rnn->gates == 4 ? gradient_rnn_gradient (self, INITIAL_C, 0) : NULL;

  for (gsize b = 0; b < rnn->batch; b++)
    {
      if (of_h != NULL)
        vn_gradient_add_scaled (of_h + gradient_rnn_find_state (self, b), self->dh + b * rnn->hidden, 1, rnn->hidden);
      if (of_c != NULL)
        vn_gradient_add_scaled (of_c + gradient_rnn_find_state (self, b), self->dc + b * rnn->hidden, 1, rnn->hidden);
    }
  for (gsize i = 0; i < n_rows && self->dw_bias != NULL; i++)
    vn_gradient_add_scaled (self->dw_bias, self->slopes + i * self->width, 1, self->width);
  if (dx != NULL)
    vn_linalg_add_product (dx, rnn->input, self->slopes, self->width, FALSE, self->w, rnn->input, FALSE, n_rows, rnn->input,
                           self->width, 1);
  if (self->dw != NULL)
    vn_linalg_add_product (self->dw, rnn->input, self->slopes, self->width, TRUE, gradient_rnn_input (self, X, 0), rnn->input,
                           FALSE,
                           self->width, rnn->input, n_rows, 1);
}

static void
gradient_rnn_run_direction (GradientRnn *self)
{
  const VnRnn *rnn = &self->rnn;

  gradient_rnn_project (self);
  gradient_rnn_load (self, gradient_rnn_input (self, INITIAL_H, 0), self->h);
  gradient_rnn_load (self, rnn->gates == 4 ? gradient_rnn_input (self, INITIAL_C, 0) : NULL, self->c);
  for (gsize step = 0; step < rnn->steps; step++)
    for (gsize b = 0; b < rnn->batch; b++)
      gradient_rnn_run_step (self, step, b);
  memset (self->slopes, 0, rnn->steps * rnn->batch * self->width * sizeof (float));
  gradient_rnn_load (self, gradient_rnn_output (self, LAST_H), self->dh);
  gradient_rnn_load (self, rnn->gates == 4 ? gradient_rnn_output (self, LAST_C) : NULL, self->dc);
  for (gsize step = rnn->steps; step-- > 0;)
    for (gsize b = 0; b < rnn->batch; b++)
      gradient_rnn_back_step (self, step, b);
  gradient_rnn_finish (self);
}

static gboolean
gradient_rnn_run (VnGradientContext  *ctx,
                  guint               gates,
                  GError            **error)
{
  VnRnnDirection direction;
  GradientRnn self = { 0 };

  if (!vn_rnn_get_direction (&ctx->op, &direction, error) || !gradient_rnn_init (&self, ctx, gates, error))
    return FALSE;
  for (gsize d = 0; d < self.directions; d++)
    {
      if (!vn_rnn_get_activations (&ctx->op, (guint) d, self.rnn.activations, error))
        return FALSE;
      gradient_rnn_take_direction (&self, d, direction == VN_RNN_REVERSE || d == 1);
      gradient_rnn_run_direction (&self);
    }
  return TRUE;
}

gboolean
vn_gradient_rnn (VnGradientContext  *ctx,
                 GError            **error)
{
  return gradient_rnn_run (ctx, 1, error);
}

gboolean
vn_gradient_gru (VnGradientContext  *ctx,
                 GError            **error)
{
  return gradient_rnn_run (ctx, 3, error);
}

gboolean
vn_gradient_lstm (VnGradientContext  *ctx,
                  GError            **error)
{
  return gradient_rnn_run (ctx, 4, error);
}
