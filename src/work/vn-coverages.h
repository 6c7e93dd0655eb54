/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What recipes do to the network that is open, calculated one after the other on a thread, and kept. */

#include "vn-coverage.h"

#include <glib-object.h>

G_BEGIN_DECLS

/**
 * VnCoverages: of the main thread.
 */
typedef struct _VnCoverages VnCoverages;

/**
 * VnCoverageAnswer:
 * @coverage: (nullable): %NULL: @reason says why there is none, or it is not known yet
 * @reason: (nullable):
 */
typedef struct
{
  VnCoverage *coverage;
  char       *reason;
} VnCoverageAnswer;

typedef void (*VnCoveragesFunc) (gpointer owner);

VnCoverages            *vn_coverages_new       (GObject         *owner,
                                                VnCoveragesFunc  ready);
void                    vn_coverages_free      (VnCoverages     *self);
void                    vn_coverages_set_model (VnCoverages     *self,
                                                VnModel         *model,      /* nullable */
                                                GHashTable      *shapes);    /* nullable */
const VnCoverageAnswer *vn_coverages_find      (VnCoverages     *self,
                                                const VnRecipe  *recipe);

G_END_DECLS
