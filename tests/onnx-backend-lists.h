/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known about backend cases beforehand: which to run, which may fail and why, which a reference passes. */
#pragma once

#include "vn-model.h"

G_BEGIN_DECLS

typedef enum
{
  PASSES,
  FAILS_AS_LISTED,
  FAILS,
  FAILS_UNLIKE_REFERENCE,
  PASSES_THOUGH_LISTED,
} Verdict;

typedef struct
{
  GHashTable *operators;       /* to run: operator names; NULL for all */
  GPtrArray  *globs;           /* to run: GPatternSpec for case names */
  GHashTable *expected;        /* case -> reason why it fails */
  GHashTable *reference;       /* cases the reference passes; NULL without */
  GHashTable *visited;         /* cases that were judged */
  gboolean    is_complete;     /* @expected knows this release of the cases */
  guint       n_like_reference;
} Lists;

gboolean    lists_read       (Lists          *self,
                              const char     *list,
                              const char     *expected,
                              gint64          opset,
                              const char     *reference,
                              GError        **error);
gboolean    lists_select     (const Lists    *self,
                              const VnModel  *model,
                              const char     *name);
const char *lists_get_reason (const Lists    *self,
                              const char     *name);
Verdict     lists_judge      (Lists          *self,
                              const char     *name,
                              gboolean        failed);
guint       lists_finish     (const Lists    *self);
void        lists_clear      (Lists          *self);
char       *lists_model_lacks (const VnModel *model);

G_END_DECLS
