/* SPDX-License-Identifier: GPL-3.0-or-later */
/* RNN, GRU, LSTM: the loop over directions, time steps and samples; the cells are in vn-rnn.c. */
#include "vn-rnn.h"

#include <math.h>

enum { X, W, R, B, LENGTHS, INITIAL_H, INITIAL_C, PEEPHOLE };
enum { Y, LAST_H, LAST_C };

/* Halves are counted as what stands in for them. */
static gsize
rnn_item_bytes (VnDType dtype)
{
  return dtype == VN_DTYPE_F64 ? sizeof (double) : sizeof (float);
}

static guint
rnn_n_gates (const VnOpContext *ctx)
{
  return g_str_equal (ctx->op->type, "LSTM") ? 4 : g_str_equal (ctx->op->type, "GRU") ? 3 : 1;
}

/**
 * vn_rnn_get_direction:
 * @direction: (out)
 *
 * Returns: %FALSE with an error if the attribute of the node is none that ONNX knows
 */
gboolean
vn_rnn_get_direction (VnOpContext     *ctx,
                      VnRnnDirection  *direction,
                      GError         **error)
{
  g_autofree char *name = vn_node_dup_string (ctx->node, "direction", "forward");

  if (g_ascii_strcasecmp (name, "forward") == 0)
    *direction = VN_RNN_FORWARD;
  else if (g_ascii_strcasecmp (name, "reverse") == 0)
    *direction = VN_RNN_REVERSE;
  else if (g_ascii_strcasecmp (name, "bidirectional") == 0)
    *direction = VN_RNN_BIDIRECTIONAL;
  else
    return vn_op_fail (ctx, error, _("unknown direction “%s”"), name);
  return TRUE;
}

/**
 * vn_rnn_get_activations:
 * @direction: 0, or 1 for the second of two
 * @activations: (out) (array): one per place where the cell has one, at most 3
 *
 * Returns: %FALSE with an error if the node names a function that ONNX does not know
 */
gboolean
vn_rnn_get_activations (VnOpContext     *ctx,
                        guint            direction,
                        VnRnnActivation *activations,
                        GError         **error)
{
  static const char * const defaults[5][3] = { [1] = { "Tanh" }, [3] = { "Sigmoid", "Tanh" },
                                               [4] = { "Sigmoid", "Tanh", "Tanh" } };
  guint gates = rnn_n_gates (ctx), n = gates == 1 ? 1 : gates - 1;
  const VnAttr *attr = vn_node_get_attr (ctx->node, "activations");
  gsize n_alpha, n_beta;
  const float *alpha = vn_node_get_floats (ctx->node, "activation_alpha", &n_alpha);
  const float *beta = vn_node_get_floats (ctx->node, "activation_beta", &n_beta);

  for (guint i = 0; i < n; i++)
    {
      guint at = direction * n + i;
      g_autofree char *name = NULL;

      if (attr != NULL && attr->strings != NULL && at < attr->strings->len)
        {
          gsize size;
          const char *bytes = g_bytes_get_data (g_ptr_array_index (attr->strings, at), &size);

          name = g_strndup (bytes, size);
        }
      else
        name = g_strdup (defaults[gates][i]);
      if (!vn_rnn_activation (&activations[i], name))
        return vn_op_fail (ctx, error, _("unknown activation “%s”"), name);
      if (at < n_alpha)
        activations[i].a = alpha[at];
      if (at < n_beta)
        activations[i].b = beta[at];
    }
  return TRUE;
}

/* Elements of the six pieces of scratch, in the order of VnRnn. */
static gboolean
rnn_count_scratch (const VnRnn *rnn,
                   gsize       *n_rows,
                   gsize       *total)
{
  gsize width, states;

  return vn_checked_mul (rnn->gates, rnn->hidden, &width) && vn_checked_mul (rnn->steps, rnn->batch, n_rows) &&
         vn_checked_mul (*n_rows, width, n_rows) && vn_checked_mul (rnn->batch, width + 3 * rnn->hidden, &states) &&
         vn_checked_add (*n_rows, states, total) && vn_checked_add (*total, width + rnn->hidden, total) &&
         vn_checked_mul (*total, rnn->item, total);
}

