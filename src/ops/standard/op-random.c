/* SPDX-License-Identifier: GPL-3.0-or-later */
/* RandomNormal, RandomUniform, their “Like” forms, Bernoulli and Multinomial.
 *
 * Number i of a node depends on the node's key and on i alone: the bits of the attribute “seed”, or without it the name
 * of the node's first output, make the key, and the finalizer of SplitMix64 (Steele, Lea, Flood: Fast splittable
 * pseudorandom number generators, 2014) makes 53 bits of key + i * golden ratio. So every run repeats the one before,
 * with any number of threads. */
#include "vn-elem.h"

#define GOLDEN G_GUINT64_CONSTANT (0x9e3779b97f4a7c15)
#define BLOCK 256

typedef struct _Random Random;

struct _Random
{
  guint64         key;
  double          a, b;       /* low and high - low; mean and scale */
  const VnTensor *in;
  VnTensor       *out;
  double        (*draw) (const Random *self,
                         gsize         i);
};

static guint64
random_mix (guint64 x)
{
  x = (x ^ x >> 30) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return x ^ x >> 31;
}

static guint64
random_get_key (VnOpContext *ctx)
{
  const VnValue *value = vn_node_get_output (ctx->node, 0);
  guint64 key = 0;

  if (vn_node_get_attr (ctx->node, "seed") != NULL)
    {
      float seed = vn_node_get_float (ctx->node, "seed", 0);
      guint32 bits;

      memcpy (&bits, &seed, sizeof bits);
      return random_mix (bits + GOLDEN);
    }
  for (const char *at = value != NULL ? value->name : ""; *at != '\0'; at++)
    key = random_mix (key + (guint8) *at + GOLDEN);
  return key;
}

/* In [0, 1), 53 bits. */
static double
random_number (guint64 key,
               guint64 i)
{
  return (double) (random_mix (key + (i + 1) * GOLDEN) >> 11) * 0x1p-53;
}

static double
random_draw_uniform (const Random *self,
                     gsize         i)
{
  return self->a + self->b * random_number (self->key, i);
}

/* Box and Muller: two numbers make one, so that it does not depend on its neighbours. */
static double
random_draw_normal (const Random *self,
                    gsize         i)
{
  double radius = sqrt (-2 * log (1 - random_number (self->key, 2 * (guint64) i)));

  return self->a + self->b * radius * cos (2 * G_PI * random_number (self->key, 2 * (guint64) i + 1));
}

static double
random_draw_event (const Random *self,
                   gsize         i)
{
  return random_number (self->key, i) < vn_tensor_get_double (self->in, i);
}

#define STORE(NAME, type, unused)                                                \
  case VN_DTYPE_##NAME:                                                          \
    for (gsize i = 0; i < n; i++)                                                \
      ((type *) out->data)[first + i] = (type) values[i];                        \
    return;

static void
random_store (VnTensor     *out,
              gsize         first,
              const double *values,
              gsize         n)
{
  float floats[BLOCK];

  switch ((int) out->dtype)
    {
    VN_INTEGER_TYPES (STORE,)
    STORE (BOOL, guint8,)
    STORE (F64, double,)
    default:
      for (gsize i = 0; i < n; i++)
        floats[i] = (float) values[i];
      vn_elem_from_float (out->dtype, floats, (char *) out->data + first * vn_elem_size (out->dtype), n);
    }
}

static void
random_draw_range (gpointer data,
                   gsize    first,
                   gsize    n)
{
  const Random *self = data;
  double values[BLOCK];

  for (gsize done = 0; done < n; done += BLOCK)
    {
      gsize length = MIN (BLOCK, n - done);

      for (gsize i = 0; i < length; i++)
        values[i] = self->draw (self, first + done + i);
      random_store (self->out, first + done, values, length);
    }
}

/* ---- types ---- */

