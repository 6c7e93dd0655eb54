/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A text in parts, and the steps that change it: reading lists of them, and taking them one after another. */
#include "tokenizer-private.h"

#include "vn-error.h"
#include "vn-i18n.h"

#include <string.h>

#define MOST_STEPS 64

/* ---- a text in parts ---- */

void
tokenizer_text_init (TokenizerText *self)
{
  *self = (TokenizerText) { g_string_new (NULL), g_array_new (FALSE, FALSE, sizeof (TokenizerPart)) };
}

void
tokenizer_text_clear (TokenizerText *self)
{
  if (self->text != NULL)
    g_string_free (self->text, TRUE);
  g_clear_pointer (&self->parts, g_array_unref);
  self->text = NULL;
}

/**
 * tokenizer_text_append:
 *
 * Returns: %FALSE with %VN_ERROR_LIMIT where the text becomes too long
 */
gboolean
tokenizer_text_append (TokenizerText  *self,
                       const char     *bytes,
                       gsize           length,
                       GError        **error)
{
  if (length > TOKENIZER_MOST_BYTES || self->text->len > TOKENIZER_MOST_BYTES - length)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("the text is longer than %d MB"), (int) (TOKENIZER_MOST_BYTES >> 20));
      return FALSE;
    }
  g_string_append_len (self->text, bytes, (gssize) length);
  return TRUE;
}

/* What was appended from @start on is a part, unless it is nothing. */
void
tokenizer_text_end_part (TokenizerText *self,
                         gsize          start,
                         gboolean       is_first)
{
  TokenizerPart part = { start, self->text->len - start, is_first };

  if (part.length > 0)
    g_array_append_val (self->parts, part);
}

/* ---- members ---- */

/* Whatever is not known may change the numbers: it is refused. */
void
tokenizer_fields_check (VnJsonFields       *fields,
                        const char * const *known)
{
  JsonObjectIter iter;
  const char *id;

  if (fields->object == NULL)
    return;
  json_object_iter_init (&iter, fields->object);
  while (fields->error == NULL && json_object_iter_next (&iter, &id, NULL))
    if (!g_strv_contains (known, id))
      {
        g_autofree char *where = vn_json_fields_dup_where (fields, id);

        vn_json_fields_take_error (fields, g_error_new (VN_ERROR, VN_ERROR_UNSUPPORTED, _("%s: this key is not supported"),
                                                        where));
      }
}

/* %FALSE where it is not there. */
gboolean
tokenizer_fields_is (VnJsonFields *fields,
                     const char   *id)
{
  return vn_json_fields_has (fields, id) && vn_json_fields_get_bool (fields, id);
}

/* (transfer full) (nullable): a short text that is put in or looked for */
char *
tokenizer_fields_dup_content (VnJsonFields *fields,
                              const char   *id)
{
  char *text = vn_json_fields_dup_text (fields, id);

  if (text != NULL && strlen (text) > TOKENIZER_LONGEST_PIECE)
    vn_json_fields_fail (fields, id, _("has %zu bytes; at most %u are supported"), strlen (text), TOKENIZER_LONGEST_PIECE);
  return text;
}

/* ---- reading ---- */

typedef struct { JsonNode *node; char *where; } Waiting;

static void
steps_clear_waiting (gpointer data)
{
  g_free (((Waiting *) data)->where);
}

static void
steps_free_one (gpointer data)
{
  TokenizerStep *step = data;

  g_clear_pointer (&step->regex, g_regex_unref);
  g_free (step->literal);
  g_free (step->content);
  g_free (step);
}

/* Those of a Sequence wait, the first on top. */
static void
steps_unfold (GArray       *waiting,
              VnJsonFields *fields,
              const char   *list)
{
  const char * const known[] = { "type", list, NULL };
  JsonArray *array;
  guint n;

  tokenizer_fields_check (fields, known);
  array = vn_json_fields_get_array (fields, list);
  n = array != NULL ? json_array_get_length (array) : 0;
  if (n + waiting->len > MOST_STEPS)
    {
      vn_json_fields_fail (fields, list, _("has more than %d steps"), MOST_STEPS);
      return;
    }
  for (guint i = n; i-- > 0;)
    {
      g_autofree char *where = vn_json_fields_dup_where (fields, list);
      Waiting one = { json_array_get_element (array, i), g_strdup_printf ("%s[%u]", where, i) };

      g_array_append_val (waiting, one);
    }
}

