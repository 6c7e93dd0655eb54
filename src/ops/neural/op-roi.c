/* SPDX-License-Identifier: GPL-3.0-or-later */
/* RoiAlign: each region of a picture, cut into bins, as the mean (or maximum) of samples between its elements.
 * MaxRoiPool: the maximum of the elements in each bin. */
#include "vn-number.h"

/* Samples of one region: far above any real network; each is visited for each channel. */
#define MAX_SAMPLES ((gint64) 1 << 22)

typedef struct
{
  const VnTensor *x, *rois, *batches;
  VnTensor       *y;
  gboolean        half_pixel, is_max;
  gint64          sampling, height, width;
  gsize           channels, rows, columns;
  float           scale;
} Roi;

/* One axis of a region. */
typedef struct
{
  double start, bin;
  gint64 samples;
} Extent;

static gboolean
roi_read_attributes (VnOpContext  *ctx,
                     Roi          *self,
                     gint64       *rows,
                     gint64       *columns,
                     GError      **error)
{
  static const char * const modes[] = { "avg", "max", NULL };
  static const char * const coords[] = { "half_pixel", "output_half_pixel", NULL };
  guint mode = vn_op_attr_choice (ctx, "mode", "avg", modes, error), coord;

  if (mode == G_MAXUINT)
    return FALSE;
  coord = ctx->opset < 16 ? 1 : vn_op_attr_choice (ctx, "coordinate_transformation_mode", "half_pixel", coords, error);
  if (coord == G_MAXUINT)
    return FALSE;
  *rows = vn_node_get_int (ctx->node, "output_height", 1);
  *columns = vn_node_get_int (ctx->node, "output_width", 1);
  *self = (Roi) { .half_pixel = coord == 0, .is_max = mode == 1, .sampling = vn_node_get_int (ctx->node, "sampling_ratio", 0),
                  .scale = vn_node_get_float (ctx->node, "spatial_scale", 1.f) };
  if (*rows < 1 || *columns < 1 || *rows > G_MAXINT16 || *columns > G_MAXINT16 || self->sampling < 0 ||
      self->sampling > G_MAXINT16)
    return vn_op_fail (ctx, error, _("RoiAlign: %lld × %lld bins of %lld samples are not allowed"), (long long) *rows,
                       (long long) *columns,
                                     (long long) self->sampling);
  return TRUE;
}

/* Picture, regions and output of both operators; @numbers: that make up a region. */
static gboolean
roi_infer_regions (VnOpContext *ctx,
                   gint64       numbers,
                   gint64       rows,
                   gint64       columns,
                   GError     **error)
{
  const VnShape *x = &ctx->in_types[0].shape, *rois = &ctx->in_types[1].shape;
  VnShape y = VN_SHAPE (VN_DIM_UNKNOWN, VN_DIM_UNKNOWN, rows, columns);

  if (x->rank >= 0 && x->rank != 4)
    return vn_op_fail (ctx, error, _("%s: input rank is %d, expected 4"), ctx->op->type, x->rank);
  if (rois->rank >= 0 && (rois->rank != 2 || (rois->dims[1] >= 0 && rois->dims[1] != numbers)))
    return vn_op_fail (ctx, error, _("%s: the regions must have %lld values each in 2 dims, found %d dims"),
                       ctx->op->type, (long long) numbers, rois->rank);
  if (x->rank == 4)
    y.dims[1] = x->dims[1];
  if (rois->rank == 2)
    y.dims[0] = rois->dims[0];
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &y);
  return TRUE;
}

static gboolean
roi_align_infer (VnOpContext *ctx,
                 GError     **error)
{
  const VnShape *rois = &ctx->in_types[1].shape, *batches = &ctx->in_types[2].shape;
  gint64 rows, columns;
  Roi self;

  if (!vn_op_check_index_dtype (ctx, 2, error) || !roi_read_attributes (ctx, &self, &rows, &columns, error))
    return FALSE;
  if (batches->rank >= 0 && (batches->rank != 1 || (rois->rank == 2 && rois->dims[0] >= 0 && batches->dims[0] >= 0 &&
                                                    rois->dims[0] != batches->dims[0])))
    return vn_op_fail (ctx, error, _("RoiAlign: expected one image index per region"));
  return roi_infer_regions (ctx, 4, rows, columns, error);
}

