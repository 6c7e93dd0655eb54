/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Einsum. Floats of one or two operands: the labels are sorted into those of both operands and the result (batch), of the
 * first and the result (rows), of the second and the result (columns), and those summed over; the operands are copied
 * into that order, multiplied as matrices, and the product is copied into the order of the result. Everything else
 * element by element. */
#include "vn-einsum.h"
#include "vn-elem.h"
#include "vn-gemm-general.h"

#define MAX_GROUP 16

static int
einsum_label_of (char c)
{
  return g_ascii_islower (c) ? c - 'a' : g_ascii_isupper (c) ? c - 'A' + 26 : -1;
}

/* Reads one term; returns what follows it, NULL if it is malformed. */
static const char *
einsum_parse_term (VnEinsumTerm *term,
                   const char   *text)
{
  *term = (VnEinsumTerm) { .ellipsis = -1 };
  for (;; text++)
    {
      if (*text == ' ')
        continue;
      if (einsum_label_of (*text) >= 0 && term->n < VN_MAX_RANK)
        term->labels[term->n++] = einsum_label_of (*text);
      else if (g_str_has_prefix (text, "...") && term->ellipsis < 0)
        {
          term->ellipsis = term->n;
          text += 2;
        }
      else
        return *text == ',' || *text == '\0' || *text == '-' ? text : NULL;
    }
}

/* Without "->" the result has the ellipsis and every letter that occurs once, in order. */
static void
einsum_implicit_result (VnEinsum *self)
{
  VnEinsumTerm *result = &self->terms[VN_EINSUM_RESULT];
  int count[VN_EINSUM_LETTERS] = { 0 };

  *result = (VnEinsumTerm) { .ellipsis = 0 };
  for (int t = 0; t < self->n_operands; t++)
    for (int i = 0; i < self->terms[t].n; i++)
      count[self->terms[t].labels[i]]++;
  for (int pass = 1; pass >= 0; pass--)   /* capitals come first in ASCII */
    for (int c = pass * 26; c < pass * 26 + 26; c++)
      if (count[c] == 1 && result->n < VN_MAX_RANK)
        result->labels[result->n++] = c;
}

static gboolean
einsum_parse (VnEinsum     *self,
              VnOpContext  *ctx,
              GError      **error)
{
  g_autofree char *equation = vn_node_dup_string (ctx->node, "equation", "");
  const char *at = equation;

  self->n_operands = (int) ctx->n_inputs;
  self->terms[VN_EINSUM_SECOND] = (VnEinsumTerm) { .ellipsis = -1 };
  for (int t = 0; t < self->n_operands; t++)
    {
      at = einsum_parse_term (&self->terms[t], at);
      if (at == NULL || (t + 1 < self->n_operands) != (*at == ','))
        return vn_op_fail (ctx, error, _("the equation “%s” does not have %d terms"), equation, self->n_operands);
      at += *at == ',';
    }
  if (*at == '\0')
    einsum_implicit_result (self);
  else if (!g_str_has_prefix (at, "->") || (at = einsum_parse_term (&self->terms[VN_EINSUM_RESULT], at + 2)) == NULL ||
           *at != '\0')
    return vn_op_fail (ctx, error, _("the equation “%s” cannot be parsed"), equation);
  return TRUE;
}

/* Puts labels in the place of an ellipsis of @n axes. */
static gboolean
einsum_expand_ellipsis (VnEinsumTerm *term,
                        int           n)
{
  if (term->ellipsis < 0)
    return n == 0;
  if (n < 0 || term->n + n > VN_MAX_RANK)
    return FALSE;
  memmove (term->labels + term->ellipsis + n, term->labels + term->ellipsis,
           sizeof (int) * (size_t) (term->n - term->ellipsis));
  for (int i = 0; i < n; i++)
    term->labels[term->ellipsis + i] = VN_EINSUM_LETTERS + n - 1 - i;
  term->n += n;
  return TRUE;
}

