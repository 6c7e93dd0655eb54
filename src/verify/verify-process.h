/* SPDX-License-Identifier: GPL-3.0-or-later */
/* onnxruntime in the user's Python, or libonnxruntime, as a process of its own. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/**
 * VnVerifyRequest: what the process is asked for
 * @python: interpreter, looked up like a command
 * @is_python_given: the user named it: nothing else is tried
 * @library: (nullable): the user named this library: no Python is tried, unless that is given as well
 * @folder: holds the inputs, S-I.npy for input I of sample S; outputs are written there, out-S-O.npy, and
 *   those of the float network, float-S-O.npy, where they are the same ones; and where kernels saturate those with kernels that
 *   do not, exact-S-O.npy, if ONNX Runtime can
 * @model, @float_model: paths; @float_model is nullable
 * @inputs: (element-type utf8): names
 * @optimized: (nullable): where the graph is written that ONNX Runtime makes of @model, if it can
 * @timeout: in seconds
 * @name: what @model is called in messages, in quotes if that is a name
 * @seconds: after so many no more runs are measured
 * @is_asked: the user waits for an answer: interpreters that had no onnxruntime are asked once more
 */
typedef struct
{
  const char *python, *folder, *model, *float_model, *optimized, *library, *name;
  gboolean    is_python_given, is_asked;
  GPtrArray  *inputs;
  guint       n_samples, n_runs, timeout;
  double      seconds;
} VnVerifyRequest;

/* The process multiplies 64 × 255, uint8, by 64 × 127, int8, in a network of its own. */
#define VN_VERIFY_PROBE_LENGTH 64
#define VN_VERIFY_PROBE_SUM    (VN_VERIFY_PROBE_LENGTH * 255 * 127)

typedef struct
{
  char     *version;
  double    load_seconds, seconds, float_seconds;
  gboolean  saturates;   /* kernels for products of 8 bit */
} VnVerifyReply;

gboolean vn_verify_process_run (const VnVerifyRequest *request,
                                VnVerifyReply         *reply,
                                GCancellable          *cancellable,
                                GError               **error);

gboolean vn_verify_process_lacks_runtime (void);

G_END_DECLS
