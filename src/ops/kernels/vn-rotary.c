/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rotary embedding: turns pairs of numbers by angles of their position. */
#include "vn-rotary.h"

/**
 * vn_rotary_check:
 *
 * Returns: %FALSE with an error if a position lies outside the table of angles
 */
gboolean
vn_rotary_check (const VnRotary  *self,
                 VnOpContext     *ctx,
                 GError         **error)
{
  const VnTensor *positions = self->positions;
  gsize n = self->batch * self->length, longest = 0;

  if (positions == NULL || n == 0)
    return TRUE;
  if (positions->n_elements != 1 && positions->n_elements != n)
    return vn_op_fail (ctx, error, _("%zu positions for %zu rows"),
                       positions->n_elements, n);
  if (positions->n_elements != n)
    longest = self->length - 1;
  for (gsize i = 0; i < positions->n_elements; i++)
    {
      gint64 at = vn_tensor_get_s64 (positions, i);

      if (at < 0 || (gsize) at >= self->n_positions || longest >= self->n_positions - (gsize) at)
        return vn_op_fail (ctx, error, _("position %lld is outside a table of %zu rows"), (long long) at,
                           self->n_positions);
    }
  return TRUE;
}

/**
 * vn_rotary_row:
 * @position: into the table of angles
 *
 * Turns the pairs of one row of one head; @x may be @y.
 */
void
vn_rotary_row (const VnRotary *self,
               const float    *x,
               float          *y,
               gsize           position)
{
  const float *c = self->cos + position * self->half, *s = self->sin + position * self->half;
  gsize step = self->interleaved ? 2 : 1, apart = self->interleaved ? 1 : self->half;

  for (gsize i = 0; i < self->half; i++)
    {
      float a = x[i * step], b = x[i * step + apart];

      y[i * step] = a * c[i] - b * s[i];
      y[i * step + apart] = a * s[i] + b * c[i];
    }
  if (x != y && self->depth > 2 * self->half)
    memcpy (y + 2 * self->half, x + 2 * self->half, (self->depth - 2 * self->half) * sizeof (float));
}

static void
rotary_rotate_rows (gpointer data,
                    gsize    item,
                    guint    worker)
{
  const VnRotary *self = data;
  gsize b = item / self->length, row = item % self->length, at = item;
  const float *x = (const float *) self->x.data + b * self->x.batch + row * self->x.row;
  float *y = (float *) self->y.data + b * self->y.batch + row * self->y.row;

  if (self->positions != NULL)
    at = self->positions->n_elements == self->batch * self->length
       ? (gsize) vn_tensor_get_s64 (self->positions, item) : (gsize) vn_tensor_get_s64 (self->positions, 0) + row;
  for (gsize h = 0; h < self->heads; h++)
    vn_rotary_row (self, x + h * self->x.head, y + h * self->y.head, at);
}

/**
 * vn_rotary_run:
 *
 * Turns all rows. vn_rotary_check() must have passed.
 */
void
vn_rotary_run (const VnRotary    *self,
               const VnOpContext *ctx)
{
  if (self->length > 0)
    vn_op_for_items (ctx, self->batch * self->length, (double) (self->heads * self->depth), rotary_rotate_rows,
                     (gpointer) self);
}
