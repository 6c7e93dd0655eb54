/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Operators: their descriptors, what they are run with, and how a quantizer treats them. */

#include "vn-dims.h"
#include "vn-model.h"

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _VnOp        VnOp;
typedef struct _VnOpContext VnOpContext;

#define VN_OP_MAX_INPUTS  G_MAXUINT16   /* of variadic operators, such as Concat and Sum */
#define VN_OP_MAX_OTHERS  16    /* inputs whose types a descriptor states one by one */

/**
 * VnQuantRole: how a quantizer treats an operator. Quantization knows operators only through this and
 * VnQuantTraits, never by comparing names.
 * @VN_QUANT_OPAQUE: not quantized unless asked for by name
 * @VN_QUANT_COMPUTE: activations, a weight and maybe a bias: Conv, ConvTranspose, Gemm
 * @VN_QUANT_MATMUL: MatMul: either input may be a weight
 * @VN_QUANT_GENERIC: every float input and output is quantized: Add, Mul, Concat, Sigmoid ...
 * @VN_QUANT_CLAMP: Relu, Clip: may be absorbed into the range of its producer, else passes on its input
 * @VN_QUANT_PASSTHROUGH: moves or selects values: the output takes scale and zero point of input 0
 * @VN_QUANT_NORM: data, scale (weight 1) and bias (input 2): Instance-, Layer-, BatchNormalization
 */
typedef enum
{
  VN_QUANT_OPAQUE,
  VN_QUANT_COMPUTE,
  VN_QUANT_MATMUL,
  VN_QUANT_GENERIC,
  VN_QUANT_CLAMP,
  VN_QUANT_PASSTHROUGH,
  VN_QUANT_NORM,
} VnQuantRole;

typedef struct
{
  VnQuantRole role;
  gint8       weight_input;   /* -1: none */
  gint8       bias_input;     /* -1: none */
  gint8       channel_axis;   /* axis of the weight's output channels for per-channel scales; Gemm: as without transB */
  gboolean    in_ort_default; /* onnxruntime.quantization quantizes it without being asked */
  float       out_min, out_max; /* fixed range of the output (Softmax, Sigmoid: 0..1); both 0: none */
} VnQuantTraits;

/* Family of an operator: colour of its left edge in the window. */
typedef enum
{
  VN_FAMILY_OTHER,
  VN_FAMILY_COMPUTE,
  VN_FAMILY_ACTIVATION,
  VN_FAMILY_ARITHMETIC,
  VN_FAMILY_SHAPE,
  VN_FAMILY_POOL_NORM,
  VN_FAMILY_CONVERSION,
} VnOpFamily;

/**
 * VnStandIn: element types an operator has no kernel for, and computes all the same: `run` sees another type.
 * @VN_STAND_IN_HALVES: float16 and bfloat16 that are not in `dtypes`, of every input, are seen as float32, and results
 *   are rounded
 * @VN_STAND_IN_STRINGS: elements are only moved: strings are seen as integers as wide as a pointer
 * @VN_STAND_IN_PACKED: elements are only moved: those smaller than a byte are seen as uint8, one in each
 */
typedef enum
{
  VN_STAND_IN_HALVES  = 1 << 0,
  VN_STAND_IN_STRINGS = 1 << 1,
  VN_STAND_IN_PACKED  = 1 << 2,
} VnStandIn;

/* Type of one input or output; dims may be unknown while planning with symbolic sizes. A container has the element
 * type of its tensors and a shape that is never known. */
typedef struct
{
  VnDType dtype;
  VnShape shape;
  VnKind  kind;
} VnTensorType;

/**
 * VnOpBodies: how an operator reaches the graphs in its attributes (If, Loop, Scan); values of outer graphs that they
 * use are not its business.
 * @get_type: what is known of output @i of @graph before it is run
 * @run: runs @graph once on as many inputs as it has; @outputs, one for each of its outputs, become owned. NULL while
 *   types are inferred
 */
typedef struct
{
  VnTensorType (*get_type) (gpointer         data,
                            const VnGraph   *graph,
                            guint            i);
  gboolean     (*run)      (gpointer         data,
                            const VnGraph   *graph,
                            VnTensor * const *inputs,
                            VnTensor       **outputs,
                            GError         **error);
  gpointer       data;
} VnOpBodies;

