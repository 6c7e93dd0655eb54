/* SPDX-License-Identifier: GPL-3.0-or-later */
/* AffineGrid: the positions of all elements of a picture, between -1 and 1, under one affine map per picture: what
 * GridSample takes. */
#include "vn-number.h"

static gboolean
affine_grid_infer (VnOpContext *ctx,
                   GError     **error)
{
  const VnShape *theta = &ctx->in_types[0].shape, *size = &ctx->in_types[1].shape;
  VnShape out = VN_SHAPE_UNKNOWN;
  gint64 sizes[5];
  gboolean known;
  guint n;

  if (!vn_op_attr_or_input (ctx, NULL, 1, sizes, 5, &n, &known, error))
    return FALSE;
  if (!known)
    n = size->rank == 1 && size->dims[0] >= 0 ? (guint) MIN (size->dims[0], 6) : 0;
  if ((n != 4 && n != 5 && (known || n != 0)) || (theta->rank >= 0 && theta->rank != 3))
    return vn_op_fail (ctx, error, _("AffineGrid: found %u sizes (expected 4 or 5) and theta of %d dims (expected 3)"), n,
                       theta->rank);
  if (n != 0 && theta->rank == 3 && ((theta->dims[1] >= 0 && theta->dims[1] != n - 2) ||
                                     (theta->dims[2] >= 0 && theta->dims[2] != n - 1)))
    return vn_op_fail (ctx, error, _("AffineGrid: theta of %lld × %lld for %u spatial axes"),
                       (long long) theta->dims[1], (long long) theta->dims[2], n - 2);
  if (n != 0)
    {
      out = VN_SHAPE (theta->rank == 3 ? theta->dims[0] : known ? sizes[0] : VN_DIM_UNKNOWN);
      out.rank = (int) n;
      for (guint d = 1; d < n - 1; d++)
        out.dims[d] = known ? sizes[d + 1] : VN_DIM_UNKNOWN;
      out.dims[n - 1] = n - 2;
    }
  for (guint d = 0; known && d < n; d++)
    if (sizes[d] < 0 || (d == 0 && out.dims[0] >= 0 && sizes[0] != out.dims[0]))
      return vn_op_fail (ctx, error, _("AffineGrid: size %u is %lld"), d, (long long) sizes[d]);
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &out);
  return TRUE;
}

typedef struct
{
  const VnTensor *theta;
  VnTensor       *grid;
  gboolean        align_corners;
  int             n;
  gsize           positions;
} AffineGrid;

static double
affine_grid_coordinate (const AffineGrid *self,
                        gint64            i,
                        gint64            length)
{
  if (self->align_corners)
    return length > 1 ? -1. + 2. * (double) i / (double) (length - 1) : -1.;
  return (2. * (double) i + 1.) / (double) length - 1.;
}

static void
affine_grid_make_positions (gpointer data,
                            gsize    first,
                            gsize    n)
{
  const AffineGrid *self = data;
  gsize width = (gsize) self->n + 1;

  for (gsize p = first; p < first + n; p++)
    {
      gsize rest = p % self->positions, map = p / self->positions * (gsize) self->n * width;
      double at[3];

      for (int d = self->n - 1; d >= 0; d--)   /* the last axis is x, the first coordinate */
        {
          gint64 length = self->grid->shape.dims[1 + d];

          at[self->n - 1 - d] = affine_grid_coordinate (self, (gint64) rest % length, length);
          rest /= (gsize) length;
        }
      for (gsize row = 0; row < (gsize) self->n; row++)
        {
          double sum = vn_tensor_get_double (self->theta, map + row * width + (gsize) self->n);

          for (gsize k = 0; k < (gsize) self->n; k++)
            sum += vn_tensor_get_double (self->theta, map + row * width + k) * at[k];
          vn_number_store (self->grid->dtype, self->grid->data, p * (gsize) self->n + row, sum);
        }
    }
}

static gboolean
affine_grid_run (VnOpContext *ctx,
                 GError     **error)
{
  VnTensor *grid = ctx->out[0];
  AffineGrid self = { .theta = ctx->in[0], .grid = grid, .n = grid->shape.rank - 2,
                      .align_corners = vn_node_get_int (ctx->node, "align_corners", 0) != 0 };

  if ((VN_FLOAT_BITS >> grid->dtype & 1) == 0)
    return vn_op_unsupported (ctx, 0, error);
  self.positions = (gsize) vn_shape_count (&grid->shape, 1, 1 + self.n);
  vn_op_for_ranges (ctx, grid->n_elements / (gsize) self.n, 60., affine_grid_make_positions, &self);
  return TRUE;
}

const VnOp vn_op_affine_grid_20 = {
  .domain = "", .type = "AffineGrid", .since = 20,
  .min_inputs = 2, .max_inputs = 2, .min_outputs = 1, .max_outputs = 1,
  .others = { [1] = VN_LENGTH_BITS },
  .dtypes = VN_FULL_FLOAT_BITS,
  .stand_ins = VN_STAND_IN_HALVES,
  .family = VN_FAMILY_OTHER,
  .infer = affine_grid_infer,
  .run = affine_grid_run,
};
