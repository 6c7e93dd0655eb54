/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Post-processors: the tokens that stand before and behind a text, such as that of its beginning. */
#include "tokenizer-private.h"

#include "vn-error.h"
#include "vn-i18n.h"

#include <string.h>

#define MOST_ITEMS 64u

void
tokenizer_post_init (TokenizerPost *self)
{
  self->before = g_array_new (FALSE, FALSE, sizeof (guint32));
  self->after = g_array_new (FALSE, FALSE, sizeof (guint32));
}

void
tokenizer_post_clear (TokenizerPost *self)
{
  g_clear_pointer (&self->before, g_array_unref);
  g_clear_pointer (&self->after, g_array_unref);
}

/* What a special token of a template stands for. */
static void
post_add_special (VnJsonFields *tokens,
                  const char   *name,
                  GArray       *ids)
{
  VnJsonFields token;
  JsonArray *numbers;

  vn_json_fields_enter (&token, tokens, name);
  numbers = vn_json_fields_get_array (&token, "ids");
  for (guint i = 0; numbers != NULL && i < json_array_get_length (numbers) && ids->len < MOST_ITEMS; i++)
    {
      g_autofree char *where = vn_json_fields_dup_where (&token, "ids");
      GError *reason = NULL;
      guint64 id = 0;
      guint32 narrow;

      vn_json_get_count (json_array_get_element (numbers, i), where, TOKENIZER_MOST_TOKENS, &id, &reason);
      vn_json_fields_take_error (&token, reason);
      narrow = (guint32) id;
      g_array_append_val (ids, narrow);
    }
  vn_json_fields_leave (&token, tokens);
}

/* One of "single": the text, or a special token. */
static void
post_read_item (VnJsonFields *item,
                VnJsonFields *tokens,
                GArray       *before,
                GArray       *after,
                guint        *n_texts)
{
  static const char * const known[] = { "Sequence", "SpecialToken", NULL };
  VnJsonFields inner;
  g_autofree char *name = NULL;

  tokenizer_fields_check (item, known);
  if (vn_json_fields_has (item, "Sequence"))
    {
      vn_json_fields_enter (&inner, item, "Sequence");
      name = vn_json_fields_dup_text (&inner, "id");
      if (name != NULL && !g_str_equal (name, "A"))
        vn_json_fields_fail (&inner, "id", _("is “%s”, which is not supported"), name);
      vn_json_fields_leave (&inner, item);
      ++*n_texts;
      return;
    }
  vn_json_fields_enter (&inner, item, "SpecialToken");
  name = vn_json_fields_dup_text (&inner, "id");
  vn_json_fields_leave (&inner, item);
  if (name != NULL)
    post_add_special (tokens, name, *n_texts > 0 ? after : before);
}

/* Puts what a processor adds around what there is. */
static void
post_wrap (TokenizerPost *self,
           GArray        *before,
           GArray        *after)
{
  g_array_prepend_vals (self->before, before->data, before->len);
  g_array_append_vals (self->after, after->data, after->len);
}

static void
post_read_template (TokenizerPost *self,
                    VnJsonFields  *fields)
{
  static const char * const known[] = { "type", "single", "pair", "special_tokens", NULL };
  g_autoptr(GArray) before = g_array_new (FALSE, FALSE, sizeof (guint32)), after = g_array_new (FALSE, FALSE, sizeof (guint32));
  JsonArray *single;
  VnJsonFields tokens;
  guint n_texts = 0, n;

  tokenizer_fields_check (fields, known);
  single = vn_json_fields_get_array (fields, "single");
  n = single != NULL ? json_array_get_length (single) : 0;
  if (single == NULL || !vn_json_fields_contains (fields, "special_tokens"))
    {
      vn_json_fields_get (fields, "special_tokens");
      return;
    }
  vn_json_fields_enter (&tokens, fields, "special_tokens");
  for (guint i = 0; i < MIN (n, MOST_ITEMS) && tokens.error == NULL; i++)
    {
      g_autofree char *where = vn_json_fields_dup_where (fields, "single");
      g_autofree char *whole = g_strdup_printf ("%s[%u]", where, i);
      VnJsonFields item;

      vn_json_fields_init (&item, json_array_get_element (single, i), whole);
      post_read_item (&item, &tokens, before, after, &n_texts);
      vn_json_fields_leave (&item, &tokens);
    }
  vn_json_fields_leave (&tokens, fields);
  if (fields->error == NULL && (n_texts != 1 || n > MOST_ITEMS))
    vn_json_fields_fail (fields, "single", _("does not hold the text once"));
  post_wrap (self, before, after);
}

