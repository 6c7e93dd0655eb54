/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-tensor.h"
#include "vn-file-set.h"
#include "vn-note.h"

#include <glib-object.h>

G_BEGIN_DECLS

/* The graph in memory. A model that has been opened is immutable and may be read from any thread; whoever wants to
 * change one makes a copy (vn_model_copy(): weights are shared, not copied) and edits that through vn-graph-edit.h.
 *
 * What the reader does not understand travels along in the `extra` fields (encoded, opaque) and is written back. */

typedef struct _VnModel    VnModel;
typedef struct _VnGraph    VnGraph;
typedef struct _VnNode     VnNode;
typedef struct _VnValue    VnValue;
typedef struct _VnAttr     VnAttr;
typedef struct _VnFunction VnFunction;

/* ---- types of values ---- */

typedef enum
{
  VN_TYPE_UNKNOWN,
  VN_TYPE_TENSOR,
  VN_TYPE_SPARSE_TENSOR,
  VN_TYPE_SEQUENCE,
  VN_TYPE_OPTIONAL,
  VN_TYPE_MAP,
  VN_TYPE_OPAQUE,
} VnTypeKind;

/**
 * VnType:
 * @kind: what it is; @shape is meaningful for tensors only
 * @dtype: of the elements; of sequences and optionals those of the tensors in them
 * @symbols: names of symbolic dims, or NULL where a dim has none. Only where shape.dims[i] is VN_DIM_UNKNOWN.
 * @encoded: (nullable): the type as found in the file; the only content for sequences, maps and the like.
 *   Dropped when the type is changed.
 */
typedef struct
{
  VnTypeKind  kind;
  VnDType     dtype;
  VnShape     shape;
  char       *symbols[VN_MAX_RANK];
  GBytes     *encoded;
} VnType;

void  vn_type_init_tensor (VnType        *self,
                           VnDType        dtype,
                           const VnShape *shape);
void  vn_type_copy        (VnType        *self,
                           const VnType  *from);
void  vn_type_clear       (VnType        *self);
char *vn_type_to_string   (const VnType  *self);    /* "float32[batch,3,224,224]" */

/* ---- attributes ---- */

typedef enum   /* numbers as AttributeProto.AttributeType */
{
  VN_ATTR_UNDEFINED = 0,
  VN_ATTR_FLOAT     = 1,
  VN_ATTR_INT       = 2,
  VN_ATTR_STRING    = 3,
  VN_ATTR_TENSOR    = 4,
  VN_ATTR_GRAPH     = 5,
  VN_ATTR_FLOATS    = 6,
  VN_ATTR_INTS      = 7,
  VN_ATTR_STRINGS   = 8,
  VN_ATTR_TENSORS   = 9,
  VN_ATTR_GRAPHS    = 10,
  VN_ATTR_OPAQUE    = 11,  /* sparse tensors, type protos: only in @extra */
} VnAttrType;

struct _VnAttr
{
  char       *name;
  VnAttrType  type;
  float       f;
  gint64      i;
  GBytes     *s;
  VnTensor   *tensor;
  VnGraph    *graph;
  GArray     *floats;    /* of float */
  GArray     *ints;      /* of gint64 */
  GPtrArray  *strings;   /* of GBytes */
  GPtrArray  *tensors;   /* of VnTensor */
  GPtrArray  *graphs;    /* of VnGraph */
  char       *ref_name;  /* in a function body: the function's attribute it stands for */
  char       *doc;
  char       *tensor_name;  /* TensorProto.name of @tensor */
  GBytes     *extra;
};

/* ---- values, nodes, graphs ---- */

/* Nodes of a network whose channels were scaled to like size. RESTORE: a Mul that gives a tensor its size back; DIVIDE: a Mul
 * that takes it again: the conversions next to them take these over. BETWEEN: computes in float what stands between two such. */
typedef enum { VN_CHANNELS_PLAIN, VN_CHANNELS_RESTORE, VN_CHANNELS_BETWEEN, VN_CHANNELS_DIVIDE } VnChannelMark;

/* One use of a value: input @index of @node. */
typedef struct
{
  VnNode *node;
  guint   index;
} VnUse;

/* In the order in which they were made; read as a #GArray is: with g_array_index() and @len. */
typedef struct
{
  VnUse *data;
  guint  len;
  /*< private >*/
  guint  room, gone;       /* elements of the memory: from @data on, and before it */
  VnUse  one;
} VnUses;

/**
 * VnValue: a tensor of the network: graph input, initializer or output of a node.
 *
 * A node inside a subgraph (If, Loop, Scan) that uses a value of an outer graph points to that very VnValue; the
 * value's @uses then hold nodes of inner graphs as well (compare use.node->graph with value->graph).
 */
