/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The user's own Python, for preprocessing and for metrics: helper processes and their requests. */

#include "vn-dataset.h"

G_BEGIN_DECLS

/* ---- one helper process (script-helper.c) ---- */

/* Python that has read the user's file and waits for requests. Used by one thread at a time. */
typedef struct _VnHelper VnHelper;

typedef enum { VN_SCRIPT_PREPROCESS, VN_SCRIPT_METRIC } VnScriptRole;

/* Bytes behind a request. */
typedef struct
{
  gconstpointer data;
  gsize         n_bytes;
} VnHelperPart;

extern const char vn_script_driver[];      /* script-driver.c: what runs in it */

VnHelper *vn_helper_new  (VnScriptRole   role,
                          const char    *python,
                          const char    *file,
                          const char    *function,
                          guint          timeout,
                          GCancellable  *cancellable,
                          GError       **error);
void      vn_helper_free (VnHelper      *self);
VnTensor *vn_helper_ask  (VnHelper      *self,
                          const char    *request,
                          GCancellable  *cancellable,
                          gboolean      *alive,
                          GError       **error);
gboolean  vn_helper_measure (VnHelper            *self,
                             const char          *request,
                             const VnHelperPart  *parts,
                             guint                n_parts,
                             GCancellable        *cancellable,
                             char               **text,
                             GBytes             **rest,
                             gboolean            *alive,
                             GError             **error);
gboolean  vn_helper_has_finish (const VnHelper *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnHelper, vn_helper_free)

/* ---- as many of them as there are threads that load (script-pool.c) ---- */

typedef struct _VnScript VnScript;

VnScript *vn_script_new  (VnScriptRole         role,
                          const char          *script,
                          const char          *python,
                          guint                timeout,
                          GCancellable        *cancellable,
                          GError             **error);
void      vn_script_free (VnScript            *self);
VnTensor *vn_script_load (VnScript            *self,
                          const VnDataSpec    *spec,
                          const VnInputSpec   *input,
                          const VnPreprocess  *preprocess,
                          const char          *path,
                          GError             **error);
gboolean  vn_script_measure (VnScript            *self,
                             const char          *request,
                             const VnHelperPart  *parts,
                             guint                n_parts,
                             char               **text,
                             GBytes             **rest,
                             GError             **error);
gboolean  vn_script_has_finish    (const VnScript *self);
void      vn_script_append_string (GString        *json,
                                   const char     *text);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnScript, vn_script_free)

G_END_DECLS
