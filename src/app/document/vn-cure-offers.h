/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What can be done about the reasons of error, as the pages of the window offer it. */

#include "vn-document.h"
#include "vn-node-item.h"

G_BEGIN_DECLS

/**
 * VnCureOffer: a change of the recipe that may lower the error.
 * @key: see VnEffect
 * @title: what it is: "Cross-layer equalization"
 * @step: of the history: "Conv stem: cross-layer equalization"
 * @reason: one sentence
 * @in_vain: (nullable): the cure before it, which did not help
 * @node: index of the node, or %G_MAXUINT if it is about the run
 * @recipe: (nullable): with the change; %NULL: nothing that the program can do
 * @gain_db: measured; NaN: not yet
 * @bytes: that the file grows by, if @gain_db was measured
 * @most_db: about what is won if the tensor added no error any more; NaN: not known
 */
typedef struct
{
  char     *key, *title, *step, *reason, *in_vain;
  guint     node;
  VnRecipe *recipe;
  double    gain_db, most_db;
  gint64    bytes;
} VnCureOffer;

GPtrArray *vn_cure_offers_list (VnDocument *document,
                                VnNodeItem *item);    /* of VnCureOffer; NULL: of all nodes, one for each reason */
char      *vn_cure_offers_dup_reason (VnDocument *document,
                                      VnNodeItem *item);   /* NULL: none is known */

G_END_DECLS
