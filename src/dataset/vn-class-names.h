/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Names of the classes, or letters, that a network tells apart. */

#include "vn-dataset.h"

G_BEGIN_DECLS

char **vn_class_names_parse      (const char    *text);
char **vn_class_names_from_lines (char * const  *lines);
char **vn_class_names_find       (const VnModel *model,
                                  VnDataset     *dataset,      /* nullable */
                                  guint          n_classes,
                                  gboolean       letters);

G_END_DECLS
