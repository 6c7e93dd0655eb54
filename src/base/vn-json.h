/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* Files of settings: JSON that may come from anybody. */

JsonNode *vn_json_parse       (const char   *text,
                               gssize        length,      /* -1: up to the NUL */
                               const char   *name,        /* of the file, for messages */
                               GError      **error);
JsonNode *vn_json_load        (const char   *path,
                               GError      **error);
char     *vn_json_to_text     (JsonNode     *root);

/* Writing (vn-json-write.c): members of the object that is being written. */
void      vn_json_begin_object (JsonBuilder        *json,
                                const char         *member);
void      vn_json_begin_array  (JsonBuilder        *json,
                                const char         *member);
void      vn_json_add_node     (JsonBuilder        *json,
                                const char         *member,
                                JsonNode           *node);     /* (transfer full) */
void      vn_json_add_text     (JsonBuilder        *json,
                                const char         *member,
                                const char         *text);     /* NULL: null */
void      vn_json_add_text_if  (JsonBuilder        *json,
                                const char         *member,
                                const char         *text);     /* NULL: no member */
void      vn_json_add_texts    (JsonBuilder        *json,
                                const char         *member,
                                const char * const *texts);
void      vn_json_add_int      (JsonBuilder        *json,
                                const char         *member,
                                gint64              value);
void      vn_json_add_bool     (JsonBuilder        *json,
                                const char         *member,
                                gboolean            value);
void      vn_json_add_number   (JsonBuilder        *json,
                                const char         *member,
                                double              value);
void      vn_json_add_double   (JsonBuilder        *json,
                                double              value);
void      vn_json_add_time     (JsonBuilder        *json,
                                const char         *member,
                                gint64              seconds);  /* since 1970 */

/* What is wrong is told with the place: “rules[2].percentile: a number is expected, there is a text”. */
JsonObject *vn_json_get_object  (JsonNode     *node,
                                 const char   *where,
                                 GError      **error);
JsonArray  *vn_json_get_array   (JsonNode     *node,
                                 const char   *where,
                                 GError      **error);
const char *vn_json_get_string  (JsonNode     *node,
                                 const char   *where,
                                 GError      **error);
gboolean    vn_json_get_number  (JsonNode     *node,
                                 const char   *where,
                                 double       *number,
                                 GError      **error);
gboolean    vn_json_get_any_number (JsonNode  *node,
                                    const char *where,
                                    double    *number,
                                    GError   **error);
gboolean    vn_json_get_count   (JsonNode     *node,
                                 const char   *where,
                                 guint64       most,
                                 guint64      *count,
                                 GError      **error);
gboolean    vn_json_get_boolean (JsonNode     *node,
                                 const char   *where,
                                 gboolean     *value,
                                 GError      **error);

G_END_DECLS
