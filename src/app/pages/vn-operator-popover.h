/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What an operator does, in a popover: how it is run and quantized here, and what ONNX says of it. */

#include "vn-model.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

GtkWidget *vn_operator_popover_new (const VnNode *node);

G_END_DECLS
