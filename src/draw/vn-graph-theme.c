/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Colours of the graph in the light and the dark style, and in high contrast. */
#include "vn-graph-theme.h"

/* In light and dark, at least 3:1 beside the canvas. */
static const guint32 families[][2] = {
  [VN_FAMILY_OTHER]      = { 0x5e5c64, 0xd0d0d0 },
  [VN_FAMILY_COMPUTE]    = { 0x6a8cbc, 0x8aa9d6 },
  [VN_FAMILY_ACTIVATION] = { 0x5f957e, 0x86bfa4 },
  [VN_FAMILY_ARITHMETIC] = { 0x9380bc, 0xb7a3dc },
  [VN_FAMILY_SHAPE]      = { 0x8a8a87, 0xa6a6a6 },
  [VN_FAMILY_POOL_NORM]  = { 0x57929d, 0x82bcc6 },
  [VN_FAMILY_CONVERSION] = { 0x7d83a3, 0x9aa0bd },
};

/**
 * vn_graph_theme_init:
 *
 * Fills in the light or the dark style. High contrast makes all lines opaque and wider.
 */
void
vn_graph_theme_init (VnGraphTheme *self,
                     gboolean      dark,
                     gboolean      high_contrast)
{
  g_return_if_fail (self != NULL);

  self->dark = dark;
  self->high_contrast = high_contrast;
  self->canvas = vn_color_from_hex (dark ? 0x1e1e1e : 0xfafafa);
  self->ink = vn_color_from_hex (dark ? 0xffffff : 0x000000);
  self->accent = vn_color_from_hex (0x3584e4);
  self->excluded = vn_color_from_hex (dark ? 0x2a2a2a : 0xf2f2f2);
  self->leak = vn_color_from_hex (0xe66100);
  for (guint i = 0; i < G_N_ELEMENTS (families); i++)
    self->family[i] = vn_color_from_hex (families[i][dark ? 1 : 0]);
  self->edge_alpha = 0.46;    /* 3.4:1 beside the light canvas, 4.5:1 beside the dark one */
  self->font = "Cantarell";
}

/**
 * vn_graph_theme_alpha:
 *
 * Returns: the alpha a line of ink is drawn with: @alpha, or 1 in high contrast
 */
double
vn_graph_theme_alpha (const VnGraphTheme *self,
                      double              alpha)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->high_contrast ? 1 : alpha;
}
