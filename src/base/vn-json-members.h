/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Structures as JSON by a table of their fields: one line says both how a field is written and how it is read. */

#include "vn-json-fields.h"

G_BEGIN_DECLS

typedef enum
{
  VN_JSON_BOOL,       /* gboolean */
  VN_JSON_UINT,       /* guint, at most @most */
  VN_JSON_COUNT,      /* guint64 or gsize, at most @most, or G_MAXINT64 */
  VN_JSON_NUMBER,     /* double; NaN and infinities, too */
  VN_JSON_FLOAT,      /* float, finite */
  VN_JSON_CHANNELS,   /* float[4], finite */
  VN_JSON_TEXT,       /* char * */
  VN_JSON_TIME,       /* gint64, seconds since 1970 */
  VN_JSON_CHOICE,     /* an enum without gaps: the text of its number in @choices */
} VnJsonKind;

typedef enum
{
  VN_JSON_ALWAYS,     /* written, and needed in a file */
  VN_JSON_MAY_MISS,   /* written; a file that does not have it leaves the field as it is */
  VN_JSON_IF_SAID,    /* the same, but not written if FALSE, 0, NaN or NULL; null in a file is as if it were not there */
} VnJsonNeed;

/**
 * VnJsonMember: a member of an object, and the field of a structure that it stands for. Tables end with one without id.
 * @offset: of the field
 * @most: of a UINT or COUNT; 0: as much as the type holds
 * @choices: (array zero-terminated=1): of a CHOICE
 */
typedef struct
{
  const char          *id;
  VnJsonKind           kind;
  VnJsonNeed           need;
  gsize                offset;
  guint64              most;
  const char * const  *choices;
} VnJsonMember;

void                vn_json_members_write (const VnJsonMember *members,
                                           gconstpointer       object,
                                           JsonBuilder        *json);
void                vn_json_members_read  (const VnJsonMember *members,
                                           gpointer            object,
                                           VnJsonFields       *fields);   /* what is wrong is kept there */
const VnJsonMember *vn_json_members_find  (const VnJsonMember *members,
                                           const char         *id);       /* NULL: none */

G_END_DECLS
