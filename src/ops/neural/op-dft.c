/* SPDX-License-Identifier: GPL-3.0-or-later */
/* DFT along one axis, of real or complex numbers (last dim 1 or 2); STFT: of windowed pieces of a signal. */
#include "vn-fft.h"
#include "vn-number.h"

typedef struct
{
  int      axis;
  gint64   length;      /* VN_DIM_UNKNOWN while the axis or the length is */
  gboolean inverse, onesided;
} Dft;

/* @known: (out): whether the axis is; axis and length are left alone if not */
static gboolean
dft_read_dft (VnOpContext *ctx,
              Dft         *self,
              gboolean    *known,
              GError     **error)
{
  const VnShape *x = &ctx->in_types[0].shape;
  gboolean known_length, has_length = vn_op_has_input (ctx, 1);
  gint64 axis = ctx->opset < 20 ? vn_node_get_int (ctx->node, "axis", 1) : -2, last, dim;

  *self = (Dft) { .length = VN_DIM_UNKNOWN, .inverse = vn_node_get_int (ctx->node, "inverse", 0) != 0,
                  .onesided = vn_node_get_int (ctx->node, "onesided", 0) != 0 };
  *known = TRUE;
  if (!vn_number_size (ctx, 1, 1, &self->length, &known_length, error))
    return FALSE;
  if (ctx->opset >= 20 && vn_op_has_input (ctx, 2))
    {
      if (!vn_number_size (ctx, 2, G_MININT32, &axis, known, error))
        return FALSE;
      if (!*known)
        return TRUE;
    }
  if (!vn_op_axis (ctx, x, axis, &self->axis, error))
    return FALSE;
  last = x->dims[x->rank - 1];
  if (self->axis == x->rank - 1 || (last >= 0 && last != 1 && last != 2))
    return vn_op_fail (ctx, error, _("DFT: axis %d of %d dims, the last of %lld (1 for real, 2 for complex "
                                     "numbers)"), self->axis, x->rank, (long long) last);
  if (self->onesided && last >= 0 && last != (self->inverse ? 2 : 1))
    return vn_op_fail (ctx, error, _("DFT: onesided requires real input, or complex input for the inverse"));
  dim = x->dims[self->axis];
  if (!has_length && dim >= 0)
    self->length = self->onesided && self->inverse && dim <= G_MAXINT32 ? 2 * (dim - 1) : dim;
  if (self->length > G_MAXINT32 || (dim >= 0 && !has_length && self->length < 1))
    return vn_op_fail (ctx, error, _("DFT: an axis of %lld elements cannot be transformed"), (long long) dim);
  return TRUE;
}

/* One line of complex numbers, then what the transform needs. */
static gboolean
dft_scratch (VnOpContext *ctx,
             gint64       length,
             GError     **error)
{
  gsize line;

  if (vn_fft_scratch ((gsize) length, &ctx->scratch_bytes) && vn_checked_mul ((gsize) length, 2 * sizeof (double), &line) &&
      vn_checked_add (ctx->scratch_bytes, line, &ctx->scratch_bytes))
    return TRUE;
  return vn_op_fail (ctx, error, _("%s: a length of %lld does not fit in memory"), ctx->op->type, (long long) length);
}

static gboolean
dft_infer (VnOpContext *ctx,
           GError     **error)
{
  VnShape y = ctx->in_types[0].shape;
  gboolean known;
  Dft self;

  if (y.rank >= 0)
    {
      if (y.rank < 2)
        return vn_op_fail (ctx, error, _("DFT: input rank is %d, expected at least 2"), y.rank);
      if (!dft_read_dft (ctx, &self, &known, error))
        return FALSE;
      if (known)
        y.dims[self.axis] = self.onesided && !self.inverse && self.length >= 0 ? self.length / 2 + 1 : self.length;
      else if (ctx->numbers == NULL || vn_op_has_input (ctx, 1) || self.onesided)
        for (int d = 0; d < y.rank - 1; d++)
          y.dims[d] = VN_DIM_UNKNOWN;
      y.dims[y.rank - 1] = self.onesided && self.inverse ? 1 : 2;
      if (known && self.length > 0 && !dft_scratch (ctx, self.length, error))
        return FALSE;
    }
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &y);
  return TRUE;
}

typedef struct
{
  const VnTensor *x;
  gsize first, step, n;      /* elements of the line, in the input */
} Source;

