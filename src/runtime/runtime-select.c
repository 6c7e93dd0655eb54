/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which nodes between DequantizeLinear and QuantizeLinear become kernels on integers: the table of vn-runtime-rules.def, and what
 * the groups of it ask for. */
#include "vn-runtime-private.h"

#include "vn-kernel-form.h"

#include <string.h>

typedef struct _Rule Rule;

/* A node with the pairs around it. */
typedef struct
{
  VnNode  *node;
  guint    n_inputs, n_dq;    /* inputs that exist; those that a DequantizeLinear makes */
  VnNode  *dq[3];             /* of the first inputs; NULL where another node makes it */
  VnNode  *q;                 /* what reads the first output, if that is all that does */
  gboolean q_only;            /* every output is read by a QuantizeLinear only */
  VnDType  from, to;
} Unit;

typedef VnRuntimeReason (*CheckFunc) (const VnRuntimeGraph *self,
                                      const Rule           *rule,
                                      const Unit           *unit);

struct _Rule
{
  const char *op_type;
  CheckFunc   check;
  const char *kernel;
  gboolean    bits16;
};

static gboolean
select_is_sixteen (VnDType dtype)
{
  return dtype == VN_DTYPE_S16 || dtype == VN_DTYPE_U16;
}

static void
select_look_around (VnNode *node,
                    Unit   *unit)
{
  *unit = (Unit) { .node = node, .q_only = TRUE };
  for (guint i = 0; i < node->inputs->len; i++)
    {
      VnNode *producer = vn_runtime_get_producer (node, i);

      unit->n_inputs += vn_node_get_input (node, i) != NULL;
      if (!vn_runtime_is_dq (producer) || vn_runtime_only_reader (vn_node_get_output (producer, 0), NULL) == NULL)
        continue;
      unit->n_dq++;
      if (i < G_N_ELEMENTS (unit->dq))
        unit->dq[i] = producer;
    }
  for (guint i = 0; i < node->outputs->len; i++)
    {
      VnNode *reader = vn_runtime_only_reader (vn_node_get_output (node, i), NULL);

      unit->q_only = unit->q_only && (vn_node_get_output (node, i) == NULL || vn_runtime_is_q (reader));
      if (i == 0)
        unit->q = vn_runtime_is_q (reader) ? reader : NULL;
    }
  unit->from = unit->dq[0] != NULL ? vn_runtime_get_dtype (vn_node_get_input (unit->dq[0], 0)) : VN_DTYPE_UNDEFINED;
  unit->to = unit->q != NULL ? vn_runtime_get_dtype (vn_node_get_output (unit->q, 0)) : VN_DTYPE_UNDEFINED;
}

/* ---- groups ---- */

static VnRuntimeReason
select_check_scales (const VnRuntimeGraph *self,
                     const Unit           *unit)
{
  return (unit->dq[0] != NULL && !vn_runtime_has_one_scale (self, unit->dq[0])) ||
         (unit->q != NULL && !vn_runtime_has_one_scale (self, unit->q)) ? VN_RUNTIME_REASON_CHANNELS : VN_RUNTIME_REASON_NONE;
}

static VnRuntimeReason
select_check_io (const VnRuntimeGraph *self,
                 const Rule           *rule,
                 const Unit           *unit,
                 guint                 n_dq)
{
  if (unit->n_dq != n_dq || unit->dq[0] == NULL)
    return VN_RUNTIME_REASON_FLOAT_INPUT;
  if (!unit->q_only)
    return VN_RUNTIME_REASON_FLOAT_OUTPUT;
  if (!rule->bits16 && (select_is_sixteen (unit->from) || select_is_sixteen (unit->to)))
    return VN_RUNTIME_REASON_SIXTEEN;
  if (unit->from != unit->to)
    return VN_RUNTIME_REASON_TYPES;
  if (vn_kernel_find_form (unit->node) != NULL)
    return VN_RUNTIME_REASON_FORM;
  return select_check_scales (self, unit);
}

static VnRuntimeReason
select_check_unary (const VnRuntimeGraph *self,
                    const Rule           *rule,
                    const Unit           *unit)
{
  return select_check_io (self, rule, unit, 1);
}

static VnRuntimeReason
select_check_move (const VnRuntimeGraph *self,
                   const Rule           *rule,
                   const Unit           *unit)
{
  VnRuntimeReason reason = select_check_io (self, rule, unit, 1);

  return reason == VN_RUNTIME_REASON_NONE && !vn_runtime_same_params (self, unit->dq[0], unit->q)
         ? VN_RUNTIME_REASON_PARAMETERS : reason;
}

