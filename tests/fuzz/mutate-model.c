/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mutate-model.h"

#include "vn-op.h"

#include <math.h>
#include <string.h>

#define PICK(rand, table) ((table)[g_rand_int_range (rand, 0, (gint32) G_N_ELEMENTS (table))])

gint64
hostile_int (GRand *rand)
{
  static const gint64 ends[] = { G_MAXINT64, G_MININT64, G_MAXINT32, G_MININT32, G_MAXUINT32, (gint64) 1 << 31,
                                 (gint64) 1 << 40, (gint64) 1 << 62, -((gint64) 1 << 40), 65536, 255, -128 };

  if (g_rand_int_range (rand, 0, 4) == 0)
    return PICK (rand, ends);
  return g_rand_int_range (rand, -4, 10);
}

double
hostile_float (GRand *rand)
{
  static const double odd[] = { 0, -0.0, NAN, INFINITY, -INFINITY, 1e30, -1e30, 1e-40, 2147483648.0, 1e300, 0.5 };

  if (g_rand_int_range (rand, 0, 3) == 0)
    return PICK (rand, odd);
  return g_rand_double_range (rand, -3, 3);
}

/* ---- choosing ---- */

static gpointer
pick (GPtrArray *array,
      GRand     *rand)
{
  return array->len > 0 ? g_ptr_array_index (array, g_rand_int_range (rand, 0, (gint32) array->len)) : NULL;
}

static void
collect_graphs (VnGraph   *graph,
                GPtrArray *graphs)
{
  g_ptr_array_add (graphs, graph);
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (graph->nodes, i);

      for (guint a = 0; a < node->attrs->len; a++)
        {
          VnAttr *attr = g_ptr_array_index (node->attrs, a);

          if (attr->graph != NULL)
            collect_graphs (attr->graph, graphs);
        }
    }
}

static VnGraph *
pick_graph (VnModel *model,
            GRand   *rand)
{
  g_autoptr(GPtrArray) graphs = g_ptr_array_new ();

  collect_graphs (model->graph, graphs);
  return g_rand_boolean (rand) ? model->graph : pick (graphs, rand);
}

static VnDType
pick_dtype (GRand *rand)
{
  static const VnDType common[] = { VN_DTYPE_F32, VN_DTYPE_S64, VN_DTYPE_S32, VN_DTYPE_U8, VN_DTYPE_S8, VN_DTYPE_F16,
                                    VN_DTYPE_F64, VN_DTYPE_BOOL, VN_DTYPE_STRING };

  if (g_rand_int_range (rand, 0, 3) > 0)
    return PICK (rand, common);
  return (VnDType) g_rand_int_range (rand, 0, VN_N_DTYPES);
}

/* ---- shapes and tensors ---- */

static void
hostile_shape (VnShape *shape,
               GRand   *rand,
               gboolean small)
{
  if (shape->rank < 0 || shape->rank > VN_MAX_RANK || g_rand_int_range (rand, 0, 3) == 0)
    {
      int old = CLAMP (shape->rank, 0, VN_MAX_RANK);

      shape->rank = g_rand_int_range (rand, 0, g_rand_boolean (rand) ? 5 : VN_MAX_RANK + 1);
      for (int d = old; d < shape->rank; d++)
        shape->dims[d] = g_rand_int_range (rand, 1, 5);
    }
  if (shape->rank > 0 && g_rand_boolean (rand))
    shape->dims[g_rand_int_range (rand, 0, shape->rank)] = small ? g_rand_int_range (rand, 0, 9) : hostile_int (rand);
  for (int d = 0; small && d < shape->rank; d++)
    shape->dims[d] = CLAMP (shape->dims[d], 0, 64);
}

