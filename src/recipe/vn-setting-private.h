/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* How the files of a setting reach the field it names. */

#include "vn-recipe-rules.h"

G_BEGIN_DECLS

#define FIELD(TYPE, self, object) G_STRUCT_MEMBER (TYPE, object, (self)->offset)

/* Of a BOOL, INT, DOUBLE, ENUM or DTYPE. */
static inline double
setting_get_number (const VnSetting *self,
                    gconstpointer    object)
{
  if (self->type == VN_SETTING_DOUBLE)
    return FIELD (const double, self, object);
  return self->type == VN_SETTING_INT ? (double) FIELD (const gint64, self, object) : FIELD (const int, self, object);
}

/* Of an ENUM. */
static inline guint
setting_count_choices (const VnSetting *self)
{
  return g_strv_length ((char **) self->choices);
}

G_END_DECLS
