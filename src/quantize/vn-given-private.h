/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-given.h"

#include "vn-json.h"

G_BEGIN_DECLS

/* Adds the range -@text .. @text, the amplitude that ONNX Runtime's tables have. */
gboolean vn_given_add_amplitude    (VnGivenTable  *self,
                                    const char    *tensor,
                                    const char    *text,
                                    GError       **error);
gboolean vn_given_parse_json       (VnGivenTable  *self,       /* given-json.c */
                                    const char    *text,
                                    gsize          length,
                                    const char    *name,
                                    GError       **error);
gboolean vn_given_read_params      (VnGiven       *given,
                                    JsonNode      *scale,
                                    JsonNode      *zero_point,
                                    const char    *where,
                                    GError       **error);
gboolean vn_given_is_ppq           (JsonObject    *root);      /* given-ppq.c */
gboolean vn_given_parse_ppq        (VnGivenTable  *self,
                                    JsonObject    *root,
                                    GError       **error);
const char *vn_json_describe_foreign (JsonObject *root);       /* foreign.c */
char    *vn_given_to_json          (VnGivenTable  *self);
gboolean vn_given_parse_flatbuffer (VnGivenTable  *self,       /* given-flatbuffer.c */
                                    GBytes        *bytes,
                                    GError       **error);

G_END_DECLS