void
hostile_fill (VnTensor *tensor,
              GRand    *rand)
{
  gboolean small = g_rand_boolean (rand);

  for (gsize i = 0; i < tensor->n_elements && i < 4096; i++)
    switch ((int) tensor->dtype)
      {
      case VN_DTYPE_F32:
        ((float *) tensor->data)[i] = (float) (small ? g_rand_double_range (rand, -1, 1) : hostile_float (rand));
        break;
      case VN_DTYPE_F64:
        ((double *) tensor->data)[i] = small ? g_rand_double_range (rand, -1, 1) : hostile_float (rand);
        break;
      case VN_DTYPE_S64:
        ((gint64 *) tensor->data)[i] = small ? g_rand_int_range (rand, -2, 4) : hostile_int (rand);
        break;
      case VN_DTYPE_S32:
        ((gint32 *) tensor->data)[i] = small ? g_rand_int_range (rand, -2, 4) : (gint32) hostile_int (rand);
        break;
      case VN_DTYPE_BOOL:
        ((guint8 *) tensor->data)[i] = (guint8) g_rand_int_range (rand, 0, small ? 2 : 256);
        break;
      case VN_DTYPE_STRING:
        break;
      default:
        if (i < tensor->n_bytes)
          ((guint8 *) tensor->data)[i] = (guint8) g_rand_int (rand);
      }
}

static VnTensor *
hostile_tensor (const VnTensor *like,
                GRand          *rand)
{
  VnShape shape = like != NULL ? like->shape : VN_SHAPE (2, 3);
  VnDType dtype = like != NULL && g_rand_int_range (rand, 0, 4) > 0 ? like->dtype : pick_dtype (rand);
  VnTensor *tensor;

  if (g_rand_boolean (rand))
    hostile_shape (&shape, rand, TRUE);
  if (dtype == VN_DTYPE_STRING || dtype == VN_DTYPE_UNDEFINED || vn_dtype_get_bits (dtype) == 0)
    dtype = VN_DTYPE_F32;
  tensor = vn_tensor_new (dtype, &shape, NULL);
  if (tensor == NULL)
    return vn_tensor_new_f32 (&VN_SHAPE (0), NULL);
  memset (tensor->data, 0, tensor->n_bytes);
  hostile_fill (tensor, rand);
  return tensor;
}

/* ---- one change each ---- */

static void
change_attr (VnAttr *attr,
             GRand  *rand)
{
  if (attr->type == VN_ATTR_INT)
    attr->i = hostile_int (rand);
  else if (attr->type == VN_ATTR_FLOAT)
    attr->f = (float) hostile_float (rand);
  else if (attr->type == VN_ATTR_INTS && attr->ints != NULL)
    {
      if (attr->ints->len > 0 && g_rand_int_range (rand, 0, 3) > 0)
        g_array_index (attr->ints, gint64, g_rand_int_range (rand, 0, (gint32) attr->ints->len)) = hostile_int (rand);
      else
        g_array_set_size (attr->ints, (guint) g_rand_int_range (rand, 0, 10));
    }
  else if (attr->type == VN_ATTR_FLOATS && attr->floats != NULL)
    g_array_set_size (attr->floats, (guint) g_rand_int_range (rand, 0, 6));
  else if (attr->type == VN_ATTR_STRING && attr->s != NULL)
    {
      g_bytes_unref (attr->s);
      attr->s = g_rand_boolean (rand) ? g_bytes_new ("VALID", 5) : g_bytes_new ("\xff\n|%s", 5);
    }
  else if (attr->type == VN_ATTR_TENSOR && attr->tensor != NULL)
    {
      VnTensor *old = attr->tensor;

      attr->tensor = hostile_tensor (old, rand);
      vn_tensor_unref (old);
    }
}

static VnAttr *
new_attr (const char *name,
          GRand      *rand)
{
  static const VnAttrType types[] = { VN_ATTR_INT, VN_ATTR_INT, VN_ATTR_INTS, VN_ATTR_INTS, VN_ATTR_FLOAT,
                                      VN_ATTR_STRING, VN_ATTR_TENSOR, VN_ATTR_FLOATS };
  VnAttr *attr = vn_attr_new (name, PICK (rand, types));
  int n = g_rand_int_range (rand, 0, 7);

  if (attr->type == VN_ATTR_INT)
    attr->i = hostile_int (rand);
  else if (attr->type == VN_ATTR_FLOAT)
    attr->f = (float) hostile_float (rand);
  else if (attr->type == VN_ATTR_STRING)
    attr->s = g_bytes_new ("SAME_UPPER", 10);
  else if (attr->type == VN_ATTR_TENSOR)
    attr->tensor = hostile_tensor (NULL, rand);
  for (int i = 0; i < n && attr->type == VN_ATTR_INTS; i++)
    {
      gint64 value = hostile_int (rand);

      if (attr->ints == NULL)
        attr->ints = g_array_new (FALSE, FALSE, sizeof (gint64));
      g_array_append_val (attr->ints, value);
    }
  for (int i = 0; i < n && attr->type == VN_ATTR_FLOATS; i++)
    {
      float value = (float) hostile_float (rand);

      if (attr->floats == NULL)
        attr->floats = g_array_new (FALSE, FALSE, sizeof (float));
      g_array_append_val (attr->floats, value);
    }
  return attr;
}

