/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-dataset.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Fills a flow box with small pictures of samples, decoded in the background. Pictures that could not be
 * read say so; pictures the network sees stretched carry a flag. */

typedef struct _VnPreviews VnPreviews;

VnPreviews *vn_previews_new  (GtkFlowBox *box);
void        vn_previews_free (VnPreviews *self);
void        vn_previews_show (VnPreviews *self,
                              VnDataset  *dataset,
                              gboolean    as_network,
                              gboolean    flag_stretch);

G_END_DECLS
