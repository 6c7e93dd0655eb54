/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Categories (ai.onnx.ml): LabelEncoder and CategoryMapper replace each element by what a list says, OneHotEncoder by a
 * row with a one in its place. */
#include "vn-ml.h"
#include "vn-string-private.h"

/* Values beside keys; @values: NULL: the place itself. */
typedef struct
{
  VnMlTable *table;
  VnTensor  *values;
  VnTensor  *fallback;   /* NULL: default_* of the node */
} Encoder;

static void
ml_encode_encoder_free (gpointer data)
{
  Encoder *self = data;

  if (self == NULL)
    return;
  g_clear_pointer (&self->table, vn_ml_table_free);
  g_clear_pointer (&self->values, vn_tensor_unref);
  g_clear_pointer (&self->fallback, vn_tensor_unref);
  g_free (self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Encoder, ml_encode_encoder_free)

/* Keys must compare with the data as they are, and there must be a value for each. */
static gboolean
ml_encode_check_lists (VnOpContext    *ctx,
                       const VnTensor *keys,
                       const VnTensor *values,
                       GError        **error)
{
  VnDType dtype = ctx->in_types[0].dtype;
  gboolean alike = (dtype == VN_DTYPE_STRING) == (keys->dtype == VN_DTYPE_STRING) &&
                   vn_dtype_is_float (dtype) == vn_dtype_is_float (keys->dtype);

  if (dtype != VN_DTYPE_UNDEFINED && (!alike || (VN_PACKED_BITS >> keys->dtype & 1) != 0))
    return vn_op_fail (ctx, error, _("%s: data of type %s cannot be looked up among keys of type %s"), ctx->op->type,
                       vn_dtype_get_name (dtype), vn_dtype_get_name (keys->dtype));
  if (values != NULL && keys->n_elements != values->n_elements)
    return vn_op_fail (ctx, error,
                       ngettext ("%s: there is %zu key, but %zu values",
                                 "%s: there are %zu keys, but %zu values", keys->n_elements), ctx->op->type,
                       keys->n_elements, values->n_elements);
  if (values != NULL && values->dtype != VN_DTYPE_STRING && vn_elem_size (values->dtype) == 0)
    return vn_op_fail (ctx, error, _("%s: values cannot be of type %s"), ctx->op->type, vn_dtype_get_name (values->dtype));
  return TRUE;
}

static Encoder *
ml_encode_encoder_new (VnOpContext  *ctx,
                       VnTensor     *keys,
                       VnTensor     *values,
                       gboolean      last_wins,
                       GError      **error)
{
  g_autoptr(Encoder) self = NULL;
  VnTensor *fallback = vn_node_get_tensor (ctx->node, "default_tensor");

  if (!ml_encode_check_lists (ctx, keys, values, error))
    return NULL;
  self = g_new0 (Encoder, 1);
  self->table = vn_ml_table_new (keys, last_wins, error);
  if (self->table == NULL)
    return NULL;
  self->values = values != NULL ? vn_tensor_ref (values) : NULL;
  if (fallback != NULL && (values == NULL || fallback->n_elements != 1 || fallback->dtype != values->dtype))
    {
      vn_op_fail (ctx, error, _("%s: default_tensor must be one value of the type of the values"), ctx->op->type);
      return NULL;
    }
  self->fallback = fallback != NULL ? vn_tensor_ref (fallback) : NULL;
  return g_steal_pointer (&self);
}

/* Version 2 and later: any list of keys with any list of values. */
static Encoder *
ml_encode_label_encoder_new (VnOpContext  *ctx,
                             GError      **error)
{
  g_autoptr(VnTensor) keys = vn_ml_dup_list (ctx, "keys_int64s", "keys_floats", "keys_strings", "keys_tensor", error);
  g_autoptr(VnTensor) values = NULL;

  if (keys == NULL)
    return NULL;
  values = vn_ml_dup_list (ctx, "values_int64s", "values_floats", "values_strings", "values_tensor", error);
  return values != NULL ? ml_encode_encoder_new (ctx, keys, values, ctx->opset >= 4, error) : NULL;
}

/* Numbers and strings of the same place, which way depends on the data. @numbers: NULL: the places. */
static Encoder *
ml_encode_pair_encoder_new (VnOpContext  *ctx,
                            const char   *numbers,
                            const char   *strings,
                            GError      **error)
{
  g_autoptr(VnTensor) texts = vn_ml_dup_list (ctx, NULL, NULL, strings, NULL, error);
  g_autoptr(VnTensor) ints = NULL;
  gboolean text = ctx->in_types[0].dtype == VN_DTYPE_STRING;

  if (texts == NULL)
    return NULL;
  if (numbers != NULL)
    ints = vn_ml_dup_list (ctx, numbers, NULL, NULL, NULL, error);
  else if ((ints = vn_tensor_new (VN_DTYPE_S64, &VN_SHAPE ((gint64) texts->n_elements), error)) != NULL)
    for (gsize i = 0; i < ints->n_elements; i++)
      ((gint64 *) ints->data)[i] = (gint64) i;
  return ints != NULL ? ml_encode_encoder_new (ctx, text ? texts : ints, text ? ints : texts, FALSE, error) : NULL;
}

static Encoder *
ml_encode_make_encoder (VnOpContext  *ctx,
                        GError      **error)
{
  if (g_str_equal (ctx->op->type, "CategoryMapper"))
    return ml_encode_pair_encoder_new (ctx, "cats_int64s", "cats_strings", error);
  if (ctx->opset == 1)
    return ml_encode_pair_encoder_new (ctx, NULL, "classes_strings", error);
  return ml_encode_label_encoder_new (ctx, error);
}

static gboolean
ml_encode_encoder_infer (VnOpContext *ctx,
                         GError     **error)
{
  g_autoptr(Encoder) self = NULL;

  if (ctx->in_types[0].dtype == VN_DTYPE_UNDEFINED)
    return vn_op_infer_same (ctx, error);
  self = ml_encode_make_encoder (ctx, error);
  if (self == NULL)
    return FALSE;
  vn_op_set_output (ctx, 0, self->values->dtype, &ctx->in_types[0].shape);
  return TRUE;
}

static gboolean
ml_encode_encoder_prepare (VnOpContext *ctx,
                           gpointer    *prepared,
                           GError     **error)
{
  *prepared = ctx->in_types[0].dtype != VN_DTYPE_UNDEFINED ? ml_encode_make_encoder (ctx, error) : NULL;
  return *prepared != NULL || *error == NULL;
}

static void
ml_encode_store_default (VnOpContext *ctx,
                         VnTensor    *out,
                         gsize        i)
{
  float number = vn_node_get_float (ctx->node, "default_float", -0.f);
  gint64 integer = vn_node_get_int (ctx->node, "default_int64", -1);

  if (out->dtype == VN_DTYPE_STRING)
    vn_string_take (out, i, vn_node_dup_string (ctx->node, "default_string", "_Unused"));
  else if (out->dtype == VN_DTYPE_F32)
    ((float *) out->data)[i] = number;
  else if (out->dtype == VN_DTYPE_F64)
    ((double *) out->data)[i] = (double) number;
  else if (out->dtype == VN_DTYPE_S64)
    ((gint64 *) out->data)[i] = integer;
  else if (out->dtype == VN_DTYPE_S32)
    ((gint32 *) out->data)[i] = (gint32) CLAMP (integer, G_MININT32, G_MAXINT32);
  else if (out->dtype == VN_DTYPE_S16)
    ((gint16 *) out->data)[i] = (gint16) CLAMP (integer, G_MININT16, G_MAXINT16);
  else
    memset ((char *) out->data + i * vn_elem_size (out->dtype), 0, vn_elem_size (out->dtype));
}

static void
ml_encode_store_element (VnTensor       *out,
                         gsize           i,
                         const VnTensor *from,
                         gsize           k)
{
  gsize size = vn_elem_size (out->dtype);

  if (out->dtype == VN_DTYPE_STRING)
    vn_string_take (out, i, g_strdup (vn_string_get (from, k)));
  else
    memcpy ((char *) out->data + i * size, (const char *) from->data + k * size, size);
}

static gboolean
ml_encode_encoder_run (VnOpContext *ctx,
                       GError     **error)
{
  g_autoptr(Encoder) own = ctx->prepared == NULL ? ml_encode_make_encoder (ctx, error) : NULL;
  const Encoder *self = own != NULL ? own : ctx->prepared;
  const VnTensor *in = ctx->in[0];
  VnTensor *out = ctx->out[0];
  gsize at;

  if (self == NULL)
    return FALSE;
  for (gsize i = 0; i < in->n_elements; i++)
    if (vn_ml_table_find (self->table, in, i, &at))
      ml_encode_store_element (out, i, self->values, at);
    else if (self->fallback != NULL)
      ml_encode_store_element (out, i, self->fallback, 0);
    else
      ml_encode_store_default (ctx, out, i);
  return TRUE;
}

#define ENCODER(id, type_, dtypes_)                                             \
  const VnOp vn_op_ml_##id = {                                                  \
    .domain = "ai.onnx.ml", .type = type_, .since = 1,                          \
    .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,       \
    .dtypes = dtypes_,                                                          \
    .family = VN_FAMILY_CONVERSION,                                             \
    .infer = ml_encode_encoder_infer,                                           \
    .run = ml_encode_encoder_run,                                               \
    .prepare = ml_encode_encoder_prepare,                                       \
    .release = ml_encode_encoder_free,                                          \
  };