struct _VnValue
{
  char     *name;          /* never empty */
  VnGraph  *graph;         /* where it is defined */
  guint     id;            /* index into graph->values, stable while the graph is not edited */
  VnType    type;          /* declared or inferred; kind VN_TYPE_UNKNOWN if neither */
  gboolean  has_info;      /* listed in value_info (or an input/output): written back */
  VnNode   *producer;      /* NULL for inputs and initializers */
  guint     output_index;  /* which output of @producer */
  VnUses    uses[1];
  VnTensor *initializer;   /* weights, or NULL */
  gboolean  is_input;      /* graph input (an initializer may be listed as input too) */
  gboolean  is_output;     /* graph output */
  char     *doc;
  GBytes   *extra;              /* of ValueInfoProto */
  GBytes   *initializer_extra;  /* of TensorProto: external data entries, metadata, segment */
};

struct _VnNode
{
  VnGraph   *graph;
  guint      index;        /* position in graph->nodes; while the graph is edited: vn_node_get_index() */
  char      *name;         /* may be "" */
  char      *op_type;
  char      *domain;       /* "" is ai.onnx (the alias "ai.onnx" is normalised on reading and remembered in extra_domain) */
  char      *overload;     /* or NULL */
  GPtrArray *inputs;       /* of VnValue, NULL elements for omitted inputs */
  GPtrArray *outputs;      /* of VnValue, NULL elements for omitted outputs */
  GPtrArray *attrs;        /* of VnAttr */
  char      *doc;
  GBytes    *extra;
  gboolean   written_domain_alias;  /* the file says "ai.onnx" */
  VnChannelMark channels;           /* what it does between channels that were scaled; not written */
  /*< private >*/
  GSequenceIter *place;    /* in graph->order */
};

struct _VnGraph
{
  VnModel    *model;
  VnGraph    *parent;       /* graph of the node that holds this one, or NULL */
  VnNode     *parent_node;
  char       *name;
  GPtrArray  *nodes;        /* of VnNode, in file order (not necessarily sorted) */
  GPtrArray  *values;       /* of VnValue, all that are defined here */
  GHashTable *by_name;      /* name -> VnValue, of this graph only */
  GPtrArray  *inputs;       /* of VnValue, in order */
  GPtrArray  *outputs;      /* of VnValue, in order; of an outer graph where a subgraph returns it as is */
  GPtrArray  *initializers; /* of VnValue, in order */
  char       *doc;
  GBytes     *extra;        /* sparse initializers, quantization annotations, metadata, unknown fields */
  /*< private >*/
  GHashTable *node_names;   /* names given so far -> the first suffix that may be free; made when first needed */
  GHashTable *suffixes;     /* base of names of values -> the first suffix that may be free; NULL: 2 */
  GHashTable *inner;        /* set of VnGraph: those of its nodes; made when first needed */
  GSequence  *order;        /* of VnNode: while the graph is edited; NULL: they are in @nodes */
  GPtrArray  *forgotten;    /* of VnValue: still in @values, but gone; NULL: all lists are right */
  GHashTable *former_values, *former_nodes;   /* name of what preparation took away -> of what took it in; NULL: nothing */
  /* name of a tensor -> names that its numbers had, the best first (vn_graph_list_same()); NULL: its own */
  GHashTable *same_values;
};

struct _VnFunction
{
  char      *domain, *name, *overload;
  VnGraph   *body;          /* inputs and outputs have no types */
  GPtrArray *attr_names;    /* of char */
  GPtrArray *attr_defaults; /* of VnAttr */
  GArray    *opsets;        /* of VnOpset */
  char      *doc;
  GBytes    *extra;
};

typedef struct
{
  char   *domain;   /* "" is ai.onnx */
  gint64  version;
} VnOpset;

struct _VnModel
{
  gint64      ir_version;
  char       *producer_name, *producer_version, *domain, *doc;
  gint64      model_version;
  gboolean    has_model_version;
  GArray     *opsets;       /* of VnOpset, in file order, duplicates kept */
  VnGraph    *graph;
  GPtrArray  *functions;    /* of VnFunction */
  GPtrArray  *metadata;     /* of char, key and value alternating */
  GBytes     *extra;        /* training info, unknown fields */
  char       *path;         /* where it was read, or NULL: for messages and external data */
  GPtrArray  *files;        /* of char: files beside it that were read as well: its external data */
  GPtrArray  *maps;         /* of GBytes: what was mapped of all these */
  VnDType     widened;      /* what its floats were before they became float32, or VN_DTYPE_UNDEFINED */
  guint64     file_size;    /* bytes of the file and its external data; 0 if not read */
  VnNotes    *notes;        /* what the reader found odd */
  /*< private >*/
  gatomicrefcount ref;
  guint       n_editing;    /* calls of vn_model_begin_edits() */
  GHashTable *edited;       /* set of VnGraph whose lists may have to be put right; NULL: nobody edits */
  GObject    *backend;      /* what runs nodes that we have no kernel for (vn-backend.h), or NULL */
};

VnModel    *vn_model_new            (gint64            ir_version,
                                     gint64            opset);
VnModel    *vn_model_ref            (VnModel          *self);
void        vn_model_add_files      (const VnModel    *self,
                                     VnFileSet        *set);
gboolean    vn_model_check_files    (const VnModel    *self,
                                     GError          **error);
