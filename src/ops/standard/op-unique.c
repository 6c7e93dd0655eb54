/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Unique: the distinct elements, or slices along an axis; sorted or in the order they are met, with where each is first
 * met, which one each element is, and how often each is there. All NaNs are one and come last. How many there are
 * depends on the values, so everything is found as soon as those are known. */
#include "vn-number.h"

enum { VALUES, FIRST, INVERSE, COUNTS, N_OUTPUTS };

typedef struct
{
  const VnTensor *in;
  gsize  outer, n, inner;      /* slice i: elements (o * n + i) * inner + k */
  gsize *order;                /* slices, sorted */
  gint64 *group;               /* of each slice, by its place among the sorted ones; then its number in the output */
  gint64 *first, *count, *rank;
  gsize  n_groups;
} Unique;

static int
unique_compare_doubles (double a,
                        double b)
{
  if (isnan (a) || isnan (b))
    return (isnan (a) != 0) - (isnan (b) != 0);
  return (a > b) - (a < b);
}

static int
unique_compare_elements (const VnTensor *in,
                         gsize           a,
                         gsize           b)
{
  switch (in->dtype)
    {
    case VN_DTYPE_STRING:
      return strcmp (((char **) in->data)[a], ((char **) in->data)[b]);
    case VN_DTYPE_U64:
      return (((const guint64 *) in->data)[a] > ((const guint64 *) in->data)[b]) -
             (((const guint64 *) in->data)[a] < ((const guint64 *) in->data)[b]);
    case VN_DTYPE_C64:
    case VN_DTYPE_C128:
      for (gsize part = 0; part < 2; part++)
        {
          double x = in->dtype == VN_DTYPE_C64 ? (double) ((const float *) in->data)[2 * a + part]
                     : ((const double *) in->data)[2 * a + part];
          double y = in->dtype == VN_DTYPE_C64 ? (double) ((const float *) in->data)[2 * b + part]
                     : ((const double *) in->data)[2 * b + part];
          int order = unique_compare_doubles (x, y);

          if (order != 0)
            return order;
        }
      return 0;
    default:
      if (vn_dtype_is_float (in->dtype))
        return unique_compare_doubles (vn_tensor_get_double (in, a), vn_tensor_get_double (in, b));
      return (vn_tensor_get_s64 (in, a) > vn_tensor_get_s64 (in, b)) - (vn_tensor_get_s64 (in, a) < vn_tensor_get_s64 (in, b));
    }
}

static int
unique_compare_slices (gconstpointer data,
                       gsize         a,
                       gsize         b)
{
  const Unique *self = data;

  for (gsize o = 0; o < self->outer; o++)
    for (gsize k = 0; k < self->inner; k++)
      {
        int order = unique_compare_elements (self->in, (o * self->n + a) * self->inner + k, (o * self->n + b) * self->inner + k);

        if (order != 0)
          return order;
      }
  return 0;
}

static int
unique_compare_first (gconstpointer data,
                      gsize         a,
                      gsize         b)
{
  const Unique *self = data;

  return (self->first[a] > self->first[b]) - (self->first[a] < self->first[b]);
}

static void
unique_clear (Unique *self)
{
  g_free (self->order);
  g_free (self->group);
  g_free (self->first);
  g_free (self->count);
  g_free (self->rank);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Unique, unique_clear)

static gboolean
unique_alloc (Unique  *self,
              GError **error)
{
  return (self->order = vn_op_try_alloc (self->n, sizeof (gsize), error)) != NULL &&
         (self->group = vn_op_try_alloc (self->n, sizeof (gint64), error)) != NULL &&
         (self->first = vn_op_try_alloc (self->n, sizeof (gint64), error)) != NULL &&
         (self->count = vn_op_try_alloc (self->n, sizeof (gint64), error)) != NULL &&
         (self->rank = vn_op_try_alloc (self->n, sizeof (gint64), error)) != NULL;
}