/* Between integers there is nothing to interpolate. */
static VnRuntimeReason
select_check_nearest (const VnRuntimeGraph *self,
                      const Rule           *rule,
                      const Unit           *unit)
{
  g_autofree char *mode = vn_node_dup_string (unit->node, "mode", "nearest");

  return g_str_equal (mode, "nearest") ? select_check_move (self, rule, unit) : VN_RUNTIME_REASON_NO_KERNEL;
}

/* Larger numbers stay larger only if the scale is positive. */
static VnRuntimeReason
select_check_order (const VnRuntimeGraph *self,
                    const Rule           *rule,
                    const Unit           *unit)
{
  const VnTensor *scale = unit->q != NULL ? vn_value_get_constant (vn_node_get_input (unit->q, 1)) : NULL;

  if (vn_node_is (unit->node, "MaxPool") && vn_model_get_opset (unit->node->graph->model, "") < 12)
    return VN_RUNTIME_REASON_NO_KERNEL;
  if (scale != NULL && scale->n_elements == 1 && !(vn_tensor_get_double (scale, 0) > 0))
    return VN_RUNTIME_REASON_PARAMETERS;
  return select_check_move (self, rule, unit);
}

static VnRuntimeReason
select_check_split (const VnRuntimeGraph *self,
                    const Rule           *rule,
                    const Unit           *unit)
{
  const VnNode *node = unit->node;

  if (unit->n_dq != 1 || unit->dq[0] == NULL)
    return VN_RUNTIME_REASON_FLOAT_INPUT;
  if (!unit->q_only)
    return VN_RUNTIME_REASON_FLOAT_OUTPUT;
  for (guint i = 0; i < node->outputs->len; i++)
    {
      const VnNode *q = vn_runtime_only_reader (vn_node_get_output (node, i), NULL);

      if (q != NULL && !vn_runtime_same_params (self, unit->dq[0], q))
        return VN_RUNTIME_REASON_PARAMETERS;
    }
  return VN_RUNTIME_REASON_NONE;
}

static VnRuntimeReason
select_check_pick (const VnRuntimeGraph *self,
                   const Rule           *rule,
                   const Unit           *unit)
{
  if (unit->n_dq != 1 || unit->dq[0] == NULL)
    return VN_RUNTIME_REASON_FLOAT_INPUT;
  if (select_is_sixteen (unit->from))
    return VN_RUNTIME_REASON_SIXTEEN;
  return select_check_scales (self, unit);
}

/* All inputs are integers of one type. */
static VnRuntimeReason
select_check_variadic (const VnRuntimeGraph *self,
                       const Rule           *rule,
                       const Unit           *unit)
{
  VnRuntimeReason reason = select_check_io (self, rule, unit, unit->n_inputs);

  for (guint i = 0; reason == VN_RUNTIME_REASON_NONE && i < unit->node->inputs->len; i++)
    if (vn_runtime_get_dtype (vn_node_get_input (vn_runtime_get_producer (unit->node, i), 0)) != unit->from)
      return VN_RUNTIME_REASON_TYPES;
  return reason;
}

static VnRuntimeReason
select_check_binary (const VnRuntimeGraph *self,
                     const Rule           *rule,
                     const Unit           *unit)
{
  return select_check_variadic (self, rule, unit);
}

static VnRuntimeReason
select_check_where (const VnRuntimeGraph *self,
                    const Rule           *rule,
                    const Unit           *unit)
{
  Unit values = *unit;

  if (unit->dq[1] == NULL || unit->dq[2] == NULL)
    return VN_RUNTIME_REASON_FLOAT_INPUT;
  values.dq[0] = unit->dq[1];
  values.from = vn_runtime_get_dtype (vn_node_get_input (unit->dq[1], 0));
  if (vn_runtime_get_dtype (vn_node_get_input (unit->dq[2], 0)) != values.from)
    return VN_RUNTIME_REASON_TYPES;
  return select_check_io (self, rule, &values, 2);
}

