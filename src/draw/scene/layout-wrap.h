/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the stages of folding a layout into columns share. */

#include "vn-graph-layout-private.h"

G_BEGIN_DECLS

#define WRAP_TITLE    30.    /* of a frame that goes on in the next column */
#define WRAP_MARGIN   16.    /* of a frame round what it holds */
#define WRAP_REACH    14.    /* from a column to where lines leave it */
#define WRAP_BEND     56.    /* room for the bends of lines above and below columns */
#define WRAP_SIDE     40.    /* beside a column, to the first line between it and the next */
#define WRAP_LINE     12.    /* between two lines there */

/* A way to cut a layout: column c lies between cuts[c - 1] and cuts[c], heights of the layout. */
typedef struct
{
  guint   n_columns;
  double *cuts;          /* n_columns - 1 */
} WrapCuts;

gboolean vn_wrap_find_cuts   (const VnGraphLayout *layout,
                              double               page,
                              WrapCuts            *cuts);
guint    vn_wrap_find_column (const WrapCuts      *cuts,
                              double               y);

G_END_DECLS
