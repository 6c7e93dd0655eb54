/* SPDX-License-Identifier: GPL-3.0-or-later */
/* StringConcat: strings joined element by element. StringSplit: each string cut into pieces, as many columns as the
 * string with the most pieces needs. */
#include "vn-string-private.h"

#include "vn-elem.h"

static gboolean
string_concat_infer (VnOpContext *ctx,
                     GError     **error)
{
  const VnShape *a = &ctx->in_types[0].shape, *b = &ctx->in_types[1].shape;
  VnShape out = VN_SHAPE_UNKNOWN;

  if (!vn_op_check_alike (ctx, 0x2, error))
    return FALSE;
  if (a->rank >= 0 && b->rank >= 0 && !vn_shape_broadcast (a, b, &out))
    return vn_op_fail (ctx, error, _("the shapes of the strings cannot be broadcast"));
  vn_op_set_output (ctx, 0, VN_DTYPE_STRING, &out);
  return TRUE;
}

static gboolean
string_concat_run (VnOpContext *ctx,
                   GError     **error)
{
  const VnShape *shapes[2] = { &ctx->in[0]->shape, &ctx->in[1]->shape };
  VnTensor *out = ctx->out[0];
  VnBroadcast walk;

  vn_broadcast_init (&walk, &out->shape, shapes, 2);
  while (vn_broadcast_next (&walk))
    for (gsize i = 0; i < walk.n; i++)
      vn_string_take (out, walk.out + i,
                      g_strconcat (vn_string_get (ctx->in[0], walk.offset[0] + i * walk.step[0]),
                                   vn_string_get (ctx->in[1], walk.offset[1] + i * walk.step[1]), NULL));
  return TRUE;
}

const VnOp vn_op_string_concat_20 = {
  .domain = "", .type = "StringConcat", .since = 20,
  .min_inputs = 2, .max_inputs = 2, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_DTYPE_BIT (STRING),
  .same_dtype = 1u << 1,
  .infer = string_concat_infer,
  .run = string_concat_run,
};

/* ---- StringSplit ---- */

typedef struct
{
  char   *delimiter;    /* empty: any white space */
  gsize   length;
  gint64  max_splits;
} Splitter;

static void
string_splitter_init (Splitter    *self,
                      VnOpContext *ctx)
{
  gint64 given = vn_node_get_int (ctx->node, "maxsplit", -1);

  self->delimiter = vn_node_dup_string (ctx->node, "delimiter", "");
  self->length = strlen (self->delimiter);
  self->max_splits = given < 0 ? G_MAXINT64 : given;
}

/* Length of the white space character at @text, 0 if there is none. */
static gsize
string_space_at (const char *text)
{
  gunichar c = g_utf8_get_char_validated (text, -1);

  if (*text == '\0' || c == (gunichar) -1 || c == (gunichar) -2)
    return 0;
  if (!g_unichar_isspace (c) && c != 0x0b && c != 0x85 && (c < 0x1c || c > 0x1f))
    return 0;
  return (gsize) (g_utf8_next_char (text) - text);
}

static const char *
string_skip_spaces (const char *text)
{
  gsize n;

  while ((n = string_space_at (text)) > 0)
    text += n;
  return text;
}

/* The next piece from *@text on; *@text becomes the rest, or %NULL after the last one. */
static gboolean
string_next_piece (const Splitter  *self,
                   const char     **text,
                   gint64           n_before,
                   const char     **piece,
                   gsize           *length)
{
  const char *from = *text, *end;

  if (from == NULL)
    return FALSE;
  *text = NULL;
  if (self->length == 0)
    {
      from = string_skip_spaces (from);
      if (*from == '\0')
        return FALSE;
    }
  end = from + strlen (from);
  if (n_before < self->max_splits && self->length > 0)
    {
      const char *found = strstr (from, self->delimiter);

      *text = found != NULL ? found + self->length : NULL;
      end = found != NULL ? found : end;
    }
  else if (n_before < self->max_splits)
    {
      for (end = from; *end != '\0' && string_space_at (end) == 0; end++)
        ;
      *text = end;
    }
  *piece = from;
  *length = (gsize) (end - from);
  return TRUE;
}

static gint64
string_count_pieces (const Splitter *self,
                     const char     *text)
{
  const char *piece;
  gint64 n = 0;
  gsize length;

  while (string_next_piece (self, &text, n, &piece, &length))
    n++;
  return n;
}

static gboolean
string_split_infer (VnOpContext *ctx,
                    GError     **error)
{
  const VnTensor *x = ctx->in != NULL ? ctx->in[0] : NULL;
  VnShape shape = ctx->in_types[0].shape;
  gint64 most = x != NULL ? 0 : VN_DIM_UNKNOWN;
  Splitter splitter;

  if (shape.rank == VN_MAX_RANK)
    return vn_op_fail (ctx, error, _("splitting strings of %d dims would add one dim too many"), shape.rank);
  if (ctx->in_types[0].dtype != VN_DTYPE_STRING && ctx->in_types[0].dtype != VN_DTYPE_UNDEFINED)
    return vn_op_fail (ctx, error, _("only strings can be split"));
  vn_op_set_output (ctx, 1, VN_DTYPE_S64, &shape);
  string_splitter_init (&splitter, ctx);
  for (gsize i = 0; x != NULL && i < x->n_elements; i++)
    most = MAX (most, string_count_pieces (&splitter, vn_string_get (x, i)));
  g_free (splitter.delimiter);
  if (shape.rank >= 0)
    shape.dims[shape.rank++] = most;
  vn_op_set_output (ctx, 0, VN_DTYPE_STRING, &shape);
  return TRUE;
}

static gboolean
string_split_run (VnOpContext *ctx,
                  GError     **error)
{
  const VnTensor *x = ctx->in[0];
  VnTensor *pieces = ctx->out[0], *counts = ctx->n_outputs > 1 ? ctx->out[1] : NULL;
  gsize columns = pieces != NULL ? (gsize) pieces->shape.dims[pieces->shape.rank - 1] : 0;
  Splitter splitter;

  string_splitter_init (&splitter, ctx);
  for (gsize i = 0; i < x->n_elements; i++)
    {
      const char *rest = vn_string_get (x, i), *piece;
      gint64 n = 0;
      gsize length;

      for (; string_next_piece (&splitter, &rest, n, &piece, &length); n++)
        if ((gsize) n < columns)
          vn_string_take (pieces, i * columns + (gsize) n, g_strndup (piece, length));
      if (counts != NULL)
        ((gint64 *) counts->data)[i] = n;
    }
  g_free (splitter.delimiter);
  return TRUE;
}

const VnOp vn_op_string_split_20 = {
  .domain = "", .type = "StringSplit", .since = 20,
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 2,
  .dtypes = VN_DTYPE_BIT (STRING),
  .infer = string_split_infer,
  .run = string_split_run,
};
