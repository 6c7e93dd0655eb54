/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a key stands in a list of strings or numbers. */
#include "vn-ml.h"
#include "vn-string-private.h"

#include "vn-memory.h"

struct _VnMlTable
{
  VnTensor   *keys;
  gint64     *numbers;   /* of numeric keys */
  GHashTable *places;    /* string or gint64, borrowed: index + 1 */
};

/* Equal values become the same number: one zero, one NaN. */
static gint64
ml_table_number_key (const VnTensor *tensor,
                     gsize           i)
{
  double value;
  gint64 bits;

  if (!vn_dtype_is_float (tensor->dtype))
    return vn_tensor_get_s64 (tensor, i);
  value = vn_tensor_get_double (tensor, i);
  value = isnan (value) ? (double) NAN : value == 0 ? 0. : value;
  memcpy (&bits, &value, sizeof bits);
  return bits;
}

/**
 * vn_ml_table_new:
 * @keys: strings or numbers
 * @last_wins: which one counts if a key is there twice
 *
 * Returns: (transfer full) (nullable): a table of their places; %NULL with %VN_ERROR_MEMORY
 */
VnMlTable *
vn_ml_table_new (VnTensor  *keys,
                 gboolean   last_wins,
                 GError   **error)
{
  gboolean text = keys->dtype == VN_DTYPE_STRING;
  g_autofree gint64 *numbers = text ? NULL : vn_try_new (gint64, keys->n_elements, error);
  VnMlTable *self;

  if (!text && numbers == NULL)
    return NULL;
  self = g_new0 (VnMlTable, 1);
  self->keys = vn_tensor_ref (keys);
  self->numbers = g_steal_pointer (&numbers);
  self->places = text ? g_hash_table_new (g_str_hash, g_str_equal) : g_hash_table_new (g_int64_hash, g_int64_equal);
  for (gsize i = 0; i < keys->n_elements; i++)
    {
      gpointer key = text ? ((char **) keys->data)[i] : (char *) &self->numbers[i];

      if (!text)
        self->numbers[i] = ml_table_number_key (keys, i);
      if (last_wins || !g_hash_table_contains (self->places, key))
        g_hash_table_replace (self->places, key, GSIZE_TO_POINTER (i + 1));
    }
  return self;
}

void
vn_ml_table_free (VnMlTable *self)
{
  if (self == NULL)
    return;
  g_hash_table_unref (self->places);
  g_free (self->numbers);
  vn_tensor_unref (self->keys);
  g_free (self);
}

/**
 * vn_ml_table_is_text:
 *
 * Returns: whether the keys are strings: only strings can be looked up then, and else only numbers
 */
gboolean
vn_ml_table_is_text (const VnMlTable *self)
{
  return self->keys->dtype == VN_DTYPE_STRING;
}

/**
 * vn_ml_table_find:
 * @in: strings if the keys are; else integers if the keys are, or floats
 * @found: (out): place of element @i among the keys
 *
 * Returns: whether it is there
 */
gboolean
vn_ml_table_find (const VnMlTable *self,
                  const VnTensor  *in,
                  gsize            i,
                  gsize           *found)
{
  gint64 number = self->numbers != NULL ? ml_table_number_key (in, i) : 0;
  gconstpointer key = self->numbers != NULL ? (gconstpointer) &number : vn_string_get (in, i);
  gsize place = GPOINTER_TO_SIZE (g_hash_table_lookup (self->places, key));

  *found = place - 1;
  return place > 0;
}

static VnTensor *
ml_table_strings_tensor (GPtrArray  *strings,
                         GError    **error)
{
  VnTensor *tensor = vn_tensor_new (VN_DTYPE_STRING, &VN_SHAPE (strings->len), error);

  for (guint i = 0; tensor != NULL && i < strings->len; i++)
    vn_string_take (tensor, i, vn_ml_dup_bytes (g_ptr_array_index (strings, i)));
  return tensor;
}

/**
 * vn_ml_dup_list:
 * @ints: (nullable): name of an attribute; so are the others, of which one at least is there
 *
 * Finds a list that may be written in one of several attributes.
 *
 * Returns: (transfer full) (nullable): its elements; %NULL with an error if none of the attributes is there
 */
VnTensor *
vn_ml_dup_list (VnOpContext  *ctx,
                const char   *ints,
                const char   *floats,
                const char   *strings,
                const char   *tensor,
                GError      **error)
{
  const VnAttr *text = strings != NULL ? vn_node_get_attr (ctx->node, strings) : NULL;
  VnTensor *held = tensor != NULL ? vn_node_get_tensor (ctx->node, tensor) : NULL;
  const gint64 *numbers;
  const float *values;
  gsize n;

  if (held != NULL)
    return held->dtype == VN_DTYPE_STRING ? vn_tensor_ref (held) : vn_tensor_get_aligned (held, error);
  if (text != NULL && text->type == VN_ATTR_STRINGS && text->strings != NULL)
    return ml_table_strings_tensor (text->strings, error);
  if (ints != NULL && (numbers = vn_node_get_ints (ctx->node, ints, &n)) != NULL)
    return vn_tensor_new_copy (VN_DTYPE_S64, &VN_SHAPE ((gint64) n), numbers, error);
  if (floats != NULL && (values = vn_node_get_floats (ctx->node, floats, &n)) != NULL)
    return vn_tensor_new_copy (VN_DTYPE_F32, &VN_SHAPE ((gint64) n), values, error);
  vn_op_fail (ctx, error, _("%s: the attribute %s or its equivalent is missing"), ctx->op->type,
              ints != NULL ? ints : floats != NULL ? floats : strings != NULL ? strings : tensor);
  return NULL;
}