/* What is done to each result y. How exporters write out HardSwish: c = min (max (y + a, min), max); and Gelu: with
 * a factor or a divisor. */
typedef enum
{
  VN_ACTIVATION_CLAMP,          /* min (max (y, min), max) */
  VN_ACTIVATION_LEAKY_RELU,     /* a y for y < 0 */
  VN_ACTIVATION_TANH,
  VN_ACTIVATION_SIGMOID,
  VN_ACTIVATION_HARD_SIGMOID,   /* h = max (0, min (1, a y + b)) */
  VN_ACTIVATION_SILU,           /* y sigmoid (y) */
  VN_ACTIVATION_HARD_SWISH,     /* y h */
  VN_ACTIVATION_SHIFT_SWISH,    /* (y c) / b */
  VN_ACTIVATION_SWISH_OF_PART,  /* y (c / b) */
  VN_ACTIVATION_GELU,           /* b y (1 + erf (a y)) */
  VN_ACTIVATION_GELU_DIVIDED,   /* b y (1 + erf (y / a)) */
  VN_ACTIVATION_GELU_TANH,      /* y / 2 (1 + tanh (sqrt (2 / pi) (y + 0.044715 y^3))) */
  VN_ACTIVATION_QUANTIZER,      /* a min (max (rint (y / a), min), max); a b for NaN */
} VnActivationKind;

/**
 * VnActivation: what the engine fused behind the operator.
 * @kind: a clamp, unless the operator has fuses_more
 */
typedef struct
{
  gboolean         active;
  float            min, max;
  VnActivationKind kind;
  float            a, b;
} VnActivation;

/**
 * VnOpNumbers: for `infer` over sizes that are known by name only (vn-dims.h). Dims of in_types may then be symbolic;
 * code that does not know of them takes them for unknown.
 * @in: of an input that is not known in `in` but in part: a tensor of int64 of its shape, each element a number of
 *   @dims, whatever the element type; else %NULL
 * @out: `infer` may set it to such a tensor that it makes
 */
typedef struct
{
  VnDims    *dims;
  VnTensor **in;
  VnTensor **out;
} VnOpNumbers;

/* Whether subnormal numbers are 0 for an operator: where that is known before it runs. */
typedef enum { VN_OP_SUBNORMALS_ASK, VN_OP_SUBNORMALS_FLUSHED, VN_OP_SUBNORMALS_KEPT } VnOpSubnormals;

/**
 * VnOpEnds: what an operator with tells_ends tells of its results before the activation.
 * @low, @high: by output channel: to be widened by the least and the greatest result; NaN is passed over
 * @strange: to be set if one of them is not finite
 * @lock: while they are changed
 */
typedef struct
{
  float   *low, *high;
  gboolean strange;
  GMutex   lock;
} VnOpEnds;

/**
 * VnOpContext: what an operator sees of the world.
 *
 * `infer` is called when the network is planned, and again right before `run` for nodes whose shapes only then are
 * known. It reads in_types (and in[i], where the value is constant or already computed; NULL otherwise) and sets
 * out_types of every output that is wanted; a dim it cannot know yet stays VN_DIM_UNKNOWN, a rank VN_RANK_UNKNOWN.
 * It may set scratch_bytes and, for shape arithmetic, out[i] to a tensor it makes (constant propagation).
 *
 * `run` finds all inputs in in[] (NULL: omitted), outputs allocated with the inferred types in out[], and scratch of
 * the size asked for. It allocates nothing that grows with the tensors.
 */
struct _VnOpContext
{
  const VnOp         *op;
  const VnNode       *node;        /* attributes */
  gint64              opset;       /* version of the node's domain */

  guint               n_inputs, n_outputs;   /* as written in the node, omitted ones included */
  const VnTensorType *in_types;    /* dtype VN_DTYPE_UNDEFINED for omitted inputs */
  VnTensor * const   *in;
  VnTensorType       *out_types;
  VnTensor          **out;         /* NULL where the output is not wanted */
  const VnOpNumbers  *numbers;     /* infer; NULL: what is not known is just unknown */

  gsize               scratch_bytes;   /* infer: set; run: size of scratch */
  gpointer            scratch;         /* 64-byte aligned, not cleared; one per thread */