static void
mutate_attrs (VnGraph *graph,
              GRand   *rand)
{
  static const char * const names[] = { "axis", "axes", "group", "kernel_shape", "pads", "strides", "dilations", "perm",
                                        "to", "auto_pad", "mode", "num_outputs", "keepdims", "blocksize", "shape",
                                        "ceil_mode", "output_shape", "output_padding", "hidden_size", "split", "size",
                                        "batch_dims", "block_size", "value", "transA", "num_groups", "k", "starts" };
  VnNode *node = pick (graph->nodes, rand);
  VnAttr *attr = node != NULL ? pick (node->attrs, rand) : NULL;

  if (node == NULL)
    return;
  if (attr == NULL || g_rand_int_range (rand, 0, 5) == 0)
    vn_node_set_attr (node, new_attr (PICK (rand, names), rand));
  else if (g_rand_int_range (rand, 0, 6) == 0)
    {
      g_autofree char *name = g_strdup (attr->name);

      if (g_rand_boolean (rand))
        vn_node_set_attr (node, new_attr (name, rand));
      else
        vn_node_remove_attr (node, name);
    }
  else
    change_attr (attr, rand);
}

static void
mutate_type (VnGraph *graph,
             GRand   *rand)
{
  VnValue *value = pick (g_rand_boolean (rand) && graph->inputs->len > 0 ? graph->inputs : graph->values, rand);
  VnShape shape;

  if (value == NULL || value->initializer != NULL)
    return;
  shape = value->type.kind == VN_TYPE_TENSOR ? value->type.shape : VN_SHAPE_UNKNOWN;
  if (g_rand_int_range (rand, 0, 3) > 0)
    hostile_shape (&shape, rand, g_rand_boolean (rand));
  vn_value_set_type (value, g_rand_int_range (rand, 0, 3) == 0 ? pick_dtype (rand) : value->type.dtype, &shape);
  value->has_info = TRUE;
}

static void
mutate_initializer (VnGraph *graph,
                    GRand   *rand)
{
  VnValue *value = pick (graph->initializers, rand);
  g_autoptr(VnTensor) tensor = NULL;

  if (value == NULL)
    return;
  if (g_rand_int_range (rand, 0, 12) == 0)
    {
      vn_graph_set_initializer (graph, value, NULL);
      return;
    }
  tensor = hostile_tensor (value->initializer, rand);
  vn_graph_set_initializer (graph, value, tensor);
}

static void
mutate_inputs (VnGraph *graph,
               GRand   *rand)
{
  VnNode *node = pick (graph->nodes, rand);
  VnValue *other = pick (graph->values, rand);
  guint n = node != NULL ? node->inputs->len : 0;
  guint i = n > 0 ? (guint) g_rand_int_range (rand, 0, (gint32) n) : 0;

  if (node == NULL)
    return;
  switch (g_rand_int_range (rand, 0, 5))
    {
    case 0:
      if (n > 0)
        vn_node_set_input (node, i, NULL);
      break;
    case 1:
      for (guint k = i; k < n; k++)
        vn_node_set_input (node, k, NULL);
      g_ptr_array_set_size (node->inputs, (int) i);
      break;
    case 2:
      vn_node_set_input (node, n, other);
      break;
    case 3:
      if (n > 1)
        {
          VnValue *first = vn_node_get_input (node, 0), *second = vn_node_get_input (node, i);

          vn_node_set_input (node, 0, second);
          vn_node_set_input (node, i, first);
        }
      break;
    default:
      if (n > 0)
        vn_node_set_input (node, i, other);
    }
}

