/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-document.h"

#include <adwaita.h>

G_BEGIN_DECLS

/* A row that tells what came of a change: that it is applied, or did not help and can be taken back. */
GtkWidget *vn_effect_row_new (VnDocument     *document,
                              const VnEffect *effect);

G_END_DECLS
