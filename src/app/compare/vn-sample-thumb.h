/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-dataset.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* A small picture of a sample, decoded in the background; its number, if it is no picture. */
GtkWidget *vn_sample_thumb_new (VnDataset *dataset,
                                guint      sample,
                                guint      number);

G_END_DECLS
