/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gradient of Einsum: each product of elements that the result sums up is met again; an operand gets the gradient of the sum
 * times the others. */
#include "vn-gradient-private.h"

#include "vn-einsum.h"

/* All labels that are met, the one with most elements last. */
typedef struct
{
  VnGradientContext *ctx;
  guint              n_operands;
  guint              n;
  gsize              size[VN_EINSUM_LABELS + 1];
  gsize              stride[VN_EINSUM_TERMS][VN_EINSUM_LABELS + 1];
} GradientEinsum;

static void
gradient_einsum_add_label (GradientEinsum *self,
                           const VnEinsum *einsum,
                           int             label)
{
  self->size[self->n] = (gsize) einsum->size[label];
  for (guint t = 0; t < VN_EINSUM_TERMS; t++)
    self->stride[t][self->n] = einsum->stride[t][label];
  self->n++;
}

/* Returns: whether there is anything to sum up */
static gboolean
gradient_einsum_sort (GradientEinsum *self,
                      const VnEinsum *einsum)
{
  int longest = -1;

  for (int label = 0; label < VN_EINSUM_LABELS; label++)
    {
      if (einsum->size[label] == VN_EINSUM_NOT_MET)
        continue;
      if (einsum->size[label] == 0)
        return FALSE;
      if (longest < 0 || einsum->size[label] > einsum->size[longest])
        longest = label;
    }
  for (int label = 0; label < VN_EINSUM_LABELS; label++)
    if (einsum->size[label] != VN_EINSUM_NOT_MET && label != longest)
      gradient_einsum_add_label (self, einsum, label);
  if (longest >= 0)
    gradient_einsum_add_label (self, einsum, longest);
  else
    self->size[self->n++] = 1;
  return TRUE;
}

/* The elements along the last label, for operand @to. */
static void
gradient_einsum_add_line (const GradientEinsum *self,
                          guint                 to,
                          const gsize          *offset)
{
  guint last = self->n - 1;
  gsize n = self->size[last], step = self->stride[to][last];
  const float *dy = (const float *) self->ctx->out_grads[0]->data + offset[VN_EINSUM_RESULT];
  float *gradient = (float *) self->ctx->in_grads[to]->data + offset[to];
  double sum = 0;

  for (gsize i = 0; i < n; i++)
    {
      float product = dy[i * self->stride[VN_EINSUM_RESULT][last]];

      for (guint t = 0; t < self->n_operands; t++)
        if (t != to)
          product *= ((const float *) self->ctx->op.in[t]->data)[offset[t] + i * self->stride[t][last]];
      if (step > 0)
        gradient[i * step] += product;
      else
        sum += (double) product;
    }
  if (step == 0)
    *gradient += (float) sum;
}

/* Moves on to the next line; FALSE: there is none. */
static gboolean
gradient_einsum_next (const GradientEinsum *self,
                      gsize                *index,
                      gsize                *offset)
{
  for (guint a = self->n - 1; a-- > 0;)
    {
      gboolean wraps = ++index[a] == self->size[a];

      for (guint t = 0; t < VN_EINSUM_TERMS; t++)
        offset[t] += wraps ? -(self->size[a] - 1) * self->stride[t][a] : self->stride[t][a];
      if (!wraps)
        return TRUE;
      index[a] = 0;
    }
  return FALSE;
}

gboolean
vn_gradient_einsum (VnGradientContext  *ctx,
                    GError            **error)
{
  const VnShape *shapes[VN_EINSUM_OPERANDS];
  gsize index[VN_EINSUM_LABELS + 1] = { 0 }, offset[VN_EINSUM_TERMS] = { 0 };
  GradientEinsum self = { .ctx = ctx, .n_operands = ctx->op.n_inputs };
  VnEinsum einsum;

  for (guint i = 0; i < ctx->op.n_inputs; i++)
    shapes[i] = &ctx->op.in[i]->shape;
  if (!vn_einsum_init (&einsum, &ctx->op, shapes, error))
    return FALSE;
  if (!gradient_einsum_sort (&self, &einsum))
    return TRUE;
  do
    for (guint t = 0; t < self.n_operands; t++)
      if (ctx->in_grads[t] != NULL)
        gradient_einsum_add_line (&self, t, offset);
  while (gradient_einsum_next (&self, index, offset));
  return TRUE;
}
