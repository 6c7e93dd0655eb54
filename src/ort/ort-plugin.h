/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An execution provider in a library of its own, which ONNX Runtime loads from version 1.22 on. */
#pragma once

#include "ort-library.h"

G_BEGIN_DECLS

/**
 * VnOrtPlugin:
 * @name: (nullable): that it is registered by; its provider has the same, but for upper and lower case; %NULL: options alone
 * @path: of the library, which is code that the user trusts
 * @keys, @values: (array length=n_options): options of the provider
 * @devices: (array length=n_devices): of it, once it is registered
 */
typedef struct
{
  char               *name, *path;
  char              **keys, **values;
  guint               n_options;
  const OrtEpDevice **devices;
  gsize               n_devices;
} VnOrtPlugin;

gboolean vn_ort_plugin_parse    (VnOrtPlugin         *self,
                                 const char          *library,    /* nullable */
                                 const char * const  *options,    /* nullable */
                                 GError             **error);
gboolean vn_ort_plugin_register (VnOrtPlugin         *self,
                                 const VnOrtLibrary  *library,
                                 OrtEnv              *env,
                                 GError             **error);
gboolean vn_ort_plugin_append   (const VnOrtPlugin   *self,
                                 const VnOrtLibrary  *library,
                                 OrtEnv              *env,
                                 OrtOptions          *options,
                                 GError             **error);
void     vn_ort_plugin_clear    (VnOrtPlugin         *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (VnOrtPlugin, vn_ort_plugin_clear)

G_END_DECLS
