/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What runs nodes beside our kernels: a runtime that has operators which we do not have, or a device that we do not know. */

#include "vn-op.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/**
 * VnBackendPart: nodes of a graph that are run together.
 * @nodes: (element-type VnNode): each behind those that it depends on; none holds graphs
 * @inputs: what they read and none of them makes, each once; constants included
 * @in_types: as far as known: dims may be negative, ranks unknown
 * @constants: by input: (nullable): its value, if it is the same in each run
 * @outputs: what of the values that they make is wanted
 */
typedef struct
{
  const VnModel        *model;
  GPtrArray            *nodes;
  guint                 n_inputs, n_outputs;
  const VnValue       **inputs, **outputs;
  const VnTensorType   *in_types;
  VnTensor            **constants;
} VnBackendPart;

/* The code of what says that a backend runs nodes. */
#define VN_NOTE_ENGINE "engine"

#define VN_TYPE_BACKEND (vn_backend_get_type ())
G_DECLARE_DERIVABLE_TYPE (VnBackend, vn_backend, VN, BACKEND, GObject)

/**
 * VnBackendClass: all may be called from any thread.
 * @has_kernel: whether it runs @node, which has no graphs and is no function of its model
 * @open: makes the part ready; %NULL with %VN_ERROR_UNSUPPORTED if it does not run all of it, or is not there
 * @get_type: what is known of output @i before it runs
 * @run: @in: one tensor for each input that is no constant, in their order. @out: one for each output, to be filled, or %NULL: to
 *   be made, in memory of its own
 * @close: frees what @open made
 */
struct _VnBackendClass
{
  GObjectClass parent_class;

  gboolean     (*has_kernel) (VnBackend            *self,
                              const VnNode         *node);
  gpointer     (*open)       (VnBackend            *self,
                              const VnBackendPart  *part,
                              GError              **error);
  VnTensorType (*get_type)   (VnBackend            *self,
                              gpointer              opened,
                              guint                 i);
  gboolean     (*run)        (VnBackend            *self,
                              gpointer              opened,
                              VnTensor * const     *in,
                              VnTensor            **out,
                              GCancellable         *cancellable,
                              GError              **error);
  void         (*close)      (VnBackend            *self,
                              gpointer              opened);
};

VnBackend   *vn_model_get_backend        (const VnModel        *model);      /* (nullable), borrowed */
void         vn_model_set_backend        (VnModel              *model,
                                          VnBackend            *backend);    /* (nullable) */

const char  *vn_backend_get_title        (VnBackend            *self);       /* (nullable): "ONNX Runtime 1.32.0 (CPU)" */
void         vn_backend_set_title        (VnBackend            *self,
                                          const char           *title);
gboolean     vn_backend_takes_all        (VnBackend            *self);
void         vn_backend_set_takes_all    (VnBackend            *self,
                                          gboolean              takes_all);
gboolean     vn_backend_has_kernel       (const VnNode         *node);
gboolean     vn_backend_wants            (const VnNode         *node);
const VnOp  *vn_backend_get_op           (gboolean              is_static);
gboolean     vn_op_is_backend            (const VnOp           *op);
const VnOp  *vn_backend_lookup_node      (const VnNode         *node);       /* (vn-op-support.c) */
gpointer     vn_backend_open             (VnBackend            *self,
                                          const VnBackendPart  *part,
                                          GError              **error);
gpointer     vn_backend_open_node        (const VnNode         *node,
                                          const VnTensorType   *in_types,    /* nullable */
                                          VnTensor * const     *in,          /* nullable */
                                          GError              **error);

G_END_DECLS
