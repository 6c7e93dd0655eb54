/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What reader and writer share: names of the generated types, field numbers, decoders and encoders. */

#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-onnx.h"
#include "vn-onnx.pb-c.h"
#include "vn-onnx-wire.h"

G_BEGIN_DECLS

typedef Vn__Onnx__ModelProto     PbModel;
typedef Vn__Onnx__GraphProto     PbGraph;
typedef Vn__Onnx__NodeProto      PbNode;
typedef Vn__Onnx__AttributeProto PbAttr;
typedef Vn__Onnx__TensorProto    PbTensor;
typedef Vn__Onnx__FunctionProto  PbFunction;
typedef Vn__Onnx__ValueInfoProto PbValueInfo;
typedef Vn__Onnx__StringStringEntryProto PbEntry;
typedef Vn__Onnx__OperatorSetIdProto     PbOpset;

/* Field numbers of messages that are scanned or encoded without the generated code. */
enum
{
  F_MODEL_IR_VERSION = 1, F_MODEL_PRODUCER = 2, F_MODEL_PRODUCER_VERSION = 3, F_MODEL_DOMAIN = 4,
  F_MODEL_VERSION = 5, F_MODEL_DOC = 6, F_MODEL_GRAPH = 7, F_MODEL_OPSET = 8, F_MODEL_METADATA = 14,
  F_MODEL_FUNCTION = 25,
  F_OPSET_DOMAIN = 1, F_OPSET_VERSION = 2,
  F_ENTRY_KEY = 1, F_ENTRY_VALUE = 2,
  F_GRAPH_NODE = 1, F_GRAPH_NAME = 2, F_GRAPH_INITIALIZER = 5, F_GRAPH_DOC = 10, F_GRAPH_INPUT = 11,
  F_GRAPH_OUTPUT = 12, F_GRAPH_VALUE_INFO = 13, F_GRAPH_SPARSE = 15,
  F_FUNCTION_NAME = 1, F_FUNCTION_INPUT = 4, F_FUNCTION_OUTPUT = 5, F_FUNCTION_ATTR = 6, F_FUNCTION_NODE = 7,
  F_FUNCTION_DOC = 8, F_FUNCTION_OPSET = 9, F_FUNCTION_DOMAIN = 10, F_FUNCTION_ATTR_PROTO = 11,
  F_FUNCTION_OVERLOAD = 13,
  F_NODE_INPUT = 1, F_NODE_OUTPUT = 2, F_NODE_NAME = 3, F_NODE_OP_TYPE = 4, F_NODE_ATTR = 5, F_NODE_DOC = 6,
  F_NODE_DOMAIN = 7, F_NODE_OVERLOAD = 8,
  F_ATTR_NAME = 1, F_ATTR_F = 2, F_ATTR_I = 3, F_ATTR_S = 4, F_ATTR_T = 5, F_ATTR_G = 6, F_ATTR_FLOATS = 7,
  F_ATTR_INTS = 8, F_ATTR_STRINGS = 9, F_ATTR_TENSORS = 10, F_ATTR_GRAPHS = 11, F_ATTR_DOC = 13, F_ATTR_TYPE = 20,
  F_ATTR_REF = 21, F_ATTR_SPARSE = 22,
  F_TENSOR_DIMS = 1, F_TENSOR_TYPE = 2, F_TENSOR_INT32 = 5, F_TENSOR_STRINGS = 6, F_TENSOR_INT64 = 7, F_TENSOR_NAME = 8,
  F_TENSOR_RAW = 9, F_TENSOR_UINT64 = 11, F_TENSOR_EXTERNAL = 13, F_TENSOR_LOCATION = 14,
  F_INFO_NAME = 1, F_INFO_TYPE = 2, F_INFO_DOC = 3,
  F_TYPE_TENSOR = 1, F_TENSOR_TYPE_ELEM = 1, F_TENSOR_TYPE_SHAPE = 2, F_SHAPE_DIM = 1, F_DIM_VALUE = 1, F_DIM_PARAM = 2,
  F_SPARSE_VALUES = 1, F_SPARSE_INDICES = 2, F_SPARSE_DIMS = 3,
  F_TYPE_SEQUENCE = 4, F_TYPE_OPTIONAL = 9, F_CONTAINER_ELEM = 1,
  F_SEQUENCE_NAME = 1, F_SEQUENCE_TENSOR = 3, F_OPTIONAL_TENSOR = 3, F_OPTIONAL_SEQUENCE = 5,
};

