/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A tokenizer.json of Hugging Face: added tokens are found in the text, what lies between is normalized, split into words, and
 * each word made into tokens by byte pair encoding or Unigram; tokens of the beginning and end come around. The numbers are those
 * of the library “tokenizers”. What is not known here is refused, since it might change them. */

#include "tokenizer-private.h"

#include "vn-error.h"
#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-message.h"

#include <string.h>

#define CACHE_SLOTS 32768u      /* words whose tokens are kept while a text is read */
#define LONGEST_KEPT 64u        /* bytes of such a word, */
#define MOST_KEPT 14u           /* and its tokens */

struct _VnTokenizer
{
  GPtrArray            *normalizers, *pre_tokenizers;
  TokenizerAddedSet     added;
  TokenizerPost         post;
  const TokenizerModel *model;
  gpointer              data;
  guint32               n;
};

typedef struct { guint8 length, n; char word[LONGEST_KEPT]; guint32 tokens[MOST_KEPT]; } Kept;

/**
 * vn_tokenizer_free:
 * @self: (nullable)
 */
void
vn_tokenizer_free (VnTokenizer *self)
{
  if (self == NULL)
    return;
  g_clear_pointer (&self->normalizers, g_ptr_array_unref);
  g_clear_pointer (&self->pre_tokenizers, g_ptr_array_unref);
  tokenizer_added_clear (&self->added);
  tokenizer_post_clear (&self->post);
  if (self->data != NULL)
    self->model->free (self->data);
  g_free (self);
}

/**
 * vn_tokenizer_get_n:
 *
 * Returns: one more than the largest number of a token
 */
guint32
vn_tokenizer_get_n (const VnTokenizer *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->n;
}

/* ---- reading ---- */

static void
tokenizer_read_model (VnTokenizer  *self,
                      VnJsonFields *fields)
{
  static const TokenizerModel * const models[] = { &tokenizer_bpe, &tokenizer_unigram };
  g_autofree char *type = NULL;
  VnJsonFields model;

  vn_json_fields_enter (&model, fields, "model");
  type = vn_json_fields_dup_text_if (&model, "type");
  if (type == NULL && vn_json_fields_has (&model, "merges"))   /* files of the first versions do not say it */
    type = g_strdup ("BPE");
  for (guint i = 0; type != NULL && i < G_N_ELEMENTS (models); i++)
    if (g_str_equal (models[i]->type, type))
      self->model = models[i];
  if (self->model != NULL)
    self->data = self->model->read (&model);
  else
    vn_json_fields_take_error (&model, g_error_new (VN_ERROR, VN_ERROR_UNSUPPORTED, _("model.type: “%s” is not supported"),
                                                    type != NULL ? type : ""));
  vn_json_fields_leave (&model, fields);
}

/* An added token that the vocabulary has, too, must have the same number there. */
static gboolean
tokenizer_check_added (VnTokenizer  *self,
                       GError      **error)
{
  self->n = self->model->count (self->data);
  for (guint i = 0; i < self->added.tokens->len; i++)
    {
      const TokenizerAdded *token = &g_array_index (self->added.tokens, TokenizerAdded, i);
      const guint32 id = self->model->find (self->data, token->content, strlen (token->content));

      self->n = MAX (self->n, token->id + 1);
      if (id == TOKENIZER_NONE || id == token->id)
        continue;
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("added_tokens[%u].id: is %u, but in the vocabulary “%s” is %u"), i,
                   token->id, token->content, id);
      return FALSE;
    }
  return TRUE;
}

static gboolean
tokenizer_read (VnTokenizer   *self,
                VnJsonFields  *fields,
                GError       **error)
{
  static const char * const known[] = { "version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer",
                                        "post_processor", "decoder", "model", NULL };
  JsonObject *object = fields->object;

  tokenizer_fields_check (fields, known);
  if (!vn_json_fields_end (fields, error))
    return FALSE;
  self->normalizers = tokenizer_steps_read (tokenizer_normalizers, "normalizers", json_object_get_member (object, "normalizer"),
                                            "normalizer", error);
  if (self->normalizers == NULL)
    return FALSE;
  self->pre_tokenizers = tokenizer_steps_read (tokenizer_pre_tokenizers, "pretokenizers",
                                               json_object_get_member (object, "pre_tokenizer"), "pre_tokenizer", error);
  if (self->pre_tokenizers == NULL ||
      !tokenizer_post_read (&self->post, json_object_get_member (object, "post_processor"), error) ||
      !tokenizer_added_read (&self->added, json_object_get_member (object, "added_tokens"), self->normalizers, error))
    return FALSE;
  tokenizer_read_model (self, fields);
  return vn_json_fields_end (fields, error) && tokenizer_check_added (self, error);
}

