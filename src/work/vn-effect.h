/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What was tried to lower the error, and what came of it: so that nobody is offered in vain what did not help. */

#include "vn-headline.h"
#include "vn-run.h"

G_BEGIN_DECLS

/**
 * VnEffect: a change of the recipe that was to lower the error.
 * @key: what was changed: the same change again has the same
 * @title: of the step in the history
 * @before_db, @after_db: signal to noise of the outputs, see vn_error_table_get_outputs_sqnr()
 * @before, @after: what verdicts rest on
 * @bytes: how much the quantized file grew by it
 * @time_ratio: of the forecast times after and before it; NaN: not known
 * @measured: the run with it is over; else @after_db, @bytes and @time_ratio are not known yet
 */
typedef struct
{
  char     *key, *title;
  double    before_db, after_db;
  VnHeadline before, after;
  gint64    bytes;
  double    time_ratio;
  gboolean  measured;
  /*< private >*/
  VnRecipe *recipe;
  gint64    bytes_before;
  double    seconds_before;
} VnEffect;

GPtrArray *vn_effects_new       (void);   /* of VnEffect, oldest first */
VnEffect  *vn_effects_find      (GPtrArray  *effects,
                                 const char *key);   /* NULL: not tried */
void       vn_effects_note      (GPtrArray      *effects,
                                 VnRun          *before,
                                 const VnRecipe *recipe,
                                 const char     *title,
                                 const char     *key);
void       vn_effects_judge     (GPtrArray *effects,
                                 VnRun     *before,   /* nullable */
                                 VnRun     *result);
gboolean   vn_effect_has_helped (const VnEffect *effect);

G_END_DECLS
