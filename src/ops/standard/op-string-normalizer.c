/* SPDX-License-Identifier: GPL-3.0-or-later */
/* StringNormalizer: words that stand in a list are dropped, the others change case. Letters change one by one, as in
 * ONNX Runtime, and the same way whatever the locale: "ß" has no upper case. */
#include "vn-string-private.h"

typedef enum { KEEP, LOWER, UPPER } CaseChange;

typedef struct
{
  CaseChange  change;
  gboolean    sensitive;
  GHashTable *stopwords;
} Normalizer;

static char *
string_normalizer_change_case (const char *text,
                               CaseChange  change)
{
  g_autoptr(GString) out = g_string_new (NULL);

  if (change == KEEP)
    return g_strdup (text);
  for (const char *at = text; *at != '\0'; at = g_utf8_next_char (at))
    {
      gunichar c = g_utf8_get_char (at);

      g_string_append_unichar (out, change == LOWER ? g_unichar_tolower (c) : g_unichar_toupper (c));
    }
  return g_string_free (g_steal_pointer (&out), FALSE);
}

/* How words are compared with the list. */
static char *
string_normalizer_dup_key (const Normalizer *self,
                           const char       *text)
{
  return string_normalizer_change_case (text, self->sensitive ? KEEP : LOWER);
}

static void
normalizer_clear (Normalizer *self)
{
  g_clear_pointer (&self->stopwords, g_hash_table_unref);
}

static gboolean
normalizer_init (Normalizer   *self,
                 VnOpContext  *ctx,
                 GError      **error)
{
  const VnAttr *attr = vn_node_get_attr (ctx->node, "stopwords");
  g_autofree char *action = vn_node_dup_string (ctx->node, "case_change_action", "NONE");

  self->change = g_str_equal (action, "LOWER") ? LOWER : g_str_equal (action, "UPPER") ? UPPER : KEEP;
  if (self->change == KEEP && !g_str_equal (action, "NONE"))
    return vn_op_fail (ctx, error, _("case_change_action is “%s”, expected LOWER, UPPER or NONE"), action);
  self->sensitive = vn_node_get_int (ctx->node, "is_case_sensitive", 0) != 0;
  self->stopwords = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; attr != NULL && attr->strings != NULL && i < attr->strings->len; i++)
    {
      gsize n;
      const char *data = g_bytes_get_data (g_ptr_array_index (attr->strings, i), &n);
      g_autofree char *word = g_strndup (data != NULL ? data : "", n);

      if (g_utf8_validate (word, -1, NULL))
        g_hash_table_add (self->stopwords, string_normalizer_dup_key (self, word));
    }
  return TRUE;
}

static gboolean
string_normalizer_is_kept (const Normalizer *self,
                           const char       *text)
{
  g_autofree char *key = string_normalizer_dup_key (self, text);

  return !g_hash_table_contains (self->stopwords, key);
}

static gboolean
string_normalizer_check_words (VnOpContext    *ctx,
                               const VnTensor *x,
                               GError        **error)
{
  for (gsize i = 0; i < x->n_elements; i++)
    if (!g_utf8_validate (vn_string_get (x, i), -1, NULL))
      return vn_op_fail (ctx, error, _("string %zu is not valid UTF-8"), i);
  return TRUE;
}

static gboolean
normalizer_infer (VnOpContext *ctx,
                  GError     **error)
{
  const VnShape *x = &ctx->in_types[0].shape;
  VnShape y = *x;
  Normalizer self = { 0 };
  gint64 kept = 0;

  if (ctx->in_types[0].dtype != VN_DTYPE_STRING && ctx->in_types[0].dtype != VN_DTYPE_UNDEFINED)
    return vn_op_fail (ctx, error, _("only strings can be normalized"));
  if (x->rank >= 0 && x->rank != 1 && (x->rank != 2 || (x->dims[0] >= 0 && x->dims[0] != 1)))
    return vn_op_fail (ctx, error, _("the strings must be one row: [n] or [1,n]"));
  if (x->rank >= 0)
    y.dims[x->rank - 1] = VN_DIM_UNKNOWN;
  vn_op_set_output (ctx, 0, VN_DTYPE_STRING, &y);
  if (!normalizer_init (&self, ctx, error))
    return FALSE;
  if (ctx->in == NULL || ctx->in[0] == NULL || !string_normalizer_check_words (ctx, ctx->in[0], error))
    {
      normalizer_clear (&self);
      return ctx->in == NULL || ctx->in[0] == NULL;
    }
  for (gsize i = 0; i < ctx->in[0]->n_elements; i++)
    kept += string_normalizer_is_kept (&self, vn_string_get (ctx->in[0], i));
  y.dims[x->rank - 1] = MAX (kept, 1);
  vn_op_set_output (ctx, 0, VN_DTYPE_STRING, &y);
  normalizer_clear (&self);
  return TRUE;
}

static gboolean
normalizer_run (VnOpContext *ctx,
                GError     **error)
{
  const VnTensor *x = ctx->in[0];
  Normalizer self = { 0 };
  gsize n = 0;

  if (!string_normalizer_check_words (ctx, x, error) || !normalizer_init (&self, ctx, error))
    return FALSE;
  for (gsize i = 0; i < x->n_elements && n < ctx->out[0]->n_elements; i++)
    if (string_normalizer_is_kept (&self, vn_string_get (x, i)))
      vn_string_take (ctx->out[0], n++, string_normalizer_change_case (vn_string_get (x, i), self.change));
  normalizer_clear (&self);
  return TRUE;
}

const VnOp vn_op_string_normalizer_10 = {
  .domain = "", .type = "StringNormalizer", .since = 10,
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_DTYPE_BIT (STRING),
  .infer = normalizer_infer,
  .run = normalizer_run,
};
