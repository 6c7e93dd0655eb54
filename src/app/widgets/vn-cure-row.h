/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-cure-offers.h"

#include <adwaita.h>

G_BEGIN_DECLS

/**
 * VnCureRowForm: what a row tells beside the title of the cure.
 * @VN_CURE_ROW_REASON: which node it is about, and why
 * @VN_CURE_ROW_NODE: only which node: why is said of all rows together
 * @VN_CURE_ROW_NARROW: what it gains and costs, below the title: the node and the reason stand elsewhere
 */
typedef enum { VN_CURE_ROW_REASON, VN_CURE_ROW_NODE, VN_CURE_ROW_NARROW } VnCureRowForm;

/* A row that tells of a cure what it is for and what it gains, with a button that applies it. */
GtkWidget *vn_cure_row_new    (VnDocument        *document,
                               const VnCureOffer *offer,
                               VnCureRowForm      form);
/* The button alone, with the title of the cure and what it gains. */
GtkWidget *vn_cure_button_new (VnDocument        *document,
                               const VnCureOffer *offer);

G_END_DECLS
