/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-memory.h"

#include <glib.h>

G_BEGIN_DECLS

/* The wire format of protocol buffers: what lies below the generated decoder. */

typedef enum
{
  VN_WIRE_VARINT = 0,
  VN_WIRE_FIXED64 = 1,
  VN_WIRE_BYTES = 2,
  VN_WIRE_FIXED32 = 5,
} VnWireType;

typedef enum
{
  VN_WIRE_FIELD,      /* one more field */
  VN_WIRE_END,        /* the message ends here */
  VN_WIRE_TRUNCATED,  /* a field reaches past the end */
  VN_WIRE_BAD,        /* no message: a tag or number that cannot be */
} VnWireStatus;

typedef struct
{
  const guint8 *at;
  const guint8 *end;
} VnWireIn;

/**
 * VnWireField:
 * @start, @end: the whole field, tag included
 * @value: of numbers; for %VN_WIRE_BYTES the length
 * @data: content, for %VN_WIRE_BYTES
 */
typedef struct
{
  guint32       number;
  VnWireType    type;
  guint64       value;
  const guint8 *data;
  const guint8 *start;
  const guint8 *end;
} VnWireField;

/* @data: (nullable) if there is nothing in it */
static inline VnWireIn
vn_wire_in (gconstpointer data,
            gsize         size)
{
  return (VnWireIn) { data, size > 0 ? (const guint8 *) data + size : data };
}

VnWireStatus  vn_wire_read_varint  (VnWireIn      *self,
                                    guint64       *value);
VnWireStatus  vn_wire_next         (VnWireIn      *self,
                                    VnWireField   *field);
gboolean      vn_wire_find         (gconstpointer  data,
                                    gsize          size,
                                    guint32        number,
                                    VnWireField   *field);

/**
 * VnWireOut: a message under construction. Small content is collected; large content stays where it is and is only
 * referred to.
 */
typedef struct _VnWireOut VnWireOut;

typedef struct
{
  guint   position;   /* in the small content */
  guint   blob;
  guint64 blob_bytes;
} VnWireMark;

/* Called with consecutive pieces of the message. */
typedef gboolean (*VnWireSink) (gpointer       data,
                                gconstpointer  piece,
                                gsize          size,
                                GError       **error);

VnWireOut    *vn_wire_out_new      (void);
void          vn_wire_out_free     (VnWireOut     *self);
guint64       vn_wire_out_size     (VnWireOut     *self);
gboolean      vn_wire_out_overflow (VnWireOut     *self);
gboolean      vn_wire_out_failed   (VnWireOut     *self);
gboolean      vn_wire_out_emit     (VnWireOut     *self,
                                    VnWireSink     sink,
                                    gpointer       data,
                                    GError       **error);
void          vn_wire_out_append   (VnWireOut     *self,
                                    VnBuffer      *buffer);
VnWireMark    vn_wire_begin        (VnWireOut     *self);
void          vn_wire_end          (VnWireOut     *self,
                                    VnWireMark     mark,
                                    guint32        number);
void          vn_wire_int          (VnWireOut     *self,
                                    guint32        number,
                                    gint64         value);
void          vn_wire_float        (VnWireOut     *self,
                                    guint32        number,
                                    float          value);
void          vn_wire_bytes        (VnWireOut     *self,
                                    guint32        number,
                                    gconstpointer  data,
                                    gsize          size);
void          vn_wire_string       (VnWireOut     *self,
                                    guint32        number,
                                    const char    *text);      /* NULL: nothing */
void          vn_wire_gbytes       (VnWireOut     *self,
                                    guint32        number,
                                    GBytes        *bytes);
void          vn_wire_blob         (VnWireOut     *self,
                                    guint32        number,
                                    gconstpointer  data,
                                    gsize          size);      /* must stay valid until the message is emitted */
void          vn_wire_ints_packed  (VnWireOut     *self,
                                    guint32        number,
                                    const gint64  *values,
                                    gsize          n);
void          vn_wire_encoded      (VnWireOut     *self,
                                    gconstpointer  data,
                                    gsize          size);      /* fields that are encoded already */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnWireOut, vn_wire_out_free)

G_END_DECLS