ENCODER (category_mapper, "CategoryMapper", VN_DTYPE_BIT (S64) | VN_DTYPE_BIT (STRING))
ENCODER (label_encoder, "LabelEncoder", VN_ML_FEATURE_BITS | VN_DTYPE_BIT (S16) | VN_DTYPE_BIT (STRING))

/* ---- OneHotEncoder ---- */

static VnTensor *
ml_encode_dup_categories (VnOpContext  *ctx,
                          GError      **error)
{
  if (ctx->in_types[0].dtype == VN_DTYPE_STRING)
    return vn_ml_dup_list (ctx, NULL, NULL, "cats_strings", NULL, error);
  return vn_ml_dup_list (ctx, "cats_int64s", NULL, NULL, NULL, error);
}

static gboolean
ml_encode_one_hot_infer (VnOpContext *ctx,
                         GError     **error)
{
  g_autoptr(VnTensor) categories = NULL;
  VnShape out = ctx->in_types[0].shape;

  if (ctx->in_types[0].dtype == VN_DTYPE_UNDEFINED)
    out = VN_SHAPE_UNKNOWN;
  else if ((categories = ml_encode_dup_categories (ctx, error)) == NULL)
    return FALSE;
  if (out.rank == VN_MAX_RANK)
    return vn_op_fail (ctx, error, _("OneHotEncoder: the output would have more than %d dims"), VN_MAX_RANK);
  if (out.rank >= 0)
    out.dims[out.rank++] = (gint64) categories->n_elements;
  vn_op_set_output (ctx, 0, VN_DTYPE_F32, &out);
  return TRUE;
}

