/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Parameters that are declared once and read by the command line, recipes and the window. */

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  VN_PARAM_BOOL,
  VN_PARAM_INT,
  VN_PARAM_DOUBLE,
  VN_PARAM_ENUM,      /* value is an index into choices */
  VN_PARAM_STRING,
} VnParamType;

/**
 * VnParam: one setting, declared once and read by the command line, the
 * recipe (JSON) and the rows of the window. An array of them ends with id NULL.
 */
typedef struct
{
  const char         *id;        /* JSON key and --option; words joined by "-" */
  const char         *title;     /* N_() */
  const char         *blurb;     /* N_() */
  VnParamType         type;
  double              def, min, max;
  const char * const *choices;   /* VN_PARAM_ENUM only, NULL-terminated ids */
} VnParam;

G_END_DECLS