  VnActivation        activation;      /* run: only for operators with fuses_clamp */
  /* run: done in this order before the activation. Only for operators with fuses_channels, by output channel: */
  const float        *factors;         /* (nullable) */
  const float        *shifts;          /* there with factors */
  /* Only for operators with fuses_line: */
  const float        *line;            /* (nullable): added, one number for each element of the last axis */
  /* Only for operators with fuses_more: */
  const VnTensor     *sum;             /* (nullable): added, like output 0 */
  /* Only for operators with fuses_pads, also in `infer`; as their attribute, to which they are added: */
  const gint64       *pads;            /* (nullable): zeros before and behind each spatial axis */
  /* Only for operators with tells_ends, where nothing but a clamp is fused: */
  VnOpEnds           *ends;            /* (nullable): to be told */
  VnOpSubnormals      subnormals;      /* run: what vn_op_flushes() says of it, if that was asked */
  gpointer            prepared;        /* what `prepare` returned, shared by all threads; NULL if none */
  guint               n_threads;       /* run: may be used inside; results must not depend on it */
  gsize               growth;          /* run: bytes that what shows only now may have; 0: vn_memory_get_growth() */
  const VnOpBodies   *bodies;          /* for operators with graphs in attributes; NULL: they cannot be reached */
  GCancellable       *cancellable;     /* (nullable): for operators that wait for other programs */
};

/**
 * VnOp: one operator in a range of opsets. Each is a constant in an op-*.c file, named in vn-ops.def.
 */
struct _VnOp
{
  const char    *domain;        /* "" is ai.onnx */
  const char    *type;
  guint16        since;         /* first version of the domain this entry covers */
  guint16        until;         /* last one, 0: still current */
  guint16        min_inputs, max_inputs;
  guint16        min_outputs, max_outputs;
  guint32        optional;      /* bits of inputs before min_inputs that may be left out all the same */
  VnDTypeSet     dtypes;        /* element types of input 0 (of the data) that `run` computes */
  guint8         stand_ins;     /* of VnStandIn: what is computed beyond `dtypes` */
  guint16        same_dtype;    /* bit i: input i, if there, must have the element type of input 0 */
  VnDTypeSet     others[VN_OP_MAX_OTHERS];   /* element types of input i from 1 on, where they are not those of input 0 */
  VnOpFamily     family;
  VnQuantTraits  quant;
  gboolean       fuses_clamp;   /* `run` honours ctx->activation */
  gboolean       fuses_more;    /* and all of its kinds, and ctx->sum */
  gboolean       fuses_channels; /* and ctx->factors and ctx->shifts */
  gboolean       fuses_line;    /* and ctx->line */
  gboolean       fuses_pads;    /* `infer` and `run` honour ctx->pads, unless auto_pad is SAME_UPPER or SAME_LOWER */
  gboolean       tells_ends;    /* `run` honours ctx->ends */
  gboolean       aliases;       /* output 0 is input 0 with another shape (Reshape, Identity ...): no copy needed */
  guint16        unalias;       /* bit i: where input i is there, output 0 is computed all the same */
  gboolean       containers;    /* takes sequences and optionals; all others get tensors only */
  gboolean       makes_outputs; /* `run` sets out[i] to owned values: containers, or sizes that only it finds */
  gboolean     (*infer)   (VnOpContext *ctx, GError **error);
  gboolean     (*run)     (VnOpContext *ctx, GError **error);
  /* Optional: once per node after planning, with constant inputs in ctx->in: packed weights and the like. Sizes of
   * the other inputs and of the outputs are unknown where they depend on data. In `run`, input 1 of a node that
   * has prepared may no longer be aligned: it is there for its shape. */
  gboolean     (*prepare) (VnOpContext *ctx, gpointer *prepared, GError **error);
  void         (*release) (gpointer prepared);
};

const VnOp         *vn_op_lookup      (const char  *domain,
                                       const char  *type,
                                       gint64       opset,
                                       GError     **error);
const VnOp         *vn_op_lookup_node (const VnNode *node,
                                       GError     **error);      /* opset from the node's model */
const VnOp * const *vn_op_list        (guint       *n);
VnOpFamily          vn_op_family      (const VnNode *node);       /* also of operators without kernel */

/* ---- calls (vn-op-stand-in.c): `infer`, `prepare` and `run` are called through these ---- */

VnDTypeSet    vn_op_get_dtypes       (const VnOp  *op);
VnDTypeSet    vn_op_get_input_dtypes (const VnOp   *op,
                                      guint         input);
