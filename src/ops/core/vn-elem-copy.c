/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies of blocks with a stride per dim: the work of Transpose, Slice, Expand, Tile, Pad and their kin.
 *
 * Neighbouring dims that lie regularly on both sides are merged first, so a copy of contiguous memory is one memcpy
 * and a permutation of the last two dims is one matrix transposition, done in tiles that fit the cache. */
#include "vn-elem.h"
#include "vn-lanes.h"

#define TILE 16

/**
 * vn_copy_add_dim:
 * @n: length
 * @to_stride: step of the target, in elements
 * @from_stride: step of the source, in elements
 *
 * Appends a dim inside of those added before. There may be %VN_COPY_MAX_DIMS.
 */
void
vn_copy_add_dim (VnCopy *self,
                 gint64  n,
                 gint64  to_stride,
                 gint64  from_stride)
{
  g_return_if_fail (self->rank < VN_COPY_MAX_DIMS);

  self->dims[self->rank] = n;
  self->to[self->rank] = to_stride;
  self->from[self->rank] = from_stride;
  self->rank++;
}

/* Drops dims of 1 and merges what lies regularly; FALSE if there is nothing to copy. */
static gboolean
elem_copy_simplify (const VnCopy *self,
                    VnCopy       *out)
{
  out->rank = 0;
  for (int i = 0; i < self->rank; i++)
    {
      int last = out->rank - 1;

      if (self->dims[i] <= 0)
        return FALSE;
      if (self->dims[i] == 1)
        continue;
      if (last >= 0 && out->to[last] == self->to[i] * self->dims[i] && out->from[last] == self->from[i] * self->dims[i])
        {
          out->dims[last] *= self->dims[i];
          out->to[last] = self->to[i];
          out->from[last] = self->from[i];
        }
      else
        vn_copy_add_dim (out, self->dims[i], self->to[i], self->from[i]);
    }
  if (out->rank == 0)
    vn_copy_add_dim (out, 1, 1, 1);
  return TRUE;
}

/* Makes the dim where the source is contiguous the last but one, if the last one is where the target is. */
static gboolean
elem_copy_find_transposition (VnCopy *self)
{
  int last = self->rank - 1;

  if (self->rank < 2 || self->to[last] != 1 || self->from[last] == 1 || self->from[last] == 0)
    return FALSE;
  for (int i = 0; i < last; i++)
    if (self->from[i] == 1)
      {
        gint64 n = self->dims[i], to = self->to[i];

        for (int k = i; k + 1 < last; k++)
          {
            self->dims[k] = self->dims[k + 1];
            self->to[k] = self->to[k + 1];
            self->from[k] = self->from[k + 1];
          }
        self->dims[last - 1] = n;
        self->to[last - 1] = to;
        self->from[last - 1] = 1;
        return TRUE;
      }
  return FALSE;
}

typedef struct { guint64 low, high; } Pair;

/* copy_line: one line with strides. copy_tiles: rows × cols; the source is contiguous along rows, the target along cols. */
#define COPY_FUNCTIONS(type, suffix)                                                              \
  static void                                                                                     \
  copy_line_##suffix (type *to, gint64 to_stride, const type *from, gint64 from_stride, gint64 n) \
  {                                                                                               \
    if (to_stride == 1 && from_stride == 0)                                                       \
      {                                                                                           \
        const type value = *from;                                                                 \
        for (gint64 i = 0; i < n; i++)                                                            \
          to[i] = value;                                                                          \
      }                                                                                           \
    else if (to_stride == 1)                                                                      \
      for (gint64 i = 0; i < n; i++)                                                              \
        to[i] = from[i * from_stride];                                                            \
    else                                                                                          \
      for (gint64 i = 0; i < n; i++)                                                              \
        to[i * to_stride] = from[i * from_stride];                                                \
  }                                                                                               \
  static void                                                                                     \
  copy_tiles_##suffix (type *to, gint64 to_stride, const type *from, gint64 from_stride,          \
                       gint64 rows, gint64 cols)                                                  \
  {                                                                                               \
    for (gint64 r0 = 0; r0 < rows; r0 += TILE)                                                    \
      for (gint64 c0 = 0; c0 < cols; c0 += TILE)                                                  \
        for (gint64 r = r0; r < MIN (r0 + TILE, rows); r++)                                       \
          for (gint64 c = c0; c < MIN (c0 + TILE, cols); c++)                                     \
            to[r * to_stride + c] = from[c * from_stride + r];                                    \
  }

COPY_FUNCTIONS (guint8, 1)
COPY_FUNCTIONS (guint16, 2)
COPY_FUNCTIONS (guint32, 4)
COPY_FUNCTIONS (guint64, 8)
COPY_FUNCTIONS (Pair, 16)

