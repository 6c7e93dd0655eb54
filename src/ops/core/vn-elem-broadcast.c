/* SPDX-License-Identifier: GPL-3.0-or-later */
/* NumPy's broadcasting as a walk over rows: dims that all inputs treat alike are merged, so tensors of the same shape
 * are one long row, a scalar or a per-channel operand is a row with a constant. */
#include "vn-elem.h"

/* Whether a dim of @n with @strides makes one with the dim before it, for all inputs. */
static gboolean
elem_broadcast_continues_last_dim (const VnBroadcast *self,
                                   gint64             n,
                                   const gint64      *strides)
{
  for (guint k = 0; k < self->n_inputs; k++)
    if (self->strides[k][self->rank - 1] != strides[k] * n)
      return FALSE;
  return TRUE;
}

static void
elem_broadcast_append_dim (VnBroadcast  *self,
                           gint64        n,
                           const gint64 *strides)
{
  if (self->rank > 0 && elem_broadcast_continues_last_dim (self, n, strides))
    self->dims[self->rank - 1] *= n;
  else
    self->dims[self->rank++] = n;
  for (guint k = 0; k < self->n_inputs; k++)
    self->strides[k][self->rank - 1] = strides[k];
}

/**
 * vn_broadcast_init:
 * @out: static shape of the result
 * @inputs: static shapes that broadcast to @out
 * @n_inputs: 1 .. %VN_BROADCAST_MAX_INPUTS
 *
 * Starts a walk; vn_broadcast_next() goes to the first row.
 */
void
vn_broadcast_init (VnBroadcast           *self,
                   const VnShape         *out,
                   const VnShape * const *inputs,
                   guint                  n_inputs)
{
  gint64 own[VN_BROADCAST_MAX_INPUTS][VN_MAX_RANK];

  *self = (VnBroadcast) { .n_inputs = n_inputs };
  for (guint k = 0; k < n_inputs; k++)
    vn_shape_strides (inputs[k], own[k]);
  for (int d = 0; d < out->rank; d++)
    {
      gint64 strides[VN_BROADCAST_MAX_INPUTS];

      if (out->dims[d] == 0)
        self->finished = TRUE;
      if (out->dims[d] == 1)
        continue;
      for (guint k = 0; k < n_inputs; k++)
        {
          int e = d - (out->rank - inputs[k]->rank);

          strides[k] = e < 0 || inputs[k]->dims[e] == 1 ? 0 : own[k][e];
        }
      elem_broadcast_append_dim (self, out->dims[d], strides);
    }
  if (self->rank == 0)
    elem_broadcast_append_dim (self, 1, (gint64[VN_BROADCAST_MAX_INPUTS]) { 0 });
  self->row_length = (gsize) self->dims[self->rank - 1];
  for (guint k = 0; k < n_inputs; k++)
    self->step[k] = (gsize) self->strides[k][self->rank - 1];
}

static void
elem_broadcast_next_row (VnBroadcast *self)
{
  int d;

  self->row_done = 0;
  self->row_out += self->row_length;
  for (d = self->rank - 2; d >= 0; d--)
    {
      gboolean wrap = ++self->index[d] == self->dims[d];

      for (guint k = 0; k < self->n_inputs; k++)
        self->base[k] += (gsize) (wrap ? self->strides[k][d] * (1 - self->dims[d]) : self->strides[k][d]);
      if (!wrap)
        return;
      self->index[d] = 0;
    }
  self->finished = TRUE;
}

/**
 * vn_broadcast_next:
 *
 * Goes to the next row: sets n, out, offset[] and step[], all in elements.
 *
 * Returns: %FALSE at the end
 */
gboolean
vn_broadcast_next (VnBroadcast *self)
{
  if (self->finished)
    return FALSE;

  self->n = MIN (self->row_length - self->row_done, VN_BROADCAST_CHUNK);
  self->out = self->row_out + self->row_done;
  for (guint k = 0; k < self->n_inputs; k++)
    self->offset[k] = self->base[k] + self->row_done * self->step[k];
  self->row_done += self->n;
  if (self->row_done == self->row_length)
    elem_broadcast_next_row (self);
  return TRUE;
}
