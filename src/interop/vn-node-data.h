/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Numbers of nodes that other programs wrote: Model Explorer's node data, a profile of ONNX Runtime, a table of names and
 * values; and which nodes of a network they are about. */

#include "vn-model.h"

G_BEGIN_DECLS

/**
 * VnNodeDatum:
 * @name: of a node, or of one of its outputs
 * @op_type: (nullable): where the file has it
 * @value: finite; of times in seconds, the mean of all runs
 * @weight: shape of the second input; its rank is %VN_RANK_UNKNOWN where the file does not have it
 */
typedef struct
{
  char   *name, *op_type;
  double  value;
  VnShape weight;
} VnNodeDatum;

/**
 * VnNodeDataGraph:
 * @id: (nullable): what the file calls the graph
 * @data: (element-type VnNodeDatum): in the order of the file
 */
typedef struct
{
  char      *id;
  GPtrArray *data;
} VnNodeDataGraph;

/**
 * VnNodeData: what a file says.
 * @is_time: values are seconds
 * @n_runs: that they are the mean of; 0: the file is no profile
 * @n_skipped: values that are words, or not finite
 * @graphs: (element-type VnNodeDataGraph): never empty
 */
typedef struct
{
  gboolean   is_time;
  guint      n_runs, n_skipped;
  GPtrArray *graphs;
} VnNodeData;

VnNodeData *vn_node_data_parse   (const char        *text,
                                  gssize             length,     /* -1: up to the NUL */
                                  const char        *name,       /* of the file, for messages */
                                  GError           **error);
VnNodeData *vn_node_data_load    (const char        *path,
                                  GError           **error);
void        vn_node_data_free    (VnNodeData        *self);
gboolean    vn_node_data_is_file (const char        *path);

/**
 * VnNodeNumbers: the values of a file by node of a graph.
 * @is_time, @n_runs, @n_skipped: as in VnNodeData
 * @n: of nodes of the graph
 * @n_known: of those that have a value
 * @values: by index of the node; NaN: the file does not have it
 * @n_fused: of those that have the time of a kernel which stands for several nodes and is named after none of them
 * @unmatched: (element-type VnNodeDatum): what is about no node of the graph
 */
typedef struct
{
  gboolean   is_time;
  guint      n_runs, n_skipped, n, n_known, n_fused;
  double    *values;
  GPtrArray *unmatched;
} VnNodeNumbers;

VnNodeNumbers *vn_node_numbers_new      (const VnNodeData    *data,
                                         const VnGraph       *graph);
void           vn_node_numbers_free     (VnNodeNumbers       *self);
double         vn_node_numbers_sum      (const VnNodeNumbers *self);
char          *vn_node_numbers_dup_note (const VnNodeNumbers *self,
                                         const char          *total);   /* nullable */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnNodeData, vn_node_data_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnNodeNumbers, vn_node_numbers_free)

G_END_DECLS
