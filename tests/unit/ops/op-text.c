/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "op-text.h"

#include <math.h>
#include <string.h>

static const struct
{
  const char *name;
  VnDType     dtype;
} types[] = {
  { "f32", VN_DTYPE_F32 }, { "f64", VN_DTYPE_F64 }, { "f16", VN_DTYPE_F16 }, { "bf16", VN_DTYPE_BF16 },
  { "u8", VN_DTYPE_U8 }, { "s8", VN_DTYPE_S8 }, { "u16", VN_DTYPE_U16 }, { "s16", VN_DTYPE_S16 },
  { "u32", VN_DTYPE_U32 }, { "s32", VN_DTYPE_S32 }, { "u64", VN_DTYPE_U64 }, { "s64", VN_DTYPE_S64 },
  { "bool", VN_DTYPE_BOOL }, { "u4", VN_DTYPE_U4 }, { "s4", VN_DTYPE_S4 },
};

static VnDType
type_from_name (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (g_str_equal (types[i].name, name))
      return types[i].dtype;
  g_error ("no type %s", name);
}

static VnShape
shape_from_text (const char *text)
{
  g_auto(GStrv) parts = g_strsplit (text, ",", -1);
  VnShape shape = { 0 };

  for (guint i = 0; *text != '\0' && parts[i] != NULL; i++)
    shape.dims[shape.rank++] = g_ascii_strtoll (parts[i], NULL, 10);
  return shape;
}

static void
store_integers (VnTensor *tensor,
                char    **values)
{
  guint bits = vn_dtype_get_bits (tensor->dtype);

  memset (tensor->data, 0, tensor->n_bytes);
  for (gsize i = 0; i < tensor->n_elements; i++)
    {
      gint64 value = values[i][0] == '-' ? g_ascii_strtoll (values[i], NULL, 10)
                                         : (gint64) g_ascii_strtoull (values[i], NULL, 10);

      if (bits < 8)
        ((guint8 *) tensor->data)[i / 2] |= (guint8) ((value & 15) << (i % 2 * 4));
      else
        memcpy ((char *) tensor->data + i * bits / 8, &value, bits / 8);
    }
}

/**
 * op_type_from_text:
 * @text: "f32[2,3]" and whatever follows
 */
VnTensorType
op_type_from_text (const char *text)
{
  gsize name = strcspn (text, "["), dims = strcspn (text, "]");
  g_autofree char *dtype = g_strndup (text, name);
  g_autofree char *shape = NULL;

  g_assert_cmpuint (dims, >, name);
  shape = g_strndup (text + name + 1, dims - name - 1);
  return (VnTensorType) { type_from_name (dtype), shape_from_text (shape) };
}

/**
 * op_tensor_from_text:
 *
 * Returns: (transfer full) (nullable): the tensor, %NULL for "-"
 */
VnTensor *
op_tensor_from_text (const char *text)
{
  g_auto(GStrv) halves = g_strsplit (text, "=", 2);
  g_auto(GStrv) values = halves[0] != NULL && halves[1] != NULL ? g_strsplit (halves[1], ",", -1) : NULL;
  char *bracket = strchr (halves[0], '[');
  VnTensor *tensor, *converted;
  VnShape shape;
  VnDType dtype;

  if (g_str_equal (text, "-"))
    return NULL;
  g_assert_nonnull (bracket);
  *bracket = '\0';
  bracket[strlen (bracket + 1)] = '\0';
  shape = shape_from_text (bracket + 1);
  dtype = type_from_name (halves[0]);
  tensor = vn_tensor_new (vn_dtype_is_float (dtype) ? VN_DTYPE_F64 : dtype, &shape, NULL);
  g_assert_nonnull (tensor);
  g_assert_cmpuint (tensor->n_elements, ==, values != NULL && *halves[1] != '\0' ? g_strv_length (values) : 0);
  if (!vn_dtype_is_float (dtype))
    {
      store_integers (tensor, values);
      return tensor;
    }
  for (gsize i = 0; i < tensor->n_elements; i++)
    ((double *) tensor->data)[i] = g_ascii_strtod (values[i], NULL);
  converted = vn_tensor_convert (tensor, dtype, NULL);
  vn_tensor_unref (tensor);
  g_assert_nonnull (converted);
  return converted;
}

static void
unref_nullable (gpointer tensor)
{
  if (tensor != NULL)
    vn_tensor_unref (tensor);
}

