/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HannWindow, HammingWindow, BlackmanWindow: sums of cosines over a number of points. MelWeightMatrix: triangles that sum
 * up the bins of a spectrum into bands of equal width on the mel scale. */
#include "vn-number.h"

static gboolean
signal_window_output_type (VnOpContext  *ctx,
                           VnDType      *dtype,
                           GError      **error)
{
  gint64 number = vn_node_get_int (ctx->node, "output_datatype", VN_DTYPE_F32);

  *dtype = vn_dtype_is_valid (number) ? (VnDType) number : VN_DTYPE_UNDEFINED;
  if ((VN_NUMBER_BITS >> *dtype & 1) == 0)
    return vn_op_fail (ctx, error, _("%s: output_datatype is %lld, expected a numeric type"), ctx->op->type,
                       (long long) number);
  return TRUE;
}

static gboolean
window_infer (VnOpContext *ctx,
              GError     **error)
{
  gint64 size = VN_DIM_UNKNOWN;
  gboolean known;
  VnDType dtype;

  if (!signal_window_output_type (ctx, &dtype, error) || !vn_number_size (ctx, 0, 0, &size, &known, error))
    return FALSE;
  vn_op_set_output (ctx, 0, dtype, &VN_SHAPE (size));
  return TRUE;
}

/* y(n) = a0 - a1 cos (2 pi n / N) + a2 cos (4 pi n / N); N is one less for a symmetric window. */
static gboolean
signal_window_run_window (VnOpContext  *ctx,
                          const double  a[3])
{
  VnTensor *out = ctx->out[0];
  gsize n = out->n_elements;
  double period = vn_node_get_int (ctx->node, "periodic", 1) != 0 ? (double) n : (double) n - 1;

  for (gsize i = 0; i < n; i++)
    {
      double angle = period > 0 ? 2. * G_PI * (double) i / period : G_PI;

      vn_number_store (out->dtype, out->data, i, a[0] - a[1] * cos (angle) + a[2] * cos (2 * angle));
    }
  return TRUE;
}

static gboolean
signal_window_hann_window_run (VnOpContext *ctx,
                               GError     **error)
{
  return signal_window_run_window (ctx, (const double[]) { 0.5, 0.5, 0. });
}

static gboolean
signal_window_hamming_window_run (VnOpContext *ctx,
                                  GError     **error)
{
  return signal_window_run_window (ctx, (const double[]) { 25. / 46., 21. / 46., 0. });
}

static gboolean
signal_window_blackman_window_run (VnOpContext *ctx,
                                   GError     **error)
{
  return signal_window_run_window (ctx, (const double[]) { 0.42, 0.5, 0.08 });
}

#define WINDOW(id, type_)                                                       \
  const VnOp vn_op_##id##_17 = {                                                \
    .domain = "", .type = type_, .since = 17,                                   \
    .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,       \
    .dtypes = VN_DTYPE_BIT (S32) | VN_DTYPE_BIT (S64),                          \
    .family = VN_FAMILY_OTHER,                                                  \
    .infer = window_infer,                                                      \
    .run = signal_window_##id##_run,                                            \
  };

WINDOW (hann_window, "HannWindow")
WINDOW (hamming_window, "HammingWindow")
WINDOW (blackman_window, "BlackmanWindow")

/* ---- MelWeightMatrix ---- */

enum { BINS, LENGTH, RATE, LOWER, UPPER };

typedef struct
{
  gint64 bins, length, rate;
  double low, high;            /* mel */
} Mel;

static double
signal_window_to_mel (double hertz)
{
  return 2595. * log10 (1. + hertz / 700.);
}

static gboolean
signal_window_read_mel (VnOpContext  *ctx,
                        Mel          *self,
                        GError      **error)
{
  double lower = 0, upper = 0;
  gboolean known;

  *self = (Mel) { VN_DIM_UNKNOWN, VN_DIM_UNKNOWN, VN_DIM_UNKNOWN };
  if (!vn_number_size (ctx, BINS, 0, &self->bins, &known, error) ||
      !vn_number_size (ctx, LENGTH, 0, &self->length, &known, error) ||
      !vn_number_size (ctx, RATE, 1, &self->rate, &known, error) ||
      !vn_number_scalar (ctx, LOWER, &lower, &known, error) || !vn_number_scalar (ctx, UPPER, &upper, &known, error))
    return FALSE;
  self->low = signal_window_to_mel (lower);
  self->high = signal_window_to_mel (upper);
  return TRUE;
}

static gboolean
signal_window_mel_infer (VnOpContext *ctx,
                         GError     **error)
{
  VnDType dtype;
  Mel self;

  if (!signal_window_output_type (ctx, &dtype, error) || !signal_window_read_mel (ctx, &self, error))
    return FALSE;
  vn_op_set_output (ctx, 0, dtype, &VN_SHAPE (self.length >= 0 ? self.length / 2 + 1 : VN_DIM_UNKNOWN, self.bins));
  return TRUE;
}

/* Row of the spectrum where edge @i of the triangles lies. */
static gint64
signal_window_edge_row (const Mel *self,
                        gint64     i)
{
  double mel = self->low + (self->high - self->low) / (double) (self->bins + 2) * (double) i;
  double row = floor ((double) (self->length + 1) * 700. * (pow (10., mel / 2595.) - 1.) / (double) self->rate);

  return row >= 0 && row < (double) G_MAXINT32 ? (gint64) row : -1;
}

static gboolean
signal_window_mel_run (VnOpContext *ctx,
                       GError     **error)
{
  VnTensor *out = ctx->out[0];
  gint64 rows = out->shape.dims[0], bins = out->shape.dims[1];
  Mel self;

  if (!signal_window_read_mel (ctx, &self, error))
    return FALSE;
  memset (out->data, 0, out->n_bytes);
  for (gint64 b = 0; b < bins; b++)
    {
      gint64 low = signal_window_edge_row (&self, b), center = signal_window_edge_row (&self, b + 1),
      high = signal_window_edge_row (&self, b + 2);

      if (low < 0 || center < low || high < center || center >= rows || high > rows)
        return vn_op_fail (ctx, error,
                           _("MelWeightMatrix: band %lld goes from row %lld over %lld to %lld, the spectrum has %lld"),
                           (long long) b, (long long) low, (long long) center, (long long) high, (long long) rows);
      for (gint64 row = low; row < center; row++)
        vn_number_store (out->dtype, out->data, (gsize) (row * bins + b), (double) (row - low) / (double) (center - low));
      vn_number_store (out->dtype, out->data, (gsize) (center * bins + b), 1.);
      for (gint64 row = center + 1; row < high; row++)
        vn_number_store (out->dtype, out->data, (gsize) (row * bins + b), (double) (high - row) / (double) (high - center));
    }
  return TRUE;
}

const VnOp vn_op_mel_weight_matrix_17 = {
  .domain = "", .type = "MelWeightMatrix", .since = 17,
  .min_inputs = 5, .max_inputs = 5, .min_outputs = 1, .max_outputs = 1,
  .others = { [1] = VN_INDEX_BITS, [2] = VN_INDEX_BITS, [3] = VN_FLOAT_BITS, [4] = VN_FLOAT_BITS },
  .dtypes = VN_DTYPE_BIT (S32) | VN_DTYPE_BIT (S64),
  .family = VN_FAMILY_OTHER,
  .infer = signal_window_mel_infer,
  .run = signal_window_mel_run,
};