/* ONNX Runtime's own form leaves out where each value is first, and never sorts. */
static gboolean
unique_is_microsoft (const VnOpContext *ctx)
{
  return *ctx->op->domain != '\0';
}

static guint
unique_meaning_of (const VnOpContext *ctx,
                   guint              output)
{
  return unique_is_microsoft (ctx) && output != VALUES ? output + 1 : output;
}

/* Groups of equal slices, numbered in the order of the output. */
static gboolean
unique_find_groups (VnOpContext  *ctx,
                    Unique       *self,
                    GError      **error)
{
  for (gsize i = 0; i < self->n; i++)
    self->order[i] = i;
  if (!vn_order_sort (self->order, self->n, unique_compare_slices, self, error))
    return FALSE;
  for (gsize i = 0; i < self->n; i++)
    {
      if (i == 0 || unique_compare_slices (self, self->order[i - 1], self->order[i]) != 0)
        {
          self->first[self->n_groups] = (gint64) self->order[i];
          self->count[self->n_groups++] = 0;
        }
      self->group[self->order[i]] = (gint64) self->n_groups - 1;
      self->count[self->n_groups - 1]++;
    }
  for (gsize i = 0; i < self->n_groups; i++)
    self->order[i] = i;
  if ((unique_is_microsoft (ctx) || vn_node_get_int (ctx->node, "sorted", 1) == 0) &&
      !vn_order_sort (self->order, self->n_groups, unique_compare_first, self, error))
    return FALSE;
  for (gsize i = 0; i < self->n_groups; i++)
    self->rank[self->order[i]] = (gint64) i;
  return TRUE;
}

/* How the input is cut; @axis: (out): -1 if it is flattened. */
static gboolean
unique_cut (VnOpContext    *ctx,
            const VnShape  *shape,
            Unique         *self,
            int            *axis,
            GError        **error)
{
  *axis = -1;
  *self = (Unique) { .outer = 1, .n = (gsize) vn_shape_count (shape, 0, shape->rank), .inner = 1 };
  if (vn_node_get_attr (ctx->node, "axis") == NULL)
    return TRUE;
  if (!vn_op_axis (ctx, shape, vn_node_get_int (ctx->node, "axis", 0), axis, error))
    return FALSE;
  self->outer = (gsize) vn_shape_count (shape, 0, *axis);
  self->n = (gsize) shape->dims[*axis];
  self->inner = (gsize) vn_shape_count (shape, *axis + 1, shape->rank);
  return TRUE;
}

static void
unique_copy_values (const Unique *self,
                    VnTensor     *out)
{
  gsize size = vn_elem_size (out->dtype);

  for (gsize o = 0; o < self->outer; o++)
    for (gsize i = 0; i < self->n_groups; i++)
      {
        gsize from = (o * self->n + (gsize) self->first[self->order[i]]) * self->inner,
        to = (o * self->n_groups + i) * self->inner;

        if (out->dtype != VN_DTYPE_STRING)
          {
            vn_copy_rows (1, self->inner * size, (const char *) self->in->data + from * size, 0, (char *) out->data + to * size,
                          0);
            continue;
          }
        for (gsize k = 0; k < self->inner; k++)
          {
            char **string = (char **) out->data + to + k;

            g_free (*string);
            *string = g_strdup (((char **) self->in->data)[from + k]);
          }
      }
}

static void
unique_fill_output (const Unique *self,
                    guint         output,
                    VnTensor     *out)
{
  gint64 *to = out->data;

  if (output == VALUES)
    unique_copy_values (self, out);
  else if (output == INVERSE)
    for (gsize i = 0; i < self->n; i++)
      to[i] = self->rank[self->group[i]];
  else
    for (gsize i = 0; i < self->n_groups; i++)
      to[i] = (output == FIRST ? self->first : self->count)[self->order[i]];
}

static VnShape
unique_output_shape (const Unique  *self,
                     const VnShape *input,
                     int            axis,
                     guint          output)
{
  VnShape shape = VN_SHAPE (output == INVERSE ? (gint64) self->n : (gint64) self->n_groups);

  if (output == VALUES && axis >= 0)
    {
      shape = *input;
      shape.dims[axis] = (gint64) self->n_groups;
    }
  return shape;
}