static gboolean
einsum_add_operand (VnEinsum       *self,
                    VnOpContext    *ctx,
                    int             t,
                    const VnShape  *shape,
                    GError        **error)
{
  VnEinsumTerm *term = &self->terms[t];
  gint64 strides[VN_MAX_RANK];

  if (!einsum_expand_ellipsis (term, shape->rank - term->n))
    return vn_op_fail (ctx, error, _("operand %d has rank %d, which does not match the equation"), t, shape->rank);
  vn_shape_strides (shape, strides);
  for (int i = 0; i < term->n; i++)
    {
      int label = term->labels[i];
      gint64 size = shape->dims[i], *known = &self->size[label];

      self->has[t][label] = TRUE;
      if (label >= VN_EINSUM_LETTERS)
        self->n_ellipsis = MAX (self->n_ellipsis, label - VN_EINSUM_LETTERS + 1);
      if (*known >= 0 && *known != 1 && size >= 0 && size != 1 && *known != size)
        return vn_op_fail (ctx, error, _("a label stands for both %lld and %lld"), (long long) *known,
                           (long long) size);
      if (*known == VN_EINSUM_NOT_MET || *known == 1 || (*known == VN_DIM_UNKNOWN && size > 1))
        *known = size;
      if (size != 1)
        self->stride[t][label] += (gsize) strides[i];
    }
  return TRUE;
}

/**
 * vn_einsum_init:
 * @shapes: (array): of the operands, of known rank
 *
 * Returns: %FALSE with an error if the equation of the node cannot be read, or does not fit the operands
 */
gboolean
vn_einsum_init (VnEinsum       *self,
                VnOpContext    *ctx,
                const VnShape **shapes,
                GError        **error)
{
  VnEinsumTerm *result = &self->terms[VN_EINSUM_RESULT];
  gsize stride = 1;

  memset (self, 0, sizeof *self);
  for (int i = 0; i < VN_EINSUM_LABELS; i++)
    self->size[i] = VN_EINSUM_NOT_MET;
  if (!einsum_parse (self, ctx, error))
    return FALSE;
  for (int t = 0; t < self->n_operands; t++)
    if (!einsum_add_operand (self, ctx, t, shapes[t], error))
      return FALSE;
  if (!einsum_expand_ellipsis (result, result->ellipsis >= 0 ? self->n_ellipsis : 0))
    return vn_op_fail (ctx, error, _("the output has more than %d axes"), VN_MAX_RANK);
  for (int i = result->n - 1; i >= 0; i--)
    {
      int label = result->labels[i];

      if (self->size[label] == VN_EINSUM_NOT_MET || self->has[VN_EINSUM_RESULT][label])
        return vn_op_fail (ctx, error, _("an output label is missing from the operands or appears twice"));
      self->has[VN_EINSUM_RESULT][label] = TRUE;
      self->stride[VN_EINSUM_RESULT][label] = stride;
      stride *= (gsize) MAX (self->size[label], 0);
    }
  return TRUE;
}

/* ---- groups ---- */

typedef struct
{
  int   labels[MAX_GROUP];
  int   n;
  gsize size;
} Group;

typedef struct
{
  Group batch, rows, columns, depth;
} Groups;

static gboolean
einsum_group_add (Group  *self,
                  int     label,
                  gint64  size)
{
  if (self->n == MAX_GROUP)
    return FALSE;
  self->labels[self->n++] = label;
  return vn_checked_mul (self->size, (gsize) size, &self->size);
}

static gboolean
einsum_groups_init (Groups          *self,
                    const VnEinsum  *einsum)
{
  *self = (Groups) { { .size = 1 }, { .size = 1 }, { .size = 1 }, { .size = 1 } };
  for (int label = 0; label < VN_EINSUM_LABELS; label++)
    {
      gboolean first = einsum->has[VN_EINSUM_FIRST][label], second = einsum->has[VN_EINSUM_SECOND][label];
      Group *group = !einsum->has[VN_EINSUM_RESULT][label] ? &self->depth
                   : first && second ? &self->batch : first ? &self->rows : &self->columns;

      if ((first || second) && !einsum_group_add (group, label, einsum->size[label]))
        return FALSE;
    }
  return TRUE;
}

/* Elements of the three copies. */
static gboolean
einsum_count_copies (const Groups *self,
                     gsize         elements[VN_EINSUM_TERMS])
{
  return vn_checked_mul (self->batch.size, self->rows.size, &elements[VN_EINSUM_FIRST]) &&
         vn_checked_mul (elements[VN_EINSUM_FIRST], self->depth.size, &elements[VN_EINSUM_FIRST]) &&
         vn_checked_mul (self->batch.size, self->columns.size, &elements[VN_EINSUM_SECOND]) &&
         vn_checked_mul (elements[VN_EINSUM_SECOND], self->depth.size, &elements[VN_EINSUM_SECOND]) &&
         vn_checked_mul (self->batch.size, self->rows.size, &elements[VN_EINSUM_RESULT]) &&
         vn_checked_mul (elements[VN_EINSUM_RESULT], self->columns.size, &elements[VN_EINSUM_RESULT]);
}