static void
mutate_outputs (VnGraph *graph,
                GRand   *rand)
{
  VnNode *node = pick (graph->nodes, rand);
  VnValue *other = pick (graph->values, rand);
  guint n = node != NULL ? node->outputs->len : 0;

  if (node == NULL)
    return;
  switch (g_rand_int_range (rand, 0, 3))
    {
    case 0:
      if (n > 0)
        vn_node_set_output (node, (guint) g_rand_int_range (rand, 0, (gint32) n), NULL);
      break;
    case 1:
      vn_node_set_output (node, n, other);
      break;
    default:
      vn_node_set_output (node, n, vn_graph_add_value (graph, "extra", VN_DTYPE_UNDEFINED, NULL));
    }
}

static void
mutate_operator (VnGraph *graph,
                 GRand   *rand)
{
  VnNode *node = pick (graph->nodes, rand);
  VnNode *other = pick (graph->nodes, rand);
  guint n;
  const VnOp * const *ops = vn_op_list (&n);
  const VnOp *op = ops[g_rand_int_range (rand, 0, (gint32) n)];

  if (node == NULL)
    return;
  if (g_rand_boolean (rand))
    {
      g_autofree char *type = g_strdup (other->op_type);

      g_free (node->op_type);
      node->op_type = g_steal_pointer (&type);
      return;
    }
  g_free (node->op_type);
  g_free (node->domain);
  node->op_type = g_strdup (op->type);
  node->domain = g_strdup (g_rand_int_range (rand, 0, 20) > 0 ? op->domain : "no.such.domain");
}

static void
mutate_interface (VnGraph *graph,
                  GRand   *rand)
{
  VnValue *value = pick (graph->values, rand);

  switch (g_rand_int_range (rand, 0, 6))
    {
    case 0:
      g_ptr_array_set_size (graph->outputs, 0);
      break;
    case 1:
      g_ptr_array_set_size (graph->inputs, 0);
      break;
    case 2:
      if (value != NULL)
        g_ptr_array_add (graph->inputs, value);
      break;
    case 3:
      if (graph->inputs->len > 1)
        g_ptr_array_remove_index (graph->inputs, (guint) g_rand_int_range (rand, 0, (gint32) graph->inputs->len));
      break;
    default:
      if (value != NULL)
        g_ptr_array_add (graph->outputs, value);
    }
}

/* Breaks the table of names: only after everything else. */
static void
mutate_name (VnGraph *graph,
             GRand   *rand)
{
  static const char * const names[] = { "", "|", "a\nb", "/", "..", "ü", "%s%n", "\x01", "{\"a\":", "<b>&", "\xc3(" };
  VnValue *value = pick (graph->values, rand), *other = pick (graph->values, rand);
  VnNode *node = pick (graph->nodes, rand);

  if (value == NULL)
    return;
  if (g_rand_boolean (rand) && node != NULL)
    {
      g_free (node->name);
      node->name = g_strdup (PICK (rand, names));
      return;
    }
  if (value != other)
    {
      g_free (value->name);
      value->name = g_strdup (g_rand_boolean (rand) ? other->name : PICK (rand, names));
    }
}

static void
mutate_opset (VnModel *model,
              GRand   *rand)
{
  if (model->opsets->len > 0 && g_rand_int_range (rand, 0, 4) == 0)
    g_array_index (model->opsets, VnOpset, 0).version = hostile_int (rand);
  else
    vn_model_set_opset (model, "", g_rand_int_range (rand, 1, 26));
}

void
mutate_model (VnModel *model,
              GRand   *rand)
{
  static void (* const changes[]) (VnGraph *, GRand *) = {
    mutate_attrs, mutate_attrs, mutate_attrs, mutate_type, mutate_type, mutate_initializer, mutate_initializer,
    mutate_inputs, mutate_outputs, mutate_operator, mutate_interface,
  };
  guint n = (guint) g_rand_int_range (rand, 1, 5);

  for (guint i = 0; i < n; i++)
    PICK (rand, changes) (pick_graph (model, rand), rand);
  if (g_rand_int_range (rand, 0, 8) == 0)
    mutate_opset (model, rand);
  if (g_rand_int_range (rand, 0, 8) == 0)
    mutate_name (pick_graph (model, rand), rand);
}
