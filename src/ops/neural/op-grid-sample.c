/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GridSample: values of a picture (1 to 3 spatial axes) at the positions a grid names, between -1 and 1 from edge to
 * edge. Each position becomes a list of elements with weights, which all channels share. */
#include "vn-number.h"

#define MAX_TAPS 64

typedef enum { LINEAR, NEAREST, CUBIC } Mode;
typedef enum { ZEROS, BORDER, REFLECTION } Padding;

typedef struct
{
  const VnTensor *x, *grid;
  VnTensor       *y;
  Mode            mode;
  Padding         padding;
  gboolean        align_corners;
  int             n_spatial;
  gint64          dims[3];
  gsize           channels, in_size, out_size;
} GridSample;

typedef struct
{
  gint64 index;    /* -1: outside, counts as 0 */
  double weight;
} Tap;

typedef struct
{
  guint  n;
  gsize  offset[MAX_TAPS];
  double weight[MAX_TAPS];
} Taps;

static gboolean
grid_sample_read_attributes (VnOpContext  *ctx,
                             GridSample   *self,
                             GError      **error)
{
  static const char * const modes[] = { "linear", "nearest", "cubic", "bilinear", "bicubic", NULL };
  static const char * const paddings[] = { "zeros", "border", "reflection", NULL };
  guint mode = vn_op_attr_choice (ctx, "mode", "linear", modes, error), padding;

  if (mode == G_MAXUINT)
    return FALSE;
  padding = vn_op_attr_choice (ctx, "padding_mode", "zeros", paddings, error);
  if (padding == G_MAXUINT)
    return FALSE;
  *self = (GridSample) { .mode = mode == 3 ? LINEAR : mode == 4 ? CUBIC : (Mode) mode, .padding = (Padding) padding,
                         .align_corners = vn_node_get_int (ctx->node, "align_corners", 0) != 0 };
  return TRUE;
}

static gboolean
grid_sample_infer (VnOpContext *ctx,
                   GError     **error)
{
  const VnShape *x = &ctx->in_types[0].shape, *grid = &ctx->in_types[1].shape;
  VnShape y = VN_SHAPE_UNKNOWN;
  VnDType grid_type = ctx->in_types[1].dtype;
  GridSample self;

  if (!grid_sample_read_attributes (ctx, &self, error))
    return FALSE;
  if (grid_type != VN_DTYPE_UNDEFINED && (VN_FLOAT_BITS >> grid_type & 1) == 0)
    return vn_op_unsupported (ctx, 1, error);
  if (x->rank >= 0 && grid->rank >= 0)
    {
      int n = x->rank - 2;
      gint64 last = grid->dims[MAX (grid->rank - 1, 0)];

      if (n < 1 || n > 3 || grid->rank != x->rank || (last >= 0 && last != n))
        return vn_op_fail (ctx, error, _("GridSample: an input of %d dims with a grid of %d dims, the last of %lld"),
                           x->rank, grid->rank, (long long) (grid->rank > 0 ? last : 0));
      if (x->dims[0] >= 0 && grid->dims[0] >= 0 && x->dims[0] != grid->dims[0])
        return vn_op_fail (ctx, error, _("GridSample: %lld images, but %lld grids"),
                           (long long) x->dims[0], (long long) grid->dims[0]);
      y = *x;
      for (int d = 0; d < n; d++)
        y.dims[2 + d] = grid->dims[1 + d];
    }
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &y);
  return TRUE;
}

/* In the precision of the grid: another rounding would choose another neighbour. */
static double
grid_sample_denormalize (const GridSample *self,
                         double            n,
                         gint64            length)
{
  float f = (float) n, l = (float) length;

  if (self->grid->dtype == VN_DTYPE_F64)
    return self->align_corners ? (n + 1) / 2 * (double) (length - 1) : ((n + 1) * (double) length - 1) / 2;
  return self->align_corners ? (f + 1.f) / 2.f * (l - 1.f) : ((f + 1.f) * l - 1.f) / 2.f;
}

