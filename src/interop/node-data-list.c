/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The numbers of a file while they are read. */
#include "node-data-read.h"

void
_vn_node_data_free_datum (gpointer data)
{
  VnNodeDatum *self = data;

  g_free (self->name);
  g_free (self->op_type);
  g_free (self);
}

static void
node_data_free_graph (gpointer data)
{
  VnNodeDataGraph *self = data;

  g_free (self->id);
  g_ptr_array_unref (self->data);
  g_free (self);
}

/**
 * vn_node_data_free:
 */
void
vn_node_data_free (VnNodeData *self)
{
  g_return_if_fail (self != NULL);

  g_ptr_array_unref (self->graphs);
  g_free (self);
}

/*< private >
 * _vn_node_data_add_graph:
 *
 * Returns: (transfer none): takes its numbers
 */
GPtrArray *
_vn_node_data_add_graph (VnNodeData *self,
                         const char *id)
{
  VnNodeDataGraph *graph = g_new0 (VnNodeDataGraph, 1);

  graph->id = g_strdup (id);
  graph->data = g_ptr_array_new_with_free_func (_vn_node_data_free_datum);
  g_ptr_array_add (self->graphs, graph);
  return graph->data;
}

void
_vn_node_data_add (GPtrArray  *data,
                   const char *name,
                   const char *op_type,
                   double      value)
{
  VnNodeDatum *datum = g_new (VnNodeDatum, 1);

  *datum = (VnNodeDatum) { g_strdup (name), g_strdup (op_type), value, { .rank = VN_RANK_UNKNOWN } };
  g_ptr_array_add (data, datum);
}

/*< private >
 * _vn_node_data_list_graphs:
 *
 * Returns: (transfer full) (element-type VnNodeDataGraph): an empty list
 */
GPtrArray *
_vn_node_data_list_graphs (void)
{
  return g_ptr_array_new_with_free_func (node_data_free_graph);
}
