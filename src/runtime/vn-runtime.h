/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What ONNX Runtime will make of a network on a processor, without running it: the kernel of each node, and how long they
 * take. */

#include "vn-model.h"

G_BEGIN_DECLS

/**
 * VnRuntimeKind: what becomes of a node
 * @VN_RUNTIME_FLOAT: computes in float
 * @VN_RUNTIME_INTEGER: computes on integers
 * @VN_RUNTIME_MOVES: only moves integers, or picks among them
 * @VN_RUNTIME_ABSORBED: another node does its work, or nothing has to be done
 * @VN_RUNTIME_FOLDED: computed once, when the network is loaded
 */
typedef enum
{
  VN_RUNTIME_FLOAT,
  VN_RUNTIME_INTEGER,
  VN_RUNTIME_MOVES,
  VN_RUNTIME_ABSORBED,
  VN_RUNTIME_FOLDED,
  VN_N_RUNTIME_KINDS,
} VnRuntimeKind;

/* Why a node that has quantizers around it computes in float; NONE: there is nothing to explain. Elsewhere than in ONNX Runtime
 * SIXTEEN is told of products on integers, too. */
typedef enum
{
#define VN_RUNTIME_REASON(id, name, text) VN_RUNTIME_REASON_##id,
#include "vn-runtime-reasons.def"
#undef VN_RUNTIME_REASON
  VN_N_RUNTIME_REASONS,
} VnRuntimeReason;

const char *vn_runtime_kind_get_id     (VnRuntimeKind   self);
const char *vn_runtime_kind_get_title  (VnRuntimeKind   self);   /* translated */
const char *vn_runtime_reason_get_id   (VnRuntimeReason self);   /* "float-input" */
const char *vn_runtime_reason_get_text (VnRuntimeReason self);   /* translated; NULL for NONE */

/**
 * VnRuntimeNode: one node of the network that was given. QuantizeLinear and DequantizeLinear have rows, too.
 * @label: vn_node_dup_label()
 * @output: name of its first output, or ""
 * @op_type: its operator
 * @kernel: operator that is run, with its domain unless that is ONNX's own; NULL where none is
 * @into: (nullable): label of the node that does its work
 * @reason: why in float
 * @converts: it only changes the type of numbers: a QuantizeLinear or DequantizeLinear
 * @macs: multiplications with an addition each, as far as sizes are known
 * @seconds: predicted, one thread
 */
typedef struct
{
  char            *label, *output, *op_type, *kernel, *into;
  VnRuntimeKind    kind;
  VnRuntimeReason  reason;
  gboolean         converts;
  double           macs, seconds;
} VnRuntimeNode;

/**
 * VnRuntimeKernel: all nodes that are run by one operator, those included that ONNX Runtime adds
 * @kernel: as VnRuntimeNode.kernel
 */
typedef struct
{
  char   *kernel;
  guint   n;
  double  seconds;
} VnRuntimeKernel;

/**
 * VnRuntimeForecast: immutable.
 * @nodes: of VnRuntimeNode, in the order of the network
 * @kernels: of VnRuntimeKernel, the one that takes longest first
 * @macs: of all nodes
 * @integer_macs: of those that compute on integers
 * @seconds: of one run, one thread; conversions included, and what a run takes beside its nodes
 * @conversion_seconds: of those, what goes into QuantizeLinear, DequantizeLinear and changes of layout
 * @float_seconds: of one run of the float network, where that was given; otherwise 0
 * @observed: kinds and kernels of @nodes, and @integer_macs, are those of the graph that ONNX Runtime has made, not expected ones
 */
typedef struct
{
  GPtrArray *nodes, *kernels;
  double     macs, integer_macs;
  double     seconds, conversion_seconds, float_seconds;
  gboolean   observed;
  /*< private >*/
  GHashTable *by_label, *by_output;
  gatomicrefcount ref;
} VnRuntimeForecast;

/**
 * VnRuntimeRules: what is known of a runtime that is not ONNX Runtime
 * @activations, @weights: types that its kernels for products read; 0: any integers
 * @inputs_alone: a product is on integers whatever reads its result; other operators are fused with it, or in float. Otherwise
 *   all that stands between pairs is on integers
 * @floats: (nullable) (array zero-terminated=1): operators that it computes in float
 */
typedef struct
{
  VnDTypeSet          activations, weights;
  gboolean            inputs_alone;
  const char * const *floats;
} VnRuntimeRules;

VnRuntimeForecast   *vn_runtime_forecast_new           (const VnModel           *model,
                                                        GHashTable              *input_shapes,    /* nullable */
                                                        const VnRuntimeForecast *float_forecast,  /* nullable */
                                                        GError                 **error);
VnRuntimeForecast   *vn_runtime_forecast_new_elsewhere (const VnModel           *model,
                                                        GHashTable              *input_shapes,    /* nullable */
                                                        const VnRuntimeRules    *rules,
                                                        GError                 **error);
VnRuntimeForecast   *vn_runtime_forecast_new_empty     (void);
void                 vn_runtime_forecast_add           (VnRuntimeForecast       *self,
                                                        VnRuntimeNode           *row);
VnRuntimeForecast   *vn_runtime_forecast_copy          (const VnRuntimeForecast *self);
VnRuntimeForecast   *vn_runtime_forecast_observe       (const VnRuntimeForecast *self,
                                                        const VnModel           *optimized);
VnRuntimeForecast   *vn_runtime_forecast_ref           (VnRuntimeForecast       *self);
void                 vn_runtime_forecast_unref         (VnRuntimeForecast       *self);
const VnRuntimeNode *vn_runtime_forecast_find          (const VnRuntimeForecast *self,
                                                        const char              *label);          /* NULL if there is none */
const VnRuntimeNode *vn_runtime_forecast_find_value    (const VnRuntimeForecast *self,
                                                        const char              *value,
                                                        /* of @label, if nothing computes @value */
                                                        const char              *label);
/* 0 to 1; NAN without products */
double               vn_runtime_forecast_integer_share (const VnRuntimeForecast *self);
double               vn_runtime_forecast_wide_share (const VnRuntimeForecast *self);              /* the same */
double               vn_runtime_forecast_pairs_share (const VnRuntimeForecast *self);             /* the same */
double               vn_runtime_get_conversion_seconds (VnDType                  dtype,
                                                        gboolean                 to_integers,
                                                        double                   n);              /* elements */
/* to the float network; NAN if unknown */
double               vn_runtime_forecast_ratio         (const VnRuntimeForecast *self);
/* of such a ratio, as a factor either way */
double               vn_runtime_get_margin             (void);
char                *vn_runtime_forecast_dup_slowest   (const VnRuntimeForecast *self,
                                                        guint                    n);              /* "Conv 41 %, Add 7 %" */

/* ---- bfloat16 (runtime-bfloat.c) ---- */

#define VN_NOTE_CODE_BFLOAT "bfloat16-kernels"   /* of the note that ONNX Runtime cannot run it on a CPU */

char                *vn_runtime_dup_bfloat_gaps        (const VnGraph           *graph);
void                 vn_runtime_note_bfloat            (const char              *gaps,
                                                        VnNotes                 *notes);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnRuntimeForecast, vn_runtime_forecast_unref)

G_END_DECLS