/**
 * op_tensors_from_text:
 *
 * Returns: (transfer full): of VnTensor, %NULL for omitted ones
 */
GPtrArray *
op_tensors_from_text (const char *text)
{
  g_auto(GStrv) words = g_strsplit (text, " ", -1);
  GPtrArray *tensors = g_ptr_array_new_with_free_func (unref_nullable);

  for (guint i = 0; words[i] != NULL; i++)
    if (*words[i] != '\0')
      g_ptr_array_add (tensors, op_tensor_from_text (words[i]));
  return tensors;
}

/**
 * op_tensor_to_text:
 *
 * Returns: (transfer full): type, shape and all elements, for messages
 */
char *
op_tensor_to_text (const VnTensor *tensor)
{
  g_autofree char *shape = vn_shape_to_string (&tensor->shape, ",");
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "%s[%s]=", vn_dtype_get_name (tensor->dtype), shape);
  for (gsize i = 0; i < tensor->n_elements; i++)
    g_string_append_printf (text, "%s%.9g", i > 0 ? "," : "", vn_tensor_get_double (tensor, i));
  return g_string_free (text, FALSE);
}

static gboolean
is_near (const VnTensor *found,
         const VnTensor *wanted,
         double          tolerance)
{
  if (found->dtype != wanted->dtype || !vn_shape_equal (&found->shape, &wanted->shape))
    return FALSE;
  for (gsize i = 0; i < wanted->n_elements; i++)
    {
      double a = vn_tensor_get_double (found, i), b = vn_tensor_get_double (wanted, i);

      if (isnan (b) ? !isnan (a) : isinf (b) ? a != b : !(fabs (a - b) <= tolerance * MAX (1., fabs (b))))
        return FALSE;
    }
  return TRUE;
}

static void
expect_error (const OpTextCase *c,
              const OpCall     *call)
{
  VnTensor *outputs[16] = { NULL };
  g_autoptr(GError) error = NULL;
  gboolean ok = op_call (call, outputs, &error);

  g_test_message ("  %s", error != NULL ? error->message : "no error");
  g_assert_false (ok);
  g_assert_nonnull (error);
  g_assert_nonnull (strstr (error->message, c->outputs + 1));
}

static void
expect_outputs (const OpTextCase *c,
                const OpCall     *call,
                GPtrArray        *wanted,
                double            tolerance)
{
  VnTensor *outputs[16] = { NULL };
  g_autoptr(GError) error = NULL;

  op_call (call, outputs, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < wanted->len; i++)
    {
      g_autofree char *text = op_tensor_to_text (outputs[i]);
      g_autofree char *expected = op_tensor_to_text (g_ptr_array_index (wanted, i));

      g_test_message ("  found    %s", text);
      g_test_message ("  expected %s", expected);
      g_assert_true (is_near (outputs[i], g_ptr_array_index (wanted, i), tolerance));
      vn_tensor_unref (outputs[i]);
    }
}

/**
 * op_run_text_cases:
 * @tolerance: relative to the larger of 1 and the expected value
 *
 * Runs each case with all inputs known from the start.
 */
void
op_run_text_cases (const OpTextCase *cases,
                   gsize             n,
                   double            tolerance)
{
  for (gsize i = 0; i < n; i++)
    {
      const OpTextCase *c = &cases[i];
      g_autoptr(GPtrArray) inputs = op_tensors_from_text (c->inputs);
      g_autoptr(GPtrArray) wanted = op_tensors_from_text (c->outputs[0] == '!' ? "" : c->outputs);
      const char *colon = strchr (c->type, ':');
      g_autofree char *domain = g_strndup (c->type, colon != NULL ? (gsize) (colon - c->type) : 0);
      OpCall call = { .domain = domain, .type = colon != NULL ? colon + 1 : c->type, .opset = c->opset,
                      .attributes = c->attributes,
                      .inputs = (VnTensor **) inputs->pdata, .n_inputs = inputs->len,
                      .n_outputs = MAX (wanted->len, 1), .first_known = TRUE };

      g_test_message ("%s %" G_GINT64_FORMAT " %s: %s", c->type, c->opset, c->attributes, c->inputs);
      if (c->outputs[0] == '!')
        expect_error (c, &call);
      else
        expect_outputs (c, &call, wanted, tolerance);
    }
}
