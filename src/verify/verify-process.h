/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A runtime in the user's Python, or libonnxruntime, as a process of its own. */
#pragma once

#include "ort-plugin.h"
#include "vn-target-runtime.h"
#include "vn-verify-job.h"

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/**
 * VnVerifyRequest: what the process is asked for
 * @runtime: what runs the networks
 * @python: (nullable): interpreter that the user named, looked up like a command: nothing else is tried, but what the
 *   environment names for this runtime
 * @folder: holds the inputs, S-I.npy for input I of sample S; outputs are written there, out-S-O.npy, and
 *   those of the float network, float-S-O.npy, where they are the same ones; and where kernels saturate those with kernels that
 *   do not, exact-S-O.npy, if the runtime can
 * @model, @float_model: paths; @float_model is nullable
 * @inputs: (element-type utf8): names
 * @optimized: (nullable): where the graph is written that the runtime makes of @model, if it can
 * @timeout: in seconds
 * @n_runs: for times; 0: they mean nothing there
 * @name: what @model is called in messages, in quotes if that is a name
 * @seconds: after so many no more runs are measured
 * @is_asked: the user waits for an answer: interpreters that had no runtime are asked once more
 * @custom_ops: (nullable): library with operators for ONNX Runtime to load
 * @plugin: (nullable): execution provider for ONNX Runtime to load, which runs both networks; without a name: options of the one
 *   that @runtime is
 * @looks: nothing is run, it is only found out whether the runtime is there
 */
typedef struct
{
  const VnTargetRuntime *runtime;
  const char *python, *folder, *model, *float_model, *optimized, *name, *custom_ops;
  const VnOrtPlugin *plugin;
  gboolean    is_asked, looks;
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
  JsonNode *facts;       /* (nullable): what the runtime tells of the export, as it came */
  char     *log;         /* (nullable): and what it logged; bytes of any kind */
} VnVerifyReply;

gboolean vn_verify_process_begin (const VnVerifyRequest *request,
                                  GError               **error);
gboolean vn_verify_process_try   (const VnVerifyRequest *request,
                                  const char            *python,       /* nullable */
                                  VnVerifyReply         *reply,
                                  gboolean              *missing,
                                  GCancellable          *cancellable,
                                  GError               **error);
void     vn_verify_reply_clear   (VnVerifyReply         *self);

gboolean vn_verify_process_run (const VnVerifyRequest *request,
                                VnVerifyReply         *reply,
                                GCancellable          *cancellable,
                                GError               **error);

G_END_DECLS
