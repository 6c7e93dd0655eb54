/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the parts of a tokenizer share: sets of pieces, parts of a text, steps, and the two models. */

#include "vn-json-fields.h"
#include "vn-tokenizer.h"

G_BEGIN_DECLS

#define TOKENIZER_MOST_BYTES ((gsize) 256 << 20)   /* of a text, also after a step has made it longer */
#define TOKENIZER_LONGEST_PIECE 4096u              /* bytes of a piece, an added token, or what a step puts in */
#define TOKENIZER_MOST_TOKENS ((guint) 1 << 26)
#define TOKENIZER_NONE G_MAXUINT32

/* ---- sets of pieces (tokenizer-pieces.c) ---- */

/* @text: borrowed from who made the set */
typedef struct { const char *text; guint32 length, id; } TokenizerPiece;

/* Sorted by bytes; those that begin with byte b are @starts[b] to @starts[b + 1]. */
typedef struct
{
  GArray *pieces;         /* of TokenizerPiece */
  guint   starts[257];
} TokenizerPieces;

/* Of the pieces that a text begins with. */
typedef struct { guint from, to; guint32 length; } TokenizerWalk;

void     tokenizer_pieces_init   (TokenizerPieces        *self);
void     tokenizer_pieces_clear  (TokenizerPieces        *self);
void     tokenizer_pieces_add    (TokenizerPieces        *self,
                                  const char             *text,
                                  gsize                   length,
                                  guint32                 id);
void     tokenizer_pieces_sort   (TokenizerPieces        *self);
guint32  tokenizer_pieces_find   (const TokenizerPieces  *self,
                                  const char             *text,
                                  gsize                   length);
void     tokenizer_walk_start    (TokenizerWalk          *self,
                                  const TokenizerPieces  *pieces);
gboolean tokenizer_walk_next     (TokenizerWalk          *self,
                                  const TokenizerPieces  *pieces,
                                  char                    byte,
                                  guint32                *id);

/* ---- a text in parts (tokenizer-steps.c) ---- */

/* @is_first: it begins where the whole text does */
typedef struct { gsize start, length; gboolean is_first; } TokenizerPart;

typedef struct
{
  GString *text;
  GArray  *parts;         /* of TokenizerPart */
} TokenizerText;

void     tokenizer_text_init     (TokenizerText       *self);
void     tokenizer_text_clear    (TokenizerText       *self);
gboolean tokenizer_text_append   (TokenizerText       *self,
                                  const char          *bytes,
                                  gsize                length,
                                  GError             **error);
void     tokenizer_text_end_part (TokenizerText       *self,
                                  gsize                start,
                                  gboolean             is_first);

/* ---- steps ---- */

typedef enum { SPLIT_REMOVED, SPLIT_ISOLATED, SPLIT_MERGED_PREVIOUS, SPLIT_MERGED_NEXT, SPLIT_CONTIGUOUS } TokenizerSplit;
typedef enum { PREPEND_NEVER, PREPEND_FIRST, PREPEND_ALWAYS } TokenizerPrepend;

typedef struct _TokenizerStep TokenizerStep;

/**
 * TokenizerKind: a type of normalizer or pre-tokenizer.
 * @fields: members that it may have, beside "type"
 * @read: (nullable): takes them
 * @apply: appends what becomes of part @part of @from to @to
 */
typedef struct
{
  const char         *type;
  const char * const *fields;
  void     (*read)  (TokenizerStep       *self,
                     VnJsonFields        *fields);
  gboolean (*apply) (const TokenizerStep *self,
                     const TokenizerText *from,
                     const TokenizerPart *part,
                     TokenizerText       *to,
                     GError             **error);
} TokenizerKind;

struct _TokenizerStep
{
  const TokenizerKind *kind;
  GRegex              *regex;       /* nullable */
  char                *literal;     /* nullable: what is looked for instead */
  char                *content;     /* nullable: what is put in */
  gboolean             left, right, invert, splits, individual;
  TokenizerSplit       behavior;
  TokenizerPrepend     prepend;
};

extern const TokenizerKind tokenizer_normalizers[];    /* the last has no type */
extern const TokenizerKind tokenizer_pre_tokenizers[];

