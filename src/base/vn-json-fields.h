/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Reading the members of an object that may come from anybody. The first that is missing or wrong is kept as an error that
 * says where it is; after that everything reads as nothing. So a whole object is read before anybody asks. */

#include "vn-json.h"

G_BEGIN_DECLS

/**
 * VnJsonFields: an object that is being read.
 * @object: (nullable): borrowed; %NULL after an error
 * @where: what the object is called in messages; "" for the whole file
 * @error: what was wrong first
 */
typedef struct
{
  JsonObject *object;
  char       *where;
  GError     *error;
} VnJsonFields;

void       vn_json_fields_init       (VnJsonFields   *self,
                                      JsonNode       *node,
                                      const char     *where);
void       vn_json_fields_clear      (VnJsonFields   *self);
gboolean   vn_json_fields_end        (VnJsonFields   *self,
                                      GError        **error);
void       vn_json_fields_enter      (VnJsonFields   *self,
                                      VnJsonFields   *parent,
                                      const char     *id);
void       vn_json_fields_leave      (VnJsonFields   *self,
                                      VnJsonFields   *parent);
void       vn_json_fields_take_error (VnJsonFields   *self,
                                      GError         *reason);  /* nullable */
gboolean   vn_json_fields_has        (VnJsonFields   *self,
                                      const char     *id);     /* null is nothing */
gboolean   vn_json_fields_contains   (VnJsonFields   *self,
                                      const char     *id);     /* null, too */
char      *vn_json_fields_dup_where  (VnJsonFields   *self,
                                      const char     *id);     /* "errors.tensors" */
void       vn_json_fields_fail       (VnJsonFields   *self,
                                      const char     *id,
                                      const char     *format,
                                      ...) G_GNUC_PRINTF (3, 4);
JsonNode  *vn_json_fields_get        (VnJsonFields   *self,
                                      const char     *id);     /* borrowed; this and all below: must be there */
JsonArray *vn_json_fields_get_array  (VnJsonFields   *self,
                                      const char     *id);     /* borrowed; NULL with a fault */
char      *vn_json_fields_dup_text   (VnJsonFields   *self,
                                      const char     *id);
char      *vn_json_fields_dup_text_if (VnJsonFields  *self,
                                       const char    *id);     /* NULL: not there */
char     **vn_json_fields_dup_texts  (VnJsonFields   *self,
                                      const char     *id);
guint64    vn_json_fields_get_count  (VnJsonFields   *self,
                                      const char     *id,
                                      guint64         most);
double     vn_json_fields_get_double (VnJsonFields   *self,
                                      const char     *id);
gboolean   vn_json_fields_get_bool   (VnJsonFields   *self,
                                      const char     *id);
gint64     vn_json_fields_get_time   (VnJsonFields   *self,
                                      const char     *id);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (VnJsonFields, vn_json_fields_clear)

G_END_DECLS
