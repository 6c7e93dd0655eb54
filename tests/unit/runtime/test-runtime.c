/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The forecast on small networks: which kernels, why not, and that costs follow from them. */
#include "vn-graph-edit.h"
#include "vn-runtime.h"

#include <math.h>
#include <string.h>

#define CHANNELS 8
#define SIZE 12
#define MANY 50000   /* nodes in a row */

typedef struct
{
  VnModel *model;
  VnGraph *graph;
} Net;

static void
net_init (Net *self)
{
  self->model = vn_model_new (8, 17);
  self->graph = self->model->graph;
}

static VnValue *
net_add_input (Net *self)
{
  const VnShape shape = { .rank = 4, .dims = { 1, CHANNELS, SIZE, SIZE } };

  return vn_graph_add_input (self->graph, "x", VN_DTYPE_F32, &shape);
}

static VnValue *
net_add_floats (Net           *self,
                const char    *name,
                const VnShape *shape)
{
  g_autofree float *values = NULL;
  g_autoptr(VnTensor) tensor = NULL;
  gsize n = 1;

  for (int i = 0; i < shape->rank; i++)
    n *= (gsize) shape->dims[i];
  values = g_new (float, n);
  for (gsize i = 0; i < n; i++)
    values[i] = 0.01f;
  tensor = vn_tensor_new_f32 (shape, values);
  return vn_graph_add_initializer (self->graph, name, tensor);
}

static VnValue *
net_add_integers (Net           *self,
                  const char    *name,
                  VnDType        dtype,
                  const VnShape *shape,
                  gint64         value)
{
  g_autoptr(VnTensor) tensor = vn_tensor_new (dtype, shape, NULL);

  if (vn_dtype_get_bits (dtype) == 8)
    memset (tensor->data, (int) value, tensor->n_bytes);
  return vn_graph_add_initializer (self->graph, name, tensor);
}

static VnValue *
net_add_node (Net        *self,
              const char *name,
              const char *op_type,
              VnValue    *a,
              VnValue    *b,
              VnValue    *c)
{
  VnValue *inputs[] = { a, b, c };
  VnValue *output = vn_graph_add_value (self->graph, name, VN_DTYPE_UNDEFINED, NULL);

  vn_graph_add_node (self->graph, name, "", op_type, inputs, c != NULL ? 3 : b != NULL ? 2 : 1, &output, 1);
  return output;
}

/* QuantizeLinear and DequantizeLinear behind @value; @channels: a scale for each channel. */
static VnValue *
net_add_pair (Net        *self,
              const char *name,
              VnValue    *value,
              VnDType     dtype,
              gint64      zero,
              gboolean    channels)
{
  const VnShape shape = { .rank = channels ? 1 : 0, .dims = { CHANNELS } };
  g_autofree char *scale_name = g_strconcat (name, "_scale", NULL), *zero_name = g_strconcat (name, "_zero", NULL);
  g_autofree char *q = g_strconcat (name, "_q", NULL), *dq = g_strconcat (name, "_dq", NULL);
  VnValue *scale = net_add_floats (self, scale_name, &shape),
  *zero_point = net_add_integers (self, zero_name, dtype, &shape, zero);

  return net_add_node (self, dq, "DequantizeLinear", net_add_node (self, q, "QuantizeLinear", value, scale, zero_point), scale,
                       zero_point);
}

static VnValue *
net_add_conv (Net        *self,
              const char *name,
              VnValue    *value,
              gboolean    quantized)
{
  const VnShape shape = { .rank = 4, .dims = { CHANNELS, CHANNELS, 1, 1 } }, scalar = { .rank = 0 };
  g_autofree char *weight = g_strconcat (name, "_w", NULL), *scale = g_strconcat (name, "_ws", NULL),
  *zero = g_strconcat (name, "_wz", NULL);
  g_autofree char *dq = g_strconcat (name, "_wdq", NULL);

  if (!quantized)
    return net_add_node (self, name, "Conv", value, net_add_floats (self, weight, &shape), NULL);
  return net_add_node (self, name, "Conv", value,
                       net_add_node (self, dq, "DequantizeLinear", net_add_integers (self, weight, VN_DTYPE_S8, &shape, 1),
                                     net_add_floats (self, scale, &scalar), net_add_integers (self, zero, VN_DTYPE_S8, &scalar,
                                                                                              0)), NULL);
}

