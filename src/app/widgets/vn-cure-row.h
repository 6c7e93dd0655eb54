/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-cure-offers.h"

#include <adwaita.h>

G_BEGIN_DECLS

/* A row that tells of a cure what it is for and what it gains, with a button that applies it. */
GtkWidget *vn_cure_row_new    (VnDocument        *document,
                               const VnCureOffer *offer,
                               gboolean           with_reason);
/* The button alone, with the title of the cure and what it gains. */
GtkWidget *vn_cure_button_new (VnDocument        *document,
                               const VnCureOffer *offer);

G_END_DECLS
