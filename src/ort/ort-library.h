/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The few functions of libonnxruntime that are used, found at run time. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct OrtStatus OrtStatus;
typedef struct OrtEnv OrtEnv;
typedef struct OrtOptions OrtOptions;
typedef struct OrtSession OrtSession;
typedef struct OrtValue OrtValue;
typedef struct OrtType OrtType;
typedef struct OrtTensorType OrtTensorType;
typedef struct OrtMemory OrtMemory;
typedef struct OrtAllocator OrtAllocator;
typedef struct OrtEpDevice OrtEpDevice;

/**
 * VnOrtLibrary:
 * @path: as it was opened; all stays until the process ends
 * @version: as the library says it: "1.31.0"
 * @handle: of dlopen(), for functions that only some builds have
 */
typedef struct
{
  char       *path;
  const char *version;
  void       *handle;
#define ORT_CALL(name, place, result, arguments) result (*name) arguments;
#define ORT_LATER_CALL(name, interface, place, result, arguments) result (*name) arguments;
#include "ort-calls.def"
} VnOrtLibrary;

gboolean vn_ort_library_open  (VnOrtLibrary  *self,
                               GError       **error);
gboolean vn_ort_library_check (const VnOrtLibrary  *self,
                               OrtStatus           *status,
                               GError             **error);

G_END_DECLS
