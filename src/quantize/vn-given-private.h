/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-given.h"

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
char    *vn_given_to_json          (VnGivenTable  *self);
gboolean vn_given_parse_flatbuffer (VnGivenTable  *self,       /* given-flatbuffer.c */
                                    GBytes        *bytes,
                                    GError       **error);

G_END_DECLS
