/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Pictures beside those that are kept. */

#include <cairo.h>
#include <glib.h>

G_BEGIN_DECLS

#define GOLDEN_REDUCED  2      /* a kept picture has one pixel for so many at 1x, in each direction */
#define GOLDEN_SQUARE   2      /* kept pixels, where there is no text */
#define GOLDEN_COARSE  12      /* kept pixels, everywhere: a picture is a whole number of these */

/**
 * GoldenPaint:
 * @dark, @high_contrast: the style
 * @font: family of all text
 * @scale: device pixels for one
 *
 * Returns: (transfer full): the picture, of a whole number of coarse squares
 */
typedef cairo_surface_t *(*GoldenPaint) (gconstpointer  data,
                                         gboolean       dark,
                                         gboolean       high_contrast,
                                         const char    *font,
                                         int            scale);

typedef struct
{
  const char *name;
  gboolean    dark, high_contrast;
} GoldenStyle;

void     golden_picture_init      (int                *argc,
                                   char             ***argv);
void     golden_picture_check_all (const char         *name,
                                   const GoldenStyle  *styles,
                                   guint               n_styles,
                                   GoldenPaint         paint,
                                   gconstpointer       data);

G_END_DECLS