static gboolean
rnn_check_weights (VnOpContext *ctx,
                   gint64       hidden,
                   gint64       directions,
                   GError     **error)
{
  const VnShape *x = &ctx->in_types[X].shape, *w = &ctx->in_types[W].shape, *r = &ctx->in_types[R].shape;
  gint64 rows = hidden * (gint64) rnn_n_gates (ctx);

  if (x->rank >= 0 && x->rank != 3)
    return vn_op_fail (ctx, error, _("input rank is %d, expected time steps, batch and features"), x->rank);
  if ((w->rank >= 0 && w->rank != 3) || (r->rank >= 0 && r->rank != 3))
    return vn_op_fail (ctx, error, _("the weights have rank %d and %d, expected 3"), w->rank, r->rank);
  if (hidden < 0 || !vn_shape_is_static (w) || !vn_shape_is_static (r))
    return TRUE;
  if (w->rank != 3 || r->rank != 3 || w->dims[0] != directions || r->dims[0] != directions || w->dims[1] != rows ||
      r->dims[1] != rows || r->dims[2] != hidden || (x->rank == 3 && x->dims[2] >= 0 && x->dims[2] != w->dims[2]))
    return vn_op_fail (ctx, error, _("the weights do not match hidden_size %lld and %lld directions"), (long long) hidden,
                       (long long) directions);
  return TRUE;
}

static gint64
rnn_hidden_size (const VnOpContext *ctx)
{
  const VnShape *r = &ctx->in_types[R].shape;

  return vn_node_get_int (ctx->node, "hidden_size", r->rank == 3 ? r->dims[2] : VN_DIM_UNKNOWN);
}

static gboolean
rnn_check_optional (VnOpContext   *ctx,
                    guint          input,
                    const VnShape *expected,
                    GError       **error)
{
  const VnShape *shape;

  if (!vn_op_has_input (ctx, input))
    return TRUE;
  shape = &ctx->in_types[input].shape;
  if (!vn_shape_is_static (shape) || !vn_shape_is_static (expected) || vn_shape_equal (shape, expected))
    return TRUE;
  {
    g_autofree char *found = vn_shape_to_string (shape, "×");
    g_autofree char *wanted = vn_shape_to_string (expected, "×");

    return vn_op_fail (ctx, error, _("input %u is %s, expected %s"), input, found, wanted);
  }
}

static gboolean
rnn_infer (VnOpContext *ctx,
           GError     **error)
{
  const VnShape *x = &ctx->in_types[X].shape;
  gboolean batch_first = vn_node_get_int (ctx->node, "layout", 0) != 0;
  const gint64 hidden = rnn_hidden_size (ctx), known = MAX (hidden, VN_DIM_UNKNOWN);   /* not known is any negative number */
  gint64 directions, steps = VN_DIM_UNKNOWN, batch = VN_DIM_UNKNOWN, width;
  VnRnnActivation activations[3];
  VnRnnDirection direction;
  VnShape y, state;
  gsize rows;

  if (!vn_op_check_alike (ctx, 0xee, error))
    return FALSE;
  if (!vn_rnn_get_direction (ctx, &direction, error))
    return FALSE;
  directions = direction == VN_RNN_BIDIRECTIONAL ? 2 : 1;
  if (hidden > G_MAXINT32 || vn_node_get_int (ctx->node, "hidden_size", 1) < 1)
    return vn_op_fail (ctx, error, _("hidden_size is %lld"), (long long) hidden);
  for (gint64 d = 0; d < directions; d++)
    if (!vn_rnn_get_activations (ctx, (guint) d, activations, error))
      return FALSE;
  if (!rnn_check_weights (ctx, known, directions, error))
    return FALSE;
  if (x->rank == 3)
    {
      steps = x->dims[batch_first ? 1 : 0];
      batch = x->dims[batch_first ? 0 : 1];
    }
  y = batch_first ? VN_SHAPE (batch, steps, directions, hidden) : VN_SHAPE (steps, directions, batch, hidden);
  state = batch_first ? VN_SHAPE (batch, directions, hidden) : VN_SHAPE (directions, batch, hidden);
  width = known * (gint64) rnn_n_gates (ctx);
  if (!rnn_check_optional (ctx, B, &VN_SHAPE (directions, 2 * width), error) ||
      !rnn_check_optional (ctx, LENGTHS, &VN_SHAPE (batch), error) ||
      !rnn_check_optional (ctx, INITIAL_H, &state, error) || !rnn_check_optional (ctx, INITIAL_C, &state, error) ||
      !rnn_check_optional (ctx, PEEPHOLE, &VN_SHAPE (directions, 3 * known), error))
    return FALSE;
  vn_op_set_output (ctx, Y, ctx->in_types[X].dtype, &y);
  vn_op_set_output (ctx, LAST_H, ctx->in_types[X].dtype, &state);
  vn_op_set_output (ctx, LAST_C, ctx->in_types[X].dtype, &state);
  if (steps < 0 || batch < 0 || hidden < 0)
    return TRUE;

  if (!rnn_count_scratch (&(VnRnn) { .gates = rnn_n_gates (ctx), .steps = (gsize) steps, .batch = (gsize) batch,
                                     .hidden = (gsize) hidden, .item = rnn_item_bytes (ctx->in_types[X].dtype) },
                          &rows, &ctx->scratch_bytes))
    return vn_op_fail (ctx, error, _("the products do not fit in memory"));
  return TRUE;
}

