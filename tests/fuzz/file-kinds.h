/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kinds of files that somebody may send, and what is done with one. */
#pragma once

#include "vn-recipe.h"

#include <gio/gio.h>

/* What can be damaged besides bytes: mutate-file.h. */
typedef enum
{
  FILE_BYTES,
  FILE_JSON,
  FILE_MODEL,
} FileForm;

/**
 * FileKind: a line of file-kinds.def.
 * @try_bytes: reads a file of these bytes and uses what it says. Whatever they are, that ends with an error that has a
 *   message, or with something that is valid, can be written, and is equal when it is read again; else it aborts.
 *   Returns whether it could be read
 * @add_seeds: appends GBytes: files that can be read
 * @words: (nullable): what such files consist of
 * @n_mutations: that a test tries
 */
typedef struct
{
  const char          *id;
  guint                n_mutations;
  FileForm             form;
  const char * const  *words;
  gboolean           (*try_bytes) (const guint8 *data, gsize size);
  void               (*add_seeds) (GPtrArray *seeds);
} FileKind;

extern const FileKind file_kinds[];
extern const guint n_file_kinds;

/* NULL: there is no such kind. */
const FileKind *find_file_kind (const char *id);

#define FILE_KIND(id, n, form, words) \
  gboolean try_##id  (const guint8 *data, gsize size); \
  void     seed_##id (GPtrArray *seeds);
#include "file-kinds.def"
#undef FILE_KIND

/* ---- what they share: file-kinds.c ---- */

/* Either something was read, or there is an error with a message. Returns @done. */
gboolean    check    (gboolean       done,
                      GError *const *error);
/* Aborts with @what unless @is. */
void        require  (gboolean       is,
                      const char    *what);
/* The bytes as a file: its path, which is that of nothing on a disk. There is one such file at a time. */
const char *put_file (const guint8  *data,
                      gsize          size);
/* (transfer full): a new folder, in memory where there is such a place: what is written is waited for. */
char       *make_folder (void);
/* (transfer full): an input "data", nodes "conv" and "softmax" that give "a" and "b". */
VnModel    *make_model (void);
/* Appends a file; @size -1: up to the NUL. */
void        add_seed   (GPtrArray     *seeds,
                        gconstpointer  data,
                        gssize         size);
void        add_texts  (GPtrArray          *seeds,
                        const char * const *texts);
/* Leaves out the ends of lines, and the blanks that begin them, of a text in JSON. */
void        close_up   (char               *text);
/* Numbers of a binary file, its lowest byte first. */
void        put_u32    (GByteArray    *out,
                        guint32        value);
void        put_u16s   (GByteArray    *out,
                        const guint16 *values,
                        guint          n);
/* What is written is read, and says the same: file-settings.c. */
void        check_recipe (const VnRecipe *recipe);

/* ---- words: file-words.c ---- */

extern const char * const external_words[], * const recipe_words[], * const preprocess_words[], * const config_words[],
                  * const result_words[], * const project_words[], * const range_words[], * const npy_words[],
                  * const tokenizer_words[],
                  * const npz_words[], * const stream_words[], * const wav_words[], * const list_words[], * const label_words[],
                  * const node_data_words[];
