/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Finds by a thread which node of one network is which of another. */

#include "vn-compared-model.h"
#include "vn-node-match.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/* @match: borrowed */
typedef void (*VnCompareMatchFunc) (gpointer     owner,
                                    VnNodeMatch *match);

GCancellable *vn_compare_match_begin (GObject            *owner,
                                      VnComparedModel    *first,
                                      VnComparedModel    *second,
                                      VnCompareMatchFunc  func);

G_END_DECLS
