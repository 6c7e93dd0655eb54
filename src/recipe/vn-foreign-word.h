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
 * @here: what to write in its place; "": there is nothing, see @remark
 * @remark: (nullable): N_()
 */
typedef struct
{
  VnForeignKind  kind;
  const char    *word, *tool, *here, *remark;
} VnForeignWord;

const VnForeignWord *vn_foreign_word_list     (guint              *n);
const VnForeignWord *vn_foreign_word_find     (VnForeignKind       kind,
                                               const char         *word);
const char          *vn_foreign_word_get_kind (const VnForeignWord *self);   /* "option" */
char                *vn_word_dup_hint         (VnForeignKind       kind,
                                               const char         *word,
                                               const char * const *known);

G_END_DECLS