/* Attribute “dtype”, checked to be one of @allowed. */
static gboolean
random_get_dtype (VnOpContext *ctx,
                  gint64       fallback,
                  VnDTypeSet   allowed,
                  VnDType     *dtype,
                  GError     **error)
{
  gint64 given = vn_node_get_int (ctx->node, "dtype", fallback);

  *dtype = (VnDType) given;
  if (given == VN_DTYPE_UNDEFINED && vn_node_get_attr (ctx->node, "dtype") == NULL)
    return TRUE;
  if (vn_dtype_is_valid (given) && (allowed >> given & 1) != 0)
    return TRUE;
  return vn_op_fail (ctx, error, _("random values of element type %lld in attribute “dtype” (%s) are not supported"),
                     (long long) given,
                     vn_dtype_is_valid (given) ? vn_dtype_get_name ((VnDType) given) : "?");
}

static gboolean
random_shape_infer (VnOpContext *ctx,
                    GError     **error)
{
  VnShape shape = { 0 };
  VnDType dtype;
  gsize n = 0;
  const gint64 *dims = vn_node_get_ints (ctx->node, "shape", &n);

  if (vn_node_get_attr (ctx->node, "shape") == NULL || n > VN_MAX_RANK)
    return vn_op_fail (ctx, error, _("the attribute “shape” has %zu dims or is missing; at most %d can be "
                                     "handled"), n, VN_MAX_RANK);
  shape.rank = (int) n;
  for (gsize i = 0; i < n; i++)
    {
      shape.dims[i] = dims[i];
      if (dims[i] < 0)
        return vn_op_fail (ctx, error, _("dim %zu of the attribute “shape” is %lld"), i, (long long) dims[i]);
    }
  if (!random_get_dtype (ctx, VN_DTYPE_F32, VN_FLOAT_BITS, &dtype, error))
    return FALSE;
  vn_op_set_output (ctx, 0, dtype, &shape);
  return TRUE;
}

static gboolean
random_like_infer (VnOpContext *ctx,
                   GError     **error)
{
  VnDType dtype;

  if (!random_get_dtype (ctx, ctx->in_types[0].dtype, VN_FLOAT_BITS, &dtype, error))
    return FALSE;
  vn_op_set_output (ctx, 0, dtype, &ctx->in_types[0].shape);
  return TRUE;
}

static gboolean
random_bernoulli_infer (VnOpContext *ctx,
                        GError     **error)
{
  VnDType dtype;

  if (!random_get_dtype (ctx, ctx->in_types[0].dtype, VN_NUMBER_BITS | VN_DTYPE_BIT (BOOL), &dtype, error))
    return FALSE;
  vn_op_set_output (ctx, 0, dtype, &ctx->in_types[0].shape);
  return TRUE;
}

/* ---- running ---- */

static gboolean
random_draw_all (VnOpContext *ctx,
                 Random      *self)
{
  self->key = random_get_key (ctx);
  self->out = ctx->out[0];
  vn_op_for_ranges (ctx, self->out->n_elements, 20, random_draw_range, self);
  return TRUE;
}

static gboolean
random_normal_run (VnOpContext *ctx,
                   GError     **error)
{
  Random self = { .a = vn_node_get_float (ctx->node, "mean", 0), .b = vn_node_get_float (ctx->node, "scale", 1),
                  .draw = random_draw_normal };

  return random_draw_all (ctx, &self);
}

static gboolean
random_uniform_run (VnOpContext *ctx,
                    GError     **error)
{
  double low = vn_node_get_float (ctx->node, "low", 0), high = vn_node_get_float (ctx->node, "high", 1);
  Random self = { .a = low, .b = high - low, .draw = random_draw_uniform };

  return random_draw_all (ctx, &self);
}

static gboolean
random_bernoulli_run (VnOpContext *ctx,
                      GError     **error)
{
  Random self = { .in = ctx->in[0], .draw = random_draw_event };

  return random_draw_all (ctx, &self);
}

/* ---- Multinomial ---- */