/* Whether the operands become matrices. */
static gboolean
einsum_has_product (const VnOpContext *ctx)
{
  return ctx->n_inputs <= 2 && vn_dtype_is_float (ctx->in_types[0].dtype);
}

static gboolean
einsum_infer (VnOpContext *ctx,
              GError     **error)
{
  const VnShape *shapes[VN_EINSUM_OPERANDS];
  gboolean is_ranked = TRUE, is_static = TRUE;
  VnShape y = VN_SHAPE_UNKNOWN;
  VnEinsum einsum;
  Groups groups;
  gsize elements[VN_EINSUM_TERMS], total;

  for (guint i = 0; i < ctx->n_inputs; i++)
    {
      if (!vn_op_check_same_dtype (ctx, 0, i, error))
        return FALSE;
      shapes[i] = &ctx->in_types[i].shape;
      is_ranked = is_ranked && shapes[i]->rank >= 0;
      is_static = is_static && vn_shape_is_static (shapes[i]);
    }
  if (is_ranked)
    {
      if (!vn_einsum_init (&einsum, ctx, shapes, error))
        return FALSE;
      y.rank = einsum.terms[VN_EINSUM_RESULT].n;
      for (int i = 0; i < y.rank; i++)
        y.dims[i] = einsum.size[einsum.terms[VN_EINSUM_RESULT].labels[i]];
    }
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &y);
  if (!is_static || !einsum_has_product (ctx))
    return TRUE;
  if (!einsum_groups_init (&groups, &einsum) || !einsum_count_copies (&groups, elements) ||
      !vn_checked_add (elements[VN_EINSUM_FIRST], elements[VN_EINSUM_SECOND], &total) ||
      !vn_checked_add (total, elements[VN_EINSUM_RESULT], &total) ||
      !vn_checked_mul (total, sizeof (double), &ctx->scratch_bytes))
    return vn_op_fail (ctx, error, _("the product is too large for this machine"));
  return TRUE;
}

/* ---- copying ---- */

/* Axes of a copy: groups one after the other. */
typedef struct
{
  int   n;
  gsize size[3 * MAX_GROUP], stride[3 * MAX_GROUP];
} Walk;

static void
einsum_walk_add (Walk         *self,
                 const VnEinsum *einsum,
                 const Group  *group,
                 int           term)
{
  for (int i = 0; i < group->n; i++)
    {
      self->size[self->n] = (gsize) einsum->size[group->labels[i]];
      self->stride[self->n++] = einsum->stride[term][group->labels[i]];
    }
}

/* Moves on by one line of the last axis; returns the offset of the next, or of the first after the last. */
static gsize
einsum_walk_next (const Walk *self,
                  gsize      *index,
                  gsize       offset)
{
  for (int a = self->n - 2; a >= 0; a--)
    {
      offset += self->stride[a];
      if (++index[a] < self->size[a])
        return offset;
      offset -= self->stride[a] * self->size[a];
      index[a] = 0;
    }
  return offset;
}

#define DEFINE_COPY(T, suffix)                                                  \
static void                                                                     \
copy_##suffix (const Walk *walk, gsize n, T *strided, T *packed, gboolean pack) \
{                                                                               \
  gsize index[3 * MAX_GROUP] = { 0 }, offset = 0;                               \
  gsize line = walk->n > 0 ? walk->size[walk->n - 1] : 1;                       \
  gsize step = walk->n > 0 ? walk->stride[walk->n - 1] : 0;                     \
  for (gsize done = 0; done < n; done += line, packed += line)                  \
    {                                                                           \
      if (pack)                                                                 \
        for (gsize i = 0; i < line; i++)                                        \
          packed[i] = strided[offset + i * step];                               \
      else                                                                      \
        for (gsize i = 0; i < line; i++)                                        \
          strided[offset + i * step] = packed[i];                               \
      offset = einsum_walk_next (walk, index, offset);                          \
    }                                                                           \
}

DEFINE_COPY (float, f32)
DEFINE_COPY (double, f64)

typedef struct
{
  const VnOpContext *ctx;
  VnEinsum           einsum;
  Groups             groups;
  gsize              elements[VN_EINSUM_TERMS];
  gpointer           packed[VN_EINSUM_TERMS];
} Job;