static gboolean
unique_make_outputs (VnOpContext  *ctx,
                     GError      **error)
{
  const VnTensor *in = ctx->in[0];
  g_auto(Unique) self = { 0 };
  int axis;

  if ((ctx->op->dtypes >> in->dtype & 1) == 0)
    return vn_op_unsupported (ctx, 0, error);
  if (!unique_cut (ctx, &in->shape, &self, &axis, error) || !unique_alloc (&self, error))
    return FALSE;
  self.in = in;
  if (!unique_find_groups (ctx, &self, error))
    return FALSE;
  for (guint i = 0; i < MIN (ctx->n_outputs, N_OUTPUTS); i++)
    {
      guint meaning = unique_meaning_of (ctx, i);
      VnShape shape = unique_output_shape (&self, &in->shape, axis, meaning);
      VnDType dtype = i == VALUES ? in->dtype : VN_DTYPE_S64;

      vn_op_set_output (ctx, i, dtype, &shape);
      if (ctx->out[i] == NULL)
        ctx->out[i] = vn_tensor_new (dtype, &shape, error);
      if (ctx->out[i] == NULL)
        return FALSE;
      if (!vn_shape_equal (&ctx->out[i]->shape, &shape))
        return vn_op_fail (ctx, error,
                           ngettext ("Unique: found %zu distinct value, expected a different number",
                                     "Unique: found %zu distinct values, expected a different number", self.n_groups),
                           self.n_groups);
      unique_fill_output (&self, meaning, ctx->out[i]);
    }
  return TRUE;
}

static gboolean
unique_infer (VnOpContext *ctx,
              GError     **error)
{
  const VnShape *input = &ctx->in_types[0].shape;
  VnShape values = VN_SHAPE (VN_DIM_UNKNOWN), list = VN_SHAPE (VN_DIM_UNKNOWN);
  int axis;

  if (vn_node_get_attr (ctx->node, "axis") != NULL)
    {
      values = *input;
      if (input->rank >= 0 && !vn_op_axis (ctx, input, vn_node_get_int (ctx->node, "axis", 0), &axis, error))
        return FALSE;
      if (input->rank >= 0)
        values.dims[axis] = VN_DIM_UNKNOWN;
    }
  if (ctx->in != NULL && ctx->in[0] != NULL && ctx->out != NULL && ctx->out[0] == NULL)
    return unique_make_outputs (ctx, error);
  vn_op_set_output (ctx, VALUES, ctx->in_types[0].dtype, &values);
  for (guint i = FIRST; i < N_OUTPUTS; i++)
    vn_op_set_output (ctx, i, VN_DTYPE_S64, &list);
  return TRUE;
}

static gboolean
unique_run (VnOpContext *ctx,
            GError     **error)
{
  for (guint i = 0; i < ctx->n_outputs; i++)
    if (ctx->out[i] != NULL)
      return unique_make_outputs (ctx, error);
  return TRUE;
}

const VnOp vn_op_unique_11 = {
  .domain = "", .type = "Unique", .since = 11,
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 4,
  .dtypes = VN_NUMBER_BITS | VN_DTYPE_BIT (BOOL) | VN_DTYPE_BIT (C64) | VN_DTYPE_BIT (C128) | VN_DTYPE_BIT (STRING),
  .family = VN_FAMILY_OTHER,
  .infer = unique_infer,
  .run = unique_run,
};

const VnOp vn_op_ms_unique = {
  .domain = "com.microsoft", .type = "Unique", .since = 1,
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 3, .max_outputs = 3,
  .dtypes = VN_NUMBER_BITS | VN_DTYPE_BIT (BOOL) | VN_DTYPE_BIT (C64) | VN_DTYPE_BIT (C128) | VN_DTYPE_BIT (STRING),
  .family = VN_FAMILY_OTHER,
  .infer = unique_infer,
  .run = unique_run,
};
