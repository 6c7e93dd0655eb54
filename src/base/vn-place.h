/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where what is installed with the program lies. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * VnPlace: a folder that is known by a file in it
 * @variable: (nullable): of the environment; where it is set nothing else counts
 * @near: where it may be, seen from the folder of the program, the likeliest first; the rest %NULL
 * @installed: where it was installed
 * @file: what lies in it
 */
typedef struct
{
  const char *variable;
  const char *near[2];
  const char *installed;
  const char *file;
} VnPlace;

char *vn_place_find        (const VnPlace *self);
void  vn_place_find_locale (const char    *installed);

G_END_DECLS
