/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a recipe is expected to do before a whole run tells, measured on a few samples on a thread. */

#include "vn-run.h"

#include <glib-object.h>

G_BEGIN_DECLS

/**
 * VnOutlook: of the run that it was told of last; of the main thread, which its functions are called on.
 */
typedef struct _VnOutlook VnOutlook;

/**
 * VnOutlookFuncs: called on the main thread.
 * @ready: vn_outlook_ask() can be called, which had to wait
 * @measured: what was asked for; @expected: (nullable): %NULL: it takes a whole run, with the reason
 * @offered: vn_outlook_get_offered() gives something else
 */
typedef struct
{
  void (*ready)    (gpointer    owner);
  void (*measured) (gpointer    owner,
                    VnRun      *expected,
                    const char *reason);
  void (*offered)  (gpointer    owner);
} VnOutlookFuncs;

VnOutlook      *vn_outlook_new             (GObject              *owner,
                                            const VnOutlookFuncs *funcs);
void            vn_outlook_free            (VnOutlook *self);
void            vn_outlook_set_base        (VnOutlook *self,
                                            VnRun     *base);   /* nullable */
const VnRecipe *vn_outlook_get_base_recipe (VnOutlook *self);   /* NULL: not known */
void            vn_outlook_ask             (VnOutlook       *self,
                                            const VnRecipe  *recipe,
                                            VnContributions *contributions);   /* nullable */
void            vn_outlook_stop            (VnOutlook *self);
gboolean        vn_outlook_is_asked        (VnOutlook *self);
const char     *vn_outlook_get_reason      (VnOutlook *self);   /* NULL: there is no base */
guint           vn_outlook_count_samples   (VnOutlook *self);
void            vn_outlook_offer           (VnOutlook      *self,
                                            const VnRecipe *recipe,   /* nullable */
                                            const VnRecipe *base);   /* nullable */
VnRun          *vn_outlook_get_offered     (VnOutlook *self);   /* NULL: not known */

G_END_DECLS