/**
 * vn_tokenizer_parse:
 * @name: of the file, for messages
 *
 * Returns: (transfer full) (nullable): the tokenizer; %VN_ERROR_UNSUPPORTED names a key that is not known, %VN_ERROR_MALFORMED
 *   one that is wrong
 */
VnTokenizer *
vn_tokenizer_parse (const char  *text,
                    gssize       length,
                    const char  *name,
                    GError     **error)
{
  g_autoptr(VnTokenizer) self = NULL;
  g_autoptr(JsonNode) root = NULL;
  g_auto(VnJsonFields) fields = { 0 };
  GError *reason = NULL;

  g_return_val_if_fail (text != NULL && name != NULL, NULL);

  root = vn_json_parse (text, length, name, error);
  if (root == NULL)
    return NULL;
  self = g_new0 (VnTokenizer, 1);
  tokenizer_added_init (&self->added);
  tokenizer_post_init (&self->post);
  vn_json_fields_init (&fields, root, "");
  if (tokenizer_read (self, &fields, &reason))
    return g_steal_pointer (&self);
  g_prefix_error (&reason, "“%s”: ", name);
  vn_message_make_valid (&reason);
  g_propagate_error (error, reason);
  return NULL;
}

static gpointer
tokenizer_parse_file (const char  *text,
                      gssize       length,
                      const char  *name,
                      GError     **error)
{
  return vn_tokenizer_parse (text, length, name, error);
}

/**
 * vn_tokenizer_find:
 * @named: (nullable): a tokenizer.json, or the folder it lies in
 * @text: a text, or a folder of them
 *
 * Returns: (transfer full) (nullable): the one that is named, whether it is there or not, else one that lies beside the text
 */
char *
vn_tokenizer_find (const char *named,
                   const char *text)
{
  g_autofree char *folder = NULL, *beside = NULL;

  g_return_val_if_fail (text != NULL, NULL);

  if (named != NULL)
    return g_file_test (named, G_FILE_TEST_IS_DIR) ? g_build_filename (named, VN_TOKENIZER_NAME, NULL) : g_strdup (named);
  folder = g_file_test (text, G_FILE_TEST_IS_DIR) ? g_strdup (text) : g_path_get_dirname (text);
  beside = g_build_filename (folder, VN_TOKENIZER_NAME, NULL);
  return g_file_test (beside, G_FILE_TEST_IS_REGULAR) ? g_steal_pointer (&beside) : NULL;
}

/**
 * vn_tokenizer_load:
 * @path: of a tokenizer.json
 *
 * Returns: (transfer full) (nullable): as of vn_tokenizer_parse()
 */
VnTokenizer *
vn_tokenizer_load (const char  *path,
                   GError     **error)
{
  g_return_val_if_fail (path != NULL, NULL);

  return vn_file_parse (path, tokenizer_parse_file, (GDestroyNotify) vn_tokenizer_free, error);
}

/* ---- words ---- */

static Kept *
tokenizer_find_slot (Kept       *cache,
                     const char *word,
                     gsize       length)
{
  guint32 hash = 2166136261u;

  for (gsize i = 0; i < length; i++)
    hash = (hash ^ (guint8) word[i]) * 16777619u;
  return &cache[(hash ^ hash >> 16) % CACHE_SLOTS];
}

static gboolean
tokenizer_encode_word (const VnTokenizer  *self,
                       const char         *word,
                       gsize               length,
                       Kept               *cache,
                       GArray             *tokens,
                       GError            **error)
{
  Kept *slot = length <= LONGEST_KEPT ? tokenizer_find_slot (cache, word, length) : NULL;
  const guint n = tokens->len;

  if (slot != NULL && slot->length == length && memcmp (slot->word, word, length) == 0)
    {
      g_array_append_vals (tokens, slot->tokens, slot->n);
      return TRUE;
    }
  if (!self->model->encode (self->data, word, length, tokens, error))
    return FALSE;
  if (slot == NULL || tokens->len - n > MOST_KEPT)
    return TRUE;
  slot->length = (guint8) length;
  slot->n = (guint8) (tokens->len - n);
  memcpy (slot->word, word, length);
  for (guint i = 0; i < slot->n; i++)
    slot->tokens[i] = g_array_index (tokens, guint32, n + i);
  return TRUE;
}

