/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Included several times by vn-conv-depthwise.c with TAPS_NAME, TAPS_TARGET, TAPS_LANES and TAPS_VECTORS: the sums of one
 * channel. TAPS_VECTORS vectors of each of ROWS lines are summed at a time, so that no sum waits for itself. What is passed by
 * value stays in registers, whatever is written to the output. */

typedef float TAPS_NAME (Lanes) __attribute__ ((vector_size (TAPS_LANES * sizeof (float)), aligned (4), may_alias));

/* From @band on, of each of @n_rows lines. */
TAPS_TARGET VN_INLINE void
TAPS_NAME (sum_taps) (Taps               self,
                      int                n_taps,
                      const float       *band,
                      int                n_rows,
                      int                vectors,
                      TAPS_NAME (Lanes)  sum[ROWS][TAPS_VECTORS])
{
  for (int r = 0; r < n_rows; r++)
    for (int v = 0; v < vectors; v++)
      sum[r][v] = (TAPS_NAME (Lanes)) { 0 } + self.bias;
  for (int t = 0; t < n_taps; t++)
    for (int r = 0; r < n_rows; r++)
      for (int v = 0; v < vectors; v++)
        sum[r][v] += self.w[t] * *(const TAPS_NAME (Lanes) *) (band + self.offsets[t] + r * self.line_pitch + v * TAPS_LANES);
}

/* What is computed at a time is stored whole, if a line is narrower: the next line overwrites what is too much; only at the end
 * of the channel, @room floats away, the store must be exact. Wider lines end with what overlaps that before. */
TAPS_TARGET VN_INLINE void
TAPS_NAME (compute_rows) (Taps         self,
                          int          n_taps,
                          const float *band,
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

      TAPS_NAME (sum_taps) (self, n_taps, band + at, n_rows, vectors, sum);
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
TAPS_NAME (compute_lines) (Taps   self,
                           int    n_taps,
                           int    vectors,
                           gsize  n_lines,
                           float *y,
                           gsize  width,
                           gsize  room)
{
  for (gsize i = 0; i < n_lines && n_lines >= ROWS; i += ROWS)
    {
      gsize at = MIN (i, n_lines - ROWS);   /* the last group overlaps the one before */

      TAPS_NAME (compute_rows) (self, n_taps, self.band + at * self.line_pitch, ROWS, vectors, y + at * width, width,
                                room - at * width);
    }
  for (gsize i = 0; i < n_lines && n_lines < ROWS; i++)
    TAPS_NAME (compute_rows) (self, n_taps, self.band + i * self.line_pitch, 1, vectors, y + i * width, width, room - i * width);
}

/* With the common numbers of taps known, and one vector where that is all of a line. */
TAPS_TARGET static void
TAPS_NAME (compute_taps) (const Taps *self,
                          gsize       n_lines,
                          float      *y,
                          gsize       width,
                          gsize       room)
{
  if (width <= TAPS_LANES && self->n == 9)
    TAPS_NAME (compute_lines) (*self, 9, 1, n_lines, y, width, room);
  else if (width <= TAPS_LANES)
    TAPS_NAME (compute_lines) (*self, self->n, 1, n_lines, y, width, room);
  else if (self->n == 9)
    TAPS_NAME (compute_lines) (*self, 9, TAPS_VECTORS, n_lines, y, width, room);
  else if (self->n == 25)
    TAPS_NAME (compute_lines) (*self, 25, TAPS_VECTORS, n_lines, y, width, room);
  else
    TAPS_NAME (compute_lines) (*self, self->n, TAPS_VECTORS, n_lines, y, width, room);
}

#undef TAPS_NAME
#undef TAPS_TARGET
#undef TAPS_LANES
#undef TAPS_VECTORS
