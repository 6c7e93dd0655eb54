/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What "list" prints: rows that are filled once and come out as text or as JSON. */
#pragma once

#include "vn-cmd.h"

G_BEGIN_DECLS

typedef struct _VnListing VnListing;

VnListing   *vn_listing_new        (JsonBuilder       *json);
void         vn_listing_free       (VnListing         *self);

/* A row: begin, its fields, end. */
void         vn_listing_begin      (VnListing         *self,
                                    const char        *id,
                                    const char        *group);     /* nullable: heading, translated */
void         vn_listing_add_text   (VnListing         *self,
                                    const char        *field,
                                    const char        *text);      /* NULL: no field */
void         vn_listing_add_number (VnListing         *self,
                                    const char        *field,
                                    gint64             number);
void         vn_listing_add_flag   (VnListing         *self,
                                    const char        *field,
                                    gboolean           flag);
void         vn_listing_add_words  (VnListing         *self,
                                    const char        *field,
                                    const char * const *words);
void         vn_listing_add_types  (VnListing         *self,
                                    const char        *field,
                                    VnDTypeSet         types);
JsonBuilder *vn_listing_get_rows   (VnListing         *self);      /* for fields of other kinds */
void         vn_listing_end        (VnListing         *self,
                                    const char        *line);      /* what stands behind the id in the text */
void         vn_listing_print      (VnListing         *self,
                                    const char        *name);

gboolean     vn_list_operator      (const char        *word,
                                    JsonBuilder       *json,
                                    GError           **error);

#define VN_LISTING(name, summary) void vn_list_##name (VnListing *listing);
#include "vn-listings.def"
#undef VN_LISTING

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnListing, vn_listing_free)

G_END_DECLS
