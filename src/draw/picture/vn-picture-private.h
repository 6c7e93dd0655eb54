/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a kind of picture is made of. */

#include "vn-picture.h"

G_BEGIN_DECLS

/**
 * VnPictureKind:
 * @is_small: several stand beside each other
 */
typedef struct
{
  gboolean   is_small;
  double   (*get_height) (VnPicture *self, double width);
  void     (*draw)       (VnPicture *self, VnPen *pen, double width);
  void     (*free)       (VnPicture *self);
} VnPictureKind;

struct _VnPicture
{
  const VnPictureKind *kind;
  gatomicrefcount      ref;
};

gpointer _vn_picture_alloc (const VnPictureKind *kind,
                            gsize                size);

G_END_DECLS