static gboolean
random_multinomial_infer (VnOpContext *ctx,
                          GError     **error)
{
  const VnShape *in = &ctx->in_types[0].shape;
  gint64 samples = vn_node_get_int (ctx->node, "sample_size", 1);
  VnShape out = { 2, { VN_DIM_UNKNOWN, samples } };
  VnDType dtype;

  if (in->rank >= 0 && in->rank != 2)
    return vn_op_fail (ctx, error, _("the log probabilities must have 2 dims, found %d"), in->rank);
  if (samples < 0 || (in->rank == 2 && in->dims[1] == 0))
    return vn_op_fail (ctx, error, _("cannot draw %lld samples from these classes"), (long long) samples);
  if (!random_get_dtype (ctx, VN_DTYPE_S32, VN_DTYPE_BIT (S32) | VN_DTYPE_BIT (S64), &dtype, error))
    return FALSE;
  if (in->rank == 2)
    {
      out.dims[0] = in->dims[0];
      ctx->scratch_bytes = in->dims[1] > 0 ? (gsize) in->dims[1] * sizeof (double) : 0;
    }
  vn_op_set_output (ctx, 0, dtype, &out);
  return TRUE;
}

/* @sums becomes the sums of exp (x - max) up to each class. */
static gboolean
random_sum_up (VnOpContext *ctx,
               gsize        row,
               gsize        n,
               double      *sums,
               GError     **error)
{
  const VnTensor *x = ctx->in[0];
  double max = -INFINITY, sum = 0;

  for (gsize i = 0; i < n; i++)
    {
      sums[i] = vn_tensor_get_double (x, row * n + i);
      max = MAX (max, sums[i]);
    }
  for (gsize i = 0; i < n; i++)
    sums[i] = sum += exp (sums[i] - max);
  if (isfinite (sum))
    return TRUE;
  return vn_op_fail (ctx, error, _("row %zu of the log probabilities has no finite maximum"), row);
}

/* The first class whose sum is above @value. */
static gsize
random_find_class (const double *sums,
                   gsize         n,
                   double        value)
{
  gsize low = 0, high = n - 1;

  while (low < high)
    {
      gsize middle = low + (high - low) / 2;

      if (sums[middle] > value)
        high = middle;
      else
        low = middle + 1;
    }
  return low;
}

static gboolean
random_multinomial_run (VnOpContext *ctx,
                        GError     **error)
{
  gsize rows = (gsize) ctx->in[0]->shape.dims[0], n = (gsize) ctx->in[0]->shape.dims[1];
  gsize samples = (gsize) ctx->out[0]->shape.dims[1];
  guint64 key = random_get_key (ctx);
  double *sums = ctx->scratch;

  for (gsize row = 0; row < rows && samples > 0; row++)
    {
      if (!random_sum_up (ctx, row, n, sums, error))
        return FALSE;
      for (gsize i = row * samples; i < (row + 1) * samples; i++)
        random_store (ctx->out[0], i,
                      (const double[]) { (double) random_find_class (sums, n, random_number (key, i) * sums[n - 1]) }, 1);
    }
  return TRUE;
}

#define RANDOM(variable, name, version, in, set, shape, kernel)                  \
  const VnOp variable = {                                                        \
    .domain = "", .type = name, .since = version,                                \
    .min_inputs = in, .max_inputs = in, .min_outputs = 1, .max_outputs = 1,      \
    .dtypes = set,                                                               \
    .infer = shape,                                                              \
    .run = kernel,                                                               \
  };

RANDOM (vn_op_bernoulli_15, "Bernoulli", 15, 1, VN_FLOAT_BITS, random_bernoulli_infer, random_bernoulli_run)
RANDOM (vn_op_multinomial_7, "Multinomial", 7, 1, VN_FLOAT_BITS, random_multinomial_infer, random_multinomial_run)
RANDOM (vn_op_random_normal_1, "RandomNormal", 1, 0, G_MAXUINT32, random_shape_infer, random_normal_run)
RANDOM (vn_op_random_normal_like_1, "RandomNormalLike", 1, 1, G_MAXUINT32, random_like_infer, random_normal_run)
RANDOM (vn_op_random_uniform_1, "RandomUniform", 1, 0, G_MAXUINT32, random_shape_infer, random_uniform_run)
RANDOM (vn_op_random_uniform_like_1, "RandomUniformLike", 1, 1, G_MAXUINT32, random_like_infer, random_uniform_run)