GPtrArray *tokenizer_steps_read   (const TokenizerKind  *kinds,
                                   const char           *list,        /* member of a Sequence */
                                   JsonNode             *node,        /* nullable */
                                   const char           *where,
                                   GError              **error);
gboolean   tokenizer_steps_apply  (GPtrArray            *self,
                                   TokenizerText        *text,
                                   GError              **error);
void       tokenizer_fields_check (VnJsonFields         *fields,
                                   const char * const   *known);
gboolean   tokenizer_fields_is    (VnJsonFields         *fields,
                                   const char           *id);
char      *tokenizer_fields_dup_content (VnJsonFields   *fields,
                                   const char           *id);

/* ---- what is looked for in a text (tokenizer-pattern.c) ---- */

/* @is_match: or what lies between */
typedef struct { gsize start, end; gboolean is_match; } TokenizerSpan;

#define TOKENIZER_BYTE_LEVEL_PATTERN \
  "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"

GRegex   *tokenizer_pattern_compile (const char           *pattern,
                                     GError              **error);
void      tokenizer_pattern_read    (TokenizerStep        *step,
                                     VnJsonFields         *fields,
                                     const char           *id);
gboolean  tokenizer_pattern_find    (const TokenizerStep  *step,
                                     const char           *text,
                                     gsize                 length,
                                     GArray               *spans,
                                     GError              **error);

/* ---- added tokens (tokenizer-added.c) ---- */

typedef struct
{
  char    *content;
  guint32  id;
  gboolean lstrip, rstrip, single_word, normalized;
} TokenizerAdded;

/* @tokens: of TokenizerAdded; the pieces' ids are places in it */
typedef struct
{
  GArray         *tokens;
  TokenizerPieces raw, normalized;
  GPtrArray      *texts;       /* that @normalized borrows */
} TokenizerAddedSet;

/* @at: where the next is looked for; @from: where the text behind the last one begins, with the blanks that belong to that;
 * @start: where the one that was found begins, with the blanks that belong to it; @end: so, its end; @id: its number */
typedef struct { gsize at, from, start, end; guint32 id; } TokenizerFind;

void     tokenizer_added_init  (TokenizerAddedSet       *self);
void     tokenizer_added_clear (TokenizerAddedSet       *self);
gboolean tokenizer_added_read  (TokenizerAddedSet       *self,
                                JsonNode                *node,
                                GPtrArray               *normalizers,
                                GError                 **error);
gboolean tokenizer_added_next  (const TokenizerAddedSet *self,
                                const TokenizerPieces   *pieces,
                                const char              *text,
                                gsize                    length,
                                TokenizerFind           *find);

/* ---- models ---- */

/**
 * TokenizerModel: what makes numbers of a word.
 * @read: (transfer full): takes member "model"
 * @find: the number of a whole piece; TOKENIZER_NONE: it has none
 * @encode: appends the numbers of a word, which is not empty
 */
typedef struct
{
  const char *type;
  gpointer (*read)   (VnJsonFields  *fields);
  void     (*free)   (gpointer       self);
  guint32  (*count)  (gconstpointer  self);
  guint32  (*find)   (gconstpointer  self,
                      const char    *text,
                      gsize          length);
  gboolean (*encode) (gconstpointer  self,
                      const char    *word,
                      gsize          length,
                      GArray        *tokens,
                      GError       **error);
} TokenizerModel;

extern const TokenizerModel tokenizer_bpe, tokenizer_unigram;

gboolean tokenizer_find_bytes  (const TokenizerPieces *pieces,
                                guint32                bytes[256]);
gboolean tokenizer_add_bytes   (const guint32          bytes[256],
                                const char            *text,
                                gsize                  length,
                                GArray                *tokens);
gboolean tokenizer_check_tokens (const GArray         *tokens,
                                 GError              **error);

/* ---- post-processors (tokenizer-post.c) ---- */

typedef struct { GArray *before, *after; } TokenizerPost;     /* of guint32 */

void     tokenizer_post_init  (TokenizerPost *self);
void     tokenizer_post_clear (TokenizerPost *self);
gboolean tokenizer_post_read  (TokenizerPost *self,
                               JsonNode      *node,
                               GError       **error);

G_END_DECLS