/* Where a sample lies between two elements; FALSE: outside, where everything is 0. */
static gboolean
roi_locate (double  at,
            gint64  length,
            gsize   index[2],
            double  weight[2])
{
  double low;

  if (!(at >= -1. && at <= (double) length))
    return FALSE;
  at = CLAMP (at, 0., (double) (length - 1));
  low = floor (at);
  index[0] = (gsize) low;
  index[1] = MIN (index[0] + 1, (gsize) length - 1);
  weight[1] = at - low;
  weight[0] = 1. - weight[1];
  return TRUE;
}

static inline double
roi_load (const Roi *self,
          gsize      i)
{
  return self->x->dtype == VN_DTYPE_F32 ? (double) ((const float *) self->x->data)[i] : vn_tensor_get_double (self->x, i);
}

/* Mean mode adds what the four neighbours of each sample contribute, maximum mode takes the largest contribution. */
static double
roi_pool_bin (const Roi    *self,
              gsize         plane,
              const Extent *v,
              const Extent *h,
              gsize         row,
              gsize         column)
{
  double sum = 0, max = -INFINITY;

  for (gint64 i = 0; i < v->samples; i++)
    for (gint64 k = 0; k < h->samples; k++)
      {
        gsize y[2] = { 0 }, x[2] = { 0 };
        double wy[2] = { 0 }, wx[2] = { 0 };

        if (!roi_locate (v->start + v->bin * ((double) row + ((double) i + 0.5) / (double) v->samples), self->height, y, wy) ||
            !roi_locate (h->start + h->bin * ((double) column + ((double) k + 0.5) / (double) h->samples), self->width, x, wx))
          {
            max = MAX (max, 0.);
            continue;
          }
        for (int n = 0; n < 4; n++)
          {
            double part = wy[n / 2] * wx[n % 2] * roi_load (self, plane + y[n / 2] * (gsize) self->width + x[n % 2]);

            sum += part;
            max = MAX (max, part);
          }
      }
  if (self->is_max)
    return v->samples > 0 && h->samples > 0 ? max : 0.;
  return sum / (double) MAX (v->samples * h->samples, 1);
}

/* Each step in the precision of the data: the number of samples jumps where a bin is a whole number long. */
static double
roi_rounded (const Roi *self,
             double     value)
{
  return self->x->dtype == VN_DTYPE_F64 ? value : (double) (float) value;
}

static Extent
roi_extent_of (const Roi *self,
               gsize      roi,
               guint      first,
               gsize      bins)
{
  double corner[2], length;
  Extent extent;

  for (guint i = 0; i < 2; i++)
    {
      corner[i] = roi_rounded (self, vn_tensor_get_double (self->rois, 4 * roi + first + 2 * i) * (double) self->scale);
      corner[i] = roi_rounded (self, corner[i] - (self->half_pixel ? 0.5 : 0.));
    }
  length = roi_rounded (self, corner[1] - corner[0]);
  if (!self->half_pixel)
    length = MAX (length, 1.);
  extent.start = corner[0];
  extent.bin = roi_rounded (self, length / (double) bins);
  extent.samples = self->sampling > 0 ? self->sampling : extent.bin <= 0x1p30 ? (gint64) ceil (extent.bin) : MAX_SAMPLES + 1;
  extent.samples = MAX (extent.samples, 0);
  return extent;
}

static void
roi_align_plane (gpointer data,
                 gsize    item,
                 guint    worker)
{
  const Roi *self = data;
  gsize roi = item / self->channels, channel = item % self->channels;
  gsize picture = (gsize) vn_tensor_get_s64 (self->batches, roi);
  gsize plane = (picture * self->channels + channel) * (gsize) (self->height * self->width);
  Extent v = roi_extent_of (self, roi, 1, self->rows), h = roi_extent_of (self, roi, 0, self->columns);

  for (gsize row = 0; row < self->rows; row++)
    for (gsize column = 0; column < self->columns; column++)
      vn_number_store (self->y->dtype, self->y->data, (item * self->rows + row) * self->columns + column,
                       roi_pool_bin (self, plane, &v, &h, row, column));
}

