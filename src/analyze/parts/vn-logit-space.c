/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The divergence of a language model's answers as a sum of squares, which adds up over layers as noise does.
 *
 * With logits z of the first network, p = softmax (z), and d what the other network's logits are more:
 *
 *   sum p (ln p - ln q) = ln sum p e^d - sum p d = 1/2 sum p (d - sum p d)^2 + O (d^3)
 *
 * so that, of numbers x = sqrt (p) (z - sum p z), the squares of the differences are twice the divergence. What is added to all
 * logits of a position changes none, and those of tokens that never come hardly count. */

#include "vn-logit-space.h"

#include "vn-language-model.h"
#include "vn-memory.h"

#include <math.h>
#include <string.h>

static gboolean
logit_space_name_has (const VnValue *value,
                      const char    *part)
{
  g_autofree char *name = g_ascii_strdown (value->name, -1);

  return strstr (name, part) != NULL;
}

static gboolean
logit_space_reads_tokens (const VnGraph *graph)
{
  for (guint i = 0; i < graph->inputs->len; i++)
    {
      const VnValue *input = g_ptr_array_index (graph->inputs, i);

      if ((input->type.dtype == VN_DTYPE_S64 || input->type.dtype == VN_DTYPE_S32) && input->type.shape.rank == 2 &&
          logit_space_name_has (input, "ids"))
        return TRUE;
    }
  return FALSE;
}

/**
 * vn_value_is_logits:
 * @self: of the main graph
 *
 * Returns: whether it is an output of a language model with a number for each token at each position: by its name, as logits, or
 *   by its size
 */
gboolean
vn_value_is_logits (const VnValue *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->is_output && self->graph->parent == NULL && self->type.kind == VN_TYPE_TENSOR && self->type.shape.rank == 3 &&
         ((logit_space_name_has (self, "logit") && logit_space_reads_tokens (self->graph)) || vn_value_counts_vocabulary (self));
}

/* @roots: (out): square roots of the probabilities. Returns: what @z comes to on the average; NaN if something is not finite */
static double
logit_space_find_roots (const float *z,
                        gsize        n,
                        double      *roots)
{
  double most = -INFINITY, sum = 0, mean = 0;

  for (gsize i = 0; i < n; i++)
    most = MAX (most, (double) z[i]);
  for (gsize i = 0; i < n; i++)
    {
      roots[i] = exp (((double) z[i] - most) / 2);
      sum += roots[i] * roots[i];
      mean += roots[i] * roots[i] * (double) z[i];
    }
  for (gsize i = 0; i < n; i++)
    roots[i] /= sqrt (sum);
  return mean / sum;
}

static double
logit_space_find_mean (const float  *z,
                       gsize         n,
                       const double *roots)
{
  double mean = 0;

  for (gsize i = 0; i < n; i++)
    mean += roots[i] * roots[i] * (double) z[i];
  return mean;
}

/**
 * vn_logits_weigh_position:
 * @z: (array length=n): the logits of one position, of the network that others are compared with
 * @other: (array length=n): the same of another one
 * @roots: (out) (array length=n): square roots of the probabilities
 * @f, @q: (out) (array length=n): both, in numbers whose squared differences are twice the KL divergence, in nats
 */
void
vn_logits_weigh_position (const float *z,
                          const float *other,
                          gsize        n,
                          double      *roots,
                          float       *f,
                          float       *q)
{
  double mean, other_mean;

  g_return_if_fail (z != NULL && other != NULL && roots != NULL && f != NULL && q != NULL);

  mean = logit_space_find_roots (z, n, roots);
  other_mean = logit_space_find_mean (other, n, roots);
  for (gsize i = 0; i < n; i++)
    {
      f[i] = (float) (roots[i] * ((double) z[i] - mean));
      q[i] = (float) (roots[i] * ((double) other[i] - other_mean));
    }
}

/**
 * vn_logits_weigh:
 * @wanted: float32: logits, positions by tokens, of the network that others are compared with
 * @found: (nullable): the same of another one; %NULL: no different
 * @f, @q: (out) (transfer full): both, as vn_logits_weigh_position() has them
 *
 * Returns: %FALSE with %VN_ERROR_MEMORY
 */
gboolean
vn_logits_weigh (const VnTensor  *wanted,
                 const VnTensor  *found,
                 VnTensor       **f,
                 VnTensor       **q,
                 GError         **error)
{
  g_autofree double *roots = NULL;
  g_autoptr(VnTensor) a = NULL, b = NULL;
  gsize n;

  g_return_val_if_fail (wanted != NULL && f != NULL && q != NULL, FALSE);

  n = wanted->shape.rank > 0 ? (gsize) wanted->shape.dims[wanted->shape.rank - 1] : 1;
  if ((roots = vn_try_new (double, n, error)) == NULL || (a = vn_tensor_new (VN_DTYPE_F32, &wanted->shape, error)) == NULL ||
      (b = vn_tensor_new (VN_DTYPE_F32, &wanted->shape, error)) == NULL)
    return FALSE;
  for (gsize row = 0; row + n <= wanted->n_elements && n > 0; row += n)
    {
      const float *z = (const float *) wanted->data + row;

      vn_logits_weigh_position (z, found != NULL ? (const float *) found->data + row : z, n, roots, (float *) a->data + row,
                                (float *) b->data + row);
    }
  *f = g_steal_pointer (&a);
  *q = g_steal_pointer (&b);
  return TRUE;
}