/* As other exporters write them: all that is constant is made by a node, a Constant or one that reads a Constant. */
static void
net_make_constants (Net        *self,
                    const char *op_type)
{
  while (self->graph->initializers->len > 0)
    {
      VnValue *value = g_ptr_array_index (self->graph->initializers, 0);
      g_autoptr(VnTensor) tensor = vn_tensor_ref (value->initializer);
      VnValue *made = value;
      VnAttr *attr = vn_attr_new ("value", VN_ATTR_TENSOR);

      vn_graph_set_initializer (self->graph, value, NULL);
      if (!g_str_equal (op_type, "Constant"))
        {
          made = vn_graph_add_value (self->graph, "made", tensor->dtype, &tensor->shape);
          vn_graph_add_node (self->graph, value->name, "", op_type, &made, 1, &value, 1);
        }
      attr->tensor = vn_tensor_ref (tensor);
      vn_node_set_attr (vn_graph_add_node (self->graph, value->name, "", "Constant", NULL, 0, &made, 1), attr);
    }
}

static VnRuntimeForecast *
net_finish (Net     *self,
            VnValue *output)
{
  g_autoptr(GError) error = NULL;
  VnRuntimeForecast *forecast;

  vn_graph_set_output (self->graph, 0, output);
  forecast = vn_runtime_forecast_new (self->model, NULL, NULL, &error);
  g_assert_no_error (error);
  vn_model_unref (self->model);
  return forecast;
}

static void
check_node (const VnRuntimeForecast *forecast,
            const char              *label,
            VnRuntimeKind            kind,
            VnRuntimeReason          reason)
{
  const VnRuntimeNode *node = vn_runtime_forecast_find (forecast, label);

  g_assert_nonnull (node);
  g_assert_cmpstr (vn_runtime_kind_get_id (node->kind), ==, vn_runtime_kind_get_id (kind));
  g_assert_cmpstr (vn_runtime_reason_get_id (node->reason), ==, vn_runtime_reason_get_id (reason));
}

/* Conv and Relu between pairs of @dtype, the second one of @next, or none if @open. */
static VnRuntimeForecast *
forecast_conv (VnDType  dtype,
               VnDType  next,
               gint64   zero,
               gboolean channels,
               gboolean open)
{
  Net net;
  VnValue *value;

  net_init (&net);
  value = net_add_conv (&net, "conv", net_add_pair (&net, "a", net_add_input (&net), dtype, zero, channels), TRUE);
  value = net_add_node (&net, "relu", "Relu", value, NULL, NULL);
  if (!open)
    value = net_add_pair (&net, "b", value, next, next == VN_DTYPE_S8 ? -128 : 0, FALSE);
  return net_finish (&net, net_add_node (&net, "last", "Identity", value, NULL, NULL));
}

static void
test_conv (void)
{
  g_autoptr(VnRuntimeForecast) eight = forecast_conv (VN_DTYPE_U8, VN_DTYPE_U8, 3, FALSE, FALSE);
  g_autoptr(VnRuntimeForecast) is_signed = forecast_conv (VN_DTYPE_S8, VN_DTYPE_S8, 0, FALSE, FALSE);
  g_autoptr(VnRuntimeForecast) sixteen = forecast_conv (VN_DTYPE_U16, VN_DTYPE_U16, 0, FALSE, FALSE);
  g_autoptr(VnRuntimeForecast) channels = forecast_conv (VN_DTYPE_U8, VN_DTYPE_U8, 0, TRUE, FALSE);
  g_autoptr(VnRuntimeForecast) open = forecast_conv (VN_DTYPE_U8, VN_DTYPE_U8, 0, FALSE, TRUE);

  check_node (eight, "conv", VN_RUNTIME_INTEGER, VN_RUNTIME_REASON_NONE);
  check_node (eight, "relu", VN_RUNTIME_ABSORBED, VN_RUNTIME_REASON_NONE);
  g_assert_cmpfloat (vn_runtime_forecast_integer_share (eight), ==, 1);
  g_assert_cmpfloat (eight->macs, ==, CHANNELS * CHANNELS * SIZE * SIZE);
  check_node (is_signed, "conv", VN_RUNTIME_INTEGER, VN_RUNTIME_REASON_NONE);
  check_node (sixteen, "conv", VN_RUNTIME_FLOAT, VN_RUNTIME_REASON_SIXTEEN);
  check_node (channels, "conv", VN_RUNTIME_FLOAT, VN_RUNTIME_REASON_CHANNELS);
  g_assert_cmpfloat (vn_runtime_forecast_integer_share (channels), ==, 0);
  check_node (open, "conv", VN_RUNTIME_FLOAT, VN_RUNTIME_REASON_FLOAT_OUTPUT);
  check_node (open, "relu", VN_RUNTIME_ABSORBED, VN_RUNTIME_REASON_NONE);
}

