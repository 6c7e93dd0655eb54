/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A Pad that adds zeros around the data of a convolution: the convolution adds them to its own. */
#include "vn-fuse-private.h"

#include <math.h>

/* Far below what sizes with padding could overflow. */
#define MAX_PAD 65536

static gboolean
plan_fuse_pads_are_zeros (const VnFusion *self,
                          const VnStep   *pad)
{
  g_autofree char *mode = vn_node_dup_string (pad->node, "mode", "constant");
  float value = vn_node_get_float (pad->node, "value", 0.f);

  if (!g_str_equal (mode, "constant") || (pad->n_inputs > 3 && pad->inputs[3] >= 0))
    return FALSE;
  if (pad->opset >= 11)
    value = 0.f;
  if (pad->n_inputs > 2 && pad->inputs[2] >= 0 && !vn_fuse_get_scalar (self, pad, 2, &value))
    return FALSE;
  return value == 0.f && !signbit (value);
}

/* One number before and one behind each axis. */
static const gint64 *
plan_fuse_pads_get (const VnFusion *self,
                    const VnStep   *pad,
                    gsize          *n)
{
  const VnTensor *constant;

  if (pad->opset < 11)
    return vn_node_get_ints (pad->node, "pads", n);
  constant = pad->n_inputs > 1 && pad->inputs[1] >= 0 ? self->plan->values[pad->inputs[1]].constant : NULL;
  *n = constant != NULL ? constant->n_elements : 0;
  return constant != NULL && constant->dtype == VN_DTYPE_S64 ? constant->data : NULL;
}

/* Those of the spatial axes, in the order of the attribute of a convolution; FALSE: it cannot add them. */
static gboolean
plan_fuse_pads_find (const VnFusion *self,
                     const VnStep   *pad,
                     gint64         *pads)
{
  gsize rank = (gsize) MAX (pad->in_types[0].shape.rank, 0), n = 0;
  const gint64 *all = plan_fuse_pads_get (self, pad, &n);

  if (all == NULL || rank < 3 || rank > 5 || n != 2 * rank || !plan_fuse_pads_are_zeros (self, pad))
    return FALSE;
  for (gsize i = 0; i < n; i++)
    {
      gsize axis = i % rank;

      if (all[i] < 0 || all[i] > MAX_PAD || (axis < 2 && all[i] != 0))
        return FALSE;
      if (axis >= 2)
        pads[axis - 2 + (i < rank ? 0 : rank - 2)] = all[i];
    }
  return TRUE;
}

/* Asks the operator what it makes of data without the zeros, and what working space it needs. */
static gboolean
plan_fuse_pads_fit (const VnFusion *self,
                    const VnStep   *step,
                    const VnStep   *pad,
                    const gint64   *pads,
                    gsize          *scratch_bytes)
{
  g_autofree VnTensor **in = g_new0 (VnTensor *, step->n_inputs);
  g_autofree VnTensorType *in_types = g_memdup2 (step->in_types, step->n_inputs * sizeof *in_types);
  VnTensorType out_type = step->out_types[0];
  VnTensor *out = NULL;
  VnOpContext ctx;

  vn_step_init_context (step, &ctx);
  for (guint i = 1; i < step->n_inputs; i++)
    in[i] = step->inputs[i] >= 0 ? self->plan->values[step->inputs[i]].constant : NULL;
  in_types[0] = pad->in_types[0];
  ctx.in = in;
  ctx.in_types = in_types;
  ctx.out_types = &out_type;
  ctx.out = &out;
  ctx.pads = pads;
  if (!step->op->infer (&ctx, NULL) || !vn_shape_equal (&out_type.shape, &step->out_types[0].shape))
    return FALSE;
  *scratch_bytes = ctx.scratch_bytes;
  return TRUE;
}

/**
 * vn_fuse_pads:
 * @step: made to add the zeros that a Pad before it adds, if it can
 */
void
vn_fuse_pads (VnFusion *self,
              VnStep   *step)
{
  int id = step->n_inputs > 0 ? step->inputs[0] : -1;
  VnStep *pad = id >= 0 ? self->producers[id] : NULL;
  g_autofree char *rule = NULL;
  gint64 pads[2 * VN_MAX_RANK];
  gsize scratch_bytes;

  if (pad == NULL || !step->op->fuses_pads || !vn_node_is (pad->node, "Pad") || pad->dynamic || step->dynamic ||
      step->n_outputs != 1 || pad->inputs[0] < 0 || self->plan->values[pad->inputs[0]].constant != NULL ||
      !vn_fuse_is_private (self, id, 1))
    return;
  rule = vn_node_dup_string (step->node, "auto_pad", "NOTSET");
  if (g_str_has_prefix (rule, "SAME_") || !plan_fuse_pads_find (self, pad, pads) ||
      !plan_fuse_pads_fit (self, step, pad, pads, &scratch_bytes))
    return;
  step->pads = g_memdup2 (pads, sizeof pads);
  step->inputs[0] = pad->inputs[0];
  step->in_types[0] = pad->in_types[0];
  step->scratch_bytes = scratch_bytes;
  vn_fuse_mark_dead (self, pad);
}
