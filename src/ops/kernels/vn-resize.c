/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Resizing axis by axis: the weights of linear and cubic interpolation are products, so each axis is one pass over the
 * data. Nearest neighbours only move elements, whatever their type. */
#include "vn-resize-private.h"

/* ---- nearest ---- */

#define GATHER(size, type)                                                      \
  case size:                                                                    \
    for (gint64 i = 0; i < n; i++)                                              \
      ((type *) to)[i] = ((const type *) from)[index[i]];                       \
    return;

static void
resize_gather_row (gsize          size,
                   gpointer       to,
                   gconstpointer  from,
                   const gint32  *index,
                   gint64         n)
{
  switch (size)
    {
      GATHER (1, guint8)
      GATHER (2, guint16)
      GATHER (4, guint32)
      GATHER (8, guint64)
    default:
      for (gint64 i = 0; i < n; i++)
        memcpy ((char *) to + (gsize) i * size, (const char *) from + (gsize) index[i] * size, size);
    }
}

/* Dims behind the last changed axis move as one block. */
static void
resize_nearest (const VnResize      *self,
                const VnResizeTable *tables,
                const VnTensor      *in,
                VnTensor            *out,
                int                  last)
{
  gsize size = vn_elem_size (in->dtype), block = (gsize) vn_shape_count (&in->shape, last + 1, self->rank) * size;
  gsize out_row = (gsize) self->axes[last].out * block, n_rows = out->n_bytes / MAX (out_row, 1);
  gint64 strides[VN_MAX_RANK], index[VN_MAX_RANK] = { 0 };
  const char *previous = NULL;
  char *to = out->data;

  vn_shape_strides (&in->shape, strides);
  for (gsize row = 0; row < n_rows; row++, to += out_row)
    {
      const char *from = in->data;

      for (int d = 0; d < last; d++)
        from += (gsize) (tables[d].index[index[d]] * strides[d]) * size;
      if (from == previous)
        memcpy (to, to - out_row, out_row);
      else if (block == size)
        resize_gather_row (size, to, from, tables[last].index, self->axes[last].out);
      else
        for (gint64 i = 0; i < self->axes[last].out; i++)
          memcpy (to + (gsize) i * block, from + (gsize) tables[last].index[i] * block, block);
      previous = from;
      for (int d = last - 1; d >= 0 && ++index[d] == self->axes[d].out; d--)
        index[d] = 0;
    }
}

/* ---- linear and cubic ---- */

VN_MULTIVERSION
static void
resize_add_row (const float *x,
                float        weight,
                float       *y,
                gsize        n)
{
  for (gsize i = 0; i < n; i++)
    y[i] += weight * x[i];
}

VN_MULTIVERSION
static void
resize_blend_rows (const float *a,
                   float        weight_a,
                   const float *b,
                   float        weight_b,
                   float       *y,
                   gsize        n)
{
  for (gsize i = 0; i < n; i++)
    y[i] = weight_a * a[i] + weight_b * b[i];
}

/* Innermost axis: each output is a short dot product. */
static void
resize_pass_inner (const VnResizeTable *table,
                   const float         *x,
                   gsize                in,
                   float               *y,
                   gsize                out,
                   gsize                n_rows)
{
  guint taps = table->n_taps;

  for (gsize row = 0; row < n_rows; row++, x += in, y += out)
    for (gsize i = 0; i < out; i++)
      {
        const gint32 *index = table->index + i * taps;
        const float *weight = table->weight + i * taps;
        float sum = weight[0] * x[index[0]];

        for (guint k = 1; k < taps; k++)
          sum += weight[k] * x[index[k]];
        y[i] = sum;
      }
}

/* Any other axis: rows of @inner elements are blended. */
static void
resize_pass_outer (const VnResizeTable *table,
                   const float         *x,
                   gsize                in,
                   float               *y,
                   gsize                out,
                   gsize                n_outer,
                   gsize                inner)
{
  guint taps = table->n_taps;

  for (gsize o = 0; o < n_outer; o++, x += in * inner)
    for (gsize i = 0; i < out; i++, y += inner)
      {
        const gint32 *index = table->index + i * taps;
        const float *weight = table->weight + i * taps;

        resize_blend_rows (x + (gsize) index[0] * inner, weight[0], x + (gsize) index[1] * inner, weight[1], y, inner);
        for (guint k = 2; k < taps; k++)
          if (weight[k] != 0.f)
            resize_add_row (x + (gsize) index[k] * inner, weight[k], y, inner);
      }
}

/* Where the crop leaves the picture the value is fixed. */
static void
resize_set_outside (const VnResize      *self,
                    const VnResizeTable *tables,
                    float               *y,
                    gsize                n)
{
  gint64 index[VN_MAX_RANK] = { 0 };

  for (gsize i = 0; i < n; i++)
    {
      for (int d = 0; d < self->rank; d++)
        if (tables[d].outside[index[d]])
          y[i] = self->extrapolation;
      for (int d = self->rank - 1; d >= 0 && ++index[d] == self->axes[d].out; d--)
        index[d] = 0;
    }
}

static void
resize_widen (const VnTensor *in,
              float          *x)
{
  if (in->dtype == VN_DTYPE_F32 || (VN_HALF_BITS >> in->dtype & 1) != 0)
    vn_elem_to_float (in->dtype, in->data, x, in->n_elements);
  else
    for (gsize i = 0; i < in->n_elements; i++)
      x[i] = (float) vn_tensor_get_double (in, i);
}