/* A zero point that a node makes is known as an initializer is; one that is computed is not. */
static void
test_made_constants (void)
{
  static const char * const types[] = { "Constant", "Identity" };
  VnRuntimeForecast *forecasts[G_N_ELEMENTS (types)];

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    {
      Net net;
      VnValue *value;

      net_init (&net);
      value = net_add_conv (&net, "conv", net_add_pair (&net, "a", net_add_input (&net), VN_DTYPE_S8, 0, FALSE), TRUE);
      value = net_add_node (&net, "last", "Identity", net_add_pair (&net, "b", value, VN_DTYPE_S8, 0, FALSE), NULL, NULL);
      net_make_constants (&net, types[i]);
      forecasts[i] = net_finish (&net, value);
    }
  check_node (forecasts[0], "conv", VN_RUNTIME_INTEGER, VN_RUNTIME_REASON_NONE);
  check_node (forecasts[0], "a_zero", VN_RUNTIME_FOLDED, VN_RUNTIME_REASON_NONE);
  check_node (forecasts[1], "a_zero", VN_RUNTIME_FOLDED, VN_RUNTIME_REASON_NONE);
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    vn_runtime_forecast_unref (forecasts[i]);
}

/* A signed tensor with one reader is turned into an unsigned one; with two it is not, and kernels read unsigned numbers only. */
static void
test_signed_readers (void)
{
  g_autoptr(VnRuntimeForecast) forecast = NULL;
  Net net;
  VnValue *value, *first, *second;

  net_init (&net);
  value = net_add_pair (&net, "a", net_add_input (&net), VN_DTYPE_S8, 0, FALSE);
  first = net_add_pair (&net, "b", net_add_conv (&net, "one", value, TRUE), VN_DTYPE_S8, 0, FALSE);
  second = net_add_pair (&net, "c", net_add_conv (&net, "two", value, TRUE), VN_DTYPE_S8, 0, FALSE);
  forecast = net_finish (&net, net_add_node (&net, "add", "Add", first, second, NULL));
  check_node (forecast, "one", VN_RUNTIME_FLOAT, VN_RUNTIME_REASON_SIGNED);
  check_node (forecast, "two", VN_RUNTIME_FLOAT, VN_RUNTIME_REASON_SIGNED);
}

/* Pairs go through what moves numbers, and MaxPool picks among integers. */
static void
test_moves (void)
{
  const VnShape axes = { .rank = 1, .dims = { 1 } };
  gint64 axis = 0;
  g_autoptr(VnTensor) tensor = vn_tensor_new_s64 (&axes, &axis);
  g_autoptr(VnRuntimeForecast) forecast = NULL;
  Net net;
  VnValue *value;

  net_init (&net);
  value = net_add_pair (&net, "b", net_add_conv (&net, "conv",
                                                 net_add_pair (&net, "a", net_add_input (&net), VN_DTYPE_U8, 0, FALSE), TRUE),
                        VN_DTYPE_U8, 0, FALSE);
  value = net_add_node (&net, "transpose", "Transpose", value, NULL, NULL);
  value = net_add_node (&net, "unsqueeze", "Unsqueeze", value, vn_graph_add_initializer (net.graph, "axes", tensor), NULL);
  forecast = net_finish (&net, net_add_node (&net, "exp", "Exp", value, NULL, NULL));
  check_node (forecast, "conv", VN_RUNTIME_INTEGER, VN_RUNTIME_REASON_NONE);
  check_node (forecast, "transpose", VN_RUNTIME_MOVES, VN_RUNTIME_REASON_NONE);
  check_node (forecast, "unsqueeze", VN_RUNTIME_MOVES, VN_RUNTIME_REASON_NONE);
  check_node (forecast, "exp", VN_RUNTIME_FLOAT, VN_RUNTIME_REASON_NO_KERNEL);
}

