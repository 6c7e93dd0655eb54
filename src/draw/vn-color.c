/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Oklab after Björn Ottosson, "A perceptual color space for image processing" (2020): linear sRGB -> cone
 * response -> cube root -> L, a, b. Contrast and luminance after WCAG 2.1. */
#include "vn-color.h"

#include <math.h>

typedef struct { double l, a, b; } Lab;

/**
 * vn_color_from_hex:
 * @rgb: 0xrrggbb
 *
 * Returns: the colour
 */
VnColor
vn_color_from_hex (guint32 rgb)
{
  return (VnColor) { (rgb >> 16 & 0xff) / 255., (rgb >> 8 & 0xff) / 255., (rgb & 0xff) / 255. };
}

static double
color_to_linear (double c)
{
  return c <= 0.04045 ? c / 12.92 : pow ((c + 0.055) / 1.055, 2.4);
}

static double
color_from_linear (double c)
{
  c = c <= 0.0031308 ? c * 12.92 : 1.055 * pow (c, 1 / 2.4) - 0.055;
  return CLAMP (c, 0, 1);
}

static Lab
color_to_lab (VnColor color)
{
  double r = color_to_linear (color.r), g = color_to_linear (color.g), b = color_to_linear (color.b);
  double l = cbrt (0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  double m = cbrt (0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  double s = cbrt (0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);

  return (Lab) {
    0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s,
  };
}

static VnColor
color_from_lab (Lab lab)
{
  double l = lab.l + 0.3963377774 * lab.a + 0.2158037573 * lab.b;
  double m = lab.l - 0.1055613458 * lab.a - 0.0638541728 * lab.b;
  double s = lab.l - 0.0894841775 * lab.a - 1.2914855480 * lab.b;

  l = l * l * l;
  m = m * m * m;
  s = s * s * s;
  return (VnColor) {
    color_from_linear (+4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    color_from_linear (-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    color_from_linear (-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s),
  };
}

/**
 * vn_color_mix_even:
 *
 * Returns: @a at @t 0, @b at @t 1, in steps that look even between: straight in Oklab
 */
VnColor
vn_color_mix_even (VnColor a,
                   VnColor b,
                   double  t)
{
  Lab x = color_to_lab (a), y = color_to_lab (b);

  return color_from_lab ((Lab) { x.l + t * (y.l - x.l), x.a + t * (y.a - x.a), x.b + t * (y.b - x.b) });
}

/**
 * vn_color_mix:
 *
 * Returns: @a at @t 0, @b at @t 1, straight in sRGB between
 */
VnColor
vn_color_mix (VnColor a,
              VnColor b,
              double  t)
{
  return (VnColor) { a.r + t * (b.r - a.r), a.g + t * (b.g - a.g), a.b + t * (b.b - a.b) };
}

/**
 * vn_color_luminance:
 *
 * Returns: relative luminance, 0 … 1
 */
double
vn_color_luminance (VnColor color)
{
  return 0.2126 * color_to_linear (color.r) + 0.7152 * color_to_linear (color.g) + 0.0722 * color_to_linear (color.b);
}

/**
 * vn_color_contrast:
 *
 * Returns: contrast ratio, 1 … 21
 */
double
vn_color_contrast (VnColor a,
                   VnColor b)
{
  double la = vn_color_luminance (a), lb = vn_color_luminance (b);

  return (MAX (la, lb) + 0.05) / (MIN (la, lb) + 0.05);
}

/**
 * vn_color_lightness:
 *
 * Returns: CIE L*, 0 … 100
 */
double
vn_color_lightness (VnColor color)
{
  double y = vn_color_luminance (color);

  return y > 216. / 24389 ? 116 * cbrt (y) - 16 : y * 24389 / 27;
}

/**
 * vn_color_get_text:
 *
 * Returns: pure black or white, whichever stands out more on @fill
 */
VnColor
vn_color_get_text (VnColor fill)
{
  VnColor black = { 0, 0, 0 }, white = { 1, 1, 1 };

  return vn_color_contrast (fill, black) >= vn_color_contrast (fill, white) ? black : white;
}