gboolean      vn_op_is_alias         (const VnOp   *op,
                                      const VnNode *node);
gboolean      vn_op_takes            (const VnOp  *op,
                                      VnDType      dtype);
gboolean      vn_op_infer            (VnOpContext *ctx,
                                      GError     **error);
gboolean      vn_op_prepare          (VnOpContext *ctx,
                                      gpointer    *prepared,
                                      GError     **error);
gboolean      vn_op_run              (VnOpContext *ctx,
                                      GError     **error);
void          vn_op_release          (const VnOp  *op,
                                      gpointer     prepared);

/* ---- what cannot be run (vn-op-support.c) ---- */

gboolean      vn_op_has_own_kernel      (const VnNode  *node);
gboolean      vn_op_has_kernel          (const VnNode  *node);
char         *vn_op_describe_node       (const VnNode  *node);
GPtrArray    *vn_graph_list_unsupported (const VnGraph *graph);    /* of VnNode, those of subgraphs, too */
void          vn_graph_note_unsupported (const VnGraph *graph,
                                         VnNotes       *notes);
gboolean     *vn_graph_find_lost        (const VnGraph *graph);    /* by VnValue.id: cannot be computed */
GPtrArray    *vn_graph_list_compared    (const VnGraph *graph,
                                         const gboolean *lost);
GPtrArray    *vn_graph_list_ends        (const VnGraph *graph,
                                         const gboolean *lost);    /* of VnValue */
gboolean      vn_graph_takes_halves     (const VnGraph *graph);

/* ---- help for operators (vn-op-util.c) ---- */

gboolean      vn_op_fail             (VnOpContext *ctx,
                                      GError     **error,
                                      const char  *format,
                                      ...) G_GNUC_PRINTF (3, 4);   /* VN_ERROR_SHAPE; always FALSE */
gboolean      vn_op_may_grow         (const VnOpContext *ctx,
                                      gsize              n_bytes,
                                      GError           **error);
gboolean      vn_op_check_call       (VnOpContext *ctx,
                                      GError     **error);         /* before `infer`: arity, sizes of inputs */
gboolean      vn_op_has_input        (const VnOpContext *ctx,
                                      guint              i);
void          vn_op_set_output       (VnOpContext   *ctx,
                                      guint          i,
                                      VnDType        dtype,
                                      const VnShape *shape);
VnTensorType  vn_tensor_get_type     (const VnTensor *tensor);
VnTensorType  vn_type_get_declared   (const VnType   *type);
gboolean      vn_op_check_again      (VnOpContext *ctx,
                                      GError     **error);
gboolean      vn_op_infer_same       (VnOpContext *ctx,
                                      GError     **error);         /* every output like input 0 */
gboolean      vn_op_get_ints_input   (VnOpContext *ctx,
                                      guint        i,
                                      gint64      *values,
                                      guint        max,
                                      guint       *n);             /* int32/int64 input known now? FALSE if not */

VnDims       *vn_op_get_dims         (const VnOpContext *ctx,
                                      gint64             dim);       /* to compute with it; NULL: it is unknown */
gint64        vn_op_multiply_dims    (const VnOpContext *ctx,
                                      const VnShape     *shape,
                                      int                first,
                                      int                last);      /* product of dims first .. last - 1 */
gboolean      vn_op_get_numbers_input (VnOpContext *ctx,
                                      guint        i,
                                      gint64      *numbers,
                                      guint        max,
                                      guint       *n);             /* as ..._ints_input, but also in part */

/* ---- shape and type inference over a whole graph (vn-infer.c) ---- */

/**
 * vn_model_infer_types:
 * @input_shapes: (nullable): by input name, VnShape*: sizes given by the user or the samples
 *
 * Fills the types of all values as far as they can be known, propagating values of shape arithmetic. What the file
 * declares is kept where inference knows less. @model is changed in place: call it on a copy or before sharing.
 *
 * Returns: %FALSE if an operator rejects its inputs: shapes that cannot work
 */
gboolean      vn_model_infer_types   (VnModel     *model,
                                      GHashTable  *input_shapes,
                                      VnNotes     *notes,
                                      GError     **error);
gboolean      vn_model_infer_for_samples (VnModel     *model,
                                          GHashTable  *first,     /* nullable */
                                          GError     **error);

G_END_DECLS
