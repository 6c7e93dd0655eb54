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
 * vn_blocked_bands_init:
 * @n_planes: of all batches
 * @n_lines: of a plane, at least 1
 * @lines: that are worth doing in a row
 */
void
vn_blocked_bands_init (VnBlockedBands    *self,
                       const VnOpContext *ctx,
                       gsize              n_planes,
                       gsize              n_lines,
                       gsize              lines)
{
  gsize n_threads = MIN (ctx->n_threads, vn_op_max_workers ()), n_bands;

  lines = CLAMP (lines, 1, n_lines);
  n_bands = (n_lines + lines - 1) / lines;
  if (n_threads > 1)
    {
      n_bands = MIN (n_lines, (n_bands + n_threads - 1) / n_threads * n_threads);
      lines = (n_lines + n_bands - 1) / n_bands;
      n_bands = (n_lines + lines - 1) / lines;
    }
  *self = (VnBlockedBands) { n_planes, n_lines, lines, n_bands, n_planes * n_bands, n_threads > 1 };
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