/* As many of them as a network has nodes: calls do not go down as deep. */
static void
test_many_moves (void)
{
  g_autoptr(VnRuntimeForecast) forecast = NULL;
  g_autofree char *last = NULL;
  Net net;
  VnValue *value;

  net_init (&net);
  value = net_add_pair (&net, "a", net_add_input (&net), VN_DTYPE_U8, 0, FALSE);
  value = net_add_pair (&net, "b", net_add_conv (&net, "conv", value, TRUE), VN_DTYPE_U8, 0, FALSE);
  for (guint i = 0; i < MANY; i++)
    {
      g_free (last);
      last = g_strdup_printf ("move%u", i);
      value = net_add_node (&net, last, "Transpose", value, NULL, NULL);
    }
  forecast = net_finish (&net, net_add_node (&net, "exp", "Exp", value, NULL, NULL));
  check_node (forecast, "conv", VN_RUNTIME_INTEGER, VN_RUNTIME_REASON_NONE);
  check_node (forecast, "move0", VN_RUNTIME_MOVES, VN_RUNTIME_REASON_NONE);
  check_node (forecast, last, VN_RUNTIME_MOVES, VN_RUNTIME_REASON_NONE);
}

/* Between quantizers, weights that are left in float are quantized by ONNX Runtime itself. */
static void
test_float_weights (void)
{
  g_autoptr(VnRuntimeForecast) forecast = NULL;
  Net net;
  VnValue *value;

  net_init (&net);
  value = net_add_conv (&net, "conv", net_add_pair (&net, "a", net_add_input (&net), VN_DTYPE_U8, 0, FALSE), FALSE);
  forecast = net_finish (&net, net_add_node (&net, "last", "Identity", net_add_pair (&net, "b", value, VN_DTYPE_U8, 0, FALSE),
                                             NULL, NULL));
  check_node (forecast, "conv", VN_RUNTIME_INTEGER, VN_RUNTIME_REASON_NONE);
}

static void
test_float (void)
{
  g_autoptr(VnRuntimeForecast) forecast = NULL, quantized = forecast_conv (VN_DTYPE_U16, VN_DTYPE_U16, 0, FALSE, FALSE);
  g_autoptr(VnRuntimeForecast) beside = NULL;
  Net net;

  net_init (&net);
  forecast = net_finish (&net, net_add_node (&net, "relu", "Relu", net_add_conv (&net, "conv", net_add_input (&net), FALSE), NULL,
                                             NULL));
  check_node (forecast, "conv", VN_RUNTIME_FLOAT, VN_RUNTIME_REASON_NONE);
  check_node (forecast, "relu", VN_RUNTIME_ABSORBED, VN_RUNTIME_REASON_NONE);
  g_assert_cmpstr (vn_runtime_forecast_find (forecast, "relu")->into, ==, "conv");
  g_assert_cmpfloat (forecast->conversion_seconds, <, forecast->seconds);
  g_assert_cmpfloat (forecast->seconds, >, 0);
  g_assert_cmpfloat (quantized->seconds, >, forecast->seconds);
  g_assert_cmpfloat (quantized->conversion_seconds, >, 0);
  g_assert_true (isnan (vn_runtime_forecast_ratio (forecast)));
  net_init (&net);
  vn_graph_set_output (net.graph, 0, net_add_node (&net, "relu", "Relu", net_add_conv (&net, "conv", net_add_input (&net), FALSE),
                                                   NULL, NULL));
  beside = vn_runtime_forecast_new (net.model, NULL, forecast, NULL);
  vn_model_unref (net.model);
  g_assert_cmpfloat (vn_runtime_forecast_ratio (beside), ==, 1);
}

