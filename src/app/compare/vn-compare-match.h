/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Finds by a thread which node of one network is which of another, and how both are laid out as one. */

#include "vn-alignment.h"
#include "vn-compared-model.h"
#include "vn-node-match.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/* @match, @alignment: borrowed */
typedef void (*VnCompareMatchFunc) (gpointer     owner,
                                    VnNodeMatch *match,
                                    VnAlignment *alignment);

GCancellable *vn_compare_match_begin (GObject            *owner,
                                      VnComparedModel    *first,
                                      VnComparedModel    *second,
                                      VnScene * const     scenes[2],
                                      VnCompareMatchFunc  func);

G_END_DECLS