/* Integers: saturated and truncated. */
static void
resize_narrow (const float *y,
               VnTensor    *out)
{
  gint64 min, max;

  if (out->dtype == VN_DTYPE_F32 || (VN_HALF_BITS >> out->dtype & 1) != 0)
    vn_elem_from_float (out->dtype, y, out->data, out->n_elements);
  else if (out->dtype == VN_DTYPE_F64)
    for (gsize i = 0; i < out->n_elements; i++)
      ((double *) out->data)[i] = y[i];
  else if (vn_dtype_integer_range (out->dtype, &min, &max))
    for (gsize i = 0; i < out->n_elements; i++)
      {
        double v = isnan (y[i]) ? 0 : y[i];
        gint64 integer = v <= (double) min ? min : v >= (double) max ? max : (gint64) v;

        memcpy ((char *) out->data + i * vn_elem_size (out->dtype), &integer, vn_elem_size (out->dtype));
      }
}

/* Elements after the passes of the axes from @first on. */
static gboolean
resize_elements_after (const VnResize *self,
                       int             first,
                       gsize          *n)
{
  *n = 1;
  for (int d = 0; d < self->rank; d++)
    if (!vn_checked_mul (*n, (gsize) (d < first ? self->axes[d].in : self->axes[d].out), n))
      return FALSE;
  return TRUE;
}

/**
 * vn_resize_scratch:
 * @bytes: (out): for vn_resize_compute(): tables, and two buffers for the passes
 *
 * Returns: %FALSE if the sizes do not fit into memory
 */
gboolean
vn_resize_scratch (const VnResize *self,
                   VnDType         dtype,
                   gsize          *bytes)
{
  gsize largest = 0, n, total = 0;

  for (int d = 0; d < self->rank; d++)
    if (!vn_checked_add (total, vn_resize_table_bytes (self, d), &total))
      return FALSE;
  for (int d = 0; self->mode != VN_RESIZE_NEAREST && d <= self->rank; d++)
    {
      if (!resize_elements_after (self, d, &n))
        return FALSE;
      largest = MAX (largest, n);
    }
  return vn_checked_mul (largest + 16, 2 * sizeof (float), &largest) && vn_checked_add (total, largest, bytes);
}

static void
resize_interpolate (const VnResize      *self,
                    const VnResizeTable *tables,
                    const VnTensor      *in,
                    VnTensor            *out,
                    float               *buffers,
                    gsize                buffer_size)
{
  gboolean is_f32 = in->dtype == VN_DTYPE_F32;
  float *spare = buffers, *target;
  const float *x = is_f32 ? in->data : spare;
  int first = 0;

  if (!is_f32)
    {
      resize_widen (in, spare);
      spare = buffers + buffer_size;
    }
  while (first < self->rank && !vn_resize_needs_pass (self, first))
    first++;
  for (int d = self->rank - 1; d >= first; d--)
    {
      gsize outer = 1, inner = 1, length = (gsize) self->axes[d].in, result = (gsize) self->axes[d].out;

      if (!vn_resize_needs_pass (self, d))
        continue;
      for (int e = 0; e < self->rank; e++)
        if (e < d)
          outer *= (gsize) self->axes[e].in;
        else if (e > d)
          inner *= (gsize) self->axes[e].out;
      target = is_f32 && d == first ? out->data : spare;
      if (inner == 1)
        resize_pass_inner (&tables[d], x, length, target, result, outer);
      else
        resize_pass_outer (&tables[d], x, length, target, result, outer, inner);
      spare = target == buffers ? buffers + buffer_size : buffers;
      x = target;
    }
  if (self->coord == VN_COORD_TF_CROP_AND_RESIZE && x != in->data)
    resize_set_outside (self, tables, (float *) x, out->n_elements);
  if (x != out->data)
    resize_narrow (x, out);
}

/* Nearest neighbours of a crop that leaves the picture. */
static void
resize_set_outside_elements (const VnResize      *self,
                             const VnResizeTable *tables,
                             VnTensor            *out)
{
  gint64 index[VN_MAX_RANK] = { 0 };
  VnTensor one = *out;

  one.n_elements = 1;
  for (gsize i = 0; i < out->n_elements; i++)
    {
      one.data = (char *) out->data + i * vn_elem_size (out->dtype);
      for (int d = 0; d < self->rank; d++)
        if (tables[d].outside[index[d]])
          resize_narrow (&self->extrapolation, &one);
      for (int d = self->rank - 1; d >= 0 && ++index[d] == self->axes[d].out; d--)
        index[d] = 0;
    }
}

/**
 * vn_resize_compute:
 * @scratch: of vn_resize_scratch()
 *
 * Resizes @in to @out; neither is empty.
 */
void
vn_resize_compute (const VnResize *self,
                   const VnTensor *in,
                   VnTensor       *out,
                   gpointer        scratch)
{
  VnResizeTable tables[VN_MAX_RANK];
  char *memory = scratch;
  gsize largest = 0, n = 0;
  int last = -1;

  for (int d = 0; d < self->rank; d++)
    {
      vn_resize_table_init (&tables[d], self, d, memory);
      memory += vn_resize_table_bytes (self, d);
      if (vn_resize_needs_pass (self, d))
        last = d;
    }
  for (int d = 0; d <= self->rank; d++)
    if (resize_elements_after (self, d, &n))
      largest = MAX (largest, n);
  if (last < 0)
    memcpy (out->data, in->data, in->n_bytes);
  else if (self->mode == VN_RESIZE_NEAREST)
    {
      resize_nearest (self, tables, in, out, last);
      if (self->coord == VN_COORD_TF_CROP_AND_RESIZE)
        resize_set_outside_elements (self, tables, out);
    }
  else if (vn_resize_is_bilinear (self, in->dtype))
    vn_resize_bilinear (self, &tables[self->rank - 2], &tables[self->rank - 1], in->data, out->data,
                        (gsize) vn_shape_count (&in->shape, 0, self->rank - 2));
  else
    resize_interpolate (self, tables, in, out, (float *) memory, largest + 16);
}
