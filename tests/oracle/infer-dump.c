/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints what inference finds: for each model a line "MODEL path", a line "WITHOUT TAB operator" for each node whose
 * operator is not known, then for each value a line
 * "place TAB name TAB element type TAB dim TAB dim ...": place is "" in the main graph, "node output/attribute/" inside a
 * subgraph; a dim is a number, an expression or "?"; without any dim field the rank is not known, "scalar" is rank 0.
 *
 * usage: infer-dump MODEL... */
#include "vn-onnx.h"
#include "vn-op.h"

#include <stdio.h>

static void
print_value (const char    *place,
             const VnValue *value)
{
  const VnType *type = &value->type;

  printf ("%s\t%s\t%s", place, value->name,
          type->kind == VN_TYPE_TENSOR ? vn_dtype_get_name (type->dtype) : type->kind == VN_TYPE_UNKNOWN ? "?" : "other");
  if (type->kind == VN_TYPE_TENSOR && type->shape.rank == 0)
    printf ("\tscalar");
  for (int i = 0; type->kind == VN_TYPE_TENSOR && i < type->shape.rank; i++)
    {
      if (type->shape.dims[i] >= 0)
        printf ("\t%" G_GINT64_FORMAT, type->shape.dims[i]);
      else
        printf ("\t%s", type->symbols[i] != NULL ? type->symbols[i] : "?");
    }
  printf ("\n");
}

static void
print_unknown (const VnGraph *graph)
{
  g_autoptr(GPtrArray) nodes = vn_graph_list_unsupported (graph);

  for (guint i = 0; i < nodes->len; i++)
    printf ("WITHOUT\t%s\n", ((const VnNode *) g_ptr_array_index (nodes, i))->op_type);
}

static void
print_graph (const char    *place,
             const VnGraph *graph)
{
  for (guint i = 0; i < graph->values->len; i++)
    print_value (place, g_ptr_array_index (graph->values, i));
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);

      for (guint a = 0; a < node->attrs->len; a++)
        {
          const VnAttr *attr = g_ptr_array_index (node->attrs, a);
          const VnValue *output = vn_node_get_output (node, 0);
          g_autofree char *inner = g_strdup_printf ("%s%s/%s/", place, output != NULL ? output->name : "", attr->name);

          if (attr->graph != NULL)
            print_graph (inner, attr->graph);
        }
    }
}

int
main (int    argc,
      char **argv)
{
  for (int i = 1; i < argc; i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnModel) model = vn_onnx_read_file (argv[i], &error);

      printf ("MODEL\t%s\n", argv[i]);
      if (model != NULL && vn_model_infer_types (model, NULL, NULL, &error))
        {
          print_unknown (model->graph);
          print_graph ("", model->graph);
        }
      else
        printf ("ERROR\t%s\n", error->message);
    }
  return 0;
}
