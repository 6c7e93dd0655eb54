/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Unfolding images into columns, and adding columns back to the image they came from. A line is a row of outputs. */
#include "vn-columns.h"

/**
 * vn_columns_is_plain:
 *
 * Returns: whether each output sees just the input at its own place: columns are the image
 */
gboolean
vn_columns_is_plain (const VnSlidingWindow *window)
{
  g_return_val_if_fail (window != NULL, FALSE);

  for (int a = 0; a < 3; a++)
    if (window->kernel[a] != 1 || window->stride[a] != 1 || window->begin[a] != 0 || window->in[a] != window->out[a])
      return FALSE;
  return TRUE;
}

/**
 * vn_columns_n_lines:
 * @depth: rows of the columns
 *
 * Returns: how many lines to do at a time; at least 1
 */
gsize
vn_columns_n_lines (const VnSlidingWindow *window,
                    gsize                  depth)
{
  gsize line;

  g_return_val_if_fail (window != NULL, 1);

  line = depth * (gsize) MAX (window->out[2], 1);
  return CLAMP (VN_COLUMNS_CHUNK / MAX (line, 1), 1, (gsize) (window->out[0] * window->out[1]));
}

/* Outputs first .. last - 1 of a line whose tap at @offset lies inside of the image. */
static void
columns_find_inside (const VnSlidingWindow *window,
                     gint64                 offset,
                     gint64                *first,
                     gint64                *last)
{
  gint64 stride = window->stride[2], out = window->out[2];

  *first = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
  *last = window->in[2] - offset <= 0 ? 0 : (window->in[2] - offset + stride - 1) / stride;
  *first = MIN (*first, out);
  *last = CLAMP (*last, *first, out);
}

VN_INLINE void
columns_unfold_line (const VnSlidingWindow *window,
                     const float           *row,
                     gint64                 offset,
                     float                 *to)
{
  gint64 stride = window->stride[2], first, last;

  columns_find_inside (window, offset, &first, &last);
  if (row == NULL)
    first = last = window->out[2];
  memset (to, 0, sizeof *to * (gsize) first);
  if (stride == 1)
    memcpy (to + first, row + first + offset, sizeof *to * (gsize) (last - first));
  else
    for (gint64 i = first; i < last; i++)
      to[i] = row[i * stride + offset];
  memset (to + last, 0, sizeof *to * (gsize) (window->out[2] - last));
}

VN_INLINE void
columns_fold_line (const VnSlidingWindow *window,
                   float                 *row,
                   gint64                 offset,
                   const float           *from)
{
  gint64 stride = window->stride[2], first, last;

  if (row == NULL)
    return;
  columns_find_inside (window, offset, &first, &last);
  if (stride == 1)
    for (gint64 i = first; i < last; i++)
      row[i + offset] += from[i];
  else
    for (gint64 i = first; i < last; i++)
      row[i * stride + offset] += from[i];
}

/* Index of the first element of the row of the image that a tap sees in a line, or -1. */
static gint64
columns_find_row (const VnSlidingWindow *window,
                  gsize                  line,
                  gint64                 kd,
                  gint64                 kh)
{
  gint64 d = (gint64) line / window->out[1] * window->stride[0] - window->begin[0] + kd * window->dilation[0];
  gint64 h = (gint64) line % window->out[1] * window->stride[1] - window->begin[1] + kh * window->dilation[1];

  if (d < 0 || d >= window->in[0] || h < 0 || h >= window->in[1])
    return -1;
  return (d * window->in[1] + h) * window->in[2];
}

/* Visits all lines of all taps of all channels; @image is read, or added to. */
#define DEFINE_PASS(name, Image, Columns, do_line)                                                                 \
VN_MULTIVERSION static void                                                                                        \
columns_##name (const VnSlidingWindow *window, gsize channels, gsize first_line, gsize n_lines, Image image,       \
                Columns columns)                                                                                   \
{                                                                                                                  \
  gsize size = (gsize) (window->in[0] * window->in[1] * window->in[2]), width = (gsize) window->out[2];            \
                                                                                                                   \
  for (gsize c = 0; c < channels; c++)                                                                             \
    for (gint64 kd = 0; kd < window->kernel[0]; kd++)                                                              \
      for (gint64 kh = 0; kh < window->kernel[1]; kh++)                                                            \
        for (gint64 kw = 0; kw < window->kernel[2]; kw++)                                                          \
          for (gsize line = 0; line < n_lines; line++, columns += width)                                           \
            {                                                                                                      \
              gint64 row = columns_find_row (window, first_line + line, kd, kh);                                   \
                                                                                                                   \
              do_line (window, row >= 0 ? image + c * size + row : NULL,                                           \
                       kw * window->dilation[2] - window->begin[2], columns);                                      \
            }                                                                                                      \
}

DEFINE_PASS (unfold_all, const float *, float *, columns_unfold_line)
DEFINE_PASS (fold_all, float *, const float *, columns_fold_line)

/**
 * vn_columns_unfold:
 * @first_line, @n_lines: rows of outputs
 * @image: @channels images
 * @columns: (out caller-allocates): (channels × kernel) × (n_lines × width of the output)
 */
void
vn_columns_unfold (const VnSlidingWindow *window,
                   gsize                  channels,
                   gsize                  first_line,
                   gsize                  n_lines,
                   const float           *image,
                   float                 *columns)
{
  g_return_if_fail (window != NULL && image != NULL && columns != NULL);

  columns_unfold_all (window, channels, first_line, n_lines, image, columns);
}

/**
 * vn_columns_fold:
 *
 * The other way round: adds each number of @columns to where vn_columns_unfold() took it from.
 */
void
vn_columns_fold (const VnSlidingWindow *window,
                 gsize                  channels,
                 gsize                  first_line,
                 gsize                  n_lines,
                 const float           *columns,
                 float                 *image)
{
  g_return_if_fail (window != NULL && image != NULL && columns != NULL);

  columns_fold_all (window, channels, first_line, n_lines, image, columns);
}