typedef struct
{
  VnOpContext *ctx;
  VnRnn        rnn;
  gboolean     batch_first;
  gsize        directions;
} Layer;

static gboolean
rnn_layer_init (Layer        *self,
                VnOpContext  *ctx,
                GError      **error)
{
  const VnShape *x = &ctx->in[X]->shape;
  VnRnn *rnn = &self->rnn;
  gsize n_rows, total;
  float clip = vn_node_get_float (ctx->node, "clip", 0.f);

  self->ctx = ctx;
  self->batch_first = vn_node_get_int (ctx->node, "layout", 0) != 0;
  self->directions = (gsize) ctx->in[W]->shape.dims[0];
  rnn->gates = rnn_n_gates (ctx);
  rnn->steps = (gsize) x->dims[self->batch_first ? 1 : 0];
  rnn->batch = (gsize) x->dims[self->batch_first ? 0 : 1];
  rnn->input = (gsize) x->dims[2];
  rnn->hidden = (gsize) ctx->in[R]->shape.dims[2];
  rnn->clip = clip > 0.f ? clip : INFINITY;
  rnn->item = rnn_item_bytes (ctx->in[X]->dtype);
  rnn->linear_before_reset = vn_node_get_int (ctx->node, "linear_before_reset", 0) != 0;
  rnn->input_forget = vn_node_get_int (ctx->node, "input_forget", 0) != 0;
  if (!rnn_count_scratch (rnn, &n_rows, &total))
    return vn_op_fail (ctx, error, _("the products do not fit in memory"));
  /* Memory was asked for by hidden_size, the products are as large as the weights. */
  if (total > ctx->scratch_bytes)
    return vn_op_fail (ctx, error, _("hidden_size does not match the weights"));

  rnn->rows = ctx->scratch;
  rnn->products = (char *) rnn->rows + n_rows * rnn->item;
  rnn->h = (char *) rnn->products + rnn->batch * rnn->gates * rnn->hidden * rnn->item;
  rnn->c = (char *) rnn->h + rnn->batch * rnn->hidden * rnn->item;
  rnn->bias = (char *) rnn->c + rnn->batch * rnn->hidden * rnn->item;
  rnn->reset = (char *) rnn->bias + rnn->gates * rnn->hidden * rnn->item;
  if (ctx->op == &vn_op_lstm_rounded)
    rnn->rounded = (float *) ((char *) rnn->reset + rnn->hidden * rnn->item);
  return TRUE;
}

static const char *
rnn_input_of (const Layer *self,
              guint        input,
              gsize        offset)
{
  return vn_op_has_input (self->ctx, input) ? (const char *) self->ctx->in[input]->data + offset * self->rnn.item : NULL;
}

/* Where the state of a sample lies in the tensors of states. */
static gsize
rnn_state_offset (const Layer *self,
                  gsize        direction,
                  gsize        sample)
{
  return (self->batch_first ? sample * self->directions + direction : direction * self->rnn.batch + sample) *
         self->rnn.hidden;
}

static void
rnn_load_state (Layer    *self,
                guint     input,
                gsize     direction,
                gpointer  to)
{
  gsize bytes = self->rnn.hidden * self->rnn.item;

  for (gsize b = 0; b < self->rnn.batch; b++)
    {
      const char *from = rnn_input_of (self, input, rnn_state_offset (self, direction, b));

      if (from != NULL)
        memcpy ((char *) to + b * bytes, from, bytes);
      else
        memset ((char *) to + b * bytes, 0, bytes);
    }
}

static void
rnn_store_state (Layer         *self,
                 guint          output,
                 gsize          direction,
                 gconstpointer  from)
{
  gsize bytes = self->rnn.hidden * self->rnn.item;

  if (output >= self->ctx->n_outputs || self->ctx->out[output] == NULL)
    return;
  for (gsize b = 0; b < self->rnn.batch; b++)
    memcpy ((char *) self->ctx->out[output]->data + rnn_state_offset (self, direction, b) * self->rnn.item,
            (const char *) from + b * bytes, bytes);
}