gboolean    vn_model_is_current     (const VnModel    *self);
void        vn_model_unref          (VnModel          *self);
VnModel    *vn_model_copy           (const VnModel    *self);
gint64      vn_model_get_opset      (const VnModel    *self,
                                     const char       *domain);   /* 0 if not imported */
void        vn_model_set_opset      (VnModel          *self,
                                     const char       *domain,
                                     gint64            version);
const char *vn_model_get_metadata   (const VnModel    *self,
                                     const char       *key);
char       *vn_model_dup_digest     (const VnModel    *self);     /* tells networks apart: topology, names, weights */
VnFunction *vn_model_find_function  (const VnModel    *self,
                                     const char       *domain,
                                     const char       *name);

VnValue    *vn_graph_find_value     (const VnGraph    *self,
                                     const char       *name);     /* this graph, then outer ones */
VnNode     *vn_graph_find_node      (const VnGraph    *self,
                                     const char       *name);     /* first of that name; linear */
GPtrArray  *vn_graph_sort           (const VnGraph    *self,
                                     /* VnNode in an order that can run; container owned by the caller */
                                     GError          **error);
/* Also while a graph is edited (vn_model_begin_edits()): */
void        vn_graph_settle         (const VnGraph    *self);
void        vn_model_settle         (const VnModel    *self);
guint       vn_graph_get_n_nodes    (const VnGraph    *self);
VnNode     *vn_graph_get_node       (const VnGraph    *self,
                                     guint             i);
guint       vn_node_get_index       (const VnNode     *self);
VnNode     *vn_node_get_next        (const VnNode     *self);     /* NULL: the last one */
gsize       vn_graph_weight_bytes   (const VnGraph    *self);     /* initializers and Constant tensors, subgraphs included */

gint64      vn_node_get_int         (const VnNode     *self,
                                     const char       *name,
                                     gint64            fallback);
float       vn_node_get_float       (const VnNode     *self,
                                     const char       *name,
                                     float             fallback);
char       *vn_node_dup_string      (const VnNode     *self,
                                     const char       *name,
                                     const char       *fallback);
const gint64 *vn_node_get_ints      (const VnNode     *self,
                                     const char       *name,
                                     gsize            *n);        /* NULL and *n = 0 if absent */
const float *vn_node_get_floats     (const VnNode     *self,
                                     const char       *name,
                                     gsize            *n);
VnTensor   *vn_node_get_tensor      (const VnNode     *self,
                                     const char       *name);     /* borrowed */
const VnAttr *vn_node_get_attr      (const VnNode     *self,
                                     const char       *name);
VnValue    *vn_node_get_input       (const VnNode     *self,
                                     guint             i);        /* NULL if omitted or past the end */
VnValue    *vn_node_get_output      (const VnNode     *self,
                                     guint             i);
gboolean    vn_node_is              (const VnNode     *self,
                                     const char       *op_type);  /* in ai.onnx */
gboolean    vn_node_has_graphs      (const VnNode     *self);
GPtrArray  *vn_node_list_captured   (const VnNode     *self);     /* VnValue; container owned by the caller */
GHashTable *vn_graph_find_captured  (const VnGraph    *self);     /* set of VnValue; owned by the caller */
GPtrArray  *vn_graph_list_captured  (const VnGraph    *self);     /* VnValue; container owned by the caller */
char       *vn_node_dup_title       (const VnNode     *self);     /* operator and label: "Conv /stem/conv", or "Conv #12" */
const char *vn_node_label_skip_type (const char       *label,
                                     const char       *type);     /* "#12" of "Conv #12"; the whole of a name */
/* name, or "Conv #12" when it has none: for messages and lists; unique in its graph */
char       *vn_node_dup_label       (const VnNode     *self);

char       *vn_graph_dup_scope      (const VnGraph    *self);     /* "If_0:then_branch/"; "" of the main graph */
char       *vn_value_dup_key        (const VnValue    *self);     /* unique in the whole model: in the main graph its name */
/* initializer or Constant node's tensor, borrowed; NULL if not constant */
VnTensor   *vn_value_get_constant   (const VnValue    *self);
gboolean    vn_value_is_constant    (const VnValue    *self);
GArray     *vn_uses_copy            (const VnUses     *self);     /* of VnUse; owned by the caller */
const VnValue *vn_value_find_constant (const VnValue  *self);     /* the constant behind nodes that pass it on; NULL: none */
VnTensor   *vn_node_find_constant   (const VnNode     *self,
                                     guint             input);    /* what vn_value_find_constant() finds for it, borrowed */
gboolean    vn_node_quantizes       (const VnNode     *self);
gboolean    vn_node_dequantizes     (const VnNode     *self);

VnAttr     *vn_attr_new             (const char       *name,
                                     VnAttrType        type);
VnAttr     *vn_attr_copy            (const VnAttr     *self);
void        vn_attr_free            (VnAttr           *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnModel, vn_model_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnAttr, vn_attr_free)

G_END_DECLS
