/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How data lie in blocks of channels. */
#include "vn-blocked-private.h"

/**
 * vn_blocked_get_lanes:
 *
 * Returns: channels in a block; 0 if blocks are not worth it on this processor
 */
guint
vn_blocked_get_lanes (void)
{
  const VnBlockedTile *tile = vn_blocked_tile_get ();

  return tile != NULL ? tile->lanes : 0;
}

/**
 * vn_blocked_get_shape:
 * @plain: batch, channels, and one or two spatial axes, all known
 * @blocked: (out): batch, blocks of channels, spatial axes, lanes
 *
 * Returns: %FALSE if data of this shape cannot be blocked
 */
gboolean
vn_blocked_get_shape (const VnShape *plain,
                      VnShape       *blocked)
{
  gint64 lanes = vn_blocked_get_lanes ();

  if (lanes == 0 || (plain->rank != 3 && plain->rank != 4) || !vn_shape_is_static (plain) ||
      plain->dims[1] > G_MAXINT64 - lanes)
    return FALSE;
  *blocked = *plain;
  blocked->rank = plain->rank + 1;
  blocked->dims[1] = (plain->dims[1] + lanes - 1) / lanes;
  blocked->dims[plain->rank] = lanes;
  return TRUE;
}