/* Scales of channels along another axis than that of the results: the kernel does not look. */
static VnRuntimeReason
select_check_axis (const VnRuntimeGraph *self,
                   const Unit           *unit)
{
  const VnValue *scale = vn_node_get_input (unit->dq[1], 1);
  const VnShape *shape = vn_runtime_get_shape (vn_node_get_output (unit->dq[1], 0));
  const VnShape *scales = vn_runtime_get_shape (scale);
  gint64 axis = vn_node_get_int (unit->dq[1], "axis", 1);
  int wanted;

  if (scales == NULL || scales->rank != 1 || scales->dims[0] == 1 || shape == NULL ||
      !vn_kernel_get_weight_axis (unit->node, shape->rank, &wanted))
    return VN_RUNTIME_REASON_NONE;
  return (axis < 0 ? axis + shape->rank : axis) == wanted ? VN_RUNTIME_REASON_NONE : VN_RUNTIME_REASON_FORM;
}

/* What products have in common: on x86, kernels read unsigned activations. */
static VnRuntimeReason
select_check_factors (const VnRuntimeGraph *self,
                      const Unit           *unit)
{
  VnDType weight;

  if (unit->dq[0] == NULL || unit->dq[1] == NULL)
    return VN_RUNTIME_REASON_FLOAT_INPUT;
  weight = vn_runtime_get_dtype (vn_node_get_input (unit->dq[1], 0));
  if (select_is_sixteen (unit->from) || select_is_sixteen (weight) || select_is_sixteen (unit->to))
    return VN_RUNTIME_REASON_SIXTEEN;
  if (vn_dtype_get_bits (weight) != 8)
    return VN_RUNTIME_REASON_NO_KERNEL;
  return select_check_axis (self, unit);
}

static VnRuntimeReason
select_check_bias (const Unit *unit)
{
  if (vn_node_get_input (unit->node, 2) == NULL)
    return VN_RUNTIME_REASON_NONE;
  return unit->dq[2] != NULL && vn_runtime_get_dtype (vn_node_get_input (unit->dq[2], 0)) == VN_DTYPE_S32 ? VN_RUNTIME_REASON_NONE
                                                                                                         : VN_RUNTIME_REASON_BIAS;
}

static VnRuntimeReason
select_check_conv (const VnRuntimeGraph *self,
                   const Rule           *rule,
                   const Unit           *unit)
{
  VnRuntimeReason reason = select_check_factors (self, unit);

  if (reason != VN_RUNTIME_REASON_NONE)
    return reason;
  if (unit->from == VN_DTYPE_S8)
    return VN_RUNTIME_REASON_SIGNED;
  if (unit->n_dq != unit->n_inputs)
    return select_check_bias (unit);
  reason = select_check_io (self, rule, unit, unit->n_inputs);
  return reason == VN_RUNTIME_REASON_NONE ? select_check_bias (unit) : reason;
}

static VnRuntimeReason
select_check_matmul (const VnRuntimeGraph *self,
                     const Rule           *rule,
                     const Unit           *unit)
{
  VnRuntimeReason reason = select_check_factors (self, unit);

  if (reason != VN_RUNTIME_REASON_NONE)
    return reason;
  if (unit->from == VN_DTYPE_S8)
    return VN_RUNTIME_REASON_SIGNED;
  return unit->q != NULL ? select_check_io (self, rule, unit, 2) : select_check_scales (self, unit);
}

static VnRuntimeReason
select_check_gemm (const VnRuntimeGraph *self,
                   const Rule           *rule,
                   const Unit           *unit)
{
  VnRuntimeReason reason = select_check_factors (self, unit);

  if (reason != VN_RUNTIME_REASON_NONE)
    return reason;
  if (!vn_kernel_takes_types ("Gemm", unit->from, vn_runtime_get_dtype (vn_node_get_input (unit->dq[1], 0)), unit->from))
    return VN_RUNTIME_REASON_SIGNED;
  if (unit->n_dq != unit->n_inputs || (unit->dq[2] != NULL && vn_node_get_float (unit->node, "beta", 1) != 1))
    return VN_RUNTIME_REASON_BIAS;
  if (unit->q != NULL && unit->from != unit->to)
    return VN_RUNTIME_REASON_TYPES;
  reason = select_check_scales (self, unit);
  return reason == VN_RUNTIME_REASON_NONE ? select_check_bias (unit) : reason;
}

static const Rule rules[] = {
#define VN_RUNTIME_RULE(op_type, group, kernel, bits16) { op_type, select_check_##group, kernel, bits16 },
#include "vn-runtime-rules.def"
#undef VN_RUNTIME_RULE
};

/* ---- carrying it out ---- */

