/* SPDX-License-Identifier: GPL-3.0-or-later */
/* BFPQuantizeDequantize (com.amd.quark; BFPFixNeuron in com.vai.quantize): rounding to block floating point and back.
 *
 * The elements of a block along one axis share the largest exponent E of their numbers. With m = bit_width - 9 bits of
 * mantissa the step is 2^(E - (m - 1)), and results stay within 2^(E + 1) less one step. In the variant to_bfp_prime
 * each small sub-block may lower the exponent by up to 2^sub_block_shift_bits - 1. NaN and infinities pass through and
 * do not count for E.
 *
 * MXQuantizeDequantize (MXFixNeuron) is the same for the microscaling formats of the Open Compute Project: a block shares
 * the scale 2^(E - emax), and what is left of each element is rounded to a small float, or to an integer of 8 bits that
 * counts 2^-6. */
#include "vn-elem-private.h"

typedef enum { ROUND_HALF_AWAY, ROUND_HALF_UP, ROUND_HALF_EVEN } Rounding;

#define MAX_BLOCK 4096

typedef struct
{
  gboolean prime, through_bfloat;
  gint64   mantissa, block, sub_block, max_shift;
  Rounding rounding;
} Format;

static gboolean
get_format (VnOpContext *ctx,
            Format      *self,
            GError     **error)
{
  static const char * const methods[] = { "to_bfp", "to_bfp_prime", NULL };
  guint method = vn_op_attr_choice (ctx, "bfp_method", "to_bfp", methods, error);
  gint64 rounding = vn_node_get_int (ctx->node, "rounding_mode", ROUND_HALF_AWAY);
  gint64 shift_bits = vn_node_get_int (ctx->node, "sub_block_shift_bits", 1);

  if (method == G_MAXUINT)
    return FALSE;
  self->prime = method == 1;
  self->through_bfloat = vn_node_get_int (ctx->node, "convert_to_bfloat_before_bfp", 0) != 0;
  self->mantissa = CLAMP (vn_node_get_int (ctx->node, "bit_width", 16), 0, 99) - 9;
  self->block = vn_node_get_int (ctx->node, "block_size", 8);
  self->sub_block = vn_node_get_int (ctx->node, "sub_block_size", 2);
  if (self->mantissa < 1 || self->mantissa > 23 || self->block < 1 || self->block > MAX_BLOCK ||
      self->sub_block < 1 || shift_bits < 0 || shift_bits > 7 || rounding < 0 || rounding > ROUND_HALF_EVEN)
    return vn_op_fail (ctx, error,
                       _("%s: bit_width %lld, block_size %lld, sub_block_size %lld, sub_block_shift_bits %lld and "
                          "rounding_mode %lld make no number format"),
                       ctx->op->type, (long long) (self->mantissa + 9), (long long) self->block,
                       (long long) self->sub_block, (long long) shift_bits, (long long) rounding);
  self->max_shift = self->prime ? ((gint64) 1 << shift_bits) - 1 : 0;
  self->rounding = (Rounding) rounding;
  return TRUE;
}

/* Largest biased exponent of the numbers; 0 if there is none but zeros. */
static int
largest_exponent (const float *x,
                  gsize        n,
                  gsize        stride)
{
  int largest = 0;

  for (gsize i = 0; i < n; i++)
    {
      guint32 bits;
      int exponent;

      memcpy (&bits, x + i * stride, sizeof bits);
      exponent = (int) (bits >> 23 & 0xff);
      if (exponent != 0xff)
        largest = MAX (largest, exponent);
    }
  return largest;
}

static double
round_to (Rounding rounding,
          double   value)
{
  switch (rounding)
    {
    case ROUND_HALF_AWAY: return round (value);
    case ROUND_HALF_UP: return floor (value + 0.5);
    default: return rint (value);
    }
}