static void
einsum_copy_term (Job      *self,
                  int       term,
                  gpointer  data)
{
  const Group *second = term == VN_EINSUM_SECOND ? &self->groups.depth : &self->groups.rows;
  const Group *third = term == VN_EINSUM_FIRST ? &self->groups.depth : &self->groups.columns;
  Walk walk = { 0 };

  einsum_walk_add (&walk, &self->einsum, &self->groups.batch, term);
  einsum_walk_add (&walk, &self->einsum, second, term);
  einsum_walk_add (&walk, &self->einsum, third, term);
  if (self->ctx->in[0]->dtype == VN_DTYPE_F64)
    copy_f64 (&walk, self->elements[term], data, self->packed[term], term != VN_EINSUM_RESULT);
  else
    copy_f32 (&walk, self->elements[term], data, self->packed[term], term != VN_EINSUM_RESULT);
}

static void
einsum_multiply (gpointer data,
                 gsize    item,
                 guint    worker)
{
  const Job *self = data;
  gsize m = self->groups.rows.size, n = self->groups.columns.size, k = self->groups.depth.size;

  if (self->ctx->in[0]->dtype == VN_DTYPE_F64)
    vn_gemm_general_f64 (FALSE, FALSE, m, n, k, 1, (double *) self->packed[VN_EINSUM_FIRST] + item * m * k, k,
                         (double *) self->packed[VN_EINSUM_SECOND] + item * k * n, n, 0,
                         (double *) self->packed[VN_EINSUM_RESULT] + item * m * n, n);
  else
    vn_gemm (m, n, k, (float *) self->packed[VN_EINSUM_FIRST] + item * m * k, k,
             (float *) self->packed[VN_EINSUM_SECOND] + item * k * n, n, (float *) self->packed[VN_EINSUM_RESULT] + item * m * n,
             n);
}

/* ---- element by element ---- */

/* @summed: the labels that the result does not have. */
typedef struct
{
  const VnOpContext *ctx;
  const VnEinsum    *einsum;
  int                summed[VN_EINSUM_LABELS], n_summed;
  gsize              n_products;
} Direct;

static gboolean
einsum_direct_init (Direct            *self,
                    const VnOpContext *ctx,
                    const VnEinsum      *einsum)
{
  *self = (Direct) { .ctx = ctx, .einsum = einsum, .n_products = 1 };
  for (int label = 0; label < VN_EINSUM_LABELS; label++)
    if (einsum->size[label] != VN_EINSUM_NOT_MET && !einsum->has[VN_EINSUM_RESULT][label])
      {
        self->summed[self->n_summed++] = label;
        if (!vn_checked_mul (self->n_products, (gsize) einsum->size[label], &self->n_products))
          return FALSE;
      }
  return TRUE;
}

/* Where the operands of element @i of the result begin. */
static void
einsum_direct_start (const Direct *self,
                     gsize         i,
                     gsize        *offset)
{
  const VnEinsumTerm *result = &self->einsum->terms[VN_EINSUM_RESULT];

  memset (offset, 0, VN_EINSUM_OPERANDS * sizeof *offset);
  for (int a = result->n - 1; a >= 0; a--)
    {
      gsize size = (gsize) self->einsum->size[result->labels[a]];

      for (int t = 0; t < self->einsum->n_operands; t++)
        offset[t] += i % size * self->einsum->stride[t][result->labels[a]];
      i /= size;
    }
}

static void
einsum_direct_next (const Direct *self,
                    gsize        *index,
                    gsize        *offset)
{
  for (int a = self->n_summed - 1; a >= 0; a--)
    {
      int label = self->summed[a];
      gsize size = (gsize) self->einsum->size[label];
      gboolean wraps = ++index[a] == size;

      for (int t = 0; t < self->einsum->n_operands; t++)
        offset[t] += wraps ? -(size - 1) * self->einsum->stride[t][label] : self->einsum->stride[t][label];
      if (!wraps)
        return;
      index[a] = 0;
    }
}

