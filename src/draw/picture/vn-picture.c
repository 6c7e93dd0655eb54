/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pictures: references, and calls of the kind. */
#include "vn-picture-private.h"

/*< private >
 * _vn_picture_alloc:
 * @size: of a struct that begins with a VnPicture
 *
 * Returns: (transfer full): that, otherwise zero
 */
gpointer
_vn_picture_alloc (const VnPictureKind *kind,
                   gsize                size)
{
  VnPicture *self = g_malloc0 (size);

  self->kind = kind;
  g_atomic_ref_count_init (&self->ref);
  return self;
}

VnPicture *
vn_picture_ref (VnPicture *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

void
vn_picture_unref (VnPicture *self)
{
  if (!g_atomic_ref_count_dec (&self->ref))
    return;
  self->kind->free (self);
  g_free (self);
}

/**
 * vn_picture_get_height:
 * @width: that there is room for
 *
 * Returns: how high the picture is then
 */
double
vn_picture_get_height (VnPicture *self,
                       double     width)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->kind->get_height (self, width);
}

/**
 * vn_picture_draw:
 *
 * Draws into (0, 0, @width, vn_picture_get_height()).
 */
void
vn_picture_draw (VnPicture *self,
                 VnPen     *pen,
                 double     width)
{
  g_return_if_fail (self != NULL && pen != NULL);

  self->kind->draw (self, pen, width);
}

/**
 * vn_picture_is_small:
 *
 * Returns: whether several of its kind stand beside each other
 */
gboolean
vn_picture_is_small (VnPicture *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->kind->is_small;
}
