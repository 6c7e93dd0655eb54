/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the samples of a resized axis lie in the original, and how much each counts.
 *
 * Coordinates are computed in float32, as ONNX Runtime does: at ties another precision would pick other pixels. */
#include "vn-resize-private.h"

/* Place of output sample @i on the axis of the input. */
static float
resize_table_original_coordinate (const VnResize     *self,
                                  const VnResizeAxis *axis,
                                  gint64              i)
{
  float x = (float) i, in = (float) axis->in, out = (float) axis->out;

  switch (self->coord)
    {
    case VN_COORD_HALF_PIXEL:
      return (x + 0.5f) / axis->scale - 0.5f;
    case VN_COORD_PYTORCH_HALF_PIXEL:
      return axis->out > 1 ? (x + 0.5f) / axis->scale - 0.5f : 0.f;
    case VN_COORD_HALF_PIXEL_SYMMETRIC:
      {
        /* What the rounding of the output length cut off is taken from both ends. */
        float adjustment = out / (axis->scale * in);

        return in / 2.f * (1.f - adjustment) + (x + 0.5f) / axis->scale - 0.5f;
      }
    case VN_COORD_ALIGN_CORNERS:
      return axis->out > 1 ? x * (in - 1.f) / (out - 1.f) : 0.f;
    case VN_COORD_ASYMMETRIC:
      return x / axis->scale;
    case VN_COORD_TF_HALF_PIXEL_FOR_NN:
      return (x + 0.5f) / axis->scale;
    case VN_COORD_TF_CROP_AND_RESIZE:
      if (axis->out > 1)
        return axis->roi_start * (in - 1.f) + x * (axis->roi_end - axis->roi_start) * (in - 1.f) / (out - 1.f);
      return 0.5f * (axis->roi_start + axis->roi_end) * (in - 1.f);
    default:
      g_assert_not_reached ();
    }
}

static float
resize_table_nearest_index (const VnResize     *self,
                            const VnResizeAxis *axis,
                            float               x)
{
  switch (self->nearest)
    {
    case VN_NEAREST_ROUND_PREFER_FLOOR: return x == floorf (x) + 0.5f ? floorf (x) : roundf (x);
    case VN_NEAREST_ROUND_PREFER_CEIL: return floorf (x + 0.5f);
    case VN_NEAREST_FLOOR: return floorf (x);
    case VN_NEAREST_CEIL: return ceilf (x);
    case VN_NEAREST_SIMPLE: return axis->scale < 1.f ? ceilf (x) : floorf (x);
    default: g_assert_not_reached ();
    }
}

/* Without antialiasing the filters are as wide as for the same size. */
static float
resize_table_filter_scale (const VnResize     *self,
                           const VnResizeAxis *axis)
{
  return self->antialias && axis->scale < 1.f ? axis->scale : 1.f;
}

/* Taps from floor (x) + first on. */
static void
resize_table_filter_extent (const VnResize     *self,
                            const VnResizeAxis *axis,
                            int                *first,
                            guint              *n_taps)
{
  float support = self->mode == VN_RESIZE_CUBIC ? 2.f : 1.f;
  float low = floorf (-support / resize_table_filter_scale (self, axis)) + 1.f;

  if (self->mode == VN_RESIZE_NEAREST)
    {
      *first = 0;
      *n_taps = 1;
      return;
    }
  /* Nothing comes near this, as the output has at least one element; it bounds what a broken scale could ask for. */
  low = MAX (low, -2.f * (float) axis->in - 2.f);
  *first = (int) low;
  *n_taps = (guint) (2 - 2 * *first);
}

static float
resize_table_filter (const VnResize *self,
                     float           distance)
{
  float t = fabsf (distance), a = self->cubic_a;

  if (self->mode == VN_RESIZE_LINEAR)
    return t < 1.f ? 1.f - t : 0.f;
  if (t <= 1.f)
    return ((a + 2.f) * t - (a + 3.f)) * t * t + 1.f;
  return t < 2.f ? ((a * t - 5.f * a) * t + 8.f * a) * t - 4.f * a : 0.f;
}