static void
round_block (const Format *self,
             int           exponent,
             const float  *x,
             float        *y,
             gsize         n,
             gsize         stride)
{
  double step = ldexp (1., exponent - 127 - (int) self->mantissa + 1);
  double limit = ldexp (1., exponent - 127 + 1) - step;

  for (gsize i = 0; i < n; i++)
    {
      float v = x[i * stride];
      double rounded;

      if (!isfinite (v))
        {
          y[i * stride] = v;
          continue;
        }
      rounded = round_to (self->rounding, (double) v / step) * step;
      y[i * stride] = (float) CLAMP (rounded, -limit, limit);
    }
}

static void
convert_block (const Format *self,
               const float  *x,
               float        *y,
               gsize         n,
               gsize         stride)
{
  int exponent;
  gsize piece = self->prime ? (gsize) self->sub_block : n;

  if (self->through_bfloat)
    {
      for (gsize i = 0; i < n; i++)
        y[i * stride] = vn_bfloat_to_float (vn_bfloat_from_float (x[i * stride]));
      x = y;
    }
  exponent = largest_exponent (x, n, stride);
  for (gsize i = 0; i < n; i += piece)
    {
      gsize length = MIN (piece, n - i);
      int own = self->prime ? largest_exponent (x + i * stride, length, stride) : exponent;
      int shift = MIN (exponent - own, (int) self->max_shift);

      round_block (self, exponent - shift, x + i * stride, y + i * stride, length, stride);
    }
}

/* ---- microscaling ---- */

/* @exponent: bits of the exponent, 0: an integer; @largest: in steps of 2^-6 for the integer */
typedef struct
{
  const char *name;
  int         exponent, mantissa, emax;
  double      largest;
} Element;

static const Element elements[] = {
  { "fp8_e5m2", 5, 2, 15, 57344 }, { "fp8_e4m3", 4, 3, 8, 448 }, { "fp6_e3m2", 3, 2, 4, 28 },
  { "fp6_e2m3", 2, 3, 2, 7.5 }, { "fp4_e2m1", 2, 1, 2, 6 }, { "int8", 0, 6, 0, 127 },
};

/* The nearest small float, ties to even. */
static double
round_element (const Element *element,
               double         value)
{
  int least = 2 - (1 << (element->exponent - 1)), exponent;
  double step, rounded;

  if (value == 0)
    return value;
  exponent = MAX (ilogb (value), least);
  step = ldexp (1., exponent - element->mantissa);
  rounded = rint (value / step) * step;
  return CLAMP (rounded, -element->largest, element->largest);
}

static void
convert_scaled (const Format  *self,
                const Element *element,
                const float   *x,
                float         *y,
                gsize          n,
                gsize          stride)
{
  double scale = ldexp (1., largest_exponent (x, n, stride) - 127 - element->emax);

  for (gsize i = 0; i < n; i++)
    {
      double value = (double) x[i * stride] / scale;

      if (!isfinite (x[i * stride]))
        y[i * stride] = x[i * stride];
      else if (element->exponent > 0)
        y[i * stride] = (float) (round_element (element, value) * scale);
      else
        {
          value = round_to (self->rounding, value * 64);
          y[i * stride] = (float) (CLAMP (value, -128, 127) / 64 * scale);
        }
    }
}

static const Element *
get_element (VnOpContext *ctx,
             Format      *format,
             GError     **error)
{
  g_autofree char *name = vn_node_dup_string (ctx->node, "element_dtype", "int8");
  gint64 rounding = vn_node_get_int (ctx->node, "rounding_mode", ROUND_HALF_AWAY);

  format->block = vn_node_get_int (ctx->node, "block_size", 32);
  format->rounding = (Rounding) rounding;
  if (format->block >= 1 && format->block <= MAX_BLOCK && rounding >= 0 && rounding <= ROUND_HALF_EVEN)
    for (guint i = 0; i < G_N_ELEMENTS (elements); i++)
      if (g_str_equal (name, elements[i].name))
        return &elements[i];
  vn_op_fail (ctx, error, _("%s: element_dtype “%s”, block_size %lld and rounding_mode %lld"
                            " make no number format"), ctx->op->type, name, (long long) format->block,
                            (long long) rounding);
  return NULL;
}

