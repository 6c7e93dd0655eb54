/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The user's own preprocessing in Python: helper processes and their requests. */

#include "vn-dataset.h"

G_BEGIN_DECLS

/* ---- one helper process (script-helper.c) ---- */

/* Python that has read the user's file and waits for requests. Used by one thread at a time. */
typedef struct _VnHelper VnHelper;

extern const char vn_script_driver[];      /* script-driver.c: what runs in it */

VnHelper *vn_helper_new  (const char    *python,
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

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnHelper, vn_helper_free)

/* ---- as many of them as there are threads that load (script-pool.c) ---- */

typedef struct _VnScript VnScript;

VnScript *vn_script_new  (const VnDataSpec    *spec,
                          const char          *script,
                          GCancellable        *cancellable,
                          GError             **error);
void      vn_script_free (VnScript            *self);
VnTensor *vn_script_load (VnScript            *self,
                          const VnDataSpec    *spec,
                          const VnInputSpec   *input,
                          const VnPreprocess  *preprocess,
                          const char          *path,
                          GError             **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnScript, vn_script_free)

G_END_DECLS