/* The result of one step; zeros where the sequence has ended before. */
static void
rnn_store_step (Layer    *self,
                gsize     direction,
                gsize     step,
                gsize     sample,
                gboolean  ended)
{
  const VnRnn *rnn = &self->rnn;
  gsize at = self->batch_first ? (sample * rnn->steps + step) * self->directions + direction
                               : (step * self->directions + direction) * rnn->batch + sample;
  gsize bytes = rnn->hidden * rnn->item;
  char *to;

  if (self->ctx->out[Y] == NULL)
    return;
  to = (char *) self->ctx->out[Y]->data + at * bytes;
  if (ended)
    memset (to, 0, bytes);
  else
    memcpy (to, (const char *) rnn->h + sample * bytes, bytes);
}

static gsize
rnn_length_of (const Layer *self,
               gsize        sample)
{
  gint64 length;

  if (!vn_op_has_input (self->ctx, LENGTHS))
    return self->rnn.steps;
  length = vn_tensor_get_s64 (self->ctx->in[LENGTHS], sample);
  return (gsize) CLAMP (length, 0, (gint64) self->rnn.steps);
}

static void
rnn_run_direction (Layer    *self,
                   gsize     direction,
                   gboolean  reverse)
{
  VnRnn *rnn = &self->rnn;
  gsize width = rnn->gates * rnn->hidden;
  gboolean is_f64 = rnn->item == sizeof (double);

  rnn->w = rnn_input_of (self, W, direction * width * rnn->input);
  rnn->r = rnn_input_of (self, R, direction * width * rnn->hidden);
  rnn->w_bias = rnn_input_of (self, B, direction * 2 * width);
  rnn->r_bias = rnn_input_of (self, B, direction * 2 * width + width);
  rnn->peephole = rnn->gates == 4 ? rnn_input_of (self, PEEPHOLE, direction * 3 * rnn->hidden) : NULL;
  rnn_load_state (self, INITIAL_H, direction, rnn->h);
  rnn_load_state (self, INITIAL_C, direction, rnn->c);
  (is_f64 ? vn_rnn_project_f64 : vn_rnn_project) (rnn, self->ctx->in[X]->data);

  for (gsize step = 0; step < rnn->steps; step++)
    {
      (is_f64 ? vn_rnn_recur_f64 : vn_rnn_recur) (rnn);
      for (gsize b = 0; b < rnn->batch; b++)
        {
          gsize length = rnn_length_of (self, b), t = reverse && step < length ? length - 1 - step : step;

          if (step < length)
            (is_f64 ? vn_rnn_cell_f64 : vn_rnn_cell) (rnn, self->batch_first ? b * rnn->steps + t : t * rnn->batch + b, b);
          rnn_store_step (self, direction, t, b, step >= length);
        }
    }
  rnn_store_state (self, LAST_H, direction, rnn->h);
  if (rnn->gates == 4)
    rnn_store_state (self, LAST_C, direction, rnn->c);
}

static gboolean
rnn_run (VnOpContext *ctx,
         GError     **error)
{
  Layer layer = { 0 };
  VnRnnDirection direction;

  if (!vn_rnn_get_direction (ctx, &direction, error) || !rnn_layer_init (&layer, ctx, error))
    return FALSE;
  for (gsize d = 0; d < layer.directions; d++)
    {
      if (!vn_rnn_get_activations (ctx, (guint) d, layer.rnn.activations, error))
        return FALSE;
      rnn_run_direction (&layer, d, direction == VN_RNN_REVERSE || d == 1);
    }
  return TRUE;
}

#define OPERATOR(id, type_, inputs, outputs)                                       \
const VnOp vn_op_##id##_1 = {                                                      \
  .domain = "", .type = type_, .since = 1,                                         \
  .min_inputs = 3, .max_inputs = inputs, .min_outputs = 0, .max_outputs = outputs, \
  .others = { [4] = VN_DTYPE_BIT (S32) },                                          \
  .dtypes = VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64),                               \
  .stand_ins = VN_STAND_IN_HALVES,                                                 \
  .same_dtype = 1u << 1 | 1u << 2 | 1u << 3 | 1u << 5 | 1u << 6 | 1u << 7,         \
  .family = VN_FAMILY_COMPUTE,                                                     \
  .quant = VN_QUANT_TRAITS (VN_QUANT_OPAQUE, FALSE),                               \
  .infer = rnn_infer,                                                              \
  .run = rnn_run,                                                                  \
};

OPERATOR (gru, "GRU", 6, 2)
OPERATOR (lstm, "LSTM", 8, 3)
OPERATOR (rnn, "RNN", 6, 2)

/* What DynamicQuantizeLSTM calls; a model cannot. */
const VnOp vn_op_lstm_rounded = {
  .domain = "", .type = "LSTM", .since = 7,
  .min_inputs = 3, .max_inputs = 8, .min_outputs = 0, .max_outputs = 3,
  .dtypes = VN_DTYPE_BIT (F32),
  .infer = rnn_infer,
  .run = rnn_run,
};