static void
steps_read_one (GPtrArray           *self,
                const TokenizerKind *kinds,
                VnJsonFields        *fields,
                const char          *type)
{
  TokenizerStep *step;

  while (kinds->type != NULL && !g_str_equal (kinds->type, type))
    kinds++;
  if (kinds->type == NULL || self->len >= MOST_STEPS)
    {
      g_autofree char *where = vn_json_fields_dup_where (fields, "type");

      vn_json_fields_take_error (fields, g_error_new (VN_ERROR, VN_ERROR_UNSUPPORTED, _("%s: “%s” is not supported"), where,
                                                      type));
      return;
    }
  step = g_new0 (TokenizerStep, 1);
  step->kind = kinds;
  g_ptr_array_add (self, step);
  tokenizer_fields_check (fields, kinds->fields);
  if (kinds->read != NULL)
    kinds->read (step, fields);
}

/**
 * tokenizer_steps_read:
 * @kinds: which there are
 * @list: the member of a Sequence that holds its steps
 * @node: (nullable): a step or a Sequence of them, also within each other
 * @where: what it is called in messages
 *
 * Returns: (transfer full) (nullable) (element-type TokenizerStep): the steps in their order
 */
GPtrArray *
tokenizer_steps_read (const TokenizerKind  *kinds,
                      const char           *list,
                      JsonNode             *node,
                      const char           *where,
                      GError              **error)
{
  g_autoptr(GPtrArray) self = g_ptr_array_new_with_free_func (steps_free_one);
  g_autoptr(GArray) waiting = g_array_new (FALSE, FALSE, sizeof (Waiting));
  Waiting first = { node, g_strdup (where) };

  g_array_set_clear_func (waiting, steps_clear_waiting);
  g_array_append_val (waiting, first);
  for (guint n = 0; waiting->len > 0 && n < 4 * MOST_STEPS; n++)
    {
      const Waiting *last = &g_array_index (waiting, Waiting, waiting->len - 1);
      JsonNode *one = last->node;
      g_auto(VnJsonFields) fields = { 0 };
      g_autofree char *type = NULL;

      if (one != NULL && JSON_NODE_HOLDS_NULL (one))
        one = NULL;
      vn_json_fields_init (&fields, one, last->where);
      g_array_set_size (waiting, waiting->len - 1);
      if (one == NULL)
        continue;
      type = vn_json_fields_dup_text (&fields, "type");
      if (g_strcmp0 (type, "Sequence") == 0)
        steps_unfold (waiting, &fields, list);
      else if (type != NULL)
        steps_read_one (self, kinds, &fields, type);
      if (!vn_json_fields_end (&fields, error))
        return NULL;
    }
  return g_steal_pointer (&self);
}

/* ---- taking them ---- */

/**
 * tokenizer_steps_apply:
 * @text: (inout): in parts, each of which becomes none, one or several
 */
gboolean
tokenizer_steps_apply (GPtrArray      *self,
                       TokenizerText  *text,
                       GError        **error)
{
  for (guint s = 0; s < self->len; s++)
    {
      const TokenizerStep *step = self->pdata[s];
      TokenizerText next;
      gboolean good = TRUE;

      tokenizer_text_init (&next);
      for (guint i = 0; good && i < text->parts->len; i++)
        good = step->kind->apply (step, text, &g_array_index (text->parts, TokenizerPart, i), &next, error) &&
               (i % 4096 != 0 || !g_cancellable_set_error_if_cancelled (g_cancellable_get_current (), error));
      tokenizer_text_clear (text);
      *text = next;
      if (!good)
        return FALSE;
    }
  return TRUE;
}
