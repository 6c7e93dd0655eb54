/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Not, IsNaN, IsInf: outputs of bool. */
#include "vn-elem.h"
#include "vn-minifloat.h"

#define FLOATS (VN_FLOAT_BITS | VN_EIGHT_BITS)

static gboolean
predicate_bool_infer (VnOpContext *ctx,
                      GError     **error)
{
  vn_op_set_output (ctx, 0, VN_DTYPE_BOOL, &ctx->in_types[0].shape);
  return TRUE;
}

static gboolean
predicate_not_run (VnOpContext *ctx,
                   GError     **error)
{
  const guint8 *x = ctx->in[0]->data;
  guint8 *y = ctx->out[0]->data;

  if (ctx->in[0]->dtype != VN_DTYPE_BOOL)
    return vn_op_unsupported (ctx, 0, error);
  for (gsize i = 0; i < ctx->in[0]->n_elements; i++)
    y[i] = x[i] == 0;
  return TRUE;
}

static gboolean
predicate_check_float (VnOpContext *ctx,
                       GError     **error)
{
  return (FLOATS >> ctx->in[0]->dtype & 1) != 0 || vn_op_unsupported (ctx, 0, error);
}

static double
predicate_load (const VnTensor *in,
                gsize           i)
{
  return vn_minifloat_is (in->dtype) ? vn_minifloat_load (in->dtype, in->data, i) : vn_tensor_get_double (in, i);
}

static gboolean
predicate_is_nan_run (VnOpContext *ctx,
                      GError     **error)
{
  const VnTensor *in = ctx->in[0];
  guint8 *y = ctx->out[0]->data;

  if (!predicate_check_float (ctx, error))
    return FALSE;
  for (gsize i = 0; i < in->n_elements; i++)
    y[i] = isnan (predicate_load (in, i)) != 0;
  return TRUE;
}

static gboolean
predicate_is_inf_run (VnOpContext *ctx,
                      GError     **error)
{
  const VnTensor *in = ctx->in[0];
  guint8 *y = ctx->out[0]->data;
  gboolean negative = vn_node_get_int (ctx->node, "detect_negative", 1) != 0;
  gboolean positive = vn_node_get_int (ctx->node, "detect_positive", 1) != 0;

  if (!predicate_check_float (ctx, error))
    return FALSE;
  for (gsize i = 0; i < in->n_elements; i++)
    {
      double x = predicate_load (in, i);

      y[i] = isinf (x) && (x > 0 ? positive : negative);
    }
  return TRUE;
}

#define PREDICATE(variable, name, first, types, run_func)                       \
  const VnOp variable = {                                                       \
    .domain = "", .type = name, .since = first,                                 \
    .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,       \
    .dtypes = types,                                                            \
    .family = VN_FAMILY_ARITHMETIC,                                             \
    .infer = predicate_bool_infer,                                              \
    .run = run_func,                                                            \
  };

PREDICATE (vn_op_not_1, "Not", 1, VN_DTYPE_BIT (BOOL), predicate_not_run)
PREDICATE (vn_op_is_nan_9, "IsNaN", 9, FLOATS, predicate_is_nan_run)
PREDICATE (vn_op_is_inf_10, "IsInf", 10, FLOATS, predicate_is_inf_run)
