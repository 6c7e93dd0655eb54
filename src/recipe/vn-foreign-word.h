/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words of other quantizers, and near misses: what was meant by a word that is not known. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  VN_FOREIGN_OPTION,
  VN_FOREIGN_PRESET,
  VN_FOREIGN_METHOD,
  VN_FOREIGN_FORMAT,
  VN_FOREIGN_TYPE,
  VN_FOREIGN_COMMAND,
  VN_FOREIGN_OPERATOR,
} VnForeignKind;

/**
 * VnForeignWord: a line of vn-foreign-words.def.
 * @word: as the other tool writes it
 * @tool: whose it is; "": several
 * @here: (nullable): what is taken in its place, as the head of that file says; %NULL: it cannot be had
 * @remark: (nullable): N_()
 */
typedef struct
{
  VnForeignKind  kind;
  const char    *word, *tool, *here, *remark;
} VnForeignWord;

#define VN_FOREIGN_MEMBERS "{}"   /* VnForeignWord.here: its value is an object of such words */
#define VN_FOREIGN_TENSORS "{tensors}"   /* its value is an object of tensors, with what differs for each */

const VnForeignWord *vn_foreign_word_list     (guint              *n);
const VnForeignWord *vn_foreign_word_find     (VnForeignKind       kind,
                                               const char         *word);
const char          *vn_foreign_word_get_kind (const VnForeignWord *self);   /* "option" */
const char          *vn_foreign_word_get_here (const VnForeignWord *self);
gboolean             vn_word_is_same          (const char          *a,
                                               const char          *b);
char                *vn_word_dup_hint         (VnForeignKind       kind,
                                               const char         *word,
                                               const char * const *known);

G_END_DECLS
