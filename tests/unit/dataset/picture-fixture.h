/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Pictures that are read for an input, and small ones that are made. */

#include "vn-dataset-private.h"

G_BEGIN_DECLS

char      *picture_shared_file (const char         *name);
VnDataset *open_picture        (const char         *path,
                                const VnPreprocess *preprocess,
                                const VnShape      *shape,
                                VnDType             dtype,
                                GError            **error);
VnTensor  *load_picture        (const char         *path,
                                const VnPreprocess *preprocess,
                                const VnShape      *shape,
                                VnDType             dtype,
                                GError            **error);
char      *write_ppm           (const char         *name,
                                guint               width,
                                guint               height,
                                const guint8       *rgb);

G_END_DECLS