/**
 * vn_resize_table_bytes:
 *
 * Returns: memory for the table of @axis, a multiple of 64
 */
gsize
vn_resize_table_bytes (const VnResize *self,
                       int             axis)
{
  gsize n = (gsize) self->axes[axis].out;
  guint n_taps;
  int first;

  resize_table_filter_extent (self, &self->axes[axis], &first, &n_taps);
  return (n * n_taps * (sizeof (gint32) + sizeof (float)) + n + 63) & ~(gsize) 63;
}

static void
resize_table_fill_taps (const VnResize      *self,
                        const VnResizeAxis  *axis,
                        const VnResizeTable *table,
                        gint64               i,
                        float                x,
                        int                  first)
{
  gint32 *index = table->index + i * table->n_taps;
  float *weight = table->weight + i * table->n_taps, sum = 0.f, scale = resize_table_filter_scale (self, axis);
  gboolean normalise = self->exclude_outside || scale != 1.f;
  float base;

  /* What lies outside counts as the border. */
  if (self->mode == VN_RESIZE_LINEAR && !normalise)
    x = CLAMP (x, 0.f, (float) (axis->in - 1));
  base = floorf (x);

  for (guint k = 0; k < table->n_taps; k++)
    {
      gint64 at = (gint64) base + first + (gint64) k;

      weight[k] = resize_table_filter (self, ((float) at - x) * scale);
      if (self->exclude_outside && (at < 0 || at >= axis->in))
        weight[k] = 0.f;
      /* Two halves at the far end, not one and nothing: as in ONNX Runtime, to the last bit of the sums. */
      if (self->mode == VN_RESIZE_LINEAR && !normalise && x == (float) (axis->in - 1))
        weight[k] = 0.5f;
      /* At the ends of a wide filter are samples that do not count: not even if they are NaN. */
      index[k] = (gint32) CLAMP (self->antialias && weight[k] == 0.f ? (gint64) base : at, 0, axis->in - 1);
      sum += weight[k];
    }
  for (guint k = 0; normalise && k < table->n_taps; k++)
    weight[k] /= sum;
}

/**
 * vn_resize_table_init:
 * @memory: of vn_resize_table_bytes()
 *
 * Computes indices and weights for one axis, whose lengths are known and above 0.
 */
void
vn_resize_table_init (VnResizeTable  *table,
                      const VnResize *self,
                      int             axis_index,
                      gpointer        memory)
{
  const VnResizeAxis *axis = &self->axes[axis_index];
  int first;

  resize_table_filter_extent (self, axis, &first, &table->n_taps);
  table->index = memory;
  table->weight = (float *) (table->index + (gsize) axis->out * table->n_taps);
  table->outside = (guint8 *) (table->weight + (gsize) axis->out * table->n_taps);
  for (gint64 i = 0; i < axis->out; i++)
    {
      float x = resize_table_original_coordinate (self, axis, i), limit = (float) (axis->in - 1);

      x = isnan (x) ? 0.f : CLAMP (x, -1e6f, (float) axis->in + 1e6f);
      table->outside[i] = self->coord == VN_COORD_TF_CROP_AND_RESIZE && (x < 0.f || x > limit);
      if (self->mode == VN_RESIZE_NEAREST)
        table->index[i] = (gint32) CLAMP (resize_table_nearest_index (self, axis, x), 0.f, limit);
      else
        resize_table_fill_taps (self, axis, table, i, self->mode == VN_RESIZE_LINEAR && !self->antialias
                                ? CLAMP (x, 0.f, limit) : x,
                                first);
    }
}

/**
 * vn_resize_needs_pass:
 *
 * Returns: whether @axis is changed at all
 */
gboolean
vn_resize_needs_pass (const VnResize *self,
                      int             axis)
{
  const VnResizeAxis *a = &self->axes[axis];

  if (self->coord == VN_COORD_TF_CROP_AND_RESIZE)
    return a->in != a->out || a->roi_start != 0.f || a->roi_end != 1.f;
  return a->in != a->out || a->scale != 1.f;
}