static double
grid_sample_reflect (const GridSample *self,
                     double            x,
                     gint64            length)
{
  double min = self->align_corners ? 0. : -0.5, range = (double) length - (self->align_corners ? 1. : 0.);
  double rest;

  if (x >= min && x <= min + range)
    return x;
  if (range <= 0)
    return min;
  rest = fmod (x < min ? min - x : x - min - range, 2 * range);
  if (x < min)
    return rest < range ? min + rest : min + 2 * range - rest;
  return rest < range ? min + range - rest : min + rest - range;
}

static gint64
grid_sample_element_at (const GridSample *self,
                        double            x,
                        gint64            length)
{
  if (self->padding == REFLECTION)
    x = grid_sample_reflect (self, x, length);
  if (self->padding != ZEROS)
    return (gint64) CLAMP (x, 0., (double) (length - 1));
  return x >= 0. && x < (double) length ? (gint64) x : -1;
}

static void
grid_sample_cubic_weights (double t,
                           double w[4])
{
  const double a = -0.75;
  double s = 1 - t, u = t + 1, v = s + 1;

  w[0] = ((a * u - 5 * a) * u + 8 * a) * u - 4 * a;
  w[1] = ((a + 2) * t - (a + 3)) * t * t + 1;
  w[2] = ((a + 2) * s - (a + 3)) * s * s + 1;
  w[3] = ((a * v - 5 * a) * v + 8 * a) * v - 4 * a;
}

/* Elements and weights of one axis. */
static guint
grid_sample_axis_taps (const GridSample *self,
                       double            normalized,
                       gint64            length,
                       Tap               taps[4])
{
  double x = grid_sample_denormalize (self, normalized, length), w[4], floor_x;
  guint n = self->mode == CUBIC ? 4 : 2;

  if (self->mode == NEAREST)
    x = nearbyint (x);
  if (!isfinite (x))   /* nowhere: outside, or the first element where there is no outside */
    x = self->padding == ZEROS ? -10. : x > 0 && self->padding == BORDER ? (double) length + 2. : 0.;
  if (self->padding == REFLECTION)
    x = grid_sample_reflect (self, x, length);
  else if (self->padding == BORDER && self->mode != CUBIC)   /* there ONNX Runtime and PyTorch clamp the taps only */
    x = CLAMP (x, 0., (double) (length - 1));
  if (self->mode == NEAREST)
    {
      taps[0] = (Tap) { grid_sample_element_at (self, x, length), 1. };
      return 1;
    }
  floor_x = floor (x);
  if (self->mode == CUBIC)
    grid_sample_cubic_weights (x - floor_x, w);
  else
    {
      w[0] = 1 - (x - floor_x);
      w[1] = x - floor_x;
    }
  for (guint i = 0; i < n; i++)
    taps[i] = (Tap) { grid_sample_element_at (self, floor_x + i - (n == 4), length), w[i] };
  return n;
}

/* Products of the taps of all axes; those outside count as 0 and are left out. */
static void
grid_sample_find_taps (const GridSample *self,
                       gsize             position,
                       Taps             *taps)
{
  taps->n = 1;
  taps->offset[0] = 0;
  taps->weight[0] = 1.;
  for (int d = 0; d < self->n_spatial; d++)
    {
      Taps before = *taps;
      double at = vn_tensor_get_double (self->grid, position * (gsize) self->n_spatial + (gsize) (self->n_spatial - 1 - d));
      Tap axis[4];
      guint n = grid_sample_axis_taps (self, at, self->dims[d], axis);

      taps->n = 0;
      for (guint i = 0; i < before.n; i++)
        for (guint k = 0; k < n; k++)
          if (axis[k].index >= 0)
            {
              taps->offset[taps->n] = before.offset[i] * (gsize) self->dims[d] + (gsize) axis[k].index;
              taps->weight[taps->n++] = before.weight[i] * axis[k].weight;
            }
    }
}

#define APPLY(type)                                                                         \
  {                                                                                         \
    const type *x = self->x->data;                                                          \
    type *y = self->y->data;                                                                \
                                                                                            \
    for (gsize c = 0; c < self->channels; c++, from += self->in_size, to += self->out_size) \
      {                                                                                     \
        double sum = 0;                                                                     \
                                                                                            \
        for (guint i = 0; i < taps->n; i++)                                                 \
          sum += taps->weight[i] * (double) x[from + taps->offset[i]];                      \
        y[to] = (type) sum;                                                                 \
      }                                                                                     \
  }

