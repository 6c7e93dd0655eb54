/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gradients of Resize and Upsample: the kernel's own tables tell which pixels each new one is made of, and how much of each; what
 * it costs goes back to them, an axis at a time. */
#include "vn-gradient-private.h"

#include "vn-resize-private.h"

/* From an axis as it came out to one as it went in: outer × out × inner to outer × in × inner. */
static void
gradient_resize_axis (const VnResizeTable *table,
                      const VnResizeAxis  *axis,
                      gsize                outer,
                      gsize                inner,
                      const float         *from,
                      float               *to)
{
  gsize in = (gsize) axis->in, out = (gsize) axis->out;

  memset (to, 0, sizeof *to * outer * in * inner);
  for (gsize o = 0; o < outer; o++)
    for (gsize i = 0; i < out; i++)
      for (guint k = 0; k < table->n_taps && !table->outside[i]; k++)
        {
          float weight = table->weight != NULL ? table->weight[i * table->n_taps + k] : 1;

          vn_gradient_add_scaled (to + (o * in + (gsize) table->index[i * table->n_taps + k]) * inner,
                                  from + (o * out + i) * inner,
                                  weight, inner);
        }
}

/* Passes over the axes that change, last one first. @room: two buffers of @size numbers, and @tables behind them */
static void
gradient_resize_run (VnResize          *resize,
                     VnGradientContext *ctx,
                     float             *room,
                     gsize              size,
                     gpointer           tables)
{
  VnShape shape = ctx->op.out[0]->shape;
  const float *from = ctx->out_grads[0]->data;

  for (int d = resize->rank - 1; d >= 0; d--)
    {
      float *to = from == room ? room + size : room;
      VnResizeTable table;

      if (!vn_resize_needs_pass (resize, d))
        continue;
      vn_resize_table_init (&table, resize, d, tables);
      if (resize->mode == VN_RESIZE_NEAREST)
        table.weight = NULL;
      gradient_resize_axis (&table, &resize->axes[d], (gsize) vn_shape_count (&shape, 0, d),
                            (gsize) vn_shape_count (&shape, d + 1, shape.rank),
                            from, to);
      shape.dims[d] = resize->axes[d].in;
      from = to;
    }
  vn_gradient_add_scaled (ctx->in_grads[0]->data, from, 1, ctx->op.in[0]->n_elements);
}

/* The largest tensor that any number of passes leaves. */
static gboolean
gradient_resize_find_room (const VnResize *resize,
                           gsize          *size,
                           gsize          *table)
{
  gsize n = 1;

  *table = 0;
  for (int d = 0; d < resize->rank; d++)
    {
      *table = MAX (*table, vn_resize_table_bytes (resize, d));
      if (!vn_checked_mul (n, (gsize) MAX (resize->axes[d].in, resize->axes[d].out), &n))
        return FALSE;
    }
  *size = (n + 15) & ~(gsize) 15;
  return n <= G_MAXSSIZE / 16;
}

gboolean
vn_gradient_resize (VnGradientContext  *ctx,
                    GError            **error)
{
  gsize size, table, bytes;
  VnResize resize;
  float *room;

  if (!vn_resize_init (&resize, &ctx->op, error))
    return FALSE;
  if (ctx->op.in[0]->n_elements == 0 || ctx->op.out[0]->n_elements == 0)
    return TRUE;
  if (!gradient_resize_find_room (&resize, &size, &table) || !vn_checked_add (2 * size * sizeof *room, table, &bytes))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("the tensor is too large to be trained"));
      return FALSE;
    }
  room = vn_scratch_reserve (ctx->scratch, bytes, 1, error);
  if (room == NULL)
    return FALSE;
  gradient_resize_run (&resize, ctx, room, size, room + 2 * size);
  return TRUE;
}
