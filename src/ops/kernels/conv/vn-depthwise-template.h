/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Included several times by vn-conv-depthwise.c with TAPS_NAME, TAPS_TARGET, TAPS_LANES and TAPS_VECTORS: the sums of one channel.
 * TAPS_VECTORS vectors of each of ROWS lines are summed at a time, so that no sum waits for itself. */

typedef float TAPS_NAME (Lanes) __attribute__ ((vector_size (TAPS_LANES * sizeof (float)), aligned (4), may_alias));

/* From column @band of each of @n_rows lines on. */
TAPS_TARGET VN_INLINE void
TAPS_NAME (sum_taps) (const float       *band,
                      const gsize       *taps,
                      const float       *w,
                      int                n_taps,
                      float              bias,
                      gsize              line_pitch,
                      int                n_rows,
                      int                vectors,
                      TAPS_NAME (Lanes)  sum[ROWS][TAPS_VECTORS])
{
  for (int r = 0; r < n_rows; r++)
    for (int v = 0; v < vectors; v++)
      sum[r][v] = (TAPS_NAME (Lanes)) { 0 } + bias;
  for (int t = 0; t < n_taps; t++)
    for (int r = 0; r < n_rows; r++)
      for (int v = 0; v < vectors; v++)
        sum[r][v] += w[t] * *(const TAPS_NAME (Lanes) *) (band + taps[t] + r * line_pitch + v * TAPS_LANES);
}

/* What is computed at a time is stored whole, if a line is narrower: the next line overwrites what is too much; only at the end of
 * the channel, @room floats away, the store must be exact. Wider lines end with what overlaps that before. */
TAPS_TARGET VN_INLINE void
TAPS_NAME (compute_rows) (const float *band,
                          const gsize *taps,
                          const float *w,
                          int          n_taps,
                          float        bias,
                          gsize        line_pitch,
                          int          n_rows,
                          int          vectors,
                          float       *y,
                          gsize        width,
                          gsize        room)
{
  const gsize step = (gsize) vectors * TAPS_LANES;
  TAPS_NAME (Lanes) sum[ROWS][TAPS_VECTORS];

  for (gsize i = 0; i < width; i += step)
    {
      gsize at = width >= step ? MIN (i, width - step) : 0;

      TAPS_NAME (sum_taps) (band + at, taps, w, n_taps, bias, line_pitch, n_rows, vectors, sum);
      for (int r = 0; r < n_rows; r++)
        for (int v = 0; v < vectors; v++)
          {
            gsize offset = (gsize) r * width + at + (gsize) v * TAPS_LANES;

            if (room - offset >= TAPS_LANES)
              *(TAPS_NAME (Lanes) *) (y + offset) = sum[r][v];
            else
              memcpy (y + offset, &sum[r][v], (room - offset) * sizeof (float));
          }
    }
}

TAPS_TARGET VN_INLINE void
TAPS_NAME (compute_lines) (const float *band,
                           const gsize *taps,
                           const float *w,
                           int          n_taps,
                           float        bias,
                           gsize        line_pitch,
                           gsize        n_lines,
                           int          vectors,
                           float       *y,
                           gsize        width,
                           gsize        room)
{
  for (gsize i = 0; i < n_lines && n_lines >= ROWS; i += ROWS)
    {
      gsize at = MIN (i, n_lines - ROWS);   /* the last group overlaps the one before */

      TAPS_NAME (compute_rows) (band + at * line_pitch, taps, w, n_taps, bias, line_pitch, ROWS, vectors, y + at * width, width,
                                room - at * width);
    }
  for (gsize i = 0; i < n_lines && n_lines < ROWS; i++)
    TAPS_NAME (compute_rows) (band + i * line_pitch, taps, w, n_taps, bias, line_pitch, 1, vectors, y + i * width, width,
                              room - i * width);
}

/* With the common numbers of taps known, and one vector where that is all of a line. */
TAPS_TARGET static void
TAPS_NAME (compute_taps) (const float *band,
                          const gsize *taps,
                          const float *w,
                          int          n_taps,
                          float        bias,
                          gsize        line_pitch,
                          gsize        n_lines,
                          float       *y,
                          gsize        width,
                          gsize        room)
{
  if (width <= TAPS_LANES && n_taps == 9)
    TAPS_NAME (compute_lines) (band, taps, w, 9, bias, line_pitch, n_lines, 1, y, width, room);
  else if (width <= TAPS_LANES)
    TAPS_NAME (compute_lines) (band, taps, w, n_taps, bias, line_pitch, n_lines, 1, y, width, room);
  else if (n_taps == 9)
    TAPS_NAME (compute_lines) (band, taps, w, 9, bias, line_pitch, n_lines, TAPS_VECTORS, y, width, room);
  else if (n_taps == 25)
    TAPS_NAME (compute_lines) (band, taps, w, 25, bias, line_pitch, n_lines, TAPS_VECTORS, y, width, room);
  else
    TAPS_NAME (compute_lines) (band, taps, w, n_taps, bias, line_pitch, n_lines, TAPS_VECTORS, y, width, room);
}

#undef TAPS_NAME
#undef TAPS_TARGET
#undef TAPS_LANES
#undef TAPS_VECTORS
