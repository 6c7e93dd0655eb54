/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Parts of the file of a run: each is written and read beside each other. */

#include "vn-json-fields.h"
#include "vn-run.h"

G_BEGIN_DECLS

/* What files of earlier programs call figures of a runtime. */
#define VN_RUN_FILE_OLD_RUNTIME "onnxruntime"

typedef void (*VnRunFileFunc) (gpointer to, VnJsonFields *fields);

/* Every object of the list @id, until one is wrong. */
void               _vn_run_file_read_each      (VnJsonFields      *parent,
                                                const char        *id,
                                                VnRunFileFunc      read,
                                                gpointer           to);
double             _vn_run_file_get_number     (VnJsonFields      *fields,
                                                const char        *id);       /* NaN if it is not there */
void               _vn_run_file_add_number     (JsonBuilder       *json,
                                                const char        *id,
                                                double             number);   /* unless it is NaN */
gboolean           _vn_run_file_get_flag       (VnJsonFields      *fields,
                                                const char        *id);       /* FALSE if it is not there */
void               _vn_run_file_add_flag       (JsonBuilder       *json,
                                                const char        *id,
                                                gboolean           flag);     /* unless it is FALSE */
void               _vn_run_file_add_kept       (JsonBuilder       *json,
                                                const VnKept      *kept);     /* unless it is not known */
void               _vn_run_file_read_kept      (VnJsonFields      *fields,
                                                VnKept            *kept);     /* untouched if the task is not known */

/* Of VN_RUN_FILE_FACET: each writes one value, and makes one of what it reads, which belongs to whoever asks and whose errors are
 * those of the fields. */
#define VN_RUN_FACET(...)
#define VN_RUN_FILE_FACET(SYMBOL, Type, field, prefix, form, id) VN_RUN_FILE_DECLARE_##form (Type, field)
#define VN_RUN_FILE_DECLARE_OBJECT(Type, field) \
  void  _vn_run_file_add_##field  (JsonBuilder *json, Type *field); \
  Type *_vn_run_file_read_##field (VnJsonFields *fields);
#define VN_RUN_FILE_DECLARE_LIST(Type, field) \
  void  _vn_run_file_add_##field  (JsonBuilder *json, Type *field); \
  Type *_vn_run_file_read_##field (VnJsonFields *parent, const char *id);
#include "vn-run-facets.def"
#undef VN_RUN_FACET
#undef VN_RUN_FILE_DECLARE_OBJECT
#undef VN_RUN_FILE_DECLARE_LIST

G_END_DECLS
