/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Networks out of files, and damaged ones, by their number. */
#pragma once

#include <gio/gio.h>

/* A network that is whole. @structure: (nullable): of Span, what its weights do not take up. */
typedef struct
{
  char   *name;
  GBytes *bytes;
  GArray *structure;
} Base;

typedef struct
{
  gsize start, end;
} Span;

/* Up to four places of what it says, or some bytes; shortened; a single bit. */
typedef enum
{
  DAMAGE_MODEL,
  DAMAGE_CUT,
  DAMAGE_FLIP,
} Damage;

/* @name NULL: the first */
gboolean    damage_find       (const char *name,
                               Damage     *kind);
const char *damage_get_name   (Damage      kind);

/* Of ONNX files, of those in folders, of backend cases there; sorted by name. Returns: (transfer full): of Base */
GPtrArray  *damage_load_bases (char      **paths);

/* How many there are: @wanted (0: some), or all lengths. */
guint       damage_count      (GPtrArray  *bases,
                               Damage      kind,
                               int         wanted);
const Base *damage_get_base   (GPtrArray  *bases,
                               Damage      kind,
                               guint       i);
/* (transfer full) */
GBytes     *damage_base       (GPtrArray  *bases,
                               Damage      kind,
                               guint       i,
                               GRand      *rand);