/* ["</s>", 2] */
static void
post_read_pair (VnJsonFields *fields,
                const char   *id,
                GArray       *ids)
{
  JsonArray *pair = vn_json_fields_get_array (fields, id);
  g_autofree char *where = vn_json_fields_dup_where (fields, id);
  GError *reason = NULL;
  guint64 number = 0;
  guint32 narrow;

  if (pair == NULL)
    return;
  if (json_array_get_length (pair) != 2)
    {
      vn_json_fields_fail (fields, id, _("is not a token and its number"));
      return;
    }
  vn_json_get_count (json_array_get_element (pair, 1), where, TOKENIZER_MOST_TOKENS, &number, &reason);
  vn_json_fields_take_error (fields, reason);
  narrow = (guint32) number;
  g_array_append_val (ids, narrow);
}

static void
post_read_bert (TokenizerPost *self,
                VnJsonFields  *fields)
{
  static const char * const known[] = { "type", "sep", "cls", "trim_offsets", "add_prefix_space", NULL };
  g_autoptr(GArray) before = g_array_new (FALSE, FALSE, sizeof (guint32)), after = g_array_new (FALSE, FALSE, sizeof (guint32));

  tokenizer_fields_check (fields, known);
  post_read_pair (fields, "cls", before);
  post_read_pair (fields, "sep", after);
  post_wrap (self, before, after);
}

/* Only places in the text, which nobody asks for, depend on it. */
static void
post_read_byte_level (TokenizerPost *self,
                      VnJsonFields  *fields)
{
  static const char * const known[] = { "type", "add_prefix_space", "trim_offsets", "use_regex", NULL };

  tokenizer_fields_check (fields, known);
}

static const struct
{
  const char *type;
  void      (*read) (TokenizerPost *self, VnJsonFields *fields);
} kinds[] = {
  { "TemplateProcessing", post_read_template },
  { "BertProcessing", post_read_bert },
  { "RobertaProcessing", post_read_bert },
  { "ByteLevel", post_read_byte_level },
};

static gboolean
post_read_one (TokenizerPost  *self,
               JsonNode       *node,
               const char     *where,
               GError        **error)
{
  g_auto(VnJsonFields) fields = { 0 };
  g_autofree char *type = NULL;
  guint i = 0;

  vn_json_fields_init (&fields, node, where);
  type = vn_json_fields_dup_text (&fields, "type");
  while (type != NULL && i < G_N_ELEMENTS (kinds) && !g_str_equal (kinds[i].type, type))
    i++;
  if (type != NULL && i == G_N_ELEMENTS (kinds))
    vn_json_fields_take_error (&fields, g_error_new (VN_ERROR, VN_ERROR_UNSUPPORTED, _("%s.type: “%s” is not supported"), where,
                                                     type));
  else if (type != NULL)
    kinds[i].read (self, &fields);
  return vn_json_fields_end (&fields, error);
}

/**
 * tokenizer_post_read:
 * @node: (nullable): the member “post_processor”: one, or a Sequence of them
 */
gboolean
tokenizer_post_read (TokenizerPost  *self,
                     JsonNode       *node,
                     GError        **error)
{
  static const char * const known[] = { "type", "processors", NULL };
  g_auto(VnJsonFields) fields = { 0 };
  g_autofree char *type = NULL;
  JsonArray *array;

  if (node == NULL || JSON_NODE_HOLDS_NULL (node))
    return TRUE;
  vn_json_fields_init (&fields, node, "post_processor");
  type = vn_json_fields_dup_text (&fields, "type");
  if (g_strcmp0 (type, "Sequence") != 0)
    return type != NULL ? post_read_one (self, node, "post_processor", error) : vn_json_fields_end (&fields, error);
  tokenizer_fields_check (&fields, known);
  array = vn_json_fields_get_array (&fields, "processors");
  for (guint i = 0; array != NULL && fields.error == NULL && i < json_array_get_length (array); i++)
    {
      g_autofree char *where = g_strdup_printf ("post_processor.processors[%u]", i);

      if (!post_read_one (self, json_array_get_element (array, i), where, error))
        return FALSE;
    }
  return vn_json_fields_end (&fields, error);
}
