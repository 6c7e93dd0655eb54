/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Convolution as a matrix product: y (channels x pixels) = w (channels x depth) * columns (depth x pixels), where
 * a column holds what the kernel covers at one output pixel. Columns are made for a block of pixels at a time, so
 * that they stay in the cache; the blocks do not depend on the number of threads, so neither do the sums. */
#include "vn-conv.h"
#include "vn-gemm-general.h"

#define BLOCK 256

typedef struct
{
  const VnConv     *conv;
  const VnEpilogue *epilogue;
  const float      *x, *w;
  float            *y, *scratch;
  gsize             n_blocks;
  gboolean          direct;     /* the columns are the data themselves */
} Gemm;

static gboolean
conv_gemm_is_direct (const VnConv *self)
{
  const VnSlidingWindow *win = &self->window;

  for (int a = 0; a < 3; a++)
    if (win->kernel[a] != 1 || win->stride[a] != 1 || win->begin[a] != 0 || win->end[a] != 0)
      return FALSE;
  return TRUE;
}

/**
 * vn_conv_gemm_scratch:
 * @bytes: (out): memory the columns of all threads need
 *
 * Returns: %FALSE if that is too large to count
 */
gboolean
vn_conv_gemm_scratch (const VnConv *self,
                      gsize        *bytes)
{
  *bytes = 0;
  return conv_gemm_is_direct (self) ||
         (vn_checked_mul (self->depth, MIN (self->out_size, BLOCK) * sizeof (float), bytes) &&
          vn_checked_mul (*bytes, vn_op_max_workers (), bytes));
}

/* One row of columns: what tap @tap sees of a channel at the output pixels @first .. @first + @n - 1. */
typedef struct
{
  const VnSlidingWindow *win;
  gint64          tap[3];   /* depth, height, width of the tap, dilated, minus padding */
} Row;

/* Output pixels of one line: columns @ox .. @ox + n - 1. */
static void
conv_gemm_fill_line (const Row   *row,
                     const float *line,    /* NULL: outside the data */
                     gint64       ox,
                     gint64       n,
                     float       *to)
{
  const VnSlidingWindow *win = row->win;
  gint64 stride = win->stride[2], ix = ox * stride + row->tap[2];
  gint64 skip = ix < 0 ? MIN (n, (-ix + stride - 1) / stride) : 0;
  gint64 fit = ix >= win->in[2] ? 0 : MIN (n, (win->in[2] - 1 - ix) / stride + 1);

  if (line == NULL || fit <= skip)
    {
      memset (to, 0, n * sizeof (float));
      return;
    }
  memset (to, 0, skip * sizeof (float));
  if (stride == 1)
    memcpy (to + skip, line + ix + skip, (fit - skip) * sizeof (float));
  else if (stride == 2)
    for (gint64 i = skip; i < fit; i++)
      to[i] = line[ix + i * 2];
  else
    for (gint64 i = skip; i < fit; i++)
      to[i] = line[ix + i * stride];
  memset (to + fit, 0, (n - fit) * sizeof (float));
}

static void
conv_gemm_fill_row (const Row   *row,
                    const float *channel,
                    gint64       first,
                    gint64       n,
                    float       *to)
{
  const VnSlidingWindow *win = row->win;
  gint64 ox = first % win->out[2];
  gint64 oy = first / win->out[2] % win->out[1];
  gint64 oz = first / win->out[2] / win->out[1];

  while (n > 0)
    {
      gint64 iz = oz * win->stride[0] + row->tap[0];
      gint64 iy = oy * win->stride[1] + row->tap[1];
      gint64 run = MIN (n, win->out[2] - ox);
      gboolean inside = iz >= 0 && iz < win->in[0] && iy >= 0 && iy < win->in[1];

      conv_gemm_fill_line (row, inside ? channel + (iz * win->in[1] + iy) * win->in[2] : NULL, ox, run, to);
      to += run;
      n -= run;
      ox = 0;
      if (++oy == win->out[1])
        {
          oy = 0;
          oz++;
        }
    }
}

static void
conv_gemm_fill_columns (const VnConv *conv,
                        const float  *x,
                        gsize         first,
                        gsize         n,
                        float        *to)
{
  const VnSlidingWindow *win = &conv->window;
  Row row = { win };

  for (gsize c = 0; c < conv->in_channels; c++, x += conv->in_size)
    for (gint64 kz = 0; kz < win->kernel[0]; kz++)
      for (gint64 ky = 0; ky < win->kernel[1]; ky++)
        for (gint64 kx = 0; kx < win->kernel[2]; kx++, to += n)
          {
            row.tap[0] = kz * win->dilation[0] - win->begin[0];
            row.tap[1] = ky * win->dilation[1] - win->begin[1];
            row.tap[2] = kx * win->dilation[2] - win->begin[2];
            conv_gemm_fill_row (&row, x, (gint64) first, (gint64) n, to);
          }
}

static void
conv_gemm_run_block (gpointer data,
                     gsize    item,
                     guint    worker)
{
  const Gemm *self = data;
  const VnConv *conv = self->conv;
  gsize first = item % self->n_blocks * BLOCK, n = MIN (BLOCK, conv->out_size - first);
  gsize plane = item / self->n_blocks;   /* batch and group */
  gsize row = plane % conv->groups * conv->out_channels;
  const float *x = self->x + plane * conv->in_channels * conv->in_size;
  const float *w = self->w + row * conv->depth;
  float *y = self->y + plane * conv->out_channels * conv->out_size + first;

  if (self->direct)
    vn_gemm (conv->out_channels, n, conv->depth, w, conv->depth, x + first, conv->in_size, y, conv->out_size);
  else
    {
      float *columns = self->scratch + worker * conv->depth * MIN (conv->out_size, BLOCK);

      conv_gemm_fill_columns (conv, x, first, n, columns);
      vn_gemm (conv->out_channels, n, conv->depth, w, conv->depth, columns, n, y, conv->out_size);
    }
  vn_epilogue_apply (self->epilogue, y, row, conv->out_channels, n, conv->out_size);
}

/**
 * vn_conv_gemm_run:
 * @epilogue: added and applied to each block of results
 *
 * Any convolution. ctx->scratch must have the size vn_conv_gemm_scratch() tells.
 */
void
vn_conv_gemm_run (const VnConv      *self,
                  const VnOpContext *ctx,
                  const VnEpilogue  *epilogue,
                  const float       *x,
                  const float       *w,
                  float             *y)
{
  gsize n_blocks = (self->out_size + BLOCK - 1) / BLOCK;
  Gemm gemm = { self, epilogue, x, w, y, ctx->scratch, n_blocks, conv_gemm_is_direct (self) };

  vn_op_for_items (ctx, self->batch * self->groups * n_blocks,
                   (double) self->out_channels * self->depth * MIN (self->out_size, BLOCK) / 16, conv_gemm_run_block, &gemm);
}