#define LOCATION_EXTERNAL 1
#define VN_ONNX_WEIGHTS _("the file of the weights")   /* as a set of files calls it */
#define TYPE_OPAQUE_FIRST 11   /* AttributeProto types from here on live in VnAttr.extra only */

/* Raw data of so many bytes stay in the file and are looked at there. */
#define VIEW_MIN 64

/* ---- vn-onnx-strip.c ---- */

typedef enum
{
  STRIP_NONE,
  STRIP_MODEL,
  STRIP_GRAPH,
  STRIP_FUNCTION,
  STRIP_NODE,
  STRIP_ATTR,
  STRIP_TENSOR,
} StripKind;

typedef struct
{
  gsize offset, size;   /* in the file */
} RawView;

/* @views: of RawView; what the 4-byte indices in the stripped message's raw_data point at. */
GBytes     *vn_onnx_strip          (GBytes         *bytes,
                                    StripKind       kind,
                                    GArray         *views,
                                    GError        **error);

/* ---- reading ---- */

/* Memory for what the generated code unpacks: with "self.refused" a failure is not the message's fault. */
typedef struct
{
  ProtobufCAllocator functions;
  gboolean           refused;
} VnOnnxAllocator;

/**
 * VnOnnxReader:
 * @allocator: of what the generated code unpacks
 * @decode_graph: vn_onnx_graph_decode(), for attributes, which may hold graphs, which hold attributes
 */
typedef struct _VnOnnxReader VnOnnxReader;
struct _VnOnnxReader
{
  GBytes     *bytes;
  GArray     *views;         /* of RawView */
  const char *path;          /* or NULL */
  GHashTable *external;      /* location -> GBytes */
  guint64     external_bytes;
  VnOnnxAllocator allocator;
  VnModel    *model;         /* being built; NULL while a lone tensor is read */
  gboolean  (*decode_graph) (VnOnnxReader *self, VnGraph *graph, PbGraph *proto, GError **error);
};

void        vn_onnx_reader_init    (VnOnnxReader   *self,
                                    GBytes         *bytes,
                                    const char     *path);
void        vn_onnx_reader_clear   (VnOnnxReader   *self);
GBytes     *vn_onnx_external_map   (VnOnnxReader   *self,
                                    const PbTensor *proto,
                                    gsize           n_bytes,
                                    GError        **error);
VnTensor   *vn_onnx_tensor_decode  (VnOnnxReader   *self,
                                    const PbTensor *proto,
                                    GError        **error);
VnTensor   *vn_onnx_tensor_decode_bytes (GBytes    *bytes,
                                         const char *path,
                                         char     **name,      /* nullable */
                                         GError   **error);
GBytes     *vn_onnx_sparse_get_content (const ProtobufCMessageUnknownField *unknown);
VnTensor   *vn_onnx_sparse_decode  (GBytes         *bytes,
                                    const char     *path,
                                    char          **name,
                                    GError        **error);
void        vn_onnx_type_decode    (VnType         *type,
                                    const guint8   *data,
                                    gsize           size);
gboolean    vn_onnx_attr_decode    (VnOnnxReader   *self,
                                    VnGraph        *graph,
                                    VnNode         *node,      /* NULL: default of a function's attribute */
                                    const PbAttr   *proto,
                                    VnAttr        **attr,
                                    GError        **error);
gboolean    vn_onnx_graph_decode   (VnOnnxReader   *self,
                                    VnGraph        *graph,
                                    PbGraph        *proto,     /* loses its nodes */
                                    GError        **error);
gboolean    vn_onnx_function_decode (VnOnnxReader     *self,
                                     VnFunction       *function,
                                     PbFunction       *proto,  /* loses its nodes */
                                     GError          **error);
