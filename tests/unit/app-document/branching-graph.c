/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A small graph with branches, and sets of its nodes as text. */
#include "branching-graph.h"

#include "vn-graph-edit.h"

static VnValue *
add (VnGraph    *graph,
     const char *name,
     const char *op_type,
     VnValue    *a,
     VnValue    *b)
{
  VnShape shape = VN_SHAPE (1, 4);
  VnValue *inputs[] = { a, b };
  VnValue *output = vn_graph_add_value (graph, name, VN_DTYPE_F32, &shape);

  vn_graph_add_node (graph, name, "", op_type, inputs, b != NULL ? 2 : 1, &output, 1);
  return output;
}

/* Both of its graphs read what is outside. */
static void
add_branch (VnNode     *node,
            const char *attribute,
            VnValue    *outer)
{
  VnAttr *attr = vn_attr_new (attribute, VN_ATTR_GRAPH);

  attr->graph = vn_graph_new (node->graph->model, node->graph, node);
  vn_graph_set_output (attr->graph, 0, add (attr->graph, attribute, "Neg", outer, NULL));
  vn_node_set_attr (node, attr);
}

VnModel *
branching_graph_new (void)
{
  VnModel *model = vn_model_new (8, 17);
  VnGraph *graph = model->graph;
  VnShape shape = VN_SHAPE (1, 4);
  VnValue *x = vn_graph_add_input (graph, "x", VN_DTYPE_F32, &shape);
  VnValue *y = vn_graph_add_input (graph, "y", VN_DTYPE_F32, &shape);
  VnValue *stem = add (graph, "stem", "Relu", x, NULL);
  VnValue *left = add (graph, "left", "Sigmoid", stem, NULL);
  VnValue *right = add (graph, "right", "Relu", stem, NULL);
  VnValue *sum = add (graph, "sum", "Add", left, right);
  VnValue *tail = add (graph, "tail", "Tanh", sum, NULL);
  VnValue *alone = add (graph, "alone", "Tanh", y, NULL);
  VnValue *choice = add (graph, "choice", "If", alone, NULL);

  add_branch (choice->producer, "then_branch", right);
  add_branch (choice->producer, "else_branch", right);
  vn_graph_set_output (graph, 0, tail);
  vn_graph_set_output (graph, 1, choice);
  return model;
}

GtkBitset *
branching_graph_find (const VnGraph *graph,
                      const char    *names)
{
  g_auto(GStrv) list = g_strsplit (names, " ", -1);
  GtkBitset *nodes = gtk_bitset_new_empty ();

  for (guint i = 0; list[i] != NULL; i++)
    {
      const VnNode *node = *list[i] != 0 ? vn_graph_find_node (graph, list[i]) : NULL;

      g_assert_true (node != NULL || *list[i] == 0);
      if (node != NULL)
        gtk_bitset_add (nodes, node->index);
    }
  return nodes;
}

char *
branching_graph_dup_names (const VnGraph *graph,
                           GtkBitset     *nodes)
{
  g_autoptr(GString) text = g_string_new (NULL);

  for (guint i = 0; i < graph->nodes->len; i++)
    if (gtk_bitset_contains (nodes, i))
      g_string_append_printf (text, "%s%s", text->len > 0 ? " " : "", ((const VnNode *) graph->nodes->pdata[i])->name);
  return g_strdup (text->str);
}