static gboolean
roi_check_regions (VnOpContext *ctx,
                   const Roi   *self,
                   GError     **error)
{
  gint64 pictures = ctx->in[0]->shape.dims[0];

  for (gsize r = 0; r < self->batches->n_elements; r++)
    {
      gint64 picture = vn_tensor_get_s64 (self->batches, r), samples;
      Extent v = roi_extent_of (self, r, 1, self->rows), h = roi_extent_of (self, r, 0, self->columns);

      if (picture < 0 || picture >= pictures)
        return vn_op_fail (ctx, error, _("RoiAlign: region %zu refers to image %lld, but there are only %lld"), r,
                           (long long) picture, (long long) pictures);
      if (!isfinite (v.start) || !isfinite (v.bin) || !isfinite (h.start) || !isfinite (h.bin))
        return vn_op_fail (ctx, error, _("RoiAlign: region %zu has no finite corners"), r);
      if (!vn_checked_mul_s64 (v.samples * (gint64) self->rows, h.samples * (gint64) self->columns, &samples) ||
          samples > MAX_SAMPLES)
        return vn_op_fail (ctx, error, _("RoiAlign: region %zu is too large: %g × %g elements"), r,
                           v.bin * (double) self->rows, h.bin * (double) self->columns);
    }
  return TRUE;
}

static gboolean
roi_align_run (VnOpContext *ctx,
               GError     **error)
{
  const VnShape *x = &ctx->in[0]->shape;
  gint64 rows, columns;
  Roi self;

  if ((VN_FLOAT_BITS >> ctx->in[0]->dtype & 1) == 0)
    return vn_op_unsupported (ctx, 0, error);
  if (!roi_read_attributes (ctx, &self, &rows, &columns, error))
    return FALSE;
  self.x = ctx->in[0];
  self.rois = ctx->in[1];
  self.batches = ctx->in[2];
  self.y = ctx->out[0];
  self.channels = (gsize) x->dims[1];
  self.height = x->dims[2];
  self.width = x->dims[3];
  self.rows = (gsize) rows;
  self.columns = (gsize) columns;
  if (self.rois->shape.dims[0] != self.batches->shape.dims[0])
    return vn_op_fail (ctx, error, _("RoiAlign: expected one image index per region"));
  if (!roi_check_regions (ctx, &self, error))
    return FALSE;
  if (self.y->n_elements == 0)
    return TRUE;
  if (self.x->n_elements == 0)
    return vn_op_fail (ctx, error, _("RoiAlign: the input image is empty"));
  vn_op_for_items (ctx, self.batches->n_elements * self.channels, 200. * (double) (rows * columns), roi_align_plane, &self);
  return TRUE;
}

const VnOp vn_op_roi_align_10 = {
  .domain = "", .type = "RoiAlign", .since = 10,
  .min_inputs = 3, .max_inputs = 3, .min_outputs = 1, .max_outputs = 1,
  .others = { [2] = VN_LENGTH_BITS },
  .dtypes = VN_FULL_FLOAT_BITS, .same_dtype = 1u << 1,
  .stand_ins = VN_STAND_IN_HALVES,
  .family = VN_FAMILY_POOL_NORM,
  .infer = roi_align_infer,
  .run = roi_align_run,
};

/* ---- MaxRoiPool ---- */

static gboolean
roi_pooled_shape (VnOpContext  *ctx,
                  gint64        shape[2],
                  GError      **error)
{
  gsize n;
  const gint64 *given = vn_node_get_ints (ctx->node, "pooled_shape", &n);

  if (n != 2 || given[0] < 1 || given[1] < 1 || given[0] > G_MAXINT16 || given[1] > G_MAXINT16)
    return vn_op_fail (ctx, error, _("MaxRoiPool: pooled_shape must be two sizes of 1 to %d"), G_MAXINT16);
  memcpy (shape, given, 2 * sizeof *shape);
  return TRUE;
}

static gboolean
roi_max_roi_pool_infer (VnOpContext *ctx,
                        GError     **error)
{
  gint64 shape[2];

  return roi_pooled_shape (ctx, shape, error) && roi_infer_regions (ctx, 5, shape[0], shape[1], error);
}

