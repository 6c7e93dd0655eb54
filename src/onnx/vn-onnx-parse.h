/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Models that are written as text become encoded ones, field by field (vn-onnx-fields.def), without a tree in between. */

#include "vn-onnx-wire.h"

G_BEGIN_DECLS

typedef enum
{
  TEXT_NONE,
#define TEXT_TYPE(id) TEXT_##id,
#define TEXT_FIELD(...)
#define TEXT_VALUE(...)
#include "vn-onnx-fields.def"
#undef TEXT_TYPE
#undef TEXT_FIELD
#undef TEXT_VALUE
} TextType;

typedef enum { KIND_S32, KIND_S64, KIND_U64, KIND_F32, KIND_F64, KIND_STRING, KIND_BYTES, KIND_ENUM, KIND_MESSAGE } TextKind;
typedef enum { LABEL_ONE, LABEL_LIST, LABEL_PACKED } TextLabel;

typedef struct
{
  TextType    message;
  guint32     number;
  const char *name;
  TextKind    kind;
  TextLabel   label;
  TextType    type;   /* of a message or an enumeration */
} TextField;

typedef struct _VnTextIn VnTextIn;

/**
 * VnTextSyntax: how a form of text writes what all forms have.
 * @skip: what stands between words
 * @read_text: text or bytes in quotes
 * @read_scalar: a number, or the name of one
 * @read_inner: a message with what is around it, without its length
 */
typedef struct
{
  void     (*skip)        (VnTextIn *self);
  gboolean (*read_text)   (VnTextIn *self, const TextField *field, GError **error);
  gboolean (*read_scalar) (VnTextIn *self, const TextField *field, GError **error);
  gboolean (*read_inner)  (VnTextIn *self, TextType type, GError **error);
} VnTextSyntax;

/**
 * VnTextIn: a model that is being read
 * @syntax: the form that it is written in
 * @field: (nullable): the field that is being read, for messages
 * @depth: messages and lists around the place
 * @piece: the last bytes of a string, which are not written yet
 */
struct _VnTextIn
{
  const char         *start, *at, *end;
  VnWireOut          *out;
  const VnTextSyntax *syntax;
  const TextField    *field;
  guint               depth;
  guint8              piece[512];
  guint               n_piece;
};

/**
 * VnTextMessage: a message that is being read
 * @given: bits of the numbers of the fields that were there
 * @packed: (nullable): the list whose numbers are being written, from @mark
 */
typedef struct
{
  TextType         type;
  guint64          given;
  const TextField *packed;
  VnWireMark       mark;
} VnTextMessage;

/* A word or a number as it is written */
typedef struct
{
  const char *data;
  gsize       size;
} VnTextToken;

gboolean          vn_text_fail          (VnTextIn         *self,
                                         const char       *at,
                                         const char       *reason,
                                         GError          **error);
gboolean          vn_text_enter         (VnTextIn         *self,
                                         GError          **error);
const TextField  *vn_text_find_field    (TextType          type,
                                         const VnTextToken *name);
gboolean          vn_text_begin_field   (VnTextIn         *self,
                                         VnTextMessage    *message,
                                         const VnTextToken *name,
                                         GError          **error);
gboolean          vn_text_take          (VnTextIn         *self,
                                         char              c);
gboolean          vn_text_read_value    (VnTextIn         *self,
                                         VnTextMessage    *message,
                                         const TextField  *field,
                                         GError          **error);
gboolean          vn_text_read_list     (VnTextIn         *self,
                                         VnTextMessage    *message,
                                         const TextField  *field,
                                         GError          **error);
void              vn_text_end_message   (VnTextIn         *self,
                                         VnTextMessage    *message);
gboolean          vn_text_put_scalar    (VnTextIn         *self,
                                         const TextField  *field,
                                         const VnTextToken *token,
                                         GError          **error);
void              vn_text_put_byte      (VnTextIn         *self,
                                         guint8            byte);
void              vn_text_put_character (VnTextIn         *self,
                                         guint32           character);
void              vn_text_flush         (VnTextIn         *self);
VnTextToken       vn_text_read_token    (VnTextIn         *self);

gboolean          vn_text_read_proto    (VnTextIn         *self,
                                         GError          **error);
gboolean          vn_text_read_json     (VnTextIn         *self,
                                         GError          **error);

gboolean          vn_onnx_is_text       (GBytes           *bytes);
GBytes           *vn_onnx_parse         (GBytes           *bytes,
                                         GError          **error);

G_END_DECLS