void        vn_onnx_opset_decode   (GArray         *opsets,
                                    const PbOpset  *proto);
gboolean    vn_onnx_check_name     (const char     *name,
                                    const char     *what,
                                    GError        **error);
char       *vn_onnx_dup_text       (const char     *text);
void        vn_onnx_extra_unknown  (VnWireOut      *extra,
                                    const ProtobufCMessage *message,
                                    guint32         without);
GBytes     *vn_onnx_extra_finish   (VnWireOut      *extra);
void        vn_onnx_tensor_extra   (VnWireOut      *extra,
                                    const PbTensor *proto);

/* ---- writing ---- */

/* @location: owned by the encoder */
typedef struct
{
  VnTensor   *tensor;
  guint64     offset;
  const char *location;
} ExternalPiece;

/**
 * VnOnnxEncoder:
 * @threshold: initializers of so many bytes go to the external file; 0: those that came from one
 * @location: name of the external file; NULL: everything stays inside
 * @names: (nullable): set of file names given so far; each tensor gets one of its own, which begins with @location
 * @files: (nullable): what no tensor may be written to
 * @folder: of the model
 * @suffix: (nullable): what the names of external files end with for the time being
 */
typedef struct
{
  VnWireOut  *out;
  gsize       threshold;
  const char *location;
  GHashTable *names;
  VnFileSet  *files;
  const char *folder, *suffix;
  GArray     *pieces;          /* of ExternalPiece */
  guint64     external_size;
  guint       nesting;         /* graphs around the one that is written */
} VnOnnxEncoder;

/* ---- vn-onnx-write-data.c ---- */

const char *vn_onnx_name_piece     (VnOnnxEncoder  *self,
                                    const char     *tensor_name);
gboolean    vn_onnx_write_pieces   (VnOnnxEncoder  *self,
                                    const char     *suffix,
                                    GPtrArray      *files,
                                    GCancellable   *cancellable,
                                    GError        **error);
gboolean    vn_onnx_check_places   (GPtrArray      *files,
                                    gboolean       *replaces,
                                    GError        **error);
gboolean    vn_onnx_place_files    (GPtrArray      *files,
                                    VnFileWriter   *interim,
                                    VnFileWriter   *model,
                                    GError        **error);
GPtrArray  *vn_onnx_list_own_files (const char     *path);
void        vn_onnx_remove_own_files (GPtrArray    *own,
                                    GPtrArray      *files,
                                    VnFileSet      *others);
GPtrArray  *vn_onnx_files_new      (void);
gboolean    vn_onnx_write_piece    (VnFileWriter   *writer,
                                    GCancellable   *cancellable,
                                    gconstpointer   data,
                                    gsize           size,
                                    GError        **error);

const char *vn_onnx_recognise      (const guint8   *data,
                                    gsize           size,
                                    const char     *path);
const char *vn_onnx_recognise_folder (const char   *path);

void        vn_onnx_encode_model   (VnOnnxEncoder  *self,
                                    const VnModel  *model);
void        vn_onnx_encode_graph   (VnOnnxEncoder  *self,
                                    const VnGraph  *graph);
void        vn_onnx_encode_node    (VnOnnxEncoder  *self,
                                    const VnNode   *node);
void        vn_onnx_encode_attr    (VnOnnxEncoder  *self,
                                    const VnAttr   *attr);
void        vn_onnx_encode_tensor  (VnOnnxEncoder  *self,
                                    VnTensor       *tensor,
                                    const char     *name,
                                    const guint8   *extra,
                                    gsize           extra_size,
                                    gboolean        may_move);
void        vn_onnx_encode_opset   (VnOnnxEncoder  *self,
                                    const VnOpset  *opset,
                                    guint32         number);
void        vn_onnx_encode_info    (VnOnnxEncoder  *self,
                                    const VnValue  *value,
                                    guint32         number);
void        vn_onnx_type_encode    (VnWireOut      *out,
                                    const VnType   *type);

G_END_DECLS
