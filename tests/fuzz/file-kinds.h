/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kinds of files that somebody may send, and what is done with one. */
#pragma once

#include <gio/gio.h>

/**
 * FileKind:
 * @try_bytes: reads a file of these bytes and uses what it says. Whatever they are, that ends with an error that has a
 *   message, or with something that is valid, can be written, and is equal when it is read again; else it aborts.
 *   Returns whether it could be read
 * @add_seeds: appends GBytes: files that can be read
 * @words: (nullable): what such files consist of
 */
typedef struct
{
  const char          *id;
  gboolean           (*try_bytes) (const guint8 *data, gsize size);
  void               (*add_seeds) (GPtrArray *seeds);
  const char * const  *words;
} FileKind;

extern const FileKind file_kinds[];
extern const guint n_file_kinds;

/* ---- file-seeds.c ---- */

void seed_recipes   (GPtrArray *seeds);
void seed_configs   (GPtrArray *seeds);
void seed_results   (GPtrArray *seeds);
void seed_projects  (GPtrArray *seeds);
void seed_ranges    (GPtrArray *seeds);
void seed_stats     (GPtrArray *seeds);
void seed_npy       (GPtrArray *seeds);
void seed_npz       (GPtrArray *seeds);
void seed_protos    (GPtrArray *seeds);
void seed_raw       (GPtrArray *seeds);
void seed_lists     (GPtrArray *seeds);
void seed_pictures  (GPtrArray *seeds);