static gboolean
tokenizer_encode_words (const VnTokenizer   *self,
                        const TokenizerText *text,
                        Kept                *cache,
                        GArray              *tokens,
                        GError             **error)
{
  for (guint i = 0; i < text->parts->len; i++)
    {
      const TokenizerPart *part = &g_array_index (text->parts, TokenizerPart, i);

      if (!tokenizer_encode_word (self, text->text->str + part->start, part->length, cache, tokens, error) ||
          (i % 4096 == 0 && (g_cancellable_set_error_if_cancelled (g_cancellable_get_current (), error) ||
                             !tokenizer_check_tokens (tokens, error))))
        return FALSE;
    }
  return TRUE;
}

/* ---- a text ---- */

static void
tokenizer_take_part (TokenizerText *text,
                     const char    *bytes,
                     gsize          length,
                     gboolean       is_first)
{
  tokenizer_text_init (text);
  g_string_append_len (text->text, bytes, (gssize) length);
  tokenizer_text_end_part (text, 0, is_first);
}

/* What lies between added tokens, all of which have been found. */
static gboolean
tokenizer_encode_plain (const VnTokenizer  *self,
                        const char         *bytes,
                        gsize               length,
                        gboolean            is_first,
                        Kept               *cache,
                        GArray             *tokens,
                        GError            **error)
{
  TokenizerText text;
  gboolean good;

  tokenizer_take_part (&text, bytes, length, is_first);
  good = tokenizer_steps_apply (self->pre_tokenizers, &text, error) &&
         tokenizer_encode_words (self, &text, cache, tokens, error);
  tokenizer_text_clear (&text);
  return good;
}

/* What lies between added tokens that are found in the text as it is. */
static gboolean
tokenizer_encode_raw (const VnTokenizer  *self,
                      const char         *bytes,
                      gsize               length,
                      gboolean            is_first,
                      Kept               *cache,
                      GArray             *tokens,
                      GError            **error)
{
  TokenizerFind find = { 0 };
  TokenizerText text;
  gboolean good, more = TRUE;

  tokenizer_take_part (&text, bytes, length, is_first);
  good = tokenizer_steps_apply (self->normalizers, &text, error);
  while (good && more)
    {
      more = tokenizer_added_next (&self->added, &self->added.normalized, text.text->str, text.text->len, &find);
      if (find.start > find.from)
        good = tokenizer_encode_plain (self, text.text->str + find.from, find.start - find.from, is_first && find.from == 0,
                                       cache, tokens, error);
      if (good && more)
        g_array_append_val (tokens, find.id);
    }
  tokenizer_text_clear (&text);
  return good;
}

/**
 * vn_tokenizer_encode:
 * @text: (array length=length): valid UTF-8; nothing need follow it
 * @tokens: (element-type guint32): appended to: the numbers of its tokens, with those that the post-processor puts around it
 *
 * The thread's current cancellable ends it.
 */
gboolean
vn_tokenizer_encode (const VnTokenizer  *self,
                     const char         *text,
                     gsize               length,
                     GArray             *tokens,
                     GError            **error)
{
  g_autofree Kept *cache = NULL;
  TokenizerFind find = { 0 };
  gboolean good = TRUE, more = TRUE;

  g_return_val_if_fail (self != NULL && (text != NULL || length == 0) && tokens != NULL, FALSE);

  if (length > TOKENIZER_MOST_BYTES)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("the text is longer than %d MB"), (int) (TOKENIZER_MOST_BYTES >> 20));
      return FALSE;
    }
  cache = g_new0 (Kept, CACHE_SLOTS);
  g_array_append_vals (tokens, self->post.before->data, self->post.before->len);
  while (good && more)
    {
      more = tokenizer_added_next (&self->added, &self->added.raw, text, length, &find);
      if (find.start > find.from)
        good = tokenizer_encode_raw (self, text + find.from, find.start - find.from, find.from == 0, cache, tokens, error);
      if (good && more)
        g_array_append_val (tokens, find.id);
    }
  g_array_append_vals (tokens, self->post.after->data, self->post.after->len);
  return good && tokenizer_check_tokens (tokens, error);
}
