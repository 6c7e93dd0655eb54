/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What can be done about the reasons of error, as the pages of the window offer it. */

#include "vn-document.h"
#include "vn-node-item.h"

#include "vn-diagnosis.h"
#include "vn-headline.h"

G_BEGIN_DECLS

/**
 * VnCureOffer: a change of the recipe that may lower the error.
 * @key: see VnEffect
 * @title: what it is: "Cross-layer equalization"
 * @step: of the history: "Conv stem: cross-layer equalization"
 * @reason, @why: one sentence, and what it is one of
 * @in_vain: (nullable): the cures before it, which did not help
 * @cure, @finding: what it is made of: number in the diagnosis
 * @node: index of the node, or %G_MAXUINT if it is about the run
 * @recipe: (nullable): with the change; %NULL: nothing that the program can do, or that is left to try
 * @gain_db: measured; NaN: not yet
 * @gain, @gain_text, @gain_count: (nullable): the same on the scale that the verdict rests on: vn_headline_dup_gain(),
 *   vn_headline_dup_count()
 * @bytes, @time_ratio: that the file grows by, and of the forecast times with it and without, if @gain_db was measured; NaN: not
 * known
 * @most_db: about what is won if the tensor added no error any more; NaN: not known
 */
typedef struct
{
  char     *key, *title, *step, *reason, *in_vain, *gain_text, *gain_count;
  guint     node;
  VnCure    cure;
  VnReason  why;
  guint     finding;
  VnRecipe *recipe;
  double    gain_db, gain, most_db, time_ratio;
  gint64    bytes;
} VnCureOffer;

VnHeadlineKind vn_cure_offers_get_scale (VnDocument *document);   /* of gains */
GPtrArray *vn_cure_offers_list (VnDocument *document,
                                VnNodeItem *item);    /* of VnCureOffer; NULL: of all nodes, one for each reason */
GPtrArray *vn_cure_offers_choose (GPtrArray *offers);   /* the few to be seen, borrowed */
const VnFinding *vn_cure_offers_find_reason (VnDocument *document,
                                             VnNodeItem *item);   /* NULL: none is known */
char      *vn_cure_offers_dup_reason (VnDocument *document,
                                      VnNodeItem *item);   /* NULL: none is known */

/**
 * VnCureBundle: all offers whose gain was measured, as one change.
 * @key, @step: see VnCureOffer
 * @n: how many there are, two or more
 * @least_db, @most_db: what is expected to be won: by the best of them alone, and at most by all: what one does another may do
 * already
 */
typedef struct
{
  char     *key, *step;
  VnRecipe *recipe;
  guint     n;
  double    least_db, most_db;
} VnCureBundle;

VnCureBundle   *vn_cure_bundle_new         (VnDocument         *document,
                                            GPtrArray          *offers);   /* NULL: fewer than two, or tried in vain */
void            vn_cure_bundle_free        (VnCureBundle       *self);
const VnEffect *vn_cure_bundle_find_effect (VnDocument         *document);   /* NULL: none was tried */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnCureBundle, vn_cure_bundle_free)

G_END_DECLS
