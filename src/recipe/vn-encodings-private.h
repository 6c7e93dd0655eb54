/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-encodings.h"

#include "vn-json.h"

G_BEGIN_DECLS

/* Adds the range -@text .. @text, the amplitude that ONNX Runtime's tables have. */
gboolean vn_encoding_add_amplitude (VnEncodingTable  *self,
                                    const char    *tensor,
                                    const char    *text,
                                    GError       **error);
gboolean vn_encoding_parse_json    (VnEncodingTable  *self,       /* encodings-json.c */
                                    const char    *text,
                                    gsize          length,
                                    const char    *name,
                                    GError       **error);
gboolean vn_encoding_read_params   (VnEncoding       *imported,   /* encodings-params.c */
                                    JsonNode      *scale,
                                    JsonNode      *zero_point,
                                    const char    *where,
                                    GError       **error);
gboolean vn_encoding_is_ppq        (JsonObject    *root);      /* encodings-ppq.c */
gboolean vn_encoding_parse_ppq     (VnEncodingTable  *self,
                                    JsonObject    *root,
                                    GError       **error);
const char *vn_json_describe_foreign (JsonObject *root);       /* foreign.c */
char    *vn_encoding_to_json       (VnEncodingTable  *self);
gboolean vn_encoding_parse_flatbuffer (VnEncodingTable  *self,       /* encodings-flatbuffer.c */
                                       GBytes        *bytes,
                                       GError       **error);

G_END_DECLS