static gboolean
ml_encode_one_hot_prepare (VnOpContext *ctx,
                           gpointer    *prepared,
                           GError     **error)
{
  g_autoptr(VnTensor) categories = NULL;

  *prepared = NULL;
  if (ctx->in_types[0].dtype == VN_DTYPE_UNDEFINED)
    return TRUE;
  categories = ml_encode_dup_categories (ctx, error);
  *prepared = categories != NULL ? vn_ml_table_new (categories, TRUE, error) : NULL;
  return *prepared != NULL;
}

/* Floats count as the integers they begin with. */
static gboolean
ml_encode_find_category (const VnMlTable *table,
                         const VnTensor  *in,
                         gsize            i,
                         gsize           *at)
{
  double value = vn_dtype_is_float (in->dtype) ? vn_tensor_get_double (in, i) : 0;
  gint64 whole = fabs (value) < 0x1p63 ? (gint64) value : G_MININT64;
  const VnTensor number = { .dtype = VN_DTYPE_S64, .n_elements = 1, .data = &whole };

  return vn_dtype_is_float (in->dtype) ? vn_ml_table_find (table, &number, 0, at) : vn_ml_table_find (table, in, i, at);
}

static gboolean
ml_encode_one_hot_run (VnOpContext *ctx,
                       GError     **error)
{
  g_autoptr(VnMlTable) own = NULL;
  const VnMlTable *table = ctx->prepared;
  const VnTensor *in = ctx->in[0];
  const VnShape *out = &ctx->out[0]->shape;
  gsize n = (gsize) out->dims[out->rank - 1], at;
  gboolean zeros = vn_node_get_int (ctx->node, "zeros", 1) != 0;
  float *y = ctx->out[0]->data;

  if (table == NULL)
    {
      g_autoptr(VnTensor) categories = ml_encode_dup_categories (ctx, error);

      if (categories == NULL)
        return FALSE;
      table = own = vn_ml_table_new (categories, TRUE, error);
      if (table == NULL)
        return FALSE;
    }
  memset (y, 0, ctx->out[0]->n_bytes);
  for (gsize i = 0; i < in->n_elements; i++)
    {
      if (ml_encode_find_category (table, in, i, &at))
        y[i * n + at] = 1.f;
      else if (!zeros)
        return vn_op_fail (ctx, error, _("OneHotEncoder: element %zu does not match any category"), i);
    }
  return TRUE;
}

const VnOp vn_op_ml_one_hot_encoder = {
  .domain = "ai.onnx.ml", .type = "OneHotEncoder", .since = 1,
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_ML_FEATURE_BITS | VN_DTYPE_BIT (STRING),
  .family = VN_FAMILY_CONVERSION,
  .infer = ml_encode_one_hot_infer,
  .run = ml_encode_one_hot_run,
  .prepare = ml_encode_one_hot_prepare,
  .release = (void (*) (gpointer)) vn_ml_table_free,
};
