/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Small signs of reports, drawn with a pen: swatches of the scale of errors with their ticks, badges of precision, the icon of
 * the program. */

#include "vn-pen.h"
#include "vn-scene.h"

G_BEGIN_DECLS

#define VN_SWATCH_WIDTH  22.0
#define VN_SWATCH_HEIGHT 16.0
#define VN_BADGE_HEIGHT  15.0
#define VN_SIGN_TICKS     4u

typedef enum { VN_SIGN_NONE, VN_SIGN_SWATCH, VN_SIGN_BADGE } VnSignKind;

/**
 * VnSign: a value.
 * @t: of a swatch: place on the scale of errors, 0 … 1; negative: not quantized
 * @ticks: of a swatch: how many of %VN_SIGN_TICKS are filled
 * @precision, @letters: of a badge; @letters is static: "U8"
 */
typedef struct
{
  VnSignKind        kind;
  double            t;
  guint             ticks;
  VnScenePrecision  precision;
  const char       *letters;
} VnSign;

VnSign   vn_sign_swatch    (double        t,
                            guint         ticks);
VnSign   vn_sign_badge     (VnScenePrecision  precision,
                            const char   *letters);
void     vn_sign_get_size  (const VnSign *self,
                            double       *width,
                            double       *height);
void     vn_sign_draw      (const VnSign *self,
                            VnPen        *pen,
                            double        x,
                            double        y);
void     vn_sign_draw_icon (VnPen        *pen,
                            double        x,
                            double        y,
                            double        size);

G_END_DECLS