/* Integers wrap around in their own width, so the sign does not matter. */
#define DEFINE_DIRECT(T, Sum, suffix)                                        \
static void                                                                  \
direct_##suffix (gpointer data, gsize first, gsize n)                        \
{                                                                            \
  const Direct *self = data;                                                 \
  T *y = self->ctx->out[0]->data;                                            \
  for (gsize i = first; i < first + n; i++)                                  \
    {                                                                        \
      gsize offset[VN_EINSUM_OPERANDS], index[VN_EINSUM_LABELS] = { 0 };                 \
      Sum sum = 0;                                                           \
      einsum_direct_start (self, i, offset);                                 \
      for (gsize k = 0; k < self->n_products; k++)                           \
        {                                                                    \
          Sum product = 1;                                                   \
          for (int t = 0; t < self->einsum->n_operands; t++)                 \
            product *= ((const T *) self->ctx->in[t]->data)[offset[t]];      \
          sum += product;                                                    \
          einsum_direct_next (self, index, offset);                          \
        }                                                                    \
      y[i] = (T) sum;                                                        \
    }                                                                        \
}

DEFINE_DIRECT (float, double, f32)
DEFINE_DIRECT (double, double, f64)
DEFINE_DIRECT (guint8, guint64, u8)
DEFINE_DIRECT (guint16, guint64, u16)
DEFINE_DIRECT (guint32, guint64, u32)
DEFINE_DIRECT (guint64, guint64, u64)

static gboolean
einsum_run_direct (VnOpContext  *ctx,
                   const VnEinsum *einsum,
                   GError      **error)
{
  VnDType dtype = ctx->in[0]->dtype;
  guint bits = vn_dtype_get_bits (dtype);
  VnOpRangeFunc func = dtype == VN_DTYPE_F32 ? direct_f32 : dtype == VN_DTYPE_F64 ? direct_f64
                     : bits == 8 ? direct_u8 : bits == 16 ? direct_u16 : bits == 32 ? direct_u32 : direct_u64;
  Direct direct;

  if (!einsum_direct_init (&direct, ctx, einsum))
    return vn_op_fail (ctx, error, _("the product is too large for this machine"));
  if (ctx->out[0]->n_elements > 0)
    vn_op_for_ranges (ctx, ctx->out[0]->n_elements, 4. * (double) direct.n_products, func, &direct);
  return TRUE;
}

static gboolean
einsum_run (VnOpContext *ctx,
            GError     **error)
{
  const VnShape *shapes[VN_EINSUM_OPERANDS];
  Job job = { ctx };
  float one = 1.f;
  double one_wide = 1;
  gboolean wide = ctx->in[0]->dtype == VN_DTYPE_F64;

  for (guint i = 0; i < ctx->n_inputs; i++)
    shapes[i] = &ctx->in[i]->shape;
  if (!vn_einsum_init (&job.einsum, ctx, shapes, error))
    return FALSE;
  if (!einsum_has_product (ctx))
    return einsum_run_direct (ctx, &job.einsum, error);
  if (!einsum_groups_init (&job.groups, &job.einsum) || !einsum_count_copies (&job.groups, job.elements))
    return FALSE;
  job.packed[VN_EINSUM_FIRST] = ctx->scratch;
  job.packed[VN_EINSUM_SECOND] = (double *) job.packed[VN_EINSUM_FIRST] + job.elements[VN_EINSUM_FIRST];
  job.packed[VN_EINSUM_RESULT] = (double *) job.packed[VN_EINSUM_SECOND] + job.elements[VN_EINSUM_SECOND];
  einsum_copy_term (&job, VN_EINSUM_FIRST, ctx->in[0]->data);
  /* One operand alone is multiplied by ones. */
  einsum_copy_term (&job, VN_EINSUM_SECOND, ctx->n_inputs > 1 ? ctx->in[1]->data : wide ? (gpointer) &one_wide : (gpointer) &one);
  vn_op_for_items (ctx, job.groups.batch.size,
                   (double) job.groups.rows.size * job.groups.columns.size * job.groups.depth.size / 16, einsum_multiply, &job);
  einsum_copy_term (&job, VN_EINSUM_RESULT, ctx->out[0]->data);
  return TRUE;
}

const VnOp vn_op_einsum_12 = {
  .domain = "", .type = "Einsum", .since = 12,
  .min_inputs = 1, .max_inputs = VN_EINSUM_OPERANDS, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64) | VN_INTEGER_BITS,
  .stand_ins = VN_STAND_IN_HALVES,
  .same_dtype = 0xfffe,
  .family = VN_FAMILY_COMPUTE,
  .quant = VN_QUANT_TRAITS (VN_QUANT_OPAQUE, FALSE),
  .infer = einsum_infer,
  .run = einsum_run,
};