/* The node reads the integers that its inputs were made from, and makes those that were made from its outputs. */
static void
select_replace (VnRuntimeGraph *self,
                const Rule     *rule,
                const Unit     *unit)
{
  VnNode *node = unit->node;
  const char *kernel = rule->kernel;

  for (guint i = 0; i < node->inputs->len; i++)
    if (vn_runtime_is_dq (vn_runtime_get_producer (node, i)))
      vn_runtime_bypass (self, vn_runtime_get_producer (node, i));
  for (guint i = 0; i < node->outputs->len; i++)
    {
      VnNode *q = vn_runtime_only_reader (vn_node_get_output (node, i), NULL);

      if (vn_runtime_is_q (q))
        vn_runtime_absorb (self, q, node, i);
    }
  if (kernel != NULL && g_str_equal (node->op_type, "MatMul") && unit->q == NULL)
    vn_runtime_set_kernel (node, "com.microsoft", "MatMulIntegerToFloat");
  else if (kernel != NULL)
    vn_runtime_set_kernel (node, kernel[0] == ':' ? "" : "com.microsoft", kernel + (kernel[0] == ':'));
}

#define CHANNEL_BLOCK 32

/* Weights of a product that is done in float are 2, 4 or 8 bits: it reads them as they are. */
static gboolean
select_is_nbits (const VnRuntimeGraph *self,
                 const Unit           *unit)
{
  const VnValue *weight;
  guint bits;

  if (!(vn_node_is (unit->node, "MatMul") || vn_node_is (unit->node, "Gemm")) || unit->dq[1] == NULL ||
      (unit->dq[0] != NULL && !select_is_sixteen (unit->from)) || vn_node_get_float (unit->node, "alpha", 1) != 1 ||
      vn_node_get_int (unit->node, "transA", 0) != 0 ||
      vn_node_get_int (unit->node, "transB", 0) != 0)
    return FALSE;
  weight = vn_node_get_input (unit->dq[1], 0);
  bits = vn_dtype_get_bits (vn_runtime_get_dtype (weight));
  return vn_runtime_is_constant (self, weight) && vn_runtime_get_shape (weight) != NULL &&
         vn_runtime_get_shape (weight)->rank == 2 &&
         (bits == 2 || bits == 4 || bits == 8);
}

/* Blocks of 32 where the file has a scale for each channel, and rounded activations, are the optimizer's choice. */
static void
select_make_nbits (VnNode       *node,
                   const VnNode *dq)
{
  const VnValue *weight = vn_node_get_input (dq, 0);
  const VnShape *shape = vn_runtime_get_shape (weight);

  vn_runtime_set_kernel (node, "com.microsoft", "MatMulNBits");
  vn_node_set_int (node, "K", shape->dims[0]);
  vn_node_set_int (node, "N", shape->dims[1]);
  vn_node_set_int (node, "bits", (gint64) vn_dtype_get_bits (vn_runtime_get_dtype (weight)));
  vn_node_set_int (node, "block_size", vn_node_get_int (dq, "block_size", CHANNEL_BLOCK));
  vn_node_set_int (node, "accuracy_level", 4);
}

static void
select_node (VnRuntimeGraph *self,
             VnNode         *node)
{
  Unit unit;
  VnRuntimeReason reason = VN_RUNTIME_REASON_NO_KERNEL;

  select_look_around (node, &unit);
  if (unit.n_dq == 0 && unit.q == NULL)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (rules); i++)
    {
      if (!vn_node_is (node, rules[i].op_type))
        continue;
      reason = rules[i].check (self, &rules[i], &unit);
      if (reason == VN_RUNTIME_REASON_NONE)
        select_replace (self, &rules[i], &unit);
      break;
    }
  if (reason != VN_RUNTIME_REASON_NONE && select_is_nbits (self, &unit))
    {
      select_make_nbits (node, unit.dq[1]);
      vn_runtime_bypass (self, unit.dq[1]);
      /* nothing else was meant to be on integers */
      reason = unit.n_dq == 1 && unit.q == NULL ? VN_RUNTIME_REASON_NONE : reason;
    }
  vn_runtime_explain (self, node, reason);
}

gboolean
vn_runtime_select (VnRuntimeGraph  *self,
                   GError         **error)
{
  g_autoptr(GPtrArray) nodes = vn_runtime_list_nodes (self, error);

  for (guint i = 0; nodes != NULL && i < nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (nodes, i);

      if (!vn_runtime_is_q (node) && !vn_runtime_is_dq (node) && !g_str_equal (node->op_type, ""))
        select_node (self, node);
    }
  return nodes != NULL;
}