/* First and last + 1 element of bin @i; rounded as the operator's inventors did. */
static void
roi_bin_range (double  start,
               double  end,
               gint64  i,
               gint64  bins,
               gint64  length,
               gint64  range[2])
{
  float size = (float) MAX (end - start + 1, 1.) / (float) bins;
  double first = (double) floorf ((float) i * size) + start, last = (double) ceilf ((float) (i + 1) * size) + start;

  range[0] = (gint64) CLAMP (first, 0., (double) length);
  range[1] = (gint64) CLAMP (last, 0., (double) length);
}

static double
roi_max_of_bin (const Roi    *self,
                gsize         plane,
                const double  roi[4],
                gint64        row,
                gint64        column)
{
  gint64 v[2], h[2];
  double max = -INFINITY;

  roi_bin_range (roi[1], roi[3], row, (gint64) self->rows, self->height, v);
  roi_bin_range (roi[0], roi[2], column, (gint64) self->columns, self->width, h);
  if (v[0] >= v[1] || h[0] >= h[1])
    return 0.;
  for (gint64 y = v[0]; y < v[1]; y++)
    for (gint64 x = h[0]; x < h[1]; x++)
      {
        double value = roi_load (self, plane + (gsize) (y * self->width + x));

        if (value > max || isnan (value))
          max = value;
      }
  return max;
}

static void
roi_pool_plane (gpointer data,
                gsize    item,
                guint    worker)
{
  const Roi *self = data;
  gsize r = item / self->channels, picture = (gsize) vn_tensor_get_double (self->rois, 5 * r);
  gsize plane = (picture * self->channels + item % self->channels) * (gsize) (self->height * self->width);
  double roi[4];

  for (guint i = 0; i < 4; i++)
    roi[i] = round (vn_tensor_get_double (self->rois, 5 * r + 1 + i) * (double) self->scale);
  for (gsize row = 0; row < self->rows; row++)
    for (gsize column = 0; column < self->columns; column++)
      vn_number_store (self->y->dtype, self->y->data, (item * self->rows + row) * self->columns + column,
                       roi_max_of_bin (self, plane, roi, (gint64) row, (gint64) column));
}

static gboolean
roi_max_roi_pool_run (VnOpContext *ctx,
                      GError     **error)
{
  const VnShape *x = &ctx->in[0]->shape;
  const VnTensor *rois = ctx->in[1];
  gint64 shape[2];
  Roi self = { .x = ctx->in[0], .rois = rois, .y = ctx->out[0], .scale = vn_node_get_float (ctx->node, "spatial_scale", 1.f),
               .channels = (gsize) x->dims[1], .height = x->dims[2], .width = x->dims[3] };

  if (!roi_pooled_shape (ctx, shape, error))
    return FALSE;
  if ((VN_FLOAT_BITS >> ctx->in[0]->dtype & 1) == 0)
    return vn_op_unsupported (ctx, 0, error);
  self.rows = (gsize) shape[0];
  self.columns = (gsize) shape[1];
  for (gsize i = 0; i < rois->n_elements; i++)
    {
      double value = vn_tensor_get_double (rois, i);

      if (!isfinite (value * (double) self.scale) || (i % 5 == 0 && !(value >= 0 && value < (double) x->dims[0])))
        return vn_op_fail (ctx, error, _("MaxRoiPool: region %zu is invalid: element %zu is %g"), i / 5, i % 5, value);
    }
  vn_op_for_items (ctx, (gsize) rois->shape.dims[0] * self.channels, (double) (x->dims[2] * x->dims[3]), roi_pool_plane, &self);
  return TRUE;
}

const VnOp vn_op_max_roi_pool_1 = {
  .domain = "", .type = "MaxRoiPool", .since = 1,
  .min_inputs = 2, .max_inputs = 2, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_FULL_FLOAT_BITS, .same_dtype = 1u << 1,
  .stand_ins = VN_STAND_IN_HALVES,
  .family = VN_FAMILY_POOL_NORM,
  .infer = roi_max_roi_pool_infer,
  .run = roi_max_roi_pool_run,
};