/* The graph that ONNX Runtime made decides, by the names that it leaves: against two forecasts, one right, one wrong. */
static void
test_observed (void)
{
  g_autoptr(VnRuntimeForecast) integer = forecast_conv (VN_DTYPE_U8, VN_DTYPE_U8, 3, FALSE, FALSE);
  g_autoptr(VnRuntimeForecast) sixteen = forecast_conv (VN_DTYPE_U16, VN_DTYPE_U16, 0, FALSE, FALSE);
  g_autoptr(VnRuntimeForecast) as_integer = NULL, as_float = NULL, better = NULL;
  g_autoptr(VnModel) made_integer = NULL, made_float = NULL;
  Net net;
  VnValue *value;

  net_init (&net);
  value = net_add_pair (&net, "a", net_add_input (&net), VN_DTYPE_U8, 3, FALSE);
  vn_graph_set_output (net.graph, 0, net_add_node (&net, "last", "Identity",
                                                   net_add_node (&net, "conv", "QLinearConv", value, NULL, NULL), NULL, NULL));
  made_integer = net.model;
  net_init (&net);
  value = net_add_node (&net, "fused conv_nchwc", "Conv", net_add_input (&net), NULL, NULL);
  vn_graph_set_output (net.graph, 0, net_add_node (&net, "last", "Identity", value, NULL, NULL));
  made_float = net.model;

  as_integer = vn_runtime_forecast_observe (integer, made_integer);
  g_assert_true (as_integer->observed && !integer->observed);
  check_node (as_integer, "conv", VN_RUNTIME_INTEGER, VN_RUNTIME_REASON_NONE);
  check_node (as_integer, "relu", VN_RUNTIME_ABSORBED, VN_RUNTIME_REASON_NONE);
  g_assert_cmpfloat (vn_runtime_forecast_integer_share (as_integer), ==, 1);
  g_assert_cmpfloat (as_integer->seconds, ==, integer->seconds);

  as_float = vn_runtime_forecast_observe (integer, made_float);
  check_node (as_float, "conv", VN_RUNTIME_FLOAT, VN_RUNTIME_REASON_OBSERVED);
  g_assert_cmpstr (vn_runtime_forecast_find (as_float, "conv")->kernel, ==, "Conv");
  g_assert_cmpfloat (vn_runtime_forecast_integer_share (as_float), ==, 0);

  better = vn_runtime_forecast_observe (sixteen, made_integer);
  check_node (sixteen, "conv", VN_RUNTIME_FLOAT, VN_RUNTIME_REASON_SIXTEEN);
  check_node (better, "conv", VN_RUNTIME_INTEGER, VN_RUNTIME_REASON_NONE);
  g_assert_cmpfloat (vn_runtime_forecast_integer_share (better), ==, 1);
}

/* Seconds of a DequantizeLinear with a scale for each number of @axis; -1: one for all. */
static double
find_seconds_of_scales (int axis)
{
  const VnShape matrix = { .rank = 2, .dims = { 128, 64 } },
  scales = { .rank = axis >= 0 ? 1 : 0, .dims = { axis >= 0 ? matrix.dims[axis] : 0 } };
  g_autoptr(VnRuntimeForecast) forecast = NULL;
  VnValue *value;
  VnNode *node;
  Net net;

  net_init (&net);
  value = net_add_node (&net, "dq", "DequantizeLinear", vn_graph_add_input (net.graph, "x", VN_DTYPE_S8, &matrix),
                        net_add_floats (&net, "scale", &scales),
                        net_add_integers (&net, "zero", VN_DTYPE_S8, &scales, 0));
  node = value->producer;
  if (axis >= 0)
    vn_node_set_int (node, "axis", axis - 2);
  forecast = net_finish (&net, net_add_node (&net, "exp", "Exp", value, NULL, NULL));
  return forecast->conversion_seconds;
}

/* Rows with one scale are read in one go, as all of it is; where the scale changes at each number that takes many times as
 * long. */
static void
test_scales_of_last_axis (void)
{
  double all = find_seconds_of_scales (-1), rows = find_seconds_of_scales (0), columns = find_seconds_of_scales (1);

  g_assert_cmpfloat (all, >, 0);
  g_assert_cmpfloat (rows, <, 1.5 * all);
  g_assert_cmpfloat (columns, >, 4 * all);
}

#define READ 64
#define HIDDEN 32

/* A recurrent layer, in float as ONNX Runtime has it. */
static VnRuntimeForecast *
forecast_recurrent (const char *op_type,
                    int         gates,
                    int         steps,
                    gboolean    both_ways)
{
  const int ways = both_ways ? 2 : 1;
  const VnShape data = { .rank = 3, .dims = { steps, 1, READ } }, w = { .rank = 3, .dims = { ways, gates * HIDDEN, READ } };
  const VnShape r = { .rank = 3, .dims = { ways, gates * HIDDEN, HIDDEN } };
  VnValue *value;
  Net net;

  net_init (&net);
  value = net_add_node (&net, "layer", op_type, vn_graph_add_input (net.graph, "x", VN_DTYPE_F32, &data),
                        net_add_floats (&net, "w", &w), net_add_floats (&net, "r", &r));
  vn_node_set_int (value->producer, "hidden_size", HIDDEN);
  if (both_ways)
    vn_node_set_string (value->producer, "direction", "bidirectional");
  return net_finish (&net, value);
}

