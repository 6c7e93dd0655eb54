/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Reading configurations of other quantizers by tables of their fields. */

#include "vn-config.h"

#include "vn-json.h"

G_BEGIN_DECLS

typedef enum
{
  VN_CONFIG_BOOL,       /* gboolean */
  VN_CONFIG_INT,        /* gint64 */
  VN_CONFIG_NUMBER,     /* double */
  VN_CONFIG_TEXT,       /* char *; an empty text: not said */
  VN_CONFIG_CHOICE,     /* char *, one of @choices */
  VN_CONFIG_TEXTS,      /* char **; a single text is a list of one */
  VN_CONFIG_SIZES,      /* GArray * of gint64, VN_DIM_UNKNOWN for a text */
  VN_CONFIG_NUMBERS,    /* GArray * of double; a single number is a list of one */
  VN_CONFIG_OBJECT,     /* a structure at the offset, by @fields */
  VN_CONFIG_OBJECTS,    /* GPtrArray * of structures of @size, each by @fields; made as needed */
  VN_CONFIG_MAP,        /* the same, for each member of an object: @key is given its name */
  VN_CONFIG_IGNORED,    /* known, and of no effect here */
} VnConfigKind;

/**
 * VnConfigField: one field of a file of another program. null stands for what is not said.
 * @offset: in the structure it is read into
 * @min, @max: of numbers, where @max is above @min
 */
typedef struct _VnConfigField VnConfigField;
struct _VnConfigField
{
  const char           *name;
  VnConfigKind          kind;
  gsize                 offset;
  double                min, max;
  const char * const   *choices;
  const VnConfigField  *fields;      /* ends with one without name */
  gsize                 size;        /* OBJECTS, MAP: of an element */
  gconstpointer         initial;     /* nullable: what an element is before it is read; else 0 */
  gsize                 key;         /* MAP: offset of the char * for the name */
};

/* When a number is set: always, or if it is positive, or not negative. */
typedef enum { VN_CONFIG_ALWAYS, VN_CONFIG_POSITIVE, VN_CONFIG_NOT_NEGATIVE } VnConfigWhen;

/**
 * VnConfigTarget: the setting of a recipe that a field becomes.
 * @id: of a setting that is a BOOL, an INT or a DOUBLE, as the field is a gboolean, a gint64 or a double
 * @offset: of the field
 * @when: a value that is set in some cases only is clamped to what the setting allows
 */
typedef struct
{
  const char   *id;
  gsize         offset;
  VnConfigWhen  when;
} VnConfigTarget;

gboolean vn_config_read_fields (VnConfig            *self,
                                const VnConfigField *fields,
                                gpointer             target,
                                JsonNode            *node,
                                const char          *where,
                                GError             **error);
void     vn_config_clear_fields (const VnConfigField *fields,
                                 gpointer             target);
gboolean vn_config_set         (VnConfig            *self,
                                const char          *id,
                                const char          *text,
                                const char          *where,
                                GError             **error);
void     vn_config_take_fields (VnConfig            *self,
                                const VnConfigTarget *targets,
                                gsize                n,
                                gconstpointer        from);
VnOverride *vn_config_add_rule (VnConfig            *self,
                                const char          *pattern,
                                char               **from,
                                char               **to,
                                gboolean             exclude);
void     vn_config_note        (VnConfig            *self,
                                VnNoteLevel          level,
                                const char          *where,
                                const char          *format,
                                ...) G_GNUC_PRINTF (4, 5);

/**
 * VnConfigReader: one kind of file, in a config-*.c file, named in vn-configs.def.
 * @knows: whether an object looks like one
 */
typedef struct
{
  const char *id;
  const char *title;
  gboolean  (*knows) (JsonObject *root);
  gboolean  (*read)  (VnConfig *self, JsonNode *root, GError **error);
} VnConfigReader;

/* Blocks with the largest error that XQuant trains at finetune_level 2 and 3. */
#define VN_XQUANT_FEW_BLOCKS 5
#define VN_XQUANT_MORE_BLOCKS 10

#define VN_CONFIG(name) extern const VnConfigReader vn_config_##name;
#include "vn-configs.def"
#undef VN_CONFIG

G_END_DECLS