/* Every second one of 4 bytes. */
VN_MULTIVERSION
static void
elem_copy_every_second (float       *to,
                        const float *from,
                        gint64       n)
{
  vn_lanes_copy_every (from, 2, n, 2 * n - 1, to);
}

/* As copy_tiles of 4 bytes, four times four at a time. */
static void
elem_copy_turn (float       *to,
                gint64       to_stride,
                const float *from,
                gint64       from_stride,
                gint64       rows,
                gint64       cols)
{
  gint64 whole_rows = rows & ~(gint64) 3, whole_cols = cols & ~(gint64) 3;

  for (gint64 r0 = 0; r0 < whole_rows; r0 += TILE)
    for (gint64 c0 = 0; c0 < whole_cols; c0 += TILE)
      for (gint64 r = r0; r < MIN (r0 + TILE, whole_rows); r += 4)
        for (gint64 c = c0; c < MIN (c0 + TILE, whole_cols); c += 4)
          vn_lanes_turn (from + c * from_stride + r, (gsize) from_stride, to + r * to_stride + c, (gsize) to_stride);
  copy_tiles_4 ((guint32 *) to + whole_cols, to_stride, (const guint32 *) from + whole_cols * from_stride, from_stride,
                whole_rows, cols - whole_cols);
  copy_tiles_4 ((guint32 *) to + whole_rows * to_stride, to_stride, (const guint32 *) from + whole_rows, from_stride,
                rows - whole_rows, cols);
}

static void
copy_line (gsize          size,
           gpointer       to,
           gint64         to_stride,
           gconstpointer  from,
           gint64         from_stride,
           gint64         n)
{
  if (to_stride == 1 && from_stride == 1)
    {
      memcpy (to, from, (gsize) n * size);
      return;
    }
  if (size == 4 && to_stride == 1 && from_stride == 2)
    {
      elem_copy_every_second (to, from, n);
      return;
    }
  switch (size)
    {
    case 1: copy_line_1 (to, to_stride, from, from_stride, n); break;
    case 2: copy_line_2 (to, to_stride, from, from_stride, n); break;
    case 4: copy_line_4 (to, to_stride, from, from_stride, n); break;
    case 8: copy_line_8 (to, to_stride, from, from_stride, n); break;
    case 16: copy_line_16 (to, to_stride, from, from_stride, n); break;
    default: g_assert_not_reached ();
    }
}

static void
copy_tiles (gsize          size,
            gpointer       to,
            gint64         to_stride,
            gconstpointer  from,
            gint64         from_stride,
            gint64         rows,
            gint64         cols)
{
  switch (size)
    {
    case 1: copy_tiles_1 (to, to_stride, from, from_stride, rows, cols); break;
    case 2: copy_tiles_2 (to, to_stride, from, from_stride, rows, cols); break;
    case 4: elem_copy_turn (to, to_stride, from, from_stride, rows, cols); break;
    case 8: copy_tiles_8 (to, to_stride, from, from_stride, rows, cols); break;
    case 16: copy_tiles_16 (to, to_stride, from, from_stride, rows, cols); break;
    default: g_assert_not_reached ();
    }
}

/**
 * vn_copy_run:
 * @elem_size: 1, 2, 4, 8 or 16 bytes
 * @to: where element 0 goes
 * @from: where element 0 is; the caller has checked that all strides stay inside
 *
 * Copies the block. Source and target must not overlap.
 */
void
vn_copy_run (const VnCopy  *self,
             gsize          elem_size,
             gpointer       to,
             gconstpointer  from)
{
  VnCopy c;
  gint64 index[VN_COPY_MAX_DIMS] = { 0 };
  gboolean transposed;
  int last, outer, d;
  char *out = to;
  const char *in = from;

  if (!elem_copy_simplify (self, &c))
    return;
  transposed = elem_copy_find_transposition (&c);
  last = c.rank - 1;
  outer = transposed ? last - 1 : last;
  do
    {
      if (transposed)
        copy_tiles (elem_size, out, c.to[last - 1], in, c.from[last], c.dims[last - 1], c.dims[last]);
      else
        copy_line (elem_size, out, c.to[last], in, c.from[last], c.dims[last]);

      for (d = outer - 1; d >= 0; d--)
        {
          out += c.to[d] * (gint64) elem_size;
          in += c.from[d] * (gint64) elem_size;
          if (++index[d] < c.dims[d])
            break;
          out -= c.to[d] * c.dims[d] * (gint64) elem_size;
          in -= c.from[d] * c.dims[d] * (gint64) elem_size;
          index[d] = 0;
        }
    }
  while (d >= 0);
}