/* They are counted, take longer with each step, and both ways twice as long. */
static void
test_recurrent (void)
{
  static const struct { const char *op_type; int gates; } rows[] = { { "LSTM", 4 }, { "GRU", 3 }, { "RNN", 1 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr(VnRuntimeForecast) one = forecast_recurrent (rows[i].op_type, rows[i].gates, 100, FALSE);
      g_autoptr(VnRuntimeForecast) more = forecast_recurrent (rows[i].op_type, rows[i].gates, 400, FALSE);
      g_autoptr(VnRuntimeForecast) both = forecast_recurrent (rows[i].op_type, rows[i].gates, 100, TRUE);
      double seconds = vn_runtime_forecast_find (one, "layer")->seconds;

      g_test_message ("%s: %g s", rows[i].op_type, seconds);
      g_assert_cmpfloat (one->macs, ==, 100.0 * rows[i].gates * HIDDEN * (READ + HIDDEN));
      g_assert_cmpfloat (both->macs, ==, 2 * one->macs);
      g_assert_cmpfloat (vn_runtime_forecast_integer_share (one), ==, 0);
      g_assert_cmpfloat (seconds, >, 0.02e-9 * one->macs / 4);   /* no processor does more in a second */
      g_assert_cmpfloat (vn_runtime_forecast_find (more, "layer")->seconds, >, 2.5 * seconds);
      g_assert_cmpfloat (vn_runtime_forecast_find (both, "layer")->seconds, >, 1.4 * seconds);
      g_assert_cmpfloat (one->seconds, >, seconds);              /* what a run takes beside its nodes */
    }
}

/* Elsewhere than in ONNX Runtime rules decide: what is read, whether a pair must be behind, what stays float. */
static void
test_elsewhere (void)
{
  static const char * const convs[] = { "Conv", NULL };
  static const struct
  {
    VnDType         dtype;
    gboolean        open;
    VnRuntimeRules  rules;
    VnRuntimeKind   kind;
    VnRuntimeReason reason;
  } cases[] = {
    { VN_DTYPE_U8,  FALSE, { 0, 0, FALSE, NULL }, VN_RUNTIME_INTEGER, VN_RUNTIME_REASON_NONE },
    { VN_DTYPE_U8,  TRUE,  { 0, 0, FALSE, NULL }, VN_RUNTIME_FLOAT,   VN_RUNTIME_REASON_FLOAT_OUTPUT },
    { VN_DTYPE_U8,  TRUE,  { 0, 0, TRUE,  NULL }, VN_RUNTIME_INTEGER, VN_RUNTIME_REASON_NONE },
    { VN_DTYPE_U8,  FALSE, { 0, 0, FALSE, convs }, VN_RUNTIME_FLOAT,  VN_RUNTIME_REASON_NO_KERNEL },
    { VN_DTYPE_U8,  FALSE, { VN_DTYPE_BIT (S8), 0, FALSE, NULL }, VN_RUNTIME_FLOAT, VN_RUNTIME_REASON_TYPES },
    { VN_DTYPE_U16, FALSE, { VN_DTYPE_BIT (U8), 0, FALSE, NULL }, VN_RUNTIME_FLOAT, VN_RUNTIME_REASON_SIXTEEN },
    { VN_DTYPE_U16, FALSE, { VN_DTYPE_BIT (U8) | VN_DTYPE_BIT (U16), 0, FALSE, NULL }, VN_RUNTIME_INTEGER,
      VN_RUNTIME_REASON_SIXTEEN },
    { VN_DTYPE_U8,  FALSE, { 0, VN_DTYPE_BIT (S4), FALSE, NULL }, VN_RUNTIME_FLOAT, VN_RUNTIME_REASON_TYPES },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const gboolean whole = cases[i].kind == VN_RUNTIME_INTEGER;
      g_autoptr(VnRuntimeForecast) forecast = NULL;
      g_autoptr(GError) error = NULL;
      VnValue *value;
      Net net;

      net_init (&net);
      value = net_add_conv (&net, "conv", net_add_pair (&net, "a", net_add_input (&net), cases[i].dtype, 0, FALSE), TRUE);
      if (!cases[i].open)
        value = net_add_pair (&net, "b", value, cases[i].dtype, 0, FALSE);
      value = net_add_node (&net, "pool", "MaxPool", value, NULL, NULL);
      vn_node_set_ints (value->producer, "kernel_shape", (const gint64[]) { 2, 2 }, 2);
      value = cases[i].open ? value : net_add_pair (&net, "c", value, cases[i].dtype, 0, FALSE);
      vn_graph_set_output (net.graph, 0, net_add_node (&net, "last", "Identity", value, NULL, NULL));
      forecast = vn_runtime_forecast_new_elsewhere (net.model, NULL, &cases[i].rules, &error);
      g_assert_no_error (error);
      g_test_message ("%u", i);
      check_node (forecast, "conv", cases[i].kind, cases[i].reason);
      g_assert_cmpfloat (vn_runtime_forecast_find (forecast, "conv")->macs, ==, CHANNELS * CHANNELS * SIZE * SIZE);
      g_assert_true ((forecast->integer_macs > 0.9 * forecast->macs) == whole);
      g_assert_true (isnan (vn_runtime_forecast_ratio (forecast)));
      g_assert_true ((vn_runtime_forecast_find (forecast, "pool")->kind == VN_RUNTIME_INTEGER) ==
                     (!cases[i].open && (cases[i].rules.activations == 0 || (cases[i].rules.activations >> cases[i].dtype & 1))));
      vn_model_unref (net.model);
    }
}

/* ---- weights of few bits ---- */

#define WIDTH 256

/* A file's own MatMulNBits, with zero points in the middle or floats, or the pair that becomes one. */
typedef enum { OWN, OWN_ZEROS, PAIR } Form;

/* @bits 0: floats. */
static double
forecast_nbits (gint64 rows,
                gint64 bits,
                gint64 level,
                Form   form)
{
  const VnShape whole = { .rank = 2, .dims = { WIDTH, WIDTH } }, blocks = { .rank = 2, .dims = { WIDTH / 32, WIDTH } };
  const VnShape packed = { .rank = 3, .dims = { WIDTH, WIDTH / 32, 4 * bits } };
  const VnShape scales = { .rank = 2, .dims = { WIDTH, WIDTH / 32 } };
  g_autoptr(VnRuntimeForecast) forecast = NULL;
  VnValue *x, *w, *y;
  Net net = { vn_model_new (8, 21) };

  net.graph = net.model->graph;
  x = vn_graph_add_input (net.graph, "x", VN_DTYPE_F32, &VN_SHAPE (rows, WIDTH));
  if (bits == 0 || form == PAIR)
    {
      w = bits == 0 ? net_add_floats (&net, "w", &whole)
                    : net_add_node (&net, "dq", "DequantizeLinear", net_add_integers (&net, "q", VN_DTYPE_U8, &whole, 3),
                                    net_add_floats (&net, "s", &blocks), NULL);
      if (form == PAIR)
        {
          vn_node_set_int (w->producer, "axis", 0);
          vn_node_set_int (w->producer, "block_size", 32);
        }
      y = net_add_node (&net, "product", "MatMul", x, w, NULL);
    }
  else
    {
      VnValue *inputs[] = { x, net_add_integers (&net, "q", VN_DTYPE_U8, &packed, 3), net_add_floats (&net, "s", &scales),
                            form == OWN_ZEROS ? net_add_floats (&net, "z", &scales) : NULL };
      VnNode *node;

      y = vn_graph_add_value (net.graph, "y", VN_DTYPE_UNDEFINED, NULL);
      node = vn_graph_add_node (net.graph, "product", "com.microsoft", "MatMulNBits", inputs, form == OWN_ZEROS ? 4 : 3, &y, 1);
      vn_node_set_int (node, "K", WIDTH);
      vn_node_set_int (node, "N", WIDTH);
      vn_node_set_int (node, "bits", bits);
      vn_node_set_int (node, "block_size", 32);
      vn_node_set_int (node, "accuracy_level", level);
    }
  forecast = net_finish (&net, y);
  return forecast->seconds;
}

/* Weights of 8 bits are slow unless what they are multiplied by is rounded, which is the faster the fewer bits they have, and
 * what the optimizer makes of a pair. */
static void
test_few_bits (void)
{
  for (gint64 rows = 1; rows <= 64; rows *= 8)
    {
      const double of_float = forecast_nbits (rows, 0, 0, OWN);

      g_assert_cmpfloat (forecast_nbits (rows, 8, 0, OWN), >, 5 * of_float);
      g_assert_cmpfloat (forecast_nbits (rows, 8, 3, OWN), ==, forecast_nbits (rows, 8, 0, OWN));
      g_assert_cmpfloat (forecast_nbits (rows, 4, 3, OWN), ==, forecast_nbits (rows, 4, 0, OWN));
      g_assert_cmpfloat (forecast_nbits (rows, 4, 4, OWN), <, forecast_nbits (rows, 8, 4, OWN));
      g_assert_cmpfloat (forecast_nbits (rows, 8, 4, PAIR), ==, forecast_nbits (rows, 8, 4, OWN));
      g_assert_cmpfloat (forecast_nbits (rows, 4, 4, OWN_ZEROS), >, 1.5 * of_float);
      g_assert_cmpfloat (forecast_nbits (rows, 4, 4, OWN_ZEROS), ==, forecast_nbits (rows, 4, 0, OWN_ZEROS));
    }
  g_assert_cmpfloat (forecast_nbits (1, 4, 4, OWN), <, forecast_nbits (1, 0, 0, OWN));
  g_assert_cmpfloat (forecast_nbits (64, 8, 0, OWN), <, 2 * forecast_nbits (1, 8, 0, OWN));
}

/* One node of experts for @rows tokens. */
static double
forecast_experts (gint64 rows,
                  gint64 k,
                  gint64 block,
                  gint64 level)
{
  const VnShape weight = { .rank = 3, .dims = { 4, WIDTH, WIDTH / 2 } };
  const VnShape scale = { .rank = block > 0 ? 3 : 2, .dims = { 4, WIDTH, WIDTH / MAX (block, 1) } };
  g_autoptr(VnRuntimeForecast) forecast = NULL;
  VnValue *inputs[7] = { NULL }, *y;
  VnNode *node;
  Net net = { vn_model_new (9, 21) };

  net.graph = net.model->graph;
  inputs[0] = vn_graph_add_input (net.graph, "x", VN_DTYPE_F32, &VN_SHAPE (rows, WIDTH));
  inputs[1] = vn_graph_add_input (net.graph, "router", VN_DTYPE_F32, &VN_SHAPE (rows, 4));
  inputs[2] = net_add_integers (&net, "w1", VN_DTYPE_U8, &weight, 3);
  inputs[3] = net_add_floats (&net, "s1", &scale);
  inputs[5] = net_add_integers (&net, "w2", VN_DTYPE_U8, &weight, 3);
  inputs[6] = net_add_floats (&net, "s2", &scale);
  y = vn_graph_add_value (net.graph, "y", VN_DTYPE_UNDEFINED, NULL);
  node = vn_graph_add_node (net.graph, "experts", "com.microsoft", "QMoE", inputs, 7, &y, 1);
  vn_node_set_int (node, "k", k);
  vn_node_set_int (node, "block_size", block);
  vn_node_set_int (node, "accuracy_level", level);
  forecast = net_finish (&net, y);
  return forecast->seconds;
}

/* Time is that of the experts that a token goes to; most of it unpacks weights where integers are not multiplied. */
static void
test_experts (void)
{
  g_assert_cmpfloat (forecast_experts (1, 4, 32, 0), >, 1.5 * forecast_experts (1, 1, 32, 0));
  g_assert_cmpfloat (forecast_experts (64, 2, 32, 4), >, 3 * forecast_experts (1, 2, 32, 4));
  g_assert_cmpfloat (forecast_experts (1, 2, 32, 4), <, forecast_experts (1, 2, 32, 0));
  g_assert_cmpfloat (forecast_experts (1, 2, 0, 4), ==, forecast_experts (1, 2, 0, 0));
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/runtime/conv", test_conv);
  g_test_add_func ("/runtime/made-constants", test_made_constants);
  g_test_add_func ("/runtime/signed-readers", test_signed_readers);
  g_test_add_func ("/runtime/moves", test_moves);
  g_test_add_func ("/runtime/many-moves", test_many_moves);
  g_test_add_func ("/runtime/float-weights", test_float_weights);
  g_test_add_func ("/runtime/float", test_float);
  g_test_add_func ("/runtime/observed", test_observed);
  g_test_add_func ("/runtime/scales-of-last-axis", test_scales_of_last_axis);
  g_test_add_func ("/runtime/recurrent", test_recurrent);
  g_test_add_func ("/runtime/elsewhere", test_elsewhere);
  g_test_add_func ("/runtime/few-bits", test_few_bits);
  g_test_add_func ("/runtime/experts", test_experts);
  return g_test_run ();
}