static void
dft_load_line (const Source *from,
               double       *line,
               gsize         length)
{
  gsize parts = (gsize) from->x->shape.dims[from->x->shape.rank - 1];

  memset (line, 0, 2 * length * sizeof (double));
  for (gsize i = 0; i < MIN (from->n, length); i++)
    for (gsize part = 0; part < parts; part++)
      line[2 * i + part] = vn_tensor_get_double (from->x, (from->first + i * from->step) * parts + part);
}

/* The half that a real signal's spectrum lacks: the conjugate of the other, whose ends are real. */
static void
dft_complete (double *line,
              gsize   length)
{
  line[1] = 0.;
  if (length % 2 == 0)
    line[length + 1] = 0.;
  for (gsize i = 1; i < (length + 1) / 2; i++)
    {
      line[2 * (length - i)] = line[2 * i];
      line[2 * (length - i) + 1] = -line[2 * i + 1];
    }
}

static void
dft_store_line (VnTensor     *y,
                const double *line,
                gsize         first,
                gsize         step,
                gsize         n)
{
  gsize parts = (gsize) y->shape.dims[y->shape.rank - 1];

  for (gsize i = 0; i < n; i++)
    for (gsize part = 0; part < parts; part++)
      vn_number_store (y->dtype, y->data, (first + i * step) * parts + part, line[2 * i + part]);
}

static gboolean
dft_run (VnOpContext *ctx,
         GError     **error)
{
  const VnShape *x = &ctx->in[0]->shape;
  VnTensor *y = ctx->out[0];
  gsize inner, n_out, length;
  double *line = ctx->scratch;
  gboolean known;
  VnFft fft;
  Dft self;

  if ((VN_FLOAT_BITS >> y->dtype & 1) == 0)
    return vn_op_unsupported (ctx, 0, error);
  if (!dft_read_dft (ctx, &self, &known, error))
    return FALSE;
  if (!known || self.length < 1)
    return vn_op_fail (ctx, error, _("DFT: axis or length is unknown"));
  if (y->n_elements == 0)
    return TRUE;
  length = (gsize) self.length;
  inner = (gsize) vn_shape_count (x, self.axis + 1, x->rank - 1);
  n_out = (gsize) y->shape.dims[self.axis];
  vn_fft_init (&fft, length, line + 2 * length);
  for (gsize i = 0; i < (gsize) vn_shape_count (x, 0, self.axis) * inner; i++)
    {
      gsize n = (gsize) x->dims[self.axis];
      Source from = { ctx->in[0], i / inner * n * inner + i % inner, inner,
                      self.onesided && self.inverse ? MIN (n, length / 2 + 1) : n };

      dft_load_line (&from, line, length);
      if (self.onesided && self.inverse)
        dft_complete (line, length);
      vn_fft_run (&fft, line, self.inverse);
      dft_store_line (y, line, i / inner * n_out * inner + i % inner, inner, n_out);
    }
  return TRUE;
}

const VnOp vn_op_dft_17 = {
  .domain = "", .type = "DFT", .since = 17,
  .min_inputs = 1, .max_inputs = 3, .min_outputs = 1, .max_outputs = 1,
  .others = { [1] = VN_INDEX_BITS, [2] = VN_INDEX_BITS },
  .dtypes = VN_FULL_FLOAT_BITS,
  .stand_ins = VN_STAND_IN_HALVES,
  .family = VN_FAMILY_OTHER,
  .infer = dft_infer,
  .run = dft_run,
};

/* ---- STFT ---- */

enum { SIGNAL, STEP, WINDOW, LENGTH };

typedef struct
{
  gint64   step, length;     /* VN_DIM_UNKNOWN while they are */
  gboolean onesided;
} Stft;