static void
grid_sample_apply_numbers (const GridSample *self,
                           const Taps       *taps,
                           gsize             from,
                           gsize             to)
{
  for (gsize c = 0; c < self->channels; c++, from += self->in_size, to += self->out_size)
    {
      double sum = 0;

      for (guint i = 0; i < taps->n; i++)
        sum += taps->weight[i] * vn_tensor_get_double (self->x, from + taps->offset[i]);
      vn_number_store (self->y->dtype, self->y->data, to, sum);
    }
}

/* Nearest moves elements, whatever they are. */
static void
grid_sample_move_elements (const GridSample *self,
                           const Taps       *taps,
                           gsize             from,
                           gsize             to)
{
  gsize size = vn_elem_size (self->x->dtype);

  for (gsize c = 0; c < self->channels; c++, from += self->in_size, to += self->out_size)
    if (taps->n > 0)
      memcpy ((char *) self->y->data + to * size, (const char *) self->x->data + (from + taps->offset[0]) * size, size);
    else
      memset ((char *) self->y->data + to * size, 0, size);
}

static void
sample_positions (gpointer data,
                  gsize    first,
                  gsize    n)
{
  const GridSample *self = data;
  Taps positions, *taps = &positions;

  for (gsize p = first; p < first + n; p++)
    {
      gsize picture = p / self->out_size;
      gsize from = picture * self->channels * self->in_size;
      gsize to = picture * self->channels * self->out_size + p % self->out_size;

      grid_sample_find_taps (self, p, taps);
      if (self->mode == NEAREST)
        grid_sample_move_elements (self, taps, from, to);
      else if (self->x->dtype == VN_DTYPE_F32)
        APPLY (float)
      else if (self->x->dtype == VN_DTYPE_F64)
        APPLY (double)
      else
        grid_sample_apply_numbers (self, taps, from, to);
    }
}

static gboolean
grid_sample_run (VnOpContext *ctx,
                 GError     **error)
{
  const VnShape *x = &ctx->in[0]->shape;
  GridSample self;

  if (!vn_op_check_movable (ctx, error) || !grid_sample_read_attributes (ctx, &self, error))
    return FALSE;
  if (self.mode != NEAREST && (VN_NUMBER_BITS >> ctx->in[0]->dtype & 1) == 0)
    return vn_op_unsupported (ctx, 0, error);
  if (ctx->out[0]->n_elements == 0)
    return TRUE;
  if (ctx->in[0]->n_elements == 0)
    return vn_op_fail (ctx, error, _("GridSample: the input image is empty"));
  self.x = ctx->in[0];
  self.grid = ctx->in[1];
  self.y = ctx->out[0];
  self.n_spatial = x->rank - 2;
  memcpy (self.dims, x->dims + 2, (gsize) self.n_spatial * sizeof (gint64));
  self.channels = (gsize) x->dims[1];
  self.in_size = (gsize) vn_shape_count (x, 2, x->rank);
  self.out_size = (gsize) vn_shape_count (&self.y->shape, 2, x->rank);
  vn_op_for_ranges (ctx, (gsize) x->dims[0] * self.out_size, 50. + 10. * (double) self.channels, sample_positions, &self);
  return TRUE;
}

const VnOp vn_op_grid_sample_16 = {
  .domain = "", .type = "GridSample", .since = 16,
  .min_inputs = 2, .max_inputs = 2, .min_outputs = 1, .max_outputs = 1,
  .others = { [1] = VN_FLOAT_BITS },
  .dtypes = VN_MOVABLE_BITS,
  .stand_ins = VN_STAND_IN_STRINGS,
  .family = VN_FAMILY_POOL_NORM,
  .quant = VN_QUANT_TRAITS (VN_QUANT_OPAQUE, FALSE),
  .infer = grid_sample_infer,
  .run = grid_sample_run,
};