/* ---- blocks of a tensor ---- */

typedef struct
{
  Format         format;
  const Element *element;          /* (nullable): %NULL: block floating point */
  const float   *x;
  float         *y;
  gsize          dim, inner;
} Run;

static gboolean
run_init (Run          *self,
          VnOpContext  *ctx,
          int          *axis,
          GError      **error)
{
  const VnShape *shape = &ctx->in_types[0].shape;
  gboolean scaled = strstr (ctx->op->type, "MX") != NULL;

  self->element = scaled ? get_element (ctx, &self->format, error) : NULL;
  if (scaled ? self->element == NULL : !get_format (ctx, &self->format, error))
    return FALSE;
  *axis = 0;
  /* One axis is the only one, whatever the attribute says. */
  return shape->rank <= 1 || vn_op_axis (ctx, shape, vn_node_get_int (ctx->node, "axis", 1), axis, error);
}

static gboolean
bfp_infer (VnOpContext *ctx,
           GError     **error)
{
  Run run = { 0 };
  int axis;

  return run_init (&run, ctx, &axis, error) && vn_op_infer_same (ctx, error);
}

static void
convert_slice (gpointer data,
               gsize    item,
               guint    worker)
{
  const Run *self = data;
  gsize block = (gsize) self->format.block, base = item * self->dim * self->inner;

  for (gsize first = 0; first < self->dim; first += block)
    for (gsize i = 0; i < self->inner; i++)
      {
        gsize at = base + first * self->inner + i;

        if (self->element != NULL)
          convert_scaled (&self->format, self->element, self->x + at, self->y + at, MIN (block, self->dim - first),
                          self->inner);
        else
          convert_block (&self->format, self->x + at, self->y + at, MIN (block, self->dim - first), self->inner);
      }
}

static gboolean
bfp_run (VnOpContext *ctx,
         GError     **error)
{
  const VnTensor *in = ctx->in[0];
  Run self = { .x = in->data, .y = ctx->out[0]->data, .dim = 1, .inner = 1 };
  gsize outer = 1;
  int axis;

  if (in->dtype != VN_DTYPE_F32)
    return vn_op_unsupported (ctx, 0, error);
  if (!run_init (&self, ctx, &axis, error))
    return FALSE;
  if (in->n_elements == 1)
    {
      *self.y = *self.x;
      return TRUE;
    }
  if (in->shape.rank > 0)
    {
      outer = (gsize) vn_shape_count (&in->shape, 0, axis);
      self.dim = (gsize) in->shape.dims[axis];
      self.inner = (gsize) vn_shape_count (&in->shape, axis + 1, in->shape.rank);
    }
  if (in->n_elements > 0)
    vn_op_for_items (ctx, outer, 20. * (double) (self.dim * self.inner), convert_slice, &self);
  return TRUE;
}

#define BFP(variable, space, name)                                              \
  const VnOp variable = {                                                       \
    .domain = space, .type = name, .since = 1,                                  \
    .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,       \
    .dtypes = VN_DTYPE_BIT (F32),                                               \
    .family = VN_FAMILY_CONVERSION,                                             \
    .infer = bfp_infer,                                                         \
    .run = bfp_run,                                                             \
  };

BFP (vn_op_quark_bfp, "com.amd.quark", "BFPQuantizeDequantize")
BFP (vn_op_quark_bfp_vai, "com.vai.quantize", "BFPFixNeuron")
BFP (vn_op_quark_mx, "com.amd.quark", "MXQuantizeDequantize")
BFP (vn_op_quark_mx_vai, "com.vai.quantize", "MXFixNeuron")