static gboolean
dft_read_stft (VnOpContext *ctx,
               Stft        *self,
               GError     **error)
{
  const VnShape *x = &ctx->in_types[SIGNAL].shape;
  const VnShape *window = vn_op_has_input (ctx, WINDOW) ? &ctx->in_types[WINDOW].shape : NULL;
  gboolean known;

  *self = (Stft) { VN_DIM_UNKNOWN, VN_DIM_UNKNOWN, vn_node_get_int (ctx->node, "onesided", 1) != 0 };
  if (!vn_number_size (ctx, STEP, 1, &self->step, &known, error) ||
      !vn_number_size (ctx, LENGTH, 1, &self->length, &known, error))
    return FALSE;
  if (window != NULL && window->rank >= 0 && window->rank != 1)
    return vn_op_fail (ctx, error, _("STFT: the window has %d dims, expected 1"), window->rank);
  if (!vn_op_has_input (ctx, LENGTH))
    self->length = window != NULL ? (window->rank == 1 ? window->dims[0] : VN_DIM_UNKNOWN) : x->rank >= 2
                   ? x->dims[1] : VN_DIM_UNKNOWN;
  if (self->length == 0 || self->length > G_MAXINT32 ||
      (self->length > 0 && window != NULL && window->rank == 1 && window->dims[0] >= 0 && window->dims[0] != self->length))
    return vn_op_fail (ctx, error, _("STFT: the frame has %lld elements, but the window has %lld"),
                       (long long) self->length, (long long) (window != NULL ? window->dims[0] : 0));
  if (x->rank >= 0 && ((x->rank != 3 && x->rank != 2) || (x->rank == 3 && x->dims[2] >= 0 && x->dims[2] != 1 && x->dims[2] != 2)))
    return vn_op_fail (ctx, error, _("STFT: the signal must be [batch, length, 1 or 2], found %d dims"), x->rank);
  if (x->rank == 3 && x->dims[2] == 2 && self->onesided)
    return vn_op_fail (ctx, error, _("STFT: onesided requires a real signal"));
  if (x->rank >= 2 && x->dims[1] >= 0 && self->length > x->dims[1])
    return vn_op_fail (ctx, error, _("STFT: the frame has %lld elements, but the signal has %lld"),
                       (long long) self->length, (long long) x->dims[1]);
  return TRUE;
}

static gboolean
dft_stft_infer (VnOpContext *ctx,
                GError     **error)
{
  const VnShape *x = &ctx->in_types[SIGNAL].shape;
  VnShape y = VN_SHAPE (VN_DIM_UNKNOWN, VN_DIM_UNKNOWN, VN_DIM_UNKNOWN, 2);
  Stft self;

  if (!dft_read_stft (ctx, &self, error))
    return FALSE;
  if (x->rank >= 2)
    y.dims[0] = x->dims[0];
  if (x->rank >= 2 && x->dims[1] >= 0 && self.step > 0 && self.length > 0)
    y.dims[1] = (x->dims[1] - self.length) / self.step + 1;
  if (self.length > 0)
    {
      y.dims[2] = self.onesided ? self.length / 2 + 1 : self.length;
      if (!dft_scratch (ctx, self.length, error))
        return FALSE;
    }
  vn_op_set_output (ctx, 0, ctx->in_types[SIGNAL].dtype, &y);
  return TRUE;
}

static gboolean
dft_stft_run (VnOpContext *ctx,
              GError     **error)
{
  const VnShape *x = &ctx->in[SIGNAL]->shape;
  const VnTensor *window = vn_op_has_input (ctx, WINDOW) ? ctx->in[WINDOW] : NULL;
  VnTensor *y = ctx->out[0];
  gsize frames = (gsize) y->shape.dims[1], bins = (gsize) y->shape.dims[2], parts = x->rank == 3 ? (gsize) x->dims[2] : 1, n;
  double *line = ctx->scratch;
  Stft self;
  VnFft fft;

  if ((VN_FLOAT_BITS >> y->dtype & 1) == 0)
    return vn_op_unsupported (ctx, 0, error);
  if (!dft_read_stft (ctx, &self, error))
    return FALSE;
  if (self.length < 1 || self.step < 1)
    return vn_op_fail (ctx, error, _("STFT: the frame length or step is unknown"));
  n = (gsize) self.length;
  vn_fft_init (&fft, n, line + 2 * n);
  for (gsize i = 0; i < (gsize) x->dims[0] * frames; i++)
    {
      gsize first = i / frames * (gsize) x->dims[1] + i % frames * (gsize) self.step;

      memset (line, 0, 2 * n * sizeof (double));
      for (gsize k = 0; k < n; k++)
        for (gsize part = 0; part < parts; part++)
          line[2 * k + part] = vn_tensor_get_double (ctx->in[SIGNAL], (first + k) * parts + part) *
                               (window != NULL ? vn_tensor_get_double (window, k) : 1.);
      vn_fft_run (&fft, line, FALSE);
      dft_store_line (y, line, i * bins, 1, bins);
    }
  return TRUE;
}

const VnOp vn_op_stft_17 = {
  .domain = "", .type = "STFT", .since = 17,
  .min_inputs = 2, .max_inputs = 4, .min_outputs = 1, .max_outputs = 1,
  .others = { [1] = VN_INDEX_BITS, [3] = VN_INDEX_BITS },
  .dtypes = VN_FULL_FLOAT_BITS, .same_dtype = 1u << WINDOW,
  .stand_ins = VN_STAND_IN_HALVES,
  .family = VN_FAMILY_OTHER,
  .infer = dft_stft_infer,
  .run = dft_stft_run,
};
