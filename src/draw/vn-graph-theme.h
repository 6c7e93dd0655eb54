/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-heat.h"
#include "vn-op.h"

G_BEGIN_DECLS

/**
 * VnGraphTheme: the colours of the canvas. Plain data.
 * @ink: text and lines, mostly with alpha
 * @family: left edges, by VnOpFamily
 * @edge_alpha: of the ink, for edges
 * @font: family name, static or outliving the theme
 */
typedef struct
{
  gboolean    dark, high_contrast;
  VnColor     canvas, ink, accent, excluded, leak;
  VnColor     family[VN_FAMILY_CONVERSION + 1];
  double      edge_alpha;
  const char *font;
} VnGraphTheme;

void   vn_graph_theme_init  (VnGraphTheme       *self,
                             gboolean            dark,
                             gboolean            high_contrast);
double vn_graph_theme_alpha (const VnGraphTheme *self,
                             double              alpha);

G_END_DECLS
